#include "job_report.h"
#include "bytes/job_explained.h"
#include "reading/job_pieces.h"
#include "job_regions.h"
#include "job_store.h"

#include "analysis/base/directory.h"
#include "analysis/base/threads/parallel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- which files ----

static void job_list_files(job_report *r, listing *files, const char *const *paths, size_t count)
{
    static const char *const endings[] = {".netprof", JOB_PHASES_ENDING, NULL};
    for (size_t i = 0; i < count; i++) {
        if (!listing_is_directory(paths[i])) {
            listing_add(files, paths[i]);
        } else if (listing_add_directory(files, paths[i], endings)) {
            job_warn(r, paths[i], "%s", strerror(errno));
            r->damaged = true;
        }
    }
}

// ---- all ----

static netprof_err job_fail(job_report *r, netprof_error *error, netprof_err code, const char *path, const char *text)
{
    if (error) {
        *error = (netprof_error){.code = code};
        snprintf(error->path, sizeof error->path, "%s", path);
        snprintf(error->text, sizeof error->text, "%s", text);
    }
    job_report_free(r);
    return code;
}

static void job_finish(job_report *r)
{
    job_finish_lanes(r);
    job_place_regions(r);
    job_make_phases(r);
    job_explain(r, r->reader->options->layers, r->reader->options->layer_count);
    job_make_energy(r);
    job_make_uses(r);
    job_make_efficiency(r);
    job_make_findings(r);
    job_make_bottlenecks(r);
    job_make_notes(r);
}

netprof_err job_report_read(job_report *r, const char *const *paths, size_t count, const job_report_options *options,
                            netprof_error *error)
{
    static const job_report_options defaults = {0};
    listing files = {0};
    if (!options) options = &defaults;
    if (r->reader || r->node_count || !count || options->end_zero) {
        if (error)
            *error =
                (netprof_error){.code = NETPROF_ERR_ARG, .text = "no path, or options that were never initialised"};
        return NETPROF_ERR_ARG;
    }
    r->reader = job_reader_make(options);
    r->pod_start_s = NAN;
    job_list_files(r, &files, paths, count);
    job_read_files(r, (const char *const *)files.paths, files.count);
    listing_free(&files);
    if (!r->files) {
        netprof_error first = r->reader->first;
        if (!first.code) snprintf(first.text, sizeof first.text, "holds no recording");
        return job_fail(r, error, NETPROF_ERR_FORMAT, *first.path ? first.path : paths[0], first.text);
    }
    job_finish(r);
    r->reader->options = NULL; // the caller's
    return NETPROF_OK;
}

// ---- is it a job? ----

static netprof_err job_look_for_sources(void *user, const dataset_run *run, size_t index,
                                        const netprof_snapshot *snapshot)
{
    static const char *const sources[] = {"process", "cgroup", "cpu", "memory", "energy", "gpu", "perf"};
    bool *found = user;
    (void)run;
    for (size_t d = 0; d < snapshot->schema->device_count && !*found; d++)
        for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
            *found |= strcmp(snapshot->schema->devices[d].source, sources[i]) == 0;
    // Two snapshots are enough to know; an error ends the reading.
    if (!*found || index) return NETPROF_ERR_LIMIT;
    return NETPROF_OK;
}

static bool job_file_is_of_job(const char *path)
{
    dataset set = {0};
    bool found = false;
    dataset_options how = {.ends_only = 1, .each = job_look_for_sources, .user = &found};
    netprof_err err = dataset_read(&set, path, &how, NULL);
    bool two = err == NETPROF_ERR_LIMIT ||
               (!err && set.run_count && (set.runs[0].snapshot_count > 1 || !set.runs[0].complete));
    dataset_free(&set);
    return found && two;
}

typedef struct job_looking {
    char *const *paths;
    bool found; // by any thread
} job_looking;

static void job_look_at(void *user, size_t i)
{
    job_looking *x = user;
    if (__atomic_load_n(&x->found, __ATOMIC_RELAXED) || job_is_of_phases(x->paths[i])) return;
    if (job_file_is_of_job(x->paths[i])) __atomic_store_n(&x->found, true, __ATOMIC_RELAXED);
}

bool job_report_wants(const char *const *paths, size_t count)
{
    job_report none = {0};
    listing files = {0};
    job_list_files(&none, &files, paths, count);
    job_looking looking = {.paths = files.paths};
    parallel_for(&(parallel_options){0}, files.count, job_look_at, &looking);
    listing_free(&files);
    job_report_free(&none);
    return looking.found;
}
