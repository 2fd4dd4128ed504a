/* What the source ip makes of the files of /proc/net, whole: every fact, counter and value. */
#include <stddef.h>
#define NETPROF_STATIC
#define NETPROF_IMPLEMENTATION
#include "../../netprof.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include "listing.h"
#include "tree.h"

/* Names of many kinds of unit; a header without its values, a line that is none, values that are too few and too many. */
static void write_pairs(const char *process)
{
    char path[64];
    snprintf(path, sizeof path, "proc/%snet/snmp", process);
    tree_write(
        path,
        "Ip: Forwarding DefaultTTL InReceives InHdrErrors\nIp: 1 64 600 7\n"
        "nothing of this kind\n"
        "Icmp: InMsgs InErrors\n"
        "IcmpMsg: InType3\nIcmpMsg: 31\n"
        "Tcp: RtoAlgorithm RtoMin MaxConn ActiveOpens CurrEstab InSegs OutRsts Later\nTcp: 1 200 -1 41 42 43 -44\n"
        "Udp: InDatagrams NoPorts RcvbufErrors\nUdp: 51 52 5x 54\n"
        "UdpLite: InErrors InDatagrams\nUdpLite: 61 62\n");
    snprintf(path, sizeof path, "proc/%snet/netstat", process);
    tree_write(path,
               "TcpExt: ListenDrops TW TCPTimeouts TCPLossProbes BusyPollRxPackets TCPChallengeACK TCPSackRetrans\n"
               "TcpExt: 71 72 73 74 75 76 77\n"
               "IpExt: InNoRoutes InOctets InMcastOctets InCsumErrors\nIpExt: 81 82 83 84\n");
    snprintf(path, sizeof path, "proc/%snet/snmp6", process);
    tree_write(path, "Ip6InReceives \t91\nIp6InOctets\t92\n\nUdp6InErrors 93\nIcmp6InMsgs\nIp6OutMcastOctets  -94\n");
}

static void write_tables(const char *process)
{
    char path[64];
    snprintf(path, sizeof path, "proc/%snet/softnet_stat", process);
    tree_write(path,
               "0000000a 0000000b 0000000c 1 2 3 4 5 0000000d 0000000e 0000000f 00000010 00000000 00000011 00000012\n"
               "0000001a 0000001b xyz 1 2 3 4 5 0000001d 0000001e 0000001f 00000020 00000003 00000021 00000022\n");
    snprintf(path, sizeof path, "proc/%snet/sockstat", process);
    tree_write(path,
               "sockets: used 300\nTCP: inuse 35 orphan 1 tw 2 alloc 40 mem 3\nbad line\nFRAG: inuse 4 memory 5\n");
    snprintf(path, sizeof path, "proc/%snet/sockstat6", process);
    tree_write(path, "TCP6: inuse 36\nUDP6: inuse 37\n");
    snprintf(path, sizeof path, "proc/%snet/stat/nf_conntrack", process);
    tree_write(path, "entries  searched insert_failed drop early_drop\n0000000c  00000001 00000002 00000003 00000004\n"
                     "0000000c  00000011 00000012 00000013 00000014\n");
    snprintf(path, sizeof path, "proc/%snet/stat/arp_cache", process);
    tree_write(path,
               "entries  allocs forced_gc_runs unresolved_discards table_fulls\n0000000d  1 2 3 4\n0000000d 5 6 7\n");
    snprintf(path, sizeof path, "proc/%snet/stat/ndisc_cache", process);
    tree_write(path, "entries  table_fulls\n0000000e 00000fff\n");
}

static void write_limits(void)
{
    tree_write("proc/sys/net/ipv4/tcp_max_orphans", "131072\n");
    tree_write("proc/sys/net/ipv4/tcp_mem", "11 12\t13\n");
    tree_write("proc/sys/net/netfilter/nf_conntrack_max", "262144\n");
}

/* The figures in pages are of 4 KiB here. */
static void all_files(void **state)
{
    (void)state;
    if (sysconf(_SC_PAGESIZE) != 4096) skip();
    write_pairs("");
    write_tables("");
    write_limits();
    for (int hold = 0; hold < 2; hold++) {
        netprof *np = tree_open("ip", hold ? NETPROF_HOLD_ALL : NETPROF_HOLD_NONE);
        netprof_snapshot s = tree_take(np, NETPROF_SET_ALL);
        listing_expect(&s, tree_root, 0, "sources/listing_ip.txt");
        netprof_snapshot_free(&s);
        s = tree_take(np, NETPROF_SET_FAST);
        listing_expect(&s, tree_root, 0, "sources/listing_ip_fast.txt");
        netprof_snapshot_free(&s);
        netprof_close(np);
    }
}

/* Of a process: its own files and namespace, and no limits, which would be the reader's. */
static void files_of_a_process(void **state)
{
    netprof_config config = NETPROF_ZERO;
    netprof_snapshot s = NETPROF_ZERO;
    netprof *np;
    (void)state;
    if (sysconf(_SC_PAGESIZE) != 4096) skip();
    write_pairs("42/");
    tree_write("proc/42/net/sockstat", "TCP: inuse 5 mem 6\n");
    tree_write("proc/net/sockstat", "TCP: inuse 99\n");
    tree_link("net:[4026531840]", "proc/42/ns/net");
    write_limits();
    config.root = tree_root;
    config.sources = "ip";
    config.pid = 42;
    config.no_rescan = 1;
    assert_int_equal(netprof_open(&np, &config, NULL), NETPROF_OK);
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    listing_expect(&s, tree_root, 1, "sources/listing_ip_pid.txt");
    tree_write("proc/42/net/snmp", "Tcp: InSegs Fresh MaxConn\nTcp: 143 9 -2\n"); /* other columns: by their names */
    tree_remove("proc/42/net/netstat");
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    listing_expect(&s, tree_root, 1, "sources/listing_ip_later.txt");
    netprof_snapshot_free(&s);
    netprof_close(np);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, tree_setup, tree_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(all_files), TEST(files_of_a_process)};
    unsetenv("NETPROF_ROOT");
    unsetenv("NETPROF_INCLUDE");
    unsetenv("NETPROF_EXCLUDE");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
