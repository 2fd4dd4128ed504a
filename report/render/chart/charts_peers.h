// The chart of who sent to whom. As in charts.h: everything given is copied, labels are foreign text, NAN is "not measured"
// and hatched.
#ifndef NETPROF_CHARTS_PEERS_H
#define NETPROF_CHARTS_PEERS_H

#include "charts.h"
#include "render/plot/axes.h"

// ---- chart_matrix.c: rows send, columns receive, those of a node within one block ----

enum { MATRIX_MOST = 128 }; // rows

// From one to another; pairs that are not given never sent.
typedef struct matrix_cell {
    size_t row, column;
    double value;
    bool at_least; // a lower bound
} matrix_cell;

typedef struct matrix_style {
    const char *const *labels; // [count] of rows, and columns
    const size_t *groups;      // [count] which node each is of, rising
    const char *const *nodes;  // [group]
    size_t count, group_count;
    axes_format format;           // of the values: SI with the unit, or DURATION
    const char *unit;             // "bytes"
    theme_ink ramp;               // INK_BLUE or INK_ORANGE
    size_t mark_row, mark_column; // framed: both are one cell; count: none
    size_t mark_count;            // rows, or columns; 0: one
    double side;                  // of the field on a page, at most; 0: usual
    const double *medians;        // [count] of each row, as bars at its right, NAN: none; NULL: no bars
    const char *note;             // below; "" none
} matrix_style;

chart chart_matrix(chart_head head, const matrix_style *style, const matrix_cell *cells, size_t count);

// ---- chart_latest.c: the senders, or receivers, that the others wait for longest, and how a matrix is read ----

typedef struct latest_row {
    const char *label, *where; // "rank 22", "n06"
    double outside, inside;    // seconds; NAN: none known
    bool marked;               // by the finding
} latest_row;

typedef struct latest_style {
    const char *who;                 // "sender", "receiver"
    bool outside, inside;            // are there such columns?
    const char *row, *column, *cell; // what the finding marks: "rank 22, here"; NULL: nothing
    size_t others;                   // not listed; 0: none
    double others_most;              // seconds
    const char *note;                // below; "" none
} latest_style;

chart chart_latest(chart_head head, const latest_style *style, const latest_row *rows, size_t count);

#endif
