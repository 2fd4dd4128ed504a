// Who sent to whom, from the rows of both sides: cells of unlike communicators, with what both sides tell, one of them, or none;
// and where the time of each process went. Every field against a table made by hand; what is usual, by a plain sort.
#define _GNU_SOURCE // nftw
#include "netprof.h"

#include "analysis/nccl/findings/nccl_peers.h"
#include "support.h"

#include <math.h>

enum { PROCESSES = 3 };

// 0 and 1 are alike; each of the others differs from them in one thing.
static nccl_communicator communicators[] = {
    {.ranks = 3, .nodes = 3, .type = NCCL_HCA_ONLY, .first_member = 0, .member_count = 3},
    {.ranks = 3, .nodes = 3, .type = NCCL_HCA_ONLY, .first_member = 3, .member_count = 2}, // rank 1 has no log
    {.ranks = 4, .nodes = 3, .type = NCCL_HCA_ONLY, .first_member = 5, .member_count = 2},
    {.ranks = 3, .nodes = 2, .type = NCCL_HCA_ONLY, .first_member = 7, .member_count = 2},
    {.ranks = 3, .nodes = 3, .type = NCCL_MIXED, .first_member = 9, .member_count = 2}};

static nccl_member members[] = {{.communicator = 0, .rank = 0, .process = 0},
                                {.communicator = 0, .rank = 1, .process = 1},
                                {.communicator = 0, .rank = 2, .process = 2},
                                {.communicator = 1, .rank = 0, .process = 0},
                                {.communicator = 1, .rank = 2, .process = 2},
                                {.communicator = 2, .rank = 0, .process = 1},
                                {.communicator = 2, .rank = 1, .process = 2},
                                {.communicator = 3, .rank = 0, .process = 0},
                                {.communicator = 3, .rank = 1, .process = 1, .stats = {.parts_dropped = 1}},
                                {.communicator = 4, .rank = 0, .process = 1},
                                {.communicator = 4, .rank = 1, .process = 2}};

// In no order: of the second cell the receiver comes first.
static nccl_proxy proxies[] = {
    {10, 0, "recv", .bytes = 77, .step_bytes = 70, .timed = 6, .gpu_us = 12, .wire_us = 42, .flush_us = 18},
    {0, 1, "send", .bytes = 1000, .step_bytes = 900, .timed = 10, .gpu_us = 100, .credit_us = 50, .wire_us = 200},
    {2, 1, "recv", .bytes = 400, .timed = 7, .gpu_us = 21, .wire_us = 35, .flush_us = 49},
    {1, 0, "recv", .bytes = 1100, .timed = 8, .unsized = 1, .gpu_us = 24, .wire_us = 64, .flush_us = 40},
    {1, 2, "send", .bytes = 400, .timed = 5, .unsized = 2, .gpu_us = 15, .credit_us = 25, .wire_us = 90},
    {2, 0, "send", .bytes = 300, .unsized = 3},
    {0, 2, "recv", .bytes = 500},
    {0, 2, "send", .bytes = 100, .step_bytes = 150, .timed = 4, .steps_dropped = 2, .gpu_us = 64, .wire_us = 8},
    {2, 0, "recv", .bytes = 900, .timed = 3, .gpu_us = 6, .wire_us = 9, .flush_us = 30},
    {1, 2, "recv", .bytes = 70, .timed = 2, .gpu_us = 14, .wire_us = 22, .flush_us = 26},
    {1, 2, "other", .bytes = 5000, .timed = 20, .gpu_us = 900, .credit_us = 900, .wire_us = 900, .flush_us = 900},
    {3, 1, "send", .bytes = 31, .timed = 3, .gpu_us = 27, .credit_us = 12, .wire_us = 33},
    {3, 7, "send", .bytes = 32, .timed = 4, .gpu_us = 28, .credit_us = 16, .wire_us = 52}, // no such rank
    {4, 1, "recv", .bytes = 33, .timed = 5, .gpu_us = 5, .wire_us = 10, .flush_us = 55},
    {5, 1, "send", .bytes = 60, .timed = 2, .gpu_us = 500, .credit_us = 600, .wire_us = 700},
    {6, 0, "recv", .bytes = 60, .unsized = 1},
    {7, 1, "send", .bytes = 61, .timed = 2, .gpu_us = 1, .credit_us = 1, .wire_us = 1},
    {8, 0, "send", .bytes = 62, .timed = 1, .gpu_us = 9, .credit_us = 8, .wire_us = 7},
    {9, 1, "send", .bytes = 78, .timed = UINT64_MAX, .unsized = 1},
    {9, 1, "send", .bytes = 78, .timed = 5, .unsized = 1}};

static nccl job_of_rows(void)
{
    return (nccl){.communicators = communicators,
                  .communicator_count = COUNT(communicators),
                  .members = members,
                  .member_count = COUNT(members),
                  .process_count = PROCESSES,
                  .proxies = proxies,
                  .proxy_count = COUNT(proxies)};
}

static const nccl_peer cells[] = {
    {0, 1, 0, 1000, false, 10, 8, {100, 50, 200, 40}, 64, 24, {0}},
    {0, 2, 0, 150, true, 4, 3, {64, 0, 8, 30}, 9, 6, {0}},      // the sender's bytes, and what it knows of them
    {1, 2, 0, 400, false, 5, 7, {15, 25, 90, 49}, 35, 21, {0}}, // the receiver knows that these were all
    {2, 0, 0, 500, false, 0, 0, {0}, 0, 0, {0}},                // nobody timed it: the larger number
    {2, 1, 0, 70, false, 0, 2, {0, 0, 0, 26}, 22, 14, {0}},
    {3, NCCL_NONE, 1, 31, false, 3, 0, {27, 12, 33, 0}, 0, 0, {0}},
    {3, NCCL_NONE, 1, 32, false, 4, 0, {28, 16, 52, 0}, 0, 0, {0}}, // another one, who knows which
    {NCCL_NONE, 4, 1, 33, false, 0, 5, {0, 0, 0, 55}, 10, 5, {0}},
    {5, 6, 2, 60, false, 2, 0, {500, 600, 700, 0}, 0, 0, {0}},
    {7, 8, 3, 61, false, 2, 0, {1, 1, 1, 0}, 0, 0, {0}},
    {8, 7, 3, 62, true, 1, 0, {9, 8, 7, 0}, 0, 0, {0}}, // its plugin lost parts
    {9, 10, 4, 78, true, UINT64_MAX, 6, {0, 0, 0, 18}, 42, 12, {0}}};

static void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-12 * fabs(expected)) && !(isnan(value) && isnan(expected)))
        fail_msg("%.17g is not %.17g", value, expected);
}

static double step_of(const nccl_peer *x, int wait)
{
    double steps = (double)(wait == NCCL_WAIT_FLUSH ? x->received : x->sent);
    return steps > 0 ? x->wait_us[wait] / steps : NAN;
}

static int by_number(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

// The lower quartile of those whose communicators are 0 and 1, or the same; at least 1 us.
static double usual_of(uint32_t communicator, int wait)
{
    double all[COUNT(cells)];
    size_t count = 0;
    for (size_t i = 0; i < COUNT(cells); i++) {
        uint32_t c = cells[i].communicator;
        bool alike = c == communicator || (c < 2 && communicator < 2);
        if (alike && !isnan(step_of(&cells[i], wait))) all[count++] = step_of(&cells[i], wait);
    }
    if (!count) return NAN;
    qsort(all, count, sizeof *all, by_number);
    double place = 0.25 * (double)(count - 1);
    size_t low = (size_t)place, high = low + 1 < count ? low + 1 : low;
    return fmax(1, all[low] + (all[high] - all[low]) * (place - (double)low));
}

static void check_cell(const nccl_peer *x, const nccl_peer *expected)
{
    double delay = NAN;
    assert_int_equal(x->communicator, expected->communicator);
    assert_int_equal(x->sender, expected->sender);
    assert_int_equal(x->receiver, expected->receiver);
    assert_true(x->bytes == expected->bytes && x->at_least == expected->at_least);
    assert_true(x->sent == expected->sent && x->received == expected->received);
    near(x->receive_us, expected->receive_us);
    near(x->consume_us, expected->consume_us);
    for (int w = 0; w < NCCL_WAITS; w++) {
        double step = step_of(expected, w), usual = usual_of(expected->communicator, w);
        near(x->wait_us[w], expected->wait_us[w]);
        near(nccl_peer_wait(x, (nccl_wait)w), step);
        near(x->beside[w], step / usual);
        if (!isnan(step)) delay = (isnan(delay) ? 0 : delay) + fmax(0, step - usual);
    }
    if (isnan(delay))
        assert_true(isnan(nccl_peer_delay(x)));
    else
        assert_true(fabs(nccl_peer_delay(x) - delay) < 1e-9);
    assert_true(nccl_peer_tells_bytes(x));
}

static void cells_of_both_sides(void **state)
{
    const nccl n = job_of_rows();
    nccl_peers p;
    (void)state;
    nccl_peers_make(&p, &n);
    assert_int_equal(p.count, COUNT(cells));
    bool exchanged = p.items[5].bytes == 32; // those two stand in either order
    for (size_t i = 0; i < COUNT(cells); i++)
        check_cell(&p.items[i], &cells[exchanged && (i == 5 || i == 6) ? 11 - i : i]);
    nccl_peers_free(&p);
    assert_true(!p.items && !p.count);
    const nccl none = {0};
    nccl_peers_make(&p, &none);
    assert_int_equal(p.count, 0);
    nccl_peers_free(&p);
}

// What one side alone has, in either order of the sides.
static void either_side_first(void **state)
{
    nccl_proxy two[2] = {{0, 1, "send", .bytes = 20, .timed = 3, .unsized = 1, .gpu_us = 3},
                         {1, 0, "recv", .bytes = 30, .timed = 2, .flush_us = 6}};
    (void)state;
    for (int order = 0; order < 2; order++)
        for (int timed = 0; timed < 2; timed++) {
            nccl_proxy rows[2] = {two[order], two[!order]};
            nccl n = job_of_rows();
            nccl_peers p;
            if (!timed) rows[order].timed = 0;
            n.proxies = rows;
            n.proxy_count = 2;
            nccl_peers_make(&p, &n);
            assert_int_equal(p.count, 1);
            assert_int_equal(p.items[0].bytes, timed ? 20 : 30);
            assert_int_equal(p.items[0].at_least, timed);
            assert_int_equal(p.items[0].sent, timed ? 3 : 0);
            assert_int_equal(p.items[0].received, 2);
            nccl_peers_free(&p);
        }
}

static void of_one_cell(void **state)
{
    nccl_peer x = {.sent = 4, .received = 5, .wait_us = {40, 80, 20, 15}, .beside = {2, 0.5, NAN, 1.5}};
    static const char *const names[] = {"own GPU", "credit", "wire", "flush"};
    (void)state;
    near(nccl_peer_delay(&x), (10 - 5) + (3 - 2));
    x.beside[NCCL_WAIT_GPU] = 1; // just as usual
    near(nccl_peer_delay(&x), 3 - 2);
    x.received = 0;
    near(nccl_peer_delay(&x), 0); // without the flush
    x.sent = 0;
    near(nccl_peer_delay(&x), NAN);
    assert_false(nccl_peer_tells_bytes(&x));
    x.bytes = 1;
    assert_true(nccl_peer_tells_bytes(&x));
    x = (nccl_peer){.sent = 1};
    assert_true(nccl_peer_tells_bytes(&x));
    x = (nccl_peer){.received = 1};
    assert_true(nccl_peer_tells_bytes(&x));
    for (int w = 0; w < NCCL_WAITS; w++)
        assert_string_equal(nccl_wait_name((nccl_wait)w), names[w]);
}

static void of_each_process(void **state)
{
    const nccl n = job_of_rows();
    static const nccl_split expected[PROCESSES] = {{10 + 4 + 3 + 4 + 2, 0, 1000 + 150 + 31 + 32 + 61, 500,
                                                    100 + 64 + 27 + 28 + 1, 50 + 12 + 16 + 1, 200 + 8 + 33 + 52 + 1, 0,
                                                    0, 0, true, false},
                                                   {UINT64_MAX, 8 + 2, 400 + 60 + 62 + 78 + 78, 1100 + 70, 15 + 500 + 9,
                                                    25 + 600 + 8, 90 + 700 + 7, 64 + 22, 40 + 26, 24 + 14, true, true},
                                                   {0, 6 + 7 + 3 + 5, 300, 77 + 400 + 900 + 33 + 60, 0, 0, 0,
                                                    42 + 35 + 9 + 10, 18 + 49 + 30 + 55, 12 + 21 + 6 + 5, true, true}};
    (void)state;
    nccl_split *splits = nccl_splits_make(&n);
    for (size_t i = 0; i < PROCESSES; i++) {
        const nccl_split *x = &splits[i], *y = &expected[i];
        assert_true(x->sent == y->sent && x->received == y->received);
        assert_int_equal(x->sent_bytes, y->sent_bytes);
        assert_int_equal(x->received_bytes, y->received_bytes);
        near(x->gpu_us, y->gpu_us);
        near(x->credit_us, y->credit_us);
        near(x->wire_us, y->wire_us);
        near(x->receive_us, y->receive_us);
        near(x->flush_us, y->flush_us);
        near(x->consume_us, y->consume_us);
        assert_int_equal(x->sent_at_least, y->sent_at_least);
        assert_int_equal(x->received_at_least, y->received_at_least);
    }
    free(splits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cells_of_both_sides), cmocka_unit_test(either_side_first),
                                       cmocka_unit_test(of_one_cell), cmocka_unit_test(of_each_process)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
