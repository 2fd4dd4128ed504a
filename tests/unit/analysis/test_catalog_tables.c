// The catalog against its tables, row by row, as a reader of CSV of its own reads them; and names of OpenMetrics.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "netprof.h"
#include "analysis/base/text.h"
#include "analysis/catalog/catalog.h"
#include "analysis/catalog/openmetrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- a table ----

enum { FIELDS = 12, LONGEST = 4096 };

typedef struct table {
    FILE *file;
    char head[LONGEST], line[LONGEST];
    char *names[FIELDS], *fields[FIELDS];
} table;

// Cuts a line at its commas, those in quotes left alone; two quotes are one.
static void cut(char *line, char *fields[FIELDS])
{
    size_t n = 0;
    char *to = line;
    bool quoted = false;
    fields[n++] = line;
    line[strcspn(line, "\r\n")] = 0;
    for (char *c = line; *c; c++) {
        if (*c == '"' && quoted && c[1] == '"')
            *to++ = *++c;
        else if (*c == '"')
            quoted = !quoted;
        else if (*c == ',' && !quoted) {
            *to++ = 0;
            assert_true(n < FIELDS);
            fields[n++] = to;
        } else
            *to++ = *c;
    }
    *to = 0;
    while (n < FIELDS)
        fields[n++] = to;
}

static void table_open(table *t, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/report/analysis/catalog/catalog_%s.csv", NETPROF_TEST_TOP, name);
    t->file = fopen(path, "r");
    if (!t->file) fail_msg("%s cannot be opened", path);
    assert_non_null(fgets(t->head, sizeof t->head, t->file));
    cut(t->head, t->names);
}

static bool table_next(table *t)
{
    if (!fgets(t->line, sizeof t->line, t->file)) {
        fclose(t->file);
        return false;
    }
    cut(t->line, t->fields);
    return true;
}

static const char *field(const table *t, const char *name)
{
    for (size_t i = 0; i < FIELDS; i++)
        if (strcmp(t->names[i], name) == 0) return t->fields[i];
    return "";
}

// ---- counters ----

static void is_in_groups(const catalog_entry *e, const char *list)
{
    char copy[512], *save;
    uint64_t bits = 0;
    snprintf(copy, sizeof copy, "%s", list);
    for (char *name = strtok_r(copy, ";", &save); name; name = strtok_r(NULL, ";", &save)) {
        size_t group = catalog_group_find(name);
        assert_true(group != CATALOG_NO_GROUP);
        assert_string_equal(catalog_group_at(group)->name, name);
        bits |= UINT64_C(1) << group;
    }
    assert_true(e->groups == bits);
}

static int kind_of(const char *text)
{
    static const struct {
        const char *name;
        netprof_kind kind;
    } kinds[] = {{"gauge", NETPROF_KIND_GAUGE},
                 {"state", NETPROF_KIND_STATE},
                 {"histogram", NETPROF_KIND_HISTOGRAM},
                 {"histogram bucket", NETPROF_KIND_HISTOGRAM}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, text) == 0) return (int)kinds[i].kind;
    return NETPROF_KIND_COUNTER;
}

static bool is_pattern(const char *name)
{
    return strchr(name, '*') || strchr(name, '?');
}

static void is_the_row(const catalog_entry *e, const table *t, const char *source)
{
    const char *name = field(t, "name");
    assert_string_equal(e->source, source);
    assert_string_equal(e->name, name);
    assert_string_equal(e->unit, field(t, "unit"));
    assert_string_equal(e->description, field(t, "description"));
    assert_int_equal(e->kind, kind_of(field(t, "kind")));
    assert_int_equal(e->width, atoi(field(t, "width_bits")));
    assert_int_equal(e->width_cassini_2, atoi(field(t, "width_bits_c2_if_different")));
    assert_int_equal(!(e->marks & CATALOG_CASSINI_2), strcmp(field(t, "asic"), "C2") != 0);
    assert_int_equal(!(e->marks & CATALOG_PATTERN), !is_pattern(name));
    if (*field(t, "note") && !(e->marks & CATALOG_BAD)) assert_string_equal(e->note, field(t, "note"));
    is_in_groups(e, field(t, "groups"));
    if (!is_pattern(name)) assert_ptr_equal(catalog_find(source, name), e); // no name comes twice
}

static void every_row_of_every_table(void **state)
{
    static const char *const tables[] = {"cxi", "cxi_driver", "netdev", "rdma", "ip", "ethtool", "tcp", "node"};
    size_t row = 0;
    (void)state;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        table t;
        table_open(&t, tables[i]);
        while (table_next(&t)) {
            const char *source = strcmp(tables[i], "node") == 0         ? field(&t, "source")
                                 : strcmp(tables[i], "cxi_driver") == 0 ? "cxi"
                                                                        : tables[i];
            const catalog_entry *e = catalog_at(row++);
            assert_non_null(e);
            is_the_row(e, &t, source);
        }
    }
    assert_null(catalog_at(row));
    assert_null(catalog_at(row + 1));
}

static void groups_and_units_in_their_order(void **state)
{
    size_t row = 0;
    table t;
    (void)state;
    for (table_open(&t, "groups"); table_next(&t); row++) {
        const catalog_group *group = catalog_group_at(row);
        assert_non_null(group);
        assert_string_equal(group->source, field(&t, "source"));
        assert_string_equal(group->name, field(&t, "name"));
        assert_string_equal(group->title, field(&t, "title"));
        assert_string_equal(group->description, field(&t, "description"));
        assert_int_equal(group->trouble, *field(&t, "trouble") != 0);
        assert_int_equal(catalog_group_find(group->name), row);
    }
    assert_null(catalog_group_at(row));
    row = 0;
    for (table_open(&t, "units"); table_next(&t); row++) {
        assert_int_equal(catalog_unit_rank(field(&t, "unit")), row);
        assert_int_equal(catalog_unit_is_leading(field(&t, "unit")), *field(&t, "leading") != 0);
        bool trouble = catalog_is_trouble("none", "none", field(&t, "unit"));
        assert_int_equal(trouble, *field(&t, "trouble") != 0);
    }
    assert_int_equal(catalog_unit_rank("furlongs"), row); // behind the last
    assert_false(catalog_unit_is_leading("furlongs"));
    assert_false(catalog_is_trouble("none", "none", "furlongs"));
}

static uint32_t mark_of(const char *name)
{
    for (uint32_t bit = 1; bit; bit <<= 1)
        if (strcmp(catalog_mark_name(bit), name) == 0) return bit;
    fail_msg("no mark %s", name);
    return 0;
}

// A mark holds for all counters of its pattern, and for names that no table has.
static void every_mark_of_the_table(void **state)
{
    table t;
    const catalog_entry *e;
    (void)state;
    for (table_open(&t, "marks"); table_next(&t);) {
        const char *source = field(&t, "source"), *pattern = field(&t, "pattern");
        uint32_t bit = mark_of(field(&t, "mark"));
        for (size_t i = 0; (e = catalog_at(i)); i++) {
            bool meant = strcmp(e->source, source) == 0 && (text_like(pattern, e->name) || !strcmp(pattern, e->name));
            if (!meant) continue;
            if (!(e->marks & bit)) fail_msg("%s %s is not %s", source, e->name, field(&t, "mark"));
            assert_true(catalog_marks(source, e->name) & bit);
            if (bit == CATALOG_SAME_AS) assert_string_equal(e->same_as, field(&t, "text"));
        }
        if (!is_pattern(pattern)) continue;
        char name[256];
        size_t n = 0;
        for (const char *c = pattern; *c && n + 1 < sizeof name; c++)
            name[n++] = *c == '*' || *c == '?' ? '7' : *c;
        name[n] = 0;
        assert_true(catalog_marks(source, name) & bit);
    }
    assert_string_equal(catalog_mark_name(CATALOG_PATTERN), ""); // not of the table
    assert_string_equal(catalog_mark_name(0), "");
}

static void counts_of_marks(void **state)
{
    static const uint32_t marks[] = {CATALOG_FAST, CATALOG_TX_BYTES, CATALOG_FAULT | CATALOG_WAITING, CATALOG_BAD};
    static const char *const sources[] = {"cxi", "netdev", "rdma", "cgroup"};
    (void)state;
    for (size_t s = 0; s < 4; s++)
        for (size_t m = 0; m < 4; m++) {
            size_t count = 0;
            const catalog_entry *e;
            for (size_t i = 0; (e = catalog_at(i)); i++)
                if (strcmp(e->source, sources[s]) == 0 && (e->marks & marks[m])) count++;
            assert_int_equal(catalog_count(sources[s], marks[m]), count);
        }
}

static int sign(int x)
{
    return (x > 0) - (x < 0);
}

static void names_in_the_order_of_a_listing(void **state)
{
    static const char *const rising[] = {"",   "_",   "a", "a_", "a_a", "aa", "a_b",
                                         "ab", "a_c", "b", "b1", "b_2", "b3", "c"};
    (void)state;
    for (size_t i = 0; i < sizeof rising / sizeof *rising; i++)
        for (size_t k = 0; k < sizeof rising / sizeof *rising; k++)
            if (sign(catalog_name_compare(rising[i], rising[k])) != (i > k) - (i < k))
                fail_msg("%s and %s", rising[i], rising[k]);
}

static void cassini_1_names(void **state)
{
    size_t count, expected = 0;
    const char *const *names = catalog_cassini_1_names(&count);
    table t;
    (void)state;
    for (table_open(&t, "cxi"); table_next(&t);)
        expected +=
            strcmp(field(&t, "asic"), "C2") != 0 && !is_pattern(field(&t, "name")) && !strchr(field(&t, "name"), ':');
    for (table_open(&t, "cxi_driver"); table_next(&t);)
        expected += !is_pattern(field(&t, "name")) && !strchr(field(&t, "name"), ':');
    assert_int_equal(count, expected);
    for (size_t i = 1; i < count; i++)
        assert_true(catalog_name_compare(names[i - 1], names[i]) < 0);
}

// ---- OpenMetrics ----

static void takes(char *text, const char *expected)
{
    assert_string_equal(text, expected);
    free(text);
}

static void names_of_openmetrics(void **state)
{
    static const struct {
        const char *source, *counter, *base, *family;
    } rows[] = {{"netdev", "rx_bytes", "bytes", "netprof_netdev_rx_bytes"}, // not twice
                {"netdev", "rxbytes", "bytes", "netprof_netdev_rxbytes_bytes"},
                {"process", "cpu_user", "seconds", "netprof_process_cpu_user_seconds"},
                {"cxi", "rh:nacks", "", "netprof_cxi_rh_nacks"},
                {"a", "x_total", "", "netprof_a_x"},
                {"a", "x_created", "", "netprof_a_x"},
                {"a", "x_bucket", "", "netprof_a_x"},
                {"a", "x_count", "", "netprof_a_x"},
                {"a", "x_sum", "", "netprof_a_x"},
                {"a", "x_info", "", "netprof_a_x"},
                {"a", "x_total", "bytes", "netprof_a_x_bytes"},
                {"a", "total", "", "netprof_a"},
                {"a", "xtotal", "", "netprof_a_xtotal"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        takes(openmetrics_family(rows[i].source, rows[i].counter, rows[i].base), rows[i].family);
    takes(openmetrics_name("eth-mac/Frames.OK:9 \xc3\xa4"), "eth_mac_Frames_OK_9___");
    takes(openmetrics_name(""), "");
}

static void base_units(void **state)
{
    static const struct {
        const char *unit, *base;
        double divisor;
    } rows[] = {{"bytes", "bytes", 1},  {"ns", "seconds", 1e9},
                {"us", "seconds", 1e6}, {"ms", "seconds", 1e3},
                {"uJ", "joules", 1e6},  {"uW", "watts", 1e6},
                {"mC", "celsius", 1e3}, {"mA", "amperes", 1e3},
                {"packets", "", 1},     {"", "", 1}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double divisor = 0;
        assert_string_equal(openmetrics_base(rows[i].unit, &divisor), rows[i].base);
        assert_true(divisor == rows[i].divisor);
    }
}

static void labels_of_openmetrics(void **state)
{
    (void)state;
    takes(openmetrics_escaped("a\\b\"c\nd\xff\xc3\xa4"), "a\\\\b\\\"c\\nd\xef\xbf\xbd\xc3\xa4");
    takes(openmetrics_escaped("\xff\xff\xff"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    char *labels = calloc(1, 1);
    labels = openmetrics_label(labels, "host", "node1");
    labels = openmetrics_label(labels, "device", "");
    labels = openmetrics_label(labels, "unit", "a \"b\"");
    takes(labels, "host=\"node1\",unit=\"a \\\"b\\\"\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_of_every_table),
        cmocka_unit_test(groups_and_units_in_their_order),
        cmocka_unit_test(every_mark_of_the_table),
        cmocka_unit_test(counts_of_marks),
        cmocka_unit_test(names_in_the_order_of_a_listing),
        cmocka_unit_test(cassini_1_names),
        cmocka_unit_test(names_of_openmetrics),
        cmocka_unit_test(base_units),
        cmocka_unit_test(labels_of_openmetrics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
