// One step: two bars of one scale, so that what is longer in one is seen to be waited for in the other.
#include "render/chart/chart_private.h"
#include "render/chart/charts_cause.h"

#include <math.h>
#include <stdio.h>

typedef struct steps {
    arena *memory;
    steps_style style;
    steps_part *parts;
    size_t count;
} steps;

static const double bar_gap = 3, bar_pitch = 20, below = 18;

static double steps_sum(const steps *s, int bar, size_t end)
{
    double sum = 0;
    for (size_t i = 0; i < end; i++)
        sum += s->parts[i].seconds[bar];
    return sum;
}

// The part in which the others wait: the one that is shorter in the lower bar by most.
static size_t steps_waits(const steps *s)
{
    size_t best = 0;
    for (size_t i = 1; i < s->count; i++)
        if (s->parts[i].seconds[0] - s->parts[i].seconds[1] > s->parts[best].seconds[0] - s->parts[best].seconds[1])
            best = i;
    return best;
}

// What is longer in orange, what is shorter for it in blue; others in greys by turns.
static theme_ink steps_ink(const steps *s, size_t i)
{
    static const theme_ink greys[] = {INK_PART + 3, INK_PART + 2, INK_PART + 1};
    if (i == s->style.longer) return INK_WATCH;
    if (i == steps_waits(s)) return INK_CATEGORY + 4;
    return greys[i % 3];
}

static void steps_draw_bar(canvas *c, const steps *s, int bar, canvas_box box, double scale)
{
    double x = box.x;
    for (size_t i = 0; i < s->count; i++) {
        double width = s->parts[i].seconds[bar] * scale;
        theme_ink ink = steps_ink(s, i);
        char text[200];
        snprintf(text, sizeof text, "%.80s %s", s->parts[i].name, number_duration(s->parts[i].seconds[bar]).text);
        canvas_tip(c, text);
        canvas_rect(c, (canvas_box){x, box.y, fmax(width - .5, .3), box.height}, ink, 0);
        if (canvas_text_width(c, text, TYPE_CELL) > width - 4) snprintf(text, sizeof text, "%.80s", s->parts[i].name);
        if (canvas_text_width(c, text, TYPE_CELL) <= width - 4)
            canvas_text(c, x + width / 2, box.y + box.height / 2 + 2.6, text, TYPE_CELL, (theme_ink)(INK_ON + ink),
                        ALIGN_CENTER, 0);
        x += width;
    }
    if (!s->count) return;
    const steps_part *last = &s->parts[s->count - 1];
    char text[200];
    snprintf(text, sizeof text, "%.40s %s", last->name, number_duration(last->seconds[bar]).text);
    if (last->seconds[bar] * scale < canvas_text_width(c, text, TYPE_CELL) + 4)
        canvas_text(c, x + 4, box.y + box.height / 2 + 2.6, text, TYPE_CELL, INK_TEXT, ALIGN_LEFT,
                    box.x + box.width - x - 4);
}

static void steps_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const steps *s = x->data;
    double label = fmax(canvas_text_width(c, s->style.label[0], TYPE_TABLE_STRONG),
                        canvas_text_width(c, s->style.label[1], TYPE_TABLE_STRONG)) +
                   10;
    double longest = fmax(steps_sum(s, 0, s->count), steps_sum(s, 1, s->count)), beside = 96;
    double width = box.width - label - beside, scale = longest > 0 ? width / longest : 0;
    double pitch = chart_pitch(box, below, 2, bar_pitch);
    (void)from;
    (void)count;
    for (int bar = 0; bar < 2; bar++) {
        double y = box.y + pitch * bar;
        canvas_text(c, box.x, y + (pitch - bar_gap) / 2 + 2.6, s->style.label[bar], TYPE_TABLE_STRONG,
                    bar ? INK_BAD : INK_TEXT, ALIGN_LEFT, label - 6);
        steps_draw_bar(c, s, bar, (canvas_box){box.x + label, y, width + beside, (pitch - bar_gap)}, scale);
    }
    double y = box.y + 2 * pitch;
    double a = box.x + label + scale * steps_sum(s, 0, s->style.longer + 1),
           b = box.x + label + scale * steps_sum(s, 1, s->style.longer + 1);
    canvas_line(c, a, y - 1, a, y + 4, INK_BAD, 1);
    canvas_line(c, b, y - 1, b, y + 4, INK_BAD, 1);
    canvas_line(c, a, y + 4, b, y + 4, INK_BAD, 1);
    double half = canvas_text_width(c, s->style.text, TYPE_TABLE_STRONG) / 2;
    canvas_text(c, fmin((a + b) / 2, box.x + box.width - half), y + 14, s->style.text, TYPE_TABLE_STRONG, INK_BAD,
                ALIGN_CENTER, 0);
    double tics[10];
    plot_axis axis = {.min = 0, .max = longest};
    size_t n = plot_tics(axis, 6, tics);
    for (size_t i = 0; i < n; i++) {
        double at = box.x + label + scale * tics[i];
        if (at + 24 > fmin(a, (a + b) / 2 - half)) break;
        canvas_line(c, at, y - 2, at, y + 1, INK_SECONDARY, .6);
        canvas_text(c, at, y + 9, tics[i] > 0 ? number_duration(tics[i]).text : "0", TYPE_AXIS, INK_SECONDARY,
                    ALIGN_CENTER, 0);
    }
}

chart chart_steps(chart_head head, const steps_style *style, const steps_part *parts, size_t count)
{
    chart x;
    steps *s = chart_begin(&x, head, sizeof *s);
    s->style = *style;
    s->style.text = arena_text(s->memory, style->text);
    s->parts = arena_copy(s->memory, parts, count, sizeof *parts);
    s->count = count;
    x.twin.columns = 3;
    x.twin.right = 6;
    chart_cell(&x.twin, "part");
    for (int bar = 0; bar < 2; bar++) {
        s->style.label[bar] = chart_keep(s->memory, &x.twin, style->label[bar]);
    }
    for (size_t i = 0; i < count; i++) {
        s->parts[i].name = arena_text(s->memory, parts[i].name);
        chart_cell(&x.twin, s->parts[i].name);
        for (int bar = 0; bar < 2; bar++)
            chart_cell(&x.twin, number_duration(parts[i].seconds[bar]).text);
    }
    x.height = chart_even_height;
    x.fixed_height = 2 * bar_pitch + below;
    x.draw = steps_draw;
    x.squeeze = .8;
    return x;
}
