// Numbers as a reader wants them. Expected texts follow from the rule: three significant digits, SI prefixes.
// ctest: render
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "render/base/number.h"

#include <math.h>

#define S NUMBER_SPACE
#define M NUMBER_MINUS

static void three_digits(void **state)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0"},
                 {-0.0, "0"},
                 {1, "1"},
                 {64, "64"},
                 {5.672, "5.67"},
                 {0.5, "0.500"},
                 {0.00858, "0.00858"},
                 {0.02480, "0.0248"},
                 {9.996, "10.0"},
                 {99.96, "100"},
                 {999.4, "999"},
                 {12345.6, "12346"},
                 {0.0001, "0.000100"},
                 {0.00009, "<" S "0.0001"},
                 {-5.672, M "5.67"},
                 {1e-300, "<" S "0.0001"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(number_plain(cases[i].value).text, cases[i].text);
    assert_string_equal(number_plain(NAN).text, NUMBER_UNKNOWN);
    assert_string_equal(number_plain(INFINITY).text, "\xe2\x88\x9e");
}

static void prefixes(void **state)
{
    (void)state;
    assert_string_equal(number_prefixed(97.07e6, "b/s").text, "97.1" S "Mb/s");
    assert_string_equal(number_prefixed(999.4, "B").text, "999" S "B");
    assert_string_equal(number_prefixed(999.6, "B").text, "1.00" S "kB");
    assert_string_equal(number_prefixed(999999, "B").text, "1.00" S "MB");
    assert_string_equal(number_prefixed(2546684, "").text, "2.55" S "M");
    assert_string_equal(number_prefixed(64, "B").text, "64" S "B");
    assert_string_equal(number_prefixed(18446744073709551615.0, "B").text, "18.4" S "EB");
    assert_string_equal(number_line_rate(6.2e6).text, "49.6" S "Mb/s");
    assert_string_equal(number_volume(2546684, "bytes").text, "2.55" S "MB");
    assert_string_equal(number_volume(64, "bytes").text, "64" S "B");
    assert_string_equal(number_volume(32255, "packets").text, "32.3" S "k" S "packets");
    assert_string_equal(number_volume_rate(1061, "packets").text, "1.06" S "k" S "packets/s");
    assert_string_equal(number_volume_rate(12.1e6, "bytes").text, "12.1" S "MB/s");
    assert_string_equal(number_volume_rate(5, "").text, "5" S "/s");
    assert_string_equal(number_volume(NAN, "bytes").text, NUMBER_UNKNOWN);
    assert_string_equal(number_binary(65536).text, "64" S "KiB");
    assert_string_equal(number_binary(1536 * 1024).text, "1.50" S "MiB");
    assert_string_equal(number_binary(1000).text, "1000" S "B");
    assert_string_equal(number_percent(0.000248).text, "0.0248" S "%");
    assert_string_equal(number_percent(1).text, "100" S "%");
    assert_string_equal(number_percent(1e-8).text, "<" S "0.0001" S "%");
}

static void columns_of_fixed_width(void **state)
{
    (void)state;
    assert_string_equal(number_fixed(0.857, 2).text, "0.86");
    assert_string_equal(number_fixed(0.004, 2).text, "<" S "0.01");
    assert_string_equal(number_fixed(0, 2).text, "0");
    assert_string_equal(number_fixed(4.756, 2).text, "4.76");
    assert_string_equal(number_fixed(NAN, 1).text, NUMBER_UNKNOWN);
}

static void times(void **state)
{
    (void)state;
    assert_string_equal(number_duration(44.138).text, "44.1" S "s");
    assert_string_equal(number_duration(0).text, "0" S "s");
    assert_string_equal(number_duration(1.5e-9).text, "1.50" S "ns");
    assert_string_equal(number_duration(42.4e-6).text, "42.4" S "\xc2\xb5s");
    assert_string_equal(number_duration(0.125).text, "125" S "ms");
    assert_string_equal(number_duration(350).text, "5" S "min 50" S "s");
    assert_string_equal(number_duration(301022).text, "83" S "h 37" S "min");
    assert_string_equal(number_duration(3599.9).text, "1" S "h 00" S "min");
    assert_string_equal(number_utc(1746204071662953620, 0).text, "2025-05-02 16:41:11");
    assert_string_equal(number_utc(1746204071662953620, 1).text, "2025-05-02 16:41:11.6");
    assert_string_equal(number_utc(-1, 3).text, "1969-12-31 23:59:59.999");
}

static void all_digits(void **state)
{
    (void)state;
    assert_string_equal(number_grouped(UINT64_MAX).text, "18" S "446" S "744" S "073" S "709" S "551" S "615");
    assert_string_equal(number_grouped(0).text, "0");
    assert_string_equal(number_grouped(999).text, "999");
    assert_string_equal(number_grouped(1000).text, "1" S "000");
    assert_string_equal(number_grouped_signed(1000, 1).text, M "1" S "000");
    assert_string_equal(number_grouped_signed(0, 1).text, "0");
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_digits), cmocka_unit_test(prefixes),   cmocka_unit_test(columns_of_fixed_width),
        cmocka_unit_test(times),        cmocka_unit_test(all_digits), cmocka_unit_test(axes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
