#include "findings.h"

#include "evaluate.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/text.h"
#include "analysis/base/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Bytes per second in and out, and the largest share of a line, over the physical devices.
typedef struct load {
    double rate[2], share;
    size_t devices, idle;
    bool is_whole; // the share is that of all: no port that carried anything is without a known rate and speed
} load;

typedef struct maker {
    findings *f;
    evaluation e;
    load load;
} maker;

// ---- judging ----

static bool findings_crosses(const rule_threshold *t, double value)
{
    switch (t->op) {
    case EXPRESSION_GREATER: return value > t->value;
    case EXPRESSION_GREATER_EQUAL: return value >= t->value;
    case EXPRESSION_LESS: return value < t->value;
    case EXPRESSION_LESS_EQUAL: return value <= t->value;
    default: return false;
    }
}

static severity findings_judge(evaluation *e, const rule *x, double value)
{
    for (int s = SEVERITY_CRITICAL; s > SEVERITY_OK; s--)
        if (findings_crosses(&x->thresholds[s], value) && evaluate_condition(e, &x->thresholds[s].condition))
            return (severity)s;
    return SEVERITY_OK;
}

static void findings_add_unknown(maker *m, const rule *x, size_t device, reading r)
{
    findings *f = m->f;
    finding_unknown made = {x, device, r.counter, r.reason ? r.reason : "unknown"};
    arrput(f->unknown, made);
    f->unknown_count = arrlenu(f->unknown);
}

static void findings_add_check(maker *m, finding_check check)
{
    findings *f = m->f;
    arrput(f->checks, check);
    f->check_count = arrlenu(f->checks);
}

// ---- evidence ----

typedef struct collector {
    const maker *m;
    finding *x;
    bool silent; // also counters that did not move
} collector;

static void findings_add_evidence(collector *c, finding_evidence item)
{
    finding *x = c->x;
    for (size_t i = 0; i < x->evidence_count; i++)
        if (x->evidence[i].counter == item.counter && strcmp(x->evidence[i].name, item.name) == 0) return;
    if (x->evidence_count < FINDINGS_EVIDENCE) x->evidence[x->evidence_count++] = item;
}

static void findings_collect_counter(void *user, size_t i)
{
    collector *c = user;
    const netprof_delta *delta = c->m->f->d->delta;
    const difference_row *row = &c->m->f->d->rows[i];
    bool gauge = row->flag == NETPROF_FLAG_GAUGE;
    uint64_t value = gauge ? delta->after[i] : row->magnitude;
    if (!row->compared || (!value && !c->silent)) return;
    findings_add_evidence(c, (finding_evidence){.name = delta->schema->counters[i].name,
                                                .unit = row->unit,
                                                .counter = i,
                                                .gauge = gauge,
                                                .number = row->negative && !gauge ? -(double)value : (double)value,
                                                .value = value});
}

static void findings_collect_fact(void *user, const char *fact, double number)
{
    findings_add_evidence(
        user,
        (finding_evidence){.name = fact, .unit = "", .counter = DIFFERENCE_NONE, .gauge = true, .number = number});
}

// Counters that moved; if none did, those that did not.
static void findings_collect_evidence(maker *m, finding *x)
{
    collector c = {.m = m, .x = x};
    for (int pass = 0; pass < 2 && !x->evidence_count; pass++) {
        c.silent = pass == 1;
        evaluation_facts(&m->e, &x->rule->value, findings_collect_fact, &c);
        evaluation_counters(&m->e, &x->rule->value, findings_collect_counter, &c);
        evaluation_counters(&m->e, &x->rule->evidence, findings_collect_counter, &c);
    }
}

// ---- claims ----

// No peer comes near: at most half of it, or on the good side of the threshold.
static bool findings_is_outlier(const finding *x)
{
    bool small = x->threshold->op == EXPRESSION_LESS || x->threshold->op == EXPRESSION_LESS_EQUAL;
    double nearest = small ? x->peers_min : x->peers_max;
    if (!x->peers || (small ? nearest <= x->value : nearest >= x->value)) return false;
    return !findings_crosses(x->threshold, nearest) || (small ? nearest > 2 * x->value : 2 * nearest < x->value);
}

// The format of the claim's first number that is the value itself, for the peers' range.
static const char *findings_value_format(const rule *x)
{
    for (size_t i = 0; i < x->part_count; i++) {
        const expression *n = &x->claim[i].number;
        if (n->root && n->nodes[n->root].op == EXPRESSION_VARIABLE && n->nodes[n->root].index == EXPRESSION_VALUE)
            return x->claim[i].format;
    }
    return NULL;
}

const char *finding_number_text(const rule *x, double value, char *text, size_t size)
{
    const char *format = findings_value_format(x);
    return format ? rules_format(text, size, format, value) : "";
}

const char *finding_value_text(const finding *x, char *text, size_t size)
{
    return finding_number_text(x->rule, x->value, text, size);
}

static void findings_append_peers(finding *x)
{
    char low[32], high[32];
    const char *format = findings_value_format(x->rule);
    if (!format || !findings_is_outlier(x)) return;
    rules_format(low, sizeof low, format, x->peers_min);
    rules_format(high, sizeof high, format, x->peers_max);
    if (strcmp(low, high) == 0)
        text_append(&x->claim, "; %s %s", words_noun(x->peers, "its peer|its peers").text, low);
    else
        text_append(&x->claim, "; its peers %s to %s", low, high);
}

static void findings_make_claim(maker *m, finding *x)
{
    for (size_t i = 0; i < x->rule->part_count; i++) {
        const rule_part *part = &x->rule->claim[i];
        char text[32] = "?";
        text_append(&x->claim, "%s", part->text);
        if (!part->number.root) continue;
        reading r = evaluate(&m->e, &part->number);
        text_append(&x->claim, "%s", r.status ? "?" : rules_format(text, sizeof text, part->format, r.number));
    }
    if (!x->rule->part_count) {
        char text[32];
        text_append(&x->claim, "%s: %s%s%s", x->rule->name, rules_format(text, sizeof text, "", x->value),
                    *x->rule->unit ? " " : "", x->rule->unit);
    }
    findings_append_peers(x);
}

// ---- the node's traffic ----

// NAN: it has no such counter, or it has no value.
static double findings_role_rate(const maker *m, size_t device, uint32_t role)
{
    const netprof_device *dev = &m->f->d->delta->schema->devices[device];
    double most = NAN;
    for (size_t i = dev->first; i < (size_t)dev->first + dev->count; i++) {
        const difference_row *row = &m->f->d->rows[i];
        if (row->entry && row->entry->marks & role) most = fmax(most, row->rate_per_s);
    }
    return most;
}

static bool findings_has_role(const maker *m, size_t device)
{
    const netprof_device *dev = &m->f->d->delta->schema->devices[device];
    bool found = false;
    for (size_t i = dev->first; i < (size_t)dev->first + dev->count; i++) {
        const difference_row *row = &m->f->d->rows[i];
        found |= row->entry && row->entry->marks & (CATALOG_RX_BYTES | CATALOG_TX_BYTES);
    }
    return found;
}

static load findings_weigh(const maker *m)
{
    load l = {.share = 0, .is_whole = true};
    const netprof_schema *schema = m->f->d->delta->schema;
    for (size_t i = 0; i < schema->device_count; i++) {
        if (!(schema->devices[i].flags & NETPROF_DEVICE_PHYSICAL) || evaluation_counts_again(&m->e, i)) continue;
        double in = findings_role_rate(m, i, CATALOG_RX_BYTES), out = findings_role_rate(m, i, CATALOG_TX_BYTES);
        double speed = evaluation_speed(&m->e, i);
        if (findings_has_role(m, i)) l.is_whole &= !isnan(in) && !isnan(out) && (speed > 0 || in + out <= 0);
        if (isnan(in) && isnan(out)) continue;
        l.rate[0] += isnan(in) ? 0 : in;
        l.rate[1] += isnan(out) ? 0 : out;
        l.devices++;
        if (speed > 0) l.share = fmax(l.share, 8 * fmax(in, out) / speed);
        l.idle += speed > 0 && 8 * fmax(in, out) / speed < 0.001;
    }
    return l;
}

// ---- one rule on all devices ----

typedef struct judgement {
    reading value;
    bool applies;
} judgement;

static judgement findings_measure(maker *m, const rule *x, size_t device)
{
    judgement j = {.value = {.status = READING_NONE}};
    evaluation_of(&m->e, x, device);
    reading needed = x->needs.root ? evaluate(&m->e, &x->needs) : (reading){.number = 1};
    j.value = evaluate(&m->e, &x->value);
    if (j.value.status != READING_NONE && needed.status) j.value = needed;
    if (!needed.status && needed.number == 0) j.value.status = READING_NONE; // too little to judge
    j.applies = j.value.status == READING_OK;
    return j;
}

// Where it happens: for spread(...) the device that has most.
static size_t findings_largest_device(maker *m, const rule *x)
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
    return expression_is_source(source, strlen(source)) && x->severity >= SEVERITY_WATCH &&
           x->rule->class_rank < rules_class_rank("utilisation");
}

static void findings_add_finding(maker *m, const rule *x, size_t device, const judgement *all, size_t count, severity s)
{
    findings *f = m->f;
    const netprof_schema *schema = f->d->delta->schema;
    finding made = {
        .rule = x, .severity = s, .device = device, .value = m->e.value.number, .threshold = &x->thresholds[s]};
    for (size_t i = 0; i < count; i++) {
        if (i == device || !all[i].applies || strcmp(schema->devices[i].source, schema->devices[device].source) != 0)
            continue;
        made.peers_min = made.peers ? fmin(made.peers_min, all[i].value.number) : all[i].value.number;
        made.peers_max = made.peers ? fmax(made.peers_max, all[i].value.number) : all[i].value.number;
        made.peers++;
    }
    findings_collect_evidence(m, &made);
    findings_make_claim(m, &made);
    if (device == DIFFERENCE_NONE) made.device = findings_largest_device(m, x);
    arrput(f->items, made);
    f->count = arrlenu(f->items);
    m->e.losses += findings_speaks_against_network(f, &made);
}

static void findings_judge_one(maker *m, const rule *x, size_t device, const judgement *all, size_t count)
{
    const judgement *own = device == DIFFERENCE_NONE ? all : &all[device];
    if (own->value.status >= READING_SKIPPED) {
        findings_add_unknown(m, x, device, own->value);
        findings_add_check(m, (finding_check){.rule = x, .device = device});
    }
    if (!own->applies) return;
    m->f->judged += strcmp(x->class_name, "data") != 0;
    evaluation_of(&m->e, x, device);
    m->e.value = own->value;
    severity s = findings_judge(&m->e, x, own->value.number);
    findings_add_check(
        m, (finding_check){.rule = x, .device = device, .judged = true, .severity = s, .value = own->value.number});
    if (s) findings_add_finding(m, x, device, all, device == DIFFERENCE_NONE ? 0 : count, s);
}

// Moved alike on three devices or more.
static bool findings_is_background(const judgement *all, size_t count)
{
    double low = INFINITY, high = 0;
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (!all[i].applies) continue;
        low = fmin(low, all[i].value.number);
        high = fmax(high, all[i].value.number);
        n++;
    }
    return n >= 3 && low > 0 && high <= low * 1.01;
}

static void findings_apply(maker *m, const rule *x, judgement *all)
{
    const netprof_schema *schema = m->f->d->delta->schema;
    if (x->per_node) {
        bool any = false;
        for (size_t i = 0; i < schema->device_count && !any; i++)
            any = evaluation_applies(&m->e, x, i);
        all[0] = any ? findings_measure(m, x, DIFFERENCE_NONE) : (judgement){.value = {.status = READING_NONE}};
        findings_judge_one(m, x, DIFFERENCE_NONE, all, 1);
        return;
    }
    for (size_t i = 0; i < schema->device_count; i++)
        all[i] = evaluation_applies(&m->e, x, i) ? findings_measure(m, x, i)
                                                 : (judgement){.value = {.status = READING_NONE}};
    bool background = x->background && findings_is_background(all, schema->device_count);
    for (size_t i = 0; i < schema->device_count && background; i++)
        if (all[i].applies)
            findings_add_check(m,
                               (finding_check){.rule = x, .device = i, .judged = true, .value = all[i].value.number});
    for (size_t i = 0; i < schema->device_count && !background; i++)
        findings_judge_one(m, x, i, all, schema->device_count);
}

// ---- causes and order ----

static bool findings_names_rule(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = list; (at = strstr(at, name)); at += n)
        if ((at == list || strchr(" ,;", at[-1])) && (!at[n] || strchr(" ,;", at[n]))) return true;
    return false;
}

bool findings_source_is_whole(const char *source)
{
    static const char *const names[] = {"process", "cgroup", "memory", "pressure", "perf", "self"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(source, names[i]) == 0) return true;
    return false;
}

// A finding on the job or the node as a whole, or on its cores, can be a cause anywhere on it.
static bool findings_is_everywhere(const maker *m, size_t device)
{
    if (device == DIFFERENCE_NONE) return true;
    const char *source = m->f->d->delta->schema->devices[device].source;
    return strcmp(source, "cpu") == 0 || findings_source_is_whole(source);
}

static void findings_explain(maker *m, finding *x)
{
    if (!*x->rule->explained_by) return;
    for (size_t i = 0; i < m->f->count; i++) {
        const finding *cause = &m->f->items[i];
        bool here = findings_is_everywhere(m, cause->device) || x->device == DIFFERENCE_NONE ||
                    evaluation_linked(&m->e, cause->device, x->device);
        if (cause == x || cause->severity < SEVERITY_WATCH || !here) continue;
        if (!findings_names_rule(x->rule->explained_by, cause->rule->name)) continue;
        if (x->explained_by && findings_names_rule(x->explained_by, cause->rule->name)) continue;
        text_append(&x->explained_by, "%s%s", x->explained_by ? ", " : "", cause->rule->name);
    }
}

typedef struct order_key {
    const finding *x;
    size_t rule, device;
} order_key;

static int findings_compare_findings(const void *a, const void *b)
{
    const order_key *p = a, *q = b;
    const finding *x = p->x, *y = q->x;
    if (x->severity != y->severity) return x->severity > y->severity ? -1 : 1;
    if (!x->explained_by != !y->explained_by) return !x->explained_by ? -1 : 1;
    if (x->rule->class_rank != y->rule->class_rank) return x->rule->class_rank < y->rule->class_rank ? -1 : 1;
    if (p->rule != q->rule) return p->rule < q->rule ? -1 : 1;
    bool small = x->threshold->op == EXPRESSION_LESS || x->threshold->op == EXPRESSION_LESS_EQUAL;
    if (x->value > y->value || x->value < y->value) return (x->value > y->value) == small ? 1 : -1;
    return p->device < q->device ? -1 : p->device > q->device;
}

static void findings_sort(findings *f, const rules *set)
{
    order_key *keys = NULL;
    finding *sorted = NULL;
    for (size_t i = 0; i < f->count; i++) {
        size_t r = 0;
        while (set->items[r] != f->items[i].rule)
            r++;
        arrput(keys, ((order_key){&f->items[i], r, f->items[i].device}));
    }
    if (f->count) qsort(keys, f->count, sizeof *keys, findings_compare_findings);
    for (size_t i = 0; i < f->count; i++)
        arrput(sorted, *keys[i].x);
    arrfree(f->items);
    f->items = sorted;
    arrfree(keys);
}

// ---- background ----

static bool findings_is_trouble(const difference_row *row, const char *name)
{
    static const char *const words[] = {"error", "drop", "reject", "discard"};
    if (row->entry && row->entry->marks & (CATALOG_CLOCK_ONLY | CATALOG_UNUSABLE)) return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(name, words[i])) return true;
    return false;
}

static bool findings_is_evidence(const findings *f, const char *name)
{
    for (size_t i = 0; i < f->count; i++)
        for (size_t k = 0; k < f->items[i].evidence_count; k++)
            if (strcmp(f->items[i].evidence[k].name, name) == 0) return true;
    return false;
}

// The counter with this name on all physical devices of the source: alike to 1 %, or by one event.
static void findings_look_behind(maker *m, size_t counter)
{
    findings *f = m->f;
    const netprof_schema *schema = f->d->delta->schema;
    const char *name = schema->counters[counter].name,
               *source = schema->devices[schema->counters[counter].device].source;
    finding_background b = {.source = source,
                            .counter = name,
                            .unit = f->d->rows[counter].unit,
                            .min = UINT64_MAX,
                            .rate_per_s = f->d->rows[counter].rate_per_s};
    for (size_t i = 0; i < schema->device_count; i++) {
        if (strcmp(schema->devices[i].source, source) != 0 || !(schema->devices[i].flags & NETPROF_DEVICE_PHYSICAL))
            continue;
        size_t c = evaluation_counter(&m->e, i, name);
        uint64_t value = c == DIFFERENCE_NONE ? 0 : f->d->rows[c].magnitude;
        if (!value || f->d->rows[c].flag != NETPROF_FLAG_OK) return;
        if (value < b.min) b.min = value;
        if (value > b.max) b.max = value;
        b.devices++;
    }
    double slack = b.min >= 5 ? fmax(1, 0.01 * (double)b.min) : 0;
    if (b.devices < 3 || (double)(b.max - b.min) > slack || findings_is_evidence(f, name)) return;
    arrput(f->background, b);
    f->background_count = arrlenu(f->background);
}

// Each name once: asked of the first physical device of each source.
static void findings_find_background(maker *m)
{
    const netprof_schema *schema = m->f->d->delta->schema;
    const char *last = "";
    for (size_t i = 0; i < schema->device_count; i++) {
        const netprof_device *dev = &schema->devices[i];
        if (!(dev->flags & NETPROF_DEVICE_PHYSICAL) || strcmp(dev->source, last) == 0) continue;
        last = dev->source;
        for (size_t c = dev->first; c < (size_t)dev->first + dev->count; c++)
            if (m->f->d->rows[c].magnitude && m->f->d->rows[c].flag == NETPROF_FLAG_OK &&
                findings_is_trouble(&m->f->d->rows[c], schema->counters[c].name))
                findings_look_behind(m, c);
    }
}

// ---- the verdict ----

static void findings_append_load(char **text, const load *l)
{
    if (!l->devices) return;
    text_append(text, "%s/s in, %s/s out on %s", words_quantity(8 * l->rate[0], "b").text,
                words_quantity(8 * l->rate[1], "b").text, words_many(l->devices, "port").text);
    if (l->share > 0) text_append(text, ", at most %s of a line", words_share(l->share).text);
}

// How many devices have this finding, and how many findings there are besides.
static size_t findings_alike(const findings *f, const finding *x, size_t *others)
{
    size_t count = 0;
    *others = 0;
    for (size_t i = 0; i < f->count; i++) {
        bool same = f->items[i].rule == x->rule && f->items[i].severity == x->severity;
        count += same;
        *others += !same && f->items[i].severity >= SEVERITY_WATCH;
    }
    return count;
}

static void findings_append_worst(findings *f)
{
    const finding *x = &f->items[0];
    size_t others, same = findings_alike(f, x, &others);
    text_append(&f->verdict, "%s", finding_device(f, x));
    if (same == 2) text_append(&f->verdict, " and another");
    if (same > 2) text_append(&f->verdict, " and %zu others", same - 1);
    text_append(&f->verdict, ": %s", x->claim ? x->claim : "");
    if (others) text_append(&f->verdict, " (and %s)", words_many(others, "more finding").text);
}

static void findings_conclude(maker *m)
{
    static const char *const begins[SEVERITIES] = {"", "", "Worth watching: ", "Warning: ", "Serious: ", "Critical: "};
    findings *f = m->f;
    const load *l = &m->load;
    bool idle = l->devices && l->idle == l->devices;
    f->severity = f->count ? f->items[0].severity : SEVERITY_OK;
    if (!f->judged) {
        f->severity = SEVERITY_WATCH;
        text_append(&f->verdict, "Nothing could be judged: no rule found its counters");
    } else if (f->severity <= SEVERITY_WATCH) {
        text_append(&f->verdict, idle ? "Nearly idle, no fault found" : "No fault found");
        if (l->devices) text_append(&f->verdict, ": ");
        findings_append_load(&f->verdict, l);
        if (idle) text_append(&f->verdict, ": too little traffic to judge performance");
        if (f->severity == SEVERITY_WATCH) {
            text_append(&f->verdict, "; worth watching: ");
            findings_append_worst(f);
        }
    } else {
        text_append(&f->verdict, "%s", begins[f->severity]);
        findings_append_worst(f);
    }
    if (f->judged && f->unknown_count)
        text_append(&f->verdict, "; %s could not be made", words_many(f->unknown_count, "check").text);
}

// ---- all ----

void findings_make(findings *f, const difference *d, const rules *set)
{
    findings_make_pair(f, d, NULL, set);
}

void findings_make_pair(findings *f, const difference *d, const findings_far *far, const rules *set)
{
    findings_free(f);
    f->d = d;
    maker m = {.f = f};
    evaluation other = {0};
    // A rule about the node as a whole uses the first place even where there are no devices.
    judgement *all = memory_calloc(d->delta->schema->device_count + 1, sizeof *all);
    evaluation_begin(&m.e, d);
    if (far) {
        evaluation_begin(&other, far->d);
        m.e.far = &other;
        m.e.far_devices = far->devices;
    }
    m.load = findings_weigh(&m);
    m.e.line_share = m.load.devices && m.load.is_whole ? m.load.share : NAN;
    for (size_t i = 0; i < set->count; i++)
        findings_apply(&m, set->items[i], all);
    free(all);
    for (size_t i = 0; i < f->count; i++)
        findings_explain(&m, &f->items[i]);
    findings_find_background(&m);
    findings_sort(f, set);
    findings_conclude(&m);
    evaluation_end(&other);
    evaluation_end(&m.e);
}

void findings_free(findings *f)
{
    for (size_t i = 0; i < f->count; i++) {
        free(f->items[i].claim);
        free(f->items[i].explained_by);
    }
    arrfree(f->items);
    arrfree(f->unknown);
    arrfree(f->checks);
    arrfree(f->background);
    free(f->verdict);
    *f = (findings){0};
}

const char *finding_device(const findings *f, const finding *x)
{
    if (x->device != DIFFERENCE_NONE) return f->d->delta->schema->devices[x->device].name;
    return strcmp(x->rule->source, "*") == 0 ? "node" : x->rule->source;
}
