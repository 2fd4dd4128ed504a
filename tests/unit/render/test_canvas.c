// Canvas: text from outside, measuring, shortening, the SVG writer, the layout check.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "render/base/buffer.h"
#include "render/canvas/canvas.h"
#include "render/canvas/canvas_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_visible(const char *text, const char *expected)
{
    char *visible = text_visible(text);
    assert_string_equal(visible, expected);
    free(visible);
}

static void test_visible(void **state)
{
    (void)state;
    check_visible("plain", "plain");
    check_visible("a\x1b[31mb", "a\\x1b[31mb");
    check_visible("two\nlines\tand", "two lines and");
    check_visible("\xe2\x80\xae"
                  "evil",
                  "\\u{202e}evil"); // right-to-left override
    check_visible("zero\xe2\x80\x8bwidth", "zero\\u{200b}width");
    check_visible("bad\xff\xc3", "bad\\xff\\xc3");                         // no UTF-8
    check_visible("5\xe2\x80\xafkB \xc3\xa9", "5\xe2\x80\xafkB \xc3\xa9"); // narrow blank and accents stay
    check_visible("\xef\xbf\xbe", "\\u{fffe}");                            // no XML character
}

static void check_number(double number, const char *expected)
{
    buffer b = {0};
    buffer_number(&b, number);
    assert_string_equal(b.data, expected);
    buffer_free(&b);
}

static void test_buffer(void **state)
{
    (void)state;
    buffer b = {0};
    check_number(0, "0");
    check_number(1.5, "1.5");
    check_number(-0.004, "0");
    check_number(-12.345, "-12.35");
    check_number(100, "100");
    check_number(NAN, "0");
    buffer_escaped(&b, "<a href=\"x\">'&\x01");
    assert_string_equal(b.data, "&lt;a href=&quot;x&quot;&gt;&#39;&amp;\\x01");
    buffer_free(&b);
}

// What a ramp promises: lightness falls from step to step on paper, rises in the dark; text on it is legible.
static double luminance(theme_rgb c)
{
    double parts[3] = {c.red / 255., c.green / 255., c.blue / 255.};
    for (int i = 0; i < 3; i++)
        parts[i] = parts[i] <= .04045 ? parts[i] / 12.92 : pow((parts[i] + .055) / 1.055, 2.4);
    return .2126 * parts[0] + .7152 * parts[1] + .0722 * parts[2];
}

static double contrast(theme_rgb a, theme_rgb b)
{
    double x = luminance(a) + .05, y = luminance(b) + .05;
    return x > y ? x / y : y / x;
}

static void test_theme(void **state)
{
    static const theme_ink ramps[] = {INK_BLUE, INK_ORANGE};
    static const theme_ink texts[] = {INK_TEXT,  INK_SECONDARY, INK_RECEIVED_TEXT, INK_SENT_TEXT, INK_OK,
                                      INK_WATCH, INK_BAD};
    (void)state;
    for (int dark = 0; dark < 2; dark++) {
        for (size_t r = 0; r < 2; r++)
            for (int i = 1; i < THEME_STEPS; i++) {
                double before = luminance(theme_color((theme_ink)((int)ramps[r] + i - 1), dark));
                double now = luminance(theme_color((theme_ink)((int)ramps[r] + i), dark));
                assert_true(dark ? now > before : now < before);
            }
        for (int ink = INK_BLUE; ink < INK_ON; ink++)
            assert_true(contrast(theme_color((theme_ink)ink, dark), theme_color((theme_ink)(INK_ON + ink), dark)) >=
                        4.2);
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
            assert_true(contrast(theme_color(texts[i], dark), theme_color(INK_PAPER, dark)) >= 4.5);
        for (int s = SEVERITY_OK; s < SEVERITIES; s++) // any line may stand in the box of any verdict
            for (int box = SEVERITY_OK; box < SEVERITIES; box++)
                assert_true(contrast(theme_color(theme_severity_ink((severity)s), dark),
                                     theme_color(theme_severity_field((severity)box), dark)) >= 4.5);
    }
    for (int t = 0; t < TYPES; t++)
        assert_true(theme_size((theme_type)t) >= 6);
    assert_int_equal(theme_ramp(INK_BLUE, -1), INK_BLUE);
    assert_int_equal(theme_ramp(INK_BLUE, NAN), INK_BLUE);
    assert_int_equal(theme_ramp(INK_BLUE, 2), INK_BLUE + THEME_STEPS - 1);
    assert_int_equal(theme_ramp(INK_ORANGE, .5), INK_ORANGE + THEME_STEPS / 2);
}

static void test_text(void **state)
{
    (void)state;
    canvas *c = canvas_open(200, 100);
    double one = canvas_text_width(c, "counter", TYPE_BODY), two = canvas_text_width(c, "countercounter", TYPE_BODY);
    assert_true(one > 20 && one < 60);
    assert_true(fabs(two - 2 * one) < 1);
    // Digits are as wide as each other.
    assert_true(fabs(canvas_text_width(c, "1111", TYPE_CELL) - canvas_text_width(c, "8888", TYPE_CELL)) < .01);
    // Shortened in the middle, within the width; the whole text stays for those who ask.
    double width =
        canvas_text(c, 10, 20, "a_very_long_counter_name_that_does_not_fit", TYPE_BODY, INK_TEXT, ALIGN_LEFT, 80);
    assert_true(width <= 80 && width > 60);
    assert_int_equal(c->count, 1);
    assert_non_null(strstr(c->ops[0].text, "\xe2\x80\xa6"));
    assert_true(strncmp(c->ops[0].text, "a_ver", 5) == 0);
    assert_non_null(strstr(c->ops[0].text, "fit"));
    assert_string_equal(c->ops[0].more, "a_very_long_counter_name_that_does_not_fit");
    // Paragraphs: lines of 1.35 x size, the last one shortened.
    const char *words = "one two three four five six seven eight nine ten eleven twelve thirteen";
    double all = canvas_paragraph_height(c, 80, words, TYPE_BODY, 0);
    double lines = all / (1.35 * theme_size(TYPE_BODY));
    assert_true(lines > 3.5 && fabs(lines - round(lines)) < 1e-6);
    assert_true(fabs(canvas_paragraph(c, 0, 50, 80, words, TYPE_BODY, INK_TEXT, 2) - 2 * 1.35 * theme_size(TYPE_BODY)) <
                1e-6);
    assert_int_equal(c->count, 3);
    assert_non_null(strstr(c->ops[2].text, "\xe2\x80\xa6"));
    assert_true(canvas_paragraph_height(c, 80, "", TYPE_BODY, 0) == 0);
    // A number and its unit are on one line, whatever the width.
    static const char *const together[] = {"91.4 %", "0.1 %", "12 CPUs"};
    for (double w = 60; w < 200; w += 3) {
        size_t from = c->count, whole = 0;
        canvas_paragraph(c, 0, 50, w, "waited 91.4 % of it, 0.1 % more and 12 CPUs", TYPE_BODY, INK_TEXT, 0);
        for (size_t i = from; i < c->count; i++)
            for (size_t k = 0; k < 3; k++)
                whole += strstr(c->ops[i].text, together[k]) != NULL;
        assert_int_equal(whole, 3);
    }
    canvas_close(c);
}

static void test_svg(void **state)
{
    (void)state;
    buffer b = {0};
    canvas *c = canvas_open(100, 50);
    const uint16_t inks[4] = {INK_BLUE, INK_BLUE, INK_NONE, INK_BAD};
    canvas_group(c, "T <1>", "what & why");
    canvas_tip(c, "exact: 1 < 2");
    canvas_rect(c, (canvas_box){1, 2, 3, 4}, INK_OK, 0);
    canvas_text(c, 5, 10, "<script>alert('x')</script>", TYPE_BODY, INK_TEXT, ALIGN_LEFT, 0);
    canvas_image(c, (canvas_box){0, 20, 10, 10}, inks, 2, 2);
    const uint16_t striped[8] = {INK_HAIR, INK_BLUE, INK_HAIR, INK_BLUE, INK_HAIR, INK_BAD, INK_NONE, INK_HAIR};
    canvas_image(c, (canvas_box){0, 40, 8, 1}, striped, 8, 1);
    canvas_hover(c, (canvas_box){1, 30, 3, 4.5}, "one");
    canvas_hover(c, (canvas_box){4, 30, 3, 4.5}, "two");
    canvas_group_end(c);
    canvas_svg(c, &b, false);
    assert_non_null(strstr(b.data, "<g role=\"img\"><title>T &lt;1&gt;</title><desc>what &amp; why</desc>"));
    assert_non_null(strstr(b.data, "<rect x=\"1\" y=\"2\" width=\"3\" height=\"4\""));
    assert_non_null(strstr(b.data, "<title>exact: 1 &lt; 2</title>"));
    assert_non_null(strstr(b.data, "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;</text>"));
    assert_null(strstr(b.data, "<script"));
    // The image: a line for each run of a row, as thick as a row is high.
    assert_non_null(strstr(b.data, "<g class=\"m\" transform=\"translate(0 22.5)scale(5 5)\">\n"));
    char css[32], run[64];
    snprintf(run, sizeof run, "<path class=\"s%d\" d=\"M0 0h2\"/>", INK_BLUE); // the first row in one run
    assert_non_null(strstr(b.data, run));
    snprintf(run, sizeof run, "<path class=\"s%d\" d=\"M1 1h1\"/>", INK_BAD);
    assert_non_null(strstr(b.data, run));
    // What is cut by others again and again is one run below them.
    snprintf(run, sizeof run, "<path class=\"s%d\" d=\"M0 0h6m1 0h1\"/>", INK_HAIR);
    assert_non_null(strstr(b.data, run));
    snprintf(run, sizeof run, "<path class=\"s%d\" d=\"M1 0h1m1 0h1\"/>", INK_BLUE);
    assert_non_null(strstr(b.data, run));
    theme_rgb bad = theme_color(INK_BAD, false);
    snprintf(css, sizeof css, ".s%d{fill:none;stroke:#%02x%02x%02x}", INK_BAD, bad.red, bad.green, bad.blue);
    assert_non_null(strstr(b.data, css));
    // Neighbouring hovers share a group.
    assert_non_null(strstr(b.data, "<g fill=\"none\" pointer-events=\"all\">\n"
                                   "<path d=\"M1 30h3v4.5h-3\"><title>one</title></path>\n"
                                   "<path d=\"M4 30h3v4.5h-3\"><title>two</title></path>\n</g>\n"));
    theme_rgb ok = theme_color(INK_OK, false);
    snprintf(css, sizeof css, ".f%d{fill:#%02x%02x%02x}", INK_OK, ok.red, ok.green, ok.blue);
    assert_non_null(strstr(b.data, css));
    b.size = 0;
    canvas_svg(c, &b, true); // for HTML: no colours, no declaration
    assert_true(strncmp(b.data, "<svg ", 5) == 0);
    assert_null(strstr(b.data, "<style>"));
    buffer_free(&b);
    canvas_close(c);
}

// A chart that is drawn wide and narrow has its cells once; what is only hovered for can be left out of one.
static void test_shared(void **state)
{
    (void)state;
    const uint16_t inks[20] = {INK_BLUE, INK_BAD}, others[20] = {INK_BAD};
    canvas *wide = canvas_open(200, 20), *narrow = canvas_open(100, 20);
    size_t id = 7;
    buffer b = {0};
    canvas_image(wide, (canvas_box){0, 0, 200, 10}, others, 20, 1);
    canvas_image(wide, (canvas_box){0, 10, 200, 10}, inks, 20, 1);
    canvas_image(narrow, (canvas_box){0, 10, 100, 10}, inks, 20, 1);
    canvas_hover(narrow, (canvas_box){1, 10, 3, 4}, "hovered");
    canvas_share(narrow, wide, &id);
    canvas_drop_tips(narrow);
    assert_int_equal(id, 8);
    canvas_svg(wide, &b, true);
    assert_non_null(strstr(b.data, "<g class=\"m\" transform=\"translate(0 15)scale(10 10)\">\n<g id=\"d8\"><path"));
    assert_non_null(strstr(b.data, "<g class=\"m\" transform=\"translate(0 5)scale(10 10)\">\n<path"));
    b.size = 0;
    canvas_svg(narrow, &b, true);
    assert_non_null(
        strstr(b.data, "<g class=\"m\" transform=\"translate(0 15)scale(5 10)\">\n<use href=\"#d8\"/></g>"));
    assert_null(strstr(b.data, "<path"));
    assert_null(strstr(b.data, "hovered"));
    buffer_free(&b);
    canvas_close(narrow);
    canvas_close(wide);
}

typedef struct faults {
    size_t outside, small, overlap;
    char text[64], other[64];
} faults;

static void count_fault(void *user, canvas_fault fault, const char *text, const char *other)
{
    faults *f = user;
    f->outside += fault == FAULT_OUTSIDE;
    f->small += fault == FAULT_SMALL;
    f->overlap += fault == FAULT_OVERLAP;
    snprintf(f->text, sizeof f->text, "%s", text);
    snprintf(f->other, sizeof f->other, "%s", other ? other : "");
}

static faults check(canvas *c)
{
    faults f = {0};
    size_t sum = canvas_check(c, (canvas_box){10, 10, 180, 80}, count_fault, &f);
    assert_int_equal(sum, f.outside + f.small + f.overlap);
    canvas_close(c);
    return f;
}

static void test_layout_check(void **state)
{
    (void)state;
    canvas *c = canvas_open(200, 100);
    canvas_text(c, 20, 30, "fine", TYPE_BODY, INK_TEXT, ALIGN_LEFT, 0);
    canvas_text(c, 60, 30, "beside it", TYPE_BODY, INK_TEXT, ALIGN_LEFT, 0);
    canvas_text(c, 20, 41, "below it", TYPE_BODY, INK_TEXT, ALIGN_LEFT, 0);
    faults none = check(c);
    assert_int_equal(none.outside + none.small + none.overlap, 0);

    c = canvas_open(200, 100);
    canvas_text(c, 170, 30, "past the margin", TYPE_BODY, INK_TEXT, ALIGN_LEFT, 0);
    faults out = check(c);
    assert_int_equal(out.outside, 1);
    assert_string_equal(out.text, "past the margin");

    c = canvas_open(200, 100);
    canvas_text(c, 20, 30, "one over", TYPE_BODY, INK_TEXT, ALIGN_LEFT, 0);
    canvas_text(c, 30, 33, "another", TYPE_BODY, INK_TEXT, ALIGN_LEFT, 0);
    faults over = check(c);
    assert_int_equal(over.overlap, 1);
    assert_string_equal(over.text, "one over");
    assert_string_equal(over.other, "another");

    c = canvas_open(200, 100);
    canvas_text(c, 20, 30, "tiny", TYPE_FOOT, INK_TEXT, ALIGN_LEFT, 0);
    c->ops[0].box.height = 5.5; // no type is that small: planted
    assert_int_equal(check(c).small, 1);
}

// Hatching stays within its box, whatever the box's shape.
static void test_hatch(void **state)
{
    static const canvas_box boxes[] = {{10, 10, 100, 20}, {10, 10, 5, 90}, {0, 0, 2, 2}};
    (void)state;
    for (size_t k = 0; k < sizeof boxes / sizeof *boxes; k++) {
        canvas_box b = boxes[k];
        canvas *c = canvas_open(200, 200);
        canvas_hatch(c, b);
        for (size_t i = 0; i < c->count; i++)
            for (size_t j = 0; j < c->ops[i].count; j++) {
                canvas_point p = c->ops[i].points[j];
                assert_true(p.x >= b.x - 1e-9 && p.x <= b.x + b.width + 1e-9);
                assert_true(p.y >= b.y - 1e-9 && p.y <= b.y + b.height + 1e-9);
            }
        assert_true(c->count >= 1);
        canvas_close(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_visible),      cmocka_unit_test(test_buffer), cmocka_unit_test(test_theme),
        cmocka_unit_test(test_text),         cmocka_unit_test(test_svg),    cmocka_unit_test(test_shared),
        cmocka_unit_test(test_layout_check), cmocka_unit_test(test_hatch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
