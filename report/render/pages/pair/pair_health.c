// Health strips and heat maps of a source's devices.
#include "render/base/buffer.h"
#include "render/base/number.h"
#include "render/base/arena.h"
#include "pair.h"

#include "analysis/base/utf8.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Is the rule one of a comma list?
static bool health_listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; *at;) {
        size_t n = strcspn(at, ", ");
        if (n == length && strncmp(at, name, n) == 0) return true;
        at += n;
        at += strspn(at, ", ");
    }
    return false;
}

// A strip being built.
typedef struct building {
    pair *p;
    const pair_source *s;
    arena *memory;
    strip_row *rows; // an stb_ds array
} building;

static strip_cell *health_add_row(building *b, const char *label)
{
    strip_cell *cells = arena_make(b->memory, b->s->count, sizeof *cells);
    strip_row row = {.label = label, .cells = cells};
    arrput(b->rows, row);
    return cells;
}

static const finding *health_worst_finding(const findings *f, size_t device, const char *names, const char *class_name)
{
    for (size_t i = 0; i < f->count; i++) { // they are sorted, the worst first
        const finding *x = &f->items[i];
        if (x->device != device) continue;
        if (names && health_listed(names, x->rule->name)) return x;
        if (!names && class_name && strcmp(x->rule->class_name, class_name) == 0) return x;
    }
    return NULL;
}

// Two digits, where the columns are narrow.
static number_text health_short_number(double value, const char *format)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
    bool share = *format == '%';
    size_t i = 0;
    number_text n;
    if (share) value *= 100;
    for (; value >= 999.5 && i + 1 < sizeof prefixes / sizeof *prefixes; i++)
        value /= 1000;
    if (value > 0 && value < .0095)
        snprintf(n.text, sizeof n.text, "<.01%s", share ? "%" : "");
    else
        snprintf(n.text, sizeof n.text, "%.*f%s%s",
                 value >= 9.5 || value == 0 ? 0
                 : value >= .95             ? 1
                                            : 2,
                 value, prefixes[i], share ? "%" : "");
    return n;
}

// One number of decimals for a row.
static number_text health_row_number(double value, double most, const char *format, bool narrow)
{
    if (narrow && value > 0)
        return *format == '%' && value >= .99995 ? number_fixed(100, 0) : health_short_number(value, format);
    if (*format == '%' && value > 0)
        return value >= .9999 && value <= 1.0001 ? number_percent(1) : number_percent(value);
    if (most >= 1000 || (most < .1 && most > 0)) return number_prefixed(value, "");
    return number_fixed(value, most >= 100 ? 0 : most >= 10 ? 1 : 2);
}

static void health_fill_check(building *b, const pair_check *check)
{
    strip_cell *cells = health_add_row(b, check->label);
    double *values = arena_make(b->memory, b->s->count + 1, sizeof *values), most = 0;
    bool any = false;
    for (size_t i = 0; i < b->s->count; i++) {
        reading r = pair_value(b->p, check->formula, b->s->devices[i]);
        const finding *x = health_worst_finding(b->p->f, b->s->devices[i], check->rules, NULL);
        values[i] = r.status == READING_OK ? r.number : NAN;
        cells[i].state = r.status == READING_OK ? STRIP_KNOWN : r.status == READING_NONE ? STRIP_ABSENT : STRIP_UNKNOWN;
        cells[i].severity = x ? x->severity : SEVERITY_OK;
        if (x) cells[i].tip = x->claim;
        if (x && cells[i].state != STRIP_KNOWN) { // found by other counters than these
            cells[i].state = STRIP_KNOWN;
            cells[i].text = "!";
        }
        if (cells[i].state == STRIP_UNKNOWN)
            cells[i].tip =
                arena_format(b->memory, "not read: %s %s", r.counter ? r.counter : "", r.reason ? r.reason : "");
        any = any || cells[i].state != STRIP_ABSENT;
        if (values[i] > most) most = values[i];
        cells[i].weight = isnan(values[i]) ? 0 : values[i];
    }
    for (size_t i = 0; i < b->s->count; i++)
        if (!isnan(values[i]))
            cells[i].text =
                arena_text(b->memory, health_row_number(values[i], most, check->format, b->s->count > 8).text);
    if (!any) (void)arrpop(b->rows);
}

static void health_finding_cell(building *b, strip_cell *cell, const finding *x)
{
    char value[48];
    cell->state = STRIP_KNOWN;
    cell->severity = x->severity;
    cell->tip = x->claim;
    cell->weight = fabs(x->value);
    cell->text = arena_text(b->memory, finding_value_text(x, value, sizeof value));
}

// The class of a rule as a row: found, fine, or not known.
static void health_fill_class(building *b, const char *class_name, const char *label)
{
    strip_cell *cells = health_add_row(b, label);
    bool any = false;
    for (size_t i = 0; i < b->s->count; i++) {
        const finding *x = health_worst_finding(b->p->f, b->s->devices[i], NULL, class_name);
        cells[i].state = STRIP_ABSENT;
        for (size_t k = 0; k < b->p->in->rules->count; k++) {
            const rule *r = b->p->in->rules->items[k];
            if (r->per_node || strcmp(r->class_name, class_name) != 0) continue;
            if (!evaluation_applies(&b->p->e, r, b->s->devices[i])) continue;
            evaluation_of(&b->p->e, r, b->s->devices[i]);
            reading value = evaluate(&b->p->e, &r->value);
            if (value.status == READING_OK && cells[i].state == STRIP_ABSENT) cells[i].state = STRIP_KNOWN;
            if (value.status == READING_UNKNOWN) {
                cells[i].state = STRIP_UNKNOWN;
                cells[i].tip = arena_format(b->memory, "not read: %s %s", value.counter ? value.counter : "",
                                            value.reason ? value.reason : "");
            }
        }
        cells[i].text = "";
        if (x) health_finding_cell(b, &cells[i], x);
        any = any || cells[i].state != STRIP_ABSENT;
    }
    if (!any) (void)arrpop(b->rows);
}

// "congestion-marks": "Congestion marks"
static const char *health_rule_label(arena *a, const char *name)
{
    char *label = arena_copy(a, name, strlen(name) + 1, 1);
    for (char *at = label; *at; at++)
        if (*at == '-') *at = ' ';
    text_capital(label);
    return label;
}

// Findings worth watching that no row above shows.
static void health_fill_other_findings(building *b)
{
    const findings *f = b->p->f;
    for (size_t i = 0; i < f->count; i++) {
        const finding *x = &f->items[i];
        bool shown = x->severity < SEVERITY_WATCH || x->device == DIFFERENCE_NONE;
        if (!shown) shown = strcmp(b->p->schema->devices[x->device].source, b->s->name) != 0;
        for (size_t k = 0; k < pair_check_count && !shown; k++)
            shown =
                strcmp(pair_checks[k].source, b->s->name) == 0 && health_listed(pair_checks[k].rules, x->rule->name);
        for (size_t k = 0; k < i && !shown; k++)
            shown = f->items[k].rule == x->rule && f->items[k].severity >= SEVERITY_WATCH;
        if (shown) continue;
        strip_cell *cells = health_add_row(b, health_rule_label(b->memory, x->rule->name));
        for (size_t d = 0; d < b->s->count; d++) {
            const finding *y = health_worst_finding(f, b->s->devices[d], x->rule->name, NULL);
            cells[d].state = STRIP_ABSENT;
            evaluation_of(&b->p->e, x->rule, b->s->devices[d]);
            if (evaluate(&b->p->e, &x->rule->value).status == READING_OK) cells[d].state = STRIP_KNOWN;
            cells[d].text = "";
            if (y) health_finding_cell(b, &cells[d], y);
        }
    }
}

static const struct {
    const char *name, *label;
} classes[] = {{"link-down", "Link"},
               {"link-errors", "Errors on the link"},
               {"host-loss", "Loss in this host"},
               {"back-pressure", "Back-pressure of this host"},
               {"congestion", "Congestion in the network"},
               {"transport", "Transport"}};

static bool health_has_checks(const char *source)
{
    for (size_t i = 0; i < pair_check_count; i++)
        if (strcmp(pair_checks[i].source, source) == 0) return true;
    return false;
}

void pair_strip(pair *p, document *doc, const pair_source *s, bool first)
{
    building b = {.p = p, .s = s, .memory = p->memory};
    bool detailed = health_has_checks(s->name);
    for (size_t i = 0; i < pair_check_count && detailed; i++)
        if (strcmp(pair_checks[i].source, s->name) == 0) health_fill_check(&b, &pair_checks[i]);
    for (size_t i = 0; i < sizeof classes / sizeof *classes && !detailed; i++)
        health_fill_class(&b, classes[i].name, classes[i].label);
    if (detailed) health_fill_other_findings(&b);
    const char *name = "health", *title = "Link and path health";
    if (!first) {
        name = arena_format(p->memory, "health-%.50s", s->name);
        title =
            arena_format(p->memory, "Health: %.*s %.40s", utf8_within(s->name, 40), s->name, pair_noun(s->name, true));
    }
    chart_head head = {name, title, s->count > 1 ? "is any unlike its peers?" : "is anything wrong?"};
    if (arrlenu(b.rows))
        document_add(doc, chart_strip(head, s->labels, s->count, b.rows, arrlenu(b.rows)));
    else
        document_note(doc, "Health: none of the counters that the rules look at is in these files.");
    arrfree(b.rows);
}

// ---- heat map ----

// rows: an stb_ds array.
static void health_add_heat(heat_row **rows, const char *label, const char *unit, size_t band, bool harm,
                            const double *values)
{
    heat_row row = {.label = label, .unit = unit, .band = band, .ramp = harm ? INK_ORANGE : INK_BLUE, .values = values};
    arrput(*rows, row);
}

static void health_heat_by_table(pair *p, heat_row **to, const pair_source *s)
{
    for (size_t k = 0; k < pair_rate_count; k++) {
        const pair_rate *rate = &pair_rates[k];
        if (strcmp(rate->source, s->name) != 0) continue;
        double *values = arena_make(p->memory, s->count, sizeof *values);
        bool any = false;
        for (size_t i = 0; i < s->count; i++) {
            reading r = pair_value(p, rate->formula, s->devices[i]);
            values[i] = r.status == READING_OK ? r.number : NAN;
            any = any || r.status != READING_NONE;
        }
        if (any) health_add_heat(to, rate->label, rate->unit, (size_t)rate->band, rate->harm, values);
    }
}

// Sources without a table: the largest of each unit, by their own names.
static void health_heat_by_size(pair *p, heat_row **to, const pair_source *s)
{
    enum { EACH = 4, MOST = 24 };
    difference_query query = {0};
    size_t count = 0, found = 0, band = 0, in_band = 0;
    size_t *rows = difference_select(p->d, &query, &found);
    difference_sum *sums = difference_sums(p->d, rows, found, 0, &count);
    free(rows);
    const char *unit = NULL;
    for (size_t i = 0; i < count && arrlenu(*to) < MOST; i++) {
        if (strcmp(sums[i].source, s->name) != 0 || !sums[i].value || !(sums[i].rate_per_s > 0)) continue;
        if (catalog_marks(s->name, sums[i].name) & CATALOG_CLOCK_ONLY) continue;
        if (!unit || strcmp(unit, sums[i].unit) != 0) {
            unit = sums[i].unit;
            band++;
            in_band = 0;
        }
        if (in_band++ >= EACH) continue;
        double *values = arena_make(p->memory, s->count + 1, sizeof *values);
        for (size_t k = 0; k < s->count; k++) {
            size_t c = evaluation_counter(&p->e, s->devices[k], sums[i].name);
            values[k] = c == DIFFERENCE_NONE ? NAN : p->d->rows[c].rate_per_s;
        }
        health_add_heat(to, arena_text(p->memory, sums[i].name), arena_format(p->memory, "%s/s", *unit ? unit : ""),
                        band, catalog_is_trouble(s->name, sums[i].name, unit), values);
    }
    free(sums);
}

enum { HEAT_MANY = 16 }; // devices: whose numbers have no room, and whose colours over decades are all alike
static const double HEAT_SPAN = 4, HEAT_UNLIKE = 1.25;

static int health_by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double health_median(pair *p, const double *values, size_t count)
{
    double *known = arena_make(p->memory, count + 1, sizeof *known);
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i])) known[n++] = values[i];
    qsort(known, n, sizeof *known, health_by_value);
    return n ? (known[(n - 1) / 2] + known[n / 2]) / 2 : NAN;
}

// How far from 1; who has none where the others have some is farthest.
static double health_distance(double ratio)
{
    return ratio > 0 ? fabs(log(ratio)) : ratio == 0 ? INFINITY : -1;
}

// A row as ratios to its median, which is named beside it, and who is farthest from it.
static void health_compare_row(pair *p, heat_row *row, const pair_source *s)
{
    double median = health_median(p, row->values, s->count),
           *ratios = arena_make(p->memory, s->count + 1, sizeof *ratios);
    size_t odd = s->count;
    if (!(median > 0)) return; // most have none of it: what there is stands out as it is
    for (size_t i = 0; i < s->count; i++) {
        ratios[i] = row->values[i] / median;
        if (odd == s->count || health_distance(ratios[i]) > health_distance(ratios[odd])) odd = i;
    }
    bool unlike = odd < s->count && health_distance(ratios[odd]) > log(HEAT_UNLIKE);
    const char *amount =
        arena_text(p->memory, number_prefixed(median, strcmp(row->unit, "bytes/s") == 0 ? "B/s" : "/s").text);
    row->note =
        unlike ? arena_format(p->memory, "%s; %.24s \xc3\x97%s", amount, s->labels[odd], number_plain(ratios[odd]).text)
               : amount;
    row->values = ratios;
    row->unit = "\xc3\x97 median";
    row->ramp = INK_DIVERGING;
    row->span = HEAT_SPAN;
}

void pair_heat(pair *p, document *doc, const pair_source *s, bool first)
{
    heat_row *rows = NULL;
    health_heat_by_table(p, &rows, s);
    if (!arrlenu(rows)) health_heat_by_size(p, &rows, s);
    bool compared = s->count >= HEAT_MANY;
    for (size_t r = 0; r < arrlenu(rows) && compared; r++)
        health_compare_row(p, &rows[r], s);
    bool any = false;
    for (size_t r = 0; r < arrlenu(rows); r++)
        for (size_t i = 0; i < s->count; i++)
            any = any || rows[r].values[i] > 0;
    const char *name = "activity", *title = "Activity";
    if (!first) {
        name = arena_format(p->memory, "activity-%.50s", s->name);
        title = arena_format(p->memory, "Activity: %.*s %.40s", utf8_within(s->name, 40), s->name,
                             pair_noun(s->name, true));
    }
    chart_head head = {name, title,
                       compared ? "is any unlike the others? each rate as ratio to the median of all"
                                : "change per second; colour is logarithmic, grey dot: unchanged, hatched: not read"};
    const char *note =
        compared ? arena_format(p->memory,
                                "White is the median of all %zu, which is named at the right, with who is "
                                "farthest from it (beyond \xc3\x97%s); orange above, blue below. Rows without a "
                                "median are rates. Grey: unchanged; hatched: not read.",
                                s->count, number_plain(HEAT_UNLIKE).text)
                 : NULL;
    if (any)
        document_add(doc, chart_heat(head, s->labels, s->count, rows, arrlenu(rows), note));
    else
        document_note(doc, "Activity: none of the counters of traffic changed in the interval.");
    arrfree(rows);
}
