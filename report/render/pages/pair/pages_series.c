// What happened over time in one file: when devices sent and received, which were unlike the others, what else happened.
#include "pages_series.h"

#include "analysis/base/words.h"
#include "analysis/catalog/catalog.h"
#include "analysis/data/clocks.h"
#include "render/chart/charts_plots.h"
#include "render/document/document.h"
#include "render/pages/pages_time.h"
#include "render/pages/sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const pages_kind pages_series_kind = {
    "Over time", "rates of devices over time, their spread, events, samples",
    "time-received time-sent time-rates time-events spread-received spread-sent time-quantiles time-samples"};

enum { ROWS = 40, BOXES = 16, EVENTS = 10 };

// A row of the maps: a device.
typedef struct device_row {
    const char *label;
    const series_device *device;
    double *rates[2]; // [columns]
    double bytes[2], mean[2], line_rate, events;
    double distance; // of its mean from the median of all, for choosing
} device_row;

typedef struct over_time {
    arena *memory;
    const series *s;
    document *doc;
    pages_time time;
    device_row *rows;
    size_t count, left_out;
} over_time;

static const char *const ways[2] = {"received", "sent"};

// ---- rows ----

static size_t over_time_most_steps(const series *s)
{
    size_t most = 0;
    for (size_t i = 0; i < s->device_count; i++)
        if (s->devices[i].chosen && s->devices[i].count > most) most = s->devices[i].count;
    return most;
}

static double over_time_mean(const double *values, size_t count)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i])) sum += values[i], n++;
    return n ? sum / (double)n : NAN;
}

static void over_time_add_row(over_time *v, const series_device *d)
{
    const pages_time *t = &v->time;
    device_row *r = &v->rows[v->count++];
    *r = (device_row){.device = d, .line_rate = d->line_rate, .label = arena_text(v->memory, d->name)};
    for (int way = 0; way < 2; way++) {
        r->rates[way] = arena_make(v->memory, t->columns, sizeof(double));
        series_columns(d, way, t->from_s, t->to_s, r->rates[way], t->columns);
        r->bytes[way] = d->bytes[way];
        r->mean[way] = over_time_mean(r->rates[way], t->columns);
    }
}

static int over_time_by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double over_time_median(const over_time *v, int way)
{
    double *means = arena_make(v->memory, v->count, sizeof *means);
    size_t n = 0;
    for (size_t i = 0; i < v->count; i++)
        if (!isnan(v->rows[i].mean[way])) means[n++] = v->rows[i].mean[way];
    qsort(means, n, sizeof *means, over_time_by_number);
    return n ? means[n / 2] : NAN;
}

// Rows with events first, then the farthest from the median of all.
static int over_time_by_interest(const void *a, const void *b)
{
    const device_row *x = a, *y = b;
    if (x->events != y->events) return x->events < y->events ? 1 : -1;
    if (x->distance != y->distance) return x->distance < y->distance ? 1 : -1;
    return (x->device > y->device) - (x->device < y->device);
}

static int over_time_by_place(const void *a, const void *b)
{
    const device_row *x = a, *y = b;
    return (x->device > y->device) - (x->device < y->device);
}

// Where there are too many rows for a picture, only those that are most unlike the others are kept.
static void over_time_choose_rows(over_time *v)
{
    if (v->count <= ROWS) return;
    double middle[2] = {over_time_median(v, 0), over_time_median(v, 1)};
    for (size_t i = 0; i < v->count; i++) {
        device_row *r = &v->rows[i];
        for (int way = 0; way < 2; way++)
            if (middle[way] > 0 && !isnan(r->mean[way]))
                r->distance = fmax(r->distance, fabs(r->mean[way] / middle[way] - 1));
    }
    qsort(v->rows, v->count, sizeof *v->rows, over_time_by_interest);
    v->left_out = v->count - ROWS;
    v->count = ROWS;
    qsort(v->rows, v->count, sizeof *v->rows, over_time_by_place);
}

static void over_time_make_rows(over_time *v)
{
    const series *s = v->s;
    v->rows = arena_make(v->memory, s->device_count, sizeof *v->rows);
    for (size_t i = 0; i < s->device_count && v->time.columns; i++)
        if (s->devices[i].chosen) over_time_add_row(v, &s->devices[i]);
    for (size_t i = 0; i < s->event_count; i++)
        for (size_t k = 0; k < v->count; k++)
            v->rows[k].events += v->rows[k].device == &s->devices[s->events[i].device];
    over_time_choose_rows(v);
}

// ---- charts ----

static void over_time_add_map(const over_time *v, int way)
{
    map_row rows[ROWS];
    for (size_t i = 0; i < v->count; i++)
        rows[i] = (map_row){.label = v->rows[i].label,
                            .values = v->rows[i].rates[way],
                            .right = arena_text(v->memory, number_prefixed(v->rows[i].mean[way], "B/s").text)};
    const char *question = "when, and is any device unlike the others? mean of each column";
    if (v->left_out)
        question = arena_format(v->memory, "the %d devices most unlike the others of %zu; mean of each column", ROWS,
                                v->count + v->left_out);
    const map_style style = {.columns = v->time.columns,
                             .axis = pages_time_axis(&v->time),
                             .from = v->time.from_s,
                             .to = v->time.to_s,
                             .ramp = INK_BLUE,
                             .format = AXES_SI,
                             .unit = "B/s",
                             .label_head = "device",
                             .right_head = "mean"};
    const chart_head head = {arena_format(v->memory, "time-%s", ways[way]),
                             arena_format(v->memory, "Bytes %s, time \xc3\x97 device", ways[way]), question};
    document_add(v->doc, chart_map(head, &style, rows, v->count));
}

// The line rate that all devices have in common; 0: they differ, or it is unknown.
static double over_time_line_rate(const over_time *v)
{
    double rate = v->count ? v->rows[0].line_rate : 0;
    for (size_t i = 1; i < v->count; i++)
        if (v->rows[i].line_rate != rate) return 0;
    return rate;
}

static lines_curve over_time_curve(const over_time *v, int way)
{
    static const theme_ink inks[2] = {INK_RECEIVED, INK_SENT_TEXT}, pales[2] = {INK_RECEIVED_PALE, INK_SENT_PALE};
    const double *rates[ROWS];
    for (size_t i = 0; i < v->count; i++)
        rates[i] = v->rows[i].rates[way];
    pages_band band = pages_band_of(v->memory, &v->time, rates, v->count);
    return pages_band_curve(&band, v->count, inks[way], pales[way]);
}

// In which columns the rate of at least one device is known.
static const bool *over_time_known(const over_time *v)
{
    bool *known = arena_make(v->memory, v->time.columns, sizeof *known);
    for (size_t k = 0; k < v->time.columns; k++)
        for (size_t i = 0; i < v->count && !known[k]; i++)
            known[k] = !isnan(v->rows[i].rates[0][k]) || !isnan(v->rows[i].rates[1][k]);
    return known;
}

static void over_time_add_rates(const over_time *v)
{
    double line = over_time_line_rate(v);
    const char *below = "per device", *question = "one time axis for both";
    if (line > 0) below = arena_format(v->memory, "per device, line rate %s", number_prefixed(line, "B/s").text);
    if (v->count > 1)
        question = arena_format(v->memory, "line: mean of %zu devices; band: lowest to highest", v->count);
    const lines_curve curves[2] = {over_time_curve(v, SERIES_IN), over_time_curve(v, SERIES_OUT)};
    const lines_panel panels[2] = {pages_time_panel("Received", below, AXES_SI, "B/s", &curves[0], 1),
                                   pages_time_panel("Sent", below, AXES_SI, "B/s", &curves[1], 1)};
    lines_style style = pages_time_lines(v->memory, &v->time);
    style.gaps = pages_time_gaps(v->memory, &v->time, over_time_known(v), &style.gap_count);
    document_add(v->doc, chart_lines((chart_head){"time-rates", "Rates over time", question}, &style, panels, 2));
}

// ---- events ----

static int over_time_by_sum(const void *a, const void *b)
{
    const series_counter *const *x = a, *const *y = b;
    if ((*x)->trouble != (*y)->trouble) return (*x)->trouble ? -1 : 1;
    size_t p = catalog_unit_rank((*x)->unit), q = catalog_unit_rank((*y)->unit);
    if (p != q) return p < q ? -1 : 1;
    return ((*x)->sum < (*y)->sum) - ((*x)->sum > (*y)->sum);
}

// The device with the most of a counter, and how much; NULL: none has any.
static const series_device *over_time_main_device(const over_time *v, size_t counter, double *amount)
{
    const series *s = v->s;
    double *sums = arena_make(v->memory, s->device_count, sizeof *sums);
    const series_device *most = NULL;
    *amount = 0;
    for (size_t i = 0; i < s->event_count; i++)
        if (s->events[i].counter == counter) sums[s->events[i].device] += s->events[i].amount;
    for (size_t i = 0; i < s->device_count; i++)
        if (sums[i] > *amount) *amount = sums[i], most = &s->devices[i];
    return most;
}

static events_row over_time_event(const over_time *v, const series_counter *c, const series_device *most,
                                  double most_amount, const events_row *above, size_t count)
{
    enum { ROOM = 60 };
    const catalog_entry *entry = catalog_find(most->source, c->name);
    bool told = entry && *entry->description && !(entry->marks & CATALOG_PATTERN);
    const char *words = told ? entry->description : c->name;
    const series *s = v->s;
    size_t n = 0, counter = (size_t)(c - s->counters);
    double *at = arena_make(v->memory, c->events, sizeof *at), *amount = arena_make(v->memory, c->events, sizeof *at);
    for (size_t i = 0; i < s->event_count && n < c->events; i++) {
        if (s->events[i].counter != counter) continue;
        at[n] = (s->events[i].from_s + s->events[i].to_s) / 2;
        amount[n++] = s->events[i].amount;
    }
    return (events_row){
        .label = pages_time_event_label(v->memory, NULL, words, c->name, above, count, ROOM),
        .at = at,
        .amount = amount,
        .count = n,
        .note = arena_format(v->memory, "most on %s: %s", most->name, number_prefixed(most_amount, "").text),
        .right = arena_text(v->memory, number_volume(c->sum, c->unit).text),
        .severity = SEVERITY_INFO};
}

static void over_time_add_events(const over_time *v)
{
    const series *s = v->s;
    const series_counter **order = arena_make(v->memory, s->counter_count, sizeof *order);
    events_row rows[EVENTS];
    size_t count = 0, shown = 0;
    for (size_t i = 0; i < s->counter_count; i++)
        if (s->counters[i].events) order[count++] = &s->counters[i];
    if (!count) {
        document_note(v->doc, s->counter_count
                                  ? "No counter of errors, drops, pauses, waiting or repetition moved between any "
                                    "two snapshots."
                                  : "The files have no counters of errors, drops, pauses or repetition over time.");
        return;
    }
    qsort(order, count, sizeof *order, over_time_by_sum);
    for (size_t i = 0; i < count && shown < EVENTS; i++) {
        double amount;
        const series_device *most = over_time_main_device(v, (size_t)(order[i] - s->counters), &amount);
        if (!most) continue;
        rows[shown] = over_time_event(v, order[i], most, amount, rows, shown);
        shown++;
    }
    const char *question = "counters of trouble or waiting that moved; height = how much, name = whose most";
    if (count > shown)
        question =
            arena_format(v->memory, "the first %zu of %zu counters of trouble or waiting that moved; height = how much",
                         shown, count);
    document_add(v->doc, chart_events((chart_head){"time-events", "Events", question}, pages_time_axis(&v->time), rows,
                                      shown, NULL, 0));
}

// ---- distributions and tables ----

static const double shares[] = {0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1};
enum { P5, P25, P50, P75, P95, P99, MOST, SHARES };

static chart over_time_boxes(const over_time *v, int way)
{
    static const theme_ink inks[2] = {INK_RECEIVED, INK_SENT_TEXT};
    boxplot_row rows[BOXES];
    for (size_t i = 0; i < v->count; i++) {
        double q[SHARES];
        size_t n = series_quantiles(v->rows[i].device, way, shares, q, SHARES);
        rows[i] = (boxplot_row){v->rows[i].label, q[P5], q[P25], q[P50], q[P75], q[P95], n, inks[way]};
    }
    const boxplot_style style = {.y_scale = {.format = AXES_SI, .unit = "B/s", .title = "Rate"},
                                 .low_name = "p5",
                                 .high_name = "p95",
                                 .height = 110};
    const chart_head head = {arena_format(v->memory, "spread-%s", ways[way]),
                             arena_format(v->memory, "Spread of rates %s", ways[way]), "quartiles; whiskers p5, p95"};
    return chart_boxplot(head, &style, rows, v->count);
}

static void over_time_add_quantiles(const over_time *v)
{
    static const table_column columns[] = {
        {"", TABLE_TEXT, 1},       {"", TABLE_TEXT, 0},       {"volume", TABLE_NUMBER, 0},
        {"mean", TABLE_NUMBER, 0}, {"p50", TABLE_NUMBER, 0},  {"p95", TABLE_NUMBER, 0},
        {"p99", TABLE_NUMBER, 0},  {"most", TABLE_NUMBER, 0}, {"p95 of line rate", TABLE_NUMBER, 0}};
    sheet t = sheet_open(sizeof columns / sizeof *columns);
    for (size_t i = 0; i < v->count; i++)
        for (int way = 0; way < 2; way++) {
            const device_row *r = &v->rows[i];
            double q[SHARES];
            series_quantiles(r->device, way, shares, q, SHARES);
            sheet_text(&t, r->label);
            sheet_text(&t, ways[way]);
            sheet_number(&t, number_prefixed(r->bytes[way], "B"));
            sheet_number(&t, number_prefixed(r->mean[way], "B/s"));
            for (int k = P50; k <= MOST; k += k == P50 ? P95 - P50 : 1)
                sheet_number(&t, number_prefixed(q[k], "B/s"));
            sheet_number(&t, number_percent(r->line_rate > 0 ? q[P95] / r->line_rate : NAN));
        }
    sheet_end(
        &t, v->doc,
        (chart_head){"time-quantiles", "Rates in numbers", "quantiles over the steps between snapshots, gaps left out"},
        columns);
}

static void over_time_note_clocks(const over_time *v)
{
    enum { SHOWN = 8 };
    size_t found = 0;
    for (size_t i = 0; i < v->s->run_count; i++) {
        const series_run *r = &v->s->runs[i];
        if (!r->clock_steps || ++found > SHOWN) continue;
        char *how = clocks_set_words(r->clock_steps, r->clock_set_ns);
        document_note(v->doc, arena_format(v->memory,
                                           "%s: the wall clock was %s while it was recorded; times go on from "
                                           "its first reading by the monotonic clock.",
                                           *r->host ? r->host : pages_file_name(r->path), how));
        free(how);
    }
    if (found > SHOWN)
        document_note(v->doc, arena_format(v->memory, "The wall clock was set while %s recorded.",
                                           words_many(found - SHOWN, "more file").text));
}

static void over_time_add_samples(const over_time *v)
{
    static const table_column columns[] = {{"host", TABLE_TEXT, 0},           {"file", TABLE_TEXT, 1},
                                           {"snapshots", TABLE_NUMBER, 0},    {"every", TABLE_NUMBER, 0},
                                           {"longest step", TABLE_NUMBER, 0}, {"gaps", TABLE_NUMBER, 0},
                                           {"longest read", TABLE_NUMBER, 0}, {"resets", TABLE_NUMBER, 0},
                                           {"clock back", TABLE_NUMBER, 0},   {"unknown rates", TABLE_NUMBER, 0}};
    enum { RUNS = 200 };
    size_t runs = v->s->run_count < RUNS ? v->s->run_count : RUNS;
    sheet t = sheet_open(sizeof columns / sizeof *columns);
    for (size_t i = 0; i < runs; i++) {
        const series_run *r = &v->s->runs[i];
        sheet_text(&t, *r->host ? r->host : NUMBER_UNKNOWN);
        sheet_text(&t, pages_file_name(r->path));
        sheet_count(&t, r->snapshots);
        sheet_number(&t, number_duration(r->interval_s));
        sheet_number(&t, number_duration(r->longest_s));
        sheet_count(&t, r->gaps);
        sheet_number(&t, number_duration(r->sweep_s));
        sheet_count(&t, r->resets);
        sheet_count(&t, r->backwards);
        sheet_count(&t, r->unknown);
    }
    sheet_end(&t, v->doc,
              (chart_head){"time-samples", "Samples",
                           "a step longer than 2.5 of the usual ones is a gap: it is "
                           "left out of pictures and quantiles, not of volumes"},
              columns);
    if (runs < v->s->run_count)
        document_note(v->doc, arena_format(v->memory, "%zu more files are not listed.", v->s->run_count - runs));
    over_time_note_clocks(v);
}

void pages_series_part(document *doc, const series *s)
{
    size_t steps = over_time_most_steps(s);
    over_time v = {.memory = arena_open(), .s = s, .doc = doc};
    v.time = (pages_time){0, s->end_s, steps < MAP_COLUMNS ? steps : MAP_COLUMNS, 0};
    over_time_make_rows(&v);
    document_part(doc, pages_series_kind.name);
    document_subline(doc, arena_format(v.memory, "%zu snapshots, one every %s; times since the first of them",
                                       s->runs[0].snapshots, number_duration(s->runs[0].interval_s).text));
    if (v.count && v.time.columns >= 2) {
        over_time_add_map(&v, SERIES_IN);
        over_time_add_map(&v, SERIES_OUT);
        over_time_add_events(&v);
        over_time_add_rates(&v);
        if (v.count <= BOXES)
            document_beside(doc, over_time_boxes(&v, SERIES_IN), over_time_boxes(&v, SERIES_OUT), 0.5);
        over_time_add_quantiles(&v);
    } else {
        document_note(doc, "No device has bytes in more than two snapshots: there is nothing to show over time.");
    }
    over_time_add_samples(&v);
    arena_close(v.memory);
}
