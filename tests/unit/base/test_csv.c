// Cells of CSV and strings of JSON: what RFC 4180 and RFC 8259 ask for, and no cell that a spreadsheet would run.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/base/csv.h"
#include "analysis/base/json_text.h"

#include <string.h>

typedef struct written {
    char text[256];
    size_t size;
} written;

static void keep(void *to, const char *bytes, size_t length)
{
    written *w = to;
    assert_true(w->size + length < sizeof w->text);
    memcpy(w->text + w->size, bytes, length);
    w->size += length;
    w->text[w->size] = 0;
}

static const char *cell(written *w, const char *text, bool guard)
{
    *w = (written){0};
    csv_text(keep, w, text, guard);
    return w->text;
}

static const char *string(written *w, const char *text)
{
    *w = (written){0};
    json_text_quoted(keep, w, text);
    return w->text;
}

static void cells(void **state)
{
    static const struct {
        const char *text, *guarded, *plain;
    } rows[] = {{"eth0", "eth0", "eth0"},
                {"", "", ""},
                {"a b", "a b", "a b"},
                {"a,b", "\"a,b\"", "\"a,b\""},
                {"say \"x\"", "\"say \"\"x\"\"\"", "\"say \"\"x\"\"\""},
                {"a\nb", "\"a\nb\"", "\"a\nb\""},
                {" a", "\" a\"", "\" a\""},
                {"a ", "\"a \"", "\"a \""},
                {"=1+1", "\"'=1+1\"", "=1+1"},
                {"+1+1", "\"'+1+1\"", "+1+1"},
                {"-x", "\"'-x\"", "-x"},
                {"@x", "\"'@x\"", "@x"},
                {"\tx", "\"'\tx\"", "\"\tx\""},
                {"\rx", "\"'\rx\"", "\"\rx\""},
                {"-", "\"'-\"", "-"},
                {"-1", "-1", "-1"},
                {"+1.5e3", "+1.5e3", "+1.5e3"},
                {"\xc3\xa4", "\xc3\xa4", "\xc3\xa4"},
                {"a\xff"
                 "b",
                 "a\xef\xbf\xbd"
                 "b",
                 "a\xef\xbf\xbd"
                 "b"}};
    written w;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_string_equal(cell(&w, rows[i].text, true), rows[i].guarded);
        assert_string_equal(cell(&w, rows[i].text, false), rows[i].plain);
    }
}

static void strings(void **state)
{
    written w;
    (void)state;
    assert_string_equal(string(&w, ""), "\"\"");
    assert_string_equal(string(&w, "a\"b\\c/d"), "\"a\\\"b\\\\c/d\"");
    assert_string_equal(string(&w, "\n\t\x01\x7f"), "\"\\u000a\\u0009\\u0001\\u007f\"");
    assert_string_equal(string(&w, "\xc3\xa4\xff"), "\"\xc3\xa4\xef\xbf\xbd\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cells), cmocka_unit_test(strings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
