// From differences: units, the traffic of devices, the same work several times, and which files make a run. Every amount is
// arithmetic on what is put in here; two seconds lie between two readings.
#define _GNU_SOURCE
#include "netprof.h"

#include "analysis/base/stb_ds.h"
#include "analysis/catalog/catalog.h"
#include "analysis/data/difference.h"
#include "analysis/data/repeats.h"
#include "analysis/data/runs.h"
#include "analysis/data/traffic.h"
#include "support.h"

#include <math.h>

enum { AS_READ = 0, DENIED = 1, SKIPPED = 2 }; // line.odd: what became of the second reading

typedef struct line {
    const char *source, *device, *counter;
    uint64_t before, after;
    int odd;
    const char *facts; // of the device, by its first line: "key=value;key=value"
    bool is_virtual;
    const char *unit; // of the file; NULL: "things"
} line;

#define MOVES(from, of, name, first, second)                                                                           \
    .source = from, .device = of, .counter = name, .before = first, .after = second

static void list_facts(netprof_list *list, const char *facts)
{
    char copy[256], *rest = copy;
    if (!facts) return;
    snprintf(copy, sizeof copy, "%s", facts);
    for (char *fact; (fact = strsep(&rest, ";"));) {
        char *value = strchr(fact, '=');
        *value++ = 0;
        netprof_list_fact(list, fact, value);
    }
}

static void two_readings(const line *lines, size_t count, netprof_snapshot of[2])
{
    netprof_list *list = netprof_build_begin(NULL);
    const netprof_schema *schema = NULL;
    for (size_t i = 0; i < count; i++) {
        const line *x = &lines[i];
        netprof_counter c = {.name = x->counter, .unit = x->unit ? x->unit : "things", .width = 64};
        bool source = !i || strcmp(x->source, x[-1].source) != 0;
        if (source) netprof_build_source(list, x->source);
        if (source || strcmp(x->device, x[-1].device) != 0) {
            netprof_list_device(list, x->device, 0, x->is_virtual ? NETPROF_DEVICE_VIRTUAL : NETPROF_DEVICE_PHYSICAL);
            list_facts(list, x->facts);
        }
        netprof_list_counter(list, &c);
    }
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    netprof_schema_retain(schema);
    for (int k = 0; k < 2; k++) {
        of[k] = snapshot_of(schema);
        of[k].begin_ns = of[k].end_ns = (1 + 2 * k) * INT64_C(1000000000);
        of[k].wall_ns = INT64_C(1763643720000000000) + of[k].begin_ns;
        for (size_t d = 0; d < schema->device_count; d++)
            of[k].device_begin_ns[d] = of[k].device_end_ns[d] = of[k].begin_ns;
        for (size_t i = 0; i < count; i++) {
            of[k].values[i] = k ? lines[i].after : lines[i].before;
            if (k && lines[i].odd)
                of[k].status[i] = lines[i].odd == DENIED ? NETPROF_STATUS_DENIED : NETPROF_STATUS_SKIPPED;
        }
    }
}

static void subtract(difference *d, const line *lines, size_t count)
{
    netprof_snapshot of[2];
    two_readings(lines, count, of);
    assert_int_equal(difference_of_snapshots(d, &of[0], &of[1], false, NULL), NETPROF_OK);
    netprof_snapshot_free(&of[0]);
    netprof_snapshot_free(&of[1]);
}

static void expect_close(double value, double expected)
{
    if (isnan(expected) ? !isnan(value) : !(fabs(value - expected) <= 1e-9 * fmax(1, fabs(expected))))
        fail_msg("%.12g is not %.12g", value, expected);
}

// ---- units ----

// The catalog's for a counter that it names; the file's where the catalog only has a pattern, if the file has one.
static void whose_unit_it_is(void **state)
{
    static const line lines[] = {{MOVES("netdev", "eth0", "rx_bytes", 0, 1), .unit = "things"},
                                 {MOVES("netdev", "eth0", "tx_bytes", 0, 1), .unit = ""},
                                 {MOVES("netdev", "eth0", "nobody's", 0, 1), .unit = "things"},
                                 {MOVES("netdev", "eth0", "no unit", 0, 1), .unit = ""},
                                 {MOVES("ethtool", "eth0", "rx_prio3_pause_duration", 0, 1), .unit = "things"},
                                 {MOVES("ethtool", "eth0", "tx_prio3_pause_duration", 0, 1), .unit = ""}};
    static const char *const units[] = {"bytes", "bytes", "things", "", "things", "us"};
    difference d = {0};
    (void)state;
    subtract(&d, lines, COUNT(lines));
    for (size_t i = 0; i < COUNT(lines); i++) {
        assert_string_equal(d.rows[i].unit, units[i]);
        assert_int_equal(d.rows[i].entry != NULL, i != 2 && i != 3);
    }
    difference_free(&d);
}

// ---- traffic ----

static const line machine[] = {
    {MOVES("netdev", "eth0", "rx_bytes", 500, 2500), .facts = "speed_mbps=100"},
    {MOVES("netdev", "eth0", "tx_bytes", 0, 6000000)},
    {MOVES("netdev", "eth0", "rx_packets", 3, 13)},
    {MOVES("netdev", "eth0", "tx_packets", 50, 20)}, // began again
    {MOVES("netdev", "eth0", "rx_errors", 0, 2)},
    {MOVES("netdev", "eth0", "rx_dropped", 4, 4)},
    {MOVES("netdev", "eth0", "tx_errors", 9, 10)},
    {MOVES("netdev", "lo", "rx_bytes", 0, 7), .facts = "speed_mbps=100", .is_virtual = true},
    {MOVES("netdev", "ib0", "rx_bytes", 0, 11), .odd = DENIED},
    {MOVES("netdev", "ib0", "tx_bytes", 0, 12)},
    {MOVES("netdev", "idle0", "rx_bytes", 5, 5)},
    {MOVES("netdev", "idle0", "other", 5, 6)},
    {MOVES("rdma", "mlx5_0/1", "port_rcv_data", 0, 4000),
     .facts = "rate=100 Gb/sec (4X EDR);link_layer=InfiniBand;netdev=ib0"},
    {MOVES("rdma", "mlx5_0/1", "port_rcv_data_64", 0, 5000)},
    {MOVES("rdma", "mlx5_0/1", "port_xmit_data", 0, 300), .odd = SKIPPED},
    {MOVES("rdma", "mlx5_1/1", "other", 0, 1), .facts = "link_layer=InfiniBand;netdev=idle0"}, // tells no bytes itself
};
enum { ETH0, LO, IB0, IDLE0, MLX0, MLX1, DEVICES };

static void traffic_of_all_kinds(void **state)
{
    difference d = {0};
    (void)state;
    subtract(&d, machine, COUNT(machine));
    traffic *t = traffic_make(&d);
    for (size_t i = 0; i < DEVICES; i++) {
        assert_int_equal(t[i].device, i);
        assert_int_equal(t[i].known, i != MLX1);
        assert_int_equal(t[i].repeated, i == IB0);
        assert_int_equal(traffic_moved(&t[i]), i != IDLE0 && i != MLX1);
        assert_int_equal(traffic_is_bound(&t[i]), i == ETH0);
        assert_int_equal(t[i].troubles, i == ETH0 ? 2 : 0);
    }
    const traffic *e = &t[ETH0];
    assert_true(e->bytes_known[0] && e->bytes_known[1] && e->packets_known[0] && e->packets_known[1]);
    assert_true(e->bytes[TRAFFIC_RECEIVED] == 2000 && e->bytes[TRAFFIC_SENT] == 6000000);
    assert_true(e->packets[TRAFFIC_RECEIVED] == 10 && e->packets[TRAFFIC_SENT] == 20);
    assert_true(!e->bytes_bound[0] && !e->bytes_bound[1] && !e->packets_bound[0] && e->packets_bound[1]);
    expect_close(e->byte_rate[TRAFFIC_RECEIVED], 1000);
    expect_close(e->byte_rate[TRAFFIC_SENT], 3e6);
    expect_close(e->packet_rate[TRAFFIC_RECEIVED], 5);
    expect_close(e->packet_rate[TRAFFIC_SENT], 10);
    expect_close(e->line_rate, 12.5e6);
    expect_close(e->share, 0.24);
    assert_true(t[LO].bytes[TRAFFIC_RECEIVED] == 7 && t[LO].line_rate == 0 && isnan(t[LO].share));
    assert_true(!t[IB0].bytes_known[TRAFFIC_RECEIVED] && t[IB0].bytes[TRAFFIC_SENT] == 12);
    assert_true(isnan(t[IB0].byte_rate[TRAFFIC_RECEIVED]) && isnan(t[IB0].packet_rate[TRAFFIC_SENT]));
    assert_true(t[MLX0].bytes[TRAFFIC_RECEIVED] == 5000 && !t[MLX0].bytes_known[TRAFFIC_SENT]);
    expect_close(t[MLX0].line_rate, 12.5e9);
    expect_close(t[MLX0].share, 2500 / 12.5e9);
    free(t);
    difference_free(&d);
}

// Twelve kinds of packets by size make the sum; without one of them it is not known, and one that cannot be read makes it a
// lower bound.
static void packets_that_are_a_sum_of_kinds(void **state)
{
    static const char *const sizes[] = {"27",           "35",           "36_to_63",     "64",
                                        "65_to_127",    "128_to_255",   "256_to_511",   "512_to_1023",
                                        "1024_to_2047", "2048_to_4095", "4096_to_8191", "8192_to_max"};
    char names[24][32];
    (void)state;
    for (int kind = 0; kind < 4; kind++) { // all; one not readable; one not asked for; one not there
        line lines[24];
        size_t n = 0;
        difference d = {0};
        for (size_t i = 0; i < 12; i++) {
            snprintf(names[i], sizeof names[i], "hni_rx_ok_%s", sizes[i]);
            if (kind == 3 && i == 5) continue;
            lines[n++] = (line){MOVES("cxi", "cxi0", names[i], 0, 10 * (i + 1)), .odd = i == 5 ? kind : AS_READ};
        }
        subtract(&d, lines, n);
        traffic *t = traffic_make(&d);
        assert_int_equal(t->packets_known[TRAFFIC_RECEIVED], kind < 2);
        assert_false(t->packets_known[TRAFFIC_SENT]);
        assert_int_equal(t->packets_bound[TRAFFIC_RECEIVED], kind == 1);
        assert_int_equal(t->packets[TRAFFIC_RECEIVED], kind == 0 ? 780 : kind == 1 ? 720 : 0);
        expect_close(t->packet_rate[TRAFFIC_RECEIVED], kind == 0 ? 390 : kind == 1 ? 360 : NAN);
        free(t);
        difference_free(&d);
    }
}

static double marked(const line *lines, size_t count, uint32_t mark, bool *bound)
{
    difference d = {0};
    subtract(&d, lines, count);
    double rate = traffic_marked_rate(&d, 0, mark, bound);
    difference_free(&d);
    return rate;
}

static void rates_of_marked_counters(void **state)
{
    line lines[] = {{MOVES("cxi", "cxi0", "hni_rx_bad_ieee", 0, 30)},
                    {MOVES("cxi", "cxi0", "hni_rx_bad_opt", 0, 10)},
                    {MOVES("cxi", "cxi0", "hni_sts_rx_ok_octets", 0, 1000)},
                    {MOVES("cxi", "cxi1", "hni_rx_bad_opt", 0, 7000)}};
    bool bound;
    (void)state;
    expect_close(marked(lines, COUNT(lines), CATALOG_RX_ERRORS, &bound), 20);
    assert_false(bound);
    expect_close(marked(lines, COUNT(lines), CATALOG_RX_DROPS, &bound), NAN);
    assert_false(bound);
    lines[0].before = 100; // began again at 30 at the least
    expect_close(marked(lines, COUNT(lines), CATALOG_RX_ERRORS, &bound), 20);
    assert_true(bound);
    lines[0].before = 0;
    lines[1].odd = DENIED;
    expect_close(marked(lines, COUNT(lines), CATALOG_RX_ERRORS, &bound), 15);
    assert_true(bound);
    lines[1].odd = SKIPPED;
    expect_close(marked(lines, COUNT(lines), CATALOG_RX_ERRORS, &bound), 15);
    assert_false(bound);
    expect_close(marked(lines, COUNT(lines), CATALOG_RX_BYTES, &bound), 500);
}

// Of two counters of the same events the better one is trouble, unless it did not move.
static void trouble_is_told_once(void **state)
{
    (void)state;
    for (uint64_t better = 0; better < 2; better++) {
        const line lines[] = {{MOVES("cxi", "cxi0", "pct_spt_timeouts", 0, 5), .unit = "events"},
                              {MOVES("cxi", "cxi0", "rh:spt_timeouts", 0, 4 * better), .unit = "timeouts"},
                              {MOVES("cxi", "cxi0", "hni_sts_rx_ok_octets", 0, 5)},
                              {MOVES("cxi", "cxi0", "cq_cq_oxe_num_idles", 0, 5)}};
        difference d = {0};
        subtract(&d, lines, COUNT(lines));
        traffic *t = traffic_make(&d);
        assert_int_equal(traffic_is_trouble(&d, 0), !better);
        assert_true(traffic_is_trouble(&d, 1) && !traffic_is_trouble(&d, 2) && !traffic_is_trouble(&d, 3));
        assert_int_equal(t->troubles, 1);
        free(t);
        difference_free(&d);
    }
}

static netprof_device device_with(const char *source, const char *name, const netprof_fact *facts, uint32_t count)
{
    return (netprof_device){.source = source, .name = name, .facts = facts, .fact_count = count};
}

static void line_rates(void **state)
{
    static const struct {
        netprof_fact fact;
        double bits;
    } rows[] = {{{"speed_mbps", "100000"}, 100e9},
                {{"speed_mbps", "999999999"}, 999999999e6},
                {{"speed_mbps", "1000000000"}, 0},
                {{"speed_mbps", "0"}, 0},
                {{"speed_mbps", "-1"}, 0},
                {{"rate", "2.5 Gb/sec (1X SDR)"}, 2.5e9},
                {{"rate", "fast"}, 0},
                {{"mtu", "1500"}, 0}};
    static const netprof_fact both[] = {{"rate", "40 Gb/sec"}, {"speed_mbps", "25000"}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        netprof_device d = device_with("netdev", "eth0", &rows[i].fact, 1);
        expect_close(traffic_bits_per_s(&d), rows[i].bits);
    }
    netprof_device d = device_with("rdma", "x", both, 2);
    expect_close(traffic_bits_per_s(&d), 25e9);
}

// Whether the first counts what the second does.
static void who_counts_the_same(void **state)
{
    static const netprof_fact ib[] = {{"netdev", "ib0"}, {"link_layer", "InfiniBand"}},
                              roce[] = {{"netdev", "ib0"}, {"link_layer", "Ethernet"}};
    const netprof_device devices[] = {device_with("netdev", "ib0", NULL, 0),  device_with("ethtool", "ib0", NULL, 0),
                                      device_with("cxi", "cxi0", ib, 2),      device_with("rdma", "a", ib, 2),
                                      device_with("rdma", "b", roce, 2),      device_with("rdma", "c", ib, 1),
                                      device_with("netdev", "eth1", NULL, 0), device_with("ethtool", "eth1", ib, 2),
                                      device_with("cxi", "ib0", NULL, 0)};
    static const char *const same[COUNT(devices)] = {".x.......", ".........", "xx.......", "x........", ".........",
                                                     ".........", ".......x.", ".........", "........."};
    (void)state;
    for (size_t i = 0; i < COUNT(devices); i++)
        for (size_t k = 0; k < COUNT(devices); k++)
            if (traffic_counts_the_same(&devices[i], &devices[k]) != (same[i][k] == 'x'))
                fail_msg("%s of %s, %s of %s", devices[i].name, devices[i].source, devices[k].name, devices[k].source);
}

// ---- the same work several times ----

static const repeats_row *row_of(const repeats *r, const char *source, const char *device, const char *counter)
{
    for (size_t i = 0; i < arrlenu(r->rows); i++)
        if (!strcmp(r->rows[i].source, source) && !strcmp(r->rows[i].device, device) &&
            !strcmp(r->rows[i].counter, counter))
            return &r->rows[i];
    return NULL;
}

static void expect_row(const repeats *r, const char *source, const char *device, const char *counter, const char *unit,
                       const double *values)
{
    const repeats_row *row = row_of(r, source, device, counter);
    if (!row) fail_msg("no %s of %s", counter, device);
    assert_string_equal(row->unit, unit);
    assert_int_equal(arrlenu(row->values), r->runs);
    for (size_t i = 0; i < r->runs; i++)
        expect_close(row->values[i], values[i]);
}

// Four runs: two that moved unlike amounts, one of which nothing is known, and one with a device more.
static void runs_side_by_side(void **state)
{
    static const line first[] = {{MOVES("netdev", "eth0", "rx_bytes", 0, 100)},
                                 {MOVES("netdev", "eth0", "rx_errors", 0, 0)},
                                 {MOVES("netdev", "eth0", "tx_errors", 0, 0), .odd = DENIED},
                                 {MOVES("netdev", "eth0", "rx_dropped", 3, 3)}};
    static const line second[] = {{MOVES("netdev", "eth0", "rx_bytes", 0, 300)},
                                  {MOVES("netdev", "eth0", "rx_errors", 0, 4)},
                                  {MOVES("netdev", "eth0", "tx_errors", 5, 7)},
                                  {MOVES("netdev", "eth0", "rx_dropped", 3, 3)}};
    static const line fourth[] = {{MOVES("netdev", "eth0", "rx_bytes", 0, 100)},
                                  {MOVES("netdev", "eth0", "rx_errors", 0, 0)},
                                  {MOVES("netdev", "lo", "rx_bytes", 0, 9), .is_virtual = true},
                                  {MOVES("netdev", "lo", "rx_errors", 0, 6), .is_virtual = true}};
    difference a = {0}, b = {0}, d = {0};
    repeats r = {0};
    (void)state;
    subtract(&a, first, COUNT(first));
    subtract(&b, second, COUNT(second));
    subtract(&d, fourth, COUNT(fourth));
    repeats_add(&r, &a);
    repeats_put(&r, "elapsed", "s", 1.5);
    repeats_add(&r, &b);
    repeats_put(&r, "elapsed", "s", 2.5);
    repeats_put(&r, "memory", "bytes", 4096);
    repeats_add(&r, NULL);
    repeats_add(&r, &d);
    assert_int_equal(r.runs, 4);
    expect_row(&r, "", "", "elapsed", "s", (double[]){1.5, 2.5, NAN, NAN});
    expect_row(&r, "", "", "memory", "bytes", (double[]){NAN, 4096, NAN, NAN});
    expect_row(&r, "netdev", "eth0", "rx_bytes", "bytes", (double[]){100, 300, NAN, 100});
    expect_row(&r, "netdev", "eth0", "tx_bytes", "bytes", (double[]){NAN, NAN, NAN, NAN});
    expect_row(&r, "netdev", "eth0", "rx_packets", "packets", (double[]){NAN, NAN, NAN, NAN});
    expect_row(&r, "netdev", "lo", "rx_bytes", "bytes", (double[]){NAN, NAN, NAN, 9});
    expect_row(&r, "netdev", "eth0", "rx_errors", "errors", (double[]){0, 4, NAN, 0});
    expect_row(&r, "netdev", "eth0", "tx_errors", "errors", (double[]){NAN, 2, NAN, NAN});
    expect_row(&r, "netdev", "lo", "rx_errors", "errors", (double[]){NAN, NAN, NAN, 6});
    assert_null(row_of(&r, "netdev", "eth0", "rx_dropped")); // in no run did it move
    assert_true(row_of(&r, "netdev", "eth0", "rx_errors")->trouble &&
                row_of(&r, "netdev", "eth0", "rx_errors")->physical);
    assert_true(row_of(&r, "netdev", "eth0", "rx_bytes")->physical &&
                !row_of(&r, "netdev", "lo", "rx_bytes")->physical);
    assert_false(row_of(&r, "netdev", "eth0", "rx_bytes")->trouble);
    assert_true(repeats_moved(row_of(&r, "netdev", "lo", "rx_bytes")));
    assert_false(repeats_moved(row_of(&r, "netdev", "eth0", "tx_bytes")));
    repeats_free(&r);
    difference_free(&a);
    difference_free(&b);
    difference_free(&d);
}

// ---- which files make a run ----

static void expect_runs(dataset_run *files, size_t count, const char *labels)
{
    dataset set = {.runs = files, .run_count = count};
    run_list list = {0};
    netprof_error error = {.code = NETPROF_OK};
    char text[1024] = "";
    if (runs_of_dataset(&list, &set, false, &error)) snprintf(text, sizeof text, "%s: %s", error.path, error.text);
    for (size_t i = 0; i < list.count; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "[%s]", list.items[i]->label);
        assert_int_equal(list.items[i]->elapsed_ns, 2000000000);
        assert_int_equal(list.items[i]->wall_ns, INT64_C(1763643721000000000));
        assert_int_equal(list.items[i]->damaged, !list.items[i]->first->complete || !list.items[i]->last->complete);
    }
    assert_string_equal(text, labels);
    runs_free(&list);
}

static dataset_run file_of(const char *path, const char *host, netprof_snapshot *readings, size_t count)
{
    return (dataset_run){.path = (char *)(uintptr_t)path,
                         .host = host,
                         .snapshots = readings,
                         .snapshot_count = count,
                         .complete = true};
}

// Files with one reading find the next one of their host; those with two are runs by themselves.
static void which_files_are_a_run(void **state)
{
    static const line lines[] = {{MOVES("netdev", "eth0", "rx_bytes", 0, 100)}};
    netprof_snapshot of[2], other[2];
    (void)state;
    two_readings(lines, 1, of);
    two_readings(lines, 1, other);
    dataset_run files[] = {file_of("a", "h1", &of[0], 1), file_of("b", "h2", &of[0], 1), file_of("c", "h3", other, 2),
                           file_of("d", "h2", &of[1], 1), file_of("e", "h1", &of[1], 1)};
    expect_runs(files, 5, "[a, e][b, d][c]");
    files[3].complete = false;
    expect_runs(files, 5, "[a, e][b, d][c]");
    expect_runs(files, 4, "a: holds one snapshot of h1; expected a second one of the same host behind it");
    expect_runs(&files[2], 1, "[c]");
    files[0].host = files[4].host = "";
    expect_runs(files, 1, "a: holds one snapshot; expected a second one of the same host behind it");
    files[4].snapshots = &of[0], files[0].snapshots = &of[1];
    expect_runs((dataset_run[]){files[0], files[4]}, 2, "e: is earlier than a; expected the earlier one first");
    files[4].snapshots = &of[1];
    expect_runs((dataset_run[]){files[0], files[4]}, 2,
                "a, e: the same reading in both; two are needed, a start and an end");
    files[2].snapshot_count = 0;
    expect_runs(&files[2], 1, "c: holds 0 differences; expected one, or snapshots");
    netprof_delta delta = NETPROF_ZERO;
    assert_int_equal(netprof_diff(&other[0], &other[1], NULL, &delta, NULL), NETPROF_OK);
    files[2].deltas = &delta;
    files[2].delta_count = 1;
    expect_runs(&files[2], 1, "[c]");
    files[2].delta_count = 2;
    expect_runs(&files[2], 1, "c: holds 2 differences; expected one, or snapshots");
    netprof_delta_free(&delta);
    for (int k = 0; k < 2; k++) {
        netprof_snapshot_free(&of[k]);
        netprof_snapshot_free(&other[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whose_unit_it_is),
        cmocka_unit_test(traffic_of_all_kinds),
        cmocka_unit_test(packets_that_are_a_sum_of_kinds),
        cmocka_unit_test(rates_of_marked_counters),
        cmocka_unit_test(trouble_is_told_once),
        cmocka_unit_test(line_rates),
        cmocka_unit_test(who_counts_the_same),
        cmocka_unit_test(runs_side_by_side),
        cmocka_unit_test(which_files_are_a_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
