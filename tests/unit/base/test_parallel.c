// Work in several threads: everything once, whatever the number of threads, and who asked to be called is.
#include "analysis/base/memory.h"
#include "analysis/base/threads/parallel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST = 5000 };

typedef struct counted {
    unsigned times[MOST + 1];
    pthread_t caller;
    unsigned by_caller, polled;
    bool signals_open; // in a thread that is not the caller's
} counted;

static void count_one(void *user, size_t i)
{
    counted *c = user;
    sigset_t blocked;
    __atomic_fetch_add(&c->times[i], 1, __ATOMIC_RELAXED);
    if (pthread_equal(pthread_self(), c->caller)) {
        __atomic_fetch_add(&c->by_caller, 1, __ATOMIC_RELAXED);
        return;
    }
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    if (!sigismember(&blocked, SIGINT)) __atomic_store_n(&c->signals_open, true, __ATOMIC_RELAXED);
}

static void expect_each_once(size_t count, size_t threads)
{
    counted *c = memory_calloc(1, sizeof *c);
    c->caller = pthread_self();
    parallel_for(&(parallel_options){.threads = threads}, count, count_one, c);
    for (size_t i = 0; i <= MOST; i++)
        assert_int_equal(c->times[i], i < count);
    if (threads == 1) assert_int_equal(c->by_caller, count);
    assert_false(c->signals_open);
    free(c);
}

static void test_each_once(void **state)
{
    static const size_t counts[] = {0, 1, 2, 3, 7, 64, MOST}, threads[] = {0, 1, 2, 3, 8, 300};
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (size_t k = 0; k < sizeof threads / sizeof *threads; k++)
            expect_each_once(counts[i], threads[k]);
}

static void poll_once(void *user)
{
    counted *c = user;
    assert_true(pthread_equal(pthread_self(), c->caller));
    __atomic_fetch_add(&c->polled, 1, __ATOMIC_RELAXED);
}

// Takes until the caller was asked twice.
static void wait_for_polls(void *user, size_t i)
{
    counted *c = user;
    for (int tries = 0; tries < 1000 && __atomic_load_n(&c->polled, __ATOMIC_RELAXED) < 2; tries++)
        usleep(10000);
    count_one(user, i);
}

static void test_caller_is_polled(void **state)
{
    counted *c = memory_calloc(1, sizeof *c);
    (void)state;
    c->caller = pthread_self();
    parallel_for(&(parallel_options){.threads = 2, .poll = poll_once, .user = c}, 3, wait_for_polls, c);
    assert_int_equal(c->times[0] + c->times[1] + c->times[2], 3);
    assert_int_equal(c->by_caller, 0);
    assert_true(c->polled >= 2);
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_once), cmocka_unit_test(test_caller_is_polled)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
