// Lines of Inspector logs: a table of single cases, and thousands of random ones beside json-c.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/nccl/logs/nccl_line.h"
#include "strict_json.h"

#define HEADER "\"header\":{\"id\":\"0x1f\",\"comm_name\":\"dp0\",\"rank\":3,\"n_ranks\":8,\"nnodes\":2}"
#define METADATA                                                                                                       \
    "\"metadata\":{\"inspector_output_format_version\":\"v4.0\",\"git_rev\":\"\",\"rec_mechanism\":\"x\","             \
    "\"dump_timestamp_us\":1749490000500000,\"hostname\":\"h1\",\"pid\":77}"
#define COLL(size, time, bus)                                                                                          \
    "\"coll_perf\":{\"coll\":\"AllReduce\",\"coll_sn\":5,\"coll_msg_size_bytes\":" size ",\"coll_exec_time_us\":" time \
    ",\"coll_timing_source\":\"kernel_gpu\",\"coll_algobw_gbs\":1.0,\"coll_busbw_gbs\":" bus "}"
#define GOOD COLL("65536", "110", "18.469")

static nccl_outcome parse(nccl_line *line, const char *text, size_t length)
{
    char *copy = malloc(length + 1 + NCCL_LINE_PAD); // exactly what the contract allows to be read
    memcpy(copy, text, length);
    memset(copy + length, 0, 1 + NCCL_LINE_PAD);
    copy[length] = '\n';
    nccl_line_parse(line, copy, length);
    nccl_outcome outcome = line->outcome;
    free(copy);
    return outcome;
}

static const struct outcome_case {
    const char *text;
    nccl_outcome outcome;
    bool invalid_size;
} outcome_cases[] = {
    {"", NCCL_BLANK, false},
    {" \t\r", NCCL_BLANK, false},
    {"123", NCCL_NOT_OBJECT, false},
    {"\"text\"", NCCL_NOT_OBJECT, false},
    {"[1,2,{}]", NCCL_NOT_OBJECT, false},
    {"null", NCCL_NOT_OBJECT, false},
    {"nonsense", NCCL_BAD_JSON, false},
    {"{}", NCCL_OTHER, false},
    {"{}{}", NCCL_BAD_JSON, false},
    {"{\"a\":1,}", NCCL_BAD_JSON, false},
    {"{\"a\":01}", NCCL_BAD_JSON, false},
    {"{\"a\":NaN}", NCCL_BAD_JSON, false},
    {"{\"a\":1.}", NCCL_BAD_JSON, false},
    {"{\"a\":\"\\x\"}", NCCL_BAD_JSON, false},
    {"{\"a\":\"\xff\"}", NCCL_BAD_JSON, false},
    {"{\"a\":\"\x01\"}", NCCL_BAD_JSON, false},
    {"{\"a\":\"\\ud800\"}", NCCL_OTHER, false},
    {"{" HEADER "," METADATA "," GOOD "}", NCCL_COLL, false},
    {"  {" GOOD " , " METADATA ", " HEADER "}\r", NCCL_COLL, false},
    {"{" HEADER "," METADATA "," GOOD ",\"new\":{\"a\":[{},[],{\"b\":[1,\"]\"]}]}}", NCCL_COLL, false},
    {"{" HEADER "," METADATA "," GOOD ",\"new\" : { \"a\" : [ { } , [ ] , { \"b\" : [ ] } ] } }", NCCL_COLL, false},
    {"{" HEADER "," METADATA ",\"coll\\u005fperf\":{},\"p\":1}", NCCL_BAD_VALUE, false},
    {"{" HEADER "," METADATA "," COLL("\"65536\"", "1", "1") "}", NCCL_BAD_VALUE, false},
    {"{" HEADER "," METADATA "," COLL("65536.0", "5663.0", "1") "}", NCCL_COLL, false}, // other builds write so
    {"{" HEADER "," METADATA "," COLL("65536", "5.663e3", "1") "}", NCCL_COLL, false},
    {"{" HEADER "," METADATA "," COLL("65536.5", "1", "1") "}", NCCL_BAD_VALUE, false},
    {"{" HEADER "," METADATA "," COLL("1e300", "1", "1") "}", NCCL_BAD_VALUE, false},
    {"{" HEADER "," METADATA "," COLL("65536", "-1", "1") "}", NCCL_BAD_VALUE, false},
    {"{" HEADER "," METADATA "," COLL("65536", "-5e0", "1") "}", NCCL_BAD_VALUE, false},
    {"{" HEADER "," METADATA "," COLL("-5.0", "1", "1") "}", NCCL_BAD_VALUE, false},
    {"{" HEADER "," METADATA "," COLL("65536", "1", "0") "}", NCCL_COLL, false},
    {"{" HEADER "," METADATA "," COLL("65536", "1", "-5") "}", NCCL_BAD_VALUE, false}, // no bandwidth is below 0
    {"{" HEADER "," METADATA "," COLL("65536", "1", "\"nan\"") "}", NCCL_BAD_VALUE, false},
    {"{" HEADER "," METADATA "," COLL("65536", "1", "1,5") "}", NCCL_BAD_JSON, false}, // a decimal comma
    {"{" HEADER "," METADATA "," COLL("65536", "1", "1e999") "}", NCCL_BAD_VALUE, false},
    {"{" HEADER "," METADATA "," COLL("4611686018427387904", "1", "1") "}", NCCL_COLL, false}, // 2^62
    {"{" HEADER "," METADATA "," COLL("4611686018427387905", "1", "1") "}", NCCL_BAD_VALUE, true},
    {"{" HEADER "," METADATA "," COLL("18446744073709551615", "1", "1") "}", NCCL_BAD_VALUE, true},
    {"{" HEADER "," METADATA "," COLL("18446744073709551616", "1", "1") "}", NCCL_BAD_VALUE, true},
    {"{" METADATA "," GOOD "}", NCCL_COLL, false}, // bare
    {"{" HEADER "," GOOD "}", NCCL_NO_CONTEXT, false},
    {"{\"header\":{\"id\":\"0x1\",\"rank\":0}," METADATA "," GOOD "}", NCCL_NO_CONTEXT, false},
    {"{\"header\":{\"id\":\"0x1\",\"rank\":9,\"n_ranks\":8,\"nnodes\":1}," METADATA "," GOOD "}", NCCL_BAD_VALUE,
     false},
    {"{\"header\":{\"id\":\"0x1\",\"rank\":0,\"n_ranks\":0,\"nnodes\":1}," METADATA "," GOOD "}", NCCL_BAD_VALUE,
     false},
    {"{\"header\":[]," METADATA "," GOOD "}", NCCL_NO_CONTEXT, false},
    {"{" HEADER "," METADATA ",\"dump_stats\":{\"coll_records\":4}}", NCCL_DUMP_STATS, false},
    {"{\"dump_stats\":{\"coll_records\":4}}", NCCL_NO_CONTEXT, false},
    {"{\"proxy_trace\":{\"record_type\":\"proxy_op\"}}", NCCL_PROXY, false},
    {"{" HEADER "," METADATA ",\"p2p_perf\":{\"p2p\":\"Send\",\"p2p_sn\":1,\"p2p_peer\":2,\"p2p_msg_size_bytes\":9,"
     "\"p2p_exec_time_us\":3,\"p2p_busbw_gbs\":0.003}}",
     NCCL_P2P, false},
};

static void outcomes(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof outcome_cases / sizeof *outcome_cases; i++) {
        const struct outcome_case *c = &outcome_cases[i];
        nccl_line line;
        if (parse(&line, c->text, strlen(c->text)) != c->outcome || line.invalid_size != c->invalid_size)
            fail_msg("%s: %s", c->text, nccl_outcome_name(line.outcome));
    }
}

static void values(void **unused)
{
    (void)unused;
    static const char text[] =
        "{" HEADER "," METADATA ",\"coll_perf\":{\"coll_busbw_gbs\":18.469,\"coll\":\"All\\u0052educe\","
        "\"coll_algo\":\"RING\",\"coll_proto\":\"LL128\",\"coll_exec_time_us\":7,\"coll_exec_time_us\":110,"
        "\"coll_sn\":18446744073709551615,\"coll_msg_size_bytes\":65536,\"event_trace_ts\":"
        "{\"coll_start_ts\":100,\"coll_stop_ts\":105,\"kernel_events\":[{\"channel_id\":0,"
        "\"kernel_start_ts\":130,\"kernel_stop_ts\":240},{\"kernel_start_ts\":120,\"kernel_stop_ts\":200},"
        "{\"kernel_start_ts\":0,\"kernel_stop_ts\":0},7]}}}";
    nccl_line line;
    char name[64], padded[sizeof text + NCCL_LINE_PAD] = {0};
    memcpy(padded, text, sizeof text - 1);
    padded[sizeof text - 1] = '\n';
    nccl_line_parse(&line, padded, sizeof text - 1);
    assert_int_equal(line.outcome, NCCL_COLL);
    assert_int_equal(line.minor, 0);
    assert_int_equal(line.header.rank, 3);
    assert_int_equal(line.header.ranks, 8);
    assert_int_equal(line.metadata.dump_us, 1749490000500000);
    assert_int_equal(line.metadata.pid, 77);
    assert_true(line.perf.sn == UINT64_MAX);
    assert_int_equal(line.perf.time_us, 110); // of two the last
    assert_true(line.perf.bus_gbs == 18.469);
    assert_int_equal(nccl_text_decode(&line.perf.coll, name, sizeof name), 9);
    assert_string_equal(name, "AllReduce");
    assert_int_equal(line.perf.trace.start_us, 100);
    assert_int_equal(line.perf.trace.stop_us, 105);
    assert_int_equal(line.perf.trace.kernel_start_us, 120);
    assert_int_equal(line.perf.trace.kernel_stop_us, 240);
}

static void escapes(void **unused)
{
    (void)unused;
    static const struct {
        const char *raw, *text;
    } cases[] = {{"a\\/b", "a/b"},
                 {"\\\"\\\\\\b\\f\\n\\r\\t", "\"\\\b\f\n\r\t"},
                 {"\\u00e9\\u20AC", "\u00e9\u20ac"},
                 {"\\ud83d\\ude00", "\U0001f600"},
                 {"\\ud83dx", "\ufffdx"},
                 {"\\u0000", "\ufffd"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        nccl_text raw = {cases[i].raw, (uint32_t)strlen(cases[i].raw), true};
        nccl_text_decode(&raw, text, sizeof text);
        assert_string_equal(text, cases[i].text);
    }
    char few[8];
    nccl_text longer = {"abc\u20ac\u20ac", 9, false};
    nccl_text_decode(&longer, few, sizeof few); // no half character
    assert_memory_equal(few, "abc", 3);
    assert_true(few[3] == 0 || strcmp(few + 3, "\u20ac") == 0);
}

static void nesting(void **unused)
{
    (void)unused;
    static const struct {
        size_t depth;
        bool good;
    } cases[] = {{1, true}, {500, true}, {510, true}, {600, false}, {100000, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t depth = cases[i].depth, length = 0;
        char *text = calloc(1, 2 * depth + 64);
        nccl_line line;
        length = (size_t)sprintf(text, "{\"a\":");
        memset(text + length, '[', depth);
        memset(text + length + depth, ']', depth);
        length += 2 * depth;
        text[length++] = '}';
        assert_int_equal(parse(&line, text, length), cases[i].good ? NCCL_OTHER : NCCL_BAD_JSON);
        free(text);
    }
}

// ---- beside json-c ----

static uint64_t state = 88172645463325252u;

static size_t below(size_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (size_t)(state % n);
}

typedef struct text {
    char at[8192];
    size_t size;
} text;

static void put(text *t, const char *what)
{
    size_t length = strlen(what);
    if (t->size + length >= sizeof t->at) return;
    memcpy(t->at + t->size, what, length + 1);
    t->size += length;
}

static const char *pick(const char *const *list, size_t count)
{
    return list[below(count)];
}

#define PICK(list) pick(list, sizeof(list) / sizeof *(list))

static void put_value(text *t, unsigned depth)
{
    static const char *const values_any[] = {"0",
                                             "7",
                                             "65536",
                                             "18446744073709551615",
                                             "1.5",
                                             "-2.25e3",
                                             "0.000001",
                                             "true",
                                             "null",
                                             "\"\"",
                                             "\"AllReduce\"",
                                             "\"x\\ny\"",
                                             "\"h\\u00e9\"",
                                             "false",
                                             "123456.789012",
                                             "1e2",
                                             "99999999999999999.5",
                                             "\"\u20ac\""};
    size_t kind = depth < 4 ? below(8) : 7;
    size_t count = below(4);
    if (kind > 1) {
        put(t, PICK(values_any));
        return;
    }
    put(t, kind ? "[" : "{");
    for (size_t i = 0; i < count; i++) {
        put(t, i ? "," : "");
        if (!kind) put(t, i ? "\"b\":" : "\"a\" : ");
        put_value(t, depth + 1);
    }
    put(t, kind ? "]" : "}");
}

static void put_members(text *t, const char *const *keys, size_t count)
{
    size_t members = below(count + 3), first = below(count);
    put(t, "{");
    for (size_t i = 0; i < members; i++) {
        put(t, i ? "," : "");
        put(t, "\"");
        put(t, below(8) ? keys[(first + i) % count] : "other");
        put(t, below(8) ? "\":" : "\" : ");
        put_value(t, 2);
    }
    put(t, "}");
}

static void make_line(text *t)
{
    static const char *const header[] = {"id", "comm_name", "rank", "n_ranks", "nnodes"};
    static const char *const metadata[] = {"inspector_output_format_version", "dump_timestamp_us", "hostname", "pid"};
    static const char *const perf[] = {"coll", "coll_sn", "coll_msg_size_bytes", "coll_exec_time_us", "coll_busbw_gbs"};
    t->size = 0;
    put(t, "{");
    if (below(4)) {
        put(t, "\"header\":");
        below(4) ? put(t, "{\"id\":\"0x1\",\"rank\":1,\"n_ranks\":4,\"nnodes\":1}") : put_members(t, header, 5);
        put(t, ",");
    }
    put(t, "\"metadata\":");
    below(4) ? put(t, "{\"dump_timestamp_us\":17,\"hostname\":\"h\",\"pid\":5}") : put_members(t, metadata, 4);
    put(t, ",\"coll_perf\":");
    if (below(8))
        put_members(t, perf, 5);
    else
        put_value(t, 1);
    if (!below(4)) {
        put(t, ",\"more\":");
        put_value(t, 0);
    }
    put(t, "}");
}

static void damage(text *t)
{
    static const char bytes[] = "\"\\{}[]:,0123456789eE+-. utfn/\x80\xc3\xe2\t\x01";
    for (size_t i = below(3); i-- > 0 && t->size;) {
        size_t at = below(t->size);
        if (below(2))
            t->at[at] = bytes[below(sizeof bytes - 1)];
        else
            memmove(t->at + at, t->at + at + 1, --t->size - at);
    }
    t->at[t->size] = 0;
}

// What json-c lets pass although it is no JSON, or refuses although it is; such lines are not compared.
static bool is_lenient(const char *line)
{
    for (const char *p = line; *p; p++) {
        if ((unsigned char)*p < ' ') return true; // control characters
        if (*p == '0' && p[1] >= '0' && p[1] <= '9' && (p == line || !strchr("0123456789.", p[-1]))) return true;
        if (*p == '-' && (p[1] < '0' || p[1] > '9')) return true; // "-" alone
        bool number = p != line && strchr("0123456789.eE", p[-1]);
        if (number && strchr(".eE+-", *p) && !(p[1] >= '0' && p[1] <= '9')) return true;   // "1.", "1e"
        if (json_c_version_num() >= 18 << 8 && strspn(p, "0123456789") >= 20) return true; // refused: beyond 64 bits
        if (*p == '\\' && p[1] == 'u') return true;                                        // surrogates
        bool word = p == line || strchr(":[, -", p[-1]);
        if (*p == '/' || *p == '\'' || (word && strchr("NnIi", *p) && strncmp(p, "null", 4) != 0))
            return true; // NaN, Infinity
        if ((*p == 't' || *p == 'f' || *p == 'n' || *p == 'T' || *p == 'F') && p[1]) {
            static const char *const words[] = {"true", "false", "null"};
            for (size_t i = 0; i < 3; i++)
                if ((*p | 0x20) == *words[i] && strncmp(p, words[i], strlen(words[i])) != 0 &&
                    (p == line || strchr(":[, ", p[-1])))
                    return true; // words in any case
        }
    }
    return false;
}

static json_object *member(json_object *o, const char *first, const char *second, json_type type)
{
    json_object *x = NULL;
    if (!json_object_object_get_ex(o, first, &x) || !json_object_is_type(x, json_type_object)) return NULL;
    json_object *parent = x;
    return json_object_object_get_ex(parent, second, &x) && json_object_is_type(x, type) ? x : NULL;
}

static void compare_whole(const nccl_perf *perf, json_object *o, const char *key, int bit, uint64_t value)
{
    json_object *x = member(o, "coll_perf", key, json_type_int), *d = member(o, "coll_perf", key, json_type_double);
    bool seen = perf->seen >> bit & 1;
    double number = d ? json_object_get_double(d) : NAN;
    if (number < 9007199254740992.0 && number == floor(number) && !signbit(number)) { // 5663.0 is as good
        assert_true(seen && (double)value == number);
        return;
    }
    assert_int_equal(seen, x && json_object_get_int64(x) >= 0);
    if (seen) assert_true(json_object_get_uint64(x) == value);
}

static size_t accepted, rejected; // lines on which both were asked

static void compare(const text *t)
{
    nccl_line line;
    json_tokener *tokener = json_tokener_new_ex(64);
    char padded[sizeof t->at + NCCL_LINE_PAD + 1];
    size_t end;
    bool theirs;
    json_object *o = strict_json_parse(tokener, t->at, t->size + 1, &theirs, &end);
    memcpy(padded, t->at, t->size);
    memset(padded + t->size, 0, NCCL_LINE_PAD + 1);
    padded[t->size] = '\n';
    nccl_line_parse(&line, padded, t->size);
    bool ours = line.outcome != NCCL_BAD_JSON && line.outcome != NCCL_BLANK;
    if (ours != theirs && !is_lenient(t->at)) fail_msg("ours %d, theirs %d: %s", ours, theirs, t->at);
    if (ours && !theirs) ours = false; // nothing to compare with
    accepted += ours && theirs;
    rejected += !ours && !is_lenient(t->at);
    if (ours && line.outcome == NCCL_COLL && json_object_is_type(o, json_type_object)) {
        json_object *bus = member(o, "coll_perf", "coll_busbw_gbs", json_type_double);
        if (!bus) bus = member(o, "coll_perf", "coll_busbw_gbs", json_type_int);
        compare_whole(&line.perf, o, "coll_sn", NCCL_PERF_SN, line.perf.sn);
        compare_whole(&line.perf, o, "coll_exec_time_us", NCCL_PERF_TIME, line.perf.time_us);
        compare_whole(&line.perf, o, "coll_msg_size_bytes", NCCL_PERF_SIZE, line.perf.size);
        assert_non_null(bus);
        assert_true(json_object_get_double(bus) == line.perf.bus_gbs);
    }
    json_object_put(o);
    json_tokener_free(tokener);
}

static void beside_json_c(void **unused)
{
    static text t;
    (void)unused;
    for (int i = 0; i < 60000; i++) {
        make_line(&t);
        if (i % 3) damage(&t);
        compare(&t);
    }
    print_message("%zu lines taken by both, %zu refused by both\n", accepted, rejected);
    assert_true(accepted > 20000);
    assert_true(rejected > 2000);
}

// Six decimals, as the plugin prints them, read as the C library reads them.
static void numbers(void **unused)
{
    (void)unused;
    for (int i = 0; i < 20000; i++) {
        char padded[256], number[64];
        nccl_line line;
        snprintf(number, sizeof number, "%.*f", (int)below(9), (double)below(1000000000) / (double)(1 + below(100000)));
        int length = snprintf(padded, sizeof padded, "{\"coll_perf\":{\"coll_busbw_gbs\":%s}}", number);
        memset(padded + length, '\n', NCCL_LINE_PAD);
        nccl_line_parse(&line, padded, (size_t)length);
        assert_true(line.perf.bus_gbs == strtod(number, NULL));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outcomes), cmocka_unit_test(values),        cmocka_unit_test(escapes),
        cmocka_unit_test(nesting),  cmocka_unit_test(beside_json_c), cmocka_unit_test(numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
