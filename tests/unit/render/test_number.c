// Numbers on paper: the words of analysis/base/words.h (test_words) in its typography, and the labels of axes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "render/base/number.h"

#include <math.h>
#include <stdlib.h>

#define S NUMBER_SPACE
#define M NUMBER_MINUS

static void paper(void **state)
{
    (void)state;
    assert_string_equal(number_plain(-5.672).text, M "5.67");
    assert_string_equal(number_plain(0.00009).text, "<" S "0.0001");
    assert_string_equal(number_fixed(0.004, 2).text, "<" S "0.01");
    assert_string_equal(number_prefixed(97.07e6, "b/s").text, "97.1" S "Mb/s");
    assert_string_equal(number_prefixed(2546684, "").text, "2.55" S "M");
    assert_string_equal(number_line_rate(6.2e6).text, "49.6" S "Mb/s");
    assert_string_equal(number_volume(32255, "packets").text, "32255" S "packets");
    assert_string_equal(number_volume_rate(1061.4, "packets").text, "1.06" S "k" S "packets/s");
    assert_string_equal(number_binary(65536).text, "64" S "KiB");
    assert_string_equal(number_percent(0.000248).text, "0.0248" S "%");
    assert_string_equal(number_duration(350).text, "5" S "min 50" S "s");
    assert_string_equal(number_grouped(1234567).text, "1" S "234" S "567");
    assert_string_equal(number_grouped_signed(1000, true).text, M "1" S "000");
    assert_string_equal(number_utc(1746204071662953620, 1).text, "2025-05-02 16:41:11.6");
    assert_string_equal(number_plain(NAN).text, NUMBER_UNKNOWN);
}

// Until it has none to spare: a value never becomes zero, and never another one by losing its end.
static void fewer_digits(void **state)
{
    static const char *const chains[][6] = {
        {"0.00394" S "%", "0.0039" S "%", "0.004" S "%", "<0.01" S "%", "<0.1" S "%", "<1" S "%"},
        {"12.75" S "GB/s", "12.8" S "GB/s", "13" S "GB/s", NULL},
        {M "3.25", M "3.2", M "3", NULL},
        {"1.27e-08", "1.3e-08", "1e-08", NULL},
        {"14796", NULL},
        {"8 of 20", NULL},
        {"1.5, 2.5", NULL},
        {"cxi0.1", NULL}};
    (void)state;
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++)
        for (size_t k = 0; k < 5 && chains[i][k]; k++) {
            char *shorter = number_in_fewer_digits(chains[i][k]);
            if (chains[i][k + 1])
                assert_string_equal(shorter, chains[i][k + 1]);
            else
                assert_null(shorter);
            free(shorter);
        }
}

static void axes(void **state)
{
    (void)state;
    number_scale s = number_scale_for(40e9, 10e9);
    assert_string_equal(s.prefix, "G");
    assert_string_equal(number_tic(30e9, s).text, "30");
    s = number_scale_for(1e6, 250e3);
    assert_string_equal(number_tic(250e3, s).text, "0.25");
    assert_string_equal(number_tic(0, s).text, "0");
    s = number_scale_for(0.8, 0.2);
    assert_string_equal(number_tic(0.2, s).text, "0.2");
    const char *unit;
    s = number_time_scale(3600, 600, &unit);
    assert_string_equal(unit, "min");
    assert_string_equal(number_tic(1800, s).text, "30");
    s = number_time_scale(0.004, 0.001, &unit);
    assert_string_equal(unit, "ms");
    assert_string_equal(number_tic(0.003, s).text, "3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(paper), cmocka_unit_test(fewer_digits), cmocka_unit_test(axes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
