// Between the parts of plot: axes (plot.c), scripts (plot_script.c), gnuplot (plot_run.c), its SVG (plot_svg.c).
#ifndef NETPROF_PLOT_PARTS_H
#define NETPROF_PLOT_PARTS_H

#include "render/canvas/plot_model.h"

#include <stdio.h>

// The colour that gnuplot paints with; the two low bytes are 2 x the index of the series, + 1 for its second part.
#define PLOT_PAINT 0xa70000u
// Places on an axis are whole numbers for gnuplot, 0 to PLOT_UNIT: no locale can change how they are written.
enum { PLOT_UNIT = 1000000, PLOT_SERIES_MAX = 0x7fff };

// Line width or radius in pt, in hundredths, of a series.
unsigned plot_width(const plot_series *s, bool extra);

extern int plot_limit_ms; // 20 s; tests shorten it

// How many points a plot has that are drawn one by one.
size_t plot_points(const plot *p);

// Writes the data file of a plot; returns false when it has nothing to draw.
bool plot_write_data(FILE *to, const plot_job *job);
// Writes the commands that draw it: from `data` to `svg`, both paths without quotes.
void plot_write_commands(FILE *to, const plot_job *job, const char *data, const char *svg);

// Starts the program with these arguments in a process group of its own and waits for it, plot_limit_ms at most.
// Its standard error goes to `said`, cut to its size. Returns its exit code, or one of these.
enum { PLOT_NOT_FOUND = -1, PLOT_NOT_STARTED = -2, PLOT_TOO_SLOW = -3, PLOT_KILLED = -4 };
int plot_spawn(char *const argv[], char *said, size_t said_size);

// gnuplot's SVG as a job has it, malloc'd; NULL: it is not whole, or not what gnuplot writes.
char *plot_svg_tidy(const char *text, size_t size, const plot_job *job, size_t *new_size);

#endif
