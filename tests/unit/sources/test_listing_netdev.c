/* What the source netdev makes of trees of files, whole: every fact, counter and value of links of many kinds. */
#include <stddef.h>
#define NETPROF_STATIC
#define NETPROF_IMPLEMENTATION
#include "../../netprof.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include "listing.h"
#include "tree.h"

#define NET(name) "sys/class/net/" name

/* Writes one file after another: path, text, path, text, NULL. */
static void write_files(const char *dir, const char *const *pairs)
{
    char path[300];
    for (; *pairs; pairs += 2) {
        snprintf(path, sizeof path, "%s/%s", dir, pairs[0]);
        tree_write(path, pairs[1]);
    }
}

static void write_port(void)
{
    static const char *const files[] = {"ifindex",
                                        "8\n",
                                        "iflink",
                                        "8\n",
                                        "type",
                                        "1\n",
                                        "mtu",
                                        "9000\n",
                                        "operstate",
                                        "up\n",
                                        "address",
                                        "0c:42:a1:65:5b:3a\n",
                                        "phys_port_name",
                                        "p0\n",
                                        "carrier",
                                        "1\n",
                                        "carrier_up_count",
                                        "3\n",
                                        "carrier_down_count",
                                        "2\n",
                                        "speed",
                                        "200000\n",
                                        "duplex",
                                        "full\n",
                                        "uevent",
                                        "INTERFACE=eth0\nIFINDEX=8\n",
                                        "statistics/rx_bytes",
                                        "1001\n",
                                        "statistics/tx_bytes",
                                        "1002\n",
                                        "statistics/rx_nohandler",
                                        "7\n",
                                        "statistics/rx_drop",
                                        "8\n",
                                        "statistics/odd",
                                        "9\n",
                                        "statistics/tx_errors",
                                        "none\n",
                                        "device/uevent",
                                        "DRIVER=mlx5_core\nPCI_CLASS=20000\nPCI_SLOT_NAME=0000:a1:00.0\nMODALIAS=x\n",
                                        "device/current_link_speed",
                                        "16.0 GT/s PCIe\n",
                                        "device/current_link_width",
                                        "8\n",
                                        "device/max_link_speed",
                                        "32.0 GT/s PCIe\n",
                                        "device/max_link_width",
                                        "16\n",
                                        "device/numa_node",
                                        "1\n",
                                        "device/local_cpulist",
                                        "24-47\n",
                                        "device/vendor",
                                        "0x15b3\n",
                                        "device/device",
                                        "0x101d\n",
                                        "ecn/roce_np/enable/0",
                                        "1\n",
                                        "ecn/roce_np/enable/7",
                                        "1\n",
                                        "ecn/roce_rp/enable/0",
                                        "0\n",
                                        "ecn/roce_rp/enable/1",
                                        "2\n",
                                        NULL};
    write_files(NET("eth0"), files);
    tree_link("../../../bus/pci/drivers/mlx5_core", NET("eth0/device/driver"));
    tree_link("../../../bus/pci", NET("eth0/device/subsystem"));
    tree_write(NET("eth0/master/ifindex"), "20\n");
}

/* The child of a PCI function, as the kernel has it. */
static void write_virtio(void)
{
    static const char *const link[] = {"ifindex", "9\n",       "iflink",    "9\n",       "type",
                                       "1\n",     "operstate", "dormant\n", "mtu",       "1450\n",
                                       "speed",   "-1\n",      "duplex",    "unknown\n", "statistics/rx_bytes",
                                       "55\n",    NULL};
    static const char *const function[] = {
        "uevent", "PCI_SLOT_NAME=0000:00:03.0", "numa_node", "0\n", "vendor", "0x1af4\n", NULL};
    write_files(NET("eth1"), link);
    write_files("sys/devices/pci0000:00/0000:00:03.0", function);
    tree_write("sys/devices/pci0000:00/0000:00:03.0/virtio0/numa_node", "5\n"); /* its function's is the one */
    tree_link("../../../../bus/virtio", "sys/devices/pci0000:00/0000:00:03.0/virtio0/subsystem");
    tree_link("../../../../bus/virtio/drivers/virtio_net", "sys/devices/pci0000:00/0000:00:03.0/virtio0/driver");
    tree_link("../../../bus/pci", "sys/devices/pci0000:00/0000:00:03.0/subsystem");
    tree_link("../../../devices/pci0000:00/0000:00:03.0/virtio0", NET("eth1/device"));
}

/* On another bus; half duplex; a link that is down has no carrier. */
static void write_usb(void)
{
    static const char *const files[] = {
        "ifindex",          "10\n",   "iflink",        "10\n",    "type",    "1\n", "operstate",           "down\n",
        "duplex",           "half\n", "speed",         "65535\n", "carrier", "",    "statistics/rx_bytes", "66\n",
        "device/numa_node", "-1\n",   "device/vendor", "0x1\n",   NULL};
    write_files(NET("usb0"), files);
    tree_link("../../../bus/usb", NET("usb0/device/subsystem"));
}

static void write_kinds(void)
{
    static const char *const bond[] = {"ifindex",
                                       "20\n",
                                       "iflink",
                                       "20\n",
                                       "type",
                                       "1\n",
                                       "bonding/mode",
                                       "802.3ad 4\n",
                                       "carrier",
                                       "0\n",
                                       "statistics/rx_bytes",
                                       "200\n",
                                       "speed",
                                       "400000\n",
                                       NULL};
    static const char *const vlan[] = {"ifindex",
                                       "21\n",
                                       "iflink",
                                       "20\n",
                                       "type",
                                       "1\n",
                                       "uevent",
                                       "DEVTYPE=vlan\nINTERFACE=bond0.5\n",
                                       "statistics/rx_bytes",
                                       "210\n",
                                       NULL};
    static const char *const pair[] = {
        "ifindex", "22\n", "iflink", "77\n", "type", "1\n", "master/ifindex", "23\n", "statistics/rx_bytes",
        "220\n",   NULL};
    static const char *const bridge[] = {
        "ifindex", "23\n", "type", "1\n", "bridge/bridge_id", "8000.0\n", "statistics/rx_bytes", "230\n", NULL};
    static const char *const tun[] = {"ifindex", "24\n", "type", "65534\n", "tun_flags", "0x1\n", "statistics/rx_bytes",
                                      "240\n",   NULL};
    static const char *const child[] = {
        "ifindex", "25\n", "iflink", "26\n", "type", "32\n", "parent", "ib0\n", "statistics/rx_bytes", "250\n", NULL};
    static const char *const wlan[] = {"ifindex",
                                       "27\n",
                                       "iflink",
                                       "27\n",
                                       "type",
                                       "1\n",
                                       "uevent",
                                       "DEVTYPE=wlan\n",
                                       "device/numa_node",
                                       "0\n",
                                       "statistics/rx_bytes",
                                       "270\n",
                                       NULL};
    static const char *const loopback[] = {
        "ifindex", "1\n", "iflink", "1\n", "type", "772\n", "operstate", "unknown\n", "statistics/rx_bytes",
        "100\n",   NULL};
    static const char *const representor[] = {"ifindex",
                                              "28\n",
                                              "iflink",
                                              "28\n",
                                              "type",
                                              "1\n",
                                              "phys_port_name",
                                              "c1pf10sf3\n",
                                              "device/numa_node",
                                              "0\n",
                                              "statistics/rx_bytes",
                                              "280\n",
                                              NULL};
    write_files(NET("bond0"), bond);
    write_files(NET("bond0.5"), vlan);
    write_files(NET("veth0"), pair);
    write_files(NET("br0"), bridge);
    write_files(NET("tun0"), tun);
    write_files(NET("ib0.8001"), child);
    write_files(NET("wlan0"), wlan);
    write_files(NET("lo"), loopback);
    write_files(NET("rep0"), representor);
}

static const char proc_header[] = "Inter-|   Receive          |  Transmit\n"
                                  " face |bytes errs drop multicast|bytes drop carrier colls\n";

/* net0 has no statistics in sysfs, and alias0 is no link there. */
static void write_proc(const char *net0, const char *alias0)
{
    char text[600];
    snprintf(text, sizeof text, "%s  eth0: 1 2 3 4 5 6 7 8\n%s%s", proc_header, net0, alias0);
    tree_write("proc/1/net/dev", text);
}

static void write_node(void)
{
    static const char *const bare[] = {"ifindex", "30\n",    "type", "1\n", "carrier_down_count",
                                       "12\n",    "carrier", "1\n",  NULL};
    write_port();
    write_virtio();
    write_usb();
    write_kinds();
    write_files(NET("net0"), bare);
    tree_write(NET("bonding_masters"), "bond0\n");
    write_proc("  net0: 11 12 13 14 15 16 17 18\n", "alias0:21 22 23 24 25 26 27 28\nlo: 9 9 9 9 9 9 9 9\n");
}

static void links_of_many_kinds(void **state)
{
    netprof *np;
    netprof_snapshot s;
    (void)state;
    write_node();
    np = tree_open("netdev", NETPROF_HOLD_ALL);
    s = tree_take(np, NETPROF_SET_ALL);
    listing_expect(&s, tree_root, 1, "sources/listing_netdev.txt");
    netprof_snapshot_free(&s);
    netprof_close(np);
}

/* The same node later, and only what is fast; descriptors are held or not. */
static void the_fast_set(void **state)
{
    (void)state;
    write_node();
    for (int hold = 0; hold < 3; hold++) {
        netprof_snapshot s;
        netprof *np;
        tree_write(NET("eth0/statistics/rx_bytes"), "1001\n");
        write_proc("  net0: 11 12 13 14 15 16 17 18\n", "alias0:21 22 23 24 25 26 27 28\n");
        np = tree_open("netdev", hold == 0 ? NETPROF_HOLD_NONE : hold == 1 ? NETPROF_HOLD_FAST : NETPROF_HOLD_ALL);
        tree_write(NET("eth0/statistics/rx_bytes"), "5001\n");
        tree_write(NET("eth0/carrier_down_count"), "4\n");
        write_proc("  net0: 111 112 113\n", "alias0:121 122 123 124 125 126 127 128 129\n");
        s = tree_take(np, NETPROF_SET_FAST);
        listing_expect(&s, tree_root, 1, "sources/listing_netdev_fast.txt");
        netprof_snapshot_free(&s);
        netprof_close(np);
    }
}

/* A process in a namespace of its own: only its file counts. */
static void links_of_a_process(void **state)
{
    netprof_config config = NETPROF_ZERO;
    netprof_snapshot s = NETPROF_ZERO;
    netprof *np;
    char text[600];
    (void)state;
    write_node();
    snprintf(text, sizeof text, "%s  eth7: 31 32 33 34 35 36 37 38\n    lo: 41 42 43 44 45 46 47 48\n", proc_header);
    tree_write("proc/42/net/dev", text);
    config.root = tree_root;
    config.sources = "netdev";
    config.pid = 42;
    config.no_rescan = 1;
    assert_int_equal(netprof_open(&np, &config, NULL), NETPROF_OK);
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    listing_expect(&s, tree_root, 1, "sources/listing_netdev_pid.txt");
    snprintf(text, sizeof text, "%s    lo: 51 52 53 54\n", proc_header); /* eth7 went away */
    tree_write("proc/42/net/dev", text);
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    listing_expect(&s, tree_root, 1, "sources/listing_netdev_gone.txt");
    tree_write("proc/42/net/dev", "Inter-|\n face |bytes|bytes\n lo: 1 2\n"); /* other columns */
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    assert_int_equal(s.not_ok, 16);
    for (size_t i = 0; i < 16; i++) {
        assert_int_equal(s.status[i], NETPROF_STATUS_UNREADABLE);
        assert_int_equal(s.errnos[i], EBADMSG);
        assert_int_equal(s.values[i], 0);
    }
    tree_remove("proc/42");
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_FAST, NULL), NETPROF_OK);
    listing_expect(&s, tree_root, 1, "sources/listing_netdev_nobody.txt");
    netprof_snapshot_free(&s);
    netprof_close(np);
}

/* Why there are no links: a file that cannot be read, one of other contents, nothing. */
static void states_without_links(void **state)
{
    static const struct {
        const char *proc; /* NULL: no file */
        int pid;
        netprof_status status;
        int sys_errno;
        const char *path;
    } rows[] = {{NULL, 0, NETPROF_STATUS_ABSENT, ENOENT, "/sys/class/net"},
                {NULL, 7, NETPROF_STATUS_ABSENT, ENOENT, "/proc/7/net/dev"},
                {"x\n", 7, NETPROF_STATUS_UNREADABLE, EBADMSG, "/proc/7/net/dev"},
                {"x\n", 0, NETPROF_STATUS_ABSENT, ENOENT, "/sys/class/net"},
                {proc_header, 7, NETPROF_STATUS_ABSENT, ENOENT, "/proc/7/net/dev"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        netprof_config config = NETPROF_ZERO;
        netprof *np = NULL;
        char path[400];
        tree_remove("proc");
        if (rows[i].proc) tree_write(rows[i].pid ? "proc/7/net/dev" : "proc/net/dev", rows[i].proc);
        config.root = tree_root;
        config.sources = "netdev";
        config.pid = rows[i].pid;
        assert_int_equal(netprof_open(&np, &config, NULL), NETPROF_ERR_NOSOURCE);
        const netprof_source_state *source = &netprof_get_schema(np)->sources[0];
        snprintf(path, sizeof path, "%s%s", tree_root, rows[i].path);
        assert_int_equal(source->status, rows[i].status);
        assert_int_equal(source->sys_errno, rows[i].sys_errno);
        assert_string_equal(source->path, path);
        assert_int_equal(source->device_count, 0);
        netprof_close(np);
    }
}

/* With no link in sysfs, the kind of those of the file is not known, but for lo. */
static void the_class_directory_is_empty(void **state)
{
    netprof_config config = NETPROF_ZERO;
    netprof *np = NULL;
    const netprof_source_state *source;
    (void)state;
    tree_write(NET("x"), "");
    tree_remove("sys/class/net/x");
    config.root = tree_root;
    config.sources = "netdev";
    assert_int_equal(netprof_open(&np, &config, NULL), NETPROF_ERR_NOSOURCE);
    source = &netprof_get_schema(np)->sources[0];
    assert_int_equal(source->status, NETPROF_STATUS_ABSENT);
    assert_int_equal(source->sys_errno, 0);
    netprof_close(np);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, tree_setup, tree_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(links_of_many_kinds),          TEST(the_fast_set), TEST(links_of_a_process), TEST(states_without_links),
        TEST(the_class_directory_is_empty),
    };
    unsetenv("NETPROF_ROOT");
    unsetenv("NETPROF_INCLUDE");
    unsetenv("NETPROF_EXCLUDE");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
