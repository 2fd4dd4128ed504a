// Intel GPUs by Level Zero's system management (libze_loader.so.1): engines, memory, links between GPUs, and what sysfs
// shows to root alone.
#define _GNU_SOURCE
#include "gpu_ze.h"

#include "gpu_ze_api.h"
#include "sources/shapes.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const usual[] = {"libze_loader.so.1", NULL};
const char *const *gpu_ze_names = usual;

// ---- the library ----

#define FUNCTION(member, name)                                                                                         \
    {                                                                                                                  \
        name, offsetof(struct gpu_ze, member)                                                                          \
    }
static const gpu_function functions[] = {
    FUNCTION(init, "zesInit"),
    FUNCTION(drivers, "zesDriverGet"),
    FUNCTION(devices, "zesDeviceGet"),
    FUNCTION(old_init, "zeInit"),
    FUNCTION(old_drivers, "zeDriverGet"),
    FUNCTION(old_devices, "zeDeviceGet"),
    FUNCTION(pci, "zesDevicePciGetProperties"),
    FUNCTION(pci_stats, "zesDevicePciGetStats"),
    FUNCTION(engines, "zesDeviceEnumEngineGroups"),
    FUNCTION(engine, "zesEngineGetProperties"),
    FUNCTION(activity, "zesEngineGetActivity"),
    FUNCTION(powers, "zesDeviceEnumPowerDomains"),
    FUNCTION(power, "zesPowerGetProperties"),
    FUNCTION(card_power, "zesDeviceGetCardPowerDomain"),
    FUNCTION(energy, "zesPowerGetEnergyCounter"),
    FUNCTION(memories, "zesDeviceEnumMemoryModules"),
    FUNCTION(memory, "zesMemoryGetProperties"),
    FUNCTION(memory_state, "zesMemoryGetState"),
    FUNCTION(traffic, "zesMemoryGetBandwidth"),
    FUNCTION(clocks, "zesDeviceEnumFrequencyDomains"),
    FUNCTION(clock, "zesFrequencyGetProperties"),
    FUNCTION(clock_state, "zesFrequencyGetState"),
    FUNCTION(throttled, "zesFrequencyGetThrottleTime"),
    FUNCTION(temperatures, "zesDeviceEnumTemperatureSensors"),
    FUNCTION(temperature, "zesTemperatureGetProperties"),
    FUNCTION(celsius, "zesTemperatureGetState"),
    FUNCTION(ports, "zesDeviceEnumFabricPorts"),
    FUNCTION(port_state, "zesFabricPortGetState"),
    FUNCTION(port_traffic, "zesFabricPortGetThroughput"),
    FUNCTION(errors, "zesDeviceEnumRasErrorSets"),
    FUNCTION(error, "zesRasGetProperties"),
    FUNCTION(error_state, "zesRasGetState"),
    {NULL, 0},
};

static int gpu_ze_errno_of(int result)
{
    switch ((unsigned)result) {
    case 0: return 0;
    case 0x70000001:                // device lost
    case 0x70000006: return ENODEV; // device requires a reset
    case NO_HOST_MEMORY:
    case 0x70000003: return ENOMEM; // no memory of the device
    case 0x70000007: return EAGAIN; // device sleeps
    case 0x70010000: return EACCES; // insufficient permissions
    case 0x70010001: return EBUSY;  // not available: somebody else has it
    case 0x70020000:                // a dependency is missing
    case UNSUPPORTED_VERSION:
    case 0x78000003: return EOPNOTSUPP; // unsupported feature
    default: return EIO;
    }
}

#define CALL(z, member, ...) ((z)->member ? gpu_ze_errno_of((z)->member(__VA_ARGS__)) : EOPNOTSUPP)

// ---- one GPU ----

// A part that a GPU has several of, with the properties that matter.
typedef struct part {
    handle h;
    int kind;
    bool on_part;    // of a tile
    uint32_t number; // of the tile
    uint64_t mask;   // of its counters
    bool counts;     // ... whose width is known
    uint64_t last[2], sum[2];
    bool read_once;
    int64_t since_us; // engines: of last
    gpu_value value;
    char name[32];
} part;

typedef struct parts {
    part *items;
    uint32_t count;
} parts;

typedef struct ze_gpu {
    gpu_ze *z;
    handle device;
    pci_properties pci;
    parts engines, powers, memories, clocks, temperatures, ports, errors;
    double clock_most, memory_clock_most;
} ze_gpu;

static void gpu_ze_offer(gpu *g, gpu_value_id id, int error, uint64_t value)
{
    if (error != EOPNOTSUPP || g->reader[id] == GPU_BY_LIBRARY) gpu_offer(g, GPU_BY_LIBRARY, id, error, value);
}

static uint64_t gpu_ze_megahertz(double value)
{
    return isfinite(value) && value >= 0 && value < 1e6 ? (uint64_t)(value + 0.5) : UINT64_MAX; // negative: unknown
}

static bool gpu_ze_is_any_whole(const parts *p, int kind)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (!p->items[i].on_part && p->items[i].kind == kind) return true;
    return false;
}

// Some GPUs report the whole, some each tile, some both: in that case only the whole counts.
static bool gpu_ze_counts(const parts *p, uint32_t i)
{
    return !p->items[i].on_part || !gpu_ze_is_any_whole(p, p->items[i].kind);
}

static void gpu_ze_read_energy(gpu *g, ze_gpu *x)
{
    uint64_t sum = 0;
    int error = 0;
    for (uint32_t i = 0; i < x->powers.count; i++) {
        energy_counter counter = {0};
        int failed = CALL(x->z, energy, x->powers.items[i].h, &counter);
        if (failed) error = failed;
        sum += counter.microjoules;
    }
    if (x->powers.count) gpu_ze_offer(g, GPU_ENERGY, error, sum);
}

// Adds what a counter of a known width has grown by.
static uint64_t gpu_ze_widen(part *p, size_t which, uint64_t now)
{
    now &= p->mask;
    p->sum[which] += p->read_once ? (now - p->last[which]) & p->mask : now;
    p->last[which] = now;
    return p->sum[which];
}

static void gpu_ze_read_traffic(gpu *g, ze_gpu *x)
{
    uint64_t read = 0, written = 0;
    int error = 0;
    bool any = false;
    for (uint32_t i = 0; i < x->memories.count; i++) {
        part *p = &x->memories.items[i];
        memory_traffic t = {0};
        if (!p->counts || !gpu_ze_counts(&x->memories, i)) continue;
        any = true;
        int failed = CALL(x->z, traffic, p->h, &t);
        if (failed) error = failed;
        if (failed) continue;
        read += gpu_ze_widen(p, 0, t.read);
        written += gpu_ze_widen(p, 1, t.written);
        p->read_once = true;
    }
    if (!any) return;
    gpu_ze_offer(g, GPU_MEMORY_READ, error, read);
    gpu_ze_offer(g, GPU_MEMORY_WRITTEN, error, written);
}

static void gpu_ze_read_memory(gpu *g, ze_gpu *x)
{
    uint64_t total = 0, free_bytes = 0;
    int error = 0;
    for (uint32_t i = 0; i < x->memories.count; i++) {
        memory_state state = {.head = {MEMORY_STATE, NULL}};
        if (!gpu_ze_counts(&x->memories, i)) continue;
        int failed = CALL(x->z, memory_state, x->memories.items[i].h, &state);
        if (!failed && (!state.size || state.free > state.size)) failed = EBADMSG;
        if (failed) error = failed;
        total += state.size;
        free_bytes += state.free;
    }
    if (!x->memories.count) return;
    gpu_ze_offer(g, GPU_MEMORY_TOTAL, error, total);
    gpu_ze_offer(g, GPU_MEMORY_USED, error, total - free_bytes);
    gpu_ze_read_traffic(g, x);
}

static unsigned gpu_ze_reasons_of(uint32_t bits)
{
    return (bits & 0x7 ? GPU_REASON_POWER : 0u) | (bits & 0x8 ? GPU_REASON_THERMAL : 0u) |
           (bits & 0x50 ? GPU_REASON_HARDWARE : 0u); // power supply's alarm, hardware's range
}

// Of several tiles the slowest, and every reason that one of them has.
static void gpu_ze_read_clocks(gpu *g, ze_gpu *x)
{
    static const gpu_value_id ids[] = {[CLOCK_OF_GPU] = GPU_CLOCK, [CLOCK_OF_MEMORY] = GPU_MEMORY_CLOCK};
    uint64_t least[2] = {UINT64_MAX, UINT64_MAX}, time = 0;
    uint32_t reasons = 0;
    int error[2] = {0, 0}, time_error = 0;
    bool any[2] = {false, false};
    for (uint32_t i = 0; i < x->clocks.count; i++) {
        const part *p = &x->clocks.items[i];
        clock_state state = {.head = {CLOCK_STATE, NULL}};
        throttle_time throttled = {0};
        if (p->kind > CLOCK_OF_MEMORY || !gpu_ze_counts(&x->clocks, i)) continue;
        any[p->kind] = true;
        int failed = CALL(x->z, clock_state, p->h, &state);
        uint64_t mhz = failed ? UINT64_MAX : gpu_ze_megahertz(state.actual);
        if (!failed && mhz == UINT64_MAX) failed = EOPNOTSUPP;
        if (failed) error[p->kind] = failed;
        if (mhz < least[p->kind]) least[p->kind] = mhz;
        if (p->kind != CLOCK_OF_GPU) continue;
        reasons |= state.reasons;
        failed = CALL(x->z, throttled, p->h, &throttled);
        if (failed) time_error = failed;
        if (throttled.us > time) time = throttled.us;
    }
    for (int kind = 0; kind < 2; kind++)
        if (any[kind]) gpu_ze_offer(g, ids[kind], error[kind], least[kind]);
    if (x->clock_most > 0) gpu_ze_offer(g, GPU_CLOCK_MAX, 0, gpu_ze_megahertz(x->clock_most));
    if (x->memory_clock_most > 0) gpu_ze_offer(g, GPU_MEMORY_CLOCK_MAX, 0, gpu_ze_megahertz(x->memory_clock_most));
    if (!any[CLOCK_OF_GPU]) return;
    gpu_ze_offer(g, GPU_THROTTLED, time_error, time);
    if (g->values[GPU_THROTTLE_REASONS].told && g->reader[GPU_THROTTLE_REASONS] != GPU_BY_LIBRARY) return;
    gpu_ze_offer(g, GPU_THROTTLE_REASONS, error[CLOCK_OF_GPU], reasons);
    if (g->reader[GPU_THROTTLE_REASONS] == GPU_BY_LIBRARY) g->reasons = gpu_ze_reasons_of(reasons);
}

static void gpu_ze_read_temperatures(gpu *g, ze_gpu *x)
{
    static const gpu_value_id ids[] = {GPU_HOTSPOT_TEMPERATURE, GPU_TEMPERATURE, GPU_MEMORY_TEMPERATURE};
    for (int kind = 0; kind < 3; kind++) {
        double most = -INFINITY;
        int error = 0;
        bool any = false;
        for (uint32_t i = 0; i < x->temperatures.count; i++) {
            double celsius = NAN;
            if (x->temperatures.items[i].kind != kind || !gpu_ze_counts(&x->temperatures, i)) continue;
            any = true;
            int failed = CALL(x->z, celsius, x->temperatures.items[i].h, &celsius);
            if (!failed && !(celsius > -273 && celsius < 1000)) failed = EBADMSG;
            if (failed) error = failed;
            if (!failed && celsius > most) most = celsius;
        }
        if (any) gpu_ze_offer(g, ids[kind], error, error ? 0 : (uint64_t)(int64_t)lround(most * 1000));
    }
}

static void gpu_ze_read_ports(gpu *g, ze_gpu *x)
{
    uint64_t up = 0;
    int error = 0;
    for (uint32_t i = 0; i < x->ports.count; i++) {
        port_state state = {.head = {PORT_STATE, NULL}};
        port_traffic traffic = {0};
        gpu_link *l = gpu_link_at(g, i);
        if (!l) return;
        int failed = CALL(x->z, port_state, x->ports.items[i].h, &state);
        if (!failed && !state.status) failed = ENODATA; // the port itself does not know
        if (failed) error = failed;
        bool works = !failed && (state.status == 1 || state.status == 2); // healthy, degraded
        l->up = (gpu_value){.told = true, .error = failed, .value = works};
        up += works;
        failed = CALL(x->z, port_traffic, x->ports.items[i].h, &traffic);
        l->rx = (gpu_value){.told = true, .error = failed, .value = failed ? 0 : traffic.received};
        l->tx = (gpu_value){.told = true, .error = failed, .value = failed ? 0 : traffic.sent};
    }
    if (x->ports.count) gpu_ze_offer(g, GPU_LINKS_UP, error, up);
}

static void gpu_ze_read_errors(gpu *g, ze_gpu *x)
{
    uint64_t counts_of[2] = {0, 0}, resets = 0;
    int errors[2] = {0, 0};
    bool any[2] = {false, false};
    for (uint32_t i = 0; i < x->errors.count; i++) {
        const part *p = &x->errors.items[i];
        ras_state state = {.head = {RAS_STATE, NULL}};
        if (p->kind < 0 || p->kind > 1 || !gpu_ze_counts(&x->errors, i)) continue;
        any[p->kind] = true;
        int failed = CALL(x->z, error_state, p->h, 0, &state); // 0: do not clear
        if (failed) errors[p->kind] = failed;
        counts_of[p->kind] += state.counts[RAS_COMPUTE] + state.counts[RAS_OTHERS] + state.counts[RAS_CACHE];
        if (p->kind == 1) resets += state.counts[RAS_RESETS];
    }
    if (any[0]) gpu_ze_offer(g, GPU_RAS_CORRECTED, errors[0], counts_of[0]);
    if (any[1]) gpu_ze_offer(g, GPU_RAS_UNCORRECTED, errors[1], counts_of[1]);
    if (any[1]) gpu_ze_offer(g, GPU_RESETS, errors[1], resets);
}

static void gpu_ze_read_pci(gpu *g, ze_gpu *x)
{
    pci_stats stats = {0};
    const pci_properties *p = &x->pci;
    if (!p->counts_bytes && !p->counts_replays) return;
    int error = CALL(x->z, pci_stats, x->device, &stats);
    if (p->counts_bytes) {
        gpu_ze_offer(g, GPU_PCIE_RX, error, stats.received);
        gpu_ze_offer(g, GPU_PCIE_TX, error, stats.sent);
    }
    if (p->counts_replays) gpu_ze_offer(g, GPU_PCIE_REPLAYS, error, stats.replays);
}

// What an engine worked since the last reading, of all that passed, in the driver's unit; all is 0 when that is not
// known. Only their ratio means the same with all drivers, so time is reported as that share of the time that passed.
static gpu_account gpu_ze_work_of(part *p, const engine_stats *now, int64_t now_us)
{
    gpu_account work = {.told = true};
    if (p->read_once && now->stamp == p->last[1]) return work; // not updated: the next reading covers both periods
    if (p->read_once && now->active >= p->last[0] && now->stamp > p->last[1]) {
        work.active = now->active - p->last[0];
        work.all = now->stamp - p->last[1];
        double share = work.active < work.all ? (double)work.active / (double)work.all : 1;
        p->sum[0] += (uint64_t)(share * 1000 * (double)(now_us - p->since_us) + 0.5);
    }
    p->last[0] = now->active;
    p->last[1] = now->stamp;
    p->since_us = now_us;
    p->read_once = true;
    return work;
}

// Of the groups that hold all engines of the GPU, or of each tile, the busiest; without such ones of all groups.
static void gpu_ze_read_engines(gpu *g, ze_gpu *x)
{
    gpu_account a = {.told = x->engines.count > 0};
    int64_t now_us = gpu_clock_us();
    bool have_all = false;
    for (uint32_t i = 0; i < x->engines.count; i++)
        have_all |= x->engines.items[i].kind == ENGINE_ALL;
    for (uint32_t i = 0; i < x->engines.count; i++) {
        part *p = &x->engines.items[i];
        engine_stats stats = {0};
        int error = CALL(x->z, activity, p->h, &stats);
        p->value = (gpu_value){.told = true, .error = error};
        if (error) {
            if (!a.all) a.error = error;
            continue;
        }
        const gpu_account work = gpu_ze_work_of(p, &stats, now_us);
        p->value.value = p->sum[0];
        if (!have_all || p->kind == ENGINE_ALL) gpu_account_busier(&a, work.active, work.all);
    }
    g->account = a;
}

static void gpu_ze_read_library(gpu *g, const emit *e)
{
    ze_gpu *x = g->library.own;
    (void)e;
    gpu_ze_read_engines(g, x);
    gpu_ze_read_energy(g, x);
    gpu_ze_read_memory(g, x);
    gpu_ze_read_clocks(g, x);
    gpu_ze_read_temperatures(g, x);
    gpu_ze_read_ports(g, x);
    gpu_ze_read_errors(g, x);
    gpu_ze_read_pci(g, x);
}

static void gpu_ze_tell_engines(gpu *g, emit *e)
{
    static const emit_shape shape = SHAPE("ns", COUNTER, 0);
    const ze_gpu *x = g->library.own;
    for (uint32_t i = 0; i < x->engines.count; i++) {
        const part *p = &x->engines.items[i];
        if (p->value.error)
            emit_failed(e, p->name, &shape, p->value.error);
        else
            emit_value(e, p->name, &shape, p->value.value);
    }
}

static void gpu_ze_tell_facts(gpu *g, emit *e)
{
    const ze_gpu *x = g->library.own;
    emit_factf(e, "library", "Level Zero, %s", x->z->way);
    if (x->ports.count)
        emit_factf(e, "fabric_ports", "%u", x->ports.count);
    else
        emit_fact(e, "fabric_ports", "none are told by Level Zero");
}

static void gpu_ze_close_library(gpu *g)
{
    ze_gpu *x = g->library.own;
    parts *all[] = {&x->engines, &x->powers, &x->memories, &x->clocks, &x->temperatures, &x->ports, &x->errors};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]->items);
    free(x);
}

// ---- finding them ----

static void gpu_ze_list(parts *p, enumerate *of, handle device)
{
    enum { MOST = 1024 };
    uint32_t count = 0;
    handle *handles = NULL;
    if (!of || of(device, &count, NULL) || !count || count > MOST) return;
    const uint32_t room = count;
    handles = calloc(room, sizeof *handles);
    p->items = calloc(room, sizeof *p->items);
    if (handles && p->items && !of(device, &count, handles)) {
        p->count = count < room ? count : room;
        for (uint32_t i = 0; i < p->count; i++)
            p->items[i].h = handles[i];
    }
    free(handles);
}

static void gpu_ze_name_engines(ze_gpu *x)
{
    static const char *const kinds[] = {
        "all",  "compute_all", "media_all", "copy_all",           "compute",    "render", "decode",   "encode",
        "copy", "enhance",     "3d",        "render_compute_all", "render_all", "3d_all", "codec_all"};
    for (uint32_t i = 0; i < x->engines.count; i++) {
        engine_properties p = {.head = {ENGINE_PROPERTIES, NULL}};
        part *engine = &x->engines.items[i];
        unsigned number = 0;
        engine->kind = -1;
        if (!CALL(x->z, engine, engine->h, &p)) {
            engine->kind = p.kind;
            engine->on_part = p.on_part;
            engine->number = p.part;
        }
        for (uint32_t k = 0; k < i; k++)
            number += x->engines.items[k].kind == engine->kind;
        const char *kind =
            engine->kind >= 0 && (size_t)engine->kind < sizeof kinds / sizeof *kinds ? kinds[engine->kind] : "other";
        snprintf(engine->name, sizeof engine->name, "engine_%s%u", kind, number);
    }
}

static void gpu_ze_find_memories(ze_gpu *x)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < x->memories.count; i++) {
        counter_bits bits = {.head = {COUNTER_BITS, NULL}};
        memory_properties p = {.head = {MEMORY_PROPERTIES, &bits}};
        part *m = &x->memories.items[i];
        if (CALL(x->z, memory, m->h, &p) || p.place != MEMORY_OF_DEVICE) continue;
        m->on_part = p.on_part;
        // Counters of an unknown width would wrap unseen.
        m->counts = bits.bits >= 32 && bits.bits <= 64;
        m->mask = bits.bits >= 64 ? UINT64_MAX : (UINT64_C(1) << (m->counts ? bits.bits : 0)) - 1;
        x->memories.items[kept++] = *m;
    }
    x->memories.count = kept;
}

static void gpu_ze_find_clocks(ze_gpu *x)
{
    for (uint32_t i = 0; i < x->clocks.count; i++) {
        clock_properties p = {.head = {CLOCK_PROPERTIES, NULL}};
        part *c = &x->clocks.items[i];
        c->kind = INT32_MAX;
        if (CALL(x->z, clock, c->h, &p)) continue;
        c->kind = p.kind < 0 ? INT32_MAX : p.kind;
        c->on_part = p.on_part;
        double *most = p.kind == CLOCK_OF_GPU ? &x->clock_most : &x->memory_clock_most;
        if (c->kind <= CLOCK_OF_MEMORY && gpu_ze_megahertz(p.most) != UINT64_MAX && p.most > *most) *most = p.most;
    }
}

// One domain may lie within another (card, package, memory). The card's is the whole; without it a single one of the
// GPU, or a single one of each tile. Of all else the sum would count energy twice.
static void gpu_ze_find_powers(ze_gpu *x)
{
    parts *p = &x->powers;
    handle card = NULL;
    uint32_t wholes = 0, kept = 0;
    bool twice = false;
    if (p->count && !CALL(x->z, card_power, x->device, &card) && card) {
        p->items[0] = (part){.h = card};
        p->count = 1;
        return;
    }
    for (uint32_t i = 0; i < p->count; i++) {
        power_properties properties = {.head = {POWER_PROPERTIES, NULL}};
        if (CALL(x->z, power, p->items[i].h, &properties)) continue;
        part *d = &p->items[kept++];
        *d = (part){.h = p->items[i].h, .on_part = properties.on_part, .number = properties.part};
        wholes += !d->on_part;
        for (uint32_t k = 0; k + 1 < kept; k++)
            twice |= d->on_part && p->items[k].on_part && p->items[k].number == d->number;
    }
    p->count = wholes == 1 || (!wholes && !twice) ? kept : 0;
    for (uint32_t i = 0; i < p->count && wholes; i++)
        if (!p->items[i].on_part) p->items[0] = p->items[i];
    if (wholes && p->count) p->count = 1;
}

static void gpu_ze_find_others(ze_gpu *x)
{
    for (uint32_t i = 0; i < x->temperatures.count; i++) {
        temperature_properties p = {.head = {TEMPERATURE_PROPERTIES, NULL}};
        part *t = &x->temperatures.items[i];
        t->kind = CALL(x->z, temperature, t->h, &p) ? -1 : p.kind;
        t->on_part = p.on_part;
    }
    for (uint32_t i = 0; i < x->errors.count; i++) {
        ras_properties p = {.head = {RAS_PROPERTIES, NULL}};
        part *r = &x->errors.items[i];
        r->kind = CALL(x->z, error, r->h, &p) ? -1 : p.kind;
        r->on_part = p.on_part;
    }
}

static void gpu_ze_attach(const gpu_list *all, gpu_ze *z, handle device)
{
    pci_properties pci = {.head = {PCI_PROPERTIES, NULL}};
    if (CALL(z, pci, device, &pci)) return;
    gpu *g = gpu_at(all, "Intel", pci.domain, pci.bus, pci.device, pci.function);
    ze_gpu *x = g && !g->library.read ? calloc(1, sizeof *x) : NULL;
    if (!x) return;
    *x = (ze_gpu){.z = z, .device = device, .pci = pci};
    gpu_ze_list(&x->engines, z->engines, device);
    gpu_ze_list(&x->powers, z->powers, device);
    gpu_ze_list(&x->memories, z->memories, device);
    gpu_ze_list(&x->clocks, z->clocks, device);
    gpu_ze_list(&x->temperatures, z->temperatures, device);
    gpu_ze_list(&x->ports, z->ports, device);
    gpu_ze_list(&x->errors, z->errors, device);
    gpu_ze_name_engines(x);
    gpu_ze_find_memories(x);
    gpu_ze_find_clocks(x);
    gpu_ze_find_powers(x);
    gpu_ze_find_others(x);
    if (x->ports.count) g->link_kind = "fabric";
    g->library = (gpu_extra){gpu_ze_read_library, x->engines.count ? gpu_ze_tell_engines : NULL, gpu_ze_tell_facts,
                             gpu_ze_close_library, x};
}

// ---- the library ----

// Loaders before 1.9 lack zesInit(): there the management comes with the runtime, when a variable says so. It is set
// for this call alone: a program that is started from here later may use the other way, and both do not mix.
// What follows returns the library's own result.
static int gpu_ze_initialize_old(gpu_ze *z)
{
    static const char variable[] = "ZES_ENABLE_SYSMAN";
    const char *had = getenv(variable);
    if (!z->old_init || !z->old_drivers || !z->old_devices) return UNSUPPORTED_VERSION;
    if (!had && setenv(variable, "1", 1)) return NO_HOST_MEMORY;
    int result = z->old_init(0);
    if (!had) unsetenv(variable);
    z->drivers = z->old_drivers;
    z->devices = z->old_devices;
    z->way = "zeInit and ZES_ENABLE_SYSMAN";
    return result;
}

static int gpu_ze_initialize(gpu_ze *z)
{
    z->way = "zesInit";
    return z->init && z->drivers && z->devices ? z->init(0) : gpu_ze_initialize_old(z);
}

static void gpu_ze_attach_all(const gpu_list *all, gpu_ze *z)
{
    enum { MOST = 64 };
    handle drivers[MOST], devices[MOST];
    uint32_t driver_count = MOST;
    if (CALL(z, drivers, &driver_count, drivers)) return;
    for (uint32_t i = 0; i < driver_count && i < MOST; i++) {
        uint32_t count = MOST;
        if (CALL(z, devices, drivers[i], &count, devices)) continue;
        for (uint32_t k = 0; k < count && k < MOST; k++)
            gpu_ze_attach(all, z, devices[k]);
    }
}

static bool gpu_ze_has_intel(const gpu_list *all)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->items[i]->vendor, "Intel") == 0) return true;
    return false;
}

gpu_ze *gpu_ze_open(gpu_list *all, const emit *e)
{
    gpu_ze *z = gpu_ze_has_intel(all) ? calloc(1, sizeof *z) : NULL;
    if (!z) return NULL;
    z->library = gpu_load(gpu_ze_names, e);
    if (z->library) gpu_find_functions(z->library, functions, z);
    int result = z->library ? gpu_ze_initialize(z) : 0;
    if (z->library && !result) {
        gpu_ze_attach_all(all, z);
        return z;
    }
    if (result) gpu_library_failed(all, "Intel", "Level Zero", (unsigned)result);
    gpu_ze_close(z);
    return NULL;
}

// The library has no end of its own: a driver may run threads, so it stays loaded.
void gpu_ze_close(gpu_ze *z)
{
    free(z);
}
