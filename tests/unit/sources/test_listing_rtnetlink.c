/* What the source netdev makes of the messages of rtnetlink, whole: every field of a link, every fact and counter, and the
   requests byte by byte. */
#include "fake_rtnetlink.h"

#include "listing.h"
#include "support.h"

/* -- messages -- */

static void requests_byte_by_byte(void **state)
{
    static const unsigned char head[20] = {0, 0, 0, 0, 94, 0, 1, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    static const unsigned char attributes[28] = {9, 0, 7, 1, 'a', 'b', 'c', 'd', 'e',  0xee, 0xee, 0xee, 4, 0,
                                                 2, 0, 6, 0, 3,   0,   'x', 'y', 0xee, 0xee, 8,    0,    4, 0};
    unsigned char request[64];
    size_t at = 0;
    (void)state;
    memset(request, 0xee, sizeof request);
    netprof__nl_request(request, 20, 94);
    assert_memory_equal(request, head, 20);
    assert_int_equal(request[20], 0xee);
    memset(request, 0xee, sizeof request);
    assert_int_equal(netprof__put_attr(request, &at, 0x107, "abcde", 5), 0);
    assert_int_equal(at, 12);
    assert_int_equal(netprof__put_attr(request, &at, 2, NULL, 0), 12);
    assert_int_equal(at, 16);
    assert_int_equal(netprof__put_attr(request, &at, 3, "xy", 2), 16);
    assert_int_equal(at, 24);
    assert_int_equal(netprof__put_attr(request, &at, 4, "1234", 4), 24);
    assert_int_equal(at, 32);
    assert_memory_equal(request, attributes, 28);
    assert_memory_equal(request + 28, "1234\xee", 5);
}

static void attributes_within_their_bounds(void **state)
{
    unsigned char data[32];
    netprof__attr a;
    size_t at = 0, size;
    (void)state;
    memset(data, 0, sizeof data);
    netprof__put_attr(data, &at, 0xc005, "abc", 3); /* nested, of network order: its type is 5 */
    netprof__put_attr(data, &at, 6, "defg", 4);
    assert_int_equal(at, 16);
    for (size = 0; size <= 16; size++) {
        at = 0;
        assert_int_equal(netprof__next_attr(data, size, &at, &a), size >= 7);
        if (size < 7) continue;
        assert_int_equal(a.type, 5);
        assert_int_equal(a.size, 3);
        assert_ptr_equal(a.data, data + 4);
        assert_int_equal(at, 8); /* may be past the end */
        assert_int_equal(netprof__next_attr(data, size, &at, &a), size == 16);
        if (size < 16) continue;
        assert_int_equal(a.type, 6);
        assert_int_equal(a.size, 4);
        assert_ptr_equal(a.data, data + 12);
        assert_int_equal(netprof__next_attr(data, size, &at, &a), 0);
    }
    for (size = 0; size < 5; size++) { /* lengths below that of the head */
        data[0] = (unsigned char)size;
        at = 0;
        assert_int_equal(netprof__next_attr(data, 16, &at, &a), size == 4);
    }
}

static void texts_of_attributes(void **state)
{
    static const struct {
        const char *data;
        size_t size, room;
        const char *text;
    } rows[] = {{"abc", 4, 8, "abc"}, {"abc", 3, 8, "abc"}, {"abc", 3, 4, "abc"},
                {"abc", 3, 3, "ab"},  {"abc", 0, 3, ""},    {"abc", 3, 1, ""}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[9] = "________";
        netprof__attr a = {0, NULL, 0};
        a.data = (const unsigned char *)rows[i].data;
        a.size = rows[i].size;
        netprof__attr_text(&a, text, rows[i].room);
        assert_string_equal(text, rows[i].text);
        for (size_t k = rows[i].room; k < 8; k++)
            assert_int_equal(text[k], '_');
    }
}

static void addresses_as_text(void **state)
{
    unsigned char bytes[64];
    char text[100];
    netprof__attr a = {0, NULL, 0};
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(0x9a + i);
    a.data = bytes;
    a.size = 3;
    memset(text, '_', sizeof text);
    netprof__parse_mac(&a, text, 10);
    assert_string_equal(text, "9a:9b:9c");
    memset(text, '_', sizeof text);
    netprof__parse_mac(&a, text, 9); /* no room for the third */
    assert_string_equal(text, "9a:9b:");
    assert_int_equal(text[9], '_');
    a.size = 64;
    memset(text, '_', sizeof text);
    netprof__parse_mac(&a, text, sizeof text);
    assert_int_equal(strlen(text), 99);
    assert_string_equal(text + 93, "b9:ba:");
}

static void which_messages_are_events(void **state)
{
    (void)state;
    for (unsigned type = 0; type < 130; type++) {
        int news = type == 16 || type == 17 || type == 36 || type == 37;
        assert_int_equal(netprof__is_news(type), news);
        assert_int_equal(netprof__is_event(type, 0), type >= 16 && type != 92 && type != 78);
        assert_int_equal(netprof__is_event(type, 0x100), type >= 16 && type != 92 && type != 78);
        assert_int_equal(netprof__is_event(type, 2), 0);
    }
}

/* Every attribute that is used, among others, and what is there without any. */
static void every_field_of_a_link(void **state)
{
    fake_message *m = (fake_message *)calloc(1, sizeof *m);
    const unsigned char *stats;
    uint32_t body[4] = {32u << 16, 77, 0, 0};
    uint64_t words[3] = {5, 6, 7};
    netprof__link l;
    size_t count = 9, nest;
    (void)state;
    put(m, body, sizeof body);
    assert_int_equal(netprof__parse_link(m->data, 16, &l, &stats, &count), EBADMSG); /* no name */
    assert_int_equal(count, 0);
    assert_null(stats);
    assert_int_equal(l.operstate, UINT8_MAX);
    assert_int_equal(l.type, 32);
    assert_int_equal(l.ifindex, 77);
    put_text(m, 3, "zz0");
    put_attr(m, 1, "\1\2\xf3", 3);
    put_u32(m, 4, 4092);
    put_u32(m, 5, 11);
    put_text(m, 6, "fq_codel");
    put_u32(m, 10, 12);
    put_attr(m, 16, "\5", 1);
    nest = begin_nest(m, 18);
    put_text(m, 2, "data");
    put_text(m, 1, "vlan");
    put_text(m, 4, "slave");
    end_nest(m, nest);
    put_attr(m, 23, words, sizeof words);
    put_attr(m, 33, "\1", 1);
    put_u32(m, 37, 3);
    put_text(m, 38, "p1");
    put_u32(m, 47, 21);
    put_u32(m, 48, 22);
    put_text(m, 56, "0000:01:00.0");
    put_text(m, 57, "pci");
    put_text(m, 99, "what comes later");
    assert_int_equal(netprof__parse_link(m->data, m->size, &l, &stats, &count), 0);
    assert_int_equal(l.ifindex, 77);
    assert_int_equal(l.type, 32);
    assert_string_equal(l.name, "zz0");
    assert_string_equal(l.mac, "01:02:f3");
    assert_int_equal(l.mtu, 4092);
    assert_int_equal(l.lower, 11);
    assert_string_equal(l.qdisc, "fq_codel");
    assert_int_equal(l.master, 12);
    assert_int_equal(l.operstate, 5);
    assert_string_equal(l.kind, "vlan");
    assert_int_equal(count, 3);
    assert_memory_equal(stats, words, sizeof words);
    assert_int_equal(l.carrier, 1);
    assert_int_equal(l.netnsid, 3);
    assert_string_equal(l.port, "p1");
    assert_int_equal(l.carrier_up, 21);
    assert_int_equal(l.carrier_down, 22);
    assert_string_equal(l.bus_device, "0000:01:00.0");
    assert_string_equal(l.bus, "pci");
    assert_int_equal(l.has_carrier, 1);
    assert_int_equal(l.has_up, 1);
    assert_int_equal(l.has_down, 1);
    assert_int_equal(l.has_mtu, 1);
    assert_int_equal(l.has_netnsid, 1);
    assert_int_equal(l.has_bus, 0);
    assert_int_equal(l.is_function, 0);
    assert_int_equal(netprof__parse_link(m->data, 15, &l, &stats, &count), EBADMSG);
    free(m);
}

static void statistics_of_a_link(void **state)
{
    fake_message *m = (fake_message *)calloc(1, sizeof *m);
    const unsigned char *stats = m->data;
    uint32_t body[3] = {1, 78, 1}, ifindex = 5;
    uint64_t words[3] = {15, 16, 17};
    size_t count = 9;
    (void)state;
    put(m, body, sizeof body);
    assert_int_equal(netprof__parse_stats(m->data, 11, &ifindex, &stats, &count), EBADMSG);
    assert_int_equal(count, 0);
    assert_null(stats);
    assert_int_equal(ifindex, 5);
    assert_int_equal(netprof__parse_stats(m->data, 12, &ifindex, &stats, &count), 0);
    assert_int_equal(count, 0);
    assert_int_equal(ifindex, 78);
    put_attr(m, 2, words, 8);
    put_attr(m, 1, words, 20); /* two words, and a half */
    assert_int_equal(netprof__parse_stats(m->data, m->size, &ifindex, &stats, &count), 0);
    assert_int_equal(count, 2);
    assert_ptr_equal(stats, m->data + 12 + 12 + 4);
    free(m);
}

/* The words that are columns, from the newer struct, the older one, or both; parts of them, cut short. */
static void figures_of_a_queueing_discipline(void **state)
{
    static const struct {
        size_t older, newer; /* bytes of the struct; 0: none */
        uint8_t known;
        uint32_t values[4];
    } rows[] = {{0, 0, 0, {0, 0, 0, 0}},          {36, 0, 0xb, {103, 104, 0, 108}},
                {32, 0, 0x3, {103, 104, 0, 0}},   {36, 20, 0xf, {202, 204, 203, 201}},
                {0, 16, 0xd, {202, 0, 203, 201}}, {36, 11, 0x8, {0, 0, 0, 201}},
                {36, 7, 0xb, {103, 104, 0, 108}}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        fake_message *m = (fake_message *)calloc(1, sizeof *m);
        uint32_t body[5] = {0, 79, 1, 0xffffffff, 0}, older[9], newer[5], ifindex = 0, values[4];
        uint8_t known = 99;
        for (uint32_t k = 0; k < 9; k++)
            older[k] = 100 + k;
        for (uint32_t k = 0; k < 5; k++)
            newer[k] = 200 + k;
        put(m, body, sizeof body);
        if (rows[i].older) put_attr(m, 3, older, rows[i].older);
        if (rows[i].newer) {
            size_t nest = begin_nest(m, 7);
            put_attr(m, 1, newer, 12);
            put_attr(m, 3, newer, rows[i].newer);
            end_nest(m, nest);
        }
        assert_int_equal(netprof__parse_qdisc(m->data, m->size, &ifindex, values, &known), 0);
        assert_int_equal(ifindex, 79);
        assert_int_equal(known, rows[i].known);
        assert_memory_equal(values, rows[i].values, sizeof values);
        assert_int_equal(netprof__parse_qdisc(m->data, 19, &ifindex, values, &known), EBADMSG);
        m->data[12] = 0xfe; /* not the root */
        assert_int_equal(netprof__parse_qdisc(m->data, m->size, &ifindex, values, &known), EBADMSG);
        assert_int_equal(known, 0);
        free(m);
    }
}

/* -- what a sweep stores -- */

enum { LISTED = 32 + 3 };

typedef struct stored {
    uint64_t values[LISTED];
    uint8_t status[LISTED], errnos[LISTED];
    int64_t stamps[LISTED];
    netprof_counter counters[LISTED];
    netprof_sweep sweep;
} stored;

static void stored_clear(stored *s, netprof_set set)
{
    memset(s, 0, sizeof *s);
    for (size_t i = 0; i < LISTED; i++) {
        s->values[i] = 5555;
        s->status[i] = 99;
        s->errnos[i] = 0;
    }
    s->sweep.set = set;
    s->sweep.values = s->values;
    s->sweep.status = s->status;
    s->sweep.errnos = s->errnos;
    s->sweep.stamps_ns = s->stamps;
    s->sweep.counters = s->counters;
}

/* The same column by column. */
static void store_plainly(const netprof__netdev_slot *slot, stored *s, const uint64_t *stats, size_t count,
                          int qdisc_errno)
{
    size_t i = slot->first;
    for (unsigned bit = 0; bit < 32; bit++) {
        if (!(slot->mask >> bit & 1)) continue;
        if (s->sweep.set == NETPROF_SET_ALL || slot->fast >> bit & 1) {
            int known = bit < 25 ? bit < count : bit < 28 ? 1 : slot->qdisc_known >> (bit - 28) & 1;
            s->status[i] = known ? NETPROF_STATUS_OK : NETPROF_STATUS_ABSENT;
            if (known)
                s->values[i] = bit < 25 ? stats[bit] : bit < 28 ? slot->carrier[bit - 25] : slot->qdisc[bit - 28];
            if (!known && bit >= 28) {
                s->values[i] = 0;
                if (qdisc_errno) s->status[i] = (uint8_t)netprof_status_of_errno(qdisc_errno);
                s->errnos[i] = (uint8_t)qdisc_errno;
            }
        }
        i++;
    }
}

static void columns_by_chance(void **state)
{
    static stored is, should;
    uint64_t seed = 42, stats[25];
    (void)state;
    for (unsigned n = 0; n < 4000; n++) {
        netprof__netdev_slot slot;
        size_t count = random_below(&seed, 3) ? 25 : random_below(&seed, 26);
        int qdisc_errno = random_below(&seed, 2) ? EPERM : 0;
        memset(&slot, 0, sizeof slot);
        slot.first = random_below(&seed, 4);
        slot.mask = (uint32_t)random_next(&seed) | (random_below(&seed, 2) ? 0x1ffffff : 0);
        if (!random_below(&seed, 8)) slot.mask = UINT32_MAX;
        slot.fast = slot.mask & (uint32_t)random_next(&seed);
        if (!random_below(&seed, 4)) slot.fast |= slot.mask & 0x1ffffff;
        slot.qdisc_known = (uint8_t)random_below(&seed, 16);
        for (uint32_t k = 0; k < 4; k++) {
            slot.qdisc[k] = 4000 + k;
            if (k < 3) slot.carrier[k] = 3000 + k;
        }
        for (size_t k = 0; k < 25; k++)
            stats[k] = UINT64_C(1) << 40 | k;
        stored_clear(&is, n & 1 ? NETPROF_SET_FAST : NETPROF_SET_ALL);
        stored_clear(&should, n & 1 ? NETPROF_SET_FAST : NETPROF_SET_ALL);
        netprof__slot_store(&slot, &is.sweep, (const unsigned char *)stats, count, qdisc_errno);
        store_plainly(&slot, &should, stats, count, qdisc_errno);
        assert_memory_equal(is.values, should.values, sizeof is.values);
        assert_memory_equal(is.status, should.status, sizeof is.status);
        assert_memory_equal(is.errnos, should.errnos, sizeof is.errnos);
    }
}

static void a_failure_is_every_columns(void **state)
{
    static stored s;
    uint64_t seed = 7;
    (void)state;
    for (unsigned n = 0; n < 500; n++) {
        netprof__netdev_slot slot;
        size_t i;
        memset(&slot, 0, sizeof slot);
        slot.first = random_below(&seed, 4);
        slot.mask = (uint32_t)random_next(&seed) | (random_below(&seed, 2) ? 0x80000001 : 0);
        stored_clear(&s, n & 1 ? NETPROF_SET_FAST : NETPROF_SET_ALL);
        for (i = 0; i < LISTED; i++)
            s.counters[i].flags = (uint16_t)(i % 3 ? NETPROF_STAMPED : NETPROF_FAST);
        netprof__slot_failed(&slot, &s.sweep, NETPROF_STATUS_DENIED, 13);
        for (i = 0; i < LISTED; i++) {
            int listed = i >= slot.first && i < slot.first + (size_t)__builtin_popcount(slot.mask);
            int hit = listed && (!(n & 1) || i % 3 == 0);
            assert_int_equal(s.status[i], hit ? NETPROF_STATUS_DENIED : 99);
            assert_int_equal(s.errnos[i], hit ? 13 : 0);
            assert_int_equal(s.values[i], hit ? 0 : 5555);
        }
    }
}

/* -- a node -- */

static void add_node(void)
{
    fake_link *l;
    kernel.count = 0;
    l = add_link(11, "zz_p0", 11000);
    l->bus = "pci";
    l->bus_device = "zz:0";
    l->mac_size = 6;
    memcpy(l->mac, "\x0c\x42\xa1\x65\x5b\x3a", 6);
    l->port = "p0";
    l->speed = 100000;
    l->duplex = 1;
    l->mtu = 9000;
    l->master = 20;
    set_queue(l, "mq", 7, 8, 9, 10);
    l = add_link(12, "zz_vf", 12000);
    l->bus = "pci";
    l->bus_device = "zz:1";
    l->master = 11;
    l->speed = 65535;
    l->duplex = 255;
    set_queue(l, "noop", 1, 1, 1, 1);
    l = add_link(13, "zz_rep", 13000);
    l->bus = "pci";
    l->bus_device = "zz:2";
    l->port = "pf0vf2";
    l->speed = 10;
    l->operstate = 1;
    l->carrier = 0;
    l->up = 33;
    l->down = 44;
    l = add_link(20, "zz_bond", 20000);
    l->kind = "bond";
    l->operstate = 3;
    set_queue(l, "noqueue", 1, 1, 1, 1);
    l = add_link(21, "zz_vlan", 21000);
    l->kind = "vlan";
    l->lower = 11;
    l->operstate = 7; /* no word for it */
    l = add_link(22, "zz_ib", 22000);
    l->kind = "ipoib";
    l->type = 32;
    l->bus = "pci";
    l->bus_device = "zz:3";
    l->mac_size = 20;
    memset(l->mac, 0xab, 20);
    set_queue(l, "pfifo_fast", 70, 80, 90, 100);
}

static void a_node_whole(void **state)
{
    netprof_snapshot s;
    netprof *np;
    (void)state;
    if (access("/sys/class/net", F_OK) != 0) skip(); /* the fact netns tells that it shows another namespace */
    add_node();
    np = open_with(NULL, 0);
    s = take(np, NETPROF_SET_ALL);
    listing_expect(&s, "", 1, "sources/listing_rtnetlink.txt");
    netprof_snapshot_free(&s);
    netprof_close(np);
    assert_int_equal(kernel.open, 0);
}

/* Links change between two sweeps; those that are left keep what is theirs. */
static void a_node_later(void **state)
{
    netprof_snapshot s = NETPROF_ZERO;
    netprof *np;
    size_t i;
    (void)state;
    if (access("/sys/class/net", F_OK) != 0) skip();
    add_node();
    np = open_with("zz_*/rx_bytes,zz_*/rx_crc_errors,zz_*/carrier*,zz_*/qdisc_[dro]*", 1);
    kernel.links[0].carrier = 0;
    kernel.links[0].down = 19;
    kernel.links[2].carrier = 1;
    kernel.events = 1;
    for (i = 0; i < kernel.count; i++)
        kernel.links[i].base += 100;
    set_queue(&kernel.links[0], "mq", 17, 18, 19, 20);
    kernel.links[4] = kernel.links[5]; /* zz_vlan went away */
    kernel.count = 5;
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    listing_expect(&s, "", 1, "sources/listing_rtnetlink_later.txt");
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_FAST, NULL), NETPROF_OK);
    listing_expect(&s, "", 1, "sources/listing_rtnetlink_fast.txt");
    netprof_snapshot_free(&s);
    netprof_close(np);
    assert_int_equal(kernel.open, 0);
}

/* A context that reads one link asks for that one alone, if it hears of others. */
static void one_link_alone(void **state)
{
    netprof_snapshot s = NETPROF_ZERO;
    netprof *np;
    uint64_t value;
    (void)state;
    add_node();
    np = open_with("zz_rep/*", 1);
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    assert_int_equal(kernel.single, 1);
    assert_int_equal(s.schema->counter_count, 28);
    assert_int_equal(s.not_ok, 0);
    assert_statistics(&s, "zz_rep", 13000);
    assert_value(&s, "zz_rep", "carrier_up_count", 33);
    kernel.links[2] = kernel.links[5];
    kernel.count = 5;
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    assert_int_equal(kernel.single, 2);
    assert_int_equal(get(&s, "zz_rep", "rx_bytes", &value), NETPROF_STATUS_VANISHED);
    assert_int_equal(s.errnos[0], ENODEV);
    assert_int_equal(s.not_ok, 28);
    netprof_snapshot_free(&s);
    netprof_close(np);
    setup(NULL);
    add_node();
    kernel.no_events = EPERM; /* it would not hear of others */
    np = open_with("zz_rep/*", 1);
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    assert_int_equal(kernel.single, 0);
    assert_statistics(&s, "zz_rep", 13000);
    netprof_snapshot_free(&s);
    netprof_close(np);
    setup(NULL);
    add_node();
    np = open_with("zz_rep/*,zz_ib/*", 1);
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    assert_int_equal(kernel.single, 0);
    assert_statistics(&s, "zz_rep", 13000);
    assert_statistics(&s, "zz_ib", 22000);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

/* How often the kernel is asked while a list changes, or it is busy. */
static void the_kernel_is_asked_four_times(void **state)
{
    netprof_snapshot s = NETPROF_ZERO;
    netprof *np;
    (void)state;
    add_node();
    kernel.interrupted = 1000;
    np = open_with(NULL, 1);
    assert_int_equal(kernel.link_dumps, 4);
    assert_int_equal(netprof_get_schema(np)->device_count, 6);
    kernel.link_dumps = 0;
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    assert_int_equal(kernel.link_dumps, 0);
    assert_int_equal(kernel.queue_dumps, 4);
    assert_int_equal(kernel.stats_dumps, 4);
    assert_int_equal(s.not_ok, 0);
    kernel.interrupted = 0;
    kernel.busy = 3;
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    assert_int_equal(kernel.queue_dumps, 4 + 4);
    assert_int_equal(kernel.stats_dumps, 4 + 1);
    assert_queue(&s, "zz_ib", 70, 80, 90, 100);
    assert_int_equal(s.not_ok, 0);
    kernel.busy = 5;
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    assert_int_equal(kernel.queue_dumps, 8 + 4);
    assert_int_equal(kernel.stats_dumps, 5 + 2);
    assert_status(&s, "zz_ib", "qdisc_drops", NETPROF_STATUS_UNREADABLE);
    assert_int_equal(s.errnos[netprof_find(s.schema, NULL, "zz_ib", "qdisc_drops")], EBUSY);
    assert_int_equal(s.not_ok, 8);
    kernel.events = 40; /* more happens at each reading: then it is as it is */
    kernel.stats_dumps = 0;
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_FAST, NULL), NETPROF_OK);
    assert_true(kernel.stats_dumps >= 2 && kernel.stats_dumps <= 5);
    assert_value(&s, "zz_ib", "rx_bytes", 22002);
    netprof_snapshot_free(&s);
    netprof_close(np);
    assert_int_equal(kernel.open, 0);
}

/* What a listener of events hears, whatever came. */
static void events_since_the_last_look(void **state)
{
    (void)state;
    kernel.answered = 1; /* nothing waits */
    assert_int_equal(netprof__events_poll(FAKE_FD), 0);
    kernel.eintr = 3;
    assert_int_equal(netprof__events_poll(FAKE_FD), 0);
    kernel.events = 3;
    kernel.eintr = 1;
    assert_int_equal(netprof__events_poll(FAKE_FD), 1);
    assert_int_equal(kernel.events, 0); /* all of them */
    assert_int_equal(netprof__events_poll(FAKE_FD), 0);
    kernel.enobufs = 1; /* some were lost */
    assert_int_equal(netprof__events_poll(FAKE_FD), 1);
    assert_int_equal(netprof__events_poll(FAKE_FD), 0);
    kernel.events = 1000;
    assert_int_equal(netprof__events_poll(FAKE_FD), 1);
    assert_int_equal(kernel.events, 1000 - 256);
}

#define TEST(function) cmocka_unit_test_setup(function, setup)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(requests_byte_by_byte),
        TEST(attributes_within_their_bounds),
        TEST(texts_of_attributes),
        TEST(addresses_as_text),
        TEST(which_messages_are_events),
        TEST(every_field_of_a_link),
        TEST(statistics_of_a_link),
        TEST(figures_of_a_queueing_discipline),
        TEST(columns_by_chance),
        TEST(a_failure_is_every_columns),
        TEST(a_node_whole),
        TEST(a_node_later),
        TEST(one_link_alone),
        TEST(the_kernel_is_asked_four_times),
        TEST(events_since_the_last_look),
    };
    unsetenv("NETPROF_ROOT");
    unsetenv("NETPROF_INCLUDE");
    unsetenv("NETPROF_EXCLUDE");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
