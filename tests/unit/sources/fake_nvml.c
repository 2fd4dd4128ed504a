/* A made libnvidia-ml.so.1 with the functions that netprof asks for, answering what a test wrote into fake_nvml. With
 * FAKE_OLD it lacks what came after driver 450. Signatures as of nvml.h. */
#include "fake_nvml.h"

#include <stdio.h>
#include <string.h>

enum { NOT_SUPPORTED = 3, INVALID = 2, NOT_FOUND = 6, TOO_SMALL = 7 };

typedef fake_gpu *device;

/* As a program started with this library in its path finds it: one GPU. */
__attribute__((visibility("default"))) fake_nvml_state fake_nvml = {.count = 1,
                                                                    .gpus = {{.busy = 42,
                                                                              .memory_total = 1000000,
                                                                              .memory_used = 250000,
                                                                              .energy_mj = 7,
                                                                              .power_mw = 300000,
                                                                              .celsius = 61}}};

static fake_gpu parts[FAKE_GPUS * FAKE_PARTS];

static int begin(device d)
{
    fake_nvml.calls++;
    return d->lost;
}

static int is_part(device d)
{
    return d >= parts && d < parts + FAKE_GPUS * FAKE_PARTS;
}

int nvmlInit_v2(void);
int nvmlInit_v2(void)
{
    fake_nvml.inits++;
    return fake_nvml.init_result;
}

int nvmlShutdown(void);
int nvmlShutdown(void)
{
    fake_nvml.shutdowns++;
    return 0;
}

int nvmlSystemGetDriverVersion(char *text, unsigned size);
int nvmlSystemGetDriverVersion(char *text, unsigned size)
{
    snprintf(text, size, "550.54.15");
    return 0;
}

int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = fake_nvml.count;
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, device *d);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, device *d)
{
    if (index >= fake_nvml.count) return INVALID;
    *d = &fake_nvml.gpus[index];
    return fake_nvml.gpus[index].handle;
}

static unsigned number_of(device d)
{
    return is_part(d) ? (unsigned)(d - parts) : (unsigned)(d - fake_nvml.gpus);
}

int nvmlDeviceGetName(device d, char *text, unsigned size);
int nvmlDeviceGetName(device d, char *text, unsigned size)
{
    snprintf(text, size, "NVIDIA Made %s", is_part(d) ? "1g.10gb" : d->other_model ? "50" : "100");
    return begin(d);
}

int nvmlDeviceGetUUID(device d, char *text, unsigned size);
int nvmlDeviceGetUUID(device d, char *text, unsigned size)
{
    snprintf(text, size, "%s-%08x-0000", is_part(d) ? "MIG" : "GPU", 0xabc0u + number_of(d));
    return begin(d);
}

typedef struct pci {
    char legacy[16];
    unsigned domain, bus, device, id, subsystem;
    char text[32];
} pci;

int nvmlDeviceGetPciInfo_v3(device d, pci *p);
int nvmlDeviceGetPciInfo_v3(device d, pci *p)
{
    memset(p, 0, sizeof *p);
    p->bus = 0x41 + number_of(d);
    return begin(d);
}

#define GETTER(name, member)                                                                                           \
    int name(device d, unsigned *value);                                                                               \
    int name(device d, unsigned *value)                                                                                \
    {                                                                                                                  \
        *value = d->member;                                                                                            \
        return begin(d);                                                                                               \
    }

GETTER(nvmlDeviceGetPowerUsage, power_mw)
GETTER(nvmlDeviceGetEnforcedPowerLimit, limit_mw)
GETTER(nvmlDeviceGetPowerManagementLimit, limit_set_mw)
GETTER(nvmlDeviceGetPcieReplayCounter, replays)
GETTER(nvmlDeviceGetCurrPcieLinkGeneration, generation)
GETTER(nvmlDeviceGetMaxPcieLinkGeneration, generation_max)
GETTER(nvmlDeviceGetCurrPcieLinkWidth, width)
GETTER(nvmlDeviceGetMaxPcieLinkWidth, width_max)
GETTER(nvmlDeviceGetFanSpeed, fan)

typedef struct use {
    unsigned gpu, memory;
} use;

int nvmlDeviceGetUtilizationRates(device d, use *u);
int nvmlDeviceGetUtilizationRates(device d, use *u)
{
    u->gpu = d->busy;
    u->memory = d->memory_busy;
    return begin(d) ? d->lost : d->busy_result;
}

typedef struct memory {
    unsigned long long total, free, used;
} memory;

int nvmlDeviceGetMemoryInfo(device d, memory *m);
int nvmlDeviceGetMemoryInfo(device d, memory *m)
{
    *m = (memory){d->memory_total, d->memory_total - d->memory_used, d->memory_used};
    return begin(d);
}

int nvmlDeviceGetTotalEnergyConsumption(device d, unsigned long long *mj);
int nvmlDeviceGetTotalEnergyConsumption(device d, unsigned long long *mj)
{
    *mj = d->energy_mj;
    return begin(d);
}

#ifdef FAKE_NEWEST
typedef struct temperature {
    unsigned version;
    int sensor, celsius;
} temperature;

int nvmlDeviceGetTemperatureV(device d, temperature *t);
int nvmlDeviceGetTemperatureV(device d, temperature *t)
{
    if (t->version != (sizeof *t | 1u << 24)) return 25; /* the argument's version does not match */
    t->celsius = (int)d->celsius;
    return begin(d);
}
#else
int nvmlDeviceGetTemperature(device d, int sensor, unsigned *celsius);
int nvmlDeviceGetTemperature(device d, int sensor, unsigned *celsius)
{
    *celsius = d->celsius;
    return sensor ? INVALID : begin(d);
}
#endif

int nvmlDeviceGetClockInfo(device d, int type, unsigned *mhz);
int nvmlDeviceGetClockInfo(device d, int type, unsigned *mhz)
{
    *mhz = d->clocks[type];
    return begin(d);
}

int nvmlDeviceGetMaxClockInfo(device d, int type, unsigned *mhz);
int nvmlDeviceGetMaxClockInfo(device d, int type, unsigned *mhz)
{
    *mhz = d->clocks_max[type];
    return begin(d);
}

int nvmlDeviceGetCurrentClocksThrottleReasons(device d, unsigned long long *bits);
int nvmlDeviceGetCurrentClocksThrottleReasons(device d, unsigned long long *bits)
{
    *bits = d->reasons;
    return begin(d);
}

typedef struct violation {
    unsigned long long reference_us, violation_ns;
} violation;

int nvmlDeviceGetViolationStatus(device d, int policy, violation *v);
int nvmlDeviceGetViolationStatus(device d, int policy, violation *v)
{
    v->reference_us = 123;
    v->violation_ns = d->violation_ns[policy];
    return begin(d);
}

int nvmlDeviceGetTotalEccErrors(device d, int type, int counter, unsigned long long *count);
int nvmlDeviceGetTotalEccErrors(device d, int type, int counter, unsigned long long *count)
{
    *count = counter ? 999999 : d->ecc[type]; /* 1: of the GPU's whole life */
    return begin(d) ? d->lost : d->ecc_result;
}

int nvmlDeviceGetNvLinkState(device d, unsigned link, unsigned *up);
int nvmlDeviceGetNvLinkState(device d, unsigned link, unsigned *up)
{
    if (link >= d->links) return INVALID;
    *up = d->link_up[link];
    return begin(d);
}

#ifndef FAKE_OLD

int nvmlDeviceGetCurrentClocksEventReasons(device d, unsigned long long *bits);
int nvmlDeviceGetCurrentClocksEventReasons(device d, unsigned long long *bits)
{
    return nvmlDeviceGetCurrentClocksThrottleReasons(d, bits);
}

int nvmlDeviceGetRemappedRows(device d, unsigned *a, unsigned *b, unsigned *c, unsigned *e);
int nvmlDeviceGetRemappedRows(device d, unsigned *a, unsigned *b, unsigned *c, unsigned *e)
{
    *a = d->rows[0];
    *b = d->rows[1];
    *c = d->rows[2];
    *e = d->rows[3];
    return begin(d);
}

typedef struct field {
    unsigned id, scope;
    long long stamp, latency;
    unsigned type;
    int result;
    union {
        double d;
        unsigned u;
        unsigned long long ull;
    } value;
} field;

static void link_field(device d, field *f)
{
    int bytes = f->id == 202 || f->id == 204, rx = f->id == 139 || f->id == 204;
    f->type = 3;
    f->result = f->scope >= d->links || bytes != d->link_in_bytes ? NOT_SUPPORTED : 0;
    if (!f->result) f->value.ull = rx ? d->link_rx[f->scope] : d->link_tx[f->scope];
}

static void fill(device d, field *f)
{
    f->result = 0;
    f->type = 3;
    switch (f->id) {
    case 82:
        f->type = 1;
        f->value.u = d->memory_celsius;
        break;
    case 38: f->value.ull = d->crc_flit; break;
    case 45: f->value.ull = d->crc_data; break;
    case 52: f->value.ull = d->link_replays; break;
    case 59: f->value.ull = d->link_recoveries; break;
    case 197:
    case 198:
        f->result = d->pcie_result;
        f->type = d->pcie_32 ? 1 : 3;
        if (d->pcie_32)
            f->value.u = (unsigned)(f->id == 197 ? d->pcie_tx : d->pcie_rx);
        else
            f->value.ull = f->id == 197 ? d->pcie_tx : d->pcie_rx;
        break;
    case 138:
    case 139:
    case 202:
    case 204: link_field(d, f); break;
    default: f->result = INVALID;
    }
}

int nvmlDeviceGetFieldValues(device d, int count, field *fields);
int nvmlDeviceGetFieldValues(device d, int count, field *fields)
{
    int i;
    for (i = 0; i < count; i++)
        fill(d, &fields[i]);
    return begin(d);
}

typedef struct process {
    unsigned pid;
    unsigned long long memory;
    unsigned gpu_instance, compute_instance;
} process;

int nvmlDeviceGetComputeRunningProcesses_v3(device d, unsigned *count, process *p);
int nvmlDeviceGetComputeRunningProcesses_v3(device d, unsigned *count, process *p)
{
    unsigned i;
    if (*count < d->processes) return TOO_SMALL;
    *count = d->processes;
    for (i = 0; i < d->processes; i++) {
        p[i] = (process){.pid = d->pids[i], .memory = d->process_memory[i]};
    }
    return begin(d);
}

typedef struct process_use {
    unsigned pid;
    unsigned long long stamp_us;
    unsigned gpu, memory, encoder, decoder;
} process_use;

int nvmlDeviceGetProcessUtilization(device d, process_use *p, unsigned *count, unsigned long long since);
int nvmlDeviceGetProcessUtilization(device d, process_use *p, unsigned *count, unsigned long long since)
{
    unsigned i, n = 0;
    for (i = 0; i < d->processes; i++)
        if (d->use_stamp[i] > since)
            p[n++] = (process_use){.pid = d->pids[i], .stamp_us = d->use_stamp[i], .gpu = d->use[i]};
    *count = n;
    return begin(d) ? d->lost : n ? 0 : NOT_FOUND;
}

int nvmlDeviceGetMigMode(device d, unsigned *now, unsigned *pending);
int nvmlDeviceGetMigMode(device d, unsigned *now, unsigned *pending)
{
    *now = *pending = d->mig;
    return begin(d);
}

int nvmlDeviceGetMaxMigDeviceCount(device d, unsigned *count);
int nvmlDeviceGetMaxMigDeviceCount(device d, unsigned *count)
{
    *count = 7;
    return begin(d);
}

int nvmlDeviceGetMigDeviceHandleByIndex(device d, unsigned index, device *part);
int nvmlDeviceGetMigDeviceHandleByIndex(device d, unsigned index, device *part)
{
    if (index >= d->parts) return NOT_FOUND;
    *part = &parts[number_of(d) * FAKE_PARTS + index];
    (*part)->memory_total = d->memory_total / 7;
    (*part)->memory_used = d->part_used[index];
    return begin(d);
}

#endif
