// One data set in every format, there and back.
#define _GNU_SOURCE // memmem
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/data/convert.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct text {
    char *data;
    size_t size;
} text;

static int append(void *user, const void *data, size_t size)
{
    text *t = user;
    t->data = realloc(t->data, t->size + size + 1);
    if (!t->data) return ENOMEM;
    memcpy(t->data + t->size, data, size);
    t->size += size;
    t->data[t->size] = 0;
    return 0;
}

static int refuse(void *user, const void *data, size_t size)
{
    (void)user;
    (void)data;
    (void)size;
    return ENOSPC;
}

// Two NICs and an interface with names that need quoting.
static const char sample[] = "{\"format\":\"netprof\",\"version\":1,\"facts\":{\"host\":\"a,b\"},\"schemas\":"
                             "[{\"facts\":{},\"sources\":[],\"devices\":["
                             "{\"source\":\"cxi\",\"name\":\"cxi0\",\"physical\":true,\"counters\":[{"
                             "\"name\":\"atu_cache_miss_0\",\"unit\":\"lookups\","
                             "\"width\":56,\"flags\":[\"stamped\"]},{\"name\":\"a_first\",\"unit\":\"\","
                             "\"kind\":\"gauge\"},{\"name\":\"rh:nacks\"}]},"
                             "{\"source\":\"netdev\",\"name\":\"e\\\"t\\n0\",\"counters\":[{\"name\":\" "
                             "x\",\"unit\":\"bytes\",\"flags\":[\"signed\"]},"
                             "{\"name\":\"gone\",\"unit\":\"=1+1\"},{\"name\":\"not asked\"}]}]}],"
                             "\"snapshots\":[{\"schema\":0,\"set\":\"all\",\"begin_ns\":5,\"end_ns\":1000005,"
                             "\"wall_ns\":1752853654306115000,\"devices\":["
                             "{\"device\":\"cxi0\",\"source\":\"cxi\",\"values\":{\"atu_cache_miss_0\":"
                             "18446744073709551615,\"a_first\":3,\"rh:nacks\":1},"
                             "\"stamps_ns\":[1752853654346846812,0,0]},"
                             "{\"device\":\"e\\\"t\\n0\",\"source\":\"netdev\",\"values\":{\" "
                             "x\":-7,\"gone\":null},\"not_ok\":{\"gone\":[\"denied\",13]}}]}]}";

static dataset read_sample(void)
{
    dataset set = {0};
    assert_int_equal(dataset_read_memory(&set, "sample.json", sample, sizeof sample - 1, NULL, NULL), NETPROF_OK);
    assert_int_equal(set.warning_count, 0);
    return set;
}

static text converted(const dataset *set, convert_format format, const convert_options *options)
{
    text t = {0};
    netprof_error error = {0};
    if (convert_write(set, format, options, append, &t, &error)) fail_msg("%s", error.text);
    return t;
}

static void formats_have_names(void **state)
{
    (void)state;
    assert_int_equal(convert_format_of_path("a/b.netprof"), CONVERT_NETPROF);
    assert_int_equal(convert_format_of_path("B.JSON"), CONVERT_JSON);
    assert_int_equal(convert_format_of_path("x.csv"), CONVERT_CSV);
    assert_int_equal(convert_format_of_path(".csv"), CONVERT_UNKNOWN);
    assert_int_equal(convert_format_of_path("csv"), CONVERT_UNKNOWN);
    assert_int_equal(convert_format_named("net_prof"), CONVERT_NET_PROF_JSON);
    assert_int_equal(convert_format_named("xml"), CONVERT_UNKNOWN);
}

// What a spreadsheet would take for a formula is guarded.
static void csv_is_long_and_quoted(void **state)
{
    (void)state;
    dataset set = read_sample();
    text t = converted(&set, CONVERT_CSV, NULL);
    assert_string_equal(t.data,
                        "host,source,device,counter,unit,kind,snapshot,time_ns,stamp_ns,value,status\r\n"
                        "\"a,b\",cxi,cxi0,atu_cache_miss_0,lookups,counter,1,1752853654306115000,1752853654346846812,"
                        "18446744073709551615,ok\r\n"
                        "\"a,b\",cxi,cxi0,a_first,,gauge,1,1752853654306115000,,3,ok\r\n"
                        "\"a,b\",cxi,cxi0,rh:nacks,,counter,1,1752853654306115000,,1,ok\r\n"
                        "\"a,b\",netdev,\"e\"\"t\n0\",\" x\",bytes,counter,1,1752853654306115000,,-7,ok\r\n"
                        "\"a,b\",netdev,\"e\"\"t\n0\",gone,\"'=1+1\",counter,1,1752853654306115000,,,denied\r\n");
    free(t.data);
    dataset_free(&set);
}

static json_object *entry(json_object *root, size_t i)
{
    json_object *list;
    assert_true(json_object_object_get_ex(root, "counters", &list));
    return json_object_array_get_idx(list, i);
}

static const char *in_entry(json_object *object, const char *key)
{
    json_object *value;
    if (!json_object_object_get_ex(object, key, &value)) fail_msg("no %s", key);
    return json_object_get_string(value);
}

// Names of document version 1 are read for one version: the same readings under both give the same file.
static void old_names_are_read(void **state)
{
    (void)state;
#define DOCUMENT(VERSION, SOURCE, DEVICE, COUNTER, WIDTH, PATH, BEGIN, END, TIME, FROM, TO, ELAPSED, DELTA)            \
    "{\"format\":\"netprof\",\"version\":" VERSION                                                                     \
    ",\"facts\":{\"host\":\"h\"},\"schemas\":[{\"facts\":{},\"sources\":["                                             \
    "{\"" SOURCE "\":\"cxi\",\"status\":\"denied\",\"errno\":13,\"" PATH                                               \
    "\":\"/sys/x\"}],\"devices\":[{\"source\":\"cxi\",\"" DEVICE "\":\"cxi0\",\"counters\":[{\"" COUNTER               \
    "\":\"c\",\"unit\":\"bytes\",\"" WIDTH "\":56}]}]}],\"snapshots\":["                                               \
    "{\"schema\":0,\"set\":\"all\",\"" BEGIN "\":5,\"" END "\":8,\"" TIME "\":1700000000000000000,\"devices\":["       \
    "{\"device\":\"cxi0\",\"source\":\"cxi\",\"" BEGIN "\":6,\"" END "\":7,\"values\":{\"c\":3}}]}],\"deltas\":["      \
    "{\"schema\":0,\"" FROM "\":11,\"" TO "\":22,\"" ELAPSED "\":11,\"sweep_ns\":1,\"devices\":[{\"device\":\"cxi0\"," \
    "\"source\":\"cxi\",\"counters\":{\"c\":{\"before\":3,\"after\":5,\"" DELTA                                        \
    "\":2,\"flag\":\"ok\",\"elapsed_ns\":9}}}]}]}"
    static const char *const documents[] = {DOCUMENT("1", "name", "name", "name", "width", "path", "begin_ns", "end_ns",
                                                     "wall_ns", "wall_begin_ns", "wall_end_ns", "interval_ns", "value"),
                                            DOCUMENT("2", "source", "device", "counter", "width_bits", "source_path",
                                                     "monotonic_begin_ns", "monotonic_end_ns", "time_ns", "begin_ns",
                                                     "end_ns", "elapsed_ns", "delta")};
    text files[2];
    for (int i = 0; i < 2; i++) {
        dataset set = {0};
        assert_int_equal(dataset_read_memory(&set, "j", documents[i], strlen(documents[i]), NULL, NULL), NETPROF_OK);
        assert_int_equal(set.warning_count, 0);
        const netprof_snapshot *x = &set.runs[0].snapshots[0];
        const netprof_delta *d = &set.runs[0].deltas[0];
        assert_string_equal(x->schema->sources[0].name, "cxi");
        assert_string_equal(x->schema->sources[0].path, "/sys/x");
        assert_string_equal(x->schema->devices[0].name, "cxi0");
        assert_string_equal(x->schema->counters[0].name, "c");
        assert_int_equal(x->schema->counters[0].width, 56);
        assert_int_equal(x->begin_ns, 5);
        assert_int_equal(x->end_ns, 8);
        assert_int_equal(x->wall_ns, INT64_C(1700000000000000000));
        assert_int_equal(x->device_begin_ns[0], 6);
        assert_int_equal(x->device_end_ns[0], 7);
        assert_int_equal(d->wall_begin_ns, 11);
        assert_int_equal(d->wall_end_ns, 22);
        assert_int_equal(d->interval_ns, 11);
        assert_int_equal(d->values[0], 2);
        files[i] = converted(&set, CONVERT_JSON, NULL);
        dataset_free(&set);
    }
    assert_string_equal(files[0].data, files[1].data);
    assert_null(strstr(files[0].data, "wall_ns"));
    for (int i = 0; i < 2; i++)
        free(files[i].data);
#undef DOCUMENT
}

// A byte that is no UTF-8, an overlong slash and half a surrogate pair become U+FFFD each byte, in every text format;
// a character of two bytes stays. The binary format keeps the bytes.
static void what_is_no_utf8_is_replaced_everywhere(void **state)
{
    (void)state;
#define BAD                                                                                                            \
    "\xff"                                                                                                             \
    "a\xc3\xa9\xc0\xaf\xed\xa0\x80"
#define FFFD "\xef\xbf\xbd"
#define GOOD FFFD "a\xc3\xa9" FFFD FFFD FFFD FFFD FFFD
    static const char hostile[] =
        "{\"format\":\"netprof\",\"version\":1,\"facts\":{\"host\":\"h\"},\"schemas\":"
        "[{\"facts\":{},\"sources\":[],\"devices\":[{\"source\":\"cxi\",\"name\":\"cxi0\",\"physical\":true,"
        "\"counters\":[{\"name\":\"" BAD "\",\"unit\":\"\"}]}]}],\"snapshots\":[{\"schema\":0,\"set\":\"all\","
        "\"begin_ns\":5,\"end_ns\":6,\"wall_ns\":7,\"devices\":[{\"device\":\"cxi0\",\"source\":\"cxi\","
        "\"values\":{\"" BAD "\":1}}]}]}";
    dataset set = {0}, again = {0};
    assert_int_equal(dataset_read_memory(&set, "hostile.json", hostile, sizeof hostile - 1, NULL, NULL), NETPROF_OK);
    assert_string_equal(set.runs[0].snapshots[0].schema->counters[0].name, BAD);
    text csv = converted(&set, CONVERT_CSV, NULL), net_prof = converted(&set, CONVERT_NET_PROF_JSON, NULL);
    text json = converted(&set, CONVERT_JSON, NULL), binary = converted(&set, CONVERT_NETPROF, NULL);
    assert_string_equal(csv.data, "host,source,device,counter,unit,kind,snapshot,time_ns,stamp_ns,value,status\r\n"
                                  "h,cxi,cxi0," GOOD ",,counter,1,7,,1,ok\r\n");
    json_object *root = json_tokener_parse(net_prof.data);
    assert_string_equal(in_entry(entry(root, 0), "counter_name"), GOOD);
    json_object_put(root);
    assert_int_equal(dataset_read_memory(&again, "j", json.data, json.size, NULL, NULL), NETPROF_OK);
    assert_string_equal(again.runs[0].snapshots[0].schema->counters[0].name, GOOD);
    assert_true(memmem(binary.data, binary.size, BAD, sizeof BAD - 1) != NULL);
    text *texts[] = {&csv, &net_prof, &json, &binary};
    for (size_t i = 0; i < 4; i++)
        free(texts[i]->data);
    dataset_free(&again);
    dataset_free(&set);
}

// As net_prof's summarize() expects it: interface n is cxi(n-1), ids count the names in byte order.
static void net_prof_json(void **state)
{
    (void)state;
    dataset set = read_sample();
    size_t left_out = 99;
    text t = converted(&set, CONVERT_NET_PROF_JSON, &(convert_options){.left_out = &left_out});
    json_object *root = json_tokener_parse(t.data);
    assert_non_null(root);
    assert_string_equal(in_entry(entry(root, 0), "counter_name"), "a_first");
    assert_string_equal(in_entry(entry(root, 0), "groups"), "[ \"UNGROUPED\" ]");
    json_object *miss = entry(root, 1);
    assert_string_equal(in_entry(miss, "id"), "2");
    assert_string_equal(in_entry(miss, "interface"), "1");
    assert_string_equal(in_entry(miss, "counter_name"), "atu_cache_miss_0");
    assert_string_equal(in_entry(miss, "value"), "18446744073709551615");
    assert_string_equal(in_entry(miss, "timestamp"), "1752853654.346846812");
    assert_string_equal(in_entry(miss, "timestamp_ISO_8601"), "2025-07-18T15:47:34.346846+00:00");
    assert_string_equal(in_entry(miss, "groups"), "[ \"CxiPerfStats\", \"CxiTranslationUnit\" ]");
    assert_string_equal(in_entry(miss, "units"), "[ \"lookups\", \"lookups\" ]");
    assert_null(entry(root, 2));
    assert_int_equal(left_out, 2); // the interface's value and the retry handler's
    json_object_put(root);

    dataset again = {0};
    assert_int_equal(dataset_read_memory(&again, "n", t.data, t.size, NULL, NULL), NETPROF_OK);
    const netprof_snapshot *s = &again.runs[0].snapshots[0];
    size_t i = netprof_find(s->schema, "cxi", "cxi0", "atu_cache_miss_0");
    assert_true(s->values[i] == UINT64_MAX);
    assert_int_equal(s->stamps_ns[i], INT64_C(1752853654346846812));
    dataset_free(&again);
    free(t.data);
    dataset_free(&set);
}

static void net_prof_json_holds_one_snapshot(void **state)
{
    (void)state;
    dataset set = read_sample();
    text t = {0};
    netprof_error error;
    assert_int_equal(dataset_read_memory(&set, "again", sample, sizeof sample - 1, NULL, NULL), NETPROF_OK);
    assert_int_equal(convert_write(&set, CONVERT_NET_PROF_JSON, NULL, append, &t, &error), NETPROF_ERR_ARG);
    assert_true(strstr(error.text, "one snapshot and there are 2") != NULL);
    convert_options second = {.snapshot = 2}, third = {.snapshot = 3};
    assert_int_equal(convert_write(&set, CONVERT_NET_PROF_JSON, &second, append, &t, &error), NETPROF_OK);
    assert_int_equal(convert_write(&set, CONVERT_NET_PROF_JSON, &third, append, &t, &error), NETPROF_ERR_ARG);
    free(t.data);
    dataset_free(&set);
}

// JSON -> .netprof -> JSON gives the same bytes.
// Stamps may be off by as much as the snapshot says: a copy without their figures; free() it.
static char *without_stamps(const char *json)
{
    static const char *const keys[] = {"\"stamp_error_ns\":", "\"stamps_ns\":"};
    char *copy = strdup(json);
    for (size_t k = 0; k < 2; k++) {
        for (char *at = copy; (at = strstr(at, keys[k])) != NULL;) {
            at += strlen(keys[k]);
            char *end = at + strcspn(at, *at == '[' ? "]" : ",}");
            memmove(at, end, strlen(end) + 1);
        }
    }
    return copy;
}

static void check_stamps(const netprof_snapshot *got, const netprof_snapshot *given)
{
    for (size_t i = 0; i < given->schema->counter_count; i++)
        assert_true(llabs(got->stamps_ns[i] - given->stamps_ns[i]) <= got->stamp_error_ns);
}

static void there_and_back(void **state)
{
    (void)state;
    dataset set = read_sample(), second = {0}, third = {0};
    text json = converted(&set, CONVERT_JSON, NULL);
    text binary = converted(&set, CONVERT_NETPROF, NULL);
    assert_int_equal(dataset_read_memory(&second, "n", binary.data, binary.size, NULL, NULL), NETPROF_OK);
    assert_int_equal(second.runs[0].format, DATASET_NETPROF);
    text again = converted(&second, CONVERT_JSON, NULL);
    check_stamps(&second.runs[0].snapshots[0], &set.runs[0].snapshots[0]);
    char *plain[2] = {without_stamps(json.data), without_stamps(again.data)};
    assert_string_equal(plain[1], plain[0]);
    free(plain[0]);
    free(plain[1]);
    assert_int_equal(dataset_read_memory(&third, "j", again.data, again.size, NULL, NULL), NETPROF_OK);
    text binary_again = converted(&third, CONVERT_NETPROF, NULL);
    assert_int_equal(binary_again.size, binary.size);
    assert_memory_equal(binary_again.data, binary.data, binary.size);
    text *texts[] = {&json, &binary, &again, &binary_again};
    for (size_t i = 0; i < 4; i++)
        free(texts[i]->data);
    dataset_free(&set);
    dataset_free(&second);
    dataset_free(&third);
}

static void failures_are_told(void **state)
{
    (void)state;
    dataset set = read_sample(), empty = {0};
    netprof_error error;
    text t = {0};
    for (convert_format f = CONVERT_NETPROF; f <= CONVERT_CSV; f++) {
        assert_int_equal(convert_write(&set, f, NULL, refuse, NULL, &error), NETPROF_ERR_IO);
        assert_int_equal(error.sys_errno, ENOSPC);
    }
    assert_int_equal(convert_write(&empty, CONVERT_CSV, NULL, append, &t, &error), NETPROF_ERR_ARG);
    assert_int_equal(convert_write(&empty, CONVERT_NET_PROF_JSON, NULL, append, &t, &error), NETPROF_ERR_ARG);
    assert_int_equal(convert_write(&set, CONVERT_UNKNOWN, NULL, append, &t, &error), NETPROF_ERR_ARG);
    free(t.data);
    dataset_free(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_have_names), cmocka_unit_test(csv_is_long_and_quoted),
        cmocka_unit_test(net_prof_json),      cmocka_unit_test(net_prof_json_holds_one_snapshot),
        cmocka_unit_test(there_and_back),     cmocka_unit_test(failures_are_told),
        cmocka_unit_test(old_names_are_read), cmocka_unit_test(what_is_no_utf8_is_replaced_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
