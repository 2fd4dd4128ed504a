// What two canvases show alike: a page that has a chart twice, for wide windows and narrow ones, has its data once.
#include "canvas_model.h"

#include "analysis/base/stb_ds.h"

#include <stdlib.h>
#include <string.h>

enum { SHARE_CELLS = 16 }; // fewer are as short to write as to use

static bool share_is_same_image(const canvas_op *a, const canvas_op *b)
{
    return a->columns == b->columns && a->rows == b->rows &&
           memcmp(a->inks, b->inks, a->columns * a->rows * sizeof *a->inks) == 0;
}

static bool share_is_same_data(const double *a, const double *b, size_t count)
{
    return a == b || (a && b && memcmp(a, b, count * sizeof *a) == 0);
}

static bool share_is_same_axis(plot_axis a, plot_axis b)
{
    return !(a.min < b.min) && !(a.min > b.min) && !(a.max < b.max) && !(a.max > b.max) && a.log == b.log;
}

// Dots and boxes would be squeezed with the picture.
static bool share_is_same_series(const plot_series *a, const plot_series *b)
{
    bool stretches = a->kind == PLOT_LINE || a->kind == PLOT_STEP || a->kind == PLOT_BAND;
    return stretches && a->kind == b->kind && a->ink == b->ink && a->dashed == b->dashed && a->count == b->count &&
           share_is_same_data(a->x, b->x, a->count) && share_is_same_data(a->y, b->y, a->count) &&
           share_is_same_data(a->y2, b->y2, a->count);
}

static bool share_is_same_plot(const plot *a, const plot *b)
{
    bool same = a->series_count == b->series_count && share_is_same_axis(a->x, b->x) && share_is_same_axis(a->y, b->y);
    for (size_t i = 0; same && i < a->series_count; i++)
        same = share_is_same_series(&a->series[i], &b->series[i]);
    return same;
}

static bool share_is_same(const canvas_op *a, const canvas_op *b)
{
    if (a->kind != b->kind) return false;
    return a->kind == CANVAS_IMAGE ? share_is_same_image(a, b) : share_is_same_plot(&a->plot->plot, &b->plot->plot);
}

void canvas_share(canvas *c, canvas *other, size_t *id)
{
    size_t next = 0;
    for (size_t i = 0; i < c->count; i++) {
        canvas_op *op = &c->ops[i];
        if (op->kind != CANVAS_PLOT && (op->kind != CANVAS_IMAGE || op->columns * op->rows < SHARE_CELLS)) continue;
        size_t k = next;
        while (k < other->count && !share_is_same(op, &other->ops[k]))
            k++;
        if (k == other->count) continue;
        op->id = other->ops[k].id = ++*id;
        op->used = true;
        if (op->kind == CANVAS_PLOT) op->plot->like = other->ops[k].plot;
        next = k + 1;
    }
}

void canvas_drop_tips(canvas *c)
{
    size_t kept = 0;
    for (size_t i = 0; i < c->count; i++) {
        free(c->ops[i].tip);
        c->ops[i].tip = NULL;
        if (c->ops[i].kind != CANVAS_HOVER) c->ops[kept++] = c->ops[i];
    }
    arrsetlen(c->ops, kept);
    c->count = kept;
}
