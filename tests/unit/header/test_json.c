// netprof_write_json() read back by json-c, an implementation that is not ours.
#define NETPROF_IMPLEMENTATION
#define NETPROF_STATIC
#include "netprof.h"

#include "generate.h"
#include "strict_json.h"

#include <inttypes.h>
#include <json-c/json.h>

static struct sink write_json(const netprof_json *what)
{
    struct sink sink = {0};
    assert_int_equal(netprof_write_json(what, sink_write, &sink, NULL), NETPROF_OK);
    return sink;
}

// json-c, strict: no trailing comma, no NaN, valid UTF-8, nothing behind.
static json_object *parse_json(const struct sink *sink)
{
    json_tokener *tokener = json_tokener_new_ex(64);
    size_t end;
    bool good;
    json_object *object = strict_json_parse(tokener, (const char *)sink->data, sink->size, &good, &end);
    if (!good)
        fail_msg("at byte %zu of %zu: %s", end, sink->size, json_tokener_error_desc(json_tokener_get_error(tokener)));
    assert_true(end >= sink->size - 1); // with the newline or without
    json_tokener_free(tokener);
    return object;
}

static json_object *member(json_object *object, const char *key)
{
    json_object *value = NULL;
    if (!json_object_object_get_ex(object, key, &value)) fail_msg("no member %s", key);
    return value;
}

static json_object *element(json_object *object, const char *key, size_t i)
{
    json_object *array = member(object, key);
    assert_true(json_object_is_type(array, json_type_array));
    assert_true(i < json_object_array_length(array));
    return json_object_array_get_idx(array, i);
}

static void check_text(json_object *object, const char *key, const char *text)
{
    json_object *value = member(object, key);
    assert_true(json_object_is_type(value, json_type_string));
    assert_string_equal(json_object_get_string(value), text);
}

static void check_i64(json_object *object, const char *key, int64_t number)
{
    json_object *value = member(object, key);
    assert_true(json_object_is_type(value, json_type_int));
    assert_true(json_object_get_int64(value) == number);
}

static void check_u64(json_object *value, uint64_t number)
{
    assert_true(json_object_is_type(value, json_type_int));
    assert_true(json_object_get_uint64(value) == number);
}

static const struct row rows[] = {
    {"cxi", "cxi0", "plain", NETPROF_KIND_COUNTER, 56, 1, NETPROF_STAMPED | NETPROF_FAST, UINT64_MAX},
    {"cxi", "cxi0", "signed", NETPROF_KIND_GAUGE, 0, 1, NETPROF_SIGNED, UINT64_MAX},
    {"cxi", "cxi0", "full", NETPROF_KIND_HISTOGRAM, 16, 4, NETPROF_SATURATES | NETPROF_SLOW_REFRESH, UINT64_MAX},
    {"cxi", "cxi0", "denied", NETPROF_KIND_STATE, 8, 1, 0, UINT64_MAX},
    {"rdma", "mlx5_0/1", "plain", NETPROF_KIND_COUNTER, 64, 1, 0, 0},
};

static netprof_snapshot made(void)
{
    netprof_snapshot s = snapshot_of(schema_of_rows(rows, COUNT(rows), "node", "boot"));
    s.values[0] = UINT64_MAX;
    s.stamps_ns[0] = 1700000000000000123;
    s.values[1] = (uint64_t)INT64_MIN;
    s.values[2] = 262140;
    s.status[2] = NETPROF_STATUS_SATURATED;
    s.status[3] = NETPROF_STATUS_DENIED;
    s.errnos[3] = EACCES;
    s.values[4] = 9007199254740993u; // 2^53 + 1
    s.begin_ns = 5, s.end_ns = 9, s.wall_ns = 1700000000000000001;
    s.device_begin_ns[1] = -3, s.device_end_ns[1] = INT64_MIN;
    return s;
}

static void a_snapshot(void **state)
{
    (void)state;
    netprof_fact facts[] = {{"command", "sleep 1"}, {"job", "42"}};
    netprof_snapshot s[2] = {made(), NETPROF_ZERO};
    netprof_schema_retain(s[0].schema);
    s[1] = snapshot_of(s[0].schema);
    s[1].set = NETPROF_SET_FAST;
    netprof_json what = {.facts = facts, .fact_count = 2, .snapshots = s, .snapshot_count = 2};
    struct sink sink = write_json(&what);
    json_object *json = parse_json(&sink);
    check_text(json, "format", "netprof");
    check_i64(json, "version", 2);
    check_text(member(json, "facts"), "command", "sleep 1");
    assert_int_equal(json_object_array_length(member(json, "schemas")), 1); // shared
    json_object *schema = element(json, "schemas", 0);
    check_text(member(schema, "facts"), "boot_id", "boot");
    check_text(element(schema, "sources", 1), "source", "rdma");
    json_object *device = element(schema, "devices", 0);
    check_text(device, "source", "cxi");
    check_text(device, "device", "cxi0");
    check_u64(member(device, "identity"), UINT64_MAX);
    assert_true(json_object_get_boolean(member(device, "physical")));
    assert_false(json_object_get_boolean(member(device, "virtual")));
    assert_int_equal(json_object_array_length(member(device, "counters")), 4);
    json_object *counter = element(device, "counters", 2);
    check_text(counter, "counter", "full");
    check_text(counter, "unit", "things");
    check_text(counter, "kind", "histogram");
    check_i64(counter, "width_bits", 16);
    check_i64(counter, "scale", 4);
    assert_string_equal(json_object_to_json_string_ext(member(counter, "flags"), JSON_C_TO_STRING_PLAIN),
                        "[\"saturates\",\"slow-refresh\"]");
    assert_string_equal(
        json_object_to_json_string_ext(member(element(device, "counters", 0), "flags"), JSON_C_TO_STRING_PLAIN),
        "[\"fast\",\"stamped\"]");
    json_object *snapshot = element(json, "snapshots", 0);
    check_i64(snapshot, "schema", 0);
    check_text(snapshot, "set", "all");
    check_text(element(json, "snapshots", 1), "set", "fast");
    check_i64(snapshot, "monotonic_begin_ns", 5);
    check_i64(snapshot, "monotonic_end_ns", 9);
    check_i64(snapshot, "time_ns", 1700000000000000001);
    device = element(snapshot, "devices", 0);
    json_object *values = member(device, "values");
    check_u64(member(values, "plain"), UINT64_MAX);
    check_i64(values, "signed", INT64_MIN);
    check_u64(member(values, "full"), 262140);
    assert_null(member(values, "denied")); // null, not 0
    assert_int_equal(json_object_array_length(member(device, "stamps_ns")), 4);
    assert_true(json_object_get_int64(element(device, "stamps_ns", 0)) == 1700000000000000123);
    json_object *not_ok = member(device, "not_ok");
    assert_int_equal(json_object_object_length(not_ok), 2);
    assert_string_equal(json_object_get_string(element(not_ok, "denied", 0)), "denied");
    assert_int_equal(json_object_get_int(element(not_ok, "denied", 1)), EACCES);
    assert_string_equal(json_object_get_string(element(not_ok, "full", 0)), "saturated");
    device = element(snapshot, "devices", 1);
    check_u64(member(member(device, "values"), "plain"), 9007199254740993u);
    check_i64(device, "monotonic_begin_ns", -3);
    check_i64(device, "monotonic_end_ns", INT64_MIN);
    json_object *none;
    assert_false(json_object_object_get_ex(device, "stamps_ns", &none));
    assert_false(json_object_object_get_ex(device, "not_ok", &none));
    json_object_put(json);
    sink_free(&sink);
    what.u64_strings = 1;
    sink = write_json(&what);
    json = parse_json(&sink);
    device = element(element(json, "snapshots", 0), "devices", 0);
    check_text(member(device, "values"), "plain", "18446744073709551615");
    check_text(member(device, "values"), "signed", "-9223372036854775808");
    json_object_put(json);
    sink_free(&sink);
    netprof_snapshot_free(&s[0]);
    netprof_snapshot_free(&s[1]);
}

static void a_delta(void **state)
{
    (void)state;
    netprof_snapshot a = made(), b = made();
    netprof_delta d = NETPROF_ZERO;
    a.values[4] = 7;
    b.values[4] = UINT64_MAX;
    b.wall_ns += 1000, b.begin_ns = 1005, b.end_ns = 1205;
    assert_int_equal(netprof_diff(&a, &b, NULL, &d, NULL), NETPROF_OK);
    netprof_json what = {.snapshots = &a, .snapshot_count = 1, .deltas = &d, .delta_count = 1};
    struct sink sink = write_json(&what);
    json_object *json = parse_json(&sink);
    assert_int_equal(json_object_array_length(member(json, "schemas")), 2);
    json_object *delta = element(json, "deltas", 0);
    check_i64(delta, "schema", 1);
    check_i64(delta, "elapsed_ns", 1000);
    check_i64(delta, "sweep_ns", 200);
    json_object *device = element(delta, "devices", 1);
    check_text(device, "device", "mlx5_0/1");
    json_object *row = member(member(device, "counters"), "plain");
    check_u64(member(row, "before"), 7);
    check_u64(member(row, "after"), UINT64_MAX);
    check_u64(member(row, "delta"), UINT64_MAX - 7);
    check_text(row, "flag", "ok");
    row = member(member(element(delta, "devices", 0), "counters"), "denied");
    check_text(row, "flag", "unknown");
    check_text(row, "before_status", "denied");
    row = member(member(element(delta, "devices", 0), "counters"), "full");
    check_text(row, "flag", "suspect");
    json_object_put(json);
    sink_free(&sink);
    netprof_delta_free(&d);
    netprof_snapshot_free(&a);
    netprof_snapshot_free(&b);
}

static struct sink json_of_text(const char *text)
{
    netprof_fact fact = {"k", text};
    return write_json(&(netprof_json){.facts = &fact, .fact_count = 1});
}

// Every byte alone, and every pair that begins with a byte above 7f: json-c takes it, and ASCII comes back.
static void every_byte(void **state)
{
    (void)state;
    for (int byte = 1; byte < 256; byte++) {
        char text[8] = {'<', (char)byte, '>', 0};
        struct sink sink = json_of_text(text);
        for (size_t i = 0; i + 1 < sink.size; i++)
            assert_true(sink.data[i] >= 0x20 || sink.data[i] == '\n'); // no control byte as it is
        json_object *json = parse_json(&sink);
        check_text(member(json, "facts"), "k", byte < 0x80 ? text : "<\xef\xbf\xbd>");
        json_object_put(json);
        sink_free(&sink);
    }
    for (int first = 0x80; first < 256; first++)
        for (int second = 1; second < 256; second++) {
            char text[8] = {(char)first, (char)second, 0};
            struct sink sink = json_of_text(text);
            json_object *json = parse_json(&sink);
            int valid = first >= 0xc2 && first < 0xe0 && second >= 0x80 && second < 0xc0;
            if (valid)
                check_text(member(json, "facts"), "k", text);
            else
                assert_memory_equal(json_object_get_string(member(member(json, "facts"), "k")), "\xef\xbf\xbd", 3);
            json_object_put(json);
            sink_free(&sink);
        }
}

static void longer_sequences(void **state)
{
    (void)state;
#define BAD "\xef\xbf\xbd"
    static const char *const cases[][2] = {{"\xe2\x82\xac", "\xe2\x82\xac"},         // U+20AC
                                           {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"}, // U+1F600
                                           {"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"}, // U+10FFFF
                                           {"\xf4\x90\x80\x80", BAD BAD BAD BAD},    // beyond
                                           {"\xed\xa0\x80", BAD BAD BAD},            // a surrogate
                                           {"\xc0\x80", BAD BAD},                    // overlong
                                           {"\xe0\x80\x80", BAD BAD BAD},
                                           {"\xf0\x80\x80\x80", BAD BAD BAD BAD},
                                           {"\xe2\x82", BAD BAD}, // cut
                                           {"\xf8\x88\x80\x80\x80", BAD BAD BAD BAD BAD},
                                           {"a\"b\\c/d", "a\"b\\c/d"},
                                           {"\b\f\n\r\t\x7f", "\b\f\n\r\t\x7f"},
                                           {"", ""}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sink sink = json_of_text(cases[i][0]);
        json_object *json = parse_json(&sink);
        check_text(member(json, "facts"), "k", cases[i][1]);
        json_object_put(json);
        sink_free(&sink);
    }
}

static void generated_ones_parse(void **state)
{
    const netprof_diff_options force = {.force = 1}; // whatever the generated times are
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        uint64_t at = seed;
        netprof_snapshot s[3] = {NETPROF_ZERO, NETPROF_ZERO, NETPROF_ZERO};
        netprof_delta d[2] = {NETPROF_ZERO, NETPROF_ZERO};
        const netprof_schema *a = generate_schema(seed, 50), *b = generate_schema(seed + 1000, 50);
        generate_snapshot(&at, a, NULL, (int)(seed % 2), &s[0]);
        generate_snapshot(&at, b, NULL, 0, &s[1]);
        generate_snapshot(&at, a, &s[0], 0, &s[2]);
        assert_int_equal(netprof_diff(&s[0], &s[1], &force, &d[0], NULL), NETPROF_OK);
        assert_int_equal(netprof_diff(&s[0], &s[2], &force, &d[1], NULL), NETPROF_OK);
        netprof_json what = {
            .snapshots = s, .snapshot_count = 3, .deltas = d, .delta_count = 2, .u64_strings = seed % 3 == 0};
        struct sink sink = write_json(&what);
        json_object *json = parse_json(&sink);
        check_i64(element(json, "snapshots", 0), "schema", 0);
        check_i64(element(json, "snapshots", 1), "schema", 1);
        check_i64(element(json, "snapshots", 2), "schema", 0);
        check_i64(element(json, "deltas", 1), "schema", 0);
        assert_int_equal(json_object_array_length(member(json, "deltas")), 2);
        for (size_t i = 0; i < a->device_count; i++) {
            const netprof_device *device = &a->devices[i];
            json_object *counters = member(element(element(json, "schemas", 0), "devices", i), "counters");
            assert_int_equal(json_object_array_length(counters), device->count);
        }
        json_object_put(json);
        sink_free(&sink);
        for (size_t i = 0; i < 3; i++)
            netprof_snapshot_free(&s[i]);
        for (size_t i = 0; i < 2; i++)
            netprof_delta_free(&d[i]);
        netprof_schema_release(a);
        netprof_schema_release(b);
    }
}

static void failing_sink(void **state)
{
    (void)state;
    netprof_snapshot s = NETPROF_ZERO;
    uint64_t seed = 3;
    const netprof_schema *schema = generate_schema(2003, 300);
    netprof_error error;
    generate_snapshot(&seed, schema, NULL, 0, &s);
    netprof_json what = {.snapshots = &s, .snapshot_count = 1};
    struct sink whole = write_json(&what);
    assert_true(whole.size > 10000);
    for (size_t limit = 1; limit < whole.size; limit += 997) {
        struct sink sink = {.fail_behind = limit};
        assert_int_equal(netprof_write_json(&what, sink_write, &sink, &error), NETPROF_ERR_IO);
        assert_int_equal(error.code, NETPROF_ERR_IO);
        assert_int_equal(error.sys_errno, ENOSPC);
        assert_true(sink.size <= limit);
        if (sink.size) assert_memory_equal(sink.data, whole.data, sink.size); // nothing more once it failed
        sink_free(&sink);
    }
    assert_int_equal(netprof_write_json(NULL, sink_write, &whole, &error), NETPROF_ERR_ARG);
    assert_int_equal(netprof_write_json(&what, NULL, NULL, &error), NETPROF_ERR_ARG);
    sink_free(&whole);
    netprof_snapshot_free(&s);
    netprof_schema_release(schema);
}

static void nothing(void **state)
{
    (void)state;
    struct sink sink = write_json(&(netprof_json){0});
    json_object *json = parse_json(&sink);
    assert_int_equal(json_object_array_length(member(json, "schemas")), 0);
    assert_int_equal(json_object_array_length(member(json, "snapshots")), 0);
    assert_int_equal(json_object_array_length(member(json, "deltas")), 0);
    json_object_put(json);
    sink_free(&sink);
}

int main(int count, char **given)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_snapshot),
        cmocka_unit_test(a_delta),
        cmocka_unit_test(every_byte),
        cmocka_unit_test(longer_sequences),
        cmocka_unit_test(generated_ones_parse),
        cmocka_unit_test(failing_sink),
        cmocka_unit_test(nothing),
    };
    if (count > 1) cmocka_set_test_filter(given[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
