// Settings in which the nodes of a job differ: each figure of what is found, of ports and of nodes as a whole.
#define _GNU_SOURCE
#include "netprof.h"

#include "builtin_rules.h"
#include "job_scene.h"

// Kernel, and MTU of each of two ports; NULL: not told.
typedef struct node_told {
    const char *kernel, *mtu[2];
} node_told;

static const netprof_schema *schema_of(const node_told *x)
{
    const netprof_schema *schema = NULL;
    netprof_list *list = netprof_build_begin(NULL);
    if (x->kernel) netprof_build_fact(list, "kernel", x->kernel);
    netprof_build_source(list, "cxi");
    for (int k = 0; k < 2; k++) {
        netprof_list_device(list, k ? "cxi1" : "cxi0", 0, NETPROF_DEVICE_PHYSICAL);
        if (x->mtu[k]) netprof_list_fact(list, "hpc_mtu", x->mtu[k]);
        netprof_list_counter(list, &(netprof_counter){.name = "hni_sts_tx_ok_octets", .unit = "bytes", .width = 56});
    }
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    return schema;
}

static void settings_of_a_job(void **state)
{
    static const struct {
        const char *what;
        size_t nodes;
        node_told told[4];
        const char *lines[3];
    } rows[] = {
        {"alike", 3, {{"6.1", {"9", "9"}}, {"6.1", {"9", "9"}}, {"6.1", {"9", "9"}}}, {NULL}},
        {"a kernel",
         3,
         {{"6.1", {"9", "9"}}, {"6.2", {"9", "9"}}, {"6.1", {"9", "9"}}},
         {"info node-settings n2 nodes=1 value=1 beyond=1 at=0.0-137.4: n2 alone has kernel 6.2; the 2 other nodes "
          "6.1"}},
        {"kernels",
         4,
         {{"6.1", {"9", "9"}}, {"6.2", {"9", "9"}}, {"6.1", {"9", "9"}}, {"6.2", {"9", "9"}}},
         {"info node-settings nodes=4 value=2 beyond=1 at=0.0-137.4: the 4 nodes divide in kernel: 2 have 6.1, the "
          "others 6.2"}},
        {"a port",
         4,
         {{"6.1", {"9", "9"}}, {"6.1", {"9", "9"}}, {"6.1", {"9", "2"}}, {"6.1", {"9", "9"}}},
         {"watch node-settings n3 cxi1 nodes=1 value=1 beyond=1 at=0.0-137.4: n3 cxi1 alone has MTU 2; the 3 other "
          "nodes 9"}},
        {"ports of all",
         4,
         {{"6.1", {"9", "9"}}, {"6.1", {"2", "9"}}, {"6.1", {"2", "9"}}, {"6.1", {"9", "9"}}},
         {"watch node-settings nodes=4 value=2 beyond=1 at=0.0-137.4: cxi0: the 4 nodes divide in MTU: 2 have 9, the "
          "others 2"}},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        scene s;
        scene_make(&s, rows[i].nodes, 2, "cxi", true);
        s.options.rules = &built_in;
        for (size_t n = 0; n < rows[i].nodes; n++) {
            const netprof_schema *schema = schema_of(&rows[i].told[n]);
            node_settings_add(&s.reader.settings, s.names[n], schema);
            netprof_schema_release(schema);
        }
        job_find_settings(&s.r);
        scene_expect(&s, rows[i].what, rows[i].lines);
        for (size_t k = 0; k < s.r.finding_count; k++) {
            const job_finding *x = &s.r.findings[k];
            assert_int_equal(x->class_rank, rules_find(&built_in, "node-settings")->class_rank);
            assert_string_equal(x->advice, rules_find(&built_in, "node-settings")->advice);
            assert_string_equal(x->unit, "nodes");
            if (x->node != JOB_NONE) assert_int_equal(s.nodes[x->node].severity, x->severity);
        }
        node_settings_free(&s.reader.settings);
        scene_end(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(settings_of_a_job)};
    return cmocka_run_group_tests_name("job_settings", tests, load, unload);
}
