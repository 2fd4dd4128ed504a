// The source "gpu": GPUs of all makers under the same names. NVIDIA's are read by its library, AMD's and Intel's from
// sysfs and, for what sysfs lacks, by their libraries.
#define _GNU_SOURCE
#include "gpu_amd.h"
#include "gpu_clients.h"
#include "gpu_drm.h"
#include "gpu_engines.h"
#include "gpu_job.h"
#include "gpu_nvml.h"
#include "gpu_sums.h"
#include "gpu_ze.h"
#include "sources/sources_makers.h"
#include "sources/shapes.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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
    gpu_clients *clients; // NULL: no GPU whose driver reports them
    bool open;
} gpu_state;

static void gpu_tell_value(emit *e, const char *name, const emit_shape *shape, const gpu_value *v)
{
    emit_shape own = *shape;
    if (!v->told) return;
    if (v->width) own.width = v->width;
    if (v->error)
        emit_failed(e, name, &own, v->error);
    else
        emit_value(e, name, &own, v->value);
}

static void gpu_tell_links(const gpu *g, emit *e)
{
    static const emit_shape bytes = SHAPE("bytes", COUNTER, 0), up = SHAPE("", STATE, 0);
    char name[48];
    snprintf(name, sizeof name, "%ss_up", g->link_kind ? g->link_kind : "");
    gpu_tell_value(e, name, &rows[GPU_LINKS_UP].shape, &g->values[GPU_LINKS_UP]);
    for (size_t i = 0; i < g->link_count; i++) {
        const gpu_link *l = &g->links[i];
        const struct {
            const char *name;
            const gpu_value *value;
            const emit_shape *shape;
        } parts[] = {{"up", &l->up, &up}, {"rx_bytes", &l->rx, &bytes}, {"tx_bytes", &l->tx, &bytes}};
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
            snprintf(name, sizeof name, "%s%u_%s", g->link_kind, l->number, parts[k].name);
            gpu_tell_value(e, name, parts[k].shape, parts[k].value);
        }
    }
}

static void gpu_tell_facts(gpu_state *s, emit *e, gpu *g)
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
    gpu_job_facts(&s->list, g, e);
}

static void gpu_tell_gpu(gpu_state *s, emit *e, gpu *g)
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
    gpu_sums_add(g, g->last_us ? (uint64_t)(now - g->last_us) : 0);
    g->last_us = now;
    emit_device(e, g->name, g->part ? NETPROF_DEVICE_VIRTUAL : NETPROF_DEVICE_PHYSICAL);
    if (emit_lists(e)) gpu_tell_facts(s, e, g);
    for (size_t i = 0; i < GPU_VALUES; i++)
        if (rows[i].name) gpu_tell_value(e, rows[i].name, &rows[i].shape, &g->values[i]);
    gpu_sums_tell(g, e);
    gpu_tell_links(g, e);
    if (g->library.tell) g->library.tell(g, e);
    if (g->engines.tell) g->engines.tell(g, e);
    if (s->clients) gpu_clients_tell(s->clients, g, e);
}

static void gpu_open_all(gpu_state *s, const emit *e)
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
        if (!g->library.tell) gpu_engines_open(g, e); // otherwise the library reports the engines
        if (!s->clients && (s->list.job->pid_count || s->list.job->cgroup || s->list.job->expected))
            s->clients = gpu_clients_open();
    }
}

static void gpu_walk(void *state, emit *e)
{
    gpu_state *s = state;
    if (emit_fast_only(e)) return; // drivers take milliseconds
    if (!s->open) gpu_open_all(s, e);
    if (s->clients) gpu_clients_read(s->clients, &s->list, e);
    for (size_t i = 0; i < s->list.count; i++)
        gpu_tell_gpu(s, e, s->list.items[i]);
    if (s->list.error)
        emit_state(e, netprof_status_of_errno(s->list.error), s->list.error, s->list.text);
    else if (!s->list.count)
        emit_state(e, NETPROF_STATUS_ABSENT, 0, "/sys/class/drm");
}

static void gpu_close(void *state)
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
    static const emit_source source = {.name = "gpu", .size = sizeof(gpu_state), .walk = gpu_walk, .close = gpu_close};
    gpu_state state = {.list = {.job = job}};
    return emit_add(np, &source, &state, error);
}
