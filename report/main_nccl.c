#include "main_nccl.h"

#include "analysis/base/stb_ds.h"
#include "cli/common.h"
#include "cli/inputs.h"
#include "cli/nccl_inputs.h"
#include "analysis/nccl/view/nccl_view.h"
#include "analysis/nccl/view/nccl_view_json.h"
#include "render/pages/nccl/pages_nccl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// Where the logs are: directories, logs or an nccl.json, with recordings of the same hosts among them.
typedef struct nccl_places {
    const char **paths, **before; // before: of another job, to be compared with
    size_t count, before_count;
} nccl_places;

// ---- from logs ----

// Everything a view is made of.
typedef struct nccl_making {
    nccl logs, before;
    nccl_peak_list peaks;
    nccl_findings findings;
    nccl_comparison comparison;
    dataset recordings;
    series series;
    nccl_counters counters;
    bool compared, counted;
} nccl_making;

static void nccl_making_free(nccl_making *m)
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

// Those that are named, otherwise what the plugin's own files hold.
static int nccl_read_recordings(nccl_making *m, const char **paths, size_t count)
{
    dataset_options how = {.ends_only = 1, .each = series_take, .user = &m->series};
    const char **own = memory_calloc(m->logs.host_count, sizeof *own);
    bool named = count > 0;
    if (!named) count = nccl_own_recordings(&m->logs, own);
    int code = count ? inputs_read(&m->recordings, named ? paths : own, count, &how) : EXIT_DONE;
    free(own);
    m->counted = !code && count;
    if (!m->counted) return named ? code : EXIT_DONE; // of its own files it was said: there is all else
    series_finish(&m->series);
    nccl_counters_make(&m->counters, &m->logs, &m->series);
    nccl_counters_findings(&m->findings, &m->counters);
    return EXIT_DONE;
}

// logs: of the places; the others are recordings.
static int nccl_make_view(nccl_making *m, const nccl_places *in, const char *peak, const nccl_places *logs,
                          const nccl_places *others, nccl_view *view)
{
    const nccl_reading how = {.peaks = &m->peaks};
    int code = nccl_peaks_read(&m->peaks, peak);
    if (!code) code = nccl_logs_read(&m->logs, logs->paths, logs->count, &how);
    if (!code && in->before_count) code = nccl_logs_read(&m->before, in->before, in->before_count, &how);
    m->compared = !code && in->before_count;
    if (code) return code;
    const nccl_comparison *comparison = m->compared ? &m->comparison : NULL;
    if (comparison) nccl_compare(&m->comparison, &m->before, &m->logs);
    nccl_findings_make(&m->findings, &m->logs, comparison);
    code = nccl_read_recordings(m, others->paths, others->count);
    if (!code) nccl_view_make(view, &m->logs, &m->findings, comparison, m->counted ? &m->counters : NULL);
    return code;
}

static int nccl_view_of_logs(const nccl_places *in, const char *peak, nccl_view *view)
{
    nccl_making m = {0};
    nccl_places logs = {.paths = memory_calloc(in->count, sizeof *logs.paths)};
    nccl_places others = {.paths = memory_calloc(in->count, sizeof *others.paths)};
    for (size_t i = 0; i < in->count; i++) {
        bool is_logs = listing_is_directory(in->paths[i]) || arguments_is_log(in->paths[i]);
        nccl_places *to = is_logs ? &logs : &others;
        to->paths[to->count++] = in->paths[i];
    }
    int code = logs.count ? nccl_make_view(&m, in, peak, &logs, &others, view)
                          : fail_file(EXIT_NOTHING, in->paths[0], "no log of the NCCL Inspector");
    nccl_making_free(&m);
    free(logs.paths);
    free(others.paths);
    return code;
}

static int nccl_view_of_job(const nccl_places *in, const char *jobid, const report_order *order, nccl_view *view)
{
    nccl_config config = {NULL, NULL, NULL};
    char **tried = NULL;
    int code = order->config ? nccl_config_read(&config, order->config) : EXIT_DONE;
    char *directory = code ? NULL : nccl_job_directory(&config, jobid, in->paths, in->count, &tried);
    if (directory) {
        const char *paths[] = {directory};
        nccl_places job = *in;
        job.paths = paths;
        job.count = 1;
        code = nccl_view_of_logs(&job, order->peak, view);
    } else if (!code) {
        code = fail(EXIT_NOTHING, "job %s: no directory with its logs found", safe(jobid));
        nccl_no_logs_hint();
    }
    nccl_tried_free(tried);
    nccl_config_free(&config);
    free(directory);
    return code;
}

// ---- from a saved result ----

static int nccl_view_of_saved(const nccl_places *in, const char *peak, nccl_view *view)
{
    netprof_error error;
    if (in->count > 1) return fail_usage("%s: a saved result is reported about alone", safe(in->paths[0]));
    if (peak || in->before_count)
        return fail_usage(
            "%s: peaks, the job to compare with and recordings are given when a result is saved (netprof nccl -o)",
            safe(in->paths[0]));
    return nccl_view_read(view, in->paths[0], &error) ? fail_error(NULL, &error) : EXIT_DONE;
}

// ---- single charts ----

static int nccl_make_parents(char *path, size_t from)
{
    for (char *slash = strchr(path + from, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        bool failed = mkdir(path, 0777) != 0 && errno != EEXIST;
        if (failed) fail_file(EXIT_FILE, path, "%s", strerror(errno));
        *slash = '/';
        if (failed) return EXIT_FILE;
    }
    return EXIT_DONE;
}

static void nccl_say_warning(void *user, const char *text)
{
    bool *said = user;
    if (!*said) warn("%s", safe(text));
    *said = true;
}

static int nccl_write_charts(const nccl_view *view, const char *directory, const document_options *base)
{
    static const char *const endings[] = {"pdf", "svg", "png"};
    netprof_error error = {.code = NETPROF_OK};
    document_options o = *base;
    pages_nccl_file *charts = NULL;
    bool said = false;
    document *doc = pages_nccl_charts(view, &charts);
    size_t count = arrlenu(charts);
    int code = EXIT_DONE;
    document_file *files = memory_calloc(count, sizeof *files);
    char **paths = memory_calloc(count, sizeof *paths);
    for (size_t i = 0; i < count && !code; i++) {
        paths[i] = memory_format("%s/%s.%s", directory, charts[i].path, endings[o.format]);
        files[i] = (document_file){charts[i].chart, paths[i]};
        code = nccl_make_parents(paths[i], 1);
    }
    o.user = &said;
    if (!code && count && document_write_charts(doc, files, count, &o, nccl_say_warning, &error))
        code = fail_error(*error.path ? NULL : directory, &error);
    if (!code && !count) code = fail(EXIT_NOTHING, "--charts: the logs hold nothing that could be drawn");
    for (size_t i = 0; i < count; i++)
        free(paths[i]);
    free(paths);
    free(files);
    document_close(doc);
    arrfree(charts);
    return code;
}

// ---- together ----

static int nccl_view_of(const arguments *a, const report_order *order, nccl_view *view)
{
    const char *compare[] = {order->compare};
    nccl_places in = {.paths = a->paths, .count = a->count, .before = a->before, .before_count = a->before_count};
    if (order->compare && a->before) return fail_usage("--compare and -- say the same: expected one of them");
    if (order->compare) in.before = compare, in.before_count = 1;
    if (order->only_charts && order->document.format == DOCUMENT_HTML)
        return fail_usage("--charts: a chart alone is SVG, PNG or PDF");
    if (a->jobid) return nccl_view_of_job(&in, a->jobid, order, view);
    if (nccl_view_recognise(in.paths[0])) return nccl_view_of_saved(&in, order->peak, view);
    return nccl_view_of_logs(&in, order->peak, view);
}

int main_nccl(arguments *a, const report_order *order)
{
    nccl_view view = {0};
    int code = nccl_view_of(a, order, &view);
    if (!code && !order->only_charts) {
        document *doc = pages_nccl(&view, order->brief);
        code = order->draw(doc, &order->document);
        document_close(doc);
    }
    if (!code && order->charts) {
        document_options single = order->document;
        if (!order->only_charts) single.format = DOCUMENT_PNG;
        code = nccl_write_charts(&view, order->charts, &single);
    }
    nccl_view_free(&view);
    return code;
}
