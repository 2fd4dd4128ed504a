// Who sent to whom and what that waited for: whose it is by what waited, with every figure of a finding, and the matrices
// that pages draw, of ranks and of hosts. Ranks, bytes, steps and waits are unlike, so that whatever is left out, counted
// twice or mistaken for another shows.
#define _GNU_SOURCE // nftw
#include "netprof.h"

#include "analysis/base/words.h"
#include "nccl_all_to_all.h"
#include "support.h"

// ---- cells ----

static void cells_hold_both_sides(void **state)
{
    results r = {.tree = tree_make()};
    (void)state;
    write_all_to_all(r.tree, none_is_slow, 1);
    read_results(&r);
    assert_int_equal(r.p.count, RANKS * (RANKS - 1));
    for (size_t i = 0; i < r.p.count; i++) {
        const nccl_peer *x = &r.p.items[i];
        int from = rank_of(&r, x->sender), to = rank_of(&r, x->receiver), at = to - (to > from);
        int64_t steps = steps_of(from, to);
        assert_int_equal(i, from * (RANKS - 1) + at); // by sender and receiver
        assert_int_equal(x->bytes, bytes_of(from, to));
        assert_int_equal(x->sent, steps);
        assert_int_equal(x->received, steps);
        for (int w = 0; w < NCCL_WAITS; w++) {
            double wait = (double)wait_of(none_is_slow, from, to, (nccl_wait)w, 1);
            assert_near(x->wait_us[w], wait * (double)steps);
            assert_near(nccl_peer_wait(x, (nccl_wait)w), wait);
            assert_near(x->beside[w], wait / USUAL); // a third of all has 20: the lower quartile
        }
        assert_near(x->receive_us, 5);
        assert_near(x->consume_us, 3);
    }
    for (size_t i = 0; i < r.f.count; i++)
        assert_null(strstr(r.f.items[i].rule->name, "nccl-slow-"));
    results_end(&r);
}

// ---- findings ----

static bool to_5(int from, int to, nccl_wait wait)
{
    return from >= 0 && to == 5 && wait == NCCL_WAIT_WIRE;
}

static bool from_h2(int from, int to, nccl_wait wait)
{
    return from / EACH == 2 && to / EACH != 2 && wait == NCCL_WAIT_WIRE;
}

static bool to_h4(int from, int to, nccl_wait wait)
{
    return to / EACH == 4 && from / EACH != 4 && wait == NCCL_WAIT_FLUSH;
}

static bool gpu_of_3(int from, int to, nccl_wait wait)
{
    return from == 3 && to >= 0 && wait == NCCL_WAIT_GPU;
}

static bool credit_of_5(int from, int to, nccl_wait wait)
{
    return from >= 0 && to == 5 && wait == NCCL_WAIT_CREDIT;
}

static bool flush_of_5(int from, int to, nccl_wait wait)
{
    return from >= 0 && to == 5 && wait == NCCL_WAIT_FLUSH;
}

typedef struct unit_case {
    way_is_slow *slow;
    nccl_wait wait;
    bool rows, host; // sends; a host
    int who;         // rank or host
    const char *evidence, *does;
} unit_case;

static const unit_case unit_cases[] = {
    {from_3, NCCL_WAIT_WIRE, true, false, 3, "steps that waited (wire)",
     "sends slowly: whoever receives, its data are on the wire"},
    {to_5, NCCL_WAIT_WIRE, false, false, 5, "steps that waited (wire)",
     "receives slowly: whoever sends, the data for it are on the wire"},
    {from_h2, NCCL_WAIT_WIRE, true, true, 2, "steps that waited (wire)",
     "sends slowly: whoever receives, its data are on the wire"},
    {to_h4, NCCL_WAIT_FLUSH, false, true, 4, "steps that waited (flush)",
     "receives slowly: the flush to its GPU takes"},
    {gpu_of_3, NCCL_WAIT_GPU, true, false, 3, "steps that waited (own GPU)", "sends late: its own GPU takes"},
    {credit_of_5, NCCL_WAIT_CREDIT, false, false, 5, "steps that waited (credit)",
     "receives slowly: its senders wait for room"},
    {flush_of_5, NCCL_WAIT_FLUSH, false, false, 5, "steps that waited (flush)",
     "receives slowly: the flush to its GPU takes"}};

typedef struct unit_sums {
    double wait_us, excess_us, time_us, steps;
} unit_sums;

static double time_of(const nccl_peer *x, nccl_wait wait)
{
    if (wait == NCCL_WAIT_FLUSH) return x->receive_us + x->consume_us + x->wait_us[NCCL_WAIT_FLUSH];
    return x->wait_us[NCCL_WAIT_GPU] + x->wait_us[NCCL_WAIT_CREDIT] + x->wait_us[NCCL_WAIT_WIRE];
}

static void sums_add(unit_sums *s, const nccl_peer *x, nccl_wait wait)
{
    s->wait_us += x->wait_us[wait];
    s->excess_us += x->beside[wait] > 1 ? x->wait_us[wait] - x->wait_us[wait] / x->beside[wait] : 0;
    s->time_us += time_of(x, wait);
    s->steps += (double)(wait == NCCL_WAIT_FLUSH ? x->received : x->sent);
}

static bool concerns(const results *r, const unit_case *c, const nccl_peer *x)
{
    int from = rank_of(r, x->sender), to = rank_of(r, x->receiver), own = c->rows ? from : to;
    if (!c->host) return own == c->who;
    return own / EACH == c->who && from / EACH != to / EACH;
}

// The only finding about ways.
static const nccl_finding *only_way_finding(const results *r, const char *name)
{
    const nccl_finding *found = NULL;
    for (size_t i = 0; i < r->f.count; i++) {
        const nccl_finding *x = &r->f.items[i];
        if (!strstr(x->rule->name, "nccl-slow-")) continue;
        if (found || strcmp(x->rule->name, name) != 0) fail_msg("not %s: %s", name, x->claim);
        found = x;
    }
    if (!found) fail_msg("no %s", name);
    return found;
}

static void check_claim(const nccl_finding *x, const char *who, const char *does, const unit_sums *s, const char *end)
{
    char claim[600];
    snprintf(claim, sizeof claim, "%s%s %s a step%s, %s times as long as for others; that is %s of the time of %s", who,
             does, words_duration(s->wait_us / s->steps / 1e6).text, end ? " on the wire" : "",
             words_number(s->wait_us / (s->wait_us - s->excess_us)).text, words_share(s->excess_us / s->time_us).text,
             end ? end : "its steps");
    assert_string_equal(x->claim, claim);
    assert_near(x->value, s->wait_us / (s->wait_us - s->excess_us));
    assert_near(x->cost_share, s->excess_us / s->time_us);
    assert_int_equal(x->severity, SEVERITY_WARN); // more than a tenth of the time, and never worse
}

// Its row or column is marked in the matrix, and of the cells those that the finding is about.
static void check_marks(const results *r, const unit_case *c, const nccl_finding *x)
{
    assert_int_equal(r->v.matrices.count, 1);
    const nccl_view_matrix *m = &r->v.matrices.items[0];
    assert_string_equal(m->claim, x->claim);
    assert_string_equal(m->rule, x->rule->name);
    assert_int_equal(m->severity, SEVERITY_WARN);
    assert_int_equal(m->units.count, RANKS);
    for (size_t i = 0; i < RANKS; i++) {
        bool named = (c->host ? (int)i / EACH : (int)i) == c->who;
        assert_int_equal(m->units.items[i].severity, named ? SEVERITY_WARN : SEVERITY_OK);
    }
    assert_int_equal(m->cells.count, RANKS * (RANKS - 1));
    for (size_t i = 0; i < m->cells.count; i++) {
        const nccl_view_cell *cell = &m->cells.items[i];
        int own = (int)(c->rows ? cell->row : cell->column);
        assert_int_equal(cell->severity, (c->host ? own / EACH : own) == c->who ? SEVERITY_WARN : SEVERITY_OK);
    }
}

static void whose_it_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(unit_cases); i++) {
        const unit_case *c = &unit_cases[i];
        results r = {.tree = tree_make()};
        unit_sums s = {0};
        char who[80];
        write_all_to_all(r.tree, c->slow, 1);
        read_results(&r);
        const nccl_finding *x = only_way_finding(&r, c->rows ? "nccl-slow-sender" : "nccl-slow-receiver");
        for (size_t k = 0; k < r.p.count; k++)
            if (concerns(&r, c, &r.p.items[k])) sums_add(&s, &r.p.items[k], c->wait);
        if (c->host)
            snprintf(who, sizeof who, "host h%d ", c->who);
        else
            snprintf(who, sizeof who, "rank %d of world, on host h%d, ", c->who, c->who / EACH);
        check_claim(x, who, c->does, &s, NULL);
        assert_int_equal(x->member != NCCL_NONE, !c->host);
        assert_string_equal(x->evidence[0].name, c->evidence);
        assert_near(x->evidence[0].value, s.steps);
        assert_string_equal(x->evidence[1].name, c->rows ? "receivers" : "senders");
        assert_near(x->evidence[1].value, c->host ? HOSTS - 1 : RANKS - 1);
        check_marks(&r, c, x);
        results_end(&r);
    }
}

static bool rail_1(int from, int to, nccl_wait wait)
{
    return wait == NCCL_WAIT_WIRE && from % EACH && to % EACH && from / EACH != to / EACH;
}

static void a_rail(void **state)
{
    static const char *const names[] = {"hosts", "ways that are slow", "ways of this rail", "other ways that are slow",
                                        "other ways"};
    static const double values[] = {HOSTS, HOSTS * (HOSTS - 1), HOSTS * (HOSTS - 1), 0, 3 * HOSTS * (HOSTS - 1)};
    results r = {.tree = tree_make()};
    unit_sums s = {0};
    (void)state;
    write_all_to_all(r.tree, rail_1, 1);
    read_results(&r);
    const nccl_finding *x = only_way_finding(&r, "nccl-slow-rail");
    for (size_t i = 0; i < r.p.count; i++)
        if (rail_1(rank_of(&r, r.p.items[i].sender), rank_of(&r, r.p.items[i].receiver), NCCL_WAIT_WIRE))
            sums_add(&s, &r.p.items[i], NCCL_WAIT_WIRE);
    check_claim(x,
                "the ways between ranks of place 1 on their hosts (in the order of ranks, from 0) are slow, those "
                "between others are not:",
                "", &s, "these steps");
    for (size_t i = 0; i < COUNT(names); i++) {
        assert_string_equal(x->evidence[i].name, names[i]);
        assert_near(x->evidence[i].value, values[i]);
    }
    assert_int_equal(x->rail, 1);
    const nccl_view_matrix *m = &r.v.matrices.items[0];
    for (size_t i = 0; i < m->cells.count; i++)
        assert_int_equal(m->cells.items[i].severity,
                         rail_1((int)m->cells.items[i].row, (int)m->cells.items[i].column, NCCL_WAIT_WIRE)
                             ? SEVERITY_WARN
                             : SEVERITY_OK);
    for (size_t i = 0; i < m->units.count; i++)
        assert_int_equal(m->units.items[i].severity, SEVERITY_OK); // nobody's own
    results_end(&r);
}

static bool way_2_to_4(int from, int to, nccl_wait wait)
{
    return from == 2 && to == 4 && wait == NCCL_WAIT_WIRE;
}

// One finding of the communicator in which it is slowest; the other one is evidence.
static void a_link_in_two_communicators(void **state)
{
    results r = {.tree = tree_make()};
    unit_sums s = {0};
    double other = 0;
    (void)state;
    write_all_to_all(r.tree, way_2_to_4, 2);
    read_results(&r);
    const nccl_finding *x = only_way_finding(&r, "nccl-slow-link");
    for (size_t i = 0; i < r.p.count; i++) {
        const nccl_peer *c = &r.p.items[i];
        if (rank_of(&r, c->sender) != 2 || rank_of(&r, c->receiver) != 4) continue;
        if (strcmp(r.n.communicators[c->communicator].label, "second") == 0)
            sums_add(&s, c, NCCL_WAIT_WIRE);
        else
            other = c->beside[NCCL_WAIT_WIRE];
    }
    check_claim(x, "the way from rank 2 on host h1 to rank 4 on host h2 in communicator second is slow:", "", &s,
                "these steps");
    assert_int_equal(x->evidence_count, 2);
    assert_string_equal(x->evidence[0].name, "steps");
    assert_near(x->evidence[0].value, (double)steps_of(2, 4));
    assert_string_equal(x->evidence[1].name, "likewise in world");
    assert_near(x->evidence[1].value, other);
    assert_near(other, (double)SLOW / USUAL);
    assert_string_equal(x->device, "h1");
    // The communicator of the finding comes first, the other one after it.
    assert_int_equal(r.v.matrices.count, 2);
    assert_string_equal(r.v.matrices.items[0].label, "second");
    assert_string_equal(r.v.matrices.items[0].rule, "nccl-slow-link");
    assert_string_equal(r.v.matrices.items[1].label, "world");
    assert_string_equal(r.v.matrices.items[1].rule, "");
    results_end(&r);
}

static bool wire_and_credit(int from, int to, nccl_wait wait)
{
    return from_3(from, to, wait) || (to == 8 && wait == NCCL_WAIT_CREDIT);
}

// What follows from another is told, with its cause, and accuses nobody.
static void one_explains_the_other(void **state)
{
    results r = {.tree = tree_make()};
    size_t causes = 0, effects = 0;
    (void)state;
    write_all_to_all(r.tree, wire_and_credit, 1);
    read_results(&r);
    for (size_t i = 0; i < r.f.count; i++) {
        const nccl_finding *x = &r.f.items[i];
        if (strcmp(x->rule->name, "nccl-slow-sender") == 0) {
            assert_int_equal(rank_of(&r, x->member), 3);
            assert_null(x->explained_by);
            causes++;
        } else if (strcmp(x->rule->name, "nccl-slow-receiver") == 0) {
            assert_int_equal(rank_of(&r, x->member), 8);
            assert_int_equal(x->severity, SEVERITY_INFO);
            assert_string_equal(x->explained_by, "nccl-slow-sender");
            effects++;
        }
    }
    assert_int_equal(causes, 1);
    assert_int_equal(effects, 1);
    results_end(&r);
}

// ---- matrices ----

static void check_cell(const nccl_view_cell *x, const nccl_view_cell *expected)
{
    assert_int_equal(x->bytes, expected->bytes);
    assert_int_equal(x->steps, expected->steps);
    assert_near(x->delay_us, expected->delay_us);
    assert_near(x->gpu_us, expected->gpu_us);
    assert_near(x->credit_us, expected->credit_us);
    assert_near(x->wire_us, expected->wire_us);
    assert_near(x->flush_us, expected->flush_us);
}

// Of a cell's waits the weighted mean of those that are known, by the steps of each.
typedef struct means {
    double sums[5], steps[5];
    uint64_t bytes, all;
} means;

static void means_add(means *m, const nccl_peer *x)
{
    const double values[5] = {nccl_peer_delay(x), nccl_peer_wait(x, NCCL_WAIT_GPU), nccl_peer_wait(x, NCCL_WAIT_CREDIT),
                              nccl_peer_wait(x, NCCL_WAIT_WIRE), nccl_peer_wait(x, NCCL_WAIT_FLUSH)};
    uint64_t steps = x->sent ? x->sent : x->received;
    for (int i = 0; i < 5; i++) {
        if (isnan(values[i])) continue;
        m->sums[i] += values[i] * (double)steps;
        m->steps[i] += (double)steps;
    }
    m->bytes += x->bytes;
    m->all += steps;
}

static nccl_view_cell means_cell(const means *m)
{
    double v[5];
    for (int i = 0; i < 5; i++)
        v[i] = m->steps[i] > 0 ? m->sums[i] / m->steps[i] : NAN;
    return (nccl_view_cell){.bytes = m->bytes,
                            .steps = m->all,
                            .delay_us = v[0],
                            .gpu_us = v[1],
                            .credit_us = v[2],
                            .wire_us = v[3],
                            .flush_us = v[4]};
}

static void a_matrix_of_ranks(void **state)
{
    results r = {.tree = tree_make()};
    uint64_t bytes = 0, steps = 0;
    (void)state;
    write_all_to_all(r.tree, none_is_slow, 1);
    read_results(&r);
    assert_int_equal(r.v.matrices.count, 1);
    assert_int_equal(r.v.matrices_left, 0);
    const nccl_view_matrix *m = &r.v.matrices.items[0];
    assert_string_equal(m->label, "world");
    assert_string_equal(m->claim, "");
    assert_string_equal(m->rule, "");
    assert_int_equal(m->severity, SEVERITY_OK);
    assert_int_equal(m->ranks, RANKS);
    assert_int_equal(m->cells_left, 0);
    assert_false(m->by_host);
    assert_int_equal(m->units.count, RANKS);
    for (int i = 0; i < RANKS; i++) {
        char host[8];
        snprintf(host, sizeof host, "h%d", i / EACH);
        assert_string_equal(m->units.items[i].host, host);
        assert_near(m->units.items[i].rank, i);
    }
    assert_int_equal(m->cells.count, r.p.count);
    for (size_t i = 0; i < r.p.count; i++) {
        const nccl_peer *x = &r.p.items[i];
        means one = {0};
        means_add(&one, x);
        nccl_view_cell expected = means_cell(&one);
        assert_int_equal(m->cells.items[i].row, rank_of(&r, x->sender));
        assert_int_equal(m->cells.items[i].column, rank_of(&r, x->receiver));
        check_cell(&m->cells.items[i], &expected);
        bytes += x->bytes;
        steps += x->sent;
    }
    assert_int_equal(m->bytes, bytes);
    assert_int_equal(m->steps, steps);
    results_end(&r);
}

// Of more ranks than a page has rows: by host. Each sends to the next one, to the next host and to the one after; what
// every fifth rank sent, its receivers alone know.
static void a_matrix_of_hosts(void **state)
{
    enum { MANY_HOSTS = 3, MANY_EACH = 44, MANY = MANY_HOSTS * MANY_EACH };
    static const int steps[] = {1, MANY_EACH, 2 * MANY_EACH + 1};
    results r = {.tree = tree_make()};
    means all[MANY_HOSTS][MANY_HOSTS] = {0};
    (void)state;
    for (int rank = 0; rank < MANY; rank++) {
        char host[8];
        snprintf(host, sizeof host, "h%d", rank / MANY_EACH);
        recorded_file f = recorded_open(r.tree, "", host, 100 + rank);
        rows sent = rows_begin("nccl.transfer");
        put_communicator(&f, 1, rank, MANY, MANY_HOSTS);
        put_call(&f, 1);
        for (size_t i = 0; i < COUNT(steps); i++) {
            int from = (rank + MANY - steps[i]) % MANY;
            if (rank % 5) put_transfer(&sent, none_is_slow, 1, rank, (rank + steps[i]) % MANY, true);
            put_transfer(&sent, none_is_slow, 1, rank, from, false);
        }
        rows_put(&f, &sent);
        recorded_close(&f);
    }
    read_results(&r);
    for (size_t i = 0; i < r.p.count; i++)
        means_add(&all[rank_of(&r, r.p.items[i].sender) / MANY_EACH][rank_of(&r, r.p.items[i].receiver) / MANY_EACH],
                  &r.p.items[i]);
    const nccl_view_matrix *m = &r.v.matrices.items[0];
    assert_true(m->by_host);
    assert_int_equal(m->units.count, MANY_HOSTS);
    for (int i = 0; i < MANY_HOSTS; i++)
        assert_true(isnan(m->units.items[i].rank) && m->units.items[i].host[1] == '0' + i);
    assert_int_equal(m->cells.count, MANY_HOSTS * MANY_HOSTS);
    for (size_t i = 0; i < m->cells.count; i++) {
        const nccl_view_cell *x = &m->cells.items[i];
        assert_int_equal(x->row * MANY_HOSTS + x->column, i); // by row and column, each once
        nccl_view_cell expected = means_cell(&all[x->row][x->column]);
        check_cell(x, &expected);
    }
    results_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_hold_both_sides),
        cmocka_unit_test(whose_it_is),
        cmocka_unit_test(a_rail),
        cmocka_unit_test(a_link_in_two_communicators),
        cmocka_unit_test(one_explains_the_other),
        cmocka_unit_test(a_matrix_of_ranks),
        cmocka_unit_test(a_matrix_of_hosts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
