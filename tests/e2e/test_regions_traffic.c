/* Regions of 10 us to 2 s, nested and overlapping, that move known datagrams over loopback and over veth to another
   network namespace: the file that the program leaves at its end has exactly those bytes, whatever the length. Needs
   root and `ip`; skips with a line otherwise. */
#define NETPROF_STATIC
#define NETPROF_IMPLEMENTATION
#include "../../netprof.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/wait.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* What each device counts beside the payload: lo pulls its Ethernet header first. */
#define LO_HEADERS   (20 + 8)
#define VETH_HEADERS (14 + 20 + 8)

/* In the program that is watched: a failure is a line and status 1. */
#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, #condition, strerror(errno));              \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

/* -- the place: this process in one namespace, the far end of the veth in another -- */

typedef struct road {
    int from, to; /* sockets */
} road;

static road lo, veth;
static char directory[] = "/tmp/netprof-traffic-XXXXXX";
static const char *why_not;

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    if (write(fd, text, strlen(text)) < 0) perror(path);
    close(fd);
}

/* No IPv6: its neighbour discovery would be traffic that nobody here sent. */
static int enter_new_space(void)
{
    if (unshare(CLONE_NEWNET) != 0) return -1;
    write_file("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1");
    write_file("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
    return open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
}

static int configure(const char *name, const char *own, const char *peer, int peer_number)
{
    char command[400];
    snprintf(command, sizeof command,
             "ip link set lo up && ip address add %s/24 dev %s && ip link set %s up && "
             "ip neighbour add %s lladdr 02:00:00:00:01:0%d nud permanent dev %s",
             own, name, name, peer, peer_number, name);
    return system(command) == 0;
}

static int make_veth(int near, int far)
{
    char command[300];
    snprintf(command, sizeof command,
             "ip link add np_near address 02:00:00:00:01:01 type veth peer name np_far address 02:00:00:00:01:02 "
             "netns /proc/%d/fd/%d",
             (int)getpid(), far);
    return system(command) == 0 && configure("np_near", "10.98.0.1", "10.98.0.2", 2) && setns(far, CLONE_NEWNET) == 0 &&
           configure("np_far", "10.98.0.2", "10.98.0.1", 1) && setns(near, CLONE_NEWNET) == 0;
}

/* A receiver in one namespace and a sender to it in another. */
static int make_road(road *r, const char *address, int receiver, int sender)
{
    struct timeval limit = {60, 0}; /* what does not come is a failure, not a test that never ends */
    struct sockaddr_in a;
    socklen_t size = sizeof a;
    memset(&a, 0, sizeof a);
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = inet_addr(address);
    if (setns(receiver, CLONE_NEWNET) != 0) return 0;
    r->to = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (setns(sender, CLONE_NEWNET) != 0) return 0;
    r->from = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    return setsockopt(r->to, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0 &&
           bind(r->to, (const struct sockaddr *)&a, size) == 0 &&
           getsockname(r->to, (struct sockaddr *)&a, &size) == 0 &&
           connect(r->from, (const struct sockaddr *)&a, size) == 0;
}

static int group_setup(void **state)
{
    char pattern[200];
    int near, far;
    (void)state;
    if (geteuid() != 0)
        why_not = "needs root";
    else if (system("ip -V >/dev/null 2>&1") != 0)
        why_not = "needs the command ip";
    else if ((far = enter_new_space()) < 0 || (near = enter_new_space()) < 0)
        why_not = "network namespaces are not to be had";
    else if (!make_veth(near, far))
        why_not = "veth is not to be had";
    else if (!make_road(&lo, "127.0.0.1", near, near) || !make_road(&veth, "10.98.0.2", far, near))
        why_not = "no sockets";
    if (why_not) printf("skipped: %s\n", why_not);
    if (!mkdtemp(directory)) return -1;
    snprintf(pattern, sizeof pattern, "%s/regions.netprof", directory);
    setenv("NETPROF_OUTPUT", pattern, 1);
    setenv("NETPROF", "fast", 1);
    setenv("NETPROF_SOURCES", "netdev", 1);
    unsetenv("NETPROF_ROOT");
    unsetenv("NETPROF_INCLUDE");
    unsetenv("NETPROF_EXCLUDE");
    return 0;
}

static int group_teardown(void **state)
{
    (void)state;
    return rmdir(directory);
}

/* -- traffic: each datagram is received before the next is sent, so that none is under way at an edge -- */

static void datagrams(const road *r, int n, size_t size)
{
    static __thread char data[1472];
    int i;
    for (i = 0; i < n; i++) {
        EXPECT(send(r->from, data, size, 0) == (ssize_t)size);
        EXPECT(recv(r->to, data, sizeof data, 0) == (ssize_t)size);
    }
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void wait_until(int64_t ns)
{
    struct timespec t;
    int64_t left = ns - now_ns();
    if (left > 1000000) {
        t.tv_sec = (time_t)(left / 1000000000);
        t.tv_nsec = (long)(left % 1000000000);
        nanosleep(&t, NULL);
    }
    while (now_ns() < ns)
        continue;
}

/* -- what the file says -- */

typedef struct found {
    uint64_t calls, counted, too_short, total_ns, bytes, concurrency;
    uint64_t lo_bytes, lo_packets, veth_bytes, veth_packets, veth_received;
} found;

static uint64_t counted(const netprof_regions *r, const netprof_stat *s, const char *device, const char *name)
{
    size_t wanted = netprof_find(r->schema, "netdev", device, name), i;
    assert_int_not_equal(wanted, NETPROF_NONE);
    for (i = 0; i < r->counter_count; i++)
        if (r->counters[i] == wanted) return s->counter_sums[i];
    fail_msg("%s/%s is not in the fast set", device, name);
    return 0;
}

static void add_stat(found *f, const netprof_regions *r, const netprof_stat *s)
{
    f->calls += s->calls;
    f->counted += s->counted;
    f->too_short += s->too_short;
    f->total_ns += s->total_ns;
    f->bytes += s->bytes;
    f->concurrency += s->concurrency;
    f->lo_bytes += counted(r, s, "lo", "rx_bytes");
    assert_int_equal(counted(r, s, "lo", "tx_bytes"), counted(r, s, "lo", "rx_bytes"));
    f->lo_packets += counted(r, s, "lo", "tx_packets");
    f->veth_bytes += counted(r, s, "np_near", "tx_bytes");
    f->veth_packets += counted(r, s, "np_near", "tx_packets");
    f->veth_received += counted(r, s, "np_near", "rx_bytes");
}

static char *file_name(char *to, size_t size)
{
    snprintf(to, size, "%s/regions.netprof", directory);
    return to;
}

static found find(const char *region)
{
    char path[100];
    netprof_reader *reader;
    netprof_item item;
    found f;
    size_t i;
    int files = 0;
    memset(&f, 0, sizeof f);
    assert_int_equal(netprof_reader_open(&reader, file_name(path, sizeof path), NULL, NULL), NETPROF_OK);
    do {
        assert_int_equal(netprof_reader_next(reader, &item, NULL), NETPROF_OK);
        if (item.type != NETPROF_ITEM_REGIONS) continue;
        files++;
        assert_string_equal(item.regions->warning, "");
        assert_int_equal(item.regions->mode, NETPROF_MODE_FAST);
        for (i = 0; i < item.regions->count; i++)
            if (strcmp(item.regions->stats[i].region, region) == 0) add_stat(&f, item.regions, &item.regions->stats[i]);
    } while (item.type != NETPROF_ITEM_END);
    assert_true(item.complete);
    assert_int_equal(files, 1);
    netprof_reader_close(reader);
    return f;
}

/* The watched program: a child that ends by exit(), which writes its file. */
static void watch(void (*program)(void))
{
    int status = -1;
    pid_t pid;
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        program();
        exit(0);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    assert_int_equal(status, 0);
}

static void forget(void)
{
    char path[100];
    assert_int_equal(unlink(file_name(path, sizeof path)), 0);
}

#define NEEDS_VETH()                                                                                                   \
    do                                                                                                                 \
        if (why_not) skip();                                                                                           \
    while (0)

/* -- lengths -- */

static const struct length {
    const char *name;
    int64_t ns;
    int calls;    /* of the region */
    int each;     /* datagrams in a call, over either road */
    size_t first; /* payload in the first call, one byte more in each that follows */
} lengths[] = {{"10 us", 10000, 300, 1, 1},      {"100 us", 100000, 100, 2, 700},   {"1 ms", 1000000, 20, 5, 1400},
               {"10 ms", 10000000, 5, 20, 333},  {"100 ms", 100000000, 2, 100, 64}, {"1 s", 1000000000, 1, 200, 1472},
               {"2 s", 2000000000, 1, 200, 1000}};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static void all_lengths(void)
{
    size_t i;
    int k;
    for (i = 0; i < LENGTHS; i++) {
        const struct length *l = &lengths[i];
        netprof_region_id id = netprof_region(l->name);
        for (k = 0; k < l->calls; k++) {
            netprof_begin(id);
            int64_t begin = now_ns(); /* behind it: reading the counters is not in the region's time */
            datagrams(&lo, l->each, l->first + (size_t)k);
            wait_until(begin + l->ns / 2);
            datagrams(&veth, l->each, l->first + (size_t)k);
            NETPROF_BYTES(2u * (unsigned)l->each * (l->first + (unsigned)k));
            wait_until(begin + l->ns + l->ns / 10);
            netprof_end(id);
            datagrams(&lo, 3, 999); /* between them: nobody's */
            datagrams(&veth, 2, 999);
        }
    }
}

static void test_lengths(void **state)
{
    size_t i;
    (void)state;
    NEEDS_VETH();
    watch(all_lengths);
    for (i = 0; i < LENGTHS; i++) {
        const struct length *l = &lengths[i];
        uint64_t calls = (uint64_t)l->calls, packets = calls * (uint64_t)l->each;
        uint64_t payload = (uint64_t)l->each * (calls * l->first + calls * (calls - 1) / 2);
        found f = find(l->name);
        assert_int_equal(f.calls, calls);
        assert_int_equal(f.counted, calls);
        assert_int_equal(f.too_short, 0);
        /* Ticks are turned into time by a rate that was measured in the run: good to a thousandth. */
        if (f.total_ns + f.total_ns / 1000 + calls < calls * (uint64_t)l->ns)
            fail_msg("%s: %llu ns in %llu calls", l->name, (unsigned long long)f.total_ns, (unsigned long long)calls);
        assert_int_equal(f.bytes, 2 * payload);
        assert_int_equal(f.lo_packets, packets);
        assert_int_equal(f.lo_bytes, payload + packets * LO_HEADERS);
        assert_int_equal(f.veth_packets, packets);
        assert_int_equal(f.veth_bytes, payload + packets * VETH_HEADERS);
        assert_int_equal(f.veth_received, 0);
        assert_int_equal(f.concurrency, calls);
    }
    forget();
}

/* -- nested: what is inside is in the outer ones, too -- */

static void nested(void)
{
    int i;
    for (i = 0; i < 10; i++) {
        NETPROF_SCOPE("step");
        datagrams(&lo, 1, 100);
        NETPROF_BEGIN("exchange");
        datagrams(&veth, 2, 200);
        NETPROF_BEGIN("halo");
        datagrams(&veth, 3, 300);
        datagrams(&lo, 4, 400);
        NETPROF_END("halo");
        NETPROF_END("exchange");
        NETPROF_BEGIN("compute");
        NETPROF_END("compute");
    }
}

static void test_nested(void **state)
{
    enum { HALO = 3 * (300 + VETH_HEADERS), EXCHANGE = 2 * (200 + VETH_HEADERS) };
    found f;
    (void)state;
    NEEDS_VETH();
    watch(nested);
    f = find("halo");
    assert_int_equal(f.veth_bytes, 10 * HALO);
    assert_int_equal(f.lo_bytes, 10 * 4 * (400 + LO_HEADERS));
    assert_int_equal(f.concurrency, 10 * 3);
    f = find("exchange");
    assert_int_equal(f.veth_bytes, 10 * (HALO + EXCHANGE));
    assert_int_equal(f.lo_bytes, 10 * 4 * (400 + LO_HEADERS));
    f = find("step");
    assert_int_equal(f.veth_bytes, 10 * (HALO + EXCHANGE));
    assert_int_equal(f.lo_bytes, 10 * (4 * (400 + LO_HEADERS) + 100 + LO_HEADERS));
    assert_int_equal(f.concurrency, 10);
    f = find("compute"); /* known to have moved nothing */
    assert_int_equal(f.counted, 10);
    assert_int_equal(f.veth_packets + f.lo_packets, 0);
    forget();
}

/* -- overlapping: two threads, three stretches of time, the middle one in both regions -- */

static pthread_barrier_t stretch;

static void *second(void *argument)
{
    int i;
    for (i = 0; i < 10; i++) {
        pthread_barrier_wait(&stretch);
        NETPROF_BEGIN("right");
        pthread_barrier_wait(&stretch); /* both are open */
        datagrams(&lo, 5, 50);
        pthread_barrier_wait(&stretch);
        pthread_barrier_wait(&stretch); /* the left one has ended */
        datagrams(&lo, 7, 70);
        NETPROF_END("right");
        pthread_barrier_wait(&stretch);
    }
    return argument;
}

static void overlapping(void)
{
    pthread_t thread;
    int i;
    EXPECT(pthread_barrier_init(&stretch, NULL, 2) == 0);
    EXPECT(pthread_create(&thread, NULL, second, NULL) == 0);
    for (i = 0; i < 10; i++) {
        NETPROF_BEGIN("left");
        datagrams(&veth, 2, 20);
        pthread_barrier_wait(&stretch);
        pthread_barrier_wait(&stretch);
        datagrams(&veth, 3, 30);
        pthread_barrier_wait(&stretch);
        NETPROF_END("left");
        pthread_barrier_wait(&stretch);
        pthread_barrier_wait(&stretch);
    }
    pthread_join(thread, NULL);
}

static void test_overlapping(void **state)
{
    found f;
    (void)state;
    NEEDS_VETH();
    watch(overlapping);
    f = find("left");
    assert_int_equal(f.veth_bytes, 10 * (2 * (20 + VETH_HEADERS) + 3 * (30 + VETH_HEADERS)));
    assert_int_equal(f.lo_bytes, 10 * 5 * (50 + LO_HEADERS)); /* of the other thread: the device is one */
    assert_int_equal(f.concurrency, 10 * 2);
    f = find("right");
    assert_int_equal(f.veth_bytes, 10 * 3 * (30 + VETH_HEADERS));
    assert_int_equal(f.lo_bytes, 10 * (5 * (50 + LO_HEADERS) + 7 * (70 + LO_HEADERS)));
    assert_int_equal(f.concurrency, 10 * 1);
    forget();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_nested),
        cmocka_unit_test(test_overlapping),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
