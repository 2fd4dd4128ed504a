#include "meters.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "analysis/data/traffic.h"
#include "analysis/job/job_sources.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const meter_info meter_infos[METERS] = {
    [METER_SENT] = {"sent", "Sent", "bytes/s"},          [METER_RECEIVED] = {"received", "Received", "bytes/s"},
    [METER_PAUSED] = {"paused", "Transmit blocked", ""}, [METER_GPU] = {"gpu", "GPU busy", ""},
    [METER_CPU] = {"cpu", "CPU busy", "CPUs"},
};

const meter_info *meter_of(meter m)
{
    return &meter_infos[m];
}

bool meter_find(const char *name, meter *m)
{
    for (int i = 0; name && i < METERS; i++) {
        if (strcmp(name, meter_infos[i].name) != 0) continue;
        *m = (meter)i;
        return true;
    }
    return false;
}

// What is not measured does not make a sum unknown here: a node's other ports are worth seeing.
static void meter_add(double *to, double value)
{
    if (!isnan(value)) *to = isnan(*to) ? value : *to + value;
}

// ---- ports ----

typedef struct meter_place {
    size_t device; // in the schema
    bool counts;   // its bytes are the node's
} meter_place;

static bool meter_is_port(const netprof_device *d)
{
    return catalog_count(d->source, CATALOG_RX_BYTES | CATALOG_TX_BYTES) > 0 && strcmp(d->source, "ip") != 0;
}

static void meter_make_ports(meter_reading *r, const difference *d, meter_place **places)
{
    const netprof_schema *schema = d->delta->schema;
    traffic *list = traffic_make(d);
    bool physical = false;
    for (size_t i = 0; i < schema->device_count; i++)
        physical |= meter_is_port(&schema->devices[i]) && !list[i].repeated && list[i].known &&
                    schema->devices[i].flags & NETPROF_DEVICE_PHYSICAL;
    for (size_t i = 0; i < schema->device_count; i++) {
        const netprof_device *device = &schema->devices[i];
        const traffic *t = &list[i];
        if (!meter_is_port(device) || t->repeated) continue;
        bool counts = !physical || device->flags & NETPROF_DEVICE_PHYSICAL;
        meter_port p = {.name = memory_strdup(device->name), .paused = NAN, .retries = NAN};
        p.sent = t->bytes_known[TRAFFIC_SENT] ? t->byte_rate[TRAFFIC_SENT] : NAN;
        p.received = t->bytes_known[TRAFFIC_RECEIVED] ? t->byte_rate[TRAFFIC_RECEIVED] : NAN;
        if (counts) meter_add(&r->values[METER_SENT], p.sent);
        if (counts) meter_add(&r->values[METER_RECEIVED], p.received);
        arrput(r->ports, p);
        arrput(*places, ((meter_place){.device = i, .counts = counts}));
    }
    free(list);
}

// ethtool counts for the interface of the same name, a NIC's RDMA side for itself.
static meter_port *meter_port_of(meter_reading *r, const netprof_schema *schema, const meter_place *places,
                                 size_t device)
{
    const netprof_device *d = &schema->devices[device];
    for (size_t i = 0; i < arrlenu(places); i++) {
        const netprof_device *port = &schema->devices[places[i].device];
        bool same =
            places[i].device == device || (strcmp(d->source, "ethtool") == 0 && strcmp(port->source, "netdev") == 0 &&
                                           strcmp(d->name, port->name) == 0);
        if (same) return &r->ports[i];
    }
    return NULL;
}

// ---- the rest, by the table of what counters mean ----

typedef struct meter_sums {
    double gpu, cpu;
    size_t gpus;
} meter_sums;

static void meter_take_rate(meter_reading *r, meter_sums *s, const difference *d, const job_source_row *row, size_t i,
                            meter_port *port)
{
    const netprof_schema *schema = d->delta->schema;
    const netprof_counter *c = &schema->counters[i];
    double factor = job_source_factor(row, &schema->devices[c->device], c), rate = d->rows[i].rate_per_s * factor;
    if (!(factor > 0) || isnan(rate) || !d->rows[i].compared) return;
    if (row->meter == JOB_NODE_CPU) meter_add(&s->cpu, rate);
    if (row->meter == JOB_PAUSED && port) port->paused = fmax(port->paused, fmin(rate, 1));
    if (row->meter == JOB_PAUSED) r->values[METER_PAUSED] = fmax(r->values[METER_PAUSED], fmin(rate, 1));
    if (row->meter == JOB_RETRIES && port) meter_add(&port->retries, rate);
}

static void meter_take_level(meter_sums *s, const difference *d, const job_source_row *row, size_t i)
{
    const netprof_schema *schema = d->delta->schema;
    const netprof_counter *c = &schema->counters[i];
    if (row->meter != JOB_GPU_BUSY || d->delta->after_status[i] != NETPROF_STATUS_OK) return;
    meter_add(&s->gpu, (double)d->delta->after[i] * job_source_factor(row, &schema->devices[c->device], c));
    s->gpus++;
}

static void meter_take_all(meter_reading *r, const difference *d, const meter_place *places)
{
    const netprof_schema *schema = d->delta->schema;
    meter_sums s = {.gpu = NAN, .cpu = NAN};
    for (size_t i = 0; i < schema->counter_count; i++) {
        const netprof_device *device = &schema->devices[schema->counters[i].device];
        const job_source_row *row = job_source_row_of(device, &schema->counters[i]);
        if (!row) continue;
        if (row->kind == JOB_LEVEL)
            meter_take_level(&s, d, row, i);
        else
            meter_take_rate(r, &s, d, row, i, meter_port_of(r, schema, places, schema->counters[i].device));
    }
    if (s.gpus) r->values[METER_GPU] = s.gpu / (double)s.gpus;
    r->values[METER_CPU] = s.cpu;
    r->gpus = s.gpus;
}

static double meter_cpus(const netprof_schema *schema)
{
    for (size_t i = 0; i < schema->device_count; i++) {
        const netprof_device *d = &schema->devices[i];
        const char *cpus = netprof_fact_of(d->facts, d->fact_count, "cpus");
        if (cpus && strcmp(d->source, "cpu") == 0 && strtod(cpus, NULL) > 0) return strtod(cpus, NULL);
    }
    return NAN;
}

bool meter_make(meter_reading *r, const netprof_snapshot *before, const netprof_snapshot *after)
{
    difference d = {.delta = NULL};
    meter_place *places = NULL;
    *r = (meter_reading){.cpus = meter_cpus(after->schema)};
    for (int m = 0; m < METERS; m++)
        r->values[m] = NAN;
    if (difference_of_snapshots(&d, before, after, false, NULL)) return false;
    meter_make_ports(r, &d, &places);
    meter_take_all(r, &d, places);
    arrfree(places);
    difference_free(&d);
    return true;
}

void meter_free(meter_reading *r)
{
    for (size_t i = 0; i < arrlenu(r->ports); i++)
        free(r->ports[i].name);
    arrfree(r->ports);
}
