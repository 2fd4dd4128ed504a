// The heat map: colour finds the odd device, the number in the cell quantifies it.
#include "chart_private.h"
#include "render/plot/axes.h"

#include "analysis/base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct heat {
    arena *memory;
    const char **columns;
    size_t column_count;
    heat_row *rows;
    size_t count;
    const char *note;
    bool noted; // some row has a note of its own
    double head_height;
} heat;

static const double pitch = 13.1, cell_gap = 1.2, plain_head = 13, ratio_head = 18, band_gap = 4;

static double heat_bands_between(const heat *h, size_t from, size_t count)
{
    double bands = 0;
    for (size_t i = from + 1; i < from + count && i < h->count; i++)
        bands += h->rows[i].band != h->rows[i - 1].band;
    return bands;
}

static double heat_note_height(const heat *h, canvas *c, double width)
{
    return *h->note ? canvas_paragraph_height(c, width, h->note, TYPE_FOOT, 0) + 5 : 0;
}

static double heat_height(const chart *x, canvas *c, double width, size_t from, size_t count)
{
    const heat *h = x->data;
    return h->head_height + (double)count * pitch + heat_bands_between(h, from, count) * band_gap +
           (from + count >= h->count ? heat_note_height(h, c, width) : 0);
}

// The decades of a band's values; of ratios the same distance to both sides.
static void heat_band_range(const heat *h, size_t band, double *low, double *high)
{
    double least = INFINITY, most = 0;
    bool harm = false;
    for (size_t r = 0; r < h->count; r++) {
        harm = harm || (h->rows[r].band == band && h->rows[r].ramp == INK_ORANGE);
        for (size_t i = 0; i < h->column_count && h->rows[r].band == band; i++) {
            double v = fabs(h->rows[r].values[i]);
            if (!(v > 0) || isinf(v)) continue;
            least = fmin(least, v);
            most = fmax(most, v);
        }
    }
    *high = most > 0 ? pow(10, ceil(log10(most) - 1e-9)) : 1;
    // Of trouble a little is pale: the scale of harm is never shorter than from 0.01 to 1000.
    if (harm) least = fmin(least, .01);
    if (harm) *high = fmax(*high, 1000);
    *low = most > 0 ? fmin(pow(10, floor(log10(least) + 1e-9)), *high / 1000) : .1;
}

static theme_ink heat_ink_of(const heat_row *r, double value, double low, double high)
{
    if (r->ramp == INK_DIVERGING)
        return theme_ramp(INK_DIVERGING, .5 + log(value) / log(r->span > 1 ? r->span : 8) / 2);
    return theme_ramp(r->ramp, log(value / low) / log(high / low));
}

// Numbers of a row have one number of decimals when they are small, else three digits and a prefix.
static number_text heat_cell_number(const heat *h, const heat_row *r, double value)
{
    double most = 0;
    for (size_t i = 0; i < h->column_count; i++)
        if (isfinite(r->values[i])) most = fmax(most, fabs(r->values[i]));
    if (most >= 100 || most < .1) return number_prefixed(value, "");
    return number_fixed(value, most >= 10 ? 1 : 2);
}

static void heat_draw_cell(canvas *c, const heat *h, const heat_row *r, size_t i, canvas_box box, double low,
                           double high)
{
    double v = r->values[i], middle = box.x + box.width / 2, base = box.y + box.height / 2 + 2.6;
    bool numbers = h->column_count <= HEAT_COLUMNS;
    const char *given = r->texts ? r->texts[i] : NULL;
    number_text n = heat_cell_number(h, r, v);
    char tip[200];
    snprintf(tip, sizeof tip, "%.*s: %s %.40s", utf8_within(h->columns[i], 60), h->columns[i],
             isnan(v) ? "not measured" : n.text, isnan(v) ? "" : r->unit);
    canvas_tip(c, tip);
    if (isnan(v)) {
        canvas_hatch(c, box);
    } else if (!(v > 0)) {
        canvas_rect(c, box, INK_EMPTY, 0);
        if (given && *given)
            canvas_text(c, middle, base, given, TYPE_CELL, INK_TEXT, ALIGN_CENTER, box.width - 2);
        else if (box.width > 3)
            canvas_dot(c, middle, box.y + box.height / 2, 1, INK_PEER, INK_NONE);
    } else {
        theme_ink ink = heat_ink_of(r, v, low, high);
        canvas_rect(c, box, ink, 0);
        if (numbers || given)
            canvas_text(c, middle, base, given ? given : n.text, TYPE_CELL, (theme_ink)(INK_ON + ink), ALIGN_CENTER,
                        box.width - 2);
    }
}

// Where the cells are too narrow for numbers: the largest, and whose it is.
static void heat_draw_most(canvas *c, const heat *h, const heat_row *r, double x, double width, double base)
{
    size_t most = h->column_count;
    for (size_t i = 0; i < h->column_count; i++)
        if (r->values[i] > 0 && (most == h->column_count || r->values[i] > r->values[most])) most = i;
    if (most == h->column_count) return;
    x += canvas_text(c, x, base, heat_cell_number(h, r, r->values[most]).text, TYPE_CELL, INK_TEXT, ALIGN_LEFT, 40) + 5;
    canvas_text(c, x, base, h->columns[most], TYPE_CELL, INK_SECONDARY, ALIGN_LEFT, width - 40);
}

// Of ratios: the colours, and what their ends and their middle mean.
static void heat_draw_scale(canvas *c, const heat *h, canvas_box box)
{
    double span = 8, right = box.x + box.width;
    for (size_t i = 0; i < h->count; i++)
        if (h->rows[i].span > 1) span = h->rows[i].span;
    char low[96], high[96];
    snprintf(low, sizeof low, "\xe2\x89\xa4 \xc3\x97%s", number_plain(1 / span).text);
    snprintf(high, sizeof high, "\xe2\x89\xa5 \xc3\x97%s", number_plain(span).text);
    axes_draw_ramp(c, right, box.y, INK_DIVERGING, low, high);
    canvas_text(c, right - 45, box.y + 13.5, "1", TYPE_AXIS, INK_SECONDARY, ALIGN_CENTER, 0);
}

static void heat_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    enum { HEADS = 24 };
    const heat *h = x->data;
    bool numbers = h->column_count <= HEAT_COLUMNS, narrow = box.width < 400; // then notes are in the table alone
    double right = narrow && numbers ? 0 : h->noted ? 110 : numbers ? 0 : 84, label = 0, unit = 0;
    for (size_t i = 0; i < h->count; i++) {
        label = fmax(label, canvas_text_width(c, h->rows[i].label, TYPE_TABLE));
        unit = fmax(unit, canvas_text_width(c, h->rows[i].unit, TYPE_AXIS));
    }
    label = fmin(label, .27 * box.width);
    unit = fmin(unit, 50);
    double first = box.x + fmax(label + unit + 16, .295 * box.width), width = box.x + box.width - right - first;
    double step = h->column_count ? fmin(width / (double)h->column_count, 140) : width;
    double wanted = heat_height(x, c, box.width, from, count) - h->head_height, given = box.height - h->head_height;
    double note = from + count >= h->count ? heat_note_height(h, c, box.width) : 0;
    double row = pitch * fmin(1, (given - note) / (wanted - note)), y = box.y + h->head_height;
    double heads = box.y + h->head_height - 5;
    if (h->head_height > plain_head && !narrow) heat_draw_scale(c, h, box);
    for (size_t i = 0; i < h->column_count && h->column_count <= HEADS; i++)
        canvas_text(c, first + step * ((double)i + .5), heads, h->columns[i], TYPE_TABLE_STRONG, INK_SECONDARY,
                    ALIGN_CENTER, step - 2);
    if (h->column_count > HEADS) {
        char text[200];
        snprintf(text, sizeof text, "%.60s \xe2\x80\xa6 %.60s", h->columns[0], h->columns[h->column_count - 1]);
        canvas_text(c, first, heads, text, TYPE_TABLE_STRONG, INK_SECONDARY, ALIGN_LEFT, width);
    }
    if (!numbers && !h->noted)
        canvas_text(c, box.x + box.width - right + 8, heads, "most", TYPE_TABLE, INK_SECONDARY, ALIGN_LEFT, 0);
    for (size_t r = from; r < from + count && r < h->count; r++, y += row) {
        const heat_row *line = &h->rows[r];
        double low, high, base = y + row / 2 + 2.1;
        if (r > from && line->band != h->rows[r - 1].band) y += band_gap * row / pitch, base += band_gap * row / pitch;
        heat_band_range(h, line->band, &low, &high);
        canvas_text(c, box.x, base, line->label, TYPE_TABLE, INK_TEXT, ALIGN_LEFT, first - unit - 14 - box.x);
        canvas_text(c, first - 7, base, line->unit, TYPE_AXIS, INK_SECONDARY, ALIGN_RIGHT, unit);
        for (size_t i = 0; i < h->column_count; i++) {
            double edge = step > 8 ? cell_gap : 0;
            heat_draw_cell(c, h, line, i,
                           (canvas_box){first + step * (double)i + edge / 2, y, step - edge, row - cell_gap}, low,
                           high);
        }
        if (*line->note && right > 0)
            canvas_text(c, box.x + box.width - right + 8, base, line->note, TYPE_AXIS, INK_TEXT, ALIGN_LEFT, right - 8);
        else if (!numbers)
            heat_draw_most(c, h, line, box.x + box.width - right + 8, right - 8, base);
    }
    if (from + count >= h->count && *h->note)
        canvas_paragraph(c, box.x, y + 11, box.width, h->note, TYPE_FOOT, INK_SECONDARY, 0);
}

static void heat_fill_twin(chart *x, const heat *h)
{
    x->twin.columns = h->column_count + 2 + h->noted;
    x->twin.right = ~UINT64_C(3);
    chart_cell(&x->twin, "");
    chart_cell(&x->twin, "unit");
    for (size_t i = 0; i < h->column_count; i++)
        chart_cell(&x->twin, h->columns[i]);
    if (h->noted) chart_cell(&x->twin, "where");
    for (size_t r = 0; r < h->count; r++) {
        const heat_row *row = &h->rows[r];
        chart_cell(&x->twin, row->label);
        chart_cell(&x->twin, row->unit);
        for (size_t i = 0; i < h->column_count; i++)
            chart_cell(&x->twin,
                       row->texts && row->texts[i] ? row->texts[i] : heat_cell_number(h, row, row->values[i]).text);
        if (h->noted) chart_cell(&x->twin, row->note);
    }
}

static const char *const *heat_copy_texts(arena *a, const char *const *texts, size_t count)
{
    if (!texts) return NULL;
    const char **mine = arena_copy(a, texts, count, sizeof *texts);
    for (size_t i = 0; i < count; i++)
        mine[i] = mine[i] ? arena_text(a, mine[i]) : NULL;
    return mine;
}

// "bytes/s 1 to 10 M": the ranges of the bands, for the note.
static const char *heat_describe_bands(const heat *h)
{
    const char *text = "";
    for (size_t r = 0; r < h->count; r++) {
        double low, high;
        if ((r && h->rows[r].band == h->rows[r - 1].band) || h->rows[r].ramp == INK_DIVERGING) continue;
        heat_band_range(h, h->rows[r].band, &low, &high);
        text = arena_format(h->memory, "%s%s%s %s to %s%s", text, *text ? ", " : "", h->rows[r].unit,
                            chart_tic(low, "", false).text, chart_tic(high, "", false).text,
                            h->rows[r].ramp == INK_ORANGE ? " in orange" : "");
    }
    return text;
}

chart chart_heat(chart_head head, const char *const *columns, size_t column_count, const heat_row *rows,
                 size_t row_count, const char *note)
{
    chart x;
    heat *h = chart_begin(&x, head, sizeof *h);
    h->columns = arena_copy(h->memory, columns, column_count, sizeof *columns);
    h->column_count = column_count;
    for (size_t i = 0; i < h->column_count; i++)
        h->columns[i] = arena_text(h->memory, h->columns[i]);
    h->rows = arena_copy(h->memory, rows, row_count, sizeof *rows);
    h->count = row_count;
    for (size_t r = 0; r < row_count; r++) {
        heat_row *row = &h->rows[r];
        row->label = arena_text(h->memory, row->label);
        row->unit = arena_text(h->memory, row->unit);
        row->note = arena_text(h->memory, row->note);
        row->values = arena_copy(h->memory, row->values, column_count, sizeof *row->values);
        row->texts = heat_copy_texts(h->memory, row->texts, column_count);
        h->noted = h->noted || *row->note;
    }
    h->note =
        note ? arena_text(h->memory, note)
             : arena_format(h->memory, "Colour: log scale within each band (%s).%s Grey dot: unchanged.",
                            heat_describe_bands(h), column_count <= HEAT_COLUMNS ? " The number is in the cell." : "");
    h->head_height = h->noted && h->rows[0].ramp == INK_DIVERGING ? ratio_head : plain_head;
    x.rows = h->count ? h->count : 1;
    x.squeeze = .8;
    x.height = heat_height;
    x.draw = heat_draw;
    heat_fill_twin(&x, h);
    return x;
}
