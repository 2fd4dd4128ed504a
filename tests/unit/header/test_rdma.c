/* Source rdma on trees that the tests make. Tests named trap_... are rows of the table of traps that such
   sources have fallen into. */
#include <stddef.h>
static long failing_read(int fd, void *data, size_t size, long offset);
#define NETPROF_OS_READ(fd, data, size)          failing_read((fd), (data), (size), -1)
#define NETPROF_OS_PREAD(fd, data, size, offset) failing_read((fd), (data), (size), (offset))
#define NETPROF_IMPLEMENTATION
#include "netprof.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include "failing.h"
#include "tree.h"

#define PORT "sys/class/infiniband/mlx5_0/ports/1/"

/* Reading a file whose path ends in fail_file gives fail_errno. */
static const char *fail_file;
static int fail_errno;

static long failing_read(int fd, void *data, size_t size, long offset)
{
    char link[64], path[1024];
    ssize_t n;
    if (fail_file) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        n = readlink(link, path, sizeof path - 1);
        path[n > 0 ? n : 0] = 0;
        if (n > (ssize_t)strlen(fail_file) && strcmp(path + n - strlen(fail_file), fail_file) == 0) {
            errno = fail_errno;
            return -1;
        }
    }
    return offset < 0 ? read(fd, data, size) : pread(fd, data, size, offset);
}

static void write_port(void)
{
    tree_write(PORT "counters/port_xmit_data", "1000\n");
    tree_write(PORT "counters/port_rcv_data", "2000\n");
    tree_write(PORT "counters/port_xmit_packets", "30\n");
    tree_write(PORT "counters/port_rcv_packets", "40\n");
    tree_write(PORT "counters/port_xmit_wait", "50\n");
    tree_write(PORT "counters/symbol_error", "1\n");
    tree_write(PORT "counters/link_downed", "2\n");
    tree_write(PORT "counters/excessive_buffer_overrun_errors", "3\n");
    tree_write(PORT "state", "4: ACTIVE\n");
    tree_write(PORT "phys_state", "5: LinkUp\n");
    tree_write(PORT "rate", "100 Gb/sec (4X EDR)\n");
    tree_write(PORT "link_layer", "InfiniBand\n");
    tree_write(PORT "lid", "0x1f\n");
    tree_write("sys/class/infiniband/mlx5_0/fw_ver", "20.31.1014\n");
    tree_write("sys/class/infiniband/mlx5_0/hca_type", "MT4123\n");
    tree_write("sys/class/infiniband/mlx5_0/board_id", "MT_0000000223\n");
    tree_write("sys/class/infiniband/mlx5_0/node_guid", "0c42:a103:0065:5b3a\n");
}

static void facts_and_states_of_a_port(void **state)
{
    netprof *np;
    netprof_snapshot s;
    (void)state;
    write_port();
    tree_write("sys/class/infiniband/mlx5_0/device/numa_node", "1\n");
    tree_write("sys/class/infiniband/mlx5_0/device/uevent", "DRIVER=mlx5_core\nPCI_SLOT_NAME=0000:a1:00.0\n");
    tree_write("sys/class/infiniband/mlx5_0/device/current_link_width", "16\n");
    tree_link("../../../../bus/pci/drivers/mlx5_core", "sys/class/infiniband/mlx5_0/device/driver");
    tree_write("sys/class/infiniband/mlx5_0/node_type", "1: CA\n");
    tree_write("sys/class/infiniband/mlx5_0/hw_rev", "0\n");
    tree_write(PORT "gid_attrs/ndevs/0", "ib0\n");
    np = tree_open("rdma", NETPROF_HOLD_ALL);
    s = tree_take(np, NETPROF_SET_ALL);
    assert_int_equal(tree_value(&s, "mlx5_0/1", "state"), 4);
    assert_int_equal(tree_value(&s, "mlx5_0/1", "phys_state"), 5);
    assert_int_equal(tree_counter(&s, "mlx5_0/1", "state")->kind, NETPROF_KIND_STATE);
    assert_string_equal(tree_fact(s.schema, "mlx5_0/1", "rate"), "100 Gb/sec (4X EDR)");
    assert_string_equal(tree_fact(s.schema, "mlx5_0/1", "rate_bps"), "100000000000");
    assert_string_equal(tree_fact(s.schema, "mlx5_0/1", "link_layer"), "InfiniBand");
    assert_string_equal(tree_fact(s.schema, "mlx5_0/1", "lid"), "0x1f");
    assert_string_equal(tree_fact(s.schema, "mlx5_0/1", "fw_ver"), "20.31.1014");
    assert_string_equal(tree_fact(s.schema, "mlx5_0/1", "hca_type"), "MT4123");
    assert_string_equal(tree_fact(s.schema, "mlx5_0/1", "board_id"), "MT_0000000223");
    assert_string_equal(tree_fact(s.schema, "mlx5_0/1", "node_guid"), "0c42:a103:0065:5b3a");
    assert_string_equal(tree_fact(s.schema, "mlx5_0/1", "node_type"), "1: CA");
    assert_string_equal(tree_fact(s.schema, "mlx5_0/1", "hw_rev"), "0");
    assert_string_equal(tree_fact(s.schema, "mlx5_0/1", "driver"), "mlx5_core");
    assert_string_equal(tree_fact(s.schema, "mlx5_0/1", "numa_node"), "1");
    assert_string_equal(tree_fact(s.schema, "mlx5_0/1", "pci"), "0000:a1:00.0");
    assert_string_equal(tree_fact(s.schema, "mlx5_0/1", "pci_width"), "16");
    assert_string_equal(tree_fact(s.schema, "mlx5_0/1", "netdev"), "ib0");
    assert_int_equal(tree_device(s.schema, "mlx5_0/1")->flags, NETPROF_DEVICE_PHYSICAL);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void fast_set_reads_the_decisive_ones_only(void **state)
{
    netprof *np;
    netprof_snapshot s;
    (void)state;
    write_port();
    np = tree_open("rdma", NETPROF_HOLD_FAST);
    s = tree_take(np, NETPROF_SET_FAST);
    assert_int_equal(tree_value(&s, "mlx5_0/1", "port_xmit_data"), 4000);
    assert_int_equal(tree_value(&s, "mlx5_0/1", "link_downed"), 2);
    assert_int_equal(tree_status(&s, "mlx5_0/1", "excessive_buffer_overrun_errors"), NETPROF_STATUS_SKIPPED);
    assert_int_equal(tree_status(&s, "mlx5_0/1", "state"), NETPROF_STATUS_SKIPPED);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void rates_as_text(void **state)
{
    static const struct {
        const char *text;
        uint64_t bits_per_s;
        int failed;
    } rows[] = {{"100 Gb/sec (4X EDR)", 100000000000, 0},
                {"2.5 Gb/sec (1X SDR)", 2500000000, 0},
                {"400 Gb/sec (4X NDR)", 400000000000, 0},
                {"0 GB/sec", 0, 0},
                {"14.0625 Gb/sec", 14062500000, 0},
                {"", 0, ENODATA},
                {"fast", 0, EBADMSG},
                {"100", 0, EBADMSG},
                {"100 Mb/sec", 0, EBADMSG},
                {"99999999999999999999 Gb/sec", 0, EBADMSG}};
    size_t i;
    (void)state;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t value = 0;
        assert_int_equal(netprof__parse_rate(rows[i].text, strlen(rows[i].text), &value), rows[i].failed);
        assert_int_equal(value, rows[i].bits_per_s);
    }
}

static void trap_na_no_pma(void **state)
{
    netprof *np;
    netprof_snapshot s;
    (void)state;
    write_port();
    tree_write(PORT "counters/symbol_error", "N/A (no PMA)\n");
    fail_file = "counters/link_downed";
    fail_errno = EINVAL;
    np = tree_open("rdma", NETPROF_HOLD_ALL);
    s = tree_take(np, NETPROF_SET_ALL);
    assert_int_equal(tree_status(&s, "mlx5_0/1", "symbol_error"), NETPROF_STATUS_UNSUPPORTED);
    assert_int_equal(tree_status(&s, "mlx5_0/1", "link_downed"), NETPROF_STATUS_UNSUPPORTED);
    assert_int_equal(s.errnos[tree_find(&s, "mlx5_0/1", "link_downed")], EINVAL);
    assert_int_equal(s.not_ok, 2);
    assert_int_equal(tree_value(&s, "mlx5_0/1", "port_rcv_data"), 8000);
    fail_file = NULL;
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void trap_one_einval_disables_a_reading_for_ever(void **state)
{
    netprof *np;
    netprof_snapshot s;
    (void)state;
    write_port();
    np = tree_open("rdma", NETPROF_HOLD_ALL);
    fail_file = "counters/port_xmit_data";
    fail_errno = EINVAL;
    s = tree_take(np, NETPROF_SET_ALL);
    assert_int_equal(tree_status(&s, "mlx5_0/1", "port_xmit_data"), NETPROF_STATUS_UNSUPPORTED);
    fail_file = NULL;
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    assert_int_equal(tree_value(&s, "mlx5_0/1", "port_xmit_data"), 4000);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void trap_speed_of_down_link(void **state)
{
    netprof *np;
    (void)state;
    write_port();
    tree_write(PORT "rate", "0 GB/sec\n");
    np = tree_open("rdma", NETPROF_HOLD_NONE);
    assert_string_equal(tree_fact(netprof_get_schema(np), "mlx5_0/1", "rate"), "0 GB/sec");
    assert_string_equal(tree_fact(netprof_get_schema(np), "mlx5_0/1", "rate_bps"), "");
    netprof_close(np);
}

static void trap_vanishes_between_list_and_read(void **state)
{
    netprof *np;
    netprof_snapshot s;
    (void)state;
    write_port();
    tree_write("sys/class/infiniband/mlx5_1/ports/1/counters/port_xmit_data", "7\n");
    np = tree_open("rdma", NETPROF_HOLD_NONE);
    s = tree_take(np, NETPROF_SET_ALL);
    assert_int_equal(tree_value(&s, "mlx5_1/1", "port_xmit_data"), 28);
    tree_remove("sys/class/infiniband/mlx5_0");
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    assert_null(tree_device(s.schema, "mlx5_0/1"));
    assert_int_equal(tree_value(&s, "mlx5_1/1", "port_xmit_data"), 28);
    write_port(); /* the driver is loaded again */
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    assert_int_equal(tree_value(&s, "mlx5_0/1", "port_xmit_data"), 4000);
    tree_remove(PORT "counters/symbol_error"); /* one file of many */
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    assert_int_equal(netprof_find(s.schema, "rdma", "mlx5_0/1", "symbol_error"), NETPROF_NONE);
    assert_int_equal(tree_value(&s, "mlx5_0/1", "port_rcv_data"), 8000);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void trap_non_device_entries(void **state)
{
    netprof *np;
    (void)state;
    write_port();
    tree_write("sys/class/infiniband/a_file", "6\n");
    tree_link("../nowhere", "sys/class/infiniband/dangling");
    tree_write("sys/class/infiniband/empty_0/fw_ver", "1\n");
    np = tree_open("rdma", NETPROF_HOLD_NONE);
    assert_int_equal(netprof_get_schema(np)->device_count, 1);
    netprof_close(np);
}

static void trap_words_vs_bytes(void **state)
{
    netprof *np;
    netprof_snapshot s;
    const netprof_counter *c;
    (void)state;
    write_port();
    tree_write("sys/class/infiniband/efa_0/ports/1/hw_counters/tx_bytes", "1000\n");
    tree_write("sys/class/infiniband/efa_0/ports/1/hw_counters/rdma_read_bytes", "5\n");
    tree_write("sys/class/infiniband/mlx4_0/ports/1/counters_ext/port_xmit_data_64", "25\n");
    tree_write("sys/class/infiniband/mlx4_0/ports/1/counters_ext/port_unicast_rcv_packets", "25\n");
    np = tree_open("rdma", NETPROF_HOLD_ALL);
    s = tree_take(np, NETPROF_SET_ALL);
    c = tree_counter(&s, "mlx5_0/1", "port_xmit_data");
    assert_int_equal(tree_value(&s, "mlx5_0/1", "port_xmit_data"), 4 * 1000);
    assert_int_equal(c->scale, 4);
    assert_string_equal(c->unit, "bytes");
    assert_int_equal(tree_value(&s, "mlx4_0/1", "port_xmit_data_64"), 4 * 25);
    assert_int_equal(tree_value(&s, "mlx4_0/1", "port_unicast_rcv_packets"), 25);
    assert_int_equal(tree_value(&s, "efa_0/1", "tx_bytes"), 1000);
    assert_int_equal(tree_counter(&s, "efa_0/1", "tx_bytes")->scale, 1);
    assert_string_equal(tree_counter(&s, "efa_0/1", "tx_bytes")->unit, "bytes");
    assert_int_equal(tree_value(&s, "efa_0/1", "rdma_read_bytes"), 5);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void trap_saturating_narrow_counters(void **state)
{
    static const struct {
        const char *name, *full, *below;
        int width;
    } rows[] = {{"symbol_error", "65535\n", "65534\n", 16},
                {"port_rcv_errors", "65535\n", "65534\n", 16},
                {"VL15_dropped", "65535\n", "0\n", 16},
                {"link_downed", "255\n", "254\n", 8},
                {"link_error_recovery", "255\n", "256\n", 8},
                {"port_xmit_wait", "4294967295\n", "65535\n", 32},
                {"local_link_integrity_errors", "15\n", "14\n", 4}};
    netprof *np;
    netprof_snapshot before, after;
    netprof_delta delta = NETPROF_ZERO;
    char path[256];
    size_t i, k;
    (void)state;
    write_port();
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(path, sizeof path, PORT "counters/%s", rows[i].name);
        tree_write(path, rows[i].below);
    }
    np = tree_open("rdma", NETPROF_HOLD_NONE);
    before = tree_take(np, NETPROF_SET_ALL);
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(path, sizeof path, PORT "counters/%s", rows[i].name);
        tree_write(path, rows[i].full);
    }
    after = tree_take(np, NETPROF_SET_ALL);
    assert_int_equal(netprof_diff(&before, &after, NULL, &delta, NULL), NETPROF_OK);
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        k = tree_find(&after, "mlx5_0/1", rows[i].name);
        assert_int_equal(after.schema->counters[k].width, rows[i].width);
        assert_true(after.schema->counters[k].flags & NETPROF_SATURATES);
        assert_int_equal(before.status[k], NETPROF_STATUS_OK);
        assert_int_equal(after.status[k], NETPROF_STATUS_SATURATED);
        assert_int_equal(delta.flags[k], NETPROF_FLAG_SUSPECT);
    }
    netprof_delta_free(&delta);
    netprof_snapshot_free(&before);
    netprof_snapshot_free(&after);
    netprof_close(np);
}

/* Basic agents count data in 32 bits that stick, extended ones in 64: sysfs does not say which. */
static void width_of_data_counters(void **state)
{
    netprof *np;
    netprof_snapshot s;
    (void)state;
    write_port();
    tree_write(PORT "counters/port_rcv_data", "4294967295\n");
    np = tree_open("rdma", NETPROF_HOLD_NONE);
    s = tree_take(np, NETPROF_SET_ALL);
    assert_int_equal(tree_counter(&s, "mlx5_0/1", "port_xmit_data")->width, 32);
    assert_int_equal(tree_status(&s, "mlx5_0/1", "port_rcv_data"), NETPROF_STATUS_SATURATED);
    assert_int_equal(tree_value(&s, "mlx5_0/1", "port_rcv_data"), 4 * UINT64_C(4294967295));
    netprof_snapshot_free(&s);
    netprof_close(np);

    tree_write(PORT "counters/unicast_rcv_packets", "1\n");
    np = tree_open("rdma", NETPROF_HOLD_NONE);
    s = tree_take(np, NETPROF_SET_ALL);
    assert_int_equal(tree_counter(&s, "mlx5_0/1", "port_xmit_data")->width, 64);
    assert_int_equal(tree_status(&s, "mlx5_0/1", "port_rcv_data"), NETPROF_STATUS_OK);
    netprof_snapshot_free(&s);
    netprof_close(np);

    tree_remove(PORT "counters/unicast_rcv_packets");
    tree_write(PORT "counters/port_xmit_packets", "4294967296\n"); /* beyond 32 bits: they are all wide */
    np = tree_open("rdma", NETPROF_HOLD_NONE);
    s = tree_take(np, NETPROF_SET_ALL);
    assert_int_equal(tree_counter(&s, "mlx5_0/1", "port_rcv_data")->width, 64);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void trap_reset(void **state)
{
    netprof *np;
    netprof_snapshot before, after;
    netprof_delta delta = NETPROF_ZERO;
    size_t k;
    (void)state;
    write_port();
    np = tree_open("rdma", NETPROF_HOLD_NONE);
    before = tree_take(np, NETPROF_SET_ALL);
    tree_write(PORT "counters/port_xmit_data", "10\n"); /* perfquery -R, then ten words */
    after = tree_take(np, NETPROF_SET_ALL);
    assert_int_equal(netprof_diff(&before, &after, NULL, &delta, NULL), NETPROF_OK);
    k = tree_find(&after, "mlx5_0/1", "port_xmit_data");
    assert_int_equal(delta.flags[k], NETPROF_FLAG_RESET);
    assert_int_equal(delta.values[k], 40);
    netprof_delta_free(&delta);
    netprof_snapshot_free(&before);
    netprof_snapshot_free(&after);
    netprof_close(np);
}

static void trap_container_without_infiniband(void **state)
{
    const netprof_source_state *row;
    netprof *np;
    (void)state;
    tree_write("proc/version", "Linux\n");
    np = tree_open("rdma", NETPROF_HOLD_ALL);
    row = &netprof_get_schema(np)->sources[0];
    assert_string_equal(row->name, "rdma");
    assert_int_equal(row->status, NETPROF_STATUS_ABSENT);
    assert_int_equal(row->sys_errno, ENOENT);
    assert_string_equal(row->path, tree_path("sys/class/infiniband"));
    netprof_close(np);
}

static void trap_stacked_devices_counted_twice(void **state)
{
    const netprof_schema *schema;
    netprof *np;
    (void)state;
    write_port();
    tree_write("sys/class/infiniband/mlx5_2/ports/1/counters/port_xmit_data", "1\n"); /* an SR-IOV function */
    tree_link("../0000:a1:00.0", "sys/class/infiniband/mlx5_2/device/physfn/link");
    tree_write("sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts", "1\n"); /* RoCE in software */
    tree_write("sys/class/infiniband/rxe0/parent", "eth0\n");
    np = tree_open("rdma", NETPROF_HOLD_ALL);
    schema = netprof_get_schema(np);
    assert_int_equal(tree_device(schema, "mlx5_0/1")->flags, NETPROF_DEVICE_PHYSICAL);
    assert_int_equal(tree_device(schema, "mlx5_2/1")->flags, NETPROF_DEVICE_VIRTUAL);
    assert_int_equal(tree_device(schema, "rxe0/1")->flags, NETPROF_DEVICE_VIRTUAL);
    netprof_close(np);
}

/* The port's fact says which netdev has the same wire, so that a reader shows both and adds neither to the
 * other. */
static void trap_roce_bypasses_the_netdev_statistics(void **state)
{
    const netprof_schema *schema;
    netprof *np;
    (void)state;
    tree_write("sys/class/infiniband/mlx4_0/ports/1/link_layer", "Ethernet\n");
    tree_write("sys/class/infiniband/mlx4_0/ports/1/state", "4: ACTIVE\n");
    tree_write("sys/class/infiniband/mlx4_0/ports/2/state", "1: DOWN\n");
    tree_write("sys/class/infiniband/mlx4_0/device/net/ens1/dev_port", "0\n");
    tree_write("sys/class/infiniband/mlx4_0/device/net/ens1d1/dev_port", "1\n");
    tree_write("sys/class/infiniband/bnxt_re0/ports/1/gid_attrs/ndevs/0", "ens5np0\n");
    tree_write("sys/class/infiniband/bnxt_re0/ports/1/state", "4: ACTIVE\n");
    np = tree_open("rdma", NETPROF_HOLD_ALL);
    schema = netprof_get_schema(np);
    assert_string_equal(tree_fact(schema, "mlx4_0/1", "netdev"), "ens1");
    assert_string_equal(tree_fact(schema, "mlx4_0/2", "netdev"), "ens1d1");
    assert_string_equal(tree_fact(schema, "bnxt_re0/1", "netdev"), "ens5np0");
    netprof_close(np);
}

static void trap_hw_counters_cached(void **state)
{
    netprof *np;
    netprof_snapshot s;
    (void)state;
    write_port();
    tree_write(PORT "hw_counters/lifespan", "10\n");
    tree_write(PORT "hw_counters/out_of_sequence", "3\n");
    np = tree_open("rdma", NETPROF_HOLD_ALL);
    s = tree_take(np, NETPROF_SET_ALL);
    assert_int_equal(netprof_find(s.schema, "rdma", "mlx5_0/1", "lifespan"), NETPROF_NONE);
    assert_string_equal(tree_fact(s.schema, "mlx5_0/1", "lifespan_ms"), "10");
    assert_int_equal(tree_value(&s, "mlx5_0/1", "out_of_sequence"), 3);
    assert_true(tree_counter(&s, "mlx5_0/1", "out_of_sequence")->flags & NETPROF_SLOW_REFRESH);
    assert_true(tree_counter(&s, "mlx5_0/1", "out_of_sequence")->flags & NETPROF_FAST);
    assert_false(tree_counter(&s, "mlx5_0/1", "port_xmit_data")->flags & NETPROF_SLOW_REFRESH);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void trap_odd_counter_names(void **state)
{
    netprof *np;
    netprof_snapshot s;
    (void)state;
    tree_write("sys/class/infiniband/hfi1_0/ports/1/hw_counters/RxTIDFullEr,32", "4294967295\n");
    tree_write("sys/class/infiniband/hfi1_0/ports/1/hw_counters/a \"b\"\n<c>", "8\n");
    np = tree_open("rdma", NETPROF_HOLD_ALL);
    s = tree_take(np, NETPROF_SET_ALL);
    assert_int_equal(tree_value(&s, "hfi1_0/1", "RxTIDFullEr,32"), 4294967295u);
    assert_int_equal(tree_status(&s, "hfi1_0/1", "RxTIDFullEr,32"), NETPROF_STATUS_OK); /* wraps, does not stick */
    assert_int_equal(tree_counter(&s, "hfi1_0/1", "RxTIDFullEr,32")->width, 32);
    assert_int_equal(tree_value(&s, "hfi1_0/1", "a \"b\"\n<c>"), 8);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

/* What both counters/ and hw_counters/ have keeps both. */
static void names_in_two_directories(void **state)
{
    netprof *np;
    netprof_snapshot s;
    (void)state;
    write_port();
    tree_write(PORT "hw_counters/symbol_error", "77\n");
    tree_write(PORT "hw_counters/zz_last", "78\n");
    tree_write(PORT "hw_counters/aa_first", "79\n");
    np = tree_open("rdma", NETPROF_HOLD_ALL);
    s = tree_take(np, NETPROF_SET_ALL);
    assert_int_equal(tree_value(&s, "mlx5_0/1", "symbol_error"), 1);
    assert_int_equal(tree_value(&s, "mlx5_0/1", "hw_counters/symbol_error"), 77);
    assert_int_equal(tree_value(&s, "mlx5_0/1", "zz_last"), 78);
    assert_int_equal(tree_value(&s, "mlx5_0/1", "aa_first"), 79);
    assert_int_equal(s.not_ok, 0);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void trap_device_level_vs_port_level_hw_counters(void **state)
{
    netprof *np;
    netprof_snapshot s;
    (void)state;
    tree_write("sys/class/infiniband/hfi1_0/hw_counters/DcRecvErr", "5\n");
    tree_write("sys/class/infiniband/hfi1_0/hw_counters/lifespan", "10\n");
    tree_write("sys/class/infiniband/hfi1_0/ports/1/hw_counters/DcRecvErr", "6\n");
    np = tree_open("rdma", NETPROF_HOLD_ALL);
    s = tree_take(np, NETPROF_SET_ALL);
    assert_int_equal(s.schema->device_count, 2);
    assert_int_equal(tree_value(&s, "hfi1_0", "DcRecvErr"), 5);
    assert_int_equal(tree_value(&s, "hfi1_0/1", "DcRecvErr"), 6);
    assert_int_equal(tree_device(s.schema, "hfi1_0")->flags, 0);
    assert_string_equal(tree_fact(s.schema, "hfi1_0", "lifespan_ms"), "10");
    assert_string_equal(tree_fact(s.schema, "hfi1_0/1", "lifespan_ms"), "");
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void trap_missing_newline_and_long_text(void **state)
{
    char text[200];
    netprof *np;
    netprof_snapshot s;
    (void)state;
    write_port();
    tree_write(PORT "counters/port_xmit_data", "1000"); /* no newline */
    tree_write(PORT "counters/port_rcv_data", "");
    memset(text, '7', sizeof text - 1);
    text[sizeof text - 1] = 0;
    tree_write(PORT "counters/symbol_error", text);
    tree_write(PORT "counters/link_downed", "two\n");
    np = tree_open("rdma", NETPROF_HOLD_ALL);
    s = tree_take(np, NETPROF_SET_ALL);
    assert_int_equal(tree_value(&s, "mlx5_0/1", "port_xmit_data"), 4000);
    assert_int_equal(tree_status(&s, "mlx5_0/1", "port_rcv_data"), NETPROF_STATUS_UNREADABLE);
    assert_int_equal(tree_status(&s, "mlx5_0/1", "symbol_error"), NETPROF_STATUS_UNREADABLE);
    assert_int_equal(s.errnos[tree_find(&s, "mlx5_0/1", "link_downed")], EBADMSG);
    assert_int_equal(s.not_ok, 3);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

static void globs_on_a_port(void **state)
{
    netprof_config config = NETPROF_ZERO;
    netprof *np;
    (void)state;
    write_port();
    tree_write("sys/class/infiniband/mlx5_0/ports/2/counters/port_xmit_data", "1\n");
    config.root = tree_root;
    config.sources = "rdma";
    config.include = "mlx5_0/1";
    config.exclude = "mlx5_0/1/port_*";
    assert_int_equal(netprof_open(&np, &config, NULL), NETPROF_OK);
    assert_int_equal(tree_device(netprof_get_schema(np), "mlx5_0/1")->count, 5); /* 3 counters, 2 states */
    assert_int_equal(tree_device(netprof_get_schema(np), "mlx5_0/2")->count, 0);
    netprof_close(np);
}

static void every_allocation_fails_in_turn(void **state)
{
    netprof_config config = NETPROF_ZERO;
    long n, left;
    netprof_alloc alloc = failing_alloc(&left);
    netprof_err result = NETPROF_ERR_NOMEM;
    (void)state;
    write_port();
    tree_write(PORT "hw_counters/symbol_error", "77\n");
    tree_write("sys/class/infiniband/hfi1_0/hw_counters/DcRecvErr", "5\n");
    config.root = tree_root;
    config.sources = "rdma";
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
    assert_true(n > 30);
}

#define TREE_TEST(test) cmocka_unit_test_setup_teardown(test, tree_setup, tree_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TREE_TEST(facts_and_states_of_a_port),
        TREE_TEST(fast_set_reads_the_decisive_ones_only),
        cmocka_unit_test(rates_as_text),
        TREE_TEST(width_of_data_counters),
        TREE_TEST(names_in_two_directories),
        TREE_TEST(globs_on_a_port),
        TREE_TEST(every_allocation_fails_in_turn),
        TREE_TEST(trap_na_no_pma),
        TREE_TEST(trap_one_einval_disables_a_reading_for_ever),
        TREE_TEST(trap_speed_of_down_link),
        TREE_TEST(trap_vanishes_between_list_and_read),
        TREE_TEST(trap_non_device_entries),
        TREE_TEST(trap_words_vs_bytes),
        TREE_TEST(trap_saturating_narrow_counters),
        TREE_TEST(trap_reset),
        TREE_TEST(trap_container_without_infiniband),
        TREE_TEST(trap_stacked_devices_counted_twice),
        TREE_TEST(trap_roce_bypasses_the_netdev_statistics),
        TREE_TEST(trap_hw_counters_cached),
        TREE_TEST(trap_odd_counter_names),
        TREE_TEST(trap_device_level_vs_port_level_hw_counters),
        TREE_TEST(trap_missing_newline_and_long_text),
    };
    return cmocka_run_group_tests_name("rdma", tests, NULL, NULL);
}
