// The rules, and making findings of them.

#include "nccl_findings_make.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "analysis/peers/peers.h"

#include <math.h>

#include <stdio.h>
#include <stdlib.h>

// ---- the rules ----

const nccl_rule nccl_finding_rules[NCCL_RULES + 1] = {
    [NCCL_RULE_LATE_RANK] =
        {"nccl-late-rank", "late", "of calls", 0.5,
         "own: last, alone, in more than half of the complete calls of a collective, a communicator "
         "or all, in two fifths of them beyond its even share, and not by chance (z > 5)",
         "look at this process: GPU clocks, data loader, CPU placement, other load on its cores", true},
    [NCCL_RULE_OFTEN_LATE] = {"nccl-often-late", "late", "of calls", 3,
                              "own: last three times as often as its even share, and not by chance (z > 5)",
                              "look at this process: GPU clocks, data loader, CPU placement, other load on its cores",
                              true},
    [NCCL_RULE_EARLY_RANK] = {"nccl-early-rank", "late", "x", PEERS_APART,
                              "own: its calls alone are half longer than those of the others, and more than these vary",
                              "this rank has less to do before the collective than the others: balance their work",
                              false},
    [NCCL_RULE_LATE_HOST] = {"nccl-late-host", "late", "of calls", 0.1,
                             "own: last, alone, in a tenth of the complete calls with other hosts beyond its even "
                             "share, and not by chance (z > 5)",
                             "look at this host as a whole: power and clock limits, memory, other jobs, storage", true},
    [NCCL_RULE_SLOW_HOST] = {"nccl-slow-host", "wire", "x", 1.25,
                             "own: the communicators with this host (nine of ten at least) take a quarter longer than "
                             "the middle of their equals without it, and not by chance (z > 5)",
                             "look at the NICs and links of this host: netprof check, cables, PCIe width, NVLink state",
                             true},
    [NCCL_RULE_SLOW_COMMUNICATOR] = {"nccl-slow-communicator", "wire", "x", 1.25,
                                     "own: the wire time is a quarter above the middle of its equals, and not by "
                                     "chance (z > 5)",
                                     "compare its hosts, switches and rails with those of the others", true},
    [NCCL_RULE_SLOWER] = {"nccl-slower", "wire", "x", 1 + NCCL_COMPARE_CHANGE,
                          "own: median wire time of the compared job + 10 %, and not by chance (z > 5)",
                          "compare nodes, placement, NCCL version and settings (NCCL_DEBUG=INFO) of the two jobs",
                          true},
    [NCCL_RULE_FASTER] = {"nccl-faster", "wire", "x", 1 + NCCL_COMPARE_CHANGE,
                          "own: median wire time of the compared job - 9 %, and not by chance (z > 5)", "", false},
    [NCCL_RULE_BELOW_PEAK] = {"nccl-below-peak", "wire", "of the peak", 0.5,
                              "own: the largest message reaches less than half of the given peak",
                              "check algorithm and protocol, number of channels and NICs that are used, and the peak "
                              "that was given",
                              true},
    [NCCL_RULE_WIRE_CHANGE] = {"nccl-wire-change", "wire", "x", 1.25,
                               "own: the medians before and after differ by a quarter, not by chance",
                               "look at what happened then: other jobs on the network, link errors, clocks", true},
    [NCCL_RULE_SKEW] = {"nccl-skew", "late", "x wire", 2,
                        "own: the median skew is above twice the median wire time and 1 ms",
                        "ranks do not arrive together: balance their work before the collective", true},
    [NCCL_RULE_LATE_PARTNER] = {"nccl-late-partner", "late", "x", 1.5,
                                "own: the median times of Send and Recv with this rank are half above those of their "
                                "equals with nearly all its partners, and its own are not",
                                "look at what this rank does before: its Send or Recv begins after its partners'",
                                false},
    [NCCL_RULE_SLOW_PARTNER] = {"nccl-slow-partner", "wire", "x", 1.5,
                                "own: the median times of Send and Recv, this rank's and those of nearly all its "
                                "partners with it, are half above those of their equals",
                                "look at the links and adapters of this rank, and at its GPU's way to them", false},
    [NCCL_RULE_SLOW_PAIR] = {"nccl-slow-pair", "wire", "x", 1.5,
                             "own: the median time of this pair is half above that of its equals",
                             "look at the path between the two ranks", false},
    [NCCL_RULE_SOCKETS] = {"nccl-sockets", "wire", "of operations", 0.5,
                           "own: more than half of what this host sends goes through sockets, and nothing of what most "
                           "others send",
                           "NCCL_DEBUG=INFO tells why on this host: NCCL_IB_DISABLE, NCCL_NET, drivers, state of the "
                           "ports, memory that may be locked",
                           false},
    [NCCL_RULE_SOCKETS_UNUSED] =
        {"nccl-rdma-unused", "wire", "of hosts", 0,
         "own: two hosts or more send, all through sockets, and one of them has an RDMA adapter whose port is active",
         "NCCL_DEBUG=INFO tells why: NCCL_IB_DISABLE, NCCL_NET, NCCL_IB_HCA, drivers, memory that may be locked, "
         "devices "
         "that a container does not see",
         false},
    [NCCL_RULE_UNEQUAL_MEMBERS] =
        {"nccl-unequal-members", "wire", "of an even share", 0.5,
         "own: of the adapters that are joined to one network device, one carries less than half of an even share of "
         "what "
         "the rank sends",
         "look at the ports of both adapters (netprof check); NCCL_IB_QPS_PER_CONNECTION and NCCL_IB_SPLIT_DATA_ON_QPS "
         "decide how much each gets",
         false},
    [NCCL_RULE_OTHER_ADAPTER] =
        {"nccl-other-adapter", "wire", "of hosts", 0.75,
         "own: on three quarters of the hosts, three at least, processes of this place send through one adapter",
         "NCCL_DEBUG=INFO with NCCL_DEBUG_SUBSYS=GRAPH tells why on this host: state of the ports, PCIe topology, "
         "NCCL_IB_HCA",
         false},
    [NCCL_RULE_SLOW_RAIL] =
        {"nccl-slow-rail", "wire", "x", 1.5,
         "own: nine of ten ways between processes of the same place on three hosts or more are on the wire half longer "
         "than the lower quartile of all, at most a quarter of the others is",
         "look at this rail: its switch, and the NICs of this place on all hosts", true},
    [NCCL_RULE_SLOW_SENDER] =
        {"nccl-slow-sender", "wire", "x", 1.5,
         "own: a step waits half longer than the lower quartile of all, with nine of ten partners, theirs "
         "with others do not, and it is far from how others spread (z > 5)",
         "look at this GPU and its NIC: clocks, PCIe width, cable, netprof check", true},
    [NCCL_RULE_SLOW_RECEIVER] =
        {"nccl-slow-receiver", "wire", "x", 1.5,
         "own: a step waits half longer than the lower quartile of all, with nine of ten partners, "
         "theirs with others do not, and it is far from how others spread (z > 5)",
         "look at this GPU and its NIC: PCIe width, GPUDirect, memory, netprof check", true},
    [NCCL_RULE_SLOW_LINK] =
        {"nccl-slow-link", "wire", "x", 1.5,
         "own: a step is on the wire half longer than the lower quartile of all, and it is far from how "
         "others spread (z > 5); with other partners neither side is slow",
         "look at the path between the two: switches, rails, routing, what else uses it", true},
    [NCCL_RULE_PLUGIN_DROPPED] = {"nccl-plugin-dropped", "data", "of records", 0, "the plugin's own count (dump_stats)",
                                  "of the Inspector: raise NCCL_INSPECTOR_DUMP_COLL_RING_SIZE, or dump more often",
                                  false},
    [NCCL_RULE_PARTS_DROPPED] =
        {"nccl-parts-dropped", "data", "of parts", 0.01,
         "own: of the operations, steps and kernels of a rank the plugin lost more than 1 %, by its "
         "own count; fewer are said, and judged without",
         "record less: NETPROF_NCCL=proxy leaves out steps, NETPROF_NCCL=coll all but calls", false},
    [NCCL_RULE_RECORDS_MISSING] =
        {"nccl-records-missing", "data", "of calls", 0.05, "own: more than 5 % of the calls lack records of some ranks",
         "collect the logs of all ranks; raise NCCL_INSPECTOR_DUMP_COLL_RING_SIZE, or dump more often", false},
    [NCCL_RULE_LOGS_DAMAGED] = {"nccl-logs-damaged", "data", "of lines", 0.01,
                                "own: a file is cut, or 1 % of the lines cannot be used",
                                "see lines.csv for the files; were processes killed before they wrote, or disks full?",
                                false},
    [NCCL_RULE_CONFLICTS] = {"nccl-conflicting-records", "data", "of records", 0,
                             "own: a rank has two times for one call", "are logs of several jobs mixed here?", false},
    [NCCL_RULE_DISAGREEING] = {"nccl-disagreeing-bandwidth", "data", "of records", 0.001,
                               "own: logged and recomputed bandwidth differ by more than 0.1 %",
                               "the recomputed one is used; which version of the plugin wrote these logs?", false},
    [NCCL_RULE_INVALID_SIZES] = {"nccl-invalid-size", "data", "records", 0, "a message size above 2^62 is an overflow",
                                 "the plugin writes such sizes for data types that it does not know; they are left out",
                                 false},
    [NCCL_RULE_DUPLICATES] = {"nccl-duplicates", "data", "records", 0, "the same record was read before",
                              "are files here twice, plain and compressed?", false},
    [NCCL_RULE_MEAN_MISLEADS] = {"nccl-mean-misleads", "late", "of the wire's", 0.8,
                                 "own: the mean over ranks is below 80 % of what the wire moves",
                                 "read the wire time: a mean over ranks counts waiting as network", false},
    [NCCL_RULE_CROSS_RAIL] = {"nccl-cross-rail", "network", "of bytes between hosts", 0.1, "own: a tenth or more",
                              "where rails have switches of their own, NCCL_CROSS_NIC=0 and PXN keep traffic on them",
                              false},
    [NCCL_RULE_NIC_COUNTERS] = {"nccl-nic-counters", "network", "counters that moved", 0,
                                "what a recording of the same host and time holds",
                                "netprof check on the recording judges them", false},
    [NCCL_RULES] = {NULL, NULL, NULL, 0, NULL, NULL, false}};

const nccl_rule *nccl_rules(void)
{
    return nccl_finding_rules;
}

// ---- making findings ----

nccl_finding *nccl_finding_add(nccl_findings_making *m, int which, severity s, double value, char *claim)
{
    nccl_finding finding = {.rule = &nccl_finding_rules[which],
                            .severity = s,
                            .value = value,
                            .claim = claim,
                            .device = "logs",
                            .communicator = NCCL_NONE,
                            .operation = NCCL_NONE,
                            .series = NCCL_NONE,
                            .member = NCCL_NONE,
                            .host = NCCL_NONE,
                            .receiver = NCCL_NONE,
                            .rail = NCCL_NONE,
                            .cost_us = NAN,
                            .cost_share = NAN};
    arrput(m->f->items, finding);
    m->f->count++;
    return &arrlast(m->f->items);
}

void nccl_finding_unknown(nccl_findings_making *m, char *text)
{
    arrput(m->f->unknown, text);
    m->f->unknown_count++;
}

void nccl_finding_evidence(nccl_finding *x, char *name, double value, const char *unit)
{
    if (x->evidence_count < NCCL_EVIDENCE)
        x->evidence[x->evidence_count++] = (nccl_evidence){name, value, unit};
    else
        free(name);
}

words_text nccl_finding_time(double us)
{
    return words_duration(us / 1e6);
}

words_text nccl_finding_rate(double gbs)
{
    return words_quantity(gbs * 1e9, "B/s");
}

char *nccl_finding_process(const nccl *n, uint32_t process)
{
    const nccl_member *of = nccl_widest_member(n, process);
    return memory_format("rank %lld of %s, on host %s,", (long long)of->rank, n->communicators[of->communicator].label,
                         n->hosts[n->processes[process].host].name);
}

char *nccl_finding_rank(const nccl *n, uint32_t member)
{
    const nccl_member *of = &n->members[member], *widest = nccl_widest_member(n, of->process);
    // Of two communicators that are as wide, where it has the same number in both, neither is named.
    bool same = widest->rank == of->rank &&
                n->communicators[widest->communicator].ranks == n->communicators[of->communicator].ranks;
    if (!same) return nccl_finding_process(n, of->process);
    return memory_format("rank %lld on host %s", (long long)of->rank, nccl_finding_host(n, member));
}

const char *nccl_finding_host(const nccl *n, uint32_t member)
{
    return n->hosts[n->processes[n->members[member].process].host].name;
}

const nccl_cost_step nccl_cost_steps[] = {
    {0.10, SEVERITY_HIGH}, {0.03, SEVERITY_WARN}, {0.01, SEVERITY_WATCH}, {0, SEVERITY_INFO}};

severity nccl_finding_severity(double cost_share)
{
    const nccl_cost_step *step = nccl_cost_steps;
    while (step->share > 0 && !(cost_share >= step->share))
        step++;
    return step->severity;
}

words_text nccl_finding_cost(double cost_us, double cost_share)
{
    words_text t;
    snprintf(t.text, sizeof t.text, "%.40s, %.30s", nccl_finding_time(cost_us).text, words_share(cost_share).text);
    return t;
}

// ---- chance ----

void nccl_chance_add(nccl_chance *c, double count, double last, double p)
{
    c->count += count;
    c->last += last;
    c->expected += count * p;
    c->variance += count * p * (1 - p);
}

static double nccl_chance_of(const nccl_chance *c, double last)
{
    return c->variance > 0 ? (last - c->expected) / sqrt(c->variance) : 0;
}

double nccl_chance_z(const nccl_chance *c)
{
    return nccl_chance_of(c, c->last);
}

double nccl_chance_needed(const nccl_chance *c)
{
    double each = nccl_chance_of(c, c->count) / sqrt(c->count); // z grows with the root of the calls
    double needed = each > 0 ? ceil(NCCL_BY_CHANCE * NCCL_BY_CHANCE / (each * each)) : NCCL_LEAST_CALLS;
    return needed > NCCL_LEAST_CALLS ? needed : NCCL_LEAST_CALLS;
}

void nccl_findings_free(nccl_findings *f)
{
    for (size_t i = 0; i < f->count; i++) {
        for (size_t k = 0; k < f->items[i].evidence_count; k++)
            free(f->items[i].evidence[k].name);
        free(f->items[i].claim);
    }
    for (size_t i = 0; i < f->unknown_count; i++)
        free(f->unknown[i]);
    arrfree(f->items);
    arrfree(f->unknown);
    free(f->verdict);
    *f = (nccl_findings){0};
}
