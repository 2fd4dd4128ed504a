// Completeness of the logs, and who arrives late.
#include "nccl_view_parts.h"

#include <math.h>
#include <stdlib.h>

// ---- completeness ----

static void complete_add_reason(nccl_view_making *m, const char *what, uint64_t count)
{
    nccl_view *v = m->v;
    if (count && v->reasons.items) v->reasons.items[v->reasons.count++] = (nccl_view_reason){what, count};
}

// "h27, 8 processes": who misses most of these, and how many do.
static const char *complete_where_missing(nccl_view_making *m, bool tail)
{
    const nccl *n = m->n;
    uint64_t most = 0, processes = 0;
    const char *host = "";
    for (size_t i = 0; i < n->host_count; i++) {
        const nccl_waiting *w = &n->hosts[i].waiting;
        uint64_t count = tail ? w->missing_tail : w->missing - w->missing_tail;
        if (count <= most) continue;
        most = count;
        host = n->hosts[i].name;
    }
    for (size_t i = 0; i < n->process_count; i++) {
        const nccl_waiting *w = &n->processes[i].waiting;
        processes += (tail ? w->missing_tail : w->missing - w->missing_tail) > 0;
    }
    return processes > 1 ? nccl_view_format(m->v, "%llu processes, most on %s", (unsigned long long)processes, host)
                         : host;
}

void nccl_view_add_completeness(nccl_view_making *m)
{
    const nccl *n = m->n;
    nccl_view *v = m->v;
    uint64_t missing = 0, tail = 0, absent = 0, dropped = 0;
    for (size_t i = 0; i < n->communicator_count; i++) {
        const nccl_communicator *c = &n->communicators[i];
        if (c->ranks < 2) continue;
        v->completeness_known = true;
        v->ranks_seen += c->member_count;
        v->ranks_expected += (uint64_t)c->ranks;
        v->records_seen += c->records;
        v->records_expected += c->records + c->missing;
        v->calls_judgeable += c->instances;
        v->calls_complete += c->complete;
        missing += c->missing, tail += c->missing_tail, absent += c->missing_absent;
    }
    for (size_t i = 0; i < n->member_count; i++)
        dropped += n->members[i].stats.coll_dropped;
    v->reasons.items = nccl_view_take(v, 12, sizeof *v->reasons.items);
    uint64_t between = missing - tail - absent;
    if (between)
        complete_add_reason(
            m, nccl_view_format(v, "lost in between, others have them (%s)", complete_where_missing(m, false)),
            between);
    if (tail)
        complete_add_reason(m, nccl_view_format(v, "after the end of a log (%s)", complete_where_missing(m, true)),
                            tail);
    complete_add_reason(m, "of ranks without any log", absent);
    complete_add_reason(m, "dropped, by the plugin's own count (in part the same)", dropped);
    complete_add_reason(m, "lines that cannot be used", v->unusable);
    complete_add_reason(m, "duplicates, left out", n->duplicates);
    complete_add_reason(m, "conflicting records, left out", n->conflicts);
}

// ---- who is late ----

typedef struct arrival {
    double behind_us;
    uint64_t judged, last;
    int64_t rank;
    bool takes_part;
} arrival;

static void lateness_gather(const nccl_view_making *m, arrival *all)
{
    const nccl *n = m->n;
    for (size_t i = 0; i < n->operation_count; i++) {
        const nccl_operation *o = &n->operations[i];
        const nccl_communicator *c = &n->communicators[o->communicator];
        if (m->groups[o->communicator] != m->main_group || o->coll != m->main_coll) continue;
        for (uint32_t k = 0; k < c->member_count; k++) {
            const nccl_member *member = &n->members[c->first_member + k];
            const nccl_waiting *w = &n->arrivals[o->first_arrival + k];
            arrival *a = &all[member->process];
            a->behind_us += w->behind_us;
            a->judged += w->judged;
            a->last += w->judged_last;
            a->rank = member->rank;
            a->takes_part = true;
        }
    }
}

// In all collectives, for a map of everybody.
static void lateness_gather_all(const nccl_view_making *m, arrival *all)
{
    const nccl *n = m->n;
    for (uint32_t i = 0; i < n->process_count; i++) {
        const nccl_waiting *w = &n->processes[i].waiting;
        const nccl_member *wide = nccl_widest_member(n, i);
        if (!w->records || !wide) continue;
        all[i] = (arrival){w->behind_us, w->judged, w->judged_last, wide->rank, true};
    }
}

// Are at least half of the processes in it?
static bool lateness_is_of_most(const nccl_view_making *m, const arrival *all)
{
    size_t there = 0;
    for (size_t i = 0; i < m->n->process_count; i++)
        there += all[i].takes_part;
    return 2 * there >= m->n->process_count;
}

typedef struct chosen_host {
    uint32_t host;
    double worst_us;
} chosen_host;

static int lateness_by_worst(const void *a, const void *b)
{
    const chosen_host *x = a, *y = b;
    if (x->worst_us != y->worst_us) return x->worst_us < y->worst_us ? 1 : -1;
    return (x->host > y->host) - (x->host < y->host);
}

static int lateness_by_host(const void *a, const void *b)
{
    const chosen_host *x = a, *y = b;
    return (x->host > y->host) - (x->host < y->host);
}

static double lateness_mean(const arrival *a)
{
    return a->judged ? a->behind_us / (double)a->judged : NAN;
}

// All hosts that take part; of too many the latest, and only those above the floor.
static size_t lateness_choose_hosts(nccl_view_making *m, const arrival *all, chosen_host *hosts)
{
    const nccl *n = m->n;
    size_t count = 0, kept;
    for (uint32_t i = 0; i < n->host_count; i++) {
        chosen_host h = {i, 0};
        bool any = false;
        for (uint32_t k = n->hosts[i].first_process; k < n->hosts[i].first_process + n->hosts[i].process_count; k++) {
            any |= all[k].takes_part;
            h.worst_us = fmax(h.worst_us, lateness_mean(&all[k]));
        }
        if (any) hosts[count++] = h;
    }
    m->v->late_hosts = count;
    if (count <= NCCL_VIEW_HOSTS) return count;
    qsort(hosts, count, sizeof *hosts, lateness_by_worst);
    for (kept = 0; kept < NCCL_VIEW_HOSTS && (kept < 8 || hosts[kept].worst_us > m->v->late_floor_us);)
        kept++;
    m->v->late_hosts_left = count - kept;
    qsort(hosts, kept, sizeof *hosts, lateness_by_host);
    return kept;
}

static void lateness_add_host(nccl_view_making *m, const arrival *all, uint32_t host)
{
    nccl_view *v = m->v;
    const nccl_host *h = &m->n->hosts[host];
    for (uint32_t i = h->first_process; i < h->first_process + h->process_count; i++) {
        nccl_view_process x = nccl_view_process_row(m, i);
        x.judged = all[i].judged;
        x.last_alone = all[i].last;
        x.behind_us = lateness_mean(&all[i]);
        x.rank = all[i].takes_part ? (uint64_t)all[i].rank : UINT64_MAX;
        if (x.local + 1 > v->late_rows) v->late_rows = x.local + 1;
        v->late.items[v->late.count++] = x;
    }
}

void nccl_view_add_late(nccl_view_making *m)
{
    const nccl *n = m->n;
    nccl_view *v = m->v;
    arrival *all = memory_calloc(n->process_count, sizeof *all);
    chosen_host *hosts = memory_calloc(n->host_count, sizeof *hosts);
    v->late.items = nccl_view_take(v, n->process_count, sizeof *v->late.items);
    if (m->main_group != NCCL_NONE && n->communicators[m->main_group].ranks > 1) {
        lateness_gather(m, all);
        v->late_all = !lateness_is_of_most(m, all);
        if (v->late_all) lateness_gather_all(m, all);
        size_t count = lateness_choose_hosts(m, all, hosts);
        for (size_t i = 0; i < count; i++)
            lateness_add_host(m, all, hosts[i].host);
    }
    free(all);
    free(hosts);
}
