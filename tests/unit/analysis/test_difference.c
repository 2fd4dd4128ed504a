// What happened between two snapshots. Expected values come from arithmetic here, and for the real node from
// net_prof.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/catalog/catalog.h"
#include "analysis/data/difference.h"
#include "reference.h"

#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- material ----

static const struct {
    const char *name, *unit;
    uint8_t kind, width;
    uint16_t flags;
} columns[] = {{"hni_sts_tx_ok_octets", "bytes", NETPROF_KIND_COUNTER, 56, 0},
               {"hni_sts_rx_ok_octets", "bytes", NETPROF_KIND_COUNTER, 56, 0},
               {"hni_pkts_sent_by_tc_0", "packets", NETPROF_KIND_COUNTER, 56, 0},
               {"hni_pkts_recv_by_tc_0", "packets", NETPROF_KIND_COUNTER, 56, 0},
               {"cq_cq_oxe_num_idles", "", NETPROF_KIND_COUNTER, 56, 0},
               {"mst_sts_num_req", "entries", NETPROF_KIND_GAUGE, 12, 0},
               {"mb_cfg_event_cnts_ovf_cnt", "overflows", NETPROF_KIND_COUNTER, 16, 0},
               {"parbs_tarb_pi_posted_pkts", "packets", NETPROF_KIND_COUNTER, 56, 0},
               {"of no catalog", "oddities", NETPROF_KIND_COUNTER, 0, NETPROF_SIGNED}};
enum { TX, RX, SENT, RECV, IDLE, REQ, OVF, POSTED, ODD, COUNTERS };

// A snapshot of so many NICs, all zero and readable, at a time; one more device is virtual.
static netprof_snapshot make_snapshot(size_t nics, int64_t at_ns)
{
    netprof_list *list = netprof_build_begin(NULL);
    const netprof_schema *schema;
    netprof_snapshot s = NETPROF_ZERO;
    netprof_build_fact(list, "host", "node1");
    netprof_build_source(list, "cxi");
    for (size_t d = 0; d <= nics; d++) {
        char name[16];
        snprintf(name, sizeof name, "cxi%zu", d);
        netprof_list_device(list, name, 0, d < nics ? NETPROF_DEVICE_PHYSICAL : NETPROF_DEVICE_VIRTUAL);
        for (size_t i = 0; i < COUNTERS; i++) {
            netprof_counter c = {.name = columns[i].name,
                                 .unit = columns[i].unit,
                                 .kind = columns[i].kind,
                                 .width = columns[i].width,
                                 .flags = columns[i].flags};
            netprof_list_counter(list, &c);
        }
    }
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    assert_int_equal(netprof_snapshot_make(&s, schema, NULL), NETPROF_OK);
    netprof_schema_release(schema);
    memset(s.status, NETPROF_STATUS_OK, schema->counter_count);
    s.begin_ns = s.end_ns = s.wall_ns = at_ns;
    for (size_t d = 0; d <= nics; d++)
        s.device_begin_ns[d] = s.device_end_ns[d] = at_ns;
    return s;
}

static uint64_t *cell(netprof_snapshot *s, size_t device, size_t column)
{
    return &s->values[device * COUNTERS + column];
}

static size_t index_of(const difference *d, const char *device, const char *counter)
{
    size_t i = netprof_find(d->delta->schema, NULL, device, counter);
    assert_true(i != NETPROF_NONE);
    return i;
}

// The names that a query finds, as "device:counter device:counter ...".
static void expect_selected(const difference *d, difference_query query, const char *expected)
{
    char text[4096] = "";
    size_t count, used = 0;
    size_t *found = difference_select(d, &query, &count);
    assert_non_null(found);
    for (size_t i = 0; i < count; i++) {
        const netprof_counter *c = &d->delta->schema->counters[found[i]];
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s:%s", i ? " " : "",
                                 d->delta->schema->devices[c->device].name, c->name);
    }
    free(found);
    assert_string_equal(text, expected);
}

typedef struct pair {
    netprof_snapshot before, after;
    difference d;
} pair;

static pair make_pair(size_t nics)
{
    return (pair){make_snapshot(nics, INT64_C(1000000000)), make_snapshot(nics, INT64_C(3000000000)), {0}};
}

static void compare(pair *p)
{
    assert_int_equal(difference_of_snapshots(&p->d, &p->before, &p->after, false, NULL), NETPROF_OK);
}

static void free_pair(pair *p)
{
    difference_free(&p->d);
    netprof_snapshot_free(&p->before);
    netprof_snapshot_free(&p->after);
}

// ---- counts, rates, flags ----

static void counts_rates_and_flags(void **state)
{
    (void)state;
    pair p = make_pair(1);
    *cell(&p.before, 0, TX) = 1000;
    *cell(&p.after, 0, TX) = 5000; // 4000 bytes in 2 s
    *cell(&p.before, 0, REQ) = 9;
    *cell(&p.after, 0, REQ) = 4; // a gauge that fell
    *cell(&p.before, 0, OVF) = 65535;
    *cell(&p.after, 0, OVF) = 1; // 16 bits, wrapped: 2
    *cell(&p.before, 0, POSTED) = 1000;
    *cell(&p.after, 0, POSTED) = 7; // began again: at least 7
    *cell(&p.before, 0, ODD) = 5;
    *cell(&p.after, 0, ODD) = (uint64_t)-5; // signed: -10
    p.after.status[RECV] = NETPROF_STATUS_DENIED;
    p.after.errnos[RECV] = EACCES;
    compare(&p);
    const difference_row *rows = p.d.rows;
    assert_true(rows[TX].changed && rows[TX].magnitude == 4000 && rows[TX].rate_per_s == 2000.0);
    assert_true(rows[REQ].changed && rows[REQ].magnitude == 5 && rows[REQ].negative && isnan(rows[REQ].rate_per_s));
    assert_int_equal(rows[REQ].flag, NETPROF_FLAG_GAUGE);
    assert_true(rows[OVF].magnitude == 2 && rows[OVF].flag == NETPROF_FLAG_WRAPPED);
    assert_true(rows[OVF].raw_magnitude == 65534 && rows[OVF].raw_negative);
    assert_true(rows[POSTED].magnitude == 7 && rows[POSTED].flag == NETPROF_FLAG_RESET && !rows[POSTED].negative);
    assert_true(rows[ODD].magnitude == 10 && rows[ODD].negative && rows[ODD].rate_per_s == -5.0);
    assert_true(!rows[RECV].compared && !rows[RECV].changed && isnan(rows[RECV].rate_per_s));
    assert_null(rows[ODD].entry);
    assert_string_equal(rows[ODD].unit, "oddities");
    assert_string_equal(rows[IDLE].unit, "cycles"); // the file does not say; the catalog does

    const difference_counts *c = &p.d.devices[0];
    assert_int_equal(c->counters, COUNTERS);
    assert_int_equal(c->compared, COUNTERS - 1);
    assert_int_equal(c->changed, 5);
    assert_int_equal(c->flagged[NETPROF_FLAG_GAUGE], 1);
    assert_int_equal(c->flagged[NETPROF_FLAG_WRAPPED], 1);
    assert_int_equal(c->flagged[NETPROF_FLAG_RESET], 1);
    assert_int_equal(c->flagged[NETPROF_FLAG_UNKNOWN], 1);
    assert_int_equal(c->elapsed_ns, 2000000000);
    assert_int_equal(p.d.total.counters, 2 * COUNTERS);
    assert_int_equal(p.d.total.changed, 5);

    expect_selected(&p.d, (difference_query){.flags = 1u << NETPROF_FLAG_UNKNOWN}, "cxi0:hni_pkts_recv_by_tc_0");
    expect_selected(&p.d, (difference_query){.kinds = DIFFERENCE_GAUGES}, "cxi0:mst_sts_num_req");
    free_pair(&p);
}

static void new_and_gone(void **state)
{
    (void)state;
    netprof_snapshot two = make_snapshot(1, 1000000000), three = make_snapshot(2, 2000000000);
    difference d = {0};
    assert_int_equal(difference_of_snapshots(&d, &two, &three, false, NULL), NETPROF_OK);
    assert_int_equal(d.total.flagged[NETPROF_FLAG_NEW], COUNTERS);
    assert_int_equal(d.total.compared, 2 * COUNTERS);
    assert_int_equal(d.total.changed, 0);
    difference_free(&d);
    // The other way round there is no difference, unless forced: then what is missing in the second is gone.
    netprof_error error;
    assert_int_equal(difference_of_snapshots(&d, &three, &two, false, &error), NETPROF_ERR_MISMATCH);
    assert_non_null(strstr(error.text, "given in the wrong order: the second was read 1.000 s before the first"));
    assert_null(d.rows);
    assert_int_equal(difference_of_snapshots(&d, &three, &two, true, NULL), NETPROF_OK);
    assert_int_equal(d.total.flagged[NETPROF_FLAG_GONE], COUNTERS);
    assert_int_equal(d.total.elapsed_ns, 0); // no time that a rate could be taken over
    assert_true(isnan(d.rows[0].rate_per_s));
    difference_free(&d);
    difference_free(NULL);
    netprof_snapshot_free(&two);
    netprof_snapshot_free(&three);
}

// ---- ranking ----

static void ranks_within_a_unit(void **state)
{
    (void)state;
    pair p = make_pair(2);
    *cell(&p.after, 0, TX) = 10;
    *cell(&p.after, 0, RX) = 20;
    *cell(&p.after, 0, SENT) = 7000;
    *cell(&p.after, 0, RECV) = 8000;
    *cell(&p.after, 0, POSTED) = 7000;
    *cell(&p.after, 0, IDLE) = 44000000000;
    *cell(&p.after, 0, REQ) = 99;
    *cell(&p.after, 1, TX) = 1;
    compare(&p);
    // Bytes before packets whatever the numbers; equal ones by name; time is no traffic.
    expect_selected(&p.d, (difference_query){0},
                    "cxi0:hni_sts_rx_ok_octets cxi0:hni_sts_tx_ok_octets cxi0:hni_pkts_recv_by_tc_0 "
                    "cxi0:hni_pkts_sent_by_tc_0 cxi0:parbs_tarb_pi_posted_pkts cxi1:hni_sts_tx_ok_octets");
    expect_selected(&p.d, (difference_query){.top = 1},
                    "cxi0:hni_sts_rx_ok_octets cxi0:hni_pkts_recv_by_tc_0 cxi1:hni_sts_tx_ok_octets");
    expect_selected(&p.d, (difference_query){.device = 2}, "cxi1:hni_sts_tx_ok_octets");
    expect_selected(&p.d, (difference_query){.device = 99}, "");
    expect_selected(&p.d, (difference_query){.clock = DIFFERENCE_ONLY_CLOCK}, "cxi0:cq_cq_oxe_num_idles");
    expect_selected(&p.d, (difference_query){.order = DIFFERENCE_RAW, .device = 1, .top = 3},
                    "cxi0:cq_cq_oxe_num_idles cxi0:hni_pkts_recv_by_tc_0 cxi0:hni_pkts_sent_by_tc_0");
    uint64_t congestion = (uint64_t)1 << catalog_group_find("CxiCongestion");
    expect_selected(&p.d, (difference_query){.groups = congestion}, "cxi0:parbs_tarb_pi_posted_pkts");
    expect_selected(&p.d, (difference_query){.groups = congestion, .unchanged = true, .device = 2},
                    "cxi1:parbs_tarb_pi_posted_pkts");
    expect_selected(&p.d, (difference_query){.marks = CATALOG_TX_BYTES},
                    "cxi0:hni_sts_tx_ok_octets cxi1:hni_sts_tx_ok_octets");
    free_pair(&p);
}

// ---- tables, sums, balance ----

static void tables_have_a_column_for_each_device(void **state)
{
    (void)state;
    static const size_t nics[] = {1, 3, 12};
    for (size_t n = 0; n < sizeof nics / sizeof *nics; n++) {
        pair p = make_pair(nics[n]);
        difference_table table;
        compare(&p);
        difference_table_of_marks(&p.d, "cxi", CATALOG_IMPORTANT, &table);
        assert_int_equal(table.row_count, 1);
        assert_string_equal(table.names[0], "parbs_tarb_pi_posted_pkts");
        assert_int_equal(table.column_count, nics[n] + 1);
        for (size_t c = 0; c <= nics[n]; c++)
            assert_int_equal(table.cells[c], c * COUNTERS + POSTED);
        difference_table_free(&table);

        // A counter is in the table of each of its groups.
        difference_table_of_group(&p.d, catalog_group_find("CxiPerfStats"), &table);
        assert_int_equal(table.row_count, 3);
        difference_table_free(&table);
        difference_table_of_group(&p.d, catalog_group_find("CxiOpPackets"), &table);
        assert_int_equal(table.row_count, 2);
        assert_string_equal(table.names[0], "hni_pkts_recv_by_tc_0");
        difference_table_free(&table);
        difference_table_of_marks(&p.d, "netdev", CATALOG_IMPORTANT, &table);
        assert_int_equal(table.row_count + table.column_count, 0);
        difference_table_free(&table);
        free_pair(&p);
    }
}

static void table_with_a_device_that_lacks_counters(void **state)
{
    (void)state;
    netprof_snapshot s = make_snapshot(1, 1000000000);
    netprof_list *list = netprof_build_begin(NULL);
    const netprof_schema *schema;
    netprof_snapshot other = NETPROF_ZERO;
    netprof_build_source(list, "cxi");
    netprof_list_device(list, "cxi7", 0, NETPROF_DEVICE_PHYSICAL);
    netprof_counter c = {.name = "hni_pkts_sent_by_tc_0", .unit = "packets"};
    netprof_list_counter(list, &c);
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    assert_int_equal(netprof_snapshot_make(&other, schema, NULL), NETPROF_OK);
    netprof_schema_release(schema);
    difference d = {0};
    difference_table table;
    assert_int_equal(difference_of_snapshots(&d, &other, &s, true, NULL), NETPROF_OK);
    difference_table_of_group(&d, catalog_group_find("CxiOpPackets"), &table);
    assert_int_equal(table.row_count, 2);
    assert_int_equal(table.column_count, 3);
    for (size_t column = 0; column < 3; column++) {
        bool lacks = strcmp(d.delta->schema->devices[table.devices[column]].name, "cxi7") == 0;
        assert_true((table.cells[column] == DIFFERENCE_NONE) == lacks); // row 0: recv
        assert_true(table.cells[3 + column] != DIFFERENCE_NONE);
    }
    difference_table_free(&table);
    difference_free(&d);
    netprof_snapshot_free(&s);
    netprof_snapshot_free(&other);
}

static void sums_and_balance_over_physical_devices(void **state)
{
    (void)state;
    pair p = make_pair(3);
    const uint64_t tx[] = {100, 300, 200, 1000000}; // the last one is virtual
    for (size_t i = 0; i < 4; i++)
        *cell(&p.after, i, TX) = tx[i];
    p.after.status[RX] = NETPROF_STATUS_DENIED;
    *cell(&p.after, 1, REQ) = 5;
    compare(&p);
    size_t count, all;
    const difference_query everything = {
        .kinds = DIFFERENCE_ANY_KIND, .clock = DIFFERENCE_WITH_CLOCK, .unchanged = true};
    size_t *rows = difference_select(&p.d, &everything, &all);
    assert_int_equal(all, 4 * COUNTERS);
    difference_sum *sums = difference_sums(&p.d, rows, all, 0, &count);
    assert_non_null(sums);
    assert_int_equal(count, COUNTERS - 1); // a gauge has no sum
    assert_string_equal(sums[0].name, "hni_sts_tx_ok_octets");
    assert_true(sums[0].value == 600 && sums[0].devices == 3 && sums[0].rate_per_s == 300.0);
    assert_true(!sums[0].lower_bound && sums[0].first == TX && sums[0].most == COUNTERS + TX);
    assert_string_equal(sums[1].name, "hni_sts_rx_ok_octets");
    assert_true(sums[1].value == 0 && sums[1].devices == 2 && sums[1].lower_bound); // one was denied
    free(sums);
    sums = difference_sums(&p.d, rows, all, 1, &count); // the first of each unit
    assert_int_equal(count, 5);                         // bytes, packets, cycles, overflows, oddities
    assert_string_equal(sums[0].name, "hni_sts_tx_ok_octets");
    assert_string_equal(sums[1].unit, "packets");
    free(sums);
    sums = difference_sums(&p.d, NULL, 0, 0, &count);
    assert_non_null(sums);
    assert_int_equal(count, 0);
    free(sums);
    free(rows);

    difference_balance *b = difference_balances(&p.d, &count);
    assert_int_equal(count, 2);
    assert_true(b[0].role == CATALOG_TX_BYTES && b[0].devices == 3 && b[0].sum == 600);
    assert_true(b[0].max == 300 && b[0].max_device == 1 && b[0].min == 100 && b[0].min_device == 0);
    assert_true(b[0].max_over_mean == 1.5 && b[0].rate_per_s == 300.0);
    assert_true(b[1].role == CATALOG_RX_BYTES && b[1].devices == 2 && isnan(b[1].max_over_mean));
    assert_true(!b[0].lower_bound && b[1].lower_bound); // what the denied one received is missing
    free(b);
    free_pair(&p);
}

static void expect_sum(const pair *p, size_t column, size_t devices, bool negative, uint64_t value, bool lower_bound)
{
    size_t rows[8], count;
    for (size_t i = 0; i < devices; i++)
        rows[i] = i * COUNTERS + column;
    difference_sum *sum = difference_sums(&p->d, rows, devices, 0, &count);
    assert_int_equal(count, 1);
    assert_int_equal(sum->negative, negative);
    assert_true(sum->value == value);
    assert_int_equal(sum->lower_bound, lower_bound);
    free(sum);
}

// Signed counters of three devices: -10, +4, +1 make -5; +6 more make 1. Lower bounds stay such in a sum.
static void sums_keep_signs_and_bounds(void **state)
{
    (void)state;
    pair p = make_pair(4);
    *cell(&p.after, 0, ODD) = (uint64_t)-10;
    *cell(&p.after, 1, ODD) = 4;
    *cell(&p.after, 2, ODD) = 1;
    *cell(&p.after, 3, ODD) = 6;
    *cell(&p.before, 0, POSTED) = 50; // began again
    *cell(&p.after, 0, POSTED) = 7;
    *cell(&p.after, 1, POSTED) = 5;
    *cell(&p.before, 2, OVF) = 65535 - 10000; // 16 bits: one turn, several, or a new beginning
    *cell(&p.after, 2, OVF) = 100;
    *cell(&p.before, 0, OVF) = 65535; // one turn
    *cell(&p.after, 0, OVF) = 1;
    *cell(&p.after, 0, TX) = UINT64_MAX - 5;
    *cell(&p.after, 1, TX) = 100;
    compare(&p);
    expect_sum(&p, ODD, 1, true, 10, false);
    expect_sum(&p, ODD, 2, true, 6, false);
    expect_sum(&p, ODD, 3, true, 5, false);
    expect_sum(&p, ODD, 4, false, 1, false);
    expect_sum(&p, POSTED, 4, false, 12, true);
    expect_sum(&p, OVF, 2, false, 2, false);
    expect_sum(&p, OVF, 4, false, 2 + 100, true);
    expect_sum(&p, TX, 2, false, UINT64_MAX, false);
    assert_true(p.d.rows[POSTED].lower_bound && !p.d.rows[OVF].lower_bound);
    assert_true(p.d.rows[2 * COUNTERS + OVF].lower_bound);
    free_pair(&p);
}

// Values without a sign use all 64 bits: from 1 to half of them is up, back is down.
static void large_gauges(void **state)
{
    const uint64_t half = UINT64_C(1) << 63;
    (void)state;
    pair p = make_pair(2);
    *cell(&p.before, 0, REQ) = 1;
    *cell(&p.after, 0, REQ) = half + 3;
    *cell(&p.before, 1, REQ) = half + 9;
    *cell(&p.after, 1, REQ) = 4;
    compare(&p);
    assert_false(p.d.rows[REQ].negative);
    assert_true(p.d.rows[REQ].magnitude == half + 2);
    assert_true(p.d.rows[COUNTERS + REQ].negative);
    assert_true(p.d.rows[COUNTERS + REQ].magnitude == half + 5);
    free_pair(&p);
}

// Counts of what is stuck, and of what only one of the two was asked for.
static void counts_of_saturated_and_skipped(void **state)
{
    (void)state;
    pair p = make_pair(1);
    p.after.status[OVF] = NETPROF_STATUS_SATURATED;
    p.after.status[TX] = NETPROF_STATUS_SKIPPED;
    p.before.status[RX] = NETPROF_STATUS_SKIPPED;
    p.before.status[SENT] = NETPROF_STATUS_DENIED;
    *cell(&p.before, 0, RECV) = 3;
    *cell(&p.after, 0, RECV) = 1; // began again
    compare(&p);
    assert_int_equal(p.d.devices[0].saturated, 1);
    assert_int_equal(p.d.devices[0].flagged[NETPROF_FLAG_SUSPECT], 1);
    assert_int_equal(p.d.devices[0].skipped, 2);
    assert_int_equal(p.d.devices[0].flagged[NETPROF_FLAG_UNKNOWN], 3);
    assert_int_equal(p.d.devices[0].compared, COUNTERS - 3);
    assert_int_equal(p.d.total.skipped, 2);
    free_pair(&p);
}

// ---- data sets ----

static void from_data_sets(void **state)
{
    (void)state;
    pair p = make_pair(1);
    dataset set = {0};
    difference d = {0};
    netprof_error error;
    dataset_run runs[2] = {{.path = (char *)"a", .snapshots = &p.before, .snapshot_count = 1},
                           {.path = (char *)"b", .snapshots = &p.after, .snapshot_count = 1}};
    assert_int_equal(difference_of_dataset(&d, &set, false, &error), NETPROF_ERR_ARG);
    set.runs = runs;
    set.run_count = 1;
    assert_int_equal(difference_of_dataset(&d, &set, false, &error), NETPROF_ERR_ARG);
    assert_true(strstr(error.text, "expected two") != NULL);
    assert_string_equal(error.path, "a");
    set.run_count = 2;
    assert_int_equal(difference_of_dataset(&d, &set, false, &error), NETPROF_OK);
    assert_int_equal(d.total.compared, 2 * COUNTERS);

    // A saved delta gives the same.
    netprof_delta saved = NETPROF_ZERO;
    assert_int_equal(netprof_diff(&p.before, &p.after, NULL, &saved, NULL), NETPROF_OK);
    dataset_run with_delta = {.path = (char *)"c", .deltas = &saved, .delta_count = 1};
    set.runs = &with_delta;
    set.run_count = 1;
    assert_int_equal(difference_of_dataset(&d, &set, false, &error), NETPROF_OK);
    assert_int_equal(d.total.compared, 2 * COUNTERS);
    difference_free(&d);
    netprof_delta_free(&saved);
    free_pair(&p);
}

// ---- a real node, against net_prof ----

static bool aurora(dataset *set, difference *d)
{
    const char *path = reference_file("aurora/before.txt");
    if (!path) return false;
    assert_int_equal(dataset_read(set, path, NULL, NULL), NETPROF_OK);
    assert_int_equal(dataset_read(set, reference_file("aurora/after.txt"), NULL, NULL), NETPROF_OK);
    assert_int_equal(difference_of_dataset(d, set, false, NULL), NETPROF_OK);
    return true;
}

static json_object *member(json_object *object, const char *key)
{
    json_object *value;
    if (!json_object_object_get_ex(object, key, &value)) fail_msg("the reference has no %s", key);
    return value;
}

static int64_t signed_raw(const difference_row *row)
{
    return row->raw_negative ? -(int64_t)row->raw_magnitude : (int64_t)row->raw_magnitude;
}

// net_prof's metric id is a counter's place in its order, 1 for the first.
static void same_metric(const char *name, int64_t id)
{
    size_t count;
    const char *const *names = catalog_cassini_1_names(&count);
    assert_in_range(id, 1, count);
    assert_string_equal(name, names[id - 1]);
}

static void same_top_20(const difference *d, size_t device, json_object *expected)
{
    size_t count;
    difference_query query = {.device = device + 1, .order = DIFFERENCE_RAW, .top = 20};
    size_t *found = difference_select(d, &query, &count);
    assert_int_equal(count, json_object_array_length(expected));
    for (size_t i = 0; i < count; i++) {
        json_object *line = json_object_array_get_idx(expected, i);
        const char *name = d->delta->schema->counters[found[i]].name;
        assert_string_equal(name, json_object_get_string(member(line, "metric_name")));
        assert_int_equal(signed_raw(&d->rows[found[i]]), json_object_get_int64(member(line, "diff")));
        same_metric(name, json_object_get_int64(member(line, "metric_id")));
    }
    free(found);
}

static void same_important(const difference *d, json_object *expected)
{
    difference_table table;
    size_t r = 0;
    difference_table_of_marks(d, "cxi", CATALOG_IMPORTANT, &table);
    assert_int_equal(table.row_count, json_object_object_length(expected));
    struct json_object_iter at;
    json_object_object_foreachC(expected, at)
    {
        const char *id = at.key;
        json_object *metric = at.val;
        json_object *diffs = member(metric, "diffs");
        same_metric(table.names[r], atoi(id));
        assert_string_equal(table.names[r], json_object_get_string(member(metric, "metric_name")));
        for (size_t c = 0; c < table.column_count; c++) {
            char interface[8];
            snprintf(interface, sizeof interface, "%zu", table.devices[c] + 1);
            assert_int_equal(signed_raw(&d->rows[table.cells[r * table.column_count + c]]),
                             json_object_get_int64(member(diffs, interface)));
        }
        r++;
    }
    difference_table_free(&table);
}

static void aurora_as_net_prof(void **state)
{
    (void)state;
    dataset set = {0};
    difference d = {0};
    if (!aurora(&set, &d)) return;
    json_object *reference = json_object_from_file(reference_file("aurora/net_prof_reference.json"));
    json_object *changed = member(reference, "non_zero_per_iface"), *top = member(reference, "top20_per_iface");
    assert_int_equal(d.delta->schema->device_count, 4);
    assert_int_equal(d.total.changed, 798);
    for (size_t device = 0; device < 4; device++) {
        char interface[8];
        snprintf(interface, sizeof interface, "%zu", device + 1);
        assert_int_equal(d.devices[device].counters, 1890);
        assert_int_equal(d.devices[device].compared, 1890);
        assert_int_equal(d.devices[device].changed, json_object_get_int64(member(changed, interface)));
        same_top_20(&d, device, member(top, interface));
    }
    same_important(&d, member(reference, "important_metrics"));
    json_object_put(reference);
    difference_free(&d);
    dataset_free(&set);
}

// Nothing wrapped or was reset in 44 s: what fell is a gauge.
static void aurora_negative_differences_are_gauges(void **state)
{
    (void)state;
    dataset set = {0};
    difference d = {0};
    if (!aurora(&set, &d)) return;
    size_t negative = 0;
    for (size_t i = 0; i < d.delta->schema->counter_count; i++) {
        if (!d.rows[i].raw_negative) continue;
        negative++;
        assert_int_equal(d.rows[i].flag, NETPROF_FLAG_GAUGE);
    }
    assert_true(negative > 0);
    printf("%zu negative differences\n", negative);
    assert_int_equal(d.total.flagged[NETPROF_FLAG_WRAPPED] + d.total.flagged[NETPROF_FLAG_RESET], 0);
    difference_free(&d);
    dataset_free(&set);
}

static uint64_t delta_of(const difference *d, const char *device, const char *counter)
{
    return d->rows[index_of(d, device, counter)].magnitude;
}

// What the hardware counts twice agrees: sizes and packets, kinds of octets and octets.
static void aurora_adds_up(void **state)
{
    (void)state;
    static const char *const sizes[] = {"27",           "35",           "36_to_63",     "64",
                                        "65_to_127",    "128_to_255",   "256_to_511",   "512_to_1023",
                                        "1024_to_2047", "2048_to_4095", "4096_to_8191", "8192_to_max"};
    static const char *const ways[][2] = {{"tx", "hni_pkts_sent_by_tc"}, {"rx", "hni_pkts_recv_by_tc"}};
    dataset set = {0};
    difference d = {0};
    if (!aurora(&set, &d)) return;
    for (size_t device = 0; device < d.delta->schema->device_count; device++) {
        const char *nic = d.delta->schema->devices[device].name;
        for (size_t w = 0; w < 2; w++) {
            char name[64];
            uint64_t by_size = 0, by_class = 0, octets = 0;
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
                snprintf(name, sizeof name, "hni_%s_ok_%s", ways[w][0], sizes[i]);
                by_size += delta_of(&d, nic, name);
            }
            for (int tc = 0; tc < 8; tc++) {
                snprintf(name, sizeof name, "%s_%d", ways[w][1], tc);
                by_class += delta_of(&d, nic, name);
            }
            for (int k = 0; k < 2; k++) {
                snprintf(name, sizeof name, "hni_sts_%s_octets_%s", ways[w][0], k ? "opt" : "ieee");
                octets += delta_of(&d, nic, name);
            }
            snprintf(name, sizeof name, "hni_sts_%s_ok_octets", ways[w][0]);
            assert_int_equal(by_size, by_class);
            assert_int_equal(octets, delta_of(&d, nic, name));
        }
    }
    difference_free(&d);
    dataset_free(&set);
}

static void aurora_rates_and_clock(void **state)
{
    (void)state;
    dataset set = {0};
    difference d = {0};
    if (!aurora(&set, &d)) return;
    // Idle clocks of a 1.0 GHz chip, over each counter's own two stamps: to 0.01 %.
    for (size_t device = 0; device < 4; device++) {
        const char *nic = d.delta->schema->devices[device].name;
        double rate = d.rows[index_of(&d, nic, "cq_cq_oxe_num_idles")].rate_per_s;
        assert_true(fabs(rate / 1e9 - 1) < 1e-4);
        // 212.5e9 bits a second in codewords of 5440 bits.
        rate = d.rows[index_of(&d, nic, "hni_pcs_good_cw")].rate_per_s;
        assert_true(fabs(rate / (212.5e9 / 5440) - 1) < 1e-4);
    }
    // They are set apart, and nothing else that ticks is left: the largest cycles are stalls.
    size_t count;
    size_t *found = difference_select(&d, &(difference_query){0}, &count);
    for (size_t i = 0; i < count; i++)
        if (!strcmp(d.rows[found[i]].unit, "cycles")) assert_true(d.rows[found[i]].rate_per_s < 1e6);
    free(found);
    found = difference_select(&d, &(difference_query){.clock = DIFFERENCE_ONLY_CLOCK}, &count);
    assert_int_equal(count, 4 * 7);
    free(found);

    difference_balance *b = difference_balances(&d, &count);
    assert_int_equal(count, 2);
    assert_int_equal(b[0].sum, 28237101 + 3 * 64); // net_prof_reference.json, tx_ok_octets
    assert_int_equal(b[1].sum, 2546684 + 78109 + 273677441 + 257738783);
    assert_int_equal(b[0].max_device, 0);
    assert_int_equal(b[1].max_device, 2);
    free(b);
    difference_free(&d);
    dataset_free(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_rates_and_flags),
        cmocka_unit_test(new_and_gone),
        cmocka_unit_test(ranks_within_a_unit),
        cmocka_unit_test(tables_have_a_column_for_each_device),
        cmocka_unit_test(table_with_a_device_that_lacks_counters),
        cmocka_unit_test(sums_and_balance_over_physical_devices),
        cmocka_unit_test(sums_keep_signs_and_bounds),
        cmocka_unit_test(large_gauges),
        cmocka_unit_test(counts_of_saturated_and_skipped),
        cmocka_unit_test(from_data_sets),
        cmocka_unit_test(aurora_as_net_prof),
        cmocka_unit_test(aurora_negative_differences_are_gauges),
        cmocka_unit_test(aurora_adds_up),
        cmocka_unit_test(aurora_rates_and_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
