#include "compare_text.h"

#include "cli/fold.h"
#include "cli/output.h"
#include "analysis/base/memory.h"
#include "analysis/base/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 80 };

// ---- help ----

// Prints a text folded at blanks; further lines begin under the first.
static void compare_text_folded(FILE *to, const char *text, size_t indent)
{
    size_t width = fold_width(to);
    fold_text(to, text, indent, indent, width && width < WIDTH ? width : WIDTH);
    putc('\n', to);
}

static const char *compare_text_paint(severity s)
{
    static const char *const sequences[SEVERITIES] = {"\033[32m", "\033[2m",  "\033[2m", "\033[33m",
                                                      "\033[33m", "\033[31m", "\033[31m"};
    return sequences[s];
}

static colour compare_text_colour_of(severity s)
{
    return s >= SEVERITY_HIGH ? ALARM : s >= SEVERITY_WATCH ? WARNING : PLAIN;
}

// "2794", "0.690", or "-" if unknown.
static words_text compare_text_ratio(double ratio)
{
    return isnan(ratio) ? (words_text){"-"} : words_number(ratio);
}

static words_text compare_text_rate_cell(double rate, const char *unit)
{
    return isnan(rate) ? (words_text){"?"} : words_amount(rate, unit);
}

// ---- what is compared ----

static void compare_text_runs(FILE *to, const comparison *c)
{
    static const column columns[] = {
        {"SIDE", 0}, {"NODE", COLUMN_LEAN}, {"BEGAN", COLUMN_LEAN}, {"LASTED", COLUMN_RIGHT}, {"MOVED", COLUMN_RIGHT},
        {"FILES", 0}};
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t r = 0; r < c->run_count; r++) {
        const comparison_run *run = c->runs[r];
        table_cell(t, PLAIN, comparison_side_name(run->side));
        table_cell(t, PLAIN, run->host);
        table_cell(t, PLAIN, run->wall_ns ? words_time(run->wall_ns).text : NULL);
        table_cell(t, PLAIN, run->elapsed_ns > 0 ? words_duration((double)run->elapsed_ns / 1e9).text : "?");
        table_cell(t, PLAIN, isnan(run->bytes) ? "?" : words_amount(run->bytes, "bytes").text);
        table_cell(t, PLAIN, run->label);
    }
    table_end(t, to, 2);
    for (size_t i = 0; i < c->note_count; i++) {
        fputs("  note: ", to);
        compare_text_folded(to, safe(c->notes[i]), 8);
    }
}

static void compare_text_sentences(FILE *to, const comparison *c)
{
    heading(to, "Verdict");
    for (size_t i = 0; i < c->sentence_count; i++) {
        severity s = c->sentences[i].severity;
        bool coloured = output_colour(to);
        fprintf(to, "  %s%-8s%s ", coloured ? compare_text_paint(s) : "", severity_name(s), coloured ? "\033[0m" : "");
        compare_text_folded(to, safe(c->sentences[i].text), 11);
    }
    if (c->sentence_count) return;
    fprintf(to, "  %-8s %s\n", severity_name(c->severity),
            c->severity == SEVERITY_OK ? "nothing differs beyond chance"
                                       : "nothing went worse; what changed stands below");
}

// ---- counters ----

static void compare_text_line_row(table *t, const comparison *c, const comparison_line *line)
{
    const comparison_cell *cell = &line->cells[line->worst];
    const comparison_range *healthy = &cell->side[COMPARISON_HEALTHY].per_s;
    bool apart = cell->state == COMPARISON_NEW || cell->state == COMPARISON_GONE;
    colour mark = cell->score > 0 && line->kind <= COMPARISON_STALLS && cell->direction > 0 ? WARNING : PLAIN;
    if (line->equal_count)
        table_printf(t, mark, "%s (+%zu)", line->name, line->equal_count);
    else
        table_cell(t, mark, line->name);
    if (c->side_count[COMPARISON_HEALTHY] > 1)
        table_printf(t, PLAIN, "%s..%s", compare_text_rate_cell(healthy->min, line->unit).text,
                     compare_text_rate_cell(healthy->max, line->unit).text);
    else
        table_cell(t, PLAIN, compare_text_rate_cell(healthy->median, line->unit).text);
    table_cell(t, PLAIN, compare_text_rate_cell(cell->side[COMPARISON_FAULTY].per_s.median, line->unit).text);
    if (c->side_count[COMPARISON_FAULTY] > 1)
        table_cell(t, PLAIN, compare_text_rate_cell(cell->worst_per_s, line->unit).text);
    else
        table_cell(t, PLAIN, NULL);
    table_cell(t, mark, apart ? comparison_state_name(cell->state) : compare_text_ratio(cell->ratio_per_s).text);
    table_cell(t, mark, apart ? NULL : compare_text_ratio(cell->ratio_per_byte).text);
    table_cell(t, PLAIN, line->pattern_text);
}

static const char *compare_text_unit_heading(const comparison_line *line)
{
    return strcmp(line->unit, "bytes") == 0 ? "bytes" : *line->unit ? line->unit : "count";
}

// The counters of one class and state, unit after unit as their first ones rank. Returns how many were left out.
static size_t compare_text_class(FILE *to, const comparison *c, comparison_class kind, size_t from, size_t end,
                                 size_t top)
{
    static const column columns[] = {{"COUNTER", 0},
                                     {"HEALTHY/s", COLUMN_RIGHT},
                                     {"FAULTY/s", COLUMN_RIGHT},
                                     {"WORST/s", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"x/s", COLUMN_RIGHT},
                                     {"x/byte", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"WHERE", 0}};
    size_t shown = 0, left_out = 0;
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    char *units = memory_strdup("");
    for (size_t i = from; i < end; i++) {
        const comparison_line *line = &c->lines[i];
        if (line->kind != kind) continue;
        if (top && shown >= top) {
            left_out++;
            continue;
        }
        shown++;
        compare_text_line_row(t, c, line);
        if (strstr(units, compare_text_unit_heading(line))) continue;
        char *longer = memory_format("%s%s%s", units, *units ? ", " : "", safe(compare_text_unit_heading(line)));
        free(units);
        units = longer;
    }
    if (shown) fprintf(to, "  -- %s (%s)\n", comparison_class_name(kind), units);
    table_end(t, to, 4);
    free(units);
    return left_out;
}

static void compare_text_lines(FILE *to, const comparison *c, size_t top, bool all)
{
    size_t left_out = 0;
    if (c->ranked_count) {
        heading(to, "What changed most: per second, on the device where it changed most");
        for (int kind = 0; kind < COMPARISON_CLASSES; kind++)
            left_out += compare_text_class(to, c, (comparison_class)kind, 0, c->ranked_count, top);
    }
    if (left_out) fprintf(to, "  ... and %zu more (--all, --top 0)\n", left_out);
    if (!all || c->line_count == c->ranked_count) return;
    heading(to, "Within chance, or as the traffic");
    for (int kind = 0; kind < COMPARISON_CLASSES; kind++)
        compare_text_class(to, c, (comparison_class)kind, c->ranked_count, c->line_count, 0);
}

// What is folded into the lines that are shown.
static void compare_text_equal(FILE *to, const comparison *c, bool all)
{
    bool begun = false;
    for (size_t i = 0; all && i < c->line_count; i++) {
        const comparison_line *line = &c->lines[i];
        if (!line->equal_count) continue;
        if (!begun) heading(to, "Equal counters");
        begun = true;
        fprintf(to, "  %s:", safe(line->name));
        for (size_t k = 0; k < line->equal_count; k++)
            fprintf(to, " %s", safe(line->equal[k]));
        putc('\n', to);
    }
}

// ---- checks ----

static void compare_text_side_cell(table *t, const comparison_check *check, comparison_side side)
{
    const comparison_verdict *v = &check->cells[check->worst];
    char number[64];
    if (v->judged[side] != COMPARISON_JUDGED) {
        table_cell(t, DIM, v->judged[side] == COMPARISON_NOT_KNOWN ? "unknown" : "nothing to judge");
        return;
    }
    const char *shown = finding_number_text(check->rule, v->value[side], number, sizeof number);
    table_printf(t, compare_text_colour_of(v->severity[side]), "%s%s%s", severity_name(v->severity[side]),
                 *shown ? " " : "", shown);
}

static void compare_text_checks(FILE *to, const comparison *c, bool all)
{
    static const column columns[] = {{"CHECK", 0}, {"HEALTHY", 0}, {"FAULTY", 0}, {"ON", 0}};
    size_t same = 0;
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < c->check_count; i++) {
        const comparison_check *check = &c->checks[i];
        size_t count = 0;
        for (size_t k = 0; k < check->cell_count; k++)
            count += check->cells[k].flipped;
        if (!check->flipped && !all) {
            same++;
            continue;
        }
        table_cell(t, PLAIN, check->rule->name);
        compare_text_side_cell(t, check, COMPARISON_HEALTHY);
        compare_text_side_cell(t, check, COMPARISON_FAULTY);
        const char *worst = check->of_node ? check->rule->source : c->devices[check->first_device + check->worst].name;
        if (count > 1)
            table_printf(t, PLAIN, "%s and %zu more", worst, count - 1);
        else
            table_cell(t, PLAIN, worst);
    }
    if (table_lines(t)) heading(to, "Checks %s", all ? "(the device that tells most)" : "that turned");
    table_end(t, to, 2);
    if (same)
        fprintf(to, "%s%s alike on both sides\n", c->check_count == same ? "\n" : "  ... and ",
                words_many(same, "check").text);
}

// ---- traffic, histograms, gauges ----

static void compare_text_way_cell(table *t, const comparison_range side[COMPARISON_SIDES])
{
    double h = side[COMPARISON_HEALTHY].median, f = side[COMPARISON_FAULTY].median;
    if (isnan(h) && isnan(f))
        table_cell(t, PLAIN, NULL);
    else
        table_printf(t, PLAIN, "%s -> %s", isnan(h) ? "?" : words_amount_rate(h, "bytes").text,
                     isnan(f) ? "?" : words_amount_rate(f, "bytes").text);
}

static void compare_text_traffic(FILE *to, const comparison *c, bool all)
{
    static const column columns[] = {{"DEVICE", 0},
                                     {"SOURCE", 0},
                                     {"RECEIVED", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"x", COLUMN_RIGHT},
                                     {"SENT", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"x", COLUMN_RIGHT}};
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < c->device_count; i++) {
        const comparison_device *d = &c->devices[i];
        const comparison_range *ways[] = {d->received, d->sent};
        double most = 0;
        for (int way = 0; way < 2; way++)
            for (int side = 0; side < COMPARISON_SIDES; side++)
                if (!isnan(ways[way][side].median)) most = fmax(most, ways[way][side].median);
        if (!(most > 0) && !all) continue;
        if (isnan(d->received[0].median) && isnan(d->received[1].median)) continue;
        table_cell(t, d->physical ? PLAIN : DIM, d->name);
        table_cell(t, PLAIN, d->source);
        for (int way = 0; way < 2; way++) {
            double h = ways[way][0].median, f = ways[way][1].median;
            compare_text_way_cell(t, ways[way]);
            table_cell(t, PLAIN, compare_text_ratio(h > 0 && f > 0 ? f / h : NAN).text);
        }
    }
    if (table_lines(t)) heading(to, "Traffic, healthy -> faulty");
    table_end(t, to, 2);
}

static void compare_text_shapes(FILE *to, const comparison *c, bool all)
{
    enum { SHOWN = 4 };
    static const column columns[] = {
        {"HISTOGRAM", 0}, {"MOVED", COLUMN_RIGHT}, {"MIDDLE BIN", COLUMN_RIGHT}, {"ON", 0}};
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < c->shape_count && (all || i < SHOWN); i++) {
        const comparison_shape *s = &c->shapes[i];
        table_cell(t, PLAIN, s->name);
        table_cell(t, PLAIN, words_share(s->moved).text);
        table_printf(t, PLAIN, "%s -> %s", s->middle[0] + strlen(s->name) - 1, s->middle[1] + strlen(s->name) - 1);
        table_cell(t, PLAIN, c->devices[s->device].name);
    }
    if (c->shape_count) heading(to, "Histograms whose samples moved to other bins");
    table_end(t, to, 2);
    if (!all && c->shape_count > SHOWN) fprintf(to, "  ... and %zu more (--all)\n", c->shape_count - SHOWN);
}

static void compare_text_gauges(FILE *to, const comparison *c, bool all)
{
    enum { SHOWN = 5 };
    static const column columns[] = {
        {"DEVICE", 0}, {"GAUGE", 0}, {"HEALTHY", COLUMN_RIGHT}, {"FAULTY", COLUMN_RIGHT}, {"UNIT", COLUMN_LEAN}};
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < c->gauge_count && (all || i < SHOWN); i++) {
        const comparison_gauge *g = &c->gauges[i];
        table_cell(t, PLAIN, c->devices[g->device].name);
        table_cell(t, PLAIN, g->name);
        for (int side = 0; side < COMPARISON_SIDES; side++) {
            const comparison_range *r = &g->side[side];
            if (r->min < r->max)
                table_printf(t, PLAIN, "%s..%s", words_count(r->min).text, words_count(r->max).text);
            else
                table_cell(t, PLAIN, words_count(r->median).text);
        }
        table_cell(t, PLAIN, g->unit);
    }
    if (c->gauge_count) heading(to, "Gauges at the end (never a ratio)");
    table_end(t, to, 2);
    if (!all && c->gauge_count > SHOWN) fprintf(to, "  ... and %zu more (--all)\n", c->gauge_count - SHOWN);
}

// Those without a value on a side, and why.
static void compare_text_missing(FILE *to, const comparison *c, bool all)
{
    static const column columns[] = {{"DEVICE", 0}, {"COUNTER", 0}, {"HEALTHY", 0}, {"FAULTY", 0}};
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; all && i < c->missing_count; i++) {
        const comparison_missing *x = &c->missing[i];
        table_cell(t, PLAIN, c->devices[x->device].name);
        table_cell(t, PLAIN, x->name);
        for (int side = 0; side < COMPARISON_SIDES; side++)
            table_cell(t, strcmp(x->reason[side], "ok") == 0 ? PLAIN : DIM, x->reason[side]);
    }
    if (table_lines(t)) heading(to, "Could not be compared");
    table_end(t, to, 2);
}

static void compare_text_counts(FILE *to, const comparison *c)
{
    const comparison_counts *n = &c->counts;
    char *text =
        memory_format("%zu new, %zu gone, %zu changed, %zu within chance or as the traffic, %zu zero on both sides, "
                      "%zu without a value on a side.",
                      n->states[COMPARISON_NEW], n->states[COMPARISON_GONE], n->states[COMPARISON_CHANGED],
                      n->states[COMPARISON_SAME], n->states[COMPARISON_ZERO], n->states[COMPARISON_UNKNOWN]);
    heading(to, "Counters");
    fputs("  ", to);
    compare_text_folded(to, text, 2);
    free(text);
}

void compare_print_text(FILE *to, const comparison *c, size_t top, bool all)
{
    bool coloured = output_colour(to);
    fputs(coloured ? compare_text_paint(c->severity) : "", to);
    compare_text_folded(to, safe(c->title), 0);
    fputs(coloured ? "\033[0m\n" : "\n", to);
    compare_text_runs(to, c);
    compare_text_sentences(to, c);
    compare_text_lines(to, c, top, all);
    compare_text_checks(to, c, all);
    compare_text_traffic(to, c, all);
    compare_text_shapes(to, c, all);
    compare_text_gauges(to, c, all);
    compare_text_equal(to, c, all);
    compare_text_missing(to, c, all);
    compare_text_counts(to, c);
}
