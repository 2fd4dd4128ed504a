// What transfers waited for, by collective and by process, and through which adapters they went.
#include "nccl_view_parts.h"

#include "analysis/base/saturating_sum.h"
#include "analysis/nccl/findings/nccl_places.h"
#include "analysis/nccl/findings/nccl_waits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- by collective ----

static const char *waits_name(nccl_view_making *m, uint32_t process)
{
    const nccl_member *of = nccl_widest_member(m->n, process);
    return nccl_view_format(m->v, "%lld of %s", (long long)of->rank, m->n->communicators[of->communicator].label);
}

static nccl_view_waiting waits_row(nccl_view_making *m, uint32_t process, uint64_t calls, const nccl_split *s)
{
    const nccl_process *p = &m->n->processes[process];
    return (nccl_view_waiting){.name = waits_name(m, process),
                               .host = nccl_view_text(m->v, m->n->hosts[p->host].name),
                               .pid = p->pid > 0 ? (uint64_t)p->pid : 0,
                               .calls = calls,
                               .sent = s->sent,
                               .received = s->received,
                               .sent_bytes = s->sent_bytes,
                               .received_bytes = s->received_bytes,
                               .gpu_us = s->gpu_us,
                               .credit_us = s->credit_us,
                               .wire_us = s->wire_us,
                               .data_us = s->receive_us,
                               .flush_us = s->flush_us,
                               .consume_us = s->consume_us,
                               .sent_at_least = s->sent_at_least,
                               .received_at_least = s->received_at_least};
}

// qsort() hands nothing on.
typedef struct waits_step {
    double us; // of a sending step, where there are any; else of a receiving one
    uint32_t index;
} waits_step;

static int waits_by_step(const void *a, const void *b)
{
    const waits_step *x = a, *y = b;
    if (x->us != y->us) return x->us > y->us ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static double waits_step_us(const nccl_split *s)
{
    if (s->sent) return nccl_split_send_us(s) / (double)s->sent;
    return s->received ? nccl_split_receive_us(s) / (double)s->received : 0;
}

static void waits_add_ranks(nccl_view_making *m, nccl_view_wait *to, const nccl_waits *w, const nccl_waits_row *row)
{
    const nccl *n = m->n;
    waits_step *order = memory_array(NULL, row->count, sizeof *order);
    for (size_t i = 0; i < row->count; i++) {
        nccl_split s = nccl_spent_split(n, &n->spent[w->ranks[row->first + i]]);
        order[i] = (waits_step){waits_step_us(&s), w->ranks[row->first + i]};
    }
    qsort(order, row->count, sizeof *order, waits_by_step);
    to->items.items = nccl_view_take(m->v, NCCL_VIEW_WAITING, sizeof *to->items.items);
    for (size_t i = 0; i < row->count && i < NCCL_VIEW_WAITING; i++) {
        const nccl_spent *x = &n->spent[order[i].index];
        nccl_split s = nccl_spent_split(n, x);
        to->items.items[to->items.count++] = waits_row(m, n->members[x->member].process, x->calls, &s);
    }
    free(order);
}

static void waits_add_collectives(nccl_view_making *m)
{
    const nccl *n = m->n;
    nccl_view *v = m->v;
    nccl_waits w;
    nccl_waits_make(&w, n);
    v->waits.items = nccl_view_take(v, NCCL_VIEW_WAITS, sizeof *v->waits.items);
    for (size_t i = 0; i < w.count && i < NCCL_VIEW_WAITS; i++) {
        const nccl_waits_row *row = &w.items[i];
        nccl_view_wait *to = &v->waits.items[v->waits.count++];
        *to = (nccl_view_wait){.label = nccl_view_text(v, n->communicators[row->communicator].label),
                               .coll = nccl_view_text(v, row->coll),
                               .mostly = nccl_split_mostly(&row->sum),
                               .longest =
                                   row->longest == NCCL_NONE ? "" : waits_name(m, n->members[row->longest].process),
                               .size = row->size,
                               .calls = row->calls,
                               .ranks = row->count,
                               .gpu_us = row->sum.gpu_us,
                               .credit_us = row->sum.credit_us,
                               .wire_us = row->sum.wire_us,
                               .data_us = row->sum.receive_us,
                               .flush_us = row->sum.flush_us,
                               .consume_us = row->sum.consume_us,
                               .middle_us = row->middle_us,
                               .longest_us = row->longest_us};
        waits_add_ranks(m, to, &w, row);
    }
    v->waits_left = w.count - v->waits.count;
    v->untied = n->untied;
    nccl_waits_free(&w);
}

// ---- by process ----

static void waits_add_processes(nccl_view_making *m)
{
    const nccl *n = m->n;
    nccl_view *v = m->v;
    nccl_split *splits = nccl_splits_make(n);
    waits_step *order = memory_array(NULL, n->process_count, sizeof *order);
    size_t count = 0;
    for (uint32_t i = 0; i < n->process_count; i++)
        if (splits[i].sent || splits[i].received) order[count++] = (waits_step){waits_step_us(&splits[i]), i};
    if (count) qsort(order, count, sizeof *order, waits_by_step);
    v->transfers.items = nccl_view_take(v, NCCL_VIEW_TRANSFERS, sizeof *v->transfers.items);
    for (size_t i = 0; i < count && i < NCCL_VIEW_TRANSFERS; i++)
        v->transfers.items[v->transfers.count++] = waits_row(m, order[i].index, 0, &splits[order[i].index]);
    v->transfers_left = count - v->transfers.count;
    free(order);
    free(splits);
}

void nccl_view_add_waits(nccl_view_making *m)
{
    waits_add_collectives(m);
    waits_add_processes(m);
}

// ---- adapters ----

typedef struct adapters_row {
    uint32_t process;
    const char *transport, *direction, *adapter;
    int64_t device;
    uint64_t requests, bytes;
    const nccl_finding *finding; // that names this process, or its host; NULL: none
} adapters_row;

static int adapters_by_place(const void *a, const void *b)
{
    const adapters_row *x = a, *y = b;
    if (x->process != y->process) return x->process < y->process ? -1 : 1;
    int order = -strcmp(x->direction, y->direction); // sending first
    if (!order) order = strcmp(x->transport, y->transport);
    if (!order && x->device != y->device) order = x->device < y->device ? -1 : 1;
    return order ? order : strcmp(x->adapter, y->adapter);
}

static int adapters_by_finding(const void *a, const void *b)
{
    const adapters_row *x = a, *y = b;
    if (!x->finding != !y->finding) return x->finding ? -1 : 1;
    return adapters_by_place(a, b);
}

static const char *adapters_remark(const nccl_finding *f)
{
    static const char *const remarks[][2] = {{"nccl-unequal-members", "unequal members"},
                                             {"nccl-other-adapter", "unlike its place elsewhere"},
                                             {"nccl-sockets", "sockets, others RDMA"},
                                             {"nccl-rdma-unused", "RDMA is there"}};
    for (size_t i = 0; i < sizeof remarks / sizeof *remarks; i++)
        if (strcmp(f->rule->name, remarks[i][0]) == 0) return remarks[i][1];
    return NULL;
}

static const nccl_finding *adapters_finding(const nccl_view_making *m, uint32_t process)
{
    const nccl *n = m->n;
    for (size_t i = 0; i < m->f->count; i++) {
        const nccl_finding *f = &m->f->items[i];
        if (!adapters_remark(f)) continue;
        if (f->member != NCCL_NONE ? n->members[f->member].process == process : f->host == n->processes[process].host)
            return f;
    }
    return NULL;
}

static adapters_row *adapters_gather(const nccl_view_making *m, size_t *count)
{
    const nccl *n = m->n;
    adapters_row *rows = memory_array(NULL, n->used_count, sizeof *rows);
    size_t kept = 0;
    for (size_t i = 0; i < n->used_count; i++) {
        const nccl_used *x = &n->used[i];
        rows[i] = (adapters_row){n->members[x->member].process,
                                 x->transport,
                                 x->direction,
                                 x->adapter,
                                 x->device,
                                 x->requests,
                                 x->bytes,
                                 NULL};
    }
    if (n->used_count) qsort(rows, n->used_count, sizeof *rows, adapters_by_place);
    for (size_t i = 0; i < n->used_count; i++) {
        if (kept && adapters_by_place(&rows[kept - 1], &rows[i]) == 0) {
            rows[kept - 1].requests = sum_capped(rows[kept - 1].requests, rows[i].requests);
            rows[kept - 1].bytes = sum_capped(rows[kept - 1].bytes, rows[i].bytes);
        } else {
            rows[kept++] = rows[i];
        }
    }
    *count = kept;
    return rows;
}

static void adapters_add(nccl_view_making *m, const adapters_row *x, const double *sent)
{
    nccl_view *v = m->v;
    const nccl_process *p = &m->n->processes[x->process];
    bool sends = strcmp(x->direction, "send") == 0, receives = strcmp(x->direction, "recv") == 0;
    const char *either = strchr(x->adapter, '|') ? "one of " : "";
    v->adapters.items[v->adapters.count++] =
        (nccl_view_adapter){.name = waits_name(m, x->process),
                            .host = nccl_view_text(v, m->n->hosts[p->host].name),
                            .way = sends      ? "sends"
                                   : receives ? "receives"
                                              : "not known",
                            .by = strcmp(x->transport, "ib") == 0 ? "RDMA" : "sockets",
                            .adapter = nccl_view_format(v, "%s%s", either, x->adapter),
                            .remark = sends && x->finding ? adapters_remark(x->finding) : "",
                            .pid = p->pid > 0 ? (uint64_t)p->pid : 0,
                            .requests = x->requests,
                            .severity = sends && x->finding ? x->finding->severity : SEVERITY_OK,
                            .member = x->device >= 0 ? (double)x->device : NAN,
                            .bytes = x->bytes || !receives ? (double)x->bytes : NAN,
                            .share = sends && sent[x->process] > 0 ? (double)x->bytes / sent[x->process] : NAN};
}

static void adapters_add_crossing(nccl_view_making *m)
{
    nccl_peers peers;
    nccl_places places;
    nccl_peers_make(&peers, m->n);
    nccl_places_make(&places, m->n, &peers);
    nccl_crossing c = nccl_crossing_of(&places, m->n, &peers);
    m->v->between_bytes = c.between;
    m->v->across_bytes = c.across;
    m->v->places_by_adapter = places.by_adapter;
    nccl_places_free(&places);
    nccl_peers_free(&peers);
}

void nccl_view_add_adapters(nccl_view_making *m)
{
    nccl_view *v = m->v;
    size_t count;
    if (!m->n->used_count) return;
    adapters_row *rows = adapters_gather(m, &count);
    double *sent = memory_calloc(m->n->process_count, sizeof *sent);
    for (size_t i = 0; i < count; i++) {
        rows[i].finding = adapters_finding(m, rows[i].process);
        if (strcmp(rows[i].direction, "send") == 0) sent[rows[i].process] += (double)rows[i].bytes;
    }
    qsort(rows, count, sizeof *rows, adapters_by_finding);
    v->adapters.items = nccl_view_take(v, NCCL_VIEW_ADAPTERS, sizeof *v->adapters.items);
    for (size_t i = 0; i < count && i < NCCL_VIEW_ADAPTERS; i++)
        adapters_add(m, &rows[i], sent);
    v->adapters_left = count - v->adapters.count;
    adapters_add_crossing(m);
    free(sent);
    free(rows);
}
