// Devices that are not what they were: what is told, and what the rules make of it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/base/stb_ds.h"
#include "analysis/data/difference.h"
#include "analysis/rules/findings.h"
#include "finding_claims.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))
enum { MOST = 6 };

// A device with one counter and the state of its link.
typedef struct made_device {
    const char *source, *name, *facts; // "pci=0000:21:00.0 mtu=1500"
    uint64_t identity;
    int physical, down, error; // error: nothing of it can be read
} made_device;

typedef struct made_node {
    made_device devices[MOST];
    const char *sources; // listed although they have no device, "denied:rdma"
} made_node;

typedef struct wanted {
    const char *kind, *device, *text; // a part of the text
    int repeated;
    const char *severity; // of the finding; NULL: there is none
} wanted;

static void made_facts(netprof_list *list, const char *text)
{
    char copy[256], *save, *word;
    snprintf(copy, sizeof copy, "%s", text ? text : "");
    for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        char *equal = strchr(word, '=');
        *equal = 0;
        netprof_list_fact(list, word, equal + 1);
    }
}

static const char *made_state(const char *source)
{
    return strcmp(source, "cxi") == 0 ? "properties/link" : strcmp(source, "netdev") == 0 ? "carrier" : "other";
}

static netprof_snapshot made_snapshot(const made_node *node, int64_t at_ns)
{
    netprof_list *list = netprof_build_begin(NULL);
    const netprof_schema *schema;
    netprof_snapshot s = NETPROF_ZERO;
    netprof_build_fact(list, "host", "n1");
    netprof_build_fact(list, "boot_id", "b");
    for (size_t i = 0; i < MOST && node->devices[i].name; i++) {
        const made_device *d = &node->devices[i];
        if (!i || strcmp(d->source, d[-1].source) != 0) netprof_build_source(list, d->source);
        netprof_list_device(list, d->name, d->identity, d->physical ? NETPROF_DEVICE_PHYSICAL : NETPROF_DEVICE_VIRTUAL);
        made_facts(list, d->facts);
        netprof_list_counter(list, &(netprof_counter){.name = "rx_packets", .unit = "packets", .width = 64});
        netprof_list_counter(list, &(netprof_counter){.name = made_state(d->source), .kind = NETPROF_KIND_STATE});
    }
    if (node->sources && strncmp(node->sources, "denied:", 7) == 0) {
        netprof_build_source(list, node->sources + 7);
        netprof_list_state(list, NETPROF_STATUS_DENIED, EACCES, "/sys/class/it");
    } else if (node->sources) {
        netprof_build_source(list, node->sources);
    }
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    assert_int_equal(netprof_snapshot_make(&s, schema, NULL), NETPROF_OK);
    for (size_t i = 0; i < schema->counter_count; i++) {
        const made_device *d = &node->devices[schema->counters[i].device];
        s.status[i] = d->error ? NETPROF_STATUS_UNREADABLE : NETPROF_STATUS_OK;
        s.errnos[i] = (uint8_t)d->error;
        s.values[i] = d->error ? 0 : i % 2 ? !d->down : 1000 + (uint64_t)at_ns / 1000000000;
    }
    s.begin_ns = s.end_ns = at_ns;
    s.wall_ns = INT64_C(1700000000000000000) + at_ns;
    for (size_t i = 0; i < schema->device_count; i++)
        s.device_begin_ns[i] = s.device_end_ns[i] = at_ns;
    netprof_schema_release(schema);
    return s;
}

static const finding *made_finding(const findings *f, const difference *d, const wanted *w)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->items[i].device != DIFFERENCE_NONE && f->items[i].claim && strstr(f->items[i].claim, w->text) &&
            strcmp(d->delta->schema->devices[f->items[i].device].name, w->device) == 0)
            return &f->items[i];
    return NULL;
}

static void check_changes(const char *what, const made_node *before, const made_node *after, const wanted *expected,
                          size_t count)
{
    netprof_snapshot a = made_snapshot(before, 1000000000), b = made_snapshot(after, 11000000000);
    difference d = {0};
    rules set = {0};
    findings f = {0};
    rules_builtin(&set);
    assert_int_equal(set.problem_count, 0);
    assert_int_equal(difference_of_snapshots(&d, &a, &b, false, NULL), NETPROF_OK);
    findings_make(&f, &d, &set);
    finding_claims_check(&f);
    for (size_t i = 0; i < d.change_count || i < count; i++) {
        const device_change *c = i < d.change_count ? &d.changes[i] : NULL;
        const wanted *w = i < count ? &expected[i] : NULL;
        const char *name = c ? d.delta->schema->devices[c->device].name : "";
        if (!c || !w || strcmp(device_change_name(c->kind), w->kind) != 0 || strcmp(name, w->device) != 0 ||
            !strstr(c->text, w->text) || c->repeated != (bool)w->repeated)
            fail_msg("%s: change %zu is '%s %s: %s%s', not '%s %s: %s'", what, i, c ? device_change_name(c->kind) : "-",
                     name, c ? c->text : "", c && c->repeated ? " (again)" : "", w ? w->kind : "-", w ? w->device : "",
                     w ? w->text : "");
        const finding *x = made_finding(&f, &d, w);
        const char *found = x ? severity_name(x->severity) : "none";
        char value[16] = "left over";
        if (x) assert_string_equal(finding_value_text(x, value, sizeof value), ""); // there is none to show ...
        if (x) assert_string_equal(value, "");                                      // ... and nothing else is
        if (strcmp(found, w->severity ? w->severity : "none") != 0)
            fail_msg("%s: %s %s is %s", what, w->kind, w->device, found);
    }
    for (size_t i = 0; i < f.unknown_count; i++) // what is gone is told once, not for each rule
        assert_true(f.unknown[i].device == DIFFERENCE_NONE || difference_has_both_ends(&d, f.unknown[i].device));
    findings_free(&f);
    rules_free(&set);
    difference_free(&d);
    netprof_snapshot_free(&a);
    netprof_snapshot_free(&b);
}

#define CHECK(what, before, after, ...)                                                                                \
    do {                                                                                                               \
        static const wanted expected[] = {__VA_ARGS__};                                                                \
        check_changes(what, before, after, expected, COUNT(expected));                                                 \
    } while (0)

static const made_node cards = {{{"cxi", "cxi0", "pci=0000:21:00.0 mtu=9000 speed_mbps=200000", 7, 1, 0, 0},
                                 {"cxi", "cxi1", "pci=0000:41:00.0 speed_mbps=200000", 8, 1, 0, 0},
                                 {"netdev", "hsn0", "pci=0000:21:00.0", 2, 1, 0, 0},
                                 {"netdev", "hsn1", "pci=0000:41:00.0", 3, 1, 0, 0}},
                                NULL};

static void nothing_changed(void **state)
{
    (void)state;
    check_changes("alike", &cards, &cards, NULL, 0);
}

// The NIC and its interface: one finding.
static void a_card_is_gone(void **state)
{
    (void)state;
    made_node one = {{cards.devices[0], cards.devices[2]}, NULL}, none = {{{0}}, "cxi"}, other = {{{0}}, NULL};
    CHECK("one of two", &cards, &one,
          {"gone", "cxi1", "gone since the start (PCI 0000:41:00.0); 1 of 2 NICs is left", 0, "critical"},
          {"gone", "hsn1", "gone since the start (PCI 0000:41:00.0); 1 of 2 ports is left", 1, NULL});
    CHECK("both, sources still there", &one, &none, {"gone", "cxi0", "it was the only NIC", 0, "critical"});
    none.sources = "denied:cxi";
    CHECK("the source is denied", &one, &none,
          {"unreadable", "cxi0", "not at the end: /sys/class/it: Permission denied", 0, "high"});
    check_changes("not asked for", &one, &other, NULL, 0);
    check_changes("not asked for at the start", &other, &one, NULL, 0);
}

static void a_card_is_new(void **state)
{
    (void)state;
    made_node one = {{cards.devices[0], cards.devices[2]}, NULL};
    CHECK("the second", &one, &cards, {"new", "cxi1", "new: not there at the start (PCI 0000:41:00.0)", 0, "info"},
          {"new", "hsn1", "new:", 1, NULL});
}

static void another_card(void **state)
{
    (void)state;
    made_node one = {{cards.devices[0]}, NULL}, two = one;
    two.devices[0].facts = "pci=0000:61:00.0";
    CHECK("under its name", &one, &two,
          {"other", "cxi0", "PCI 0000:61:00.0, at the start PCI 0000:21:00.0, which is gone", 0, "high"});
}

static void a_link_took_the_name_of_a_card(void **state)
{
    (void)state;
    made_node card = {{{"netdev", "eth0", "pci=0000:21:00.0", 2, 1, 0, 0}}, NULL};
    made_node veth = {{{"netdev", "eth0", "kind=veth", 9, 0, 0, 0}}, NULL};
    CHECK("veth", &card, &veth,
          {"gone", "eth0", "it was the only port; its name is that of another device now", 0, "critical"},
          {"new", "eth0", "new: not there at the start (ifindex 9)", 0, "info"});
}

static void made_anew(void **state)
{
    (void)state;
    made_node now = cards;
    now.devices[0].identity = 77;
    now.devices[2].identity = 99;
    CHECK("driver", &cards, &now,
          {"recreated", "cxi0", "(PCI 0000:21:00.0 as before, sysfs entry 7 became 77)", 0, "high"},
          {"recreated", "hsn0", "ifindex 2 became 99", 1, NULL});
    made_node veth = {{{"netdev", "v0", NULL, 4, 0, 0, 0}}, NULL}, again = veth;
    again.devices[0].identity = 9;
    again.devices[0].down = 1; // another link: that it is down is no change
    CHECK("veth", &veth, &again,
          {"recreated", "v0", "deleted and made again under its name (ifindex 4 became 9)", 0, "info"});
}

static void renamed(void **state)
{
    (void)state;
    made_node now = {{cards.devices[0], cards.devices[1]}, NULL}, before = now;
    now.devices[0] = cards.devices[1], now.devices[0].name = "cxi0";
    now.devices[1] = cards.devices[0], now.devices[1].name = "cxi1";
    CHECK("swapped", &before, &now,
          {"renamed", "cxi0", "was called cxi1 at the start: the same device by its PCI 0000:41:00.0", 0, "watch"},
          {"renamed", "cxi1", "was called cxi0", 0, "watch"});
    made_node veth = {{{"netdev", "v0", NULL, 4, 0, 0, 0}}, NULL}, other = veth;
    other.devices[0].name = "w0";
    CHECK("veth", &veth, &other, {"renamed", "w0", "the same device by its ifindex 4", 0, "info"});
}

static void links(void **state)
{
    (void)state;
    made_node now = cards;
    now.devices[0].down = now.devices[2].down = 1;
    CHECK("down", &cards, &now, {"link-down", "cxi0", "up at the start and is down at the end", 0, "critical"},
          {"link-down", "hsn0", "its link", 1, NULL});
    CHECK("up", &now, &cards, {"link-up", "cxi0", "down at the start and is up", 0, "info"},
          {"link-up", "hsn0", "its link", 1, NULL});
    now = cards;
    now.devices[0].facts = "pci=0000:21:00.0 mtu=1500 speed_mbps=100000";
    CHECK("facts", &cards, &now, {"speed", "cxi0", "ran at 200 Gb/s at the start and runs at 100 Gb/s", 0, "warn"},
          {"mtu", "cxi0", "was 9000 at the start and is 1500", 0, "watch"});
    CHECK("faster", &now, &cards, {"speed", "cxi0", "ran at 100 Gb/s", 0, NULL},
          {"mtu", "cxi0", "was 1500", 0, "watch"});
    now = (made_node){{{"netdev", "v0", NULL, 4, 0, 0, 0}}, NULL};
    made_node down = now;
    down.devices[0].down = 1;
    CHECK("veth", &now, &down, {"link-down", "v0", "its link", 0, "info"});
}

static void unreadable(void **state)
{
    (void)state;
    made_node now = cards;
    now.devices[1].error = EIO;
    CHECK("EIO", &cards, &now, {"unreadable", "cxi1", "nothing of it at the end: Input/output error", 0, "high"});
    check_changes("never readable", &now, &now, NULL, 0);
}

// A recording of so many snapshots in which `gap` was read from snapshot `from` to before `to`, and its first device was
// made anew behind that if `anew`. Only the ends are read.
static void check_recording(const made_node *all, const made_node *gap, size_t from, size_t to, uint64_t anew,
                            const char *kind, const char *text, const char *expected)
{
    enum { SNAPSHOTS = 200 };
    netprof_snapshot made[SNAPSHOTS];
    made_node later = *all;
    char path[] = "/tmp/netprof-changes-XXXXXX";
    int fd = mkstemp(path);
    dataset set = {0};
    dataset_options how = {.ends_only = 1};
    difference d = {0};
    rules built_in = {0};
    findings f = {0};
    if (anew) later.devices[0].identity = anew;
    for (size_t i = 0; i < SNAPSHOTS; i++)
        made[i] = made_snapshot(i < from ? all : i < to ? gap : &later, 1000000000 * (int64_t)(i + 1));
    assert_true(fd >= 0 && close(fd) == 0);
    assert_int_equal(netprof_save_file(path, made, SNAPSHOTS, NULL), NETPROF_OK);
    assert_int_equal(dataset_read(&set, path, &how, NULL), NETPROF_OK);
    unlink(path);
    assert_int_equal(set.runs[0].snapshot_count + set.runs[0].skipped, SNAPSHOTS);
    assert_int_equal(difference_of_dataset(&d, &set, false, NULL), NETPROF_OK);
    rules_builtin(&built_in);
    findings_make(&f, &d, &built_in);
    finding_claims_check(&f);
    assert_int_equal(d.change_count, kind ? 1 : 0);
    if (kind) {
        assert_string_equal(device_change_name(d.changes[0].kind), kind);
        assert_non_null(strstr(d.changes[0].text, text));
        assert_non_null(strstr(f.items[0].claim, text));
        assert_string_equal(severity_name(f.items[0].severity), expected);
    }
    findings_free(&f);
    rules_free(&built_in);
    difference_free(&d);
    dataset_free(&set);
    for (size_t i = 0; i < SNAPSHOTS; i++)
        netprof_snapshot_free(&made[i]);
}

static void away_in_the_middle(void **state)
{
    (void)state;
    made_node all = {{cards.devices[0], cards.devices[1]}, NULL}, one = {{cards.devices[1]}, NULL};
    made_node no_source = {{{"netdev", "v0", NULL, 4, 0, 0, 0}}, NULL}, veth = no_source, none = {{{0}}, "netdev"};
    // among those that are decoded, and among those that are passed over
    check_recording(&all, &one, 3, 5, 0, "returned",
                    "was missing in 2 of 200 readings and came back (PCI 0000:21:00.0)", "high");
    check_recording(&all, &one, 120, 121, 0, "returned", "was missing in 1 of 200 readings and came back", "high");
    check_recording(&all, &one, 120, 125, 77, "recreated", "from zero; it was missing in 5 of 200 readings", "high");
    check_recording(&veth, &none, 120, 125, 0, "returned", "was missing in 5 of 200", "info");
    check_recording(&all, &no_source, 120, 125, 0, NULL, NULL, NULL); // cxi was not asked for there
    check_recording(&all, &all, 120, 125, 0, NULL, NULL, NULL);
    made_node denied = {{{"netdev", "v0", NULL, 4, 0, 0, 0}}, "denied:cxi"};
    check_recording(&all, &denied, 120, 125, 0, NULL, NULL, NULL); // nobody could see whether they were there
}

// Each device once, with all the readings in which it was missing.
static void away_more_than_once(void **state)
{
    (void)state;
    made_node all = {{cards.devices[0], cards.devices[1]}, NULL};
    all.devices[1].name = "dxi0"; // which ends as the other one does
    dataset_run run = {.skipped = 98};
    difference d = {0};
    arrput(run.snapshots, made_snapshot(&all, 1000000000));
    arrput(run.snapshots, made_snapshot(&all, 101000000000));
    run.snapshot_count = 2;
    arrput(run.absences, ((dataset_absence){"cxi", "dxi0", 3, 5}));
    arrput(run.absences, ((dataset_absence){"cxi", "cxi0", 4, 5}));
    arrput(run.absences, ((dataset_absence){"cxi", "dxi0", 10, 13}));
    arrput(run.absences, ((dataset_absence){"cxi", "cxi0", 99, 0})); // did not come back: it is gone, which is told
    run.absence_count = 4;
    assert_int_equal(difference_of_ends(&d, &run, &run, false, NULL), NETPROF_OK);
    assert_int_equal(d.change_count, 2);
    assert_int_equal(d.changes[0].device, 0); // in the order of the devices
    assert_non_null(strstr(d.changes[0].text, "was missing in 1 of 100 readings"));
    assert_int_equal(d.changes[1].device, 1);
    assert_non_null(strstr(d.changes[1].text, "was missing in 5 of 100 readings"));
    difference_free(&d);
    netprof_snapshot_free(&run.snapshots[0]);
    netprof_snapshot_free(&run.snapshots[1]);
    arrfree(run.snapshots);
    arrfree(run.absences);
}

// Processes come and go.
static void others_are_not_told(void **state)
{
    (void)state;
    made_node before = {{{"process", "100", NULL, 5, 0, 0, 0}, {"process", "200", NULL, 6, 0, 0, 0}}, NULL};
    made_node after = {{{"process", "100", NULL, 9, 0, 0, 0}, {"process", "300", NULL, 6, 0, 0, 0}}, NULL};
    check_changes("processes", &before, &after, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_changed),
        cmocka_unit_test(a_card_is_gone),
        cmocka_unit_test(a_card_is_new),
        cmocka_unit_test(another_card),
        cmocka_unit_test(a_link_took_the_name_of_a_card),
        cmocka_unit_test(made_anew),
        cmocka_unit_test(renamed),
        cmocka_unit_test(links),
        cmocka_unit_test(unreadable),
        cmocka_unit_test(others_are_not_told),
        cmocka_unit_test(away_in_the_middle),
        cmocka_unit_test(away_more_than_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
