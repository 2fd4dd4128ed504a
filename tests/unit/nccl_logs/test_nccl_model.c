// Instances, series, operations and who waited for whom, against a plain sum over the records of a planned job with ties and
// with records that are lost.
#define _GNU_SOURCE
#include "netprof.h"

#include "analysis/nccl/logs/nccl_spread.h"
#include "nccl_plan.h"

#include <math.h>

enum { CALLS = 12, MOST = PLAN_RANKS };

static int with_ties(const plan_call *c)
{
    return (c->call * 5 + c->rank * 3 + c->what) % 4 * 10;
}

// It has no record at all of these communicators.
static bool is_absent(char group, int rank)
{
    return rank == 4 && group != 'w';
}

static int lost_here_and_there(const plan_call *c)
{
    static const int us[] = {100, 30, 900, 60};
    bool tail = c->rank == 3 && c->call >= 10, between = (c->rank + c->call + c->number) % 7 == 0;
    if (tail || (between && c->what == 1) || is_absent(c->group, c->rank)) return PLAN_LOST;
    return us[c->what] + c->call * 3 % 7;
}

static const plan job = {3, 2, CALLS, 4, "wrn", with_ties, lost_here_and_there};

// A call as the records of its ranks make it; `us` by rank of the world, 0: lost.
typedef struct call {
    char group;
    int number, what, sn, count, seen, us[MOST], ranks[MOST];
    uint64_t min, max, second;
    int last, last_count; // who had the shortest time first, and how many
} call;

static call call_of(char group, int number, int what, int i)
{
    call x = {.group = group, .number = number, .what = what, .sn = plan_sn(&job, what, i), .min = UINT64_MAX};
    int latest = 0;
    x.count = plan_ranks(&job, group, number, x.ranks);
    for (int k = 0; k < x.count; k++) {
        plan_call c = plan_call_of(&job, group, number, x.ranks[k], what, i);
        if (with_ties(&c) > latest) latest = with_ties(&c);
    }
    x.second = UINT64_MAX;
    for (int k = 0; k < x.count; k++) {
        plan_call c = plan_call_of(&job, group, number, x.ranks[k], what, i);
        int wire = lost_here_and_there(&c);
        if (wire == PLAN_LOST) continue;
        uint64_t us = (uint64_t)(wire + latest - with_ties(&c));
        x.us[c.rank] = (int)us;
        x.seen++;
        if (us > x.max) x.max = us;
        if (us < x.min) {
            x.second = x.min;
            x.min = us;
            x.last = c.rank;
            x.last_count = 1;
        } else {
            x.last_count += us == x.min;
            if (us < x.second) x.second = us;
        }
    }
    if (x.seen < 2) x.second = x.min;
    return x;
}

// ---- where a call is in the model ----

static const nccl_series *series_of(const nccl *n, const call *x)
{
    char label[16];
    snprintf(label, sizeof label, "%c%d", x->group, x->number);
    for (size_t i = 0; i < n->series_count; i++) {
        const nccl_series *s = &n->series[i];
        if (strcmp(n->communicators[s->communicator].label, label) == 0 && s->size == plan_whats[x->what].size &&
            strcmp(n->colls[s->coll], plan_whats[x->what].coll) == 0)
            return s;
    }
    return NULL;
}

static int world_rank(const nccl *n, uint32_t member)
{
    return (int)n->processes[n->members[member].process].pid - 100;
}

static void check_instance(const nccl *n, const nccl_series *s, const nccl_instance *x, const call *c)
{
    double sum = 0, bus = 0, least = INFINITY, most = 0, sorted[MOST];
    size_t count = 0;
    for (int rank = 0; rank < MOST; rank++) {
        if (!c->us[rank]) continue;
        double gbs = plan_bus_gbs(&plan_whats[c->what], c->count, c->us[rank]);
        sorted[count++] = c->us[rank];
        sum += c->us[rank];
        bus += gbs;
        least = fmin(least, gbs);
        most = fmax(most, gbs);
    }
    assert_int_equal(x->sn, c->sn);
    assert_int_equal(x->count, c->seen);
    assert_int_equal(x->min_us, c->min);
    assert_int_equal(x->max_us, c->max);
    assert_int_equal(x->second_us, c->second);
    assert_int_equal(x->late_count, c->last_count);
    assert_int_equal(world_rank(n, x->first_late), c->last);
    assert_int_equal(x->complete, c->seen == c->count);
    assert_true(fabs(x->mean_us - sum / (double)count) < 1e-9);
    if (c->count > 1) assert_true(fabs(x->median_us - nccl_median_of(sorted, count)) < 1e-9);
    assert_true(fabs(x->mean_bus - bus / (double)count) < 1e-8);
    assert_true(fabs(x->min_bus - least) < 1e-8 && fabs(x->max_bus - most) < 1e-8);
    assert_true(fabs(nccl_bus_gbs(s, (double)c->min) - most) < 1e-8);
}

// ---- sums ----

typedef struct totals {
    uint64_t time, wire, records, missing, incomplete, instances, complete_time;
} totals;

static void add_to(totals *t, const call *c)
{
    t->time += c->max;
    t->wire += c->min;
    t->records += (uint64_t)c->seen;
    t->missing += (uint64_t)(c->count - c->seen);
    t->incomplete += c->seen < c->count;
    t->instances++;
    if (c->seen == c->count) t->complete_time += c->max;
}

static void add_waiting(nccl_waiting *w, const call *c, int rank, double median)
{
    uint64_t us = (uint64_t)c->us[rank], caused = 0;
    bool last = us == c->min, alone = last && c->last_count == 1 && c->seen > 1;
    if (c->count < 2) return;
    for (int k = 0; k < c->count; k++)
        caused += c->us[c->ranks[k]] ? (uint64_t)c->us[c->ranks[k]] - c->min : 0;
    w->records++;
    w->last_arrivals += last;
    w->last_alone += alone;
    w->suffered_us += us - c->min;
    w->cost_us += alone ? c->second - c->min : 0;
    w->caused_us += alone ? caused : 0;
    if (c->seen < c->count) return;
    w->judged++;
    w->judged_last += alone;
    w->judged_cost_us += alone ? c->second - c->min : 0;
    w->behind_us += median - (double)us;
}

static void check_waiting(const nccl_waiting *x, const nccl_waiting *expected)
{
    assert_int_equal(x->records, expected->records);
    assert_int_equal(x->last_arrivals, expected->last_arrivals);
    assert_int_equal(x->last_alone, expected->last_alone);
    assert_int_equal(x->suffered_us, expected->suffered_us);
    assert_int_equal(x->cost_us, expected->cost_us);
    assert_int_equal(x->caused_us, expected->caused_us);
    assert_int_equal(x->judged, expected->judged);
    assert_int_equal(x->judged_last, expected->judged_last);
    assert_int_equal(x->judged_cost_us, expected->judged_cost_us);
    assert_true(fabs(x->behind_us - expected->behind_us) < 1e-6);
    assert_int_equal(x->missing, expected->missing);
    assert_int_equal(x->missing_tail, expected->missing_tail);
}

// Was this record of a rank with a log lost, and none of the collective is behind it?
static void add_missing(nccl_waiting *w, const call *c, int rank)
{
    bool behind = false;
    for (int what = 0; what < job.whats; what++)
        for (int i = 0; i < CALLS && strcmp(plan_whats[what].coll, plan_whats[c->what].coll) == 0; i++) {
            plan_call other = plan_call_of(&job, c->group, c->number, rank, what, i);
            behind |= plan_sn(&job, what, i) > c->sn && lost_here_and_there(&other) != PLAN_LOST;
        }
    w->missing++;
    w->missing_tail += !behind;
}

// Of the world, where several ranks are on each of several hosts: was one host's alone the last?
static void add_hosts(nccl_host *hosts, const call *c)
{
    uint64_t least[8];
    memset(least, 0xff, sizeof least);
    if (c->group != 'w' || c->seen < c->count) return;
    for (int k = 0; k < c->count; k++) {
        int host = c->ranks[k] / job.each;
        if ((uint64_t)c->us[c->ranks[k]] < least[host]) least[host] = (uint64_t)c->us[c->ranks[k]];
    }
    for (int host = 0; host < job.hosts; host++) {
        uint64_t others = UINT64_MAX;
        for (int other = 0; other < job.hosts; other++)
            if (other != host && least[other] < others) others = least[other];
        hosts[host].judged++;
        hosts[host].judged_last += least[host] < others;
        hosts[host].judged_cost_us += least[host] < others ? others - least[host] : 0;
    }
}

typedef struct model {
    nccl_waiting ranks[MOST];
    nccl_host hosts[8];
    totals all;
} model;

static void add_call(model *m, const call *c)
{
    double sorted[MOST];
    size_t count = 0;
    add_to(&m->all, c);
    for (int k = 0; k < c->count; k++)
        if (c->us[c->ranks[k]]) sorted[count++] = c->us[c->ranks[k]];
    double median = nccl_median_of(sorted, count);
    for (int k = 0; k < c->count; k++) {
        int rank = c->ranks[k];
        if (c->us[rank])
            add_waiting(&m->ranks[rank], c, rank, median);
        else if (!is_absent(c->group, rank))
            add_missing(&m->ranks[rank], c, rank);
    }
    add_hosts(m->hosts, c);
}

static void check_series(const nccl *n, model *m, char group, int number, int what)
{
    double wire[CALLS], skew[CALLS], time[CALLS], bus[CALLS];
    totals t = {0};
    size_t at = 0;
    const nccl_series *s = NULL;
    for (int i = 0; i < CALLS; i++) {
        const call c = call_of(group, number, what, i);
        if (!c.seen) continue;
        s = series_of(n, &c);
        assert_non_null(s);
        check_instance(n, s, &n->instances[s->first_instance + at], &c);
        add_to(&t, &c);
        add_call(m, &c);
        wire[at] = (double)c.min, skew[at] = (double)(c.max - c.min), time[at] = (double)c.max;
        bus[at++] = plan_bus_gbs(&plan_whats[what], c.count, (int)c.min);
    }
    assert_non_null(s);
    assert_int_equal(s->instance_count, at);
    assert_int_equal(s->incomplete, t.incomplete);
    assert_int_equal(s->missing, t.missing);
    assert_int_equal(s->time_us, t.time);
    assert_int_equal(s->wire_total_us, t.wire);
    const nccl_spread *found[] = {&s->spreads.wire_us, &s->spreads.skew_us, &s->spreads.time_us, &s->spreads.bus_gbs};
    double *values[] = {wire, skew, time, bus};
    for (size_t i = 0; i < COUNT(found); i++) {
        const nccl_spread spread = nccl_spread_of(values[i], at);
        assert_int_equal(found[i]->count, at);
        assert_true(fabs(found[i]->p25 - spread.p25) < 1e-8 && fabs(found[i]->p50 - spread.p50) < 1e-8);
        assert_true(fabs(found[i]->max - spread.max) < 1e-8 && fabs(found[i]->mean - spread.mean) < 1e-8);
    }
}

static void check_communicator(const nccl *n, model *m, char group, int number)
{
    model own = {0};
    char label[16];
    const nccl_communicator *c = NULL;
    for (int what = 0; what < job.whats; what++)
        check_series(n, &own, group, number, what);
    snprintf(label, sizeof label, "%c%d", group, number);
    for (size_t i = 0; i < n->communicator_count; i++)
        if (strcmp(n->communicators[i].label, label) == 0) c = &n->communicators[i];
    assert_non_null(c);
    int ranks[MOST], count = plan_ranks(&job, group, number, ranks), absent = 0;
    for (int k = 0; k < count; k++)
        absent += is_absent(group, ranks[k]);
    uint64_t tail = 0, time = 0;
    for (uint32_t i = 0; i < c->member_count; i++) {
        const nccl_member *member = &n->members[c->first_member + i];
        int rank = world_rank(n, c->first_member + i);
        check_waiting(&member->waiting, &own.ranks[rank]);
        tail += own.ranks[rank].missing_tail;
        assert_int_equal(member->coll_records, own.ranks[rank].records);
    }
    for (uint32_t i = 0; i < c->operation_count; i++)
        time += n->operations[c->first_operation + i].complete_time_us;
    assert_int_equal(c->ranks, count);
    assert_int_equal(c->member_count, count - absent);
    assert_int_equal(c->instances, own.all.instances);
    assert_int_equal(c->complete, own.all.instances - own.all.incomplete);
    assert_int_equal(c->records, own.all.records);
    assert_int_equal(c->missing, own.all.missing);
    assert_int_equal(c->missing_tail, tail);
    assert_int_equal(c->missing_absent, (uint64_t)absent * own.all.instances);
    assert_int_equal(c->time_us, own.all.time);
    assert_int_equal(c->wire_us, own.all.wire);
    assert_int_equal(time, own.all.complete_time);
    for (int what = 0; what < job.whats; what++)
        for (int i = 0; i < CALLS; i++) {
            const call x = call_of(group, number, what, i);
            if (x.seen) add_call(m, &x);
        }
}

static void against_a_plain_sum(void **state)
{
    char *tree = tree_make();
    const char *path = tree;
    nccl n = {0};
    static model m;
    uint64_t instances = 0;
    (void)state;
    plan_write(&job, tree);
    assert_int_equal(nccl_read(&n, &path, 1, &(nccl_options){.threads = 2}, NULL), NETPROF_OK);
    assert_int_equal(n.disagreeing + n.duplicates + n.conflicts, 0);
    for (const char *group = job.groups; *group; group++) {
        int ranks[MOST];
        for (int number = 0; plan_ranks(&job, *group, number, ranks); number++)
            check_communicator(&n, &m, *group, number);
    }
    assert_int_equal(n.instance_count, m.all.instances);
    for (size_t i = 0; i < n.process_count; i++)
        check_waiting(&n.processes[i].waiting, &m.ranks[n.processes[i].pid - 100]);
    for (size_t i = 0; i < n.host_count; i++) {
        int host = n.hosts[i].name[1] - '0';
        assert_int_equal(n.hosts[i].judged, m.hosts[host].judged);
        assert_int_equal(n.hosts[i].judged_last, m.hosts[host].judged_last);
        assert_int_equal(n.hosts[i].judged_cost_us, m.hosts[host].judged_cost_us);
    }
    for (size_t i = 0; i < n.kind_count; i++)
        instances += n.kinds[i].instances;
    assert_int_equal(instances, m.all.instances);
    nccl_free(&n);
    tree_remove(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(against_a_plain_sum)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
