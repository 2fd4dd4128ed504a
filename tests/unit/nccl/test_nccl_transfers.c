// Send and Recv between ranks, some of which are slow: how many of a rank's must be so, and how many of the others' may be, for
// the rank to be named; else pairs are. Tables of transfers as they are judged, without logs.
#define _GNU_SOURCE // nftw
#include "netprof.h"

#include "analysis/nccl/findings/nccl_findings_make.h"
#include "support.h"

#include <math.h>

enum { MOST = 11, USUAL_US = 100, SLOW_US = 300, RECORDS = 20 };

typedef struct scene {
    nccl_host hosts[MOST];
    nccl_process processes[MOST];
    uint32_t process_members[MOST];
    nccl_member members[MOST];
    nccl_communicator communicator;
    nccl_p2p p2p[MOST * MOST];
    bool late[MOST];
    nccl n;
    nccl_findings f;
} scene;

// Of each rank a host; all send to all, each pair in the same time.
static void scene_begin(scene *s, uint32_t ranks)
{
    static const char *const names[MOST] = {"h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8", "h9", "h10"};
    *s = (scene){.communicator = {.label = "world",
                                  .name = "world",
                                  .ranks = ranks,
                                  .nodes = ranks,
                                  .type = NCCL_HCA_ONLY,
                                  .member_count = ranks}};
    s->n = (nccl){.hosts = s->hosts,
                  .host_count = ranks,
                  .processes = s->processes,
                  .process_count = ranks,
                  .process_members = s->process_members,
                  .members = s->members,
                  .member_count = ranks,
                  .communicators = &s->communicator,
                  .communicator_count = 1,
                  .p2p = s->p2p};
    for (uint32_t i = 0; i < ranks; i++) {
        s->hosts[i] = (nccl_host){.name = names[i], .first_process = i, .process_count = 1};
        s->processes[i] = (nccl_process){.host = i, .pid = 100 + i, .first_member = i, .member_count = 1};
        s->process_members[i] = i;
        s->members[i] = (nccl_member){.rank = i, .process = i};
        for (uint32_t k = 0; k < ranks; k++)
            if (k != i)
                s->p2p[s->n.p2p_count++] = (nccl_p2p){.member = i,
                                                      .peer = k,
                                                      .operation = "Send",
                                                      .timing = "gpu",
                                                      .size = 4096,
                                                      .records = RECORDS,
                                                      .time_us = {.p25 = USUAL_US, .p50 = USUAL_US}};
    }
}

static nccl_p2p *scene_cell(scene *s, uint32_t from, uint32_t to)
{
    for (size_t i = 0; i < s->n.p2p_count; i++)
        if (s->p2p[i].member == from && s->p2p[i].peer == to) return &s->p2p[i];
    return NULL;
}

static void scene_slow(scene *s, uint32_t from, uint32_t to, double us)
{
    nccl_p2p *x = scene_cell(s, from, to);
    x->time_us.p25 = x->time_us.p50 = us;
}

static void scene_judge(scene *s)
{
    nccl_findings_making m = {.f = &s->f, .n = &s->n, .late_processes = s->late};
    nccl_findings_partners(&m);
}

static size_t scene_count(const scene *s, int which)
{
    size_t count = 0;
    for (size_t i = 0; i < s->f.count; i++)
        count += s->f.items[i].rule == &nccl_finding_rules[which];
    return count;
}

// ---- whom it is ----

typedef struct whom {
    uint32_t ranks, theirs, own, others; // that are slow: to rank 0, from it, between others
    size_t late, slow, pairs;            // findings
} whom;

static void make_slow(scene *s, const whom *x)
{
    uint32_t others = 0;
    for (uint32_t i = 1; i <= x->theirs; i++)
        scene_slow(s, i, 0, SLOW_US);
    for (uint32_t i = 1; i <= x->own; i++)
        scene_slow(s, 0, i, SLOW_US);
    for (uint32_t step = 1; step < x->ranks - 1; step++) // in rings, so that none of them stands out
        for (uint32_t i = 0; i < x->ranks - 1 && others < x->others; i++, others++)
            scene_slow(s, 1 + i, 1 + (i + step) % (x->ranks - 1), SLOW_US);
}

static void who_stands_out(void **state)
{
    static const whom rows[] = {
        {6, 0, 0, 0, 0, 0, 0},    {6, 5, 0, 0, 1, 0, 0},
        {6, 5, 0, 5, 1, 0, 5},                           // a quarter of the twenty between others
        {6, 5, 0, 6, 0, 0, 11},                          // more: there are ways of two sorts
        {6, 5, 2, 0, 1, 0, 0},    {6, 5, 3, 0, 0, 0, 5}, // of both directions one
        {6, 4, 0, 0, 0, 0, 4},    {11, 10, 5, 0, 1, 0, 0},
        {11, 10, 6, 0, 0, 0, 10}, {11, 9, 0, 0, 1, 0, 0}, // nine tenths
        {11, 8, 0, 0, 0, 0, 8},   {11, 9, 9, 0, 0, 1, 0},
        {11, 10, 9, 0, 0, 1, 0},  {11, 9, 8, 0, 0, 0, 9},
        {11, 8, 9, 0, 0, 0, 9},   {11, 0, 10, 0, 0, 0, 0}, // it comes early, and waits
        {11, 5, 9, 0, 0, 0, 0},   {11, 6, 9, 0, 0, 0, 9},
        {11, 0, 8, 0, 0, 0, 8},
    };
    static scene s;
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const whom *x = &rows[i];
        scene_begin(&s, x->ranks);
        make_slow(&s, x);
        scene_judge(&s);
        size_t late = scene_count(&s, NCCL_RULE_LATE_PARTNER), slow = scene_count(&s, NCCL_RULE_SLOW_PARTNER),
               pairs = scene_count(&s, NCCL_RULE_SLOW_PAIR);
        if (late != x->late || slow != x->slow || pairs != x->pairs || s.f.count != late + slow + pairs)
            fail_msg("row %zu: %zu late, %zu slow, %zu pairs", i, late, slow, pairs);
        assert_int_equal(s.f.judged, 1); // all are equals
        if (late + slow) {
            const nccl_finding *y = &s.f.items[0];
            assert_int_equal(y->member, 0);
            assert_string_equal(y->device, "h0");
            assert_int_equal(y->severity, SEVERITY_WATCH);
            assert_true(fabs(y->value - 3) < 1e-9);
            assert_true(fabs(y->cost_us - (SLOW_US - USUAL_US) * RECORDS) < 1e-6); // of the partner that lost most
            assert_int_equal(y->evidence_count, 1);
            assert_string_equal(y->evidence[0].name, "partners in world");
            assert_int_equal(y->evidence[0].value, x->ranks - 1);
        }
        nccl_findings_free(&s.f);
    }
}

// ---- what is slow ----

static void what_is_slow(void **state)
{
    const double limit = nccl_finding_rules[NCCL_RULE_SLOW_PAIR].limit;
    const struct {
        double usual, us, p25;
        uint64_t records;
        bool is;
    } rows[] = {{100, 100 * limit, 100 * limit, 20, false},
                {100, 100 * limit + 1, 100 * limit + 1, 20, true},
                {100, 900, 102, 20, false}, // a quarter of them are as usual
                {100, 900, 102.5, 20, true},
                {1, 3, 3, 20, false}, // 2 us
                {1, 3.5, 3.5, 20, true},
                {100, 900, 900, NCCL_LEAST_CALLS, true},
                {100, 900, 900, NCCL_LEAST_CALLS - 1, false},
                {0, 900, 900, 20, false}};
    static scene s;
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        scene_begin(&s, 5);
        for (size_t k = 0; k < s.n.p2p_count; k++)
            s.p2p[k].time_us.p25 = s.p2p[k].time_us.p50 = rows[i].usual;
        nccl_p2p *x = scene_cell(&s, 3, 1);
        x->time_us = (nccl_spread){.p25 = rows[i].p25, .p50 = rows[i].us};
        x->records = rows[i].records;
        scene_judge(&s);
        if (s.f.count != rows[i].is) fail_msg("row %zu: %zu findings", i, s.f.count);
        if (rows[i].is) {
            const nccl_finding *y = &s.f.items[0];
            assert_true(y->rule == &nccl_finding_rules[NCCL_RULE_SLOW_PAIR]);
            assert_int_equal(y->member, 3);
            assert_string_equal(y->device, "h3");
            assert_true(fabs(y->value - rows[i].us / rows[i].usual) < 1e-9);
            assert_true(fabs(y->cost_us - (rows[i].us - rows[i].usual) * (double)rows[i].records) < 1e-6);
        }
        nccl_findings_free(&s.f);
    }
}

// Ten that are equal are judged: of five ranks that send to two others each; of nine none.
static void how_many_are_judged(void **state)
{
    static scene s;
    (void)state;
    for (size_t count = NCCL_LEAST_CALLS - 1; count <= NCCL_LEAST_CALLS; count++) {
        scene_begin(&s, 5);
        s.n.p2p_count = count;
        s.p2p[4].time_us = (nccl_spread){.p25 = SLOW_US, .p50 = SLOW_US}; // 1 to 0
        scene_judge(&s);
        assert_int_equal(s.f.count, count == NCCL_LEAST_CALLS);
        assert_int_equal(s.f.judged, count == NCCL_LEAST_CALLS);
        nccl_findings_free(&s.f);
    }
}

// ---- what is said ----

static void what_is_said(void **state)
{
    static scene s;
    (void)state;
    scene_begin(&s, 6);
    for (uint32_t i = 0; i < 6; i++)
        if (i != 2) scene_slow(&s, i, 2, i == 4 ? 500 : SLOW_US);
    scene_cell(&s, 5, 2)->records = 31;
    s.late[2] = true;
    scene_judge(&s);
    assert_int_equal(s.f.count, 1);
    const nccl_finding *x = &s.f.items[0];
    assert_string_equal(x->claim,
                        "rank 2 on host h2 in communicator world comes late to Send and Recv, and its partners "
                        "wait for it: their calls with it take 3 times as long as between equals");
    assert_int_equal(x->severity, SEVERITY_INFO); // of one event
    assert_string_equal(x->explained_by, nccl_finding_rules[NCCL_RULE_LATE_RANK].name);
    assert_true(fabs(x->cost_us - (500 - 100) * RECORDS) < 1e-6); // not the 200 * 31 of rank 5
    assert_int_equal(x->communicator, 0);
    nccl_findings_free(&s.f);
    // Slow both ways is no other event; of each two the longer one is told.
    scene_begin(&s, 6);
    scene_slow(&s, 1, 4, SLOW_US);
    scene_slow(&s, 4, 1, 400);
    scene_slow(&s, 3, 5, SLOW_US);
    scene_judge(&s);
    assert_int_equal(s.f.count, 2);
    assert_string_equal(s.f.items[0].claim,
                        "Send of 4 KiB between rank 4 on host h4 and rank 1 on host h1 in communicator "
                        "world takes 4 times as long as between its equals (400 µs)");
    assert_int_equal(s.f.items[0].member, 4);
    assert_int_equal(s.f.items[1].member, 3);
    assert_true(fabs(s.f.items[0].cost_us - 300 * RECORDS) < 1e-6);
    nccl_findings_free(&s.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(who_stands_out), cmocka_unit_test(what_is_slow),
                                       cmocka_unit_test(how_many_are_judged), cmocka_unit_test(what_is_said)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
