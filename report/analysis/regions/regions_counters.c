#include "regions_counters.h"

#include "analysis/base/saturating_sum.h"
#include "analysis/data/dataset_model.h"
#include "regions_store.h"

#include <string.h>

// Does its driver refresh it too seldom for calls of this length?
static bool regions_is_stale(const netprof_schema *schema, const netprof_counter *c, double call_ns)
{
    const netprof_device *dev = &schema->devices[c->device];
    if (!(c->flags & NETPROF_SLOW_REFRESH)) return false;
    const char *age = netprof_fact_of(dev->facts, dev->fact_count, "lifespan_ms");
    return age && call_ns < REGIONS_TOO_SHORT_FOLD * 1e6 * strtod(age, NULL);
}

static void regions_fill_delta(netprof_delta *delta, const regions_host_view *hv, const uint64_t *values, size_t count,
                               int64_t time_ns, double call_ns)
{
    const netprof_schema *schema = delta->schema;
    for (size_t i = 0; i < schema->counter_count; i++)
        delta->elapsed_ns[i] = time_ns;
    for (size_t i = 0; i < count; i++) {
        size_t at = hv->columns ? hv->columns[i] : i;
        if (at == UINT32_MAX) continue;
        const netprof_counter *c = &schema->counters[at];
        bool counts = c->kind == NETPROF_KIND_COUNTER || c->kind == NETPROF_KIND_HISTOGRAM;
        if (!counts || regions_is_stale(schema, c, call_ns)) continue;
        delta->after[at] = delta->values[at] = values[i];
        delta->before_status[at] = delta->after_status[at] = NETPROF_STATUS_OK;
        delta->flags[at] = NETPROF_FLAG_OK;
    }
}

netprof_err regions_counters_make(regions_counters *c, const regions *r, const regions_node *node,
                                  const regions_reading *seen, netprof_error *error)
{
    const regions_host_view *hv = &r->store->host_views[seen->view];
    const regions_rank *rank = &r->ranks[seen->rank];
    const netprof_schema *view = r->store->views[hv->view].schema;
    int64_t time_ns = seen->time_ns < INT64_MAX ? (int64_t)seen->time_ns : INT64_MAX;
    *c = (regions_counters){.d = {0}};
    if (seen->state < REGIONS_UNCERTAIN)
        return regions_fail(error, NETPROF_ERR_ARG, NULL, "the region has no counters there");
    uint64_t *values = memory_calloc(view->counter_count, sizeof *values);
    regions_unpack_add(seen->values, values, view->counter_count);
    dataset_blank_delta(&c->delta, r->hosts[seen->host].schema); // its statuses are SKIPPED
    memset(c->delta.flags, NETPROF_FLAG_UNKNOWN, c->delta.schema->counter_count);
    regions_fill_delta(&c->delta, hv, values, view->counter_count, time_ns, regions_reading_call_ns(node, seen));
    free(values);
    c->delta.wall_begin_ns = rank->wall_ns;
    c->delta.wall_end_ns = sum_capped_signed(rank->wall_ns, time_ns);
    c->delta.interval_ns = time_ns;
    c->delta.sweep_ns = rank->sweep_ns;
    difference_of_delta(&c->d, &c->delta);
    return NETPROF_OK;
}

void regions_counters_free(regions_counters *c)
{
    difference_free(&c->d);
    free(c->delta.memory); // the schema is the host's
    *c = (regions_counters){.d = {0}};
}
