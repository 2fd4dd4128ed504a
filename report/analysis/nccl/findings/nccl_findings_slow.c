// Communicators, and hosts, that are slow on the wire.
//
// A host is slow when all communicators with it are slow beside those without it (but a tenth, own). What is normal is
// taken from communicators without the host: half of all may have it. To find it the lower quarter of them is normal,
// so that a second slow host does not hide the first; what is said is beside the middle of those without any slow host.
#include "nccl_slow.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "analysis/nccl/logs/nccl_spread.h"

#include <math.h>
#include <stdlib.h>

typedef struct slow_finding {
    nccl_findings_making *m;
    slow_wires w;
    slow_pace *paces;
    bool between; // the wire between nodes, or that within one
} slow_finding;

static bool slow_is_of(const slow_finding *s, uint32_t communicator)
{
    nccl_class type = s->m->n->communicators[communicator].type;
    return s->between ? type == NCCL_HCA_ONLY || type == NCCL_MIXED : type == NCCL_NVLINK_ONLY;
}

// ---- slow hosts ----

// How many communicators are slow that have the host, 0 unless (nearly) all are. One between nodes is as much its
// partners'.
static size_t slow_count_with(const slow_finding *s, uint32_t host, double *ratio)
{
    const uint32_t *list = s->w.communicators[host];
    size_t judged = 0, slow = 0;
    double time = 0, base = 0;
    for (size_t i = 0; i < arrlenu(list); i++) {
        const slow_pace *p = &s->paces[list[i]];
        if (!slow_is_of(s, list[i]) || s->w.has_slow[list[i]] || !slow_pace_is_judged(p)) continue;
        judged++;
        slow += slow_pace_is_slow(p);
        time += p->time_us;
        base += p->base_us;
    }
    *ratio = time / base;
    return slow >= (s->between ? 2 : 1) && 10 * (judged - slow) <= judged ? slow : 0;
}

// Has another host just the same communicators?
static bool slow_has_double(const slow_finding *s, uint32_t host)
{
    for (uint32_t other = 0; other < s->m->n->host_count; other++) {
        const uint32_t *a = s->w.communicators[host], *b = s->w.communicators[other];
        size_t i = 0, k = 0;
        bool same = other != host;
        while (same && (i < arrlenu(a) || k < arrlenu(b))) {
            while (i < arrlenu(a) && !slow_is_of(s, a[i]))
                i++;
            while (k < arrlenu(b) && !slow_is_of(s, b[k]))
                k++;
            bool at_end = i == arrlenu(a) || k == arrlenu(b);
            same = at_end ? i == arrlenu(a) && k == arrlenu(b) : a[i++] == b[k++];
        }
        if (same) return true;
    }
    return false;
}

// The host that explains most slow communicators; NCCL_NONE.
static uint32_t slow_find_host(slow_finding *s, const bool *possible)
{
    uint32_t best = NCCL_NONE;
    size_t most = 0;
    double highest = 0, ratio;
    for (uint32_t host = 0; host < s->m->n->host_count; host++) {
        if (!possible[host]) continue;
        slow_wires_set_base(&s->w, host, 0.25);
        slow_wires_paces(&s->w, s->paces);
        size_t count = slow_count_with(s, host, &ratio);
        if (!count || count < most || (count == most && ratio <= highest) || slow_has_double(s, host)) continue;
        best = host;
        most = count;
        highest = ratio;
    }
    return best;
}

// Those whose communicators are slow beside the fastest of all.
static void slow_note_possible(slow_finding *s, bool *possible)
{
    double ratio;
    slow_wires_set_base(&s->w, NCCL_NONE, 0);
    slow_wires_paces(&s->w, s->paces);
    for (uint32_t host = 0; host < s->m->n->host_count; host++)
        possible[host] = slow_count_with(s, host, &ratio) > 0;
}

static void slow_mark_host(slow_finding *s, uint32_t host, bool slow)
{
    const uint32_t *list = s->w.communicators[host];
    for (size_t i = 0; i < arrlenu(list); i++)
        if (slow_is_of(s, list[i])) s->w.has_slow[list[i]] = slow;
}

// Most hosts are not slow: otherwise there are two sorts of hosts, or of paths, and nobody is the exception.
static uint32_t *slow_find_hosts(slow_finding *s)
{
    const nccl *n = s->m->n;
    uint32_t *found = NULL, host;
    bool *possible = memory_calloc(n->host_count, sizeof *possible);
    slow_note_possible(s, possible);
    while ((host = slow_find_host(s, possible)) != NCCL_NONE) {
        slow_mark_host(s, host, true);
        possible[host] = false;
        arrput(found, host);
    }
    free(possible);
    if (2 * arrlenu(found) < n->host_count) return found;
    for (size_t i = 0; i < arrlenu(found); i++)
        slow_mark_host(s, found[i], false);
    arrfree(found);
    return NULL;
}

// What the host costs most in: one kind on communicators with it, beside those without.
typedef struct slow_kind {
    const nccl_series *series; // one of them
    double with_us, base_us, excess_us;
} slow_kind;

static slow_kind slow_dearest_kind(slow_finding *s, uint32_t host)
{
    slow_kind best = {NULL, 0, 0, 0};
    for (size_t i = 0; i < s->w.group_count; i++) {
        const slow_group *g = &s->w.groups[i];
        slow_kind x = {NULL, 0, g->base_us, 0};
        size_t count = 0;
        for (size_t k = g->first; k < g->first + g->count && g->base_us > 0; k++) {
            const nccl_series *of = s->w.series[k];
            if (!slow_is_of(s, of->communicator) || !slow_has_host(&s->w, of->communicator, host)) continue;
            x.series = of;
            x.excess_us += (of->spreads.wire_us.p50 - g->base_us) * (double)of->instance_count;
            s->w.work[count++] = of->spreads.wire_us.p50;
        }
        if (!count || (best.series && x.excess_us <= best.excess_us)) continue;
        best = x;
        best.with_us = nccl_median_of(s->w.work, count);
    }
    return best;
}

// In communicators with the host, summed; and what it is for each of its ranks in them, beside their time.
typedef struct slow_cost {
    double time_us, base_us, lost_us, rank_time_us;
    size_t with, slow_with, without, slow_without; // that were judged; without: neither it nor another slow host
    bool others;                                   // there are other slow hosts
} slow_cost;

static slow_cost slow_cost_of(const slow_finding *s, uint32_t host)
{
    const nccl *n = s->m->n;
    slow_cost cost = {0};
    for (uint32_t i = 0; i < n->communicator_count; i++) {
        const nccl_communicator *c = &n->communicators[i];
        const slow_pace *p = &s->paces[i];
        if (!slow_is_of(s, i) || !slow_pace_is_judged(p)) continue;
        if (!slow_has_host(&s->w, i, host)) {
            cost.others |= s->w.has_slow[i];
            cost.without += !s->w.has_slow[i];
            cost.slow_without += !s->w.has_slow[i] && slow_pace_is_slow(p);
            continue;
        }
        cost.with++;
        cost.slow_with += slow_pace_is_slow(p);
        cost.time_us += p->time_us;
        cost.base_us += p->base_us;
        for (uint32_t k = c->first_member; k < c->first_member + c->member_count; k++)
            if (n->processes[n->members[k].process].host == host) cost.lost_us += p->time_us - p->base_us;
    }
    const nccl_host *h = &n->hosts[host];
    for (uint32_t p = h->first_process; p < h->first_process + h->process_count; p++)
        cost.rank_time_us += s->m->time_us[p];
    return cost;
}

static void slow_report_host(slow_finding *s, uint32_t host)
{
    const nccl *n = s->m->n;
    slow_kind k = slow_dearest_kind(s, host);
    slow_cost cost = slow_cost_of(s, host);
    if (!k.series || !cost.slow_with) return;
    double excess = cost.time_us - cost.base_us, share = cost.lost_us / cost.rank_time_us,
           ratio = k.with_us / k.base_us;
    nccl_finding *x = nccl_finding_add(
        s->m, NCCL_RULE_SLOW_HOST, nccl_finding_severity(share), ratio,
        memory_format("communicators %s with host %s are slow on the wire (%zu of %zu judged; without %s %zu of %zu): "
                      "%s of %s takes %s times as long (%s, not %s), which cost %s of the time of its collectives",
                      s->between ? "between nodes" : "within a node", n->hosts[host].name, cost.slow_with, cost.with,
                      cost.others ? "a slow host" : "it", cost.slow_without, cost.without, n->colls[k.series->coll],
                      words_binary((double)k.series->size).text, words_number(ratio).text,
                      nccl_finding_time(k.with_us).text, nccl_finding_time(k.base_us).text,
                      nccl_finding_cost(excess, share).text));
    x->device = n->hosts[host].name;
    x->host = host;
    x->series = (uint32_t)(k.series - n->series);
    x->cost_us = excess;
    x->cost_share = share;
    nccl_finding_evidence(x, memory_strdup("communicators with it"), (double)cost.with, "");
    nccl_finding_evidence(x, memory_strdup("communicators without it"), (double)cost.without, "");
    nccl_finding_evidence(x, memory_strdup("all their wire time beside that of their equals"),
                          cost.time_us / cost.base_us, "x");
}

// ---- slow communicators ----

static void slow_add_hosts(nccl_finding *x, const nccl *n, const nccl_communicator *c)
{
    for (uint32_t k = 0, shown = 0; k < c->member_count && shown < 4; k++) {
        const nccl_process *process = &n->processes[n->members[c->first_member + k].process];
        if (k && n->processes[n->members[c->first_member + k - 1].process].host == process->host) continue;
        nccl_finding_evidence(x, memory_format("host %s, rank", n->hosts[process->host].name),
                              (double)n->members[c->first_member + k].rank, "");
        shown++;
    }
}

static double slow_base_of(const slow_wires *w, const nccl_series *s)
{
    for (size_t i = 0; i < w->group_count; i++)
        if (slow_are_equals(w, w->series[w->groups[i].first], s)) return w->groups[i].base_us;
    return NAN;
}

static void slow_report(slow_finding *f, uint32_t communicator)
{
    const nccl *n = f->m->n;
    const slow_pace *p = &f->paces[communicator];
    const nccl_series *s = &n->series[p->series];
    const nccl_communicator *c = &n->communicators[communicator];
    double excess = p->time_us - p->base_us, time = 0, base = slow_base_of(&f->w, s), p50 = s->spreads.wire_us.p50;
    for (uint32_t k = c->first_member; k < c->first_member + c->member_count; k++)
        time += f->m->time_us[n->members[k].process];
    double share = excess * c->member_count / time;
    nccl_finding *x = nccl_finding_add(
        f->m, NCCL_RULE_SLOW_COMMUNICATOR, nccl_finding_severity(share), p50 / base,
        memory_format("communicator %s is slow on the wire: %s of %s takes %s times as long as on its equals "
                      "(%s, not %s), which cost %s of the time of its ranks' collectives",
                      c->label, n->colls[s->coll], words_binary((double)s->size).text, words_number(p50 / base).text,
                      nccl_finding_time(p50).text, nccl_finding_time(base).text,
                      nccl_finding_cost(excess, share).text));
    x->device = c->label;
    x->communicator = communicator;
    x->series = p->series;
    x->cost_us = excess;
    x->cost_share = share;
    nccl_finding_evidence(x, memory_strdup("all its wire time beside that of its equals"), slow_pace_ratio(p), "x");
    slow_add_hosts(x, n, c);
}

// ---- all ----

// What could be found at least, where anything could.
static void slow_note_judged(slow_finding *s)
{
    nccl_judged *what = &s->m->f->what;
    for (uint32_t i = 0; i < s->m->n->communicator_count; i++) {
        const slow_pace *p = &s->paces[i];
        if (!slow_pace_is_judged(p)) continue;
        double least = exp(NCCL_BY_CHANCE * slow_pace_error(p));
        double limit = fmax(least, nccl_finding_rules[NCCL_RULE_SLOW_COMMUNICATOR].limit);
        s->m->f->judged++;
        s->m->wire_judged[i] = true;
        if (!(what->wire_ratio >= limit)) what->wire_ratio = limit;
    }
}

void nccl_findings_slow(nccl_findings_making *m)
{
    const nccl *n = m->n;
    slow_finding s = {.m = m, .paces = memory_array(NULL, n->communicator_count, sizeof *s.paces)};
    uint32_t *hosts[2];
    slow_wires_make(&s.w, n);
    for (int between = 0; between < 2; between++) {
        s.between = between;
        hosts[between] = slow_find_hosts(&s);
    }
    slow_wires_set_base(&s.w, NCCL_NONE, 0.5);
    slow_wires_paces(&s.w, s.paces);
    slow_note_judged(&s);
    for (int between = 0; between < 2; between++) {
        s.between = between;
        for (size_t i = 0; i < arrlenu(hosts[between]); i++)
            slow_report_host(&s, hosts[between][i]);
        arrfree(hosts[between]);
    }
    for (uint32_t i = 0; i < n->communicator_count; i++)
        if (!s.w.has_slow[i] && slow_pace_is_slow(&s.paces[i])) slow_report(&s, i);
    slow_wires_free(&s.w);
    free(s.paces);
}
