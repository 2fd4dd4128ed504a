// Settings in which nodes of a job differ.
#include "job_findings_make.h"
#include "job_finding.h"

#include "analysis/base/words.h"

#include <stdlib.h>
#include <string.h>

static size_t job_settings_node(const job_report *r, const char *name)
{
    for (size_t i = 0; i < r->node_count; i++)
        if (strcmp(r->nodes[i].name, name) == 0) return i;
    return JOB_NONE;
}

static size_t job_settings_device(const job_report *r, size_t node, const node_settings_one *x)
{
    for (size_t i = 0; i < r->device_count && node != JOB_NONE; i++)
        if (r->devices[i].node == node && strcmp(r->devices[i].name, x->device) == 0 &&
            strcmp(r->devices[i].source, x->source) == 0)
            return i;
    return JOB_NONE;
}

static void job_settings_add(job_report *r, const node_settings_one *x)
{
    const rule *of = rules_find(r->reader->options->rules, "node-settings");
    job_finding made = job_finding_blank;
    bool alone = x->node != NODE_SETTINGS_NONE, whole = !*x->device;
    const char *node = alone ? r->reader->settings.names[x->node] : "";
    if (!of) return;
    made.severity = x->severity;
    made.class_rank = of->class_rank;
    made.rule = (char *)(uintptr_t)of->name;
    made.advice = (char *)(uintptr_t)of->advice;
    made.origin = (char *)(uintptr_t)of->thresholds[x->severity].origin;
    made.unit = (char *)(uintptr_t) "nodes";
    made.value = (double)x->nodes;
    made.threshold = 1;
    made.node = alone ? job_settings_node(r, node) : JOB_NONE;
    made.device = alone ? job_settings_device(r, made.node, x) : JOB_NONE;
    made.nodes = alone ? 1 : x->of;
    made.to_s = r->end_s;
    made.claim = alone ? memory_format("%s%s%s %s", node, whole ? "" : " ", whole ? "" : x->who, x->claim)
                       : memory_format("%s%s%s", whole ? "" : x->who, whole ? "" : ": ", x->claim);
    made.title = memory_strdup(made.claim);
    job_add_finding(r, made);
}

void job_find_settings(job_report *r)
{
    node_settings *s = &r->reader->settings;
    if (!r->reader->options->rules) return;
    node_settings_judge(s);
    for (size_t i = 0; i < arrlenu(s->found); i++)
        job_settings_add(r, &s->found[i]);
}
