// Boxes, points and ways to place text on a canvas.
#ifndef NETPROF_CANVAS_TYPES_H
#define NETPROF_CANVAS_TYPES_H

#include "render/base/theme.h"

#include <stdbool.h>

typedef struct canvas canvas;

typedef struct canvas_box {
    double x, y, width, height;
} canvas_box;

typedef struct canvas_point {
    double x, y;
} canvas_point;

// How a line is broken; lines of one panel differ in it, so that they do in grey, too.
typedef enum canvas_dash { DASH_NONE = 0, DASH_SHORT, DASH_LONG, DASH_DOTS, DASH_DOT_LONG, DASHES } canvas_dash;

// A chart that stands alone: as a figure of a paper or on a slide, not on a page of a report.
typedef struct canvas_figure {
    const char *family;  // NULL: the theme's
    double type;         // size of all texts in units of the canvas: what is beside them was drawn for that
    double points;       // of the finished figure for each unit
    bool grey, no_words; // no_words: neither title nor words of status
} canvas_figure;

// A stretch of time and where it is drawn, from left to right.
typedef struct canvas_span {
    canvas_box box;
    double from, to;       // seconds at its left and right
    int64_t wall_ns;       // CLOCK_REALTIME of second 0; 0: not known
    size_t first, columns; // of the chart's table, those that are drawn here; columns 0: none
    const char *unit;      // of them, as in axes: "B/s"; "%", "iB" and "time" of shares, sizes and seconds; NULL: none
} canvas_span;

typedef enum canvas_align { ALIGN_LEFT = 0, ALIGN_CENTER, ALIGN_RIGHT } canvas_align;

// How a text that is too long is shortened.
typedef enum canvas_shorten { SHORTEN_MIDDLE = 0, SHORTEN_END } canvas_shorten;

#endif
