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
// The height of a chart that is fixed_height and row_height for each row, of whatever width.
double chart_even_height(const chart *x, canvas *c, double width, size_t from, size_t count);
// The heads of the twin's columns.
void chart_heads(chart_twin *t, uint64_t right, const char *const *heads, size_t count);
// A copy of a foreign text, which is a cell of the twin, too.
const char *chart_keep(arena *memory, chart_twin *t, const char *text);
// For pick(): keeps the rows that are wanted and drops the twin, which is to be filled again; 0: none are, nothing is
// changed. metric, who: the offsets in a row of the texts that tell them; metric CHART_TITLE: the chart's own title.
#define CHART_TITLE ((size_t)-1)
size_t chart_pick_rows(chart *x, chart_pick *p, void *rows, size_t size, size_t count, size_t metric, size_t who);
// Width of the widest text, at most `most`.
double chart_widest(canvas *c, const char *const *texts, size_t count, theme_type type, double most);
// The pitch of rows in a box that may be lower than the chart asked for; fixed: the height of everything but rows.
double chart_pitch(canvas_box box, double fixed, size_t rows, double pitch);
// A tic of an axis with its unit, in as few digits as it needs: 4 MB/s.
number_text chart_tic(double value, const char *unit, bool per_s);

#endif
