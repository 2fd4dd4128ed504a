#include "job_words.h"
#include "job_sources.h"

#include <stdio.h>
#include <string.h>

const char *job_nodes_text(char *text, size_t size, const char *first, size_t count)
{
    if (count <= 1)
        snprintf(text, size, "%s", first);
    else if (count == 2)
        snprintf(text, size, "%s and another node", first);
    else
        snprintf(text, size, "%s and %zu other nodes", first, count - 1);
    return text;
}

const char *job_basis_text(job_basis basis)
{
    static const char *const texts[] = {"",
                                        "all CPUs of the node",
                                        "the CPUs that its threads may run on",
                                        "what the scheduler gave",
                                        "its cpuset",
                                        "its CPU quota",
                                        "differing by node",
                                        "the memory requested",
                                        "the limit of its control group",
                                        "all memory of the node",
                                        "the time limit"};
    return texts[basis];
}

const char *job_basis_name(job_basis basis)
{
    static const char *const names[] = {NULL,    "node",    "affinity", "scheduler", "cpuset", "quota",
                                        "mixed", "request", "cgroup",   "node",      "limit"};
    return names[basis];
}

const char *job_measure_text(job_measure by)
{
    static const char *const texts[] = {"",
                                        "by its control group",
                                        "by its processes",
                                        "by perf\u2019s clock of its tasks, for processes ended unseen",
                                        "by its processes, each with its part of what they share",
                                        "by its processes, what they share counted in each",
                                        "by the whole node",
                                        "measured differently by node"};
    return texts[by];
}

const char *job_measure_name(job_measure by)
{
    static const char *const names[] = {NULL,           "cgroup",   "processes", "task_clock",
                                        "proportional", "resident", "node",      "mixed"};
    return names[by];
}

bool job_is_of_peers(const char *name)
{
    static const char *const names[] = {"nic-peers", "rdma-peers", "eth-peers",
                                        "gpu-peers", "node-peers", "node-settings"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

bool job_is_known(const job_report *r)
{
    static const char *const told[] = {"job_id", "job_name", "job_step", "scheduler", "rank_count", "command"};
    for (size_t i = 0; i < r->fact_count; i++)
        for (size_t k = 0; k < sizeof told / sizeof *told; k++)
            if (strcmp(r->facts[i].key, told[k]) == 0) return true;
    for (size_t i = 0; i < r->node_count; i++)
        for (int m = 0; m < JOB_METERS; m++)
            if (r->nodes[i].scope[m] == JOB_SCOPE_JOB || r->nodes[i].scope[m] == JOB_SCOPE_GROUP) return true;
    return r->rank_count > 0 || r->region_place_count > 0;
}

const char *job_incident_words(job_meter meter)
{
    const job_watch_row *watch = job_watch_of(meter);
    return watch ? watch->words : NULL;
}
