// The pages of a job, over a job of the test's own making: its meters follow a formula, so that every figure on the pages
// can be computed independently.
// NETPROF_TEST_KEEP=DIRECTORY keeps what is written, to be looked at.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/base/stb_ds.h"
#include "analysis/job/job_bins.h"
#include "render/canvas/canvas_model.h"
#include "render/document/document.h"
#include "render/document/document_model.h"
#include "render/pages/job/pages_job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GB           1e9
#define GIB          1073741824.0
#define COUNT(array) (sizeof(array) / sizeof *(array))
#define HOSTILE      "n\"><script>alert(1)</script>`id`\x1b[31m\xff\xe2\x80\xae"

// ---- what the job did: a training with checkpoints, one NIC paused for 350 s ----

typedef struct situation {
    size_t nodes, gpus, nics;
    double length_s, interval_s, bin_s;
    bool network, paused, energy, cpu, capacities, phases, gaps, cpu_denied_energy, uneven;
    const char *name; // of nodes
    size_t extra_events;
} situation;

static const situation training = {.nodes = 16,
                                   .gpus = 4,
                                   .nics = 4,
                                   .length_s = 3600,
                                   .interval_s = 1,
                                   .bin_s = 4,
                                   .network = true,
                                   .paused = true,
                                   .energy = true,
                                   .cpu = true,
                                   .capacities = true,
                                   .phases = true,
                                   .gaps = true,
                                   .name = "n"};

static const situation *now;

static double noise(double x)
{
    return fmod(fabs(sin(x * 12.9898) * 43758.5453), 1.0) - .5;
}

enum { INIT = 0, TRAIN, CHECKPOINT, END };
static int phase_at(double t)
{
    double of = t / now->length_s * 3600;
    if (of < 210) return INIT;
    if (of >= 3580) return END;
    for (int i = 1; i <= 4; i++)
        if (of >= 900 * i && of < 900 * i + 50 && i < 4) return CHECKPOINT;
    return of >= 3530 ? CHECKPOINT : TRAIN;
}

static bool in_incident(double t)
{
    double of = t / now->length_s * 3600;
    return now->paused && of >= 2300 && of < 2650;
}

static bool in_gap(size_t node, double t)
{
    double of = t / now->length_s * 3600;
    return now->gaps && ((of >= 3080 && of < 3120) || (node == 5 && of >= 1410 && of < 1550));
}

static double sample(const job_lane *b, double t)
{
    int phase = phase_at(t);
    bool slow = phase == TRAIN && in_incident(t);
    double jitter = noise(t + 77 * (double)b->node + (double)b->meter), of = t / now->length_s;
    static const double sent[] = {.5, 31.4, 5.1, .1}, busy[] = {.1, .92, .07, .01}, cpu[] = {.58, .22, .34, .03},
                        power[] = {1380, 2580, 1160, 860};
    double part = now->uneven ? (1 + .01 * (double)(b->node * b->node)) / 40 : 1; // of what others send
    switch (b->meter) {
    case JOB_SENT:
        return part * (slow ? 20 : sent[phase]) * GB * (1 + .05 * jitter) /
               (b->device == JOB_NONE ? 1 : (double)now->nics);
    case JOB_RECEIVED:
        return (phase == INIT ? 6
                : slow        ? 20.1
                              : sent[phase]) *
               GB * (1 + .05 * jitter) / (b->device == JOB_NONE ? 1 : (double)now->nics);
    case JOB_PAUSED: {
        bool culprit = b->node == 10 % now->nodes && (b->device == JOB_NONE || b->device % now->nics == 1 % now->nics);
        return culprit && slow ? .44 + .3 * jitter : now->paused && jitter > .495 ? .004 : 0;
    }
    case JOB_RETRIES: return b->node == 10 % now->nodes && slow ? 600 : 0;
    case JOB_GPU_BUSY: return slow ? .6 + .04 * jitter : busy[phase];
    case JOB_GPU_MEMORY: return (b->device == JOB_NONE ? 4 : 1) * 71 * GIB;
    case JOB_CPU: return 128 * (slow ? .17 : cpu[phase]) * (1 + .1 * jitter);
    case JOB_MEMORY: return (of < .06 ? 20 + 2500 * of : 172 + (b->node == 3 ? 165 * (of - .06) : 0)) * GIB;
    case JOB_DISK_READ: return phase == INIT ? 6.1 * GB * (1 + .3 * jitter) : 0;
    case JOB_DISK_WRITTEN: return phase == CHECKPOINT ? 5 * GB : .05 * GB;
    case JOB_POWER: return slow ? 1980 : power[phase];
    case JOB_POWER_CPU: return 340;
    case JOB_POWER_GPU: return (slow ? 1400 : phase == TRAIN ? 1900 : 500);
    case JOB_GPU_CLOCK: return b->node == 2 && t > 1200 && t < 1330 ? 1.2e9 : 1.98e9;
    default: return NAN;
    }
}

// ---- the job ----

typedef struct made {
    job_report job;
    void *memory[20000];
    size_t count;
    job_bins **bins; // stb_ds
} made;

static void *make(made *m, size_t count, size_t size)
{
    void *x = calloc(count ? count : 1, size);
    assert_non_null(x);
    assert_true(m->count < COUNT(m->memory));
    return m->memory[m->count++] = x;
}

#define BEGIN_NS INT64_C(1763643720000000000)

static job_bins *make_bins(made *m)
{
    job_bins *bins = job_bins_make();
    arrput(m->bins, bins);
    return bins;
}

// A value from..to, in seconds since the job began.
static void add_value(job_bins *bins, double from_s, double to_s, double value)
{
    job_bins_add(bins, BEGIN_NS + llround(from_s * 1e9), BEGIN_NS + llround(to_s * 1e9), value, value, value);
}

static char *say(made *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
static char *say(made *m, const char *format, ...)
{
    char text[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return strcpy(make(m, strlen(text) + 1, 1), text);
}

static bool wanted(job_meter m)
{
    switch (m) {
    case JOB_SENT:
    case JOB_RECEIVED:
    case JOB_PAUSED:
    case JOB_RETRIES: return now->network;
    case JOB_GPU_BUSY:
    case JOB_GPU_MEMORY:
    case JOB_GPU_CLOCK:
    case JOB_POWER_GPU: return now->gpus > 0 && (m != JOB_POWER_GPU || now->energy);
    case JOB_CPU:
    case JOB_MEMORY:
    case JOB_DISK_READ:
    case JOB_DISK_WRITTEN: return now->cpu;
    case JOB_POWER:
    case JOB_POWER_CPU: return now->energy;
    default: return false;
    }
}

static double capacity_of(job_meter m, bool of_device)
{
    double nics = of_device ? 1 : (double)now->nics;
    if (!now->capacities) return NAN;
    switch (m) {
    case JOB_SENT:
    case JOB_RECEIVED: return 25 * GB * nics;
    case JOB_GPU_MEMORY: return 96 * GIB * (of_device ? 1 : 4);
    case JOB_CPU: return 128;
    case JOB_MEMORY: return 512 * GIB;
    case JOB_POWER: return 3200;
    case JOB_GPU_CLOCK: return 1.98e9;
    default: return NAN;
    }
}

static job_lane *make_lane(made *m, job_meter meter, size_t node, size_t device)
{
    job_lane *lane = make(m, 1, sizeof *lane);
    *lane = (job_lane){.meter = meter,
                       .node = node,
                       .device = device,
                       .capacity = capacity_of(meter, device != JOB_NONE),
                       .bins = make_bins(m),
                       .low = INFINITY};
    enum { STEPS = 720 };
    size_t n = 0;
    for (size_t i = 0; i < STEPS; i++) {
        double t = now->length_s * ((double)i + .5) / STEPS, x = sample(lane, t);
        lane->total += x * now->length_s / STEPS;
        if (in_gap(node, t)) continue;
        add_value(lane->bins, now->length_s * (double)i / STEPS, now->length_s * (double)(i + 1) / STEPS, x);
        lane->mean += x;
        lane->low = fmin(lane->low, x);
        lane->high = fmax(lane->high, x);
        n++;
    }
    lane->mean /= (double)n;
    lane->known_s = now->length_s * (double)n / STEPS;
    return lane;
}

static void make_node(made *m, size_t i)
{
    job_report *job = &m->job;
    job_node *node = &job->nodes[i];
    *node = (job_node){.name = say(m, "%s%02zu", now->name, i + 1),
                       .system = say(m, "2 \xc3\x97 64 cores"),
                       .first_device = job->device_count,
                       .end_s = now->length_s,
                       .interval_s = now->interval_s,
                       .samples = (uint64_t)(now->length_s * .986),
                       .expected = (uint64_t)now->length_s,
                       .memory_peak = now->cpu ? 180 * GIB : NAN,
                       .uncertainty_s = .003,
                       .complete = true,
                       .recorder_cpu = .0012,
                       .late_s = .0004,
                       .sweep_s = .0007,
                       .host = say(m, "h")};
    for (int k = 0; k < JOB_METERS; k++) {
        bool has = wanted((job_meter)k);
        node->state[k] = has                                                               ? JOB_KNOWN
                         : now->cpu_denied_energy && k >= JOB_POWER && k <= JOB_POWER_DRAM ? JOB_DENIED
                                                                                           : JOB_ABSENT;
        node->scope[k] = JOB_SCOPE_JOB;
        if (has) node->lanes[k] = make_lane(m, (job_meter)k, i, JOB_NONE);
    }
    for (size_t d = 0; d < now->nics + now->gpus; d++) {
        bool nic = d < now->nics;
        job_device *x = &job->devices[job->device_count++];
        *x = (job_device){.node = i,
                          .source = say(m, nic ? "cxi" : "gpu"),
                          .name = say(m, "%s%zu", nic ? "cxi" : "gpu", nic ? d : d - now->nics),
                          .label = nic ? say(m, "NIC %zu", d + 1) : say(m, "GPU %zu", d - now->nics),
                          .line_rate = nic && now->capacities ? 25 * GB : NAN};
        node->device_count++;
        for (int k = 0; k < JOB_METERS; k++) {
            bool of_nic = k == JOB_SENT || k == JOB_RECEIVED || k == JOB_PAUSED || k == JOB_RETRIES;
            bool of_gpu = k == JOB_GPU_BUSY || k == JOB_GPU_MEMORY || k == JOB_GPU_CLOCK || k == JOB_POWER_GPU;
            if (wanted((job_meter)k) && (nic ? of_nic : of_gpu))
                x->lanes[k] = make_lane(m, (job_meter)k, i, nic ? d : d - now->nics);
        }
    }
    if (now->gaps) {
        node->gaps = make(m, 2, sizeof *node->gaps);
        node->gaps[node->gap_count++] = (job_gap){3080, 3120, false};
        if (i == 5) node->gaps[node->gap_count++] = (job_gap){1410, 1550, false};
    }
}

static void make_uses(made *m)
{
    job_report *job = &m->job;
    for (int k = 0; k < JOB_METERS; k++) {
        if (!wanted((job_meter)k)) continue;
        job_use u = {.meter = (job_meter)k,
                     .capacity = capacity_of((job_meter)k, false),
                     .low = INFINITY,
                     .scope = JOB_SCOPE_JOB,
                     .high = -1};
        for (size_t i = 0; i < job->node_count; i++) {
            const job_lane *lane = job->nodes[i].lanes[k];
            u.mean += lane->mean / (double)job->node_count;
            u.total += lane->total;
            u.peak = fmax(u.peak, lane->high);
            if (lane->mean < u.low) u.low = lane->mean, u.low_node = i;
            if (lane->mean > u.high) u.high = lane->mean, u.high_node = i;
            u.nodes++;
        }
        if (job_meter_of((job_meter)k)->sum == JOB_AVERAGES) u.total = NAN;
        job->uses[job->use_count++] = u;
    }
}

static void make_phases(made *m)
{
    static const char *const names[] = {"init", "train", "checkpoint", "end"};
    job_report *job = &m->job;
    job->phases = make(m, 5, sizeof *job->phases);
    job->spans = make(m, 64, sizeof *job->spans);
    for (size_t i = 0; i < 4; i++) {
        job->phases[i] =
            (job_phase){.name = say(m, "%s", names[i]), .finding = JOB_NONE, .within = JOB_NONE, .energy_j = NAN};
        for (int k = 0; k < JOB_METERS; k++)
            job->phases[i].meters[k] = (job_phase_meter){NAN, NAN};
    }
    job->phases[4] = (job_phase){.name = say(m, "train, n11 paused"),
                                 .count = 1,
                                 .finding = 0,
                                 .within = TRAIN,
                                 .time_s = 350,
                                 .energy_j = 3.08 * 3.6e6};
    for (int k = 0; k < JOB_METERS; k++)
        job->phases[4].meters[k] = (job_phase_meter){k == JOB_SENT ? 20 * GB : NAN, NAN};
    job->phase_count = now->paused ? 5 : 4;
    double begin = 0, step = now->length_s / 3600;
    int phase = phase_at(.5 * step);
    for (int t = 1; t <= 3600; t++) {
        int next = t < 3600 ? phase_at((t + .5) * step) : -1;
        if (next == phase) continue;
        job_phase *p = &job->phases[phase];
        job->spans[job->span_count++] = (job_phase_span){(size_t)phase, begin, t * step};
        p->count++;
        p->time_s += t * step - begin;
        begin = t * step;
        phase = next;
    }
    for (size_t i = 0; i < 4 && now->energy; i++) {
        static const double watts[] = {1380, 2580, 1160, 860};
        job->phases[i].energy_j = watts[i] * job->phases[i].time_s * (double)now->nodes;
        job->phases[i].meters[JOB_POWER].mean = watts[i];
    }
}

static void make_findings(made *m)
{
    job_report *job = &m->job;
    static const severity severities[] = {SEVERITY_HIGH, SEVERITY_WATCH, SEVERITY_WATCH};
    job->findings = make(m, 3, sizeof *job->findings);
    if (!now->paused) return;
    job->finding_count = 3;
    for (size_t i = 0; i < 3; i++)
        job->findings[i] = (job_finding){.severity = severities[i],
                                         .node = 10 % now->nodes,
                                         .device = JOB_NONE,
                                         .nodes = 1,
                                         .meter = JOB_METERS,
                                         .value = NAN,
                                         .threshold = NAN,
                                         .unit = say(m, "%s", ""),
                                         .origin = say(m, "own"),
                                         .advice = say(m, "Look at the switch port."),
                                         .sent_ratio = NAN,
                                         .cpu_ratio = NAN,
                                         .gpu_ratio = NAN,
                                         .power_ratio = NAN,
                                         .lost_s = NAN,
                                         .to_s = now->length_s,
                                         .title = say(m, "%s", "")};
    job_finding *f = job->findings;
    f[0].rule = say(m, "paused");
    f[0].claim =
        say(m, "38:20\xe2\x80\x93"
               "44:10: n11 NIC 2 transmit paused 44 %% of the time, 212 k retries; other 63 NICs at most 0.4 %%.");
    f[0].device = f[0].node * (now->nics + now->gpus) + 1 % now->nics;
    f[0].meter = JOB_PAUSED;
    f[0].incident = true;
    f[0].from_s = 2300;
    f[0].to_s = 2650;
    f[0].threshold = .05;
    f[0].sent_ratio = .64;
    f[0].gpu_ratio = .65;
    f[0].power_ratio = .77;
    f[0].cpu_ratio = .95;
    f[1].rule = say(m, "mem-growth");
    f[1].claim = say(m, "n04: memory grows 2.9 GiB/min, 336 of 512 GiB at the end: full in 61 min.");
    f[1].node = 3 % now->nodes;
    f[1].meter = JOB_MEMORY;
    f[2].rule = say(m, "gpu-throttle");
    f[2].claim = say(m, "n03 GPU 1: throttled 130 s.");
    f[2].node = 2 % now->nodes;
    f[2].meter = JOB_GPU_CLOCK;
    f[2].incident = true;
    f[2].from_s = 1200;
    f[2].to_s = 1330;
    for (size_t i = 0; i < 3; i++)
        if (job->nodes[f[i].node].severity < f[i].severity) job->nodes[f[i].node].severity = f[i].severity;
}

static void make_events(made *m)
{
    static const struct {
        const char *counter, *title;
        bool moved, background;
        severity severity;
    } rows[] = {{"pct_retry_srb_requests", "Retries", true, false, SEVERITY_HIGH},
                {"hni_pcs_corrected_cw", "FEC corrected", true, true, SEVERITY_OK},
                {"hni_pcs_uncorrected_cw", "Uncorrected", false, false, SEVERITY_OK},
                {"link_down", "Link down", false, false, SEVERITY_OK}};
    job_report *job = &m->job;
    job->events = make(m, COUNT(rows) + now->extra_events, sizeof *job->events);
    if (!now->network) return;
    for (size_t i = 0; i < now->extra_events; i++)
        job->events[job->event_count++] = (job_event){.known = true,
                                                      .source = say(m, "cxi"),
                                                      .counter = say(m, "e%zu", i),
                                                      .unit = say(m, "events"),
                                                      .title = say(m, "Event %zu", i),
                                                      .sum = 10,
                                                      .devices = 3,
                                                      .worst = 0,
                                                      .worst_sum = 5};
    for (size_t i = 0; i < COUNT(rows); i++) {
        bool moved = rows[i].moved && (now->paused || rows[i].background);
        job_event_lane *lane = make(m, 1, sizeof *lane);
        lane->bins = make_bins(m);
        if (moved) // all along, or during the incident
            add_value(lane->bins, rows[i].background ? 0 : 2300, rows[i].background ? now->length_s : 2650, 600);
        job->events[job->event_count++] =
            (job_event){.known = true,
                        .lanes = lane,
                        .lane_count = 1,
                        .source = say(m, "cxi"),
                        .counter = say(m, "%s", rows[i].counter),
                        .unit = say(m, "events"),
                        .title = rows[i].title,
                        .sum = moved ? 212000 : 0,
                        .devices = moved ? 1 : 0,
                        .worst = moved ? (10 % now->nodes) * (now->nics + now->gpus) + 1 % now->nics : JOB_NONE,
                        .worst_sum = 212000,
                        .background = rows[i].background && moved,
                        .severity = moved ? rows[i].severity : SEVERITY_OK};
    }
}

static void make_notes(made *m)
{
    job_report *job = &m->job;
    job->notes = make(m, 6, sizeof *job->notes);
    for (size_t i = 0; i < job->finding_count; i++)
        job->notes[job->note_count++] = (job_note){job->findings[i].severity, job->findings[i].claim, i};
    job->notes[job->note_count++] =
        (job_note){SEVERITY_OK, say(m, "No link down, no uncorrected codeword, no out-of-memory."), JOB_NONE};
    job->notes[job->note_count++] =
        (job_note){SEVERITY_INFO,
                   say(m, "Energy 37.8 kWh (136 MJ), 73 %% of it GPUs; mean 2.36 kW per node. See page 2."), JOB_NONE};
    job->title = job->finding_count
                     ? say(m, "n11\xe2\x80\x99s NIC 2 slowed all %zu nodes for 5 min 50 s", job->node_count)
                     : say(m, "No fault seen on %zu nodes", job->node_count);
    job->severity = job->finding_count ? SEVERITY_HIGH : SEVERITY_OK;
}

static made *make_job(const situation *s)
{
    static const char *const facts[][2] = {
        {"User, account", "anna, proj-llm"}, {"Partition", "gpu-b"}, {"State", "COMPLETED, exit 0"}};
    now = s;
    made *m = calloc(1, sizeof *m);
    assert_non_null(m);
    job_report *job = &m->job;
    *job = (job_report){.begin_ns = BEGIN_NS,
                        .end_s = s->length_s,
                        .bin_s = s->bin_s,
                        .interval_s = s->interval_s,
                        .job_id = "51877",
                        .job_name = "llm-pretrain",
                        .files = s->nodes,
                        .clock_text = say(m, "node clocks agree to 3 ms")};
    job->nodes = make(m, s->nodes, sizeof *job->nodes);
    job->devices = make(m, s->nodes * (s->nics + s->gpus), sizeof *job->devices);
    job->node_count = s->nodes;
    for (size_t i = 0; i < s->nodes; i++) {
        make_node(m, i);
        job->samples += job->nodes[i].samples;
        job->expected += job->nodes[i].expected;
    }
    job->facts = make(m, COUNT(facts), sizeof *job->facts);
    for (; job->fact_count < COUNT(facts); job->fact_count++)
        job->facts[job->fact_count] =
            (job_fact){"key", facts[job->fact_count][0], say(m, "%s", facts[job->fact_count][1])};
    make_uses(m);
    job->efficiency[JOB_EFFICIENCY_CPU] =
        (job_efficiency){.used = 36000, .of = 144000, .left = NAN, .basis = JOB_BASIS_CPUSET, .node = JOB_NONE};
    job->efficiency[JOB_EFFICIENCY_MEMORY] =
        (job_efficiency){.used = 3 << 28, .of = 1 << 30, .left = NAN, .basis = JOB_BASIS_REQUEST, .node = 0};
    job->efficiency[JOB_EFFICIENCY_TIME] =
        (job_efficiency){.used = 5400, .of = 7200, .left = 1800, .basis = JOB_BASIS_LIMIT, .node = JOB_NONE};
    if (s->phases) make_phases(m);
    job->energy = (job_energy){.total_j = NAN, .how = "GPU by NVML, CPU and memory by RAPL, node by its own meter."};
    for (size_t i = 0; i < JOB_PARTS; i++)
        job->energy.part_j[i] = NAN;
    if (s->energy) {
        double all = 0, cpu = 0, gpu = 0;
        for (size_t i = 0; i < s->nodes; i++) {
            all += job->nodes[i].lanes[JOB_POWER]->total;
            cpu += job->nodes[i].lanes[JOB_POWER_CPU]->total;
            if (s->gpus) gpu += job->nodes[i].lanes[JOB_POWER_GPU]->total;
        }
        job->energy.total_j = all;
        job->energy.part_j[JOB_PART_CPU] = cpu;
        job->energy.part_j[JOB_PART_GPU] = s->gpus ? gpu : NAN;
        job->energy.part_j[JOB_PART_REST] = all - cpu - gpu;
        job->energy.whole = true;
    }
    make_findings(m);
    make_events(m);
    make_notes(m);
    return m;
}

static void free_job(made *m)
{
    for (size_t i = 0; i < m->count; i++)
        free(m->memory[i]);
    for (size_t i = 0; i < arrlenu(m->bins); i++)
        job_bins_free(m->bins[i]);
    arrfree(m->bins);
    free(m);
}

// ---- looking at documents ----

static void say_fault(void *user, size_t page, canvas_fault fault, const char *text, const char *other)
{
    print_error("%s: page %zu: fault %d: %s%s%s\n", (const char *)user, page, (int)fault, text, other ? " | " : "",
                other ? other : "");
}

static const chart *find_chart(const document *doc, const char *name)
{
    for (size_t i = 0; i < doc->item_count; i++) {
        const document_item *item = &doc->items[i];
        if ((item->kind == ITEM_CHART || item->kind == ITEM_BESIDE) && strcmp(item->chart.name, name) == 0)
            return &item->chart;
        if (item->kind == ITEM_BESIDE && strcmp(item->right.name, name) == 0) return &item->right;
    }
    return NULL;
}

static bool has_note(const document *doc, const char *text)
{
    for (size_t i = 0; i < doc->item_count; i++)
        if (doc->items[i].kind == ITEM_NOTE && strstr(doc->items[i].text, text)) return true;
    return false;
}

// The cell of a twin table in the row that begins with a label; "" there is none.
static const char *cell_of(const chart *x, const char *row, size_t column)
{
    assert_non_null(x);
    for (size_t i = x->twin.columns; i + column < x->twin.count; i += x->twin.columns)
        if (strcmp(x->twin.cells[i], row) == 0) return x->twin.cells[i + column];
    return "";
}

// U+202F as a plain space.
static const char *plain(const char *text)
{
    static char out[300];
    size_t n = 0;
    for (; *text && n < sizeof out - 1; n++)
        if (strncmp(text, "\xe2\x80\xaf", 3) == 0)
            out[n] = ' ', text += 3;
        else
            out[n] = *text++;
    out[n] = 0;
    return out;
}

static document *check(const char *what, const situation *s, made **kept)
{
    made *m = make_job(s);
    document *doc = pages_job(&m->job, NULL, false, true);
    assert_int_equal(document_check(doc, PAPER_A4, say_fault, (void *)(uintptr_t)what), 0);
    assert_int_equal(document_check(doc, PAPER_LETTER, say_fault, (void *)(uintptr_t)what), 0);
    const char *keep = getenv("NETPROF_TEST_KEEP");
    for (int dark = 0; keep && dark < 2; dark++) {
        char path[600];
        static const char *const endings[] = {"pdf", "html"};
        for (size_t k = 0; k < 2; k++) {
            const document_options o = {.format = k ? DOCUMENT_HTML : DOCUMENT_PDF,
                                        .theme = dark ? DOCUMENT_DARK : DOCUMENT_LIGHT};
            snprintf(path, sizeof path, "%s/job-%s%s.%s", keep, what, dark ? "-dark" : "", endings[k]);
            document_write(doc, path, &o, NULL, NULL);
        }
    }
    document *brief = pages_job(&m->job, NULL, true, true);
    assert_int_equal(document_pages(brief, PAPER_A4), 1);
    document_close(brief);
    if (kept)
        *kept = m;
    else {
        document_close(doc);
        free_job(m);
        return NULL;
    }
    return doc;
}

static void a_training(void **state)
{
    made *m;
    (void)state;
    document *doc = check("training", &training, &m);
    assert_string_equal(doc->title, "n11\xe2\x80\x99s NIC 2 slowed all 16 nodes for 5 min 50 s");
    const chart *use = find_chart(doc, "use");
    char expected[64];
    // Of what was given: 36,000 of 144,000 CPU seconds, three quarters of 1 GiB, one and a half of two hours.
    assert_string_equal(plain(cell_of(find_chart(doc, "facts"), "CPU time", 1)), "10 h 00 min of 40 h 00 min (25 %)");
    assert_non_null(strstr(cell_of(find_chart(doc, "facts"), "CPUs given", 1), "its cpuset"));
    assert_string_equal(plain(cell_of(use, "Memory given", 1)), "768");
    assert_string_equal(plain(cell_of(use, "Memory given", 2)), "MiB of 1 GiB at the peak");
    assert_string_equal(plain(cell_of(use, "Time limit", 2)), "h 30 min of 2 h 00 min");
    // The same six words in text, JSON and, in capitals, on pages.
    for (int s = 0; s < SEVERITIES; s++)
        assert_int_equal(strcasecmp(theme_severity_word((severity)s), severity_name((severity)s)), 0);
    // By hand: of the 720 steps of 5 s 42 are init, 40 checkpoint, 4 end, 634 training, of those 70 slow; 8 in the gap.
    double busy = (42 * .1 + 40 * .07 + 4 * .01 + (634 - 70 - 8) * .92 + 70 * .6) / (720 - 8);
    snprintf(expected, sizeof expected, "%.1f", 100 * busy);
    assert_true(fabs(strtod(cell_of(use, "GPU busy", 1), NULL) - 100 * busy) < .2);
    assert_string_equal(plain(cell_of(use, "Power", 2)), "kW of 3.20 kW");
    assert_string_equal(plain(cell_of(use, "GPU memory", 1)), "284"); // 4 x 71
    assert_string_equal(plain(cell_of(use, "GPU memory", 2)), "GiB of 384 GiB");
    const chart *phases = find_chart(doc, "phases");
    assert_string_equal(plain(cell_of(phases, "train \xc3\x97 4", 1)), "52 min 50 s"); // 3600 - 210 - 4 x 50 - 20
    size_t last = phases->twin.columns - 1;
    assert_string_equal(plain(cell_of(phases, "train \xc3\x97 4", last)), "36.3 kWh"); // 2580 W x 3170 s x 16 nodes
    assert_string_equal(plain(cell_of(phases, "train, n11 paused", 2)), "20.0 GB/s");
    assert_string_equal(plain(cell_of(find_chart(doc, "energy"), "by part", 2)),
                        "26.9 kWh"); // 16 x (1900 x 2820 + 1400 x 350 + 500 x 430) J
    assert_int_equal(find_chart(doc, "time-sent")->twin.count / find_chart(doc, "time-sent")->twin.columns, 16 + 1);
    assert_int_equal(find_chart(doc, "time-paused")->twin.count / find_chart(doc, "time-paused")->twin.columns, 5 + 1);
    assert_string_equal(cell_of(find_chart(doc, "time-events"), "Retries", 5),
                        "HIGH"); // as the text and --fail-on call it
    assert_string_equal(cell_of(find_chart(doc, "time-events"), "Uncorrected", 2), "0");
    assert_true(strcmp(find_chart(doc, "time-paused")->title, "Time paused, 5 worst of 64 NICs") == 0);
    document_close(doc);
    free_job(m);
}

// Every shape that a job can have: laid out without a fault, and nothing missing is drawn as a chart.
static void shapes(void **state)
{
    (void)state;
    situation s = training;
    s.nodes = 1;
    check("one", &s, NULL);
    s = training;
    s.nodes = 1, s.nics = 1, s.gpus = 0, s.length_s = 1, s.bin_s = .5, s.interval_s = 1, s.paused = false,
    s.gaps = false, s.energy = false;
    made *m;
    document *doc = check("second", &s, &m);
    assert_true(has_note(doc, "stopped none of the 1 NIC"));
    assert_null(find_chart(doc, "time-paused"));
    assert_null(find_chart(doc, "energy"));
    assert_null(find_chart(doc, "gpu-lines"));
    assert_true(has_note(doc, "Energy: not recorded"));
    document_close(doc);
    free_job(m);
    s = training;
    s.nodes = 63;
    s.gpus = 0;
    s.uneven = true;
    s.extra_events = 20;
    doc = check("many", &s, &m);
    // Folded on the first page: the ten that tell most in the order of names, the one in the middle, the plainest. First
    // those with findings (n03, n04, n11), then the farthest from the median, which is n32: n63, n62, ...
    const chart *map = find_chart(doc, "time-sent");
    assert_int_equal(map->twin.count / map->twin.columns, 12 + 1);
    assert_string_equal(map->twin.cells[map->twin.columns], "n03");
    assert_string_equal(map->twin.cells[11 * map->twin.columns], "n16 (median)");
    assert_string_equal(map->twin.cells[12 * map->twin.columns], "n32 (plainest)");
    assert_non_null(strstr(find_chart(doc, "time-events")->question, "more kinds that moved"));
    assert_int_equal(find_chart(doc, "nodes")->twin.count / find_chart(doc, "nodes")->twin.columns,
                     63 + 1); // the table has all
    document_close(doc);
    free_job(m);
    s = training;
    s.capacities = s.paused = s.energy = s.phases = false;
    s.cpu_denied_energy = true;
    doc = check("no-limits", &s, &m);
    assert_true(has_note(doc, "Energy: may not be read (rights)"));
    assert_non_null(strstr(cell_of(find_chart(doc, "use"), "Host memory", 2), "no limit known"));
    document_close(doc);
    free_job(m);
    s = training;
    s.network = false;
    check("no-network", &s, NULL);
    s.cpu = s.energy = false;
    s.gpus = 0;
    s.paused = false;
    check("nothing", &s, NULL);
    s = training;
    s.name = HOSTILE;
    s.nodes = 3;
    check("hostile", &s, NULL);
}

// A NIC that moves next to nothing where the others do is unlike them, as one that moves more.
static void a_rail_that_does_nothing(void **state)
{
    static const double shares[] = {.5, 0, .9};
    (void)state;
    for (size_t k = 0; k < COUNT(shares); k++) {
        situation s = training;
        s.paused = false;
        made *m = make_job(&s);
        for (size_t i = 0; i < m->job.device_count; i++) {
            job_device *d = &m->job.devices[i];
            if (!d->lanes[JOB_SENT]) continue;
            d->lanes[JOB_SENT]->mean = d->line_rate * (i == 5 * (s.nics + s.gpus) ? shares[k] : .5);
            if (d->lanes[JOB_PAUSED]) d->lanes[JOB_PAUSED]->mean = 0;
        }
        document *doc = pages_job(&m->job, NULL, false, true);
        const chart *rails = find_chart(doc, "rails");
        const char *note = cell_of(rails, "sent, rail 1", rails->twin.columns - 1);
        assert_string_equal(plain(note), k == 0 ? "alike" : k == 1 ? "n06: 0 %" : "n06: 90.0 %");
        assert_string_equal(cell_of(rails, "sent, rail 2", rails->twin.columns - 1), "alike");
        assert_string_equal(rails->twin.cells[2 + 5], "n06"); // a column has its node's name
        document_close(doc);
        free_job(m);
    }
}

// The first page has room for four: it says that there are more, and its table has all.
static void more_was_not_judged_than_has_room(void **state)
{
    enum { COUNT_UNKNOWN = 6 };
    situation s = training;
    (void)state;
    s.nodes = 1;
    s.paused = false;
    made *m = make_job(&s);
    m->job.findings = make(m, COUNT_UNKNOWN, sizeof *m->job.findings);
    m->job.finding_count = COUNT_UNKNOWN;
    for (size_t i = 0; i < COUNT_UNKNOWN; i++)
        m->job.findings[i] = (job_finding){.severity = SEVERITY_UNKNOWN,
                                           .device = JOB_NONE,
                                           .meter = JOB_METERS,
                                           .rule = say(m, "rule-%zu", i),
                                           .claim = say(m, "not read"),
                                           .title = say(m, "Check %zu", i),
                                           .unit = say(m, "%s", ""),
                                           .origin = say(m, "own"),
                                           .advice = say(m, "%s", "")};
    document *doc = pages_job(&m->job, NULL, false, false);
    const chart *unjudged = find_chart(doc, "unjudged");
    assert_true(unjudged && unjudged->twin.count / unjudged->twin.columns > COUNT_UNKNOWN);
    canvas *c = canvas_open(240, 400);
    unjudged->draw(unjudged, c, (canvas_box){0, 0, 240, 400}, 0, 1000);
    size_t said = 0, drawn = 0;
    for (size_t i = 0; i < c->count; i++) {
        said += c->ops[i].kind == CANVAS_TEXT && strstr(c->ops[i].text, "Nor judged: Check 4; Check 5");
        drawn += c->ops[i].kind == CANVAS_TEXT && strncmp(c->ops[i].text, "Check ", 6) == 0;
    }
    assert_int_equal(said, 1);
    assert_int_equal(drawn, 4);
    canvas_close(c);
    document_close(doc);
    free_job(m);
}

// Cassini ports whose links are watched say nothing of the Ethernet port beside them.
static void a_link_that_nobody_watches(void **state)
{
    static const struct {
        const char *source, *event; // of the last port; of the last kind of event
        double total;
        const char *says; // in the row; "": there is none
    } cases[] = {{"cxi", "cxi", 1e9, ""},
                 {"netdev", "cxi", 1e9, "Of NIC 4 only frames were counted"},
                 {"netdev", "cxi", 0, ""}, // not in use
                 {"netdev", "ethtool", 1e9, ""}};
    (void)state;
    for (size_t k = 0; k < COUNT(cases); k++) {
        situation s = training;
        s.nodes = 1;
        s.paused = false;
        made *m = make_job(&s);
        m->job.finding_count = 0;
        job_device *last = &m->job.devices[s.nics - 1];
        last->source = say(m, "%s", cases[k].source);
        last->lanes[JOB_SENT]->total = cases[k].total;
        m->job.events[m->job.event_count - 1].source = say(m, "%s", cases[k].event);
        m->job.events[m->job.event_count - 1].counter = say(m, "rx_crc_errors_phy");
        document *doc = pages_job(&m->job, NULL, false, false);
        const char *why = cell_of(find_chart(doc, "unjudged"), "Errors of the link", 1);
        if (*cases[k].says)
            assert_int_equal(strncmp(why, cases[k].says, strlen(cases[k].says)), 0);
        else
            assert_string_equal(why, "");
        document_close(doc);
        free_job(m);
    }
}

// A process that left regions is a box over the panels, with what it ran and how often.
static void regions_of_a_rank(void **state)
{
    static regions_rank ranks[] = {{.label = "1", .number = 1}, {.label = "0", .number = 0}};
    static regions_cell main_cell = {.rank = 1, .sums = {.calls = 1}}, step_cell = {.rank = 1, .sums = {.calls = 7610}};
    static regions_node nodes[] = {
        {.name = "main", .depth = 0, .cells = &main_cell, .cell_count = 1, .parent = REGIONS_NONE, .end = 2},
        {.name = "step", .depth = 1, .cells = &step_cell, .cell_count = 1, .end = 2}};
    static job_rank_span spans[] = {{0, 0, 0, 3600}, {1, 1, 20, 3580}};
    (void)state;
    made *m = make_job(&training);
    m->job.regions = (regions){.ranks = ranks, .rank_count = 2, .nodes = nodes, .node_count = 2};
    m->job.ranks = spans;
    m->job.rank_count = 2;
    document *doc = pages_job(&m->job, NULL, false, true);
    assert_non_null(doc);
    assert_int_equal(document_check(doc, PAPER_A4, say_fault, (void *)(uintptr_t) "regions"), 0);
    char path[] = "/tmp/netprof-pages-XXXXXX", text[400000] = "";
    int file = mkstemp(path);
    assert_true(file >= 0);
    const document_options o = {.format = DOCUMENT_SVG, .chart = "time-lines", .no_gnuplot = true};
    assert_int_equal(document_write(doc, path, &o, NULL, NULL), NETPROF_OK);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_true(fread(text, 1, sizeof text - 1, f) > 0);
    fclose(f);
    close(file);
    unlink(path);
    assert_non_null(strstr(text, "main, step \xc3\x97 7\xe2\x80\xaf"
                                 "610"));
    assert_non_null(strstr(text, "rank 0"));
    document_close(doc);
    free_job(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_training),
        cmocka_unit_test(shapes),
        cmocka_unit_test(a_rail_that_does_nothing),
        cmocka_unit_test(more_was_not_judged_than_has_room),
        cmocka_unit_test(a_link_that_nobody_watches),
        cmocka_unit_test(regions_of_a_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
