#include "lookup.h"

#include <stdlib.h>
#include <string.h>

static lookup_slot *slot_of(const lookup *table, size_t number, const char *name)
{
    uint64_t h = (14695981039346656037u ^ number) * 1099511628211u; // FNV-1a
    for (const char *c = name; *c; c++)
        h = (h ^ (unsigned char)*c) * 1099511628211u;
    size_t i = (size_t)(h ^ h >> 32) & table->mask;
    while (table->slots[i].name && (table->slots[i].number != number || strcmp(table->slots[i].name, name) != 0))
        i = (i + 1) & table->mask;
    return &table->slots[i];
}

static int grow(lookup *table)
{
    size_t size = table->slots ? 2 * (table->mask + 1) : 64;
    lookup larger = {calloc(size, sizeof *larger.slots), table->count, size - 1};
    if (!larger.slots) return 0;
    for (size_t i = 0; table->slots && i <= table->mask; i++)
        if (table->slots[i].name) *slot_of(&larger, table->slots[i].number, table->slots[i].name) = table->slots[i];
    free(table->slots);
    *table = larger;
    return 1;
}

size_t *lookup_put(lookup *table, size_t number, const char *name)
{
    if ((!table->slots || 2 * table->count > table->mask) && !grow(table)) return NULL;
    lookup_slot *slot = slot_of(table, number, name);
    if (!slot->name) {
        *slot = (lookup_slot){name, number, LOOKUP_NONE};
        table->count++;
    }
    return &slot->index;
}

size_t lookup_find(const lookup *table, size_t number, const char *name)
{
    if (!table->slots) return LOOKUP_NONE;
    const lookup_slot *slot = slot_of(table, number, name);
    return slot->name ? slot->index : LOOKUP_NONE;
}

void lookup_free(lookup *table)
{
    free(table->slots);
    *table = (lookup){0};
}
