// Peers over time: who is unlike the others from when to when.
#include "peers.h"
#include "peers_onset.h"

#include "analysis/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Own. Stretches are searched for, so that the noise of a single one must be excluded far better than what peers differ by.
static const double follow_two_chance = 1e-4, follow_chance = 5e-3, follow_least_noise = 0.01, follow_low = 0.2,
                    follow_floor = 1e-3;
enum { FOLLOW_LEAST = 3, FOLLOW_WHOLE = 12, FOLLOW_JUDGED = 64, FOLLOW_ALONE = 64, FOLLOW_FEW = 7 };

typedef struct follow_input {
    const float *values; // [count * windows]
    size_t count, windows;
    double silent;
} follow_input;

// The values as shares of the group's, in windows in which the group works.
typedef struct follow_axis {
    size_t count, windows;
    size_t *window;    // [windows]: its index among all
    double *centre;    // [windows]
    float *ratio;      // [count * windows]
    bool *left_out;    // [count]: less than half is known
    double *sums;      // [windows + 1]: of the peer at hand, its ratios before each window
    double *own_noise; // [count]
    double noise;      // of one window, a standard deviation: the middle one's
    double noise_freedom;
} follow_axis;

// A stretch of windows in which a peer is unlike.
typedef struct follow_stretch {
    size_t from, to;
    double mean, height; // height: in standard deviations of the noise
} follow_stretch;

// ---- the axis ----

static double *follow_centres(const float *values, size_t count, size_t windows, const bool *without)
{
    double *centres = memory_calloc(windows + 1, sizeof *centres), *column = memory_calloc(count + 1, sizeof *column);
    for (size_t w = 0; w < windows; w++) {
        size_t n = 0, of = 0;
        for (size_t i = 0; i < count; i++) {
            of += !without[i];
            if (!without[i] && !isnan(values[i * windows + w])) column[n++] = (double)values[i * windows + w];
        }
        centres[w] = 2 * n >= of && n ? peers_median(column, n) : NAN;
    }
    free(column);
    return centres;
}

// A fifth of what is usual is a pause of the program.
static double follow_least_centre(const double *centres, size_t windows, double silent)
{
    double *sorted = memory_calloc(windows + 1, sizeof *sorted);
    size_t n = 0;
    for (size_t w = 0; w < windows; w++)
        if (centres[w] > silent) sorted[n++] = centres[w];
    double usual = n ? peers_median(sorted, n) : NAN;
    free(sorted);
    return fmax(follow_low * usual, silent);
}

static void follow_axis_free(follow_axis *a)
{
    free(a->window);
    free(a->centre);
    free(a->ratio);
    free(a->left_out);
    free(a->sums);
    free(a->own_noise);
}

// What is not known of a window is taken to be as usual.
static void follow_fill(follow_axis *a, const float *values, size_t windows, const bool *without)
{
    a->ratio = memory_calloc(a->count * a->windows + 1, sizeof *a->ratio);
    a->left_out = memory_calloc(a->count + 1, sizeof *a->left_out);
    a->sums = memory_calloc(a->windows + 1, sizeof *a->sums);
    for (size_t i = 0; i < a->count; i++) {
        size_t known = 0;
        float *ratio = a->ratio + i * a->windows;
        for (size_t v = 0; v < a->windows; v++) {
            float x = values[i * windows + a->window[v]];
            known += isnan(x) ? 0 : 1;
            ratio[v] = isnan(x) ? 1 : (float)((double)x / a->centre[v]);
        }
        a->left_out[i] = without[i] || 2 * known < a->windows;
    }
}

// By the steps from window to window, of which a lasting change is one.
static double follow_noise_of(const float *ratio, size_t windows)
{
    double squares = 0;
    for (size_t v = 1; v < windows; v++)
        squares += ((double)ratio[v] - (double)ratio[v - 1]) * ((double)ratio[v] - (double)ratio[v - 1]);
    return sqrt(squares / (double)(windows - 1) / 2);
}

static void follow_weigh(follow_axis *a)
{
    double *all = memory_calloc(a->count + 1, sizeof *all);
    size_t n = 0;
    a->own_noise = memory_calloc(a->count + 1, sizeof *a->own_noise);
    for (size_t i = 0; i < a->count; i++)
        if (!a->left_out[i]) all[n++] = a->own_noise[i] = follow_noise_of(a->ratio + i * a->windows, a->windows);
    a->noise = fmax(follow_least_noise, n ? peers_median(all, n) : 0);
    a->noise_freedom = (double)(n * (a->windows - 1)) / 2;
    free(all);
}

// without: [count], who is known to be unlike and has no part in what is usual.
static bool follow_axis_make(follow_axis *a, const follow_input *in, const bool *without)
{
    double *centres = follow_centres(in->values, in->count, in->windows, without);
    double least = follow_least_centre(centres, in->windows, in->silent);
    *a = (follow_axis){.count = in->count,
                       .window = memory_calloc(in->windows + 1, sizeof *a->window),
                       .centre = memory_calloc(in->windows + 1, sizeof *a->centre)};
    for (size_t w = 0; w < in->windows; w++) {
        if (!(centres[w] > least)) continue;
        a->window[a->windows] = w;
        a->centre[a->windows++] = centres[w];
    }
    free(centres);
    if (a->windows < 2 * FOLLOW_LEAST) return false;
    follow_fill(a, in->values, in->windows, without);
    follow_weigh(a);
    return true;
}

// ---- one peer ----

static void follow_sum(follow_axis *a, size_t peer)
{
    const float *ratio = a->ratio + peer * a->windows;
    for (size_t v = 0; v < a->windows; v++)
        a->sums[v + 1] = a->sums[v] + (double)ratio[v] - 1;
}

static double follow_mean(const follow_axis *a, size_t peer, size_t from, size_t to)
{
    const float *ratio = a->ratio + peer * a->windows;
    double sum = 0;
    for (size_t v = from; v < to; v++)
        sum += (double)ratio[v];
    return sum / (double)(to - from);
}

// How far a ratio is from 1. A ratio to a small group's noisy middle has a long tail upwards.
static double follow_away(double ratio)
{
    return ratio > 1 ? log(ratio) : 1 - ratio;
}

static void follow_measure(const follow_axis *a, size_t peer, size_t from, size_t to, follow_stretch *x)
{
    *x = (follow_stretch){from, to, follow_mean(a, peer, from, to), 0};
    double noise = fmax(a->noise, a->own_noise[peer] / fmax(x->mean, 1)); // who does more has more noise, too
    x->height = follow_away(x->mean) * sqrt((double)(to - from)) / noise;
}

// The stretch that stands out most against the noise; what is most of the time is all of it.
static follow_stretch follow_find(follow_axis *a, size_t peer)
{
    follow_stretch best = {0, a->windows, 1, 0};
    double most = 0;
    follow_sum(a, peer);
    for (size_t from = 0; from + FOLLOW_LEAST <= a->windows; from++)
        for (size_t to = from + FOLLOW_LEAST; to <= a->windows; to++) {
            double sum = a->sums[to] - a->sums[from], square = sum * sum / (double)(to - from);
            if (square > most) most = square, best.from = from, best.to = to;
        }
    best.mean = follow_mean(a, peer, best.from, best.to);
    // Fewer windows than these at either end tell nothing; and what goes on half as far has not ended.
    if (best.from < FOLLOW_LEAST) best.from = 0;
    if (best.to < a->windows && (follow_mean(a, peer, best.to, a->windows) - 1) / (best.mean - 1) > 0.5)
        best.to = a->windows;
    if (a->windows - best.to < FOLLOW_LEAST) best.to = a->windows;
    if ((best.to - best.from) * FOLLOW_WHOLE >= a->windows * (FOLLOW_WHOLE - 1)) best.from = 0, best.to = a->windows;
    follow_measure(a, peer, best.from, best.to, &best);
    return best;
}

// Of three, two that are low at once make the third one look high; and among very many something always happens.
static double follow_noise_chance(size_t count)
{
    return count < 4 || count > FOLLOW_ALONE ? 1e-5 : 2e-5;
}

static bool follow_is_apart(double ratio)
{
    return ratio * PEERS_APART <= 1 || ratio >= PEERS_APART;
}

// Of stretches there are about windows^2 / 2; fewer that begin or end with the run.
static bool follow_is_unlike(const follow_axis *a, const follow_stretch *x)
{
    double windows = (double)a->windows;
    bool at_one_end = (x->from == 0) != (x->to == a->windows);
    double looks = (double)a->count * windows * (at_one_end ? 2 : windows / 2);
    return follow_is_apart(x->mean) && erfc(x->height / sqrt(2)) * looks <= follow_noise_chance(a->count);
}

// ---- against the others ----

static double follow_outside(const follow_axis *a, size_t peer, const follow_stretch *x)
{
    size_t outside = a->windows - (x->to - x->from);
    double all = follow_mean(a, peer, 0, a->windows) * (double)a->windows;
    double inside = follow_mean(a, peer, x->from, x->to) * (double)(x->to - x->from);
    return (all - inside) / (double)outside;
}

// How far others are from the group's level in this stretch, or how far they moved from what they were otherwise.
static double follow_chance_of(const follow_axis *a, size_t peer, const follow_stretch *x, const bool *unlike,
                               bool by_change)
{
    double *means = memory_calloc(a->count + 1, sizeof *means);
    double inside = (double)(x->to - x->from), outside = (double)a->windows - inside, own = NAN;
    for (size_t i = 0; i < a->count; i++) {
        double mean = a->left_out[i] || (unlike[i] && i != peer) ? NAN : follow_mean(a, i, x->from, x->to);
        if (by_change && !isnan(mean)) mean += 1 - follow_outside(a, i, x);
        if (i == peer) own = mean;
        means[i] = i == peer ? NAN : mean;
    }
    peers_sum s = peers_sum_of(means, a->count, NULL);
    double noise = a->noise * a->noise * (1 / inside + (by_change ? 1 / outside : 0));
    // What was so all the time says nothing about how much they differ otherwise: their noise is not taken off.
    peers_error e = peers_error_of(s.variance, s.count, by_change ? noise : 0, by_change ? a->noise_freedom : 1);
    double chance = peers_chance(own - s.mean, &e, s.count);
    // Upwards in logarithms as well: noise that multiplies has a long tail.
    if (own > s.mean && s.mean > 0) chance = fmax(chance, peers_chance(log(own / s.mean), &e, s.count));
    free(means);
    return s.count < 2 ? 1 : fmin(1, chance * (double)a->count);
}

// A part of the time by how they moved; what was so all the time as if it were one value.
static bool follow_judge(const follow_axis *a, size_t peer, follow_stretch *x, const bool *unlike, double *chance)
{
    bool whole = a->windows - (x->to - x->from) < FOLLOW_LEAST;
    bool moved = !whole && follow_is_apart(x->mean / fmax(follow_outside(a, peer, x), 1e-9));
    *chance = moved ? follow_chance_of(a, peer, x, unlike, true) : 1;
    if (*chance <= follow_chance) return true;
    *x = (follow_stretch){0, a->windows, follow_mean(a, peer, 0, a->windows), x->height};
    *chance = follow_chance_of(a, peer, x, unlike, false);
    return follow_is_apart(x->mean) && *chance <= peers_chance_most(a->count);
}

// ---- the group ----

// It does nothing in the middle of its windows, and all others work.
static bool follow_is_silent(const follow_axis *a, size_t peer, const follow_stretch *x, double silent)
{
    double *own = memory_calloc(a->windows + 1, sizeof *own);
    for (size_t v = x->from; v < x->to; v++)
        own[v - x->from] = (double)a->ratio[peer * a->windows + v] * a->centre[v];
    bool is_silent = peers_median(own, x->to - x->from) <= silent;
    for (size_t i = 0; i < a->count && is_silent; i++)
        if (i != peer && !a->left_out[i]) is_silent = follow_mean(a, i, x->from, x->to) >= 0.5;
    free(own);
    return is_silent;
}

// What each window lets expect of the peer: what the others did there in the mean, as far as it moved with them.
static void follow_expect(double *own, double *others, size_t windows)
{
    double products = 0, squares = 0;
    for (size_t v = 1; v < windows; v++) {
        double step = others[v] - others[v - 1];
        products += (own[v] - own[v - 1]) * step;
        squares += step * step;
    }
    double slope = squares > 0 ? fmax(0, fmin(1, products / squares)) : 1;
    for (size_t v = 0; v < windows; v++)
        own[v] = exp(own[v] - slope * others[v]);
}

// When the peer's own level changed, once more: its share above was found beside all, itself among them.
static void follow_refine(const follow_axis *a, size_t peer, const bool *unlike, follow_stretch *x)
{
    if (x->from == 0 && x->to == a->windows) return;
    double *own = memory_calloc(a->windows + 1, sizeof *own), *others = memory_calloc(a->windows + 1, sizeof *others);
    for (size_t v = 0; v < a->windows; v++) {
        double sum = 0;
        size_t n = 0;
        for (size_t i = 0; i < a->count; i++) {
            if (i == peer || unlike[i] || a->left_out[i]) continue;
            sum += (double)a->ratio[i * a->windows + v];
            n++;
        }
        others[v] = log((n ? fmax(sum / (double)n, follow_floor) : 1) * a->centre[v]);
        own[v] = log(fmax((double)a->ratio[peer * a->windows + v], follow_floor) * a->centre[v]);
    }
    follow_expect(own, others, a->windows);
    peers_stretch better = peers_onset(own, a->windows, FOLLOW_LEAST);
    follow_measure(a, peer, better.from, better.to, x);
    // Its own values do not tell which of two levels is the usual one, the others do: it may have been unlike at first.
    if (better.from > 0 && better.to == a->windows) {
        follow_stretch first;
        follow_measure(a, peer, 0, better.from, &first);
        if (first.height > x->height) *x = first, better = (peers_stretch){0, first.to};
    }
    if (better.from < FOLLOW_LEAST && better.to + FOLLOW_LEAST <= a->windows) {
        follow_stretch rest;
        follow_measure(a, peer, better.to, a->windows, &rest);
        if (rest.height > x->height) *x = rest, better = (peers_stretch){rest.from, rest.to};
    }
    // What is usual is less certain than its own level before, where there are few. That noise goes with the level tells
    // more where it does.
    if (a->count <= FOLLOW_FEW) x->height = fmin(x->height, peers_onset_height(own, a->windows, better));
    x->height = fmax(x->height, peers_onset_evidence(own, a->windows, better));
    free(own);
    free(others);
}

static void follow_mark(const follow_axis *a, peers_mark *m, const follow_stretch *x)
{
    m->unlike = true;
    m->ratio = x->mean;
    m->from = a->window[x->from];
    m->to = a->window[x->to - 1] + 1;
    m->always = x->from == 0 && x->to == a->windows;
}

static double follow_raw_mean(const float *values, size_t windows, size_t peer, size_t from, size_t to)
{
    double sum = 0;
    size_t known = 0;
    for (size_t w = from; w < to; w++) {
        float x = values[peer * windows + w];
        if (isnan(x)) continue;
        sum += (double)x;
        known++;
    }
    return known ? sum / (double)known : NAN;
}

// In its windows, the pauses of the program too.
static void follow_tell_level(peers_outcome *o, const float *values, size_t count, size_t windows,
                              const peers_mark *marks)
{
    double *means = memory_calloc(count + 1, sizeof *means);
    size_t n = 0;
    o->low = o->high = NAN;
    for (size_t i = 0; i < count; i++) {
        double mean = follow_raw_mean(values, windows, i, o->from, o->to);
        o->known += isnan(mean) ? 0 : 1;
        if (marks[i].unlike || isnan(mean)) continue;
        o->low = fmin(o->low, mean);
        o->high = fmax(o->high, mean);
        means[n++] = mean;
    }
    o->centre = peers_median(means, n);
    o->value = follow_raw_mean(values, windows, o->odd, o->from, o->to);
    free(means);
}

static void follow_conclude(peers_outcome *o, const float *values, size_t count, size_t windows,
                            const peers_mark *marks)
{
    o->kind = PEERS_ALIKE;
    for (size_t i = 0; i < count; i++) {
        if (!marks[i].unlike) continue;
        o->unlike++;
        o->odd = i;
        o->from = marks[i].from;
        o->to = marks[i].to;
        o->always = marks[i].always;
        o->is_silent = marks[i].is_silent;
    }
    follow_tell_level(o, values, count, windows, marks);
    if (o->unlike) o->kind = o->unlike == 1 ? PEERS_ONE : 3 * o->unlike <= o->known ? PEERS_SEVERAL : PEERS_SPLIT;
}

// Who may be unlike: [count] of stretches and of unlike. Returns how many.
static size_t follow_candidates(follow_axis *a, follow_stretch *stretches, bool *unlike)
{
    size_t candidates = 0;
    for (size_t i = 0; i < a->count; i++) {
        stretches[i] = (follow_stretch){0, a->windows, 1, 0};
        if (!a->left_out[i]) stretches[i] = follow_find(a, i);
        candidates += unlike[i] = !a->left_out[i] && follow_is_unlike(a, &stretches[i]);
    }
    return candidates;
}

// Marks those that are; returns how many.
static size_t follow_round(peers_outcome *o, follow_axis *a, double silent, peers_mark *marks)
{
    follow_stretch *stretches = memory_calloc(a->count + 1, sizeof *stretches);
    bool *unlike = memory_calloc(a->count + 1, sizeof *unlike);
    size_t candidates = follow_candidates(a, stretches, unlike), found = 0;
    for (size_t i = 0; i < a->count && candidates <= FOLLOW_JUDGED; i++) {
        double chance = NAN;
        if (!unlike[i]) continue;
        bool is_silent = follow_is_silent(a, i, &stretches[i], silent);
        if (!is_silent && !follow_judge(a, i, &stretches[i], unlike, &chance)) continue;
        follow_stretch coarse = stretches[i];
        follow_refine(a, i, unlike, &stretches[i]);
        if (!follow_is_apart(stretches[i].mean)) stretches[i] = coarse;
        follow_mark(a, &marks[i], &stretches[i]);
        marks[i].is_silent = is_silent;
        o->chance = chance;
        found++;
    }
    free(stretches);
    free(unlike);
    return found;
}

// The ones that stand out most of all, and the second; a->count: none does.
static void follow_most(follow_axis *a, size_t most[2], double heights[2])
{
    most[0] = most[1] = a->count;
    heights[0] = heights[1] = 0;
    for (size_t i = 0; i < a->count; i++) {
        follow_stretch x = {0};
        if (!a->left_out[i]) x = follow_find(a, i);
        size_t at = x.height > heights[0] ? 0 : 1;
        if (!(x.height > heights[at])) continue;
        if (!at) most[1] = most[0], heights[1] = heights[0];
        most[at] = i;
        heights[at] = x.height;
    }
}

// Is this one unlike the others alone? `without`: [count], room to say so, of it if it is.
static bool follow_one_of_few(peers_outcome *o, const follow_input *in, size_t peer, bool *without, peers_mark *marks)
{
    follow_axis others;
    bool *none = memory_calloc(in->count + 1, sizeof *none), found = false;
    without[peer] = true;
    if (follow_axis_make(&others, in, without)) {
        double chance = NAN;
        others.left_out[peer] = false;
        others.own_noise[peer] = follow_noise_of(others.ratio + peer * others.windows, others.windows);
        follow_stretch x = follow_find(&others, peer);
        follow_refine(&others, peer, none, &x);
        bool is_silent = follow_is_silent(&others, peer, &x, in->silent);
        found = follow_is_unlike(&others, &x) && (is_silent || follow_judge(&others, peer, &x, none, &chance));
        if (found) {
            follow_mark(&others, &marks[peer], &x);
            marks[peer].is_silent = is_silent;
            o->chance = chance;
        }
    }
    without[peer] = found;
    follow_axis_free(&others);
    free(none);
    return found;
}

// The same of a small group, whose usual level each one disturbs: only the one that stands out most, beside the others
// alone. Of a few it may be the second, where much noise made the first.
static size_t follow_round_of_few(peers_outcome *o, const follow_input *in, follow_axis *a, bool *without,
                                  peers_mark *marks)
{
    static const double stands_out = 4; // own: standard deviations, which noise alone reaches once in 16,000
    size_t most[2];
    double heights[2];
    follow_most(a, most, heights);
    if (most[0] == a->count) return 0;
    if (follow_one_of_few(o, in, most[0], without, marks)) return 1;
    if (a->count > FOLLOW_FEW || heights[1] < stands_out) return 0;
    return follow_one_of_few(o, in, most[1], without, marks);
}

static void follow_group(peers_outcome *o, const follow_input *in, peers_mark *marks)
{
    size_t count = in->count;
    bool *without = memory_calloc(count + 1, sizeof *without), any = false;
    peers_mark *found = memory_calloc(count + 1, sizeof *found);
    peers_outcome over = {.to = in->windows, .always = true, .chance = NAN};
    size_t left = count;
    for (bool more = true; more && (left > 3 || left == count);) {
        follow_axis a;
        more = follow_axis_make(&a, in, without);
        any |= more;
        size_t new = 0;
        if (more && count > FOLLOW_ALONE) new = follow_round(&over, &a, in->silent, found);
        if (more && count <= FOLLOW_ALONE) new = follow_round_of_few(&over, in, &a, without, found);
        left -= new < left ? new : left;
        more = new > 0 && count <= FOLLOW_ALONE;
        for (size_t i = 0; i < count; i++)
            without[i] = found[i].unlike;
        follow_axis_free(&a);
    }
    if (any) {
        follow_conclude(&over, in->values, count, in->windows, found);
        *o = over;
        memcpy(marks, found, count * sizeof *marks);
    }
    free(found);
    free(without);
}

// ---- two ----

// The windows in which the two do something, and the share that the first has of what both do.
static size_t follow_two_axis(const float *values, size_t windows, double silent, size_t *known, double *share)
{
    double most = 0;
    size_t n = 0;
    for (size_t w = 0; w < windows; w++) { // by fmax() gcc 12 for aarch64 ends with an internal error at -O3
        double sum = (double)values[w] + (double)values[windows + w];
        if (sum > most) most = sum; // never NAN
    }
    for (size_t w = 0; w < windows; w++) {
        double own = (double)values[w], sum = own + (double)values[windows + w];
        if (!(sum > silent) || sum < follow_low * most / 2) continue;
        known[n] = w;
        share[n++] = own / sum;
    }
    return n;
}

// Both levels over the windows in which the two do something, and what noise makes of a step between windows: variances
// and what they share. All that moves both alike, phases of the program, is in what they share.
typedef struct follow_pair {
    size_t count;
    double *sums[3]; // [count + 1]: of each level, and of the share that the first has, before each window
    double variance[2], shared, share_noise;
} follow_pair;

static void follow_pair_make(follow_pair *p, const float *values, size_t windows, const size_t *known,
                             const double *share, size_t count)
{
    double before[3] = {0}, squares[3] = {0}, products = 0, steps = 2 * (double)(count - 1);
    *p = (follow_pair){.count = count};
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
        double least = follow_least_noise * p->sums[i][count] / (double)count;
        p->variance[i] = fmax(squares[i] / steps, least * least);
    }
    p->shared = products / steps;
    p->share_noise = fmax(sqrt(squares[2] / steps), follow_least_noise / 2);
}

static void follow_pair_free(follow_pair *p)
{
    for (size_t i = 0; i < 3; i++)
        free(p->sums[i]);
}

// How far a stretch is from the rest in its mean.
static double follow_pair_apart(const follow_pair *p, size_t which, size_t from, size_t to)
{
    double k = (double)(to - from), n = (double)p->count, in = p->sums[which][to] - p->sums[which][from];
    return in / k - (p->sums[which][p->count] - in) / (n - k);
}

// The same of one of the two, in standard deviations, beside what the other's change lets expect.
static double follow_pair_height(const follow_pair *p, size_t which, size_t from, size_t to)
{
    double k = (double)(to - from), n = (double)p->count;
    double slope = p->shared / p->variance[!which], left = p->variance[which] - slope * p->shared;
    double apart = follow_pair_apart(p, which, from, to) - slope * follow_pair_apart(p, !which, from, to);
    return fabs(apart) * sqrt(k * (n - k) / n) / sqrt(fmax(left, 1e-6 * p->variance[which]));
}

// The stretch in which one of the two is farthest from what it was: to the end, unless another one tells much more (twice
// the logarithm of how many there are). What was first is usual.
static follow_stretch follow_pair_find(const follow_pair *p, size_t which)
{
    follow_stretch best = {0, p->count, 0, 0}, until_end = best;
    for (size_t from = FOLLOW_LEAST; from + FOLLOW_LEAST <= p->count; from++)
        for (size_t to = from + FOLLOW_LEAST; to <= p->count; to++) {
            follow_stretch x = {from, to, 0, follow_pair_height(p, which, from, to)};
            if (x.height > best.height) best = x;
            if (to == p->count && x.height > until_end.height) until_end = x;
        }
    double more = best.height * best.height - until_end.height * until_end.height;
    return more > 2 * log((double)p->count) ? best : until_end;
}

// Not only beside what the other does: their shares changed, too.
static bool follow_pair_shares_changed(const follow_pair *p, const follow_stretch *x)
{
    static const double least_share = 2.5; // standard deviations
    double n = (double)p->count, k = (double)(x->to - x->from);
    return fabs(follow_pair_apart(p, 2, x->from, x->to)) * sqrt(k * (n - k) / n) / p->share_noise >= least_share;
}

// Beyond chance.
static bool follow_pair_changed(const follow_pair *p, const follow_stretch *x)
{
    double n = (double)p->count, looks = x->to == p->count ? 2 * n : n * n;
    return follow_pair_shares_changed(p, x) && erfc(x->height / sqrt(2)) * looks <= follow_two_chance;
}

// Did one move, and the other not? In logarithms of the levels in the stretch and outside. What noise makes of levels is
// let pass, as long as the one moved twice as far.
static bool follow_pair_one_moved(const follow_pair *p, const follow_stretch *x, size_t which, const double moved[2])
{
    static const double still = 1.25, slack = 0.1; // own; slack: of PEERS_APART, in logarithms, where noise is as large
    double n = (double)p->count, k = (double)(x->to - x->from), own = fabs(log(moved[which])), noise[2];
    for (size_t i = 0; i < 2; i++)
        noise[i] = 2 * sqrt(p->variance[i] * (1 / k + 1 / (n - k))) / (p->sums[i][p->count] / n);
    double most = fmax(log(still), fmin(log(still) + noise[!which], own / 2));
    return fabs(log(moved[!which])) <= most && own + fmin(noise[which], slack) >= log(PEERS_APART) &&
           follow_is_apart(moved[which] / moved[!which]);
}

// One of two is the odd one where its own level moved and the other's did not.
static void follow_two_moved(peers_outcome *o, const follow_pair *p, const float *values, size_t windows,
                             const size_t *known, const follow_stretch *x, peers_mark *marks)
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
        if (!follow_pair_one_moved(p, x, i, moved)) continue;
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
static void follow_two_refine(const float *values, size_t windows, const size_t *known, size_t count, size_t which,
                              follow_stretch *x)
{
    double *own = memory_calloc(count + 1, sizeof *own), *other = memory_calloc(count + 1, sizeof *other), mean = 0;
    for (size_t v = 0; v < count; v++)
        mean += ((double)values[known[v]] + (double)values[windows + known[v]]) / 2 / (double)count;
    for (size_t v = 0; v < count; v++) {
        own[v] = log(fmax((double)values[which * windows + known[v]], follow_floor * mean));
        other[v] = log(fmax((double)values[!which * windows + known[v]], follow_floor * mean));
    }
    follow_expect(own, other, count);
    peers_stretch better = peers_onset(own, count, FOLLOW_LEAST);
    x->from = better.from;
    x->to = better.to;
    // Beyond chance by two measures, of which the first counts all noise as if it were of one size.
    x->height = fmax(x->height, peers_onset_height(own, count, better));
    x->height = fmin(x->height, peers_onset_evidence(own, count, better));
    free(own);
    free(other);
}

static void follow_two(peers_outcome *o, const float *values, size_t windows, double silent, peers_mark *marks)
{
    size_t *known = memory_calloc(windows + 1, sizeof *known);
    double *share = memory_calloc(windows + 1, sizeof *share);
    size_t count = follow_two_axis(values, windows, silent, known, share);
    if (count >= 2 * FOLLOW_LEAST) {
        follow_pair p;
        follow_pair_make(&p, values, windows, known, share, count);
        follow_stretch x = follow_pair_find(&p, 0), other = follow_pair_find(&p, 1);
        size_t which = other.height > x.height;
        if (which) x = other;
        bool changed = follow_pair_shares_changed(&p, &x);
        if (changed) follow_two_refine(values, windows, known, count, which, &x);
        if (changed && follow_pair_changed(&p, &x)) follow_two_moved(o, &p, values, windows, known, &x, marks);
        if (o->kind == PEERS_ONE) o->is_silent = marks[o->odd].is_silent = o->value <= silent;
        follow_pair_free(&p);
    }
    free(known);
    free(share);
}

// ---- all ----

static void follow_totals(peers_outcome *o, const float *values, size_t count, size_t windows, double silent,
                          peers_mark *marks)
{
    double *means = memory_calloc(count + 1, sizeof *means);
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        size_t known = 0;
        for (size_t w = 0; w < windows; w++) {
            if (isnan(values[i * windows + w])) continue;
            sum += (double)values[i * windows + w];
            known++;
        }
        means[i] = 2 * known >= windows && known ? sum / (double)known : NAN;
    }
    peers_weigh(o, means, count, silent, marks);
    o->to = windows;
    for (size_t i = 0; marks && i < count; i++)
        marks[i].to = windows;
    free(means);
}

void peers_follow(peers_outcome *o, const float *values, size_t count, size_t windows, double silent, peers_mark *marks)
{
    peers_mark *own = marks ? marks : memory_calloc(count + 1, sizeof *own);
    follow_totals(o, values, count, windows, silent, own);
    if (o->known == 2 && count == 2)
        follow_two(o, values, windows, silent, own);
    else if (o->known > 2 && o->kind != PEERS_IDLE && o->kind != PEERS_PART && o->kind != PEERS_SPLIT)
        follow_group(o, &(follow_input){values, count, windows, silent}, own);
    if (!marks) free(own);
}
