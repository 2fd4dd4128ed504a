#include "peers_onset.h"

#include "analysis/base/memory.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

// Sums before each value, and what is taken for the least noise: a hundredth of the mean.
typedef struct onset_sums {
    double *of, *squares; // [count + 1]
    size_t count;
    double least;
} onset_sums;

typedef struct onset_fit {
    peers_stretch x;
    double likelihood; // its logarithm
} onset_fit;

static void onset_sums_make(onset_sums *s, const double *values, size_t count)
{
    *s = (onset_sums){.of = memory_calloc(count + 1, sizeof *s->of),
                      .squares = memory_calloc(count + 1, sizeof *s->squares),
                      .count = count};
    for (size_t i = 0; i < count; i++) {
        s->of[i + 1] = s->of[i] + values[i];
        s->squares[i + 1] = s->squares[i] + values[i] * values[i];
    }
    s->least = 0.01 * s->of[count] / (double)count;
}

static void onset_sums_free(onset_sums *s)
{
    free(s->of);
    free(s->squares);
}

static double onset_likelihood(const onset_sums *s, peers_stretch x, bool goes_with_level)
{
    double n = (double)s->count, in = (double)(x.to - x.from), out = n - in;
    double sum = s->of[x.to] - s->of[x.from], square = s->squares[x.to] - s->squares[x.from];
    double level = fmax(sum / in, s->least), rest = fmax((s->of[s->count] - sum) / out, s->least);
    double a = fmax(square - sum * sum / in, 0);
    double b = fmax(s->squares[s->count] - square - (s->of[s->count] - sum) * (s->of[s->count] - sum) / out, 0);
    if (!goes_with_level) return -n / 2 * log((a + b) / n + s->least * s->least);
    double share = (a / (level * level) + b / (rest * rest)) / n;
    return -n / 2 * log(share + 1e-4) - in * log(level) - out * log(rest);
}

static onset_fit onset_best(const onset_sums *s, size_t least, bool goes_with_level)
{
    onset_fit best = {{0, s->count}, -INFINITY}, until_end = best;
    for (size_t from = 0; from + least <= s->count; from++)
        for (size_t to = from + least; to <= s->count; to++) {
            if (s->count - (to - from) < least) continue;
            onset_fit fit = {{from, to}, onset_likelihood(s, (peers_stretch){from, to}, goes_with_level)};
            if (fit.likelihood > best.likelihood) best = fit;
            if (to == s->count && fit.likelihood > until_end.likelihood) until_end = fit;
        }
    return best.likelihood - until_end.likelihood > 2 * log((double)s->count) ? best : until_end;
}

// How much of the likelihood lies at most two values beside each of them, in place.
static void onset_gather(double *weights, size_t low, size_t high)
{
    enum { ONSET_NEAR = 2 };
    double *near = memory_calloc(high + 1, sizeof *near), best = -INFINITY;
    for (size_t at = low; at <= high; at++)
        best = fmax(best, weights[at]);
    for (size_t at = low; at <= high; at++)
        for (size_t i = at > low + ONSET_NEAR ? at - ONSET_NEAR : low; i <= high && i <= at + ONSET_NEAR; i++)
            near[at] += exp(weights[i] - best) * (i == at ? 1.02 : 1); // of equally good ones the likeliest
    for (size_t at = low; at <= high; at++)
        weights[at] = near[at];
    free(near);
}

// The edge of the stretch, its begin or its end, that is most probably at most two values beside the true one.
static size_t onset_edge(const onset_sums *s, peers_stretch x, bool goes_with_level, bool of_end, size_t least)
{
    size_t low = of_end ? x.from + least : x.to == s->count ? least : 0, high = of_end ? s->count : x.to - least;
    size_t edge = of_end ? x.to : x.from;
    double *weights = memory_calloc(s->count + 1, sizeof *weights);
    for (size_t at = low; at <= high; at++) {
        peers_stretch y = {of_end ? x.from : at, of_end ? at : x.to};
        bool fits = s->count - (y.to - y.from) >= least;
        weights[at] = fits ? onset_likelihood(s, y, goes_with_level) : -INFINITY;
    }
    onset_gather(weights, low, high);
    for (size_t at = low; at <= high; at++)
        if (weights[at] > weights[edge]) edge = at;
    free(weights);
    return edge;
}

peers_stretch peers_onset(const double *values, size_t count, size_t least)
{
    onset_sums s;
    onset_sums_make(&s, values, count);
    onset_fit same = onset_best(&s, least, false), with = onset_best(&s, least, true);
    bool goes_with_level = with.likelihood > same.likelihood;
    peers_stretch x = goes_with_level ? with.x : same.x;
    if (x.from > 0) x.from = onset_edge(&s, x, goes_with_level, false, least);
    if (x.to < count) x.to = onset_edge(&s, x, goes_with_level, true, least);
    onset_sums_free(&s);
    return x;
}

double peers_onset_evidence(const double *values, size_t count, peers_stretch x)
{
    onset_sums s;
    onset_sums_make(&s, values, count);
    double n = (double)count, mean = s.of[count] / n, variance = s.squares[count] / n - mean * mean;
    double none = -n / 2 * log(fmax(variance, 0) + s.least * s.least);
    double one = fmax(onset_likelihood(&s, x, false), onset_likelihood(&s, x, true));
    onset_sums_free(&s);
    return sqrt(2 * fmax(one - none, 0));
}

double peers_onset_height(const double *values, size_t count, peers_stretch x)
{
    static const double least_noise = 0.01;
    double in = (double)(x.to - x.from), out = (double)count - in, sums[2] = {0}, shares = 0, squares = 0;
    if (!(in > 0 && out > 0)) return INFINITY;
    for (size_t i = 0; i < count; i++)
        sums[i >= x.from && i < x.to] += values[i];
    double mean = (sums[0] + sums[1]) / (double)count;
    double level = fmax(sums[1] / in, 1e-3 * mean), rest = fmax(sums[0] / out, 1e-3 * mean);
    for (size_t i = 0; i < count; i++) {
        double of = i >= x.from && i < x.to ? level : rest, apart = values[i] - of;
        squares += apart * apart;
        shares += apart * apart / (of * of);
    }
    double each = sqrt(in * out / (double)count), freedom = (double)count - 2;
    double with_level = fabs(log(level / rest)) * each / fmax(least_noise, sqrt(shares / freedom));
    double same = fabs(level - rest) * each / fmax(least_noise * mean, sqrt(squares / freedom));
    // Of what is low a single high value is noise that a share of it overrates; of what is high, noise goes with the level.
    return level < rest ? fmax(with_level, same) : with_level;
}

void peers_onset_beside(double *own, const double *others, size_t count)
{
    double products = 0, squares = 0;
    for (size_t v = 1; v < count; v++) {
        double step = others[v] - others[v - 1];
        products += (own[v] - own[v - 1]) * step;
        squares += step * step;
    }
    double slope = squares > 0 ? fmax(0, fmin(1, products / squares)) : 1;
    for (size_t v = 0; v < count; v++)
        own[v] = exp(own[v] - slope * others[v]);
}
