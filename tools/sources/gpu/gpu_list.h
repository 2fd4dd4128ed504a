// The GPUs of a node, as the readers of each maker fill them in and as the source "gpu" reports them.
#ifndef TOOLS_SOURCES_GPU_LIST_H
#define TOOLS_SOURCES_GPU_LIST_H

#include "sources/emit.h"
#include "sources/sources_job.h"

// Values that several makers have; gpu.c holds their names and units.
typedef enum gpu_value_id {
    GPU_BUSY = 0,
    GPU_MEMORY_BUSY,
    GPU_MEMORY_USED,
    GPU_MEMORY_TOTAL,
    GPU_MEMORY_READ,
    GPU_MEMORY_WRITTEN,
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
    GPU_THROTTLED_PROCHOT,
    GPU_THROTTLED_REGULATOR,
    GPU_THROTTLED_MEMORY,
    GPU_THROTTLED,
    GPU_PCIE_RX,
    GPU_PCIE_TX,
    GPU_PCIE_REPLAYS,
    GPU_PCIE_RECOVERIES,
    GPU_PCIE_NAKS_SENT,
    GPU_PCIE_NAKS_RECEIVED,
    GPU_PCIE_GENERATION,
    GPU_PCIE_GENERATION_MAX,
    GPU_PCIE_WIDTH,
    GPU_PCIE_WIDTH_MAX,
    GPU_ECC_CORRECTED,
    GPU_ECC_UNCORRECTED,
    GPU_RAS_CORRECTED,
    GPU_RAS_UNCORRECTED,
    GPU_RESETS,
    GPU_ROWS_CORRECTED,
    GPU_ROWS_UNCORRECTED,
    GPU_ROWS_PENDING,
    GPU_ROWS_FAILED,
    GPU_LINKS_UP,
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

// Why the clock is low, in the words common to all makers.
enum { GPU_REASON_POWER = 1, GPU_REASON_THERMAL = 2, GPU_REASON_HARDWARE = 4, GPU_REASONS = 3 };

typedef struct gpu gpu;

typedef struct gpu_value {
    bool told;     // the GPU has such a value, whether it could be read or not
    int error;     // errno
    uint8_t width; // bits, where not 64
    uint64_t value;
} gpu_value;

// Several readers may know a value. The first that could read it keeps it, since two of them count from different
// starts.
typedef enum gpu_reader { GPU_BY_DRIVER = 1, GPU_BY_LIBRARY } gpu_reader;

typedef struct gpu_link { // to another GPU
    unsigned number;
    gpu_value up, rx, tx;
} gpu_link;

// Firmware counts in ticks of its own how long a limit held: `of` of the ticks in `all`, both from an unknown start.
typedef struct gpu_ticks {
    bool told;
    unsigned told_of; // bit i: of[i] is known
    int error;
    uint64_t all, of[GPU_THROTTLED_MEMORY + 1 - GPU_THROTTLED_POWER]; // by id, from GPU_THROTTLED_POWER on
    uint64_t mask;                                                    // the counters wrap after this value
} gpu_ticks;

// How long the busiest engine worked since the last reading, and how much time passed, both in the same unit,
// whichever.
typedef struct gpu_account {
    bool told;
    int error;
    uint64_t active, all;
} gpu_account;

// A second reader, which adds values to a GPU that another reader found.
typedef struct gpu_extra {
    void (*read)(gpu *g, const emit *e);
    void (*tell)(gpu *g, emit *e);  // reports values that only this reader has; may be NULL
    void (*facts)(gpu *g, emit *e); // may be NULL
    void (*close)(gpu *g);          // frees own; may be NULL
    void *own;
} gpu_extra;

struct gpu {
    char name[40]; // "gpu0", "gpu0/mig1"
    bool part;     // of another device
    void (*read)(gpu *g, const emit *e);
    void (*facts)(gpu *g, emit *e);
    void (*close)(gpu *g);
    void *own; // of the reader
    const char *vendor;
    char uuid[96], pci[40], model[96], driver[16], card[16];
    gpu_value values[GPU_VALUES];
    uint8_t reader[GPU_VALUES]; // gpu_reader of the value; 0: none yet
    unsigned reasons;           // GPU_REASON_... that GPU_THROTTLE_REASONS means
    const char *link_kind;      // "nvlink", "xgmi", "fabric"
    gpu_link *links;
    size_t link_count;
    gpu_ticks ticks;
    gpu_account account;
    const struct gpu_metrics_row *metrics; // layout of the table gpu_metrics, once known
    gpu_extra library, engines;
    char library_failed[64];
    // kept by gpu_sums
    int64_t last_us; // time of the last reading; 0: not read yet
    uint64_t busy_us, seen_us, job_us, loaded_us, loaded_cycles, memory_peak, reason_us[GPU_REASONS];
    gpu_ticks last_ticks;
    uint64_t ticks_us, ticks_sum_us[GPU_THROTTLED_MEMORY + 1 - GPU_THROTTLED_POWER];
};

typedef struct gpu_list {
    gpu **items;
    size_t count;
    const sources_job *job;
    int error; // why a maker's library does not work
    char text[128];
} gpu_list;

gpu *gpu_new(gpu_list *list);                                     // appended to the list; NULL: no memory
void gpu_set(gpu *g, gpu_value_id id, int error, uint64_t value); // for the driver, or the only reader
void gpu_offer(gpu *g, gpu_reader reader, gpu_value_id id, int error, uint64_t value);
// The link with this number, added where missing; NULL: no memory.
gpu_link *gpu_link_at(gpu *g, unsigned number);
// The GPU at this PCI address, or NULL.
gpu *gpu_at(const gpu_list *list, const char *vendor, unsigned domain, unsigned bus, unsigned device,
            unsigned function);
// The library exists but does not start: a fact of this maker's GPUs, unless another library reads them.
void gpu_library_failed(const gpu_list *list, const char *vendor, const char *library, unsigned result);
// Loads the first library that exists, of a list that NULL ends; NULL: none, or the root is not this node's.
void *gpu_load(const char *const *names, const emit *e);
// Functions of a library and where their addresses go (NULL where it lacks one); a row without a name ends them.
typedef struct gpu_function {
    const char *name;
    size_t offset;
} gpu_function;
void gpu_find_functions(void *library, const gpu_function *functions, void *into);
// Replaces the account when this engine was busier; all == 0: the engine's work is not known.
void gpu_account_busier(gpu_account *a, uint64_t active, uint64_t all);

extern int64_t (*gpu_clock_us)(void); // replaced by tests
extern bool gpu_library_of_root;      // set by tests that bring libraries for their root

#endif
