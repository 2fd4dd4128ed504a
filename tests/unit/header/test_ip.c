/* Source ip on trees that the tests make, and on a network namespace of its own. Tests named trap_... are
   rows of the table of traps that such sources have fallen into. */
#define NETPROF_IMPLEMENTATION
#include "netprof.h"
#include <net/if.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <cmocka.h>
#include "failing.h"
#include "tree.h"

#define SNMP                                                                                                           \
    "Ip: Forwarding DefaultTTL InReceives\n"                                                                           \
    "Ip: 1 64 600\n"                                                                                                   \
    "Tcp: RtoMin MaxConn CurrEstab InSegs OutSegs RetransSegs\n"                                                       \
    "Tcp: 200 -1 15 653161 594855 348\n"

static void headers_give_the_names(void **state)
{
    netprof *np;
    netprof_snapshot s;
    const netprof_counter *c;
    (void)state;
    tree_write("proc/net/snmp", SNMP);
    tree_write("proc/net/netstat", "TcpExt: ListenDrops TCPTimeouts\nTcpExt: 3 4\n"
                                   "IpExt: InOctets OutOctets\nIpExt: 18446744073709551615 6\n");
    tree_write("proc/net/snmp6", "Ip6InReceives                   \t92166\nUdp6InErrors \t2\nIp6InOctets\t9\n");
    np = tree_open("ip", NETPROF_HOLD_ALL);
    s = tree_take(np, NETPROF_SET_ALL);
    assert_int_equal(s.not_ok, 0);
    assert_int_equal(tree_value(&s, "Tcp", "RetransSegs"), 348);
    assert_string_equal(tree_counter(&s, "Tcp", "RetransSegs")->unit, "segments");
    assert_int_equal(tree_value(&s, "TcpExt", "TCPTimeouts"), 4);
    assert_int_equal(tree_value(&s, "IpExt", "InOctets"), UINT64_MAX);
    assert_string_equal(tree_counter(&s, "IpExt", "InOctets")->unit, "bytes");
    assert_int_equal(tree_value(&s, "snmp6", "Ip6InReceives"), 92166);
    assert_string_equal(tree_counter(&s, "snmp6", "Ip6InOctets")->unit, "bytes");
    assert_string_equal(tree_counter(&s, "snmp6", "Udp6InErrors")->unit, "errors");
    c = tree_counter(&s, "Tcp", "CurrEstab");
    assert_int_equal(c->kind, NETPROF_KIND_GAUGE);
    assert_int_equal(tree_counter(&s, "Ip", "Forwarding")->kind, NETPROF_KIND_STATE);
    assert_string_equal(tree_fact(s.schema, "TcpExt", "file"), "netstat");
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void fast_set_reads_only_the_files_it_needs(void **state)
{
    netprof *np;
    netprof_snapshot s;
    (void)state;
    tree_write("proc/net/snmp", SNMP);
    tree_write("proc/net/sockstat", "TCP: inuse 35\n");
    np = tree_open("ip", NETPROF_HOLD_NONE);
    s = tree_take(np, NETPROF_SET_FAST);
    assert_int_equal(tree_value(&s, "Tcp", "OutSegs"), 594855);
    assert_int_equal(tree_status(&s, "Tcp", "CurrEstab"), NETPROF_STATUS_SKIPPED);
    assert_int_equal(tree_status(&s, "sockstat", "TCP_inuse"), NETPROF_STATUS_SKIPPED);
    tree_remove("proc/net/sockstat"); /* nobody notices: it is not read */
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_FAST, NULL), NETPROF_OK);
    tree_find(&s, "sockstat", "TCP_inuse");
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void trap_signed(void **state)
{
    netprof *np;
    netprof_snapshot s;
    (void)state;
    tree_write("proc/net/snmp", "Tcp: MaxConn InSegs OutSegs\nTcp: -1 -5 7\n");
    np = tree_open("ip", NETPROF_HOLD_ALL);
    s = tree_take(np, NETPROF_SET_ALL);
    assert_true(tree_counter(&s, "Tcp", "MaxConn")->flags & NETPROF_SIGNED);
    assert_int_equal((int64_t)tree_value(&s, "Tcp", "MaxConn"), -1);
    assert_int_equal(tree_status(&s, "Tcp", "InSegs"), NETPROF_STATUS_UNREADABLE); /* no counter is negative */
    assert_int_equal(tree_value(&s, "Tcp", "OutSegs"), 7);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

/* 9, 10, 11, 13 and 15 columns; a CPU that is offline has no line; no newline at the end. */
static void trap_variable_columns_of_softnet_stat(void **state)
{
    static const char *const absent[] = {"received_rps/cpu0", "flow_limit/cpu1", "backlog_len/cpu2", "input_qlen/cpu7",
                                         "backlog_len/cpu0"};
    netprof *np;
    netprof_snapshot s;
    size_t i;
    (void)state;
    tree_write("proc/net/softnet_stat",
               "0000000a 00000001 00000002 00000000 00000000 00000000 00000000 00000000 00000003\n"
               "0000000b 00000001 00000002 00000000 00000000 00000000 00000000 00000000 00000003 00000004\n"
               "0000000c 00000001 00000002 00000000 00000000 00000000 00000000 00000000 00000003 00000004 00000005\n"
               "0000000d 00000001 00000002 00000000 00000000 00000000 00000000 00000000 00000003 00000004 00000005 "
               "00000006 00000007\n"
               "FFFFFFFE 00000001 00000002 00000000 00000000 00000000 00000000 00000000 00000003 00000004 00000005 "
               "00000006 00000010 00000008 00000009");
    np = tree_open("ip", NETPROF_HOLD_ALL);
    s = tree_take(np, NETPROF_SET_ALL);
    assert_int_equal(tree_device(s.schema, "softnet")->count, 4 + 5 + 6 + 7 + 9);
    assert_int_equal(tree_value(&s, "softnet", "processed/cpu0"), 10);
    assert_int_equal(tree_value(&s, "softnet", "cpu_collision/cpu0"), 3);
    assert_int_equal(tree_value(&s, "softnet", "received_rps/cpu1"), 4);
    assert_int_equal(tree_value(&s, "softnet", "flow_limit/cpu2"), 5);
    assert_int_equal(tree_value(&s, "softnet", "backlog_len/cpu7"), 6);
    assert_int_equal(tree_value(&s, "softnet", "processed/cpu16"), 0xfffffffe);
    assert_int_equal(tree_value(&s, "softnet", "input_qlen/cpu16"), 8);
    assert_int_equal(tree_value(&s, "softnet", "process_qlen/cpu16"), 9);
    assert_int_equal(tree_counter(&s, "softnet", "backlog_len/cpu16")->kind, NETPROF_KIND_GAUGE);
    assert_int_equal(tree_counter(&s, "softnet", "processed/cpu16")->width, 32);
    for (i = 0; i < sizeof absent / sizeof *absent; i++) /* not there is not 0 */
        assert_int_equal(netprof_find(s.schema, "ip", "softnet", absent[i]), NETPROF_NONE);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

/* Of the tables of connections and neighbours only what tells that one is full, and the settings beside it. */
static void tables_and_their_limits(void **state)
{
    netprof *np;
    netprof_snapshot s;
    (void)state;
    tree_write("proc/net/sockstat", "TCP: inuse 35 orphan 3 mem 7\n");
    tree_write("proc/sys/net/ipv4/tcp_max_orphans", "131072\n");
    tree_write("proc/sys/net/ipv4/tcp_mem", "287901\t383869\t575802\n");
    tree_write("proc/net/stat/nf_conntrack", "entries  clashres found drop early_drop\n"
                                             "0000001f  00000001 00000002 000000ff 00000003\n"
                                             "0000001f  00000004 00000005 FFFFFFFF 00000006\n");
    tree_write("proc/sys/net/netfilter/nf_conntrack_max", "262144\n");
    tree_write("proc/net/stat/arp_cache", "entries  allocs table_fulls\n00000002 00000443 0000000c\n0000000");
    np = tree_open("ip", NETPROF_HOLD_ALL);
    s = tree_take(np, NETPROF_SET_ALL);
    assert_int_equal(tree_device(s.schema, "sockstat")->count, 3 + 1 + 2);
    assert_int_equal(tree_value(&s, "sockstat", "TCP_orphan"), 3);
    assert_int_equal(tree_value(&s, "sockstat", "TCP_orphan_limit"), 131072);
    assert_int_equal(tree_value(&s, "sockstat", "TCP_mem_pressure"),
                     UINT64_C(383869) * (uint64_t)sysconf(_SC_PAGESIZE));
    assert_int_equal(tree_value(&s, "sockstat", "TCP_mem_limit"), UINT64_C(575802) * (uint64_t)sysconf(_SC_PAGESIZE));
    assert_int_equal(tree_device(s.schema, "conntrack")->count, 1 + 2 * 2 + 1);
    assert_int_equal(tree_value(&s, "conntrack", "entries"), 31);
    assert_int_equal(tree_value(&s, "conntrack", "max"), 262144);
    assert_int_equal(tree_value(&s, "conntrack", "drop/cpu0"), 255);
    assert_int_equal(tree_value(&s, "conntrack", "drop/cpu1"), UINT32_MAX);
    assert_int_equal(tree_value(&s, "conntrack", "early_drop/cpu1"), 6);
    assert_int_equal(tree_counter(&s, "conntrack", "early_drop/cpu1")->width, 32);
    assert_int_equal(tree_counter(&s, "conntrack", "entries")->kind, NETPROF_KIND_GAUGE);
    assert_int_equal(netprof_find(s.schema, "ip", "conntrack", "found/cpu0"), NETPROF_NONE);
    assert_int_equal(tree_value(&s, "arp_cache", "table_fulls/cpu0"), 12);
    assert_int_equal(netprof_find(s.schema, "ip", "arp_cache", "table_fulls/cpu1"), NETPROF_NONE);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void trap_wrap_guessing(void **state)
{
    netprof *np;
    netprof_snapshot before, after;
    netprof_delta delta = NETPROF_ZERO;
    size_t k;
    (void)state;
    tree_write("proc/net/softnet_stat", "fffffff0 0000ffff\n");
    tree_write("proc/net/snmp", "Tcp: InSegs\nTcp: 4294967280\n");
    np = tree_open("ip", NETPROF_HOLD_NONE);
    before = tree_take(np, NETPROF_SET_ALL);
    tree_write("proc/net/softnet_stat", "00000010 00000003\n");
    tree_write("proc/net/snmp", "Tcp: InSegs\nTcp: 16\n");
    after = tree_take(np, NETPROF_SET_ALL);
    assert_int_equal(netprof_diff(&before, &after, NULL, &delta, NULL), NETPROF_OK);
    k = tree_find(&after, "softnet", "processed/cpu0");
    assert_int_equal(delta.flags[k], NETPROF_FLAG_WRAPPED); /* 32 bits wide, from the upper half on */
    assert_int_equal(delta.values[k], 0x20);
    k = tree_find(&after, "softnet", "dropped/cpu0");
    assert_int_equal(delta.flags[k], NETPROF_FLAG_RESET); /* not near its end */
    assert_int_equal(delta.values[k], 3);
    k = tree_find(&after, "Tcp", "InSegs");
    assert_int_equal(delta.flags[k], NETPROF_FLAG_RESET); /* 64 bits wide, though it was below 2^32 */
    assert_int_equal(delta.values[k], 16);
    netprof_delta_free(&delta);
    netprof_snapshot_free(&before);
    netprof_snapshot_free(&after);
    netprof_close(np);
}

static void trap_variable_columns_of_snmp(void **state)
{
    netprof *np;
    netprof_snapshot s;
    netprof_config config = NETPROF_ZERO;
    (void)state;
    tree_write("proc/net/snmp", "IcmpMsg: InType3 OutType3\nIcmpMsg: 45 50\nTcp: InSegs OutSegs\nTcp: 1 2\n");
    config.root = tree_root;
    config.sources = "ip";
    config.no_rescan = 1;
    assert_int_equal(netprof_open(&np, &config, NULL), NETPROF_OK);
    /* another kernel's columns: a new one, one missing, another order */
    tree_write("proc/net/snmp", "IcmpMsg: InType0 InType3\nIcmpMsg: 7 46\nTcp: OutSegs InErrs InSegs\nTcp: 20 9 10\n");
    s = tree_take(np, NETPROF_SET_ALL);
    assert_int_equal(tree_value(&s, "IcmpMsg", "InType3"), 46);
    assert_int_equal(tree_status(&s, "IcmpMsg", "OutType3"), NETPROF_STATUS_ABSENT);
    assert_int_equal(tree_value(&s, "Tcp", "InSegs"), 10);
    assert_int_equal(tree_value(&s, "Tcp", "OutSegs"), 20);
    assert_int_equal(netprof_find(s.schema, "ip", "Tcp", "InErrs"), NETPROF_NONE);
    netprof_close(np);

    tree_write("proc/net/snmp", "Tcp: InSegs OutSegs\nTcp: 1 2\n");
    np = tree_open("ip", NETPROF_HOLD_ALL);
    tree_write("proc/net/snmp", "IcmpMsg: InType0\nIcmpMsg: 7\nTcp: OutSegs InErrs InSegs\nTcp: 20 9\n");
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK); /* looks anew by itself */
    assert_int_equal(tree_value(&s, "IcmpMsg", "InType0"), 7);
    assert_int_equal(tree_value(&s, "Tcp", "InErrs"), 9);
    assert_int_equal(tree_status(&s, "Tcp", "InSegs"), NETPROF_STATUS_ABSENT); /* a name without a value */
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void trap_garbage_costs_only_itself(void **state)
{
    netprof *np;
    netprof_snapshot s;
    (void)state;
    tree_write("proc/net/snmp", "garbage\n\nTcp: InSegs OutSegs\nIp: InReceives\nIp: 5 6 7\n"
                                "Udp: InDatagrams NoPorts\nUdp: 12x 99999999999999999999\nUdpLite: NoPorts");
    tree_write("proc/net/snmp6", "Ip6InReceives\nIp6InDelivers 4\n");
    tree_write("proc/net/softnet_stat", "0000000g 00000002\n");
    np = tree_open("ip", NETPROF_HOLD_ALL);
    s = tree_take(np, NETPROF_SET_ALL);
    assert_null(tree_device(s.schema, "Tcp")); /* no values behind the header */
    assert_null(tree_device(s.schema, "UdpLite"));
    assert_int_equal(tree_value(&s, "Ip", "InReceives"), 5);
    assert_int_equal(tree_status(&s, "Udp", "InDatagrams"), NETPROF_STATUS_UNREADABLE);
    assert_int_equal(tree_status(&s, "Udp", "NoPorts"), NETPROF_STATUS_UNREADABLE);
    assert_int_equal(tree_status(&s, "snmp6", "Ip6InReceives"), NETPROF_STATUS_ABSENT);
    assert_int_equal(tree_value(&s, "snmp6", "Ip6InDelivers"), 4);
    assert_int_equal(tree_status(&s, "softnet", "processed/cpu0"), NETPROF_STATUS_UNREADABLE);
    assert_int_equal(tree_value(&s, "softnet", "dropped/cpu0"), 2);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void trap_short_read_buffer(void **state)
{
    enum { CPUS = 400, LINE = 136 }; /* 54 KB: more than any first buffer */
    char *text = (char *)calloc(CPUS, LINE + 1);
    netprof *np;
    netprof_snapshot s;
    char name[64];
    unsigned i;
    (void)state;
    for (i = 0; i < CPUS; i++)
        sprintf(text + strlen(text),
                "%08x 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
                "00000000 %08x 00000000 00000000\n",
                1000 + i, i);
    tree_write("proc/net/softnet_stat", text);
    np = tree_open("ip", NETPROF_HOLD_ALL);
    s = tree_take(np, NETPROF_SET_ALL);
    assert_int_equal(tree_device(s.schema, "softnet")->count, CPUS * 9);
    for (i = 0; i < CPUS; i++) {
        snprintf(name, sizeof name, "processed/cpu%u", i);
        assert_int_equal(tree_value(&s, "softnet", name), 1000 + i);
    }
    netprof_snapshot_free(&s);
    netprof_close(np);
    free(text);
}

static void pages_of_sockstat_are_bytes(void **state)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    netprof *np;
    netprof_snapshot s;
    (void)state;
    tree_write("proc/net/sockstat", "sockets: used 1602\nTCP: inuse 35 orphan 0 tw 4 alloc 59 mem 22\n"
                                    "FRAG: inuse 0 memory 5\n");
    np = tree_open("ip", NETPROF_HOLD_ALL);
    s = tree_take(np, NETPROF_SET_ALL);
    assert_int_equal(tree_value(&s, "sockstat", "sockets_used"), 1602);
    assert_int_equal(tree_value(&s, "sockstat", "TCP_mem"), 22 * page);
    assert_string_equal(tree_counter(&s, "sockstat", "TCP_mem")->unit, "bytes");
    assert_int_equal(tree_counter(&s, "sockstat", "TCP_mem")->kind, NETPROF_KIND_GAUGE);
    assert_int_equal(tree_value(&s, "sockstat", "FRAG_memory"), 5); /* bytes already */
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void trap_vanishes_between_list_and_read(void **state)
{
    netprof *np;
    netprof_snapshot s;
    (void)state;
    tree_write("proc/net/snmp", SNMP);
    tree_write("proc/net/snmp6", "Ip6InReceives 1\n");
    np = tree_open("ip", NETPROF_HOLD_NONE);
    tree_remove("proc/net/snmp6");
    s = tree_take(np, NETPROF_SET_ALL);
    assert_int_equal(tree_value(&s, "Tcp", "InSegs"), 653161);
    assert_null(tree_device(s.schema, "snmp6"));
    tree_write("proc/net/snmp6", "Ip6InReceives 2\n");
    assert_int_equal(netprof_rescan(np, NULL), NETPROF_OK);
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    assert_int_equal(tree_value(&s, "snmp6", "Ip6InReceives"), 2);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

/* PROC/net would be the reader's own namespace: process 1's, or that of the process that is asked for. */
static void trap_network_namespace(void **state)
{
    netprof_config config = NETPROF_ZERO;
    netprof *np;
    netprof_snapshot s;
    (void)state;
    tree_write("proc/net/snmp", "Tcp: InSegs\nTcp: 1\n");
    tree_write("proc/1/net/snmp", "Tcp: InSegs\nTcp: 2\n");
    tree_write("proc/77/net/snmp", "Tcp: InSegs\nTcp: 3\n");
    tree_link("net:[4026531833]", "proc/1/ns/net");
    tree_link("net:[4026532999]", "proc/77/ns/net");
    np = tree_open("ip", NETPROF_HOLD_ALL);
    s = tree_take(np, NETPROF_SET_ALL);
    assert_int_equal(tree_value(&s, "Tcp", "InSegs"), 2);
    assert_string_equal(tree_fact(s.schema, "Tcp", "netns"), "net:[4026531833]");
    assert_int_equal(tree_device(s.schema, "Tcp")->identity, 4026531833u);
    netprof_close(np);

    config.root = tree_root;
    config.sources = "ip";
    config.pid = 77;
    config.hold = NETPROF_HOLD_ALL;
    assert_int_equal(netprof_open(&np, &config, NULL), NETPROF_OK);
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    assert_int_equal(tree_value(&s, "Tcp", "InSegs"), 3);
    assert_int_equal(tree_device(s.schema, "Tcp")->identity, 4026532999u);
    tree_remove("proc/77"); /* the process ended: its files are never held */
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    assert_null(tree_device(s.schema, "Tcp"));
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void every_allocation_fails_in_turn(void **state)
{
    netprof_config config = NETPROF_ZERO;
    long n, left;
    netprof_alloc alloc = failing_alloc(&left);
    netprof_err result = NETPROF_ERR_NOMEM;
    (void)state;
    tree_write("proc/net/snmp", SNMP);
    tree_write("proc/net/softnet_stat", "00000001 00000002\n");
    config.root = tree_root;
    config.sources = "ip";
    config.hold = NETPROF_HOLD_ALL;
    config.alloc = &alloc;
    for (n = 0; result == NETPROF_ERR_NOMEM; n++) {
        netprof *np;
        left = n;
        result = netprof_open(&np, &config, NULL);
        assert_true(result == NETPROF_OK ? np != NULL : np == NULL);
        netprof_close(np);
    }
    assert_int_equal(result, NETPROF_OK);
    assert_true(n > 10);
}

/* A rescan that fails for want of memory must not leave the sources and the schema at odds. */
static void a_rescan_without_memory_does_no_harm(void **state)
{
    netprof_config config = NETPROF_ZERO;
    long n, left;
    netprof_alloc alloc = failing_alloc(&left);
    netprof_err result = NETPROF_ERR_NOMEM;
    netprof_snapshot s = NETPROF_ZERO;
    netprof *np;
    (void)state;
    tree_write("proc/net/snmp", "Tcp: InSegs\nTcp: 1\n");
    config.root = tree_root;
    config.sources = "ip";
    config.no_rescan = 1;
    config.alloc = &alloc;
    for (n = 0; result == NETPROF_ERR_NOMEM; n++) {
        tree_write("proc/net/snmp", "Tcp: InSegs\nTcp: 1\n");
        left = 1000000;
        assert_int_equal(netprof_open(&np, &config, NULL), NETPROF_OK);
        tree_write("proc/net/snmp", SNMP); /* more and other counters */
        left = n;
        result = netprof_rescan(np, NULL);
        left = 0;
        netprof_take(np, &s, NETPROF_SET_ALL, NULL); /* must not write beyond the old schema */
        left = 1000000;
        assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
        assert_int_equal(tree_value(&s, "Tcp", "InSegs"), 653161);
        assert_int_equal(tree_value(&s, "Ip", "InReceives"), 600);
        netprof_snapshot_free(&s);
        netprof_close(np);
    }
    assert_int_equal(result, NETPROF_OK);
}

static int loopback_up(void)
{
    struct ifreq request;
    int fd = socket(AF_INET, SOCK_DGRAM, 0), failed;
    memset(&request, 0, sizeof request);
    strcpy(request.ifr_name, "lo");
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    failed = ioctl(fd, SIOCSIFFLAGS, &request);
    close(fd);
    return failed;
}

/* 100 datagrams of 1000 bytes to a socket that gets them, 7 to a port that nobody has, of which each is answered before
   the next. */
static int send_datagrams(void)
{
    struct sockaddr_in to;
    struct timeval patience = {120, 0};
    socklen_t size = sizeof to;
    char data[1000] = {0};
    int in = socket(AF_INET, SOCK_DGRAM, 0), out = socket(AF_INET, SOCK_DGRAM, 0), i;
    memset(&to, 0, sizeof to);
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(in, (struct sockaddr *)&to, size) || getsockname(in, (struct sockaddr *)&to, &size)) return 1;
    for (i = 0; i < 100; i++)
        if (sendto(out, data, sizeof data, 0, (struct sockaddr *)&to, size) != sizeof data ||
            recv(in, data, sizeof data, 0) != sizeof data)
            return 2;
    to.sin_port = htons(9);
    if (connect(out, (struct sockaddr *)&to, size) ||
        setsockopt(out, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience))
        return 3;
    for (i = 0; i < 7; i++)
        if (send(out, data, 1, 0) != 1 || recv(out, data, 1, 0) != -1 || errno != ECONNREFUSED) return 4;
    close(in);
    close(out);
    return 0;
}

/* In a child: a namespace of its own, where nothing else sends. 0, 77 (not permitted), or the line that
 * failed. */
static int count_datagrams(void)
{
    netprof_config config = NETPROF_ZERO;
    netprof_snapshot s = NETPROF_ZERO, t = NETPROF_ZERO;
    netprof_delta d = NETPROF_ZERO;
    netprof *np;
    static const struct {
        const char *device, *counter;
        uint64_t expected;
    } rows[] = {{"Udp", "OutDatagrams", 107},
                {"Udp", "InDatagrams", 100},
                {"Udp", "NoPorts", 7},
                {"Ip", "OutRequests", 114},
                {"Icmp", "OutDestUnreachs", 7},
                /* IP and UDP headers are 28 bytes; ICMP quotes 29 bytes behind its own 28 */
                {"IpExt", "OutOctets", 100 * 1028 + 7 * 29 + 7 * (28 + 29)},
                {"IpExt", "InOctets", 100 * 1028 + 7 * 29 + 7 * (28 + 29)}};
    size_t i;
    config.sources = "ip";
    config.hold = NETPROF_HOLD_ALL;
    if (netprof_open(&np, &config, NULL) || netprof_take(np, &s, NETPROF_SET_ALL, NULL)) return 1;
    if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return 77;
    if (loopback_up()) return 77;
    /* the namespace changed under a context that holds files: it must notice */
    if (netprof_take(np, &s, NETPROF_SET_ALL, NULL) || send_datagrams() ||
        netprof_take(np, &t, NETPROF_SET_ALL, NULL) || netprof_diff(&s, &t, NULL, &d, NULL))
        return 2;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t k = netprof_find(d.schema, "ip", rows[i].device, rows[i].counter);
        if (k == NETPROF_NONE || d.flags[k] != NETPROF_FLAG_OK || d.values[k] != rows[i].expected) {
            fprintf(stderr, "%s/%s: %llu, not %llu\n", rows[i].device, rows[i].counter,
                    k == NETPROF_NONE ? 0ull : (unsigned long long)d.values[k], (unsigned long long)rows[i].expected);
            return 3;
        }
    }
    netprof_delta_free(&d);
    netprof_snapshot_free(&s);
    netprof_snapshot_free(&t);
    netprof_close(np);
    return 0;
}

static void known_traffic_gives_exact_counts(void **state)
{
    pid_t child = fork();
    int status;
    (void)state;
    if (child == 0) _exit(count_datagrams());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) {
        print_message("no network namespace may be made here: not checked\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* The parsers take any bytes: no reading beyond the end (the address sanitizer would say), and an end. */
static void parsers_stay_within_the_text(void **state)
{
    static const char sample[] = "Tcp: A B\nTcp: 1 2\n: :\n: \n00a f -1 \t\n\n";
    size_t f, cut, i;
    unsigned seed = 1;
    (void)state;
    for (f = 0; f < NETPROF__IP_FILES; f++)
        for (cut = 0; cut <= 4000; cut++) {
            size_t size = cut % sizeof sample, cells_seen = 0;
            char *text = (char *)malloc(size ? size : 1);
            netprof__cells cells;
            netprof__cell cell;
            for (i = 0; i < size; i++) {
                seed = seed * 1664525u + 1013904223u;
                text[i] = cut < sizeof sample ? sample[i] : sample[(seed >> 16) % sizeof sample];
            }
            memset(&cells, 0, sizeof cells);
            cells.p = text;
            cells.end = text + size;
            while (netprof__ip_formats[f].next(&cells, &cell)) {
                assert_true(cell.name_size > 0);
                assert_true(++cells_seen <= size);
            }
            free(text);
        }
}

#define TREE_TEST(test) cmocka_unit_test_setup_teardown(test, tree_setup, tree_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TREE_TEST(headers_give_the_names),
        TREE_TEST(fast_set_reads_only_the_files_it_needs),
        TREE_TEST(pages_of_sockstat_are_bytes),
        TREE_TEST(every_allocation_fails_in_turn),
        TREE_TEST(a_rescan_without_memory_does_no_harm),
        cmocka_unit_test(known_traffic_gives_exact_counts),
        cmocka_unit_test(parsers_stay_within_the_text),
        TREE_TEST(trap_signed),
        TREE_TEST(trap_variable_columns_of_softnet_stat),
        TREE_TEST(trap_variable_columns_of_snmp),
        TREE_TEST(tables_and_their_limits),
        TREE_TEST(trap_wrap_guessing),
        TREE_TEST(trap_garbage_costs_only_itself),
        TREE_TEST(trap_short_read_buffer),
        TREE_TEST(trap_vanishes_between_list_and_read),
        TREE_TEST(trap_network_namespace),
    };
    return cmocka_run_group_tests_name("ip", tests, NULL, NULL);
}
