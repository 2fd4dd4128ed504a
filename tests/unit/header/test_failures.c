// Every allocation and every system call made to fail in turn, for every entry point: the result is right or a clean
// error, nothing leaks, and the same call succeeds afterwards.
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* -- allocations -- */

static void *swept_resize(void *pointer, size_t size);
static void swept_free(void *pointer);

#define NETPROF_MALLOC(size)           swept_resize(NULL, size)
#define NETPROF_REALLOC(pointer, size) swept_resize(pointer, size)
#define NETPROF_FREE(pointer)          swept_free(pointer)

/* -- system calls: each passes through failing() -- */

static int failing(void);
static long shortened(long wanted);

#define NETPROF_OS_OPENAT(fd, path, flags) (failing() ? -1 : openat((fd), (path), (flags) | O_CLOEXEC))
#define NETPROF_OS_CREATE(path, flags)     (failing() ? -1 : open((path), (flags) | O_CREAT | O_WRONLY | O_CLOEXEC, 0666))
#define NETPROF_OS_READ(fd, data, size)    (failing() ? -1 : read((fd), (data), (size_t)shortened((long)(size))))
#define NETPROF_OS_PREAD(fd, data, size, offset)                                                                       \
    (failing() ? -1 : pread((fd), (data), (size_t)shortened((long)(size)), (offset)))
#define NETPROF_OS_WRITE(fd, data, size)          (failing() ? -1 : write((fd), (data), (size_t)shortened((long)(size))))
#define NETPROF_OS_CLOSE(fd)                      (close(fd) || failing() ? -1 : 0)
#define NETPROF_OS_FSYNC(fd)                      (failing() ? -1 : 0)
#define NETPROF_OS_RENAME(from, to)               (failing() ? -1 : rename((from), (to)))
#define NETPROF_OS_GETDENTS(fd, data, size)       (failing() ? -1 : syscall(SYS_getdents64, (fd), (data), (size)))
#define NETPROF_OS_SOCKET(domain, type, protocol) (failing() ? -1 : socket((domain), (type), (protocol)))
#define NETPROF_OS_SEND(fd, data, size, flags)    (failing() ? -1 : send((fd), (data), (size), (flags)))
#define NETPROF_OS_RECV(fd, data, size, flags)    (failing() ? -1 : recv((fd), (data), (size), (flags)))
#define NETPROF_OS_IOCTL(fd, request, argument)   (failing() ? -1 : ioctl((fd), (request), (argument)))
#define NETPROF_OS_GETSOCKOPT(fd, level, name, data, size)                                                             \
    (failing() ? -1 : getsockopt((fd), (level), (name), (data), (size)))

#define NETPROF_IMPLEMENTATION
#define NETPROF_STATIC
#include "netprof.h"

#include "generate.h"

#include <arpa/inet.h>
#include <netinet/in.h>

static long live;       // blocks allocated now
static long fail_at;    // the fail_at-th allocation fails; 0: none
static int fail_on;     // and all that follow
static long os_fail_at; // likewise for system calls
static int os_errno, os_short;
static long calls; // since the last reset()

static void *swept_resize(void *pointer, size_t size)
{
    if (fail_at && (--fail_at == 0)) {
        if (fail_on) fail_at = 1;
        return NULL;
    }
    void *p = realloc(pointer, size);
    if (p && !pointer) live++;
    return p;
}

static void swept_free(void *pointer)
{
    if (pointer) live--;
    free(pointer);
}

static int failing(void)
{
    calls++;
    if (!os_fail_at || --os_fail_at) return 0;
    errno = os_errno;
    return 1;
}

static long shortened(long wanted)
{
    return os_short && wanted > 1 ? 1 : wanted;
}

static void calm(void)
{
    fail_at = os_fail_at = 0;
    fail_on = os_short = 0;
}

/* -- a node in a tree -- */

static char *tree;

static void write_device(const char *name, uint64_t value)
{
    static const char *const counters[] = {"hni_sts_tx_ok_octets", "hni_sts_rx_ok_octets", "oxe_sts_x",
                                           "atu_cache_evictions"};
    char path[256];
    for (size_t i = 0; i < COUNT(counters); i++) {
        snprintf(path, sizeof path, "sys/class/cxi/%s/device/telemetry/%s", name, counters[i]);
        tree_write(tree, path, "%llu@1700000000.%09d\n", (unsigned long long)value + i, (int)i);
    }
    snprintf(path, sizeof path, "sys/class/cxi/%s/device/properties/nid", name);
    tree_write(tree, path, "0x1\n");
    snprintf(path, sizeof path, "sys/class/cxi/%s/device/link_restarts/time_0", name);
    tree_write(tree, path, "1690000000\n");
    snprintf(path, sizeof path, "run/cxi/%s/nacks", name);
    tree_write(tree, path, "7\n");
    snprintf(path, sizeof path, "sys/class/cxi/%s/device/net/hsn0/address", name);
    tree_write(tree, path, "02:00:00:00:00:01\n");
}

static void remove_device(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/sys/class/cxi/%s", tree, name);
    tree_remove(strdup(path));
    snprintf(path, sizeof path, "%s/run/cxi/%s", tree, name);
    tree_remove(strdup(path));
}

static void make_node(void)
{
    tree = tree_make();
    write_device("cxi0", 1000);
    write_device("cxi1", 2000);
    tree_write(tree, "proc/sys/kernel/hostname", "node\n");
    tree_write(tree, "proc/sys/kernel/random/boot_id", "11111111-2222\n");
    tree_write(tree, "proc/1/net/snmp", "Tcp: ActiveOpens RetransSegs\nTcp: 5 6\nUdp: InErrors\nUdp: 9\n");
    tree_write(tree, "proc/1/net/softnet_stat", "00000001 00000002 00000003\n");
    tree_write(tree, "proc/1/net/dev",
               "Inter-|   Receive  |  Transmit\n face |bytes    packets errs drop fifo frame compressed "
               "multicast|bytes    packets errs drop fifo colls carrier compressed\n  eth0: 10 1 0 0 0 0 0 0 20 2 0 0 "
               "0 0 0 0\n");
    tree_write(tree, "sys/class/net/eth0/ifindex", "2\n");
    tree_write(tree, "sys/class/net/eth0/statistics/rx_bytes", "10\n");
    tree_write(tree, "sys/class/net/eth0/statistics/tx_bytes", "20\n");
    tree_write(tree, "sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "40\n");
    tree_write(tree, "sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
    tree_write(tree, "sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence", "3\n");
}

static netprof_config config_of_node(void)
{
    return (netprof_config){.root = tree, .sources = "cxi,netdev,rdma,ip", .max_fds = 5};
}

// Taken with nothing failing: every other snapshot must look like it.
static netprof_snapshot reference, reference_fast;

static void same_values(const netprof_snapshot *s, const netprof_snapshot *expected)
{
    for (size_t i = 0; i < s->schema->counter_count; i++) {
        const netprof_counter *c = &s->schema->counters[i];
        const netprof_device *d = &s->schema->devices[c->device];
        size_t k = netprof_find(expected->schema, d->source, d->name, c->name);
        if (k == NETPROF_NONE) continue;
        if (s->status[i] != NETPROF_STATUS_OK && s->status[i] != NETPROF_STATUS_SATURATED)
            assert_int_equal(s->values[i], 0);
        else if (s->values[i] != expected->values[k] || s->stamps_ns[i] != expected->stamps_ns[k])
            fail_msg("%s/%s is %llu, not %llu", d->name, c->name, (unsigned long long)s->values[i],
                     (unsigned long long)expected->values[k]);
    }
}

static void same_as_reference(const netprof_snapshot *s)
{
    assert_same(schema_difference(s->schema, reference.schema));
    assert_memory_equal(s->status, reference.status, s->schema->counter_count);
    assert_memory_equal(s->errnos, reference.errnos, s->schema->counter_count);
    assert_memory_equal(s->values, reference.values, s->schema->counter_count * 8);
    assert_memory_equal(s->stamps_ns, reference.stamps_ns, s->schema->counter_count * 8);
}

/* -- sweeps -- */

// Runs step() with the Nth allocation failing, for N = 1 .. until none fails; once alone, once with all that follow.
static void sweep_allocations(netprof_err (*step)(void))
{
    for (int on = 0; on < 2; on++) {
        long n = 1;
        for (;; n++) {
            long live_before = live;
            size_t fds = count_fds();
            fail_at = n;
            fail_on = on;
            netprof_err failed = step();
            int reached = on ? fail_at == 1 : fail_at == 0;
            calm();
            if (live != live_before) fail_msg("allocation %ld failed: %ld blocks leaked", n, live - live_before);
            if (count_fds() != fds) fail_msg("allocation %ld failed: a descriptor leaked", n);
            if (!reached) {
                assert_int_equal(failed, NETPROF_OK);
                break;
            }
            if (failed && failed != NETPROF_ERR_NOMEM)
                fail_msg("allocation %ld failed: %s", n, netprof_strerror(failed));
            assert_int_equal(step(), NETPROF_OK); // and now it works
            assert_true(n < 5000);
        }
        assert_true(n > 1);
    }
}

// The same with system calls; step() says what it found in order.
static void sweep_calls(netprof_err (*step)(void), int may_fail)
{
    static const int errnos[] = {EIO, EINTR, EMFILE, ENODEV, EACCES, EINVAL};
    for (size_t e = 0; e < (may_fail ? COUNT(errnos) : 4); e++) {
        for (long n = 1;; n++) {
            long live_before = live;
            size_t fds = count_fds();
            os_fail_at = n;
            os_errno = errnos[e];
            netprof_err failed = step();
            int reached = os_fail_at == 0;
            calm();
            if (live != live_before)
                fail_msg("call %ld, errno %d: %ld blocks leaked", n, errnos[e], live - live_before);
            if (count_fds() != fds) fail_msg("call %ld, errno %d: a descriptor leaked", n, errnos[e]);
            if (!reached) {
                assert_int_equal(failed, NETPROF_OK);
                break;
            }
            if (failed && (errnos[e] == EINTR || !may_fail))
                fail_msg("call %ld, errno %d: %s", n, errnos[e], netprof_strerror(failed));
            assert_true(n < 20000);
        }
    }
}

static netprof_err open_take_close(void)
{
    netprof_config config = config_of_node();
    netprof_snapshot s = NETPROF_ZERO;
    netprof *np = NULL;
    netprof_error error;
    netprof_err failed = netprof_open(&np, &config, &error);
    if (failed) assert_int_equal(error.code, failed);
    if (failed) assert_null(np);
    if (!failed) failed = netprof_take(np, &s, NETPROF_SET_ALL, &error);
    if (!failed && s.schema) same_as_reference(&s); // no fact or counter fell under the table
    if (!failed) failed = netprof_take(np, &s, NETPROF_SET_FAST, &error);
    if (!failed) assert_memory_equal(s.values, reference_fast.values, s.schema->counter_count * 8);
    netprof_close(np);
    netprof_snapshot_free(&s);
    return failed;
}

static void open_and_take_without_memory(void **state)
{
    (void)state;
    sweep_allocations(open_take_close);
}

/* A device comes, another goes, and then memory fails in the midst of looking; later it does not. */
static netprof_err hotplug_step(void)
{
    netprof_config config = config_of_node();
    netprof_snapshot s = NETPROF_ZERO;
    netprof *np = NULL;
    long kept = fail_at;
    int kept_on = fail_on;
    netprof_err failed;
    calm();
    config.sources = "cxi";
    write_device("cxi5", 5000);
    assert_int_equal(netprof_open(&np, &config, NULL), NETPROF_OK);
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    size_t more = s.schema->counter_count;
    remove_device("cxi5");
    write_device("cxi2", 3000);
    write_device("cxi3", 4000);
    fail_at = kept;
    fail_on = kept_on;
    failed = netprof_take(np, &s, NETPROF_SET_ALL, NULL);
    kept = fail_at;
    kept_on = fail_on;
    calm();
    netprof_snapshot after = NETPROF_ZERO;
    assert_int_equal(netprof_take(np, &after, NETPROF_SET_ALL, NULL), NETPROF_OK);
    assert_int_equal(netprof_find(after.schema, "cxi", "cxi5", "atu_cache_evictions"), NETPROF_NONE);
    size_t i = netprof_find(after.schema, "cxi", "cxi3", "hni_sts_tx_ok_octets");
    assert_true(i != NETPROF_NONE);
    assert_int_equal(after.values[i], 4000);
    assert_true(after.schema->counter_count > more);
    same_values(&after, &reference);
    netprof_snapshot_free(&after);
    netprof_close(np);
    netprof_snapshot_free(&s);
    remove_device("cxi2");
    remove_device("cxi3");
    fail_at = kept;
    fail_on = kept_on;
    return failed;
}

static void hotplug_without_memory(void **state)
{
    (void)state;
    sweep_allocations(hotplug_step);
}

/* -- adding -- */

static netprof_err own_discover(void *user, netprof_list *list)
{
    netprof_counter c = {.name = "ticks", .unit = "ticks"};
    (void)user;
    netprof_list_device(list, "own0", 1, 0);
    netprof_list_fact(list, "key", "value");
    netprof_list_counter(list, &c);
    c.name = "tocks";
    netprof_list_counter(list, &c);
    return NETPROF_OK;
}

static void own_read(void *user, size_t device, netprof_sweep *sweep)
{
    (void)user;
    assert_int_equal(device, 0);
    assert_int_equal(sweep->count, 2);
    for (size_t i = 0; i < 2; i++) {
        sweep->values[i] = 70 + i;
        sweep->status[i] = NETPROF_STATUS_OK;
    }
}

static int own_closed;

static void own_close(void *user)
{
    (void)user;
    own_closed++;
}

static int own_counter(void *user, uint64_t *value)
{
    *value = *(uint64_t *)user;
    return 0;
}

static int connected_socket(int *listener)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    *listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(*listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(*listener, 1), 0);
    assert_int_equal(getsockname(*listener, (struct sockaddr *)&address, &size), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, size), 0);
    return fd;
}

static int tcp_fd;

static netprof_err add_step(void)
{
    netprof_config config = config_of_node();
    netprof_source own = {.name = "own", .discover = own_discover, .read = own_read, .close = own_close};
    uint64_t value = 33;
    netprof_user_counter counter = {.name = "mine", .unit = "things", .read = own_counter, .user = &value};
    netprof_snapshot s = NETPROF_ZERO;
    netprof *np = NULL;
    long kept = fail_at;
    int kept_on = fail_on, added = 0;
    calm();
    assert_int_equal(netprof_open(&np, &config, NULL), NETPROF_OK);
    fail_at = kept;
    fail_on = kept_on;
    own_closed = 0;
    netprof_err failed = netprof_add_source(np, &own, NULL, NULL);
    added = !failed;
    netprof_err counter_failed = netprof_add_counter(np, &counter, NULL);
    netprof_err socket_failed = netprof_add_socket(np, tcp_fd, "s", NULL);
    kept = fail_at;
    kept_on = fail_on;
    calm(); // whatever failed: what is there can be read
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    same_values(&s, &reference);
    size_t i = netprof_find(s.schema, "own", "own0", "tocks"), k = netprof_find(s.schema, "user", "program", "mine");
    assert_int_equal(i != NETPROF_NONE, added);
    if (added) assert_int_equal(s.values[i], 71);
    assert_int_equal(k != NETPROF_NONE, !counter_failed);
    if (!counter_failed) assert_int_equal(s.values[k], 33);
    if (socket_failed)
        for (size_t d = 0; d < s.schema->device_count; d++)
            assert_true(strcmp(s.schema->devices[d].source, "tcp") != 0);
    // and added again where it failed
    if (failed) assert_int_equal(netprof_add_source(np, &own, NULL, NULL), NETPROF_OK);
    if (counter_failed) assert_int_equal(netprof_add_counter(np, &counter, NULL), NETPROF_OK);
    if (socket_failed) assert_int_equal(netprof_add_socket(np, tcp_fd, "s", NULL), NETPROF_OK);
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    assert_true(netprof_find(s.schema, "user", "program", "mine") != NETPROF_NONE);
    assert_true(netprof_find(s.schema, "own", "own0", "ticks") != NETPROF_NONE);
    netprof_close(np);
    assert_int_equal(own_closed, 1);
    netprof_snapshot_free(&s);
    fail_at = kept;
    fail_on = kept_on;
    return failed ? failed : counter_failed ? counter_failed : socket_failed;
}

static void add_without_memory(void **state)
{
    (void)state;
    int listener;
    tcp_fd = connected_socket(&listener);
    sweep_allocations(add_step);
    close(tcp_fd);
    close(listener);
}

/* -- deltas, copies, schemas by hand -- */

static netprof_snapshot made[3];

static netprof_err diff_step(void)
{
    netprof_delta d = NETPROF_ZERO;
    netprof_snapshot copy = NETPROF_ZERO;
    netprof_err failed = netprof_diff(&made[0], &made[1], NULL, &d, NULL);
    if (!failed) assert_int_equal(d.schema->counter_count, made[0].schema->counter_count);
    if (!failed) failed = netprof_diff(&made[0], &made[2], NULL, &d, NULL);
    if (!failed) failed = netprof_snapshot_copy(&copy, &made[0], NULL);
    if (!failed) assert_same(snapshot_difference(&copy, &made[0], 0, NULL));
    if (!failed) failed = netprof_snapshot_copy(&copy, &made[2], NULL);
    if (!failed) assert_same(snapshot_difference(&copy, &made[2], 0, NULL));
    netprof_delta_free(&d);
    netprof_snapshot_free(&copy);
    return failed;
}

static netprof_err build_step(void)
{
    const netprof_schema *schema = NULL;
    netprof_snapshot s = NETPROF_ZERO;
    netprof_error error;
    char name[32];
    netprof_list *list = netprof_build_begin(&error);
    if (!list) {
        assert_int_equal(error.code, NETPROF_ERR_NOMEM);
        return NETPROF_ERR_NOMEM;
    }
    netprof_build_fact(list, "host", "h");
    netprof_build_source(list, "s");
    for (int i = 0; i < 3; i++) {
        netprof_list_device(list, i == 2 ? "d1" : "d0", 5, 0);
        netprof_list_fact(list, "fact", "of a device");
        for (int k = 0; k < 700; k++) { // the table of names and the arena grow
            snprintf(name, sizeof name, "counter%d", k % 690);
            netprof_list_counter(list, &(netprof_counter){.name = name, .unit = "u"});
        }
    }
    netprof_list_state(list, NETPROF_STATUS_OK, 0, "/path");
    netprof_err failed = netprof_build_end(list, &schema, &error);
    if (failed) {
        assert_null(schema);
        return failed;
    }
    assert_int_equal(schema->counter_count, 2100);
    assert_string_equal(schema->counters[699].name, "counter9#2");
    assert_string_equal(schema->devices[2].facts[0].value, "of a device");
    failed = netprof_snapshot_make(&s, schema, &error);
    netprof_snapshot_free(&s);
    netprof_schema_release(schema);
    return failed;
}

static void diff_and_copy_without_memory(void **state)
{
    (void)state;
    sweep_allocations(diff_step);
}

static void build_without_memory(void **state)
{
    (void)state;
    sweep_allocations(build_step);
}

/* -- files -- */

static const char *file_path;

static netprof_err write_file_to(const char *path)
{
    netprof_writer *writer = NULL;
    netprof_error error = {.code = NETPROF_OK};
    netprof_delta d = NETPROF_ZERO;
    long kept = fail_at, kept_os = os_fail_at;
    fail_at = os_fail_at = 0;
    assert_int_equal(netprof_diff(&made[0], &made[2], NULL, &d, NULL), NETPROF_OK);
    fail_at = kept;
    os_fail_at = kept_os;
    netprof_err failed = netprof_writer_open(&writer, path, 0, &error);
    if (failed) assert_null(writer);
    if (!failed) failed = netprof_write_fact(writer, "key", "value", &error);
    for (size_t i = 0; i < 6 && !failed; i++)
        failed = netprof_write_snapshot(writer, &made[i % 3], &error);
    if (!failed) failed = netprof_write_delta(writer, &d, &error);
    netprof_err closed = netprof_writer_close(writer, !failed, &error);
    if (!failed) failed = closed;
    if (failed) assert_int_equal(error.code, failed);
    netprof_delta_free(&d);
    return failed;
}

// The old file or the new one stands under its name, whole, and nothing else.
static netprof_err write_step(void)
{
    const char *path = file_path;
    char directory[512];
    struct stat before, after;
    int was = stat(path, &before);
    netprof_err failed = write_file_to(path);
    int is = stat(path, &after);
    snprintf(directory, sizeof directory, "%.*s", (int)(strrchr(path, '/') - path), path);
    if (failed) {
        assert_int_equal(was, is);
        if (!was) assert_int_equal(before.st_ino, after.st_ino);
    } else {
        assert_int_equal(is, 0);
    }
    assert_int_equal(count_entries(directory), is == 0);
    return failed;
}

static netprof_err read_step(void)
{
    netprof_reader *reader = NULL;
    netprof_item item;
    netprof_error error;
    size_t snapshots = 0;
    netprof_err failed = netprof_reader_open(&reader, file_path, NULL, &error);
    if (failed) {
        assert_int_equal(error.code, failed);
        return failed;
    }
    netprof_err first = NETPROF_OK;
    for (int tries = 0;;) {
        failed = netprof_reader_next(reader, &item, &error);
        if (failed) { // without memory: tried again, nothing is lost
            assert_true(failed == NETPROF_ERR_NOMEM || failed == NETPROF_ERR_IO);
            assert_int_equal(error.code, failed);
            first = failed;
            if (fail_on || failed == NETPROF_ERR_IO) break;
            assert_true(++tries < 10);
            continue;
        }
        if (item.type == NETPROF_ITEM_END) break;
        assert_int_not_equal(item.type, NETPROF_ITEM_DAMAGE);
        if (item.type == NETPROF_ITEM_SNAPSHOT)
            assert_same(
                snapshot_difference(item.snapshot, &made[snapshots++ % 3], item.snapshot->stamp_error_ns, NULL));
    }
    if (!failed) {
        assert_int_equal(snapshots, 6);
        assert_int_equal(item.complete, 1);
    }
    netprof_reader_close(reader);
    return first;
}

static void files_without_memory(void **state)
{
    (void)state;
    file_path = strdup(tree_path(tree, "files/run.netprof"));
    sweep_allocations(write_step);
    sweep_allocations(read_step);
    free((void *)(uintptr_t)file_path);
}

// A file of regions with counters, in memory.
static struct sink regions_file;
static netprof_limits regions_limits;

static void write_regions_file(void)
{
    static const uint32_t counter = 1;
    static const uint64_t histogram[NETPROF_HISTOGRAM_BUCKETS] = {1, 2}, sum = 77;
    netprof_stat stats[] = {{.region = "outer", .parent = UINT32_MAX, .calls = 3},
                            {.region = "inner", .node = 1, .parent = 0, .calls = 4}};
    netprof_regions r = {.stats = stats,
                         .count = COUNT(stats),
                         .schema = made[0].schema,
                         .counters = &counter,
                         .counter_count = 1,
                         .mode = NETPROF_MODE_FAST,
                         .clock = "tsc",
                         .warning = ""};
    netprof_writer *writer = NULL;
    for (size_t i = 0; i < COUNT(stats); i++) {
        stats[i].histogram = histogram;
        stats[i].counter_sums = &sum;
    }
    assert_int_equal(netprof_writer_open_fn(&writer, sink_write, &regions_file, NULL), NETPROF_OK);
    assert_int_equal(netprof_write_regions(writer, &r, NULL), NETPROF_OK);
    assert_int_equal(netprof_writer_close(writer, 1, NULL), NETPROF_OK);
}

// Damage (damaged NULL: there must be none) is what the limits forbid, never what memory forbids.
static netprof_err read_regions(int *damaged)
{
    netprof_reader *reader = NULL;
    netprof_item item = {.type = NETPROF_ITEM_FILE};
    netprof_err first = NETPROF_OK;
    size_t regions = 0;
    netprof_err failed =
        netprof_reader_open_memory(&reader, regions_file.data, regions_file.size, &regions_limits, NULL);
    if (failed) return failed;
    for (int tries = 0; item.type != NETPROF_ITEM_END && (!failed || (!fail_on && ++tries < 10));) {
        failed = netprof_reader_next(reader, &item, NULL);
        if (failed) {
            assert_int_equal(failed, NETPROF_ERR_NOMEM);
            first = failed;
            item.type = NETPROF_ITEM_FILE;
            continue;
        }
        if (damaged) *damaged |= item.type == NETPROF_ITEM_DAMAGE;
        if (!damaged && item.type == NETPROF_ITEM_DAMAGE) fail_msg("damage: %s", item.text);
        if (item.type != NETPROF_ITEM_REGIONS) continue;
        regions++;
        assert_int_equal(item.regions->count, 2);
        assert_string_equal(item.regions->stats[1].region, "inner");
        assert_int_equal(item.regions->stats[1].counter_sums[0], 77);
    }
    if (!failed && !damaged) assert_int_equal(regions, 1);
    netprof_reader_close(reader);
    return first;
}

static netprof_err read_regions_step(void)
{
    return read_regions(NULL);
}

// With limits that just suffice: what was read in vain is not charged twice.
static void regions_without_memory(void **state)
{
    (void)state;
    uint64_t too_little = 1, enough = 1 << 20;
    write_regions_file();
    while (enough - too_little > 1) {
        int damaged = 0;
        regions_limits.max_memory = too_little + (enough - too_little) / 2;
        assert_int_equal(read_regions(&damaged), NETPROF_OK);
        *(damaged ? &too_little : &enough) = regions_limits.max_memory;
    }
    regions_limits.max_memory = enough;
    sweep_allocations(read_regions_step);
    sink_free(&regions_file);
}

static netprof_err read_step_os(void)
{
    netprof_err failed = read_step();
    assert_true(!failed || failed == NETPROF_ERR_IO);
    return failed;
}

static netprof_err write_step_os(void)
{
    netprof_err failed = write_step();
    assert_true(!failed || failed == NETPROF_ERR_IO);
    return failed;
}

static struct sink events_file;

// Many texts, unlike each other: the buffer grows while they are written, and while it is known which there are.
static netprof_err write_events_step(void)
{
    enum { ROWS = 600 };
    static char words[ROWS][16];
    static const char *texts[ROWS];
    static int64_t numbers[ROWS];
    const netprof_events_column columns[] = {{"when_ns", numbers, NULL}, {"what", NULL, texts}, {"who", NULL, texts}};
    const netprof_events events = {"made.up", columns, COUNT(columns), ROWS};
    netprof_writer *writer = NULL;
    for (int i = 0; i < ROWS; i++) {
        snprintf(words[i], sizeof words[i], "word %d", i * 7919);
        texts[i] = words[i];
        numbers[i] = (int64_t)i << 40;
    }
    sink_free(&events_file);
    memset(&events_file, 0, sizeof events_file);
    netprof_err failed = netprof_writer_open_fn(&writer, sink_write, &events_file, NULL), closed;
    if (failed) return failed;
    failed = netprof_write_events(writer, &events, NULL);
    closed = netprof_writer_close(writer, !failed, NULL);
    return failed ? failed : closed;
}

// What is said to be written can be read.
static void events_without_memory(void **state)
{
    (void)state;
    netprof_reader *reader = NULL;
    netprof_item item;
    size_t rows = 0;
    sweep_allocations(write_events_step);
    assert_int_equal(netprof_reader_open_memory(&reader, events_file.data, events_file.size, NULL, NULL), NETPROF_OK);
    while (netprof_reader_next(reader, &item, NULL) == NETPROF_OK && item.type != NETPROF_ITEM_END)
        if (item.type == NETPROF_ITEM_EVENTS)
            for (rows = 0; rows < item.events->count; rows++) {
                char word[16];
                snprintf(word, sizeof word, "word %d", (int)rows * 7919);
                assert_string_equal(item.events->columns[2].texts[rows], word);
            }
    assert_int_equal(rows, 600);
    netprof_reader_close(reader);
    sink_free(&events_file);
}

// Whichever call fails: no success is told of a file that is not there.
static void files_saved_with_failing_calls(void **state)
{
    (void)state;
    char *path = strdup(tree_path(tree, "files/saved.netprof"));
    struct stat st;
    netprof_err failed;
    long n = 0;
    do {
        netprof_error error = NETPROF_ZERO;
        assert_true(++n < 100);
        unlink(path);
        os_fail_at = n;
        os_errno = EIO;
        failed = netprof_save_file(path, made, COUNT(made), &error);
        int reached = os_fail_at == 0;
        calm();
        assert_true(!failed || failed == NETPROF_ERR_IO);
        assert_int_equal(error.code, failed);
        assert_int_equal(stat(path, &st) == 0, !failed);
        if (!reached) break;
    } while (1);
    assert_int_equal(failed, NETPROF_OK);
    assert_true(n > 4); // it is opened, written, kept on the disk and named
    unlink(path);
    free(path);
}

static void files_with_failing_calls(void **state)
{
    (void)state;
    file_path = strdup(tree_path(tree, "files/run.netprof"));
    unlink(file_path);
    sweep_calls(write_step_os, 1);
    sweep_calls(read_step_os, 1);
    os_short = 1; // one byte at a time
    assert_int_equal(write_step(), NETPROF_OK);
    os_short = 1;
    assert_int_equal(read_step(), NETPROF_OK);
    calm();
    free((void *)(uintptr_t)file_path);
}

/* -- measuring -- */

// One call fails once: what is delivered is right, and looking again gives everything.
static netprof_err measure_step(void)
{
    netprof_config config = config_of_node();
    netprof_snapshot s = NETPROF_ZERO;
    netprof *np = NULL;
    int interrupted = os_fail_at && os_errno == EINTR;
    netprof_err failed = netprof_open(&np, &config, NULL);
    assert_int_equal(failed, NETPROF_OK);
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    same_values(&s, &reference);
    if (interrupted) same_as_reference(&s); // nobody notices
    long left = os_fail_at;
    os_fail_at = 0;
    assert_int_equal(netprof_rescan(np, NULL), NETPROF_OK);
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    same_as_reference(&s);
    os_fail_at = left;
    netprof_close(np);
    netprof_snapshot_free(&s);
    return failed;
}

static void measuring_with_failing_calls(void **state)
{
    (void)state;
    sweep_calls(measure_step, 0);
}

// A call fails in a take; the same context is right again with the next one, without a rescan by hand.
static netprof_err take_step(void)
{
    netprof_config config = config_of_node();
    netprof_snapshot s = NETPROF_ZERO;
    netprof *np = NULL;
    long kept = os_fail_at;
    config.hold = NETPROF_HOLD_ALL;
    os_fail_at = 0;
    assert_int_equal(netprof_open(&np, &config, NULL), NETPROF_OK);
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    os_fail_at = kept;
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    same_values(&s, &reference);
    size_t bad = 0;
    for (size_t i = 0; i < s.schema->counter_count; i++)
        bad += s.status[i] != reference.status[i];
    if (s.schema->counter_count == reference.schema->counter_count) assert_true(bad <= 20); // one file, not the rest
    kept = os_fail_at;
    os_fail_at = 0;
    for (int again = 0; again < 2; again++)
        assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    same_as_reference(&s);
    os_fail_at = kept;
    netprof_close(np);
    netprof_snapshot_free(&s);
    return NETPROF_OK;
}

static void taking_with_failing_calls(void **state)
{
    (void)state;
    sweep_calls(take_step, 0);
}

static void short_reads(void **state)
{
    (void)state;
    os_short = 1;
    assert_int_equal(measure_step(), NETPROF_OK);
    os_short = 1;
    assert_int_equal(open_take_close(), NETPROF_OK);
    calm();
}

// The real links of this machine, by netlink and ioctl: a value that is there is one that is there without failures.
static netprof_err links_step(void)
{
    netprof_config config = {.root = "/", .sources = "netdev,ethtool"};
    netprof_snapshot s = NETPROF_ZERO;
    netprof *np = NULL;
    netprof_err failed = netprof_open(&np, &config, NULL);
    assert_true(failed == NETPROF_OK || failed == NETPROF_ERR_NOSOURCE);
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    long left = os_fail_at;
    os_fail_at = 0;
    assert_int_equal(netprof_rescan(np, NULL), NETPROF_OK);
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    size_t i = netprof_find(s.schema, "netdev", "lo", "rx_bytes");
    assert_true(i != NETPROF_NONE);
    assert_int_equal(s.status[i], NETPROF_STATUS_OK);
    os_fail_at = left;
    netprof_close(np);
    netprof_snapshot_free(&s);
    return NETPROF_OK;
}

static netprof_err links_memory_step(void)
{
    netprof_config config = {.root = "/", .sources = "netdev,ethtool"};
    netprof_snapshot s = NETPROF_ZERO;
    netprof *np = NULL;
    netprof_err failed = netprof_open(&np, &config, NULL);
    if (!failed) failed = netprof_take(np, &s, NETPROF_SET_ALL, NULL);
    if (!failed) assert_true(netprof_find(s.schema, "netdev", "lo", "rx_bytes") != NETPROF_NONE);
    netprof_close(np);
    netprof_snapshot_free(&s);
    return failed;
}

static void links_with_failing_calls(void **state)
{
    (void)state;
    sweep_calls(links_step, 0);
    sweep_allocations(links_memory_step);
}

/* -- an allocator of the configuration -- */

static long own_live;

static void *own_resize(void *user, void *pointer, size_t size)
{
    assert_ptr_equal(user, &own_live);
    void *p = realloc(pointer, size);
    if (p && !pointer) own_live++;
    return p;
}

static void own_release(void *user, void *pointer)
{
    assert_ptr_equal(user, &own_live);
    assert_non_null(pointer);
    own_live--;
    free(pointer);
}

// A snapshot that was used with one context and then another: each block goes back to where it came from.
static void allocators_are_kept_apart(void **state)
{
    (void)state;
    netprof_alloc own = {own_resize, own_release, &own_live};
    netprof_config config = config_of_node(), other = config_of_node();
    netprof_snapshot s = NETPROF_ZERO, first = NETPROF_ZERO;
    netprof_delta d = NETPROF_ZERO;
    netprof *a, *b;
    long before = live;
    config.alloc = &own;
    assert_int_equal(netprof_open(&a, &config, NULL), NETPROF_OK);
    assert_int_equal(live, before); // nothing past it
    assert_true(own_live > 0);
    assert_int_equal(netprof_open(&b, &other, NULL), NETPROF_OK);
    assert_int_equal(netprof_take(a, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    assert_int_equal(netprof_snapshot_copy(&first, &s, NULL), NETPROF_OK);
    netprof_close(a);
    assert_int_equal(netprof_take(b, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    assert_int_equal(netprof_diff(&first, &s, NULL, &d, NULL), NETPROF_OK);
    netprof_snapshot_free(&first);
    assert_int_equal(own_live, 0);
    netprof_close(b);
    netprof_snapshot_free(&s);
    netprof_delta_free(&d);
    assert_int_equal(live, before);
}

static int set_up(void **state)
{
    (void)state;
    static const struct row changed[] = {{"cxi", "cxi0", "new", 0, 56, 1, 0, 1}, {"cxi", "cxi9", "x", 0, 56, 1, 0, 1}};
    netprof_config config;
    netprof *np;
    uint64_t seed = 5;
    make_node();
    config = config_of_node();
    assert_int_equal(netprof_open(&np, &config, NULL), NETPROF_OK);
    assert_int_equal(netprof_take(np, &reference, NETPROF_SET_ALL, NULL), NETPROF_OK);
    assert_int_equal(netprof_take(np, &reference_fast, NETPROF_SET_FAST, NULL), NETPROF_OK);
    netprof_close(np);
    // what the test relies on: every source has something, and it is what the files say
    static const struct {
        const char *source, *device, *counter;
        uint64_t value;
    } known[] = {{"cxi", "cxi1", "hni_sts_rx_ok_octets", 2001},
                 {"cxi", "cxi0", "rh:nacks", 7},
                 {"netdev", "eth0", "rx_bytes", 10},
                 {"rdma", "mlx5_0/1", "port_rcv_data", 160},
                 {"rdma", "mlx5_0/1", "out_of_sequence", 3}};
    for (size_t i = 0; i < COUNT(known); i++) {
        size_t k = netprof_find(reference.schema, known[i].source, known[i].device, known[i].counter);
        if (k == NETPROF_NONE || reference.values[k] != known[i].value)
            fail_msg("%s is not %llu", known[i].counter, (unsigned long long)known[i].value);
    }
    for (size_t i = 0; i < 2; i++)
        generate_snapshot(&seed, reference.schema, i ? &made[0] : NULL, 0, &made[i]);
    made[0].set = made[1].set = NETPROF_SET_ALL;
    made[2] = snapshot_of(schema_of_rows(changed, 2, "node", NULL));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++)
        netprof_snapshot_free(&made[i]);
    netprof_snapshot_free(&reference);
    netprof_snapshot_free(&reference_fast);
    tree_remove(tree);
    return live != 0;
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_and_take_without_memory),
        cmocka_unit_test(hotplug_without_memory),
        cmocka_unit_test(add_without_memory),
        cmocka_unit_test(diff_and_copy_without_memory),
        cmocka_unit_test(build_without_memory),
        cmocka_unit_test(files_without_memory),
        cmocka_unit_test(regions_without_memory),
        cmocka_unit_test(events_without_memory),
        cmocka_unit_test(files_saved_with_failing_calls),
        cmocka_unit_test(files_with_failing_calls),
        cmocka_unit_test(measuring_with_failing_calls),
        cmocka_unit_test(taking_with_failing_calls),
        cmocka_unit_test(short_reads),
        cmocka_unit_test(links_with_failing_calls),
        cmocka_unit_test(allocators_are_kept_apart),
    };
    if (count > 1) cmocka_set_test_filter(arguments[1]);
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
