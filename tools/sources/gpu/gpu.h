// GPUs: what each maker's reader fills in, and what the source makes of it.
#ifndef TOOLS_SOURCES_GPU_H
#define TOOLS_SOURCES_GPU_H

#include "sources/emit.h"
#include "sources/perf/perf.h"
#include "sources/sources.h"

// Values that several makers have; gpu.c names them and says their units.
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

// Why the clock is low, in words that all makers have.
enum { GPU_REASON_POWER = 1, GPU_REASON_THERMAL = 2, GPU_REASON_HARDWARE = 4, GPU_REASONS = 3 };

typedef struct gpu gpu;

typedef struct gpu_value {
    bool told;     // the GPU has such a value, readable or not
    int error;     // errno
    uint8_t width; // bits, where not 64
    uint64_t value;
} gpu_value;

// Several readers may know a value. The first that could read it keeps it: two of them count from different starts.
typedef enum gpu_reader { GPU_BY_DRIVER = 1, GPU_BY_LIBRARY } gpu_reader;

typedef struct gpu_link { // to another GPU
    unsigned number;
    gpu_value up, rx, tx;
} gpu_link;

// Firmware that counts in ticks of its own how long a limit held: of the ticks since the last reading so many.
typedef struct gpu_ticks {
    bool told;
    unsigned told_of; // bit i: of[i] is known
    int error;
    uint64_t all, of[GPU_THROTTLED_MEMORY + 1 - GPU_THROTTLED_POWER]; // by id, from GPU_THROTTLED_POWER on
    uint64_t mask;                                                    // the counters wrap behind it
} gpu_ticks;

// How long the busiest engine worked since the last reading, and how long that was, in any unit.
typedef struct gpu_account {
    bool told;
    int error;
    uint64_t active, all;
} gpu_account;

// What another reader adds to a GPU that was found.
typedef struct gpu_extra {
    void (*read)(gpu *g, const emit *e);
    void (*tell)(gpu *g, emit *e);  // values with names of their own; may be NULL
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
    uint8_t reader[GPU_VALUES]; // whose value it is; 0: nobody's yet
    unsigned reasons;           // GPU_REASON_...; of GPU_THROTTLE_REASONS
    const char *link_kind;      // "nvlink", "xgmi", "fabric"
    gpu_link *links;
    size_t link_count;
    gpu_ticks ticks;
    gpu_account account;
    const struct metrics_row *metrics; // of gpu_metrics: the version
    gpu_extra library, engines;
    char library_failed[64];
    // made of what was read
    int64_t last_us; // 0: not read yet
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

gpu *gpu_new(gpu_list *list);                                     // at the end of the list; NULL: no memory
void gpu_set(gpu *g, gpu_value_id id, int error, uint64_t value); // by the driver, or the only reader
void gpu_offer(gpu *g, gpu_reader reader, gpu_value_id id, int error, uint64_t value);
// A link of this number, made anew where there is none yet; NULL: no memory.
gpu_link *gpu_link_at(gpu *g, unsigned number);
// The GPU at this PCI address, or NULL.
gpu *gpu_at(const gpu_list *list, const char *vendor, unsigned domain, unsigned bus, unsigned device,
            unsigned function);
// The library is there and does not start; said with the GPUs of this maker, unless another library tells of them.
void gpu_library_failed(const gpu_list *list, const char *vendor, const char *library, unsigned result);
// Loads the first of these that is there; NULL ends them. Not below another root.
void *gpu_load(const char *const *names, const emit *e);
// Functions of a library and where their addresses are kept, up to one without a name; NULL where it lacks one.
typedef struct gpu_function {
    const char *name;
    size_t offset;
} gpu_function;
void gpu_find_functions(void *library, const gpu_function *functions, void *into);
// Takes an engine's work when it was busier than what is there; all 0: nothing is known of it.
void gpu_account_busier(gpu_account *a, uint64_t active, uint64_t all);
// Does the process belong to the job? By its parents and its control group.
bool gpu_of_job(const emit *e, const sources_job *job, pid_t pid);
// Is a process in a control group, or in one below it?
bool gpu_in_group(const emit *e, const char *group, pid_t pid);

// ---- readers ----

typedef struct gpu_nvml gpu_nvml;
extern const char *gpu_nvml_library;     // a test changes it
gpu_nvml *gpu_nvml_open(gpu_list *list); // NULL: there is none, or list->error
void gpu_nvml_close(gpu_nvml *n);

void gpu_drm_open(gpu_list *list, const emit *e); // AMD and Intel

// gpu_metrics of amdgpu: a binary table of several versions, in sysfs. False: not one that is known.
bool gpu_metrics_known(const unsigned char *data, size_t size);
void gpu_metrics_set(gpu *g, int error, const unsigned char *data, size_t size);
// Firmware's residencies in AMD's order, UINT64_MAX where the chip does not count one: all ticks; then those in which
// the processor was called hot from outside (prochot), the power limit, the socket's heat, the regulator's and the
// memory's heat held the clock down.
enum { GPU_TICKS_AMD = 5 };
void gpu_ticks_set(gpu *g, int error, uint64_t all, const uint64_t of[GPU_TICKS_AMD]);
// Kilobytes of a link.
void gpu_xgmi_set(gpu *g, unsigned link, uint64_t read_kib, uint64_t written_kib);

// Libraries that add to what sysfs tells. Names by which they are looked for; a test changes them.
typedef struct gpu_amd gpu_amd;
extern const char *const *gpu_amdsmi_names, *const *gpu_rocm_names, *const *gpu_ze_names;
gpu_amd *gpu_amd_open(gpu_list *list, const emit *e); // NULL: none, or no AMD GPU
void gpu_amd_close(gpu_amd *a);
typedef struct gpu_ze gpu_ze;
gpu_ze *gpu_ze_open(gpu_list *list, const emit *e); // NULL: none, or no Intel GPU
void gpu_ze_close(gpu_ze *z);

// Engines of Intel GPUs by the kernel's performance events.
void gpu_engines_open(gpu *g, const emit *e);

// What the job's processes have of the GPUs, by what the kernel tells of their open devices (fdinfo, kfd).
typedef struct gpu_clients gpu_clients;
gpu_clients *gpu_clients_open(void);
void gpu_clients_read(gpu_clients *c, const gpu_list *list, const emit *e);
void gpu_clients_set(const gpu_clients *c, gpu *g);
void gpu_clients_tell(const gpu_clients *c, const gpu *g, emit *e);
void gpu_clients_close(gpu_clients *c);

extern int64_t (*gpu_clock_us)(void); // a test changes it
extern bool gpu_library_of_root;      // a test has made libraries for its root

#endif
