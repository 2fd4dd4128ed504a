// Facts about the logs as a whole, and what several parts of a view need.
#include "nccl_view_parts.h"

#include <math.h>

const nccl_communicator *nccl_view_communicator(const nccl_view_making *m, const nccl_series *s)
{
    return &m->n->communicators[s->communicator];
}

// ---- what was read ----

uint64_t nccl_view_unusable_lines(const uint64_t outcomes[NCCL_OUTCOMES])
{
    uint64_t sum = 0;
    for (int i = NCCL_BAD_JSON; i < NCCL_COLL; i++)
        sum += outcomes[i];
    return sum;
}

bool nccl_view_is_damaged(const nccl_file *f)
{
    return f->error || f->problem || f->cut || f->tail_cut || f->first_bad_line || f->duplicates || f->conflicts;
}

static const char *nccl_view_versions(nccl_view_making *m)
{
    const char *text = "";
    char name[16];
    for (int i = 0; i < NCCL_VERSIONS; i++)
        if (m->n->versions >> i & 1)
            text = nccl_view_format(m->v, "%s%s%s", text, *text ? ", " : "", nccl_version_name(i, name, sizeof name));
    return m->n->foreign_version ? nccl_view_format(m->v, "%s%sand one that is not known", text, *text ? ", " : "")
                                 : text;
}

void nccl_view_add_facts(nccl_view_making *m)
{
    nccl_view *v = m->v;
    const nccl *n = m->n;
    v->files = n->file_count;
    for (size_t i = 0; i < n->file_count; i++)
        v->files_damaged += nccl_view_is_damaged(&n->files[i]), v->recorded_files += n->files[i].recorded;
    v->lines = n->lines;
    v->bytes = n->size;
    v->unpacked_bytes = n->bytes;
    v->unusable = nccl_view_unusable_lines(n->outcomes);
    v->records = n->record_count;
    v->hosts = n->host_count;
    v->processes = n->process_count;
    v->communicators = n->communicator_count;
    v->calls = n->instance_count;
    for (size_t i = 0; i < n->communicator_count; i++) {
        if ((uint64_t)n->communicators[i].ranks > v->ranks) v->ranks = (uint64_t)n->communicators[i].ranks;
        v->time_us += n->communicators[i].time_us;
    }
    if (n->member_count) {
        v->first_dump_us = n->first_dump_us;
        v->last_dump_us = n->last_dump_us;
    }
    if (n->host_count) {
        v->first_host = nccl_view_text(v, n->hosts[0].name);
        v->last_host = nccl_view_text(v, n->hosts[n->host_count - 1].name);
    }
    v->versions = nccl_view_versions(m);
}

bool nccl_view_takes_part(const nccl *n, const nccl_communicator *c, uint32_t process)
{
    for (uint32_t i = 0; i < c->member_count; i++)
        if (n->members[c->first_member + i].process == process) return true;
    return false;
}

nccl_view_process nccl_view_process_row(nccl_view_making *m, uint32_t index)
{
    const nccl *n = m->n;
    const nccl_process *p = &n->processes[index];
    const nccl_waiting *w = &p->waiting;
    nccl_view_process x = {.pid = p->pid > 0 ? (uint64_t)p->pid : 0, .local = p->local, .rank = UINT64_MAX};
    x.host = nccl_view_text(m->v, n->hosts[p->host].name);
    x.name = nccl_view_format(m->v, "%lld of %s", (long long)nccl_widest_member(n, index)->rank,
                              n->communicators[nccl_widest_member(n, index)->communicator].label);
    x.judged = w->judged;
    x.last_alone = w->judged_last;
    x.behind_us = w->judged ? w->behind_us / (double)w->judged : NAN;
    x.records = w->records;
    x.last_arrivals = w->last_arrivals;
    x.cost_us = w->cost_us;
    x.caused_us = w->caused_us;
    x.suffered_us = w->suffered_us;
    x.missing = w->missing;
    x.missing_tail = w->missing_tail;
    return x;
}

const nccl_series *nccl_view_series_over_run(const nccl_view_making *m)
{
    const nccl *n = m->n;
    const nccl_finding *x = m->f->count ? &m->f->items[0] : NULL;
    uint32_t process =
        x && x->severity >= SEVERITY_WATCH && x->member != NCCL_NONE ? n->members[x->member].process : NCCL_NONE;
    const nccl_series *best = NULL;
    bool best_about = false;
    for (size_t i = 0; i < n->series_count; i++) {
        const nccl_series *s = &n->series[i];
        if (m->groups[s->communicator] != m->main_group || s->coll != m->main_coll) continue;
        bool about = process != NCCL_NONE && nccl_view_takes_part(n, nccl_view_communicator(m, s), process);
        if (best && (best_about != about ? best_about : s->time_us <= best->time_us)) continue;
        best = s;
        best_about = about;
    }
    return best;
}

size_t nccl_view_place(double at, double max, size_t cells)
{
    double cell = at / max * (double)cells;
    return cell >= (double)cells ? cells - 1 : cell > 0 ? (size_t)cell : 0;
}

// The heaviest first; equal ones in their order.
int nccl_view_by_weight(const void *a, const void *b)
{
    const nccl_view_weighed *x = a, *y = b;
    if (x->weight != y->weight) return x->weight < y->weight ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}
