// netprof diff for programs.
#include "diff_output.h"
#include "cli/output.h"
#include "summary.h"
#include "analysis/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void diff_json_add_counts(json_object *o, const difference_counts *counts)
{
    json_object *flags = json_new_object();
    for (int f = 0; f < DIFFERENCE_FLAGS; f++)
        if (counts->flagged[f])
            json_put(flags, netprof_flag_name((netprof_flag)f), json_exact_value(counts->flagged[f]));
    json_put(o, "counter_count", json_exact_value(counts->counters));
    json_put(o, "changed_count", json_exact_value(counts->changed));
    json_put(o, "compared_count", json_exact_value(counts->compared));
    json_put(o, "not_asked_for_count", json_exact_value(counts->skipped));
    json_put(o, "flags", flags);
}

// With --rank raw, plain differences as net_prof takes them.
static json_object *diff_json_raw(const difference_row *row)
{
    difference_row plain = *row;
    plain.magnitude = row->raw_magnitude;
    plain.negative = row->raw_negative;
    return delta_json(&plain);
}

static json_object *diff_json_value(const diff_view *view, size_t i, bool after)
{
    const netprof_delta *delta = view->difference->delta;
    uint8_t status = after ? delta->after_status[i] : delta->before_status[i];
    uint64_t value = after ? delta->after[i] : delta->before[i];
    if (status != NETPROF_STATUS_OK && status != NETPROF_STATUS_SATURATED) return NULL;
    return delta->schema->counters[i].flags & NETPROF_SIGNED ? json_new_int64((int64_t)value) : json_exact_value(value);
}

static json_object *diff_json_counter(const diff_view *view, size_t i, bool with_device)
{
    const difference_row *row = &view->difference->rows[i];
    const netprof_counter *c = &view->difference->delta->schema->counters[i];
    json_object *o = json_new_object();
    if (with_device) json_put_text(o, "device", diff_device_name(view, i));
    json_put_text(o, "counter", c->name);
    json_put_text(o, "unit", row->unit);
    json_put_text(o, "kind", netprof_kind_name((netprof_kind)c->kind));
    json_put(o, "delta", view->raw ? diff_json_raw(row) : delta_json(row));
    json_put_text(o, "flag", netprof_flag_name((netprof_flag)row->flag));
    json_put(o, "lower_bound", json_new_boolean(row->lower_bound));
    json_put(o, "rate_per_s", json_number_value(row->rate_per_s));
    json_put(o, "before", diff_json_value(view, i, false));
    json_put(o, "after", diff_json_value(view, i, true));
    return o;
}

static json_object *diff_json_device(const diff_view *view, const traffic *t)
{
    const difference *d = view->difference;
    const netprof_device *device = &d->delta->schema->devices[t->device];
    json_object *o = json_new_object(), *list = json_new_array();
    json_put_text(o, "device", device->name);
    json_put_text(o, "source", device->source);
    json_put(o, "physical", json_new_boolean((device->flags & NETPROF_DEVICE_PHYSICAL) != 0));
    diff_json_add_counts(o, &d->devices[t->device]);
    json_put(o, "elapsed_s", json_number_value((double)d->devices[t->device].elapsed_ns / 1e9));
    json_put(o, "traffic", traffic_json(t));
    size_t count, *rows = diff_top(view, t->device, &count);
    for (size_t i = 0; i < count; i++)
        json_append(list, diff_json_counter(view, rows[i], false));
    json_put(o, "top", list);
    free(rows);
    return o;
}

static json_object *diff_json_devices(const diff_view *view)
{
    json_object *devices = json_new_array();
    traffic *list = summary_traffic(view->difference);
    for (size_t i = 0; i < view->difference->delta->schema->device_count; i++)
        json_append(devices, diff_json_device(view, &list[i]));
    free(list);
    return devices;
}

// Counters with the device that they belong to: troubles, gauges, what is no plain difference.
static json_object *diff_json_counters(const diff_view *view, const size_t *rows, size_t count)
{
    json_object *list = json_new_array();
    for (size_t i = 0; i < count; i++) {
        json_object *o = diff_json_counter(view, rows[i], true);
        int error = diff_errno(view, rows[i]);
        if (error) json_put(o, "errno", json_new_int64(error));
        json_append(list, o);
    }
    return list;
}

static json_object *diff_json_selected(const diff_view *view, difference_query query)
{
    query.groups = view->groups;
    size_t count, *rows = difference_select(view->difference, &query, &count);
    json_object *list = diff_json_counters(view, rows, count);
    free(rows);
    return list;
}

static json_object *diff_json_troubles(const diff_view *view)
{
    size_t count, *rows = summary_troubles(view->difference, &count);
    json_object *list = diff_json_counters(view, rows, count);
    free(rows);
    return list;
}

// {"counter","unit","deltas":{DEVICE:DELTA|null}} for each row.
static json_object *diff_json_table(const diff_view *view, const difference_table *table_)
{
    const difference *d = view->difference;
    json_object *list = json_new_array();
    for (size_t r = 0; r < table_->row_count; r++) {
        json_object *o = json_new_object(), *deltas = json_new_object();
        const char *unit = "";
        for (size_t c = 0; c < table_->column_count; c++) {
            size_t i = table_->cells[r * table_->column_count + c];
            if (i == DIFFERENCE_NONE) continue;
            unit = d->rows[i].unit;
            json_put(deltas, utf8(diff_device_name(view, i)), d->rows[i].compared ? delta_json(&d->rows[i]) : NULL);
        }
        json_put_text(o, "counter", table_->names[r]);
        json_put_text(o, "unit", unit);
        json_put(o, "deltas", deltas);
        json_append(list, o);
    }
    return list;
}

static json_object *diff_json_groups(const diff_view *view)
{
    json_object *list = json_new_array();
    const catalog_group *g;
    for (size_t i = 0; (g = catalog_group_at(i)); i++) {
        difference_table table_ = {0};
        if (view->groups && !(view->groups >> i & 1)) continue;
        difference_table_of_group(view->difference, i, &table_);
        if (table_.column_count) {
            json_object *o = json_new_object();
            json_put_text(o, "group", g->name);
            json_put_text(o, "source", g->source);
            json_put_text(o, "description", g->description);
            json_put(o, "counters", diff_json_table(view, &table_));
            json_append(list, o);
        }
        difference_table_free(&table_);
    }
    return list;
}

static json_object *diff_json_important(const diff_view *view)
{
    difference_table table_ = {0};
    difference_table_of_marks(view->difference, "cxi", CATALOG_IMPORTANT, &table_);
    json_object *list = diff_json_table(view, &table_);
    difference_table_free(&table_);
    return list;
}

static json_object *diff_json_sums(const diff_view *view, size_t top)
{
    difference_query query = {.groups = view->groups, .clock = DIFFERENCE_WITH_CLOCK};
    json_object *list = json_new_array();
    size_t row_count, *rows = difference_select(view->difference, &query, &row_count), count;
    difference_sum *sums = difference_sums(view->difference, rows, row_count, top, &count);
    for (size_t i = 0; i < count; i++) {
        json_object *o = json_new_object();
        json_put_text(o, "counter", sums[i].name);
        json_put_text(o, "source", sums[i].source);
        json_put_text(o, "unit", sums[i].unit);
        json_put(o, "delta", delta_json(&(difference_row){.magnitude = sums[i].value, .negative = sums[i].negative}));
        json_put(o, "lower_bound", json_new_boolean(sums[i].lower_bound));
        json_put(o, "rate_per_s", json_number_value(sums[i].rate_per_s));
        json_put(o, "device_count", json_exact_value(sums[i].devices));
        json_put_text(o, "most_on", diff_device_name(view, sums[i].most));
        bool clock = sums[i].entry && sums[i].entry->marks & CATALOG_CLOCK_ONLY;
        json_put(o, "clock_only", json_new_boolean(clock));
        json_append(list, o);
    }
    free(sums);
    free(rows);
    return list;
}

static json_object *diff_json_balance(const diff_view *view)
{
    const netprof_device *devices = view->difference->delta->schema->devices;
    json_object *list = json_new_array();
    size_t count;
    difference_balance *rows = difference_balances(view->difference, &count);
    for (size_t i = 0; i < count; i++) {
        const difference_balance *b = &rows[i];
        json_object *o = json_new_object();
        if (b->devices) {
            json_put_text(o, "source", b->source);
            json_put_text(o, "role", b->role == CATALOG_TX_BYTES ? "tx_bytes" : "rx_bytes");
            json_put(o, "device_count", json_exact_value(b->devices));
            json_put(o, "delta", json_exact_value(b->sum));
            json_put(o, "lower_bound", json_new_boolean(b->lower_bound));
            json_put(o, "min", json_exact_value(b->min));
            json_put_text(o, "min_device", devices[b->min_device].name);
            json_put(o, "max", json_exact_value(b->max));
            json_put_text(o, "max_device", devices[b->max_device].name);
            json_put(o, "max_over_mean", json_number_value(b->max_over_mean));
            json_put(o, "rate_per_s", json_number_value(b->rate_per_s));
            json_append(list, o);
        } else {
            json_object_put(o);
        }
    }
    free(rows);
    return list;
}

static json_object *diff_json_warnings(const dataset *set)
{
    json_object *list = json_new_array();
    for (size_t i = 0; i < set->warning_count; i++) {
        const dataset_warning *w = &set->warnings[i];
        json_object *o = json_new_object();
        json_put_text(o, "file", w->path);
        json_put(o, w->line ? "line" : "byte", json_exact_value(w->line ? w->line : w->offset));
        json_put_text(o, "text", w->text);
        json_append(list, o);
    }
    return list;
}

static json_object *diff_json_changes(const difference *d)
{
    json_object *list = json_new_array();
    for (size_t i = 0; i < d->change_count; i++) {
        const device_change *c = &d->changes[i];
        json_object *o = json_new_object();
        json_put_text(o, "device", d->delta->schema->devices[c->device].name);
        json_put_text(o, "source", d->delta->schema->devices[c->device].source);
        json_put_text(o, "change", device_change_name(c->kind));
        json_put(o, "physical", json_new_boolean(c->physical));
        json_put(o, "repeated", json_new_boolean(c->repeated));
        json_put_text(o, "was", *c->was ? c->was : NULL);
        json_put_text(o, "is", *c->is ? c->is : NULL);
        json_put_text(o, "mark", *c->mark ? c->mark : NULL);
        json_put_text(o, "text", c->text);
        json_append(list, o);
    }
    return list;
}

json_object *diff_json(const diff_view *view)
{
    const difference *d = view->difference;
    const dataset *set = view->set;
    json_object *o = json_document("diff"), *totals = json_new_object();
    json_put_text(o, "before_file", set->runs[0].path);
    json_put_text(o, "after_file", set->runs[set->run_count - 1].path);
    json_put_text(o, "host", set->runs[set->run_count - 1].host);
    json_put(o, "begin_ns", json_new_int64(d->delta->wall_begin_ns));
    json_put(o, "end_ns", json_new_int64(d->delta->wall_end_ns));
    json_put(o, "elapsed_s", json_number_value((double)d->delta->interval_ns / 1e9));
    json_put(o, "sweep_s", json_number_value((double)d->delta->sweep_ns / 1e9));
    json_put(o, "stamp_error_s", json_number_value((double)d->delta->stamp_error_ns / 1e9));
    json_put(o, "clock_set_ns", json_new_int64(clocks_set_between(d->delta)));
    json_put_text(o, "ranked_by", view->raw ? "raw" : "unit");
    json_put_text(o, "filter", d->scope);
    diff_json_add_counts(totals, &d->total);
    json_put(o, "totals", totals);
    json_put(o, "changes", diff_json_changes(d));
    json_put(o, "devices", diff_json_devices(view));
    json_put(o, "troubles", diff_json_troubles(view));
    json_put(o, "sums", diff_json_sums(view, view->top));
    json_put(o, "balances", diff_json_balance(view));
    json_put(o, "important", diff_json_important(view));
    json_put(o, "groups", diff_json_groups(view));
    json_put(o, "gauges",
             diff_json_selected(view, (difference_query){.kinds = DIFFERENCE_GAUGES, .clock = DIFFERENCE_WITH_CLOCK}));
    uint32_t plain = 1u << NETPROF_FLAG_OK | 1u << NETPROF_FLAG_GAUGE;
    json_put(o, "flagged",
             diff_json_selected(view, (difference_query){.kinds = DIFFERENCE_ANY_KIND,
                                                         .clock = DIFFERENCE_WITH_CLOCK,
                                                         .flags = ~plain,
                                                         .unchanged = true}));
    json_put(o, "warnings", diff_json_warnings(set));
    return o;
}
