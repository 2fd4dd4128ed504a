/* A kernel for the source netdev: links, their statistics and queueing disciplines, events and failures as rtnetlink has
   them. Includes netprof.h with its implementation. */
#ifndef FAKE_RTNETLINK_H
#define FAKE_RTNETLINK_H

#include "fake_netlink.h"

static int fake_socket(int domain, int type, int protocol);
static ssize_t fake_send(int fd, const void *data, size_t size);
static ssize_t fake_recv(int fd, void *data, size_t size, int flags);
static int fake_bind(int fd);
static int fake_close(int fd);
static int fake_ioctl(void *argument);

#define NETPROF_OS_SOCKET(domain, type, protocol) fake_socket(domain, type, protocol)
#define NETPROF_OS_SEND(fd, data, size, flags)    fake_send(fd, data, size)
#define NETPROF_OS_RECV(fd, data, size, flags)    fake_recv(fd, data, size, flags)
#define NETPROF_OS_BIND(fd, address, size)        ((void)(address), (void)(size), fake_bind(fd))
#define NETPROF_OS_CLOSE(fd)                      fake_close(fd)
#define NETPROF_OS_IOCTL(fd, request, argument)   ((void)(fd), (void)(request), fake_ioctl(argument))

#define NETPROF_STATIC
#define NETPROF_IMPLEMENTATION
#include "../../netprof.h"

#include <linux/dcbnl.h>
#include <linux/ethtool.h>
#include <linux/rtnetlink.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* -- the kernel -- */

#define WORDS 25

typedef struct fake_link {
    uint32_t ifindex, master, lower;
    uint32_t namespace; /* of the lower one: its number and 1, or 0: this one */
    const char *name, *kind;
    const char *bus, *bus_device;
    uint32_t carrier, up, down;
    uint32_t mtu, type;
    unsigned char operstate, mac[20];
    size_t mac_size;
    const char *port;       /* IFLA_PHYS_PORT_NAME */
    uint32_t speed, duplex; /* ETHTOOL_GLINKSETTINGS; speed 0: the driver does not know it */
    uint64_t base;          /* statistic i is base + i */
    const char *qdisc;      /* of its root, or NULL */
    uint32_t leaves;        /* queues below the root */
    uint32_t queue[4];      /* drops, overlimits, requeues, backlog of the root; the leaves have the same */
} fake_link;

static struct {
    fake_link links[600];
    size_t count;
    size_t words;                                   /* of struct rtnl_link_stats64 */
    int no_getstats;                                /* EOPNOTSUPP for RTM_GETSTATS */
    int no_carrier_counts;                          /* a kernel before 4.16 */
    size_t page_room;                               /* what a datagram of a dump has at least */
    size_t most_room;                               /* the most that recv() gave this socket */
    int lost;                                       /* how many of the next replies found no room */
    int enobufs, interrupted, busy, eintr, garbage; /* how many of the next replies fail so */
    int no_sockets;                                 /* errno of socket() */
    int no_events;                                  /* errno of bind() */
    int no_queues;                                  /* errno of RTM_GETQDISC */
    int old_queues;                                 /* TCA_STATS alone, as before Linux 2.6.10 */
    int events;                                     /* waiting for the listener */
    int filters;                                    /* as well, of filters and actions */
    int pause, pfc; /* 1: rx, 2: tx; a bit for each priority; -1: the driver does not know */
    /* what happened */
    int stats_dumps, link_dumps, queue_dumps, sockets, open;
    /* the question under way */
    unsigned asked;
    uint32_t sequence;
    size_t next;
    int answered;
    uint32_t only; /* the link that is asked for, or 0: a dump */
    int single;    /* how often one link was asked for */
} kernel;

static inline int fake_socket(int domain, int type, int protocol)
{
    (void)type;
    (void)protocol;
    if (kernel.no_sockets || domain != AF_NETLINK) {
        errno = kernel.no_sockets ? kernel.no_sockets : EAFNOSUPPORT;
        return -1;
    }
    kernel.open++;
    kernel.most_room = 0;
    return FAKE_FD + kernel.sockets++;
}

static inline int fake_bind(int fd)
{
    (void)fd;
    errno = kernel.no_events;
    return kernel.no_events ? -1 : 0;
}

static inline int fake_close(int fd)
{
    if (fd < FAKE_FD) return close(fd);
    kernel.open--;
    return 0;
}

/* ETHTOOL_GLINKSETTINGS: the speed is word 1, the duplex byte 8; byte 15 is 0 in the first question, and the answer to that
   says how many words of masks there are, as a negative number. */
static inline int fake_link_settings(const char *name, uint32_t *words)
{
    enum { MASK_WORDS = 3 };
    unsigned char *bytes = (unsigned char *)words;
    size_t i;
    for (i = 0; i < kernel.count && strcmp(kernel.links[i].name, name) != 0; i++)
        continue;
    if (i == kernel.count || !kernel.links[i].speed) return -1;
    if (bytes[15] != MASK_WORDS) {
        memset(words + 1, 0, 44);
        bytes[15] = (unsigned char)-MASK_WORDS;
        return 0;
    }
    words[1] = kernel.links[i].speed;
    bytes[8] = (unsigned char)kernel.links[i].duplex;
    return 0;
}

/* ETHTOOL_GPAUSEPARAM: cmd, autoneg, rx_pause, tx_pause. */
static inline int fake_ioctl(void *argument)
{
    netprof__ifreq *request = (netprof__ifreq *)argument;
    uint32_t *words = (uint32_t *)request->u.data;
    errno = EOPNOTSUPP;
    if (words[0] == ETHTOOL_GLINKSETTINGS) return fake_link_settings(request->name, words);
    if (words[0] != ETHTOOL_GPAUSEPARAM || kernel.pause < 0) return -1;
    words[2] = (uint32_t)kernel.pause & 1;
    words[3] = (uint32_t)kernel.pause >> 1 & 1;
    return 0;
}

static inline ssize_t fake_send(int fd, const void *data, size_t size)
{
    uint16_t type, flags;
    (void)fd;
    memcpy(&type, (const char *)data + 4, 2);
    memcpy(&flags, (const char *)data + 6, 2);
    memcpy(&kernel.sequence, (const char *)data + 8, 4);
    kernel.asked = type;
    kernel.next = 0;
    kernel.answered = 0;
    kernel.only = 0;
    kernel.stats_dumps += type == 94;
    kernel.link_dumps += type == 18;
    kernel.queue_dumps += type == 38;
    if (type == 94) {
        uint32_t filter;
        assert_int_equal(size, 28);
        memcpy(&filter, (const char *)data + 24, 4);
        assert_int_equal(filter, 1); /* IFLA_STATS_LINK_64 and nothing else */
        if (!(flags & 0x300)) memcpy(&kernel.only, (const char *)data + 20, 4);
        kernel.single += kernel.only != 0;
    }
    return (ssize_t)size;
}

static inline void put_statistics(fake_message *m, unsigned type, const fake_link *l)
{
    uint64_t words[64];
    size_t i;
    for (i = 0; i < kernel.words; i++)
        words[i] = l->base + i;
    put_attr(m, type, words, kernel.words * 8);
}

static inline void put_stats_message(fake_message *m, const fake_link *l, unsigned flags)
{
    uint32_t body[3] = {0, 0, 1};
    body[1] = l->ifindex;
    begin_message(m, 92, kernel.only ? 0 : 2 | flags, kernel.sequence, body, sizeof body);
    put_statistics(m, 1, l);
    end_message(m);
}

static inline void put_link_message(fake_message *m, const fake_link *l, unsigned flags)
{
    uint32_t body[4] = {0};
    static const uint32_t old[23] = {0xdeadbeef}; /* IFLA_STATS, 32 bits: never to be used */
    body[0] = (strcmp(l->name, "lo") == 0 ? 772u : l->type) << 16;
    body[1] = l->ifindex;
    begin_message(m, 16, 2 | flags, kernel.sequence, body, sizeof body);
    put_text(m, 3, l->name);
    if (l->mac_size) put_attr(m, 1, l->mac, l->mac_size);
    put_u32(m, 4, l->mtu);
    put_attr(m, 7, old, sizeof old);
    put_statistics(m, 23, l);
    put_attr(m, 16, &l->operstate, 1);
    if (l->port) put_text(m, 38, l->port);
    put_attr(m, 33, l->carrier ? "\1" : "\0", 1);
    if (!kernel.no_carrier_counts) {
        put_u32(m, 47, l->up);
        put_u32(m, 48, l->down);
    }
    if (l->bus) put_text(m, 57, l->bus);
    if (l->bus) put_text(m, 56, l->bus_device);
    if (l->qdisc) put_text(m, 6, l->qdisc);
    if (l->master) put_u32(m, 10, l->master);
    if (l->lower) put_u32(m, 5, l->lower);
    if (l->namespace) put_u32(m, 37, l->namespace - 1);
    if (l->kind) {
        size_t nest = begin_nest(m, 18);
        put_text(m, 1, l->kind);
        end_nest(m, nest);
    }
    end_message(m);
}

/* struct tcmsg, struct tc_stats and struct gnet_stats_queue, byte by byte as in linux/rtnetlink.h and linux/pkt_sched.h. */
static inline void put_queue_message(fake_message *m, const fake_link *l, uint32_t parent, unsigned flags)
{
    const uint32_t *q = l->queue;
    uint32_t body[5] = {0}, basic[4] = {111, 0, 222, 0};
    uint32_t old[10] = {333, 0, 444, q[0], q[1], 555, 666, 777, q[3], 0};
    uint32_t queue[5] = {888, q[3], q[0], q[2], q[1]};
    body[1] = l->ifindex;
    body[2] = 0x10000;
    body[3] = parent;
    begin_message(m, 36, 2 | flags, kernel.sequence, body, sizeof body);
    put_text(m, 1, l->qdisc);
    if (!kernel.old_queues) {
        size_t nest = begin_nest(m, 7);
        put_attr(m, 1, basic, 12);
        put_attr(m, 3, queue, sizeof queue);
        end_nest(m, nest);
        old[3] = old[4] = old[8] = 999; /* TCA_STATS2 is the one that counts */
    }
    put_attr(m, 3, old, 36);
    end_message(m);
}

static inline void put_queue_messages(fake_message *m, const fake_link *l, unsigned flags)
{
    uint32_t i;
    for (i = 0; l->qdisc && i < l->leaves; i++)
        put_queue_message(m, l, 0x10001 + i, flags);
    if (l->qdisc && strcmp(l->qdisc, "noqueue") != 0) put_queue_message(m, l, 0xffffffff, flags);
}

/* As dcbnl_ieee_get() in net/dcb/dcbnl.c: the name, nested what 802.1Qaz says (ETS, PFC), and how DCBX runs. */
static inline void put_pfc_answer(fake_message *m)
{
    const struct dcbmsg head = {AF_UNSPEC, DCB_CMD_IEEE_GET, 0};
    struct ieee_ets ets;
    struct ieee_pfc pfc;
    const uint8_t dcbx = DCB_CAP_DCBX_HOST;
    size_t nest;
    if (kernel.pfc < 0) {
        put_error(m, kernel.sequence, EOPNOTSUPP);
        return;
    }
    memset(&ets, 0xff, sizeof ets);
    memset(&pfc, 0xff, sizeof pfc);
    pfc.pfc_en = (uint8_t)kernel.pfc;
    begin_message(m, RTM_GETDCB, 0, kernel.sequence, &head, sizeof head);
    put_text(m, DCB_ATTR_IFNAME, "zz_port");
    nest = begin_nest(m, DCB_ATTR_IEEE);
    put_attr(m, DCB_ATTR_IEEE_ETS, &ets, sizeof ets);
    put_attr(m, DCB_ATTR_IEEE_PFC, &pfc, sizeof pfc);
    end_nest(m, nest);
    put_attr(m, DCB_ATTR_DCBX, &dcbx, sizeof dcbx);
    end_message(m);
}

static inline int fails(int *how_often, int code)
{
    if (!*how_often) return 0;
    --*how_often;
    errno = code;
    return 1;
}

/* The statistics of one link, or that there is no such link. */
static inline void put_only(fake_message *m)
{
    for (size_t i = 0; i < kernel.count; i++)
        if (kernel.links[i].ifindex == kernel.only) {
            put_stats_message(m, &kernel.links[i], 0);
            return;
        }
    put_error(m, kernel.sequence, ENODEV);
}

static inline ssize_t fake_recv(int fd, void *data, size_t size, int flags)
{
    fake_message m;
    unsigned intr = kernel.interrupted ? 0x10 : 0;
    size_t room;
    (void)fd;
    m.size = 0;
    if (size > kernel.most_room) kernel.most_room = size;
    room = kernel.most_room > kernel.page_room ? kernel.most_room : kernel.page_room;
    if (fails(&kernel.eintr, EINTR) || fails(&kernel.enobufs, ENOBUFS)) return -1;
    assert_int_equal(!!(flags & MSG_DONTWAIT), !kernel.no_events);
    if (fails(&kernel.lost, EAGAIN)) return -1;
    if (kernel.events && kernel.events--) {
        uint32_t body[4] = {1u << 16, 7};
        /* of a change that was asked for by number, as ours are */
        begin_message(&m, kernel.events & 1 ? 36 : 16, 0, kernel.sequence, body, sizeof body);
        end_message(&m);
        memcpy(data, m.data, m.size);
        return (ssize_t)m.size;
    }
    if (kernel.filters && kernel.filters--) {
        uint32_t body[5] = {0, 5};
        begin_message(&m, kernel.filters & 1 ? 44 : 48, 0, kernel.sequence, body, sizeof body);
        end_message(&m);
        memcpy(data, m.data, m.size);
        return (ssize_t)m.size;
    }
    if (fails(&kernel.garbage, 0)) {
        memset(data, 0xa5, 100);
        return 100;
    }
    if (kernel.answered) {
        errno = EAGAIN;
        return -1;
    }
    kernel.answered = 1;
    if (fails(&kernel.busy, 0)) {
        put_error(&m, kernel.sequence, EBUSY);
    } else if (kernel.asked == RTM_GETDCB) {
        put_pfc_answer(&m);
    } else if (kernel.asked == 94 && kernel.no_getstats) {
        put_error(&m, kernel.sequence, EOPNOTSUPP);
    } else if (kernel.asked == 38 && kernel.no_queues) {
        put_error(&m, kernel.sequence, kernel.no_queues);
    } else if (kernel.only) {
        put_only(&m);
    } else {
        put_done(&m, 0, kernel.sequence - 1); /* of an earlier question: to be passed over */
        for (; kernel.next < kernel.count; kernel.next++) {
            size_t before = m.size;
            if (kernel.asked == 94)
                put_stats_message(&m, &kernel.links[kernel.next], intr);
            else if (kernel.asked == 38)
                put_queue_messages(&m, &kernel.links[kernel.next], intr);
            else
                put_link_message(&m, &kernel.links[kernel.next], intr);
            if (m.size > room) {
                m.size = before;
                break;
            }
        }
        if (kernel.next == kernel.count && m.size + 20 <= room) {
            put_done(&m, intr, kernel.sequence);
            kernel.interrupted -= kernel.interrupted > 0;
        } else {
            kernel.answered = 0;
        }
    }
    assert_true(m.size <= size || flags & MSG_TRUNC);
    memcpy(data, m.data, m.size < size ? m.size : size);
    return (ssize_t)m.size;
}

static inline fake_link *add_link(uint32_t ifindex, const char *name, uint64_t base)
{
    fake_link *l = &kernel.links[kernel.count++];
    memset(l, 0, sizeof *l);
    l->ifindex = ifindex;
    l->name = name;
    l->carrier = 1;
    l->up = 2;
    l->down = 1;
    l->mtu = 1500;
    l->type = 1;
    l->operstate = 6;
    l->base = base;
    return l;
}

static inline int setup(void **state)
{
    (void)state;
    memset(&kernel, 0, sizeof kernel);
    kernel.words = WORDS;
    kernel.page_room = 3776;
    kernel.pause = kernel.pfc = -1;
    add_link(1, "lo", 1000);
    add_link(5, "zz_a", 5000);
    add_link(9, "zz_b", 9000);
    return 0;
}

static inline netprof *open_with(const char *include, int no_rescan)
{
    netprof_config c;
    netprof_error e;
    netprof *np;
    memset(&c, 0, sizeof c);
    c.sources = "netdev";
    c.include = include;
    c.no_rescan = no_rescan;
    c.root = "";
    if (netprof_open(&np, &c, &e) != NETPROF_OK) fail_msg("open: %s %s", e.path, e.text);
    return np;
}

static inline netprof_snapshot take(netprof *np, netprof_set set)
{
    netprof_snapshot s = NETPROF_ZERO;
    assert_int_equal(netprof_take(np, &s, set, NULL), NETPROF_OK);
    return s;
}

/* Status of a counter, its value in *value. */
static inline int get(const netprof_snapshot *s, const char *device, const char *counter, uint64_t *value)
{
    size_t i = netprof_find(s->schema, "netdev", device, counter);
    if (i == NETPROF_NONE) return -1;
    *value = s->values[i];
    return s->status[i];
}

static inline void assert_value(const netprof_snapshot *s, const char *device, const char *counter, uint64_t expected)
{
    uint64_t value = 0;
    int status = get(s, device, counter, &value);
    if (status != NETPROF_STATUS_OK || value != expected)
        fail_msg("%s/%s: status %d, value %llu instead of %llu", device, counter, status, (unsigned long long)value,
                 (unsigned long long)expected);
}

static inline void assert_status(const netprof_snapshot *s, const char *device, const char *counter, int expected)
{
    uint64_t value;
    assert_int_equal(get(s, device, counter, &value), expected);
}

/* In the order of struct rtnl_link_stats64 of linux/if_link.h. */
static const char *const order[WORDS] = {
    "rx_packets",       "tx_packets",        "rx_bytes",          "tx_bytes",        "rx_errors",
    "tx_errors",        "rx_dropped",        "tx_dropped",        "multicast",       "collisions",
    "rx_length_errors", "rx_over_errors",    "rx_crc_errors",     "rx_frame_errors", "rx_fifo_errors",
    "rx_missed_errors", "tx_aborted_errors", "tx_carrier_errors", "tx_fifo_errors",  "tx_heartbeat_errors",
    "tx_window_errors", "rx_compressed",     "tx_compressed",     "rx_nohandler",    "rx_otherhost_dropped"};

static inline void assert_statistics(const netprof_snapshot *s, const char *device, uint64_t base)
{
    size_t i;
    for (i = 0; i < WORDS; i++)
        assert_value(s, device, order[i], base + i);
}
static inline void set_queue(fake_link *l, const char *qdisc, uint32_t drops, uint32_t overlimits, uint32_t requeues,
                             uint32_t backlog)
{
    l->qdisc = qdisc;
    l->queue[0] = drops;
    l->queue[1] = overlimits;
    l->queue[2] = requeues;
    l->queue[3] = backlog;
}

static inline void assert_queue(const netprof_snapshot *s, const char *device, uint64_t drops, uint64_t overlimits,
                                uint64_t requeues, uint64_t backlog)
{
    assert_value(s, device, "qdisc_drops", drops);
    assert_value(s, device, "qdisc_overlimits", overlimits);
    assert_value(s, device, "qdisc_requeues", requeues);
    assert_value(s, device, "qdisc_backlog", backlog);
}
static inline void assert_fact(const netprof_snapshot *s, size_t device, const char *key, const char *expected)
{
    const char *text = netprof_fact_of(s->schema->devices[device].facts, s->schema->devices[device].fact_count, key);
    if (expected) {
        assert_non_null(text);
        assert_string_equal(text, expected);
    } else {
        assert_null(text);
    }
}

#endif
