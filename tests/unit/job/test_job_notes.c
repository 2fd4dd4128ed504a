// The headline of a job, the lines of its verdict and the line about its clocks: whole, of a report as a model.
#define _GNU_SOURCE
#include "netprof.h"

#include "support.h"

#include "analysis/base/stb_ds.h"
#include "analysis/job/job_store.h"

#include <math.h>

enum { NODES = 3 };

// A job of 100 s on one node "n1", or more of them. Start with scene_of().
typedef struct scene {
    job_report r;
    job_reader reader;
    job_node nodes[NODES];
    job_node_reader readers[NODES];
} scene;

static void scene_of(scene *s, size_t nodes)
{
    static char *const names[NODES] = {"n1", "n2", "n3"};
    *s = (scene){.r = {.begin_ns = 1000000000,
                       .end_s = 100,
                       .interval_s = NAN,
                       .uncertainty_s = NAN,
                       .nodes = s->nodes,
                       .node_count = nodes,
                       .reader = &s->reader}};
    s->reader.nodes = s->readers;
    s->r.energy = (job_energy){.total_j = NAN, .node_w = NAN, .part_j = {NAN, NAN, NAN, NAN}};
    for (size_t i = 0; i < NODES; i++)
        s->nodes[i] = (job_node){.name = names[i], .end_s = 100};
}

static void scene_end(scene *s)
{
    for (size_t i = 0; i < s->r.note_count; i++)
        free(s->r.notes[i].text);
    arrfree(s->r.notes);
    free(s->r.title);
    free(s->r.clock_text);
    s->r.title = s->r.clock_text = NULL;
    s->r.note_count = 0;
}

// The title, then a line for each note: "SEVERITY: TEXT"; "#N" behind it where it is about finding N.
static void expect_notes(scene *s, const char *title, const char *expected)
{
    char text[4096] = "";
    job_make_notes(&s->r);
    for (size_t i = 0; i < s->r.note_count; i++) {
        const job_note *x = &s->r.notes[i];
        size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%s: %s", severity_name(x->severity), x->text);
        n = strlen(text);
        if (x->finding == JOB_NONE)
            snprintf(text + n, sizeof text - n, "\n");
        else
            snprintf(text + n, sizeof text - n, " #%zu\n", x->finding);
    }
    if (title) assert_string_equal(s->r.title, title);
    if (expected) assert_string_equal(text, expected);
    scene_end(s);
}

static job_lane lane_of(job_meter meter, double total)
{
    return (job_lane){.meter = meter, .device = JOB_NONE, .mean = NAN, .total = total};
}

// ---- the headline ----

static void nothing_to_say(void **state)
{
    scene s;
    (void)state;
    scene_of(&s, 1);
    expect_notes(&s, "No fault found", "ok: Nothing to say: no rule found what it looks for\n");
}

static void how_much_was_used(void **state)
{
    static const struct {
        size_t nodes;
        double gpu, thread, cpu, capacity, sent; // below 0: not known
        const char *title;
    } rows[] = {
        {1, .625, -1, -1, -1, -1, "No fault found: GPUs 62.5 % busy"},
        {1, -1, .875, -1, -1, -1, "No fault found: one thread at 87.5 % of its core"},
        {1, -1, -1, 2.5, 4, -1, "No fault found: CPUs 62.5 % busy"},
        {1, -1, -1, 2.5, -1, -1, "No fault found: 2.50 CPUs busy"},
        {1, -1, -1, 2.5, 0, -1, "No fault found: 2.50 CPUs busy"},
        {1, -1, -1, -1, -1, 1.25e9, "No fault found: 1.25 GB/s sent"},
        {2, -1, -1, -1, -1, 1.25e9, "No fault found: 1.25 GB/s sent a node"},
        {2, .625, .875, 3.75, 10, 1.25e6,
         "No fault found: GPUs 62.5 % busy, one thread at 87.5 % of its core, CPUs 37.5 % busy, 1.25 MB/s sent a node"},
        {1, .625, -1, 2.5, -1, -1, "No fault found: GPUs 62.5 % busy, 2.50 CPUs busy"},
        {1, .625, .875, -1, -1, -1, "No fault found: GPUs 62.5 % busy, one thread at 87.5 % of its core"},
        {1, .625, -1, -1, -1, 1.25e3, "No fault found: GPUs 62.5 % busy, 1.25 kB/s sent"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        scene s;
        scene_of(&s, rows[i].nodes);
        job_use *next = s.r.uses;
        if (rows[i].sent >= 0) *next++ = (job_use){.meter = JOB_SENT, .mean = rows[i].sent, .capacity = NAN};
        if (rows[i].cpu >= 0)
            *next++ = (job_use){
                .meter = JOB_CPU, .mean = rows[i].cpu, .capacity = rows[i].capacity < 0 ? NAN : rows[i].capacity};
        if (rows[i].gpu >= 0) *next++ = (job_use){.meter = JOB_GPU_BUSY, .mean = rows[i].gpu, .capacity = 1};
        s.r.use_count = (size_t)(next - s.r.uses);
        s.r.bottlenecks[JOB_BOUND_THREAD] = (job_bottleneck){.mean = rows[i].thread, .bound = rows[i].thread >= 0};
        expect_notes(&s, rows[i].title, NULL);
    }
}

// Of a program alone on a host: where its bytes went is the headline, unless they are few, or its ports carried a thousandth.
static void traffic_that_stayed(void **state)
{
    static const struct {
        size_t nodes;
        const char *device;
        double moved, ports;
        const char *title;
    } rows[] = {
        {1, "lo", 2e9, 1e6, "No fault found; its traffic stayed on this host"},
        {1, "lo", 2e9, 2.1e6, "No fault found: 1.25 GB/s sent through ports"},
        {1, "lo", 2e9, NAN, "No fault found: 1.25 GB/s sent"}, // beside no ports,
        {1, "lo", 1e6, 0, "No fault found: 1.25 GB/s sent through ports"},
        {1, "lo", 1000001, 0, "No fault found; its traffic stayed on this host"},
        {1, "veth0", 2e9, 0, "No fault found: 1.25 GB/s sent through ports"},
        {2, "lo", 2e9, 0, "No fault found: 1.25 GB/s sent through ports a node"},
        {1, "lo", 5e5, 6e5, "No fault found: 1.25 GB/s sent"}, // less than the ports: no word of it
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        scene s;
        job_lane virtual = lane_of(JOB_VIRTUAL_RECEIVED, rows[i].moved), ports = lane_of(JOB_RECEIVED, rows[i].ports);
        job_device d = {.name = (char *)(uintptr_t)rows[i].device};
        d.lanes[JOB_VIRTUAL_RECEIVED] = &virtual;
        scene_of(&s, rows[i].nodes);
        s.nodes[0].lanes[JOB_RECEIVED] = &ports;
        s.r.devices = &d;
        s.r.device_count = 1;
        s.r.uses[0] = (job_use){.meter = JOB_SENT, .mean = 1.25e9, .capacity = NAN};
        s.r.use_count = 1;
        expect_notes(&s, rows[i].title, NULL);
    }
}

// ---- findings ----

static job_finding finding_of(severity s, char *name, char *claim, char *title)
{
    return (job_finding){.severity = s,
                         .rule = name,
                         .claim = claim,
                         .title = title,
                         .advice = "Do this",
                         .node = JOB_NONE,
                         .device = JOB_NONE,
                         .meter = JOB_METERS,
                         .sent_ratio = NAN,
                         .cpu_ratio = NAN,
                         .gpu_ratio = NAN,
                         .power_ratio = NAN,
                         .cost_s = NAN,
                         .lost_s = NAN};
}

// The first four that are no context; what the headline says already is followed by what to do.
static void findings_are_told(void **state)
{
    job_finding all[] = {finding_of(SEVERITY_HIGH, "a", "it broke", "it broke"),
                         finding_of(SEVERITY_WARN, "b", "it is slow", "slow"),
                         finding_of(SEVERITY_WATCH, "c", "it is odd", "odd"),
                         finding_of(SEVERITY_UNKNOWN, "d", "it is not known", "unknown"),
                         finding_of(SEVERITY_UNKNOWN, "e", "nor is this", "unknown"),
                         finding_of(SEVERITY_UNKNOWN, "f", "nor is that", "unknown"),
                         finding_of(SEVERITY_INFO, "g", "by the way", "info")};
    static const char first_four[] = "high: it broke. Do this #0\nwarn: it is slow #1\nwatch: it is odd #2\n"
                                     "unknown: it is not known #3\n";
    char expected[400];
    scene s;
    (void)state;
    scene_of(&s, 1);
    s.r.findings = all;
    for (s.r.finding_count = 4; s.r.finding_count <= 7; s.r.finding_count++) {
        static const char *const more[] = {"", "info: 1 more finding\n", "info: 2 more findings\n",
                                           "info: 2 more findings\n"};
        snprintf(expected, sizeof expected, "%s%s", first_four, more[s.r.finding_count - 4]);
        expect_notes(&s, "it broke", expected);
    }
    all[0].advice = ""; // then there is nothing to add
    s.r.finding_count = 1;
    expect_notes(&s, "it broke", "high: it broke #0\n");
    s.r.findings = &all[3]; // what could not be judged is no good news
    expect_notes(&s, "unknown", "unknown: it is not known #0\n");
    s.r.findings = &all[6];
    expect_notes(&s, "No fault found", "ok: Nothing to say: no rule found what it looks for\n");
}

// A stretch in which work slowed is the headline where there is no fault.
static void slow_work_is_the_headline(void **state)
{
    job_finding all[] = {finding_of(SEVERITY_WATCH, "a", "it is odd", "odd"),
                         finding_of(SEVERITY_INFO, "b", "by the way", "info"),
                         finding_of(SEVERITY_INFO, "work-slowed", "1:00-2:00: work slowed", "Work slowed")};
    scene s;
    (void)state;
    scene_of(&s, 1);
    s.r.findings = &all[1];
    s.r.finding_count = 2;
    expect_notes(&s, "Work slowed", "info: 1:00-2:00: work slowed #1\n");
    s.r.findings = all;
    s.r.finding_count = 3;
    expect_notes(&s, "odd", "watch: it is odd #0\ninfo: 1:00-2:00: work slowed #2\n");
}

// Below an incident: what else fell meanwhile, by 5 % at least, and the work that was lost.
static void what_fell_during_an_incident(void **state)
{
    static const struct {
        double sent, cpu, gpu, lost_s;
        const char *note;
    } rows[] = {
        {.5, .25, .75, 12.5,
         "high: In that time GPUs were busy 25 % less: about 12.5 s of work was lost (12.5 %), if work follows the "
         "bytes #0\n"},
        {.5, .25, NAN, 12.5,
         "high: In that time CPUs were busy 75 % less: about 12.5 s of work was lost (12.5 %), if work follows the "
         "bytes #0\n"},
        {.5, .25, 1, 12.5,
         "high: In that time CPUs were busy 75 % less: about 12.5 s of work was lost (12.5 %), if work follows the "
         "bytes #0\n"},
        {.5, 1, 1, 12.5, "high: In that time about 12.5 s of work was lost (12.5 %), if work follows the bytes #0\n"},
        {.5, .25, NAN, NAN, "info: In that time CPUs were busy 75 % less #0\n"},
        {.5, .25, .75, 0, "info: In that time GPUs were busy 25 % less #0\n"},
        {.5, .95, .95, NAN, ""},
        {.5, NAN, NAN, NAN, ""},
        {.95, .25, .75, 12.5, ""},
        {NAN, .25, .75, 12.5, ""},
        {.9375, .9375, NAN, NAN, "info: In that time CPUs were busy 6.25 % less #0\n"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        job_finding all[] = {finding_of(SEVERITY_HIGH, "nic-paused", "it was held", "held"),
                             finding_of(SEVERITY_WARN, "b", "second", "second"),
                             finding_of(SEVERITY_WARN, "c", "third", "third"),
                             finding_of(SEVERITY_WARN, "d", "fourth", "fourth")};
        char expected[400];
        scene s;
        scene_of(&s, 1);
        all[0].sent_ratio = rows[i].sent;
        all[0].cpu_ratio = rows[i].cpu;
        all[0].gpu_ratio = rows[i].gpu;
        all[0].lost_s = rows[i].lost_s;
        all[0].incident = true;
        s.r.findings = all;
        s.r.finding_count = 2;
        snprintf(expected, sizeof expected, "high: it was held #0\n%swarn: second #1\n", rows[i].note);
        expect_notes(&s, "held", expected);
        all[0].incident = false; // of the whole time there is no meanwhile
        expect_notes(&s, "held", "high: it was held #0\nwarn: second #1\n");
        all[0].incident = true;
        s.r.findings = &all[0];
        s.r.finding_count = 1;
        s.r.end_s = 0;
        expect_notes(&s, "held", NULL);
    }
}

// Retries of a NIC that nearly all fell into the time in which it was held are told there.
static void retries_within_an_incident(void **state)
{
    static const struct {
        double within, beyond; // retries in the time of the incident, and later
        size_t device;
        job_meter meter;
        bool told;
    } rows[] = {{95, 5, 0, JOB_PAUSED, false},
                {85, 15, 0, JOB_PAUSED, true},
                {95, 5, 1, JOB_PAUSED, true},
                {95, 5, 0, JOB_HOLDING, true},
                {0, 0, 0, JOB_PAUSED, true}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        job_finding all[] = {finding_of(SEVERITY_HIGH, "nic-paused", "it was held", "held"),
                             finding_of(SEVERITY_WARN, "retries", "sent again", "again")};
        job_lane *retries = job_lane_make(JOB_RETRIES, 0, 0);
        job_device devices[2] = {{.name = "cxi0"}, {.name = "cxi1"}};
        scene s;
        scene_of(&s, 1);
        retries->total = rows[i].within + rows[i].beyond;
        job_bins_add(retries->bins, s.r.begin_ns, s.r.begin_ns + INT64_C(50000000000), rows[i].within / 50, 0, 9);
        job_bins_add(retries->bins, s.r.begin_ns + INT64_C(50000000000), s.r.begin_ns + INT64_C(100000000000),
                     rows[i].beyond / 50, 0, 9);
        devices[0].lanes[JOB_RETRIES] = retries;
        all[0].incident = true;
        all[0].device = rows[i].device;
        all[0].meter = rows[i].meter;
        all[0].to_s = 50;
        all[1].device = 0;
        s.r.devices = devices;
        s.r.device_count = 2;
        s.r.findings = all;
        s.r.finding_count = 2;
        expect_notes(&s, "held",
                     rows[i].told ? "high: it was held #0\nwarn: sent again #1\n" : "high: it was held #0\n");
        job_lane_free(retries);
    }
}

// ---- context ----

static void good_signs(void **state)
{
    job_event all[] = {{.source = "netdev", .counter = "rx_errors", .known = true},
                       {.source = "memory", .counter = "oom_kill", .known = true},
                       {.source = "cxi", .counter = "hni_pcs_uncorrected_cw", .known = true},
                       {.source = "cxi", .counter = "pct_retry_srb_requests", .known = true, .sum = 3},
                       {.source = "rdma", .counter = "link_downed", .known = false},
                       {.source = "cgroup", .counter = "oom_kills", .known = true},
                       {.source = "rdma", .counter = "rx_errors", .known = true}};
    scene s;
    (void)state;
    scene_of(&s, 1);
    s.r.events = all;
    s.r.event_count = COUNT(all);
    expect_notes(&s, NULL, "ok: No out-of-memory kill, no uncorrected codeword, no damaged frame\n");
    s.r.event_count = 2; // each kill of either counter
    expect_notes(&s, NULL, "ok: No out-of-memory kill, no damaged frame\n");
    all[3].sum = 0;
    all[4].known = true;
    s.r.events = &all[3];
    expect_notes(&s, NULL, "ok: No request sent again, no link down\n");
    all[3].sum = 1;
    all[4].sum = 1;
    expect_notes(&s, NULL, "ok: Nothing to say: no rule found what it looks for\n");
}

static void energy_of_the_job(void **state)
{
    scene s;
    (void)state;
    scene_of(&s, 2);
    s.r.energy.state[JOB_PART_CPU] = JOB_DENIED;
    expect_notes(&s, NULL, "info: No CPU energy: reading it is not permitted (root, or the site's leave)\n");
    s.r.energy.state[JOB_PART_CPU] = JOB_UNREADABLE;
    expect_notes(&s, NULL, "ok: Nothing to say: no rule found what it looks for\n");
    s.r.energy.total_j = 9e6; // 2.5 kWh
    s.r.energy.node_w = 1250;
    s.r.energy.how = "of CPUs alone";
    expect_notes(&s, NULL, "info: Energy 2.50 kWh; mean 1.25 kW per node; of CPUs alone\n");
    s.r.energy.whole = true;
    s.r.energy.lower_bound = true;
    s.r.energy.part_j[JOB_PART_GPU] = 5.625e6;
    expect_notes(&s, NULL, "info: Energy at least 2.50 kWh, 62.5 % of it GPUs; mean 1.25 kW per node\n");
    s.r.energy.total_j = 0;
    expect_notes(&s, NULL, "info: Energy at least 0 J; mean 1.25 kW per node\n");
}

// The same gap of several nodes, to two intervals, is told once, of the first of them.
static void times_without_samples(void **state)
{
    job_gap first[] = {{10, 20, false}, {30, 31, false}, {40, 50, true}, {60, 60.25, false}},
            second[] = {{11.5, 18.5, false}, {70, 80, false}, {90, 95, false}}, third[] = {{12.5, 20, false}};
    scene s;
    (void)state;
    scene_of(&s, 1);
    s.nodes[0].gaps = first;
    s.nodes[0].gap_count = 1;
    expect_notes(&s, NULL, "info: No samples: n1 0:10-0:20; left out of means, not of totals\n");
    s.nodes[0].gap_count = 4;
    expect_notes(&s, NULL,
                 "info: No samples: n1 0:10-0:20, n1 0:30-0:31, n1 1:00 (250 ms); left out of means, not of totals\n");
    s.r.interval_s = 1;
    s.r.node_count = 2;
    s.nodes[1].gaps = second;
    s.nodes[1].gap_count = 1;
    expect_notes(&s, NULL,
                 "info: No samples: all nodes 0:10-0:20, n1 0:30-0:31, n1 1:00 (250 ms); left out of means, not of "
                 "totals\n");
    s.nodes[1].gap_count = 3;
    expect_notes(&s, NULL,
                 "info: No samples: all nodes 0:10-0:20, n1 0:30-0:31, n1 1:00 (250 ms) and 2 more; left out of "
                 "means, not of totals\n");
    s.r.node_count = 3; // the third's begins too late to be that of the first, but not that of the second
    s.nodes[2].gaps = third;
    s.nodes[0].gap_count = s.nodes[2].gap_count = 1;
    s.nodes[1].gap_count = 2;
    expect_notes(&s, NULL,
                 "info: No samples: n1 and 1 more 0:10-0:20, n2 1:10-1:20; left out of means, not of totals\n");
    third[0] = (job_gap){12, 22, false}; // at most two intervals
    expect_notes(&s, NULL, "info: No samples: all nodes 0:10-0:20, n2 1:10-1:20; left out of means, not of totals\n");
    third[0] = (job_gap){70, 80, false};
    expect_notes(&s, NULL,
                 "info: No samples: n1 and 1 more 0:10-0:20, n2 and 1 more 1:10-1:20; left out of means, not of "
                 "totals\n");
    s.nodes[0].gaps = &first[2]; // nothing was to be sampled
    s.nodes[1].gap_count = s.nodes[2].gap_count = 0;
    expect_notes(&s, NULL, "ok: Nothing to say: no rule found what it looks for\n");
}

// Of three devices two moved more than the ports: the busier one is named.
static void traffic_beside_the_ports(void **state)
{
    job_lane sent = lane_of(JOB_SENT, 2e6), received = lane_of(JOB_RECEIVED, 1e6),
             moved[] = {lane_of(JOB_VIRTUAL_SENT, 3e6), lane_of(JOB_VIRTUAL_RECEIVED, 5e6),
                        lane_of(JOB_VIRTUAL_SENT, 4e6), lane_of(JOB_VIRTUAL_SENT, 2e6)};
    job_device devices[] = {{.name = "veth0"}, {.name = "lo"}, {.name = "veth1"}};
    scene s;
    (void)state;
    scene_of(&s, 1);
    s.nodes[0].lanes[JOB_SENT] = &sent;
    s.nodes[0].lanes[JOB_RECEIVED] = &received;
    devices[0].lanes[JOB_VIRTUAL_SENT] = &moved[0];
    devices[1].lanes[JOB_VIRTUAL_RECEIVED] = &moved[1];
    devices[1].lanes[JOB_VIRTUAL_SENT] = &moved[2];
    devices[2].lanes[JOB_VIRTUAL_SENT] = &moved[3]; // no more than they
    s.r.devices = devices;
    s.r.device_count = COUNT(devices);
    expect_notes(&s, NULL,
                 "info: 5.00 MB went through lo, which is memory and not a network; the ports carried 2.00 MB; and 1 "
                 "more such device\n");
    s.nodes[0].lanes[JOB_SENT] = s.nodes[0].lanes[JOB_RECEIVED] = NULL;
    expect_notes(&s, NULL, "ok: Nothing to say: no rule found what it looks for\n"); // beside no ports
    sent.total = 0;
    s.nodes[0].lanes[JOB_SENT] = &sent;
    expect_notes(&s, NULL,
                 "info: 5.00 MB went through lo, which is memory and not a network; the ports carried 0 B; and 2 "
                 "more such devices\n");
    s.r.node_count = 2;
    expect_notes(&s, NULL,
                 "info: Not in the network figures, virtual: n1 lo sent 4.00 MB, received 5.00 MB; and 2 more such "
                 "devices\n");
    s.r.node_count = 1;
    s.r.device_count = 1;
    expect_notes(&s, NULL,
                 "info: Not in the network figures, virtual: veth0 sent 3.00 MB, received an unknown amount\n");
}

static void others_on_busy_nodes(void **state)
{
    job_lane cpu = lane_of(JOB_CPU, 30);
    scene s;
    (void)state;
    scene_of(&s, 3);
    s.readers[1].others_wait = 0.25;
    s.readers[1].waited_s = 10;
    s.nodes[1].lanes[JOB_CPU] = &cpu;
    expect_notes(&s, NULL,
                 "info: n2 is busy: threads waited for a CPU 25 % of the time, those of the job 25 % of theirs\n");
    s.readers[2].others_wait = 0.125;
    expect_notes(&s, NULL,
                 "info: n2 is busy: threads waited for a CPU 25 % of the time, those of the job 25 % of theirs; so on "
                 "1 more node\n");
    s.readers[0].others_wait = 0.375;
    expect_notes(
        &s, NULL,
        "info: n1 is busy: threads waited for a CPU 37.5 % of the time; so on 2 more nodes\n"); // how long is not known
    s.nodes[0].lanes[JOB_CPU] = &cpu;
    s.readers[0].waited_s = NAN;
    expect_notes(&s, NULL, "info: n1 is busy: threads waited for a CPU 37.5 % of the time; so on 2 more nodes\n");
}

// Of a job of one node and one rank: the two regions that moved the most, by what the program says they moved.
static void regions_that_moved_the_most(void **state)
{
    regions_node nodes[] = {{.name = "small", .threads = 1, .sums = {.bytes = 1000, .inclusive_ns = 1000000000}},
                            {.name = "large", .threads = 1, .sums = {.bytes = 9000, .inclusive_ns = 2000000000}},
                            {.name = "middle", .threads = 1, .sums = {.bytes = 5000, .inclusive_ns = 4000000000}},
                            {.name = "many", .threads = 2, .sums = {.bytes = 90000, .inclusive_ns = 1}},
                            {.name = "none", .threads = 1, .sums = {.bytes = 0, .inclusive_ns = 5}},
                            {.name = "brief", .threads = 1, .sums = {.bytes = 90000, .inclusive_ns = 0}},
                            {.name = "span", .span = true, .sums = {.bytes = 90000, .inclusive_ns = 5}}};
    scene s;
    (void)state;
    scene_of(&s, 1);
    s.r.regions.nodes = nodes;
    s.r.regions.node_count = COUNT(nodes);
    expect_notes(&s, NULL, "ok: Nothing to say: no rule found what it looks for\n"); // of no rank
    s.r.regions.rank_count = 1;
    expect_notes(&s, NULL,
                 "info: large moved 4.50 kB/s, middle moved 1.25 kB/s, by the bytes that the program declares\n");
    s.r.regions.node_count = 1;
    expect_notes(&s, NULL, "info: small moved 1.00 kB/s, by the bytes that the program declares\n");
    s.r.regions.rank_count = 2;
    expect_notes(&s, NULL, "ok: Nothing to say: no rule found what it looks for\n");
    s.r.regions.rank_count = 1;
    s.r.node_count = 2;
    expect_notes(&s, NULL, "ok: Nothing to say: no rule found what it looks for\n");
}

// At least half of at least a second, and no more than all of it, on the only node.
static void time_in_the_kernel(void **state)
{
    static const struct {
        double all, kernel;
        job_measure by;
        size_t nodes;
        const char *note; // NULL: none
    } rows[] = {
        {8, 5, JOB_BY_GROUP, 1, "info: 62.5 % of its CPU time was spent in the kernel\n"},
        {8, 5, JOB_BY_NODE, 1, "info: 62.5 % of its CPU time was spent in the kernel, that of the whole node\n"},
        {8, 5, JOB_BY_GROUP, 2, NULL},
        {8, 4, JOB_BY_GROUP, 1, "info: 50 % of its CPU time was spent in the kernel\n"},
        {8, 3.99, JOB_BY_GROUP, 1, NULL},
        {1, 0.625, JOB_BY_GROUP, 1, "info: 62.5 % of its CPU time was spent in the kernel\n"},
        {0.99, 0.9, JOB_BY_GROUP, 1, NULL},
        {8, 8, JOB_BY_GROUP, 1, "info: 100 % of its CPU time was spent in the kernel\n"},
        {8, 8.01, JOB_BY_GROUP, 1, NULL},
        {NAN, 5, JOB_BY_GROUP, 1, NULL},
        {8, NAN, JOB_BY_GROUP, 1, NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        job_lane all = lane_of(JOB_CPU, rows[i].all), kernel = lane_of(JOB_KERNEL, rows[i].kernel);
        scene s;
        scene_of(&s, rows[i].nodes);
        s.nodes[0].lanes[JOB_CPU] = &all;
        s.nodes[0].lanes[JOB_KERNEL] = &kernel;
        s.nodes[0].cpu_by = rows[i].by;
        expect_notes(&s, NULL, rows[i].note ? rows[i].note : "ok: Nothing to say: no rule found what it looks for\n");
        s.nodes[0].lanes[JOB_KERNEL] = NULL;
        expect_notes(&s, NULL, "ok: Nothing to say: no rule found what it looks for\n");
    }
}

// ---- clocks ----

static void how_well_clocks_agree(void **state)
{
    static const struct {
        size_t nodes;
        bool aligned;
        double uncertainty_s;
        const char *text;
    } rows[] = {{1, true, 0.004, "one node: no clocks to compare"},
                {2, false, 0.004, "node clocks as they are, not compared"},
                {2, true, NAN, "node clocks aligned, how well is not known"},
                {2, true, 0.004, "node clocks agree to 4 ms"}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        scene s;
        scene_of(&s, rows[i].nodes);
        s.r.clocks_aligned = rows[i].aligned;
        s.r.uncertainty_s = rows[i].uncertainty_s;
        job_make_notes(&s.r);
        assert_string_equal(s.r.clock_text, rows[i].text);
        scene_end(&s);
    }
}

// Files whose clock was set: four are told of, and how many more there are.
static void clocks_that_were_set(void **state)
{
    static const char one[] =
        "info: n2: the wall clock was set 5 s ahead while it was recorded; times here go on from its "
        "first reading by the monotonic clock\n";
    (void)state;
    for (size_t count = 0; count <= 6; count++) {
        char expected[1600] = "";
        scene s;
        scene_of(&s, 2);
        for (size_t i = 0; i < count; i++) {
            arrput(s.reader.runs, ((job_run){.node = 1, .clock_steps = 1, .clock_set_ns = 5000000000}));
            arrput(s.reader.runs, ((job_run){.node = 0}));
            if (i < 4) strcat(expected, one);
        }
        if (!count) strcat(expected, "ok: Nothing to say: no rule found what it looks for\n");
        if (count == 5) strcat(expected, "info: The wall clock was set while 1 more file recorded\n");
        if (count == 6) strcat(expected, "info: The wall clock was set while 2 more files recorded\n");
        expect_notes(&s, NULL, expected);
        arrfree(s.reader.runs);
    }
}

// All at once: findings, then who else was busy, where bytes went, good signs, energy, gaps, clocks.
static void notes_in_order(void **state)
{
    job_finding all[] = {finding_of(SEVERITY_WATCH, "a", "it is odd", "odd"),
                         finding_of(SEVERITY_INFO, "work-slowed", "work slowed", "Work slowed")};
    job_lane cpu = lane_of(JOB_CPU, 8), kernel = lane_of(JOB_KERNEL, 5), sent = lane_of(JOB_SENT, 0),
             moved = lane_of(JOB_VIRTUAL_SENT, 5e3);
    job_device lo = {.name = "lo"};
    regions_node region = {.name = "halo", .threads = 1, .sums = {.bytes = 1000, .inclusive_ns = 1000000000}};
    job_event event = {.source = "rdma", .counter = "link_downed", .known = true};
    job_gap gap = {10, 20, false};
    scene s;
    (void)state;
    scene_of(&s, 1);
    s.r.findings = all;
    s.r.finding_count = 2;
    s.readers[0].others_wait = 0.25;
    s.readers[0].waited_s = NAN;
    s.nodes[0].lanes[JOB_CPU] = &cpu;
    s.nodes[0].lanes[JOB_KERNEL] = &kernel;
    s.nodes[0].lanes[JOB_SENT] = &sent;
    lo.lanes[JOB_VIRTUAL_SENT] = &moved;
    s.r.devices = &lo;
    s.r.device_count = 1;
    s.r.regions.nodes = &region;
    s.r.regions.node_count = s.r.regions.rank_count = 1;
    s.r.events = &event;
    s.r.event_count = 1;
    s.r.energy.total_j = 1000;
    s.r.energy.node_w = 10;
    s.r.energy.whole = true;
    s.nodes[0].gaps = &gap;
    s.nodes[0].gap_count = 1;
    arrput(s.reader.runs, ((job_run){.clock_steps = 2, .clock_set_ns = -2500000000}));
    expect_notes(&s, "odd",
                 "watch: it is odd #0\ninfo: work slowed #1\n"
                 "info: n1 is busy: threads waited for a CPU 25 % of the time\n"
                 "info: 5.00 kB went through lo, which is memory and not a network; the ports carried 0 B\n"
                 "info: halo moved 1.00 kB/s, by the bytes that the program declares\n"
                 "info: 62.5 % of its CPU time was spent in the kernel\n"
                 "ok: No link down\n"
                 "info: Energy 1.00 kJ; mean 10 W per node\n"
                 "info: No samples: n1 0:10-0:20; left out of means, not of totals\n"
                 "info: n1: the wall clock was set 2 times, 2.50 s back in all while it was recorded; times here go on "
                 "from its first reading by the monotonic clock\n");
    arrfree(s.reader.runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_to_say),
        cmocka_unit_test(how_much_was_used),
        cmocka_unit_test(traffic_that_stayed),
        cmocka_unit_test(findings_are_told),
        cmocka_unit_test(slow_work_is_the_headline),
        cmocka_unit_test(what_fell_during_an_incident),
        cmocka_unit_test(retries_within_an_incident),
        cmocka_unit_test(good_signs),
        cmocka_unit_test(energy_of_the_job),
        cmocka_unit_test(times_without_samples),
        cmocka_unit_test(traffic_beside_the_ports),
        cmocka_unit_test(others_on_busy_nodes),
        cmocka_unit_test(regions_that_moved_the_most),
        cmocka_unit_test(time_in_the_kernel),
        cmocka_unit_test(how_well_clocks_agree),
        cmocka_unit_test(clocks_that_were_set),
        cmocka_unit_test(notes_in_order),
    };
    return cmocka_run_group_tests_name("job_notes", tests, NULL, NULL);
}
