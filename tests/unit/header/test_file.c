// The .netprof file: what is written is read, what is damaged is said, what is whole is kept.
#include <stddef.h>

static void *counted_resize(void *pointer, size_t size);
static void counted_free(void *pointer);

#define NETPROF_MALLOC(size)           counted_resize(NULL, size)
#define NETPROF_REALLOC(pointer, size) counted_resize(pointer, size)
#define NETPROF_FREE(pointer)          counted_free(pointer)
#define _GNU_SOURCE
#define NETPROF_IMPLEMENTATION
#define NETPROF_STATIC
#define NETPROF__WINDOW 32 // as small as it can be: chunks lie across its ends
#include "netprof.h"

#include "generate.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* -- how much netprof.h holds -- */

static size_t held, most_held;

static void *counted_resize(void *pointer, size_t size)
{
    size_t *block = pointer ? (size_t *)pointer - 2 : NULL, old = block ? *block : 0;
    block = realloc(block, size + 16);
    if (!block) return NULL;
    held += size - old;
    if (held + (old ? old : 0) > most_held) most_held = held + old; // while it moves, both are there
    *block = size;
    return block + 2;
}

static void counted_free(void *pointer)
{
    size_t *block = pointer ? (size_t *)pointer - 2 : NULL;
    if (!block) return;
    held -= *block;
    free(block);
}

/* -- chunks, by the description and with another CRC than netprof.h's -- */

static uint32_t crc_bitwise(uint32_t crc, const unsigned char *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        crc ^= data[i];
        for (int k = 0; k < 8; k++)
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    return crc;
}

static uint32_t get_u32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void put_u32(unsigned char *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (unsigned char)(v >> 8 * i);
}

static void seal_chunk(unsigned char *chunk, size_t payload)
{
    put_u32(chunk + 4, (uint32_t)payload);
    uint32_t crc = crc_bitwise(UINT32_MAX, chunk, 8);
    put_u32(chunk + 8, ~crc_bitwise(crc, chunk + 12, payload));
}

static void append_chunk(struct sink *to, const char *tag, const void *payload, size_t size)
{
    unsigned char *chunk = calloc(1, size + 12);
    memcpy(chunk, tag, 4);
    if (size) memcpy(chunk + 12, payload, size);
    seal_chunk(chunk, size);
    sink_write(to, chunk, size + 12);
    free(chunk);
}

static void append_header(struct sink *to, int version)
{
    unsigned char header[] = "\x89NPROF\r\n\0\0\0\0\x04\x03\x02\x01";
    header[8] = (unsigned char)version;
    sink_write(to, header, 16);
}

struct chunks {
    size_t at[600], count; // at[count] is where the last one ends
};

static struct chunks chunks_of(const struct sink *file)
{
    struct chunks chunks = {.count = 0};
    size_t at = 16;
    assert_memory_equal(file->data, "\x89NPROF\r\n\x02\0\0\0\x04\x03\x02\x01", 16);
    while (at < file->size) {
        size_t size = get_u32(file->data + at + 4);
        uint32_t crc = crc_bitwise(UINT32_MAX, file->data + at, 8);
        assert_true(at + 12 + size <= file->size);
        assert_int_equal(~crc_bitwise(crc, file->data + at + 12, size), get_u32(file->data + at + 8));
        assert_true(chunks.count < 599);
        chunks.at[chunks.count++] = at;
        at += 12 + size;
    }
    chunks.at[chunks.count] = at;
    return chunks;
}

/* -- what a file holds -- */

struct thing {
    netprof_item_type type;
    uint64_t offset, size;
    char *key, *value;
    netprof_snapshot snapshot;
    netprof_delta delta; // same arrays, of its own
    char text[200];
    int complete; // of a file before another
};

struct things {
    struct thing *all;
    size_t count, capacity, damages;
    int complete;
    netprof_err opened;
};

static struct thing *things_add(struct things *things, netprof_item_type type)
{
    if (things->count == things->capacity) {
        things->capacity = things->capacity ? 2 * things->capacity : 16;
        things->all = realloc(things->all, things->capacity * sizeof *things->all);
        assert_non_null(things->all);
    }
    memset(&things->all[things->count], 0, sizeof *things->all);
    things->all[things->count].type = type;
    return &things->all[things->count++];
}

static void copy_delta(netprof_delta *to, const netprof_delta *from)
{
    size_t n = from->schema->counter_count;
    assert_int_equal(netprof__delta_room(to, from->schema, NULL), NETPROF_OK);
    if (n) {
        memcpy(to->before, from->before, n * 8);
        memcpy(to->after, from->after, n * 8);
        memcpy(to->values, from->values, n * 8);
        memcpy(to->elapsed_ns, from->elapsed_ns, n * 8);
        memcpy(to->flags, from->flags, n);
        memcpy(to->before_status, from->before_status, n);
        memcpy(to->after_status, from->after_status, n);
    }
    to->wall_begin_ns = from->wall_begin_ns;
    to->wall_end_ns = from->wall_end_ns;
    to->interval_ns = from->interval_ns;
    to->sweep_ns = from->sweep_ns;
    to->stamp_error_ns = from->stamp_error_ns;
}

static void things_free(struct things *things)
{
    for (size_t i = 0; i < things->count; i++) {
        free(things->all[i].key);
        free(things->all[i].value);
        netprof_snapshot_free(&things->all[i].snapshot);
        netprof_delta_free(&things->all[i].delta);
    }
    free(things->all);
    memset(things, 0, sizeof *things);
}

static struct things read_items(netprof_reader *reader)
{
    struct things things = {.count = 0};
    netprof_item item;
    uint64_t behind = 16;
    for (;;) {
        assert_int_equal(netprof_reader_next(reader, &item, NULL), NETPROF_OK);
        assert_true(item.offset >= behind);
        if (item.type == NETPROF_ITEM_END) break;
        assert_true(item.size > 0);
        behind = item.offset + item.size;
        struct thing *thing = things_add(&things, item.type);
        thing->offset = item.offset;
        thing->size = item.size;
        switch (item.type) {
        case NETPROF_ITEM_FACT:
            thing->key = strdup(item.fact->key);
            thing->value = strdup(item.fact->value);
            break;
        case NETPROF_ITEM_SNAPSHOT:
            assert_int_equal(netprof_snapshot_copy(&thing->snapshot, item.snapshot, NULL), NETPROF_OK);
            break;
        case NETPROF_ITEM_DELTA: copy_delta(&thing->delta, item.delta); break;
        case NETPROF_ITEM_FILE: thing->complete = item.complete; break;
        default:
            assert_int_equal(item.type, NETPROF_ITEM_DAMAGE);
            assert_true(strlen(item.text) > 5);
            snprintf(thing->text, sizeof thing->text, "%s", item.text);
            things.damages++;
        }
    }
    things.complete = item.complete;
    assert_int_equal(netprof_reader_next(reader, &item, NULL), NETPROF_OK); // the end stays
    assert_int_equal(item.type, NETPROF_ITEM_END);
    return things;
}

// A file that comes in pieces of at most so many bytes, and cannot be read from a byte on.
struct pieces {
    const unsigned char *data;
    size_t size, at, most, broken;
};

static int read_piece(void *user, void *to, size_t size, size_t *got)
{
    struct pieces *p = user;
    size_t end = p->broken < p->size ? p->broken : p->size;
    *got = size < p->most ? size : p->most;
    if (*got > end - p->at) *got = end - p->at;
    if (!*got && end < p->size) return EIO;
    memcpy(to, p->data + p->at, *got);
    p->at += *got;
    return 0;
}

// The same items come from memory and from pieces.
static void check_in_pieces(const unsigned char *data, size_t size, const netprof_limits *limits)
{
    struct pieces p = {data, size, 0, 1 + size % 61, SIZE_MAX};
    netprof_reader *whole, *pieces;
    netprof_item a, b;
    netprof_err failed = netprof_reader_open_memory(&whole, data, size, limits, NULL);
    assert_int_equal(netprof_reader_open_fn(&pieces, read_piece, &p, limits, NULL), failed);
    if (failed) return;
    do {
        assert_int_equal(netprof_reader_next(whole, &a, NULL), NETPROF_OK);
        assert_int_equal(netprof_reader_next(pieces, &b, NULL), NETPROF_OK);
        assert_int_equal(a.type, b.type);
        assert_int_equal(a.offset, b.offset);
        assert_int_equal(a.size, b.size);
        assert_int_equal(a.complete, b.complete);
        if (a.snapshot) assert_null(snapshot_difference(a.snapshot, b.snapshot, 0, NULL));
        if (a.delta) assert_null(delta_difference(a.delta, b.delta));
        if (a.text) assert_string_equal(a.text, b.text);
    } while (a.type != NETPROF_ITEM_END);
    netprof_reader_close(whole);
    netprof_reader_close(pieces);
}

// One that passes over what the last snapshot does not need tells of the same items at the same places, and decodes that
// snapshot to the same. Only of what is whole and yet does not decode (by no writer of ours) it does not tell.
static void check_passing(const unsigned char *data, size_t size, const netprof_limits *limits)
{
    netprof_reader *whole = NULL, *scan = NULL, *passing = NULL;
    netprof_item a, b;
    uint64_t last = 0, needs = 0, decoded = 0;
    int noise = 0;
    if (netprof_reader_open_memory(&whole, data, size, limits, NULL)) return;
    assert_int_equal(netprof_reader_open_memory(&scan, data, size, limits, NULL), NETPROF_OK);
    assert_int_equal(netprof_reader_open_memory(&passing, data, size, limits, NULL), NETPROF_OK);
    netprof_reader_pass(scan, UINT64_MAX);
    do {
        assert_int_equal(netprof_reader_next(scan, &b, NULL), NETPROF_OK);
        if (b.type != NETPROF_ITEM_SNAPSHOT) continue;
        assert_true(b.needs <= b.offset && !b.snapshot == (b.needs != 0)); // 0: of version 1
        last = b.offset;
        needs = b.needs;
    } while (b.type != NETPROF_ITEM_END);
    netprof_reader_pass(passing, needs);
    do {
        assert_int_equal(netprof_reader_next(whole, &a, NULL), NETPROF_OK);
        assert_int_equal(netprof_reader_next(passing, &b, NULL), NETPROF_OK);
        noise |= a.text && strstr(a.text, "does not decode") != NULL;
        assert_int_equal(a.offset, b.offset);
        assert_int_equal(a.size, b.size);
        assert_int_equal(a.complete, b.complete);
        if (a.type != b.type)
            assert_true(noise && a.type == NETPROF_ITEM_DAMAGE && !b.snapshot);
        else if (b.snapshot)
            assert_null(snapshot_difference(a.snapshot, b.snapshot, 0, NULL));
        else if (a.text)
            assert_string_equal(a.text, b.text);
        if (b.snapshot) decoded = b.offset;
        if (b.type == NETPROF_ITEM_SNAPSHOT)
            assert_true(!b.snapshot == (b.needs && (b.offset < needs || b.needs < needs)));
    } while (a.type != NETPROF_ITEM_END);
    if (!noise) assert_int_equal(decoded, last);
    netprof_reader_close(whole);
    netprof_reader_close(scan);
    netprof_reader_close(passing);
}

static struct things read_data(const void *data, size_t size, const netprof_limits *limits)
{
    netprof_reader *reader = NULL;
    netprof_error error;
    // a copy of exactly this size: one byte too far is seen by the address sanitizer
    unsigned char *copy = malloc(size + !size);
    if (size) memcpy(copy, data, size);
    static unsigned turn;
    netprof_err failed = netprof_reader_open_memory(&reader, copy, size, limits, &error);
    if (++turn % 4 == 0) check_in_pieces(copy, size, limits); // of the thousands of damaged ones some are enough
    if (turn % 8 == 1) check_passing(copy, size, limits);
    struct things things = {.count = 0};
    if (!failed)
        things = read_items(reader);
    else
        assert_null(reader);
    things.opened = failed;
    netprof_reader_close(reader);
    free(copy);
    return things;
}

static const char *thing_difference(const struct thing *a, const struct thing *b, int64_t tolerance,
                                    const uint8_t *exact)
{
    if (a->type != b->type) return "type";
    switch (a->type) {
    case NETPROF_ITEM_FACT: return same_text(a->key, b->key) && same_text(a->value, b->value) ? NULL : "fact";
    case NETPROF_ITEM_SNAPSHOT: return snapshot_difference(&a->snapshot, &b->snapshot, tolerance, exact);
    case NETPROF_ITEM_DELTA: return delta_difference(&a->delta, &b->delta);
    default: return "damage";
    }
}

/* -- writing what was generated, or read -- */

static void write_things(const struct things *things, struct sink *to)
{
    netprof_writer *writer;
    netprof_error error;
    assert_int_equal(netprof_writer_open_fn(&writer, sink_write, to, &error), NETPROF_OK);
    for (size_t i = 0; i < things->count; i++) {
        const struct thing *thing = &things->all[i];
        netprof_err failed = NETPROF_OK;
        if (thing->type == NETPROF_ITEM_FACT) failed = netprof_write_fact(writer, thing->key, thing->value, &error);
        if (thing->type == NETPROF_ITEM_SNAPSHOT) failed = netprof_write_snapshot(writer, &thing->snapshot, &error);
        if (thing->type == NETPROF_ITEM_DELTA) failed = netprof_write_delta(writer, &thing->delta, &error);
        assert_int_equal(failed, NETPROF_OK);
    }
    assert_int_equal(netprof_writer_close(writer, 1, &error), NETPROF_OK);
}

// Facts, snapshots of one to three schemas in turn, deltas between them.
static struct things generate_things(uint64_t seed, size_t most_counters, size_t count, int wild)
{
    const netprof_diff_options force = {.force = 1}; // whatever the generated times are
    struct things things = {.count = 0};
    const netprof_schema *schemas[3];
    size_t last[3] = {SIZE_MAX, SIZE_MAX, SIZE_MAX}, n = 1 + random_below(&seed, 3);
    char name[NAME_ROOM] = "k";
    for (size_t i = 0; i < n; i++)
        schemas[i] = generate_schema(random_next(&seed), most_counters);
    while (things.count < count) {
        size_t k = random_below(&seed, n);
        switch (random_below(&seed, 10)) {
        case 0: {
            struct thing *thing = things_add(&things, NETPROF_ITEM_FACT);
            generate_name(&seed, name);
            thing->key = strdup(name);
            generate_name(&seed, name);
            thing->value = strdup(name);
            break;
        }
        case 1: {
            if (last[0] == SIZE_MAX) break;
            struct thing *thing = things_add(&things, NETPROF_ITEM_DELTA);
            size_t other = random_below(&seed, n);
            if (last[other] == SIZE_MAX) other = 0;
            netprof_delta delta = NETPROF_ZERO;
            assert_int_equal(
                netprof_diff(&things.all[last[0]].snapshot, &things.all[last[other]].snapshot, &force, &delta, NULL),
                NETPROF_OK);
            for (size_t i = 0; wild && i < delta.schema->counter_count; i++) {
                delta.values[i] = generate_value(&seed);
                delta.elapsed_ns[i] = (int64_t)generate_value(&seed);
            }
            copy_delta(&thing->delta, &delta);
            netprof_delta_free(&delta);
            break;
        }
        default: {
            netprof_snapshot s = NETPROF_ZERO;
            generate_snapshot(&seed, schemas[k], last[k] == SIZE_MAX ? NULL : &things.all[last[k]].snapshot,
                              wild && random_below(&seed, 2), &s);
            last[k] = things.count;
            things_add(&things, NETPROF_ITEM_SNAPSHOT)->snapshot = s;
        }
        }
    }
    for (size_t i = 0; i < n; i++)
        netprof_schema_release(schemas[i]);
    return things;
}

/* -- round trips -- */

static uint64_t take_varint(const unsigned char **p)
{
    uint64_t v = 0;
    int shift = 0;
    do
        v |= (uint64_t)(**p & 127) << shift, shift += 7;
    while (*(*p)++ & 128);
    return v;
}

// Position of the snapshot chunk in its chain: 0 = begins it; *schema is set.
static uint64_t position_of_snapshot(const unsigned char *chunk, size_t *schema)
{
    const unsigned char *p = chunk + 12;
    assert_memory_equal(chunk, "STEP", 4);
    *schema = (size_t)take_varint(&p);
    p += 4; // what it builds on
    return take_varint(&p);
}

// What one writing may take from the stamps: `last` is the snapshot of the schema before, or NULL; until the pace is known
// the next one may begin as soon as this one ends.
static int64_t stamp_slack(const netprof_snapshot *s, const netprof_snapshot *last, size_t position)
{
    int64_t slack = 65536 * 8192LL, took = (int64_t)((uint64_t)s->end_ns - (uint64_t)s->begin_ns);
    if (took < 0) took = 0;
    if (last) slack = s->begin_ns > last->begin_ns && last->begin_ns >= 0 ? s->begin_ns - last->begin_ns : 0;
    if (position < 8 && took < slack) slack = took;
    return slack / 8192 < 65536 ? slack / 8192 : 65536;
}

// What was read, written again, is the same to the byte.
static void check_round_trip(const struct things *things)
{
    struct sink file = {0}, again = {0};
    const netprof_snapshot *last[64] = {NULL};
    uint64_t positions[64] = {0};
    size_t counts[64] = {0};
    write_things(things, &file);
    struct things back = read_data(file.data, file.size, NULL);
    assert_int_equal(back.opened, NETPROF_OK);
    assert_int_equal(back.damages, 0);
    assert_int_equal(back.complete, 1);
    assert_int_equal(back.count, things->count);
    for (size_t i = 0; i < things->count; i++) {
        const struct thing *was = &things->all[i], *is = &back.all[i];
        int64_t tolerance = 0;
        if (was->type == NETPROF_ITEM_SNAPSHOT) {
            size_t number;
            uint64_t position = position_of_snapshot(file.data + is->offset, &number);
            assert_true(number < COUNT(last));
            assert_int_equal(position, last[number] ? (positions[number] + 1) % 64 : 0);
            tolerance = is->snapshot.stamp_error_ns;
            assert_true(tolerance >= 0 && tolerance <= stamp_slack(&was->snapshot, last[number], counts[number]++));
            positions[number] = position;
            last[number] = &was->snapshot;
        }
        assert_same(thing_difference(is, was, tolerance, NULL));
    }
    write_things(&back, &again);
    assert_int_equal(again.size, file.size);
    assert_memory_equal(again.data, file.data, file.size);
    things_free(&back);
    sink_free(&file);
    sink_free(&again);
}

static void round_trips(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 120; seed++) {
        struct things things = generate_things(seed, 60, 12, seed % 3 == 0);
        check_round_trip(&things);
        things_free(&things);
    }
}

static void round_trips_of_several_chains(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct things things = generate_things(1000 + seed, 12, 210, 0);
        check_round_trip(&things);
        things_free(&things);
    }
}

static void round_trips_of_long_lists(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct things things = generate_things(2000 + seed, 700, 6, 0);
        check_round_trip(&things);
        things_free(&things);
    }
}

// The names that a run of names could get wrong.
static void names_that_count_on(void **state)
{
    (void)state;
    static const char *const names[] = {"a9",
                                        "a10",
                                        "a11",
                                        "a99",
                                        "a100",
                                        "a09",
                                        "a10x",
                                        "b09",
                                        "b10",
                                        "b00",
                                        "b01",
                                        "b1",
                                        "b2",
                                        "0",
                                        "1",
                                        "9",
                                        "10",
                                        "c18446744073709551615",
                                        "c18446744073709551616",
                                        "c99999999999999999999",
                                        "c100000000000000000000",
                                        "d",
                                        "d0",
                                        "d1",
                                        "d2",
                                        "d3",
                                        "e\xff"
                                        "8",
                                        "e\xff"
                                        "9",
                                        "e\xff"
                                        "10",
                                        "-1",
                                        "-2",
                                        "08",
                                        "09",
                                        "010"};
    netprof_list *list = netprof_build_begin(NULL);
    const netprof_schema *schema;
    netprof_build_source(list, "s");
    netprof_list_device(list, "d", 0, 0);
    for (size_t i = 0; i < COUNT(names); i++)
        netprof_list_counter(list, &(netprof_counter){.name = names[i], .unit = "u"});
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    for (size_t i = 0; i < COUNT(names); i++)
        assert_string_equal(schema->counters[i].name, names[i]);
    struct things things = {.count = 0};
    netprof_snapshot s = snapshot_of(schema);
    for (size_t i = 0; i < COUNT(names); i++)
        s.values[i] = i * i;
    things_add(&things, NETPROF_ITEM_SNAPSHOT)->snapshot = s;
    check_round_trip(&things);
    things_free(&things);
}

// Arrays of a snapshot that its caller filled in by hand: what has no value has none in the file either.
static void leftovers_behind_a_status(void **state)
{
    (void)state;
    static const struct row rows[] = {{"s", "d", "a", 0, 64, 1, NETPROF_STAMPED, 1}, {"s", "d", "b", 0, 64, 1, 0, 1}};
    struct sink file = {0};
    netprof_snapshot s = snapshot_of(schema_of_rows(rows, 2, NULL, NULL));
    netprof_writer *writer;
    assert_int_equal(netprof_writer_open_fn(&writer, sink_write, &file, NULL), NETPROF_OK);
    s.values[0] = 77, s.stamps_ns[0] = 5;
    s.values[1] = 1;
    s.status[0] = NETPROF_STATUS_DENIED; // the 77 should not be there
    assert_int_equal(netprof_write_snapshot(writer, &s, NULL), NETPROF_OK);
    s.status[0] = NETPROF_STATUS_OK;
    s.values[0] = 80;
    assert_int_equal(netprof_write_snapshot(writer, &s, NULL), NETPROF_OK);
    assert_int_equal(netprof_writer_close(writer, 1, NULL), NETPROF_OK);
    struct things back = read_data(file.data, file.size, NULL);
    assert_int_equal(back.count, 2);
    assert_int_equal(back.all[0].snapshot.values[0], 0);
    assert_int_equal(back.all[1].snapshot.values[0], 80);
    things_free(&back);
    sink_free(&file);
    netprof_snapshot_free(&s);
}

/* -- what a chain of snapshots expects, and does not -- */

// One device of counters and gauges that do all that counters should not: every value comes back as it was.
static uint64_t odd_value(int which, uint64_t i, uint64_t *seed)
{
    switch (which) {
    case 0: return 7;                                                            // rests
    case 1: return 1000 * i;                                                     // constant rate
    case 2: return 12345678901 * i + random_below(seed, 1000000);                // noisy rate
    case 3: return UINT64_MAX - 30000 + 1000 * i;                                // wraps at 2^64
    case 4: return (((uint64_t)1 << 56) - 30000 + 1000 * i) & (UINT64_MAX >> 8); // and at 2^56
    case 5: return i % 50 < 25 ? 1000000 * i : 1000000 * (i % 50 - 25);          // starts again
    case 6: return 1000000 - 5000 * i + random_below(seed, 100);                 // goes down
    case 7: return i % 2 ? UINT64_MAX : 0;                                       // the extremes
    case 8: return random_next(seed);                                            // noise
    case 9: return i < 40 || i > 90 ? 500 : 500 + 1000000 * (i - 40);            // a burst, and back
    case 10: return i < 100 ? 0 : (uint64_t)1 << 63;                             // one leap
    case 11: return 3 * (12345678901 * i) + random_below(seed, 100);             // the same traffic as 2
    case 12: return (uint64_t)(int64_t)(-5 + (int64_t)random_below(seed, 10));   // signed, about 0
    case 13: return (uint64_t)1 << (i % 64);                                     // each length
    default: return random_below(seed, 3) ? 1 : random_below(seed, 1000);        // mostly the same
    }
}

static void values_that_no_one_expects(void **state)
{
    (void)state;
    enum { KINDS = 4, ODD = 15 };
    struct row rows[KINDS * ODD];
    static char names[KINDS * ODD][8];
    uint64_t seed = 8;
    for (size_t k = 0; k < KINDS * ODD; k++) {
        sprintf(names[k], "c%zu", k);
        rows[k] = (struct row){"s", "d", names[k], (int)(k / ODD), 64, 1, 0, 1};
    }
    const netprof_schema *schema = schema_of_rows(rows, KINDS * ODD, NULL, NULL);
    assert_int_equal(schema->counters[ODD].kind, NETPROF_KIND_GAUGE);
    assert_int_equal(schema->counters[3 * ODD].kind, NETPROF_KIND_HISTOGRAM);
    struct things things = {.count = 0};
    for (uint64_t i = 0; i < 140; i++) {
        netprof_snapshot s = NETPROF_ZERO;
        assert_int_equal(netprof_snapshot_make(&s, schema, NULL), NETPROF_OK);
        memset(s.status, NETPROF_STATUS_OK, schema->counter_count);
        for (size_t k = 0; k < schema->counter_count; k++)
            s.values[k] = odd_value((int)(k % ODD), i, &seed);
        things_add(&things, NETPROF_ITEM_SNAPSHOT)->snapshot = s;
    }
    netprof_schema_release(schema);
    check_round_trip(&things);
    things_free(&things);
}

// Devices that vanish and return, sets in turn, statuses that come and go, clocks that are set back, windows in common.
static void devices_and_statuses_that_change(void **state)
{
    (void)state;
    struct row rows[9];
    static char names[9][8], devices[3][8];
    for (size_t k = 0; k < 9; k++) {
        sprintf(names[k], "c%zu", k);
        sprintf(devices[k / 3], "d%zu", k / 3);
        rows[k] =
            (struct row){"s", devices[k / 3], names[k], 0, 56, 1, k % 3 ? NETPROF_STAMPED : NETPROF_FAST, 1 + k / 3};
    }
    const netprof_schema *schema = schema_of_rows(rows, 9, NULL, NULL);
    struct things things = {.count = 0};
    for (int64_t i = 0; i < 150; i++) {
        netprof_snapshot s = NETPROF_ZERO;
        assert_int_equal(netprof_snapshot_make(&s, schema, NULL), NETPROF_OK);
        s.set = i % 10 == 3 ? NETPROF_SET_ALL : NETPROF_SET_FAST;
        s.begin_ns = 5000000000 + 10000000 * i;
        s.end_ns = s.begin_ns + 40000;
        s.wall_ns = 1700000000000000000 + s.begin_ns - (i > 70 ? 3600000000000 : 0);
        for (size_t d = 0; d < 3; d++) {
            int gone = d == 1 && i % 40 > 20, whole = i > 100 && d == 2; // as the device before it
            if (gone) continue;
            s.device_begin_ns[d] = whole ? s.device_begin_ns[1] : s.begin_ns + 10000 * (int64_t)d + i % 7;
            s.device_end_ns[d] = whole ? s.device_end_ns[1] : s.device_begin_ns[d] + 9000 + i % 11;
        }
        for (size_t k = 0; k < 9; k++) {
            int gone = k / 3 == 1 && i % 40 > 20;
            s.status[k] = gone                                 ? NETPROF_STATUS_VANISHED
                          : s.set == NETPROF_SET_FAST && k % 3 ? NETPROF_STATUS_SKIPPED
                          : k == 6 && i % 30 == 29             ? NETPROF_STATUS_SATURATED
                                                               : NETPROF_STATUS_OK;
            s.errnos[k] = gone ? ENODEV : 0;
            if (gone || s.status[k] == NETPROF_STATUS_SKIPPED) continue;
            s.values[k] = (uint64_t)(1000 * i) * (k + 1) + (uint64_t)i % 5;
            if (k % 3 && i % 20 != 13) s.stamps_ns[k] = s.wall_ns + 1000 * (int64_t)k + i % 3;
        }
        s.not_ok = netprof__count_not_ok(&s);
        things_add(&things, NETPROF_ITEM_SNAPSHOT)->snapshot = s;
    }
    netprof_schema_release(schema);
    check_round_trip(&things);
    things_free(&things);
}

// A thousand counters that rest or grow at a constant rate take a few bytes, whatever their values.
static void what_is_expected_costs_nothing(void **state)
{
    (void)state;
    enum { MANY = 1000 };
    struct row rows[MANY];
    static char names[MANY][8];
    struct sink file = {0};
    netprof_writer *writer;
    for (size_t k = 0; k < MANY; k++) {
        sprintf(names[k], "c%zu", k);
        rows[k] = (struct row){"s", "d", names[k], NETPROF_KIND_COUNTER, 64, 1, 0, 1};
    }
    netprof_snapshot s = snapshot_of(schema_of_rows(rows, MANY, NULL, NULL));
    assert_int_equal(netprof_writer_open_fn(&writer, sink_write, &file, NULL), NETPROF_OK);
    for (uint64_t i = 0; i < 64; i++) {
        s.begin_ns = s.device_begin_ns[0] = (int64_t)(1000000000 * i);
        s.end_ns = s.device_end_ns[0] = s.begin_ns + 5000;
        s.wall_ns = 1700000000000000000 + s.begin_ns;
        for (size_t k = 0; k < MANY; k++)
            s.values[k] = 1234567 * k + (k % 2 ? i * k * k : 0);
        assert_int_equal(netprof_write_snapshot(writer, &s, NULL), NETPROF_OK);
    }
    assert_int_equal(netprof_writer_close(writer, 1, NULL), NETPROF_OK);
    struct chunks chunks = chunks_of(&file);
    for (size_t i = 4; i <= 64; i++)
        assert_true(chunks.at[i + 1] - chunks.at[i] <= 40);
    sink_free(&file);
    netprof_snapshot_free(&s);
}

// Stamps of a real node's kind: read one after the other, 6 to 8 us apart, now and then interrupted.
static void stamps_within_what_is_said(void **state)
{
    (void)state;
    enum { MANY = 300 };
    static const int64_t intervals[] = {10000, 1000000, 100000000, 1000000000, 60000000000};
    struct row rows[MANY];
    static char names[MANY][8];
    uint64_t seed = 21;
    for (size_t k = 0; k < MANY; k++) {
        sprintf(names[k], "c%zu", k);
        rows[k] = (struct row){"s", "d", names[k], NETPROF_KIND_COUNTER, 64, 1, NETPROF_STAMPED, 1};
    }
    const netprof_schema *schema = schema_of_rows(rows, MANY, NULL, NULL);
    for (size_t n = 0; n < COUNT(intervals); n++) {
        struct things things = {.count = 0};
        int64_t worst = 0;
        for (int64_t i = 0; i < 70; i++) {
            netprof_snapshot s = NETPROF_ZERO;
            assert_int_equal(netprof_snapshot_make(&s, schema, NULL), NETPROF_OK);
            memset(s.status, NETPROF_STATUS_OK, MANY);
            s.begin_ns = 1000000000 + i * intervals[n];
            s.wall_ns = 1700000000000000000 + s.begin_ns;
            int64_t now = s.wall_ns;
            for (size_t k = 0; k < MANY; k++) {
                now += 6000 + (int64_t)random_below(&seed, 2000) + (random_below(&seed, 100) ? 0 : 20000);
                s.stamps_ns[k] = now;
            }
            s.end_ns = s.begin_ns + (now - s.wall_ns < intervals[n] ? now - s.wall_ns : intervals[n]);
            things_add(&things, NETPROF_ITEM_SNAPSHOT)->snapshot = s;
        }
        check_round_trip(&things);
        struct sink file = {0};
        write_things(&things, &file);
        struct things back = read_data(file.data, file.size, NULL);
        for (size_t i = 0; i < back.count; i++)
            if (back.all[i].snapshot.stamp_error_ns > worst) worst = back.all[i].snapshot.stamp_error_ns;
        assert_int_equal(worst > 0, intervals[n] >= 2 * 4 * 8192); // finer than cells of 2 ns there is nothing to save
        things_free(&back);
        sink_free(&file);
        things_free(&things);
    }
    netprof_schema_release(schema);
}

// Two readings of a real node's counters, one value in ten changed: the stamps of the second cost little, and no time
// between the two is off by more than 1/8192 of a reading, twice.
static void a_second_snapshot_is_small(void **state)
{
    (void)state;
    enum { MANY = 2000 };
    struct row rows[MANY];
    static char names[MANY][8];
    struct things things = {.count = 0};
    struct sink file = {0};
    uint64_t seed = 22;
    for (size_t k = 0; k < MANY; k++) {
        sprintf(names[k], "c%zu", k);
        rows[k] = (struct row){"s", "d", names[k], NETPROF_KIND_COUNTER, 64, 1, NETPROF_STAMPED, 1};
    }
    const netprof_schema *schema = schema_of_rows(rows, MANY, NULL, NULL);
    for (int64_t i = 0; i < 2; i++) {
        netprof_snapshot s = NETPROF_ZERO;
        assert_int_equal(netprof_snapshot_make(&s, schema, NULL), NETPROF_OK);
        memset(s.status, NETPROF_STATUS_OK, MANY);
        s.begin_ns = s.device_begin_ns[0] = 1000000000 * (i + 1);
        s.wall_ns = s.begin_ns + 1700000000000000000;
        int64_t now = s.wall_ns;
        for (size_t k = 0; k < MANY; k++) {
            now += 6000 + (int64_t)random_below(&seed, 2000) + (random_below(&seed, 100) ? 0 : 20000);
            s.stamps_ns[k] = now;
            s.values[k] = (uint64_t)(i && k % 10 == 0) * random_below(&seed, 1000);
        }
        s.end_ns = s.device_end_ns[0] = s.begin_ns + (now - s.wall_ns);
        things_add(&things, NETPROF_ITEM_SNAPSHOT)->snapshot = s;
    }
    write_things(&things, &file);
    struct chunks chunks = chunks_of(&file);
    assert_true(chunks.at[3] - chunks.at[2] <= (size_t)12 * 1024 * MANY / 15120);
    struct things back = read_data(file.data, file.size, NULL);
    const int64_t most = (back.all[0].snapshot.end_ns - back.all[0].snapshot.begin_ns) / 8192 * 2 + 1000;
    for (size_t k = 0; k < MANY; k++) {
        int64_t truth = things.all[1].snapshot.stamps_ns[k] - things.all[0].snapshot.stamps_ns[k];
        int64_t is = back.all[1].snapshot.stamps_ns[k] - back.all[0].snapshot.stamps_ns[k];
        assert_true(is - truth <= most && truth - is <= most);
    }
    netprof_schema_release(schema);
    things_free(&back);
    things_free(&things);
    sink_free(&file);
}

/* -- damage -- */

// Small, with two schemas, snapshots that build on others, a fact and a delta.
static struct things small_things(void)
{
    struct things things = {.count = 0};
    struct row rows[] = {{"cxi", "cxi0", "rx_9", NETPROF_KIND_COUNTER, 56, 1, NETPROF_STAMPED, 7},
                         {"cxi", "cxi0", "rx_10", NETPROF_KIND_COUNTER, 56, 1, NETPROF_STAMPED, 7},
                         {"cxi", "cxi0", "rx_11", NETPROF_KIND_COUNTER, 56, 1, NETPROF_STAMPED, 7},
                         {"cxi", "cxi0", "rx_12", NETPROF_KIND_COUNTER, 56, 1, NETPROF_STAMPED, 7}};
    const netprof_schema *schemas[2];
    uint64_t seed = 3;
    schemas[0] = schema_of_rows(rows, 4, "n", "b");
    rows[0].identity = rows[1].identity = rows[2].identity = rows[3].identity = 8;
    schemas[1] = schema_of_rows(rows, 3, "n", "b");
    for (int i = 0; i < 9; i++) {
        netprof_snapshot s = NETPROF_ZERO;
        const netprof_schema *schema = schemas[i == 4 || i == 5];
        assert_int_equal(netprof_snapshot_make(&s, schema, NULL), NETPROF_OK);
        memset(s.status, NETPROF_STATUS_OK, schema->counter_count);
        s.begin_ns = 1000 * i, s.end_ns = 1000 * i + 500, s.wall_ns = 1700000000000000000 + s.begin_ns;
        s.set = i == 2 || i == 3 ? NETPROF_SET_FAST : NETPROF_SET_ALL;
        for (size_t k = 0; k < schema->counter_count; k++) {
            s.values[k] = 1000000 * (uint64_t)(i + 1) * (k % 2) + 17 + random_below(&seed, 5);
            s.stamps_ns[k] = s.wall_ns + 10 * (int64_t)k;
        }
        things_add(&things, NETPROF_ITEM_SNAPSHOT)->snapshot = s;
        if (i == 1) {
            struct thing *fact = things_add(&things, NETPROF_ITEM_FACT);
            fact->key = strdup("command");
            fact->value = strdup("sleep 1");
        }
        if (i == 5) {
            netprof_delta d = NETPROF_ZERO;
            assert_int_equal(netprof_diff(&things.all[0].snapshot, &s, NULL, &d, NULL), NETPROF_OK);
            copy_delta(&things_add(&things, NETPROF_ITEM_DELTA)->delta, &d);
            netprof_delta_free(&d);
        }
    }
    netprof_schema_release(schemas[0]);
    netprof_schema_release(schemas[1]);
    return things;
}

// Every delivered item is one of the originals, in their order; returns how many originals are missing.
static size_t check_only_originals(const struct things *got, const struct things *originals)
{
    size_t k = 0, found = 0;
    for (size_t i = 0; i < got->count; i++) {
        if (got->all[i].type == NETPROF_ITEM_DAMAGE) continue;
        while (k < originals->count && thing_difference(&got->all[i], &originals->all[k], 0, NULL))
            k++;
        if (k == originals->count) fail_msg("item %zu is none of the originals", i);
        k++;
        found++;
    }
    return originals->count - found;
}

// Ticks a second apart with pairs 10 ms apart among them: no rate of a pair is off by more than 1/4096.
static void stamps_of_uneven_times(void **state)
{
    (void)state;
    static const struct row rows[] = {{"s", "d", "a", 0, 64, 1, NETPROF_STAMPED, 1},
                                      {"s", "d", "b", 0, 64, 1, NETPROF_STAMPED, 1}};
    const netprof_schema *schema = schema_of_rows(rows, 2, NULL, NULL);
    struct things things = {.count = 0};
    struct sink file = {0};
    uint64_t seed = 5;
    int64_t now = 1000000000, worst = 0;
    for (size_t i = 0; i < 200; i++) {
        netprof_snapshot s = NETPROF_ZERO;
        assert_int_equal(netprof_snapshot_make(&s, schema, NULL), NETPROF_OK);
        memset(s.status, NETPROF_STATUS_OK, 2);
        now += i % 5 == 4 ? 10000000 : 1000000000;
        s.begin_ns = now, s.end_ns = now + 9000000;
        s.wall_ns = 1700000000000000000 + now;
        for (size_t k = 0; k < 2; k++)
            s.stamps_ns[k] = s.wall_ns + 7000 * (int64_t)k + (int64_t)random_below(&seed, 3000);
        things_add(&things, NETPROF_ITEM_SNAPSHOT)->snapshot = s;
    }
    netprof_schema_release(schema);
    write_things(&things, &file);
    struct things back = read_data(file.data, file.size, NULL);
    assert_int_equal(back.count, 200);
    for (size_t i = 0; i + 1 < 200; i++) {
        netprof_delta delta = NETPROF_ZERO;
        const netprof_snapshot *a = &back.all[i].snapshot, *b = &back.all[i + 1].snapshot;
        assert_int_equal(netprof_diff(a, b, NULL, &delta, NULL), NETPROF_OK);
        assert_int_equal(delta.stamp_error_ns, a->stamp_error_ns + b->stamp_error_ns);
        assert_true(delta.stamp_error_ns <= delta.interval_ns / 4096);
        for (size_t k = 0; k < 2; k++) {
            int64_t truth = things.all[i + 1].snapshot.stamps_ns[k] - things.all[i].snapshot.stamps_ns[k];
            int64_t off = delta.elapsed_ns[k] > truth ? delta.elapsed_ns[k] - truth : truth - delta.elapsed_ns[k];
            assert_true(off <= delta.stamp_error_ns);
            if (off > worst) worst = off;
        }
        netprof_delta_free(&delta);
    }
    assert_true(worst > 0);
    things_free(&things);
    things_free(&back);
    sink_free(&file);
}

// A burst is sharp, and so is what follows for a while. The rest of a long recording is not kept as sharp as its
// sharpest moment: two chains later the stamps are rounded as if there had been none.
static void a_burst_is_forgotten(void **state)
{
    (void)state;
    enum { TICKS = 64 * 6, BURST = 20 }; // chains of 64, the burst in the first one
    static const struct row rows[] = {{"s", "d", "a", 0, 64, 1, NETPROF_STAMPED, 1},
                                      {"s", "d", "b", 0, 64, 1, NETPROF_STAMPED, 1}};
    const netprof_schema *schema = schema_of_rows(rows, 2, NULL, NULL);
    struct things things = {.count = 0};
    struct sink file = {0};
    uint64_t seed = 6;
    int64_t now = 1000000000, sharpest = 0, late = 0;
    for (size_t i = 0; i < TICKS; i++) {
        netprof_snapshot s = NETPROF_ZERO;
        assert_int_equal(netprof_snapshot_make(&s, schema, NULL), NETPROF_OK);
        memset(s.status, NETPROF_STATUS_OK, 2);
        now += i >= BURST && i < 2 * BURST ? 50000 : 1000000000;
        s.begin_ns = now, s.end_ns = now + 45000;
        s.wall_ns = 1700000000000000000 + now;
        for (size_t k = 0; k < 2; k++)
            s.stamps_ns[k] = s.wall_ns + 20000 * (int64_t)k + (int64_t)random_below(&seed, 20000);
        things_add(&things, NETPROF_ITEM_SNAPSHOT)->snapshot = s;
    }
    netprof_schema_release(schema);
    write_things(&things, &file);
    struct things back = read_data(file.data, file.size, NULL);
    assert_int_equal(back.count, TICKS);
    for (size_t i = BURST + 1; i < TICKS; i++) {
        int64_t error = back.all[i].snapshot.stamp_error_ns;
        if (i < 64 && error > sharpest) sharpest = error;
        if (i >= 3 * 64 && error > late) late = error;
    }
    assert_int_equal(sharpest, 0); // 1/8192 of 50 us is not worth rounding
    assert_true(late > 1000000000 / 8192 / 16);
    assert_true(late <= 1000000000 / 8192);
    things_free(&things);
    things_free(&back);
    sink_free(&file);
}

static void cut_at_every_byte(void **state)
{
    (void)state;
    struct things things = small_things();
    struct sink file = {0};
    write_things(&things, &file);
    struct chunks chunks = chunks_of(&file);
    struct things whole = read_data(file.data, file.size, NULL);
    assert_int_equal(whole.count, things.count);
    for (size_t cut = 0; cut <= file.size; cut++) {
        struct things got = read_data(file.data, cut, NULL);
        size_t expected = 0, at_boundary = cut == 16;
        if (cut < 16) {
            assert_int_equal(got.opened, NETPROF_ERR_FORMAT);
            things_free(&got);
            continue;
        }
        assert_int_equal(got.opened, NETPROF_OK);
        for (size_t i = 1; i <= chunks.count; i++)
            at_boundary |= cut == chunks.at[i];
        for (size_t i = 0; i < whole.count; i++)
            expected += whole.all[i].offset + whole.all[i].size <= cut;
        assert_int_equal(got.count - got.damages, expected);
        assert_int_equal(got.damages, at_boundary ? 0 : 1);
        if (!at_boundary) { // the damage is the rest, to the byte
            const struct thing *last = &got.all[got.count - 1];
            assert_int_equal(last->type, NETPROF_ITEM_DAMAGE);
            assert_int_equal(last->offset + last->size, cut);
        }
        for (size_t i = 0; i < expected; i++)
            assert_same(thing_difference(&got.all[i], &whole.all[i], 0, NULL));
        assert_int_equal(got.complete, cut == file.size);
        things_free(&got);
    }
    things_free(&whole);
    things_free(&things);
    sink_free(&file);
}

static void flip_every_bit(void **state)
{
    (void)state;
    struct things things = small_things();
    struct sink file = {0};
    write_things(&things, &file);
    struct things whole = read_data(file.data, file.size, NULL);
    for (size_t at = 0; at < file.size; at++) {
        for (int bit = 0; bit < 9; bit++) {
            unsigned char mask = (unsigned char)(bit < 8 ? 1 << bit : 255);
            file.data[at] ^= mask;
            struct things got = read_data(file.data, file.size, NULL);
            if (at < 16) {
                int reserved = at == 10 || at == 11;
                assert_true(reserved ? got.opened == NETPROF_OK : got.opened != NETPROF_OK);
            } else {
                size_t missing = check_only_originals(&got, &whole);
                assert_true(got.damages > 0);
                assert_true(missing == 0 || got.damages > 0);
                assert_int_equal(got.complete, 0);
            }
            things_free(&got);
            file.data[at] ^= mask;
        }
    }
    things_free(&whole);
    things_free(&things);
    sink_free(&file);
}

// A chunk that is gone without a trace (a lost write, a careless edit), given twice, or swapped with the next.
static void chunks_lost_doubled_and_swapped(void **state)
{
    (void)state;
    struct things things = small_things();
    struct sink file = {0};
    write_things(&things, &file);
    struct chunks chunks = chunks_of(&file);
    struct things whole = read_data(file.data, file.size, NULL);
    for (size_t i = 0; i + 1 < chunks.count; i++) { // the last is "END "
        size_t from = chunks.at[i], to = chunks.at[i + 1], end = chunks.at[i + 2];
        struct sink lost = {0};
        sink_write(&lost, file.data, from);
        sink_write(&lost, file.data + to, file.size - to);
        struct things got = read_data(lost.data, lost.size, NULL);
        assert_int_equal(got.opened, NETPROF_OK);
        check_only_originals(&got, &whole);
        assert_int_equal(got.complete, 0);
        things_free(&got);
        sink_free(&lost);

        struct sink swapped = {0};
        sink_write(&swapped, file.data, from);
        sink_write(&swapped, file.data + to, end - to);
        sink_write(&swapped, file.data + from, to - from);
        sink_write(&swapped, file.data + end, file.size - end);
        got = read_data(swapped.data, swapped.size, NULL);
        for (size_t k = 0; k < got.count; k++) { // whatever the order: nothing that was never written
            size_t m = 0;
            if (got.all[k].type == NETPROF_ITEM_DAMAGE) continue;
            while (m < whole.count && thing_difference(&got.all[k], &whole.all[m], 0, NULL))
                m++;
            assert_true(m < whole.count);
        }
        things_free(&got);
        sink_free(&swapped);

        struct sink twice = {0};
        sink_write(&twice, file.data, to);
        sink_write(&twice, file.data + from, file.size - from);
        got = read_data(twice.data, twice.size, NULL);
        assert_true(got.count >= whole.count);
        assert_int_equal(got.complete, 0);
        things_free(&got);
        sink_free(&twice);
    }
    things_free(&whole);
    things_free(&things);
    sink_free(&file);
}

// A damaged snapshot costs itself and the rest of its chain; with the next chain all come back.
static void what_a_damaged_snapshot_costs(void **state)
{
    (void)state;
    static const struct row rows[] = {{"s", "d", "a", 0, 64, 1, 0, 1}, {"s", "d", "b", 0, 64, 1, 0, 1}};
    static const size_t damaged[] = {0, 1, 10, 63, 64, 65, 127, 128, 190, 199};
    netprof_snapshot s = snapshot_of(schema_of_rows(rows, 2, NULL, NULL));
    struct sink file = {0};
    netprof_writer *writer;
    assert_int_equal(netprof_writer_open_fn(&writer, sink_write, &file, NULL), NETPROF_OK);
    for (uint64_t i = 0; i < 200; i++) {
        s.values[0] = 5 + 1000 * i + i % 7;
        s.values[1] = i % 3;
        assert_int_equal(netprof_write_snapshot(writer, &s, NULL), NETPROF_OK);
    }
    assert_int_equal(netprof_writer_close(writer, 1, NULL), NETPROF_OK);
    struct chunks chunks = chunks_of(&file);
    assert_int_equal(chunks.count, 202); // SCHM, 200, END
    for (size_t k = 0; k < COUNT(damaged); k++) {
        size_t next = (damaged[k] / 64 + 1) * 64, seen = 0;
        if (next > 200) next = 200;
        file.data[chunks.at[1 + damaged[k]] + 16] ^= 4;
        struct things got = read_data(file.data, file.size, NULL);
        for (size_t i = 0; i < got.count; i++) {
            if (got.all[i].type != NETPROF_ITEM_SNAPSHOT) continue;
            if (seen == damaged[k]) seen = next;
            assert_int_equal(got.all[i].snapshot.values[0], 5 + 1000 * seen + seen % 7);
            assert_int_equal(got.all[i].snapshot.values[1], seen % 3);
            seen++;
        }
        assert_int_equal(seen == damaged[k] ? next : seen, 200);
        assert_int_equal(got.damages, next - damaged[k]);
        assert_int_equal(got.complete, 0);
        things_free(&got);
        file.data[chunks.at[1 + damaged[k]] + 16] ^= 4;
    }
    sink_free(&file);
    netprof_snapshot_free(&s);
}

// cat a.netprof b.netprof: each is read by its own schemas, and whether the first was closed is told between them.
static void check_two_files(int cut)
{
    static const struct row rows[] = {{"s", "d", "a", 0, 64, 1, 0, 1}, {"s", "d", "b", 0, 64, 1, 0, 1}};
    static const struct row others[] = {{"s", "e", "x", 0, 64, 1, 0, 1}, {"s", "e", "y", 0, 64, 1, 0, 1}};
    struct sink file = {0};
    struct things a = {.count = 0}, b = {.count = 0};
    for (uint64_t i = 0; i < 2; i++) {
        netprof_snapshot s = snapshot_of(schema_of_rows(i ? others : rows, 2, NULL, NULL));
        s.values[0] = 1 + i, s.values[1] = 10 + i;
        things_add(i ? &b : &a, NETPROF_ITEM_SNAPSHOT)->snapshot = s;
    }
    write_things(&a, &file);
    if (cut) file.size -= 5; // of the chunk END
    size_t first = file.size;
    write_things(&b, &file);
    struct things got = read_data(file.data, file.size, NULL);
    size_t at = cut ? 2 : 1; // the snapshot, what is left of END, the file
    assert_int_equal(got.count, at + 2);
    assert_same(thing_difference(&got.all[0], &a.all[0], 0, NULL));
    assert_int_equal(got.all[at].type, NETPROF_ITEM_FILE);
    assert_int_equal(got.all[at].offset, first);
    assert_int_equal(got.all[at].complete, !cut);
    assert_same(thing_difference(&got.all[at + 1], &b.all[0], 0, NULL));
    assert_int_equal(got.damages, cut);
    assert_int_equal(got.complete, 1);
    things_free(&got);
    // A second file of a later version is lost, and said so.
    file.data[first + 8] = 99;
    got = read_data(file.data, file.size, NULL);
    assert_int_equal(got.damages, cut + 1);
    assert_int_equal(got.complete, 0);
    check_in_pieces(file.data, file.size, NULL);
    things_free(&got);
    things_free(&a);
    things_free(&b);
    sink_free(&file);
}

// Where the beginning of the second of two files is lost, what is left of it, though whole, is not read by the first
// one's schema nor on top of the first one's snapshots, which it would fit.
static void a_second_file_without_its_beginning(void **state)
{
    (void)state;
    static const struct row rows[2][2] = {{{"s", "d", "a", 0, 64, 1, 0, 1}, {"s", "d", "b", 0, 64, 1, 0, 1}},
                                          {{"s", "e", "x", 0, 64, 1, 0, 1}, {"s", "e", "y", 0, 64, 1, 0, 1}}};
    for (size_t n = 1; n < 4; n++) { // snapshots of the first
        struct things both[2] = {{.count = 0}, {.count = 0}};
        struct sink first = {0}, second = {0};
        for (size_t f = 0; f < 2; f++) {
            const netprof_schema *schema = schema_of_rows(rows[f], 2, NULL, NULL);
            for (uint64_t i = 0; i < (f ? 70 : n); i++) {
                netprof_snapshot s = NETPROF_ZERO;
                assert_int_equal(netprof_snapshot_make(&s, schema, NULL), NETPROF_OK);
                memset(s.status, NETPROF_STATUS_OK, 2);
                s.begin_ns = (int64_t)(1000000 * i);
                s.values[0] = 100 * (i + 1), s.values[1] = 7 * i + f;
                things_add(&both[f], NETPROF_ITEM_SNAPSHOT)->snapshot = s;
            }
            netprof_schema_release(schema);
            write_things(&both[f], f ? &second : &first);
        }
        struct chunks of_first = chunks_of(&first), of_second = chunks_of(&second);
        assert_int_equal(of_second.count, 72);
        for (size_t lost = 1; lost < of_second.count; lost++) {
            struct sink file = {0};
            sink_write(&file, first.data, of_first.at[of_first.count - 1]); // without its END
            sink_write(&file, second.data + of_second.at[lost], second.size - of_second.at[lost]);
            struct things got = read_data(file.data, file.size, NULL);
            assert_int_equal(got.count - got.damages, n);
            assert_int_equal(got.damages, of_second.count - lost - 1);
            for (size_t i = 0; i < n; i++)
                assert_same(thing_difference(&got.all[i], &both[0].all[i], 0, NULL));
            for (size_t i = n; i < got.count; i++)
                assert_non_null(strstr(got.all[i].text, "lost"));
            assert_int_equal(got.complete, lost == n + 1); // as many chunks as END says
            things_free(&got);
            sink_free(&file);
        }
        for (size_t f = 0; f < 2; f++)
            things_free(&both[f]);
        sink_free(&first);
        sink_free(&second);
    }
}

// Where the header of the second of two files is damaged, but not its schema, which has a number that the first one's has:
// its deltas, which name it by that number, are not read by the first one's, nor are its facts the first one's. Behind the
// next header all is as ever, and so it is behind a snapshot of the first.
static void a_second_file_with_a_damaged_header(void **state)
{
    (void)state;
    static const struct row rows[2][1] = {{{"s", "d", "a", 0, 64, 1, 0, 1}}, {{"s", "e", "x", 0, 64, 1, 0, 1}}};
    struct sink parts[2] = {{0}, {0}}, file = {0}, stale = {0};
    for (int f = 0; f < 2; f++) {
        netprof_snapshot before = snapshot_of(schema_of_rows(rows[f], 1, NULL, NULL)), after = NETPROF_ZERO;
        netprof_delta delta = NETPROF_ZERO;
        netprof_writer *writer;
        assert_int_equal(netprof_snapshot_copy(&after, &before, NULL), NETPROF_OK);
        after.begin_ns = after.end_ns = after.wall_ns = 1000000000;
        after.values[0] = before.values[0] + 11 * (uint64_t)(f + 1);
        assert_int_equal(netprof_diff(&before, &after, &(netprof_diff_options){1, 0}, &delta, NULL), NETPROF_OK);
        assert_int_equal(netprof_writer_open_fn(&writer, sink_write, &parts[f], NULL), NETPROF_OK);
        assert_int_equal(netprof_write_delta(writer, &delta, NULL), NETPROF_OK);
        assert_int_equal(netprof_write_fact(writer, "file", f ? "second" : "first", NULL), NETPROF_OK);
        assert_int_equal(netprof_write_snapshot(writer, &after, NULL), NETPROF_OK);
        assert_int_equal(netprof_write_delta(writer, &delta, NULL), NETPROF_OK);
        assert_int_equal(netprof_writer_close(writer, 1, NULL), NETPROF_OK);
        netprof_delta_free(&delta);
        netprof_snapshot_free(&before);
        netprof_snapshot_free(&after);
    }
    for (int i = 0; i < 3; i++)
        sink_write(&file, parts[i & 1].data, parts[i & 1].size); // first, second, first
    file.data[parts[0].size + 3] ^= 1;
    struct things got = read_data(file.data, file.size, NULL);
    assert_int_equal(got.count, 4 + 6 + 5); // the header, SCHM, DIFF, FACT, STEP, DIFF; then FILE and the last one
    for (size_t i = 0; i < got.count; i++) {
        const struct thing *thing = &got.all[i];
        if (i >= 4 && i < 10) assert_int_equal(thing->type, NETPROF_ITEM_DAMAGE);
        if (i > 4 && i < 10) assert_non_null(strstr(thing->text, "lost"));
        if (thing->type == NETPROF_ITEM_DELTA) assert_int_equal(thing->delta.values[0], 11);
        if (thing->type == NETPROF_ITEM_FACT) assert_string_equal(thing->value, "first");
    }
    assert_int_equal(got.all[10].type, NETPROF_ITEM_FILE);
    things_free(&got);
    // A stretch of the second within the first, as a file system may leave it: behind its DIFF the first goes on.
    struct chunks of_first = chunks_of(&parts[0]), of_second = chunks_of(&parts[1]);
    sink_write(&stale, parts[0].data, of_first.at[2]);
    sink_write(&stale, parts[1].data + of_second.at[0], of_second.at[2] - of_second.at[0]);
    sink_write(&stale, parts[0].data + of_first.at[3], parts[0].size - of_first.at[3]);
    got = read_data(stale.data, stale.size, NULL);
    assert_int_equal(got.damages, 2);
    assert_int_equal(got.count, 5);
    assert_int_equal(got.all[0].delta.values[0], 11);
    assert_int_equal(got.all[3].type, NETPROF_ITEM_SNAPSHOT);
    assert_int_equal(got.all[4].delta.values[0], 11);
    things_free(&got);
    for (int f = 0; f < 2; f++)
        sink_free(&parts[f]);
    sink_free(&file);
    sink_free(&stale);
}

// Stretches of a file of several chains and schemas overwritten, zeroed, cut out or doubled: what is delivered was
// written, in that order, values, statuses and times to the bit.
static void stretches_lost(void **state)
{
    (void)state;
    for (uint64_t seed = 31; seed < 37; seed++) {
        struct things things = generate_things(seed, 10, 160, 0);
        uint64_t dice = seed;
        struct sink file = {0};
        write_things(&things, &file);
        struct things whole = read_data(file.data, file.size, NULL);
        size_t delivered = 0;
        for (size_t k = 0; k < 40; k++) {
            size_t from = 16 + random_below(&dice, file.size - 16), length = 1 + random_below(&dice, k % 2 ? 4096 : 64);
            if (length > file.size - from) length = file.size - from;
            struct sink other = {0};
            sink_write(&other, file.data, from);
            for (size_t i = 0; i < length && k % 4 < 2; i++)
                sink_write(&other, (unsigned char[]){(unsigned char)(k % 4 ? 0 : random_next(&dice))}, 1);
            if (k % 4 == 2) sink_write(&other, file.data + from, length), sink_write(&other, file.data + from, length);
            sink_write(&other, file.data + from + length, file.size - from - length);
            struct things got = read_data(other.data, other.size, NULL);
            if (k % 4 != 2) delivered += things.count - check_only_originals(&got, &whole);
            for (size_t i = 0; i < got.count && k % 4 == 2; i++) { // doubled: facts and deltas may come twice
                size_t m = 0;
                if (got.all[i].type == NETPROF_ITEM_DAMAGE) continue;
                while (m < whole.count && thing_difference(&got.all[i], &whole.all[m], 0, NULL))
                    m++;
                assert_true(m < whole.count);
            }
            things_free(&got);
            sink_free(&other);
        }
        assert_true(delivered > 30 * things.count / 4); // of 30 such files: much of each stays
        things_free(&whole);
        things_free(&things);
        sink_free(&file);
    }
}

static void two_files_in_a_row(void **state)
{
    (void)state;
    check_two_files(0);
    check_two_files(1);
}

static void unknown_chunks_are_skipped(void **state)
{
    (void)state;
    struct things things = small_things();
    struct sink file = {0}, with = {0};
    unsigned char count[2];
    write_things(&things, &file);
    struct chunks chunks = chunks_of(&file);
    sink_write(&with, file.data, 16);
    for (size_t i = 0; i + 1 < chunks.count; i++) {
        append_chunk(&with, i % 2 ? "XTRA" : "snap", "whatever SNAP", i % 3 * 6);
        sink_write(&with, file.data + chunks.at[i], chunks.at[i + 1] - chunks.at[i]);
    }
    count[0] = (unsigned char)(2 * (chunks.count - 1)); // "END " counts them all
    assert_true(count[0] < 128);
    append_chunk(&with, "END ", count, 1);
    struct things got = read_data(with.data, with.size, NULL);
    assert_int_equal(got.damages, 0);
    assert_int_equal(got.complete, 1);
    assert_int_equal(check_only_originals(&got, &things), 0);
    things_free(&got);
    things_free(&things);
    sink_free(&file);
    sink_free(&with);
}

static netprof_err open_with_byte(struct sink *file, size_t at, unsigned char value)
{
    unsigned char kept = file->data[at];
    netprof_reader *reader = NULL;
    netprof_error error;
    file->data[at] = value;
    netprof_err failed = netprof_reader_open_memory(&reader, file->data, file->size, NULL, &error);
    if (failed) assert_int_equal(error.code, failed);
    netprof_reader_close(reader);
    file->data[at] = kept;
    return failed;
}

static void headers(void **state)
{
    (void)state;
    struct sink file = {0};
    netprof_reader *reader;
    append_header(&file, 1);
    append_chunk(&file, "END ", "\0", 1);
    assert_int_equal(open_with_byte(&file, 8, 1), NETPROF_OK);
    assert_int_equal(open_with_byte(&file, 8, 2), NETPROF_OK);
    assert_int_equal(open_with_byte(&file, 8, 3), NETPROF_ERR_VERSION);
    assert_int_equal(open_with_byte(&file, 9, 1), NETPROF_ERR_VERSION);
    assert_int_equal(open_with_byte(&file, 8, 0), NETPROF_ERR_FORMAT);    // there never was a version 0
    assert_int_equal(open_with_byte(&file, 0, 0x09), NETPROF_ERR_FORMAT); // the eighth bit lost on the way
    assert_int_equal(open_with_byte(&file, 6, '\n'), NETPROF_ERR_FORMAT); // text mode
    memcpy(file.data + 12, "\x01\x02\x03\x04", 4);
    assert_int_equal(open_with_byte(&file, 8, 1), NETPROF_ERR_FORMAT); // big-endian
    assert_int_equal(netprof_reader_open_memory(&reader, NULL, 0, NULL, NULL), NETPROF_ERR_FORMAT);
    assert_int_equal(netprof_reader_open_memory(&reader, NULL, 5, NULL, NULL), NETPROF_ERR_ARG);
    assert_int_equal(netprof_reader_open_memory(NULL, file.data, 5, NULL, NULL), NETPROF_ERR_ARG);
    sink_free(&file);
}

/* -- hostile files -- */

static void put_varint(struct sink *to, uint64_t v)
{
    unsigned char byte;
    for (; v >= 128; v >>= 7) {
        byte = (unsigned char)(v | 128);
        sink_write(to, &byte, 1);
    }
    byte = (unsigned char)v;
    sink_write(to, &byte, 1);
}

static void put_text(struct sink *to, const char *text)
{
    put_varint(to, strlen(text));
    sink_write(to, text, strlen(text));
}

// number, no facts, one source with one device, one class; then what `list` says: the list and nothing else.
static void put_schema(struct sink *to, uint64_t number, const struct sink *list, uint64_t devices)
{
    struct sink p = {0};
    put_varint(&p, number);
    put_varint(&p, 0);
    put_varint(&p, 1);
    put_text(&p, "s");
    put_varint(&p, 1); // ok
    put_varint(&p, 0);
    put_text(&p, "");
    put_varint(&p, devices);
    put_varint(&p, 1);
    put_text(&p, "u");
    put_varint(&p, 0); // counter
    put_varint(&p, 64);
    put_varint(&p, 1);
    put_varint(&p, 0);
    put_varint(&p, 1);
    sink_write(&p, list->data, list->size);
    put_varint(&p, devices);
    for (uint64_t i = 0; i < devices; i++) {
        put_text(&p, "d");
        for (int k = 0; k < 4; k++)
            put_varint(&p, 0);
    }
    append_chunk(to, "SCHM", p.data, p.size);
    sink_free(&p);
}

// A list of n counters: `name`, then a run of names that count on; and one run of the class.
static void put_counting_list(struct sink *list, const char *name, uint64_t n)
{
    put_varint(list, n);
    put_varint(list, 1);
    put_text(list, name);
    put_varint(list, 0);
    put_varint(list, n - 2);
    put_varint(list, 0);
    put_varint(list, n);
}

static void put_snapshot_of_zeros(struct sink *file, uint64_t counters)
{
    struct sink p = {0};
    for (int i = 0; i < 6; i++)
        put_varint(&p, 0); // schema, set, wall, begin, length, error
    put_varint(&p, 0);     // a key
    put_varint(&p, 0);     // its number
    put_varint(&p, 0);     // the device's times
    put_varint(&p, 0);
    put_varint(&p, counters);
    put_varint(&p, 1); // all ok
    put_varint(&p, 0);
    put_varint(&p, 0);
    put_varint(&p, counters - 1);
    put_varint(&p, 0); // none without a stamp
    append_chunk(file, "SNAP", p.data, p.size);
    sink_free(&p);
}

// By hand as the description says, and read: then the hostile ones below fail for the reason they should.
static void a_file_by_hand(void **state)
{
    (void)state;
    struct sink file = {0}, list = {0};
    append_header(&file, 1);
    put_counting_list(&list, "rx8", 300);
    put_schema(&file, 0, &list, 1);
    put_snapshot_of_zeros(&file, 300);
    append_chunk(&file, "END ", "\2", 1);
    struct things got = read_data(file.data, file.size, NULL);
    assert_int_equal(got.damages, 0);
    assert_int_equal(got.count, 1);
    assert_int_equal(got.complete, 1);
    const netprof_schema *schema = got.all[0].snapshot.schema;
    assert_int_equal(schema->counter_count, 300);
    assert_string_equal(schema->counters[0].name, "rx8");
    assert_string_equal(schema->counters[2].name, "rx10");
    assert_string_equal(schema->counters[299].name, "rx307");
    assert_string_equal(schema->counters[299].unit, "u");
    things_free(&got);
    sink_free(&file);
    sink_free(&list);
}

// The last field of a delta, how far stamps may be off, is a time: of 0 to 2^63 - 1 ns, and 0 if the file does not say.
static void stamp_errors_of_deltas(void **state)
{
    (void)state;
    static const struct {
        uint64_t error;
        int written, whole;
    } cases[] = {{0, 0, 1},         {0, 1, 1}, {1, 1, 1}, {300, 1, 1}, {INT64_MAX, 1, 1}, {(uint64_t)1 << 63, 1, 0},
                 {UINT64_MAX, 1, 0}};
    struct things things = small_things();
    struct sink file = {0};
    size_t last = 16;
    write_things(&things, &file);
    struct chunks chunks = chunks_of(&file);
    while (memcmp(file.data + last, "DIFF", 4) != 0)
        last += 12 + get_u32(file.data + last + 4);
    size_t payload = get_u32(file.data + last + 4);
    assert_int_equal(file.data[last + 12 + payload - 1], 0); // the field, as these stamps are exact
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sink other = {0}, delta = {0};
        sink_write(&delta, file.data + last + 12, payload - 1);
        if (cases[i].written) put_varint(&delta, cases[i].error);
        sink_write(&other, file.data, last);
        append_chunk(&other, "DIFF", delta.data, delta.size);
        sink_write(&other, file.data + last + 12 + payload, chunks.at[chunks.count - 1] - last - 12 - payload);
        struct things got = read_data(other.data, other.size, NULL);
        assert_int_equal(got.damages, !cases[i].whole);
        size_t deltas = 0;
        for (size_t k = 0; k < got.count; k++) {
            if (got.all[k].type == NETPROF_ITEM_DAMAGE)
                assert_non_null(strstr(got.all[k].text, "a delta that does not decode"));
            if (got.all[k].type != NETPROF_ITEM_DELTA) continue;
            deltas++;
            assert_int_equal(got.all[k].delta.stamp_error_ns, cases[i].error);
        }
        assert_int_equal(deltas, cases[i].whole);
        things_free(&got);
        sink_free(&other);
        sink_free(&delta);
    }
    things_free(&things);
    sink_free(&file);
}

// Where the last of the file's chunks begins.
static size_t last_chunk(const struct sink *file)
{
    size_t at = 16, next;
    while ((next = at + 12 + get_u32(file->data + at + 4)) < file->size)
        at = next;
    return at;
}

// Seals all chunks and has each step say that it builds on what stands where that stood.
static void seal_chain(unsigned char *data, const struct chunks *chunks)
{
    unsigned char schemas[64][4], last[64][4];
    for (size_t i = 0; i + 1 < chunks->count; i++) {
        unsigned char *chunk = data + chunks->at[i];
        const unsigned char *p = chunk + 12;
        size_t payload = chunks->at[i + 1] - chunks->at[i] - 12, number;
        int is_schema = memcmp(chunk, "SCHM", 4) == 0, is_step = memcmp(chunk, "STEP", 4) == 0;
        if (is_schema || is_step) {
            number = (size_t)take_varint(&p) % 64;
            if (is_step && payload > 6) memcpy(chunk + (p - chunk), p[4] ? last[number] : schemas[number], 4);
        }
        seal_chunk(chunk, payload);
        if (is_schema) memcpy(schemas[number], chunk + 8, 4);
        if (is_schema || is_step) memcpy(last[number], chunk + 8, 4);
    }
}

// The file with three bytes more in each chunk but those of snapshots.
static void append_longer_chunks(struct sink *to, const struct sink *file)
{
    struct chunks chunks = chunks_of(file);
    sink_write(to, file->data, 16);
    for (size_t i = 0; i < chunks.count; i++) {
        const unsigned char *chunk = file->data + chunks.at[i];
        size_t size = chunks.at[i + 1] - chunks.at[i] - 12;
        char tag[5] = "";
        unsigned char *payload = malloc(size + 3);
        memcpy(tag, chunk, 4);
        memcpy(payload, chunk + 12, size);
        memcpy(payload + size, "new", 3);
        append_chunk(to, tag, payload, strcmp(tag, "STEP") == 0 ? size : size + 3);
        free(payload);
    }
    chunks = chunks_of(to);
    seal_chain(to->data, &chunks);
}

// Section 3 of netprof.h promises this to later writers of the same format version.
static void bytes_at_the_end_of_chunks_are_skipped(void **state)
{
    (void)state;
    struct things things = small_things();
    struct sink file = {0}, longer = {0};
    write_things(&things, &file);
    append_longer_chunks(&longer, &file);
    struct things got = read_data(longer.data, longer.size, NULL);
    assert_int_equal(longer.size, file.size + 3 * (3 + 1 + 1 + 1)); // 3 x SCHM (the delta joins two), FACT, DIFF, END
    assert_int_equal(got.damages, 0);
    assert_int_equal(got.complete, 1);
    assert_int_equal(check_only_originals(&got, &things), 0);
    things_free(&got);
    things_free(&things);
    sink_free(&file);
    sink_free(&longer);
}

// Of a node's schema the file of regions keeps the devices that have counters there, each in its source, and no counter more.
static void regions_keep_their_part_of_the_schema(void **state)
{
    (void)state;
    static const struct row rows[] = {{"cxi", "cxi0", "a", 0, 64, 1, NETPROF_STAMPED, 1},
                                      {"cxi", "cxi0", "b", 0, 56, 1, NETPROF_STAMPED, 1},
                                      {"cxi", "cxi1", "a", 0, 64, 1, NETPROF_STAMPED, 2},
                                      {"cxi", "cxi1", "b", 0, 56, 1, NETPROF_STAMPED, 2},
                                      {"cxi", "cxi2", "a", 0, 64, 1, NETPROF_STAMPED, 3},
                                      {"ip", "host", "c", 0, 64, 1, 0, 4},
                                      {"netdev", "eth0", "d", 0, 64, 1, 0, 5},
                                      {"netdev", "eth1", "d", 0, 64, 1, 0, 6},
                                      {"netdev", "eth1", "e", 0, 32, 1, 0, 6},
                                      {"rdma", "mlx5_0", "f", 0, 64, 1, 0, 7}};
    static const uint32_t kept[] = {1, 4, 6, 7, 8};
    uint32_t counters[COUNT(kept)];
    netprof_regions r;
    memset(&r, 0, sizeof r);
    memcpy(counters, kept, sizeof kept);
    r.schema = schema_of_rows(rows, COUNT(rows), "n", NULL);
    r.counters = counters;
    r.counter_count = COUNT(kept);
    netprof__regions_trim(&r);
    assert_int_equal(r.schema->counter_count, COUNT(kept));
    assert_int_equal(r.schema->device_count, 4);
    assert_int_equal(r.schema->source_count, 2);
    assert_string_equal(r.schema->sources[0].name, "cxi");
    assert_int_equal(r.schema->sources[0].device_count, 2);
    assert_string_equal(r.schema->sources[1].name, "netdev");
    assert_int_equal(r.schema->sources[1].device_count, 2);
    for (size_t i = 0; i < COUNT(kept); i++) {
        const struct row *row = &rows[kept[i]];
        const netprof_counter *c = &r.schema->counters[i];
        assert_int_equal(counters[i], i);
        assert_string_equal(c->name, row->counter);
        assert_int_equal(c->width, row->width);
        assert_int_equal(c->flags & NETPROF_STAMPED, row->flags & NETPROF_STAMPED);
        assert_int_equal(netprof_find(r.schema, row->source, row->device, row->counter), i);
    }
    for (size_t d = 0; d < 4; d++)
        assert_int_equal(r.schema->devices[d].identity, ((const uint64_t[]){1, 3, 5, 6})[d]);
    netprof_schema_release(r.schema);
}

static void bytes_at_the_end_of_regions_are_skipped(void **state)
{
    (void)state;
    struct sink file = {0}, longer = {0};
    netprof_regions r = NETPROF_ZERO;
    netprof_writer *writer;
    netprof_reader *reader = NULL;
    netprof_item item;
    r.mode = NETPROF_MODE_TIME;
    r.elapsed_ns = 12345;
    assert_int_equal(netprof_writer_open_fn(&writer, sink_write, &file, NULL), NETPROF_OK);
    assert_int_equal(netprof_write_regions(writer, &r, NULL), NETPROF_OK);
    assert_int_equal(netprof_writer_close(writer, 1, NULL), NETPROF_OK);
    append_longer_chunks(&longer, &file);
    assert_int_equal(longer.size, file.size + 3 * 2); // REGN, END
    assert_int_equal(netprof_reader_open_memory(&reader, longer.data, longer.size, NULL, NULL), NETPROF_OK);
    assert_int_equal(netprof_reader_next(reader, &item, NULL), NETPROF_OK);
    assert_int_equal(item.type, NETPROF_ITEM_REGIONS);
    assert_int_equal(item.regions->elapsed_ns, 12345);
    assert_int_equal(netprof_reader_next(reader, &item, NULL), NETPROF_OK);
    assert_int_equal(item.type, NETPROF_ITEM_END);
    assert_int_equal(item.complete, 1);
    netprof_reader_close(reader);
    sink_free(&file);
    sink_free(&longer);
}

struct bit_row {
    unsigned char bytes[64];
    size_t bits;
};

// Low first.
static void put_bits(struct bit_row *row, uint64_t v, unsigned count)
{
    for (unsigned i = 0; i < count; i++, row->bits++)
        row->bytes[row->bits / 8] |= (unsigned char)((v >> i & 1) << row->bits % 8);
}

static void put_row(struct sink *to, const struct bit_row *row)
{
    sink_write(to, row->bytes, (row->bits + 7) / 8);
}

static void put_bytes(struct sink *to, size_t count, const unsigned char *bytes)
{
    sink_write(to, bytes, count);
}

#define PUT_BYTES(to, ...) put_bytes(to, sizeof(unsigned char[]){__VA_ARGS__}, (const unsigned char[]){__VA_ARGS__})

// One step of a device that was not read, with two counters: what stands between its head and its end.
static void put_step(struct sink *file, unsigned char position, unsigned char status, const struct bit_row *surprises,
                     unsigned char count, unsigned char k, const struct bit_row *others)
{
    struct sink p = {0};
    PUT_BYTES(&p, 0);                                     // schema
    sink_write(&p, file->data + last_chunk(file) + 8, 4); // builds on the chunk before it
    PUT_BYTES(&p, position, 0);                           // all counters
    if (position)
        PUT_BYTES(&p, 0);
    else
        PUT_BYTES(&p, 1, 0, 0, 0x00);      // the device is not read: one code, 0 others before it (a 0), it is 1 (a 0)
    PUT_BYTES(&p, 0, 0, 0, status, count); // all times 0; no lengths
    if (count) {
        PUT_BYTES(&p, 0, k);
        put_row(&p, surprises);
    }
    put_row(&p, others);
    PUT_BYTES(&p, 0, 0, 0, 0); // no stamps
    append_chunk(file, "STEP", p.data, p.size);
    sink_free(&p);
}

// Version 2 by hand, bit by bit. A counter goes 100, 1700, 3310, 4910, another 7, 7, 8, 8.
static void steps_by_hand(void **state)
{
    (void)state;
    static const uint64_t expected[4][2] = {{100, 7}, {1700, 7}, {3310, 8}, {4910, 8}};
    struct sink file = {0}, list = {0};
    append_header(&file, 2);
    put_counting_list(&list, "c0", 2);
    put_schema(&file, 0, &list, 1);
    struct bit_row both = {.bits = 0}, leap = {.bits = 0}, one = {.bits = 0}, near = {.bits = 0}, last = {.bits = 0};
    put_bits(&both, 0, 1), put_bits(&both, 7, 6), put_bits(&both, 200 - 128, 7); // 100 is code 200
    put_bits(&both, 0, 1), put_bits(&both, 3, 6), put_bits(&both, 14 - 8, 3);    // 7 is code 14
    put_step(&file, 0, 255, &both, 2, 64, &(struct bit_row){.bits = 0});
    put_bits(&leap, 0, 1), put_bits(&leap, 11, 6), put_bits(&leap, 3200 - 2048, 11); // 1600 more is code 3200
    put_step(&file, 1, 254, &leap, 1, 64, &(struct bit_row){.bits = 0});
    // now S is 3200 / 4 + 1, so k = bit length of 50 = 6; 10 more than expected is code 20; 1 more is code 2
    put_bits(&near, 0, 1), put_bits(&near, 20, 6);
    put_bits(&one, 0, 1), put_bits(&one, 1, 2);
    put_step(&file, 2, 254, &one, 1, 0, &near);
    // C / 16 is 1600 + 5, S 8 * 20, so k = bit length of 10 = 4; 5 less is code 9. The other: C / 16 = 1, S = 1, k = 0
    put_bits(&last, 0, 1), put_bits(&last, 9, 4), put_bits(&last, 1, 2);
    put_step(&file, 3, 254, NULL, 0, 0, &last);
    append_chunk(&file, "END ", "\5", 1);
    struct things got = read_data(file.data, file.size, NULL);
    assert_int_equal(got.damages, 0);
    assert_int_equal(got.count, 4);
    assert_int_equal(got.complete, 1);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(got.all[i].snapshot.values[0], expected[i][0]);
        assert_int_equal(got.all[i].snapshot.values[1], expected[i][1]);
        assert_int_equal(got.all[i].snapshot.status[0], NETPROF_STATUS_OK);
        assert_int_equal(got.all[i].snapshot.device_end_ns[0], 0);
    }
    things_free(&got);
    sink_free(&file);
    sink_free(&list);
}

// Any byte of a step other than it was, all checksums right: what comes before it is there, what is delivered of the
// rest has the length it should, and there is one item for every chunk.
static void steps_of_noise(void **state)
{
    (void)state;
    struct things things = small_things();
    struct sink file = {0};
    write_things(&things, &file);
    struct chunks chunks = chunks_of(&file);
    struct things whole = read_data(file.data, file.size, NULL);
    struct sink noisy = {0};
    size_t refused = 0, tried = 0;
    sink_write(&noisy, file.data, file.size);
    for (size_t i = 0, item = 0; i + 1 < chunks.count; i++) {
        const unsigned char *chunk = file.data + chunks.at[i];
        if (memcmp(chunk, "SCHM", 4) == 0) continue;
        for (size_t at = 12; memcmp(chunk, "STEP", 4) == 0 && at < chunks.at[i + 1] - chunks.at[i]; at++) {
            for (unsigned other = 1; other < 256; other = other * 5 / 2 + 1) {
                memcpy(noisy.data, file.data, file.size);
                noisy.data[chunks.at[i] + at] ^= (unsigned char)other;
                seal_chain(noisy.data, &chunks);
                struct things got = read_data(noisy.data, noisy.size, NULL);
                assert_int_equal(got.opened, NETPROF_OK);
                assert_int_equal(got.count, whole.count);
                for (size_t k = 0; k < item; k++)
                    assert_same(thing_difference(&got.all[k], &whole.all[k], 0, NULL));
                refused += got.damages > 0;
                tried++;
                things_free(&got);
            }
        }
        item++;
    }
    assert_true(tried > 1000 && refused > tried / 4 && refused < tried);
    things_free(&whole);
    things_free(&things);
    sink_free(&file);
    sink_free(&noisy);
}

static void hostile_counts(void **state)
{
    (void)state;
    const uint64_t counts[] = {(uint64_t)1 << 20, (uint64_t)1 << 32, (uint64_t)1 << 60,
                               UINT64_MAX,        UINT64_MAX - 1,    (uint64_t)1 << 63};
    netprof_limits limits = {.max_counters = 100000};
    for (size_t i = 0; i < COUNT(counts); i++) {
        struct sink file = {0}, list = {0};
        append_header(&file, 1);
        put_counting_list(&list, "c0", counts[i]);
        put_schema(&file, 0, &list, 1);
        put_snapshot_of_zeros(&file, counts[i]);
        append_chunk(&file, "FACT", "\x01k\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12); // 2^64 - 1 bytes of text
        append_chunk(&file, "DIFF", "\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\0\0\0", 18);
        append_chunk(&file, "FACT", "\x01k\x01v", 4);
        struct things got = read_data(file.data, file.size, &limits);
        assert_int_equal(got.damages, 4);
        assert_int_equal(got.count, 5);
        assert_string_equal(got.all[4].value, "v");
        things_free(&got);
        sink_free(&file);
        sink_free(&list);
    }
}

static void limits_are_kept(void **state)
{
    (void)state;
    struct sink file = {0}, list = {0};
    netprof_limits exact = {.max_counters = 600, .max_devices = 2}, less = {.max_counters = 599},
                   fewer = {.max_devices = 1};
    append_header(&file, 1);
    put_counting_list(&list, "c0", 300);
    put_schema(&file, 0, &list, 2);
    struct things got = read_data(file.data, file.size, &exact);
    assert_int_equal(got.damages, 0);
    things_free(&got);
    got = read_data(file.data, file.size, &less);
    assert_int_equal(got.damages, 1);
    assert_non_null(strstr(got.all[0].text, "limit"));
    things_free(&got);
    got = read_data(file.data, file.size, &fewer);
    assert_int_equal(got.damages, 1);
    things_free(&got);
    sink_free(&file);
    sink_free(&list);
}

// Names that share a long beginning: each costs a byte or two in the file and all of it in memory.
static void memory_bomb(void **state)
{
    (void)state;
    struct sink file = {0}, list = {0};
    netprof_limits limits = {.max_memory = 16 << 20};
    static char name[100002];
    memset(name, 'x', 100000);
    name[100000] = '1';
    append_header(&file, 1);
    put_counting_list(&list, name, 100000); // 10 GB of names
    for (uint64_t i = 0; i < 5; i++)
        put_schema(&file, i, &list, 1);
    append_chunk(&file, "FACT", "\x01k\x01v", 4);
    most_held = held;
    struct things got = read_data(file.data, file.size, &limits);
    assert_true(most_held < (size_t)32 << 20); // with what a growing array leaves behind
    assert_int_equal(got.damages, 5);
    assert_int_equal(got.count, 6);
    things_free(&got);
    sink_free(&list);
    sink_free(&file);
    // many schemas of many counters, 60 bytes each
    append_header(&file, 1);
    put_counting_list(&list, "c0", 50000);
    for (uint64_t i = 0; i < 50; i++)
        put_schema(&file, i, &list, 1);
    most_held = held;
    got = read_data(file.data, file.size, &limits);
    assert_true(most_held < (size_t)32 << 20); // with what a growing array leaves behind
    assert_true(got.damages >= 45 && got.damages < 50);
    things_free(&got);
    sink_free(&list);
    sink_free(&file);
}

// A hundred thousand counters of one name, as a driver might list them or a hostile file: a moment's work.
static void many_equal_names(void **state)
{
    (void)state;
    struct sink file = {0}, list = {0};
    const uint64_t n = 100000;
    const netprof_schema *schema;
    netprof_list *built = netprof_build_begin(NULL);
    netprof_list_device(built, "d", 0, 0);
    for (uint64_t i = 0; i < n; i++)
        netprof_list_counter(built, &(netprof_counter){.name = "", .unit = ""});
    assert_int_equal(netprof_build_end(built, &schema, NULL), NETPROF_OK);
    assert_int_equal(schema->counter_count, n);
    assert_string_equal(schema->counters[1].name, "#2");
    assert_string_equal(schema->counters[n - 1].name, "#100000");
    netprof_schema_release(schema);
    // in a file, where names are different, it is damage
    append_header(&file, 1);
    put_varint(&list, n);
    for (uint64_t i = 0; i < n; i++) {
        put_varint(&list, 1);
        put_text(&list, "");
    }
    put_varint(&list, 0);
    put_varint(&list, n);
    put_schema(&file, 0, &list, 1);
    struct things got = read_data(file.data, file.size, NULL);
    assert_int_equal(got.damages, 1);
    assert_int_equal(got.count, 1);
    things_free(&got);
    sink_free(&file);
    sink_free(&list);
}

// Looking for the next whole chunk must not take the square of the size.
static void many_false_beginnings(void **state)
{
    (void)state;
    const size_t n = 40000;
    struct sink file = {0};
    append_header(&file, 1);
    for (size_t i = 0; i < n; i++) {
        unsigned char head[12] = "FACT";
        put_u32(head + 4, (uint32_t)((n - i - 1) * 12));
        sink_write(&file, head, 12);
    }
    append_chunk(&file, "FACT", "\x01k\x01v", 4);
    struct things got = read_data(file.data, file.size, NULL);
    assert_true(got.damages > 0);
    assert_int_equal(got.complete, 0);
    things_free(&got);
    sink_free(&file);
}

/* -- files on disk -- */

static netprof_snapshot a_snapshot(uint64_t value)
{
    static const struct row rows[] = {{"s", "d", "a", 0, 64, 1, 0, 1}, {"s", "d", "b", 0, 64, 1, 0, 1}};
    netprof_snapshot s = snapshot_of(schema_of_rows(rows, 2, NULL, NULL));
    s.values[0] = value;
    s.values[1] = ~value;
    return s;
}

static struct things read_path(const char *path)
{
    netprof_reader *reader = NULL;
    struct things things = {.count = 0};
    netprof_err failed = netprof_reader_open(&reader, path, NULL, NULL);
    if (!failed) things = read_items(reader);
    things.opened = failed;
    netprof_reader_close(reader);
    return things;
}

static void check_file(const char *path, uint64_t value)
{
    struct things got = read_path(path);
    assert_int_equal(got.opened, NETPROF_OK);
    assert_int_equal(got.count, 1);
    assert_int_equal(got.complete, 1);
    assert_int_equal(got.all[0].snapshot.values[0], value);
    things_free(&got);
}

static void atomic_until_closed(void **state)
{
    (void)state;
    char *tree = tree_make();
    const char *path = tree_path(tree, "run.netprof");
    netprof_snapshot s = a_snapshot(5), other = a_snapshot(6);
    netprof_writer *writer;
    struct stat st;
    assert_int_equal(netprof_writer_open(&writer, path, 0, NULL), NETPROF_OK);
    assert_int_equal(netprof_write_snapshot(writer, &s, NULL), NETPROF_OK);
    assert_int_equal(access(path, F_OK), -1); // nothing under its name yet
    assert_int_equal(netprof_writer_close(writer, 1, NULL), NETPROF_OK);
    check_file(path, 5);
    assert_int_equal(count_entries(tree), 1);
    // the file that is there stays until the new one is whole, and if it never becomes so
    assert_int_equal(netprof_writer_open(&writer, path, 0, NULL), NETPROF_OK);
    assert_int_equal(netprof_write_snapshot(writer, &other, NULL), NETPROF_OK);
    check_file(path, 5);
    assert_int_equal(netprof_writer_close(writer, 0, NULL), NETPROF_OK);
    check_file(path, 5);
    assert_int_equal(count_entries(tree), 1);
    assert_int_equal(netprof_save_file(path, &other, 1, NULL), NETPROF_OK);
    check_file(path, 6);
    // the mode is what the umask leaves
    mode_t kept = umask(027);
    assert_int_equal(netprof_save_file(tree_path(tree, "private"), &s, 1, NULL), NETPROF_OK);
    umask(kept);
    assert_int_equal(stat(tree_path(tree, "private"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    // two writers of one name do not disturb each other
    netprof_writer *second;
    assert_int_equal(netprof_writer_open(&writer, path, 0, NULL), NETPROF_OK);
    assert_int_equal(netprof_writer_open(&second, path, 0, NULL), NETPROF_OK);
    assert_int_equal(netprof_write_snapshot(writer, &s, NULL), NETPROF_OK);
    assert_int_equal(netprof_write_snapshot(second, &other, NULL), NETPROF_OK);
    assert_int_equal(netprof_writer_close(second, 1, NULL), NETPROF_OK);
    check_file(path, 6);
    assert_int_equal(netprof_writer_close(writer, 1, NULL), NETPROF_OK);
    check_file(path, 5);
    netprof_snapshot_free(&s);
    netprof_snapshot_free(&other);
    tree_remove(tree);
}

static void through_a_link(void **state)
{
    (void)state;
    char *tree = tree_make();
    netprof_snapshot s = a_snapshot(5);
    struct stat st;
    tree_write(tree, "real/old", "old");
    assert_int_equal(symlink("real/old", tree_path(tree, "latest")), 0);
    assert_int_equal(netprof_save_file(tree_path(tree, "latest"), &s, 1, NULL), NETPROF_OK);
    assert_int_equal(lstat(tree_path(tree, "latest"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));           // the link is still one,
    check_file(tree_path(tree, "real/old"), 5); // and what it points to is new
    assert_int_equal(count_entries(tree_path(tree, "real")), 1);
    netprof_snapshot_free(&s);
    tree_remove(tree);
}

// Others may put links where they may write: the superuser has no file replaced through one. Its own links are served.
static void through_a_link_of_another_user(void **state)
{
    (void)state;
    static const char *const shared[] = {"/tmp", "/dev/shm"};
    if (geteuid() != 0) skip();
    char *tree = tree_make();
    netprof_snapshot s = a_snapshot(6);
    netprof_error error;
    for (size_t i = 0; i < COUNT(shared); i++) {
        if (access(shared[i], W_OK) != 0) continue;
        char link[64];
        snprintf(link, sizeof link, "%s/netprof-link-XXXXXX", shared[i]);
        int fd = mkstemp(link);
        assert_true(fd >= 0);
        close(fd);
        assert_int_equal(unlink(link), 0);
        tree_write(tree, "precious", "old");
        assert_int_equal(symlink(tree_path(tree, "precious"), link), 0);
        assert_int_equal(symlink("second", tree_path(tree, "first")), 0); // one's own, which lead there
        assert_int_equal(symlink(link, tree_path(tree, "second")), 0);
        int others = lchown(link, 65534, 65534) == 0; // not in a container that has no such user
        for (int live = 0; live < 2 && others; live++) {
            netprof_writer *w;
            assert_int_equal(netprof_writer_open(&w, link, live, &error), NETPROF_ERR_IO);
            assert_null(w);
            assert_int_equal(error.sys_errno, EACCES);
            assert_string_equal(error.path, link);
            assert_string_equal(error.text, "a symbolic link of another user: the superuser does not write there");
            assert_int_equal(netprof_writer_open(&w, tree_path(tree, "first"), live, &error), NETPROF_ERR_IO);
            assert_null(w);
            assert_int_equal(error.sys_errno, EACCES);
        }
        struct stat st;
        assert_int_equal(stat(tree_path(tree, "precious"), &st), 0);
        assert_int_equal(st.st_size, 3);
        assert_true(!others || lchown(link, 0, 0) == 0);
        assert_int_equal(netprof_save_file(i ? tree_path(tree, "first") : link, &s, 1, NULL), NETPROF_OK);
        check_file(tree_path(tree, "precious"), 6);
        assert_int_equal(unlink(link), 0);
        assert_int_equal(unlink(tree_path(tree, "first")), 0);
        assert_int_equal(unlink(tree_path(tree, "second")), 0);
        assert_int_equal(unlink(tree_path(tree, "precious")), 0);
    }
    netprof_snapshot_free(&s);
    tree_remove(tree);
}

// `-o /dev/stdout` with stdout a file: written there, and no link in /dev replaced.
static void standard_output(void **state)
{
    (void)state;
    char *tree = tree_make();
    const char *path = tree_path(tree, "out");
    netprof_snapshot s = a_snapshot(5);
    pid_t child = fork();
    if (!child) {
        char name[64];
        int fd = open(path, O_CREAT | O_RDWR | O_TRUNC, 0666);
        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        _exit(netprof_save_file(name, &s, 1, NULL) != NETPROF_OK);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    check_file(path, 5);
    assert_int_equal(count_entries(tree), 1);
    netprof_snapshot_free(&s);
    tree_remove(tree);
}

static void not_ordinary_files(void **state)
{
    (void)state;
    char *tree = tree_make();
    const char *pipe_path = tree_path(tree, "pipe");
    netprof_snapshot s = a_snapshot(9);
    netprof_error error;
    struct stat st;
    assert_int_equal(netprof_save_file("/dev/null", &s, 1, NULL), NETPROF_OK);
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    pid_t child = fork();
    if (!child) {
        unsigned char data[4096];
        int fd = open(pipe_path, O_RDONLY);
        size_t n = 0;
        ssize_t got;
        while ((got = read(fd, data + n, sizeof data - n)) > 0)
            n += (size_t)got;
        struct things things = read_data(data, n, NULL);
        _exit(!(things.count == 1 && things.complete && things.all[0].snapshot.values[0] == 9));
    }
    int status;
    assert_int_equal(netprof_save_file(pipe_path, &s, 1, NULL), NETPROF_OK);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(count_entries(tree), 1);
    // a pipe that nobody reads is an error, and nothing to wait for
    assert_int_equal(netprof_save_file(pipe_path, &s, 1, &error), NETPROF_ERR_IO);
    assert_int_equal(error.sys_errno, ENXIO);
    assert_string_equal(error.path, pipe_path);
    // nowhere to write
    assert_int_equal(netprof_save_file(tree_path(tree, "no/../nowhere/x"), &s, 1, &error), NETPROF_OK);
    rmdir(tree_path(tree, "no"));
    assert_int_equal(netprof_save_file("/nonexistent-directory/x", &s, 1, &error), NETPROF_ERR_IO);
    assert_int_equal(error.sys_errno, ENOENT);
    assert_string_equal(error.path, "/nonexistent-directory/x");
    assert_int_equal(netprof_save_file(tree, &s, 1, &error), NETPROF_ERR_IO); // a directory
    assert_int_equal(error.sys_errno, EISDIR);
    assert_int_equal(netprof_save_file("/dev/full", &s, 1, &error), NETPROF_ERR_IO);
    assert_int_equal(error.sys_errno, ENOSPC);
    assert_int_equal(netprof_save_file("/sys/x", &s, 1, &error), NETPROF_ERR_IO);
    netprof_snapshot_free(&s);
    tree_remove(tree);
}

// A name as long as the file system allows: the temporary one must not be longer.
static void longest_name(void **state)
{
    (void)state;
    char *tree = tree_make();
    char name[256];
    netprof_snapshot s = a_snapshot(4);
    memset(name, 'n', 255);
    name[255] = 0;
    assert_int_equal(netprof_save_file(tree_path(tree, name), &s, 1, NULL), NETPROF_OK);
    check_file(tree_path(tree, name), 4);
    assert_int_equal(count_entries(tree), 1);
    netprof_snapshot_free(&s);
    tree_remove(tree);
}

static void files_that_are_none(void **state)
{
    (void)state;
    char *tree = tree_make();
    netprof_reader *reader;
    netprof_error error;
    tree_write(tree, "text", "{\"format\":\"netprof\"}");
    assert_int_equal(netprof_reader_open(&reader, tree_path(tree, "text"), NULL, &error), NETPROF_ERR_FORMAT);
    assert_string_equal(error.path, tree_path(tree, "text"));
    assert_int_equal(netprof_reader_open(&reader, tree_path(tree, "none"), NULL, &error), NETPROF_ERR_IO);
    assert_int_equal(error.sys_errno, ENOENT);
    assert_int_equal(netprof_reader_open(&reader, tree, NULL, &error), NETPROF_ERR_IO);
    assert_int_equal(error.sys_errno, EISDIR);
    assert_int_equal(netprof_reader_open(&reader, "/dev/zero", NULL, &error), NETPROF_ERR_FORMAT);
    assert_int_equal(netprof_reader_open(&reader, "/dev/null", NULL, &error), NETPROF_ERR_FORMAT);
    tree_remove(tree);
}

// Wherever a file cannot be read any more: what stands before is delivered, and the error comes, and stays.
static void reading_that_fails(void **state)
{
    (void)state;
    struct things things = generate_things(77, 12, 9, 0);
    struct sink file = {0};
    write_things(&things, &file);
    struct chunks chunks = chunks_of(&file);
    for (size_t broken = 16; broken < file.size; broken += 1 + broken % 13) {
        struct pieces p = {file.data, file.size, 0, 50, broken};
        netprof_reader *reader;
        netprof_error error;
        netprof_item item;
        size_t last = 16, complete = 0;
        netprof_err failed;
        assert_int_equal(netprof_reader_open_fn(&reader, read_piece, &p, NULL, NULL), NETPROF_OK);
        while (!(failed = netprof_reader_next(reader, &item, &error))) {
            assert_true(item.type != NETPROF_ITEM_END && item.type != NETPROF_ITEM_DAMAGE);
            last = (size_t)(item.offset + item.size);
        }
        for (size_t i = 0; i < chunks.count; i++) // the last whole chunk that is an item
            if (chunks.at[i + 1] <= broken && memcmp(file.data + chunks.at[i], "SCHM", 4) != 0)
                complete = chunks.at[i + 1];
        assert_int_equal(last, complete ? complete : 16);
        assert_int_equal(failed, NETPROF_ERR_IO);
        assert_int_equal(error.sys_errno, EIO);
        assert_int_equal(netprof_reader_next(reader, &item, NULL), NETPROF_ERR_IO);
        netprof_reader_close(reader);
    }
    assert_int_equal(netprof_reader_open_fn(NULL, read_piece, NULL, NULL, NULL), NETPROF_ERR_ARG);
    things_free(&things);
    sink_free(&file);
}

static void live_is_readable_at_once(void **state)
{
    (void)state;
    char *tree = tree_make();
    const char *path = tree_path(tree, "live.netprof");
    netprof_writer *writer;
    tree_write(tree, "live.netprof", "what was there before, and longer than the header");
    assert_int_equal(netprof_writer_open(&writer, path, 1, NULL), NETPROF_OK);
    for (uint64_t i = 0; i < 70; i++) {
        netprof_snapshot s = a_snapshot(i);
        assert_int_equal(netprof_write_snapshot(writer, &s, NULL), NETPROF_OK);
        netprof_snapshot_free(&s);
        struct things got = read_path(path);
        assert_int_equal(got.count, i + 1);
        assert_int_equal(got.damages, 0);
        assert_int_equal(got.complete, 0);
        assert_int_equal(got.all[i].snapshot.values[0], i);
        things_free(&got);
    }
    assert_int_equal(netprof_writer_close(writer, 1, NULL), NETPROF_OK);
    struct things got = read_path(path);
    assert_int_equal(got.count, 70);
    assert_int_equal(got.complete, 1);
    assert_int_equal(count_entries(tree), 1);
    things_free(&got);
    tree_remove(tree);
}

// A live writer killed at any instant: no chunk is half there.
static void live_survives_a_kill(void **state)
{
    (void)state;
    char *tree = tree_make();
    const char *path = tree_path(tree, "live.netprof");
    uint64_t seed = 11;
    pid_t parent = getpid();
    for (int round = 0; round < 25; round++) {
        int to_parent[2];
        char byte;
        unlink(path);
        assert_int_equal(pipe(to_parent), 0);
        pid_t child = fork();
        if (!child) {
            netprof_writer *writer;
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() != parent || netprof_writer_open(&writer, path, 1, NULL)) _exit(1);
            for (uint64_t i = 0; i < 20000; i++) { /* more than it gets to unless the parent is late */
                netprof_snapshot s = a_snapshot(i);
                if (netprof_write_snapshot(writer, &s, NULL)) _exit(1);
                netprof_snapshot_free(&s);
                if (i < 3 && write(to_parent[1], "x", 1) != 1) _exit(1);
            }
            for (;;)
                pause();
        }
        assert_true(child > 0);
        close(to_parent[1]);
        for (int i = 0; i < 3; i++)
            assert_int_equal(read(to_parent[0], &byte, 1), 1);
        close(to_parent[0]);
        usleep((useconds_t)random_below(&seed, 3000));
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        struct things got = read_path(path);
        assert_int_equal(got.opened, NETPROF_OK);
        assert_true(got.damages <= 1); /* the kernel may cut the last write(2) at a page: that tick is lost, no other */
        assert_int_equal(got.complete, 0);
        assert_true(got.count - got.damages >= 3);
        for (uint64_t i = 0; i < got.count - got.damages; i++) { /* a cut chunk can only be the last */
            assert_int_equal(got.all[i].type, NETPROF_ITEM_SNAPSHOT);
            assert_int_equal(got.all[i].snapshot.values[0], i);
        }
        things_free(&got);
    }
    tree_remove(tree);
}

static void failing_sink(void **state)
{
    (void)state;
    struct things things = small_things();
    struct sink whole = {0};
    write_things(&things, &whole);
    for (size_t limit = 1; limit < whole.size; limit += 7) {
        struct sink file = {.fail_behind = limit};
        netprof_writer *writer = NULL;
        netprof_error error;
        netprof_err failed = netprof_writer_open_fn(&writer, sink_write, &file, &error);
        for (size_t i = 0; i < things.count && !failed; i++)
            if (things.all[i].type == NETPROF_ITEM_SNAPSHOT)
                failed = netprof_write_snapshot(writer, &things.all[i].snapshot, &error);
        if (failed) {
            assert_int_equal(failed, NETPROF_ERR_IO);
            assert_int_equal(error.sys_errno, ENOSPC);
            size_t kept = file.size;
            if (writer) { // it sticks, and nothing more is written, though there would be room
                file.fail_behind = 0;
                assert_int_equal(netprof_write_fact(writer, "k", "v", &error), NETPROF_ERR_IO);
                assert_int_equal(error.sys_errno, ENOSPC);
                assert_int_equal(netprof_writer_close(writer, 1, &error), NETPROF_ERR_IO);
                assert_int_equal(file.size, kept);
                struct things got = read_data(file.data, file.size, NULL);
                assert_int_equal(got.damages, 0);
                things_free(&got);
            }
        } else {
            netprof_writer_close(writer, 1, NULL);
        }
        sink_free(&file);
    }
    sink_free(&whole);
    things_free(&things);
}

static int refuse(void *user, const void *data, size_t size)
{
    (void)user, (void)data, (void)size;
    return EPIPE;
}

static void arguments(void **state)
{
    (void)state;
    netprof_writer *writer;
    netprof_reader *reader;
    netprof_item item;
    struct sink file = {0};
    netprof_snapshot none = NETPROF_ZERO;
    netprof_delta no_delta = NETPROF_ZERO;
    assert_int_equal(netprof_writer_open(NULL, "x", 0, NULL), NETPROF_ERR_ARG);
    assert_int_equal(netprof_writer_open(&writer, NULL, 0, NULL), NETPROF_ERR_ARG);
    assert_int_equal(netprof_writer_open(&writer, "", 0, NULL), NETPROF_ERR_ARG);
    writer = (netprof_writer *)&file; // a failure leaves none that could be closed
    assert_int_equal(netprof_writer_open(&writer, "/nonexistent-directory/x", 0, NULL), NETPROF_ERR_IO);
    assert_null(writer);
    writer = (netprof_writer *)&file;
    assert_int_equal(netprof_writer_open_fn(&writer, refuse, NULL, NULL), NETPROF_ERR_IO);
    assert_null(writer);
    assert_int_equal(netprof_writer_open_fn(&writer, NULL, NULL, NULL), NETPROF_ERR_ARG);
    assert_int_equal(netprof_writer_open_fn(NULL, sink_write, &file, NULL), NETPROF_ERR_ARG);
    assert_int_equal(netprof_writer_open_fn(&writer, sink_write, &file, NULL), NETPROF_OK);
    assert_int_equal(netprof_write_snapshot(writer, NULL, NULL), NETPROF_ERR_ARG);
    assert_int_equal(netprof_write_snapshot(writer, &none, NULL), NETPROF_ERR_ARG);
    assert_int_equal(netprof_write_delta(writer, &no_delta, NULL), NETPROF_ERR_ARG);
    assert_int_equal(netprof_write_fact(writer, NULL, "v", NULL), NETPROF_ERR_ARG);
    assert_int_equal(netprof_write_fact(writer, "k", NULL, NULL), NETPROF_ERR_ARG);
    assert_int_equal(netprof_write_fact(writer, "k", "v", NULL), NETPROF_OK); // a wrong call is no failure of the file
    assert_int_equal(netprof_writer_close(writer, 1, NULL), NETPROF_OK);
    assert_int_equal(netprof_writer_close(NULL, 1, NULL), NETPROF_OK);
    assert_int_equal(netprof_reader_open(&reader, NULL, NULL, NULL), NETPROF_ERR_ARG);
    assert_int_equal(netprof_reader_next(NULL, &item, NULL), NETPROF_ERR_ARG);
    netprof_reader_close(NULL);
    struct things got = read_data(file.data, file.size, NULL);
    assert_int_equal(got.count, 1);
    assert_int_equal(got.complete, 1);
    things_free(&got);
    sink_free(&file);
}

/* -- the second implementation -- */

static void dump_text(FILE *to, const char *text)
{
    for (; *text; text++)
        fprintf(to, "%02x", (unsigned char)*text);
}

static void dump_facts(FILE *to, const netprof_fact *facts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fprintf(to, " ");
        dump_text(to, facts[i].key);
        fprintf(to, "=");
        dump_text(to, facts[i].value);
    }
    fprintf(to, "\n");
}

static void dump_snapshot(FILE *to, const netprof_snapshot *s)
{
    fprintf(to, "snapshot %d %lld %lld %lld facts", s->set, (long long)s->wall_ns, (long long)s->begin_ns,
            (long long)s->end_ns);
    dump_facts(to, s->schema->facts, s->schema->fact_count);
    for (size_t i = 0; i < s->schema->source_count; i++) {
        const netprof_source_state *source = &s->schema->sources[i];
        fprintf(to, "source ");
        dump_text(to, source->name);
        fprintf(to, " %d %d %u ", source->status, source->sys_errno, source->device_count);
        dump_text(to, source->path);
        fprintf(to, "\n");
    }
    for (size_t d = 0; d < s->schema->device_count; d++) {
        const netprof_device *device = &s->schema->devices[d];
        fprintf(to, "device ");
        dump_text(to, device->name);
        fprintf(to, " %llu %u %lld %lld facts", (unsigned long long)device->identity, device->flags,
                (long long)s->device_begin_ns[d], (long long)s->device_end_ns[d]);
        dump_facts(to, device->facts, device->fact_count);
        for (size_t i = device->first; i < (size_t)device->first + device->count; i++) {
            const netprof_counter *c = &s->schema->counters[i];
            fprintf(to, "counter ");
            dump_text(to, c->name);
            fprintf(to, " ");
            dump_text(to, c->unit);
            fprintf(to, " %d %d %d %d status %d %d value %llu stamp %lld\n", c->kind, c->width, c->scale, c->flags,
                    s->status[i], s->errnos[i], (unsigned long long)s->values[i], (long long)s->stamps_ns[i]);
        }
    }
}

static void dump_delta(FILE *to, const netprof_delta *d)
{
    fprintf(to, "delta %lld %lld %lld %lld %lld\n", (long long)d->wall_begin_ns, (long long)d->wall_end_ns,
            (long long)d->interval_ns, (long long)d->sweep_ns, (long long)d->stamp_error_ns);
    for (size_t i = 0; i < d->schema->counter_count; i++) {
        dump_text(to, d->schema->counters[i].name);
        fprintf(to, " %d %d %d %llu %llu %llu %lld\n", d->flags[i], d->before_status[i], d->after_status[i],
                (unsigned long long)d->before[i], (unsigned long long)d->after[i], (unsigned long long)d->values[i],
                (long long)d->elapsed_ns[i]);
    }
}

// Whether netprof_reader.py finds in the file what `expected` holds, as text.
static void check_second_reader(const char *tree, const struct sink *file, const struct things *expected)
{
    tree_write_bytes(tree, "file", file->data, file->size);
    FILE *to = fopen(tree_path(tree, "expected"), "w");
    for (size_t i = 0; i < expected->count; i++) {
        const struct thing *thing = &expected->all[i];
        if (thing->type == NETPROF_ITEM_FACT) {
            fprintf(to, "fact");
            dump_facts(to, &(netprof_fact){thing->key, thing->value}, 1);
        } else if (thing->type == NETPROF_ITEM_SNAPSHOT) {
            dump_snapshot(to, &thing->snapshot);
        } else {
            dump_delta(to, &thing->delta);
        }
    }
    fprintf(to, "complete\n");
    fclose(to);
    char command[4096];
    snprintf(command, sizeof command, "cd %s && python3 %s/tests/unit/netprof_reader.py file >got && cmp got expected",
             tree, NETPROF_TEST_TOP);
    assert_int_equal(system(command), 0);
}

// netprof_reader.py was written from section 10.1 alone. It reads what was written, but stamps as netprof.h reads them
// (the file does not keep them to the nanosecond).
static void second_implementation(void **state)
{
    (void)state;
    if (system("command -v python3 >/dev/null") != 0) skip();
    char *tree = tree_make();
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct things things = generate_things(5000 + seed, seed == 1 ? 400 : 60, seed == 2 ? 150 : 14, seed % 4 == 0);
        struct sink file = {0};
        write_things(&things, &file);
        struct things back = read_data(file.data, file.size, NULL);
        for (size_t i = 0; i < things.count; i++) {
            netprof_snapshot *s = &things.all[i].snapshot;
            if (things.all[i].type == NETPROF_ITEM_SNAPSHOT && s->schema->counter_count)
                memcpy(s->stamps_ns, back.all[i].snapshot.stamps_ns, s->schema->counter_count * 8);
        }
        check_second_reader(tree, &file, &things);
        things_free(&things);
        things_free(&back);
        sink_free(&file);
    }
    tree_remove(tree);
}

// Files of version 1, as they were written then: both readers find the same in them.
static void version_1(void **state)
{
    (void)state;
    static const char *const names[] = {"tests/unit/version1.netprof", "tests/fuzz/corpus/file/generated1",
                                        "tests/fuzz/corpus/file/generated5", "tests/fuzz/corpus/file/generated7"};
    char *tree = tree_make();
    for (size_t i = 0; i < COUNT(names); i++) {
        char path[4096];
        struct sink file = {0};
        unsigned char bytes[4096];
        size_t n;
        snprintf(path, sizeof path, "%s/%s", NETPROF_TEST_TOP, names[i]);
        FILE *from = fopen(path, "rb");
        assert_non_null(from);
        while ((n = fread(bytes, 1, sizeof bytes, from)) > 0)
            sink_write(&file, bytes, n);
        fclose(from);
        assert_int_equal(file.data[8], 1);
        struct things things = read_data(file.data, file.size, NULL);
        assert_int_equal(things.opened, NETPROF_OK);
        assert_int_equal(things.damages, 0);
        assert_int_equal(things.complete, 1);
        assert_true(things.count >= 3);
        if (system("command -v python3 >/dev/null") == 0) check_second_reader(tree, &file, &things);
        things_free(&things);
        sink_free(&file);
    }
    tree_remove(tree);
}

/* -- events -- */

static const int64_t event_times[] = {1000, 1010, 1010, INT64_MIN, INT64_MAX, 0, 0, 0, 0, -1};
static const char *const event_names[] = {"AllReduce", "", "AllReduce", "\xff", "AllGather",
                                          "",          "", "",          "",     "AllGather"};

static void write_some_events(struct sink *to)
{
    const netprof_events_column columns[] = {
        {"begin_ns", event_times, NULL}, {"name", NULL, event_names}, {"again", NULL, event_names}};
    const netprof_events some = {"a.kind", columns, 3, COUNT(event_times)}, none = {"none", NULL, 0, 0};
    netprof_writer *w;
    assert_int_equal(netprof_writer_open_fn(&w, sink_write, to, NULL), NETPROF_OK);
    assert_int_equal(netprof_write_events(w, &some, NULL), NETPROF_OK);
    assert_int_equal(netprof_write_events(w, &none, NULL), NETPROF_OK);
    assert_int_equal(netprof_writer_close(w, 1, NULL), NETPROF_OK);
}

static void check_some_events(const netprof_events *e)
{
    assert_string_equal(e->kind, "a.kind");
    assert_int_equal(e->column_count, 3);
    assert_int_equal(e->count, COUNT(event_times));
    assert_string_equal(e->columns[0].name, "begin_ns");
    assert_null(e->columns[0].texts);
    assert_memory_equal(e->columns[0].numbers, event_times, sizeof event_times);
    for (size_t c = 1; c < 3; c++) {
        assert_string_equal(e->columns[c].name, c == 1 ? "name" : "again");
        assert_null(e->columns[c].numbers);
        for (size_t i = 0; i < e->count; i++)
            assert_string_equal(e->columns[c].texts[i], event_names[i]);
    }
}

static void events_are_kept(void **state)
{
    (void)state;
    struct sink file = {0};
    netprof_reader *r = NULL;
    netprof_item item;
    write_some_events(&file);
    assert_int_equal(netprof_reader_open_memory(&r, file.data, file.size, NULL, NULL), NETPROF_OK);
    assert_int_equal(netprof_reader_next(r, &item, NULL), NETPROF_OK);
    assert_int_equal(item.type, NETPROF_ITEM_EVENTS);
    check_some_events(item.events);
    assert_int_equal(netprof_reader_next(r, &item, NULL), NETPROF_OK);
    assert_int_equal(item.type, NETPROF_ITEM_EVENTS);
    assert_string_equal(item.events->kind, "none");
    assert_int_equal(item.events->count, 0);
    assert_int_equal(netprof_reader_next(r, &item, NULL), NETPROF_OK);
    assert_true(item.type == NETPROF_ITEM_END && item.complete && !item.events);
    netprof_reader_close(r);
    sink_free(&file);
}

// By the description: kind "k", a column of numbers 5, 5, 4 and one of texts "x", "y", "y".
static void events_by_hand(void **state)
{
    (void)state;
    static const char chunk[] = "\1k"
                                "\2"
                                "\3"
                                "\1n"
                                "\0"
                                "\x0a\0\0\1"
                                "\1t"
                                "\1"
                                "\2\1x\1y"
                                "\0\0\2\0\0";
    struct sink file = {0};
    netprof_reader *r = NULL;
    netprof_item item;
    append_header(&file, 2);
    append_chunk(&file, "EVNT", chunk, sizeof chunk - 1);
    assert_int_equal(netprof_reader_open_memory(&r, file.data, file.size, NULL, NULL), NETPROF_OK);
    assert_int_equal(netprof_reader_next(r, &item, NULL), NETPROF_OK);
    assert_int_equal(item.type, NETPROF_ITEM_EVENTS);
    assert_int_equal(item.events->count, 3);
    assert_int_equal(item.events->columns[0].numbers[0], 5);
    assert_int_equal(item.events->columns[0].numbers[1], 5);
    assert_int_equal(item.events->columns[0].numbers[2], 4);
    assert_string_equal(item.events->columns[1].texts[0], "x");
    assert_string_equal(item.events->columns[1].texts[2], "y");
    netprof_reader_close(r);
    sink_free(&file);
}

// Whatever a chunk of events holds, with a correct checksum: it is delivered or it is damage, and what follows is read.
static void events_of_noise(void **state)
{
    (void)state;
    struct sink whole = {0};
    write_some_events(&whole);
    size_t payload = get_u32(whole.data + 20), damaged = 0, delivered = 0;
    for (size_t at = 0; at < payload; at++)
        for (int v = 0; v < 256; v += 5) {
            struct sink file = {0};
            netprof_reader *r = NULL;
            netprof_item item;
            unsigned char *copy = malloc(payload);
            memcpy(copy, whole.data + 28, payload);
            copy[at] = (unsigned char)v;
            append_header(&file, 2);
            append_chunk(&file, "EVNT", copy, v % 2 ? payload : at);
            append_chunk(&file, "FACT", "\x01k\x01v", 4);
            assert_int_equal(netprof_reader_open_memory(&r, file.data, file.size, NULL, NULL), NETPROF_OK);
            assert_int_equal(netprof_reader_next(r, &item, NULL), NETPROF_OK);
            damaged += item.type == NETPROF_ITEM_DAMAGE;
            delivered += item.type == NETPROF_ITEM_EVENTS;
            for (size_t c = 0; item.events && c < item.events->column_count; c++)
                for (size_t i = 0; i < item.events->count; i++)
                    assert_true(item.events->columns[c].texts ? strlen(item.events->columns[c].texts[i]) < 100 : 1);
            assert_int_equal(netprof_reader_next(r, &item, NULL), NETPROF_OK);
            assert_int_equal(item.type, NETPROF_ITEM_FACT);
            netprof_reader_close(r);
            sink_free(&file);
            free(copy);
        }
    assert_true(damaged > 1000 && delivered > 100);
    sink_free(&whole);
}

// A row, and a million empty texts of which one is its: each is a byte in the file, and would be eight in memory.
static void more_texts_than_rows(void **state)
{
    (void)state;
    enum { MANY = 1 << 20 };
    static char chunk[MANY + 64];
    static const char head[] = "\1k\1\1\1t\1\x80\x80\x40"; // 2^20 texts
    struct sink file = {0};
    memcpy(chunk, head, sizeof head - 1);
    append_header(&file, 2);
    append_chunk(&file, "EVNT", chunk, sizeof head - 1 + MANY + 2);
    most_held = held;
    struct things got = read_data(file.data, file.size, NULL);
    assert_int_equal(got.damages, 1);
    assert_true(most_held < (size_t)4 << 20);
    things_free(&got);
    sink_free(&file);
}

static void limits_of_events(void **state)
{
    (void)state;
    static const char rows[] = "\1k\1\xff\xff\x3f\1n\0\0\xfe\xff\x3f"; // 2^20 - 1 rows in 15 bytes
    netprof_limits limits = {.max_memory = 1 << 20};
    struct sink file = {0};
    append_header(&file, 2);
    append_chunk(&file, "EVNT", rows, sizeof rows - 1);
    most_held = held;
    struct things got = read_data(file.data, file.size, &limits);
    assert_int_equal(got.damages, 1);
    assert_non_null(strstr(got.all[0].text, "limit"));
    assert_true(most_held < (size_t)2 << 20);
    things_free(&got);
    sink_free(&file);
    netprof_writer *w;
    const char *const no_texts[] = {"x", NULL};
    const netprof_events many = {"k", &(netprof_events_column){"n", event_times, NULL}, 1, NETPROF_EVENTS_MAX + 1},
                         no_column = {"k", NULL, 0, 1},
                         no_rows = {"k", &(netprof_events_column){"n", NULL, NULL}, 1, 2},
                         no_name = {"k", &(netprof_events_column){NULL, event_times, NULL}, 1, 2},
                         no_text = {"k", &(netprof_events_column){"n", NULL, no_texts}, 1, 2};
    assert_int_equal(netprof_writer_open_fn(&w, sink_write, &file, NULL), NETPROF_OK);
    assert_int_equal(netprof_write_events(w, &many, NULL), NETPROF_ERR_LIMIT);
    assert_int_equal(netprof_write_events(w, &no_column, NULL), NETPROF_ERR_ARG);
    assert_int_equal(netprof_write_events(w, &no_rows, NULL), NETPROF_ERR_ARG);
    assert_int_equal(netprof_write_events(w, &no_name, NULL), NETPROF_ERR_ARG);
    assert_int_equal(netprof_write_events(w, &no_text, NULL), NETPROF_ERR_ARG);
    assert_int_equal(netprof_writer_close(w, 1, NULL), NETPROF_OK);
    sink_free(&file);
}

int main(int count, char **arguments_given)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips),
        cmocka_unit_test(round_trips_of_several_chains),
        cmocka_unit_test(round_trips_of_long_lists),
        cmocka_unit_test(names_that_count_on),
        cmocka_unit_test(leftovers_behind_a_status),
        cmocka_unit_test(values_that_no_one_expects),
        cmocka_unit_test(devices_and_statuses_that_change),
        cmocka_unit_test(what_is_expected_costs_nothing),
        cmocka_unit_test(stamps_within_what_is_said),
        cmocka_unit_test(a_second_snapshot_is_small),
        cmocka_unit_test(stamps_of_uneven_times),
        cmocka_unit_test(a_burst_is_forgotten),
        cmocka_unit_test(cut_at_every_byte),
        cmocka_unit_test(flip_every_bit),
        cmocka_unit_test(chunks_lost_doubled_and_swapped),
        cmocka_unit_test(what_a_damaged_snapshot_costs),
        cmocka_unit_test(two_files_in_a_row),
        cmocka_unit_test(a_second_file_without_its_beginning),
        cmocka_unit_test(a_second_file_with_a_damaged_header),
        cmocka_unit_test(stretches_lost),
        cmocka_unit_test(unknown_chunks_are_skipped),
        cmocka_unit_test(bytes_at_the_end_of_chunks_are_skipped),
        cmocka_unit_test(bytes_at_the_end_of_regions_are_skipped),
        cmocka_unit_test(regions_keep_their_part_of_the_schema),
        cmocka_unit_test(headers),
        cmocka_unit_test(a_file_by_hand),
        cmocka_unit_test(stamp_errors_of_deltas),
        cmocka_unit_test(steps_by_hand),
        cmocka_unit_test(steps_of_noise),
        cmocka_unit_test(hostile_counts),
        cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(memory_bomb),
        cmocka_unit_test(many_equal_names),
        cmocka_unit_test(many_false_beginnings),
        cmocka_unit_test(atomic_until_closed),
        cmocka_unit_test(through_a_link),
        cmocka_unit_test(through_a_link_of_another_user),
        cmocka_unit_test(standard_output),
        cmocka_unit_test(not_ordinary_files),
        cmocka_unit_test(longest_name),
        cmocka_unit_test(files_that_are_none),
        cmocka_unit_test(reading_that_fails),
        cmocka_unit_test(live_is_readable_at_once),
        cmocka_unit_test(live_survives_a_kill),
        cmocka_unit_test(failing_sink),
        cmocka_unit_test(arguments),
        cmocka_unit_test(second_implementation),
        cmocka_unit_test(version_1),
        cmocka_unit_test(events_are_kept),
        cmocka_unit_test(events_by_hand),
        cmocka_unit_test(events_of_noise),
        cmocka_unit_test(limits_of_events),
        cmocka_unit_test(more_texts_than_rows),
    };
    if (count > 1) cmocka_set_test_filter(arguments_given[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
