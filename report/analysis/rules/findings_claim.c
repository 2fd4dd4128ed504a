// What a finding says, and what it rests on.
#include "findings_making.h"

#include "analysis/base/text.h"
#include "analysis/base/words.h"

#include <math.h>
#include <string.h>

// ---- evidence ----

typedef struct collector {
    const findings_making *m;
    finding *x;
    bool silent; // also counters that did not move
} collector;

// "pcie_generation_max is 4": its name says what it is.
static const char *findings_evidence_unit(const char *name, const char *unit)
{
    const char *word = strrchr(unit, ' ');
    word = word ? word + 1 : unit;
    return *word && strstr(name, word) ? "" : unit;
}

static void findings_add_evidence(collector *c, finding_evidence item)
{
    if (item.gauge) item.unit = findings_evidence_unit(item.name, item.unit);
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

static void findings_append_part(findings_making *m, finding *x, const rule_part *part)
{
    char text[96] = "?";
    text_append(&x->claim, "%s", part->text);
    if (!part->number.root) return;
    const device_change *change = strcmp(part->format, "c") == 0 ? evaluation_change(&m->e, &part->number) : NULL;
    if (change) {
        text_append(&x->claim, "%s", change->text);
        return;
    }
    reading r = evaluate(&m->e, &part->number);
    if (part->lead && r.status) return;
    if (!r.status) rules_format(text, sizeof text, part->format, r.number);
    text_append(&x->claim, "%s%s%s", part->lead ? part->lead : "", text, part->tail ? part->tail : "");
}

// Counters with an erratum are not excused, and not passed off as exact.
static void findings_append_errata(findings_making *m, finding *x)
{
    const char *last = "";
    for (size_t i = 0; i < x->evidence_count; i++) {
        const catalog_entry *entry =
            x->evidence[i].counter == DIFFERENCE_NONE ? NULL : m->f->d->rows[x->evidence[i].counter].entry;
        if (!entry || !(entry->marks & CATALOG_BAD) || !*entry->note || strcmp(entry->note, last) == 0) continue;
        text_append(&x->claim, "; %s: %s", x->evidence[i].name, entry->note);
        last = entry->note;
    }
}

void findings_append_claim(findings_making *m, finding *x)
{
    for (size_t i = 0; i < x->rule->part_count; i++)
        findings_append_part(m, x, &x->rule->claim[i]);
}

void findings_make_claim(findings_making *m, finding *x)
{
    findings_append_claim(m, x);
    if (!x->rule->part_count) {
        char text[32];
        text_append(&x->claim, "%s: %s%s%s", x->rule->name, rules_format(text, sizeof text, "", x->value),
                    *x->rule->unit ? " " : "", x->rule->unit);
    }
    findings_append_errata(m, x);
    findings_append_peers(x);
    findings_append_sockets(m, x);
}

// ---- the same on all ----

static void findings_append_alike(findings *f, finding *x, double low, double high)
{
    char texts[2][48];
    const char *least = finding_number_text(x->rule, low, texts[0], sizeof texts[0]);
    const char *most = finding_number_text(x->rule, high, texts[1], sizeof texts[1]);
    text_append(&x->claim, "; alike on %s", finding_who(f, x).text);
    if (*least && strcmp(least, most) != 0) text_append(&x->claim, " (%s to %s)", least, most);
    text_append(&x->claim, "%s%s", *x->rule->alike ? ": " : "", x->rule->alike);
}

// All but one of eight, and nobody twice another.
void findings_mark_alike(findings_making *m, const rule *x, size_t first, size_t judged)
{
    findings *f = m->f;
    size_t count = f->count - first;
    double low = INFINITY, high = 0;
    bool background = count && f->items[first].threshold == &x->background;
    if ((!*x->alike && !background) || count < 2 || 8 * count < 7 * judged) return;
    for (size_t i = first; i < f->count; i++) {
        low = fmin(low, f->items[i].value);
        high = fmax(high, f->items[i].value);
    }
    if (!(low > 0) || high > 2 * low) return;
    for (size_t i = first; i < f->count; i++) {
        f->items[i].alike = count;
        f->items[i].alike_of = judged;
        if (f->items[i].claim) findings_append_alike(f, &f->items[i], low, high);
    }
}
