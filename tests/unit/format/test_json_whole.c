// All of what netprof_write_json() writes, byte for byte: every member, each of its own value, in its order.
#define NETPROF_IMPLEMENTATION
#define NETPROF_STATIC
#include "netprof.h"

#include "support.h"

#include "golden_text.h"

// Two sources with devices (three and one counters; two), one without.
static const netprof_schema *first_schema(void)
{
    netprof_list *list = netprof_build_begin(NULL);
    const netprof_schema *schema = NULL;
    netprof_build_fact(list, "host", "n1");
    netprof_build_fact(list, "kernel", "6.1 \"x\"");
    netprof_build_source(list, "cxi");
    netprof_list_state(list, NETPROF_STATUS_OK, 0, "/sys/class/cxi");
    netprof_list_device(list, "cxi0", 77, NETPROF_DEVICE_PHYSICAL);
    netprof_list_fact(list, "netdev", "hsn0");
    netprof_list_fact(list, "speed", "200");
    netprof_list_counter(list, &(netprof_counter){.name = "a",
                                                  .unit = "bytes",
                                                  .scale = 4,
                                                  .width = 56,
                                                  .flags = NETPROF_FAST | NETPROF_STAMPED | NETPROF_SLOW_REFRESH});
    netprof_list_counter(
        list,
        &(netprof_counter){
            .name = "b", .unit = "", .scale = 1, .kind = NETPROF_KIND_GAUGE, .width = 64, .flags = NETPROF_SIGNED});
    netprof_list_counter(list, &(netprof_counter){.name = "c",
                                                  .unit = "frames",
                                                  .scale = 2,
                                                  .kind = NETPROF_KIND_HISTOGRAM,
                                                  .width = 32,
                                                  .flags = NETPROF_SATURATES | NETPROF_STAMPED});
    netprof_list_device(list, "cxi1", 78, 0);
    netprof_list_counter(
        list, &(netprof_counter){.name = "a", .unit = "bytes", .scale = 4, .kind = NETPROF_KIND_STATE, .width = 8});
    netprof_build_source(list, "rdma");
    netprof_list_state(list, NETPROF_STATUS_DENIED, EACCES, "/dev/infiniband");
    netprof_build_source(list, "netdev");
    netprof_list_device(list, "veth3", 0, NETPROF_DEVICE_VIRTUAL);
    netprof_list_counter(list, &(netprof_counter){.name = "rx", .unit = "packets", .scale = 1, .width = 64});
    netprof_list_counter(list, &(netprof_counter){.name = "tx", .unit = "packets", .scale = 1, .width = 64});
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    return schema;
}

static const netprof_schema *second_schema(void)
{
    static const struct row rows[] = {{"ip", "tcp", "segments", NETPROF_KIND_COUNTER, 64, 1, 0, 5}};
    return schema_of_rows(rows, 1, "n2", NULL);
}

// Values (i + 1) * factor, -9 for what has a sign; two that are not ok.
static netprof_snapshot made(const netprof_schema *schema, uint64_t factor, int64_t time)
{
    netprof_snapshot s = snapshot_of(schema);
    for (size_t i = 0; i < schema->counter_count; i++) {
        s.values[i] = (i + 1) * factor;
        if (schema->counters[i].flags & NETPROF_SIGNED) s.values[i] = (uint64_t)-9;
    }
    s.begin_ns = time;
    s.end_ns = time + 50;
    s.wall_ns = 1700000000000000000 + time;
    s.stamp_error_ns = 6;
    for (size_t i = 0; i < schema->device_count; i++) {
        s.device_begin_ns[i] = time + 1 + (int64_t)i * 10;
        s.device_end_ns[i] = time + 4 + (int64_t)i * 11;
    }
    return s;
}

static netprof_snapshot made_with_gaps(const netprof_schema *schema, uint64_t factor, int64_t time)
{
    netprof_snapshot s = made(schema, factor, time);
    s.stamps_ns[0] = s.wall_ns + 2;
    s.stamps_ns[2] = s.wall_ns + 3;
    s.status[2] = NETPROF_STATUS_SATURATED;
    s.status[4] = NETPROF_STATUS_VANISHED, s.errnos[4] = ENODEV;
    s.status[5] = NETPROF_STATUS_UNREADABLE, s.errnos[5] = EIO;
    return s;
}

static void check_written(const netprof_json *what, const char *name)
{
    struct sink sink = {0};
    assert_int_equal(netprof_write_json(what, sink_write, &sink, NULL), NETPROF_OK);
    golden_text_expect(sink.data, sink.size, name);
    sink_free(&sink);
}

static void all_of_it(void **state)
{
    const netprof_schema *first = first_schema(), *second = second_schema();
    netprof_fact facts[] = {{"command", "a b"}, {"job", "12"}, {"exit_status", "0"}};
    netprof_snapshot s[4];
    netprof_delta d[2] = {NETPROF_ZERO, NETPROF_ZERO};
    (void)state;
    netprof_schema_retain(first);
    netprof_schema_retain(second);
    s[0] = made_with_gaps(first, 1000, 100);
    s[1] = made(second, 7, 300);
    s[2] = made(first, 1250, 3000000100);
    s[3] = made(second, 90, 2000000300);
    s[2].set = NETPROF_SET_FAST;
    s[2].status[2] = NETPROF_STATUS_SATURATED;
    assert_int_equal(netprof_diff(&s[1], &s[3], NULL, &d[0], NULL), NETPROF_OK);
    assert_int_equal(netprof_diff(&s[0], &s[2], NULL, &d[1], NULL), NETPROF_OK);
    netprof_json what = {
        .facts = facts, .fact_count = 3, .snapshots = s, .snapshot_count = 4, .deltas = d, .delta_count = 2};
    check_written(&what, "format/written.json");
    what.u64_strings = 1;
    what.fact_count = 1;
    what.snapshot_count = 1;
    check_written(&what, "format/written_strings.json");
    for (size_t i = 0; i < 4; i++)
        netprof_snapshot_free(&s[i]);
    netprof_delta_free(&d[0]);
    netprof_delta_free(&d[1]);
}

// What is written in pieces, of whatever length texts have, is what is written at once.
static void long_texts(void **state)
{
    static char text[9001];
    (void)state;
    for (size_t length = 1; length < 9000; length = length * 5 / 4 + 1) {
        netprof_fact facts[] = {{"k", text}, {"after", "it"}};
        struct sink sink = {0};
        char ends[64];
        memset(text, 'x', length);
        text[length] = 0;
        assert_int_equal(netprof_write_json(&(netprof_json){.facts = facts, .fact_count = 2}, sink_write, &sink, NULL),
                         NETPROF_OK);
        const char *begins = "{\"format\":\"netprof\",\"version\":2,\"facts\":{\"k\":\"";
        snprintf(ends, sizeof ends, "\",\"after\":\"it\"},\n\"schemas\":[],\n\"snapshots\":[],\n\"deltas\":[]}\n");
        assert_int_equal(sink.size, strlen(begins) + length + strlen(ends));
        assert_memory_equal(sink.data, begins, strlen(begins));
        assert_memory_equal(sink.data + strlen(begins), text, length);
        assert_memory_equal(sink.data + strlen(begins) + length, ends, strlen(ends));
        sink_free(&sink);
    }
}

int main(int count, char **given)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_it),
        cmocka_unit_test(long_texts),
    };
    if (count > 1) cmocka_set_test_filter(given[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
