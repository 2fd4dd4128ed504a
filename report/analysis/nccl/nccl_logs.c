#define _GNU_SOURCE
#include "nccl_logs.h"

#include "nccl_private.h"
#include "nccl_stream.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

// ---- names ----

const char *nccl_outcome_name(nccl_outcome outcome)
{
    static const char *const names[NCCL_OUTCOMES] = {"blank",      "bad_json",   "not_object", "too_long",
                                                     "no_context", "bad_value",  "other",      "coll",
                                                     "p2p",        "dump_stats", "proxy"};
    return names[outcome];
}

static const struct {
    const char *name, *meaning;
} classes[NCCL_CLASSES] = {{"single-rank", "one rank"},
                           {"nvlink-only", "one node"},
                           {"hca-only", "one rank on each node"},
                           {"mixed", "several ranks on each node"}};

nccl_class nccl_class_of(int64_t ranks, int64_t nodes)
{
    if (ranks == 1) return NCCL_SINGLE_RANK;
    if (nodes == 1) return NCCL_NVLINK_ONLY;
    return ranks == nodes ? NCCL_HCA_ONLY : NCCL_MIXED;
}

const char *nccl_class_name(nccl_class c)
{
    return classes[c].name;
}

const char *nccl_class_meaning(nccl_class c)
{
    return classes[c].meaning;
}

const char *nccl_size_text(uint64_t bytes, char *text, size_t size)
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB", "EB"};
    uint64_t scale = 1;
    size_t unit = 0;
    for (; bytes / scale >= 1000; unit++)
        scale *= 1000;
    if (!bytes)
        snprintf(text, size, "0B");
    else
        snprintf(text, size, "%.2f%s", (double)bytes / (double)scale, units[unit]);
    return text;
}

uint32_t nccl_record_member(const nccl *n, const nccl_record *r)
{
    return ((const nccl_memory *)n->memory)->slots[r->slot].member;
}

const nccl_what *nccl_record_what(const nccl *n, const nccl_record *r)
{
    const nccl_memory *memory = n->memory;
    return &memory->whats[memory->slots[r->slot].what];
}

uint32_t nccl_record_file(const nccl *n, const nccl_record *r)
{
    return ((const nccl_memory *)n->memory)->slots[r->slot].file;
}

// ---- finding files ----

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);
    return length > tail && strcmp(name + length - tail, end) == 0;
}

static bool is_metrics(const char *name)
{
    return ends_with(name, ".prom");
}

static bool is_log(const char *name)
{
    static const char *const ends[] = {".log", ".log.gz", ".log.zst", ".jsonl", ".jsonl.gz", ".jsonl.zst"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_with(name, ends[i])) return true;
    return is_metrics(name);
}

typedef struct finder {
    nccl *n;
    size_t room;
    bool failed;
} finder;

static void add_file(finder *f, const char *path, const struct stat *st)
{
    nccl *n = f->n;
    nccl_memory *memory = n->memory;
    if (!NCCL_ROOM(n->files, n->file_count, f->room)) {
        f->failed = true;
        return;
    }
    char *copy = nccl_arena_text(&memory->arena, path, strlen(path));
    if (!copy) {
        f->failed = true;
        return;
    }
    const char *slash = strrchr(copy, '/');
    n->files[n->file_count++] = (nccl_file){.path = copy,
                                            .name = slash ? slash + 1 : copy,
                                            .prometheus = is_metrics(copy),
                                            .size = st->st_size > 0 ? (uint64_t)st->st_size : 0};
}

// A directory that cannot be opened is kept as a file with its error: what is below it is unknown, not nothing.
static void add_unreadable(finder *f, const char *path, int error)
{
    struct stat none = {0};
    add_file(f, path, &none);
    if (!f->failed) f->n->files[f->n->file_count - 1].error = error;
}

static void find_below(finder *f, const char *directory, unsigned depth)
{
    enum { DEPTH = 64 };
    DIR *d = opendir(directory);
    struct dirent *entry;
    struct stat st;
    if (!d) {
        add_unreadable(f, directory, errno);
        return;
    }
    while (!f->failed && (entry = readdir(d))) {
        char *path;
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
        if (asprintf(&path, "%s%s%s", directory, ends_with(directory, "/") ? "" : "/", name) < 0) {
            f->failed = true;
            break;
        }
        // Links to files are followed, links to directories are not: they may lead in circles.
        if (lstat(path, &st) == 0) {
            if (S_ISDIR(st.st_mode) && depth < DEPTH)
                find_below(f, path, depth + 1);
            else if (is_log(name) && stat(path, &st) == 0 && S_ISREG(st.st_mode))
                add_file(f, path, &st);
        }
        free(path);
    }
    closedir(d);
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const nccl_file *)a)->path, ((const nccl_file *)b)->path);
}

static netprof_err find_files(nccl *n, const char *const *paths, size_t count, netprof_error *error)
{
    finder f = {n, 0, false};
    struct stat st;
    for (size_t i = 0; i < count && !f.failed; i++) {
        if (stat(paths[i], &st) != 0) {
            error->sys_errno = errno;
            snprintf(error->path, sizeof error->path, "%s", paths[i]);
            return error->code = NETPROF_ERR_IO;
        }
        if (S_ISDIR(st.st_mode))
            find_below(&f, paths[i], 0);
        else
            add_file(&f, paths[i], &st);
    }
    if (f.failed) return error->code = NETPROF_ERR_NOMEM;
    if (n->file_count) qsort(n->files, n->file_count, sizeof *n->files, by_path);
    size_t kept = 0; // named twice is there once
    for (size_t i = 0; i < n->file_count; i++)
        if (!kept || strcmp(n->files[kept - 1].path, n->files[i].path) != 0) n->files[kept++] = n->files[i];
    n->file_count = kept;
    return NETPROF_OK;
}

bool nccl_recognise(const char *path)
{
    enum { BEGINNING = 64 << 10 };
    nccl n = {0};
    nccl_memory memory = {0};
    struct stat st;
    bool known = false;
    n.memory = &memory;
    if (stat(path, &st) != 0) return false;
    if (S_ISDIR(st.st_mode)) {
        finder f = {&n, 0, false};
        find_below(&f, path, 0);
        for (size_t i = 0; i < n.file_count && !known; i++)
            known = !n.files[i].error && (is_metrics(n.files[i].path) || nccl_recognise(n.files[i].path));
        free(n.files);
        nccl_arena_free(&memory.arena);
        return known;
    }
    nccl_stream *s = nccl_stream_open(path, 0);
    char *text = malloc(BEGINNING + NCCL_LINE_PAD);
    size_t size = s && text ? nccl_stream_read(s, text, BEGINNING - 1) : 0;
    if (text) memset(text + size, '\n', NCCL_LINE_PAD);
    for (size_t at = 0; at < size && !known;) {
        nccl_line line;
        size_t length = (size_t)((char *)memchr(text + at, '\n', size - at + 1) - (text + at));
        nccl_line_parse(&line, text + at, length);
        known = line.outcome >= NCCL_COLL;
        at += length + 1;
    }
    free(text);
    nccl_stream_close(s);
    return known;
}

// ---- reading ----

typedef struct job {
    size_t chunk;
    uint64_t size;
} job;

typedef struct reading {
    nccl *n;
    const nccl_options *options;
    nccl_chunk *chunks;
    size_t chunk_count, chunk_room;
    job *jobs; // the largest first
    uint64_t done, total;
} reading;

// Large plain files are read in parts.
static bool plan_file(reading *r, uint32_t file)
{
    uint64_t size = r->n->files[file].size, at = 0, part = r->options->part ? r->options->part : 32 << 20;
    bool packed = true;
    if (size >= 2 * part) {
        nccl_stream *s = nccl_stream_open(r->n->files[file].path, 0);
        packed = !s || nccl_stream_packing(s) != NCCL_PLAIN;
        nccl_stream_close(s);
    }
    do {
        bool last = packed || size - at < 2 * part;
        if (!NCCL_ROOM(r->chunks, r->chunk_count, r->chunk_room)) return false;
        r->chunks[r->chunk_count++] = (nccl_chunk){.file = file, .begin = at, .end = last ? UINT64_MAX : at + part};
        if (last) break;
        at += part;
    } while (true);
    return true;
}

static int by_size(const void *a, const void *b)
{
    const job *x = a, *y = b;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    return x->chunk < y->chunk ? -1 : 1;
}

static bool plan(reading *r)
{
    for (size_t i = 0; i < r->n->file_count; i++) {
        const nccl_file *file = &r->n->files[i];
        if (file->error || file->prometheus) continue;
        r->total += file->size;
        if (!plan_file(r, (uint32_t)i)) return false;
    }
    r->jobs = malloc((r->chunk_count + 1) * sizeof *r->jobs);
    if (!r->jobs) return false;
    for (size_t i = 0; i < r->chunk_count; i++) {
        const nccl_chunk *c = &r->chunks[i];
        uint64_t size = r->n->files[c->file].size;
        r->jobs[i] = (job){i, c->end == UINT64_MAX ? size - c->begin : c->end - c->begin};
    }
    qsort(r->jobs, r->chunk_count, sizeof *r->jobs, by_size);
    return true;
}

static void read_chunk(void *user, size_t i)
{
    reading *r = user;
    nccl_chunk *c = &r->chunks[r->jobs[i].chunk];
    size_t max_line = r->options->max_line ? r->options->max_line : (size_t)16 << 20;
    nccl_chunk_read(c, r->n->files[c->file].path, max_line, &r->done);
}

static void poll(void *user)
{
    reading *r = user;
    uint64_t done = __atomic_load_n(&r->done, __ATOMIC_RELAXED);
    r->options->progress(r->options->user, done < r->total ? done : r->total, r->total);
}

static bool any_failed(const reading *r)
{
    for (size_t i = 0; i < r->chunk_count; i++)
        if (r->chunks[i].failed) return true;
    return false;
}

static void account_chunk(nccl *n, const nccl_chunk *c)
{
    nccl_file *file = &n->files[c->file];
    nccl_memory *memory = n->memory;
    if (!c->begin) file->packing = c->packing;
    if (c->error && !file->error) file->error = c->error;
    if (c->problem && !file->problem) {
        file->problem = nccl_arena_text(&memory->arena, c->problem, strlen(c->problem));
        file->cut = !c->error;
    }
    file->tail_cut |= c->tail_cut;
    if (c->first_bad_line && !file->first_bad_line) file->first_bad_line = file->lines + c->first_bad_line;
    file->lines += c->lines;
    file->bytes += c->bytes;
    file->invalid_sizes += c->invalid_sizes;
    n->versions |= c->versions;
    n->foreign_version |= c->foreign_version;
    for (size_t i = 0; i < NCCL_OUTCOMES; i++)
        file->outcomes[i] += c->outcomes[i];
}

static void account(reading *r)
{
    nccl *n = r->n;
    for (size_t i = 0; i < r->chunk_count; i++)
        account_chunk(n, &r->chunks[i]);
    for (size_t i = 0; i < n->file_count; i++) {
        const nccl_file *file = &n->files[i];
        n->size += file->size;
        n->bytes += file->bytes;
        n->lines += file->lines;
        n->invalid_sizes += file->invalid_sizes;
        for (size_t k = 0; k < NCCL_OUTCOMES; k++)
            n->outcomes[k] += file->outcomes[k];
    }
}

static bool read_metrics(nccl *n)
{
    for (size_t i = 0; i < n->file_count; i++)
        if (n->files[i].prometheus && !n->files[i].error && !nccl_metrics_read(n, (uint32_t)i)) return false;
    return true;
}

static bool read_all(reading *r)
{
    nccl *n = r->n;
    nccl_memory *memory = n->memory;
    nccl_pool_options pool = {memory->threads, r->options->progress ? poll : NULL, r};
    if (!plan(r)) return false;
    nccl_parallel(&pool, r->chunk_count, read_chunk, r);
    if (any_failed(r) || !nccl_merge(n, r->chunks, r->chunk_count)) return false;
    account(r);
    return nccl_merge_p2p(n, r->chunks, r->chunk_count) && nccl_group(n) && read_metrics(n) &&
           nccl_set_peaks(n, r->options->peaks, r->options->peak_count);
}

static netprof_err nothing(const nccl *n, netprof_error *error)
{
    if (!n->file_count)
        snprintf(error->text, sizeof error->text, "no Inspector log found");
    else
        snprintf(error->text, sizeof error->text, "no record of the Inspector in %zu file%s", n->file_count,
                 n->file_count == 1 ? "" : "s");
    return error->code = NETPROF_ERR_NOSOURCE;
}

netprof_err nccl_read(nccl *n, const char *const *paths, size_t count, const nccl_options *options,
                      netprof_error *error)
{
    static const nccl_options defaults;
    netprof_error mine;
    if (!options) options = &defaults;
    if (!error) error = &mine;
    memset(error, 0, sizeof *error);
    reading r = {.n = n, .options = options};
    nccl_memory *memory = n->memory = calloc(1, sizeof *memory);
    if (!memory) return error->code = NETPROF_ERR_NOMEM;
    memory->threads = options->threads ? options->threads : nccl_processors();
    netprof_err result = find_files(n, paths, count, error);
    if (!result && !read_all(&r)) result = error->code = NETPROF_ERR_NOMEM;
    for (size_t i = 0; i < r.chunk_count; i++)
        nccl_chunk_free(&r.chunks[i]);
    free(r.chunks);
    free(r.jobs);
    uint64_t used = 0;
    for (size_t i = NCCL_COLL; i < NCCL_OUTCOMES; i++)
        used += n->outcomes[i];
    return !result && !used && !n->metric_count ? nothing(n, error) : result;
}

void nccl_free(nccl *n)
{
    nccl_memory *memory = n->memory;
    if (memory) {
        nccl_arena_free(&memory->arena);
        free(memory->slots);
        free(memory->whats);
        free(memory);
    }
    void *arrays[] = {n->files,         n->hosts,   n->processes,  n->process_members, n->members,
                      n->communicators, n->colls,   n->operations, n->arrivals,        n->series,
                      n->instances,     n->records, n->traces,     n->kinds,           n->paths,
                      n->p2p,           n->proxies, n->metrics};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    *n = (nccl){0};
}

// ---- peaks ----

static double peak_of(const nccl_communicator *c, const nccl_peak *peaks, size_t count)
{
    const char *names[] = {c->name, c->id, c->label, nccl_class_name(c->type)};
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (fnmatch(peaks[i].pattern, names[k], 0) == 0) return peaks[i].gbs;
    return NAN;
}

bool nccl_set_peaks(nccl *n, const nccl_peak *peaks, size_t count)
{
    for (size_t i = 0; i < n->communicator_count; i++)
        n->communicators[i].peak_gbs = peak_of(&n->communicators[i], peaks, count);
    bool *different = calloc(n->kind_count + 1, sizeof *different);
    if (!different) return false;
    for (size_t i = 0; i < n->series_count; i++) {
        nccl_series *s = &n->series[i];
        nccl_kind *kind = &n->kinds[s->kind];
        double peak = n->communicators[s->communicator].peak_gbs;
        s->peak_share = s->spreads.bus_gbs.p50 / peak;
        if (isnan(peak) || (!isnan(kind->peak_gbs) && kind->peak_gbs != peak)) different[s->kind] = true;
        kind->peak_gbs = peak;
    }
    for (size_t i = 0; i < n->kind_count; i++) {
        if (different[i]) n->kinds[i].peak_gbs = NAN;
        n->kinds[i].peak_share = n->kinds[i].spreads.bus_gbs.p50 / n->kinds[i].peak_gbs;
    }
    free(different);
    return true;
}

// ---- over the run ----

nccl_bin *nccl_bins(const nccl *n, const nccl_series *s, size_t most, size_t *count)
{
    size_t total = s->instance_count, bins = total < most ? total : most;
    nccl_bin *all = calloc(bins + 1, sizeof *all);
    double *wire = malloc((2 * total + 1) * sizeof *wire), *skew = wire ? wire + total : NULL;
    *count = all && wire ? bins : 0;
    for (size_t i = 0; i < *count; i++) {
        size_t begin = total * i / bins, end = total * (i + 1) / bins;
        nccl_bin *b = &all[i];
        const nccl_instance *x = n->instances + s->first_instance;
        b->first_sn = x[begin].sn;
        b->last_sn = x[end - 1].sn;
        b->instances = end - begin;
        for (size_t k = begin; k < end; k++) {
            if (!x[k].complete) continue;
            wire[b->complete] = (double)x[k].min_us;
            skew[b->complete++] = (double)(x[k].max_us - x[k].min_us);
        }
        b->wire_us = nccl_spread_of(wire, b->complete);
        b->skew_us = nccl_spread_of(skew, b->complete);
    }
    if (!wire) {
        free(all);
        all = NULL;
    }
    free(wire);
    return all;
}
