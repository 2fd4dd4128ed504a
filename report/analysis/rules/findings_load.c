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

// How far a counter moved; NAN: there is none, or it has no value.
static double findings_moved(const findings_making *m, size_t device, const char *counter)
{
    size_t c = evaluation_counter(&m->e, device, counter);
    const difference_row *row = c == DIFFERENCE_NONE ? NULL : &m->f->d->rows[c];
    bool known = row && (row->flag == NETPROF_FLAG_OK || row->flag == NETPROF_FLAG_WRAPPED);
    return known ? (double)row->magnitude : NAN;
}

// NAN as long as nothing is known.
static void findings_add_known(double *sum, double more)
{
    if (!isnan(more)) *sum = (isnan(*sum) ? 0 : *sum) + more;
}

static bool findings_is_loopback(const netprof_device *dev)
{
    const char *kind = netprof_fact_of(dev->facts, dev->fact_count, "kind");
    return strcmp(dev->name, "lo") == 0 || (kind && strcmp(kind, "loopback") == 0);
}

// What went over the wire as the kernel sees it: what TCP and UDP moved is compared with it. In a container without a port of
// the node its other interfaces lead out. What the loopback carried of the IP bytes went nowhere else, whatever ports forward;
// where nothing but a loopback is known, it and the IP bytes are not read at one instant: a quarter may differ.
static double findings_wire_bytes(const findings_making *m)
{
    const netprof_schema *schema = m->f->d->delta->schema;
    double ports = NAN, others = NAN, loop = NAN, ip = NAN;
    for (size_t i = 0; i < schema->device_count; i++) {
        const netprof_device *dev = &schema->devices[i];
        if (strcmp(dev->source, "netdev") == 0) {
            bool is_port = dev->flags & NETPROF_DEVICE_PHYSICAL;
            double *sum = findings_is_loopback(dev) ? &loop : is_port ? &ports : &others;
            findings_add_known(sum, findings_moved(m, i, "rx_bytes"));
            findings_add_known(sum, findings_moved(m, i, "tx_bytes"));
        } else if (strcmp(dev->source, "ip") == 0) {
            bool old = strcmp(dev->name, "IpExt") == 0;
            if (!old && strcmp(dev->name, "snmp6") != 0) continue;
            findings_add_known(&ip, findings_moved(m, i, old ? "InOctets" : "Ip6InOctets"));
            findings_add_known(&ip, findings_moved(m, i, old ? "OutOctets" : "Ip6OutOctets"));
        }
    }
    double wire = isnan(ports) ? others : ports, beyond = fmax(ip - loop, 0);
    if (isnan(ip) || isnan(loop)) return wire;
    if (isnan(wire)) return beyond < 0.25 * ip ? 0 : beyond;
    return fmin(wire, beyond);
}

// What stays on the node comes twice at most in the IP bytes and not at all on the wire: of what leaves it, with headers,
// nearly all does. A tenth is far from both.
#define WITHIN_SHARE 0.1

// A counter that is there and has no value.
static bool findings_is_unread(const findings_making *m, size_t device, const char *counter)
{
    size_t c = evaluation_counter(&m->e, device, counter);
    if (c == DIFFERENCE_NONE || !isnan(findings_moved(m, device, counter))) return false;
    uint8_t status = m->f->d->delta->after_status[c];
    return status != NETPROF_STATUS_ABSENT && status != NETPROF_STATUS_UNSUPPORTED;
}

static double findings_within(const findings_making *m, double wire_bytes)
{
    static const char *const names[][2] = {
        {"IpExt", "InOctets"}, {"IpExt", "OutOctets"}, {"snmp6", "Ip6InOctets"}, {"snmp6", "Ip6OutOctets"}};
    const netprof_schema *schema = m->f->d->delta->schema;
    double ip = NAN;
    for (size_t i = 0; i < schema->device_count; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            const netprof_device *dev = &schema->devices[i];
            if (strcmp(dev->source, "ip") != 0 || strcmp(dev->name, names[k][0]) != 0) continue;
            if (findings_is_unread(m, i, names[k][1])) return NAN;
            findings_add_known(&ip, findings_moved(m, i, names[k][1]));
        }
    return !isnan(ip) && wire_bytes < WITHIN_SHARE * ip;
}

// Of a port whose speed nobody tells: a thousandth of the slowest that there are.
enum { IDLE_BITS_PER_S = 1000000 };

findings_load findings_weigh(const findings_making *m)
{
    findings_load l = {.share = 0, .is_whole = true, .wire_bytes = findings_wire_bytes(m)};
    l.within = findings_within(m, l.wire_bytes);
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
        l.idle += speed > 0 ? bits / speed < EVALUATION_IDLE_SHARE : bits < IDLE_BITS_PER_S;
    }
    return l;
}
