#include "diff_output.h"

#include "cli/output.h"
#include "summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// NULL when the file holds only a delta.
static const netprof_snapshot *diff_output_first(const diff_view *view)
{
    const dataset_run *run = &view->set->runs[0];
    return run->snapshot_count ? &run->snapshots[0] : NULL;
}

static const netprof_snapshot *diff_output_last(const diff_view *view)
{
    const dataset_run *run = &view->set->runs[view->set->run_count - 1];
    return run->snapshot_count ? &run->snapshots[run->snapshot_count - 1] : NULL;
}

static int diff_output_errno_in(const netprof_snapshot *s, const netprof_schema *schema, size_t counter)
{
    const netprof_counter *c = &schema->counters[counter];
    const netprof_device *device = &schema->devices[c->device];
    if (!s || !s->errnos) return 0;
    size_t i = s->schema == schema ? counter : netprof_find(s->schema, device->source, device->name, c->name);
    return i == NETPROF_NONE ? 0 : s->errnos[i];
}

int diff_errno(const diff_view *view, size_t counter)
{
    const netprof_schema *schema = view->difference->delta->schema;
    int after = diff_output_errno_in(diff_output_last(view), schema, counter);
    return after ? after : diff_output_errno_in(diff_output_first(view), schema, counter);
}

const char *diff_device_name(const diff_view *view, size_t counter)
{
    const netprof_schema *schema = view->difference->delta->schema;
    return schema->devices[schema->counters[counter].device].name;
}

size_t *diff_top(const diff_view *view, size_t device, size_t *count)
{
    difference_query query = {
        .device = device + 1,
        .order = view->raw ? DIFFERENCE_RAW : DIFFERENCE_BY_UNIT,
        .kinds = view->all ? DIFFERENCE_ANY_KIND : DIFFERENCE_COUNTERS,
        .clock = view->all ? DIFFERENCE_WITH_CLOCK : DIFFERENCE_WITHOUT_CLOCK,
        .groups = view->groups,
        .top = view->top,
    };
    return difference_select(view->difference, &query, count);
}

// A device that changed, in the columns of counters: of the kind "device", flagged with what happened.
static void diff_output_change_line(const diff_view *view, const device_change *c, size_t columns)
{
    const netprof_device *device = &view->difference->delta->schema->devices[c->device];
    const char *cells[] = {device->name, device->source, NULL, NULL, "device", device_change_name(c->kind),
                           c->was,       c->is};
    if (view->host) csv_cell(stdout, view->host);
    for (size_t i = 0; i < columns; i++)
        csv_cell(stdout, i < sizeof cells / sizeof *cells && cells[i] && *cells[i] ? cells[i] : NULL);
    csv_end(stdout);
}

void diff_print_csv(const diff_view *view)
{
    static const char *const titles[] = {"device",     "source",        "counter",     "unit",  "kind",
                                         "flag",       "before",        "after",       "delta", "elapsed_s",
                                         "rate_per_s", "before_status", "after_status"};
    const difference *d = view->difference;
    const netprof_delta *delta = d->delta;
    difference_query query = {.order = view->raw ? DIFFERENCE_RAW : DIFFERENCE_BY_UNIT,
                              .kinds = DIFFERENCE_ANY_KIND,
                              .clock = DIFFERENCE_WITH_CLOCK,
                              .groups = view->groups,
                              .unchanged = view->all,
                              .top = view->top_given ? view->top : 0};
    size_t count, *rows = difference_select(d, &query, &count);
    if (!view->untitled) {
        if (view->host) csv_cell(stdout, "host");
        csv_line(stdout, titles, sizeof titles / sizeof *titles);
    }
    for (size_t k = 0; k < d->change_count; k++)
        diff_output_change_line(view, &d->changes[k], sizeof titles / sizeof *titles);
    for (size_t k = 0; k < count; k++) {
        size_t i = rows[k];
        const netprof_counter *c = &delta->schema->counters[i];
        const difference_row *row = &d->rows[i];
        if (view->host) csv_cell(stdout, view->host);
        csv_cell(stdout, delta->schema->devices[c->device].name);
        csv_cell(stdout, delta->schema->devices[c->device].source);
        csv_cell(stdout, c->name);
        csv_cell(stdout, row->unit);
        csv_cell(stdout, netprof_kind_name((netprof_kind)c->kind));
        csv_cell(stdout, netprof_flag_name((netprof_flag)row->flag));
        csv_cell(stdout, row->flag == NETPROF_FLAG_NEW ? NULL : words_exact(delta->before[i]).text);
        csv_cell(stdout, row->flag == NETPROF_FLAG_GONE ? NULL : words_exact(delta->after[i]).text);
        csv_cell(stdout, row->compared ? delta_text(row).text : NULL);
        if (delta->elapsed_ns[i] > 0)
            csv_printf(stdout, "%.9f", (double)delta->elapsed_ns[i] / 1e9);
        else
            csv_cell(stdout, NULL); // one and the same reading, give or take what clocks differ
        if (isnan(row->rate_per_s))
            csv_cell(stdout, NULL);
        else
            csv_printf(stdout, "%.9g", row->rate_per_s);
        csv_cell(stdout, netprof_status_name((netprof_status)delta->before_status[i]));
        csv_cell(stdout, netprof_status_name((netprof_status)delta->after_status[i]));
        csv_end(stdout);
    }
    free(rows);
}
