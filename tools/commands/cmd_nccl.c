// netprof nccl: logs of the NCCL Inspector: who is late, how fast was the wire, what was never recorded.
#include "commands.h"
#include "cli/fail_on.h"
#include "cli/inputs.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/unfinished.h"
#include "analysis/nccl/findings/nccl_overlap.h"
#include "analysis/nccl/export/nccl_export.h"
#include "cli/nccl_inputs.h"
#include "analysis/nccl/export/nccl_columns.h"
#include "commands/print/json_csv.h"
#include "commands/print/nccl_print.h"
#include "analysis/nccl/view/nccl_view.h"
#include "analysis/nccl/view/nccl_view_json.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/whole_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static fail_on failing;
static int as_json, as_csv, all, quiet, threads, parquet;
static char *output, *jobid, *config_path, *compare, *peak_text, *fail_on_text, *report_path, **recordings;

static const struct poptOption options[] = {
    {"output", 'o', POPT_ARG_STRING, &output, 0, "write tables (CSV, NDJSON) and the exporter's summary/ here", "DIR"},
    {"jobid", 0, POPT_ARG_STRING, &jobid, 0, "the logs of this job, below the given directories or where it ran", "ID"},
    {"config", 0, POPT_ARG_STRING, &config_path, 0, "the exporter's configuration file (default_log_root)", "FILE"},
    {"compare", 0, POPT_ARG_STRING, &compare, 0, "say what became slower or faster since the job with these logs",
     "DIR"},
    {"peak", 0, POPT_ARG_STRING, &peak_text, 0, "peak bus bandwidth: 400, or by communicator or class: 'dp*=46,*=400'",
     "GBs"},
    {"counters", 'c', POPT_ARG_ARGV, &recordings, 0,
     "netprof recordings of these hosts and this time, by commas: shown beside", "FILES"},
    {"parquet", 0, POPT_ARG_NONE, &parquet, 0, "with -o: Parquet beside the CSV files (needs DuckDB's library)", NULL},
    {"report", 0, POPT_ARG_STRING, &report_path, 0, "a report of it: .pdf, .html, .svg or .png", "FILE"},
    {"fail-on", 0, POPT_ARG_STRING, &fail_on_text, 0,
     "exit with 1 for a finding this bad or worse, with 5 if something was not judged (not given: 0)",
     FAIL_ON_ARGUMENT},
    {"all", 'a', POPT_ARG_NONE, &all, 0, "every finding with its evidence, every line of the tables", NULL},
    {"json", 0, POPT_ARG_NONE, &as_json, 0, "as JSON", NULL},
    {"csv", 0, POPT_ARG_NONE, &as_csv, 0, "as CSV: a line for each finding", NULL},
    {"threads", 0, POPT_ARG_INT, &threads, 0, "read with so many threads (one for each processor)", "N"},
    {"quiet", 'q', POPT_ARG_NONE, &quiet, 0, "no progress", NULL},
    POPT_TABLEEND,
};

// ---- the output directory ----

static int cmd_nccl_make_directory(const char *path)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST) return EXIT_DONE;
    return fail_file(EXIT_FILE, path, "%s", strerror(errno));
}

// All directories that lead to the file.
static int cmd_nccl_make_parents(const char *path, size_t from)
{
    char *copy = memory_strdup(path);
    int code = EXIT_DONE;
    for (char *slash = strchr(copy + from, '/'); slash && !code; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        code = cmd_nccl_make_directory(copy);
        *slash = '/';
    }
    free(copy);
    return code;
}

static int cmd_nccl_save_table(const nccl *n, nccl_table which, const nccl_export_options *how)
{
    char *path = memory_format("%s/%s", output, nccl_table_file(which));
    whole_file *file = whole_file_open(path);
    if (file) nccl_export(n, which, how, whole_file_write, file);
    int code = file ? whole_file_close(file, true) : EXIT_FILE;
    free(path);
    return code;
}

static int cmd_nccl_save_summary(const nccl *n, size_t i)
{
    char name[256];
    char *path = memory_format("%s/%s", output, nccl_summary_path(n, i, name, sizeof name));
    int code = cmd_nccl_make_parents(path, strlen(output) + 1);
    whole_file *file = code ? NULL : whole_file_open(path);
    if (file) nccl_summary_write(n, i, whole_file_write, file);
    if (!code) code = file ? whole_file_close(file, true) : EXIT_FILE;
    free(path);
    return code;
}

static int cmd_nccl_convert_table(parquet_writer *p, const char *name)
{
    char why[512];
    char *csv = memory_format("%s/%s", output, name),
         *done = memory_format("%s/%.*s.parquet", output, (int)strcspn(name, "."), name);
    char *temporary = memory_format("%s.unfinished", done);
    int code = EXIT_DONE;
    size_t count;
    parquet_column *columns = nccl_columns(csv, &count);
    if (!columns)
        code = fail_file(EXIT_FILE, csv, "%s", strerror(errno));
    else if (parquet_convert(p, csv, true, temporary, columns, count, why, sizeof why))
        code = fail_file(EXIT_FILE, done, "%s", safe(why));
    else if (rename(temporary, done))
        code = fail_file(EXIT_FILE, done, "%s", strerror(errno));
    if (code) unlink(temporary);
    nccl_columns_free(columns, count);
    free(csv);
    free(done);
    free(temporary);
    return code;
}

static int cmd_nccl_save_parquet(const nccl *n)
{
    char why[512];
    int code = EXIT_DONE;
    parquet_writer *p = parquet_open(why, sizeof why);
    if (!p) return fail(EXIT_FILE, "--parquet: %s", safe(why));
    for (int i = 0; i < NCCL_TABLES && !code; i++) {
        const char *name = nccl_table_file((nccl_table)i);
        if (!nccl_table_empty(n, (nccl_table)i) && strstr(name, ".csv")) code = cmd_nccl_convert_table(p, name);
    }
    parquet_close(p);
    return code;
}

static int cmd_nccl_save_json(json_object *o, const char *path)
{
    whole_file *file = whole_file_open(path);
    const char *text = memory_check((void *)(uintptr_t)json_to_text(o, JSON_C_TO_STRING_NOSLASHESCAPE));
    int code = EXIT_FILE;
    if (file) {
        whole_file_write(file, text, strlen(text));
        whole_file_write(file, "\n", 1);
        code = whole_file_close(file, true);
    }
    json_object_put(o);
    return code;
}

// What all outputs are made of.
typedef struct results {
    const nccl *n, *before; // before: NULL without --compare
    nccl_findings findings;
    nccl_comparison comparison;
    dataset recordings; // --counters
    series series;
    nccl_counters counters;
    bool has_counters; // of --counters, or of the plugin's own files
} results;

static json_object *cmd_nccl_results_json(const results *r)
{
    json_object *o = memory_check(nccl_json(r->n, &r->findings, r->before ? &r->comparison : NULL));
    if (!r->has_counters) return o;
    nccl_overlap overlap;
    nccl_overlap_make(&overlap, &r->counters);
    json_put(o, "counters", memory_check(nccl_counters_json(&r->counters)));
    if (r->n->span_count) json_put(o, "calls_and_counters", memory_check(nccl_overlap_json(&overlap, r->n)));
    nccl_overlap_free(&overlap);
    return o;
}

// What reports are drawn from goes into the saved result only.
static int cmd_nccl_save_result(const results *r, const char *path)
{
    nccl_view view = {0};
    json_object *o = cmd_nccl_results_json(r);
    nccl_view_make(&view, r->n, &r->findings, r->before ? &r->comparison : NULL, r->has_counters ? &r->counters : NULL);
    json_put(o, "view", memory_check(nccl_view_json(&view)));
    nccl_view_free(&view);
    return cmd_nccl_save_json(o, path);
}

static int cmd_nccl_save(const results *r, const nccl_config *config)
{
    nccl_export_options how = {.jobid = jobid ? jobid : getenv("SLURM_JOB_ID"),
                               .cluster = getenv("SLURM_CLUSTER_NAME"),
                               .user = getenv("SLURM_JOB_USER"),
                               .detailed_index = config->detailed_index,
                               .summary_index = config->summary_index};
    const nccl *n = r->n;
    int code = cmd_nccl_make_directory(output);
    for (int i = 0; i < NCCL_TABLES && !code; i++)
        if (!nccl_table_empty(n, (nccl_table)i)) code = cmd_nccl_save_table(n, (nccl_table)i, &how);
    for (size_t i = 0; i < nccl_summary_count(n) && !code; i++)
        code = cmd_nccl_save_summary(n, i);
    char *result = memory_format("%s/nccl.json", output);
    if (!code) code = cmd_nccl_save_result(r, result);
    free(result);
    return code || !parquet ? code : cmd_nccl_save_parquet(n);
}

// Of the saved result; where none is kept, of one that goes away again.
static int cmd_nccl_make_report(const results *r)
{
    const char *directory = getenv("TMPDIR");
    if (output) {
        char *saved = memory_format("%s/nccl.json", output);
        int code = nccl_report_make(saved, report_path);
        free(saved);
        return code;
    }
    char *path = memory_format("%s/netprof-XXXXXX.json", directory && *directory ? directory : "/tmp");
    int fd = mkstemps(path, (int)strlen(".json"));
    int code = fd < 0 ? fail_file(EXIT_FILE, path, "%s", strerror(errno)) : EXIT_DONE;
    if (fd >= 0) unfinished_begin(path);
    if (fd >= 0) close(fd);
    if (!code) code = cmd_nccl_save_result(r, path);
    if (!code) code = nccl_report_make(path, report_path);
    if (fd >= 0) unfinished_drop(path);
    free(path);
    return code;
}

// ---- all ----

static int cmd_nccl_read_recordings(results *r)
{
    size_t count = 0;
    dataset_options how = {.ends_only = 1, .each = series_take, .user = &r->series};
    const char **own = memory_calloc(r->n->host_count, sizeof *own);
    const char *const *paths = recordings ? (const char *const *)recordings : own;
    while (recordings && recordings[count])
        count++;
    if (!recordings) count = nccl_own_recordings(r->n, own);
    int code = count ? inputs_read(&r->recordings, paths, count, &how) : EXIT_DONE;
    free(own);
    if (code && !recordings) return EXIT_DONE; // it was said: there is all else
    if (code || !count) return code;
    r->has_counters = true;
    series_finish(&r->series);
    nccl_counters_make(&r->counters, r->n, &r->series);
    nccl_counters_findings(&r->findings, &r->counters);
    return EXIT_DONE;
}

static int cmd_nccl_compute(results *r)
{
    if (r->before) nccl_compare(&r->comparison, r->before, r->n);
    nccl_findings_make(&r->findings, r->n, r->before ? &r->comparison : NULL);
    return cmd_nccl_read_recordings(r);
}

static int cmd_nccl_print(const results *r)
{
    const nccl_findings *f = &r->findings;
    if (as_json)
        json_print(stdout, cmd_nccl_results_json(r));
    else if (as_csv)
        findings_csv_print(stdout, cmd_nccl_results_json(r));
    else
        nccl_text_print(r->n, f, r->before ? &r->comparison : NULL, r->has_counters ? &r->counters : NULL, all);
    int code = output_close();
    return code || !fail_on_text ? code : fail_on_code(&failing, f->severity, f->is_blind);
}

static int cmd_nccl_report(const nccl *n, const nccl *before, const nccl_config *config)
{
    results r = {.n = n, .before = before};
    int code = cmd_nccl_compute(&r);
    if (!code && output) code = cmd_nccl_save(&r, config);
    if (!code && report_path) code = cmd_nccl_make_report(&r);
    if (!code) code = cmd_nccl_print(&r);
    nccl_counters_free(&r.counters);
    series_free(&r.series);
    dataset_free(&r.recordings);
    nccl_findings_free(&r.findings);
    nccl_compare_free(&r.comparison);
    return code;
}

static int cmd_nccl_analyse(const char *const *paths, size_t count, const nccl_config *config)
{
    nccl n = {0}, before = {0};
    nccl_peak_list peaks = {NULL, 0, NULL};
    const nccl_reading how = {.peaks = &peaks, .threads = (size_t)threads, .quiet = quiet};
    const char *others[] = {compare};
    int code = nccl_peaks_read(&peaks, peak_text);
    if (!code) code = nccl_logs_read(&n, paths, count, &how);
    if (!code && compare) code = nccl_logs_read(&before, others, 1, &how);
    if (!code) code = cmd_nccl_report(&n, compare ? &before : NULL, config);
    nccl_free(&n);
    nccl_free(&before);
    nccl_peaks_free(&peaks);
    return code;
}

static int cmd_nccl_no_job_directory(char *const *tried)
{
    int code = fail(EXIT_NOTHING, "job %s: no directory with its logs found", safe(jobid));
    for (size_t i = 0; i < arrlenu(tried); i++)
        fprintf(stderr, "  looked for %s\n", safe(tried[i]));
    nccl_no_logs_hint();
    return code;
}

static int cmd_nccl_analyse_job(const char **roots, size_t count, const nccl_config *config)
{
    char **tried = NULL;
    char *directory = nccl_job_directory(config, jobid, roots, count, &tried);
    const char *paths[] = {directory};
    int code = directory ? cmd_nccl_analyse(paths, 1, config) : cmd_nccl_no_job_directory(tried);
    nccl_tried_free(tried);
    free(directory);
    return code;
}

static int cmd_nccl_check_usage(size_t count)
{
    if (!fail_on_parse(&failing, fail_on_text)) return EXIT_USAGE;
    if (as_json && as_csv) return fail_usage("--json and --csv exclude each other");
    if (threads < 0) return fail_usage("--threads: expected a number above 0");
    if (parquet && !output) return fail_usage("--parquet needs -o");
    if (jobid &&
        (!*jobid || jobid[strspn(jobid, "0123456789_+.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-")]))
        return fail_usage("--jobid: %s: expected a job's id", safe(jobid));
    if (!count && !jobid)
        return fail_usage("expected a directory or files with logs of the NCCL Inspector, or --jobid");
    return EXIT_DONE;
}

static int cmd_nccl_run(const char **paths, size_t count)
{
    nccl_config config = {NULL, NULL, NULL};
    int code = cmd_nccl_check_usage(count);
    if (!code && config_path) code = nccl_config_read(&config, config_path);
    if (!code) code = jobid ? cmd_nccl_analyse_job(paths, count, &config) : cmd_nccl_analyse(paths, count, &config);
    nccl_config_free(&config);
    return code;
}

const command command_nccl = {
    .name = "nccl",
    .summary = "logs of the NCCL Inspector: who is late, how fast was the wire, what is missing",
    .arguments = "DIR|FILE...",
    .text =
        "Reads logs of the NCCL Inspector (versions 4.0 to 5.x, plain, .gz or .zst, whole or cut) and "
        "tells, for every\n"
        "communicator, collective and size, the time on the wire apart from the time that ranks waited "
        "for each other;\n"
        "which ranks and hosts were late and what that cost; and what the logs do not hold. Files of netprof's own\n"
        "profiler plugin ('netprof run --nccl') are read likewise.",
    .examples = "netprof nccl nccl-inspector-52310\n"
                "netprof nccl nccl-inspector-52310 --peak 'nvlink-only=450,*=400' -o results\n"
                "netprof nccl nccl-inspector-52310 --report nccl.pdf\n"
                "netprof nccl --jobid 52310 --fail-on high\n"
                "netprof nccl nccl-inspector-52310 --compare nccl-inspector-52309 --json",
    .exits = "0 done, 1 a finding as bad as --fail-on, 2 wrong usage, 3 a file could not be read or written,\n"
             "4 no logs there, or nothing usable in them, 5 with --fail-on: what matters could not be judged.",
    .options = options,
    .run = cmd_nccl_run,
    .json = &as_json,
};
