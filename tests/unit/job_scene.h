// A job's report as a model, made by hand: nodes with NICs and GPUs, what each did in windows, and every figure of what is
// found of them as lines of text.
#ifndef NETPROF_TESTS_JOB_SCENE_H
#define NETPROF_TESTS_JOB_SCENE_H

#include "support.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/text.h"
#include "analysis/job/findings/job_findings_make.h"

#include <math.h>

// Times are in windows in which peers are compared, four bins of 2^29 ns each: 64 of them are 137.4 s.
enum { SCENE_NODES = 6, SCENE_DEVICES = 4, SCENE_BIN = 1 << 29, SCENE_WINDOW = 4, SCENE_LENGTH = 64 };
static const double scene_window_s = SCENE_WINDOW * (SCENE_BIN * 1e-9);

typedef struct scene {
    job_report r;
    job_report_options options;
    job_reader reader;
    job_node_reader readers[SCENE_NODES];
    job_fact fact;
    job_node nodes[SCENE_NODES];
    job_device devices[SCENE_NODES * SCENE_DEVICES];
    char names[SCENE_NODES][24], labels[SCENE_DEVICES][64], places[SCENE_DEVICES][32];
    job_lane **lanes; // stb_ds
} scene;

// Nodes "n1", ... with so many devices each: "cxi0", ... at 25 GB/s, or "gpu0", ... is_job: else of no job.
SUPPORT void scene_make(scene *s, size_t nodes, size_t devices, const char *source, bool is_job)
{
    const double end_s = SCENE_LENGTH * scene_window_s;
    bool gpu = strcmp(source, "gpu") == 0;
    *s = (scene){.r = {.begin_ns = INT64_C(4000) * SCENE_BIN,
                       .end_s = end_s,
                       .bin_s = SCENE_BIN * 1e-9,
                       .interval_s = SCENE_BIN * 1e-9,
                       .nodes = s->nodes,
                       .node_count = nodes,
                       .devices = s->devices,
                       .device_count = nodes * devices,
                       .facts = &s->fact,
                       .fact_count = is_job,
                       .reader = &s->reader},
                 .options = {.threads = 1},
                 .reader = {.options = &s->options, .nodes = s->readers, .worst_ended = JOB_NONE},
                 .fact = {"job_id", "Job", (char *)(uintptr_t) "7"}};
    for (size_t k = 0; k < devices; k++) {
        snprintf(s->places[k], sizeof s->places[k], "%s%zu", gpu ? "gpu" : "cxi", k);
        snprintf(s->labels[k], sizeof s->labels[k], "%s %zu (%s)", gpu ? "GPU" : "NIC", k + 1, s->places[k]);
    }
    for (size_t n = 0; n < nodes; n++) {
        snprintf(s->names[n], sizeof s->names[n], "n%zu", n + 1);
        s->nodes[n] = (job_node){.name = s->names[n],
                                 .host = s->names[n],
                                 .first_device = n * devices,
                                 .device_count = devices,
                                 .first_place = JOB_NONE,
                                 .end_s = end_s};
        for (size_t k = 0; k < devices; k++)
            s->devices[n * devices + k] = (job_device){.node = n,
                                                       .source = (char *)(uintptr_t)source,
                                                       .name = s->places[k],
                                                       .label = s->labels[k],
                                                       .line_rate = gpu ? NAN : 25e9};
    }
}

// One value in the windows from..to, and another one before and after them.
SUPPORT job_lane *scene_steps(scene *s, job_meter meter, double otherwise, double then, int from, int to)
{
    job_lane *lane = job_lane_make(meter, 0, JOB_NONE);
    for (int t = 0; t < SCENE_LENGTH * SCENE_WINDOW; t++) {
        double value = t >= from * SCENE_WINDOW && t < to * SCENE_WINDOW ? then : otherwise;
        int64_t at = s->r.begin_ns + (int64_t)t * SCENE_BIN;
        job_bins_add(lane->bins, at, at + SCENE_BIN, value, value, value);
    }
    lane->known_s = s->r.end_s;
    lane->mean = lane->bins->integral / s->r.end_s;
    lane->total = lane->bins->integral;
    arrput(s->lanes, lane);
    return lane;
}

// Of all devices, the sum of a meter is their node's.
SUPPORT void scene_sum_nodes(scene *s, job_meter meter, double capacity)
{
    for (size_t n = 0; n < s->r.node_count; n++) {
        job_lane *sum = job_lane_make(meter, n, JOB_NONE);
        for (size_t i = 0; i < s->nodes[n].device_count; i++) {
            const job_lane *one = s->devices[s->nodes[n].first_device + i].lanes[meter];
            if (one) job_bins_join(sum->bins, one->bins);
        }
        sum->known_s = s->r.end_s;
        sum->total = sum->bins->integral;
        sum->mean = sum->total / s->r.end_s;
        sum->capacity = capacity;
        s->nodes[n].lanes[meter] = sum;
        arrput(s->lanes, sum);
    }
}

SUPPORT void scene_end(scene *s)
{
    job_findings_free(&s->r);
    for (size_t i = 0; i < arrlenu(s->lanes); i++)
        job_lane_free(s->lanes[i]);
    arrfree(s->lanes);
}

SUPPORT void scene_tell_number(char **text, const char *name, double value)
{
    if (!isnan(value)) text_append(text, " %s=%.3g", name, value);
}

// "watch nic-peers n2 cxi1 nodes=1 devices=1 network_sent=0.5 from=0.667 at=34.4-137: CLAIM / TITLE", where the title is
// another text; what is not known is left out.
SUPPORT char *scene_finding_text(const job_report *r, const job_finding *x)
{
    char *text = NULL;
    text_append(&text, "%s %s", severity_name(x->severity), x->rule);
    if (x->node != JOB_NONE) text_append(&text, " %s", r->nodes[x->node].name);
    if (x->device != JOB_NONE) text_append(&text, " %s", r->devices[x->device].name);
    text_append(&text, " nodes=%zu", x->nodes);
    if (x->devices) text_append(&text, " devices=%zu", x->devices);
    scene_tell_number(&text, x->meter < JOB_METERS ? job_meter_of(x->meter)->name : "value", x->value);
    scene_tell_number(&text, "beyond", x->threshold);
    text_append(&text, " at=%.1f-%.1f", x->from_s, x->to_s);
    scene_tell_number(&text, "cost", x->cost_s);
    scene_tell_number(&text, "lost", x->lost_s);
    scene_tell_number(&text, "sent", x->sent_ratio);
    scene_tell_number(&text, "cpu", x->cpu_ratio);
    scene_tell_number(&text, "gpu", x->gpu_ratio);
    scene_tell_number(&text, "power", x->power_ratio);
    if (*x->explained_by) text_append(&text, " by=%s", x->explained_by);
    if (x->incident) text_append(&text, " incident");
    text_append(&text, ": %s", x->claim);
    if (strcmp(x->claim, x->title) != 0) text_append(&text, " / %s", x->title);
    return text;
}

// All that was found, a line each, in order. `what` names the case.
SUPPORT void scene_expect(const scene *s, const char *what, const char *const *lines)
{
    size_t count = 0;
    while (lines[count])
        count++;
    for (size_t i = 0; i < s->r.finding_count || i < count; i++) {
        char *told = i < s->r.finding_count ? scene_finding_text(&s->r, &s->r.findings[i]) : memory_strdup("nothing");
        const char *expected = i < count ? lines[i] : "nothing";
        if (strcmp(told, expected) != 0) fail_msg("%s: %zu is\n%s\nnot\n%s", what, i, told, expected);
        free(told);
    }
}

#endif
