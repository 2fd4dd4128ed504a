/* A context with every source on one tree: what a schema says of the node, times, descriptors and memory of its sweeps,
   and what each call says when it is refused. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>

static unsigned opened_snmp;

static int noting_open(int dir, const char *path, int flags)
{
    size_t n = strlen(path);
    opened_snmp += n > 9 && strcmp(path + n - 9, "/net/snmp") == 0;
    return openat(dir, path, flags | O_CLOEXEC);
}
#define NETPROF_OS_OPENAT(dir, path, flags) noting_open(dir, path, flags)
#define NETPROF_IMPLEMENTATION
#include "netprof.h"
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <cmocka.h>
#include "tree.h"

#define SOURCES "cxi,netdev,ethtool,rdma,ip"

static int make_node(void **state)
{
    if (tree_setup(state) != 0) return -1;
    tree_write("proc/sys/kernel/hostname", "n7\n");
    tree_write("proc/sys/kernel/random/boot_id", "b-1\n");
    tree_write("proc/net/snmp", "Tcp: InSegs OutSegs\nTcp: 11 12\nUdp: InDatagrams\nUdp: 13\n"); /* in the fast set */
    tree_write("proc/net/sockstat", "TCP: inuse 35 orphan 1\n");                                 /* is not */
    tree_write("sys/class/cxi/cxi0/device/telemetry/hni_sts_tx_ok_octets", "21@1700000000.500000000\n");
    tree_write("sys/class/cxi/cxi0/device/net/hsn0/address", "02:00:00:00:00:01\n");
    tree_write("sys/class/cxi/cxi1/device/properties/rsvd", "22\n");
    tree_write("sys/class/cxi/cxi1/device/link_restarts/time_0", "23\n");
    tree_write("sys/class/net/eth0/ifindex", "2\n");
    tree_write("sys/class/net/eth0/statistics/rx_bytes", "31\n");
    tree_write("sys/class/net/eth1/ifindex", "3\n");
    tree_write("sys/class/net/eth1/statistics/rx_bytes", "32\n");
    tree_write("sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data", "41\n");
    tree_write("sys/class/infiniband/mlx5_0/ports/2/hw_counters/out_of_sequence", "42\n");
    return 0;
}

/* -- what is told of the node -- */

static const char *node_fact(const netprof *np, const char *key)
{
    const netprof_schema *schema = netprof_get_schema(np);
    return netprof_fact_of(schema->facts, schema->fact_count, key);
}

/* A saved tree tells of the node that it was saved on, and not of this one. */
static void a_tree_tells_of_its_own_node(void **state)
{
    netprof *np = tree_open("rdma", NETPROF_HOLD_NONE);
    (void)state;
    assert_string_equal(node_fact(np, "netprof"), NETPROF_VERSION_STRING);
    assert_string_equal(node_fact(np, "root"), tree_root);
    assert_string_equal(node_fact(np, "host"), "n7");
    assert_string_equal(node_fact(np, "boot_id"), "b-1");
    assert_null(node_fact(np, "kernel"));
    assert_null(node_fact(np, "machine"));
    assert_null(node_fact(np, "netns"));
    assert_null(node_fact(np, "pid"));
    netprof_close(np);
    tree_write("proc/sys/kernel/hostname", "\n");
    tree_remove("proc/sys/kernel/random/boot_id");
    np = tree_open("rdma", NETPROF_HOLD_NONE);
    assert_null(node_fact(np, "host"));
    assert_null(node_fact(np, "boot_id"));
    netprof_close(np);
}

static void the_running_node_tells_its_names(void **state)
{
    struct utsname name;
    netprof_config config = NETPROF_ZERO;
    netprof_error error;
    netprof *np = NULL;
    char netns[64] = "";
    (void)state;
    assert_int_equal(uname(&name), 0);
    config.root = "/";
    config.sources = "none";
    assert_int_equal(netprof_open(&np, &config, &error), NETPROF_ERR_NOSOURCE);
    assert_null(node_fact(np, "root"));
    assert_string_equal(node_fact(np, "host"), name.nodename);
    assert_string_equal(node_fact(np, "kernel"), name.release);
    assert_string_equal(node_fact(np, "machine"), name.machine);
    assert_null(node_fact(np, "pid"));
    if (readlink("/proc/self/ns/net", netns, sizeof netns - 1) > 0) assert_string_equal(node_fact(np, "netns"), netns);
    netprof_close(np);
    config.pid = (int)getpid();
    assert_int_equal(netprof_open(&np, &config, &error), NETPROF_ERR_NOSOURCE);
    assert_int_equal(strtol(node_fact(np, "pid"), NULL, 10), getpid());
    assert_null(node_fact(np, "netns")); /* of this process; the other's is its own */
    netprof_close(np);
}

/* A card is told apart by the inode of its telemetry, which is made anew with it; without any by nothing. */
static void cards_are_told_by_their_telemetry(void **state)
{
    netprof *np = tree_open("cxi", NETPROF_HOLD_NONE);
    struct stat st;
    (void)state;
    assert_int_equal(stat(tree_path("sys/class/cxi/cxi0/device/telemetry"), &st), 0);
    assert_true(tree_device(netprof_get_schema(np), "cxi0")->identity == (uint64_t)st.st_ino);
    assert_true(tree_device(netprof_get_schema(np), "cxi1")->identity == 0);
    assert_string_equal(tree_fact(netprof_get_schema(np), "cxi0", "netdev"), "hsn0");
    assert_string_equal(tree_fact(netprof_get_schema(np), "cxi0", "mac"), "02:00:00:00:00:01");
    assert_string_equal(tree_fact(netprof_get_schema(np), "cxi1", "netdev"), "");
    netprof_close(np);
}

static void check_class(const netprof_snapshot *s, const char *name, const char *unit, netprof_kind kind, int width,
                        uint64_t value)
{
    const netprof_counter *c = tree_counter(s, "cxi1", name);
    assert_string_equal(c->unit, unit);
    assert_int_equal(c->kind, kind);
    assert_int_equal(c->width, width);
    assert_int_equal(tree_value(s, "cxi1", name), value);
}

/* A card's files beside its telemetry; what is none of its counters is left out. */
static void a_card_has_more_than_telemetry(void **state)
{
    netprof *np;
    netprof_snapshot s;
    (void)state;
    tree_write("sys/class/cxi/cxi1/device/properties/link", "1\n");
    tree_write("sys/class/cxi/cxi1/device/properties/pcie_corr_err", "4\n");
    tree_write("sys/class/cxi/cxi1/device/properties/pcie_uncorr_err", "5\n");
    tree_write("sys/class/cxi/cxi1/device/properties/link2", "6\n");
    tree_write("sys/class/cxi/cxi1/device/link_restarts/config", "7\n");
    tree_write("run/cxi/cxi1/nacks", "-1\n"); /* 32 bits */
    tree_write("run/cxi/cxi1/spt_in_use", "8\n");
    np = tree_open("cxi", NETPROF_HOLD_NONE);
    s = tree_take(np, NETPROF_SET_ALL);
    assert_int_equal(tree_device(s.schema, "cxi1")->count, 6);
    check_class(&s, "properties/link", "1 = up", NETPROF_KIND_STATE, 0, 1);
    check_class(&s, "properties/pcie_corr_err", "errors", NETPROF_KIND_COUNTER, 0, 4);
    check_class(&s, "properties/pcie_uncorr_err", "errors", NETPROF_KIND_COUNTER, 0, 5);
    check_class(&s, "link_restarts/time_0", "seconds since 1970", NETPROF_KIND_STATE, 0, 23);
    check_class(&s, "rh:nacks", "events", NETPROF_KIND_COUNTER, 32, UINT32_MAX);
    check_class(&s, "rh:spt_in_use", "entries", NETPROF_KIND_GAUGE, 32, 8);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

/* Telemetry that is not there is said of the card and of the source; where all is there, nothing is. */
static void missing_telemetry_is_said(void **state)
{
    netprof *np = tree_open("cxi", NETPROF_HOLD_NONE);
    const netprof_schema *schema = netprof_get_schema(np);
    (void)state;
    assert_string_equal(tree_fact(schema, "cxi0", "telemetry_error"), "");
    assert_string_equal(tree_fact(schema, "cxi1", "telemetry_error"), strerror(ENOENT));
    assert_int_equal(schema->sources[0].sys_errno, ENOENT);
    assert_int_equal(schema->sources[0].status, netprof_status_of_errno(ENOENT));
    assert_string_equal(schema->sources[0].path, tree_path("sys/class/cxi/cxi1/device/telemetry"));
    netprof_close(np);
    tree_remove("sys/class/cxi/cxi1");
    np = tree_open("cxi", NETPROF_HOLD_NONE);
    schema = netprof_get_schema(np);
    assert_string_equal(tree_fact(schema, "cxi0", "telemetry_error"), "");
    assert_int_equal(schema->sources[0].sys_errno, 0);
    assert_int_equal(schema->sources[0].status, NETPROF_STATUS_OK);
    assert_string_equal(schema->sources[0].path, "");
    netprof_close(np);
}

/* -- a sweep -- */

static void check_values(const netprof_snapshot *s)
{
    size_t i;
    for (i = 0; i < s->schema->counter_count; i++)
        if (s->status[i] != NETPROF_STATUS_OK) fail_msg("%s: status %d", s->schema->counters[i].name, s->status[i]);
    assert_int_equal(s->not_ok, 0);
    assert_int_equal(tree_value(s, "Tcp", "InSegs"), 11);
    assert_int_equal(tree_value(s, "Udp", "InDatagrams"), 13);
    assert_int_equal(tree_value(s, "sockstat", "TCP_orphan"), 1);
    assert_int_equal(tree_value(s, "cxi0", "hni_sts_tx_ok_octets"), 21);
    assert_int_equal(tree_value(s, "cxi1", "link_restarts/time_0"), 23);
    assert_int_equal(tree_value(s, "eth0", "rx_bytes"), 31);
    assert_int_equal(tree_value(s, "eth1", "rx_bytes"), 32);
    assert_int_equal(tree_value(s, "mlx5_0/1", "port_xmit_data"), 4 * 41); /* counted in words */
    assert_int_equal(tree_value(s, "mlx5_0/2", "out_of_sequence"), 42);
}

/* Every device is read within the sweep, and one after the other where one thread reads them. */
static void each_device_has_its_times(void **state)
{
    netprof *np = tree_open(SOURCES, NETPROF_HOLD_NONE);
    netprof_snapshot s = tree_take(np, NETPROF_SET_ALL);
    int64_t before = s.begin_ns;
    size_t i;
    (void)state;
    check_values(&s);
    assert_true(s.begin_ns > 0 && s.wall_ns > 0);
    assert_true(s.schema->device_count >= 9);
    for (i = 0; i < s.schema->device_count; i++) {
        int alike = i && s.device_begin_ns[i] == s.device_begin_ns[i - 1]; /* a source that is read as a whole */
        assert_true(s.device_begin_ns[i] >= before || alike);
        assert_true(s.device_end_ns[i] >= s.device_begin_ns[i]);
        assert_true(s.device_end_ns[i] <= s.end_ns);
        before = s.device_end_ns[i];
    }
    netprof_snapshot_free(&s);
    netprof_close(np);
}

/* A snapshot that held the fast set is as new when it is made again. */
static void made_again_it_is_empty(void **state)
{
    netprof *np = tree_open(SOURCES, NETPROF_HOLD_NONE);
    netprof_snapshot s = tree_take(np, NETPROF_SET_FAST);
    size_t i;
    (void)state;
    assert_int_equal(tree_status(&s, "sockstat", "TCP_orphan"), NETPROF_STATUS_SKIPPED);
    assert_int_equal(tree_value(&s, "Tcp", "OutSegs"), 12);
    assert_int_equal(s.set, NETPROF_SET_FAST);
    s.stamp_error_ns = 5;
    s.not_ok = 3;
    assert_int_equal(netprof_snapshot_make(&s, netprof_get_schema(np), NULL), NETPROF_OK);
    assert_int_equal(s.set, NETPROF_SET_ALL);
    assert_true(!s.begin_ns && !s.end_ns && !s.wall_ns && !s.stamp_error_ns && !s.not_ok);
    for (i = 0; i < s.schema->counter_count; i++)
        assert_true(!s.values[i] && !s.stamps_ns[i] && !s.errnos[i] && s.status[i] == NETPROF_STATUS_SKIPPED);
    for (i = 0; i < s.schema->device_count; i++)
        assert_true(!s.device_begin_ns[i] && !s.device_end_ns[i]);
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    check_values(&s);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

/* A file of several devices is read once for all, and held open or not as it was asked for. */
static void files_of_several_devices_are_read_once(void **state)
{
    static const netprof_hold holds[] = {NETPROF_HOLD_NONE, NETPROF_HOLD_FAST, NETPROF_HOLD_ALL};
    size_t k;
    (void)state;
    for (k = 0; k < 3; k++) {
        netprof *np = tree_open("ip", holds[k]);
        netprof_snapshot s = tree_take(np, NETPROF_SET_ALL);
        unsigned before = opened_snmp;
        assert_true(np->parts[0].device_count == 3); /* Tcp, Udp and sockstat */
        assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
        assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
        assert_int_equal(opened_snmp - before, holds[k] == NETPROF_HOLD_NONE ? 2 : 0);
        netprof_snapshot_free(&s);
        netprof_close(np);
    }
}

static int open_files(void)
{
    int n = 0, fd;
    for (fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* So many descriptors of the source ip as files are held: of snmp the fast ones, of sockstat all; at most max_fds. */
static void held_descriptors_are_counted(void **state)
{
    static const struct {
        netprof_hold hold;
        int max, held;
    } rows[] = {{NETPROF_HOLD_NONE, 4096, 0},
                {NETPROF_HOLD_FAST, 4096, 1},
                {NETPROF_HOLD_ALL, 4096, 2},
                {NETPROF_HOLD_ALL, 1, 1}};
    size_t k;
    (void)state;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        netprof_config config = NETPROF_ZERO;
        netprof_snapshot s = NETPROF_ZERO;
        netprof *np = NULL;
        int before = open_files();
        config.root = tree_root;
        config.sources = "ip";
        config.hold = rows[k].hold;
        config.max_fds = rows[k].max;
        assert_int_equal(netprof_open(&np, &config, NULL), NETPROF_OK);
        assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
        assert_int_equal(open_files() - before, rows[k].held);
        assert_int_equal(netprof_rescan(np, NULL), NETPROF_OK); /* what is held again is not held twice */
        assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
        assert_int_equal(open_files() - before, rows[k].held);
        netprof_snapshot_free(&s);
        netprof_close(np);
        assert_int_equal(open_files(), before);
    }
}

/* Files of one value each: with all held there are as many descriptors more as there are values. */
static void values_are_held_each(void **state)
{
    static const char *const sources[] = {"netdev", "rdma", "cxi"};
    size_t k;
    (void)state;
    for (k = 0; k < 3; k++) {
        int before = open_files(), loose, held;
        netprof *np = tree_open(sources[k], NETPROF_HOLD_NONE);
        netprof_snapshot s = tree_take(np, NETPROF_SET_ALL);
        loose = open_files();
        netprof_close(np);
        netprof_snapshot_free(&s);
        np = tree_open(sources[k], NETPROF_HOLD_ALL);
        s = tree_take(np, NETPROF_SET_ALL); /* opens them */
        held = open_files();
        netprof_snapshot_free(&s);
        assert_int_equal(held - loose, netprof_get_schema(np)->counter_count);
        netprof_close(np);
        assert_int_equal(open_files(), before);
    }
}

#define DEV_HEADER "Inter-|   Receive  |  Transmit\n face |bytes packets|bytes packets\n"

/* Of each counter of a link of /proc/net/dev. */
static void check_link(netprof *np, const char *link, netprof_status status, int code)
{
    static const char *const names[] = {"rx_bytes", "rx_packets", "tx_bytes", "tx_packets"};
    netprof_snapshot s = tree_take(np, NETPROF_SET_ALL);
    size_t k, i;
    assert_int_equal(tree_device(s.schema, link)->count, 4);
    for (k = 0; k < 4; k++) {
        i = tree_find(&s, link, names[k]);
        assert_string_equal(s.schema->counters[i].unit, names[k] + 3);
        assert_int_equal(s.schema->counters[i].width, 64);
        assert_int_equal(s.schema->counters[i].kind, NETPROF_KIND_COUNTER);
        assert_int_equal(s.status[i], status);
        assert_int_equal(s.errnos[i], code);
        if (status != NETPROF_STATUS_OK) assert_true(s.values[i] == 0);
    }
    assert_int_equal(tree_value(&s, "eth0", "rx_bytes"), 31); /* has a file of its own */
    netprof_snapshot_free(&s);
}

/* Links that only /proc/net/dev knows, while the context does not look for other ones: what is wrong is told of each. */
static void what_is_wrong_with_a_table_is_told(void **state)
{
    netprof_config config = NETPROF_ZERO;
    netprof_snapshot s;
    netprof *np = NULL;
    (void)state;
    tree_write("proc/net/dev", DEV_HEADER "  eth0: 91 92 93 94\n    va: 1 2 3 4\n    vb: 5 6 7 8\n");
    config.root = tree_root;
    config.sources = "netdev";
    config.no_rescan = 1;
    assert_int_equal(netprof_open(&np, &config, NULL), NETPROF_OK);
    assert_int_equal(netprof_get_schema(np)->device_count, 4); /* each once */
    check_link(np, "va", NETPROF_STATUS_OK, 0);
    s = tree_take(np, NETPROF_SET_ALL);
    assert_int_equal(tree_value(&s, "va", "rx_packets"), 2);
    assert_int_equal(tree_value(&s, "vb", "rx_bytes"), 5);
    assert_int_equal(tree_value(&s, "vb", "tx_packets"), 8);
    netprof_snapshot_free(&s);
    tree_write("proc/net/dev", DEV_HEADER "    vb: 5 6 7\n"); /* one went, one lacks its last column */
    check_link(np, "va", NETPROF_STATUS_VANISHED, 0);
    s = tree_take(np, NETPROF_SET_ALL);
    assert_int_equal(tree_value(&s, "vb", "tx_bytes"), 7);
    assert_int_equal(tree_status(&s, "vb", "tx_packets"), NETPROF_STATUS_ABSENT);
    netprof_snapshot_free(&s);
    tree_write("proc/net/dev", "other columns\n    va: 1 2 3 4\n");
    check_link(np, "va", netprof_status_of_errno(EBADMSG), EBADMSG);
    check_link(np, "vb", netprof_status_of_errno(EBADMSG), EBADMSG);
    tree_remove("proc/net/dev");
    check_link(np, "va", netprof_status_of_errno(ENOENT), ENOENT);
    tree_write("proc/net/dev/file", "");
    check_link(np, "vb", netprof_status_of_errno(EISDIR), EISDIR);
    netprof_close(np);
}

/* Names and values belong together only where their lines follow each other. */
static void a_line_between_parts_names_and_values(void **state)
{
    netprof *np;
    netprof_snapshot s;
    (void)state;
    tree_write("proc/net/snmp", "Tcp: InSegs OutSegs\nrubbish\nTcp: 1 2\nTcp: 3 4\nUdp: NoPorts\nUdp: 5\n");
    np = tree_open("ip", NETPROF_HOLD_NONE);
    s = tree_take(np, NETPROF_SET_ALL);
    assert_int_equal(netprof_find(s.schema, NULL, "Tcp", "InSegs"), NETPROF_NONE);
    assert_int_equal(tree_value(&s, "Udp", "NoPorts"), 5);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

/* -- memory -- */

static int no_value(void *user, uint64_t *value)
{
    (void)user;
    *value = 0;
    return 0;
}

static void *counting_resize(void *user, void *pointer, size_t size)
{
    *(int *)user += !pointer;
    return realloc(pointer, size);
}

static void counting_release(void *user, void *pointer)
{
    *(int *)user -= pointer != NULL;
    free(pointer);
}

/* Devices come and go many times, and no more memory is held than at first; at the end none. */
static void all_memory_is_given_back(void **state)
{
    int blocks = 0, at_first = 0, i;
    netprof_user_counter own = NETPROF_ZERO;
    netprof_alloc alloc = {counting_resize, counting_release, NULL};
    netprof_config config = NETPROF_ZERO;
    netprof_snapshot s = NETPROF_ZERO;
    netprof *np = NULL;
    (void)state;
    alloc.user = &blocks;
    config.root = tree_root;
    config.sources = SOURCES;
    config.hold = NETPROF_HOLD_ALL;
    config.include = "*,never\\,so";
    config.alloc = &alloc;
    own.device = "queue";
    own.name = "waiting";
    own.unit = "tasks";
    own.read = no_value;
    assert_int_equal(netprof_open(&np, &config, NULL), NETPROF_OK);
    assert_int_equal(netprof_add_counter(np, &own, NULL), NETPROF_OK);
    for (i = 0; i < 6; i++) {
        if (i % 2)
            tree_write("sys/class/infiniband/mlx5_1/ports/1/counters/port_xmit_data", "43\n");
        else
            tree_remove("sys/class/infiniband/mlx5_1");
        assert_int_equal(netprof_rescan(np, NULL), NETPROF_OK);
        assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
        check_values(&s);
        assert_int_equal(tree_device(s.schema, "mlx5_1/1") != NULL, i % 2);
        if (i == 2) at_first = blocks;
        if (i > 2 && i % 2 == 0) assert_int_equal(blocks, at_first);
    }
    netprof_close(np);
    assert_true(blocks > 0); /* the snapshot's, and its schema's */
    netprof_snapshot_free(&s);
    assert_int_equal(blocks, 0);
}

/* -- what is refused -- */

static netprof_err no_devices(void *user, netprof_list *list)
{
    (void)user;
    (void)list;
    return NETPROF_OK;
}

/* No system call was involved, and there is no place in a file. */
static void check_refused(netprof_err returned, const netprof_error *error, netprof_err code, const char *path,
                          const char *text)
{
    assert_int_equal(returned, code);
    assert_int_equal(error->code, code);
    assert_int_equal(error->sys_errno, 0);
    assert_int_equal(error->offset, 0);
    assert_string_equal(error->source, "");
    assert_string_equal(error->path, path);
    assert_string_equal(error->text, text);
}

#define REFUSED(call, path, text)                                                                                      \
    do {                                                                                                               \
        netprof_error error;                                                                                           \
        netprof_err returned;                                                                                          \
        memset(&error, 7, sizeof error);                                                                               \
        returned = call;                                                                                               \
        check_refused(returned, &error, NETPROF_ERR_ARG, path, text);                                                  \
        (void)error;                                                                                                   \
    } while (0)

static void calls_without_their_arguments_are_refused(void **state)
{
    netprof *np = tree_open("rdma", NETPROF_HOLD_NONE), *none = np;
    netprof_snapshot s = tree_take(np, NETPROF_SET_ALL), empty = NETPROF_ZERO;
    netprof_config config = NETPROF_ZERO;
    netprof_diff_options options = NETPROF_ZERO;
    netprof_delta d = NETPROF_ZERO;
    netprof_source source;
    (void)state;
    memset(&source, 0, sizeof source);
    REFUSED(netprof_open(NULL, NULL, &error), "", "nowhere to put the context");
    config.end_zero = 1;
    REFUSED(netprof_open(&none, &config, &error), "", "the configuration was never initialised");
    assert_null(none);
    config.end_zero = 0;
    config.sources = "cxi,cxl,rdma";
    none = np;
    REFUSED(netprof_open(&none, &config, &error), "cxl", "is not a source");
    assert_null(none);
    REFUSED(netprof_take(NULL, &s, NETPROF_SET_ALL, &error), "", "no context, no snapshot or no such set");
    REFUSED(netprof_take(np, NULL, NETPROF_SET_ALL, &error), "", "no context, no snapshot or no such set");
    REFUSED(netprof_take(np, &s, (netprof_set)2, &error), "", "no context, no snapshot or no such set");
    REFUSED(netprof_rescan(NULL, &error), "", "no context");
    assert_null(netprof_get_schema(NULL));
    REFUSED(netprof_snapshot_make(NULL, s.schema, &error), "", "no snapshot or no schema");
    REFUSED(netprof_snapshot_make(&empty, NULL, &error), "", "no snapshot or no schema");
    REFUSED(netprof_snapshot_copy(NULL, &s, &error), "", "no snapshot");
    REFUSED(netprof_snapshot_copy(&s, &empty, &error), "", "no snapshot");
    REFUSED(netprof_diff(NULL, &s, NULL, &d, &error), "", "two snapshots and a delta are needed");
    REFUSED(netprof_diff(&s, NULL, NULL, &d, &error), "", "two snapshots and a delta are needed");
    REFUSED(netprof_diff(&s, &s, NULL, NULL, &error), "", "two snapshots and a delta are needed");
    REFUSED(netprof_diff(&empty, &s, NULL, &d, &error), "", "two snapshots and a delta are needed");
    REFUSED(netprof_diff(&s, &empty, NULL, &d, &error), "", "two snapshots and a delta are needed");
    options.end_zero = 1;
    REFUSED(netprof_diff(&s, &s, &options, &d, &error), "", "two snapshots and a delta are needed");
    source.name = "own";
    REFUSED(netprof_add_source(np, &source, NULL, &error), "", "a source needs a name, discover and read");
    source.discover = no_devices;
    REFUSED(netprof_add_source(np, &source, NULL, &error), "", "a source needs a name, discover and read");
    REFUSED(netprof_add_source(np, NULL, NULL, &error), "", "a source needs a name, discover and read");
    REFUSED(netprof_add_socket(NULL, 0, "a", &error), "", "no context or no name");
    REFUSED(netprof_add_socket(np, 0, NULL, &error), "", "no context or no name");
    REFUSED(netprof_add_socket(np, 0, "", &error), "", "no context or no name");
    REFUSED(netprof_remove_socket(NULL, 0, &error), "", "no context");
    REFUSED(netprof_remove_socket(np, 0, &error), "", "this socket was not added");
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK); /* none of it did harm */
    assert_int_equal(tree_value(&s, "mlx5_0/1", "port_xmit_data"), 4 * 41);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

/* Limits of a counter of the program: at them and one beyond. */
static void counters_beyond_their_limits_are_refused(void **state)
{
    static const struct {
        int kind, width, refused;
    } rows[] = {{0, 0, 0}, {0, 64, 0}, {3, 1, 0}, {0, 65, 1}, {0, -1, 1}, {4, 0, 1}, {-1, 0, 1}};
    netprof *np = tree_open("rdma", NETPROF_HOLD_NONE);
    netprof_user_counter c = NETPROF_ZERO;
    size_t k;
    (void)state;
    c.read = no_value;
    REFUSED(netprof_add_counter(np, &c, &error), "", "a counter needs a name and a read function");
    c.name = "";
    REFUSED(netprof_add_counter(np, &c, &error), "", "a counter needs a name and a read function");
    c.name = "queue";
    REFUSED(netprof_add_counter(NULL, &c, &error), "", "a counter needs a name and a read function");
    REFUSED(netprof_add_counter(np, NULL, &error), "", "a counter needs a name and a read function");
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        c.kind = (netprof_kind)rows[k].kind;
        c.width = rows[k].width;
        if (rows[k].refused)
            REFUSED(netprof_add_counter(np, &c, &error), "queue", "no such kind, or wider than 64 bits");
        else
            assert_int_equal(netprof_add_counter(np, &c, NULL), NETPROF_OK);
    }
    c.read = NULL;
    REFUSED(netprof_add_counter(np, &c, &error), "", "a counter needs a name and a read function");
    netprof_close(np);
}

/* A node without a counter is an open context all the same, and says where nothing was found. */
static void nothing_found_is_said(void **state)
{
    netprof_config config = NETPROF_ZERO;
    netprof_error error;
    netprof *np = NULL;
    netprof_err returned;
    (void)state;
    config.sources = "none";
    config.root = "//";
    returned = netprof_open(&np, &config, &error);
    check_refused(returned, &error, NETPROF_ERR_NOSOURCE, "/", "no counter found");
    assert_non_null(np);
    netprof_close(np);
    config.root = tree_root;
    returned = netprof_open(&np, &config, &error);
    check_refused(returned, &error, NETPROF_ERR_NOSOURCE, tree_root, "no counter found");
    netprof_close(np);
}

#define NODE_TEST(test) cmocka_unit_test_setup_teardown(test, make_node, tree_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        NODE_TEST(a_tree_tells_of_its_own_node),
        NODE_TEST(the_running_node_tells_its_names),
        NODE_TEST(cards_are_told_by_their_telemetry),
        NODE_TEST(a_card_has_more_than_telemetry),
        NODE_TEST(missing_telemetry_is_said),
        NODE_TEST(each_device_has_its_times),
        NODE_TEST(made_again_it_is_empty),
        NODE_TEST(files_of_several_devices_are_read_once),
        NODE_TEST(held_descriptors_are_counted),
        NODE_TEST(values_are_held_each),
        NODE_TEST(what_is_wrong_with_a_table_is_told),
        NODE_TEST(a_line_between_parts_names_and_values),
        NODE_TEST(all_memory_is_given_back),
        NODE_TEST(calls_without_their_arguments_are_refused),
        NODE_TEST(counters_beyond_their_limits_are_refused),
        NODE_TEST(nothing_found_is_said),
    };
    return cmocka_run_group_tests_name("context", tests, NULL, NULL);
}
