// A healthy transfer against a faulty one, on real TCP between two network namespaces: through a router that limits the
// rate, and through a relay that drops packets. The comparison must name what was done: segments sent again.
// Needs root, `ip`, and for the first veth and tc's tbf, for the second /dev/net/tun; says what it skips.
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "netprof.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/compare/compare.h"
#include "analysis/compare/link_pairs.h"
#include "analysis/base/text.h"

enum { SENDER, RECEIVER, ROUTER, SPACES };
static int space[SPACES] = {-1, -1, -1}; // network namespaces
static const char *why_not;
static rules built_in;

// What the relay has done since its first start, in packets of each end; memory shared with it. The kernel counts both
// before the relay does.
typedef struct relayed {
    unsigned long long read[2], written[2], dropped;
} relayed;
static volatile relayed *relay_did;

// ---- the network ----

static void enter(int which)
{
    if (setns(space[which], CLONE_NEWNET)) fail_msg("setns: %s", strerror(errno));
}

__attribute__((format(printf, 2, 3))) static bool run(int which, const char *format, ...)
{
    char command[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    enter(which);
    return system(command) == 0;
}

static bool make_space(int which)
{
    if (unshare(CLONE_NEWNET)) return false;
    space[which] = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    return space[which] >= 0 && run(which, "ip link set lo up");
}

static int group_setup(void **state)
{
    (void)state;
    void *memory = mmap(NULL, sizeof *relay_did, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return -1;
    relay_did = memory;
    unsetenv("NETPROF_ROOT");
    unsetenv("NETPROF_SOURCES");
    unsetenv("NETPROF_INCLUDE");
    unsetenv("NETPROF_EXCLUDE");
    if (geteuid())
        why_not = "needs root";
    else if (system("ip -V >/dev/null 2>&1"))
        why_not = "needs the command ip";
    else if (!make_space(SENDER) || !make_space(RECEIVER) || !make_space(ROUTER))
        why_not = "needs network namespaces";
    if (why_not) print_message("skipped: %s\n", why_not);
    rules_builtin(&built_in);
    return 0;
}

static int group_teardown(void **state)
{
    (void)state;
    rules_free(&built_in);
    return 0;
}

// A link of the router to an end: 10.97.END.1 there, 10.97.END.2 here.
static bool join(int end)
{
    return run(ROUTER, "ip link add r%d type veth peer name e%d netns /proc/%d/fd/%d 2>/dev/null", end, end,
               (int)getpid(), space[end]) &&
           run(ROUTER, "ip address add 10.97.%d.1/24 dev r%d && ip link set r%d up", end, end, end) &&
           run(end, "ip address add 10.97.%d.2/24 dev e%d && ip link set e%d up && ip route add default via 10.97.%d.1",
               end, end, end, end);
}

static bool make_router(void)
{
    int inherited = fcntl(space[SENDER], F_SETFD, 0) | fcntl(space[RECEIVER], F_SETFD, 0);
    return !inherited && join(SENDER) && join(RECEIVER) && run(ROUTER, "echo 1 >/proc/sys/net/ipv4/ip_forward");
}

static int make_tun(int end)
{
    struct ifreq request;
    enter(end); // the device belongs where the file was opened
    int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
    memset(&request, 0, sizeof request);
    snprintf(request.ifr_name, sizeof request.ifr_name, "e%d", end);
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    if (fd < 0 || ioctl(fd, TUNSETIFF, &request)) return -1;
    // No IPv6: what it sends when a link comes up would be a packet of nobody here.
    if (!run(end, "echo 1 >/proc/sys/net/ipv6/conf/e%d/disable_ipv6", end)) print_message("no IPv6 here\n");
    bool done = run(
        end,
        "ip address add 10.97.%d.2/24 dev e%d && ip link set e%d txqueuelen 20000 up && ip route add default dev e%d",
        end, end, end, end); // nothing is lost on the way to the relay
    return done ? fd : -1;
}

// ---- a relay between the two ends, in a process of its own; drops every n-th packet of the sender's, 0: none ----

static void relay_packets(const int fds[2], int every)
{
    static char packet[65536];
    unsigned count = 0;
    for (;;) {
        struct pollfd wait[2] = {{fds[0], POLLIN, 0}, {fds[1], POLLIN, 0}};
        poll(wait, 2, -1);
        for (int end = 0; end < 2; end++) {
            if (!(wait[end].revents & POLLIN)) continue;
            ssize_t n = read(fds[end], packet, sizeof packet);
            if (n <= 0) continue;
            relay_did->read[end]++;
            bool drop = end == SENDER && n > 200 && every && ++count % (unsigned)every == 0; // data, not the handshake
            if (drop)
                relay_did->dropped++;
            else if (write(fds[!end], packet, (size_t)n) == n)
                relay_did->written[!end]++;
        }
    }
}

static pid_t start_relay(const int fds[2], int every)
{
    pid_t child = fork();
    if (child == 0) relay_packets(fds, every);
    assert_true(child > 0);
    return child;
}

static void stop_relay(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

// ---- traffic ----

static struct sockaddr_in address_of(int end, int port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    a.sin_addr.s_addr = htonl(0x0a610002u | (uint32_t)end << 8);
    return a;
}

static int socket_in(int end, int type, int port)
{
    struct sockaddr_in a = address_of(end, port);
    struct timeval limit = {60, 0};
    int one = 1;
    enter(end);
    int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    assert_int_equal(bind(fd, (struct sockaddr *)(void *)&a, sizeof a), 0);
    return fd;
}

// Moves so many bytes to the receiver. Returns how many segments were sent again, by the socket itself.
static uint32_t transfer(size_t size, int port)
{
    static char data[65536];
    struct sockaddr_in to = address_of(RECEIVER, port);
    struct tcp_info info = {0};
    socklen_t length = sizeof info;
    int listener = socket_in(RECEIVER, SOCK_STREAM, port), from = socket_in(SENDER, SOCK_STREAM, port + 1);
    size_t sent = 0, received = 0;
    char byte;
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(connect(from, (struct sockaddr *)(void *)&to, sizeof to), 0);
    int accepted = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    assert_true(accepted >= 0);
    while (received < size) {
        struct pollfd wait[2] = {{from, (short)(sent < size ? POLLOUT : 0), 0}, {accepted, POLLIN, 0}};
        assert_true(poll(wait, 2, 60000) > 0);
        size_t want = size - sent < sizeof data ? size - sent : sizeof data;
        ssize_t n = want && wait[0].revents & POLLOUT ? send(from, data, want, MSG_DONTWAIT) : 0;
        sent += n > 0 ? (size_t)n : 0;
        n = wait[1].revents & POLLIN ? recv(accepted, data, sizeof data, MSG_DONTWAIT) : 0;
        received += n > 0 ? (size_t)n : 0;
    }
    // In order, so that the sender's last segment is acknowledged before its count is read.
    shutdown(from, SHUT_WR);
    assert_int_equal(recv(accepted, &byte, 1, 0), 0);
    close(accepted);
    assert_int_equal(recv(from, &byte, 1, 0), 0);
    assert_int_equal(getsockopt(from, IPPROTO_TCP, TCP_INFO, &info, &length), 0);
    close(from);
    close(listener);
    return info.tcpi_total_retrans;
}

// There and back, one after another; what is lost is not waited for.
static void ping(int count, int port)
{
    char data[64] = "ping";
    struct sockaddr_in to = address_of(RECEIVER, port), back;
    int from = socket_in(SENDER, SOCK_DGRAM, port + 1), at = socket_in(RECEIVER, SOCK_DGRAM, port);
    for (int i = 0; i < count; i++) {
        struct pollfd wait = {at, POLLIN, 0}, answer = {from, POLLIN, 0};
        socklen_t length = sizeof back;
        sendto(from, data, sizeof data, 0, (struct sockaddr *)(void *)&to, sizeof to);
        if (poll(&wait, 1, 100) <= 0) continue;
        ssize_t n = recvfrom(at, data, sizeof data, 0, (struct sockaddr *)(void *)&back, &length);
        if (n > 0) sendto(at, data, (size_t)n, 0, (struct sockaddr *)(void *)&back, length);
        if (poll(&answer, 1, 100) > 0) recv(from, data, sizeof data, 0);
    }
    close(from);
    close(at);
}

// ---- quiet ----

typedef struct traffic {
    unsigned long long received[2], sent[2]; // packets of each end
    relayed relay;
} traffic;

// By the kernel's text of the namespace that this thread is in.
static FILE *text_of(const char *what)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/thread-self/net/%s", what);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    return f;
}

static unsigned talking_in(int end)
{
    enum { TIME_WAIT = 6 };
    char line[512];
    unsigned socket_state, count = 0;
    enter(end);
    FILE *f = text_of("tcp");
    while (fgets(line, sizeof line, f))
        count += sscanf(line, " %*d: %*s %*s %x", &socket_state) == 1 && socket_state != TIME_WAIT;
    fclose(f);
    return count;
}

static traffic traffic_now(void)
{
    traffic t;
    memset(&t, 0, sizeof t);
    t.relay = *relay_did;
    for (int end = 0; end < 2; end++) {
        char line[512], format[96];
        snprintf(format, sizeof format, " e%d: %%*u %%llu %%*u %%*u %%*u %%*u %%*u %%*u %%*u %%llu", end);
        enter(end);
        FILE *f = text_of("dev");
        bool found = false;
        while (!found && fgets(line, sizeof line, f))
            found = sscanf(line, format, &t.received[end], &t.sent[end]) == 2;
        fclose(f);
        assert_true(found);
    }
    return t;
}

// The relay has passed on all that it took, by its own count and by the kernel's.
static bool relay_is_idle(const traffic *t)
{
    const relayed *r = &t->relay;
    for (int end = 0; end < 2; end++)
        if (r->read[end] != t->sent[end] || r->written[end] != t->received[end]) return false;
    return r->read[SENDER] == r->written[RECEIVER] + r->dropped && r->read[RECEIVER] == r->written[SENDER];
}

// Is nothing under way and nobody about to send? However long the relay or this process had no processor: nobody speaks
// any more, and while the relay did nothing and held nothing, nothing waited for it.
static bool is_quiet(const int fds[2])
{
    struct pollfd waiting[2] = {{fds[0], POLLIN, 0}, {fds[1], POLLIN, 0}};
    if (talking_in(SENDER) || talking_in(RECEIVER)) return false;
    traffic before = traffic_now();
    if (!relay_is_idle(&before) || poll(waiting, 2, 0) != 0) return false;
    traffic after = traffic_now();
    return memcmp(&before, &after, sizeof before) == 0;
}

// Not for ever: what is missing then is told by who compares.
static void wait_until_quiet(const int fds[2])
{
    enum { ROUNDS = 3000, PAUSE_US = 20000 };
    for (int i = 0; i < ROUNDS && !is_quiet(fds); i++)
        usleep(PAUSE_US);
}

// ---- runs ----

typedef struct bench {
    dataset sets[COMPARISON_SIDES];
    dataset_run files[COMPARISON_SIDES];
    char names[COMPARISON_SIDES][16];
    netprof_snapshot snapshots[COMPARISON_SIDES][2];
    uint32_t sent_again[COMPARISON_SIDES];
    comparison c;
} bench;

static void look_at(int which, netprof_snapshot *s)
{
    netprof_config config = NETPROF_ZERO;
    netprof *np = NULL;
    config.sources = "ip,netdev";
    enter(which);
    assert_int_equal(netprof_open(&np, &config, NULL), NETPROF_OK);
    assert_int_equal(netprof_take(np, s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    netprof_close(np);
}

static void look(netprof_snapshot *s)
{
    look_at(SENDER, s);
}

// The same work on each side: pings and a stream, seen from the sender.
static void measure(bench *b, comparison_side side, int port)
{
    enum { BYTES = 20000000, PINGS = 50 };
    netprof_snapshot *s = b->snapshots[side];
    look(&s[0]);
    ping(PINGS, port);
    b->sent_again[side] = transfer(BYTES, port + 2);
    look(&s[1]);
    b->files[side] =
        (dataset_run){.path = b->names[side], .host = "e2e", .complete = true, .snapshots = s, .snapshot_count = 2};
    snprintf(b->names[side], sizeof b->names[side], "%s", comparison_side_name(side));
    b->sets[side] = (dataset){.runs = &b->files[side], .run_count = 1};
}

static const comparison_line *find_line(const comparison *c, const char *name)
{
    for (size_t i = 0; i < c->line_count; i++)
        if (strcmp(c->lines[i].name, name) == 0) return &c->lines[i];
    return NULL;
}

static bool is_about_loss(const char *counter)
{
    static const char *const patterns[] = {"*Retrans*",  "*Loss*", "*Lost*", "*Sack*", "*SACK*", "*Timeout*",
                                           "*Recovery*", "*drop*", "*Drop*", "*RTO*",  "*OFO*"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (text_like(patterns[i], counter)) return true;
    return false;
}

static void expect_loss(bench *b)
{
    comparison *c = &b->c;
    netprof_error error;
    for (int side = 0; side < COMPARISON_SIDES; side++)
        assert_int_equal(comparison_add(c, (comparison_side)side, &b->sets[side], NULL, &error), NETPROF_OK);
    assert_int_equal(comparison_make(c, &built_in, NULL, &error), NETPROF_OK);
    print_message("    %s\n    first: %s, sent again %u and %u\n", c->title, c->lines[0].name,
                  b->sent_again[COMPARISON_HEALTHY], b->sent_again[COMPARISON_FAULTY]);
    const comparison_line *line = find_line(c, "RetransSegs");
    assert_non_null(line);
    // By the socket's own count.
    assert_int_equal(line->cells[line->worst].side[COMPARISON_FAULTY].exact, b->sent_again[COMPARISON_FAULTY]);
    assert_true(line->cells[line->worst].direction > 0 && line->score > 0);
    assert_true(is_about_loss(c->lines[0].name));
    assert_true(c->severity >= SEVERITY_WATCH);
    assert_true(strstr(c->title, "sent again") || strstr(c->title, "timer") || strstr(c->title, "Retrans") ||
                is_about_loss(c->title));
}

// Where the packets were lost the rules say so, of the link with the limit and of no other.
static void expect_queue_drops(const netprof_snapshot s[2])
{
    difference d = {0};
    findings f = {0};
    char link[8];
    size_t found = 0;
    snprintf(link, sizeof link, "r%d", RECEIVER);
    assert_int_equal(difference_of_snapshots(&d, &s[0], &s[1], false, NULL), NETPROF_OK);
    findings_make(&f, &d, &built_in);
    for (size_t i = 0; i < f.count; i++) {
        if (strcmp(f.items[i].rule->name, "qdisc-drop") != 0) continue;
        found++;
        assert_string_equal(finding_device(&f, &f.items[i]), link);
        print_message("    at the router: %s: %s: %s\n", severity_name(f.items[i].severity), link, f.items[i].claim);
    }
    assert_int_equal(found, 1);
    findings_free(&f);
    difference_free(&d);
}

// Both ends counted every packet: what is missing at the receiver is what the relay dropped, neither more nor less.
static void expect_lost_between(const netprof_snapshot sender[2], const netprof_snapshot receiver[2],
                                unsigned long long lost)
{
    difference d[2] = {0};
    findings f = {0};
    ends_pair e = {0};
    const finding *x = NULL;
    assert_int_equal(difference_of_snapshots(&d[0], &sender[0], &sender[1], false, NULL), NETPROF_OK);
    assert_int_equal(difference_of_snapshots(&d[1], &receiver[0], &receiver[1], false, NULL), NETPROF_OK);
    ends_find(&e, &d[0], &d[1]);
    assert_int_equal(e.count, 1);
    assert_int_equal(e.links[0].sent[0] - e.links[0].received[0], lost);
    assert_int_equal(e.links[0].sent[1], e.links[0].received[1]);
    findings_far far = {.d = &d[0], .devices = e.of[1]};
    findings_make_pair(&f, &d[1], &far, &built_in);
    for (size_t i = 0; i < f.count; i++)
        if (strcmp(f.items[i].rule->name, "x-pair") == 0) x = &f.items[i];
    assert_true((x != NULL) == (lost > 0));
    if (x) {
        assert_string_equal(finding_device(&f, x), "e1");
        assert_true(fabs(x->value - (double)lost / (double)e.links[0].sent[0]) < 1e-9);
        print_message("    between: %s: %s\n", severity_name(x->severity), x->claim);
    }
    findings_free(&f);
    ends_free(&e);
    for (int i = 0; i < 2; i++)
        difference_free(&d[i]);
}

static void clear(bench *b)
{
    comparison_free(&b->c);
    for (int side = 0; side < COMPARISON_SIDES; side++)
        for (int e = 0; e < 2; e++)
            netprof_snapshot_free(&b->snapshots[side][e]);
    for (int end = 0; end <= RECEIVER; end++)
        run(end, "ip link delete e%d 2>/dev/null", end);
}

// ---- tests ----

static void a_rate_limit_on_the_way(void **state)
{
    bench b = {0};
    (void)state;
    if (why_not) skip();
    bool veth = make_router();
    if (!veth) print_message("skipped: needs veth\n");
    if (veth) measure(&b, COMPARISON_HEALTHY, 6000);
    bool tbf =
        veth && run(ROUTER, "tc qdisc add dev r%d root tbf rate 200mbit burst 32k limit 64k 2>/dev/null", RECEIVER);
    if (veth && !tbf) print_message("skipped: needs tc and its tbf\n");
    if (tbf) {
        netprof_snapshot s[2] = {NETPROF_ZERO, NETPROF_ZERO};
        look_at(ROUTER, &s[0]);
        measure(&b, COMPARISON_FAULTY, 6100);
        look_at(ROUTER, &s[1]);
        expect_loss(&b);
        expect_queue_drops(s);
        for (int e = 0; e < 2; e++)
            netprof_snapshot_free(&s[e]);
    }
    clear(&b);
    if (!tbf) skip();
}

// The same transfer with something set up otherwise on the sender's own port, which must be named before any counter.
// must_slow: it limits the rate to far less than a pair of virtual ports carries, on whatever machine.
static void set_up_otherwise(const char *before, const char *change, const char *words, const char *counter,
                             bool must_slow)
{
    bench b = {0};
    netprof_error error;
    bool done = make_router() && run(SENDER, "%s", before);
    if (!done) print_message("skipped: needs veth\n");
    if (done) measure(&b, COMPARISON_HEALTHY, 6400);
    done = done && run(SENDER, "%s", change);
    if (done) measure(&b, COMPARISON_FAULTY, 6500);
    for (int side = 0; side < COMPARISON_SIDES && done; side++)
        assert_int_equal(comparison_add(&b.c, (comparison_side)side, &b.sets[side], NULL, &error), NETPROF_OK);
    if (done) {
        const comparison_sentence *first = NULL;
        assert_int_equal(comparison_make(&b.c, &built_in, NULL, &error), NETPROF_OK);
        print_message("    %s\n", b.c.title);
        for (size_t i = b.c.sentence_count; i-- > 0;)
            if (b.c.sentences[i].subject == COMPARISON_OF_SETUP) first = &b.c.sentences[i];
        assert_non_null(first);
        assert_string_equal(first->text, words);
        for (const comparison_sentence *x = b.c.sentences; x < first; x++)
            assert_true(x->subject != COMPARISON_OF_COUNTER || x->severity > first->severity);
        // How much slower depends on the machine; where it is, the setting is the reason that the first line names.
        bool slower = false;
        for (size_t i = 0; i < b.c.sentence_count; i++)
            slower |= b.c.sentences[i].subject == COMPARISON_OF_SPEED && b.c.sentences[i].severity >= SEVERITY_WATCH;
        if (must_slow) assert_true(slower);
        if (slower) assert_true(strstr(b.c.title, " times") && strstr(b.c.title, words));
        if (counter)
            assert_int_equal(find_line(&b.c, counter)->cells[find_line(&b.c, counter)->worst].state, COMPARISON_NEW);
    }
    clear(&b);
    if (!done) skip();
}

static void a_shaper_on_the_port(void **state)
{
    (void)state;
    if (why_not) skip();
    set_up_otherwise("true", "tc qdisc add dev e0 root tbf rate 100mbit burst 32k limit 64k 2>/dev/null",
                     "queueing discipline tbf instead of noqueue on e0", "qdisc_overlimits", true);
}

static void a_smaller_mtu(void **state)
{
    (void)state;
    if (why_not) skip();
    set_up_otherwise("ip link set e0 mtu 9000", "ip link set e0 mtu 1500", "MTU 1500 instead of 9000 on e0", NULL,
                     false);
}

static void packets_dropped_on_the_way(void **state)
{
    enum { EVERY = 50 };
    bench b = {0};
    int fds[2];
    (void)state;
    if (why_not) skip();
    for (int end = 0; end < 2; end++)
        fds[end] = make_tun(end);
    bool tun = fds[0] >= 0 && fds[1] >= 0;
    if (!tun) print_message("skipped: needs /dev/net/tun\n");
    for (int side = 0; side < COMPARISON_SIDES && tun; side++) {
        netprof_snapshot s[2] = {NETPROF_ZERO, NETPROF_ZERO};
        unsigned long long dropped = relay_did->dropped;
        look_at(RECEIVER, &s[0]);
        pid_t relay = start_relay(fds, side == COMPARISON_FAULTY ? EVERY : 0);
        measure(&b, (comparison_side)side, 6200 + 100 * side);
        wait_until_quiet(fds); // the last acknowledgements may be under way
        netprof_snapshot_free(&b.snapshots[side][1]);
        look(&b.snapshots[side][1]);
        look_at(RECEIVER, &s[1]);
        stop_relay(relay);
        dropped = relay_did->dropped - dropped;
        assert_true((dropped > 0) == (side == COMPARISON_FAULTY));
        expect_lost_between(b.snapshots[side], s, dropped);
        for (int e = 0; e < 2; e++)
            netprof_snapshot_free(&s[e]);
    }
    if (tun) expect_loss(&b);
    for (int end = 0; end < 2; end++)
        if (fds[end] >= 0) close(fds[end]);
    clear(&b);
    if (!tun) skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rate_limit_on_the_way),
        cmocka_unit_test(a_shaper_on_the_port),
        cmocka_unit_test(a_smaller_mtu),
        cmocka_unit_test(packets_dropped_on_the_way),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
