// The model of NCCL Inspector logs on small logs whose results are worked out by hand here.
#define _GNU_SOURCE
#include "netprof.h"

#include "analysis/base/stb_ds.h"
#include "analysis/nccl/findings/nccl_counters.h"
#include "analysis/nccl/export/nccl_export.h"
#include "analysis/nccl/findings/nccl_findings.h"
#include "analysis/nccl/view/nccl_pairs.h"
#include "analysis/nccl/findings/nccl_peers.h"
#include "analysis/nccl/logs/nccl_logs.h"
#include "nccl_claims.h"
#include "support.h"

#include <math.h>
#include <zlib.h>
#include <zstd.h>

// ---- making logs ----

typedef struct log {
    char text[200000];
    size_t size;
} log_text;

static void add(log_text *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(log_text *l, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    l->size += (size_t)vsnprintf(l->text + l->size, sizeof l->text - l->size, format, arguments);
    va_end(arguments);
    assert_true(l->size < sizeof l->text);
}

typedef struct who {
    const char *id, *host;
    int rank, ranks, nodes, pid;
    uint64_t dump_us;
    const char *version;
} who;

static void add_who(log_text *l, const who *w)
{
    add(l,
        "\"header\":{\"id\":\"%s\",\"comm_name\":\"dp0\",\"rank\":%d,\"n_ranks\":%d,\"nnodes\":%d},"
        "\"metadata\":{"
        "\"inspector_output_format_version\":\"%s\",\"dump_timestamp_us\":%llu,\"hostname\":\"%s\",\"pid\":%"
        "d}",
        w->id, w->rank, w->ranks, w->nodes, w->version ? w->version : "v4.0", (unsigned long long)w->dump_us, w->host,
        w->pid);
}

// AllReduce of 1,000,000 bytes with the bandwidth that its time makes.
static void add_perf(log_text *l, int ranks, unsigned long long sn, unsigned long long us)
{
    double alg = 1e6 / 1e3 / (double)us;
    add(l,
        "\"coll_perf\":{\"coll\":\"AllReduce\",\"coll_sn\":%llu,\"coll_msg_size_bytes\":1000000,\"coll_exec_"
        "time_us\":%llu,"
        "\"coll_algobw_gbs\":%f,\"coll_busbw_gbs\":%f}",
        sn, us, alg, alg * 2 * (ranks - 1) / ranks);
}

static void add_record(log_text *l, const who *w, unsigned long long sn, unsigned long long us)
{
    add(l, "{");
    add_who(l, w);
    add(l, ",");
    add_perf(l, w->ranks, sn, us);
    add(l, "}\n");
}

static void save(const char *tree, const char *name, const void *data, size_t size)
{
    FILE *f = fopen(tree_path(tree, name), "we");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static netprof_err read_tree(nccl *n, const char *tree, const nccl_options *options)
{
    netprof_error error;
    *n = (nccl){0};
    return nccl_read(n, &tree, 1, options, &error);
}

// Four ranks on two hosts, three calls; times by rank and call. Rank 2 is late in the first two, 1 and 3 share the
// third.
static const unsigned times[4][3] = {{150, 160, 130}, {140, 150, 120}, {100, 100, 125}, {150, 120, 120}};

static who member(int rank)
{
    return (who){"0xab", rank < 2 ? "h1" : "h2", rank, 4, 2, 100 + rank, 1000000, NULL};
}

static void save_ranks(const char *tree)
{
    static log_text l;
    for (int r = 0; r < 4; r++) {
        who w = member(r);
        char name[64];
        l.size = 0;
        for (unsigned k = 0; k < 3; k++)
            add_record(&l, &w, k, times[r][k]);
        snprintf(name, sizeof name, "%s-pid%d.log", w.host, w.pid);
        save(tree, name, l.text, l.size);
    }
}

// ---- what is computed ----

static void instances(void **unused)
{
    char *tree = tree_make();
    nccl n;
    (void)unused;
    save_ranks(tree);
    assert_int_equal(read_tree(&n, tree, NULL), NETPROF_OK);
    assert_int_equal(n.instance_count, 3);
    assert_int_equal(n.communicator_count, 1);
    assert_int_equal(n.communicators[0].type, NCCL_MIXED);
    assert_int_equal(n.communicators[0].complete, 3);
    const nccl_instance *x = n.instances;
    assert_int_equal(x[0].min_us, 100);
    assert_int_equal(x[0].second_us, 140);
    assert_int_equal(x[0].max_us, 150);
    assert_true(x[0].mean_us == 135);
    assert_true(x[0].median_us == 145);
    assert_int_equal(n.members[x[0].first_late].rank, 2);
    assert_int_equal(x[0].late_count, 1);
    assert_int_equal(x[2].min_us, 120);
    assert_int_equal(x[2].late_count, 2); // ranks 1 and 3
    assert_int_equal(n.members[x[2].first_late].rank, 1);
    assert_int_equal(x[2].second_us, 120);
    tree_remove(tree);
    nccl_free(&n);
}

static void waiting(void **unused)
{
    char *tree = tree_make();
    nccl n;
    (void)unused;
    save_ranks(tree);
    assert_int_equal(read_tree(&n, tree, NULL), NETPROF_OK);
    const nccl_waiting *w = &n.processes[2].waiting; // h2, pid 102: rank 2
    assert_int_equal(n.processes[2].pid, 102);
    assert_int_equal(w->records, 3);
    assert_int_equal(w->last_arrivals, 2);
    assert_int_equal(w->last_alone, 2);
    assert_int_equal(w->cost_us, 40 + 20); // to the second shortest: 140, 120
    assert_int_equal(w->caused_us, 50 + 40 + 50 + 60 + 50 + 20);
    assert_int_equal(w->suffered_us, 5);                       // of the third call
    assert_true(w->behind_us == 45 + 35 - 2.5);                // medians 145, 135, 122.5
    assert_int_equal(n.processes[1].waiting.last_arrivals, 1); // a tie counts for both
    assert_int_equal(n.processes[1].waiting.last_alone, 0);
    assert_int_equal(n.processes[3].waiting.last_arrivals, 1);
    // Hosts: h2 alone was last in the first two calls; in the third both were.
    assert_string_equal(n.hosts[1].name, "h2");
    assert_int_equal(n.hosts[1].judged, 3);
    assert_int_equal(n.hosts[1].judged_last, 2);
    assert_int_equal(n.hosts[1].judged_cost_us, 40 + 50); // to the shortest on h1: 140, 150
    assert_int_equal(n.hosts[0].judged_last, 0);
    tree_remove(tree);
    nccl_free(&n);
}

static void bandwidth(void **unused)
{
    char *tree = tree_make();
    nccl n;
    static log_text l;
    who w = {"0x1", "h", 0, 32, 4, 1, 5, NULL};
    (void)unused;
    // The documentation's example: ReduceScatter of 65536 bytes, 32 ranks, 110 us: 19.065 GB/s, on the bus 18.469.
    l.size = 0;
    add(&l, "{");
    add_who(&l, &w);
    add(&l, ",\"coll_perf\":{\"coll\":\"ReduceScatter\",\"coll_sn\":0,\"coll_msg_size_bytes\":65536,\"coll_"
            "exec_time_us\":110,"
            "\"coll_algobw_gbs\":19.065018,\"coll_busbw_gbs\":18.469236}}\n{");
    add_who(&l, &w);
    add(&l, ",\"coll_perf\":{\"coll\":\"ReduceScatter\",\"coll_sn\":1,\"coll_msg_size_bytes\":65536,\"coll_"
            "exec_time_us\":110,"
            "\"coll_algobw_gbs\":19.065018,\"coll_busbw_gbs\":19.065018}}\n{");
    add_who(&l, &w);
    add(&l, ",\"coll_perf\":{\"coll\":\"ReduceScatter\",\"coll_sn\":2,\"coll_msg_size_bytes\":65536,\"coll_"
            "exec_time_us\":0,"
            "\"coll_algobw_gbs\":0.0,\"coll_busbw_gbs\":0.0}}\n");
    save(tree, "a.log", l.text, l.size);
    assert_int_equal(read_tree(&n, tree, NULL), NETPROF_OK);
    assert_true(fabs(nccl_alg_gbs(&n.series[0], 110) - 19.065018) < 1e-5);
    assert_true(fabs(nccl_bus_gbs(&n.series[0], 110) - 18.469236) < 1e-5);
    assert_true(isnan(nccl_bus_gbs(&n.series[0], 0)));
    assert_int_equal(n.series[0].spreads.bus_gbs.count, 2); // nothing is known of a call that took no time
    assert_int_equal(n.disagreeing, 1);
    assert_int_equal(n.files[0].disagreeing, 1);
    tree_remove(tree);
    nccl_free(&n);
}

static void completeness(void **unused)
{
    char *tree = tree_make();
    static log_text l;
    nccl n;
    (void)unused;
    // Of four ranks the last has no log; rank 1 lacks call 1, rank 2 ends after call 1.
    for (int r = 0; r < 3; r++) {
        who w = member(r);
        l.size = 0;
        for (unsigned k = 0; k < 4; k++)
            if (!(r == 1 && k == 1) && !(r == 2 && k > 1)) add_record(&l, &w, k, 100 + k);
        char name[32];
        snprintf(name, sizeof name, "%d.jsonl", r);
        save(tree, name, l.text, l.size);
    }
    assert_int_equal(read_tree(&n, tree, NULL), NETPROF_OK);
    const nccl_communicator *c = &n.communicators[0];
    assert_int_equal(c->instances, 4);
    assert_int_equal(c->complete, 0);
    assert_int_equal(c->records, 4 + 3 + 2);
    assert_int_equal(c->missing, 4 * 4 - 9);
    assert_int_equal(c->missing_absent, 4);
    assert_int_equal(c->missing_tail, 2);
    assert_int_equal(n.members[c->first_member + 1].waiting.missing, 1);
    assert_int_equal(n.members[c->first_member + 1].waiting.missing_tail, 0);
    // The finding tells the three ways apart, and all of them are all that are missing.
    nccl_findings f;
    nccl_findings_make(&f, &n, NULL);
    claims_check(&n, &f);
    const nccl_finding *x = NULL;
    for (size_t i = 0; i < f.count; i++)
        if (strcmp(f.items[i].rule->name, "nccl-records-missing") == 0) x = &f.items[i];
    assert_non_null(x);
    assert_non_null(strstr(x->claim, "(7)"));
    static const double evidence[] = {1, 2, 4, 9};
    assert_int_equal(x->evidence_count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_true(x->evidence[i].value == evidence[i]);
    nccl_findings_free(&f);
    tree_remove(tree);
    nccl_free(&n);
}

static void quantiles(void **unused)
{
    char *tree = tree_make();
    static log_text l;
    nccl n;
    who w = {"0x1", "h", 0, 1, 1, 1, 5, NULL};
    (void)unused;
    l.size = 0;
    for (unsigned k = 0; k < 101; k++)
        add_record(&l, &w, k, 1 + (k * 37) % 101); // 1 .. 101 in some order
    save(tree, "a.log", l.text, l.size);
    assert_int_equal(read_tree(&n, tree, NULL), NETPROF_OK);
    const nccl_spread *s = &n.series[0].spreads.wire_us;
    assert_int_equal(s->count, 101);
    assert_true(s->min == 1 && s->max == 101 && s->p50 == 51 && s->p5 == 6 && s->p95 == 96 && s->p99 == 100 &&
                s->mean == 51);
    assert_true(fabs(s->sd - sqrt(101.0 * 102 / 12)) < 1e-9); // of 1 .. n: n (n + 1) / 12
    assert_int_equal(n.series[0].spreads.bus_gbs.count, 0);   // one rank has no bus
    assert_true(isnan(n.series[0].spreads.bus_gbs.p50));
    assert_true(fabs(n.series[0].spreads.alg_gbs.p50 - 1e3 / 51) < 1e-9);
    json_object *o = nccl_json(&n, NULL, NULL), *at;
    assert_int_equal(json_pointer_get(o, "/communicators/0/series/0/total_us", &at), 0);
    assert_int_equal(json_object_get_int64(at), 101 * 102 / 2);
    assert_int_equal(json_pointer_get(o, "/communicators/0/series/0/total_wire_us", &at), 0);
    assert_int_equal(json_object_get_int64(at), 101 * 102 / 2);
    json_object_put(o);
    tree_remove(tree);
    nccl_free(&n);
}

// ---- what is told apart ----

static void duplicates(void **unused)
{
    char *tree = tree_make();
    static log_text l;
    nccl n;
    (void)unused;
    save_ranks(tree);
    who w = member(0);
    l.size = 0;
    for (unsigned k = 0; k < 3; k++)
        add_record(&l, &w, k, times[0][k]);
    add_record(&l, &w, 0, 999); // another time for the same call
    save(tree, "zz/copy.log", l.text, l.size);
    assert_int_equal(read_tree(&n, tree, NULL), NETPROF_OK);
    assert_int_equal(n.instance_count, 3);
    assert_int_equal(n.instances[0].count, 4);
    assert_int_equal(n.instances[0].max_us, 150);
    assert_int_equal(n.files[4].duplicates, 3);
    assert_int_equal(n.files[4].conflicts, 1);
    assert_int_equal(n.files[4].outcomes[NCCL_COLL], 4);
    assert_int_equal(n.duplicates, 3);
    tree_remove(tree);
    nccl_free(&n);
}

// The same id with other processes, later: two communicators. So are sequence numbers that begin again.
static void restarts(void **unused)
{
    char *tree = tree_make();
    static log_text l;
    nccl n;
    (void)unused;
    save_ranks(tree);
    for (int r = 0; r < 4; r++) {
        who w = member(r);
        w.pid += 50;
        w.dump_us += 90000000;
        l.size = 0;
        for (unsigned k = 0; k < 3; k++)
            add_record(&l, &w, k, 500);
        char name[32];
        snprintf(name, sizeof name, "again-%d.log", r);
        save(tree, name, l.text, l.size);
    }
    assert_int_equal(read_tree(&n, tree, NULL), NETPROF_OK);
    assert_int_equal(n.communicator_count, 2);
    assert_int_equal(n.instance_count, 6);
    assert_string_equal(n.communicators[0].label, "dp0");
    assert_string_equal(n.communicators[1].label, "dp0 #2");
    assert_int_equal(n.communicators[1].complete, 3);
    assert_int_equal(n.instances[n.series[1].first_instance].min_us, 500);
    nccl_free(&n);
    tree_remove(tree);

    tree = tree_make();
    who w = {"0x7", "h", 0, 1, 1, 9, 1000, NULL};
    l.size = 0;
    for (unsigned k = 0; k < 20; k++, w.dump_us += 10)
        add_record(&l, &w, k, 10);
    for (unsigned k = 0; k < 30; k++, w.dump_us += 10)
        add_record(&l, &w, k, 20);
    save(tree, "a.log", l.text, l.size);
    assert_int_equal(read_tree(&n, tree, NULL), NETPROF_OK);
    assert_int_equal(n.communicator_count, 2);
    assert_int_equal(n.communicators[0].instances + n.communicators[1].instances, 50);
    assert_int_equal(n.conflicts, 0);
    assert_true(n.series[0].spreads.wire_us.max == 10 || n.series[1].spreads.wire_us.max == 10);
    nccl_free(&n);
    tree_remove(tree);

    // As few as two calls after it do.
    tree = tree_make();
    w.dump_us = 1000;
    l.size = 0;
    for (unsigned k = 0; k < 5; k++, w.dump_us += 10)
        add_record(&l, &w, k, 10);
    for (unsigned k = 0; k < 2; k++, w.dump_us += 10)
        add_record(&l, &w, k, 20);
    save(tree, "a.log", l.text, l.size);
    assert_int_equal(read_tree(&n, tree, NULL), NETPROF_OK);
    assert_int_equal(n.communicator_count, 2);
    assert_int_equal(n.communicators[0].instances + n.communicators[1].instances, 7);
    nccl_free(&n);
    tree_remove(tree);
}

// The same file twice in itself is no restart.
static void appended_twice(void **unused)
{
    char *tree = tree_make();
    static log_text l;
    nccl n;
    who w = {"0x7", "h", 0, 1, 1, 9, 1000, NULL};
    (void)unused;
    l.size = 0;
    for (int again = 0; again < 2; again++) {
        w.dump_us = 1000;
        for (unsigned k = 0; k < 20; k++, w.dump_us += 10)
            add_record(&l, &w, k, 10 + k);
    }
    save(tree, "a.log", l.text, l.size);
    assert_int_equal(read_tree(&n, tree, NULL), NETPROF_OK);
    assert_int_equal(n.communicator_count, 1);
    assert_int_equal(n.instance_count, 20);
    assert_int_equal(n.duplicates, 20);
    nccl_free(&n);
    tree_remove(tree);
}

// ---- bare lines (v4.3) ----

static void add_stats(log_text *l, const who *w, int records)
{
    add(l, "{");
    add_who(l, w);
    add(l,
        ",\"dump_stats\":{\"coll_records\":%d,\"coll_dropped_total\":3,\"p2p_records\":0,\"p2p_dropped_"
        "total\":0}}\n",
        records);
}

static void add_bare(log_text *l, int ranks, unsigned sn)
{
    add(l, "{");
    add_perf(l, ranks, sn, 100);
    add(l, "}\n");
}

static void bare_lines(void **unused)
{
    char *tree = tree_make();
    static log_text l;
    nccl n;
    who w = {"0x7", "h", 0, 2, 1, 9, 1000, "v4.3"}, old = {"0x8", "h", 0, 2, 1, 9, 1000, "v4.1"};
    (void)unused;
    l.size = 0;
    add_bare(&l, 2, 0); // an orphan: the head of the file is missing
    add_stats(&l, &w, 2);
    add_bare(&l, 2, 1);
    add(&l, "nonsense\n");
    add_bare(&l, 2, 2);
    add(&l, "{\"header\":{\"id\":\"0x9\",\"ra\n"); // the marker of the next batch is damaged:
    add_bare(&l, 2, 3);                            // whose these are is not known
    add_bare(&l, 2, 4);
    add_stats(&l, &old, 5);
    add_bare(&l, 2, 5); // older versions have no bare lines
    save(tree, "a.log", l.text, l.size);
    assert_int_equal(read_tree(&n, tree, NULL), NETPROF_OK);
    assert_int_equal(n.outcomes[NCCL_COLL], 2);
    assert_int_equal(n.outcomes[NCCL_NO_CONTEXT], 4);
    assert_int_equal(n.outcomes[NCCL_BAD_JSON], 2);
    assert_int_equal(n.outcomes[NCCL_DUMP_STATS], 2);
    assert_int_equal(n.files[0].first_bad_line, 1);
    assert_int_equal(n.instance_count, 2);
    assert_int_equal(n.instances[0].sn, 1);
    assert_int_equal(n.instances[0].first_dump_us, 1000);
    assert_int_equal(n.members[0].stats.coll_dropped, 3);
    assert_true(n.versions == (1u << 3 | 1u << 1));
    nccl_free(&n);
    tree_remove(tree);
}

// ---- files ----

static size_t pack_gzip(void *to, size_t room, const void *data, size_t size)
{
    z_stream z = {0};
    deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    z.next_in = (unsigned char *)(uintptr_t)data;
    z.avail_in = (unsigned)size;
    z.next_out = to;
    z.avail_out = (unsigned)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return z.total_out;
}

static void packed(void **unused)
{
    static log_text l;
    static unsigned char gz[200000], zst[200000], twice[400000];
    who w = {"0x1", "h", 0, 1, 1, 1, 5, NULL};
    (void)unused;
    l.size = 0;
    for (unsigned k = 0; k < 400; k++)
        add_record(&l, &w, k, 1 + k * k % 1009);
    size_t gz_size = pack_gzip(gz, sizeof gz, l.text, l.size);
    size_t zst_size = ZSTD_compress(zst, sizeof zst, l.text, l.size, 3);
    memcpy(twice, gz, gz_size);
    memcpy(twice + gz_size, gz, gz_size);
    const struct {
        const char *name;
        const void *data;
        size_t size;
        bool cut;
        unsigned least, most, lines;
        nccl_packing packing;
    } cases[] = {{"a.log", l.text, l.size, false, 400, 400, 400, NCCL_PLAIN},
                 {"a.log.gz", gz, gz_size, false, 400, 400, 400, NCCL_GZIP},
                 {"a.jsonl.zst", zst, zst_size, false, 400, 400, 400, NCCL_ZSTD},
                 {"named-plain-but-packed.log", gz, gz_size, false, 400, 400, 400, NCCL_GZIP},
                 {"members.log.gz", twice, 2 * gz_size, false, 400, 400, 800, NCCL_GZIP},
                 {"cut.log.gz", gz, gz_size / 2, true, 100, 399, 0, NCCL_GZIP},
                 {"cut.log.zst", zst, zst_size - 3, true, 0, 400, 0, NCCL_ZSTD}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *tree = tree_make();
        nccl n;
        save(tree, cases[i].name, cases[i].data, cases[i].size);
        read_tree(&n, tree, NULL);
        assert_int_equal(n.file_count, 1);
        assert_int_equal(n.files[0].packing, cases[i].packing);
        assert_int_equal(n.files[0].cut, cases[i].cut);
        assert_int_equal(n.files[0].problem != NULL, cases[i].cut);
        assert_in_range(n.instance_count, cases[i].least, cases[i].most);
        if (cases[i].lines) assert_int_equal(n.lines, cases[i].lines);
        for (size_t k = 0; k < n.instance_count; k++)
            assert_int_equal(n.instances[k].min_us, 1 + k * k % 1009);
        nccl_free(&n);
        tree_remove(tree);
    }
}

static void damaged_gzip(void **unused)
{
    static log_text l;
    static unsigned char gz[200000];
    who w = {"0x1", "h", 0, 1, 1, 1, 5, NULL};
    char *tree = tree_make();
    nccl n;
    (void)unused;
    l.size = 0;
    for (unsigned k = 0; k < 400; k++)
        add_record(&l, &w, k, 1 + k * k % 1009);
    size_t size = pack_gzip(gz, sizeof gz, l.text, l.size);
    gz[size * 3 / 4] ^= 0x55;
    gz[size * 3 / 4 + 1] ^= 0x55;
    save(tree, "a.log.gz", gz, size);
    read_tree(&n, tree, NULL);
    assert_true(n.files[0].cut);
    assert_in_range(n.instance_count, 200, 400);
    nccl_free(&n);
    tree_remove(tree);
}

// However a file is cut into parts, and by how many threads it is read, the result is the same.
static int to_memory(void *user, const void *data, size_t size)
{
    log_text *l = user;
    if (l->size + size > sizeof l->text) return 1;
    memcpy(l->text + l->size, data, size);
    l->size += size;
    return 0;
}

static void parts(void **unused)
{
    static log_text l, first, other;
    char *tree = tree_make();
    nccl n;
    who w = {"0x7", "h", 0, 2, 1, 9, 1000, "v4.3"};
    (void)unused;
    l.size = 0;
    for (unsigned k = 0; k < 90; k++) {
        if (k % 7 == 0) add_stats(&l, &w, k == 21 ? 4 : 7); // of one batch more come than were announced
        if (k % 11 == 0) add(&l, "nonsense %u\n", k);
        add_bare(&l, 2, k);
        w.dump_us += 10;
    }
    save(tree, "a.log", l.text, l.size);
    assert_int_equal(read_tree(&n, tree, NULL), NETPROF_OK);
    assert_int_equal(n.outcomes[NCCL_COLL], 87);
    assert_int_equal(n.outcomes[NCCL_NO_CONTEXT], 3);
    first.size = 0;
    assert_int_equal(nccl_export(&n, NCCL_INSTANCES_CSV, NULL, to_memory, &first), NETPROF_OK);
    assert_int_equal(nccl_export(&n, NCCL_LINES_CSV, NULL, to_memory, &first), NETPROF_OK);
    nccl_free(&n);
    for (size_t part = 50; part < 20000; part = part * 3 / 2 + 1) {
        nccl_options options = {.part = part, .threads = 1 + part % 4};
        assert_int_equal(read_tree(&n, tree, &options), NETPROF_OK);
        other.size = 0;
        nccl_export(&n, NCCL_INSTANCES_CSV, NULL, to_memory, &other);
        nccl_export(&n, NCCL_LINES_CSV, NULL, to_memory, &other);
        first.text[first.size] = other.text[other.size] = 0;
        assert_string_equal(other.text, first.text);
        nccl_free(&n);
    }
    tree_remove(tree);
}

// Of all lines so many are records of a call of their own, so many too long, and none is anything else that is bad.
static void expect_lines(const char *tree, const nccl_options *options, uint64_t lines, uint64_t records,
                         uint64_t too_long)
{
    nccl n;
    assert_int_equal(read_tree(&n, tree, options), NETPROF_OK);
    assert_int_equal(n.lines, lines);
    assert_int_equal(n.outcomes[NCCL_COLL], records);
    assert_int_equal(n.instance_count, records);
    assert_int_equal(n.outcomes[NCCL_TOO_LONG], too_long);
    assert_int_equal(n.outcomes[NCCL_BAD_JSON], 0);
    nccl_free(&n);
}

static void long_lines(void **unused)
{
    static log_text l;
    char *tree = tree_make(), *megabyte = malloc(1 << 20);
    nccl n;
    who w = {"0x1", "h", 0, 1, 1, 1, 5, NULL};
    nccl_options small = {.max_line = 300000};
    (void)unused;
    memset(megabyte, 'x', 1 << 20);
    l.size = 0;
    add_record(&l, &w, 0, 1);
    FILE *f = fopen(tree_path(tree, "a.log"), "we");
    fwrite(l.text, 1, l.size, f);
    fprintf(f, "{\"long\":\"%.*s\",", 1 << 20, megabyte);
    fwrite(l.text + 1, 1, l.size - 1, f); // with a megabyte in front: another record of the same call
    fprintf(f, "%.*s\n", 1 << 20, megabyte);
    l.size = 0;
    add_record(&l, &w, 1, 1);
    fwrite(l.text, 1, l.size, f);
    fclose(f);
    assert_int_equal(read_tree(&n, tree, NULL), NETPROF_OK);
    assert_int_equal(n.lines, 4);
    assert_int_equal(n.outcomes[NCCL_COLL], 3);
    assert_int_equal(n.outcomes[NCCL_BAD_JSON], 1);
    assert_int_equal(n.duplicates, 1);
    nccl_free(&n);
    expect_lines(tree, &small, 4, 2, 2);
    free(megabyte);
    tree_remove(tree);
}

// The last line of a file without its end: a whole record counts, what is too long does not, nor does its rest.
static void last_lines(void **unused)
{
    static log_text l;
    char *tree = tree_make(), *megabyte = malloc(1 << 20);
    who w = {"0x1", "h", 0, 1, 1, 1, 5, NULL};
    nccl_options small = {.max_line = 300000};
    (void)unused;
    memset(megabyte, 'x', 1 << 20);
    l.size = 0;
    add_record(&l, &w, 0, 1);
    add_record(&l, &w, 1, 1);
    save(tree, "a.log", l.text, l.size - 1); // without the newline
    expect_lines(tree, &small, 2, 2, 0);
    FILE *f = fopen(tree_path(tree, "a.log"), "ae");
    fprintf(f, "\n{\"long\":\"%.*s%.*s", 1 << 20, megabyte, 1 << 18, megabyte);
    fclose(f);
    expect_lines(tree, &small, 3, 2, 1);
    free(megabyte);
    tree_remove(tree);
}

// However often a line that is too long fills the buffer, it is one line.
static void lines_too_long(void **unused)
{
    static log_text l;
    static const size_t lengths[] = {310000, 600000, 1100000, 2200000, 5000000};
    char *tree = tree_make(), *text = malloc(5000000);
    nccl n;
    who w = {"0x1", "h", 0, 1, 1, 1, 5, NULL};
    nccl_options small = {.max_line = 300000};
    (void)unused;
    memset(text, 'x', 5000000);
    for (size_t i = 0; i < COUNT(lengths); i++) {
        l.size = 0;
        add_record(&l, &w, 0, 1);
        FILE *f = fopen(tree_path(tree, "a.log"), "we");
        fprintf(f, "%.*s\n", (int)lengths[i], text);
        fwrite(l.text, 1, l.size, f);
        fclose(f);
        assert_int_equal(read_tree(&n, tree, &small), NETPROF_OK);
        if (n.lines != 2 || n.outcomes[NCCL_COLL] != 1 || n.files[0].first_bad_line != 1 ||
            n.outcomes[NCCL_TOO_LONG] + n.outcomes[NCCL_BAD_JSON] != 1)
            fail_msg("%zu bytes: %d lines, %d too long", lengths[i], (int)n.lines, (int)n.outcomes[NCCL_TOO_LONG]);
        nccl_free(&n);
    }
    free(text);
    tree_remove(tree);
}

// Every row of every table has as many fields as its head has names.
static void tables_are_whole(void **unused)
{
    static log_text l;
    char *tree = tree_make();
    nccl n;
    size_t rows = 0;
    (void)unused;
    save_ranks(tree);
    assert_int_equal(read_tree(&n, tree, NULL), NETPROF_OK);
    for (int t = 0; t < NCCL_TABLES; t++) {
        size_t wanted = 0;
        l.size = 0;
        assert_int_equal(nccl_export(&n, (nccl_table)t, NULL, to_memory, &l), NETPROF_OK);
        l.text[l.size] = 0;
        if (strchr("[{", *l.text)) continue; // JSON
        for (char *line = l.text, *end; (end = strchr(line, '\n')); line = end + 1) {
            size_t commas = 0;
            for (bool quoted = false; line < end; line++) {
                quoted ^= *line == '"';
                commas += *line == ',' && !quoted;
            }
            if (!wanted) wanted = commas;
            if (commas != wanted) fail_msg("table %d: %zu commas, its head has %zu", t, commas, wanted);
            rows++;
        }
    }
    assert_true(rows > 20);
    // Of the summaries each instance is a row of one.
    rows = 0;
    for (size_t i = 0; i < nccl_summary_count(&n); i++) {
        l.size = 0;
        assert_int_equal(nccl_summary_write(&n, i, to_memory, &l), NETPROF_OK);
        l.text[l.size] = 0;
        size_t lines = 0;
        for (char *line = l.text, *end; (end = strchr(line, '\n')); line = end + 1)
            lines++;
        rows += lines - 1; // without the head
    }
    assert_true(n.instance_count > nccl_summary_count(&n));
    assert_int_equal(rows, n.instance_count);
    nccl_free(&n);
    tree_remove(tree);
}

// How long a call took, in the unit that suits it, and when it began and ended.
static void durations(void **unused)
{
    static const struct {
        uint64_t us;
        const char *text;
    } rows[] = {{0, "0.0\u03bcs"},   {999, "999.0\u03bcs"}, {1000, "1.0ms"},  {1500, "1.5ms"},
                {999000, "999.0ms"}, {1000000, "1.0s"},     {2500000, "2.5s"}};
    static log_text l;
    char *tree = tree_make();
    nccl n;
    (void)unused;
    l.size = 0;
    for (int r = 0; r < 4; r++)
        for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
            who w = member(r);
            w.dump_us = UINT64_C(1749490000000000) + (r == 3 ? rows[k].us : 0);
            add_record(&l, &w, k, 100);
        }
    save(tree, "a.log", l.text, l.size);
    assert_int_equal(read_tree(&n, tree, NULL), NETPROF_OK);
    assert_int_equal(nccl_summary_count(&n), 1);
    l.size = 0;
    assert_int_equal(nccl_summary_write(&n, 0, to_memory, &l), NETPROF_OK);
    l.text[l.size] = 0;
    const char *line = strchr(l.text, '\n');
    for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
        char expected[96];
        snprintf(expected, sizeof expected, ",2025-06-09 17:26:4%u.%03u,%s\n", (unsigned)(rows[k].us / 1000000),
                 (unsigned)(rows[k].us / 1000 % 1000), rows[k].text);
        line = strchr(line, ',');
        const char *end = strchr(line, '\n') + 1;
        size_t length = strlen(expected);
        if ((size_t)(end - line) < length || strncmp(end - length, expected, length) != 0)
            fail_msg("%.*s: expected %s", (int)(end - line), line, expected);
        line = end;
    }
    nccl_free(&n);
    tree_remove(tree);
}

// Hostile values cost their line and change no other.
static void hostile(void **unused)
{
    static log_text l, before, after;
    static const char *const lines[] = {
        "\"coll_perf\":{\"coll\":\"AllReduce\",\"coll_sn\":0,\"coll_msg_size_bytes\":18446744073709551615,"
        "\"coll_exec_time_us\":10,\"coll_busbw_gbs\":1.0}",
        "\"coll_perf\":{\"coll\":\"AllReduce\",\"coll_sn\":0,\"coll_msg_size_bytes\":1000000,\"coll_exec_"
        "time_us\":10,"
        "\"coll_busbw_gbs\":\"nan\"}",
        "\"coll_perf\":{\"coll\":\"AllReduce\",\"coll_sn\":0,\"coll_msg_size_bytes\":1000000,\"coll_exec_"
        "time_us\":10,"
        "\"coll_busbw_gbs\":1,5}",
        "\"coll_perf\":{\"coll\":\"All\tReduce\",\"coll_sn\":0,\"coll_msg_size_bytes\":1000000,\"coll_exec_"
        "time_us\":10,"
        "\"coll_busbw_gbs\":1}",
        "\"coll_perf\":{\"coll\":\"AllReduce\",\"coll_sn\":-1,\"coll_msg_size_bytes\":1000000,\"coll_exec_"
        "time_us\":10,"
        "\"coll_busbw_gbs\":1}",
        "\"coll_perf\":7",
        "\"coll_perf\":{\"coll\":{}}",
        "\"other\":1"};
    char *tree = tree_make();
    nccl n;
    (void)unused;
    save_ranks(tree);
    assert_int_equal(read_tree(&n, tree, NULL), NETPROF_OK);
    before.size = after.size = 0;
    nccl_export(&n, NCCL_INSTANCES_CSV, NULL, to_memory, &before);
    nccl_free(&n);
    who w = member(0);
    l.size = 0;
    for (size_t i = 0; i < COUNT(lines); i++) {
        add(&l, "{");
        add_who(&l, &w);
        add(&l, ",%s}\n", lines[i]);
    }
    save(tree, "h3.log", l.text, l.size);
    assert_int_equal(read_tree(&n, tree, NULL), NETPROF_OK);
    assert_int_equal(n.files[4].lines, COUNT(lines));
    assert_int_equal(n.files[4].outcomes[NCCL_COLL], 0);
    assert_int_equal(n.invalid_sizes, 1);
    nccl_export(&n, NCCL_INSTANCES_CSV, NULL, to_memory, &after);
    before.text[before.size] = after.text[after.size] = 0;
    assert_string_equal(after.text, before.text);
    nccl_free(&n);
    tree_remove(tree);
}

// The largest numbers that the format has are summed without running over.
static void largest(void **unused)
{
    static log_text l;
    char *tree = tree_make();
    nccl n;
    nccl_findings f;
    (void)unused;
    l.size = 0;
    for (int r = 0; r < 4; r++) {
        who w = member(r);
        w.dump_us = UINT64_MAX;
        for (unsigned k = 0; k < 12; k++)
            add_record(&l, &w, UINT64_MAX - k, r ? UINT64_MAX : 1);
    }
    save(tree, "a.log", l.text, l.size);
    assert_int_equal(read_tree(&n, tree, NULL), NETPROF_OK);
    assert_int_equal(n.instance_count, 12);
    assert_true(n.series[0].time_us == UINT64_MAX);
    assert_true(n.processes[0].waiting.cost_us == UINT64_MAX);
    nccl_findings_make(&f, &n, NULL);
    claims_check(&n, &f);
    json_object *o = nccl_json(&n, &f, NULL);
    assert_non_null(o);
    json_object_put(o);
    for (int t = 0; t < NCCL_TABLES; t++) {
        l.size = 0;
        assert_int_equal(nccl_export(&n, (nccl_table)t, NULL, to_memory, &l), NETPROF_OK);
    }
    for (size_t i = 0; i < nccl_summary_count(&n); i++) {
        l.size = 0;
        assert_int_equal(nccl_summary_write(&n, i, to_memory, &l), NETPROF_OK);
    }
    nccl_findings_free(&f);
    nccl_free(&n);
    tree_remove(tree);
}

static void nothing(void **unused)
{
    char *tree = tree_make();
    netprof_error error;
    nccl n = {0};
    const char *paths[] = {tree}, *missing[] = {"/nonexistent/logs"};
    (void)unused;
    assert_int_equal(nccl_read(&n, paths, 1, NULL, &error), NETPROF_ERR_NOSOURCE);
    nccl_free(&n);
    assert_int_equal(nccl_read(&n, missing, 1, NULL, &error), NETPROF_ERR_IO);
    assert_string_equal(error.path, "/nonexistent/logs");
    nccl_free(&n);
    save(tree, "output.log", "2026-11-21 INFO nothing\n", 24);
    assert_int_equal(nccl_read(&n, paths, 1, NULL, &error), NETPROF_ERR_NOSOURCE);
    assert_int_equal(n.file_count, 1);
    assert_int_equal(n.outcomes[NCCL_BAD_JSON], 1);
    assert_false(nccl_recognise(tree));
    nccl_free(&n);
    save_ranks(tree);
    assert_true(nccl_recognise(tree));
    tree_remove(tree);
}

// ---- the rest of what is logged ----

static void p2p_and_proxies(void **unused)
{
    static log_text l;
    char *tree = tree_make();
    nccl n;
    who w = {"0x7", "h", 0, 2, 1, 9, 1000, "v4.4"};
    (void)unused;
    l.size = 0;
    for (int k = 0; k < 3; k++) {
        add(&l, "{");
        add_who(&l, &w);
        add(&l,
            ",\"p2p_perf\":{\"p2p\":\"Send\",\"p2p_sn\":%d,\"p2p_peer\":1,\"p2p_msg_size_bytes\":4096,\"p2p_"
            "exec_time_us\":%d,"
            "\"p2p_timing_source\":\"kernel_gpu\",\"p2p_algobw_gbs\":%f,\"p2p_busbw_gbs\":%f}}\n",
            k, 10 * (k + 1), 4.096 / 10 / (k + 1), 4.096 / 10 / (k + 1));
    }
    for (int k = 0; k < 2; k++) {
        add(&l, "{");
        add_who(&l, &w);
        add(&l, ",\"proxy_trace\":{\"record_type\":\"proxy_op\",\"is_final\":true,\"peer\":1,\"direction\":"
                "\"send\","
                "\"n_steps_completed\":4,\"n_steps_dropped\":1,\"trans_size_bytes\":1000,\"total_us\":50,"
                "\"steps\":["
                "{\"gpu_produce_us\":1,\"peer_credit_us\":2,\"wire_us\":3},{\"gpu_produce_us\":10,\"wire_"
                "us\":30}]}}\n");
    }
    save(tree, "a.log", l.text, l.size);
    save(tree, "copy.jsonl", l.text, l.size);
    assert_int_equal(read_tree(&n, tree, NULL), NETPROF_OK);
    assert_int_equal(n.p2p_count, 1);
    assert_int_equal(n.p2p[0].records, 3); // not six: the other file is a copy
    assert_int_equal(n.p2p[0].peer, 1);
    assert_true(n.p2p[0].time_us.p50 == 20);
    assert_int_equal(n.proxy_count, 1);
    assert_int_equal(n.proxies[0].operations, 2);
    assert_int_equal(n.proxies[0].bytes, 2000);
    assert_int_equal(n.proxies[0].steps_dropped, 2);
    assert_int_equal(n.proxies[0].gpu_us, 22);
    assert_int_equal(n.proxies[0].credit_us, 4);
    assert_int_equal(n.proxies[0].wire_us, 66);
    // The other rank has no log: what went to it is no cell, but it is not lost.
    pairs p;
    nccl_pairs(&p, &n);
    assert_int_equal(arrlenu(p.places), 1);
    assert_string_equal(p.places[0].label, "pid 9");
    assert_string_equal(p.nodes[p.places[0].node], "h");
    assert_int_equal(arrlenu(p.cells), 0);
    assert_int_equal(p.outside_bytes, 2000);
    assert_false(p.unknown);
    pairs_free(&p);
    nccl_free(&n);
    tree_remove(tree);
}

// A record of version 4.3 for each step with the times at which phases began; one of later ones with how long they took.
static void proxy_steps(void **unused)
{
    static log_text l;
    char *tree = tree_make();
    nccl n;
    nccl_peers p;
    who sender = {"0x7", "h", 0, 2, 2, 9, 1000, "v4.3"}, receiver = {"0x7", "k", 1, 2, 2, 10, 1000, "v5.1"};
    (void)unused;
    l.size = 0;
    add(&l, "{");
    add_who(&l, &sender);
    add(&l, ",\"proxy_trace\":{\"record_type\":\"proxy_step\",\"peer\":1,\"direction\":\"send\",\"step\":0,"
            "\"trans_size_bytes\":512,\"event_trace_ts\":{\"proxy_step_start_ts\":90,\"send_gpu_wait_ts\":100,"
            "\"send_peer_wait_ts\":107,\"send_wait_ts\":109,\"proxy_step_stop_ts\":140}}}\n{");
    add_who(&l, &sender); // not seen: 0, and what is not there
    add(&l, ",\"proxy_trace\":{\"record_type\":\"proxy_step\",\"peer\":1,\"direction\":\"send\",\"step\":1,"
            "\"trans_size_bytes\":512.0,\"event_trace_ts\":{\"send_gpu_wait_ts\":0,\"send_peer_wait_ts\":107,"
            "\"send_wait_ts\":100,\"proxy_step_stop_ts\":104}}}\n{");
    add_who(&l, &receiver);
    add(&l, ",\"proxy_trace\":{\"record_type\":\"proxy_step\",\"peer\":0,\"direction\":\"recv\",\"step\":0,"
            "\"trans_size_bytes\":1024,\"total_us\":60,\"wire_us\":50,\"flush_us\":6,\"gpu_consume_us\":3,"
            "\"event_trace_ts\":{\"recv_wait_ts\":1,\"recv_flush_wait_ts\":9,\"recv_gpu_wait_ts\":9,"
            "\"proxy_step_stop_ts\":99}}}\n");
    save(tree, "a.log", l.text, l.size);
    assert_int_equal(read_tree(&n, tree, NULL), NETPROF_OK);
    assert_int_equal(n.outcomes[NCCL_PROXY], 3);
    assert_int_equal(n.versions, 1u << 3 | 1u << 17);
    assert_false(n.foreign_version);
    nccl_peers_make(&p, &n);
    assert_int_equal(p.count, 1); // both sides are one cell
    const nccl_peer *x = &p.items[0];
    assert_int_equal(n.members[x->sender].rank, 0);
    assert_int_equal(n.members[x->receiver].rank, 1);
    assert_int_equal(x->bytes, 1024);
    assert_int_equal(x->sent, 2);
    assert_int_equal(x->received, 1);
    assert_true(x->wait_us[NCCL_WAIT_GPU] == 7);
    assert_true(x->wait_us[NCCL_WAIT_CREDIT] == 2); // 107 to 100 is no time
    assert_true(x->wait_us[NCCL_WAIT_WIRE] == 31 + 4);
    assert_true(x->wait_us[NCCL_WAIT_FLUSH] == 6);
    assert_true(x->receive_us == 50 && x->consume_us == 3); // what is said holds, not what times make
    nccl_peers_free(&p);
    nccl_free(&n);
    tree_remove(tree);
}

static void prometheus(void **unused)
{
    static const char text[] = "nccl_bus_bandwidth_gbs{version=\"v5.1\",node=\"h\\\"1\",collective="
                               "\"AllReduce\",message_size=\"4-5GB\"} 123.5\n"
                               "# a comment\n\n"
                               "nccl_collective_exec_time_microseconds{node=\"h,}2\"} 17 1749490000500\n"
                               "nonsense here\n"
                               "unended{node=\"x} 5\n";
    char *tree = tree_make(), label[64];
    nccl n;
    (void)unused;
    save(tree, "nccl_inspector_metrics_GPU-1.prom", text, sizeof text - 1);
    assert_int_equal(read_tree(&n, tree, NULL), NETPROF_OK);
    assert_int_equal(n.metric_count, 2);
    assert_string_equal(n.metrics[0].name, "nccl_bus_bandwidth_gbs");
    assert_true(n.metrics[0].value == 123.5);
    assert_string_equal(nccl_metric_label(&n.metrics[0], "node", label, sizeof label), "h\"1");
    assert_string_equal(nccl_metric_label(&n.metrics[0], "message_size", label, sizeof label), "4-5GB");
    assert_string_equal(nccl_metric_label(&n.metrics[0], "size", label, sizeof label), "");
    assert_string_equal(nccl_metric_label(&n.metrics[1], "node", label, sizeof label), "h,}2");
    assert_true(n.metrics[1].value == 17);
    assert_int_equal(n.files[0].outcomes[NCCL_BAD_VALUE], 2);
    assert_int_equal(n.files[0].lines, 6);
    assert_int_equal(n.lines, 6);
    assert_int_equal(n.bytes, sizeof text - 1);
    nccl_free(&n);
    tree_remove(tree);
}

static void sizes_and_classes(void **unused)
{
    char text[32];
    (void)unused;
    assert_string_equal(nccl_size_text(0, text, sizeof text), "0B");
    assert_string_equal(nccl_size_text(999, text, sizeof text), "999.00B");
    assert_string_equal(nccl_size_text(1000, text, sizeof text), "1.00KB");
    assert_string_equal(nccl_size_text(65536, text, sizeof text), "65.54KB");
    assert_string_equal(nccl_size_text(268435456, text, sizeof text), "268.44MB");
    assert_string_equal(nccl_class_name(nccl_class_of(1, 1)), "single-rank");
    assert_string_equal(nccl_class_name(nccl_class_of(8, 1)), "nvlink-only");
    assert_string_equal(nccl_class_name(nccl_class_of(8, 8)), "hca-only");
    assert_string_equal(nccl_class_name(nccl_class_of(16, 2)), "mixed");
    assert_true(nccl_bus_factor("AllReduce", 4) == 1.5);
    assert_true(nccl_bus_factor("AllGather", 4) == 0.75);
    assert_true(nccl_traffic_bytes("AllGather", 100, 4) == 400);
    assert_true(nccl_traffic_bytes("AllReduce", 100, 4) == 100);
}

static void peaks(void **unused)
{
    char *tree = tree_make();
    nccl n;
    const nccl_peak given[] = {{"other*", 1}, {"dp?", 20}, {"*", 5}};
    nccl_options options = {.peaks = given, .peak_count = COUNT(given)};
    (void)unused;
    save_ranks(tree);
    assert_int_equal(read_tree(&n, tree, &options), NETPROF_OK);
    assert_true(n.communicators[0].peak_gbs == 20);
    // Wire times 100, 100, 120: 10 GB/s, on the bus of 4 ranks 15.
    assert_true(fabs(n.series[0].peak_share - 15.0 / 20) < 1e-12);
    assert_true(fabs(n.kinds[0].peak_share - 15.0 / 20) < 1e-12);
    nccl_free(&n);
    tree_remove(tree);
}

// A recording of host h1 from 0 to 10 s beside logs that were written from 1 to 5 s.
static void counters(void **unused)
{
    static log_text l;
    char *tree = tree_make();
    nccl n;
    nccl_findings f;
    nccl_counters c;
    (void)unused;
    l.size = 0;
    for (int r = 0; r < 4; r++) {
        who w = member(r);
        for (unsigned k = 0; k < 21; k++) {
            w.dump_us = 1000000 + k * 200000;
            add_record(&l, &w, k, r == 1 ? 100 : 200);
        }
    }
    save(tree, "a.log", l.text, l.size);
    assert_int_equal(read_tree(&n, tree, NULL), NETPROF_OK);
    series_step steps[] = {{.from_s = 0, .to_s = 2, .rate = {100, 50}},
                           {.from_s = 2, .to_s = 4, .rate = {200, NAN}},
                           {.from_s = 4, .to_s = 6, .rate = {1000, 1000}, .gap = true}};
    char host[] = "h1.cluster", other_host[] = "h1x", trouble[] = "symbol_errors", waiting[] = "pauses",
         unit[] = "frames";
    series_device devices[] = {{.run = 0, .chosen = true, .steps = steps, .count = 3},
                               {.run = 0, .chosen = false, .steps = steps, .count = 3},
                               {.run = 1, .chosen = true, .steps = steps, .count = 3}};
    series_run runs[] = {{.host = host, .begin_s = 0, .end_s = 10, .first_device = 0, .device_count = 2},
                         {.host = other_host, .begin_s = 0, .end_s = 10, .first_device = 2, .device_count = 1}};
    series_counter names[] = {{.name = trouble, .unit = unit, .trouble = true}, {.name = waiting, .unit = unit}};
    series_event events[] = {{.from_s = 2, .to_s = 4, .amount = 7, .counter = 0, .device = 1},
                             {.from_s = 4.5, .to_s = 6, .amount = 2, .counter = 0, .device = 0},
                             {.from_s = 8, .to_s = 9, .amount = 5, .counter = 1, .device = 0},  // later
                             {.from_s = 2, .to_s = 4, .amount = 9, .counter = 1, .device = 2}}; // another host
    series s = {.runs = runs,
                .run_count = 2,
                .devices = devices,
                .device_count = 3,
                .counters = names,
                .counter_count = 2,
                .events = events,
                .event_count = 4};
    nccl_counters_make(&c, &n, &s);
    assert_int_equal(c.count, 1);
    assert_string_equal(n.hosts[c.hosts[0].host].name, "h1");
    assert_true(fabs(c.hosts[0].from_s - 1) < 1e-9 && fabs(c.hosts[0].to_s - 5) < 1e-9);
    assert_true(fabs(c.hosts[0].bytes[SERIES_IN] - (1 * 100 + 2 * 200)) < 1e-6);
    assert_true(fabs(c.hosts[0].bytes[SERIES_OUT] - 50) < 1e-6);
    assert_true(c.hosts[0].peak_rate[SERIES_IN] == 200);
    assert_string_equal(c.hosts[0].trouble.counter, "symbol_errors");
    assert_true(c.hosts[0].trouble.amount == 9);
    assert_null(c.hosts[0].waiting.counter);
    nccl_findings_make(&f, &n, NULL);
    claims_check(&n, &f);
    assert_string_equal(f.items[0].rule->name, "nccl-late-rank"); // rank 1 on h1
    nccl_counters_findings(&f, &c);
    const nccl_finding *x = &f.items[f.count - 1];
    assert_string_equal(x->rule->name, "nccl-nic-counters");
    assert_non_null(
        strstr(x->claim, "host h1 show trouble (symbol_errors 9 frames) and no waiting or congestion in the 4 s"));
    json_object *o = nccl_counters_json(&c), *first = json_object_array_get_idx(o, 0), *value;
    assert_true(json_object_object_get_ex(first, "rx_bytes", &value));
    assert_true(json_object_get_double(value) == 500);
    json_object_put(o);
    nccl_findings_free(&f);
    nccl_counters_free(&c);
    nccl_free(&n);
    tree_remove(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instances),      cmocka_unit_test(waiting),          cmocka_unit_test(bandwidth),
        cmocka_unit_test(completeness),   cmocka_unit_test(quantiles),        cmocka_unit_test(duplicates),
        cmocka_unit_test(last_lines),     cmocka_unit_test(tables_are_whole), cmocka_unit_test(durations),
        cmocka_unit_test(lines_too_long), cmocka_unit_test(restarts),         cmocka_unit_test(appended_twice),
        cmocka_unit_test(bare_lines),     cmocka_unit_test(packed),           cmocka_unit_test(damaged_gzip),
        cmocka_unit_test(parts),          cmocka_unit_test(long_lines),       cmocka_unit_test(hostile),
        cmocka_unit_test(largest),        cmocka_unit_test(nothing),          cmocka_unit_test(p2p_and_proxies),
        cmocka_unit_test(proxy_steps),    cmocka_unit_test(prometheus),       cmocka_unit_test(sizes_and_classes),
        cmocka_unit_test(peaks),          cmocka_unit_test(counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
