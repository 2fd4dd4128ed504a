// From the whole of the logs to the figures that a report shows.
#include "nccl_view.h"

#include "nccl_view_parts.h"

#include <math.h>
#include <stdlib.h>

// ---- all ----

static void nccl_view_make_first_page(nccl_view_making *m)
{
    nccl_view_lots l;
    nccl_view_make_lots(m, &l);
    nccl_view_choose_main(m, &l);
    nccl_view_add_rows(m, &l);
    nccl_view_add_sizes(m, &l);
    nccl_view_free_lots(&l);
    const nccl_series *s = m->main_group == NCCL_NONE ? NULL : nccl_view_series_over_run(m);
    m->v->late_floor_us = s ? s->spreads.wire_us.p50 / 10 : NAN;
    nccl_view_add_completeness(m);
    nccl_view_add_late(m);
    nccl_view_add_run(m);
}

void nccl_view_make(nccl_view *v, const nccl *n, const nccl_findings *f, const nccl_comparison *comparison,
                    const nccl_counters *counters)
{
    nccl_view_making m = {.v = v, .n = n, .f = f, .values = memory_array(NULL, n->instance_count, sizeof(double))};
    nccl_view_begin(v);
    nccl_view_make_groups(&m);
    nccl_view_add_facts(&m);
    nccl_view_add_findings(&m);
    nccl_view_make_first_page(&m);
    nccl_view_add_kinds(&m);
    nccl_view_add_series(&m);
    nccl_view_add_processes(&m);
    nccl_view_add_gone(&m);
    nccl_view_add_pairs(&m);
    nccl_view_add_paths(&m);
    nccl_view_add_files(&m);
    nccl_view_add_comparison(&m, comparison);
    nccl_view_add_metrics(&m);
    nccl_view_add_counters(&m, counters);
    nccl_view_add_matrices(&m);
    nccl_view_add_waits(&m);
    nccl_view_add_adapters(&m);
    v->verdict = nccl_view_title(&m);
    nccl_view_say_all(&m);
    free(m.groups);
    free(m.values);
}
