// Views: the devices and counters that a process read, without what tells one host from another, so that a thousand
// hosts that are alike keep them once.
#include "regions_private.h"

#include <stdlib.h>
#include <string.h>

// Facts that name one piece of hardware or one boot, and that no rule can judge.
static bool is_identity(const char *key)
{
    static const char *const keys[] = {"mac", "ifindex",   "nic_addr", "nid",       "serial_number",
                                       "lid", "node_guid", "sm_lid",   "port_guid", "sys_image_guid"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0) return true;
    return false;
}

// ---- walking through what a view keeps of a schema ----

typedef struct view_cursor {
    const netprof_regions *from;
    size_t device, counter; // counter: index in from->counters
} view_cursor;

// The counters of a device are from->counters[first .. first + count): both lists rise.
static size_t counters_of(const netprof_regions *from, size_t device, size_t first)
{
    const netprof_device *dev = &from->schema->devices[device];
    size_t count = 0;
    while (first + count < from->counter_count && from->counters[first + count] < (size_t)dev->first + dev->count)
        count++;
    return count;
}

// The next device that has counters, or 0. Moves the cursor behind it.
static size_t next_device(view_cursor *at, size_t *device, size_t *first)
{
    for (; at->device < at->from->schema->device_count; at->device++) {
        size_t count = counters_of(at->from, at->device, at->counter);
        *device = at->device;
        *first = at->counter;
        at->counter += count;
        if (!count) continue;
        at->device++;
        return count;
    }
    return 0;
}

// ---- identity ----

static uint64_t hash_bytes(uint64_t h, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        h = (h ^ bytes[i]) * UINT64_C(1099511628211);
    return h;
}

static uint64_t hash_text(uint64_t h, const char *text)
{
    return hash_bytes(h, text, strlen(text) + 1);
}

static uint64_t hash_device(uint64_t h, const netprof_device *dev)
{
    h = hash_bytes(hash_text(hash_text(h, dev->source), dev->name), &dev->flags, sizeof dev->flags);
    for (size_t i = 0; i < dev->fact_count; i++)
        if (!is_identity(dev->facts[i].key)) h = hash_text(hash_text(h, dev->facts[i].key), dev->facts[i].value);
    return h;
}

static uint64_t hash_counter(uint64_t h, const netprof_counter *c)
{
    const uint32_t numbers[] = {c->scale, c->flags, c->kind, c->width};
    return hash_bytes(hash_text(hash_text(h, c->name), c->unit), numbers, sizeof numbers);
}

uint64_t regions_view_hash(const netprof_regions *from)
{
    uint64_t h = UINT64_C(14695981039346656037);
    view_cursor at = {.from = from};
    size_t device, first, count;
    while ((count = next_device(&at, &device, &first))) {
        h = hash_device(h, &from->schema->devices[device]);
        for (size_t i = first; i < first + count; i++)
            h = hash_counter(h, &from->schema->counters[from->counters[i]]);
    }
    return h;
}

static bool same_facts(const netprof_device *kept, const netprof_device *dev)
{
    size_t at = 0;
    for (size_t i = 0; i < dev->fact_count; i++) {
        if (is_identity(dev->facts[i].key)) continue;
        if (at >= kept->fact_count || strcmp(kept->facts[at].key, dev->facts[i].key) != 0 ||
            strcmp(kept->facts[at].value, dev->facts[i].value) != 0)
            return false;
        at++;
    }
    return at == kept->fact_count;
}

static bool same_counter(const netprof_counter *a, const netprof_counter *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->unit, b->unit) == 0 && a->scale == b->scale &&
           a->flags == b->flags && a->kind == b->kind && a->width == b->width;
}

bool regions_view_same(const regions_view *view, const netprof_regions *from)
{
    const netprof_schema *schema = view->schema;
    view_cursor at = {.from = from};
    size_t device, first, count, d = 0;
    if (schema->counter_count != from->counter_count) return false;
    for (; (count = next_device(&at, &device, &first)); d++) {
        const netprof_device *dev = &from->schema->devices[device], *kept = &schema->devices[d];
        if (d >= schema->device_count || kept->count != count || kept->flags != dev->flags ||
            strcmp(kept->source, dev->source) != 0 || strcmp(kept->name, dev->name) != 0 || !same_facts(kept, dev))
            return false;
        for (size_t i = 0; i < count; i++)
            if (!same_counter(&schema->counters[kept->first + i], &from->schema->counters[from->counters[first + i]]))
                return false;
    }
    return d == schema->device_count;
}

// ---- making ----

static void build_device(netprof_list *list, const netprof_device *dev)
{
    netprof_list_device(list, dev->name, 0, dev->flags);
    for (size_t i = 0; i < dev->fact_count; i++)
        if (!is_identity(dev->facts[i].key)) netprof_list_fact(list, dev->facts[i].key, dev->facts[i].value);
}

// A list groups devices by source.
static void build_source(netprof_list *list, const char **current, const char *source)
{
    if (*current && strcmp(*current, source) == 0) return;
    netprof_build_source(list, source);
    *current = source;
}

netprof_err regions_view_make(regions_view *view, const netprof_regions *from)
{
    netprof_list *list = netprof_build_begin(NULL);
    const char *source = NULL;
    view_cursor at = {.from = from};
    size_t device, first, count;
    if (!list) return NETPROF_ERR_NOMEM;
    while ((count = next_device(&at, &device, &first))) {
        build_source(list, &source, from->schema->devices[device].source);
        build_device(list, &from->schema->devices[device]);
        for (size_t i = first; i < first + count; i++)
            netprof_list_counter(list, &from->schema->counters[from->counters[i]]);
    }
    netprof_err failed = netprof_build_end(list, &view->schema, NULL);
    // A damaged list of counters does not rise, or has one twice.
    if (failed || view->schema->counter_count == from->counter_count) return failed;
    netprof_schema_release(view->schema);
    view->schema = NULL;
    return NETPROF_ERR_DAMAGED;
}

static bool has_device(const netprof_schema *schema, const netprof_device *dev)
{
    for (size_t i = 0; i < schema->device_count; i++)
        if (strcmp(schema->devices[i].source, dev->source) == 0 && strcmp(schema->devices[i].name, dev->name) == 0)
            return true;
    return false;
}

static bool had_before(const netprof_schema *const *views, size_t before, const netprof_device *dev)
{
    for (size_t i = 0; i < before; i++)
        if (has_device(views[i], dev)) return true;
    return false;
}

// The devices of one source of all views.
static void join_source(netprof_list *list, const netprof_schema *const *views, size_t count, const char *source)
{
    netprof_build_source(list, source);
    for (size_t v = 0; v < count; v++) {
        for (size_t d = 0; d < views[v]->device_count; d++) {
            const netprof_device *dev = &views[v]->devices[d];
            if (strcmp(dev->source, source) != 0 || had_before(views, v, dev)) continue;
            build_device(list, dev);
            for (size_t i = dev->first; i < (size_t)dev->first + dev->count; i++)
                netprof_list_counter(list, &views[v]->counters[i]);
        }
    }
}

static bool source_before(const netprof_schema *const *views, size_t view, size_t device)
{
    const char *source = views[view]->devices[device].source;
    for (size_t v = 0; v <= view; v++)
        for (size_t d = 0; d < (v == view ? device : views[v]->device_count); d++)
            if (strcmp(views[v]->devices[d].source, source) == 0) return true;
    return false;
}

netprof_err regions_views_join(const netprof_schema *const *views, size_t count, const netprof_schema **joined)
{
    netprof_list *list = netprof_build_begin(NULL);
    if (!list) return NETPROF_ERR_NOMEM;
    for (size_t v = 0; v < count; v++)
        for (size_t d = 0; d < views[v]->device_count; d++)
            if (!source_before(views, v, d)) join_source(list, views, count, views[v]->devices[d].source);
    return netprof_build_end(list, joined, NULL);
}
