// What happened over time in one file: when devices sent and received, which were unlike the others, what else happened.
#include "pages_series.h"

#include "render/base/buffer.h"
#include "analysis/catalog/catalog.h"
#include "render/chart/charts_plots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const pages_kind pages_series_kind = {
    "Over time", "rates of devices over time, their spread, events, samples",
    "time-received time-sent time-rates time-events spread-received spread-sent time-quantiles time-samples"};

enum { ROWS = 40, BOXES = 16, EVENTS = 10 };

// A row of the maps: a device.
typedef struct view_row {
    const char *label;
    const series_device *device;
    double *rates[2]; // [columns]
    double bytes[2], mean[2], line_rate, events;
    double distance; // of its mean from that of the others, for choosing
} view_row;

typedef struct view {
    arena *memory;
    const series *s;
    view_row *rows;
    size_t count, columns, devices, left_out;
    bool failed; // no memory
    double begin_s, end_s;
} view;

static const char *const ways[2] = {"received", "sent"};

// ---- rows ----

static size_t most_steps(const series *s)
{
    size_t most = 0;
    for (size_t i = 0; i < s->device_count; i++)
        if (s->devices[i].chosen && s->devices[i].count > most) most = s->devices[i].count;
    return most;
}

static double mean_of(const double *values, size_t count)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i])) sum += values[i], n++;
    return n ? sum / (double)n : NAN;
}

static bool add_device_row(view *v, size_t i)
{
    const series_device *d = &v->s->devices[i];
    view_row *r = &v->rows[v->count];
    *r = (view_row){.device = d, .line_rate = d->line_rate};
    r->label = arena_text(v->memory, d->name);
    for (int way = 0; way < 2; way++) {
        r->rates[way] = arena_make(v->memory, v->columns, sizeof(double));
        if (!r->rates[way]) return false;
        series_columns(d, way, v->begin_s, v->end_s, r->rates[way], v->columns);
        r->bytes[way] = d->bytes[way];
        r->mean[way] = mean_of(r->rates[way], v->columns);
    }
    v->count++;
    return true;
}

static int by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_mean(view *v, int way)
{
    double *means = malloc((v->count + 1) * sizeof *means), middle = NAN;
    size_t n = 0;
    v->failed |= !means;
    for (size_t i = 0; means && i < v->count; i++)
        if (!isnan(v->rows[i].mean[way])) means[n++] = v->rows[i].mean[way];
    if (n) {
        qsort(means, n, sizeof *means, by_number);
        middle = means[n / 2];
    }
    free(means);
    return middle;
}

// Rows with events first, then the farthest from the median of all.
static int by_interest(const void *a, const void *b)
{
    const view_row *x = a, *y = b;
    if (x->events != y->events) return x->events < y->events ? 1 : -1;
    if (x->distance != y->distance) return x->distance < y->distance ? 1 : -1;
    return (x->device > y->device) - (x->device < y->device);
}

static int by_place(const void *a, const void *b)
{
    const view_row *x = a, *y = b;
    return (x->device > y->device) - (x->device < y->device);
}

// Too many rows for a picture: those that are unlike the others.
static void choose_rows(view *v)
{
    double middle[2] = {median_mean(v, 0), median_mean(v, 1)};
    if (v->count <= ROWS) return;
    for (size_t i = 0; i < v->count; i++) {
        view_row *r = &v->rows[i];
        for (int way = 0; way < 2; way++)
            if (middle[way] > 0 && !isnan(r->mean[way]))
                r->distance = fmax(r->distance, fabs(r->mean[way] / middle[way] - 1));
    }
    qsort(v->rows, v->count, sizeof *v->rows, by_interest);
    v->left_out = v->count - ROWS;
    v->count = ROWS;
    qsort(v->rows, v->count, sizeof *v->rows, by_place);
}

static void count_events(view *v)
{
    for (size_t i = 0; i < v->s->event_count; i++)
        for (size_t k = 0; k < v->count; k++)
            v->rows[k].events += v->rows[k].device == &v->s->devices[v->s->events[i].device];
}

static bool view_begin(view *v, const series *s)
{
    size_t steps = most_steps(s);
    *v = (view){.memory = arena_open(), .s = s, .end_s = s->end_s};
    v->columns = steps < MAP_COLUMNS ? steps : MAP_COLUMNS;
    if (!v->memory) return false;
    for (size_t i = 0; i < s->device_count; i++)
        v->devices += s->devices[i].chosen;
    v->rows = arena_make(v->memory, v->devices + 1, sizeof *v->rows);
    bool good = v->rows && v->columns;
    for (size_t i = 0; good && i < s->device_count; i++)
        if (s->devices[i].chosen) good = add_device_row(v, i);
    if (!good) return !arena_failed(v->memory) && !v->columns;
    count_events(v);
    choose_rows(v);
    return true;
}

// ---- charts ----

static axes_scale time_axis(const view *v)
{
    return (axes_scale){.axis = {v->begin_s, v->end_s, false, false}, .format = AXES_TIME, .unit = ""};
}

static void add_map(const view *v, document *doc, int way)
{
    map_row rows[ROWS];
    char means[ROWS][sizeof(number_text)], title[80], name[40], question[160];
    const char *row = "device";
    for (size_t i = 0; i < v->count; i++) {
        memcpy(means[i], number_prefixed(v->rows[i].mean[way], "B/s").text, sizeof means[i]);
        rows[i] = (map_row){.label = v->rows[i].label, .values = v->rows[i].rates[way], .right = means[i]};
    }
    snprintf(name, sizeof name, "time-%s", ways[way]);
    snprintf(title, sizeof title, "Bytes %s, time \xc3\x97 %s", ways[way], row);
    if (v->left_out)
        snprintf(question, sizeof question, "the %d %ss most unlike the others of %zu; mean of each column", ROWS, row,
                 v->count + v->left_out);
    else
        snprintf(question, sizeof question, "when, and is any %s unlike the others? mean of each column", row);
    map_style style = {.columns = v->columns,
                       .axis = time_axis(v),
                       .from = v->begin_s,
                       .to = v->end_s,
                       .ramp = INK_BLUE,
                       .format = AXES_SI,
                       .unit = "B/s",
                       .label_head = row,
                       .right_head = "mean"};
    document_add(doc, chart_map((chart_head){name, title, question}, &style, rows, v->count));
}

// Columns in which nothing is known of any row.
static size_t find_gaps(const view *v, axes_span *gaps, size_t most)
{
    size_t count = 0;
    double width = (v->end_s - v->begin_s) / (double)v->columns;
    for (size_t k = 0; k < v->columns; k++) {
        bool known = false;
        for (size_t i = 0; i < v->count && !known; i++)
            known = !isnan(v->rows[i].rates[0][k]) || !isnan(v->rows[i].rates[1][k]);
        if (known) continue;
        double from = v->begin_s + width * (double)k;
        if (count && gaps[count - 1].to >= from - width / 2)
            gaps[count - 1].to = from + width;
        else if (count < most)
            gaps[count++] = (axes_span){from, from + width, "no samples", INK_NONE};
    }
    return count;
}

typedef struct band {
    double *mean, *low, *high;
} band;

// Over the rows: their mean, the lowest and the highest in each column.
static band band_of(const view *v, int way)
{
    double *all = arena_make(v->memory, 3 * v->columns, sizeof *all);
    band b = {all, all ? all + v->columns : NULL, all ? all + 2 * v->columns : NULL};
    for (size_t k = 0; all && k < v->columns; k++) {
        size_t n = 0;
        b.low[k] = b.high[k] = NAN;
        for (size_t i = 0; i < v->count; i++) {
            double rate = v->rows[i].rates[way][k];
            if (isnan(rate)) continue;
            b.mean[k] += rate;
            b.low[k] = fmin(rate, b.low[k]);
            b.high[k] = fmax(rate, b.high[k]);
            n++;
        }
        b.mean[k] = n ? b.mean[k] / (double)n : NAN;
    }
    return b;
}

static double line_rate_of(const view *v)
{
    double rate = v->count ? v->rows[0].line_rate : 0;
    for (size_t i = 1; i < v->count; i++)
        if (v->rows[i].line_rate != rate) return 0;
    return rate;
}

static void add_rates(const view *v, document *doc)
{
    static const theme_ink inks[2] = {INK_RECEIVED, INK_SENT_TEXT}, pales[2] = {INK_RECEIVED_PALE, INK_SENT_PALE};
    double *x = arena_make(v->memory, v->columns, sizeof *x), line = line_rate_of(v);
    axes_span gaps[64];
    lines_curve curves[2];
    lines_panel panels[2];
    char below[2][120], question[160];
    const char *row = "device";
    for (size_t k = 0; x && k < v->columns; k++)
        x[k] = v->begin_s + (v->end_s - v->begin_s) * ((double)k + 0.5) / (double)v->columns;
    for (int way = 0; way < 2; way++) {
        band b = band_of(v, way);
        bool many = v->count > 1;
        if (!b.mean) return;
        curves[way] = (lines_curve){.label = "",
                                    .ink = inks[way],
                                    .pale = pales[way],
                                    .y = b.mean,
                                    .low = many ? b.low : NULL,
                                    .high = many ? b.high : NULL};
        snprintf(below[way], sizeof below[way], "per %s%s%s", row, line > 0 ? ", line rate " : "",
                 line > 0 ? number_prefixed(line, "B/s").text : "");
        panels[way] = (lines_panel){.label = way ? "Sent" : "Received",
                                    .below = below[way],
                                    .format = AXES_SI,
                                    .unit = "B/s",
                                    .curves = &curves[way],
                                    .curve_count = 1,
                                    .limit = NAN};
    }
    lines_style style = {.x = x, .count = v->columns, .axis = time_axis(v), .x_head = "seconds", .gaps = gaps};
    style.gap_count = find_gaps(v, gaps, sizeof gaps / sizeof *gaps);
    snprintf(question, sizeof question,
             v->count > 1 ? "line: mean of %zu %ss; band: lowest to highest" : "one time axis for both", v->count, row);
    if (x) document_add(doc, chart_lines((chart_head){"time-rates", "Rates over time", question}, &style, panels, 2));
}

// ---- events ----

static int by_sum(const void *a, const void *b)
{
    const series_counter *const *x = a, *const *y = b;
    if ((*x)->trouble != (*y)->trouble) return (*x)->trouble ? -1 : 1;
    size_t p = catalog_unit_rank((*x)->unit), q = catalog_unit_rank((*y)->unit);
    if (p != q) return p < q ? -1 : 1;
    return ((*x)->sum < (*y)->sum) - ((*x)->sum > (*y)->sum);
}

// The device with the most of it, and its share.
static const series_device *main_device(view *v, size_t counter, double *amount)
{
    const series *s = v->s;
    double *sums = calloc(s->device_count + 1, sizeof *sums);
    const series_device *most = NULL;
    *amount = 0;
    v->failed |= !sums;
    for (size_t i = 0; sums && i < s->event_count; i++)
        if (s->events[i].counter == counter) sums[s->events[i].device] += s->events[i].amount;
    for (size_t i = 0; sums && i < s->device_count; i++)
        if (sums[i] > *amount) *amount = sums[i], most = &s->devices[i];
    free(sums);
    return most;
}

static void fill_events(const view *v, size_t counter, events_row *row, double *room)
{
    const series *s = v->s;
    size_t n = 0, all = s->counters[counter].events;
    for (size_t i = 0; i < s->event_count && n < all; i++) {
        if (s->events[i].counter != counter) continue;
        room[n] = (s->events[i].from_s + s->events[i].to_s) / 2;
        room[all + n++] = s->events[i].amount;
    }
    row->at = room;
    row->amount = room + all;
    row->count = n;
}

static void add_events(view *v, document *doc)
{
    const series *s = v->s;
    const series_counter **order = arena_make(v->memory, s->counter_count + 1, sizeof *order);
    events_row rows[EVENTS];
    size_t count = 0, shown = 0;
    char question[160];
    for (size_t i = 0; order && i < s->counter_count; i++)
        if (s->counters[i].events) order[count++] = &s->counters[i];
    if (!count) {
        document_note(doc, s->counter_count
                               ? "No counter of errors, drops, pauses, waiting or repetition moved between any "
                                 "two snapshots."
                               : "The files have no counters of errors, drops, pauses or repetition over time.");
        return;
    }
    qsort(order, count, sizeof *order, by_sum);
    for (size_t i = 0; i < count && shown < EVENTS; i++) {
        const series_counter *c = order[i];
        double amount, *room = arena_make(v->memory, 2 * c->events, sizeof *room);
        const series_device *d = main_device(v, (size_t)(c - s->counters), &amount);
        if (!room || !d) continue;
        events_row *r = &rows[shown++];
        *r = (events_row){.label = arena_format(v->memory, "%s", c->name), .severity = SEVERITY_INFO};
        fill_events(v, (size_t)(c - s->counters), r, room);
        r->note = arena_format(v->memory, "most on %s: %s", d->name, number_prefixed(amount, "").text);
        r->right = arena_text(v->memory, number_volume(c->sum, c->unit).text);
    }
    if (count > shown)
        snprintf(question, sizeof question,
                 "the first %zu of %zu counters of trouble or waiting that moved; height = how much", shown, count);
    else
        snprintf(question, sizeof question,
                 "counters of trouble or waiting that moved; height = how much, name = whose most");
    document_add(doc,
                 chart_events((chart_head){"time-events", "Events", question}, time_axis(v), rows, shown, NULL, 0));
}

// ---- distributions and tables ----

static const double shares[] = {0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1};
enum { P5, P25, P50, P75, P95, P99, MOST, SHARES };

static size_t row_quantiles(view *v, const view_row *r, int way, double values[SHARES])
{
    size_t n = series_quantiles(r->device, way, shares, values, SHARES);
    if (n != SERIES_FAILED) return n;
    v->failed = true;
    for (int k = 0; k < SHARES; k++)
        values[k] = NAN;
    return 0;
}

static chart boxes_of(view *v, int way)
{
    static const theme_ink inks[2] = {INK_RECEIVED, INK_SENT_TEXT};
    boxplot_row rows[BOXES];
    char name[40], title[60];
    for (size_t i = 0; i < v->count; i++) {
        double q[SHARES];
        size_t n = row_quantiles(v, &v->rows[i], way, q);
        rows[i] = (boxplot_row){v->rows[i].label, q[P5], q[P25], q[P50], q[P75], q[P95], n, inks[way]};
    }
    snprintf(name, sizeof name, "spread-%s", ways[way]);
    snprintf(title, sizeof title, "Spread of rates %s", ways[way]);
    const boxplot_style style = {
        .y_scale = {.format = AXES_SI, .unit = "B/s"}, .low_name = "p5", .high_name = "p95", .height = 110};
    return chart_boxplot((chart_head){name, title, "quartiles; whiskers p5, p95"}, &style, rows, v->count);
}

static void add_quantiles(view *v, document *doc)
{
    static const table_column columns[] = {
        {"", TABLE_TEXT, 1},       {"", TABLE_TEXT, 0},       {"volume", TABLE_NUMBER, 0},
        {"mean", TABLE_NUMBER, 0}, {"p50", TABLE_NUMBER, 0},  {"p95", TABLE_NUMBER, 0},
        {"p99", TABLE_NUMBER, 0},  {"most", TABLE_NUMBER, 0}, {"p95 of line rate", TABLE_NUMBER, 0}};
    enum { COLUMNS = sizeof columns / sizeof *columns };
    const char **cells = arena_make(v->memory, 2 * v->count * COLUMNS + 1, sizeof *cells);
    size_t n = 0;
    for (size_t i = 0; cells && i < v->count; i++)
        for (int way = 0; way < 2; way++) {
            const view_row *r = &v->rows[i];
            double q[SHARES];
            row_quantiles(v, r, way, q);
            cells[n++] = r->label;
            cells[n++] = ways[way];
            cells[n++] = arena_text(v->memory, number_prefixed(r->bytes[way], "B").text);
            cells[n++] = arena_text(v->memory, number_prefixed(r->mean[way], "B/s").text);
            for (int k = P50; k <= MOST; k += k == P50 ? P95 - P50 : 1)
                cells[n++] = arena_text(v->memory, number_prefixed(q[k], "B/s").text);
            cells[n++] = arena_text(v->memory, number_percent(r->line_rate > 0 ? q[P95] / r->line_rate : NAN).text);
        }
    if (cells)
        document_add(doc, chart_table((chart_head){"time-quantiles", "Rates in numbers",
                                                   "quantiles over the steps between snapshots, gaps left out"},
                                      columns, COLUMNS, cells, 2 * v->count));
}

static void add_samples(view *v, document *doc)
{
    static const table_column columns[] = {{"host", TABLE_TEXT, 0},           {"file", TABLE_TEXT, 1},
                                           {"snapshots", TABLE_NUMBER, 0},    {"every", TABLE_NUMBER, 0},
                                           {"longest step", TABLE_NUMBER, 0}, {"gaps", TABLE_NUMBER, 0},
                                           {"longest read", TABLE_NUMBER, 0}, {"resets", TABLE_NUMBER, 0},
                                           {"clock back", TABLE_NUMBER, 0},   {"unknown rates", TABLE_NUMBER, 0}};
    enum { COLUMNS = sizeof columns / sizeof *columns, RUNS = 200 };
    size_t n = 0, runs = v->s->run_count < RUNS ? v->s->run_count : RUNS;
    const char **cells = arena_make(v->memory, runs * COLUMNS + 1, sizeof *cells);
    for (size_t i = 0; cells && i < runs; i++) {
        const series_run *r = &v->s->runs[i];
        const char *slash = strrchr(r->path, '/');
        const size_t counts[] = {r->resets, r->backwards, r->unknown};
        cells[n++] = arena_text(v->memory, *r->host ? r->host : NUMBER_UNKNOWN);
        cells[n++] = arena_text(v->memory, slash && slash[1] ? slash + 1 : r->path);
        cells[n++] = arena_format(v->memory, "%zu", r->snapshots);
        cells[n++] = arena_text(v->memory, number_duration(r->interval_s).text);
        cells[n++] = arena_text(v->memory, number_duration(r->longest_s).text);
        cells[n++] = arena_format(v->memory, "%zu", r->gaps);
        cells[n++] = arena_text(v->memory, number_duration(r->sweep_s).text);
        for (size_t k = 0; k < 3; k++)
            cells[n++] = arena_format(v->memory, "%zu", counts[k]);
    }
    if (cells)
        document_add(doc, chart_table((chart_head){"time-samples", "Samples",
                                                   "a step longer than 2.5 of the usual ones is a gap: it is "
                                                   "left out of pictures and quantiles, not of volumes"},
                                      columns, COLUMNS, cells, runs));
    if (runs < v->s->run_count)
        document_note(doc, arena_format(v->memory, "%zu more files are not listed.", v->s->run_count - runs));
}

static void add_first(view *v, document *doc)
{
    if (!v->count || v->columns < 2) {
        document_note(doc, "No device has bytes in more than two snapshots: there is nothing to show over time.");
        return;
    }
    add_map(v, doc, SERIES_IN);
    add_map(v, doc, SERIES_OUT);
    add_events(v, doc);
}

static void add_rest(view *v, document *doc)
{
    if (v->count && v->columns >= 2) {
        add_rates(v, doc);
        if (v->count <= BOXES) document_beside(doc, boxes_of(v, SERIES_IN), boxes_of(v, SERIES_OUT), 0.5);
        add_quantiles(v, doc);
    }
    add_samples(v, doc);
}

bool pages_series_part(document *doc, const series *s)
{
    view v;
    bool good = view_begin(&v, s);
    if (good) {
        document_part(doc, pages_series_kind.name);
        document_subline(doc, arena_format(v.memory, "%zu snapshots, one every %s; times since the first of them",
                                           s->runs[0].snapshots, number_duration(s->runs[0].interval_s).text));
        add_first(&v, doc);
        add_rest(&v, doc);
        good = !v.failed && !arena_failed(v.memory);
    }
    if (v.memory) arena_close(v.memory);
    return good;
}
