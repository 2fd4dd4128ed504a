#include "summary.h"
#include "analysis/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t *summary_troubles(const difference *d, size_t *count)
{
    difference_query query = {0};
    size_t n, kept = 0, *rows = difference_select(d, &query, &n);
    for (size_t i = 0; i < n; i++)
        if (traffic_is_trouble(d, rows[i])) rows[kept++] = rows[i];
    *count = kept;
    return rows;
}

traffic *summary_traffic(const difference *d)
{
    return traffic_make(d);
}

// ---- text ----

void print_traffic_cells(table *t, colour c, const traffic *x)
{
    for (int way = IN; way <= OUT; way++) {
        bool bytes = x->bytes_known[way], bound = x->bytes_bound[way];
        table_cell(t, c, bytes ? words_at_least(bound, words_amount((double)x->bytes[way], "bytes")).text : NULL);
        table_cell(t, c,
                   bytes && !isnan(x->byte_rate[way])
                       ? words_at_least(bound, words_amount_rate(x->byte_rate[way], "bytes")).text
                       : NULL);
        table_cell(t, c,
                   x->packets_known[way]
                       ? words_at_least(x->packets_bound[way], words_amount((double)x->packets[way], "packets")).text
                       : NULL);
    }
}

words_text traffic_share(const traffic *t)
{
    if (isnan(t->share) || !t->known) return (words_text){""};
    return words_at_least(t->bytes_bound[IN] || t->bytes_bound[OUT], words_share(t->share));
}

words_text delta_text(const difference_row *row)
{
    return words_signed(row->magnitude, row->negative);
}

words_text rate_text(const difference_row *row)
{
    return isnan(row->rate_per_s) ? (words_text){""} : words_amount_rate(row->rate_per_s, row->unit);
}

json_object *delta_json(const difference_row *row)
{
    if (!row->negative) return json_exact_value(row->magnitude);
    return memory_check(json_new_double_s(-(double)row->magnitude, delta_text(row).text));
}

// ---- JSON ----

static const char *const summary_names[4] = {"rx_bytes", "tx_bytes", "rx_packets", "tx_packets"};

json_object *traffic_json(const traffic *t)
{
    static const char *const names[2][5] = {
        {"rx_bytes", "rx_bytes_per_s", "rx_packets", "rx_packets_per_s", "rx_bytes_per_packet"},
        {"tx_bytes", "tx_bytes_per_s", "tx_packets", "tx_packets_per_s", "tx_bytes_per_packet"}};
    if (!t->known) return NULL;
    json_object *o = json_new_object(), *bounds = json_new_array();
    for (int way = IN; way <= OUT; way++) {
        bool exact = !t->bytes_bound[way] && !t->packets_bound[way];
        double mean =
            t->bytes_known[way] && t->packets[way] && exact ? (double)t->bytes[way] / (double)t->packets[way] : NAN;
        json_put(o, names[way][0], t->bytes_known[way] ? json_exact_value(t->bytes[way]) : NULL);
        json_put(o, names[way][1], json_number_value(t->byte_rate[way]));
        json_put(o, names[way][2], t->packets_known[way] ? json_exact_value(t->packets[way]) : NULL);
        json_put(o, names[way][3], json_number_value(t->packet_rate[way]));
        json_put(o, names[way][4], json_number_value(mean));
        for (int i = 0; i < 4; i++)
            if (i < 2 ? t->bytes_bound[way] : t->packets_bound[way])
                json_append(bounds, json_text_value(names[way][i]));
    }
    if (t->bytes_bound[IN] || t->bytes_bound[OUT]) json_append(bounds, json_text_value("share_of_line_rate"));
    json_put(o, "line_rate_bytes_per_s", t->line_rate > 0 ? json_number_value(t->line_rate) : NULL);
    json_put(o, "share_of_line_rate", json_number_value(t->share));
    json_put(o, "lower_bound", json_new_boolean(traffic_is_bound(t)));
    json_put(o, "lower_bounds", bounds);
    return o;
}

json_object *summary_device_json(const difference *d, const traffic *t)
{
    const netprof_device *device = &d->delta->schema->devices[t->device];
    json_object *o = json_new_object();
    json_put_text(o, "device", device->name);
    json_put_text(o, "source", device->source);
    json_put(o, "physical", json_new_boolean((device->flags & NETPROF_DEVICE_PHYSICAL) != 0));
    json_put(o, "traffic", traffic_json(t));
    return o;
}

json_object *summary_trouble_json(const difference *d, size_t counter)
{
    const netprof_schema *schema = d->delta->schema;
    json_object *o = json_new_object();
    json_put_text(o, "device", schema->devices[schema->counters[counter].device].name);
    json_put_text(o, "counter", schema->counters[counter].name);
    json_put_text(o, "unit", d->rows[counter].unit);
    json_put(o, "delta", delta_json(&d->rows[counter]));
    json_put(o, "lower_bound", json_new_boolean(d->rows[counter].lower_bound));
    return o;
}

void summary_json_line(FILE *to, json_object *o)
{
    fputs(json_to_text(o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE), to);
    putc('\n', to);
    json_object_put(o);
}

// ---- fields ----

// A name with the separator in it would move the fields behind it.
static void summary_field_text(FILE *to, const char *separator, const char *text)
{
    for (const char *at = safe(text); *at; at++)
        putc(strchr(separator, *at) ? '_' : *at, to);
}

void summary_field(FILE *to, const char *separator, const char *time, const char *value, const char *unit,
                   const char *name, double spread, double seconds)
{
    if (time) fprintf(to, "%16s%s", time, separator);
    fprintf(to, "%s%s", value ? value : "<not counted>", separator);
    summary_field_text(to, separator, unit);
    fputs(separator, to);
    summary_field_text(to, separator, name);
    if (!isnan(spread)) fprintf(to, "%s%.2f%%", separator, spread);
    fprintf(to, "%s%.0f%s%s%s%s\n", separator, seconds * 1e9, separator, value ? "100.00" : "0.00", separator,
            separator);
}

static void summary_device_field(FILE *to, const char *separator, const char *time, const char *value, const char *unit,
                                 const char *device, const char *counter, double seconds)
{
    char *name = memory_format("%s/%s", device, counter);
    summary_field(to, separator, time, value, unit, name, NAN, seconds);
    free(name);
}

void summary_traffic_field(FILE *to, const char *separator, const char *time, const difference *d, const traffic *t,
                           int kind, double seconds)
{
    int way = kind % 2;
    bool bytes = kind < 2, known = bytes ? t->bytes_known[way] : t->packets_known[way];
    summary_device_field(to, separator, time, known ? words_exact(bytes ? t->bytes[way] : t->packets[way]).text : NULL,
                         bytes ? "bytes" : "packets", d->delta->schema->devices[t->device].name, summary_names[kind],
                         seconds);
}

void summary_counter_field(FILE *to, const char *separator, const char *time, const difference *d, size_t counter,
                           double seconds)
{
    const netprof_schema *schema = d->delta->schema;
    summary_device_field(to, separator, time, delta_text(&d->rows[counter]).text, d->rows[counter].unit,
                         schema->devices[schema->counters[counter].device].name, schema->counters[counter].name,
                         seconds);
}
