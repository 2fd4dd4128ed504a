#include "traffic.h"

#include "analysis/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// True if another counter of the device that changed counts the same events.
static bool traffic_told_by_another(const difference *d, size_t counter)
{
    const netprof_schema *schema = d->delta->schema;
    const netprof_device *device = &schema->devices[schema->counters[counter].device];
    const catalog_entry *entry = d->rows[counter].entry;
    if (!entry || !*entry->same_as) return false;
    size_t other = netprof_find(schema, device->source, device->name, entry->same_as);
    return other != NETPROF_NONE && d->rows[other].changed;
}

bool traffic_is_trouble(const difference *d, size_t counter)
{
    const netprof_schema *schema = d->delta->schema;
    const netprof_counter *c = &schema->counters[counter];
    return catalog_is_trouble(schema->devices[c->device].source, c->name, d->rows[counter].unit) &&
           !traffic_told_by_another(d, counter);
}

double traffic_bits_per_s(const netprof_device *device)
{
    const char *mbps = netprof_fact_of(device->facts, device->fact_count, "speed_mbps");
    const char *rate = netprof_fact_of(device->facts, device->fact_count, "rate"); // "100 Gb/sec (4X EDR)"
    double value = mbps ? strtod(mbps, NULL) * 1e6 : rate ? strtod(rate, NULL) * 1e9 : 0;
    return value > 0 && value < 1e15 ? value : 0;
}

// The role of a counter in its device's traffic. A part is added to the others; of counters without parts, two with the
// same mark count the same.
static const struct {
    uint32_t mark;
    int way;
    bool bytes, part;
} roles[] = {
    {CATALOG_RX_BYTES, TRAFFIC_RECEIVED, true, false},        {CATALOG_TX_BYTES, TRAFFIC_SENT, true, false},
    {CATALOG_RX_PACKETS, TRAFFIC_RECEIVED, false, false},     {CATALOG_TX_PACKETS, TRAFFIC_SENT, false, false},
    {CATALOG_RX_PACKETS_PART, TRAFFIC_RECEIVED, false, true}, {CATALOG_TX_PACKETS_PART, TRAFFIC_SENT, false, true}};
enum { ROLES = sizeof roles / sizeof *roles };

typedef struct amount {
    bool known, lower_bound;
    uint64_t value;
    double rate_per_s; // NAN when unknown
} amount;

// It is there, was asked for, and could not be read.
static bool traffic_is_unreadable(const difference *d, size_t i)
{
    const netprof_delta *delta = d->delta;
    return d->rows[i].flag == NETPROF_FLAG_UNKNOWN && delta->before_status[i] != NETPROF_STATUS_SKIPPED &&
           delta->after_status[i] != NETPROF_STATUS_SKIPPED;
}

// The counter that saw most, or the sum of the parts: unknown when one is missing, a lower bound when one could not be
// read.
static amount traffic_amount_of(const difference *d, const netprof_device *device, size_t role)
{
    amount a = {.rate_per_s = NAN};
    size_t found = 0, unreadable = 0;
    for (size_t i = device->first; i < (size_t)device->first + device->count; i++) {
        const difference_row *row = &d->rows[i];
        if (!row->entry || !(row->entry->marks & roles[role].mark)) continue;
        unreadable += traffic_is_unreadable(d, i);
        if (!row->compared || row->flag == NETPROF_FLAG_GAUGE) continue;
        found++;
        if (roles[role].part) {
            a.value += row->magnitude;
            a.rate_per_s = found == 1 ? row->rate_per_s : a.rate_per_s + row->rate_per_s;
            a.lower_bound |= row->lower_bound;
        } else if (found == 1 || row->magnitude >= a.value) {
            a.value = row->magnitude;
            a.rate_per_s = row->rate_per_s;
            a.lower_bound = row->lower_bound;
        }
    }
    if (!roles[role].part) {
        a.known = found;
    } else if (unreadable) {
        a.known = a.value && found + unreadable == catalog_count(device->source, roles[role].mark);
        a.lower_bound = true;
    } else {
        a.known = found && found == catalog_count(device->source, roles[role].mark);
    }
    return a;
}

static void traffic_add_role(traffic *t, const amount *a, size_t role)
{
    int way = roles[role].way;
    if (!a->known) return;
    t->known = true;
    if (roles[role].bytes) {
        t->bytes_known[way] = true;
        t->bytes[way] = a->value;
        t->bytes_bound[way] = a->lower_bound;
        t->byte_rate[way] = a->rate_per_s;
    } else {
        t->packets_known[way] = true;
        t->packets[way] = a->value;
        t->packets_bound[way] = a->lower_bound;
        t->packet_rate[way] = a->rate_per_s;
    }
}

double traffic_marked_rate(const difference *d, size_t device, uint32_t mark, bool *bound)
{
    const netprof_device *dev = &d->delta->schema->devices[device];
    double sum = NAN;
    *bound = false;
    for (size_t i = dev->first; i < (size_t)dev->first + dev->count; i++) {
        const difference_row *row = &d->rows[i];
        if (!row->entry || !(row->entry->marks & mark)) continue;
        *bound |= row->lower_bound || traffic_is_unreadable(d, i);
        if (!row->compared || row->flag == NETPROF_FLAG_GAUGE || isnan(row->rate_per_s)) continue;
        sum = isnan(sum) ? row->rate_per_s : sum + row->rate_per_s;
    }
    return sum;
}

static traffic traffic_of_device(const difference *d, size_t device)
{
    const netprof_device *dev = &d->delta->schema->devices[device];
    traffic t = {.device = device, .byte_rate = {NAN, NAN}, .packet_rate = {NAN, NAN}, .share = NAN};
    for (size_t role = 0; role < ROLES; role++) {
        amount a = traffic_amount_of(d, dev, role);
        traffic_add_role(&t, &a, role);
    }
    for (size_t i = dev->first; i < (size_t)dev->first + dev->count; i++)
        if (d->rows[i].changed && d->rows[i].flag != NETPROF_FLAG_GAUGE && traffic_is_trouble(d, i)) t.troubles++;
    // The speed of a virtual device is made up, and its traffic goes through no line.
    t.line_rate = dev->flags & NETPROF_DEVICE_PHYSICAL ? traffic_bits_per_s(dev) / 8 : 0;
    if (t.line_rate > 0) t.share = fmax(t.byte_rate[TRAFFIC_RECEIVED], t.byte_rate[TRAFFIC_SENT]) / t.line_rate;
    return t;
}

// IP over InfiniBand is in its port's counters; RoCE is not in its netdev's.
static bool traffic_is_ipoib(const netprof_device *port, const char *netdev, const netprof_device *link)
{
    const char *layer = netprof_fact_of(port->facts, port->fact_count, "link_layer");
    return netdev && layer && strcmp(layer, "InfiniBand") == 0 && strcmp(netdev, link->name) == 0;
}

// A Cassini NIC counts the traffic of its network interface as well; ethtool counts what the link counts.
bool traffic_counts_the_same(const netprof_device *all, const netprof_device *part)
{
    if (strcmp(all->source, "netdev") == 0)
        return strcmp(part->source, "ethtool") == 0 && strcmp(all->name, part->name) == 0;
    bool cxi = strcmp(all->source, "cxi") == 0 && strcmp(part->source, "cxi") != 0;
    bool rdma = strcmp(all->source, "rdma") == 0 && strcmp(part->source, "netdev") == 0;
    if (!cxi && !rdma) return false;
    const char *netdev = netprof_fact_of(all->facts, all->fact_count, "netdev");
    return cxi ? netdev && strcmp(netdev, part->name) == 0 : traffic_is_ipoib(all, netdev, part);
}

traffic *traffic_make(const difference *d)
{
    const netprof_schema *schema = d->delta->schema;
    traffic *list = memory_calloc(schema->device_count, sizeof *list);
    for (size_t i = 0; i < schema->device_count; i++)
        list[i] = traffic_of_device(d, i);
    for (size_t i = 0; i < schema->device_count; i++)
        for (size_t j = 0; list[i].known && j < schema->device_count; j++)
            if (traffic_counts_the_same(&schema->devices[i], &schema->devices[j])) list[j].repeated = true;
    return list;
}

bool traffic_moved(const traffic *t)
{
    return t->bytes[TRAFFIC_RECEIVED] || t->bytes[TRAFFIC_SENT] || t->packets[TRAFFIC_RECEIVED] ||
           t->packets[TRAFFIC_SENT];
}

bool traffic_is_bound(const traffic *t)
{
    return t->bytes_bound[TRAFFIC_RECEIVED] || t->bytes_bound[TRAFFIC_SENT] || t->packets_bound[TRAFFIC_RECEIVED] ||
           t->packets_bound[TRAFFIC_SENT];
}
