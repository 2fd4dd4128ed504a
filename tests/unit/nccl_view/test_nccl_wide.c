// Views of logs with more hosts, processes, files, pairs and sizes than pages show: which of them are there, in which order,
// and how many are left. Who is late by a model in this file.
#define _GNU_SOURCE
#include "netprof.h"

#include "analysis/nccl/findings/nccl_findings.h"
#include "analysis/nccl/logs/nccl_logs.h"
#include "analysis/nccl/view/nccl_view.h"
#include "support.h"

#include <math.h>

// ---- lines ----

enum { HOSTS = 70, EACH = 3, RANKS = HOSTS * EACH + 1, CALLS = 6, WIRE = 1000, LATEST = 2000 }; // one host has one more

static int host_of(int rank)
{
    return rank / EACH < HOSTS ? rank / EACH : HOSTS - 1;
}

static FILE *log_of(const char *tree, int host)
{
    char name[40];
    snprintf(name, sizeof name, "h%02d.log", host);
    FILE *f = fopen(tree_path(tree, name), "ae");
    assert_non_null(f);
    return f;
}

typedef struct line {
    const char *id, *coll;
    int rank, ranks, sn;
    unsigned long long size, us;
} line;

static void put_head(FILE *f, const line *x)
{
    fprintf(f,
            "{\"header\":{\"id\":\"%s\",\"comm_name\":\"%s\",\"rank\":%d,\"n_ranks\":%d,\"nnodes\":%d},\"metadata\":{"
            "\"inspector_output_format_version\":\"v4.3\",\"dump_timestamp_us\":%llu,\"hostname\":\"h%02d\","
            "\"pid\":%d},",
            x->id, x->id, x->rank, x->ranks, x->ranks > 4 ? HOSTS : 1,
            1749490000000000ULL + (unsigned)x->sn * 1000000ULL, host_of(x->rank), 1000 + x->rank);
}

static void put_line(FILE *f, const line *x)
{
    put_head(f, x);
    fprintf(f,
            "\"coll_perf\":{\"coll\":\"%s\",\"coll_sn\":%d,\"coll_msg_size_bytes\":%llu,\"coll_exec_time_us\":%llu,"
            "\"coll_algobw_gbs\":1,\"coll_busbw_gbs\":1.5}}\n",
            x->coll, x->sn, x->size, x->us);
}

static void read_tree(nccl *n, const char *tree)
{
    *n = (nccl){0};
    assert_int_equal(nccl_read(n, &tree, 1, NULL, NULL), NETPROF_OK);
}

// Findings would choose what the map is of.
static void view_without_findings(nccl_view *v, const nccl *n)
{
    const nccl_findings none = {.verdict = ""};
    nccl_view_make(v, n, &none, NULL, NULL);
}

// ---- who is late ----

// How late a rank comes; of so many hosts one rank comes much later than others, of two hosts each equally late.
static int late_us(int rank, int sn, int late_hosts)
{
    int place = host_of(rank) * 11 % HOSTS;
    if (place == 0 && rank % EACH == 2) return LATEST;
    if (place < late_hosts && rank % EACH == 1) return 500 + 10 * (place / 2);
    return (rank * 7 + sn * 3) % 40;
}

static void write_late(const char *tree, int late_hosts)
{
    for (int host = 0; host < HOSTS; host++) {
        FILE *f = log_of(tree, host);
        for (int rank = 0; rank < RANKS; rank++)
            for (int sn = 0; sn < CALLS && host_of(rank) == host; sn++)
                put_line(f, &(line){"0xab", "AllReduce", rank, RANKS, sn, 1000000,
                                    (unsigned long long)(WIRE + LATEST - late_us(rank, sn, late_hosts))});
        assert_int_equal(fclose(f), 0);
    }
}

static int by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

// Behind the median of all, in the mean of the calls.
static double behind_us(int rank, int late_hosts)
{
    double sum = 0;
    for (int sn = 0; sn < CALLS; sn++) {
        int all[RANKS];
        for (int i = 0; i < RANKS; i++)
            all[i] = late_us(i, sn, late_hosts);
        qsort(all, RANKS, sizeof *all, by_number);
        sum += late_us(rank, sn, late_hosts) - all[RANKS / 2];
    }
    return sum / CALLS;
}

typedef struct chosen {
    int host;
    double worst_us;
} chosen;

static int by_worst(const void *a, const void *b)
{
    const chosen *x = a, *y = b;
    if (x->worst_us != y->worst_us) return x->worst_us < y->worst_us ? 1 : -1;
    return x->host - y->host;
}

static int by_host(const void *a, const void *b)
{
    return ((const chosen *)a)->host - ((const chosen *)b)->host;
}

static void choose_hosts(chosen hosts[HOSTS], const double behind[RANKS])
{
    for (int i = 0; i < HOSTS; i++)
        hosts[i] = (chosen){i, 0};
    for (int rank = 0; rank < RANKS; rank++)
        if (behind[rank] > hosts[host_of(rank)].worst_us) hosts[host_of(rank)].worst_us = behind[rank];
    qsort(hosts, HOSTS, sizeof *hosts, by_worst);
}

static void check_process(const nccl_view_process *x, int rank, double behind)
{
    char host[8], name[20];
    snprintf(host, sizeof host, "h%02d", host_of(rank));
    snprintf(name, sizeof name, "%d of 0xab", rank);
    assert_string_equal(x->host, host);
    assert_string_equal(x->name, name);
    assert_int_equal(x->rank, rank);
    assert_int_equal(x->pid, 1000 + rank);
    assert_int_equal(x->local, rank - host_of(rank) * EACH);
    assert_int_equal(x->judged, CALLS);
    assert_int_equal(x->records, CALLS);
    assert_true(x->behind_us == behind);
    assert_int_equal(x->last_alone, rank == 2 ? CALLS : 0); // of host 0
}

// Of 70 hosts those that are later than the floor, a tenth of the time on the wire: 64 at most and 8 at least, in the order
// of hosts; of equally late ones the first.
static void the_latest_hosts(void **state)
{
    static const struct {
        int late, kept;
    } rows[] = {{20, 20}, {3, 8}, {66, NCCL_VIEW_HOSTS}, {9, 9}, {64, 64}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *tree = tree_make();
        double behind[RANKS];
        chosen hosts[HOSTS];
        nccl n;
        nccl_view v;
        write_late(tree, rows[i].late);
        read_tree(&n, tree);
        view_without_findings(&v, &n);
        for (int rank = 0; rank < RANKS; rank++)
            behind[rank] = behind_us(rank, rows[i].late);
        choose_hosts(hosts, behind);
        qsort(hosts, (size_t)rows[i].kept, sizeof *hosts, by_host);
        assert_true(v.late_floor_us == WIRE / 10.0);
        assert_false(v.late_all);
        assert_int_equal(v.late_hosts, HOSTS);
        assert_int_equal(v.late_hosts_left, HOSTS - rows[i].kept);
        size_t at = 0;
        bool last_host = false;
        for (int k = 0; k < rows[i].kept; k++)
            for (int rank = 0; rank < RANKS; rank++) {
                if (host_of(rank) != hosts[k].host) continue;
                assert_true(at < v.late.count);
                check_process(&v.late.items[at++], rank, behind[rank]);
                last_host |= host_of(rank) == HOSTS - 1;
            }
        assert_int_equal(v.late.count, at);
        assert_int_equal(v.late_rows, last_host ? EACH + 1 : EACH);
        nccl_view_free(&v);
        nccl_free(&n);
        tree_remove(tree);
    }
}

// The first page is about a communicator of four: of fewer than half of all the map would be empty, so it is of all they did.
// Of exactly half it is of that communicator, and who is not in it has no rank.
static void check_few(const nccl_view *v, int ranks)
{
    for (int rank = 0; rank < (int)v->late.count; rank++) {
        const nccl_view_process *x = &v->late.items[rank];
        double own = 1000.0 * rank - 1500, all = (ranks - 1) / 2 - rank; // behind 88.5 ms, and behind the middle rank
        bool takes_part = rank < 4;
        assert_int_equal(x->pid, 1000 + rank);
        if (ranks == 8) {
            assert_true(takes_part ? x->behind_us == own : isnan(x->behind_us));
            assert_true(x->rank == (takes_part ? (uint64_t)rank : UINT64_MAX));
            assert_int_equal(x->judged, takes_part ? 5 : 0);
            assert_int_equal(x->last_alone, rank == 3 ? 5 : 0);
        } else {
            assert_true(fabs(x->behind_us - (takes_part ? (4 * all + 5 * own) / 9 : all)) < 1e-9);
            assert_int_equal(x->rank, rank);
            assert_int_equal(x->judged, takes_part ? 9 : 4);
            assert_int_equal(x->last_alone, rank == 3 ? 5 : rank == 0 ? 4 : 0);
        }
    }
}

static void few_take_part(void **state)
{
    (void)state;
    for (int ranks = 8; ranks <= 9; ranks++) {
        char *tree = tree_make();
        nccl n;
        nccl_view v;
        FILE *f = log_of(tree, 0);
        for (int rank = 0; rank < ranks; rank++)
            for (int sn = 0; sn < 5; sn++) {
                if (sn < 4) put_line(f, &(line){"0xab", "AllReduce", rank, ranks, sn, 1000, 100ULL + (unsigned)rank});
                if (rank < 4)
                    put_line(f, &(line){"0xcd", "AllGather", rank, 4, sn, 5000, 90000ULL - 1000 * (unsigned)rank});
            }
        assert_int_equal(fclose(f), 0);
        read_tree(&n, tree);
        view_without_findings(&v, &n);
        assert_string_equal(v.main_coll, "AllGather");
        assert_int_equal(v.late_all, ranks == 9);
        assert_int_equal(v.late_hosts, ranks == 9 ? 3 : 2);
        assert_int_equal(v.late_hosts_left, 0);
        assert_int_equal(v.late.count, ranks == 9 ? 9 : 6);
        check_few(&v, ranks);
        nccl_view_free(&v);
        nccl_free(&n);
        tree_remove(tree);
    }
}

// ---- what is missing, and why ----

static bool is_lost(int rank, int sn, bool one)
{
    if (one) return rank == 4 && sn == 2;
    return (rank == 1 && (sn == 3 || sn == 4)) || (rank == 3 && sn >= 5 && sn <= 7) || (rank == 4 && sn == 2) ||
           (rank == 5 && sn == 9) || (rank == 6 && sn >= 8);
}

// Of nine ranks seven have logs. Beside them a communicator of which nothing is missing, and one of a single rank, which
// could miss nothing.
static void write_gaps(const char *tree, bool one)
{
    static const int dropped[9] = {4, 0, 0, 0, 0, 7};
    for (int rank = 0; rank < (one ? 9 : 7); rank++) {
        FILE *f = log_of(tree, host_of(rank));
        for (int sn = 0; sn < 10; sn++)
            if (!is_lost(rank, sn, one))
                put_line(f, &(line){"0xab", "AllReduce", rank, 9, sn, 1000, 100ULL + (unsigned)rank});
        for (int sn = 0; sn < 5 && rank < 3; sn++)
            put_line(f, &(line){"0xcd", "Broadcast", rank, 3, sn, 1000, 50});
        if (rank == 0) put_line(f, &(line){"0xef", "Broadcast", 0, 1, 0, 1000, 50});
        for (int sn = 1; sn < 6 && rank == 2 && !one; sn++) // two again, three other than before
            put_line(f, &(line){"0xab", "AllReduce", rank, 9, sn, 1000, sn < 3 ? 102 : 107});
        if (dropped[rank] && !one) {
            put_head(f, &(line){"0xab", "", rank, 9, 9, 0, 0});
            fprintf(f,
                    "\"dump_stats\":{\"coll_records\":9,\"coll_dropped_total\":%d,\"p2p_records\":0,"
                    "\"p2p_dropped_total\":1}}\n",
                    dropped[rank]);
        }
        if (rank == 3 && !one) fputs("none\nnone\n[]\n[]\n{}\n", f);
        assert_int_equal(fclose(f), 0);
    }
}

static void reasons(void **state)
{
    static const nccl_view_reason all[] = {{"lost in between, others have them (3 processes, most on h01)", 2 + 3 + 1},
                                           {"after the end of a log (2 processes, most on h02)", 1 + 2},
                                           {"of ranks without any log", 2 * 10},
                                           {"dropped, by the plugin's own count (in part the same)", 4 + 7},
                                           {"lines that cannot be used", 5},
                                           {"duplicates, left out", 2},
                                           {"conflicting records, left out", 3}};
    static const nccl_view_reason single[] = {{"lost in between, others have them (h01)", 1}};
    (void)state;
    for (int one = 0; one < 2; one++) {
        const nccl_view_reason *expected = one ? single : all;
        char *tree = tree_make();
        nccl n;
        nccl_view v;
        write_gaps(tree, one);
        read_tree(&n, tree);
        view_without_findings(&v, &n);
        assert_int_equal(v.reasons.count, one ? COUNT(single) : COUNT(all));
        for (size_t i = 0; i < v.reasons.count; i++) {
            assert_string_equal(v.reasons.items[i].what, expected[i].what);
            assert_int_equal(v.reasons.items[i].count, expected[i].count);
        }
        assert_true(v.completeness_known);
        assert_int_equal(v.ranks_expected, 9 + 3);
        assert_int_equal(v.ranks_seen, one ? 9 + 3 : 7 + 3);
        assert_int_equal(v.records_seen, one ? 89 + 15 : 70 - 9 + 15);
        assert_int_equal(v.records_expected, 90 + 15);
        assert_int_equal(v.calls_judgeable, 10 + 5);
        assert_int_equal(v.calls_complete, one ? 9 + 5 : 5);
        nccl_view_free(&v);
        nccl_free(&n);
        tree_remove(tree);
    }
}

// ---- more than lists hold ----

enum { LONG = 12, SOUND = 4 };

static int lost_between(int rank)
{
    return rank % 5;
}

static int lost_at_end(int rank)
{
    return rank % 7;
}

static void put_send(FILE *f, int rank, int sn)
{
    put_head(f, &(line){"0xab", "", rank, RANKS, sn, 0, 0});
    fprintf(f,
            "\"p2p_perf\":{\"p2p\":\"Send\",\"p2p_sn\":%d,\"p2p_peer\":%d,\"p2p_msg_size_bytes\":4096,"
            "\"p2p_exec_time_us\":%d,\"p2p_timing_source\":\"kernel_cpu\",\"p2p_algobw_gbs\":2,\"p2p_busbw_gbs\":2}}\n",
            sn, (rank + 1) % RANKS, 100 + rank);
}

// A file for each rank, with as many lines of no use as its number says.
static void write_long(const char *tree)
{
    char name[40];
    for (int rank = 0; rank < RANKS; rank++) {
        snprintf(name, sizeof name, "r%03d.log", rank);
        FILE *f = fopen(tree_path(tree, name), "we");
        assert_non_null(f);
        for (int sn = 0; sn < LONG; sn++)
            if (!(sn >= 1 && sn <= lost_between(rank)) && sn < LONG - lost_at_end(rank))
                put_line(f, &(line){"0xab", "AllReduce", rank, RANKS, sn, 1000, 100});
        for (int i = 0; i < 1 + rank % 3; i++)
            put_send(f, rank, i);
        for (int i = 0; rank >= SOUND && i < 1 + rank % 5; i++)
            fputs("none\n", f);
        assert_int_equal(fclose(f), 0);
    }
    FILE *f = fopen(tree_path(tree, "m.prom"), "we");
    assert_non_null(f);
    for (int i = 0; i < 205; i++)
        fprintf(f, "metric_%d{node=\"n%d\"} %d.5\n", i, i % 7, i);
    assert_int_equal(fclose(f), 0);
}

static void check_damaged(const nccl_view *v)
{
    char name[40], why[40];
    assert_int_equal(v->files, RANKS + 1);
    assert_int_equal(v->files_damaged, RANKS - SOUND);
    assert_int_equal(v->damaged.count, NCCL_VIEW_FILES);
    assert_int_equal(v->damaged_left, RANKS - SOUND - NCCL_VIEW_FILES);
    for (int i = 0; i < NCCL_VIEW_FILES; i++) {
        const nccl_view_file *x = &v->damaged.items[i];
        int rank = i + SOUND, bad = 1 + rank % 5, good = LONG - lost_between(rank) - lost_at_end(rank) + 1 + rank % 3;
        snprintf(name, sizeof name, "r%03d.log", rank);
        snprintf(why, sizeof why, "%d bad_json", bad);
        assert_string_equal(x->name, name);
        assert_string_equal(x->problem, "");
        assert_string_equal(x->reasons, why);
        assert_int_equal(x->bad, bad);
        assert_int_equal(x->first_bad_line, good + 1);
        assert_int_equal(x->lines, good + bad);
    }
}

typedef struct weighed {
    int rank, weight;
} weighed;

// The heaviest first, of equal ones the first.
static int by_weight(const void *a, const void *b)
{
    const weighed *x = a, *y = b;
    return x->weight != y->weight ? y->weight - x->weight : x->rank - y->rank;
}

static void check_gone(const nccl_view *v)
{
    weighed all[RANKS];
    int count = 0;
    for (int rank = 0; rank < RANKS; rank++)
        if (lost_between(rank) + lost_at_end(rank))
            all[count++] = (weighed){rank, lost_between(rank) + lost_at_end(rank)};
    qsort(all, (size_t)count, sizeof *all, by_weight);
    assert_int_equal(v->gone.count, NCCL_VIEW_FILES);
    assert_int_equal(v->gone_left, count - NCCL_VIEW_FILES);
    for (int i = 0; i < NCCL_VIEW_FILES; i++) {
        assert_int_equal(v->gone.items[i].pid, 1000 + all[i].rank);
        assert_int_equal(v->gone.items[i].between, lost_between(all[i].rank));
        assert_int_equal(v->gone.items[i].tail, lost_at_end(all[i].rank));
    }
}

static void check_pairs(const nccl_view *v)
{
    weighed all[RANKS];
    for (int rank = 0; rank < RANKS; rank++)
        all[rank] = (weighed){rank, (100 + rank) * (1 + rank % 3)};
    qsort(all, RANKS, sizeof *all, by_weight);
    assert_int_equal(v->pairs.count, 200);
    assert_int_equal(v->pairs_left, RANKS - 200);
    for (int i = 0; i < 200; i++) {
        const nccl_view_pair *x = &v->pairs.items[i];
        assert_int_equal(x->rank, all[i].rank);
        assert_true(x->peer == (all[i].rank + 1) % RANKS);
        assert_int_equal(x->records, 1 + all[i].rank % 3);
        assert_true(x->time_us.p50 == 100 + all[i].rank);
    }
}

static void long_lists(void **state)
{
    char *tree = tree_make(), name[20], labels[20];
    nccl n;
    nccl_view v;
    (void)state;
    write_long(tree);
    read_tree(&n, tree);
    view_without_findings(&v, &n);
    check_damaged(&v);
    check_gone(&v);
    check_pairs(&v);
    assert_int_equal(v.metrics.count, 200);
    assert_int_equal(v.metrics_left, 5);
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "metric_%d", i);
        snprintf(labels, sizeof labels, "node=\"n%d\"", i % 7);
        assert_string_equal(v.metrics.items[i].name, name);
        assert_non_null(strstr(v.metrics.items[i].labels, labels));
        assert_true(v.metrics.items[i].value == i + 0.5);
    }
    nccl_view_free(&v);
    nccl_free(&n);
    tree_remove(tree);
}

// Of 1030 processes those that cost most, then the others in their order.
static void many_processes(void **state)
{
    enum { MANY = NCCL_VIEW_PROCESSES + 6 };
    char *tree = tree_make();
    nccl n;
    nccl_view v;
    FILE *f = log_of(tree, 0);
    (void)state;
    for (int rank = 0; rank < MANY; rank++)
        for (int sn = 0; sn < 2; sn++)
            put_line(f, &(line){"0xab", "AllReduce", rank, MANY, sn, 1000,
                                rank == (sn ? 17 : 1029) ? 60 + 10U * (unsigned)sn : 100});
    assert_int_equal(fclose(f), 0);
    read_tree(&n, tree);
    view_without_findings(&v, &n);
    assert_int_equal(v.slowest.count, NCCL_VIEW_PROCESSES);
    assert_int_equal(v.slowest_left, 6);
    assert_int_equal(v.slowest.items[0].pid, 1000 + 1029);
    assert_int_equal(v.slowest.items[0].cost_us, 40);
    assert_int_equal(v.slowest.items[1].pid, 1000 + 17);
    assert_int_equal(v.slowest.items[1].cost_us, 30);
    for (int i = 2; i < NCCL_VIEW_PROCESSES; i++) {
        assert_int_equal(v.slowest.items[i].pid, 1000 + i - 2 + (i - 2 >= 17));
        assert_int_equal(v.slowest.items[i].suffered_us, 40 + 30);
    }
    nccl_view_free(&v);
    nccl_free(&n);
    tree_remove(tree);
}

// Of 405 sizes those that took longest, the longest first; two of them in another communicator as well.
static void many_sizes(void **state)
{
    enum { SIZES = NCCL_VIEW_KINDS + 5 };
    char *tree = tree_make();
    nccl n;
    nccl_view v;
    FILE *f = log_of(tree, 0);
    (void)state;
    for (int i = 0; i < SIZES; i++)
        for (int rank = 0; rank < 2; rank++) {
            line x = {"0xab", "AllReduce", rank, 2, i, 1000ULL + (unsigned)i, 200ULL + (unsigned)i};
            put_line(f, &x);
            x.id = "0xcd";
            x.us = 10000;
            if (i % 300 == 7) put_line(f, &x);
        }
    assert_int_equal(fclose(f), 0);
    read_tree(&n, tree);
    view_without_findings(&v, &n);
    assert_int_equal(v.kinds.count, NCCL_VIEW_KINDS);
    assert_int_equal(v.kinds_left, 5);
    assert_int_equal(v.series.count, NCCL_VIEW_SERIES);
    assert_int_equal(v.series_left, SIZES + 2 - NCCL_VIEW_SERIES);
    assert_int_equal(v.kinds.items[0].size, 1307); // those of both communicators first
    assert_int_equal(v.kinds.items[0].time_us, 10000 + 507);
    assert_int_equal(v.kinds.items[1].size, 1007);
    assert_int_equal(v.kinds.items[1].calls, 2);
    assert_int_equal(v.series.items[0].size, 1007); // equally long: the first of both
    assert_int_equal(v.series.items[1].size, 1307);
    assert_string_equal(v.series.items[1].label, "0xcd");
    for (size_t i = 2, size = 1000 + SIZES - 1; i < NCCL_VIEW_SERIES; i++, size--) {
        assert_int_equal(v.series.items[i].size, size);
        assert_int_equal(v.series.items[i].time_us, size - 800);
        assert_string_equal(v.series.items[i].label, "0xab");
    }
    for (size_t i = 2, size = 1000 + SIZES - 1; i < NCCL_VIEW_KINDS; i++, size--) {
        size -= size == 1307 || size == 1007;
        assert_int_equal(v.kinds.items[i].size, size);
        assert_int_equal(v.kinds.items[i].calls, 1);
    }
    nccl_view_free(&v);
    nccl_free(&n);
    tree_remove(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_latest_hosts), cmocka_unit_test(few_take_part),  cmocka_unit_test(reasons),
        cmocka_unit_test(long_lists),       cmocka_unit_test(many_processes), cmocka_unit_test(many_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
