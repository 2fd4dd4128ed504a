/* How often analysis/peers names the one that is unlike its peers where there is but one value of each (two readings): of few
   peers nobody knows what they vary by. The table in README.md.

       peers_once [SETS]      40000 sets of each kind

   A set: values around 1, with noise of each peer; in faulty ones one peer does half or twice of what it should. Before: as
   it was when what is usual elsewhere (3 %) alone said how surely.

   The best test there can be: Neyman and Pearson's of a faulty set against healthy ones of 30 % noise, as often wrong about
   these as ours. It is told the noise of the faulty set and how much the odd one does; neither who it is nor the level. No
   test that is wrong no more often finds more. */
#include "analysis/base/memory.h"
#include "analysis/peers/peers.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 8, SHAPES = 3, FAULTS = 2, NOISES = 7 };
static const double silent = 0.001, faults[FAULTS] = {0.5, 2}, most_noise = 0.3;
static const double noises[NOISES] = {0.3, 0.2, 0.1, 0.05, 0.03, 0.02, 0.01};

static uint64_t random_state = 20261128;

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

/* Gauss, of logarithms, of a box; a healthy one does something. */
static double noise_of(int shape, double noise)
{
    double g = gauss();
    return fmax(0.02, shape == 0   ? 1 + noise * g
                      : shape == 1 ? exp(noise * g)
                                   : 1 + noise * sqrt(12) * (uniform() - 0.5));
}

typedef struct group {
    size_t count, odd;
    double values[MOST];
} group;

static void make_group(group *g, int shape, double noise, double share)
{
    g->odd = (size_t)(uniform() * (double)g->count);
    for (size_t i = 0; i < g->count; i++)
        g->values[i] = noise_of(shape, noise) * (i == g->odd ? share : 1);
}

/* ---- the best test ---- */

/* How likely values of this sum and sum of squares are at any level, all alike likely, but for a constant. */
static double likelihood_of(double sum, double squares, double count, double noise)
{
    double width = noise / sqrt(count), step = width / 2, all = 0;
    double peak = log((sqrt(sum * sum + 4 * count * noise * noise * squares) - sum) / (2 * count * noise * noise));
    for (double at = peak - 6 * width; at < peak + 6 * width; at += step) {
        double level = exp(at);
        all += exp(-(squares / level / level - 2 * sum / level + count) / (2 * noise * noise) - count * at);
    }
    return all * step / pow(noise, count);
}

static double ratio_of(const group *g, double share, double noise)
{
    double sum = 0, squares = 0, n = (double)g->count, faulty = 0;
    for (size_t i = 0; i < g->count; i++)
        sum += g->values[i], squares += g->values[i] * g->values[i];
    for (size_t i = 0; i < g->count; i++) {
        double x = g->values[i], y = x / share;
        faulty += likelihood_of(sum - x + y, squares - x * x + y * y, n, noise);
    }
    return faulty / likelihood_of(sum, squares, n, most_noise);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The ratio that so many of the healthy ones exceed. */
static double limit_of(size_t count, double share, double noise, size_t sets, size_t wrong)
{
    double *ratios = memory_calloc(sets, sizeof *ratios);
    for (size_t i = 0; i < sets; i++) {
        group g = {.count = count};
        make_group(&g, 0, most_noise, 1);
        ratios[i] = ratio_of(&g, share, noise);
    }
    qsort(ratios, sets, sizeof *ratios, by_value);
    double limit = ratios[sets - 1 - (wrong < sets ? wrong : sets - 1)];
    free(ratios);
    return limit;
}

/* ---- counting ---- */

typedef struct odds {
    size_t before, now, best;
} odds;

static bool is_accusing(const peers_outcome *o)
{
    return o->kind == PEERS_ONE || o->kind == PEERS_SEVERAL;
}

static void count_healthy(odds *t, size_t count, int shape, double noise, size_t sets)
{
    for (size_t i = 0; i < sets; i++) {
        group g = {.count = count};
        peers_outcome o;
        make_group(&g, shape, noise, 1);
        peers_weigh(&o, g.values, count, silent, NULL);
        t->before += is_accusing(&o);
        t->now += is_accusing(&o) && !o.doubtful;
    }
}

static void count_faulty(odds *t, size_t count, double share, double noise, size_t sets, double limit)
{
    for (size_t i = 0; i < sets; i++) {
        group g = {.count = count};
        peers_outcome o;
        make_group(&g, 0, noise, share);
        peers_weigh(&o, g.values, count, silent, NULL);
        bool found = o.kind == PEERS_ONE && o.odd == g.odd;
        t->before += found;
        t->now += found && !o.doubtful;
        t->best += isfinite(limit) && ratio_of(&g, share, noise) > limit;
    }
}

static void print_shares(const odds *t, size_t sets, bool best)
{
    printf(" %.2f / %.2f", 100 * (double)t->before / (double)sets, 100 * (double)t->now / (double)sets);
    if (best) printf(" / %.2f", 100 * (double)t->best / (double)sets);
    printf(" |");
}

static void make_row(size_t count, double noise, size_t sets, size_t *wrong)
{
    printf("| %zu | %.0f %% |", count, 100 * noise);
    for (int shape = 0; shape < SHAPES; shape++) {
        odds t = {0};
        count_healthy(&t, count, shape, noise, sets);
        print_shares(&t, sets, false);
        if (!shape && noise >= most_noise) *wrong = t.now;
    }
    for (size_t k = 0; k < FAULTS; k++) {
        odds t = {0};
        double limit = count > 2 ? limit_of(count, faults[k], noise, sets, *wrong) : INFINITY;
        count_faulty(&t, count, faults[k], noise, sets, limit);
        print_shares(&t, sets, count > 2);
    }
    printf("\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const size_t counts[] = {2, 3, 4, 5, 6, 8};
    size_t sets = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 40000;
    if (!sets || argc > 2) {
        fprintf(stderr, "usage: peers_once [SETS]\n");
        return 2;
    }
    printf("| peers | noise | healthy, accused %%: before / now | noise in logarithms | noise of a box | half, found "
           "%%: before "
           "/ now / best | double |\n|---|---|---|---|---|---|---|\n");
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        size_t wrong = 0;
        for (size_t i = 0; i < NOISES; i++)
            make_row(counts[c], noises[i], sets, &wrong);
    }
    return 0;
}
