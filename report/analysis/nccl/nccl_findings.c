#define _GNU_SOURCE // asprintf
#include "nccl_findings.h"

#include "nccl_private.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

// ---- the rules ----

enum {
    LATE_RANK,
    OFTEN_LATE,
    LATE_HOST,
    SLOW_HOST,
    SLOW_COMMUNICATOR,
    SLOWER,
    FASTER,
    BELOW_PEAK,
    WIRE_CHANGE,
    SKEW,
    SLOW_PAIR,
    PLUGIN_DROPPED,
    RECORDS_MISSING,
    LOGS_DAMAGED,
    CONFLICTS,
    DISAGREEING,
    INVALID_SIZES,
    DUPLICATES,
    MEAN_MISLEADS,
    NIC_COUNTERS,
    RULES
};

static const nccl_rule table[RULES + 1] = {
    [LATE_RANK] = {"nccl-late-rank", "late", "of calls", 0.5,
                   "own: last, alone, in more than half of the complete calls, and not by chance (z > 5)",
                   "look at this process: GPU clocks, data loader, CPU placement, other load on its cores"},
    [OFTEN_LATE] = {"nccl-often-late", "late", "of calls", 3,
                    "own: last three times as often as its share, not by chance",
                    "look at this process: GPU clocks, data loader, CPU placement, other load on its cores"},
    [LATE_HOST] = {"nccl-late-host", "late", "of calls", 0.5,
                   "own: last, alone, in more than half of the complete calls over several hosts, and not by "
                   "chance (z > 5)",
                   "look at this host as a whole: power and clock limits, memory, other jobs, storage"},
    [SLOW_HOST] = {"nccl-slow-host", "wire", "x", 1.25,
                   "own: every communicator with this host, and none without, takes a quarter longer than its equals",
                   "look at the NICs and links of this host: netprof check, cables, PCIe width, NVLink state"},
    [SLOW_COMMUNICATOR] = {"nccl-slow-communicator", "wire", "x", 1.25,
                           "own: the median wire time is a quarter above the median of its equals",
                           "compare its hosts, switches and rails with those of the others"},
    [SLOWER] = {"nccl-slower", "wire", "x", 1 + NCCL_COMPARE_CHANGE,
                "own: median wire time of the compared job + 10 %, and not by chance (z > 5)",
                "compare nodes, placement, NCCL version and settings (NCCL_DEBUG=INFO) of the two jobs"},
    [FASTER] = {"nccl-faster", "wire", "x", 1 + NCCL_COMPARE_CHANGE,
                "own: median wire time of the compared job - 9 %, and not by chance (z > 5)", ""},
    [BELOW_PEAK] = {"nccl-below-peak", "wire", "of the peak", 0.5,
                    "own: the largest message reaches less than half of the given peak",
                    "check algorithm and protocol, number of channels and NICs that are used, and the peak "
                    "that was given"},
    [WIRE_CHANGE] = {"nccl-wire-change", "wire", "x", 1.25,
                     "own: the medians before and after differ by a quarter, not by chance",
                     "look at what happened then: other jobs on the network, link errors, clocks"},
    [SKEW] = {"nccl-skew", "late", "x wire", 2, "own: the median skew is above twice the median wire time and 1 ms",
              "ranks do not arrive together: balance their work before the collective"},
    [SLOW_PAIR] = {"nccl-slow-pair", "wire", "x", 1.5,
                   "own: the median time of this pair is half above that of its equals",
                   "look at the path between the two ranks"},
    [PLUGIN_DROPPED] = {"nccl-plugin-dropped", "data", "of records", 0, "the plugin's own count (dump_stats)",
                        "raise NCCL_INSPECTOR_DUMP_COLL_RING_SIZE, or dump more often"},
    [RECORDS_MISSING] = {"nccl-records-missing", "data", "of calls", 0.05,
                         "own: more than 5 % of the calls lack records of some ranks",
                         "collect the logs of all ranks; raise NCCL_INSPECTOR_DUMP_COLL_RING_SIZE, or dump more often"},
    [LOGS_DAMAGED] = {"nccl-logs-damaged", "data", "of lines", 0.01,
                      "own: a file is cut, or 1 % of the lines cannot be used",
                      "see lines.csv for the files; were processes killed before they wrote, or disks full?"},
    [CONFLICTS] = {"nccl-conflicting-records", "data", "of records", 0, "own: a rank has two times for one call",
                   "are logs of several jobs mixed here?"},
    [DISAGREEING] = {"nccl-disagreeing-bandwidth", "data", "of records", 0.001,
                     "own: logged and recomputed bandwidth differ by more than 0.1 %",
                     "the recomputed one is used; which version of the plugin wrote these logs?"},
    [INVALID_SIZES] = {"nccl-invalid-size", "data", "records", 0, "a message size above 2^62 is an overflow",
                       "the plugin writes such sizes for data types that it does not know; they are left out"},
    [DUPLICATES] = {"nccl-duplicates", "data", "records", 0, "the same record was read before",
                    "are files here twice, plain and compressed?"},
    [MEAN_MISLEADS] = {"nccl-mean-misleads", "late", "of the wire's", 0.8,
                       "own: the mean over ranks is below 80 % of what the wire moves",
                       "read the wire time: a mean over ranks counts waiting as network"},
    [NIC_COUNTERS] = {"nccl-nic-counters", "network", "counters that moved", 0,
                      "what a recording of the same host and time holds", "netprof check on the recording judges them"},
    [RULES] = {NULL, NULL, NULL, 0, NULL, NULL}};

const nccl_rule *nccl_rules(void)
{
    return table;
}

enum { LEAST_CALLS = 10 };         // fewer are not judged
static const double BY_CHANCE = 5; // z; thousands of ranks are looked at
static const double COSTS = 0.01;  // of the time in collectives: less is only context (own)

// ---- making findings ----

typedef struct making {
    nccl_findings *f;
    const nccl *n;
    size_t room, unknown_room;
    bool failed;
    nccl_finding lost; // stands in for one for which there is no memory
} making;

static char *format(making *m, const char *text, ...) __attribute__((format(printf, 2, 3)));
static char *format(making *m, const char *text, ...)
{
    char *result;
    va_list arguments;
    va_start(arguments, text);
    if (vasprintf(&result, text, arguments) < 0) result = NULL;
    va_end(arguments);
    if (!result) m->failed = true;
    return result;
}

static nccl_finding *add(making *m, int which, severity s, double value, char *claim)
{
    nccl_findings *f = m->f;
    if (!claim || !NCCL_ROOM(f->items, f->count, m->room)) {
        m->failed = true;
        free(claim);
        m->lost = (nccl_finding){.rule = &table[which]};
        return &m->lost;
    }
    nccl_finding *x = &f->items[f->count++];
    *x = (nccl_finding){.rule = &table[which],
                        .severity = s,
                        .value = value,
                        .claim = claim,
                        .device = "logs",
                        .communicator = NCCL_NONE,
                        .operation = NCCL_NONE,
                        .series = NCCL_NONE,
                        .member = NCCL_NONE,
                        .host = NCCL_NONE,
                        .cost_us = NAN};
    return x;
}

static void unknown(making *m, char *text)
{
    if (text && NCCL_ROOM(m->f->unknown, m->f->unknown_count, m->unknown_room)) {
        m->f->unknown[m->f->unknown_count++] = text;
        return;
    }
    m->failed = true;
    free(text);
}

static void evidence(nccl_finding *x, char *name, double value, const char *unit)
{
    if (!name || !x->claim || x->evidence_count == NCCL_EVIDENCE) {
        free(name);
        return;
    }
    x->evidence[x->evidence_count++] = (nccl_evidence){name, value, unit};
}

typedef struct shown {
    char text[40];
} shown;

static shown time_text(double us)
{
    shown s;
    if (us < 999.5)
        snprintf(s.text, sizeof s.text, "%.3g \u03bcs", us);
    else if (us < 999.5e3)
        snprintf(s.text, sizeof s.text, "%.3g ms", us / 1e3);
    else if (us < 999.5e6)
        snprintf(s.text, sizeof s.text, "%.3g s", us / 1e6);
    else
        snprintf(s.text, sizeof s.text, "%.0f s", us / 1e6);
    return s;
}

static shown percent_text(double share)
{
    shown s;
    double percent = share * 100;
    snprintf(s.text, sizeof s.text,
             percent > 0 && percent < 0.1   ? "< 0.1 %%"
             : percent < 10 || percent > 99 ? "%.1f %%"
                                            : "%.0f %%",
             percent);
    if (share == 1) snprintf(s.text, sizeof s.text, "100 %%");
    return s;
}

static shown size_text(uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    shown s;
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 1024; unit++)
        value /= 1024;
    snprintf(s.text, sizeof s.text,
             value < 10 && value != floor(value) ? "%.2f %s"
             : value != floor(value)             ? "%.1f %s"
                                                 : "%.0f %s",
             value, units[unit]);
    return s;
}

static const char *host_name(const nccl *n, uint32_t member)
{
    return n->hosts[n->processes[n->members[member].process].host].name;
}

static const char *coll_name(const nccl *n, const nccl_operation *o)
{
    return n->colls[o->coll];
}

static const char *label_of(const nccl *n, const nccl_operation *o)
{
    return n->communicators[o->communicator].label;
}

// How far k of count is above what chance makes of p, in standard deviations.
static double beyond_chance(double k, double count, double p)
{
    double spread = count * p * (1 - p);
    return spread > 0 ? (k - count * p) / sqrt(spread) : 0;
}

// ---- late ranks ----

// One member and collective that stands out.
typedef struct late {
    uint32_t operation, member, process;
    double share, even, cost_us;
    uint64_t calls; // that were judged
    uint64_t first_sn, last_sn;
    bool part, to_the_end; // part: only from first_sn to last_sn
    bool strong;           // above half
} late;

typedef struct mark {
    uint64_t sn, cost_us;
    bool last;
} mark;

static int by_sn(const void *a, const void *b)
{
    const mark *x = a, *y = b;
    return (x->sn > y->sn) - (x->sn < y->sn);
}

static size_t collect_marks(const nccl *n, const nccl_operation *o, uint32_t member, mark *to)
{
    size_t count = 0;
    for (uint32_t s = o->first_series; s < o->first_series + o->series_count; s++)
        for (size_t i = 0; i < n->series[s].instance_count; i++) {
            const nccl_instance *x = &n->instances[n->series[s].first_instance + i];
            if (!x->complete) continue;
            bool last = x->late_count == 1 && x->first_late == member;
            to[count++] = (mark){x->sn, x->second_us - x->min_us, last};
        }
    qsort(to, count, sizeof *to, by_sn);
    return count;
}

// The stretch in which it was last most more often than not.
static bool best_stretch(const mark *marks, size_t count, size_t *begin, size_t *end)
{
    long best = 0, sum = 0;
    size_t from = 0;
    for (size_t i = 0; i < count; i++) {
        if (sum <= 0) {
            sum = 0;
            from = i;
        }
        sum += marks[i].last ? 1 : -1;
        if (sum <= best) continue;
        best = sum;
        *begin = from;
        *end = i + 1;
    }
    return best > 0;
}

static void narrow(making *m, late *x, const nccl_operation *o)
{
    enum { LEAST_STRETCH = 20 };
    size_t begin = 0, end = 0, lasts = 0;
    mark *marks = malloc((o->complete + 1) * sizeof *marks);
    if (!marks) {
        m->failed = true;
        return;
    }
    size_t count = collect_marks(m->n, o, x->member, marks);
    bool found = best_stretch(marks, count, &begin, &end);
    for (size_t i = begin; i < end; i++)
        lasts += marks[i].last;
    bool short_of_all = end - begin < count - count / 10, enough = end - begin >= LEAST_STRETCH;
    if (found && enough && short_of_all && 2 * lasts > end - begin) {
        x->part = x->strong = true;
        x->to_the_end = end == count;
        x->first_sn = marks[begin].sn;
        x->last_sn = marks[end - 1].sn;
        x->share = (double)lasts / (double)(end - begin);
        x->calls = end - begin;
        x->cost_us = 0;
        for (size_t i = begin; i < end; i++)
            x->cost_us += marks[i].last ? (double)marks[i].cost_us : 0;
    }
    free(marks);
}

static bool judge_member(making *m, uint32_t operation, uint32_t i, late *x)
{
    const nccl *n = m->n;
    const nccl_operation *o = &n->operations[operation];
    const nccl_communicator *c = &n->communicators[o->communicator];
    const nccl_waiting *w = &n->arrivals[o->first_arrival + i];
    double k = (double)w->judged_last, count = (double)w->judged;
    *x =
        (late){.operation = operation, .member = c->first_member + i, .even = 1 / (double)c->ranks, .calls = w->judged};
    x->process = n->members[x->member].process;
    x->share = k / count;
    x->cost_us = (double)w->judged_cost_us;
    if (k < LEAST_CALLS || beyond_chance(k, count, x->even) < BY_CHANCE) return false;
    x->strong = x->share > table[LATE_RANK].limit;
    narrow(m, x, o);
    return x->strong || x->share > table[OFTEN_LATE].limit * x->even;
}

static int by_process_and_cost(const void *a, const void *b)
{
    const late *x = a, *y = b;
    if (x->process != y->process) return x->process < y->process ? -1 : 1;
    if (x->strong != y->strong) return x->strong ? -1 : 1;
    if (x->cost_us != y->cost_us) return x->cost_us > y->cost_us ? -1 : 1;
    return x->operation < y->operation ? -1 : x->operation > y->operation;
}

static char *late_claim(making *m, const late *x, const nccl_operation *o)
{
    const nccl *n = m->n;
    char place[80] = "";
    if (x->part && x->to_the_end)
        snprintf(place, sizeof place, " from sn %llu to the end", (unsigned long long)x->first_sn);
    else if (x->part)
        snprintf(place, sizeof place, " from sn %llu to %llu", (unsigned long long)x->first_sn,
                 (unsigned long long)x->last_sn);
    double share_of_time = x->cost_us / (double)o->complete_time_us;
    return format(m, "rank %lld on host %s was last in %s of %s of communicator %s%s and cost %s (%s of their time)",
                  (long long)n->members[x->member].rank, host_name(n, x->member), percent_text(x->share).text,
                  coll_name(n, o), label_of(n, o), place, time_text(x->cost_us).text, percent_text(share_of_time).text);
}

// All that one process was late in: one finding about the dearest, the others as evidence.
static void report_late(making *m, const late *all, size_t count)
{
    const nccl *n = m->n;
    const nccl_operation *o = &n->operations[all->operation];
    bool dear = all->cost_us > COSTS * (double)o->complete_time_us;
    int which = all->strong ? LATE_RANK : OFTEN_LATE;
    severity s = !dear ? SEVERITY_INFO : all->strong ? SEVERITY_HIGH : SEVERITY_WATCH;
    nccl_finding *x = add(m, which, s, all->strong ? all->share : all->share / all->even, late_claim(m, all, o));
    x->device = host_name(n, all->member);
    x->communicator = o->communicator;
    x->operation = all->operation;
    x->member = all->member;
    x->host = n->processes[all->process].host;
    x->first_sn = all->first_sn;
    x->last_sn = all->last_sn;
    x->to_the_end = all->to_the_end;
    x->cost_us = 0;
    evidence(x, format(m, "pid"), (double)n->processes[all->process].pid, "");
    evidence(x, format(m, "share when even"), all->even, "of calls");
    for (size_t i = 0; i < count; i++) {
        x->cost_us += all[i].cost_us;
        const nccl_operation *other = &n->operations[all[i].operation];
        evidence(x,
                 format(m, "last in %s of %s (%llu calls)", coll_name(n, other), label_of(n, other),
                        (unsigned long long)all[i].calls),
                 all[i].share, "of calls");
    }
}

static void find_late_ranks(making *m, bool *late_processes)
{
    const nccl *n = m->n;
    late *all = NULL, x;
    size_t count = 0, room = 0;
    for (uint32_t i = 0; i < n->operation_count; i++) {
        const nccl_operation *o = &n->operations[i];
        const nccl_communicator *c = &n->communicators[o->communicator];
        if (c->ranks < 2) continue;
        if (o->complete < LEAST_CALLS) {
            unknown(m, format(m, "%s: %s of communicator %s: %llu complete calls, %d are needed", table[LATE_RANK].name,
                              coll_name(n, o), c->label, (unsigned long long)o->complete, LEAST_CALLS));
            continue;
        }
        m->f->judged++;
        for (uint32_t k = 0; k < c->member_count; k++) {
            if (!judge_member(m, i, k, &x)) continue;
            if (!NCCL_ROOM(all, count, room))
                m->failed = true;
            else
                all[count++] = x;
        }
    }
    if (count) qsort(all, count, sizeof *all, by_process_and_cost);
    for (size_t i = 0, k; i < count; i = k) {
        for (k = i + 1; k < count && all[k].process == all[i].process;)
            k++;
        report_late(m, all + i, k - i);
        if (all[i].strong) late_processes[all[i].process] = true;
    }
    free(all);
}

// ---- late hosts: no process of it stands out, all together do ----

// How often chance would make the host the last.
static double expected_last(const nccl *n, uint32_t host)
{
    double sum = 0;
    for (size_t i = 0; i < n->operation_count; i++) {
        const nccl_operation *o = &n->operations[i];
        const nccl_communicator *c = &n->communicators[o->communicator];
        size_t here = 0;
        for (uint32_t k = 0; c->type == NCCL_MIXED && k < c->member_count; k++)
            here += n->processes[n->members[c->first_member + k].process].host == host;
        sum += (double)o->complete * (double)here / (double)c->ranks;
    }
    return sum;
}

static void find_late_hosts(making *m, const bool *late_processes)
{
    const nccl *n = m->n;
    for (uint32_t i = 0; i < n->host_count; i++) {
        const nccl_host *h = &n->hosts[i];
        double share = (double)h->judged_last / (double)h->judged;
        bool explained = false;
        if (h->judged < LEAST_CALLS || h->process_count < 2) continue;
        for (uint32_t p = h->first_process; p < h->first_process + h->process_count; p++)
            explained |= late_processes[p];
        m->f->judged++;
        double even = expected_last(n, i) / (double)h->judged;
        if (explained || share <= table[LATE_HOST].limit ||
            beyond_chance((double)h->judged_last, (double)h->judged, even) < BY_CHANCE)
            continue;
        nccl_finding *x =
            add(m, LATE_HOST, SEVERITY_HIGH, share,
                format(m,
                       "host %s was last in %s of the collectives that several of its ranks share with other "
                       "hosts, and cost %s",
                       h->name, percent_text(share).text, time_text((double)h->judged_cost_us).text));
        x->device = h->name;
        x->host = i;
        x->cost_us = (double)h->judged_cost_us;
        evidence(x, format(m, "complete calls"), (double)h->judged, "calls");
        evidence(x, format(m, "share when even"), even, "of calls");
    }
}

// Ranks of a late host are often late: that is one cause, not many.
static void explain_often_late(making *m)
{
    nccl_findings *f = m->f;
    for (size_t i = 0; i < f->count; i++)
        for (size_t k = 0; k < f->count && f->items[i].rule == &table[OFTEN_LATE]; k++) {
            if (f->items[k].rule != &table[LATE_HOST] || f->items[k].host != f->items[i].host) continue;
            f->items[i].severity = SEVERITY_INFO;
            f->items[i].explained_by = table[LATE_HOST].name;
        }
}

// ---- slow communicators, slow hosts ----

typedef struct pace {
    uint32_t communicator;
    double slow_us, time_us,
        excess_us; // wire time of its series that have equals: slow ones, all; above the median
    double ratio;  // of the dearest slow series
    uint32_t series;
} pace;

static bool equals(const nccl *n, const nccl_series *a, const nccl_series *b)
{
    const nccl_communicator *x = &n->communicators[a->communicator], *y = &n->communicators[b->communicator];
    return a->kind == b->kind && x->ranks == y->ranks && x->nodes == y->nodes;
}

static int by_kind(const void *a, const void *b)
{
    const nccl_series *x = *(const nccl_series *const *)a, *y = *(const nccl_series *const *)b;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    return (x > y) - (x < y);
}

static void pace_group(making *m, const nccl_series **group, size_t count, double *work, pace *paces)
{
    const nccl *n = m->n;
    enum { LEAST_EQUALS = 3 };
    size_t judged = 0;
    for (size_t i = 0; i < count; i++)
        if (group[i]->instance_count >= LEAST_CALLS) work[judged++] = group[i]->spreads.wire_us.p50;
    if (judged < LEAST_EQUALS) return;
    m->f->judged++;
    double median = nccl_median_of(work, judged);
    for (size_t i = 0; i < count; i++) {
        const nccl_series *s = group[i];
        pace *p = &paces[s->communicator];
        if (s->instance_count < LEAST_CALLS) continue;
        p->time_us += (double)s->wire_total_us;
        double p50 = s->spreads.wire_us.p50, excess = (p50 - median) * (double)s->instance_count;
        if (p50 <= table[SLOW_COMMUNICATOR].limit * median || p50 - median < 2) continue; // whole us are logged
        p->slow_us += (double)s->wire_total_us;
        if (excess > p->excess_us || p->ratio <= 0) {
            p->ratio = p50 / median;
            p->series = (uint32_t)(s - n->series);
        }
        p->excess_us += excess;
    }
}

static bool is_slow(const pace *p)
{
    return p->slow_us > p->time_us / 2 && p->slow_us > 0;
}

static bool has_host(const nccl *n, const nccl_communicator *c, uint32_t host)
{
    for (uint32_t k = 0; k < c->member_count; k++)
        if (n->processes[n->members[c->first_member + k].process].host == host) return true;
    return false;
}

// All slow communicators of the class have the host, and all that have it are slow; there are some without.
static bool may_be_it(const nccl *n, const pace *paces, nccl_class type, uint32_t host)
{
    size_t slow_with = 0, fast_without = 0;
    for (size_t i = 0; i < n->communicator_count; i++) {
        const nccl_communicator *c = &n->communicators[i];
        if (c->type != type || !(paces[i].time_us > 0)) continue;
        bool here = has_host(n, c, host), slow = is_slow(&paces[i]);
        if (here != slow) return false;
        slow_with += here;
        fast_without += !here;
    }
    return slow_with && fast_without;
}

// The only such host, NCCL_NONE when there is none or when several cannot be told apart.
static uint32_t slow_host(const nccl *n, const pace *paces, nccl_class type)
{
    uint32_t found = NCCL_NONE;
    for (uint32_t host = 0; host < n->host_count; host++) {
        if (!may_be_it(n, paces, type, host)) continue;
        if (found != NCCL_NONE) return NCCL_NONE;
        found = host;
    }
    return found;
}

static void report_slow_host(making *m, pace *paces, nccl_class type, uint32_t host)
{
    const nccl *n = m->n;
    size_t slow = 0;
    double excess = 0;
    const pace *worst = NULL;
    for (size_t i = 0; i < n->communicator_count; i++) {
        if (n->communicators[i].type != type || !is_slow(&paces[i])) continue;
        slow++;
        excess += paces[i].excess_us;
        if (!worst || paces[i].ratio > worst->ratio) worst = &paces[i];
    }
    const nccl_series *s = &n->series[worst->series];
    nccl_finding *x =
        add(m, SLOW_HOST, SEVERITY_HIGH, worst->ratio,
            format(m,
                   "%s communicators with host %s are slow on the wire, those without it are not: %s of %s takes "
                   "%.2f times as long (%s), which cost %s in all",
                   nccl_class_name(type), n->hosts[host].name, n->colls[s->coll], size_text(s->size).text, worst->ratio,
                   time_text(s->spreads.wire_us.p50).text, time_text(excess).text));
    x->device = n->hosts[host].name;
    x->host = host;
    x->series = worst->series;
    x->cost_us = excess;
    evidence(x, format(m, "slow communicators"), (double)slow, "");
}

static void report_slow(making *m, const pace *p)
{
    const nccl *n = m->n;
    const nccl_series *s = &n->series[p->series];
    const nccl_communicator *c = &n->communicators[s->communicator];
    nccl_finding *x =
        add(m, SLOW_COMMUNICATOR, p->excess_us > COSTS * (double)c->time_us ? SEVERITY_WARN : SEVERITY_INFO, p->ratio,
            format(m,
                   "communicator %s is slow on the wire: %s of %s takes %.2f times as long as on its equals "
                   "(%s), which cost %s",
                   c->label, n->colls[s->coll], size_text(s->size).text, p->ratio,
                   time_text(s->spreads.wire_us.p50).text, time_text(p->excess_us).text));
    x->device = c->label;
    x->communicator = s->communicator;
    x->series = p->series;
    x->cost_us = p->excess_us;
    for (uint32_t k = 0, shown_hosts = 0; k < c->member_count && shown_hosts < 4; k++) {
        const nccl_process *process = &n->processes[n->members[c->first_member + k].process];
        if (k && n->processes[n->members[c->first_member + k - 1].process].host == process->host) continue;
        evidence(x, format(m, "host %s, rank", n->hosts[process->host].name),
                 (double)n->members[c->first_member + k].rank, "");
        shown_hosts++;
    }
}

static void report_paces(making *m, pace *paces)
{
    const nccl *n = m->n;
    for (int type = 0; type < NCCL_CLASSES; type++) {
        uint32_t host = type != NCCL_SINGLE_RANK ? slow_host(n, paces, (nccl_class)type) : NCCL_NONE;
        if (host != NCCL_NONE) {
            report_slow_host(m, paces, (nccl_class)type, host);
            continue;
        }
        for (size_t i = 0; i < n->communicator_count; i++)
            if (n->communicators[i].type == (nccl_class)type && is_slow(&paces[i])) report_slow(m, &paces[i]);
    }
}

static void find_slow(making *m)
{
    const nccl *n = m->n;
    const nccl_series **order = malloc((n->series_count + 1) * sizeof *order), **group;
    double *work = malloc((n->series_count + 1) * sizeof *work);
    pace *paces = calloc(n->communicator_count + 1, sizeof *paces);
    bool *done = calloc(n->series_count + 1, sizeof *done);
    group = malloc((n->series_count + 1) * sizeof *group);
    if (order && work && paces && done && group) {
        for (size_t i = 0; i < n->series_count; i++)
            order[i] = &n->series[i];
        qsort(order, n->series_count, sizeof *order, by_kind);
        for (size_t i = 0; i < n->series_count; i++) {
            size_t count = 0;
            if (done[i]) continue;
            for (size_t k = i; k < n->series_count && order[k]->kind == order[i]->kind; k++) {
                if (done[k] || !equals(n, order[i], order[k])) continue;
                done[k] = true;
                group[count++] = order[k];
            }
            pace_group(m, group, count, work, paces);
        }
        report_paces(m, paces);
    } else {
        m->failed = true;
    }
    free(order);
    free(work);
    free(paces);
    free(done);
    free(group);
}

// ---- peak, change, skew ----

static void find_below_peak(making *m)
{
    const nccl *n = m->n;
    for (size_t i = 0; i < n->series_count; i++) {
        const nccl_series *s = &n->series[i];
        bool largest = i + 1 == n->series_count || n->series[i + 1].operation != s->operation;
        if (!largest || isnan(s->peak_share) || s->instance_count < LEAST_CALLS) continue;
        m->f->judged++;
        if (s->peak_share >= table[BELOW_PEAK].limit || s->size < 1 << 20) continue;
        const nccl_communicator *c = &n->communicators[s->communicator];
        nccl_finding *x =
            add(m, BELOW_PEAK, SEVERITY_WARN, s->peak_share,
                format(m, "%s of %s on communicator %s moves %.3g GB/s in the median, %s of the peak of %.3g GB/s",
                       n->colls[s->coll], size_text(s->size).text, c->label, s->spreads.bus_gbs.p50,
                       percent_text(s->peak_share).text, c->peak_gbs));
        x->device = c->label;
        x->communicator = s->communicator;
        x->series = (uint32_t)i;
        x->cost_us = (double)s->wire_total_us * (1 - s->peak_share);
        evidence(x, format(m, "bus bandwidth p50"), s->spreads.bus_gbs.p50, "GB/s");
        evidence(x, format(m, "calls"), (double)s->instance_count, "calls");
    }
}

static void find_wire_changes(making *m)
{
    const nccl *n = m->n;
    for (size_t i = 0; i < n->series_count; i++) {
        const nccl_series *s = &n->series[i];
        const nccl_change *change = &s->wire_change;
        if (!change->found) continue;
        const nccl_communicator *c = &n->communicators[s->communicator];
        bool worse = change->after > change->before, dear = (double)s->wire_total_us > COSTS * (double)c->time_us;
        nccl_finding *x =
            add(m, WIRE_CHANGE, worse && dear ? SEVERITY_WATCH : SEVERITY_INFO, change->after / change->before,
                format(m, "the wire time of %s of %s on communicator %s went from %s to %s at sn %llu",
                       n->colls[s->coll], size_text(s->size).text, c->label, time_text(change->before).text,
                       time_text(change->after).text, (unsigned long long)change->sn));
        x->device = c->label;
        x->communicator = s->communicator;
        x->series = (uint32_t)i;
        x->first_sn = change->sn;
        x->to_the_end = true;
    }
}

static void find_skew(making *m, const bool *late_processes)
{
    const nccl *n = m->n;
    for (size_t i = 0; i < n->series_count; i++) {
        const nccl_series *s = &n->series[i];
        const nccl_communicator *c = &n->communicators[s->communicator];
        double skew = s->spreads.skew_us.p50, wire = s->spreads.wire_us.p50;
        if (c->ranks < 2 || s->instance_count < LEAST_CALLS) continue;
        m->f->judged++;
        if (skew <= table[SKEW].limit * wire || skew <= 1000 || (double)s->time_us < 0.05 * (double)c->time_us)
            continue;
        bool known = false;
        for (uint32_t k = 0; k < c->member_count; k++)
            known |= late_processes[n->members[c->first_member + k].process];
        nccl_finding *x = add(
            m, SKEW, known ? SEVERITY_INFO : SEVERITY_WARN, skew / wire,
            format(m, "%s of %s on communicator %s waits longer than it moves: skew %s, wire %s in the median",
                   n->colls[s->coll], size_text(s->size).text, c->label, time_text(skew).text, time_text(wire).text));
        x->device = c->label;
        x->communicator = s->communicator;
        x->series = (uint32_t)i;
        x->cost_us = (double)(s->time_us - s->wire_total_us);
        x->explained_by = known ? table[LATE_RANK].name : NULL;
    }
}

static void find_misleading_mean(making *m)
{
    const nccl *n = m->n;
    const nccl_series *dearest = NULL;
    for (size_t i = 0; i < n->series_count; i++)
        if (n->communicators[n->series[i].communicator].ranks > 1 &&
            (!dearest || n->series[i].time_us > dearest->time_us))
            dearest = &n->series[i];
    if (!dearest || !(dearest->spreads.mean_bus_gbs.p50 < table[MEAN_MISLEADS].limit * dearest->spreads.bus_gbs.p50))
        return;
    const nccl_communicator *c = &n->communicators[dearest->communicator];
    nccl_finding *x =
        add(m, MEAN_MISLEADS, SEVERITY_INFO, dearest->spreads.mean_bus_gbs.p50 / dearest->spreads.bus_gbs.p50,
            format(m,
                   "ranks that wait look slow: a mean over ranks shows %.3g GB/s for %s of %s on communicator %s, "
                   "the wire moves %.3g GB/s",
                   dearest->spreads.mean_bus_gbs.p50, n->colls[dearest->coll], size_text(dearest->size).text, c->label,
                   dearest->spreads.bus_gbs.p50));
    x->device = c->label;
    x->communicator = dearest->communicator;
    x->series = (uint32_t)(dearest - n->series);
}

// ---- point to point ----

typedef struct pair {
    const nccl_p2p *p;
    nccl_class type;
} pair;

static int by_equal_pairs(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    if (x->type != y->type) return x->type < y->type ? -1 : 1;
    int order = strcmp(x->p->operation, y->p->operation);
    if (!order) order = strcmp(x->p->timing, y->p->timing);
    return order ? order : (x->p->size > y->p->size) - (x->p->size < y->p->size);
}

static void report_slow_pair(making *m, const nccl_p2p *p, double ratio)
{
    const nccl *n = m->n;
    const nccl_member *member = &n->members[p->member];
    const nccl_communicator *c = &n->communicators[member->communicator];
    nccl_finding *x =
        add(m, SLOW_PAIR, SEVERITY_WATCH, ratio,
            format(m,
                   "%s of %s between rank %lld on host %s and rank %lld of communicator %s takes %.2f times as long "
                   "as between its equals (%s)",
                   p->operation, size_text(p->size).text, (long long)member->rank, host_name(n, p->member),
                   (long long)p->peer, c->label, ratio, time_text(p->time_us.p50).text));
    x->device = host_name(n, p->member);
    x->communicator = member->communicator;
    x->member = p->member;
    x->cost_us = p->time_us.p50 * (1 - 1 / ratio) * (double)p->records;
}

static void find_slow_pairs(making *m)
{
    const nccl *n = m->n;
    pair *all = malloc((n->p2p_count + 1) * sizeof *all);
    double *work = malloc((n->p2p_count + 1) * sizeof *work);
    if (!all || !work) m->failed = true;
    size_t count = 0;
    for (size_t i = 0; all && work && i < n->p2p_count; i++) {
        const nccl_p2p *p = &n->p2p[i];
        if (p->records >= LEAST_CALLS && p->peer >= 0)
            all[count++] = (pair){p, n->communicators[n->members[p->member].communicator].type};
    }
    if (count) qsort(all, count, sizeof *all, by_equal_pairs);
    for (size_t i = 0, k; i < count; i = k) {
        for (k = i; k < count && by_equal_pairs(&all[i], &all[k]) == 0; k++)
            work[k - i] = all[k].p->time_us.p50;
        if (k - i < LEAST_CALLS) continue;
        m->f->judged++;
        double median = nccl_median_of(work, k - i);
        for (size_t j = i; j < k; j++)
            if (all[j].p->time_us.p50 > table[SLOW_PAIR].limit * median && all[j].p->time_us.p25 > median + 2)
                report_slow_pair(m, all[j].p, all[j].p->time_us.p50 / median);
    }
    free(all);
    free(work);
}

// ---- the data themselves ----

static void find_missing(making *m)
{
    const nccl *n = m->n;
    uint64_t calls = 0, complete = 0, records = 0, missing = 0, tail = 0, absent = 0;
    for (size_t i = 0; i < n->communicator_count; i++) {
        const nccl_communicator *c = &n->communicators[i];
        if (c->ranks < 2) continue;
        calls += c->instances;
        complete += c->complete;
        records += c->records;
        missing += c->missing;
        tail += c->missing_tail;
        absent += c->missing_absent;
    }
    if (!calls) return;
    m->f->judged++;
    if (!missing) return;
    double incomplete = (double)(calls - complete) / (double)calls,
           share = (double)missing / (double)(records + missing);
    nccl_finding *x =
        add(m, RECORDS_MISSING, incomplete > table[RECORDS_MISSING].limit ? SEVERITY_WATCH : SEVERITY_INFO, incomplete,
            format(m,
                   "%s of the records are missing (%llu), so %s of the calls are incomplete and late ranks are not "
                   "judged in them",
                   percent_text(share).text, (unsigned long long)missing, percent_text(incomplete).text));
    evidence(x, format(m, "records lost between others of the same rank"), (double)(missing - tail - absent),
             "records");
    evidence(x, format(m, "records after the end of a rank's log"), (double)tail, "records");
    evidence(x, format(m, "records of ranks without a log"), (double)absent, "records");
    evidence(x, format(m, "records that were read"), (double)records, "records");
}

static void find_dropped(making *m)
{
    const nccl *n = m->n;
    uint64_t dropped = 0, written = 0;
    uint32_t worst = 0;
    for (uint32_t i = 0; i < n->member_count; i++) {
        const nccl_dump_stats *s = &n->members[i].stats;
        dropped += s->coll_dropped + s->p2p_dropped;
        written += s->coll_records + s->p2p_records;
        if (s->coll_dropped > n->members[worst].stats.coll_dropped) worst = i;
    }
    if (!n->has_dump_stats) return;
    m->f->judged++;
    if (!dropped) return;
    double share = (double)dropped / ((double)dropped + (double)written);
    nccl_finding *x =
        add(m, PLUGIN_DROPPED, SEVERITY_WATCH, share,
            format(m,
                   "the plugin dropped %llu records, %s of all, before it could write them; "
                   "most on host %s, rank %lld of %s",
                   (unsigned long long)dropped, percent_text(share).text, host_name(n, worst),
                   (long long)n->members[worst].rank, n->communicators[n->members[worst].communicator].label));
    x->device = host_name(n, worst);
    x->member = worst;
}

static uint64_t unused_lines(const uint64_t *outcomes)
{
    uint64_t sum = 0;
    for (int i = NCCL_BAD_JSON; i < NCCL_COLL; i++)
        sum += outcomes[i];
    return sum;
}

static void find_damage(making *m)
{
    const nccl *n = m->n;
    uint64_t cut = 0, unreadable = 0, unused = unused_lines(n->outcomes) - n->invalid_sizes;
    const nccl_file *first = NULL;
    for (size_t i = 0; i < n->file_count; i++) {
        const nccl_file *f = &n->files[i];
        cut += f->cut || f->tail_cut;
        unreadable += f->error != 0;
        if (!first && (f->cut || f->tail_cut || f->error || unused_lines(f->outcomes) > f->invalid_sizes)) first = f;
    }
    m->f->judged++;
    if (!first) return;
    double share = n->lines ? (double)unused / (double)n->lines : 0;
    bool much = cut || unreadable || share > table[LOGS_DAMAGED].limit;
    nccl_finding *x = add(m, LOGS_DAMAGED, much ? SEVERITY_WATCH : SEVERITY_INFO, share,
                          format(m,
                                 "%llu of %zu files are cut, %llu could not be read; %llu of %llu lines "
                                 "could not be used; the first "
                                 "is %s",
                                 (unsigned long long)cut, n->file_count, (unsigned long long)unreadable,
                                 (unsigned long long)unused, (unsigned long long)n->lines, first->name));
    for (int i = NCCL_BAD_JSON; i < NCCL_COLL; i++)
        if (n->outcomes[i])
            evidence(x, format(m, "%s", nccl_outcome_name((nccl_outcome)i)), (double)n->outcomes[i], "lines");
}

static void find_odd_records(making *m)
{
    const nccl *n = m->n;
    double records = (double)n->outcomes[NCCL_COLL];
    if (n->conflicts)
        add(m, CONFLICTS, SEVERITY_WATCH, (double)n->conflicts / records,
            format(m,
                   "%llu records give another time for a call of a rank that was logged before; the first is "
                   "kept",
                   (unsigned long long)n->conflicts));
    if ((double)n->disagreeing > 0)
        add(m, DISAGREEING,
            (double)n->disagreeing > table[DISAGREEING].limit * records ? SEVERITY_WATCH : SEVERITY_INFO,
            (double)n->disagreeing / records,
            format(m, "in %llu records the logged bandwidth is not what size and time make (%s)",
                   (unsigned long long)n->disagreeing, percent_text((double)n->disagreeing / records).text));
    if (n->invalid_sizes)
        add(m, INVALID_SIZES, SEVERITY_INFO, (double)n->invalid_sizes,
            format(m, "%llu records have a message size that cannot be and are left out",
                   (unsigned long long)n->invalid_sizes));
    if (n->duplicates)
        add(m, DUPLICATES, SEVERITY_INFO, (double)n->duplicates,
            format(m, "%llu records were there twice and are counted once", (unsigned long long)n->duplicates));
}

// ---- two jobs ----

static void report_class_change(making *m, const nccl_comparison *c, nccl_class type, nccl_verdict verdict)
{
    const nccl_compared *worst = NULL;
    size_t count = 0, all = 0;
    double cost = 0;
    for (size_t i = 0; i < c->count; i++) {
        const nccl_compared *r = &c->rows[i];
        if (!r->before || !r->after || r->after->type != type) continue;
        all++;
        if (r->verdict != verdict) continue;
        count++;
        cost += (r->after->spreads.wire_us.p50 - r->before->spreads.wire_us.p50) * (double)r->after->instances;
        if (!worst || fabs(log(r->wire_ratio)) > fabs(log(worst->wire_ratio))) worst = r;
    }
    if (!worst) return;
    bool slower = verdict == NCCL_SLOWER;
    severity s = !slower ? SEVERITY_INFO : worst->wire_ratio >= 1.5 ? SEVERITY_HIGH : SEVERITY_WARN;
    nccl_finding *x =
        add(m, slower ? SLOWER : FASTER, s, worst->wire_ratio,
            format(m,
                   "%zu of %zu kinds of collectives on %s communicators (%s) are %s on the wire than in the "
                   "compared "
                   "job; most %s of %s: %s instead of %s (x %.2f)",
                   count, all, nccl_class_name(type), nccl_class_meaning(type), slower ? "slower" : "faster",
                   c->after->colls[worst->after->coll], size_text(worst->after->size).text,
                   time_text(worst->after->spreads.wire_us.p50).text,
                   time_text(worst->before->spreads.wire_us.p50).text, worst->wire_ratio));
    x->device = nccl_class_name(type);
    if (slower) x->cost_us = cost;
    evidence(x, format(m, "rank-sum z"), worst->z, "");
    evidence(x, format(m, "calls here"), (double)worst->after->instances, "calls");
    evidence(x, format(m, "calls in the compared job"), (double)worst->before->instances, "calls");
}

static void find_changes(making *m, const nccl_comparison *c)
{
    m->f->judged += c->slower + c->faster + c->alike;
    for (int type = 0; type < NCCL_CLASSES; type++) {
        report_class_change(m, c, (nccl_class)type, NCCL_SLOWER);
        report_class_change(m, c, (nccl_class)type, NCCL_FASTER);
    }
}

// ---- all ----

static int by_weight(const void *a, const void *b)
{
    const nccl_finding *x = a, *y = b;
    if (x->severity != y->severity) return x->severity > y->severity ? -1 : 1;
    double p = isnan(x->cost_us) ? 0 : x->cost_us, q = isnan(y->cost_us) ? 0 : y->cost_us;
    if (p != q) return p > q ? -1 : 1;
    if (x->rule != y->rule) return x->rule < y->rule ? -1 : 1;
    return strcmp(x->claim, y->claim);
}

static char *make_verdict(making *m)
{
    const nccl_findings *f = m->f;
    const nccl *n = m->n;
    char *text;
    if (f->count && f->items[0].severity >= SEVERITY_WATCH)
        text = format(m, "%s", f->items[0].claim);
    else if (!f->judged || !n->instance_count)
        text = format(m, "Nothing could be judged");
    else
        text = format(m, "No late rank and no slow wire found in %zu collectives", n->instance_count);
    if (text && *text >= 'a' && *text <= 'z') *text = (char)(*text - 'a' + 'A');
    return text;
}

netprof_err nccl_findings_make(nccl_findings *f, const nccl *n, const nccl_comparison *comparison, netprof_error *error)
{
    making m = {.f = f, .n = n};
    bool *late_processes = calloc(n->process_count + 1, sizeof *late_processes);
    *f = (nccl_findings){0};
    if (late_processes) {
        find_late_ranks(&m, late_processes);
        find_late_hosts(&m, late_processes);
        explain_often_late(&m);
        find_slow(&m);
        find_below_peak(&m);
        find_wire_changes(&m);
        find_skew(&m, late_processes);
        find_misleading_mean(&m);
        find_slow_pairs(&m);
        find_missing(&m);
        find_dropped(&m);
        find_damage(&m);
        find_odd_records(&m);
        if (comparison) find_changes(&m, comparison);
        if (f->count) qsort(f->items, f->count, sizeof *f->items, by_weight);
        f->severity = f->count ? f->items[0].severity : SEVERITY_OK;
        f->verdict = make_verdict(&m);
    }
    free(late_processes);
    if (late_processes && !m.failed && f->verdict) return NETPROF_OK;
    nccl_findings_free(f);
    if (error) *error = (netprof_error){.code = NETPROF_ERR_NOMEM};
    return NETPROF_ERR_NOMEM;
}

void nccl_findings_free(nccl_findings *f)
{
    for (size_t i = 0; i < f->count; i++) {
        for (size_t k = 0; k < f->items[i].evidence_count; k++)
            free(f->items[i].evidence[k].name);
        free(f->items[i].claim);
    }
    for (size_t i = 0; i < f->unknown_count; i++)
        free(f->unknown[i]);
    free(f->items);
    free(f->unknown);
    free(f->verdict);
    *f = (nccl_findings){0};
}
