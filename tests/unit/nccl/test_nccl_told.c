// What is found in jobs of plain arithmetic (nccl_plan.h), told whole: every finding with its claim, its numbers, its cost,
// whom and which calls it is about, in its order; what could not be judged; the verdict. told.json beside this file holds
// it. The figures that the plans make are checked by arithmetic here.
#define _GNU_SOURCE
#include "netprof.h"

#include "analysis/nccl/findings/nccl_compare.h"
#include "nccl_plan.h"
#include "nccl_told.h"

static int noise(const plan_call *c)
{
    return (c->call * 7 + c->rank * 3 + c->what) % 5;
}

static int usual_wire(const plan_call *c)
{
    static const int us[] = {100, 30, 900, 60};
    return us[c->what] + c->call * 3 % 7;
}

// ---- jobs ----

typedef struct job {
    char *tree;
    nccl n;
    nccl_findings f;
} job;

static job read_plan(const plan *p, const nccl_options *how)
{
    job j = {.tree = tree_make()};
    const char *path = j.tree;
    plan_write(p, j.tree);
    assert_int_equal(nccl_read(&j.n, &path, 1, how, NULL), NETPROF_OK);
    return j;
}

static void judge(job *j, const nccl_comparison *c)
{
    nccl_findings_make(&j->f, &j->n, c);
    claims_check(&j->n, &j->f);
}

static void job_end(job *j)
{
    nccl_findings_free(&j->f);
    nccl_free(&j->n);
    tree_remove(j->tree);
}

// cost_us: of the first finding; 0: it has none.
static void tell(json_object *all, const char *name, const plan *p, const nccl_options *how, double cost_us)
{
    job j = read_plan(p, how);
    judge(&j, NULL);
    double said = j.f.count && !isnan(j.f.items[0].cost_us) ? j.f.items[0].cost_us : 0;
    if (fabs(said - cost_us) > 1e-6) fail_msg("%s: cost %.9g us, not %.9g", name, said, cost_us);
    json_put(all, name, told(&j.n, &j.f));
    job_end(&j);
}

// ---- who is late ----

static int late_5(const plan_call *c)
{
    return noise(c) + (c->rank == 5 ? 40 + c->what : 0);
}

// On its rail alone; elsewhere it is never the last.
static int late_5_on_its_rail(const plan_call *c)
{
    if (c->rank != 5) return noise(c);
    return c->group == 'r' ? 60 + noise(c) : 0;
}

// In one collective alone.
static int late_2_for_a_while(const plan_call *c)
{
    return noise(c) + (c->rank == 2 && !c->what && c->call >= 12 && c->call < 36 ? 25 : 0);
}

static int late_3_from_24(const plan_call *c)
{
    return noise(c) + (c->rank == 3 && c->call >= 24 ? 300 : 0);
}

// Two calls of five, and else as often as anybody.
static int often_3(const plan_call *c)
{
    return (c->call * 5 + c->rank * 3 + c->what) % 8 + (c->rank == 3 && c->call % 5 < 2 ? 20 : 0);
}

// One or another rank of host 1, which takes turns; the others of it are as early as any.
static int late_host_1(const plan_call *c)
{
    return noise(c) + (c->host == 1 && c->call % 3 == c->place ? 35 : 0);
}

static int late_host_1_and_rank_4(const plan_call *c)
{
    return late_host_1(c) + (c->rank == 4 ? 200 : 0);
}

// Comes before all others, so that these take longer than it does not: it waits.
static int early_6(const plan_call *c)
{
    return c->rank == 6 && c->call >= 20 ? noise(c) : 50 + noise(c);
}

static int all_alike(const plan_call *c)
{
    return noise(c);
}

// What a rank, or a host, costs the others of its communicators: in each call how much later it comes than any of them.
static double cost_of(const plan *p, bool is_host, int who, int first_call, int end_call, int what)
{
    double cost = 0;
    int ranks[PLAN_RANKS];
    for (const char *group = p->groups; *group; group++)
        for (int number = 0, count; (count = plan_ranks(p, *group, number, ranks)) > 0; number++)
            for (int i = first_call * p->whats; i < (end_call ? end_call : p->calls) * p->whats; i++) {
                int own = -1, others = -1;
                if ((what >= 0 && i % p->whats != what) || (is_host && *group == 'n')) continue;
                for (int k = 0; k < count; k++) {
                    plan_call c = plan_call_of(p, *group, number, ranks[k], i % p->whats, i / p->whats);
                    int *of = (is_host ? c.host : c.rank) == who ? &own : &others;
                    if (p->late(&c) > *of) *of = p->late(&c);
                }
                cost += own > others && others >= 0 ? own - others : 0;
            }
    return cost;
}

static void who_is_late(json_object *all)
{
    static const struct {
        const char *name;
        plan p;
        bool is_host;
        int who, first_call, end_call, what; // -1: nobody, or all; 0: the end
    } rows[] = {
        {"a rank in all collectives", {4, 2, 48, 3, "wrn", late_5, usual_wire}, false, 5, 0, 0, -1},
        {"a rank for a while", {8, 1, 48, 2, "w", late_2_for_a_while, usual_wire}, false, 2, 12, 36, 0},
        {"a rank from a call on", {8, 1, 48, 2, "w", late_3_from_24, usual_wire}, false, 3, 24, 0, -1},
        {"a rank and so its host", {4, 2, 48, 2, "w", late_3_from_24, usual_wire}, false, 3, 24, 0, -1},
        {"a rank, often", {8, 1, 120, 1, "w", often_3, usual_wire}, false, 3, 0, 0, -1},
        {"a rank and so its host, often", {4, 2, 120, 1, "w", often_3, usual_wire}, true, 1, 0, 0, -1},
        {"a rank in few calls", {4, 2, 5, 2, "wr", late_5, usual_wire}, false, 5, 0, 0, -1},
        {"a rank in few calls of one communicator",
         {4, 2, 4, 4, "wrn", late_5_on_its_rail, usual_wire},
         false,
         5,
         0,
         0,
         -1},
        {"a host", {3, 3, 60, 1, "wrn", late_host_1, usual_wire}, true, 1, 0, 0, -1},
        {"a host and one of its ranks", {3, 3, 60, 1, "wr", late_host_1_and_rank_4, usual_wire}, false, 4, 0, 0, -1},
        {"one is early", {4, 2, 60, 2, "wn", early_6, usual_wire}, false, -1, 0, 0, -1},
        {"nobody", {4, 2, 40, 2, "wrn", all_alike, usual_wire}, false, -1, 0, 0, -1},
        {"too few calls", {4, 2, 2, 1, "w", late_5, usual_wire}, false, -1, 0, 0, -1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        bool any = rows[i].who >= 0;
        tell(all, rows[i].name, &rows[i].p, NULL,
             any ? cost_of(&rows[i].p, rows[i].is_host, rows[i].who, rows[i].first_call, rows[i].end_call, rows[i].what)
                 : 0);
    }
}

// ---- the wire ----

// Is the host one of the two, of six hosts?
static bool in_pair(const plan_call *c, int host)
{
    static const plan p = {.hosts = 6, .each = 1};
    int ranks[PLAN_RANKS];
    return plan_ranks(&p, 'p', c->number, ranks) == 2 && (ranks[0] == host || ranks[1] == host);
}

static int host_2_slow(const plan_call *c)
{
    return in_pair(c, 2) ? 2 * usual_wire(c) : usual_wire(c);
}

static int two_hosts_slow(const plan_call *c)
{
    return in_pair(c, 1) ? 3 * usual_wire(c) : host_2_slow(c);
}

// Of the 15 pairs the seventh, 1 and 3.
static int pair_6_slow(const plan_call *c)
{
    return c->number == 6 ? 17 * usual_wire(c) / 10 : usual_wire(c);
}

static int node_2_slow(const plan_call *c)
{
    return c->group == 'n' && c->host == 2 ? 5 * usual_wire(c) / 2 : usual_wire(c);
}

// Host 5 is in two communicators only, and both are very slow; of those with host 1 all five are, by less.
static int few_with_host_5(const plan_call *c)
{
    bool with_1 = in_pair(c, 1);
    if (in_pair(c, 5) && !with_1 && !in_pair(c, 2)) return PLAN_LOST;
    return in_pair(c, 5) ? 3 * usual_wire(c) : with_1 ? 3 * usual_wire(c) / 2 : usual_wire(c);
}

// Those of host 0 take 1.4 times as long and one of them as long as others: of five that is too many.
static int nearly_all_of_host_0(const plan_call *c)
{
    return in_pair(c, 0) && c->number != 2 ? 7 * usual_wire(c) / 5 : usual_wire(c);
}

// Of most hosts nobody is the exception.
static int all_but_two_slow(const plan_call *c)
{
    return in_pair(c, 0) && in_pair(c, 1)   ? usual_wire(c)
           : in_pair(c, 0) || in_pair(c, 1) ? 2 * usual_wire(c)
                                            : 3 * usual_wire(c);
}

// As long on all communicators in the middle, but never the same.
static int varying(const plan_call *c)
{
    return 60 + (c->call * 37 + c->number * 11 + c->what * 5) % 90;
}

static int slower_from_25(const plan_call *c)
{
    return usual_wire(c) + (c->call >= 25 && c->what == 1 ? 60 : 0);
}

static int ranks_do_not_meet(const plan_call *c)
{
    return (c->call * 5 + c->rank * 3) % 8 * 1000;
}

static int very_late_3(const plan_call *c)
{
    return c->rank == 3 ? 2500 : 0;
}

static int lost_records(const plan_call *c)
{
    if (c->rank == 1 && c->call == 7) return PLAN_LOST;
    if (c->rank == 4 && c->call >= 34) return PLAN_LOST;
    if (c->rank == 6) return PLAN_LOST;
    return usual_wire(c);
}

// Of the given peak of 100 GB/s, what 16 MiB in 903 us are on each link of eight ranks.
#define BELOW ((1 << 24) / 903e3 * 2 * 7 / 8 / 100)

static void how_the_wire_is(json_object *all)
{
    static const nccl_peak peaks[] = {{"w0", 100}, {"r*", 17}, {"nvlink-only", 10}};
    static const nccl_options how = {.peaks = peaks, .peak_count = COUNT(peaks)};
    static const struct {
        const char *name;
        plan p;
        const nccl_options *how;
        double cost_us;
    } rows[] = {
        // medians of the wire: 103, 33 and 903 us
        {"a slow host", {6, 1, 30, 2, "p", all_alike, host_2_slow}, NULL, 5 * 30 * (103 + 33)},
        {"two slow hosts", {6, 1, 30, 1, "p", all_alike, two_hosts_slow}, NULL, 5 * 30 * (309 - 103)},
        {"a slow communicator", {6, 1, 30, 2, "p", all_alike, pair_6_slow}, NULL, 30 * ((175 - 103) + (56 - 33))},
        {"slow within a node", {5, 3, 24, 2, "nr", all_alike, node_2_slow}, NULL, 24 * ((257 - 103) + (82 - 33))},
        {"a host in few communicators",
         {6, 1, 30, 2, "p", all_alike, few_with_host_5},
         NULL,
         30 * (4 * ((154 - 103) + (49 - 33)) + (309 - 103) + (99 - 33))},
        {"nearly all of a host",
         {6, 1, 30, 2, "p", all_alike, nearly_all_of_host_0},
         NULL,
         30 * ((144 - 103) + (46 - 33))},
        {"slow ones everywhere", {6, 1, 30, 2, "p", all_alike, all_but_two_slow}, NULL, 30 * (103 + 33)},
        {"a wire that varies", {4, 1, 12, 2, "p", all_alike, varying}, NULL, 0},
        {"slower from a call on", {4, 2, 60, 2, "w", all_alike, slower_from_25}, NULL, (60 - 25) * 60},
        {"ranks that do not meet", {4, 2, 24, 3, "w", ranks_do_not_meet, usual_wire}, NULL, 24 * 7000},
        {"one that the others wait for", {4, 2, 24, 2, "w", very_late_3, usual_wire}, NULL, 24 * 2 * 2500},
        {"below its peak", {4, 2, 24, 3, "wrn", all_alike, usual_wire}, &how, 24 * 903 * (1 - BELOW)},
        {"lost records", {4, 2, 40, 2, "wr", all_alike, lost_records}, NULL, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        tell(all, rows[i].name, &rows[i].p, rows[i].how, rows[i].cost_us);
}

// ---- two jobs ----

static int other_wire(const plan_call *c)
{
    if (c->group == 'n') return (c->what == 1 ? 6 : c->what ? 4 : 5) * usual_wire(c) / 4;
    if (c->what == 2) return usual_wire(c) / 2;
    return c->what ? usual_wire(c) : usual_wire(c) + 15;
}

static int thrice_as_late(const plan_call *c)
{
    return 3 * noise(c);
}

static json_object *compared(const nccl_comparison *c)
{
    json_object *list = json_new_array();
    told_append(list, "%zu rows, %zu slower, %zu faster, %zu alike", c->count, c->slower, c->faster, c->alike);
    for (size_t i = 0; i < c->count; i++) {
        const nccl_compared *r = &c->rows[i];
        const nccl *n = r->after ? c->after : c->before;
        const nccl_kind *k = r->after ? r->after : r->before;
        told_append(list, "%s %s of %llu: %s, wire x %.9g, skew x %.9g, bus x %.9g, z %.6f", nccl_class_name(k->type),
                    n->colls[k->coll], (unsigned long long)k->size, nccl_verdict_name(r->verdict), r->wire_ratio,
                    r->skew_ratio, r->bus_ratio, r->z);
    }
    return list;
}

static void two_jobs(json_object *all)
{
    static const plan before = {4, 2, 30, 3, "wn", all_alike, usual_wire},
                      after = {4, 2, 24, 4, "wn", thrice_as_late, other_wire};
    for (int back = 0; back < 2; back++) {
        job a = read_plan(back ? &after : &before, NULL), b = read_plan(back ? &before : &after, NULL);
        nccl_comparison c;
        nccl_compare(&c, &a.n, &b.n);
        judge(&b, &c);
        json_object *o = told(&b.n, &b.f);
        json_put(o, "compared", compared(&c));
        json_put(all, back ? "compared, the other way round" : "compared", o);
        nccl_compare_free(&c);
        job_end(&a);
        job_end(&b);
    }
}

static void told_whole(void **state)
{
    json_object *all = json_new_object();
    (void)state;
    who_is_late(all);
    how_the_wire_is(all);
    two_jobs(all);
    golden_expect(all, "nccl/told.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(told_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
