/* How often analysis/peers finds the one that is unlike its peers, and its onset, among 2 to 10,000 of them in noise of 1 to
   30 %: the tables in README.md.

       peers_odds [SETS [PEERS NOISE]]      2000 sets of each kind; of groups of 1,000 a twentieth, of 10,000 a hundredth

   A set: 60 windows of one reading each, a common level that moves by 20 %, noise of each peer and window of its own, and one
   peer that from some window between the 20th and the 40th on does half, twice or nothing of what it should. */
#include "analysis/base/memory.h"
#include "analysis/peers/peers.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { WINDOWS = 60, SHARES = 4 };
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

typedef struct odds {
    size_t sets, found, in_time, wrong; /* wrong: another one is named, or several */
} odds;

static void one_set(odds *t, float *values, size_t count, double noise, double share)
{
    peers_outcome o;
    size_t odd = (size_t)(uniform() * (double)count), from = 20 + (size_t)(uniform() * 20);
    for (size_t w = 0; w < WINDOWS; w++) {
        double level = 0.8 + 0.4 * uniform();
        for (size_t i = 0; i < count; i++)
            values[i * WINDOWS + w] =
                (float)(level * fmax(0, 1 + noise * gauss()) * (i == odd && w >= from ? share : 1));
    }
    peers_follow(&o, values, count, WINDOWS, silent, NULL);
    bool healthy = share >= 1 && share <= 1, found = o.kind == PEERS_ONE && o.odd == odd && !healthy;
    t->sets++;
    t->found += found;
    t->in_time += found && !o.always && o.from <= from + 2 && from <= o.from + 2;
    t->wrong += (o.kind == PEERS_ONE || o.kind == PEERS_SEVERAL) && !found;
}

static void print_share(size_t part, size_t of)
{
    double percent = of ? 100 * (double)part / (double)of : NAN;
    printf(" %.*f %% |", part == of ? 0 : 1, part == of ? percent : fmin(percent, 99.9)); /* all is all */
}

static void print_row(size_t count, double noise, size_t sets)
{
    odds t[SHARES] = {{0}};
    float *values = memory_calloc(count * WINDOWS, sizeof *values);
    size_t wrong = 0;
    random_state = 20261127 + count * 1000 + (uint64_t)(noise * 100);
    for (size_t k = 0; k < SHARES; k++) {
        while (t[k].sets < sets)
            one_set(&t[k], values, count, noise, shares[k]);
        wrong += k < SHARES - 1 ? t[k].wrong : 0;
    }
    free(values);
    printf("| %zu | %.0f %% | %zu |", count, 100 * noise, sets);
    for (size_t k = 0; k < SHARES - 1; k++)
        print_share(t[k].found, sets);
    for (size_t k = 0; k < SHARES - 1; k++)
        print_share(t[k].in_time, t[k].found);
    printf(" %zu of %zu | %zu of %zu |\n", wrong, 3 * sets, t[SHARES - 1].wrong, sets);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const size_t counts[] = {2, 4, 8, 64, 256, 1000, 10000};
    static const double noises[] = {0.01, 0.1, 0.2, 0.3};
    size_t sets = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 2000;
    if (!sets || (argc != 1 && argc != 2 && argc != 4)) {
        fprintf(stderr, "usage: peers_odds [SETS [PEERS NOISE]]\n");
        return 2;
    }
    printf(
        "| peers | noise | sets of each | half | double | nothing | onset within two windows: half | double | nothing "
        "| another one named | healthy: one named |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
    if (argc == 4) print_row((size_t)strtoul(argv[2], NULL, 10), strtod(argv[3], NULL), sets);
    for (size_t c = 0; c < sizeof counts / sizeof *counts && argc < 4; c++)
        for (size_t i = 0; i < sizeof noises / sizeof *noises; i++)
            print_row(counts[c], noises[i],
                      counts[c] >= 10000 ? (sets + 99) / 100
                      : counts[c] >= 256 ? (sets + 19) / 20
                                         : sets);
    return 0;
}
