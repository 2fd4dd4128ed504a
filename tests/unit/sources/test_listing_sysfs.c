/* What the sources cxi and rdma make of trees of files, whole: every fact, counter and value. */
#include <stddef.h>
#define NETPROF_STATIC
#define NETPROF_IMPLEMENTATION
#include "../../netprof.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include "listing.h"
#include "tree.h"

/* Writes one file after another: path, text, path, text, NULL. */
static void write_files(const char *dir, const char *const *pairs)
{
    char path[300];
    for (; *pairs; pairs += 2) {
        snprintf(path, sizeof path, "%s/%s", dir, pairs[0]);
        tree_write(path, pairs[1]);
    }
}

/* -- Cassini -- */

static const char *const telemetry[] = {"telemetry/ALL-in-binary",
                                        "x",
                                        "telemetry/reset_counters",
                                        "0\n",
                                        "telemetry/atu_cache_evictions",
                                        "11@1700000001.000000001\n",
                                        "telemetry/cq_sts_credits_in_use_lpe_cmd_credits",
                                        "12@1700000002.500000000\n",
                                        "telemetry/cq_sts_credits_in_use_txq",
                                        "13@1700000003.999999999\n",
                                        "telemetry/hni_cfg_event_cnts_ovf_cnt",
                                        "65535@1700000004.000000000\n",
                                        "telemetry/hni_pkts_sent_by_tc_0",
                                        "14@1700000005.100000000\n",
                                        "telemetry/hni_pkts_sent_by_tc_7",
                                        "15@1700000005.200000000\n",
                                        "telemetry/hni_rx_ok_octets_new",
                                        "16@5.12345678\n", /* of a second: nine digits */
                                        "telemetry/hni_sts_rx_ok_octets",
                                        "17@1700000006.000000007\n",
                                        "telemetry/hni_tx_ok_64",
                                        "18@1700000007.000000000\n",
                                        "telemetry/lpe_sts_load_stats_ptlte_load_0",
                                        "19@9000000000.000000000\n",
                                        "telemetry/not_in_the_table",
                                        "20@9000000001.000000000\n",
                                        "telemetry/oxe_stall_pct",
                                        "21\n",
                                        "telemetry/pct_prf_sct_status_max_in_use",
                                        "22@1700000008.000000000",
                                        "telemetry/pct_no_tct_nacks",
                                        "none\n",
                                        NULL};

static const char *const cassini1[] = {"properties/cassini_version",
                                       "1.1\n",
                                       "properties/speed",
                                       "200000\n",
                                       "port/link",
                                       "up\n",
                                       "port/speed",
                                       "BS_200G\n",
                                       "port/media",
                                       "electrical\n",
                                       "port/link_layer_retry",
                                       "running\n",
                                       "port/loopback",
                                       "none\n",
                                       "port/pause",
                                       "pfc\n",
                                       "properties/hpc_mtu",
                                       "2048\n",
                                       "properties/nic_addr",
                                       "0x12\n",
                                       "properties/nid",
                                       "18\n",
                                       "properties/driver_rev",
                                       "abc\n",
                                       "uc/qspi_blob_version",
                                       "1.5.41\n",
                                       "properties/current_esm_link_speed",
                                       "25 GT/s\n",
                                       "fru/model",
                                       "HSN\n",
                                       "fru/part_number",
                                       "P43012\n",
                                       "fru/serial_number",
                                       "GR21\n",
                                       "properties/link",
                                       "1\n",
                                       "properties/pcie_corr_err",
                                       "5\n",
                                       "properties/pcie_uncorr_err",
                                       "6\n",
                                       "link_restarts/time_0",
                                       "1700000000\n",
                                       "link_restarts/time_9",
                                       "1700000009\n",
                                       "link_restarts/other",
                                       "3\n",
                                       "uevent",
                                       "PCI_SLOT_NAME=0000:21:00.0\nX=1\n",
                                       "numa_node",
                                       "2\n",
                                       "net/hsn0/address",
                                       "02:00:00:00:00:12\n",
                                       "net/hsn0/mtu",
                                       "9000\n",
                                       NULL};

/* Its files are in other places, where the first one has none. */
static const char *const cassini2[] = {"properties/cassini_version",
                                       "2.0\n",
                                       "port/0/link/state",
                                       "down\n",
                                       "port/0/link/speed",
                                       "ck_400g\n",
                                       "port/0/media/type",
                                       "optical\n",
                                       "port/0/llr/state",
                                       "off\n",
                                       "port/0/link/config/loopback",
                                       "local\n",
                                       "port/0/pause",
                                       "off\n",
                                       "telemetry/atu_cache_evictions",
                                       "31@1700000001.000000002\n",
                                       "telemetry/cq_sts_credits_in_use_lpe_cmd_credits",
                                       "32@1700000002.500000001\n",
                                       "telemetry/hni_pkts_sent_by_tc_0",
                                       "34@1700000005.100000001\n",
                                       "numa_node",
                                       "3\n",
                                       NULL};

static void write_cassini(void)
{
    static const char *const retries[] = {"srb_in_use",
                                          "4\n",
                                          "nid_value",
                                          "-1\n",
                                          "max_parked_nids",
                                          "2147483647\n",
                                          "nack_no_target",
                                          "-2147483648\n",
                                          "config",
                                          "x\n",
                                          "timeouts",
                                          "7\n",
                                          NULL};
    write_files("sys/class/cxi/cxi0/device", cassini1);
    write_files("sys/class/cxi/cxi0/device", telemetry);
    write_files("sys/class/cxi/cxi1/device", telemetry); /* the same items: looked up once */
    write_files("sys/class/cxi/cxi2/device", cassini2);
    write_files("run/cxi/cxi0", retries);
    tree_link("../../0000:21:00.0", "sys/class/cxi/cxi1/device/physfn");
    remove(tree_path("sys/class/cxi/cxi1/device/physfn"));
    tree_write("sys/class/cxi/cxi1/device/physfn/x", "");
    tree_write("sys/class/net/hsn1/address", "02:00:00:00:00:99\n"); /* another's */
    tree_link("../../class/cxi/cxi0/device", "sys/class/net/hsn1/device");
    tree_link("../../cxi/cxi2/device", "sys/class/net/hsn2/device"); /* the same directory as the NIC's */
}

static void a_node_of_cassinis(void **state)
{
    (void)state;
    write_cassini();
    for (int hold = 0; hold < 2; hold++) {
        netprof *np = tree_open("cxi", hold ? NETPROF_HOLD_ALL : NETPROF_HOLD_NONE);
        netprof_snapshot s = tree_take(np, NETPROF_SET_ALL);
        listing_expect(&s, tree_root, 0, "sources/listing_cxi.txt");
        netprof_snapshot_free(&s);
        tree_write("sys/class/cxi/cxi2/device/telemetry/hni_pkts_sent_by_tc_0", "134@1700000015.100000001\n");
        s = tree_take(np, NETPROF_SET_FAST);
        listing_expect(&s, tree_root, 0, "sources/listing_cxi_fast.txt");
        tree_write("sys/class/cxi/cxi2/device/telemetry/hni_pkts_sent_by_tc_0", "34@1700000005.100000001\n");
        netprof_snapshot_free(&s);
        netprof_close(np);
    }
}

/* -- InfiniBand -- */

static void write_adapters(void)
{
    static const char *const adapter[] = {"fw_ver",
                                          "20.31\n",
                                          "hca_type",
                                          "MT4123\n",
                                          "board_id",
                                          "MT_223\n",
                                          "node_guid",
                                          "0c42\n",
                                          "node_type",
                                          "1: CA\n",
                                          "hw_rev",
                                          "0\n",
                                          "device/numa_node",
                                          "1\n",
                                          "device/uevent",
                                          "PCI_SLOT_NAME=0000:a1:00.0\n",
                                          "device/net/ib0/dev_port",
                                          "1\n",
                                          "device/net/ib9/dev_port",
                                          "0\n",
                                          NULL};
    static const char *const one[] = {"state",
                                      "4: ACTIVE\n",
                                      "phys_state",
                                      "5: LinkUp\n",
                                      "rate",
                                      "100 Gb/sec (4X EDR)\n",
                                      "link_layer",
                                      "InfiniBand\n",
                                      "lid",
                                      "0x1f\n",
                                      "sm_lid",
                                      "0x1\n",
                                      "counters/port_xmit_data",
                                      "1001\n",
                                      "counters/port_rcv_packets",
                                      "1002\n",
                                      "counters/port_xmit_wait",
                                      "1003\n",
                                      "counters/VL15_dropped",
                                      "65535\n",
                                      "counters/unknown",
                                      "1004\n",
                                      "counters/both",
                                      "1005\n",
                                      "counters_ext/both",
                                      "2005\n",
                                      "counters_ext/port_rcv_data",
                                      "2006\n",
                                      "hw_counters/both",
                                      "3005\n",
                                      "hw_counters/lifespan",
                                      "12\n",
                                      "hw_counters/port_rcv_data",
                                      "3006\n",
                                      "hw_counters/np_cnp_sent",
                                      "3007\n",
                                      "hw_counters/Rx,32",
                                      "3008\n",
                                      NULL};
    static const char *const two[] = {"state",
                                      "1: DOWN\n",
                                      "phys_state",
                                      "9\n",
                                      "rate",
                                      "2.5 Gb/sec (1X SDR)\n",
                                      "counters/port_xmit_data",
                                      "1101\n",
                                      "counters/port_rcv_packets",
                                      "4294967296\n",
                                      "hw_counters/lifespan",
                                      "0\n",
                                      "hw_counters/active_qps",
                                      "3107\n",
                                      NULL};
    static const char *const software[] = {"parent",
                                           "eth0\n",
                                           "ports/1/state",
                                           "4: ACTIVE\n",
                                           "ports/1/hw_counters/sent_pkts",
                                           "8\n",
                                           "device/net/only/x",
                                           "",
                                           "ports/1/link_layer",
                                           "Ethernet\n",
                                           NULL};
    static const char *const path[] = {"hw_counters/DcRecvErr",
                                       "5\n",
                                       "hw_counters/lifespan",
                                       "10\n",
                                       "ports/1/hw_counters/DcRecvErr",
                                       "6\n",
                                       "ports/1/gid_attrs/ndevs/0",
                                       "ib7\n",
                                       "ports/1/rate",
                                       "0 GB/sec\n",
                                       "device/net/a/dev_port",
                                       "0\n",
                                       NULL};
    write_files("sys/class/infiniband/mlx5_0", adapter);
    write_files("sys/class/infiniband/mlx5_0/ports/1", one);
    write_files("sys/class/infiniband/mlx5_0/ports/2", two);
    write_files("sys/class/infiniband/rxe0", software);
    write_files("sys/class/infiniband/hfi1_0", path);
    tree_link("../../../bus/pci/drivers/mlx5_core", "sys/class/infiniband/mlx5_0/device/driver");
    tree_link("mlx4", "sys/class/infiniband/hfi1_0/device/driver"); /* a link of one word */
}

static void a_node_of_adapters(void **state)
{
    (void)state;
    write_adapters();
    for (int hold = 0; hold < 2; hold++) {
        netprof *np = tree_open("rdma", hold ? NETPROF_HOLD_ALL : NETPROF_HOLD_NONE);
        netprof_snapshot s = tree_take(np, NETPROF_SET_ALL);
        listing_expect(&s, tree_root, 0, "sources/listing_rdma.txt");
        netprof_snapshot_free(&s);
        netprof_close(np);
    }
}

/* -- what cannot be listed -- */

/* A file where a directory should be, and no class at all. */
static void states_of_a_class(void **state)
{
    static const char *const sources[] = {"cxi", "rdma"}, *const classes[] = {"sys/class/cxi", "sys/class/infiniband"};
    (void)state;
    for (size_t i = 0; i < 2; i++)
        for (int file = 0; file < 2; file++) {
            netprof_config config = NETPROF_ZERO;
            netprof *np = NULL;
            const netprof_source_state *source;
            if (file) tree_write(classes[i], "");
            config.root = tree_root;
            config.sources = sources[i];
            assert_int_equal(netprof_open(&np, &config, NULL), NETPROF_ERR_NOSOURCE);
            source = netprof_get_schema(np)->sources;
            assert_string_equal(source->name, sources[i]);
            assert_int_equal(source->status, file ? NETPROF_STATUS_UNREADABLE : NETPROF_STATUS_ABSENT);
            assert_int_equal(source->sys_errno, file ? ENOTDIR : ENOENT);
            assert_string_equal(source->path, tree_path(classes[i]));
            netprof_close(np);
        }
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, tree_setup, tree_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_node_of_cassinis),
        TEST(a_node_of_adapters),
        TEST(states_of_a_class),
    };
    unsetenv("NETPROF_ROOT");
    unsetenv("NETPROF_INCLUDE");
    unsetenv("NETPROF_EXCLUDE");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
