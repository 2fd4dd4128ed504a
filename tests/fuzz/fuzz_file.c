/* .netprof files: read, written again and read once more, every value must be the same; deltas, regions and JSON of what
   was read. Checksums are put right in a second copy: a fuzzer does not guess them. */
#define NETPROF_STATIC
#define NETPROF_IMPLEMENTATION
#include "../../netprof.h"
#include "expect.h"

#define MOST 64

struct sink {
    unsigned char *data;
    size_t size, capacity;
};

static int sink_write(void *user, const void *data, size_t size)
{
    struct sink *sink = (struct sink *)user;
    if (sink->size + size > sink->capacity) {
        sink->capacity = 2 * (sink->size + size);
        sink->data = (unsigned char *)realloc(sink->data, sink->capacity);
        expect(sink->data != NULL);
    }
    if (size) memcpy(sink->data + sink->size, data, size);
    sink->size += size;
    return 0;
}

static int touch(void *user, const void *data, size_t size)
{
    uint64_t *sum = (uint64_t *)user;
    if (size) *sum += *(const unsigned char *)data;
    return 0;
}

static void same(const netprof_snapshot *a, const netprof_snapshot *b)
{
    size_t n = a->schema->counter_count, d = a->schema->device_count;
    expect(b->schema->counter_count == n && b->schema->device_count == d);
    expect(!n || memcmp(a->values, b->values, n * 8) == 0);
    expect(!n || memcmp(a->status, b->status, n) == 0);
    expect(!n || memcmp(a->errnos, b->errnos, n) == 0);
    expect(!d || memcmp(a->device_begin_ns, b->device_begin_ns, d * 8) == 0);
    expect(!d || memcmp(a->device_end_ns, b->device_end_ns, d * 8) == 0);
    expect(a->begin_ns == b->begin_ns && a->end_ns == b->end_ns && a->wall_ns == b->wall_ns && a->set == b->set);
    for (size_t i = 0; i < n; i++) {
        const netprof_counter *x = &a->schema->counters[i], *y = &b->schema->counters[i];
        expect(strcmp(x->name, y->name) == 0 && strcmp(x->unit, y->unit) == 0 && x->kind == y->kind);
        expect(x->width == y->width && x->scale == y->scale && x->flags == y->flags && x->device == y->device);
    }
}

/* Every pointer and index that a reader hands out can be followed. */
static void walk(const netprof_schema *s)
{
    size_t next = 0, i, k;
    for (i = 0; i < s->device_count; i++) {
        expect(s->devices[i].first == next);
        next += s->devices[i].count;
        expect(strlen(s->devices[i].name) + strlen(s->devices[i].source) < SIZE_MAX / 2);
        for (k = 0; k < s->devices[i].fact_count; k++) expect(s->devices[i].facts[k].key && s->devices[i].facts[k].value);
        for (k = s->devices[i].first; k < next; k++) expect(s->counters[k].device == i);
    }
    expect(next == s->counter_count);
}

/* What a reader promises of regions: everything points into what came with it. */
static void walk_regions(const netprof_regions *r)
{
    uint64_t sum = 0;
    size_t i, k;
    expect(r->clock && r->warning && (r->counter_count == 0 || r->schema));
    for (i = 0; i < r->counter_count; i++) expect(r->counters[i] < r->schema->counter_count);
    for (i = 0; i < r->count; i++) {
        const netprof_stat *s = &r->stats[i];
        expect(s->region != NULL && strlen(s->region) < SIZE_MAX / 2);
        expect(s->parent == UINT32_MAX || s->parent < s->node);
        for (k = 0; k < NETPROF_HISTOGRAM_BUCKETS; k++) sum += s->histogram[k];
        for (k = 0; k < r->counter_count; k++) sum += s->counter_sums[k];
    }
    touch(&sum, &sum, 1);
}

/* The regions of a file, written: what was written, read, gives the same bytes again. */
static void write_regions(const uint8_t *data, size_t size, const netprof_limits *limits, struct sink *sink)
{
    netprof_reader *reader;
    netprof_writer *writer;
    netprof_item item;
    expect(netprof_reader_open_memory(&reader, data, size, limits, NULL) == NETPROF_OK);
    expect(netprof_writer_open_fn(&writer, sink_write, sink, NULL) == NETPROF_OK);
    do {
        expect(netprof_reader_next(reader, &item, NULL) == NETPROF_OK);
        if (item.type != NETPROF_ITEM_REGIONS) continue;
        walk_regions(item.regions);
        expect(netprof_write_regions(writer, item.regions, NULL) == NETPROF_OK);
    } while (item.type != NETPROF_ITEM_END);
    netprof_reader_close(reader);
    expect(netprof_writer_close(writer, 1, NULL) == NETPROF_OK);
}

static void regions_again(const uint8_t *data, size_t size, const netprof_limits *limits)
{
    struct sink once = {0}, twice = {0};
    write_regions(data, size, limits, &once);
    write_regions(once.data, once.size, NULL, &twice);
    expect(once.size == twice.size && memcmp(once.data, twice.data, once.size) == 0);
    free(once.data);
    free(twice.data);
}

static void read_and_write(const uint8_t *data, size_t size)
{
    netprof_limits limits = {0};
    netprof_snapshot snapshots[MOST], *again;
    netprof_delta delta = NETPROF_ZERO;
    netprof_reader *reader;
    netprof_writer *writer;
    netprof_item item;
    struct sink sink = {0};
    size_t count = 0, deltas = 0, regions = 0, i;
    uint64_t behind = 16, sum = 0;
    netprof_diff_options force = {1, 0};
    limits.max_counters = 5000;
    limits.max_devices = 200;
    limits.max_memory = 32 << 20;
    if (netprof_reader_open_memory(&reader, data, size, &limits, NULL)) return;
    expect(netprof_writer_open_fn(&writer, sink_write, &sink, NULL) == NETPROF_OK);
    memset(snapshots, 0, sizeof snapshots);
    for (;;) {
        expect(netprof_reader_next(reader, &item, NULL) == NETPROF_OK);
        if (item.type == NETPROF_ITEM_END) break;
        expect(item.offset >= behind && item.size > 0 && item.offset + item.size <= size);
        behind = item.offset + item.size;
        if (item.type == NETPROF_ITEM_FACT)
            expect(netprof_write_fact(writer, item.fact->key, item.fact->value, NULL) == NETPROF_OK);
        if (item.type == NETPROF_ITEM_SNAPSHOT && count < MOST) {
            walk(item.snapshot->schema);
            expect(netprof_write_snapshot(writer, item.snapshot, NULL) == NETPROF_OK);
            expect(netprof_snapshot_copy(&snapshots[count++], item.snapshot, NULL) == NETPROF_OK);
        }
        if (item.type == NETPROF_ITEM_DELTA && deltas < MOST) {
            netprof_json what = {0};
            walk(item.delta->schema);
            what.deltas = item.delta;
            what.delta_count = 1;
            expect(netprof_write_delta(writer, item.delta, NULL) == NETPROF_OK);
            netprof_write_json(&what, touch, &sum, NULL);
            deltas++;
        }
        regions += item.type == NETPROF_ITEM_REGIONS;
    }
    netprof_reader_close(reader);
    if (regions) regions_again(data, size, &limits);
    expect(netprof_writer_close(writer, 1, NULL) == NETPROF_OK);
    for (i = 1; i < count && i < 4; i++) {
        expect(netprof_diff(&snapshots[i - 1], &snapshots[i], &force, &delta, NULL) == NETPROF_OK);
        walk(delta.schema);
    }
    netprof_delta_free(&delta);
    if (count) {
        netprof_json what = {0};
        what.snapshots = snapshots;
        what.snapshot_count = count < 3 ? count : 3;
        netprof_write_json(&what, touch, &sum, NULL);
    }
    expect(netprof_reader_open_memory(&reader, sink.data, sink.size, NULL, NULL) == NETPROF_OK);
    for (again = snapshots;;) {
        expect(netprof_reader_next(reader, &item, NULL) == NETPROF_OK);
        if (item.type == NETPROF_ITEM_END) break;
        expect(item.type != NETPROF_ITEM_DAMAGE);
        if (item.type == NETPROF_ITEM_SNAPSHOT) same(again++, item.snapshot);
    }
    expect(item.complete && again == snapshots + count);
    netprof_reader_close(reader);
    for (i = 0; i < count; i++) netprof_snapshot_free(&snapshots[i]);
    free(sink.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint32_t table[256];
    uint8_t *copy;
    size_t at = 16;
    if (!table[1]) netprof__crc_table(table);
    read_and_write(data, size);
    if (size < 28) return 0;
    copy = (uint8_t *)malloc(size);
    expect(copy != NULL);
    memcpy(copy, data, size);
    memcpy(copy, "\x89NPROF\r\n\x01\0\0\0\x04\x03\x02\x01", 16);
    while (size - at >= 12) {
        uint64_t length = netprof__get_le(copy + at + 4, 4);
        if (length > size - at - 12) {
            length = size - at - 12;
            netprof__put_le(copy + at + 4, length, 4);
        }
        netprof__put_le(copy + at + 8,
                        netprof__crc(table, netprof__crc(table, 0, copy + at, 8), copy + at + 12, (size_t)length), 4);
        at += 12 + (size_t)length;
    }
    read_and_write(copy, size);
    free(copy);
    return 0;
}
