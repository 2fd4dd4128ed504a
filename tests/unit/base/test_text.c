// Texts that grow, patterns, names of hosts, blocks of memory, listings of files, and values of JSON.
#define _GNU_SOURCE // nftw, mkfifo
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "netprof.h"
#include "tree.h"
#include "analysis/base/directory.h"
#include "analysis/base/json_values.h"
#include "analysis/base/memory.h"
#include "analysis/base/text.h"
#include "analysis/base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- texts ----

static void texts_grow(void **state)
{
    char *text = NULL;
    (void)state;
    text_append(&text, "%s", "");
    assert_string_equal(text, "");
    text_append(&text, "%d of %d", 3, 12);
    text_append(&text, "; %s", "and more");
    assert_string_equal(text, "3 of 12; and more");
    text_capital(text);
    assert_string_equal(text, "3 of 12; and more");
    free(text);
}

static void capitals(void **state)
{
    static const struct {
        const char *text, *capital;
    } rows[] = {{"alike", "Alike"},       {"z", "Z"}, {"Zoo", "Zoo"},      {"`x", "`x"}, {"{x", "{x"},
                {"\xc3\xa4", "\xc3\xa4"}, {"", ""},   {"7 of 8", "7 of 8"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[16];
        snprintf(text, sizeof text, "%s", rows[i].text);
        text_capital(text);
        assert_string_equal(text, rows[i].capital);
    }
}

static void patterns(void **state)
{
    static const struct {
        const char *pattern, *text;
        bool like;
    } rows[] = {{"abc", "abc", true},
                {"abc", "abd", false},
                {"abc", "ab", false},
                {"abc", "abcd", false},
                {"", "", true},
                {"", "a", false},
                {"*", "", true},
                {"*", "anything", true},
                {"**", "anything", true},
                {"a*", "a", true},
                {"a*c", "abc", true},
                {"a*c", "abcbc", true}, // the first c is not the last one
                {"a*c", "abcb", false},
                {"*bc", "abbc", true},
                {"*ab*cd*", "xabyabzcd", true},
                {"*ab*cd*", "xcdyab", false},
                {"a?c", "abc", true},
                {"a?c", "ac", false},
                {"?", "", false},
                {"a?", "a", false},
                {"a?*", "abc", true},
                // numbers
                {"p[1-8]", "p1", true},
                {"p[1-8]", "p8", true},
                {"p[1-8]", "p0", false},
                {"p[1-8]", "p9", false},
                {"p[1-8]", "p12", false}, // the whole number
                {"p[1-8]", "p", false},
                {"p[1-8]", "px", false},
                {"p[8-12]", "p10", true},
                {"p[8-12]", "p7", false},
                {"p[8-12]", "p13", false},
                {"p[8-12]x", "p009x", true}, // with zeros in front
                {"p[8-12]x", "p9", false},
                {"p[8-12]_[0-3]", "p12_3", true},
                {"p[8-12]_[0-3]", "p12_4", false},
                {"p[0-999999]", "p999999", true},
                {"p[0-999999]", "p1000000", false},
                {"*[2-4]", "eth12 lane3", true},
                {"*_[2-4]*", "a_1_b_2_c", true},
                {"*_[5-6]*", "a_1_b_2_c", false},
                // no range: a bracket as it is
                {"a[x]", "a[x]", true},
                {"a[1-", "a[1-", true},
                {"a[1-2", "a[1-2", true},
                {"a[1-2", "a1", false}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (text_like(rows[i].pattern, rows[i].text) != rows[i].like)
            fail_msg("%s %s %s", rows[i].text, rows[i].like ? "is not like" : "is like", rows[i].pattern);
}

static void names_of_one_host(void **state)
{
    static const struct {
        const char *a, *b;
        bool same;
    } rows[] = {{"node1", "node1", true},
                {"node1", "NODE1", true},
                {"node1", "node1.example.org", true},
                {"node1.example.org", "Node1.Example.Org", true},
                {"node1.example.org", "node1.example.net", false},
                {"node1", "node2", false},
                {"node1", "node11", false},
                {"node1", "node11.example.org", false},
                {"10.0.0.1", "10.0.0.1", true},
                {"10.0.0.1", "10.0.0.2", false},
                {"10", "10.0.0.1", false}, // an address has no domain
                {"fe80::1", "FE80::1", true},
                {"fe80::1", "fe80::1.example.org", false},
                {"", "", false},
                {"node1", "", false},
                {"node1", NULL, false},
                {NULL, NULL, false}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (text_same_host(rows[i].a, rows[i].b) != rows[i].same ||
            text_same_host(rows[i].b, rows[i].a) != rows[i].same)
            fail_msg("%s and %s", rows[i].a ? rows[i].a : "none", rows[i].b ? rows[i].b : "none");
}

static void characters_of_utf8(void **state)
{
    static const struct {
        const char *text;
        size_t length;
        uint32_t code;
    } rows[] = {{"", 1, 0},
                {"a", 1, 'a'},
                {"\x7f", 1, 0x7f},
                {"\xc2\x80", 2, 0x80}, // the first and the last of each length
                {"\xdf\xbf", 2, 0x7ff},
                {"\xe0\xa0\x80", 3, 0x800},
                {"\xef\xbf\xbf", 3, 0xffff},
                {"\xed\x9f\xbf", 3, 0xd7ff},
                {"\xee\x80\x80", 3, 0xe000},
                {"\xf0\x90\x80\x80", 4, 0x10000},
                {"\xf4\x8f\xbf\xbf", 4, 0x10ffff},
                {"\xc1\xbf", 0, 0}, // written longer than needed
                {"\xe0\x9f\xbf", 0, 0},
                {"\xf0\x8f\xbf\xbf", 0, 0},
                {"\xed\xa0\x80", 0, 0}, // surrogates
                {"\xed\xbf\xbf", 0, 0},
                {"\xf4\x90\x80\x80", 0, 0}, // beyond the last one
                {"\xf8\x88\x80\x80", 0, 0},
                {"\x80", 0, 0},
                {"\xbf", 0, 0},
                {"\xc3", 0, 0}, // cut
                {"\xe2\x82", 0, 0},
                {"\xc3\x28", 0, 0},
                {"\xc3\xc3", 0, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t code = 0;
        assert_int_equal(utf8_character(rows[i].text, &code), rows[i].length);
        assert_int_equal(code, rows[i].code);
        const char *at = rows[i].text;
        size_t length = 0, valid = rows[i].length;
        const char *bytes = utf8_next(&at, &length);
        assert_int_equal(at - rows[i].text, valid ? valid : 1);
        assert_int_equal(length, valid ? valid : 3);
        assert_memory_equal(bytes, valid ? rows[i].text : UTF8_REPLACEMENT, length);
    }
}

// ---- memory ----

static void blocks(void **state)
{
    (void)state;
    char *text = memory_strdup("");
    assert_string_equal(text, "");
    free(text);
    text = memory_strndup("abcdef", 3);
    assert_string_equal(text, "abc");
    free(text);
    text = memory_strndup("abc", 7);
    assert_string_equal(text, "abc");
    free(text);
    text = memory_format("%s/%0*d", "path", 300, 7);
    assert_int_equal(strlen(text), 305);
    assert_string_equal(text + 300, "00007");
    free(text);
    text = memory_copy("12345", 3);
    assert_memory_equal(text, "123", 3);
    text = memory_realloc(text, 1000);
    assert_memory_equal(text, "123", 3);
    text = memory_array(text, 500, 4);
    memset(text + 3, 'x', 1997);
    assert_memory_equal(text, "123xx", 5);
    free(text);
    int *numbers = memory_calloc(1000, sizeof *numbers);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(numbers[i], 0);
    free(numbers);
}

// Nothing asked for is a block of its own, too: NULL would mean that memory ran out.
static void blocks_of_nothing(void **state)
{
    (void)state;
    void *empty[] = {memory_alloc(0),         memory_calloc(0, 8),      memory_calloc(8, 0),
                     memory_realloc(NULL, 0), memory_array(NULL, 0, 8), memory_copy(NULL, 0)};
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        assert_non_null(empty[i]);
        for (size_t k = 0; k < i; k++)
            assert_ptr_not_equal(empty[i], empty[k]);
    }
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++)
        free(empty[i]);
}

static void said_by(const char *what)
{
    ssize_t n = write(STDOUT_FILENO, what, strlen(what));
    (void)n;
}

static void first(void)
{
    said_by("first ");
}

static void second(void)
{
    said_by("second ");
}

static void third_needs_memory(void)
{
    said_by("third ");
    memory_exhausted(); // does not begin again
}

enum { OF_A_SIZE_THAT_OVERFLOWS, OF_A_LIBRARY, WITH_A_CLEAN_UP_THAT_ALLOCATES };

static void run_out(int how)
{
    memory_at_exhaustion(first);
    memory_at_exhaustion(second);
    memory_at_exhaustion(first); // once is enough
    memory_at_exhaustion(second);
    if (how == WITH_A_CLEAN_UP_THAT_ALLOCATES) memory_at_exhaustion(third_needs_memory);
    if (how == OF_A_SIZE_THAT_OVERFLOWS) memory_array(NULL, SIZE_MAX / 4 + 1, 4);
    memory_check(NULL);
}

static void the_end_for_want_of_memory(void **state)
{
    static const char *const said[] = {"netprof: out of memory\nsecond first ", "netprof: out of memory\nsecond first ",
                                       "netprof: out of memory\nthird "};
    (void)state;
    for (int how = 0; how < 3; how++) {
        char text[128] = "";
        size_t n = 0;
        int ends[2], status;
        fflush(NULL);
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0) {
            dup2(ends[1], STDOUT_FILENO);
            dup2(ends[1], STDERR_FILENO);
            printf("half a table"); // is not flushed
            run_out(how);
            _exit(0);
        }
        close(ends[1]);
        for (ssize_t more; n < sizeof text - 1 && (more = read(ends[0], text + n, sizeof text - 1 - n)) > 0;)
            n += (size_t)more;
        close(ends[0]);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), MEMORY_EXIT);
        assert_string_equal(text, said[how]);
    }
    void *block = memory_array(NULL, 3, 4); // is no end
    free(block);
}

// ---- listings ----

static void the_files_of_a_directory(void **state)
{
    static const char *const endings[] = {".netprof", ".json", NULL};
    static const char *const names[] = {"b.netprof",     "a.json",  "c.json.gz",      "d.netprof.zst", ".hidden.json",
                                        "e.txt",         "json",    ".json",          "e.gz",          "f.json.bz2",
                                        "g.json.old.gz", "10.json", "h/deep.netprof", "9.json"};
    static const char *const listed[] = {"10.json",   "9.json",        "a.json",   "b.netprof",
                                         "c.json.gz", "d.netprof.zst", "link.json"};
    listing l = {0};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        tree_write(names[i], "");
    assert_int_equal(mkdir(tree_path("x.json"), 0700), 0);
    assert_int_equal(mkfifo(tree_path("y.json"), 0600), 0);
    tree_link("a.json", "link.json");
    tree_link("h", "z.json");
    listing_add(&l, "zz first");
    assert_int_equal(listing_add_directory(&l, tree_root, endings), NETPROF_OK);
    assert_int_equal(l.count, 1 + sizeof listed / sizeof *listed);
    assert_string_equal(l.paths[0], "zz first"); // what was there stays in front
    for (size_t i = 0; i < sizeof listed / sizeof *listed; i++)
        assert_string_equal(l.paths[1 + i], tree_path(listed[i]));
    assert_int_equal(listing_add_directory(&l, tree_path("none"), endings), NETPROF_ERR_IO);
    assert_int_equal(l.count, 8);
    assert_int_equal(listing_add_directory(&l, tree_path("h/"), endings), NETPROF_OK);
    assert_string_equal(l.paths[8], tree_path("h/deep.netprof")); // one slash
    listing_free(&l);
    assert_null(l.paths);
    assert_int_equal(l.count, 0);
    assert_true(listing_is_directory(tree_path("h")));
    assert_true(listing_is_directory(tree_path("z.json")));
    assert_false(listing_is_directory(tree_path("a.json")));
    assert_false(listing_is_directory(tree_path("none")));
}

static void sorted_and_each_once(void **state)
{
    static const char *const paths[] = {"b", "a", "c", "b", "B", "a", "a"}, *const sorted[] = {"B", "a", "b", "c"};
    listing l = {0};
    (void)state;
    listing_sort(&l);
    assert_int_equal(l.count, 0);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        listing_add(&l, paths[i]);
    listing_sort(&l);
    assert_int_equal(l.count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(l.paths[i], sorted[i]);
    listing_free(&l);
}

// ---- values of JSON ----

static void values_of_json(void **state)
{
    (void)state;
    json_begin();
    json_object *o = json_new_object();
    json_put_text(o, "text", "a\xff\xc3\xa4");
    json_put_text(o, "empty", "");
    json_put_text(o, "none", NULL);
    json_put_number(o, "number", 1.0 / 3);
    json_put_number(o, "large", 1.5e300);
    json_put_number(o, "nan", NAN);
    json_put_number(o, "infinite", -INFINITY);
    json_put_exact(o, "exact", UINT64_MAX);
    assert_string_equal(json_to_text(o, JSON_C_TO_STRING_PLAIN),
                        "{\"text\":\"a\xef\xbf\xbd\xc3\xa4\",\"empty\":\"\",\"number\":0.333333333,\"large\":1.5e+300,"
                        "\"nan\":null,\"infinite\":null,\"exact\":18446744073709551615}");
    json_object_put(o);
}

static void lower_bounds(void **state)
{
    static const struct {
        const char *first, *second, *text;
    } rows[] = {{"bytes", "calls", "{\"lower_bounds\":[\"bytes\",\"calls\"]}"},
                {"bytes", NULL, "{\"lower_bounds\":[\"bytes\"]}"},
                {NULL, "calls", "{\"lower_bounds\":[\"calls\"]}"},
                {NULL, NULL, "{}"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_object *o = json_new_object();
        json_put_lower_bounds(o, rows[i].first, rows[i].second);
        assert_string_equal(json_to_text(o, JSON_C_TO_STRING_PLAIN), rows[i].text);
        json_object_put(o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_grow),
        cmocka_unit_test(capitals),
        cmocka_unit_test(patterns),
        cmocka_unit_test(names_of_one_host),
        cmocka_unit_test(characters_of_utf8),
        cmocka_unit_test(blocks),
        cmocka_unit_test(blocks_of_nothing),
        cmocka_unit_test(the_end_for_want_of_memory),
        cmocka_unit_test_setup_teardown(the_files_of_a_directory, tree_setup, tree_teardown),
        cmocka_unit_test(sorted_and_each_once),
        cmocka_unit_test(values_of_json),
        cmocka_unit_test(lower_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
