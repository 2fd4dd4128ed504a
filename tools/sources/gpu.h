// GPUs: what each maker's reader fills in, and what the source makes of it.
#ifndef TOOLS_SOURCES_GPU_H
#define TOOLS_SOURCES_GPU_H

#include "emit.h"
#include "perf.h"
#include "sources.h"

// Values that several makers have; gpu.c names them and says their units.
typedef enum gpu_value_id {
    GPU_BUSY = 0,
    GPU_MEMORY_BUSY,
    GPU_MEMORY_USED,
    GPU_MEMORY_TOTAL,
    GPU_ENERGY,
    GPU_POWER,
    GPU_POWER_LIMIT,
    GPU_POWER_LIMIT_SET,
    GPU_TEMPERATURE,
    GPU_MEMORY_TEMPERATURE,
    GPU_HOTSPOT_TEMPERATURE,
    GPU_FAN,
    GPU_CLOCK,
    GPU_CLOCK_MAX,
    GPU_MEMORY_CLOCK,
    GPU_MEMORY_CLOCK_MAX,
    GPU_THROTTLE_REASONS,
    GPU_THROTTLED_POWER,
    GPU_THROTTLED_THERMAL,
    GPU_THROTTLED_SYNC_BOOST,
    GPU_THROTTLED_BOARD_LIMIT,
    GPU_THROTTLED_RELIABILITY,
    GPU_PCIE_RX,
    GPU_PCIE_TX,
    GPU_PCIE_REPLAYS,
    GPU_PCIE_GENERATION,
    GPU_PCIE_GENERATION_MAX,
    GPU_PCIE_WIDTH,
    GPU_PCIE_WIDTH_MAX,
    GPU_ECC_CORRECTED,
    GPU_ECC_UNCORRECTED,
    GPU_ROWS_CORRECTED,
    GPU_ROWS_UNCORRECTED,
    GPU_ROWS_PENDING,
    GPU_ROWS_FAILED,
    GPU_NVLINKS_UP,
    GPU_NVLINK_CRC_ERRORS,
    GPU_NVLINK_REPLAYS,
    GPU_NVLINK_RECOVERIES,
    GPU_RC6_TIME,
    GPU_IDLE_TIME,
    GPU_PROCESSES,
    GPU_JOB_PROCESSES,
    GPU_JOB_MEMORY,
    GPU_JOB_BUSY,
    GPU_VALUES
} gpu_value_id;

// Why the clock is low, in words that all makers have.
enum { GPU_REASON_POWER = 1, GPU_REASON_THERMAL = 2, GPU_REASON_HARDWARE = 4, GPU_REASONS = 3 };

typedef struct gpu_value {
    bool told;     // the GPU has such a value, readable or not
    int error;     // errno
    uint8_t width; // bits, where not 64
    uint64_t value;
} gpu_value;

typedef struct gpu_link { // NVLink
    unsigned number;
    gpu_value up, rx, tx;
} gpu_link;

typedef struct gpu gpu;
struct gpu {
    char name[40]; // "gpu0", "gpu0/mig1"
    bool part;     // of another device
    void (*read)(gpu *g, const emit *e);
    void (*facts)(gpu *g, emit *e);
    void (*close)(gpu *g);
    void *own; // of the reader
    const char *vendor;
    char uuid[96], pci[40], model[96];
    gpu_value values[GPU_VALUES];
    unsigned reasons; // GPU_REASON_...; of GPU_THROTTLE_REASONS
    gpu_link *links;
    size_t link_count;
    perf_counting engines; // Intel
    // made of what was read
    int64_t last_us; // 0: not read yet
    uint64_t busy_us, seen_us, job_us, loaded_us, loaded_cycles, memory_peak, reason_us[GPU_REASONS];
    uint64_t engine_ns; // of the busiest engine so far
};

typedef struct gpu_list {
    gpu **items;
    size_t count;
    const sources_job *job;
    int error; // why a maker's library does not work
    char text[128];
} gpu_list;

gpu *gpu_new(gpu_list *list); // at the end of the list; NULL: no memory
void gpu_set(gpu *g, gpu_value_id id, int error, uint64_t value);
// Does the process belong to the job? By its parents and its control group.
bool gpu_of_job(const emit *e, const sources_job *job, pid_t pid);

// ---- readers ----

typedef struct gpu_nvml gpu_nvml;
extern const char *gpu_nvml_library;     // a test changes it
gpu_nvml *gpu_nvml_open(gpu_list *list); // NULL: there is none, or list->error
void gpu_nvml_close(gpu_nvml *n);

void gpu_drm_open(gpu_list *list, const emit *e); // AMD and Intel

extern int64_t (*gpu_clock_us)(void); // a test changes it

#endif
