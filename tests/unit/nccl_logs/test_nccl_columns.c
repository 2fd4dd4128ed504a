// Which types the columns of a table have: by their names where these are texts, else by what is in all of their cells.
#define _GNU_SOURCE // nftw
#include "netprof.h"

#include "analysis/nccl/export/nccl_columns.h"
#include "support.h"

typedef struct column_case {
    const char *name, *cells[3], *type;
} column_case;

static const column_case cases[] = {
    {"host", {"12", "13", "14"}, "VARCHAR"}, // a name, whatever it looks like
    {"adapter", {"1", "", "2"}, "VARCHAR"},
    {"version", {"5", "5", "5"}, "VARCHAR"},
    {"hosts", {"0", "7", "18446744073709551615"}, "UBIGINT"},
    {"largest", {"9999999999999999999", "1", "2"}, "UBIGINT"},
    {"too large", {"18446744073709551616", "1", "2"}, "DOUBLE"},
    {"much too large", {"1", "2", "184467440737095516150"}, "DOUBLE"},
    {"some empty", {"", "3", ""}, "UBIGINT"},
    {"all empty", {"", "", ""}, "DOUBLE"},
    {"one negative", {"4", "-1", "5"}, "BIGINT"},
    {"least", {"-999999999999999999", "1", "2"}, "BIGINT"},
    {"less", {"-9999999999999999999", "1", "2"}, "DOUBLE"},
    {"a minus alone", {"-", "1", "2"}, "VARCHAR"},
    {"a fraction", {"1", "-2", "0.5"}, "DOUBLE"},
    {"with exponent", {"1e3", "2", "3"}, "DOUBLE"},
    {"first a fraction", {"0.5", "2", "-3"}, "DOUBLE"},
    {"hexadecimal", {"0xab", "1", "2"}, "VARCHAR"},
    {"none", {"nan", "1", "2"}, "VARCHAR"},
    {"infinite", {"1", "INF", "2"}, "VARCHAR"},
    {"a word", {"1", "word", "2"}, "VARCHAR"},
    {"number and word", {"1", "2", "3 us"}, "VARCHAR"},
    {"\"with \"\"quotes\"\", commas\"", {"\"1\"", "2", "3"}, "UBIGINT"},
    {"text in quotes", {"\"1,2\"", "\"3\n4\"", "\"\"\"5\"\"\""}, "VARCHAR"},
    {"after it", {"1", "2", "3"}, "UBIGINT"},
};

static void put_table(const char *path, const char *end)
{
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    for (size_t i = 0; i < COUNT(cases); i++)
        fprintf(f, "%s%s", i ? "," : "", cases[i].name);
    for (size_t row = 0; row < 3; row++) {
        fputs(end, f);
        for (size_t i = 0; i < COUNT(cases); i++)
            fprintf(f, "%s%s", i ? "," : "", cases[i].cells[row]);
    }
    fputs(end, f);
    assert_int_equal(fclose(f), 0);
}

static void by_names_and_cells(void **state)
{
    static const char *const ends[] = {"\n", "\r\n"};
    char *tree = tree_make();
    (void)state;
    for (size_t e = 0; e < COUNT(ends); e++) {
        const char *path = tree_path(tree, "a.csv");
        size_t count = 0;
        put_table(path, ends[e]);
        parquet_column *columns = nccl_columns(path, &count);
        assert_non_null(columns);
        assert_int_equal(count, COUNT(cases));
        for (size_t i = 0; i < count; i++) {
            const char *name = *cases[i].name == '"' ? "with \"quotes\", commas" : cases[i].name;
            assert_string_equal(columns[i].name, name);
            if (strcmp(columns[i].type, cases[i].type) != 0) fail_msg("%s: %s", name, columns[i].type);
        }
        nccl_columns_free(columns, count);
    }
    tree_remove(tree);
}

static void without_rows(void **state)
{
    char *tree = tree_make();
    size_t count = 7;
    (void)state;
    tree_write(tree, "a.csv", "host,calls\n");
    parquet_column *columns = nccl_columns(tree_path(tree, "a.csv"), &count);
    assert_int_equal(count, 2);
    assert_string_equal(columns[0].type, "VARCHAR");
    assert_string_equal(columns[1].type, "DOUBLE"); // it could be anything
    nccl_columns_free(columns, count);
    tree_write(tree, "a.csv", "host,calls\nh1,3\nh2,4,5,6\nh3");
    columns = nccl_columns(tree_path(tree, "a.csv"), &count);
    assert_int_equal(count, 2); // what is behind the last name is nobody's
    assert_string_equal(columns[1].type, "UBIGINT");
    nccl_columns_free(columns, count);
    count = 7;
    errno = 0;
    assert_null(nccl_columns(tree_path(tree, "none.csv"), &count));
    assert_int_equal(count, 0);
    assert_int_equal(errno, ENOENT);
    nccl_columns_free(NULL, 0);
    tree_remove(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_names_and_cells), cmocka_unit_test(without_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
