// Readings of many nodes, as netprof-web keeps them.
#define _GNU_SOURCE
#include "live/web/kept.h"
#include "netprof.h"
#include "support.h"

static const int64_t second = 1000000000, start = 1748000000000000000;

// Packed and unpacked a reading is the same to the last bit, whatever its values are.
static void test_kept_whole(void **state)
{
    static const unsigned char hash[32] = {1};
    static const uint64_t values[] = {0, 1, 127, 128, UINT64_MAX, UINT64_C(1) << 63, (uint64_t)-5, 300};
    enum { COUNT = sizeof values / sizeof *values };
    netprof_list *list = netprof_build_begin(NULL);
    const netprof_schema *schema;
    netprof_snapshot s = NETPROF_ZERO, again = NETPROF_ZERO;
    kept k = {.schema = NULL};
    kept_schemas *schemas = kept_schemas_open();
    char name[8];
    (void)state;
    netprof_build_source(list, "netdev");
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "c%d", i);
        if (i % 4 == 0) netprof_list_device(list, name, 0, 0);
        netprof_list_counter(
            list, &(netprof_counter){
                      .name = name, .unit = "bytes", .kind = NETPROF_KIND_GAUGE, .flags = i % 2 ? NETPROF_SIGNED : 0});
    }
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    for (int stamped = 1; stamped >= 0; stamped--) {
        assert_int_equal(netprof_snapshot_make(&s, schema, NULL), NETPROF_OK);
        for (int i = 0; i < COUNT; i++) {
            s.values[i] = values[i];
            s.status[i] = i == 2 ? NETPROF_STATUS_SKIPPED : i > 5 ? NETPROF_STATUS_DENIED : NETPROF_STATUS_OK;
            s.stamps_ns[i] = stamped && i != 3 ? start + i * second : 0;
        }
        s.wall_ns = start;
        s.begin_ns = 5 * second;
        s.end_ns = 6 * second;
        s.device_begin_ns[0] = INT64_MIN;
        s.device_end_ns[0] = INT64_MAX;
        s.device_begin_ns[1] = s.begin_ns;
        s.device_end_ns[1] = s.begin_ns - 1;
        kept_take(&k, &k, schemas, &s, hash);
        kept_give(&k, schema, &again);
        assert_memory_equal(again.values, s.values, sizeof values);
        assert_memory_equal(again.status, s.status, COUNT);
        assert_memory_equal(again.stamps_ns, s.stamps_ns, COUNT * sizeof *s.stamps_ns);
        assert_memory_equal(again.device_begin_ns, s.device_begin_ns, 2 * sizeof *s.device_begin_ns);
        assert_memory_equal(again.device_end_ns, s.device_end_ns, 2 * sizeof *s.device_end_ns);
        assert_int_equal(again.wall_ns, start);
        assert_int_equal(again.begin_ns, 5 * second);
        assert_int_equal(again.end_ns, 6 * second);
        assert_int_equal(again.not_ok, 2);
    }
    netprof_snapshot_free(&s);
    netprof_snapshot_free(&again);
    netprof_schema_release(schema);
    kept_free(&k, schemas);
    kept_schemas_close(schemas);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kept_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
