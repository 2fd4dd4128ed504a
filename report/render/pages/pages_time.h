// What all pages "over time" share: the axis of time, its columns, gaps in which nothing is known, bands over many rows.
#ifndef NETPROF_PAGES_TIME_H
#define NETPROF_PAGES_TIME_H

#include "render/base/arena.h"
#include "render/chart/charts_plots.h"

// A stretch of time in columns of the same length; a column's value is a mean.
typedef struct pages_time {
    double from_s, to_s; // to_s not above from_s: a second is drawn
    size_t columns;
    int64_t wall_ns; // CLOCK_REALTIME of 0; 0: not known
} pages_time;

axes_scale pages_time_axis(const pages_time *t);
double pages_time_column_s(const pages_time *t);
double *pages_time_middles(arena *a, const pages_time *t); // [columns]: where the points of a line are
// Neighbouring columns in which nothing is known, as spans.
const axes_span *pages_time_gaps(arena *a, const pages_time *t, const bool *known, size_t *count);

// What an event's row is called: its name (NULL: none), or its words up to a colon, as far as no row above is called so;
// else the counter's name. Words that do not fit are not cut: half a sentence may say the opposite.
const char *pages_time_event_label(arena *a, const char *name, const char *words, const char *counter,
                                   const events_row *above, size_t count, size_t room);

// Mean, lowest and highest of all rows that are known in a column; NAN where none is.
typedef struct pages_band {
    double *mean, *low, *high; // [columns]
} pages_band;

pages_band pages_band_of(arena *a, const pages_time *t, const double *const *rows, size_t count);
// The mean as a line; in a band from low to high where there are several rows.
lines_curve pages_band_curve(const pages_band *b, size_t rows, theme_ink ink, theme_ink pale);

// Lines over the columns' middles, without phases and gaps.
lines_style pages_time_lines(arena *a, const pages_time *t);
lines_panel pages_time_panel(const char *label, const char *below, axes_format format, const char *unit,
                             const lines_curve *curves, size_t count);

#endif
