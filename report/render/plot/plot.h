// Plots: the data layer of lines, bands, steps, points, boxes and box plots, drawn by gnuplot into an exact box.
//
// Only data reach gnuplot: no text, axis, tic or key, so no foreign string can. It is started without a shell, in a
// private directory (0700), with LC_ALL=C, no user's settings, no input, a time limit of 20 s for its process group;
// its SVG is checked for being whole before it is used. Colours stay inks until a writer resolves them.
//
// More than PLOT_POINTS_MAX points are never drawn singly: plot_density() bins them into an image.
#ifndef NETPROF_PLOT_H
#define NETPROF_PLOT_H

#include "render/canvas/plot_inks.h"
#include "render/canvas/plot_model.h"

// Round tic values inside the axis, at most `most` and 10; returns how many. Log axes: powers of ten or of two, with
// less than two of them 1, 2, 5 times them.
size_t plot_tics(plot_axis axis, size_t most, double tics[10]);
// An axis from 0 (or the lowest value) to a round number that holds all values; log: whole decades.
plot_axis plot_axis_for(const double *values, size_t count, bool log);

// Bins points into columns x rows inks of the ramp, log of the count.
void plot_density(plot_axis x, plot_axis y, const double *xs, const double *ys, size_t count, theme_ink ramp,
                  size_t columns, size_t rows, uint16_t *inks);

// Runs gnuplot once for all jobs. False: it is missing, too old (before 5.0), failed or took too long, or a plot has
// more than PLOT_POINTS_MAX points (then the others are made); message says which and what to do. Plots without any
// point need no gnuplot. NETPROF_GNUPLOT names another program.
bool plot_render(plot_job *jobs, size_t count, char *message, size_t message_size);

#endif
