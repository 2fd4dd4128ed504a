#define _GNU_SOURCE
#include "tcp_sockets.h"

#include "tcp_diag.h"
#include "tcp_owner.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { KEPT_MOST = 4096, LIVE_MOST = 1 << 20, TOLD_MOST = 32, UNREAD_LEAST = 65536 };
static const int64_t LOOK_LEAST_NS = 1000000000, LOOK_PART = 2000;
static const int64_t EARLY_NS = INT64_C(2000000000), EARLY_PART = 100; // a run of seconds is looked at often enough
static const uint64_t BYTES_WORTH_A_NAME = 1000000;                    // it may be what sends something again later

struct tcp_sockets {
    tcp_diag diag;
    tcp_socket *items; // by cookie, but those of the look at hand
    size_t count, sorted, room;
    int64_t begin_ns, next_ns, owners_next_ns; // CLOCK_MONOTONIC
    uint64_t looks, cost_ns;
    uint64_t seen, dropped, dropped_retransmitted, dropped_segments; // connections; ended ones that are not kept
    bool first, incomplete;
};

static int64_t tcp_sockets_clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// ---- keeping ----

static int tcp_sockets_compare(const void *a, const void *b)
{
    const tcp_socket *x = a, *y = b;
    return x->cookie < y->cookie ? -1 : x->cookie > y->cookie;
}

static uint64_t tcp_sockets_grown(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

static uint64_t tcp_sockets_again(const tcp_socket *x)
{
    return tcp_sockets_grown(x->retransmitted, x->retransmitted_before);
}

static void tcp_sockets_update(tcp_socket *to, const tcp_socket *now)
{
    to->retransmitted = now->retransmitted;
    to->segments = now->segments;
    to->sent = now->sent;
    to->received = now->received;
    if (now->rtt_us) to->rtt_us = now->rtt_us;
    if (!now->ended) to->cwnd = now->cwnd; // the kernel tells the end when it has given up the window
    if (!now->ended) to->inode = now->inode;
    if (now->unread > to->unread) to->unread = now->unread;
    to->ended |= now->ended;
    to->listed = true;
}

static void tcp_sockets_visit(void *user, const tcp_socket *now)
{
    tcp_sockets *s = user;
    tcp_socket *known = s->sorted ? bsearch(now, s->items, s->sorted, sizeof *now, tcp_sockets_compare) : NULL;
    for (size_t i = s->sorted; !known && now->ended && i < s->count; i++) // began and ended between two looks
        if (s->items[i].cookie == now->cookie) known = &s->items[i];
    if (known) {
        tcp_sockets_update(known, now);
        return;
    }
    if (s->count == s->room) {
        size_t room = s->room ? 2 * s->room : 64;
        tcp_socket *longer = room > LIVE_MOST ? NULL : realloc(s->items, room * sizeof *longer);
        s->incomplete |= !longer;
        if (!longer) return;
        s->items = longer;
        s->room = room;
    }
    tcp_socket *new = &s->items[s->count++];
    *new = *now;
    new->listed = true;
    s->seen++;
    if (!s->first) return; // it began since
    new->retransmitted_before = now->retransmitted;
    new->segments_before = now->segments;
    new->sent_before = now->sent;
    new->received_before = now->received;
}

// Of those that ended, the ones that sent something again are kept, while there is room.
static void tcp_sockets_drop_ended(tcp_sockets *s)
{
    size_t kept = 0, ended = 0;
    for (size_t i = 0; i < s->count; i++) {
        tcp_socket *x = &s->items[i];
        x->ended |= !x->listed;
        bool keep = !x->ended || ((tcp_sockets_again(x) || x->unread >= UNREAD_LEAST) && ended++ < KEPT_MOST);
        if (keep) {
            s->items[kept++] = *x;
            continue;
        }
        s->dropped++;
        s->dropped_retransmitted += tcp_sockets_again(x);
        s->dropped_segments += tcp_sockets_grown(x->segments, x->segments_before);
    }
    s->count = kept;
}

static bool tcp_sockets_is_worth_a_name(const tcp_socket *x)
{
    return tcp_sockets_again(x) || x->retransmitted || x->unread >= UNREAD_LEAST || x->sent >= BYTES_WORTH_A_NAME ||
           x->received >= BYTES_WORTH_A_NAME;
}

// How long to wait after what took so long.
static int64_t tcp_sockets_pause(const tcp_sockets *s, int64_t now, int64_t took)
{
    return took * (now - s->begin_ns < EARLY_NS ? EARLY_PART : LOOK_PART);
}

static void tcp_sockets_find_owners(tcp_sockets *s, bool now)
{
    int64_t begin = tcp_sockets_clock_ns(CLOCK_MONOTONIC), used = tcp_sockets_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (!now && begin < s->owners_next_ns) return;
    tcp_owner_find(s->items, s->count, tcp_sockets_is_worth_a_name);
    s->owners_next_ns = begin + tcp_sockets_pause(s, begin, tcp_sockets_clock_ns(CLOCK_THREAD_CPUTIME_ID) - used);
}

static bool tcp_sockets_any_vanished(const tcp_sockets *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (!s->items[i].listed) return true;
    return false;
}

// The kernel tells of an end a little after the socket is gone from its list, on a busy machine milliseconds.
static bool tcp_sockets_await_ends(tcp_sockets *s, int64_t patience_ns)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    int64_t end = tcp_sockets_clock_ns(CLOCK_MONOTONIC) + patience_ns;
    bool told = tcp_diag_ended(&s->diag, tcp_sockets_visit, s);
    while (told && tcp_sockets_any_vanished(s) && tcp_sockets_clock_ns(CLOCK_MONOTONIC) < end) {
        nanosleep(&pause, NULL);
        told = tcp_diag_ended(&s->diag, tcp_sockets_visit, s);
    }
    // By figures that are not those of its end.
    if (patience_ns && tcp_sockets_any_vanished(s)) s->incomplete = true;
    return told;
}

static void tcp_sockets_look_patiently(tcp_sockets *s, int64_t patience_ns)
{
    int64_t begin = tcp_sockets_clock_ns(CLOCK_MONOTONIC), used = tcp_sockets_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    for (size_t i = 0; i < s->count; i++)
        s->items[i].listed = s->items[i].ended;
    bool whole = tcp_diag_list(&s->diag, tcp_sockets_visit, s);
    // What ended meanwhile is in the list, or is not, and comes last: with the figures at its end.
    for (size_t i = 0; i < s->count && !whole; i++)
        s->items[i].listed = true;
    bool told = tcp_sockets_await_ends(s, patience_ns);
    s->incomplete |= !whole || !told;
    tcp_sockets_drop_ended(s);
    if (s->count) qsort(s->items, s->count, sizeof *s->items, tcp_sockets_compare);
    s->sorted = s->count;
    tcp_sockets_find_owners(s, s->first || patience_ns);
    s->first = false;
    int64_t took = tcp_sockets_clock_ns(CLOCK_THREAD_CPUTIME_ID) - used, pause = tcp_sockets_pause(s, begin, took);
    s->looks++;
    s->cost_ns += (uint64_t)took;
    s->next_ns = begin + (pause > LOOK_LEAST_NS ? pause : LOOK_LEAST_NS);
}

void tcp_sockets_look_now(tcp_sockets *s)
{
    enum { PATIENCE_NS = 200000000 };
    if (s) tcp_sockets_look_patiently(s, PATIENCE_NS);
}

void tcp_sockets_look(tcp_sockets *s)
{
    // A little early is better than a whole tick late.
    if (s && tcp_sockets_clock_ns(CLOCK_MONOTONIC) >= s->next_ns - LOOK_LEAST_NS / 20) tcp_sockets_look_patiently(s, 0);
}

tcp_sockets *tcp_sockets_open(void)
{
    tcp_sockets *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->first = true;
    s->begin_ns = tcp_sockets_clock_ns(CLOCK_MONOTONIC);
    if (tcp_diag_open(&s->diag)) tcp_sockets_look_patiently(s, 0);
    if (s->looks && !s->incomplete) return s;
    // No sock_diag in this kernel, or not for us.
    if (s->count) return s;
    tcp_sockets_close(s);
    return NULL;
}

void tcp_sockets_close(tcp_sockets *s)
{
    if (!s) return;
    tcp_diag_close(&s->diag);
    free(s->items);
    free(s);
}

void tcp_sockets_begin_anew(tcp_sockets *s)
{
    size_t kept = 0;
    for (size_t i = 0; s && i < s->count; i++) {
        tcp_socket *x = &s->items[i];
        if (x->ended) continue;
        x->retransmitted_before = x->retransmitted;
        x->segments_before = x->segments;
        x->sent_before = x->sent;
        x->received_before = x->received;
        x->unread = 0;
        s->items[kept++] = *x;
    }
    if (!s) return;
    s->count = s->sorted = kept;
    s->seen = kept;
    s->dropped = s->dropped_retransmitted = s->dropped_segments = 0;
    s->incomplete = false;
}

// ---- telling ----

static int tcp_sockets_by_again(const void *a, const void *b)
{
    const tcp_socket *x = *(tcp_socket *const *)a, *y = *(tcp_socket *const *)b;
    uint64_t p = tcp_sockets_again(x), q = tcp_sockets_again(y);
    if (p != q) return p > q ? -1 : 1;
    if (x->unread != y->unread) return x->unread > y->unread ? -1 : 1;
    return tcp_sockets_compare(x, y);
}

// "10.0.0.1:5201", "[fe80::1]:22"; an IPv4 address that an IPv6 socket has is written as one.
static void tcp_sockets_place(char *text, size_t size, const tcp_socket *x, const unsigned char *address, uint16_t port)
{
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
    char name[INET6_ADDRSTRLEN] = "?";
    bool four = x->family == AF_INET, in_six = !four && memcmp(address, mapped, sizeof mapped) == 0;
    inet_ntop(four || in_six ? AF_INET : AF_INET6, in_six ? address + sizeof mapped : address, name, sizeof name);
    snprintf(text, size, four || in_six ? "%s:%u" : "[%s]:%u", name, (unsigned)port);
}

static void tcp_sockets_text(char *text, size_t size, const tcp_socket *x)
{
    char local[80], remote[80], process[32] = "";
    tcp_sockets_place(local, sizeof local, x, x->local, x->local_port);
    tcp_sockets_place(remote, sizeof remote, x, x->remote, x->remote_port);
    if (x->pid) snprintf(process, sizeof process, " pid=%ld", (long)x->pid);
    snprintf(text, size,
             "cookie=%" PRIx64 " retransmitted=%" PRIu64 " segments=%" PRIu64 " sent=%" PRIu64 " received=%" PRIu64
             " unread=%" PRIu32 " rtt_us=%" PRIu32 " cwnd=%" PRIu32 " uid=%" PRIu32
             " local=%s remote=%s ended=%d%s%s%s",
             x->cookie, tcp_sockets_again(x), tcp_sockets_grown(x->segments, x->segments_before),
             tcp_sockets_grown(x->sent, x->sent_before), tcp_sockets_grown(x->received, x->received_before), x->unread,
             x->rtt_us, x->cwnd, x->uid, local, remote, x->ended, process, x->pid ? " command=" : "",
             x->pid ? x->command : "");
}

static void tcp_sockets_forget_begin(tcp_sockets *s)
{
    for (size_t i = 0; i < s->count; i++) {
        tcp_socket *x = &s->items[i];
        x->retransmitted_before = x->segments_before = x->sent_before = x->received_before = 0;
    }
}

void tcp_sockets_facts(tcp_sockets *s, bool since_begin, tcp_sockets_tell *tell, void *user)
{
    char text[512], key[32];
    uint64_t again = s->dropped_retransmitted, segments = s->dropped_segments, worth = 0;
    tcp_socket **order = calloc(s->count + 1, sizeof *order);
    if (!order) return;
    if (!since_begin) tcp_sockets_forget_begin(s);
    for (size_t i = 0; i < s->count; i++) {
        order[i] = &s->items[i];
        again += tcp_sockets_again(order[i]);
        segments += tcp_sockets_grown(order[i]->segments, order[i]->segments_before);
        worth += tcp_sockets_again(order[i]) || order[i]->unread >= UNREAD_LEAST;
    }
    qsort(order, s->count, sizeof *order, tcp_sockets_by_again);
    snprintf(text, sizeof text,
             "since=%s seen=%" PRIu64 " retransmitted=%" PRIu64 " segments=%" PRIu64 " worth=%" PRIu64
             " incomplete=%d looks=%" PRIu64 " cost_us=%" PRIu64,
             since_begin ? "recording" : "connection", s->seen, again, segments, worth, s->incomplete, s->looks,
             s->cost_ns / 1000);
    tell(user, "tcp_sockets", text);
    for (size_t i = 0; i < s->count && i < TOLD_MOST && i < worth; i++) {
        tcp_sockets_text(text, sizeof text, order[i]);
        snprintf(key, sizeof key, "tcp_socket_%zu", i + 1);
        tell(user, key, text);
    }
    free(order);
}
