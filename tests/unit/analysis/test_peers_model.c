// Peers beside a model of what peers.h says, worked out anew and slowly: values of any kind of group, with and without
// groups beside them, and where the level of a series changed.
#define _GNU_SOURCE
#include "netprof.h"

#include "support.h"

#include "analysis/peers/peers.h"
#include "analysis/peers/peers_numbers.h"
#include "analysis/peers/peers_onset.h"

#include <math.h>

enum { MOST = 24 };

static bool is_about(double value, double expected)
{
    if (isnan(expected) || isinf(expected)) return isnan(expected) ? isnan(value) : isinf(value);
    return fabs(value - expected) <= 1e-7 * fmax(1e-6, fabs(expected));
}

static double part_of(uint64_t *state)
{
    return (double)random_below(state, 1000000) * 1e-6;
}

// ---- the model of one value each ----

// Sorted, with who they are of.
typedef struct one {
    double value;
    size_t who;
} one;

typedef struct group {
    one known[MOST];
    size_t count, working;
    double silent;
    const peers_spread *beside;
} group;

static int by_value(const void *a, const void *b)
{
    const one *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return x->who < y->who ? -1 : x->who > y->who;
}

static double middle_of(const one *x, size_t count)
{
    return count % 2 ? x[count / 2].value : (x[count / 2 - 1].value + x[count / 2].value) / 2;
}

// Of the others, their own spread; and, where these are not wider than those beside them beyond chance, what those tell too.
static double chance_in(bool logs, double odd, const one *others, size_t n, const group *g, bool by_others)
{
    double mean = 0, squares = 0, freedom = (double)n - 1;
    for (size_t i = 0; i < n; i++)
        mean += (logs ? log(fmax(others[i].value, 1e-300)) : others[i].value) / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += pow((logs ? log(fmax(others[i].value, 1e-300)) : others[i].value) - mean, 2);
    double away = (logs ? log(fmax(odd, 1e-300)) : odd) - mean;
    if (!logs) away /= mean, squares /= mean * mean; // shares of the mean
    double variance = freedom > 0 ? squares / freedom : 0;
    if (g->beside && g->beside->freedom > 0 &&
        !(peers_fisher(variance / g->beside->variance, freedom, g->beside->freedom) < (by_others ? 1e-3 : 0.05))) {
        squares += g->beside->variance * g->beside->freedom;
        freedom += g->beside->freedom;
        variance = squares / freedom;
    }
    if (by_others)
        variance = fmax(variance, 1e-12);
    else // 3 % is usual, as four more would tell it
        freedom += 4, variance = (squares + 4 * 0.03 * 0.03) / freedom;
    return peers_student(away / sqrt(variance * (1 + 1 / (double)n)), freedom);
}

// The milder counts, after Bonferroni for all.
static double chance_of(double odd, const one *others, size_t n, const group *g, bool by_others)
{
    double worst = fmax(chance_in(false, odd, others, n, g, by_others), chance_in(true, odd, others, n, g, by_others));
    return fmin(1, worst * (double)g->count);
}

static bool apart(double ratio)
{
    return ratio >= 1.5 || ratio <= 1 / 1.5;
}

// The first `low` and the last `high` are unlike.
static void tell(peers_outcome *o, const group *g, size_t low, size_t high)
{
    const one *others = g->known + low;
    size_t n = g->count - low - high;
    o->centre = middle_of(others, n);
    o->low = others[0].value;
    o->high = others[n - 1].value;
    o->unlike = low + high;
    o->value = low ? middle_of(g->known, low) : high ? middle_of(others + n, high) : NAN;
    o->is_silent = low && g->known[low - 1].value < g->silent;
}

static bool is_one(peers_outcome *o, const group *g)
{
    size_t n = g->count;
    double middle = middle_of(g->known, n), least = g->known[0].value, most = g->known[n - 1].value;
    bool low = middle / fmax(least, 1e-300) >= most / middle;
    tell(o, g, low, !low);
    if (!apart(o->value / o->centre)) return false;
    o->odd = g->known[low ? 0 : n - 1].who;
    if (o->is_silent && o->low >= o->centre / 2) return true; // silence is no matter of noise
    o->chance = chance_of(low ? least : most, g->known + low, n - 1, g, false);
    bool telling = n > 3 || (g->beside && g->beside->freedom > 0);
    o->doubtful = !telling || chance_of(low ? least : most, g->known + low, n - 1, g, true) > 0.01;
    return o->chance <= (n < 4 ? 2e-5 : 1.6e-4 / (double)n);
}

// Two levels, where the widest gap is, narrow beside it.
static peers_kind several(peers_outcome *o, const group *g)
{
    size_t low = 0, n = g->count;
    double widest = 0;
    for (size_t i = 1; i < n; i++) {
        double gap = g->known[i].value / fmax(g->known[i - 1].value, g->silent);
        if (gap > widest) widest = gap, low = i;
    }
    size_t high = n - low, fewer = low < high ? low : high;
    double below = fmax(g->known[low - 1].value, 1e-300), above = g->known[low].value;
    if (fewer < 2 || !apart(above / below)) return PEERS_ALIKE;
    tell(o, g, low <= high ? low : 0, low <= high ? 0 : high);
    bool silent = o->is_silent && o->low >= o->centre / 2;
    o->chance = silent        ? NAN
                : low <= high ? chance_of(g->known[low - 1].value, g->known + low, high, g, false)
                              : chance_of(above, g->known, low, g, false);
    if (low == high && !silent) o->chance = fmin(o->chance, chance_of(above, g->known, low, g, false));
    double inner = log(fmax(o->high, 1e-300) / fmax(o->low, 1e-300));
    if (!silent && (o->chance > (n < 4 ? 2e-5 : 1.6e-4 / (double)n) || inner > log(above / below))) return PEERS_ALIKE;
    return 3 * fewer <= n ? PEERS_SEVERAL : PEERS_SPLIT;
}

static peers_outcome model(const group *g)
{
    peers_outcome o = {.kind = PEERS_ALIKE, .known = g->count, .always = true, .chance = NAN};
    if (g->count < 2) {
        o.kind = PEERS_FEW;
    } else if (!g->working) {
        o.kind = PEERS_IDLE;
    } else if (g->count == 2) {
        tell(&o, g, 1, 0);
        o.odd = g->known[0].who;
        o.kind = g->working == 1 ? PEERS_PART : apart(o.value / o.centre) ? PEERS_TWO : PEERS_ALIKE;
    } else if (2 * g->working <= g->count) {
        tell(&o, g, 0, g->working);
        o.kind = PEERS_PART;
    } else if (is_one(&o, g)) {
        o.kind = PEERS_ONE;
    } else {
        o.doubtful = false;
        o.kind = several(&o, g);
        if (o.kind == PEERS_ALIKE) tell(&o, g, 0, 0);
    }
    return o;
}

static group group_of(const double *values, size_t count, double silent, const peers_spread *beside)
{
    group g = {.silent = silent, .beside = beside};
    for (size_t i = 0; i < count; i++) {
        if (isnan(values[i])) continue;
        g.known[g.count++] = (one){values[i], i};
        g.working += values[i] > 0 && values[i] >= silent;
    }
    qsort(g.known, g.count, sizeof *g.known, by_value);
    return g;
}

// ---- beside it ----

// Of any kind: alike but for noise, one or some far from the others, some nothing, some not known.
static size_t some_values(uint64_t *state, double *values)
{
    static const double levels[] = {0, 0.001, 0.3, 0.5, 0.64, 0.69, 1.45, 1.55, 2, 3, 8};
    static const double noises[] = {0, 0.001, 0.01, 0.03, 0.1, 0.3};
    size_t count = 1 + random_below(state, random_below(state, 3) ? 8 : MOST), unlike = random_below(state, 4);
    double level = pow(10, floor(6 * part_of(state)) - 2), noise = noises[random_below(state, COUNT(noises))];
    for (size_t i = 0; i < count; i++) {
        values[i] = level * (1 + noise * (2 * part_of(state) - 1));
        if (random_below(state, 12) == 0) values[i] = NAN;
    }
    double other = levels[random_below(state, COUNT(levels))];
    for (size_t i = 0; i < unlike; i++)
        values[random_below(state, count)] *=
            random_below(state, 9) ? other : levels[random_below(state, COUNT(levels))];
    return count;
}

static void expect_marks(const peers_outcome *o, const double *values, size_t count, const peers_mark *marks)
{
    for (size_t i = 0; i < count; i++) {
        bool below = o->value < o->centre,
             unlike = o->kind >= PEERS_ONE && (below ? values[i] < o->low : values[i] > o->high);
        assert_int_equal(marks[i].unlike, unlike);
        assert_int_equal(marks[i].is_silent, unlike && o->is_silent);
        assert_true(marks[i].always && marks[i].from == 0 && marks[i].to == 0);
        if (!is_about(marks[i].ratio, o->centre > 0 ? values[i] / o->centre : NAN)) fail_msg("%g", marks[i].ratio);
    }
}

static void any_group(void **state)
{
    uint64_t seed = 11;
    size_t seen[PEERS_SPLIT + 1] = {0}, doubtful = 0;
    (void)state;
    for (int turn = 0; turn < 60000; turn++) {
        double values[MOST], silent = turn % 2 ? 0.01 : 1e-6;
        size_t count = some_values(&seed, values);
        peers_spread beside = {pow(10, -5 * part_of(&seed)), (double)random_below(&seed, 12)};
        const peers_spread *groups = turn % 3 ? NULL : &beside;
        group g = group_of(values, count, silent, groups);
        peers_outcome x, y = model(&g);
        peers_mark marks[MOST];
        if (groups)
            peers_weigh_beside(&x, values, count, silent, groups, marks);
        else
            peers_weigh(&x, values, count, silent, marks);
        bool figures = x.kind < PEERS_ALIKE || (is_about(x.centre, y.centre) && is_about(x.low, y.low) &&
                                                is_about(x.high, y.high) && x.unlike == y.unlike);
        bool odd = (x.kind != PEERS_ONE && x.kind != PEERS_TWO) || x.odd == y.odd ||
                   !(values[x.odd] < values[y.odd] || values[x.odd] > values[y.odd]);
        bool value = x.kind < PEERS_PART || is_about(x.value, y.value);
        bool chance = x.kind == PEERS_ALIKE || is_about(x.chance, y.chance);
        if (x.kind != y.kind || x.known != y.known || !figures || !odd || !value || !chance ||
            x.is_silent != y.is_silent || x.doubtful != y.doubtful || !x.always || x.from || x.to)
            fail_msg(
                "turn %d: kind %d for %d, of %zu, %zu for %zu, centre %g for %g, value %g for %g, chance %g for %g, "
                "doubtful %d for %d",
                turn, (int)x.kind, (int)y.kind, x.known, x.odd, y.odd, x.centre, y.centre, x.value, y.value, x.chance,
                y.chance, x.doubtful, y.doubtful);
        expect_marks(&x, values, count, marks);
        seen[x.kind]++;
        doubtful += x.doubtful;
    }
    for (int kind = 0; kind <= PEERS_SPLIT; kind++)
        if (seen[kind] < 200) fail_msg("kind %d: only %zu", kind, seen[kind]);
    assert_true(doubtful > 200);
}

// One that was far from others in every window: by what these vary by alone.
static void who_may_differ_by_chance(void **state)
{
    uint64_t seed = 12;
    size_t yes = 0, all = 0;
    (void)state;
    for (int turn = 0; turn < 4000; turn++) {
        double others[MOST], noise = 0.2 * part_of(&seed), odd = 0.2 + 3 * part_of(&seed);
        size_t count = 1 + random_below(&seed, 7);
        for (size_t i = 0; i < count; i++)
            others[i] = 1 + noise * (2 * part_of(&seed) - 1);
        group g = group_of(others, count, 0, NULL);
        g.count++; // and the one
        bool expected = count < 2 || chance_in(false, odd, g.known, count, &g, true) * (double)(count + 1) > 0.01 ||
                        chance_in(true, odd, g.known, count, &g, true) * (double)(count + 1) > 0.01;
        assert_int_equal(peers_is_doubtful(odd, others, count), expected);
        yes += expected;
        all++;
    }
    assert_true(yes > 200 && all - yes > 200);
}

// ---- where a level changed ----

enum { VALUES = 40, LEAST = 3 };

typedef struct levels {
    double in, out, inside, outside; // means, and sums of squares around them
} levels;

static levels levels_of(const double *v, size_t count, size_t from, size_t to)
{
    levels x = {0, 0, 0, 0};
    double n = (double)(to - from), m = (double)count - n;
    for (size_t i = 0; i < count; i++)
        *(i >= from && i < to ? &x.in : &x.out) += v[i] / (i >= from && i < to ? n : m);
    for (size_t i = 0; i < count; i++)
        *(i >= from && i < to ? &x.inside : &x.outside) += pow(v[i] - (i >= from && i < to ? x.in : x.out), 2);
    return x;
}

// Of two levels, with noise that is the same at both, or goes with them; a hundredth of the mean at the least.
static double likelihood(const double *v, size_t count, size_t from, size_t to, bool with_level)
{
    levels x = levels_of(v, count, from, to);
    double n = (double)(to - from), all = (double)count, mean = (x.in * n + x.out * (all - n)) / all;
    if (!with_level) return -all / 2 * log((x.inside + x.outside) / all + pow(mean / 100, 2));
    double in = fmax(x.in, mean / 100), out = fmax(x.out, mean / 100);
    double shares = (x.inside / (in * in) + x.outside / (out * out)) / all;
    return -all / 2 * log(shares + 1e-4) - n * log(in) - (all - n) * log(out);
}

// The likeliest; one that ends before the end must be far likelier than the best that does not.
static double best_of(const double *v, size_t count, bool with_level, peers_stretch *x)
{
    peers_stretch last = {0, count};
    double best = -INFINITY, until_end = -INFINITY;
    *x = last;
    for (size_t from = 0; from + LEAST <= count; from++)
        for (size_t to = from + LEAST; to <= count; to++) {
            if (count - (to - from) < LEAST) continue;
            double l = likelihood(v, count, from, to, with_level);
            if (l > best) best = l, *x = (peers_stretch){from, to};
            if (to == count && l > until_end) until_end = l, last = (peers_stretch){from, to};
        }
    if (best - until_end > 2 * log((double)count)) return best;
    *x = last;
    return until_end;
}

// Most of the likelihood lies within two values of it.
static size_t edge_of(const double *v, size_t count, bool with_level, peers_stretch x, bool end)
{
    double l[VALUES + 1], most = -INFINITY, share[VALUES + 1];
    size_t low = end ? x.from + LEAST : x.to == count ? LEAST : 0, high = end ? count : x.to - LEAST;
    size_t best = end ? x.to : x.from;
    for (size_t at = low; at <= high; at++) {
        size_t from = end ? x.from : at, to = end ? at : x.to;
        l[at] = count - (to - from) < LEAST ? -INFINITY : likelihood(v, count, from, to, with_level);
        most = fmax(most, l[at]);
    }
    for (size_t at = low; at <= high; at++) {
        share[at] = 0.02 * exp(l[at] - most);
        for (size_t i = low; i <= high; i++)
            if (i + 2 >= at && i <= at + 2) share[at] += exp(l[i] - most);
    }
    for (size_t at = low; at <= high; at++)
        if (share[at] > share[best] * (1 + 1e-12)) best = at;
    return best;
}

static peers_stretch onset_model(const double *v, size_t count)
{
    peers_stretch same, with, x;
    bool with_level = best_of(v, count, true, &with) > best_of(v, count, false, &same);
    x = with_level ? with : same;
    if (x.from > 0) x.from = edge_of(v, count, with_level, x, false);
    if (x.to < count) x.to = edge_of(v, count, with_level, x, true);
    return x;
}

static double evidence_model(const double *v, size_t count, peers_stretch x)
{
    double mean = 0, squares = 0, n = (double)count;
    for (size_t i = 0; i < count; i++)
        mean += v[i] / n;
    for (size_t i = 0; i < count; i++)
        squares += pow(v[i] - mean, 2) / n;
    double none = -n / 2 * log(squares + pow(mean / 100, 2));
    double two = fmax(likelihood(v, count, x.from, x.to, false), likelihood(v, count, x.from, x.to, true));
    return sqrt(2 * fmax(two - none, 0));
}

// In standard deviations of what is left around the two levels; a hundredth at the least.
static double height_model(const double *v, size_t count, peers_stretch x)
{
    levels l = levels_of(v, count, x.from, x.to);
    double in = (double)(x.to - x.from), out = (double)count - in, freedom = (double)count - 2;
    double mean = (l.in * in + l.out * out) / (in + out);
    double level = fmax(l.in, mean / 1000), rest = fmax(l.out, mean / 1000);
    double inside = l.inside + in * pow(level - l.in, 2), outside = l.outside + out * pow(rest - l.out, 2);
    double shares = sqrt((inside / (level * level) + outside / (rest * rest)) / freedom);
    double same = sqrt((inside + outside) / freedom), each = sqrt(1 / (1 / in + 1 / out));
    double by_share = fabs(log(level) - log(rest)) / fmax(0.01, shares) * each;
    return level < rest ? fmax(by_share, fabs(level - rest) / fmax(mean / 100, same) * each) : by_share;
}

// Levels of any size from any window to any, with noise of either kind.
static void where_levels_changed(void **state)
{
    static const double sizes[] = {0, 0.1, 0.5, 0.8, 1, 1.3, 2, 5};
    uint64_t seed = 13;
    size_t inner = 0;
    (void)state;
    for (int turn = 0; turn < 1500; turn++) {
        double v[VALUES], size = sizes[random_below(&seed, COUNT(sizes))], noise = 0.001 + 0.3 * pow(part_of(&seed), 2);
        size_t count = 2 * LEAST + random_below(&seed, VALUES - 2 * LEAST + 1),
               from = random_below(&seed, count - LEAST),
               to = turn % 3 ? count : from + LEAST + random_below(&seed, count - from - LEAST + 1);
        if (to - from == count) size += 0.5; // never nothing at all
        for (size_t i = 0; i < count; i++) {
            double level = i >= from && i < to ? size : 1;
            v[i] = fmax(1e-3, 7 * (level + noise * (turn % 2 ? level : 1) * (2 * part_of(&seed) - 1)));
        }
        peers_stretch x = peers_onset(v, count, LEAST), y = onset_model(v, count);
        if (x.from != y.from || x.to != y.to)
            fail_msg("turn %d of %zu: %zu to %zu, not %zu to %zu", turn, count, x.from, x.to, y.from, y.to);
        double e = peers_onset_evidence(v, count, x), h = peers_onset_height(v, count, x);
        if (!(fabs(e - evidence_model(v, count, x)) <= 1e-4 * (1 + e))) fail_msg("turn %d: evidence %g", turn, e);
        if (!(fabs(h - height_model(v, count, x)) <= 1e-4 * (1 + h))) fail_msg("turn %d: height %g", turn, h);
        inner += x.from > 0 && x.to < count;
    }
    assert_true(inner > 100);
}

// What is left of one's own where as much of the others' steps is taken off as both share, from none of it to all.
static void beside_the_others(void **state)
{
    uint64_t seed = 14;
    (void)state;
    for (int turn = 0; turn < 300; turn++) {
        double own[VALUES], others[VALUES], was[VALUES], share = 2 * part_of(&seed) - 0.5, both = 0, all = 0;
        size_t count = 1 + random_below(&seed, VALUES);
        for (size_t i = 0; i < count; i++) {
            others[i] = turn % 9 ? part_of(&seed) - 0.5 : 0.25;
            was[i] = own[i] = share * others[i] + 0.1 * part_of(&seed);
            if (i)
                both += (own[i] - own[i - 1]) * (others[i] - others[i - 1]), all += pow(others[i] - others[i - 1], 2);
        }
        double slope = all > 0 ? fmin(fmax(both / all, 0), 1) : 1;
        peers_onset_beside(own, others, count);
        for (size_t i = 0; i < count; i++)
            assert_true(is_about(own[i], exp(was[i] - slope * others[i])));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_group),
        cmocka_unit_test(who_may_differ_by_chance),
        cmocka_unit_test(where_levels_changed),
        cmocka_unit_test(beside_the_others),
    };
    return cmocka_run_group_tests_name("peers_model", tests, NULL, NULL);
}
