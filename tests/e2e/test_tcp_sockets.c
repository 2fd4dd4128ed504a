// Whose connection sent segments again: a real one between two network namespaces, through a queue that drops. What is told
// of it is held against its own getsockopt(TCP_INFO) and against the kernel's counter of the namespace.
// Needs root, `ip`, `tc` and its tbf; says what it skips.
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sources/tcp/tcp_diag.h"
#include "sources/tcp/tcp_sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SENDER, RECEIVER, SPACES, PORT = 5401, ENOUGH = 20, BLOCK = 65536, BLOCKS_MOST = 2000 };
static int space[SPACES];
static const char *why_not;

static void enter(int which)
{
    if (setns(space[which], CLONE_NEWNET)) fail_msg("setns: %s", strerror(errno));
}

static bool run(int which, const char *command)
{
    enter(which);
    return system(command) == 0;
}

static bool make_space(int which)
{
    if (unshare(CLONE_NEWNET)) return false;
    space[which] = open("/proc/self/ns/net", O_RDONLY);
    return space[which] >= 0 && run(which, "ip link set lo up");
}

static bool make_link(void)
{
    char command[160];
    snprintf(command, sizeof command, "ip link add e0 type veth peer name e1 netns /proc/%d/fd/%d", (int)getpid(),
             space[RECEIVER]);
    return run(SENDER, command) && run(SENDER, "ip address add 10.96.0.1/24 dev e0 && ip link set e0 up") &&
           run(RECEIVER, "ip address add 10.96.0.2/24 dev e1 && ip link set e1 up") &&
           run(SENDER, "tc qdisc add dev e0 root tbf rate 50mbit burst 4k limit 10k 2>/dev/null");
}

static int group_setup(void **state)
{
    (void)state;
    if (geteuid())
        why_not = "needs root";
    else if (system("ip -V >/dev/null 2>&1") || system("tc -V >/dev/null 2>&1"))
        why_not = "needs the commands ip and tc";
    else if (!make_space(SENDER) || !make_space(RECEIVER))
        why_not = "needs network namespaces";
    else if (!make_link())
        why_not = "needs veth and tc's tbf";
    if (why_not) print_message("skipped: %s\n", why_not);
    return 0;
}

// ---- a connection ----

static int bound_socket(int which)
{
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    int one = 1;
    enter(which);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    assert_int_equal(bind(fd, (const struct sockaddr *)&own, sizeof own), 0);
    assert_int_equal(listen(fd, 1), 0);
    return fd;
}

static struct tcp_info info_of(int fd)
{
    struct tcp_info info;
    socklen_t size = sizeof info;
    memset(&info, 0, sizeof info);
    assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size), 0);
    return info;
}

// A process that reads to the end.
static pid_t start_reader(int listening)
{
    pid_t pid = fork();
    if (pid) return pid;
    static char block[BLOCK];
    int fd = accept(listening, NULL, NULL);
    while (read(fd, block, sizeof block) > 0)
        continue;
    _exit(0);
}

static int connect_sender(void)
{
    struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    inet_pton(AF_INET, "10.96.0.2", &there.sin_addr);
    enter(SENDER);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&there, sizeof there), 0);
    return fd;
}

// Until enough has been sent again and all has arrived.
static void send_through(int fd)
{
    static char block[BLOCK];
    size_t sent = 0;
    for (; info_of(fd).tcpi_total_retrans < ENOUGH && sent < BLOCKS_MOST; sent++)
        assert_int_equal(send(fd, block, sizeof block, 0), sizeof block);
    assert_true(sent < BLOCKS_MOST);
    while (info_of(fd).tcpi_bytes_acked < sent * sizeof block)
        usleep(1000);
}

static uint64_t repeats_of_space(void)
{
    char line[1024];
    uint64_t value = 0;
    bool named = false;
    FILE *f = fopen("/proc/net/snmp", "r");
    assert_non_null(f);
    for (; fgets(line, sizeof line, f); named |= strncmp(line, "Tcp: R", 6) == 0) {
        char *at = line, *word = NULL;
        if (strncmp(line, "Tcp: ", 5) != 0 || !named) continue;
        for (int i = 0; i <= 12; i++) // RetransSegs is the 12th value
            word = strtok_r(i ? NULL : line, " ", &at);
        value = strtoull(word, NULL, 10);
        named = false;
    }
    fclose(f);
    return value;
}

// ---- what is told ----

static char all[512], first[512];
static size_t told;

static void hear(void *user, const char *key, const char *value)
{
    (void)user;
    if (strcmp(key, "tcp_sockets") == 0) snprintf(all, sizeof all, "%s", value);
    if (strcmp(key, "tcp_socket_1") == 0) snprintf(first, sizeof first, "%s", value);
    told++;
}

static void listen_to(tcp_sockets *s, bool since_begin)
{
    all[0] = first[0] = 0;
    told = 0;
    tcp_sockets_facts(s, since_begin, hear, NULL);
}

static uint64_t number(const char *text, const char *key)
{
    char word[64];
    snprintf(word, sizeof word, "%s=", key);
    const char *at = strstr(text, word);
    if (!at) fail_msg("no %s in %s", key, text);
    return strtoull(at + strlen(word), NULL, 10);
}

static void expect_word(const char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void expect_word(const char *text, const char *format, ...)
{
    char word[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(word, sizeof word, format, arguments);
    va_end(arguments);
    if (!strstr(text, word)) fail_msg("no %s in %s", word, text);
}

// ---- tests ----

static void the_connection_that_sent_again(void **state)
{
    (void)state;
    if (why_not) skip();
    int listening = bound_socket(RECEIVER);
    pid_t reader = start_reader(listening);
    close(listening);
    enter(SENDER);
    tcp_sockets *s = tcp_sockets_open();
    if (!s) skip(); // this kernel has no sock_diag
    uint64_t before = repeats_of_space();
    int fd = connect_sender();
    struct sockaddr_in own;
    socklen_t size = sizeof own;
    assert_int_equal(getsockname(fd, (struct sockaddr *)&own, &size), 0);
    send_through(fd);
    tcp_sockets_look_now(s);
    listen_to(s, true);
    struct tcp_info truth = info_of(fd);
    assert_int_equal(number(first, "retransmitted"), truth.tcpi_total_retrans);
    assert_int_equal(number(first, "segments"), truth.tcpi_segs_out);
    assert_int_equal(number(first, "sent"), truth.tcpi_bytes_acked);
    assert_int_equal(number(all, "retransmitted"), repeats_of_space() - before);
    assert_int_equal(number(first, "pid"), getpid());
    expect_word(first, " local=10.96.0.1:%d remote=10.96.0.2:%d ended=0 ", ntohs(own.sin_port), PORT);
    expect_word(first, " command=test_tcp_socke"); // 15 bytes of it are kept by the kernel
    // It ends between two looks: its last figures and its process are not lost.
    uint64_t last = info_of(fd).tcpi_bytes_acked;
    close(fd);
    waitpid(reader, NULL, 0);
    for (int i = 0; i < 500 && number(first, "ended") == 0; i++) {
        tcp_sockets_look_now(s);
        listen_to(s, true);
        usleep(10000);
    }
    expect_word(first, "ended=1 pid=%d", (int)getpid());
    assert_true(number(first, "sent") >= last);
    assert_int_equal(number(all, "incomplete"), 0);
    // From here on nothing was sent again.
    tcp_sockets_begin_anew(s);
    tcp_sockets_look_now(s);
    listen_to(s, true);
    assert_int_equal(number(all, "retransmitted"), 0);
    assert_int_equal(told, 1);
    tcp_sockets_close(s);
}

// To look whose a socket is takes milliseconds, and is not done again for a hundred times as long; at the end it is.
static void the_last_look_knows_whose_it_is(void **state)
{
    (void)state;
    if (why_not) skip();
    tcp_sockets *s = NULL;
    for (int i = 0; i < 2; i++) {
        int listening = bound_socket(RECEIVER);
        pid_t reader = start_reader(listening);
        close(listening);
        enter(SENDER);
        if (!s && !(s = tcp_sockets_open())) skip();
        tcp_sockets_begin_anew(s);
        int fd = connect_sender();
        send_through(fd);
        tcp_sockets_look_now(s);
        listen_to(s, true);
        assert_int_equal(number(first, "pid"), getpid());
        close(fd);
        waitpid(reader, NULL, 0);
        for (int k = 0; k < 500 && number(first, "ended") == 0; k++) {
            tcp_sockets_look_now(s);
            listen_to(s, true);
            usleep(1000);
        }
        assert_int_equal(number(first, "ended"), 1);
    }
    tcp_sockets_close(s);
}

// One that was there before: what it had sent again until then is not of this time.
static void only_since_the_begin(void **state)
{
    (void)state;
    if (why_not) skip();
    int listening = bound_socket(RECEIVER);
    pid_t reader = start_reader(listening);
    close(listening);
    int fd = connect_sender();
    send_through(fd);
    tcp_sockets *s = tcp_sockets_open();
    if (!s) skip();
    tcp_sockets_look_now(s);
    listen_to(s, true);
    assert_int_equal(number(all, "retransmitted"), 0);
    assert_int_equal(told, 1);
    listen_to(s, false); // for a file with one reading: all that it did
    assert_int_equal(number(first, "retransmitted"), info_of(fd).tcpi_total_retrans);
    tcp_sockets_close(s);
    close(fd);
    waitpid(reader, NULL, 0);
}

// A program that does not read leaves bytes in its socket.
static void what_a_program_left_unread(void **state)
{
    (void)state;
    if (why_not) skip();
    enter(SENDER);
    run(SENDER, "tc qdisc del dev e0 root");
    int listening = bound_socket(RECEIVER), room = 8 * BLOCK, waiting = 0;
    setsockopt(listening, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
    int fd = connect_sender(), accepted = accept(listening, NULL, NULL);
    static char block[BLOCK];
    for (int i = 0; i < 4; i++)
        assert_int_equal(send(fd, block, sizeof block, 0), sizeof block);
    while (waiting < 4 * BLOCK) {
        assert_int_equal(ioctl(accepted, FIONREAD, &waiting), 0);
        usleep(1000);
    }
    enter(RECEIVER);
    tcp_sockets *s = tcp_sockets_open();
    if (!s) skip();
    listen_to(s, true);
    assert_int_equal(number(first, "unread"), 4 * BLOCK);
    expect_word(first, " local=10.96.0.2:%d remote=10.96.0.1:", PORT);
    tcp_sockets_close(s);
    close(fd);
    close(accepted);
    close(listening);
}

static void count_one(void *user, const tcp_socket *socket)
{
    (void)socket;
    ++*(size_t *)user;
}

// The answer to a question that was given up lies before that to the next one, which it does not end.
static void an_answer_that_came_late(void **state)
{
    (void)state;
    if (why_not) skip();
    enum { CLOSING = 11 };
    struct {
        struct nlmsghdr head;
        struct inet_diag_req body;
    } earlier = {.head = {.nlmsg_len = sizeof earlier,
                          .nlmsg_type = TCPDIAG_GETSOCK,
                          .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
                          .nlmsg_seq = 4711},
                 .body = {.idiag_family = AF_INET, .idiag_states = 1u << CLOSING}}; // nobody is: it ends at once
    int listening = bound_socket(RECEIVER);
    pid_t reader = start_reader(listening);
    close(listening);
    int fd = connect_sender();
    tcp_diag d;
    if (!tcp_diag_open(&d)) skip(); // this kernel has no sock_diag
    assert_int_equal(send(d.ask, &earlier, sizeof earlier, 0), sizeof earlier);
    assert_int_equal(poll(&(struct pollfd){d.ask, POLLIN, 0}, 1, 10000), 1);
    size_t found = 0;
    assert_true(tcp_diag_list(&d, count_one, &found));
    assert_true(found >= 1);
    tcp_diag_close(&d);
    close(fd);
    assert_int_equal(waitpid(reader, NULL, 0), reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_connection_that_sent_again), cmocka_unit_test(the_last_look_knows_whose_it_is),
        cmocka_unit_test(only_since_the_begin), cmocka_unit_test(what_a_program_left_unread),
        cmocka_unit_test(an_answer_that_came_late)};
    return cmocka_run_group_tests(tests, group_setup, NULL);
}
