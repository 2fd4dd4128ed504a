// One file of a job: read and judged, into the report itself or into a piece of its own.
#include "job_pieces.h"
#include "analysis/job/job_regions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// ---- into the report ----

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

// What the file tells of the job and of its node, but for the rules' findings. False: it cannot be used.
static bool job_use_run(job_report *r, const dataset_run *run, job_run *own)
{
    r->nodes[own->node].complete &= run->complete;
    r->damaged |= !run->complete;
    if (run->snapshot_count < 2) {
        job_refuse(r, run->path, NETPROF_ERR_FORMAT, "holds one snapshot; a recording is needed");
        return false;
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
    return true;
}

static void job_judge_run(job_report *r, dataset_run *run, size_t node)
{
    const dataset one = {.runs = run, .run_count = 1};
    if (r->reader->options->rules) job_judge_node(r, node, &one);
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
        else if (at < arrlenu(r->reader->runs)) {
            size_t node = r->reader->runs[at].node;
            if (job_use_run(r, run, &r->reader->runs[at++])) job_judge_run(r, run, node);
        }
    }
}

void job_read_recording(job_report *r, const char *path)
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

// ---- into a piece ----

// Only what is small and there as a whole: that many are in memory at a time.
static bool job_piece_fits(const char *path)
{
    struct stat st;
    return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= JOB_PIECE_MOST_BYTES;
}

// As job_take(), of one run of a node that no other file was of so far. An error ends the reading: the file is then read
// into the report.
static netprof_err job_piece_take(void *user, const dataset_run *run, size_t index, const netprof_snapshot *snapshot)
{
    job_piece *p = user;
    if (!index) {
        const char *name = job_node_name(run, snapshot->schema);
        p->useless = p->begun || regions_series(snapshot->schema) || !p->claim(p->claims, name);
        p->begun = true;
    }
    return p->useless ? NETPROF_ERR_LIMIT : job_take(&p->report, run, index, snapshot);
}

static bool job_piece_is_whole(const job_piece *p)
{
    const dataset *set = &p->set;
    return !p->useless && p->begun && p->report.node_count == 1 && set->run_count == 1 && !set->regions &&
           set->runs[0].snapshot_count >= 2 && arrlenu(p->report.reader->runs) == 1;
}

job_piece *job_piece_read(const char *path, const job_report_options *options, bool (*claim)(void *, const char *),
                          void *claims)
{
    if (!job_piece_fits(path)) return NULL;
    job_piece *p = memory_calloc(1, sizeof *p);
    p->claim = claim;
    p->claims = claims;
    p->report.reader = job_reader_make(options);
    p->report.reader->is_piece = true;
    dataset_options how = {.ends_only = 1, .each = job_piece_take, .user = p, .max_bytes = options->max_bytes};
    netprof_error error;
    bool failed = dataset_read(&p->set, path, &how, &error) != NETPROF_OK;
    if (failed || !job_piece_is_whole(p)) {
        job_piece_free(p);
        return NULL;
    }
    job_run_end(&p->report);
    job_judge_run(&p->report, &p->set.runs[0], 0);
    return p;
}

void job_piece_free(job_piece *p)
{
    if (!p) return;
    dataset_free(&p->set);
    job_report_free(&p->report);
    free(p);
}

static void job_piece_take_warnings(job_report *r, const job_report *from)
{
    for (size_t i = 0; i < from->warning_count; i++)
        job_warn(r, from->warnings[i].path, "%s", from->warnings[i].text);
}

bool job_piece_use(job_report *r, job_piece *p)
{
    if (!job_piece_agrees(r, &p->report)) return false;
    r->reader->file = arrlenu(r->reader->runs);
    job_take_warnings(r, &p->set);
    job_piece_join(r, &p->report);
    job_use_run(r, &p->set.runs[0], &arrlast(r->reader->runs));
    job_piece_take_warnings(r, &p->report);
    return true;
}
