// The rules' findings of each node, folded by rule.
#include "job_findings_make.h"
#include "job_finding.h"

#include "analysis/job/job_words.h"
#include "analysis/rules/findings_nodes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void job_node_finding_free(job_node_finding *x)
{
    char *texts[] = {x->rule, x->device, x->source, x->claim, x->advice, x->origin, x->unit, x->value_text, x->effect};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
}

// Drops a finding that another one covers. Its place in the list stays.
static void job_drop_finding(job_node_finding *x)
{
    job_node_finding_free(x);
    *x = (job_node_finding){.node = x->node};
}

// The events that a finding is about.
static void job_mark_events(job_report *r, const findings *f, const finding *x)
{
    for (size_t k = 0; k < x->evidence_count; k++) {
        if (x->evidence[k].counter == DIFFERENCE_NONE) continue;
        const netprof_schema *schema = f->d->delta->schema;
        const char *source = schema->devices[schema->counters[x->evidence[k].counter].device].source;
        for (size_t i = 0; i < r->event_count; i++) {
            job_event *e = &r->events[i];
            if (strcmp(e->counter, x->evidence[k].name) != 0 || strcmp(e->source, source) != 0) continue;
            if (x->severity > e->severity) e->severity = x->severity;
        }
    }
}

static void job_keep_finding(job_report *r, size_t node, const findings *f, const finding *x)
{
    char value[48];
    bool of_device = x->device != DIFFERENCE_NONE;
    job_node_finding new = {.node = node,
                            .severity = x->severity,
                            .class_rank = x->rule->class_rank,
                            .rule = memory_strdup(x->rule->name),
                            .device = memory_strdup(of_device ? finding_device(f, x) : ""),
                            .source = memory_strdup(of_device ? f->d->delta->schema->devices[x->device].source : ""),
                            .claim = memory_strdup(x->claim),
                            .advice = memory_strdup(x->rule->advice),
                            .origin = memory_strdup(x->threshold->origin),
                            .unit = memory_strdup(x->rule->unit),
                            .value_text = memory_strdup(finding_value_text(x, value, sizeof value)),
                            .value = x->value,
                            .threshold = x->threshold->value,
                            .is_pause = x->rule->is_pause};
    arrput(r->reader->found, new);
    job_mark_events(r, f, x);
}

// What the rules about faults found on each node, good or bad: that others have none is said of one that has. INFINITY: of a
// device it could not be judged.
static void job_keep_values(job_report *r, size_t node, const findings *f)
{
    job_rule_value *last = NULL;
    for (size_t i = 0; i < f->check_count; i++) {
        const finding_check *x = &f->checks[i];
        double value = x->judged ? x->value : INFINITY;
        if (!findings_is_of_faults(x->rule)) continue;
        if (last && last->rule == x->rule) {
            last->value = fmax(last->value, value);
            continue;
        }
        arrput(r->reader->rule_values, ((job_rule_value){x->rule, node, value}));
        last = &arrlast(r->reader->rule_values);
    }
}

// What could not be judged of a node, and matters: no good news without it.
static void job_keep_blind(job_report *r, size_t node, const findings *f)
{
    const finding_gap *gap = f->gap_count && f->gaps[0].matters ? &f->gaps[0] : NULL;
    char *claim = gap ? finding_gap_text(f, gap) : memory_strdup("no rule found its counters");
    job_node_finding new = {
        .node = node,
        .severity = SEVERITY_UNKNOWN,
        .class_rank = rules_class_rank("data"),
        .rule = memory_strdup("not-judged"),
        .device = memory_strdup(""),
        .source = memory_strdup(""),
        .claim = memory_format("could not be judged: %s", claim),
        .advice = memory_strdup("Give the recorder the right to read it, or see why it could not be read"),
        .origin = memory_strdup("what could not be read is not taken for good"),
        .unit = memory_strdup("checks"),
        .value_text = memory_strdup(""),
        .value = (double)f->unknown_checks,
        .threshold = 1};
    free(claim);
    arrput(r->reader->found, new);
}

// Once of each node: as it is at the end of its first run.
static void job_take_settings(job_report *r, size_t node, const netprof_schema *schema)
{
    node_settings *s = &r->reader->settings;
    for (size_t i = 0; i < arrlenu(s->names); i++)
        if (strcmp(s->names[i], r->nodes[node].name) == 0) return;
    node_settings_add(s, r->nodes[node].name, schema);
}

static void job_take_kinds(job_report *r, size_t node, const difference *d)
{
    const netprof_schema *schema = d->delta->schema;
    for (size_t i = 0; i < r->device_count; i++) {
        job_device *own = &r->devices[i];
        for (size_t k = 0; own->node == node && k < schema->device_count; k++) {
            if (strcmp(schema->devices[k].name, own->name) != 0 || strcmp(schema->devices[k].source, own->source) != 0)
                continue;
            free(own->alike);
            own->alike = findings_alike_key(d, k);
        }
    }
}

void job_judge_node(job_report *r, size_t node, const dataset *set)
{
    difference d = {0};
    findings f = {0};
    netprof_error own;
    if (difference_of_dataset(&d, set, true, &own))
        job_warn(r, set->runs[0].path, "%s", own.text);
    else
        findings_make_from(&f, &d, r->reader->options->rules, SEVERITY_WATCH);
    if (d.delta) job_take_settings(r, node, d.delta->schema);
    if (d.delta) job_take_kinds(r, node, &d);
    for (size_t i = 0; i < f.count; i++)
        if (f.items[i].severity >= SEVERITY_WATCH && strcmp(f.items[i].rule->name, "job-failed") != 0 &&
            !job_is_of_peers(f.items[i].rule->name)) // it knows more
            job_keep_finding(r, node, &f, &f.items[i]);
    if (f.is_blind) job_keep_blind(r, node, &f);
    job_keep_values(r, node, &f);
    r->reader->judged += f.judged;
    r->reader->unknown += f.unknown_count;
    findings_free(&f);
    difference_free(&d);
}

// Of what the node has once, or the job, its name says nothing that the node's does not.
static bool job_is_telling(const job_node_finding *x)
{
    return *x->device && strcmp(x->source, x->device) != 0 && !findings_source_is_whole(x->source);
}

// Who waits on a busy node? What the job itself has to do with it is known where its processes were followed: how long
// its own threads waited (which the rule runqueue-wait judges), else how much of the node's work is its own. What others
// wait for is context.
static void job_weigh_pressure(job_report *r)
{
    static const double works = 0.10; // own
    for (size_t i = 0; i < arrlenu(r->reader->found); i++) {
        job_node_finding *x = &r->reader->found[i];
        const job_node *node = &r->nodes[x->node];
        const job_lane *own = node->lanes[JOB_CPU], *all = node->lanes[JOB_NODE_CPU];
        if (!x->rule || strcmp(x->rule, "cpu-pressure") != 0 || !own) continue;
        if (node->scope[JOB_CPU] != JOB_SCOPE_JOB && node->scope[JOB_CPU] != JOB_SCOPE_GROUP) continue;
        bool known = !isnan(r->reader->nodes[x->node].waited_s),
             others = known || (all && own->mean < works * all->mean);
        bool told = false; // better
        for (size_t k = 0; k < arrlenu(r->reader->found); k++) {
            const job_node_finding *y = &r->reader->found[k];
            told |= y->rule && y->node == x->node && strcmp(y->rule, "runqueue-wait") == 0;
        }
        if (!others && !told) continue;
        if (!told) r->reader->nodes[x->node].others_wait = x->value;
        job_drop_finding(x);
    }
}

static size_t job_finding_device(const job_report *r, const job_node_finding *x)
{
    const job_node *node = &r->nodes[x->node];
    for (size_t i = node->first_device; i < node->first_device + node->device_count; i++)
        if (strcmp(r->devices[i].name, x->device) == 0 && strcmp(r->devices[i].source, x->source) == 0) return i;
    return JOB_NONE;
}

// The findings of one rule on all nodes.
typedef struct alike {
    const job_node_finding *worst;
    size_t nodes, places;
} alike;

static bool job_is_alike(const job_node_finding *x, const job_node_finding *y)
{
    return x->rule && strcmp(x->rule, y->rule) == 0;
}

// What caused an incident is more than what did not.
static bool job_is_worse(const job_node_finding *x, const job_node_finding *y)
{
    if (!x->effect != !y->effect) return x->effect != NULL;
    if (x->effect && x->effect_cost_s != y->effect_cost_s) return x->effect_cost_s > y->effect_cost_s;
    return x->severity > y->severity;
}

static alike job_count_alike(job_report *r, size_t first)
{
    const job_node_finding *all = r->reader->found;
    alike a = {.worst = &all[first]};
    size_t last = JOB_NONE;
    for (size_t i = first; i < arrlenu(r->reader->found); i++) {
        if (!job_is_alike(&all[i], &all[first])) continue;
        job_node *node = &r->nodes[all[i].node];
        if (job_is_worse(&all[i], a.worst)) a.worst = &all[i];
        if (all[i].severity > node->severity) node->severity = all[i].severity;
        a.nodes += all[i].node != last;
        last = all[i].node;
        a.places++;
    }
    return a;
}

// "; none on the 7 other nodes" where one node alone has it; "" else.
static char *job_others_text(const job_report *r, const alike *a)
{
    const rule *x = r->reader->options->rules ? rules_find(r->reader->options->rules, a->worst->rule) : NULL;
    double *others = memory_calloc(r->node_count + 1, sizeof *others);
    size_t own = a->worst->node;
    char *text = NULL;
    for (size_t i = 0; i < r->node_count; i++)
        others[i] = NAN;
    for (size_t i = 0; i < arrlenu(r->reader->rule_values); i++) {
        const job_rule_value *v = &r->reader->rule_values[i];
        if (v->rule == x) others[v->node] = fmax(others[v->node], v->value);
    }
    if (x && a->nodes == 1 && r->node_count > 1) {
        others[own] = others[r->node_count - 1];
        text = findings_others_text(x, a->worst->value, others, r->node_count - 1);
    }
    free(others);
    return text ? text : memory_strdup("");
}

static job_finding job_folded_finding(const job_report *r, const alike *a)
{
    char who[300], more[64] = "";
    const job_node_finding *worst = a->worst;
    const char *node = r->nodes[worst->node].name, *device = job_is_telling(worst) ? worst->device : "";
    const char *shown = a->nodes > 1 ? "" : device; // of several nodes no device is named
    if (a->places > 1 && a->nodes == 1 && *device) snprintf(more, sizeof more, " and %zu more", a->places - 1);
    job_finding made = job_finding_blank;
    made.severity = worst->effect_severity > worst->severity ? worst->effect_severity : worst->severity;
    if (worst->effect) made.cost_s = worst->effect_cost_s;
    made.class_rank = worst->class_rank;
    made.rule = worst->rule;
    made.advice = worst->advice;
    made.origin = worst->origin;
    made.unit = worst->unit;
    made.value = worst->value;
    made.threshold = worst->threshold;
    made.node = worst->node;
    made.device = job_finding_device(r, worst);
    made.nodes = a->nodes;
    made.to_s = r->end_s;
    char *others = job_others_text(r, a);
    made.claim =
        memory_format("%s%s%s%s: %s%s%s%s", job_nodes_text(who, sizeof who, node, a->nodes), *shown ? " " : "", shown,
                      more, worst->claim, others, worst->effect ? "; " : "", worst->effect ? worst->effect : "");
    free(others);
    made.title = memory_format("%s%s%s: %s", node, *device ? " " : "", device, worst->claim);
    return made;
}

// The same rule on other nodes is one finding: of the worst.
static void job_fold_rule(job_report *r, size_t first)
{
    job_node_finding *all = r->reader->found;
    if (!all[first].rule) return;
    alike a = job_count_alike(r, first);
    job_add_finding(r, job_folded_finding(r, &a));
    for (size_t i = arrlenu(r->reader->found); i-- > first;) // the first, by whose rule they are found, last
        if (job_is_alike(&all[i], &all[first])) job_drop_finding(&all[i]);
}

// Is the rule one of the words?
static bool job_covers(const char *words, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = words; (at = strstr(at, name)); at += n)
        if ((at == words || at[-1] == ' ') && (!at[n] || at[n] == ' ')) return true;
    return false;
}

// Does an incident tell of the same? Then it is as bad as the whole time, but where the program paused by itself.
static bool job_told_by_incident(job_report *r, const job_node_finding *x)
{
    size_t device = x->rule ? job_finding_device(r, x) : JOB_NONE;
    for (size_t i = 0; i < arrlenu(r->reader->told) && device != JOB_NONE; i++) {
        job_finding *told = &r->findings[r->reader->told[i].finding];
        if (r->reader->told[i].device != device) continue;
        const char *covers = job_watch_of(told->meter)->covers;
        bool pause = x->is_pause && told->meter == JOB_PAUSED;
        if (!pause && !job_covers(covers, x->rule)) continue;
        if (told->severity >= SEVERITY_WATCH && x->severity > told->severity) told->severity = x->severity;
        return true;
    }
    return false;
}

void job_fold_rules(job_report *r)
{
    job_weigh_pressure(r);
    for (size_t i = 0; i < arrlenu(r->reader->found); i++) {
        job_node_finding *x = &r->reader->found[i];
        if (job_told_by_incident(r, x)) job_drop_finding(x);
    }
    for (size_t i = 0; i < arrlenu(r->reader->found); i++)
        job_fold_rule(r, i);
}
