// What two readings come to: the sums of a port by a model, the limits of what a narrow counter can have counted, which
// clock is theirs, and a snapshot's copy, whole.
#define NETPROF_IMPLEMENTATION
#define NETPROF_STATIC
#include "netprof.h"

#include "support.h"

#include <math.h>

// ---- sums of a port ----

enum { NAMES = 5 };
static const char *const port_names[NAMES] = {"port_rcv_data", "port_rcv_data_64", "rx_bytes", "port_rcv_errors",
                                              "port_xmit_discards"};

// The difference of a port of five counters; its rows are set afterwards.
static netprof_delta port_delta(void)
{
    netprof_list *list = netprof_build_begin(NULL);
    const netprof_schema *schema;
    netprof_delta d = NETPROF_ZERO;
    netprof_build_source(list, "rdma");
    netprof_list_device(list, "m/1", 1, NETPROF_DEVICE_PHYSICAL);
    for (int i = 0; i < NAMES; i++)
        netprof_list_counter(list, &(netprof_counter){.name = port_names[i], .unit = "x", .width = 64});
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    netprof_snapshot s = snapshot_of(schema);
    assert_int_equal(netprof_diff(&s, &s, NULL, &d, NULL), NETPROF_OK);
    netprof_snapshot_free(&s);
    d.interval_ns = 8000000000;
    return d;
}

static int counts(int flag)
{
    return flag == NETPROF_FLAG_OK || flag == NETPROF_FLAG_WRAPPED || flag == NETPROF_FLAG_RESET ||
           flag == NETPROF_FLAG_SUSPECT;
}

static int is_bound(int flag)
{
    return flag == NETPROF_FLAG_RESET || flag == NETPROF_FLAG_SUSPECT;
}

// The first three count the same: the largest is the port's, at its own rate. The last two are added.
static netprof_total model_of(const netprof_delta *d)
{
    netprof_total t = NETPROF_ZERO;
    int best = -1, errors = 0;
    for (int i = 0; i < 3; i++)
        if (counts(d->flags[i]) && (best < 0 || d->values[i] >= d->values[best])) best = i;
    if (best >= 0) {
        t.rx_bytes = d->values[best];
        t.rx_bytes_per_s =
            (double)t.rx_bytes / ((double)(d->elapsed_ns[best] > 0 ? d->elapsed_ns[best] : d->interval_ns) / 1e9);
        t.lower_bound = is_bound(d->flags[best]);
    }
    for (int i = 3; i < NAMES; i++)
        if (counts(d->flags[i])) {
            errors++;
            t.errors += d->values[i];
            t.lower_bound |= is_bound(d->flags[i]);
        }
    t.devices = best >= 0;
    t.unknown = best < 0 || !errors;
    t.lower_bound |= (int)t.unknown;
    t.seconds = 8;
    return t;
}

static void expect_total(const netprof_delta *d)
{
    netprof_total is = netprof_totals(d, NULL), should = model_of(d);
    if (is.rx_bytes != should.rx_bytes || is.errors != should.errors || is.devices != should.devices ||
        is.unknown != should.unknown || is.lower_bound != should.lower_bound || is.seconds != should.seconds ||
        fabs(is.rx_bytes_per_s - should.rx_bytes_per_s) > 1e-9 || is.tx_bytes || is.rx_packets || is.tx_packets ||
        is.tx_bytes_per_s != 0 || is.rx_packets_per_s != 0 || is.tx_packets_per_s != 0)
        fail_msg("flags %d %d %d %d %d: %d bytes at %g, %d errors, %d devices, %d unknown, bound %d", d->flags[0],
                 d->flags[1], d->flags[2], d->flags[3], d->flags[4], (int)is.rx_bytes, is.rx_bytes_per_s,
                 (int)is.errors, (int)is.devices, (int)is.unknown, is.lower_bound);
}

// Every order of three values, two of them equal as well; every flag at each place.
static void sums_of_a_port(void **state)
{
    static const uint64_t orders[][3] = {{70, 500, 90}, {500, 70, 90}, {90, 70, 500},  {70, 90, 500},
                                         {500, 90, 70}, {90, 500, 70}, {500, 500, 70}, {0, 0, 0}};
    netprof_delta d = port_delta();
    (void)state;
    for (size_t o = 0; o < COUNT(orders); o++)
        for (int place = 0; place < NAMES; place++)
            for (int flag = 0; flag <= NETPROF_FLAG_GONE; flag++)
                for (int second = 0; second <= NETPROF_FLAG_GONE; second++) {
                    for (int i = 0; i < NAMES; i++) {
                        d.values[i] = i < 3 ? orders[o][i] : (uint64_t)(i == 3 ? 7 : 11);
                        d.elapsed_ns[i] = i == 2 ? 0 : (i + 1) * (int64_t)2000000000; // 0: that of the whole
                        d.flags[i] = NETPROF_FLAG_OK;
                    }
                    d.flags[place] = (uint8_t)flag;
                    d.flags[(place + 1) % NAMES] = (uint8_t)second;
                    expect_total(&d);
                }
    netprof_delta_free(&d);
}

// A counter that was not asked for is no unknown one; of one that was asked for twice in vain it is said.
static void what_was_not_asked_for(void **state)
{
    netprof_delta d = port_delta();
    netprof_total t;
    (void)state;
    for (int i = 0; i < NAMES; i++)
        d.values[i] = 40, d.flags[i] = NETPROF_FLAG_OK;
    d.flags[3] = d.flags[4] = NETPROF_FLAG_UNKNOWN;
    for (int ask = 0; ask < 4; ask++) {
        for (int i = 3; i < NAMES; i++) {
            d.before_status[i] = (uint8_t)(ask & 1 ? NETPROF_STATUS_SKIPPED : NETPROF_STATUS_DENIED);
            d.after_status[i] = (uint8_t)(ask & 2 ? NETPROF_STATUS_SKIPPED : NETPROF_STATUS_DENIED);
        }
        t = netprof_totals(&d, NULL);
        assert_int_equal(t.unknown, ask == 0);
        assert_int_equal(t.lower_bound, ask == 0);
        assert_int_equal(t.rx_bytes, 40);
        assert_int_equal(t.errors, 0);
    }
    d.interval_ns = 0; // nothing is known of the time
    for (int i = 0; i < NAMES; i++)
        d.elapsed_ns[i] = 0;
    t = netprof_totals(&d, NULL);
    assert_true(t.seconds == 0 && t.rx_bytes_per_s == 0);
    assert_int_equal(t.rx_bytes, 40);
    netprof_delta_free(&d);
}

// ---- what a narrow counter can have counted ----

static void check_pace(unsigned width, unsigned scale, int64_t ns, uint64_t before, uint64_t after, netprof_flag flag,
                       uint64_t value)
{
    netprof_counter c = {.name = "c", .unit = "x", .width = (uint8_t)width, .scale = (uint16_t)scale};
    const netprof__pace pace = {1, ns}; // one a millisecond
    uint64_t got = 12345;
    netprof_flag is = netprof__counter_difference(&c, before, after, &pace, &got);
    if (is != flag || got != value)
        fail_msg("%u bits x%u in %lld ns, %llu -> %llu: %s %llu, not %s %llu", width, scale, (long long)ns,
                 (unsigned long long)before, (unsigned long long)after, netprof_flag_name(is), (unsigned long long)got,
                 netprof_flag_name(flag), (unsigned long long)value);
}

#define MS INT64_C(1000000)

// One a millisecond: 7 s and a second more are 8000, and an eighth more 9000. A turn of 16 bits is 65536.
static void limits_of_a_pace(void **state)
{
    (void)state;
    check_pace(16, 1, 7000 * MS, 65535, 8999, NETPROF_FLAG_WRAPPED, 9000);
    check_pace(16, 1, 7000 * MS, 65535, 9000, NETPROF_FLAG_RESET, 9000);
    check_pace(16, 1, 7008 * MS - 1, 65535, 9006, NETPROF_FLAG_WRAPPED, 9007); // 8007 and 1000
    check_pace(16, 1, 7008 * MS - 1, 65535, 9007, NETPROF_FLAG_RESET, 9007);
    check_pace(16, 1, 7008 * MS, 65535, 9008, NETPROF_FLAG_WRAPPED, 9009);
    check_pace(16, 0, 7000 * MS, 65535, 8999, NETPROF_FLAG_WRAPPED, 9000); // no scale is one
    check_pace(16, 3, 7000 * MS, UINT64_C(3) * 65535, 3 * 2999, NETPROF_FLAG_WRAPPED, 3 * 3000);
    check_pace(16, 3, 7000 * MS, UINT64_C(3) * 65535, 3 * 3000, NETPROF_FLAG_RESET, 3 * 3000);
    // Whole turns: as many as the mask says may be one turn less one.
    check_pace(16, 1, 65535 * MS, 10, 17, NETPROF_FLAG_OK, 7);
    check_pace(16, 1, 65536 * MS, 10, 17, NETPROF_FLAG_SUSPECT, 7);
    check_pace(16, 1, 65536 * MS, 10, 10, NETPROF_FLAG_OK, 0);
    check_pace(16, 3, (3 * 65535 + 2) * MS, 30, 51, NETPROF_FLAG_OK, 21);
    check_pace(16, 3, (3 * 65535 + 3) * MS, 30, 51, NETPROF_FLAG_SUSPECT, 21);
    check_pace(16, 1, 65535 * MS, 65535, 100, NETPROF_FLAG_WRAPPED, 101);
    check_pace(16, 1, 65536 * MS, 65535, 100, NETPROF_FLAG_SUSPECT, 100);
    check_pace(16, 3, (3 * 65535 + 2) * MS, UINT64_C(3) * 65535, 300, NETPROF_FLAG_WRAPPED, 303);
    check_pace(16, 3, (3 * 65535 + 3) * MS, UINT64_C(3) * 65535, 300, NETPROF_FLAG_SUSPECT, 300);
    // Half of the range and no more.
    check_pace(16, 1, 60000 * MS, 65535, 32766, NETPROF_FLAG_WRAPPED, 32767);
    check_pace(16, 1, 60000 * MS, 65535, 32767, NETPROF_FLAG_RESET, 32767);
    // Wider ones turn once in a lifetime, and are not asked.
    check_pace(32, 1, (INT64_C(1) << 32) * MS, 10, 17, NETPROF_FLAG_SUSPECT, 7);
    check_pace(33, 1, (INT64_C(1) << 33) * MS, 10, 17, NETPROF_FLAG_OK, 7);
    check_pace(33, 1, 1 * MS, (UINT64_C(1) << 33) - 1, 1 << 20, NETPROF_FLAG_WRAPPED, (1 << 20) + 1);
}

static void most_that_can_be_counted(void **state)
{
    const uint64_t third = UINT64_MAX / 3; // without a rest
    (void)state;
    assert_true(netprof__most_at_pace(&(netprof__pace){third, 3 * MS}, 0) == UINT64_MAX);
    assert_true(netprof__most_at_pace(&(netprof__pace){third - 1, 3 * MS}, 0) == UINT64_MAX - 3);
    assert_true(netprof__most_at_pace(&(netprof__pace){third + 1, 3 * MS}, 0) == UINT64_MAX);
    assert_true(netprof__most_at_pace(&(netprof__pace){third + 1, 3 * MS - 1}, 0) == 2 * (third + 1));
    assert_true(netprof__most_at_pace(&(netprof__pace){third, 0}, 0) == 0);
    assert_true(netprof__most_at_pace(&(netprof__pace){7, 5 * MS}, 6) == 77);
}

// Bits in a millisecond, of what a driver says of its speed.
static void rates_of_lines(void **state)
{
    static const struct {
        const char *fact, *value;
        uint64_t rate;
    } lines[] = {{"speed_mbps", "1000", 1000000},
                 {"speed_mbps", "200000", 200000000},
                 {"speed_mbps", "-1", 0},
                 {"speed_mbps", "2.5", 2500},
                 {"rate", "2.5 Gb/sec (1X SDR)", 2500000},
                 {"rate", "100 Gb/sec (4X EDR)", 100000000},
                 {"rate", "3.", 3000000},
                 {"rate", "3.x", 3000000},
                 {"rate", "Unknown", 0},
                 {"rate", "", 0},
                 {"mtu", "9000", 0},
                 {"speed_mbps", "999999999", UINT64_C(999999999000)},
                 {"speed_mbps", "1000000000", UINT64_C(1000000000000)},
                 {"speed_mbps", "12345678901234", UINT64_C(1234567890000)}};
    (void)state;
    for (size_t i = 0; i < COUNT(lines); i++) {
        netprof_fact facts[2] = {{lines[i].fact, lines[i].value}, {"rate", "7"}};
        netprof_device d = {.facts = facts, .fact_count = 1, .flags = NETPROF_DEVICE_PHYSICAL};
        if (netprof__line_rate(&d) != lines[i].rate)
            fail_msg("%s: %llu", lines[i].value, (unsigned long long)netprof__line_rate(&d));
        d.fact_count = 2; // Ethernet's speed comes first
        if (strcmp(lines[i].fact, "speed_mbps") == 0) assert_true(netprof__line_rate(&d) == lines[i].rate);
        d.flags = NETPROF_DEVICE_VIRTUAL;
        assert_true(netprof__line_rate(&d) == 0);
    }
}

// ---- which clock ----

static const struct row rows[] = {{.source = "own", .device = "d", .identity = 3, .counter = "c", .width = 64},
                                  {.source = "own", .device = "e", .identity = 4, .counter = "c", .width = 64}};

static const netprof_schema *of_boot(const char *boot_id)
{
    return schema_of_rows(rows, COUNT(rows), "n", boot_id);
}

// The monotonic clock went back by 5 s, the other one forth by 9 s: the order is wrong where both are of one boot for
// certain, and elsewhere the second clock says how long it was.
static void clocks_that_contradict(void **state)
{
    static const char *const boots[][2] = {{"a", "a"}, {"a", NULL}, {NULL, "a"}, {NULL, NULL}};
    (void)state;
    for (size_t i = 0; i < COUNT(boots); i++) {
        netprof_snapshot a = snapshot_of(of_boot(boots[i][0])), b = snapshot_of(of_boot(boots[i][1]));
        netprof_delta d = NETPROF_ZERO;
        netprof_error error;
        a.begin_ns = 20000000000, b.begin_ns = 15000000000;
        a.wall_ns = 70000000000, b.wall_ns = 79000000000;
        assert_int_equal(netprof_diff(&a, &b, NULL, &d, &error), i ? NETPROF_OK : NETPROF_ERR_MISMATCH);
        if (i)
            assert_int_equal(d.interval_ns, 9000000000);
        else
            assert_string_equal(error.text, "given in the wrong order: the second was read 5.000 s before the first");
        netprof_delta_free(&d);
        netprof_snapshot_free(&a);
        netprof_snapshot_free(&b);
    }
}

// Two schemas of the same devices, made apart: the second's is the difference's.
static void made_apart_and_alike(void **state)
{
    netprof_snapshot a = snapshot_of(of_boot("x")), b = snapshot_of(of_boot("x"));
    netprof_delta d = NETPROF_ZERO;
    (void)state;
    a.values[0] = 5, b.values[0] = 12, a.values[1] = 50, b.values[1] = 81;
    assert_int_equal(netprof_diff(&a, &b, NULL, &d, NULL), NETPROF_OK);
    assert_ptr_equal(d.schema, b.schema);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(d.values[i], i ? 31 : 7);
        assert_int_equal(d.device_before[i], i);
        assert_int_equal(d.device_after[i], i);
    }
    netprof_delta_free(&d);
    netprof_snapshot_free(&a);
    netprof_snapshot_free(&b);
}

// ---- copies ----

static void fill(netprof_snapshot *s, uint64_t with)
{
    for (size_t i = 0; i < s->schema->counter_count; i++) {
        s->values[i] = with + 10 * i;
        s->stamps_ns[i] = (int64_t)(with + 100 * i + 1);
        s->status[i] = (uint8_t)(i % 2 ? NETPROF_STATUS_DENIED : NETPROF_STATUS_SATURATED);
        s->errnos[i] = (uint8_t)(i % 2 ? 13 + i : 0);
    }
    for (size_t i = 0; i < s->schema->device_count; i++) {
        s->device_begin_ns[i] = (int64_t)(with + 1000 * i + 2);
        s->device_end_ns[i] = (int64_t)(with + 1000 * i + 3);
    }
    s->begin_ns = (int64_t)with + 4;
    s->end_ns = (int64_t)with + 5;
    s->wall_ns = (int64_t)with + 6;
    s->stamp_error_ns = (int64_t)with + 7;
    s->set = NETPROF_SET_FAST;
    s->not_ok = (uint32_t)with + 8;
}

static void expect_equal(const netprof_snapshot *a, const netprof_snapshot *b)
{
    size_t n = b->schema->counter_count, m = b->schema->device_count;
    assert_ptr_equal(a->schema, b->schema);
    assert_memory_equal(a->values, b->values, n * sizeof *a->values);
    assert_memory_equal(a->stamps_ns, b->stamps_ns, n * sizeof *a->stamps_ns);
    assert_memory_equal(a->status, b->status, n);
    assert_memory_equal(a->errnos, b->errnos, n);
    assert_memory_equal(a->device_begin_ns, b->device_begin_ns, m * sizeof *a->device_begin_ns);
    assert_memory_equal(a->device_end_ns, b->device_end_ns, m * sizeof *a->device_end_ns);
    assert_int_equal(a->begin_ns, b->begin_ns);
    assert_int_equal(a->end_ns, b->end_ns);
    assert_int_equal(a->wall_ns, b->wall_ns);
    assert_int_equal(a->stamp_error_ns, b->stamp_error_ns);
    assert_int_equal(a->set, b->set);
    assert_int_equal(a->not_ok, b->not_ok);
}

// Into an empty one, over one of the same size, over a smaller and over a larger one; made again it is empty.
static void copies_are_whole(void **state)
{
    const struct row more[] = {{.source = "own", .device = "d", .identity = 3, .counter = "c", .width = 64},
                               {.source = "own", .device = "d", .identity = 3, .counter = "f", .width = 64},
                               {.source = "own", .device = "e", .identity = 4, .counter = "c", .width = 64}};
    const netprof_schema *small = of_boot("x"), *large = schema_of_rows(more, COUNT(more), "n", "x");
    netprof_snapshot to = NETPROF_ZERO, from[3], zero = NETPROF_ZERO;
    (void)state;
    netprof_schema_retain(small), netprof_schema_retain(large);
    from[0] = snapshot_of(small), from[1] = snapshot_of(of_boot("y")), from[2] = snapshot_of(large);
    for (size_t i = 0; i < 3; i++)
        fill(&from[i], 100000 * (i + 1));
    static const int order[] = {0, 1, 0, 2, 1, 1, 2};
    for (size_t i = 0; i < COUNT(order); i++) {
        assert_int_equal(netprof_snapshot_copy(&to, &from[order[i]], NULL), NETPROF_OK);
        expect_equal(&to, &from[order[i]]);
        assert_ptr_not_equal(to.memory, from[order[i]].memory);
    }
    for (size_t k = 0; k < 2; k++) { // of the same size, and of another
        const netprof_schema *made = k ? small : large;
        assert_int_equal(netprof_snapshot_make(&to, made, NULL), NETPROF_OK);
        assert_int_equal(netprof_snapshot_make(&zero, made, NULL), NETPROF_OK);
        expect_equal(&to, &zero);
        for (size_t i = 0; i < made->counter_count; i++)
            assert_true(!to.values[i] && !to.stamps_ns[i] && !to.status[i] && !to.errnos[i]);
        assert_true(!to.begin_ns && !to.end_ns && !to.wall_ns && !to.stamp_error_ns && !to.not_ok);
        assert_int_equal(to.set, NETPROF_SET_ALL);
        fill(&to, 7);
    }
    netprof_snapshot_free(&zero);
    netprof_snapshot_free(&to);
    assert_true(!to.schema && !to.memory && !to.values);
    for (size_t i = 0; i < 3; i++)
        netprof_snapshot_free(&from[i]);
    netprof_schema_release(small), netprof_schema_release(large);
}

// ---- names and factors of the IP stack ----

static void pages_are_bytes(void **state)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    (void)state;
    assert_true(netprof__ip_factor(&(netprof_counter){.name = "TCP_mem"}) == page); // it did not fit the scale
    assert_true(netprof__ip_factor(&(netprof_counter){.name = "TCP_mem_limit"}) == page);
    assert_true(netprof__ip_factor(&(netprof_counter){.name = "TCP_mem", .scale = 4096}) == 1);
    assert_true(netprof__ip_factor(&(netprof_counter){.name = "FRAG_memory"}) == 1);
}

static void long_names_are_cut(void **state)
{
    static const struct netprof__ip_format keyed = {"sockstat", "sockstat", netprof__next_keyed, 0},
                                           named = {"snmp6", "snmp6", netprof__next_named, 0},
                                           by_cpu = {"softnet_stat", "softnet", netprof__next_softnet, 0};
    char group[100], name[200], made[300], should[300];
    netprof__cell cell;
    (void)state;
    memset(&cell, 0, sizeof cell);
    memset(group, 'g', sizeof group);
    memset(name, 'n', sizeof name);
    cell.group = group;
    cell.name = name;
    cell.cpu = 12;
    for (int n = 126; n < 131; n++)
        for (int m = 62; m < 67; m++) {
            int cut_n = n < 128 ? n : 128, cut_m = m < 64 ? m : 64;
            cell.name_size = (size_t)n;
            cell.group_size = (size_t)m;
            netprof__ip_name(&named, &cell, made, sizeof made);
            snprintf(should, sizeof should, "%.*s", cut_n, name);
            assert_string_equal(made, should);
            netprof__ip_name(&keyed, &cell, made, sizeof made);
            snprintf(should, sizeof should, "%.*s_%.*s", cut_m, group, cut_n, name);
            assert_string_equal(made, should);
            netprof__ip_name(&by_cpu, &cell, made, sizeof made);
            snprintf(should, sizeof should, "%.*s/cpu12", cut_n, name);
            assert_string_equal(made, should);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_a_port),       cmocka_unit_test(what_was_not_asked_for),
        cmocka_unit_test(limits_of_a_pace),     cmocka_unit_test(most_that_can_be_counted),
        cmocka_unit_test(rates_of_lines),       cmocka_unit_test(clocks_that_contradict),
        cmocka_unit_test(made_apart_and_alike), cmocka_unit_test(copies_are_whole),
        cmocka_unit_test(pages_are_bytes),      cmocka_unit_test(long_names_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
