// The contents of a document, for its writers.
#ifndef NETPROF_DOCUMENT_MODEL_H
#define NETPROF_DOCUMENT_MODEL_H

#include "render/base/buffer.h"
#include "render/canvas/canvas_model.h"
#include "document_types.h"

typedef enum item_kind { ITEM_CHART = 0, ITEM_BESIDE, ITEM_PART, ITEM_SUBLINE, ITEM_NOTE } item_kind;

typedef struct document_item {
    item_kind kind;
    char *text;  // part, subline, note
    chart chart; // chart; beside: the left one
    chart right;
    double left_share;
} document_item;

struct document {
    char *kind, *title, *foot, *subject, *keywords;
    int64_t time_ns;
    char **sublines;
    size_t subline_count;
    document_line *verdict;
    size_t verdict_count;
    document_item *items;
    size_t item_count;
};

// A document on pages.
typedef struct page_mark { // for the outline
    char *title;
    size_t page; // 1 for the first
    double y;
    bool is_part;
    const chart *chart; // that begins there; NULL: none
} page_mark;

typedef struct page_link { // from a line of the verdict to a chart
    size_t page;
    canvas_box box;
    const chart *to;
} page_link;

typedef struct page_section { // a group of a page
    const chart *chart;       // NULL: the verdict
    bool continued;
} page_section;

typedef struct page_item { // where an item of the document is
    size_t item;
    bool begins_page; // it is the first on a page, but not on the first one
    double share;     // of the height that its charts asked for, where they bear it
} page_item;

typedef struct page_set {
    canvas **pages;
    size_t count;
    page_mark *marks;
    size_t mark_count;
    page_link *links;       // arr
    page_section *sections; // arr, in the order of drawing
    page_item *items;       // arr, likewise
} page_set;

enum { PAGE_MARGIN = 40 };

canvas_box page_box(document_paper paper); // the whole sheet
void pages_make(page_set *p, const document *d, document_paper paper);
// Only one chart, on a canvas just large enough.
void pages_chart(page_set *p, const chart *x, document_paper paper);
// The same as a figure; warn(), which may be NULL, is told where its texts have no room.
void pages_figure(page_set *p, const chart *x, const document_figure *f, void (*warn)(void *user, const char *text),
                  void *user);
void pages_free(page_set *p);
// A chart's data as CSV.
void document_data(const chart *x, buffer *out);
const chart *document_find(const document *d, const char *name);
// The chart that a line of the verdict is about; NULL: none.
const chart *document_chart_of(const document *d, const char *line);
severity document_severity(const document *d); // the worst of the verdict's lines
// What is said in place of a chart, for those who hear it: what it shows, and the rows of its table; NULL: its own texts are read.
// free() it.
char *document_spoken(const page_section *section);

// Writes the whole HTML file, its plots included.
void document_html(document *d, const document_options *o, buffer *out, void (*warn)(void *user, const char *text),
                   void *user);

// Draws all plots of some canvases in one run of gnuplot; where that fails they say so in place of the data, and
// warn() is told. Free with plots_free() after the canvases were written.
typedef struct plots {
    plot_job *jobs;
    size_t count;
    bool coarse; // for a screen
    bool texts;  // will be drawn by cairo, too: they are laid out while gnuplot draws
} plots;
void plots_make(plots *p, canvas *const *canvases, size_t count, bool no_gnuplot,
                void (*warn)(void *user, const char *text), void *user);
void plots_free(plots *p);

#endif
