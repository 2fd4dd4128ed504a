// The charts, each over plain data: what they show comes from the pages. Everything given is copied; labels are
// foreign text. NAN is "not measured" and hatched, zero is a grey dot or an empty cell: neither is a colour.
#ifndef NETPROF_CHARTS_H
#define NETPROF_CHARTS_H

#include "chart_model.h"

typedef struct chart_head {
    const char *name, *title, *question; // as in struct chart; copied
} chart_head;

// ---- chart_bars.c: mirrored linear bars, two amounts for each row ----

typedef struct bars_row {
    const char *label;
    double value[2];    // to the left, to the right
    double pale[2];     // behind, in the pale shade: another run; NAN: none
    double share[2];    // in columns at the right; NAN: unknown
    const char *tip[2]; // or NULL
} bars_row;

typedef struct bars_style {
    const char *way[2];     // "received", "sent"
    const char *unit;       // of the rate: "bytes"
    const char *share_head; // "% of line rate"; NULL: no such columns
    const char *note;       // below; NULL: none
} bars_style;

chart chart_bars(chart_head head, const bars_style *style, const bars_row *rows, size_t count);

// ---- chart_strip.c: checks x devices, with mark and number ----

typedef enum strip_state {
    STRIP_KNOWN = 0,
    STRIP_UNKNOWN, // could not be read: hatched
    STRIP_ABSENT   // this device has no such thing: a dash
} strip_state;

typedef struct strip_cell {
    strip_state state;
    severity severity;
    const char *text;   // the number; NULL: ""
    double weight;      // of equally bad cells the heaviest is the worst
    const char *before; // another run's, narrow before it, with its severity; NULL: none
    severity before_severity;
    const char *tip;
} strip_cell;

typedef struct strip_row {
    const char *label;
    const char *word;        // in place of the worst cell's severity: "OK to HIGH"; NULL: that
    const strip_cell *cells; // [columns]
} strip_row;

// Over more than STRIP_COLUMNS devices a row is folded to counts and the worst device.
enum { STRIP_COLUMNS = 12 };
chart chart_strip(chart_head head, const char *const *columns, size_t column_count, const strip_row *rows,
                  size_t row_count);

// ---- chart_heat.c: rows x columns of rates, logarithmic colour within each band of rows ----

typedef struct heat_row {
    const char *label, *unit;
    size_t band;              // rows of one band are neighbours and share a scale
    theme_ink ramp;           // INK_BLUE, INK_ORANGE; INK_DIVERGING: ratios, 1 is the middle
    double span;              // INK_DIVERGING: the ratio at the ends of the ramp; 0: 8
    const double *values;     // [columns]
    const char *const *texts; // [columns]: in the cells instead of the numbers; NULL: numbers
    const char *note;         // at the right, in place of the most; NULL: none
} heat_row;

// Over more than HEAT_COLUMNS columns the cells have no numbers, but a column names the largest.
enum { HEAT_COLUMNS = 12 };
chart chart_heat(chart_head head, const char *const *columns, size_t column_count, const heat_row *rows,
                 size_t row_count, const char *note);

// ---- chart_panel.c: log bars of one unit, with peers as hollow dots ----

typedef struct panel_row {
    const char *name, *gloss;
    double value;
    const double *peers; // NAN and 0 are not drawn
    size_t peer_count;
    const char *note;  // after the bar: "background, same on all NICs"
    const char *exact; // tip
} panel_row;

typedef struct panel_style {
    bool harm;        // orange
    double low, high; // of the axis, whole decades
    const char *unit; // "bytes": values are shown as rates of it
} panel_style;

chart chart_panel(chart_head head, const panel_style *style, const panel_row *rows, size_t count);
// The key to panels: this device's bar, the peers' dots. Text of the peers: "the 7 other NICs".
chart chart_panel_key(chart_head head, const char *device, const char *peers, const char *note);

// ---- chart_dumbbell.c: two values of each counter on a log axis for each panel; hollow is before, filled after ----

enum { DUMBBELL_COLUMNS = 4 };

typedef struct dumbbell_row {
    const char *name, *gloss, *device, *unit; // gloss "": none
    size_t panel;                             // rows of one panel are neighbours and share an axis and a unit
    double before, after;                     // 0: in a lane of its own; NAN: not known, no dot
    double low, high;                         // range of before; NAN: none
    bool strong;                              // worth a colour
    const char *columns[DUMBBELL_COLUMNS];    // before, after, and two ratios
    bool marked;                              // with its severity, as sign and word
    severity severity;
    const char *more; // behind the name, in grey: "+2"; NULL: none
    const char *tip;  // or NULL
} dumbbell_row;

chart chart_dumbbell(chart_head head, const char *const heads[DUMBBELL_COLUMNS], const dumbbell_row *rows,
                     size_t count);

// ---- chart_path.c: what something passes, stage after stage ----

typedef struct path_stage {
    const char *name, *what, *before, *after; // "PCIe to the host", "writes blocked", "0.2 %", "48.6 %"
    bool known;                               // false: hatched, no values
    severity severity;                        // of what is after
} path_stage;

typedef struct path_style {
    size_t outlined;       // stage; count: none
    size_t back_from;      // an arrow from the outlined stage back to this one; count: none
    const char *back_text; // at the arrow
} path_style;

chart chart_path(chart_head head, const path_style *style, const path_stage *stages, size_t count);

// ---- chart_slopes.c: two amounts that grew from the start on, each to its end ----

typedef struct slope_line {
    const char *name, *label; // "healthy", "96.9 GB/s"
    double seconds, amount;
    const double *at, *amounts; // [count] on the way there, rising from 0; count 0: only both ends are known
    size_t count;
} slope_line;

typedef struct slopes_style {
    const char *unit;  // of the amounts: "B"
    const char *later; // between the two ends: "52.8 s later"; "" none
} slopes_style;

chart chart_slopes(chart_head head, const slopes_style *style, const slope_line lines[2]);

// ---- chart_regions.c: the tree of regions, as a table and as an icicle ----

typedef struct region_row {
    const char *name;
    size_t depth;
    double share, own_share;        // of the time of all, 0 to 1
    const char *calls, *time, *own; // texts
    const char *odd;                // "17 x1.25"; "": none
    bool odd_strong;
    double sent_share;  // of the line rate; NAN: not known
    double bytes_per_s; // of the icicle's colour; NAN: not measured
    const char *sent, *paused, *retries;
    severity severity; // of its findings
    const char *note;  // in place of the NICs' figures; NULL: none
    const char *tip;   // or NULL
} region_row;

// Rows in the order of the code, a parent before its children.
chart chart_regions(chart_head head, const region_row *rows, size_t count, const char *note);
chart chart_icicle(chart_head head, const region_row *rows, size_t count, const char *note);

// ---- chart_findings.c: claim, evidence, threshold, advice, and where the peers are ----

typedef struct findings_evidence {
    const char *name, *value, *rate;
} findings_evidence;

typedef struct findings_row {
    severity severity;
    const char *rule, *devices, *claim, *threshold, *advice, *explained_by;
    const findings_evidence *evidence;
    size_t evidence_count;
    // A strip of dots: all devices' values, those found filled; NAN is not drawn. count 0: no strip
    const double *values;
    const bool *found;
    size_t value_count;
    double limit; // the threshold; NAN: none
    const char *unit;
} findings_row;

chart chart_findings(chart_head head, const findings_row *rows, size_t count);

// ---- chart_table.c ----

typedef enum table_look {
    TABLE_TEXT = 0,
    TABLE_NUMBER, // right
    TABLE_NAME    // a counter's name, mono
} table_look;

typedef struct table_column {
    const char *head;
    table_look look;
    double share; // of what is left over; 0: as wide as its widest text
} table_column;

// Cells row after row; "" in all but the first cell: a heading within the table. Zeros are grey.
chart chart_table(chart_head head, const table_column *columns, size_t column_count, const char *const *cells,
                  size_t row_count);

// ---- chart_histogram.c: small multiples of bars by gnuplot ----

typedef struct histogram_set {
    const char *label;
    const double *values[2]; // [bins] counts; NULL: not there
    const double *line[2];   // [bins] cumulative share, drawn as a line; NULL: none
} histogram_set;

typedef struct histogram_style {
    const char *way[2];      // "received", "sent"; the second may be NULL
    const char *const *bins; // labels
    size_t bin_count;
    const char *what;       // of what the shares are: "packets"
    const char *bins_title; // of the axis of bins in a figure; NULL: the chart's own title
} histogram_style;

chart chart_histograms(chart_head head, const histogram_style *style, const histogram_set *sets, size_t count);

#endif
