#include "job_words.h"

#include <stdio.h>

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
