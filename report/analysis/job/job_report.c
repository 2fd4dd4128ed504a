#include "job_report.h"
#include "job_regions.h"
#include "job_store.h"

#include "analysis/base/list.h"
#include "analysis/base/directory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- which files ----

#define PHASES ".phases" // how their names end

static netprof_err list_files(job_report *r, listing *files, const char *const *paths, size_t count)
{
    static const char *const endings[] = {".netprof", PHASES, NULL};
    netprof_err err = NETPROF_OK;
    for (size_t i = 0; i < count && err != NETPROF_ERR_NOMEM; i++) {
        bool directory = listing_is_directory(paths[i]);
        if (directory)
            err = listing_add_directory(files, paths[i], endings);
        else
            listing_add(files, paths[i]);
        if (err != NETPROF_ERR_IO) continue;
        job_warn(r, paths[i], "%s", strerror(errno));
        r->damaged = true;
        err = NETPROF_OK;
    }
    return err;
}

static bool is_of_phases(const char *path)
{
    size_t n = strlen(path), m = strlen(PHASES);
    return n >= m && strcmp(path + n - m, PHASES) == 0;
}

// ---- one file ----

static void take_warnings(job_report *r, const dataset *set)
{
    for (size_t i = 0; i < set->warning_count; i++) {
        const dataset_warning *w = &set->warnings[i];
        if (w->line)
            job_warn(r, w->path, "line %llu: %s", (unsigned long long)w->line, w->text);
        else
            job_warn(r, w->path, "byte %llu: %s", (unsigned long long)w->offset, w->text);
    }
}

static void refuse(job_report *r, const char *path, netprof_err code, const char *text)
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

// What its clock said of itself.
static bool keep_clock(job_run *to, const dataset_run *run)
{
    for (size_t i = 0; i < run->fact_count; i++) {
        const char *key = run->facts[i].key;
        if (strncmp(key, "clock_", 6) != 0 && strcmp(key, "job_id") != 0 && strcmp(key, "job_step") != 0) continue;
        if (!list_grow_one(&to->facts, to->fact_count, sizeof *to->facts)) return false;
        netprof_fact *fact = &to->facts[to->fact_count++];
        *fact = (netprof_fact){strdup(run->facts[i].key), strdup(run->facts[i].value)};
        if (!fact->key || !fact->value) return false;
    }
    return true;
}

// A recorder says why it ended; netprof run, how its command did.
static void tell_end(job_run *to, const dataset_run *run)
{
    const char *by = dataset_fact(run, "ended_by");
    to->stopped = run->complete && by && strcmp(by, "signal") == 0;
    to->ended =
        run->complete && !to->stopped && (by ? strcmp(by, "file") != 0 : dataset_fact(run, "exit_status") != NULL);
}

static netprof_err use_run(job_report *r, dataset_run *run, job_run *own, netprof_error *error)
{
    const dataset one = {.runs = run, .run_count = 1};
    r->nodes[own->node].complete &= run->complete;
    r->damaged |= !run->complete;
    if (run->snapshot_count < 2) {
        refuse(r, run->path, NETPROF_ERR_FORMAT, "holds one snapshot; a recording is needed");
        return NETPROF_OK;
    }
    r->files++;
    if (!keep_clock(own, run) || !job_make_facts(r, run)) return NETPROF_ERR_NOMEM;
    job_take_allocation(r, own->node, run);
    tell_end(own, run);
    return r->reader->options->rules && !job_judge_node(r, own->node, &one, error) ? NETPROF_ERR_NOMEM : NETPROF_OK;
}

// Runs with snapshots stand in the order in which their snapshots came.
static netprof_err use_runs(job_report *r, dataset *set, netprof_error *error)
{
    netprof_err err = job_run_end(r);
    job_region_series_free(r);
    size_t at = r->reader->file;
    for (size_t i = 0; i < set->run_count && !err; i++) {
        dataset_run *run = &set->runs[i];
        if (run->snapshot_count && regions_series(run->snapshots[0].schema)) continue;
        if (!run->snapshot_count)
            refuse(r, run->path, NETPROF_ERR_FORMAT, "holds differences; a recording is needed");
        else if (at < r->reader->run_count)
            err = use_run(r, run, &r->reader->runs[at++], error);
    }
    return err;
}

static bool add_region_path(job_reader *reader, const char *path)
{
    if (!list_grow(&reader->region_paths, reader->region_count, &reader->region_room, sizeof(char *))) return false;
    char *copy = reader->region_paths[reader->region_count] = strdup(path);
    reader->region_count += copy != NULL;
    return copy != NULL;
}

static netprof_err read_recording(job_report *r, const char *path, netprof_error *error)
{
    dataset set = {0};
    netprof_error own = {.code = NETPROF_OK};
    dataset_options how = {.ends_only = 1, .each = job_take, .user = r, .max_bytes = r->reader->options->max_bytes};
    r->reader->file = r->reader->run_count;
    netprof_err failed = dataset_read(&set, path, &how, &own), err = NETPROF_OK;
    if (failed == NETPROF_ERR_NOMEM || (set.regions && !add_region_path(r->reader, path))) {
        err = NETPROF_ERR_NOMEM;
    } else if (failed) {
        job_run_free(r);
        job_region_series_free(r);
        if (!set.regions) refuse(r, path, failed, *own.text ? own.text : netprof_strerror(failed));
    } else {
        take_warnings(r, &set);
        err = use_runs(r, &set, error);
    }
    dataset_free(&set);
    return err;
}

// ---- all ----

static void free_reader(job_report *r)
{
    job_reader *reader = r->reader;
    if (!reader) return;
    job_run_free(r);
    job_region_series_free(r);
    job_places_free(reader->places, reader->place_count);
    for (size_t i = 0; i < r->node_count && reader->nodes; i++) {
        job_node_reader *node = &reader->nodes[i];
        for (int m = 0; m < JOB_METERS; m++)
            for (int s = 0; s < JOB_SCOPES; s++)
                job_lane_free(node->lanes[m][s]);
        free(node->runs);
    }
    for (size_t i = 0; i < reader->found_count; i++)
        job_node_finding_free(&reader->found[i]);
    for (size_t i = 0; i < reader->mark_count; i++)
        free(reader->marks[i].name);
    for (size_t i = 0; i < reader->run_count; i++) {
        for (size_t k = 0; k < reader->runs[i].fact_count; k++) {
            free((char *)(uintptr_t)reader->runs[i].facts[k].key);
            free((char *)(uintptr_t)reader->runs[i].facts[k].value);
        }
        free(reader->runs[i].facts);
        free(reader->runs[i].path);
        free(reader->runs[i].boot_id);
    }
    free(reader->runs);
    for (size_t i = 0; i < reader->region_count; i++)
        free(reader->region_paths[i]);
    free(reader->nodes);
    free(reader->episodes);
    free(reader->found);
    free(reader->troubles);
    pairs_free(&reader->trouble_of);
    free(reader->marks);
    free(reader->region_paths);
    job_known_free(reader->known);
    free(reader);
    r->reader = NULL;
}

static void free_nodes(job_report *r)
{
    for (size_t i = 0; i < r->node_count; i++) {
        free(r->nodes[i].name);
        free(r->nodes[i].host);
        free(r->nodes[i].system);
        free(r->nodes[i].gaps);
    }
    for (size_t i = 0; i < r->device_count; i++) {
        for (int m = 0; m < JOB_METERS; m++)
            job_lane_free(r->devices[i].lanes[m]);
        free(r->devices[i].source);
        free(r->devices[i].name);
        free(r->devices[i].label);
    }
    free(r->nodes);
    free(r->devices);
}

static void free_findings(job_report *r)
{
    for (size_t i = 0; i < r->finding_count; i++) {
        job_finding *x = &r->findings[i];
        char *texts[] = {x->rule, x->claim, x->title, x->advice, x->origin, x->unit};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            free(texts[k]);
    }
    for (size_t i = 0; i < r->note_count; i++)
        free(r->notes[i].text);
    free(r->findings);
    free(r->notes);
}

void job_report_free(job_report *r)
{
    if (!r) return;
    free_reader(r);
    free_nodes(r);
    free_findings(r);
    job_regions_free(r);
    for (size_t i = 0; i < r->fact_count; i++)
        free(r->facts[i].text);
    for (size_t i = 0; i < r->phase_count; i++)
        free(r->phases[i].name);
    for (size_t i = 0; i < r->event_count; i++) {
        free(r->events[i].source);
        free(r->events[i].counter);
        free(r->events[i].unit);
        for (size_t k = 0; k < r->events[i].lane_count; k++)
            job_bins_free(r->events[i].lanes[k].bins);
        free(r->events[i].lanes);
    }
    for (size_t i = 0; i < r->warning_count; i++) {
        free(r->warnings[i].path);
        free(r->warnings[i].text);
    }
    free(r->facts);
    free(r->phases);
    free(r->spans);
    free(r->ranks);
    free(r->events);
    free(r->warnings);
    free(r->title);
    free(r->clock_text);
    free(r->clock_note);
    regions_free(&r->regions);
    *r = (job_report){0};
}

static netprof_err fail(job_report *r, netprof_error *error, netprof_err code, const char *path, const char *text)
{
    if (error) {
        *error = (netprof_error){.code = code};
        snprintf(error->path, sizeof error->path, "%s", path);
        snprintf(error->text, sizeof error->text, "%s", text);
    }
    job_report_free(r);
    return code;
}

static netprof_err read_all(job_report *r, const listing *files, netprof_error *error)
{
    const job_report_options *options = r->reader->options;
    netprof_err err = NETPROF_OK;
    for (size_t i = 0; i < files->count && !err; i++) {
        if (options->progress) options->progress(options->progress_user, i, files->count);
        if (is_of_phases(files->paths[i]))
            err = job_read_phases(r, files->paths[i]) ? NETPROF_OK : NETPROF_ERR_NOMEM;
        else
            err = read_recording(r, files->paths[i], error);
    }
    if (options->phases && !err) err = job_read_phases(r, options->phases) ? NETPROF_OK : NETPROF_ERR_NOMEM;
    if (options->progress && !err) options->progress(options->progress_user, files->count, files->count);
    return err;
}

static bool finish(job_report *r)
{
    if (!job_finish_lanes(r)) return false;
    job_place_regions(r);
    if (!job_make_phases(r) || !job_make_energy(r) || !job_make_uses(r)) return false;
    job_make_efficiency(r);
    return job_make_findings(r) && job_make_notes(r);
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
    if (!(r->reader = calloc(1, sizeof *r->reader)) || !(r->reader->known = job_known_make()))
        return fail(r, error, NETPROF_ERR_NOMEM, "", "no memory");
    r->reader->options = options;
    r->reader->start_s = r->reader->limit_s = NAN;
    netprof_err err = list_files(r, &files, paths, count);
    if (!err) err = read_all(r, &files, error);
    listing_free(&files);
    if (!err && !r->files) {
        netprof_error first = r->reader->first;
        if (!first.code) snprintf(first.text, sizeof first.text, "holds no recording");
        return fail(r, error, NETPROF_ERR_FORMAT, *first.path ? first.path : paths[0], first.text);
    }
    if (!err && !finish(r)) err = NETPROF_ERR_NOMEM;
    r->reader->options = NULL; // the caller's
    return err ? fail(r, error, err, "", "no memory") : NETPROF_OK;
}

// ---- is it a job? ----

static netprof_err look(void *user, const dataset_run *run, size_t index, const netprof_snapshot *snapshot)
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

static bool is_of_job(const char *path)
{
    dataset set = {0};
    bool found = false;
    dataset_options how = {.ends_only = 1, .each = look, .user = &found};
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
    list_files(&none, &files, paths, count);
    for (size_t i = 0; i < files.count && !wanted; i++)
        if (!is_of_phases(files.paths[i])) wanted = is_of_job(files.paths[i]);
    listing_free(&files);
    job_report_free(&none);
    return wanted;
}
