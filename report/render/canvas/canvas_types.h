// Boxes, points and ways to place text on a canvas.
#ifndef NETPROF_CANVAS_TYPES_H
#define NETPROF_CANVAS_TYPES_H

#include "render/base/theme.h"

typedef struct canvas canvas;

typedef struct canvas_box {
    double x, y, width, height;
} canvas_box;

typedef struct canvas_point {
    double x, y;
} canvas_point;

typedef enum canvas_align { ALIGN_LEFT = 0, ALIGN_CENTER, ALIGN_RIGHT } canvas_align;

// How a text that is too long is shortened.
typedef enum canvas_shorten { SHORTEN_MIDDLE = 0, SHORTEN_END } canvas_shorten;

#endif
