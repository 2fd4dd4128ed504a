// Plots: the data layer of lines, bands, steps, points, boxes and box plots, drawn by gnuplot into an exact box.
//
// Only data reach gnuplot: no text, axis, tic or key, so no foreign string can. It is started without a shell, in a
// private directory (0700), with LC_ALL=C, no user's settings, no input, a time limit of 20 s for its process group;
// its SVG is checked for being whole before it is used. Colours stay inks until a writer resolves them.
//
// More than PLOT_POINTS_MAX points are never drawn singly: plot_density() bins them into an image.
#ifndef NETPROF_PLOT_H
#define NETPROF_PLOT_H

#include "render/base/theme.h"

#include <stdbool.h>
#include <stddef.h>

enum { PLOT_POINTS_MAX = 5000 };

typedef enum plot_kind {
    PLOT_LINE = 0, // y over x; NAN in y breaks the line: a gap stays a gap
    PLOT_STEP,     // y holds until the next x
    PLOT_BAND,     // filled between y and y2; NAN breaks it
    PLOT_POINTS,
    PLOT_BARS, // boxes from the axis' low end to y, of width x2 around x (in x units)
    PLOT_BOX   // box plots at x of width x2: five values low, q1, median, q3, high in boxes[]
} plot_kind;

typedef struct plot_series {
    plot_kind kind;
    theme_ink ink;
    double line_width; // pt; points: radius; 0: 1 pt
    bool dashed;
    const double *x, *y, *y2, *x2;
    const double (*boxes)[5]; // PLOT_BOX
    size_t count;
} plot_series;

typedef struct plot_axis {
    double min, max; // min < max; both > 0 when log
    bool log;
    bool binary; // tics at powers (log) or multiples of powers of two: sizes in bytes
} plot_axis;

typedef struct plot {
    plot_axis x, y;
    const plot_series *series; // drawn in this order
    size_t series_count;
} plot;

// Place of a value on an axis, 0 at min, 1 at max; not clamped; NAN where it has none.
double plot_at(plot_axis axis, double value);
// Round tic values inside the axis, at most `most` and 10; returns how many. Log axes: powers of ten or of two, with
// less than two of them 1, 2, 5 times them.
size_t plot_tics(plot_axis axis, size_t most, double tics[10]);
// An axis from 0 (or the lowest value) to a round number that holds all values; log: whole decades.
plot_axis plot_axis_for(const double *values, size_t count, bool log);

// Bins points into columns x rows inks of the ramp, log of the count; returns false without memory.
bool plot_density(plot_axis x, plot_axis y, const double *xs, const double *ys, size_t count, theme_ink ramp,
                  size_t columns, size_t rows, uint16_t *inks);

typedef struct plot_job {
    const plot *plot;
    double width, height; // pt
    char *svg;            // result, malloc'd; NULL: could not be made. Colours are placeholders: plot_svg_inks()
    size_t svg_size;
} plot_job;

// Runs gnuplot once for all jobs. False: it is missing, too old (before 5.0), failed or took too long, or a plot has
// more than PLOT_POINTS_MAX points (then the others are made); message says which and what to do. Plots without any
// point need no gnuplot. NETPROF_GNUPLOT names another program.
bool plot_render(plot_job *jobs, size_t count, char *message, size_t message_size);

// A job's SVG is one element <svg xmlns width height viewBox> of nothing but <g>, <path>, <polygon> and <circle>: it
// can stand alone or inside another SVG, and has no ids. This rewrites it with each placeholder colour replaced: by the
// theme's light or dark colour, or by "var(--i12)".
typedef enum plot_colors { PLOT_VARIABLES = 0, PLOT_PAPER = 1, PLOT_DARK = 2 } plot_colors;
char *plot_svg_inks(const char *svg, size_t size, plot_colors colors, size_t *new_size);

#endif
