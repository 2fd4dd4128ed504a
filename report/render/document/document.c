#include "document.h"
#include "document_model.h"
#include "document_title.h"
#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <stdlib.h>
#include <string.h>

static void document_set(char **text, const char *to)
{
    free(*text);
    *text = memory_strdup(to);
}

document *document_open(const char *kind)
{
    document *d = memory_calloc(1, sizeof *d);
    d->kind = memory_strdup(kind);
    return d;
}

void document_close(document *d)
{
    if (!d) return;
    for (size_t i = 0; i < d->item_count; i++) {
        free(d->items[i].text);
        chart_free(&d->items[i].chart);
        chart_free(&d->items[i].right);
    }
    for (size_t i = 0; i < d->subline_count; i++)
        free(d->sublines[i]);
    for (size_t i = 0; i < d->verdict_count; i++)
        free(d->verdict[i].text), free(d->verdict[i].question);
    arrfree(d->items);
    arrfree(d->sublines);
    arrfree(d->verdict);
    free(d->kind);
    free(d->title);
    free(d->foot);
    free(d->subject);
    free(d->keywords);
    free(d);
}

void document_title(document *d, const char *title)
{
    free(d->title);
    d->title = document_short_title(title);
}

static document_item *document_add_item(document *d, item_kind kind)
{
    arrput(d->items, ((document_item){.kind = kind}));
    d->item_count = arrlenu(d->items);
    return &arrlast(d->items);
}

static void document_add_text(document *d, item_kind kind, const char *text)
{
    document_add_item(d, kind)->text = memory_strdup(text);
}

void document_subline(document *d, const char *text)
{
    if (d->item_count) {
        document_add_text(d, ITEM_SUBLINE, text);
        return;
    }
    arrput(d->sublines, memory_strdup(text));
    d->subline_count = arrlenu(d->sublines);
}

void document_answer(document *d, severity s, const char *question, const char *text)
{
    arrput(d->verdict, ((document_line){s, question ? memory_strdup(question) : NULL, memory_strdup(text)}));
    d->verdict_count = arrlenu(d->verdict);
}

void document_verdict(document *d, severity s, const char *text)
{
    document_answer(d, s, NULL, text);
}

severity document_severity(const document *d)
{
    severity worst = SEVERITY_OK;
    for (size_t i = 0; i < d->verdict_count; i++)
        if (d->verdict[i].severity > worst) worst = d->verdict[i].severity;
    return worst;
}

void document_foot(document *d, const char *text)
{
    document_set(&d->foot, text);
}

void document_metadata(document *d, const char *subject, const char *keywords, int64_t time_ns)
{
    document_set(&d->subject, subject);
    document_set(&d->keywords, keywords);
    d->time_ns = time_ns;
}

void document_add(document *d, chart x)
{
    document_add_item(d, ITEM_CHART)->chart = x;
}

void document_beside(document *d, chart left, chart right, double left_share)
{
    document_item *item = document_add_item(d, ITEM_BESIDE);
    item->chart = left;
    item->right = right;
    item->left_share = left_share;
}

void document_part(document *d, const char *title)
{
    document_add_text(d, ITEM_PART, title);
}

void document_note(document *d, const char *text)
{
    document_add_text(d, ITEM_NOTE, text);
}

// ---- charts by name ----

const chart *document_find(const document *d, const char *name)
{
    for (size_t i = 0; i < d->item_count; i++) {
        const document_item *item = &d->items[i];
        if (item->kind > ITEM_BESIDE) continue;
        if (strcmp(item->chart.name, name) == 0) return &item->chart;
        if (item->kind == ITEM_BESIDE && strcmp(item->right.name, name) == 0) return &item->right;
    }
    return NULL;
}

bool document_has(const document *d, const char *name)
{
    return document_find(d, name) != NULL;
}

bool document_pick(document *d, const char *name, chart_pick *p)
{
    for (size_t i = 0; i < d->item_count; i++) {
        document_item *item = &d->items[i];
        if (item->kind > ITEM_BESIDE) continue;
        chart *x = strcmp(item->chart.name, name) == 0                                ? &item->chart
                   : item->kind == ITEM_BESIDE && strcmp(item->right.name, name) == 0 ? &item->right
                                                                                      : NULL;
        if (x) return x->pick && x->pick(x, p);
    }
    return false;
}

// What a chart without a question shows: the columns of its table, or its rows where those have no names.
static char *document_columns_of(const chart_twin *t)
{
    enum { MOST = 6 };
    char *text = memory_strdup("");
    bool headed = false;
    for (size_t i = 0; i < t->columns && i < t->count; i++)
        headed = headed || *t->cells[i];
    size_t step = headed || !t->columns ? 1 : t->columns, end = headed ? t->columns : t->count; // else its rows
    for (size_t i = 0, shown = 0; i < end && i < t->count && shown < MOST; i += step) {
        if (!*t->cells[i]) continue;
        char *longer = memory_format("%s%s%s", text, shown++ ? ", " : "", t->cells[i]);
        free(text);
        text = longer;
    }
    return text;
}

typedef struct charts_visit {
    void (*visit)(void *user, const char *name, const char *title, const char *shows);
    void *user;
    const char *part, *title; // that the chart stands in; of the chart before it
    char **taken;             // titles
} charts_visit;

static bool document_is_taken(const charts_visit *v, const char *title)
{
    for (size_t i = 0; i < arrlenu(v->taken); i++)
        if (strcmp(v->taken[i], title) == 0) return true;
    return false;
}

// A part's charts say whose they are, one without a title belongs to that before it; what is still there twice has its name.
static void document_visit_chart(charts_visit *v, const chart *x)
{
    bool headed = x->title && *x->title;
    const char *own = headed ? x->title : *v->title ? v->title : x->name;
    bool parted = *v->part && strcmp(v->part, own) != 0;
    char *title = memory_format("%s%s%s", parted ? v->part : "", parted ? ": " : "", own), *shows;
    if (document_is_taken(v, title)) {
        char *longer = memory_format("%s (%s)", title, x->name);
        free(title);
        title = longer;
    }
    shows = x->question && *x->question ? memory_strdup(x->question) : document_columns_of(&x->twin);
    if (!*shows) {
        free(shows);
        shows = memory_strdup("drawn alone: it has no table");
    }
    v->visit(v->user, x->name, title, shows);
    if (headed) v->title = x->title;
    arrput(v->taken, title);
    free(shows);
}

void document_charts(const document *d,
                     void (*visit)(void *user, const char *name, const char *title, const char *shows), void *user)
{
    charts_visit v = {.visit = visit, .user = user, .part = "", .title = ""};
    for (size_t i = 0; i < d->item_count; i++) {
        const document_item *item = &d->items[i];
        if (item->kind == ITEM_PART) v.part = item->text, v.title = "";
        if (item->kind > ITEM_BESIDE) continue;
        document_visit_chart(&v, &item->chart);
        if (item->kind == ITEM_BESIDE) document_visit_chart(&v, &item->right);
    }
    for (size_t i = 0; i < arrlenu(v.taken); i++)
        free(v.taken[i]);
    arrfree(v.taken);
}
