#include "summary.h"

#include "lookup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t *summary_troubles(const difference *d, size_t *count)
{
    difference_query query = {0};
    size_t n, kept = 0, *rows = must(difference_select(d, &query, &n));
    for (size_t i = 0; i < n; i++)
        if (traffic_is_trouble(d, rows[i])) rows[kept++] = rows[i];
    *count = kept;
    return rows;
}

traffic *summary_traffic(const difference *d)
{
    return must(traffic_make(d));
}

// ---- sums ----

static int compare_sums(const void *a, const void *b)
{
    const whole_sum *x = a, *y = b;
    size_t i = catalog_unit_rank(x->unit), j = catalog_unit_rank(y->unit);
    if (i != j) return i < j ? -1 : 1;
    int unit = strcmp(x->unit, y->unit);
    if (unit) return unit;
    if (x->value != y->value) return x->value > y->value ? -1 : 1;
    int name = catalog_name_compare(x->name, y->name);
    return name ? name : strcmp(x->source, y->source);
}

static void add_to_sum(whole_sum *s, const difference *d, size_t counter)
{
    const difference_row *row = &d->rows[counter];
    s->value = s->value + row->magnitude < s->value ? UINT64_MAX : s->value + row->magnitude;
    if (!isnan(row->rate_per_s)) s->rate_per_s = (isnan(s->rate_per_s) ? 0 : s->rate_per_s) + row->rate_per_s;
    if (!s->devices++ || row->magnitude > d->rows[s->most].magnitude) s->most = counter;
}

static bool is_physical(const difference *d, size_t counter)
{
    const netprof_schema *schema = d->delta->schema;
    return schema->devices[schema->counters[counter].device].flags & NETPROF_DEVICE_PHYSICAL;
}

// The sum that a counter belongs to: by the source's name (compared as a number: its first device) and its own.
static whole_sum *sum_of(const difference *d, lookup *index, whole_sum *sums, size_t *count, size_t counter)
{
    const netprof_schema *schema = d->delta->schema;
    const netprof_counter *c = &schema->counters[counter];
    const char *source = schema->devices[c->device].source;
    size_t number = 0;
    while (strcmp(schema->devices[number].source, source) != 0) number++;
    size_t *place = must(lookup_put(index, number, c->name));
    if (*place == LOOKUP_NONE) {
        *place = (*count)++;
        sums[*place] = (whole_sum){.source = source, .name = c->name, .unit = d->rows[counter].unit,
                                   .entry = d->rows[counter].entry, .rate_per_s = NAN, .first = counter};
    }
    return &sums[*place];
}

static size_t keep_top(whole_sum *sums, size_t count, size_t top)
{
    size_t kept = 0, run = 0;
    for (size_t i = 0; i < count; i++) {
        run = i && strcmp(sums[i].unit, sums[i - 1].unit) == 0 ? run + 1 : 0;
        if (!top || run < top) sums[kept++] = sums[i];
    }
    return kept;
}

whole_sum *summary_sums(const difference *d, const size_t *rows, size_t n, size_t top, size_t *count)
{
    whole_sum *sums = must(calloc(n + 1, sizeof *sums));
    lookup index = {0};
    *count = 0;
    for (int physical = 1; physical >= 0; physical--) {
        for (size_t i = 0; i < n; i++) {
            if (is_physical(d, rows[i]) != physical) continue;
            whole_sum *s = sum_of(d, &index, sums, count, rows[i]);
            if (physical || !is_physical(d, s->first)) add_to_sum(s, d, rows[i]);
        }
    }
    lookup_free(&index);
    qsort(sums, *count, sizeof *sums, compare_sums);
    *count = keep_top(sums, *count, top);
    return sums;
}

// ---- text ----

void print_traffic_cells(table *t, colour c, const traffic *x)
{
    for (int way = IN; way <= OUT; way++) {
        table_cell(t, c, x->bytes_known[way] ? number_si((double)x->bytes[way], "bytes") : NULL);
        table_cell(t, c, x->bytes_known[way] && !isnan(x->byte_rate[way]) ? number_rate(x->byte_rate[way], "bytes") : NULL);
        table_cell(t, c, x->packets_known[way] ? number_si((double)x->packets[way], "packets") : NULL);
    }
}

const char *delta_text(const difference_row *row)
{
    static char ring[4][24];
    static unsigned next;
    char *text = ring[next++ % 4];
    snprintf(text, sizeof *ring, "%s%llu", row->negative ? "-" : "", (unsigned long long)row->magnitude);
    return text;
}

const char *rate_text(const difference_row *row)
{
    return isnan(row->rate_per_s) ? "" : number_rate(row->rate_per_s, row->unit);
}

json_object *delta_json(const difference_row *row)
{
    if (!row->negative) return json_u64(row->magnitude);
    return must(json_object_new_double_s(-(double)row->magnitude, delta_text(row)));
}
