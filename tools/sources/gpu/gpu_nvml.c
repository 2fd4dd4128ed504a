// NVIDIA GPUs by libnvidia-ml.so.1, loaded and initialised once. Older libraries lack functions and older GPUs
// abilities: each value has a status of its own. What a call blocks for (nvmlDeviceGetPcieThroughput: 20 ms) is never
// asked; the PCIe bytes come from the counters that newer drivers have.
#define _GNU_SOURCE
#include "gpu_nvml.h"

#include "gpu_job.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *gpu_nvml_library = "libnvidia-ml.so.1";

// ---- the library, as of its header nvml.h ----

typedef void *nvml_device;

typedef struct nvml_pci {
    char legacy[16];
    unsigned domain, bus, device, id, subsystem;
    char text[32];
} nvml_pci;

typedef struct nvml_use {
    unsigned gpu, memory;
} nvml_use;

typedef struct nvml_memory {
    unsigned long long total, free, used;
} nvml_memory;

typedef struct nvml_violation {
    unsigned long long reference_us, violation_ns;
} nvml_violation;

typedef struct nvml_temperature {
    unsigned version;
    int sensor, celsius;
} nvml_temperature;

typedef struct nvml_field {
    unsigned id, scope;
    long long stamp, latency;
    unsigned type;
    int result;
    union {
        double d;
        int i;
        unsigned u;
        unsigned long ul;
        unsigned long long ull;
        long long ll;
    } value;
} nvml_field;

typedef struct nvml_process {
    unsigned pid;
    unsigned long long memory;
    unsigned gpu_instance, compute_instance;
} nvml_process;

typedef struct nvml_process_use {
    unsigned pid;
    unsigned long long stamp_us;
    unsigned gpu, memory, encoder, decoder;
} nvml_process_use;

enum {
    NVML_OK = 0,
    NVML_NOT_SUPPORTED = 3,
    NVML_NO_PERMISSION = 4,
    NVML_NOT_FOUND = 6,
    NVML_TOO_SMALL = 7,
    NVML_NO_DRIVER = 9,
    NVML_TIMEOUT = 10,
    NVML_NO_FUNCTION = 13,
    NVML_LOST = 15,
    NVML_RESET_NEEDED = 16,
    NVML_MISMATCH = 18,
    NVML_NO_DATA = 21,
    NVML_DEPRECATED = 26
};
enum { CLOCK_SM = 1, CLOCK_MEMORY = 2 };
enum {
    FIELD_MEMORY_TEMPERATURE = 82,
    FIELD_CRC_FLIT = 38,
    FIELD_CRC_DATA = 45,
    FIELD_REPLAY = 52,
    FIELD_RECOVERY = 59,
    FIELD_LINK_TX_KIB = 138,
    FIELD_LINK_RX_KIB = 139,
    FIELD_PCIE_TX = 197,
    FIELD_PCIE_RX = 198,
    FIELD_LINK_TX_BYTES = 202,
    FIELD_LINK_RX_BYTES = 204
};
enum { TYPE_DOUBLE = 0, TYPE_UINT, TYPE_ULONG, TYPE_ULLONG, TYPE_LLONG, TYPE_INT };
enum { LINKS = 64, PROCESSES = 512 }; // more than any GPU has; of processes the rest is not asked for
static const unsigned long long no_memory_figure = ~0ull;

struct gpu_nvml {
    void *library;
    int (*init)(void);
    int (*shutdown)(void);
    int (*driver)(char *text, unsigned size);
    int (*count)(unsigned *count);
    int (*device)(unsigned index, nvml_device *device);
    int (*name)(nvml_device device, char *text, unsigned size);
    int (*uuid)(nvml_device device, char *text, unsigned size);
    int (*pci)(nvml_device device, nvml_pci *pci);
    int (*use)(nvml_device device, nvml_use *use);
    int (*memory)(nvml_device device, nvml_memory *memory);
    int (*power)(nvml_device device, unsigned *milliwatts);
    int (*energy)(nvml_device device, unsigned long long *millijoules);
    int (*limit)(nvml_device device, unsigned *milliwatts);
    int (*limit_set)(nvml_device device, unsigned *milliwatts);
    int (*temperature)(nvml_device device, int sensor, unsigned *celsius);
    int (*temperature_v)(nvml_device device, nvml_temperature *temperature);
    int (*clock)(nvml_device device, int type, unsigned *mhz);
    int (*clock_max)(nvml_device device, int type, unsigned *mhz);
    int (*reasons)(nvml_device device, unsigned long long *bits);
    int (*reasons_old)(nvml_device device, unsigned long long *bits);
    int (*violation)(nvml_device device, int policy, nvml_violation *violation);
    int (*ecc)(nvml_device device, int type, int counter, unsigned long long *count);
    int (*rows)(nvml_device device, unsigned *corrected, unsigned *uncorrected, unsigned *pending, unsigned *failed);
    int (*replays)(nvml_device device, unsigned *count);
    int (*generation)(nvml_device device, unsigned *generation);
    int (*generation_max)(nvml_device device, unsigned *generation);
    int (*width)(nvml_device device, unsigned *width);
    int (*width_max)(nvml_device device, unsigned *width);
    int (*fan)(nvml_device device, unsigned *percent);
    int (*fields)(nvml_device device, int count, nvml_field *fields);
    int (*link_state)(nvml_device device, unsigned link, unsigned *up);
    int (*processes)(nvml_device device, unsigned *count, nvml_process *processes);
    int (*processes_2)(nvml_device device, unsigned *count, nvml_process *processes);
    int (*process_use)(nvml_device device, nvml_process_use *uses, unsigned *count, unsigned long long since);
    int (*mig_mode)(nvml_device device, unsigned *now, unsigned *pending);
    int (*mig_count)(nvml_device device, unsigned *count);
    int (*mig_device)(nvml_device device, unsigned index, nvml_device *part);
    char driver_version[80];
};

#define FUNCTION(member, name)                                                                                         \
    {                                                                                                                  \
        "nvml" name, offsetof(struct gpu_nvml, member)                                                                 \
    }
static const gpu_function functions[] = {
    FUNCTION(init, "Init_v2"),
    FUNCTION(shutdown, "Shutdown"),
    FUNCTION(driver, "SystemGetDriverVersion"),
    FUNCTION(count, "DeviceGetCount_v2"),
    FUNCTION(device, "DeviceGetHandleByIndex_v2"),
    FUNCTION(name, "DeviceGetName"),
    FUNCTION(uuid, "DeviceGetUUID"),
    FUNCTION(pci, "DeviceGetPciInfo_v3"),
    FUNCTION(use, "DeviceGetUtilizationRates"),
    FUNCTION(memory, "DeviceGetMemoryInfo"),
    FUNCTION(power, "DeviceGetPowerUsage"),
    FUNCTION(energy, "DeviceGetTotalEnergyConsumption"),
    FUNCTION(limit, "DeviceGetEnforcedPowerLimit"),
    FUNCTION(limit_set, "DeviceGetPowerManagementLimit"),
    FUNCTION(temperature, "DeviceGetTemperature"),
    FUNCTION(temperature_v, "DeviceGetTemperatureV"),
    FUNCTION(clock, "DeviceGetClockInfo"),
    FUNCTION(clock_max, "DeviceGetMaxClockInfo"),
    FUNCTION(reasons, "DeviceGetCurrentClocksEventReasons"),
    FUNCTION(reasons_old, "DeviceGetCurrentClocksThrottleReasons"),
    FUNCTION(violation, "DeviceGetViolationStatus"),
    FUNCTION(ecc, "DeviceGetTotalEccErrors"),
    FUNCTION(rows, "DeviceGetRemappedRows"),
    FUNCTION(replays, "DeviceGetPcieReplayCounter"),
    FUNCTION(generation, "DeviceGetCurrPcieLinkGeneration"),
    FUNCTION(generation_max, "DeviceGetMaxPcieLinkGeneration"),
    FUNCTION(width, "DeviceGetCurrPcieLinkWidth"),
    FUNCTION(width_max, "DeviceGetMaxPcieLinkWidth"),
    FUNCTION(fan, "DeviceGetFanSpeed"),
    FUNCTION(fields, "DeviceGetFieldValues"),
    FUNCTION(link_state, "DeviceGetNvLinkState"),
    FUNCTION(processes, "DeviceGetComputeRunningProcesses_v3"),
    FUNCTION(processes_2, "DeviceGetComputeRunningProcesses_v2"),
    FUNCTION(process_use, "DeviceGetProcessUtilization"),
    FUNCTION(mig_mode, "DeviceGetMigMode"),
    FUNCTION(mig_count, "DeviceGetMaxMigDeviceCount"),
    FUNCTION(mig_device, "DeviceGetMigDeviceHandleByIndex"),
    {NULL, 0},
};

static int gpu_nvml_errno_of(int result)
{
    switch (result) {
    case NVML_OK: return 0;
    case NVML_NOT_SUPPORTED:
    case NVML_NO_FUNCTION:
    case NVML_DEPRECATED: return EOPNOTSUPP;
    case NVML_NO_PERMISSION: return EACCES;
    case NVML_NOT_FOUND:
    case NVML_NO_DATA: return ENODATA;
    case NVML_NO_DRIVER: return ENXIO;
    case NVML_TIMEOUT: return ETIMEDOUT;
    case NVML_LOST:
    case NVML_RESET_NEEDED: return ENODEV;
    case NVML_MISMATCH: return ELIBBAD;
    default: return EIO;
    }
}

#define CALL(n, member, ...) ((n)->member ? gpu_nvml_errno_of((n)->member(__VA_ARGS__)) : EOPNOTSUPP)

// ---- one GPU ----

typedef struct nvml_gpu {
    gpu_nvml *n;
    nvml_device device;
    const sources_job *job;
    bool part;                  // a MIG device: it has memory and processes of its own, the rest is the whole GPU's
    bool link_bytes;            // links count bytes; older ones KiB
    unsigned long long seen_us; // of processes' use: the newest that was read
} nvml_gpu;

static void gpu_nvml_set_unsigned(gpu *g, gpu_value_id id, int (*function)(nvml_device, unsigned *), uint64_t multiply)
{
    nvml_gpu *x = g->own;
    unsigned value = 0;
    int error = function ? gpu_nvml_errno_of(function(x->device, &value)) : EOPNOTSUPP;
    gpu_set(g, id, error, value * multiply);
}

static void gpu_nvml_read_use(gpu *g, nvml_gpu *x)
{
    nvml_use use = {0};
    int error = CALL(x->n, use, x->device, &use);
    gpu_set(g, GPU_BUSY, error, use.gpu);
    gpu_set(g, GPU_MEMORY_BUSY, error, use.memory);
}

static void gpu_nvml_read_memory(gpu *g, nvml_gpu *x)
{
    nvml_memory memory = {0};
    int error = CALL(x->n, memory, x->device, &memory);
    gpu_set(g, GPU_MEMORY_USED, error, memory.used);
    gpu_set(g, GPU_MEMORY_TOTAL, error, memory.total);
}

static void gpu_nvml_read_temperature(gpu *g, nvml_gpu *x)
{
    unsigned celsius = 0;
    nvml_temperature other = {.version = (unsigned)sizeof other | 1u << 24};
    int error = CALL(x->n, temperature, x->device, 0, &celsius);
    if (error == EOPNOTSUPP && x->n->temperature_v) {
        error = CALL(x->n, temperature_v, x->device, &other);
        gpu_set(g, GPU_TEMPERATURE, error, (uint64_t)((int64_t)other.celsius * 1000));
    } else {
        gpu_set(g, GPU_TEMPERATURE, error, (uint64_t)celsius * 1000);
    }
}

static void gpu_nvml_read_clocks(gpu *g, nvml_gpu *x)
{
    static const struct {
        gpu_value_id now, most;
        int type;
    } clocks[] = {{GPU_CLOCK, GPU_CLOCK_MAX, CLOCK_SM}, {GPU_MEMORY_CLOCK, GPU_MEMORY_CLOCK_MAX, CLOCK_MEMORY}};
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        unsigned mhz = 0;
        int error = CALL(x->n, clock, x->device, clocks[i].type, &mhz);
        gpu_set(g, clocks[i].now, error, mhz);
        error = CALL(x->n, clock_max, x->device, clocks[i].type, &mhz);
        gpu_set(g, clocks[i].most, error, mhz);
    }
}

static void gpu_nvml_read_throttling(gpu *g, nvml_gpu *x)
{
    static const struct {
        unsigned long long bits;
        unsigned reason;
    } meanings[] = {
        {0x4, GPU_REASON_POWER}, {0x20 | 0x40, GPU_REASON_THERMAL}, {0x8 | 0x40 | 0x80, GPU_REASON_HARDWARE}};
    static const struct {
        int policy;
        gpu_value_id id;
    } policies[] = {{0, GPU_THROTTLED_POWER},
                    {1, GPU_THROTTLED_THERMAL},
                    {2, GPU_THROTTLED_SYNC_BOOST},
                    {3, GPU_THROTTLED_BOARD_LIMIT},
                    {5, GPU_THROTTLED_RELIABILITY}};
    unsigned long long bits = 0;
    int error = x->n->reasons ? CALL(x->n, reasons, x->device, &bits) : CALL(x->n, reasons_old, x->device, &bits);
    gpu_set(g, GPU_THROTTLE_REASONS, error, bits);
    g->reasons = 0;
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings && !error; i++)
        if (bits & meanings[i].bits) g->reasons |= meanings[i].reason;
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        nvml_violation violation = {0};
        error = CALL(x->n, violation, x->device, policies[i].policy, &violation);
        gpu_set(g, policies[i].id, error, violation.violation_ns / 1000);
    }
}

static void gpu_nvml_read_errors(gpu *g, nvml_gpu *x)
{
    unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
    for (int type = 0; type < 2; type++) {
        unsigned long long count = 0;
        int error = CALL(x->n, ecc, x->device, type, 0, &count); // since the driver was loaded
        gpu_set(g, type ? GPU_ECC_UNCORRECTED : GPU_ECC_CORRECTED, error, count);
    }
    int error = CALL(x->n, rows, x->device, &corrected, &uncorrected, &pending, &failed);
    gpu_set(g, GPU_ROWS_CORRECTED, error, corrected);
    gpu_set(g, GPU_ROWS_UNCORRECTED, error, uncorrected);
    gpu_set(g, GPU_ROWS_PENDING, error, pending);
    gpu_set(g, GPU_ROWS_FAILED, error, failed);
}

static void gpu_nvml_read_pcie(gpu *g, nvml_gpu *x)
{
    gpu_nvml_set_unsigned(g, GPU_PCIE_REPLAYS, x->n->replays, 1);
    g->values[GPU_PCIE_REPLAYS].width = 32;
    gpu_nvml_set_unsigned(g, GPU_PCIE_GENERATION, x->n->generation, 1);
    gpu_nvml_set_unsigned(g, GPU_PCIE_GENERATION_MAX, x->n->generation_max, 1);
    gpu_nvml_set_unsigned(g, GPU_PCIE_WIDTH, x->n->width, 1);
    gpu_nvml_set_unsigned(g, GPU_PCIE_WIDTH_MAX, x->n->width_max, 1);
}

// ---- fields: many values by one call ----

static uint64_t gpu_nvml_field_value(const nvml_field *f)
{
    switch (f->type) {
    case TYPE_DOUBLE: return f->value.d > 0 ? (uint64_t)f->value.d : 0;
    case TYPE_UINT: return f->value.u;
    case TYPE_INT: return (uint64_t)(int64_t)f->value.i;
    case TYPE_ULONG: return f->value.ul;
    default: return f->value.ull;
    }
}

static gpu_value gpu_nvml_value_of(const nvml_field *f, int error, uint64_t multiply)
{
    gpu_value v = {.told = true, .error = error ? error : gpu_nvml_errno_of(f->result)};
    if (v.error) return v;
    v.value = gpu_nvml_field_value(f) * multiply;
    if (f->type == TYPE_UINT && multiply == 1) v.width = 32;
    return v;
}

static void gpu_nvml_read_fields(gpu *g, nvml_gpu *x)
{
    enum { OWN = 7 };
    nvml_field fields[OWN + 2 * LINKS] = {
        {.id = FIELD_MEMORY_TEMPERATURE}, {.id = FIELD_PCIE_TX}, {.id = FIELD_PCIE_RX}, {.id = FIELD_CRC_FLIT},
        {.id = FIELD_CRC_DATA},           {.id = FIELD_REPLAY},  {.id = FIELD_RECOVERY}};
    size_t own = g->link_count ? OWN : 3, count = own;
    for (size_t i = 0; i < g->link_count; i++) {
        fields[count++] =
            (nvml_field){.id = x->link_bytes ? FIELD_LINK_RX_BYTES : FIELD_LINK_RX_KIB, .scope = g->links[i].number};
        fields[count++] =
            (nvml_field){.id = x->link_bytes ? FIELD_LINK_TX_BYTES : FIELD_LINK_TX_KIB, .scope = g->links[i].number};
    }
    int error = CALL(x->n, fields, x->device, (int)count, fields);
    g->values[GPU_MEMORY_TEMPERATURE] = gpu_nvml_value_of(&fields[0], error, 1000);
    g->values[GPU_PCIE_TX] = gpu_nvml_value_of(&fields[1], error, 1);
    g->values[GPU_PCIE_RX] = gpu_nvml_value_of(&fields[2], error, 1);
    if (!g->link_count) return;
    gpu_value flits = gpu_nvml_value_of(&fields[3], error, 1), data = gpu_nvml_value_of(&fields[4], error, 1);
    gpu_set(g, GPU_NVLINK_CRC_ERRORS, flits.error ? flits.error : data.error, flits.value + data.value);
    g->values[GPU_NVLINK_REPLAYS] = gpu_nvml_value_of(&fields[5], error, 1);
    g->values[GPU_NVLINK_RECOVERIES] = gpu_nvml_value_of(&fields[6], error, 1);
    for (size_t i = 0; i < g->link_count; i++) {
        g->links[i].rx = gpu_nvml_value_of(&fields[own + 2 * i], error, x->link_bytes ? 1 : 1024);
        g->links[i].tx = gpu_nvml_value_of(&fields[own + 2 * i + 1], error, x->link_bytes ? 1 : 1024);
    }
}

static void gpu_nvml_read_links(gpu *g, nvml_gpu *x)
{
    uint64_t up = 0;
    int error = 0;
    for (size_t i = 0; i < g->link_count; i++) {
        unsigned active = 0;
        gpu_link *l = &g->links[i];
        l->up = (gpu_value){.told = true, .error = CALL(x->n, link_state, x->device, l->number, &active)};
        if (!l->up.error)
            l->up.value = active;
        else
            error = l->up.error;
        up += !l->up.error && active;
    }
    if (g->link_count) gpu_set(g, GPU_LINKS_UP, error, up);
}

// ---- processes ----

static void gpu_nvml_read_processes(gpu *g, nvml_gpu *x, const emit *e)
{
    nvml_process processes[PROCESSES];
    unsigned count = PROCESSES;
    uint64_t memory = 0, own = 0;
    bool hidden = false;
    int error = x->n->processes ? CALL(x->n, processes, x->device, &count, processes)
                                : CALL(x->n, processes_2, x->device, &count, processes);
    bool job = x->job->pid_count || x->job->cgroup;
    for (unsigned i = 0; i < count && !error && job; i++) {
        if (!gpu_of_job(e, x->job, (pid_t)processes[i].pid)) continue;
        own++;
        hidden |= processes[i].memory == no_memory_figure;
        memory += processes[i].memory;
    }
    gpu_set(g, GPU_PROCESSES, error, count);
    if (!job && !x->job->expected) return;
    gpu_set(g, GPU_JOB_PROCESSES, error, own);
    gpu_set(g, GPU_JOB_MEMORY, error ? error : hidden ? EOPNOTSUPP : 0, memory);
}

// Samples of each process since the last reading; the newest of each process of the job.
static void gpu_nvml_read_process_use(gpu *g, nvml_gpu *x, const emit *e)
{
    nvml_process_use uses[PROCESSES];
    unsigned count = PROCESSES;
    uint64_t sum = 0;
    if (!x->job->pid_count && !x->job->cgroup && !x->job->expected) return;
    int error = CALL(x->n, process_use, x->device, uses, &count, x->seen_us);
    for (unsigned i = 0; i < count && !error; i++) {
        bool newest = true;
        for (unsigned k = 0; k < count; k++)
            newest &= uses[k].pid != uses[i].pid || uses[k].stamp_us <= uses[i].stamp_us;
        if (uses[i].stamp_us > x->seen_us) x->seen_us = uses[i].stamp_us;
        if (newest && gpu_of_job(e, x->job, (pid_t)uses[i].pid)) sum += uses[i].gpu;
    }
    gpu_set(g, GPU_JOB_BUSY, error, sum > 100 ? 100 : sum);
}

static void gpu_nvml_read_gpu(gpu *g, const emit *e)
{
    nvml_gpu *x = g->own;
    gpu_nvml_read_memory(g, x);
    gpu_nvml_read_processes(g, x, e);
    if (x->part) return;
    gpu_nvml_read_use(g, x);
    unsigned long long millijoules = 0;
    int error = CALL(x->n, energy, x->device, &millijoules);
    gpu_set(g, GPU_ENERGY, error, millijoules * 1000);
    gpu_nvml_set_unsigned(g, GPU_POWER, x->n->power, 1000);
    gpu_nvml_set_unsigned(g, GPU_POWER_LIMIT, x->n->limit, 1000);
    gpu_nvml_set_unsigned(g, GPU_POWER_LIMIT_SET, x->n->limit_set, 1000);
    gpu_nvml_read_temperature(g, x);
    gpu_nvml_set_unsigned(g, GPU_FAN, x->n->fan, 1);
    gpu_nvml_read_clocks(g, x);
    gpu_nvml_read_throttling(g, x);
    gpu_nvml_read_errors(g, x);
    gpu_nvml_read_pcie(g, x);
    gpu_nvml_read_fields(g, x);
    gpu_nvml_read_links(g, x);
    gpu_nvml_read_process_use(g, x, e);
}

// ---- finding them ----

static void gpu_nvml_tell_facts(gpu *g, emit *e)
{
    nvml_gpu *x = g->own;
    unsigned now = 0, pending = 0;
    emit_fact(e, "driver", x->n->driver_version);
    if (!x->part && !CALL(x->n, mig_mode, x->device, &now, &pending)) emit_fact(e, "mig", now ? "on" : "off");
    if (g->link_count)
        emit_factf(e, "nvlinks", "%zu", g->link_count);
    else if (!x->part)
        emit_fact(e, "nvlinks", x->n->link_state ? "none" : "not told by this library");
}

static void gpu_nvml_find_links(gpu *g, nvml_gpu *x)
{
    g->link_kind = "nvlink";
    for (unsigned i = 0; i < LINKS; i++) {
        unsigned active;
        if (CALL(x->n, link_state, x->device, i, &active)) continue;
        if (!gpu_link_at(g, i)) return;
    }
    if (!g->link_count) return;
    nvml_field probes[2] = {{.id = FIELD_LINK_RX_KIB, .scope = g->links[0].number},
                            {.id = FIELD_LINK_RX_BYTES, .scope = g->links[0].number}};
    x->link_bytes = !CALL(x->n, fields, x->device, 2, probes) && probes[0].result && !probes[1].result;
}

static gpu *gpu_nvml_add_gpu(gpu_list *list, gpu_nvml *n, nvml_device device, bool part)
{
    gpu *g = gpu_new(list);
    nvml_gpu *x = g ? calloc(1, sizeof *x) : NULL;
    if (!x) {
        if (g) list->count--;
        free(g);
        return NULL;
    }
    *x = (nvml_gpu){.n = n, .device = device, .job = list->job, .part = part};
    g->own = x;
    g->part = part;
    g->read = gpu_nvml_read_gpu;
    g->facts = gpu_nvml_tell_facts;
    g->vendor = "NVIDIA";
    if (CALL(n, uuid, device, g->uuid, sizeof g->uuid)) *g->uuid = 0;
    if (CALL(n, name, device, g->model, sizeof g->model)) *g->model = 0;
    nvml_pci pci = {.legacy = ""};
    if (!part && !CALL(n, pci, device, &pci))
        snprintf(g->pci, sizeof g->pci, "%04x:%02x:%02x.0", pci.domain, pci.bus, pci.device);
    if (!part) gpu_nvml_find_links(g, x);
    return g;
}

// One that cannot be opened hides no other one, and is not silent.
static void gpu_nvml_read_broken(gpu *g, const emit *e)
{
    static const gpu_value_id usual[] = {GPU_BUSY, GPU_MEMORY_USED, GPU_ENERGY};
    (void)e;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        gpu_set(g, usual[i], *(int *)g->own, 0);
}

static void gpu_nvml_tell_nothing(gpu *g, emit *e)
{
    (void)g;
    (void)e;
}

static gpu *gpu_nvml_add_broken(gpu_list *list, int error)
{
    int *own = malloc(sizeof *own);
    gpu *g = own ? gpu_new(list) : NULL;
    if (!g) {
        free(own);
        return NULL;
    }
    *own = error;
    g->own = own;
    g->read = gpu_nvml_read_broken;
    g->facts = gpu_nvml_tell_nothing;
    g->vendor = "NVIDIA";
    return g;
}

static void gpu_nvml_add_parts(gpu_list *list, gpu_nvml *n, nvml_device whole, const char *name)
{
    unsigned now = 0, pending = 0, most = 0;
    if (CALL(n, mig_mode, whole, &now, &pending) || !now || CALL(n, mig_count, whole, &most)) return;
    for (unsigned i = 0; i < most; i++) {
        nvml_device device;
        if (CALL(n, mig_device, whole, i, &device)) continue;
        gpu *g = gpu_nvml_add_gpu(list, n, device, true);
        if (g) snprintf(g->name, sizeof g->name, "%.24s/mig%u", name, i);
    }
}

static void gpu_nvml_add_all(gpu_list *list, gpu_nvml *n)
{
    unsigned count = 0;
    list->error = CALL(n, count, &count);
    if (list->error) snprintf(list->text, sizeof list->text, "%.80s: no list of devices", gpu_nvml_library);
    for (unsigned i = 0; i < count && !list->error; i++) {
        nvml_device device = NULL;
        int error = CALL(n, device, i, &device);
        gpu *g = error ? gpu_nvml_add_broken(list, error) : gpu_nvml_add_gpu(list, n, device, false);
        if (!g) return;
        snprintf(g->name, sizeof g->name, "gpu%u", i);
        if (error) continue;
        char name[sizeof g->name]; // the list may move while it grows
        snprintf(name, sizeof name, "%s", g->name);
        gpu_nvml_add_parts(list, n, device, name);
    }
}

gpu_nvml *gpu_nvml_open(gpu_list *list)
{
    void *library = dlopen(gpu_nvml_library, RTLD_NOW | RTLD_LOCAL);
    gpu_nvml *n = library ? calloc(1, sizeof *n) : NULL;
    if (!n) return NULL; // no NVIDIA driver: nothing to say
    n->library = library;
    gpu_find_functions(library, functions, n);
    list->error = n->init ? gpu_nvml_errno_of(n->init()) : EOPNOTSUPP;
    if (list->error) {
        snprintf(list->text, sizeof list->text, "%.100s: nvmlInit_v2", gpu_nvml_library);
        n->shutdown = NULL; // there is nothing to end
        return n;
    }
    if (CALL(n, driver, n->driver_version, sizeof n->driver_version)) *n->driver_version = 0;
    gpu_nvml_add_all(list, n);
    return n;
}

void gpu_nvml_close(gpu_nvml *n)
{
    if (!n) return;
    if (n->shutdown) n->shutdown();
    dlclose(n->library);
    free(n);
}
