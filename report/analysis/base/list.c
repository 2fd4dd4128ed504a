#include "list.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool resize(void *list, size_t elements, size_t size)
{
    void *grown;
    memcpy(&grown, list, sizeof grown);
    grown = elements <= SIZE_MAX / size ? realloc(grown, elements * size) : NULL;
    if (grown) memcpy(list, &grown, sizeof grown);
    return grown != NULL;
}

bool list_grow(void *list, size_t count, size_t *room, size_t size)
{
    if (count < *room) return true;
    size_t larger = *room ? 2 * *room : 16;
    if (!resize(list, larger, size)) return false;
    *room = larger;
    return true;
}

bool list_grow_one(void *list, size_t count, size_t size)
{
    if (count & (count - 1)) return true; // between powers of two there is room
    return resize(list, count ? 2 * count : 1, size);
}
