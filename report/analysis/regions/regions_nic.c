// The NICs during a node: per reading, and all readings together.
#include "regions_store.h"

#include "analysis/data/traffic.h"
#include "analysis/rules/evaluate.h"
#include "regions_counters.h"

#include <math.h>
#include <string.h>

// ---- one reading ----

static uint64_t regions_granularity_ns(const regions_rank *rank)
{
    int64_t ns = rank->sweep_ns > rank->interval_ns ? rank->sweep_ns : rank->interval_ns;
    return ns > 0 ? (uint64_t)ns : 0;
}

static uint64_t regions_limit_ns(const regions *r, const regions_reading *seen)
{
    uint64_t ns = regions_granularity_ns(&r->ranks[seen->rank]);
    return ns > UINT64_MAX / REGIONS_TOO_SHORT_FOLD ? UINT64_MAX : ns * REGIONS_TOO_SHORT_FOLD;
}

static bool regions_is_sampler(const regions_rank *rank)
{
    return rank->interval_ns > 0;
}

// Counters that were read at both edges of each call are exact, for a little more time than the call took.
static regions_state regions_state_of(const regions *r, const regions_node *node, const regions_reading *seen)
{
    const regions_rank *rank = &r->ranks[seen->rank];
    if (!seen->calls) return rank->mode == NETPROF_MODE_SAMPLER ? REGIONS_TOO_SHORT : REGIONS_NO_COUNTERS;
    if (regions_reading_call_ns(node, seen) >= (double)regions_limit_ns(r, seen)) return REGIONS_KNOWN;
    return regions_is_sampler(rank) ? REGIONS_TOO_SHORT : REGIONS_UNCERTAIN;
}

// The share of the time between two readings that was not the call between them.
static double regions_uncertain(const regions *r, const regions_node *node, const regions_reading *seen)
{
    const regions_rank *rank = &r->ranks[seen->rank];
    if (!seen->calls || regions_is_sampler(rank)) return 0;
    double one = rank->readings ? (double)rank->reading_ns / (double)rank->readings : (double)rank->sweep_ns;
    double call = regions_reading_call_ns(node, seen);
    return one > 0 ? 2 * one / (call + 2 * one) : 0;
}

// Do its bytes count for the host? Ports do, or, where there is none, all interfaces; where two devices count the same
// bytes, one of them does.
static bool regions_is_counted(const netprof_schema *schema, const traffic *t, bool any)
{
    return t->known && !t->repeated && (any || schema->devices[t->device].flags & NETPROF_DEVICE_PHYSICAL);
}

static bool regions_has_port(const netprof_schema *schema, const traffic *all)
{
    for (size_t i = 0; i < schema->device_count; i++)
        if (regions_is_counted(schema, &all[i], false)) return true;
    return false;
}

static void regions_add_way(regions_reading *seen, const traffic *t, int way)
{
    if (!t->bytes_known[way]) return;
    seen->bytes_known[way] = true;
    seen->bytes[way] = sum_capped(seen->bytes[way], t->bytes[way]);
    if (isnan(seen->bytes_per_s[way])) seen->bytes_per_s[way] = 0;
    seen->bytes_per_s[way] += t->byte_rate[way];
}

static void regions_add_traffic(regions_reading *seen, const netprof_schema *schema, const traffic *all)
{
    bool rates_known = true;
    seen->bytes_per_s[TRAFFIC_RECEIVED] = seen->bytes_per_s[TRAFFIC_SENT] = seen->share = NAN;
    seen->busiest = REGIONS_NONE;
    seen->no_port = !regions_has_port(schema, all);
    for (size_t i = 0; i < schema->device_count; i++) {
        const traffic *t = &all[i];
        if (!regions_is_counted(schema, t, seen->no_port)) continue;
        regions_add_way(seen, t, TRAFFIC_RECEIVED);
        regions_add_way(seen, t, TRAFFIC_SENT);
        rates_known &= t->line_rate > 0;
        seen->line_bytes_per_s += t->line_rate;
        if (isnan(t->share) || t->share <= seen->share) continue;
        seen->share = t->share;
        seen->busiest = i;
    }
    if (!rates_known) seen->line_bytes_per_s = 0;
}

// How long a device had to stop sending, as the rules about pauses compute it, whatever their thresholds are.
static void regions_add_pauses(regions_reading *seen, const difference *d, const rules *set)
{
    evaluation e;
    seen->paused = NAN;
    seen->most_paused = REGIONS_NONE;
    evaluation_begin(&e, d);
    for (size_t k = 0; k < set->count; k++) {
        const rule *x = set->items[k];
        for (size_t i = 0; x->is_pause && i < d->delta->schema->device_count; i++) {
            if (!evaluation_applies(&e, x, i)) continue;
            evaluation_of(&e, x, i);
            struct reading got = evaluate(&e, &x->value);
            if (got.status || got.number <= seen->paused) continue;
            seen->paused = got.number;
            seen->most_paused = i;
        }
    }
    evaluation_end(&e);
}

static void regions_add_retries(regions_reading *seen, const difference *d)
{
    // One counter for each kind of NIC, in requests or packets; others count the bytes or timeouts of the same events.
    static const struct {
        const char *source, *name;
    } rows[] = {{"cxi", "pct_retry_srb_requests"}, {"rdma", "roce_adp_retrans"}, {"rdma", "retrans_pkts"}};
    const netprof_schema *schema = d->delta->schema;
    for (size_t i = 0; i < schema->counter_count; i++) {
        const char *source = schema->devices[schema->counters[i].device].source;
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
            if (d->rows[i].flag != NETPROF_FLAG_OK || strcmp(source, rows[k].source) != 0 ||
                strcmp(rows[k].name, schema->counters[i].name) != 0)
                continue;
            seen->retries_known = true;
            seen->retries = sum_capped(seen->retries, d->rows[i].magnitude);
        }
    }
}

// Keeps the worst of what the rules find in one reading.
static void regions_find_troubles(regions_finding **found, const difference *d, const rules *set, size_t node,
                                  const regions_reading *seen)
{
    findings f = {0};
    findings_make(&f, d, set);
    for (size_t i = 0; i < f.count; i++) {
        const finding *x = &f.items[i];
        if (x->severity < SEVERITY_WATCH) continue;
        regions_finding kept = {.rule = x->rule,
                                .severity = x->severity,
                                .value = x->value,
                                .claim = memory_strdup(x->claim),
                                .node = node,
                                .host = seen->host,
                                .device = x->device,
                                .places = 1,
                                .hosts = 1,
                                .part = REGIONS_NONE};
        arrput(*found, kept);
    }
    findings_free(&f);
}

// What passed is known, in which time is not.
static void regions_forget_rates(regions_reading *seen)
{
    seen->bytes_per_s[TRAFFIC_RECEIVED] = seen->bytes_per_s[TRAFFIC_SENT] = seen->share = NAN;
    seen->busiest = REGIONS_NONE;
    seen->line_bytes_per_s = 0;
}

void regions_measure(const regions *r, size_t node, const regions_node *of, regions_reading *seen,
                     regions_finding **found)
{
    const rules *set = r->store->rules;
    regions_counters c;
    seen->state = regions_state_of(r, of, seen);
    seen->uncertain = regions_uncertain(r, of, seen);
    seen->bytes_per_s[0] = seen->bytes_per_s[1] = seen->share = seen->paused = NAN;
    seen->busiest = seen->most_paused = REGIONS_NONE;
    seen->bytes_known[0] = seen->bytes_known[1] = seen->retries_known = false;
    seen->bytes[0] = seen->bytes[1] = seen->retries = 0;
    seen->line_bytes_per_s = 0;
    if (regions_counters_make(&c, r, of, seen, NULL)) return; // it is not KNOWN
    traffic *all = traffic_make(&c.d);
    regions_add_traffic(seen, c.d.delta->schema, all);
    regions_add_retries(seen, &c.d);
    if (seen->state == REGIONS_UNCERTAIN)
        regions_forget_rates(seen);
    else if (set)
        regions_add_pauses(seen, &c.d, set);
    if (set && found && seen->state == REGIONS_KNOWN && !of->span) // spans count the same bytes several times
        regions_find_troubles(found, &c.d, set, node, seen);
    free(all);
    regions_counters_free(&c);
}

static int regions_compare_readings(const void *a, const void *b)
{
    const regions_reading *x = a, *y = b;
    if (x->host != y->host) return x->host < y->host ? -1 : 1;
    return x->view < y->view ? -1 : x->view > y->view;
}

void regions_sort_readings(regions_reading *readings, size_t count)
{
    if (count) qsort(readings, count, sizeof *readings, regions_compare_readings);
}

// ---- a node: its readings together ----

static void regions_add_to_nic(regions_nic *nic, const regions_reading *seen, size_t number, double *rates, bool *known)
{
    for (int way = 0; way < 2; way++) {
        if (!seen->bytes_known[way]) continue;
        nic->bytes_known[way] = true;
        nic->bytes[way] = sum_capped(nic->bytes[way], seen->bytes[way]);
        rates[way] += seen->bytes_per_s[way]; // NAN if one of them is not known
    }
    if (seen->bytes_known[0] || seen->bytes_known[1]) { // of UNCERTAIN ones no line rate is told
        *known &= seen->line_bytes_per_s > 0;
        nic->line_bytes_per_s += seen->line_bytes_per_s;
    }
    if (!isnan(seen->share) && !(seen->share <= nic->share)) {
        nic->share = seen->share;
        nic->busiest = number;
    }
    if (!isnan(seen->paused) && !(seen->paused <= nic->paused)) {
        nic->paused = seen->paused;
        nic->most_paused = number;
    }
    nic->retries_known |= seen->retries_known;
    nic->retries = sum_capped(nic->retries, seen->retries);
}

static bool regions_is_sampled(const regions *r, const regions_node *node)
{
    if (node->sampled) return true;
    if (node < r->nodes || node >= r->nodes + r->node_count) return false; // of regions_flat
    for (const regions_node *n = node; n < r->nodes + node->end; n++)
        if (n->sampled) return true;
    return false;
}

// Do the readings cover every rank that declared bytes: is there one of its host with all calls?
static bool regions_is_covered(const regions *r, const regions_node *node)
{
    for (size_t i = 0; i < node->cell_count; i++) {
        size_t host = r->ranks[node->cells[i].rank].host, low = 0, high = node->reading_count;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (node->readings[middle].host < host)
                low = middle + 1;
            else
                high = middle;
        }
        if (low == node->reading_count || node->readings[low].host != host ||
            node->readings[low].state != REGIONS_KNOWN || node->readings[low].unread)
            return false;
    }
    return !regions_is_sampled(r, node);
}

void regions_sum_readings(const regions *r, regions_node *node)
{
    regions_nic *nic = &node->nic;
    double rates[2] = {0, 0};
    bool lines_known = true;
    *nic = (regions_nic){.bytes_per_s = {NAN, NAN},
                         .share = NAN,
                         .paused = NAN,
                         .busiest = REGIONS_NONE,
                         .most_paused = REGIONS_NONE,
                         .sent_over_declared = NAN};
    size_t last = REGIONS_NONE;
    for (size_t i = 0; i < node->reading_count; i++) {
        const regions_reading *seen = &node->readings[i];
        uint64_t limit = regions_limit_ns(r, seen);
        if (limit > nic->limit_ns) nic->limit_ns = limit;
        if (seen->state > nic->state) nic->state = seen->state;
        if (seen->state < REGIONS_UNCERTAIN) continue;
        nic->no_port |= seen->no_port && (seen->bytes_known[0] || seen->bytes_known[1]);
        nic->uncertain = fmax(nic->uncertain, seen->uncertain);
        nic->hosts += seen->host != last;
        last = seen->host;
        regions_add_to_nic(nic, seen, i, rates, &lines_known);
    }
    for (int way = 0; way < 2; way++)
        if (nic->bytes_known[way]) nic->bytes_per_s[way] = rates[way] / (double)nic->hosts;
    nic->line_bytes_per_s = lines_known && nic->hosts ? nic->line_bytes_per_s / (double)nic->hosts : 0;
    if (nic->bytes_known[TRAFFIC_SENT] && node->bytes && regions_is_covered(r, node))
        nic->sent_over_declared = (double)nic->bytes[TRAFFIC_SENT] / (double)node->bytes;
}
