// A plot and its drawing: a canvas keeps both, plot/ makes the drawing.
#ifndef NETPROF_PLOT_MODEL_H
#define NETPROF_PLOT_MODEL_H

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
    size_t nth; // of the lines of a panel, from 0: in a figure the lines differ in their dashes and points
    const double *x, *y, *y2, *x2;
    const double (*boxes)[5]; // PLOT_BOX
    size_t count;
} plot_series;

typedef struct plot_axis {
    double min, max; // min < max; both > 0 when log
    bool log;
    bool binary; // tics at powers (log) or multiples of powers of two: sizes in bytes
} plot_axis;

// Place of a value on an axis, 0 at min, 1 at max; not clamped; NAN where it has none.
double plot_at(plot_axis axis, double value);

typedef struct plot {
    plot_axis x, y;
    const plot_series *series; // drawn in this order
    size_t series_count;
} plot;

typedef struct plot_job {
    const plot *plot;
    double width, height; // pt
    bool
        coarse; // for a screen: tenths of a pt, and no point that is off the line by less than an eighth (field: a third)
    char *svg; // result, malloc'd; NULL: could not be made. Colours are placeholders: plot_svg_inks()
    size_t svg_size;
} plot_job;

#endif
