// A job's report as JSON, whole: document.json beside this file holds it of four nodes of a minute and a half. From 40 to 75 s
// n3 was held back while its GPU clocked down; n4 has no samples from 20 to 30 s and one adapter that repeats.
#define _GNU_SOURCE
#include "netprof.h"

#include "builtin_rules.h"
#include "job_claims.h"
#include "job_cluster.h"
#include "golden.h"

#include "analysis/job/job_report.h"

enum { NODES = 4, SECONDS = 90 };

static void record(int node)
{
    char name[8], file[32];
    snprintf(name, sizeof name, "n%d", node + 1);
    snprintf(file, sizeof file, "%s.netprof", name);
    const char *const facts[] = {"scheduler",        "slurm", "job_id", "77", "job_name", "train",
                                 "job_cpus_on_node", "4",     NULL};
    node_file f = node_open(tree_path(tree, file),
                            &(node_shape){.name = name,
                                          .parts = NODE_PROCESS | NODE_CPU | NODE_MEMORY | NODE_ENERGY | NODE_CGROUP,
                                          .nics = 2,
                                          .gpus = 1,
                                          .gpu_clock = true,
                                          .group = "/slurm/uid_0/job_77",
                                          .interval_s = 1,
                                          .facts = facts});
    node_set(&f, "memory", "MemTotal", 64e9);
    node_set(&f, "memory", "MemAvailable", 48e9 - 1e9 * node);
    node_set(&f, "/slurm/uid_0/job_77", "memory_limit", 32e9);
    node_set(&f, "/slurm/uid_0/job_77", "memory_file_inactive", 1e9);
    node_set(&f, "gpu0", "memory_used", 10e9 + 1e9 * node);
    for (int t = 0; t <= SECONDS; t++) {
        bool then = t >= 40 && t < 75;
        node_set(&f, "job", "resident", 8e9);
        node_set(&f, "/slurm/uid_0/job_77", "memory_current", 5e9 + (node == 1 ? 0.2e9 * t : 0));
        node_set(&f, "/slurm/uid_0/job_77", "memory_peak", 30e9);
        node_set(&f, "gpu0", "busy", then ? 30 : 90);
        node_set(&f, "gpu0", "clock", then && node == 2 ? 900 : 1500);
        if (node != 3 || t <= 20 || t >= 30) node_take(&f, t);
        node_add(&f, "job", "cpu_user", 1.5e6);
        node_add(&f, "/slurm/uid_0/job_77", "cpu_usage", 1.6e6 + 0.1e6 * node);
        node_add(&f, "cpu", "user", 1.8e6 + 0.1e6 * node);
        node_add(&f, "cpu", "idle", 2.2e6 - 0.1e6 * node);
        for (int nic = 0; nic < 2; nic++) {
            const char *device = nic ? "cxi1" : "cxi0";
            node_add(&f, device, "hni_sts_tx_ok_octets", then ? 1e9 : 4e9);
            node_add(&f, device, "hni_sts_rx_ok_octets", then ? 1e9 : 4e9);
        }
        node_add(&f, "cxi0", "hni_tx_paused_0", then && node == 2 ? 0.8e9 : 0);
        node_add(&f, "cxi1", "pct_retry_srb_requests", node == 3 ? 50 : 0);
        node_add(&f, "gpu0", "energy", then ? 200e6 : 400e6);
        node_add(&f, "package-0", "energy", 100e6);
        node_add(&f, "package-0/dram", "energy", 10e6 + 1e6 * node);
    }
    node_close(&f);
}

static void document_whole(void **state)
{
    (void)state;
    tree_write(tree, "job.phases", "%lld start\n%lld steps\n%lld write\n", 1700000000LL, 1700000005LL, 1700000080LL);
    for (int node = 0; node < NODES; node++)
        record(node);
    job_report job = report_of_tree(&built_in);
    json_object *o = job_report_json(&job);
    golden_expect(o, "job/document.json");
    job_report_free(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(document_whole, setup, teardown)};
    return cmocka_run_group_tests(tests, load, unload);
}
