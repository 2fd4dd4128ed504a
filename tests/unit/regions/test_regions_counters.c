/* Counters of regions against known traffic: UDP over loopback in a network namespace of our own where that is allowed,
   so that nobody else's bytes are in it. */
#define NETPROF_IMPLEMENTATION
#include "../../netprof.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/wait.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define HEADERS (20 + 8) /* IPv4, UDP: what lo counts beside the payload (its Ethernet header is pulled before) */

#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                    \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)
#define EXPECT_SAME(found, wanted)                                                                                     \
    do {                                                                                                               \
        unsigned long long f_ = (found), w_ = (wanted);                                                                \
        if (f_ != w_) {                                                                                                \
            fprintf(stderr, "%s:%d: %s is %llu, not %llu\n", __FILE__, __LINE__, #found, f_, w_);                      \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

/* -- traffic -- */

static int from, to; /* sockets */

static int alone(void)
{
    struct ifreq request;
    int fd, fine;
    if (unshare(CLONE_NEWNET) != 0) return 0;
    fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    memset(&request, 0, sizeof request);
    strcpy(request.ifr_name, "lo");
    request.ifr_flags = IFF_UP;
    fine = ioctl(fd, SIOCSIFFLAGS, &request) == 0;
    close(fd);
    return fine;
}

static void open_sockets(void)
{
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    from = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    EXPECT(bind(to, (const struct sockaddr *)&address, sizeof address) == 0);
    EXPECT(getsockname(to, (struct sockaddr *)&address, &size) == 0);
    EXPECT(connect(from, (const struct sockaddr *)&address, sizeof address) == 0);
}

/* n datagrams of `size` bytes, each received before the next: none is lost, none is under way afterwards. */
static void datagrams(int n, size_t size)
{
    static __thread char data[60000];
    int i;
    for (i = 0; i < n; i++) {
        EXPECT(send(from, data, size, 0) == (ssize_t)size);
        EXPECT(recv(to, data, sizeof data, 0) == (ssize_t)size);
    }
}

static void pause_ms(double ms)
{
    struct timespec t;
    t.tv_sec = (time_t)(ms / 1e3);
    t.tv_nsec = (long)(ms * 1e6) % 1000000000;
    nanosleep(&t, NULL);
}

/* -- what the regions say -- */

static uint64_t counted(const netprof_stat *s, const netprof_regions *r, const char *source, const char *device,
                        const char *counter)
{
    size_t wanted = r->schema ? netprof_find(r->schema, source, device, counter) : NETPROF_NONE, i;
    EXPECT(wanted != NETPROF_NONE);
    for (i = 0; i < r->counter_count; i++)
        if (r->counters[i] == wanted) return s->counter_sums[i];
    fprintf(stderr, "%s is not in the fast set\n", counter);
    _exit(1);
}

static const netprof_stat *stat_of(const netprof_regions *r, const char *name)
{
    size_t i;
    for (i = 0; i < r->count; i++)
        if (strcmp(r->stats[i].region, name) == 0) return &r->stats[i];
    fprintf(stderr, "no region %s\n", name);
    _exit(1);
}

typedef struct traffic {
    uint64_t bytes, packets, datagrams, calls, too_short, concurrency;
} traffic;

static traffic traffic_of(const char *name)
{
    netprof_regions r;
    const netprof_stat *s;
    traffic t;
    EXPECT(netprof_regions_take(&r, NULL) == NETPROF_OK);
    s = stat_of(&r, name);
    t.bytes = counted(s, &r, "netdev", "lo", "rx_bytes");
    EXPECT_SAME(counted(s, &r, "netdev", "lo", "tx_bytes"), t.bytes);
    t.packets = counted(s, &r, "netdev", "lo", "rx_packets");
    t.datagrams = 0;
    t.calls = s->counted;
    t.too_short = s->too_short;
    t.concurrency = s->concurrency;
    netprof_regions_free(&r);
    return t;
}

static netprof_mode mode_now(void)
{
    netprof_regions r;
    netprof_mode mode;
    EXPECT(netprof_regions_take(&r, NULL) == NETPROF_OK);
    mode = r.mode;
    netprof_regions_free(&r);
    return mode;
}

/* -- parts: each in a process of its own -- */

/* 10 us to 0.5 s; exact whatever the length. */
static void part_fast_exact(void)
{
    static const double lengths_ms[] = {0, 0, 0, 0.05, 0.5, 5, 50, 500};
    size_t i, k = 0;
    uint64_t packets = 0, bytes = 0;
    traffic t;
    for (i = 0; i < 100; i++) {
        NETPROF_BEGIN("short");
        datagrams(1, 10 + i);
        NETPROF_END("short");
        bytes += 10 + i + HEADERS;
        datagrams(1, 1000); /* outside */
    }
    t = traffic_of("short");
    EXPECT_SAME(t.bytes, bytes);
    EXPECT_SAME(t.packets, 100);
    EXPECT_SAME(t.calls, 100);
    EXPECT_SAME(t.too_short, 0);
    for (i = 0, bytes = 0; i < sizeof lengths_ms / sizeof *lengths_ms; i++) {
        NETPROF_BEGIN("long");
        datagrams(10, (size_t)100 << i);
        pause_ms(lengths_ms[i]);
        NETPROF_END("long");
        packets += 10;
        bytes += 10 * ((100u << i) + HEADERS);
        pause_ms(1);
        datagrams(3, 77);
    }
    t = traffic_of("long");
    EXPECT_SAME(t.bytes, bytes);
    EXPECT_SAME(t.packets, packets);
    for (k = 0; k < 3; k++) {
        NETPROF_BEGIN("silent");
        NETPROF_END("silent");
    }
    t = traffic_of("silent");
    EXPECT_SAME(t.bytes, 0);
    EXPECT_SAME(t.calls, 3); /* known to be 0, not unknown */
    EXPECT_SAME(t.too_short, 0);
}

/* Inner traffic is in the outer region, too; siblings share nothing; a recursion counts its outermost call. */
static void part_fast_nested(void)
{
    int i;
    for (i = 0; i < 5; i++) {
        NETPROF_BEGIN("outer");
        datagrams(2, 100);
        NETPROF_BEGIN("inner");
        datagrams(3, 100);
        NETPROF_BEGIN("inner");
        datagrams(1, 100);
        NETPROF_END("inner");
        NETPROF_END("inner");
        NETPROF_BEGIN("other");
        datagrams(7, 100);
        NETPROF_END("other");
        NETPROF_END("outer");
    }
    EXPECT_SAME(traffic_of("outer").packets, 5 * 13);
    EXPECT_SAME(traffic_of("inner").packets, 5 * 4);
    EXPECT_SAME(traffic_of("inner").calls, 5);
    EXPECT_SAME(traffic_of("other").packets, 5 * 7);
    EXPECT_SAME(traffic_of("outer").bytes, 5 * 13 * (100 + HEADERS));
    EXPECT_SAME(traffic_of("other").concurrency, 5 * 2); /* outer and itself, each time */
    EXPECT_SAME(traffic_of("outer").concurrency, 5);
}

/* Two threads at once: the device's traffic is in both regions, and the file says that two were open. */
static pthread_barrier_t both;

static void *second(void *argument)
{
    pthread_barrier_wait(&both);
    NETPROF_BEGIN("waits");
    pthread_barrier_wait(&both); /* both are open */
    pthread_barrier_wait(&both); /* traffic is over */
    NETPROF_END("waits");
    pthread_barrier_wait(&both);
    return argument;
}

static void part_fast_concurrent(void)
{
    pthread_t thread;
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&thread, NULL, second, NULL);
    pthread_barrier_wait(&both);
    NETPROF_BEGIN("sends");
    pthread_barrier_wait(&both);
    datagrams(9, 500);
    pthread_barrier_wait(&both);
    pthread_barrier_wait(&both); /* the other has ended */
    NETPROF_END("sends");
    pthread_join(thread, NULL);
    EXPECT_SAME(traffic_of("sends").packets, 9);
    EXPECT_SAME(traffic_of("waits").packets, 9);
    EXPECT_SAME(traffic_of("waits").concurrency, 2);
    EXPECT_SAME(traffic_of("sends").concurrency, 1);
}

/* The ip source's own count of datagrams agrees. */
static void part_fast_ip(void)
{
    netprof_regions r;
    const netprof_stat *s;
    size_t i;
    uint64_t in = 0, out = 0;
    NETPROF_BEGIN("udp");
    datagrams(25, 300);
    NETPROF_END("udp");
    EXPECT(netprof_regions_take(&r, NULL) == NETPROF_OK);
    s = stat_of(&r, "udp");
    for (i = 0; i < r.counter_count; i++) {
        const netprof_counter *c = &r.schema->counters[r.counters[i]];
        if (strcmp(c->name, "InDatagrams") == 0 || strcmp(c->name, "IpInReceives") == 0 ||
            strcmp(c->name, "InReceives") == 0)
            in = s->counter_sums[i];
        if (strcmp(c->name, "OutDatagrams") == 0 || strcmp(c->name, "IpOutRequests") == 0 ||
            strcmp(c->name, "OutRequests") == 0)
            out = s->counter_sums[i];
    }
    if (in || out) { /* where the fast set of ip has them */
        EXPECT_SAME(in ? in : out, 25);
        EXPECT_SAME(out ? out : in, 25);
    }
    netprof_regions_free(&r);
    EXPECT_SAME(traffic_of("udp").bytes, 25 * (300 + HEADERS));
}

/* A child has sockets of its own; parent and child read at the same time without taking each other's replies. */
static void part_fast_fork(void)
{
    int i, status;
    pid_t pid;
    NETPROF_BEGIN("before");
    datagrams(1, 100);
    pid = fork();
    EXPECT(pid >= 0);
    for (i = 0; i < 2000; i++) { /* no traffic: any reply mixed up shows */
        NETPROF_BEGIN("silent");
        NETPROF_END("silent");
    }
    EXPECT_SAME(traffic_of("silent").calls, 2000);
    EXPECT_SAME(traffic_of("silent").packets, 0);
    if (pid == 0) _exit(0);
    waitpid(pid, &status, 0);
    EXPECT_SAME((unsigned)status, 0);
    NETPROF_END("before");
    EXPECT_SAME(traffic_of("before").packets, 1);
}

/* A thread's context that is opened later finds more devices: columns go by name. */
static void *late_thread(void *argument)
{
    NETPROF_BEGIN("late");
    datagrams(4, 100);
    NETPROF_END("late");
    return argument;
}

static void part_fast_new_device(void)
{
    pthread_t thread;
    NETPROF_BEGIN("early");
    NETPROF_END("early");
    if (system("ip link add aaa type veth peer name bbb") != 0) _exit(77);
    pthread_create(&thread, NULL, late_thread, NULL);
    pthread_join(thread, NULL);
    EXPECT_SAME(traffic_of("late").packets, 4);
    EXPECT_SAME(traffic_of("late").bytes, 4 * (100 + HEADERS));
}

/* A device that goes away: its counters are not known any more, and no negative or enormous traffic comes of it. */
static void part_fast_device_gone(void)
{
    netprof_regions r;
    if (system("ip link add zzz type veth peer name yyy && ip link set yyy up && ip link set zzz up") != 0) _exit(77);
    NETPROF_BEGIN("gone");
    datagrams(4, 100);
    EXPECT(system("ip link del zzz") == 0);
    NETPROF_END("gone");
    EXPECT(netprof_regions_take(&r, NULL) == NETPROF_OK);
    EXPECT_SAME(counted(stat_of(&r, "gone"), &r, "netdev", "zzz", "tx_bytes"), 0);
    EXPECT_SAME(stat_of(&r, "gone")->counted, 1);
    EXPECT(strstr(r.warning, "counter sums are lower bounds") != NULL);
    netprof_regions_free(&r);
    EXPECT_SAME(traffic_of("gone").packets, 4);
}

/* One link alone is read by itself, not by a dump of all; when it goes away, that is noticed all the same. */
static void part_fast_one_link(void)
{
    netprof_regions r;
    int i;
    if (system("ip link add zzz type veth peer name yyy && ip link set yyy up && ip link set zzz up") != 0) _exit(77);
    setenv("NETPROF_INCLUDE", "zzz", 1);
    for (i = 0; i < 20; i++) {
        NETPROF_BEGIN("link");
        datagrams(1, 100); /* of lo: not this one's */
        NETPROF_END("link");
    }
    NETPROF_BEGIN("gone");
    EXPECT(system("ip link del zzz") == 0);
    NETPROF_END("gone");
    EXPECT(netprof_regions_take(&r, NULL) == NETPROF_OK);
    EXPECT_SAME(stat_of(&r, "link")->counted, 20);
    EXPECT(counted(stat_of(&r, "link"), &r, "netdev", "zzz", "tx_bytes") < 2000); /* neighbour discovery, if any */
    EXPECT_SAME(counted(stat_of(&r, "gone"), &r, "netdev", "zzz", "tx_bytes"), 0);
    EXPECT(strstr(r.warning, "counter sums are lower bounds") != NULL);
    netprof_regions_free(&r);
}

static uint64_t samples(void)
{
    return __atomic_load_n(&netprof__regions_state.sequence, __ATOMIC_ACQUIRE) / 2;
}

/* Until a reading is published that began after this call: the first one may have begun before. */
static void wait_for_sample(void)
{
    uint64_t before = samples();
    while (samples() < before + 2)
        pause_ms(1);
}

/* A made-up node: counters that start again, or cannot be read, are lower bounds, and that is said. */
static char root[] = "/tmp/netprof-node-XXXXXX";

static void write_value(const char *name, const char *text)
{
    char path[200];
    int fd;
    snprintf(path, sizeof path, "%s/sys/class/net/eth0/%s", root, name);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    EXPECT(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

static void make_node(void)
{
    char command[200];
    EXPECT(mkdtemp(root) != NULL);
    snprintf(command, sizeof command, "mkdir -p %s/sys/class/net/eth0/statistics", root);
    EXPECT(system(command) == 0);
    write_value("ifindex", "2\n"); /* without it, it is no interface */
    write_value("statistics/rx_bytes", "1000\n");
    write_value("statistics/tx_bytes", "1000\n");
    setenv("NETPROF_ROOT", root, 1);
    setenv("NETPROF_SOURCES", "netdev", 1);
}

static void remove_node(void)
{
    char command[200];
    snprintf(command, sizeof command, "rm -r %s", root);
    EXPECT(system(command) == 0);
}

static void expect_node(const char *region, uint64_t received, uint64_t sent, const char *warning)
{
    netprof_regions r;
    EXPECT(netprof_regions_take(&r, NULL) == NETPROF_OK);
    EXPECT_SAME(counted(stat_of(&r, region), &r, "netdev", "eth0", "rx_bytes"), received);
    EXPECT_SAME(counted(stat_of(&r, region), &r, "netdev", "eth0", "tx_bytes"), sent);
    if (strcmp(r.warning, warning) != 0) {
        fprintf(stderr, "warning: %s\n", r.warning);
        _exit(1);
    }
    netprof_regions_free(&r);
}

static void part_fast_bounds(void)
{
    make_node();
    NETPROF_BEGIN("exact");
    write_value("statistics/rx_bytes", "1500\n");
    NETPROF_END("exact");
    expect_node("exact", 500, 0, "");
    NETPROF_BEGIN("again");
    write_value("statistics/rx_bytes", "400\n");
    write_value("statistics/tx_bytes", "1700\n");
    NETPROF_END("again");
    expect_node("again", 400, 700,
                "a counter could not be read or started again 1 times: counter sums are lower bounds");
    NETPROF_BEGIN("no number");
    write_value("statistics/rx_bytes", "many\n");
    write_value("statistics/tx_bytes", "1701\n");
    NETPROF_END("no number");
    expect_node("no number", 0, 1,
                "a counter could not be read or started again 2 times: counter sums are lower bounds");
    netprof_regions_reset();
    NETPROF_BEGIN("exact");
    NETPROF_END("exact");
    expect_node("again", 0, 0, "a counter could not be read or started again 1 times: counter sums are lower bounds");
    remove_node();
}

/* Between two samples: too short is said, not 0. From sample to sample: exact. In between: what a region may lack or have
   too much is the traffic between its edges and the samples before them. */
static void part_sampler(void)
{
    uint64_t surely_short = 0, calls = 0;
    traffic t;
    int i, k;
    NETPROF_BEGIN("first");
    NETPROF_END("first");
    EXPECT_SAME(traffic_of("first").too_short + traffic_of("first").calls, 1);
    EXPECT_SAME(traffic_of("first").packets, 0);
    while (surely_short < 20) {
        uint64_t before = samples();
        NETPROF_BEGIN("short");
        datagrams(1, 100);
        NETPROF_END("short");
        surely_short += samples() == before;
        calls++;
    }
    t = traffic_of("short");
    EXPECT_SAME(t.calls + t.too_short, calls);
    EXPECT(t.too_short >= surely_short);
    EXPECT(t.packets <= calls);
    for (k = 0; k < 4; k++) {
        wait_for_sample();
        NETPROF_BEGIN("exact");
        datagrams(250, 100);
        NETPROF_BEGIN("exact inside");
        datagrams(7, 60);
        wait_for_sample();
        NETPROF_END("exact inside");
        NETPROF_END("exact");
        datagrams(40, 100);
    }
    t = traffic_of("exact");
    EXPECT_SAME(t.calls, 4);
    EXPECT_SAME(t.too_short, 0);
    EXPECT_SAME(t.packets, 4 * 257);
    EXPECT_SAME(t.bytes, 4 * (250 * (100 + HEADERS) + 7 * (60 + HEADERS)));
    t = traffic_of("exact inside");
    EXPECT_SAME(t.calls, 4);
    EXPECT(t.packets >= 4 * 7 && t.packets <= 4 * 257); /* the outer one's, sent since the sample before */
    for (k = 0, calls = 0; k < 4; k++) {
        uint64_t before;
        NETPROF_BEGIN("long");
        before = samples();
        for (i = 0; samples() < before + 3; i++) {
            datagrams(1, 100);
            pause_ms(1);
        }
        NETPROF_END("long");
        calls += (uint64_t)i;
    }
    t = traffic_of("long");
    EXPECT_SAME(t.calls, 4);
    EXPECT_SAME(t.too_short, 0);
    EXPECT_SAME(t.bytes, t.packets * (100 + HEADERS));
    EXPECT(t.packets > 0 && t.packets <= calls + 4 * 40); /* at the first edge up to the 40 above may be new */
}

/* The sampler loses the processor amid writing a reading. What the thread has is used while it is the last whole one; from
   an older one a region would get what went before it. */
static void part_sampler_put_aside(void)
{
    traffic t;
    setenv("NETPROF_INTERVAL", "3600", 1); /* one reading; then this is the sampler */
    NETPROF_BEGIN("first");
    NETPROF_END("first");
    while (samples() < 1)
        pause_ms(1);
    EXPECT_SAME(netprof__regions_state.sequence, 2);
    NETPROF_BEGIN("last whole");
    NETPROF_END("last whole");
    __atomic_store_n(&netprof__regions_state.sequence, 3, __ATOMIC_RELEASE);
    NETPROF_BEGIN("last whole");
    __atomic_store_n(&netprof__regions_state.sequence, 4, __ATOMIC_RELEASE);
    NETPROF_END("last whole");
    t = traffic_of("last whole");
    EXPECT_SAME(t.calls, 1);
    EXPECT_SAME(t.too_short, 1);
    __atomic_store_n(&netprof__regions_state.sequence, 9, __ATOMIC_RELEASE);
    NETPROF_BEGIN("older");
    __atomic_store_n(&netprof__regions_state.sequence, 10, __ATOMIC_RELEASE);
    NETPROF_END("older");
    NETPROF_BEGIN("older");
    __atomic_store_n(&netprof__regions_state.sequence, 15, __ATOMIC_RELEASE);
    NETPROF_END("older");
    t = traffic_of("older");
    EXPECT_SAME(t.calls, 0);
    EXPECT_SAME(t.too_short, 2);
    __atomic_store_n(&netprof__regions_state.sequence, 16, __ATOMIC_RELEASE);
}

/* After mode time, no counters; back again, counters. */
static void part_modes(void)
{
    NETPROF_BEGIN("switched");
    datagrams(1, 100);
    NETPROF_END("switched");
    EXPECT(mode_now() == NETPROF_MODE_FAST);
    netprof_set_mode(NETPROF_MODE_TIME);
    NETPROF_BEGIN("switched");
    datagrams(10, 100);
    NETPROF_END("switched");
    netprof_set_mode(NETPROF_MODE_SAMPLER); /* was not started: time */
    EXPECT(mode_now() == NETPROF_MODE_TIME);
    NETPROF_BEGIN("switched");
    netprof_set_mode(NETPROF_MODE_FAST);
    NETPROF_BEGIN("inside");
    datagrams(100, 100);
    NETPROF_END("inside");
    NETPROF_END("switched");
    EXPECT_SAME(traffic_of("switched").packets, 1);
    EXPECT_SAME(traffic_of("switched").calls, 1);
    EXPECT_SAME(traffic_of("inside").packets, 100);
    NETPROF_BEGIN("off");
    netprof_set_mode(NETPROF_MODE_OFF);
    NETPROF_END("off");
    netprof_set_mode(NETPROF_MODE_FAST);
    NETPROF_BEGIN("inside 2");
    NETPROF_END("inside 2");
    EXPECT_SAME(traffic_of("inside 2").concurrency, 1); /* nothing stayed open */
}

static const struct part {
    const char *name;
    void (*run)(void);
    const char *mode;
} parts[] = {{"fast_exact", part_fast_exact, "fast"},
             {"fast_nested", part_fast_nested, "fast"},
             {"fast_concurrent", part_fast_concurrent, "fast"},
             {"fast_ip", part_fast_ip, "fast"},
             {"fast_fork", part_fast_fork, "fast"},
             {"fast_new_device", part_fast_new_device, "fast"},
             {"fast_device_gone", part_fast_device_gone, "fast"},
             {"fast_one_link", part_fast_one_link, "fast"},
             {"fast_bounds", part_fast_bounds, "fast"},
             {"sampler", part_sampler, "sampler"},
             {"sampler_put_aside", part_sampler_put_aside, "sampler"},
             {"modes", part_modes, "fast"}};

static int run(const struct part *p)
{
    int status = -1;
    pid_t pid;
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        setenv("NETPROF", p->mode, 1);
        execl("/proc/self/exe", "test_regions_counters", "--part", p->name, (char *)NULL);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_part(void **state)
{
    int status = run(*state);
    if (status == 77) skip();
    assert_int_equal(status, 0);
}

int main(int argc, char **argv)
{
    enum { COUNT = sizeof parts / sizeof *parts };
    struct CMUnitTest tests[COUNT];
    size_t i;
    setenv("NETPROF_SOURCES", "netdev,ip", 1);
    setenv("NETPROF_INTERVAL", "0.02", 1);
    setenv("NETPROF_OUTPUT", "/dev/null", 1);
    for (i = 0; i < COUNT; i++) {
        if (argc == 3 && strcmp(argv[2], parts[i].name) == 0) {
            if (!alone()) {
                fprintf(stderr, "no network namespace of our own: %s\n", strerror(errno));
                return 77;
            }
            open_sockets();
            parts[i].run();
            return 0;
        }
        memset(&tests[i], 0, sizeof tests[i]);
        tests[i].name = parts[i].name;
        tests[i].test_func = test_part;
        tests[i].initial_state = (void *)(uintptr_t)&parts[i];
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
