// Series of devices of every kind: whose bytes count, what is an event, where time is unknown, and runs that are moved
// onto one axis. Expected values are arithmetic on readings made here.
#define _GNU_SOURCE
#include "netprof.h"

#include "analysis/data/series.h"
#include "analysis/data/snapshot_subset.h"
#include "support.h"

#include <math.h>

#define SECOND INT64_C(1000000000)
static const int64_t epoch = INT64_C(1700000000) * SECOND;

enum { COUNTERS_MOST = 6 };

typedef struct part {
    const char *source, *device;
    unsigned flags;
    const char *fact, *value;
    const char *counters[COUNTERS_MOST];
} part;

static const netprof_schema *schema_of(const part *parts, size_t count, const char *host)
{
    netprof_list *list = netprof_build_begin(NULL);
    const netprof_schema *schema = NULL;
    if (host) netprof_build_fact(list, "host", host);
    for (size_t i = 0; i < count; i++) {
        const part *p = &parts[i];
        if (!i || strcmp(p->source, p[-1].source) != 0) netprof_build_source(list, p->source);
        netprof_list_device(list, p->device, 0, p->flags);
        if (p->fact) netprof_list_fact(list, p->fact, p->value);
        for (size_t k = 0; k < COUNTERS_MOST && p->counters[k]; k++) {
            netprof_counter c = {.name = p->counters[k], .unit = "its own", .width = 64};
            if (strncmp(c.name, "gauge:", 6) == 0) c.name += 6, c.kind = NETPROF_KIND_GAUGE;
            netprof_list_counter(list, &c);
        }
    }
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    return schema;
}

// A file at hand.
typedef struct feed {
    series *s;
    netprof_snapshot x;
    dataset_run run;
    size_t index;
    int64_t offset, sweep_ns; // of the wall clock; how long a reading takes
} feed;

static feed feed_begin(series *s, const part *parts, size_t count, const char *host)
{
    static char path[] = "b.netprof";
    return (feed){.s = s,
                  .x = snapshot_of(schema_of(parts, count, host)),
                  .run = {.path = path},
                  .offset = epoch,
                  .sweep_ns = 2000000};
}

static size_t place(const feed *f, const char *source, const char *device, const char *counter)
{
    size_t i = netprof_find(f->x.schema, source, device, counter);
    assert_true(i != NETPROF_NONE);
    return i;
}

static void add(feed *f, const char *source, const char *device, const char *counter, uint64_t amount)
{
    f->x.values[place(f, source, device, counter)] += amount;
}

static void set_status(feed *f, const char *source, const char *device, const char *counter, netprof_status status)
{
    f->x.status[place(f, source, device, counter)] = (uint8_t)status;
}

static void at(feed *f, double seconds)
{
    int64_t ns = (int64_t)llround(seconds * 1e9);
    f->x.begin_ns = SECOND * 1000 + ns;
    f->x.end_ns = f->x.begin_ns + f->sweep_ns;
    f->x.wall_ns = f->offset + ns;
    for (size_t d = 0; d < f->x.schema->device_count; d++)
        f->x.device_begin_ns[d] = f->x.device_end_ns[d] = f->x.begin_ns;
    assert_int_equal(series_take(f->s, &f->run, f->index++, &f->x), NETPROF_OK);
}

static void feed_end(feed *f)
{
    netprof_snapshot_free(&f->x);
}

static const series_device *device(const series *s, const char *source, const char *name)
{
    for (size_t i = 0; i < s->device_count; i++)
        if (strcmp(s->devices[i].name, name) == 0 && strcmp(s->devices[i].source, source) == 0) return &s->devices[i];
    fail_msg("no device %s of %s", name, source);
    return NULL;
}

// Times are seconds since 1970 in a double on the way: a microsecond is what they keep for sure.
static void expect_close(double value, double expected)
{
    if (!(fabs(value - expected) <= 2e-6 * fmax(1, fabs(expected)))) fail_msg("%.12g is not %.12g", value, expected);
}

// The names of the chosen devices, in their order.
static void expect_chosen(const series *s, const char *expected)
{
    char text[256] = "";
    for (size_t i = 0; i < s->device_count; i++)
        if (s->devices[i].chosen)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s/%s ", s->devices[i].source,
                     s->devices[i].name);
    assert_string_equal(text, expected);
}

#define PORT    NETPROF_DEVICE_PHYSICAL
#define VIRTUAL NETPROF_DEVICE_VIRTUAL
#define BYTES                                                                                                          \
    {                                                                                                                  \
        "rx_bytes", "tx_bytes"                                                                                         \
    }

// ---- whose bytes count ----

static const part machine[] = {
    {"cxi", "cxi0", PORT, "netdev", "hsn0", {"hni_sts_rx_ok_octets", "hni_sts_tx_ok_octets"}},
    {"netdev", "hsn0", PORT, NULL, NULL, BYTES},
    {"netdev", "eth0", PORT, "netdev", "eth1", BYTES}, // a name in a fact repeats nothing unless a NIC of cxi says so
    {"netdev", "eth1", PORT, NULL, NULL, BYTES},
    {"netdev", "lo", VIRTUAL, NULL, NULL, BYTES},
    {"ethtool", "eth0", PORT, NULL, NULL, {"eth-mac/OctetsReceivedOK", "eth-mac/OctetsTransmittedOK"}},
    {"ethtool", "hsn0", PORT, NULL, NULL, {"eth-mac/OctetsReceivedOK"}},
    {"ethtool", "eth7", PORT, NULL, NULL, {"eth-mac/OctetsReceivedOK"}},
    {"rdma", "mlx5_0/1", PORT, "netdev", "eth0", {"port_rcv_data", "port_xmit_data"}},
    {"rdma", "eth0", PORT, NULL, NULL, {"port_rcv_data", "port_xmit_data"}},
};

// The interface of a NIC of cxi, and what the driver tells of an interface that is listed: nothing else is counted twice.
static void which_devices_repeat_others(void **state)
{
    static const bool repeats[COUNT(machine)] = {false, true, false, false, false, true, true, false, false, false};
    const netprof_schema *schema = schema_of(machine, COUNT(machine), NULL);
    (void)state;
    for (size_t i = 0; i < COUNT(machine); i++)
        if (series_repeats(schema, &schema->devices[i]) != repeats[i])
            fail_msg("%s of %s", machine[i].device, machine[i].source);
    netprof_schema_release(schema);
}

// A machine of three devices; `readable`: which of them have bytes that can be read.
static void expect_choice(const char *readable, const char *expected, size_t unknown)
{
    static const part parts[] = {{"netdev", "eth0", PORT, NULL, NULL, BYTES},
                                 {"netdev", "eth1", PORT, NULL, NULL, BYTES},
                                 {"netdev", "lo", VIRTUAL, NULL, NULL, BYTES}};
    series s = {0};
    feed f = feed_begin(&s, parts, COUNT(parts), "h");
    for (size_t i = 0; i < COUNT(parts); i++) {
        char way = readable[i]; // r: received, s: sent, b: both, n: neither
        if (way != 'r' && way != 'b') set_status(&f, "netdev", parts[i].device, "rx_bytes", NETPROF_STATUS_DENIED);
        if (way != 's' && way != 'b') set_status(&f, "netdev", parts[i].device, "tx_bytes", NETPROF_STATUS_DENIED);
    }
    for (int k = 0; k < 4; k++) {
        at(&f, k);
        for (size_t i = 0; i < COUNT(parts); i++) {
            add(&f, "netdev", parts[i].device, "rx_bytes", 10);
            add(&f, "netdev", parts[i].device, "tx_bytes", 20);
        }
    }
    feed_end(&f);
    series_finish(&s);
    expect_chosen(&s, expected);
    assert_int_equal(s.runs[0].unknown, unknown);
    series_free(&s);
}

// Ports of which a rate is known either way; where no port has one, what has none. Three steps each.
static void ports_count_if_they_carry_data(void **state)
{
    (void)state;
    expect_choice("bbb", "netdev/eth0 netdev/eth1 ", 0);
    expect_choice("bnb", "netdev/eth0 ", 0);
    expect_choice("nbb", "netdev/eth1 ", 0);
    expect_choice("rnb", "netdev/eth0 ", 3); // a way that is not known, in each step
    expect_choice("nsb", "netdev/eth1 ", 3);
    expect_choice("rsb", "netdev/eth0 netdev/eth1 ", 6);
    expect_choice("nnb", "netdev/lo ", 0);
    expect_choice("nns", "netdev/lo ", 3);
    expect_choice("nnn", "", 0);
}

// Each run chooses for itself: one host's ports say nothing about another's.
static void each_run_chooses_for_itself(void **state)
{
    static const part with_port[] = {{"netdev", "eth0", PORT, NULL, NULL, BYTES},
                                     {"netdev", "lo", VIRTUAL, NULL, NULL, BYTES}};
    static const part without[] = {{"netdev", "lo", VIRTUAL, NULL, NULL, BYTES},
                                   {"netdev", "tap0", VIRTUAL, NULL, NULL, BYTES}};
    series s = {0};
    (void)state;
    for (int host = 0; host < 3; host++) {
        feed f = feed_begin(&s, host == 1 ? without : with_port, 2, host == 1 ? "b" : "a");
        for (int k = 0; k <= host + 1; k++) {
            add(&f, "netdev", "lo", "rx_bytes", 5);
            at(&f, 2 * k + host);
        }
        feed_end(&f);
    }
    series_finish(&s);
    expect_chosen(&s, "netdev/eth0 netdev/lo netdev/tap0 netdev/eth0 ");
    assert_int_equal(s.run_count, 3);
    assert_int_equal(s.device_count, 6);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(s.runs[i].first_device, 2 * i);
        assert_int_equal(s.runs[i].device_count, 2);
        assert_int_equal(s.runs[i].time_count, i + 2);
        expect_close(s.runs[i].begin_s, (double)i);
        expect_close(s.runs[i].end_s, 3.0 * (double)i + 2);
        expect_close(s.runs[i].interval_s, 2);
        assert_string_equal(s.runs[i].host, i == 1 ? "b" : "a");
        for (size_t k = 0; k < 2; k++)
            assert_int_equal(s.devices[2 * i + k].run, i);
        assert_int_equal(s.devices[2 * i].count, i + 1);
    }
    expect_close(s.end_s, 8);
    assert_true(s.devices[0].physical && !s.devices[1].physical && !s.devices[2].physical);
    series_free(&s);
}

// By the fact, in Mbit/s; nonsense is no rate.
static void line_rates(void **state)
{
    static const struct {
        const char *speed;
        double bytes_per_s;
    } rows[] = {{"100000", 12.5e9}, {"1", 125000}, {"9999999", 9999999e6 / 8}, {"10000000", 0}, {"0", 0}, {"-1", 0},
                {"fast", 0},        {NULL, 0}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const part parts[] = {{"netdev", "eth0", PORT, rows[i].speed ? "speed_mbps" : NULL, rows[i].speed, BYTES}};
        series s = {0};
        feed f = feed_begin(&s, parts, 1, NULL);
        at(&f, 0);
        feed_end(&f);
        expect_close(s.devices[0].line_rate, rows[i].bytes_per_s);
        series_free(&s);
    }
}

// ---- what is an event ----

static const part events_of[] = {
    {"cxi",
     "cxi0",
     PORT,
     NULL,
     NULL,
     {"pct_retry_srb_requests", "hni_tx_paused_0", "hni_pcs_good_cw", "pct_spt_timeouts"}},
    {"netdev", "eth0", PORT, NULL, NULL, {"rx_errors", "rx_dropped", "multicast", "rx_nohandler", "gauge:tx_errors"}},
    {"ethtool",
     "eth0",
     PORT,
     NULL,
     NULL,
     {"pause/rx_pause_frames", "rx_prio3_pause_duration", "rx_prio3_pause_transition"}},
    {"rdma", "mlx5_0/1", PORT, NULL, NULL, {"port_xmit_wait", "np_cnp_sent", "port_rcv_errors"}},
    {"user", "mine", 0, NULL, NULL, {"anything"}},
};

// What each counter of the machine means: its unit by the catalog, and whether it tells of trouble or of waiting.
static const struct {
    const char *source, *name, *unit;
    bool trouble;
} kinds[] = {{"cxi", "pct_retry_srb_requests", "packets", true},
             {"cxi", "hni_tx_paused_0", "cycles", false},
             {"netdev", "rx_errors", "errors", true},
             {"netdev", "rx_dropped", "packets", true},
             {"ethtool", "rx_prio3_pause_duration", "us", false},
             {"ethtool", "rx_prio3_pause_transition", "events", false},
             {"rdma", "port_xmit_wait", "ticks", false},
             {"rdma", "port_rcv_errors", "errors", true}};

// Trouble and waiting are events; traffic, pauses counted as packets, what is harmless, what tells time, what another
// counter tells, gauges and what nobody knows are none.
static void what_is_an_event(void **state)
{
    series s = {0};
    feed f = feed_begin(&s, events_of, COUNT(events_of), NULL);
    (void)state;
    for (int k = 0; k < 3; k++) {
        at(&f, 4 * k);
        for (size_t i = 0; i < f.x.schema->counter_count; i++)
            f.x.values[i] += 100 * ((uint64_t)k + 1) + i;
    }
    size_t retries = place(&f, "cxi", "cxi0", "pct_retry_srb_requests"),
           received = place(&f, "rdma", "mlx5_0/1", "port_rcv_errors");
    feed_end(&f);
    series_finish(&s);
    for (size_t i = 0; i < COUNT(kinds) && i < s.counter_count; i++) {
        const series_counter *c = &s.counters[i];
        if (strcmp(c->name, kinds[i].name) != 0) fail_msg("%s, not %s", c->name, kinds[i].name);
        assert_string_equal(c->source, kinds[i].source);
        assert_string_equal(c->unit, kinds[i].unit);
        if (c->trouble != kinds[i].trouble) fail_msg("trouble of %s", c->name);
        assert_int_equal(c->events, 2);
    }
    assert_int_equal(s.counter_count, COUNT(kinds));
    assert_int_equal(s.event_count, 2 * COUNT(kinds));
    expect_close(s.counters[0].sum, 300 + 2.0 * (double)retries);
    expect_close(s.counters[7].sum, 300 + 2.0 * (double)received);
    for (size_t i = 0; i < s.event_count; i++) {
        size_t step = i / COUNT(kinds);
        const series_event *e = &s.events[i];
        assert_int_equal(e->counter, i % COUNT(kinds));
        assert_string_equal(s.devices[e->device].source, kinds[e->counter].source);
        expect_close(e->from_s, 4.0 * (double)step);
        expect_close(e->to_s, 4.0 * (double)step + 4);
    }
    expect_close(s.events[0].amount, 100 + (double)retries);
    expect_close(s.events[15].amount, 200 + (double)received);
    assert_int_equal(s.device_count, 4); // mine has nothing that is followed
    series_free(&s);
}

// A counter that began again counts from zero; one that could not be read, or stood still, has no event.
static void events_of_counters_that_begin_again(void **state)
{
    static const part parts[] = {{"netdev", "eth0", PORT, NULL, NULL, {"rx_errors", "rx_dropped", "rx_bytes"}},
                                 {"netdev", "eth1", PORT, NULL, NULL, {"rx_errors", "rx_dropped", "rx_bytes"}}};
    static const uint64_t errors[] = {50, 53, 4, 4, 9, 9}; // 3, 4 since it began again, none, one not readable
    series s = {0};
    feed f = feed_begin(&s, parts, COUNT(parts), NULL);
    (void)state;
    for (int k = 0; k < 6; k++) {
        f.x.values[place(&f, "netdev", "eth1", "rx_errors")] = errors[k];
        f.x.values[place(&f, "netdev", "eth0", "rx_bytes")] = k < 2 ? 1000000 : 1; // in the same step: one reset
        set_status(&f, "netdev", "eth1", "rx_errors", k == 4 ? NETPROF_STATUS_DENIED : NETPROF_STATUS_OK);
        at(&f, k);
    }
    feed_end(&f);
    series_finish(&s);
    assert_int_equal(s.runs[0].resets, 1);
    assert_int_equal(s.event_count, 2);
    expect_close(s.events[0].amount, 3);
    expect_close(s.events[1].amount, 4);
    expect_close(s.events[1].to_s, 2);
    expect_close(s.counters[s.events[0].counter].sum, 7);
    assert_int_equal(s.counters[s.events[0].counter].events, 2);
    assert_string_equal(s.devices[s.events[1].device].name, "eth1");
    series_free(&s);
}

// ---- time ----

typedef struct spacing {
    double times[8];
    size_t count, gaps;
    double interval, longest;
    const char *steps; // g: within a gap
} spacing;

// A step of more than 2.5 times the median is a gap; three readings have no usual step.
static const spacing spacings[] = {{{0, 1, 2, 4.5}, 4, 0, 1, 2.5, "..."},
                                   {{0, 1, 2, 4.75}, 4, 1, 1, 2.75, "..g"},
                                   {{0, 1, 9}, 3, 0, 4.5, 8, ".."},
                                   {{0, 3, 4, 5, 9, 10}, 6, 2, 1, 4, "g..g."},
                                   {{0, 1, 2, 4, 6}, 5, 0, 1.5, 2, "...."},
                                   {{0, 1, 2, 4, 8}, 5, 1, 1.5, 4, "...g"},
                                   {{0, 7}, 2, 0, 7, 7, "."}};

static void where_samples_are_missing(void **state)
{
    static const part parts[] = {{"netdev", "eth0", PORT, NULL, NULL, BYTES},
                                 {"netdev", "eth1", PORT, NULL, NULL, BYTES}};
    (void)state;
    for (size_t i = 0; i < COUNT(spacings); i++) {
        const spacing *x = &spacings[i];
        series s = {0};
        feed f = feed_begin(&s, parts, COUNT(parts), NULL);
        for (size_t k = 0; k < x->count; k++) {
            f.sweep_ns = k == 1 ? 70000000 : 3000000;
            add(&f, "netdev", "eth1", "tx_bytes", 64);
            at(&f, x->times[k]);
        }
        feed_end(&f);
        series_finish(&s);
        const series_run *run = &s.runs[0];
        if (run->gaps != x->gaps) fail_msg("%zu gaps in %zu", run->gaps, i);
        expect_close(run->interval_s, x->interval);
        expect_close(run->longest_s, x->longest);
        expect_close(run->sweep_s, 0.07);
        assert_int_equal(run->snapshots, x->count);
        assert_int_equal(run->time_count, x->count);
        for (size_t d = 0; d < 2; d++)
            for (size_t k = 0; k + 1 < x->count; k++) {
                const series_step *step = &s.devices[d].steps[k];
                if (step->gap != (x->steps[k] == 'g')) fail_msg("step %zu of %zu", k, i);
                expect_close(step->from_s, x->times[k]);
                expect_close(step->to_s, x->times[k + 1]);
                expect_close(step->rate[SERIES_OUT], d ? 64 / (x->times[k + 1] - x->times[k]) : 0);
            }
        series_free(&s);
    }
}

// The wall clock set by so much: the run goes on by the other clock, and tells how often and how far.
static void clocks_that_are_set(void **state)
{
    static const part parts[] = {{"netdev", "eth0", PORT, NULL, NULL, BYTES}};
    static const int64_t set[] = {0, 0, 3600, 3600, 3000, 3000};
    series s = {0};
    feed f = feed_begin(&s, parts, 1, NULL);
    (void)state;
    for (int k = 0; k < 6; k++) {
        f.offset = epoch + set[k] * SECOND;
        at(&f, k);
    }
    at(&f, 2); // not later than the last: no step, and no time
    feed_end(&f);
    series_finish(&s);
    assert_int_equal(s.runs[0].clock_steps, 2);
    expect_close((double)s.runs[0].clock_set_ns / 1e9, 3000);
    assert_int_equal(s.runs[0].backwards, 0); // its own wall clock is later
    assert_int_equal(s.runs[0].snapshots, 7);
    expect_close(s.runs[0].times[5], 5);
    series_free(&s);
}

// Runs are moved by their clocks' offsets and drifts; a file without snapshots is in the data set only.
static void runs_on_the_axis_of_another_clock(void **state)
{
    static const part parts[] = {{"netdev", "eth0", PORT, NULL, NULL, {"rx_bytes", "rx_errors"}}};
    series s = {0};
    (void)state;
    for (int host = 0; host < 2; host++) {
        feed f = feed_begin(&s, parts, 1, host ? "b" : "a");
        for (int k = 0; k < 5; k++) {
            add(&f, "netdev", "eth0", "rx_errors", 1);
            at(&f, 100 * k);
        }
        feed_end(&f);
    }
    dataset_run runs[4] = {{.snapshot_count = 0}, {.snapshot_count = 2}, {.snapshot_count = 0}, {.snapshot_count = 2}};
    clocks_run placed[4] = {{.offset_ns = 999 * SECOND},
                            {.offset_ns = 0, .wall_ns = epoch},
                            {.offset_ns = 777 * SECOND},
                            {.offset_ns = 7 * SECOND, .drift = 1e-2, .wall_ns = epoch + 100 * SECOND}};
    dataset set = {.runs = runs, .run_count = 4};
    clocks c = {.runs = placed, .count = 4};
    series_align(&s, &set, &c);
    series_finish(&s);
    for (size_t k = 0; k < 5; k++) {
        double there = 100.0 * (double)k, moved = there + 7 + 1e-2 * (there - 100);
        expect_close(s.runs[0].times[k], there);
        expect_close(s.runs[1].times[k], moved);
        if (k == 4) continue;
        expect_close(s.devices[0].steps[k].from_s, there);
        expect_close(s.devices[1].steps[k].from_s, moved);
        expect_close(s.devices[1].steps[k].to_s, moved + 101);
        expect_close(s.events[k].to_s, there + 100);
        expect_close(s.events[4 + k].from_s, moved);
        expect_close(s.events[4 + k].to_s, moved + 101);
        expect_close(s.devices[1].steps[k].rate[SERIES_IN], 0);
    }
    expect_close(s.runs[1].begin_s, 6);
    expect_close(s.runs[1].end_s, 410);
    expect_close(s.end_s, 410);
    assert_true(llabs((long long)(s.begin_ns - epoch)) < 1000);
    series_free(&s);
}

// ---- devices that come, and what is kept of a reading ----

static void a_device_that_comes_later(void **state)
{
    static const part parts[] = {{"netdev", "lo", VIRTUAL, NULL, NULL, BYTES},
                                 {"netdev", "eth0", PORT, NULL, NULL, {"tx_bytes", "rx_errors", "rx_bytes"}},
                                 {"rdma", "mlx5_0/1", PORT, NULL, NULL, {"port_rcv_data"}}};
    series s = {0};
    feed f = feed_begin(&s, parts, 1, "h");
    (void)state;
    for (int k = 0; k < 3; k++) {
        add(&f, "netdev", "lo", "rx_bytes", 6);
        at(&f, k);
    }
    feed more = feed_begin(&s, parts, 3, "h");
    more.index = f.index;
    add(&more, "netdev", "lo", "rx_bytes", 18);
    for (int k = 3; k < 6; k++) {
        add(&more, "netdev", "lo", "rx_bytes", 6);
        add(&more, "netdev", "eth0", "rx_bytes", 40);
        add(&more, "netdev", "eth0", "rx_errors", 2);
        add(&more, "rdma", "mlx5_0/1", "port_rcv_data", 50);
        at(&more, k);
    }
    feed_end(&more);
    feed_end(&f);
    series_finish(&s);
    const series_device *lo = device(&s, "netdev", "lo"), *eth = device(&s, "netdev", "eth0");
    assert_int_equal(s.run_count, 1);
    assert_int_equal(s.runs[0].device_count, 3);
    assert_int_equal(lo->count, 5);
    for (size_t k = 0; k < 5; k++)
        expect_close(lo->steps[k].rate[SERIES_IN], 6);
    expect_close(lo->bytes[SERIES_IN], 30);
    // One of its steps is that in which it came, without a rate.
    expect_close(eth->steps[eth->count - 1].rate[SERIES_IN], 40);
    expect_close(eth->steps[eth->count - 1].rate[SERIES_OUT], 0);
    expect_close(eth->steps[eth->count - 1].to_s, 5);
    expect_close(eth->bytes[SERIES_IN], 80);
    expect_close(device(&s, "rdma", "mlx5_0/1")->bytes[SERIES_IN], 100);
    expect_close(s.events[s.event_count - 1].amount, 2);
    expect_chosen(&s, "netdev/eth0 rdma/mlx5_0/1 ");
    series_free(&s);
}

// All that a reading holds of the counters that are kept, and the times of their devices.
static void a_reading_cut_down(void **state)
{
    static const part parts[] = {{"netdev", "a", PORT, NULL, NULL, {"x", "y"}},
                                 {"netdev", "b", PORT, NULL, NULL, {"x"}},
                                 {"rdma", "c", PORT, NULL, NULL, {"x", "y", "z"}}};
    static const part kept[] = {{"netdev", "a", PORT, NULL, NULL, {"y"}}, {"rdma", "c", PORT, NULL, NULL, {"x", "z"}}};
    static const struct {
        size_t from;
        char other[3];
    } followed[] = {{1, ""}, {3, ""}, {5, ""}};
    netprof_snapshot all = snapshot_of(schema_of(parts, COUNT(parts), "h")), cut = NETPROF_ZERO;
    const netprof_schema *small = schema_of(kept, COUNT(kept), "h");
    (void)state;
    for (size_t i = 0; i < all.schema->counter_count; i++) {
        all.values[i] = 100 + i;
        all.status[i] = (uint8_t)(i % 4);
        all.errnos[i] = (uint8_t)(10 + i);
        all.stamps_ns[i] = (int64_t)(1000 + i);
    }
    for (int d = 0; d < 3; d++)
        all.device_begin_ns[d] = 20 + d, all.device_end_ns[d] = 30 + d;
    all.begin_ns = 20, all.end_ns = 33, all.wall_ns = 77, all.stamp_error_ns = 5, all.set = NETPROF_SET_FAST;
    snapshot_subset(&cut, small, &all, followed, sizeof *followed);
    assert_ptr_equal(cut.schema, small);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(cut.values[i], 100 + followed[i].from);
        assert_int_equal(cut.status[i], followed[i].from % 4);
        assert_int_equal(cut.errnos[i], 10 + followed[i].from);
        assert_int_equal(cut.stamps_ns[i], 1000 + (int64_t)followed[i].from);
    }
    assert_true(cut.device_begin_ns[0] == 20 && cut.device_end_ns[0] == 30);
    assert_true(cut.device_begin_ns[1] == 22 && cut.device_end_ns[1] == 32);
    assert_true(cut.begin_ns == 20 && cut.end_ns == 33 && cut.wall_ns == 77 && cut.stamp_error_ns == 5);
    assert_int_equal(cut.set, NETPROF_SET_FAST);
    netprof_snapshot_free(&cut);
    netprof_schema_release(small);
    netprof_snapshot_free(&all);
}

// ---- columns ----

// Steps that begin and end within columns, at their edges, or are longer than one; half of a column is enough.
static void columns_of_uneven_steps(void **state)
{
    series_step steps[] = {
        {1, 2, {10, 1}, false}, {2, 2.5, {30, 2}, false}, {4, 7, {50, NAN}, false}, {7, 7.25, {70, 8}, false}};
    const series_device d = {.steps = steps, .count = 4};
    double columns[8];
    (void)state;
    series_columns(&d, SERIES_IN, 0, 8, columns, 8);
    expect_close(columns[1], 10);
    expect_close(columns[2], 30); // half of it
    for (size_t i = 4; i < 7; i++)
        expect_close(columns[i], 50);
    assert_true(isnan(columns[0]) && isnan(columns[3]) && isnan(columns[7]));
    series_columns(&d, SERIES_OUT, 0, 8, columns, 8);
    expect_close(columns[1], 1);
    assert_true(isnan(columns[4]) && isnan(columns[6]) && isnan(columns[7]));
    series_columns(&d, SERIES_IN, 1, 3, columns, 1);
    expect_close(columns[0], (10 * 1 + 30 * 0.5) / 1.5);
    series_columns(&d, SERIES_IN, 1.5, 2.5, columns, 2);
    expect_close(columns[0], 10);
    expect_close(columns[1], 30);
    series_columns(&d, SERIES_IN, 3, 3, columns, 2); // no time
    assert_true(isnan(columns[0]) && isnan(columns[1]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(which_devices_repeat_others),
        cmocka_unit_test(ports_count_if_they_carry_data),
        cmocka_unit_test(each_run_chooses_for_itself),
        cmocka_unit_test(line_rates),
        cmocka_unit_test(what_is_an_event),
        cmocka_unit_test(events_of_counters_that_begin_again),
        cmocka_unit_test(where_samples_are_missing),
        cmocka_unit_test(clocks_that_are_set),
        cmocka_unit_test(runs_on_the_axis_of_another_clock),
        cmocka_unit_test(a_device_that_comes_later),
        cmocka_unit_test(a_reading_cut_down),
        cmocka_unit_test(columns_of_uneven_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
