// The charts of the report that a run ends in, each over plain data. As in charts.h: everything given is copied, labels
// are foreign text, NAN is "not measured".
#ifndef NETPROF_CHARTS_FIRST_H
#define NETPROF_CHARTS_FIRST_H

#include "render/chart/charts.h"

// ---- chart_calls.c: regions: how fast each was, and how even its calls ----

typedef struct calls_row {
    const char *name, *calls, *time, *share, *bytes;
    double rate;            // bytes/s; NAN: none is known
    const double *counts;   // [bins] calls by their time; NULL: not known, or too few to draw
    double middle_s, p99_s; // of a call; NAN: not known
} calls_row;

typedef struct calls_style {
    const double *edges; // [bins + 1] seconds, rising; of all rows
    size_t bins;         // 0: no row has any
    const char *rest[3]; // a last row in grey: name, time, share; rest[0] NULL: none
    const char *sum;     // beside it
} calls_style;

chart chart_calls(chart_head head, const calls_style *style, const calls_row *rows, size_t count);

// ---- chart_first.c ----

// Amounts: what, how much, and what that is of.
typedef struct amount_row {
    const char *title, *value, *note;
} amount_row;

chart chart_amounts(chart_head head, const amount_row *rows, size_t count);

// What could not be judged: why, and what would help.
typedef struct unjudged_row {
    const char *title, *why;
    const char *help; // a command or an option; "": nothing would
} unjudged_row;

// All are in its table, the first `shown` are drawn. foot: below all; where there is no row, `none` says so.
chart chart_unjudged(chart_head head, const unjudged_row *rows, size_t count, size_t shown, const char *none,
                     const char *foot);

// Commands to go on with, side by side in a field of their own.
typedef struct next_row {
    const char *title, *command;
} next_row;

chart chart_next(chart_head head, const next_row *rows, size_t count);

#endif
