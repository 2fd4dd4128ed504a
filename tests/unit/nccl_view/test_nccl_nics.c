// NIC counters on pages of NCCL's logs: the hosts that both know, rates and events in columns of the logs' time, and calls
// joined with what NICs moved. Recordings are made by hand; columns are counted anew here.
#define _GNU_SOURCE
#include "netprof.h"

#include "analysis/nccl/findings/nccl_overlap.h"
#include "analysis/nccl/logs/nccl_logs.h"
#include "analysis/nccl/view/nccl_view.h"
#include "support.h"

#include <math.h>

#define T UINT64_C(1749490000000000)

enum { CALLS = 120, COLUMNS = CALLS / 3, LENGTH = CALLS - 1, BEFORE = 10, STEPS = 60, KINDS = NCCL_VIEW_OVERLAPS + 6 };

// ---- logs of a rank on each of two hosts, a call a second ----

static unsigned time_of(int rank, int sn)
{
    return 100 + (unsigned)(sn * 7 % 50) + (rank ? (unsigned)(sn * sn % 31) : 0);
}

static void read_calls(nccl *n, const char *tree, int calls)
{
    for (int rank = 0; rank < 2; rank++) {
        char name[20];
        snprintf(name, sizeof name, "h%d.log", rank);
        FILE *f = fopen(tree_path(tree, name), "we");
        assert_non_null(f);
        for (int sn = 0; sn < calls; sn++)
            fprintf(f,
                    "{\"header\":{\"id\":\"0x1\",\"comm_name\":\"dp\",\"rank\":%d,\"n_ranks\":2,\"nnodes\":2},"
                    "\"metadata\":{"
                    "\"inspector_output_format_version\":\"v4.0\",\"dump_timestamp_us\":%llu,\"hostname\":\"h%d\","
                    "\"pid\":%d},\"coll_perf\":{\"coll\":\"AllReduce\",\"coll_sn\":%d,\"coll_msg_size_bytes\":1000,"
                    "\"coll_exec_time_us\":%u,\"coll_algobw_gbs\":1,\"coll_busbw_gbs\":1}}\n",
                    rank, (unsigned long long)(T + (unsigned)sn * 1000000ULL), rank, 100 + rank, sn, time_of(rank, sn));
        assert_int_equal(fclose(f), 0);
    }
    *n = (nccl){0};
    assert_int_equal(nccl_read(n, &tree, 1, NULL, NULL), NETPROF_OK);
}

// ---- recordings that begin 10 s before the logs ----

static series_step steps[4][STEPS];
static series_device devices[4];
static char host_names[2][4] = {"h0", "h1"}, names[3][8] = {"errors", "pauses", "drops"},
            units[2][8] = {"packets", "us"};
static series_counter counters[] = {{.name = names[0], .unit = units[0], .trouble = true},
                                    {.name = names[1], .unit = units[1]},
                                    {.name = names[2], .trouble = true}};
static series_run runs[] = {{.host = host_names[0], .begin_s = 5, .end_s = 80, .first_device = 0, .device_count = 3},
                            {.host = host_names[1], .begin_s = 40, .end_s = 200, .first_device = 3, .device_count = 1}};
// Times since the series' begin. Of h0: one before the logs, others within; of h1: pauses, and one after the logs' end.
static series_event events[] = {{1, 3, 1, 0, 0},     {20, 21, 5, 0, 0},  {20, 22, 7, 2, 1},  {23, 24, 4, 1, 2},
                                {20.5, 21, 2, 0, 1}, {60, 62, 11, 1, 3}, {63, 64, 12, 1, 3}, {128.5, 130, 9, 1, 3}};
static const series recorded = {.begin_ns = (int64_t)(T * 1000) - BEFORE * INT64_C(1000000000),
                                .runs = runs,
                                .run_count = COUNT(runs),
                                .devices = devices,
                                .device_count = COUNT(devices),
                                .counters = counters,
                                .counter_count = COUNT(counters),
                                .events = events,
                                .event_count = COUNT(events)};

static void make_devices(void)
{
    for (int d = 0; d < 4; d++) {
        double length = d < 3 ? 1.25 : 2.5;
        devices[d] = (series_device){.run = d == 3, .chosen = d != 1, .steps = steps[d], .count = STEPS};
        for (int i = 0; i < STEPS; i++)
            steps[d][i] = (series_step){.from_s = (d < 3 ? 5 : 40) + i * length,
                                        .to_s = (d < 3 ? 5 : 40) + (i + 1) * length,
                                        .rate = {1000 * (d + 1) + 17 * i % 400, 5000 * (d + 1) + 29 * i % 1300},
                                        .gap = d == 3 && i >= 20 && i < 26};
    }
}

// ---- a model of the columns ----

static int column_of(double since_first_s)
{
    int column = (int)floor(since_first_s / LENGTH * COLUMNS);
    return column < 0 ? 0 : column >= COLUMNS ? COLUMNS - 1 : column;
}

static void add_rates(nccl_view_column *columns, int way)
{
    double rates[2][COLUMNS], one[COLUMNS];
    for (int host = 0; host < 2; host++) {
        for (int k = 0; k < COLUMNS; k++)
            rates[host][k] = 0;
        for (int d = host ? 3 : 0; d < (host ? 4 : 3); d++) {
            series_columns(&devices[d], way, BEFORE, BEFORE + LENGTH, one, COLUMNS);
            for (int k = 0; k < COLUMNS && d != 1; k++)
                rates[host][k] += one[k];
        }
    }
    for (int k = 0; k < COLUMNS; k++) {
        double a = rates[0][k], b = rates[1][k];
        *(way ? &columns[k].sent : &columns[k].received) = isnan(a) ? b : isnan(b) ? a : (a + b) / 2;
        *(way ? &columns[k].sent_high : &columns[k].received_high) = fmax(a, b);
    }
}

static void add_events(nccl_view_column *columns)
{
    for (int host = 0; host < 2; host++)
        for (int k = column_of(runs[host].begin_s - BEFORE); k <= column_of(runs[host].end_s - BEFORE); k++)
            columns[k].trouble = columns[k].waiting = 0;
    for (size_t i = 0; i < COUNT(events); i++) {
        double at = (events[i].from_s + events[i].to_s) / 2 - BEFORE;
        if (at < 0 || at > LENGTH) continue;
        *(counters[events[i].counter].trouble ? &columns[column_of(at)].trouble : &columns[column_of(at)].waiting) += 1;
    }
}

static int by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_number);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static void add_calls(nccl_view_column *columns)
{
    for (int k = 0; k < COLUMNS; k++) {
        double wire[CALLS], skew[CALLS];
        size_t count = 0;
        for (int sn = 0; sn < CALLS; sn++) {
            if (column_of(sn) != k) continue;
            wire[count] = time_of(0, sn);
            skew[count++] = (double)(time_of(1, sn) - time_of(0, sn));
        }
        columns[k].calls = count;
        columns[k].wire_us = count ? median(wire, count) : NAN;
        columns[k].skew_us = count ? median(skew, count) : NAN;
    }
}

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)) && !(isnan(value) && isnan(expected)))
        fail_msg("%.12g is not %.12g", value, expected);
}

static void check_columns(const nccl_view *v)
{
    nccl_view_column expected[COLUMNS];
    for (int k = 0; k < COLUMNS; k++)
        expected[k].trouble = expected[k].waiting = NAN;
    add_rates(expected, 0);
    add_rates(expected, 1);
    add_events(expected);
    add_calls(expected);
    assert_true(v->columns_from_s == 0 && v->columns_to_s == LENGTH);
    assert_int_equal(v->columns.count, COLUMNS);
    for (int k = 0; k < COLUMNS; k++) {
        const nccl_view_column *x = &v->columns.items[k], *y = &expected[k];
        assert_int_equal(x->calls, y->calls);
        assert_near(x->wire_us, y->wire_us);
        assert_near(x->skew_us, y->skew_us);
        assert_near(x->received, y->received);
        assert_near(x->received_high, y->received_high);
        assert_near(x->sent, y->sent);
        assert_near(x->sent_high, y->sent_high);
        assert_near(x->trouble, y->trouble);
        assert_near(x->waiting, y->waiting);
    }
}

// ---- the hosts ----

static void check_hosts(const nccl_view *v, const nccl_counters *c)
{
    static const struct {
        const char *trouble, *trouble_unit, *waiting, *waiting_unit;
        double seconds, trouble_amount, waiting_amount;
    } rows[] = {{"errors", "packets", "pauses", "us", 80 - BEFORE, 5 + 2, 4},
                {"", "", "pauses", "us", LENGTH + BEFORE - 40, NAN, 11 + 12 + 9}};
    assert_int_equal(v->nics.count, 2);
    for (size_t i = 0; i < 2; i++) {
        const nccl_view_nic *x = &v->nics.items[i];
        assert_string_equal(x->host, host_names[i]);
        assert_string_equal(x->trouble, rows[i].trouble);
        assert_string_equal(x->trouble_unit, rows[i].trouble_unit);
        assert_string_equal(x->waiting, rows[i].waiting);
        assert_string_equal(x->waiting_unit, rows[i].waiting_unit);
        assert_near(x->seconds, rows[i].seconds);
        assert_near(x->trouble_amount, rows[i].trouble_amount);
        assert_near(x->waiting_amount, rows[i].waiting_amount);
        assert_near(x->received, c->hosts[i].bytes[SERIES_IN]);
        assert_near(x->sent, c->hosts[i].bytes[SERIES_OUT]);
        assert_near(x->peak_received, c->hosts[i].peak_rate[SERIES_IN]);
        assert_near(x->peak_sent, c->hosts[i].peak_rate[SERIES_OUT]);
        assert_true(x->received > 0 && x->sent > x->received && x->peak_sent > x->peak_received);
    }
}

// ---- calls joined with what NICs moved ----

static nccl_spent spent[2 * KINDS];
static nccl_span spans[2 * KINDS];

// Of each host a call of each size, one after the other; those of the second host partly before its recording began.
static void make_spans(const nccl *n)
{
    for (uint32_t i = 0; i < 2 * KINDS; i++) {
        int64_t begin = (int64_t)(T * 1000) + (5 + i % KINDS * INT64_C(13) % KINDS) * INT64_C(1000000000);
        spent[i] = (nccl_spent){.member = i / KINDS,
                                .coll = i % 3 ? "AllReduce" : "AllGather",
                                .size = 1000 + i % KINDS,
                                .calls = 1,
                                .sent = 1 + i,
                                .sent_bytes = 10 + i,
                                .received_bytes = 500 + i,
                                .sent_at_least = i % 5 == 0,
                                .received_at_least = i % 7 == 0};
        spans[i] = (nccl_span){.spent = i, .sn = i, .begin_ns = begin, .end_ns = begin + 400000000 + i * 1000000};
    }
    assert_int_equal(n->members[0].rank, 0);
}

// The most bytes first, then by host, communicator, collective and size.
static int by_bytes(const void *a, const void *b)
{
    const nccl_overlap_row *x = a, *y = b;
    double p = fmax(0, fmax(x->bytes[0], x->bytes[1])), q = fmax(0, fmax(y->bytes[0], y->bytes[1]));
    if (p != q) return p > q ? -1 : 1;
    if (x->host != y->host) return x->host > y->host ? 1 : -1;
    int order = strcmp(x->coll, y->coll);
    return order ? order : x->size > y->size ? 1 : -1;
}

static void check_overlaps(const nccl_view *v, const nccl_counters *c)
{
    nccl_overlap o;
    nccl_overlap_make(&o, c);
    assert_int_equal(o.count, 2 * KINDS);
    qsort(o.items, o.count, sizeof *o.items, by_bytes);
    assert_int_equal(v->overlaps.count, NCCL_VIEW_OVERLAPS);
    assert_int_equal(v->overlaps_left, 2 * KINDS - NCCL_VIEW_OVERLAPS);
    for (size_t i = 0; i < NCCL_VIEW_OVERLAPS; i++) {
        const nccl_view_overlap *x = &v->overlaps.items[i];
        const nccl_overlap_row *y = &o.items[i];
        assert_string_equal(x->host, host_names[y->host]);
        assert_string_equal(x->label, "dp");
        assert_string_equal(x->coll, y->coll);
        assert_string_equal(x->others, nccl_overlap_say(y).text);
        assert_int_equal(x->size, y->size);
        assert_int_equal(x->calls, y->calls);
        assert_near(x->received, y->bytes[SERIES_IN]);
        assert_near(x->sent, y->bytes[SERIES_OUT]);
        assert_near(x->own_received, y->own_bytes[SERIES_IN]);
        assert_near(x->own_sent, y->own_bytes[SERIES_OUT]);
        assert_int_equal(x->own_received_at_least, y->own_at_least[SERIES_IN]);
        assert_int_equal(x->own_sent_at_least, y->own_at_least[SERIES_OUT]);
    }
    nccl_overlap_free(&o);
}

static void view_with(nccl_view *v, const nccl *n, const nccl_counters *c)
{
    const nccl_findings none = {.verdict = ""};
    nccl_view_make(v, n, &none, NULL, c);
}

static void counters_beside_logs(void **state)
{
    char *tree = tree_make();
    nccl n;
    nccl_view v;
    nccl_counters c;
    (void)state;
    make_devices();
    read_calls(&n, tree, CALLS);
    nccl_counters_make(&c, &n, &recorded);
    view_with(&v, &n, &c);
    assert_true(v.counters_known);
    assert_int_equal(v.overlaps.count + v.overlaps_left, 0); // no plugin told when calls used the network
    check_hosts(&v, &c);
    check_columns(&v);
    nccl_view_free(&v);
    make_spans(&n);
    nccl own = n;
    own.spent = spent;
    own.spent_count = COUNT(spent);
    own.spans = spans;
    own.span_count = COUNT(spans);
    c.n = &own;
    view_with(&v, &own, &c);
    check_overlaps(&v, &c);
    nccl_view_free(&v);
    view_with(&v, &n, NULL);
    assert_false(v.counters_known);
    assert_int_equal(v.nics.count + v.columns.count, 0);
    nccl_view_free(&v);
    nccl_counters_free(&c);
    nccl_free(&n);
    tree_remove(tree);
}

// Three calls in a column, but 30 columns at least and 200 at most; without a host that both know, none.
static void how_many_columns(void **state)
{
    static const int calls[][2] = {{1, 30}, {90, 30}, {93, 31}, {300, 100}, {600, 200}, {660, 200}};
    (void)state;
    make_devices();
    for (size_t i = 0; i < COUNT(calls); i++) {
        char *tree = tree_make();
        nccl n;
        nccl_view v;
        nccl_counters c;
        uint64_t all = 0;
        read_calls(&n, tree, calls[i][0]);
        nccl_counters_make(&c, &n, &recorded);
        if (calls[i][0] == 1) c.count = 1, c.hosts[0] = (nccl_counters_host){.run = 0};
        view_with(&v, &n, &c);
        assert_int_equal(v.columns.count, calls[i][1]);
        assert_near(v.columns_to_s, calls[i][0] == 1 ? 1e-6 : calls[i][0] - 1);
        for (size_t k = 0; k < v.columns.count; k++)
            all += v.columns.items[k].calls;
        assert_int_equal(all, calls[i][0]);
        nccl_view_free(&v);
        c.count = 0;
        view_with(&v, &n, &c);
        assert_true(v.counters_known);
        assert_int_equal(v.columns.count, 0);
        assert_true(isnan(v.columns_from_s));
        nccl_view_free(&v);
        nccl_counters_free(&c);
        nccl_free(&n);
        tree_remove(tree);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(counters_beside_logs), cmocka_unit_test(how_many_columns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
