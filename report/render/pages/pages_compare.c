// The report of healthy runs against faulty ones.
#include "pages_compare.h"
#include "render/base/buffer.h"
#include "render/chart/charts.h"
#include "render/base/number.h"
#include "pages_signs.h"
#include "sheet.h"
#include "analysis/base/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TURNED = 12, LISTED = 6 };

const pages_kind pages_compare_kind = {
    "Comparison of runs",
    "the same work? slower? what differs, what it is not; where it backs up, what "
    "changed, checks, devices; all changes, "
    "runs",
    "path work-over-time spread work changes health by-device traffic turned new-and-gone "
    "all-changes shapes gauges facts runs"};

// ---- counters as rows ----

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

// ---- checks that turned ----

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
    for (size_t i = 0; i < c->check_count && sheet_rows(&t) < TURNED; i++) {
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

static void compare_page_add_new_and_gone(compare_page *p)
{
    static const table_column columns[] = {
        {"counter", TABLE_NAME, 1}, {"device", TABLE_TEXT, 0}, {"count", TABLE_NUMBER, 0}};
    sheet t = sheet_open(3);
    compare_page_list_state(p, &t, COMPARISON_NEW, "new in faulty");
    compare_page_list_state(p, &t, COMPARISON_GONE, "gone in faulty");
    sheet_end(&t, p->doc, (chart_head){"new-and-gone", "New and gone", "no ratio exists for these"}, columns);
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
        const comparison_cell *x = &l->cells[l->worst];
        sheet_text(&t, compare_page_name_text(p, l));
        sheet_text(&t, p->c->devices[l->first_device + l->worst].name);
        sheet_text(&t, comparison_class_name(l->kind));
        sheet_text(&t, compare_page_count_text(p, x->side[COMPARISON_HEALTHY].per_s.median));
        sheet_text(&t, compare_page_count_text(p, x->side[COMPARISON_FAULTY].per_s.median));
        sheet_text(&t, compare_page_ratio_text(p, x->ratio_per_s, x->state));
        sheet_text(&t, l->time_driven ? NUMBER_UNKNOWN : compare_page_ratio_text(p, x->ratio_per_byte, x->state));
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
    compare_page_first(p);
    if (brief) return;
    document_part(p->doc, "Everything that differs");
    if (p->traffic_follows) compare_page_add_traffic(p);
    compare_page_add_figures(p);
    compare_page_add_turned(p);
    compare_page_add_new_and_gone(p);
    compare_page_add_all_lines(p);
    compare_page_add_shapes(p);
    compare_page_add_gauges(p);
    compare_page_add_facts(p);
    compare_page_add_runs(p);
    compare_page_add_method(p);
}

document *pages_compare(const comparison *c, const regions *const processes[COMPARISON_SIDES], bool brief)
{
    compare_page p = {.c = c, .doc = document_open(pages_compare_kind.name), .memory = arena_open()};
    for (int side = 0; processes && side < COMPARISON_SIDES; side++)
        p.regions[side] = processes[side];
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
