// The one rank of a collective whose calls, over the run, are unlike those of all others: since which call. Its calls are
// shorter where it comes later than they do, and longer where it comes earlier and waits: that is no fault.
#include "nccl_findings_make.h"

#include "analysis/base/stb_ds.h"
#include "analysis/peers/peers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ALONE_RANKS = 3, ALONE_CALLS = 4, ALONE_WINDOWS = 64, ALONE_LEAST = 6 }; // calls: of a window

static int alone_by_sn(const void *a, const void *b)
{
    const nccl_instance *x = *(const nccl_instance *const *)a, *y = *(const nccl_instance *const *)b;
    if (x->sn != y->sn) return x->sn < y->sn ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

// The complete calls, in order.
static const nccl_instance **alone_calls(const nccl *n, const nccl_operation *o, size_t *count)
{
    const nccl_instance **calls = memory_array(NULL, o->complete, sizeof *calls);
    *count = 0;
    for (uint32_t s = o->first_series; s < o->first_series + o->series_count; s++)
        for (size_t i = 0; i < n->series[s].instance_count; i++) {
            const nccl_instance *x = &n->instances[n->series[s].first_instance + i];
            if (x->complete) calls[(*count)++] = x;
        }
    qsort(calls, *count, sizeof *calls, alone_by_sn);
    return calls;
}

static float *alone_times(const nccl *n, const nccl_communicator *c, const nccl_instance *const *calls, size_t count,
                          size_t windows)
{
    float *times = memory_calloc(c->member_count * windows, sizeof *times);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < calls[i]->count; k++) {
            const nccl_record *r = &n->records[calls[i]->first + k];
            times[(nccl_record_member(n, r) - c->first_member) * windows + i * windows / count] += (float)r->time_us;
        }
    return times;
}

// The first call of a window: the windows divide `count` calls evenly.
static size_t alone_first_call(size_t window, size_t windows, size_t count)
{
    return (window * count + windows - 1) / windows;
}

static bool alone_find(const nccl *n, uint32_t operation, nccl_alone *to)
{
    const nccl_operation *o = &n->operations[operation];
    const nccl_communicator *c = &n->communicators[o->communicator];
    size_t windows = o->complete / ALONE_CALLS < ALONE_WINDOWS ? o->complete / ALONE_CALLS : ALONE_WINDOWS, count;
    peers_outcome p;
    if (c->ranks < ALONE_RANKS || windows < ALONE_LEAST) return false;
    const nccl_instance **calls = alone_calls(n, o, &count);
    float *times = alone_times(n, c, calls, count, windows);
    peers_follow(&p, times, c->member_count, windows, 0, NULL);
    if (p.kind == PEERS_ONE) {
        double each = (double)count / (double)windows;
        size_t first = alone_first_call(p.from, windows, count), end = alone_first_call(p.to, windows, count);
        *to = (nccl_alone){.operation = operation,
                           .member = c->first_member + (uint32_t)p.odd,
                           .waits = p.value > p.centre,
                           .us = p.value / each,
                           .low_us = p.low / each,
                           .high_us = p.high / each,
                           .ratio = p.value / p.centre,
                           .extra_us = (p.value - p.centre) / each * (double)(end - first),
                           .first_sn = calls[first]->sn,
                           .last_sn = calls[end - 1]->sn,
                           .from_begin = p.from == 0,
                           .to_the_end = p.to == windows};
        to->process = n->members[to->member].process;
    }
    free(times);
    free(calls);
    return p.kind == PEERS_ONE;
}

// Of two nobody can tell which is late and which is early, but for what each of them is among more.
static void alone_note_pairs(nccl_findings_making *m)
{
    const nccl *n = m->n;
    bool *early = memory_calloc(n->process_count, sizeof *early), *late = memory_calloc(n->process_count, sizeof *late);
    for (size_t i = 0; i < arrlenu(m->alone); i++)
        (m->alone[i].waits ? early : late)[m->alone[i].process] = true;
    for (size_t i = 0; i < n->communicator_count; i++) {
        const nccl_communicator *c = &n->communicators[i];
        for (uint32_t k = 0; k < 2 && c->ranks == 2 && c->member_count == 2; k++) {
            uint32_t own = n->members[c->first_member + k].process, other = n->members[c->first_member + !k].process;
            m->beside_early[c->first_member + k] = early[other] && !early[own] && !late[own] && !late[other];
        }
    }
    free(early);
    free(late);
}

void nccl_findings_find_alone(nccl_findings_making *m)
{
    nccl_alone x;
    for (uint32_t i = 0; i < m->n->operation_count; i++)
        if (alone_find(m->n, i, &x)) arrput(m->alone, x);
    alone_note_pairs(m);
}

// ---- since when, of one that is late ----

// " from sn 400 to the end", " from sn 400 to 800", " up to sn 800"; "" for all calls.
words_text nccl_alone_when(const nccl_alone *x)
{
    words_text t = {""};
    if (x->to_the_end && !x->from_begin)
        snprintf(t.text, sizeof t.text, " from sn %llu to the end", (unsigned long long)x->first_sn);
    else if (x->from_begin && !x->to_the_end)
        snprintf(t.text, sizeof t.text, " up to sn %llu", (unsigned long long)x->last_sn);
    else if (!x->from_begin)
        snprintf(t.text, sizeof t.text, " from sn %llu to %llu", (unsigned long long)x->first_sn,
                 (unsigned long long)x->last_sn);
    return t;
}

const nccl_alone *nccl_alone_late(const nccl_findings_making *m, uint32_t process, uint32_t operation)
{
    for (size_t i = 0; i < arrlenu(m->alone); i++) {
        const nccl_alone *x = &m->alone[i];
        if (!x->waits && x->process == process && x->operation == operation) return x;
    }
    return NULL;
}

// ---- early ----

static bool alone_is_dearest(const nccl_findings_making *m, const nccl_alone *x)
{
    for (size_t i = 0; i < arrlenu(m->alone); i++) {
        const nccl_alone *other = &m->alone[i];
        if (other->process != x->process || !other->waits || other == x) continue;
        if (other->extra_us > x->extra_us || !(x->extra_us > other->extra_us || other > x)) return false;
    }
    return true;
}

static void alone_report(nccl_findings_making *m, const nccl_alone *x)
{
    const nccl *n = m->n;
    const nccl_operation *o = &n->operations[x->operation];
    const nccl_communicator *c = &n->communicators[o->communicator];
    words_text low = nccl_finding_time(x->low_us), high = nccl_finding_time(x->high_us);
    char *rank = nccl_finding_rank(n, x->member);
    nccl_finding *f = nccl_finding_add(
        m, NCCL_RULE_EARLY_RANK, SEVERITY_INFO, x->ratio,
        memory_format("%s alone waits longer in %s of communicator %s%s: its calls take %s in the "
                      "mean, those of the %u other ranks %s to %s; it comes early, and nobody waits for it",
                      rank, n->colls[o->coll], c->label, nccl_alone_when(x).text, nccl_finding_time(x->us).text,
                      c->member_count - 1, low.text, high.text));
    free(rank);
    f->host = n->processes[x->process].host;
    f->device = n->hosts[f->host].name;
    f->member = x->member;
    f->communicator = o->communicator;
    f->operation = x->operation;
    if (!x->from_begin || !x->to_the_end) {
        f->first_sn = x->first_sn;
        f->last_sn = x->last_sn;
    }
    f->to_the_end = x->to_the_end && !x->from_begin;
    nccl_finding_evidence(f, memory_strdup("pid"), (double)n->processes[x->process].pid, "");
}

// One for each process, about the collective in which it waits most; below a hundredth of their time it is not told.
void nccl_findings_early_ranks(nccl_findings_making *m)
{
    static const double told = 0.01;
    for (size_t i = 0; i < arrlenu(m->alone); i++) {
        const nccl_alone *x = &m->alone[i];
        if (x->waits && x->extra_us >= told * m->complete_us[x->process] && alone_is_dearest(m, x)) alone_report(m, x);
    }
}
