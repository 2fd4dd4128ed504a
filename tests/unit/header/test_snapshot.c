// Snapshots of a made-up Cassini node: statuses, sets, filters, descriptors, devices that come and go.
#define NETPROF_IMPLEMENTATION
#define NETPROF_STATIC
#include "netprof.h"

#include "support.h"

#include <sys/stat.h>
#include <sys/resource.h>
#include <sys/wait.h>

static char *tree;

static int set_up(void **state)
{
    (void)state;
    tree = tree_make();
    return chmod(tree, 0755);
}

static int tear_down(void **state)
{
    (void)state;
    tree_remove(tree);
    return 0;
}

static const char *telemetry(const char *device, const char *counter)
{
    static char paths[4][512];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "sys/class/cxi/%s/device/telemetry/%s", device, counter);
    return path;
}

static void put(const char *device, const char *counter, uint64_t value)
{
    tree_write(tree, telemetry(device, counter), "%llu@1700000000.%09llu\n", (unsigned long long)value,
               (unsigned long long)(value % 1000000000));
}

static void remove_path(const char *path)
{
    char full[1024];
    snprintf(full, sizeof full, "%s/%s", tree, path);
    tree_remove(strdup(full));
}

static netprof *open_node(netprof_config config)
{
    netprof *np = NULL;
    netprof_error error;
    config.root = tree;
    if (!config.sources) config.sources = "cxi";
    if (netprof_open(&np, &config, &error)) fail_msg("%s: %s", error.path, error.text);
    return np;
}

static void take(netprof *np, netprof_snapshot *s, netprof_set set)
{
    assert_int_equal(netprof_take(np, s, set, NULL), NETPROF_OK);
    assert_true(s->begin_ns <= s->end_ns);
    assert_int_equal(s->set, set);
}

static void check(const netprof_snapshot *s, const char *device, const char *counter, netprof_status status,
                  int sys_errno, uint64_t value)
{
    size_t i = netprof_find(s->schema, "cxi", device, counter);
    if (i == NETPROF_NONE) fail_msg("no %s/%s", device, counter);
    if (s->status[i] != status || s->errnos[i] != sys_errno || s->values[i] != value)
        fail_msg("%s/%s is %s (%s) %llu, not %s (%s) %llu", device, counter,
                 netprof_status_name((netprof_status)s->status[i]), strerror(s->errnos[i]),
                 (unsigned long long)s->values[i], netprof_status_name(status), strerror(sys_errno),
                 (unsigned long long)value);
}

/* -- values and statuses -- */

static void values_and_stamps(void **state)
{
    (void)state;
    netprof_snapshot s = NETPROF_ZERO;
    tree_write(tree, telemetry("cxi0", "hni_sts_tx_ok_octets"), "18446744073709551615@1700000001.000000009\n");
    tree_write(tree, telemetry("cxi0", "hni_sts_rx_ok_octets"), "0@0.000000000\n");
    tree_write(tree, telemetry("cxi0", "no_newline"), "12@1700000001.500000000");
    tree_write(tree, telemetry("cxi0", "no_stamp"), "13\n");
    netprof *np = open_node((netprof_config){0});
    take(np, &s, NETPROF_SET_ALL);
    check(&s, "cxi0", "hni_sts_tx_ok_octets", NETPROF_STATUS_OK, 0, UINT64_MAX);
    check(&s, "cxi0", "hni_sts_rx_ok_octets", NETPROF_STATUS_OK, 0, 0);
    check(&s, "cxi0", "no_newline", NETPROF_STATUS_OK, 0, 12);
    check(&s, "cxi0", "no_stamp", NETPROF_STATUS_OK, 0, 13);
    assert_int_equal(s.not_ok, 0);
    assert_int_equal(s.stamps_ns[netprof_find(s.schema, "cxi", "cxi0", "hni_sts_tx_ok_octets")], 1700000001000000009);
    assert_int_equal(s.stamps_ns[netprof_find(s.schema, "cxi", "cxi0", "no_newline")], 1700000001500000000);
    assert_int_equal(s.stamps_ns[netprof_find(s.schema, "cxi", "cxi0", "no_stamp")], 0);
    assert_true(s.device_begin_ns[0] >= s.begin_ns && s.device_end_ns[0] <= s.end_ns);
    assert_true(s.device_begin_ns[0] <= s.device_end_ns[0]);
    netprof_close(np);
    netprof_snapshot_free(&s);
}

static void unreadable_ones_cost_no_others(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        int sys_errno;
    } bad[] = {{"bad_text", "garbage\n", EBADMSG},
               {"bad_sign", "-5@1700000001.000000000\n", EBADMSG},
               {"bad_space", " 5@1700000001.000000000\n", EBADMSG},
               {"bad_digits", "5@1700000001.5\n", EBADMSG},
               {"bad_stamp", "5@\n", EBADMSG},
               {"bad_half", "5@17\n", EBADMSG},
               {"bad_tail", "5@1700000001.000000000 5\n", EBADMSG},
               {"bad_two_lines", "5\n6\n", EBADMSG},
               {"bad_large", "18446744073709551616@1700000001.000000000\n", EBADMSG},
               {"bad_stamp_large", "5@99999999999999999999.000000000\n", EBADMSG},
               {"bad_hex", "0x10\n", EBADMSG},
               {"empty", "", ENODATA}};
    netprof_snapshot s = NETPROF_ZERO;
    char text[300];
    memset(text, '7', sizeof text);
    for (size_t i = 0; i < COUNT(bad); i++)
        tree_write(tree, telemetry("cxi0", bad[i].name), "%s", bad[i].text);
    tree_write_bytes(tree, telemetry("cxi0", "oversize"), text, sizeof text);
    tree_write_bytes(tree, telemetry("cxi0", "zeros"), "\0\0\0", 3);
    tree_write_bytes(tree, telemetry("cxi0", "zero_behind"), "12\0\n", 4);
    assert_int_equal(mkdir(tree_path(tree, telemetry("cxi0", "directory")), 0777), 0);
    put("cxi0", "aaa", 1);
    put("cxi0", "zzz", 2);
    put("cxi1", "aaa", 3);
    netprof *np = open_node((netprof_config){0});
    for (int again = 0; again < 2; again++) {
        take(np, &s, NETPROF_SET_ALL);
        for (size_t i = 0; i < COUNT(bad); i++)
            check(&s, "cxi0", bad[i].name, NETPROF_STATUS_UNREADABLE, bad[i].sys_errno, 0);
        check(&s, "cxi0", "oversize", NETPROF_STATUS_UNREADABLE, EBADMSG, 0);
        check(&s, "cxi0", "zeros", NETPROF_STATUS_UNREADABLE, EBADMSG, 0);
        check(&s, "cxi0", "zero_behind", NETPROF_STATUS_UNREADABLE, EBADMSG, 0);
        check(&s, "cxi0", "directory", NETPROF_STATUS_UNREADABLE, EISDIR, 0);
        check(&s, "cxi0", "aaa", NETPROF_STATUS_OK, 0, 1);
        check(&s, "cxi0", "zzz", NETPROF_STATUS_OK, 0, 2);
        check(&s, "cxi1", "aaa", NETPROF_STATUS_OK, 0, 3);
        assert_int_equal(s.not_ok, COUNT(bad) + 4);
        for (size_t i = 0; i < s.schema->counter_count; i++)
            if (s.status[i] != NETPROF_STATUS_OK) assert_int_equal(s.stamps_ns[i], 0);
    }
    // it can be read again: at once, without looking for devices
    put("cxi0", "bad_text", 77);
    take(np, &s, NETPROF_SET_ALL);
    check(&s, "cxi0", "bad_text", NETPROF_STATUS_OK, 0, 77);
    netprof_close(np);
    netprof_snapshot_free(&s);
}

// In a child that is not root: 1 = as expected.
static int child_sees(int (*look)(void))
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) _exit(3);
        _exit(look());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

static int look_denied(void)
{
    netprof_config config = {.root = tree, .sources = "cxi"};
    netprof_snapshot s = NETPROF_ZERO;
    netprof *np;
    if (netprof_open(&np, &config, NULL) || netprof_take(np, &s, NETPROF_SET_ALL, NULL)) return 10;
    size_t a = netprof_find(s.schema, "cxi", "cxi0", "secret"), b = netprof_find(s.schema, "cxi", "cxi0", "open");
    size_t c = netprof_find(s.schema, "cxi", "cxi2", "open");
    if (a == NETPROF_NONE || b == NETPROF_NONE || c == NETPROF_NONE) return 11;
    if (s.status[a] != NETPROF_STATUS_DENIED || s.errnos[a] != EACCES || s.values[a]) return 12;
    if (s.status[b] != NETPROF_STATUS_OK || s.values[b] != 6 || s.values[c] != 8) return 13;
    if (s.schema->device_count != 3) return 14; // cxi1 is there, though nobody may look into it
    int told = 0;
    for (size_t i = 0; i < s.schema->devices[1].fact_count; i++)
        told |= strstr(s.schema->devices[1].facts[i].key, "error") != NULL;
    if (!told || s.schema->devices[1].count) return 15;
    if (s.not_ok != 1) return 16;
    netprof_close(np);
    netprof_snapshot_free(&s);
    return 0;
}

static int look_all_denied(void)
{
    netprof_config config = {.root = tree, .sources = "cxi"};
    netprof *np;
    if (netprof_open(&np, &config, NULL) != NETPROF_ERR_NOSOURCE) return 10;
    const netprof_schema *schema = netprof_get_schema(np);
    if (schema->source_count != 1 || schema->sources[0].status != NETPROF_STATUS_DENIED) return 11;
    if (schema->sources[0].sys_errno != EACCES || !strstr(schema->sources[0].path, "/sys/class/cxi")) return 12;
    netprof_close(np);
    return 0;
}

static void denied(void **state)
{
    struct stat top;
    (void)state;
    if (stat("/", &top) != 0 || !(top.st_mode & S_IXOTH)) {
        print_message("others may not enter the root directory: not checked\n");
        skip();
    }
    put("cxi0", "secret", 5);
    put("cxi0", "open", 6);
    put("cxi1", "open", 7);
    put("cxi2", "open", 8);
    chmod(tree_path(tree, telemetry("cxi0", "secret")), 0);
    chmod(tree_path(tree, "sys/class/cxi/cxi1/device/telemetry"), 0);
    assert_int_equal(child_sees(look_denied), 0);
    chmod(tree_path(tree, "sys/class/cxi/cxi1/device/telemetry"), 0755);
    chmod(tree_path(tree, "sys/class/cxi"), 0);
    assert_int_equal(child_sees(look_all_denied), 0);
    chmod(tree_path(tree, "sys/class/cxi"), 0755);
}

static void nothing_there(void **state)
{
    (void)state;
    netprof_config config = {.root = tree, .sources = "cxi"};
    netprof_snapshot s = NETPROF_ZERO;
    netprof_error error;
    netprof *np;
    assert_int_equal(netprof_open(&np, &config, &error), NETPROF_ERR_NOSOURCE);
    assert_non_null(np); // open all the same
    assert_int_equal(netprof_get_schema(np)->source_count, 1);
    assert_int_equal(netprof_get_schema(np)->sources[0].status, NETPROF_STATUS_ABSENT);
    take(np, &s, NETPROF_SET_ALL);
    assert_int_equal(s.schema->counter_count, 0);
    put("cxi0", "now", 4); // and sees what comes
    take(np, &s, NETPROF_SET_ALL);
    check(&s, "cxi0", "now", NETPROF_STATUS_OK, 0, 4);
    netprof_close(np);
    netprof_snapshot_free(&s);
}

/* -- coming and going -- */

static void files_that_vanish(void **state)
{
    (void)state;
    netprof_snapshot s = NETPROF_ZERO;
    put("cxi0", "a", 1);
    put("cxi0", "b", 2);
    put("cxi0", "c", 3);
    netprof *fixed = open_node((netprof_config){.no_rescan = 1}), *np = open_node((netprof_config){0});
    unlink(tree_path(tree, telemetry("cxi0", "b")));
    take(fixed, &s, NETPROF_SET_ALL);
    check(&s, "cxi0", "a", NETPROF_STATUS_OK, 0, 1);
    check(&s, "cxi0", "b", NETPROF_STATUS_VANISHED, ENOENT, 0);
    check(&s, "cxi0", "c", NETPROF_STATUS_OK, 0, 3);
    take(np, &s, NETPROF_SET_ALL); // looked again: it is not listed any more
    assert_int_equal(netprof_find(s.schema, NULL, "cxi0", "b"), NETPROF_NONE);
    check(&s, "cxi0", "c", NETPROF_STATUS_OK, 0, 3);
    put("cxi0", "b", 9);
    take(fixed, &s, NETPROF_SET_ALL);
    check(&s, "cxi0", "b", NETPROF_STATUS_OK, 0, 9);
    netprof_close(fixed);
    netprof_close(np);
    netprof_snapshot_free(&s);
}

static void devices_that_come_and_go(void **state)
{
    (void)state;
    netprof_snapshot before = NETPROF_ZERO, s = NETPROF_ZERO;
    netprof_delta d = NETPROF_ZERO;
    put("cxi0", "a", 1);
    put("cxi1", "a", 2);
    netprof *np = open_node((netprof_config){.hold = NETPROF_HOLD_ALL});
    netprof *fixed = open_node((netprof_config){.hold = NETPROF_HOLD_NONE, .no_rescan = 1});
    take(np, &before, NETPROF_SET_ALL);
    const netprof_schema *first = before.schema;
    remove_path("sys/class/cxi/cxi0");
    put("cxi10", "a", 10);
    put("cxi2", "a", 20);
    take(np, &s, NETPROF_SET_ALL);
    assert_ptr_not_equal(s.schema, first);
    assert_int_equal(s.schema->device_count, 3); // by number: 1, 2, 10
    assert_string_equal(s.schema->devices[0].name, "cxi1");
    assert_string_equal(s.schema->devices[1].name, "cxi2");
    assert_string_equal(s.schema->devices[2].name, "cxi10");
    check(&s, "cxi1", "a", NETPROF_STATUS_OK, 0, 2);
    check(&s, "cxi10", "a", NETPROF_STATUS_OK, 0, 10);
    assert_int_equal(netprof_diff(&before, &s, NULL, &d, NULL), NETPROF_OK);
    assert_int_equal(d.flags[netprof_find(d.schema, NULL, "cxi0", "a")], NETPROF_FLAG_GONE);
    assert_int_equal(d.flags[netprof_find(d.schema, NULL, "cxi2", "a")], NETPROF_FLAG_NEW);
    assert_int_equal(d.flags[netprof_find(d.schema, NULL, "cxi1", "a")], NETPROF_FLAG_OK);
    take(fixed, &s, NETPROF_SET_ALL); // told not to look: what is gone is said, and the others are read
    assert_int_equal(s.schema->device_count, 2);
    check(&s, "cxi0", "a", NETPROF_STATUS_VANISHED, ENOENT, 0);
    check(&s, "cxi1", "a", NETPROF_STATUS_OK, 0, 2);
    assert_string_equal(before.schema->devices[0].name, "cxi0"); // an old snapshot keeps its schema
    netprof_delta_free(&d);
    netprof_close(np);
    netprof_close(fixed);
    assert_int_equal(before.values[0], 1);
    assert_string_equal(before.schema->counters[0].name, "a"); // longer than the context
    netprof_snapshot_free(&before);
    netprof_snapshot_free(&s);
}

// The device is removed and made again under its name: other inodes, values from 0.
static void recreated_device(void **state)
{
    (void)state;
    netprof_snapshot before = NETPROF_ZERO, s = NETPROF_ZERO;
    netprof_delta d = NETPROF_ZERO;
    const netprof_hold holds[] = {NETPROF_HOLD_FAST, NETPROF_HOLD_NONE, NETPROF_HOLD_ALL};
    char aside[1024];
    for (size_t i = 0; i < COUNT(holds); i++) {
        put("cxi0", "hni_sts_tx_ok_octets", 1000);
        put("cxi0", "other", 1000);
        put("cxi1", "other", 50);
        netprof *np = open_node((netprof_config){.hold = holds[i]});
        take(np, &before, NETPROF_SET_ALL);
        snprintf(aside, sizeof aside, "%s/aside%zu", tree, i); // its inode stays in use
        assert_int_equal(rename(tree_path(tree, "sys/class/cxi/cxi0"), aside), 0);
        put("cxi0", "hni_sts_tx_ok_octets", 1500);
        put("cxi0", "other", 7);
        take(np, &s, NETPROF_SET_ALL);
        check(&s, "cxi0", "hni_sts_tx_ok_octets", NETPROF_STATUS_OK, 0, 1500);
        check(&s, "cxi0", "other", NETPROF_STATUS_OK, 0, 7);
        assert_int_not_equal(s.schema->devices[0].identity, before.schema->devices[0].identity);
        assert_int_equal(netprof_diff(&before, &s, NULL, &d, NULL), NETPROF_OK);
        size_t k = netprof_find(d.schema, NULL, "cxi0", "hni_sts_tx_ok_octets");
        assert_int_equal(d.flags[k], NETPROF_FLAG_RESET);
        assert_int_equal(d.values[k], 1500);
        assert_int_equal(d.flags[netprof_find(d.schema, NULL, "cxi1", "other")], NETPROF_FLAG_OK);
        netprof_delta_free(&d);
        netprof_close(np);
    }
    netprof_snapshot_free(&before);
    netprof_snapshot_free(&s);
}

/* -- what is listed -- */

static void skipped_entries_and_both_cassinis(void **state)
{
    (void)state;
    netprof_snapshot s = NETPROF_ZERO;
    put("cxi0", "a", 1);
    put("cxi0", "ALL-in-binary", 2);
    put("cxi0", "reset_counters", 3);
    tree_write(tree, "sys/class/cxi/cxi0/device/properties/cassini_version", "1.1\n");
    tree_write(tree, "sys/class/cxi/cxi0/device/port/link", "up\n");
    tree_write(tree, "sys/class/cxi/cxi0/device/properties/speed", "200000\n");
    put("cxi1", "hni_pcs_corrected_cw_bin_0", 4); // Cassini-2
    tree_write(tree, "sys/class/cxi/cxi1/device/properties/cassini_version", "2.0\n");
    tree_write(tree, "sys/class/cxi/cxi1/device/port/0/link/state", "up\n");
    tree_write(tree, "run/cxi/cxi1/nacks", "-2147483648\n"); // %d of a 32-bit counter
    tree_write(tree, "run/cxi/cxi1/spt_in_use", "12\n");
    tree_write(tree, "run/cxi/cxi1/config", "text\n");
    netprof *np = open_node((netprof_config){0});
    take(np, &s, NETPROF_SET_ALL);
    assert_int_equal(netprof_find(s.schema, NULL, "cxi0", "ALL-in-binary"), NETPROF_NONE);
    assert_int_equal(netprof_find(s.schema, NULL, "cxi0", "reset_counters"), NETPROF_NONE);
    assert_int_equal(netprof_find(s.schema, NULL, "cxi1", "rh:config"), NETPROF_NONE);
    for (size_t i = 0; i < 2; i++) {
        const netprof_device *d = &s.schema->devices[i];
        assert_string_equal(netprof_fact_of(d->facts, d->fact_count, "cassini_version"), i ? "2.0" : "1.1");
        assert_string_equal(netprof_fact_of(d->facts, d->fact_count, "link"), "up");
    }
    check(&s, "cxi1", "rh:nacks", NETPROF_STATUS_OK, 0, 2147483648u);
    check(&s, "cxi1", "rh:spt_in_use", NETPROF_STATUS_OK, 0, 12);
    const netprof_counter *c = &s.schema->counters[netprof_find(s.schema, NULL, "cxi1", "rh:spt_in_use")];
    assert_int_equal(c->kind, NETPROF_KIND_GAUGE);
    c = &s.schema->counters[netprof_find(s.schema, NULL, "cxi1", "hni_pcs_corrected_cw_bin_0")];
    assert_int_equal(c->kind, NETPROF_KIND_HISTOGRAM);
    assert_int_equal(c->width, 56);
    netprof_close(np);
    netprof_snapshot_free(&s);
}

static void put_fast_and_slow(void)
{
    put("cxi0", "hni_sts_tx_ok_octets", 1);
    put("cxi0", "hni_sts_rx_ok_octets", 2);
    put("cxi0", "slow_one", 3);
    put("cxi1", "hni_sts_tx_ok_octets", 4);
    put("cxi1", "odd,name", 5);
    put("cxi1", "port_0", 6);
}

static void fast_set(void **state)
{
    (void)state;
    netprof_snapshot s = NETPROF_ZERO;
    put_fast_and_slow();
    netprof *np = open_node((netprof_config){0});
    take(np, &s, NETPROF_SET_FAST);
    check(&s, "cxi0", "hni_sts_rx_ok_octets", NETPROF_STATUS_OK, 0, 2);
    check(&s, "cxi0", "slow_one", NETPROF_STATUS_SKIPPED, 0, 0);
    check(&s, "cxi1", "hni_sts_tx_ok_octets", NETPROF_STATUS_OK, 0, 4);
    assert_int_equal(s.not_ok, 0); // skipped is what was asked for
    netprof_close(np);
    np = open_node((netprof_config){.fast = "cxi1/*,*/slow_*"});
    take(np, &s, NETPROF_SET_FAST);
    check(&s, "cxi0", "hni_sts_rx_ok_octets", NETPROF_STATUS_SKIPPED, 0, 0);
    check(&s, "cxi0", "slow_one", NETPROF_STATUS_OK, 0, 3);
    check(&s, "cxi1", "port_0", NETPROF_STATUS_OK, 0, 6);
    netprof_close(np);
    netprof_snapshot_free(&s);
}

// How many of the six counters are left.
static size_t left_by(const char *include, const char *exclude)
{
    netprof_config config = {.root = tree, .sources = "cxi", .include = include, .exclude = exclude};
    netprof *np;
    netprof_err failed = netprof_open(&np, &config, NULL);
    size_t n = netprof_get_schema(np)->counter_count;
    assert_int_equal(failed, n ? NETPROF_OK : NETPROF_ERR_NOSOURCE);
    netprof_snapshot s = NETPROF_ZERO;
    take(np, &s, NETPROF_SET_ALL);
    assert_int_equal(s.not_ok, 0); // names and files still go together
    for (size_t i = 0; i < n; i++)
        if (same_text(s.schema->counters[i].name, "port_0")) assert_int_equal(s.values[i], 6);
    netprof_snapshot_free(&s);
    netprof_close(np);
    return n;
}

static void filters(void **state)
{
    (void)state;
    put_fast_and_slow();
    assert_int_equal(left_by(NULL, NULL), 6);
    assert_int_equal(left_by("", ""), 6);
    assert_int_equal(left_by("cxi0", NULL), 3);
    assert_int_equal(left_by("cxi*", NULL), 6);
    assert_int_equal(left_by("cxi?", NULL), 6);
    assert_int_equal(left_by("cxi", NULL), 0);
    assert_int_equal(left_by("cxi0/slow_one", NULL), 1);
    assert_int_equal(left_by("*/hni_*", NULL), 3);
    assert_int_equal(left_by("*/hni_*", "cxi0"), 1);
    assert_int_equal(left_by("cxi[1-9]", NULL), 3);
    assert_int_equal(left_by(NULL, "cxi1,*/slow*"), 2);
    assert_int_equal(left_by(NULL, "*"), 0);
    assert_int_equal(left_by("*/odd\\,name", NULL), 1);  // an escaped comma is one of the name
    assert_int_equal(left_by("cxi1/odd,name", NULL), 0); // two patterns, and no device is called "name"
    assert_int_equal(left_by("cxi0,cxi1/port_0", NULL), 4);
    assert_int_equal(left_by(",,cxi0,", NULL), 3);
    assert_int_equal(left_by("*0", NULL), 3); // without '/': the device, not the counter port_0
    assert_int_equal(left_by(NULL, "*0"), 3);
    netprof__filter ports;
    assert_true(netprof__filter_make(&(netprof_alloc){netprof__default_resize, netprof__default_release, NULL},
                                     "mlx5_0/1,lo", &ports));
    assert_true(netprof__filter_matches(&ports, "mlx5_0/1", "port_rcv_data")); // a device whose name has a '/'
    assert_false(netprof__filter_matches(&ports, "mlx5_0/10", "port_rcv_data"));
    assert_false(netprof__filter_matches(&ports, "mlx5_0", "port_rcv_data"));
    free(ports.patterns);
}

/* -- descriptors -- */

static int all_close_on_exec(void)
{
    for (int fd = 3; fd < 1024; fd++) {
        char path[64], target[256];
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(path, target, sizeof target - 1);
        if (n <= 0) continue;
        target[n] = 0;
        if (strstr(target, tree) && !(fcntl(fd, F_GETFD) & FD_CLOEXEC)) return 0;
    }
    return 1;
}

static void descriptors_held(void **state)
{
    (void)state;
    static const struct {
        netprof_hold hold;
        int max_fds;
        size_t held; // besides one for the directory of each device
    } cases[] = {{NETPROF_HOLD_FAST, 0, 3}, {NETPROF_HOLD_NONE, 0, 0}, {NETPROF_HOLD_ALL, 0, 6},
                 {NETPROF_HOLD_ALL, 4, 4},  {NETPROF_HOLD_FAST, 2, 2}, {NETPROF_HOLD_ALL, 1, 1},
                 {NETPROF_HOLD_ALL, 100, 6}};
    netprof_snapshot s = NETPROF_ZERO;
    struct rlimit before, after;
    put_fast_and_slow();
    getrlimit(RLIMIT_NOFILE, &before);
    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t fds = count_fds();
        netprof *np = open_node((netprof_config){.hold = cases[i].hold, .max_fds = cases[i].max_fds});
        assert_true(count_fds() <= fds + 2); // files are opened when they are read
        for (uint64_t round = 0; round < 3; round++) {
            put("cxi1", "port_0", 60 + round); // held or not: read anew each time
            put("cxi0", "hni_sts_tx_ok_octets", 10 + round);
            take(np, &s, NETPROF_SET_ALL);
            check(&s, "cxi1", "port_0", NETPROF_STATUS_OK, 0, 60 + round);
            check(&s, "cxi0", "hni_sts_tx_ok_octets", NETPROF_STATUS_OK, 0, 10 + round);
            if (count_fds() != fds + 2 + cases[i].held)
                fail_msg("case %zu: %zu held, not %zu", i, count_fds() - fds - 2, cases[i].held);
        }
        assert_true(all_close_on_exec());
        assert_int_equal(netprof_rescan(np, NULL), NETPROF_OK); // gives the budget back, and takes it again
        take(np, &s, NETPROF_SET_ALL);
        assert_int_equal(count_fds(), fds + 2 + cases[i].held);
        netprof_close(np);
        assert_int_equal(count_fds(), fds);
    }
    getrlimit(RLIMIT_NOFILE, &after);
    assert_true(before.rlim_cur == after.rlim_cur && before.rlim_max == after.rlim_max);
    netprof_snapshot_free(&s);
}

static void set_soft_limit(rlim_t soft)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = soft;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void small_limits(void **state)
{
    (void)state;
    netprof_snapshot s = NETPROF_ZERO;
    struct rlimit before, now;
    getrlimit(RLIMIT_NOFILE, &before);
    put_fast_and_slow();
    size_t fds = count_fds();
    // room for 2: the limit less what is open (here, with the directory that is looked through, one more) less 256
    set_soft_limit(fds + 256 + 3);
    netprof *np = open_node((netprof_config){.hold = NETPROF_HOLD_ALL, .max_fds = 1000});
    take(np, &s, NETPROF_SET_ALL);
    assert_int_equal(s.not_ok, 0);
    assert_true(count_fds() >= fds + 2 + 1 && count_fds() <= fds + 2 + 3);
    netprof_close(np);
    set_soft_limit(64); // no room at all
    np = open_node((netprof_config){.hold = NETPROF_HOLD_ALL, .max_fds = 1000});
    take(np, &s, NETPROF_SET_ALL);
    assert_int_equal(s.not_ok, 0);
    assert_int_equal(count_fds(), fds + 2);
    getrlimit(RLIMIT_NOFILE, &now);
    assert_int_equal(now.rlim_cur, 64); // and it was not raised
    netprof_close(np);
    setrlimit(RLIMIT_NOFILE, &before);
    netprof_snapshot_free(&s);
}

// The program uses up its descriptors after the context was opened.
static void out_of_descriptors(void **state)
{
    (void)state;
    netprof_snapshot s = NETPROF_ZERO;
    struct rlimit before;
    int taken[512], n = 0;
    getrlimit(RLIMIT_NOFILE, &before);
    put_fast_and_slow();
    size_t fds = count_fds();
    netprof *fast = open_node((netprof_config){.hold = NETPROF_HOLD_FAST}),
            *none = open_node((netprof_config){.hold = NETPROF_HOLD_NONE});
    take(fast, &s, NETPROF_SET_ALL);
    set_soft_limit(300);
    while (n < 512 && (taken[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        n++;
    assert_int_equal(errno, EMFILE);
    // held files are read; one group's are let go so that its others can be
    take(fast, &s, NETPROF_SET_ALL);
    check(&s, "cxi0", "hni_sts_rx_ok_octets", NETPROF_STATUS_OK, 0, 2);
    check(&s, "cxi0", "slow_one", NETPROF_STATUS_OK, 0, 3);
    check(&s, "cxi1", "odd,name", NETPROF_STATUS_OK, 0, 5);
    while (n < 512 && (taken[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        n++;
    // No descriptor for any file, and no file held that could be let go: a directory gives way. Both sets, twice.
    for (int round = 0; round < 4; round++) {
        take(none, &s, round % 2 ? NETPROF_SET_FAST : NETPROF_SET_ALL);
        check(&s, "cxi0", "hni_sts_rx_ok_octets", NETPROF_STATUS_OK, 0, 2);
        assert_int_equal(s.not_ok, 0);
    }
    // Then the program takes those, too, until there is none: said so, no failure, no 0 in disguise
    for (int round = 0; round < 3; round++) {
        while (n < 512 && (taken[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
            n++;
        take(none, &s, NETPROF_SET_ALL);
    }
    check(&s, "cxi0", "slow_one", NETPROF_STATUS_UNREADABLE, EMFILE, 0);
    assert_true(s.not_ok >= 3);
    for (size_t i = 0; i < s.schema->counter_count; i++)
        if (s.status[i] != NETPROF_STATUS_OK) assert_true(s.errnos[i] == EMFILE && s.values[i] == 0);
    close(taken[--n]);
    take(none, &s, NETPROF_SET_ALL); // one is enough
    assert_int_equal(s.not_ok, 0);
    while (n)
        close(taken[--n]);
    netprof_close(fast);
    netprof_close(none);
    assert_int_equal(count_fds(), fds);
    setrlimit(RLIMIT_NOFILE, &before);
    netprof_snapshot_free(&s);
}

// Opened when there was hardly a descriptor left: directories could not be held, and their files are read all the same.
static void opened_with_two_descriptors(void **state)
{
    (void)state;
    netprof_snapshot s = NETPROF_ZERO;
    struct rlimit before;
    int taken[512], n = 0;
    getrlimit(RLIMIT_NOFILE, &before);
    for (int i = 0; i < 6; i++) {
        char name[16];
        snprintf(name, sizeof name, "cxi%d", i);
        put(name, "a", (uint64_t)i);
    }
    set_soft_limit(300);
    while (n < 512 && (taken[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        n++;
    close(taken[--n]);
    close(taken[--n]);
    close(taken[--n]);
    netprof *np = open_node((netprof_config){0});
    take(np, &s, NETPROF_SET_ALL);
    close(taken[--n]);
    for (int round = 0; round < 2; round++) {
        take(np, &s, NETPROF_SET_ALL);
        assert_int_equal(s.schema->device_count, 6);
        for (size_t i = 0; i < s.schema->counter_count; i++) {
            if (s.status[i] != NETPROF_STATUS_OK)
                assert_int_equal(s.errnos[i], EMFILE); // said by its name
            else
                assert_int_equal(s.values[i], s.schema->counters[i].device);
        }
    }
    while (n)
        close(taken[--n]);
    take(np, &s, NETPROF_SET_ALL); // and with descriptors again, everything is read
    assert_int_equal(s.not_ok, 0);
    assert_int_equal(s.schema->counter_count, 6);
    netprof_close(np);
    setrlimit(RLIMIT_NOFILE, &before);
    netprof_snapshot_free(&s);
}

/* -- threads, memory -- */

static void threads_change_nothing(void **state)
{
    (void)state;
    const int threads[] = {0, 1, 2, 8, 1000};
    netprof_snapshot reference = NETPROF_ZERO, s = NETPROF_ZERO;
    char device[16], counter[32];
    for (uint64_t d = 0; d < 9; d++)
        for (uint64_t c = 0; c < 40; c++) {
            snprintf(device, sizeof device, "cxi%d", (int)d);
            snprintf(counter, sizeof counter, "counter_%d", (int)c);
            put(device, counter, 1000 * d + c);
        }
    tree_write(tree, telemetry("cxi3", "counter_7"), "garbage");
    for (size_t i = 0; i < COUNT(threads); i++) {
        for (int hold = 0; hold < 3; hold++) {
            netprof *np =
                open_node((netprof_config){.threads = threads[i], .hold = (netprof_hold)hold, .max_fds = 200});
            for (int again = 0; again < 3; again++)
                take(np, i || hold ? &s : &reference, NETPROF_SET_ALL);
            if (i || hold) {
                assert_same(schema_difference(s.schema, reference.schema));
                size_t n = s.schema->counter_count;
                assert_int_equal(n, 360);
                assert_memory_equal(s.values, reference.values, n * 8);
                assert_memory_equal(s.stamps_ns, reference.stamps_ns, n * 8);
                assert_memory_equal(s.status, reference.status, n);
                assert_memory_equal(s.errnos, reference.errnos, n);
                assert_int_equal(s.not_ok, 1);
                for (size_t d = 0; d < s.schema->device_count; d++)
                    assert_true(s.device_begin_ns[d] >= s.begin_ns && s.device_end_ns[d] <= s.end_ns);
            }
            netprof_close(np);
        }
    }
    check(&reference, "cxi8", "counter_39", NETPROF_STATUS_OK, 0, 8039);
    netprof_snapshot_free(&reference);
    netprof_snapshot_free(&s);
}

// Devices vanish and come back while threads read.
static void threads_and_hotplug(void **state)
{
    (void)state;
    netprof_snapshot s = NETPROF_ZERO;
    char device[16], path[64];
    for (int d = 0; d < 6; d++) {
        snprintf(device, sizeof device, "cxi%d", d);
        for (int c = 0; c < 5; c++) {
            snprintf(path, sizeof path, "c%d", c);
            put(device, path, (uint64_t)d);
        }
    }
    netprof *np = open_node((netprof_config){.threads = 4, .hold = NETPROF_HOLD_ALL});
    for (int round = 0; round < 20; round++) {
        snprintf(device, sizeof device, "cxi%d", round % 6);
        snprintf(path, sizeof path, "sys/class/cxi/%s", device);
        remove_path(path);
        take(np, &s, NETPROF_SET_ALL);
        assert_int_equal(s.schema->device_count, 5);
        assert_int_equal(s.not_ok, 0);
        for (int c = 0; c < 5; c++) {
            snprintf(path, sizeof path, "c%d", c);
            put(device, path, (uint64_t)round);
        }
        take(np, &s, NETPROF_SET_ALL);
        check(&s, device, "c4", NETPROF_STATUS_OK, 0, (uint64_t)round);
        assert_int_equal(s.not_ok, 0);
    }
    netprof_close(np);
    netprof_snapshot_free(&s);
}

static long allocations;

static void *counting_resize(void *user, void *pointer, size_t size)
{
    (void)user;
    allocations++;
    return realloc(pointer, size);
}

static void counting_release(void *user, void *pointer)
{
    (void)user;
    free(pointer);
}

static void repeated_takes_allocate_nothing(void **state)
{
    (void)state;
    netprof_alloc counting = {counting_resize, counting_release, NULL};
    netprof_snapshot s = NETPROF_ZERO;
    put_fast_and_slow();
    tree_write(tree, telemetry("cxi0", "garbage"), "x");
    netprof *np = open_node((netprof_config){.alloc = &counting});
    assert_true(allocations > 0);
    take(np, &s, NETPROF_SET_ALL);
    allocations = 0;
    for (int i = 0; i < 10; i++)
        take(np, &s, i % 2 ? NETPROF_SET_ALL : NETPROF_SET_FAST);
    assert_int_equal(allocations, 0);
    // a file that is listed and cannot be opened, for ever: looked for once, not at every take
    assert_int_equal(symlink("nowhere", tree_path(tree, telemetry("cxi1", "dangling"))), 0);
    assert_int_equal(netprof_rescan(np, NULL), NETPROF_OK);
    for (int i = 0; i < 2; i++)
        take(np, &s, NETPROF_SET_ALL), take(np, &s, NETPROF_SET_FAST);
    check(&s, "cxi1", "dangling", NETPROF_STATUS_SKIPPED, 0, 0);
    allocations = 0;
    for (int i = 0; i < 10; i++)
        take(np, &s, i % 2 ? NETPROF_SET_ALL : NETPROF_SET_FAST);
    check(&s, "cxi1", "dangling", NETPROF_STATUS_VANISHED, ENOENT, 0);
    assert_int_equal(allocations, 0);
    unlink(tree_path(tree, telemetry("cxi0", "slow_one"))); // but another that vanishes is noticed
    take(np, &s, NETPROF_SET_ALL);
    assert_int_equal(netprof_find(s.schema, NULL, "cxi0", "slow_one"), NETPROF_NONE);
    netprof_close(np);
    netprof_snapshot_free(&s);
}

/* -- arguments, sources of one's own -- */

static void arguments(void **state)
{
    (void)state;
    netprof_config config;
    netprof_snapshot s = NETPROF_ZERO;
    netprof_error error;
    netprof *np = (netprof *)&config;
    put("cxi0", "a", 1);
    memset(&config, 0xa5, sizeof config);
    assert_int_equal(netprof_open(&np, &config, &error), NETPROF_ERR_ARG);
    assert_null(np);
    assert_non_null(strstr(error.text, "initialised"));
    assert_int_equal(netprof_open(NULL, NULL, &error), NETPROF_ERR_ARG);
    config = (netprof_config){.root = tree, .sources = "cxi,cxl"};
    assert_int_equal(netprof_open(&np, &config, &error), NETPROF_ERR_ARG);
    assert_string_equal(error.path, "cxl");
    np = open_node((netprof_config){0});
    assert_int_equal(netprof_take(NULL, &s, NETPROF_SET_ALL, NULL), NETPROF_ERR_ARG);
    assert_int_equal(netprof_take(np, NULL, NETPROF_SET_ALL, NULL), NETPROF_ERR_ARG);
    assert_int_equal(netprof_take(np, &s, (netprof_set)7, NULL), NETPROF_ERR_ARG);
    assert_int_equal(netprof_rescan(NULL, NULL), NETPROF_ERR_ARG);
    assert_null(netprof_get_schema(NULL));
    netprof_close(np);
    netprof_close(NULL);
    netprof_snapshot_free(NULL);
    netprof_snapshot_free(&s);
    netprof_schema_release(NULL);
    netprof_delta_free(NULL);
}

static void environment(void **state)
{
    (void)state;
    netprof *np;
    put_fast_and_slow();
    setenv("NETPROF_ROOT", tree, 1);
    setenv("NETPROF_SOURCES", "cxi", 1);
    setenv("NETPROF_INCLUDE", "cxi1", 1);
    setenv("NETPROF_EXCLUDE", "*/port_0", 1);
    assert_int_equal(netprof_open(&np, NULL, NULL), NETPROF_OK);
    assert_int_equal(netprof_get_schema(np)->counter_count, 2);
    netprof_close(np);
    np = open_node((netprof_config){.include = "cxi0", .exclude = ""}); // what is given goes before
    assert_int_equal(netprof_get_schema(np)->counter_count, 3);
    netprof_close(np);
    unsetenv("NETPROF_ROOT");
    unsetenv("NETPROF_SOURCES");
    unsetenv("NETPROF_INCLUDE");
    unsetenv("NETPROF_EXCLUDE");
}

struct own {
    size_t devices;
    int changed, closed, reads, fails;
};

static netprof_err own_discover(void *user, netprof_list *list)
{
    struct own *own = user;
    char name[32];
    own->changed = 0;
    for (size_t i = 0; i < own->devices; i++) {
        snprintf(name, sizeof name, "own%zu", i);
        assert_int_equal(netprof_list_device(list, name, 100 + i, NETPROF_DEVICE_VIRTUAL), i);
        netprof_list_fact(list, "number", name + 3);
        assert_int_equal(
            netprof_list_counter(
                list,
                &(netprof_counter){.name = "raw", .unit = "bytes", .scale = 4, .width = 8, .flags = NETPROF_FAST}),
            2 * i);
        assert_int_equal(netprof_list_counter(list, &(netprof_counter){.name = "raw", .width = 16}), 2 * i + 1);
    }
    return own->fails ? NETPROF_ERR_IO : NETPROF_OK;
}

static void own_read(void *user, size_t device, netprof_sweep *sweep)
{
    struct own *own = user;
    __atomic_add_fetch(&own->reads, 1, __ATOMIC_RELAXED);
    assert_int_equal(sweep->count, 2 * own->devices);
    sweep->values[2 * device] = 40 + device;
    sweep->status[2 * device] = NETPROF_STATUS_OK;
    assert_true(sweep->counters[2 * device].flags & NETPROF_FAST);
}

static int own_changed(void *user)
{
    return ((struct own *)user)->changed;
}

static void own_close(void *user)
{
    ((struct own *)user)->closed++;
}

static void source_of_ones_own(void **state)
{
    (void)state;
    struct own own = {.devices = 2};
    netprof_source source = {
        .name = "own", .discover = own_discover, .read = own_read, .changed = own_changed, .close = own_close};
    netprof_source broken = {.name = "own", .discover = own_discover};
    netprof_snapshot s = NETPROF_ZERO;
    put("cxi0", "a", 1);
    netprof *np = open_node((netprof_config){.threads = 3});
    assert_int_equal(netprof_add_source(np, &broken, &own, NULL), NETPROF_ERR_ARG);
    assert_int_equal(netprof_add_source(np, &source, &own, NULL), NETPROF_OK);
    take(np, &s, NETPROF_SET_ALL);
    assert_int_equal(own.reads, 2);
    size_t i = netprof_find(s.schema, "own", "own1", "raw");
    assert_int_equal(s.values[i], 41);
    assert_int_equal(s.schema->counters[i].scale, 4);
    assert_string_equal(s.schema->counters[i].unit, "bytes");
    assert_string_equal(s.schema->counters[i + 1].name, "raw#2"); // names are unique within a device
    assert_string_equal(s.schema->counters[i + 1].unit, "");
    assert_int_equal(s.schema->counters[i + 1].scale, 1);
    assert_int_equal(s.status[i + 1], NETPROF_STATUS_SKIPPED);
    const netprof_device *d = &s.schema->devices[s.schema->counters[i].device];
    assert_string_equal(d->source, "own");
    assert_string_equal(netprof_fact_of(d->facts, d->fact_count, "number"), "1");
    own.devices = 3;
    own.changed = 1;
    take(np, &s, NETPROF_SET_FAST);
    assert_int_equal(s.values[netprof_find(s.schema, "own", "own2", "raw")], 42);
    // its looking fails: its devices go, those of others stay
    own.fails = own.changed = 1;
    take(np, &s, NETPROF_SET_ALL);
    assert_int_equal(s.schema->device_count, 1);
    check(&s, "cxi0", "a", NETPROF_STATUS_OK, 0, 1);
    assert_int_equal(s.schema->sources[s.schema->source_count - 1].status, NETPROF_STATUS_UNREADABLE);
    own.fails = 0;
    assert_int_equal(netprof_rescan(np, NULL), NETPROF_OK);
    take(np, &s, NETPROF_SET_ALL);
    assert_int_equal(s.schema->device_count, 4);
    netprof_close(np);
    assert_int_equal(own.closed, 1);
    assert_string_equal(s.schema->devices[3].name, "own2");
    netprof_snapshot_free(&s);
}

/* -- the table of Cassini's counters -- */

// A field of a line of CSV, quotes removed; returns what comes behind it.
static char *field(char *line, char **out)
{
    char *to = line;
    *out = line;
    int quoted = 0;
    for (; *line && *line != '\n' && (quoted || *line != ','); line++) {
        if (*line == '"' && !(quoted && line[1] == '"')) {
            quoted = !quoted;
            continue;
        }
        if (*line == '"') line++;
        *to++ = *line;
    }
    char *next = *line == ',' ? line + 1 : line;
    *to = 0;
    return next;
}

static void table_of_cassini(void **state)
{
    (void)state;
    static const char *const fast[] = {// the 34 that decide most questions
                                       "hni_sts_tx_ok_octets",
                                       "hni_sts_rx_ok_octets",
                                       "hni_pkts_sent_by_tc_0",
                                       "hni_pkts_sent_by_tc_1",
                                       "hni_pkts_recv_by_tc_0",
                                       "hni_pkts_recv_by_tc_1",
                                       "hni_tx_paused_0",
                                       "hni_tx_paused_1",
                                       "hni_rx_paused_0",
                                       "hni_rx_paused_1",
                                       "parbs_tarb_pi_posted_pkts",
                                       "parbs_tarb_pi_posted_blocked_cnt",
                                       "parbs_tarb_pi_non_posted_pkts",
                                       "parbs_tarb_pi_non_posted_blocked_cnt",
                                       "lpe_net_match_priority_0",
                                       "lpe_net_match_overflow_0",
                                       "lpe_rndzv_puts_0",
                                       "lpe_rndzv_puts_offloaded_0",
                                       "atu_cache_miss_0",
                                       "atu_cache_miss_1",
                                       "atu_cache_hit_base_page_size_0",
                                       "atu_cache_hit_derivative1_page_size_0",
                                       "atu_cache_evictions",
                                       "pct_spt_timeouts",
                                       "pct_sct_timeouts",
                                       "pct_retry_srb_requests",
                                       "pct_no_tct_nacks",
                                       "pct_no_trs_nacks",
                                       "pct_no_mst_nacks",
                                       "pct_trs_rsp_nack_drops",
                                       "hni_pcs_corrected_cw",
                                       "hni_pcs_uncorrected_cw",
                                       "hni_llr_tx_replay_event",
                                       "hni_llr_rx_replay_event"};
    FILE *file = fopen(NETPROF_TEST_TOP "/report/analysis/catalog/catalog_cxi.csv", "r");
    char line[2048], *columns[8];
    size_t rows = 0, fast_seen = 0, without_unit = 0;
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_memory_equal(line, "name,groups,unit,kind,description,width_bits,asic", 48);
    while (fgets(line, sizeof line, file)) {
        char *rest = line;
        netprof_counter c;
        for (size_t i = 0; i < 8; i++)
            rest = field(rest, &columns[i]);
        netprof__cxi_describe(&c, columns[0]);
        if (!same_text(c.kind == NETPROF_KIND_HISTOGRAM ? "histogram bucket" : netprof_kind_name((netprof_kind)c.kind),
                       columns[3]))
            fail_msg("%s is a %s, not a %s", columns[0], columns[3], netprof_kind_name((netprof_kind)c.kind));
        int either = *columns[7] ? atoi(columns[7]) : atoi(columns[5]); // Cassini-2 where it differs
        if (c.width != atoi(columns[5]) && c.width != either)
            fail_msg("%s has %s bits, not %d", columns[0], columns[5], c.width);
        if (c.unit && *c.unit && !same_text(c.unit, columns[2]))
            fail_msg("%s is in %s, not in %s", columns[0], columns[2], c.unit);
        without_unit += !c.unit || !*c.unit;
        assert_true(c.flags & NETPROF_STAMPED);
        int is_fast = 0;
        for (size_t i = 0; i < COUNT(fast); i++)
            is_fast |= same_text(columns[0], fast[i]);
        assert_int_equal((c.flags & NETPROF_FAST) != 0, is_fast);
        fast_seen += (size_t)is_fast;
        rows++;
    }
    fclose(file);
    assert_int_equal(rows, 1922);
    assert_int_equal(fast_seen, 34);
    assert_true(without_unit < rows);
}

int main(int count, char **given)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(values_and_stamps),
        TEST(unreadable_ones_cost_no_others),
        TEST(denied),
        TEST(nothing_there),
        TEST(files_that_vanish),
        TEST(devices_that_come_and_go),
        TEST(recreated_device),
        TEST(skipped_entries_and_both_cassinis),
        TEST(fast_set),
        TEST(filters),
        TEST(descriptors_held),
        TEST(small_limits),
        TEST(out_of_descriptors),
        TEST(opened_with_two_descriptors),
        TEST(threads_change_nothing),
        TEST(threads_and_hotplug),
        TEST(repeated_takes_allocate_nothing),
        TEST(arguments),
        TEST(environment),
        TEST(source_of_ones_own),
        cmocka_unit_test(table_of_cassini),
    };
    if (count > 1) cmocka_set_test_filter(given[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
