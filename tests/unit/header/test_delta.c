// Differences of counters: every flag, and values by arithmetic.
#define NETPROF_IMPLEMENTATION
#define NETPROF_STATIC
#include "netprof.h"

#include "support.h"

#define TOP(width) (UINT64_MAX >> (64 - (width)))

static netprof_flag difference(int kind, int width, unsigned scale, unsigned flags, uint64_t before, uint64_t after,
                               uint64_t *value)
{
    netprof_counter counter = {.name = "c",
                               .unit = "",
                               .scale = (uint16_t)scale,
                               .flags = (uint16_t)flags,
                               .kind = (uint8_t)kind,
                               .width = (uint8_t)width};
    return netprof_difference(&counter, before, after, value);
}

static void check(int kind, int width, unsigned scale, unsigned flags, uint64_t before, uint64_t after,
                  netprof_flag flag, uint64_t value)
{
    uint64_t got = 12345;
    netprof_flag got_flag = difference(kind, width, scale, flags, before, after, &got);
    if (got_flag != flag || got != value)
        fail_msg("width %d scale %u: %llu -> %llu is %s %llu, not %s %llu", width, scale, (unsigned long long)before,
                 (unsigned long long)after, netprof_flag_name(got_flag), (unsigned long long)got,
                 netprof_flag_name(flag), (unsigned long long)value);
}

static void grows(void **state)
{
    (void)state;
    const int widths[] = {0, 8, 16, 32, 48, 56, 64};
    for (size_t i = 0; i < COUNT(widths); i++) {
        check(NETPROF_KIND_COUNTER, widths[i], 1, 0, 10, 10, NETPROF_FLAG_OK, 0);
        check(NETPROF_KIND_COUNTER, widths[i], 1, 0, 10, 250, NETPROF_FLAG_OK, 240);
        check(NETPROF_KIND_HISTOGRAM, widths[i], 1, 0, 10, 250, NETPROF_FLAG_OK, 240);
    }
    check(NETPROF_KIND_COUNTER, 0, 1, 0, 0, UINT64_MAX, NETPROF_FLAG_OK, UINT64_MAX);
    check(NETPROF_KIND_COUNTER, 64, 1, 0, 1, UINT64_MAX, NETPROF_FLAG_OK, UINT64_MAX - 1);
}

// From 3 below 2^width to 4 past zero: 3 + 4 = 7 steps, whatever the width (of 7 bits a sixteenth is 8).
static void wraps_at_its_width(void **state)
{
    (void)state;
    for (int width = 7; width <= 64; width++) {
        uint64_t top = TOP(width);
        check(NETPROF_KIND_COUNTER, width, 1, 0, top - 2, 4, NETPROF_FLAG_WRAPPED, 7);
        check(NETPROF_KIND_HISTOGRAM, width, 1, 0, top - 2, 4, NETPROF_FLAG_WRAPPED, 7);
        check(NETPROF_KIND_COUNTER, width, 1, 0, top, 0, NETPROF_FLAG_WRAPPED, 1);
    }
}

// A drop of more than 2^(width-1) is a wrap, one of exactly that or less is a reset (the trap table's rule). Narrow
// counters may have gone round more than once, so that only a step of less than a sixteenth is a wrap; between that
// and the half nobody knows, and what is sure is what the counter shows now.
static void trap_wrap_guessing(void **state)
{
    (void)state;
    const int widths[] = {33, 48, 56, 64}, narrow[] = {8, 16, 31, 32};
    for (size_t i = 0; i < COUNT(narrow); i++) {
        uint64_t half = (uint64_t)1 << (narrow[i] - 1), top = TOP(narrow[i]), part = ((uint64_t)1 << narrow[i]) / 16;
        check(NETPROF_KIND_COUNTER, narrow[i], 1, 0, top, part - 2, NETPROF_FLAG_WRAPPED, part - 1);
        check(NETPROF_KIND_COUNTER, narrow[i], 1, 0, top - part + 2, 0, NETPROF_FLAG_WRAPPED, part - 1);
        check(NETPROF_KIND_COUNTER, narrow[i], 1, 0, top, part - 1, NETPROF_FLAG_SUSPECT, part - 1);
        check(NETPROF_KIND_COUNTER, narrow[i], 1, 0, half + 1, 0, NETPROF_FLAG_SUSPECT, 0);
        check(NETPROF_KIND_COUNTER, narrow[i], 1, 0, top, half - 2, NETPROF_FLAG_SUSPECT, half - 2);
        check(NETPROF_KIND_COUNTER, narrow[i], 1, 0, half, 0, NETPROF_FLAG_RESET, 0);
        check(NETPROF_KIND_COUNTER, narrow[i], 1, 0, top, half, NETPROF_FLAG_RESET, half);
        check(NETPROF_KIND_COUNTER, narrow[i], 1, 0, 100, 3, NETPROF_FLAG_RESET, 3);
    }
    for (size_t i = 0; i < COUNT(widths); i++) {
        uint64_t half = (uint64_t)1 << (widths[i] - 1), top = TOP(widths[i]);
        // drop = half + 1, so 2^w - half - 1 = half - 1 steps
        check(NETPROF_KIND_COUNTER, widths[i], 1, 0, half + 1, 0, NETPROF_FLAG_WRAPPED, half - 1);
        check(NETPROF_KIND_COUNTER, widths[i], 1, 0, half, 0, NETPROF_FLAG_RESET, 0);
        check(NETPROF_KIND_COUNTER, widths[i], 1, 0, top, half, NETPROF_FLAG_RESET, half);
        check(NETPROF_KIND_COUNTER, widths[i], 1, 0, top, half - 2, NETPROF_FLAG_WRAPPED, half - 1);
        check(NETPROF_KIND_COUNTER, widths[i], 1, 0, 100, 3, NETPROF_FLAG_RESET, 3);
    }
    // collectd's mistake: any decrease from below 2^32 taken for a 32-bit wrap
    check(NETPROF_KIND_COUNTER, 64, 1, 0, 4294967290u, 5, NETPROF_FLAG_RESET, 5);
    check(NETPROF_KIND_COUNTER, 56, 1, 0, 4294967290u, 5, NETPROF_FLAG_RESET, 5);
    check(NETPROF_KIND_COUNTER, 0, 1, 0, 4294967290u, 5, NETPROF_FLAG_RESET, 5);
    check(NETPROF_KIND_COUNTER, 0, 1, 0, UINT64_MAX, 5, NETPROF_FLAG_RESET, 5);
    // above its declared width: then the width is wrong, and no wrap can be told
    check(NETPROF_KIND_COUNTER, 16, 1, 0, 70000, 5, NETPROF_FLAG_RESET, 5);
}

static void trap_reset(void **state)
{
    (void)state;
    check(NETPROF_KIND_COUNTER, 64, 1, 0, 1000000, 17, NETPROF_FLAG_RESET, 17);
    check(NETPROF_KIND_COUNTER, 56, 1, 0, 1000000, 0, NETPROF_FLAG_RESET, 0);
    check(NETPROF_KIND_HISTOGRAM, 0, 1, 0, 6, 5, NETPROF_FLAG_RESET, 5);
}

// InfiniBand words: 32 raw bits, value = 4 * raw.
static void wraps_before_the_scale(void **state)
{
    (void)state;
    uint64_t top = 4 * (uint64_t)UINT32_MAX;
    check(NETPROF_KIND_COUNTER, 32, 4, 0, top - 8, 16, NETPROF_FLAG_WRAPPED, 4 * (2 + 1 + 4));
    check(NETPROF_KIND_COUNTER, 32, 4, 0, 400, 40, NETPROF_FLAG_RESET, 40);
    check(NETPROF_KIND_COUNTER, 32, 4, 0, 400, 4000, NETPROF_FLAG_OK, 3600);
    check(NETPROF_KIND_COUNTER, 16, 3, 0, 3 * 65535, 0, NETPROF_FLAG_WRAPPED, 3);
}

static void saturating_never_wraps(void **state)
{
    (void)state;
    const int widths[] = {4, 8, 16, 32, 64};
    for (size_t i = 0; i < COUNT(widths); i++) {
        uint64_t top = TOP(widths[i]);
        check(NETPROF_KIND_COUNTER, widths[i], 1, NETPROF_SATURATES, top - 1, 1, NETPROF_FLAG_RESET, 1);
        check(NETPROF_KIND_COUNTER, widths[i], 1, NETPROF_SATURATES, top, 2, NETPROF_FLAG_RESET, 2);
        check(NETPROF_KIND_COUNTER, widths[i], 1, NETPROF_SATURATES, 1, top, NETPROF_FLAG_OK, top - 1);
    }
}

static void gauges_are_never_differenced(void **state)
{
    (void)state;
    const int kinds[] = {NETPROF_KIND_GAUGE, NETPROF_KIND_STATE};
    for (size_t i = 0; i < COUNT(kinds); i++) {
        check(kinds[i], 12, 1, 0, 4090, 2, NETPROF_FLAG_GAUGE, 0);
        check(kinds[i], 12, 1, 0, 2, 4090, NETPROF_FLAG_GAUGE, 0);
        check(kinds[i], 0, 1, NETPROF_SIGNED, (uint64_t)-5, 5, NETPROF_FLAG_GAUGE, 0);
        check(kinds[i], 12, 1, NETPROF_SATURATES, 4095, 4095, NETPROF_FLAG_GAUGE, 0);
    }
}

static void signed_ones_go_both_ways(void **state)
{
    (void)state;
    check(NETPROF_KIND_COUNTER, 64, 1, NETPROF_SIGNED, 5, (uint64_t)-1024, NETPROF_FLAG_OK, (uint64_t)-1029);
    check(NETPROF_KIND_COUNTER, 64, 1, NETPROF_SIGNED, (uint64_t)-1024, 5, NETPROF_FLAG_OK, 1029);
    check(NETPROF_KIND_COUNTER, 0, 1, NETPROF_SIGNED, 7, 3, NETPROF_FLAG_OK, (uint64_t)-4);
}

// For every kind, width and pair: what the flag promises holds. The sum is modular arithmetic, done the other way.
static void flags_keep_their_promise(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int n = 0; n < 200000; n++) {
        int width = (int)random_below(&seed, 65), kind = (int)random_below(&seed, 4);
        unsigned flags = random_below(&seed, 4) ? 0 : NETPROF_SATURATES;
        uint64_t limit = width ? TOP(width) : UINT64_MAX;
        uint64_t before = random_next(&seed) & limit, after = random_next(&seed) & limit, value;
        netprof_flag flag = difference(kind, width, 1, flags, before, after, &value);
        switch (flag) {
        case NETPROF_FLAG_OK:
            assert_true(after >= before);
            assert_true(before + value == after && value <= after);
            break;
        case NETPROF_FLAG_WRAPPED:
            assert_true(width && after < before && !flags);
            assert_true(((before + value) & limit) == after);
            assert_true(value <= (width > 32 ? limit / 2 : limit / 16));
            break;
        case NETPROF_FLAG_SUSPECT: // at least what it shows, and no more than it shows if it went round once
            assert_true(width && width <= 32 && after < before && !flags);
            assert_true(value == after && value <= ((after - before) & limit));
            break;
        case NETPROF_FLAG_RESET: assert_true(after < before && value == after); break;
        default:
            assert_int_equal(flag, NETPROF_FLAG_GAUGE);
            assert_true(kind == NETPROF_KIND_GAUGE || kind == NETPROF_KIND_STATE);
            assert_true(value == 0);
        }
    }
}

/* -- whole snapshots -- */

static const struct row one_device[] = {
    {"cxi", "cxi0", "a", NETPROF_KIND_COUNTER, 56, 1, NETPROF_STAMPED, 100},
    {"cxi", "cxi0", "b", NETPROF_KIND_COUNTER, 56, 1, NETPROF_STAMPED, 100},
    {"cxi", "cxi0", "g", NETPROF_KIND_GAUGE, 12, 1, NETPROF_STAMPED, 100},
    {"rdma", "mlx5_0/1", "narrow", NETPROF_KIND_COUNTER, 16, 1, NETPROF_SATURATES, 7},
};

static size_t at(const netprof_schema *schema, const char *device, const char *counter)
{
    size_t i = netprof_find(schema, NULL, device, counter);
    assert_true(i != NETPROF_NONE);
    return i;
}

static void check_row(const netprof_delta *d, const char *device, const char *counter, netprof_flag flag,
                      uint64_t value)
{
    size_t i = at(d->schema, device, counter);
    if (d->flags[i] != flag || d->values[i] != value)
        fail_msg("%s/%s is %s %llu, not %s %llu", device, counter, netprof_flag_name((netprof_flag)d->flags[i]),
                 (unsigned long long)d->values[i], netprof_flag_name(flag), (unsigned long long)value);
}

static void equal_schemas(void **state)
{
    (void)state;
    const netprof_schema *schema = schema_of_rows(one_device, COUNT(one_device), "node1", "boot1");
    netprof_delta d = NETPROF_ZERO;
    netprof_schema_retain(schema);
    netprof_snapshot a = snapshot_of(schema), b = snapshot_of(schema);
    a.values[0] = 100, b.values[0] = 175;
    a.values[1] = TOP(56) - 9, b.values[1] = 20;
    a.values[2] = 30, b.values[2] = 10;
    a.values[3] = 65530, b.values[3] = 65535;
    b.status[3] = NETPROF_STATUS_SATURATED;
    a.wall_ns = 5000, b.wall_ns = 9000;
    a.begin_ns = 1000, a.end_ns = 1300, b.begin_ns = 4000, b.end_ns = 4900;
    assert_int_equal(netprof_diff(&a, &b, NULL, &d, NULL), NETPROF_OK);
    assert_ptr_equal(d.schema, b.schema);
    check_row(&d, "cxi0", "a", NETPROF_FLAG_OK, 75);
    check_row(&d, "cxi0", "b", NETPROF_FLAG_WRAPPED, 30);
    check_row(&d, "cxi0", "g", NETPROF_FLAG_GAUGE, 0);
    check_row(&d, "mlx5_0/1", "narrow", NETPROF_FLAG_SUSPECT, 5); // a lower bound
    assert_int_equal(d.before[2], 30);
    assert_int_equal(d.after[2], 10);
    assert_int_equal(d.wall_begin_ns, 5000);
    assert_int_equal(d.wall_end_ns, 9000);
    assert_int_equal(d.interval_ns, 3000);
    assert_int_equal(d.sweep_ns, 900);
    // saturated in both: it did not move, but nobody knows
    a.values[3] = 65535;
    a.status[3] = NETPROF_STATUS_SATURATED;
    assert_int_equal(netprof_diff(&a, &b, NULL, &d, NULL), NETPROF_OK);
    check_row(&d, "mlx5_0/1", "narrow", NETPROF_FLAG_SUSPECT, 0);
    // saturated before, cleared since
    b.values[3] = 4;
    b.status[3] = NETPROF_STATUS_OK;
    assert_int_equal(netprof_diff(&a, &b, NULL, &d, NULL), NETPROF_OK);
    check_row(&d, "mlx5_0/1", "narrow", NETPROF_FLAG_RESET, 4);
    netprof_delta_free(&d);
    netprof_delta_free(&d);
    netprof_snapshot_free(&a);
    netprof_snapshot_free(&b);
}

// The 36 gauges of a Cassini-1 NIC (4 each of these nine families) were differenced by net_prof, some negative.
static void thirty_six_gauges(void **state)
{
    (void)state;
    struct row rows[36];
    char names[36][16];
    for (size_t i = 0; i < 36; i++) {
        snprintf(names[i], sizeof names[i], "in_use_%zu", i);
        rows[i] = (struct row){"cxi", "cxi0", names[i], NETPROF_KIND_GAUGE, 12, 1, NETPROF_STAMPED, 1};
    }
    const netprof_schema *schema = schema_of_rows(rows, 36, NULL, NULL);
    netprof_delta d = NETPROF_ZERO;
    netprof_schema_retain(schema);
    netprof_snapshot a = snapshot_of(schema), b = snapshot_of(schema);
    for (size_t i = 0; i < 36; i++)
        a.values[i] = 36 - i, b.values[i] = i;
    assert_int_equal(netprof_diff(&a, &b, NULL, &d, NULL), NETPROF_OK);
    for (size_t i = 0; i < 36; i++) {
        assert_int_equal(d.flags[i], NETPROF_FLAG_GAUGE);
        assert_int_equal(d.values[i], 0);
        assert_int_equal(d.before[i], 36 - i);
        assert_int_equal(d.after[i], i);
    }
    netprof_delta_free(&d);
    netprof_snapshot_free(&a);
    netprof_snapshot_free(&b);
}

static void elapsed_is_each_counters_own(void **state)
{
    (void)state;
    const netprof_schema *schema = schema_of_rows(one_device, COUNT(one_device), NULL, NULL);
    netprof_delta d = NETPROF_ZERO;
    netprof_schema_retain(schema);
    netprof_snapshot a = snapshot_of(schema), b = snapshot_of(schema);
    a.begin_ns = 1000, a.end_ns = 5000, b.begin_ns = 101000, b.end_ns = 105000;
    a.device_begin_ns[0] = 1000, a.device_end_ns[0] = 3000;     // middle 2000
    b.device_begin_ns[0] = 101000, b.device_end_ns[0] = 105000; // middle 103000
    a.device_begin_ns[1] = 3000, a.device_end_ns[1] = 5000;     // 4000
    b.device_begin_ns[1] = 104000, b.device_end_ns[1] = 104500; // 104250
    a.stamps_ns[0] = 1700000000000000500, b.stamps_ns[0] = 1700000000000101700;
    a.stamps_ns[1] = 1700000000000000900; // the second has none
    assert_int_equal(netprof_diff(&a, &b, NULL, &d, NULL), NETPROF_OK);
    assert_int_equal(d.elapsed_ns[0], 101200);
    assert_int_equal(d.elapsed_ns[1], 101000);
    assert_int_equal(d.elapsed_ns[2], 101000);
    assert_int_equal(d.elapsed_ns[3], 100250);
    assert_int_equal(d.interval_ns, 100000);
    netprof_delta_free(&d);
    netprof_snapshot_free(&a);
    netprof_snapshot_free(&b);
}

// Times of a hostile file may be anything; the difference is what it is modulo 2^64, and no undefined behaviour.
static void hostile_times(void **state)
{
    (void)state;
    const int64_t extremes[] = {INT64_MIN, INT64_MAX, 0, -1, INT64_MIN + 1};
    const netprof_schema *schema = schema_of_rows(one_device, COUNT(one_device), NULL, NULL);
    const netprof_diff_options force = {.force = 1};
    netprof_delta d = NETPROF_ZERO;
    netprof_schema_retain(schema);
    netprof_snapshot a = snapshot_of(schema), b = snapshot_of(schema);
    for (size_t i = 0; i < COUNT(extremes); i++)
        for (size_t k = 0; k < COUNT(extremes); k++) {
            a.begin_ns = a.wall_ns = b.end_ns = a.device_begin_ns[0] = b.device_end_ns[0] = extremes[i];
            b.begin_ns = b.wall_ns = a.end_ns = a.device_end_ns[0] = b.device_begin_ns[0] = extremes[k];
            a.stamps_ns[0] = extremes[i];
            b.stamps_ns[0] = extremes[k];
            assert_int_equal(netprof_diff(&a, &b, &force, &d, NULL), NETPROF_OK);
            if (a.stamps_ns[0] && b.stamps_ns[0])
                assert_true((uint64_t)d.elapsed_ns[0] == (uint64_t)extremes[k] - (uint64_t)extremes[i]);
        }
    netprof_delta_free(&d);
    netprof_snapshot_free(&a);
    netprof_snapshot_free(&b);
}

static void unreadable_is_unknown(void **state)
{
    (void)state;
    const netprof_schema *schema = schema_of_rows(one_device, COUNT(one_device), NULL, NULL);
    netprof_delta d = NETPROF_ZERO;
    netprof_schema_retain(schema);
    netprof_snapshot a = snapshot_of(schema), b = snapshot_of(schema);
    for (int bad = NETPROF_STATUS_ABSENT; bad <= NETPROF_STATUS_UNREADABLE; bad++) {
        if (bad == NETPROF_STATUS_SATURATED) continue;
        a.values[0] = 50, a.status[0] = NETPROF_STATUS_OK;
        b.values[0] = 0, b.status[0] = (uint8_t)bad;
        a.values[1] = 0, a.status[1] = (uint8_t)bad;
        b.values[1] = 80, b.status[1] = NETPROF_STATUS_OK;
        a.status[2] = b.status[2] = (uint8_t)bad;
        assert_int_equal(netprof_diff(&a, &b, NULL, &d, NULL), NETPROF_OK);
        check_row(&d, "cxi0", "a", NETPROF_FLAG_UNKNOWN, 0);
        check_row(&d, "cxi0", "b", NETPROF_FLAG_UNKNOWN, 0);
        check_row(&d, "cxi0", "g", NETPROF_FLAG_UNKNOWN, 0);
        assert_int_equal(d.before[0], 50);
        assert_int_equal(d.after[0], 0);
        assert_int_equal(d.before_status[0], NETPROF_STATUS_OK);
        assert_int_equal(d.after_status[0], bad);
        assert_int_equal(d.after[1], 80);
        check_row(&d, "mlx5_0/1", "narrow", NETPROF_FLAG_OK, 0); // the others keep theirs
    }
    netprof_delta_free(&d);
    netprof_snapshot_free(&a);
    netprof_snapshot_free(&b);
}

// The fast set in one and everything in the other: no difference for what was asked for only once.
static void skipped_in_one(void **state)
{
    (void)state;
    const netprof_schema *schema = schema_of_rows(one_device, COUNT(one_device), NULL, NULL);
    netprof_delta d = NETPROF_ZERO;
    netprof_schema_retain(schema);
    netprof_snapshot a = snapshot_of(schema), b = snapshot_of(schema);
    a.values[0] = 5, b.values[0] = 9;
    a.status[1] = NETPROF_STATUS_SKIPPED, b.values[1] = 70;
    a.values[2] = 70, b.status[2] = NETPROF_STATUS_SKIPPED;
    a.status[3] = b.status[3] = NETPROF_STATUS_SKIPPED;
    assert_int_equal(netprof_diff(&a, &b, NULL, &d, NULL), NETPROF_OK);
    check_row(&d, "cxi0", "a", NETPROF_FLAG_OK, 4);
    check_row(&d, "cxi0", "b", NETPROF_FLAG_UNKNOWN, 0); // it is there in both: neither new nor gone
    check_row(&d, "cxi0", "g", NETPROF_FLAG_UNKNOWN, 0);
    check_row(&d, "mlx5_0/1", "narrow", NETPROF_FLAG_UNKNOWN, 0);
    assert_int_equal(d.before_status[1], NETPROF_STATUS_SKIPPED);
    assert_int_equal(d.after_status[1], NETPROF_STATUS_OK);
    assert_int_equal(d.after[1], 70);
    assert_int_equal(d.before[2], 70);
    netprof_delta_free(&d);
    netprof_snapshot_free(&a);
    netprof_snapshot_free(&b);
}

/* -- different schemas -- */

static void counters_and_devices_come_and_go(void **state)
{
    (void)state;
    static const struct row before_rows[] = {
        {"cxi", "cxi0", "a", NETPROF_KIND_COUNTER, 56, 1, 0, 1},
        {"cxi", "cxi0", "old", NETPROF_KIND_COUNTER, 56, 1, 0, 1},
        {"cxi", "cxi0", "z", NETPROF_KIND_COUNTER, 56, 1, 0, 1},
        {"cxi", "cxi1", "a", NETPROF_KIND_COUNTER, 56, 1, 0, 2},
        {"netdev", "eth0", "a", NETPROF_KIND_COUNTER, 64, 1, 0, 3},
    };
    static const struct row after_rows[] = {
        {"netdev", "eth0", "a", NETPROF_KIND_COUNTER, 64, 1, 0, 3},
        {"cxi", "cxi0", "z", NETPROF_KIND_COUNTER, 56, 1, 0, 1},
        {"cxi", "cxi0", "new", NETPROF_KIND_COUNTER, 56, 1, 0, 1},
        {"cxi", "cxi0", "a", NETPROF_KIND_COUNTER, 56, 1, 0, 1},
        {"cxi", "cxi2", "a", NETPROF_KIND_COUNTER, 56, 1, 0, 4},
    };
    // the second's order, each device's lost counters behind its own, lost devices at the end
    static const char *const order[][2] = {{"eth0", "a"},   {"cxi0", "z"}, {"cxi0", "new"}, {"cxi0", "a"},
                                           {"cxi0", "old"}, {"cxi2", "a"}, {"cxi1", "a"}};
    netprof_snapshot a = snapshot_of(schema_of_rows(before_rows, COUNT(before_rows), "n", "b"));
    netprof_snapshot b = snapshot_of(schema_of_rows(after_rows, COUNT(after_rows), "n", "b"));
    netprof_delta d = NETPROF_ZERO;
    for (size_t i = 0; i < 5; i++)
        a.values[i] = 10 * (i + 1), b.values[i] = 1000 * (i + 1);
    assert_int_equal(netprof_diff(&a, &b, NULL, &d, NULL), NETPROF_OK);
    assert_int_equal(d.schema->counter_count, COUNT(order));
    for (size_t i = 0; i < COUNT(order); i++) {
        assert_string_equal(d.schema->counters[i].name, order[i][1]);
        assert_string_equal(d.schema->devices[d.schema->counters[i].device].name, order[i][0]);
    }
    check_row(&d, "eth0", "a", NETPROF_FLAG_OK, 1000 - 50);
    check_row(&d, "cxi0", "z", NETPROF_FLAG_OK, 2000 - 30);
    check_row(&d, "cxi0", "new", NETPROF_FLAG_NEW, 0);
    check_row(&d, "cxi0", "a", NETPROF_FLAG_OK, 4000 - 10);
    check_row(&d, "cxi0", "old", NETPROF_FLAG_GONE, 0);
    check_row(&d, "cxi2", "a", NETPROF_FLAG_NEW, 0);
    check_row(&d, "cxi1", "a", NETPROF_FLAG_GONE, 0);
    assert_int_equal(d.after[at(d.schema, "cxi0", "new")], 3000);
    assert_int_equal(d.before[at(d.schema, "cxi0", "old")], 20);
    assert_int_equal(d.before[at(d.schema, "cxi1", "a")], 40);
    assert_string_equal(netprof_fact_of(d.schema->facts, d.schema->fact_count, "host"), "n");
    netprof_snapshot_free(&a);
    netprof_snapshot_free(&b);
    check_row(&d, "cxi1", "a", NETPROF_FLAG_GONE, 0); // the delta outlives them
    netprof_delta_free(&d);
}

static void same_name_in_two_sources(void **state)
{
    (void)state;
    static const struct row rows[] = {{"netdev", "eth0", "rx", NETPROF_KIND_COUNTER, 64, 1, 0, 1},
                                      {"ethtool", "eth0", "rx", NETPROF_KIND_COUNTER, 64, 1, 0, 1}};
    static const struct row swapped[] = {{"ethtool", "eth0", "rx", NETPROF_KIND_COUNTER, 64, 1, 0, 1},
                                         {"netdev", "eth0", "rx", NETPROF_KIND_COUNTER, 64, 1, 0, 1}};
    netprof_snapshot a = snapshot_of(schema_of_rows(rows, 2, NULL, NULL));
    netprof_snapshot b = snapshot_of(schema_of_rows(swapped, 2, NULL, NULL));
    netprof_delta d = NETPROF_ZERO;
    a.values[0] = 1, a.values[1] = 2;
    b.values[0] = 200, b.values[1] = 100;
    assert_int_equal(netprof_diff(&a, &b, NULL, &d, NULL), NETPROF_OK);
    assert_int_equal(d.values[netprof_find(d.schema, "netdev", "eth0", "rx")], 99);
    assert_int_equal(d.values[netprof_find(d.schema, "ethtool", "eth0", "rx")], 198);
    netprof_delta_free(&d);
    netprof_snapshot_free(&a);
    netprof_snapshot_free(&b);
}

// Devices of one name in one source (a careless source of one's own, a hostile file): no overflow, and every value of
// the second snapshot has its row.
static void repeated_device_names(void **state)
{
    (void)state;
    static const struct row before_rows[] = {{"s", "d", "x", NETPROF_KIND_COUNTER, 64, 1, 0, 1},
                                             {"s", "d", "y", NETPROF_KIND_COUNTER, 64, 1, 0, 1},
                                             {"s", "d", "z", NETPROF_KIND_COUNTER, 64, 1, 0, 1}};
    netprof_snapshot a = snapshot_of(schema_of_rows(before_rows, 3, NULL, NULL)), b;
    netprof_list *list = netprof_build_begin(NULL);
    const netprof_schema *schema;
    netprof_delta d = NETPROF_ZERO;
    netprof_build_source(list, "s");
    for (int i = 0; i < 200; i++) {
        netprof_list_device(list, "d", 1, 0);
        netprof_list_counter(list, &(netprof_counter){.name = "a", .unit = ""});
    }
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    b = snapshot_of(schema);
    assert_int_equal(netprof_diff(&a, &b, NULL, &d, NULL), NETPROF_OK);
    assert_int_equal(d.schema->device_count, 200);
    assert_int_equal(d.flags[0], NETPROF_FLAG_NEW);
    assert_int_equal(d.flags[1], NETPROF_FLAG_GONE);
    assert_int_equal(netprof_diff(&b, &a, NULL, &d, NULL), NETPROF_OK);
    netprof_delta_free(&d);
    netprof_snapshot_free(&a);
    netprof_snapshot_free(&b);
}

static void recreated_device_is_a_reset(void **state)
{
    (void)state;
    struct row rows[] = {{"cxi", "cxi0", "a", NETPROF_KIND_COUNTER, 56, 1, 0, 11},
                         {"cxi", "cxi0", "g", NETPROF_KIND_GAUGE, 12, 1, 0, 11},
                         {"cxi", "cxi1", "a", NETPROF_KIND_COUNTER, 56, 1, 0, 12}};
    netprof_snapshot a = snapshot_of(schema_of_rows(rows, 3, NULL, NULL)), b;
    netprof_delta d = NETPROF_ZERO;
    rows[0].identity = rows[1].identity = 13;
    b = snapshot_of(schema_of_rows(rows, 3, NULL, NULL));
    a.values[0] = 10, b.values[0] = 500; // larger than before, and yet it began at 0
    a.values[1] = 3, b.values[1] = 4;
    a.values[2] = 10, b.values[2] = 500;
    assert_int_equal(netprof_diff(&a, &b, NULL, &d, NULL), NETPROF_OK);
    assert_int_equal(d.schema->counter_count, 3);
    check_row(&d, "cxi0", "a", NETPROF_FLAG_RESET, 500);
    check_row(&d, "cxi0", "g", NETPROF_FLAG_GAUGE, 0);
    check_row(&d, "cxi1", "a", NETPROF_FLAG_OK, 490);
    netprof_snapshot_free(&b);
    // an identity that is unknown on one side says nothing
    rows[0].identity = rows[1].identity = 0;
    b = snapshot_of(schema_of_rows(rows, 3, NULL, NULL));
    b.values[0] = 500;
    assert_int_equal(netprof_diff(&a, &b, NULL, &d, NULL), NETPROF_OK);
    check_row(&d, "cxi0", "a", NETPROF_FLAG_OK, 490);
    netprof_delta_free(&d);
    netprof_snapshot_free(&a);
    netprof_snapshot_free(&b);
}

static void trap_stale_baseline_after_reboot(void **state)
{
    (void)state;
    netprof_diff_options force = {.force = 1}, garbage = {.end_zero = 9};
    netprof_snapshot a = snapshot_of(schema_of_rows(one_device, 4, "node1", "boot-a"));
    netprof_snapshot rebooted = snapshot_of(schema_of_rows(one_device, 4, "node1", "boot-b"));
    netprof_snapshot elsewhere = snapshot_of(schema_of_rows(one_device, 4, "node2", "boot-a"));
    netprof_snapshot nobody = snapshot_of(schema_of_rows(one_device, 4, NULL, NULL));
    netprof_delta d = NETPROF_ZERO;
    netprof_error error;
    assert_int_equal(netprof_diff(&a, &rebooted, NULL, &d, &error), NETPROF_ERR_MISMATCH);
    assert_int_equal(error.code, NETPROF_ERR_MISMATCH);
    assert_non_null(strstr(error.text, "boot_id"));
    assert_non_null(strstr(error.text, "boot-b"));
    assert_null(d.schema);
    assert_int_equal(netprof_diff(&a, &elsewhere, NULL, &d, &error), NETPROF_ERR_MISMATCH);
    assert_non_null(strstr(error.text, "node2"));
    // forced: the monotonic clocks have nothing in common, the wall clock has
    a.values[0] = 100, rebooted.values[0] = 7;
    a.begin_ns = 900000, a.end_ns = 900500, a.wall_ns = 5000000;
    a.device_begin_ns[0] = 900100, a.device_end_ns[0] = 900300;
    rebooted.begin_ns = 2000, rebooted.end_ns = 2400, rebooted.wall_ns = 65000000;
    rebooted.device_begin_ns[0] = 2000, rebooted.device_end_ns[0] = 2100;
    assert_int_equal(netprof_diff(&a, &rebooted, &force, &d, NULL), NETPROF_OK);
    check_row(&d, "cxi0", "a", NETPROF_FLAG_RESET, 7);
    assert_int_equal(d.interval_ns, 60000000);
    assert_int_equal(d.elapsed_ns[0], 60000000 - 200 + 50); // middles: 200 and 50 behind the starts
    assert_int_equal(netprof_diff(&a, &nobody, NULL, &d, NULL), NETPROF_OK);
    assert_int_equal(netprof_diff(&a, &a, &garbage, &d, &error), NETPROF_ERR_ARG);
    assert_int_equal(netprof_diff(NULL, &a, NULL, &d, &error), NETPROF_ERR_ARG);
    assert_int_equal(netprof_diff(&a, &a, NULL, NULL, &error), NETPROF_ERR_ARG);
    netprof_delta_free(&d);
    netprof_snapshot_free(&a);
    netprof_snapshot_free(&rebooted);
    netprof_snapshot_free(&elsewhere);
    netprof_snapshot_free(&nobody);
}

// Taken in the other order: by the monotonic clock where it is one, by the wall clock where there is no other.
static void backwards_is_refused(void **state)
{
    (void)state;
    const netprof_diff_options force = {.force = 1};
    const struct {
        const char *boot_a, *boot_b;
        int64_t mono_a, mono_b, wall_a, wall_b; // s
        netprof_err expected;
        int64_t interval; // s, forced
    } cases[] = {
        {"x", "x", 100, 107, 5000, 5007, NETPROF_OK, 7},
        {"x", "x", 107, 100, 5007, 5000, NETPROF_ERR_MISMATCH, -7},
        {"x", "x", 100, 107, 5000, 1007, NETPROF_OK, 7}, // the wall clock was set back meanwhile
        {"x", "x", 107, 100, 5000, 5000, NETPROF_ERR_MISMATCH, -7},
        {"x", "x", 100, 100, 5000, 5000, NETPROF_OK, 0},              // the same twice
        {NULL, NULL, 107, 100, 5007, 5000, NETPROF_ERR_MISMATCH, -7}, // no boot ids: both clocks say so
        {NULL, NULL, 107, 100, 5000, 5000, NETPROF_ERR_MISMATCH, -7}, // the other says nothing
        {NULL, NULL, 107, 100, 5000, 5060, NETPROF_OK, 60},           // they contradict: it may have been rebooted
        {"x", NULL, 107, 100, 5000, 5060, NETPROF_OK, 60},            // one boot id alone tells nothing
        {NULL, "x", 107, 100, 5000, 5060, NETPROF_OK, 60},
        {NULL, NULL, 0, 0, 5007, 5000, NETPROF_ERR_MISMATCH, -7}, // net_prof's files have no other clock
        {NULL, NULL, 0, 0, 5000, 5007, NETPROF_OK, 7},
        {NULL, NULL, 0, 0, 5000, 0, NETPROF_OK, -5000}, // no time at all in one of them
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        netprof_snapshot a = snapshot_of(schema_of_rows(one_device, 4, "n", cases[i].boot_a));
        netprof_snapshot b = snapshot_of(schema_of_rows(one_device, 4, "n", cases[i].boot_b));
        netprof_delta d = NETPROF_ZERO;
        netprof_error error;
        a.begin_ns = cases[i].mono_a * 1000000000, b.begin_ns = cases[i].mono_b * 1000000000;
        a.wall_ns = cases[i].wall_a * 1000000000, b.wall_ns = cases[i].wall_b * 1000000000;
        assert_int_equal(netprof_diff(&a, &b, NULL, &d, &error), cases[i].expected);
        if (cases[i].expected)
            assert_non_null(
                strstr(error.text, "given in the wrong order: the second was read 7.000 s before the first"));
        if (cases[i].expected) assert_null(d.schema);
        assert_int_equal(netprof_diff(&a, &b, &force, &d, NULL), NETPROF_OK);
        assert_int_equal(d.interval_ns, cases[i].interval * 1000000000);
        netprof_delta_free(&d);
        netprof_snapshot_free(&a);
        netprof_snapshot_free(&b);
    }
}

// Between two readings 7 s apart the wall clock is set by an hour: the stamps follow it, the elapsed time does not.
static void elapsed_does_not_follow_a_clock_step(void **state)
{
    (void)state;
    const int64_t s = 1000000000, steps[] = {0, 3600, -3600, -7};
    for (size_t i = 0; i < COUNT(steps); i++) {
        netprof_snapshot a = snapshot_of(schema_of_rows(one_device, 4, "n", "x"));
        netprof_snapshot b = snapshot_of(schema_of_rows(one_device, 4, "n", "x"));
        netprof_delta d = NETPROF_ZERO;
        a.begin_ns = 100 * s, b.begin_ns = 107 * s;
        a.wall_ns = 50000 * s, b.wall_ns = (50007 + steps[i]) * s;
        a.stamps_ns[0] = a.wall_ns + 1000, b.stamps_ns[0] = b.wall_ns + 4000;
        assert_int_equal(netprof_diff(&a, &b, NULL, &d, NULL), NETPROF_OK);
        assert_int_equal(d.elapsed_ns[0], 7 * s + 3000);
        assert_int_equal(d.interval_ns, 7 * s);
        assert_int_equal(d.wall_end_ns - d.wall_begin_ns, (7 + steps[i]) * s);
        netprof_delta_free(&d);
        netprof_snapshot_free(&a);
        netprof_snapshot_free(&b);
    }
}

// A value that was not refreshed keeps its stamp: no time has passed for it, whatever the clock did and a file left off.
static void an_old_stamp_has_no_elapsed_time(void **state)
{
    static const struct {
        int64_t apart_ns, error_ns, step_ns, elapsed_ns;
    } rows[] = {{0, 0, 0, 0},        {0, 0, -248, 0},       {0, 0, 3600000000000, 0}, {1999, 1000, 0, 0},
                {-2000, 1000, 0, 0}, {2001, 1000, 0, 2001}, {1000, 0, 0, 1000},       {-1000, 0, 0, -1000}};
    (void)state;
    const int64_t s = 1000000000;
    for (size_t i = 0; i < COUNT(rows); i++) {
        netprof_snapshot a = snapshot_of(schema_of_rows(one_device, 4, "n", "x"));
        netprof_snapshot b = snapshot_of(schema_of_rows(one_device, 4, "n", "x"));
        netprof_delta d = NETPROF_ZERO;
        a.begin_ns = 100 * s, b.begin_ns = 101 * s;
        a.wall_ns = 50000 * s, b.wall_ns = 50001 * s + rows[i].step_ns;
        a.stamp_error_ns = b.stamp_error_ns = rows[i].error_ns;
        a.stamps_ns[0] = 49999 * s, b.stamps_ns[0] = 49999 * s + rows[i].apart_ns;
        assert_int_equal(netprof_diff(&a, &b, NULL, &d, NULL), NETPROF_OK);
        assert_int_equal(d.elapsed_ns[0], rows[i].elapsed_ns);
        netprof_delta_free(&d);
        netprof_snapshot_free(&a);
        netprof_snapshot_free(&b);
    }
}

// Where one reading does not know the wall clock's time, nothing is known of a step either.
static void no_step_of_an_unknown_clock(void **state)
{
    (void)state;
    const int64_t s = 1000000000;
    for (int unknown = 0; unknown < 3; unknown++) {
        netprof_snapshot a = snapshot_of(schema_of_rows(one_device, 4, "n", "x"));
        netprof_snapshot b = snapshot_of(schema_of_rows(one_device, 4, "n", "x"));
        netprof_delta d = NETPROF_ZERO;
        a.begin_ns = 100 * s, b.begin_ns = 107 * s;
        a.wall_ns = unknown == 1 ? 0 : 50000 * s, b.wall_ns = unknown == 2 ? 0 : 50007 * s;
        a.stamps_ns[0] = 50000 * s, b.stamps_ns[0] = 50006 * s;
        assert_int_equal(netprof_diff(&a, &b, NULL, &d, NULL), NETPROF_OK);
        assert_int_equal(d.elapsed_ns[0], 6 * s);
        netprof_delta_free(&d);
        netprof_snapshot_free(&a);
        netprof_snapshot_free(&b);
    }
}

static void a_copy_needs_both(void **state)
{
    netprof_snapshot s = snapshot_of(schema_of_rows(one_device, 4, "n", "x")), none = NETPROF_ZERO;
    netprof_error error;
    (void)state;
    assert_int_equal(netprof_snapshot_copy(NULL, &s, &error), NETPROF_ERR_ARG);
    assert_int_equal(netprof_snapshot_copy(&none, NULL, &error), NETPROF_ERR_ARG);
    assert_string_equal(error.text, "no snapshot");
    netprof_snapshot_free(&s);
    assert_int_equal(netprof_snapshot_copy(&none, &s, NULL), NETPROF_ERR_ARG); // s holds nothing any more
    netprof_snapshot_free(&none);
}

typedef struct port {
    const char *unit, *fact, *value;
    unsigned flags, scale;
} port;

// What becomes of a counter of 32 bits of such a device that went from `before` to `after` in so many ms.
static void check_port(port p, int64_t ms, uint64_t before, uint64_t after, netprof_flag flag, uint64_t value)
{
    netprof_list *list = netprof_build_begin(NULL);
    const netprof_schema *schema;
    netprof_delta d = NETPROF_ZERO;
    netprof_build_source(list, "own");
    netprof_list_device(list, "port0", 1, p.flags);
    if (p.fact) netprof_list_fact(list, p.fact, p.value);
    netprof_list_counter(list,
                         &(netprof_counter){.name = "c", .unit = p.unit, .width = 32, .scale = (uint16_t)p.scale});
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    netprof_schema_retain(schema);
    netprof_snapshot a = snapshot_of(schema), b = snapshot_of(schema);
    a.values[0] = before, b.values[0] = after;
    a.begin_ns = a.device_begin_ns[0] = a.device_end_ns[0] = 1000000000;
    b.begin_ns = b.device_begin_ns[0] = b.device_end_ns[0] = 1000000000 + ms * 1000000;
    assert_int_equal(netprof_diff(&a, &b, NULL, &d, NULL), NETPROF_OK);
    check_row(&d, "port0", "c", flag, value);
    netprof_delta_free(&d);
    netprof_snapshot_free(&a);
    netprof_snapshot_free(&b);
}

// 2^32 bytes take 34.4 s at 1 Gb/s (125e6 bytes/s), 3.4 s at 10 Gb/s.
static void narrow_counters_are_bound_by_the_line_rate(void **state)
{
    (void)state;
    const uint64_t all = (uint64_t)1 << 32;
    const port gigabit = {"bytes", "speed_mbps", "1000", NETPROF_DEVICE_PHYSICAL, 1};
    const port ten = {"bytes", "speed_mbps", "10000", NETPROF_DEVICE_PHYSICAL, 1};
    const port infiniband = {"bytes", "rate", "2.5 Gb/sec (1X SDR)", NETPROF_DEVICE_PHYSICAL, 4};
    const port packets = {"packets", "speed_mbps", "1000", NETPROF_DEVICE_PHYSICAL, 1};
    const port unknown = {"bytes", "speed_mbps", "-1", NETPROF_DEVICE_PHYSICAL, 1};
    const port none = {"bytes", NULL, NULL, NETPROF_DEVICE_PHYSICAL, 1};
    const port veth = {"bytes", "speed_mbps", "10000", NETPROF_DEVICE_VIRTUAL, 1};
    const port errors = {"errors", "speed_mbps", "10000", NETPROF_DEVICE_PHYSICAL, 1};
    // 10 s at 1 Gb/s: 1.25e9 bytes at most. A step of 1e9 is possible, though far from a sixteenth (2.7e8).
    check_port(gigabit, 10000, all - 500000000, 500000000, NETPROF_FLAG_WRAPPED, 1000000000);
    // 2e9 is not (1.25e9, a second's worth for late figures, an eighth more: 1.55e9): it started again.
    check_port(gigabit, 10000, all - 1000000000, 1000000000, NETPROF_FLAG_RESET, 1000000000);
    check_port(gigabit, 10000, 500000000, 100000000, NETPROF_FLAG_RESET, 100000000);
    // 10 s at 10 Gb/s may be three turns: nothing is sure but what it shows.
    check_port(ten, 10000, all - 500, 700, NETPROF_FLAG_SUSPECT, 700);
    check_port(ten, 10000, 500, 1700, NETPROF_FLAG_SUSPECT, 1200);
    check_port(ten, 10000, 500, 500, NETPROF_FLAG_OK, 0);
    check_port(ten, 3000, 500, 1700, NETPROF_FLAG_OK, 1200); // 3.75e9 at most: not one turn
    check_port(ten, 3000, all - 500, 700, NETPROF_FLAG_WRAPPED, 1200);
    // Words of 4 bytes: 2^34 bytes a turn, 55 s at 2.5 Gb/s; 40 s are 12.5e9 bytes, of which 4e9 are possible.
    check_port(infiniband, 40000, 4 * (all - 500000000), 4 * UINT64_C(500000000), NETPROF_FLAG_WRAPPED, 4000000000);
    check_port(infiniband, 60000, 400, 4400, NETPROF_FLAG_SUSPECT, 4000);
    // The smallest packets: 5e6 a second at 1 Gb/s, so that 10 s are no turn and 1000 s are one.
    check_port(packets, 10000, 10, 1000, NETPROF_FLAG_OK, 990);
    check_port(packets, 10000, all - 20000000, 20000000, NETPROF_FLAG_WRAPPED, 40000000);
    check_port(packets, 10000, all - 100000000, 100000000, NETPROF_FLAG_RESET, 100000000);
    check_port(packets, 1000000, 10, 1000, NETPROF_FLAG_SUSPECT, 990);
    // No line rate: a sixteenth. What a virtual device says of its speed is none.
    const port unbound[] = {unknown, none, veth, errors};
    for (size_t i = 0; i < COUNT(unbound); i++) {
        check_port(unbound[i], 10000, all - 500000000, 500000000, NETPROF_FLAG_SUSPECT, 500000000);
        check_port(unbound[i], 10000, all - 500, 700, NETPROF_FLAG_WRAPPED, 1200);
        check_port(unbound[i], 10000, 10, 1000, NETPROF_FLAG_OK, 990);
    }
    check_port(gigabit, 0, all - 500, 700, NETPROF_FLAG_WRAPPED, 1200); // no time known
    check_port(gigabit, 0, all - 500000000, 500000000, NETPROF_FLAG_SUSPECT, 500000000);
}

// What the second snapshot says of each source, else the first; each source once, with the devices of both.
static void joined_schemas_keep_the_sources_states(void **state)
{
    (void)state;
    const netprof_schema *schema;
    netprof_list *list = netprof_build_begin(NULL);
    netprof_delta d = NETPROF_ZERO;
    netprof_build_source(list, "cxi");
    netprof_list_device(list, "cxi0", 1, 0);
    netprof_list_counter(list, &(netprof_counter){.name = "a", .unit = ""});
    netprof_build_source(list, "rdma");
    netprof_list_state(list, NETPROF_STATUS_DENIED, 13, "/sys/class/infiniband");
    netprof_build_source(list, "old");
    netprof_list_state(list, NETPROF_STATUS_UNREADABLE, 5, "/old");
    netprof_list_device(list, "old0", 1, 0);
    netprof_list_counter(list, &(netprof_counter){.name = "a", .unit = ""});
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    netprof_snapshot a = snapshot_of(schema);
    list = netprof_build_begin(NULL);
    netprof_build_source(list, "cxi");
    netprof_list_device(list, "cxi1", 1, 0);
    netprof_list_counter(list, &(netprof_counter){.name = "a", .unit = ""});
    netprof_build_source(list, "rdma");
    netprof_list_state(list, NETPROF_STATUS_ABSENT, 2, "/sys/class/infiniband");
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    netprof_snapshot b = snapshot_of(schema);
    assert_int_equal(netprof_diff(&a, &b, NULL, &d, NULL), NETPROF_OK);
    const netprof_source_state *sources = d.schema->sources;
    assert_int_equal(d.schema->source_count, 3);
    assert_string_equal(sources[0].name, "cxi");
    assert_int_equal(sources[0].status, NETPROF_STATUS_OK);
    assert_int_equal(sources[0].device_count, 2);
    assert_string_equal(sources[1].name, "rdma");
    assert_int_equal(sources[1].status, NETPROF_STATUS_ABSENT);
    assert_int_equal(sources[1].sys_errno, 2);
    assert_string_equal(sources[1].path, "/sys/class/infiniband");
    assert_string_equal(sources[2].name, "old");
    assert_int_equal(sources[2].status, NETPROF_STATUS_UNREADABLE);
    assert_int_equal(sources[2].sys_errno, 5);
    assert_int_equal(sources[2].device_count, 1);
    check_row(&d, "cxi0", "a", NETPROF_FLAG_GONE, 0);
    check_row(&d, "cxi1", "a", NETPROF_FLAG_NEW, 0);
    check_row(&d, "old0", "a", NETPROF_FLAG_GONE, 0);
    netprof_delta_free(&d);
    netprof_snapshot_free(&a);
    netprof_snapshot_free(&b);
}

static void nothing_at_all(void **state)
{
    (void)state;
    netprof_snapshot a = snapshot_of(schema_of_rows(NULL, 0, NULL, NULL));
    netprof_snapshot b = snapshot_of(schema_of_rows(one_device, 4, NULL, NULL));
    netprof_delta d = NETPROF_ZERO;
    assert_int_equal(netprof_diff(&a, &a, NULL, &d, NULL), NETPROF_OK);
    assert_int_equal(d.schema->counter_count, 0);
    assert_int_equal(netprof_diff(&a, &b, NULL, &d, NULL), NETPROF_OK);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(d.flags[i], NETPROF_FLAG_NEW);
    assert_int_equal(netprof_diff(&b, &a, NULL, &d, NULL), NETPROF_OK);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(d.flags[i], NETPROF_FLAG_GONE);
    netprof_delta_free(&d);
    netprof_snapshot_free(&a);
    netprof_snapshot_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows),
        cmocka_unit_test(wraps_at_its_width),
        cmocka_unit_test(trap_wrap_guessing),
        cmocka_unit_test(trap_reset),
        cmocka_unit_test(wraps_before_the_scale),
        cmocka_unit_test(saturating_never_wraps),
        cmocka_unit_test(gauges_are_never_differenced),
        cmocka_unit_test(signed_ones_go_both_ways),
        cmocka_unit_test(flags_keep_their_promise),
        cmocka_unit_test(equal_schemas),
        cmocka_unit_test(thirty_six_gauges),
        cmocka_unit_test(elapsed_is_each_counters_own),
        cmocka_unit_test(hostile_times),
        cmocka_unit_test(unreadable_is_unknown),
        cmocka_unit_test(skipped_in_one),
        cmocka_unit_test(counters_and_devices_come_and_go),
        cmocka_unit_test(same_name_in_two_sources),
        cmocka_unit_test(repeated_device_names),
        cmocka_unit_test(recreated_device_is_a_reset),
        cmocka_unit_test(trap_stale_baseline_after_reboot),
        cmocka_unit_test(backwards_is_refused),
        cmocka_unit_test(elapsed_does_not_follow_a_clock_step),
        cmocka_unit_test(an_old_stamp_has_no_elapsed_time),
        cmocka_unit_test(no_step_of_an_unknown_clock),
        cmocka_unit_test(a_copy_needs_both),
        cmocka_unit_test(narrow_counters_are_bound_by_the_line_rate),
        cmocka_unit_test(joined_schemas_keep_the_sources_states),
        cmocka_unit_test(nothing_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
