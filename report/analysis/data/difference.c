#include "difference.h"

#include "analysis/base/lookup.h"
#include "analysis/base/saturating_sum.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- one difference ----

static netprof_err fail(netprof_error *error, netprof_err code, const char *text)
{
    if (!error) return code;
    *error = (netprof_error){.code = code};
    snprintf(error->text, sizeof error->text, "%s", text);
    return code;
}

static netprof_err no_memory(netprof_error *error)
{
    return fail(error, NETPROF_ERR_NOMEM, "no memory");
}

static bool is_gauge(const netprof_counter *counter)
{
    return counter->kind == NETPROF_KIND_GAUGE || counter->kind == NETPROF_KIND_STATE;
}

// |after - before| and its sign.
static uint64_t distance(const netprof_counter *counter, uint64_t before, uint64_t after, bool *negative)
{
    bool is_signed = counter->flags & NETPROF_SIGNED;
    *negative = is_signed ? (int64_t)after < (int64_t)before : after < before;
    return *negative ? before - after : after - before;
}

static bool is_compared(netprof_flag flag)
{
    return flag != NETPROF_FLAG_NEW && flag != NETPROF_FLAG_GONE && flag != NETPROF_FLAG_UNKNOWN;
}

static difference_row make_row(const netprof_delta *delta, size_t i)
{
    const netprof_counter *counter = &delta->schema->counters[i];
    const catalog_entry *entry = catalog_find(delta->schema->devices[counter->device].source, counter->name);
    // A row of the catalog that names this very counter knows better than the file; a pattern only guesses.
    bool sure = entry && *entry->unit && !(entry->marks & CATALOG_PATTERN);
    difference_row row = {.entry = entry,
                          .unit = sure || (entry && !*counter->unit) ? entry->unit : counter->unit,
                          .flag = delta->flags[i] < DIFFERENCE_FLAGS ? delta->flags[i] : NETPROF_FLAG_UNKNOWN,
                          .rate_per_s = NAN};
    row.compared = is_compared((netprof_flag)row.flag);
    if (!row.compared) return row;
    row.lower_bound = row.flag == NETPROF_FLAG_RESET || row.flag == NETPROF_FLAG_SUSPECT;
    row.raw_magnitude = distance(counter, delta->before[i], delta->after[i], &row.raw_negative);
    if (is_gauge(counter) || counter->flags & NETPROF_SIGNED) {
        row.magnitude = row.raw_magnitude;
        row.negative = row.raw_negative;
    } else {
        row.magnitude = delta->values[i];
    }
    row.changed = row.raw_magnitude || row.magnitude;
    if (!is_gauge(counter) && delta->elapsed_ns[i] > 0)
        row.rate_per_s = (double)row.magnitude / ((double)delta->elapsed_ns[i] / 1e9) * (row.negative ? -1 : 1);
    return row;
}

static void count(difference_counts *counts, const netprof_delta *delta, const difference_row *row, size_t i)
{
    uint8_t before = delta->before_status[i], after = delta->after_status[i];
    int64_t elapsed_ns = delta->elapsed_ns[i];
    counts->counters++;
    counts->compared += row->compared;
    counts->changed += row->changed;
    counts->flagged[row->flag]++;
    counts->saturated += row->flag == NETPROF_FLAG_SUSPECT && after == NETPROF_STATUS_SATURATED;
    counts->skipped +=
        row->flag == NETPROF_FLAG_UNKNOWN && (before == NETPROF_STATUS_SKIPPED || after == NETPROF_STATUS_SKIPPED);
    if (row->compared && elapsed_ns > counts->elapsed_ns) counts->elapsed_ns = elapsed_ns;
}

static netprof_err fill(difference *d, netprof_error *error)
{
    const netprof_schema *schema = d->delta->schema;
    netprof_err err = catalog_init(error);
    d->rows = calloc(schema->counter_count + 1, sizeof *d->rows);
    d->devices = calloc(schema->device_count + 1, sizeof *d->devices);
    if (!err && (!d->rows || !d->devices)) err = no_memory(error);
    for (size_t i = 0; i < schema->counter_count && !err; i++) {
        d->rows[i] = make_row(d->delta, i);
        count(&d->devices[schema->counters[i].device], d->delta, &d->rows[i], i);
        count(&d->total, d->delta, &d->rows[i], i);
    }
    if (err) difference_free(d);
    return err;
}

netprof_err difference_of_delta(difference *d, const netprof_delta *delta, netprof_error *error)
{
    difference_free(d);
    d->delta = delta;
    return fill(d, error);
}

netprof_err difference_of_snapshots(difference *d, const netprof_snapshot *before, const netprof_snapshot *after,
                                    bool force, netprof_error *error)
{
    netprof_diff_options options = {.force = force};
    difference_free(d);
    netprof_err err = netprof_diff(before, after, &options, &d->own, error);
    if (err) return err;
    d->delta = &d->own;
    return fill(d, error);
}

netprof_err difference_of_dataset(difference *d, const dataset *set, bool force, netprof_error *error)
{
    if (!set->run_count) return fail(error, NETPROF_ERR_ARG, "no data");
    const dataset_run *first = &set->runs[0], *last = &set->runs[set->run_count - 1];
    netprof_err err;
    if (first == last && first->snapshot_count < 2 && first->delta_count == 1)
        err = difference_of_delta(d, &first->deltas[0], error);
    else if (first == last && first->snapshot_count < 2)
        err = fail(error, NETPROF_ERR_ARG, "one snapshot only; expected two, or a second file");
    else if (!first->snapshot_count || !last->snapshot_count)
        err = fail(error, NETPROF_ERR_ARG, "no snapshot; expected one in each file");
    else
        err =
            difference_of_snapshots(d, &first->snapshots[0], &last->snapshots[last->snapshot_count - 1], force, error);
    if (err && error && !error->path[0]) snprintf(error->path, sizeof error->path, "%s", last->path);
    return err;
}

void difference_free(difference *d)
{
    if (!d) return;
    netprof_delta_free(&d->own);
    free(d->rows);
    free(d->devices);
    *d = (difference){0};
}

void difference_move(difference *to, difference *from)
{
    *to = *from;
    if (from->delta == &from->own) to->delta = &to->own;
    *from = (difference){0};
}

// ---- choosing and ordering ----

static bool is_chosen(const difference *d, const difference_query *q, size_t i)
{
    const difference_row *row = &d->rows[i];
    const netprof_counter *counter = &d->delta->schema->counters[i];
    bool clock = row->entry && row->entry->marks & CATALOG_CLOCK_ONLY;
    if (!q->unchanged && !row->changed && !q->flags) return false;
    if (q->groups && !(row->entry && row->entry->groups & q->groups)) return false;
    if (q->marks && !(row->entry && row->entry->marks & q->marks)) return false;
    if (q->flags && !(q->flags & (uint32_t)1 << row->flag)) return false;
    if (q->order == DIFFERENCE_RAW) return true;
    if (q->kinds != DIFFERENCE_ANY_KIND && is_gauge(counter) != (q->kinds == DIFFERENCE_GAUGES)) return false;
    return q->clock == DIFFERENCE_WITH_CLOCK || clock == (q->clock == DIFFERENCE_ONLY_CLOCK);
}

// What rows are ordered by, most important first.
typedef struct sort_key {
    size_t major, unit_rank;
    const char *unit;
    uint64_t magnitude; // the largest first
    const char *name;
    size_t index;
} sort_key;

static int compare_keys(const void *a, const void *b)
{
    const sort_key *x = a, *y = b;
    if (x->major != y->major) return x->major < y->major ? -1 : 1;
    if (x->unit_rank != y->unit_rank) return x->unit_rank < y->unit_rank ? -1 : 1;
    int order = strcmp(x->unit, y->unit);
    if (order) return order;
    if (x->magnitude != y->magnitude) return x->magnitude > y->magnitude ? -1 : 1;
    order = catalog_name_compare(x->name, y->name);
    return order ? order : x->index < y->index ? -1 : x->index > y->index;
}

static sort_key key_of(const difference *d, difference_order order, size_t i)
{
    const difference_row *row = &d->rows[i];
    const netprof_counter *counter = &d->delta->schema->counters[i];
    if (order == DIFFERENCE_RAW) return (sort_key){0, 0, "", row->raw_magnitude, counter->name, i};
    return (sort_key){counter->device, catalog_unit_rank(row->unit), row->unit, row->magnitude, counter->name, i};
}

// Keeps the first `top` of each device and unit, or of everything.
static size_t cut(const sort_key *keys, size_t found, const difference_query *q, size_t *indexes)
{
    size_t kept = 0, in_class = 0;
    for (size_t i = 0; i < found; i++) {
        bool same = i && keys[i].major == keys[i - 1].major && strcmp(keys[i].unit, keys[i - 1].unit) == 0;
        in_class = same ? in_class + 1 : 1;
        if (!q->top || in_class <= q->top) indexes[kept++] = keys[i].index;
    }
    return kept;
}

size_t *difference_select(const difference *d, const difference_query *query, size_t *count_out)
{
    const netprof_schema *schema = d->delta->schema;
    size_t first = 0, end = schema->counter_count, found = 0;
    *count_out = 0;
    if (query->device > schema->device_count) return calloc(1, sizeof(size_t));
    if (query->device) {
        first = schema->devices[query->device - 1].first;
        end = first + schema->devices[query->device - 1].count;
    }
    sort_key *keys = malloc((end - first + 1) * sizeof *keys);
    size_t *indexes = malloc((end - first + 1) * sizeof *indexes);
    if (!keys || !indexes) {
        free(keys);
        free(indexes);
        return NULL;
    }
    for (size_t i = first; i < end; i++)
        if (is_chosen(d, query, i)) keys[found++] = key_of(d, query->order, i);
    qsort(keys, found, sizeof *keys, compare_keys);
    *count_out = cut(keys, found, query, indexes);
    free(keys);
    return indexes;
}

// ---- tables ----

static int compare_names(const void *a, const void *b)
{
    return catalog_name_compare(*(const char *const *)a, *(const char *const *)b);
}

static bool belongs(const difference *d, uint64_t groups, uint32_t marks, size_t i)
{
    const catalog_entry *entry = d->rows[i].entry;
    return entry && (entry->groups & groups || entry->marks & marks);
}

// Collects the names of rows (each once) and the columns.
static bool table_frame(const difference *d, const char *source, uint64_t groups, uint32_t marks,
                        difference_table *table, lookup *rows)
{
    const netprof_schema *schema = d->delta->schema;
    for (size_t device = 0; device < schema->device_count; device++) {
        bool any = false;
        if (strcmp(schema->devices[device].source, source) != 0) continue;
        for (size_t k = 0; k < schema->devices[device].count; k++) {
            size_t i = schema->devices[device].first + k;
            if (!belongs(d, groups, marks, i)) continue;
            size_t *place = lookup_put(rows, 0, schema->counters[i].name);
            if (!place) return false;
            if (*place == LOOKUP_NONE) table->names[ *place = table->row_count++] = schema->counters[i].name;
            any = true;
        }
        if (any) table->devices[table->column_count++] = device;
    }
    qsort(table->names, table->row_count, sizeof *table->names, compare_names);
    for (size_t r = 0; r < table->row_count; r++)
        *lookup_put(rows, 0, table->names[r]) = r;
    return true;
}

static void table_cells(const difference *d, uint64_t groups, uint32_t marks, difference_table *table,
                        const lookup *rows)
{
    const netprof_schema *schema = d->delta->schema;
    for (size_t i = 0; i < table->row_count * table->column_count; i++)
        table->cells[i] = DIFFERENCE_NONE;
    for (size_t column = 0; column < table->column_count; column++) {
        const netprof_device *device = &schema->devices[table->devices[column]];
        for (size_t i = device->first; i < (size_t)device->first + device->count; i++)
            if (belongs(d, groups, marks, i))
                table->cells[lookup_find(rows, 0, schema->counters[i].name) * table->column_count + column] = i;
    }
}

static netprof_err make_table(const difference *d, const char *source, uint64_t groups, uint32_t marks,
                              difference_table *table, netprof_error *error)
{
    const netprof_schema *schema = d->delta->schema;
    lookup rows = {0};
    *table = (difference_table){.names = calloc(schema->counter_count + 1, sizeof *table->names),
                                .devices = calloc(schema->device_count + 1, sizeof *table->devices)};
    bool done = table->names && table->devices && table_frame(d, source, groups, marks, table, &rows);
    if (done) {
        table->cells = calloc(table->row_count * table->column_count + 1, sizeof *table->cells);
        done = table->cells != NULL;
    }
    if (done) table_cells(d, groups, marks, table, &rows);
    lookup_free(&rows);
    if (done) return NETPROF_OK;
    difference_table_free(table);
    return no_memory(error);
}

netprof_err difference_table_of_group(const difference *d, size_t group, difference_table *table, netprof_error *error)
{
    const catalog_group *g = catalog_group_at(group);
    *table = (difference_table){0};
    if (!g) return fail(error, NETPROF_ERR_ARG, "no such group");
    return make_table(d, g->source, (uint64_t)1 << group, 0, table, error);
}

netprof_err difference_table_of_marks(const difference *d, const char *source, uint32_t marks, difference_table *table,
                                      netprof_error *error)
{
    return make_table(d, source, 0, marks, table, error);
}

void difference_table_free(difference_table *table)
{
    free(table->names);
    free(table->devices);
    free(table->cells);
    *table = (difference_table){0};
}

// ---- sums and balance ----

// Whether there is a difference of a physical device to add up.
static bool can_add(const difference *d, size_t i)
{
    const netprof_counter *counter = &d->delta->schema->counters[i];
    return d->delta->schema->devices[counter->device].flags & NETPROF_DEVICE_PHYSICAL && d->rows[i].compared &&
           !is_gauge(counter) && !d->rows[i].negative;
}

// Unknown rates are left out; nothing but unknown ones stays unknown.
static double add_rates(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : a + b;
}

static size_t source_number(const netprof_schema *schema, const char *source)
{
    size_t i = 0;
    while (i < schema->source_count && strcmp(schema->sources[i].name, source) != 0)
        i++;
    return i;
}

static bool is_physical(const difference *d, size_t i)
{
    const netprof_schema *schema = d->delta->schema;
    return schema->devices[schema->counters[i].device].flags & NETPROF_DEVICE_PHYSICAL;
}

// Adds a magnitude with its sign; beyond 64 bits the sum stays at the largest value.
static void add_signed(difference_sum *sum, uint64_t value, bool negative)
{
    if (sum->negative == negative || !sum->value) {
        sum->value = sum_capped(sum->value, value);
        sum->negative = negative && sum->value;
    } else if (value > sum->value) {
        sum->value = value - sum->value;
        sum->negative = negative;
    } else {
        sum->value -= value;
        sum->negative = sum->negative && sum->value;
    }
}

static void add_to_sum(const difference *d, size_t i, difference_sum *sum)
{
    const difference_row *row = &d->rows[i];
    add_signed(sum, row->magnitude, row->negative);
    sum->rate_per_s = add_rates(sum->rate_per_s, row->rate_per_s);
    sum->lower_bound |= row->lower_bound;
    if (!sum->devices++ || row->magnitude > d->rows[sum->most].magnitude) sum->most = i;
}

// The sum of the counter's source and name; NULL without memory.
static difference_sum *sum_of(const difference *d, size_t i, difference_sum *sums, size_t *found, lookup *places)
{
    const netprof_schema *schema = d->delta->schema;
    const netprof_counter *c = &schema->counters[i];
    const char *source = schema->devices[c->device].source;
    size_t *place = lookup_put(places, source_number(schema, source), c->name);
    if (!place) return NULL;
    if (*place == LOOKUP_NONE) {
        sums[*found] = (difference_sum){.source = source,
                                        .name = c->name,
                                        .unit = d->rows[i].unit,
                                        .entry = d->rows[i].entry,
                                        .rate_per_s = NAN,
                                        .first = i};
        *place = (*found)++;
    }
    return &sums[*place];
}

// Physical devices first: where there is one, the others of that counter are left out.
static bool add_rows(const difference *d, const size_t *rows, size_t count, bool physical, difference_sum *sums,
                     size_t *found, lookup *places)
{
    for (size_t i = 0; i < count; i++) {
        if (is_physical(d, rows[i]) != physical || !d->rows[rows[i]].compared) continue;
        if (is_gauge(&d->delta->schema->counters[rows[i]])) continue;
        difference_sum *sum = sum_of(d, rows[i], sums, found, places);
        if (!sum) return false;
        if (physical || !is_physical(d, sum->first)) add_to_sum(d, rows[i], sum);
    }
    return true;
}

// A device whose counter could not be compared would have added to the sum.
static void mark_incomplete(const difference *d, difference_sum *sums, const lookup *places)
{
    const netprof_schema *schema = d->delta->schema;
    for (size_t i = 0; i < schema->counter_count; i++) {
        const netprof_counter *c = &schema->counters[i];
        if (d->rows[i].compared) continue;
        size_t place = lookup_find(places, source_number(schema, schema->devices[c->device].source), c->name);
        if (place != LOOKUP_NONE && is_physical(d, sums[place].first) == is_physical(d, i))
            sums[place].lower_bound = true;
    }
}

static int compare_sums(const void *a, const void *b)
{
    const difference_sum *x = a, *y = b;
    size_t i = catalog_unit_rank(x->unit), j = catalog_unit_rank(y->unit);
    if (i != j) return i < j ? -1 : 1;
    int order = strcmp(x->unit, y->unit);
    if (order) return order;
    if (x->value != y->value) return x->value > y->value ? -1 : 1;
    order = catalog_name_compare(x->name, y->name);
    return order ? order : strcmp(x->source, y->source);
}

static size_t keep_top(difference_sum *sums, size_t count, size_t top)
{
    size_t kept = 0, in_unit = 0;
    for (size_t i = 0; i < count; i++) {
        in_unit = i && strcmp(sums[i].unit, sums[i - 1].unit) == 0 ? in_unit + 1 : 0;
        if (!top || in_unit < top) sums[kept++] = sums[i];
    }
    return kept;
}

difference_sum *difference_sums(const difference *d, const size_t *rows, size_t row_count, size_t top, size_t *count)
{
    difference_sum *sums = calloc(row_count + 1, sizeof *sums);
    lookup places = {0};
    size_t found = 0;
    *count = 0;
    if (!sums || !add_rows(d, rows, row_count, true, sums, &found, &places) ||
        !add_rows(d, rows, row_count, false, sums, &found, &places)) {
        free(sums);
        lookup_free(&places);
        return NULL;
    }
    mark_incomplete(d, sums, &places);
    lookup_free(&places);
    qsort(sums, found, sizeof *sums, compare_sums);
    *count = keep_top(sums, found, top);
    return sums;
}

// The device's counter with this role. A device may have two (older and newer kernels' names): the first with
// a difference counts, in the catalog's order.
static size_t counter_with_role(const difference *d, size_t device, uint32_t role)
{
    const netprof_device *dev = &d->delta->schema->devices[device];
    size_t best = DIFFERENCE_NONE;
    for (size_t i = dev->first; i < (size_t)dev->first + dev->count; i++) {
        const catalog_entry *entry = d->rows[i].entry;
        if (!entry || !(entry->marks & role) || !can_add(d, i)) continue;
        if (best == DIFFERENCE_NONE || entry < d->rows[best].entry) best = i;
    }
    return best;
}

// Whether the device, a physical one, has such a counter at all.
static bool had_role(const difference *d, size_t device, uint32_t role)
{
    const netprof_device *dev = &d->delta->schema->devices[device];
    for (size_t i = dev->first; i < (size_t)dev->first + dev->count; i++)
        if (is_physical(d, i) && d->rows[i].entry && d->rows[i].entry->marks & role) return true;
    return false;
}

static void add_to_balance(difference_balance *b, const difference_row *row, size_t device)
{
    uint64_t value = row->magnitude;
    if (!b->devices || value > b->max) b->max = value, b->max_device = device;
    if (!b->devices || value < b->min) b->min = value, b->min_device = device;
    b->sum = sum_capped(b->sum, value);
    b->lower_bound |= row->lower_bound;
    b->rate_per_s = add_rates(b->rate_per_s, row->rate_per_s);
    b->devices++;
}

static difference_balance balance_of(const difference *d, const char *source, uint32_t role)
{
    const netprof_schema *schema = d->delta->schema;
    difference_balance b = {.source = source, .role = role, .rate_per_s = NAN, .max_over_mean = NAN};
    for (size_t device = 0; device < schema->device_count; device++) {
        if (strcmp(schema->devices[device].source, source) != 0) continue;
        size_t i = counter_with_role(d, device, role);
        if (i != DIFFERENCE_NONE)
            add_to_balance(&b, &d->rows[i], device);
        else
            b.lower_bound |= had_role(d, device, role);
    }
    if (b.sum && !b.lower_bound) b.max_over_mean = (double)b.max / ((double)b.sum / (double)b.devices);
    return b;
}

difference_balance *difference_balances(const difference *d, size_t *count_out)
{
    static const uint32_t roles[] = {CATALOG_TX_BYTES, CATALOG_RX_BYTES};
    const netprof_schema *schema = d->delta->schema;
    difference_balance *balances = calloc(2 * schema->source_count + 1, sizeof *balances);
    *count_out = 0;
    if (!balances) return NULL;
    for (size_t s = 0; s < schema->source_count; s++) {
        bool again = source_number(schema, schema->sources[s].name) != s; // a joined schema may name a source twice
        for (size_t r = 0; r < 2 && !again; r++) {
            difference_balance b = balance_of(d, schema->sources[s].name, roles[r]);
            if (b.devices) balances[(*count_out)++] = b;
        }
    }
    return balances;
}
