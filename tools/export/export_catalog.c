#include "export_catalog.h"

#include "analysis/base/memory.h"
#include "analysis/catalog/catalog.h"
#include "analysis/base/text.h"

#include <stdlib.h>
#include <string.h>

// A glob is of a device, of DEVICE/COUNTER, or of SOURCE/DEVICE/COUNTER.
static bool export_catalog_matches(const char *const *globs, const char *source, const char *device,
                                   const char *counter)
{
    char *two = memory_format("%s/%s", device, counter), *three = memory_format("%s/%s", source, two);
    bool found = false;
    for (size_t i = 0; globs[i] && !found; i++)
        found = text_like(globs[i], device) || text_like(globs[i], two) || text_like(globs[i], three);
    free(two);
    free(three);
    return found;
}

bool known_wanted(const export_options *o, const char *source, const char *device, const char *counter)
{
    if (o->include && !export_catalog_matches(o->include, source, device, counter)) return false;
    return !o->exclude || !export_catalog_matches(o->exclude, source, device, counter);
}

static void export_catalog_know(known_counter *to, const netprof_schema *schema, size_t i, const export_options *o)
{
    const netprof_counter *c = &schema->counters[i];
    const netprof_device *d = &schema->devices[c->device];
    const catalog_entry *entry = catalog_find(d->source, c->name);
    uint32_t marks = catalog_marks(d->source, c->name);
    to->source = d->source;
    to->device = d->name;
    to->name = c->name;
    to->unit = entry && *entry->unit ? entry->unit : c->unit;
    to->kind = netprof_kind_name((netprof_kind)c->kind);
    to->description = entry && *entry->description ? entry->description : NULL;
    to->is_signed = c->flags & NETPROF_SIGNED;
    to->role = marks & CATALOG_RX_BYTES ? "bytes received" : marks & CATALOG_TX_BYTES ? "bytes sent" : NULL;
    to->trouble = catalog_is_trouble(d->source, c->name, to->unit) && !(marks & (CATALOG_HARMLESS | CATALOG_UNUSABLE));
    to->wanted = known_wanted(o, d->source, d->name, c->name);
    to->column = to->rate_column = (size_t)-1;
}

bool known_of(known_schema *k, const netprof_schema *schema, const export_options *options)
{
    if (k->schema == schema) return false;
    known_free(k);
    netprof_schema_retain(schema);
    k->schema = schema;
    k->counters = memory_calloc(schema->counter_count + 1, sizeof *k->counters);
    for (size_t i = 0; i < schema->counter_count; i++)
        export_catalog_know(&k->counters[i], schema, i, options);
    return true;
}

void known_free(known_schema *k)
{
    free(k->counters);
    netprof_schema_release(k->schema);
    *k = (known_schema){0};
}
