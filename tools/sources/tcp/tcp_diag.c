#define _GNU_SOURCE
#include "tcp_diag.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { TIME_WAIT = 6, LISTEN = 10, STATES = 12, BUFFER = 65536, EVENTS_BYTES = 4 << 20 };

// ---- one socket ----

// Older kernels tell less: what is missing is 0.
static void tcp_diag_take_info(tcp_socket *to, const void *data, size_t size)
{
    struct tcp_info info;
    memset(&info, 0, sizeof info);
    memcpy(&info, data, size < sizeof info ? size : sizeof info);
    to->retransmitted = info.tcpi_total_retrans;
    to->segments = info.tcpi_segs_out;
    to->sent = info.tcpi_bytes_acked;
    to->received = info.tcpi_bytes_received;
    to->rtt_us = info.tcpi_rtt;
    to->cwnd = info.tcpi_snd_cwnd;
}

// False: it is no message of a socket.
static bool tcp_diag_parse(tcp_socket *to, const struct nlmsghdr *head)
{
    const struct inet_diag_msg *m = NLMSG_DATA(head);
    if (head->nlmsg_len < NLMSG_LENGTH(sizeof *m)) return false;
    *to = (tcp_socket){.family = m->idiag_family,
                       .cookie = (uint64_t)m->id.idiag_cookie[1] << 32 | m->id.idiag_cookie[0],
                       .local_port = ntohs(m->id.idiag_sport),
                       .remote_port = ntohs(m->id.idiag_dport),
                       .uid = m->idiag_uid,
                       .inode = m->idiag_inode,
                       .unread = m->idiag_rqueue};
    memcpy(to->local, m->id.idiag_src, sizeof to->local);
    memcpy(to->remote, m->id.idiag_dst, sizeof to->remote);
    size_t left = head->nlmsg_len - NLMSG_LENGTH(sizeof *m);
    for (const char *at = (const char *)(m + 1); left >= sizeof(struct rtattr);) {
        const struct rtattr *a = (const void *)at;
        size_t size = a->rta_len, step = (size + RTA_ALIGNTO - 1) / RTA_ALIGNTO * RTA_ALIGNTO;
        if (size < sizeof *a || size > left) break;
        if (a->rta_type == INET_DIAG_INFO) tcp_diag_take_info(to, at + RTA_LENGTH(0), size - RTA_LENGTH(0));
        at += step < left ? step : left;
        left -= step < left ? step : left;
    }
    return true;
}

// ---- the kernel ----

// So much is queued of sockets that end while nobody looks; without rights the kernel allows less.
static void tcp_diag_widen(int fd)
{
    int bytes = EVENTS_BYTES;
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes))
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

bool tcp_diag_open(tcp_diag *d)
{
    struct sockaddr_nl ended = {.nl_family = AF_NETLINK,
                                .nl_groups =
                                    1u << (SKNLGRP_INET_TCP_DESTROY - 1) | 1u << (SKNLGRP_INET6_TCP_DESTROY - 1)};
    const struct timeval wait = {.tv_sec = 1}; // a kernel that does not answer holds nobody up
    *d = (tcp_diag){.ask = -1, .events = -1};
    d->ask = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (d->ask < 0) return false;
    setsockopt(d->ask, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    d->events = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);
    if (d->events >= 0) tcp_diag_widen(d->events);
    if (d->events >= 0 && bind(d->events, (const struct sockaddr *)&ended, sizeof ended)) {
        close(d->events); // an old kernel: who ends is then seen as it was last
        d->events = -1;
    }
    return true;
}

void tcp_diag_close(tcp_diag *d)
{
    if (d->ask >= 0) close(d->ask);
    if (d->events >= 0) close(d->events);
    *d = (tcp_diag){.ask = -1, .events = -1};
}

// By the older of the two questions: it is answered for IPv4 and IPv6 at once. Most of the time goes into the kernel's walk
// of its whole table, hundreds of thousands of places in large nodes, however few sockets there are.
static bool tcp_diag_ask(int fd, uint32_t sequence)
{
    struct {
        struct nlmsghdr head;
        struct inet_diag_req body;
    } ask;
    memset(&ask, 0, sizeof ask);
    ask.head.nlmsg_len = sizeof ask;
    ask.head.nlmsg_type = TCPDIAG_GETSOCK;
    ask.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    ask.head.nlmsg_seq = sequence;
    ask.body.idiag_family = AF_INET;
    ask.body.idiag_ext = 1 << (INET_DIAG_INFO - 1);
    ask.body.idiag_states = ((1u << STATES) - 1) & ~(1u << TIME_WAIT) & ~(1u << LISTEN);
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    return sendto(fd, &ask, sizeof ask, 0, (const struct sockaddr *)&kernel, sizeof kernel) == (ssize_t)sizeof ask;
}

typedef enum tcp_diag_state { GOES_ON, DONE, FAILED } tcp_diag_state;

// Without a sequence number: of sockets that ended. Messages of another number answer a question that was given up.
static tcp_diag_state tcp_diag_read(const void *buffer, ssize_t size, const uint32_t *sequence, tcp_diag_visit *visit,
                                    void *user)
{
    size_t left = (size_t)size;
    for (const char *at = buffer; left >= sizeof(struct nlmsghdr);) {
        const struct nlmsghdr *head = (const void *)at;
        size_t length = head->nlmsg_len, step = NLMSG_ALIGN(length);
        tcp_socket one;
        if (length < sizeof *head || length > left) return FAILED;
        at += step < left ? step : left;
        left -= step < left ? step : left;
        if (sequence && head->nlmsg_seq != *sequence) continue;
        if (head->nlmsg_type == NLMSG_DONE) return DONE;
        if (head->nlmsg_type == NLMSG_ERROR) return FAILED;
        if (!tcp_diag_parse(&one, head)) continue;
        one.ended = !sequence;
        visit(user, &one);
    }
    return GOES_ON;
}

bool tcp_diag_list(tcp_diag *d, tcp_diag_visit *visit, void *user)
{
    _Alignas(struct nlmsghdr) char buffer[BUFFER];
    tcp_diag_state state = GOES_ON;
    if (!tcp_diag_ask(d->ask, ++d->sequence)) return false;
    while (state == GOES_ON) {
        ssize_t n = recv(d->ask, buffer, sizeof buffer, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        state = tcp_diag_read(buffer, n, &d->sequence, visit, user);
    }
    return state == DONE;
}

bool tcp_diag_ended(tcp_diag *d, tcp_diag_visit *visit, void *user)
{
    _Alignas(struct nlmsghdr) char buffer[BUFFER];
    bool whole = true;
    if (d->events < 0) return false;
    for (;;) {
        ssize_t n = recv(d->events, buffer, sizeof buffer, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == ENOBUFS) { // the queue was full: what comes now is whole again
            whole = false;
            continue;
        }
        if (n <= 0) return whole;
        tcp_diag_read(buffer, n, NULL, visit, user);
    }
}
