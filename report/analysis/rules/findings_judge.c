// A rule judged on every device.
#include "findings_making.h"

#include "analysis/base/stb_ds.h"

#include <math.h>
#include <string.h>

// ---- judging ----

static severity findings_judge(evaluation *e, const rule *x, double value)
{
    for (int s = SEVERITY_CRITICAL; s > SEVERITY_OK; s--)
        if (findings_crosses(&x->thresholds[s], value) && evaluate_condition(e, &x->thresholds[s].condition))
            return (severity)s;
    return SEVERITY_OK;
}

// ---- one rule on all devices ----

static findings_judgement findings_measure(findings_making *m, const rule *x, size_t device)
{
    findings_judgement j = {.value = {.status = READING_NONE}};
    evaluation_of(&m->e, x, device);
    reading needed = x->needs.root ? evaluate(&m->e, &x->needs) : (reading){.number = 1};
    j.value = evaluate(&m->e, &x->value);
    if (j.value.status != READING_NONE && needed.status) j.value = needed;
    if (!needed.status && needed.number == 0) j.value.status = READING_NONE; // too little to judge
    j.applies = j.value.status == READING_OK;
    return j;
}

// Where it happens: for spread(...) the device that has most.
static size_t findings_largest_device(findings_making *m, const rule *x)
{
    const expression *v = &x->value;
    const netprof_schema *schema = m->f->d->delta->schema;
    if (v->nodes[v->root].op != EXPRESSION_SPREAD) return DIFFERENCE_NONE;
    expression part = *v; // borrowed
    size_t best = DIFFERENCE_NONE;
    double most = 0;
    part.root = v->nodes[v->root].first;
    for (size_t i = 0; i < schema->device_count; i++) {
        if (!evaluation_applies(&m->e, x, i) || !(schema->devices[i].flags & NETPROF_DEVICE_PHYSICAL)) continue;
        evaluation_of(&m->e, x, i);
        reading r = evaluate(&m->e, &part);
        if (r.status || (best != DIFFERENCE_NONE && r.number <= most)) continue;
        best = i;
        most = r.number;
    }
    return best;
}

// A rule for all sources is about the network where its device is.
static bool findings_speaks_against_network(const findings *f, const finding *x)
{
    const char *source = x->rule->source;
    if (strcmp(source, "*") == 0 && x->device != DIFFERENCE_NONE)
        source = f->d->delta->schema->devices[x->device].source;
    return findings_is_network(source) && x->severity >= SEVERITY_WATCH &&
           x->rule->class_rank < rules_class_rank("utilisation");
}

// Seconds of the interval, NAN where the rule does not know.
static double findings_cost(findings_making *m, const rule *x)
{
    if (!x->cost.root) return NAN;
    reading share = evaluate(&m->e, &x->cost);
    const difference *d = m->f->d;
    int64_t elapsed = m->e.device == DIFFERENCE_NONE ? d->total.elapsed_ns : d->devices[m->e.device].elapsed_ns;
    return share.status || elapsed <= 0 ? NAN : fmin(fmax(share.number, 0), 1) * (double)elapsed / 1e9;
}

static void findings_add_finding(findings_making *m, const rule *x, size_t device, const findings_judgement *all,
                                 size_t count, severity s, const rule_threshold *crossed)
{
    findings *f = m->f;
    const netprof_schema *schema = f->d->delta->schema;
    finding made = {.rule = x,
                    .severity = s,
                    .device = device,
                    .value = m->e.value.number,
                    .cost_s = findings_cost(m, x),
                    .threshold = crossed};
    for (size_t i = 0; i < count; i++) {
        if (i == device || !all[i].applies || strcmp(schema->devices[i].source, schema->devices[device].source) != 0)
            continue;
        made.peers_min = made.peers ? fmin(made.peers_min, all[i].value.number) : all[i].value.number;
        made.peers_max = made.peers ? fmax(made.peers_max, all[i].value.number) : all[i].value.number;
        made.peers++;
    }
    findings_collect_evidence(m, &made);
    if (s >= m->least) findings_make_claim(m, &made);
    if (device == DIFFERENCE_NONE) made.device = findings_largest_device(m, x);
    arrput(f->items, made);
    f->count = arrlenu(f->items);
    m->e.losses += findings_speaks_against_network(f, &made);
}

static void findings_judge_one(findings_making *m, const rule *x, size_t device, const findings_judgement *all,
                               size_t count, bool background)
{
    const findings_judgement *own = device == DIFFERENCE_NONE ? all : &all[device];
    if (own->value.status >= READING_SKIPPED) {
        findings_add_unknown(m, x, device, own->value);
        findings_add_check(m, (finding_check){.rule = x, .device = device});
    }
    if (!own->applies) return;
    m->f->judged += strcmp(x->class_name, "data") != 0;
    evaluation_of(&m->e, x, device);
    m->e.value = own->value;
    severity s = findings_judge(&m->e, x, own->value.number);
    if (background && s) s = SEVERITY_INFO;
    findings_add_check(
        m, (finding_check){.rule = x, .device = device, .judged = true, .severity = s, .value = own->value.number});
    if (s)
        findings_add_finding(m, x, device, all, device == DIFFERENCE_NONE ? 0 : count, s,
                             background ? &x->background : &x->thresholds[s]);
}

// The rule's value moved alike (to 1 %) on three devices or more, and at no more than the rate that is let pass.
static bool findings_is_background(const findings_making *m, const rule *x, const findings_judgement *all, size_t count)
{
    double low = INFINITY, high = 0;
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (!all[i].applies) continue;
        double seconds = (double)m->f->d->devices[i].elapsed_ns / 1e9;
        if (!(seconds > 0) || !findings_crosses(&x->background, all[i].value.number / seconds)) return false;
        low = fmin(low, all[i].value.number);
        high = fmax(high, all[i].value.number);
        n++;
    }
    return n >= 3 && low > 0 && high <= low * 1.01;
}

static void findings_apply_to_node(findings_making *m, const rule *x, findings_judgement *place)
{
    const netprof_schema *schema = m->f->d->delta->schema;
    bool any = false;
    for (size_t i = 0; i < schema->device_count && !any; i++)
        any = evaluation_applies(&m->e, x, i);
    *place = any ? findings_measure(m, x, DIFFERENCE_NONE) : (findings_judgement){.value = {.status = READING_NONE}};
    findings_judge_one(m, x, DIFFERENCE_NONE, place, 1, false);
}

void findings_apply(findings_making *m, const rule *x, findings_judgement *all)
{
    const netprof_schema *schema = m->f->d->delta->schema;
    size_t first = m->f->count, judged = 0;
    if (x->per_node) {
        findings_apply_to_node(m, x, all);
        return;
    }
    for (size_t i = 0; i < schema->device_count; i++) {
        all[i] = evaluation_applies(&m->e, x, i) ? findings_measure(m, x, i)
                                                 : (findings_judgement){.value = {.status = READING_NONE}};
        judged += all[i].applies;
    }
    if (x->of_peers) {
        findings_judge_peers(m, x, all);
        return;
    }
    bool background = x->background.op != EXPRESSION_NUMBER && findings_is_background(m, x, all, schema->device_count);
    for (size_t i = 0; i < schema->device_count; i++)
        findings_judge_one(m, x, i, all, schema->device_count, background);
    findings_mark_alike(m, x, first, judged);
}
