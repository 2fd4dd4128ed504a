// The lists that follow the charts: series, algorithms, processes, files, pairs.
#include "nccl_view_parts.h"

#include <math.h>
#include <stdlib.h>

// ---- the lists after the charts ----

void nccl_view_add_series(nccl_view_making *m)
{
    const nccl *n = m->n;
    nccl_view *v = m->v;
    nccl_view_weighed *order = memory_array(NULL, n->series_count, sizeof *order);
    size_t count = n->series_count < NCCL_VIEW_SERIES ? n->series_count : NCCL_VIEW_SERIES;
    v->series_left = n->series_count - count;
    v->series.items = nccl_view_take(v, count, sizeof *v->series.items);
    for (uint32_t i = 0; i < n->series_count; i++)
        order[i] = (nccl_view_weighed){n->series[i].time_us, i};
    qsort(order, n->series_count, sizeof *order, nccl_view_by_weight);
    for (size_t i = 0; i < count; i++) {
        const nccl_series *s = &n->series[order[i].index];
        const nccl_communicator *c = nccl_view_communicator(m, s);
        v->series.items[v->series.count++] = (nccl_view_series){nccl_view_text(v, c->label),
                                                                nccl_class_name(c->type),
                                                                nccl_view_text(v, n->colls[s->coll]),
                                                                (uint64_t)c->ranks,
                                                                s->size,
                                                                s->instance_count,
                                                                s->incomplete,
                                                                s->time_us,
                                                                s->spreads.wire_us,
                                                                s->spreads.skew_us,
                                                                s->spreads.bus_gbs};
    }
    free(order);
}

void nccl_view_add_paths(nccl_view_making *m)
{
    const nccl *n = m->n;
    nccl_view *v = m->v;
    v->paths.items = n->has_algorithms ? nccl_view_take(v, n->path_count, sizeof *v->paths.items) : NULL;
    for (size_t i = 0; i < n->path_count; i++) {
        const nccl_path *p = &n->paths[i];
        v->paths.items[v->paths.count++] = (nccl_view_path){nccl_class_name(p->type),
                                                            nccl_view_text(v, p->what.coll),
                                                            nccl_view_text(v, p->what.algo),
                                                            nccl_view_text(v, p->what.proto),
                                                            p->size,
                                                            p->instances,
                                                            p->wire_us,
                                                            p->bus_gbs};
    }
}

void nccl_view_add_processes(nccl_view_making *m)
{
    const nccl *n = m->n;
    nccl_view *v = m->v;
    size_t count = n->process_count < NCCL_VIEW_PROCESSES ? n->process_count : NCCL_VIEW_PROCESSES;
    nccl_view_weighed *order = memory_array(NULL, n->process_count, sizeof *order);
    v->slowest_left = n->process_count - count;
    v->slowest.items = nccl_view_take(v, count, sizeof *v->slowest.items);
    for (uint32_t i = 0; i < n->process_count; i++)
        order[i] = (nccl_view_weighed){n->processes[i].waiting.cost_us, i};
    qsort(order, n->process_count, sizeof *order, nccl_view_by_weight);
    for (size_t i = 0; i < count; i++)
        v->slowest.items[v->slowest.count++] = nccl_view_process_row(m, order[i].index);
    free(order);
}

static const char *lists_reasons(nccl_view_making *m, const nccl_file *f)
{
    const char *text = "";
    for (int i = NCCL_BAD_JSON; i < NCCL_COLL; i++)
        if (f->outcomes[i])
            text = nccl_view_format(m->v, "%s%s%llu %s", text, *text ? ", " : "", (unsigned long long)f->outcomes[i],
                                    nccl_outcome_name((nccl_outcome)i));
    return text;
}

void nccl_view_add_files(nccl_view_making *m)
{
    const nccl *n = m->n;
    nccl_view *v = m->v;
    v->damaged.items = nccl_view_take(v, NCCL_VIEW_FILES, sizeof *v->damaged.items);
    for (size_t i = 0; i < n->file_count; i++) {
        const nccl_file *f = &n->files[i];
        if (!nccl_view_is_damaged(f)) continue;
        if (v->damaged.count == NCCL_VIEW_FILES) {
            v->damaged_left++;
            continue;
        }
        const char *problem = f->error      ? strerror(f->error)
                              : f->problem  ? f->problem
                              : f->cut      ? "the compressed stream is cut"
                              : f->tail_cut ? "the last line is cut"
                                            : "";
        v->damaged.items[v->damaged.count++] = (nccl_view_file){nccl_view_text(v, f->name),
                                                                nccl_view_text(v, problem),
                                                                f->lines,
                                                                nccl_view_unusable_lines(f->outcomes),
                                                                f->first_bad_line,
                                                                f->duplicates,
                                                                f->conflicts,
                                                                lists_reasons(m, f)};
    }
}

void nccl_view_add_gone(nccl_view_making *m)
{
    const nccl *n = m->n;
    nccl_view *v = m->v;
    nccl_view_weighed *order = memory_array(NULL, n->process_count, sizeof *order);
    size_t count = 0;
    v->gone.items = nccl_view_take(v, NCCL_VIEW_FILES, sizeof *v->gone.items);
    for (uint32_t i = 0; i < n->process_count; i++)
        if (n->processes[i].waiting.missing) order[count++] = (nccl_view_weighed){n->processes[i].waiting.missing, i};
    if (count) qsort(order, count, sizeof *order, nccl_view_by_weight);
    for (size_t i = 0; i < count && i < NCCL_VIEW_FILES; i++) {
        nccl_view_process p = nccl_view_process_row(m, order[i].index);
        v->gone.items[v->gone.count++] = (nccl_view_gone){p.host, p.pid, p.missing_tail, p.missing - p.missing_tail};
    }
    v->gone_left = count - v->gone.count;
    free(order);
}

void nccl_view_add_comparison(nccl_view_making *m, const nccl_comparison *c)
{
    nccl_view *v = m->v;
    if (!c) return;
    v->compared_known = true;
    v->slower = c->slower;
    v->faster = c->faster;
    v->alike = c->alike;
    v->compared.items = nccl_view_take(v, c->count, sizeof *v->compared.items);
    for (size_t i = 0; i < c->count; i++) {
        const nccl_compared *r = &c->rows[i];
        const nccl_kind *k = r->after ? r->after : r->before;
        v->compared.items[v->compared.count++] =
            (nccl_view_compared){nccl_class_name(k->type),
                                 nccl_view_text(v, (r->after ? c->after : c->before)->colls[k->coll]),
                                 nccl_verdict_name(r->verdict),
                                 k->size,
                                 r->before ? r->before->spreads.wire_us.p50 : NAN,
                                 r->after ? r->after->spreads.wire_us.p50 : NAN,
                                 r->wire_ratio,
                                 r->skew_ratio,
                                 r->bus_ratio,
                                 r->z};
    }
}

void nccl_view_add_pairs(nccl_view_making *m)
{
    enum { PAIRS = 200 };
    const nccl *n = m->n;
    nccl_view *v = m->v;
    nccl_view_weighed *order = memory_array(NULL, n->p2p_count, sizeof *order);
    size_t count = n->p2p_count < PAIRS ? n->p2p_count : PAIRS;
    v->pairs_left = n->p2p_count - count;
    v->pairs.items = nccl_view_take(v, count, sizeof *v->pairs.items);
    for (uint32_t i = 0; i < n->p2p_count; i++)
        order[i] = (nccl_view_weighed){(uint64_t)(n->p2p[i].time_us.mean * (double)n->p2p[i].records), i};
    qsort(order, n->p2p_count, sizeof *order, nccl_view_by_weight);
    for (size_t i = 0; i < count; i++) {
        const nccl_p2p *p = &n->p2p[order[i].index];
        const nccl_member *of = &n->members[p->member];
        v->pairs.items[v->pairs.count++] =
            (nccl_view_pair){nccl_view_text(v, n->communicators[of->communicator].label),
                             nccl_view_text(v, p->operation),
                             nccl_view_text(v, n->hosts[n->processes[of->process].host].name),
                             (uint64_t)of->rank,
                             p->size,
                             p->records,
                             p->peer >= 0 ? (double)p->peer : NAN,
                             p->time_us,
                             p->bus_gbs};
    }
    free(order);
}

void nccl_view_add_metrics(nccl_view_making *m)
{
    enum { METRICS = 200 };
    const nccl *n = m->n;
    nccl_view *v = m->v;
    size_t count = n->metric_count < METRICS ? n->metric_count : METRICS;
    v->metrics_left = n->metric_count - count;
    v->metrics.items = nccl_view_take(v, count, sizeof *v->metrics.items);
    for (size_t i = 0; i < count; i++)
        v->metrics.items[v->metrics.count++] = (nccl_view_metric){
            nccl_view_text(v, n->metrics[i].name), nccl_view_text(v, n->metrics[i].labels), n->metrics[i].value};
}
