/* A made libamd_smi.so or, with FAKE_ROCM, librocm_smi64.so, answering what a test wrote into fake_amd. Signatures and
 * the table of metrics as of amdsmi.h of release 26 and rocm_smi.h. */
#include "fake_amd.h"

#include <string.h>

__attribute__((visibility("default"))) fake_amd_state fake_amd;

static int begin(const fake_amd_gpu *g)
{
    fake_amd.calls++;
    return g->result;
}

#ifdef FAKE_ROCM

int rsmi_init(uint64_t flags);
int rsmi_init(uint64_t flags)
{
    fake_amd.inits++;
    fake_amd.init_flags = flags;
    return fake_amd.init_result;
}

int rsmi_shut_down(void);
int rsmi_shut_down(void)
{
    fake_amd.shutdowns++;
    return 0;
}

typedef struct version {
    uint32_t major, minor, patch;
    const char *build;
} version;

int rsmi_version_get(version *v);
int rsmi_version_get(version *v)
{
    *v = (version){fake_amd.version[0], fake_amd.version[1], fake_amd.version[2], "made"};
    return 0;
}

int rsmi_num_monitor_devices(uint32_t *count);
int rsmi_num_monitor_devices(uint32_t *count)
{
    *count = fake_amd.count;
    return 0;
}

int rsmi_dev_pci_id_get(uint32_t device, uint64_t *bdf);
int rsmi_dev_pci_id_get(uint32_t device, uint64_t *bdf)
{
    uint64_t own = fake_amd.gpus[device].bdf;
    *bdf = (own >> 16) << 32 | (own & 0xffff) | 3u << 28; /* the number of a part is in between */
    return 0;
}

int rsmi_dev_energy_count_get(uint32_t device, uint64_t *count, float *resolution, uint64_t *stamp);
int rsmi_dev_energy_count_get(uint32_t device, uint64_t *count, float *resolution, uint64_t *stamp)
{
    *count = fake_amd.gpus[device].energy;
    *resolution = fake_amd.gpus[device].microjoules;
    *stamp = 1;
    return begin(&fake_amd.gpus[device]) ? fake_amd.gpus[device].result : fake_amd.gpus[device].energy_result;
}

int rsmi_dev_ecc_count_get(uint32_t device, uint64_t block, uint64_t *counts);
int rsmi_dev_ecc_count_get(uint32_t device, uint64_t block, uint64_t *counts)
{
    if (block != 1) return 1; /* that of the memory */
    counts[0] = fake_amd.gpus[device].corrected;
    counts[1] = fake_amd.gpus[device].uncorrected;
    return begin(&fake_amd.gpus[device]) ? fake_amd.gpus[device].result : fake_amd.gpus[device].ecc_result;
}

#else

typedef void *handle;

int amdsmi_init(uint64_t flags);
int amdsmi_init(uint64_t flags)
{
    fake_amd.inits++;
    fake_amd.init_flags = flags;
    return fake_amd.init_result;
}

int amdsmi_shut_down(void);
int amdsmi_shut_down(void)
{
    fake_amd.shutdowns++;
    return 0;
}

int amdsmi_get_lib_version(uint32_t *version);
int amdsmi_get_lib_version(uint32_t *version)
{
    memcpy(version, fake_amd.version, sizeof fake_amd.version);
    return 0;
}

/* Each GPU on a socket of its own. */
int amdsmi_get_socket_handles(uint32_t *count, handle *sockets);
int amdsmi_get_socket_handles(uint32_t *count, handle *sockets)
{
    unsigned i;
    if (*count < fake_amd.count) return 41;
    for (i = 0; i < fake_amd.count; i++)
        sockets[i] = &fake_amd.gpus[i];
    *count = fake_amd.count;
    return 0;
}

int amdsmi_get_processor_handles(handle socket, uint32_t *count, handle *processors);
int amdsmi_get_processor_handles(handle socket, uint32_t *count, handle *processors)
{
    processors[0] = socket;
    *count = 1;
    return 0;
}

int amdsmi_get_gpu_device_bdf(handle processor, uint64_t *bdf);
int amdsmi_get_gpu_device_bdf(handle processor, uint64_t *bdf)
{
    *bdf = ((fake_amd_gpu *)processor)->bdf;
    return 0;
}

int amdsmi_get_energy_count(handle processor, uint64_t *count, float *resolution, uint64_t *stamp);
int amdsmi_get_energy_count(handle processor, uint64_t *count, float *resolution, uint64_t *stamp)
{
    fake_amd_gpu *g = processor;
    *count = g->energy;
    *resolution = g->microjoules;
    *stamp = 1;
    return begin(g) ? g->result : g->energy_result;
}

int amdsmi_get_gpu_ecc_count(handle processor, uint64_t block, uint64_t *counts);
int amdsmi_get_gpu_ecc_count(handle processor, uint64_t block, uint64_t *counts)
{
    fake_amd_gpu *g = processor;
    if (block != 1) return 1;                 /* that of the memory, which the others do not belong to */
    memset(counts, 0x5a, 8 * sizeof *counts); /* corrected, uncorrected, deferred, five reserved */
    counts[0] = g->corrected;
    counts[1] = g->uncorrected;
    return begin(g) ? g->result : g->ecc_result;
}

int amdsmi_get_gpu_pci_replay_counter(handle processor, uint64_t *count);
int amdsmi_get_gpu_pci_replay_counter(handle processor, uint64_t *count)
{
    *count = ((fake_amd_gpu *)processor)->replays;
    return begin(processor);
}

/* Places as a compiler lays out amdsmi_gpu_metrics_t of release 26. */
int amdsmi_get_gpu_metrics_info(handle processor, unsigned char *table);
int amdsmi_get_gpu_metrics_info(handle processor, unsigned char *table)
{
    enum { RECOVERIES = 160, READ = 184, WRITTEN = 248, NAKS = 416, TICKS = 424, SIZE = 3000 };
    fake_amd_gpu *g = processor;
    if (begin(g)) return g->result;
    memset(table, 0xff, g->short_table ? WRITTEN + 64 : SIZE);
    memcpy(table + RECOVERIES, &g->recoveries, 8);
    memcpy(table + READ, g->xgmi_read, sizeof g->xgmi_read);
    memcpy(table + WRITTEN, g->xgmi_written, sizeof g->xgmi_written);
    if (g->short_table) return 0;
    memcpy(table + NAKS, &g->naks_sent, 4);
    memcpy(table + NAKS + 4, &g->naks_received, 4);
    memcpy(table + TICKS, &g->ticks, 8);
    memcpy(table + TICKS + 8, g->residencies, sizeof g->residencies);
    return 0;
}

#endif
