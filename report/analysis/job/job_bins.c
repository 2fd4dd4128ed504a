#include "job_bins.h"

#include "analysis/base/memory.h"

#include <stdlib.h>
#include <string.h>

// As shifts: finer than anything that is sampled, and so coarse that JOB_BINS bins cover nearly all of int64_t.
enum { FINEST = 14, COARSEST = 55 };
enum { ROOM_FIRST = JOB_BINS / 4 };

job_bins *job_bins_make(void)
{
    job_bins *b = memory_alloc(sizeof *b);
    *b = (job_bins){.shift = FINEST, .owners = 1};
    return b;
}

void job_bins_free(job_bins *b)
{
    if (!b || --b->owners) return;
    free(b->items);
    free(b->skipped);
    free(b);
}

// Not of NAN: what is added to bins is known.
static inline float job_bin_less(float a, float b)
{
    return b < a ? b : a;
}

static inline float job_bin_more(float a, float b)
{
    return b > a ? b : a;
}

// behind_s: how much later `from` begins than `to`.
static inline void job_bin_join(job_bin *to, const job_bin *from, double behind_s)
{
    if (!(from->known_s > 0)) return;
    bool first = !(to->known_s > 0);
    float left = (float)(from->from_s + behind_s), right = (float)(from->to_s + behind_s);
    to->from_s = first ? left : job_bin_less(to->from_s, left);
    to->to_s = first ? right : job_bin_more(to->to_s, right);
    to->low = first ? from->low : job_bin_less(to->low, from->low);
    to->high = first ? from->high : job_bin_more(to->high, from->high);
    to->known_s += from->known_s;
    to->integral += from->integral;
}

static double job_bins_width(const job_bins *b)
{
    return (double)((int64_t)1 << b->shift) * 1e-9;
}

// Two neighbours become one.
static void job_bins_halve(job_bins *b)
{
    int64_t first = b->first >> 1;
    size_t count = 0;
    for (size_t i = 0; i < b->count; i++) {
        int64_t at = b->first + (int64_t)i;
        size_t to = (size_t)((at >> 1) - first);
        job_bin item = b->items[i];
        if (to == count) b->items[count++] = (job_bin){0};
        job_bin_join(&b->items[to], &item, at & 1 ? job_bins_width(b) : 0);
    }
    b->first = first;
    b->count = count;
    b->shift++;
}

void job_bins_coarsen(job_bins *b, unsigned shift)
{
    while (b->shift < shift && b->shift < COARSEST)
        job_bins_halve(b);
}

// Makes room for from..to, widening the bins if needed.
static void job_bins_reach(job_bins *b, int64_t from_ns, int64_t to_ns)
{
    for (;;) {
        int64_t from = from_ns >> b->shift, to = (to_ns - 1) >> b->shift;
        if (b->count && b->first < from) from = b->first;
        if (b->count && b->first + (int64_t)b->count - 1 > to) to = b->first + (int64_t)b->count - 1;
        size_t count = (size_t)(to - from + 1);
        if (count > JOB_BINS) { // never at the coarsest
            job_bins_halve(b);
            continue;
        }
        if (count > b->room) {
            size_t room = count <= ROOM_FIRST ? ROOM_FIRST : JOB_BINS; // what is not needed is given back after the run
            b->items = memory_array(b->items, room, sizeof *b->items);
            b->room = room;
        }
        size_t before = b->count ? (size_t)(b->first - from) : 0;
        if (before) memmove(b->items + before, b->items, b->count * sizeof *b->items);
        memset(b->items, 0, before * sizeof *b->items);
        memset(b->items + before + b->count, 0, (count - before - b->count) * sizeof *b->items);
        b->first = from;
        b->count = count;
        return;
    }
}

// Where bin i begins, in nanoseconds. Bins of before 1970 have numbers below 0, which C does not shift.
static int64_t job_bin_begin(const job_bins *b, int64_t i)
{
    return i * ((int64_t)1 << b->shift);
}

static bool job_bins_cover(const job_bins *b, int64_t from_ns, int64_t to_ns)
{
    return b->count && from_ns >> b->shift >= b->first && (to_ns - 1) >> b->shift < b->first + (int64_t)b->count;
}

static void job_bins_put(job_bins *b, int64_t from_ns, int64_t to_ns, double value, double low, double high)
{
    if (!job_bins_cover(b, from_ns, to_ns)) job_bins_reach(b, from_ns, to_ns);
    b->integral += value * ((double)(to_ns - from_ns) * 1e-9);
    for (int64_t i = from_ns >> b->shift; i <= (to_ns - 1) >> b->shift; i++) {
        int64_t left = job_bin_begin(b, i), right = job_bin_begin(b, i + 1);
        double begin = (double)((left > from_ns ? left : from_ns) - left) * 1e-9;
        double end = (double)((right < to_ns ? right : to_ns) - left) * 1e-9, part = end - begin;
        job_bin one = {(float)part, (float)(value * part), (float)low, (float)high, (float)begin, (float)end};
        job_bin_join(&b->items[i - b->first], &one, 0);
    }
}

// Many a lane of trouble is 0 from its first value to its last: such a one has no bins.
static bool job_bins_is_blank(const job_bins *b)
{
    return !b->count && b->zero_to > b->zero_from;
}

bool job_bins_known(const job_bins *b)
{
    return b->count || job_bins_is_blank(b);
}

static void job_bins_fill(job_bins *b)
{
    if (job_bins_is_blank(b)) job_bins_put(b, b->zero_from, b->zero_to, 0, 0, 0);
}

static bool job_bins_stay_blank(job_bins *b, int64_t from_ns, int64_t to_ns, double low, double high)
{
    bool is_new = !b->count && b->zero_to <= b->zero_from;
    if (b->count || low < 0 || low > 0 || high < 0 || high > 0 || !(is_new || from_ns == b->zero_to)) return false;
    if (is_new) b->zero_from = from_ns;
    b->zero_to = to_ns;
    return true;
}

void job_bins_add(job_bins *b, int64_t from_ns, int64_t to_ns, double value, double low, double high)
{
    if (to_ns <= from_ns) return;
    // The first step decides how fine the bins are.
    while (!b->count && !job_bins_is_blank(b) && b->shift < COARSEST && (to_ns - from_ns) >> b->shift > 4)
        b->shift++;
    if (job_bins_stay_blank(b, from_ns, to_ns, low, high)) return;
    job_bins_fill(b);
    job_bins_put(b, from_ns, to_ns, value, low, high);
}

void job_bins_trim(job_bins *b)
{
    if (!b->count || b->room == b->count) return;
    b->items = memory_array(b->items, b->count, sizeof *b->items);
    b->room = b->count;
}

static void job_bins_join_skipped(job_bins *b)
{
    size_t nearest = 0;
    for (size_t i = 0; i + 1 < b->skipped_count; i++)
        if (b->skipped[i + 1].from_ns - b->skipped[i].to_ns <
            b->skipped[nearest + 1].from_ns - b->skipped[nearest].to_ns)
            nearest = i;
    b->skipped[nearest].to_ns = b->skipped[nearest + 1].to_ns;
    b->skipped[nearest].amount += b->skipped[nearest + 1].amount;
    b->skipped_count--;
    memmove(&b->skipped[nearest + 1], &b->skipped[nearest + 2], (b->skipped_count - nearest - 1) * sizeof *b->skipped);
}

void job_bins_skip(job_bins *b, int64_t from_ns, int64_t to_ns, double amount)
{
    if (!b->skipped) b->skipped = memory_calloc(JOB_SKIPPED + 1, sizeof *b->skipped);
    b->skipped[b->skipped_count++] = (job_skipped){from_ns, to_ns, amount};
    if (b->skipped_count > JOB_SKIPPED) job_bins_join_skipped(b);
}

// The share of a bin's known time between left and right, in seconds since its begin.
static double job_bin_part(const job_bin *x, double left, double right)
{
    double length = (double)x->to_s - (double)x->from_s;
    if (left <= (double)x->from_s && right >= (double)x->to_s) return 1;
    return (job_less(right, (double)x->to_s) - job_more(left, (double)x->from_s)) / length;
}

static job_span job_bins_blank_span(const job_bins *b, int64_t from_ns, int64_t to_ns)
{
    int64_t from = from_ns > b->zero_from ? from_ns : b->zero_from, to = to_ns < b->zero_to ? to_ns : b->zero_to;
    if (to <= from) return (job_span){.low = NAN, .high = NAN};
    return (job_span){.known_s = (double)(to - from) * 1e-9};
}

job_span job_bins_span(const job_bins *b, int64_t from_ns, int64_t to_ns)
{
    job_span span = {.low = NAN, .high = NAN};
    if (!b || to_ns <= from_ns) return span;
    from_ns -= b->offset_ns;
    to_ns -= b->offset_ns;
    if (job_bins_is_blank(b)) return job_bins_blank_span(b, from_ns, to_ns);
    if (!b->count) return span;
    int64_t from = from_ns >> b->shift, to = (to_ns - 1) >> b->shift, inner = from + 1, outer = to - 1;
    if (from < b->first) from = b->first;
    if (to >= b->first + (int64_t)b->count) to = b->first + (int64_t)b->count - 1;
    float low = INFINITY, high = -INFINITY;
    for (int64_t i = from; i <= to; i++) {
        const job_bin *x = &b->items[i - b->first];
        double part = 1; // of bins that are not at an edge
        if (!(x->known_s > 0) || !(x->to_s > x->from_s)) continue;
        int64_t begin = job_bin_begin(b, i);
        if (i < inner || i > outer)
            part = job_bin_part(x, (double)(from_ns - begin) * 1e-9, (double)(to_ns - begin) * 1e-9);
        if (!(part > 0)) continue;
        span.integral += x->integral * part;
        span.known_s += x->known_s * part;
        low = job_bin_less(low, x->low);
        high = job_bin_more(high, x->high);
    }
    if (span.known_s > 0) span.low = low, span.high = high;
    return span;
}

// A bin that only one of the two knows becomes unknown.
void job_bins_join(job_bins *b, const job_bins *from)
{
    job_bins copy = *from;
    if (!from->count && !job_bins_is_blank(from)) return;
    job_bins_fill(b);
    bool first = !b->count;
    if (from->count) copy.items = memory_copy(from->items, from->count * sizeof *copy.items);
    job_bins_fill(&copy);
    job_bins_coarsen(b, copy.shift);
    job_bins_coarsen(&copy, b->shift);
    if (first)
        job_bins_reach(b, job_bin_begin(&copy, copy.first), job_bin_begin(&copy, copy.first + (int64_t)copy.count));
    for (size_t i = 0; i < b->count; i++) {
        int64_t k = b->first + (int64_t)i - copy.first;
        const job_bin *x = k >= 0 && k < (int64_t)copy.count ? &copy.items[k] : NULL;
        job_bin *to = &b->items[i];
        if (!x || !(x->known_s > 0) || (!first && !(to->known_s > 0))) {
            *to = (job_bin){0};
            continue;
        }
        float known = first ? x->known_s : fminf(to->known_s, x->known_s);
        float mean = x->integral / x->known_s + (first ? 0 : to->integral / to->known_s);
        *to = (job_bin){known,
                        mean * known,
                        (first ? 0 : to->low) + x->low,
                        (first ? 0 : to->high) + x->high,
                        first ? x->from_s : fmaxf(to->from_s, x->from_s),
                        first ? x->to_s : fminf(to->to_s, x->to_s)};
    }
    for (size_t i = 0; i < copy.skipped_count; i++)
        job_bins_skip(b, copy.skipped[i].from_ns, copy.skipped[i].to_ns, copy.skipped[i].amount);
    b->integral = 0;
    for (size_t i = 0; i < b->count; i++)
        b->integral += b->items[i].integral;
    free(copy.items);
}

void job_bins_cap(job_bins *b, double most)
{
    b->integral = 0;
    for (size_t i = 0; i < b->count; i++) {
        job_bin *x = &b->items[i];
        if (!(x->known_s > 0)) continue;
        if (x->integral > (float)most * x->known_s) x->integral = (float)most * x->known_s;
        if (x->low > (float)most) x->low = (float)most;
        if (x->high > (float)most) x->high = (float)most;
        b->integral += (double)x->integral;
    }
}
