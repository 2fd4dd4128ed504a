#include "main_nccl.h"

#include "cli/common.h"
#include "cli/inputs.h"
#include "cli/nccl_inputs.h"
#include "analysis/base/memory.h"
#include "analysis/nccl/nccl_view.h"
#include "render/pages/nccl/pages_nccl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), wanted = strlen(end);
    return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

static bool is_log(const char *path)
{
    return ends_in(path, ".prom") || nccl_recognise(path);
}

bool main_nccl_recognise(const char *const *paths, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (nccl_view_recognise(paths[i]) || is_log(paths[i])) return true;
    return false;
}

// ---- from logs ----

// Everything a view is made of.
typedef struct making {
    nccl logs, before;
    nccl_peak_list peaks;
    nccl_findings findings;
    nccl_comparison comparison;
    dataset recordings;
    series series;
    nccl_counters counters;
    bool compared, counted;
} making;

static void free_making(making *m)
{
    nccl_counters_free(&m->counters);
    series_free(&m->series);
    dataset_free(&m->recordings);
    nccl_findings_free(&m->findings);
    nccl_compare_free(&m->comparison);
    nccl_free(&m->logs);
    nccl_free(&m->before);
    nccl_peaks_free(&m->peaks);
}

static int read_recordings(making *m, const char **paths, size_t count)
{
    netprof_error error;
    dataset_options how = {.ends_only = 1, .each = series_take, .user = &m->series};
    if (!count) return EXIT_DONE;
    int code = inputs_read(&m->recordings, paths, count, &how);
    if (!code && series_finish(&m->series)) code = fail(EXIT_FILE, "no memory");
    if (!code && nccl_counters_make(&m->counters, &m->logs, &m->series, &error)) code = fail_error(NULL, &error);
    if (!code && nccl_counters_findings(&m->findings, &m->counters, &error)) code = fail_error(NULL, &error);
    m->counted = !code;
    return code;
}

static int make_view(making *m, const main_nccl_input *in, nccl_view *view, const char **logs, size_t log_count,
                     const char **others, size_t other_count)
{
    netprof_error error;
    const nccl_reading how = {.peaks = &m->peaks};
    int code = nccl_peaks_read(&m->peaks, in->peak);
    if (!code) code = nccl_logs_read(&m->logs, logs, log_count, &how);
    if (!code && in->before_count) code = nccl_logs_read(&m->before, in->before, in->before_count, &how);
    m->compared = !code && in->before_count;
    if (m->compared && nccl_compare(&m->comparison, &m->before, &m->logs, &error)) return fail_error(NULL, &error);
    if (!code && nccl_findings_make(&m->findings, &m->logs, m->compared ? &m->comparison : NULL, &error))
        return fail_error(NULL, &error);
    if (!code) code = read_recordings(m, others, other_count);
    if (!code && nccl_view_make(view, &m->logs, &m->findings, m->compared ? &m->comparison : NULL,
                                m->counted ? &m->counters : NULL, &error))
        code = fail_error(NULL, &error);
    return code;
}

// Logs and directories on one side, everything else is a recording.
static int view_of_logs(const main_nccl_input *in, nccl_view *view)
{
    making m = {0};
    const char **logs = memory_calloc(2 * in->count + 1, sizeof *logs), **others = logs + in->count;
    size_t log_count = 0, other_count = 0;
    for (size_t i = 0; i < in->count; i++) {
        bool directory = listing_is_directory(in->paths[i]);
        if (directory || is_log(in->paths[i]))
            logs[log_count++] = in->paths[i];
        else
            others[other_count++] = in->paths[i];
    }
    int code = log_count ? make_view(&m, in, view, logs, log_count, others, other_count)
                         : fail(EXIT_NOTHING, "%s: no log of the NCCL Inspector", safe(in->paths[0]));
    free_making(&m);
    free(logs);
    return code;
}

static int view_of_job(const main_nccl_input *in, nccl_view *view)
{
    nccl_config config = {NULL, NULL, NULL};
    text_list tried = {NULL, 0};
    int code = in->config ? nccl_config_read(&config, in->config) : EXIT_DONE;
    char *directory = code ? NULL : nccl_job_directory(&config, in->jobid, in->paths, in->count, &tried);
    if (directory) {
        const char *paths[] = {directory};
        main_nccl_input job = *in;
        job.paths = paths;
        job.count = 1;
        code = view_of_logs(&job, view);
    } else if (!code) {
        code = fail(EXIT_NOTHING, "job %s: no directory with its logs found", safe(in->jobid));
        nccl_no_logs_hint();
    }
    text_list_free(&tried);
    nccl_config_free(&config);
    free(directory);
    return code;
}

// ---- from a saved result ----

static int view_of_saved(const main_nccl_input *in, nccl_view *view)
{
    netprof_error error;
    if (in->count > 1) return fail_usage("%s: a saved result is reported about alone", safe(in->paths[0]));
    if (in->peak || in->before_count || in->jobid)
        return fail_usage(
            "%s: peaks, the job to compare with and recordings are given when a result is saved (netprof nccl -o)",
            safe(in->paths[0]));
    return nccl_view_read(view, in->paths[0], &error) ? fail_error(NULL, &error) : EXIT_DONE;
}

// ---- single charts ----

static int make_parents(char *path, size_t from)
{
    for (char *slash = strchr(path + from, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        bool failed = mkdir(path, 0777) != 0 && errno != EEXIST;
        if (failed) fail(EXIT_FILE, "%s: %s", safe(path), strerror(errno));
        *slash = '/';
        if (failed) return EXIT_FILE;
    }
    return EXIT_DONE;
}

static void say_warning(void *user, const char *text)
{
    bool *said = user;
    if (!*said) warn("%s", safe(text));
    *said = true;
}

static int write_charts(const nccl_view *view, const char *directory, const document_options *base)
{
    static const char *const endings[] = {"pdf", "svg", "png"};
    netprof_error error = {.code = NETPROF_OK};
    document_options o = *base;
    pages_nccl_file *charts;
    size_t count = 0;
    bool said = false;
    document *doc = pages_nccl_charts(view, &charts, &count, &error);
    int code = doc ? EXIT_DONE : fail_error(NULL, &error);
    document_file *files = memory_calloc(count + 1, sizeof *files);
    char **paths = memory_calloc(count + 1, sizeof *paths);
    for (size_t i = 0; i < count && !code; i++) {
        paths[i] = memory_format("%s/%s.%s", directory, charts[i].path, endings[o.format]);
        files[i] = (document_file){charts[i].chart, paths[i]};
        code = make_parents(paths[i], 1);
    }
    o.user = &said;
    if (!code && count && document_write_charts(doc, files, count, &o, say_warning, &error))
        code = fail_error(*error.path ? NULL : directory, &error);
    if (!code && !count) code = fail(EXIT_NOTHING, "--charts: the logs hold nothing that could be drawn");
    for (size_t i = 0; i < count; i++)
        free(paths[i]);
    free(paths);
    free(files);
    document_close(doc);
    free(charts);
    return code;
}

int main_nccl(const main_nccl_input *in, const document_options *o, int (*draw)(document *d, const document_options *o))
{
    nccl_view view = {0};
    netprof_error error;
    bool saved = in->count && !in->jobid && nccl_view_recognise(in->paths[0]);
    int code = in->jobid ? view_of_job(in, &view) : saved ? view_of_saved(in, &view) : view_of_logs(in, &view);
    if (!code && in->document) {
        document *doc = pages_nccl(&view, in->brief, &error);
        code = doc ? draw(doc, o) : fail_error(NULL, &error);
        document_close(doc);
    }
    if (!code && in->charts) {
        document_options single = *o;
        if (in->document) single.format = DOCUMENT_PNG;
        code = write_charts(&view, in->charts, &single);
    }
    nccl_view_free(&view);
    return code;
}
