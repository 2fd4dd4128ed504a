#include "export_differences.h"

#include "cli/common.h"
#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <stdlib.h>
#include <string.h>

#define NOWHERE ((size_t)-1)

static bool export_differences_same_device(const netprof_device *a, const netprof_device *b)
{
    return strcmp(a->source, b->source) == 0 && strcmp(a->name, b->name) == 0;
}

// Index in `to` of each counter of `from`, or NOWHERE. Devices and their counters are mostly in the same order.
static size_t *export_differences_places_in(const netprof_schema *from, const netprof_schema *to)
{
    size_t *places = memory_alloc((from->counter_count + 1) * sizeof *places), near = 0;
    for (size_t i = 0; i < from->counter_count; i++)
        places[i] = from == to ? i : NOWHERE;
    for (size_t d = 0; d < from->device_count && from != to; d++) {
        const netprof_device *mine = &from->devices[d], *other = NULL;
        for (size_t k = 0; k < to->device_count && !other; k++) {
            size_t at = (near + k) % to->device_count;
            if (export_differences_same_device(mine, &to->devices[at])) other = &to->devices[near = at];
        }
        for (size_t i = 0, last = 0; other && i < mine->count; i++) {
            for (size_t k = 0; k < other->count; k++) {
                size_t at = (last + k) % other->count;
                if (strcmp(from->counters[mine->first + i].name, to->counters[other->first + at].name) != 0) continue;
                places[mine->first + i] = other->first + at;
                last = at + 1;
                break;
            }
        }
    }
    return places;
}

static void export_differences_drop_unused(held *h)
{
    size_t kept = 0;
    for (size_t i = 0; i < arrlenu(h->items); i++) {
        if (h->items[i]->waiting) {
            h->items[kept++] = h->items[i];
            continue;
        }
        netprof_snapshot_free(&h->items[i]->s);
        free(h->items[i]);
    }
    arrsetlen(h->items, kept);
}

static void export_differences_follow_schema(held *h, const netprof_schema *schema)
{
    if (h->schema == schema) return;
    held_snapshot **latest = memory_calloc(schema->counter_count + 1, sizeof *latest);
    size_t *places = h->schema ? export_differences_places_in(schema, h->schema) : NULL;
    for (size_t i = 0; i < arrlenu(h->items); i++)
        h->items[i]->waiting = 0;
    for (size_t i = 0; places && i < schema->counter_count; i++) {
        if (places[i] == NOWHERE || !h->latest[places[i]]) continue;
        latest[i] = h->latest[places[i]];
        latest[i]->waiting++;
    }
    free(places);
    free(h->latest);
    netprof_schema_release(h->schema);
    netprof_schema_retain(schema);
    h->schema = schema;
    h->latest = latest;
    export_differences_drop_unused(h);
}

static netprof_err export_differences_visit_one(held *h, const held_snapshot *from, const netprof_snapshot *s,
                                                held_visit visit, void *user, netprof_error *error)
{
    netprof_delta delta = NETPROF_ZERO;
    netprof_err err = netprof_diff(&from->s, s, NULL, &delta, error);
    if (err) return err;
    size_t *places = export_differences_places_in(s->schema, delta.schema), about = 0;
    for (size_t i = 0; i < s->schema->counter_count; i++) {
        if (h->latest[i] != from || s->status[i] == NETPROF_STATUS_SKIPPED) places[i] = NOWHERE;
        about += places[i] != NOWHERE;
    }
    if (about) visit(user, &delta, places);
    free(places);
    netprof_delta_free(&delta);
    return NETPROF_OK;
}

netprof_err held_take(held *h, const netprof_snapshot *s, held_visit visit, void *user, netprof_error *error)
{
    netprof_err err = NETPROF_OK;
    export_differences_follow_schema(h, s->schema);
    for (size_t i = 0; i < arrlenu(h->items) && !err; i++)
        err = export_differences_visit_one(h, h->items[i], s, visit, user, error);
    if (err == NETPROF_ERR_NOMEM) memory_exhausted();
    if (err) { // another boot, or the clock went back: it begins anew
        for (size_t i = 0; i < arrlenu(h->items); i++)
            h->items[i]->waiting = 0;
        memset(h->latest, 0, s->schema->counter_count * sizeof *h->latest);
        export_differences_drop_unused(h);
    }
    held_snapshot *mine = memory_calloc(1, sizeof *mine);
    if (netprof_snapshot_copy(&mine->s, s, NULL)) memory_exhausted();
    for (size_t i = 0; i < s->schema->counter_count; i++) {
        if (s->status[i] == NETPROF_STATUS_SKIPPED) continue;
        if (h->latest[i]) h->latest[i]->waiting--;
        h->latest[i] = mine;
        mine->waiting++;
    }
    arrput(h->items, mine);
    export_differences_drop_unused(h);
    return err;
}

void held_free(held *h)
{
    for (size_t i = 0; i < arrlenu(h->items); i++)
        h->items[i]->waiting = 0;
    export_differences_drop_unused(h);
    netprof_schema_release(h->schema);
    arrfree(h->items);
    free(h->latest);
    *h = (held){0};
}
