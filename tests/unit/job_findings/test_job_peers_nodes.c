// Devices and nodes of several nodes that alone, together or everywhere do less or more than their peers: every figure of
// every finding, of reports made by hand.
#define _GNU_SOURCE
#include "netprof.h"

#include "job_scene.h"

#include "analysis/job/findings/job_finding.h"

// So much of what the others do, of one device of one node, in these windows; from..to 0: all the time.
typedef struct unlike {
    size_t node, device;
    double share;
    int from, to;
} unlike;

typedef struct nics_case {
    const char *what;
    size_t nodes, nics;
    bool is_job;
    unlike those[8]; // share 1, the last of all: no more
    const char *lines[4];
} nics_case;

// NICs move 2 GB/s and receive half as much.
static void move(scene *s, const nics_case *c)
{
    for (size_t n = 0; n < c->nodes; n++)
        for (size_t k = 0; k < c->nics; k++) {
            const unlike *u = c->those;
            while ((u->share < 1 || u->share > 1) && (u->node != n || u->device != k))
                u++;
            int to = u->to ? u->to : SCENE_LENGTH;
            job_device *d = &s->devices[n * c->nics + k];
            d->lanes[JOB_SENT] = scene_steps(s, JOB_SENT, 2e9, 2e9 * u->share, u->from, to);
            d->lanes[JOB_RECEIVED] = scene_steps(s, JOB_RECEIVED, 1e9, 1e9 * u->share, u->from, to);
        }
    scene_sum_nodes(s, JOB_SENT, 25e9 * (double)c->nics);
    scene_sum_nodes(s, JOB_RECEIVED, 25e9 * (double)c->nics);
}

static const nics_case nics_cases[] = {
    {"all alike", 5, 2, true, {{0, 0, 1, 0, 0}}, {NULL}},
    {"one of many nodes",
     5,
     2,
     true,
     {{3, 1, 0.5, 0, 0}, {0, 0, 1, 0, 0}},
     {"watch nic-peers n4 cxi1 nodes=1 devices=1 network_sent=0.5 beyond=0.667 at=0.0-137.4: n4 NIC 2 (cxi1) alone "
      "moved 1.50 GB/s; the same NIC of the 4 other nodes 3.00 GB/s each / n4\u2019s NIC 2 (cxi1) alone moved 1.50 "
      "GB/s; the same NIC of the 4 other nodes 3.00 GB/s each"}},
    {"more than the same ones",
     5,
     2,
     true,
     {{3, 0, 2.5, 32, 0}, {0, 0, 1, 0, 0}},
     {"watch nic-peers n4 cxi0 nodes=1 devices=1 network_sent=2.5 beyond=1.5 at=68.7-137.4: n4 NIC 1 (cxi0) alone "
      "moved 7.50 GB/s from 1:09 on; the same NIC of the 4 other nodes 3.00 GB/s each / n4\u2019s NIC 1 (cxi0) alone "
      "moved 7.50 GB/s from 1:09 on; the same NIC of the 4 other nodes 3.00 GB/s each",
      "info node-peers n4 nodes=1 devices=1 network_sent=1.75 beyond=1.5 at=68.7-137.4: n4 alone moved 10.5 GB/s from "
      "1:09 on; the 4 other nodes 6.00 GB/s each"}},
    {"less for a while",
     5,
     2,
     true,
     {{1, 1, 0.25, 16, 40}, {0, 0, 1, 0, 0}},
     {"watch nic-peers n2 cxi1 nodes=1 devices=1 network_sent=0.25 beyond=0.667 at=34.4-85.9: n2 NIC 2 (cxi1) alone "
      "moved 750 MB/s from 0:34 to 1:26; the same NIC of the 4 other nodes 3.00 GB/s each; 1 of 5 nodes sent less, all "
      "together 7.50 % meanwhile / n2\u2019s NIC 2 (cxi1) alone moved 750 MB/s from 0:34 to 1:26; the same NIC of the "
      "4 other nodes 3.00 GB/s each",
      "info node-peers n2 nodes=1 devices=1 network_sent=0.625 beyond=0.667 at=34.4-85.9: n2 alone moved 3.75 GB/s "
      "from 0:34 to 1:26; the 4 other nodes 6.00 GB/s each"}},
    {"nothing at first",
     4,
     3,
     true,
     {{0, 2, 0, 0, 24}, {0, 0, 1, 0, 0}},
     {"watch nic-peers n1 cxi2 nodes=1 devices=1 network_sent=0 beyond=0.667 at=0.0-51.5: n1 NIC 3 (cxi2) alone moved "
      "nothing until 0:52; the same NIC of the 3 other nodes 3.00 GB/s each; 1 of 4 nodes sent less, all together 8.33 "
      "% meanwhile / n1\u2019s NIC 3 (cxi2) alone moved nothing until 0:52; the same NIC of the 3 other nodes 3.00 "
      "GB/s each"}},
    {"the others wait for it",
     4,
     1,
     true,
     {{0, 0, 0.3, 20, 40}, {1, 0, 0.8, 20, 40}, {2, 0, 0.8, 20, 40}, {3, 0, 0.8, 20, 40}, {0, 0, 1, 0, 0}},
     {"warn nic-peers n1 cxi0 nodes=1 devices=1 network_sent=0.375 beyond=0.667 at=42.9-85.9 cost=14 lost=14 "
      "sent=0.675: n1 NIC 1 (cxi0) alone moved 900 MB/s from 0:43 to 1:26; the same NIC of the 3 other nodes 2.40 GB/s "
      "each; all 4 nodes sent 32.5 % less meanwhile / n1\u2019s NIC 1 (cxi0) alone moved 900 MB/s from 0:43 to 1:26; "
      "the same NIC of the 3 other nodes 2.40 GB/s each",
      "info node-peers n1 nodes=1 devices=1 network_sent=0.375 beyond=0.667 at=42.9-85.9: n1 alone moved 900 MB/s from "
      "0:43 to 1:26; the 3 other nodes 2.40 GB/s each"}},
    {"most do not wait for it",
     5,
     1,
     true,
     {{0, 0, 0.3, 20, 40}, {1, 0, 0.7, 20, 40}, {0, 0, 1, 0, 0}},
     {"watch nic-peers n1 cxi0 nodes=1 devices=1 network_sent=0.3 beyond=0.667 at=42.9-85.9: n1 NIC 1 (cxi0) alone "
      "moved 900 MB/s from 0:43 to 1:26; the same NIC of the 4 other nodes 2.10 GB/s to 3.00 GB/s; 2 of 5 nodes sent "
      "less, all together 20.0 % meanwhile / n1\u2019s NIC 1 (cxi0) alone moved 900 MB/s from 0:43 to 1:26; the same "
      "NIC of the 4 other nodes 2.10 GB/s to 3.00 GB/s",
      "info node-peers n1 nodes=1 devices=1 network_sent=0.3 beyond=0.667 at=42.9-85.9: n1 alone moved 900 MB/s from "
      "0:43 to 1:26; the 4 other nodes 2.10 GB/s to 3.00 GB/s"}},
    {"of three nodes",
     3,
     2,
     true,
     {{2, 0, 0.4, 0, 0}, {0, 0, 1, 0, 0}},
     {"watch nic-peers n3 cxi0 nodes=1 devices=1 network_sent=0.4 beyond=0.667 at=0.0-137.4: n3 NIC 1 (cxi0) alone "
      "moved 1.20 GB/s; the 5 other NICs 3.00 GB/s each / n3\u2019s NIC 1 (cxi0) alone moved 1.20 GB/s; the 5 other "
      "NICs 3.00 GB/s each"}},
    {"a node",
     5,
     2,
     true,
     {{4, 0, 0.3, 0, 0}, {4, 1, 0.3, 0, 0}, {0, 0, 1, 0, 0}},
     {"watch node-peers n5 nodes=1 devices=1 network_sent=0.3 beyond=0.667 at=0.0-137.4: n5 alone moved 1.80 GB/s; the "
      "4 other nodes 6.00 GB/s each"}},
    {"a node of one NIC",
     5,
     1,
     true,
     {{2, 0, 0.3, 20, 0}, {0, 0, 1, 0, 0}},
     {"watch nic-peers n3 cxi0 nodes=1 devices=1 network_sent=0.3 beyond=0.667 at=42.9-137.4: n3 NIC 1 (cxi0) alone "
      "moved 900 MB/s from 0:43 on; the same NIC of the 4 other nodes 3.00 GB/s each; 1 of 5 nodes sent less, all "
      "together 14.0 % meanwhile / n3\u2019s NIC 1 (cxi0) alone moved 900 MB/s from 0:43 on; the same NIC of the 4 "
      "other nodes 3.00 GB/s each",
      "info node-peers n3 nodes=1 devices=1 network_sent=0.3 beyond=0.667 at=42.9-137.4: n3 alone moved 900 MB/s from "
      "0:43 on; the 4 other nodes 3.00 GB/s each"}},
    {"some of a node",
     5,
     3,
     true,
     {{1, 0, 0.3, 0, 0}, {1, 2, 0.3, 0, 0}, {0, 0, 1, 0, 0}},
     {"info nic-peers n2 nodes=1 devices=2 network_sent=0.3 beyond=0.667 at=0.0-137.4: 2 of 15 NICs, all on n2, moved "
      "900 MB/s, the others about 3.00 GB/s: none stands alone",
      "watch node-peers n2 nodes=1 devices=1 network_sent=0.533 beyond=0.667 at=0.0-137.4: n2 alone moved 4.80 GB/s; "
      "the 4 other nodes 9.00 GB/s each"}},
    {"two nodes",
     6,
     2,
     true,
     {{1, 0, 0.3, 0, 0}, {4, 1, 0.3, 0, 0}, {0, 0, 1, 0, 0}},
     {"watch nic-peers nodes=2 devices=2 network_sent=0.3 beyond=0.667 at=0.0-137.4: 2 of 12 NICs on 2 of 6 nodes "
      "moved 900 MB/s, the others about 3.00 GB/s: none stands alone"}},
    {"of three nodes, the same of each",
     3,
     3,
     true,
     {{0, 1, 0.3, 0, 0}, {1, 1, 0.3, 0, 0}, {2, 1, 0.3, 0, 0}, {0, 0, 1, 0, 0}},
     {NULL}},
    {"half of them",
     2,
     2,
     true,
     {{0, 1, 0.3, 0, 0}, {1, 0, 0.3, 0, 0}, {0, 0, 1, 0, 0}},
     {"info nic-peers nodes=2 devices=2 network_sent=0.3 beyond=0.667 at=0.0-137.4: 2 of 4 NICs on 2 of 2 nodes moved "
      "900 MB/s, the others about 3.00 GB/s: none stands alone"}},
    {"two of one node",
     1,
     2,
     true,
     {{0, 1, 0.3, 0, 0}, {0, 0, 1, 0, 0}},
     {"info nic-peers nodes=1 devices=2 network_sent=0.3 beyond=0.667 at=0.0-137.4: the two NICs of n1 differ, 900 "
      "MB/s and 3.00 GB/s: which is the odd one cannot be known from them alone"}},
    {"without a job",
     5,
     3,
     false,
     {{3, 1, 0.5, 0, 0}, {0, 0, 1, 0, 0}},
     {"watch nic-peers n4 cxi1 nodes=1 devices=1 network_sent=0.5 beyond=0.667 at=0.0-137.4: n4 NIC 2 (cxi1) alone "
      "moved 1.50 GB/s; the same NIC of the 4 other nodes 3.00 GB/s each / n4\u2019s NIC 2 (cxi1) alone moved 1.50 "
      "GB/s; the same NIC of the 4 other nodes 3.00 GB/s each"}},
    {"without a job, the node of several",
     5,
     3,
     false,
     {{3, 0, 0.3, 0, 0}, {3, 1, 0.3, 0, 0}, {0, 0, 1, 0, 0}},
     {"watch nic-peers n4 cxi2 nodes=1 devices=1 network_sent=3.33 beyond=1.5 at=0.0-137.4: n4 NIC 3 (cxi2) alone "
      "moved 3.00 GB/s; the 2 other NICs 900 MB/s each / n4\u2019s NIC 3 (cxi2) alone moved 3.00 GB/s; the 2 other "
      "NICs 900 MB/s each",
      "watch nic-peers n4 nodes=1 devices=2 network_sent=0.3 beyond=0.667 at=0.0-137.4: 2 of 3 NICs of n4 moved about "
      "900 MB/s: NIC 1 (cxi0), NIC 2 (cxi1); the same ones of the 4 other nodes about 3.00 GB/s",
      "info node-peers n4 nodes=1 devices=1 network_sent=0.533 beyond=0.667 at=0.0-137.4: n4 alone moved 4.80 GB/s; "
      "the 4 other nodes 9.00 GB/s each"}},
    {"without a job, both ways",
     5,
     3,
     false,
     {{3, 0, 0.3, 0, 0}, {3, 1, 3, 0, 0}, {0, 0, 1, 0, 0}},
     {"watch nic-peers n4 cxi0 nodes=1 devices=1 network_sent=0.3 beyond=0.667 at=0.0-137.4: n4 NIC 1 (cxi0) alone "
      "moved 900 MB/s; the same NIC of the 4 other nodes 3.00 GB/s each / n4\u2019s NIC 1 (cxi0) alone moved 900 MB/s; "
      "the same NIC of the 4 other nodes 3.00 GB/s each"}},
    {"without a job, meant so",
     4,
     3,
     false,
     {{0, 2, 0.3, 0, 0}, {1, 2, 0.3, 0, 0}, {2, 2, 0.3, 0, 0}, {3, 2, 0.3, 0, 0}, {0, 0, 1, 0, 0}},
     {"info nic-peers nodes=4 devices=4 network_sent=0.3 beyond=0.667 at=0.0-137.4: NIC 3 (cxi2) of 4 nodes moved less "
      "than its node's other NICs: it may be meant so"}},
    {"without a job, an idle node", 5, 2, false, {{2, 0, 0.0001, 0, 0}, {2, 1, 0.0001, 0, 0}, {0, 0, 1, 0, 0}}, {NULL}},
};

static void nics_of_nodes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(nics_cases); i++) {
        const nics_case *c = &nics_cases[i];
        scene s;
        scene_make(&s, c->nodes, c->nics, "cxi", c->is_job);
        move(&s, c);
        job_find_device_peers(&s.r);
        job_find_node_peers(&s.r);
        scene_expect(&s, c->what, c->lines);
        scene_end(&s);
    }
}

// GPUs at work nine tenths of the time, at 1.5 GHz and 300 W. One of them is otherwise in these windows.
typedef struct gpus_case {
    const char *what;
    size_t nodes, gpus, node, device;
    double busy, clock, power;
    int from, to;
    double idle_node;      // so much of the time the last node's GPUs are busy
    const char *told_rule; // what is told of it, of the windows told_from..told_to
    job_meter told_meter;
    int told_from, told_to;
    const char *lines[4];
} gpus_case;

static const gpus_case gpus_cases[] = {
    {"less work",
     3,
     2,
     1,
     1,
     0.3,
     1.5e9,
     300,
     0,
     64,
     0.9,
     NULL,
     JOB_METERS,
     0,
     0,
     {"watch gpu-peers n2 gpu1 nodes=1 devices=1 gpu_busy=0.333 beyond=0.667 at=0.0-137.4: n2 GPU 2 (gpu1) alone was "
      "busy 30.0 %; the 5 other GPUs 90.0 % each / n2\u2019s GPU 2 (gpu1) alone was busy 30.0 %; the 5 other GPUs 90.0 "
      "% each"}},
    {"slower",
     3,
     2,
     2,
     0,
     0.9,
     0.9e9,
     300,
     16,
     64,
     0.9,
     NULL,
     JOB_METERS,
     0,
     0,
     {"watch gpu-peers n3 gpu0 nodes=1 devices=1 gpu_clock=0.6 beyond=0.667 at=34.4-137.4: n3 GPU 1 (gpu0) alone ran "
      "at 900 MHz from 0:34 on; the 5 other GPUs 1.50 GHz each / n3\u2019s GPU 1 (gpu0) alone ran at 900 MHz from 0:34 "
      "on; the 5 other GPUs 1.50 GHz each"}},
    {"faster",
     3,
     2,
     2,
     0,
     0.9,
     2.4e9,
     300,
     0,
     64,
     0.9,
     NULL,
     JOB_METERS,
     0,
     0,
     {"info gpu-peers n3 gpu0 nodes=1 devices=1 gpu_clock=1.6 beyond=1.5 at=0.0-137.4: n3 GPU 1 (gpu0) alone ran at "
      "2.40 GHz; the 5 other GPUs 1.50 GHz each / n3\u2019s GPU 1 (gpu0) alone ran at 2.40 GHz; the 5 other GPUs 1.50 "
      "GHz each"}},
    {"less power",
     3,
     2,
     0,
     0,
     0.9,
     1.5e9,
     120,
     20,
     44,
     0.9,
     NULL,
     JOB_METERS,
     0,
     0,
     {"info gpu-peers n1 gpu0 nodes=1 devices=1 power_gpu=0.4 beyond=0.667 at=42.9-94.5: n1 GPU 1 (gpu0) alone drew "
      "120 W from 0:43 to 1:34; the 5 other GPUs 300 W each / n1\u2019s GPU 1 (gpu0) alone drew 120 W from 0:43 to "
      "1:34; the 5 other GPUs 300 W each"}},
    {"slower and less power",
     3,
     2,
     0,
     1,
     0.9,
     0.9e9,
     120,
     0,
     64,
     0.9,
     NULL,
     JOB_METERS,
     0,
     0,
     {"watch gpu-peers n1 gpu1 nodes=1 devices=1 gpu_clock=0.6 beyond=0.667 at=0.0-137.4: n1 GPU 2 (gpu1) alone ran at "
      "900 MHz; the 5 other GPUs 1.50 GHz each / n1\u2019s GPU 2 (gpu1) alone ran at 900 MHz; the 5 other GPUs 1.50 "
      "GHz each"}},
    {"slower, for it was hot",
     3,
     2,
     0,
     1,
     0.9,
     0.9e9,
     300,
     20,
     40,
     0.9,
     "gpu-throttled",
     JOB_GPU_THROTTLED,
     20,
     30,
     {"warn gpu-throttled n1 gpu1 nodes=1 at=42.9-64.4: it was so",
      "info gpu-peers n1 gpu1 nodes=1 devices=1 gpu_clock=0.6 beyond=0.667 at=42.9-85.9 by=gpu-throttled: n1 GPU 2 "
      "(gpu1) alone ran at 900 MHz from 0:43 to 1:26; the 5 other GPUs 1.50 GHz each; that it was slowed explains it / "
      "n1\u2019s GPU 2 (gpu1) alone ran at 900 MHz from 0:43 to 1:26; the 5 other GPUs 1.50 GHz each"}},
    {"hot at another time",
     3,
     2,
     0,
     1,
     0.9,
     0.9e9,
     300,
     20,
     40,
     0.9,
     "gpu-throttled",
     JOB_GPU_THROTTLED,
     0,
     29,
     {"warn gpu-throttled n1 gpu1 nodes=1 at=0.0-62.3: it was so",
      "watch gpu-peers n1 gpu1 nodes=1 devices=1 gpu_clock=0.6 beyond=0.667 at=42.9-85.9 by=gpu-throttled: n1 GPU 2 "
      "(gpu1) alone ran at 900 MHz from 0:43 to 1:26; the 5 other GPUs 1.50 GHz each / n1\u2019s GPU 2 (gpu1) alone "
      "ran at 900 MHz from 0:43 to 1:26; the 5 other GPUs 1.50 GHz each"}},
    {"another fault of it",
     3,
     2,
     0,
     1,
     0.3,
     1.5e9,
     300,
     20,
     40,
     0.9,
     "gpu-ecc",
     JOB_METERS,
     0,
     64,
     {"warn gpu-ecc n1 gpu1 nodes=1 at=0.0-137.4: it was so",
      "watch gpu-peers n1 gpu1 nodes=1 devices=1 gpu_busy=0.333 beyond=0.667 at=42.9-85.9 by=gpu-ecc: n1 GPU 2 (gpu1) "
      "alone was busy 30.0 % from 0:43 to 1:26; the 5 other GPUs 90.0 % each / n1\u2019s GPU 2 (gpu1) alone was busy "
      "30.0 % from 0:43 to 1:26; the 5 other GPUs 90.0 % each"}},
    {"a node of idle ones", 4, 2, 3, 1, 0.2, 0.4e9, 60, 0, 64, 0.2, NULL, JOB_METERS, 0, 0, {NULL}},
};

static job_lane *gpu_steps(scene *s, const gpus_case *c, job_meter meter, bool odd, double usual, double then)
{
    return scene_steps(s, meter, usual, odd ? then : usual, c->from, c->to);
}

static void work(scene *s, const gpus_case *c)
{
    for (size_t n = 0; n < c->nodes; n++)
        for (size_t k = 0; k < c->gpus; k++) {
            bool odd = n == c->node && k == c->device;
            job_device *d = &s->devices[n * c->gpus + k];
            d->lanes[JOB_GPU_BUSY] = gpu_steps(s, c, JOB_GPU_BUSY, odd, n + 1 < c->nodes ? 0.9 : c->idle_node, c->busy);
            d->lanes[JOB_GPU_CLOCK] = gpu_steps(s, c, JOB_GPU_CLOCK, odd, 1.5e9, c->clock);
            d->lanes[JOB_POWER_GPU] = gpu_steps(s, c, JOB_POWER_GPU, odd, 300, c->power);
        }
    if (!c->told_rule) return;
    job_finding x = job_finding_blank;
    x.severity = SEVERITY_WARN;
    x.class_rank = rules_class_rank("back-pressure");
    x.rule = (char *)(uintptr_t)c->told_rule;
    x.node = c->node;
    x.device = c->node * c->gpus + c->device;
    x.meter = c->told_meter;
    x.nodes = 1;
    x.from_s = c->told_from * scene_window_s;
    x.to_s = c->told_to * scene_window_s;
    x.claim = memory_strdup("it was so");
    x.title = memory_strdup("it was so");
    job_add_finding(&s->r, x);
}

static void gpus_of_nodes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(gpus_cases); i++) {
        const gpus_case *c = &gpus_cases[i];
        scene s;
        scene_make(&s, c->nodes, c->gpus, "gpu", true);
        work(&s, c);
        job_find_device_peers(&s.r);
        scene_expect(&s, c->what, c->lines);
        scene_end(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nics_of_nodes),
        cmocka_unit_test(gpus_of_nodes),
    };
    return cmocka_run_group_tests_name("job_peers_nodes", tests, NULL, NULL);
}
