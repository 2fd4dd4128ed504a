// Sessions: a name for a stretch of time in a head's directory.
#define _GNU_SOURCE
#include "live/journal/sessions.h"
#include "netprof.h"
#include "support.h"

#include "analysis/base/stb_ds.h"

#include <sys/stat.h>

static char *top;

static int set_up(void **state)
{
    (void)state;
    top = tree_make();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tree_remove(top);
    return 0;
}

static const char *directory(void)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/head", top);
    return path;
}

static void make_head(void)
{
    char path[700];
    snprintf(path, sizeof path, "%s/sessions", directory());
    assert_int_equal(mkdir(directory(), 0700), 0);
    assert_int_equal(mkdir(path, 0700), 0);
}

static void test_sessions(void **state)
{
    static const char *const wrong[] = {
        "",    ".",   "..",
        ".x",  "a/b", "../x",
        "a b", "a\n", "0123456789012345678901234567890123456789012345678901234567890123x"};
    session s = {.start_ns = 5, .stop_ns = 9, .interval_ns = 7, .fast = true}, back, *all = NULL;
    (void)state;
    make_head();
    for (size_t i = 0; i < COUNT(wrong); i++) {
        assert_false(session_is_name(wrong[i]));
        assert_int_equal(session_read(directory(), wrong[i], &back), EINVAL);
    }
    snprintf(s.name, sizeof s.name, "run-7.b");
    s.nodes = strdup("n*,\"x\"");
    assert_int_equal(session_write(directory(), &s), 0);
    assert_int_equal(session_read(directory(), "run-7.b", &back), 0);
    assert_string_equal(back.nodes, "n*,\"x\"");
    assert_int_equal(back.start_ns, 5);
    assert_int_equal(back.stop_ns, 9);
    assert_int_equal(back.interval_ns, 7);
    assert_true(back.fast);
    assert_null(back.sources);
    tree_write(top, "head/sessions/broken.json", "{\"start_ns\":");
    tree_write(top, "head/sessions/other.json", "[1]");
    assert_int_equal(session_read(directory(), "broken", &(session){.interval_ns = 0}), EILSEQ);
    assert_int_equal(session_list(directory(), &all), 0);
    assert_int_equal(arrlenu(all), 1);
    session_list_free(&all);
    // Where one cannot be read, nobody knows what it needs.
    char other[700];
    snprintf(other, sizeof other, "%s/sessions/link.json", directory());
    assert_int_equal(symlink("run-7.b.json", other), 0);
    assert_int_equal(session_list(directory(), &all), ELOOP);
    session_list_free(&all);
    assert_int_equal(session_delete(directory(), "run-7.b"), 0);
    assert_int_equal(session_delete(directory(), "run-7.b"), ENOENT);
    session_free(&back);
    free(s.nodes);
}

// A session of ten thousand nodes by name is read as it was written; one that could not be read is not written.
static void test_many_nodes(void **state)
{
    session s = {.start_ns = 5}, back;
    char *names = calloc(1, 2 << 20);
    size_t n = 0;
    (void)state;
    make_head();
    snprintf(s.name, sizeof s.name, "many");
    for (unsigned i = 0; i < 10000; i++)
        n += (size_t)sprintf(names + n, "node%05u,node%05u.*,", i, i);
    s.nodes = names;
    assert_int_equal(session_write(directory(), &s), 0);
    assert_int_equal(session_read(directory(), "many", &back), 0);
    assert_string_equal(back.nodes, names);
    session_free(&back);
    memset(names + n, 'x', 1 << 20);
    snprintf(s.name, sizeof s.name, "more");
    assert_int_equal(session_write(directory(), &s), EFBIG);
    assert_int_equal(session_read(directory(), "more", &back), ENOENT);
    free(names);
}

// The text of a session's file, as heads tell it each other; what is none is refused.
static void test_text(void **state)
{
    session s = {.start_ns = 5, .stop_ns = 9, .fast = true}, back;
    (void)state;
    snprintf(s.name, sizeof s.name, "a");
    s.nodes = strdup("n*");
    char *text = session_file_text(&s);
    assert_int_equal(session_parse("a", text, strlen(text), &back), 0);
    assert_string_equal(back.nodes, "n*");
    assert_int_equal(back.stop_ns, 9);
    assert_true(back.fast);
    session_free(&back);
    assert_int_equal(session_parse("../a", text, strlen(text), &back), EINVAL);
    assert_int_equal(session_parse("a", text, strlen(text) / 2, &back), EILSEQ);
    assert_int_equal(session_parse("a", "", 0, &back), EILSEQ);
    free(text);
    free(s.nodes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_sessions, set_up, tear_down),
        cmocka_unit_test(test_text),
        cmocka_unit_test_setup_teardown(test_many_nodes, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
