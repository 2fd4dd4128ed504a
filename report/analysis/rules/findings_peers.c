// Devices that are alike, held against each other: the one that alone does less, more or nothing.
#include "findings_making.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/text.h"
#include "analysis/base/words.h"
#include "analysis/peers/peers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Those of one kind, speed and role, with what each does.
typedef struct peers_judged {
    findings_making *m;
    const rule *x;
    size_t *devices; // stb_ds
    double *values;  // stb_ds
    double nothing;
} peers_judged;

// ---- who is alike ----

char *findings_alike_key(const difference *d, size_t i)
{
    static const char *const names[] = {"driver", "hca_type", "model", "master", "link_layer"};
    const netprof_device *dev = &d->delta->schema->devices[i];
    size_t counter;
    char *key = NULL;
    if (!(dev->flags & NETPROF_DEVICE_PHYSICAL) || !difference_has_both_ends(d, i)) return NULL;
    if (device_link_at_end(d->delta, i, &counter) == DEVICE_LINK_IS_DOWN) return NULL; // a finding of its own
    text_append(&key, "%s", dev->source);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const char *fact = netprof_fact_of(dev->facts, dev->fact_count, names[k]);
        text_append(&key, "\n%s", fact ? fact : "");
    }
    return key;
}

// And of one speed. NULL: it takes no part. free() it.
static char *findings_peers_key(const findings_making *m, const rule *x, size_t i)
{
    if (evaluation_counts_again(&m->e, i) || !evaluation_applies(&m->e, x, i)) return NULL;
    char *key = findings_alike_key(m->f->d, i);
    if (key) text_append(&key, "\n%.0f", evaluation_speed(&m->e, i) / 1e6);
    return key;
}

// ---- words ----

static const rule_part *findings_peers_number(const rule *x, const char **tail)
{
    for (size_t i = 0; i < x->part_count; i++) {
        if (!x->claim[i].number.root) continue;
        *tail = x->claim[i].tail ? x->claim[i].tail : "";
        return &x->claim[i];
    }
    *tail = "";
    return NULL;
}

static words_text findings_peers_text(const peers_judged *g, double value)
{
    words_text text;
    char number[48];
    const char *tail;
    const rule_part *part = findings_peers_number(g->x, &tail);
    if (value < g->nothing)
        snprintf(text.text, sizeof text.text, "nothing");
    else
        snprintf(text.text, sizeof text.text, "%s%s",
                 rules_format(number, sizeof number, part ? part->format : "", value), tail);
    return text;
}

static void findings_peers_append_others(char **claim, const peers_judged *g, const peers_outcome *o)
{
    words_text low = findings_peers_text(g, o->low), high = findings_peers_text(g, o->high);
    text_append(claim, "; its %s ", words_many(o->known - 1, "peer").text);
    if (strcmp(low.text, high.text) == 0)
        text_append(claim, "%s each", low.text);
    else
        text_append(claim, "%s to %s", low.text, high.text);
}

// ---- one alone ----

static double findings_peers_apart(double value, double centre)
{
    return centre > 0 ? fabs(value / centre - 1) : 0;
}

static severity findings_peers_severity(findings_making *m, const rule *x, double apart)
{
    int s = SEVERITY_CRITICAL;
    while (s > SEVERITY_OK &&
           !(findings_crosses(&x->thresholds[s], apart) && evaluate_condition(&m->e, &x->thresholds[s].condition)))
        s--;
    return (severity)s;
}

static void findings_peers_keep(findings *f, finding made)
{
    arrput(f->items, made);
    f->count = arrlenu(f->items);
}

static severity findings_peers_add_one(const peers_judged *g, const peers_outcome *o)
{
    findings_making *m = g->m;
    size_t device = g->devices[o->odd];
    evaluation_of(&m->e, g->x, device);
    m->e.value = (reading){.number = o->value};
    severity s = findings_peers_severity(m, g->x, findings_peers_apart(o->value, o->centre));
    if (!s) return s;
    const rule_threshold *threshold = &g->x->thresholds[s];
    if (o->doubtful) s = SEVERITY_INFO;
    finding made = {.rule = g->x,
                    .severity = s,
                    .device = device,
                    .value = o->value,
                    .cost_s = NAN,
                    .claim = memory_strdup("alone "),
                    .threshold = threshold};
    findings_collect_evidence(m, &made);
    findings_append_claim(m, &made);
    findings_peers_append_others(&made.claim, g, o);
    if (o->doubtful) text_append(&made.claim, "; %zu may differ so by chance", o->known);
    made.peers = o->known - 1;
    made.peers_min = o->low;
    made.peers_max = o->high;
    findings_peers_keep(m->f, made);
    return s;
}

// ---- several, or two: nobody is named ----

static char *findings_peers_claim(const peers_judged *g, const peers_outcome *o)
{
    words_text value = findings_peers_text(g, o->value), centre = findings_peers_text(g, o->centre);
    size_t n = o->known;
    switch (o->kind) {
    case PEERS_TWO:
        return memory_format("they differ, %s and %s: which of two is the odd one cannot be known from them alone",
                             value.text, centre.text);
    case PEERS_PART:
        return memory_format("%zu of the %zu %s used, the others not at all: it may be meant so", o->unlike, n,
                             o->unlike == 1 ? "was" : "were");
    case PEERS_SEVERAL:
    case PEERS_SPLIT:
        return memory_format("%zu of the %zu %s %s, the others %s: none of them stands alone", o->unlike, n,
                             o->is_silent ? "did" : "stand at about", value.text, centre.text);
    default: return NULL;
    }
}

static void findings_peers_add_several(const peers_judged *g, const peers_outcome *o)
{
    static const rule_threshold apart = {.op = EXPRESSION_GREATER_EQUAL, .value = 1 - 1 / PEERS_APART, .origin = "own"};
    const netprof_schema *schema = g->m->f->d->delta->schema;
    const char **names = NULL;
    for (size_t i = 0; i < arrlenu(g->devices); i++)
        arrput(names, schema->devices[g->devices[i]].name);
    findings_peers_keep(g->m->f, (finding){.rule = g->x,
                                           .severity = SEVERITY_INFO,
                                           .device = DIFFERENCE_NONE,
                                           .value = o->value,
                                           .cost_s = NAN,
                                           .subject = findings_names_text(names, arrlenu(names)),
                                           .of_devices = o->known,
                                           .claim = findings_peers_claim(g, o),
                                           .threshold = &apart});
    arrfree(names);
}

// ---- a group ----

// Where hardly anything moves, nothing is to be compared.
static bool findings_peers_work(const peers_judged *g)
{
    double most = 0;
    for (size_t i = 0; i < arrlenu(g->values); i++)
        most = fmax(most, g->values[i]);
    return most > 0 && most >= 10 * g->nothing;
}

static void findings_judge_group(const peers_judged *g)
{
    peers_outcome o;
    severity s = SEVERITY_OK;
    if (arrlenu(g->devices) < 2) return;
    if (findings_peers_work(g)) {
        peers_weigh(&o, g->values, arrlenu(g->values), g->nothing, NULL);
        if (o.kind == PEERS_ONE)
            s = findings_peers_add_one(g, &o);
        else if (o.kind > PEERS_ALIKE)
            findings_peers_add_several(g, &o);
    }
    for (size_t i = 0; i < arrlenu(g->devices); i++) {
        bool odd = s && i == o.odd;
        g->m->f->judged++;
        findings_add_check(g->m, (finding_check){.rule = g->x,
                                                 .device = g->devices[i],
                                                 .judged = true,
                                                 .severity = odd ? s : SEVERITY_OK,
                                                 .value = odd ? findings_peers_apart(o.value, o.centre) : 0});
    }
}

static double findings_peers_nothing(findings_making *m, const rule *x, size_t device)
{
    for (size_t i = 0; i < x->local_count; i++) {
        if (strcmp(x->local_names[i], "nothing") != 0) continue;
        evaluation_of(&m->e, x, device);
        reading r = evaluate(&m->e, &x->locals[i]);
        return r.status ? 0 : r.number;
    }
    return 0;
}

void findings_judge_peers(findings_making *m, const rule *x, const findings_judgement *measured)
{
    size_t count = m->f->d->delta->schema->device_count;
    char **keys = memory_calloc(count + 1, sizeof *keys);
    for (size_t i = 0; i < count; i++) {
        if (measured[i].value.status >= READING_SKIPPED) {
            findings_add_unknown(m, x, i, measured[i].value);
            findings_add_check(m, (finding_check){.rule = x, .device = i});
        }
        if (measured[i].applies) keys[i] = findings_peers_key(m, x, i);
    }
    for (size_t i = 0; i < count; i++) {
        if (!keys[i]) continue;
        peers_judged g = {.m = m, .x = x, .nothing = findings_peers_nothing(m, x, i)};
        char *key = keys[i];
        for (size_t k = i; k < count; k++) {
            if (!keys[k] || strcmp(keys[k], key) != 0) continue;
            arrput(g.devices, k);
            arrput(g.values, measured[k].value.number);
            if (k != i) free(keys[k]);
            keys[k] = NULL;
        }
        free(key);
        findings_judge_group(&g);
        arrfree(g.devices);
        arrfree(g.values);
    }
    free(keys);
}
