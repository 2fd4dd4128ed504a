#include "job_words.h"

#include "analysis/rules/rules.h"

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
    if (of_s < 10) {
        snprintf(text, size, "%.*f s", of_s < 0.1 ? 4 : of_s < 1 ? 3 : 1, at_s);
        return text;
    }
    long long whole = llround(at_s);
    if (of_s >= 3660)
        snprintf(text, size, "%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60, whole % 60);
    else
        snprintf(text, size, "%lld:%02lld", whole / 60, whole % 60);
    return text;
}

const char *job_length_text(char *text, size_t size, double length_s)
{
    long long whole = llround(length_s);
    if (isnan(length_s))
        snprintf(text, size, "unknown");
    else if (length_s < 0.0995)
        snprintf(text, size, "%.3g ms", length_s * 1e3);
    else if (length_s < 9.95)
        snprintf(text, size, "%.1f s", length_s);
    else if (whole < 120)
        snprintf(text, size, "%lld s", whole);
    else if (whole < 3600 && whole % 60)
        snprintf(text, size, "%lld min %lld s", whole / 60, whole % 60);
    else if (whole < 3600)
        snprintf(text, size, "%lld min", whole / 60);
    else if (whole < 172800 && whole / 60 % 60)
        snprintf(text, size, "%lld h %lld min", whole / 3600, whole / 60 % 60);
    else if (whole < 172800)
        snprintf(text, size, "%lld h", whole / 3600);
    else
        snprintf(text, size, "%lld days %lld h", whole / 86400, whole / 3600 % 24);
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

// "2.36 kW".
const char *job_quantity_text(char *text, size_t size, double value, const char *unit)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
    size_t i = 0;
    while (fabs(value) >= 999.5 && i + 1 < sizeof prefixes / sizeof *prefixes)
        value /= 1000, i++;
    snprintf(text, size, "%.*f %s%s", fabs(value) < 9.995 ? 2 : fabs(value) < 99.95 ? 1 : 0, value, prefixes[i], unit);
    return text;
}

const char *job_energy_text(char *text, size_t size, double joules)
{
    return fabs(joules) >= 3.6e5 ? job_quantity_text(text, size, joules / 3600, "Wh")
                                 : job_quantity_text(text, size, joules, "J");
}
