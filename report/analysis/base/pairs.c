#include "pairs.h"

#include <stdlib.h>

static pairs_slot *slot_of(const pairs *table, int64_t a, int64_t b)
{
    uint64_t h = ((uint64_t)a * 0x9e3779b97f4a7c15u) ^ (uint64_t)b;
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
    size_t i = (size_t)(h ^ h >> 32) & table->mask;
    while (table->slots[i].index != PAIRS_NONE && (table->slots[i].a != a || table->slots[i].b != b))
        i = (i + 1) & table->mask;
    return &table->slots[i];
}

static bool grow(pairs *table)
{
    size_t size = table->slots ? 2 * (table->mask + 1) : 64;
    pairs larger = {malloc(size * sizeof *larger.slots), table->count, size - 1};
    if (!larger.slots) return false;
    for (size_t i = 0; i < size; i++)
        larger.slots[i].index = PAIRS_NONE;
    for (size_t i = 0; table->slots && i <= table->mask; i++) {
        const pairs_slot *from = &table->slots[i];
        if (from->index != PAIRS_NONE) *slot_of(&larger, from->a, from->b) = *from;
    }
    free(table->slots);
    *table = larger;
    return true;
}

size_t *pairs_put(pairs *table, int64_t a, int64_t b)
{
    if ((!table->slots || 2 * table->count > table->mask) && !grow(table)) return NULL;
    pairs_slot *slot = slot_of(table, a, b);
    if (slot->index == PAIRS_NONE) {
        *slot = (pairs_slot){a, b, PAIRS_NONE};
        table->count++;
    }
    return &slot->index;
}

bool pairs_set(pairs *table, int64_t a, int64_t b, size_t index)
{
    size_t *place = pairs_put(table, a, b);
    if (place) *place = index;
    return place != NULL;
}

size_t pairs_find(const pairs *table, int64_t a, int64_t b)
{
    return table->slots ? slot_of(table, a, b)->index : PAIRS_NONE;
}

void pairs_free(pairs *table)
{
    free(table->slots);
    *table = (pairs){0};
}
