#include "interval_table.h"

#include "cli/fold.h"
#include "cli/output.h"
#include "summary.h"
#include "analysis/catalog/catalog.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- one interface in one interval ----

enum { INTERVAL_RATES = 8 };

// Per second; NAN: not known.
typedef struct interval_row {
    const netprof_device *device;
    const traffic *t;
    double rates[INTERVAL_RATES];
    bool bound; // one of them may be larger
} interval_row;

// The columns, in the order of sar -n DEV and sar -n EDEV. A kB is 1000 bytes.
static const struct {
    const char *title, *name;
    int width;
} interval_columns[INTERVAL_RATES] = {
    {"rxpck/s", "rx_packets_per_s", 9}, {"txpck/s", "tx_packets_per_s", 9}, {"rxkB/s", "rx_bytes_per_s", 9},
    {"txkB/s", "tx_bytes_per_s", 9},    {"rxerr/s", "rx_errors_per_s", 8},  {"txerr/s", "tx_errors_per_s", 8},
    {"rxdrop/s", "rx_drops_per_s", 9},  {"txdrop/s", "tx_drops_per_s", 9},
};
enum { INTERVAL_BYTES = 2, INTERVAL_TROUBLES = 4 }; // where the bytes begin, and what follows them

static interval_row interval_row_of(const difference *d, const traffic *t)
{
    static const uint32_t marks[] = {CATALOG_RX_ERRORS, CATALOG_TX_ERRORS, CATALOG_RX_DROPS, CATALOG_TX_DROPS};
    interval_row row = {.device = &d->delta->schema->devices[t->device], .t = t, .bound = traffic_is_bound(t)};
    for (int way = TRAFFIC_RECEIVED; way <= TRAFFIC_SENT; way++) {
        row.rates[way] = t->packets_known[way] ? t->packet_rate[way] : NAN;
        row.rates[INTERVAL_BYTES + way] = t->bytes_known[way] ? t->byte_rate[way] : NAN;
    }
    for (int i = 0; i < 4; i++) {
        bool bound;
        row.rates[INTERVAL_TROUBLES + i] = traffic_marked_rate(d, t->device, marks[i], &bound);
        row.bound |= bound;
    }
    return row;
}

// ---- text ----

static bool interval_is_short(const interval_table *t)
{
    return t->step_ns && t->step_ns < 1000000000;
}

// Of the column of time stamps, with its blank.
static int interval_time_width(const interval_table *t)
{
    return interval_is_short(t) ? 13 : 9;
}

// How many rates fit beside time and name; a pipe takes all.
static int interval_columns_shown(const interval_table *t)
{
    size_t width = fold_width(t->to);
    int room = width ? (int)width : 1000, used = interval_time_width(t) + 10, n = 0;
    while (n < INTERVAL_RATES && (used += interval_columns[n].width) <= room)
        n++;
    return n > INTERVAL_BYTES + 1 ? n : INTERVAL_BYTES + 2; // it is not the same without bytes
}

// Without a unit, so that awk can add up what stands in a column.
static words_text interval_number(double rate, bool bytes)
{
    double value = bytes ? rate / 1000 : rate;
    if (isnan(value)) return (words_text){"-"};
    if (value != 0 && fabs(value) < 0.005) return words_number(value);
    return fabs(value) >= 100000 ? words_whole(value) : words_fixed(value, 2);
}

static void interval_print_titles(const interval_table *t, const char *time, int shown)
{
    fprintf(t->to, "%s%-*s%-10s", t->printed ? "\n" : "", interval_time_width(t), time, "DEVICE");
    for (int i = 0; i < shown; i++)
        fprintf(t->to, "%*s", interval_columns[i].width, interval_columns[i].title);
    fputc('\n', t->to);
}

static void interval_print_text_row(const interval_table *t, const char *time, const interval_row *row, int shown)
{
    fprintf(t->to, "%-*s%-10s", interval_time_width(t), time, safe(row->device->name));
    for (int i = 0; i < shown; i++) {
        bool bytes = i / 2 == INTERVAL_BYTES / 2;
        char number[96];
        snprintf(number, sizeof number, "%s%s", row->bound && !isnan(row->rates[i]) ? ">=" : "",
                 interval_number(row->rates[i], bytes).text);
        fprintf(t->to, " %*s", interval_columns[i].width - 1, number);
    }
    fputc('\n', t->to);
}

// ---- the others ----

static void interval_print_csv_titles(const interval_table *t)
{
    static const char *const titles[] = {"time",       "interval_s", "device",   "source",
                                         "rx_packets", "tx_packets", "rx_bytes", "tx_bytes"};
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        csv_cell(t->to, titles[i]);
    for (int i = 0; i < INTERVAL_RATES; i++)
        csv_cell(t->to, interval_columns[i].name);
    csv_cell(t->to, "lower_bound");
    csv_end(t->to);
}

static void interval_print_csv_row(const interval_table *t, const char *time, double seconds, const interval_row *row)
{
    csv_cell(t->to, time);
    csv_printf(t->to, "%.9g", seconds);
    csv_cell(t->to, row->device->name);
    csv_cell(t->to, row->device->source);
    for (int i = 0; i < 4; i++) {
        const traffic *x = row->t;
        bool known = i < 2 ? x->packets_known[i] : x->bytes_known[i - 2];
        uint64_t value = i < 2 ? x->packets[i] : x->bytes[i - 2];
        csv_cell(t->to, known ? words_exact(value).text : NULL);
    }
    for (int i = 0; i < INTERVAL_RATES; i++)
        if (isnan(row->rates[i]))
            csv_cell(t->to, NULL);
        else
            csv_printf(t->to, "%.9g", row->rates[i]);
    csv_cell(t->to, row->bound ? "1" : "0");
    csv_end(t->to);
}

static void interval_append_json(json_object *devices, const difference *d, const interval_row *row)
{
    json_object *o = summary_device_json(d, row->t);
    for (int i = INTERVAL_TROUBLES; i < INTERVAL_RATES; i++)
        json_put_number(o, interval_columns[i].name, row->rates[i]);
    json_append(devices, o);
}

// "value,unit,event,time,percentage,,": the columns of perf stat -x, of which some have no meaning here.
static void interval_print_fields(const interval_table *t, const char *time, double seconds, const difference *d,
                                  const traffic *list)
{
    for (size_t i = 0; i < d->delta->schema->device_count; i++)
        for (int kind = 0; kind < 4 && list[i].known; kind++)
            summary_traffic_field(t->to, t->separator, time, d, &list[i], kind, seconds);
    size_t count, *rows = summary_troubles(d, &count);
    for (size_t i = 0; i < count; i++)
        summary_counter_field(t->to, t->separator, time, d, rows[i], seconds);
    free(rows);
}

// ---- together ----

// Since the start as perf stat has it, or the time of day.
static words_text interval_time(const interval_table *t, const netprof_snapshot *s, bool full)
{
    words_text text;
    if (t->origin_ns) {
        double since = (double)(s->begin_ns - t->origin_ns) / 1e9;
        snprintf(text.text, sizeof text.text, full ? "%.9f" : "%.3f", since);
        return text;
    }
    text = words_utc(s->wall_ns, full ? 9 : interval_is_short(t) ? 3 : 0);
    const char *clock = strchr(text.text, ' ');
    if (full && clock) {
        text.text[clock - text.text] = 'T';
        strcat(text.text, "Z");
    } else if (clock) {
        memmove(text.text, clock + 1, strlen(clock)); // the date is in the heading
    }
    return text;
}

static void interval_print(interval_table *t, const difference *d, const char *time, double seconds, bool average)
{
    const netprof_schema *schema = d->delta->schema;
    traffic *list = summary_traffic(d);
    int shown = t->format == INTERVAL_TEXT ? interval_columns_shown(t) : 0;
    json_object *o = NULL, *devices = NULL;
    if (t->format == INTERVAL_TEXT)
        interval_print_titles(t, average ? "Average:" : t->origin_ns ? "TIME" : "UTC", shown);
    if (t->format == INTERVAL_CSV && !t->printed) interval_print_csv_titles(t);
    if (t->format == INTERVAL_FIELDS) interval_print_fields(t, time, seconds, d, list);
    if (t->format == INTERVAL_JSON) {
        o = json_document("interval");
        json_put_text(o, "time", time);
        json_put_number(o, "interval_s", seconds);
        json_put(o, "average", json_new_boolean(average));
        devices = json_new_array();
    }
    for (size_t i = 0; i < schema->device_count && t->format != INTERVAL_FIELDS; i++) {
        if (!list[i].known) continue;
        interval_row row = interval_row_of(d, &list[i]);
        if (t->format == INTERVAL_TEXT) interval_print_text_row(t, time, &row, shown);
        if (t->format == INTERVAL_CSV) interval_print_csv_row(t, time, seconds, &row);
        if (devices) interval_append_json(devices, d, &row);
    }
    if (o) {
        json_put(o, "devices", devices);
        summary_json_line(t->to, o);
    }
    free(list);
}

static int interval_print_between(interval_table *t, const netprof_snapshot *from, const netprof_snapshot *to,
                                  bool average)
{
    difference d = {0};
    netprof_error error;
    if (difference_of_snapshots(&d, from, to, false, &error)) return fail_error(NULL, &error);
    double seconds = (double)(to->begin_ns - from->begin_ns) / 1e9;
    const char *time = average ? t->format == INTERVAL_TEXT ? "Average:" : "average" : NULL;
    words_text now = interval_time(t, to, t->format != INTERVAL_TEXT);
    interval_print(t, &d, time ? time : now.text, seconds, average);
    difference_free(&d);
    t->printed++;
    if (fflush(t->to) == 0) return EXIT_DONE;
    // Whoever read it has seen enough.
    return errno == EPIPE ? EXIT_FILE : fail(EXIT_FILE, "cannot write: %s", strerror(errno));
}

int interval_table_add(interval_table *t, const netprof_snapshot *s)
{
    netprof_error error;
    int code = t->last.schema ? interval_print_between(t, &t->last, s, false) : EXIT_DONE;
    if (!code && !t->first.schema && netprof_snapshot_copy(&t->first, s, &error)) code = fail_error(NULL, &error);
    if (!code && netprof_snapshot_copy(&t->last, s, &error)) code = fail_error(NULL, &error);
    return code;
}

int interval_table_average(interval_table *t)
{
    if (t->printed < 2 || t->format == INTERVAL_FIELDS) return EXIT_DONE;
    return interval_print_between(t, &t->first, &t->last, true);
}

void interval_table_free(interval_table *t)
{
    netprof_snapshot_free(&t->first);
    netprof_snapshot_free(&t->last);
}
