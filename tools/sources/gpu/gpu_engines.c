// Engines of Intel GPUs by the kernel's performance events; CAP_PERFMON is needed.
//
// i915 counts in ns how long each engine worked. xe counts in ticks of the GPU's clock, whose rate it does not report:
// it gives the number of all ticks beside those in which an engine worked.
#define _GNU_SOURCE
#include "gpu_engines.h"

#include "sources/perf/perf.h"
#include "sources/shapes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES "/sys/bus/event_source/devices"
enum { NAME = 48, ENGINES_MOST = 128 };

typedef struct engines {
    char pmu[64];
    bool ticks; // events come in pairs: worked, all
    perf_counting counting;
    uint64_t last[ENGINES_MOST];
    bool read_once;
    int64_t last_us;
    int refused; // errno: why there is none
} engines;

// ---- opening ----

static bool gpu_engines_add_event(engines *x, const emit *e, const char *terms, const char *name, const char *unit)
{
    perf_event event = {.scale = 1, .set = PERF_NO_SET, .shape = SHAPE(NULL, COUNTER, 0)};
    perf_counting *c = &x->counting;
    event.shape.unit = unit;
    snprintf(event.name, sizeof event.name, "%s", name);
    if (c->event_count == ENGINES_MOST || perf_describe(&event, e, x->pmu, terms)) return false;
    perf_event *longer = realloc(c->events, (c->event_count + 1) * sizeof *longer);
    if (!longer) return false;
    c->events = longer;
    c->events[c->event_count++] = event;
    return true;
}

typedef struct event_visit {
    engines *x;
    const emit *e;
} event_visit;

// The driver describes the engines that there are: "rcs0-busy".
static void gpu_engines_found_i915(void *user, const char *described)
{
    static const char end[] = "-busy";
    const event_visit *v = user;
    char name[NAME];
    size_t n = strlen(described), tail = sizeof end - 1;
    if (n <= tail || n > NAME - sizeof "engine_" || strcmp(described + n - tail, end) != 0) return;
    snprintf(name, sizeof name, "engine_%.*s", (int)(n - tail), described);
    gpu_engines_add_event(v->x, v->e, described, name, "ns");
}

static void gpu_engines_add_i915(engines *x, const emit *e)
{
    event_visit v = {x, e};
    char path[128];
    snprintf(path, sizeof path, DEVICES "/%s/events", x->pmu);
    emit_directory(e, path, gpu_engines_found_i915, &v);
}

// Only opening an engine's event shows whether it exists; if opening is not permitted, the engine may exist.
static bool gpu_engines_is_there(engines *x, const emit *e, const char *terms, int cpu)
{
    perf_event event = {.scale = 1};
    if (perf_describe(&event, e, x->pmu, terms)) return false;
    event.attr.size = sizeof event.attr;
    int fd = perf_calls->open(&event.attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd >= 0) perf_calls->close(fd);
    if (fd < 0 && (errno == EACCES || errno == EPERM)) x->refused = errno;
    return fd >= 0;
}

static void gpu_engines_add_xe_engine(engines *x, const emit *e, unsigned gt, unsigned kind, unsigned number, int cpu)
{
    static const char *const kinds[] = {"rcs", "bcs", "vcs", "vecs", "ccs"};
    char worked[128], all[128], gt_name[16] = "", name[NAME], name_all[NAME + 8];
    snprintf(worked, sizeof worked, "engine-active-ticks,gt=%u,engine_class=%u,engine_instance=%u", gt, kind, number);
    snprintf(all, sizeof all, "engine-total-ticks,gt=%u,engine_class=%u,engine_instance=%u", gt, kind, number);
    if (gt) snprintf(gt_name, sizeof gt_name, "gt%u_", gt);
    snprintf(name, sizeof name, "ticks_%s%s%u", gt_name, kinds[kind], number);
    snprintf(name_all, sizeof name_all, "%s_total", name);
    if (x->counting.event_count + 2 > ENGINES_MOST || !gpu_engines_is_there(x, e, worked, cpu)) return;
    if (!gpu_engines_add_event(x, e, worked, name, "GPU ticks")) return;
    if (!gpu_engines_add_event(x, e, all, name_all, "GPU ticks")) x->counting.event_count--;
}

typedef struct gt_visit {
    engines *x;
    const emit *e;
    int cpu;
} gt_visit;

static void gpu_engines_found_gt(void *user, const char *name)
{
    enum { KINDS = 5, NUMBERS = 9 };
    gt_visit *v = user;
    char *end;
    if (strncmp(name, "gt", 2) != 0 || name[2] < '0' || name[2] > '9') return;
    unsigned long gt = strtoul(name + 2, &end, 10);
    if (*end || gt > 15) return;
    for (unsigned kind = 0; kind < KINDS; kind++)
        for (unsigned number = 0; number < NUMBERS && !v->x->refused; number++) // some are fused off
            gpu_engines_add_xe_engine(v->x, v->e, (unsigned)gt, kind, number, v->cpu);
}

static void gpu_engines_add_xe(engines *x, const gpu *g, const emit *e, int cpu)
{
    gt_visit v = {x, e, cpu};
    x->ticks = true;
    for (unsigned tile = 0; tile < 8; tile++) {
        char path[96];
        snprintf(path, sizeof path, "/sys/class/drm/%s/device/tile%u", g->card, tile);
        emit_directory(e, path, gpu_engines_found_gt, &v);
    }
}

// The PMU is named after the driver, with or without the bus address appended.
static bool gpu_engines_find_pmu(engines *x, const gpu *g, const emit *e)
{
    char type[16];
    snprintf(x->pmu, sizeof x->pmu, "%s_%.40s", g->driver, g->pci);
    for (char *c = x->pmu; *c; c++)
        if (*c == ':') *c = '_';
    if (*g->pci && emit_read_line(e, type, sizeof type, DEVICES "/%s/type", x->pmu)) return true;
    snprintf(x->pmu, sizeof x->pmu, "%s", g->driver);
    return strcmp(g->driver, "i915") == 0 && emit_read_line(e, type, sizeof type, DEVICES "/%s/type", x->pmu);
}

// ---- reading ----

static uint64_t gpu_engines_grown(engines *x, size_t event)
{
    return x->counting.events[event].total - x->last[event];
}

static void gpu_engines_read_engines(gpu *g, const emit *e)
{
    engines *x = g->engines.own;
    perf_counting *c = &x->counting;
    gpu_account a = {.told = true};
    int64_t now = gpu_clock_us();
    (void)e;
    perf_counting_read(c, false);
    if (!perf_counting_works(c, &a.error)) {
        if (!a.error) a.error = x->refused;
        g->account = a;
        return;
    }
    a.error = 0;
    uint64_t passed_ns = x->read_once ? (uint64_t)(now - x->last_us) * 1000 : 0;
    for (size_t i = 0; i < c->event_count && x->read_once; i += x->ticks ? 2 : 1) {
        uint64_t active = gpu_engines_grown(x, i), all = x->ticks ? gpu_engines_grown(x, i + 1) : passed_ns;
        if (c->events[i].error || (x->ticks && c->events[i + 1].error)) continue;
        gpu_account_busier(&a, active, all);
    }
    for (size_t i = 0; i < c->event_count; i++)
        x->last[i] = c->events[i].total;
    x->read_once = true;
    x->last_us = now;
    g->account = a;
}

static void gpu_engines_tell_engines(gpu *g, emit *e)
{
    const engines *x = g->engines.own;
    perf_counting_tell(&x->counting, e);
}

static void gpu_engines_tell_facts(gpu *g, emit *e)
{
    const engines *x = g->engines.own;
    emit_factf(e, "engines", "%s%s", x->pmu,
               x->refused ? ": not allowed, CAP_PERFMON or a lower /proc/sys/kernel/perf_event_paranoid is needed"
                          : "");
}

static void gpu_engines_close(gpu *g)
{
    engines *x = g->engines.own;
    perf_counting_close(&x->counting);
    free(x);
}

void gpu_engines_open(gpu *g, const emit *e)
{
    bool xe = strcmp(g->driver, "xe") == 0;
    if ((!xe && strcmp(g->driver, "i915") != 0) || (*emit_root(e) && perf_calls == &perf_kernel)) return;
    engines *x = calloc(1, sizeof *x);
    char cpus[64];
    if (!x || !gpu_engines_find_pmu(x, g, e)) {
        free(x);
        return;
    }
    if (!emit_read_line(e, cpus, sizeof cpus, DEVICES "/%s/cpumask", x->pmu)) snprintf(cpus, sizeof cpus, "0");
    int cpu = (int)strtol(cpus, NULL, 10);
    if (xe)
        gpu_engines_add_xe(x, g, e, cpu);
    else
        gpu_engines_add_i915(x, e);
    if (x->counting.event_count) perf_counting_add(&x->counting, -1, cpu, false);
    g->engines =
        (gpu_extra){gpu_engines_read_engines, gpu_engines_tell_engines, gpu_engines_tell_facts, gpu_engines_close, x};
    if (x->counting.event_count || x->refused) return;
    gpu_engines_close(g);
    g->engines = (gpu_extra){0};
}
