// A value over time in bins: beside all that was added, kept piece by piece and weighed anew for each question.
#define _GNU_SOURCE
#include "netprof.h"

#include "support.h"

#include "analysis/job/job_bins.h"

#include <math.h>

static const int64_t second = 1000000000;

static void expect_near(double value, double expected, double slack, const char *what)
{
    if (isnan(expected) && isnan(value)) return;
    if (!(fabs(value - expected) <= slack)) fail_msg("%s: %.12g is not %.12g", what, value, expected);
}

// ---- the model ----

enum { PIECES = 80 };

typedef struct piece {
    int64_t from_ns, to_ns;
    double value, low, high;
} piece;

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

// What lies in one bin: how much is known, between which times, and the figures of it.
typedef struct content {
    double known_s, integral, low, high;
    int64_t from_ns, to_ns;
} content;

static content content_of(const piece *pieces, size_t count, int64_t left, int64_t right)
{
    content x = {.low = INFINITY, .high = -INFINITY, .from_ns = INT64_MAX, .to_ns = INT64_MIN};
    for (size_t i = 0; i < count; i++) {
        int64_t from = later(pieces[i].from_ns, left), to = earlier(pieces[i].to_ns, right);
        if (to <= from) continue;
        x.known_s += (double)(to - from) * 1e-9;
        x.integral += pieces[i].value * ((double)(to - from) * 1e-9);
        x.low = fmin(x.low, pieces[i].low);
        x.high = fmax(x.high, pieces[i].high);
        x.from_ns = earlier(x.from_ns, from);
        x.to_ns = later(x.to_ns, to);
    }
    return x;
}

// Of bins of 2^shift ns: a bin that reaches over an edge counts in proportion to what of its known time lies within.
static job_span model_span(const piece *pieces, size_t count, unsigned shift, int64_t from_ns, int64_t to_ns)
{
    job_span span = {.low = NAN, .high = NAN};
    for (int64_t i = from_ns >> shift; i <= (to_ns - 1) >> shift; i++) {
        content x = content_of(pieces, count, i << shift, (i + 1) << shift);
        if (!(x.known_s > 0)) continue;
        int64_t within = earlier(to_ns, x.to_ns) - later(from_ns, x.from_ns);
        if (within <= 0) continue;
        double part = (double)within / (double)(x.to_ns - x.from_ns);
        span.known_s += part * x.known_s;
        span.integral += part * x.integral;
        span.low = fmin(span.low, x.low);
        span.high = fmax(span.high, x.high);
    }
    return span;
}

// The first step is at most five bins long, and all of them together are at most JOB_BINS.
static unsigned model_shift(const piece *pieces, size_t count)
{
    unsigned shift = 14;
    int64_t from = INT64_MAX, to = INT64_MIN;
    while ((pieces[0].to_ns - pieces[0].from_ns) >> shift > 4)
        shift++;
    for (size_t i = 0; i < count; i++) {
        from = earlier(from, pieces[i].from_ns);
        to = later(to, pieces[i].to_ns);
    }
    while (((to - 1) >> shift) - (from >> shift) + 1 > JOB_BINS)
        shift++;
    return shift;
}

static void expect_span(const job_bins *b, const piece *pieces, size_t count, unsigned shift, int64_t from_ns,
                        int64_t to_ns)
{
    job_span x = job_bins_span(b, from_ns + b->offset_ns, to_ns + b->offset_ns),
             y = model_span(pieces, count, shift, from_ns, to_ns);
    double length = (double)(to_ns - from_ns) * 1e-9, most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fmax(fabs(pieces[i].low), fabs(pieces[i].high)));
    double bin_s = (double)((int64_t)1 << shift) * 1e-9, slack = 1e-5 * (length + bin_s);
    expect_near(x.known_s, y.known_s, slack, "known");
    expect_near(x.integral, y.integral, slack * most, "integral");
    expect_near(x.low, y.low, 1e-6 * most, "low");
    expect_near(x.high, y.high, 1e-6 * most, "high");
}

// ---- beside the model ----

static double part_of(uint64_t *state)
{
    return (double)random_below(state, 1000000) * 1e-6;
}

// Pieces one after the other, some with time between them; of a lane that often is 0, or of any value.
static size_t some_pieces(uint64_t *state, piece *pieces, bool zeros)
{
    double step_s = pow(10, 7 * part_of(state) - 3);
    int64_t at = INT64_C(1700000000) * second + (int64_t)(part_of(state) * 1e9);
    size_t count = 1 + random_below(state, PIECES);
    for (size_t i = 0; i < count; i++) {
        int64_t length = 1 + (int64_t)(step_s * (0.5 + part_of(state)) * 1e9);
        if (random_below(state, 5) == 0) at += (int64_t)(step_s * 20 * part_of(state) * 1e9);
        double value = zeros && random_below(state, 9) ? 0 : floor(part_of(state) * 2000) - 500;
        double spread = value < 0 || value > 0 ? floor(part_of(state) * 50) : 0;
        pieces[i] = (piece){at, at + length, value, value - spread, value + 2 * spread};
        at += length;
    }
    return count;
}

static void whatever_was_added(void **state)
{
    uint64_t seed = 20261129;
    (void)state;
    for (int turn = 0; turn < 400; turn++) {
        piece pieces[PIECES];
        size_t count = some_pieces(&seed, pieces, turn % 3 == 0);
        job_bins *b = job_bins_make();
        assert_false(job_bins_known(b));
        double integral = 0;
        for (size_t i = 0; i < count; i++) {
            const piece *x = &pieces[i];
            job_bins_add(b, x->from_ns, x->to_ns, x->value, x->low, x->high);
            job_bins_add(b, x->to_ns, x->to_ns, 7, 7, 7); // of no time
            if (turn % 4 == 1) job_bins_trim(b);
            integral += x->value * ((double)(x->to_ns - x->from_ns) * 1e-9);
        }
        assert_true(job_bins_known(b));
        expect_near(b->integral, integral, 1e-9 * fmax(1, fabs(integral)), "the exact integral");
        unsigned shift = model_shift(pieces, count);
        if (b->count) {
            assert_int_equal(b->shift, shift);
            assert_int_equal(b->first, pieces[0].from_ns >> shift);
            assert_int_equal(b->count, ((pieces[count - 1].to_ns - 1) >> shift) - b->first + 1);
            if (turn % 4 == 2) job_bins_coarsen(b, shift += 1 + (unsigned)turn % 3);
            assert_int_equal(b->shift, shift);
        }
        b->offset_ns = turn % 2 ? -3 * second : 0;
        int64_t begin = pieces[0].from_ns, all = pieces[count - 1].to_ns - begin;
        if (b->count) expect_span(b, pieces, count, shift, begin - all, begin + 2 * all);
        if (!b->count)
            expect_near(job_bins_span(b, begin + b->offset_ns, INT64_MAX).known_s, 1e-9 * (double)all, 1e-6, "zeros");
        for (int k = 0; k < 20 && b->count; k++) {
            int64_t from = begin + (int64_t)((1.4 * part_of(&seed) - 0.2) * (double)all);
            int64_t to = from + 1 + (int64_t)(pow(part_of(&seed), 3) * (double)all);
            if (k % 4 == 0) from = from >> shift << shift, to = ((to >> shift) + 1) << shift;
            expect_span(b, pieces, count, shift, from, to);
        }
        job_bins_free(b);
    }
}

// What comes late lies before all others, or between them.
static void in_any_order(void **state)
{
    uint64_t seed = 5;
    (void)state;
    for (int turn = 0; turn < 200; turn++) {
        piece pieces[PIECES], mixed[PIECES];
        size_t count = some_pieces(&seed, pieces, false);
        job_bins *b = job_bins_make();
        memcpy(mixed, pieces, sizeof mixed);
        for (size_t i = count; i-- > 1;) {
            size_t k = random_below(&seed, i + 1);
            piece x = mixed[i];
            mixed[i] = mixed[k];
            mixed[k] = x;
        }
        for (size_t i = 0; i < count; i++)
            job_bins_add(b, mixed[i].from_ns, mixed[i].to_ns, mixed[i].value, mixed[i].low, mixed[i].high);
        int64_t begin = pieces[0].from_ns, all = pieces[count - 1].to_ns - begin;
        if (b->count) {
            assert_int_equal(b->shift, model_shift(mixed, count));
            for (int k = 0; k < 10; k++) {
                int64_t from = begin + (int64_t)(part_of(&seed) * (double)all);
                expect_span(b, mixed, count, b->shift, from, from + 1 + (int64_t)(part_of(&seed) * (double)all));
            }
        }
        job_bins_free(b);
    }
}

// The room is for JOB_BINS bins and no more, from the first clock to the last.
static void all_of_time(void **state)
{
    (void)state;
    job_bins *b = job_bins_make();
    const int64_t end = INT64_C(9000000000000000000), length = INT64_C(1) << 50; // 13 days
    job_bins_add(b, 0, length, 3, 3, 3);
    job_bins_add(b, end, end + length, 5, 5, 5);
    assert_true(b->count <= JOB_BINS && b->count > JOB_BINS / 2);
    assert_int_equal(b->first, 0);
    assert_true((int64_t)(b->count - 1) << b->shift <= end && end < (int64_t)b->count << b->shift);
    expect_near(b->integral, 8 * 1125899.906842624, 1e-3, "all");
    job_span x = job_bins_span(b, 0, INT64_MAX);
    expect_near(x.known_s, 2 * 1125899.906842624, 10, "known");
    assert_true(x.low >= 3 && x.low <= 3 && x.high >= 5 && x.high <= 5);
    job_bins_free(b);
    assert_true(isnan(job_bins_span(NULL, 0, second).low)); // no lane
    b = job_bins_make();
    assert_true(isnan(job_bins_span(b, 0, second).low) && !(job_bins_span(b, 0, second).known_s > 0));
    job_bins_free(b);
    job_bins_free(NULL);
}

// A lane of nothing but zeros: without bins, and as long as it lasts.
static void zeros_alone(void **state)
{
    (void)state;
    job_bins *b = job_bins_make();
    job_bins_add(b, 10 * second, 12 * second, 0, 0, 0);
    job_bins_add(b, 12 * second, 17 * second, 0, 0, 0);
    assert_true(job_bins_known(b) && !b->count);
    assert_true(b->zero_from == 10 * second && b->zero_to == 17 * second);
    b->offset_ns = 100 * second;
    expect_near(job_bins_span(b, 105 * second, 113 * second).known_s, 3, 1e-9, "its begin");
    expect_near(job_bins_span(b, 111 * second, 115 * second).known_s, 4, 1e-9, "its middle");
    expect_near(job_bins_span(b, 115 * second, 150 * second).known_s, 2, 1e-9, "its end");
    assert_true(isnan(job_bins_span(b, 117 * second, 150 * second).high));
    assert_true(isnan(job_bins_span(b, 10 * second, 17 * second).low));
    assert_true(isnan(job_bins_span(b, 113 * second, 113 * second).low));
    assert_true(!(job_bins_span(b, 111 * second, 115 * second).high > 0));
    job_bins_add(b, 17 * second, 18 * second, 0, -4, 9); // 0 in the mean alone
    assert_true(b->count > 0);
    job_span x = job_bins_span(b, 105 * second, 150 * second);
    expect_near(x.known_s, 8, 1e-5, "all");
    expect_near(x.low, -4, 1e-9, "low");
    expect_near(x.high, 9, 1e-9, "high");
    job_bins_free(b);
}

// ---- two lanes ----

static job_bins *steady(int64_t from_s, int64_t to_s, int64_t step_s, double value, double spread)
{
    job_bins *b = job_bins_make();
    for (int64_t at = from_s; at < to_s; at += step_s)
        job_bins_add(b, at * second, (at + step_s) * second, value, value - spread, value + 2 * spread);
    return b;
}

static void expect_figures(const job_bins *b, int64_t from_s, int64_t to_s, const double *known_integral_low_high)
{
    job_span x = job_bins_span(b, from_s * second, to_s * second);
    const double *y = known_integral_low_high;
    expect_near(x.known_s, y[0], 1e-4 * fmax(1, y[0]), "known");
    expect_near(x.integral, y[1], 1e-4 * fmax(1, fabs(y[1])), "integral");
    expect_near(x.low, y[2], 1e-5, "low");
    expect_near(x.high, y[3], 1e-5, "high");
}

// Bins of 2^28 ns, 0.268 s, of seconds; the sum is known where both are, that is up to one bin at either end less.
static void sums_of_two(void **state)
{
    (void)state;
    job_bins *a = steady(0, 40, 1, 2, 0.5), *b = steady(16, 64, 1, 3, 0.25), *sum = job_bins_make();
    assert_int_equal(a->shift, 28);
    job_bins_skip(a, 70 * second, 72 * second, 11);
    job_bins_skip(b, 80 * second, 83 * second, 13);
    job_bins_join(sum, a);
    expect_figures(sum, 0, 100, (const double[]){40, 80, 1.5, 3});
    expect_near(sum->integral, 80, 1e-3, "the first alone");
    job_bins_join(sum, b);
    job_span x = job_bins_span(sum, 0, 100 * second);
    expect_near(x.known_s, 24, 0.3, "both");
    expect_near(x.integral, x.known_s * 5, 1e-3, "their sum");
    expect_near(sum->integral, x.integral, 1e-3, "in the whole");
    assert_true(isnan(job_bins_span(sum, 0, 15 * second).low) &&
                isnan(job_bins_span(sum, 41 * second, 90 * second).low));
    expect_figures(sum, 20, 30, (const double[]){10, 50, 4.25, 6.5}); // 1.5 + 2.75 to 3 + 3.5
    assert_int_equal(sum->skipped_count, 2);
    assert_true(sum->skipped[0].from_ns == 70 * second && sum->skipped[0].to_ns == 72 * second);
    assert_true(sum->skipped[1].from_ns == 80 * second && sum->skipped[1].to_ns == 83 * second);
    expect_near(sum->skipped[0].amount, 11, 1e-9, "skipped");
    expect_near(sum->skipped[1].amount, 13, 1e-9, "skipped");
    expect_figures(a, 0, 100, (const double[]){40, 80, 1.5, 3}); // as they were
    expect_figures(b, 0, 100, (const double[]){48, 144, 2.75, 3.5});
    job_bins_free(a);
    job_bins_free(b);
    job_bins_free(sum);
}

// Wide bins and narrow ones, either way round; nothing joins nothing, and zeros are as any other value.
static void sums_of_unlike_ones(void **state)
{
    (void)state;
    for (int way = 0; way < 2; way++) {
        job_bins *narrow = steady(0, 4096, 16, 7, 1), *wide = steady(0, 4096, 1024, 30, 2);
        job_bins *sum = job_bins_make(), *none = job_bins_make();
        assert_true(narrow->shift + 5 < wide->shift);
        job_bins_join(sum, none);
        assert_false(job_bins_known(sum));
        job_bins_join(sum, way ? wide : narrow);
        job_bins_join(sum, way ? narrow : wide);
        job_bins_join(sum, none);
        assert_int_equal(sum->shift, wide->shift);
        assert_int_equal(narrow->shift, 32);
        expect_figures(sum, 0, 4096, (const double[]){4096, 4096 * 37., 34, 43}); // 6 + 28 to 9 + 34
        expect_near(sum->integral, 4096 * 37., 1, "integral");
        job_bins *zero = steady(0, 4096, 1024, 0, 0);
        assert_int_equal(zero->count, 0);
        job_bins_join(sum, zero);
        expect_figures(sum, 0, 4096, (const double[]){4096, 4096 * 37., 34, 43});
        job_bins_join(zero, sum); // and of zeros alone with others
        expect_figures(zero, 0, 4096, (const double[]){4096, 4096 * 37., 34, 43});
        job_bins_free(zero);
        job_bins_free(narrow);
        job_bins_free(wide);
        job_bins_free(none);
        job_bins_free(sum);
    }
}

// Half of a bin is known of the one, another half of the other: of what they say together the smaller part is known.
static void sums_of_parts_of_a_bin(void **state)
{
    (void)state;
    const int64_t bin = INT64_C(1) << 30;
    job_bins *a = job_bins_make(), *b = job_bins_make();
    job_bins_add(a, 0, 4 * bin, 1, 1, 1); // so wide are its bins
    job_bins_add(a, 4 * bin, 4 * bin + bin / 2, 10, 10, 10);
    job_bins_add(b, 0, 4 * bin, 2, 2, 2);
    job_bins_add(b, 4 * bin + bin / 4, 5 * bin, 4, 4, 4);
    job_bins_join(a, b);
    job_span x = job_bins_span(a, 4 * bin, 5 * bin);
    expect_near(x.known_s, (double)bin * 1e-9 / 2, 1e-5, "known");
    expect_near(x.integral, 14 * (double)bin * 1e-9 / 2, 1e-4, "integral");
    // It lies where both are known: from a fourth to a half of the bin.
    expect_near(job_bins_span(a, 4 * bin, 4 * bin + bin / 4).known_s, 0, 1e-6, "before");
    expect_near(job_bins_span(a, 4 * bin + bin / 2, 5 * bin).known_s, 0, 1e-6, "after");
    job_bins_free(a);
    job_bins_free(b);
}

// ---- more than there can be, and amounts of times that are missing ----

static void nothing_above_the_most(void **state)
{
    (void)state;
    job_bins *b = steady(0, 8, 1, 10, 1);
    job_bins_add(b, 20 * second, 24 * second, 50, 20, 90);
    job_bins_add(b, 24 * second, 28 * second, 30, 29, 31);
    job_bins_cap(b, 30.5);
    expect_figures(b, 0, 10, (const double[]){8, 80, 9, 12});
    expect_figures(b, 20, 23, (const double[]){3, 91.5, 20, 30.5});
    expect_figures(b, 25, 28, (const double[]){3, 90, 29, 30.5});
    expect_near(b->integral, 80 + 4 * 30.5 + 4 * 30, 0.5, "integral"); // the bin between two may hold of both
    job_bins_cap(b, 5);
    expect_figures(b, 0, 30, (const double[]){16, 80, 5, 5});
    expect_near(b->integral, 80, 1e-3, "integral");
    job_bins_free(b);
}

// JOB_SKIPPED are kept; of more, the two with the least time between them become one.
static void amounts_of_missing_times(void **state)
{
    (void)state;
    job_bins *b = job_bins_make();
    double sum = 0;
    for (int i = 0; i < JOB_SKIPPED; i++) {
        int64_t from = i * 10 * second;
        job_bins_skip(b, from,
                      from + (i == 30   ? 7
                              : i == 50 ? 6
                                        : 4) *
                                 second,
                      i + 1); // 3 s to the next, 4 s, else 6 s
        sum += i + 1;
    }
    assert_int_equal(b->skipped_count, JOB_SKIPPED);
    for (int more = 0; more < 2; more++) {
        int64_t from = (JOB_SKIPPED + more) * 10 * second;
        job_bins_skip(b, from, from + 4 * second, 1000 * (more + 1));
        assert_int_equal(b->skipped_count, JOB_SKIPPED);
    }
    assert_true(b->skipped[29].from_ns == 290 * second && b->skipped[31].from_ns == 320 * second);
    assert_true(b->skipped[30].from_ns == 300 * second && b->skipped[30].to_ns == 314 * second);
    expect_near(b->skipped[29].amount, 30, 1e-9, "before");
    expect_near(b->skipped[30].amount, 31 + 32, 1e-9, "of two");
    expect_near(b->skipped[31].amount, 33, 1e-9, "after");
    assert_true(b->skipped[49].from_ns == 500 * second && b->skipped[49].to_ns == 514 * second);
    expect_near(b->skipped[49].amount, 51 + 52, 1e-9, "of the next two");
    expect_near(b->skipped[JOB_SKIPPED - 1].amount, 2000, 1e-9, "the last");
    for (size_t i = 0; i < b->skipped_count; i++)
        sum -= b->skipped[i].amount;
    expect_near(sum, -3000, 1e-9, "all");
    for (int i = 0; i < JOB_SKIPPED; i++) // the last of all are the nearest then
        job_bins_skip(b, (1000 + i) * second, (1000 + i) * second + second / 2 * 2, 1);
    assert_int_equal(b->skipped_count, JOB_SKIPPED);
    job_bins_free(b);
}

// Lanes that share bins: the last one frees them.
static void owners(void **state)
{
    (void)state;
    job_bins *b = steady(0, 5, 1, 1, 0);
    b->owners++;
    job_bins_free(b);
    assert_int_equal(b->owners, 1);
    expect_figures(b, 0, 5, (const double[]){5, 5, 1, 1});
    job_bins_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_was_added),
        cmocka_unit_test(in_any_order),
        cmocka_unit_test(all_of_time),
        cmocka_unit_test(zeros_alone),
        cmocka_unit_test(sums_of_two),
        cmocka_unit_test(sums_of_unlike_ones),
        cmocka_unit_test(sums_of_parts_of_a_bin),
        cmocka_unit_test(nothing_above_the_most),
        cmocka_unit_test(amounts_of_missing_times),
        cmocka_unit_test(owners),
    };
    return cmocka_run_group_tests_name("job_bins", tests, NULL, NULL);
}
