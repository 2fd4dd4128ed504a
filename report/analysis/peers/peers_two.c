#include "peers_two.h"

#include "peers_onset.h"

#include "analysis/base/memory.h"

#include <math.h>
#include <stdlib.h>

// Own. Stretches are searched for, so that the noise of a single one must be excluded far better than what peers differ by.
static const double two_chance = 1e-4, two_least_noise = 0.01;

typedef struct two_stretch {
    size_t from, to;
    double height; // in standard deviations of the noise
} two_stretch;

// The windows in which the two do something, and the share that the first has of what both do.
static size_t two_axis(const float *values, size_t windows, double silent, size_t *known, double *share)
{
    double most = 0;
    size_t n = 0;
    for (size_t w = 0; w < windows; w++) { // by fmax() gcc 12 for aarch64 ends with an internal error at -O3
        double sum = (double)values[w] + (double)values[windows + w];
        if (sum > most) most = sum; // never NAN
    }
    for (size_t w = 0; w < windows; w++) {
        double own = (double)values[w], sum = own + (double)values[windows + w];
        if (!(sum > silent) || sum < PEERS_LOW * most / 2) continue;
        known[n] = w;
        share[n++] = own / sum;
    }
    return n;
}

// Both levels over the windows in which the two do something, and what noise makes of a step between windows: variances
// and what they share. All that moves both alike, phases of the program, is in what they share.
typedef struct two_pair {
    size_t count;
    double *sums[3]; // [count + 1]: of each level, and of the share that the first has, before each window
    double variance[2], shared, share_noise;
} two_pair;

static void two_make(two_pair *p, const float *values, size_t windows, const size_t *known, const double *share,
                     size_t count)
{
    double before[3] = {0}, squares[3] = {0}, products = 0, steps = 2 * (double)(count - 1);
    *p = (two_pair){.count = count};
    for (size_t i = 0; i < 3; i++)
        p->sums[i] = memory_calloc(count + 1, sizeof *p->sums[i]);
    for (size_t v = 0; v < count; v++) {
        double now[3] = {(double)values[known[v]], (double)values[windows + known[v]], share[v]}, step[3];
        for (size_t i = 0; i < 3; i++) {
            step[i] = v ? now[i] - before[i] : 0;
            squares[i] += step[i] * step[i];
            before[i] = now[i];
            p->sums[i][v + 1] = p->sums[i][v] + now[i];
        }
        products += step[0] * step[1];
    }
    // Some noise is in every level: a hundredth of its mean.
    for (size_t i = 0; i < 2; i++) {
        double least = two_least_noise * p->sums[i][count] / (double)count;
        p->variance[i] = fmax(squares[i] / steps, least * least);
    }
    p->shared = products / steps;
    p->share_noise = fmax(sqrt(squares[2] / steps), two_least_noise / 2);
}

static void two_free(two_pair *p)
{
    for (size_t i = 0; i < 3; i++)
        free(p->sums[i]);
}

// How far a stretch is from the rest in its mean.
static double two_apart(const two_pair *p, size_t which, size_t from, size_t to)
{
    double k = (double)(to - from), n = (double)p->count, in = p->sums[which][to] - p->sums[which][from];
    return in / k - (p->sums[which][p->count] - in) / (n - k);
}

// The same of one of the two, in standard deviations, beside what the other's change lets expect.
static double two_height(const two_pair *p, size_t which, size_t from, size_t to)
{
    double k = (double)(to - from), n = (double)p->count;
    double slope = p->shared / p->variance[!which], left = p->variance[which] - slope * p->shared;
    double apart = two_apart(p, which, from, to) - slope * two_apart(p, !which, from, to);
    return fabs(apart) * sqrt(k * (n - k) / n) / sqrt(fmax(left, 1e-6 * p->variance[which]));
}

// The stretch in which one of the two is farthest from what it was: to the end, unless another one tells much more (twice
// the logarithm of how many there are). What was first is usual.
static two_stretch two_find(const two_pair *p, size_t which)
{
    two_stretch best = {0, p->count, 0}, until_end = best;
    for (size_t from = PEERS_LEAST_WINDOWS; from + PEERS_LEAST_WINDOWS <= p->count; from++)
        for (size_t to = from + PEERS_LEAST_WINDOWS; to <= p->count; to++) {
            two_stretch x = {from, to, two_height(p, which, from, to)};
            if (x.height > best.height) best = x;
            if (to == p->count && x.height > until_end.height) until_end = x;
        }
    double more = best.height * best.height - until_end.height * until_end.height;
    return more > 2 * log((double)p->count) ? best : until_end;
}

// Not only beside what the other does: their shares changed, too.
static bool two_shares_changed(const two_pair *p, const two_stretch *x)
{
    static const double least_share = 2.5; // standard deviations
    double n = (double)p->count, k = (double)(x->to - x->from);
    return fabs(two_apart(p, 2, x->from, x->to)) * sqrt(k * (n - k) / n) / p->share_noise >= least_share;
}

// Beyond chance.
static bool two_changed(const two_pair *p, const two_stretch *x)
{
    double n = (double)p->count, looks = x->to == p->count ? 2 * n : n * n;
    return two_shares_changed(p, x) && erfc(x->height / sqrt(2)) * looks <= two_chance;
}

// Did one move, and the other not? In logarithms of the levels in the stretch and outside. What noise makes of levels is
// let pass, as long as the one moved twice as far.
static bool two_one_moved(const two_pair *p, const two_stretch *x, size_t which, const double moved[2])
{
    static const double still = 1.25, slack = 0.1; // own; slack: of PEERS_APART, in logarithms, where noise is as large
    double n = (double)p->count, k = (double)(x->to - x->from), own = fabs(log(moved[which])), noise[2];
    for (size_t i = 0; i < 2; i++)
        noise[i] = 2 * sqrt(p->variance[i] * (1 / k + 1 / (n - k))) / (p->sums[i][p->count] / n);
    double most = fmax(log(still), fmin(log(still) + noise[!which], own / 2));
    return fabs(log(moved[!which])) <= most && own + fmin(noise[which], slack) >= log(PEERS_APART) &&
           peers_is_apart(moved[which] / moved[!which]);
}

// One of two is the odd one where its own level moved and the other's did not.
static void two_moved(peers_outcome *o, const two_pair *p, const float *values, size_t windows, const size_t *known,
                      const two_stretch *x, peers_mark *marks)
{
    double moved[2], inside[2];
    size_t count = p->count;
    for (size_t i = 0; i < 2; i++) {
        double in = 0, out = 0;
        for (size_t v = 0; v < count; v++)
            *(v >= x->from && v < x->to ? &in : &out) += (double)values[i * windows + known[v]];
        inside[i] = in / (double)(x->to - x->from);
        moved[i] = inside[i] / (out / (double)(count - (x->to - x->from)));
    }
    for (size_t i = 0; i < 2; i++) {
        if (!two_one_moved(p, x, i, moved)) continue;
        o->kind = PEERS_ONE;
        o->odd = i;
        o->unlike = 1;
        o->value = inside[i];
        o->centre = o->low = o->high = inside[!i];
        o->always = false;
        marks[i] = (peers_mark){.unlike = true, .ratio = inside[i] / inside[!i]};
        o->from = marks[i].from = known[x->from];
        o->to = marks[i].to = known[x->to - 1] + 1;
    }
}

// When the level of one of them changed, as far as that is not what the other did, too.
static void two_refine(const float *values, size_t windows, const size_t *known, size_t count, size_t which,
                       two_stretch *x)
{
    double *own = memory_calloc(count + 1, sizeof *own), *other = memory_calloc(count + 1, sizeof *other), mean = 0;
    for (size_t v = 0; v < count; v++)
        mean += ((double)values[known[v]] + (double)values[windows + known[v]]) / 2 / (double)count;
    for (size_t v = 0; v < count; v++) {
        own[v] = log(fmax((double)values[which * windows + known[v]], PEERS_FLOOR * mean));
        other[v] = log(fmax((double)values[!which * windows + known[v]], PEERS_FLOOR * mean));
    }
    peers_onset_beside(own, other, count);
    peers_stretch better = peers_onset(own, count, PEERS_LEAST_WINDOWS);
    x->from = better.from;
    x->to = better.to;
    // Beyond chance by two measures, of which the first counts all noise as if it were of one size.
    x->height = fmax(x->height, peers_onset_height(own, count, better));
    x->height = fmin(x->height, peers_onset_evidence(own, count, better));
    free(own);
    free(other);
}

void peers_two(peers_outcome *o, const float *values, size_t windows, double silent, peers_mark *marks)
{
    size_t *known = memory_calloc(windows + 1, sizeof *known);
    double *share = memory_calloc(windows + 1, sizeof *share);
    size_t count = two_axis(values, windows, silent, known, share);
    if (count >= 2 * PEERS_LEAST_WINDOWS) {
        two_pair p;
        two_make(&p, values, windows, known, share, count);
        two_stretch x = two_find(&p, 0), other = two_find(&p, 1);
        size_t which = other.height > x.height;
        if (which) x = other;
        bool changed = two_shares_changed(&p, &x);
        if (changed) two_refine(values, windows, known, count, which, &x);
        if (changed && two_changed(&p, &x)) two_moved(o, &p, values, windows, known, &x, marks);
        if (o->kind == PEERS_ONE) o->is_silent = marks[o->odd].is_silent = o->value <= silent;
        two_free(&p);
    }
    free(known);
    free(share);
}
