/* The source ethtool against drivers made of this file: ioctl replies with the traps of real drivers, and replies of
   the generic netlink family "ethtool". */
#include "fake_netlink.h"

#include <fcntl.h>

static int fake_socket(int domain, int protocol);
static ssize_t fake_send(const void *data, size_t size);
static ssize_t fake_recv(void *data, size_t size, int flags);
static int fake_close(int fd);
static int fake_ioctl(unsigned long request, void *argument);
static int fake_openat(int dirfd, const char *path, int flags);

#define NETPROF_OS_SOCKET(domain, type, protocol) ((void)(type), fake_socket(domain, protocol))
#define NETPROF_OS_SEND(fd, data, size, flags)    ((void)(fd), fake_send(data, size))
#define NETPROF_OS_RECV(fd, data, size, flags)    ((void)(fd), fake_recv(data, size, flags))
#define NETPROF_OS_BIND(fd, address, size)        ((void)(fd), (void)(address), (void)(size), 0)
#define NETPROF_OS_CLOSE(fd)                      fake_close(fd)
#define NETPROF_OS_IOCTL(fd, request, argument)   ((void)(fd), fake_ioctl(request, argument))
#define NETPROF_OS_OPENAT(dirfd, path, flags)     fake_openat(dirfd, path, (flags) | O_CLOEXEC)

#define NETPROF_STATIC
#define NETPROF_IMPLEMENTATION
#include "../../netprof.h"

#include "failing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* -- drivers -- */

#define FAMILY 0x21

typedef struct fake_driver {
    const char *name;
    uint32_t ifindex;
    const char *strings[16]; /* up to 32 bytes each */
    uint64_t values[16];
    uint32_t count;
    uint32_t grows_in_between; /* more statistics between the question for the count and the values */
    int no_statistics;         /* errno of GSSET_INFO */
    int refuses;               /* errno of GSTATS */
    /* standard groups */
    int groups, pause, fec, lanes, histogram, link;
    uint64_t base;
} fake_driver;

static struct {
    fake_driver drivers[4];
    size_t count;
    int no_family, no_inet, newest_group, open, asked[64], stats_asked;
    char interfaces[64]; /* path of what stands for /proc/net/dev */
    int events;
    uint16_t type;
    uint32_t sequence;
    unsigned char request[256];
    size_t request_size;
} node;

static int fake_socket(int domain, int protocol)
{
    (void)protocol;
    if (node.no_inet && domain == AF_INET) {
        errno = EAFNOSUPPORT;
        return -1;
    }
    return FAKE_FD + node.open++;
}

static int fake_close(int fd)
{
    if (fd < FAKE_FD) return close(fd);
    node.open--;
    return 0;
}

static int fake_openat(int dirfd, const char *path, int flags)
{
    return openat(dirfd, strstr(path, "/net/dev") ? node.interfaces : path, flags);
}

static void write_interfaces(void)
{
    FILE *f = fopen(node.interfaces, "w");
    size_t i;
    assert_non_null(f);
    fputs("Inter-|   Receive  |  Transmit\n face |bytes packets|bytes packets\n", f);
    for (i = 0; i < node.count; i++)
        fprintf(f, "%6s: 1 2 3 4\n", node.drivers[i].name);
    fclose(f);
}

static fake_driver *driver_named(const char *name)
{
    size_t i;
    for (i = 0; i < node.count; i++)
        if (strcmp(node.drivers[i].name, name) == 0) return &node.drivers[i];
    return NULL;
}

static int refuse(int code)
{
    errno = code;
    return -1;
}

/* What net/ethtool/ioctl.c does with each command; it trusts the caller's buffer as the kernel does. */
static int fake_ethtool(fake_driver *d, void *argument)
{
    uint32_t *words = (uint32_t *)argument, i;
    char *bytes = (char *)argument;
    uint64_t mask, value;
    switch (words[0]) {
    case 0x03: /* GDRVINFO */
        snprintf(bytes + 4, 32, "fake");
        memset(bytes + 36, 'v', 32); /* a version that fills its field */
        snprintf(bytes + 100, 32, "0000:01:00.0");
        return 0;
    case 0x37: /* GSSET_INFO */
        if (d->no_statistics) return refuse(d->no_statistics);
        memcpy(&mask, words + 2, 8);
        assert_int_equal(mask, 2);
        words[4] = d->count;
        return 0;
    case 0x1b: /* GSTRINGS */
        words[2] = d->count;
        for (i = 0; i < d->count; i++)
            strncpy(bytes + 12 + 32 * i, d->strings[i], 32);
        return 0;
    case 0x1d: /* GSTATS */
        node.stats_asked++;
        if (d->refuses) return refuse(d->refuses);
        d->count += d->grows_in_between;
        d->grows_in_between = 0;
        words[1] = d->count;
        for (i = 0; i < d->count; i++) {
            value = d->values[i];
            memcpy(bytes + 8 + 8 * i, &value, 8);
        }
        return 0;
    case 0x4c: /* GLINKSETTINGS, 4 words for each mask */
        if (bytes[15] != 4) {
            memset(words + 1, 0, 44);
            bytes[15] = (char)-4;
            return 0;
        }
        words[1] = 200000;
        bytes[8] = 1;
        memset(words + 12, 0xff, 3 * 4 * 4);
        return 0;
    default: return refuse(EOPNOTSUPP);
    }
}

static int fake_ioctl(unsigned long request, void *argument)
{
    struct {
        char name[16];
        void *data;
    } ifreq;
    fake_driver *d;
    memcpy(&ifreq, argument, sizeof ifreq);
    d = driver_named(ifreq.name);
    if (!d) return refuse(ENODEV);
    if (request == 0x8933) { /* SIOCGIFINDEX */
        int index = (int)d->ifindex;
        memcpy((char *)argument + 16, &index, sizeof index);
        return 0;
    }
    assert_int_equal(request, 0x8946);
    return fake_ethtool(d, ifreq.data);
}

/* -- the family "ethtool" -- */

static ssize_t fake_send(const void *data, size_t size)
{
    assert_true(size <= sizeof node.request);
    memcpy(node.request, data, size);
    node.request_size = size;
    memcpy(&node.type, node.request + 4, 2);
    memcpy(&node.sequence, node.request + 8, 4);
    if (node.type == FAMILY) node.asked[node.request[16]]++;
    return (ssize_t)size;
}

static void put_u64(fake_message *m, unsigned type, uint64_t value)
{
    put_attr(m, 1, NULL, 0); /* the padding that some architectures get */
    put_attr(m, type, &value, 8);
}

static void put_stat(fake_message *m, unsigned type, uint64_t value)
{
    size_t nest = begin_nest(m, 0x8004);
    put_u64(m, type, value);
    end_nest(m, nest);
}

static void put_bucket(fake_message *m, unsigned side, uint32_t low, uint32_t high, uint64_t value)
{
    size_t nest = begin_nest(m, 0x8000 | side);
    put_u32(m, 7, low);
    put_u32(m, 8, high);
    put_u64(m, 9, value);
    end_nest(m, nest);
}

static void put_groups(fake_message *m, const fake_driver *d)
{
    size_t group = begin_nest(m, 0x8004), nest; /* eth-mac */
    put_u32(m, 2, 1);
    put_u32(m, 3, 17);
    put_stat(m, 0, d->base);
    put_stat(m, 1, d->base + 1); /* attribute 1 is also the padding's number */
    put_stat(m, 4, d->base + 4);
    put_stat(m, 60, d->base + 60); /* of a later kernel */
    end_nest(m, group);
    group = begin_nest(m, 0x8004);
    put_u32(m, 2, 0); /* eth-phy: a group without values */
    end_nest(m, group);
    if (!d->histogram) return;
    group = begin_nest(m, 0x8004);
    put_u32(m, 2, 3);
    put_bucket(m, 5, 64, 64, d->base + 100);
    put_bucket(m, 5, 65, 127, d->base + 101);
    put_bucket(m, 5, 1519, 0, d->base + 102);
    put_bucket(m, 6, 64, 64, d->base + 103);
    nest = begin_nest(m, 0x8000 | 5); /* a bucket without a value */
    put_u32(m, 7, 128);
    put_u32(m, 8, 255);
    end_nest(m, nest);
    end_nest(m, group);
}

static void put_reply(fake_message *m, unsigned command, const fake_driver *d)
{
    unsigned char head[4] = {0, 1, 0, 0};
    uint64_t array[9];
    size_t i, nest;
    head[0] = (unsigned char)command;
    begin_message(m, FAMILY, 0, node.sequence, head, 4);
    if (command == 33) put_groups(m, d);
    nest = command == 22 || command == 30 ? begin_nest(m, 0x8005) : 0;
    if (command == 22) {
        put_u64(m, 2, d->base + 200);
        put_u64(m, 3, d->base + 201);
    }
    for (i = 0; i < 9; i++)
        array[i] = d->base + 300 + i;
    if (command == 30) put_attr(m, 2, array, 8 * (1 + (size_t)d->lanes));
    if (nest) end_nest(m, nest);
    if (command == 6) {
        put_attr(m, 2, "\1", 1); /* link: up */
        put_u32(m, 7, (uint32_t)d->base + 400);
    }
    end_message(m);
}

/* As the kernel reads it: a nested header of the interface's index and flags, each an attribute, and the groups of
   STATS_GET. The counts of pause frames and of FEC are told only who asks for them by ETHTOOL_FLAG_STATS. */
static void check_request(unsigned command)
{
    static const struct {
        unsigned command;
        uint16_t header;
        uint32_t flags;
    } known[] = {{32, 2, 0}, {21, 1, 4}, {29, 1, 4}, {6, 1, 0}};
    uint16_t header[2], index[2], asked[2];
    uint32_t flags, length;
    size_t i = 0;
    while (i < sizeof known / sizeof *known && known[i].command != command)
        i++;
    assert_true(i < sizeof known / sizeof *known);
    memcpy(&length, node.request, 4);
    assert_int_equal(length, node.request_size);
    memcpy(header, node.request + 20, 4);
    memcpy(index, node.request + 24, 4);
    memcpy(asked, node.request + 32, 4);
    memcpy(&flags, node.request + 36, 4);
    assert_int_equal(header[0], 4 + 8 + 8);
    assert_int_equal(header[1], 0x8000 | known[i].header);
    assert_true(index[0] == 8 && index[1] == 1 && asked[0] == 8 && asked[1] == 3);
    assert_int_equal(flags, known[i].flags);
    if (command != 32) {
        assert_int_equal(node.request_size, 40);
        return;
    }
    memcpy(header, node.request + 40, 4); /* ETHTOOL_A_STATS_GROUPS: no mask, so many bits, these */
    memcpy(index, node.request + 44, 4);
    memcpy(asked, node.request + 48, 4);
    memcpy(&length, node.request + 52, 4);
    assert_true(header[0] == 4 + 4 + 8 + 8 && header[1] == (0x8000 | 3));
    assert_true(index[0] == 4 && index[1] == 1 && asked[0] == 8 && asked[1] == 2);
    assert_int_equal(node.request_size, 64);
    memcpy(&flags, node.request + 60, 4);
    assert_true(flags && flags >> length == 0);
}

static ssize_t fake_recv(void *data, size_t size, int flags)
{
    fake_message m;
    uint32_t ifindex = 0, groups = 0;
    fake_driver *d = NULL;
    size_t i;
    m.size = 0;
    if (flags & MSG_DONTWAIT) {
        errno = EAGAIN;
        return node.events && node.events-- ? 1 : -1;
    }
    if (node.type == 16) { /* the controller */
        uint16_t id = FAMILY;
        if (node.no_family) {
            put_error(&m, node.sequence, ENOENT);
        } else {
            begin_message(&m, 16, 0, node.sequence, "\1\2\0", 4);
            put_text(&m, 2, "ethtool");
            put_attr(&m, 1, &id, 2);
            end_message(&m);
        }
    } else {
        unsigned command = node.request[16];
        check_request(command);
        memcpy(&ifindex, node.request + 28, 4);
        if (command == 32) memcpy(&groups, node.request + node.request_size - 4, 4);
        for (i = 0; i < node.count; i++)
            if (node.drivers[i].ifindex == ifindex) d = &node.drivers[i];
        if (!d)
            put_error(&m, node.sequence, ENODEV);
        else if (command == 32 && groups > 0xf && !node.newest_group)
            put_error(&m, node.sequence, EINVAL);
        else if (command == 32 && d->groups)
            put_reply(&m, 33, d);
        else if (command == 21 && d->pause)
            put_reply(&m, 22, d);
        else if (command == 29 && d->fec)
            put_reply(&m, 30, d);
        else if (command == 6 && d->link)
            put_reply(&m, 6, d);
        else
            put_error(&m, node.sequence, EOPNOTSUPP);
    }
    assert_true(m.size <= size);
    memcpy(data, m.data, m.size);
    return (ssize_t)m.size;
}

/* -- the tests' tools -- */

static fake_driver *add_driver(const char *name, uint32_t ifindex)
{
    fake_driver *d = &node.drivers[node.count++];
    memset(d, 0, sizeof *d);
    d->name = name;
    d->ifindex = ifindex;
    return d;
}

static void add_string(fake_driver *d, const char *name, uint64_t value)
{
    d->strings[d->count] = name;
    d->values[d->count++] = value;
}

static int setup(void **state)
{
    const char *tmp = getenv("TMPDIR");
    fake_driver *d;
    int fd;
    (void)state;
    memset(&node, 0, sizeof node);
    snprintf(node.interfaces, sizeof node.interfaces, "%s/netprof-ethtool-XXXXXX", tmp ? tmp : "/tmp");
    fd = mkstemp(node.interfaces);
    if (fd < 0) return -1;
    close(fd);
    add_driver("lo", 1)->no_statistics = EOPNOTSUPP;
    d = add_driver("eth0", 4);
    add_string(d, "rx_packets", 10);
    add_string(d, "tx_queue_0_bytes", 11);
    add_string(d, "port.rx_dropped", 12);
    add_string(d, "a name with blanks", 13);
    add_string(d, "exactly_thirty_two_bytes_long_na", 14);
    write_interfaces();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(node.interfaces);
    return 0;
}

static netprof *open_ethtool(const char *include, const char *fast, int no_rescan)
{
    netprof_config c;
    netprof *np;
    memset(&c, 0, sizeof c);
    c.sources = "ethtool";
    c.root = "";
    c.include = include;
    c.fast = fast;
    c.no_rescan = no_rescan;
    netprof_open(&np, &c, NULL);
    assert_non_null(np);
    return np;
}

static netprof_snapshot take(netprof *np, netprof_set set)
{
    netprof_snapshot s = NETPROF_ZERO;
    assert_int_equal(netprof_take(np, &s, set, NULL), NETPROF_OK);
    return s;
}

static const netprof_counter *counter_of(const netprof_snapshot *s, const char *device, const char *counter)
{
    size_t i = netprof_find(s->schema, "ethtool", device, counter);
    return i == NETPROF_NONE ? NULL : &s->schema->counters[i];
}

static void assert_value(const netprof_snapshot *s, const char *device, const char *counter, uint64_t expected)
{
    size_t i = netprof_find(s->schema, "ethtool", device, counter);
    if (i == NETPROF_NONE || s->status[i] != NETPROF_STATUS_OK || s->values[i] != expected)
        fail_msg("%s/%s: status %d, value %llu instead of %llu", device, counter, i == NETPROF_NONE ? -1 : s->status[i],
                 i == NETPROF_NONE ? 0 : (unsigned long long)s->values[i], (unsigned long long)expected);
}

static void assert_status(const netprof_snapshot *s, const char *device, const char *counter, int expected)
{
    size_t i = netprof_find(s->schema, "ethtool", device, counter);
    assert_int_equal(i == NETPROF_NONE ? -1 : s->status[i], expected);
}

/* -- driver statistics -- */

static void trap_odd_counter_names(void **state)
{
    netprof_snapshot s;
    netprof *np;
    fake_driver *d = &node.drivers[1];
    (void)state;
    add_string(d, "rx_packets", 15); /* once more */
    add_string(d, "rx_packets", 16);
    add_string(d, "", 17);
    np = open_ethtool(NULL, NULL, 0);
    s = take(np, NETPROF_SET_ALL);
    assert_int_equal(s.schema->device_count, 1); /* lo: EOPNOTSUPP, and no error */
    assert_int_equal(s.schema->sources[0].status, NETPROF_STATUS_OK);
    assert_value(&s, "eth0", "rx_packets", 10);
    assert_value(&s, "eth0", "tx_queue_0_bytes", 11);
    assert_value(&s, "eth0", "port.rx_dropped", 12);
    assert_value(&s, "eth0", "a name with blanks", 13);
    assert_value(&s, "eth0", "exactly_thirty_two_bytes_long_na", 14); /* no 0 byte in its field */
    assert_value(&s, "eth0", "rx_packets#2", 15);
    assert_value(&s, "eth0", "rx_packets#3", 16);
    assert_value(&s, "eth0", "unnamed", 17);
    netprof_snapshot_free(&s);
    netprof_close(np);
    assert_int_equal(node.open, 0);
}

static void test_facts_of_a_driver(void **state)
{
    netprof *np = open_ethtool(NULL, NULL, 0);
    const netprof_device *d = &netprof_get_schema(np)->devices[0];
    (void)state;
    assert_string_equal(netprof_fact_of(d->facts, d->fact_count, "driver"), "fake");
    assert_int_equal(strlen(netprof_fact_of(d->facts, d->fact_count, "version")), 32);
    assert_string_equal(netprof_fact_of(d->facts, d->fact_count, "bus"), "0000:01:00.0");
    assert_null(netprof_fact_of(d->facts, d->fact_count, "fw_version"));
    assert_int_equal(d->identity, 4);
    assert_int_equal(d->flags, 0); /* its numbers overlap: never added up */
    netprof_close(np);
}

static void trap_ethtool_count_changes(void **state)
{
    netprof_snapshot s;
    netprof *np = open_ethtool(NULL, NULL, 1);
    fake_driver *d = &node.drivers[1];
    int asked;
    (void)state;
    /* more queues: a new column in front of the others */
    memmove(d->strings + 1, d->strings, d->count * sizeof *d->strings);
    memmove(d->values + 1, d->values, d->count++ * sizeof *d->values);
    d->strings[0] = "first";
    d->values[0] = 99;
    s = take(np, NETPROF_SET_ALL);
    asked = node.stats_asked;
    assert_int_equal(asked, 0); /* nothing is written over a buffer made for fewer */
    assert_status(&s, "eth0", "rx_packets", NETPROF_STATUS_ABSENT);
    assert_status(&s, "eth0", "port.rx_dropped", NETPROF_STATUS_ABSENT);
    netprof_snapshot_free(&s);
    netprof_close(np);

    np = open_ethtool(NULL, NULL, 0); /* and with rescans: found within the same take */
    d->grows_in_between = 1;
    d->strings[d->count] = "last";
    d->values[d->count] = 100;
    s = take(np, NETPROF_SET_ALL);
    assert_value(&s, "eth0", "first", 99);
    assert_value(&s, "eth0", "rx_packets", 10);
    assert_value(&s, "eth0", "last", 100);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void test_a_driver_that_refuses(void **state)
{
    netprof *np = open_ethtool(NULL, NULL, 0);
    netprof_snapshot s;
    (void)state;
    node.drivers[1].refuses = EPERM;
    s = take(np, NETPROF_SET_ALL);
    assert_status(&s, "eth0", "rx_packets", NETPROF_STATUS_DENIED);
    netprof_snapshot_free(&s);
    node.drivers[1].refuses = 0;
    s = take(np, NETPROF_SET_ALL);
    assert_value(&s, "eth0", "rx_packets", 10);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void test_interfaces_that_come_and_go(void **state)
{
    netprof *np = open_ethtool(NULL, NULL, 0);
    netprof_snapshot s;
    fake_driver *d;
    (void)state;
    d = add_driver("eth1", 5);
    add_string(d, "tx_bytes", 77);
    write_interfaces();
    node.events = 1;
    s = take(np, NETPROF_SET_ALL);
    assert_value(&s, "eth1", "tx_bytes", 77);
    netprof_snapshot_free(&s);
    node.count--;
    write_interfaces(); /* no event: reading tells */
    s = take(np, NETPROF_SET_ALL);
    assert_int_equal(s.schema->device_count, 1);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void test_units_of_names(void **state)
{
    static const struct {
        const char *name, *unit;
        int kind;
    } rows[] = {{"rx_queue_0_bytes", "bytes", NETPROF_KIND_COUNTER},
                {"rx_bytes_phy", "bytes", NETPROF_KIND_COUNTER},
                {"rx_65_to_127_bytes_phy", "packets", NETPROF_KIND_HISTOGRAM},
                {"rx_65b_127b_frames", "packets", NETPROF_KIND_HISTOGRAM},
                {"port.tx_size_1522", "packets", NETPROF_KIND_HISTOGRAM},
                {"[0]: rx_ucast_packets", "packets", NETPROF_KIND_COUNTER},
                {"TxOctets", "bytes", NETPROF_KIND_COUNTER},
                {"rx_discards_phy", "packets", NETPROF_KIND_COUNTER},
                {"rx_crc_errors_phy", "errors", NETPROF_KIND_COUNTER},
                {"rx_prio3_pause", "packets", NETPROF_KIND_COUNTER},
                {"rx_prio3_pause_duration", "", NETPROF_KIND_COUNTER},
                {"tx_timeout", "events", NETPROF_KIND_COUNTER},
                {"peer_ifindex", "", NETPROF_KIND_STATE},
                {"interrupts", "", NETPROF_KIND_COUNTER},
                {"ch0_poll", "", NETPROF_KIND_COUNTER}};
    size_t i;
    (void)state;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        netprof_counter c;
        netprof__ethtool_describe(&c, rows[i].name);
        if (strcmp(c.unit, rows[i].unit) != 0 || c.kind != rows[i].kind || c.width)
            fail_msg("%s: unit \"%s\", kind %d, width %d", rows[i].name, c.unit, c.kind, c.width);
    }
}

static void trap_getlinksettings_handshake(void **state)
{
    uint32_t speed = 0;
    unsigned duplex = 9;
    (void)state;
    assert_int_equal(netprof__link_settings(FAKE_FD, "eth0", &speed, &duplex), 0);
    assert_int_equal(speed, 200000);
    assert_int_equal(duplex, 1);
    assert_int_equal(netprof__link_settings(FAKE_FD, "gone", &speed, &duplex), ENODEV);
}

/* -- standard groups -- */

static void test_standard_groups(void **state)
{
    netprof_snapshot s;
    netprof *np;
    fake_driver *d = &node.drivers[1];
    (void)state;
    d->groups = d->pause = d->fec = d->histogram = d->link = 1;
    d->lanes = 2;
    d->base = 1000;
    node.events = 1; /* of before: no reason to look again */
    np = open_ethtool(NULL, NULL, 0);
    s = take(np, NETPROF_SET_ALL);
    assert_int_equal(s.not_ok, 0);
    assert_value(&s, "eth0", "eth-mac/FramesTransmittedOK", 1000);
    assert_value(&s, "eth0", "eth-mac/SingleCollisionFrames", 1001);
    assert_value(&s, "eth0", "eth-mac/FrameCheckSequenceErrors", 1004);
    assert_value(&s, "eth0", "eth-mac/stat_60", 1060);
    assert_status(&s, "eth0", "eth-mac/FramesReceivedOK", -1); /* missing is not 0 */
    assert_value(&s, "eth0", "rmon/rx_etherStatsPkts64to64Octets", 1100);
    assert_value(&s, "eth0", "rmon/rx_etherStatsPkts65to127Octets", 1101);
    assert_status(&s, "eth0", "rmon/rx_etherStatsPkts128to255Octets", -1);
    assert_value(&s, "eth0", "rmon/rx_etherStatsPkts1519toMaxOctets", 1102);
    assert_value(&s, "eth0", "rmon/tx_etherStatsPkts64to64Octets", 1103);
    assert_value(&s, "eth0", "pause/tx_pause_frames", 1200);
    assert_value(&s, "eth0", "pause/rx_pause_frames", 1201);
    assert_value(&s, "eth0", "fec/corrected_blocks", 1300);
    assert_value(&s, "eth0", "fec/corrected_blocks_lane0", 1301);
    assert_value(&s, "eth0", "fec/corrected_blocks_lane1", 1302);
    assert_status(&s, "eth0", "fec/corrected_blocks_lane2", -1);
    assert_value(&s, "eth0", "link/down_events", 1400);
    assert_int_equal(counter_of(&s, "eth0", "rmon/rx_etherStatsPkts64to64Octets")->kind, NETPROF_KIND_HISTOGRAM);
    assert_string_equal(counter_of(&s, "eth0", "fec/corrected_blocks")->unit, "blocks");
    assert_int_equal(counter_of(&s, "eth0", "link/down_events")->width, 32);
    assert_int_equal(node.asked[32], 2 + 2 + 1); /* lo and eth0 with the newest group and without it; the sweep */
    netprof_snapshot_free(&s);
    netprof_close(np);
    assert_int_equal(node.open, 0);
}

static void test_statistics_that_come_and_go(void **state)
{
    netprof_snapshot s;
    netprof *np;
    fake_driver *d = &node.drivers[1];
    (void)state;
    d->groups = d->fec = d->histogram = node.newest_group = 1;
    d->base = 1000;
    d->lanes = 4;
    np = open_ethtool(NULL, NULL, 1);
    d->histogram = 0;
    d->fec = 0;
    s = take(np, NETPROF_SET_ALL);
    assert_value(&s, "eth0", "eth-mac/FramesTransmittedOK", 1000);
    assert_status(&s, "eth0", "rmon/rx_etherStatsPkts64to64Octets", NETPROF_STATUS_ABSENT);
    assert_status(&s, "eth0", "fec/corrected_blocks_lane3", NETPROF_STATUS_UNSUPPORTED);
    netprof_snapshot_free(&s);
    netprof_close(np);
    np = open_ethtool(NULL, NULL, 0);
    d->histogram = 1;
    s = take(np, NETPROF_SET_ALL);
    assert_value(&s, "eth0", "rmon/rx_etherStatsPkts64to64Octets", 1100);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void test_nothing_is_asked_that_nobody_wants(void **state)
{
    netprof_snapshot s;
    netprof *np;
    fake_driver *d = &node.drivers[1];
    (void)state;
    d->groups = d->pause = d->fec = 1;
    np = open_ethtool("eth0/pause/*,eth0/rx_packets", "eth0/pause/tx_*", 0);
    memset(node.asked, 0, sizeof node.asked);
    s = take(np, NETPROF_SET_FAST);
    assert_value(&s, "eth0", "pause/tx_pause_frames", 200);
    assert_status(&s, "eth0", "pause/rx_pause_frames", NETPROF_STATUS_SKIPPED);
    assert_status(&s, "eth0", "rx_packets", NETPROF_STATUS_SKIPPED);
    assert_int_equal(node.stats_asked, 0);
    assert_int_equal(node.asked[21], 1);
    netprof_snapshot_free(&s);
    s = take(np, NETPROF_SET_ALL);
    assert_int_equal(s.schema->counter_count, 3);
    assert_value(&s, "eth0", "rx_packets", 10);
    assert_int_equal(node.asked[32] + node.asked[29] + node.asked[6], 0);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void test_a_kernel_without_the_family(void **state)
{
    netprof_snapshot s;
    netprof *np;
    (void)state;
    node.no_family = 1;
    node.no_inet = 1; /* and without IPv4: another socket does */
    node.drivers[1].groups = 1;
    np = open_ethtool(NULL, NULL, 0);
    s = take(np, NETPROF_SET_ALL);
    assert_int_equal(s.schema->counter_count, 5);
    assert_value(&s, "eth0", "rx_packets", 10);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void test_another_root_has_no_ethtool(void **state)
{
    netprof_config c;
    netprof *np;
    const netprof_source_state *row;
    (void)state;
    memset(&c, 0, sizeof c);
    c.sources = "ethtool";
    c.root = "/nonexistent";
    assert_int_equal(netprof_open(&np, &c, NULL), NETPROF_ERR_NOSOURCE);
    row = &netprof_get_schema(np)->sources[0];
    assert_int_equal(row->status, NETPROF_STATUS_ABSENT);
    assert_int_equal(row->sys_errno, 0);
    assert_string_equal(row->path, "SIOCETHTOOL: for this namespace and the root / only");
    assert_int_equal(row->device_count, 0);
    netprof_close(np);
    assert_int_equal(node.open, 0);
}

typedef struct told {
    char text[600];
    int stop_after;
} told;

static int tell_entry(void *user, const netprof__ethtool_entry *e, uint64_t value)
{
    told *t = (told *)user;
    size_t n = strlen(t->text);
    assert_int_equal(e->index, UINT32_MAX);
    snprintf(t->text + n, sizeof t->text - n, "%u.%u.%u.%u=%llu ", e->group, e->item, e->low, e->high,
             (unsigned long long)value);
    return --t->stop_after ? 0 : 77;
}

static void put_odd_bucket(fake_message *m, unsigned side, const uint32_t *low, const uint32_t *high, size_t value_size)
{
    uint64_t value = 500 + side;
    size_t nest = begin_nest(m, 0x8000 | side);
    if (value_size) put_attr(m, 9, &value, value_size);
    if (high) put_u32(m, 8, *high);
    if (low) put_u32(m, 7, *low);
    end_nest(m, nest);
}

/* A group with numbers of one attribute and of several, buckets with all their parts or not, in any order. */
static void put_odd_group(fake_message *m, const uint32_t *group, int last)
{
    const uint64_t lanes[3] = {31, 32, 33};
    const uint32_t low = 65, high = 127;
    size_t nest = begin_nest(m, 0x8000 | 4), stat;
    if (group && !last) put_u32(m, 2, *group);
    stat = begin_nest(m, 0x8000 | 4);
    put_attr(m, 2, &lanes[0], 8);
    put_attr(m, 0, lanes, 4); /* padding */
    put_attr(m, 5, lanes, 24);
    end_nest(m, stat);
    put_odd_bucket(m, 5, &low, &high, 8);
    put_odd_bucket(m, 6, &low, NULL, 8);
    put_odd_bucket(m, 5, NULL, &high, 8);
    put_odd_bucket(m, 6, &low, &high, 0);
    put_odd_bucket(m, 6, &low, &high, 7);
    if (group && last) put_u32(m, 2, *group);
    end_nest(m, nest);
}

static void test_every_entry_of_a_reply(void **state)
{
    static fake_message m;
    const uint32_t group = 1, no_group = NETPROF__GROUP_PAUSE;
    uint64_t value = 41;
    told t = {"", 0};
    size_t nest;
    char text[100];
    (void)state;
    m.size = 0;
    put(&m, "\x21\1\0", 4); /* STATS_GET_REPLY */
    put_odd_group(&m, &group, 0);
    put_odd_group(&m, NULL, 0);
    put_odd_group(&m, &no_group, 1);
    put_odd_group(&m, &group, 1);
    put_u32(&m, 5, 7);
    assert_int_equal(netprof__parse_ethtool(m.data, m.size, tell_entry, &t), 0);
    snprintf(text, sizeof text, "1.2.0.0=31 1.5.0.0=31 1.5.1.0=32 1.5.2.0=33 %u.%u.65.127=505 ", NETPROF__GROUP_RMON,
             NETPROF__HISTOGRAM_RX);
    assert_int_equal(strncmp(t.text, text, strlen(text)), 0);
    snprintf(text, sizeof text, "%u.%u.65.0=506 %u.%u.0.127=505 ", NETPROF__GROUP_RMON, NETPROF__HISTOGRAM_RX + 1,
             NETPROF__GROUP_RMON, NETPROF__HISTOGRAM_RX);
    assert_non_null(strstr(t.text, text));
    assert_int_equal(strlen(t.text) % 2, 0);
    assert_int_equal(strncmp(t.text, t.text + strlen(t.text) / 2, strlen(t.text) / 2), 0); /* both groups alike */
    for (int stop = 1; stop <= 14; stop++) {
        memset(&t, 0, sizeof t);
        t.stop_after = stop;
        assert_int_equal(netprof__parse_ethtool(m.data, m.size, tell_entry, &t), 77);
        assert_int_equal(t.stop_after, 0);
    }
    m.size = 0;
    put(&m, "\6\1\0", 4); /* LINKSTATE_GET_REPLY */
    put_u32(&m, 2, 1);
    put_u32(&m, 3, 51);
    put_attr(&m, 7, "\1\1", 2);
    put_u32(&m, 7, 52);
    memset(&t, 0, sizeof t);
    assert_int_equal(netprof__parse_ethtool(m.data, m.size, tell_entry, &t), 0);
    snprintf(text, sizeof text, "%u.3.0.0=51 %u.7.0.0=52 ", NETPROF__GROUP_LINK, NETPROF__GROUP_LINK);
    assert_string_equal(t.text, text);
    for (unsigned command = 0; command < 40; command++) { /* nests of pause and FEC: their commands alone */
        m.size = 0;
        put(&m, "\0\1\0", 4);
        m.data[0] = (unsigned char)command;
        nest = begin_nest(&m, 0x8000 | 5);
        put_attr(&m, 3, &value, 8);
        end_nest(&m, nest);
        memset(&t, 0, sizeof t);
        assert_int_equal(netprof__parse_ethtool(m.data, m.size, tell_entry, &t), 0);
        snprintf(text, sizeof text, "%u.3.0.0=41 ", command == 22 ? NETPROF__GROUP_PAUSE : NETPROF__GROUP_FEC);
        assert_string_equal(t.text, command == 22 || command == 30 ? text : "");
    }
    assert_int_equal(netprof__parse_ethtool(m.data, 3, tell_entry, &t), 0);
}

/* The requests byte by byte, as in linux/ethtool_netlink.h. */
static void test_requests_of_the_family(void **state)
{
    static const unsigned char pause[44] = {0,  0, 0, 0,    FAMILY, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 21, 1, 0, 0,
                                            20, 0, 1, 0x80, 8,      0, 1, 0, 7, 0, 0, 0, 8, 0, 3, 0, 4,  0, 0, 0};
    static const unsigned char groups[24] = {24, 0, 3, 0x80, 4, 0, 1, 0, 8,   0, 2, 0,
                                             4,  0, 0, 0,    8, 0, 4, 0, 0xf, 0, 0, 0};
    unsigned char request[128];
    (void)state;
    assert_int_equal(netprof__ethtool_request(request, sizeof request, FAMILY, &netprof__ethtool_asks[1], 7, 0xf), 40);
    assert_memory_equal(request, pause, 40);
    assert_int_equal(netprof__ethtool_request(request, sizeof request, FAMILY, &netprof__ethtool_asks[0], 7, 0xf), 64);
    assert_int_equal(request[16], 32);
    assert_int_equal(request[22], 2);
    assert_int_equal(request[36], 0); /* no flags */
    assert_memory_equal(request + 40, groups, 24);
    netprof__ethtool_request(request, sizeof request, FAMILY, &netprof__ethtool_asks[0], 7, 0x1f);
    assert_int_equal(request[52], 5); /* bits */
    assert_int_equal(request[60], 0x1f);
}

/* The number of the family; 0 where the answer has none, or half of one. */
static void test_the_number_of_the_family(void **state)
{
    static fake_message m;
    unsigned family = 9;
    (void)state;
    m.size = 0;
    put(&m, "\1\2\0", 4);
    put_text(&m, 2, "ethtool");
    put_attr(&m, 1, "\x34", 1);
    assert_int_equal(netprof__family_message(&family, 16, m.data, m.size), 0);
    assert_int_equal(family, 9);
    put_attr(&m, 1, "\x34\x12", 2);
    assert_int_equal(netprof__family_message(&family, 16, m.data, m.size), 0);
    assert_int_equal(family, 0x1234);
}

static int count_entries(void *user, const netprof__ethtool_entry *entry, uint64_t value)
{
    (void)value;
    *(size_t *)user += entry->group < 8;
    return 0;
}

/* Every byte of each reply takes values that lengths and types would; sizes shrink to nothing. */
static void test_damaged_replies_of_the_family(void **state)
{
    static const unsigned commands[] = {33, 22, 30, 6};
    fake_message *m = (fake_message *)calloc(1, sizeof *m);
    fake_driver *d = &node.drivers[1];
    size_t i, k, c, count = 0;
    (void)state;
    d->histogram = 1;
    d->lanes = 8;
    for (c = 0; c < 4; c++) {
        m->size = 0;
        put_reply(m, commands[c], d);
        for (i = 0; i + 16 <= m->size; i++) {
            unsigned char *copy = (unsigned char *)malloc(i ? i : 1);
            memcpy(copy, m->data + 16, i); /* cut at byte i */
            netprof__parse_ethtool(copy, i, count_entries, &count);
            free(copy);
        }
        for (i = 0; i + 16 < m->size; i++)
            for (k = 0; k < 256; k += k < 20 || k > 240 ? 1 : 13) {
                unsigned char *copy = (unsigned char *)malloc(m->size - 16);
                memcpy(copy, m->data + 16, m->size - 16);
                copy[i] = (unsigned char)k;
                netprof__parse_ethtool(copy, m->size - 16, count_entries, &count);
                free(copy);
            }
    }
    assert_true(count > 0);
    free(m);
}

static long allocations_left;

static void test_every_allocation_fails_in_turn(void **state)
{
    netprof_alloc a = failing_alloc(&allocations_left);
    int n, done = 0;
    (void)state;
    node.drivers[1].groups = node.drivers[1].fec = node.drivers[1].histogram = 1;
    for (n = 0; !done && n < 1000; n++) {
        netprof_snapshot s = NETPROF_ZERO;
        netprof_config c;
        netprof *np;
        memset(&c, 0, sizeof c);
        c.sources = "ethtool";
        c.root = "";
        c.alloc = &a;
        allocations_left = n;
        if (netprof_open(&np, &c, NULL) == NETPROF_OK) {
            done = netprof_take(np, &s, NETPROF_SET_ALL, NULL) == NETPROF_OK;
            if (done) assert_value(&s, "eth0", "rx_packets", 10);
            netprof_snapshot_free(&s);
            netprof_close(np);
        }
        assert_int_equal(node.open, 0);
    }
    assert_true(done && n > 10);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(trap_odd_counter_names),
        TEST(test_facts_of_a_driver),
        TEST(trap_ethtool_count_changes),
        TEST(test_a_driver_that_refuses),
        TEST(test_interfaces_that_come_and_go),
        TEST(test_units_of_names),
        TEST(trap_getlinksettings_handshake),
        TEST(test_standard_groups),
        TEST(test_statistics_that_come_and_go),
        TEST(test_nothing_is_asked_that_nobody_wants),
        TEST(test_a_kernel_without_the_family),
        TEST(test_another_root_has_no_ethtool),
        TEST(test_the_number_of_the_family),
        TEST(test_requests_of_the_family),
        TEST(test_every_entry_of_a_reply),
        TEST(test_damaged_replies_of_the_family),
        TEST(test_every_allocation_fails_in_turn),
    };
    unsetenv("NETPROF_ROOT");
    unsetenv("NETPROF_INCLUDE");
    unsetenv("NETPROF_EXCLUDE");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
