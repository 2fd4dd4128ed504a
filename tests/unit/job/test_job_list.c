// Files told apart by job, array task and attempt, and which of them a name chooses.
#define _GNU_SOURCE
#include "netprof.h"

#include "analysis/base/stb_ds.h"
#include "analysis/job/job_list.h"
#include "support.h"

#include <sys/stat.h>

// A recording with these facts; "": not told.
typedef struct told {
    const char *file, *id, *array, *task, *restart;
} told;

static void record(const char *tree, const told *x)
{
    const struct row row[] = {{"netdev", "eth0", "tx_bytes", .scale = 1}};
    const char *const facts[][2] = {
        {"job_id", x->id}, {"job_array", x->array}, {"job_array_task", x->task}, {"job_restart", x->restart}};
    netprof_writer *w;
    netprof_snapshot s = snapshot_of(schema_of_rows(row, 1, "h1", NULL));
    assert_int_equal(netprof_writer_open(&w, tree_path(tree, x->file), 0, NULL), NETPROF_OK);
    for (size_t i = 0; i < COUNT(facts); i++)
        if (*facts[i][1]) assert_int_equal(netprof_write_fact(w, facts[i][0], facts[i][1], NULL), NETPROF_OK);
    assert_int_equal(netprof_write_snapshot(w, &s, NULL), NETPROF_OK);
    assert_int_equal(netprof_writer_close(w, 1, NULL), NETPROF_OK);
    netprof_snapshot_free(&s);
}

static const told files[] = {
    {"a.netprof", "10", "", "", ""}, {"b.netprof", "9", "", "", ""},     {"c.netprof", "10", "", "", "1"},
    {"d.netprof", "10", "", "", ""}, {"e.netprof", "21", "20", "1", ""}, {"f.netprof", "22", "20", "2", ""},
    {"g.netprof", "9", "", "", "0"}, {"h.netprof", "", "", "", ""},
};

static job_list all_of(char *tree)
{
    job_list l = {.count = 0};
    const char *path = tree;
    for (size_t i = 0; i < COUNT(files); i++)
        record(tree, &files[i]);
    tree_write(tree, "x.phases", "1763643720 work\n");
    tree_write(tree, "y.text", "not listed\n");
    job_list_read(&l, &path, 1);
    return l;
}

// By number, then by attempt; without a number last. Phases are every job's.
static void jobs_in_order(void **state)
{
    static const struct {
        const char *id, *name, *files;
    } expected[] = {
        {"9", "9", "b.netprof g.netprof x.phases "},    {"10", "10, attempt 1", "a.netprof d.netprof x.phases "},
        {"10", "10, attempt 2", "c.netprof x.phases "}, {"21", "20_1", "e.netprof x.phases "},
        {"22", "20_2", "f.netprof x.phases "},          {"", "without a number", "h.netprof x.phases "}};
    char *tree = tree_make();
    job_list l = all_of(tree);
    (void)state;
    assert_int_equal(l.count, COUNT(expected));
    assert_int_equal(l.files.count, COUNT(files) + 1);
    for (size_t i = 0; i < l.count; i++) {
        char text[200] = "", *name = job_listed_name(&l, i);
        for (size_t k = 0; k < arrlenu(l.items[i].paths); k++) {
            const char *file = strrchr(l.items[i].paths[k], '/');
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s ", file + 1);
        }
        assert_string_equal(l.items[i].id, expected[i].id);
        assert_string_equal(name, expected[i].name);
        assert_string_equal(text, expected[i].files);
        free(name);
    }
    char *names = job_list_names(&l);
    assert_string_equal(names, "9; 10, attempt 1; 10, attempt 2; 20_1; 20_2; without a number");
    free(names);
    job_list_free(&l);
    assert_int_equal(l.count, 0);
    tree_remove(tree);
}

// How many a name leaves, and the first of these.
static void names_choose(void **state)
{
    static const struct {
        const char *name;
        size_t count;
        const char *first;
    } choices[] = {{"9", 1, "9"},         {"10", 2, "10, attempt 1"},
                   {"10:1", 1, "10"},     {"10:2", 1, "10, attempt 2"},
                   {"10:3", 0, NULL},     {"10:0", 0, NULL},
                   {"10:2x", 0, NULL},    {"9:1", 1, "9"},
                   {"9:2", 0, NULL},      {"20", 2, "20_1"},
                   {"20_1", 1, "20_1"},   {"20_2", 1, "20_2"},
                   {"20_3", 0, NULL},     {"20_", 0, NULL},
                   {"20_1:1", 1, "20_1"}, {"20_1:2", 0, NULL},
                   {"20x1", 0, NULL},     {"22", 1, "20_2"},
                   {"2", 0, NULL},        {"200", 0, NULL},
                   {"1", 0, NULL},        {"", 0, NULL}};
    char *tree = tree_make();
    (void)state;
    for (size_t i = 0; i < COUNT(choices); i++) {
        job_list l = all_of(tree);
        size_t count = job_list_choose(&l, choices[i].name);
        if (count != choices[i].count || l.count != count)
            fail_msg("%s leaves %zu, expected %zu", choices[i].name, count, choices[i].count);
        if (count) {
            char *name = job_listed_name(&l, 0);
            if (strcmp(name, choices[i].first) != 0) fail_msg("%s: %s", choices[i].name, name);
            free(name);
        } else {
            char *names = job_list_names(&l);
            assert_string_equal(names, "none");
            free(names);
        }
        job_list_free(&l);
    }
    tree_remove(tree);
}

// Files that tell of no job are of the one job there is.
static void one_job_has_the_rest(void **state)
{
    char *tree = tree_make();
    const char *path = tree;
    job_list l = {.count = 0};
    (void)state;
    record(tree, &files[0]);
    record(tree, &files[7]);
    record(tree, &(told){"i.netprof", "", "", "", ""});
    job_list_read(&l, &path, 1);
    assert_int_equal(l.count, 1);
    assert_string_equal(l.items[0].id, "10");
    assert_int_equal(arrlenu(l.items[0].paths), 3);
    for (size_t i = 0; i < 3; i++)
        assert_non_null(strstr(l.items[0].paths[i], (const char *[]){"/a.", "/h.", "/i."}[i]));
    job_list_free(&l);
    record(tree, &files[1]);
    job_list_read(&l, &path, 1);
    assert_int_equal(l.count, 3);
    job_list_free(&l);
    tree_remove(tree);
}

// Directories and files, each once more than the first: what is in a directory, and a file that is named beside it.
static void several_paths(void **state)
{
    char *first = tree_make(), *second = tree_make();
    job_list l = {.count = 0};
    (void)state;
    record(first, &files[0]);
    record(first, &files[1]);
    record(second, &files[4]);
    record(second, &files[5]);
    tree_write(second, "x.phases", "1763643720 work\n");
    char *alone = strdup(tree_path(second, "f.netprof")), *marks = strdup(tree_path(second, "x.phases"));
    const char *const paths[] = {first, alone, marks};
    job_list_read(&l, paths, COUNT(paths));
    char *names = job_list_names(&l);
    assert_string_equal(names, "9; 10; 20_2");
    assert_int_equal(l.files.count, 4);
    assert_int_equal(l.count, 3);
    for (size_t i = 0; i < l.count; i++) { // its file, and the marks of all
        assert_int_equal(arrlenu(l.items[i].paths), 2);
        assert_string_equal(l.items[i].paths[1], marks);
    }
    assert_string_equal(l.items[2].paths[0], alone);
    free(names);
    job_list_free(&l);
    free(alone);
    free(marks);
    tree_remove(first);
    tree_remove(second);
}

static void many_are_named_in_short(void **state)
{
    char *tree = tree_make();
    const char *path = tree;
    (void)state;
    for (int count = 8; count <= 10; count++) {
        job_list l = {.count = 0};
        for (int i = 1; i <= count; i++) {
            char file[20], id[8];
            snprintf(file, sizeof file, "%d.netprof", i);
            snprintf(id, sizeof id, "%d", i);
            record(tree, &(told){file, id, "", "", ""});
        }
        job_list_read(&l, &path, 1);
        char *names = job_list_names(&l);
        assert_string_equal(names, count == 8   ? "1; 2; 3; 4; 5; 6; 7; 8"
                                   : count == 9 ? "1; 2; 3; 4; 5; 6; 7; 8 and 1 more"
                                                : "1; 2; 3; 4; 5; 6; 7; 8 and 2 more");
        free(names);
        job_list_free(&l);
    }
    tree_remove(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_in_order),           cmocka_unit_test(names_choose),
        cmocka_unit_test(one_job_has_the_rest),    cmocka_unit_test(several_paths),
        cmocka_unit_test(many_are_named_in_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
