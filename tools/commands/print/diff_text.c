// netprof diff for people: what matters first, all of it with --all.
#include "diff_output.h"
#include "cli/output.h"
#include "summary.h"
#include "analysis/base/memory.h"
#include "analysis/base/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void diff_text_more_line(size_t shown, size_t there)
{
    if (shown < there) printf("... and %zu more; --all shows them\n", there - shown);
}

// Sweeps blur the edges of the interval for counters without stamps of their own.
static bool diff_text_blurred(const difference *d)
{
    for (size_t i = 0; i < d->delta->schema->counter_count; i++)
        if (d->rows[i].changed && !(d->delta->schema->counters[i].flags & NETPROF_STAMPED)) return true;
    return false;
}

// How the command ended, where that was no success: its counters are those of a run that failed.
static void diff_text_command_end(const dataset_run *run)
{
    const char *status = dataset_fact(run, "exit_status"), *killed = dataset_fact(run, "signal");
    if (killed)
        printf("it ended by signal %s\n", safe(killed));
    else if (status && strcmp(status, "0") != 0)
        printf("it ended with exit status %s\n", safe(status));
}

static void diff_text_header(const diff_view *view)
{
    const difference *d = view->difference;
    const netprof_delta *delta = d->delta;
    const dataset_run *run = &view->set->runs[view->set->run_count - 1];
    int64_t elapsed_ns = d->total.elapsed_ns ? d->total.elapsed_ns : delta->interval_ns;
    double elapsed = (double)elapsed_ns / 1e9, sweep = (double)delta->sweep_ns / 1e9;
    const char *line = dataset_fact(run, "command");
    heading(stdout, "%s%s, %s, %s", *run->host ? "Node " : "", *run->host ? safe(run->host) : "Unnamed node",
            words_time(delta->wall_begin_ns).text, elapsed > 0 ? safe(words_duration(elapsed).text) : "unknown time");
    if (line) printf("command: %s\n", safe(line));
    diff_text_command_end(run);
    printf("%zu of %zu counters of %s changed", d->total.changed, d->total.counters,
           words_many(delta->schema->device_count, "device").text);
    if (d->total.compared < d->total.counters)
        printf(", %zu could not be compared", d->total.counters - d->total.compared);
    if (sweep > 0) printf("; a reading took %s", safe(words_duration(sweep).text));
    if (sweep > 0 && elapsed > 0 && sweep / elapsed > 0.01 && diff_text_blurred(d))
        printf(", so that rates may be off by %s", words_share(sweep / elapsed).text);
    if (delta->stamp_error_ns > elapsed_ns / 10000) // less is seen in no number
        printf("; the files keep the counters' own times to within %s",
               safe(words_duration((double)delta->stamp_error_ns / 1e9).text));
    printf("\n");
    int64_t set_by = clocks_set_between(delta);
    char *how = clocks_set_words(1, set_by);
    if (set_by)
        printf("The wall clock was %s between the two readings; durations and rates are by the monotonic clock.\n",
               how);
    free(how);
    if (d->scope) printf("Looked only at %s.\n", safe(d->scope));
}

// What befell one device, or several: before all numbers.
static void diff_text_changes(const diff_view *view)
{
    enum { SHOWN = 20 };
    static const column columns[] = {{"DEVICE", 0}, {"SOURCE", 0}, {"CHANGE", 0}, {"WHAT", COLUMN_WRAP | COLUMN_LEAN}};
    const difference *d = view->difference;
    size_t shown = view->all || d->change_count <= SHOWN ? d->change_count : SHOWN;
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < shown; i++) {
        const device_change *c = &d->changes[i];
        const netprof_device *device = &d->delta->schema->devices[c->device];
        table_cell(t, PLAIN, device->name);
        table_cell(t, PLAIN, device->source);
        table_cell(t, c->physical ? WARNING : PLAIN, device_change_name(c->kind));
        table_cell(t, PLAIN, c->text);
    }
    if (shown) heading(stdout, "Devices that changed");
    table_end(t, stdout, 0);
    diff_text_more_line(shown, d->change_count);
}

static void diff_text_traffic_line(table *t, const difference *d, const traffic *x)
{
    const netprof_device *device = &d->delta->schema->devices[x->device];
    const difference_counts *counts = &d->devices[x->device];
    colour c = device->flags & NETPROF_DEVICE_VIRTUAL ? DIM : PLAIN;
    table_cell(t, c, device->name);
    table_cell(t, c, device->source);
    print_traffic_cells(t, c, x);
    table_cell(t, c, traffic_share(x).text);
    table_cell(t, x->troubles ? WARNING : c, x->troubles ? words_exact(x->troubles).text : NULL);
    table_printf(t, c, "%zu of %zu", counts->changed, counts->counters);
}

static void diff_text_traffic(const diff_view *view)
{
    static const column columns[] = {{"DEVICE", 0},
                                     {"SOURCE", 0},
                                     {"RECEIVED", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"RATE", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"PACKETS", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"SENT", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"RATE", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"PACKETS", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"OF LINE RATE", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"TROUBLES", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"CHANGED", COLUMN_RIGHT}};
    const difference *d = view->difference;
    size_t devices = d->delta->schema->device_count, quiet = 0;
    traffic *list = summary_traffic(d);
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < devices; i++) {
        bool physical = d->delta->schema->devices[i].flags & NETPROF_DEVICE_PHYSICAL;
        if (view->all || physical || d->devices[i].changed)
            diff_text_traffic_line(t, d, &list[i]);
        else
            quiet++;
    }
    heading(stdout, "Devices");
    table_end(t, stdout, 0);
    if (quiet) printf("... and %zu where nothing changed\n", quiet);
    free(list);
}

// A cell of a row of counters: device, name, change, rate, flag.
static void diff_text_counter_line(table *t, const diff_view *view, size_t i, bool with_device)
{
    const difference_row *row = &view->difference->rows[i];
    const netprof_counter *c = &view->difference->delta->schema->counters[i];
    if (with_device) table_cell(t, PLAIN, diff_device_name(view, i));
    table_cell(t, PLAIN, c->name);
    table_cell(t, PLAIN, words_at_least(row->lower_bound, delta_text(row)).text);
    table_cell(t, PLAIN, row->unit);
    table_cell(t, PLAIN, words_at_least(row->lower_bound && !isnan(row->rate_per_s), rate_text(row)).text);
    table_cell(t, WARNING, row->flag == NETPROF_FLAG_OK ? NULL : netprof_flag_name((netprof_flag)row->flag));
    table_cell(t, DIM, row->entry ? row->entry->description : NULL);
}

static const column counter_columns[] = {{"DEVICE", COLUMN_LEAN},
                                         {"COUNTER", 0},
                                         {"CHANGE", COLUMN_RIGHT},
                                         {"UNIT", COLUMN_LEAN},
                                         {"RATE", COLUMN_RIGHT | COLUMN_LEAN},
                                         {"FLAG", COLUMN_LEAN},
                                         {"MEANING", COLUMN_WRAP | COLUMN_LEAN}};
enum { COUNTER_COLUMNS = sizeof counter_columns / sizeof *counter_columns };

static void diff_text_balance(const diff_view *view)
{
    static const column columns[] = {{"SOURCE", 0},
                                     {"WAY", 0},
                                     {"DEVICES", COLUMN_RIGHT},
                                     {"TOTAL", COLUMN_RIGHT},
                                     {"RATE", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"MOST", COLUMN_RIGHT},
                                     {"ON", 0},
                                     {"LEAST", COLUMN_RIGHT},
                                     {"ON", 0},
                                     {"MOST/MEAN", COLUMN_RIGHT}};
    const difference *d = view->difference;
    const netprof_device *devices = d->delta->schema->devices;
    size_t count;
    difference_balance *list = difference_balances(d, &count);
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < count; i++) {
        const difference_balance *b = &list[i];
        if (b->devices < 2 || !b->sum) continue;
        table_cell(t, PLAIN, b->source);
        table_cell(t, PLAIN, b->role == CATALOG_TX_BYTES ? "sent" : "received");
        table_cell(t, PLAIN, words_exact(b->devices).text);
        table_cell(t, PLAIN, words_at_least(b->lower_bound, words_amount((double)b->sum, "bytes")).text);
        table_cell(t, PLAIN,
                   isnan(b->rate_per_s)
                       ? NULL
                       : words_at_least(b->lower_bound, words_amount_rate(b->rate_per_s, "bytes")).text);
        table_cell(t, PLAIN, words_at_least(b->lower_bound, words_amount((double)b->max, "bytes")).text);
        table_cell(t, PLAIN, devices[b->max_device].name);
        table_cell(t, PLAIN, words_at_least(b->lower_bound, words_amount((double)b->min, "bytes")).text);
        table_cell(t, PLAIN, devices[b->min_device].name);
        if (isnan(b->max_over_mean))
            table_cell(t, PLAIN, NULL);
        else
            table_printf(t, PLAIN, "%.2f", b->max_over_mean);
    }
    if (table_lines(t)) heading(stdout, "Balance of physical ports (1.00 is even)");
    table_end(t, stdout, 0);
    free(list);
}

static void diff_text_sum_line(table *t, const diff_view *view, const difference_sum *s, bool with_unit)
{
    double value = s->negative ? -(double)s->value : (double)s->value;
    const difference_row *most = &view->difference->rows[s->most];
    table_cell(t, BOLD, !with_unit ? NULL : *s->unit ? s->unit : "unknown");
    table_cell(t, PLAIN, s->name);
    table_cell(t, PLAIN, words_at_least(s->lower_bound, words_amount(value, s->unit)).text);
    table_cell(t, PLAIN,
               isnan(s->rate_per_s) ? NULL
                                    : words_at_least(s->lower_bound, words_amount_rate(s->rate_per_s, s->unit)).text);
    if (s->devices > 1 && most->magnitude <= s->value && most->negative == s->negative && !s->lower_bound)
        table_printf(t, PLAIN, "%s: %s, %zu devices", diff_device_name(view, s->most),
                     words_share((double)most->magnitude / (double)s->value).text, s->devices);
    else if (s->devices > 1)
        table_printf(t, PLAIN, "%s, %zu devices", diff_device_name(view, s->most), s->devices);
    else
        table_cell(t, PLAIN, diff_device_name(view, s->most));
    table_cell(t, DIM, s->entry ? s->entry->description : NULL);
}

// Counters summed over devices, unit after unit, and where most of it was. Returns how many were left out.
static size_t diff_text_sums(const diff_view *view, const size_t *rows, size_t row_count, size_t top, bool leading,
                             const char *title)
{
    static const column columns[] = {{"UNIT", 0},
                                     {"COUNTER", 0},
                                     {"CHANGE", COLUMN_RIGHT},
                                     {"RATE", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"MOST ON", COLUMN_LEAN},
                                     {"MEANING", COLUMN_WRAP | COLUMN_LEAN}};
    size_t count, left_out = 0; // a short text has the leading units only; errors have a list of their own
    const char *unit = NULL;
    difference_sum *sums = difference_sums(view->difference, rows, row_count, top, &count);
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < count; i++) {
        if (!sums[i].value && sums[i].lower_bound) continue; // started again, and nothing since: nobody knows
        if (leading && !catalog_unit_is_leading(sums[i].unit)) {
            left_out++;
            continue;
        }
        diff_text_sum_line(t, view, &sums[i], !unit || strcmp(unit, sums[i].unit) != 0);
        unit = sums[i].unit;
    }
    if (table_lines(t)) heading(stdout, "%s", title);
    table_end(t, stdout, 0);
    free(sums);
    return left_out;
}

static void diff_text_troubles(const diff_view *view)
{
    size_t count, *rows = summary_troubles(view->difference, &count);
    diff_text_sums(view, rows, count, view->all ? 0 : 10, false, "Errors, drops, repetition, stalls");
    free(rows);
}

static void diff_text_changed(const diff_view *view, difference_clock clock, size_t top, bool leading,
                              const char *title)
{
    difference_query query = {.clock = clock, .groups = view->groups};
    size_t count, *rows = difference_select(view->difference, &query, &count);
    if (diff_text_sums(view, rows, count, top, leading, title))
        printf("... and other units; --all shows them, --top N the largest of each device\n");
    free(rows);
}

// The largest of one device.
static void diff_text_device(const diff_view *view, size_t device)
{
    const netprof_device *dev = &view->difference->delta->schema->devices[device];
    const difference_counts *counts = &view->difference->devices[device];
    size_t count, *rows = diff_top(view, device, &count);
    table *t = table_begin(counter_columns + 1, COUNTER_COLUMNS - 1);
    for (size_t i = 0; i < count; i++)
        diff_text_counter_line(t, view, rows[i], false);
    if (count)
        heading(stdout, "%s (%s): %zu of %zu counters changed", safe(dev->name), safe(dev->source), counts->changed,
                counts->counters);
    table_end(t, stdout, 0);
    free(rows);
}

static bool diff_text_row_changed(const difference *d, const size_t *cells, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (cells[i] != DIFFERENCE_NONE && d->rows[cells[i]].changed) return true;
    return false;
}

// Rows of counter names, columns of devices.
static void diff_text_device_table(const diff_view *view, const difference_table *table_, bool changed_only,
                                   const char *title)
{
    const difference *d = view->difference;
    column *columns = memory_calloc(table_->column_count + 2, sizeof *columns);
    char **titles = memory_calloc(table_->column_count + 1, sizeof *titles);
    size_t left_out = 0;
    columns[0] = (column){"COUNTER", 0};
    for (size_t c = 0; c < table_->column_count; c++) {
        titles[c] = memory_strdup(safe(d->delta->schema->devices[table_->devices[c]].name));
        columns[c + 1] = (column){titles[c], COLUMN_RIGHT};
    }
    columns[table_->column_count + 1] = (column){"UNIT", 0};
    table *t = table_begin(columns, table_->column_count + 2);
    for (size_t r = 0; r < table_->row_count; r++) {
        const size_t *cells = &table_->cells[r * table_->column_count];
        const char *unit = "";
        if (changed_only && !diff_text_row_changed(d, cells, table_->column_count)) {
            left_out++;
            continue;
        }
        table_cell(t, PLAIN, table_->names[r]);
        for (size_t c = 0; c < table_->column_count; c++) {
            const difference_row *row = cells[c] == DIFFERENCE_NONE ? NULL : &d->rows[cells[c]];
            if (row) unit = row->unit;
            table_cell(t, row && !row->changed ? DIM : PLAIN,
                       !row            ? "-"
                       : row->compared ? words_at_least(row->lower_bound, delta_text(row)).text
                                       : "?");
        }
        table_cell(t, PLAIN, unit);
    }
    if (table_lines(t)) heading(stdout, "%s", title);
    if (table_lines(t) && left_out) printf("(%zu more did not change)\n", left_out);
    table_end(t, stdout, 0);
    for (size_t c = 0; c < table_->column_count; c++)
        free(titles[c]);
    free(titles);
    free(columns);
}

static void diff_text_important(const diff_view *view)
{
    difference_table table_ = {0};
    difference_table_of_marks(view->difference, "cxi", CATALOG_IMPORTANT, &table_);
    if (table_.column_count) diff_text_device_table(view, &table_, !view->all, "Key counters of Cassini NICs");
    difference_table_free(&table_);
}

static void diff_text_groups(const diff_view *view)
{
    const catalog_group *g;
    for (size_t i = 0; (g = catalog_group_at(i)); i++) {
        difference_table table_ = {0};
        if (view->groups && !(view->groups >> i & 1)) continue;
        difference_table_of_group(view->difference, i, &table_);
        if (table_.column_count) {
            char *title = memory_format("%s: %s.", g->name, g->description);
            diff_text_device_table(view, &table_, !view->groups, title);
            free(title);
        }
        difference_table_free(&table_);
    }
}

static void diff_text_gauges(const diff_view *view)
{
    enum { SHOWN = 5 };
    static const column columns[] = {
        {"DEVICE", 0},           {"GAUGE", 0},          {"BEFORE", COLUMN_RIGHT},
        {"AFTER", COLUMN_RIGHT}, {"UNIT", COLUMN_LEAN}, {"MEANING", COLUMN_WRAP | COLUMN_LEAN}};
    const difference *d = view->difference;
    const netprof_delta *delta = d->delta;
    difference_query query = {.kinds = DIFFERENCE_GAUGES, .clock = DIFFERENCE_WITH_CLOCK, .groups = view->groups};
    size_t count, *rows = difference_select(d, &query, &count);
    size_t shown = view->all || count <= SHOWN ? count : SHOWN;
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t k = 0; k < shown; k++) {
        const netprof_counter *c = &delta->schema->counters[rows[k]];
        bool is_signed = c->flags & NETPROF_SIGNED;
        const uint64_t before = delta->before[rows[k]], after = delta->after[rows[k]];
        table_cell(t, PLAIN, diff_device_name(view, rows[k]));
        table_cell(t, PLAIN, c->name);
        table_cell(t, PLAIN, is_signed ? words_integer((int64_t)before).text : words_exact(before).text);
        table_cell(t, PLAIN, is_signed ? words_integer((int64_t)after).text : words_exact(after).text);
        table_cell(t, PLAIN, d->rows[rows[k]].unit);
        table_cell(t, DIM, d->rows[rows[k]].entry ? d->rows[rows[k]].entry->description : NULL);
    }
    if (count) heading(stdout, "Gauges (now and then, never a difference)");
    table_end(t, stdout, 0);
    diff_text_more_line(shown, count);
    free(rows);
}

static bool diff_text_is_skipped(const netprof_delta *delta, size_t i)
{
    return delta->flags[i] == NETPROF_FLAG_UNKNOWN &&
           (delta->before_status[i] == NETPROF_STATUS_SKIPPED || delta->after_status[i] == NETPROF_STATUS_SKIPPED);
}

// Counters whose difference is not the plain one, and those without.
static void diff_text_quality(const diff_view *view)
{
    enum { SHOWN = 8 };
    static const column columns[] = {
        {"DEVICE", 0},           {"COUNTER", 0},      {"FLAG", 0}, {"BEFORE", COLUMN_RIGHT},
        {"AFTER", COLUMN_RIGHT}, {"WHY", COLUMN_LEAN}};
    static const char *const meanings[DIFFERENCE_FLAGS] = {
        [NETPROF_FLAG_WRAPPED] = "passed its width once",
        [NETPROF_FLAG_RESET] = "started again: at least so much",
        [NETPROF_FLAG_NEW] = "only in the second",
        [NETPROF_FLAG_GONE] = "only in the first",
        [NETPROF_FLAG_SUSPECT] = "may have passed its width more than once, or started again: at least so much",
    };
    static const char *const full = "stuck at its largest value: at least so much";
    const difference *d = view->difference;
    const netprof_delta *delta = d->delta;
    const uint32_t plain = 1u << NETPROF_FLAG_OK | 1u << NETPROF_FLAG_GAUGE;
    difference_query query = {.kinds = DIFFERENCE_ANY_KIND,
                              .clock = DIFFERENCE_WITH_CLOCK,
                              .groups = view->groups,
                              .flags = ~plain,
                              .unchanged = true};
    size_t found, count = 0, *rows = difference_select(d, &query, &found);
    for (size_t k = 0; k < found; k++) // what was not asked for is no surprise, what is gone as a whole is told
        if (view->all || (!diff_text_is_skipped(delta, rows[k]) &&
                          difference_has_both_ends(d, delta->schema->counters[rows[k]].device)))
            rows[count++] = rows[k];
    size_t shown = view->all || count <= SHOWN ? count : SHOWN;
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t k = 0; k < shown; k++) {
        size_t i = rows[k];
        uint8_t flag = d->rows[i].flag;
        int error = diff_errno(view, i);
        const char *status =
            netprof_status_name((netprof_status)(delta->after_status[i] == NETPROF_STATUS_OK ? delta->before_status[i]
                                                                                             : delta->after_status[i]));
        bool has_before =
            delta->before_status[i] == NETPROF_STATUS_OK || delta->before_status[i] == NETPROF_STATUS_SATURATED;
        bool has_after =
            delta->after_status[i] == NETPROF_STATUS_OK || delta->after_status[i] == NETPROF_STATUS_SATURATED;
        table_cell(t, PLAIN, diff_device_name(view, i));
        table_cell(t, PLAIN, delta->schema->counters[i].name);
        table_cell(t, WARNING, flag == NETPROF_FLAG_UNKNOWN ? status : netprof_flag_name((netprof_flag)flag));
        table_cell(t, PLAIN, has_before ? words_exact(delta->before[i]).text : "-");
        table_cell(t, PLAIN, has_after ? words_exact(delta->after[i]).text : "-");
        bool stuck = flag == NETPROF_FLAG_SUSPECT && delta->after_status[i] == NETPROF_STATUS_SATURATED;
        table_cell(t, PLAIN,
                   flag == NETPROF_FLAG_UNKNOWN ? error ? strerror(error) : NULL
                   : stuck                      ? full
                                                : meanings[flag]);
    }
    if (count) heading(stdout, "Not plain differences");
    table_end(t, stdout, 0);
    diff_text_more_line(shown, count);
    if (!view->all && d->total.skipped && !view->groups)
        printf("\n%zu counters were read once only: one of the snapshots is of the fast set\n", d->total.skipped);
    free(rows);
}

void diff_print_text(const diff_view *view)
{
    const difference *d = view->difference;
    bool lists = view->all || view->top_given || view->raw;
    diff_text_header(view);
    diff_text_changes(view);
    if (view->groups) {
        diff_text_groups(view);
        diff_text_gauges(view);
        diff_text_quality(view);
        return;
    }
    diff_text_traffic(view);
    diff_text_troubles(view);
    diff_text_balance(view);
    if (!lists) diff_text_changed(view, DIFFERENCE_WITHOUT_CLOCK, 3, true, "Changed most, summed over devices");
    for (size_t i = 0; lists && i < d->delta->schema->device_count; i++)
        diff_text_device(view, i);
    if (!view->raw) diff_text_changed(view, DIFFERENCE_ONLY_CLOCK, view->all ? 0 : 1, false, "Time, not traffic");
    diff_text_important(view);
    if (view->all) diff_text_groups(view);
    if (!view->raw) diff_text_gauges(view);
    diff_text_quality(view);
}
