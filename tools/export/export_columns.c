#define _POSIX_C_SOURCE 200809L // strdup
#include "export_columns.h"
#include "analysis/base/memory.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static char *export_columns_keep(wide_side *side, char *text)
{
    side->memory = memory_realloc(side->memory, (side->memory_count + 1) * sizeof *side->memory);
    return side->memory[side->memory_count++] = text;
}

static char *export_columns_in_small_letters(const char *text)
{
    char *copy = memory_strdup(text);
    for (char *c = copy; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return copy;
}

// "name", or "name #2" where it is taken.
static char *export_columns_free_name(wide_side *side, char *name)
{
    char *wanted = memory_strdup(name);
    for (unsigned number = 2;; number++) {
        char *small = export_columns_keep(side, export_columns_in_small_letters(wanted));
        size_t *place = memory_check(lookup_put(&side->taken, 0, small));
        if (*place == LOOKUP_NONE) {
            *place = 0;
            free(name);
            return export_columns_keep(side, wanted);
        }
        free(wanted);
        wanted = memory_format("%s #%u", name, number);
    }
}

static size_t export_columns_add(wide_side *side, char *name, export_type type, const char *unit)
{
    size_t n = side->table.column_count++;
    if (!(n & (n - 1))) side->columns = memory_realloc(side->columns, (n ? 2 * n : 1) * sizeof *side->columns);
    side->columns[n] =
        (export_column){export_columns_free_name(side, name), type, export_columns_keep(side, memory_strdup(unit))};
    side->table.columns = side->columns;
    return n;
}

static void export_columns_begin(wide_side *side, export_id id, const export_column *first, size_t count)
{
    side->table.name = export_table_name(id);
    for (size_t i = 0; i < count; i++)
        export_columns_add(side, memory_strdup(first[i].name), first[i].type, first[i].unit);
    side->first = count;
}

void wide_begin(wide *w)
{
    static const export_column values[] = {{"run", EXPORT_U64, ""},
                                           {"host", EXPORT_NAME, ""},
                                           {"snapshot", EXPORT_U64, ""},
                                           {"time_ns", EXPORT_I64, "ns"}};
    static const export_column rates[] = {
        {"run", EXPORT_U64, ""}, {"host", EXPORT_NAME, ""}, {"from_ns", EXPORT_I64, "ns"}, {"to_ns", EXPORT_I64, "ns"}};
    export_columns_begin(&w->values, EXPORT_VALUES_WIDE, values, sizeof values / sizeof *values);
    export_columns_begin(&w->rates, EXPORT_RATES_WIDE, rates, sizeof rates / sizeof *rates);
}

static char *export_columns_key_of(const known_counter *c)
{
    return memory_format("%s\x1f%s\x1f%s", c->source, c->device, c->name);
}

static char *export_columns_name(const known_counter *c, const char *per)
{
    bool unit = *c->unit || *per;
    return memory_format("%s/%s/%s%s%s%s%s", c->source, c->device, c->name, unit ? " [" : "",
                         *c->unit || !unit ? c->unit : "1", per, unit ? "]" : "");
}

static void export_columns_add_counter(wide *w, const known_counter *c, uint8_t kind)
{
    char *key = export_columns_keep(&w->values, export_columns_key_of(c));
    size_t *place = memory_check(lookup_put(&w->index, c->is_signed, key));
    if (*place != LOOKUP_NONE) return;
    *place = w->count++;
    w->value_columns = memory_realloc(w->value_columns, w->count * sizeof *w->value_columns);
    w->rate_columns = memory_realloc(w->rate_columns, w->count * sizeof *w->rate_columns);
    w->value_columns[w->count - 1] =
        export_columns_add(&w->values, export_columns_name(c, ""), c->is_signed ? EXPORT_I64 : EXPORT_U64, c->unit);
    w->rate_columns[w->count - 1] = (size_t)-1;
    if (kind != NETPROF_KIND_COUNTER && kind != NETPROF_KIND_HISTOGRAM) return;
    char *unit = memory_format("%s/s", *c->unit ? c->unit : "1");
    w->rate_columns[w->count - 1] = export_columns_add(&w->rates, export_columns_name(c, "/s"), EXPORT_F64, unit);
    free(unit);
}

void wide_add(wide *w, known_schema *k)
{
    for (size_t i = 0; i < k->schema->counter_count; i++)
        if (k->counters[i].wanted) export_columns_add_counter(w, &k->counters[i], k->schema->counters[i].kind);
}

void wide_assign(const wide *w, known_schema *k)
{
    for (size_t i = 0; i < k->schema->counter_count; i++) {
        known_counter *c = &k->counters[i];
        char *key = export_columns_key_of(c);
        size_t found = c->wanted ? lookup_find(&w->index, c->is_signed, key) : LOOKUP_NONE;
        free(key);
        if (found == LOOKUP_NONE) continue;
        c->column = w->value_columns[found];
        c->rate_column = w->rate_columns[found];
    }
}

static void export_columns_free_side(wide_side *side)
{
    for (size_t i = 0; i < side->memory_count; i++)
        free(side->memory[i]);
    lookup_free(&side->taken);
    free(side->memory);
    free(side->columns);
}

void wide_free(wide *w)
{
    export_columns_free_side(&w->values);
    export_columns_free_side(&w->rates);
    lookup_free(&w->index);
    free(w->value_columns);
    free(w->rate_columns);
}
