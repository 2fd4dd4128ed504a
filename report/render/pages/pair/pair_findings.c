// The findings with their evidence, what moved alike everywhere, what could not be judged, and the other sources.
#include "render/base/arena.h"
#include "render/base/buffer.h"
#include "render/base/number.h"
#include "analysis/base/words.h"
#include "pair.h"
#include "render/pages/sheet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- findings ----

// "cxi2 5.67, cxi3 5.63 and 4 more"
static const char *pair_findings_devices_text(const findings *f, size_t at, arena *a)
{
    enum { NAMED = 4 };
    const char *text = "";
    size_t count = 0;
    for (size_t i = at; i < f->count; i++) {
        char value[48];
        const finding *x = &f->items[i];
        if (!pair_alike(x, &f->items[at]) || ++count > NAMED) continue;
        finding_value_text(x, value, sizeof value);
        text = arena_format(a, "%s%s%s%s%s", text, *text ? ", " : "", finding_device(f, x), *value ? " " : "", value);
    }
    return count > NAMED ? arena_format(a, "%s and %zu more", text, count - NAMED) : text;
}

static const char *pair_findings_threshold_text(const finding *x, arena *a)
{
    static const char *const signs[] = {"<", "\xe2\x89\xa4", ">", "\xe2\x89\xa5"};
    const rule_threshold *t = x->threshold;
    char text[RULES_THRESHOLD_TEXT];
    if (!t || !*rules_threshold_text(x->rule, t, signs, text)) return "";
    const char *origin = !t->origin || strcmp(t->origin, "own") == 0 ? "our own judgement" : t->origin;
    return arena_format(a, "%s is \xe2\x80\x9c%s\xe2\x80\x9d (%s)", text, severity_name(x->severity), origin);
}

static void pair_findings_fill_evidence(pair *p, const finding *x, findings_row *r, arena *a)
{
    findings_evidence *e = arena_make(a, x->evidence_count + 1, sizeof *e);
    for (size_t i = 0; i < x->evidence_count; i++) {
        const finding_evidence *from = &x->evidence[i];
        bool counter = from->counter != DIFFERENCE_NONE;
        double rate = counter && !from->gauge ? p->d->rows[from->counter].rate_per_s : NAN;
        const char *device = finding_evidence_device(p->f, x, from);
        e[i].name = device ? arena_format(a, "%s %s", device, from->name) : from->name;
        e[i].value = arena_format(a, "%s%s %s", from->gauge ? "is " : "",
                                  counter ? number_grouped(from->value).text : number_prefixed(from->number, "").text,
                                  from->unit ? from->unit : "");
        e[i].rate = isnan(rate) ? "" : arena_text(a, number_volume_rate(rate, from->unit ? from->unit : "").text);
    }
    r->evidence = e;
    r->evidence_count = x->evidence_count;
}

// The rule's value on every device of the source, where there are several.
static void pair_findings_fill_strip(pair *p, const finding *x, findings_row *r, arena *a)
{
    size_t s = x->device == DIFFERENCE_NONE ? DIFFERENCE_NONE : pair_of(p, x->device);
    r->limit = NAN;
    if (s == DIFFERENCE_NONE || x->rule->per_node || p->sources[s].count < 2) return;
    const pair_source *source = &p->sources[s];
    double *values = arena_make(a, source->count, sizeof *values);
    bool *found = arena_make(a, source->count, sizeof *found), any = false;
    for (size_t i = 0; i < source->count; i++) {
        evaluation_of(&p->e, x->rule, source->devices[i]);
        reading v = evaluate(&p->e, &x->rule->value);
        values[i] = v.status == READING_OK ? v.number : NAN;
        any = any || values[i] > 0;
        for (size_t k = 0; k < p->f->count; k++)
            found[i] = found[i] || (pair_alike(&p->f->items[k], x) && p->f->items[k].device == source->devices[i]);
    }
    if (!any) return;
    r->values = values;
    r->found = found;
    r->value_count = source->count;
    r->limit = x->threshold && !x->rule->of_peers ? x->threshold->value : NAN;
    r->unit = x->rule->unit;
}

static void pair_findings_add_findings(pair *p, document *doc)
{
    const findings *f = p->f;
    arena *a = p->memory;
    findings_row *rows = arena_make(a, f->count, sizeof *rows);
    size_t count = 0;
    for (size_t i = 0; i < f->count; i++) {
        const finding *x = &f->items[i];
        if (!pair_is_first(f, i)) continue;
        findings_row *r = &rows[count++];
        *r = (findings_row){.severity = x->severity,
                            .rule = x->rule->name,
                            .devices = pair_findings_devices_text(f, i, a),
                            .claim = arena_format(a, "%s%s%s", x->device == DIFFERENCE_NONE ? "" : finding_device(f, x),
                                                  x->device == DIFFERENCE_NONE ? "" : ": ", x->claim ? x->claim : ""),
                            .threshold = pair_findings_threshold_text(x, a),
                            .advice = x->rule->advice,
                            .explained_by = x->explained_by};
        pair_findings_fill_evidence(p, x, r, a);
        pair_findings_fill_strip(p, x, r, a);
    }
    chart_head head = {"findings", "What was found", "worst first; the evidence is that of the first device named"};
    if (count)
        document_add(doc, chart_findings(head, rows, count));
    else
        document_note(doc, "No rule found anything, not even of minor interest.");
}

// ---- tables beside ----

static void pair_findings_add_balance(pair *p, document *doc)
{
    static const table_column columns[] = {{"source", TABLE_TEXT, 0},    {"way", TABLE_TEXT, 1},
                                           {"devices", TABLE_NUMBER, 0}, {"total", TABLE_NUMBER, 1},
                                           {"rate", TABLE_NUMBER, 1},    {"most", TABLE_NUMBER, 1},
                                           {"on", TABLE_TEXT, 1},        {"least", TABLE_NUMBER, 1},
                                           {"on", TABLE_TEXT, 1},        {"most / mean", TABLE_NUMBER, 0}};
    enum { COLUMNS = sizeof columns / sizeof *columns };
    size_t count = 0;
    difference_balance *list = difference_balances(p->d, &count);
    sheet t = sheet_open(COLUMNS);
    for (size_t i = 0; i < count; i++) {
        const difference_balance *b = &list[i];
        if (b->devices < 2 || !b->sum) continue;
        sheet_text(&t, b->source);
        sheet_text(&t, b->role == CATALOG_TX_BYTES ? "sent" : "received");
        sheet_count(&t, b->devices);
        sheet_number(&t, number_volume((double)b->sum, "bytes"));
        sheet_number(&t, number_volume_rate(b->rate_per_s, "bytes"));
        sheet_number(&t, number_volume((double)b->max, "bytes"));
        sheet_text(&t, p->schema->devices[b->max_device].name);
        sheet_number(&t, number_volume((double)b->min, "bytes"));
        sheet_text(&t, p->schema->devices[b->min_device].name);
        sheet_format(&t, "%.2f", b->max_over_mean);
    }
    chart_head head = {"balance", "Balance", "do the ports share the load? 1.00 is even"};
    sheet_end(&t, doc, head, columns);
    free(list);
}

static void pair_findings_add_background(pair *p, document *doc)
{
    static const table_column columns[] = {{"counter", TABLE_NAME, 0},
                                           {"source", TABLE_TEXT, 0},
                                           {"devices", TABLE_NUMBER, 0},
                                           {"least", TABLE_NUMBER, 0},
                                           {"most", TABLE_NUMBER, 0},
                                           {"unit", TABLE_TEXT, 0},
                                           {"per s and device", TABLE_NUMBER, 0},
                                           {"meaning", TABLE_TEXT, 1}};
    enum { COLUMNS = sizeof columns / sizeof *columns };
    const findings *f = p->f;
    sheet t = sheet_open(COLUMNS);
    for (size_t i = 0; i < f->background_count; i++) {
        const finding_background *b = &f->background[i];
        const catalog_entry *entry = catalog_find(b->source, b->counter);
        sheet_text(&t, b->counter);
        sheet_text(&t, b->source);
        sheet_count(&t, b->devices);
        sheet_number(&t, number_grouped(b->min));
        sheet_number(&t, number_grouped(b->max));
        sheet_text(&t, b->unit);
        sheet_number(&t, number_prefixed(b->rate_per_s, ""));
        sheet_text(&t, pair_gloss(entry, b->counter));
    }
    chart_head head = {"background", "Alike on all devices", "something around the node, no fault of one of them"};
    sheet_end(&t, doc, head, columns);
}

static void pair_findings_add_unknown(pair *p, document *doc)
{
    enum { MOST = 40 };
    static const table_column columns[] = {{"where", TABLE_TEXT, 0},
                                           {"what, and why", TABLE_TEXT, 1},
                                           {"hides", TABLE_TEXT, 0},
                                           {"at worst", TABLE_TEXT, 0}};
    enum { COLUMNS = sizeof columns / sizeof *columns };
    const findings *f = p->f;
    enum { ON_PAGE_ONE = 5 };
    if (pair_is_unjudged(p) && f->gap_count <= ON_PAGE_ONE) return; // with what helps
    sheet t = sheet_open(COLUMNS);
    size_t shown = f->gap_count < MOST ? f->gap_count : MOST;
    for (size_t i = 0; i < shown; i++) {
        const finding_gap *gap = &f->gaps[i];
        sheet_text(&t, gap->where);
        sheet_text(&t, gap->why);
        sheet_text(&t, arena_text(p->memory, words_many(gap->checks, "check").text));
        sheet_text(&t, severity_name(gap->hides));
    }
    chart_head head = {"unknown", "Could not be judged", "never taken for good; netprof check --all names every check"};
    sheet_end(&t, doc, head, columns);
    if (shown < f->gap_count)
        document_note(doc,
                      arena_format(p->memory, "and %zu more; netprof check --all lists them", f->gap_count - shown));
}

// ---- other sources ----

static void pair_findings_add_other_sources(pair *p, document *doc)
{
    bool begun = false;
    for (size_t i = 1; i < p->source_count; i++) {
        const pair_source *s = &p->sources[i];
        size_t changed = 0;
        for (size_t k = 0; k < s->count; k++)
            changed += p->d->devices[s->devices[k]].changed;
        if (!changed || strcmp(s->name, "ethtool") == 0) continue; // its counters are judged with their interface
        if (!begun) document_part(doc, "Other sources");
        begun = true;
        if (strcmp(s->name, "ip") != 0 && strcmp(s->name, "tcp") != 0) {
            pair_strip(p, doc, s, false);
            pair_heat(p, doc, s, false);
        } else {
            pair_sums(p, doc, s);
        }
    }
}

void pair_findings(pair *p, document *doc)
{
    document_part(doc, "Findings");
    if (p->f->verdict) document_subline(doc, p->f->verdict);
    pair_findings_add_findings(p, doc);
    pair_findings_add_balance(p, doc);
    pair_findings_add_background(p, doc);
    pair_findings_add_unknown(p, doc);
    pair_findings_add_other_sources(p, doc);
}
