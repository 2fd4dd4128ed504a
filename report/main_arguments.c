#include "main_arguments.h"

#include "analysis/base/memory.h"
#include "analysis/base/words.h"
#include "analysis/job/job_report.h"
#include "analysis/nccl/view/nccl_beside.h"
#include "analysis/nccl/logs/nccl_logs.h"
#include "analysis/nccl/view/nccl_view_json.h"
#include "analysis/nsys/nsys.h"
#include "analysis/regions/regions.h"
#include "cli/common.h"
#include "cli/inputs.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void arguments_forget_reading(arguments *a)
{
    series_free(&a->over_time);
    dataset_free(&a->set);
    a->over_time = (series){0};
    a->set = (dataset){0};
    a->is_read = false;
}

void arguments_free(arguments *a)
{
    arguments_forget_reading(a);
}

// Always true: "return arguments_because(...)" answers yes.
static bool arguments_because(arguments *a, const char *format, ...) PRINTF_LIKE(2, 3);
static bool arguments_because(arguments *a, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(a->why, sizeof a->why, format, values);
    va_end(values);
    return true;
}

// ---- by kind of file ----

bool arguments_is_log(const char *path)
{
    const char *dot = strrchr(path, '.');
    return (dot && strcmp(dot, ".prom") == 0) || nccl_recognise(path);
}

bool arguments_are_nccl(arguments *a)
{
    if (a->jobid) return arguments_because(a, "--jobid %s", safe(a->jobid));
    for (size_t i = 0; i < a->count; i++) {
        if (nccl_view_recognise(a->paths[i]))
            return arguments_because(a, "%s is a saved result of netprof nccl", safe(a->paths[i]));
        if (arguments_is_log(a->paths[i]))
            return arguments_because(a, "%s is or holds logs of the NCCL Inspector", safe(a->paths[i]));
    }
    return false;
}

bool arguments_misuse_option(arguments *a)
{
    return a->nccl_option && arguments_because(a, "--%s, and no log of the NCCL Inspector", a->nccl_option);
}

bool arguments_are_two_sides(arguments *a)
{
    return a->before && arguments_because(a, "%zu before \"--\", %zu after it", a->before_count, a->count);
}

bool arguments_are_missing(arguments *a)
{
    return !a->count && arguments_because(a, "no file was given");
}

bool arguments_are_not_exported(arguments *a)
{
    for (size_t i = 0; i < a->count; i++)
        if (nsys_is_report(a->paths[i])) return arguments_because(a, "%s is no export", safe(a->paths[i]));
    return false;
}

// Moves the exports of Nsight Systems to the end; each kind stays in its order.
static void arguments_part(arguments *a)
{
    const char **exports = memory_calloc(a->count + 1, sizeof *exports);
    size_t others = 0;
    for (size_t i = 0; i < a->count && !a->parted; i++) {
        if (nsys_in_file(a->paths[i]))
            exports[a->export_count++] = a->paths[i];
        else
            a->paths[others++] = a->paths[i];
    }
    if (!a->parted) {
        memcpy(a->paths + others, exports, a->export_count * sizeof *exports);
        a->exports = a->paths + others;
        a->count = others;
    }
    a->parted = true;
    free(exports);
}

bool arguments_are_exports(arguments *a)
{
    arguments_part(a);
    return !a->count && arguments_because(a, "all %zu", a->export_count);
}

bool arguments_have_exports(arguments *a)
{
    arguments_part(a);
    return a->export_count && arguments_because(a, "%s is an export", safe(a->exports[0]));
}

bool arguments_are_of_job(arguments *a)
{
    for (size_t i = 0; i < a->count; i++)
        if (job_report_wants(&a->paths[i], 1))
            return arguments_because(a, "%s is or holds such a recording", safe(a->paths[i]));
    return false;
}

// Files of NCCL may lie among them.
bool arguments_are_regions(arguments *a)
{
    size_t sampled = 0;
    for (size_t i = 0; i < a->count; i++) {
        bool directory = listing_is_directory(a->paths[i]);
        if (directory && inputs_hold(a->paths[i]) == PARTS_SNAPSHOTS) return false;
        if (directory || regions_in_file(a->paths[i])) continue;
        if (!regions_series_in_file(a->paths[i]) && !nccl_beside_is_file(a->paths[i])) return false;
        sampled++;
    }
    return a->count > sampled && arguments_because(a, "every argument is one");
}

bool arguments_are_many(arguments *a)
{
    size_t files = inputs_count(a->paths, a->count);
    return files > 2 && arguments_because(a, "%zu files", files);
}

// ---- by what is in them ----

static bool arguments_read(arguments *a)
{
    dataset_options how = {.names = a->names, .ends_only = 1, .each = series_take, .user = &a->over_time};
    clocks c = {0};
    if (a->is_read || a->failure) return !a->failure;
    a->is_read = true;
    a->failure = inputs_read(&a->set, a->paths, a->count, &how);
    if (a->failure) return false;
    clocks_of_dataset(&c, &a->set);
    series_align(&a->over_time, &a->set, &c);
    series_finish(&a->over_time);
    clocks_free(&c);
    return true;
}

bool arguments_are_of_hosts(arguments *a)
{
    const series_run *runs = arguments_read(a) ? a->over_time.runs : NULL;
    if (a->failure) return false;
    if (a->set.run_count > 2) return arguments_because(a, "%zu runs", a->set.run_count);
    return a->set.run_count == 2 && a->over_time.run_count == 2 && runs[0].snapshots > 1 && runs[1].snapshots > 1 &&
           strcmp(runs[0].host, runs[1].host) != 0 &&
           arguments_because(a, "%zu snapshots of %s, %zu of %s", runs[0].snapshots, safe(runs[0].host),
                             runs[1].snapshots, safe(runs[1].host));
}

bool arguments_are_one_recording(arguments *a)
{
    return arguments_read(a) && a->set.run_count == 1 && a->over_time.run_count == 1 &&
           a->over_time.runs[0].snapshots > 2 && arguments_because(a, "%zu snapshots", a->over_time.runs[0].snapshots);
}

bool arguments_are_two_snapshots(arguments *a)
{
    return arguments_read(a) && arguments_because(a, "no row above fits");
}

// ---- in words ----

static bool arguments_is_of_job(const char *path)
{
    return job_report_wants(&path, 1);
}

static bool arguments_is_sampled(const char *path)
{
    return regions_series_in_file(path);
}

static bool arguments_is_regions(const char *path)
{
    return regions_in_file(path);
}

static const char *arguments_kind(const char *path)
{
    static const struct {
        bool (*is)(const char *path);
        const char *words;
    } kinds[] = {{nccl_view_recognise, "saved result of netprof nccl"},
                 {arguments_is_log, "log of the NCCL Inspector"},
                 {nsys_is_report, "report of Nsight Systems, not exported"},
                 {nsys_in_file, "export of Nsight Systems"},
                 {arguments_is_of_job, "recording with counters of a job"},
                 {arguments_is_regions, "regions of processes"},
                 {arguments_is_sampled, "regions of a process, sampled over time"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].is(path)) return kinds[i].words;
    return NULL;
}

static void arguments_describe_directory(const char *path, char *text, size_t size)
{
    static const char *const held[] = {"neither snapshots nor regions", "snapshots", "regions",
                                       "snapshots and regions"};
    size_t files = inputs_count(&path, 1);
    const char *logs = arguments_is_log(path) ? ", logs of the NCCL Inspector" : "";
    if (files)
        snprintf(text, size, "directory: %s *.netprof with %s%s%s", words_many(files, "file").text,
                 held[inputs_hold(path) & 3], arguments_is_of_job(path) ? " of a job" : "", logs);
    else
        snprintf(text, size, "directory: no file *.netprof%s", logs);
}

static void arguments_describe_runs(const char *path, const char *kind, char *text, size_t size)
{
    enum { NAMED = 3 };
    dataset set = {0};
    netprof_error error;
    dataset_options how = {.ends_only = 1};
    size_t used = (size_t)snprintf(text, size, "%s", kind ? kind : "");
    bool failed = dataset_read(&set, path, &how, &error) != NETPROF_OK;
    if (failed && !kind) snprintf(text, size, "%s", safe(error_text(&error)));
    for (size_t i = 0; !failed && i < set.run_count && i <= NAMED && used < size; i++) {
        const dataset_run *run = &set.runs[i];
        uint64_t snapshots = run->snapshot_count + run->skipped;
        if (i == NAMED)
            snprintf(text + used, size - used, ", %zu more runs", set.run_count - i);
        else
            used += (size_t)snprintf(text + used, size - used, "%s%s%s%.60s", used ? ", " : "",
                                     words_many(snapshots, "snapshot").text, *run->host ? " of " : "", safe(run->host));
    }
    dataset_free(&set);
}

void arguments_describe(const char *path, char *text, size_t size)
{
    if (listing_is_directory(path)) {
        arguments_describe_directory(path, text, size);
        return;
    }
    const char *kind = arguments_kind(path);
    if (kind && strncmp(kind, "recording", 9) != 0)
        snprintf(text, size, "%s", kind);
    else
        arguments_describe_runs(path, kind, text, size);
}
