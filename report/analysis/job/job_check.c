#include "job_check.h"
#include "job_store.h"
#include "job_words.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <stdlib.h>
#include <string.h>

void job_check_free(job_check *c)
{
    for (size_t i = 0; i < arrlenu(c->rules); i++)
        free(c->rules[i]);
    arrfree(c->rules);
}

size_t job_check_node(const job_report *r, const dataset_run *run)
{
    const netprof_schema *schema = run->snapshot_count ? run->snapshots[0].schema : NULL;
    const char *name = job_fact_of(run, schema, "node"), *host = job_fact_of(run, schema, "host");
    if (!name || !*name) name = host;
    for (size_t i = 0; i < r->node_count && name; i++)
        if (strcmp(r->nodes[i].name, name) == 0) return i;
    return JOB_NONE;
}

static bool job_check_is_of_table(const rules *set, const char *name)
{
    for (size_t i = 0; i < set->count; i++)
        if (strcmp(set->items[i]->name, name) == 0) return true;
    return false;
}

static size_t job_check_device(const findings *f, const job_report *r, const job_finding *x)
{
    const netprof_schema *schema = f->d->delta->schema;
    for (size_t i = 0; i < schema->device_count && x->device != JOB_NONE; i++)
        if (strcmp(schema->devices[i].name, r->devices[x->device].name) == 0 &&
            strcmp(schema->devices[i].source, r->devices[x->device].source) == 0)
            return i;
    return DIFFERENCE_NONE;
}

// A rule with one threshold, as the tables would have it.
static const rule *job_check_rule(job_check *c, const job_finding *x)
{
    rule *made = memory_calloc(1, sizeof *made);
    made->name = x->rule;
    made->class_name = rules_class_name(x->class_rank);
    made->class_rank = x->class_rank;
    made->source = "*";
    made->unit = x->unit;
    made->advice = x->advice;
    made->explained_by = "";
    made->per_node = x->device == JOB_NONE;
    bool low = x->value < x->threshold;
    made->thresholds[x->severity] = (rule_threshold){
        .op = low ? EXPRESSION_LESS : EXPRESSION_GREATER_EQUAL, .value = x->threshold, .origin = x->origin};
    arrput(c->rules, made);
    return made;
}

static finding job_check_finding(job_check *c, const findings *f, const job_report *r, const job_finding *x)
{
    const rule *made = job_check_rule(c, x);
    bool of_all = x->devices > 1 && x->device == JOB_NONE; // and none alone
    return (finding){.rule = made,
                     .subject = of_all ? memory_strdup(x->meter == JOB_GPU_THROTTLED ? "GPUs" : "network") : NULL,
                     .of_nodes = x->node == JOB_NONE ? x->nodes : 0,
                     .of_devices = of_all ? x->devices : 0,
                     .severity = x->severity,
                     .device = job_check_device(f, r, x),
                     .value = x->value,
                     .cost_s = x->cost_s,
                     .claim = memory_strdup(x->claim),
                     .threshold = &made->thresholds[x->severity],
                     .explained_by = *x->explained_by ? memory_strdup(x->explained_by) : NULL};
}

static const job_finding *job_check_told(const job_report *r, const char *name)
{
    for (size_t i = 0; i < r->finding_count; i++)
        if (strcmp(r->findings[i].rule, name) == 0) return &r->findings[i];
    return NULL;
}

// Of a table's rule: the run's own findings, with the severity that the job gives the worst of them.
static void job_check_move(finding **to, findings *f, bool *done, const job_report *r, const job_finding *x,
                           size_t node)
{
    size_t device = job_check_device(f, r, x);
    for (size_t i = 0; i < f->count; i++) {
        finding *own = &f->items[i];
        if (done[i] || own->severity < SEVERITY_WATCH || strcmp(own->rule->name, x->rule) != 0) continue;
        bool same = x->node == node && (device == DIFFERENCE_NONE || own->device == device);
        if (same && x->severity > own->severity) own->severity = x->severity;
        done[i] = true;
        arrput(*to, *own);
    }
}

static void job_check_drop(finding *x)
{
    free(x->claim);
    free(x->subject);
    free(x->explained_by);
}

void job_check_add(job_check *c, findings *f, const job_report *r, size_t node, const rules *set)
{
    finding *items = NULL;
    bool *done = memory_calloc(f->count + 1, sizeof *done);
    for (size_t i = 0; i < r->finding_count; i++) {
        const job_finding *x = &r->findings[i];
        if (strcmp(x->rule, "not-judged") == 0) continue; // said by the findings themselves
        if (job_check_is_of_table(set, x->rule) && !job_is_of_peers(x->rule))
            job_check_move(&items, f, done, r, x, node);
        else if (x->node == node || (x->node == JOB_NONE && node == 0))
            arrput(items, job_check_finding(c, f, r, x));
    }
    for (size_t i = 0; i < f->count; i++) {
        if (done[i]) continue;
        if (job_is_of_peers(f->items[i].rule->name)) { // the samples tell it better
            job_check_drop(&f->items[i]);
            continue;
        }
        // The job tells of it by what happened from when to when, or knows that it was not its own.
        if (f->items[i].severity >= SEVERITY_WATCH && !job_check_told(r, f->items[i].rule->name))
            f->items[i].severity = SEVERITY_INFO;
        arrput(items, f->items[i]);
    }
    free(done);
    findings_replace(f, items);
}
