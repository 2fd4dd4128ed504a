// Writes the region files of a job that never ran: a solver whose one rank is slow, on hosts whose NICs it shares.
//
//     make_regions [-n RANKS] [-p RANKS_PER_HOST] [-d NICS] [-s SLOW_RANK] [-t THREADS] [-a] [-q] DIRECTORY
//
// The tree is that of a small solver: main (init, step (halo_exchange (pack, isend_irecv, wait), compute,
// allreduce_residual), checkpoint_write). Every rank takes the same time from end to end. Rank SLOW_RANK (default 17, -1:
// none) takes 25 % longer in wait, and so much less in allreduce_residual, where the others wait for it; the first NIC of
// its host is paused 23 % of the time in wait. Without NICS (-d 0) only time was measured. -t: so many threads, which
// share the work of compute below a region of their own. -a: the schema holds all counters of a NIC, as a file of a real
// node does, and not the fast set alone. All from sums and a hash: two runs write the same bytes.
#include "analysis/catalog/catalog.h"
#include "netprof.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STEPS = 2000, PACKS_PER_STEP = 26, NICS_MOST = 64, THREADS_MOST = 256 };

static long rank_count = 64, per_host = 8, nics = 4, slow_rank = 17, threads = 1;
static int all_counters, quiet;

// ---- the program ----

enum { MAIN, INIT, STEP, HALO, PACK, ISEND, WAIT, COMPUTE, ALLREDUCE, CHECKPOINT, REGIONS, WORKER = REGIONS, NODES };

static const struct region {
    const char *name;
    int parent;
    uint64_t calls;
    uint64_t own_ns; // of all calls of a rank; of ALLREDUCE: see times()
    uint64_t bytes;  // declared in each call
} program[NODES] = {
    [MAIN] = {"main", -1, 1, UINT64_C(340000000), 0},
    [INIT] = {"init", MAIN, 1, UINT64_C(1420000000), 0},
    [STEP] = {"step", MAIN, STEPS, UINT64_C(400000000), 0},
    [HALO] = {"halo_exchange", STEP, STEPS, UINT64_C(100000000), 0},
    [PACK] = {"pack", HALO, STEPS *PACKS_PER_STEP, UINT64_C(2200000000), 0},
    [ISEND] = {"isend_irecv", HALO, STEPS, UINT64_C(3830000000), 30000000},
    [WAIT] = {"wait", HALO, STEPS, UINT64_C(13370000000), 0},
    [COMPUTE] = {"compute", STEP, STEPS, UINT64_C(31790000000), 0},
    [ALLREDUCE] = {"allreduce_residual", STEP, STEPS, UINT64_C(3840000000), 1024},
    [CHECKPOINT] = {"checkpoint_write", MAIN, 10, UINT64_C(3840000000), 400000000},
    [WORKER] = {"worker", -1, STEPS, UINT64_C(31000000000), 0},
};

// -1000 .. 1000, of a rank and a region.
static int64_t noise(long rank, int node)
{
    uint64_t z = (uint64_t)rank * 64 + (uint64_t)node + UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (int64_t)((z ^ z >> 31) % 2001) - 1000;
}

// Own time of each region: 1 % of noise everywhere, made good in allreduce_residual.
static void times(long rank, int64_t *own)
{
    int64_t left = 0;
    for (int i = 0; i < NODES; i++) {
        int64_t base = (int64_t)program[i].own_ns;
        own[i] = i == ALLREDUCE ? base : base + base / 100000 * noise(rank, i);
        if (i == WAIT && rank == slow_rank) own[i] = base + base / 4;
        if (i != ALLREDUCE && i < REGIONS) left += base - own[i];
    }
    own[ALLREDUCE] += left;
    if (own[ALLREDUCE] < 0) own[ALLREDUCE] = 0;
}

// ---- the node ----

static const netprof_schema *make_schema(void)
{
    netprof_list *list = netprof_build_begin(NULL);
    const netprof_schema *schema = NULL;
    char name[32];
    if (list) netprof_build_source(list, "cxi");
    for (long nic = 0; list && nic < nics; nic++) {
        snprintf(name, sizeof name, "cxi%ld", nic);
        netprof_list_device(list, name, 0, NETPROF_DEVICE_PHYSICAL);
        netprof_list_fact(list, "speed_mbps", "200000");
        netprof_list_fact(list, "port_speed", "BS_200G");
        const catalog_entry *entry;
        for (size_t i = 0; (entry = catalog_at(i)); i++) {
            bool fast = entry->marks & CATALOG_FAST;
            if (strcmp(entry->source, "cxi") != 0 || entry->marks & (CATALOG_PATTERN | CATALOG_CASSINI_2)) continue;
            if (!fast && !all_counters) continue;
            netprof_counter c = {.name = entry->name,
                                 .unit = entry->unit,
                                 .kind = entry->kind,
                                 .width = entry->width,
                                 .flags = fast ? NETPROF_FAST : 0};
            netprof_list_counter(list, &c);
        }
    }
    if (!list || netprof_build_end(list, &schema, NULL)) {
        fputs("make_regions: out of memory\n", stderr);
        exit(1);
    }
    return schema;
}

// What a counter of a NIC does in one second of a region, without the regions within.
static uint64_t per_second(const char *name, int node, bool slow_nic)
{
    static const uint64_t sent[NODES] = {
        [INIT] = 50000000,    [PACK] = 1000000000,    [ISEND] = 7800000000, [WAIT] = 7000000000,
        [COMPUTE] = 10000000, [ALLREDUCE] = 15000000, [WORKER] = 10000000,  [CHECKPOINT] = 2100000000};
    bool waits = node == WAIT || node == ISEND;
    if (strcmp(name, "hni_sts_tx_ok_octets") == 0) return sent[node];
    if (strcmp(name, "hni_sts_rx_ok_octets") == 0) return sent[node] - sent[node] / 10;
    if (strcmp(name, "hni_pkts_sent_by_tc_0") == 0) return sent[node] / 2048;
    if (strcmp(name, "hni_tx_paused_0") == 0) return waits ? slow_nic ? 230000000 : 200000 : 0;
    if (strcmp(name, "pct_retry_srb_requests") == 0) return slow_nic && waits ? 100 : 0;
    if (strcmp(name, "parbs_tarb_pi_posted_pkts") == 0) return sent[node] / 256;
    return 0;
}

// ---- a file ----

typedef struct made {
    netprof_regions regions;
    netprof_stat *stats;
    uint32_t *counters;
    uint64_t *histograms, *sums;
} made;

static void *must(void *memory)
{
    if (memory) return memory;
    fputs("make_regions: out of memory\n", stderr);
    exit(1);
}

static void make_room(made *m, const netprof_schema *schema)
{
    size_t stats = REGIONS + (size_t)threads - 1, n = 0;
    m->counters = must(calloc(schema->counter_count + 1, sizeof *m->counters));
    for (size_t i = 0; i < schema->counter_count; i++)
        if (schema->counters[i].flags & NETPROF_FAST) m->counters[n++] = (uint32_t)i;
    m->stats = must(calloc(stats, sizeof *m->stats));
    m->histograms = must(calloc(stats * NETPROF_HISTOGRAM_BUCKETS, sizeof *m->histograms));
    m->sums = must(calloc(stats * n + 1, sizeof *m->sums));
    m->regions = (netprof_regions){
        .stats = m->stats, .count = stats, .counters = m->counters, .counter_count = n, .schema = n ? schema : NULL};
}

static unsigned bucket_of(uint64_t ns)
{
    unsigned bucket = 0;
    while (bucket + 1 < NETPROF_HISTOGRAM_BUCKETS && netprof_histogram_floor_ns(bucket + 1) <= ns)
        bucket++;
    return bucket;
}

// Half of the calls take the mean, a quarter three quarters of it, a quarter five quarters.
static void fill_durations(netprof_stat *s, uint64_t *buckets)
{
    uint64_t mean = s->total_ns / s->measured, quarter = s->measured / 4;
    memset(buckets, 0, NETPROF_HISTOGRAM_BUCKETS * sizeof *buckets);
    s->min_ns = quarter ? mean - mean / 4 : mean;
    s->max_ns = quarter ? mean + mean / 4 : mean;
    s->variance_ns2 = (double)(2 * quarter) / (double)s->measured * ((double)mean / 4) * ((double)mean / 4);
    buckets[bucket_of(s->min_ns)] += quarter;
    buckets[bucket_of(s->max_ns)] += quarter;
    buckets[bucket_of(mean)] += s->measured - 2 * quarter;
    s->histogram = buckets;
}

static void fill_stat(made *m, size_t i, int node, uint64_t inclusive, uint64_t own)
{
    netprof_stat *s = &m->stats[i];
    const struct region *r = &program[node];
    *s = (netprof_stat){.node = (uint32_t)node,
                        .parent = r->parent < 0 ? UINT32_MAX : (uint32_t)r->parent,
                        .region = r->name,
                        .calls = r->calls,
                        .measured = r->calls,
                        .total_ns = inclusive,
                        .inclusive_ns = inclusive,
                        .exclusive_ns = own,
                        .bytes = r->bytes * r->calls};
    if (node == WORKER) {
        s->thread = (uint32_t)(i - REGIONS + 1);
        s->node = 0;
    }
    fill_durations(s, &m->histograms[i * NETPROF_HISTOGRAM_BUCKETS]);
}

// Own time at the region's rate, and what the regions within have: those were filled before.
static void fill_counters(made *m, size_t i, int node, bool slow_host)
{
    netprof_stat *s = &m->stats[i];
    size_t n = m->regions.counter_count;
    const netprof_schema *schema = m->regions.schema;
    s->counter_sums = n ? &m->sums[i * n] : NULL;
    if (!n) return;
    for (size_t k = 0; k < n; k++) {
        const netprof_counter *c = &schema->counters[m->counters[k]];
        uint64_t rate = per_second(c->name, node, slow_host && c->device == 0);
        m->sums[i * n + k] = (uint64_t)((double)rate * (double)s->exclusive_ns / 1e9);
        for (size_t part = 0; part < REGIONS; part++)
            if (node < REGIONS && program[part].parent == node) m->sums[i * n + k] += m->sums[part * n + k];
    }
    s->counted = s->measured;
    s->concurrency = s->counted * (uint64_t)(node == MAIN ? 1 : node == HALO || node > WAIT ? 3 : 2);
}

static void fill(made *m, long rank)
{
    int64_t own[NODES], inclusive[NODES];
    bool slow_host = slow_rank >= 0 && rank / per_host == slow_rank / per_host;
    times(rank, own);
    memcpy(inclusive, own, sizeof own);
    for (int i = REGIONS - 1; i > 0; i--)
        inclusive[program[i].parent] += inclusive[i];
    for (int i = REGIONS - 1; i >= 0; i--) {
        fill_stat(m, (size_t)i, i, (uint64_t)inclusive[i], (uint64_t)own[i]);
        fill_counters(m, (size_t)i, i, slow_host);
    }
    for (long t = 1; t < threads; t++) {
        fill_stat(m, REGIONS + (size_t)t - 1, WORKER, (uint64_t)own[WORKER], (uint64_t)own[WORKER]);
        fill_counters(m, REGIONS + (size_t)t - 1, WORKER, slow_host);
    }
    netprof_regions *r = &m->regions;
    r->mode = r->counter_count ? NETPROF_MODE_FAST : NETPROF_MODE_TIME;
    r->wall_ns = INT64_C(1795212291000000000) + rank * 1000;
    r->elapsed_ns = inclusive[MAIN];
    r->threads = (uint64_t)threads;
    r->overhead_ps = 30000;
    r->sweep_ns = r->counter_count ? 6200 : 0;
    r->clock = "tsc";
    r->warning = "";
}

static int write_facts(netprof_writer *w, long rank, netprof_error *error)
{
    const struct {
        const char *key;
        long value;
    } numbers[] = {{"pid", 4000 + rank}, {"rank", rank}, {"local_rank", rank % per_host}, {"rank_count", rank_count}};
    char text[32];
    snprintf(text, sizeof text, "h%ld", rank / per_host + 1);
    int failed = netprof_write_fact(w, "netprof", NETPROF_VERSION_STRING, error) ||
                 netprof_write_fact(w, "host", text, error) || netprof_write_fact(w, "command", "solver.x", error) ||
                 netprof_write_fact(w, "job", "48213", error);
    for (size_t i = 0; !failed && i < sizeof numbers / sizeof *numbers; i++) {
        snprintf(text, sizeof text, "%ld", numbers[i].value);
        failed = netprof_write_fact(w, numbers[i].key, text, error) != NETPROF_OK;
    }
    return failed;
}

// Straight into the file: a rename and an fsync for each of ten thousand would take minutes.
static int write_bytes(void *file, const void *data, size_t size)
{
    return fwrite(data, 1, size, file) == size ? 0 : 5; // EIO
}

static int write_file(const char *directory, long rank, const netprof_regions *r)
{
    char path[4096];
    netprof_writer *w = NULL;
    netprof_error error = {.code = NETPROF_OK};
    snprintf(path, sizeof path, "%s/netprof-48213-%ld-h%ld-%ld.netprof", directory, rank, rank / per_host + 1,
             4000 + rank);
    FILE *file = fopen(path, "wb");
    int failed = !file || netprof_writer_open_fn(&w, write_bytes, file, &error) || write_facts(w, rank, &error) ||
                 netprof_write_regions(w, r, &error);
    if (w && netprof_writer_close(w, 1, &error)) failed = 1;
    if (file && fclose(file)) failed = 1;
    if (failed) fprintf(stderr, "make_regions: %s: %s\n", path, *error.text ? error.text : "cannot be written");
    return failed;
}

// ---- options ----

static int usage(void)
{
    fputs("usage: make_regions [-n RANKS] [-p RANKS_PER_HOST] [-d NICS] [-s SLOW_RANK] [-t THREADS] [-a] [-q] "
          "DIRECTORY\n",
          stderr);
    return 2;
}

static int number(long *to, long least, long most)
{
    char *end;
    *to = strtol(optarg, &end, 10);
    return *optarg && !*end && *to >= least && *to <= most;
}

int main(int argc, char **argv)
{
    made m = {0};
    int option, failed = 0;
    while ((option = getopt(argc, argv, "n:p:d:s:t:aq")) != -1) {
        int good = option == 'n'   ? number(&rank_count, 1, 10000000)
                   : option == 'p' ? number(&per_host, 1, 10000000)
                   : option == 'd' ? number(&nics, 0, NICS_MOST)
                   : option == 's' ? number(&slow_rank, -1, 10000000)
                   : option == 't' ? number(&threads, 1, THREADS_MOST)
                   : option == 'a' ? (all_counters = 1)
                                   : option == 'q' && (quiet = 1);
        if (!good) return usage();
    }
    if (optind + 1 != argc) return usage();
    mkdir(argv[optind], 0777); // where there is none
    const netprof_schema *schema = make_schema();
    make_room(&m, schema);
    for (long rank = 0; rank < rank_count && !failed; rank++) {
        fill(&m, rank);
        failed = write_file(argv[optind], rank, &m.regions);
    }
    if (!failed && !quiet) printf("%ld files in %s\n", rank_count, argv[optind]);
    free(m.counters);
    free(m.stats);
    free(m.histograms);
    free(m.sums);
    netprof_schema_release(schema);
    return failed;
}
