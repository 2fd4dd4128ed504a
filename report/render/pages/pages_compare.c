// The report of healthy runs against faulty ones.
#include "render/base/arena.h"
#include "render/base/buffer.h"
#include "render/chart/charts.h"
#include "render/document/document.h"
#include "render/base/number.h"
#include "pages.h"
#include "pages_signs.h"
#include "sheet.h"
#include "analysis/base/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERDICT_LINES = 8, RANKED = 8, ALIKE = 3, CHECKS = 7, BARS = 12, LISTED = 6, HEAT_ROWS = 6 };

const pages_kind pages_compare_kind = {
    "Comparison of runs",
    "verdict, the work and its time, checks that found something, what changed most, traffic, what is new and gone; "
    "all "
    "changes, runs",
    "work turned changes health traffic new-and-gone by-device all-changes shapes gauges facts runs"};

typedef struct compare_page {
    const comparison *c;
    document *doc;
    arena *memory;
    const char *source;  // whose devices are the columns: the source of the worst line or check
    size_t first, count; // its devices that have a place there
    size_t *devices;
    const char **labels;
} compare_page;

// ---- head ----

static void compare_page_side_line(compare_page *p, comparison_side side)
{
    const comparison *c = p->c;
    const comparison_run *first = NULL;
    buffer b = {0};
    for (size_t i = c->run_count; i-- > 0;)
        if (c->runs[i]->side == side) first = c->runs[i];
    if (!first) return;
    buffer_printf(&b, "%s: %s", comparison_side_name(side), first->label);
    if (c->side_count[side] > 1) buffer_printf(&b, " and %zu more", c->side_count[side] - 1);
    if (*first->host) buffer_printf(&b, DOT "node %s", first->host);
    if (first->wall_ns) buffer_printf(&b, DOT "%s UTC", number_utc(first->wall_ns, 0).text);
    if (c->seconds[side] > 0) buffer_printf(&b, DOT "%s", number_duration(c->seconds[side]).text);
    if (isfinite(c->bytes[side])) buffer_printf(&b, DOT "%s moved", number_volume(c->bytes[side], "bytes").text);
    document_subline(p->doc, b.data ? b.data : "");
    buffer_free(&b);
}

// Without what is the same in all lines: in how many runs, and chance.
static const char *compare_page_sentence_text(compare_page *p, const comparison_sentence *s)
{
    if (!s->told) return s->text;
    return arena_format(p->memory, "%.*s", (int)s->told, s->text);
}

// The words about runs and chance, without "; " before and "(explained by ...)" after.
static const char *compare_page_runs_text(compare_page *p, const comparison_sentence *s)
{
    if (!s->told || !s->text[s->told]) return "";
    const char *from = s->text + s->told + strspn(s->text + s->told, "; "), *to = strstr(from, " (explained by ");
    return arena_format(p->memory, "%.*s", (int)(to ? to - from : (ptrdiff_t)strlen(from)), from);
}

static bool compare_page_lists(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = list; (at = strstr(at, name)); at += n)
        if ((at == list || at[-1] == ' ') && (!at[n] || at[n] == ',')) return true;
    return false;
}

// Does the sentence's finding follow from that of the first one?
static bool compare_page_follows(const comparison *c, const comparison_sentence *s)
{
    const comparison_sentence *first = c->sentences;
    if (s == first || s->subject != COMPARISON_OF_CHECK || first->subject != COMPARISON_OF_CHECK) return false;
    for (size_t i = 0; i < c->check_count; i++) {
        const comparison_verdict *v = &c->checks[i].cells[c->checks[i].worst];
        const finding *x = v->finding[COMPARISON_FAULTY];
        if (strcmp(c->checks[i].rule->name, s->rule) == 0 && x && x->explained_by)
            return compare_page_lists(x->explained_by, first->rule);
    }
    return false;
}

// "cxi2 and 5 others: the receive buffer was full 11.8 % of the time (3.55 s of 30.0 s)": what and where.
static const char *compare_page_brief_text(compare_page *p, const comparison_sentence *s)
{
    const char *text = arena_format(p->memory, "%.*s", (int)(s->brief ? s->brief : strlen(s->text)), s->text);
    const char *peers = strstr(text, "; alike on");
    return peers ? arena_format(p->memory, "%.*s", (int)(peers - text), text) : text;
}

// One event is one line: what the first finding explains is told in one beside it, and how sure the runs make it once.
static void compare_page_add_verdict(compare_page *p)
{
    const comparison *c = p->c;
    buffer explained = {0};
    severity worst = SEVERITY_OK;
    size_t lines = 0, alike = 0, last = 0;
    const char *runs = c->sentence_count ? compare_page_runs_text(p, c->sentences) : "";
    for (size_t i = 0; i < c->sentence_count; i++) {
        const comparison_sentence *s = &c->sentences[i];
        bool follows = compare_page_follows(c, s);
        if (*runs && strcmp(compare_page_runs_text(p, s), runs) == 0) alike++, last = follows ? last : i;
        if (!follows) continue;
        buffer_printf(&explained, "%s%s", explained.size ? "; " : "Explained by it: ", compare_page_brief_text(p, s));
        if (s->severity > worst) worst = s->severity;
    }
    for (size_t i = 0; i < c->sentence_count && lines < VERDICT_LINES; i++) {
        const comparison_sentence *s = &c->sentences[i];
        if (compare_page_follows(c, s)) continue;
        bool same = alike > 1 && strcmp(compare_page_runs_text(p, s), runs) == 0;
        document_verdict(p->doc, s->severity, same ? compare_page_sentence_text(p, s) : s->text);
        if (i == 0 && explained.size) document_verdict(p->doc, worst, explained.data);
        if (++lines < VERDICT_LINES && (i != last || alike < 2)) continue;
        if (alike > 1 && i <= last)
            document_verdict(p->doc, SEVERITY_INFO, arena_format(p->memory, "Each of these: %s", runs));
    }
    buffer_free(&explained);
}

static void compare_page_add_head(compare_page *p)
{
    const comparison *c = p->c;
    document_title(p->doc, c->title ? c->title : "");
    compare_page_side_line(p, COMPARISON_HEALTHY);
    compare_page_side_line(p, COMPARISON_FAULTY);
    compare_page_add_verdict(p);
}

// ---- the work ----

// "4.32 s", of several runs "4.32 s (4.10 s to 4.90 s)".
static const char *compare_page_range_text(compare_page *p, const comparison_range *r, number_text (*number)(double))
{
    if (!isfinite(r->median)) return NUMBER_UNKNOWN;
    if (!(r->min < r->max)) return arena_text(p->memory, number(r->median).text);
    return arena_format(p->memory, "%s (%s to %s)", number(r->median).text, number(r->min).text, number(r->max).text);
}

static number_text compare_page_bytes(double bytes)
{
    return number_volume(bytes, "bytes");
}

static number_text compare_page_packets(double packets)
{
    return number_volume(packets, "packets");
}

static number_text compare_page_rate(double bytes_per_s)
{
    return number_volume_rate(bytes_per_s, "bytes");
}

// The first question: the same work, and slower?
static void compare_page_add_work(compare_page *p)
{
    static const table_column columns[] = {{"of a run", TABLE_TEXT, 0},
                                           {"healthy", TABLE_NUMBER, 1},
                                           {"faulty", TABLE_NUMBER, 1},
                                           {TIMES, TABLE_NUMBER, 0}};
    const comparison_work *w = &p->c->work;
    const struct {
        const char *name;
        const comparison_range *sides;
        number_text (*number)(double);
    } rows[] = {{"time", w->seconds, number_duration},
                {"moved", w->bytes, compare_page_bytes},
                {"packets", w->packets, compare_page_packets},
                {"throughput", w->bytes_per_s, compare_page_rate}};
    sheet t = sheet_open(4);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const comparison_range *h = &rows[i].sides[COMPARISON_HEALTHY], *f = &rows[i].sides[COMPARISON_FAULTY];
        if (!isfinite(h->median) && !isfinite(f->median)) continue;
        sheet_text(&t, rows[i].name);
        sheet_text(&t, compare_page_range_text(p, h, rows[i].number));
        sheet_text(&t, compare_page_range_text(p, f, rows[i].number));
        sheet_text(&t, h->median > 0 && f->median > 0 ? arena_text(p->memory, number_plain(f->median / h->median).text)
                                                      : NUMBER_UNKNOWN);
    }
    sheet_end(&t, p->doc,
              (chart_head){"work", "The work and its time", "medians of the runs, their ranges in brackets"}, columns);
}

// ---- which devices are the columns ----

static void compare_page_choose_devices(compare_page *p)
{
    const comparison *c = p->c;
    size_t lead = c->device_count ? 0 : DIFFERENCE_NONE;
    if (c->ranked_count)
        lead = c->lines[0].first_device;
    else if (c->check_count && !c->checks[0].of_node)
        lead = c->checks[0].first_device;
    if (lead == DIFFERENCE_NONE) return;
    p->source = c->devices[lead].source;
    p->devices = arena_make(p->memory, c->device_count + 1, sizeof *p->devices);
    p->labels = arena_make(p->memory, c->device_count + 1, sizeof *p->labels);
    for (int physical = 1; physical >= 0 && !p->count; physical--)
        for (size_t i = 0; i < c->device_count; i++) {
            if (strcmp(c->devices[i].source, p->source) != 0 || (physical && !c->devices[i].physical)) continue;
            p->labels[p->count] = c->devices[i].name;
            p->devices[p->count++] = i;
        }
}

static const comparison_cell *compare_page_cell_of(const comparison_line *l, size_t device)
{
    bool inside = device >= l->first_device && device < l->first_device + l->device_count;
    return inside ? &l->cells[device - l->first_device] : NULL;
}

// ---- what changed most ----

static const char *compare_page_ratio_text(compare_page *p, double ratio, comparison_state state)
{
    if (state == COMPARISON_NEW) return "new";
    if (state == COMPARISON_GONE) return "gone";
    if (!isfinite(ratio)) return NUMBER_UNKNOWN;
    if (ratio < 1e-3) return arena_text(p->memory, words_power(ratio).text);
    return arena_text(p->memory, ratio >= 100   ? number_prefixed(ratio, "").text
                                 : ratio >= .01 ? number_fixed(ratio, 2).text
                                                : number_plain(ratio).text);
}

static const char *compare_page_where_text(compare_page *p, const comparison_line *l)
{
    const char *device = p->c->devices[l->first_device + l->worst].name;
    if (l->pattern != COMPARISON_ALL_ALIKE) return device;
    return arena_format(p->memory, "all %zu", l->device_count);
}

// With how many others of equal values.
static const char *compare_page_name_text(compare_page *p, const comparison_line *l)
{
    return l->equal_count ? arena_format(p->memory, "%s (+%zu equal)", l->name, l->equal_count) : l->name;
}

// The description as far as it fits, by whole words; what would be cut in the middle makes rows alike.
static const char *compare_page_gloss(compare_page *p, const comparison_line *l, size_t room)
{
    size_t cut = words_fitting(l->gloss, room);
    if (!l->gloss[cut]) return l->gloss;
    return cut ? arena_format(p->memory, "%.*s" NUMBER_ELLIPSIS, (int)cut, l->gloss) : l->name;
}

// The description, or the name where another row has the same one.
static const char *compare_page_label(compare_page *p, const comparison_line *l, const comparison_line *const *others,
                                      size_t count)
{
    enum { ROOM = 38 };
    const char *gloss = compare_page_gloss(p, l, ROOM);
    for (size_t i = 0; i < count; i++)
        if (strcmp(compare_page_gloss(p, others[i], ROOM), gloss) == 0) return l->name;
    return *gloss ? gloss : l->name;
}

static dumbbell_row compare_page_row_of(compare_page *p, const comparison_line *l)
{
    const comparison_cell *x = &l->cells[l->worst];
    const comparison_range *h = &x->side[COMPARISON_HEALTHY].per_s;
    dumbbell_row r = {.name = l->name,
                      .gloss = compare_page_gloss(p, l, 29),
                      .device = compare_page_where_text(p, l),
                      .before = h->median,
                      .after = x->side[COMPARISON_FAULTY].per_s.median,
                      .low = p->c->side_count[COMPARISON_HEALTHY] > 1 ? h->min : NAN,
                      .high = p->c->side_count[COMPARISON_HEALTHY] > 1 ? h->max : NAN};
    bool large = x->state == COMPARISON_NEW || (isfinite(x->ratio_per_s) && x->ratio_per_s > 2);
    r.strong = large && l->kind <= COMPARISON_STALLS;
    r.unit = arena_format(p->memory, "%s/s", *l->unit ? l->unit : "events");
    r.columns[0] = arena_text(p->memory, number_prefixed(r.before, "").text);
    r.columns[1] = arena_text(p->memory, number_prefixed(r.after, "").text);
    r.columns[2] = compare_page_ratio_text(p, x->ratio_per_s, x->state);
    r.columns[3] = l->time_driven ? NUMBER_UNKNOWN
                   : x->state == COMPARISON_NEW || x->state == COMPARISON_GONE || isfinite(x->ratio_per_byte)
                       ? compare_page_ratio_text(p, x->ratio_per_byte, x->state)
                       : NUMBER_UNKNOWN;
    r.tip = arena_format(p->memory, "%s on %s: healthy %s, faulty %s a second", l->name,
                         p->c->devices[l->first_device + l->worst].name, number_plain(r.before).text,
                         number_plain(r.after).text);
    return r;
}

// Nearly the same ratio on the same device: the same event, counted once more.
static bool compare_page_is_again(const comparison_line *a, const comparison_line *b)
{
    const comparison_cell *x = &a->cells[a->worst], *y = &b->cells[b->worst];
    double ratio = x->ratio_per_s / y->ratio_per_s;
    return a->kind == b->kind && a->first_device + a->worst == b->first_device + b->worst && ratio > .9 && ratio < 1.1;
}

// The best of the ranking, at most ALIKE of a class and unit: the counters of a family say the same.
static size_t compare_page_pick_lines(const comparison *c, size_t *picked)
{
    size_t count = 0;
    for (size_t i = 0; i < c->ranked_count && count < RANKED; i++) {
        size_t alike = 0;
        for (size_t k = 0; k < count; k++) {
            const comparison_line *other = &c->lines[picked[k]];
            alike += other->kind == c->lines[i].kind && strcmp(other->unit, c->lines[i].unit) == 0;
            if (compare_page_is_again(other, &c->lines[i])) alike = ALIKE;
        }
        if (alike < ALIKE) picked[count++] = i;
    }
    return count;
}

// Class after class and unit after unit.
static void compare_page_add_ranking(compare_page *p)
{
    static const char *const heads[DUMBBELL_COLUMNS] = {"healthy", "faulty", TIMES " per s", TIMES " per byte"};
    const comparison *c = p->c;
    size_t picked[RANKED], most = compare_page_pick_lines(c, picked), count = 0, panel = 0;
    dumbbell_row rows[RANKED];
    bool used[RANKED] = {false};
    for (int kind = 0; kind < COMPARISON_CLASSES; kind++)
        for (size_t i = 0; i < most; i++) {
            const comparison_line *first = &c->lines[picked[i]];
            if (used[i] || (int)first->kind != kind) continue;
            for (size_t k = i; k < most; k++) { // all of the class in this unit
                const comparison_line *l = &c->lines[picked[k]];
                if (used[k] || l->kind != first->kind || strcmp(l->unit, first->unit) != 0) continue;
                used[k] = true;
                rows[count] = compare_page_row_of(p, l);
                rows[count++].panel = panel;
            }
            panel++;
        }
    if (!count) {
        document_note(p->doc, "No counter differs by more than chance, the healthy runs' own range and the floor.");
        return;
    }
    chart_head head = {"changes", "What changed most",
                       "worst device of each counter; hollow is healthy, filled faulty; log axis, worst class first"};
    document_add(p->doc, chart_dumbbell(head, heads, rows, count));
}

// ---- health ----

static bool compare_page_is_share(const rule *x)
{
    return strncmp(x->unit, "of ", 3) == 0;
}

// At most five characters; the unit is in the label of the row.
static const char *compare_page_value_text(compare_page *p, const comparison_verdict *v, const rule *x,
                                           comparison_side side)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T"};
    double value = v->value[side] * (compare_page_is_share(x) ? 100 : 1), size = fabs(value);
    size_t prefix = 0;
    if (v->judged[side] != COMPARISON_JUDGED || !isfinite(value)) return "";
    if (value == 0) return "0";
    if (size < 1e-3) return arena_text(p->memory, words_power(value).text);
    if (size < .05) return arena_format(p->memory, "%.1g", value);
    for (; size >= 999.5 && prefix + 1 < sizeof prefixes / sizeof *prefixes; prefix++)
        size /= 1000;
    return arena_format(p->memory, size < 9.95 ? "%s%.1f%s" : "%s%.0f%s", value < 0 ? NUMBER_MINUS : "", size,
                        prefixes[prefix]);
}

static strip_cell compare_page_strip_of(compare_page *p, const comparison_check *k, const comparison_verdict *v)
{
    strip_cell cell = {.state = STRIP_ABSENT, .text = ""};
    comparison_side shown = COMPARISON_FAULTY;
    if (v->judged[COMPARISON_FAULTY] == COMPARISON_NOT_KNOWN) cell.state = STRIP_UNKNOWN;
    if (v->judged[COMPARISON_FAULTY] != COMPARISON_JUDGED) return cell;
    cell.state = STRIP_KNOWN;
    cell.severity = v->severity[shown];
    cell.weight = fabs(v->value[shown]);
    cell.text = compare_page_value_text(p, v, k->rule, shown);
    if (v->judged[COMPARISON_HEALTHY] == COMPARISON_JUDGED) {
        cell.before = compare_page_value_text(p, v, k->rule, COMPARISON_HEALTHY);
        cell.before_severity = v->severity[COMPARISON_HEALTHY];
    }
    const finding *f = v->finding[shown];
    cell.tip = f && f->claim ? f->claim : NULL;
    return cell;
}

static const char *compare_page_severity_word(const comparison_verdict *v, comparison_side side)
{
    if (v->judged[side] == COMPARISON_JUDGED) return theme_severity_word(v->severity[side]);
    return v->judged[side] == COMPARISON_NOT_KNOWN ? "not read" : NUMBER_UNKNOWN;
}

// "OK -> HIGH"; "OK" where both are alike.
static const char *compare_page_turn_text(compare_page *p, const comparison_verdict *v)
{
    const char *h = compare_page_severity_word(v, COMPARISON_HEALTHY),
               *f = compare_page_severity_word(v, COMPARISON_FAULTY);
    return strcmp(h, f) == 0 ? h : arena_format(p->memory, "%s" ARROW "%s", h, f);
}

static void compare_page_add_health(compare_page *p)
{
    const comparison *c = p->c;
    strip_row rows[CHECKS];
    size_t count = 0;
    for (size_t i = 0; i < c->check_count && count < CHECKS && p->count; i++) {
        const comparison_check *k = &c->checks[i];
        if (k->of_node || strcmp(k->rule->source, p->source) != 0) continue;
        strip_cell *cells = arena_make(p->memory, p->count + 1, sizeof *cells);
        for (size_t d = 0; d < p->count; d++) {
            bool inside = p->devices[d] >= k->first_device && p->devices[d] < k->first_device + k->cell_count;
            cells[d] = inside ? compare_page_strip_of(p, k, &k->cells[p->devices[d] - k->first_device])
                              : (strip_cell){.state = STRIP_ABSENT, .text = ""};
        }
        rows[count++] =
            (strip_row){.label = arena_format(p->memory, "%s%s%s%s", k->rule->name, *k->rule->unit ? ", " : "",
                                              compare_page_is_share(k->rule) ? "% " : "", k->rule->unit),
                        .word = compare_page_turn_text(p, &k->cells[k->worst]),
                        .cells = cells};
    }
    if (!count) return;
    chart_head head = {"health", "Checks",
                       "the worst device of each row: healthy" ARROW "faulty; numbers are the faulty side's"};
    document_add(p->doc, chart_strip(head, p->labels, p->count, rows, count));
}

// "> 5 % of the time": the one that the faulty side crossed.
static const char *compare_page_threshold_text(compare_page *p, const rule *x, severity s)
{
    static const char *const signs[] = {"<", "\xe2\x89\xa4", ">", "\xe2\x89\xa5"};
    char number[64];
    const rule_threshold *t = s > SEVERITY_OK ? &x->thresholds[s] : NULL;
    if (!t || t->op < EXPRESSION_LESS || t->op > EXPRESSION_GREATER_EQUAL) return NUMBER_UNKNOWN;
    const char *shown = finding_number_text(x, t->value, number, sizeof number);
    return arena_format(p->memory, "%s %s", signs[t->op - EXPRESSION_LESS],
                        *shown ? shown : number_plain(t->value).text);
}

static const char *compare_page_side_value(compare_page *p, const comparison_check *k, comparison_side side)
{
    char number[64];
    const comparison_verdict *v = &k->cells[k->worst];
    if (v->judged[side] != COMPARISON_JUDGED) return NUMBER_UNKNOWN;
    const char *shown = finding_number_text(k->rule, v->value[side], number, sizeof number);
    return *shown ? arena_text(p->memory, shown) : arena_text(p->memory, number_plain(v->value[side]).text);
}

// Checks that turned, or are bad on a side: one line each, by its worst device. Not those whose values are near each
// other on both sides of a threshold.
static void compare_page_add_turned(compare_page *p)
{
    static const table_column columns[] = {{"check", TABLE_TEXT, 1},
                                           {"on", TABLE_TEXT, 0},
                                           {"healthy" ARROW "faulty", TABLE_TEXT, 0},
                                           {"healthy", TABLE_NUMBER, 0},
                                           {"faulty", TABLE_NUMBER, 0},
                                           {"threshold", TABLE_NUMBER, 0},
                                           {"in faulty runs", TABLE_NUMBER, 0},
                                           {"healthy runs", TABLE_NUMBER, 0}};
    const comparison *c = p->c;
    sheet t = sheet_open(8);
    for (size_t i = 0; i < c->check_count && sheet_rows(&t) < CHECKS; i++) {
        const comparison_check *k = &c->checks[i];
        const comparison_verdict *v = &k->cells[k->worst];
        if (v->near || (v->severity[0] < SEVERITY_WATCH && v->severity[1] < SEVERITY_WATCH)) continue;
        sheet_text(&t, k->rule->name);
        sheet_text(&t, k->of_node ? k->rule->source : c->devices[k->first_device + k->worst].name);
        sheet_text(&t, compare_page_turn_text(p, v));
        sheet_text(&t, compare_page_side_value(p, k, COMPARISON_HEALTHY));
        sheet_text(&t, compare_page_side_value(p, k, COMPARISON_FAULTY));
        sheet_text(&t, compare_page_threshold_text(p, k->rule, v->severity[COMPARISON_FAULTY]));
        sheet_format(&t, "%zu of %zu", v->found[COMPARISON_FAULTY], v->runs[COMPARISON_FAULTY]);
        sheet_format(&t, "%zu of %zu", v->found[COMPARISON_HEALTHY], v->runs[COMPARISON_HEALTHY]);
    }
    sheet_end(&t, p->doc,
              (chart_head){"turned", "Checks that found something",
                           "those that turned first; the device that tells most, and the runs that have it"},
              columns);
}

// ---- traffic ----

static bool compare_page_add_traffic_row(compare_page *p, const comparison_device *d, bars_row *row)
{
    const comparison_range *way[2] = {d->received, d->sent};
    bool any = false;
    *row = (bars_row){.label = d->name};
    for (int i = 0; i < 2; i++) {
        row->value[i] = way[i][COMPARISON_FAULTY].median;
        row->pale[i] = way[i][COMPARISON_HEALTHY].median;
        row->share[i] = d->speed_bits_per_s > 0 ? 8 * row->value[i] / d->speed_bits_per_s : NAN;
        any = any || row->value[i] > 0 || row->pale[i] > 0;
        row->tip[i] = arena_format(p->memory, "%s: healthy %s, faulty %s", d->name,
                                   number_volume_rate(row->pale[i], "bytes").text,
                                   number_volume_rate(row->value[i], "bytes").text);
    }
    return any;
}

static bool compare_page_make_traffic(compare_page *p, chart *x)
{
    static const bars_style style = {{"received", "sent"}, "bytes", "% of line rate", NULL};
    const comparison *c = p->c;
    bars_row rows[BARS];
    size_t count = 0;
    // The devices of the columns; where they move no bytes, the ports of the node.
    for (size_t i = 0; i < p->count && count < BARS; i++)
        if (compare_page_add_traffic_row(p, &c->devices[p->devices[i]], &rows[count])) count++;
    for (size_t i = 0; i < c->device_count && count < BARS && (!p->count || !count); i++)
        if (c->devices[i].physical && compare_page_add_traffic_row(p, &c->devices[i], &rows[count])) count++;
    if (!count) return false;
    *x = chart_bars((chart_head){"traffic", "Traffic", "pale healthy, solid faulty: did all slow alike?"}, &style, rows,
                    count);
    return true;
}

// ---- new and gone ----

static void compare_page_list_state(compare_page *p, sheet *t, comparison_state state, const char *title)
{
    const comparison *c = p->c;
    comparison_side side = state == COMPARISON_NEW ? COMPARISON_FAULTY : COMPARISON_HEALTHY;
    for (size_t i = 0, count = 0; i < c->ranked_count && count < LISTED; i++) {
        const comparison_line *l = &c->lines[i];
        const comparison_cell *x = &l->cells[l->worst];
        if (x->state != state) continue;
        if (!count++) sheet_heading(t, title);
        sheet_text(t, compare_page_name_text(p, l));
        sheet_text(t, compare_page_where_text(p, l));
        sheet_number(t, number_volume(x->side[side].count, *l->unit ? l->unit : "events"));
    }
}

static bool compare_page_make_new_and_gone(compare_page *p, chart *x)
{
    static const table_column columns[] = {
        {"counter", TABLE_NAME, 1}, {"device", TABLE_TEXT, 0}, {"count", TABLE_NUMBER, 0}};
    sheet t = sheet_open(3);
    compare_page_list_state(p, &t, COMPARISON_NEW, "new in faulty");
    compare_page_list_state(p, &t, COMPARISON_GONE, "gone in faulty");
    if (!sheet_rows(&t)) return false;
    *x = sheet_chart(&t, (chart_head){"new-and-gone", "New and gone", "no ratio exists for these"}, columns);
    return true;
}

static void compare_page_add_traffic_and_new(compare_page *p)
{
    chart traffic, fresh;
    bool has_traffic = compare_page_make_traffic(p, &traffic), has_fresh = compare_page_make_new_and_gone(p, &fresh);
    if (has_traffic && has_fresh)
        document_beside(p->doc, traffic, fresh, .58);
    else if (has_traffic)
        document_add(p->doc, traffic);
    else if (has_fresh)
        document_add(p->doc, fresh);
}

// ---- change by device ----

static void compare_page_add_heat(compare_page *p)
{
    const comparison *c = p->c;
    heat_row rows[HEAT_ROWS];
    const comparison_line *shown[HEAT_ROWS];
    size_t count = 0;
    for (size_t i = 0; i < c->ranked_count && count < HEAT_ROWS && p->count > 1; i++) {
        const comparison_line *l = &c->lines[i];
        double *values = arena_make(p->memory, p->count, sizeof *values);
        const char **texts = arena_make(p->memory, p->count, sizeof *texts);
        bool again = strcmp(l->source, p->source) != 0;
        for (size_t k = 0; k < count; k++)
            again = again || compare_page_is_again(shown[k], l);
        if (again) continue;
        const char *label = compare_page_label(p, l, shown, count);
        shown[count] = l;
        for (size_t d = 0; d < p->count; d++) {
            const comparison_cell *x = compare_page_cell_of(l, p->devices[d]);
            bool ratio = x && (x->state == COMPARISON_CHANGED || x->state == COMPARISON_SAME) && x->ratio_per_s > 0;
            values[d] = ratio                              ? x->ratio_per_s
                        : x && x->state == COMPARISON_NEW  ? 1e3
                        : x && x->state == COMPARISON_GONE ? 1e-3
                                                           : NAN;
            texts[d] = x && (ratio || x->state == COMPARISON_NEW || x->state == COMPARISON_GONE)
                           ? compare_page_ratio_text(p, x->ratio_per_s, x->state)
                       : x && x->state == COMPARISON_ZERO ? "0"
                                                          : "";
        }
        rows[count++] = (heat_row){.label = label,
                                   .unit = "",
                                   .band = 0,
                                   .ramp = INK_DIVERGING,
                                   .values = values,
                                   .texts = texts,
                                   .note = l->pattern_text};
    }
    if (!count) return;
    chart_head head = {"by-device", "Change by device",
                       "faulty \xc3\xb7 healthy, per second; hatched: 0 in both, or not known"};
    document_add(p->doc, chart_heat(head, p->labels, p->count, rows, count,
                                    "Blue: less than in the healthy runs, orange: more. The ratio is in the cell."));
}

// ---- the later pages ----

static const char *compare_page_count_text(compare_page *p, double value)
{
    return arena_text(p->memory, isfinite(value) ? number_prefixed(value, "").text : NUMBER_UNKNOWN);
}

static void compare_page_add_all_lines(compare_page *p)
{
    enum { COLUMNS = 8, MOST = 200 };
    static const table_column columns[COLUMNS] = {
        {"counter", TABLE_NAME, 1},           {"device", TABLE_TEXT, 0},         {"class", TABLE_TEXT, 0},
        {"healthy per s", TABLE_NUMBER, 0},   {"faulty per s", TABLE_NUMBER, 0}, {TIMES " per s", TABLE_NUMBER, 0},
        {TIMES " per byte", TABLE_NUMBER, 0}, {"where", TABLE_TEXT, 0}};
    const comparison *c = p->c;
    size_t most = c->ranked_count < MOST ? c->ranked_count : MOST;
    sheet t = sheet_open(COLUMNS);
    for (size_t i = 0; i < most; i++) {
        const comparison_line *l = &c->lines[i];
        dumbbell_row r = compare_page_row_of(p, l);
        sheet_text(&t, compare_page_name_text(p, l));
        sheet_text(&t, p->c->devices[l->first_device + l->worst].name);
        sheet_text(&t, comparison_class_name(l->kind));
        sheet_text(&t, compare_page_count_text(p, r.before));
        sheet_text(&t, compare_page_count_text(p, r.after));
        sheet_text(&t, r.columns[2]);
        sheet_text(&t, r.columns[3]);
        sheet_text(&t, l->pattern_text ? l->pattern_text : "");
    }
    sheet_end(&t, p->doc, (chart_head){"all-changes", "All that changed", "by score; the worst device of each counter"},
              columns);
    if (most < c->ranked_count)
        document_note(p->doc, arena_format(p->memory, "%zu more counters changed; netprof compare --all lists them.",
                                           c->ranked_count - most));
}

static void compare_page_add_shapes(compare_page *p)
{
    static const table_column columns[] = {{"histogram", TABLE_NAME, 1},
                                           {"device", TABLE_TEXT, 0},
                                           {"samples moved", TABLE_NUMBER, 0},
                                           {"middle, healthy", TABLE_NAME, 0},
                                           {"middle, faulty", TABLE_NAME, 0}};
    const comparison *c = p->c;
    sheet t = sheet_open(5);
    for (size_t i = 0; i < c->shape_count; i++) {
        const comparison_shape *s = &c->shapes[i];
        sheet_text(&t, s->name);
        sheet_text(&t, c->devices[s->device].name);
        sheet_number(&t, number_percent(s->moved));
        for (int side = 0; side < COMPARISON_SIDES; side++)
            sheet_text(&t, s->middle[side] ? s->middle[side] : NUMBER_UNKNOWN);
    }
    sheet_end(&t, p->doc,
              (chart_head){"shapes", "Histograms that moved", "share of the samples that lie in other bins"}, columns);
}

static void compare_page_add_gauges(compare_page *p)
{
    static const table_column columns[] = {{"device", TABLE_TEXT, 0},
                                           {"gauge", TABLE_NAME, 1},
                                           {"healthy", TABLE_NUMBER, 0},
                                           {"faulty", TABLE_NUMBER, 0},
                                           {"unit", TABLE_TEXT, 0}};
    enum { MOST = 40 };
    const comparison *c = p->c;
    size_t count = c->gauge_count < MOST ? c->gauge_count : MOST;
    sheet t = sheet_open(5);
    for (size_t i = 0; i < count; i++) {
        const comparison_gauge *g = &c->gauges[i];
        sheet_text(&t, c->devices[g->device].name);
        sheet_text(&t, g->name);
        for (int side = 0; side < COMPARISON_SIDES; side++)
            sheet_text(&t, compare_page_count_text(p, g->side[side].median));
        sheet_text(&t, g->unit);
    }
    sheet_end(&t, p->doc,
              (chart_head){"gauges", "Gauges that differ", "at the end of the runs; those whose ranges do not meet"},
              columns);
}

static void compare_page_add_facts(compare_page *p)
{
    static const table_column columns[] = {
        {"device", TABLE_TEXT, 0}, {"fact", TABLE_NAME, 0}, {"healthy", TABLE_TEXT, 1}, {"faulty", TABLE_TEXT, 1}};
    enum { MOST = 40 };
    const comparison *c = p->c;
    size_t count = c->fact_count < MOST ? c->fact_count : MOST;
    sheet t = sheet_open(4);
    for (size_t i = 0; i < count; i++) {
        const comparison_fact *f = &c->facts[i];
        sheet_text(&t, f->device == DIFFERENCE_NONE ? "node" : c->devices[f->device].name);
        sheet_text(&t, f->key);
        for (int side = 0; side < COMPARISON_SIDES; side++)
            sheet_text(&t, f->side[side] ? f->side[side] : NUMBER_UNKNOWN);
    }
    sheet_end(&t, p->doc, (chart_head){"facts", "Facts that differ", "of devices and nodes"}, columns);
}

static void compare_page_add_runs(compare_page *p)
{
    static const table_column columns[] = {{"side", TABLE_TEXT, 0},     {"run", TABLE_TEXT, 1},
                                           {"node", TABLE_TEXT, 0},     {"began, UTC", TABLE_TEXT, 0},
                                           {"length", TABLE_NUMBER, 0}, {"moved", TABLE_NUMBER, 0}};
    const comparison *c = p->c;
    sheet t = sheet_open(6);
    for (size_t i = 0; i < c->run_count; i++) {
        const comparison_run *r = c->runs[i];
        sheet_text(&t, comparison_side_name(r->side));
        sheet_text(&t, r->damaged ? arena_format(p->memory, "%s (damaged)", r->label) : r->label);
        sheet_text(&t, *r->host ? r->host : NUMBER_UNKNOWN);
        sheet_text(&t, arena_text(p->memory, r->wall_ns ? number_utc(r->wall_ns, 0).text : NUMBER_UNKNOWN));
        sheet_number(&t, number_duration(r->elapsed_ns ? (double)r->elapsed_ns / 1e9 : NAN));
        sheet_text(&t,
                   arena_text(p->memory, isfinite(r->bytes) ? number_volume(r->bytes, "bytes").text : NUMBER_UNKNOWN));
    }
    sheet_end(&t, p->doc, (chart_head){"runs", "Runs", "what was compared"}, columns);
}

static void compare_page_add_method(compare_page *p)
{
    const comparison *c = p->c;
    char text[512];
    for (size_t i = 0; i < c->note_count; i++)
        document_note(p->doc, c->notes[i]);
    snprintf(text, sizeof text,
             "%zu counters changed in both, %zu are new, %zu gone, %zu the same, %zu zero in all runs, %zu could not "
             "be compared. "
             "Left out: %zu that only tell time, %zu that errata spoil.",
             c->counts.states[COMPARISON_CHANGED], c->counts.states[COMPARISON_NEW], c->counts.states[COMPARISON_GONE],
             c->counts.states[COMPARISON_SAME], c->counts.states[COMPARISON_ZERO], c->counts.states[COMPARISON_UNKNOWN],
             c->counts.clocks, c->counts.bad);
    document_note(p->doc, text);
    document_note(
        p->doc,
        "Several runs count by their middle and by ranks, never by the worst one; counters without a rule accuse only "
        "where runs "
        "that differ in nothing would show any at most once in 100 comparisons. Ranked by |log2((faulty + e) / "
        "(healthy + e))| times the weight of the class (errors, stalls, packets, "
        "bytes), "
        "where e is one event in the interval, per second and per byte, the milder of the two. What lies within "
        "chance, "
        "within the healthy runs' range or below a floor is no difference. Differences are shown, causes are not.");
}

static void compare_page_add_pages(compare_page *p, bool brief)
{
    compare_page_add_head(p);
    compare_page_add_work(p);
    compare_page_add_turned(p);
    compare_page_add_ranking(p);
    compare_page_add_health(p);
    compare_page_add_traffic_and_new(p);
    compare_page_add_heat(p);
    if (brief) return;
    document_part(p->doc, "Everything that differs");
    compare_page_add_all_lines(p);
    compare_page_add_shapes(p);
    compare_page_add_gauges(p);
    compare_page_add_facts(p);
    compare_page_add_runs(p);
    compare_page_add_method(p);
}

document *pages_compare(const comparison *c, bool brief)
{
    compare_page p = {.c = c, .doc = document_open(pages_compare_kind.name), .memory = arena_open()};
    compare_page_choose_devices(&p);
    compare_page_add_pages(&p, brief);
    document_foot(p.doc, arena_format(p.memory,
                                      "netprof %s" DOT TIMES " = faulty \xc3\xb7 healthy" DOT
                                      "rates use each counter's own pair of time stamps",
                                      netprof_version()));
    document_metadata(p.doc, "comparison of network counters", "netprof, network, counters, comparison",
                      c->run_count ? c->runs[c->run_count - 1]->wall_ns : 0);
    arena_close(p.memory);
    return p.doc;
}
