// What DuckDB is asked for, word by word, and what becomes of its answers: with a library made for it (fake_duckdb.c).
#define _GNU_SOURCE
#include "netprof.h"

#include "analysis/base/parquet.h"
#include "base/fake_duckdb.h"
#include "support.h"

#include <dlfcn.h>

#define MADE NETPROF_TEST_BUILD "/tests/libfake-duckdb.so"

static fake_duckdb_state *duck;
static void *held; // the library, so that what is written into it stays

static int begin(void **state)
{
    (void)state;
    held = dlopen(MADE, RTLD_NOW);
    if (!held) fail_msg("%s", dlerror());
    duck = dlsym(held, "fake_duckdb");
    assert_non_null(duck);
    memset(duck, 0, sizeof *duck);
    return setenv("NETPROF_DUCKDB", MADE, 1);
}

static int end(void **state)
{
    (void)state;
    unsetenv("NETPROF_DUCKDB");
    return dlclose(held);
}

static void expect_all_closed(void)
{
    assert_int_equal(duck->databases, 0);
    assert_int_equal(duck->connections, 0);
    assert_int_equal(duck->results, 0);
}

static parquet_writer *opened(void)
{
    char why[200] = "untouched";
    parquet_writer *p = parquet_open(why, sizeof why);
    assert_non_null(p);
    assert_string_equal(why, "untouched");
    assert_int_equal(duck->databases, 1);
    assert_int_equal(duck->connections, 1);
    return p;
}

static const parquet_column columns[] = {
    {"time", "BIGINT", "make_timestamp_ns"}, {"it's \"n\"", "UBIGINT", NULL}, {"a\"b'c", "VARCHAR", "unhex"}};

#define SET      "SET threads = 1\n"
#define SMALL    "SET memory_limit = '160MB'\n"
#define LARGE    "SET memory_limit = '80%%'\n"
#define THREE    "'time': 'BIGINT', 'it''s \"n\"': 'UBIGINT', 'a\"b''c': 'VARCHAR'"
#define REPLACED "* REPLACE (make_timestamp_ns(\"time\") AS \"time\", unhex(\"a\"\"b'c\") AS \"a\"\"b'c\")"
#define COPY                                                                                                           \
    "COPY (SELECT %s FROM read_csv('%s', header = %s, delim = ',', quote = '\"', escape = '\"', auto_detect = false, " \
    "parallel = false, nullstr = '', allow_quoted_nulls = false, max_line_size = %u, columns = {%s})) TO '%s' (%s)\n"

static void expect_queries(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void expect_queries(const char *format, ...)
{
    char expected[FAKE_DUCKDB_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(expected, sizeof expected, format, arguments);
    va_end(arguments);
    assert_string_equal(duck->queries, expected);
    duck->queries[0] = 0;
}

// Names and paths are quoted as SQL wants it; what a function makes replaces what was read.
static void tables(void **state)
{
    char why[200] = "x";
    parquet_writer *p = opened();
    (void)state;
    expect_queries(SET);
    assert_int_equal(parquet_convert(p, "/a'b.csv", true, "to'.parquet", columns, 3, why, sizeof why), 0);
    assert_string_equal(why, "");
    expect_queries(SMALL COPY, REPLACED, "/a''b.csv", "true", 1048576u, THREE, "to''.parquet",
                   "FORMAT parquet, COMPRESSION zstd");
    assert_int_equal(parquet_convert(p, "c.csv", false, "d", columns + 1, 1, why, sizeof why), 0);
    expect_queries(SMALL COPY, "*", "c.csv", "false", 1048576u, "'it''s \"n\"': 'UBIGINT'", "d",
                   "FORMAT parquet, COMPRESSION zstd");
    assert_int_equal(parquet_as_arrow(p, why, sizeof why), 0);
    expect_queries("LOAD nanoarrow\n");
    assert_int_equal(parquet_convert(p, "c.csv", true, "d", columns, 1, why, sizeof why), 0);
    expect_queries(SMALL COPY, "* REPLACE (make_timestamp_ns(\"time\") AS \"time\")", "c.csv", "true", 1048576u,
                   "'time': 'BIGINT'", "d", "FORMAT ARROWS");
    assert_int_equal(duck->results, 0);
    parquet_close(p);
    expect_all_closed();
}

// What failed with little memory is tried once more with much; only then it fails, with DuckDB's words where it has any.
static void much_memory(void **state)
{
    static const struct {
        int refused, result;
        const char *why, *text;
    } rows[] = {{0, 0, "", ""}, {1, 0, "no room", ""}, {2, -1, "no room", "no room"}, {-1, -1, NULL, "DuckDB failed"}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char why[100] = "";
        parquet_writer *p = opened();
        duck->queries[0] = 0;
        duck->refuses = "COPY";
        duck->refused = rows[i].refused;
        duck->why = rows[i].why;
        assert_int_equal(parquet_convert(p, "c", true, "d", columns + 1, 1, why, sizeof why), rows[i].result);
        assert_string_equal(why, rows[i].text);
        char second[2000] = "";
        snprintf(second, sizeof second, LARGE COPY, "*", "c", "true", 67108864u, "'it''s \"n\"': 'UBIGINT'", "d",
                 "FORMAT parquet, COMPRESSION zstd");
        expect_queries(SMALL COPY "%s", "*", "c", "true", 1048576u, "'it''s \"n\"': 'UBIGINT'", "d",
                       "FORMAT parquet, COMPRESSION zstd", rows[i].refused ? second : "");
        parquet_close(p);
        expect_all_closed();
    }
}

static void no_arrow(void **state)
{
    char why[200] = "";
    parquet_writer *p = opened();
    (void)state;
    duck->refuses = "LOAD";
    duck->refused = -1;
    assert_int_equal(parquet_as_arrow(p, why, sizeof why), -1);
    assert_string_equal(why,
                        "DuckDB's extension nanoarrow is needed and not installed: INSTALL nanoarrow FROM community in "
                        "the same version of DuckDB");
    parquet_close(p);
    expect_all_closed();
}

static void does_not_start(void **state)
{
    char why[400];
    (void)state;
    for (int i = 0; i < 2; i++) {
        duck->open_result = !i;
        duck->connect_result = i;
        assert_null(parquet_open(why, sizeof why));
        assert_string_equal(why, "DuckDB does not start");
        expect_all_closed();
    }
    setenv("NETPROF_DUCKDB", "libm.so.6", 1);
    assert_null(parquet_open(why, sizeof why));
    assert_string_equal(why, "the library libm.so.6 is not DuckDB's");
    setenv("NETPROF_DUCKDB", "/none/libduckdb.so", 1);
    assert_null(parquet_open(why, sizeof why));
    assert_ptr_equal(strstr(why, "DuckDB's library is needed for Parquet and cannot be loaded (/none/libduckdb.so: "),
                     why);
    assert_non_null(strstr(why, "); install libduckdb.so, or name it in NETPROF_DUCKDB"));
    parquet_close(NULL);
    assert_string_equal(duck->queries, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(tables, begin, end),
        cmocka_unit_test_setup_teardown(much_memory, begin, end),
        cmocka_unit_test_setup_teardown(no_arrow, begin, end),
        cmocka_unit_test_setup_teardown(does_not_start, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
