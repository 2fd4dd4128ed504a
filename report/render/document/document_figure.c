// A chart alone, for a paper or a slide: laid out in units in which its type has the size that the charts are drawn for,
// and then made as large as its author wants its type to be.
#include "document_model.h"
#include "analysis/base/csv.h"
#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double unit_type = 7, edge = 1.5; // of the charts' own texts 6.3 to 7.6

typedef struct figure {
    const chart *x;
    const document_figure *f;
    canvas_figure look;
} figure;

static canvas *figure_open(const figure *g, double width, double height)
{
    canvas *c = canvas_open(width, height);
    canvas_set_figure(c, &g->look);
    return c;
}

static bool figure_is_titled(const figure *g)
{
    return !g->f->no_titles && g->x->title && *g->x->title;
}

// Title and question, in lines as long as the figure is wide.
static double figure_draw_title(const figure *g, canvas *c, double width)
{
    if (!figure_is_titled(g)) return 0;
    double height = canvas_paragraph(c, edge, edge + unit_type, width, g->x->title, TYPE_SECTION, INK_TEXT, 0);
    if (g->x->question && *g->x->question)
        height += canvas_paragraph(c, edge, edge + unit_type + height, width, g->x->question, TYPE_QUESTION,
                                   INK_SECONDARY, 0);
    return height + 4;
}

static canvas *figure_make(const figure *g, double width)
{
    const chart *x = g->x;
    size_t rows = x->rows ? x->rows : 1;
    double inner = width - 2 * edge;
    canvas *measure = figure_open(g, width, 1);
    double title = figure_draw_title(g, measure, inner);
    double natural = x->height(x, measure, inner, 0, rows), height = natural;
    canvas_close(measure);
    if (g->f->height > 0) height = fmax(g->f->height / g->look.points - title - 2 * edge, 1);
    canvas *c = figure_open(g, width, title + height + 2 * edge);
    canvas_group(c, x->title && *x->title ? x->title : x->name, x->question ? x->question : "");
    figure_draw_title(g, c, inner);
    x->draw(x, c, (canvas_box){edge, edge + title, inner, height}, 0, rows);
    canvas_group_end(c);
    return c;
}

static void figure_count_fault(void *user, canvas_fault fault, const char *text, const char *other)
{
    (void)fault, (void)text, (void)other;
    ++*(size_t *)user;
}

// Texts that lie over one another or leave the figure, and those that had to be cut.
static size_t figure_faults(const canvas *c)
{
    size_t faults = 0;
    canvas_check(c, (canvas_box){0, 0, c->width, c->height}, figure_count_fault, &faults);
    for (size_t i = 0; i < c->count; i++)
        faults += c->ops[i].kind == CANVAS_TEXT && c->ops[i].more != NULL;
    return faults;
}

static double figure_wide_enough(const figure *g, double width)
{
    enum { TRIES = 24 };
    for (int i = 0; i < TRIES; i++) {
        width *= 1.1;
        canvas *c = figure_make(g, width);
        size_t faults = figure_faults(c);
        canvas_close(c);
        if (!faults) return width;
    }
    return 0;
}

static void figure_warn(const figure *g, double width, size_t faults, void (*warn)(void *user, const char *text),
                        void *user)
{
    double enough = figure_wide_enough(g, width), inch = g->look.points / 72;
    char advice[120] = "choose fewer of its parts, or a smaller type";
    if (enough > 0) snprintf(advice, sizeof advice, "it needs a width of %.1f in", ceil(enough * inch * 10) / 10);
    char *text = memory_format("%s, %.3g in wide with %.3g pt type: %zu of its texts %s another; %s", g->x->name,
                               g->f->width / 72, g->f->font_size, faults,
                               faults == 1 ? "is cut or touches" : "are cut or touch one", advice);
    warn(user, text);
    free(text);
}

void pages_figure(page_set *p, const chart *x, const document_figure *f, void (*warn)(void *user, const char *text),
                  void *user)
{
    double points = f->font_size / unit_type;
    const figure g = {x, f, {f->family, unit_type, points, f->grey, f->no_titles}};
    canvas *c = figure_make(&g, f->width / points);
    size_t faults = figure_faults(c);
    if (faults && warn) figure_warn(&g, f->width / points, faults, warn, user);
    arrput(p->pages, c);
    arrput(p->sections, ((page_section){x, false}));
    p->count = arrlenu(p->pages);
}

static void figure_put(void *to, const char *data, size_t size)
{
    buffer_bytes(to, data, size);
}

// What was not measured is an empty cell, as other programs read it.
void document_data(const chart *x, buffer *out)
{
    chart_twin all = {0};
    if (x->all) x->all(x, &all);
    const chart_twin *t = x->all ? &all : &x->twin;
    for (size_t i = 0; i < t->count; i++) {
        bool last = (i + 1) % t->columns == 0 || i + 1 == t->count;
        if (strcmp(t->cells[i], "not measured") != 0) csv_text(figure_put, out, t->cells[i], true);
        buffer_text(out, last ? "\n" : ",");
    }
    chart_twin_clear(&all);
}
