// AMD and Intel GPUs by sysfs (kernel: Documentation/gpu/amdgpu/thermal.rst, sysfs-driver-intel-i915-hwmon,
// sysfs-driver-intel-xe-hwmon; gpu_metrics: kgd_pp_interface.h). Files whose reading blocks (pcie_bw: for a second) are
// never read.
#define _GNU_SOURCE
#include "gpu_drm.h"

#include "gpu_metrics.h"
#include "sources/shapes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef enum number_kind {
    DECIMAL = 0,
    SIGNED,
    LINK_SPEED, // "16.0 GT/s PCIe": the generation
    ECC_CE,     // "ue: 0" and "ce: 0"
    ECC_UE,
    LARGEST_MHZ, // lines "1: 1700Mhz *"
} number_kind;

// H is the hwmon directory of the device.
typedef struct file_row {
    const char *driver;
    gpu_value_id id;
    const char *path; // below the card; "H/...": below its hwmon
    number_kind kind;
    unsigned multiply, divide;
} file_row;

// Of rows with the same value the first one that is there counts.
static const file_row file_rows[] = {
    {"amdgpu", GPU_BUSY, "device/gpu_busy_percent", DECIMAL, 1, 1},
    {"amdgpu", GPU_MEMORY_BUSY, "device/mem_busy_percent", DECIMAL, 1, 1},
    {"amdgpu", GPU_MEMORY_USED, "device/mem_info_vram_used", DECIMAL, 1, 1},
    {"amdgpu", GPU_MEMORY_TOTAL, "device/mem_info_vram_total", DECIMAL, 1, 1},
    {"amdgpu", GPU_POWER, "H/power1_average", DECIMAL, 1, 1},
    {"amdgpu", GPU_POWER, "H/power1_input", DECIMAL, 1, 1},
    {"amdgpu", GPU_POWER_LIMIT, "H/power1_cap", DECIMAL, 1, 1},
    {"amdgpu", GPU_TEMPERATURE, "H/temp1_input", SIGNED, 1, 1},
    {"amdgpu", GPU_HOTSPOT_TEMPERATURE, "H/temp2_input", SIGNED, 1, 1},
    {"amdgpu", GPU_MEMORY_TEMPERATURE, "H/temp3_input", SIGNED, 1, 1},
    {"amdgpu", GPU_CLOCK, "H/freq1_input", DECIMAL, 1, 1000000},
    {"amdgpu", GPU_CLOCK_MAX, "device/pp_dpm_sclk", LARGEST_MHZ, 1, 1},
    {"amdgpu", GPU_MEMORY_CLOCK, "H/freq2_input", DECIMAL, 1, 1000000},
    {"amdgpu", GPU_MEMORY_CLOCK_MAX, "device/pp_dpm_mclk", LARGEST_MHZ, 1, 1},
    {"amdgpu", GPU_PCIE_REPLAYS, "device/pcie_replay_count", DECIMAL, 1, 1},
    {"amdgpu", GPU_ECC_CORRECTED, "device/ras/umc_err_count", ECC_CE, 1, 1},
    {"amdgpu", GPU_ECC_UNCORRECTED, "device/ras/umc_err_count", ECC_UE, 1, 1},
    {"i915", GPU_ENERGY, "H/energy1_input", DECIMAL, 1, 1},
    {"i915", GPU_POWER_LIMIT, "H/power1_max", DECIMAL, 1, 1},
    {"i915", GPU_TEMPERATURE, "H/temp1_input", SIGNED, 1, 1},
    {"i915", GPU_CLOCK, "gt/gt0/rps_act_freq_mhz", DECIMAL, 1, 1},
    {"i915", GPU_CLOCK, "gt_act_freq_mhz", DECIMAL, 1, 1},
    {"i915", GPU_CLOCK_MAX, "gt/gt0/rps_RP0_freq_mhz", DECIMAL, 1, 1},
    {"i915", GPU_CLOCK_MAX, "gt_RP0_freq_mhz", DECIMAL, 1, 1},
    {"i915", GPU_RC6_TIME, "gt/gt0/rc6_residency_ms", DECIMAL, 1000, 1},
    {"xe", GPU_ENERGY, "H/energy1_input", DECIMAL, 1, 1},
    {"xe", GPU_ENERGY, "H/energy2_input", DECIMAL, 1, 1},
    {"xe", GPU_POWER_LIMIT, "H/power1_max", DECIMAL, 1, 1},
    {"xe", GPU_TEMPERATURE, "H/temp2_input", SIGNED, 1, 1},
    {"xe", GPU_MEMORY_TEMPERATURE, "H/temp3_input", SIGNED, 1, 1},
    {"xe", GPU_CLOCK, "device/tile0/gt0/freq0/act_freq", DECIMAL, 1, 1},
    {"xe", GPU_CLOCK_MAX, "device/tile0/gt0/freq0/rp0_freq", DECIMAL, 1, 1},
    {"xe", GPU_IDLE_TIME, "device/tile0/gt0/gtidle/idle_residency_ms", DECIMAL, 1000, 1},
    {NULL, GPU_PCIE_GENERATION, "device/current_link_speed", LINK_SPEED, 1, 1},
    {NULL, GPU_PCIE_GENERATION_MAX, "device/max_link_speed", LINK_SPEED, 1, 1},
    {NULL, GPU_PCIE_WIDTH, "device/current_link_width", DECIMAL, 1, 1},
    {NULL, GPU_PCIE_WIDTH_MAX, "device/max_link_width", DECIMAL, 1, 1},
};

// Files that hold 1 while the reason holds; bit i of throttle_reasons is row i of the driver's.
static const struct {
    const char *driver, *path;
    unsigned reason;
} reason_rows[] = {
    {"i915", "gt/gt0/throttle_reason_pl1", GPU_REASON_POWER},
    {"i915", "gt/gt0/throttle_reason_pl2", GPU_REASON_POWER},
    {"i915", "gt/gt0/throttle_reason_pl4", GPU_REASON_POWER},
    {"i915", "gt/gt0/throttle_reason_thermal", GPU_REASON_THERMAL},
    {"i915", "gt/gt0/throttle_reason_prochot", GPU_REASON_HARDWARE},
    {"i915", "gt/gt0/throttle_reason_ratl", GPU_REASON_THERMAL},
    {"i915", "gt/gt0/throttle_reason_vr_thermalert", GPU_REASON_HARDWARE},
    {"i915", "gt/gt0/throttle_reason_vr_tdc", GPU_REASON_HARDWARE},
    {"xe", "device/tile0/gt0/freq0/throttle/reason_pl1", GPU_REASON_POWER},
    {"xe", "device/tile0/gt0/freq0/throttle/reason_pl2", GPU_REASON_POWER},
    {"xe", "device/tile0/gt0/freq0/throttle/reason_pl4", GPU_REASON_POWER},
    {"xe", "device/tile0/gt0/freq0/throttle/reason_thermal", GPU_REASON_THERMAL},
    {"xe", "device/tile0/gt0/freq0/throttle/reason_prochot", GPU_REASON_HARDWARE},
    {"xe", "device/tile0/gt0/freq0/throttle/reason_ratl", GPU_REASON_THERMAL},
    {"xe", "device/tile0/gt0/freq0/throttle/reason_vr_thermalert", GPU_REASON_HARDWARE},
    {"xe", "device/tile0/gt0/freq0/throttle/reason_vr_tdc", GPU_REASON_HARDWARE},
};

enum {
    FILES = sizeof file_rows / sizeof *file_rows,
    REASON_FILES = sizeof reason_rows / sizeof *reason_rows,
    METRICS = 4096
};

typedef struct drm_gpu {
    const char *card, *driver; // the GPU's
    char hwmon[32], metrics_version[8];
    bool has[FILES], has_reason[REASON_FILES], has_metrics;
    emit_file files[FILES], reason_files[REASON_FILES];
} drm_gpu;

// ---- files ----

static bool gpu_drm_make_path(const drm_gpu *x, const char *path, char *to, size_t size)
{
    bool hwmon = strncmp(path, "H/", 2) == 0;
    if (hwmon && !*x->hwmon) return false;
    int n = snprintf(to, size, "/sys/class/drm/%s/%s%s%s%s", x->card, hwmon ? "device/hwmon/" : "",
                     hwmon ? x->hwmon : "", hwmon ? "/" : "", hwmon ? path + 2 : path);
    return n > 0 && (size_t)n < size;
}

static bool gpu_drm_parse_speed(const char *text, uint64_t *generation)
{
    static const double rates[] = {2.5, 5, 8, 16, 32, 64, 128};
    char *end;
    double rate = strtod(text, &end);
    if (end == text || strncmp(end, " GT/s", 5) != 0) return false;
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        if (rate < rates[i] * 0.99 || rate > rates[i] * 1.01) continue;
        *generation = i + 1;
        return true;
    }
    return false; // "Unknown"
}

static bool gpu_drm_parse_error_count(char *text, const char *key, uint64_t *value)
{
    for (char *line; (line = emit_line(&text));)
        if (strncmp(line, key, strlen(key)) == 0)
            return emit_number(line + strlen(key) + strspn(line + strlen(key), " "), value);
    return false;
}

static bool gpu_drm_parse_largest(char *text, uint64_t *value)
{
    bool found = false;
    *value = 0;
    for (char *line; (line = emit_line(&text));) {
        char *colon = strchr(line, ':'), *end;
        uint64_t mhz = colon ? strtoull(colon + 1, &end, 10) : 0;
        if (!colon || end == colon + 1 || strncasecmp(end, "mhz", 3) != 0) continue;
        found = true;
        if (mhz > *value) *value = mhz;
    }
    return found;
}

static bool gpu_drm_parse(number_kind kind, char *text, uint64_t *value)
{
    if (kind == LARGEST_MHZ) return gpu_drm_parse_largest(text, value);
    if (kind == ECC_CE || kind == ECC_UE) return gpu_drm_parse_error_count(text, kind == ECC_CE ? "ce:" : "ue:", value);
    text[strcspn(text, "\n")] = 0;
    if (kind == LINK_SPEED) return gpu_drm_parse_speed(text, value);
    bool negative = kind == SIGNED && *text == '-';
    if (!emit_number(text + negative, value)) return false;
    if (negative) *value = 0 - *value;
    return true;
}

static int gpu_drm_read_number(drm_gpu *x, const emit *e, const file_row *r, emit_file *f, uint64_t *value)
{
    char path[160], *text;
    int error;
    if (!gpu_drm_make_path(x, r->path, path, sizeof path)) return ENOENT;
    text = emit_file_read(f, e, path, &error);
    if (!text) return error;
    return gpu_drm_parse(r->kind, text, value) ? 0 : EBADMSG;
}

static int gpu_drm_read_metrics(const gpu *g, const emit *e, unsigned char *data, size_t *size)
{
    char path[512];
    snprintf(path, sizeof path, "%.400s/sys/class/drm/%s/device/gpu_metrics", emit_root(e), g->card);
    int fd = open(path, O_RDONLY | O_CLOEXEC), error = fd < 0 ? errno : 0;
    ssize_t n = fd < 0 ? -1 : read(fd, data, METRICS);
    if (fd >= 0 && n < 0) error = errno;
    if (fd >= 0) close(fd);
    *size = n > 0 ? (size_t)n : 0;
    return error;
}

static void gpu_drm_set_metrics(gpu *g, const emit *e)
{
    unsigned char data[METRICS];
    size_t size;
    int error = gpu_drm_read_metrics(g, e, data, &size);
    gpu_metrics_set(g, error, data, size);
}

// ---- one GPU ----

static void gpu_drm_read_reasons(gpu *g, drm_gpu *x, const emit *e)
{
    uint64_t bits = 0;
    int error = 0, bit = 0;
    bool any = false;
    g->reasons = 0;
    for (size_t i = 0; i < REASON_FILES; i++) {
        const file_row row = {.path = reason_rows[i].path, .kind = DECIMAL};
        uint64_t on = 0;
        if (strcmp(reason_rows[i].driver, x->driver) != 0) continue;
        int place = bit++;
        if (!x->has_reason[i]) continue;
        any = true;
        int failed = gpu_drm_read_number(x, e, &row, &x->reason_files[i], &on);
        if (failed) error = failed;
        if (!on) continue;
        bits |= UINT64_C(1) << place;
        g->reasons |= reason_rows[i].reason;
    }
    if (any) gpu_set(g, GPU_THROTTLE_REASONS, error, bits);
}

static void gpu_drm_read_gpu(gpu *g, const emit *e)
{
    drm_gpu *x = g->own;
    for (size_t i = 0; i < FILES; i++) {
        uint64_t value = 0;
        if (!x->has[i]) continue;
        int error = gpu_drm_read_number(x, e, &file_rows[i], &x->files[i], &value);
        gpu_set(g, file_rows[i].id, error, value * file_rows[i].multiply / file_rows[i].divide);
    }
    gpu_drm_read_reasons(g, x, e);
    if (x->has_metrics) gpu_drm_set_metrics(g, e);
}

static void gpu_drm_tell_facts(gpu *g, emit *e)
{
    const drm_gpu *x = g->own;
    emit_fact(e, "driver", g->driver);
    emit_fact(e, "card", g->card);
    if (*x->metrics_version)
        emit_factf(e, "gpu_metrics", "%s%s", x->metrics_version, x->has_metrics ? "" : ", not known");
    if (strcmp(g->driver, "amdgpu") == 0 && !g->link_count)
        emit_fact(e, "xgmi_links", "none are told by this GPU or its driver");
}

static void gpu_drm_close_gpu(gpu *g)
{
    drm_gpu *x = g->own;
    for (size_t i = 0; i < FILES; i++)
        if (x->has[i]) emit_file_close(&x->files[i]);
    for (size_t i = 0; i < REASON_FILES; i++)
        if (x->has_reason[i]) emit_file_close(&x->reason_files[i]);
}

// ---- finding them ----

typedef struct drm_search {
    gpu_list *list;
    const emit *e;
} drm_search;

static void gpu_drm_found_hwmon(void *user, const char *name)
{
    drm_gpu *x = user;
    if (!*x->hwmon && strncmp(name, "hwmon", 5) == 0) snprintf(x->hwmon, sizeof x->hwmon, "%.30s", name);
}

static bool gpu_drm_is_there(drm_gpu *x, const emit *e, const file_row *r, emit_file *f)
{
    uint64_t value;
    *f = (emit_file){.fd = -1};
    int error = gpu_drm_read_number(x, e, r, f, &value);
    if (error != ENOENT && error != ENODEV) return true;
    emit_file_close(f);
    return false;
}

static void gpu_drm_find_metrics(gpu *g, drm_gpu *x, const emit *e)
{
    unsigned char data[METRICS];
    size_t size;
    if (strcmp(x->driver, "amdgpu") != 0 || gpu_drm_read_metrics(g, e, data, &size) || size < 4) return;
    snprintf(x->metrics_version, sizeof x->metrics_version, "%u.%u", data[2], data[3]);
    x->has_metrics = gpu_metrics_known(data, size);
}

static void gpu_drm_find_files(gpu *g, drm_gpu *x, const emit *e)
{
    bool known[GPU_VALUES] = {false};
    for (size_t i = 0; i < FILES; i++) {
        const file_row *r = &file_rows[i];
        if ((r->driver && strcmp(r->driver, x->driver) != 0) || known[r->id]) continue;
        x->has[i] = known[r->id] = gpu_drm_is_there(x, e, r, &x->files[i]);
    }
    for (size_t i = 0; i < REASON_FILES; i++) {
        const file_row row = {.path = reason_rows[i].path, .kind = DECIMAL};
        x->has_reason[i] =
            strcmp(reason_rows[i].driver, x->driver) == 0 && gpu_drm_is_there(x, e, &row, &x->reason_files[i]);
    }
    gpu_drm_find_metrics(g, x, e);
}

static bool gpu_drm_is_card(const char *name)
{
    return strncmp(name, "card", 4) == 0 && name[4] && !name[4 + strspn(name + 4, "0123456789")] && strlen(name) < 12;
}

// Lines "DRIVER=amdgpu", "PCI_SLOT_NAME=0000:c1:00.0".
static void gpu_drm_read_identity(gpu *g, const emit *e)
{
    emit_file f = {.fd = -1};
    char path[96], id[64], *line;
    int error;
    snprintf(path, sizeof path, "/sys/class/drm/%s/device/uevent", g->card);
    for (char *at = emit_file_read(&f, e, path, &error); at && (line = emit_line(&at));) {
        if (strncmp(line, "DRIVER=", 7) == 0) snprintf(g->driver, sizeof g->driver, "%.15s", line + 7);
        if (strncmp(line, "PCI_SLOT_NAME=", 14) == 0) snprintf(g->pci, sizeof g->pci, "%.39s", line + 14);
    }
    emit_file_close(&f);
    // As in ROCR_VISIBLE_DEVICES.
    if (emit_read_line(e, id, sizeof id, "/sys/class/drm/%s/device/unique_id", g->card))
        snprintf(g->uuid, sizeof g->uuid, "GPU-%s", id);
    if (!emit_read_line(e, g->model, sizeof g->model, "/sys/class/drm/%s/device/product_name", g->card)) *g->model = 0;
}

static void gpu_drm_found_card(void *user, const char *name)
{
    static const struct {
        const char *driver, *vendor;
    } makers[] = {{"amdgpu", "AMD"}, {"i915", "Intel"}, {"xe", "Intel"}};
    drm_search *s = user;
    size_t number = 0;
    if (!gpu_drm_is_card(name)) return;
    for (size_t i = 0; i < s->list->count; i++)
        number += !s->list->items[i]->part;
    drm_gpu *x = calloc(1, sizeof *x);
    gpu *g = x ? gpu_new(s->list) : NULL;
    if (!g) {
        free(x);
        return;
    }
    snprintf(g->card, sizeof g->card, "%s", name);
    *x = (drm_gpu){.card = g->card, .driver = g->driver};
    gpu_drm_read_identity(g, s->e);
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
        if (strcmp(makers[i].driver, x->driver) == 0) g->vendor = makers[i].vendor;
    if (!g->vendor) { // NVIDIA's and those that only draw
        free(x);
        free(g);
        s->list->count--;
        return;
    }
    char path[96];
    snprintf(path, sizeof path, "/sys/class/drm/%s/device/hwmon", x->card);
    emit_directory(s->e, path, gpu_drm_found_hwmon, x);
    gpu_drm_find_files(g, x, s->e);
    g->own = x;
    g->read = gpu_drm_read_gpu;
    g->facts = gpu_drm_tell_facts;
    g->close = gpu_drm_close_gpu;
    snprintf(g->name, sizeof g->name, "gpu%zu", number);
}

void gpu_drm_open(gpu_list *list, const emit *e)
{
    drm_search s = {list, e};
    emit_directory(e, "/sys/class/drm", gpu_drm_found_card, &s);
}
