// The charts that show why: one step of a program, ranks beside each other, times of calls, bytes beside the line. As in charts.h:
// everything given is copied, labels are foreign text, NAN is "not measured" and hatched.
#ifndef NETPROF_CHARTS_CAUSE_H
#define NETPROF_CHARTS_CAUSE_H

#include "charts.h"

// ---- chart_steps.c: what a step is made of, as bars of one scale, one below the other ----

typedef struct steps_part {
    const char *name;
    double seconds[2]; // of the upper and of the lower bar
} steps_part;

typedef struct steps_style {
    const char *label[2];
    size_t longer;    // the part that is longer in the lower bar
    const char *text; // by how much
} steps_style;

chart chart_steps(chart_head head, const steps_style *style, const steps_part *parts, size_t count);

// ---- chart_ranks.c: ratios of ranks, grouped by hosts ----

typedef struct ranks_row {
    const char *label, *middle, *note; // middle: what 1 is; note: at the right
    const double *values;              // [columns], 1: as the others; 0: nothing
    bool harm, use;                    // no ratios but shares of time, 0 to 1: in orange, in blue
    bool strong;                       // the note in bold
} ranks_row;

typedef struct ranks_style {
    const char *const *columns; // [count] labels of ranks
    const size_t *groups;       // [count] which host each belongs to, rising
    const char *const *hosts;   // [group]
    size_t count, group_count;
    size_t marked; // a column with a frame; count: none
    double low, high;
    const char *middle_head, *column_head; // "median", "rank"
} ranks_style;

chart chart_ranks(chart_head head, const ranks_style *style, const ranks_row *rows, size_t count);

// ---- chart_durations.c: shares of calls by how long they took, on a logarithmic axis with tics at 1, 2, 4, 8 ----

typedef struct durations_set {
    const char *label;
    const double *counts; // [bins]; NULL: none
} durations_set;

// edges: [bins + 1] seconds, rising.
chart chart_durations(chart_head head, const double *edges, size_t bins, const durations_set *bars,
                      const durations_set *outline);

// ---- chart_bullets.c: a rate in a field that is the line's, and what was declared as a tick ----

typedef struct bullets_row {
    const char *label, *text, *more; // "halo_exchange", "25.6 GB/s", "+4.6 %"
    double share, tick;              // of the line; NAN: unknown
} bullets_row;

chart chart_bullets(chart_head head, const bullets_row *rows, size_t count, const char *note);

// ---- chart_cover.c: what is known and what not, questions x devices ----

typedef enum cover_state { COVER_KNOWN = 0, COVER_HATCHED, COVER_ABSENT } cover_state;

typedef struct cover_cell {
    const char *text;
    cover_state state;
    bool marked; // with its severity
    severity severity;
} cover_cell;

typedef struct cover_row {
    const char *label, *sub, *right; // sub: small, before the cells
    const cover_cell *cells;         // [count]
    size_t count;                    // as many as columns; 1: one over all of them
    severity severity;               // in words after the cells, where `worded`
    bool strong;                     // what is at the right
} cover_row;

chart chart_cover(chart_head head, const char *const *columns, size_t column_count, const cover_row *rows, size_t count,
                  const char *right_head, bool worded);

#endif
