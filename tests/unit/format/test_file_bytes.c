// What a writer writes, byte for byte: each chunk by its length and checksum. A reader takes any file that keeps to the
// format, so only this shows that the writer takes the shorter way of two, and what it predicts.
#define _GNU_SOURCE
#define NETPROF_IMPLEMENTATION
#define NETPROF_STATIC
#include "netprof.h"

#include "generate.h"
#include "golden_text.h"

// ---- chunks as lines ----

static void say(struct sink *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct sink *to, const char *format, ...)
{
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    assert_in_range(n, 0, sizeof line - 1);
    sink_write(to, line, (size_t)n);
}

static uint32_t number_at(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

// Bit by bit, as IEEE 802.3 has it.
static uint32_t checksum(uint32_t crc, const unsigned char *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        crc ^= data[i];
        for (int k = 0; k < 8; k++)
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    return crc;
}

static void say_chunks(struct sink *to, const struct sink *file)
{
    assert_memory_equal(file->data, "\x89NPROF\r\n\x02\0\0\0\x04\x03\x02\x01", 16);
    for (size_t at = 16; at < file->size;) {
        const unsigned char *chunk = file->data + at;
        uint32_t size = number_at(chunk + 4);
        assert_true(at + 12 + size <= file->size);
        uint32_t crc = ~checksum(checksum(UINT32_MAX, chunk, 8), chunk + 12, size);
        assert_int_equal(crc, number_at(chunk + 8));
        say(to, "%.4s %u %08x\n", (const char *)chunk, size, crc);
        at += 12 + size;
    }
}

static netprof_writer *begin(struct sink *file)
{
    netprof_writer *w = NULL;
    assert_int_equal(netprof_writer_open_fn(&w, sink_write, file, NULL), NETPROF_OK);
    return w;
}

static void end(netprof_writer *w, struct sink *file, struct sink *lines)
{
    assert_int_equal(netprof_writer_close(w, 1, NULL), NETPROF_OK);
    say_chunks(lines, file);
    sink_free(file);
}

static void expect_lines(struct sink *lines, const char *name)
{
    golden_text_expect(lines->data, lines->size, name);
    sink_free(lines);
}

// ---- a node over time ----

enum { PORT_COUNTERS = 16 };

static const netprof_schema *node_schema(void)
{
    static const char *const names[PORT_COUNTERS] = {
        "rx_bytes", "rx_packets", "tx_bytes", "tx_packets", "pause_7", "pause_8", "pause_9",     "pause_10",
        "errors",   "size_0",     "size_1",   "size_2",     "speed",   "state",   "temperature", "bursts"};
    netprof_list *list = netprof_build_begin(NULL);
    const netprof_schema *schema = NULL;
    char device[16];
    netprof_build_fact(list, "host", "n1");
    netprof_build_source(list, "cxi");
    for (int d = 0; d < 5; d++) {
        if (d == 3) netprof_build_source(list, "netdev");
        snprintf(device, sizeof device, "port%d", d);
        netprof_list_device(list, device, (uint64_t)d * 1000003, NETPROF_DEVICE_PHYSICAL);
        for (int i = 0; i < PORT_COUNTERS - (d == 4 ? 5 : 0); i++) {
            int kind = i < 9 || i == 15 ? NETPROF_KIND_COUNTER
                       : i < 12         ? NETPROF_KIND_HISTOGRAM
                       : i == 13        ? NETPROF_KIND_STATE
                                        : NETPROF_KIND_GAUGE;
            netprof_list_counter(list, &(netprof_counter){.name = names[i],
                                                          .unit = i % 2 ? "packets" : "bytes",
                                                          .scale = 1,
                                                          .kind = (uint8_t)kind,
                                                          .width = (uint8_t)(i < 4 ? 56 : 64),
                                                          .flags = (uint16_t)((i < 4 ? NETPROF_FAST : 0) |
                                                                              (d < 3 ? NETPROF_STAMPED : 0))});
        }
        if (d % 2) netprof_list_fact(list, "netdev", "hsn0");
    }
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    return schema;
}

// The counters of one port at step `t`, which a port of that number sees: some still, some even, some that follow traffic
// of many rates, one that leaps now and then.
static void node_values(uint64_t *v, size_t count, uint64_t port, uint64_t t, uint64_t *seed)
{
    uint64_t packets = (t % 17 < 11 ? 5000 : 90) * (port + 1) + random_below(seed, 700);
    const uint64_t more[PORT_COUNTERS] = {packets * 1514,
                                          packets,
                                          packets * 300 + random_below(seed, 40),
                                          packets / 3,
                                          0,
                                          1000 + port,
                                          t % 5 == 0,
                                          t % 40 == 0 ? 1000000 : 0,
                                          t == 70,
                                          packets / 2,
                                          packets / 4,
                                          random_below(seed, 100000),
                                          0,
                                          0,
                                          0,
                                          t % 30 == 29 ? (uint64_t)1 << (20 + t % 40) : 3};
    for (size_t i = 0; i < count; i++)
        v[i] += more[i];
    if (count > 14) v[12] = 200000, v[13] = t / 50, v[14] = 40 + random_below(seed, 5);
}

// Statuses change now and then; every ninth snapshot is of the fast set.
static void node_statuses(netprof_snapshot *s, uint64_t t)
{
    for (size_t i = 0; i < s->schema->counter_count; i++) {
        int asked = t % 9 != 8 || (s->schema->counters[i].flags & NETPROF_FAST);
        s->status[i] = asked ? NETPROF_STATUS_OK : NETPROF_STATUS_SKIPPED;
        s->errnos[i] = 0;
        if (asked && t >= 20 && t < 31 && i % PORT_COUNTERS == 3)
            s->status[i] = NETPROF_STATUS_DENIED, s->errnos[i] = EACCES;
        if (asked && t == 75 && i > 20 && i < 30) s->status[i] = NETPROF_STATUS_VANISHED, s->errnos[i] = ENODEV;
    }
    s->set = t % 9 == 8 ? NETPROF_SET_FAST : NETPROF_SET_ALL;
}

static void node_times(netprof_snapshot *s, uint64_t t, uint64_t *seed)
{
    int64_t now = 5000000000 + (int64_t)t * 1000000000 + (int64_t)random_below(seed, 90000);
    s->begin_ns = now;
    s->wall_ns = now + 1700000000000000000 + (t > 90 ? 1234567 : 0);
    for (size_t d = 0; d < s->schema->device_count; d++) {
        const netprof_device *device = &s->schema->devices[d];
        int read = !(d == 2 && t >= 40 && t < 44);
        s->device_begin_ns[d] = read ? (now += 800) : 0;
        for (size_t i = device->first; i < (size_t)device->first + device->count; i++) {
            int stamped = d < 3 && read && s->status[i] == NETPROF_STATUS_OK && i % 7 != t % 31;
            s->stamps_ns[i] = stamped ? s->wall_ns - s->begin_ns + now : 0;
            now += 2500 + (int64_t)random_below(seed, 30) + (random_below(seed, 97) ? 0 : 2000000);
        }
        if (d == 4)
            s->device_begin_ns[4] = s->device_begin_ns[3], s->device_end_ns[4] = s->device_end_ns[3];
        else
            s->device_end_ns[d] = read ? now : 0;
    }
    s->end_ns = now + 300;
}

static void node_step(netprof_snapshot *s, uint64_t *state, uint64_t t, uint64_t *seed)
{
    for (size_t d = 0; d < s->schema->device_count; d++)
        node_values(state + d * PORT_COUNTERS, s->schema->devices[d].count, d, t, seed);
    node_statuses(s, t);
    for (size_t d = 0; d < s->schema->device_count; d++)
        for (size_t i = 0; i < s->schema->devices[d].count; i++) {
            size_t at = s->schema->devices[d].first + i;
            s->values[at] = s->status[at] == NETPROF_STATUS_OK ? state[d * PORT_COUNTERS + i] : 0;
        }
    node_times(s, t, seed);
}

// 150 snapshots: more than two chains of 64.
static void a_node_over_time(void **state)
{
    uint64_t values[5 * PORT_COUNTERS] = {0}, seed = 7;
    netprof_snapshot s = snapshot_of(node_schema()), old = NETPROF_ZERO;
    netprof_delta d = NETPROF_ZERO;
    struct sink file = {0}, lines = {0};
    netprof_writer *w = begin(&file);
    (void)state;
    assert_int_equal(netprof_write_fact(w, "command", "a program of 2 words", NULL), NETPROF_OK);
    for (uint64_t t = 0; t < 150; t++) {
        node_step(&s, values, t, &seed);
        assert_int_equal(netprof_write_snapshot(w, &s, NULL), NETPROF_OK);
        if (t == 15) assert_int_equal(netprof_snapshot_copy(&old, &s, NULL), NETPROF_OK);
    }
    assert_int_equal(netprof_diff(&old, &s, NULL, &d, NULL), NETPROF_OK);
    assert_int_equal(netprof_write_delta(w, &d, NULL), NETPROF_OK);
    end(w, &file, &lines);
    netprof_delta_free(&d);
    netprof_snapshot_free(&old);
    netprof_snapshot_free(&s);
    expect_lines(&lines, "format/node_over_time.txt");
}

// ---- whatever there may be ----

// Names, values, statuses and times of every kind, and a delta that fits nothing.
static void write_generated(netprof_writer *w, uint64_t seed)
{
    const netprof_diff_options force = {.force = 1};
    const netprof_schema *schema = generate_schema(seed, 40);
    netprof_snapshot s[12];
    netprof_delta d = NETPROF_ZERO;
    memset(s, 0, sizeof s);
    for (size_t i = 0; i < COUNT(s); i++) {
        generate_snapshot(&seed, schema, i ? &s[i - 1] : NULL, i % 4 == 3, &s[i]);
        assert_int_equal(netprof_write_snapshot(w, &s[i], NULL), NETPROF_OK);
    }
    assert_int_equal(netprof_diff(&s[1], &s[9], &force, &d, NULL), NETPROF_OK);
    for (size_t i = 0; i < schema->counter_count; i += 3) {
        d.values[i] = generate_value(&seed);
        d.elapsed_ns[i] = (int64_t)generate_value(&seed);
    }
    assert_int_equal(netprof_write_delta(w, &d, NULL), NETPROF_OK);
    netprof_delta_free(&d);
    for (size_t i = 0; i < COUNT(s); i++)
        netprof_snapshot_free(&s[i]);
    netprof_schema_release(schema);
}

static void whatever_there_may_be(void **state)
{
    struct sink lines = {0};
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct sink file = {0};
        netprof_writer *w = begin(&file);
        write_generated(w, seed);
        write_generated(w, seed + 100);
        write_generated(w, seed); // the schema is known
        say(&lines, "seed %d\n", (int)seed);
        end(w, &file, &lines);
    }
    expect_lines(&lines, "format/file_bytes.txt");
}

int main(int count, char **given)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_over_time),
        cmocka_unit_test(whatever_there_may_be),
    };
    if (count > 1) cmocka_set_test_filter(given[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
