/* What netprof_diff() makes of two snapshots whose devices differ, whole: every row, the order of devices, what
   is only in one of them, and the times. */
#define NETPROF_STATIC
#define NETPROF_IMPLEMENTATION
#include "../../netprof.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include "support.h"

/* A line of a schema: "source NAME STATUS ERRNO PATH", "device NAME IDENTITY", "fact KEY VALUE", or a counter: NAME KIND WIDTH
   VALUE STATUS. */
static void build_line(netprof_list *list, const char *line, uint64_t *values, uint8_t *statuses, size_t *count)
{
    char word[5][64] = {"", "", "", "", ""};
    int n = sscanf(line, "%63s %63s %63s %63s %63s", word[0], word[1], word[2], word[3], word[4]);
    assert_true(n >= 2);
    if (strcmp(word[0], "source") == 0) {
        netprof_build_source(list, word[1]);
        if (n > 2) netprof_list_state(list, (netprof_status)atoi(word[2]), atoi(word[3]), word[4]);
    } else if (strcmp(word[0], "device") == 0) {
        netprof_list_device(list, word[1], strtoull(word[2], NULL, 10), NETPROF_DEVICE_PHYSICAL);
    } else if (strcmp(word[0], "fact") == 0) {
        netprof_list_fact(list, word[1], word[2]);
    } else {
        netprof_counter c;
        memset(&c, 0, sizeof c);
        c.name = word[0];
        c.unit = "packets";
        c.scale = 1;
        c.kind = (uint8_t)(word[1][0] == 'g' ? NETPROF_KIND_GAUGE : NETPROF_KIND_COUNTER);
        c.width = (uint8_t)atoi(word[2]);
        values[*count] = strtoull(word[3], NULL, 10);
        statuses[(*count)++] = (uint8_t)atoi(word[4]);
        netprof_list_counter(list, &c);
    }
}

/* Device i was read from begin + 10 (i + 1) to 4 ms later. */
static netprof_snapshot snapshot_of_lines(const char *const *lines, int64_t begin_ms)
{
    const int64_t ms = 1000000;
    netprof_list *list = netprof_build_begin(NULL);
    const netprof_schema *schema = NULL;
    netprof_snapshot s;
    uint64_t values[40];
    uint8_t statuses[40];
    size_t count = 0, i;
    assert_non_null(list);
    netprof_build_fact(list, "host", "h");
    netprof_build_fact(list, "boot_id", "b");
    for (; *lines; lines++)
        build_line(list, *lines, values, statuses, &count);
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    assert_int_equal(schema->counter_count, count);
    s = snapshot_of(schema);
    memcpy(s.values, values, count * sizeof *values);
    memcpy(s.status, statuses, count);
    for (i = 0; i < schema->device_count; i++) {
        s.device_begin_ns[i] = (begin_ms + 10 * (int64_t)(i + 1)) * ms;
        s.device_end_ns[i] = s.device_begin_ns[i] + 4 * ms;
    }
    s.begin_ns = begin_ms * ms;
    s.end_ns = (begin_ms + begin_ms / 20) * ms;
    s.wall_ns = (begin_ms + 1000000) * ms;
    return s;
}

/* The lines of a delta: sources, devices (with where they are in the two), facts, rows. */
static void delta_lines(const netprof_delta *d, char *text, size_t size)
{
    const netprof_schema *s = d->schema;
    size_t n = 0, i, k, device = 0;
    for (i = 0; i < s->source_count; i++) {
        n += (size_t)snprintf(text + n, size - n, "source %s %d %d %s\n", s->sources[i].name, (int)s->sources[i].status,
                              s->sources[i].sys_errno, s->sources[i].path);
        for (size_t end = device + s->sources[i].device_count; device < end; device++) {
            const netprof_device *x = &s->devices[device];
            n += (size_t)snprintf(text + n, size - n, "device %s %s %llu: %d %d\n", x->source, x->name,
                                  (unsigned long long)x->identity, (int)d->device_before[device],
                                  (int)d->device_after[device]);
            for (k = 0; k < x->fact_count; k++)
                n += (size_t)snprintf(text + n, size - n, "  %s: %s\n", x->facts[k].key, x->facts[k].value);
            for (k = x->first; k < (size_t)x->first + x->count; k++)
                n += (size_t)snprintf(text + n, size - n, "  %s %llu %llu: %lld %s in %lld us, %d %d\n",
                                      s->counters[k].name, (unsigned long long)d->before[k],
                                      (unsigned long long)d->after[k], (long long)d->values[k],
                                      netprof_flag_name((netprof_flag)d->flags[k]),
                                      (long long)(d->elapsed_ns[k] / 1000), d->before_status[k], d->after_status[k]);
        }
    }
    assert_true(n < size);
}

static const char *const first[] = {"source netdev 1",
                                    "device eth0 8",
                                    "fact pci 0000:01:00.0",
                                    "fact mtu 1500",
                                    "rx c 64 100 1",
                                    "old c 64 101 1",
                                    "tx c 64 102 1",
                                    "device eth1 9",
                                    "rx c 64 110 1",
                                    "device veth 10",
                                    "fact kind veth",
                                    "rx c 64 120 1",
                                    "tx c 64 121 1",
                                    "source gone 2 2 /gone",
                                    "device a 0",
                                    "n c 64 130 1",
                                    "device b 0",
                                    "n c 64 140 3",
                                    "source ip 1",
                                    "device Tcp 0",
                                    "segs c 64 150 1",
                                    "conns g 0 7 1",
                                    "lost c 64 9 0",
                                    "device Udp 0",
                                    "in c 64 160 1",
                                    NULL};
static const char *const second[] = {
    "source ip 3 13 /denied", "device Icmp 0",   "in c 64 5 1",     "device Tcp 0",
    "lost c 64 19 1",         "fresh c 64 20 1", "segs c 64 155 1", "conns g 0 4 1",
    "source netdev 1",        "device veth 33",                                      /* made anew */
    "fact kind veth",         "tx c 64 221 1",   "rx c 64 20 1",    "device ens1 8", /* renamed */
    "fact pci 0000:01:00.0",  "fact mtu 9000",   "tx c 64 202 1",   "rx c 64 90 1",
    "source fresh 1",         "device x 0",      "n c 64 170 1",    NULL};

static void rows_of_two_nodes(void **state)
{
    static const char expected[] = "source ip 3 13 /denied\n"
                                   "device ip Icmp 0: -1 0\n"
                                   "  in 0 5: 0 new in 0 us, 0 1\n"
                                   "device ip Tcp 0: 5 1\n"
                                   "  lost 9 19: 0 unknown in 0 us, 0 1\n"
                                   "  fresh 0 20: 0 new in 0 us, 0 1\n"
                                   "  segs 150 155: 5 ok in 960000 us, 1 1\n" /* 2000 + 20 less 1000 + 60 */
                                   "  conns 7 4: 0 gauge in 960000 us, 1 1\n"
                                   "device ip Udp 0: 6 -1\n"
                                   "  in 160 0: 0 gone in 0 us, 1 0\n"
                                   "source netdev 1 0 \n"
                                   "device netdev veth 33: 2 2\n"
                                   "  kind: veth\n"
                                   "  tx 121 221: 221 reset in 1000000 us, 1 1\n"
                                   "  rx 120 20: 20 reset in 1000000 us, 1 1\n"
                                   "device netdev ens1 8: 0 3\n"
                                   "  pci: 0000:01:00.0\n"
                                   "  mtu: 9000\n"
                                   "  tx 102 202: 100 ok in 1030000 us, 1 1\n"
                                   "  rx 100 90: 90 reset in 1030000 us, 1 1\n"
                                   "  old 101 0: 0 gone in 0 us, 1 0\n"
                                   "device netdev eth1 9: 1 -1\n"
                                   "  rx 110 0: 0 gone in 0 us, 1 0\n"
                                   "source fresh 1 0 \n"
                                   "device fresh x 0: -1 4\n"
                                   "  n 0 170: 0 new in 0 us, 0 1\n"
                                   "source gone 2 2 /gone\n"
                                   "device gone a 0: 3 -1\n"
                                   "  n 130 0: 0 gone in 0 us, 1 0\n"
                                   "device gone b 0: 4 -1\n"
                                   "  n 140 0: 0 gone in 0 us, 3 0\n";
    netprof_snapshot a = snapshot_of_lines(first, 1000), b = snapshot_of_lines(second, 2000);
    netprof_delta d = NETPROF_ZERO;
    char text[4000];
    (void)state;
    assert_int_equal(netprof_diff(&a, &b, NULL, &d, NULL), NETPROF_OK);
    delta_lines(&d, text, sizeof text);
    assert_string_equal(text, expected);
    assert_int_equal(d.interval_ns, 1000000000);
    assert_int_equal(d.sweep_ns, 100000000);
    assert_int_equal(d.wall_begin_ns, 1001000 * INT64_C(1000000));
    assert_int_equal(d.wall_end_ns, 1002000 * INT64_C(1000000));
    assert_int_equal(d.stamp_error_ns, 0);
    netprof_delta_free(&d);
    netprof_snapshot_free(&a);
    netprof_snapshot_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_of_two_nodes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
