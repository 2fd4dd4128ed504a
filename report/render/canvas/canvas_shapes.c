// Plots on a canvas: kept for gnuplot on a page; in a figure drawn as shapes, so that every format has them as lines and not
// as somebody's picture.
#include "canvas.h"
#include "canvas_model.h"

#include "analysis/base/memory.h"

#include <math.h>
#include <stdlib.h>

double plot_at(plot_axis axis, double value)
{
    if (!isfinite(value)) return NAN;
    if (!axis.log) return (value - axis.min) / (axis.max - axis.min);
    return value > 0 ? log(value / axis.min) / log(axis.max / axis.min) : NAN;
}

static canvas_point shapes_place(const plot *p, canvas_box box, double x, double y)
{
    return (canvas_point){box.x + plot_at(p->x, x) * box.width, box.y + (1 - plot_at(p->y, y)) * box.height};
}

static bool shapes_is_inside(canvas_point at, canvas_box box)
{
    return at.x >= box.x - .01 && at.x <= box.x + box.width + .01 && at.y >= box.y - .01 &&
           at.y <= box.y + box.height + .01;
}

static canvas_point shapes_clamped(canvas_point at, canvas_box box)
{
    return (canvas_point){fmax(box.x, fmin(at.x, box.x + box.width)), fmax(box.y, fmin(at.y, box.y + box.height))};
}

// Cuts the line from a to b at one edge: where inside() of a is negative and of b positive, a moves to the edge.
static bool shapes_cut(canvas_point *a, canvas_point *b, double of_a, double of_b)
{
    if (of_a < 0 && of_b < 0) return false;
    double share = of_a / (of_a - of_b);
    const canvas_point at = {a->x + share * (b->x - a->x), a->y + share * (b->y - a->y)};
    if (of_a < 0) *a = at;
    if (of_b < 0) *b = at;
    return true;
}

static bool shapes_clip(canvas_point *a, canvas_point *b, canvas_box box)
{
    double right = box.x + box.width, bottom = box.y + box.height;
    return shapes_cut(a, b, a->x - box.x, b->x - box.x) && shapes_cut(a, b, right - a->x, right - b->x) &&
           shapes_cut(a, b, a->y - box.y, b->y - box.y) && shapes_cut(a, b, bottom - a->y, bottom - b->y);
}

typedef struct shapes_line {
    canvas *c;
    canvas_box box;
    theme_ink ink;
    double width;
    canvas_dash dash;
    canvas_point *points; // those of the stretch at hand, all inside the box
    size_t count;
} shapes_line;

static void shapes_end_line(shapes_line *l)
{
    canvas_dashed_polyline(l->c, l->points, l->count, l->ink, l->width, l->dash);
    l->count = 0;
}

static void shapes_add_stretch(shapes_line *l, canvas_point a, canvas_point b)
{
    canvas_point from = a, to = b;
    if (!shapes_clip(&from, &to, l->box)) {
        shapes_end_line(l);
        return;
    }
    if (l->count && (fabs(l->points[l->count - 1].x - from.x) > .01 || fabs(l->points[l->count - 1].y - from.y) > .01))
        shapes_end_line(l);
    if (!l->count) l->points[l->count++] = from;
    l->points[l->count++] = to;
}

// A line, or a step, broken where a value is missing.
static void shapes_draw_line(canvas *c, canvas_box box, const plot *p, const plot_series *s)
{
    canvas_point last = {NAN, NAN};
    shapes_line l = {.c = c,
                     .box = box,
                     .ink = canvas_line_ink(c, s->ink, s->nth),
                     .width = s->line_width > 0 ? s->line_width : 1,
                     .dash = s->dashed ? DASH_SHORT : canvas_line_dash(c, s->nth),
                     .points = memory_array(NULL, 2 * s->count + 4, sizeof *l.points)};
    for (size_t i = 0; i < s->count; i++) {
        canvas_point at = shapes_place(p, box, s->x[i], s->y[i]);
        if (isnan(at.x) || isnan(at.y)) {
            shapes_end_line(&l);
        } else if (!isnan(last.x) && !isnan(last.y)) {
            const canvas_point corner = {at.x, last.y};
            if (s->kind == PLOT_STEP) shapes_add_stretch(&l, last, corner);
            shapes_add_stretch(&l, s->kind == PLOT_STEP ? corner : last, at);
        }
        last = at;
    }
    shapes_end_line(&l);
    free(l.points);
}

static void shapes_draw_band(canvas *c, canvas_box box, const plot *p, const plot_series *s)
{
    canvas_point *points = memory_array(NULL, 2 * s->count + 2, sizeof *points);
    for (size_t i = 0, end; i < s->count; i = end + 1) {
        size_t n = 0;
        for (end = i; end < s->count; end++) {
            canvas_point low = shapes_place(p, box, s->x[end], s->y[end]);
            if (isnan(low.x) || isnan(low.y) || isnan(shapes_place(p, box, s->x[end], s->y2[end]).y)) break;
            points[n++] = shapes_clamped(low, box);
        }
        for (size_t k = end; k-- > i;)
            points[n++] = shapes_clamped(shapes_place(p, box, s->x[k], s->y2[k]), box);
        if (n > 2) canvas_polygon(c, points, n, s->ink);
    }
    free(points);
}

// Dots, squares, triangles: full where the line is, hollow the others.
static void shapes_draw_point(canvas *c, canvas_point at, double radius, theme_ink ink, size_t nth)
{
    const canvas_point square[5] = {{at.x - radius, at.y - radius},
                                    {at.x + radius, at.y - radius},
                                    {at.x + radius, at.y + radius},
                                    {at.x - radius, at.y + radius},
                                    {at.x - radius, at.y - radius}};
    const canvas_point triangle[4] = {{at.x, at.y - 1.3 * radius},
                                      {at.x + 1.2 * radius, at.y + .9 * radius},
                                      {at.x - 1.2 * radius, at.y + .9 * radius},
                                      {at.x, at.y - 1.3 * radius}};
    if (nth % 3 == 0) {
        canvas_dot(c, at.x, at.y, radius, ink, INK_NONE);
        return;
    }
    const canvas_point *points = nth % 3 == 1 ? square : triangle;
    size_t count = nth % 3 == 1 ? 5 : 4;
    canvas_polygon(c, points, count, INK_PAPER);
    canvas_polyline(c, points, count, ink, .7);
}

static void shapes_draw_points(canvas *c, canvas_box box, const plot *p, const plot_series *s)
{
    for (size_t i = 0; i < s->count; i++) {
        canvas_point at = shapes_place(p, box, s->x[i], s->y[i]);
        if (isnan(at.x) || isnan(at.y) || !shapes_is_inside(at, box)) continue;
        shapes_draw_point(c, at, s->line_width > 0 ? s->line_width : 1, canvas_line_ink(c, s->ink, s->nth), s->nth);
    }
}

static canvas_box shapes_box_between(canvas_point a, canvas_point b, canvas_box box)
{
    a = shapes_clamped(a, box);
    b = shapes_clamped(b, box);
    return (canvas_box){fmin(a.x, b.x), fmin(a.y, b.y), fabs(a.x - b.x), fabs(a.y - b.y)};
}

static void shapes_draw_bars(canvas *c, canvas_box box, const plot *p, const plot_series *s)
{
    for (size_t i = 0; i < s->count; i++) {
        double half = s->x2[i] / 2;
        canvas_point top = shapes_place(p, box, s->x[i] - half, s->y[i]), foot = {NAN, box.y + box.height};
        foot.x = shapes_place(p, box, s->x[i] + half, p->y.min).x;
        if (isnan(top.x) || isnan(top.y) || isnan(foot.x)) continue;
        canvas_rect(c, shapes_box_between(top, foot, box), s->ink, 0);
    }
}

static void shapes_draw_boxes(canvas *c, canvas_box box, const plot *p, const plot_series *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const double *five = s->boxes[i];
        double half = s->x2[i] / 2, cap = .5 * half;
        canvas_point at[5];
        bool known = true;
        for (size_t k = 0; k < 5; k++) {
            at[k] = shapes_place(p, box, s->x[i], five[k]);
            known = known && !isnan(at[k].y) && !isnan(at[k].x);
        }
        if (!known) continue;
        double left = shapes_place(p, box, s->x[i] - half, five[2]).x, right = 2 * at[0].x - left;
        double wide = cap / half * (right - left) / 2;
        canvas_line(c, at[0].x, at[0].y, at[1].x, at[1].y, s->ink, .8);
        canvas_line(c, at[3].x, at[3].y, at[4].x, at[4].y, s->ink, .8);
        for (size_t k = 0; k < 5; k += 4)
            canvas_line(c, at[k].x - wide, at[k].y, at[k].x + wide, at[k].y, s->ink, .8);
        canvas_frame(c, (canvas_box){left, at[3].y, right - left, at[1].y - at[3].y}, s->ink, .8);
        canvas_line(c, left, at[2].y, right, at[2].y, s->ink, 1.4);
    }
}

void canvas_plot(canvas *c, canvas_box box, const plot *p)
{
    if (!c->figure) {
        canvas_keep_plot(c, box, p);
        return;
    }
    static void (*const draw[])(canvas * c, canvas_box box, const plot *p, const plot_series *s) = {
        [PLOT_LINE] = shapes_draw_line,     [PLOT_STEP] = shapes_draw_line, [PLOT_BAND] = shapes_draw_band,
        [PLOT_POINTS] = shapes_draw_points, [PLOT_BARS] = shapes_draw_bars, [PLOT_BOX] = shapes_draw_boxes};
    for (size_t i = 0; i < p->series_count; i++)
        draw[p->series[i].kind](c, box, p, &p->series[i]);
}
