#include "peers.h"

#include "analysis/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// What does nothing is no matter of noise, where the others all work.
static bool peers_all_work(const peers_outcome *o)
{
    return 2 * o->low >= o->centre;
}

bool peers_is_apart(double ratio)
{
    return ratio * PEERS_APART <= 1 || ratio >= PEERS_APART;
}

// ---- one value each ----

typedef struct peers_group {
    const double *values;
    size_t count;
    double silent;
    const peers_spread *beside; // or NULL
    double *known;              // sorted
    size_t known_count, working;
} peers_group;

static int peers_by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void peers_group_make(peers_group *g, const double *values, size_t count, double silent)
{
    *g = (peers_group){.values = values, .count = count, .silent = silent};
    g->known = memory_calloc(count + 1, sizeof *g->known);
    for (size_t i = 0; i < count; i++) {
        if (isnan(values[i])) continue;
        g->known[g->known_count++] = values[i];
        g->working += values[i] > 0 && values[i] >= silent;
    }
    if (g->known_count) qsort(g->known, g->known_count, sizeof *g->known, peers_by_value);
}

static double peers_middle(const double *sorted, size_t count)
{
    return count ? (sorted[(count - 1) / 2] + sorted[count / 2]) / 2 : NAN;
}

// The others' figures, when the `low` smallest and the `high` largest are unlike.
static void peers_tell_others(peers_outcome *o, const peers_group *g, size_t low, size_t high)
{
    size_t n = g->known_count - low - high;
    o->centre = peers_middle(g->known + low, n);
    o->low = g->known[low];
    o->high = g->known[low + n - 1];
    o->value = low ? peers_middle(g->known, low) : peers_middle(g->known + low + n, high);
    o->unlike = low + high;
    o->is_silent = low && g->known[low - 1] < g->silent;
}

static size_t peers_index_of(const peers_group *g, double value)
{
    size_t i = 0;
    while (!(g->values[i] >= value && g->values[i] <= value))
        i++;
    return i;
}

// How sure it must be: by what is usual elsewhere as well, or by what the others vary by alone.
typedef enum peers_proof { PEERS_BY_USUAL, PEERS_BY_OTHERS } peers_proof;

// What the others vary by, and how many tell so: those of other groups as well, unless these here vary more beyond chance.
static peers_error peers_error_beside(double variance, double others, const peers_spread *beside, peers_proof by)
{
    // Own. Doubt, which comes on top, needs more before what other groups tell is given up; least: of values that are the same.
    const double as_theirs = by == PEERS_BY_USUAL ? 0.05 : 1e-3, least = 1e-12;
    double here = fmax(others - 1, 0);
    if (beside && beside->freedom > 0 &&
        !(peers_fisher(variance / beside->variance, here, beside->freedom) < as_theirs)) {
        double freedom = here + beside->freedom;
        variance = (here * variance + beside->freedom * beside->variance) / freedom;
        others = freedom + 1;
    }
    if (by == PEERS_BY_USUAL) return peers_error_of(variance, others, 0, 1);
    return (peers_error){.noise_freedom = 1, .between = fmax(variance, least), .between_freedom = others - 1};
}

// The chance that one of a group would be as far from the `n` others.
static double peers_chance_beside(double odd, const double *others, size_t n, const peers_spread *beside,
                                  peers_proof by)
{
    double *logs = memory_calloc(n + 1, sizeof *logs), worst = 0;
    for (size_t i = 0; i < n; i++)
        logs[i] = log(fmax(others[i], 1e-300));
    for (int way = 0; way < 2; way++) {
        peers_sum s = peers_sum_of(way ? logs : others, n, NULL);
        double scale = way ? 1 : s.mean, x = way ? log(fmax(odd, 1e-300)) : odd;
        peers_error e = peers_error_beside(s.variance / (scale * scale), s.count, beside, by);
        worst = fmax(worst, peers_chance((x - s.mean) / scale, &e, s.count));
    }
    free(logs);
    return worst;
}

// Own: how often at most a healthy group may look odd, whatever it varies by. Of four that vary by 1 % one at half is found
// in 99 % of cases then; what is asked beyond that costs more of these than it spares healthy ones (tests/labelled/README.md).
static const double peers_doubt = 1e-2;

// What two vary by tells next to nothing: of three that were read once, with no groups beside them, none is certain.
enum { PEERS_TELLING = 3 };

// Two that were alike in every window were not alike by chance.
bool peers_is_doubtful(double value, const double *others, size_t count)
{
    return count < 2 ||
           peers_chance_beside(value, others, count, NULL, PEERS_BY_OTHERS) * (double)(count + 1) > peers_doubt;
}

// The chance that one of this group would be as far from the others as the `far` smallest or largest are at the least.
static double peers_group_chance(const peers_group *g, size_t low, size_t high, peers_proof by)
{
    const double *others = g->known + low;
    size_t n = g->known_count - low - high;
    double odd = low ? g->known[low - 1] : others[n];
    return fmin(1, peers_chance_beside(odd, others, n, g->beside, by) * (double)g->known_count);
}

static bool peers_find_one(peers_outcome *o, const peers_group *g)
{
    size_t n = g->known_count;
    double middle = peers_middle(g->known, n);
    double below = middle / fmax(g->known[0], 1e-300), above = g->known[n - 1] / fmax(middle, 1e-300);
    bool is_low = below >= above;
    peers_tell_others(o, g, is_low, !is_low);
    o->chance = NAN;
    if (!peers_is_apart(o->value / o->centre)) return false;
    if (!o->is_silent || !peers_all_work(o)) {
        o->chance = peers_group_chance(g, is_low, !is_low, PEERS_BY_USUAL);
        if (!(o->chance <= peers_chance_most(n))) return false;
        bool telling = n > PEERS_TELLING || (g->beside && g->beside->freedom > 0);
        o->doubtful = !telling || peers_group_chance(g, is_low, !is_low, PEERS_BY_OTHERS) > peers_doubt;
    }
    o->kind = PEERS_ONE;
    o->odd = peers_index_of(g, is_low ? g->known[0] : g->known[n - 1]);
    return true;
}

// Where the widest gap is: so many lie below it.
static size_t peers_widest_gap(const peers_group *g)
{
    size_t best = 0;
    double most = 0;
    for (size_t i = 1; i < g->known_count; i++) {
        double gap = g->known[i] / fmax(g->known[i - 1], g->silent > 0 ? g->silent : 1e-300);
        if (gap > most) most = gap, best = i;
    }
    return best;
}

// Two levels: most of them on one, or half and half.
static void peers_find_several(peers_outcome *o, const peers_group *g)
{
    size_t low = peers_widest_gap(g), n = g->known_count, high = n - low, fewer = low < high ? low : high;
    if (fewer < 2 || !peers_is_apart(g->known[low] / fmax(g->known[low - 1], 1e-300))) return;
    bool of_low = low <= high;
    peers_tell_others(o, g, of_low ? low : 0, of_low ? 0 : high);
    bool silent = o->is_silent && peers_all_work(o);
    o->chance = silent ? NAN : peers_group_chance(g, of_low ? low : 0, of_low ? 0 : high, PEERS_BY_USUAL);
    if (low == high && !silent) o->chance = fmin(o->chance, peers_group_chance(g, 0, high, PEERS_BY_USUAL));
    // The halves must be narrow beside what is between them.
    double gap = log(g->known[low] / fmax(g->known[low - 1], 1e-300));
    double inner = log(o->high / fmax(o->low, 1e-300));
    if (!silent && (o->chance > peers_chance_most(n) || inner > gap)) return;
    o->kind = 3 * fewer <= n ? PEERS_SEVERAL : PEERS_SPLIT;
}

static void peers_mark_them(const peers_outcome *o, const double *values, size_t count, peers_mark *marks)
{
    for (size_t i = 0; marks && i < count; i++) {
        marks[i] = (peers_mark){.ratio = o->centre > 0 ? values[i] / o->centre : NAN, .always = true};
        if (o->kind < PEERS_ONE || isnan(values[i])) continue;
        marks[i].unlike = o->value < o->centre ? values[i] < o->low : values[i] > o->high;
        marks[i].is_silent = marks[i].unlike && o->is_silent;
    }
}

static void peers_weigh_two(peers_outcome *o, const peers_group *g)
{
    peers_tell_others(o, g, 1, 0);
    o->odd = peers_index_of(g, g->known[0]);
    if (g->working == 1)
        o->kind = PEERS_PART;
    else if (peers_is_apart(o->value / o->centre))
        o->kind = PEERS_TWO;
}

void peers_weigh_beside(peers_outcome *o, const double *values, size_t count, double silent, const peers_spread *beside,
                        peers_mark *marks)
{
    peers_group g;
    peers_group_make(&g, values, count, silent);
    g.beside = beside;
    *o = (peers_outcome){.kind = PEERS_ALIKE, .known = g.known_count, .always = true, .chance = NAN};
    if (g.known_count < 2) {
        o->kind = PEERS_FEW;
    } else if (!g.working) {
        o->kind = PEERS_IDLE;
    } else if (g.known_count == 2) {
        peers_weigh_two(o, &g);
    } else if (2 * g.working <= g.known_count) {
        peers_tell_others(o, &g, 0, g.working);
        o->kind = PEERS_PART;
        o->unlike = g.working;
    } else if (!peers_find_one(o, &g)) {
        peers_find_several(o, &g);
        if (o->kind == PEERS_ALIKE) peers_tell_others(o, &g, 0, 0);
    }
    peers_mark_them(o, values, count, marks);
    free(g.known);
}

void peers_weigh(peers_outcome *o, const double *values, size_t count, double silent, peers_mark *marks)
{
    peers_weigh_beside(o, values, count, silent, NULL, marks);
}

void peers_spread_add(peers_spread *s, const double *values, size_t count, double silent)
{
    peers_outcome o;
    peers_weigh(&o, values, count, silent, NULL);
    peers_sum sum = peers_sum_of(values, count, NULL);
    if (o.kind != PEERS_ALIKE || sum.count < 2) return;
    double more = sum.count - 1, squares = s->variance * s->freedom + more * sum.variance / (sum.mean * sum.mean);
    s->freedom += more;
    s->variance = squares / s->freedom;
}

// ---- words ----

// How many say the same as each. Few say anything new: each is held against the first of every kind.
static void peers_count_words(const char *const *words, size_t count, size_t *same)
{
    size_t *kinds = memory_calloc(count + 1, sizeof *kinds), *first = memory_calloc(count + 1, sizeof *first), n = 0;
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (words[i] && k < n && strcmp(words[kinds[k]], words[i]) != 0)
            k++;
        if (words[i] && k == n) kinds[n++] = i;
        first[i] = words[i] ? kinds[k] : i;
        same[first[i]] += words[i] != NULL;
    }
    for (size_t i = 0; i < count; i++)
        same[i] = same[first[i]];
    free(kinds);
    free(first);
}

void peers_weigh_words(peers_outcome *o, const char *const *words, size_t count, size_t *usual)
{
    size_t *same = memory_calloc(count + 1, sizeof *same), best = 0, others = 0;
    *o = (peers_outcome){.kind = PEERS_ALIKE, .always = true, .chance = NAN};
    peers_count_words(words, count, same);
    for (size_t i = 0; i < count; i++) {
        o->known += words[i] != NULL;
        if (same[i] > same[best]) best = i;
    }
    for (size_t i = 0; i < count; i++) {
        if (!words[i] || strcmp(words[i], words[best]) == 0) continue;
        if (!others || same[i] > same[o->odd]) o->odd = i;
        others++;
    }
    *usual = best;
    o->unlike = others;
    if (o->known < 2)
        o->kind = PEERS_FEW;
    else if (others && o->known == 2)
        o->kind = PEERS_TWO;
    else if (others == 1)
        o->kind = PEERS_ONE;
    else if (others)
        o->kind = 3 * others <= o->known ? PEERS_SEVERAL : PEERS_SPLIT;
    free(same);
}
