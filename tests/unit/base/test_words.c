// Numbers in words. Expected texts follow from the rule: whole counts below 100 000 exactly, else three significant digits.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/base/utf8.h"
#include "analysis/base/words.h"

#include <math.h>
#include <string.h>

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
                 {0.0248, "0.0248"},
                 {9.996, "10.0"},
                 {99.96, "100"},
                 {999.4, "999"},
                 {12345.6, "12346"},
                 {0.0001, "0.000100"},
                 {0.00009, "< 0.0001"},
                 {-5.672, "-5.67"},
                 {1e-300, "< 0.0001"},
                 {-1e-300, "> -0.0001"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(words_number(cases[i].value).text, cases[i].text);
    assert_string_equal(words_number(NAN).text, "\u2013");
    assert_string_equal(words_number(-INFINITY).text, "-\u221e");
    assert_string_equal(words_whole(3789560.4).text, "3789560");
    assert_string_equal(words_whole(-0.3).text, "0");
    assert_string_equal(words_scientific(2.24e-11).text, "2.2e-11");
    assert_string_equal(words_power(2.24e-12).text, "2e-12");
    assert_string_equal(words_power(9.4e-4).text, "9e-4");
    assert_string_equal(words_power(9.6e-4).text, "1e-3"); // not 10e-4
    assert_string_equal(words_power(-3e-5).text, "-3e-5");
    assert_string_equal(words_power(6e100).text, "6e100");
    assert_string_equal(words_power(2).text, "2e0");
    assert_string_equal(words_power(0).text, "0");
}

static void fixed_decimals(void **state)
{
    (void)state;
    assert_string_equal(words_fixed(0.857, 2).text, "0.86");
    assert_string_equal(words_fixed(0.004, 2).text, "< 0.01");
    assert_string_equal(words_fixed(-0.004, 2).text, "> -0.01");
    assert_string_equal(words_fixed(0.5, 0).text, "< 1"); // printf() rounds it to 0
    assert_string_equal(words_fixed(0, 2).text, "0");
    assert_string_equal(words_fixed(-4.756, 2).text, "-4.76");
    assert_string_equal(words_fixed(NAN, 1).text, "\u2013");
}

static void counts(void **state)
{
    (void)state;
    assert_string_equal(words_count(1000).text, "1000");
    assert_string_equal(words_count(99999).text, "99999");
    assert_string_equal(words_count(100000).text, "100 k");
    assert_string_equal(words_count(999600).text, "1.00 M");
    assert_string_equal(words_count(1062.3).text, "1.06 k");
    assert_string_equal(words_count(0.5).text, "0.500");
    assert_string_equal(words_exact(UINT64_MAX).text, "18446744073709551615");
    assert_string_equal(words_integer(INT64_MIN).text, "-9223372036854775808");
    assert_string_equal(words_signed(3, true).text, "-3");
    assert_string_equal(words_signed(0, true).text, "0");
    assert_string_equal(words_grouped(UINT64_MAX, false).text, "18 446 744 073 709 551 615");
    assert_string_equal(words_grouped(999, false).text, "999");
    assert_string_equal(words_grouped(1000, true).text, "-1 000");
    assert_string_equal(words_grouped(100000, true).text, "-100 000");
    assert_string_equal(words_at_least(true, words_count(7)).text, "\u2265 7");
    assert_string_equal(words_at_least(false, words_count(7)).text, "7");
}

static void one_and_many(void **state)
{
    (void)state;
    assert_string_equal(words_many(1, "node").text, "1 node");
    assert_string_equal(words_many(0, "node").text, "0 nodes");
    assert_string_equal(words_many(2, "node").text, "2 nodes");
    assert_string_equal(words_many(1, "entry|entries").text, "1 entry");
    assert_string_equal(words_many(2, "entry|entries").text, "2 entries");
    assert_string_equal(words_noun(1, "is|are").text, "is");
    assert_string_equal(words_noun(0, "is|are").text, "are");
    assert_string_equal(words_noun(3, "rank").text, "ranks");
}

static void shares(void **state)
{
    (void)state;
    assert_string_equal(words_share(0.000248).text, "0.0248 %");
    assert_string_equal(words_share(0.123).text, "12.3 %");
    assert_string_equal(words_share(0.5).text, "50 %");
    assert_string_equal(words_share(1).text, "100 %");
    assert_string_equal(words_share(12.3456).text, "1235 %");
    assert_string_equal(words_share(1e-8).text, "< 0.0001 %");
    assert_string_equal(words_share(NAN).text, "\u2013");
}

static void quantities(void **state)
{
    (void)state;
    assert_string_equal(words_quantity(97.07e6, "b/s").text, "97.1 Mb/s");
    assert_string_equal(words_quantity(2357, "W").text, "2.36 kW");
    assert_string_equal(words_quantity(999, "B").text, "999 B");
    assert_string_equal(words_quantity(1000, "B").text, "1.00 kB");
    assert_string_equal(words_quantity(999.6, "B").text, "1.00 kB");
    assert_string_equal(words_quantity(999999, "B").text, "1.00 MB");
    assert_string_equal(words_quantity(18446744073709551615.0, "B").text, "18.4 EB");
    assert_string_equal(words_energy(359000).text, "359 kJ");
    assert_string_equal(words_energy(7.2e6).text, "2.00 kWh");
    assert_string_equal(words_line_rate(6.2e6).text, "49.6 Mb/s");
    assert_string_equal(words_link_speed(2.5e9).text, "2.5 Gb/s");
    assert_string_equal(words_link_speed(200e9).text, "200 Gb/s");
    assert_string_equal(words_link_speed(100e6).text, "100 Mb/s");
    assert_string_equal(words_binary(65536).text, "64 KiB");
    assert_string_equal(words_binary(1536 * 1024).text, "1.50 MiB");
    assert_string_equal(words_binary(1000).text, "1000 B");
    assert_string_equal(words_binary(1023.6 * 1024).text, "1.00 MiB");
}

static void volumes(void **state)
{
    (void)state;
    assert_string_equal(words_volume(2546684, "bytes").text, "2.55 MB");
    assert_string_equal(words_volume(64, "bytes").text, "64 B");
    assert_string_equal(words_volume(32255, "packets").text, "32255 packets");
    assert_string_equal(words_volume(3225500, "packets").text, "3.23 M packets");
    assert_string_equal(words_volume(1, "events").text, "1 event");
    assert_string_equal(words_volume(1, "retries").text, "1 retry");
    assert_string_equal(words_volume(1, "misses of class").text, "1 misses of class");
    assert_string_equal(words_volume_rate(1, "packets").text, "1 packet/s");
    assert_string_equal(words_volume(11, "events").text, "11 events");
    assert_string_equal(words_volume(1, "ms").text, "1 ms");
    assert_string_equal(words_volume(5, "").text, "5");
    assert_string_equal(words_volume(NAN, "bytes").text, "\u2013");
    assert_string_equal(words_volume_rate(1061.4, "packets").text, "1.06 k packets/s");
    assert_string_equal(words_volume_rate(12.1e6, "bytes").text, "12.1 MB/s");
    assert_string_equal(words_volume_rate(5, "").text, "5/s");
    assert_string_equal(words_volume_rate(NAN, "packets").text, "\u2013");
    assert_string_equal(words_amount(2546684, "bytes").text, "2.55 MB");
    assert_string_equal(words_amount(2546684, "packets").text, "2.55 M");
    assert_string_equal(words_amount_rate(1061.4, "packets").text, "1.06 k/s");
    assert_string_equal(words_amount_rate(1.234e9, "bytes").text, "1.23 GB/s");
}

static void durations(void **state)
{
    static const struct {
        double seconds;
        const char *text;
    } cases[] = {{0, "0 s"},
                 {1.5e-9, "1.50 ns"},
                 {42.4e-6, "42.4 \u00b5s"},
                 {12.3e-6, "12.3 \u00b5s"},
                 {0.003, "3 ms"},
                 {0.125, "125 ms"},
                 {0.99951, "1.00 s"},
                 {44.138, "44.1 s"},
                 {119.4, "119 s"},
                 {119.6, "2 min 00 s"},
                 {125, "2 min 05 s"},
                 {350, "5 min 50 s"},
                 {3599.4, "59 min 59 s"},
                 {3599.9, "1 h 00 min"},
                 {7500, "2 h 05 min"},
                 {301022, "83 h 37 min"},
                 {-350, "-5 min 50 s"},
                 {-0.0015, "-1.50 ms"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(words_duration(cases[i].seconds).text, cases[i].text);
    assert_string_equal(words_duration(NAN).text, "\u2013");
    assert_string_equal(words_cpu_time(0.0432).text, "43.2 CPU ms");
    assert_string_equal(words_cpu_time(0).text, "0 CPU s");
    assert_string_equal(words_cpu_time(12.54).text, "12.5 CPU s");
    assert_string_equal(words_cpu_time(35999).text, "35999 CPU s");
    assert_string_equal(words_cpu_time(36000).text, "10 CPU h");
    assert_string_equal(words_cpu_time(1753920).text, "487 CPU h"); // 487.2 h
}

static void moments(void **state)
{
    (void)state;
    assert_string_equal(words_moment(0.42, 0.9).text, "0.420 s");
    assert_string_equal(words_moment(0.042, 0.09).text, "0.0420 s");
    assert_string_equal(words_moment(2300, 3599).text, "38:20");
    assert_string_equal(words_moment(3725, 7200).text, "1:02:05");
    assert_string_equal(words_moment(-5, 3599).text, "-0:05");
    assert_string_equal(words_moment(-3725, 7200).text, "-1:02:05");
    assert_string_equal(words_time(1746204071662953620).text, "2025-05-02 16:41:11 UTC");
    assert_string_equal(words_time(0).text, "unknown time");
    assert_string_equal(words_utc(1746204071662953620, 0).text, "2025-05-02 16:41:11");
    assert_string_equal(words_utc(1746204071662953620, 1).text, "2025-05-02 16:41:11.6"); // cut
    assert_string_equal(words_utc(-1, 3).text, "1969-12-31 23:59:59.999");
}

static void typography(void **state)
{
    (void)state;
    assert_string_equal(words_paper(words_quantity(-97.07e6, "b/s")).text, WORDS_MINUS "97.1" WORDS_SPACE "Mb/s");
    assert_string_equal(words_paper(words_number(-1e-9)).text, ">" WORDS_SPACE WORDS_MINUS "0.0001");
    assert_string_equal(words_paper(words_duration(350)).text, "5" WORDS_SPACE "min 50" WORDS_SPACE "s");
    assert_string_equal(words_paper(words_grouped(1000, false)).text, "1" WORDS_SPACE "000");
    assert_string_equal(words_ascii(0xb5), "u");
    assert_string_equal(words_ascii(0x2265), ">=");
    assert_null(words_ascii('x'));
}

// Limits of what is chosen, each at both sides: digits, prefixes, units.
static void limits(void **state)
{
    (void)state;
    assert_string_equal(words_number(99.94).text, "99.9");
    assert_string_equal(words_number(99.95).text, "100");
    assert_string_equal(words_number(9.994).text, "9.99");
    assert_string_equal(words_number(9.995).text, "10.0");
    assert_string_equal(words_number(0.99949).text, "0.999");
    assert_string_equal(words_number(0.9995).text, "1.00");
    assert_string_equal(words_number(0.09994).text, "0.0999");
    assert_string_equal(words_number(0.00123).text, "0.00123");
    assert_string_equal(words_number(0.000123).text, "0.000123");
    assert_string_equal(words_number(-12345.6).text, "-12346");
    assert_string_equal(words_number(INFINITY).text, "\u221e");
    assert_string_equal(words_number(1.234e40).text, "1.23e+40"); // more digits than anybody reads
    assert_string_equal(words_quantity(-5e60, "B").text, "-5.00e+39 ZB");
    assert_string_equal(words_count(999499).text, "999 k");
    assert_string_equal(words_count(999500).text, "1.00 M");
    assert_string_equal(words_count(1e24).text, "1000 Z"); // no prefix after that
    assert_string_equal(words_count(-100000).text, "-100 k");
    assert_string_equal(words_quantity(999.4, "B").text, "999 B");
    assert_string_equal(words_quantity(1e3, "B").text, "1.00 kB");
    assert_string_equal(words_quantity(1e6, "B").text, "1.00 MB");
    assert_string_equal(words_quantity(1e9, "B").text, "1.00 GB");
    assert_string_equal(words_quantity(1e12, "B").text, "1.00 TB");
    assert_string_equal(words_quantity(1e15, "B").text, "1.00 PB");
    assert_string_equal(words_quantity(1e18, "B").text, "1.00 EB");
    assert_string_equal(words_quantity(1e21, "B").text, "1.00 ZB");
    assert_string_equal(words_quantity(12345, "").text, "12345"); // without a unit: a count
    assert_string_equal(words_quantity(INFINITY, "B").text, "\u221e");
    assert_string_equal(words_energy(359999).text, "360 kJ");
    assert_string_equal(words_energy(360000).text, "100 Wh");
    assert_string_equal(words_energy(-720000).text, "-200 Wh");
    assert_string_equal(words_energy(12.5).text, "12.5 J");
    assert_string_equal(words_link_speed(999).text, "999 b/s");
    assert_string_equal(words_link_speed(1000).text, "1 kb/s");
    assert_string_equal(words_link_speed(0).text, "0 b/s");
    assert_string_equal(words_link_speed(1e27).text, "1e+06 Zb/s");
    assert_string_equal(words_link_speed(NAN).text, WORDS_UNKNOWN);
    assert_string_equal(words_binary(0).text, "0 B");
    assert_string_equal(words_binary(1023).text, "1023 B");
    assert_string_equal(words_binary(1024).text, "1 KiB");
    assert_string_equal(words_binary(1024.0 * 1024 * 1024).text, "1 GiB");
    assert_string_equal(words_binary(ldexp(1, 40)).text, "1 TiB");
    assert_string_equal(words_binary(ldexp(1, 50)).text, "1 PiB");
    assert_string_equal(words_binary(ldexp(1, 60)).text, "1 EiB");
    assert_string_equal(words_binary(ldexp(1, 72)).text, "4096 EiB"); // no prefix after that
    assert_string_equal(words_binary(NAN).text, WORDS_UNKNOWN);
}

static void limits_of_time(void **state)
{
    (void)state;
    assert_string_equal(words_duration(119.49).text, "119 s");
    assert_string_equal(words_duration(119.5).text, "2 min 00 s");
    assert_string_equal(words_duration(3599.49).text, "59 min 59 s");
    assert_string_equal(words_duration(3599.5).text, "1 h 00 min");
    assert_string_equal(words_duration(-7500).text, "-2 h 05 min");
    assert_string_equal(words_duration(0.9995).text, "1.00 s");
    assert_string_equal(words_duration(0.9994).text, "999 ms");
    assert_string_equal(words_duration(0.99951e-3).text, "1.00 ms");
    assert_string_equal(words_duration(0.9994e-3).text, "999 " WORDS_MICRO "s");
    assert_string_equal(words_duration(0.99951e-6).text, "1.00 " WORDS_MICRO "s");
    assert_string_equal(words_duration(0.9994e-6).text, "999 ns");
    assert_string_equal(words_duration(INFINITY).text, "\u221e");
    assert_string_equal(words_cpu_time(0.9994).text, "999 CPU ms");
    assert_string_equal(words_cpu_time(0.9995).text, "1.00 CPU s");
    assert_string_equal(words_cpu_time(-0.0432).text, "-43.2 CPU ms");
    assert_string_equal(words_cpu_time(-72000).text, "-20 CPU h");
    assert_string_equal(words_cpu_time(NAN).text, WORDS_UNKNOWN);
    assert_string_equal(words_moment(0.05, 0.099).text, "0.0500 s");
    assert_string_equal(words_moment(0.05, 0.1).text, "0.050 s");
    assert_string_equal(words_moment(0.5, 0.99).text, "0.500 s");
    assert_string_equal(words_moment(0.5, 1).text, "0.5 s");
    assert_string_equal(words_moment(9.25, 9.99).text, "9.2 s");
    assert_string_equal(words_moment(9.25, 10).text, "0:09");
    assert_string_equal(words_moment(3599, 3659).text, "59:59");
    assert_string_equal(words_moment(3599, 3660).text, "0:59:59");
    assert_string_equal(words_moment(-0.5, 100).text, "-0:01");
    assert_string_equal(words_moment(-0.4, 100).text, "0:00");
    assert_string_equal(words_moment(NAN, 100).text, WORDS_UNKNOWN);
    assert_string_equal(words_time(1).text, "1970-01-01 00:00:00 UTC");
    assert_string_equal(words_time(-1).text, "unknown time");
    assert_string_equal(words_utc(1746204071662953620, 9).text, "2025-05-02 16:41:11.662953620");
    assert_string_equal(words_utc(1746204071662953620, 12).text, "2025-05-02 16:41:11.662953620");
    assert_string_equal(words_utc(1746204071062953620, 3).text, "2025-05-02 16:41:11.062"); // zeros in front
    assert_string_equal(words_utc(-1000000000, 1).text, "1969-12-31 23:59:59.0");
}

static void bounds(void **state)
{
    (void)state;
    assert_string_equal(words_at_most(true, words_count(7)).text, "\u2264 7");
    assert_string_equal(words_at_most(false, words_count(7)).text, "7");
    assert_string_equal(words_grouped(999999, false).text, "999 999");
    assert_string_equal(words_grouped(12, true).text, "-12");
    assert_string_equal(words_grouped(123456789, true).text, "-123 456 789");
    assert_string_equal(words_integer(-1).text, "-1");
    assert_string_equal(words_integer(INT64_MAX).text, "9223372036854775807");
    assert_string_equal(words_fixed(-0.0, 2).text, "0");
    assert_string_equal(words_fixed(1, 2).text, "1.00");
    assert_string_equal(words_fixed(0.0051, 2).text, "0.01");
    assert_string_equal(words_fixed(-INFINITY, 2).text, "-\u221e");
    assert_string_equal(words_scientific(NAN).text, WORDS_UNKNOWN);
    assert_string_equal(words_whole(INFINITY).text, "\u221e");
    assert_string_equal(words_power(INFINITY).text, "\u221e");
    assert_string_equal(words_power(2e10).text, "2e10");
    assert_string_equal(words_volume(1, "bus").text, "1 bus");
    assert_string_equal(words_volume(1, "classes").text, "1 classe"); // by the plain rule of a final s
    assert_string_equal(words_volume(1, "miss").text, "1 miss");
    assert_string_equal(words_volume(12, "B").text, "12 B");
    assert_string_equal(words_amount(5, "B").text, "5 B");
    assert_string_equal(words_ascii(0x2013), "-");
    assert_string_equal(words_ascii(0x221e), "infinity");
    assert_string_equal(words_ascii(0x2264), "<=");
}

// By whole words, and none at the end that wants another one.
static void what_fits(void **state)
{
    static const struct {
        const char *text;
        size_t room;
        const char *kept;
    } rows[] = {{"short", 5, "short"},
                {"short", 80, "short"},
                {"one two six four", 15, "one two six"}, // with room for more of the next one
                {"one two six four", 16, "one two six four"},
                {"one two six four", 11, "one two six"},
                {"one two six four", 10, ""},                     // less than eight letters tell nothing
                {"packets lost of the link", 23, "packets lost"}, // not "of the"
                {"packets lost, and more", 15, "packets"},        // nor what a comma follows
                {"packets lost (again)", 14, "packets lost"},
                {"seven ten twelve", 10, "seven ten"},
                {"a word", 4, ""},
                {"unbreakable-text", 10, ""},
                {"the of and to in on at", 14, ""}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t n = words_fitting(rows[i].text, rows[i].room);
        if (n != strlen(rows[i].kept) || memcmp(rows[i].text, rows[i].kept, n) != 0)
            fail_msg("%s: %.*s", rows[i].text, (int)n, rows[i].text);
    }
}

// A name that is too long ends with a whole letter.
static void text_is_cut_between_letters(void **state)
{
    (void)state;
    assert_int_equal(utf8_within("abc", 5), 3);
    assert_int_equal(utf8_within("abc", 2), 2);
    assert_int_equal(utf8_within("a\xc3\xa9", 2), 1);
    assert_int_equal(utf8_within("a\xc3\xa9", 3), 3);
    assert_int_equal(utf8_within("\xe2\x82\xac\xe2\x82\xac", 5), 3);
    assert_int_equal(utf8_within("\xe2\x82\xac", 2), 0);
    assert_int_equal(utf8_within("\x80\x80\x80\x80\x80", 4), 1); // no text at all: as good as any
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(three_digits),   cmocka_unit_test(fixed_decimals),
                                       cmocka_unit_test(counts),         cmocka_unit_test(one_and_many),
                                       cmocka_unit_test(shares),         cmocka_unit_test(quantities),
                                       cmocka_unit_test(volumes),        cmocka_unit_test(durations),
                                       cmocka_unit_test(moments),        cmocka_unit_test(text_is_cut_between_letters),
                                       cmocka_unit_test(typography),     cmocka_unit_test(limits),
                                       cmocka_unit_test(limits_of_time), cmocka_unit_test(bounds),
                                       cmocka_unit_test(what_fits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
