#include "sources.h"

#include "sources_makers.h"

#include <string.h>

static const sources_entry entries[] = {
    {"process", "the job's processes: CPU time, memory, faults, I/O", true, sources_add_process},
    {"cgroup", "the job's control group: CPU time, throttling, memory, I/O", true, sources_add_cgroup},
    {"cpu", "CPU time of the node", false, sources_add_cpu},
    {"memory", "memory of the node", false, sources_add_memory},
    {"disk", "disks of the node", false, sources_add_disk},
    {"pressure", "time in which tasks waited for CPU, memory or I/O", false, sources_add_pressure},
    {"edac", "errors of the node's memory", false, sources_add_edac},
    {"energy", "energy and power limits by RAPL", false, sources_add_energy},
    {"hwmon", "temperatures, power and fans", false, sources_add_hwmon},
    {"perf", "performance events of the job or the node", false, sources_add_perf},
    {"gpu", "GPUs: use, memory, energy, clocks, throttling, links, errors", false, sources_add_gpu},
    {"self", "what recording costs", false, sources_add_self},
};

const sources_entry *sources_at(size_t index)
{
    return index < sizeof entries / sizeof *entries ? &entries[index] : NULL;
}

const sources_entry *sources_find(const char *name)
{
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (strcmp(entries[i].name, name) == 0) return &entries[i];
    return NULL;
}
