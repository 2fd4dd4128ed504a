/* How often analysis/peers finds the one that is unlike its peers, and its onset, among 2 to 10,000 of them in noise of 1 to
   30 %: the tables in README.md. Beside it how often the best test there can be does.

       peers_odds [SETS [PEERS NOISE [READINGS]]]   2000 sets of each kind; of groups of 256 and 1,000 a twentieth, of 10,000
                                                    a hundredth

   A set: 60 windows of READINGS readings each, a common level that moves by 20 %, noise of each peer and reading of its own,
   and one peer that from some window between the 20th and the 40th on does half, twice or nothing of what it should.

   The best test is told all that is to be known but which peer it is and from when on: how the level moves, how large the
   noise is and that it goes with the level, how much the odd one does, and between which windows it begins. It takes the
   likeliest peer (Neyman and Pearson: no test finds more at the same rate of false ones), beyond what it finds in any healthy
   set, and of the onsets the one that is most probably at most two windows away (Bayes: no test does better). */
#include "analysis/base/memory.h"
#include "analysis/peers/peers.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { WINDOWS = 60, SHARES = 4, FIRST = 20, LAST = 40, HEALTHY = 3 };
static const double silent = 0.001, shares[SHARES] = {0.5, 2, 0, 1};

static uint64_t random_state;

static double uniform(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return ((double)(random_state >> 11) + 0.5) / 9007199254740992.0;
}

static double gauss(void)
{
    double radius = sqrt(-2 * log(uniform()));
    return radius * cos(2 * 3.14159265358979 * uniform());
}

typedef struct group {
    size_t count, readings, odd, from;
    double noise, level[WINDOWS];
    float *values; /* [count * WINDOWS] */
} group;

static void make_group(group *g, double share)
{
    g->odd = (size_t)(uniform() * (double)g->count);
    g->from = FIRST + (size_t)(uniform() * (LAST - FIRST));
    for (size_t w = 0; w < WINDOWS; w++) {
        g->level[w] = 0.8 + 0.4 * uniform();
        for (size_t i = 0; i < g->count; i++) {
            double sum = 0;
            for (size_t k = 0; k < g->readings; k++)
                sum += fmax(0, 1 + g->noise * gauss());
            sum *= g->level[w] * (i == g->odd && w >= g->from ? share : 1);
            g->values[i * WINDOWS + w] = (float)(sum / (double)g->readings);
        }
    }
}

/* ---- the best test ---- */

typedef struct best_guess {
    size_t peer, from;
    double likelihood; /* the logarithm of the ratio */
} best_guess;

/* How much likelier each window of a peer is if it does `share` of the level: summed up from the window to the end. */
static void best_sums(const group *g, size_t peer, double share, double sums[WINDOWS + 1])
{
    double noise = g->noise / sqrt((double)g->readings);
    sums[WINDOWS] = 0;
    for (size_t w = WINDOWS; w-- > 0;) {
        double x = (double)g->values[peer * WINDOWS + w] / g->level[w];
        double usual = (x - 1) / noise, odd = (x - share) / (share * noise);
        sums[w] = sums[w + 1] + (usual * usual - odd * odd) / 2 - log(share);
    }
}

static size_t best_onset(const double sums[WINDOWS + 1], double most)
{
    size_t onset = FIRST;
    double mass = 0;
    for (size_t at = FIRST; at < LAST; at++) {
        double near = 0;
        for (size_t w = at >= FIRST + 2 ? at - 2 : FIRST; w < LAST && w <= at + 2; w++)
            near += exp(sums[w] - most);
        if (near > mass) mass = near, onset = at;
    }
    return onset;
}

static best_guess best_test(const group *g, double share)
{
    best_guess b = {.likelihood = -INFINITY};
    for (size_t i = 0; i < g->count; i++) {
        double sums[WINDOWS + 1], most = -INFINITY;
        best_sums(g, i, share, sums);
        for (size_t w = FIRST; w < LAST; w++)
            most = fmax(most, sums[w]);
        if (most > b.likelihood) b = (best_guess){i, best_onset(sums, most), most};
    }
    return b;
}

/* ---- counting ---- */

typedef struct odds {
    size_t found, in_time, wrong; /* wrong: another one is named, or several */
    size_t best_found, best_in_time;
} odds;

static bool is_near(size_t a, size_t b)
{
    return a <= b + 2 && b <= a + 2;
}

static void count_ours(odds *t, const group *g, bool healthy)
{
    peers_outcome o;
    peers_follow(&o, g->values, g->count, WINDOWS, silent, NULL);
    bool found = o.kind == PEERS_ONE && o.odd == g->odd && !healthy;
    t->found += found;
    t->in_time += found && !o.always && is_near(o.from, g->from);
    t->wrong += (o.kind == PEERS_ONE || o.kind == PEERS_SEVERAL) && !found;
}

static void count_best(odds *t, const group *g, double share, double beyond)
{
    best_guess b = best_test(g, share);
    bool found = b.peer == g->odd && b.likelihood > beyond;
    t->best_found += found;
    t->best_in_time += found && is_near(b.from, g->from);
}

static void print_share(size_t part, size_t of)
{
    double percent = of ? 100 * (double)part / (double)of : NAN;
    printf(" %.*f %%", part == of ? 0 : 1, part == of ? percent : fmin(percent, 99.9)); /* all is all */
}

static void print_row(group *g, const odds t[SHARES], size_t sets)
{
    printf("| %zu | %.0f %% | %zu | %zu |", g->count, 100 * g->noise, g->readings, sets);
    for (size_t k = 0; k < HEALTHY; k++) {
        print_share(t[k].found, sets);
        if (shares[k] > 0) printf(" /");
        if (shares[k] > 0) print_share(t[k].best_found, sets);
        printf(" |");
    }
    for (size_t k = 0; k < HEALTHY; k++) {
        print_share(t[k].in_time, t[k].found);
        if (shares[k] > 0) printf(" /");
        if (shares[k] > 0) print_share(t[k].best_in_time, t[k].best_found);
        printf(" |");
    }
    printf(" %zu of %zu | %zu of %zu |\n", t[0].wrong + t[1].wrong + t[2].wrong, HEALTHY * sets, t[HEALTHY].wrong,
           sets);
    fflush(stdout);
}

static void make_row(size_t count, double noise, size_t readings, size_t sets)
{
    odds t[SHARES] = {{0}};
    double beyond[SHARES] = {-INFINITY, -INFINITY, 0, 0};
    group g = {.count = count, .readings = readings, .noise = noise};
    g.values = memory_calloc(count * WINDOWS, sizeof *g.values);
    random_state = 20261127 + count * 1000 + (uint64_t)(noise * 100) + (readings - 1) * 7919;
    for (size_t i = 0; i < sets; i++) { /* the healthy ones first, which tell the best test how far chance goes */
        make_group(&g, 1);
        count_ours(&t[HEALTHY], &g, true);
        for (size_t k = 0; k < HEALTHY; k++)
            if (shares[k] > 0) beyond[k] = fmax(beyond[k], best_test(&g, shares[k]).likelihood);
    }
    for (size_t k = 0; k < HEALTHY; k++)
        for (size_t i = 0; i < sets; i++) {
            make_group(&g, shares[k]);
            count_ours(&t[k], &g, false);
            if (shares[k] > 0) count_best(&t[k], &g, shares[k], beyond[k]);
        }
    free(g.values);
    print_row(&g, t, sets);
}

static size_t sets_of(size_t count, size_t sets)
{
    return count >= 10000 ? (sets + 99) / 100 : count >= 256 ? (sets + 19) / 20 : sets;
}

static void make_table(size_t sets)
{
    static const size_t counts[] = {2, 4, 8, 64, 256, 1000, 10000}, few[] = {2, 4, 8, 64}, readings[] = {2, 4, 8};
    static const double noises[] = {0.01, 0.1, 0.2, 0.3};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (size_t i = 0; i < sizeof noises / sizeof *noises; i++)
            make_row(counts[c], noises[i], 1, sets_of(counts[c], sets));
    for (size_t c = 0; c < sizeof few / sizeof *few; c++)
        for (size_t i = 0; i < sizeof readings / sizeof *readings; i++)
            make_row(few[c], 0.3, readings[i], few[c] >= 64 ? (sets + 3) / 4 : sets);
}

int main(int argc, char **argv)
{
    size_t sets = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 2000, readings = 1;
    if (argc == 5) readings = (size_t)strtoul(argv[4], NULL, 10);
    if (!sets || !readings || argc == 3 || argc > 5) {
        fprintf(stderr, "usage: peers_odds [SETS [PEERS NOISE [READINGS]]]\n");
        return 2;
    }
    printf("| peers | noise | readings a window | sets of each | half: ours / best | double: ours / best | nothing | "
           "onset "
           "within two windows, half: ours / best | double: ours / best | nothing | another one named | healthy: one "
           "named "
           "|\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    if (argc >= 4)
        make_row((size_t)strtoul(argv[2], NULL, 10), strtod(argv[3], NULL), readings, sets);
    else
        make_table(sets);
    return 0;
}
