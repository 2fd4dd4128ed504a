// GPUs of all makers under the same names: NVIDIA by its library, AMD and Intel by sysfs and, for what that lacks, by
// their libraries.
//
// Use, clocks and throttling are told by the drivers as states of the moment. So that a pair of readings tells of the
// time between them, what was read is also added up over the time since the last reading: busy_time, loaded_cycles,
// reason_power_cap and the like are as sharp as readings are frequent.
#define _GNU_SOURCE
#include "gpu.h"
#include "sources/sources_private.h"
#include "sources/shapes.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LOADED_PERCENT = 80 };

static int64_t monotonic_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int64_t (*gpu_clock_us)(void) = monotonic_us;
bool gpu_library_of_root;

static const struct {
    const char *name;
    emit_shape shape;
} rows[GPU_VALUES] = {
    [GPU_BUSY] = {"busy", SHAPE("percent", GAUGE, 0)},
    [GPU_MEMORY_BUSY] = {"memory_busy", SHAPE("percent", GAUGE, 0)},
    [GPU_MEMORY_USED] = {"memory_used", SHAPE("bytes", GAUGE, 0)},
    [GPU_MEMORY_TOTAL] = {"memory_total", SHAPE("bytes", GAUGE, 0)},
    [GPU_MEMORY_READ] = {"memory_read", SHAPE("bytes", COUNTER, 0)},
    [GPU_MEMORY_WRITTEN] = {"memory_written", SHAPE("bytes", COUNTER, 0)},
    [GPU_ENERGY] = {"energy", SHAPE("uJ", COUNTER, 0)},
    [GPU_POWER] = {"power", SHAPE("uW", GAUGE, 0)},
    [GPU_POWER_LIMIT] = {"power_limit", SHAPE("uW", GAUGE, 0)},
    [GPU_POWER_LIMIT_SET] = {"power_limit_set", SHAPE("uW", GAUGE, 0)},
    [GPU_TEMPERATURE] = {"temperature", SHAPE("mC", GAUGE, NETPROF_SIGNED)},
    [GPU_MEMORY_TEMPERATURE] = {"memory_temperature", SHAPE("mC", GAUGE, NETPROF_SIGNED)},
    [GPU_HOTSPOT_TEMPERATURE] = {"hotspot_temperature", SHAPE("mC", GAUGE, NETPROF_SIGNED)},
    [GPU_FAN] = {"fan", SHAPE("percent", GAUGE, 0)},
    [GPU_CLOCK] = {"clock", SHAPE("MHz", GAUGE, 0)},
    [GPU_CLOCK_MAX] = {"clock_max", SHAPE("MHz", GAUGE, 0)},
    [GPU_MEMORY_CLOCK] = {"memory_clock", SHAPE("MHz", GAUGE, 0)},
    [GPU_MEMORY_CLOCK_MAX] = {"memory_clock_max", SHAPE("MHz", GAUGE, 0)},
    [GPU_THROTTLE_REASONS] = {"throttle_reasons", SHAPE("", STATE, 0)},
    [GPU_THROTTLED_POWER] = {"throttled_power", SHAPE("us", COUNTER, 0)},
    [GPU_THROTTLED_THERMAL] = {"throttled_thermal", SHAPE("us", COUNTER, 0)},
    [GPU_THROTTLED_SYNC_BOOST] = {"throttled_sync_boost", SHAPE("us", COUNTER, 0)},
    [GPU_THROTTLED_BOARD_LIMIT] = {"throttled_board_limit", SHAPE("us", COUNTER, 0)},
    [GPU_THROTTLED_RELIABILITY] = {"throttled_reliability", SHAPE("us", COUNTER, 0)},
    [GPU_THROTTLED_PROCHOT] = {"throttled_prochot", SHAPE("us", COUNTER, 0)},
    [GPU_THROTTLED_REGULATOR] = {"throttled_regulator", SHAPE("us", COUNTER, 0)},
    [GPU_THROTTLED_MEMORY] = {"throttled_memory", SHAPE("us", COUNTER, 0)},
    [GPU_THROTTLED] = {"throttled", SHAPE("us", COUNTER, 0)},
    [GPU_PCIE_RX] = {"pcie_rx", SHAPE("bytes", COUNTER, 0)},
    [GPU_PCIE_TX] = {"pcie_tx", SHAPE("bytes", COUNTER, 0)},
    [GPU_PCIE_REPLAYS] = {"pcie_replays", SHAPE("retries", COUNTER, 0)},
    [GPU_PCIE_RECOVERIES] = {"pcie_recoveries", SHAPE("events", COUNTER, 0)},
    [GPU_PCIE_NAKS_SENT] = {"pcie_naks_sent", SHAPE("packets", COUNTER, 0)},
    [GPU_PCIE_NAKS_RECEIVED] = {"pcie_naks_received", SHAPE("packets", COUNTER, 0)},
    [GPU_PCIE_GENERATION] = {"pcie_generation", SHAPE("PCIe generation", GAUGE, 0)},
    [GPU_PCIE_GENERATION_MAX] = {"pcie_generation_max", SHAPE("PCIe generation", GAUGE, 0)},
    [GPU_PCIE_WIDTH] = {"pcie_width", SHAPE("lanes", GAUGE, 0)},
    [GPU_PCIE_WIDTH_MAX] = {"pcie_width_max", SHAPE("lanes", GAUGE, 0)},
    [GPU_ECC_CORRECTED] = {"ecc_corrected", SHAPE("errors", COUNTER, 0)},
    [GPU_ECC_UNCORRECTED] = {"ecc_uncorrected", SHAPE("errors", COUNTER, 0)},
    [GPU_RAS_CORRECTED] = {"ras_corrected", SHAPE("errors", COUNTER, 0)},
    [GPU_RAS_UNCORRECTED] = {"ras_uncorrected", SHAPE("errors", COUNTER, 0)},
    [GPU_RESETS] = {"resets", SHAPE("events", COUNTER, 0)},
    [GPU_ROWS_CORRECTED] = {"rows_remapped_corrected", SHAPE("rows", GAUGE, 0)},
    [GPU_ROWS_UNCORRECTED] = {"rows_remapped_uncorrected", SHAPE("rows", GAUGE, 0)},
    [GPU_ROWS_PENDING] = {"rows_pending", SHAPE("", STATE, 0)},
    [GPU_ROWS_FAILED] = {"rows_failed", SHAPE("", STATE, 0)},
    [GPU_LINKS_UP] = {NULL, SHAPE("links", GAUGE, 0)}, // by the kind of link
    [GPU_NVLINK_CRC_ERRORS] = {"nvlink_crc_errors", SHAPE("errors", COUNTER, 0)},
    [GPU_NVLINK_REPLAYS] = {"nvlink_replays", SHAPE("retries", COUNTER, 0)},
    [GPU_NVLINK_RECOVERIES] = {"nvlink_recoveries", SHAPE("errors", COUNTER, 0)},
    [GPU_RC6_TIME] = {"rc6_time", SHAPE("us", COUNTER, 0)},
    [GPU_IDLE_TIME] = {"idle_time", SHAPE("us", COUNTER, 0)},
    [GPU_PROCESSES] = {"processes", SHAPE("processes", GAUGE, 0)},
    [GPU_JOB_PROCESSES] = {"job_processes", SHAPE("processes", GAUGE, 0)},
    [GPU_JOB_MEMORY] = {"job_memory", SHAPE("bytes", GAUGE, 0)},
    [GPU_JOB_BUSY] = {"job_busy", SHAPE("percent", GAUGE, 0)},
};

typedef struct gpu_state {
    gpu_list list;
    gpu_nvml *nvml;
    gpu_amd *amd;
    gpu_ze *ze;
    gpu_clients *clients; // NULL: no GPU whose driver tells of them
    bool open;
} gpu_state;

// ---- what readers use ----

gpu *gpu_new(gpu_list *list)
{
    gpu **longer = realloc(list->items, (list->count + 1) * sizeof(gpu *)), *g = calloc(1, sizeof *g);
    if (longer) list->items = longer;
    if (!longer || !g) {
        free(g);
        return NULL;
    }
    list->items[list->count++] = g;
    return g;
}

void gpu_offer(gpu *g, gpu_reader reader, gpu_value_id id, int error, uint64_t value)
{
    gpu_value *v = &g->values[id];
    if (g->reader[id] && g->reader[id] != reader) return;
    if (!error) g->reader[id] = (uint8_t)reader;
    if (v->told && error) return; // another one's reason stands
    *v = (gpu_value){.told = true, .error = error, .value = error ? 0 : value};
}

void gpu_set(gpu *g, gpu_value_id id, int error, uint64_t value)
{
    gpu_offer(g, GPU_BY_DRIVER, id, error, value);
}

gpu_link *gpu_link_at(gpu *g, unsigned number)
{
    for (size_t i = 0; i < g->link_count; i++)
        if (g->links[i].number == number) return &g->links[i];
    gpu_link *longer = realloc(g->links, (g->link_count + 1) * sizeof *longer);
    if (!longer) return NULL;
    g->links = longer;
    g->links[g->link_count] = (gpu_link){.number = number};
    return &g->links[g->link_count++];
}

gpu *gpu_at(const gpu_list *list, const char *vendor, unsigned domain, unsigned bus, unsigned device, unsigned function)
{
    char address[40];
    snprintf(address, sizeof address, "%04x:%02x:%02x.%u", domain, bus, device, function);
    for (size_t i = 0; i < list->count; i++) {
        gpu *g = list->items[i];
        if (!g->part && strcmp(g->vendor, vendor) == 0 && strcasecmp(g->pci, address) == 0) return g;
    }
    return NULL;
}

void gpu_library_failed(const gpu_list *list, const char *vendor, const char *library, unsigned result)
{
    for (size_t i = 0; i < list->count; i++) {
        gpu *g = list->items[i];
        if (g->part || strcmp(g->vendor, vendor) != 0) continue;
        snprintf(g->library_failed, sizeof g->library_failed, "%s does not start: result 0x%x", library, result);
    }
}

void *gpu_load(const char *const *names, const emit *e)
{
    void *library = NULL;
    // Another root is a saved tree of another node, of which this node's libraries know nothing.
    if (*emit_root(e) && !gpu_library_of_root) return NULL;
    for (; *names && !library; names++)
        library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
    return library;
}

void gpu_find_functions(void *library, const gpu_function *functions, void *into)
{
    for (; functions->name; functions++) {
        void *address = dlsym(library, functions->name);
        memcpy((char *)into + functions->offset, &address, sizeof address);
    }
}

void gpu_account_busier(gpu_account *a, uint64_t active, uint64_t all)
{
    if (!all || (a->all && (double)active / (double)all <= (double)a->active / (double)a->all)) return;
    *a = (gpu_account){.told = true, .active = active, .all = all};
}

bool gpu_in_group(const emit *e, const char *group, pid_t pid)
{
    emit_file list = {.fd = -1};
    char path[64], *line;
    int error;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%ld/cgroup", (long)pid);
    for (char *at = emit_file_read(&list, e, path, &error); at && (line = emit_line(&at));) {
        char *own = strchr(line, ':'); // "N:controllers:path"
        own = own ? strchr(own + 1, ':') : NULL;
        size_t n = strlen(group);
        if (own && strncmp(own + 1, group, n) == 0 && (!own[1 + n] || own[1 + n] == '/')) found = true;
    }
    emit_file_close(&list);
    return found;
}

bool gpu_of_job(const emit *e, const sources_job *job, pid_t pid)
{
    if (job->cgroup && gpu_in_group(e, job->cgroup, pid)) return true;
    for (int steps = 0; pid > 1 && steps < 64; steps++, pid = emit_process_parent(e, pid))
        for (size_t i = 0; i < job->pid_count; i++)
            if (job->pids[i] == pid) return true;
    return false;
}

// ---- whose GPU it is ----

// Does a list of CUDA_VISIBLE_DEVICES and its like name the GPU? Numbers count what the reader of the list sees.
static bool is_named(const char *list, const gpu *g, size_t number)
{
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',') {
        size_t n = strcspn(at, ",");
        char *end;
        unsigned long value = strtoul(at, &end, 10);
        if (n && (end == at + n || *end == '.') && *at >= '0' && *at <= '9') { // "1.0": a part of number 1
            if (value == number) return true;
        } else if (n > 4 && strncmp(at, g->uuid, n) == 0) { // a beginning of the UUID is enough
            return true;
        }
    }
    return false;
}

static bool has_numbers(const char *list)
{
    return *list >= '0' && *list <= '9';
}

static const struct {
    const char *name, *vendor;
} variables[] = {{"CUDA_VISIBLE_DEVICES", "NVIDIA"},
                 {"ROCR_VISIBLE_DEVICES", "AMD"},
                 {"HIP_VISIBLE_DEVICES", "AMD"},
                 {"ZE_AFFINITY_MASK", "Intel"}};

// A variable of a process's environment; NULL. The text is in f.
static const char *variable_of(emit_file *f, const emit *e, pid_t pid, const char *name)
{
    char path[64];
    int error;
    size_t n = strlen(name);
    snprintf(path, sizeof path, "/proc/%ld/environ", (long)pid);
    const char *text = emit_file_read(f, e, path, &error);
    // A text with zeros inside: its end is where two follow each other.
    for (const char *at = text; at && *at; at += strlen(at) + 1)
        if (strncmp(at, name, n) == 0 && at[n] == '=') return at + n + 1;
    return NULL;
}

static bool same_group(const emit *e, pid_t pid)
{
    emit_file own = {.fd = -1}, other = {.fd = -1};
    char path[64];
    int error;
    snprintf(path, sizeof path, "/proc/%ld/cgroup", (long)pid);
    const char *a = emit_file_read(&own, e, "/proc/self/cgroup", &error), *b = emit_file_read(&other, e, path, &error);
    bool same = a && b && strcmp(a, b) == 0;
    emit_file_close(&own);
    emit_file_close(&other);
    return same;
}

// The place among its maker's GPUs; a part has that of its whole.
static size_t number_of(const gpu_list *list, const gpu *g)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        const gpu *other = list->items[i];
        count += !other->part && strcmp(other->vendor, g->vendor) == 0;
        if (other == g) break;
    }
    return count ? count - 1 : 0;
}

// Programs count GPUs of several models with the fastest first: numbers say nothing then.
static bool is_mixed(const gpu_list *list, const char *vendor)
{
    const gpu *first = NULL;
    for (size_t i = 0; i < list->count; i++) {
        const gpu *g = list->items[i];
        if (g->part || strcmp(g->vendor, vendor) != 0) continue;
        if (first && strcmp(first->model, g->model) != 0) return true;
        if (!first) first = g;
    }
    return false;
}

// By the variable that gives GPUs to programs: "yes", "no", or NULL where it does not say. Numbers in it count the
// GPUs that its process may see, so they are believed only of one that sees the same ones as this process.
static const char *of_job(const emit *e, const gpu_list *all, const gpu *g, const char *variable)
{
    const sources_job *job = all->job;
    const char *verdict = NULL, *own = job->expected && !job->pid_count ? getenv(variable) : NULL;
    size_t number = number_of(all, g);
    bool mixed = is_mixed(all, g->vendor);
    if (own) return has_numbers(own) && mixed ? NULL : is_named(own, g, number) ? "yes" : "no";
    for (size_t i = 0; i < job->pid_count; i++) {
        emit_file environment = {.fd = -1};
        const char *list = variable_of(&environment, e, job->pids[i], variable);
        bool said = list != NULL, believed = list && (!has_numbers(list) || (!mixed && same_group(e, job->pids[i])));
        bool named = believed && is_named(list, g, number);
        emit_file_close(&environment);
        if (named) return "yes";
        if (said && !believed) return NULL;
        if (believed) verdict = "no";
    }
    return verdict;
}

static void tell_job(gpu_state *s, emit *e, const gpu *g)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        if (strcmp(variables[i].vendor, g->vendor) != 0) continue;
        const char *verdict = of_job(e, &s->list, g, variables[i].name);
        if (!verdict) continue;
        emit_fact(e, "job", verdict);
        emit_fact(e, "job_by", variables[i].name);
        return;
    }
    const gpu_value *holding = &g->values[GPU_JOB_PROCESSES];
    if (!holding->told || holding->error || !holding->value) return;
    emit_fact(e, "job", "yes");
    emit_fact(e, "job_by", "process");
}

// ---- what readings add up to ----

static bool is_known(const gpu *g, gpu_value_id id)
{
    return g->values[id].told && !g->values[id].error;
}

// The busiest engine stands for the GPU.
static void add_account(gpu *g, uint64_t passed_us)
{
    const gpu_account *a = &g->account;
    if (!a->told) return;
    if (a->error || !a->all) {
        gpu_set(g, GPU_BUSY, a->error ? a->error : ENODATA, 0);
        return;
    }
    double share = a->active < a->all ? (double)a->active / (double)a->all : 1;
    gpu_set(g, GPU_BUSY, 0, (uint64_t)(100 * share + 0.5));
    g->busy_us += (uint64_t)((double)passed_us * share + 0.5);
}

enum { TICKS = sizeof((gpu_ticks *)0)->of / sizeof(uint64_t) };

// Firmware that has not counted on since the last reading tells of this time at the next one.
static void add_ticks(gpu *g, uint64_t passed_us)
{
    const gpu_ticks *now = &g->ticks;
    gpu_ticks *last = &g->last_ticks;
    double share[TICKS] = {0};
    if (!now->told) return;
    uint64_t all = (now->all - last->all) & now->mask;
    g->ticks_us += passed_us;
    bool counted = !now->error && last->told && all;
    for (size_t i = 0; i < TICKS; i++) {
        bool known = counted && now->told_of & last->told_of & 1u << i;
        uint64_t of = known ? (now->of[i] - last->of[i]) & now->mask : 0;
        share[i] = !known ? 0 : of < all ? (double)of / (double)all : 1;
        g->ticks_sum_us[i] += (uint64_t)(share[i] * (double)g->ticks_us + 0.5);
        gpu_value_id id = (gpu_value_id)(GPU_THROTTLED_POWER + i);
        if (now->told_of & 1u << i) gpu_set(g, id, now->error, g->ticks_sum_us[i]);
    }
    if (counted) {
        double us = (double)g->ticks_us, thermal = 0;
        static const gpu_value_id hot[] = {GPU_THROTTLED_THERMAL, GPU_THROTTLED_REGULATOR, GPU_THROTTLED_MEMORY};
        for (size_t i = 0; i < sizeof hot / sizeof *hot; i++)
            if (share[hot[i] - GPU_THROTTLED_POWER] > thermal) thermal = share[hot[i] - GPU_THROTTLED_POWER];
        g->reason_us[0] += (uint64_t)(share[0] * us + 0.5);
        g->reason_us[1] += (uint64_t)(thermal * us + 0.5);
        g->reason_us[2] += (uint64_t)(share[GPU_THROTTLED_PROCHOT - GPU_THROTTLED_POWER] * us + 0.5);
    }
    if (now->error || (last->told && !all)) return;
    *last = *now;
    g->ticks_us = 0;
}

static void add_up(gpu *g, uint64_t passed_us)
{
    static const unsigned reasons[GPU_REASONS] = {GPU_REASON_POWER, GPU_REASON_THERMAL, GPU_REASON_HARDWARE};
    add_account(g, passed_us);
    add_ticks(g, passed_us);
    if (is_known(g, GPU_BUSY)) {
        uint64_t busy = g->values[GPU_BUSY].value;
        g->seen_us += passed_us;
        if (!g->account.told) g->busy_us += busy * passed_us / 100;
        if (busy >= LOADED_PERCENT && is_known(g, GPU_CLOCK)) {
            g->loaded_us += passed_us;
            g->loaded_cycles += passed_us * g->values[GPU_CLOCK].value; // MHz times microseconds
        }
    }
    for (size_t i = 0; i < GPU_REASONS; i++)
        if (is_known(g, GPU_THROTTLE_REASONS) && g->reasons & reasons[i]) g->reason_us[i] += passed_us;
    if (is_known(g, GPU_JOB_PROCESSES) && g->values[GPU_JOB_PROCESSES].value) g->job_us += passed_us;
    if (is_known(g, GPU_MEMORY_USED) && g->values[GPU_MEMORY_USED].value > g->memory_peak)
        g->memory_peak = g->values[GPU_MEMORY_USED].value;
}

// Why it is not known how long this reason held; 0: it is.
static int reason_error(const gpu *g, size_t reason)
{
    static const gpu_value_id by_ticks[GPU_REASONS] = {GPU_THROTTLED_POWER, GPU_THROTTLED_THERMAL,
                                                       GPU_THROTTLED_PROCHOT};
    if (is_known(g, GPU_THROTTLE_REASONS)) return 0;
    if (!g->ticks.told) return g->values[GPU_THROTTLE_REASONS].error;
    if (g->ticks.error) return g->ticks.error;
    return g->ticks.told_of & 1u << (by_ticks[reason] - GPU_THROTTLED_POWER) ? 0 : EOPNOTSUPP;
}

static void tell_sums(const gpu *g, emit *e)
{
    static const emit_shape time = SHAPE("us", COUNTER, 0), cycles = SHAPE("GPU cycles", COUNTER, 0),
                            bytes = SHAPE("bytes", GAUGE, 0);
    static const char *const reasons[GPU_REASONS] = {"reason_power_cap", "reason_thermal", "reason_hardware"};
    if (g->values[GPU_BUSY].told) {
        emit_value(e, "busy_time", &time, g->busy_us);
        emit_value(e, "seen_time", &time, g->seen_us);
        if (g->values[GPU_CLOCK].told) {
            emit_value(e, "loaded_time", &time, g->loaded_us);
            emit_value(e, "loaded_cycles", &cycles, g->loaded_cycles);
        }
    }
    if (g->values[GPU_MEMORY_USED].told && (g->memory_peak || is_known(g, GPU_MEMORY_USED)))
        emit_value(e, "memory_peak", &bytes, g->memory_peak);
    else if (g->values[GPU_MEMORY_USED].told)
        emit_failed(e, "memory_peak", &bytes, g->values[GPU_MEMORY_USED].error);
    if (g->values[GPU_JOB_PROCESSES].told) emit_value(e, "job_time", &time, g->job_us);
    bool told = g->values[GPU_THROTTLE_REASONS].told || g->ticks.told;
    for (size_t i = 0; i < GPU_REASONS && told; i++) {
        int error = reason_error(g, i);
        if (error)
            emit_failed(e, reasons[i], &time, error);
        else
            emit_value(e, reasons[i], &time, g->reason_us[i]);
    }
}

// ---- telling ----

static void tell_value(emit *e, const char *name, const emit_shape *shape, const gpu_value *v)
{
    emit_shape own = *shape;
    if (!v->told) return;
    if (v->width) own.width = v->width;
    if (v->error)
        emit_failed(e, name, &own, v->error);
    else
        emit_value(e, name, &own, v->value);
}

static void tell_links(const gpu *g, emit *e)
{
    static const emit_shape bytes = SHAPE("bytes", COUNTER, 0), up = SHAPE("", STATE, 0);
    char name[48];
    snprintf(name, sizeof name, "%ss_up", g->link_kind ? g->link_kind : "");
    tell_value(e, name, &rows[GPU_LINKS_UP].shape, &g->values[GPU_LINKS_UP]);
    for (size_t i = 0; i < g->link_count; i++) {
        const gpu_link *l = &g->links[i];
        const struct {
            const char *name;
            const gpu_value *value;
            const emit_shape *shape;
        } parts[] = {{"up", &l->up, &up}, {"rx_bytes", &l->rx, &bytes}, {"tx_bytes", &l->tx, &bytes}};
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
            snprintf(name, sizeof name, "%s%u_%s", g->link_kind, l->number, parts[k].name);
            tell_value(e, name, parts[k].shape, parts[k].value);
        }
    }
}

static void tell_facts(gpu_state *s, emit *e, gpu *g)
{
    emit_fact(e, "vendor", g->vendor);
    emit_fact(e, "model", g->model);
    g->facts(g, e);
    if (g->library.facts)
        g->library.facts(g, e);
    else
        emit_fact(e, "library", g->library_failed);
    if (g->engines.facts) g->engines.facts(g, e);
    emit_fact(e, "uuid", g->uuid);
    emit_fact(e, "pci", g->pci);
    tell_job(s, e, g);
}

static void tell_gpu(gpu_state *s, emit *e, gpu *g)
{
    int64_t now = gpu_clock_us();
    memset(g->values, 0, sizeof g->values);
    for (size_t i = 0; i < g->link_count; i++)
        g->links[i] = (gpu_link){.number = g->links[i].number};
    g->ticks = (gpu_ticks){0};
    g->account = (gpu_account){0};
    g->read(g, e);
    if (g->library.read) g->library.read(g, e);
    if (g->engines.read) g->engines.read(g, e);
    if (s->clients) gpu_clients_set(s->clients, g);
    add_up(g, g->last_us ? (uint64_t)(now - g->last_us) : 0);
    g->last_us = now;
    emit_device(e, g->name, g->part ? NETPROF_DEVICE_VIRTUAL : NETPROF_DEVICE_PHYSICAL);
    if (emit_lists(e)) tell_facts(s, e, g);
    for (size_t i = 0; i < GPU_VALUES; i++)
        if (rows[i].name) tell_value(e, rows[i].name, &rows[i].shape, &g->values[i]);
    tell_sums(g, e);
    tell_links(g, e);
    if (g->library.tell) g->library.tell(g, e);
    if (g->engines.tell) g->engines.tell(g, e);
    if (s->clients) gpu_clients_tell(s->clients, g, e);
}

static void open_all(gpu_state *s, const emit *e)
{
    s->open = true;
    // A saved tree is another node: this node's library knows nothing of it.
    if (!*emit_root(e)) s->nvml = gpu_nvml_open(&s->list);
    gpu_drm_open(&s->list, e);
    s->amd = gpu_amd_open(&s->list, e);
    s->ze = gpu_ze_open(&s->list, e);
    for (size_t i = 0; i < s->list.count; i++) {
        gpu *g = s->list.items[i];
        if (!*g->driver) continue;
        if (!g->library.tell) gpu_engines_open(g, e); // else it tells of engines
        if (!s->clients && (s->list.job->pid_count || s->list.job->cgroup || s->list.job->expected))
            s->clients = gpu_clients_open();
    }
}

static void walk(void *state, emit *e)
{
    gpu_state *s = state;
    if (emit_fast_only(e)) return; // drivers take milliseconds
    if (!s->open) open_all(s, e);
    if (s->clients) gpu_clients_read(s->clients, &s->list, e);
    for (size_t i = 0; i < s->list.count; i++)
        tell_gpu(s, e, s->list.items[i]);
    if (s->list.error)
        emit_state(e, netprof_status_of_errno(s->list.error), s->list.error, s->list.text);
    else if (!s->list.count)
        emit_state(e, NETPROF_STATUS_ABSENT, 0, "/sys/class/drm");
}

static void close_gpu(void *state)
{
    gpu_state *s = state;
    for (size_t i = 0; i < s->list.count; i++) {
        gpu *g = s->list.items[i];
        if (g->close) g->close(g);
        if (g->library.close) g->library.close(g);
        if (g->engines.close) g->engines.close(g);
        free(g->links);
        free(g->own);
        free(g);
    }
    free(s->list.items);
    gpu_clients_close(s->clients);
    gpu_amd_close(s->amd);
    gpu_ze_close(s->ze);
    gpu_nvml_close(s->nvml);
}

netprof_err sources_add_gpu(netprof *np, const sources_job *job, netprof_error *error)
{
    static const emit_source source = {.name = "gpu", .size = sizeof(gpu_state), .walk = walk, .close = close_gpu};
    gpu_state state = {.list = {.job = job}};
    return emit_add(np, &source, &state, error);
}
