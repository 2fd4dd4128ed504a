// Files are read by several threads and joined one after the other, in the order of their names: a thread reads its file,
// waits for its turn, and joins. So one thread at a time writes the tree, nothing of a file outlives its turn but copies,
// and the result does not depend on which thread was faster.
#define _POSIX_C_SOURCE 200809L
#include "regions.h"

#include "analysis/base/directory.h"
#include "analysis/base/memory.h"
#include "analysis/data/file_parts.h"
#include "regions_store.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { THREADS_MOST = 8, REGIONS_PEERS = 1 << 16 };

// ---- which files ----

typedef struct regions_paths {
    listing files;
    bool *asked_for; // for each file: was it named, not found in a directory?
} regions_paths;

static void regions_free_paths(regions_paths *paths)
{
    listing_free(&paths->files);
    free(paths->asked_for);
}

static void regions_add_directory(regions *r, listing *files, const char *path)
{
    static const char *const endings[] = {".netprof", NULL};
    if (!listing_add_directory(files, path, endings)) return;
    regions_warn(r, path, 0, "%s", strerror(errno));
    r->damaged = true;
}

// A file that is named twice, by itself and by its directory, is read once.
static void regions_find_files(regions *r, regions_paths *paths, const char *const *given, size_t count)
{
    regions_index *asked = NULL;
    for (size_t i = 0; i < count; i++) {
        if (listing_is_directory(given[i])) {
            regions_add_directory(r, &paths->files, given[i]);
            continue;
        }
        hmput(asked, map_key_of_name(0, given[i]), i);
        listing_add(&paths->files, given[i]);
    }
    listing_sort(&paths->files);
    paths->asked_for = memory_calloc(paths->files.count, sizeof *paths->asked_for);
    for (size_t i = 0; i < paths->files.count; i++)
        paths->asked_for[i] = hmgeti(asked, map_key_of_name(0, paths->files.paths[i])) >= 0;
    hmfree(asked);
}

// ---- one file ----

// Shared by all threads.
typedef struct regions_reading_job {
    regions *r;
    const regions_paths *paths;
    const regions_options *options;
    pthread_mutex_t lock;
    pthread_cond_t turned;
    size_t next, turn; // to be read; to be joined
    netprof_err failed;
    netprof_error error;
} regions_reading_job;

// One thread.
typedef struct regions_worker {
    regions_reading_job *job;
    regions_part part;
    pthread_t thread;
} regions_worker;

static void regions_forget_facts(regions_origin *origin)
{
    for (size_t i = 0; i < arrlenu(origin->facts); i++) {
        free((char *)(uintptr_t)origin->facts[i].key);
        free((char *)(uintptr_t)origin->facts[i].value);
    }
    arrsetlen(origin->facts, 0);
    arrsetlen(origin->peers, 0);
    origin->tells_peers = false;
}

// Damage found, kept until the file's turn.
typedef struct regions_damage {
    uint64_t offset;
    char text[200];
} regions_damage;

// One file while it is read. Everything before its first regions happens before its turn.
typedef struct regions_file {
    regions_worker *worker;
    regions_reading_job *job;
    uint64_t base; // where the current part begins
    size_t number;
    const char *path;
    netprof_reader *reader;
    regions_origin origin;
    regions_damage *damages; // stb_ds
    size_t processes;
    size_t first_rank; // in turn: of the current part
    bool in_turn, useless;
} regions_file;

static void regions_wait_for_turn(regions_file *f)
{
    regions_reading_job *job = f->job;
    if (f->in_turn) return;
    pthread_mutex_lock(&job->lock);
    while (job->turn != f->number)
        pthread_cond_wait(&job->turned, &job->lock);
    pthread_mutex_unlock(&job->lock);
    f->in_turn = true;
    f->first_rank = job->r->rank_count;
}

// Only in turn: no other thread uses the regions then.
static void regions_tell_damage(regions_file *f)
{
    regions *r = f->job->r;
    for (size_t i = 0; i < arrlenu(f->damages); i++) {
        regions_warn(r, f->path, f->damages[i].offset, "%s", f->damages[i].text);
        r->damaged = true;
    }
    arrsetlen(f->damages, 0);
}

static void regions_add_damage(regions_file *f, uint64_t offset, const char *text)
{
    regions_damage damage = {.offset = f->base + offset};
    snprintf(damage.text, sizeof damage.text, "%s", text);
    arrput(f->damages, damage);
    f->origin.damaged = true;
}

static void regions_take_part(regions_file *f, const netprof_regions *from)
{
    regions_part_fill(&f->worker->part, from);
    regions_wait_for_turn(f);
    if (!f->job->failed) regions_join(f->job->r, &f->worker->part, &f->origin);
    f->processes++;
}

static int64_t regions_cell_of_events(const netprof_events *e, const char *name, size_t row)
{
    for (size_t i = 0; i < e->column_count; i++)
        if (e->columns[i].numbers && strcmp(e->columns[i].name, name) == 0) return e->columns[i].numbers[row];
    return 0;
}

static void regions_take_peers(regions_origin *origin, const netprof_events *e)
{
    if (strcmp(e->kind, "mpi.peers") != 0) return;
    origin->tells_peers = true;
    for (size_t i = 0; i < e->count && arrlenu(origin->peers) < REGIONS_PEERS; i++) {
        const regions_peer row = {.peer = regions_cell_of_events(e, "peer", i),
                                  .sent_bytes = regions_cell_of_events(e, "sent_bytes", i),
                                  .sends = regions_cell_of_events(e, "sends", i),
                                  .send_ns = regions_cell_of_events(e, "send_ns", i),
                                  .timed_sends = regions_cell_of_events(e, "timed_sends", i),
                                  .receive_ns = regions_cell_of_events(e, "receive_ns", i),
                                  .timed_receives = regions_cell_of_events(e, "timed_receives", i),
                                  .got_bytes = regions_cell_of_events(e, "got_bytes", i),
                                  .gets = regions_cell_of_events(e, "gets", i)};
        arrput(origin->peers, row);
    }
}

static void regions_take_item(regions_file *f, const netprof_item *item)
{
    if (item->type == NETPROF_ITEM_FACT) {
        netprof_fact copy = {memory_strdup(item->fact->key), memory_strdup(item->fact->value)};
        arrput(f->origin.facts, copy);
    } else if (item->type == NETPROF_ITEM_EVENTS) {
        regions_take_peers(&f->origin, item->events);
    } else if (item->type == NETPROF_ITEM_REGIONS) {
        regions_take_part(f, item->regions);
    } else if (item->type == NETPROF_ITEM_DAMAGE) {
        regions_add_damage(f, item->offset, item->text);
    }
}

static void regions_mark_damaged(regions_file *f)
{
    regions *r = f->job->r;
    for (size_t i = r->rank_count; i > f->first_rank && strcmp(r->ranks[i - 1].path, f->path) == 0; i--)
        r->ranks[i - 1].complete = false;
}

static netprof_err regions_read_items(regions_file *f, netprof_error *error)
{
    netprof_item item = {.type = NETPROF_ITEM_FACT};
    netprof_err failed = NETPROF_OK;
    while (!failed && item.type != NETPROF_ITEM_END) {
        failed = netprof_reader_next(f->reader, &item, error);
        if (!failed) regions_take_item(f, &item);
    }
    regions_wait_for_turn(f);
    // A file without an end lacks its last parts. This shows only after the regions, which are already joined.
    if (!failed && !item.complete && !f->origin.damaged) regions_add_damage(f, item.offset, "the file ends early");
    if (f->origin.damaged) regions_mark_damaged(f);
    regions_tell_damage(f);
    return failed;
}

static void regions_cannot_use(regions_file *f, const netprof_error *error)
{
    regions *r = f->job->r;
    if (error->code == NETPROF_ERR_NOMEM || error->sys_errno == ENOMEM) memory_exhausted();
    const char *text = *error->text ? error->text : netprof_strerror(error->code);
    regions_wait_for_turn(f);
    f->useless = true;
    regions_warn(r, f->path, error->offset, "%s", error->sys_errno ? strerror(error->sys_errno) : text);
    r->damaged = true;
}

// One of the files in it, or all of it.
static netprof_err regions_read_part(regions_file *f, const parts *all, size_t part, uint64_t most,
                                     netprof_error *error)
{
    netprof_error wrong = {.code = NETPROF_OK};
    netprof_limits limits = {.max_memory = most};
    parts_stream stream;
    f->base = all->at[part];
    f->origin.damaged = false;
    regions_forget_facts(&f->origin);
    if (f->in_turn) f->first_rank = f->job->r->rank_count;
    if (parts_reader(all, part, &stream, &limits, &f->reader, &wrong)) {
        wrong.offset += f->base;
        regions_cannot_use(f, &wrong);
        return NETPROF_OK;
    }
    netprof_err failed = regions_read_items(f, error);
    netprof_reader_close(f->reader);
    f->reader = NULL;
    return failed;
}

// Is it a recording that lies among the regions of a directory?
static bool regions_is_recording(const regions_file *f)
{
    return !f->job->paths->asked_for[f->number] && parts_hold(f->path) == PARTS_SNAPSHOTS;
}

// Samples of a process: needed where its own file is not there.
static bool regions_is_series(const regions_file *f)
{
    return parts_hold(f->path) == PARTS_SNAPSHOTS && regions_series_in_file(f->path);
}

static netprof_err regions_read_file(regions_file *f, netprof_error *error)
{
    uint64_t most = f->job->options->max_bytes ? f->job->options->max_bytes : UINT64_C(1) << 30;
    netprof_error wrong = {.code = NETPROF_OK};
    netprof_err failed = NETPROF_OK;
    parts all = {0};
    bool damaged = false;
    if (regions_is_series(f)) {
        regions_wait_for_turn(f);
        arrput(f->job->r->store->series, regions_keep_text(&f->job->r->store->arena, f->path));
        return NETPROF_OK;
    }
    if (!regions_is_recording(f) && parts_open(&all, f->path, &wrong)) {
        regions_cannot_use(f, &wrong);
        return NETPROF_OK;
    }
    for (size_t i = 0; i < all.count && !failed; i++) {
        failed = regions_read_part(f, &all, i, most, error);
        damaged |= f->origin.damaged;
    }
    if (!failed && !f->useless && !f->processes && !damaged) {
        regions_wait_for_turn(f);
        f->job->r->files_without++;
        if (f->job->paths->asked_for[f->number]) regions_warn(f->job->r, f->path, 0, "holds no regions");
    }
    parts_close(&all);
    return failed;
}

static void regions_next_turn(regions_reading_job *job)
{
    pthread_mutex_lock(&job->lock);
    job->turn++;
    pthread_cond_broadcast(&job->turned);
    pthread_mutex_unlock(&job->lock);
}

static void regions_do_file(regions_worker *worker, size_t number)
{
    regions_reading_job *job = worker->job;
    regions_file f = {.worker = worker, .job = job, .number = number, .path = job->paths->files.paths[number]};
    netprof_error error = {.code = NETPROF_OK};
    f.origin.path = f.path;
    netprof_err failed = regions_read_file(&f, &error);
    regions_forget_facts(&f.origin);
    arrfree(f.origin.facts);
    arrfree(f.origin.peers);
    arrfree(f.damages);
    regions_wait_for_turn(&f);
    job->r->files++;
    if (failed && !job->failed) {
        job->failed = failed;
        job->error = error;
    }
    regions_next_turn(job);
}

// ---- several threads ----

static bool regions_take_number(regions_reading_job *job, size_t *number)
{
    pthread_mutex_lock(&job->lock);
    *number = job->next;
    bool more = job->next < job->paths->files.count;
    job->next += more;
    pthread_mutex_unlock(&job->lock);
    return more;
}

static void *regions_work(void *argument)
{
    regions_worker *worker = argument;
    for (size_t number; regions_take_number(worker->job, &number);)
        regions_do_file(worker, number);
    return NULL;
}

// The calling thread, which reports progress.
static void regions_work_and_tell(regions_worker *worker)
{
    const regions_options *o = worker->job->options;
    for (size_t number; regions_take_number(worker->job, &number);) {
        regions_do_file(worker, number);
        if (o->progress) o->progress(o->user, number + 1, worker->job->paths->files.count);
    }
}

static size_t regions_threads_for(const regions_options *options, size_t files)
{
    long there = sysconf(_SC_NPROCESSORS_ONLN);
    size_t wanted = options->threads > 0 ? (size_t)options->threads : there > 0 ? (size_t)there : 1;
    if (wanted > THREADS_MOST) wanted = THREADS_MOST;
    return files / 8 + 1 < wanted ? files / 8 + 1 : wanted; // a thread costs as much as a few files
}

static netprof_err regions_read_files(regions *r, const regions_paths *paths, const regions_options *options,
                                      netprof_error *error)
{
    regions_reading_job job = {.r = r, .paths = paths, .options = options};
    regions_worker workers[THREADS_MOST];
    size_t wanted = regions_threads_for(options, paths->files.count), started = 1;
    pthread_mutex_init(&job.lock, NULL);
    pthread_cond_init(&job.turned, NULL);
    for (size_t i = 0; i < wanted; i++) {
        workers[i].job = &job;
        regions_part_begin(&workers[i].part);
    }
    while (started < wanted && !pthread_create(&workers[started].thread, NULL, regions_work, &workers[started]))
        started++; // fewer do as well
    regions_work_and_tell(&workers[0]);
    for (size_t i = 1; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    for (size_t i = 0; i < wanted; i++)
        regions_part_free(&workers[i].part);
    pthread_cond_destroy(&job.turned);
    pthread_mutex_destroy(&job.lock);
    if (job.failed && error) *error = job.error;
    return job.failed;
}

// ---- all ----

static netprof_err regions_nothing_found(const regions *r, netprof_error *error)
{
    const regions_warning *w = r->warning_count ? &r->warnings[0] : NULL;
    regions_fail(error, NETPROF_ERR_FORMAT, w ? w->path : NULL, "%s",
                 w          ? w->text
                 : r->files ? "no file holds regions"
                            : "no file *.netprof there");
    if (error && w) error->offset = w->offset;
    return NETPROF_ERR_FORMAT;
}

static netprof_err regions_read_all(regions *r, const char *const *paths, size_t count, const regions_options *options,
                                    netprof_error *error)
{
    regions_paths files = {0};
    regions_find_files(r, &files, paths, count);
    if (options->of) regions_choose_run(r, options->of, options->run);
    netprof_err failed = regions_read_files(r, &files, options, error);
    regions_free_paths(&files);
    if (failed) return failed;
    regions_join_series(r);
    if (!r->rank_count) return regions_nothing_found(r, error);
    regions_sort(r);
    regions_tell_runs(r);
    regions_balance(r);
    regions_tell_times(r);
    regions_find_late(r);
    regions_find_over_time(r);
    regions_judge(r, options->rules, options->threads);
    regions_conclude(r);
    return NETPROF_OK;
}

netprof_err regions_read(regions *r, const char *const *paths, size_t count, const regions_options *options,
                         netprof_error *error)
{
    static const regions_options defaults = {0};
    if (!options) options = &defaults;
    if (!r || r->store || !count || options->end_zero)
        return regions_fail(error, NETPROF_ERR_ARG, NULL, "%s",
                            !count ? "no file" : "regions or options that were not initialised, or are in use");
    r->store = memory_calloc(1, sizeof *r->store);
    netprof_err failed = regions_read_all(r, paths, count, options, error);
    if (failed) regions_free(r);
    return failed;
}

int regions_in_file(const char *path)
{
    return parts_hold(path) & PARTS_REGIONS ? 1 : 0;
}

int regions_series_in_file(const char *path)
{
    netprof_reader *reader = NULL;
    netprof_item item = {.type = NETPROF_ITEM_FACT};
    parts all = {0};
    parts_stream stream;
    if (parts_open(&all, path, NULL)) return 0;
    if (parts_reader(&all, 0, &stream, NULL, &reader, NULL)) {
        parts_close(&all);
        return 0;
    }
    while (!netprof_reader_next(reader, &item, NULL) && item.type != NETPROF_ITEM_END &&
           item.type != NETPROF_ITEM_SNAPSHOT)
        continue;
    int found = item.type == NETPROF_ITEM_SNAPSHOT && regions_series(item.snapshot->schema);
    netprof_reader_close(reader);
    parts_close(&all);
    return found;
}
