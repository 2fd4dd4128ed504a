/* The trees and the expected values of prometheus/procfs, read through another root. They are not part of
   this repository: NETPROF_SHARED names the folder that has data/procfs, or it is ../shared beside this tree.
 */
#define NETPROF_IMPLEMENTATION
#include "netprof.h"
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include "tree.h"

#ifndef NETPROF_TEST_TOP
#define NETPROF_TEST_TOP "."
#endif

static const char *data_path(const char *file)
{
    static char path[1024];
    const char *shared = getenv("NETPROF_SHARED");
    snprintf(path, sizeof path, "%s/data/procfs/%s", shared ? shared : NETPROF_TEST_TOP "/../shared", file);
    return path;
}

/* "RxBytes" of the Go tests is rx_bytes here. */
static void snake(const char *camel, char *to)
{
    const char *begin = camel;
    for (; *camel; camel++) {
        if (*camel >= 'A' && *camel <= 'Z' && camel > begin) *to++ = '_';
        *to++ = (char)(*camel >= 'A' && *camel <= 'Z' ? *camel + 32 : *camel);
    }
    *to = 0;
}

/* Fixture and what it holds, in our names. */
typedef struct row {
    char source[64], device[64], counter[128];
    int of_process; /* else of the node */
    uint64_t expected;
} row;

static row parse_row(const char *line)
{
    row r;
    char what[64], thing[64], name[64], path[256], port[32], rest[128];
    memset(&r, 0, sizeof r);
    assert_int_equal(sscanf(line, "%63s %63[^,],%255[^,],%" SCNu64, what, thing, path, &r.expected), 4);
    snprintf(r.source, sizeof r.source, "%s", strcmp(what, "infiniband") == 0 ? "rdma" : what);
    if (strcmp(what, "infiniband") == 0) {
        assert_int_equal(sscanf(path, "sys/class/infiniband/%31[^/]/ports/%31[^/]/%*[^/]/%127s", name, port, rest), 3);
        snprintf(r.device, sizeof r.device, "%.31s/%.31s", name, port);
        snprintf(r.counter, sizeof r.counter, "%s", rest);
    } else {
        assert_int_equal(sscanf(thing, "%63s %63s", r.device, name), 2);
        snake(name, r.counter);
        r.of_process = strncmp(path, "proc/26231/", 11) == 0;
    }
    return r;
}

static void check_row(const row *r, const netprof_snapshot *s)
{
    size_t k;
    if (strcmp(r->counter, "lifespan") == 0) { /* how long values are cached is a fact, no counter */
        assert_int_equal(strtoull(tree_fact(s->schema, r->device, "lifespan_ms"), NULL, 10), r->expected);
        return;
    }
    k = netprof_find(s->schema, r->source, r->device, r->counter);
    if (k == NETPROF_NONE || s->status[k] != NETPROF_STATUS_OK || s->values[k] != r->expected)
        fail_msg("%s %s/%s: %s, %llu, not %llu", r->source, r->device, r->counter,
                 k == NETPROF_NONE ? "not listed" : netprof_status_name((netprof_status)s->status[k]),
                 k == NETPROF_NONE ? 0 : (unsigned long long)s->values[k], (unsigned long long)r->expected);
}

static int unpack(void)
{
    char command[2048];
    snprintf(command, sizeof command, "tar -C '%s' -xJf '%s'", tree_root, data_path("fixtures.tar.xz"));
    return system(command);
}

static netprof *open_fixtures(int pid)
{
    netprof_config config = NETPROF_ZERO;
    netprof *np;
    config.root = tree_path("fixtures");
    config.pid = pid;
    assert_int_equal(netprof_open(&np, &config, NULL), NETPROF_OK);
    return np;
}

static void all_expected_values(void **state)
{
    FILE *csv = fopen(data_path("expected_procfs.csv"), "r");
    netprof *node, *process;
    netprof_snapshot of_node, of_process;
    char line[512];
    int checked = 0;
    (void)state;
    if (!csv) {
        print_message("no %s: not checked\n", data_path("expected_procfs.csv"));
        skip();
    }
    assert_int_equal(unpack(), 0);
    node = open_fixtures(0);
    process = open_fixtures(26231);
    of_node = tree_take(node, NETPROF_SET_ALL);
    of_process = tree_take(process, NETPROF_SET_ALL);
    assert_non_null(fgets(line, sizeof line, csv)); /* the header */
    while (fgets(line, sizeof line, csv)) {
        row r = parse_row(line);
        const netprof_snapshot *s = r.of_process ? &of_process : &of_node;
        check_row(&r, s);
        checked++;
    }
    fclose(csv);
    print_message("%d values are as expected\n", checked);
    assert_int_equal(checked, 117);
    netprof_snapshot_free(&of_node);
    netprof_snapshot_free(&of_process);
    netprof_close(node);
    netprof_close(process);
}

/* What the files of a process say, read off them by eye. */
static void protocol_counters_of_a_process(void **state)
{
    netprof *np;
    netprof_snapshot s;
    (void)state;
    if (access(data_path("fixtures.tar.xz"), R_OK) != 0) {
        print_message("no %s: not checked\n", data_path("fixtures.tar.xz"));
        skip();
    }
    assert_int_equal(unpack(), 0);
    np = open_fixtures(26231);
    s = tree_take(np, NETPROF_SET_ALL);
    assert_int_equal(tree_value(&s, "Tcp", "RetransSegs"), 348);
    assert_int_equal(tree_value(&s, "Tcp", "CurrEstab"), 15);
    assert_int_equal((int64_t)tree_value(&s, "Tcp", "MaxConn"), -1);
    assert_int_equal(tree_value(&s, "Udp", "InDatagrams"), 10179);
    assert_int_equal(tree_value(&s, "IcmpMsg", "OutType3"), 50);
    assert_int_equal(tree_value(&s, "IpExt", "OutOctets"), 7512674);
    assert_int_equal(tree_value(&s, "snmp6", "Ip6InReceives"), 92166);
    netprof_snapshot_free(&s);
    netprof_close(np);
    np = open_fixtures(0);
    s = tree_take(np, NETPROF_SET_ALL);
    assert_int_equal(tree_value(&s, "sockstat", "TCP_mem"), 22 * (uint64_t)sysconf(_SC_PAGESIZE));
    assert_int_equal(tree_value(&s, "sockstat6", "TCP6_inuse"), 17);
    assert_int_equal(tree_value(&s, "softnet", "dropped/cpu0"), 0x6283);
    assert_int_equal(tree_value(&s, "softnet", "time_squeeze/cpu2"), 0xf0000769);
    assert_int_equal(netprof_find(s.schema, "ip", "softnet", "backlog_len/cpu4"), NETPROF_NONE);
    netprof_snapshot_free(&s);
    netprof_close(np);
}

#define TREE_TEST(test) cmocka_unit_test_setup_teardown(test, tree_setup, tree_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TREE_TEST(all_expected_values), TREE_TEST(protocol_counters_of_a_process)};
    return cmocka_run_group_tests_name("procfs fixtures", tests, NULL, NULL);
}
