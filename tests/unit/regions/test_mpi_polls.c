// What libnetprof-mpi.so takes for waiting between calls that ask in vain whether something has come.
#define _GNU_SOURCE
#include "netprof.h"
#include "support.h"

#include <time.h>

// The CPU time of this thread as the tests say it: what they use themselves is more where an emulator runs them.
static int64_t cpu_ns = 1000000;

static int cpu_clock(clockid_t which, struct timespec *now)
{
    assert_int_equal(which, CLOCK_THREAD_CPUTIME_ID);
    *now = (struct timespec){.tv_sec = (time_t)(cpu_ns / 1000000000), .tv_nsec = (long)(cpu_ns % 1000000000)};
    return 0;
}

#define clock_gettime cpu_clock
#include "../../../tools/mpi/polls.c"
#undef clock_gettime

enum { US = 1000, MS = 1000000 };

static int64_t now_ns, told_ns;
static size_t told;
static polls_stretch last;

static void call_of(int64_t ns)
{
    polls_stretch over[2];
    polls_call_begins();
    int64_t begin = now_ns;
    now_ns += ns;
    size_t count = polls_call_ended(begin, now_ns, over);
    assert_true(count <= 2);
    for (size_t i = 0; i < count; i++) {
        assert_true(over[i].to_ns > over[i].from_ns && over[i].from_ns >= last.to_ns);
        told_ns += over[i].to_ns - over[i].from_ns;
        last = over[i];
        told++;
    }
}

static void ask(int64_t after_ns, int64_t ns, bool came)
{
    now_ns += after_ns;
    assert_int_equal(polls_answered(came), 0);
    call_of(ns);
}

static int64_t waited, between;

static void begin(void)
{
    polls_forget();
    own.slow = 0;
    now_ns += 1000 * MS;
    told = 0;
    told_ns = 0;
    waited = polls_waited_ns();
    between = polls_between_ns();
}

static void expect_sums(int64_t of_waiting, int64_t in_doubt)
{
    assert_int_equal(polls_waited_ns() - waited, of_waiting);
    assert_int_equal(polls_between_ns() - between, in_doubt);
}

static void use_cpu(int64_t ns)
{
    cpu_ns += ns;
}

static void asked_again_at_once_it_is_one_wait(void **state)
{
    (void)state;
    begin();
    int64_t from = now_ns;
    ask(0, 500, false);
    ask(100, 500, false);
    assert_int_equal(told, 0);
    assert_true(polls_goes_on());
    ask(100, 500, true);
    assert_int_equal(told, 1);
    assert_int_equal(last.from_ns, from);
    assert_int_equal(last.to_ns, from + 1700);
    assert_false(polls_goes_on());
    expect_sums(200, 0);
    ask(5000, 500, true); // what has come already: one call, and no wait before it
    assert_int_equal(last.to_ns - last.from_ns, 500);
    expect_sums(200, 0);
    ask(100, 500, false);
    ask(201, 500, false); // it may have done something
    ask(49999, 500, true);
    expect_sums(200, 50200);
}

// 200 us without use of a CPU, again and again; the first one is not known yet.
static void who_sleeps_between_waits(void **state)
{
    (void)state;
    begin();
    ask(0, US, false);
    for (int i = 0; i < 20; i++)
        ask(200 * US, US, i == 19);
    assert_int_equal(told, 1);
    assert_int_equal(told_ns, 21 * US + 20 * 200 * US);
    expect_sums(19 * 200 * US, 200 * US);
}

static void who_uses_the_cpu_between_works(void **state)
{
    (void)state;
    begin();
    ask(0, US, false);
    ask(200 * US, US, false);
    expect_sums(0, 200 * US);
    use_cpu(100 * US);
    ask(200 * US, US, false);
    assert_int_equal(told, 1); // the wait before
    assert_int_equal(last.to_ns - last.from_ns, 202 * US);
    expect_sums(0, 200 * US);
    call_of(3 * US); // of another kind: the question before, and this call
    assert_int_equal(told, 3);
    assert_int_equal(told_ns, 202 * US + US + 3 * US);
    expect_sums(0, 200 * US);
}

// Who is away for longer than anybody sleeps reads a file, or does what else is no waiting for a message.
static void a_long_time_is_no_sleep(void **state)
{
    (void)state;
    begin();
    ask(0, US, false);
    ask(200 * US, US, false);
    ask(30 * MS, US, true);
    assert_int_equal(told, 2);
    assert_int_equal(told_ns, 203 * US);
    expect_sums(0, 200 * US);
}

// Whoever is killed meanwhile has told most of it.
static void a_wait_without_end_is_told_in_pieces(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < 100000; i++)
        ask(i ? 100 : 0, 400, false);
    assert_int_equal(told, 4);
    assert_true(told_ns >= 40 * MS && told_ns < 41 * MS);
    expect_sums(99999 * 100, 0);
    ask(100, 400, true);
    assert_int_equal(told_ns, 100001 * 400 + 100000 * 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asked_again_at_once_it_is_one_wait), cmocka_unit_test(who_sleeps_between_waits),
        cmocka_unit_test(who_uses_the_cpu_between_works), cmocka_unit_test(a_long_time_is_no_sleep),
        cmocka_unit_test(a_wait_without_end_is_told_in_pieces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
