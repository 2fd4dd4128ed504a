// Files under limits of every size: a reader that may hold less than a file needs says so, of each thing that it leaves out,
// and reads on; what it delivers is whole.
#define _GNU_SOURCE
#include "netprof.h"

#include "support.h"

enum { COUNTERS = 400, NAME = 120 };

static const netprof_schema *long_names(void)
{
    netprof_list *list = netprof_build_begin(NULL);
    const netprof_schema *schema;
    char name[NAME + 32];
    memset(name, 'n', NAME);
    netprof_build_source(list, "cxi");
    netprof_list_device(list, "cxi0", 0, NETPROF_DEVICE_PHYSICAL);
    netprof_list_fact(list, "speed_mbps", "200000");
    for (int i = 0; i < COUNTERS; i++) {
        // Some count on from the one before, some share its beginning, some are others.
        snprintf(name + NAME - i % 7 * (i % 3), 32, i % 5 ? "_%d" : "%dx", i);
        netprof_list_counter(list, &(netprof_counter){.name = name, .unit = "bytes", .width = 64});
    }
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    return schema;
}

// A fact, two snapshots, events of texts, and a fact again.
static void write_all(struct sink *file, netprof_snapshot *s)
{
    static const char *const names[] = {"first", "second", "a third that is a little longer"};
    static const int64_t numbers[] = {1, 2, 3};
    const netprof_events_column columns[] = {{"name", NULL, names}, {"number", numbers, NULL}};
    const netprof_events events = {"kind", columns, 2, 3};
    netprof_writer *w;
    assert_int_equal(netprof_writer_open_fn(&w, sink_write, file, NULL), NETPROF_OK);
    assert_int_equal(netprof_write_fact(w, "before", "1", NULL), NETPROF_OK);
    for (int k = 0; k < 2; k++) {
        s->begin_ns = s->end_ns = 1000000000 * (k + 1);
        s->wall_ns = INT64_C(1700000000000000000) + s->begin_ns;
        for (size_t i = 0; i < s->schema->counter_count; i++) {
            s->values[i] = 1000 * i + (size_t)k;
            s->status[i] = NETPROF_STATUS_OK;
        }
        assert_int_equal(netprof_write_snapshot(w, s, NULL), NETPROF_OK);
    }
    assert_int_equal(netprof_write_events(w, &events, NULL), NETPROF_OK);
    assert_int_equal(netprof_write_fact(w, "behind", "1", NULL), NETPROF_OK);
    assert_int_equal(netprof_writer_close(w, 1, NULL), NETPROF_OK);
}

typedef struct got {
    int facts, snapshots, events, damages, by_limit;
} got;

static void check_snapshot(const netprof_snapshot *x, const netprof_schema *schema, int k)
{
    assert_int_equal(x->schema->counter_count, schema->counter_count);
    for (size_t i = 0; i < schema->counter_count; i++) {
        assert_string_equal(x->schema->counters[i].name, schema->counters[i].name);
        assert_int_equal(x->values[i], 1000 * i + (size_t)k);
    }
    assert_string_equal(netprof_fact_of(x->schema->devices[0].facts, x->schema->devices[0].fact_count, "speed_mbps"),
                        "200000");
}

static got read_within(const struct sink *file, const netprof_schema *schema, uint64_t memory)
{
    const netprof_limits limits = {.max_memory = memory};
    got g = {0};
    netprof_reader *r;
    netprof_item item;
    assert_int_equal(netprof_reader_open_memory(&r, file->data, file->size, &limits, NULL), NETPROF_OK);
    do {
        assert_int_equal(netprof_reader_next(r, &item, NULL), NETPROF_OK);
        g.facts += item.type == NETPROF_ITEM_FACT;
        if (item.type == NETPROF_ITEM_SNAPSHOT) check_snapshot(item.snapshot, schema, g.snapshots++);
        if (item.type == NETPROF_ITEM_EVENTS) {
            g.events++;
            assert_string_equal(item.events->columns[0].texts[2], "a third that is a little longer");
            assert_int_equal(item.events->columns[1].numbers[2], 3);
        }
        g.damages += item.type == NETPROF_ITEM_DAMAGE;
        g.by_limit += item.type == NETPROF_ITEM_DAMAGE && strstr(item.text, "limit");
    } while (item.type != NETPROF_ITEM_END);
    assert_true(item.complete);
    netprof_reader_close(r);
    return g;
}

static void limits_of_any_size(void **state)
{
    struct sink file = {0};
    netprof_snapshot s = NETPROF_ZERO;
    const netprof_schema *schema = long_names();
    uint64_t least = 0;
    (void)state;
    assert_int_equal(netprof_snapshot_make(&s, schema, NULL), NETPROF_OK);
    write_all(&file, &s);
    for (uint64_t memory = 1; memory < 1 << 20; memory += 1 + memory / 64) {
        got g = read_within(&file, schema, memory);
        assert_int_equal(g.facts, 2); // whatever was refused in between
        assert_true(g.snapshots == 0 || g.snapshots == 2);
        assert_true(g.snapshots == 2 || g.by_limit > 0);
        assert_int_equal(g.damages == 0, g.snapshots == 2 && g.events == 1);
        if (g.snapshots && !least) least = memory;
        assert_true(!least || g.snapshots == 2); // with more than was enough it is enough
    }
    // All together: each name as read, as it grew, and as kept; what belongs to each counter, and its values.
    assert_in_range(least, 3 * COUNTERS * NAME, COUNTERS * (3 * NAME + 400));
    netprof_snapshot_free(&s);
    netprof_schema_release(schema);
    sink_free(&file);
}

// Counters, one less than there are, and as many.
static void as_many_as_there_are(void **state)
{
    struct sink file = {0};
    netprof_snapshot s = NETPROF_ZERO;
    const netprof_schema *schema = long_names();
    (void)state;
    assert_int_equal(netprof_snapshot_make(&s, schema, NULL), NETPROF_OK);
    write_all(&file, &s);
    for (int less = 0; less < 2; less++) {
        const netprof_limits limits = {.max_counters = COUNTERS - (uint64_t)less};
        netprof_reader *r;
        netprof_item item;
        int snapshots = 0, said = 0;
        assert_int_equal(netprof_reader_open_memory(&r, file.data, file.size, &limits, NULL), NETPROF_OK);
        do {
            assert_int_equal(netprof_reader_next(r, &item, NULL), NETPROF_OK);
            snapshots += item.type == NETPROF_ITEM_SNAPSHOT;
            said += item.type == NETPROF_ITEM_DAMAGE && strstr(item.text, "limit");
        } while (item.type != NETPROF_ITEM_END);
        assert_int_equal(snapshots, less ? 0 : 2);
        assert_int_equal(said > 0, less);
        netprof_reader_close(r);
    }
    netprof_snapshot_free(&s);
    netprof_schema_release(schema);
    sink_free(&file);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_of_any_size),
        cmocka_unit_test(as_many_as_there_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
