// A JSON file's snapshots and deltas are parsed one at a time: little memory, and whatever is wrong with the text is said
// where it is; what comes before it counts.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/data/dataset.h"
#include "../sanitized.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define SCHEMA                                                                                                         \
    "\"schemas\":[{\"devices\":[{\"source\":\"s\",\"name\":\"d\",\"counters\":[{\"name\":\"c\"},{\"name\":\"e\"}]}]}]"
#define HEAD "{\"format\":\"netprof\",\"version\":1," SCHEMA ","
#define SNAPSHOT(value)                                                                                                \
    "{\"schema\":0,\"devices\":[{\"source\":\"s\",\"device\":\"d\",\"values\":{\"c\":" value ",\"e\":7}}]}"
#define DELTA                                                                                                          \
    "{\"schema\":0,\"devices\":[{\"source\":\"s\",\"device\":\"d\",\"counters\":{\"c\":{\"value\":5,\"flag\":\"ok\"}}" \
    "}]}"

typedef struct expected {
    const char *text;
    size_t snapshots, deltas;
    uint64_t line;       // of the warning
    const char *warning; // NULL: none, the file is complete
} expected;

static void read_it(dataset *set, const char *text)
{
    size_t size = strlen(text);
    char *copy = malloc(size); // reading behind it is caught
    assert_non_null(copy);
    memcpy(copy, text, size);
    *set = (dataset){0};
    netprof_error error;
    if (dataset_read_memory(set, "input", copy, size, NULL, &error)) fail_msg("%s: %s", error.text, text);
    free(copy);
}

// The values of counter c are 1, 2, ...
static void check(const expected *e)
{
    dataset set;
    read_it(&set, e->text);
    const dataset_run *run = &set.runs[0];
    if (run->snapshot_count != e->snapshots || run->delta_count != e->deltas)
        fail_msg("%zu snapshots, %zu deltas: %s", run->snapshot_count, run->delta_count, e->text);
    for (size_t i = 0; i < run->snapshot_count; i++)
        assert_int_equal(run->snapshots[i].values[0], i + 1);
    assert_int_equal(run->complete, e->warning == NULL);
    if (!e->warning && set.warning_count) fail_msg("%s: %s", set.warnings[0].text, e->text);
    if (e->warning) {
        assert_int_equal(set.warning_count, 1);
        if (set.warnings[0].line != e->line || !strstr(set.warnings[0].text, e->warning))
            fail_msg("line %d: %s: %s", (int)set.warnings[0].line, set.warnings[0].text, e->text);
    }
    dataset_free(&set);
}

static void lists_in_any_order_and_layout(void **state)
{
    (void)state;
    static const expected all[] = {
        {HEAD "\"snapshots\":[" SNAPSHOT("1") "," SNAPSHOT("2") "],\"deltas\":[" DELTA "]}", 2, 1, 0, NULL},
        {" {\n\"deltas\" : [ " DELTA "\t, " DELTA
         " \n] ,\n\"snapshots\" :\n[ " SNAPSHOT("1") " ] , " SCHEMA ", \"format\":\"netprof\"}\n",
         1, 2, 0, NULL},
        {HEAD "\"snapshots\":[ ],\"deltas\":[" DELTA "]}", 0, 1, 0, NULL},
        {HEAD "\"snapshots\":null,\"deltas\":[" DELTA "]}", 0, 1, 0, NULL},
        {HEAD "\"deltas\":{\"a\":[" DELTA "]},\"snapshots\":[" SNAPSHOT("1") "]}", 1, 0, 0, NULL},
        // Of two members of one name the last counts; a name is a name however it is written.
        {HEAD "\"snapshots\":[" SNAPSHOT("9") "],\"snapshots\":[" SNAPSHOT("1") "," SNAPSHOT("2") "]}", 2, 0, 0, NULL},
        {HEAD "\"snap\\u0073hots\":[" SNAPSHOT("1") "]}", 1, 0, 0, NULL},
        // Brackets, commas and quotes in strings are none.
        {HEAD "\"note\":\"\\\"],[{\",\"snapshots\":[{\"note\":\"}],\\\\\","
              "\"schema\":0,\"devices\":[{\"source\":\"s\","
              "\"device\":\"d\",\"values\":{\"c\":1}}]}]}",
         1, 0, 0, NULL},
        // What stands behind the end is told, and not used.
        {HEAD "\"snapshots\":[" SNAPSHOT("1") "]}\n{\"snapshots\":[" SNAPSHOT("9") "]}", 1, 0, 2,
         "what follows is behind the end of the document, and is not used"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        check(&all[i]);
}

static void damage_ends_what_is_used(void **state)
{
    (void)state;
    static const expected all[] = {
        // Cut: between items, within one, within a string, behind the last list.
        {HEAD "\"snapshots\":[" SNAPSHOT("1") ",\n", 1, 0, 2, "the file ends too early; what comes before was used"},
        {HEAD "\"snapshots\":[" SNAPSHOT("1") ",\n{\"schema\":0,\"devices\":[{\"source\":\"s\",\"device\":\"d\","
                                              "\"values\":{\"c\":2,\"e",
         2, 0, 2, "the file ends too early"},
        {HEAD "\"snapshots\":[" SNAPSHOT("1"), 1, 0, 1, "the file ends too early"},
        {HEAD "\"snapshots\":[" SNAPSHOT("1") "],\n\"deltas\":[" DELTA "]\n", 1, 1, 3, "the file ends too early"},
        // Damaged: within an item, between two, brackets that do not match. Nothing behind it is used.
        {HEAD "\"snapshots\":[" SNAPSHOT("1") ",\n" SNAPSHOT("2,oops") "," SNAPSHOT("9") "],\n\"deltas\":[" DELTA "]}",
         2, 0, 2, "what comes before was used"},
        {HEAD "\"snapshots\":[" SNAPSHOT("1") "\n" SNAPSHOT("9") "],\"deltas\":[" DELTA "]}", 1, 0, 2,
         "array value separator"},
        {HEAD "\"snapshots\":[" SNAPSHOT("1") "\n,," SNAPSHOT("9") "],\"deltas\":[" DELTA "]}", 1, 0, 2,
         "what comes before was used"},
        {HEAD "\"snapshots\":[" SNAPSHOT("1") ",\n{\"schema\":0]," SNAPSHOT("9") "],\"deltas\":[" DELTA "]}", 1, 0, 2,
         "object value separator"},
        {HEAD "\"snapshots\":[" SNAPSHOT("1") "],\n\"deltas\":[" DELTA "],\noops,\"z\":[1]}", 1, 1, 3,
         "what comes before was used"},
        {HEAD "\"snapshots\":[" SNAPSHOT("1") "],\noops,\"deltas\":[" DELTA "]}", 1, 0, 2,
         "what comes before was used"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        check(&all[i]);
}

static void items_that_are_no_objects(void **state)
{
    (void)state;
    dataset set;
    read_it(&set, HEAD "\"snapshots\":[null,12,\"x\"," SNAPSHOT("1") ",-3],\"deltas\":[1e5]}");
    assert_int_equal(set.runs[0].snapshot_count, 1);
    assert_false(set.runs[0].complete);
    static const char *const said[] = {"snapshot 1: expected an object", "snapshot 2: expected an object",
                                       "snapshot 3: expected an object", "snapshot 5: expected an object",
                                       "delta 1: expected an object"};
    assert_int_equal(set.warning_count, sizeof said / sizeof *said);
    for (size_t i = 0; i < set.warning_count; i++)
        assert_non_null(strstr(set.warnings[i].text, said[i]));
    dataset_free(&set);
}

static void refused(const char *text, const char *line, const char *why)
{
    dataset set = {0};
    netprof_error error = {.code = NETPROF_OK};
    assert_int_equal(dataset_read_memory(&set, "input", text, strlen(text), NULL, &error), NETPROF_ERR_PARSE);
    if (!strstr(error.text, line) || !strstr(error.text, why)) fail_msg("%s: %s", text, error.text);
    dataset_free(&set);
}

static void nothing_that_can_be_used(void **state)
{
    (void)state;
    refused("{\n\"a\" \"snapshots\":[1", "line 2", "separator");
    refused("{\n", "line 2", "the file ends too early");
    refused("{\"snapshots\":\n]", "line 2", "unexpected");
}

// Memory that reading takes beyond the text; in a process of its own, for the highest level is asked of the process.
static long read_kib(const char *text)
{
    int pipes[2];
    long kib = -1;
    struct rusage use;
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        dataset set = {0};
        getrusage(RUSAGE_SELF, &use);
        long before = use.ru_maxrss;
        bool done =
            !dataset_read_memory(&set, "input", text, strlen(text), NULL, NULL) && set.runs[0].snapshot_count > 9;
        getrusage(RUSAGE_SELF, &use);
        kib = done ? use.ru_maxrss - before : -1;
        _exit(write(pipes[1], &kib, sizeof kib) != sizeof kib);
    }
    close(pipes[1]);
    assert_int_equal(read(pipes[0], &kib, sizeof kib), sizeof kib);
    close(pipes[0]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    return kib;
}

static void memory_is_a_small_multiple(void **state)
{
    (void)state;
    if (UNDER_ADDRESS_SANITIZER || UNDER_THREAD_SANITIZER) skip(); // a sanitizer keeps what was freed
    enum { SNAPSHOTS = 2000, COUNTERS = 100 };
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    fputs("{\"format\":\"netprof\",\"schemas\":[{\"devices\":[{\"source\":\"s\",\"name\":\"d\",\"counters\":[", to);
    for (int k = 0; k < COUNTERS; k++)
        fprintf(to, "%s{\"name\":\"a_counter_of_some_length_%d\"}", k ? "," : "", k);
    fputs("]}]}],\"snapshots\":[", to);
    for (int i = 0; i < SNAPSHOTS; i++) {
        fprintf(to, "%s{\"schema\":0,\"devices\":[{\"source\":\"s\",\"device\":\"d\",\"values\":{", i ? "," : "");
        for (int k = 0; k < COUNTERS; k++)
            fprintf(to, "%s\"a_counter_of_some_length_%d\":%d", k ? "," : "", k, i * k);
        fputs("}}]}", to);
    }
    fputs("]}", to);
    assert_int_equal(fclose(to), 0);
    // 18 bytes of each value are kept, about half of what it takes as text; a tree of all would take ten times the text.
    long kib = read_kib(text), most = (long)(2 * size / 1024);
    if (kib <= 0 || kib > most) fail_msg("%ld KiB for a text of %zu KiB", kib, size / 1024);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_in_any_order_and_layout), cmocka_unit_test(damage_ends_what_is_used),
        cmocka_unit_test(items_that_are_no_objects),     cmocka_unit_test(nothing_that_can_be_used),
        cmocka_unit_test(memory_is_a_small_multiple),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
