// Opening exports of Nsight Systems: what is none, what is cut or not complete, names that mean something in an address; what
// tables and columns a file has, and which cells are whole numbers.
#define _GNU_SOURCE // nftw
#include "netprof.h"

#include "analysis/nsys/nsys_sqlite.h"
#include "nsys_export.h"
#include "support.h"

static char *place;

static int begin(void **state)
{
    (void)state;
    place = tree_make();
    return 0;
}

static int end(void **state)
{
    (void)state;
    tree_remove(place);
    return 0;
}

static void make_export(const char *name, const char *sql)
{
    export_file f = export_open(tree_path(place, name));
    export_sql(&f, "%s", sql);
    export_close(&f);
}

static void expect_refused(const char *path, netprof_err code, int sys_errno, const char *text)
{
    nsys_sqlite s;
    netprof_error error = {.text = ""};
    assert_int_equal(nsys_sqlite_open(&s, path, &error), code);
    assert_int_equal(error.code, code);
    assert_int_equal(error.sys_errno, sys_errno);
    assert_string_equal(error.path, path);
    assert_string_equal(error.text, text);
    nsys_sqlite_close(&s);
    assert_null(s.library);
    assert_int_equal(nsys_sqlite_open(&s, path, NULL), code);
    nsys_sqlite_close(&s);
}

static void expect_opened(const char *path)
{
    nsys_sqlite s;
    netprof_error error = {.text = ""};
    if (nsys_sqlite_open(&s, path, &error)) fail_msg("%s: %s", path, error.text);
    assert_true(nsys_sqlite_has(&s, "StringIds"));
    nsys_sqlite_close(&s);
    assert_null(s.db);
}

// ---- what is no whole file ----

static void no_files(void **state)
{
    static const char none[] = "expected an SQLite file (nsys export --type sqlite)",
                      cut[] = "is cut within its header";
    char head[100] = "SQLite format 3";
    (void)state;
    expect_refused(tree_path(place, "none"), NETPROF_ERR_IO, ENOENT, strerror(ENOENT));
    expect_refused(place, NETPROF_ERR_IO, EISDIR, strerror(EISDIR));
    tree_write_bytes(place, "empty", "", 0);
    expect_refused(tree_path(place, "empty"), NETPROF_ERR_FORMAT, 0, "is empty");
    tree_write_bytes(place, "f", "SQLite format 4 and more", 24);
    expect_refused(tree_path(place, "f"), NETPROF_ERR_FORMAT, 0, none);
    tree_write_bytes(place, "f", head, 15);
    expect_refused(tree_path(place, "f"), NETPROF_ERR_FORMAT, 0, none);
    tree_write_bytes(place, "f", head, 16);
    expect_refused(tree_path(place, "f"), NETPROF_ERR_DAMAGED, 0, cut);
    tree_write_bytes(place, "f", head, 99);
    expect_refused(tree_path(place, "f"), NETPROF_ERR_DAMAGED, 0, cut);
    if (!export_possible()) skip();
    memset(head + 16, 0xee, sizeof head - 16);
    head[24] = 1; // what it says of its length is of no use
    tree_write_bytes(place, "f", head, 100);
    expect_refused(tree_path(place, "f"), NETPROF_ERR_FORMAT, 0,
                   "begins as an SQLite file and is none: damaged, or encrypted");
}

static size_t slurp(const char *path, char *to, size_t size)
{
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    size_t got = fread(to, 1, size, f);
    assert_true(got < size);
    fclose(f);
    return got;
}

// Of a file that is shorter than its header says; of the largest pages, whose size has no room there, as well.
static void cut_files(void **state)
{
    static char data[1 << 20];
    static const int pages[] = {4096, 65536, 512};
    (void)state;
    if (!export_possible()) skip();
    for (size_t i = 0; i < COUNT(pages); i++) {
        char sql[100], name[20], text[100];
        snprintf(name, sizeof name, "cut%d", pages[i]);
        export_file f = {0};
        f = export_open(tree_path(place, name));
        snprintf(sql, sizeof sql, "COMMIT; DROP TABLE StringIds; PRAGMA page_size = %d; VACUUM; BEGIN", pages[i]);
        export_sql(&f, "%s", sql);
        export_sql(&f, "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)");
        for (int k = 0; k < 300; k++)
            export_string(&f, k, "a string that takes some room in the file, so that it has some pages");
        export_close(&f);
        size_t size = slurp(tree_path(place, name), data, sizeof data);
        assert_true(size >= 2 * (size_t)pages[i] && size % (size_t)pages[i] == 0);
        expect_opened(tree_path(place, name));
        tree_write_bytes(place, name, data, size - 1);
        snprintf(text, sizeof text, "is cut: it has %zu bytes of %zu", size - 1, size);
        expect_refused(tree_path(place, name), NETPROF_ERR_DAMAGED, 0, text);
        tree_write_bytes(place, name, data, size);
        expect_opened(tree_path(place, name));
    }
}

// The first page tells of tables, and is overwritten but for what says how long the file is.
static void damaged_tables(void **state)
{
    char junk[3000];
    (void)state;
    if (!export_possible()) skip();
    make_export("damaged", "CREATE TABLE a (x INT); INSERT INTO a VALUES (1)");
    int fd = open(tree_path(place, "damaged"), O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    memset(junk, 0xff, sizeof junk);
    assert_int_equal(pwrite(fd, junk, sizeof junk, 100), sizeof junk);
    close(fd);
    expect_refused(tree_path(place, "damaged"), NETPROF_ERR_DAMAGED, 0, "database disk image is malformed");
}

static void not_complete(void **state)
{
    static const struct {
        const char *name, *text;
    } rows[] = {
        {"a.sqlite-wal", "is not complete: what was written last is in the file beside it that ends in -wal; close its "
                         "writer, or run: sqlite3 FILE 'PRAGMA wal_checkpoint(TRUNCATE)'"},
        {"a.sqlite-journal", "is still being written, or its writer was stopped: a file beside it ends in -journal; "
                             "export it again"}};
    (void)state;
    if (!export_possible()) skip();
    make_export("a.sqlite", "SELECT 1");
    for (size_t i = 0; i < COUNT(rows); i++) {
        tree_write_bytes(place, rows[i].name, "", 0); // nothing is in it
        expect_opened(tree_path(place, "a.sqlite"));
        tree_write_bytes(place, rows[i].name, "x", 1);
        expect_refused(tree_path(place, "a.sqlite"), NETPROF_ERR_IO, 0, rows[i].text);
        assert_int_equal(unlink(tree_path(place, rows[i].name)), 0);
    }
}

// A name may hold what has a meaning in an address; and it may be one beside where the program runs.
static void names_of_files(void **state)
{
    static const char *const names[] = {"a b.sqlite", "a?mode=memory#x%20&b.sqlite", "file:c.sqlite",
                                        "\xc3\xa4\"'+=,;.sqlite"};
    char before[512];
    (void)state;
    if (!export_possible()) skip();
    make_export("plain.sqlite", "SELECT 1");
    assert_non_null(getcwd(before, sizeof before));
    for (size_t i = 0; i < COUNT(names); i++) {
        char from[600], to[600];
        snprintf(from, sizeof from, "%s/plain.sqlite", place);
        snprintf(to, sizeof to, "%s/%s", place, names[i]);
        assert_int_equal(link(from, to), 0);
        expect_opened(to);
        assert_int_equal(chdir(place), 0);
        expect_opened(names[i]);
        assert_int_equal(chdir(before), 0);
    }
}

// ---- what is in a file ----

static void tables_and_columns(void **state)
{
    static const struct {
        const char *table;
        bool has, any;
    } tables[] = {{"full", true, true},      {"bare", true, false},  {"seen", false, false},
                  {"virtual", false, false}, {"none", false, false}, {"an_index", false, false},
                  {"StringIds", true, true}};
    static const struct {
        const char *table, *column;
        bool has;
    } columns[] = {{"full", "x", true},  {"full", "X", true},  {"full", "made", false}, {"full", "y z", true},
                   {"full", "y", false}, {"none", "x", false}, {"bare", "x", false},    {"bare", "b", true}};
    nsys_sqlite s;
    (void)state;
    if (!export_possible()) skip();
    make_export("t.sqlite", "CREATE TABLE full (x INT, \"y z\" TEXT, made AS (x + 1)); INSERT INTO full (x) VALUES (1);"
                            "CREATE INDEX an_index ON full (x); CREATE TABLE bare (b INT);"
                            "CREATE VIEW seen AS SELECT * FROM full; INSERT INTO StringIds VALUES (1, 'a')");
    assert_int_equal(nsys_sqlite_open(&s, tree_path(place, "t.sqlite"), NULL), NETPROF_OK);
    for (size_t i = 0; i < COUNT(tables); i++) {
        if (nsys_sqlite_has(&s, tables[i].table) != tables[i].has) fail_msg("%s", tables[i].table);
        if (nsys_sqlite_any(&s, tables[i].table) != tables[i].any) fail_msg("%s", tables[i].table);
    }
    for (size_t i = 0; i < COUNT(columns); i++)
        if (nsys_sqlite_has_column(&s, columns[i].table, columns[i].column) != columns[i].has)
            fail_msg("%s.%s", columns[i].table, columns[i].column);
    assert_null(nsys_sqlite_query(&s, "SELECT none FROM full"));
    assert_null(nsys_sqlite_query(&s, "no SQL"));
    void *rows = nsys_sqlite_query(&s, "SELECT x FROM full");
    assert_non_null(rows);
    s.finalize(rows);
    nsys_sqlite_close(&s);
}

static void whole_numbers(void **state)
{
    static const struct {
        const char *sql;
        bool is;
        int64_t value;
    } rows[] = {{"7", true, 7},
                {"-9223372036854775807 - 1", true, INT64_MIN},
                {"5.0", true, 5},
                {"-3.0", true, -3},
                {"5.5", false, 0},
                {"9007199254740992.0", true, INT64_C(9007199254740992)},
                {"9007199254740994.0", false, 0},
                {"-9007199254740994.0", false, 0},
                {"9e999", false, 0},
                {"'12'", true, 12},
                {"'-12'", true, -12},
                {"'9223372036854775807'", true, INT64_MAX},
                {"'9223372036854775808'", false, 0},
                {"' 12'", false, 0},
                {"'+12'", false, 0},
                {"'12x'", false, 0},
                {"'-'", false, 0},
                {"''", false, 0},
                {"NULL", false, 0},
                {"x'31'", false, 0}};
    nsys_sqlite s;
    (void)state;
    if (!export_possible()) skip();
    make_export("w.sqlite", "SELECT 1");
    assert_int_equal(nsys_sqlite_open(&s, tree_path(place, "w.sqlite"), NULL), NETPROF_OK);
    for (size_t i = 0; i < COUNT(rows); i++) {
        char sql[100];
        int64_t value = 99;
        snprintf(sql, sizeof sql, "SELECT 1, %s", rows[i].sql);
        void *row = nsys_sqlite_query(&s, sql);
        assert_non_null(row);
        assert_int_equal(s.step(row), NSYS_SQLITE_ROW);
        if (nsys_sqlite_whole(&s, row, 1, &value) != rows[i].is) fail_msg("%s", rows[i].sql);
        assert_true(value == (rows[i].is ? rows[i].value : 99));
        s.finalize(row);
    }
    nsys_sqlite_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_files, begin, end),
        cmocka_unit_test_setup_teardown(cut_files, begin, end),
        cmocka_unit_test_setup_teardown(damaged_tables, begin, end),
        cmocka_unit_test_setup_teardown(not_complete, begin, end),
        cmocka_unit_test_setup_teardown(names_of_files, begin, end),
        cmocka_unit_test_setup_teardown(tables_and_columns, begin, end),
        cmocka_unit_test_setup_teardown(whole_numbers, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
