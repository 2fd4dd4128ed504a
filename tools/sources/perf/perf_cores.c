// Processors with several kinds of cores (Intel's P and E cores, Arm's big and small ones): each kind has a PMU of its
// own, and a generic event without a PMU counts on the first kind alone. So each event is opened on every kind.
//
// A thread's event on a kind of cores counts while the thread runs there, but it is enabled all the time: scaled by
// itself it would tell of a thread that never left. What all kinds ran together, beside the time enabled, tells whether
// the hardware's counters were shared, and by how much to scale. CPUs do not move: there each kind is scaled by itself.
#define _GNU_SOURCE
#include "perf.h"
#include "sources/shapes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES "/sys/bus/event_source/devices"
enum { TYPE_SHIFT = 32 }; // of a PMU's number in the config of a generic event

__extension__ typedef unsigned __int128 wide;

// ---- finding them ----

typedef struct kind_search {
    perf_cores *k;
    const emit *e;
} kind_search;

// PMUs of cores have such a list, others a mask. NULL, or free() it.
static char *perf_cores_cpus_of(const emit *e, const char *pmu)
{
    emit_file f = {.fd = -1};
    char path[sizeof DEVICES + PERF_NAME + 8];
    int error;
    snprintf(path, sizeof path, DEVICES "/%s/cpus", pmu);
    char *text = emit_file_read(&f, e, path, &error);
    if (text) text = strndup(text, strcspn(text, "\n"));
    emit_file_close(&f);
    return text;
}

static void perf_cores_found_pmu(void *user, const char *name)
{
    kind_search *s = user;
    char type[32];
    uint64_t number;
    if (strlen(name) >= PERF_NAME || !emit_read_line(s->e, type, sizeof type, DEVICES "/%s/type", name) ||
        !emit_number(type, &number))
        return;
    char *cpus = perf_cores_cpus_of(s->e, name);
    perf_core_kind *longer = cpus ? realloc(s->k->kinds, (s->k->kind_count + 1) * sizeof *longer) : NULL;
    if (!longer) {
        free(cpus);
        return;
    }
    s->k->kinds = longer;
    perf_core_kind *kind = &s->k->kinds[s->k->kind_count++];
    *kind = (perf_core_kind){.cpus_text = cpus, .type = (uint32_t)number};
    snprintf(kind->pmu, sizeof kind->pmu, "%s", name);
    cpulist_add_text(&kind->cpus, cpus); // empty: none of them is online
}

// ---- events ----

static bool perf_cores_add_to(perf_counting *c, const perf_event *x)
{
    perf_event *longer = realloc(c->events, (c->event_count + 1) * sizeof *longer);
    if (!longer) return false;
    c->events = longer;
    c->events[c->event_count++] = *x;
    return true;
}

// Arm's PMUs describe their events; older kernels know generic ones only on one kind of cores.
static bool perf_cores_by_description(perf_event *x, const emit *e, const perf_core_kind *kind)
{
    static const struct {
        const char *name, *described[2];
    } rows[] = {{"cycles", {"cpu_cycles", NULL}},
                {"instructions", {"inst_retired", NULL}},
                {"branches", {"br_retired", "pc_write_retired"}},
                {"branch_misses", {"br_mis_pred_retired", "br_mis_pred"}},
                {"cache_references", {"l1d_cache", NULL}},
                {"cache_misses", {"l1d_cache_refill", NULL}},
                {"stalled_cycles_frontend", {"stall_frontend", NULL}},
                {"stalled_cycles_backend", {"stall_backend", NULL}}};
    const perf_event generic = *x;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t n = 0; n < 2 && strcmp(rows[i].name, generic.name) == 0; n++) {
            if (rows[i].described[n] && !perf_describe(x, e, kind->pmu, rows[i].described[n])) return true;
            *x = generic;
        }
    }
    return false;
}

static perf_event perf_cores_on_kind(const perf_event *generic, const emit *e, const perf_core_kind *kind)
{
    perf_event x = *generic;
    if (!perf_cores_by_description(&x, e, kind))
        x.attr.config = generic->attr.config | (uint64_t)kind->type << TYPE_SHIFT;
    snprintf(x.name, sizeof x.name, "%.30s_on_%.24s", generic->name, kind->pmu);
    return x;
}

static bool perf_cores_is_generic(const perf_event *x)
{
    return !x->error && (x->attr.type == PERF_TYPE_HARDWARE || x->attr.type == PERF_TYPE_HW_CACHE);
}

static bool perf_cores_take_generic(perf_cores *k, const emit *e, const perf_event *x)
{
    perf_event *longer = realloc(k->totals, (k->total_count + 1) * sizeof *longer);
    if (!longer) return false;
    k->totals = longer;
    for (size_t i = 0; i < k->kind_count; i++) {
        const perf_event part = perf_cores_on_kind(x, e, &k->kinds[i]);
        if (!perf_cores_add_to(&k->kinds[i].counting, &part)) return false;
    }
    k->totals[k->total_count++] = *x;
    return true;
}

// An event that names the PMU of one kind of cores.
static bool perf_cores_take_own(perf_cores *k, const perf_event *x)
{
    for (size_t i = 0; i < k->kind_count; i++)
        if (!x->error && k->kinds[i].type == x->attr.type && x->attr.type != PERF_TYPE_RAW)
            return perf_cores_add_to(&k->kinds[i].counting, x);
    return false;
}

void perf_cores_split(perf_cores *k, const emit *e, perf_events *events)
{
    kind_search s = {k, e};
    size_t kept = 0;
    emit_directory(e, DEVICES, perf_cores_found_pmu, &s);
    if (k->kind_count < 2) {
        perf_cores_close(k);
        return;
    }
    // Generic ones first: parts and totals have the same place.
    for (size_t i = 0; i < events->count; i++)
        if (perf_cores_is_generic(&events->items[i]) && !perf_cores_take_generic(k, e, &events->items[i]))
            events->items[i].error = ENOMEM;
    for (size_t i = 0; i < events->count; i++) {
        perf_event *x = &events->items[i];
        if (perf_cores_is_generic(x) || perf_cores_take_own(k, x)) continue;
        if (!x->error && x->attr.type == PERF_TYPE_RAW) {
            x->error = EOPNOTSUPP; // the code means another event on another kind of cores
            snprintf(k->notes, sizeof k->notes, "codes without a PMU: the cores differ, write %s/event=.../",
                     k->kinds[0].pmu);
        }
        events->items[kept++] = *x;
    }
    events->count = kept;
    for (size_t i = 0; i < k->kind_count; i++) {
        perf_core_kind *kind = &k->kinds[i];
        kind->counting.on = kind->pmu;
        kind->parts = calloc(kind->counting.event_count + 1, sizeof *kind->parts);
        if (!kind->parts) kind->counting.event_count = k->total_count = 0;
    }
}

// ---- targets ----

int perf_counting_add_task(perf_counting *c, pid_t pid, bool on_exec)
{
    bool any = false;
    int error = c->event_count ? perf_counting_add(c, pid, -1, on_exec) : 0;
    for (size_t i = 0; i < c->event_count; i++)
        any |= !c->events[i].error;
    return any || error == ESRCH ? error : 0;
}

int perf_cores_add_task(perf_cores *k, pid_t pid, bool on_exec)
{
    int result = 0;
    k->by_task = true;
    for (size_t i = 0; i < k->kind_count; i++) {
        k->kinds[i].counting.unscaled = true;
        int error = perf_counting_add_task(&k->kinds[i].counting, pid, on_exec);
        if (error) result = error;
    }
    return result;
}

int perf_cores_add_cpu(perf_cores *k, int directory, int cpu)
{
    for (size_t i = 0; i < k->kind_count; i++) {
        perf_counting *c = &k->kinds[i].counting;
        if (!c->event_count || !cpulist_has(&k->kinds[i].cpus, (size_t)cpu)) continue;
        return directory >= 0 ? perf_counting_add_group(c, directory, cpu) : perf_counting_add(c, -1, cpu, false);
    }
    return 0;
}

// ---- reading ----

static const perf_set *perf_cores_set_of(const perf_counting *c, size_t event)
{
    const perf_event *x = &c->events[event];
    return x->error || x->set == PERF_NO_SET ? NULL : &c->sets[x->set];
}

// How long a kind counted since the last reading at most: what an event would have that this kind does not know.
static uint64_t perf_cores_ran(const perf_core_kind *kind)
{
    uint64_t most = 0;
    for (size_t i = 0; i < kind->counting.event_count; i++) {
        const perf_set *s = perf_cores_set_of(&kind->counting, i);
        uint64_t now = s && !s->error ? s->running - kind->parts[i].running : 0;
        if (now > most) most = now;
    }
    return most;
}

// An event of all kinds (those from..to-1), or of one.
static int perf_cores_add_up(perf_cores *k, size_t event, size_t from, size_t to)
{
    uint64_t enabled = 0, running = 0;
    int error = 0;
    for (size_t i = 0; i < k->kind_count; i++) {
        const perf_core_kind *kind = &k->kinds[i];
        const perf_set *s = i >= from && i < to ? perf_cores_set_of(&kind->counting, event) : NULL;
        if (!s || s->error) {
            running += kind->ran;
            if (i >= from && i < to) error = s ? s->error : kind->counting.events[event].error;
            continue;
        }
        uint64_t time = s->enabled - kind->parts[event].enabled;
        if (time > enabled) enabled = time;
        running += s->running - kind->parts[event].running;
    }
    if (enabled && !running) return EBUSY; // the next reading covers both periods
    k->enabled += enabled;
    k->running += running < enabled ? running : enabled;
    for (size_t i = from; i < to; i++) {
        perf_core_kind *kind = &k->kinds[i];
        const perf_set *s = perf_cores_set_of(&kind->counting, event);
        struct perf_core_part *p = &kind->parts[event];
        if (!s || s->error) continue;
        uint64_t count = kind->counting.events[event].total - p->count;
        p->sum += running < enabled ? (uint64_t)(((wide)count * enabled + running / 2) / running) : count;
        p->count = kind->counting.events[event].total;
        p->enabled = s->enabled;
        p->running = s->running;
    }
    return error;
}

// A counter that was not read in this round has not grown.
static void perf_cores_add_up_all(perf_cores *k)
{
    for (size_t i = 0; i < k->kind_count; i++)
        k->kinds[i].ran = perf_cores_ran(&k->kinds[i]);
    for (size_t event = 0; event < k->total_count; event++)
        k->totals[event].error = perf_cores_add_up(k, event, 0, k->kind_count);
    for (size_t i = 0; i < k->kind_count; i++)
        for (size_t event = k->total_count; event < k->kinds[i].counting.event_count; event++)
            perf_cores_add_up(k, event, i, i + 1);
}

static void perf_cores_take_sums(perf_cores *k)
{
    for (size_t i = 0; i < k->kind_count; i++)
        for (size_t event = 0; event < k->kinds[i].counting.event_count; event++)
            k->kinds[i].parts[event].sum = k->kinds[i].counting.events[event].total;
    for (size_t event = 0; event < k->total_count; event++) {
        int error = 0;
        for (size_t i = 0; i < k->kind_count; i++) {
            const perf_core_kind *kind = &k->kinds[i];
            const perf_set *s = perf_cores_set_of(&kind->counting, event);
            if (!kind->counting.target_count) continue; // none of its CPUs is online
            if (!s || s->error) error = s ? s->error : kind->counting.events[event].error;
        }
        k->totals[event].error = error;
    }
}

void perf_cores_read(perf_cores *k, bool fast_only)
{
    for (size_t i = 0; i < k->kind_count; i++)
        perf_counting_read(&k->kinds[i].counting, fast_only);
    if (k->by_task)
        perf_cores_add_up_all(k);
    else
        perf_cores_take_sums(k);
    for (size_t event = 0; event < k->total_count; event++) {
        k->totals[event].total = 0;
        for (size_t i = 0; i < k->kind_count; i++)
            k->totals[event].total += k->kinds[i].parts[event].sum;
    }
}

// ---- telling ----

static void perf_cores_tell_event(emit *e, const perf_event *x, int error, uint64_t total)
{
    perf_event y = *x;
    y.total = total;
    if (error)
        emit_failed(e, x->name, &x->shape, error);
    else
        emit_value(e, x->name, &x->shape, perf_in_unit(&y));
}

// A thread that is on one kind of cores is not on the others: only what all kinds ran together says whether the
// hardware's counters were shared.
static void perf_cores_tell_times(const perf_cores *k, emit *e)
{
    static const emit_shape time = SHAPE("ns", COUNTER, 0);
    emit_value(e, "group_all_time_enabled", &time, k->enabled);
    emit_value(e, "group_all_time_running", &time, k->running);
}

void perf_cores_tell(const perf_cores *k, emit *e)
{
    if (k->by_task) perf_cores_tell_times(k, e);
    for (size_t i = 0; i < k->total_count; i++)
        perf_cores_tell_event(e, &k->totals[i], k->totals[i].error, k->totals[i].total);
    for (size_t i = 0; i < k->kind_count; i++) {
        const perf_core_kind *kind = &k->kinds[i];
        for (size_t event = 0; event < kind->counting.event_count; event++) {
            const perf_set *s = perf_cores_set_of(&kind->counting, event);
            int error = kind->counting.events[event].error ? kind->counting.events[event].error : s ? s->error : 0;
            if (event < k->total_count && k->totals[event].error == EBUSY) error = EBUSY;
            perf_cores_tell_event(e, &kind->counting.events[event], error, kind->parts[event].sum);
        }
        perf_counting_tell_times(&kind->counting, e);
    }
}

void perf_cores_facts(const perf_cores *k, emit *e)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    for (size_t i = 0; i < k->kind_count; i++) {
        if (to) fprintf(to, "%s%s: CPUs %s", i ? "; " : "", k->kinds[i].pmu, k->kinds[i].cpus_text);
        perf_counting_facts(&k->kinds[i].counting, e);
    }
    if (to && fclose(to) == 0) emit_fact(e, "kinds_of_cores", text);
    free(text);
    emit_fact(e, "not_counted", k->notes);
}

bool perf_cores_works(const perf_cores *k, int *sys_errno)
{
    *sys_errno = 0;
    for (size_t i = 0; i < k->kind_count; i++) {
        int error;
        if (perf_counting_works(&k->kinds[i].counting, &error)) return true;
        if (error) *sys_errno = error;
    }
    return false;
}

void perf_cores_spoil(perf_cores *k, int sys_errno)
{
    for (size_t i = 0; i < k->kind_count; i++)
        for (size_t event = 0; event < k->kinds[i].counting.event_count; event++)
            if (!k->kinds[i].counting.events[event].error) k->kinds[i].counting.events[event].error = sys_errno;
    for (size_t event = 0; event < k->total_count; event++)
        k->totals[event].error = sys_errno;
}

void perf_cores_close(perf_cores *k)
{
    for (size_t i = 0; i < k->kind_count; i++) {
        perf_counting_close(&k->kinds[i].counting);
        free(k->kinds[i].cpus_text);
        free(k->kinds[i].parts);
    }
    free(k->kinds);
    free(k->totals);
    *k = (perf_cores){0};
}
