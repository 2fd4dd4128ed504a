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

#include "listing.h"
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
    int odd;               /* the list of adapters has messages that are none */
    int busy, interrupted; /* how many of the next lists are so */
    int refused;           /* errno of the questions for port 2 */
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
    begin_message(m, GET, node.interrupted ? 0x12 : 2, node.sequence, NULL, 0);
    put_u32(m, 1, number);
    put_text(m, 2, name);
    put_u32(m, 3, 2); /* how many ports */
    end_message(m);
}

/* Of another command, without a name, without a number, with half of one. */
static void put_odd_adapters(fake_message *m)
{
    for (int kind = 0; kind < 4; kind++) {
        begin_message(m, kind ? GET : STAT_GET, 2, node.sequence, NULL, 0);
        if (kind != 2) put_attr(m, 1, "\x63\0\0", kind == 3 ? 2 : 4);
        if (kind != 1) put_text(m, 2, kind == 2 ? "hfi1_0" : "mlx5_0");
        end_message(m);
    }
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
    if (node.type == GET && node.busy) {
        put_error(&m, node.sequence, EBUSY);
        node.busy--;
    } else if (node.type == GET) {
        if (node.odd) put_odd_adapters(&m);
        put_adapter(&m, 7, "hfi1_0");
        put_adapter(&m, 3, "mlx5_0");
        put_done(&m, 2, node.sequence);
        node.interrupted -= node.interrupted > 0;
    } else if (node.refused && node.port == 2) {
        put_error(&m, node.sequence, node.refused);
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

/* -- whole -- */

typedef struct visited {
    char text[400];
    int stop_after;
} visited;

static int visit(void *user, const char *name, uint64_t value)
{
    visited *v = (visited *)user;
    size_t n = strlen(v->text);
    snprintf(v->text + n, sizeof v->text - n, "%s=%llu ", name, (unsigned long long)value);
    return --v->stop_after ? 0 : 77;
}

static void put_entry(fake_message *m, unsigned type, const char *name, uint64_t value, size_t value_size)
{
    size_t one = begin_nest(m, type);
    if (value_size && value % 2) put_attr(m, 83, &value, value_size); /* in either order */
    if (name) put_text(m, 82, name);
    put_u32(m, 99, 5);
    if (value_size && value % 2 == 0) put_attr(m, 83, &value, value_size);
    end_nest(m, one);
}

/* An entry counts if it has a name and eight bytes of a value, in a list of its kind; there may be several lists. */
static void entries_of_a_reply(void **state)
{
    static fake_message m;
    visited v = {"", 0};
    (void)state;
    m.size = 0;
    put_u32(&m, 1, 3);
    for (unsigned list = 79; list < 82; list++) {
        size_t nest = begin_nest(&m, list == 81 ? 80 : list);
        put_entry(&m, 81, "a", list + 2, 8);
        put_entry(&m, 80, "other_kind", 5, 8);
        put_entry(&m, 81, NULL, 6, 8);
        put_entry(&m, 81, "", 7, 8);
        put_entry(&m, 81, "no_value", 8, 0);
        put_entry(&m, 81, "half", 9, 4);
        put_entry(&m, 81, "b", list * 1000, 8);
        end_nest(&m, nest);
    }
    assert_int_equal(netprof__parse_rdma_stat(m.data, m.size, visit, &v), 0);
    assert_string_equal(v.text, "a=82 b=80000 a=83 b=81000 ");
    for (int stop = 1; stop <= 4; stop++) { /* what the visitor says ends it, within a list and between two */
        memset(&v, 0, sizeof v);
        v.stop_after = stop;
        assert_int_equal(netprof__parse_rdma_stat(m.data, m.size, visit, &v), 77);
        assert_int_equal(v.stop_after, 0);
    }
}

/* Ports in all directories and by netlink: what each lists, in which order. */
static void make_full_node(void)
{
    make_node();
    node.odd = 1;
    tree_write(PORT("1") "counters_ext/port_xmit_data_64", "42\n");
    node.entries[0][3] = (entry){"port_xmit_data_64", 1001};
    node.entries[0][4] = (entry){"lifespan", 1002};
    node.entries[0][5] = (entry){"np_cnp_sent", 1003};
    node.entries[0][6] = (entry){"state", 1004};
    node.entries[0][7] = (entry){"tx_errors", 1005};
    node.entries[1][2] = (entry){"rx_write_requests", 78};
    node.entries[1][3] = (entry){"rp_cnp_handled", 79};
}

static void a_node_whole(void **state)
{
    netprof *np;
    netprof_snapshot s = NETPROF_ZERO;
    netprof_config config = {.sources = "rdma", .no_rescan = 1};
    entry last;
    (void)state;
    make_full_node();
    assert_int_equal(netprof_open(&np, &config, NULL), NETPROF_OK);
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    listing_expect(&s, tree_root, 0, "sources/listing_rdma_netlink.txt");
    for (size_t i = 0; i < 8; i++) /* later: others, in another order, and one fewer */
        node.entries[0][i].value += 7000;
    last = node.entries[0][7];
    node.entries[0][7] = node.entries[0][2];
    node.entries[0][2] = last;
    node.entries[0][1] = node.entries[0][4];
    node.refused = EPERM;
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    listing_expect(&s, tree_root, 0, "sources/listing_rdma_netlink_later.txt");
    node.asked = 0;
    node.refused = ENODEV;
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_FAST, NULL), NETPROF_OK);
    assert_int_equal(node.asked, 2);
    listing_expect(&s, tree_root, 0, "sources/listing_rdma_netlink_fast.txt");
    netprof_snapshot_free(&s);
    netprof_close(np);
    assert_int_equal(node.open, 0);
}

/* A vanished port is looked for again at the next take; anything else that fails is not. */
static void what_makes_a_context_look_again(void **state)
{
    static const struct {
        int refused, looks;
    } rows[] = {{0, 0}, {EPERM, 0}, {EBUSY, 0}, {ENODEV, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        netprof_snapshot s = NETPROF_ZERO;
        netprof *np;
        make_full_node();
        np = open_node_with(NULL);
        node.refused = rows[i].refused;
        node.dumps = 0;
        assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
        assert_int_equal(node.dumps > 0, rows[i].looks);
        netprof_snapshot_free(&s);
        netprof_close(np);
    }
}

/* The list of adapters is asked for four times at most; one that keeps changing is used as it is. */
static void a_list_that_is_busy_or_changes(void **state)
{
    static const struct {
        int busy, interrupted, dumps;
        size_t counters; /* of port 2 */
    } rows[] = {{0, 0, 1, 5}, {3, 0, 4, 5}, {4, 0, 4, 1}, {0, 3, 4, 5}, {0, 9, 4, 5}, {1, 1, 3, 5}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        netprof *np;
        netprof_snapshot s;
        make_full_node();
        node.busy = rows[i].busy;
        node.interrupted = rows[i].interrupted;
        np = open_node_with(NULL);
        assert_int_equal(node.dumps, rows[i].dumps);
        s = tree_take(np, NETPROF_SET_ALL);
        assert_int_equal(counters_of(&s, "mlx5_0/2"), rows[i].counters);
        netprof_snapshot_free(&s);
        assert_int_equal(netprof_rescan(np, NULL), NETPROF_OK); /* from the beginning again */
        s = tree_take(np, NETPROF_SET_ALL);
        assert_int_equal(counters_of(&s, "mlx5_0/2"), 5);
        assert_int_equal(tree_value(&s, "mlx5_0/2", "rp_cnp_handled"), 79);
        netprof_snapshot_free(&s);
        netprof_close(np);
        assert_int_equal(node.open, 0);
        assert_int_equal(blocks, 0);
    }
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
        cmocka_unit_test(entries_of_a_reply),
        TEST(a_node_whole),
        TEST(what_makes_a_context_look_again),
        TEST(a_list_that_is_busy_or_changes),
        TEST(every_allocation_fails_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
