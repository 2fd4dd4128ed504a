// netprof diff for programs.
#include "diff_output.h"
#include "cli/output.h"
#include "summary.h"
#include "analysis/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_object *size_json(size_t value)
{
    return json_u64(value);
}

static void add(json_object *o, const char *key, json_object *value)
{
    json_object_object_add(o, key, value);
}

static void add_counts(json_object *o, const difference_counts *counts)
{
    json_object *flags = json_object_new_object();
    for (int f = 0; f < DIFFERENCE_FLAGS; f++)
        if (counts->flagged[f]) add(flags, netprof_flag_name((netprof_flag)f), size_json(counts->flagged[f]));
    add(o, "counters", size_json(counts->counters));
    add(o, "changed", size_json(counts->changed));
    add(o, "compared", size_json(counts->compared));
    add(o, "not_asked_for", size_json(counts->skipped));
    add(o, "flags", flags);
}

// In the order of --rank raw the plain difference stands, as net_prof takes it.
static json_object *raw_json(const difference_row *row)
{
    difference_row plain = *row;
    plain.magnitude = row->raw_magnitude;
    plain.negative = row->raw_negative;
    return delta_json(&plain);
}

static json_object *value_json(const diff_view *view, size_t i, bool after)
{
    const netprof_delta *delta = view->difference->delta;
    uint8_t status = after ? delta->after_status[i] : delta->before_status[i];
    uint64_t value = after ? delta->after[i] : delta->before[i];
    if (status != NETPROF_STATUS_OK && status != NETPROF_STATUS_SATURATED) return NULL;
    return delta->schema->counters[i].flags & NETPROF_SIGNED ? json_object_new_int64((int64_t)value) : json_u64(value);
}

static json_object *counter_json(const diff_view *view, size_t i, bool with_device)
{
    const difference_row *row = &view->difference->rows[i];
    const netprof_counter *c = &view->difference->delta->schema->counters[i];
    json_object *o = json_object_new_object();
    if (with_device) json_text(o, "device", diff_device_name(view, i));
    json_text(o, "counter", c->name);
    json_text(o, "unit", row->unit);
    json_text(o, "kind", netprof_kind_name((netprof_kind)c->kind));
    add(o, "delta", view->raw ? raw_json(row) : delta_json(row));
    json_text(o, "flag", netprof_flag_name((netprof_flag)row->flag));
    add(o, "lower_bound", json_object_new_boolean(row->lower_bound));
    add(o, "rate_per_s", json_number(row->rate_per_s));
    add(o, "before", value_json(view, i, false));
    add(o, "after", value_json(view, i, true));
    return o;
}

static json_object *traffic_json(const traffic *t)
{
    static const char *const names[2][5] = {
        {"rx_bytes", "rx_bytes_per_s", "rx_packets", "rx_packets_per_s", "rx_bytes_per_packet"},
        {"tx_bytes", "tx_bytes_per_s", "tx_packets", "tx_packets_per_s", "tx_bytes_per_packet"}};
    if (!t->known) return NULL;
    json_object *o = json_object_new_object(), *bounds = json_object_new_array();
    for (int way = IN; way <= OUT; way++) {
        bool exact = !t->bytes_bound[way] && !t->packets_bound[way];
        double mean =
            t->bytes_known[way] && t->packets[way] && exact ? (double)t->bytes[way] / (double)t->packets[way] : NAN;
        add(o, names[way][0], t->bytes_known[way] ? json_u64(t->bytes[way]) : NULL);
        add(o, names[way][1], json_number(t->byte_rate[way]));
        add(o, names[way][2], t->packets_known[way] ? json_u64(t->packets[way]) : NULL);
        add(o, names[way][3], json_number(t->packet_rate[way]));
        add(o, names[way][4], json_number(mean));
        for (int i = 0; i < 4; i++)
            if (i < 2 ? t->bytes_bound[way] : t->packets_bound[way])
                json_object_array_add(bounds, json_string(names[way][i]));
    }
    if (t->bytes_bound[IN] || t->bytes_bound[OUT]) json_object_array_add(bounds, json_string("share_of_line_rate"));
    add(o, "line_rate_bytes_per_s", t->line_rate > 0 ? json_number(t->line_rate) : NULL);
    add(o, "share_of_line_rate", json_number(t->share));
    add(o, "lower_bound", json_object_new_boolean(traffic_is_bound(t)));
    add(o, "lower_bounds", bounds);
    return o;
}

static json_object *device_json(const diff_view *view, const traffic *t)
{
    const difference *d = view->difference;
    const netprof_device *device = &d->delta->schema->devices[t->device];
    json_object *o = json_object_new_object(), *list = json_object_new_array();
    json_text(o, "device", device->name);
    json_text(o, "source", device->source);
    add(o, "physical", json_object_new_boolean((device->flags & NETPROF_DEVICE_PHYSICAL) != 0));
    add_counts(o, &d->devices[t->device]);
    add(o, "elapsed_s", json_number((double)d->devices[t->device].elapsed_ns / 1e9));
    add(o, "traffic", traffic_json(t));
    size_t count, *rows = diff_top(view, t->device, &count);
    for (size_t i = 0; i < count; i++)
        json_object_array_add(list, counter_json(view, rows[i], false));
    add(o, "top", list);
    free(rows);
    return o;
}

static json_object *devices_json(const diff_view *view)
{
    json_object *devices = json_object_new_array();
    traffic *list = summary_traffic(view->difference);
    for (size_t i = 0; i < view->difference->delta->schema->device_count; i++)
        json_object_array_add(devices, device_json(view, &list[i]));
    free(list);
    return devices;
}

// Counters with the device that they belong to: troubles, gauges, what is no plain difference.
static json_object *counters_json(const diff_view *view, const size_t *rows, size_t count)
{
    json_object *list = json_object_new_array();
    for (size_t i = 0; i < count; i++) {
        json_object *o = counter_json(view, rows[i], true);
        int error = diff_errno(view, rows[i]);
        if (error) add(o, "errno", json_object_new_int(error));
        json_object_array_add(list, o);
    }
    return list;
}

static json_object *selected_json(const diff_view *view, difference_query query)
{
    query.groups = view->groups;
    size_t count, *rows = memory_check(difference_select(view->difference, &query, &count));
    json_object *list = counters_json(view, rows, count);
    free(rows);
    return list;
}

static json_object *troubles_json(const diff_view *view)
{
    size_t count, *rows = summary_troubles(view->difference, &count);
    json_object *list = counters_json(view, rows, count);
    free(rows);
    return list;
}

// {"counter","unit","deltas":{DEVICE:DELTA|null}} for each row.
static json_object *table_json(const diff_view *view, const difference_table *table_)
{
    const difference *d = view->difference;
    json_object *list = json_object_new_array();
    for (size_t r = 0; r < table_->row_count; r++) {
        json_object *o = json_object_new_object(), *deltas = json_object_new_object();
        const char *unit = "";
        for (size_t c = 0; c < table_->column_count; c++) {
            size_t i = table_->cells[r * table_->column_count + c];
            if (i == DIFFERENCE_NONE) continue;
            unit = d->rows[i].unit;
            add(deltas, utf8(diff_device_name(view, i)), d->rows[i].compared ? delta_json(&d->rows[i]) : NULL);
        }
        json_text(o, "counter", table_->names[r]);
        json_text(o, "unit", unit);
        add(o, "deltas", deltas);
        json_object_array_add(list, o);
    }
    return list;
}

static json_object *groups_json(const diff_view *view)
{
    json_object *list = json_object_new_array();
    const catalog_group *g;
    for (size_t i = 0; (g = catalog_group_at(i)); i++) {
        difference_table table_ = {0};
        netprof_error error;
        if (view->groups && !(view->groups >> i & 1)) continue;
        if (difference_table_of_group(view->difference, i, &table_, &error)) memory_exhausted();
        if (table_.column_count) {
            json_object *o = json_object_new_object();
            json_text(o, "group", g->name);
            json_text(o, "source", g->source);
            json_text(o, "description", g->description);
            add(o, "counters", table_json(view, &table_));
            json_object_array_add(list, o);
        }
        difference_table_free(&table_);
    }
    return list;
}

static json_object *important_json(const diff_view *view)
{
    difference_table table_ = {0};
    netprof_error error;
    if (difference_table_of_marks(view->difference, "cxi", CATALOG_IMPORTANT, &table_, &error)) memory_exhausted();
    json_object *list = table_json(view, &table_);
    difference_table_free(&table_);
    return list;
}

static json_object *sums_json(const diff_view *view, size_t top)
{
    difference_query query = {.groups = view->groups, .clock = DIFFERENCE_WITH_CLOCK};
    json_object *list = json_object_new_array();
    size_t row_count, *rows = memory_check(difference_select(view->difference, &query, &row_count)), count;
    difference_sum *sums = memory_check(difference_sums(view->difference, rows, row_count, top, &count));
    for (size_t i = 0; i < count; i++) {
        json_object *o = json_object_new_object();
        json_text(o, "counter", sums[i].name);
        json_text(o, "source", sums[i].source);
        json_text(o, "unit", sums[i].unit);
        add(o, "delta", delta_json(&(difference_row){.magnitude = sums[i].value, .negative = sums[i].negative}));
        add(o, "lower_bound", json_object_new_boolean(sums[i].lower_bound));
        add(o, "rate_per_s", json_number(sums[i].rate_per_s));
        add(o, "devices", size_json(sums[i].devices));
        json_text(o, "most_on", diff_device_name(view, sums[i].most));
        bool clock = sums[i].entry && sums[i].entry->marks & CATALOG_CLOCK_ONLY;
        add(o, "clock_only", json_object_new_boolean(clock));
        json_object_array_add(list, o);
    }
    free(sums);
    free(rows);
    return list;
}

static json_object *balance_json(const diff_view *view)
{
    const netprof_device *devices = view->difference->delta->schema->devices;
    json_object *list = json_object_new_array();
    size_t count;
    difference_balance *rows = memory_check(difference_balances(view->difference, &count));
    for (size_t i = 0; i < count; i++) {
        const difference_balance *b = &rows[i];
        json_object *o = json_object_new_object();
        if (b->devices) {
            json_text(o, "source", b->source);
            json_text(o, "role", b->role == CATALOG_TX_BYTES ? "tx_bytes" : "rx_bytes");
            add(o, "devices", size_json(b->devices));
            add(o, "sum", json_u64(b->sum));
            add(o, "lower_bound", json_object_new_boolean(b->lower_bound));
            add(o, "min", json_u64(b->min));
            json_text(o, "min_device", devices[b->min_device].name);
            add(o, "max", json_u64(b->max));
            json_text(o, "max_device", devices[b->max_device].name);
            add(o, "max_over_mean", json_number(b->max_over_mean));
            add(o, "rate_per_s", json_number(b->rate_per_s));
            json_object_array_add(list, o);
        } else {
            json_object_put(o);
        }
    }
    free(rows);
    return list;
}

static json_object *warnings_json(const dataset *set)
{
    json_object *list = json_object_new_array();
    for (size_t i = 0; i < set->warning_count; i++) {
        const dataset_warning *w = &set->warnings[i];
        json_object *o = json_object_new_object();
        json_text(o, "path", w->path);
        add(o, w->line ? "line" : "offset", json_u64(w->line ? w->line : w->offset));
        json_text(o, "text", w->text);
        json_object_array_add(list, o);
    }
    return list;
}

json_object *diff_json(const diff_view *view)
{
    const difference *d = view->difference;
    const dataset *set = view->set;
    json_object *o = json_document("diff"), *totals = json_object_new_object();
    json_text(o, "before", set->runs[0].path);
    json_text(o, "after", set->runs[set->run_count - 1].path);
    json_text(o, "host", set->runs[set->run_count - 1].host);
    add(o, "begin_ns", json_object_new_int64(d->delta->wall_begin_ns));
    add(o, "end_ns", json_object_new_int64(d->delta->wall_end_ns));
    add(o, "interval_s", json_number((double)d->delta->interval_ns / 1e9));
    add(o, "sweep_s", json_number((double)d->delta->sweep_ns / 1e9));
    add(o, "stamp_error_s", json_number((double)d->delta->stamp_error_ns / 1e9));
    json_text(o, "rank", view->raw ? "raw" : "unit");
    add_counts(totals, &d->total);
    add(o, "totals", totals);
    add(o, "devices", devices_json(view));
    add(o, "troubles", troubles_json(view));
    add(o, "sums", sums_json(view, view->top));
    add(o, "balance", balance_json(view));
    add(o, "important", important_json(view));
    add(o, "groups", groups_json(view));
    add(o, "gauges",
        selected_json(view, (difference_query){.kinds = DIFFERENCE_GAUGES, .clock = DIFFERENCE_WITH_CLOCK}));
    uint32_t plain = 1u << NETPROF_FLAG_OK | 1u << NETPROF_FLAG_GAUGE;
    add(o, "flagged",
        selected_json(view, (difference_query){.kinds = DIFFERENCE_ANY_KIND,
                                               .clock = DIFFERENCE_WITH_CLOCK,
                                               .flags = ~plain,
                                               .unchanged = true}));
    add(o, "warnings", warnings_json(set));
    return o;
}
