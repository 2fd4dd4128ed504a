#include "job_words.h"

#include "analysis/rules/rules.h"
#include "analysis/base/words.h"

#include <math.h>
#include <stdio.h>

const char *job_share_text(char *text, size_t size, double share)
{
    return rules_format(text, size, "%", share);
}

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

const char *job_time_text(char *text, size_t size, double at_s, double of_s)
{
    snprintf(text, size, "%s", words_moment(at_s, of_s).text);
    return text;
}

const char *job_length_text(char *text, size_t size, double length_s)
{
    snprintf(text, size, "%s", words_duration(length_s).text);
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

const char *job_energy_text(char *text, size_t size, double joules)
{
    snprintf(text, size, "%s", words_energy(joules).text);
    return text;
}
