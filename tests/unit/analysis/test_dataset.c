// Reading what netprof and others wrote, whole and damaged.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/catalog/catalog.h"
#include "analysis/data/dataset.h"
#include "reference.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- material ----

// A text in memory that grows.
typedef struct text {
    char *data;
    size_t size, room;
} text;

static void make_room(text *t, size_t room)
{
    if (room <= t->room) return;
    t->data = realloc(t->data, room);
    assert_non_null(t->data);
    t->room = room;
}

static int append(void *user, const void *data, size_t size)
{
    text *t = user;
    make_room(t, t->size + size + 1);
    memcpy(t->data + t->size, data, size);
    t->size += size;
    t->data[t->size] = 0;
    return 0;
}

static void append_format(text *t, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (t->size + (size_t)n >= t->room) make_room(t, 2 * (t->size + (size_t)n + 1)); // many, and short
    assert_int_equal(append(t, line, (size_t)n), 0);
}

static netprof_err read_text(dataset *set, const char *data, size_t size, netprof_error *error)
{
    // A copy that ends where it ends: reading behind it is caught.
    char *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, data, size);
    netprof_err err = dataset_read_memory(set, "some/file", copy, size, NULL, error);
    free(copy);
    return err;
}

static void expect_error(const char *data, netprof_err code, const char *words)
{
    dataset set = {0};
    netprof_error error;
    assert_int_equal(read_text(&set, data, strlen(data), &error), code);
    assert_int_equal(error.code, code);
    assert_string_equal(error.path, "some/file");
    if (!strstr(error.text, words)) fail_msg("\"%s\" does not say \"%s\"", error.text, words);
    assert_int_equal(set.run_count, 0);
    dataset_free(&set);
}

static bool warned(const dataset *set, uint64_t line, const char *words)
{
    for (size_t i = 0; i < set->warning_count; i++)
        if (set->warnings[i].line == line && strstr(set->warnings[i].text, words)) return true;
    return false;
}

static uint64_t value_of(const netprof_snapshot *s, const char *device, const char *counter)
{
    size_t i = netprof_find(s->schema, NULL, device, counter);
    assert_true(i != NETPROF_NONE);
    assert_int_equal(s->status[i], NETPROF_STATUS_OK);
    return s->values[i];
}

// Telemetry text of so many NICs; the value of a line is its number.
static text telemetry(size_t lines)
{
    text t = {0};
    for (size_t i = 1; i <= lines; i++)
        append_format(&t, "%zu@1746204071.%09zu\n", i, i);
    return t;
}

// ---- kinds of files ----

static void recognises_by_content(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        dataset_format format;
    } rows[] = {{"", DATASET_UNKNOWN},
                {"hello", DATASET_UNKNOWN},
                {"12@34.000000000\n", DATASET_NET_PROF_TEXT},
                {"\r\n 12@34.000000000", DATASET_NET_PROF_TEXT},
                {"12@", DATASET_UNKNOWN},
                {"12", DATASET_UNKNOWN},
                {"{\"format\":\"netprof\",", DATASET_JSON},
                {"  [ {\"id\": 1", DATASET_NET_PROF_JSON},
                {"{\"meta\": {}", DATASET_NET_PROF_JSON}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(dataset_recognise(rows[i].text, strlen(rows[i].text)), rows[i].format);
    assert_string_equal(dataset_format_name(DATASET_NET_PROF_TEXT), "net_prof text");
}

static void says_what_is_wrong(void **state)
{
    (void)state;
    expect_error("", NETPROF_ERR_FORMAT, "empty");
    expect_error("hello\n", NETPROF_ERR_FORMAT, "expected a .netprof file");
    expect_error("{\"a\":\n1,\n}}", NETPROF_ERR_FORMAT, "expected \"format\"");
    expect_error("{nothing", NETPROF_ERR_PARSE, "line 1");
    expect_error("{}", NETPROF_ERR_FORMAT, "expected \"format\"");
    expect_error("[]", NETPROF_ERR_PARSE, "nothing usable");
    expect_error("{\"format\":\"netprof-diff\",\"version\":1}", NETPROF_ERR_FORMAT, "netprof-diff");
    expect_error("{\"format\":\"netprof\",\"version\":3}", NETPROF_ERR_VERSION, "version 3");
    expect_error("{\"format\":\"netprof\",\"version\":1}", NETPROF_ERR_PARSE, "nothing usable");

    dataset set = {0};
    netprof_error error;
    assert_int_equal(dataset_read(&set, "/no/such/file", NULL, &error), NETPROF_ERR_IO);
    assert_int_equal(error.sys_errno, ENOENT);
    assert_string_equal(error.path, "/no/such/file");
    dataset_options wild;
    memset(&wild, 0xa5, sizeof wild);
    assert_int_equal(dataset_read_memory(&set, "x", "1@1.000000000", 13, &wild, &error), NETPROF_ERR_ARG);
    dataset_free(&set);
    dataset_free(NULL);
}

// ---- net_prof's text ----

// Nothing is bound to eight NICs or to 1890 counters.
static void text_of_any_number_of_nics(void **state)
{
    (void)state;
    static const size_t nics[] = {1, 3, 12};
    for (size_t n = 0; n < sizeof nics / sizeof *nics; n++) {
        text t = telemetry(nics[n] * 1890);
        dataset set = {0};
        assert_int_equal(read_text(&set, t.data, t.size, NULL), NETPROF_OK);
        assert_int_equal(set.run_count, 1);
        assert_true(set.runs[0].complete);
        assert_int_equal(set.runs[0].format, DATASET_NET_PROF_TEXT);
        const netprof_snapshot *s = &set.runs[0].snapshots[0];
        assert_int_equal(s->schema->device_count, nics[n]);
        assert_string_equal(s->schema->devices[nics[n] - 1].name, nics[n] == 12  ? "cxi11"
                                                                  : nics[n] == 3 ? "cxi2"
                                                                                 : "cxi0");
        assert_true(s->schema->devices[0].flags & NETPROF_DEVICE_PHYSICAL);
        assert_int_equal(value_of(s, "cxi0", "atu_ats_dynamic_state_change_cntr"), 1);
        assert_int_equal(value_of(s, "cxi0", "atu_cache_evictions"), 17);
        size_t last = s->schema->counter_count - 1;
        assert_int_equal(s->values[last], nics[n] * 1890);
        assert_int_equal(s->stamps_ns[last], INT64_C(1746204071000000000) + (int64_t)(nics[n] * 1890));
        assert_int_equal(s->begin_ns, INT64_C(1746204071000000001));
        assert_int_equal(s->end_ns, s->stamps_ns[last]);
        assert_int_equal(s->wall_ns, s->begin_ns);
        assert_int_equal(s->not_ok, 0);
        assert_int_equal(set.warning_count, 0);
        dataset_free(&set);
        free(t.data);
    }
}

static void text_of_cassini_2(void **state)
{
    (void)state;
    text t = telemetry(2 * 1922);
    dataset set = {0};
    assert_int_equal(read_text(&set, t.data, t.size, NULL), NETPROF_OK);
    const netprof_snapshot *s = &set.runs[0].snapshots[0];
    assert_int_equal(s->schema->device_count, 2);
    assert_int_equal(s->schema->devices[1].count, 1922);
    assert_true(netprof_find(s->schema, "cxi", "cxi1", "hni_pcs_corrected_cw_bin_14") != NETPROF_NONE);
    assert_int_equal(set.warning_count, 0);
    dataset_free(&set);
    free(t.data);
}

static void text_knows_units_and_kinds(void **state)
{
    (void)state;
    text t = telemetry(1890);
    dataset set = {0};
    assert_int_equal(read_text(&set, t.data, t.size, NULL), NETPROF_OK);
    const netprof_schema *schema = set.runs[0].snapshots[0].schema;
    const netprof_counter *c = &schema->counters[netprof_find(schema, "cxi", "cxi0", "hni_sts_tx_ok_octets")];
    assert_string_equal(c->unit, "bytes");
    assert_int_equal(c->flags, NETPROF_FAST | NETPROF_STAMPED);
    c = &schema->counters[netprof_find(schema, "cxi", "cxi0", "lpe_sts_pe_le_alloc_num_allocated_0")];
    assert_int_equal(c->kind, NETPROF_KIND_GAUGE);
    dataset_free(&set);
    free(t.data);
}

// A file cut within a line of the third NIC: two whole NICs, what there is of the third, and a warning.
static void text_that_is_cut(void **state)
{
    (void)state;
    text t = telemetry(2 * 1890 + 100);
    dataset set = {0};
    t.size -= 5; // within the nanoseconds of the last line
    assert_int_equal(read_text(&set, t.data, t.size, NULL), NETPROF_OK);
    const netprof_snapshot *s = &set.runs[0].snapshots[0];
    size_t cut = 2 * 1890 + 99;
    assert_false(set.runs[0].complete);
    assert_int_equal(s->schema->device_count, 3);
    assert_int_equal(s->status[cut - 1], NETPROF_STATUS_OK);
    assert_int_equal(s->status[cut], NETPROF_STATUS_UNREADABLE);
    assert_int_equal(s->errnos[cut], EBADMSG);
    assert_int_equal(s->values[cut], 0);
    assert_int_equal(s->status[cut + 1], NETPROF_STATUS_ABSENT);
    assert_int_equal(s->not_ok, 1890 - 99);
    assert_true(warned(&set, cut + 1, "expected value@seconds.nanoseconds"));
    assert_true(warned(&set, cut + 1, "2 whole NICs and 100 lines"));
    dataset_free(&set);
    free(t.data);
}

// Every cut of a file is read or refused, and never reads on behind its end.
static void text_cut_anywhere(void **state)
{
    (void)state;
    text t = telemetry(3);
    for (size_t size = 0; size <= t.size; size++) {
        dataset set = {0};
        netprof_error error;
        netprof_err err = read_text(&set, t.data, size, &error);
        assert_int_equal(err, size < 3 ? NETPROF_ERR_FORMAT : NETPROF_OK);
        if (size >= 22) assert_int_equal(set.runs[0].snapshots[0].values[0], 1);
        dataset_free(&set);
    }
    free(t.data);
}

static void text_with_bad_lines(void **state)
{
    (void)state;
    static const char *const bad[] = {"abc",
                                      "5",
                                      "5@",
                                      "5@6",
                                      "5@6.1",
                                      "5@6.1234567890",
                                      "-5@6.000000000",
                                      "18446744073709551616@6.000000000",
                                      "5@99999999999999999999.000000000",
                                      "5@9223372036.000000000",
                                      "5@6.000000000x",
                                      " 5@6.000000000"};
    text t = {0};
    append_format(&t, "18446744073709551615@6.000000007\r\n");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        append_format(&t, "%s\n", bad[i]);
    append_format(&t, "9@6.000000009");
    dataset set = {0};
    assert_int_equal(read_text(&set, t.data, t.size, NULL), NETPROF_OK);
    const netprof_snapshot *s = &set.runs[0].snapshots[0];
    size_t n = sizeof bad / sizeof *bad;
    assert_true(s->values[0] == UINT64_MAX && s->status[0] == NETPROF_STATUS_OK);
    assert_int_equal(s->stamps_ns[0], INT64_C(6000000007));
    for (size_t i = 1; i <= n; i++) {
        assert_int_equal(s->status[i], NETPROF_STATUS_UNREADABLE);
        assert_true(warned(&set, i + 1, "expected"));
    }
    assert_int_equal(s->status[n + 1], NETPROF_STATUS_OK); // a bad line costs itself
    assert_int_equal(s->values[n + 1], 9);
    dataset_free(&set);
    free(t.data);
}

static void text_with_names_of_its_own(void **state)
{
    (void)state;
    char path[] = "/tmp/netprof-names-XXXXXX";
    int fd = mkstemp(path);
    static const char names[] = "-r--r--r-- 1 root root 4096 Jan 1 00:00 hni_sts_tx_ok_octets\n\nb,\"x\"\r\nc\n";
    assert_true(fd >= 0 && write(fd, names, sizeof names - 1) == (ssize_t)sizeof names - 1);
    close(fd);
    dataset set = {0};
    dataset_options options = {.names = path};
    static const char data[] =
        "1@1.000000000\n2@1.000000000\n3@1.000000000\n4@1.000000000\n5@1.000000000\n6@1.000000000\n";
    assert_int_equal(dataset_read_memory(&set, "t", data, sizeof data - 1, &options, NULL), NETPROF_OK);
    const netprof_snapshot *s = &set.runs[0].snapshots[0];
    assert_int_equal(s->schema->device_count, 2);
    assert_int_equal(value_of(s, "cxi1", "b,\"x\""), 5);
    assert_string_equal(s->schema->counters[0].unit, "bytes");
    dataset_free(&set);

    fd = open(path, O_WRONLY | O_TRUNC);
    assert_true(fd >= 0 && write(fd, "a\nb\na\n", 6) == 6);
    close(fd);
    netprof_error error;
    assert_int_equal(dataset_read_memory(&set, "t", data, sizeof data - 1, &options, &error), NETPROF_ERR_PARSE);
    assert_string_equal(error.path, path);
    assert_int_equal(error.offset, 3);
    dataset_free(&set);
    unlink(path);
}

static void text_of_the_reference(void **state)
{
    (void)state;
    const char *path = reference_file("aurora/before.txt");
    if (!path) return;
    dataset set = {0};
    assert_int_equal(dataset_read(&set, path, NULL, NULL), NETPROF_OK);
    const netprof_snapshot *s = &set.runs[0].snapshots[0];
    assert_int_equal(s->schema->device_count, 4);
    assert_int_equal(s->schema->counter_count, 4 * 1890);
    assert_int_equal(value_of(s, "cxi0", "atu_ats_dynamic_state_change_cntr"), 2036);
    assert_int_equal(s->stamps_ns[0], INT64_C(1746204071662953620));
    assert_int_equal(set.warning_count, 0);
    dataset_free(&set);
}

// ---- net_prof's JSON ----

static const char net_prof_json[] =
    "{\"meta\": {\"input_path\": \"/sys/class/cxi\", \"duration_s\": 0.56}, \"counters\": [\n"
    "{\"id\": 1, \"interface\": 2, \"counter_name\": \"hni_sts_tx_ok_octets\", \"value\": "
    "18446744073709551615,\n"
    " \"timestamp\": 1752853654.346846812, \"groups\": [\"UNGROUPED\"]},\n"
    "{\"id\": 1, \"interface\": 1, \"counter_name\": \"atu_cache_evictions\", \"value\": 7, \"timestamp\": "
    "null},\n"
    "{\"id\": 2, \"interface\": 1, \"counter_name\": \"hni_sts_tx_ok_octets\", \"value\": 8, \"timestamp\": "
    "3},\n"
    "{\"id\": 2, \"interface\": 1, \"counter_name\": \"hni_sts_tx_ok_octets\", \"value\": 9, \"timestamp\": "
    "3},\n"
    "{\"id\": 3, \"interface\": 0, \"counter_name\": \"x\", \"value\": 9, \"timestamp\": 3},\n"
    "{\"id\": 4, \"interface\": 1, \"value\": 9},\n"
    "{\"id\": 5, \"interface\": 1, \"counter_name\": \"y\", \"value\": 1.5},\n"
    "{\"id\": 6, \"interface\": 1, \"counter_name\": \"z\", \"value\": \"12\"}\n]}\n";

// What a whole file is not is said of no place in it.
static void json_of_another_program(void **state)
{
    static const char made[] = "{\"format\": \"other\", \"version\": 1}";
    dataset set = {0};
    netprof_error error;
    (void)state;
    assert_int_equal(read_text(&set, made, sizeof made - 1, &error), NETPROF_ERR_FORMAT);
    assert_string_equal(error.text, "JSON of format other; expected netprof's snapshots");
    assert_int_equal(error.offset, 0);
    dataset_free(&set);
}

// A word at its beginning does not make it netprof's: what its list holds does.
static void net_prof_json_of_a_host_with_that_name(void **state)
{
    static const char made[] =
        "{\"meta\": {\"input_path\": \"netprof-7\", \"netprof\": \"1\"}, \"counters\": ["
        "{\"id\": 1, \"interface\": 1, \"counter_name\": \"x\", \"value\": 5, \"timestamp\": 3}]}";
    (void)state;
    dataset set = {0};
    assert_int_equal(dataset_recognise(made, sizeof made - 1), DATASET_JSON); // at first sight
    assert_int_equal(read_text(&set, made, sizeof made - 1, NULL), NETPROF_OK);
    assert_int_equal(set.runs[0].format, DATASET_NET_PROF_JSON);
    assert_int_equal(value_of(&set.runs[0].snapshots[0], "cxi0", "x"), 5);
    dataset_free(&set);
}

static void net_prof_json_is_read(void **state)
{
    (void)state;
    dataset set = {0};
    assert_int_equal(read_text(&set, net_prof_json, sizeof net_prof_json - 1, NULL), NETPROF_OK);
    const dataset_run *run = &set.runs[0];
    const netprof_snapshot *s = &run->snapshots[0];
    assert_int_equal(run->format, DATASET_NET_PROF_JSON);
    assert_string_equal(dataset_fact(run, "input_path"), "/sys/class/cxi");
    assert_int_equal(s->schema->device_count, 2);
    assert_string_equal(s->schema->devices[0].name, "cxi0");
    assert_true(value_of(s, "cxi1", "hni_sts_tx_ok_octets") == UINT64_MAX);
    assert_int_equal(s->stamps_ns[netprof_find(s->schema, "cxi", "cxi1", "hni_sts_tx_ok_octets")],
                     INT64_C(1752853654346846812));
    assert_int_equal(value_of(s, "cxi0", "hni_sts_tx_ok_octets"), 8); // the first of two, as in net_prof
    assert_int_equal(value_of(s, "cxi0", "z"), 12);
    // A value without a time says nothing of when the others were read.
    assert_int_equal(s->begin_ns, INT64_C(3000000000));
    assert_int_equal(s->end_ns, INT64_C(1752853654346846812));
    assert_int_equal(s->device_begin_ns[0], INT64_C(3000000000));
    assert_int_equal(s->device_end_ns[0], INT64_C(3000000000));
    assert_true(warned(&set, 6, "counter 4 of the list: there before"));
    assert_true(warned(&set, 7, "counter 5 of the list: expected an interface"));
    assert_true(warned(&set, 8, "counter 6 of the list: no counter_name"));
    assert_true(warned(&set, 9, "counter 7 of the list: expected a whole value"));
    assert_int_equal(set.warning_count, 4);
    dataset_free(&set);

    // The list alone, as an earlier version wrote it.
    const char *list = strchr(net_prof_json, '[');
    assert_int_equal(read_text(&set, list, strlen(list) - 2, NULL), NETPROF_OK);
    assert_int_equal(value_of(&set.runs[0].snapshots[0], "cxi0", "atu_cache_evictions"), 7);
    dataset_free(&set);
}

// Wherever the file is cut: every entry before the cut is there.
static void net_prof_json_cut_anywhere(void **state)
{
    (void)state;
    const char *first = strchr(net_prof_json, ']') + 2, *second = strstr(first, "null},") + 5;
    for (size_t size = 1; size < sizeof net_prof_json - 1; size++) {
        dataset set = {0};
        netprof_error error;
        netprof_err err = read_text(&set, net_prof_json, size, &error);
        if (net_prof_json + size >= first) assert_int_equal(err, NETPROF_OK);
        if (net_prof_json + size >= second)
            assert_int_equal(value_of(&set.runs[0].snapshots[0], "cxi0", "atu_cache_evictions"), 7);
        if (err == NETPROF_OK && size < sizeof net_prof_json - 2) assert_false(set.runs[0].complete);
        dataset_free(&set);
    }
}

static void json_damaged_within(void **state)
{
    (void)state;
    static const char data[] = "[{\"interface\":1,\"counter_name\":\"a\",\"value\":1},\n"
                               "{\"interface\":1,\"counter_name\":\"b\",\"value\":2},\n"
                               "{\"interface\":1,\"counter_name\":\"c\" oops}]";
    dataset set = {0};
    assert_int_equal(read_text(&set, data, sizeof data - 1, NULL), NETPROF_OK);
    assert_int_equal(value_of(&set.runs[0].snapshots[0], "cxi0", "b"), 2);
    assert_true(warned(&set, 3, "what comes before was used"));
    dataset_free(&set);
}

static void json_is_bounded(void **state)
{
    (void)state;
    text t = {0};
    for (int i = 0; i < 100000; i++)
        append_format(&t, "[");
    dataset set = {0};
    netprof_error error;
    assert_int_equal(read_text(&set, t.data, t.size, &error), NETPROF_ERR_PARSE);
    free(t.data);
    // A number that does not fit is not taken silently for the largest one that does.
    static const char large[] = "[{\"interface\":1,\"counter_name\":\"a\",\"value\":1},"
                                "\n{\"interface\":1,\"counter_name\":\"b\",\"value\":18446744073709551616}]";
    assert_int_equal(read_text(&set, large, sizeof large - 1, NULL), NETPROF_OK);
    assert_true(warned(&set, 2, "beyond 64 bits"));
    dataset_free(&set);
}

// ---- netprof's own formats ----

// Two snapshots of two sources, with everything that a snapshot can hold, and their delta.
typedef struct sample {
    netprof_snapshot snapshots[2];
    netprof_delta delta;
} sample;

static void list_counter(netprof_list *list, const char *name, const char *unit, netprof_kind kind, unsigned flags,
                         uint8_t width)
{
    netprof_counter c = {.name = name, .unit = unit, .kind = (uint8_t)kind, .flags = (uint16_t)flags, .width = width};
    netprof_list_counter(list, &c);
}

static void make_sample(sample *s)
{
    const netprof_schema *schema;
    netprof_list *list = netprof_build_begin(NULL);
    memset(s, 0, sizeof *s);
    netprof_build_fact(list, "host", "node \"7\"\n");
    netprof_build_source(list, "cxi");
    netprof_list_device(list, "cxi0", 99, NETPROF_DEVICE_PHYSICAL);
    netprof_list_fact(list, "numa_node", "1");
    list_counter(list, "hni_sts_tx_ok_octets", "bytes", NETPROF_KIND_COUNTER, NETPROF_STAMPED | NETPROF_FAST, 56);
    list_counter(list, "mst_sts_num_req", "entries", NETPROF_KIND_GAUGE, NETPROF_STAMPED, 12);
    netprof_build_source(list, "rdma");
    netprof_list_state(list, NETPROF_STATUS_DENIED, EACCES, "/sys/class/infiniband");
    netprof_build_source(list, "user");
    netprof_list_device(list, "a,b\x01", 0, NETPROF_DEVICE_VIRTUAL);
    list_counter(list, "x\"y", "", NETPROF_KIND_COUNTER, NETPROF_SIGNED, 0);
    list_counter(list, "sticks", "errors", NETPROF_KIND_HISTOGRAM, NETPROF_SATURATES | NETPROF_SLOW_REFRESH, 8);
    list_counter(list, "denied", "packets", NETPROF_KIND_STATE, 0, 64);
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    for (uint64_t n = 0; n < 2; n++) {
        netprof_snapshot *p = &s->snapshots[n];
        assert_int_equal(netprof_snapshot_make(p, schema, NULL), NETPROF_OK);
        const uint64_t values[] = {(UINT64_C(1) << 55) + 1000 * n, 5 - n, (uint64_t)-3, 255, 0};
        const uint8_t status[] = {1, 1, 1, NETPROF_STATUS_SATURATED, NETPROF_STATUS_DENIED};
        memcpy(p->values, values, sizeof values);
        memcpy(p->status, status, sizeof status);
        p->errnos[4] = EACCES;
        p->not_ok = 1;
        p->begin_ns = (int64_t)(1000000000 + n * 2000000000);
        p->end_ns = p->begin_ns + 5000;
        p->wall_ns = INT64_C(1746204071000000000) + p->begin_ns;
        p->stamps_ns[0] = p->wall_ns + 17;
        p->stamps_ns[1] = p->wall_ns + 23;
        for (size_t d = 0; d < 2; d++) {
            p->device_begin_ns[d] = p->begin_ns + (int64_t)d * 100;
            p->device_end_ns[d] = p->begin_ns + (int64_t)d * 100 + 50;
        }
    }
    netprof_schema_release(schema);
    assert_int_equal(netprof_diff(&s->snapshots[0], &s->snapshots[1], NULL, &s->delta, NULL), NETPROF_OK);
}

static void free_sample(sample *s)
{
    netprof_snapshot_free(&s->snapshots[0]);
    netprof_snapshot_free(&s->snapshots[1]);
    netprof_delta_free(&s->delta);
}

static void same_schema(const netprof_schema *a, const netprof_schema *b)
{
    assert_int_equal(a->device_count, b->device_count);
    assert_int_equal(a->counter_count, b->counter_count);
    assert_int_equal(a->source_count, b->source_count);
    assert_int_equal(a->fact_count, b->fact_count);
    for (size_t i = 0; i < a->source_count; i++) {
        assert_string_equal(a->sources[i].name, b->sources[i].name);
        assert_string_equal(a->sources[i].path, b->sources[i].path);
        assert_int_equal(a->sources[i].status, b->sources[i].status);
        assert_int_equal(a->sources[i].sys_errno, b->sources[i].sys_errno);
        assert_int_equal(a->sources[i].device_count, b->sources[i].device_count);
    }
    for (size_t i = 0; i < a->device_count; i++) {
        const netprof_device *x = &a->devices[i], *y = &b->devices[i];
        assert_string_equal(x->name, y->name);
        assert_string_equal(x->source, y->source);
        assert_true(x->identity == y->identity && x->flags == y->flags && x->count == y->count);
        assert_int_equal(x->fact_count, y->fact_count);
        for (size_t f = 0; f < x->fact_count; f++)
            assert_string_equal(x->facts[f].value, y->facts[f].value);
    }
    for (size_t i = 0; i < a->counter_count; i++) {
        const netprof_counter *x = &a->counters[i], *y = &b->counters[i];
        assert_string_equal(x->name, y->name);
        assert_string_equal(x->unit, y->unit);
        assert_true(x->kind == y->kind && x->flags == y->flags && x->width == y->width && x->scale == y->scale);
    }
}

static void same_snapshot(const netprof_snapshot *a, const netprof_snapshot *b)
{
    size_t n = a->schema->counter_count, d = a->schema->device_count;
    same_schema(a->schema, b->schema);
    assert_memory_equal(a->values, b->values, n * sizeof *a->values);
    assert_memory_equal(a->status, b->status, n);
    assert_memory_equal(a->errnos, b->errnos, n);
    assert_memory_equal(a->stamps_ns, b->stamps_ns, n * sizeof *a->stamps_ns);
    assert_memory_equal(a->device_begin_ns, b->device_begin_ns, d * sizeof *a->device_begin_ns);
    assert_memory_equal(a->device_end_ns, b->device_end_ns, d * sizeof *a->device_end_ns);
    assert_int_equal(a->begin_ns, b->begin_ns);
    assert_int_equal(a->end_ns, b->end_ns);
    assert_int_equal(a->wall_ns, b->wall_ns);
    assert_int_equal(a->set, b->set);
    assert_int_equal(a->not_ok, b->not_ok);
}

static void same_delta(const netprof_delta *a, const netprof_delta *b)
{
    size_t n = a->schema->counter_count;
    same_schema(a->schema, b->schema);
    assert_memory_equal(a->before, b->before, n * sizeof *a->before);
    assert_memory_equal(a->after, b->after, n * sizeof *a->after);
    assert_memory_equal(a->values, b->values, n * sizeof *a->values);
    assert_memory_equal(a->elapsed_ns, b->elapsed_ns, n * sizeof *a->elapsed_ns);
    assert_memory_equal(a->flags, b->flags, n);
    assert_memory_equal(a->before_status, b->before_status, n);
    assert_memory_equal(a->after_status, b->after_status, n);
    assert_true(a->interval_ns == b->interval_ns && a->sweep_ns == b->sweep_ns);
    assert_true(a->wall_begin_ns == b->wall_begin_ns && a->wall_end_ns == b->wall_end_ns);
}

static void same_run(const sample *s, const dataset *set)
{
    const dataset_run *run = &set->runs[0];
    assert_int_equal(set->warning_count, 0);
    assert_true(run->complete);
    assert_string_equal(run->host, "node \"7\"\n");
    assert_string_equal(dataset_fact(run, "command"), "mpirun \"a b\"");
    assert_int_equal(run->snapshot_count, 2);
    assert_int_equal(run->delta_count, 1);
    same_snapshot(&s->snapshots[0], &run->snapshots[0]);
    same_snapshot(&s->snapshots[1], &run->snapshots[1]);
    same_delta(&s->delta, &run->deltas[0]);
}

static text json_of_sample(const sample *s, int u64_strings)
{
    text t = {0};
    netprof_fact fact = {"command", "mpirun \"a b\""};
    netprof_json what = {&fact, 1, s->snapshots, 2, &s->delta, 1, u64_strings};
    assert_int_equal(netprof_write_json(&what, append, &t, NULL), NETPROF_OK);
    return t;
}

static text netprof_of_sample(const sample *s)
{
    text t = {0};
    netprof_writer *writer;
    assert_int_equal(netprof_writer_open_fn(&writer, append, &t, NULL), NETPROF_OK);
    assert_int_equal(netprof_write_fact(writer, "command", "mpirun \"a b\"", NULL), NETPROF_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(netprof_write_snapshot(writer, &s->snapshots[i], NULL), NETPROF_OK);
    assert_int_equal(netprof_write_delta(writer, &s->delta, NULL), NETPROF_OK);
    assert_int_equal(netprof_writer_close(writer, 1, NULL), NETPROF_OK);
    return t;
}

static void json_holds_everything(void **state)
{
    (void)state;
    sample s;
    make_sample(&s);
    for (int strings = 0; strings < 2; strings++) {
        text t = json_of_sample(&s, strings);
        dataset set = {0};
        assert_int_equal(read_text(&set, t.data, t.size, NULL), NETPROF_OK);
        assert_int_equal(set.runs[0].format, DATASET_JSON);
        same_run(&s, &set);
        dataset_free(&set);
        free(t.data);
    }
    free_sample(&s);
}

static void netprof_file_holds_everything(void **state)
{
    (void)state;
    sample s;
    make_sample(&s);
    text t = netprof_of_sample(&s);
    dataset set = {0};
    assert_int_equal(read_text(&set, t.data, t.size, NULL), NETPROF_OK);
    assert_int_equal(set.runs[0].format, DATASET_NETPROF);
    same_run(&s, &set);
    dataset_free(&set);
    free(t.data);
    free_sample(&s);
}

// Each cut is refused or says that it is incomplete; what was whole is whole.
static void own_formats_cut_anywhere(void **state)
{
    (void)state;
    sample s;
    make_sample(&s);
    text texts[] = {json_of_sample(&s, 0), netprof_of_sample(&s)};
    for (size_t f = 0; f < 2; f++) {
        size_t most = 0;
        for (size_t size = 0; size < texts[f].size; size++) {
            dataset set = {0};
            netprof_error error;
            netprof_err err = read_text(&set, texts[f].data, size, &error);
            if (!err && set.runs[0].complete && size + 2 < texts[f].size) fail_msg("cut at %zu seems complete", size);
            if (!err && set.runs[0].snapshot_count == 2) same_snapshot(&s.snapshots[0], &set.runs[0].snapshots[0]);
            if (!err && set.runs[0].snapshot_count > most) most = set.runs[0].snapshot_count;
            if (!err) assert_true(set.runs[0].snapshot_count >= most);
            dataset_free(&set);
        }
        assert_int_equal(most, 2);
        free(texts[f].data);
    }
    free_sample(&s);
}

static void json_that_does_not_fit_together(void **state)
{
    (void)state;
    static const char data[] =
        "{\"format\":\"netprof\",\"version\":1,\"facts\":{\"a\":null},\"schemas\":[{\"sources\":[7],"
        "\"devices\":[\n"
        "{\"source\":\"s\",\"name\":\"d\",\"counters\":[{\"name\":\"c\",\"width\":99,\"kind\":\"what\","
        "\"flags\":[1,null]},"
        "{\"name\":\"c\"},{},3]},\n{\"source\":\"t\",\"name\":\"d\",\"counters\":[{\"name\":\"c\"}]}]}],\n"
        "\"snapshots\":[{\"schema\":3},{\"schema\":0,\"devices\":[{\"device\":\"none\",\"source\":\"s\"},\n"
        "{\"device\":\"d\",\"source\":\"t\",\"values\":{\"c\":5,\"x\":1},\"stamps_ns\":[\"x\"],\"not_ok\":{"
        "\"c\":3}},"
        "{\"device\":\"d\",\"source\":\"s\",\"values\":{\"c\":\"five\"},\"not_ok\":{\"y\":[]}}]}, "
        "5],\"deltas\":[1]}";
    dataset set = {0};
    assert_int_equal(read_text(&set, data, sizeof data - 1, NULL), NETPROF_OK);
    assert_false(set.runs[0].complete);
    assert_true(warned(&set, 0, "snapshot 1: there is no schema 3"));
    assert_true(warned(&set, 0, "snapshot 3: expected an object"));
    assert_true(warned(&set, 0, "delta 1: expected an object"));
    assert_int_equal(set.runs[0].snapshot_count, 1);
    assert_int_equal(set.runs[0].delta_count, 0);
    assert_true(warned(&set, 0, "has the name of another one"));
    assert_true(warned(&set, 0, "device none of source s is not in the schema"));
    assert_true(warned(&set, 0, "counter x: not in the schema"));
    assert_true(warned(&set, 0, "counter c: expected a whole number"));
    const netprof_snapshot *s = &set.runs[0].snapshots[0];
    assert_int_equal(s->schema->counter_count, 2);
    assert_int_equal(s->values[netprof_find(s->schema, "t", "d", "c")], 5);
    assert_int_equal(s->status[netprof_find(s->schema, "s", "d", "c")], NETPROF_STATUS_UNREADABLE);
    dataset_free(&set);
}

// An errno fits into a byte; 269 is no 13.
static void json_with_errnos_that_are_none(void **state)
{
    (void)state;
    static const char data[] =
        "{\"format\":\"netprof\",\"version\":1,\"schemas\":[{\"devices\":[{\"source\":\"s\",\"name\":\"d\","
        "\"counters\":[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"},{\"name\":\"d\"}]}]}],"
        "\"snapshots\":[{\"schema\":0,\"devices\":[{\"device\":\"d\",\"source\":\"s\","
        "\"not_ok\":{\"a\":[\"denied\",13],\"b\":[\"denied\",269],\"c\":[\"denied\",-1],\"d\":[\"denied\",\"13\"]}}]}]"
        "}";
    static const uint8_t expected[] = {13, 0, 0, 0};
    dataset set = {0};
    assert_int_equal(read_text(&set, data, sizeof data - 1, NULL), NETPROF_OK);
    const netprof_snapshot *s = &set.runs[0].snapshots[0];
    assert_int_equal(s->schema->counter_count, 4);
    assert_memory_equal(s->errnos, expected, sizeof expected);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(s->status[i], netprof_status_of_errno(13));
    dataset_free(&set);
}

static void ends_only(void **state)
{
    (void)state;
    sample s;
    text t = {0};
    netprof_writer *writer;
    make_sample(&s);
    assert_int_equal(netprof_writer_open_fn(&writer, append, &t, NULL), NETPROF_OK);
    for (uint64_t i = 0; i < 20; i++) {
        s.snapshots[0].values[0] = i;
        assert_int_equal(netprof_write_snapshot(writer, &s.snapshots[0], NULL), NETPROF_OK);
    }
    assert_int_equal(netprof_writer_close(writer, 1, NULL), NETPROF_OK);
    dataset set = {0};
    dataset_options options = {.ends_only = 1};
    assert_int_equal(dataset_read_memory(&set, "t", t.data, t.size, &options, NULL), NETPROF_OK);
    assert_int_equal(set.runs[0].snapshot_count, 2);
    assert_int_equal(set.runs[0].skipped, 18);
    assert_int_equal(set.runs[0].snapshots[0].values[0], 0);
    assert_int_equal(set.runs[0].snapshots[1].values[0], 19);

    // Without it all, in a second run of the same set; with little memory as many as fit.
    assert_int_equal(dataset_read_memory(&set, "u", t.data, t.size, NULL, NULL), NETPROF_OK);
    assert_int_equal(set.run_count, 2);
    assert_int_equal(set.runs[1].snapshot_count, 20);
    assert_string_equal(set.runs[1].path, "u");
    dataset_free(&set);
    free(t.data);
    free_sample(&s);
}

// A file of two schemas, a snapshot of one among each ten of the other, in several chains.
static text file_of_chains(const sample *s, size_t count)
{
    text t = {0};
    netprof_writer *writer;
    const netprof_schema *schema;
    netprof_snapshot a = NETPROF_ZERO, b = NETPROF_ZERO;
    netprof_list *list = netprof_build_begin(NULL);
    netprof_build_source(list, "user");
    netprof_list_device(list, "other", 0, NETPROF_DEVICE_VIRTUAL);
    list_counter(list, "x", "", NETPROF_KIND_COUNTER, 0, 64);
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    assert_int_equal(netprof_snapshot_make(&b, schema, NULL), NETPROF_OK);
    netprof_schema_release(schema);
    b.status[0] = NETPROF_STATUS_OK;
    assert_int_equal(netprof_snapshot_copy(&a, &s->snapshots[0], NULL), NETPROF_OK);
    assert_int_equal(netprof_writer_open_fn(&writer, append, &t, NULL), NETPROF_OK);
    for (size_t i = 0; i < count; i++) {
        netprof_snapshot *p = i % 10 == 5 ? &b : &a;
        p->values[0] = 1000 + i * i;
        assert_int_equal(netprof_write_snapshot(writer, p, NULL), NETPROF_OK);
        a.begin_ns = b.begin_ns = (int64_t)i * 1000000;
    }
    assert_int_equal(netprof_writer_close(writer, 1, NULL), NETPROF_OK);
    netprof_snapshot_free(&a);
    netprof_snapshot_free(&b);
    return t;
}

// The ends are those of all that can be read, and as much is told of damage.
static void same_ends(const char *data, size_t size)
{
    dataset all = {0}, ends = {0};
    netprof_err err = dataset_read_memory(&all, "t", data, size, NULL, NULL);
    assert_int_equal(dataset_read_memory(&ends, "t", data, size, &(dataset_options){.ends_only = 1}, NULL), err);
    assert_int_equal(ends.run_count, all.run_count);
    assert_int_equal(ends.warning_count, all.warning_count);
    for (size_t i = 0; i < all.warning_count; i++) {
        assert_string_equal(ends.warnings[i].text, all.warnings[i].text);
        assert_int_equal(ends.warnings[i].offset, all.warnings[i].offset);
    }
    for (size_t i = 0; i < all.run_count; i++) {
        const dataset_run *x = &all.runs[i], *y = &ends.runs[i];
        assert_int_equal(y->complete, x->complete);
        assert_int_equal(y->snapshot_count, x->snapshot_count < 2 ? x->snapshot_count : 2);
        assert_int_equal(y->skipped + y->snapshot_count, x->snapshot_count);
        if (!x->snapshot_count) continue;
        same_snapshot(&y->snapshots[0], &x->snapshots[0]);
        same_snapshot(&y->snapshots[y->snapshot_count - 1], &x->snapshots[x->snapshot_count - 1]);
    }
    dataset_free(&all);
    dataset_free(&ends);
}

static void ends_of_damaged_files(void **state)
{
    (void)state;
    sample s;
    make_sample(&s);
    text t = file_of_chains(&s, 230);
    same_ends(t.data, t.size);
    for (size_t at = 5; at < t.size; at += 61) {
        t.data[at] ^= 16;
        same_ends(t.data, t.size);
        t.data[at] ^= 16;
        same_ends(t.data, at);
    }
    // Put behind one another, the first one cut.
    text both = {0};
    append(&both, t.data, t.size / 2);
    append(&both, t.data, t.size);
    same_ends(both.data, both.size);
    free(both.data);
    free(t.data);
    free_sample(&s);
}

static uint32_t crc_of_chunk(const unsigned char *chunk, size_t size)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        if (i >= 8 && i < 12) continue; // where it stands
        crc ^= chunk[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

static void put_number(unsigned char *to, size_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(value >> 8 * i);
}

// A last snapshot whose checksum is right, and which holds a byte too many: the end is the one before it, of another chain.
static void an_end_that_does_not_decode(void **state)
{
    (void)state;
    sample s;
    text t = {0}, file = {0};
    netprof_writer *writer;
    make_sample(&s);
    assert_int_equal(netprof_writer_open_fn(&writer, append, &t, NULL), NETPROF_OK);
    for (uint64_t i = 0; i <= 128; i++) { // chains of 64: the last begins one
        s.snapshots[0].values[0] = 7 * i;
        assert_int_equal(netprof_write_snapshot(writer, &s.snapshots[0], NULL), NETPROF_OK);
    }
    assert_int_equal(netprof_writer_close(writer, 1, NULL), NETPROF_OK);
    size_t last = 0, size = 0;
    for (size_t at = 16; at < t.size; at += size) {
        unsigned char *p = (unsigned char *)t.data + at;
        size = 12 + ((size_t)p[4] | (size_t)p[5] << 8 | (size_t)p[6] << 16);
        if (memcmp(p, "STEP", 4) == 0) last = at;
        if (memcmp(p, "END ", 4) != 0) continue;
        append(&file, t.data, at);
        append(&file, "", 1);
        unsigned char *step = (unsigned char *)file.data + last;
        put_number(step + 4, at - last - 12 + 1);
        put_number(step + 8, crc_of_chunk(step, at - last + 1));
        append(&file, p, size);
    }
    same_ends(file.data, file.size);
    dataset set = {0};
    assert_int_equal(dataset_read_memory(&set, "t", file.data, file.size, &(dataset_options){.ends_only = 1}, NULL),
                     NETPROF_OK);
    assert_int_equal(set.runs[0].snapshots[1].values[0], 7 * 127);
    assert_int_equal(set.warning_count, 1);
    assert_non_null(strstr(set.warnings[0].text, "does not decode"));
    dataset_free(&set);
    free(file.data);
    free(t.data);
    free_sample(&s);
}

static void many_warnings_are_counted(void **state)
{
    (void)state;
    text t = {0};
    append_format(&t, "1@1.000000000\n");
    for (int i = 0; i < 1800; i++)
        append_format(&t, "bad\n");
    dataset set = {0};
    assert_int_equal(read_text(&set, t.data, t.size, NULL), NETPROF_OK);
    assert_int_equal(set.warning_count, 1000);
    assert_int_equal(set.warnings_dropped, 801); // 1800 lines and the wrong number of them
    dataset_free(&set);
    free(t.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recognises_by_content),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(text_of_any_number_of_nics),
        cmocka_unit_test(text_of_cassini_2),
        cmocka_unit_test(text_knows_units_and_kinds),
        cmocka_unit_test(text_that_is_cut),
        cmocka_unit_test(text_cut_anywhere),
        cmocka_unit_test(text_with_bad_lines),
        cmocka_unit_test(text_with_names_of_its_own),
        cmocka_unit_test(text_of_the_reference),
        cmocka_unit_test(net_prof_json_is_read),
        cmocka_unit_test(net_prof_json_of_a_host_with_that_name),
        cmocka_unit_test(json_of_another_program),
        cmocka_unit_test(net_prof_json_cut_anywhere),
        cmocka_unit_test(json_damaged_within),
        cmocka_unit_test(json_is_bounded),
        cmocka_unit_test(json_holds_everything),
        cmocka_unit_test(netprof_file_holds_everything),
        cmocka_unit_test(own_formats_cut_anywhere),
        cmocka_unit_test(json_that_does_not_fit_together),
        cmocka_unit_test(json_with_errnos_that_are_none),
        cmocka_unit_test(ends_only),
        cmocka_unit_test(ends_of_damaged_files),
        cmocka_unit_test(an_end_that_does_not_decode),
        cmocka_unit_test(many_warnings_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
