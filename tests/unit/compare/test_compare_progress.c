// How far a run was at each of its samples: seconds and bytes since the first one. Two ports, of which the second is read later;
// within a step bytes come evenly, so that what it had moved at a sample lies on a straight line.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "netprof.h"

#include <math.h>
#include <string.h>

#include "builtin_rules.h"
#include "compare_bench.h"

enum { SAMPLES = 5, PORTS = 2 };

// Seconds of each sample, and what the ports had received and sent until then, in MB.
static const double at_s[SAMPLES] = {0, 2, 5, 6, 10};
static const double received[PORTS][SAMPLES] = {{0, 100, 400, 450, 950}, {10, 30, 90, 130, 330}},
                    sent[PORTS][SAMPLES] = {{5, 5, 35, 55, 175}, {0, 8, 20, 21, 61}};

typedef struct recording {
    bench b;
    netprof_snapshot samples[COMPARISON_SIDES][SAMPLES];
} recording;

static void take(netprof_snapshot *x, const netprof_schema *schema, size_t sample, double late_s)
{
    static const char *const names[PORTS] = {"dev0", "dev1"};
    int64_t ns = (int64_t)llround(at_s[sample] * 1e9) + 5 * SECOND;
    assert_int_equal(netprof_snapshot_make(x, schema, NULL), NETPROF_OK);
    x->begin_ns = ns;
    x->end_ns = ns;
    x->wall_ns = INT64_C(1700000000000000000) + ns;
    memset(x->status, NETPROF_STATUS_OK, schema->counter_count);
    for (size_t p = 0; p < PORTS; p++) {
        size_t in = netprof_find(schema, "cxi", names[p], "hni_sts_rx_ok_octets"),
               out = netprof_find(schema, "cxi", names[p], "hni_sts_tx_ok_octets");
        x->device_begin_ns[p] = x->device_end_ns[p] = ns;
        x->values[in] = (uint64_t)(received[p][sample] * 1e6);
        x->values[out] = (uint64_t)(sent[p][sample] * 1e6);
        if (p && late_s > 0) x->stamps_ns[in] = x->stamps_ns[out] = x->wall_ns + (int64_t)llround(late_s * 1e9);
    }
}

// The healthy run has `healthy` samples, the faulty one all.
static void record(recording *x, size_t healthy, double late_s)
{
    situation s;
    memset(x, 0, sizeof *x);
    situation_make(&s, "cxi",
                   "@mtu=1500 hni_sts_rx_ok_octets=1 hni_sts_tx_ok_octets=1 peer:@mtu=1500 peer:hni_sts_rx_ok_octets=1 "
                   "peer:hni_sts_tx_ok_octets=1");
    for (int side = 0; side < COMPARISON_SIDES; side++) {
        dataset_run *file = add_file(&x->b.sides[side], side ? "bad" : "good", "node1");
        file->snapshots = x->samples[side];
        file->snapshot_count = side ? SAMPLES : healthy;
        for (size_t i = 0; i < file->snapshot_count; i++)
            take(&x->samples[side][i], s.before.schema, i, late_s);
    }
    situation_free(&s);
    assert_int_equal(make(&x->b, NULL), NETPROF_OK);
}

static void done(recording *x)
{
    clear(&x->b);
    for (int side = 0; side < COMPARISON_SIDES; side++)
        for (size_t i = 0; i < SAMPLES; i++)
            netprof_snapshot_free(&x->samples[side][i]);
}

// In and out, of one port at a time since the first sample of the port, in MB.
static double moved(size_t port, double seconds)
{
    size_t i = 1;
    while (i + 1 < SAMPLES && at_s[i] < seconds)
        i++;
    double part = fmin((seconds - at_s[i - 1]) / (at_s[i] - at_s[i - 1]), 1);
    double before = received[port][i - 1] + sent[port][i - 1], after = received[port][i] + sent[port][i];
    return fmax(before + part * (after - before) - received[port][0] - sent[port][0], 0);
}

static void bytes_at_each_sample(void **state)
{
    recording x;
    (void)state;
    record(&x, 3, 0);
    for (int side = 0; side < COMPARISON_SIDES; side++) {
        const comparison_run *run = x.b.c.runs[side];
        assert_int_equal(run->sample_count, side ? SAMPLES : 3);
        for (size_t k = 0; k < run->sample_count; k++) {
            double bytes = 1e6 * (moved(0, at_s[k]) + moved(1, at_s[k]));
            assert_true(fabs(run->sample_s[k] - at_s[k]) < 1e-6);
            if (fabs(run->sample_bytes[k] - bytes) > 1000) fail_msg("sample %zu: %.0f", k, run->sample_bytes[k]);
        }
    }
    assert_true(fabs(x.b.c.runs[1]->sample_bytes[SAMPLES - 1] - 1e6 * (950 + 320 + 170 + 61)) < 1000);
    done(&x);
}

// Of a run with its ends alone nothing between them is known.
static void two_samples_are_the_ends(void **state)
{
    recording x;
    (void)state;
    record(&x, 2, 0);
    assert_int_equal(x.b.c.runs[0]->sample_count, 0);
    assert_null(x.b.c.runs[0]->sample_s);
    assert_null(x.b.c.runs[0]->sample_bytes);
    assert_int_equal(x.b.c.runs[1]->sample_count, SAMPLES);
    done(&x);
}

// The second port's driver says that it read its counters 0.1 s after the sample: until that it had moved less.
static void a_port_that_is_read_later(void **state)
{
    recording x;
    (void)state;
    record(&x, 3, 0.1);
    const comparison_run *run = x.b.c.runs[1];
    assert_int_equal(run->sample_count, SAMPLES);
    for (size_t k = 0; k < SAMPLES; k++) {
        double bytes = 1e6 * (moved(0, at_s[k]) + moved(1, fmax(at_s[k] - 0.1, 0)));
        assert_true(fabs(run->sample_s[k] - at_s[k]) < 1e-6);
        if (fabs(run->sample_bytes[k] - bytes) > 1000)
            fail_msg("sample %zu: %.0f, not %.0f", k, run->sample_bytes[k], bytes);
    }
    done(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bytes_at_each_sample),
                                       cmocka_unit_test(two_samples_are_the_ends),
                                       cmocka_unit_test(a_port_that_is_read_later)};
    return cmocka_run_group_tests(tests, load, unload);
}
