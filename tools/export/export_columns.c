#define _POSIX_C_SOURCE 200809L // strdup
#include "export_columns.h"
#include "analysis/base/memory.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static map_key export_columns_small_letters(const char *text)
{
    char *copy = memory_strdup(text);
    for (char *c = copy; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    map_key key = map_key_of_name(0, copy);
    free(copy);
    return key;
}

// "name", or "name #2" where it is taken.
static char *export_columns_free_name(wide_side *side, char *name)
{
    char *wanted = memory_strdup(name);
    for (unsigned number = 2;; number++) {
        map_key key = export_columns_small_letters(wanted);
        if (index_map_find(side->taken, key) == INDEX_NONE) {
            hmput(side->taken, key, 0);
            free(name);
            return wanted;
        }
        free(wanted);
        wanted = memory_format("%s #%u", name, number);
    }
}

static size_t export_columns_add(wide_side *side, char *name, export_type type, const char *unit)
{
    arrput(side->columns, ((export_column){export_columns_free_name(side, name), type, memory_strdup(unit)}));
    side->table.columns = side->columns;
    side->table.column_count = arrlenu(side->columns);
    return side->table.column_count - 1;
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
                                           {"time_ns", EXPORT_TIME, "ns"}};
    static const export_column rates[] = {{"run", EXPORT_U64, ""},
                                          {"host", EXPORT_NAME, ""},
                                          {"from_ns", EXPORT_TIME, "ns"},
                                          {"to_ns", EXPORT_TIME, "ns"}};
    export_columns_begin(&w->values, EXPORT_VALUES_WIDE, values, sizeof values / sizeof *values);
    export_columns_begin(&w->rates, EXPORT_RATES_WIDE, rates, sizeof rates / sizeof *rates);
}

static map_key export_columns_key_of(const known_counter *c)
{
    char *name = memory_format("%s\x1f%s\x1f%s", c->source, c->device, c->name);
    map_key key = map_key_of_name(c->is_signed, name);
    free(name);
    return key;
}

static char *export_columns_name(const known_counter *c, const char *per)
{
    bool unit = *c->unit || *per;
    return memory_format("%s/%s/%s%s%s%s%s", c->source, c->device, c->name, unit ? " [" : "",
                         *c->unit || !unit ? c->unit : "1", per, unit ? "]" : "");
}

static void export_columns_add_counter(wide *w, const known_counter *c, uint8_t kind)
{
    size_t next = arrlenu(w->places);
    if (index_map_put(&w->index, export_columns_key_of(c), next) != next) return;
    struct wide_place place = {.rate = (size_t)-1};
    place.value =
        export_columns_add(&w->values, export_columns_name(c, ""), c->is_signed ? EXPORT_I64 : EXPORT_U64, c->unit);
    if (kind == NETPROF_KIND_COUNTER || kind == NETPROF_KIND_HISTOGRAM) {
        char *unit = memory_format("%s/s", *c->unit ? c->unit : "1");
        place.rate = export_columns_add(&w->rates, export_columns_name(c, "/s"), EXPORT_F64, unit);
        free(unit);
    }
    arrput(w->places, place);
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
        size_t found = c->wanted ? index_map_find(w->index, export_columns_key_of(c)) : INDEX_NONE;
        if (found == INDEX_NONE) continue;
        c->column = w->places[found].value;
        c->rate_column = w->places[found].rate;
    }
}

static void export_columns_free_side(wide_side *side)
{
    for (size_t i = 0; i < arrlenu(side->columns); i++) {
        free((char *)(uintptr_t)side->columns[i].name);
        free((char *)(uintptr_t)side->columns[i].unit);
    }
    arrfree(side->columns);
    hmfree(side->taken);
}

void wide_free(wide *w)
{
    export_columns_free_side(&w->values);
    export_columns_free_side(&w->rates);
    hmfree(w->index);
    arrfree(w->places);
}
