#define _GNU_SOURCE // open_memstream
#include "clocks.h"
#include "analysis/base/words.h"

#include "analysis/base/memory.h"
#include "analysis/base/saturating_sum.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Wall and monotonic clock of a snapshot are read within microseconds of each other.
#define SAME_NS    1000000.0
#define SET_NS     10000000.0 // what daemons that set clocks leave alone, or slew
#define DRIFT_MOST 1e-3       // no clock of a computer drifts more: then it was set

// One boot of one host.
typedef struct host {
    const char *boot_id;  // "": unknown, and so one run
    size_t first;         // run
    int64_t max_error_ns; // the worst of its runs
    bool told_unsynchronised;
    clocks_run place; // of its first run
} host;

typedef struct interval {
    double low, high;
} interval;

typedef struct finder {
    const clocks_input *in;
    size_t count;
    const clocks_event *events;
    size_t event_count;
    clocks *out;
    host *hosts;
    size_t host_count, reference; // host
} finder;

// Doubles hold today's ns to a quarter of a microsecond, and no hostile file makes them overflow.
static int64_t clocks_whole(double ns)
{
    return fabs(ns) < 9e18 ? llround(ns) : ns > 0 ? INT64_MAX : INT64_MIN;
}

// ---- hosts ----

static double clocks_mono_offset(const clocks_input *x)
{
    return (double)x->wall_ns - (double)x->mono_ns;
}

int64_t clocks_set_by(int64_t wall_ns, int64_t mono_ns)
{
    double by = (double)wall_ns - (double)mono_ns;
    return fabs(by) > SET_NS + DRIFT_MOST * fabs((double)mono_ns) ? clocks_whole(by) : 0;
}

int64_t clocks_set_between(const netprof_delta *d)
{
    if (d->wall_begin_ns <= 0 || d->wall_end_ns <= 0 || d->interval_ns <= 0) return 0;
    return clocks_set_by(difference_capped(d->wall_end_ns, d->wall_begin_ns), d->interval_ns);
}

int64_t clocks_axis_next(clocks_axis *a, const netprof_snapshot *x)
{
    int64_t on = difference_capped(x->begin_ns, a->mono_ns), by = 0;
    bool known = a->begun && on > 0 && x->begin_ns > 0 && a->mono_ns > 0;
    if (known && a->wall_ns && x->wall_ns) by = clocks_set_by(difference_capped(x->wall_ns, a->wall_ns), on);
    if (!known || __builtin_add_overflow(a->at_ns, on, &a->at_ns)) a->at_ns = x->wall_ns > 0 ? x->wall_ns : 0;
    a->steps += by != 0;
    if (__builtin_add_overflow(a->set_ns, by, &a->set_ns)) a->set_ns = by;
    a->begun = true;
    a->wall_ns = x->wall_ns;
    a->mono_ns = x->begin_ns;
    return a->at_ns;
}

char *clocks_set_words(size_t steps, int64_t set_ns)
{
    words_text time = words_duration(fabs((double)set_ns) / 1e9);
    const char *way = set_ns < 0 ? "back" : "ahead";
    if (steps > 1 && !clocks_set_by(set_ns, 0)) return memory_format("set %zu times, and back to what it was", steps);
    return steps > 1 ? memory_format("set %zu times, %s %s in all", steps, time.text, way)
                     : memory_format("set %s %s", time.text, way);
}

static int64_t clocks_set_while_recorded(const clocks_input *x)
{
    if (!x->mono_ns || !x->end_mono_ns || !x->wall_ns || !x->end_wall_ns) return 0;
    return clocks_set_by(difference_capped(x->end_wall_ns, x->wall_ns), difference_capped(x->end_mono_ns, x->mono_ns));
}

static size_t clocks_find_host(const finder *f, size_t run)
{
    const char *boot = f->in[run].boot_id;
    for (size_t h = 0; boot && *boot && h < f->host_count; h++)
        if (strcmp(f->hosts[h].boot_id, boot) == 0) return h;
    return f->host_count;
}

static void clocks_find_hosts(finder *f)
{
    for (size_t i = 0; i < f->count; i++) {
        const clocks_input *x = &f->in[i];
        size_t h = clocks_find_host(f, i);
        if (h == f->host_count)
            f->hosts[f->host_count++] =
                (host){.boot_id = x->boot_id ? x->boot_id : "", .first = i, .max_error_ns = CLOCKS_UNKNOWN_NS};
        host *to = &f->hosts[h];
        if (x->max_error_ns > to->max_error_ns) to->max_error_ns = x->max_error_ns;
        to->told_unsynchronised |= x->unsynchronised;
        f->out->runs[i] = (clocks_run){.host = h, .wall_ns = x->wall_ns, .set_ns = clocks_set_while_recorded(x)};
    }
    for (size_t h = 0; h < f->host_count; h++)
        if (f->hosts[h].told_unsynchronised) f->hosts[h].max_error_ns = CLOCKS_UNKNOWN_NS;
}

// The clock that is known best; of equals the first.
static void clocks_choose_reference(finder *f)
{
    for (size_t h = 1; h < f->host_count; h++) {
        int64_t best = f->hosts[f->reference].max_error_ns, here = f->hosts[h].max_error_ns;
        if (here >= 0 && (best < 0 || here < best)) f->reference = h;
    }
}

// The offset from a run's wall clock to that of the first run of its host. Runs that overlap and whose wall clocks were not
// set cannot have different ones: there the monotonic clock is one of a time namespace.
static double clocks_within_host(const finder *f, size_t run)
{
    const clocks_input *x = &f->in[run], *first = &f->in[f->hosts[f->out->runs[run].host].first];
    if (!x->mono_ns || !first->mono_ns) return 0;
    double by = clocks_mono_offset(first) - clocks_mono_offset(x);
    bool overlap = x->wall_ns <= first->end_wall_ns && first->wall_ns <= x->end_wall_ns;
    bool none_set = !clocks_set_while_recorded(x) && !clocks_set_while_recorded(first);
    return fabs(by) <= SAME_NS || (overlap && none_set) ? 0 : by;
}

// ---- between hosts ----

// The range that event e allows for the offset of host h.
static bool clocks_event_interval(const finder *f, size_t h, size_t e, interval *to, double *at)
{
    const clocks_event *mine = &f->events[e];
    if (f->out->runs[mine->run].host != h) return false;
    for (size_t k = 0; k < f->event_count; k++) {
        const clocks_event *other = &f->events[k];
        if (f->out->runs[other->run].host != f->reference || strcmp(other->key, mine->key) != 0) continue;
        double theirs = (double)other->wall_ns + clocks_within_host(f, other->run);
        double ours = (double)mine->wall_ns + clocks_within_host(f, mine->run);
        double apart = theirs - ours, slack = (double)mine->tolerance_ns + (double)other->tolerance_ns;
        *to = (interval){apart - slack, apart + slack};
        *at = ours;
        return true;
    }
    return false;
}

static interval clocks_intersect(interval a, interval b)
{
    return (interval){fmax(a.low, b.low), fmin(a.high, b.high)};
}

static bool clocks_is_empty(interval x)
{
    return x.low > x.high;
}

// As near to 0 as it goes without taking sides: 0 where it fits, else the middle.
static void clocks_settle(clocks_run *to, interval x, clocks_basis basis)
{
    double offset = x.low <= 0 && x.high >= 0 ? 0 : (x.low + x.high) / 2;
    to->basis = basis;
    to->offset_ns = clocks_whole(offset);
    to->error_ns = clocks_whole(fmax(x.high - offset, offset - x.low));
}

static double clocks_middle(interval x)
{
    return (x.low + x.high) / 2;
}

// Events that no single offset fits: a line through the first and the last of them, or, where that would be no drift,
// the middle of the first with an error that covers all.
static void clocks_follow_drift(finder *f, size_t h)
{
    clocks_run *to = &f->hosts[h].place;
    interval first = {0, 0}, last = {0, 0}, x;
    double begin = INFINITY, end = -INFINITY, at, base = (double)f->in[f->hosts[h].first].wall_ns, error = 0;
    for (size_t e = 0; e < f->event_count; e++) {
        if (!clocks_event_interval(f, h, e, &x, &at)) continue;
        if (at < begin) begin = at, first = x;
        if (at > end) end = at, last = x;
    }
    double drift = end > begin ? (clocks_middle(last) - clocks_middle(first)) / (end - begin) : 0;
    if (fabs(drift) > DRIFT_MOST) drift = 0;
    double offset = clocks_middle(first) + drift * (base - begin);
    for (size_t e = 0; e < f->event_count; e++)
        if (clocks_event_interval(f, h, e, &x, &at)) {
            double there = offset + drift * (at - base);
            error = fmax(error, fmax(fabs(x.high - there), fabs(there - x.low)));
        }
    to->basis = CLOCKS_EVENTS;
    to->offset_ns = clocks_whole(offset);
    to->drift = drift;
    to->error_ns = clocks_whole(error);
}

static void clocks_place_host(finder *f, size_t h)
{
    host *x = &f->hosts[h];
    const host *r = &f->hosts[f->reference];
    interval all = {-INFINITY, INFINITY}, one;
    double at;
    size_t events = 0;
    x->place = (clocks_run){.error_ns = CLOCKS_UNKNOWN_NS};
    if (h == f->reference) {
        x->place = (clocks_run){.basis = CLOCKS_ONE_BOOT};
        return;
    }
    for (size_t e = 0; e < f->event_count; e++) {
        if (!clocks_event_interval(f, h, e, &one, &at)) continue;
        all = clocks_intersect(all, one);
        events++;
    }
    if (x->max_error_ns >= 0 && r->max_error_ns >= 0) {
        double sum = (double)(x->max_error_ns + r->max_error_ns);
        interval kernel = {-sum, sum}, both = clocks_intersect(kernel, all);
        bool fit = events && !clocks_is_empty(all) && !clocks_is_empty(both);
        clocks_settle(&x->place, fit ? both : kernel, CLOCKS_KERNEL);
        if (events && !fit) x->place.contradicted_ns = clocks_whole(clocks_middle(all));
    } else if (events && clocks_is_empty(all)) {
        clocks_follow_drift(f, h);
    } else if (events) {
        clocks_settle(&x->place, all, CLOCKS_EVENTS);
    }
}

static void clocks_place_run(finder *f, size_t i)
{
    clocks_run *to = &f->out->runs[i];
    const host *h = &f->hosts[to->host];
    double within = clocks_within_host(f, i), base = (double)f->in[h->first].wall_ns;
    to->basis = h->place.basis;
    to->error_ns = h->place.error_ns;
    to->drift = h->place.drift;
    to->contradicted_ns = h->place.contradicted_ns;
    to->offset_ns =
        clocks_whole((double)h->place.offset_ns + within + to->drift * ((double)to->wall_ns + within - base));
}

// Between any two hosts: the two largest errors. By the kernels' word each host has its own, with UTC between them.
static int64_t clocks_worst_pair(const finder *f)
{
    int64_t largest = 0, second = 0;
    bool kernels = true;
    for (size_t h = 0; h < f->host_count; h++) {
        if (f->hosts[h].place.error_ns < 0) return CLOCKS_UNKNOWN_NS;
        kernels &= f->hosts[h].max_error_ns >= 0 && f->hosts[h].place.offset_ns == 0;
    }
    for (size_t h = 0; h < f->host_count && f->host_count > 1; h++) {
        int64_t error = kernels ? f->hosts[h].max_error_ns : f->hosts[h].place.error_ns;
        if (error > largest)
            second = largest, largest = error;
        else if (error > second)
            second = error;
    }
    return clocks_whole((double)largest + (double)second);
}

// ---- in words ----

void clocks_put_time(FILE *to, double ns)
{
    fputs(words_duration(fabs(ns) / 1e9).text, to);
}

static void clocks_put_names(FILE *to, const finder *f, clocks_basis basis)
{
    enum { NAMED = 4 };
    size_t named = 0, more = 0;
    for (size_t h = 0; h < f->host_count; h++) {
        const char *name = f->in[f->hosts[h].first].name;
        if (f->hosts[h].place.basis != basis) continue;
        if (named == NAMED) {
            more++;
            continue;
        }
        fprintf(to, "%s%s", named++ ? ", " : "", name && *name ? name : "an unnamed host");
    }
    if (more) fprintf(to, " and %zu more", more);
}

static size_t clocks_count_basis(const finder *f, clocks_basis basis)
{
    size_t n = 0;
    for (size_t h = 0; h < f->host_count; h++)
        n += f->hosts[h].place.basis == basis;
    return n;
}

static void clocks_put_agreement(FILE *to, const finder *f)
{
    size_t unknown = clocks_count_basis(f, CLOCKS_NOTHING), by_events = clocks_count_basis(f, CLOCKS_EVENTS);
    if (f->host_count == 1) {
        fprintf(to, "%s", f->count > 1 ? "All runs are of one boot of one host: their times are of one clock." : "");
    } else if (unknown) {
        fprintf(to, "How far the clocks of %zu hosts are apart is not known: no clock state says so of ",
                f->host_count);
        clocks_put_names(to, f, CLOCKS_NOTHING);
        fputs(". Their times are taken as they are.", to);
    } else {
        fprintf(to, "The clocks of %zu hosts agree within ", f->host_count);
        clocks_put_time(to, (double)f->out->error_ns);
        if (!by_events) {
            fputs(", by what their kernels say.", to);
        } else {
            fputs(", by when the job's step began on them; no clock state says more of ", to);
            clocks_put_names(to, f, CLOCKS_EVENTS);
            fputs(".", to);
        }
    }
}

static void clocks_put_moves(FILE *to, const finder *f)
{
    for (size_t h = 0; h < f->host_count; h++) {
        const clocks_run *p = &f->hosts[h].place;
        const char *name = f->in[f->hosts[h].first].name;
        if (!name || !*name) name = "An unnamed host";
        if (p->offset_ns) {
            fprintf(to, " %s is moved ", name);
            clocks_put_time(to, (double)p->offset_ns);
            fprintf(to, " %s", p->offset_ns > 0 ? "ahead" : "back");
            if (p->drift != 0) fprintf(to, ", its clock drifts by %s ppm", words_number(-p->drift * 1e6).text);
            fputs(".", to);
        }
        if (p->contradicted_ns) {
            fprintf(to, " The job's step began on %s ", name);
            clocks_put_time(to, (double)p->contradicted_ns);
            fprintf(to, " %s than on the reference, though the clocks agree.",
                    p->contradicted_ns > 0 ? "earlier" : "later");
        }
    }
    for (size_t i = 0; i < f->count; i++) {
        int64_t by = f->out->runs[i].set_ns;
        if (!by) continue;
        char *how = clocks_set_words(1, by);
        fprintf(to, " The wall clock of %s was %s while it was recorded.",
                f->in[i].name && *f->in[i].name ? f->in[i].name : "an unnamed host", how);
        free(how);
    }
}

static void clocks_make_text(finder *f)
{
    size_t size;
    FILE *to = memory_check(open_memstream(&f->out->text, &size));
    clocks_put_agreement(to, f);
    clocks_put_moves(to, f);
    if (fclose(to)) memory_exhausted();
}

// ---- all ----

void clocks_find(clocks *c, const clocks_input *runs, size_t count, const clocks_event *events, size_t event_count)
{
    finder f = {.in = runs, .count = count, .events = events, .event_count = event_count, .out = c};
    clocks_free(c);
    c->runs = memory_calloc(count, sizeof *c->runs);
    f.hosts = memory_calloc(count, sizeof *f.hosts);
    c->count = count;
    clocks_find_hosts(&f);
    clocks_choose_reference(&f);
    for (size_t h = 0; h < f.host_count; h++)
        clocks_place_host(&f, h);
    for (size_t i = 0; i < count; i++)
        clocks_place_run(&f, i);
    c->hosts = f.host_count;
    c->reference = count ? f.hosts[f.reference].first : 0;
    c->error_ns = clocks_worst_pair(&f);
    clocks_make_text(&f);
    free(f.hosts);
}

int64_t clocks_place(const clocks *c, size_t run, int64_t wall_ns)
{
    const clocks_run *r = &c->runs[run];
    int64_t by = clocks_whole((double)r->offset_ns + r->drift * ((double)wall_ns - (double)r->wall_ns)), at;
    return __builtin_add_overflow(wall_ns, by, &at) ? wall_ns : at;
}

void clocks_free(clocks *c)
{
    if (!c) return;
    free(c->runs);
    free(c->text);
    *c = (clocks){0};
}

// ---- from a data set ----

void clocks_take_facts(clocks_input *to, const netprof_fact *facts, size_t count)
{
    static const char *const when[] = {"clock", "clock_end"};
    to->max_error_ns = CLOCKS_UNKNOWN_NS;
    for (size_t i = 0; i < sizeof when / sizeof *when; i++) {
        char key[40], *end;
        snprintf(key, sizeof key, "%s_synchronised", when[i]);
        const char *yes = netprof_fact_of(facts, count, key);
        if (!yes) continue;
        to->unsynchronised |= strcmp(yes, "yes") != 0;
        snprintf(key, sizeof key, "%s_max_error_us", when[i]);
        const char *text = netprof_fact_of(facts, count, key);
        long long us = text ? strtoll(text, &end, 10) : -1;
        if (text && end != text && !*end && us >= 0 && us < 1000000000 && us * 1000 > to->max_error_ns)
            to->max_error_ns = us * 1000;
    }
}

static void clocks_take_run(clocks_input *to, const dataset_run *run)
{
    const netprof_snapshot *last = run->snapshot_count ? &run->snapshots[run->snapshot_count - 1] : NULL;
    *to = (clocks_input){.name = run->host, .boot_id = dataset_fact(run, "boot_id")};
    clocks_take_facts(to, run->facts, run->fact_count);
    if (last) {
        to->wall_ns = run->snapshots[0].wall_ns;
        to->mono_ns = run->snapshots[0].begin_ns;
        to->end_wall_ns = last->wall_ns;
        to->end_mono_ns = last->begin_ns;
    } else if (run->delta_count) {
        to->wall_ns = run->deltas[0].wall_begin_ns;
        to->end_wall_ns = run->deltas[0].wall_end_ns;
    }
}

void clocks_of_dataset(clocks *c, const dataset *set)
{
    clocks_input *runs = memory_calloc(set->run_count, sizeof *runs);
    clocks_event *events = memory_calloc(set->run_count, sizeof *events);
    char **keys = memory_calloc(set->run_count, sizeof *keys);
    size_t event_count = 0;
    for (size_t i = 0; i < set->run_count; i++) {
        const dataset_run *run = &set->runs[i];
        const char *job = dataset_fact(run, "job_id"), *step = dataset_fact(run, "job_step");
        clocks_take_run(&runs[i], run);
        if (!job || !step || !runs[i].wall_ns) continue;
        keys[event_count] = memory_format("%s.%s", job, step);
        events[event_count] = (clocks_event){i, keys[event_count], runs[i].wall_ns, CLOCKS_STEP_BEGIN_NS / 2};
        event_count++;
    }
    clocks_find(c, runs, set->run_count, events, event_count);
    for (size_t i = 0; i < event_count; i++)
        free(keys[i]);
    free(keys);
    free(events);
    free(runs);
}
