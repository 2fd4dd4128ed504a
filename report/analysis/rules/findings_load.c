// The node's traffic.
#include "findings_making.h"

#include <math.h>
#include <string.h>

// NAN: it has no such counter, or it has no value.
static double findings_role_rate(const findings_making *m, size_t device, uint32_t role)
{
    const netprof_device *dev = &m->f->d->delta->schema->devices[device];
    double most = NAN;
    for (size_t i = dev->first; i < (size_t)dev->first + dev->count; i++) {
        const difference_row *row = &m->f->d->rows[i];
        if (row->entry && row->entry->marks & role) most = fmax(most, row->rate_per_s);
    }
    return most;
}

static bool findings_has_role(const findings_making *m, size_t device)
{
    const netprof_device *dev = &m->f->d->delta->schema->devices[device];
    bool found = false;
    for (size_t i = dev->first; i < (size_t)dev->first + dev->count; i++) {
        const difference_row *row = &m->f->d->rows[i];
        found |= row->entry && row->entry->marks & (CATALOG_RX_BYTES | CATALOG_TX_BYTES);
    }
    return found;
}

// What went over the wire as the kernel sees it: what TCP and UDP moved is compared with it. In a container without a port of
// the node its other interfaces lead out.
static double findings_wire_bytes(const findings_making *m)
{
    const netprof_schema *schema = m->f->d->delta->schema;
    double sums[2] = {NAN, NAN}; // ports of the node, others
    for (size_t i = 0; i < schema->device_count; i++) {
        const netprof_device *dev = &schema->devices[i];
        const char *kind = netprof_fact_of(dev->facts, dev->fact_count, "kind");
        double *sum = &sums[!(dev->flags & NETPROF_DEVICE_PHYSICAL)];
        if (strcmp(dev->source, "netdev") != 0 || strcmp(dev->name, "lo") == 0) continue;
        if (kind && strcmp(kind, "loopback") == 0) continue;
        for (int out = 0; out < 2; out++) {
            size_t c = evaluation_counter(&m->e, i, out ? "tx_bytes" : "rx_bytes");
            const difference_row *row = c == DIFFERENCE_NONE ? NULL : &m->f->d->rows[c];
            if (row && (row->flag == NETPROF_FLAG_OK || row->flag == NETPROF_FLAG_WRAPPED))
                *sum = (isnan(*sum) ? 0 : *sum) + (double)row->magnitude;
        }
    }
    return isnan(sums[0]) ? sums[1] : sums[0];
}

// Of a port whose speed nobody tells: a thousandth of the slowest that there are.
enum { IDLE_BITS_PER_S = 1000000 };

findings_load findings_weigh(const findings_making *m)
{
    findings_load l = {.share = 0, .is_whole = true, .wire_bytes = findings_wire_bytes(m)};
    const netprof_schema *schema = m->f->d->delta->schema;
    for (size_t i = 0; i < schema->device_count; i++) {
        if (!(schema->devices[i].flags & NETPROF_DEVICE_PHYSICAL) || evaluation_counts_again(&m->e, i)) continue;
        double in = findings_role_rate(m, i, CATALOG_RX_BYTES), out = findings_role_rate(m, i, CATALOG_TX_BYTES);
        double speed = evaluation_speed(&m->e, i);
        if (findings_has_role(m, i)) l.is_whole &= !isnan(in) && !isnan(out) && (speed > 0 || in + out <= 0);
        if (isnan(in) && isnan(out)) continue;
        l.rate[0] += isnan(in) ? 0 : in;
        l.rate[1] += isnan(out) ? 0 : out;
        l.devices++;
        if (speed > 0) l.share = fmax(l.share, 8 * fmax(in, out) / speed);
        double bits = 8 * fmax(isnan(in) ? 0 : in, isnan(out) ? 0 : out);
        l.idle += speed > 0 ? bits / speed < 0.001 : bits < IDLE_BITS_PER_S;
    }
    return l;
}
