// The JSON of a job's report part by part, whole: a report as a model, each field with a value of its own, and what becomes of
// it. What is unknown is null or left out.
#define _GNU_SOURCE
#include "netprof.h"

#include "support.h"

#include "analysis/job/job_bins.h"
#include "analysis/job/job_report.h"

#include <json-c/json.h>
#include <math.h>

// ---- helpers ----

// The value of a key of the report, in its shortest form; quotes are written as ' in `expected`. NULL: there is no such key.
static void expect_part(const job_report *r, const char *key, const char *expected)
{
    json_object *all = job_report_json(r), *part = NULL;
    bool found = json_object_object_get_ex(all, key, &part);
    if (found != (expected != NULL)) fail_msg("%s: %s", key, found ? "is there" : "is missing");
    if (expected) {
        char *text = strdup(json_to_text(part, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
        for (char *at = text; *at; at++)
            if (*at == '"') *at = '\'';
        assert_string_equal(text, expected);
        free(text);
    }
    json_object_put(all);
}

// Nothing known but that there is a report.
static job_report blank(void)
{
    job_report r = {.begin_ns = INT64_C(1700000000123456789),
                    .end_s = 60,
                    .bin_s = 0.5,
                    .interval_s = NAN,
                    .pod_start_s = NAN,
                    .uncertainty_s = NAN,
                    .title = "a title",
                    .state = "COMPLETED"};
    for (int i = 0; i < JOB_EFFICIENCIES; i++)
        r.efficiency[i] = (job_efficiency){.used = NAN, .of = NAN, .left = NAN, .node = JOB_NONE};
    for (int i = 0; i < JOB_BOUNDS; i++)
        r.bottlenecks[i] = (job_bottleneck){.mean = NAN, .share = NAN};
    for (int p = 0; p < JOB_PARTS; p++)
        r.energy.part_j[p] = NAN;
    r.energy.total_j = r.energy.node_w = NAN;
    return r;
}

static job_node node_of(char *name)
{
    return (job_node){.name = name,
                      .host = name,
                      .first_place = JOB_NONE,
                      .cpus = NAN,
                      .cpus_allocated = NAN,
                      .memory_requested = NAN,
                      .end_s = 60,
                      .interval_s = NAN,
                      .late_s = NAN,
                      .sweep_s = NAN,
                      .memory_peak = NAN,
                      .uncertainty_s = NAN,
                      .recorder_cpu = NAN};
}

// ---- tests ----

static void the_report_itself(void **state)
{
    job_fact facts[] = {{"job_id", "Job", "51877"}, {"user", "User", "eve \"\\\""}};
    job_note notes[] = {{SEVERITY_HIGH, "first", 0}, {SEVERITY_OK, "second", JOB_NONE}};
    job_warning warnings[] = {{"a.netprof", "is cut"}, {"b", "is none"}};
    job_report r = blank();
    (void)state;
    expect_part(&r, "format", "'netprof-job'");
    expect_part(&r, "version", "2");
    expect_part(&r, "verdict", "{'severity':'ok','text':'a title','notes':[]}");
    expect_part(&r, "facts", "{}");
    expect_part(&r, "begin_ns", "1700000000123456789");
    expect_part(&r, "interval_s", "null");
    expect_part(&r, "allocated_host_count", NULL);
    expect_part(&r, "clock_uncertainty_ns", "null");
    expect_part(&r, "clocks_aligned", "false");
    expect_part(&r, "damaged", "false");
    expect_part(&r, "warnings", "[]");
    expect_part(&r, "regions", NULL);
    expect_part(&r, "regions_over_time", NULL);
    expect_part(&r, "bytes_explained", NULL);
    r.severity = SEVERITY_HIGH;
    r.notes = notes;
    r.note_count = COUNT(notes);
    r.facts = facts;
    r.fact_count = COUNT(facts);
    r.warnings = warnings;
    r.warning_count = COUNT(warnings);
    r.interval_s = 0.25;
    r.given_nodes = 5;
    r.samples = 113;
    r.expected = 122;
    r.clocks_aligned = true;
    r.uncertainty_s = 0.004;
    r.damaged = true;
    expect_part(&r, "verdict",
                "{'severity':'high','text':'a title','notes':[{'severity':'high','text':'first'},"
                "{'severity':'ok','text':'second'}]}");
    expect_part(&r, "facts", "{'job_id':'51877','user':'eve \\'\\\\\\''}");
    expect_part(&r, "warnings", "[{'file':'a.netprof','text':'is cut'},{'file':'b','text':'is none'}]");
    expect_part(&r, "elapsed_s", "60");
    expect_part(&r, "interval_s", "0.25");
    expect_part(&r, "bin_s", "0.5");
    expect_part(&r, "state", "'COMPLETED'");
    expect_part(&r, "host_count", "0");
    expect_part(&r, "allocated_host_count", "5");
    expect_part(&r, "snapshot_count", "113");
    expect_part(&r, "expected_snapshot_count", "122");
    expect_part(&r, "clocks_aligned", "true");
    expect_part(&r, "clock_uncertainty_ns", "4000000");
    expect_part(&r, "damaged", "true");
}

// A time that nanoseconds since 1970 cannot hold is none.
static void when_the_pod_began(void **state)
{
    static const struct {
        double at_s;
        const char *expected;
    } rows[] = {{NAN, NULL},        {0, NULL}, {-1, NULL}, {9e9, NULL}, {1700000000.5, "1700000000500000000"},
                {0.25, "250000000"}};
    job_report r = blank();
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        r.pod_start_s = rows[i].at_s;
        expect_part(&r, "pod_begin_ns", rows[i].expected);
    }
}

static void what_was_used(void **state)
{
    job_node nodes[] = {node_of("n1"), node_of("n2")};
    job_report r = blank();
    (void)state;
    expect_part(&r, "use", "{}");
    r.nodes = nodes;
    r.node_count = COUNT(nodes);
    r.use_count = 2;
    r.uses[0] = (job_use){.meter = JOB_GPU_BUSY,
                          .mean = 0.5,
                          .low = 0.25,
                          .high = 0.75,
                          .low_node = 1,
                          .high_node = JOB_NONE,
                          .capacity = NAN,
                          .total = 7,
                          .peak = 0.875,
                          .upper_bound = true,
                          .nodes = 2};
    r.uses[1] = (job_use){.meter = JOB_SENT,
                          .mean = 2e9,
                          .low = 1e9,
                          .high = 3e9,
                          .low_node = 0,
                          .high_node = 1,
                          .capacity = 25e9,
                          .total = 240e9,
                          .peak = 4e9,
                          .lower_bound = true,
                          .nodes = 1,
                          .scope = JOB_SCOPE_NODE};
    expect_part(&r, "use",
                "{'gpu_busy':{'title':'GPU busy','unit':'','mean':0.5,'min':0.25,'min_host':'n2','max':0.75,"
                "'peak':0.875,'capacity':null,'upper_bound':true,'host_count':2},"
                "'network_sent':{'title':'Network sent','unit':'bytes/s','scope':'node','mean':2e+09,'min':1e+09,"
                "'min_host':'n1','max':3e+09,'max_host':'n2','peak':4e+09,'capacity':2.5e+10,'total':2.4e+11,"
                "'total_unit':'bytes','lower_bound':true,'host_count':1}}");
}

static void used_of_what_was_given(void **state)
{
    job_node nodes[] = {node_of("n1"), node_of("n2")};
    job_report r = blank();
    (void)state;
    expect_part(&r, "efficiency", "{}");
    r.nodes = nodes;
    r.node_count = COUNT(nodes);
    r.efficiency[JOB_EFFICIENCY_CPU] = (job_efficiency){.used = 30,
                                                        .of = 120,
                                                        .left = 8,
                                                        .lower_bound = true,
                                                        .by = JOB_BY_PROCESSES,
                                                        .basis = JOB_BASIS_QUOTA,
                                                        .node = JOB_NONE,
                                                        .nodes = 2};
    r.efficiency[JOB_EFFICIENCY_MEMORY] = (job_efficiency){.used = 6e9,
                                                           .of = 8e9,
                                                           .left = NAN,
                                                           .upper_bound = true,
                                                           .by = JOB_BY_RESIDENT,
                                                           .basis = JOB_BASIS_REQUEST,
                                                           .node = 1,
                                                           .nodes = 1};
    r.efficiency[JOB_EFFICIENCY_TIME] =
        (job_efficiency){.used = 60, .of = 240, .left = 180, .basis = JOB_BASIS_LIMIT, .node = JOB_NONE};
    expect_part(&r, "efficiency",
                "{'cpu':{'used_cpu_s':30,'of_cpu_s':120,'share':0.25,'against':'quota','by':'processes',"
                "'lower_bound':true,'host_count':2},"
                "'memory':{'used_bytes':6e+09,'of_bytes':8e+09,'share':0.75,'against':'request','host':'n2',"
                "'by':'resident','upper_bound':true,'host_count':1},"
                "'time':{'used_s':60,'of_s':240,'share':0.25,'against':'limit','left_s':180,'host_count':0}}");
    r.efficiency[JOB_EFFICIENCY_CPU].of = NAN; // one of both is not enough
    r.efficiency[JOB_EFFICIENCY_MEMORY].used = NAN;
    r.efficiency[JOB_EFFICIENCY_TIME].of = INFINITY; // no limit
    r.efficiency[JOB_EFFICIENCY_TIME].left = NAN;
    expect_part(&r, "efficiency",
                "{'time':{'used_s':60,'of_s':null,'share':null,'against':'limit','left_s':null,'host_count':0}}");
}

static void where_the_energy_went(void **state)
{
    job_report r = blank();
    (void)state;
    r.energy = (job_energy){.part_j = {1000, NAN, NAN, 250},
                            .state = {JOB_KNOWN, JOB_DENIED, JOB_UNREADABLE, JOB_ABSENT},
                            .part_nodes = {2, 3, 4, 5},
                            .total_j = 1250,
                            .whole = true,
                            .node_w = 12.5,
                            .how = "by meters"};
    expect_part(&r, "energy",
                "{'energy_j':1250,'whole_nodes':true,'lower_bound':false,'node_w':12.5,'how':'by meters','parts':{"
                "'cpu':{'status':'known','energy_j':1000,'host_count':2},"
                "'dram':{'status':'denied','energy_j':null,'host_count':3},"
                "'gpu':{'status':'unreadable','energy_j':null,'host_count':4},"
                "'rest':{'status':'absent','energy_j':250}}}");
    r.energy.whole = false;
    r.energy.lower_bound = true;
    r.energy.how = NULL;
    r.energy.total_j = r.energy.node_w = NAN;
    expect_part(&r, "energy",
                "{'energy_j':null,'whole_nodes':false,'lower_bound':true,'node_w':null,'parts':{"
                "'cpu':{'status':'known','energy_j':1000,'host_count':2},"
                "'dram':{'status':'denied','energy_j':null,'host_count':3},"
                "'gpu':{'status':'unreadable','energy_j':null,'host_count':4},"
                "'rest':{'status':'absent','energy_j':250}}}");
}

static void what_it_was_bound_by(void **state)
{
    job_report r = blank();
    (void)state;
    expect_part(&r, "bound_by", "{'limit_share':0.9,'resources':{}}");
    for (int of = 0; of < JOB_BOUNDS; of++)
        r.bottlenecks[of] = (job_bottleneck){.mean = 0.5 + of, .share = 0.25 + of, .bound = of % 3 == 1};
    r.bottlenecks[JOB_BOUND_GPU].mean = NAN;
    r.bound_text = "one thread";
    expect_part(&r, "bound_by",
                "{'text':'one thread','limit_share':0.9,'resources':{"
                "'cpu':{'used_share':0.5,'at_limit_share':0.25,'is_bound':false},"
                "'thread':{'used_share':1.5,'at_limit_share':1.25,'is_bound':true},"
                "'network_sent':{'used_share':3.5,'at_limit_share':3.25,'is_bound':false},"
                "'network_received':{'used_share':4.5,'at_limit_share':4.25,'is_bound':true},"
                "'network_paused':{'used_share':5.5,'at_limit_share':5.25,'is_bound':false},"
                "'io':{'used_share':6.5,'at_limit_share':6.25,'is_bound':false},"
                "'cpu_wait':{'used_share':7.5,'at_limit_share':7.25,'is_bound':true}}}");
    r.bottlenecks[JOB_BOUND_GPU].mean = 2.5;
    json_object *all = job_report_json(&r), *part, *gpu;
    assert_true(json_object_object_get_ex(all, "bound_by", &part) &&
                json_object_object_get_ex(part, "resources", &part) && json_object_object_get_ex(part, "gpu", &gpu));
    json_object_put(all);
}

// A node of which everything is known, with a device that counts and one of which nothing is known; and one of which nothing
// is, whose device is a virtual one.
static void nodes_and_devices(void **state)
{
    job_gap gaps[] = {{10, 14, false}, {20, 30.5, true}};
    job_lane
        cpu = {.meter = JOB_CPU,
               .capacity = 16,
               .known_s = 50,
               .mean = 1.5,
               .low = 0.5,
               .high = 3,
               .total = 90,
               .lower_bound = true,
               .resets = 2},
        memory = {.meter = JOB_MEMORY,
                  .capacity = NAN,
                  .known_s = 40,
                  .mean = 7e9,
                  .low = 6e9,
                  .high = 8e9,
                  .total = 5,
                  .upper_bound = true},
        sent = {.meter = JOB_SENT, .capacity = 25e9, .known_s = 60, .mean = 1e9, .low = 0, .high = 2e9, .total = 6e10},
        of_veth = {.meter = JOB_VIRTUAL_RECEIVED,
                   .capacity = NAN,
                   .known_s = 1,
                   .mean = NAN,
                   .low = NAN,
                   .high = NAN,
                   .total = NAN};
    job_device devices[] = {{.source = "cxi", .name = "cxi0", .label = "NIC 1 (cxi0)"},
                            {.source = "cxi", .name = "cxi1", .label = "NIC 2 (cxi1)"},
                            {.node = 1, .source = "netdev", .name = "veth0", .label = "veth0"}};
    job_node nodes[] = {node_of("n1"), node_of("n2")}, *n = &nodes[0];
    job_report r = blank();
    (void)state;
    n->host = "box";
    n->pod = "pod-7";
    n->system = "EPYC";
    n->severity = SEVERITY_WATCH;
    n->begin_s = 1;
    n->end_s = 61;
    n->interval_s = 2;
    n->samples = 29;
    n->expected = 31;
    n->missed = 3;
    n->late_s = 0.25;
    n->sweep_s = 0.0625;
    n->cpus = 64;
    n->cpus_allocated = 16;
    n->cpus_basis = JOB_BASIS_SCHEDULER;
    n->cpu_by = JOB_BY_GROUP;
    n->memory_by = JOB_BY_PARTS;
    n->memory_requested = 32e9;
    n->memory_peak = 24e9;
    n->recorder_cpu = 0.0015;
    n->shift_s = -3.5e-6;
    n->uncertainty_s = 0.002;
    n->complete = true;
    n->gaps = gaps;
    n->gap_count = COUNT(gaps);
    n->lanes[JOB_CPU] = &cpu;
    n->scope[JOB_CPU] = JOB_SCOPE_JOB;
    n->state[JOB_CPU] = JOB_KNOWN;
    n->lanes[JOB_MEMORY] = &memory;
    n->scope[JOB_MEMORY] = JOB_SCOPE_GROUP;
    n->state[JOB_INSTRUCTIONS] = JOB_UNREADABLE;
    n->state[JOB_POWER_CPU] = JOB_DENIED;
    n->device_count = 2;
    devices[0].lanes[JOB_SENT] = &sent;
    nodes[1].system = "";
    nodes[1].first_device = 2;
    nodes[1].device_count = 1;
    devices[2].lanes[JOB_VIRTUAL_RECEIVED] = &of_veth;
    r.nodes = nodes;
    r.node_count = COUNT(nodes);
    r.devices = devices;
    r.device_count = COUNT(devices);
    expect_part(&r, "host_count", "2");
    expect_part(
        &r, "hosts",
        "[{'host':'n1','hostname':'box','pod':'pod-7','system':'EPYC','severity':'watch','begin_s':1,'end_s':61,"
        "'interval_s':2,'snapshot_count':29,'expected_snapshot_count':31,'missed_ticks':3,'late_s':0.25,"
        "'sweep_s':0.0625,'cpus':64,'cpus_allocated':16,'cpus_allocated_by':'scheduler','cpu_by':'cgroup',"
        "'memory_by':'proportional','memory_requested_bytes':3.2e+10,'memory_peak_bytes':2.4e+10,"
        "'recorder_cpus':0.0015,'clock_offset_ns':-3500,'clock_uncertainty_ns':2000000,'complete':true,"
        "'gaps':[{'from_s':10,'to_s':14},{'from_s':20,'to_s':30.5,'between_recordings':true}],"
        "'meters':{'cpu':{'scope':'job','unit':'CPUs','mean':1.5,'min':0.5,'max':3,'capacity':16,'known_s':50,"
        "'total':90,'total_unit':'s','lower_bound':true,'reset_count':2},"
        "'memory':{'scope':'cgroup','unit':'bytes','mean':7e+09,'min':6e+09,'max':8e+09,'capacity':null,'known_s':40,"
        "'upper_bound':true},'instructions':{'status':'unreadable'},'power_cpu':{'status':'denied'}},"
        "'devices':[{'source':'cxi','device':'cxi0','label':'NIC 1 (cxi0)','meters':{'network_sent':{'unit':'bytes/s',"
        "'mean':1e+09,'min':0,'max':2e+09,'capacity':2.5e+10,'known_s':60,'total':6e+10,'total_unit':'bytes'}}}]},"
        "{'host':'n2','hostname':'n2','severity':'ok','begin_s':0,'end_s':60,'interval_s':null,'snapshot_count':0,"
        "'expected_snapshot_count':0,'missed_ticks':0,'late_s':null,'sweep_s':null,'cpus':null,'cpus_allocated':null,"
        "'memory_requested_bytes':null,'memory_peak_bytes':null,'recorder_cpus':null,'clock_offset_ns':0,"
        "'clock_uncertainty_ns':null,'complete':false,'gaps':[],'meters':{},'devices':[{'source':'netdev',"
        "'device':'veth0','label':'veth0','virtual':true,'meters':{'virtual_received':{'unit':'bytes/s','mean':null,"
        "'min':null,'max':null,'capacity':null,'known_s':1,'total':null,'total_unit':'bytes'}}}]}]");
    devices[2].lanes[JOB_VIRTUAL_RECEIVED] = NULL;
    devices[2].lanes[JOB_VIRTUAL_SENT] = &of_veth;
    nodes[1].first_device = 1; // of which one has no lanes
    nodes[1].device_count = 2;
    json_object *all = job_report_json(&r), *hosts, *list, *is_virtual;
    assert_true(json_object_object_get_ex(all, "hosts", &hosts) &&
                json_object_object_get_ex(json_object_array_get_idx(hosts, 1), "devices", &list));
    assert_int_equal(json_object_array_length(list), 1);
    assert_true(json_object_object_get_ex(json_object_array_get_idx(list, 0), "virtual", &is_virtual));
    json_object_put(all);
}

// An incident of one device; what all have, which is no single one's; and what is of the whole job.
static void each_finding(void **state)
{
    job_node nodes[] = {node_of("n1"), node_of("n2")};
    job_device devices[] = {{.name = "cxi0"}, {.node = 1, .name = "cxi1"}};
    job_finding all[3];
    job_report r = blank();
    (void)state;
    expect_part(&r, "findings", "[]");
    all[0] = (job_finding){.severity = SEVERITY_HIGH,
                           .rule = "nic-paused",
                           .claim = "it was held",
                           .title = "in short",
                           .advice = "look there",
                           .origin = "own",
                           .node = 1,
                           .device = 1,
                           .nodes = 1,
                           .devices = 1,
                           .meter = JOB_PAUSED,
                           .value = 0.44,
                           .threshold = 0.05,
                           .unit = "of the time",
                           .from_s = 10,
                           .to_s = 30,
                           .incident = true,
                           .sent_ratio = 0.5,
                           .cpu_ratio = 0.625,
                           .gpu_ratio = NAN,
                           .power_ratio = 0.75,
                           .cost_s = 8.8,
                           .lost_s = 10,
                           .explained_by = "link-down"};
    all[1] = all[0];
    all[1].node = all[1].device = JOB_NONE;
    all[1].nodes = 2;
    all[1].devices = 8;
    all[1].gpu_ratio = 0.875;
    all[1].explained_by = "";
    all[1].lost_s = NAN;
    all[2] = (job_finding){.severity = SEVERITY_INFO,
                           .rule = "cpu-low",
                           .claim = "little was used",
                           .advice = "",
                           .origin = "jobstats",
                           .node = JOB_NONE,
                           .device = JOB_NONE,
                           .nodes = 3,
                           .value = NAN,
                           .threshold = 0.8,
                           .unit = "of the CPUs",
                           .to_s = 60,
                           .cost_s = NAN,
                           .explained_by = ""};
    r.nodes = nodes;
    r.node_count = COUNT(nodes);
    r.devices = devices;
    r.device_count = COUNT(devices);
    r.findings = all;
    r.finding_count = COUNT(all);
    expect_part(&r, "findings",
                "[{'rule':'nic-paused','severity':'high','claim':'it was held','advice':'look there','host':'n2',"
                "'device':'cxi1','host_count':1,'device_count':1,'value':0.44,'unit':'of the time',"
                "'threshold':{'value':0.05,'origin':'own'},'from_s':10,'to_s':30,'cost_s':8.8,"
                "'explained_by':'link-down','incident':true,'sent_ratio':0.5,'cpu_ratio':0.625,'gpu_ratio':null,"
                "'power_ratio':0.75,'lost_s':10},"
                "{'rule':'nic-paused','severity':'high','claim':'it was held','advice':'look there','host':null,"
                "'device':null,'host_count':2,'device_count':8,'value':0.44,'unit':'of the time',"
                "'threshold':{'value':0.05,'origin':'own'},'from_s':10,'to_s':30,'cost_s':8.8,'incident':true,"
                "'sent_ratio':0.5,'cpu_ratio':0.625,'gpu_ratio':0.875,'power_ratio':0.75,'lost_s':null},"
                "{'rule':'cpu-low','severity':'info','claim':'little was used','host_count':3,'value':null,"
                "'unit':'of the CPUs','threshold':{'value':0.8,'origin':'jobstats'},'from_s':0,'to_s':60,"
                "'cost_s':null,'incident':false}]");
    all[1].node = 0; // all of one node
    r.findings = &all[1];
    r.finding_count = 1;
    expect_part(&r, "findings",
                "[{'rule':'nic-paused','severity':'high','claim':'it was held','advice':'look there','host':'n1',"
                "'device':null,'host_count':2,'device_count':8,'value':0.44,'unit':'of the time',"
                "'threshold':{'value':0.05,'origin':'own'},'from_s':10,'to_s':30,'cost_s':8.8,'incident':true,"
                "'sent_ratio':0.5,'cpu_ratio':0.625,'gpu_ratio':0.875,'power_ratio':0.75,'lost_s':null}]");
}

// Stretches of two phases by turns, and an incident, which has none of its own.
static void each_phase(void **state)
{
    job_phase all[3] = {{.name = "work", .count = 2, .finding = JOB_NONE, .time_s = 30, .energy_j = 300},
                        {.name = "rest", .count = 1, .finding = JOB_NONE, .time_s = 10, .energy_j = NAN},
                        {.name = "n1 blocked", .count = 1, .finding = 0, .time_s = 5, .energy_j = 50}};
    job_phase_span spans[] = {{0, 0, 10}, {1, 10, 20}, {0, 20, 40}};
    job_report r = blank();
    (void)state;
    for (size_t i = 0; i < COUNT(all); i++)
        for (int m = 0; m < JOB_METERS; m++)
            all[i].meters[m] = (job_phase_meter){NAN, NAN};
    all[0].meters[JOB_GPU_BUSY] = (job_phase_meter){0.5, 3}; // of a share there is no total
    all[0].meters[JOB_CPU] = (job_phase_meter){2, NAN};
    all[0].meters[JOB_SENT] = (job_phase_meter){2e9, 6e10};
    all[1].meters[JOB_SENT] = (job_phase_meter){NAN, 7};
    r.phases = all;
    r.phase_count = COUNT(all);
    r.spans = spans;
    r.span_count = COUNT(spans);
    expect_part(&r, "phases",
                "[{'phase':'work','count':2,'time_s':30,'incident':false,'energy_j':300,"
                "'spans':[{'from_s':0,'to_s':10},{'from_s':20,'to_s':40}],"
                "'meters':{'gpu_busy':{'mean':0.5,'unit':''},'cpu':{'mean':2,'unit':'CPUs'},"
                "'network_sent':{'mean':2e+09,'unit':'bytes/s','total':6e+10,'total_unit':'bytes'}}},"
                "{'phase':'rest','count':1,'time_s':10,'incident':false,'energy_j':null,"
                "'spans':[{'from_s':10,'to_s':20}],'meters':{}},"
                "{'phase':'n1 blocked','count':1,'time_s':5,'incident':true,'energy_j':50,'spans':[],'meters':{}}]");
}

// What moved; what stood still is no event.
static void each_event(void **state)
{
    job_node nodes[] = {node_of("n1"), node_of("n2")};
    job_device devices[] = {{.name = "cxi0"}, {.node = 1, .name = "cxi1"}};
    job_event all[] = {{.source = "cxi",
                        .counter = "retries",
                        .unit = "packets",
                        .sum = 30,
                        .known = true,
                        .devices = 2,
                        .worst = 1,
                        .worst_sum = 20},
                       {.source = "cxi", .counter = "still", .unit = "", .known = true},
                       {.source = "cgroup",
                        .counter = "oom_kills",
                        .unit = "events",
                        .sum = 0.5,
                        .known = true,
                        .devices = 1,
                        .worst = JOB_NONE,
                        .worst_sum = 7,
                        .background = true}};
    job_report r = blank();
    (void)state;
    r.nodes = nodes;
    r.node_count = COUNT(nodes);
    r.devices = devices;
    r.device_count = COUNT(devices);
    r.events = all;
    r.event_count = COUNT(all);
    expect_part(&r, "events",
                "[{'source':'cxi','counter':'retries','unit':'packets','delta':30,'device_count':2,'worst_host':'n2',"
                "'worst_device':'cxi1','worst_delta':20,'is_background':false},"
                "{'source':'cgroup','counter':'oom_kills','unit':'events','delta':0.5,'device_count':1,"
                "'is_background':true}]");
}

static void regions_of_the_ranks(void **state)
{
    regions_node nodes[] = {
        {.name = "main", .parent = REGIONS_NONE, .cell_count = 4, .sums = {.calls = 4}, .mean_ns = 2.5e9, .share = 1},
        {.name = "step",
         .parent = 0,
         .depth = 1,
         .cell_count = 3,
         .sums = {.calls = 70},
         .mean_ns = 5e8,
         .share = 0.2}};
    job_report r = blank();
    (void)state;
    r.regions.nodes = nodes;
    r.regions.node_count = COUNT(nodes);
    expect_part(&r, "regions",
                "[{'path':'main','calls':4,'rank_count':4,'mean_s':2.5,'share':1},"
                "{'path':'main/step','calls':70,'rank_count':3,'mean_s':0.5,'share':0.2}]");
}

// As many columns as there are samples, and 200 at most: of a process that ran on the second node from the first second on.
static void columns_of_regions_over_time(void **state)
{
    static const struct {
        double end_s, interval_s;
        size_t columns;
    } rows[] = {{4, 1, 4}, {4, 1.25, 4}, {0.5, 1, 1}, {199, 1, 199}, {201, 1, 200}, {400, 1, 200}, {4, NAN, 200}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        job_node nodes[] = {node_of("n1"), node_of("n2")};
        job_region_place place = {.at = 1, .next = JOB_NONE, .ranks = 3, .threads_s = 12.5, .threads = job_bins_make()};
        job_region_time times[] = {{.name = "step", .own_s = 9, .calls = 20, .bytes = 700},
                                   {.name = "x", .others = true, .own_s = 1, .calls = 2, .bytes = 7}};
        job_report r = blank();
        json_object *part, *list, *one, *x;
        job_bins_add(place.threads, r.begin_ns, r.begin_ns + (int64_t)(rows[i].end_s * 1e9), 1, 1, 1);
        nodes[1].first_place = 0;
        r.nodes = nodes;
        r.node_count = COUNT(nodes);
        r.end_s = rows[i].end_s;
        r.interval_s = rows[i].interval_s;
        r.region_places = &place;
        r.region_place_count = 1;
        r.region_times = times;
        r.region_time_count = COUNT(times);
        if (i == 0)
            expect_part(&r, "regions_over_time",
                        "{'process_count':3,'threads_s':12.5,'column_s':1,'regions':[{'region':'step','own_s':9,"
                        "'calls':20,'declared_bytes':700,'share':[0.0,0.0,0.0,0.0],'share_by_host':{'n2':[0.0,0.0,0.0,"
                        "0.0]}},{'own_s':1,'calls':2,'declared_bytes':7,'share':[0.0,0.0,0.0,0.0],"
                        "'share_by_host':{'n2':[0.0,0.0,0.0,0.0]}}]}");
        json_object *all = job_report_json(&r);
        assert_true(json_object_object_get_ex(all, "regions_over_time", &part) &&
                    json_object_object_get_ex(part, "regions", &list) &&
                    json_object_object_get_ex(part, "column_s", &x));
        one = json_object_array_get_idx(list, 0);
        assert_true(json_object_object_get_ex(one, "share", &list));
        if (json_object_array_length(list) != rows[i].columns)
            fail_msg("%zu: %zu columns", i, json_object_array_length(list));
        assert_true(fabs(json_object_get_double(x) - rows[i].end_s / (double)rows[i].columns) < 1e-6);
        json_object_put(all);
        r.node_count = 1; // of one node nothing is said beside the whole
        place.at = 0;
        nodes[0].first_place = 0;
        all = job_report_json(&r);
        assert_true(json_object_object_get_ex(all, "regions_over_time", &part) &&
                    json_object_object_get_ex(part, "regions", &list));
        assert_false(json_object_object_get_ex(json_object_array_get_idx(list, 0), "share_by_host", &x));
        json_object_put(all);
        job_bins_free(place.threads);
    }
}

static void what_the_nics_moved(void **state)
{
    job_node nodes[] = {node_of("n1"), node_of("n2"), node_of("n3")};
    job_explained_node of[] = {
        {.node = 2, .nic_sent = 100, .nic_received = 200, .sent = {11, 12}, .received = {13, 14}, .lower_bound = true},
        {.node = 0, .nic_sent = 300, .nic_received = 400, .sent = {21, 22}, .received = {23, 24}}};
    job_report r = blank();
    (void)state;
    r.nodes = nodes;
    r.node_count = COUNT(nodes);
    r.explained = (job_explained){.layers = {"MPI", "NCCL"},
                                  .layer_count = 2,
                                  .nodes = of,
                                  .node_count = 2,
                                  .nic_sent = 400,
                                  .nic_received = 600,
                                  .sent = {32, 34},
                                  .received = {36, 38},
                                  .within = 5,
                                  .together = 6,
                                  .outside = 7,
                                  .lower_bound = true,
                                  .at_least = {false, true},
                                  .partial = true,
                                  .text = "a sentence"};
    expect_part(
        &r, "bytes_explained",
        "{'text':'a sentence','tx_bytes':400,'rx_bytes':600,'layers':["
        "{'layer':'MPI','tx_bytes':32,'rx_bytes':36},"
        "{'layer':'NCCL','tx_bytes':34,'rx_bytes':38,'lower_bound':true}],'within_hosts_bytes':5,"
        "'collective_bytes':6,'elsewhere_bytes':7,'lower_bound':true,'virtual_interfaces':false,"
        "'hosts_left_out':true,'hosts':[{'host':'n3','tx_bytes':100,'rx_bytes':200,'lower_bound':true,'layers':["
        "{'layer':'MPI','tx_bytes':11,'rx_bytes':13},{'layer':'NCCL','tx_bytes':12,'rx_bytes':14,"
        "'lower_bound':true}]},{'host':'n1','tx_bytes':300,'rx_bytes':400,'lower_bound':false,'layers':["
        "{'layer':'MPI','tx_bytes':21,'rx_bytes':23},{'layer':'NCCL','tx_bytes':22,'rx_bytes':24,"
        "'lower_bound':true}]}]}");
    r.explained.layer_count = r.explained.node_count = 1;
    r.explained.lower_bound = r.explained.partial = false;
    r.explained.is_virtual = true;
    expect_part(&r, "bytes_explained",
                "{'text':'a sentence','tx_bytes':400,'rx_bytes':600,'layers':["
                "{'layer':'MPI','tx_bytes':32,'rx_bytes':36}],'within_hosts_bytes':5,"
                "'collective_bytes':6,'elsewhere_bytes':7,'lower_bound':false,'virtual_interfaces':true,"
                "'hosts_left_out':false,'hosts':[{'host':'n3','tx_bytes':100,'rx_bytes':200,'lower_bound':true,"
                "'layers':[{'layer':'MPI','tx_bytes':11,'rx_bytes':13}]}]}");
}

// Of every allocation and every account: its name in JSON, and what a sentence calls it.
static void names_of_accounts(void **state)
{
    static const struct {
        job_basis basis;
        const char *name, *text;
    } bases[] = {{JOB_BASIS_NODE, "node", "all CPUs of the node"},
                 {JOB_BASIS_AFFINITY, "affinity", "the CPUs that its threads may run on"},
                 {JOB_BASIS_SCHEDULER, "scheduler", "what the scheduler gave"},
                 {JOB_BASIS_CPUSET, "cpuset", "its cpuset"},
                 {JOB_BASIS_QUOTA, "quota", "its CPU quota"},
                 {JOB_BASIS_MIXED, "mixed", "differing by node"},
                 {JOB_BASIS_REQUEST, "request", "the memory requested"},
                 {JOB_BASIS_CGROUP, "cgroup", "the limit of its control group"},
                 {JOB_BASIS_NODE_MEMORY, "node", "all memory of the node"},
                 {JOB_BASIS_LIMIT, "limit", "the time limit"}};
    static const struct {
        job_measure by;
        const char *name, *text;
    } measures[] = {{JOB_BY_GROUP, "cgroup", "by its control group"},
                    {JOB_BY_PROCESSES, "processes", "by its processes"},
                    {JOB_BY_CLOCK, "task_clock", "by perf\u2019s clock of its tasks, for processes ended unseen"},
                    {JOB_BY_PARTS, "proportional", "by its processes, each with its part of what they share"},
                    {JOB_BY_RESIDENT, "resident", "by its processes, what they share counted in each"},
                    {JOB_BY_NODE, "node", "by the whole node"},
                    {JOB_BY_MIXED, "mixed", "measured differently by node"}};
    (void)state;
    for (size_t i = 0; i < COUNT(bases); i++) {
        assert_string_equal(job_basis_name(bases[i].basis), bases[i].name);
        assert_string_equal(job_basis_text(bases[i].basis), bases[i].text);
    }
    for (size_t i = 0; i < COUNT(measures); i++) {
        assert_string_equal(job_measure_name(measures[i].by), measures[i].name);
        assert_string_equal(job_measure_text(measures[i].by), measures[i].text);
    }
    assert_null(job_basis_name(JOB_BASIS_NONE));
    assert_null(job_measure_name(JOB_BY_NOTHING));
    assert_string_equal(job_basis_text(JOB_BASIS_NONE), "");
    assert_string_equal(job_measure_text(JOB_BY_NOTHING), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_report_itself),
        cmocka_unit_test(when_the_pod_began),
        cmocka_unit_test(what_was_used),
        cmocka_unit_test(used_of_what_was_given),
        cmocka_unit_test(where_the_energy_went),
        cmocka_unit_test(what_it_was_bound_by),
        cmocka_unit_test(nodes_and_devices),
        cmocka_unit_test(each_finding),
        cmocka_unit_test(each_phase),
        cmocka_unit_test(each_event),
        cmocka_unit_test(regions_of_the_ranks),
        cmocka_unit_test(columns_of_regions_over_time),
        cmocka_unit_test(what_the_nics_moved),
        cmocka_unit_test(names_of_accounts),
    };
    return cmocka_run_group_tests_name("job_json_parts", tests, NULL, NULL);
}
