// Rates and events over time. Expected values come from arithmetic on snapshots made here.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/data/series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)
static const int64_t epoch = INT64_C(1700000000) * SECOND;

enum { RX, TX, RETRIES, PAUSED, COUNTERS };
static const char *const names[COUNTERS] = {"hni_sts_rx_ok_octets", "hni_sts_tx_ok_octets", "pct_retry_srb_requests",
                                            "hni_tx_paused_0"};
static const char *const units[COUNTERS] = {"bytes", "bytes", "retries", "cycles"};

// One host with so many NICs (and its netdev, which counts the same bytes again).
static const netprof_schema *schema_of(const char *host, size_t nics)
{
    netprof_list *list = netprof_build_begin(NULL);
    const netprof_schema *schema = NULL;
    netprof_counter bytes = {.name = "rx_bytes", .unit = "bytes", .width = 64};
    netprof_build_fact(list, "host", host);
    netprof_build_source(list, "cxi");
    for (size_t d = 0; d < nics; d++) {
        char name[32];
        snprintf(name, sizeof name, "cxi%zu", d);
        netprof_list_device(list, name, 0, NETPROF_DEVICE_PHYSICAL);
        netprof_list_fact(list, "speed_mbps", "200000");
        if (!d) netprof_list_fact(list, "netdev", "hsn0");
        for (size_t i = 0; i < COUNTERS; i++) {
            netprof_counter c = {.name = names[i], .unit = units[i], .width = 56};
            netprof_list_counter(list, &c);
        }
    }
    netprof_build_source(list, "netdev");
    netprof_list_device(list, "hsn0", 0, NETPROF_DEVICE_PHYSICAL);
    netprof_list_counter(list, &bytes);
    netprof_list_device(list, "lo", 0, NETPROF_DEVICE_VIRTUAL);
    netprof_list_counter(list, &bytes);
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    return schema;
}

// A file at hand.
typedef struct feed {
    series *s;
    netprof_snapshot x;
    dataset_run run;
    size_t index;
    int64_t offset; // of the wall clock
} feed;

static feed feed_begin(series *s, const char *host, size_t nics)
{
    static char path[] = "a.netprof";
    feed f = {.s = s, .x = NETPROF_ZERO, .run = {.path = path}, .offset = epoch};
    const netprof_schema *schema = schema_of(host, nics);
    assert_int_equal(netprof_snapshot_make(&f.x, schema, NULL), NETPROF_OK);
    netprof_schema_release(schema);
    memset(f.x.status, NETPROF_STATUS_OK, f.x.schema->counter_count);
    return f;
}

static uint64_t *cell(feed *f, size_t nic, size_t counter)
{
    return &f->x.values[nic * COUNTERS + counter];
}

// The snapshot at a time of the monotonic clock.
static void at(feed *f, double seconds)
{
    int64_t ns = (int64_t)llround(seconds * 1e9);
    f->x.begin_ns = SECOND * 1000 + ns;
    f->x.end_ns = f->x.begin_ns + SECOND / 1000;
    f->x.wall_ns = f->offset + ns;
    for (size_t d = 0; d < f->x.schema->device_count; d++)
        f->x.device_begin_ns[d] = f->x.device_end_ns[d] = f->x.begin_ns;
    assert_int_equal(series_take(f->s, &f->run, f->index++, &f->x), NETPROF_OK);
}

static void feed_end(feed *f)
{
    netprof_snapshot_free(&f->x);
}

static const series_device *device(const series *s, const char *name)
{
    for (size_t i = 0; i < s->device_count; i++)
        if (strcmp(s->devices[i].name, name) == 0) return &s->devices[i];
    fail_msg("no device %s", name);
    return NULL;
}

static void expect_close(double value, double expected)
{
    // Times are seconds since 1970 in a double on the way: a microsecond is what they keep for sure.
    if (!(fabs(value - expected) <= 2e-6 * fmax(1, fabs(expected)))) fail_msg("%.12g is not %.12g", value, expected);
}

static void rates_and_totals(void **state)
{
    series s = {0};
    feed f = feed_begin(&s, "n1", 2);
    (void)state;
    *cell(&f, 0, RX) = ((uint64_t)1 << 56) - 1500; // wraps in the second step
    for (int i = 0; i < 5; i++) {
        at(&f, 2.0 * i);
        *cell(&f, 0, RX) = (*cell(&f, 0, RX) + 1000) & (((uint64_t)1 << 56) - 1);
        *cell(&f, 0, TX) += 4000;
        *cell(&f, 1, TX) += 7;
    }
    feed_end(&f);
    series_finish(&s);
    assert_int_equal(s.run_count, 1);
    assert_int_equal(s.runs[0].snapshots, 5);
    assert_string_equal(s.runs[0].host, "n1");
    assert_string_equal(s.runs[0].path, "a.netprof");
    assert_int_equal(s.begin_ns / 1000, epoch / 1000);
    expect_close(s.end_s, 8);
    expect_close(s.runs[0].interval_s, 2);
    expect_close(s.runs[0].sweep_s, 0.001);
    assert_int_equal(s.runs[0].gaps + s.runs[0].resets + s.runs[0].backwards + s.runs[0].unknown, 0);
    const series_device *d = device(&s, "cxi0");
    assert_true(d->chosen && d->physical);
    expect_close(d->line_rate, 25e9);
    assert_int_equal(d->count, 4);
    for (size_t i = 0; i < 4; i++) {
        expect_close(d->steps[i].from_s, 2.0 * (double)i);
        expect_close(d->steps[i].to_s, 2.0 * (double)i + 2);
        expect_close(d->steps[i].rate[SERIES_IN], 500);
        expect_close(d->steps[i].rate[SERIES_OUT], 2000);
    }
    expect_close(d->bytes[SERIES_IN], 4000);
    expect_close(d->bytes[SERIES_OUT], 16000);
    expect_close(device(&s, "cxi1")->steps[0].rate[SERIES_OUT], 3.5);
    assert_false(device(&s, "hsn0")->chosen); // cxi0 counts the same bytes
    assert_false(device(&s, "lo")->chosen);   // virtual, and there are physical ones
    assert_int_equal(s.event_count, 0);
    series_free(&s);
}

// Missing samples: their stretch is unknown, though their bytes are not lost.
static void gaps(void **state)
{
    static const double times[] = {0, 1, 2, 3, 7, 8, 9};
    series s = {0};
    feed f = feed_begin(&s, "n1", 1);
    double columns[9];
    (void)state;
    for (size_t i = 0; i < 7; i++) {
        *cell(&f, 0, RX) = (uint64_t)(100 * times[i]);
        at(&f, times[i]);
    }
    feed_end(&f);
    series_finish(&s);
    assert_int_equal(s.runs[0].gaps, 1);
    expect_close(s.runs[0].longest_s, 4);
    expect_close(s.runs[0].interval_s, 1);
    const series_device *d = device(&s, "cxi0");
    assert_int_equal(d->count, 6);
    assert_true(d->steps[3].gap && !d->steps[2].gap && !d->steps[4].gap);
    expect_close(d->steps[3].rate[SERIES_IN], 100); // known as a mean
    expect_close(d->bytes[SERIES_IN], 900);
    series_columns(d, SERIES_IN, 0, 9, columns, 9);
    for (size_t i = 0; i < 9; i++) {
        if (i >= 3 && i < 7)
            assert_true(isnan(columns[i]));
        else
            expect_close(columns[i], 100);
    }
    series_free(&s);
}

static void resets_and_unreadable_values(void **state)
{
    series s = {0};
    feed f = feed_begin(&s, "n1", 1);
    (void)state;
    for (int i = 0; i < 8; i++) {
        *cell(&f, 0, RX) = i < 3 ? 1000000 + (uint64_t)i * 10 : (uint64_t)i; // begins again at 3
        *cell(&f, 0, TX) = (uint64_t)i * 10;
        f.x.status[TX] = i == 5 ? NETPROF_STATUS_DENIED : NETPROF_STATUS_OK;
        at(&f, i);
    }
    feed_end(&f);
    series_finish(&s);
    const series_device *d = device(&s, "cxi0");
    assert_int_equal(s.runs[0].resets, 1);
    assert_int_equal(d->count, 7);
    for (size_t i = 0; i < 7; i++) {
        if (i == 2)
            assert_true(isnan(d->steps[i].rate[SERIES_IN]));
        else
            expect_close(d->steps[i].rate[SERIES_IN], i < 2 ? 10 : 1);
        if (i == 4 || i == 5)
            assert_true(isnan(d->steps[i].rate[SERIES_OUT]));
        else
            expect_close(d->steps[i].rate[SERIES_OUT], 10);
    }
    assert_int_equal(s.runs[0].unknown, 3);
    series_free(&s);
}

// A device that stamps its values: what was not refreshed is no step of rate zero.
static void own_stamps(void **state)
{
    static const int stamps[] = {0, 0, 2, 2, 2, 5}; // at 0, 1, 2, 3, 4, 5 s
    series s = {0};
    feed f = feed_begin(&s, "n1", 1);
    (void)state;
    for (int i = 0; i < 6; i++) {
        *cell(&f, 0, RX) = (uint64_t)stamps[i] * 60;
        f.x.stamps_ns[RX] = epoch + stamps[i] * SECOND + 250000000;
        f.x.status[TX] = NETPROF_STATUS_SKIPPED; // not asked for: nothing to say
        at(&f, i);
    }
    feed_end(&f);
    series_finish(&s);
    const series_device *d = device(&s, "cxi0");
    assert_int_equal(d->count, 2);
    expect_close(d->steps[0].from_s, 0.25);
    expect_close(d->steps[0].to_s, 2.25);
    expect_close(d->steps[1].from_s, 2.25);
    expect_close(d->steps[1].to_s, 5.25);
    expect_close(d->steps[0].rate[SERIES_IN], 60);
    expect_close(d->steps[1].rate[SERIES_IN], 60);
    assert_true(isnan(d->steps[0].rate[SERIES_OUT]));
    assert_int_equal(s.runs[0].gaps, 0);
    assert_false(d->steps[1].gap);
    series_free(&s);
}

// The wall clock may be set while samples are taken; a clock that runs backwards altogether is counted.
static void clocks_of_devices(void **state)
{
    series s = {0};
    feed f = feed_begin(&s, "n1", 1);
    (void)state;
    for (int i = 0; i < 4; i++) {
        if (i == 2) f.offset -= 3600 * SECOND; // set back by an hour
        *cell(&f, 0, RX) = (uint64_t)i * 8;
        at(&f, i);
    }
    at(&f, -50); // another boot's, by mistake
    feed_end(&f);
    series_finish(&s);
    const series_device *d = device(&s, "cxi0");
    assert_int_equal(s.runs[0].backwards, 1);
    assert_int_equal(s.runs[0].snapshots, 5);
    assert_int_equal(d->count, 3);
    expect_close(d->steps[2].to_s, 3);
    expect_close(d->steps[2].rate[SERIES_IN], 8);
    expect_close(s.end_s, 3);
    series_free(&s);
}

static void events_of_all_devices(void **state)
{
    series s = {0};
    feed f = feed_begin(&s, "n1", 2);
    (void)state;
    for (int i = 0; i < 4; i++) {
        if (i == 2) *cell(&f, 1, RETRIES) += 5;
        if (i == 3) *cell(&f, 0, RETRIES) += 2, *cell(&f, 1, PAUSED) += 1000;
        at(&f, i);
    }
    feed_end(&f);
    series_finish(&s);
    assert_int_equal(s.event_count, 3);
    assert_int_equal(s.counter_count, 2);
    const series_event *e = &s.events[0];
    assert_string_equal(s.counters[e->counter].name, "pct_retry_srb_requests");
    assert_string_equal(s.devices[e->device].name, "cxi1");
    assert_true(e->amount == 5 && s.counters[e->counter].sum == 7 && s.counters[e->counter].trouble);
    expect_close(e->from_s, 1);
    expect_close(e->to_s, 2);
    assert_string_equal(s.counters[s.events[2].counter].name, "hni_tx_paused_0");
    assert_true(s.events[2].amount == 1000 && !s.counters[s.events[2].counter].trouble);
    series_free(&s);
}

// Hosts that began at different times stand on one axis.
static void several_hosts(void **state)
{
    series s = {0};
    (void)state;
    for (int host = 0; host < 3; host++) {
        char name[8];
        snprintf(name, sizeof name, "n%d", host);
        feed f = feed_begin(&s, name, 1);
        f.offset += host == 1 ? -5 * SECOND : host * SECOND;
        for (int i = 0; i < 3; i++) {
            *cell(&f, 0, RX) = (uint64_t)(i * (host + 1));
            at(&f, i);
        }
        feed_end(&f);
    }
    series_finish(&s);
    assert_int_equal(s.run_count, 3);
    assert_int_equal(s.begin_ns / 1000, (epoch - 5 * SECOND) / 1000);
    expect_close(s.end_s, 9);
    static const double begins[] = {5, 0, 7};
    for (size_t i = 0; i < 3; i++) {
        const series_device *d = &s.devices[s.runs[i].first_device];
        assert_int_equal(s.runs[i].device_count, 3);
        assert_int_equal(d->run, i);
        expect_close(s.runs[i].begin_s, begins[i]);
        expect_close(d->steps[0].from_s, begins[i]);
        expect_close(d->steps[1].rate[SERIES_IN], (double)i + 1);
    }
    series_free(&s);
}

static void columns_and_quantiles(void **state)
{
    series_step steps[] = {{0, 2, {10, NAN}, false},
                           {2, 3, {40, NAN}, false},
                           {3, 4, {1000, 5}, true},
                           {4, 5, {20, 7}, false},
                           {5, 6, {30, NAN}, false}};
    const series_device d = {.steps = steps, .count = 5};
    double columns[4], values[5];
    static const double shares[] = {0, 0.25, 0.5, 0.9, 1};
    (void)state;
    series_columns(&d, SERIES_IN, 0, 6, columns, 4); // 1.5 s each
    expect_close(columns[0], 10);
    expect_close(columns[1], (0.5 * 10 + 1 * 40) / 1.5);
    assert_true(isnan(columns[2])); // only a third of it is known
    expect_close(columns[3], (0.5 * 20 + 1 * 30) / 1.5);
    assert_int_equal(series_quantiles(&d, SERIES_IN, shares, values, 5), 4); // 10 20 30 40
    expect_close(values[0], 10);
    expect_close(values[1], 17.5);
    expect_close(values[2], 25);
    expect_close(values[3], 37);
    expect_close(values[4], 40);
    assert_int_equal(series_quantiles(&d, SERIES_OUT, shares, values, 5), 1);
    expect_close(values[2], 7);
    steps[3].rate[SERIES_OUT] = NAN;
    assert_int_equal(series_quantiles(&d, SERIES_OUT, shares, values, 5), 0);
    assert_true(isnan(values[0]));
}

// The largest values, no bytes at all, one snapshot, none.
static void edges(void **state)
{
    series s = {0};
    (void)state;
    series_finish(&s);
    series_free(&s);
    feed f = feed_begin(&s, "n1", 0);
    at(&f, 0);
    feed_end(&f);
    series_finish(&s);
    assert_true(s.run_count == 1 && isnan(s.runs[0].interval_s) && s.end_s == 0);
    series_free(&s);
    f = feed_begin(&s, "", 0); // only hsn0 and lo
    for (int i = 0; i < 3; i++) {
        f.x.values[0] = i ? UINT64_MAX : 0;
        at(&f, i);
    }
    feed_end(&f);
    series_finish(&s);
    assert_true(device(&s, "hsn0")->chosen);
    expect_close(device(&s, "hsn0")->steps[0].rate[SERIES_IN], 18446744073709551615.0);
    expect_close(device(&s, "hsn0")->steps[1].rate[SERIES_IN], 0);
    series_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rates_and_totals),
                                       cmocka_unit_test(gaps),
                                       cmocka_unit_test(resets_and_unreadable_values),
                                       cmocka_unit_test(own_stamps),
                                       cmocka_unit_test(clocks_of_devices),
                                       cmocka_unit_test(events_of_all_devices),
                                       cmocka_unit_test(several_hosts),
                                       cmocka_unit_test(columns_and_quantiles),
                                       cmocka_unit_test(edges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
