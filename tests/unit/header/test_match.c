// Which device is which: by what they are before how they are called, and what netprof_diff() makes of it.
#define NETPROF_IMPLEMENTATION
#define NETPROF_STATIC
#include "netprof.h"

#include "support.h"

enum { MOST = 4, NOT = -1 };

struct device {
    const char *source, *name;
    uint64_t identity;
    const char *facts; // "pci=0000:21:00.0 kind=veth"
};

// What `after` was: twins[i] is an index of `before`, or NOT.
struct matching {
    const char *what, *node_before, *node_after; // facts of the node
    struct device before[MOST], after[MOST];
    int twins[MOST];
};

static void add_facts(netprof_list *list, const char *text, void (*add)(netprof_list *, const char *, const char *))
{
    char copy[256], *save, *word;
    snprintf(copy, sizeof copy, "%s", text ? text : "");
    for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        char *equal = strchr(word, '=');
        *equal = 0;
        add(list, word, equal + 1);
    }
}

// One counter, "bytes", each.
static const netprof_schema *schema_of_devices(const struct device *devices, const char *node)
{
    netprof_list *list = netprof_build_begin(NULL);
    const netprof_schema *schema;
    add_facts(list, node, netprof_build_fact);
    for (size_t i = 0; i < MOST && devices[i].name; i++) {
        if (!i || strcmp(devices[i].source, devices[i - 1].source) != 0) netprof_build_source(list, devices[i].source);
        netprof_list_device(list, devices[i].name, devices[i].identity,
                            devices[i].facts && strstr(devices[i].facts, "pci=") ? NETPROF_DEVICE_PHYSICAL : 0);
        add_facts(list, devices[i].facts, netprof_list_fact);
        netprof_list_counter(list, &(netprof_counter){.name = "bytes", .unit = "bytes", .width = 64});
    }
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    return schema;
}

#define HERE "host=n1 boot_id=a netns=1"
static const struct matching matchings[] = {
    {"two cards swapped their names; their identities are not known",
     HERE,
     HERE,
     {{"cxi", "cxi0", 0, "pci=0000:21:00.0"}, {"cxi", "cxi1", 0, "pci=0000:41:00.0"}},
     {{"cxi", "cxi0", 0, "pci=0000:41:00.0"}, {"cxi", "cxi1", 0, "pci=0000:21:00.0"}},
     {1, 0}},
    {"two cards swapped their names, each with the inode of its name",
     HERE,
     HERE,
     {{"cxi", "cxi0", 7, "pci=0000:21:00.0"}, {"cxi", "cxi1", 8, "pci=0000:41:00.0"}},
     {{"cxi", "cxi0", 7, "pci=0000:41:00.0"}, {"cxi", "cxi1", 8, "pci=0000:21:00.0"}},
     {1, 0}},
    {"a card came first, and all others moved on by one",
     HERE,
     HERE,
     {{"cxi", "cxi0", 7, "pci=0000:21:00.0"}, {"cxi", "cxi1", 8, "pci=0000:41:00.0"}},
     {{"cxi", "cxi0", 9, "pci=0000:01:00.0"},
      {"cxi", "cxi1", 7, "pci=0000:21:00.0"},
      {"cxi", "cxi2", 8, "pci=0000:41:00.0"}},
     {NOT, 0, 1}},
    {"another card under the name of one that is gone",
     HERE,
     HERE,
     {{"cxi", "cxi0", 7, "pci=0000:21:00.0"}},
     {{"cxi", "cxi0", 7, "pci=0000:41:00.0"}},
     {NOT}},
    {"made anew at the same address",
     HERE,
     HERE,
     {{"cxi", "cxi0", 7, "pci=0000:21:00.0"}},
     {{"cxi", "cxi0", 9, "pci=0000:21:00.0"}},
     {0}},
    {"after a reboot the address counts",
     "host=n1 boot_id=a",
     "host=n1 boot_id=b",
     {{"netdev", "eth0", 2, "pci=0000:21:00.0"}, {"netdev", "eth1", 3, "pci=0000:41:00.0"}},
     {{"netdev", "eth0", 2, "pci=0000:41:00.0"}, {"netdev", "eth1", 3, "pci=0000:21:00.0"}},
     {1, 0}},
    {"of another host only the names",
     "host=n1",
     "host=n2",
     {{"cxi", "cxi0", 0, "pci=0000:21:00.0"}, {"cxi", "cxi1", 0, "pci=0000:41:00.0"}},
     {{"cxi", "cxi0", 0, "pci=0000:41:00.0"}, {"cxi", "cxi1", 0, "pci=0000:21:00.0"}},
     {0, 1}},
    {"two veths swapped their names",
     HERE,
     HERE,
     {{"netdev", "a", 5, "kind=veth"}, {"netdev", "b", 6, "kind=veth"}},
     {{"netdev", "b", 5, "kind=veth"}, {"netdev", "a", 6, "kind=veth"}},
     {0, 1}},
    {"a link was renamed, and a new one took its name",
     HERE,
     HERE,
     {{"netdev", "a", 5, "kind=veth"}},
     {{"netdev", "a", 9, "kind=veth"}, {"netdev", "b", 5, "kind=veth"}},
     {NOT, 0}},
    {"a link was deleted and made again",
     HERE,
     HERE,
     {{"netdev", "a", 5, "kind=veth"}},
     {{"netdev", "a", 9, "kind=veth"}},
     {0}},
    {"a bridge has the name of a veth that was deleted",
     HERE,
     HERE,
     {{"netdev", "a", 5, "kind=veth"}},
     {{"netdev", "a", 9, "kind=bridge"}},
     {NOT}},
    {"a veth has the name of a card that is gone",
     HERE,
     HERE,
     {{"netdev", "eth0", 5, "pci=0000:21:00.0"}},
     {{"netdev", "eth0", 9, NULL}},
     {NOT}},
    {"an ifindex of another boot says nothing",
     "host=n1 boot_id=a",
     "host=n1 boot_id=b",
     {{"netdev", "a", 5, NULL}, {"netdev", "b", 6, NULL}},
     {{"netdev", "b", 5, NULL}, {"netdev", "a", 6, NULL}},
     {1, 0}},
    {"an ifindex of another network namespace says nothing",
     "host=n1 boot_id=a netns=1",
     "host=n1 boot_id=a netns=2",
     {{"netdev", "a", 5, NULL}, {"netdev", "b", 6, NULL}},
     {{"netdev", "b", 5, NULL}, {"netdev", "a", 6, NULL}},
     {1, 0}},
    {"ethtool follows its interface",
     HERE,
     HERE,
     {{"ethtool", "eth0", 2, "bus=0000:21:00.0"}, {"ethtool", "eth1", 3, "bus=virtio1"}},
     {{"ethtool", "eth1", 2, "bus=0000:21:00.0"}, {"ethtool", "eth0", 3, "bus=virtio1"}},
     {0, 1}},
    {"InfiniBand: by node GUID and port",
     HERE,
     HERE,
     {{"rdma", "mlx5_0/1", 0, "node_guid=aa"},
      {"rdma", "mlx5_0/2", 0, "node_guid=aa"},
      {"rdma", "mlx5_1/1", 0, "node_guid=bb"}},
     {{"rdma", "mlx5_0/1", 0, "node_guid=bb"},
      {"rdma", "mlx5_1/1", 0, "node_guid=aa"},
      {"rdma", "mlx5_1/2", 0, "node_guid=aa"}},
     {2, 0, 1}},
    {"two ports at one address: the ifindex",
     HERE,
     HERE,
     {{"netdev", "p0", 2, "pci=0000:21:00.0"}, {"netdev", "p1", 3, "pci=0000:21:00.0"}},
     {{"netdev", "p1", 2, "pci=0000:21:00.0"}, {"netdev", "p0", 3, "pci=0000:21:00.0"}},
     {0, 1}},
    {"two ports at one address, names and MAC addresses swapped: the ifindex",
     HERE,
     HERE,
     {{"netdev", "p0", 2, "pci=0000:21:00.0 mac=02:00"}, {"netdev", "p1", 3, "pci=0000:21:00.0 mac=02:01"}},
     {{"netdev", "p1", 2, "pci=0000:21:00.0 mac=02:01"}, {"netdev", "p0", 3, "pci=0000:21:00.0 mac=02:00"}},
     {0, 1}},
    {"two ports at one address, driver reloaded, names swapped: the MAC address",
     HERE,
     HERE,
     {{"netdev", "p0", 2, "pci=0000:21:00.0 mac=02:00"}, {"netdev", "p1", 3, "pci=0000:21:00.0 mac=02:01"}},
     {{"netdev", "p1", 12, "pci=0000:21:00.0 mac=02:00"}, {"netdev", "p0", 13, "pci=0000:21:00.0 mac=02:01"}},
     {0, 1}},
    {"two ports at one address, driver reloaded, no MAC address: the name",
     HERE,
     HERE,
     {{"netdev", "p0", 2, "pci=0000:21:00.0"}, {"netdev", "p1", 3, "pci=0000:21:00.0"}},
     {{"netdev", "p1", 12, "pci=0000:21:00.0"}, {"netdev", "p0", 13, "pci=0000:21:00.0"}},
     {1, 0}},
    {"two ports at one address under new names: nobody knows",
     HERE,
     HERE,
     {{"netdev", "p0", 2, "pci=0000:21:00.0"}, {"netdev", "p1", 3, "pci=0000:21:00.0"}},
     {{"netdev", "q0", 12, "pci=0000:21:00.0"}, {"netdev", "q1", 13, "pci=0000:21:00.0"}},
     {NOT, NOT}},
    {"functions with port names",
     HERE,
     HERE,
     {{"netdev", "r0", 0, "pci=0000:21:00.0 port_name=pf0vf0"},
      {"netdev", "r1", 0, "pci=0000:21:00.0 port_name=pf0vf1"}},
     {{"netdev", "r1", 0, "pci=0000:21:00.0 port_name=pf0vf0"},
      {"netdev", "r0", 0, "pci=0000:21:00.0 port_name=pf0vf1"}},
     {0, 1}},
    {"no marks: the names, as in text",
     NULL,
     NULL,
     {{"cxi", "cxi0", 0, NULL}, {"cxi", "cxi1", 0, NULL}},
     {{"cxi", "cxi1", 0, NULL}, {"cxi", "cxi2", 0, NULL}},
     {1, NOT}},
    {"the address is known of one end only: the name",
     NULL,
     NULL,
     {{"cxi", "cxi0", 7, "pci=0000:21:00.0"}},
     {{"cxi", "cxi0", 8, NULL}},
     {0}},
    {"processes that began in the same tick",
     HERE,
     HERE,
     {{"process", "100", 77, NULL}},
     {{"process", "200", 77, NULL}},
     {NOT}},
    {"the same address in two sources",
     HERE,
     HERE,
     {{"cxi", "cxi0", 7, "pci=0000:21:00.0"}},
     {{"netdev", "hsn0", 7, "pci=0000:21:00.0"}},
     {NOT}},
};

static void devices_are_what_they_are(void **state)
{
    (void)state;
    for (size_t n = 0; n < COUNT(matchings); n++) {
        const struct matching *m = &matchings[n];
        const netprof_schema *before = schema_of_devices(m->before, m->node_before);
        const netprof_schema *after = schema_of_devices(m->after, m->node_after);
        size_t twins[MOST];
        netprof__match_devices(before, after, twins);
        for (size_t i = 0; i < after->device_count; i++)
            if (twins[i] != (m->twins[i] == NOT ? NETPROF_NONE : (size_t)m->twins[i]))
                fail_msg("%s: %s was %s", m->what, m->after[i].name,
                         twins[i] == NETPROF_NONE ? "nothing" : m->before[twins[i]].name);
        netprof__match_devices(after, after, twins);
        for (size_t i = 0; i < after->device_count; i++)
            assert_int_equal(twins[i], i);
        netprof_schema_release(before);
        netprof_schema_release(after);
    }
}

// Lifetime totals that differ a lot, and little traffic: the differences are small, each under the new name.
static void swapped_names_have_right_differences(void **state)
{
    (void)state;
    static const struct device cards[2][MOST] = {
        {{"cxi", "cxi0", 7, "pci=0000:21:00.0"}, {"cxi", "cxi1", 8, "pci=0000:41:00.0"}},
        {{"cxi", "cxi0", 8, "pci=0000:41:00.0"}, {"cxi", "cxi1", 7, "pci=0000:21:00.0"}}};
    static const struct device links[2][MOST] = {{{"netdev", "a", 5, NULL}, {"netdev", "b", 6, NULL}},
                                                 {{"netdev", "a", 6, NULL}, {"netdev", "b", 5, NULL}}};
    for (size_t n = 0; n < 2; n++) {
        netprof_snapshot a = snapshot_of(schema_of_devices(n ? links[0] : cards[0], HERE));
        netprof_snapshot b = snapshot_of(schema_of_devices(n ? links[1] : cards[1], HERE));
        netprof_delta d = NETPROF_ZERO;
        a.values[0] = 29000000000000u, a.values[1] = 5;
        b.values[1] = 29000000000007u, b.values[0] = 16;
        assert_int_equal(netprof_diff(&a, &b, NULL, &d, NULL), NETPROF_OK);
        assert_int_equal(d.schema->device_count, 2);
        assert_string_equal(d.schema->devices[0].name, n ? "a" : "cxi0");
        assert_int_equal(d.flags[0], NETPROF_FLAG_OK);
        assert_int_equal(d.values[0], 16 - 5);
        assert_int_equal(d.before[0], 5);
        assert_int_equal(d.flags[1], NETPROF_FLAG_OK);
        assert_int_equal(d.values[1], 7);
        assert_true(d.device_before[0] == 1 && d.device_after[0] == 0);
        assert_true(d.device_before[1] == 0 && d.device_after[1] == 1);
        netprof_delta_free(&d);
        netprof_snapshot_free(&a);
        netprof_snapshot_free(&b);
    }
}

// The name occurs twice: as the new device and as the one that is gone. Neither has a difference.
static void another_device_has_no_difference(void **state)
{
    (void)state;
    static const char *const names[] = {"another card under", "a bridge has the name", "a veth has the name"};
    for (size_t n = 0; n < COUNT(matchings); n++) {
        const struct matching *m = &matchings[n];
        int wanted = 0;
        for (size_t k = 0; k < COUNT(names); k++)
            wanted |= strncmp(m->what, names[k], strlen(names[k])) == 0;
        if (!wanted) continue;
        netprof_snapshot a = snapshot_of(schema_of_devices(m->before, m->node_before));
        netprof_snapshot b = snapshot_of(schema_of_devices(m->after, m->node_after));
        netprof_delta d = NETPROF_ZERO;
        a.values[0] = 100, b.values[0] = 29000000000000u;
        assert_int_equal(netprof_diff(&a, &b, NULL, &d, NULL), NETPROF_OK);
        assert_int_equal(d.schema->device_count, 2);
        assert_string_equal(d.schema->devices[0].name, d.schema->devices[1].name);
        assert_int_equal(d.flags[0], NETPROF_FLAG_NEW);
        assert_int_equal(d.values[0], 0);
        assert_int_equal(d.after[0], 29000000000000u);
        assert_int_equal(d.flags[1], NETPROF_FLAG_GONE);
        assert_int_equal(d.values[1], 0);
        assert_int_equal(d.before[1], 100);
        assert_true(d.device_before[0] == NETPROF_NONE && d.device_after[0] == 0);
        assert_true(d.device_before[1] == 0 && d.device_after[1] == NETPROF_NONE);
        netprof_delta_free(&d);
        netprof_snapshot_free(&a);
        netprof_snapshot_free(&b);
    }
}

// A renamed device that was also made anew counts from 0; one that was only renamed does not.
static void renamed_and_made_anew(void **state)
{
    (void)state;
    static const struct device before[MOST] = {{"cxi", "cxi0", 7, "pci=0000:21:00.0"},
                                               {"cxi", "cxi1", 8, "pci=0000:41:00.0"}};
    static const struct device after[MOST] = {{"cxi", "cxi1", 17, "pci=0000:21:00.0"},
                                              {"cxi", "cxi2", 8, "pci=0000:41:00.0"}};
    netprof_snapshot a = snapshot_of(schema_of_devices(before, HERE)), b = snapshot_of(schema_of_devices(after, HERE));
    netprof_delta d = NETPROF_ZERO;
    a.values[0] = 100, b.values[0] = 300;
    a.values[1] = 200, b.values[1] = 205;
    assert_int_equal(netprof_diff(&a, &b, NULL, &d, NULL), NETPROF_OK);
    assert_int_equal(d.schema->device_count, 2);
    assert_int_equal(d.flags[0], NETPROF_FLAG_RESET);
    assert_int_equal(d.values[0], 300);
    assert_int_equal(d.flags[1], NETPROF_FLAG_OK);
    assert_int_equal(d.values[1], 5);
    netprof_delta_free(&d);
    netprof_snapshot_free(&a);
    netprof_snapshot_free(&b);
}

// Names are in the order of the numbers in them, wherever these are; equal numbers by their text.
static void names_are_in_natural_order(void **state)
{
    static const char *const names[] = {"",        "7",     "a",      "a1b2c3", "a1b2c20", "a1b10",
                                        "a2",      "a10b1", "a10b02", "a10b2",  "b",       "cxi",
                                        "cxi0",    "cxi2",  "cxi07",  "cxi7",   "cxi7.1",  "cxi7.9",
                                        "cxi7.10", "cxi10", "eth0",   "eth1_9", "eth1_10", "eth12_1"};
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++)
        for (size_t k = 0; k < COUNT(names); k++) {
            int order = netprof__natural(names[i], names[k]);
            if ((order > 0) - (order < 0) != (i > k) - (i < k)) fail_msg("%s and %s: %d", names[i], names[k], order);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_are_what_they_are),        cmocka_unit_test(swapped_names_have_right_differences),
        cmocka_unit_test(another_device_has_no_difference), cmocka_unit_test(renamed_and_made_anew),
        cmocka_unit_test(names_are_in_natural_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
