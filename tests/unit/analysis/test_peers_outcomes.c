// Peers: every figure of an outcome, chances beside their closed forms, where a level changed, and who sent what to whom.
#define _GNU_SOURCE
#include "netprof.h"

#include "support.h"

#include "analysis/base/json.h"
#include "analysis/base/stb_ds.h"
#include "analysis/peers/pairs.h"
#include "analysis/peers/pairs_json.h"
#include "analysis/peers/peers.h"
#include "analysis/peers/peers_numbers.h"
#include "analysis/peers/peers_onset.h"

#include <math.h>

enum { WINDOWS = 48 };

static bool is_about(double value, double expected)
{
    return isnan(expected) ? isnan(value) : fabs(value - expected) <= 1e-9 * fmax(1, fabs(expected));
}

// A little that is not the same in any two: -1 to 1.
static double wobble(size_t i)
{
    return (double)((i * 7919 + 31) % 1009) / 504.5 - 1;
}

// ---- one value each ----

// What is asked of values: their kind and, beyond it, the figures that the others' words are made of.
static void every_figure_of_an_outcome(void **state)
{
    static const struct {
        double values[6];
        size_t count;
        peers_outcome o;
        unsigned unlike; // a bit for each
    } rows[] = {
        {{7}, 1, {.kind = PEERS_FEW, .known = 1}, 0},
        {{NAN, 7, NAN}, 3, {.kind = PEERS_FEW, .known = 1}, 0},
        {{0, 0.5, NAN}, 3, {.kind = PEERS_IDLE, .known = 2}, 0}, // what is below 1 is nothing
        {{10, 10.1, 9.9},
         3,
         {.kind = PEERS_ALIKE, .known = 3, .value = NAN, .centre = 10, .low = 9.9, .high = 10.1},
         0},
        {{8, NAN, 20},
         3,
         {.kind = PEERS_TWO, .known = 2, .unlike = 1, .odd = 0, .value = 8, .centre = 20, .low = 20, .high = 20},
         1},
        {{20, 14},
         2,
         {.kind = PEERS_ALIKE, .known = 2, .unlike = 1, .odd = 1, .value = 14, .centre = 20, .low = 20, .high = 20},
         0},
        {{20, 0},
         2,
         {.kind = PEERS_PART,
          .known = 2,
          .unlike = 1,
          .odd = 1,
          .centre = 20,
          .low = 20,
          .high = 20,
          .is_silent = true},
         0},
        {{0, 30, 0, 40, NAN, 0},
         6,
         {.kind = PEERS_PART, .known = 5, .unlike = 2, .value = 35, .centre = 0, .low = 0, .high = 0},
         0},
        {{10, 10.1, 30, 9.9, 10.2},
         5,
         {.kind = PEERS_ONE, .known = 5, .unlike = 1, .odd = 2, .value = 30, .centre = 10.05, .low = 9.9, .high = 10.2},
         1 << 2},
        {{10, 3, 10.1, NAN, 9.9, 10.2},
         6,
         {.kind = PEERS_ONE, .known = 5, .unlike = 1, .odd = 1, .value = 3, .centre = 10.05, .low = 9.9, .high = 10.2},
         1 << 1},
        {{10, 8, 12, 0},
         4,
         {.kind = PEERS_ONE, .known = 4, .unlike = 1, .odd = 3, .centre = 10, .low = 8, .high = 12, .is_silent = true},
         1 << 3},
        {{10, 4, 10.1, 4.2, 9.9, 10.2},
         6,
         {.kind = PEERS_SEVERAL, .known = 6, .unlike = 2, .value = 4.1, .centre = 10.05, .low = 9.9, .high = 10.2},
         1 << 1 | 1 << 3},
        {{30, 10, 10.1, 32, 10.3, 10.2},
         6,
         {.kind = PEERS_SEVERAL, .known = 6, .unlike = 2, .value = 31, .centre = 10.15, .low = 10, .high = 10.3},
         1 | 1 << 3},
        {{10, 4, 10.1, 4.2, 9.9, 4.1},
         6,
         {.kind = PEERS_SPLIT, .known = 6, .unlike = 3, .value = 4.1, .centre = 10, .low = 9.9, .high = 10.1},
         1 << 1 | 1 << 3 | 1 << 5},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const peers_outcome *y = &rows[i].o;
        peers_outcome o;
        peers_mark marks[6];
        unsigned unlike = 0;
        peers_weigh(&o, rows[i].values, rows[i].count, 1, marks);
        bool figures =
            o.kind < PEERS_ALIKE || (is_about(o.centre, y->centre) && is_about(o.low, y->low) &&
                                     is_about(o.high, y->high) && (isnan(y->value) || is_about(o.value, y->value)));
        bool odd = (o.kind != PEERS_ONE && o.kind != PEERS_TWO) || o.odd == y->odd;
        bool count = o.kind == PEERS_ALIKE || o.unlike == y->unlike;
        if (o.kind != y->kind || o.known != y->known || !figures || !odd || !count || !o.always ||
            o.is_silent != y->is_silent)
            fail_msg("%zu: kind %d, %zu known, %zu unlike, %zu odd, %g beside %g (%g to %g)", i, (int)o.kind, o.known,
                     o.unlike, o.odd, o.value, o.centre, o.low, o.high);
        for (size_t k = 0; k < rows[i].count; k++) {
            unlike |= (unsigned)marks[k].unlike << k;
            if (o.kind >= PEERS_ALIKE && o.centre > 0)
                assert_true(is_about(marks[k].ratio, rows[i].values[k] / o.centre));
            assert_true(marks[k].always);
            assert_int_equal(marks[k].is_silent, marks[k].unlike && o.is_silent);
        }
        if (o.kind != PEERS_TWO && unlike != rows[i].unlike) fail_msg("%zu: %x are unlike", i, unlike);
    }
}

static void how_far_is_apart(void **state)
{
    (void)state;
    assert_true(peers_is_apart(PEERS_APART) && peers_is_apart(1 / PEERS_APART) && peers_is_apart(0));
    assert_true(peers_is_apart(100) && !peers_is_apart(1) && !peers_is_apart(NAN));
    assert_false(peers_is_apart(PEERS_APART * 0.999));
    assert_false(peers_is_apart(1.001 / PEERS_APART));
}

static void which_words_are_odd(void **state)
{
    static const struct {
        const char *words[8];
        size_t count;
        peers_kind kind;
        size_t known, unlike, odd, usual;
    } rows[] = {
        {{"a", "b", "b"}, 3, PEERS_ONE, 3, 1, 0, 1},
        {{NULL, "b", "c", "b"}, 4, PEERS_ONE, 3, 1, 2, 1},
        {{"c", "a", "b", "a", "b", "a", "a", "a"}, 8, PEERS_SPLIT, 8, 3, 2, 1}, // of three the more frequent ones
        {{"c", "a", "b", "a", "a", "a", "a", "a"}, 8, PEERS_SEVERAL, 8, 2, 0, 1},
        {{"a", "a", "a", "a", "b", "c"}, 6, PEERS_SEVERAL, 6, 2, 4, 0},
        {{"a", "a", "b", "b", "a"}, 5, PEERS_SPLIT, 5, 2, 2, 0},
        {{NULL, "x", NULL, "x"}, 4, PEERS_ALIKE, 2, 0, 0, 1},
        {{"x", NULL}, 2, PEERS_FEW, 1, 0, 0, 0},
        {{NULL, "x", "y"}, 3, PEERS_TWO, 2, 1, 2, 1},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        peers_outcome o;
        size_t usual = 99;
        peers_weigh_words(&o, rows[i].words, rows[i].count, &usual);
        bool odd = !rows[i].unlike || o.odd == rows[i].odd;
        if (o.kind != rows[i].kind || o.known != rows[i].known || o.unlike != rows[i].unlike || !odd ||
            usual != rows[i].usual || !o.always)
            fail_msg("%zu: kind %d, %zu known, %zu unlike, %zu odd, %zu usual", i, (int)o.kind, o.known, o.unlike,
                     o.odd, usual);
    }
}

// ---- numbers ----

// Student's t of 1 and 2 degrees of freedom, and Fisher's F of 2 and n, have closed forms.
static void chances_of_closed_forms(void **state)
{
    (void)state;
    for (double t = 0.125; t < 2000; t *= 2) {
        double one = 1 - 2 / 3.14159265358979324 * atan(t), two = 1 - t / sqrt(2 + t * t);
        assert_true(fabs(peers_student(t, 1) - one) < 1e-9 && fabs(peers_student(-t, 1) - one) < 1e-9);
        assert_true(fabs(peers_student(t, 2) - two) < 1e-9);
        for (double n = 1; n < 100; n *= 3)
            assert_true(fabs(peers_fisher(t, 2, n) - pow(1 + 2 * t / n, -n / 2)) < 1e-9);
        assert_true(fabs(peers_student(t, 1e5) - peers_student(t, 2e5)) < 1e-5); // Gauss from here on
    }
    assert_true(peers_student(NAN, 3) >= 1 && peers_student(3, 0) >= 1 && peers_student(3, -1) >= 1);
    assert_true(peers_fisher(2, 0, 3) >= 1 && peers_fisher(2, 3, 0) >= 1 && peers_fisher(NAN, 3, 3) >= 1);
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void medians_of_any_count(void **state)
{
    (void)state;
    for (size_t count = 1; count <= 40; count++) {
        double values[40], sorted[40];
        for (size_t i = 0; i < count; i++)
            values[i] = sorted[i] = floor(wobble(i * i + count) * 10);
        qsort(sorted, count, sizeof *sorted, by_value);
        double expected = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
        assert_true(is_about(peers_median(values, count), expected));
        qsort(values, count, sizeof *values, by_value); // nothing is lost
        for (size_t i = 0; i < count; i++)
            assert_true(is_about(values[i], sorted[i]));
    }
}

static void sums_and_what_peers_vary_by(void **state)
{
    const double values[] = {2, 4, NAN, 9, 100};
    const bool without[] = {false, false, false, false, true};
    (void)state;
    peers_sum s = peers_sum_of(values, 5, without);
    assert_true(is_about(s.count, 3) && is_about(s.mean, 5) && is_about(s.variance, 13)); // 9 + 1 + 16, of 2
    s = peers_sum_of(values, 5, NULL);
    assert_true(is_about(s.count, 4) && is_about(s.mean, 28.75));
    s = peers_sum_of(values, 1, NULL);
    assert_true(is_about(s.count, 1) && is_about(s.mean, 2) && is_about(s.variance, 0));
    s = peers_sum_of(values, 0, NULL);
    assert_true(is_about(s.count, 0) && is_about(s.mean, 0) && is_about(s.variance, 0));
    // Beside four devices' worth of the usual 3 %; less what noise makes of it in one of ten cases.
    peers_error e = peers_error_of(0.01, 9, 0, 0);
    assert_true(is_about(e.between_freedom, 12) && is_about(e.between, (8 * 0.01 + 4 * 0.0009) / 12));
    assert_true(is_about(e.noise, 0) && is_about(e.noise_freedom, 1));
    e = peers_error_of(0.01, 9, 0.002, 30);
    assert_true(is_about(e.between, (8 * (0.01 - 0.002 * 1.65) + 4 * 0.0009) / 12));
    assert_true(is_about(e.noise, 0.002) && is_about(e.noise_freedom, 30));
    e = peers_error_of(0.001, 1, 0.02, 30);
    assert_true(is_about(e.between, 0.0009) && is_about(e.between_freedom, 4));
    e = (peers_error){.noise = 3, .noise_freedom = 3, .between = 1, .between_freedom = 1}; // 16 / (3 + 1): 4
    assert_true(is_about(peers_chance(5, &e, 4), peers_student(5 / sqrt(4 * 1.25), 4)));
    assert_true(is_about(peers_chance(5, &e, 0), peers_student(5 / sqrt(8), 4)));
    assert_true(is_about(peers_chance_most(3), 2e-5) && is_about(peers_chance_most(4), 4e-5));
    assert_true(is_about(peers_chance_most(16), 1e-5));
}

// Groups that are alike tell what such groups vary by: the mean of their variances, each as far as it is known.
static void what_alike_groups_vary_by(void **state)
{
    peers_spread s = {0, 0};
    (void)state;
    peers_spread_add(&s, (const double[]){9, 10, 11}, 3, 1); // variance 1 of a mean of 10
    assert_true(is_about(s.freedom, 2) && is_about(s.variance, 0.01));
    peers_spread_add(&s, (const double[]){100, NAN, 100}, 3, 1);
    assert_true(is_about(s.freedom, 3) && is_about(s.variance, 0.02 / 3));
    peers_spread_add(&s, (const double[]){100, 10}, 2, 1); // not alike
    peers_spread_add(&s, (const double[]){5}, 1, 1);
    assert_true(is_about(s.freedom, 3) && is_about(s.variance, 0.02 / 3));
}

// ---- over time ----

// One of four is at another level in a stretch, wherever that lies: which one, when, and by how much.
static void the_stretch_of_the_odd_one(void **state)
{
    static const struct {
        size_t from, to;
        double level;
    } rows[] = {{0, WINDOWS, 0.5}, {0, WINDOWS, 2}, {16, WINDOWS, 0.5}, {0, 20, 0.5},
                {12, 30, 0.5},     {12, 30, 2},     {16, WINDOWS, 0}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        for (size_t odd = 0; odd < 4; odd++) {
            float values[4 * WINDOWS];
            peers_mark marks[4];
            peers_outcome o;
            for (size_t k = 0; k < 4; k++)
                for (size_t w = 0; w < WINDOWS; w++) {
                    double level = k == odd && w >= rows[i].from && w < rows[i].to ? rows[i].level : 1;
                    values[k * WINDOWS + w] = (float)(1000 * level * (1 + 0.02 * wobble(k * 977 + w * 13)));
                }
            peers_follow(&o, values, 4, WINDOWS, 1, marks);
            bool always = rows[i].from == 0 && rows[i].to == WINDOWS;
            bool when = always || (o.from + 1 >= rows[i].from && o.from <= rows[i].from + 1 && o.to + 1 >= rows[i].to &&
                                   o.to <= rows[i].to + 1);
            if (o.kind != PEERS_ONE || o.odd != odd || o.known != 4 || o.unlike != 1 || o.always != always || !when)
                fail_msg("%zu of %zu: kind %d, %zu odd, %zu to %zu", i, odd, (int)o.kind, o.odd, o.from, o.to);
            assert_true(fabs(o.value - 1000 * rows[i].level) < 60 && fabs(o.centre - 1000) < 20);
            assert_true(o.low <= o.centre && o.centre <= o.high && o.low > 980 && o.high < 1020);
            assert_int_equal(o.is_silent, !(rows[i].level > 0));
            for (size_t k = 0; k < 4; k++)
                assert_int_equal(marks[k].unlike, k == odd);
            assert_true(fabs(marks[odd].ratio - rows[i].level) < 0.06);
            assert_int_equal(marks[odd].always, always);
            if (!always) assert_true(marks[odd].from == o.from && marks[odd].to == o.to);
        }
}

// Where the level of a series changes, to the value.
static void where_a_level_changes(void **state)
{
    static const struct {
        size_t from, to;
        double level;
    } rows[] = {{10, 40, 2}, {10, 40, 0.5}, {20, WINDOWS, 3}, {20, WINDOWS, 0.3}, {30, 36, 4}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        double values[WINDOWS], flat[WINDOWS];
        for (size_t w = 0; w < WINDOWS; w++) {
            flat[w] = 1 + 0.02 * wobble(w * 17);
            values[w] = flat[w] * (w >= rows[i].from && w < rows[i].to ? rows[i].level : 1);
        }
        peers_stretch x = peers_onset(values, WINDOWS, 3);
        if (x.from != rows[i].from || x.to != rows[i].to) fail_msg("%zu: %zu to %zu", i, x.from, x.to);
        assert_true(peers_onset_evidence(values, WINDOWS, x) > 8);
        assert_true(peers_onset_height(values, WINDOWS, x) > 8);
        assert_true(peers_onset_evidence(flat, WINDOWS, x) < 3); // where nothing changes, nothing tells so
        assert_true(peers_onset_height(flat, WINDOWS, x) < 3);
    }
    assert_true(isinf(peers_onset_height((const double[]){1, 2, 3}, 3, (peers_stretch){0, 3})));
}

// Steps that both make are not the one's own: of what others do as well nothing is left.
static void what_others_do_as_well(void **state)
{
    double own[WINDOWS], others[WINDOWS];
    (void)state;
    for (size_t w = 0; w < WINDOWS; w++) {
        others[w] = log(1 + (double)(w % 5));
        own[w] = others[w] + log(w >= 30 ? 2 : 1);
    }
    peers_onset_beside(own, others, WINDOWS);
    for (size_t w = 0; w < WINDOWS; w++)
        assert_true(fabs(own[w] / (w >= 30 ? 2 : 1) - 1) < 0.1);
    for (size_t w = 0; w < WINDOWS; w++) {
        own[w] = log(w % 2 ? 3 : 1);
        others[w] = log(w % 2 ? 1 : 3); // the other way round: not what they do
    }
    peers_onset_beside(own, others, WINDOWS);
    for (size_t w = 0; w < WINDOWS; w++)
        assert_true(is_about(own[w], w % 2 ? 3 : 1));
}

// ---- who sent what to whom ----

static pairs four_ranks(void)
{
    pairs p = {.layer = "MPI", .outside_bytes = 70, .together_bytes = 2000, .unassigned_ns = 12, .taken_ns = 34};
    size_t a = pairs_add_node(&p, "a"), b = pairs_add_node(&p, "b");
    pairs_add_place(&p, "rank 0", a);
    pairs_add_place(&p, "rank 1", b);
    pairs_add_place(&p, "rank 2", a);
    pairs_add(&p, &(pairs_cell){.sender = 1, .receiver = 0, .bytes = 100, .messages = 3, .delay_ns = 50, .delayed = 2});
    pairs_add(&p, &(pairs_cell){.sender = 0, .receiver = 2, .bytes = 400, .messages = 4});
    pairs_add(&p, &(pairs_cell){.sender = 0, .receiver = 1, .bytes = 100, .messages = 5, .delay_ns = 9, .delayed = 1});
    pairs_add(&p, &(pairs_cell){.sender = 1, .receiver = 0, .bytes = 20, .messages = 1, .delay_ns = 40, .delayed = 1});
    pairs_finish(&p);
    return p;
}

static void pairs_add_up(void **state)
{
    pairs p = four_ranks(), by_node;
    uint64_t sent[2] = {0}, received[2] = {0};
    size_t *largest;
    (void)state;
    assert_int_equal(pairs_add_node(&p, "a"), 0); // the same name is the same node
    assert_int_equal(arrlenu(p.cells), 3);
    const pairs_cell *cell = pairs_find(&p, 1, 0);
    assert_int_equal(cell->bytes, 120);
    assert_int_equal(cell->messages, 4);
    assert_int_equal(cell->delayed, 3);
    assert_true(is_about(pairs_delay_of(cell), 30));
    assert_null(pairs_find(&p, 2, 0));
    pairs_sums s = pairs_sum(&p, sent, received);
    assert_int_equal(s.pairs, 3);
    assert_int_equal(s.within, 400);
    assert_int_equal(s.between, 220);
    assert_int_equal(s.messages, 13);
    assert_int_equal(s.delayed, 4);
    assert_true(is_about(s.delay_ns, 99));
    assert_true(sent[0] == 100 && sent[1] == 120 && received[0] == 120 && received[1] == 100);
    size_t count = pairs_largest(&p, 9, &largest);
    assert_int_equal(count, 3);
    assert_int_equal(p.cells[largest[0]].bytes, 400);
    assert_int_equal(p.cells[largest[1]].bytes, 120);
    assert_int_equal(p.cells[largest[2]].bytes, 100);
    free(largest);
    p.mark = (pairs_mark){1, PAIRS_NONE};
    p.delay = "a wait";
    pairs_by_node(&by_node, &p);
    assert_string_equal(by_node.layer, "MPI");
    assert_string_equal(by_node.delay, "a wait");
    assert_int_equal(by_node.outside_bytes, 70);
    assert_int_equal(arrlenu(by_node.places), 2);
    assert_int_equal(pairs_find(&by_node, 0, 0)->bytes, 400);
    assert_int_equal(pairs_find(&by_node, 0, 1)->bytes, 100);
    assert_int_equal(pairs_find(&by_node, 1, 0)->messages, 4);
    assert_int_equal(by_node.mark.sender, 1);
    assert_true(by_node.mark.receiver == PAIRS_NONE);
    pairs_free(&by_node);
    pairs_free(&p);
    assert_null(p.cells);
}

static void pairs_as_json(void **state)
{
    pairs p = four_ranks();
    (void)state;
    json_object *o = pairs_json(&p, 3);
    assert_string_equal(
        json_to_text(o, JSON_C_TO_STRING_PLAIN),
        "{\"layer\":\"MPI\",\"rank_count\":3,\"between_hosts_bytes\":220,\"within_hosts_bytes\":400,"
        "\"elsewhere_bytes\":70,\"collective_bytes\":2000,\"message_count\":13,\"waiting_for_unknown_ns\":12,"
        "\"waiting_for_receivers_ns\":34,\"pairs\":["
        "{\"sender\":\"rank 0\",\"sender_host\":\"a\",\"receiver\":\"rank 2\",\"receiver_host\":\"a\",\"bytes\":400,"
        "\"message_count\":4,\"mean_receive_ns\":null,\"timed_receive_count\":0},"
        "{\"sender\":\"rank 1\",\"sender_host\":\"b\",\"receiver\":\"rank 0\",\"receiver_host\":\"a\",\"bytes\":120,"
        "\"message_count\":4,\"mean_receive_ns\":30,\"timed_receive_count\":3},"
        "{\"sender\":\"rank 0\",\"sender_host\":\"a\",\"receiver\":\"rank 1\",\"receiver_host\":\"b\",\"bytes\":100,"
        "\"message_count\":5,\"mean_receive_ns\":9,\"timed_receive_count\":1}],\"pairs_left_out\":0}");
    json_object_put(o);
    pairs_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_figure_of_an_outcome),
        cmocka_unit_test(how_far_is_apart),
        cmocka_unit_test(which_words_are_odd),
        cmocka_unit_test(chances_of_closed_forms),
        cmocka_unit_test(medians_of_any_count),
        cmocka_unit_test(sums_and_what_peers_vary_by),
        cmocka_unit_test(what_alike_groups_vary_by),
        cmocka_unit_test(the_stretch_of_the_odd_one),
        cmocka_unit_test(where_a_level_changes),
        cmocka_unit_test(what_others_do_as_well),
        cmocka_unit_test(pairs_add_up),
        cmocka_unit_test(pairs_as_json),
    };
    return cmocka_run_group_tests_name("peers_outcomes", tests, NULL, NULL);
}
