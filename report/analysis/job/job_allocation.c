// The resources that the job was given on each node, and how much of them it used, as seff and jobstats report them.
#include "job_nodelist.h"
#include "job_words.h"
#include "job_store.h"
#include "analysis/base/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- what a node's part of the job may use ----

typedef struct cpus {
    double count;
    job_basis basis;
} cpus;

// A smaller one binds; one that is not known binds nothing.
static void job_bind_cpus(cpus *to, double count, job_basis basis)
{
    if (count > 0 && !(count >= to->count)) *to = (cpus){count, basis};
}

bool job_limit_binds(const job_node_reader *x)
{
    return x->memory_limit > 0 && !(x->memory_limit >= x->memory_total);
}

// The allocation is the scheduler's and the cpuset's, whichever is smaller. Where threads may run tells of it only where
// nothing else does: programs bind their threads themselves. A quota holds whatever the rest is.
void job_allocate(job_report *r, size_t index)
{
    const job_node_reader *more = &r->reader->nodes[index];
    job_node *node = &r->nodes[index];
    cpus x = {NAN, JOB_BASIS_NONE};
    if (!(more->cpuset >= more->cpus)) job_bind_cpus(&x, more->cpuset, JOB_BASIS_CPUSET);
    job_bind_cpus(&x, more->scheduler_cpus, JOB_BASIS_SCHEDULER);
    if (!x.basis && !(more->affinity >= more->cpus)) job_bind_cpus(&x, more->affinity, JOB_BASIS_AFFINITY);
    if (!x.basis) job_bind_cpus(&x, more->cpus, JOB_BASIS_NODE);
    if (more->quota > 0 && more->period > 0) job_bind_cpus(&x, more->quota / more->period, JOB_BASIS_QUOTA);
    node->cpus = more->cpus;
    node->cpus_allocated = x.count;
    node->cpus_basis = x.basis;
    node->memory_requested = more->scheduler_memory;
}

static double job_fact_number(const dataset_run *run, const char *key)
{
    const char *text = dataset_fact(run, key);
    char *end;
    if (!text || *text < '0' || *text > '9') return NAN;
    double value = strtod(text, &end);
    return *end || !(value < 1e18) ? NAN : value;
}

// The first file that says so counts.
static void job_take_first(double *to, double value)
{
    if (isnan(*to)) *to = value;
}

// The parts of a heterogeneous job have lists of their own.
static void job_take_nodes(job_report *r, const char *list, double count)
{
    job_reader *reader = r->reader;
    if (count >= 1 && count <= JOB_NODELIST_MOST && count > (double)reader->given_count)
        reader->given_count = (size_t)count;
    if (!list || (reader->given_list && strcmp(reader->given_list, list) == 0)) return;
    char **names = job_nodelist(list);
    size_t before = arrlenu(reader->given_nodes); // a list does not repeat itself
    for (size_t i = 0; i < arrlenu(names); i++) {
        bool known = false;
        for (size_t k = 0; k < before && !known; k++)
            known = strcmp(reader->given_nodes[k], names[i]) == 0;
        if (!known) arrput(reader->given_nodes, memory_strdup(names[i]));
    }
    job_nodelist_free(names);
    free(reader->given_list);
    reader->given_list = memory_strdup(list);
}

void job_take_allocation(job_report *r, size_t node, const dataset_run *run)
{
    job_node_reader *more = &r->reader->nodes[node];
    const char *limit = dataset_fact(run, "job_time_limit_s");
    job_take_first(&more->scheduler_cpus, job_fact_number(run, "job_cpus_on_node"));
    job_take_first(&more->scheduler_memory, job_fact_number(run, "job_memory_on_node"));
    job_take_nodes(r, dataset_fact(run, "job_nodes"), job_fact_number(run, "job_node_count"));
    job_take_first(&r->reader->start_s, job_fact_number(run, "job_start_s"));
    r->pod_start_s = fmin(r->pod_start_s, job_fact_number(run, "pod_start_s"));
    job_take_first(&r->reader->limit_s,
                   limit && strcmp(limit, "unlimited") == 0 ? INFINITY : job_fact_number(run, "job_time_limit_s"));
}

// ---- how much of it was used ----

static bool job_is_own(const job_node *node, job_meter meter)
{
    return node->lanes[meter] && (node->scope[meter] == JOB_SCOPE_JOB || node->scope[meter] == JOB_SCOPE_GROUP);
}

static void job_add_basis(job_efficiency *e, job_basis basis)
{
    if (!e->basis)
        e->basis = basis;
    else if (e->basis != basis)
        e->basis = JOB_BASIS_MIXED;
}

// In which it was, or should have been, recorded.
static double job_node_time(const job_node *node)
{
    double time = node->end_s - node->begin_s;
    for (size_t i = 0; i < node->gap_count; i++)
        if (node->gaps[i].idle) time -= node->gaps[i].to_s - node->gaps[i].from_s;
    return time;
}

static job_efficiency job_cpu_efficiency(const job_report *r)
{
    job_efficiency e = {.used = NAN, .of = NAN, .left = NAN, .node = JOB_NONE};
    for (size_t i = 0; i < r->node_count; i++) {
        const job_node *node = &r->nodes[i];
        if (!job_is_own(node, JOB_CPU) || isnan(node->lanes[JOB_CPU]->total) || !(node->cpus_allocated > 0)) continue;
        double of = node->cpus_allocated * job_node_time(node);
        e.used = isnan(e.used) ? node->lanes[JOB_CPU]->total : e.used + node->lanes[JOB_CPU]->total;
        e.of = isnan(e.of) ? of : e.of + of;
        e.lower_bound |= node->lanes[JOB_CPU]->lower_bound;
        e.by = !e.by || e.by == node->cpu_by ? node->cpu_by : JOB_BY_MIXED;
        job_add_basis(&e, node->cpus_basis);
        e.nodes++;
    }
    return e;
}

// Of the node that came nearest to what it was given.
static job_efficiency job_memory_efficiency(const job_report *r)
{
    job_efficiency e = {.used = NAN, .of = NAN, .left = NAN, .node = JOB_NONE};
    for (size_t i = 0; i < r->node_count; i++) {
        const job_node *node = &r->nodes[i];
        const job_node_reader *more = &r->reader->nodes[i];
        const job_lane *lane = node->lanes[JOB_MEMORY];
        if (!job_is_own(node, JOB_MEMORY)) continue;
        bool limited = job_limit_binds(more);
        double of = node->memory_requested > 0 ? node->memory_requested
                    : limited                  ? more->memory_limit
                                               : more->memory_total;
        if (!(of > 0)) continue;
        e.nodes++;
        if (lane->high / of <= e.used / e.of) continue;
        e.used = lane->high;
        e.upper_bound = lane->upper_bound;
        e.lower_bound = (node->memory_by == JOB_BY_PARTS || node->memory_by == JOB_BY_GROUP) && lane->lower_bound;
        e.by = node->memory_by;
        e.of = of;
        e.node = i;
        e.basis = node->memory_requested > 0 ? JOB_BASIS_REQUEST : limited ? JOB_BASIS_CGROUP : JOB_BASIS_NODE_MEMORY;
    }
    return e;
}

// Up to the end of the recordings, from the begin of the job where that is told; else theirs.
static job_efficiency job_time_efficiency(const job_report *r)
{
    job_efficiency e = {
        .used = r->end_s, .of = r->reader->limit_s, .left = NAN, .node = JOB_NONE, .basis = JOB_BASIS_LIMIT};
    double begin = (double)r->begin_ns * 1e-9, end = begin + r->end_s;
    bool known = r->reader->start_s > 0 && end >= r->reader->start_s;
    if (known) e.used = end - r->reader->start_s;
    if (isfinite(e.of) && known) e.left = fmax(0, e.of - e.used);
    e.nodes = r->node_count;
    return e;
}

void job_make_efficiency(job_report *r)
{
    r->efficiency[JOB_EFFICIENCY_CPU] = job_cpu_efficiency(r);
    r->efficiency[JOB_EFFICIENCY_MEMORY] = job_memory_efficiency(r);
    r->efficiency[JOB_EFFICIENCY_TIME] = job_time_efficiency(r);
}

// "4 CPUs a node: its cpuset", "the memory requested, on n04", "the time limit; 47 min 30 s were left".
const char *job_efficiency_text(char *text, size_t size, const job_report *r, job_efficiency_of of)
{
    const job_efficiency *e = &r->efficiency[of];
    bool several = r->node_count > 1;
    double least = INFINITY, most = 0;
    snprintf(text, size, "%s", job_basis_text(e->basis));
    if (of == JOB_EFFICIENCY_TIME && !isnan(e->left))
        snprintf(text, size, "%s; %s were left", job_basis_text(e->basis), words_duration(e->left).text);
    if (of == JOB_EFFICIENCY_MEMORY && several && e->node != JOB_NONE)
        snprintf(text, size, "%s, on %s", job_basis_text(e->basis), r->nodes[e->node].name);
    if (of != JOB_EFFICIENCY_CPU) return text;
    for (size_t i = 0; i < r->node_count; i++) {
        if (!job_is_own(&r->nodes[i], JOB_CPU)) continue;
        least = fmin(least, r->nodes[i].cpus_allocated);
        most = fmax(most, r->nodes[i].cpus_allocated);
    }
    if (!(most > 0)) return text;
    if (most > least)
        snprintf(text, size, "%s to %s CPUs a node: %s", words_number(least).text, words_number(most).text,
                 job_basis_text(e->basis));
    else
        snprintf(text, size, "%s CPU%s%s: %s", words_number(most).text, most > 1 ? "s" : "", several ? " a node" : "",
                 job_basis_text(e->basis));
    return text;
}
