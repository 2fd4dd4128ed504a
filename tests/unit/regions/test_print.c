// The table of regions as text: rows in order, numbers in three digits, what was not timed or lost; names from outside
// that must not reach a terminal; and the words for errors.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define NETPROF_IMPLEMENTATION
#include "netprof.h"

#include "support.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *printed(const netprof_regions *r)
{
    static char text[8000];
    struct sink sink = {0};
    assert_int_equal(netprof_print_to(sink_write, &sink, NULL, r, NULL), NETPROF_OK);
    assert_true(sink.size < sizeof text);
    if (sink.size) memcpy(text, sink.data, sink.size);
    text[sink.size] = 0;
    sink_free(&sink);
    return text;
}

static void expect(const char *text, const char *part)
{
    if (!strstr(text, part)) fail_msg("no \"%s\" in:\n%s", part, text);
}

// ---- rows ----

enum { MAIN, STEP, LATE, QUICK, EQUAL_B, EQUAL_A, UNTIMED, OTHER, STATS };

// main 10 s (step 6 s, of which late 4 s; two alike of 1 s; one that was not timed), and on another thread main again.
static void fill(netprof_stat *s)
{
    static const struct {
        const char *name;
        uint32_t parent;
        uint64_t calls, measured, inclusive, own, min, max, bytes, open;
    } rows[STATS] = {[MAIN] = {"main", UINT32_MAX, 1, 1, 10000000000u, 2000000000, 10000000000u, 10000000000u, 0, 1},
                     [STEP] = {"step", MAIN, 1234567, 1000, 6000000000u, 1000000000, 1000, 9994999, 0, 0},
                     [LATE] = {"late", STEP, 40, 40, 4000000000u, 4000000000u, 99950000, 999499, 1500000, 0},
                     [QUICK] = {"quick", STEP, 1000, 1000, 1000000000, 1000000000, 999, 1000, 999, 0},
                     [EQUAL_B] = {"b", MAIN, 1, 1, 1000000000, 1000000000, 5, 5, 0, 0},
                     [EQUAL_A] = {"a", MAIN, 1, 1, 1000000000, 1000000000, 5, 5, 0, 0},
                     [UNTIMED] = {"untimed", MAIN, 7, 0, 0, 0, UINT64_MAX, 0, 0, 0},
                     [OTHER] = {"main", UINT32_MAX, 2, 2, 2000000000, 2000000000, 900000000, 1100000000, 0, 0}};
    memset(s, 0, STATS * sizeof *s);
    for (uint32_t i = 0; i < STATS; i++) {
        s[i].node = i == OTHER ? 0 : i;
        s[i].thread = i == OTHER;
        s[i].parent = rows[i].parent;
        s[i].region = rows[i].name;
        s[i].calls = rows[i].calls;
        s[i].measured = rows[i].measured;
        s[i].total_ns = s[i].inclusive_ns = rows[i].inclusive;
        s[i].exclusive_ns = rows[i].own;
        s[i].min_ns = rows[i].min;
        s[i].max_ns = rows[i].max;
        s[i].bytes = rows[i].bytes;
        s[i].open = rows[i].open;
    }
}

static void rows_and_their_order(void **state)
{
    netprof_stat stats[STATS];
    netprof_regions r = {.stats = stats,
                         .count = STATS,
                         .threads = 2,
                         .elapsed_ns = 10500000000,
                         .mode = NETPROF_MODE_TIME,
                         .warning = ""};
    static const char *const order[] = {"  main", "    step", "      late", "      quick",
                                        "    a",  "    b",    "    untimed"};
    const char *at;
    (void)state;
    fill(stats);
    at = printed(&r);
    expect(at, "regions: 10.5 s, 2 threads, mode time\n");
    for (size_t i = 0; i < COUNT(order); i++) { // each on a line of its own, behind the one before
        char line[32];
        snprintf(line, sizeof line, "\n%s ", order[i]);
        const char *next = strstr(at, line);
        if (!next) fail_msg("%s is not in its place", order[i]);
        at = next;
    }
    at = printed(&r);
    // Both threads: 3 calls in 12 s, own 4 of 12 s, mean 4 s; open on one.
    expect(at, "main                                   3    12.0 s   33.3 %   4.00 s   900 ms   10.0 s open\n");
    // A thousand of 1.23 million calls were timed, which is said.
    expect(at, "step                            1.23 M*   6.00 s    8.3 %  6.00 ms  1.00 us  9.99 ms\n");
    expect(at, "  * not every call was timed: the times are those of the timed ones\n");
    expect(at, "late                              40    4.00 s   33.3 %   100 ms   100 ms   999 us  1.50 MB\n");
    expect(at, "quick                         1.00 k    1.00 s    8.3 %  1.00 ms   999 ns  1.00 us    999 B\n");
    assert_null(strstr(at, "begins that could not"));
    assert_null(strstr(at, "warning"));
    assert_null(strstr(at, "reading counters took"));
}

static void what_went_wrong_is_below(void **state)
{
    netprof_stat stats[STATS];
    netprof_regions r = {.stats = stats, .count = 1, .threads = 1, .mode = NETPROF_MODE_FAST, .warning = ""};
    (void)state;
    fill(stats);
    expect(printed(&r), "1 thread, mode fast\n");
    assert_null(strstr(printed(&r), "*"));
    r.dropped = 5;
    expect(printed(&r), "  begins that could not be counted: 5; ends that did not fit: 0\n");
    r.dropped = 0, r.mismatched = 3;
    expect(printed(&r), "  begins that could not be counted: 0; ends that did not fit: 3\n");
    r.mode = NETPROF_MODE_SAMPLER, r.readings = 2, r.reading_ns = 1500000;
    expect(printed(&r), "mode sampler\n");
    expect(printed(&r), "  reading counters took 1.50 ms, which is in no region's time\n");
    r.warning = "end of \033[31ma";
    expect(printed(&r), "  warning: end of ?[31ma\n");
    r.mode = NETPROF_MODE_OFF;
    expect(printed(&r), "mode off\n");
    r.count = 0; // nothing to show
    assert_string_equal(printed(&r), "");
    assert_int_equal(netprof_print_to(NULL, NULL, NULL, &r, NULL), NETPROF_ERR_ARG);
}

// ---- names ----

typedef struct name_case {
    const char *name, *shown;
} name_case;

// Control characters, what turns the direction of text or is not seen, and what is no UTF-8, each becomes one "?".
static const name_case names[] = {
    {"plain", "plain "},
    {"caf\xc3\xa9", "caf\xc3\xa9 "},
    {"a\tb", "a?b "},
    {"\x1f", "? "},
    {"\x20.", " . "},
    {"~", "~ "},
    {"\x7f", "? "},
    {"\xc2\x9f", "? "},                        // U+009F, a control character
    {"\xc2\xa0", "\xc2\xa0 "},                 // U+00A0
    {"\xd8\x9b", "\xd8\x9b "},                 // U+061B
    {"\xd8\x9c", "? "},                        // U+061C
    {"\xe2\x80\x8a", "\xe2\x80\x8a "},         // U+200A
    {"\xe2\x80\x8b", "? "},                    // U+200B
    {"\xe2\x80\x8f", "? "},                    // U+200F
    {"\xe2\x80\x90", "\xe2\x80\x90 "},         // U+2010
    {"\xe2\x80\xa7", "\xe2\x80\xa7 "},         // U+2027
    {"\xe2\x80\xa8", "? "},                    // U+2028
    {"\xe2\x80\xae", "? "},                    // U+202E
    {"\xe2\x80\xaf", "\xe2\x80\xaf "},         // U+202F
    {"\xe2\x81\xa5", "\xe2\x81\xa5 "},         // U+2065
    {"\xe2\x81\xa6", "? "},                    // U+2066
    {"\xe2\x81\xa9", "? "},                    // U+2069
    {"\xe2\x81\xaa", "\xe2\x81\xaa "},         // U+206A
    {"\xef\xbb\xbf", "? "},                    // U+FEFF
    {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80 "}, // four bytes
    {"\xff\xfe", "?? "},
    {"\xc3", "? "},                                                         // cut
    {"123456789012345678901234567890", "123456789012345678901234567890 "},  // as wide as the column
    {"1234567890123456789012345678901", "12345678901234567890123456789~ "}, // wider
    {"12345678901234567890123456789\xc3\xa9", "12345678901234567890123456789\xc3\xa9 "},
    {"12345678901234567890123456789\xc3\xa9x", "12345678901234567890123456789~ "},
};

static void names_are_harmless(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        netprof_stat stat = {.parent = UINT32_MAX, .region = names[i].name, .calls = 1, .measured = 1};
        netprof_regions r = {.stats = &stat, .count = 1, .threads = 1, .warning = ""};
        char expected[64];
        snprintf(expected, sizeof expected, "\n  %s", names[i].shown);
        if (!strstr(printed(&r), expected)) fail_msg("case %zu:\n%s", i, printed(&r));
    }
}

// ---- numbers ----

static void three_digits(void **state)
{
    static const struct {
        uint64_t ns;
        const char *text;
    } times[] = {{0, "0 ns"},
                 {1, "1 ns"},
                 {999, "999 ns"},
                 {1000, "1.00 us"},
                 {9994, "9.99 us"},
                 {9995, "10.0 us"},
                 {99949, "99.9 us"},
                 {99950, "100 us"},
                 {999499, "999 us"},
                 {999500, "1.00 ms"},
                 {1000000, "1.00 ms"},
                 {999500000, "1.00 s"},
                 {59900000000u, "59.9 s"},
                 {3600000000000u, "3600 s"}};
    static const struct {
        uint64_t bytes;
        const char *text;
    } sizes[] = {
        {1, "1 B"},        {999, "999 B"},     {1000, "1.00 kB"},   {9994, "9.99 kB"},       {9995, "10.0 kB"},
        {99950, "100 kB"}, {999499, "999 kB"}, {999500, "1.00 MB"}, {1000000000, "1.00 GB"}, {UINT64_MAX, "18.4 EB"}};
    (void)state;
    for (size_t i = 0; i < COUNT(times); i++) {
        netprof_regions r = {.stats = &(netprof_stat){.parent = UINT32_MAX, .region = "a", .calls = 1}, .count = 1};
        char line[64];
        r.threads = 1;
        r.warning = "";
        r.elapsed_ns = (int64_t)times[i].ns;
        snprintf(line, sizeof line, "regions: %s, 1 thread,", times[i].text);
        expect(printed(&r), line);
    }
    for (size_t i = 0; i < COUNT(sizes); i++) {
        netprof_stat stat = {.parent = UINT32_MAX, .region = "a", .calls = 1, .bytes = sizes[i].bytes};
        netprof_regions r = {.stats = &stat, .count = 1, .threads = 1, .warning = ""};
        char line[64];
        snprintf(line, sizeof line, " %8s\n", sizes[i].text);
        expect(printed(&r), line);
    }
}

static void to_a_descriptor(void **state)
{
    netprof_stat stats[STATS];
    netprof_regions r = {.stats = stats, .count = STATS, .threads = 2, .warning = ""};
    int ends[2];
    char text[8000];
    (void)state;
    fill(stats);
    assert_int_equal(pipe(ends), 0);
    netprof_print(ends[1], NULL, &r);
    close(ends[1]);
    ssize_t n = read(ends[0], text, sizeof text - 1);
    assert_true(n > 0);
    text[n] = 0;
    assert_string_equal(text, printed(&r));
    close(ends[0]);
    netprof_print(-1, NULL, &r); // says nothing
}

// ---- errors ----

static void words_of_errors(void **state)
{
    const char *seen[16] = {NULL};
    size_t count = 0;
    (void)state;
    assert_string_equal(netprof_strerror(NETPROF_OK), "done");
    assert_string_equal(netprof_strerror(NETPROF_ERR_NOMEM), "out of memory");
    assert_string_equal(netprof_strerror(NETPROF_ERR_FORMAT), "not a .netprof file");
    assert_string_equal(netprof_strerror(NETPROF_ERR_VERSION), "written by a later version");
    assert_string_equal(netprof_strerror(NETPROF_ERR_DAMAGED), "damaged file");
    assert_string_equal(netprof_strerror((netprof_err)-99), "unknown error");
    for (int code = 0; code >= (int)NETPROF_ERR_DAMAGED; code--) { // each its own
        const char *text = netprof_strerror((netprof_err)code);
        for (size_t i = 0; i < count; i++)
            assert_string_not_equal(seen[i], text);
        assert_string_not_equal(text, "unknown error");
        seen[count++] = text;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_and_their_order), cmocka_unit_test(what_went_wrong_is_below),
        cmocka_unit_test(names_are_harmless),   cmocka_unit_test(three_digits),
        cmocka_unit_test(to_a_descriptor),      cmocka_unit_test(words_of_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
