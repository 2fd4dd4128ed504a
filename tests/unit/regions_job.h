// Region files written by hand, a call at a time; include support.h first.
//
//     job_rank r;
//     job_begin(&r, 3, "h1");                              // rank 3 on host h1
//     job_call(&r, 0, "main", 1000);                       // thread 0: one call of 1000 ns
//     job_call(&r, 0, "main/halo", 300);                   // one within it
//     job_bytes(&r, 0, "main/halo", 4096);
//     job_write(&r, tree);                                 // TREE/rank-3-1003.netprof
//
// In a name, % stands for a slash. Sums, variance and histograms are taken from the single calls, own time from what is left without the parts.
#ifndef REGIONS_JOB_H
#define REGIONS_JOB_H

#include "netprof.h"

#include <stdbool.h>

enum { JOB_NODES = 64, JOB_CALLS = 512, JOB_COUNTERS = 8 };

typedef struct job_node {
    uint32_t thread;
    char path[128], name[128];
    uint64_t calls[JOB_CALLS];
    size_t call_count;
    uint64_t open, aborted, unmeasured, bytes, unread, counted_less, concurrency;
    uint64_t waits, waited_ns;
    bool span;
    uint64_t sums[JOB_COUNTERS];
} job_node;

typedef struct job_rank {
    long rank, pid, rank_count;
    const char *host, *command, *job, *warning, *version;
    netprof_mode mode;
    int64_t wall_ns, elapsed_ns, sweep_ns, interval_ns;
    uint64_t mismatched, dropped, overhead_ps, readings, reading_ns;
    const netprof_schema *schema; // borrowed
    job_node nodes[JOB_NODES];
    size_t node_count;
} job_rank;

SUPPORT void job_begin(job_rank *r, long rank, const char *host)
{
    memset(r, 0, sizeof *r);
    r->rank = rank;
    r->pid = 1000 + rank;
    r->host = host;
    r->command = "solver.x";
    r->job = "77";
    r->warning = "";
    r->version = NETPROF_VERSION_STRING;
    r->mode = NETPROF_MODE_TIME;
    r->wall_ns = INT64_C(1700000000000000000) + rank;
    r->elapsed_ns = 0; // as long as the top-level regions of the thread with the most
}

SUPPORT job_node *job_find(job_rank *r, uint32_t thread, const char *path)
{
    for (size_t i = 0; i < r->node_count; i++)
        if (r->nodes[i].thread == thread && strcmp(r->nodes[i].path, path) == 0) return &r->nodes[i];
    assert_true(r->node_count < JOB_NODES);
    job_node *n = &r->nodes[r->node_count++];
    n->thread = thread;
    snprintf(n->path, sizeof n->path, "%s", path);
    return n;
}

SUPPORT void job_calls(job_rank *r, uint32_t thread, const char *path, size_t count, uint64_t ns)
{
    job_node *n = job_find(r, thread, path);
    assert_true(n->call_count + count <= JOB_CALLS);
    while (count--)
        n->calls[n->call_count++] = ns;
}

SUPPORT void job_call(job_rank *r, uint32_t thread, const char *path, uint64_t ns)
{
    job_calls(r, thread, path, 1, ns);
}

SUPPORT void job_bytes(job_rank *r, uint32_t thread, const char *path, uint64_t bytes)
{
    job_find(r, thread, path)->bytes += bytes;
}

// What a counter did during all calls of the node.
SUPPORT void job_count(job_rank *r, uint32_t thread, const char *path, size_t counter, uint64_t sum)
{
    job_find(r, thread, path)->sums[counter] += sum;
}

SUPPORT uint64_t job_sum(const job_node *n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n->call_count; i++)
        sum += n->calls[i];
    return sum;
}

// Is `part` directly within `whole`? The last slash that is no part of a name divides them; names here have none.
SUPPORT int job_is_part(const job_node *part, const job_node *whole)
{
    const char *slash = strrchr(part->path, '/');
    size_t n = slash ? (size_t)(slash - part->path) : 0;
    return slash && part->thread == whole->thread && strlen(whole->path) == n &&
           strncmp(part->path, whole->path, n) == 0;
}

SUPPORT unsigned job_bucket(uint64_t ns)
{
    unsigned bucket = 0;
    while (bucket + 1 < NETPROF_HISTOGRAM_BUCKETS && netprof_histogram_floor_ns(bucket + 1) <= ns)
        bucket++;
    return bucket;
}

SUPPORT double job_variance(const uint64_t *calls, size_t count)
{
    double mean = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        mean += (double)calls[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += ((double)calls[i] - mean) * ((double)calls[i] - mean);
    return count ? squares / (double)count : 0;
}

SUPPORT void job_stat(job_rank *r, size_t i, netprof_stat *s, uint64_t *buckets)
{
    const job_node *n = &r->nodes[i];
    const char *slash = strrchr(n->path, '/');
    uint64_t inside = 0;
    memset(s, 0, sizeof *s);
    s->thread = n->thread;
    s->parent = UINT32_MAX;
    for (size_t k = 0; k < r->node_count; k++) {
        if (r->nodes[k].thread == n->thread && k < i) s->node++;
        if (job_is_part(&r->nodes[k], n)) inside += job_sum(&r->nodes[k]);
    }
    for (size_t k = 0, at = 0; k < i; k++) {
        if (r->nodes[k].thread != n->thread) continue;
        if (job_is_part(n, &r->nodes[k])) s->parent = (uint32_t)at;
        at++;
    }
    snprintf(r->nodes[i].name, sizeof r->nodes[i].name, "%s", slash ? slash + 1 : n->path);
    for (char *c = r->nodes[i].name; (c = strchr(c, '%'));)
        *c = '/';
    s->region = r->nodes[i].name;
    s->measured = n->call_count;
    s->calls = n->call_count + n->open + n->unmeasured;
    s->open = n->open;
    s->aborted = n->aborted;
    s->total_ns = s->inclusive_ns = job_sum(n);
    s->exclusive_ns = s->inclusive_ns > inside ? s->inclusive_ns - inside : 0;
    s->min_ns = n->call_count ? UINT64_MAX : 0;
    for (size_t k = 0; k < n->call_count; k++) {
        if (n->calls[k] < s->min_ns) s->min_ns = n->calls[k];
        if (n->calls[k] > s->max_ns) s->max_ns = n->calls[k];
        buckets[job_bucket(n->calls[k])]++;
    }
    s->variance_ns2 = job_variance(n->calls, n->call_count);
    s->bytes = n->bytes;
    s->spans = n->span ? s->calls : 0;
    s->waits = n->waits;
    s->waited_ns = n->waited_ns;
    s->histogram = buckets;
    if (!r->schema) return;
    s->counter_sums = n->sums;
    s->too_short = n->unread;
    s->counted = n->call_count - n->unread;
    s->concurrency = n->concurrency;
}

SUPPORT void job_fact(netprof_writer *w, const char *key, const char *value)
{
    if (value) assert_int_equal(netprof_write_fact(w, key, value, NULL), NETPROF_OK);
}

SUPPORT void job_number(netprof_writer *w, const char *key, long value)
{
    char text[32];
    snprintf(text, sizeof text, "%ld", value);
    if (value >= 0) job_fact(w, key, text);
}

SUPPORT int64_t job_elapsed(const job_rank *r)
{
    uint64_t most = 0;
    for (uint32_t thread = 0; thread < JOB_NODES; thread++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < r->node_count; i++)
            if (r->nodes[i].thread == thread && !strchr(r->nodes[i].path, '/')) sum += job_sum(&r->nodes[i]);
        if (sum > most) most = sum;
    }
    return (int64_t)most;
}

// To any writer; facts first, as netprof.h does it.
SUPPORT void job_put(job_rank *r, netprof_writer *w)
{
    static netprof_stat stats[JOB_NODES];
    static uint64_t buckets[JOB_NODES][NETPROF_HISTOGRAM_BUCKETS];
    uint32_t counters[JOB_COUNTERS];
    memset(buckets, 0, sizeof buckets);
    for (size_t i = 0; i < r->node_count; i++)
        job_stat(r, i, &stats[i], buckets[i]);
    for (uint32_t i = 0; i < JOB_COUNTERS; i++)
        counters[i] = i;
    netprof_regions all = {.stats = stats,
                           .count = r->node_count,
                           .schema = r->schema,
                           .counters = counters,
                           .counter_count = r->schema ? r->schema->counter_count : 0,
                           .mode = r->mode,
                           .wall_ns = r->wall_ns,
                           .elapsed_ns = r->elapsed_ns ? r->elapsed_ns : job_elapsed(r),
                           .threads = 1,
                           .mismatched = r->mismatched,
                           .dropped = r->dropped,
                           .overhead_ps = r->overhead_ps,
                           .readings = r->readings,
                           .reading_ns = r->reading_ns,
                           .sweep_ns = r->sweep_ns,
                           .interval_ns = r->interval_ns,
                           .clock = "tsc",
                           .warning = r->warning};
    for (size_t i = 0; i < r->node_count; i++)
        if (r->nodes[i].thread >= all.threads) all.threads = r->nodes[i].thread + 1;
    job_fact(w, "netprof", r->version);
    job_fact(w, "host", r->host);
    job_number(w, "pid", r->pid);
    job_fact(w, "command", r->command);
    job_fact(w, "job", r->job);
    job_number(w, "rank", r->rank);
    job_number(w, "rank_count", r->rank_count ? r->rank_count : -1);
    assert_int_equal(netprof_write_regions(w, &all, NULL), NETPROF_OK);
}

// TREE/rank-RANK-PID.netprof; the name is in one of tree_path()'s buffers. With more facts before the others.
SUPPORT const char *job_write_with(job_rank *r, const char *tree, const netprof_fact *facts, size_t count)
{
    netprof_writer *w = NULL;
    char name[64];
    struct sink sink = {0};
    snprintf(name, sizeof name, "rank-%ld-%ld.netprof", r->rank, r->pid);
    assert_int_equal(netprof_writer_open_fn(&w, sink_write, &sink, NULL), NETPROF_OK);
    for (size_t i = 0; i < count; i++)
        job_fact(w, facts[i].key, facts[i].value);
    job_put(r, w);
    assert_int_equal(netprof_writer_close(w, 1, NULL), NETPROF_OK);
    tree_write_bytes(tree, name, sink.data, sink.size);
    sink_free(&sink);
    return tree_path(tree, name);
}

SUPPORT const char *job_write(job_rank *r, const char *tree)
{
    return job_write_with(r, tree, NULL, 0);
}

#endif
