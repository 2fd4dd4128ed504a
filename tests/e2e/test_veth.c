/* Real traffic between two network namespaces over veth: what was sent is known, so every packet and byte on both
   ends is known, through netlink and through sysfs. Needs root and `ip`; skips with a line otherwise. */
#define NETPROF_STATIC
#define NETPROF_IMPLEMENTATION
#include "../../netprof.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define ETHERNET    14
#define IPV4        20
#define UDP         8
#define TCP_STAMPED 32 /* header and the option of time stamps */
#define TCP_SYN     40 /* header, MSS, SACK permitted, time stamps, window scale */

static int home = -1, space[2] = {-1, -1}; /* network namespaces */
static char roots[2][64];                  /* each has a sysfs of its namespace */
static const char *const names[2] = {"np_va", "np_vb"};
static const char *why_not;

static void enter(int fd)
{
    if (setns(fd, CLONE_NEWNET) != 0) fail_msg("setns: %s", strerror(errno));
}

/* Runs a command in the namespace of the calling thread. */
static int run(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int run(const char *format, ...)
{
    char command[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    return system(command);
}

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY);
    if (fd >= 0) {
        if (write(fd, text, strlen(text)) < 0) perror(path);
        close(fd);
    }
}

/* An own network namespace without IPv6, and a sysfs that shows it. */
static int make_space(int i)
{
    char path[160];
    if (unshare(CLONE_NEWNET) != 0) return 0;
    write_file("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1");
    write_file("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
    space[i] = open("/proc/self/ns/net", O_RDONLY);
    snprintf(roots[i], sizeof roots[i], "/tmp/netprof-veth-%d-%d", (int)getpid(), i);
    snprintf(path, sizeof path, "%s/sys", roots[i]);
    return space[i] >= 0 && mkdir(roots[i], 0700) == 0 && mkdir(path, 0700) == 0 &&
           mount("sysfs", path, "sysfs", 0, "") == 0;
}

/* One switch of ethtool's old kind: struct ethtool_value. */
static void switch_off(const char *name)
{
    static const uint32_t commands[] = {0x1f, 0x24, 0x2c}; /* STSO, SGSO, SGRO */
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    size_t i;
    for (i = 0; i < 3; i++) {
        uint32_t value[2] = {0, 0};
        value[0] = commands[i];
        netprof__ethtool(fd, name, value);
    }
    close(fd);
}

static int make_veth(void)
{
    int i, failed;
    enter(space[0]);
    failed = run("ip link add %s address 02:00:00:00:00:01 type veth peer name %s address 02:00:00:00:00:02 "
                 "netns /proc/%d/fd/%d",
                 names[0], names[1], (int)getpid(), space[1]);
    for (i = 0; i < 2; i++) {
        enter(space[i]);
        failed |= run("ip link set lo up"); /* a link that is down has no carrier to read in sysfs */
        failed |= run("ip address add 10.99.0.%d/24 dev %s", i + 1, names[i]);
        failed |= run("ip link set %s mtu 1500 up", names[i]);
        failed |=
            run("ip neighbour add 10.99.0.%d lladdr 02:00:00:00:00:0%d nud permanent dev %s", 2 - i, 2 - i, names[i]);
        switch_off(names[i]);
    }
    return !failed;
}

static int group_setup(void **state)
{
    (void)state;
    unsetenv("NETPROF_ROOT");
    unsetenv("NETPROF_INCLUDE");
    unsetenv("NETPROF_EXCLUDE");
    if (geteuid() != 0)
        why_not = "needs root";
    else if (run("ip -V >/dev/null 2>&1") != 0)
        why_not = "needs the command ip";
    else if ((home = open("/proc/self/ns/net", O_RDONLY)) < 0 || unshare(CLONE_NEWNS) != 0 ||
             mount("none", "/", "none", MS_REC | MS_PRIVATE, "") != 0 || !make_space(0) || !make_space(1))
        why_not = "network and mount namespaces are not to be had";
    else if (!make_veth())
        why_not = "veth is not to be had";
    if (why_not) printf("skipped: %s\n", why_not);
    return 0;
}

static int group_teardown(void **state)
{
    int i;
    (void)state;
    for (i = 0; i < 2; i++) {
        char path[160];
        if (!*roots[i]) continue; /* skipped: what is mounted at /sys is not ours */
        snprintf(path, sizeof path, "%s/sys", roots[i]);
        umount2(path, MNT_DETACH);
        rmdir(path);
        rmdir(roots[i]);
    }
    return 0;
}

#define NEEDS_VETH()                                                                                                   \
    do                                                                                                                 \
        if (why_not) skip();                                                                                           \
    while (0)

/* -- looking -- */

static netprof *look(int i, const char *root)
{
    netprof_config c;
    netprof *np;
    memset(&c, 0, sizeof c);
    c.sources = "netdev";
    c.root = root;
    enter(space[i]);
    if (netprof_open(&np, &c, NULL) != NETPROF_OK) fail_msg("no counters in namespace %d of %s", i, root);
    return np;
}

/* Both ends, each through netlink (0, 1) and through sysfs (2, 3). */
typedef struct view {
    netprof *np[4];
    netprof_snapshot before[4], after[4];
} view;

static void view_open(view *v)
{
    int i;
    memset(v, 0, sizeof *v);
    for (i = 0; i < 4; i++) {
        v->np[i] = look(i & 1, i < 2 ? "" : roots[i & 1]);
        assert_int_equal(netprof_take(v->np[i], &v->before[i], NETPROF_SET_ALL, NULL), NETPROF_OK);
        assert_int_equal(v->before[i].not_ok, 0);
    }
}

static void view_look_again(view *v)
{
    int i;
    for (i = 0; i < 4; i++)
        assert_int_equal(netprof_take(v->np[i], &v->after[i], NETPROF_SET_ALL, NULL), NETPROF_OK);
}

static void view_close(view *v)
{
    int i;
    for (i = 0; i < 4; i++) {
        netprof_snapshot_free(&v->before[i]);
        netprof_snapshot_free(&v->after[i]);
        netprof_close(v->np[i]);
    }
}

/* What a counter of an end grew by, seen in way 0 (netlink) or 1 (sysfs). */
static uint64_t grew(const view *v, int end, int way, const char *counter)
{
    netprof_delta d = NETPROF_ZERO;
    uint64_t value;
    size_t k;
    assert_int_equal(netprof_diff(&v->before[end + 2 * way], &v->after[end + 2 * way], NULL, &d, NULL), NETPROF_OK);
    k = netprof_find(d.schema, "netdev", names[end], counter);
    assert_int_not_equal(k, NETPROF_NONE);
    assert_int_equal(d.flags[k], NETPROF_FLAG_OK);
    value = d.values[k];
    netprof_delta_free(&d);
    return value;
}

static void assert_grew(const view *v, int end, const char *counter, uint64_t expected)
{
    int way;
    for (way = 0; way < 2; way++)
        if (grew(v, end, way, counter) != expected)
            fail_msg("%s/%s by %s: %llu instead of %llu", names[end], counter, way ? "sysfs" : "netlink",
                     (unsigned long long)grew(v, end, way, counter), (unsigned long long)expected);
}

static struct sockaddr_in address_of(int end, int port)
{
    struct sockaddr_in a;
    char text[32];
    memset(&a, 0, sizeof a);
    snprintf(text, sizeof text, "10.99.0.%d", end + 1);
    a.sin_family = AF_INET;
    a.sin_port = htons((uint16_t)port);
    a.sin_addr.s_addr = inet_addr(text);
    return a;
}

static int socket_in(int end, int type, int port)
{
    struct sockaddr_in a = address_of(end, port);
    struct timeval limit = {60, 0};
    int fd, one = 1;
    enter(space[end]);
    fd = socket(AF_INET, type, 0);
    assert_true(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    assert_int_equal(bind(fd, (struct sockaddr *)(void *)&a, sizeof a), 0);
    return fd;
}

/* -- datagrams -- */

static void test_datagrams(void **state)
{
    enum { COUNT = 1000 };
    static char data[1472];
    struct sockaddr_in to = address_of(1, 5001);
    int from_fd, to_fd;
    uint64_t bytes = 0;
    size_t i;
    view v;
    (void)state;
    NEEDS_VETH();
    from_fd = socket_in(0, SOCK_DGRAM, 5000);
    to_fd = socket_in(1, SOCK_DGRAM, 5001);
    view_open(&v);
    for (i = 0; i < COUNT; i++) {
        size_t size = i * 37 % sizeof data + 1;
        assert_int_equal(sendto(from_fd, data, size, 0, (struct sockaddr *)(void *)&to, sizeof to), (int)size);
        assert_int_equal(recv(to_fd, data, sizeof data, 0), (int)size);
        bytes += ETHERNET + IPV4 + UDP + size;
    }
    view_look_again(&v);
    assert_grew(&v, 0, "tx_packets", COUNT);
    assert_grew(&v, 0, "tx_bytes", bytes);
    assert_grew(&v, 1, "rx_packets", COUNT);
    assert_grew(&v, 1, "rx_bytes", bytes);
    assert_grew(&v, 0, "rx_packets", 0);
    assert_grew(&v, 0, "rx_bytes", 0);
    assert_grew(&v, 1, "tx_packets", 0);
    assert_grew(&v, 1, "tx_bytes", 0);
    assert_grew(&v, 0, "tx_dropped", 0);
    assert_grew(&v, 1, "rx_dropped", 0);
    assert_grew(&v, 0, "carrier_down_count", 0);
    view_close(&v);
    close(from_fd);
    close(to_fd);
}

/* -- more events than a socket's queue holds -- */

static void test_many_events_and_another_namespace(void **state)
{
    enum { EVENTS = 600, COUNT = 20 };
    struct sockaddr_in to = address_of(1, 5005);
    struct ifreq change;
    int from_fd, to_fd, i;
    char data[100] = "";
    view v;
    (void)state;
    NEEDS_VETH();
    from_fd = socket_in(0, SOCK_DGRAM, 5004);
    to_fd = socket_in(1, SOCK_DGRAM, 5005);
    view_open(&v);
    memset(&change, 0, sizeof change);
    memcpy(change.ifr_name, "lo", 3);
    for (i = 0; i < EVENTS; i++) { /* in the namespace of from_fd */
        change.ifr_mtu = 60000 + i;
        assert_int_equal(ioctl(from_fd, SIOCSIFMTU, &change), 0);
    }
    for (i = 0; i < COUNT; i++) {
        assert_int_equal(sendto(from_fd, data, 100, 0, (struct sockaddr *)(void *)&to, sizeof to), 100);
        assert_int_equal(recv(to_fd, data, sizeof data, 0), 100);
    }
    enter(space[1]);
    view_look_again(&v);
    assert_grew(&v, 0, "tx_packets", COUNT);
    assert_grew(&v, 1, "rx_packets", COUNT);
    assert_grew(&v, 1, "tx_packets", 0);
    view_close(&v);
    close(from_fd);
    close(to_fd);
}

/* A program closes what it knows nothing of, and its next file gets the number. */
static void test_a_closed_socket(void **state)
{
    netprof_snapshot s = NETPROF_ZERO;
    struct stat file;
    netprof *np;
    int fd;
    (void)state;
    NEEDS_VETH();
    np = look(0, "");
    fd = ((netprof__netdev *)np->parts[0].user)->route.fd;
    assert_int_equal(dup2(space[1], fd), fd);
    netprof_take(np, &s, NETPROF_SET_ALL, NULL); /* which may fail, this once */
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    assert_int_equal(s.not_ok, 0);
    assert_int_equal(fstat(fd, &file), 0);
    assert_true(S_ISREG(file.st_mode)); /* nsfs: still the program's */
    netprof_snapshot_free(&s);
    netprof_close(np);
    close(fd);
}

/* -- a send queue that is too short -- */

/* What tc shows of the link's queueing discipline: dropped, overlimits, requeues. */
static int tc_shows(unsigned long long numbers[3])
{
    char line[256];
    int found = 0;
    FILE *f = popen("tc -s qdisc show dev np_va", "r");
    while (f && fgets(line, sizeof line, f)) {
        const char *at = strstr(line, "(dropped ");
        if (at &&
            sscanf(at, "(dropped %llu, overlimits %llu requeues %llu", &numbers[0], &numbers[1], &numbers[2]) == 3)
            found++;
    }
    return f && pclose(f) == 0 && found == 1;
}

static uint64_t value_of(const netprof_snapshot *s, const char *counter)
{
    size_t k = netprof_find(s->schema, "netdev", names[0], counter);
    assert_int_not_equal(k, NETPROF_NONE);
    assert_int_equal(s->status[k], NETPROF_STATUS_OK);
    return s->values[k];
}

/* Every datagram either left or was dropped by the rate limit; the program was told of neither. */
static void test_send_queue(void **state)
{
    enum { COUNT = 500 };
    netprof_snapshot before = NETPROF_ZERO, after = NETPROF_ZERO;
    struct sockaddr_in to = address_of(1, 5003);
    unsigned long long shown[3];
    static char data[1000];
    uint64_t sent, dropped;
    netprof *np, *peer;
    int fd, i, tries;
    (void)state;
    NEEDS_VETH();
    np = look(0, "");
    assert_int_equal(netprof_find(netprof_get_schema(np), "netdev", names[0], "qdisc_drops"),
                     NETPROF_NONE); /* noqueue */
    enter(space[0]);
    if (run("tc qdisc add dev np_va root tbf rate 20mbit burst 4k limit 10k 2>/dev/null") != 0) {
        printf("skipped: needs tc, and a kernel with its tbf\n");
        netprof_close(np);
        skip();
    }
    assert_int_equal(netprof_take(np, &before, NETPROF_SET_ALL, NULL), NETPROF_OK); /* the new queue is noticed */
    fd = socket_in(0, SOCK_DGRAM, 5002);
    for (i = 0; i < COUNT; i++)
        assert_int_equal(sendto(fd, data, sizeof data, 0, (struct sockaddr *)(void *)&to, sizeof to), sizeof data);
    for (tries = 0; tries < 500; tries++) {
        assert_int_equal(netprof_take(np, &after, NETPROF_SET_ALL, NULL), NETPROF_OK);
        if (!value_of(&after, "qdisc_backlog")) break;
        usleep(10000);
    }
    assert_int_equal(value_of(&after, "qdisc_backlog"), 0);
    /* Again, for what left the queue after its packets were counted and before its length was. */
    assert_int_equal(netprof_take(np, &after, NETPROF_SET_ALL, NULL), NETPROF_OK);
    sent = value_of(&after, "tx_packets") - value_of(&before, "tx_packets");
    dropped = value_of(&after, "qdisc_drops") - value_of(&before, "qdisc_drops");
    assert_true(dropped > 0);
    assert_int_equal(sent + dropped, COUNT);
    assert_true(tc_shows(shown));
    assert_int_equal(value_of(&after, "qdisc_drops"), shown[0]);
    assert_int_equal(value_of(&after, "qdisc_overlimits"), shown[1]);
    assert_int_equal(value_of(&after, "qdisc_requeues"), shown[2]);
    peer = look(1, ""); /* the other end, in its namespace, has none */
    assert_int_equal(netprof_find(netprof_get_schema(peer), "netdev", names[1], "qdisc_drops"), NETPROF_NONE);
    netprof_close(peer);
    enter(space[0]);
    run("tc qdisc delete dev np_va root");
    assert_int_equal(netprof_take(np, &after, NETPROF_SET_ALL, NULL), NETPROF_OK);
    assert_int_equal(netprof_find(after.schema, "netdev", names[0], "qdisc_drops"), NETPROF_NONE);
    assert_int_equal(after.not_ok, 0);
    netprof_snapshot_free(&before);
    netprof_snapshot_free(&after);
    netprof_close(np);
    close(fd);
}

/* -- a stream -- */

static struct tcp_info info_of(int fd)
{
    struct tcp_info info;
    socklen_t length = sizeof info;
    memset(&info, 0, sizeof info);
    assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length), 0);
    return info;
}

static unsigned long long statistic(int end, const char *name)
{
    char path[200];
    unsigned long long value = 0;
    FILE *f;
    snprintf(path, sizeof path, "%s/sys/class/net/%s/statistics/%s", roots[end], names[end], name);
    f = fopen(path, "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%llu", &value), 1);
    fclose(f);
    return value;
}

/* Until both sockets are done, and each end has received what the other one sent and no more comes. */
static void wait_until_over(int from, int accepted)
{
    enum { ENOUGH = 5, PAUSE_US = 20000, TRIES = 3000 };
    unsigned long long sent, before = 0;
    int tries, over, same = 0;
    for (tries = 0; tries < TRIES && same < ENOUGH; tries++) {
        usleep(PAUSE_US);
        sent = statistic(0, "tx_packets") + statistic(1, "tx_packets");
        over = info_of(from).tcpi_state == TCP_CLOSE && info_of(accepted).tcpi_state == TCP_CLOSE &&
               statistic(0, "tx_packets") == statistic(1, "rx_packets") &&
               statistic(1, "tx_packets") == statistic(0, "rx_packets");
        same = over && sent == before ? same + 1 : 0;
        before = sent;
    }
    assert_true(same == ENOUGH);
}

/* Moves `size` bytes from end 0 to end 1 and closes in order. Returns how many segments were sent again, either way. */
static uint32_t stream(size_t size, int port)
{
    static char data[65536];
    struct sockaddr_in to = address_of(1, port);
    uint32_t again;
    int listener = socket_in(1, SOCK_STREAM, port), from, accepted;
    size_t sent = 0, received = 0;
    char byte;
    assert_int_equal(listen(listener, 1), 0);
    from = socket_in(0, SOCK_STREAM, port + 1);
    assert_int_equal(connect(from, (struct sockaddr *)(void *)&to, sizeof to), 0);
    accepted = accept(listener, NULL, NULL);
    assert_true(accepted >= 0);
    while (received < size) {
        size_t want = size - sent < sizeof data ? size - sent : sizeof data;
        ssize_t n = want ? send(from, data, want, MSG_DONTWAIT) : 0;
        sent += n > 0 ? (size_t)n : 0;
        n = recv(accepted, data, sizeof data, 0);
        assert_true(n > 0);
        received += (size_t)n;
    }
    shutdown(from, SHUT_WR);
    assert_int_equal(recv(accepted, &byte, 1, 0), 0);
    shutdown(accepted, SHUT_WR);
    assert_int_equal(recv(from, &byte, 1, 0), 0);
    wait_until_over(from, accepted);
    again = info_of(from).tcpi_total_retrans + info_of(accepted).tcpi_total_retrans;
    close(accepted);
    close(from);
    close(listener);
    return again;
}

/* How segments are cut is TCP's business, but their sum is not: payload, 66 bytes of headers for each, and for the one
   SYN of each side 8 bytes more of options. */
static void test_stream(void **state)
{
    enum { SIZE = 5000000, HEADERS = ETHERNET + IPV4 + TCP_STAMPED };
    uint64_t packets, answers;
    int tries;
    view v;
    (void)state;
    NEEDS_VETH();
    view_open(&v);
    for (tries = 0; stream(SIZE, 5100 + 2 * tries) != 0; tries++) { /* sent again: not computable */
        assert_true(tries < 10);
        view_close(&v);
        view_open(&v);
    }
    view_look_again(&v);
    packets = grew(&v, 0, 0, "tx_packets");
    answers = grew(&v, 1, 0, "tx_packets");
    assert_true(packets >= SIZE / 1448 && packets < SIZE / 100);
    assert_true(answers > 2 && answers < packets + 10);
    assert_grew(&v, 0, "tx_packets", packets);
    assert_grew(&v, 1, "rx_packets", packets);
    assert_grew(&v, 0, "tx_bytes", SIZE + HEADERS * packets + (TCP_SYN - TCP_STAMPED));
    assert_grew(&v, 1, "rx_bytes", SIZE + HEADERS * packets + (TCP_SYN - TCP_STAMPED));
    assert_grew(&v, 1, "tx_packets", answers);
    assert_grew(&v, 0, "rx_packets", answers);
    assert_grew(&v, 1, "tx_bytes", HEADERS * answers + (TCP_SYN - TCP_STAMPED));
    assert_grew(&v, 0, "rx_bytes", HEADERS * answers + (TCP_SYN - TCP_STAMPED));
    view_close(&v);
}

/* -- what links are -- */

static const netprof_device *device_named(const netprof_schema *s, const char *name)
{
    size_t i;
    for (i = 0; i < s->device_count; i++)
        if (strcmp(s->devices[i].name, name) == 0) return &s->devices[i];
    return NULL;
}

static void test_stacked_links(void **state)
{
    static const struct {
        const char *name, *make, *kind;
    } rows[] = {{"np_br", "ip link add np_br type bridge", "bridge"},
                {"np_ifb", "ip link add np_ifb type ifb", "ifb"},
                {"np_dummy", "ip link add np_dummy type dummy", "dummy"},
                {"np_bond", "ip link add np_bond type bond", "bond"},
                {"np_vlan", "ip link add np_vlan link np_va type vlan id 7", "vlan"},
                {"np_macvlan", "ip link add np_macvlan link np_va type macvlan", "macvlan"}};
    const netprof_device *d;
    const netprof_schema *s;
    netprof *np, *files;
    size_t i;
    (void)state;
    NEEDS_VETH();
    enter(space[0]);
    for (i = 0; i < sizeof rows / sizeof *rows; i++)
        if (run("%s 2>/dev/null", rows[i].make) != 0) printf("skipped: this kernel has no %s\n", rows[i].kind);
    run("ip link add np_port type veth peer name np_other");
    run("ip link set np_port master np_br");
    np = look(0, "");
    files = look(0, roots[0]);
    s = netprof_get_schema(np);
    for (i = 0; i < s->device_count; i++) /* none of these is a port of the node: totals have nothing to add */
        assert_int_equal(s->devices[i].flags, NETPROF_DEVICE_VIRTUAL);
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        d = device_named(s, rows[i].name);
        if (d) assert_string_equal(netprof_fact_of(d->facts, d->fact_count, "kind"), rows[i].kind);
    }
    d = device_named(s, "np_port");
    assert_non_null(d);
    assert_string_equal(netprof_fact_of(d->facts, d->fact_count, "kind"), "veth");
    assert_string_equal(netprof_fact_of(d->facts, d->fact_count, "master"), "np_br");
    assert_string_equal(netprof_fact_of(d->facts, d->fact_count, "lower"), "np_other");
    s = netprof_get_schema(files);
    for (i = 0; i < s->device_count; i++)
        assert_int_equal(s->devices[i].flags, NETPROF_DEVICE_VIRTUAL);
    d = device_named(s, "np_port");
    assert_string_equal(netprof_fact_of(d->facts, d->fact_count, "master"), "np_br");
    d = device_named(s, "np_br");
    assert_string_equal(netprof_fact_of(d->facts, d->fact_count, "kind"), "bridge");
    netprof_close(np);
    netprof_close(files);
    for (i = 0; i < sizeof rows / sizeof *rows; i++)
        run("ip link delete %s 2>/dev/null", rows[i].name);
    run("ip link delete np_port");
}

static void test_sysfs_of_another_namespace_is_not_believed(void **state)
{
    const netprof_device *d;
    netprof *np;
    (void)state;
    NEEDS_VETH();
    if (access("/sys/class/net", F_OK) != 0) skip();
    np = look(0, ""); /* /sys is the one of the namespace that we came from */
    d = device_named(netprof_get_schema(np), names[0]);
    assert_non_null(d);
    assert_non_null(netprof_fact_of(d->facts, d->fact_count, "netns"));
    assert_string_equal(netprof_fact_of(d->facts, d->fact_count, "speed_mbps"), "10000"); /* what veth pretends */
    netprof_close(np);
}

/* -- links that come and go, in a namespace that stays -- */

static void test_interface_vanishes_and_is_made_anew(void **state)
{
    netprof_snapshot before = NETPROF_ZERO, gone = NETPROF_ZERO, after = NETPROF_ZERO;
    netprof_delta d = NETPROF_ZERO;
    netprof *np;
    size_t k;
    (void)state;
    NEEDS_VETH();
    enter(space[0]);
    run("ip link add np_x type veth peer name np_y");
    np = look(0, "");
    assert_int_equal(netprof_take(np, &before, NETPROF_SET_ALL, NULL), NETPROF_OK);
    run("ip link delete np_x");
    assert_int_equal(netprof_take(np, &gone, NETPROF_SET_ALL, NULL), NETPROF_OK);
    assert_null(device_named(gone.schema, "np_x"));
    assert_int_equal(gone.not_ok, 0);
    run("ip link add np_x type veth peer name np_y");
    assert_int_equal(netprof_take(np, &after, NETPROF_SET_ALL, NULL), NETPROF_OK);
    assert_int_equal(netprof_diff(&before, &after, NULL, &d, NULL), NETPROF_OK);
    k = netprof_find(d.schema, "netdev", "np_x", "rx_bytes");
    assert_int_equal(d.flags[k], NETPROF_FLAG_RESET);
    run("ip link set np_x name np_z");
    assert_int_equal(netprof_take(np, &after, NETPROF_SET_ALL, NULL), NETPROF_OK);
    assert_non_null(device_named(after.schema, "np_z"));
    run("ip link set np_y up && ip link set np_z up");
    assert_int_equal(netprof_take(np, &after, NETPROF_SET_ALL, NULL), NETPROF_OK);
    k = netprof_find(after.schema, "netdev", "np_z", "carrier");
    assert_int_equal(after.values[k], 1);
    run("ip link delete np_z");
    netprof_delta_free(&d);
    netprof_snapshot_free(&before);
    netprof_snapshot_free(&gone);
    netprof_snapshot_free(&after);
    netprof_close(np);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_datagrams),
        cmocka_unit_test(test_many_events_and_another_namespace),
        cmocka_unit_test(test_a_closed_socket),
        cmocka_unit_test(test_send_queue),
        cmocka_unit_test(test_stream),
        cmocka_unit_test(test_stacked_links),
        cmocka_unit_test(test_sysfs_of_another_namespace_is_not_believed),
        cmocka_unit_test(test_interface_vanishes_and_is_made_anew),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
