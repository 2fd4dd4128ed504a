// The charts of a job, each over plain data. As in charts.h: everything given is copied, labels are foreign text, NAN is
// "not measured" and hatched.
#ifndef NETPROF_CHARTS_JOB_H
#define NETPROF_CHARTS_JOB_H

#include "charts.h"

// ---- chart_use.c: how well something was used, as a bar in a field of its capacity ----

typedef struct use_row {
    const char *label;
    double share, low, high; // of the capacity; low, high: the lowest and the highest, marked; NAN: unknown
    theme_ink ink;
    const char *value, *of; // "26.8", "GB/s of 100 GB/s"
    bool no_capacity;       // nothing that it could be a share of: no field
    bool unknown;           // not measured: hatched, `of` says why
} use_row;

chart chart_use(chart_head head, const use_row *rows, size_t count);

// Names and what they are, in two columns.
typedef struct fact_row {
    const char *title, *text;
    bool strong;
} fact_row;

chart chart_facts(chart_head head, const fact_row *rows, size_t count);

// ---- chart_shares.c: bars of 100 %, each divided into what it is made of ----

typedef struct share_segment {
    const char *label, *text; // "GPU", "27.6 kWh"
    double value;             // NAN and 0: not drawn
    theme_ink ink;            // INK_NONE: hatched, nobody says what it is
} share_segment;

typedef struct share_row {
    const char *label, *right;
    const share_segment *segments;
    size_t count;
} share_row;

// Segments too narrow for their labels are named in a key below.
chart chart_shares(chart_head head, const share_row *rows, size_t count);

#endif
