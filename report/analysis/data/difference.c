#include "difference.h"

#include "analysis/base/index_map.h"
#include "analysis/base/memory.h"
#include "analysis/base/saturating_sum.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- one difference ----

static netprof_err difference_fail(netprof_error *error, netprof_err code, const char *text)
{
    if (!error) return code;
    *error = (netprof_error){.code = code};
    snprintf(error->text, sizeof error->text, "%s", text);
    return code;
}

static bool difference_is_gauge(const netprof_counter *counter)
{
    return counter->kind == NETPROF_KIND_GAUGE || counter->kind == NETPROF_KIND_STATE;
}

// |after - before| and its sign.
static uint64_t difference_distance(const netprof_counter *counter, uint64_t before, uint64_t after, bool *negative)
{
    bool is_signed = counter->flags & NETPROF_SIGNED;
    *negative = is_signed ? (int64_t)after < (int64_t)before : after < before;
    return *negative ? before - after : after - before;
}

static bool difference_is_compared(netprof_flag flag)
{
    return flag != NETPROF_FLAG_NEW && flag != NETPROF_FLAG_GONE && flag != NETPROF_FLAG_UNKNOWN;
}

static difference_row difference_make_row(const netprof_delta *delta, size_t i)
{
    const netprof_counter *counter = &delta->schema->counters[i];
    const catalog_entry *entry = catalog_find(delta->schema->devices[counter->device].source, counter->name);
    // A row of the catalog that names this very counter knows better than the file; a pattern only guesses.
    bool sure = entry && *entry->unit && !(entry->marks & CATALOG_PATTERN);
    difference_row row = {.entry = entry,
                          .unit = sure || (entry && !*counter->unit) ? entry->unit : counter->unit,
                          .flag = delta->flags[i] < DIFFERENCE_FLAGS ? delta->flags[i] : NETPROF_FLAG_UNKNOWN,
                          .rate_per_s = NAN};
    row.compared = difference_is_compared((netprof_flag)row.flag);
    if (!row.compared) return row;
    row.lower_bound = row.flag == NETPROF_FLAG_RESET || row.flag == NETPROF_FLAG_SUSPECT;
    row.raw_magnitude = difference_distance(counter, delta->before[i], delta->after[i], &row.raw_negative);
    if (difference_is_gauge(counter) || counter->flags & NETPROF_SIGNED) {
        row.magnitude = row.raw_magnitude;
        row.negative = row.raw_negative;
    } else {
        row.magnitude = delta->values[i];
    }
    row.changed = row.raw_magnitude || row.magnitude;
    if (!difference_is_gauge(counter) && delta->elapsed_ns[i] > 0)
        row.rate_per_s = (double)row.magnitude / ((double)delta->elapsed_ns[i] / 1e9) * (row.negative ? -1 : 1);
    return row;
}

static void difference_add_counts(difference_counts *counts, const netprof_delta *delta, const difference_row *row,
                                  size_t i)
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

static void difference_fill(difference *d, const netprof_snapshot *before, const netprof_snapshot *after)
{
    const netprof_schema *schema = d->delta->schema;
    d->changes = device_changes_of(d->delta, before, after);
    d->change_count = arrlenu(d->changes);
    d->rows = memory_calloc(schema->counter_count, sizeof *d->rows);
    d->devices = memory_calloc(schema->device_count, sizeof *d->devices);
    for (size_t i = 0; i < schema->counter_count; i++) {
        d->rows[i] = difference_make_row(d->delta, i);
        difference_add_counts(&d->devices[schema->counters[i].device], d->delta, &d->rows[i], i);
        difference_add_counts(&d->total, d->delta, &d->rows[i], i);
    }
}

void difference_of_delta(difference *d, const netprof_delta *delta)
{
    difference_free(d);
    d->delta = delta;
    difference_fill(d, NULL, NULL);
}

netprof_err difference_of_snapshots(difference *d, const netprof_snapshot *before, const netprof_snapshot *after,
                                    bool force, netprof_error *error)
{
    netprof_diff_options options = {.force = force};
    difference_free(d);
    netprof_err err = netprof_diff(before, after, &options, &d->own, error);
    if (err == NETPROF_ERR_NOMEM) memory_exhausted();
    if (err) return err;
    d->delta = &d->own;
    difference_fill(d, before, after);
    difference_keep_errors(d, before, after);
    return NETPROF_OK;
}

static bool difference_same_values(const netprof_snapshot *a, const netprof_snapshot *b)
{
    size_t n = a->schema->counter_count;
    bool stamped = a->begin_ns || a->wall_ns;
    for (size_t i = 0; i < n; i++)
        stamped |= a->stamps_ns[i] != 0;
    return stamped && n && memcmp(a->values, b->values, n * sizeof *a->values) == 0 &&
           memcmp(a->status, b->status, n) == 0 && memcmp(a->stamps_ns, b->stamps_ns, n * sizeof *a->stamps_ns) == 0;
}

bool difference_is_same_reading(const netprof_snapshot *a, const netprof_snapshot *b)
{
    return a->schema->counter_count == b->schema->counter_count && a->schema->device_count == b->schema->device_count &&
           a->begin_ns == b->begin_ns && a->end_ns == b->end_ns && a->wall_ns == b->wall_ns &&
           difference_same_values(a, b);
}

static bool difference_has_common_device(const difference *d)
{
    for (size_t i = 0; i < d->delta->schema->device_count; i++)
        if (difference_has_both_ends(d, i)) return true;
    return d->delta->schema->device_count == 0; // then that is what there is to say
}

// In how many readings each device was missing that came back; the devices in the order of their first absence.
static size_t *difference_count_missing(const dataset_run *run, const dataset_absence ***devices)
{
    index_map *known = NULL;
    size_t *missing = NULL;
    for (size_t i = 0; i < run->absence_count; i++) {
        const dataset_absence *a = &run->absences[i];
        if (!a->to) continue;
        char *name = memory_format("%s %s", a->source, a->name); // a source's name has no blank
        size_t k = index_map_put(&known, map_key_of_name(0, name), arrlenu(missing));
        free(name);
        if (k == arrlenu(missing)) {
            arrput(missing, 0);
            arrput(*devices, a);
        }
        missing[k] += a->to - a->from;
    }
    hmfree(known);
    return missing;
}

// Devices that were there at both ends and not all the time.
static void difference_add_absences(difference *d, const dataset_run *run)
{
    const dataset_absence **devices = NULL;
    size_t *missing = difference_count_missing(run, &devices);
    for (size_t i = 0; i < arrlenu(devices); i++)
        device_changes_add_absence(&d->changes, d->delta, devices[i]->source, devices[i]->name, missing[i],
                                   run->snapshot_count + (size_t)run->skipped);
    if (devices) device_changes_sort(d->changes, d->delta);
    arrfree(missing);
    arrfree(devices);
    d->change_count = arrlenu(d->changes);
}

netprof_err difference_of_ends(difference *d, const dataset_run *first, const dataset_run *last, bool force,
                               netprof_error *error)
{
    const netprof_snapshot *before = &first->snapshots[0], *after = &last->snapshots[last->snapshot_count - 1];
    const char *hosts[2] = {dataset_node(first, before->schema), dataset_node(last, after->schema)};
    bool known = *hosts[0] && *hosts[1], same = known && strcmp(hosts[0], hosts[1]) == 0;
    difference_free(d);
    if (first != last && difference_is_same_reading(before, after))
        return difference_fail(error, NETPROF_ERR_ARG, "the same reading in both; two are needed, a start and an end");
    if (known && !same && !force) {
        netprof_err err = difference_fail(error, NETPROF_ERR_MISMATCH, "");
        if (error) snprintf(error->text, sizeof error->text, "host differs: %.60s and %.60s", hosts[0], hosts[1]);
        return err;
    }
    netprof_err err = difference_of_snapshots(d, before, after, force, error);
    if (!err) difference_add_absences(d, first);
    if (!err && first != last) difference_add_absences(d, last);
    if (err || same || difference_has_common_device(d)) return err;
    difference_free(d);
    return difference_fail(error, force ? NETPROF_ERR_NOSOURCE : NETPROF_ERR_MISMATCH,
                           "no device in common: they are of different nodes, or of different devices of one");
}

netprof_err difference_of_dataset(difference *d, const dataset *set, bool force, netprof_error *error)
{
    if (!set->run_count) return difference_fail(error, NETPROF_ERR_ARG, "no data");
    const dataset_run *first = &set->runs[0], *last = &set->runs[set->run_count - 1];
    netprof_err err;
    if (first == last && first->snapshot_count < 2 && first->delta_count == 1)
        err = NETPROF_OK, difference_of_delta(d, &first->deltas[0]);
    else if (first == last && first->snapshot_count < 2)
        err = difference_fail(error, NETPROF_ERR_ARG, "one snapshot only; expected two, or a second file");
    else if (!first->snapshot_count || !last->snapshot_count)
        err = difference_fail(error, NETPROF_ERR_ARG, "no snapshot; expected one in each file");
    else
        err = difference_of_ends(d, first, last, force, error);
    if (!err) difference_keep_facts(d, last->facts, last->fact_count);
    if (!err && first != last) difference_keep_begin(d, first->facts, first->fact_count);
    if (err && error && !error->path[0]) snprintf(error->path, sizeof error->path, "%s", last->path);
    return err;
}

void difference_free(difference *d)
{
    if (!d) return;
    netprof_delta_free(&d->own);
    netprof_schema_release(d->first);
    difference_keep_facts(d, NULL, 0);
    free(d->rows);
    free(d->devices);
    device_changes_free(&d->changes);
    *d = (difference){0};
}

const device_change *difference_change(const difference *d, size_t device, device_change_kind kind)
{
    for (size_t i = 0; i < d->change_count; i++)
        if (d->changes[i].device == device && d->changes[i].kind == kind) return &d->changes[i];
    return NULL;
}

bool difference_has_both_ends(const difference *d, size_t device)
{
    const difference_counts *counts = &d->devices[device];
    if (d->delta->device_before)
        return d->delta->device_before[device] != NETPROF_NONE && d->delta->device_after[device] != NETPROF_NONE;
    return !counts->counters || (counts->flagged[NETPROF_FLAG_GONE] != counts->counters &&
                                 counts->flagged[NETPROF_FLAG_NEW] != counts->counters);
}

void difference_move(difference *to, difference *from)
{
    *to = *from;
    if (from->delta == &from->own) to->delta = &to->own;
    *from = (difference){0};
}

// ---- choosing and ordering ----

static bool select_is_chosen(const difference *d, const difference_query *q, size_t i)
{
    const difference_row *row = &d->rows[i];
    const netprof_counter *counter = &d->delta->schema->counters[i];
    bool clock = row->entry && row->entry->marks & CATALOG_CLOCK_ONLY;
    if (!q->unchanged && !row->changed && !q->flags) return false;
    if (q->groups && !(row->entry && row->entry->groups & q->groups)) return false;
    if (q->marks && !(row->entry && row->entry->marks & q->marks)) return false;
    if (q->flags && !(q->flags & (uint32_t)1 << row->flag)) return false;
    if (q->order == DIFFERENCE_RAW) return true;
    if (q->kinds != DIFFERENCE_ANY_KIND && difference_is_gauge(counter) != (q->kinds == DIFFERENCE_GAUGES))
        return false;
    return q->clock == DIFFERENCE_WITH_CLOCK || clock == (q->clock == DIFFERENCE_ONLY_CLOCK);
}

// The key that rows are ordered by, most important member first.
typedef struct sort_key {
    size_t major, unit_rank;
    const char *unit;
    uint64_t magnitude; // the largest first
    const char *name;
    size_t index;
} sort_key;

static int select_by_key(const void *a, const void *b)
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

static sort_key select_key(const difference *d, difference_order order, size_t i)
{
    const difference_row *row = &d->rows[i];
    const netprof_counter *counter = &d->delta->schema->counters[i];
    if (order == DIFFERENCE_RAW) return (sort_key){0, 0, "", row->raw_magnitude, counter->name, i};
    return (sort_key){counter->device, catalog_unit_rank(row->unit), row->unit, row->magnitude, counter->name, i};
}

// Keeps the first `top` of each device and unit, or of everything.
static size_t select_top(const sort_key *keys, size_t found, const difference_query *q, size_t *indexes)
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
    size_t first = 0, end = schema->counter_count;
    *count_out = 0;
    if (query->device > schema->device_count) return memory_calloc(1, sizeof(size_t));
    if (query->device) {
        first = schema->devices[query->device - 1].first;
        end = first + schema->devices[query->device - 1].count;
    }
    sort_key *keys = NULL;
    for (size_t i = first; i < end; i++)
        if (select_is_chosen(d, query, i)) arrput(keys, select_key(d, query->order, i));
    size_t found = arrlenu(keys), *indexes = memory_array(NULL, found, sizeof *indexes);
    if (found) qsort(keys, found, sizeof *keys, select_by_key);
    *count_out = select_top(keys, found, query, indexes);
    arrfree(keys);
    return indexes;
}

// ---- tables ----

static int table_by_name(const void *a, const void *b)
{
    return catalog_name_compare(*(const char *const *)a, *(const char *const *)b);
}

static bool table_has(const difference *d, uint64_t groups, uint32_t marks, size_t i)
{
    const catalog_entry *entry = d->rows[i].entry;
    return entry && (entry->groups & groups || entry->marks & marks);
}

// Collects the names of the rows, each once, and the columns.
static void table_frame(const difference *d, const char *source, uint64_t groups, uint32_t marks,
                        difference_table *table, index_map **rows)
{
    const netprof_schema *schema = d->delta->schema;
    for (size_t device = 0; device < schema->device_count; device++) {
        bool any = false;
        if (strcmp(schema->devices[device].source, source) != 0) continue;
        for (size_t k = 0; k < schema->devices[device].count; k++) {
            size_t i = schema->devices[device].first + k;
            const char *name = schema->counters[i].name;
            if (!table_has(d, groups, marks, i)) continue;
            if (index_map_put(rows, map_key_of_name(0, name), table->row_count) == table->row_count)
                table->names[table->row_count++] = name;
            any = true;
        }
        if (any) table->devices[table->column_count++] = device;
    }
    qsort(table->names, table->row_count, sizeof *table->names, table_by_name);
    for (size_t r = 0; r < table->row_count; r++)
        hmput(*rows, map_key_of_name(0, table->names[r]), r);
}

static void table_cells(const difference *d, uint64_t groups, uint32_t marks, difference_table *table,
                        const index_map *rows)
{
    const netprof_schema *schema = d->delta->schema;
    for (size_t i = 0; i < table->row_count * table->column_count; i++)
        table->cells[i] = DIFFERENCE_NONE;
    for (size_t column = 0; column < table->column_count; column++) {
        const netprof_device *device = &schema->devices[table->devices[column]];
        for (size_t i = device->first; i < (size_t)device->first + device->count; i++) {
            if (!table_has(d, groups, marks, i)) continue;
            size_t row = index_map_find(rows, map_key_of_name(0, schema->counters[i].name));
            table->cells[row * table->column_count + column] = i;
        }
    }
}

static void table_make(const difference *d, const char *source, uint64_t groups, uint32_t marks,
                       difference_table *table)
{
    const netprof_schema *schema = d->delta->schema;
    index_map *rows = NULL;
    *table = (difference_table){.names = memory_calloc(schema->counter_count, sizeof *table->names),
                                .devices = memory_calloc(schema->device_count, sizeof *table->devices)};
    table_frame(d, source, groups, marks, table, &rows);
    table->cells = memory_calloc(table->row_count * table->column_count, sizeof *table->cells);
    table_cells(d, groups, marks, table, rows);
    hmfree(rows);
}

void difference_table_of_group(const difference *d, size_t group, difference_table *table)
{
    table_make(d, catalog_group_at(group)->source, (uint64_t)1 << group, 0, table);
}

void difference_table_of_marks(const difference *d, const char *source, uint32_t marks, difference_table *table)
{
    table_make(d, source, 0, marks, table);
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
static bool balance_can_add(const difference *d, size_t i)
{
    const netprof_counter *counter = &d->delta->schema->counters[i];
    return d->delta->schema->devices[counter->device].flags & NETPROF_DEVICE_PHYSICAL && d->rows[i].compared &&
           !difference_is_gauge(counter) && !d->rows[i].negative;
}

// Unknown rates are left out; nothing but unknown ones stays unknown.
static double sum_rates(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : a + b;
}

static size_t sum_source(const netprof_schema *schema, const char *source)
{
    size_t i = 0;
    while (i < schema->source_count && strcmp(schema->sources[i].name, source) != 0)
        i++;
    return i;
}

static bool sum_is_physical(const difference *d, size_t i)
{
    const netprof_schema *schema = d->delta->schema;
    return schema->devices[schema->counters[i].device].flags & NETPROF_DEVICE_PHYSICAL;
}

// Adds a magnitude with its sign; beyond 64 bits the sum stays at the largest value.
static void sum_add_signed(difference_sum *sum, uint64_t value, bool negative)
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

static void sum_add(const difference *d, size_t i, difference_sum *sum)
{
    const difference_row *row = &d->rows[i];
    sum_add_signed(sum, row->magnitude, row->negative);
    sum->rate_per_s = sum_rates(sum->rate_per_s, row->rate_per_s);
    sum->lower_bound |= row->lower_bound;
    if (!sum->devices++ || row->magnitude > d->rows[sum->most].magnitude) sum->most = i;
}

typedef struct summing {
    const difference *d;
    difference_sum *sums;
    index_map *places; // from (source, counter)
} summing;

// The sum of the counter's source and name.
static difference_sum *sum_at(summing *s, size_t i)
{
    const netprof_schema *schema = s->d->delta->schema;
    const netprof_counter *c = &schema->counters[i];
    const char *source = schema->devices[c->device].source;
    size_t found = arrlenu(s->sums);
    size_t place = index_map_put(&s->places, map_key_of_name(sum_source(schema, source), c->name), found);
    if (place == found) {
        difference_sum made = {.source = source,
                               .name = c->name,
                               .unit = s->d->rows[i].unit,
                               .entry = s->d->rows[i].entry,
                               .rate_per_s = NAN,
                               .first = i};
        arrput(s->sums, made);
    }
    return &s->sums[place];
}

// Physical devices first: a counter that one of them has is not summed over the others.
static void sum_rows(summing *s, const size_t *rows, size_t row_count, bool physical)
{
    const difference *d = s->d;
    for (size_t i = 0; i < row_count; i++) {
        if (sum_is_physical(d, rows[i]) != physical || !d->rows[rows[i]].compared) continue;
        if (difference_is_gauge(&d->delta->schema->counters[rows[i]])) continue;
        difference_sum *sum = sum_at(s, rows[i]);
        if (physical || !sum_is_physical(d, sum->first)) sum_add(d, rows[i], sum);
    }
}

// A device whose counter could not be compared would have added to the sum.
static void sum_mark_incomplete(summing *s)
{
    const netprof_schema *schema = s->d->delta->schema;
    for (size_t i = 0; i < schema->counter_count; i++) {
        const netprof_counter *c = &schema->counters[i];
        if (s->d->rows[i].compared) continue;
        size_t source = sum_source(schema, schema->devices[c->device].source);
        size_t place = index_map_find(s->places, map_key_of_name(source, c->name));
        if (place != INDEX_NONE && sum_is_physical(s->d, s->sums[place].first) == sum_is_physical(s->d, i))
            s->sums[place].lower_bound = true;
    }
}

static int sum_by_value(const void *a, const void *b)
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

static size_t sum_keep_top(difference_sum *sums, size_t count, size_t top)
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
    summing s = {.d = d};
    sum_rows(&s, rows, row_count, true);
    sum_rows(&s, rows, row_count, false);
    sum_mark_incomplete(&s);
    hmfree(s.places);
    size_t found = arrlenu(s.sums);
    difference_sum *sums = memory_copy(s.sums, found * sizeof *sums);
    arrfree(s.sums);
    qsort(sums, found, sizeof *sums, sum_by_value);
    *count = sum_keep_top(sums, found, top);
    return sums;
}

// The device's counter with this role. A device may have two (older and newer kernels' names): the first with
// a difference counts, in the catalog's order.
static size_t balance_counter(const difference *d, size_t device, uint32_t role)
{
    const netprof_device *dev = &d->delta->schema->devices[device];
    size_t best = DIFFERENCE_NONE;
    for (size_t i = dev->first; i < (size_t)dev->first + dev->count; i++) {
        const catalog_entry *entry = d->rows[i].entry;
        if (!entry || !(entry->marks & role) || !balance_can_add(d, i)) continue;
        if (best == DIFFERENCE_NONE || entry < d->rows[best].entry) best = i;
    }
    return best;
}

// Whether the device, a physical one, has such a counter at all.
static bool balance_had_role(const difference *d, size_t device, uint32_t role)
{
    const netprof_device *dev = &d->delta->schema->devices[device];
    for (size_t i = dev->first; i < (size_t)dev->first + dev->count; i++)
        if (sum_is_physical(d, i) && d->rows[i].entry && d->rows[i].entry->marks & role) return true;
    return false;
}

static void balance_add(difference_balance *b, const difference_row *row, size_t device)
{
    uint64_t value = row->magnitude;
    if (!b->devices || value > b->max) b->max = value, b->max_device = device;
    if (!b->devices || value < b->min) b->min = value, b->min_device = device;
    b->sum = sum_capped(b->sum, value);
    b->lower_bound |= row->lower_bound;
    b->rate_per_s = sum_rates(b->rate_per_s, row->rate_per_s);
    b->devices++;
}

static difference_balance balance_make(const difference *d, const char *source, uint32_t role)
{
    const netprof_schema *schema = d->delta->schema;
    difference_balance b = {.source = source, .role = role, .rate_per_s = NAN, .max_over_mean = NAN};
    for (size_t device = 0; device < schema->device_count; device++) {
        if (strcmp(schema->devices[device].source, source) != 0) continue;
        size_t i = balance_counter(d, device, role);
        if (i != DIFFERENCE_NONE)
            balance_add(&b, &d->rows[i], device);
        else
            b.lower_bound |= balance_had_role(d, device, role);
    }
    if (b.sum && !b.lower_bound) b.max_over_mean = (double)b.max / ((double)b.sum / (double)b.devices);
    return b;
}

difference_balance *difference_balances(const difference *d, size_t *count_out)
{
    static const uint32_t roles[] = {CATALOG_TX_BYTES, CATALOG_RX_BYTES};
    const netprof_schema *schema = d->delta->schema;
    difference_balance *balances = memory_calloc(2 * schema->source_count, sizeof *balances);
    *count_out = 0;
    for (size_t s = 0; s < schema->source_count; s++) {
        bool again = sum_source(schema, schema->sources[s].name) != s; // a joined schema may name a source twice
        for (size_t r = 0; r < 2 && !again; r++) {
            difference_balance b = balance_make(d, schema->sources[s].name, roles[r]);
            if (b.devices) balances[(*count_out)++] = b;
        }
    }
    return balances;
}
