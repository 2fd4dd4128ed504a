// Devices of all runs, matched by source and name, and the bytes that each moved.
#include "comparer.h"

#include "analysis/base/index_map.h"
#include "analysis/data/traffic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void devices_add(comparison *c, const netprof_device *dev)
{
    comparison_device made = {.source = dev->source, .name = dev->name};
    made.places = memory_array(NULL, c->run_count, sizeof *made.places);
    for (size_t r = 0; r < c->run_count; r++)
        made.places[r] = DIFFERENCE_NONE;
    arrput(c->devices, made);
    c->device_count = arrlenu(c->devices);
}

static size_t devices_source_number(const comparison *c, const char *source)
{
    size_t i = 0;
    while (i < c->device_count && strcmp(c->devices[i].source, source) != 0)
        i++;
    return i;
}

static int devices_by_order(const void *a, const void *b)
{
    const comparison_device *x = a, *y = b;
    return x->order < y->order ? -1 : x->order > y->order;
}

// Devices of one source together, in order of appearance.
static void devices_order(comparison *c)
{
    for (size_t i = 0; i < c->device_count; i++)
        c->devices[i].order = devices_source_number(c, c->devices[i].source) * (c->device_count + 1) + i;
    if (c->device_count) qsort(c->devices, c->device_count, sizeof *c->devices, devices_by_order);
}

// The inverse of places: from a run's devices to these.
static void devices_map_back(comparer *m)
{
    const comparison *c = m->c;
    m->back = memory_calloc(c->run_count, sizeof *m->back);
    for (size_t r = 0; r < c->run_count; r++) {
        m->back[r] = memory_calloc(c->runs[r]->d.delta->schema->device_count, sizeof **m->back);
        for (size_t i = 0; i < c->device_count; i++)
            if (c->devices[i].places[r] != DIFFERENCE_NONE) m->back[r][c->devices[i].places[r]] = i;
    }
}

static bool devices_same_fact(const netprof_fact *a, size_t m, const netprof_fact *b, size_t n, const char *key)
{
    const char *x = netprof_fact_of(a, m, key), *y = netprof_fact_of(b, n, key);
    return x && y ? strcmp(x, y) == 0 : x == y;
}

// Where the kernel, netprof or the driver is another one, counters come and go for that reason; likewise where only a
// part of the counters was asked for.
static bool devices_same_makers(const comparer *m, size_t device, size_t a, size_t b)
{
    static const char *const of_node[] = {"kernel", "netprof"};
    static const char *const of_device[] = {"driver", "driver_rev", "fw_ver", "fw_version"};
    const netprof_schema *x = m->c->runs[a]->d.delta->schema, *y = m->c->runs[b]->d.delta->schema;
    const netprof_device *p = &x->devices[comparer_place(m, device, a)], *q = &y->devices[comparer_place(m, device, b)];
    bool same = true;
    size_t common = 0;
    for (size_t i = 0; i < sizeof of_node / sizeof *of_node; i++)
        same = same && devices_same_fact(x->facts, x->fact_count, y->facts, y->fact_count, of_node[i]);
    for (size_t i = 0; i < sizeof of_device / sizeof *of_device; i++)
        same = same && devices_same_fact(p->facts, p->fact_count, q->facts, q->fact_count, of_device[i]);
    for (size_t i = p->first; same && i < (size_t)p->first + p->count; i++)
        common += evaluation_counter(&m->runs[b], comparer_place(m, device, b), x->counters[i].name) != DIFFERENCE_NONE;
    return same && 2 * common >= p->count && 2 * common >= q->count;
}

// Of the first run with the device on each side.
static void devices_find_makers(comparer *m)
{
    const comparison *c = m->c;
    m->same_makers = memory_calloc(c->device_count + 1, sizeof *m->same_makers);
    for (size_t i = 0; i < c->device_count; i++) {
        size_t first[COMPARISON_SIDES] = {DIFFERENCE_NONE, DIFFERENCE_NONE};
        for (size_t r = c->run_count; r-- > 0;)
            if (c->devices[i].places[r] != DIFFERENCE_NONE) first[c->runs[r]->side] = r;
        m->same_makers[i] =
            first[0] != DIFFERENCE_NONE && first[1] != DIFFERENCE_NONE && devices_same_makers(m, i, first[0], first[1]);
    }
}

void comparer_devices(comparer *m)
{
    comparison *c = m->c;
    index_map *by_name = NULL;
    for (size_t r = 0; r < c->run_count; r++) {
        const netprof_schema *schema = c->runs[r]->d.delta->schema;
        for (size_t i = 0; i < schema->device_count; i++) {
            const netprof_device *dev = &schema->devices[i];
            // A source's number is the index of its first device: the count when that one is put.
            map_key key = map_key_of_name(devices_source_number(c, dev->source), dev->name);
            size_t place = index_map_put(&by_name, key, c->device_count);
            if (place == c->device_count) devices_add(c, dev);
            comparison_device *d = &c->devices[place];
            if (d->places[r] == DIFFERENCE_NONE) d->runs[c->runs[r]->side]++;
            d->places[r] = i;
            d->physical |= (dev->flags & NETPROF_DEVICE_PHYSICAL) != 0;
        }
    }
    hmfree(by_name);
    devices_order(c);
    devices_map_back(m);
    devices_find_makers(m);
}

// ---- bytes ----

// Bytes of a device by its own counters, one way; NAN without.
static double devices_role_bytes(const difference *d, size_t device, uint32_t role, bool rate)
{
    const netprof_device *dev = &d->delta->schema->devices[device];
    double most = NAN;
    for (size_t i = dev->first; i < (size_t)dev->first + dev->count; i++) {
        const difference_row *row = &d->rows[i];
        if (!row->entry || !(row->entry->marks & role)) continue;
        if (row->flag != NETPROF_FLAG_OK && row->flag != NETPROF_FLAG_WRAPPED) continue;
        most = fmax(most, rate ? row->rate_per_s : (double)row->magnitude);
    }
    return most;
}

// Both ways together; NAN when neither is known.
static double devices_both(double in, double out)
{
    return isnan(in) ? out : isnan(out) ? in : in + out;
}

static double devices_own_bytes(const difference *d, size_t device)
{
    return devices_both(devices_role_bytes(d, device, CATALOG_RX_BYTES, false),
                        devices_role_bytes(d, device, CATALOG_TX_BYTES, false));
}

static double devices_counter_value(const evaluation *e, size_t device, const char *name)
{
    size_t i = evaluation_counter(e, device, name);
    if (i == DIFFERENCE_NONE) return NAN;
    const difference_row *row = &e->d->rows[i];
    return row->flag == NETPROF_FLAG_OK || row->flag == NETPROF_FLAG_WRAPPED ? (double)row->magnitude : NAN;
}

static double devices_ip_bytes(const evaluation *e)
{
    const netprof_schema *schema = e->d->delta->schema;
    for (size_t i = 0; i < schema->device_count; i++)
        if (strcmp(schema->devices[i].source, "ip") == 0 && strcmp(schema->devices[i].name, "IpExt") == 0)
            return devices_both(devices_counter_value(e, i, "InOctets"), devices_counter_value(e, i, "OutOctets"));
    return NAN;
}

// All ports, each byte once; without a port the bytes of the IP layer.
static double devices_node_bytes(const evaluation *e)
{
    const netprof_schema *schema = e->d->delta->schema;
    double sum = NAN;
    for (size_t i = 0; i < schema->device_count; i++)
        if (schema->devices[i].flags & NETPROF_DEVICE_PHYSICAL && !evaluation_counts_again(e, i))
            sum = devices_both(sum, devices_own_bytes(e->d, i));
    return isnan(sum) ? devices_ip_bytes(e) : sum;
}

// Likewise the packets, of ports alone.
static double devices_node_packets(const evaluation *e)
{
    traffic *ports = traffic_make(e->d);
    double sum = NAN;
    for (size_t i = 0; i < e->d->delta->schema->device_count; i++) {
        bool port = e->d->delta->schema->devices[i].flags & NETPROF_DEVICE_PHYSICAL && !ports[i].repeated;
        for (int way = 0; way < 2 && port; way++)
            if (ports[i].packets_known[way]) sum = devices_both(sum, (double)ports[i].packets[way]);
    }
    free(ports);
    return sum;
}

static double devices_bytes_by(const comparer *m, comparison_bytes basis, size_t device, size_t run)
{
    const evaluation *e = &m->runs[run];
    size_t place = comparer_place(m, device, run);
    if (place == DIFFERENCE_NONE) return NAN;
    switch (basis) {
    case COMPARISON_BYTES_OWN: return devices_own_bytes(e->d, place);
    case COMPARISON_BYTES_INTERFACE:
        return e->twins[place] == DIFFERENCE_NONE ? NAN : devices_own_bytes(e->d, e->twins[place]);
    case COMPARISON_BYTES_IP: return strcmp(m->c->devices[device].source, "ip") == 0 ? devices_ip_bytes(e) : NAN;
    case COMPARISON_BYTES_NODE: return m->c->runs[run]->bytes;
    default: return NAN;
    }
}

// The first basis that every run with the device has.
static void devices_choose_basis(comparer *m, size_t device)
{
    comparison *c = m->c;
    for (int basis = COMPARISON_BYTES_OWN; basis <= COMPARISON_BYTES_NODE; basis++) {
        bool known = true;
        for (size_t r = 0; r < c->run_count; r++) {
            double bytes = devices_bytes_by(m, (comparison_bytes)basis, device, r);
            m->bytes[r * c->device_count + device] = bytes > 0 ? bytes : NAN;
            if (comparer_place(m, device, r) != DIFFERENCE_NONE && isnan(bytes)) known = false;
        }
        if (!known) continue;
        c->devices[device].basis = (comparison_bytes)basis;
        return;
    }
    for (size_t r = 0; r < c->run_count; r++)
        m->bytes[r * c->device_count + device] = NAN;
}

static void devices_measure(comparer *m, size_t device, double *values)
{
    static const uint32_t roles[] = {CATALOG_RX_BYTES, CATALOG_TX_BYTES};
    comparison *c = m->c;
    comparison_device *d = &c->devices[device];
    for (size_t r = 0; r < c->run_count && d->speed_bits_per_s <= 0; r++)
        if (d->places[r] != DIFFERENCE_NONE) d->speed_bits_per_s = evaluation_speed(&m->runs[r], d->places[r]);
    for (int way = 0; way < 2; way++) {
        for (int side = 0; side < COMPARISON_SIDES; side++) {
            size_t n = 0;
            for (size_t r = 0; r < c->run_count; r++)
                if (c->runs[r]->side == (comparison_side)side && d->places[r] != DIFFERENCE_NONE)
                    values[n++] = devices_role_bytes(&c->runs[r]->d, d->places[r], roles[way], true);
            *(way ? &d->sent[side] : &d->received[side]) = comparison_range_of(values, n);
        }
    }
}

static double devices_side_median(const comparison *c, comparison_side side, bool bytes, double *values)
{
    size_t n = 0;
    for (size_t r = 0; r < c->run_count; r++) {
        const comparison_run *run = c->runs[r];
        double value = bytes ? run->bytes : run->elapsed_ns > 0 ? (double)run->elapsed_ns / 1e9 : NAN;
        if (run->side == side) values[n++] = value;
    }
    return comparison_range_of(values, n).median;
}

static double devices_ratio(const double sides[COMPARISON_SIDES])
{
    bool known = sides[COMPARISON_HEALTHY] > 0 && sides[COMPARISON_FAULTY] > 0;
    return known ? sides[COMPARISON_FAULTY] / sides[COMPARISON_HEALTHY] : NAN;
}

void comparer_bytes(comparer *m)
{
    comparison *c = m->c;
    double *values = memory_calloc(c->run_count, sizeof *values);
    m->bytes = memory_calloc(c->run_count * c->device_count, sizeof *m->bytes);
    for (size_t r = 0; r < c->run_count; r++) {
        c->runs[r]->bytes = devices_node_bytes(&m->runs[r]);
        c->runs[r]->packets = devices_node_packets(&m->runs[r]);
    }
    for (size_t i = 0; i < c->device_count; i++) {
        devices_choose_basis(m, i);
        devices_measure(m, i, values);
    }
    for (int side = 0; side < COMPARISON_SIDES; side++) {
        c->bytes[side] = devices_side_median(c, (comparison_side)side, true, values);
        c->seconds[side] = devices_side_median(c, (comparison_side)side, false, values);
    }
    c->bytes_ratio = devices_ratio(c->bytes);
    c->seconds_ratio = devices_ratio(c->seconds);
    free(values);
}
