/* The source rdma against replies of NETLINK_RDMA made up here, beside a class directory of the test's own: counters
   that sysfs lacks come from there, the others from their files. */
#include "fake_netlink.h"

#include <fcntl.h>

static int fake_socket(int domain, int protocol);
static ssize_t fake_send(const void *data, size_t size);
static ssize_t fake_recv(void *data, size_t size, int flags);
static int fake_close(int fd);
static int fake_openat(int dirfd, const char *path, int flags);

#define NETPROF_OS_SOCKET(domain, type, protocol) ((void)(type), fake_socket(domain, protocol))
#define NETPROF_OS_SEND(fd, data, size, flags)    ((void)(fd), fake_send(data, size))
#define NETPROF_OS_RECV(fd, data, size, flags)    ((void)(fd), fake_recv(data, size, flags))
#define NETPROF_OS_CLOSE(fd)                      fake_close(fd)
#define NETPROF_OS_OPENAT(dirfd, path, flags)     fake_openat(dirfd, path, (flags) | O_CLOEXEC)

static long blocks, blocks_until_failure; /* 0: never */
static void *counted_realloc(void *pointer, size_t size)
{
    void *result;
    if (blocks_until_failure && --blocks_until_failure == 0) return NULL;
    result = realloc(pointer, size);
    blocks += !pointer && result;
    return result;
}
static void counted_free(void *pointer)
{
    blocks -= pointer != NULL;
    free(pointer);
}
#define NETPROF_MALLOC(size)           counted_realloc(NULL, size)
#define NETPROF_REALLOC(pointer, size) counted_realloc(pointer, size)
#define NETPROF_FREE(pointer)          counted_free(pointer)

#define NETPROF_STATIC
#define NETPROF_IMPLEMENTATION
#include "../../netprof.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "tree.h"

#define PORT(n) "sys/class/infiniband/mlx5_0/ports/" n "/"

enum { GET = 5 << 10 | 1, STAT_GET = 5 << 10 | 17 };

typedef struct entry {
    const char *name;
    uint64_t value;
} entry;

static struct {
    entry entries[2][8]; /* of ports 1 and 2 of mlx5_0; hfi1_0 refuses */
    int error;           /* errno of every question for counters */
    int no_protocol, sockets, open, asked, dumps;
    uint16_t type;
    uint32_t sequence, adapter, port;
} node;

static int fake_socket(int domain, int protocol)
{
    assert_int_equal(domain, AF_NETLINK);
    assert_int_equal(protocol, 20); /* NETLINK_RDMA */
    node.sockets++;
    if (node.no_protocol) {
        errno = EPROTONOSUPPORT;
        return -1;
    }
    return FAKE_FD + node.open++;
}

static int fake_close(int fd)
{
    if (fd < FAKE_FD) return close(fd);
    node.open--;
    return 0;
}

/* What is below /sys/class is the tree's. */
static int fake_openat(int dirfd, const char *path, int flags)
{
    char redirected[2048];
    snprintf(redirected, sizeof redirected, "%s%s", strncmp(path, "/sys/class/", 11) == 0 ? tree_root : "", path);
    return openat(dirfd, redirected, flags);
}

/* The request, as the kernel reads it: attributes right behind the header. */
static ssize_t fake_send(const void *data, size_t size)
{
    const unsigned char *bytes = data;
    uint32_t length;
    uint16_t flags;
    size_t at = 16;
    memcpy(&length, bytes, 4);
    memcpy(&node.type, bytes + 4, 2);
    memcpy(&flags, bytes + 6, 2);
    memcpy(&node.sequence, bytes + 8, 4);
    assert_int_equal(length, size);
    node.adapter = node.port = UINT32_MAX;
    if (node.type == GET) {
        assert_int_equal(flags, 0x301); /* NLM_F_REQUEST, NLM_F_DUMP */
        assert_int_equal(size, 16);
        node.dumps++;
        return (ssize_t)size;
    }
    assert_int_equal(node.type, STAT_GET);
    assert_int_equal(flags, 1);
    node.asked++;
    while (at + 8 <= size) {
        uint16_t head[2];
        memcpy(head, bytes + at, 4);
        assert_int_equal(head[0], 8);
        if (head[1] == 1) memcpy(&node.adapter, bytes + at + 4, 4);
        if (head[1] == 3) memcpy(&node.port, bytes + at + 4, 4);
        at += 8;
    }
    assert_int_equal(at, size);
    return (ssize_t)size;
}

static void put_adapter(fake_message *m, uint32_t number, const char *name)
{
    begin_message(m, GET, 2, node.sequence, NULL, 0);
    put_u32(m, 1, number);
    put_text(m, 2, name);
    put_u32(m, 3, 2); /* how many ports */
    end_message(m);
}

static void put_counters(fake_message *m, const entry *entries)
{
    size_t i, list, one;
    begin_message(m, STAT_GET, 0, node.sequence, NULL, 0);
    put_u32(m, 1, node.adapter);
    put_text(m, 2, "mlx5_0");
    put_u32(m, 3, node.port);
    list = begin_nest(m, 0x8000 | 80);
    for (i = 0; i < 8 && entries[i].name; i++) {
        one = begin_nest(m, 0x8000 | 81);
        put_text(m, 82, entries[i].name);
        put_attr(m, 83, &entries[i].value, 8);
        end_nest(m, one);
    }
    end_nest(m, list);
    end_message(m);
}

static ssize_t fake_recv(void *data, size_t size, int flags)
{
    static fake_message m;
    (void)flags;
    m.size = 0;
    if (node.type == GET) {
        put_adapter(&m, 7, "hfi1_0");
        put_adapter(&m, 3, "mlx5_0");
        put_done(&m, 2, node.sequence);
    } else if (node.error || node.adapter != 3 || node.port < 1 || node.port > 2) {
        put_error(&m, node.sequence, node.error ? node.error : EINVAL);
    } else {
        put_counters(&m, node.entries[node.port - 1]);
    }
    assert_true(m.size <= size);
    memcpy(data, m.data, m.size);
    return (ssize_t)m.size;
}

/* Port 1 has counters in both; port 2 none in sysfs; the other adapter is not in the kernel's answers. */
static void make_node(void)
{
    memset(&node, 0, sizeof node);
    tree_write(PORT("1") "state", "4: ACTIVE\n");
    tree_write(PORT("1") "counters/port_rcv_packets", "40\n");
    tree_write(PORT("1") "counters/rx_packets", "41\n");
    tree_write(PORT("1") "hw_counters/out_of_buffer", "5\n");
    tree_write(PORT("1") "hw_counters/lifespan", "10\n");
    tree_write(PORT("2") "state", "1: DOWN\n");
    tree_write("sys/class/infiniband/hfi1_0/ports/1/state", "4: ACTIVE\n");
    node.entries[0][0] = (entry){"out_of_buffer", 6};
    node.entries[0][1] = (entry){"cc_rx_ce_pkts", UINT64_C(1) << 40};
    node.entries[0][2] = (entry){"rx_packets", 1000};
    node.entries[1][0] = (entry){"out_of_sequence", 77};
    node.entries[1][1] = (entry){"active_qps", 3};
}

static netprof *open_node_with(const char *exclude)
{
    netprof_config config = {.sources = "rdma", .exclude = exclude};
    netprof *np = NULL;
    assert_int_equal(netprof_open(&np, &config, NULL), NETPROF_OK);
    return np;
}

static size_t counters_of(const netprof_snapshot *s, const char *device)
{
    const netprof_device *d = tree_device(s->schema, device);
    assert_non_null(d);
    return d->count;
}

static void counters_that_sysfs_lacks(void **state)
{
    netprof *np;
    netprof_snapshot s;
    const netprof_counter *c;
    (void)state;
    make_node();
    np = open_node_with(NULL);
    assert_int_equal(node.dumps, 1);
    assert_int_equal(node.asked, 3); /* the third is refused: hfi1_0/1 */
    s = tree_take(np, NETPROF_SET_ALL);
    assert_int_equal(tree_value(&s, "mlx5_0/1", "out_of_buffer"), 5); /* the file's, once */
    assert_int_equal(tree_value(&s, "mlx5_0/1", "cc_rx_ce_pkts"), UINT64_C(1) << 40);
    assert_int_equal(tree_value(&s, "mlx5_0/1", "rx_packets"), 41);
    assert_int_equal(tree_value(&s, "mlx5_0/1", "hw_counters/rx_packets"), 1000);
    assert_int_equal(counters_of(&s, "mlx5_0/1"), 6);
    assert_int_equal(tree_value(&s, "mlx5_0/2", "out_of_sequence"), 77);
    assert_int_equal(tree_value(&s, "mlx5_0/2", "active_qps"), 3);
    assert_int_equal(counters_of(&s, "mlx5_0/2"), 3);
    assert_int_equal(counters_of(&s, "hfi1_0/1"), 1);
    c = tree_counter(&s, "mlx5_0/1", "cc_rx_ce_pkts");
    assert_string_equal(c->unit, "packets");
    assert_int_equal(c->kind, NETPROF_KIND_COUNTER);
    assert_false(c->flags & NETPROF_SLOW_REFRESH);
    assert_int_equal(tree_counter(&s, "mlx5_0/2", "active_qps")->kind, NETPROF_KIND_GAUGE);
    assert_true(tree_counter(&s, "mlx5_0/2", "out_of_sequence")->flags & NETPROF_FAST);
    assert_int_equal(s.not_ok, 0);
    netprof_snapshot_free(&s);
    netprof_close(np);
    assert_int_equal(node.open, 0);
}

/* Only a port that has a fast counter there is asked. */
static void the_fast_set_asks_no_more_than_it_needs(void **state)
{
    netprof *np;
    netprof_snapshot s;
    (void)state;
    make_node();
    np = open_node_with(NULL);
    node.asked = 0;
    s = tree_take(np, NETPROF_SET_FAST);
    assert_int_equal(node.asked, 1);
    assert_int_equal(tree_value(&s, "mlx5_0/2", "out_of_sequence"), 77);
    assert_int_equal(tree_status(&s, "mlx5_0/2", "active_qps"), NETPROF_STATUS_SKIPPED);
    assert_int_equal(tree_status(&s, "mlx5_0/1", "cc_rx_ce_pkts"), NETPROF_STATUS_SKIPPED);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void a_filter_drops_them(void **state)
{
    netprof *np;
    netprof_snapshot s;
    (void)state;
    make_node();
    np = open_node_with("*/cc_*,mlx5_0/1/hw_counters*");
    s = tree_take(np, NETPROF_SET_ALL);
    assert_true(netprof_find(s.schema, NULL, "mlx5_0/1", "cc_rx_ce_pkts") == NETPROF_NONE);
    assert_true(netprof_find(s.schema, NULL, "mlx5_0/1", "hw_counters/rx_packets") == NETPROF_NONE);
    assert_int_equal(tree_value(&s, "mlx5_0/2", "out_of_sequence"), 77);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

/* One is switched off: absent, not zero. One is switched on: the next take has it. All fail: said with the errno. */
static void what_changes_meanwhile(void **state)
{
    netprof *np;
    netprof_snapshot s = NETPROF_ZERO;
    (void)state;
    make_node();
    np = open_node_with(NULL);
    node.entries[0][1] = node.entries[0][2];
    node.entries[0][2] = (entry){0};
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    assert_int_equal(tree_status(&s, "mlx5_0/1", "cc_rx_ce_pkts"), NETPROF_STATUS_ABSENT);
    assert_int_equal(tree_value(&s, "mlx5_0/1", "hw_counters/rx_packets"), 1000);
    node.entries[1][2] = (entry){"cc_tx_cnp_pkts", 9};
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    assert_int_equal(tree_value(&s, "mlx5_0/2", "cc_tx_cnp_pkts"), 9);
    node.error = EACCES;
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    assert_int_equal(tree_status(&s, "mlx5_0/2", "cc_tx_cnp_pkts"), NETPROF_STATUS_DENIED);
    assert_int_equal(s.errnos[tree_find(&s, "mlx5_0/2", "cc_tx_cnp_pkts")], EACCES);
    assert_int_equal(tree_value(&s, "mlx5_0/1", "out_of_buffer"), 5); /* the files are read all the same */
    netprof_snapshot_free(&s);
    netprof_close(np);
}

/* A kernel without it, one that refuses everything, and a node without adapters: the files alone, and without adapters
   no socket, which would have the kernel load its modules. */
static void without_netlink_the_files_alone(void **state)
{
    netprof *np;
    netprof_snapshot s;
    netprof_config config = {.sources = "rdma"};
    (void)state;
    for (int refused = 0; refused < 2; refused++) {
        make_node();
        node.no_protocol = !refused;
        node.error = refused ? EOPNOTSUPP : 0;
        np = open_node_with(NULL);
        s = tree_take(np, NETPROF_SET_ALL);
        assert_int_equal(counters_of(&s, "mlx5_0/1"), 4);
        assert_int_equal(tree_value(&s, "mlx5_0/1", "out_of_buffer"), 5);
        netprof_snapshot_free(&s);
        netprof_close(np);
    }
    tree_remove("sys");
    tree_write("sys/class/infiniband/x", "");
    remove(tree_path("sys/class/infiniband/x"));
    memset(&node, 0, sizeof node);
    netprof_open(&np, &config, NULL);
    assert_int_equal(node.sockets, 0);
    netprof_close(np);
}

/* Another root is another node: its netlink is not ours. */
static void another_root_has_no_netlink(void **state)
{
    netprof *np;
    netprof_snapshot s;
    (void)state;
    make_node();
    np = tree_open("rdma", NETPROF_HOLD_FAST);
    s = tree_take(np, NETPROF_SET_ALL);
    assert_int_equal(node.sockets, 0);
    assert_int_equal(counters_of(&s, "mlx5_0/1"), 4);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void every_allocation_fails_in_turn(void **state)
{
    (void)state;
    make_node();
    for (long n = 1;; n++) {
        netprof_config config = {.sources = "rdma"};
        netprof *np = NULL;
        netprof_snapshot s = NETPROF_ZERO;
        blocks_until_failure = n;
        netprof_err failed = netprof_open(&np, &config, NULL);
        if (!failed) failed = netprof_take(np, &s, NETPROF_SET_ALL, NULL);
        int reached = blocks_until_failure == 0;
        blocks_until_failure = 0;
        if (!failed)
            assert_int_equal(tree_value(&s, "mlx5_0/1", "cc_rx_ce_pkts"), UINT64_C(1) << 40);
        else
            assert_int_equal(failed, NETPROF_ERR_NOMEM);
        netprof_snapshot_free(&s);
        netprof_close(np);
        if (blocks) fail_msg("allocation %ld: %ld blocks leaked", n, blocks);
        assert_int_equal(node.open, 0);
        if (!reached) break;
        assert_true(n < 3000);
    }
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, tree_setup, tree_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(counters_that_sysfs_lacks),
        TEST(the_fast_set_asks_no_more_than_it_needs),
        TEST(a_filter_drops_them),
        TEST(what_changes_meanwhile),
        TEST(without_netlink_the_files_alone),
        TEST(another_root_has_no_netlink),
        TEST(every_allocation_fails_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
