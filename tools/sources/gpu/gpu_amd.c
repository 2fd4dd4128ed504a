// AMD GPUs by AMD SMI (libamd_smi.so) or, where that is not there, by ROCm SMI (librocm_smi64.so): what sysfs lacks.
//
// AMD SMI changed its structures often. Used are functions whose arguments are plain numbers in every release, and of
// structures only the beginning that all releases share, in more room than any of them takes; what the library leaves
// unwritten stays all ones, which is its own mark of an unknown value. Not asked is what waits (violation status:
// 0.1 s; PCIe throughput: 1 s).
#define _GNU_SOURCE
#include "gpu_amd.h"

#include "gpu_metrics.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const amdsmi_usual[] = {
    "libamd_smi.so", "libamd_smi.so.26", "libamd_smi.so.25", "libamd_smi.so.24", "/opt/rocm/lib/libamd_smi.so", NULL};
static const char *const rocm_usual[] = {"librocm_smi64.so",
                                         "librocm_smi64.so.7",
                                         "librocm_smi64.so.6",
                                         "librocm_smi64.so.5",
                                         "librocm_smi64.so.1",
                                         "/opt/rocm/lib/librocm_smi64.so",
                                         NULL};
const char *const *gpu_amdsmi_names = amdsmi_usual, *const *gpu_rocm_names = rocm_usual;

// ---- the libraries, as of amdsmi.h and rocm_smi.h ----

typedef void *handle;

typedef struct version { // up to 24.x year first, then major first
    unsigned first, second, third, fourth;
    const char *build;
    uint64_t room[8];
} version;

typedef struct error_count {
    uint64_t corrected, uncorrected, room[14];
} error_count;

// Beginning of amdsmi_gpu_metrics_t; later releases append fields.
typedef struct metrics {
    uint16_t size;
    uint8_t format, content;
    uint16_t temperatures[6], activities[3], power;
    uint64_t energy, clock_counter;
    uint16_t average_clocks[7], clocks[7];
    uint32_t throttle_status;
    uint16_t fan, pcie_width, pcie_speed;
    uint32_t activity_sums[2];
    uint16_t memory_temperatures[4];
    uint64_t firmware_stamp;
    uint16_t voltages[3];
    uint64_t reasons;
    uint16_t socket_power, decoders[4];
    uint32_t clock_lock;
    uint16_t xgmi_width, xgmi_speed;
    uint64_t pcie[2], recoveries, replays, replay_wraps;
    uint64_t xgmi_read[8], xgmi_written[8];
    uint16_t more_clocks[8 + 3 * 4], pictures[32];
    uint32_t naks_sent, naks_received;
    uint64_t ticks, residencies[GPU_TICKS_AMD];
} metrics;

_Static_assert(offsetof(metrics, energy) == 24, "as in amdsmi_gpu_metrics_t");
_Static_assert(offsetof(metrics, throttle_status) == 68, "as in amdsmi_gpu_metrics_t");
_Static_assert(offsetof(metrics, activity_sums) == 80, "as in amdsmi_gpu_metrics_t");
_Static_assert(offsetof(metrics, firmware_stamp) == 96, "as in amdsmi_gpu_metrics_t");
_Static_assert(offsetof(metrics, reasons) == 112, "as in amdsmi_gpu_metrics_t");
_Static_assert(offsetof(metrics, pcie) == 144, "as in amdsmi_gpu_metrics_t");
_Static_assert(offsetof(metrics, xgmi_read) == 184, "as in amdsmi_gpu_metrics_t");
_Static_assert(offsetof(metrics, naks_sent) == 416, "as in amdsmi_gpu_metrics_t");
_Static_assert(offsetof(metrics, ticks) == 424, "as in amdsmi_gpu_metrics_t");

enum {
    ROOM = 16384, // for a table that has grown
    AMD_GPUS = 2, // of AMD SMI's kinds to look for
    MEMORY_BLOCK = 1,
    SOCKETS = 64,
    PROCESSORS = 64
};

struct gpu_amd {
    void *library;
    const char *name;
    char version[48];
    bool has_metrics; // the beginning of the table is known of this release
    // AMD SMI
    int (*init)(uint64_t flags);
    int (*shut_down)(void);
    int (*get_version)(version *version);
    int (*sockets)(uint32_t *count, handle *sockets);
    int (*processors)(handle socket, uint32_t *count, handle *processors);
    int (*address)(handle processor, uint64_t *bdf);
    int (*energy)(handle processor, uint64_t *count, float *microjoules, uint64_t *stamp);
    int (*ecc)(handle processor, uint64_t block, error_count *count);
    int (*replays)(handle processor, uint64_t *count);
    int (*get_metrics)(handle processor, void *table);
    // ROCm SMI
    int (*rocm_init)(uint64_t flags);
    int (*rocm_shut_down)(void);
    int (*rocm_version)(version *version);
    int (*rocm_count)(uint32_t *count);
    int (*rocm_address)(uint32_t device, uint64_t *bdf);
    int (*rocm_energy)(uint32_t device, uint64_t *count, float *microjoules, uint64_t *stamp);
    int (*rocm_ecc)(uint32_t device, uint64_t block, error_count *count);
    int (*rocm_replays)(uint32_t device, uint64_t *count);
};

#define FUNCTION(member, name)                                                                                         \
    {                                                                                                                  \
        name, offsetof(struct gpu_amd, member)                                                                         \
    }
static const gpu_function amdsmi_functions[] = {FUNCTION(init, "amdsmi_init"),
                                                FUNCTION(shut_down, "amdsmi_shut_down"),
                                                FUNCTION(get_version, "amdsmi_get_lib_version"),
                                                FUNCTION(sockets, "amdsmi_get_socket_handles"),
                                                FUNCTION(processors, "amdsmi_get_processor_handles"),
                                                FUNCTION(address, "amdsmi_get_gpu_device_bdf"),
                                                FUNCTION(energy, "amdsmi_get_energy_count"),
                                                FUNCTION(ecc, "amdsmi_get_gpu_ecc_count"),
                                                FUNCTION(replays, "amdsmi_get_gpu_pci_replay_counter"),
                                                FUNCTION(get_metrics, "amdsmi_get_gpu_metrics_info"),
                                                {NULL, 0}};
static const gpu_function rocm_functions[] = {FUNCTION(rocm_init, "rsmi_init"),
                                              FUNCTION(rocm_shut_down, "rsmi_shut_down"),
                                              FUNCTION(rocm_version, "rsmi_version_get"),
                                              FUNCTION(rocm_count, "rsmi_num_monitor_devices"),
                                              FUNCTION(rocm_address, "rsmi_dev_pci_id_get"),
                                              FUNCTION(rocm_energy, "rsmi_dev_energy_count_get"),
                                              FUNCTION(rocm_ecc, "rsmi_dev_ecc_count_get"),
                                              FUNCTION(rocm_replays, "rsmi_dev_pci_replay_counter_get"),
                                              {NULL, 0}};

static int gpu_amd_amdsmi_errno(int result)
{
    switch (result) {
    case 0: return 0;
    case 2:                     // not supported
    case 3:                     // not yet implemented
    case 52: return EOPNOTSUPP; // no such file: the driver has no such value
    case 8: return ETIMEDOUT;
    case 10: return EACCES;
    case 9:
    case 30: return EBUSY;
    case 31: return ENODEV;
    case 40: return ENODATA;
    default: return EIO;
    }
}

static int gpu_amd_rocm_errno(int result)
{
    switch (result) {
    case 0: return 0;
    case 2:
    case 9: return EOPNOTSUPP;
    case 4: return EACCES;
    case 10: return ENODEV;
    case 14: return ENODATA;
    case 16: return EBUSY;
    default: return EIO;
    }
}

// A function that the library lacks is a value that it does not have.
#define AMDSMI(a, member, ...) ((a)->member ? gpu_amd_amdsmi_errno((a)->member(__VA_ARGS__)) : EOPNOTSUPP)
#define ROCM(a, member, ...)   ((a)->member ? gpu_amd_rocm_errno((a)->member(__VA_ARGS__)) : EOPNOTSUPP)

// ---- one GPU ----

typedef struct amd_gpu {
    gpu_amd *a;
    handle processor; // AMD SMI
    uint32_t device;  // ROCm SMI
    bool rocm;
    uint64_t *table; // ROOM bytes
    uint64_t lacks;  // bit of a value: the library does not have it
} amd_gpu;
_Static_assert(GPU_VALUES <= 64, "a bit for each");

static void gpu_amd_offer(gpu *g, gpu_value_id id, int error, uint64_t value)
{
    if (!error && value == UINT64_MAX) error = EOPNOTSUPP; // marks an unknown value
    // A value that the library does not have either is not listed for this GPU, unless sysfs has it.
    if (error == EOPNOTSUPP && g->reader[id] != GPU_BY_LIBRARY)
        ((amd_gpu *)g->library.own)->lacks |= UINT64_C(1) << id;
    else
        gpu_offer(g, GPU_BY_LIBRARY, id, error, value);
}

static void gpu_amd_offer_energy(gpu *g, int error, uint64_t count, float microjoules)
{
    if (!error && (count == UINT64_MAX || !isfinite(microjoules) || microjoules <= 0)) error = EOPNOTSUPP;
    gpu_amd_offer(g, GPU_ENERGY, error, error ? 0 : (uint64_t)((long double)count * (long double)microjoules + 0.5L));
}

static void gpu_amd_offer_links(gpu *g, const metrics *m)
{
    for (unsigned i = 0; i < sizeof m->xgmi_read / sizeof *m->xgmi_read; i++)
        if (m->xgmi_read[i] != UINT64_MAX || m->xgmi_written[i] != UINT64_MAX)
            gpu_xgmi_set(g, i, m->xgmi_read[i], m->xgmi_written[i]);
}

static bool gpu_amd_is_unknown(uint64_t value)
{
    return value == UINT64_MAX || value == UINT32_MAX; // kernels before count in 32 bits
}

static void gpu_amd_offer_ticks(gpu *g, const metrics *m)
{
    uint64_t of[GPU_TICKS_AMD];
    if (gpu_amd_is_unknown(m->ticks)) return;
    for (size_t i = 0; i < GPU_TICKS_AMD; i++)
        of[i] = gpu_amd_is_unknown(m->residencies[i]) ? UINT64_MAX : m->residencies[i];
    gpu_ticks_set(g, 0, m->ticks, of);
}

// Of a table that sysfs has and that is known, the library knows no more.
static void gpu_amd_read_metrics(gpu *g, amd_gpu *x)
{
    metrics m;
    if (g->metrics || !x->a->has_metrics || !x->table) return;
    memset(x->table, 0xff, ROOM);
    int error = AMDSMI(x->a, get_metrics, x->processor, x->table);
    memcpy(&m, x->table, sizeof m);
    if (error) return;
    gpu_amd_offer(g, GPU_PCIE_RECOVERIES, 0, m.recoveries);
    gpu_amd_offer(g, GPU_PCIE_NAKS_SENT, 0, m.naks_sent == UINT32_MAX ? UINT64_MAX : m.naks_sent);
    gpu_amd_offer(g, GPU_PCIE_NAKS_RECEIVED, 0, m.naks_received == UINT32_MAX ? UINT64_MAX : m.naks_received);
    if (!g->ticks.told) gpu_amd_offer_ticks(g, &m);
    gpu_amd_offer_links(g, &m);
}

static bool gpu_amd_wants(const gpu *g, gpu_value_id id)
{
    const amd_gpu *x = g->library.own;
    return g->reader[id] != GPU_BY_DRIVER && !(x->lacks & UINT64_C(1) << id);
}

static int gpu_amd_ask_energy(const amd_gpu *x, uint64_t *count, float *microjoules, uint64_t *stamp)
{
    return x->rocm ? ROCM(x->a, rocm_energy, x->device, count, microjoules, stamp)
                   : AMDSMI(x->a, energy, x->processor, count, microjoules, stamp);
}

static int gpu_amd_ask_ecc(const amd_gpu *x, error_count *errors)
{
    return x->rocm ? ROCM(x->a, rocm_ecc, x->device, MEMORY_BLOCK, errors)
                   : AMDSMI(x->a, ecc, x->processor, MEMORY_BLOCK, errors);
}

static int gpu_amd_ask_replays(const amd_gpu *x, uint64_t *count)
{
    return x->rocm ? ROCM(x->a, rocm_replays, x->device, count) : AMDSMI(x->a, replays, x->processor, count);
}

static void gpu_amd_read_library(gpu *g, const emit *e)
{
    amd_gpu *x = g->library.own;
    uint64_t count = UINT64_MAX, stamp;
    error_count errors;
    float microjoules = 0;
    (void)e;
    if (gpu_amd_wants(g, GPU_ENERGY)) {
        int error = gpu_amd_ask_energy(x, &count, &microjoules, &stamp);
        gpu_amd_offer_energy(g, error, count, microjoules);
    }
    if (gpu_amd_wants(g, GPU_ECC_CORRECTED) || gpu_amd_wants(g, GPU_ECC_UNCORRECTED)) {
        memset(&errors, 0xff, sizeof errors);
        int error = gpu_amd_ask_ecc(x, &errors);
        gpu_amd_offer(g, GPU_ECC_CORRECTED, error, errors.corrected);
        gpu_amd_offer(g, GPU_ECC_UNCORRECTED, error, errors.uncorrected);
    }
    if (gpu_amd_wants(g, GPU_PCIE_REPLAYS)) {
        count = UINT64_MAX;
        int error = gpu_amd_ask_replays(x, &count);
        gpu_amd_offer(g, GPU_PCIE_REPLAYS, error, count);
    }
    if (!x->rocm) gpu_amd_read_metrics(g, x);
}

static void gpu_amd_tell_facts(gpu *g, emit *e)
{
    const amd_gpu *x = g->library.own;
    emit_factf(e, "library", "%s %s%s", x->a->name, x->a->version,
               x->rocm || x->a->has_metrics ? "" : ": a release whose table of metrics is not known, not read");
}

static void gpu_amd_close_library(gpu *g)
{
    amd_gpu *x = g->library.own;
    free(x->table);
    free(x);
}

static void gpu_amd_attach(const gpu_list *list, gpu_amd *a, uint64_t domain, uint64_t bdf, handle processor,
                           uint32_t device)
{
    gpu *g = gpu_at(list, "AMD", (unsigned)domain, (unsigned)(bdf >> 8 & 0xff), (unsigned)(bdf >> 3 & 0x1f),
                    (unsigned)(bdf & 7));
    amd_gpu *x = g && !g->library.read ? calloc(1, sizeof *x) : NULL;
    if (!x) return; // a part of one, or one that sysfs hides
    *x = (amd_gpu){.a = a, .processor = processor, .device = device, .rocm = !a->init};
    x->table = x->rocm ? NULL : malloc(ROOM);
    g->library = (gpu_extra){
        .read = gpu_amd_read_library, .facts = gpu_amd_tell_facts, .close = gpu_amd_close_library, .own = x};
}

// ---- the libraries ----

// Releases of the years 23 and 24 put the year first; 25 and 26 have it as their major version.
static void gpu_amd_read_version(gpu_amd *a)
{
    version v = {0};
    snprintf(a->version, sizeof a->version, "of an unknown version");
    if (!a->get_version || a->get_version(&v)) return;
    snprintf(a->version, sizeof a->version, "%u.%u.%u", v.first, v.second, v.third);
    a->has_metrics = v.first >= 23 && v.first <= 26;
}

static void gpu_amd_attach_socket(const gpu_list *list, gpu_amd *a, handle socket)
{
    handle processors[PROCESSORS];
    uint32_t count = PROCESSORS;
    if (AMDSMI(a, processors, socket, &count, processors)) return;
    for (uint32_t i = 0; i < count && i < PROCESSORS; i++) {
        uint64_t bdf[2] = {0}; // domain from bit 16 on
        if (!AMDSMI(a, address, processors[i], bdf))
            gpu_amd_attach(list, a, bdf[0] >> 16, bdf[0] & 0xffff, processors[i], 0);
    }
}

static bool gpu_amd_open_amdsmi(const gpu_list *list, gpu_amd *a)
{
    handle sockets[SOCKETS];
    uint32_t count = SOCKETS;
    a->name = "AMD SMI";
    gpu_find_functions(a->library, amdsmi_functions, a);
    int result = a->init ? a->init(AMD_GPUS) : 0;
    if (!a->init || result) {
        if (result) gpu_library_failed(list, "AMD", a->name, (unsigned)result);
        a->init = NULL;
        return false;
    }
    gpu_amd_read_version(a);
    if (AMDSMI(a, sockets, &count, sockets)) count = 0;
    for (uint32_t i = 0; i < count && i < SOCKETS; i++)
        gpu_amd_attach_socket(list, a, sockets[i]);
    return true;
}

static bool gpu_amd_open_rocm(const gpu_list *list, gpu_amd *a)
{
    version v = {0};
    uint32_t count = 0;
    a->name = "ROCm SMI";
    gpu_find_functions(a->library, rocm_functions, a);
    int result = a->rocm_init ? a->rocm_init(0) : 0;
    if (!a->rocm_init || result) {
        if (result) gpu_library_failed(list, "AMD", a->name, (unsigned)result);
        a->rocm_init = NULL;
        return false;
    }
    if (!ROCM(a, rocm_version, &v)) snprintf(a->version, sizeof a->version, "%u.%u.%u", v.first, v.second, v.third);
    if (ROCM(a, rocm_count, &count)) count = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bdf = 0; // domain from bit 32 on
        if (!ROCM(a, rocm_address, i, &bdf)) gpu_amd_attach(list, a, bdf >> 32, bdf & 0xffff, NULL, i);
    }
    return true;
}

static bool gpu_amd_has_amd(const gpu_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i]->vendor, "AMD") == 0) return true;
    return false;
}

gpu_amd *gpu_amd_open(gpu_list *list, const emit *e)
{
    gpu_amd *a = gpu_amd_has_amd(list) ? calloc(1, sizeof *a) : NULL;
    if (!a) return NULL;
    a->library = gpu_load(gpu_amdsmi_names, e);
    if (a->library && gpu_amd_open_amdsmi(list, a)) return a;
    if (a->library) dlclose(a->library);
    a->library = gpu_load(gpu_rocm_names, e);
    if (a->library && gpu_amd_open_rocm(list, a)) return a;
    gpu_amd_close(a);
    return NULL;
}

void gpu_amd_close(gpu_amd *a)
{
    if (!a) return;
    if (a->init && a->shut_down) a->shut_down();
    if (a->rocm_init && a->rocm_shut_down) a->rocm_shut_down();
    if (a->library) dlclose(a->library);
    free(a);
}
