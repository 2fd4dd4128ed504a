// Signals in files. The names are the C library's own, the numbers those of signal(7).
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/base/signals.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

// The C library's own names: glibc 2.32 and newer.
#ifdef __GLIBC_PREREQ
#define HAS_SIGABBREV __GLIBC_PREREQ(2, 32)
#else
#define HAS_SIGABBREV 0
#endif

// The column "x86/ARM and most others".
static const struct {
    int here, common;
} numbers[] = {{SIGHUP, 1},   {SIGINT, 2},   {SIGQUIT, 3},  {SIGILL, 4},   {SIGTRAP, 5},  {SIGABRT, 6},
               {SIGBUS, 7},   {SIGFPE, 8},   {SIGKILL, 9},  {SIGUSR1, 10}, {SIGSEGV, 11}, {SIGUSR2, 12},
               {SIGPIPE, 13}, {SIGALRM, 14}, {SIGTERM, 15}, {SIGXCPU, 24}, {SIGXFSZ, 25}, {SIGSYS, 31}};

static void test_numbers_of_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        assert_int_equal(signals_common(numbers[i].here), numbers[i].common);
    assert_int_equal(signals_common(SIGRTMIN + 5), SIGRTMIN + 5);
}

#if HAS_SIGABBREV
static void test_names_are_those_of_the_signals(void **state)
{
    size_t named = 0;
    (void)state;
    for (int here = 1; here < 32; here++) {
        const char *name = signals_name(signals_common(here));
        char whole[16];
        snprintf(whole, sizeof whole, "SIG%s", sigabbrev_np(here));
        if (name) assert_string_equal(name, whole);
        named += name != NULL;
    }
    assert_true(named >= 20);
    assert_null(signals_name(125));
}
#endif

static void test_words(void **state)
{
    (void)state;
    assert_string_equal(signals_words(11), "segmentation fault");
    assert_string_equal(signals_words(7), "bus error");
    assert_null(signals_words(10));
    assert_null(signals_words(0));
    assert_string_equal(signals_text(11).text, "signal 11 (segmentation fault)");
    assert_string_equal(signals_text(10).text, "signal 10 (SIGUSR1)");
    assert_string_equal(signals_text(40).text, "signal 40");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_of_files),
#if HAS_SIGABBREV
        cmocka_unit_test(test_names_are_those_of_the_signals),
#endif
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
