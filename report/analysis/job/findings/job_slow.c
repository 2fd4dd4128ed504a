// A stretch in which all nodes together did less though nothing held the network: neither a fault of it nor nothing.
#include "job_findings_make.h"
#include "job_effect.h"
#include "job_finding.h"

#include "analysis/base/text.h"
#include "analysis/base/words.h"
#include "analysis/job/job_columns.h"

#include <stdlib.h>
#include <string.h>

// Own heuristics: what falls by less may be noise, what falls by more is a phase of the program; and only where traffic is
// steady otherwise can it fall.
static const double job_slow_least_s = 30, job_slow_below = 0.85, job_slow_above = 0.25, job_slow_alike = 0.10,
                    job_slow_steady = 0.6, job_slow_clean = 0.01;
enum { COLUMNS = 1024, LEAST_COLUMNS = 3, RHYTHM = 3 };

typedef struct slow_axis {
    job_column columns[COLUMNS];
    size_t count;
    double width, level; // level: what is usual, NAN: nothing is
} slow_axis;

static double job_slow_level(const slow_axis *a)
{
    double sorted[COLUMNS];
    size_t known = 0, near = 0;
    for (size_t i = 0; i < a->count; i++)
        if (!isnan(a->columns[i].mean)) sorted[known++] = a->columns[i].mean;
    double level = job_median(sorted, known);
    for (size_t i = 0; i < known; i++)
        near += fabs(sorted[i] - level) <= job_slow_alike * level;
    return level > 0 && (double)near >= job_slow_steady * (double)known ? level : NAN;
}

static bool job_slow_axis_of(const job_report *r, slow_axis *a)
{
    double least = fmax(r->bin_s, r->interval_s > 0 ? r->interval_s : 0);
    double most = least > 0 ? floor(r->end_s / least) : 0;
    a->count = most < COLUMNS ? (size_t)most : COLUMNS;
    if (a->count < 4 * LEAST_COLUMNS) return false;
    a->width = r->end_s / (double)a->count;
    if (!job_report_columns(r, JOB_SENT, JOB_ALL_NODES, 0, r->end_s, a->columns, a->count)) return false;
    a->level = job_slow_level(a);
    return !isnan(a->level);
}

static bool job_slow_is_low(const slow_axis *a, size_t i)
{
    return i < a->count && a->columns[i].mean < job_slow_below * a->level &&
           a->columns[i].mean > job_slow_above * a->level;
}

static double job_slow_mean(const slow_axis *a, size_t from, size_t to)
{
    double sum = 0;
    for (size_t i = from; i < to; i++)
        sum += a->columns[i].mean;
    return sum / (double)(to - from);
}

// As usual before and after it, for half as long at least? The columns beside it hold some of both.
static bool job_slow_is_between(const slow_axis *a, size_t from, size_t to)
{
    size_t least = (to - from + 1) / 2;
    if (from < least + 1 || a->count < to + 1 + least) return false;
    double before = job_slow_mean(a, from - 1 - least, from - 1), after = job_slow_mean(a, to + 1, to + 1 + least);
    return fabs(before - a->level) <= job_slow_alike * a->level && fabs(after - a->level) <= job_slow_alike * a->level;
}

static bool job_slow_lane_is_quiet(const job_report *r, const job_lane *lane, double from_s, double to_s, bool *known)
{
    job_column c = job_lane_span(r, lane, from_s, to_s);
    if (isnan(c.mean)) return true;
    *known = true;
    return c.mean < job_slow_clean;
}

// Nothing blocked, nothing sent again more than usual, no finding about the network. False also where that is not known.
static bool job_slow_is_clean(const job_report *r, double from_s, double to_s)
{
    bool any = false;
    for (size_t i = 0; i < r->device_count; i++) {
        const job_device *d = &r->devices[i];
        bool known = false;
        bool quiet = job_slow_lane_is_quiet(r, d->lanes[JOB_PAUSED], from_s, to_s, &known) &&
                     job_slow_lane_is_quiet(r, d->lanes[JOB_HOLDING], from_s, to_s, &known);
        const job_lane *retries = d->lanes[JOB_RETRIES];
        job_column again = job_lane_span(r, retries, from_s, to_s);
        if (!quiet || (retries && again.mean > 2 * retries->mean + 0.1)) return false;
        if (!known && d->lanes[JOB_SENT]) return false;
        any |= known;
    }
    for (size_t i = 0; i < r->finding_count; i++) {
        const job_finding *x = &r->findings[i];
        bool of_nics = x->meter == JOB_PAUSED || x->meter == JOB_HOLDING ||
                       (x->device != JOB_NONE && r->devices[x->device].lanes[JOB_SENT]);
        if (of_nics && x->severity >= SEVERITY_WATCH) return false;
        if (strcmp(x->rule, "not-judged") == 0) return false;
    }
    return any;
}

static void job_slow_add_pressure(char **text, const job_report *r, double from_s, double to_s)
{
    static const struct {
        job_meter meter;
        const char *what;
    } kinds[] = {{JOB_CPU_PRESSURE, "a CPU"}, {JOB_MEMORY_PRESSURE, "memory"}, {JOB_IO_PRESSURE, "I/O"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        double then = job_mean_between(r, kinds[i].meter, JOB_ALL_NODES, from_s, to_s),
               all = job_mean_between(r, kinds[i].meter, JOB_ALL_NODES, 0, r->end_s);
        if (then > 0.05 && then > 2 * all)
            text_append(text, "; tasks waited for %s %s of the time", kinds[i].what, words_share(then).text);
    }
}

static void job_slow_add(job_report *r, const slow_axis *a, size_t from, size_t to)
{
    job_finding x = job_finding_blank;
    x.from_s = a->width * (double)from;
    x.to_s = a->width * (double)to;
    job_effect e = job_effect_of(r, x.from_s, x.to_s);
    char *pause = job_effect_pause(&e), *less = job_effect_text(r, &e);
    bool fits = !pause && e.sent < job_slow_below && e.slowed > 0 && e.slowed * 2 >= e.known;
    if (fits && job_slow_is_clean(r, x.from_s, x.to_s)) {
        words_text begin = words_moment(x.from_s, r->end_s), end = words_moment(x.to_s, r->end_s);
        x.severity = SEVERITY_INFO;
        x.class_rank = rules_class_rank("utilisation");
        x.rule = (char *)(uintptr_t) "work-slowed";
        x.origin = (char *)(uintptr_t) "own: 15 % less than usual for 30 s, and usual before and after";
        x.advice =
            (char
                 *)(uintptr_t) "Look at the program (input, one rank, another phase) and at the hosts (clocks, memory, "
                               "other programs), not at the network";
        x.unit = (char *)(uintptr_t) "of the usual traffic";
        x.nodes = e.slowed;
        x.meter = JOB_SENT;
        x.value = x.sent_ratio = e.sent;
        x.threshold = job_slow_below;
        x.cpu_ratio = e.cpu;
        x.gpu_ratio = e.gpu;
        x.power_ratio = e.power;
        text_append(&x.claim,
                    "%s-%s: work slowed and the network was clean: %s, no NIC was blocked for 1 %% of the time",
                    begin.text, end.text, less);
        if (e.gpu < 0.95) text_append(&x.claim, "; GPUs were busy %s less", words_share(1 - e.gpu).text);
        if (e.cpu < 0.95) text_append(&x.claim, "; CPUs were busy %s less", words_share(1 - e.cpu).text);
        job_slow_add_pressure(&x.claim, r, x.from_s, x.to_s);
        x.title = memory_format("Work slowed %s-%s and the network was clean: %s", begin.text, end.text, less);
        job_add_finding(r, x);
    }
    free(pause);
    free(less);
}

// The longest one. What comes again and again is how the program works.
void job_find_slow(job_report *r)
{
    slow_axis *a = memory_alloc(sizeof *a);
    size_t count = 0, best = 0, best_to = 0;
    if (job_slow_axis_of(r, a))
        for (size_t from = 0, to; from < a->count; from = to + 1) {
            for (to = from; job_slow_is_low(a, to);)
                to++;
            double length = a->width * (double)(to - from);
            if (to - from < LEAST_COLUMNS || length < job_slow_least_s || !job_slow_is_between(a, from, to)) continue;
            count++;
            if (to - from > best_to - best) best = from, best_to = to;
        }
    if (count && count < RHYTHM) job_slow_add(r, a, best, best_to);
    free(a);
}
