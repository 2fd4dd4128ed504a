// Views: the devices and counters that a process read, without what differs from host to host, so that a thousand equal
// hosts share one; and the schemas of hosts, made of them.
#include "regions_store.h"

#include <stdlib.h>
#include <string.h>

// Facts that name one piece of hardware or one boot, which no rule judges.
static bool regions_is_identity(const char *key)
{
    static const char *const keys[] = {"mac", "ifindex",   "nic_addr", "nid",       "serial_number",
                                       "lid", "node_guid", "sm_lid",   "port_guid", "sys_image_guid"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0) return true;
    return false;
}

// ---- walking through what a view keeps of a schema ----

typedef struct regions_cursor {
    const netprof_regions *from;
    size_t device, counter; // counter: index in from->counters
} regions_cursor;

// The counters of a device are from->counters[first .. first + count): both lists rise.
static size_t regions_counters_of(const netprof_regions *from, size_t device, size_t first)
{
    const netprof_device *dev = &from->schema->devices[device];
    size_t count = 0;
    while (first + count < from->counter_count && from->counters[first + count] < (size_t)dev->first + dev->count)
        count++;
    return count;
}

// Finds the next device that has counters and moves the cursor past it. Returns how many, or 0 at the end.
static size_t regions_next_device(regions_cursor *at, size_t *device, size_t *first)
{
    for (; at->device < at->from->schema->device_count; at->device++) {
        size_t count = regions_counters_of(at->from, at->device, at->counter);
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

static uint64_t regions_hash_bytes(uint64_t h, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        h = (h ^ bytes[i]) * UINT64_C(1099511628211);
    return h;
}

static uint64_t regions_hash_text(uint64_t h, const char *text)
{
    return regions_hash_bytes(h, text, strlen(text) + 1);
}

static uint64_t regions_hash_device(uint64_t h, const netprof_device *dev)
{
    h = regions_hash_bytes(regions_hash_text(regions_hash_text(h, dev->source), dev->name), &dev->flags,
                           sizeof dev->flags);
    for (size_t i = 0; i < dev->fact_count; i++)
        if (!regions_is_identity(dev->facts[i].key))
            h = regions_hash_text(regions_hash_text(h, dev->facts[i].key), dev->facts[i].value);
    return h;
}

static uint64_t regions_hash_counter(uint64_t h, const netprof_counter *c)
{
    const uint32_t numbers[] = {c->scale, c->flags, c->kind, c->width};
    return regions_hash_bytes(regions_hash_text(regions_hash_text(h, c->name), c->unit), numbers, sizeof numbers);
}

uint64_t regions_view_hash(const netprof_regions *from)
{
    uint64_t h = UINT64_C(14695981039346656037);
    regions_cursor at = {.from = from};
    size_t device, first, count;
    while ((count = regions_next_device(&at, &device, &first))) {
        h = regions_hash_device(h, &from->schema->devices[device]);
        for (size_t i = first; i < first + count; i++)
            h = regions_hash_counter(h, &from->schema->counters[from->counters[i]]);
    }
    return h;
}

static bool regions_same_facts(const netprof_device *kept, const netprof_device *dev)
{
    size_t at = 0;
    for (size_t i = 0; i < dev->fact_count; i++) {
        if (regions_is_identity(dev->facts[i].key)) continue;
        if (at >= kept->fact_count || strcmp(kept->facts[at].key, dev->facts[i].key) != 0 ||
            strcmp(kept->facts[at].value, dev->facts[i].value) != 0)
            return false;
        at++;
    }
    return at == kept->fact_count;
}

static bool regions_same_counter(const netprof_counter *a, const netprof_counter *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->unit, b->unit) == 0 && a->scale == b->scale &&
           a->flags == b->flags && a->kind == b->kind && a->width == b->width;
}

bool regions_view_same(const regions_view *view, const netprof_regions *from)
{
    const netprof_schema *schema = view->schema;
    regions_cursor at = {.from = from};
    size_t device, first, count, d = 0;
    if (schema->counter_count != from->counter_count) return false;
    for (; (count = regions_next_device(&at, &device, &first)); d++) {
        const netprof_device *dev = &from->schema->devices[device], *kept = &schema->devices[d];
        if (d >= schema->device_count || kept->count != count || kept->flags != dev->flags ||
            strcmp(kept->source, dev->source) != 0 || strcmp(kept->name, dev->name) != 0 ||
            !regions_same_facts(kept, dev))
            return false;
        for (size_t i = 0; i < count; i++)
            if (!regions_same_counter(&schema->counters[kept->first + i],
                                      &from->schema->counters[from->counters[first + i]]))
                return false;
    }
    return d == schema->device_count;
}

// ---- making ----

static void regions_build_device(netprof_list *list, const netprof_device *dev)
{
    netprof_list_device(list, dev->name, 0, dev->flags);
    for (size_t i = 0; i < dev->fact_count; i++)
        if (!regions_is_identity(dev->facts[i].key)) netprof_list_fact(list, dev->facts[i].key, dev->facts[i].value);
}

// A list groups devices by source.
static void regions_build_source(netprof_list *list, const char **current, const char *source)
{
    if (*current && strcmp(*current, source) == 0) return;
    netprof_build_source(list, source);
    *current = source;
}

// Out of memory is the only error of a list that was built in order.
static const netprof_schema *regions_build_end(netprof_list *list)
{
    const netprof_schema *schema = NULL;
    if (netprof_build_end(list, &schema, NULL)) memory_exhausted();
    return schema;
}

bool regions_view_make(regions_view *view, const netprof_regions *from)
{
    netprof_list *list = memory_check(netprof_build_begin(NULL));
    const char *source = NULL;
    regions_cursor at = {.from = from};
    size_t device, first, count;
    while ((count = regions_next_device(&at, &device, &first))) {
        regions_build_source(list, &source, from->schema->devices[device].source);
        regions_build_device(list, &from->schema->devices[device]);
        for (size_t i = first; i < first + count; i++)
            netprof_list_counter(list, &from->schema->counters[from->counters[i]]);
    }
    view->schema = regions_build_end(list);
    // A damaged list of counters does not rise, or has one twice.
    if (view->schema->counter_count == from->counter_count) return true;
    netprof_schema_release(view->schema);
    view->schema = NULL;
    return false;
}

static bool regions_has_device(const netprof_schema *schema, const netprof_device *dev)
{
    for (size_t i = 0; i < schema->device_count; i++)
        if (strcmp(schema->devices[i].source, dev->source) == 0 && strcmp(schema->devices[i].name, dev->name) == 0)
            return true;
    return false;
}

static bool regions_had_before(const netprof_schema *const *views, size_t before, const netprof_device *dev)
{
    for (size_t i = 0; i < before; i++)
        if (regions_has_device(views[i], dev)) return true;
    return false;
}

// The devices of one source of all views.
static void regions_join_source(netprof_list *list, const netprof_schema *const *views, size_t count,
                                const char *source)
{
    netprof_build_source(list, source);
    for (size_t v = 0; v < count; v++) {
        for (size_t d = 0; d < views[v]->device_count; d++) {
            const netprof_device *dev = &views[v]->devices[d];
            if (strcmp(dev->source, source) != 0 || regions_had_before(views, v, dev)) continue;
            regions_build_device(list, dev);
            for (size_t i = dev->first; i < (size_t)dev->first + dev->count; i++)
                netprof_list_counter(list, &views[v]->counters[i]);
        }
    }
}

static bool regions_source_before(const netprof_schema *const *views, size_t view, size_t device)
{
    const char *source = views[view]->devices[device].source;
    for (size_t v = 0; v <= view; v++)
        for (size_t d = 0; d < (v == view ? device : views[v]->device_count); d++)
            if (strcmp(views[v]->devices[d].source, source) == 0) return true;
    return false;
}

static const netprof_schema *regions_views_join(const netprof_schema *const *views, size_t count)
{
    netprof_list *list = memory_check(netprof_build_begin(NULL));
    for (size_t v = 0; v < count; v++)
        for (size_t d = 0; d < views[v]->device_count; d++)
            if (!regions_source_before(views, v, d))
                regions_join_source(list, views, count, views[v]->devices[d].source);
    return regions_build_end(list);
}

// ---- the schema of a host ----

static bool regions_had_device(const regions *r, size_t host, size_t host_view, const netprof_device *dev)
{
    const regions_store *s = r->store;
    for (size_t i = 0; i < host_view; i++)
        if (s->host_views[i].host == host && regions_has_device(s->views[s->host_views[i].view].schema, dev))
            return true;
    return false;
}

// Where the counters of one of several views are in the host's schema. A device that several views have is the first's.
static void regions_map_columns(regions *r, size_t number)
{
    regions_host_view *hv = &r->store->host_views[number];
    const netprof_schema *view = r->store->views[hv->view].schema, *schema = r->hosts[hv->host].schema;
    hv->columns = memory_array(NULL, view->counter_count, sizeof *hv->columns);
    for (size_t i = 0; i < view->counter_count; i++)
        hv->columns[i] = UINT32_MAX;
    for (size_t d = 0; d < view->device_count; d++) {
        const netprof_device *dev = &view->devices[d];
        if (regions_had_device(r, hv->host, number, dev)) continue;
        for (size_t i = dev->first; i < (size_t)dev->first + dev->count; i++) {
            size_t at = netprof_find(schema, dev->source, dev->name, view->counters[i].name);
            if (at != NETPROF_NONE) hv->columns[i] = (uint32_t)at;
        }
    }
}

// The ranks of this host have several views: it gets a schema of its own.
static void regions_join_views(regions *r, size_t host)
{
    const regions_store *s = r->store;
    const netprof_schema **views = NULL;
    for (size_t i = 0; i < arrlenu(s->host_views); i++)
        if (s->host_views[i].host == host) arrput(views, s->views[s->host_views[i].view].schema);
    r->hosts[host].schema = regions_views_join(views, arrlenu(views));
    arrfree(views);
    for (size_t i = 0; i < arrlenu(s->host_views); i++)
        if (s->host_views[i].host == host) regions_map_columns(r, i);
}

void regions_make_schemas(regions *r)
{
    const regions_store *s = r->store;
    size_t *views = memory_calloc(r->host_count, sizeof *views);
    for (size_t i = 0; i < arrlenu(s->host_views); i++)
        if (++views[s->host_views[i].host] == 1) {
            r->hosts[s->host_views[i].host].schema = s->views[s->host_views[i].view].schema;
            netprof_schema_retain(r->hosts[s->host_views[i].host].schema);
        }
    for (size_t i = 0; i < r->host_count; i++) {
        if (views[i] < 2) continue;
        netprof_schema_release(r->hosts[i].schema);
        regions_join_views(r, i);
    }
    free(views);
}
