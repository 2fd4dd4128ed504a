#define _GNU_SOURCE
#include "nccl_logs.h"

#include "nccl_line.h"
#include "nccl_parts.h"
#include "nccl_recorded.h"
#include "nccl_stream.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/threads/parallel.h"
#include "analysis/base/threads/processors.h"
#include "analysis/base/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

// Is a line among the first ones of the file of a kind that is known?
static bool logs_recognise_file(const char *path)
{
    enum { BEGINNING = 64 << 10 };
    bool known = nccl_recorded_recognise(path);
    nccl_stream *s = nccl_stream_open(path, 0);
    char *text = memory_alloc(BEGINNING + NCCL_LINE_PAD);
    size_t size = s ? nccl_stream_read(s, text, BEGINNING - 1) : 0;
    memset(text + size, '\n', NCCL_LINE_PAD);
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

bool nccl_recognise(const char *path)
{
    nccl n = {0};
    netprof_error error;
    struct stat st;
    bool known = false;
    if (stat(path, &st) != 0) return false;
    if (!S_ISDIR(st.st_mode)) return logs_recognise_file(path);
    n.memory = memory_calloc(1, sizeof(nccl_store));
    nccl_files_find(&n, &path, 1, &error);
    for (size_t i = 0; i < n.file_count && !known; i++)
        known = !n.files[i].error && (n.files[i].prometheus || logs_recognise_file(n.files[i].path));
    nccl_free(&n);
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
    nccl_chunk *chunks; // array of stb_ds
    size_t chunk_count;
    job *jobs; // the largest first
    uint64_t done, total;
} reading;

// Large plain files are read in parts.
static void logs_plan_file(reading *r, uint32_t file)
{
    uint64_t size = r->n->files[file].size, at = 0, part = r->options->part ? r->options->part : 32 << 20;
    bool packed = true;
    if (size >= 2 * part && !r->n->files[file].recorded) {
        nccl_stream *s = nccl_stream_open(r->n->files[file].path, 0);
        packed = !s || nccl_stream_packing(s) != NCCL_PLAIN;
        nccl_stream_close(s);
    }
    for (bool last = false; !last; at += part) {
        last = packed || size - at < 2 * part;
        nccl_chunk chunk = {.file = file, .begin = at, .end = last ? UINT64_MAX : at + part};
        arrput(r->chunks, chunk);
    }
}

static int logs_by_size(const void *a, const void *b)
{
    const job *x = a, *y = b;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    return x->chunk < y->chunk ? -1 : 1;
}

static void logs_plan(reading *r)
{
    for (size_t i = 0; i < r->n->file_count; i++) {
        const nccl_file *file = &r->n->files[i];
        if (file->error || file->prometheus) continue;
        r->total += file->size;
        logs_plan_file(r, (uint32_t)i);
    }
    r->chunk_count = arrlenu(r->chunks);
    r->jobs = memory_array(NULL, r->chunk_count, sizeof *r->jobs);
    for (size_t i = 0; i < r->chunk_count; i++) {
        const nccl_chunk *c = &r->chunks[i];
        uint64_t size = r->n->files[c->file].size;
        r->jobs[i] = (job){i, c->end == UINT64_MAX ? size - c->begin : c->end - c->begin};
    }
    qsort(r->jobs, r->chunk_count, sizeof *r->jobs, logs_by_size);
}

static void logs_read_chunk(void *user, size_t i)
{
    reading *r = user;
    nccl_chunk *c = &r->chunks[r->jobs[i].chunk];
    size_t max_line = r->options->max_line ? r->options->max_line : (size_t)16 << 20;
    const nccl_file *file = &r->n->files[c->file];
    if (file->recorded)
        nccl_recorded_read(c, file->path, &r->done);
    else
        nccl_chunk_read(c, file->path, max_line, &r->done);
}

static void logs_poll(void *user)
{
    reading *r = user;
    uint64_t done = __atomic_load_n(&r->done, __ATOMIC_RELAXED);
    r->options->progress(r->options->user, done < r->total ? done : r->total, r->total);
}

static void logs_account_chunk(nccl *n, const nccl_chunk *c)
{
    nccl_file *file = &n->files[c->file];
    nccl_store *memory = n->memory;
    if (!c->begin) file->packing = c->packing;
    if (c->error && !file->error) file->error = c->error;
    if (c->problem && !file->problem) {
        file->problem = nccl_arena_text(&memory->arena, c->problem, strlen(c->problem));
        file->cut = !c->error;
    }
    file->tail_cut |= c->tail_cut;
    file->snapshots += c->snapshots;
    if (c->rdma && !file->rdma) file->rdma = nccl_arena_text(&memory->arena, c->rdma, strlen(c->rdma));
    if (c->first_bad_line && !file->first_bad_line) file->first_bad_line = file->lines + c->first_bad_line;
    file->lines += c->lines;
    file->bytes += c->bytes;
    file->invalid_sizes += c->invalid_sizes;
    n->versions |= c->versions;
    n->foreign_version |= c->foreign_version;
    for (size_t i = 0; i < NCCL_OUTCOMES; i++)
        file->outcomes[i] += c->outcomes[i];
}

static void logs_account(reading *r)
{
    nccl *n = r->n;
    for (size_t i = 0; i < r->chunk_count; i++)
        logs_account_chunk(n, &r->chunks[i]);
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

static void logs_read_all(reading *r)
{
    nccl *n = r->n;
    parallel_options pool = {nccl_store_of(n)->threads, r->options->progress ? logs_poll : NULL, r};
    logs_plan(r);
    parallel_for(&pool, r->chunk_count, logs_read_chunk, r);
    nccl_merge(n, r->chunks, r->chunk_count);
    logs_account(r);
    nccl_merge_p2p(n, r->chunks, r->chunk_count);
    nccl_merge_parents(n, r->chunks, r->chunk_count);
    nccl_merge_recorded(n, r->chunks, r->chunk_count);
    nccl_group(n);
    for (size_t i = 0; i < n->file_count; i++)
        if (n->files[i].prometheus && !n->files[i].error) nccl_metrics_read(n, (uint32_t)i);
    nccl_peaks_set(n, r->options->peaks, r->options->peak_count);
    for (size_t i = 0; i < r->chunk_count; i++)
        nccl_chunk_free(&r->chunks[i]);
    arrfree(r->chunks);
    free(r->jobs);
}

static netprof_err logs_nothing(const nccl *n, netprof_error *error)
{
    if (!n->file_count)
        snprintf(error->text, sizeof error->text, "no Inspector log found");
    else
        snprintf(error->text, sizeof error->text, "no record of the Inspector in %s",
                 words_many(n->file_count, "file").text);
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
    nccl_store *memory = n->memory = memory_calloc(1, sizeof *memory);
    memory->threads = options->threads ? options->threads : processors_usable();
    netprof_err result = nccl_files_find(n, paths, count, error);
    if (!result) logs_read_all(&r);
    uint64_t used = 0;
    for (size_t i = NCCL_COLL; i < NCCL_OUTCOMES; i++)
        used += n->outcomes[i];
    return !result && !used && !n->metric_count ? logs_nothing(n, error) : result;
}

// ---- what was read ----

uint32_t nccl_record_member(const nccl *n, const nccl_record *r)
{
    return ((const nccl_store *)n->memory)->slots[r->slot].member;
}

const nccl_what *nccl_record_what(const nccl *n, const nccl_record *r)
{
    const nccl_store *memory = n->memory;
    return &memory->whats[memory->slots[r->slot].what];
}

void nccl_free(nccl *n)
{
    nccl_store *memory = n->memory;
    if (memory) {
        nccl_arena_free(&memory->arena);
        arrfree(memory->slots);
        arrfree(memory->whats);
        free(memory);
    }
    arrfree(n->files);
    arrfree(n->metrics);
    void *arrays[] = {n->hosts,   n->processes,  n->process_members, n->members, n->communicators,
                      n->colls,   n->operations, n->arrivals,        n->series,  n->instances,
                      n->records, n->traces,     n->kinds,           n->paths,   n->p2p,
                      n->proxies, n->spent,      n->spans,           n->used};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    *n = (nccl){0};
}
