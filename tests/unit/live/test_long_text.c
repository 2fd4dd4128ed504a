// Long texts, against what printf and strftime make of the same.
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "live/journal/long_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char made[64];

static const char *text_of(long_text *t)
{
    size_t size;
    char *text = long_text_end(t, &size);
    assert_int_equal(size, strlen(text));
    snprintf(made, sizeof made, "%s", text);
    free(text);
    return made;
}

static const char *number(double value)
{
    long_text t = {.text = NULL};
    long_text_number(&t, value);
    return text_of(&t);
}

static void test_counts(void **state)
{
    static const uint64_t values[] = {0, 1, 9, 10, 12345, 4294967295u, 9007199254740993u, UINT64_MAX};
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        long_text t = {.text = NULL};
        char expected[32];
        long_text_count(&t, values[i]);
        snprintf(expected, sizeof expected, "%llu", (unsigned long long)values[i]);
        assert_string_equal(text_of(&t), expected);
    }
}

static void test_numbers(void **state)
{
    static const double steps[] = {1,   1.5, 1.0000001, 2.718281828459045, 3.3333333333, 9.99999999, 9.999999999999,
                                   4.25};
    (void)state;
    assert_string_equal(number(0), "0");
    assert_string_equal(number(-0.25), "-0.25");
    assert_string_equal(number(-7), "-7");
    assert_string_equal(number(1e-5), "1e-05");
    assert_string_equal(number(1234567890123), "1234567890123"); // more than nine digits, where they are whole
    assert_string_equal(number(25e9 + 0.75), "25000000001");
    assert_string_equal(number(1e15), "1e+15");
    for (double size = 1e-6; size < 1e17; size *= 10)
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
            for (int sign = -1; sign <= 1; sign += 2) {
                double value = sign * size * steps[i];
                char expected[32];
                snprintf(expected, sizeof expected, "%.9g", value);
                // Half a unit of the ninth digit, and what binary fractions differ by.
                assert_true(fabs(strtod(number(value), NULL) - value) <= 5.001e-9 * fabs(value));
                if (fabs(value) >= 1e-3 && fabs(value) < 9e8) assert_string_equal(number(value), expected);
            }
}

static void test_times(void **state)
{
    long_text t = {.text = NULL};
    (void)state;
    long_text_time(&t, INT64_C(1746203271999999999)); // date -u -d @1746203271
    assert_string_equal(text_of(&t), "\"2025-05-02T16:27:51Z\"");
    long_text_time(&t, INT64_C(1746203272000000000));
    assert_string_equal(text_of(&t), "\"2025-05-02T16:27:52Z\"");
    long_text_time(&t, 0);
    assert_string_equal(text_of(&t), "null");
    long_text_time(&t, INT64_MIN);
    assert_string_equal(text_of(&t), "null");
    long_text_seconds(&t, INT64_C(1746203271000000050));
    assert_string_equal(text_of(&t), "1746203271.00000005");
    long_text_seconds(&t, -1500000000);
    assert_string_equal(text_of(&t), "-1.5");
    long_text_seconds(&t, INT64_MIN);
    assert_string_equal(text_of(&t), "-9223372036.854775808");
}

static void test_grows(void **state)
{
    long_text t = {.text = NULL};
    size_t size;
    (void)state;
    for (unsigned i = 0; i < 100000; i++) {
        long_text_count(&t, i % 10);
        long_text_put(&t, i % 2 ? "," : "");
    }
    char *text = long_text_end(&t, &size);
    assert_int_equal(size, 150000);
    assert_memory_equal(text, "01,23,45,67,89,01,", 18);
    assert_string_equal(text + size - 6, "67,89,");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
