// The charts whose data layer is a plot, each over plain data. As in charts.h: everything given is copied, labels are
// foreign text, NAN is "not measured".
#ifndef NETPROF_CHARTS_PLOTS_H
#define NETPROF_CHARTS_PLOTS_H

#include "render/plot/axes.h"
#include "charts.h"

// ---- chart_lines.c: small multiples over one axis, with phases, gaps and incidents through all of them ----

typedef struct lines_curve {
    const char *label;        // in the key of its panel; NULL: none
    theme_ink ink, pale;      // pale: of the band
    const double *y;          // [count]
    const double *low, *high; // [count] the band; NULL: none
    bool step, dashed;
    bool area;   // a layer: from low to high in its ink, y is how thick it is; no line
    bool no_key; // another panel's key names it
} lines_curve;

typedef struct lines_panel {
    const char *label, *below; // left of it; below: what the values are, may be NULL
    axes_format format;
    const char *unit; // "B/s"
    bool log;
    const lines_curve *curves;
    size_t curve_count;
    double limit; // a line of its own that the axis reaches; NAN: none
    const char *limit_label;
} lines_panel;

// More points than LINES_COLUMNS are thinned out: in each of so many bins the mean is drawn, in a band from the
// lowest to the highest.
enum { LINES_COLUMNS = 400 };

typedef struct lines_mark {
    size_t panel;
    double x, y;
    const char *text;
    theme_ink ink;
} lines_mark;

typedef struct lines_style {
    const double *x; // [count], rising
    size_t count;
    axes_scale axis;    // of x
    const char *x_head; // of x in the table: "seconds"
    const axes_span *phases, *gaps, *incidents;
    size_t phase_count, gap_count, incident_count;
    double panel_height;      // 0: 62
    const char *phases_label; // left of the phases; NULL: none
    const axes_span *boxes;   // what ran meanwhile, as boxes below the phases
    size_t box_count;
    const char *boxes_label, *boxes_below; // left of them; NULL: none
    const double *tops;      // [panels] where the y axis ends, from 0; NAN: chosen from the data; NULL: all chosen
    const double *weights;   // [panels] of their heights beside one another; NULL: all alike
    const lines_mark *marks; // words at places
    size_t mark_count;
    bool wash;    // phases run pale through all panels
    bool squeeze; // panels may be lower for a page that is full
    bool fill;    // panels are as high as can be, and share what a page has left
} lines_style;

chart chart_lines(chart_head head, const lines_style *style, const lines_panel *panels, size_t count);

// ---- chart_map.c: rows x time, one colour scale for all ----

typedef struct map_row {
    const char *label;
    const double *values; // [columns]; NAN hatched, 0 empty
    const char *right;    // after it; NULL: none
    bool marked;          // it has a finding of this severity
    severity severity;
    bool quiet;         // its label is in hover texts and the table alone: rows are lower than letters
    const char *states; // [columns] a map_cell each; NULL: all are MAP_MEASURED
    bool apart;         // a little space before it, where the chart is drawn alone: another group begins
} map_row;

// Why a cell has no value: not measured, not here yet, no more, or there was nothing to measure: what the row is of had not
// begun, or had ended.
typedef enum map_cell { MAP_MEASURED = '.', MAP_WAITS = 'w', MAP_LOST = 'l', MAP_NOT_THERE = ' ' } map_cell;

typedef struct map_style {
    size_t columns;     // at most MAP_COLUMNS
    axes_scale axis;    // of time
    double from, to;    // of the columns, on that axis
    theme_ink ramp;     // INK_BLUE, INK_ORANGE
    double max;         // end of the scale; 0: a round number above all values
    axes_format format; // of the values
    const char *unit, *label_head, *right_head;
    const axes_span *phases, *incidents; // incidents: their begin as a dashed line
    size_t phase_count, incident_count;
    double label_width, right_width; // of the texts on both sides, in pt, to line up with other charts; 0: as the texts
    bool no_axis;                    // another chart below has it
    bool squeeze;                    // rows may be pressed together a little for a page that is full
    bool named_incidents;            // with their labels above the map
} map_style;

enum { MAP_COLUMNS = 400 };
chart chart_map(chart_head head, const map_style *style, const map_row *rows, size_t count);

// ---- chart_events.c: one strip of ticks for each kind of event, on a time axis ----

typedef struct events_row {
    const char *label;
    const double *at, *amount; // [count]; a tick as high as its share of the largest amount
    size_t count;
    const char *note;  // whose most of it is, beside the ticks, where there is room, else below the label; NULL: none
    const char *right; // after the strip, in place of the status; NULL: the status
    bool background;   // grey
    severity severity;
    bool unknown; // not measured: hatched
} events_row;

chart chart_events(chart_head head, axes_scale axis, const events_row *rows, size_t count, const axes_span *gaps,
                   size_t gap_count);

typedef struct events_style {
    axes_scale axis;
    const axes_span *gaps, *incidents; // incidents: their begin as a dashed line
    size_t gap_count, incident_count;
    double width;                    // that each amount takes on the axis, around `at`; 0: it is a tick
    double label_width, right_width; // of the texts on both sides, in pt, to line up with other charts; 0: as the texts
    bool compact;                    // lower rows: a note that finds no place on its strip is left out
} events_style;

chart chart_events_over(chart_head head, const events_style *style, const events_row *rows, size_t count);

// ---- chart_curve.c: value over size, with a band of quantiles and a peak ----

typedef struct curve_line {
    const char *label;
    theme_ink ink, pale;
    const double *y, *low, *high; // [count]; low and high may be NULL
    bool dashed;
    const char *end_label; // at the last point; NULL: none
} curve_line;

typedef struct curve_style {
    const double *x;
    size_t count;
    axes_scale x_scale, y_scale; // an axis of {0} is chosen from the data; x logarithmic
    double peak;                 // a line; NAN: none
    const char *peak_label;
    double height; // 0: 150
} curve_style;

chart chart_curve(chart_head head, const curve_style *style, const curve_line *lines, size_t count);

// ---- chart_scatter.c: points; over PLOT_POINTS_MAX of them their density ----

typedef struct scatter_set {
    const char *label;
    theme_ink ink;
    const double *x, *y;
    size_t count;
} scatter_set;

typedef struct scatter_style {
    axes_scale x_scale, y_scale; // an axis of {0}: from the data
    const char *x_head, *y_head; // of the table's columns
    double height;               // 0: 170
} scatter_style;

chart chart_scatter(chart_head head, const scatter_style *style, const scatter_set *sets, size_t count);

// ---- chart_boxplot.c: five numbers for each category ----

typedef struct boxplot_row {
    const char *label;
    double low, q1, median, q3, high; // NAN: unknown
    size_t samples;
    theme_ink ink;
} boxplot_row;

typedef struct boxplot_style {
    axes_scale y_scale;               // an axis of {0}: from the data
    const char *low_name, *high_name; // of the whiskers: "p5", "p95"
    double height;                    // 0: 130
} boxplot_style;

chart chart_boxplot(chart_head head, const boxplot_style *style, const boxplot_row *rows, size_t count);

// ---- chart_histogram.c ----

// One distribution as bars, another as an outline over it.
typedef struct distribution_set {
    const char *label;
    theme_ink ink;
    const double *counts; // [bins]
} distribution_set;

typedef struct distribution_style {
    const double *edges; // [bins + 1], rising
    size_t bins;
    axes_scale x_scale; // an axis of {0}: the edges
    const char *what;   // of what the shares are: "calls"
    double height;      // 0: 130
} distribution_style;

chart chart_distribution(chart_head head, const distribution_style *style, const distribution_set *bars,
                         const distribution_set *outline); // outline may be NULL

#endif
