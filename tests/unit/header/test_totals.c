// First numbers without a file: totals of ports, one counter's change, the meter, the tables, the benchmark.
#define NETPROF_IMPLEMENTATION
#define NETPROF_STATIC
#include "netprof.h"

#include "support.h"

#include <math.h>

static void assert_near(double value, double expected, double by)
{
    if (fabs(value - expected) > by) fail_msg("%g instead of %g", value, expected);
}

// One counter of the node below. `name` NULL: a device begins, with its facts.
struct entry {
    const char *source, *device, *facts, *name;
    uint64_t before, after;
    netprof_status status; // of the second snapshot
};

#define UP   NETPROF_STATUS_OK
#define GONE NETPROF_STATUS_DENIED

// A Cassini NIC with its interface, an InfiniBand port with IP over it, a RoCE port, an Ethernet port, the loopback.
static const struct entry node[] = {
    {"cxi", "cxi0", "netdev=hsn0 speed_mbps=200000 +", NULL, 0, 0, UP},
    {"cxi", "cxi0", NULL, "hni_sts_rx_ok_octets", 1000, 5001000, UP},
    {"cxi", "cxi0", NULL, "hni_sts_tx_ok_octets", 0, 250000000, UP},
    {"cxi", "cxi0", NULL, "hni_rx_ok_27", 0, 1, UP},
    {"cxi", "cxi0", NULL, "hni_rx_ok_35", 0, 2, UP},
    {"cxi", "cxi0", NULL, "hni_rx_ok_36_to_63", 0, 3, UP},
    {"cxi", "cxi0", NULL, "hni_rx_ok_64", 0, 4, UP},
    {"cxi", "cxi0", NULL, "hni_rx_ok_65_to_127", 0, 5, UP},
    {"cxi", "cxi0", NULL, "hni_rx_ok_128_to_255", 0, 6, UP},
    {"cxi", "cxi0", NULL, "hni_rx_ok_256_to_511", 0, 7, UP},
    {"cxi", "cxi0", NULL, "hni_rx_ok_512_to_1023", 0, 8, UP},
    {"cxi", "cxi0", NULL, "hni_rx_ok_1024_to_2047", 0, 9, UP},
    {"cxi", "cxi0", NULL, "hni_rx_ok_2048_to_4095", 0, 10, UP},
    {"cxi", "cxi0", NULL, "hni_rx_ok_4096_to_8191", 0, 11, UP},
    {"cxi", "cxi0", NULL, "hni_rx_ok_8192_to_max", 0, 12, UP},
    {"cxi", "cxi0", NULL, "hni_rx_ok_ieee", 0, 78, UP}, // the same frames
    {"cxi", "cxi0", NULL, "hni_pcs_uncorrected_cw", 5, 8, UP},
    {"netdev", "hsn0", "+", NULL, 0, 0, UP},
    {"netdev", "hsn0", NULL, "rx_bytes", 0, 4000000, UP},
    {"netdev", "hsn0", NULL, "tx_bytes", 0, 100, UP},
    {"netdev", "eth0", "speed_mbps=1000 +", NULL, 0, 0, UP},
    {"netdev", "eth0", NULL, "rx_bytes", 0, 2000000, UP},
    {"netdev", "eth0", NULL, "tx_bytes", 0, 1000000, UP},
    {"netdev", "eth0", NULL, "rx_packets", 0, 2000, UP},
    {"netdev", "eth0", NULL, "tx_packets", 0, 1000, UP},
    {"netdev", "eth0", NULL, "rx_dropped", 10, 17, UP},
    {"netdev", "ib0", "+", NULL, 0, 0, UP},
    {"netdev", "ib0", NULL, "rx_bytes", 0, 333, UP},
    {"netdev", "lo", "", NULL, 0, 0, UP},
    {"netdev", "lo", NULL, "rx_bytes", 0, 77, UP},
    {"netdev", "lo", NULL, "tx_bytes", 0, 77, UP},
    {"rdma", "mlx5_0/1", "netdev=ib0 link_layer=InfiniBand rate=100 +", NULL, 0, 0, UP},
    {"rdma", "mlx5_0/1", NULL, "port_rcv_data", 0, 8000, UP},
    {"rdma", "mlx5_0/1", NULL, "port_rcv_data_64", 0, 8004, UP}, // read a little later: the same bytes
    {"rdma", "mlx5_0/1", NULL, "port_xmit_data", 0, 16000, UP},
    {"rdma", "mlx5_1/1", "netdev=eth0 link_layer=Ethernet +", NULL, 0, 0, UP},
    {"rdma", "mlx5_1/1", NULL, "port_rcv_data", 0, 40, UP},
    {"rdma", "mlx5_1/1", NULL, "port_xmit_data", 0, 50, UP},
};

enum { ROWS = sizeof node / sizeof *node };

static void add_device(netprof_list *list, const struct entry *r)
{
    char copy[256], *save, *word;
    snprintf(copy, sizeof copy, "%s", r->facts);
    netprof_list_device(list, r->device, 0, strchr(copy, '+') ? NETPROF_DEVICE_PHYSICAL : NETPROF_DEVICE_VIRTUAL);
    for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        char *equal = strchr(word, '=');
        if (!equal) continue;
        *equal = 0;
        netprof_list_fact(list, word, equal + 1);
    }
}

// The difference of two seconds, of these rows but `without`.
static void make_delta(netprof_delta *delta, const struct entry *rows, size_t count, const char *without)
{
    netprof_list *list = netprof_build_begin(NULL);
    const netprof_schema *schema;
    netprof_snapshot s[2] = {NETPROF_ZERO, NETPROF_ZERO};
    const char *source = "";
    size_t n = 0;
    netprof_build_fact(list, "host", "n1");
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].source, source) != 0) netprof_build_source(list, source = rows[i].source);
        if (!rows[i].name)
            add_device(list, &rows[i]);
        else if (!without || strcmp(without, rows[i].name) != 0)
            netprof_list_counter(list, &(netprof_counter){.name = rows[i].name, .unit = "x", .width = 64});
    }
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(netprof_snapshot_make(&s[k], schema, NULL), NETPROF_OK);
        s[k].begin_ns = s[k].wall_ns = 1000000000 + k * (int64_t)2000000000;
        s[k].end_ns = s[k].begin_ns;
        for (size_t d = 0; d < schema->device_count; d++)
            s[k].device_begin_ns[d] = s[k].device_end_ns[d] = s[k].begin_ns;
    }
    for (size_t i = 0; i < count; i++) {
        if (!rows[i].name || (without && strcmp(without, rows[i].name) == 0)) continue;
        s[0].values[n] = rows[i].before;
        s[1].values[n] = rows[i].status == UP ? rows[i].after : 0;
        s[0].status[n] = NETPROF_STATUS_OK;
        s[1].status[n++] = (uint8_t)rows[i].status;
    }
    assert_int_equal(netprof_diff(&s[0], &s[1], NULL, delta, NULL), NETPROF_OK);
    for (int k = 0; k < 2; k++)
        netprof_snapshot_free(&s[k]);
    netprof_schema_release(schema);
}

static void totals_add_each_port_once(void **state)
{
    netprof_delta d = NETPROF_ZERO;
    (void)state;
    make_delta(&d, node, ROWS, NULL);
    netprof_total t = netprof_totals(&d, NULL);
    // cxi0 (hsn0 is in it), eth0, mlx5_0/1 (ib0 is in it), mlx5_1/1 (RoCE is not in eth0); not lo.
    assert_int_equal(t.rx_bytes, 5000000 + 2000000 + 8004 + 40);
    assert_int_equal(t.tx_bytes, 250000000 + 1000000 + 16000 + 50);
    assert_int_equal(t.rx_packets, 12 * 13 / 2 + 2000);
    assert_int_equal(t.tx_packets, 1000);
    assert_int_equal(t.errors, 3 + 7);
    assert_int_equal(t.devices, 4);
    assert_int_equal(t.unknown, 0);
    assert_int_equal(t.lower_bound, 0);
    assert_near(t.seconds, 2, 1e-9);
    assert_near(t.tx_bytes_per_s, (250000000 + 1000000 + 16000 + 50) / 2.0, 1e-3);
    netprof_delta_free(&d);
}

static void totals_of_chosen_devices(void **state)
{
    netprof_delta d = NETPROF_ZERO;
    (void)state;
    make_delta(&d, node, ROWS, NULL);
    assert_int_equal(netprof_totals(&d, "lo").rx_bytes, 77);
    assert_int_equal(netprof_totals(&d, "lo,ib0").rx_bytes, 77 + 333);
    assert_int_equal(netprof_totals(&d, "ib*,mlx5_0/1").rx_bytes, 8004); // the port counts what ib0 counts
    assert_int_equal(netprof_totals(&d, "nothing*").devices, 0);
    assert_int_equal(netprof_totals(NULL, NULL).devices, 0);
    netprof_delta_free(&d);
}

// What cannot be read is said: its bytes are missing, the others are a lower bound.
static void totals_say_what_is_missing(void **state)
{
    struct entry rows[ROWS];
    netprof_delta d = NETPROF_ZERO;
    (void)state;
    memcpy(rows, node, sizeof rows);
    for (size_t i = 0; i < ROWS; i++)
        if (strcmp(rows[i].device, "eth0") == 0 && rows[i].name && strcmp(rows[i].name, "rx_bytes") == 0)
            rows[i].status = GONE;
    make_delta(&d, rows, ROWS, NULL);
    netprof_total t = netprof_totals(&d, NULL);
    assert_int_equal(t.rx_bytes, 5000000 + 8004 + 40);
    assert_int_equal(t.tx_bytes, 250000000 + 1000000 + 16000 + 50);
    assert_int_equal(t.unknown, 1);
    assert_int_equal(t.lower_bound, 1);
    // One bin of twelve is missing: the packets of that NIC are not known.
    make_delta(&d, node, ROWS, "hni_rx_ok_64");
    assert_int_equal(netprof_totals(&d, "cxi0").rx_packets, 0);
    assert_int_equal(netprof_totals(&d, "cxi0").unknown, 1);
    netprof_delta_free(&d);
}

static void change_of_one_counter(void **state)
{
    netprof_delta d = NETPROF_ZERO;
    (void)state;
    make_delta(&d, node, ROWS, NULL);
    netprof_change c = netprof_change_of(&d, "eth0", "rx_packets");
    assert_int_equal(c.flag, NETPROF_FLAG_OK);
    assert_int_equal(c.value, 2000);
    assert_near(c.per_s, 1000, 1e-6);
    assert_near(c.seconds, 2, 1e-9);
    assert_string_equal(d.schema->counters[c.counter].name, "rx_packets");
    c = netprof_change_of(&d, "eth0", "no such");
    assert_true(c.counter == NETPROF_NONE);
    assert_int_equal(c.flag, NETPROF_FLAG_UNKNOWN);
    assert_true(netprof_change_of(&d, "eth9", "rx_packets").counter == NETPROF_NONE);
    assert_true(netprof_change_of(NULL, "eth9", "rx_packets").counter == NETPROF_NONE);
    netprof_delta_free(&d);
}

// Of a gauge it is the value at the end; one without a value there, as a file may hold it, is not known.
static void change_of_a_gauge(void **state)
{
    netprof_delta d = NETPROF_ZERO;
    (void)state;
    make_delta(&d, node, ROWS, NULL);
    size_t i = netprof_find(d.schema, "netdev", "eth0", "rx_packets");
    d.flags[i] = NETPROF_FLAG_GAUGE;
    netprof_change c = netprof_change_of(&d, "eth0", "rx_packets");
    assert_int_equal(c.flag, NETPROF_FLAG_GAUGE);
    assert_int_equal(c.value, d.after[i]);
    assert_true(c.value == 2000 && c.per_s == 0);
    d.after_status[i] = NETPROF_STATUS_DENIED;
    c = netprof_change_of(&d, "eth0", "rx_packets");
    assert_int_equal(c.counter, i);
    assert_int_equal(c.flag, NETPROF_FLAG_UNKNOWN);
    assert_true(c.value == 0 && c.per_s == 0);
    netprof_delta_free(&d);
}

// ---- tables ----

struct text {
    char data[200000];
    size_t used, fails_at;
};

static int keep(void *user, const void *data, size_t size)
{
    struct text *t = user;
    if (t->fails_at && t->used + size > t->fails_at) return ENOSPC;
    assert_true(t->used + size < sizeof t->data);
    memcpy(t->data + t->used, data, size);
    t->data[t->used += size] = 0;
    return 0;
}

static void table_of_a_delta(void **state)
{
    netprof_delta d = NETPROF_ZERO;
    static struct text t;
    (void)state;
    make_delta(&d, node, ROWS, NULL);
    memset(&t, 0, sizeof t);
    assert_int_equal(netprof_print_to(keep, &t, &d, NULL, NULL), NETPROF_OK);
    assert_string_equal(
        t.data, "netprof: 2.00 s on n1\n"
                "  device                   received         rate         sent         rate  of line    errors\n"
                "  cxi0 (hsn0)               5.00 MB    2.50 MB/s       250 MB     125 MB/s    0.5 %         3\n"
                "  eth0                      2.00 MB    1.00 MB/s      1.00 MB     500 kB/s    0.8 %         7\n"
                "  lo (virtual)                 77 B       38 B/s         77 B       38 B/s\n"
                "  mlx5_0/1 (ib0)            8.00 kB    4.00 kB/s      16.0 kB    8.00 kB/s    0.0 %\n"
                "  mlx5_1/1 (eth0)              40 B       20 B/s         50 B       25 B/s\n"
                "  all 4                     7.01 MB    3.50 MB/s       251 MB     126 MB/s                 10\n");
    netprof_delta_free(&d);
    memset(&t, 0, sizeof t);
    t.fails_at = 1;
    netprof_error error;
    make_delta(&d, node, ROWS, NULL);
    assert_int_equal(netprof_print_to(keep, &t, &d, NULL, &error), NETPROF_ERR_IO);
    assert_int_equal(error.sys_errno, ENOSPC);
    netprof_delta_free(&d);
}

// No port, nothing moved: said, not shown as a zero.
static void table_without_traffic(void **state)
{
    static const struct entry quiet[] = {{"netdev", "lo", "", NULL, 0, 0, UP},
                                         {"netdev", "lo", NULL, "rx_bytes", 7, 7, UP},
                                         {"netdev", "lo", NULL, "tx_bytes", 7, 7, UP}};
    static const struct entry port[] = {{"netdev", "eth\033[1m0", "+", NULL, 0, 0, UP},
                                        {"netdev", "eth\033[1m0", NULL, "rx_bytes", 7, 7, UP},
                                        {"netdev", "eth1", "+", NULL, 0, 0, UP},
                                        {"netdev", "eth1", NULL, "rx_bytes", 7, 8, GONE}};
    netprof_delta d = NETPROF_ZERO;
    static struct text t;
    (void)state;
    make_delta(&d, quiet, 3, NULL);
    memset(&t, 0, sizeof t);
    netprof_print_to(keep, &t, &d, NULL, NULL);
    assert_string_equal(t.data, "netprof: 2.00 s on n1\n"
                                "  no network traffic: no port of a network is seen here\n");
    make_delta(&d, port, 4, NULL);
    memset(&t, 0, sizeof t);
    netprof_print_to(keep, &t, &d, NULL, NULL);
    assert_string_equal(t.data, "netprof: 2.00 s on n1\n"
                                "  no network traffic\n"
                                "  moved nothing: eth?[1m0\n"
                                "  not read, or not twice: eth1\n");
    netprof_delta_free(&d);
}

static netprof_stat stat_of(uint32_t thread, uint32_t index, uint32_t parent, const char *name, uint64_t calls,
                            uint64_t inclusive_ns, uint64_t exclusive_ns)
{
    netprof_stat s;
    memset(&s, 0, sizeof s);
    s.thread = thread;
    s.node = index;
    s.parent = parent;
    s.region = name;
    s.calls = s.measured = calls;
    s.total_ns = s.inclusive_ns = inclusive_ns;
    s.exclusive_ns = exclusive_ns;
    s.min_ns = inclusive_ns / calls / 2;
    s.max_ns = inclusive_ns / calls * 2;
    return s;
}

// Paths are joined over threads, the longest first; a parent that is its own child hangs nothing up.
static void table_of_regions(void **state)
{
    netprof_stat stats[] = {
        stat_of(0, 0, UINT32_MAX, "step", 10, 10000000, 4000000),
        stat_of(0, 1, 0, "halo", 10, 6000000, 6000000),
        stat_of(1, 0, UINT32_MAX, "init", 1, 30000000, 30000000),
        stat_of(1, 1, UINT32_MAX, "step", 10, 10000000, 9000000),
        stat_of(1, 2, 1, "halo", 10, 1000000, 1000000),
        stat_of(2, 0, 1, "a", 1, 10, 10),
        stat_of(2, 1, 0, "b", 1, 10, 10),
        stat_of(3, 0, 1, "leaf", 1, 10, 10), /* its parents come after it */
        stat_of(3, 1, 2, "twig", 1, 20, 10),
        stat_of(3, 2, UINT32_MAX, "tree", 1, 30, 10),
    };
    netprof_regions r;
    const char *tree, *twig, *leaf;
    static struct text t;
    (void)state;
    memset(&r, 0, sizeof r);
    r.stats = stats;
    r.count = 5;
    r.elapsed_ns = 40000000;
    r.threads = 2;
    r.mode = NETPROF_MODE_TIME;
    r.warning = "";
    stats[1].bytes = 5000;
    stats[4].bytes = 3000;
    stats[2].open = 1;
    memset(&t, 0, sizeof t);
    assert_int_equal(netprof_print_to(keep, &t, NULL, &r, NULL), NETPROF_OK);
    assert_string_equal(
        t.data, "regions: 40.0 ms, 2 threads, mode time\n"
                "  region                             calls      time      own     mean    least     most    bytes\n"
                "  init                                   1   30.0 ms   60.0 %  30.0 ms  15.0 ms  60.0 ms open\n"
                "  step                                  20   20.0 ms   26.0 %  1.00 ms   500 us  2.00 ms\n"
                "    halo                                20   7.00 ms   14.0 %   350 us  50.0 us  1.20 ms  8.00 kB\n");
    assert_null(strstr(t.data, "not every call was timed"));
    r.readings = 5;
    r.reading_ns = 1230000;
    stats[4].measured = 9; // of 10 calls
    memset(&t, 0, sizeof t);
    assert_int_equal(netprof_print_to(keep, &t, NULL, &r, NULL), NETPROF_OK);
    assert_non_null(strstr(t.data, "\n  reading counters took 1.23 ms, which is in no region's time\n"));
    assert_non_null(strstr(t.data, "\n    halo                                20* "));
    assert_non_null(strstr(t.data, "\n  * not every call was timed: the times are those of the timed ones\n"));
    r.count = 7;
    memset(&t, 0, sizeof t);
    assert_int_equal(netprof_print_to(keep, &t, NULL, &r, NULL), NETPROF_OK);
    assert_non_null(strstr(t.data, "\n  b "));
    assert_non_null(strstr(t.data, "\n    a "));
    r.count = 10;
    memset(&t, 0, sizeof t);
    assert_int_equal(netprof_print_to(keep, &t, NULL, &r, NULL), NETPROF_OK);
    tree = strstr(t.data, "\n  tree ");
    twig = strstr(t.data, "\n    twig ");
    leaf = strstr(t.data, "\n      leaf ");
    assert_true(tree && twig && leaf && tree < twig && twig < leaf);
}

// ---- the meter and the benchmark ----

static void meter_measures_the_loopback(void **state)
{
    netprof_meter m = NETPROF_ZERO;
    struct sockaddr_in to;
    socklen_t size = sizeof to;
    int in = socket(AF_INET, SOCK_DGRAM, 0), out = socket(AF_INET, SOCK_DGRAM, 0);
    char data[1000] = {0};
    (void)state;
    assert_int_equal(netprof_meter_stop(&m, NULL), NETPROF_ERR_ARG);
    memset(&to, 0, sizeof to);
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(in, (struct sockaddr *)&to, size), 0);
    assert_int_equal(getsockname(in, (struct sockaddr *)&to, &size), 0);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(netprof_meter_start(&m, NETPROF_SET_FAST, NULL), NETPROF_OK);
        for (int i = 0; i < 20; i++)
            assert_int_equal(sendto(out, data, sizeof data, 0, (struct sockaddr *)&to, size), (int)sizeof data);
        assert_int_equal(netprof_meter_stop(&m, NULL), NETPROF_OK);
        netprof_change c = netprof_change_of(&m.delta, "lo", "tx_bytes");
        if (c.counter == NETPROF_NONE) break; // a network namespace without a loopback that is read
        assert_true(c.value >= 20 * 1028);    // others may use it, too
        assert_true(c.per_s > 0);
        assert_int_equal(netprof_totals(&m.delta, "lo").tx_bytes, c.value);
    }
    netprof_meter_free(&m);
    assert_null(m.np);
    close(in);
    close(out);
}

struct load {
    size_t sizes[64], calls[64], count;
    int fail_at, rounds;
};

static int move(void *user, size_t size)
{
    struct load *l = user;
    if (!l->count || l->sizes[l->count - 1] != size) l->sizes[l->count++] = size;
    l->calls[l->count - 1]++;
    return l->fail_at && l->sizes[l->count - 1] == (size_t)l->fail_at ? EPIPE : 0;
}

// Each size for three rounds, whatever this process wants.
static int three_rounds(void *user, int more)
{
    struct load *l = user;
    (void)more;
    return ++l->rounds % 3 != 0;
}

static void benchmark_over_sizes(void **state)
{
    struct load l = {.count = 0};
    netprof_bench b = {
        .run = move, .user = &l, .from = 8, .to = 100, .messages = 4, .warmup = 3, .agree = three_rounds};
    netprof_bench_row rows[8];
    size_t count = 8;
    (void)state;
    assert_int_equal(netprof_bench_run(&b, rows, &count, NULL), NETPROF_OK);
    assert_int_equal(count, 4); // 8, 16, 32, 64
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(rows[i].size, 8u << i);
        assert_int_equal(l.sizes[i], 8u << i);
        assert_int_equal(rows[i].calls, 128); // 32, as many again, 64 more
        assert_int_equal(l.calls[i], 128 + 3);
        assert_true(rows[i].least_ns <= rows[i].lower_ns && rows[i].lower_ns <= rows[i].median_ns);
        assert_true(rows[i].median_ns <= rows[i].upper_ns && rows[i].upper_ns <= rows[i].most_ns);
        assert_true(rows[i].median_ns > 0);
        assert_true(fabs(rows[i].bytes_per_s * rows[i].median_ns / 4e9 - (double)rows[i].size) < 1e-6);
    }
}

// A NIC whose counters move with each call: as much out as the size, two bytes in.
struct made_nic {
    const char *tree;
    uint64_t calls, sent;
};

static void set_nic(const struct made_nic *nic)
{
    tree_write(nic->tree, "sys/class/cxi/cxi0/device/telemetry/hni_sts_tx_ok_octets", "%llu@1700000000.%09llu\n",
               (unsigned long long)(5000 + nic->sent), (unsigned long long)nic->calls);
    tree_write(nic->tree, "sys/class/cxi/cxi0/device/telemetry/hni_sts_rx_ok_octets", "%llu@1700000000.%09llu\n",
               (unsigned long long)(7000 + 2 * nic->calls), (unsigned long long)nic->calls);
}

static int send_over_nic(void *user, size_t size)
{
    struct made_nic *nic = user;
    nic->calls++;
    nic->sent += size;
    set_nic(nic);
    return 0;
}

static int one_round(void *user, int more)
{
    (void)user, (void)more;
    return 0;
}

// Of each size what the NIC moved in the calls that were timed; nothing of the warm-up and of the sizes before. A NIC that
// is not asked for, and a node without any, are no error.
static void benchmark_counts_what_moves(void **state)
{
    char *tree = tree_make();
    struct made_nic nic = {tree, 0, 0};
    netprof_bench b = {
        .run = send_over_nic, .user = &nic, .from = 16, .to = 64, .warmup = 5, .agree = one_round, .devices = "cxi0"};
    netprof_bench_row rows[3];
    size_t count = 3;
    (void)state;
    set_nic(&nic);
    setenv("NETPROF_ROOT", tree, 1);
    assert_int_equal(netprof_bench_run(&b, rows, &count, NULL), NETPROF_OK);
    assert_int_equal(count, 3);
    assert_int_equal(nic.calls, 3 * (5 + 32));
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(rows[i].calls, 32);
        assert_int_equal(rows[i].nic.devices, 1);
        assert_int_equal(rows[i].nic.tx_bytes, 32 * (16 << i));
        assert_int_equal(rows[i].nic.rx_bytes, 32 * 2);
    }
    b.devices = "cxi1";
    assert_int_equal(netprof_bench_run(&b, rows, &count, NULL), NETPROF_OK);
    assert_int_equal(count, 3);
    assert_int_equal(rows[2].nic.devices, 0);
    assert_int_equal(rows[2].nic.tx_bytes, 0);
    setenv("NETPROF_ROOT", tree_path(tree, "nothing"), 1);
    b.devices = NULL;
    b.run = move;
    b.user = &(struct load){.count = 0};
    assert_int_equal(netprof_bench_run(&b, rows, &count, NULL), NETPROF_OK);
    assert_int_equal(count, 3);
    assert_int_equal(rows[0].calls, 32);
    assert_int_equal(rows[0].nic.devices, 0);
    unsetenv("NETPROF_ROOT");
    tree_remove(tree);
}

static void benchmark_fails_in_words(void **state)
{
    struct load l = {.fail_at = 16};
    netprof_bench b = {.run = move, .user = &l, .from = 8, .to = 64, .agree = three_rounds};
    netprof_bench_row rows[2];
    netprof_error error;
    size_t count = 2;
    (void)state;
    assert_int_equal(netprof_bench_run(&b, rows, &count, &error), NETPROF_ERR_IO);
    assert_int_equal(error.sys_errno, EPIPE);
    assert_int_equal(count, 1); // what was measured is kept
    assert_int_equal(rows[0].size, 8);
    l.fail_at = 0;
    count = 2;
    assert_int_equal(netprof_bench_run(&b, rows, &count, &error), NETPROF_ERR_LIMIT);
    assert_int_equal(count, 2);
    b.end_zero = 1;
    assert_int_equal(netprof_bench_run(&b, rows, &count, &error), NETPROF_ERR_ARG);
    assert_int_equal(netprof_bench_run(NULL, rows, &count, &error), NETPROF_ERR_ARG);
}

// Numbers have three digits: 3 x 2^20 bytes in 1.5 ms are 2.10 GB/s. What no NIC counted is not known.
static void table_of_a_benchmark(void **state)
{
    netprof_bench_row rows[3];
    char text[2048];
    int ends[2];
    (void)state;
    memset(rows, 0, sizeof rows);
    rows[0].size = 8;
    rows[0].calls = 4096;
    rows[0].steady = 1;
    rows[0].lower_ns = 999;
    rows[0].median_ns = 1500;
    rows[0].upper_ns = 12340;
    rows[0].bytes_per_s = 5.333e6;
    rows[1] = rows[0];
    rows[1].size = 3145728;
    rows[1].calls = 50;
    rows[1].steady = 0;
    rows[1].median_ns = 1.5e6;
    rows[1].bytes_per_s = 3145728 / 1.5e-3;
    rows[1].nic.devices = 2;
    rows[1].nic.tx_bytes = 50 * 4000000ULL;
    rows[1].nic.rx_bytes = 50 * 72ULL;
    rows[2] = rows[1];
    rows[2].calls = 0; // what there is none of has no share
    assert_int_equal(pipe(ends), 0);
    netprof_print_bench(ends[1], rows, 3);
    close(ends[1]);
    ssize_t got = read(ends[0], text, sizeof text - 1);
    close(ends[0]);
    assert_true(got > 0);
    text[got] = 0;
    static const char *const lines[] = {
        "size calls median 25 % 75 % bandwidth NIC sent received ",
        "bytes a call a call ",
        "8 4096 1.50 us 999 ns 12.3 us 5.33 MB/s ? ? ",
        "3145728 50 ~ 1.50 ms 999 ns 12.3 us 2.10 GB/s 4.00 MB 72 B ",
        "3145728 0 ~ 1.50 ms 999 ns 12.3 us 2.10 GB/s ? ? ",
        "~ the time was over before the median was known well enough ",
    };
    char *rest = text;
    size_t width = 0;
    for (size_t i = 0; i < COUNT(lines); i++) {
        char words[256] = "", *line = strsep(&rest, "\n"), *word;
        assert_non_null(line);
        if (!i) width = strlen(line);
        if (i + 1 < COUNT(lines)) assert_int_equal(strlen(line), width); // in columns
        while ((word = strsep(&line, " ")) != NULL)
            if (*word) snprintf(words + strlen(words), sizeof words - strlen(words), "%s ", word);
        assert_string_equal(words, lines[i]);
    }
    assert_string_equal(rest, "");
}

// The rule of the sign test, by hand: of 100 durations the median lies between the 39th and the 61st from below.
static void median_is_known_well_enough(void **state)
{
    double sorted[100];
    (void)state;
    for (int i = 0; i < 100; i++)
        sorted[i] = 1000 + i; // ranks 50 -+ 11: 1061 - 1039 = 22 of 2 x 1049.5
    assert_near(netprof__middle(sorted, 100), 1049.5, 1e-9);
    assert_int_equal(netprof__median_is_steady(sorted, 100, 0.0105), 1);
    assert_int_equal(netprof__median_is_steady(sorted, 100, 0.0104), 0);
    assert_int_equal(netprof__median_is_steady(sorted, 19, 1), 0);
    assert_near(netprof__middle(sorted, 3), 1001, 1e-9);
    assert_int_equal(netprof__root(99), 9);
    assert_int_equal(netprof__root(100), 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(totals_add_each_port_once),   cmocka_unit_test(totals_of_chosen_devices),
        cmocka_unit_test(totals_say_what_is_missing),  cmocka_unit_test(change_of_one_counter),
        cmocka_unit_test(change_of_a_gauge),           cmocka_unit_test(table_of_a_delta),
        cmocka_unit_test(table_without_traffic),       cmocka_unit_test(table_of_regions),
        cmocka_unit_test(meter_measures_the_loopback), cmocka_unit_test(benchmark_over_sizes),
        cmocka_unit_test(benchmark_counts_what_moves), cmocka_unit_test(benchmark_fails_in_words),
        cmocka_unit_test(table_of_a_benchmark),        cmocka_unit_test(median_is_known_well_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
