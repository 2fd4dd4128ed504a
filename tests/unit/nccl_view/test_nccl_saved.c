// Saved views of NCCL's logs read again: what a file does not tell is not known, what is no value is refused with its place, and
// what another job is beside this one.
#define _GNU_SOURCE
#include "netprof.h"

#include "analysis/nccl/export/nccl_export.h"
#include "analysis/nccl/findings/nccl_compare.h"
#include "analysis/nccl/view/nccl_view.h"
#include "analysis/nccl/view/nccl_view_json.h"
#include "support.h"

#include <math.h>

#define HEAD "{\"format\":\"netprof-nccl\",\"version\":2,\"view\":"

static netprof_err parse(nccl_view *v, netprof_error *error, const char *text)
{
    *error = (netprof_error){.text = ""};
    return nccl_view_parse(v, text, strlen(text), error);
}

// ---- what is not told ----

static void expect_unknown(const nccl_spread *s)
{
    const double all[] = {s->min, s->p5, s->p25, s->p50, s->p75, s->p95, s->p99, s->max, s->mean, s->sd};
    assert_int_equal(s->count, 0);
    for (size_t i = 0; i < COUNT(all); i++)
        assert_true(isnan(all[i]));
}

static void empty_rows(void **state)
{
    nccl_view v;
    netprof_error error;
    (void)state;
    assert_int_equal(
        parse(&v, &error, HEAD "{\"rows\":[{},{\"calls\":3}],\"kinds\":[{}],\"adapters\":[{}],\"late\":[{}]}}"),
        NETPROF_OK);
    assert_int_equal(v.rows.count, 2);
    const nccl_view_row *r = &v.rows.items[0];
    assert_string_equal(r->label, "");
    assert_string_equal(r->coll, "");
    assert_int_equal(r->communicators + r->ranks + r->size_low + r->size_high + r->sizes + r->calls + r->incomplete, 0);
    assert_int_equal(r->severity, SEVERITY_OK);
    assert_true(isnan(r->bytes) && isnan(r->time_us) && isnan(r->peak_gbs));
    expect_unknown(&r->wire_us);
    expect_unknown(&r->skew_us);
    expect_unknown(&r->bus_gbs);
    expect_unknown(&r->mean_bus_gbs);
    assert_int_equal(v.rows.items[1].calls, 3);
    expect_unknown(&v.rows.items[1].bus_gbs);
    expect_unknown(&v.kinds.items[0].time_spread_us);
    assert_false(v.kinds.items[0].has_bus);
    assert_int_equal(v.kinds.items[0].points.count, 0);
    assert_true(isnan(v.adapters.items[0].bytes) && isnan(v.adapters.items[0].share));
    assert_true(isnan(v.late.items[0].behind_us));
    assert_true(isnan(v.late_floor_us) && isnan(v.between_bytes) && isnan(v.columns_to_s));
    assert_false(v.late_all);
    assert_string_equal(v.verdict, "");
    nccl_view_free(&v);
    assert_int_equal(v.rows.count + v.kinds.count + v.files, 0);
    assert_null(v.rows.items);
    assert_null(v.memory);
    const nccl_view none = {0};
    assert_memory_equal(&v, &none, sizeof v);
    nccl_view_free(&v); // once more
}

#define ELEVEN "[7,1,2.5,3,4,5,6,7,8,9,null]"

static void told_rows(void **state)
{
    static const double numbers[] = {1, 2.5, 3, 4, 5, 6, 7, 8, 9};
    nccl_view v;
    netprof_error error;
    (void)state;
    assert_int_equal(
        parse(&v, &error,
              HEAD "{\"files\":18446744073709551615,\"lines\":0,\"severity\":4,\"late_all\":true,"
                   "\"main_peak_gbs\":-1.5e3,\"between_bytes\":null,\"verdict\":\"a\\u0000b\","
                   "\"rows\":[{\"wire_us\":" ELEVEN ",\"skew_us\":null,\"label\":\"x\"}],"
                   "\"findings\":[{\"severity\":6,\"evidence\":[{\"name\":\"n\",\"value\":3}]},{\"severity\":1}]}}"),
        NETPROF_OK);
    assert_true(v.files == UINT64_MAX && v.lines == 0);
    assert_int_equal(v.severity, SEVERITY_HIGH);
    assert_true(v.late_all && v.main_peak_gbs == -1500 && isnan(v.between_bytes));
    assert_string_equal(v.verdict, "a");
    const nccl_spread *s = &v.rows.items[0].wire_us;
    const double all[] = {s->min, s->p5, s->p25, s->p50, s->p75, s->p95, s->p99, s->max, s->mean};
    assert_int_equal(s->count, 7);
    for (size_t i = 0; i < COUNT(all); i++)
        assert_true(all[i] == numbers[i]);
    assert_true(isnan(s->sd));
    expect_unknown(&v.rows.items[0].skew_us);
    assert_int_equal(v.findings.count, 2);
    assert_int_equal(v.findings.items[0].severity, SEVERITY_UNKNOWN);
    assert_int_equal(v.findings.items[1].severity, SEVERITY_INFO);
    assert_true(v.findings.items[0].evidence.items[0].value == 3);
    json_object *o = nccl_view_json(&v), *at;
    const struct {
        const char *path, *text;
    } rows[] = {{"/files", "18446744073709551615"},
                {"/severity", "4"},
                {"/findings/0/severity", "6"},
                {"/findings/1/severity", "1"},
                {"/main_peak_gbs", "-1500"},
                {"/rows/0/wire_us", ELEVEN},
                {"/late_all", "true"},
                {"/verdict", "\"a\""}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(json_pointer_get(o, rows[i].path, &at), 0);
        assert_string_equal(json_to_text(at, JSON_C_TO_STRING_PLAIN), rows[i].text);
    }
    assert_int_equal(json_pointer_get(o, "/rows/0/skew_us", &at), 0);
    assert_null(at);
    json_object_put(o);
    nccl_view_free(&v);
}

// A number is written in as few digits as give it back.
static void shortest_numbers(void **state)
{
    static const struct {
        double value;
        const char *text;
    } rows[] = {{0.1, "0.1"},
                {1.0 / 3, "0.3333333333333333"},
                {0.1 + 0.2, "0.30000000000000004"},
                {123456, "123456"},
                {1234567, "1234567"},
                {1e22, "1e+22"},
                {2.5e-9, "2.5e-09"},
                {-0.0078125001, "-0.0078125001"}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        nccl_view v;
        netprof_error error;
        json_object *at;
        assert_int_equal(parse(&v, &error, HEAD "{}}"), NETPROF_OK);
        v.late_floor_us = rows[i].value;
        json_object *o = nccl_view_json(&v);
        assert_int_equal(json_pointer_get(o, "/late_floor_us", &at), 0);
        assert_string_equal(json_to_text(at, JSON_C_TO_STRING_PLAIN), rows[i].text);
        json_object_put(o);
        nccl_view_free(&v);
    }
}

// ---- what is refused ----

static void refused_with_their_place(void **state)
{
    static const struct {
        const char *text, *why;
        netprof_err code;
    } rows[] = {
        {"[]", "byte 2: expected an object", NETPROF_ERR_FORMAT},
        {"{\"a\":1", "byte 6: the file ends in the middle", NETPROF_ERR_FORMAT},
        {"{\"format\":7}", "no result of netprof nccl: \"format\" is not netprof-nccl", NETPROF_ERR_FORMAT},
        {"{\"version\":2}", "no result of netprof nccl: \"format\" is not netprof-nccl", NETPROF_ERR_FORMAT},
        {"{\"format\":\"netprof-nccl\"}", "\"version\": expected a whole number", NETPROF_ERR_FORMAT},
        {"{\"format\":\"netprof-nccl\",\"version\":-1}", "\"version\": expected a whole number", NETPROF_ERR_FORMAT},
        {"{\"format\":\"netprof-nccl\",\"version\":99}", "version 99, written by a later netprof", NETPROF_ERR_VERSION},
        {"{\"format\":\"netprof-nccl\",\"version\":2}",
         "holds no \"view\": it was written before there were reports; netprof nccl -o on the logs writes it anew",
         NETPROF_ERR_FORMAT},
        {HEAD "7}", "view: expected an object", NETPROF_ERR_FORMAT},
        {HEAD "{\"files\":\"x\"}}", "files: expected a whole number", NETPROF_ERR_FORMAT},
        {HEAD "{\"severity\":7}}", "severity: expected a severity, 0 to 6", NETPROF_ERR_FORMAT},
        {HEAD "{\"verdict\":null}}", "verdict: expected a text", NETPROF_ERR_FORMAT},
        {HEAD "{\"late_all\":1}}", "late_all: expected true or false", NETPROF_ERR_FORMAT},
        {HEAD "{\"late_floor_us\":true}}", "late_floor_us: expected a number or null", NETPROF_ERR_FORMAT},
        {HEAD "{\"run\":{}}}", "run: expected a list", NETPROF_ERR_FORMAT},
        {HEAD "{\"run\":[[],{}]}}", "run[1]: expected a list of numbers", NETPROF_ERR_FORMAT},
        {HEAD "{\"rows\":[{},{},[]]}}", "rows[2]: expected an object", NETPROF_ERR_FORMAT},
        {HEAD "{\"rows\":[{\"wire_us\":[1,2]}]}}", "rows[0].wire_us: expected a list of 11 numbers or null",
         NETPROF_ERR_FORMAT},
        {HEAD "{\"rows\":[{\"wire_us\":[-1,1,2,3,4,5,6,7,8,9,10]}]}}",
         "rows[0].wire_us: expected a list of 11 numbers or null", NETPROF_ERR_FORMAT},
        {HEAD "{\"rows\":[{\"wire_us\":[1,1,2,3,4,5,6,7,8,9,\"x\"]}]}}",
         "rows[0].wire_us: expected a list of 11 numbers or null", NETPROF_ERR_FORMAT},
        {HEAD "{\"rows\":[{\"wire_us\":{}}]}}", "rows[0].wire_us: expected a list of 11 numbers or null",
         NETPROF_ERR_FORMAT},
        {HEAD "{\"findings\":[{},{\"evidence\":[{},{},{\"value\":\"x\"}]}]}}",
         "findings[1].evidence[2].value: expected a number or null", NETPROF_ERR_FORMAT},
        {HEAD "{\"findings\":[{\"evidence\":[{}]},{\"severity\":9}]}}",
         "findings[1].severity: expected a severity, 0 to 6", NETPROF_ERR_FORMAT},
        {HEAD "{\"matrices\":[{},{\"units\":[{},{}],\"cells\":[[1,1],[1,2]]}]}}", "matrices[1].cells[1]: no such unit",
         NETPROF_ERR_FORMAT},
        {HEAD "{\"matrices\":[{\"units\":[{},{}],\"cells\":[[2,0]]}]}}", "matrices[0].cells[0]: no such unit",
         NETPROF_ERR_FORMAT}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        nccl_view v;
        netprof_error error;
        assert_int_equal(parse(&v, &error, rows[i].text), rows[i].code);
        assert_string_equal(error.text, rows[i].why);
        assert_int_equal(error.code, rows[i].code);
        assert_int_equal(error.sys_errno, 0);
        assert_null(v.memory);
        assert_int_equal(nccl_view_parse(&v, rows[i].text, strlen(rows[i].text), NULL), rows[i].code);
    }
}

// A file longer than it is read in one piece; one that cannot be read, and one that is none.
static void files(void **state)
{
    enum { LONG = 200000 };
    char *tree = tree_make(), *text = malloc(LONG + 200);
    nccl_view v;
    netprof_error error = {.text = ""};
    (void)state;
    assert_non_null(text);
    size_t size = (size_t)sprintf(text, HEAD "{\"verdict\":\"");
    for (size_t i = 0; i < LONG; i++)
        text[size++] = (char)('a' + i % 26);
    size += (size_t)sprintf(text + size, "\"}}");
    tree_write_bytes(tree, "v.json", text, size);
    assert_int_equal(nccl_view_read(&v, tree_path(tree, "v.json"), &error), NETPROF_OK);
    assert_int_equal(strlen(v.verdict), LONG);
    assert_memory_equal(v.verdict, strstr(text, "abcdef"), LONG);
    nccl_view_free(&v);
    assert_true(nccl_view_recognise(tree_path(tree, "v.json")));
    tree_write_bytes(tree, "cut.json", text, size - 1);
    const char *cut = tree_path(tree, "cut.json"), *none = tree_path(tree, "none.json");
    assert_int_equal(nccl_view_read(&v, cut, &error), NETPROF_ERR_FORMAT);
    assert_string_equal(error.path, cut);
    assert_non_null(strstr(error.text, "the file ends in the middle"));
    assert_int_equal(nccl_view_read(&v, none, &error), NETPROF_ERR_IO);
    assert_string_equal(error.path, none);
    assert_int_equal(error.sys_errno, ENOENT);
    assert_int_equal(error.code, NETPROF_ERR_IO);
    assert_int_equal(nccl_view_read(&v, none, NULL), NETPROF_ERR_IO);
    assert_int_equal(nccl_view_read(&v, tree, &error), NETPROF_ERR_IO); // a directory
    assert_null(v.memory);
    free(text);
    tree_remove(tree);
}

// ---- beside another job ----

static void compared(void **state)
{
    static const char *before_colls[] = {"AllGather", "Broadcast"}, *after_colls[] = {"AllReduce"};
    static nccl_kind before_kinds[] = {{.type = NCCL_MIXED, .coll = 1, .size = 10, .spreads.wire_us.p50 = 20},
                                       {.type = NCCL_NVLINK_ONLY, .coll = 0, .size = 30, .spreads.wire_us.p50 = 40}};
    static nccl_kind after_kinds[] = {{.type = NCCL_HCA_ONLY, .coll = 0, .size = 50, .spreads.wire_us.p50 = 60},
                                      {.type = NCCL_MIXED, .coll = 0, .size = 70, .spreads.wire_us.p50 = 80}};
    static nccl before = {.colls = before_colls}, after = {.colls = after_colls};
    static nccl_compared rows[] = {
        {&before_kinds[0], &after_kinds[1], 1.5, 2.5, 3.5, 4.5, NCCL_SLOWER},
        {&before_kinds[1], NULL, NAN, NAN, NAN, NAN, NCCL_ONLY_BEFORE},
        {NULL, &after_kinds[0], NAN, NAN, NAN, NAN, NCCL_ONLY_AFTER},
    };
    static const nccl_view_compared expected[] = {
        {"mixed", "AllReduce", "slower", 70, 20, 80, 1.5, 2.5, 3.5, 4.5},
        {"nvlink-only", "AllGather", "only before", 30, 40, NAN, NAN, NAN, NAN, NAN},
        {"hca-only", "AllReduce", "only after", 50, NAN, 60, NAN, NAN, NAN, NAN}};
    const nccl_comparison c = {
        .before = &before, .after = &after, .rows = rows, .count = 3, .slower = 5, .faster = 6, .alike = 7};
    const nccl_findings none = {.verdict = ""};
    nccl_view v;
    (void)state;
    nccl_view_make(&v, &after, &none, &c, NULL);
    assert_true(v.compared_known);
    assert_int_equal(v.slower, 5);
    assert_int_equal(v.faster, 6);
    assert_int_equal(v.alike, 7);
    assert_int_equal(v.compared.count, 3);
    for (size_t i = 0; i < 3; i++) {
        const nccl_view_compared *x = &v.compared.items[i], *y = &expected[i];
        const double is[] = {x->before_us, x->after_us, x->wire_ratio, x->skew_ratio, x->bus_ratio, x->z};
        const double should[] = {y->before_us, y->after_us, y->wire_ratio, y->skew_ratio, y->bus_ratio, y->z};
        assert_string_equal(x->type, y->type);
        assert_string_equal(x->coll, y->coll);
        assert_string_equal(x->verdict, y->verdict);
        assert_int_equal(x->size, y->size);
        for (size_t k = 0; k < COUNT(is); k++)
            assert_true(is[k] == should[k] || (isnan(is[k]) && isnan(should[k])));
    }
    nccl_view_free(&v);
    nccl_view_make(&v, &after, &none, NULL, NULL);
    assert_false(v.compared_known);
    assert_int_equal(v.slower + v.faster + v.alike + v.compared.count, 0);
    nccl_view_free(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(empty_rows),
                                       cmocka_unit_test(told_rows),
                                       cmocka_unit_test(shortest_numbers),
                                       cmocka_unit_test(refused_with_their_place),
                                       cmocka_unit_test(files),
                                       cmocka_unit_test(compared)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
