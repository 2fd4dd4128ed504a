// What rows over time say where they have no value, and how rows are called: whole names, on two lines where one is too short.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "render/canvas/canvas_model.h"
#include "render/chart/charts_plots.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = 4 };

// Draws a chart on a page of its own; the canvas is to be closed.
static canvas *drawn(const chart *x, double width)
{
    canvas *c = canvas_open(width, 300);
    x->draw(x, c, (canvas_box){0, 0, width, x->height(x, c, width, 0, x->rows)}, 0, x->rows);
    return c;
}

static const canvas_op *text_op(const canvas *c, const char *text)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->ops[i].kind == CANVAS_TEXT && strcmp(c->ops[i].text, text) == 0) return &c->ops[i];
    return NULL;
}

static bool has_tip(const canvas *c, const char *part)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->ops[i].tip && strstr(c->ops[i].tip, part)) return true;
    return false;
}

static chart map_of(const double *values, const char *states)
{
    const map_row row = {.label = "rank 1", .values = values, .states = states};
    const map_style style = {.columns = COLUMNS,
                             .axis = {.axis = {0, 4, false, false}, .format = AXES_TIME},
                             .to = 4,
                             .ramp = INK_BLUE,
                             .max = 1,
                             .format = AXES_PERCENT,
                             .unit = "",
                             .label_head = "rank",
                             .right_head = ""};
    return chart_map((chart_head){"a", "a", "a"}, &style, &row, 1);
}

// Hatched says that something was missed: only where there was something.
static void a_map_hatches_only_what_was_missed(void **state)
{
    static const double ended[COLUMNS] = {1, .5, NAN, NAN}, whole[COLUMNS] = {1, .5, 1, 0};
    (void)state;
    chart x = map_of(ended, NULL);
    canvas *c = drawn(&x, 480);
    assert_non_null(text_op(c, "no samples"));
    assert_true(has_tip(c, "not measured"));
    assert_string_equal(x.twin.cells[COLUMNS + 1 + 3], "not measured");
    canvas_close(c);
    chart_free(&x);

    x = map_of(ended, "..  ");
    c = drawn(&x, 480);
    assert_null(text_op(c, "no samples"));
    assert_true(has_tip(c, "nothing to measure"));
    assert_false(has_tip(c, "not measured"));
    assert_string_equal(x.twin.cells[COLUMNS + 1 + 3], "nothing to measure");
    canvas_close(c);
    chart_free(&x);

    x = map_of(ended, ".. ."); // one cell of the two was missed
    c = drawn(&x, 480);
    assert_non_null(text_op(c, "no samples"));
    canvas_close(c);
    chart_free(&x);

    x = map_of(whole, NULL);
    c = drawn(&x, 480);
    assert_null(text_op(c, "no samples"));
    canvas_close(c);
    chart_free(&x);
}

static chart events_named(const char *label, bool compact)
{
    static const double at[1] = {2}, amount[1] = {1};
    const events_row rows[] = {{.label = "Retries", .at = at, .amount = amount, .count = 1},
                               {.label = label, .at = at, .amount = amount, .count = 1}};
    const events_style style = {.axis = {.axis = {0, 4, false, false}, .format = AXES_TIME},
                                .label_width = 96,
                                .right_width = 56,
                                .compact = compact};
    return chart_events_over((chart_head){"a", "a", "a"}, &style, rows, 2);
}

static void a_long_name_of_a_row_is_on_two_lines(void **state)
{
    (void)state;
    for (int compact = 0; compact < 2; compact++) {
        chart x = events_named("request packets sent again, all", compact), one = events_named("Repaired", compact);
        canvas *c = drawn(&x, 480);
        const canvas_op *second = NULL;
        for (size_t i = 0; i < c->count; i++) {
            if (c->ops[i].kind != CANVAS_TEXT) continue;
            assert_null(strstr(c->ops[i].text, "\xe2\x80\xa6"));
            if (strncmp(c->ops[i].text, "request packets", 15) == 0) second = &c->ops[i + 1];
        }
        assert_non_null(second);
        assert_non_null(strstr("request packets sent again, all", second->text)); // the rest of it, on the next line
        assert_true(x.height(&x, c, 480, 0, 2) > one.height(&one, c, 480, 0, 2));
        canvas_close(c);
        chart_free(&x);
        chart_free(&one);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_map_hatches_only_what_was_missed),
                                       cmocka_unit_test(a_long_name_of_a_row_is_on_two_lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
