// The colours of a plot's drawing.
#ifndef NETPROF_PLOT_INKS_H
#define NETPROF_PLOT_INKS_H

#include <stddef.h>

// A job's SVG is one element <svg xmlns width height viewBox> of nothing but <g>, <path>, <polygon> and <circle>: it
// can stand alone or inside another SVG, and has no ids. This rewrites it with each placeholder colour replaced: by the
// theme's light or dark colour, or by "var(--i12)".
typedef enum plot_colors { PLOT_VARIABLES = 0, PLOT_PAPER = 1, PLOT_DARK = 2 } plot_colors;
char *plot_svg_inks(const char *svg, size_t size, plot_colors colors, size_t *new_size);

#endif
