#include "job_report.h"
#include "bytes/job_explained.h"
#include "job_nodelist.h"
#include "job_regions.h"
#include "job_store.h"

#include "analysis/base/directory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- which files ----

#define PHASES ".phases" // how their names end

static void job_list_files(job_report *r, listing *files, const char *const *paths, size_t count)
{
    static const char *const endings[] = {".netprof", PHASES, NULL};
    for (size_t i = 0; i < count; i++) {
        if (!listing_is_directory(paths[i])) {
            listing_add(files, paths[i]);
        } else if (listing_add_directory(files, paths[i], endings)) {
            job_warn(r, paths[i], "%s", strerror(errno));
            r->damaged = true;
        }
    }
}

static bool job_is_of_phases(const char *path)
{
    size_t n = strlen(path), m = strlen(PHASES);
    return n >= m && strcmp(path + n - m, PHASES) == 0;
}

// ---- one file ----

static void job_take_warnings(job_report *r, const dataset *set)
{
    for (size_t i = 0; i < set->warning_count; i++) {
        const dataset_warning *w = &set->warnings[i];
        if (w->line)
            job_warn(r, w->path, "line %llu: %s", (unsigned long long)w->line, w->text);
        else
            job_warn(r, w->path, "byte %llu: %s", (unsigned long long)w->offset, w->text);
    }
}

static void job_refuse(job_report *r, const char *path, netprof_err code, const char *text)
{
    netprof_error *first = &r->reader->first;
    if (!first->code) {
        *first = (netprof_error){.code = code};
        snprintf(first->path, sizeof first->path, "%s", path);
        snprintf(first->text, sizeof first->text, "%s", text);
    }
    job_warn(r, path, "%s", text);
    r->damaged = true;
}

// Facts about its clock.
static void job_keep_clock(job_run *to, const dataset_run *run)
{
    for (size_t i = 0; i < run->fact_count; i++) {
        const char *key = run->facts[i].key;
        if (strncmp(key, "clock_", 6) != 0 && strcmp(key, "job_id") != 0 && strcmp(key, "job_step") != 0) continue;
        netprof_fact copy = {memory_strdup(key), memory_strdup(run->facts[i].value)};
        arrput(to->facts, copy);
    }
}

// A recorder says why it ended; netprof run, how its command did.
static void job_tell_end(job_run *to, const dataset_run *run)
{
    const char *by = dataset_fact(run, "ended_by");
    to->stopped = run->complete && by && strcmp(by, "signal") == 0;
    to->ended =
        run->complete && !to->stopped && (by ? strcmp(by, "file") != 0 : dataset_fact(run, "exit_status") != NULL);
}

// How the command of a run ended: of several the worst counts.
static void job_take_end(job_report *r, size_t node, const dataset_run *run)
{
    const char *status = dataset_fact(run, "exit_status"), *number = dataset_fact(run, "signal");
    job_reader *reader = r->reader;
    int code = status ? (int)strtol(status, NULL, 10) : 0, by = number ? (int)strtol(number, NULL, 10) : 0;
    if (!status && !number) return;
    reader->ended_runs++;
    if ((!code && !by) || reader->worst_signal || (reader->worst_status && !by)) return;
    reader->worst_status = code;
    reader->worst_signal = by;
    reader->worst_ended = node;
}

static void job_use_run(job_report *r, dataset_run *run, job_run *own)
{
    const dataset one = {.runs = run, .run_count = 1};
    r->nodes[own->node].complete &= run->complete;
    r->damaged |= !run->complete;
    if (run->snapshot_count < 2) {
        job_refuse(r, run->path, NETPROF_ERR_FORMAT, "holds one snapshot; a recording is needed");
        return;
    }
    r->files++;
    job_keep_clock(own, run);
    job_make_facts(r, run);
    job_take_allocation(r, own->node, run);
    job_take_account(r, own->node, run);
    job_tell_end(own, run);
    job_take_end(r, own->node, run);
    const char *pod = dataset_fact(run, "pod");
    if (pod && !r->nodes[own->node].pod) r->nodes[own->node].pod = memory_strdup(pod);
    if (r->reader->options->rules) job_judge_node(r, own->node, &one);
}

// Runs with snapshots are in the order in which their snapshots came.
static void job_use_runs(job_report *r, dataset *set)
{
    job_run_end(r);
    job_region_series_free(r);
    size_t at = r->reader->file;
    for (size_t i = 0; i < set->run_count; i++) {
        dataset_run *run = &set->runs[i];
        if (run->snapshot_count && regions_series(run->snapshots[0].schema)) continue;
        if (!run->snapshot_count)
            job_refuse(r, run->path, NETPROF_ERR_FORMAT, "holds differences; a recording is needed");
        else if (at < arrlenu(r->reader->runs))
            job_use_run(r, run, &r->reader->runs[at++]);
    }
}

static void job_read_recording(job_report *r, const char *path)
{
    job_reader *reader = r->reader;
    dataset set = {0};
    netprof_error error = {.code = NETPROF_OK};
    dataset_options how = {.ends_only = 1, .each = job_take, .user = r, .max_bytes = reader->options->max_bytes};
    reader->file = arrlenu(reader->runs);
    netprof_err failed = dataset_read(&set, path, &how, &error);
    if (set.regions) arrput(reader->region_paths, memory_strdup(path));
    if (failed) {
        job_run_free(r);
        job_region_series_free(r);
        bool others = reader->options->is_of_layer && reader->options->is_of_layer(path);
        if (!set.regions && !others) job_refuse(r, path, failed, *error.text ? error.text : netprof_strerror(failed));
    } else {
        job_take_warnings(r, &set);
        job_use_runs(r, &set);
    }
    dataset_free(&set);
}

// ---- all ----

static void job_free_runs(job_run *runs)
{
    for (size_t i = 0; i < arrlenu(runs); i++) {
        for (size_t k = 0; k < arrlenu(runs[i].facts); k++) {
            free((char *)(uintptr_t)runs[i].facts[k].key);
            free((char *)(uintptr_t)runs[i].facts[k].value);
        }
        arrfree(runs[i].facts);
        free(runs[i].path);
        free(runs[i].boot_id);
    }
    arrfree(runs);
}

static void job_free_reader(job_report *r)
{
    job_reader *reader = r->reader;
    if (!reader) return;
    job_run_free(r);
    job_region_series_free(r);
    job_places_free(reader->places);
    job_free_runs(reader->runs);
    for (size_t i = 0; i < arrlenu(reader->nodes); i++) {
        for (int m = 0; m < JOB_METERS; m++)
            for (int s = 0; s < JOB_SCOPES; s++)
                job_lane_free(reader->nodes[i].lanes[m][s]);
        arrfree(reader->nodes[i].runs);
        free(reader->nodes[i].group);
        free(reader->nodes[i].cpu_group);
    }
    for (size_t i = 0; i < arrlenu(reader->found); i++)
        job_node_finding_free(&reader->found[i]);
    for (size_t i = 0; i < arrlenu(reader->marks); i++)
        free(reader->marks[i].name);
    for (size_t i = 0; i < arrlenu(reader->region_paths); i++)
        free(reader->region_paths[i]);
    arrfree(reader->nodes);
    arrfree(reader->episodes);
    job_nodelist_free(reader->given_nodes);
    free(reader->given_list);
    arrfree(reader->told);
    arrfree(reader->found);
    arrfree(reader->rule_values);
    for (size_t i = 0; i < arrlenu(reader->troubles); i++)
        job_bins_free(reader->troubles[i].bins);
    arrfree(reader->troubles);
    hmfree(reader->trouble_of);
    arrfree(reader->marks);
    arrfree(reader->region_paths);
    node_settings_free(&reader->settings);
    hmfree(reader->known);
    free(reader);
    r->reader = NULL;
}

static void job_free_nodes(job_report *r)
{
    for (size_t i = 0; i < r->node_count; i++) {
        free(r->nodes[i].name);
        free(r->nodes[i].host);
        free(r->nodes[i].system);
        free(r->nodes[i].pod);
        arrfree(r->nodes[i].gaps);
    }
    for (size_t i = 0; i < r->device_count; i++) {
        for (int m = 0; m < JOB_METERS; m++)
            job_lane_free(r->devices[i].lanes[m]);
        free(r->devices[i].source);
        free(r->devices[i].name);
        free(r->devices[i].label);
        free(r->devices[i].alike);
    }
    arrfree(r->nodes);
    arrfree(r->devices);
}

static void job_free_findings(job_report *r)
{
    for (size_t i = 0; i < r->finding_count; i++) {
        job_finding *x = &r->findings[i];
        char *texts[] = {x->rule, x->claim, x->title, x->advice, x->origin, x->unit, x->explained_by};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            free(texts[k]);
    }
    for (size_t i = 0; i < r->note_count; i++)
        free(r->notes[i].text);
    arrfree(r->findings);
    arrfree(r->notes);
}

void job_report_free(job_report *r)
{
    if (!r) return;
    job_free_reader(r);
    job_free_nodes(r);
    job_free_findings(r);
    job_regions_free(r);
    for (size_t i = 0; i < r->fact_count; i++)
        free(r->facts[i].text);
    for (size_t i = 0; i < r->phase_count; i++)
        free(r->phases[i].name);
    for (size_t i = 0; i < r->event_count; i++) {
        free(r->events[i].source);
        free(r->events[i].counter);
        free(r->events[i].words);
        free(r->events[i].unit);
        for (size_t k = 0; k < r->events[i].lane_count; k++)
            job_bins_free(r->events[i].lanes[k].bins);
        arrfree(r->events[i].lanes);
    }
    for (size_t i = 0; i < r->warning_count; i++) {
        free(r->warnings[i].path);
        free(r->warnings[i].text);
    }
    arrfree(r->facts);
    arrfree(r->phases);
    arrfree(r->spans);
    arrfree(r->ranks);
    arrfree(r->events);
    arrfree(r->warnings);
    free(r->title);
    free(r->state);
    free(r->bound_text);
    free(r->clock_text);
    free(r->clock_note);
    job_explained_free(&r->explained);
    regions_free(&r->regions);
    *r = (job_report){0};
}

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

static void job_read_files(job_report *r, const listing *files)
{
    const job_report_options *options = r->reader->options;
    for (size_t i = 0; i < files->count; i++) {
        if (options->progress) options->progress(options->progress_user, i, files->count);
        if (job_is_of_phases(files->paths[i]))
            job_read_phases(r, files->paths[i]);
        else
            job_read_recording(r, files->paths[i]);
    }
    if (options->phases) job_read_phases(r, options->phases);
    if (options->progress) options->progress(options->progress_user, files->count, files->count);
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
    r->reader = memory_calloc(1, sizeof *r->reader);
    r->reader->options = options;
    r->reader->start_s = r->reader->limit_s = r->pod_start_s = NAN;
    r->reader->worst_ended = JOB_NONE;
    job_list_files(r, &files, paths, count);
    job_read_files(r, &files);
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

bool job_report_wants(const char *const *paths, size_t count)
{
    job_report none = {0};
    listing files = {0};
    bool wanted = false;
    job_list_files(&none, &files, paths, count);
    for (size_t i = 0; i < files.count && !wanted; i++)
        if (!job_is_of_phases(files.paths[i])) wanted = job_file_is_of_job(files.paths[i]);
    listing_free(&files);
    job_report_free(&none);
    return wanted;
}
