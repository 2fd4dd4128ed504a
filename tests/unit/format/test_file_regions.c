// Regions and events in a file: each field of each kind comes back as it was, and a writer whose place is full says so.
#define _GNU_SOURCE
#define NETPROF_IMPLEMENTATION
#define NETPROF_STATIC
#include "netprof.h"

#include "support.h"

// ---- regions by hand: every field of its own value ----

enum { STATS = 5, COUNTERS = 2, VALUES = 3 };

typedef struct whole {
    netprof_regions regions;
    netprof_stat stats[STATS];
    netprof_value_stat values[VALUES];
    uint32_t counters[COUNTERS];
    uint64_t histograms[STATS][NETPROF_HISTOGRAM_BUCKETS], sums[STATS][COUNTERS];
    uint64_t counts[VALUES][NETPROF_VALUE_BUCKETS], times[VALUES][NETPROF_VALUE_BUCKETS];
} whole;

static void fill_stat(whole *w, uint32_t i)
{
    static const char *const names[STATS] = {"main", "halo", "main", "io", "halo"};
    netprof_stat *s = &w->stats[i];
    uint64_t k = i + 1;
    s->thread = i / 3;
    s->node = i % 3;
    s->parent = i % 3 ? i % 3 - 1 : UINT32_MAX;
    s->region = names[i];
    s->calls = 100 * k + 1;
    s->measured = 100 * k;
    s->open = k;
    s->spans = 3 * k;
    s->total_ns = 1000000 * k + 7;
    s->inclusive_ns = 1000000 * k + 5;
    s->exclusive_ns = 600000 * k + 3;
    s->min_ns = 11 * k;
    s->max_ns = 5000 * k + 2;
    s->variance_ns2 = 2.25 * (double)k;
    s->bytes = 4096 * k;
    s->aborted = 2 * k;
    s->too_short = 5 * k;
    s->counted = 13 * k;
    s->concurrency = 17 * k;
    s->waits = i % 2 ? 0 : 19 * k;
    s->waited_ns = i % 2 ? 0 : 23 * k;
    for (size_t b = i; b < NETPROF_HISTOGRAM_BUCKETS; b += 40 + i)
        w->histograms[i][b] = 1 + b * k;
    for (size_t c = 0; c < COUNTERS; c++)
        w->sums[i][c] = c == i % 2 ? 0 : 31 * k + c;
    s->histogram = w->histograms[i];
    s->counter_sums = w->sums[i];
}

static void fill_value(whole *w, uint32_t i)
{
    static const size_t of[VALUES] = {0, 0, 3};
    static const char *const names[VALUES] = {"bytes", "level", "bytes"};
    netprof_value_stat *v = &w->values[i];
    int64_t k = (int64_t)i + 1;
    *v = (netprof_value_stat){.stat = of[i],
                              .name = names[i],
                              .count = 6 + i,
                              .sum = -700 * k,
                              .least = -900 * k,
                              .most = 41 * k,
                              .at_longest = -8 * k,
                              .longest_ns = 77000 + i,
                              .counts = w->counts[i],
                              .times_ns = w->times[i]};
    for (size_t b = 0; b < NETPROF_VALUE_BUCKETS; b += 9 + i)
        w->counts[i][b] = b + 1 + i, w->times[i][NETPROF_VALUE_BUCKETS - 1 - b] = 100 * b + i + 1;
}

static const netprof_schema *node_schema(void)
{
    static const struct row rows[] = {{"cxi", "cxi0", "rx", NETPROF_KIND_COUNTER, 64, 1, NETPROF_FAST, 7},
                                      {"cxi", "cxi0", "tx", NETPROF_KIND_COUNTER, 64, 1, NETPROF_FAST, 7},
                                      {"cxi", "cxi0", "pause", NETPROF_KIND_COUNTER, 64, 1, NETPROF_FAST, 7},
                                      {"cxi", "cxi1", "rx", NETPROF_KIND_COUNTER, 64, 1, NETPROF_FAST, 8}};
    return schema_of_rows(rows, COUNT(rows), "n1", NULL);
}

static void fill(whole *w, const netprof_schema *schema)
{
    memset(w, 0, sizeof *w);
    for (uint32_t i = 0; i < STATS; i++)
        fill_stat(w, i);
    for (uint32_t i = 0; i < VALUES; i++)
        fill_value(w, i);
    w->counters[0] = 1, w->counters[1] = 3;
    w->regions = (netprof_regions){.stats = w->stats,
                                   .count = STATS,
                                   .schema = schema,
                                   .counters = schema ? w->counters : NULL,
                                   .counter_count = schema ? COUNTERS : 0,
                                   .mode = NETPROF_MODE_SAMPLER,
                                   .wall_ns = 1700000000000000003,
                                   .elapsed_ns = 987654321,
                                   .threads = 2,
                                   .mismatched = 4,
                                   .dropped = 6,
                                   .overhead_ps = 23456,
                                   .sweep_ns = 8765,
                                   .interval_ns = 10000000,
                                   .readings = 321,
                                   .reading_ns = 654321,
                                   .clock = "tsc",
                                   .warning = "a warning",
                                   .values = w->values,
                                   .value_count = VALUES};
}

static void same_stat(const netprof_stat *a, const netprof_stat *b, size_t counters)
{
    assert_int_equal(a->thread, b->thread);
    assert_int_equal(a->node, b->node);
    assert_int_equal(a->parent, b->parent);
    assert_string_equal(a->region, b->region);
    assert_int_equal(a->calls, b->calls);
    assert_int_equal(a->measured, b->measured);
    assert_int_equal(a->open, b->open);
    assert_int_equal(a->spans, b->spans);
    assert_int_equal(a->total_ns, b->total_ns);
    assert_int_equal(a->inclusive_ns, b->inclusive_ns);
    assert_int_equal(a->exclusive_ns, b->exclusive_ns);
    assert_int_equal(a->min_ns, b->min_ns);
    assert_int_equal(a->max_ns, b->max_ns);
    assert_true(a->variance_ns2 == b->variance_ns2);
    assert_int_equal(a->bytes, b->bytes);
    assert_int_equal(a->aborted, b->aborted);
    assert_int_equal(a->too_short, b->too_short);
    assert_int_equal(a->counted, b->counted);
    assert_int_equal(a->concurrency, b->concurrency);
    assert_int_equal(a->waits, b->waits);
    assert_int_equal(a->waited_ns, b->waited_ns);
    assert_memory_equal(a->histogram, b->histogram, NETPROF_HISTOGRAM_BUCKETS * sizeof *a->histogram);
    if (counters) assert_memory_equal(a->counter_sums, b->counter_sums, counters * sizeof *a->counter_sums);
}

static void same_value(const netprof_value_stat *a, const netprof_value_stat *b)
{
    assert_int_equal(a->stat, b->stat);
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->sum, b->sum);
    assert_int_equal(a->least, b->least);
    assert_int_equal(a->most, b->most);
    assert_int_equal(a->at_longest, b->at_longest);
    assert_int_equal(a->longest_ns, b->longest_ns);
    assert_memory_equal(a->counts, b->counts, NETPROF_VALUE_BUCKETS * sizeof *a->counts);
    assert_memory_equal(a->times_ns, b->times_ns, NETPROF_VALUE_BUCKETS * sizeof *a->times_ns);
}

static void same_regions(const netprof_regions *a, const netprof_regions *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++)
        same_stat(&a->stats[i], &b->stats[i], b->counter_count);
    assert_int_equal(a->counter_count, b->counter_count);
    for (size_t i = 0; i < a->counter_count; i++)
        assert_int_equal(a->counters[i], b->counters[i]);
    assert_true(!a->schema == !b->schema);
    if (b->schema) assert_same(schema_difference(a->schema, b->schema));
    assert_int_equal(a->mode, b->mode);
    assert_int_equal(a->wall_ns, b->wall_ns);
    assert_int_equal(a->elapsed_ns, b->elapsed_ns);
    assert_int_equal(a->threads, b->threads);
    assert_int_equal(a->mismatched, b->mismatched);
    assert_int_equal(a->dropped, b->dropped);
    assert_int_equal(a->overhead_ps, b->overhead_ps);
    assert_int_equal(a->sweep_ns, b->sweep_ns);
    assert_int_equal(a->interval_ns, b->interval_ns);
    assert_int_equal(a->readings, b->readings);
    assert_int_equal(a->reading_ns, b->reading_ns);
    assert_string_equal(a->clock, b->clock);
    assert_string_equal(a->warning, b->warning);
    assert_int_equal(a->value_count, b->value_count);
    for (size_t i = 0; i < a->value_count; i++)
        same_value(&a->values[i], &b->values[i]);
}

static netprof_writer *begin(struct sink *file)
{
    netprof_writer *w = NULL;
    assert_int_equal(netprof_writer_open_fn(&w, sink_write, file, NULL), NETPROF_OK);
    return w;
}

// The whole, one with neither counters nor values nor readings, and the whole again: nothing of one is left in the next.
static void regions_come_back(void **state)
{
    static whole rich, poor;
    const netprof_schema *schema = node_schema();
    struct sink file = {0};
    netprof_reader *reader = NULL;
    netprof_item item;
    (void)state;
    fill(&rich, schema);
    fill(&poor, NULL);
    poor.regions.count = 2;
    poor.regions.readings = poor.regions.reading_ns = poor.regions.value_count = 0;
    for (size_t i = 0; i < STATS; i++)
        poor.stats[i].waits = poor.stats[i].waited_ns = 0;
    netprof_writer *w = begin(&file);
    assert_int_equal(netprof_write_regions(w, &rich.regions, NULL), NETPROF_OK);
    assert_int_equal(netprof_write_regions(w, &poor.regions, NULL), NETPROF_OK);
    assert_int_equal(netprof_write_regions(w, &rich.regions, NULL), NETPROF_OK);
    assert_int_equal(netprof_writer_close(w, 1, NULL), NETPROF_OK);
    assert_int_equal(netprof_reader_open_memory(&reader, file.data, file.size, NULL, NULL), NETPROF_OK);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(netprof_reader_next(reader, &item, NULL), NETPROF_OK);
        assert_int_equal(item.type, NETPROF_ITEM_REGIONS);
        assert_null(item.fact);
        assert_null(item.snapshot);
        assert_null(item.delta);
        assert_null(item.events);
        assert_null(item.schema);
        assert_int_equal(item.needs, 0);
        same_regions(item.regions, i == 1 ? &poor.regions : &rich.regions);
    }
    assert_int_equal(netprof_reader_next(reader, &item, NULL), NETPROF_OK);
    assert_int_equal(item.type, NETPROF_ITEM_END);
    assert_int_equal(item.complete, 1);
    assert_int_equal(item.offset, file.size);
    netprof_reader_close(reader);
    sink_free(&file);
    netprof_schema_release(schema);
}

// ---- a place that is full ----

enum { FACT, SNAPSHOT, DELTA, REGIONS, EVENTS, KINDS };

typedef struct things {
    netprof_snapshot before, after;
    netprof_delta delta;
    whole regions;
} things;

static netprof_err write_one(netprof_writer *w, const things *t, int kind, netprof_error *error)
{
    static const int64_t numbers[3] = {5, 8, 13};
    static const char *const texts[3] = {"a", "b", "a"};
    const netprof_events_column columns[2] = {{"begin_ns", numbers, NULL}, {"name", NULL, texts}};
    const netprof_events events = {"nccl.coll", columns, 2, 3};
    switch (kind) {
    case FACT: return netprof_write_fact(w, "key", "value", error);
    case SNAPSHOT: return netprof_write_snapshot(w, &t->before, error);
    case DELTA: return netprof_write_delta(w, &t->delta, error);
    case REGIONS: return netprof_write_regions(w, &t->regions.regions, error);
    default: return netprof_write_events(w, &events, error);
    }
}

static void expect_full(const netprof_error *error)
{
    assert_int_equal(error->code, NETPROF_ERR_IO);
    assert_int_equal(error->sys_errno, ENOSPC);
    assert_string_equal(error->text, "cannot write");
}

// Wherever it is full: what could not be written says so, and so does all that follows, down to the end.
static void what_is_full_is_said(void **state)
{
    static things t;
    (void)state;
    t.before = snapshot_of(node_schema());
    t.after = snapshot_of(node_schema());
    t.after.values[2] = 700, t.after.begin_ns = 1000000, t.after.end_ns = 1000300, t.after.wall_ns = 1000000;
    assert_int_equal(netprof_diff(&t.before, &t.after, NULL, &t.delta, NULL), NETPROF_OK);
    fill(&t.regions, t.before.schema);
    for (int kind = 0; kind < KINDS; kind++) {
        struct sink whole_file = {0};
        netprof_writer *w = begin(&whole_file);
        assert_int_equal(write_one(w, &t, kind, NULL), NETPROF_OK);
        size_t size = whole_file.size;
        assert_int_equal(netprof_writer_close(w, 1, NULL), NETPROF_OK);
        assert_int_equal(whole_file.size, size + 13); // the end: 12 bytes of head and how many chunks came before
        sink_free(&whole_file);
        for (size_t room = 16; room < size + 13; room++) {
            struct sink sink = {.fail_behind = room};
            netprof_error error = NETPROF_ZERO;
            w = begin(&sink);
            assert_int_equal(write_one(w, &t, kind, &error), room < size ? NETPROF_ERR_IO : NETPROF_OK);
            if (room < size) {
                expect_full(&error);
                sink.fail_behind = 0; // there is room again, too late
                for (int other = 0; other < KINDS; other++) {
                    memset(&error, 0, sizeof error);
                    assert_int_equal(write_one(w, &t, other, &error), NETPROF_ERR_IO);
                    expect_full(&error);
                }
            }
            memset(&error, 0, sizeof error);
            assert_int_equal(netprof_writer_close(w, 1, &error), NETPROF_ERR_IO);
            expect_full(&error);
            sink_free(&sink);
        }
    }
    netprof_delta_free(&t.delta);
    netprof_snapshot_free(&t.before);
    netprof_snapshot_free(&t.after);
}

// ---- calls that are open ----

// As if each had ended now: the same as a sum over all durations.
static void open_calls_count(void **state)
{
    static const uint64_t took[] = {40, 10, 70, 25, 1000, 0, 55};
    uint64_t buckets[NETPROF_HISTOGRAM_BUCKETS] = {0};
    netprof_stat s = {.histogram = buckets};
    double sum = 0, squares = 0;
    uint64_t least = UINT64_MAX, most = 0, outer = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(took); i++) {
        netprof__stat_add_open(&s, took[i], took[i] / 2, i % 3 == 2);
        sum += (double)took[i];
        squares += (double)took[i] * (double)took[i];
        least = took[i] < least ? took[i] : least;
        most = took[i] > most ? took[i] : most;
        outer += i % 3 == 2 ? 0 : took[i];
        double n = (double)(i + 1), variance = squares / n - sum / n * (sum / n);
        assert_int_equal(s.measured, i + 1);
        assert_int_equal(s.total_ns, (uint64_t)sum);
        assert_int_equal(s.inclusive_ns, outer);
        assert_int_equal(s.min_ns, least);
        assert_int_equal(s.max_ns, most);
        assert_true(s.variance_ns2 - variance < 1e-6 * (variance + 1) &&
                    variance - s.variance_ns2 < 1e-6 * (variance + 1));
    }
    assert_int_equal(s.exclusive_ns, 20 + 5 + 35 + 12 + 500 + 27);
    for (size_t i = 0; i < COUNT(took); i++) {
        size_t bucket = 0;
        while (bucket + 1 < NETPROF_HISTOGRAM_BUCKETS && netprof_histogram_floor_ns((unsigned)bucket + 1) <= took[i])
            bucket++;
        assert_true(buckets[bucket]-- > 0);
    }
    for (size_t b = 0; b < NETPROF_HISTOGRAM_BUCKETS; b++)
        assert_int_equal(buckets[b], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_come_back),
        cmocka_unit_test(what_is_full_is_said),
        cmocka_unit_test(open_calls_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
