/* What the plainest recorder does: waking at fixed places in time, and with a file's name, the kernel's statistics of
   all links by one dump of rtnetlink and one write(2) each time. "busy" instead of the rate: work that never sleeps, as
   a job's is. Anchors of tests/bench/overhead; ends by a signal. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int fail(const char *what)
{
    perror(what);
    return 1;
}

/* As many bytes as netprof appends at a tick of few links. */
enum { WRITTEN = 48, ROOM = 3776 };

static int read_and_write(int links, int file, char *reply)
{
    struct {
        struct nlmsghdr head;
        struct if_stats_msg body;
    } request = {
        .head = {.nlmsg_len = sizeof request, .nlmsg_type = RTM_GETSTATS, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
        .body = {.filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64)}};
    if (send(links, &request, sizeof request, 0) < 0) return fail("send");
    for (;;) {
        ssize_t n = recv(links, reply, ROOM, 0);
        if (n <= 0) return fail("recv");
        size_t at = 0, size = (size_t)n;
        while (size - at >= sizeof(struct nlmsghdr)) {
            struct nlmsghdr head;
            memcpy(&head, reply + at, sizeof head);
            if (head.nlmsg_type == NLMSG_DONE) return write(file, reply, WRITTEN) == WRITTEN ? 0 : fail("write");
            if (head.nlmsg_type == NLMSG_ERROR || head.nlmsg_len < sizeof head) return fail("RTM_GETSTATS");
            at += NLMSG_ALIGN(head.nlmsg_len) < size - at ? NLMSG_ALIGN(head.nlmsg_len) : size - at;
        }
    }
}

/* Floating-point work over more memory than the nearest caches hold: what wakes beside it finds them used. */
static _Noreturn void work(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    static volatile double field[1 << 16];
    for (size_t i = 0;; i++)
        field[i % (1 << 16)] = field[(i + 1) % (1 << 16)] * 0.5 + 1;
}

int main(int count, char **arguments)
{
    static char reply[ROOM];
    long hz = count > 1 ? strtol(arguments[1], NULL, 10) : 0;
    int links = -1, file = -1;
    struct timespec next;
    if (count == 2 && strcmp(arguments[1], "busy") == 0) work();
    if (hz < 1 || count > 3) {
        fprintf(stderr, "usage: %s HZ [FILE] | busy\n", *arguments);
        return 2;
    }
    if (count == 3) {
        links = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
        if (links < 0) return fail("socket");
        file = open(arguments[2], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
        if (file < 0) return fail(arguments[2]);
    }
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (;;) {
        next.tv_nsec += 1000000000 / hz;
        if (next.tv_nsec >= 1000000000) next.tv_sec++, next.tv_nsec -= 1000000000;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
        if (file >= 0 && read_and_write(links, file, reply)) return 1;
    }
}
