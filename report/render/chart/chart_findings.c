// Findings: what is claimed, what it rests on, from which threshold on, what to do; and where the peers are.
#include "chart_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct list {
    arena *memory;
    findings_row *rows;
    size_t count;
} list;

static const double pad = 7, text_left = 14, strip_width = 128, strip_height = 50, line = 9.6, gap = 6;

// On a telephone the strip of the devices is below the texts.
static bool findings_is_narrow(double width)
{
    return width < 400;
}

static double findings_text_width(const findings_row *r, double width)
{
    return width - text_left - 10 - (r->value_count && !findings_is_narrow(width) ? strip_width + 16 : 0);
}

// One paragraph after a small label; measured when not drawn. Returns the height.
static double findings_labelled(canvas *c, double x, double y, double width, const char *label, const char *text,
                                bool shown)
{
    const double indent = 52;
    if (!*text) return 0;
    if (!shown) return canvas_paragraph_height(c, width - indent, text, TYPE_TABLE, 0);
    canvas_text(c, x, y, label, TYPE_TABLE, INK_SECONDARY, ALIGN_LEFT, indent - 4);
    return canvas_paragraph(c, x + indent, y, width - indent, text, TYPE_TABLE, INK_TEXT, 0);
}

// Where there is little room, without the rates.
static double chart_findings_evidence(canvas *c, double x, double y, double width, const findings_row *r, bool narrow,
                                      bool shown)
{
    const double indent = 52;
    for (size_t i = 0; shown && i < r->evidence_count; i++) {
        const findings_evidence *e = &r->evidence[i];
        double base = y + line * (double)i, right = x + width,
               middle = narrow ? right : x + indent + (width - indent) * .68;
        if (!i) canvas_text(c, x, base, "evidence", TYPE_TABLE, INK_SECONDARY, ALIGN_LEFT, indent - 4);
        double room = middle - x - indent - 6 -
                      canvas_text(c, middle, base, e->value, TYPE_CELL, INK_TEXT, ALIGN_RIGHT,
                                  (width - indent) * (narrow ? .6 : .4));
        canvas_text(c, x + indent, base, e->name, TYPE_MONO, INK_TEXT, ALIGN_LEFT, room);
        if (!narrow) canvas_text(c, right, base, e->rate, TYPE_CELL, INK_SECONDARY, ALIGN_RIGHT, right - middle - 8);
    }
    return line * (double)r->evidence_count;
}

// The block of a finding; returns its height.
static double findings_block(canvas *c, double x, double y, double width, const findings_row *r, bool shown)
{
    double inner = findings_text_width(r, width), left = x + text_left, at = y + pad + 7;
    char head[512];
    snprintf(head, sizeof head, "%.200s: %.200s", r->rule, r->devices);
    if (shown) {
        canvas_mark(c, left + 3, at - 3, r->severity);
        double word = canvas_text(c, left + 11, at, theme_severity_word(r->severity), TYPE_TABLE_STRONG,
                                  theme_severity_ink(r->severity), ALIGN_LEFT, 0);
        canvas_text(c, left + 17 + word, at, head, TYPE_TABLE_STRONG, INK_TEXT, ALIGN_LEFT,
                    width - text_left - 27 - word);
    }
    at += 13;
    at += shown ? canvas_paragraph(c, left, at, inner, r->claim, TYPE_BODY, INK_TEXT, 0)
                : canvas_paragraph_height(c, inner, r->claim, TYPE_BODY, 0);
    at += 1;
    at += chart_findings_evidence(c, left, at, inner, r, findings_is_narrow(width), shown);
    at += findings_labelled(c, left, at, inner, "threshold", r->threshold, shown);
    at += findings_labelled(c, left, at, inner, "because of", r->explained_by, shown);
    at += findings_labelled(c, left, at, inner, "do", r->advice, shown);
    double height = at - y - 7 + pad;
    if (!r->value_count) return height;
    return findings_is_narrow(width) ? height + strip_height : fmax(height, 62);
}

static double findings_height(const chart *x, canvas *c, double width, size_t from, size_t count)
{
    const list *l = x->data;
    double sum = 0;
    for (size_t i = from; i < from + count && i < l->count; i++)
        sum += findings_block(c, 0, 0, width, &l->rows[i], false) + gap;
    return sum;
}

// Both ends in one form: a share in percent, what is per bit in so many per Tbit, else where the lower end is tiny with its
// power of ten.
static void findings_end_label(canvas *c, const findings_row *r, double low, double value, double x, double y,
                               canvas_align align)
{
    char text[48];
    const char *format = strncmp(r->unit, "of ", 3) == 0 && low >= 1e-6 ? "%"
                         : strstr(r->unit, "per bit")                   ? "t"
                         : low < 1e-3                                   ? "e"
                                                                        : "";
    rules_format(text, sizeof text, format, value);
    canvas_text(c, x, y, text, TYPE_FOOT, INK_SECONDARY, align, 56);
}

// Devices past the threshold that were not found: what else the rule asks, packets enough, say, they did not meet.
static size_t findings_count_spared(const findings_row *r)
{
    size_t above = 0, below = 0, spared = 0;
    for (size_t i = 0; i < r->value_count && r->limit > 0; i++) {
        if (!r->found[i]) continue;
        above += r->values[i] >= r->limit;
        below += r->values[i] <= r->limit;
    }
    for (size_t i = 0; i < r->value_count && r->limit > 0; i++)
        if (!r->found[i])
            spared += (above && !below && r->values[i] > r->limit) || (below && !above && r->values[i] < r->limit);
    return spared;
}

// All devices on a log axis: found ones filled, the threshold as a line.
static void findings_draw_strip(canvas *c, const findings_row *r, canvas_box box)
{
    double least = r->limit > 0 ? r->limit : INFINITY, most = r->limit > 0 ? r->limit : 0;
    size_t zero = 0, unknown = 0;
    for (size_t i = 0; i < r->value_count; i++) {
        double v = r->values[i];
        zero += v == 0;
        unknown += isnan(v) ? 1 : 0;
        if (!(v > 0) || isinf(v)) continue;
        least = fmin(least, v);
        most = fmax(most, v);
    }
    if (!(most > 0)) return;
    double low = log10(least), high = log10(most), y = box.y + 26, left = box.x + 12, right = box.x + box.width - 6;
    if (high - low < .5) {
        low -= .25;
        high += .25;
    }
    char text[160];
    snprintf(text, sizeof text, "all devices%s%.60s, log scale", *r->unit ? ", " : "", r->unit);
    canvas_text(c, box.x, box.y + 7, text, TYPE_FOOT, INK_SECONDARY, ALIGN_LEFT, box.width);
    canvas_line(c, left, y, right, y, INK_HAIR, .8);
    if (r->limit > 0) {
        double at = left + (log10(r->limit) - low) / (high - low) * (right - left);
        canvas_dashed(c, at, y - 8, at, y + 8, INK_SECONDARY, .8);
    }
    for (int found = 0; found < 2; found++) {
        for (size_t i = 0; i < r->value_count; i++) {
            double v = r->values[i];
            if (!(v > 0) || isinf(v) || r->found[i] != (bool)found) continue;
            double at = left + (log10(v) - low) / (high - low) * (right - left);
            canvas_dot(c, at, y, 2.6, found ? theme_severity_ink(r->severity) : INK_PAPER,
                       found ? theme_severity_ink(r->severity) : INK_SECONDARY);
        }
    }
    if (zero) canvas_dot(c, box.x + 3, y, 2.6, INK_PAPER, INK_PEER);
    findings_end_label(c, r, pow(10, low), pow(10, low), left, y + 15, ALIGN_LEFT);
    findings_end_label(c, r, pow(10, low), pow(10, high), right, y + 15, ALIGN_RIGHT);
    size_t spared = findings_count_spared(r), length = 0;
    *text = '\0';
    if (zero) length += (size_t)snprintf(text, sizeof text, "%zu at zero", zero);
    if (unknown)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%zu not known", length ? ", " : "", unknown);
    if (spared)
        snprintf(text + length, sizeof text - length, "%s%zu past the line, exempt", length ? ", " : "", spared);
    canvas_text(c, box.x, y + 24, text, TYPE_FOOT, INK_SECONDARY, ALIGN_LEFT, box.width);
}

static void findings_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const list *l = x->data;
    double y = box.y;
    for (size_t i = from; i < from + count && i < l->count; i++) {
        const findings_row *r = &l->rows[i];
        double tall = findings_block(c, box.x, y, box.width, r, false);
        canvas_rect(c, (canvas_box){box.x, y, box.width, tall}, INK_EMPTY, 0);
        canvas_rect(c, (canvas_box){box.x, y, 3, tall}, theme_severity_ink(r->severity), 0);
        findings_block(c, box.x, y, box.width, r, true);
        const canvas_box beside = {box.x + box.width - strip_width - 8, y + pad + 9, strip_width, tall},
                         below = {box.x + text_left, y + tall - strip_height, 1.4 * strip_width, strip_height};
        if (r->value_count) findings_draw_strip(c, r, findings_is_narrow(box.width) ? below : beside);
        y += tall + gap;
    }
}

static void findings_fill_twin(chart *x, const list *l)
{
    static const char *const heads[] = {"severity", "rule", "devices", "claim", "threshold", "what to do"};
    x->twin.columns = sizeof heads / sizeof *heads;
    for (size_t i = 0; i < x->twin.columns; i++)
        chart_cell(&x->twin, heads[i]);
    for (size_t i = 0; i < l->count; i++) {
        const findings_row *r = &l->rows[i];
        const char *cells[] = {severity_name(r->severity), r->rule, r->devices, r->claim, r->threshold, r->advice};
        for (size_t k = 0; k < x->twin.columns; k++)
            chart_cell(&x->twin, cells[k]);
    }
}

static void findings_copy_row(arena *a, findings_row *r)
{
    const char **texts[] = {&r->rule, &r->devices, &r->claim, &r->threshold, &r->advice, &r->explained_by, &r->unit};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = arena_text(a, *texts[i]);
    findings_evidence *e = arena_copy(a, r->evidence, r->evidence_count, sizeof *e);
    for (size_t i = 0; i < r->evidence_count; i++) {
        e[i].name = arena_text(a, e[i].name);
        e[i].value = arena_text(a, e[i].value);
        e[i].rate = arena_text(a, e[i].rate);
    }
    r->evidence = e;
    r->values = arena_copy(a, r->values, r->value_count, sizeof *r->values);
    r->found = arena_copy(a, r->found, r->value_count, sizeof *r->found);
}

chart chart_findings(chart_head head, const findings_row *rows, size_t count)
{
    chart x;
    list *l = chart_begin(&x, head, sizeof *l);
    l->rows = arena_copy(l->memory, rows, count, sizeof *rows);
    l->count = count;
    for (size_t i = 0; i < l->count; i++)
        findings_copy_row(l->memory, &l->rows[i]);
    x.rows = l->count ? l->count : 1;
    x.height = findings_height;
    x.draw = findings_draw;
    x.is_text = x.rows_alone = true;
    findings_fill_twin(&x, l);
    return x;
}
