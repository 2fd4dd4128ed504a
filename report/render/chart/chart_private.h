// Shared by the charts.
#ifndef NETPROF_CHART_PRIVATE_H
#define NETPROF_CHART_PRIVATE_H

#include "render/base/arena.h"
#include "charts.h"
#include "render/base/number.h"
#include "render/plot/plot.h"

// A chart's data begin with this.
typedef struct chart_memory {
    arena *memory;
} chart_memory;

// Returns zeroed data of this size, which must start with a chart_memory, and fills in a chart with this head.
void *chart_begin(chart *x, chart_head head, size_t size);
// Width of the widest text, at most `most`.
double chart_widest(canvas *c, const char *const *texts, size_t count, theme_type type, double most);
// The pitch of rows in a box that may be lower than the chart asked for; fixed: the height of everything but rows.
double chart_pitch(canvas_box box, double fixed, size_t rows, double pitch);
// A tic of an axis with its unit, in as few digits as it needs: 4 MB/s.
number_text chart_tic(double value, const char *unit, bool per_s);

#endif
