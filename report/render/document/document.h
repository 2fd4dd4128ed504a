// Documents: title, verdict and charts in reading order, laid out on pages (PDF, PNG, SVG) or as one HTML page.
//
// A chart knows its height for a width and draws itself on a canvas; the document knows nothing of what it shows.
// Every chart carries a table twin: what it shows as text, exact, for HTML and for readers who cannot see it.
#ifndef NETPROF_DOCUMENT_H
#define NETPROF_DOCUMENT_H

#include "render/canvas/canvas.h"

// A table of text; cells are copied. Start from {0}.
typedef struct document_table {
    size_t columns;
    char **cells;   // row after row, the first is the heading
    size_t count;   // cells
    uint64_t right; // bit i: column i is aligned right (numbers)
} document_table;

typedef struct chart chart;
struct chart {
    const char *name;     // [a-z0-9-], unique in the document: --chart NAME, ids
    const char *title;    // "" : no heading
    const char *question; // what it answers, or what it shows
    size_t rows;          // into which it can be divided over pages; 1: it stays whole
    bool is_table;        // its twin says all that it shows: HTML shows the twin in its place
    double squeeze;       // smallest share of its height at which it is still legible; 0: 1. draw() gets the box it has
    // Height in pt of rows from, from + 1, ... (count of them), with its own column heads, for this width.
    double (*height)(const chart *x, canvas *c, double width, size_t from, size_t count);
    void (*draw)(const chart *x, canvas *c, canvas_box box, size_t from, size_t count);
    void (*free)(void *data); // may be NULL
    void *data;
    document_table twin;
    bool failed; // there was no memory for it: the document fails
};

typedef struct document_line { // of the verdict box
    severity severity;
    char *text;
} document_line;

typedef struct document document;

typedef enum document_format { DOCUMENT_PDF = 0, DOCUMENT_SVG, DOCUMENT_PNG, DOCUMENT_HTML } document_format;
// AUTO: light on paper and in pictures, in HTML as the reader's screen is set.
typedef enum document_theme { DOCUMENT_AUTO = 0, DOCUMENT_LIGHT, DOCUMENT_DARK } document_theme;
typedef enum document_paper { PAPER_A4 = 0, PAPER_LETTER } document_paper;

typedef struct document_options {
    document_format format;
    document_paper paper;
    document_theme theme;
    double scale;      // PNG: pixels for each point; 0: 2
    const char *chart; // only this chart, without page; SVG and PNG
    bool no_gnuplot;
    void (*progress)(void *user, const char *what, size_t done, size_t of); // may be NULL
    void *user;
} document_options;

document *document_open(const char *kind); // "Node counter report": beside the name at the top of each page
void document_close(document *d);
// The end of making one: the document, or, where it is not good, NULL after closing it; the error then says no memory.
document *document_made(document *d, bool good, netprof_error *error);
void document_title(document *d, const char *title);  // the verdict in one sentence
void document_subline(document *d, const char *text); // below it, or below a part's heading; may be called again
void document_verdict(document *d, severity s, const char *text);
void document_foot(document *d, const char *text);
void document_metadata(document *d, const char *subject, const char *keywords, int64_t time_ns); // CLOCK_REALTIME

// The document owns what is added: data is freed by chart.free, the twin with it.
void document_add(document *d, chart x);
void document_beside(document *d, chart left, chart right, double left_share); // side by side on paper
void document_part(document *d, const char *title); // begins a new page; an outline entry, a heading in HTML
void document_note(document *d, const char *text);  // a paragraph

// Twin tables.
void document_cell(document_table *t, const char *text);
void document_cellf(document_table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

// The names and titles of the charts, in order.
void document_charts(const document *d, void (*visit)(void *user, const char *name, const char *title), void *user);

// Writes it; several SVG or PNG pages become PATH-1.svg, PATH-2.svg, ... Every file appears whole or not at all.
// What had to be left out (no gnuplot) is said through warn(), which may be NULL.
netprof_err document_write(document *d, const char *path, const document_options *o,
                           void (*warn)(void *user, const char *text), netprof_error *error);
// Single charts, each into a file of its own: PDF, SVG or PNG; o->chart is not looked at.
typedef struct document_file {
    const char *chart, *path;
} document_file;
netprof_err document_write_charts(document *d, const document_file *files, size_t count, const document_options *o,
                                  void (*warn)(void *user, const char *text), netprof_error *error);
size_t document_pages(document *d, document_paper paper); // 0: no memory
// The layout check over all pages; calls found() with the page's number, 1 for the first.
size_t document_check(document *d, document_paper paper,
                      void (*found)(void *user, size_t page, canvas_fault fault, const char *text, const char *other),
                      void *user);

#endif
