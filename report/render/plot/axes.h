// Axes around a plot box: grid, tics and labels in the field's number formats.
#ifndef NETPROF_AXES_H
#define NETPROF_AXES_H

#include "render/base/arena.h"
#include "plot.h"
#include "render/canvas/canvas.h"
#include "render/base/number.h"

typedef enum axes_format {
    AXES_SI = 0,   // prefix and unit: 40 GB/s; the unit at the last tic, or at each on logarithmic axes
    AXES_TIME,     // of seconds: 60 min
    AXES_CLOCK,    // of seconds since wall_ns: 14:26, UTC
    AXES_DURATION, // of seconds, each tic with its own unit: 10 us
    AXES_BINARY,   // of bytes: 64 KiB
    AXES_PERCENT   // of shares of 1
} axes_format;

// One axis: what it spans, and how its numbers look.
typedef struct axes_scale {
    plot_axis axis;
    axes_format format;
    const char *unit;  // AXES_SI: "B/s"; "": none
    int64_t wall_ns;   // of x: CLOCK_REALTIME of its 0, written below elapsed time; 0: not known
    const char *title; // in figures: what it shows, its unit comes behind it; NULL: nothing
} axes_scale;

typedef struct axes {
    canvas_box box; // of the plot
    axes_scale x, y;
} axes;

// "Time since start" of an axis of time, "" of another.
const char *axes_time_title(const axes_scale *s);
double axes_x(const axes *a, double value); // in points; NAN where it has no place
double axes_y(const axes *a, double value);

// The labels of tics; returns how many there are.
size_t axes_labels(const axes_scale *s, size_t most, double tics[10], number_text labels[10]);
// Width that the labels of a y axis of this height take, in figures with its title.
double axes_label_width(canvas *c, const axes_scale *y, double height);

// Horizontal grid lines with labels left of the box; the base line.
void axes_draw_y(canvas *c, const axes *a);
// Height of what axes_draw_x() draws: another row where the wall clock is known, in figures one for the title.
double axes_x_height(const canvas *c, const axes_scale *x);
// Tics and labels below the box, within `left` and `right`.
enum { AXES_X_HEIGHT = 14 };
void axes_draw_x(canvas *c, const axes *a, double left, double right);
// The same for an axis that is none of time: at() tells when what stands at x was, CLOCK_REALTIME, 0 not known. The axis'
// wall_ns says only that there is such a row.
typedef int64_t axes_when(const void *user, double x);
void axes_draw_x_when(canvas *c, const axes *a, double left, double right, axes_when *at, const void *user);

// What is drawn between these two can be magnified on an interactive page, where x is time. columns of the chart's table
// from `first` on are drawn there, on y; 0: none.
void axes_begin_time(canvas *c, const axes *a, size_t first, size_t columns);
void axes_end_time(canvas *c, const axes *a);

// Stretches along x.
typedef struct axes_span {
    double from, to;
    const char *label; // "" or NULL: none
    theme_ink ink;     // of phases
} axes_span;

// The part of a span inside the box; false: none.
bool axes_clip(const axes *a, const axes_span *s, double *left, double *right);
void axes_hatch(canvas *c, const axes *a, const axes_span *gaps, size_t count);
// Where spans begin, as dashed lines from top to bottom.
void axes_draw_begins(canvas *c, const axes *a, const axes_span *spans, size_t count, double top, double bottom);
// Spans as boxes filled with their inks, with their labels where there is room. INK_NONE: an empty frame.
void axes_draw_spans(canvas *c, const axes *a, const axes_span *spans, size_t count);
// Copies spans and their labels.
const axes_span *axes_copy_spans(arena *memory, const axes_span *spans, size_t count);

// A key: swatches with names on one line or more, from left to right. Returns its height, in lines of 11 pt.
typedef enum axes_swatch { SWATCH_LINE = 0, SWATCH_DASHED, SWATCH_BOX, SWATCH_DOT, SWATCH_BAND } axes_swatch;
typedef struct axes_key {
    const char *label;
    axes_swatch swatch;
    theme_ink ink, pale; // pale: behind a line
    size_t nth;          // of the lines of a panel, as in plot_series
} axes_key;
double axes_draw_key(canvas *c, const axes_key *items, size_t count, double left, double y, double width, bool draw);

// The colour scale of a ramp, 90 pt wide and 16 high, with its two ends.
void axes_draw_ramp(canvas *c, double right, double y, theme_ink ramp, const char *low, const char *high);

// A scale with the axis filled in from the values where it is {0}.
axes_scale axes_complete(axes_scale s, const double *values, size_t count);

#endif
