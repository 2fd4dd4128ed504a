// Peers over time: who is unlike the others from when to when.
#include "peers.h"
#include "peers_onset.h"
#include "peers_two.h"

#include "analysis/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Own. Stretches are searched for, so that the noise of a single one must be excluded far better than what peers differ by.
static const double follow_chance = 5e-3, follow_least_noise = 0.01;
enum { FOLLOW_LEAST = PEERS_LEAST_WINDOWS, FOLLOW_WHOLE = 12, FOLLOW_JUDGED = 64, FOLLOW_ALONE = 64, FOLLOW_FEW = 7 };

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
    float *ratio;      // [count * windows]; NAN: not known
    double *level;     // [count]: its mean
    bool *left_out;    // [count]: less than half is known
    size_t *known;     // [windows]: of the peer at hand, the windows in which it is known, and
    double *sums;      // [windows + 1]: its ratios before each of them, less 1 each
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
    return fmax(PEERS_LOW * usual, silent);
}

static void follow_axis_free(follow_axis *a)
{
    free(a->window);
    free(a->centre);
    free(a->ratio);
    free(a->level);
    free(a->left_out);
    free(a->known);
    free(a->sums);
    free(a->own_noise);
}

static void follow_fill(follow_axis *a, const float *values, size_t windows, const bool *without)
{
    a->ratio = memory_calloc(a->count * a->windows + 1, sizeof *a->ratio);
    a->level = memory_calloc(a->count + 1, sizeof *a->level);
    a->left_out = memory_calloc(a->count + 1, sizeof *a->left_out);
    a->known = memory_calloc(a->windows + 1, sizeof *a->known);
    a->sums = memory_calloc(a->windows + 1, sizeof *a->sums);
    for (size_t i = 0; i < a->count; i++) {
        size_t known = 0;
        double sum = 0;
        float *ratio = a->ratio + i * a->windows;
        for (size_t v = 0; v < a->windows; v++) {
            ratio[v] = (float)((double)values[i * windows + a->window[v]] / a->centre[v]);
            if (isnan(ratio[v])) continue;
            known++;
            sum += (double)ratio[v];
        }
        a->level[i] = known ? sum / (double)known : NAN;
        a->left_out[i] = without[i] || 2 * known < a->windows;
    }
}

// By the steps from one known window to the next, of which a lasting change is one; *steps: how many there are.
static double follow_noise_of(const float *ratio, size_t windows, size_t *steps)
{
    double squares = 0, before = NAN;
    *steps = 0;
    for (size_t v = 0; v < windows; v++) {
        double now = (double)ratio[v];
        if (isnan(now)) continue;
        if (!isnan(before)) squares += (now - before) * (now - before), ++*steps;
        before = now;
    }
    return *steps ? sqrt(squares / (double)*steps / 2) : 0;
}

static void follow_weigh(follow_axis *a)
{
    double *all = memory_calloc(a->count + 1, sizeof *all);
    size_t n = 0, steps = 0, sum = 0;
    a->own_noise = memory_calloc(a->count + 1, sizeof *a->own_noise);
    for (size_t i = 0; i < a->count; i++) {
        if (a->left_out[i]) continue;
        all[n++] = a->own_noise[i] = follow_noise_of(a->ratio + i * a->windows, a->windows, &steps);
        sum += steps;
    }
    a->noise = fmax(follow_least_noise, n ? peers_median(all, n) : 0);
    a->noise_freedom = (double)sum / 2;
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

// Returns in how many windows it is known.
static size_t follow_sum(follow_axis *a, size_t peer)
{
    const float *ratio = a->ratio + peer * a->windows;
    size_t known = 0;
    for (size_t v = 0; v < a->windows; v++) {
        if (isnan(ratio[v])) continue;
        a->known[known] = v;
        a->sums[known + 1] = a->sums[known] + (double)ratio[v] - 1;
        known++;
    }
    return known;
}

// Over what is known; NAN: nothing is. count: of how many windows, may be NULL.
static double follow_mean(const follow_axis *a, size_t peer, size_t from, size_t to, double *count)
{
    const float *ratio = a->ratio + peer * a->windows;
    double sum = 0, known = 0;
    for (size_t v = from; v < to; v++) {
        if (isnan(ratio[v])) continue;
        sum += (double)ratio[v];
        known++;
    }
    if (count) *count = known;
    return known > 0 ? sum / known : NAN;
}

// How far a ratio is from 1. A ratio to a small group's noisy middle has a long tail upwards.
static double follow_away(double ratio)
{
    return ratio > 1 ? log(ratio) : 1 - ratio;
}

static void follow_measure(const follow_axis *a, size_t peer, size_t from, size_t to, follow_stretch *x)
{
    double known;
    *x = (follow_stretch){from, to, follow_mean(a, peer, from, to, &known), 0};
    double noise = fmax(a->noise, a->own_noise[peer] / fmax(x->mean, 1)); // who does more has more noise, too
    x->height = follow_away(x->mean) * sqrt(known) / noise;
}

// A stretch of the windows in which the peer at hand is known. What is missing at either end is as what is beside it.
static void follow_measure_known(const follow_axis *a, size_t peer, size_t known, peers_stretch of, follow_stretch *x)
{
    size_t from = of.from ? a->known[of.from] : 0, to = of.to < known ? a->known[of.to - 1] + 1 : a->windows;
    follow_measure(a, peer, from, to, x);
}

static double follow_sums_mean(const follow_axis *a, size_t from, size_t to)
{
    return (a->sums[to] - a->sums[from]) / (double)(to - from);
}

// The stretch that stands out most against the noise; what is most of the time is all of it.
static follow_stretch follow_find(follow_axis *a, size_t peer)
{
    size_t known = follow_sum(a, peer);
    peers_stretch best = {0, known};
    follow_stretch found;
    double most = 0;
    for (size_t from = 0; from + FOLLOW_LEAST <= known; from++)
        for (size_t to = from + FOLLOW_LEAST; to <= known; to++) {
            double sum = a->sums[to] - a->sums[from], square = sum * sum / (double)(to - from);
            if (square > most) most = square, best = (peers_stretch){from, to};
        }
    double apart = follow_sums_mean(a, best.from, best.to);
    // Fewer windows than these at either end tell nothing; and what goes on half as far has not ended.
    if (best.from < FOLLOW_LEAST) best.from = 0;
    if (best.to < known && follow_sums_mean(a, best.to, known) / apart > 0.5) best.to = known;
    if (known - best.to < FOLLOW_LEAST) best.to = known;
    if ((best.to - best.from) * FOLLOW_WHOLE >= known * (FOLLOW_WHOLE - 1)) best = (peers_stretch){0, known};
    follow_measure_known(a, peer, known, best, &found);
    return found;
}

// Of three, two that are low at once make the third one look high; and among very many something always happens.
static double follow_noise_chance(size_t count)
{
    return count < 4 || count > FOLLOW_ALONE ? 1e-5 : 2e-5;
}

// Of stretches there are about windows^2 / 2; fewer that begin or end with the run.
static bool follow_is_unlike(const follow_axis *a, const follow_stretch *x)
{
    double windows = (double)a->windows;
    bool at_one_end = (x->from == 0) != (x->to == a->windows);
    double looks = (double)a->count * windows * (at_one_end ? 2 : windows / 2);
    return peers_is_apart(x->mean) && erfc(x->height / sqrt(2)) * looks <= follow_noise_chance(a->count);
}

// ---- against the others ----

static double follow_outside(const follow_axis *a, size_t peer, const follow_stretch *x, double *count)
{
    double before, after, first = follow_mean(a, peer, 0, x->from, &before),
                          last = follow_mean(a, peer, x->to, a->windows, &after);
    if (count) *count = before + after;
    if (!(before > 0)) return last;
    return after > 0 ? (first * before + last * after) / (before + after) : first;
}

// How far others are from the group's level in this stretch, or how far they moved from what they were otherwise.
static double follow_chance_of(const follow_axis *a, size_t peer, const follow_stretch *x, const bool *unlike,
                               bool by_change)
{
    double *means = memory_calloc(a->count + 1, sizeof *means), inside = 0, outside = 0, own = NAN;
    for (size_t i = 0; i < a->count; i++) {
        double in = 0, out = 0, mean = NAN;
        if (!a->left_out[i] && (!unlike[i] || i == peer)) mean = follow_mean(a, i, x->from, x->to, &in);
        if (by_change && !isnan(mean)) mean += 1 - follow_outside(a, i, x, &out);
        if (i == peer) own = mean, inside = in, outside = out;
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
    double known, outside = follow_outside(a, peer, x, &known);
    bool moved = known >= FOLLOW_LEAST && peers_is_apart(x->mean / fmax(outside, 1e-9));
    *chance = moved ? follow_chance_of(a, peer, x, unlike, true) : 1;
    if (*chance <= follow_chance) return true;
    *x = (follow_stretch){0, a->windows, a->level[peer], x->height};
    *chance = follow_chance_of(a, peer, x, unlike, false);
    return peers_is_apart(x->mean) && *chance <= peers_chance_most(a->count);
}

// ---- the group ----

// It does nothing in the middle of its windows, and all others work.
static bool follow_is_silent(const follow_axis *a, size_t peer, const follow_stretch *x, double silent)
{
    double *own = memory_calloc(a->windows + 1, sizeof *own);
    size_t known = 0;
    for (size_t v = x->from; v < x->to; v++) {
        double ratio = (double)a->ratio[peer * a->windows + v];
        if (!isnan(ratio)) own[known++] = ratio * a->centre[v];
    }
    bool is_silent = peers_median(own, known) <= silent;
    for (size_t i = 0; i < a->count && is_silent; i++)
        if (i != peer && !a->left_out[i])
            is_silent = !(follow_mean(a, i, x->from, x->to, NULL) < 0.5); // NAN: not known
    free(own);
    return is_silent;
}

// What the peer did in the windows in which it is known, beside what the others let expect; returns how many these are.
// Of another that is not known in one of them, what it does otherwise is taken.
static size_t follow_own(follow_axis *a, size_t peer, const bool *unlike, double *own)
{
    double *others = memory_calloc(a->windows + 1, sizeof *others);
    size_t known = follow_sum(a, peer);
    for (size_t k = 0; k < known; k++) {
        double sum = 0;
        size_t n = 0, v = a->known[k];
        for (size_t i = 0; i < a->count; i++) {
            if (i == peer || unlike[i] || a->left_out[i]) continue;
            double ratio = (double)a->ratio[i * a->windows + v];
            sum += isnan(ratio) ? a->level[i] : ratio;
            n++;
        }
        others[k] = log((n ? fmax(sum / (double)n, PEERS_FLOOR) : 1) * a->centre[v]);
        own[k] = log(fmax((double)a->ratio[peer * a->windows + v], PEERS_FLOOR) * a->centre[v]);
    }
    peers_onset_beside(own, others, known);
    free(others);
    return known;
}

// When the peer's own level changed, once more: its share above was found beside all, itself among them.
static void follow_refine(follow_axis *a, size_t peer, const bool *unlike, follow_stretch *x)
{
    if (x->from == 0 && x->to == a->windows) return;
    double *own = memory_calloc(a->windows + 1, sizeof *own);
    size_t known = follow_own(a, peer, unlike, own);
    peers_stretch better = peers_onset(own, known, FOLLOW_LEAST);
    follow_measure_known(a, peer, known, better, x);
    // Its own values do not tell which of two levels is the usual one, the others do: it may have been unlike at first.
    if (better.from > 0 && better.to == known) {
        peers_stretch before = {0, better.from};
        follow_stretch first;
        follow_measure_known(a, peer, known, before, &first);
        if (first.height > x->height) *x = first, better = before;
    }
    if (better.from < FOLLOW_LEAST && better.to + FOLLOW_LEAST <= known) {
        peers_stretch after = {better.to, known};
        follow_stretch rest;
        follow_measure_known(a, peer, known, after, &rest);
        if (rest.height > x->height) *x = rest, better = after;
    }
    // What is usual is less certain than its own level before, where there are few. That noise goes with the level tells
    // more where it does.
    if (a->count <= FOLLOW_FEW) x->height = fmin(x->height, peers_onset_height(own, known, better));
    x->height = fmax(x->height, peers_onset_evidence(own, known, better));
    free(own);
}

static void follow_mark(const follow_axis *a, peers_mark *m, const follow_stretch *x)
{
    m->unlike = true;
    m->ratio = x->mean;
    m->from = a->window[x->from];
    m->to = a->window[x->to - 1] + 1;
    m->always = x->from == 0 && x->to == a->windows;
}

// Where another one is known as well: two means are of the same windows then.
static double follow_raw_mean(const float *values, size_t windows, size_t peer, size_t beside, size_t from, size_t to)
{
    double sum = 0;
    size_t known = 0;
    for (size_t w = from; w < to; w++) {
        float x = values[peer * windows + w];
        if (isnan(x) || isnan(values[beside * windows + w])) continue;
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
        o->known += isnan(follow_raw_mean(values, windows, i, i, o->from, o->to)) ? 0 : 1;
        double mean = follow_raw_mean(values, windows, i, o->unlike ? o->odd : i, o->from, o->to);
        if (marks[i].unlike || isnan(mean)) continue;
        o->low = fmin(o->low, mean);
        o->high = fmax(o->high, mean);
        means[n++] = mean;
    }
    o->centre = peers_median(means, n);
    o->value = follow_raw_mean(values, windows, o->odd, o->odd, o->from, o->to);
    o->doubtful = o->unlike == 1 && o->always && !o->is_silent && peers_is_doubtful(o->value, means, n);
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
        if (!peers_is_apart(stretches[i].mean)) stretches[i] = coarse;
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
        size_t steps;
        others.own_noise[peer] = follow_noise_of(others.ratio + peer * others.windows, others.windows, &steps);
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

// ---- all ----

// What each did in the mean. Who is not known all the time is held against what is usual in those windows in which it is:
// the group may do more in some than in others.
static double *follow_means(const follow_input *in)
{
    bool *none = memory_calloc(in->count + 1, sizeof *none);
    double *means = memory_calloc(in->count + 1, sizeof *means), all = 0, *usual = NULL;
    for (size_t i = 0; i < in->count; i++) {
        double sum = 0, of = 0;
        size_t known = 0;
        for (size_t w = 0; w < in->windows; w++) {
            if (isnan(in->values[i * in->windows + w])) continue;
            sum += (double)in->values[i * in->windows + w];
            known++;
        }
        means[i] = 2 * known >= in->windows && known ? sum / (double)known : NAN;
        if (isnan(means[i]) || known == in->windows) continue;
        if (!usual) {
            usual = follow_centres(in->values, in->count, in->windows, none);
            for (size_t w = 0; w < in->windows; w++)
                all += isnan(usual[w]) ? 0 : usual[w];
        }
        for (size_t w = 0; w < in->windows; w++)
            of += isnan(usual[w]) || isnan(in->values[i * in->windows + w]) ? 0 : usual[w];
        if (of > 0) means[i] *= (all / (double)in->windows) / (of / (double)known);
    }
    free(usual);
    free(none);
    return means;
}

static void follow_totals(peers_outcome *o, const follow_input *in, const peers_spread *beside, peers_mark *marks)
{
    double *means = follow_means(in);
    peers_weigh_beside(o, means, in->count, in->silent, beside, marks);
    o->to = in->windows;
    for (size_t i = 0; marks && i < in->count; i++)
        marks[i].to = in->windows;
    free(means);
}

void peers_follow_beside(peers_outcome *o, const float *values, size_t count, size_t windows, double silent,
                         const peers_spread *beside, peers_mark *marks)
{
    const follow_input in = {values, count, windows, silent};
    peers_mark *own = marks ? marks : memory_calloc(count + 1, sizeof *own);
    follow_totals(o, &in, beside, own);
    if (o->known == 2 && count == 2)
        peers_two(o, values, windows, silent, own);
    else if (o->known > 2 && o->kind != PEERS_IDLE && o->kind != PEERS_PART && o->kind != PEERS_SPLIT)
        follow_group(o, &in, own);
    if (!marks) free(own);
}

void peers_follow(peers_outcome *o, const float *values, size_t count, size_t windows, double silent, peers_mark *marks)
{
    peers_follow_beside(o, values, count, windows, silent, NULL, marks);
}
