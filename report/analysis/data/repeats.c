#include "repeats.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "traffic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static repeats_row *repeats_find(const repeats *r, const char *source, const char *device, const char *counter)
{
    for (size_t i = 0; i < arrlenu(r->rows); i++) {
        repeats_row *row = &r->rows[i];
        if (strcmp(row->counter, counter) == 0 && strcmp(row->device, device) == 0 && strcmp(row->source, source) == 0)
            return row;
    }
    return NULL;
}

// A counter of trouble that no earlier run told of did not move in them, if it was there: what could not be read has a row.
static double repeats_before(const repeats *r, const repeats_row *row, size_t run)
{
    bool there = row->trouble && r->schemas[run] &&
                 netprof_find(r->schemas[run], row->source, row->device, row->counter) != NETPROF_NONE;
    return there ? 0 : NAN;
}

static repeats_row *repeats_row_of(repeats *r, const char *source, const char *device, const char *counter,
                                   const char *unit, bool trouble)
{
    repeats_row *found = repeats_find(r, source, device, counter);
    if (found) return found;
    repeats_row row = {.source = memory_strdup(source),
                       .device = memory_strdup(device),
                       .counter = memory_strdup(counter),
                       .unit = memory_strdup(unit),
                       .trouble = trouble};
    for (size_t i = 0; i < r->runs; i++)
        arrput(row.values, i + 1 < r->runs ? repeats_before(r, &row, i) : NAN);
    arrput(r->rows, row);
    return &r->rows[arrlenu(r->rows) - 1];
}

static void repeats_put_traffic(repeats *r, const difference *d, const traffic *t)
{
    static const char *const bytes[] = {"rx_bytes", "tx_bytes"}, *const packets[] = {"rx_packets", "tx_packets"};
    const netprof_device *device = &d->delta->schema->devices[t->device];
    if (!t->known) return;
    for (int kind = 0; kind < 4; kind++) {
        int way = kind % 2;
        bool of_bytes = kind < 2, known = of_bytes ? t->bytes_known[way] : t->packets_known[way];
        repeats_row *row = repeats_row_of(r, device->source, device->name, of_bytes ? bytes[way] : packets[way],
                                          of_bytes ? "bytes" : "packets", false);
        row->physical = (device->flags & NETPROF_DEVICE_PHYSICAL) != 0;
        row->repeated = t->repeated;
        row->values[r->runs - 1] = !known ? NAN : (double)(of_bytes ? t->bytes[way] : t->packets[way]);
    }
}

// What did not move gets a row only when it did in another run.
static void repeats_put_troubles(repeats *r, const difference *d)
{
    const netprof_schema *schema = d->delta->schema;
    for (size_t i = 0; i < schema->counter_count; i++) {
        const difference_row *change = &d->rows[i];
        const netprof_device *device = &schema->devices[schema->counters[i].device];
        bool unread = !change->compared, wanted = change->flag != NETPROF_FLAG_GAUGE && traffic_is_trouble(d, i);
        if (!wanted ||
            !(change->changed || unread || repeats_find(r, device->source, device->name, schema->counters[i].name)))
            continue;
        repeats_row *row =
            repeats_row_of(r, device->source, device->name, schema->counters[i].name, change->unit, true);
        double value = change->negative ? -(double)change->magnitude : (double)change->magnitude;
        row->physical = (device->flags & NETPROF_DEVICE_PHYSICAL) != 0;
        row->values[r->runs - 1] = unread ? NAN : value;
    }
}

void repeats_add(repeats *r, const difference *d)
{
    const netprof_schema *schema = d && d->delta ? d->delta->schema : NULL;
    r->runs++;
    arrput(r->schemas, schema);
    for (size_t i = 0; i < arrlenu(r->rows); i++)
        arrput(r->rows[i].values, NAN);
    if (!schema) return;
    netprof_schema_retain(schema);
    traffic *list = traffic_make(d);
    for (size_t i = 0; i < schema->device_count; i++)
        repeats_put_traffic(r, d, &list[i]);
    free(list);
    repeats_put_troubles(r, d);
}

void repeats_put(repeats *r, const char *counter, const char *unit, double value)
{
    repeats_row_of(r, "", "", counter, unit, false)->values[r->runs - 1] = value;
}

bool repeats_moved(const repeats_row *row)
{
    for (size_t i = 0; i < arrlenu(row->values); i++)
        if (!isnan(row->values[i]) && row->values[i] != 0) return true;
    return false;
}

void repeats_free(repeats *r)
{
    for (size_t i = 0; i < arrlenu(r->rows); i++) {
        repeats_row *row = &r->rows[i];
        free(row->source);
        free(row->device);
        free(row->counter);
        free(row->unit);
        arrfree(row->values);
    }
    for (size_t i = 0; i < arrlenu(r->schemas); i++)
        netprof_schema_release(r->schemas[i]);
    arrfree(r->rows);
    arrfree(r->schemas);
    *r = (repeats){0};
}
