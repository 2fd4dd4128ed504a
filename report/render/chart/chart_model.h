// A chart: how it is drawn, and its twin, a table that says the same.
#ifndef NETPROF_CHART_MODEL_H
#define NETPROF_CHART_MODEL_H

#include "render/canvas/canvas.h"

// A table of text; cells are copied. Start from {0}.
typedef struct chart_twin {
    size_t columns;
    char **cells;   // row after row, the first is the heading
    size_t count;   // cells
    uint64_t right; // bit i: column i is aligned right (numbers); the last bit: all columns from there on, too
} chart_twin;

// What of a chart is wanted. Start from {0}.
typedef struct chart_pick {
    const char *metric, *who; // patterns as of fnmatch(): of a quantity; of a device or a node; NULL: all
    char *there;              // the names that there are, by commas; free() it
} chart_pick;

typedef struct chart chart;
struct chart {
    const char *name;     // [a-z0-9-], unique in the document: --chart NAME, ids
    const char *title;    // "" : no heading
    const char *question; // what it answers, or what it shows
    size_t rows;          // into which it can be divided over pages; 1: it stays whole
    bool is_table;        // its twin says all that it shows: HTML shows the twin in its place
    bool is_text;         // its texts say all that it shows, in their order
    bool rows_alone;      // each row is drawn as if there were no other
    double squeeze;       // smallest share of its height at which it is still legible; 0: 1. draw() gets the box it has
    double fixed_height, row_height; // of charts whose height is chart_even_height()
    // Height in pt of rows from, from + 1, ... (count of them), with its own column heads, for this width.
    double (*height)(const chart *x, canvas *c, double width, size_t from, size_t count);
    void (*draw)(const chart *x, canvas *c, canvas_box box, size_t from, size_t count);
    // Keeps what is wanted; false: there is none of it. NULL: it has no parts to choose from.
    bool (*pick)(chart *x, chart_pick *p);
    // Fills in a table of all that is drawn, bands, too; NULL: the twin is that.
    void (*all)(const chart *x, chart_twin *t);
    // The same as the twin, in so few rows that a page can carry it; NULL: the twin has few.
    void (*brief)(const chart *x, chart_twin *t);
    void (*free)(void *data); // may be NULL
    void *data;
    chart_twin twin;
};

// Appends a cell to the twin.
void chart_cell(chart_twin *t, const char *text);
void chart_cellf(chart_twin *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Does this name fit? Adds it to those that there are.
bool chart_fits(chart_pick *p, const char *wanted, const char *name);
void chart_twin_clear(chart_twin *t);
void chart_free(chart *x); // its data and its twin

#endif
