// Lays a document out on pages: heads and feet, headings, charts divided by rows.
#include "document.h"
#include "document_model.h"
#include "analysis/base/stb_ds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double head_base = 30, head_rule = 36, foot_height = 35, widest_gap = 14, least_gap = 8,
                    heading_height = 17, part_height = 45, text_gap = 7; // below a heading of a part the gap is smaller

typedef struct flow {
    page_set *set;
    const document *d;
    double width, height;            // of the sheet
    double top, bottom, left, inner; // of the text
    canvas *c;                       // the page at hand
    double y;                        // where the next thing goes
    bool fresh;                      // nothing is on the page yet
    double squeeze;                  // factor of the heights of charts that bear it, so that a part fits its page
    double section_gap;              // likewise smaller
    bool under_text;                 // y is the base line that more text would have
    double share;                    // of its height that the chart at hand was given
    size_t began, ended;             // the pages on which the item at hand begins, and on which the one before ended
} flow;

canvas_box page_box(document_paper paper)
{
    return paper == PAPER_LETTER ? (canvas_box){0, 0, 612, 792} : (canvas_box){0, 0, 595.28, 841.89};
}

static canvas *sheets_add_page(page_set *set, double width, double height)
{
    arrput(set->pages, canvas_open(width, height));
    set->count = arrlenu(set->pages);
    return arrlast(set->pages);
}

static void sheets_new_page(flow *f)
{
    f->c = sheets_add_page(f->set, f->width, f->height);
    f->y = f->top;
    f->fresh = true;
}

static void sheets_mark(flow *f, const char *title, bool is_part, const chart *x)
{
    page_set *set = f->set;
    char *visible = text_visible(title);
    if (!*visible) {
        free(visible);
        return;
    }
    arrput(set->marks, ((page_mark){visible, set->count, f->y, is_part, x}));
    set->mark_count = arrlenu(set->marks);
}

// ---- heads and feet ----

static void sheets_head_and_foot(const flow *f, canvas *c, size_t page)
{
    char number[48];
    double right = f->left + f->inner;
    double x =
        f->left + canvas_text(c, f->left, head_base, "netprof", TYPE_STRONG, INK_RECEIVED_TEXT, ALIGN_LEFT, 0) + 8;
    canvas_text(c, x, head_base, f->d->kind, TYPE_BODY, INK_SECONDARY, ALIGN_LEFT, right - x - 60);
    snprintf(number, sizeof number, "%zu / %zu", page, f->set->count);
    canvas_text(c, right, head_base, number, TYPE_BODY, INK_SECONDARY, ALIGN_RIGHT, 0);
    canvas_line(c, f->left, head_rule, right, head_rule, INK_HAIR, .8);
    if (!f->d->foot) return;
    canvas_line(c, f->left, f->height - foot_height, right, f->height - foot_height, INK_HAIR, .5);
    canvas_text(c, f->left, f->height - foot_height + 11, f->d->foot, TYPE_FOOT, INK_SECONDARY, ALIGN_LEFT, f->inner);
}

// ---- title and verdict ----

// On one line, in the largest type in which it fits.
static void sheets_title(flow *f, const char *text)
{
    static const theme_type types[] = {TYPE_TITLE, TYPE_TITLE_LONG, TYPE_PART};
    size_t i = 0;
    while (i + 1 < sizeof types / sizeof *types && canvas_text_width(f->c, text, types[i]) > f->inner)
        i++;
    f->y += 21;
    canvas_text(f->c, f->left, f->y, text, types[i], INK_TEXT, ALIGN_LEFT, f->inner);
    f->y += 18;
    f->fresh = false;
    f->under_text = true;
}

// The heading of a part: on the page at hand, below a rule.
static void sheets_part(flow *f, const char *text)
{
    sheets_mark(f, text, true, NULL);
    if (!f->fresh) canvas_line(f->c, f->left, f->y + 15, f->left + f->inner, f->y + 15, INK_HAIR, .8);
    f->y += f->fresh ? 12 : part_height - 12;
    canvas_text(f->c, f->left, f->y, text, TYPE_PART, INK_TEXT, ALIGN_LEFT, f->inner);
    f->y += 12;
    f->fresh = false;
    f->under_text = true;
}

static void sheets_subline(flow *f, const char *text)
{
    f->under_text = true;
    f->y += canvas_paragraph(f->c, f->left, f->y, f->inner, text, TYPE_BODY, INK_SECONDARY, 3);
}

static void sheets_verdict(flow *f)
{
    const document *d = f->d;
    const double mark_x = 16, word_x = 24, pad = 9;
    double text_x = 58, question = 0, height = pad + 16;
    for (size_t i = 0; i < d->verdict_count; i++) {
        const document_line *line = &d->verdict[i];
        text_x =
            fmax(text_x, word_x + 8 + canvas_text_width(f->c, theme_severity_word(line->severity), TYPE_TABLE_STRONG));
        if (line->question) question = fmax(question, canvas_text_width(f->c, line->question, TYPE_STRONG) + 10);
    }
    double question_x = text_x;
    text_x += question;
    double text_width = f->inner - text_x - 4;
    if (!d->verdict_count) return;
    for (size_t i = 0; i < d->verdict_count; i++)
        height += canvas_paragraph_height(f->c, text_width, d->verdict[i].text, TYPE_BODY, 4) + 2;
    severity worst = document_severity(d);
    if (worst == SEVERITY_INFO) worst = SEVERITY_OK; // context alone is no news
    theme_ink ink = theme_severity_ink(worst);
    arrput(f->set->sections, ((page_section){NULL, false}));
    canvas_group(f->c, "Verdict", d->title ? d->title : "");
    canvas_rect(f->c, (canvas_box){f->left, f->y, f->inner, height}, theme_severity_field(worst), 0);
    bool unknown = worst == SEVERITY_UNKNOWN; // a hatched edge: not measured
    if (unknown)
        canvas_hatch(f->c, (canvas_box){f->left, f->y, 5, height});
    else
        canvas_rect(f->c, (canvas_box){f->left, f->y, 4, height}, ink, 0);
    canvas_text(f->c, f->left + 14, f->y + pad + 6, unknown ? "COULD NOT BE JUDGED" : "VERDICT", TYPE_TABLE_STRONG, ink,
                ALIGN_LEFT, 0);
    double y = f->y + pad + 19;
    for (size_t i = 0; i < d->verdict_count; i++) {
        const document_line *line = &d->verdict[i];
        canvas_mark(f->c, f->left + mark_x, y - 3, line->severity);
        canvas_text(f->c, f->left + word_x, y, theme_severity_word(line->severity), TYPE_TABLE_STRONG,
                    theme_severity_ink(line->severity), ALIGN_LEFT, 0);
        if (line->question)
            canvas_text(f->c, f->left + question_x, y, line->question, TYPE_STRONG, INK_TEXT, ALIGN_LEFT, question);
        double high = canvas_paragraph(f->c, f->left + text_x, y, text_width, line->text, TYPE_BODY, INK_TEXT, 4);
        const chart *to = line->severity > SEVERITY_INFO ? document_chart_of(d, line->text) : NULL;
        const canvas_box box = {f->left + word_x, y - 8, text_x + text_width - word_x, high};
        if (to) arrput(f->set->links, ((page_link){f->set->count, box, to}));
        y += high + 2;
    }
    canvas_group_end(f->c);
    f->y += height;
    f->fresh = f->under_text = false;
}

// ---- charts ----

static bool sheets_headed(const chart *x)
{
    return x->title && *x->title;
}

// Title and question on one line; the question goes below when there is no room. Returns the height.
static double sheets_heading(canvas *c, double left, double y, double width, const chart *x, bool continued, bool draw)
{
    char text[256];
    if (!sheets_headed(x)) return 0;
    snprintf(text, sizeof text, "%s%s", x->title, continued ? " (continued)" : "");
    double title_width = canvas_text_width(c, text, TYPE_SECTION);
    bool below = x->question && title_width + 10 + canvas_text_width(c, x->question, TYPE_QUESTION) > width;
    double height = heading_height;
    if (draw) canvas_text(c, left, y + 9, text, TYPE_SECTION, INK_TEXT, ALIGN_LEFT, width);
    if (x->question && *x->question && !below && draw)
        canvas_text(c, left + title_width + 8, y + 9, x->question, TYPE_QUESTION, INK_SECONDARY, ALIGN_LEFT, 0);
    if (below && draw) canvas_paragraph(c, left, y + 20, width, x->question, TYPE_QUESTION, INK_SECONDARY, 3);
    if (below) height += canvas_paragraph_height(c, width, x->question, TYPE_QUESTION, 3);
    return height;
}

static void sheets_draw_chart(page_set *set, canvas *c, const chart *x, canvas_box box, size_t from, size_t count)
{
    arrput(set->sections, ((page_section){x, from > 0}));
    canvas_group(c, sheets_headed(x) ? x->title : x->name, x->question ? x->question : "");
    x->draw(x, c, box, from, count);
    canvas_group_end(c);
}

// How many rows after `from` fit into the height.
static size_t sheets_rows_that_fit(const chart *x, canvas *c, double width, size_t from, double height)
{
    size_t low = 0, high = x->rows - from + 1;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (x->height(x, c, width, from, middle) <= height)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static double sheets_room(const flow *f)
{
    return f->bottom - f->y;
}

// How a chart, or what is left of it, goes onto the page at hand.
typedef struct fit {
    double gap, above, height; // above: gap and heading
    size_t count;              // rows; 0: none fits
} fit;

enum { LEAST_ROWS = 4 };

static fit sheets_fit(const flow *f, const chart *x, size_t from)
{
    size_t rows = x->rows ? x->rows : 1, left = rows - from;
    fit t = {.gap = f->fresh ? 0 : f->section_gap - (f->under_text ? text_gap : 0), .count = left};
    t.above = t.gap + sheets_heading(f->c, f->left, 0, f->inner, x, from > 0, false);
    t.height = x->height(x, f->c, f->inner, from, left);
    double there = sheets_room(f) - t.above;
    if (x->squeeze > 0) t.height *= fmax(f->squeeze, x->squeeze);
    if (t.height > there && x->squeeze > 0 && t.height * x->squeeze <= there) t.height = there;
    if (t.height <= there) return t;
    t.count = rows > 1 ? sheets_rows_that_fit(x, f->c, f->inner, from, there) : 0;
    // No few rows alone, neither here nor on the next page.
    if (left > 2 * LEAST_ROWS && left - t.count < LEAST_ROWS && t.count) t.count = left - LEAST_ROWS;
    if (!f->fresh && t.count < LEAST_ROWS) t.count = 0;
    if (t.count) t.height = x->height(x, f->c, f->inner, from, t.count);
    return t;
}

static void sheets_place_chart(flow *f, const chart *x)
{
    size_t from = 0, rows = x->rows ? x->rows : 1;
    while (from < rows) {
        fit t = sheets_fit(f, x, from);
        if (!t.count && !f->fresh) {
            sheets_new_page(f);
            continue;
        }
        if (!t.count) t.count = rows > 1 ? 1 : rows - from; // larger than a page: better cut than lost
        if (!from) f->began = f->set->count;
        f->share = t.count == rows ? t.height / fmax(x->height(x, f->c, f->inner, 0, rows), 1) : 1;
        f->y += t.gap;
        f->under_text = false;
        if (!from && sheets_headed(x)) sheets_mark(f, x->title, false, x);
        f->y += sheets_heading(f->c, f->left, f->y, f->inner, x, from > 0, true);
        sheets_draw_chart(f->set, f->c, x, (canvas_box){f->left, f->y, f->inner, t.height}, from, t.count);
        f->y += t.height;
        f->fresh = false;
        from += t.count;
        if (from < rows) sheets_new_page(f);
    }
}

typedef struct halves {
    const chart *charts[2];
    double widths[2], head[2], height[2], tallest;
} halves;

static const double gutter = 20;

static halves sheets_measure_beside(const flow *f, const document_item *item)
{
    halves h = {.charts = {&item->chart, &item->right}};
    h.widths[0] = (f->inner - gutter) * item->left_share;
    h.widths[1] = f->inner - gutter - h.widths[0];
    for (int i = 0; i < 2; i++) {
        h.head[i] = sheets_heading(f->c, 0, 0, h.widths[i], h.charts[i], false, false);
        h.height[i] = h.charts[i]->height(h.charts[i], f->c, h.widths[i], 0, h.charts[i]->rows);
        if (h.charts[i]->squeeze > 0) h.height[i] *= fmax(f->squeeze, h.charts[i]->squeeze);
        h.tallest = fmax(h.tallest, h.head[i] + h.height[i]);
    }
    return h;
}

static double sheets_beside_height(const flow *f, const document_item *item)
{
    return sheets_measure_beside(f, item).tallest;
}

static void sheets_place_beside(flow *f, const document_item *item)
{
    halves h = sheets_measure_beside(f, item);
    if (!f->fresh && h.tallest + f->section_gap > sheets_room(f)) sheets_new_page(f);
    f->began = f->set->count;
    f->share = f->squeeze;
    if (!f->fresh) f->y += f->section_gap - (f->under_text ? text_gap : 0);
    f->under_text = false;
    for (int i = 0; i < 2; i++) {
        const chart *x = h.charts[i];
        double left = f->left + (i ? h.widths[0] + gutter : 0);
        if (sheets_headed(x)) sheets_mark(f, x->title, false, x);
        sheets_heading(f->c, left, f->y, h.widths[i], x, false, true);
        sheets_draw_chart(f->set, f->c, x, (canvas_box){left, f->y + h.head[i], h.widths[i], h.height[i]}, 0, x->rows);
    }
    f->y += h.tallest;
    f->fresh = false;
}

static void sheets_place_note(flow *f, const char *text)
{
    double height = canvas_paragraph_height(f->c, f->inner, text, TYPE_FOOT, 0) + 10;
    if (!f->fresh && height > sheets_room(f)) sheets_new_page(f);
    f->began = f->set->count;
    f->y += 12;
    canvas_paragraph(f->c, f->left, f->y, f->inner, text, TYPE_FOOT, INK_SECONDARY, 0);
    f->y += height - 10;
    f->fresh = false;
}

// Height of the items up to the next part, with the squeeze at hand; least: the largest share that a chart of them insists on.
static double sheets_part_height(const flow *f, size_t from, double *least)
{
    double sum = 0;
    *least = 0;
    for (size_t i = from; i < f->d->item_count && f->d->items[i].kind != ITEM_PART; i++) {
        const document_item *item = &f->d->items[i];
        const chart *x = &item->chart;
        if (item->kind == ITEM_SUBLINE) {
            sum += canvas_paragraph_height(f->c, f->inner, item->text, TYPE_BODY, 3);
        } else if (item->kind == ITEM_NOTE) {
            sum += canvas_paragraph_height(f->c, f->inner, item->text, TYPE_FOOT, 0) + 12;
        } else if (item->kind == ITEM_BESIDE) {
            sum += sheets_beside_height(f, item) + f->section_gap;
            *least = fmax(*least, fmax(x->squeeze, item->right.squeeze));
        } else {
            double height = x->height(x, f->c, f->inner, 0, x->rows ? x->rows : 1);
            sum += f->section_gap + sheets_heading(f->c, f->left, 0, f->inner, x, false, false) +
                   height * (x->squeeze > 0 ? fmax(f->squeeze, x->squeeze) : 1);
            *least = fmax(*least, x->squeeze);
        }
    }
    return sum;
}

static void sheets_squeeze(flow *f, double heights, double gaps)
{
    f->squeeze = heights;
    f->section_gap = widest_gap - (widest_gap - least_gap) * gaps;
}

// A part that is only a little too long for its page is squeezed, as little as will do.
static void sheets_choose_squeeze(flow *f, size_t from)
{
    enum { STEPS = 5 };
    double least, room = sheets_room(f) - 1;
    sheets_squeeze(f, 1, 0);
    if (sheets_part_height(f, from, &least) <= room || !(least > 0)) return;
    sheets_squeeze(f, least, 1);
    bool fits = sheets_part_height(f, from, &least) <= room;
    for (int step = 1; step < STEPS && fits; step++) {
        double share = (double)step / STEPS;
        sheets_squeeze(f, 1 - (1 - least) * share, share);
        if (sheets_part_height(f, from, &least) <= room) return;
    }
    if (fits)
        sheets_squeeze(f, least, 1);
    else
        sheets_squeeze(f, 1, 0);
}

static void sheets_place(flow *f, const document_item *item)
{
    switch (item->kind) {
    case ITEM_CHART: sheets_place_chart(f, &item->chart); break;
    case ITEM_BESIDE: sheets_place_beside(f, item); break;
    case ITEM_PART: sheets_part(f, item->text); break;
    case ITEM_SUBLINE: sheets_subline(f, item->text); break;
    case ITEM_NOTE: sheets_place_note(f, item->text); break;
    }
}

// ---- the flow ----

// What stays together: headings with the chart below them, and a chart with the notes about it.
typedef struct block {
    size_t first, last; // items; last: behind the last one
    size_t chart;       // the chart or pair of charts in it; last: only text
    bool placed;
} block;

static bool sheets_is_chart(const document_item *item)
{
    return item->kind == ITEM_CHART || item->kind == ITEM_BESIDE;
}

static block *sheets_blocks(const document *d)
{
    block *blocks = NULL;
    for (size_t i = 0; i < d->item_count;) {
        block b = {.first = i};
        while (i < d->item_count && !sheets_is_chart(&d->items[i]) && d->items[i].kind != ITEM_NOTE)
            i++;
        b.chart = i < d->item_count && sheets_is_chart(&d->items[i]) ? i++ : d->item_count;
        while (i < d->item_count && d->items[i].kind == ITEM_NOTE)
            i++;
        b.last = i;
        if (b.chart == d->item_count) b.chart = i;
        arrput(blocks, b);
    }
    return blocks;
}

static double sheets_text_height(const flow *f, const document_item *item)
{
    if (item->kind == ITEM_PART) return part_height;
    if (item->kind == ITEM_NOTE) return canvas_paragraph_height(f->c, f->inner, item->text, TYPE_FOOT, 0) + 12;
    return canvas_paragraph_height(f->c, f->inner, item->text, TYPE_BODY, 3);
}

typedef enum block_fit { BLOCK_NOT = 0, BLOCK_BEGINS, BLOCK_WHOLE } block_fit;

// Whether a block has room on this page: all of it, or its beginning.
static block_fit sheets_block_fit(const flow *f, const block *b)
{
    const document *d = f->d;
    double texts = 0, notes = 0;
    for (size_t i = b->first; i < b->last; i++)
        if (i != b->chart) *(d->items[i].kind == ITEM_NOTE ? &notes : &texts) += sheets_text_height(f, &d->items[i]);
    if (b->chart == b->last) return texts + notes <= sheets_room(f) ? BLOCK_WHOLE : BLOCK_NOT;
    const document_item *item = &d->items[b->chart];
    flow below = *f;
    below.y += texts;
    if (texts > 0) below.fresh = false, below.under_text = true;
    if (item->kind == ITEM_BESIDE)
        return sheets_beside_height(f, item) + f->section_gap + notes <= sheets_room(&below) ? BLOCK_WHOLE : BLOCK_NOT;
    fit t = sheets_fit(&below, &item->chart, 0);
    if (!t.count || t.above + t.height > sheets_room(&below)) return BLOCK_NOT;
    if (t.count < item->chart.rows) return BLOCK_BEGINS;
    return t.above + t.height + notes <= sheets_room(&below) || item->chart.rows > 1 ? BLOCK_WHOLE : BLOCK_NOT;
}

static void sheets_place_block(flow *f, block *b)
{
    b->placed = true;
    for (size_t i = b->first; i < b->last; i++) {
        f->began = f->set->count;
        f->share = 1;
        sheets_place(f, &f->d->items[i]);
        arrput(f->set->items, ((page_item){i, f->began > f->ended, f->share}));
        f->ended = f->set->count;
        if (f->d->items[i].kind == ITEM_PART) sheets_choose_squeeze(f, i + 1);
    }
}

static bool sheets_begins_part(const flow *f, const block *b)
{
    return f->d->items[b->first].kind == ITEM_PART || f->d->items[b->first].kind == ITEM_SUBLINE;
}

// What of the same part may come before its turn, so that the page is filled: what fits whole, else what can begin here.
static block *sheets_pull(const flow *f, block *blocks, size_t at)
{
    for (int wanted = BLOCK_WHOLE; wanted >= BLOCK_BEGINS; wanted--)
        for (size_t i = at + 1; i < arrlenu(blocks) && !sheets_begins_part(f, &blocks[i]); i++)
            if (!blocks[i].placed && blocks[i].chart < blocks[i].last && (int)sheets_block_fit(f, &blocks[i]) >= wanted)
                return &blocks[i];
    return NULL;
}

static double sheets_filled(const flow *f)
{
    return (f->y - f->top) / (f->bottom - f->top);
}

// Whether a block begins on the next page: it has no room here, or is a picture that would be divided without need.
static bool sheets_goes_over(const flow *f, const block *b, double least)
{
    block_fit there = sheets_block_fit(f, b);
    bool picture = b->chart < b->last && f->d->items[b->chart].chart.squeeze > 0;
    return there == BLOCK_NOT || (there == BLOCK_BEGINS && picture && sheets_filled(f) >= least);
}

static void sheets_flow(flow *f)
{
    static const double full = .85, least = .62;
    block *blocks = sheets_blocks(f->d), *b;
    for (size_t i = 0; i < arrlenu(blocks); i++) {
        if (blocks[i].placed) continue;
        while (!f->fresh && sheets_filled(f) < full) {
            block_fit there = sheets_block_fit(f, &blocks[i]);
            if (there == BLOCK_WHOLE || (there == BLOCK_BEGINS && sheets_filled(f) < least)) break;
            if (sheets_begins_part(f, &blocks[i]) || !(b = sheets_pull(f, blocks, i))) break;
            sheets_place_block(f, b);
        }
        if (!f->fresh && sheets_goes_over(f, &blocks[i], least)) sheets_new_page(f);
        sheets_place_block(f, &blocks[i]);
    }
    arrfree(blocks);
}

void pages_make(page_set *p, const document *d, document_paper paper)
{
    canvas_box sheet = page_box(paper);
    flow f = {.set = p, .d = d, .width = sheet.width, .height = sheet.height, .top = 48, .left = PAGE_MARGIN};
    f.bottom = sheet.height - foot_height - 8;
    f.inner = sheet.width - 2 * PAGE_MARGIN;
    sheets_new_page(&f);
    sheets_mark(&f, d->title ? d->title : d->kind, true, NULL);
    if (d->title) sheets_title(&f, d->title);
    for (size_t i = 0; i < d->subline_count; i++)
        sheets_subline(&f, d->sublines[i]);
    sheets_verdict(&f);
    sheets_choose_squeeze(&f, 0);
    f.ended = p->count;
    sheets_flow(&f);
    for (size_t i = 0; i < p->count; i++)
        sheets_head_and_foot(&f, p->pages[i], i + 1);
}

void pages_chart(page_set *p, const chart *x, document_paper paper)
{
    const double edge = 6;
    double width = page_box(paper).width - 2 * PAGE_MARGIN;
    canvas *measure = canvas_open(width, 1);
    double height = x->height(x, measure, width, 0, x->rows ? x->rows : 1);
    canvas_close(measure);
    canvas *c = sheets_add_page(p, width + 2 * edge, height + 2 * edge);
    sheets_draw_chart(p, c, x, (canvas_box){edge, edge, width, height}, 0, x->rows ? x->rows : 1);
}

void pages_free(page_set *p)
{
    for (size_t i = 0; i < p->count; i++)
        canvas_close(p->pages[i]);
    for (size_t i = 0; i < p->mark_count; i++)
        free(p->marks[i].title);
    arrfree(p->pages);
    arrfree(p->marks);
    arrfree(p->links);
    arrfree(p->sections);
    arrfree(p->items);
    *p = (page_set){0};
}

size_t document_pages(document *d, document_paper paper)
{
    page_set p = {0};
    pages_make(&p, d, paper);
    size_t count = p.count;
    pages_free(&p);
    return count;
}

// ---- layout check ----

typedef struct checked {
    void (*found)(void *user, size_t page, canvas_fault fault, const char *text, const char *other);
    void *user;
    size_t page;
} checked;

static void sheets_found_on_page(void *user, canvas_fault fault, const char *text, const char *other)
{
    const checked *x = user;
    x->found(x->user, x->page, fault, text, other);
}

size_t document_check(document *d, document_paper paper,
                      void (*found)(void *user, size_t page, canvas_fault fault, const char *text, const char *other),
                      void *user)
{
    page_set p = {0};
    size_t faults = 0;
    canvas_box sheet = page_box(paper), inside = {PAGE_MARGIN, 20, sheet.width - 2 * PAGE_MARGIN, sheet.height - 40};
    pages_make(&p, d, paper);
    for (size_t i = 0; i < p.count; i++) {
        checked x = {found, user, i + 1};
        faults += canvas_check(p.pages[i], inside, sheets_found_on_page, &x);
    }
    pages_free(&p);
    return faults;
}
