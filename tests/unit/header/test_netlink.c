/* The source netdev against a kernel made of this file: links, statistics, events and failures as rtnetlink has
   them, and trees of files as sysfs and procfs have them. */
#include "fake_rtnetlink.h"

#include "failing.h"

/* -- reading -- */

static void test_every_statistic_reaches_its_counter(void **state)
{
    netprof *np = open_with(NULL, 0);
    netprof_snapshot s = take(np, NETPROF_SET_ALL);
    (void)state;
    assert_int_equal(s.schema->device_count, 3);
    assert_int_equal(s.not_ok, 0);
    assert_statistics(&s, "lo", 1000);
    assert_statistics(&s, "zz_a", 5000);
    assert_statistics(&s, "zz_b", 9000);
    assert_value(&s, "zz_b", "carrier", 1);
    assert_value(&s, "zz_b", "carrier_up_count", 2);
    assert_value(&s, "zz_b", "carrier_down_count", 1);
    assert_int_equal(s.schema->devices[1].identity, 5);
    assert_int_equal(kernel.stats_dumps, 1);
    assert_int_equal(kernel.link_dumps, 1);
    netprof_snapshot_free(&s);
    netprof_close(np);
    assert_int_equal(kernel.open, 0);
}

static void test_links_of_many_datagrams(void **state)
{
    static char names[500][8];
    netprof_snapshot s;
    netprof *np;
    uint32_t i;
    (void)state;
    for (i = 0; i < 500; i++) {
        snprintf(names[i], sizeof names[i], "zz%u", i);
        add_link(1000 - i, names[i], i * 1000000u); /* no order that could be guessed */
    }
    np = open_with(NULL, 0);
    s = take(np, NETPROF_SET_ALL);
    assert_int_equal(s.schema->device_count, 503);
    assert_int_equal(s.not_ok, 0);
    for (i = 0; i < 500; i++)
        assert_value(&s, names[i], "rx_bytes", i * 1000000u + 2);
    assert_int_equal(kernel.most_room, 32768); /* few long datagrams */
    netprof_snapshot_free(&s);
    netprof_close(np);
}

/* Whatever room the kernel was once given it makes ready at each answer. */
static void test_few_links_are_asked_for_with_little_room(void **state)
{
    netprof *np = open_with(NULL, 0);
    netprof_snapshot s = take(np, NETPROF_SET_ALL);
    (void)state;
    assert_int_equal(kernel.most_room, 3776);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

/* Pages of 64 KiB: the kernel puts more into a datagram than was given room. */
static void trap_datagrams_of_large_pages_are_cut(void **state)
{
    static char names[40][8];
    netprof_snapshot s;
    netprof *np;
    uint32_t i;
    int sockets;
    (void)state;
    kernel.page_room = 7872;
    for (i = 0; i < 40; i++) {
        snprintf(names[i], sizeof names[i], "zz%u", i);
        add_link(100 + i, names[i], i * 1000000u);
    }
    np = open_with(NULL, 0);
    sockets = kernel.sockets;
    for (i = 0; i < 3; i++) {
        s = take(np, NETPROF_SET_ALL);
        assert_int_equal(s.schema->device_count, 43);
        assert_int_equal(s.not_ok, 0);
        assert_value(&s, names[39], "rx_bytes", 39 * 1000000u + 2);
        netprof_snapshot_free(&s);
    }
    assert_int_equal(kernel.sockets, sockets); /* learnt once, when the links were listed */
    assert_int_equal(kernel.most_room, 32768);
    netprof_close(np);
}

static void test_struct_of_a_later_kernel(void **state)
{
    netprof_snapshot s;
    netprof *np;
    (void)state;
    kernel.words = 27;
    np = open_with(NULL, 0);
    s = take(np, NETPROF_SET_ALL);
    assert_statistics(&s, "zz_a", 5000);
    assert_int_equal(s.not_ok, 0);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void test_struct_of_an_earlier_kernel(void **state)
{
    netprof_snapshot s;
    netprof *np;
    (void)state;
    kernel.words = 23; /* Linux 4.4: neither rx_nohandler nor rx_otherhost_dropped */
    kernel.no_carrier_counts = 1;
    np = open_with(NULL, 0);
    s = take(np, NETPROF_SET_ALL);
    assert_value(&s, "zz_a", "tx_compressed", 5022);
    assert_status(&s, "zz_a", "rx_nohandler", NETPROF_STATUS_ABSENT);
    assert_status(&s, "zz_a", "rx_otherhost_dropped", NETPROF_STATUS_ABSENT);
    assert_value(&s, "zz_a", "carrier", 1);
    assert_status(&s, "zz_a", "carrier_up_count", -1);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void test_the_fast_set(void **state)
{
    netprof *np = open_with(NULL, 0);
    netprof_snapshot s = take(np, NETPROF_SET_FAST);
    (void)state;
    assert_value(&s, "zz_a", "rx_bytes", 5002);
    assert_value(&s, "zz_a", "tx_dropped", 5007);
    assert_value(&s, "zz_a", "carrier_down_count", 1);
    assert_status(&s, "zz_a", "multicast", NETPROF_STATUS_SKIPPED);
    assert_status(&s, "zz_a", "carrier", NETPROF_STATUS_SKIPPED);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void test_filters(void **state)
{
    netprof *np = open_with("zz_a/tx_bytes,zz_a/rx_nohandler,zz_b/carrier_*", 0);
    netprof_snapshot s = take(np, NETPROF_SET_ALL);
    (void)state;
    assert_int_equal(s.schema->counter_count, 4);
    assert_value(&s, "zz_a", "tx_bytes", 5003);
    assert_value(&s, "zz_a", "rx_nohandler", 5023);
    assert_value(&s, "zz_b", "carrier_up_count", 2);
    assert_value(&s, "zz_b", "carrier_down_count", 1);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

/* -- queueing disciplines -- */

/* The root's own figures include its queues': these are not added. */
static void test_the_root_queueing_discipline(void **state)
{
    netprof_snapshot s;
    netprof *np;
    (void)state;
    set_queue(&kernel.links[1], "mq", 7, 8, 9, 10);
    kernel.links[1].leaves = 3;
    set_queue(&kernel.links[2], "noqueue", 0, 0, 0, 0);
    np = open_with(NULL, 0);
    s = take(np, NETPROF_SET_ALL);
    assert_statistics(&s, "zz_a", 5000);
    assert_value(&s, "zz_a", "carrier_down_count", 1);
    assert_queue(&s, "zz_a", 7, 8, 9, 10);
    assert_status(&s, "zz_b", "qdisc_drops", -1);
    assert_status(&s, "lo", "qdisc_drops", -1);
    assert_int_equal(s.not_ok, 0);
    netprof_snapshot_free(&s);
    kernel.queue_dumps = 0;
    s = take(np, NETPROF_SET_FAST); /* which has none of these */
    assert_status(&s, "zz_a", "qdisc_drops", NETPROF_STATUS_SKIPPED);
    assert_int_equal(kernel.queue_dumps, 0);
    netprof_snapshot_free(&s);
    netprof_close(np);
    np = open_with("zz_a/qdisc_requeues,zz_b/*", 0);
    s = take(np, NETPROF_SET_ALL);
    assert_value(&s, "zz_a", "qdisc_requeues", 9);
    assert_int_equal(s.schema->counter_count, 1 + 28);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void test_queueing_disciplines_come_and_go(void **state)
{
    netprof *np = open_with(NULL, 0);
    netprof_snapshot s;
    (void)state;
    set_queue(&kernel.links[2], "tbf", 1, 2, 3, 4);
    kernel.events = 1;
    s = take(np, NETPROF_SET_ALL);
    assert_queue(&s, "zz_b", 1, 2, 3, 4);
    assert_int_equal(s.not_ok, 0);
    netprof_snapshot_free(&s);
    set_queue(&kernel.links[2], "noqueue", 0, 0, 0, 0);
    kernel.events = 1;
    s = take(np, NETPROF_SET_ALL);
    assert_status(&s, "zz_b", "qdisc_drops", -1);
    assert_int_equal(s.not_ok, 0);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void test_queueing_disciplines_that_cannot_be_read(void **state)
{
    netprof_snapshot s;
    netprof *np;
    (void)state;
    set_queue(&kernel.links[1], "fq_codel", 7, 8, 9, 10);
    np = open_with(NULL, 0);
    kernel.no_queues = EPERM;
    s = take(np, NETPROF_SET_ALL);
    assert_status(&s, "zz_a", "qdisc_drops", NETPROF_STATUS_DENIED);
    assert_int_equal(s.errnos[netprof_find(s.schema, "netdev", "zz_a", "qdisc_drops")], EPERM);
    assert_statistics(&s, "zz_a", 5000);
    assert_int_equal(s.not_ok, 4);
    netprof_snapshot_free(&s);
    kernel.no_queues = 0;
    kernel.old_queues = 1; /* which have no requeues */
    s = take(np, NETPROF_SET_ALL);
    assert_value(&s, "zz_a", "qdisc_drops", 7);
    assert_value(&s, "zz_a", "qdisc_overlimits", 8);
    assert_value(&s, "zz_a", "qdisc_backlog", 10);
    assert_status(&s, "zz_a", "qdisc_requeues", NETPROF_STATUS_ABSENT);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

/* -- failures -- */

static void test_interrupted_dump_is_asked_for_again(void **state)
{
    netprof *np = open_with(NULL, 0);
    netprof_snapshot s;
    (void)state;
    kernel.interrupted = 2;
    s = take(np, NETPROF_SET_ALL);
    assert_int_equal(kernel.stats_dumps, 3);
    assert_statistics(&s, "zz_b", 9000);
    netprof_snapshot_free(&s);
    kernel.interrupted = 1000; /* for ever: what came is taken */
    s = take(np, NETPROF_SET_ALL);
    assert_int_equal(kernel.stats_dumps, 3 + 4);
    assert_statistics(&s, "zz_b", 9000);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void test_enobufs_keeps_the_socket(void **state)
{
    netprof *np = open_with(NULL, 0);
    int sockets = kernel.sockets;
    netprof_snapshot s;
    (void)state;
    kernel.enobufs = 1;
    s = take(np, NETPROF_SET_ALL);
    assert_int_equal(kernel.sockets, sockets); /* another would be of the namespace that the thread is in now */
    assert_statistics(&s, "zz_a", 5000);
    netprof_snapshot_free(&s);
    kernel.enobufs = 1000000;
    s = take(np, NETPROF_SET_ALL);
    kernel.enobufs = 0;
    assert_status(&s, "zz_a", "rx_bytes", NETPROF_STATUS_UNREADABLE);
    assert_int_equal(s.errnos[netprof_find(s.schema, "netdev", "zz_a", "rx_bytes")], ENOBUFS);
    assert_int_equal(s.not_ok, 3 * 28);
    netprof_snapshot_free(&s);
    s = take(np, NETPROF_SET_ALL); /* one failure does not disable for ever */
    assert_statistics(&s, "zz_a", 5000);
    netprof_snapshot_free(&s);
    netprof_close(np);
    assert_int_equal(kernel.open, 0);
}

/* So many events waited that the answer found no room: it is not waited for, and links are read again. */
static void trap_an_answer_that_found_no_room_is_waited_for(void **state)
{
    netprof *np = open_with(NULL, 0);
    int sockets = kernel.sockets, links = kernel.link_dumps;
    netprof_snapshot s;
    (void)state;
    kernel.events = 20;
    kernel.lost = 1;
    kernel.links[1].carrier = 0;
    s = take(np, NETPROF_SET_ALL);
    assert_int_equal(kernel.sockets, sockets);
    assert_int_equal(kernel.link_dumps, links + 1);
    assert_statistics(&s, "zz_a", 5000);
    assert_value(&s, "zz_a", "carrier", 0);
    netprof_snapshot_free(&s);
    netprof_close(np);
    assert_int_equal(kernel.open, 0);
}

/* What is heard beside an answer that failed is not forgotten. */
static void trap_an_event_is_lost_with_the_answer(void **state)
{
    netprof *np = open_with(NULL, 0);
    netprof_snapshot s;
    (void)state;
    kernel.events = 1;
    kernel.garbage = 1;
    kernel.links[1].carrier = 0;
    s = take(np, NETPROF_SET_ALL);
    assert_status(&s, "zz_a", "rx_bytes", NETPROF_STATUS_UNREADABLE);
    netprof_snapshot_free(&s);
    s = take(np, NETPROF_SET_ALL);
    assert_value(&s, "zz_a", "carrier", 0);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void test_busy_interrupted_and_garbage_replies(void **state)
{
    netprof *np = open_with(NULL, 0);
    netprof_snapshot s;
    (void)state;
    kernel.busy = 1;
    kernel.eintr = 3;
    s = take(np, NETPROF_SET_ALL);
    assert_statistics(&s, "zz_a", 5000);
    netprof_snapshot_free(&s);
    kernel.garbage = 1;
    s = take(np, NETPROF_SET_ALL);
    assert_status(&s, "zz_a", "rx_bytes", NETPROF_STATUS_UNREADABLE);
    netprof_snapshot_free(&s);
    s = take(np, NETPROF_SET_ALL);
    assert_statistics(&s, "zz_a", 5000);
    netprof_snapshot_free(&s);
    netprof_close(np);
    assert_int_equal(kernel.open, 0);
}

static void test_32_bit_ifla_stats_is_never_used(void **state)
{
    netprof_snapshot s;
    netprof *np;
    int i;
    (void)state;
    kernel.no_getstats = 1; /* before Linux 4.7 */
    np = open_with(NULL, 0);
    for (i = 0; i < 2; i++) {
        s = take(np, NETPROF_SET_ALL);
        assert_statistics(&s, "zz_a", 5000); /* from IFLA_STATS64 */
        netprof_snapshot_free(&s);
        kernel.links[1].down = 7; /* no event, but this dump has it all the same */
    }
    s = take(np, NETPROF_SET_ALL);
    assert_value(&s, "zz_a", "carrier_down_count", 7);
    assert_int_equal(kernel.stats_dumps, 1); /* asked once */
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void test_without_netlink_the_files_are_read(void **state)
{
    netprof_snapshot s;
    netprof *np;
    uint64_t value;
    (void)state;
    if (access("/sys/class/net/lo/statistics/rx_bytes", R_OK) != 0) skip();
    kernel.no_sockets = EPERM; /* seccomp */
    np = open_with(NULL, 0);
    s = take(np, NETPROF_SET_ALL);
    assert_int_equal(get(&s, "lo", "rx_bytes", &value), NETPROF_STATUS_OK);
    assert_string_equal(s.schema->sources[0].name, "netdev");
    assert_int_equal(s.schema->sources[0].status, NETPROF_STATUS_OK);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void test_without_events_links_are_read_each_time(void **state)
{
    netprof_snapshot s;
    netprof *np;
    (void)state;
    kernel.no_events = EPERM;
    np = open_with(NULL, 0);
    kernel.links[2].carrier = 0;
    s = take(np, NETPROF_SET_ALL);
    assert_value(&s, "zz_b", "carrier", 0);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

/* -- links that come and go -- */

static void trap_vanishes_between_list_and_read(void **state)
{
    netprof *np = open_with(NULL, 1);
    netprof_snapshot s;
    (void)state;
    kernel.count = 2;
    s = take(np, NETPROF_SET_ALL);
    assert_status(&s, "zz_b", "rx_bytes", NETPROF_STATUS_VANISHED);
    assert_status(&s, "zz_b", "carrier", NETPROF_STATUS_VANISHED);
    assert_statistics(&s, "zz_a", 5000);
    assert_int_equal(s.not_ok, 28);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void test_a_rescan_follows_links(void **state)
{
    netprof *np = open_with(NULL, 0);
    netprof_snapshot s;
    (void)state;
    kernel.links[1] = kernel.links[2]; /* zz_a goes */
    kernel.count = 2;
    s = take(np, NETPROF_SET_ALL);
    assert_int_equal(s.schema->device_count, 2);
    assert_int_equal(s.not_ok, 0);
    netprof_snapshot_free(&s);
    add_link(12, "zz_c", 12000); /* another comes; the statistics tell, even without an event */
    s = take(np, NETPROF_SET_ALL);
    assert_statistics(&s, "zz_c", 12000);
    netprof_snapshot_free(&s);
    kernel.links[1].name = "zz_renamed";
    kernel.events = 1;
    s = take(np, NETPROF_SET_ALL);
    assert_statistics(&s, "zz_renamed", 9000);
    assert_status(&s, "zz_b", "rx_bytes", -1);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

/* As many counters vanish as did the time before: that is no reason to think that looking again is of no use. */
static void trap_one_link_goes_after_the_other(void **state)
{
    netprof *np = open_with(NULL, 0);
    netprof_snapshot s;
    (void)state;
    while (kernel.count > 1) {
        kernel.count--; /* without an event */
        s = take(np, NETPROF_SET_ALL);
        assert_int_equal(s.schema->device_count, kernel.count);
        assert_int_equal(s.not_ok, 0);
        netprof_snapshot_free(&s);
    }
    netprof_close(np);
}

static void test_a_recreated_interface_is_a_reset(void **state)
{
    netprof *np = open_with(NULL, 0);
    netprof_snapshot before = take(np, NETPROF_SET_ALL), after;
    netprof_delta d = NETPROF_ZERO;
    size_t i;
    (void)state;
    kernel.links[1].ifindex = 77; /* same name */
    kernel.links[1].base = 6000;
    kernel.events = 1;
    after = take(np, NETPROF_SET_ALL);
    assert_int_equal(netprof_diff(&before, &after, NULL, &d, NULL), NETPROF_OK);
    i = netprof_find(d.schema, "netdev", "zz_a", "rx_bytes");
    assert_int_equal(d.flags[i], NETPROF_FLAG_RESET);
    assert_int_equal(d.values[i], 6002);
    i = netprof_find(d.schema, "netdev", "zz_b", "rx_bytes");
    assert_int_equal(d.flags[i], NETPROF_FLAG_OK);
    netprof_delta_free(&d);
    netprof_snapshot_free(&before);
    netprof_snapshot_free(&after);
    netprof_close(np);
}

static void test_carrier_follows_events_and_keeps_the_schema(void **state)
{
    netprof *np = open_with(NULL, 0);
    const netprof_schema *schema = netprof_get_schema(np);
    netprof_snapshot s;
    (void)state;
    s = take(np, NETPROF_SET_ALL);
    netprof_snapshot_free(&s);
    assert_int_equal(kernel.link_dumps, 1); /* no event, no question */
    kernel.links[1].carrier = 0;
    kernel.links[1].down = 2;
    kernel.events = 3;
    s = take(np, NETPROF_SET_ALL);
    assert_value(&s, "zz_a", "carrier", 0);
    assert_value(&s, "zz_a", "carrier_down_count", 2);
    assert_int_equal(kernel.link_dumps, 2);
    assert_ptr_equal(s.schema, schema);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

/* Where packets are switched by filters of tc, thousands of them come and go. */
static void test_filters_of_tc_are_no_news(void **state)
{
    netprof *np = open_with(NULL, 0);
    netprof_snapshot s;
    (void)state;
    kernel.filters = 50;
    s = take(np, NETPROF_SET_ALL);
    assert_int_equal(kernel.filters, 0);
    assert_int_equal(kernel.link_dumps, 1); /* of the beginning */
    assert_int_equal(kernel.stats_dumps, 1);
    assert_statistics(&s, "zz_b", 9000);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

/* Every allocation of open, take, rescan and close fails in turn; nothing leaks (address sanitizer), and whatever
   succeeds is right. */
static long allocations_left;

static void test_every_allocation_fails_in_turn(void **state)
{
    int n, done = 0;
    (void)state;
    for (n = 0; !done; n++) {
        netprof_alloc a = failing_alloc(&allocations_left);
        netprof_snapshot s = NETPROF_ZERO;
        netprof_config c;
        netprof *np;
        setup(NULL);
        memset(&c, 0, sizeof c);
        c.sources = "netdev";
        c.root = "";
        c.alloc = &a;
        allocations_left = n;
        if (netprof_open(&np, &c, NULL) == NETPROF_OK) {
            kernel.events = 1;
            add_link(12, "zz_c", 12000);
            done = netprof_take(np, &s, NETPROF_SET_ALL, NULL) == NETPROF_OK;
            if (done) assert_statistics(&s, "zz_a", 5000);
            allocations_left = 1000;
            netprof_snapshot_free(&s);
            netprof_close(np);
        } else {
            assert_null(np);
        }
        assert_int_equal(kernel.open, 0);
        assert_true(n < 1000);
    }
    assert_true(n > 10);
}

/* -- what is counted once -- */

static netprof__link link_of(uint32_t ifindex, const char *kind, int bus, uint32_t master, uint32_t lower)
{
    netprof__link l;
    memset(&l, 0, sizeof l);
    l.ifindex = ifindex;
    l.type = 1;
    snprintf(l.kind, sizeof l.kind, "%s", kind);
    l.has_bus = (uint8_t)bus;
    l.master = master;
    l.lower = lower;
    return l;
}

static void trap_stacked_devices_counted_twice(void **state)
{
    static const struct {
        const char *what, *kind; /* as classified */
        unsigned flags;
    } expected[] = {
        {"lo", "loopback", NETPROF_DEVICE_VIRTUAL},
        {"eth0 in bond0", "bond member", NETPROF_DEVICE_PHYSICAL},
        {"eth1 in bond0", "bond member", NETPROF_DEVICE_PHYSICAL},
        {"bond0", "bond", NETPROF_DEVICE_VIRTUAL},
        {"bond0.7", "vlan", NETPROF_DEVICE_VIRTUAL},
        {"br0", "bridge", NETPROF_DEVICE_VIRTUAL},
        {"eth2 in br0", "bridge port", NETPROF_DEVICE_PHYSICAL},
        {"veth0", "veth", NETPROF_DEVICE_VIRTUAL},
        {"VF of a PF that is here", "vf", NETPROF_DEVICE_VIRTUAL},
        {"VF in a guest", "physical", NETPROF_DEVICE_PHYSICAL},
        {"hv_netvsc", "physical", NETPROF_DEVICE_PHYSICAL},
        {"its VF", "vf", NETPROF_DEVICE_VIRTUAL},
        {"switchdev representor", "representor", NETPROF_DEVICE_VIRTUAL},
        {"switchdev uplink", "physical", NETPROF_DEVICE_PHYSICAL},
        {"ib0", "ipoib", NETPROF_DEVICE_PHYSICAL},
        {"ib0.8001", "ipoib", NETPROF_DEVICE_VIRTUAL},
        {"dummy0", "dummy", NETPROF_DEVICE_VIRTUAL},
        {"tun0", "tun", NETPROF_DEVICE_VIRTUAL},
        {"no kind, no bus", "virtual", NETPROF_DEVICE_VIRTUAL},
        {"port of a DSA switch", "dsa", NETPROF_DEVICE_VIRTUAL},
    };
    netprof__link links[20];
    size_t i;
    (void)state;
    links[0] = link_of(1, "", 0, 0, 0);
    links[0].type = 772;
    links[1] = link_of(2, "", 1, 4, 0);
    links[2] = link_of(3, "", 1, 4, 0);
    links[3] = link_of(4, "bond", 0, 0, 0);
    links[4] = link_of(5, "vlan", 0, 0, 4);
    links[5] = link_of(6, "bridge", 0, 0, 0);
    links[6] = link_of(7, "", 1, 6, 0);
    links[7] = link_of(8, "veth", 0, 6, 99);
    links[8] = link_of(9, "", 1, 0, 0);
    links[8].is_function = 1;
    links[9] = link_of(10, "", 1, 0, 0);
    links[10] = link_of(11, "", 1, 0, 0);
    links[11] = link_of(12, "", 1, 11, 0);
    links[12] = link_of(13, "", 1, 0, 0);
    snprintf(links[12].port, sizeof links[12].port, "pf0vf3");
    links[13] = link_of(14, "", 1, 0, 0);
    snprintf(links[13].port, sizeof links[13].port, "p0");
    links[14] = link_of(15, "ipoib", 1, 0, 15);
    links[15] = link_of(16, "ipoib", 1, 0, 15);
    links[16] = link_of(17, "dummy", 0, 0, 0);
    links[17] = link_of(18, "tun", 0, 0, 0);
    links[18] = link_of(19, "", 0, 0, 0);
    links[19] = link_of(20, "dsa", 1, 0, 2);
    for (i = 0; i < 20; i++) {
        unsigned flags;
        const char *kind = netprof__classify(links, 20, &links[i], &flags);
        if (strcmp(kind, expected[i].kind) != 0 || flags != expected[i].flags)
            fail_msg("%s: %s, flags %u", expected[i].what, kind, flags);
    }
}

/* The link below is called by its name only where that name is of this namespace: the same number elsewhere is another. */
static void test_the_link_below(void **state)
{
    static const struct {
        uint32_t lower, namespace;
        const char *fact;
    } rows[] = {{3, 0, "below"}, {3, 1, "if3 of namespace 0"}, {3, 8, "if3 of namespace 7"},
                {9, 0, "if9"},   {9, 4, "if9 of namespace 3"}, {5, 0, NULL},
                {0, 0, NULL}};
    size_t i, k;
    (void)state;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        const netprof_schema *s;
        const char *fact = NULL;
        netprof *np;
        netprof_snapshot snapshot;
        fake_link *upper;
        setup(NULL);
        kernel.count = 0;
        add_link(3, "below", 1000);
        upper = add_link(5, "vlan5", 2000);
        upper->kind = "vlan";
        upper->lower = rows[i].lower;
        upper->namespace = rows[i].namespace;
        np = open_with(NULL, 0);
        snapshot = take(np, NETPROF_SET_ALL);
        s = snapshot.schema;
        for (k = 0; k < s->device_count; k++)
            if (strcmp(s->devices[k].name, "vlan5") == 0)
                fact = netprof_fact_of(s->devices[k].facts, s->devices[k].fact_count, "lower");
        if (!rows[i].fact)
            assert_null(fact);
        else
            assert_string_equal(fact, rows[i].fact);
        netprof_snapshot_free(&snapshot);
        netprof_close(np);
    }
}

/* Attributes of four bytes, of one byte, and of none. */
static void test_numbers_of_attributes(void **state)
{
    unsigned char bytes[5];
    const uint32_t number = 0x8badf00du; /* of the host's order, as the kernel writes it */
    netprof__attr a = {0, 0, 0};
    (void)state;
    memcpy(bytes, &number, sizeof number);
    bytes[4] = 0xff;
    a.data = bytes;
    a.size = 4;
    assert_int_equal(netprof__attr_u32(&a), 0x8badf00du);
    a.size = 5;
    assert_int_equal(netprof__attr_u32(&a), 0x8badf00du);
    a.size = 1;
    assert_int_equal(netprof__attr_u32(&a), bytes[0]);
    a.size = 0;
    assert_int_equal(netprof__attr_u32(&a), 0);
}

static void test_names_of_representors(void **state)
{
    (void)state;
    assert_true(netprof__is_representor("pf0vf3"));
    assert_true(netprof__is_representor("pf1sf88"));
    assert_true(netprof__is_representor("c1pf0vf1"));
    assert_false(netprof__is_representor("p0"));
    assert_false(netprof__is_representor("pf0"));
    assert_false(netprof__is_representor("c1"));
    assert_false(netprof__is_representor(""));
}

/* What a port does about a network that is full: pause frames, and for which priorities one by one. */
static void test_pause_and_priority_flow_control(void **state)
{
    static const struct {
        int pause, pfc;
        const char *said[2];
    } rows[] = {{-1, -1, {NULL, NULL}},
                {0, 0, {"off", "off"}},
                {3, 0x08, {"rx tx", "3"}},
                {1, 9, {"rx", "0 3"}},
                {2, 0xff, {"tx", "0 1 2 3 4 5 6 7"}}};
    size_t i;
    (void)state;
    if (access("/sys/bus/cpu/devices/cpu0", F_OK) != 0) skip(); /* a device that is there, to stand for a port's */
    add_link(11, "zz_port", 11000);
    kernel.links[3].bus = "cpu";
    kernel.links[3].bus_device = "cpu0";
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        netprof_snapshot s;
        netprof *np;
        kernel.pause = rows[i].pause;
        kernel.pfc = rows[i].pfc;
        np = open_with(NULL, 0);
        s = take(np, NETPROF_SET_ALL);
        assert_int_equal(s.schema->device_count, 4);
        assert_fact(&s, 3, "pause", rows[i].said[0]);
        assert_fact(&s, 3, "pfc", rows[i].said[1]);
        assert_fact(&s, 1, "pause", NULL); /* without a device of a bus nobody is asked */
        assert_fact(&s, 1, "pfc", NULL);
        assert_value(&s, "zz_port", "rx_packets", 11000);
        netprof_snapshot_free(&s);
        netprof_close(np);
    }
    assert_int_equal(kernel.open, 0);
}

static void trap_speed_of_down_link(void **state)
{
    (void)state;
    assert_int_equal(netprof__known_speed((uint64_t)-1), 0);
    assert_int_equal(netprof__known_speed(65535), 0);
    assert_int_equal(netprof__known_speed(4294967295u), 0);
    assert_int_equal(netprof__known_speed(0), 0);
    assert_int_equal(netprof__known_speed(1000), 1000);
    assert_int_equal(netprof__known_speed(800000), 800000);
}

/* -- hostile replies -- */

static int visit_both(void *user, unsigned type, const unsigned char *body, size_t size)
{
    const unsigned char *stats;
    netprof__link link;
    uint32_t ifindex;
    size_t count, i;
    uint64_t sum = 0, word;
    if (type == 36) {
        uint32_t queue[4];
        uint8_t known;
        if (netprof__parse_qdisc(body, size, &ifindex, queue, &known) == 0)
            *(uint64_t *)user += (uint64_t)queue[0] + queue[1] + queue[2] + queue[3] + ifindex;
        return 0;
    }
    if (type == 92)
        netprof__parse_stats(body, size, &ifindex, &stats, &count);
    else
        netprof__parse_link(body, size, &link, &stats, &count);
    for (i = 0; i < count; i++) { /* all that is promised can be read */
        memcpy(&word, stats + 8 * i, 8);
        sum += word;
    }
    *(uint64_t *)user += sum;
    return 0;
}

static int parse_both(const unsigned char *data, size_t size, uint64_t *sum)
{
    int interrupted = 0;
    *sum = 0;
    return netprof__nl_parse(data, size, 7, &interrupted, NULL, visit_both, sum);
}

static fake_message *sample_reply(void)
{
    fake_message *m = (fake_message *)calloc(1, sizeof *m);
    kernel.sequence = 7;
    put_stats_message(m, &kernel.links[1], 0);
    kernel.links[2].kind = "veth";
    put_link_message(m, &kernel.links[2], 0);
    set_queue(&kernel.links[1], "tbf", 1, 20, 300, 4000);
    put_queue_message(m, &kernel.links[1], 0xffffffff, 0);
    put_done(m, 0, 7);
    return m;
}

/* Copied to the end of an allocation of exactly that size, so that the sanitizer sees a byte too many. */
static void test_replies_cut_at_every_byte_and_unaligned(void **state)
{
    fake_message *m = sample_reply();
    uint64_t expected = 4321 + 5, sum; /* the queueing discipline and its ifindex */
    size_t i, shift;
    (void)state;
    for (i = 0; i < WORDS; i++)
        expected += 5000 + i + 9000 + i;
    for (shift = 0; shift < 8; shift++) {
        for (i = 0; i <= m->size; i++) {
            unsigned char *copy = (unsigned char *)malloc(i + shift + 1);
            int result;
            memcpy(copy + shift, m->data, i);
            copy = (unsigned char *)realloc(copy, i + shift ? i + shift : 1);
            result = parse_both(copy + shift, i, &sum);
            assert_true(i == m->size ? result == 1 && sum == expected : result == 0 || result == -EBADMSG);
            free(copy);
            if (shift && i == 0) i = m->size - 2; /* unaligned: whole replies only */
        }
    }
    free(m);
}

static void test_replies_with_damaged_bytes(void **state)
{
    static const unsigned char values[] = {0, 1, 3, 4, 5, 15, 16, 17, 127, 128, 254, 255};
    fake_message *m = sample_reply();
    unsigned char *copy = (unsigned char *)malloc(m->size);
    uint64_t sum, random = 88172645463325252u;
    size_t i, k;
    (void)state;
    for (i = 0; i < m->size; i++)
        for (k = 0; k < sizeof values; k++) {
            memcpy(copy, m->data, m->size);
            copy[i] = values[k];
            parse_both(copy, m->size, &sum);
        }
    for (i = 0; i < 20000; i++) {
        memcpy(copy, m->data, m->size);
        for (k = 0; k < 6; k++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            copy[random % m->size] = (unsigned char)(random >> 32);
        }
        parse_both(copy, m->size, &sum);
    }
    free(copy);
    free(m);
}

static void test_odd_netlink_messages(void **state)
{
    fake_message *m = (fake_message *)calloc(1, sizeof *m);
    int interrupted = 0;
    uint64_t sum = 0;
    (void)state;
    begin_message(m, 1, 0, 7, NULL, 0); /* NLMSG_NOOP */
    end_message(m);
    put_error(m, 8, EPERM); /* another's */
    put_error(m, 7, EPERM);
    assert_int_equal(netprof__nl_parse(m->data, m->size, 7, &interrupted, NULL, visit_both, &sum), -EPERM);
    m->size = 0;
    put_error(m, 7, 0); /* an acknowledgement */
    assert_int_equal(netprof__nl_parse(m->data, m->size, 7, &interrupted, NULL, visit_both, &sum), 1);
    m->size = 0;
    begin_message(m, 2, 0, 7, NULL, 0); /* an error without a code */
    end_message(m);
    assert_int_equal(netprof__nl_parse(m->data, m->size, 7, &interrupted, NULL, visit_both, &sum), -EBADMSG);
    m->size = 0;
    begin_message(m, 4, 0, 7, NULL, 0); /* NLMSG_OVERRUN */
    end_message(m);
    assert_int_equal(netprof__nl_parse(m->data, m->size, 7, &interrupted, NULL, visit_both, &sum), -ENOBUFS);
    assert_int_equal(netprof__nl_parse(m->data, 0, 7, &interrupted, NULL, visit_both, &sum), 0);
    assert_int_equal(interrupted, 0);
    m->size = 0;
    put_done(m, 0x10, 7);
    assert_int_equal(netprof__nl_parse(m->data, m->size, 7, &interrupted, NULL, visit_both, &sum), 1);
    assert_int_equal(interrupted, 1);
    free(m);
}

/* -- /proc/net/dev -- */

static const char header[] =
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls "
    "carrier compressed\n";

static void test_columns_of_proc_net_dev(void **state)
{
    static const char *const expected[16] = {"rx_bytes",       "rx_packets", "rx_errors",     "rx_drop",
                                             "rx_fifo_errors", "rx_frame",   "rx_compressed", "multicast",
                                             "tx_bytes",       "tx_packets", "tx_errors",     "tx_dropped",
                                             "tx_fifo_errors", "collisions", "tx_carrier",    "tx_compressed"};
    char names[NETPROF__PROC_COLUMNS][32];
    size_t count, i;
    (void)state;
    assert_int_equal(netprof__parse_procdev_header(header, strlen(header), names, &count), strlen(header));
    assert_int_equal(count, 16);
    for (i = 0; i < 16; i++)
        assert_string_equal(names[i], expected[i]);
    for (i = 0; i < strlen(header); i++) /* cut short: no such file */
        assert_int_equal(netprof__parse_procdev_header(header, i, names, &count), 0);
}

static void trap_alias_names_in_proc_net_dev(void **state)
{
    static const struct {
        const char *line, *name;
        int count;
        uint64_t first, last;
    } rows[] = {{"    lo: 1664039048 1566805    0", "lo", 3, 1664039048, 0},
                {"eth0:1: 5 6", "eth0:1", 2, 5, 6},
                {"ibr10:30:18446744073709551615 7", "ibr10:30", 2, UINT64_MAX, 7},
                {"eth0:12345678901 2", "eth0", 2, 12345678901u, 2},
                {"eth0: 1 x 3", "eth0", 1, 1, 1},
                {"eth0: 18446744073709551616", "eth0", 0, 0, 0},
                {"eth0:", "eth0", 0, 0, 0}};
    char name[64];
    uint64_t values[4];
    size_t i;
    (void)state;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        int n = netprof__parse_procdev_line(rows[i].line, strlen(rows[i].line), name, sizeof name, values, 4);
        assert_int_equal(n, rows[i].count);
        assert_string_equal(name, rows[i].name);
        if (n > 0) {
            assert_true(values[0] == rows[i].first);
            assert_true(values[n - 1] == rows[i].last);
        }
    }
    assert_int_equal(netprof__parse_procdev_line("no colon 1 2", 12, name, sizeof name, values, 4), -1);
    assert_int_equal(netprof__parse_procdev_line(": 1 2", 5, name, sizeof name, values, 4), -1);
    assert_int_equal(netprof__parse_procdev_line("", 0, name, sizeof name, values, 4), -1);
}

/* -- trees of files -- */

static char root[256];

static void make_file(const char *path, const char *text)
{
    char full[1024], *slash;
    FILE *f;
    snprintf(full, sizeof full, "%s/%s", root, path);
    for (slash = full + strlen(root) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = 0;
        mkdir(full, 0777);
        *slash = '/';
    }
    if (!text) {
        mkdir(full, 0777);
        return;
    }
    f = fopen(full, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int make_root(void **state)
{
    const char *tmp = getenv("TMPDIR");
    setup(state);
    snprintf(root, sizeof root, "%s/netprof-netlink-XXXXXX", tmp ? tmp : "/tmp");
    return mkdtemp(root) ? 0 : -1;
}

static int drop_root(void **state)
{
    char command[300];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

static netprof_snapshot take_root(netprof **np, int pid)
{
    netprof_snapshot s = NETPROF_ZERO;
    netprof_config c;
    memset(&c, 0, sizeof c);
    c.sources = "netdev";
    c.root = root;
    c.pid = pid;
    assert_int_equal(netprof_open(np, &c, NULL), NETPROF_OK);
    assert_int_equal(netprof_take(*np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    return s;
}

static void trap_non_interface_entries(void **state)
{
    netprof_snapshot s;
    netprof *np;
    const netprof_device *d;
    (void)state;
    make_file("sys/class/net/bonding_masters", "bond0\n");
    make_file("sys/class/net/stray/file", "1\n");
    make_file("sys/class/net/bond0/ifindex", "7\n");
    make_file("sys/class/net/bond0/type", "1\n");
    make_file("sys/class/net/bond0/bonding/mode", "802.3ad 4\n");
    make_file("sys/class/net/bond0/lower_eth0/ifindex", "8\n");
    make_file("sys/class/net/bond0/speed", "-1\n");
    make_file("sys/class/net/bond0/statistics/rx_bytes", "123\n");
    make_file("sys/class/net/bond0/statistics/rx_future", "5\n");
    make_file("sys/class/net/bond0/carrier", "1\n");
    make_file("sys/class/net/eth0/ifindex", "8\n");
    make_file("sys/class/net/eth0/type", "1\n");
    make_file("sys/class/net/eth0/speed", "40000\n");
    make_file("sys/class/net/eth0/master/ifindex", "7\n");
    make_file("sys/class/net/eth0/device/numa_node", "1\n");
    make_file("sys/class/net/eth0/statistics/rx_bytes", "18446744073709551615\n");
    s = take_root(&np, 0);
    assert_int_equal(s.schema->device_count, 2);
    assert_value(&s, "bond0", "rx_bytes", 123);
    assert_value(&s, "bond0", "rx_future", 5);
    assert_value(&s, "bond0", "carrier", 1);
    assert_value(&s, "eth0", "rx_bytes", UINT64_MAX);
    assert_status(&s, "eth0", "carrier_up_count", -1);
    d = &s.schema->devices[0];
    assert_string_equal(d->name, "bond0");
    assert_int_equal(d->flags, NETPROF_DEVICE_VIRTUAL);
    assert_string_equal(netprof_fact_of(d->facts, d->fact_count, "kind"), "bond");
    assert_null(netprof_fact_of(d->facts, d->fact_count, "speed_mbps"));
    d = &s.schema->devices[1];
    assert_int_equal(d->flags, NETPROF_DEVICE_PHYSICAL);
    assert_string_equal(netprof_fact_of(d->facts, d->fact_count, "kind"), "bond member");
    assert_string_equal(netprof_fact_of(d->facts, d->fact_count, "master"), "bond0");
    assert_string_equal(netprof_fact_of(d->facts, d->fact_count, "speed_mbps"), "40000");
    assert_string_equal(netprof_fact_of(d->facts, d->fact_count, "numa_node"), "1");
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void test_ecn_of_roce(void **state)
{
    netprof_snapshot s;
    netprof *np;
    char path[100];
    int i;
    (void)state;
    make_file("sys/class/net/eth0/ifindex", "3\n");
    make_file("sys/class/net/eth0/device/numa_node", "0\n");
    make_file("sys/class/net/eth0/statistics/rx_bytes", "1\n");
    for (i = 0; i < 8; i++) {
        snprintf(path, sizeof path, "sys/class/net/eth0/ecn/roce_np/enable/%d", i);
        make_file(path, i == 3 || i == 5 ? "1\n" : "0\n");
        snprintf(path, sizeof path, "sys/class/net/eth0/ecn/roce_rp/enable/%d", i);
        make_file(path, "0\n");
    }
    s = take_root(&np, 0);
    assert_fact(&s, 0, "roce_ecn_np", "3 5");
    assert_fact(&s, 0, "roce_ecn_rp", "off");
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void test_a_function_without_its_pf_is_a_port(void **state)
{
    netprof_snapshot s;
    netprof *np;
    (void)state;
    make_file("sys/class/net/vf0/ifindex", "3\n");
    make_file("sys/class/net/vf0/device/physfn/net/eth0/ifindex", "2\n");
    make_file("sys/class/net/vf0/statistics/rx_bytes", "1\n");
    make_file("sys/class/net/vf1/ifindex", "4\n");
    make_file("sys/class/net/vf1/device/physfn/net", NULL); /* the PF is in another namespace */
    make_file("sys/class/net/vf1/statistics/rx_bytes", "1\n");
    s = take_root(&np, 0);
    assert_int_equal(s.schema->devices[0].flags, NETPROF_DEVICE_VIRTUAL);
    assert_int_equal(s.schema->devices[1].flags, NETPROF_DEVICE_PHYSICAL);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

/* proc/net is self/net even through a bind mount: of a root it is process 1 that counts, and a pid if given. */
static void trap_network_namespace(void **state)
{
    char text[1024];
    netprof_snapshot s;
    netprof *np;
    (void)state;
    snprintf(text, sizeof text, "%s  eth0: 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n", header);
    make_file("proc/net/dev", text);
    s = take_root(&np, 0);
    assert_value(&s, "eth0", "rx_bytes", 1);
    netprof_snapshot_free(&s);
    netprof_close(np);
    snprintf(text, sizeof text, "%s  eth0: 2 0 0 3 0 0 0 0 0 0 0 0 0 0 0 0\neth0:1:4 0", header);
    make_file("proc/1/net/dev", text);
    s = take_root(&np, 0);
    assert_value(&s, "eth0", "rx_bytes", 2);
    assert_value(&s, "eth0", "rx_drop", 3);
    assert_status(&s, "eth0", "rx_dropped", -1);
    assert_value(&s, "eth0:1", "rx_bytes", 4); /* and no newline at the end */
    assert_status(&s, "eth0:1", "tx_bytes", NETPROF_STATUS_ABSENT);
    netprof_snapshot_free(&s);
    netprof_close(np);
    snprintf(text, sizeof text, "%s  net1: 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n", header);
    make_file("proc/42/net/dev", text);
    s = take_root(&np, 42);
    assert_int_equal(s.schema->device_count, 1);
    assert_value(&s, "net1", "rx_bytes", 5);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

/* More than one page of interfaces, and more than several of what it was read into at first. */
static void test_proc_net_dev_of_any_length(void **state)
{
    enum { LINKS = 600 };
    size_t size = strlen(header) + LINKS * 64, length, i;
    char *text = (char *)malloc(size), name[16];
    netprof_snapshot s;
    netprof *np;
    (void)state;
    assert_non_null(text);
    length = (size_t)snprintf(text, size, "%s", header);
    for (i = 0; i < LINKS; i++)
        length += (size_t)snprintf(text + length, size - length, "  if%03u: %u 7\n", (unsigned)i, (unsigned)(1000 + i));
    assert_true(length > 8192);
    make_file("proc/net/dev", text);
    s = take_root(&np, 0);
    assert_int_equal(s.schema->device_count, LINKS);
    for (i = 0; i < LINKS; i++) {
        snprintf(name, sizeof name, "if%03u", (unsigned)i);
        assert_value(&s, name, "rx_bytes", 1000 + i);
    }
    netprof_snapshot_free(&s);
    netprof_close(np);
    free(text);
}

static void test_proc_net_dev_follows_links(void **state)
{
    char text[1024];
    netprof_snapshot s;
    netprof *np;
    (void)state;
    snprintf(text, sizeof text, "%seth0: 1 2\neth1: 3 4\n", header);
    make_file("proc/net/dev", text);
    s = take_root(&np, 0);
    netprof_snapshot_free(&s);
    snprintf(text, sizeof text, "%seth1: 5 6\neth2: 7 8\n", header);
    make_file("proc/net/dev", text);
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    assert_int_equal(s.schema->device_count, 2);
    assert_value(&s, "eth1", "rx_bytes", 5);
    assert_value(&s, "eth2", "rx_packets", 8);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void test_nothing_at_all(void **state)
{
    netprof_config c;
    netprof_error e;
    netprof *np;
    const netprof_schema *s;
    (void)state;
    memset(&c, 0, sizeof c);
    c.sources = "netdev";
    c.root = root;
    assert_int_equal(netprof_open(&np, &c, &e), NETPROF_ERR_NOSOURCE);
    s = netprof_get_schema(np);
    assert_int_equal(s->sources[0].status, NETPROF_STATUS_ABSENT);
    assert_int_equal(s->sources[0].sys_errno, ENOENT);
    netprof_close(np);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, setup)
#define TREE(name) cmocka_unit_test_setup_teardown(name, make_root, drop_root)
    const struct CMUnitTest tests[] = {
        TEST(test_every_statistic_reaches_its_counter),
        TEST(test_links_of_many_datagrams),
        TEST(test_few_links_are_asked_for_with_little_room),
        TEST(trap_datagrams_of_large_pages_are_cut),
        TEST(test_struct_of_a_later_kernel),
        TEST(test_struct_of_an_earlier_kernel),
        TEST(test_the_fast_set),
        TEST(test_filters),
        TEST(test_the_root_queueing_discipline),
        TEST(test_queueing_disciplines_come_and_go),
        TEST(test_queueing_disciplines_that_cannot_be_read),
        TEST(test_interrupted_dump_is_asked_for_again),
        TEST(test_filters_of_tc_are_no_news),
        TEST(test_enobufs_keeps_the_socket),
        TEST(trap_an_answer_that_found_no_room_is_waited_for),
        TEST(trap_an_event_is_lost_with_the_answer),
        TEST(test_busy_interrupted_and_garbage_replies),
        TEST(test_32_bit_ifla_stats_is_never_used),
        TEST(test_without_netlink_the_files_are_read),
        TEST(test_without_events_links_are_read_each_time),
        TEST(trap_vanishes_between_list_and_read),
        TEST(test_a_rescan_follows_links),
        TEST(trap_one_link_goes_after_the_other),
        TEST(test_a_recreated_interface_is_a_reset),
        TEST(test_carrier_follows_events_and_keeps_the_schema),
        TEST(test_every_allocation_fails_in_turn),
        TEST(trap_stacked_devices_counted_twice),
        TEST(test_names_of_representors),
        TEST(test_the_link_below),
        TEST(test_numbers_of_attributes),
        TEST(test_pause_and_priority_flow_control),
        TEST(trap_speed_of_down_link),
        TEST(test_replies_cut_at_every_byte_and_unaligned),
        TEST(test_replies_with_damaged_bytes),
        TEST(test_odd_netlink_messages),
        TEST(test_columns_of_proc_net_dev),
        TEST(trap_alias_names_in_proc_net_dev),
        TREE(trap_non_interface_entries),
        TREE(test_ecn_of_roce),
        TREE(test_a_function_without_its_pf_is_a_port),
        TREE(trap_network_namespace),
        TREE(test_proc_net_dev_of_any_length),
        TREE(test_proc_net_dev_follows_links),
        TREE(test_nothing_at_all),
    };
    unsetenv("NETPROF_ROOT");
    unsetenv("NETPROF_INCLUDE");
    unsetenv("NETPROF_EXCLUDE");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
