#define _POSIX_C_SOURCE 200809L
#include "regions_private.h"

#include "analysis/base/directory.h"
#include "analysis/data/file_parts.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WARNINGS_KEPT = 1000, THREADS_MOST = 8 };

void regions_warn(regions *r, const char *path, uint64_t offset, const char *format, ...)
{
    char text[512];
    va_list arguments;
    regions_warning *list = r->warning_count < WARNINGS_KEPT
                                ? regions_grow(r->warnings, r->warning_count, &r->store->warning_room, sizeof *list)
                                : NULL;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (list) r->warnings = list;
    char *kept = list ? strdup(text) : NULL;
    const char *where = kept ? regions_keep(&r->store->arena, path, strlen(path) + 1) : NULL;
    if (where) {
        list[r->warning_count++] = (regions_warning){where, offset, kept};
    } else {
        free(kept);
        r->warnings_dropped++;
    }
}

// ---- which files ----

typedef struct regions_paths {
    listing files;
    bool *asked_for; // [files.count]: by name, not found in a directory
} regions_paths;

static void free_paths(regions_paths *paths)
{
    listing_free(&paths->files);
    free(paths->asked_for);
}

static netprof_err add_directory(regions *r, listing *files, const char *path)
{
    static const char *const endings[] = {".netprof", NULL};
    netprof_err failed = listing_add_directory(files, path, endings);
    if (failed != NETPROF_ERR_IO) return failed;
    regions_warn(r, path, 0, "%s", strerror(errno));
    r->damaged = true;
    return NETPROF_OK;
}

// A file that is named twice, by itself and by its directory, is read once.
static netprof_err find_files(regions *r, regions_paths *paths, const char *const *given, size_t count)
{
    lookup asked = {0};
    netprof_err failed = NETPROF_OK;
    for (size_t i = 0; i < count && !failed; i++) {
        if (listing_is_directory(given[i])) {
            failed = add_directory(r, &paths->files, given[i]);
            continue;
        }
        size_t *place = lookup_put(&asked, 0, given[i]);
        if (place) *place = i;
        if (!place || !listing_add(&paths->files, given[i])) failed = NETPROF_ERR_NOMEM;
    }
    listing_sort(&paths->files);
    paths->asked_for = calloc(paths->files.count + 1, sizeof *paths->asked_for);
    if (!paths->asked_for) failed = NETPROF_ERR_NOMEM;
    for (size_t i = 0; i < paths->files.count && !failed; i++)
        paths->asked_for[i] = lookup_find(&asked, 0, paths->files.paths[i]) != LOOKUP_NONE;
    lookup_free(&asked);
    return failed;
}

// ---- one file ----

// What all threads share.
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

static void forget_facts(regions_origin *origin)
{
    for (size_t i = 0; i < origin->fact_count; i++) {
        free((char *)(uintptr_t)origin->facts[i].key);
        free((char *)(uintptr_t)origin->facts[i].value);
    }
    origin->fact_count = 0;
}

static bool remember_fact(regions_origin *origin, const netprof_fact *fact)
{
    netprof_fact *list = regions_grow(origin->facts, origin->fact_count, &origin->fact_room, sizeof *list);
    if (!list) return false;
    origin->facts = list;
    netprof_fact copy = {strdup(fact->key), strdup(fact->value)};
    list[origin->fact_count] = copy;
    origin->fact_count += copy.key && copy.value;
    if (copy.key && copy.value) return true;
    free((char *)(uintptr_t)copy.key);
    free((char *)(uintptr_t)copy.value);
    return false;
}

// A place of damage, kept until the file's turn.
typedef struct regions_damage {
    uint64_t offset;
    char text[200];
} regions_damage;

// One file while it is read: everything before its first regions happens out of turn.
typedef struct regions_file {
    uint64_t base; // where the part at hand begins
    regions_reading_job *job;
    size_t number;
    const char *path;
    netprof_reader *reader;
    regions_origin origin;
    regions_damage *damages;
    size_t damage_count, damage_room;
    size_t processes;
    size_t first_rank; // in turn: of the part at hand
    bool in_turn, useless;
} regions_file;

static void wait_for_turn(regions_file *f)
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

// Only in turn: nobody else looks at the regions.
static void tell_damage(regions_file *f)
{
    regions *r = f->job->r;
    for (size_t i = 0; i < f->damage_count; i++) {
        regions_warn(r, f->path, f->damages[i].offset, "%s", f->damages[i].text);
        r->damaged = true;
    }
    f->damage_count = 0;
}

static netprof_err add_damage(regions_file *f, uint64_t offset, const char *text)
{
    regions_damage *list = regions_grow(f->damages, f->damage_count, &f->damage_room, sizeof *list);
    if (!list) return NETPROF_ERR_NOMEM;
    f->damages = list;
    list[f->damage_count].offset = f->base + offset;
    snprintf(list[f->damage_count++].text, sizeof list->text, "%s", text);
    f->origin.damaged = true;
    return NETPROF_OK;
}

static netprof_err take_regions(regions_file *f, const netprof_regions *from, netprof_error *error)
{
    regions_part part;
    if (!regions_part_make(&part, from)) return NETPROF_ERR_NOMEM;
    wait_for_turn(f);
    netprof_err failed = f->job->failed ? NETPROF_OK : regions_join(f->job->r, &part, &f->origin, error);
    regions_part_free(&part);
    f->processes++;
    return failed;
}

static netprof_err take_item(regions_file *f, const netprof_item *item, netprof_error *error)
{
    switch (item->type) {
    case NETPROF_ITEM_FACT: return remember_fact(&f->origin, item->fact) ? NETPROF_OK : NETPROF_ERR_NOMEM;
    case NETPROF_ITEM_REGIONS: return take_regions(f, item->regions, error);
    case NETPROF_ITEM_DAMAGE: return add_damage(f, item->offset, item->text);
    default: return NETPROF_OK;
    }
}

// The end of a file without an end: what was written last is missing. It shows only behind the regions, which are
// there already.
static netprof_err note_end(regions_file *f, const netprof_item *item)
{
    if (item->complete || f->origin.damaged) return NETPROF_OK;
    return add_damage(f, item->offset, "the file ends early");
}

static void mark_damaged(regions_file *f)
{
    regions *r = f->job->r;
    for (size_t i = r->rank_count; i > f->first_rank && strcmp(r->ranks[i - 1].path, f->path) == 0; i--)
        r->ranks[i - 1].complete = false;
}

static netprof_err read_items(regions_file *f, netprof_error *error)
{
    netprof_item item = {.type = NETPROF_ITEM_FACT};
    netprof_err failed = NETPROF_OK;
    while (!failed && item.type != NETPROF_ITEM_END) {
        failed = netprof_reader_next(f->reader, &item, error);
        if (!failed) failed = take_item(f, &item, error);
    }
    wait_for_turn(f);
    if (!failed) failed = note_end(f, &item);
    if (f->origin.damaged) mark_damaged(f);
    tell_damage(f);
    return failed;
}

static void cannot_use(regions_file *f, const netprof_error *error)
{
    regions *r = f->job->r;
    const char *text = *error->text ? error->text : netprof_strerror(error->code);
    wait_for_turn(f);
    f->useless = true;
    regions_warn(r, f->path, error->offset, "%s", error->sys_errno ? strerror(error->sys_errno) : text);
    r->damaged = true;
}

// One of the files in it, or all of it.
static netprof_err read_part(regions_file *f, const parts *all, size_t part, uint64_t most, netprof_error *error)
{
    netprof_error wrong = {.code = NETPROF_OK};
    netprof_limits limits = {.max_memory = most};
    parts_stream stream;
    f->base = all->at[part];
    f->origin.damaged = false;
    forget_facts(&f->origin);
    if (f->in_turn) f->first_rank = f->job->r->rank_count;
    netprof_err failed = parts_reader(all, part, &stream, &limits, &f->reader, &wrong);
    if (!failed) {
        failed = read_items(f, error);
    } else if (failed != NETPROF_ERR_NOMEM) {
        wrong.offset += f->base;
        cannot_use(f, &wrong);
        failed = NETPROF_OK;
    }
    netprof_reader_close(f->reader);
    f->reader = NULL;
    return failed;
}

// A recording that lies among the regions of a directory.
static bool is_recording(const regions_file *f)
{
    return !f->job->paths->asked_for[f->number] && parts_hold(f->path) == PARTS_SNAPSHOTS;
}

static netprof_err read_file(regions_file *f, netprof_error *error)
{
    uint64_t most = f->job->options->max_bytes ? f->job->options->max_bytes : UINT64_C(1) << 30;
    netprof_error wrong = {.code = NETPROF_OK};
    parts all = {0};
    bool recording = is_recording(f), damaged = false;
    netprof_err failed = recording ? NETPROF_OK : parts_open(&all, f->path, &wrong);
    if (failed && failed != NETPROF_ERR_NOMEM) {
        cannot_use(f, &wrong);
        return NETPROF_OK;
    }
    for (size_t i = 0; i < all.count && !failed; i++) {
        failed = read_part(f, &all, i, most, error);
        damaged |= f->origin.damaged;
    }
    if (!failed && !f->useless && !f->processes && !damaged) {
        wait_for_turn(f);
        f->job->r->files_without++;
        if (f->job->paths->asked_for[f->number] && !regions_series_in_file(f->path))
            regions_warn(f->job->r, f->path, 0, "holds no regions");
    }
    parts_close(&all);
    return failed;
}

static void next_turn(regions_reading_job *job)
{
    pthread_mutex_lock(&job->lock);
    job->turn++;
    pthread_cond_broadcast(&job->turned);
    pthread_mutex_unlock(&job->lock);
}

static void do_file(regions_reading_job *job, size_t number)
{
    regions_file f = {.job = job, .number = number, .path = job->paths->files.paths[number]};
    netprof_error error = {.code = NETPROF_OK};
    f.origin.path = f.path;
    netprof_err failed = read_file(&f, &error);
    forget_facts(&f.origin);
    free(f.origin.facts);
    free(f.damages);
    wait_for_turn(&f);
    job->r->files++;
    if (failed && !job->failed) {
        job->failed = failed;
        job->error = error;
    }
    next_turn(job);
}

// ---- several threads ----

static bool take_number(regions_reading_job *job, size_t *number)
{
    pthread_mutex_lock(&job->lock);
    *number = job->next;
    bool more = job->next < job->paths->files.count;
    job->next += more;
    pthread_mutex_unlock(&job->lock);
    return more;
}

static void *work(void *argument)
{
    regions_reading_job *job = argument;
    for (size_t number; take_number(job, &number);)
        do_file(job, number);
    return NULL;
}

static void work_and_tell(regions_reading_job *job)
{
    const regions_options *o = job->options;
    for (size_t number; take_number(job, &number);) {
        do_file(job, number);
        if (o->progress) o->progress(o->user, number + 1, job->paths->files.count);
    }
}

static size_t threads_for(const regions_options *options, size_t files)
{
    long there = sysconf(_SC_NPROCESSORS_ONLN);
    size_t wanted = options->threads > 0 ? (size_t)options->threads : there > 0 ? (size_t)there : 1;
    if (wanted > THREADS_MOST) wanted = THREADS_MOST;
    return files / 8 + 1 < wanted ? files / 8 + 1 : wanted; // a thread costs as much as a few files
}

static netprof_err read_files(regions *r, const regions_paths *paths, const regions_options *options,
                              netprof_error *error)
{
    regions_reading_job job = {.r = r, .paths = paths, .options = options};
    pthread_t others[THREADS_MOST];
    size_t wanted = threads_for(options, paths->files.count), started = 0;
    pthread_mutex_init(&job.lock, NULL);
    pthread_cond_init(&job.turned, NULL);
    while (started + 1 < wanted && pthread_create(&others[started], NULL, work, &job) == 0)
        started++; // fewer do as well
    work_and_tell(&job);
    for (size_t i = 0; i < started; i++)
        pthread_join(others[i], NULL);
    pthread_cond_destroy(&job.turned);
    pthread_mutex_destroy(&job.lock);
    if (!job.failed) return NETPROF_OK;
    if (error && job.error.code)
        *error = job.error;
    else
        regions_fail(error, job.failed, NULL, "%s", netprof_strerror(job.failed));
    return job.failed;
}

// ---- all ----

static netprof_err nothing_found(const regions *r, netprof_error *error)
{
    const regions_warning *w = r->warning_count ? &r->warnings[0] : NULL;
    regions_fail(error, NETPROF_ERR_FORMAT, w ? w->path : NULL, "%s",
                 w          ? w->text
                 : r->files ? "no file holds regions"
                            : "no file *.netprof there");
    if (error && w) error->offset = w->offset;
    return NETPROF_ERR_FORMAT;
}

static netprof_err read_all(regions *r, const char *const *paths, size_t count, const regions_options *options,
                            netprof_error *error)
{
    regions_paths files = {0};
    netprof_err failed = find_files(r, &files, paths, count);
    if (failed) regions_fail(error, failed, NULL, "no memory");
    if (!failed) failed = read_files(r, &files, options, error);
    free_paths(&files);
    if (!failed && !r->rank_count) failed = nothing_found(r, error);
    if (!failed) failed = regions_sort(r, error);
    if (!failed) failed = regions_balance(r, error);
    if (!failed) failed = regions_judge(r, options, error);
    if (!failed) failed = regions_conclude(r, error);
    return failed;
}

netprof_err regions_read(regions *r, const char *const *paths, size_t count, const regions_options *options,
                         netprof_error *error)
{
    static const regions_options defaults = {0};
    if (!options) options = &defaults;
    if (!r || r->store || !count || options->end_zero)
        return regions_fail(error, NETPROF_ERR_ARG, NULL, "%s",
                            !count ? "no file" : "regions or options that were not initialised, or are in use");
    r->store = calloc(1, sizeof *r->store);
    netprof_err failed = r->store ? read_all(r, paths, count, options, error)
                                  : regions_fail(error, NETPROF_ERR_NOMEM, NULL, "no memory");
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
    if (netprof_reader_open(&reader, path, NULL, NULL)) return 0;
    while (!netprof_reader_next(reader, &item, NULL) && item.type != NETPROF_ITEM_END &&
           item.type != NETPROF_ITEM_SNAPSHOT)
        continue;
    int found = item.type == NETPROF_ITEM_SNAPSHOT && regions_series(item.snapshot->schema);
    netprof_reader_close(reader);
    return found;
}

bool regions_series(const netprof_schema *schema)
{
    for (size_t i = 0; i < schema->device_count; i++)
        if (strcmp(schema->devices[i].source, "regions") == 0 && strcmp(schema->devices[i].name, "process") == 0)
            return true;
    return false;
}
