// What all pages "over time" share (pages_time.h): columns, gaps, bands; and tables while they are filled (sheet.h).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "render/pages/pages_time.h"
#include "render/pages/sheet.h"

#include <math.h>
#include <string.h>

// Ten seconds in five columns.
static const pages_time ten = {10, 20, 5, 0};

static void columns(void **state)
{
    arena *a = arena_open();
    (void)state;
    assert_true(pages_time_column_s(&ten) == 2);
    const double *x = pages_time_middles(a, &ten);
    assert_true(x[0] == 11 && x[1] == 13 && x[4] == 19);
    axes_scale axis = pages_time_axis(&ten);
    assert_true(axis.axis.min == 10 && axis.axis.max == 20 && axis.format == AXES_TIME);
    // A stretch without length is a second on the axis, so that something can be drawn.
    assert_true(pages_time_axis(&(pages_time){3, 3, 1, 0}).axis.max == 4);
    arena_close(a);
}

static void neighbouring_gaps_are_one(void **state)
{
    static const bool known[][5] = {{true, true, true, true, true}, {false, false, true, false, true}, {false}};
    arena *a = arena_open();
    size_t count;
    (void)state;
    pages_time_gaps(a, &ten, known[0], &count);
    assert_int_equal(count, 0);
    const axes_span *gaps = pages_time_gaps(a, &ten, known[1], &count);
    assert_int_equal(count, 2);
    assert_true(gaps[0].from == 10 && gaps[0].to == 14 && gaps[1].from == 16 && gaps[1].to == 18);
    gaps = pages_time_gaps(a, &ten, known[2], &count);
    assert_int_equal(count, 1);
    assert_true(gaps[0].from == 10 && gaps[0].to == 20);
    arena_close(a);
}

static void bands_leave_out_what_is_not_known(void **state)
{
    static const double first[5] = {1, 4, NAN, NAN, 0}, second[5] = {3, NAN, 5, NAN, 0};
    static const double *const rows[] = {first, second};
    arena *a = arena_open();
    (void)state;
    pages_band b = pages_band_of(a, &ten, rows, 2);
    assert_true(b.mean[0] == 2 && b.low[0] == 1 && b.high[0] == 3);
    assert_true(b.mean[1] == 4 && b.low[1] == 4 && b.high[1] == 4);
    assert_true(b.mean[2] == 5 && b.low[2] == 5 && b.high[2] == 5);
    assert_true(isnan(b.mean[3]) && isnan(b.low[3]) && isnan(b.high[3]));
    assert_true(b.mean[4] == 0);
    // One row is a line, several are a line in a band.
    assert_null(pages_band_curve(&b, 1, INK_TEXT, INK_PEER).low);
    assert_ptr_equal(pages_band_curve(&b, 2, INK_TEXT, INK_PEER).high, b.high);
    arena_close(a);
}

static void sheets(void **state)
{
    static const table_column heads[] = {{"a", TABLE_TEXT, 0}, {"b", TABLE_NUMBER, 0}};
    char longer[1000];
    (void)state;
    sheet s = sheet_open(2);
    assert_int_equal(sheet_rows(&s), 0);
    sheet_end(&s, NULL, (chart_head){"none", "", ""}, heads); // without rows there is no chart, and nothing to free
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    sheet_heading(&s, "head");
    sheet_text(&s, NULL);
    sheet_count(&s, UINT64_MAX);
    sheet_format(&s, "%s!", longer); // a cell holds text of any length
    sheet_number(&s, number_plain(2));
    assert_int_equal(sheet_rows(&s), 3);
    assert_string_equal(s.cells[0], "head");
    assert_string_equal(s.cells[1], "");
    assert_string_equal(s.cells[2], "");
    assert_string_equal(s.cells[3], "18446744073709551615");
    assert_int_equal(strlen(s.cells[4]), sizeof longer);
    assert_string_equal(s.cells[5], "2");
    document *doc = document_open("test");
    chart x = sheet_chart(&s, (chart_head){"some", "", ""}, heads);
    assert_int_equal(x.rows, 3);
    document_add(doc, x);
    document_close(doc);
}

static void events_are_named_in_plain_words(void **state)
{
    arena *a = arena_open();
    events_row above = {0};
    (void)state;
    static const char closed[] = "receive window closed: the program reads too slowly";
    static const char probes[] = "probes for loss at the end of a burst";
    static const char pairs[] = "damaged frames (of both ways, whatever the cause)";
    assert_string_equal(pages_time_event_label(a, NULL, closed, "TCPToZeroWindowAdv", NULL, 0, 25),
                        "receive window closed");
    assert_string_equal(pages_time_event_label(a, "TCP windows closed", closed, "TCPToZeroWindowAdv", NULL, 0, 25),
                        "TCP windows closed");
    assert_string_equal(pages_time_event_label(a, NULL, pairs, "bad", NULL, 0, 25), "damaged frames");
    // Never half of it: neither words nor an ellipsis.
    assert_string_equal(pages_time_event_label(a, NULL, probes, "TCPLossProbes", NULL, 0, 25), "TCPLossProbes");
    assert_string_equal(pages_time_event_label(a, NULL, probes, "TCPLossProbes", NULL, 0, 37), probes);
    above.label = "TCP windows closed"; // a row of its own keeps a name of its own
    assert_string_equal(pages_time_event_label(a, "TCP windows closed", closed, "other", &above, 1, 25),
                        "receive window closed");
    above.label = "receive window closed";
    assert_string_equal(pages_time_event_label(a, NULL, closed, "other", &above, 1, 25), "other");
    arena_close(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(columns), cmocka_unit_test(neighbouring_gaps_are_one),
                                       cmocka_unit_test(bands_leave_out_what_is_not_known), cmocka_unit_test(sheets),
                                       cmocka_unit_test(events_are_named_in_plain_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
