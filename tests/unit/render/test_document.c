// Documents: titles on one line, parts that flow over pages, what is pulled forward so that pages are full.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "render/document/document.h"
#include "render/document/document_model.h"
#include "render/document/document_title.h"

#include <stdlib.h>
#include <string.h>

static void check_title(const char *text, const char *expected)
{
    char *title = document_short_title(text);
    assert_string_equal(title, expected);
    free(title);
}

static void titles(void **state)
{
    (void)state;
    check_title("No fault seen on cxi0", "No fault seen on cxi0");
    check_title(
        "all 4 NICs: transmit blocked by the network 31.6 % of the time (3.16 s of 10.0 s); alike on all 4 NICs "
        "(27.2 % to 31.6 %): the fabric or the receivers, not one NIC of this node",
        "all 4 NICs: transmit blocked by the network 31.6 % of time");
    check_title("n11\xe2\x80\x99s NIC 2 (cxi1): transmit blocked by the network 44.0 % of the time for 6 min 00 s",
                "n11\xe2\x80\x99s NIC 2: transmit blocked by the network 44.0 % of time");
    check_title("cxi0: 50 codewords could not be corrected in 10.0 s (5.00/s): data were lost on the cable",
                "cxi0: 50 codewords could not be corrected in 10.0 s");
    check_title("vm: the job's threads were ready and waited for a CPU 49.7 % of the time that they could have run",
                "vm: threads waited for a CPU 49.7 % of time");
    check_title("checkpoint_write: the NICs sent 8.03 bytes for each that the program moved",
                "checkpoint_write: the NICs sent 8.03 \xc3\x97 the program\xe2\x80\x99s bytes");
    check_title("a-very-long-name-of-a-device-that-fills-the-line-alone: 100 requests were sent again",
                "100 requests were sent again");
}

// ---- pages ----

// A chart of so many rows of 10 pt.
static double block_height(const chart *x, canvas *c, double width, size_t from, size_t count)
{
    (void)x, (void)c, (void)width, (void)from;
    return 10 * (double)count;
}

static void block_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    (void)from, (void)count;
    canvas_text(c, box.x, box.y + 8, x->name, TYPE_BODY, INK_TEXT, ALIGN_LEFT, 0);
    canvas_rect(c, box, INK_EMPTY, 0);
}

// In one piece: its height is that of so many rows.
static double picture_height(const chart *x, canvas *c, double width, size_t from, size_t count)
{
    (void)c, (void)width, (void)from, (void)count;
    return *(const double *)x->data;
}

static void add_table(document *d, const char *name, size_t rows)
{
    document_add(d, (chart){.name = name, .title = name, .rows = rows, .height = block_height, .draw = block_draw});
}

static void add_picture(document *d, const char *name, double *height)
{
    document_add(
        d,
        (chart){.name = name, .title = name, .rows = 1, .height = picture_height, .draw = block_draw, .data = height});
}

// On which page a chart's text is; 0: on none.
static size_t page_of(const page_set *p, const char *name)
{
    for (size_t i = 0; i < p->count; i++)
        for (size_t k = 0; k < p->pages[i]->count; k++)
            if (p->pages[i]->ops[k].text && strcmp(p->pages[i]->ops[k].text, name) == 0) return i + 1;
    return 0;
}

static void a_part_goes_on_below_the_last(void **state)
{
    page_set p = {0};
    document *d = document_open("Test");
    (void)state;
    document_title(d, "Title");
    add_table(d, "first", 5);
    document_part(d, "Second part");
    add_table(d, "second", 5);
    pages_make(&p, d, PAPER_A4);
    assert_int_equal(p.count, 1);
    pages_free(&p);
    document_close(d);
}

static void a_heading_is_never_alone(void **state)
{
    double height = 400, most = 620;
    page_set p = {0};
    document *d = document_open("Test");
    (void)state;
    document_title(d, "Title");
    add_picture(d, "first", &most);
    document_part(d, "Second part");
    document_subline(d, "about it");
    add_picture(d, "second", &height);
    pages_make(&p, d, PAPER_A4);
    assert_int_equal(p.count, 2);
    assert_int_equal(page_of(&p, "Second part"), 2);
    assert_int_equal(page_of(&p, "second"), 2);
    pages_free(&p);
    document_close(d);
}

// Wherever on the page it comes: the rows below it, or some of them, stand on its page.
static void a_heading_is_never_alone_anywhere(void **state)
{
    (void)state;
    for (double above = 500; above < 700; above++) {
        page_set p = {0};
        document *d = document_open("Test");
        document_title(d, "Title");
        add_picture(d, "first", &above);
        document_part(d, "Second part");
        add_table(d, "second", 7);
        pages_make(&p, d, PAPER_A4);
        assert_int_equal(page_of(&p, "Second part"), page_of(&p, "second"));
        pages_free(&p);
        document_close(d);
    }
}

static void what_fits_is_pulled_forward_within_its_part(void **state)
{
    double large = 420;
    page_set p = {0};
    document *d = document_open("Test");
    (void)state;
    document_title(d, "Title");
    add_picture(d, "first", &large);
    add_picture(d, "second", &large); // has no room beside the first
    add_table(d, "small", 10);
    document_part(d, "Other part");
    add_table(d, "other", 10);
    pages_make(&p, d, PAPER_A4);
    assert_int_equal(p.count, 2);
    assert_int_equal(page_of(&p, "small"), 1);
    assert_int_equal(page_of(&p, "second"), 2);
    assert_int_equal(page_of(&p, "other"), 2);
    pages_free(&p);
    document_close(d);
}

static void no_few_rows_are_left_alone(void **state)
{
    page_set p = {0};
    document *d = document_open("Test");
    (void)state;
    add_table(d, "rows", 74); // one or two more than a page has
    pages_make(&p, d, PAPER_A4);
    assert_int_equal(p.count, 2);
    double low = 0;
    for (size_t k = 0; k < p.pages[1]->count; k++)
        if (p.pages[1]->ops[k].kind == CANVAS_RECT) low = p.pages[1]->ops[k].box.height;
    assert_true(low >= 40);
    pages_free(&p);
    document_close(d);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(titles),
                                              cmocka_unit_test(a_part_goes_on_below_the_last),
                                              cmocka_unit_test(a_heading_is_never_alone),
                                              cmocka_unit_test(a_heading_is_never_alone_anywhere),
                                              cmocka_unit_test(what_fits_is_pulled_forward_within_its_part),
                                              cmocka_unit_test(no_few_rows_are_left_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
