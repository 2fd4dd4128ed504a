// JSON of netprof and of net_prof, member by member: names of this version and of the one before, values at their limits,
// and every fault with its words and its place.
#define _GNU_SOURCE
#include "netprof.h"

#include "analysis/data/dataset.h"
#include "support.h"

static char text_[1 << 20];

static __attribute__((format(printf, 1, 2))) const char *text_of(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(text_, sizeof text_, format, arguments);
    va_end(arguments);
    assert_true(n >= 0 && (size_t)n < sizeof text_);
    return text_;
}

static netprof_err read_text(dataset *set, const char *text, const dataset_options *options, netprof_error *error)
{
    *set = (dataset){0};
    return dataset_read_memory(set, "a.json", text, strlen(text), options, error);
}

static dataset read_good(const char *text)
{
    dataset set;
    netprof_error error;
    if (read_text(&set, text, NULL, &error)) fail_msg("%s", error.text);
    assert_int_equal(set.run_count, 1);
    return set;
}

static void expect_error(const char *text, netprof_err code, const char *words)
{
    dataset set;
    netprof_error error;
    assert_int_equal(read_text(&set, text, NULL, &error), code);
    assert_int_equal(error.code, code);
    assert_string_equal(error.text, words);
    assert_string_equal(error.path, "a.json");
    assert_int_equal(set.run_count, 0);
    dataset_free(&set);
}

// All warnings, a line each: "LINE TEXT".
static void expect_warnings(const dataset *set, const char *expected)
{
    static char all[8192];
    *all = 0;
    for (size_t i = 0; i < set->warning_count; i++) {
        assert_string_equal(set->warnings[i].path, "a.json");
        snprintf(all + strlen(all), sizeof all - strlen(all), "%d %s\n", (int)set->warnings[i].line,
                 set->warnings[i].text);
    }
    assert_string_equal(all, expected);
}

// ---- whole files ----

static void which_json_it_is(void **state)
{
    (void)state;
    expect_error("{\"format\":\"netprof\",\"version\":3}", NETPROF_ERR_VERSION,
                 "version 3; this program reads up to 2");
    expect_error("{\"format\":\"netprof\",\"version\":2}", NETPROF_ERR_PARSE,
                 "nothing usable in this netprof JSON file");
    expect_error("{\"format\":\"other\",\"counters\":[]}", NETPROF_ERR_FORMAT,
                 "JSON of format other; expected netprof's snapshots");
    expect_error("{\"counters\":{}}", NETPROF_ERR_FORMAT,
                 "expected \"format\": \"netprof\" (netprof), or a list \"counters\" (net_prof)");
    expect_error("[{\"id\":1},7]", NETPROF_ERR_FORMAT,
                 "JSON, but neither netprof's nor net_prof's: no entry of the list has a \"value\"");
    expect_error("{\"counters\":[]}", NETPROF_ERR_PARSE, "nothing usable in this net_prof JSON file");
    expect_error("[]", NETPROF_ERR_PARSE, "nothing usable in this net_prof JSON file");
}

// So many sources, one more than the limit of 1024 or as many.
static void as_many_sources_as_there_may_be(void **state)
{
    (void)state;
    for (int count = 1024; count <= 1025; count++) {
        char *rows = calloc((size_t)count, 32), *at = rows;
        for (int i = 0; i < count; i++)
            at += sprintf(at, "%s{\"source\":\"s%d\"}", i ? "," : "", i);
        const char *text = text_of("{\"format\":\"netprof\",\"version\":2,\"schemas\":[{\"sources\":[%s],"
                                   "\"devices\":[]}],\"snapshots\":[{\"schema\":0}]}",
                                   rows);
        free(rows);
        if (count > 1024) {
            expect_error(text, NETPROF_ERR_LIMIT, "more than 1024 sources");
            continue;
        }
        dataset set = read_good(text);
        assert_int_equal(set.runs[0].snapshots[0].schema->source_count, 1024);
        assert_string_equal(set.runs[0].snapshots[0].schema->sources[1023].name, "s1023");
        dataset_free(&set);
    }
}

#define LINE(facts, schema, snapshots)                                                                                 \
    "{\"format\":\"netprof\",\"version\":2,\"facts\":{" facts "},\"schemas\":[" schema "],\"snapshots\":[" snapshots   \
    "]}"
#define SCHEMA                                                                                                         \
    "{\"devices\":[{\"source\":\"s\",\"device\":\"d\",\"counters\":[{\"counter\":\"a\"},{\"counter\":\"b\"}]}]}"
#define READING(a) "{\"schema\":0,\"devices\":[{\"source\":\"s\",\"device\":\"d\",\"values\":{\"a\":" a ",\"b\":7}}]}"

// A document a line: one run with the facts of the first. A line that is damaged, or of another program, is passed over,
// and faults have the line of the file.
static void documents_line_by_line(void **state)
{
    static const char lines[] = LINE("\"host\":\"h1\",\"n\":5,\"no\":null", SCHEMA, READING("1")) "\n" //
        LINE("\"host\":\"h2\"", SCHEMA, READING("2") "," READING("3")) "\n"                            //
        LINE("", SCHEMA, READING("18446744073709551616")) "\n"                                         //
        LINE("", SCHEMA "]", READING("5")) "\n"                                                        //
        LINE("", SCHEMA, READING("6")) "\n";
    (void)state;
    dataset set = read_good(lines);
    const dataset_run *run = &set.runs[0];
    static const uint64_t values[] = {1, 2, 3, UINT64_MAX, 6};
    assert_int_equal(run->snapshot_count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_true(run->snapshots[i].values[0] == values[i]);
        assert_int_equal(run->snapshots[i].values[1], 7);
    }
    assert_string_equal(run->host, "h1");
    assert_string_equal(dataset_fact(run, "n"), "5");
    assert_null(dataset_fact(run, "no"));
    assert_int_equal(run->fact_count, 2);
    assert_false(run->complete);
    assert_int_equal(set.warning_count, 2);
    assert_int_equal(set.warnings[0].line, 3);
    assert_string_equal(set.warnings[0].text, "a number beyond 64 bits was taken for the largest one");
    assert_int_equal(set.warnings[1].line, 4);
    dataset_free(&set);
    // The first line alone decides what kind of file it is.
    expect_error("{\"format\":\"netprof\",\"version\":9}\n" LINE("", SCHEMA, READING("6")), NETPROF_ERR_VERSION,
                 "version 9; this program reads up to 2");
    set = read_good(LINE("", SCHEMA, READING("1")) "\n" LINE("", "", "") "\n" LINE("", SCHEMA, READING("6")));
    assert_int_equal(set.runs[0].snapshot_count, 2);
    assert_true(set.runs[0].complete);
    dataset_free(&set);
}

static void numbers_beyond_64_bits(void **state)
{
    static const struct {
        const char *number;
        bool large;
    } rows[] = {{"18446744073709551615", false},     {"18446744073709551616", true},
                {"20000000000000000000", true},      {"99999999999999999999", true},
                {"9999999999999999999", false},      {"100000000000000000000", true},
                {"\"99999999999999999999\"", false}, {"\"\\\"99999999999999999999\"", false}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        dataset set = read_good(text_of("\n\n" LINE("\"x\":%s", SCHEMA, READING("1")), rows[i].number));
        if (rows[i].large)
            expect_warnings(&set, "3 a number beyond 64 bits was taken for the largest one\n");
        else
            assert_int_equal(set.warning_count, 0);
        assert_int_equal(set.runs[0].complete, !rows[i].large);
        dataset_free(&set);
    }
    dataset set = read_good(
        text_of("\n" LINE("\"x\":%s,\"y\":36893488147419103232", SCHEMA, READING("1")), "18446744073709551616"));
    expect_warnings(&set, "2 a number beyond 64 bits was taken for the largest one\n"); // of several the first is told
    dataset_free(&set);
    // A blank line before the first of several lines is no line of its own.
    set = read_good(text_of("\n" LINE("\"x\":%s", SCHEMA, READING("1")) "\n" LINE("\"x\":%s", SCHEMA, READING("2")),
                            "1", "18446744073709551616"));
    expect_warnings(&set, "3 a number beyond 64 bits was taken for the largest one\n");
    assert_int_equal(set.runs[0].snapshot_count, 2);
    dataset_free(&set);
}

// Blank lines between documents are nothing; what stands behind the last one, or on its line, is told and not used.
static void what_is_between_and_behind(void **state)
{
#define ONE(value) LINE("", SCHEMA, READING(value))
    static const struct {
        const char *text;
        size_t snapshots;
        const char *warnings;
    } rows[] = {
        {ONE("1") "\n" ONE("2"), 2, ""},
        {ONE("1") "\n\n" ONE("2") "\n \t\r\n\n" ONE("3") "\n\n\n", 3, ""},
        {ONE("1") "\n\nx\n" ONE("2"), 1, "3 what follows is behind the end of the document, and is not used\n"},
        {ONE("1") " " ONE("2"), 1, "1 what follows is behind the end of the document, and is not used\n"},
        {ONE("1") "\n" ONE("2") " ]\n\n" ONE("3"), 3,
         "2 what follows is behind the end of the document, and is not used\n"},
        {ONE("1") "\n{\"format\":\"other\"}\n", 1,
         "2 what follows is behind the end of the document, and is not used\n"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        dataset set = read_good(rows[i].text);
        assert_int_equal(set.runs[0].snapshot_count, rows[i].snapshots);
        expect_warnings(&set, rows[i].warnings);
        assert_int_equal(set.runs[0].complete, !rows[i].warnings[0]);
        dataset_free(&set);
    }
#undef ONE
}

// ---- schemas ----

// Everything that is said of a source, a device and a counter, in the words of version 2 and of version 1.
static void schemas_of_both_versions(void **state)
{
    static const char *const words[2][7] = {
        {"1", "name", "path", "name", "name", "width", "begin_ns"},
        {"2", "source", "source_path", "device", "counter", "width_bits", "monotonic_begin_ns"}};
    (void)state;
    for (size_t v = 0; v < 2; v++) {
        const char *const *w = words[v];
        dataset set = read_good(text_of(
            "{\"format\":\"netprof\",\"version\":%s,\"schemas\":[{\"facts\":{\"host\":\"h\",\"boot_id\":\"b\"},"
            "\"sources\":[{\"%s\":\"s\",\"status\":\"denied\",\"errno\":13,\"%s\":\"/p\"},{\"%s\":\"t\"}],"
            "\"devices\":[{\"source\":\"t\",\"%s\":\"d\",\"identity\":\"18446744073709551615\",\"physical\":true,"
            "\"counters\":[{\"%s\":\"a\",\"unit\":\"bytes\",\"scale\":4,\"kind\":\"gauge\",\"%s\":12,"
            "\"flags\":[\"fast\",\"signed\"]}]},"
            "{\"source\":\"u\",\"%s\":\"e\",\"identity\":7,\"virtual\":true,\"facts\":{\"f\":\"1\",\"g\":2}}]}],"
            "\"snapshots\":[{\"schema\":0,\"%s\":5}]}",
            w[0], w[1], w[2], w[1], w[3], w[4], w[5], w[3], w[6]));
        const netprof_snapshot *x = &set.runs[0].snapshots[0];
        const netprof_schema *s = x->schema;
        assert_int_equal(set.warning_count, 0);
        assert_int_equal(x->begin_ns, 5);
        assert_int_equal(s->source_count, 3);
        assert_string_equal(s->sources[0].name, "s");
        assert_string_equal(s->sources[0].path, "/p");
        assert_int_equal(s->sources[0].status, NETPROF_STATUS_DENIED);
        assert_int_equal(s->sources[0].sys_errno, 13);
        assert_int_equal(s->sources[1].device_count, 1);
        assert_string_equal(s->sources[2].name, "u"); // without a row of its own
        assert_int_equal(s->device_count, 2);
        assert_string_equal(s->devices[0].name, "d");
        assert_string_equal(s->devices[0].source, "t");
        assert_true(s->devices[0].identity == UINT64_MAX && s->devices[0].flags == NETPROF_DEVICE_PHYSICAL);
        assert_string_equal(s->devices[1].name, "e");
        assert_true(s->devices[1].identity == 7 && s->devices[1].flags == NETPROF_DEVICE_VIRTUAL);
        assert_int_equal(s->devices[1].fact_count, 2);
        assert_string_equal(s->devices[1].facts[1].value, "2");
        assert_string_equal(netprof_fact_of(s->facts, s->fact_count, "boot_id"), "b");
        const netprof_counter *c = &s->counters[0];
        assert_string_equal(c->name, "a");
        assert_string_equal(c->unit, "bytes");
        assert_true(c->scale == 4 && c->width == 12 && c->kind == NETPROF_KIND_GAUGE);
        assert_int_equal(c->flags, NETPROF_FAST | NETPROF_SIGNED);
        dataset_free(&set);
    }
}

static netprof_counter counter_of(const char *members)
{
    dataset set =
        read_good(text_of("{\"format\":\"netprof\",\"version\":2,\"schemas\":[{\"devices\":[{\"source\":\"s\","
                          "\"device\":\"d\",\"counters\":[{\"counter\":\"a\",%s}]}]}],"
                          "\"snapshots\":[{\"schema\":0}]}",
                          members));
    netprof_counter c = set.runs[0].snapshots[0].schema->counters[0];
    dataset_free(&set);
    return c;
}

// Each flag and kind by its name; what is none, or does not fit, is as if it were not there.
static void members_of_counters(void **state)
{
    (void)state;
    assert_int_equal(counter_of("\"flags\":[\"fast\"]").flags, NETPROF_FAST);
    assert_int_equal(counter_of("\"flags\":[\"signed\"]").flags, NETPROF_SIGNED);
    assert_int_equal(counter_of("\"flags\":[\"saturates\"]").flags, NETPROF_SATURATES);
    assert_int_equal(counter_of("\"flags\":[\"stamped\"]").flags, NETPROF_STAMPED);
    assert_int_equal(counter_of("\"flags\":[\"slow-refresh\"]").flags, NETPROF_SLOW_REFRESH);
    assert_int_equal(counter_of("\"flags\":[\"new\",null,1]").flags, 0);
    assert_int_equal(counter_of("\"flags\":\"fast\"").flags, 0);
    assert_int_equal(counter_of("\"kind\":\"counter\"").kind, NETPROF_KIND_COUNTER);
    assert_int_equal(counter_of("\"kind\":\"gauge\"").kind, NETPROF_KIND_GAUGE);
    assert_int_equal(counter_of("\"kind\":\"state\"").kind, NETPROF_KIND_STATE);
    assert_int_equal(counter_of("\"kind\":\"histogram\"").kind, NETPROF_KIND_HISTOGRAM);
    assert_int_equal(counter_of("\"kind\":\"new\"").kind, NETPROF_KIND_COUNTER);
    static const int scales[][2] = {{0, 1}, {-1, 1}, {1, 1}, {2, 2}, {65535, 65535}, {65536, 1}};
    static const int widths[][2] = {{-1, 0}, {0, 0}, {1, 1}, {64, 64}, {65, 0}, {256, 0}};
    for (size_t i = 0; i < COUNT(scales); i++) {
        char members[64];
        snprintf(members, sizeof members, "\"scale\":%d,\"width_bits\":%d", scales[i][0], widths[i][0]);
        assert_int_equal(counter_of(members).scale, scales[i][1]);
        assert_int_equal(counter_of(members).width, widths[i][1]);
    }
}

static void counters_without_a_name_of_their_own(void **state)
{
    (void)state;
    dataset set = read_good(
        "{\"format\":\"netprof\",\"version\":2,\"schemas\":[{\"devices\":["
        "{\"source\":\"s\",\"device\":\"d\",\"counters\":[{\"counter\":\"a\"},{\"unit\":\"b\"},{\"counter\":\"b\"},{"
        "\"counter\":\"a\"}]},"
        "{\"source\":\"s\",\"device\":\"e\",\"counters\":[{\"counter\":\"a\"},{\"counter\":\"c\"},7,{\"counter\":\"c\"}"
        "]}]}],"
        "\"snapshots\":[{\"schema\":0,\"devices\":[{\"source\":\"s\",\"device\":\"e\",\"values\":{\"c\":3}}]}]}");
    expect_warnings(&set, "0 device 1: counter 2 has no name\n"
                          "0 device 1: counter 4 has the name of another one\n"
                          "0 device 2: counter 3 has no name\n"
                          "0 device 2: counter 4 has the name of another one\n");
    const netprof_snapshot *x = &set.runs[0].snapshots[0];
    assert_int_equal(x->schema->counter_count, 4);
    assert_string_equal(x->schema->counters[1].name, "b");
    assert_int_equal(x->values[3], 3);
    dataset_free(&set);
}

// ---- readings ----

#define TWO_DEVICES                                                                                                    \
    "{\"devices\":[{\"source\":\"s\",\"device\":\"d\",\"counters\":[{\"counter\":\"a\"},{\"counter\":\"b\"}]},"        \
    "{\"source\":\"t\",\"device\":\"d\",\"counters\":[{\"counter\":\"a\"},{\"counter\":\"c\"},{\"counter\":\"e\"}]}]}"

static void times_and_stamps_of_readings(void **state)
{
    (void)state;
    for (int old = 0; old < 2; old++) {
        dataset set = read_good(text_of(
            LINE("", TWO_DEVICES,
                 "{\"schema\":0,\"%s\":11,\"%s\":12,\"%s\":13,\"stamp_error_ns\":14,\"set\":\"fast\",\"devices\":["
                 "{\"source\":\"t\",\"device\":\"d\",\"%s\":15,\"%s\":16,\"values\":{\"c\":1,\"a\":\"2\",\"e\":-3},"
                 "\"stamps_ns\":[101,\"102\",103]},"
                 "{\"source\":\"s\",\"device\":\"d\",\"values\":{\"b\":5},\"stamps_ns\":[104]}]},"
                 "{\"schema\":0,\"set\":\"all\"}"),
            old ? "begin_ns" : "monotonic_begin_ns", old ? "end_ns" : "monotonic_end_ns", old ? "wall_ns" : "time_ns",
            old ? "begin_ns" : "monotonic_begin_ns", old ? "end_ns" : "monotonic_end_ns"));
        const netprof_snapshot *x = set.runs[0].snapshots;
        static const int64_t stamps[] = {0, 104, 102, 101, 103};
        static const uint64_t values[] = {0, 5, 2, 1, (uint64_t)-3};
        assert_int_equal(set.warning_count, 0);
        assert_true(x->begin_ns == 11 && x->end_ns == 12 && x->wall_ns == 13 && x->stamp_error_ns == 14);
        assert_true(x->device_begin_ns[1] == 15 && x->device_end_ns[1] == 16 && !x->device_begin_ns[0]);
        assert_true(x[0].set == NETPROF_SET_FAST && x[1].set == NETPROF_SET_ALL);
        assert_memory_equal(x->values, values, sizeof values);
        assert_memory_equal(x->stamps_ns, stamps, sizeof stamps);
        assert_int_equal(x->status[4], NETPROF_STATUS_OK);
        assert_int_not_equal(x->status[0], NETPROF_STATUS_OK);
        dataset_free(&set);
    }
}

static void values_that_are_none(void **state)
{
    static const struct {
        const char *value;
        bool good;
        uint64_t number;
    } rows[] = {{"0", true, 0},
                {"\"0\"", true, 0},
                {"-1", true, UINT64_MAX},
                {"\"-9223372036854775808\"", true, (uint64_t)INT64_MIN},
                {"\"\"", false, 0},
                {"\"+5\"", false, 0},
                {"\" 5\"", false, 0},
                {"\"5 \"", false, 0},
                {"\"x\"", false, 0},
                {"1.0", false, 0},
                {"true", false, 0},
                {"[1]", false, 0},
                {"\"18446744073709551615\"", true, UINT64_MAX},
                {"\"18446744073709551616\"", false, 0},
                {"\"-9223372036854775809\"", false, 0},
                {"\"-\"", false, 0}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        dataset set = read_good(text_of(LINE("", SCHEMA, READING("%s")), rows[i].value));
        const netprof_snapshot *x = &set.runs[0].snapshots[0];
        expect_warnings(&set, rows[i].good ? "" : "0 d, counter a: expected a whole number\n");
        assert_int_equal(set.runs[0].complete, rows[i].good);
        assert_int_equal(x->status[0], rows[i].good ? NETPROF_STATUS_OK : NETPROF_STATUS_UNREADABLE);
        assert_int_equal(x->errnos[0], rows[i].good ? 0 : EBADMSG);
        assert_true(x->values[0] == rows[i].number);
        assert_int_equal(x->not_ok, !rows[i].good);
        assert_int_equal(x->values[1], 7);
        dataset_free(&set);
    }
}

// Each status by its name. A value stays only with those that have one; what was skipped is not counted.
static void why_values_are_not_there(void **state)
{
    (void)state;
    for (int status = 0; status <= NETPROF_STATUS_UNREADABLE; status++) {
        const char *name = netprof_status_name((netprof_status)status);
        dataset set =
            read_good(text_of(LINE("", SCHEMA,
                                   "{\"schema\":0,\"devices\":[{\"source\":\"s\",\"device\":\"d\",\"values\":{"
                                   "\"a\":6,\"b\":7},\"not_ok\":{\"a\":[\"%s\",2]}}]}"),
                              name));
        const netprof_snapshot *x = &set.runs[0].snapshots[0];
        bool keeps = status == NETPROF_STATUS_OK || status == NETPROF_STATUS_SATURATED;
        assert_int_equal(x->status[0], status);
        assert_int_equal(x->errnos[0], 2);
        assert_int_equal(x->values[0], keeps ? 6 : 0);
        assert_int_equal(x->not_ok, !keeps && status != NETPROF_STATUS_SKIPPED);
        dataset_free(&set);
    }
    dataset set = read_good(LINE("", SCHEMA,
                                 "{\"schema\":0,\"devices\":[{\"source\":\"s\",\"device\":\"d\",\"values\":{\"a\":null,"
                                 "\"x\":1},\"not_ok\":{\"b\":[],\"y\":[\"denied\"],\"a\":[\"no such\",300]}},"
                                 "{\"source\":\"s\",\"device\":\"e\"},{\"source\":\"x\",\"device\":\"d\"}]}"));
    const netprof_snapshot *x = &set.runs[0].snapshots[0];
    expect_warnings(&set, "0 d, counter x: not in the schema\n"
                          "0 d, counter b: expected a counter and [status, errno]\n"
                          "0 d, counter y: expected a counter and [status, errno]\n"
                          "0 device e of source s is not in the schema\n"
                          "0 device d of source x is not in the schema\n");
    assert_int_equal(x->status[0], NETPROF_STATUS_UNREADABLE);
    assert_int_equal(x->errnos[0], 0);
    assert_false(set.runs[0].complete);
    dataset_free(&set);
}

static void readings_of_no_schema(void **state)
{
    (void)state;
    dataset set =
        read_good("{\"format\":\"netprof\",\"version\":2,\"schemas\":[" SCHEMA "," SCHEMA "],\"snapshots\":["
                  "{\"schema\":2}," READING("4") ",{\"schema\":-1},{},{\"schema\":1}],"
                                                 "\"deltas\":[{\"schema\":1},{\"schema\":99},{\"schema\":\"0\"}]}");
    expect_warnings(&set, "0 snapshot 1: there is no schema 2\n"
                          "0 snapshot 3: expected an object with a \"schema\"\n"
                          "0 snapshot 4: expected an object with a \"schema\"\n"
                          "0 delta 2: there is no schema 99\n"
                          "0 delta 3: expected an object with a \"schema\"\n");
    assert_int_equal(set.runs[0].snapshot_count, 2);
    assert_int_equal(set.runs[0].delta_count, 1);
    assert_ptr_not_equal(set.runs[0].snapshots[0].schema, set.runs[0].snapshots[1].schema);
    assert_ptr_equal(set.runs[0].deltas[0].schema, set.runs[0].snapshots[1].schema);
    dataset_free(&set);
}

// ---- differences ----

static void members_of_differences(void **state)
{
    (void)state;
    for (int old = 0; old < 2; old++) {
        dataset set = read_good(text_of(
            "{\"format\":\"netprof\",\"version\":2,\"schemas\":[" TWO_DEVICES "],\"deltas\":[{\"schema\":0,"
            "\"%s\":21,\"%s\":22,\"%s\":23,\"sweep_ns\":24,\"stamp_error_ns\":25,\"devices\":["
            "{\"source\":\"t\",\"device\":\"d\",\"counters\":{"
            "\"c\":{\"before\":1,\"after\":\"4\",\"%s\":3,\"flag\":\"ok\",\"elapsed_ns\":26},"
            "\"a\":{\"before\":9,\"after\":null,\"flag\":\"gone\",\"after_status\":\"vanished\"},"
            "\"e\":{\"before\":\"x\",\"after\":8,\"%s\":\"y\",\"flag\":\"no such\",\"before_status\":\"denied\"},"
            "\"z\":{},\"c \":1}},"
            "{\"source\":\"s\",\"device\":\"d\",\"counters\":{\"b\":7}},{\"source\":\"s\",\"device\":\"d\"}]}]}",
            old ? "wall_begin_ns" : "begin_ns", old ? "wall_end_ns" : "end_ns", old ? "interval_ns" : "elapsed_ns",
            old ? "value" : "delta", old ? "value" : "delta"));
        const netprof_delta *d = &set.runs[0].deltas[0];
        static const uint8_t flags[] = {NETPROF_FLAG_UNKNOWN, NETPROF_FLAG_UNKNOWN, NETPROF_FLAG_GONE, NETPROF_FLAG_OK,
                                        NETPROF_FLAG_UNKNOWN};
        expect_warnings(&set, "0 d, counter z: expected a counter of the schema and its change\n"
                              "0 d, counter c : expected a counter of the schema and its change\n"
                              "0 d, counter b: expected a counter of the schema and its change\n");
        assert_true(d->wall_begin_ns == 21 && d->wall_end_ns == 22 && d->interval_ns == 23);
        assert_true(d->sweep_ns == 24 && d->stamp_error_ns == 25);
        assert_memory_equal(d->flags, flags, sizeof flags);
        assert_true(d->before[3] == 1 && d->after[3] == 4 && d->values[3] == 3 && d->elapsed_ns[3] == 26);
        assert_true(d->before_status[3] == NETPROF_STATUS_OK && d->after_status[3] == NETPROF_STATUS_OK);
        assert_true(d->before[2] == 9 && d->after[2] == 0 && d->values[2] == 0 && d->elapsed_ns[2] == 0);
        assert_true(d->before_status[2] == NETPROF_STATUS_OK && d->after_status[2] == NETPROF_STATUS_VANISHED);
        assert_true(d->after[4] == 8 && d->values[4] == 0 && d->before_status[4] == NETPROF_STATUS_DENIED);
        dataset_free(&set);
    }
    for (int flag = 0; flag <= NETPROF_FLAG_UNKNOWN; flag++) {
        dataset set = read_good(text_of("{\"format\":\"netprof\",\"version\":2,\"schemas\":[" SCHEMA "],\"deltas\":[{"
                                        "\"schema\":0,\"devices\":[{\"source\":\"s\",\"device\":\"d\",\"counters\":{"
                                        "\"b\":{\"flag\":\"%s\"}}}]}]}",
                                        netprof_flag_name((netprof_flag)flag)));
        assert_int_equal(set.runs[0].deltas[0].flags[1], flag);
        assert_int_equal(set.runs[0].deltas[0].before_status[1], NETPROF_STATUS_SKIPPED);
        dataset_free(&set);
    }
}

// ---- net_prof's ----

// Seconds with any number of digits; what is no time is none.
static void times_of_net_prof(void **state)
{
    static const struct {
        const char *time;
        int64_t ns;
    } rows[] = {{"5", 5000000000},
                {"5.5", 5500000000},
                {"5.000000001", 5000000001},
                {"5.1234567899", 5123456789},
                {"\"7.25\"", 7250000000},
                {"-1", 0},
                {"5e3", 0},
                {"5.5e3", 5500000000},
                {"null", 0},
                {"9223372035", INT64_C(9223372035000000000)},
                {"9223372036", 0},
                {"99999999999999999999", 0}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        dataset set =
            read_good(text_of("[{\"interface\":1,\"counter_name\":\"a\",\"value\":1,\"timestamp\":%s}]", rows[i].time));
        if (set.runs[0].snapshots[0].stamps_ns[0] != rows[i].ns)
            fail_msg("%s is %lld", rows[i].time, (long long)set.runs[0].snapshots[0].stamps_ns[0]);
        dataset_free(&set);
    }
}

// Whatever the order of the entries: interface by interface, and within one in their own order.
static void entries_by_interface(void **state)
{
    (void)state;
    dataset set =
        read_good("{\"meta\":{\"k\":\"v\",\"n\":1.5,\"none\":null},\"counters\":["
                  "{\"interface\":1048576,\"counter_name\":\"z\",\"value\":1},"
                  "{\"interface\":2,\"metric_name\":\"m\",\"value\":2,\"timestamp\":20},"
                  "{\"interface\":1,\"name\":\"hni_sts_tx_ok_octets\",\"value\":3,\"timestamp\":30},"
                  "{\"interface\":2,\"counter_name\":\"b\",\"metric_name\":\"x\",\"value\":4,\"timestamp\":10},"
                  "{\"interface\":1,\"counter_name\":\"\",\"name\":\"a\",\"value\":\"5\"}]}");
    const netprof_snapshot *x = &set.runs[0].snapshots[0];
    static const char *const names[] = {"hni_sts_tx_ok_octets", "a", "m", "b", "z"};
    static const uint64_t values[] = {3, 5, 2, 4, 1};
    assert_int_equal(x->schema->device_count, 3);
    assert_string_equal(x->schema->devices[0].name, "cxi0");
    assert_string_equal(x->schema->devices[1].name, "cxi1");
    assert_string_equal(x->schema->devices[2].name, "cxi1048575");
    assert_string_equal(x->schema->devices[2].source, "cxi");
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(x->schema->counters[i].name, names[i]);
        assert_int_equal(x->status[i], NETPROF_STATUS_OK);
    }
    assert_memory_equal(x->values, values, sizeof values);
    assert_true(x->begin_ns == 10 * INT64_C(1000000000) && x->end_ns == 30 * INT64_C(1000000000));
    assert_string_equal(x->schema->counters[0].unit, "bytes");
    assert_string_equal(dataset_fact(&set.runs[0], "k"), "v");
    assert_string_equal(dataset_fact(&set.runs[0], "n"), "1.5");
    assert_int_equal(set.runs[0].fact_count, 2);
    assert_true(set.runs[0].complete);
    dataset_free(&set);
}

// The line of an entry is that of its first character, whatever stands in the ones before it.
static void lines_of_entries(void **state)
{
    (void)state;
    dataset set =
        read_good("{\"meta\":{\"a\":[1,2],\"counters\":\"x\"},\"kind\":\"counters\",\n"
                  "\"counters\":[\n"
                  "{\"interface\":1,\"counter_name\":\"a]},\\\"\",\"value\":1,\"groups\":[\"x\",[2,{}]]},\n"
                  "\n"
                  "{\"interface\":0,\"counter_name\":\"b\",\n\"value\":1},\n"
                  "{\"interface\":1048577,\"counter_name\":\"c\",\"value\":1}, {\"interface\":1,\"value\":1}\n"
                  ",\n"
                  "{\"interface\":1,\"counter_name\":\"a]},\\\"\",\"value\":2},\n"
                  "5,{\"interface\":1,\"counter_name\":\"d\",\"value\":[3]},\n"
                  "{\"interface\":2,\"counter_name\":\"d\"}]}\n");
    static const char words[] = "5 counter 2 of the list: expected an interface, 1 for the first\n"
                                "7 counter 3 of the list: expected an interface, 1 for the first\n"
                                "7 counter 4 of the list: no counter_name\n"
                                "9 counter 5 of the list: there before\n"
                                "10 counter 6 of the list: no counter_name\n"
                                "10 counter 7 of the list: expected a whole value\n"
                                "11 counter 8 of the list: expected a whole value\n";
    expect_warnings(&set, words);
    assert_int_equal(set.runs[0].snapshots[0].schema->counter_count, 1);
    assert_int_equal(set.runs[0].snapshots[0].values[0], 1);
    assert_false(set.runs[0].complete);
    dataset_free(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(which_json_it_is),
        cmocka_unit_test(as_many_sources_as_there_may_be),
        cmocka_unit_test(documents_line_by_line),
        cmocka_unit_test(numbers_beyond_64_bits),
        cmocka_unit_test(what_is_between_and_behind),
        cmocka_unit_test(schemas_of_both_versions),
        cmocka_unit_test(members_of_counters),
        cmocka_unit_test(counters_without_a_name_of_their_own),
        cmocka_unit_test(times_and_stamps_of_readings),
        cmocka_unit_test(values_that_are_none),
        cmocka_unit_test(why_values_are_not_there),
        cmocka_unit_test(readings_of_no_schema),
        cmocka_unit_test(members_of_differences),
        cmocka_unit_test(times_of_net_prof),
        cmocka_unit_test(entries_by_interface),
        cmocka_unit_test(lines_of_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
