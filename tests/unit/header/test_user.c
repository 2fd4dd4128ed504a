/* Counters that the program adds itself. */
#define _GNU_SOURCE // nftw
#include "netprof.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include "failing.h"
#include "listing.h"
#include "tree.h"

typedef struct number {
    uint64_t value;
    int failure;
} number;

static int read_number(void *user, uint64_t *value)
{
    const number *n = (const number *)user;
    *value = n->value;
    return n->failure;
}

static netprof_err add(netprof *np, const char *device, const char *name, const char *unit, netprof_kind kind,
                       int width, number *n)
{
    netprof_user_counter c;
    memset(&c, 0, sizeof c);
    c.device = device;
    c.name = name;
    c.unit = unit;
    c.kind = kind;
    c.width = width;
    c.read = read_number;
    c.user = n;
    return netprof_add_counter(np, &c, NULL);
}

static void they_appear_like_any_others(void **state)
{
    number sent = {100, 0}, depth = {7, 0}, ticks = {250, 0};
    netprof *np = tree_open("rdma", NETPROF_HOLD_NONE);
    netprof_snapshot s, t;
    netprof_delta d = NETPROF_ZERO;
    size_t k;
    (void)state;
    assert_int_equal(add(np, "mpi", "bytes_sent", "bytes", NETPROF_KIND_COUNTER, 64, &sent), NETPROF_OK);
    assert_int_equal(add(np, NULL, "ticks", NULL, NETPROF_KIND_COUNTER, 8, &ticks), NETPROF_OK);
    assert_int_equal(add(np, "mpi", "queue", "messages", NETPROF_KIND_GAUGE, 0, &depth), NETPROF_OK);
    s = tree_take(np, NETPROF_SET_ALL);
    assert_int_equal(s.schema->device_count, 2);
    assert_string_equal(s.schema->devices[0].source, "user");
    assert_int_equal(tree_device(s.schema, "mpi")->count, 2); /* grouped, whatever the order of adding */
    assert_int_equal(tree_value(&s, "mpi", "bytes_sent"), 100);
    assert_int_equal(tree_value(&s, "mpi", "queue"), 7);
    assert_int_equal(tree_value(&s, "program", "ticks"), 250);
    assert_string_equal(tree_counter(&s, "mpi", "bytes_sent")->unit, "bytes");
    assert_string_equal(tree_counter(&s, "program", "ticks")->unit, "");
    sent.value = 350;
    depth.value = 3;
    ticks.value = 4;
    t = tree_take(np, NETPROF_SET_FAST);
    assert_int_equal(netprof_diff(&s, &t, NULL, &d, NULL), NETPROF_OK);
    k = tree_find(&t, "mpi", "bytes_sent");
    assert_int_equal(d.flags[k], NETPROF_FLAG_OK);
    assert_int_equal(d.values[k], 250);
    assert_int_equal(d.flags[tree_find(&t, "mpi", "queue")], NETPROF_FLAG_GAUGE);
    k = tree_find(&t, "program", "ticks");
    assert_int_equal(d.flags[k], NETPROF_FLAG_WRAPPED); /* 8 bits: 250 to 256, and 4 */
    assert_int_equal(d.values[k], 10);
    netprof_delta_free(&d);
    netprof_snapshot_free(&s);
    netprof_snapshot_free(&t);
    netprof_close(np);
}

static void trap_every_value_needs_a_status(void **state)
{
    static const struct {
        int failure;
        netprof_status status;
        int kept;
    } rows[] = {{EACCES, NETPROF_STATUS_DENIED, EACCES},      {ENODEV, NETPROF_STATUS_VANISHED, ENODEV},
                {ENOSYS, NETPROF_STATUS_UNSUPPORTED, ENOSYS}, {EAGAIN, NETPROF_STATUS_UNREADABLE, EAGAIN},
                {-1, NETPROF_STATUS_UNREADABLE, 255},         {0, NETPROF_STATUS_OK, 0}};
    number good = {5, 0}, bad = {9, 0};
    netprof *np = tree_open("rdma", NETPROF_HOLD_NONE);
    netprof_snapshot s = NETPROF_ZERO;
    size_t i, k;
    (void)state;
    assert_int_equal(add(np, "x", "bad", "", NETPROF_KIND_COUNTER, 0, &bad), NETPROF_OK);
    assert_int_equal(add(np, "x", "good", "", NETPROF_KIND_COUNTER, 0, &good), NETPROF_OK);
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        bad.failure = rows[i].failure;
        assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
        k = tree_find(&s, "x", "bad");
        assert_int_equal(s.status[k], rows[i].status);
        assert_int_equal(s.errnos[k], rows[i].kept);
        assert_int_equal(s.values[k], rows[i].failure ? 0 : 9);
        assert_int_equal(tree_value(&s, "x", "good"), 5);
    }
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void arguments_are_checked(void **state)
{
    number n = {1, 0};
    netprof *np = tree_open("rdma", NETPROF_HOLD_NONE);
    netprof_user_counter c;
    netprof_source source;
    netprof_error error;
    (void)state;
    memset(&source, 0, sizeof source);
    memset(&error, 0xa5, sizeof error);
    assert_int_equal(netprof_add_source(np, &source, NULL, &error), NETPROF_ERR_ARG);
    assert_int_equal(error.code, NETPROF_ERR_ARG);
    assert_int_equal(error.sys_errno, 0); /* no call of the system failed */
    assert_int_equal(error.offset, 0);
    assert_string_equal(error.path, "");
    assert_string_equal(error.text, "a source needs a name, discover and read");
    memset(&c, 0, sizeof c);
    memset(&error, 0xa5, sizeof error);
    assert_int_equal(netprof_add_counter(np, &c, &error), NETPROF_ERR_ARG);
    assert_int_equal(error.sys_errno, 0);
    assert_string_equal(error.text, "a counter needs a name and a read function");
    assert_int_equal(netprof_add_counter(np, NULL, NULL), NETPROF_ERR_ARG);
    assert_int_equal(netprof_add_counter(np, &c, NULL), NETPROF_ERR_ARG);
    assert_int_equal(add(np, "x", "", "", NETPROF_KIND_COUNTER, 0, &n), NETPROF_ERR_ARG);
    assert_int_equal(add(np, "x", "a", "", NETPROF_KIND_COUNTER, 65, &n), NETPROF_ERR_ARG);
    assert_int_equal(add(np, "x", "a", "", NETPROF_KIND_COUNTER, -1, &n), NETPROF_ERR_ARG);
    assert_int_equal(add(np, "x", "a", "", (netprof_kind)4, 0, &n), NETPROF_ERR_ARG);
    assert_int_equal(add(NULL, "x", "a", "", NETPROF_KIND_COUNTER, 0, &n), NETPROF_ERR_ARG);
    assert_int_equal(netprof_get_schema(np)->counter_count, 0);
    netprof_close(np);
}

static void same_name_twice_and_filters(void **state)
{
    number n[3] = {{1, 0}, {2, 0}, {3, 0}};
    netprof_config config = NETPROF_ZERO;
    netprof *np = tree_open("rdma", NETPROF_HOLD_NONE);
    netprof_snapshot s;
    (void)state;
    assert_int_equal(add(np, "x", "a", "", NETPROF_KIND_COUNTER, 0, &n[0]), NETPROF_OK);
    assert_int_equal(add(np, "x", "a", "", NETPROF_KIND_COUNTER, 0, &n[1]), NETPROF_OK);
    s = tree_take(np, NETPROF_SET_ALL);
    assert_int_equal(tree_value(&s, "x", "a"), 1);
    assert_int_equal(tree_value(&s, "x", "a#2"), 2);
    netprof_close(np);

    tree_write("sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data", "25\n");
    config.root = tree_root;
    config.sources = "rdma";
    config.exclude = "x/b,x/c";
    assert_int_equal(netprof_open(&np, &config, NULL), NETPROF_OK);
    assert_int_equal(add(np, "x", "b", "", NETPROF_KIND_COUNTER, 0, &n[1]), NETPROF_OK);
    assert_int_equal(add(np, "y", "b", "", NETPROF_KIND_COUNTER, 0, &n[2]), NETPROF_OK);
    assert_int_equal(add(np, "x", "a", "", NETPROF_KIND_COUNTER, 0, &n[0]), NETPROF_OK);
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    assert_int_equal(netprof_find(s.schema, "user", "x", "b"), NETPROF_NONE);
    assert_int_equal(tree_value(&s, "x", "a"), 1);
    assert_int_equal(tree_value(&s, "y", "b"), 3);
    assert_int_equal(tree_value(&s, "mlx5_0/1", "port_xmit_data"), 100); /* the other source stays in place */
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void write_node(void)
{
    tree_write("sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data", "25\n");
    tree_write("sys/class/infiniband/mlx5_0/ports/1/rate", "100 Gb/sec\n");
    tree_write("sys/class/infiniband/mlx5_0/ports/2/counters/port_xmit_data", "26\n");
    tree_write("sys/class/infiniband/mlx5_0/ports/2/counters/port_rcv_data", "none\n");
    tree_write("sys/class/infiniband/mlx5_0/fw_ver", "20.31\n");
    tree_write("sys/class/net/eth0/ifindex", "8\n");
    tree_write("sys/class/net/eth0/mtu", "1500\n");
    tree_write("sys/class/net/eth0/device/numa_node", "1\n");
    tree_write("sys/class/net/eth0/statistics/rx_bytes", "27\n");
    tree_write("sys/class/net/eth0/statistics/tx_bytes", "28\n");
    tree_write("proc/sys/kernel/hostname", "node7\n");
    tree_write("proc/sys/kernel/random/boot_id", "b-1\n");
}

/* What other sources have stays as it is, whatever is added: facts of the node, states, devices, facts, counters, values. */
static void what_is_there_stays(void **state)
{
    static const char user[] = "source user ok\n"
                               "device mpi 0\n"
                               "  sent [bytes counter 64 fast] 11\n"
                               "  queue [messages gauge 0 fast] 13\n"
                               "  last [- state 1 fast] 16\n"
                               "device program 0\n"
                               "  ticks [- counter 8 fast] 12\n"
                               "  times [- histogram 5 fast] denied 13\n"
                               "device z 0\n"
                               "  one [things counter 32 fast] 14\n"
                               "not ok: 2\n"; /* port_rcv_data is the other one */
    number n[6] = {{11, 0}, {12, 0}, {13, 0}, {14, 0}, {15, EACCES}, {16, 0}};
    netprof_config config = NETPROF_ZERO;
    netprof_snapshot s = NETPROF_ZERO;
    netprof *np;
    char *before, *after;
    size_t length;
    (void)state;
    write_node();
    config.root = tree_root;
    config.sources = "cxi,netdev,rdma";
    assert_int_equal(netprof_open(&np, &config, NULL), NETPROF_OK);
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    before = listing_of(&s, tree_root, 1);
    assert_int_equal(add(np, "mpi", "sent", "bytes", NETPROF_KIND_COUNTER, 64, &n[0]), NETPROF_OK);
    assert_int_equal(add(np, NULL, "ticks", NULL, NETPROF_KIND_COUNTER, 8, &n[1]), NETPROF_OK);
    assert_int_equal(add(np, "mpi", "queue", "messages", NETPROF_KIND_GAUGE, 0, &n[2]), NETPROF_OK);
    assert_int_equal(add(np, "z", "one", "things", NETPROF_KIND_COUNTER, 32, &n[3]), NETPROF_OK);
    assert_int_equal(add(np, "program", "times", NULL, NETPROF_KIND_HISTOGRAM, 5, &n[4]), NETPROF_OK);
    assert_int_equal(add(np, "mpi", "last", NULL, NETPROF_KIND_STATE, 1, &n[5]), NETPROF_OK);
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    after = listing_of(&s, tree_root, 1);
    length = strlen(before) - strlen("not ok: 1\n");
    assert_string_equal(before + length, "not ok: 1\n");
    assert_int_equal(strncmp(before, after, length), 0);
    assert_string_equal(after + length, user);
    assert_int_equal(s.schema->fact_count, 4);
    assert_string_equal(netprof_fact_of(s.schema->facts, 4, "netprof"), NETPROF_VERSION_STRING);
    assert_string_equal(netprof_fact_of(s.schema->facts, 4, "root"), tree_root);
    assert_string_equal(netprof_fact_of(s.schema->facts, 4, "host"), "node7");
    assert_string_equal(netprof_fact_of(s.schema->facts, 4, "boot_id"), "b-1");
    free(after);
    assert_int_equal(netprof_rescan(np, NULL), NETPROF_OK); /* and all of it found again */
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    after = listing_of(&s, tree_root, 1);
    assert_int_equal(strncmp(before, after, length), 0);
    assert_string_equal(after + length, user);
    free(before);
    free(after);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

/* Names of sources: those that are none say so, with the name. */
static void names_of_sources(void **state)
{
    static const struct {
        const char *sources, *unknown; /* unknown NULL: they are known */
        size_t count;
    } rows[] = {{"rdma", NULL, 1},      {"ip,rdma", NULL, 2},
                {"none", NULL, 0},      {"none,rdma", NULL, 1},
                {"rdma,none", NULL, 1}, {"rdma,rdma", NULL, 1},
                {"", NULL, 5},          {"rdma,x,y", "x", 0},
                {"xx,rdma", "xx", 0},   {"rdm", "rdm", 0},
                {"rdmas", "rdmas", 0},  {"nonesuch", "nonesuch", 0},
                {"rdma,,ip", "", 0},    {"a123456789012345678901234567890123", "a123456789012345678901234567890", 0}};
    (void)state;
    write_node();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        netprof_config config = NETPROF_ZERO;
        netprof_error error;
        netprof *np = NULL;
        netprof_err failed;
        memset(&error, 0xa5, sizeof error);
        config.root = tree_root;
        config.sources = rows[i].sources;
        failed = netprof_open(&np, &config, &error);
        if (rows[i].unknown) {
            assert_int_equal(failed, NETPROF_ERR_ARG);
            assert_string_equal(error.path, rows[i].unknown);
            assert_string_equal(error.text, "is not a source");
            assert_null(np);
            continue;
        }
        assert_non_null(np);
        assert_int_equal(netprof_get_schema(np)->source_count, rows[i].count);
        netprof_close(np);
    }
}

/* A failure leaves what was there before, each value under its own name. */
static void every_allocation_fails_in_turn(void **state)
{
    netprof_config config = NETPROF_ZERO;
    long n, left;
    netprof_alloc alloc = failing_alloc(&left);
    netprof_err result = NETPROF_ERR_NOMEM;
    number a = {1, 0}, b = {2, 0}, c = {3, 0};
    (void)state;
    config.root = tree_root;
    config.sources = "rdma";
    config.no_rescan = 1;
    config.alloc = &alloc;
    for (n = 0; result == NETPROF_ERR_NOMEM; n++) {
        netprof *np;
        netprof_snapshot s;
        left = 1000000;
        assert_int_equal(netprof_open(&np, &config, NULL), NETPROF_ERR_NOSOURCE);
        assert_int_equal(add(np, "x", "a", "", NETPROF_KIND_COUNTER, 0, &a), NETPROF_OK);
        assert_int_equal(add(np, "y", "b", "", NETPROF_KIND_COUNTER, 0, &b), NETPROF_OK);
        left = n;
        result = add(np, "x", "c", "", NETPROF_KIND_COUNTER, 0, &c); /* moves y/b by one */
        left = 1000000;
        s = tree_take(np, NETPROF_SET_ALL);
        assert_int_equal(tree_value(&s, "x", "a"), 1);
        assert_int_equal(tree_value(&s, "y", "b"), 2);
        assert_int_equal(s.schema->counter_count, result == NETPROF_OK ? 3 : 2);
        netprof_snapshot_free(&s);
        netprof_close(np);
    }
    assert_int_equal(result, NETPROF_OK);
    assert_true(n > 5);
}

#define TREE_TEST(test) cmocka_unit_test_setup_teardown(test, tree_setup, tree_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TREE_TEST(they_appear_like_any_others),
        TREE_TEST(arguments_are_checked),
        TREE_TEST(same_name_twice_and_filters),
        TREE_TEST(every_allocation_fails_in_turn),
        TREE_TEST(trap_every_value_needs_a_status),
        TREE_TEST(what_is_there_stays),
        TREE_TEST(names_of_sources),
    };
    return cmocka_run_group_tests_name("user", tests, NULL, NULL);
}
