/* .netprof files: read, written again and read once more, every value must be the same; deltas, regions and JSON of what
   was read. Checksums are put right in a second copy: a fuzzer does not guess them. */
#define NETPROF_STATIC
#define NETPROF_IMPLEMENTATION
#define NETPROF__WINDOW 32 /* as small as it can be: chunks lie across its ends */
#include "../../netprof.h"
#include "expect.h"

#define MOST  64
#define LINKS 64 /* schemas of which it is known what builds on them */

static uint32_t table[NETPROF__CRC_TABLES];

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
        int64_t off = netprof__minus(a->stamps_ns[i], b->stamps_ns[i]), most = b->stamp_error_ns - a->stamp_error_ns;
        expect(off >= -most && off <= most && !a->stamps_ns[i] == !b->stamps_ns[i]);
    }
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
        for (k = 0; k < s->devices[i].fact_count; k++)
            expect(s->devices[i].facts[k].key && s->devices[i].facts[k].value);
        for (k = s->devices[i].first; k < next; k++)
            expect(s->counters[k].device == i);
    }
    expect(next == s->counter_count);
}

/* Every text and number of events can be followed; written and read again, they are the same. */
static void same_events(const netprof_events *e)
{
    struct sink sink = {0};
    netprof_writer *writer;
    netprof_reader *reader;
    netprof_item item;
    size_t i, k;
    expect(netprof_writer_open_fn(&writer, sink_write, &sink, NULL) == NETPROF_OK);
    expect(netprof_write_events(writer, e, NULL) == NETPROF_OK);
    expect(netprof_writer_close(writer, 1, NULL) == NETPROF_OK);
    expect(netprof_reader_open_memory(&reader, sink.data, sink.size, NULL, NULL) == NETPROF_OK);
    expect(netprof_reader_next(reader, &item, NULL) == NETPROF_OK && item.type == NETPROF_ITEM_EVENTS);
    expect(strcmp(item.events->kind, e->kind) == 0 && item.events->count == e->count);
    expect(item.events->column_count == e->column_count);
    for (i = 0; i < e->column_count; i++) {
        const netprof_events_column *a = &e->columns[i], *b = &item.events->columns[i];
        expect(strcmp(a->name, b->name) == 0 && !a->texts == !b->texts && !a->texts != !a->numbers);
        for (k = 0; k < e->count; k++)
            expect(a->texts ? strcmp(a->texts[k], b->texts[k]) == 0 : a->numbers[k] == b->numbers[k]);
    }
    netprof_reader_close(reader);
    free(sink.data);
}

/* What a reader promises of regions: everything points into what came with it. */
static void walk_regions(const netprof_regions *r)
{
    uint64_t sum = 0;
    size_t i, k;
    expect(r->clock && r->warning && (r->counter_count == 0 || r->schema));
    for (i = 0; i < r->counter_count; i++)
        expect(r->counters[i] < r->schema->counter_count);
    for (i = 0; i < r->count; i++) {
        const netprof_stat *s = &r->stats[i];
        expect(s->region != NULL && strlen(s->region) < SIZE_MAX / 2);
        expect(s->parent == UINT32_MAX || s->parent < s->node);
        for (k = 0; k < NETPROF_HISTOGRAM_BUCKETS; k++)
            sum += s->histogram[k];
        for (k = 0; k < r->counter_count; k++)
            sum += s->counter_sums[k];
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

struct pieces {
    const uint8_t *data;
    size_t size, at, most;
};

static int read_piece(void *user, void *to, size_t size, size_t *got)
{
    struct pieces *p = (struct pieces *)user;
    size_t left = p->size - p->at;
    *got = size < p->most ? size : p->most;
    if (*got > left) *got = left;
    if (*got) memcpy(to, p->data + p->at, *got);
    p->at += *got;
    return 0;
}

/* In pieces of a few bytes a file gives the same items as from memory. */
static void same_in_pieces(const uint8_t *data, size_t size, const netprof_limits *limits)
{
    struct pieces p = {data, size, 0, 1 + size % 61};
    netprof_reader *whole = NULL, *pieces = NULL; // gcc 10 does not see that they are set
    netprof_item a, b;
    netprof_err failed = netprof_reader_open_memory(&whole, data, size, limits, NULL);
    expect(netprof_reader_open_fn(&pieces, read_piece, &p, limits, NULL) == failed);
    if (failed) return;
    do {
        expect(netprof_reader_next(whole, &a, NULL) == netprof_reader_next(pieces, &b, NULL));
        expect(a.type == b.type && a.offset == b.offset && a.size == b.size && a.complete == b.complete);
        if (a.snapshot) same(a.snapshot, b.snapshot);
    } while (a.type != NETPROF_ITEM_END);
    netprof_reader_close(whole);
    netprof_reader_close(pieces);
}

/* Passed over up to some byte, what comes is at the same places, and a snapshot that is decoded holds the same. */
static void same_behind_some(const uint8_t *data, size_t size, const netprof_limits *limits)
{
    netprof_reader *whole, *passing;
    netprof_item a, b;
    uint64_t until = size ? data[size - 1] * (uint64_t)size / 255 : 0;
    if (netprof_reader_open_memory(&whole, data, size, limits, NULL)) return;
    expect(netprof_reader_open_memory(&passing, data, size, limits, NULL) == NETPROF_OK);
    netprof_reader_pass(passing, until);
    do {
        expect(netprof_reader_next(whole, &a, NULL) == netprof_reader_next(passing, &b, NULL));
        expect(a.offset == b.offset && a.size == b.size && a.complete == b.complete);
        expect(a.type == b.type || (a.type == NETPROF_ITEM_DAMAGE && b.type == NETPROF_ITEM_SNAPSHOT && !b.snapshot));
        expect(b.type != NETPROF_ITEM_SNAPSHOT || !b.needs || (b.offset < until || b.needs < until) == !b.snapshot);
        if (b.snapshot) same(a.snapshot, b.snapshot);
    } while (a.type != NETPROF_ITEM_END);
    netprof_reader_close(whole);
    netprof_reader_close(passing);
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
    same_in_pieces(data, size, &limits);
    same_behind_some(data, size, &limits);
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
        if (item.type == NETPROF_ITEM_EVENTS) same_events(item.events);
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
    for (i = 0; i < count; i++)
        netprof_snapshot_free(&snapshots[i]);
    free(sink.data);
}

/* A step or a schema: the place of what a step builds on is behind the schema's number, and is filled in with the
   checksum that it would have to be. */
static void link_up(uint8_t *chunk, size_t length, uint32_t (*sums)[2])
{
    netprof__cursor c = {0};
    int schema = memcmp(chunk, "SCHM", 4) == 0;
    if (!schema && memcmp(chunk, "STEP", 4) != 0) return;
    c.at = chunk + 12;
    c.end = chunk + 12 + length;
    sums += netprof__take_varint(&c) % LINKS;
    if (!schema && !c.bad && c.end - c.at > 4) netprof__put_le(chunk + (c.at - chunk), (*sums)[c.at[4] != 0], 4);
    netprof__put_le(chunk + 8, netprof__crc(table, netprof__crc(table, 0, chunk, 8), chunk + 12, length), 4);
    (*sums)[1] = (uint32_t)netprof__get_le(chunk + 8, 4);
    if (schema) (*sums)[0] = (*sums)[1];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t sums[LINKS][2] = {{0, 0}};
    uint8_t *copy;
    size_t at = 16;
    if (!table[1]) netprof__crc_tables(table);
    read_and_write(data, size);
    if (size < 28) return 0;
    copy = (uint8_t *)malloc(size);
    expect(copy != NULL);
    memcpy(copy, data, size);
    memcpy(copy, "\x89NPROF\r\n\x02\0\0\0\x04\x03\x02\x01", 16);
    while (size - at >= 12) {
        uint64_t length = netprof__get_le(copy + at + 4, 4);
        if (length > size - at - 12) {
            length = size - at - 12;
            netprof__put_le(copy + at + 4, length, 4);
        }
        netprof__put_le(copy + at + 8,
                        netprof__crc(table, netprof__crc(table, 0, copy + at, 8), copy + at + 12, (size_t)length), 4);
        link_up(copy + at, (size_t)length, sums);
        at += 12 + (size_t)length;
    }
    read_and_write(copy, size);
    free(copy);
    return 0;
}
