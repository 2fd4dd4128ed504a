// What a finding says, and what it rests on.
#include "findings_making.h"

#include "analysis/base/text.h"
#include "analysis/base/words.h"

#include <string.h>

// ---- evidence ----

typedef struct collector {
    const findings_making *m;
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
void findings_collect_evidence(findings_making *m, finding *x)
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

static void findings_append_peers(finding *x)
{
    char texts[2][32];
    if (!findings_is_outlier(x)) return;
    const char *low = finding_number_text(x->rule, x->peers_min, texts[0], sizeof texts[0]);
    const char *high = finding_number_text(x->rule, x->peers_max, texts[1], sizeof texts[1]);
    if (!*low) return;
    if (strcmp(low, high) == 0)
        text_append(&x->claim, "; %s %s", words_noun(x->peers, "its peer|its peers").text, low);
    else
        text_append(&x->claim, "; its peers %s to %s", low, high);
}

void findings_make_claim(findings_making *m, finding *x)
{
    for (size_t i = 0; i < x->rule->part_count; i++) {
        const rule_part *part = &x->rule->claim[i];
        char text[32] = "?";
        text_append(&x->claim, "%s", part->text);
        if (!part->number.root) continue;
        const device_change *change = strcmp(part->format, "c") == 0 ? evaluation_change(&m->e, &part->number) : NULL;
        if (change) {
            text_append(&x->claim, "%s", change->text);
            continue;
        }
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
