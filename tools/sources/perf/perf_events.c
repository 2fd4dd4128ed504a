// Which events there are: names, groups and what each microarchitecture calls them.
#define _GNU_SOURCE
#include "perf.h"
#include "sources/shapes.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES "/sys/bus/event_source/devices"

// ---- the kernel's own names ----

typedef struct generic {
    const char *name, *other; // other: a second name
    uint32_t type;
    uint64_t config;
    const char *unit;
    unsigned flags;
    bool needs_kernel;
} generic;

#define SOFTWARE(name, other, config, ...)                                                                             \
    {                                                                                                                  \
        name, other, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##config, __VA_ARGS__                                           \
    }
#define HARDWARE(name, other, config, ...)                                                                             \
    {                                                                                                                  \
        name, other, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##config, __VA_ARGS__                                           \
    }

static const generic generics[] = {
    SOFTWARE("task_clock", NULL, TASK_CLOCK, "ns", NETPROF_FAST, false),
    SOFTWARE("cpu_clock", NULL, CPU_CLOCK, "ns", 0, false),
    SOFTWARE("page_faults", "faults", PAGE_FAULTS, "faults", 0, false),
    SOFTWARE("minor_faults", NULL, PAGE_FAULTS_MIN, "faults", 0, false),
    SOFTWARE("major_faults", NULL, PAGE_FAULTS_MAJ, "faults", 0, false),
    SOFTWARE("context_switches", "cs", CONTEXT_SWITCHES, "switches", 0, true),
    SOFTWARE("cpu_migrations", "migrations", CPU_MIGRATIONS, "events", 0, true),
    SOFTWARE("alignment_faults", NULL, ALIGNMENT_FAULTS, "faults", 0, false),
    SOFTWARE("emulation_faults", NULL, EMULATION_FAULTS, "faults", 0, false),
    HARDWARE("cycles", "cpu_cycles", CPU_CYCLES, "CPU cycles", NETPROF_FAST, false),
    HARDWARE("instructions", NULL, INSTRUCTIONS, "instructions", NETPROF_FAST, false),
    HARDWARE("cache_references", NULL, CACHE_REFERENCES, "events", 0, false),
    HARDWARE("cache_misses", NULL, CACHE_MISSES, "events", 0, false),
    HARDWARE("branches", "branch_instructions", BRANCH_INSTRUCTIONS, "instructions", 0, false),
    HARDWARE("branch_misses", NULL, BRANCH_MISSES, "events", 0, false),
    HARDWARE("bus_cycles", NULL, BUS_CYCLES, "CPU cycles", 0, false),
    HARDWARE("stalled_cycles_frontend", "idle_cycles_frontend", STALLED_CYCLES_FRONTEND, "CPU cycles", 0, false),
    HARDWARE("stalled_cycles_backend", "idle_cycles_backend", STALLED_CYCLES_BACKEND, "CPU cycles", 0, false),
    HARDWARE("ref_cycles", NULL, REF_CPU_CYCLES, "CPU cycles", 0, false),
};

static const struct {
    const char *name;
    uint64_t id;
} caches[] = {{"L1_dcache", PERF_COUNT_HW_CACHE_L1D}, {"L1_icache", PERF_COUNT_HW_CACHE_L1I},
              {"LLC", PERF_COUNT_HW_CACHE_LL},        {"dTLB", PERF_COUNT_HW_CACHE_DTLB},
              {"iTLB", PERF_COUNT_HW_CACHE_ITLB},     {"branch", PERF_COUNT_HW_CACHE_BPU},
              {"node", PERF_COUNT_HW_CACHE_NODE}};

static const struct {
    const char *name;
    uint64_t operation, result;
} operations[] = {{"loads", 0, 0},        {"load_misses", 0, 1}, {"stores", 1, 0},
                  {"store_misses", 1, 1}, {"prefetches", 2, 0},  {"prefetch_misses", 2, 1}};

// ---- groups ----

static const struct {
    const char *name, *events;
} groups[] = {
    {"software", "task_clock,page_faults,context_switches,cpu_migrations"},
    {"hardware", "cycles,instructions,cache_references,cache_misses,branches,branch_misses"},
    {"stalls", "stalled_cycles_frontend,stalled_cycles_backend,ref_cycles"},
    {"cache", "L1_dcache_loads,L1_dcache_load_misses,LLC_loads,LLC_load_misses,dTLB_load_misses"},
    {"flops", ""},
    {"memory", ""},
    {"default", "task_clock,page_faults,context_switches,cpu_migrations,cycles,instructions,cache_references,"
                "cache_misses,branches,branch_misses"},
};

#define FP_ARITH_256 "bdw bdw_ep skl skx clx icl icx spr"
#define FP_ARITH_512 "skx clx icl icx spr"
#define FP_COMP      "snb snb_ep ivb ivb_ep"
#define L2_ALL       "hsw hsw_ep bdw bdw_ep skl skx clx"
#define L2_DEMAND    "icl icx spr"
#define ZEN          "amd64_fam17h_zen1 amd64_fam17h_zen2 amd64_fam19h_zen3 amd64_fam19h_zen4"

// Events of Intel's FP_ARITH count instructions, those of AMD and Arm operations; a fused multiply and add is two
// everywhere. Arm's FP_SCALE counts for 128 bits of a vector: the vectors' length is in the multiplier.
static const perf_row rows[] = {
    {"flops", FP_ARITH_256, "flops_double_scalar", "FP_ARITH_INST_RETIRED:SCALAR_DOUBLE", 1, "operations"},
    {"flops", FP_ARITH_256, "flops_double_128", "FP_ARITH_INST_RETIRED:128B_PACKED_DOUBLE", 2, "operations"},
    {"flops", FP_ARITH_256, "flops_double_256", "FP_ARITH_INST_RETIRED:256B_PACKED_DOUBLE", 4, "operations"},
    {"flops", FP_ARITH_512, "flops_double_512", "FP_ARITH_INST_RETIRED:512B_PACKED_DOUBLE", 8, "operations"},
    {"flops", FP_ARITH_256, "flops_single_scalar", "FP_ARITH_INST_RETIRED:SCALAR_SINGLE", 1, "operations"},
    {"flops", FP_ARITH_256, "flops_single_128", "FP_ARITH_INST_RETIRED:128B_PACKED_SINGLE", 4, "operations"},
    {"flops", FP_ARITH_256, "flops_single_256", "FP_ARITH_INST_RETIRED:256B_PACKED_SINGLE", 8, "operations"},
    {"flops", FP_ARITH_512, "flops_single_512", "FP_ARITH_INST_RETIRED:512B_PACKED_SINGLE", 16, "operations"},
    {"flops", FP_COMP, "flops_double_scalar", "FP_COMP_OPS_EXE:SSE_SCALAR_DOUBLE", 1, "operations"},
    {"flops", FP_COMP, "flops_double_128", "FP_COMP_OPS_EXE:SSE_FP_PACKED_DOUBLE", 2, "operations"},
    {"flops", FP_COMP, "flops_double_256", "SIMD_FP_256:PACKED_DOUBLE", 4, "operations"},
    {"flops", FP_COMP, "flops_single_scalar", "FP_COMP_OPS_EXE:SSE_FP_SCALAR_SINGLE", 1, "operations"},
    {"flops", FP_COMP, "flops_single_128", "FP_COMP_OPS_EXE:SSE_PACKED_SINGLE", 4, "operations"},
    {"flops", FP_COMP, "flops_single_256", "SIMD_FP_256:PACKED_SINGLE", 8, "operations"},
    {"flops", "amd64_fam17h_zen1", "flops_double",
     "RETIRED_SSE_AVX_OPERATIONS:DP_MULT_ADD_FLOPS:DP_DIV_FLOPS:DP_MULT_FLOPS:DP_ADD_SUB_FLOPS", 1, "operations"},
    {"flops", "amd64_fam17h_zen1", "flops_single",
     "RETIRED_SSE_AVX_OPERATIONS:SP_MULT_ADD_FLOPS:SP_DIV_FLOPS:SP_MULT_FLOPS:SP_ADD_SUB_FLOPS", 1, "operations"},
    {"flops", "amd64_fam17h_zen2 amd64_fam19h_zen3 amd64_fam19h_zen4", "flops_all", "RETIRED_SSE_AVX_FLOPS:ANY", 1,
     "operations"},
    {"flops", "arm_n2 arm_v1 arm_v2 arm_a64fx", "flops_fixed", "r80c1", 1, "operations"},
    {"flops", "arm_n2 arm_v2", "flops_scalable", "r80c0", 1, "operations"},
    {"flops", "arm_v1", "flops_scalable", "r80c0", 2, "operations"},
    {"flops", "arm_a64fx", "flops_scalable", "r80c0", 4, "operations"},
    {"cache", L2_ALL, "l2_accesses", "L2_RQSTS:REFERENCES", 1, "events"},
    {"cache", L2_ALL, "l2_misses", "L2_RQSTS:MISS", 1, "events"},
    {"cache", L2_DEMAND, "l2_demand_accesses", "L2_RQSTS:ALL_DEMAND_REFERENCES", 1, "events"},
    {"cache", L2_DEMAND, "l2_demand_misses", "L2_RQSTS:ALL_DEMAND_MISS", 1, "events"},
    {"cache", ZEN, "l2_data_accesses", "REQUESTS_TO_L2_GROUP1:RD_BLK_L:RD_BLK_X:LS_RD_BLK_C_S:CHANGE_TO_X", 1,
     "events"},
    {"cache", ZEN, "l2_data_misses", "CORE_TO_L2_CACHEABLE_REQUEST_ACCESS_STATUS:LS_RD_BLK_C", 1, "events"},
    {"memory", "snb snb_ep ivb_ep hsw hsw_ep bdw bdw_ep skx clx", "memory_read_bytes",
     "OFFCORE_RESPONSE_0:ANY_DATA:L3_MISS", 64, "bytes"},
    {"memory", "icx spr", "memory_read_bytes", "OCR:READS_TO_CORE_DRAM", 64, "bytes"},
    {"memory", "amd64_fam19h_zen3", "memory_fill_bytes", "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:MEM_IO_LCL:MEM_IO_RMT", 64,
     "bytes"},
    {"memory", "amd64_fam19h_zen4", "memory_fill_bytes", "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:DRAM_IO_NEAR:DRAM_IO_FAR",
     64, "bytes"},
};

const perf_row *perf_row_at(size_t index)
{
    return index < sizeof rows / sizeof *rows ? &rows[index] : NULL;
}

// Memory controllers. Event: described in sysfs, or terms with '='. bytes 0: by the description's scale and unit.
// microarchitectures NULL: the name of the event says enough.
static const struct {
    const char *pmu, *event, *name, *microarchitectures;
    unsigned bytes;
} controllers[] = {
    {"uncore_imc*", "cas_count_read", "cas_count_read", NULL, 0},
    {"uncore_imc*", "cas_count_write", "cas_count_write", NULL, 0},
    {"uncore_imc*", "data_reads", "data_reads", NULL, 0},
    {"uncore_imc*", "data_writes", "data_writes", NULL, 0},
    {"uncore_imc*", "data_read", "data_read", NULL, 0},
    {"uncore_imc*", "data_write", "data_write", NULL, 0},
    {"amd_umc_*", "event=0x0a,rdwrmask=0x1", "umc_read", NULL, 64},
    {"amd_umc_*", "event=0x0a,rdwrmask=0x2", "umc_write", NULL, 64},
#define DF(channel, code)                                                                                              \
    {                                                                                                                  \
        "amd_df", "event=" code ",umask=0x38", "channel" channel "_bytes",                                             \
            "amd64_fam17h_zen1 amd64_fam17h_zen2 amd64_fam19h_zen3", 64                                                \
    }
    DF("0", "0x07"),
    DF("1", "0x47"),
    DF("2", "0x87"),
    DF("3", "0xc7"),
    DF("4", "0x107"),
    DF("5", "0x147"),
    DF("6", "0x187"),
    DF("7", "0x1c7"),
    {"nvidia_scf_pmu_*", "cmem_rd_data", "cmem_read", NULL, 32},
    {"nvidia_scf_pmu_*", "cmem_wr_total_bytes", "cmem_write", NULL, 1},
    {"nvidia_scf_pmu_*", "gmem_rd_data", "gmem_read", NULL, 32},
    {"nvidia_scf_pmu_*", "gmem_wr_total_bytes", "gmem_write", NULL, 1},
};

// ---- libpfm4, as of its header pfmlib.h ----

const char *perf_libpfm = "libpfm.so.4";

enum { PFM_PLM0 = 1, PFM_PLM3 = 8, PFM_OS_PERF_EVENT = 1, PFM_PMU_TYPE_CORE = 1, PFM_PMU_MOST = 2048 };

typedef struct pfm_encoding {
    struct perf_event_attr *attr;
    char **text;
    size_t size;
    int index, cpu, flags, padding;
} pfm_encoding;

typedef struct pfm_pmu {
    const char *name, *description;
    size_t size;
    int pmu, type, event_count, first_event, most_codes, counters, fixed_counters;
    unsigned present : 1, standard : 1, reserved : 30;
} pfm_pmu;

static struct {
    bool tried, found;
    int (*encode)(const char *text, int modes, int os, void *argument);
    int (*pmu)(int pmu, pfm_pmu *info);
    char name[PERF_NAME];
} pfm;

// "ix86arch" and its like are present everywhere on their processors; the first other one is the processor's own.
static void perf_events_find_microarchitecture(void)
{
    for (int i = 0; i < PFM_PMU_MOST; i++) {
        pfm_pmu info = {.size = sizeof info};
        if (pfm.pmu(i, &info) || !info.present || info.type != PFM_PMU_TYPE_CORE || strcmp(info.name, "ix86arch") == 0)
            continue;
        snprintf(pfm.name, sizeof pfm.name, "%s", info.name);
        return;
    }
}

static bool perf_events_load_pfm(void)
{
    int (*initialize)(void);
    if (pfm.tried) return pfm.found;
    pfm.tried = true;
    void *library = dlopen(perf_libpfm, RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
    // A function's address as an object's: POSIX allows it, ISO C has no way to say it.
    *(void **)&initialize = dlsym(library, "pfm_initialize");
    *(void **)&pfm.encode = dlsym(library, "pfm_get_os_event_encoding");
    *(void **)&pfm.pmu = dlsym(library, "pfm_get_pmu_info");
    pfm.found = initialize && pfm.encode && pfm.pmu && initialize() == 0;
    if (pfm.found) perf_events_find_microarchitecture();
    return pfm.found;
}

const char *perf_microarchitecture(void)
{
    perf_events_load_pfm();
    return pfm.name;
}

int perf_encode(struct perf_event_attr *attr, const char *event)
{
    struct perf_event_attr own = {.size = sizeof own};
    pfm_encoding argument = {.attr = &own, .size = sizeof argument};
    if (!perf_events_load_pfm()) return ELIBACC;
    if (pfm.encode(event, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &argument)) return ENOENT;
    attr->type = own.type;
    attr->config = own.config;
    attr->config1 = own.config1;
    attr->config2 = own.config2;
    return 0;
}

// ---- descriptions in sysfs ----

// The bits of a value to the places "0-7,32-35", the lowest first.
static uint64_t perf_events_spread(uint64_t value, char *places)
{
    uint64_t bits = 0;
    for (char *place; (place = strsep(&places, ","));) {
        char *end;
        unsigned long low = strtoul(place, &end, 10), high = *end == '-' ? strtoul(end + 1, NULL, 10) : low;
        for (; low <= high && low < 64; low++, value >>= 1)
            bits |= (value & 1) << low;
    }
    return bits;
}

static int perf_events_set_term(perf_event *event, const emit *e, const char *pmu, const char *name, uint64_t value)
{
    char format[128];
    if (strcmp(name, "config") == 0)
        event->attr.config |= value;
    else if (strcmp(name, "config1") == 0)
        event->attr.config1 |= value;
    else if (strcmp(name, "config2") == 0)
        event->attr.config2 |= value;
    else if (emit_read_line(e, format, sizeof format, DEVICES "/%s/format/%s", pmu, name)) {
        char *places = format, *which = strsep(&places, ":");
        uint64_t bits = places ? perf_events_spread(value, places) : 0;
        if (strcmp(which, "config") == 0)
            event->attr.config |= bits;
        else if (strcmp(which, "config1") == 0)
            event->attr.config1 |= bits;
        else if (strcmp(which, "config2") == 0)
            event->attr.config2 |= bits;
        else
            return ENOENT;
    } else {
        return ENOENT;
    }
    return 0;
}

static bool perf_events_is_plain_name(const char *text)
{
    return *text && *text != '.' &&
           !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")];
}

static int perf_events_set_terms(perf_event *event, const emit *e, const char *pmu, char *terms, bool nested)
{
    for (char *term; (term = strsep(&terms, ","));) {
        char *value = term, *name = strsep(&value, "="), *end = NULL, described[256];
        uint64_t number = value ? strtoull(value, &end, 0) : 1;
        if (!*name || (end && *end)) return ENOENT;
        int error = perf_events_set_term(event, e, pmu, name, number);
        // Not a field: the name of an event, to which the other terms add.
        if (error && !value && !nested && perf_events_is_plain_name(name) &&
            emit_read_line(e, described, sizeof described, DEVICES "/%s/events/%s", pmu, name))
            error = perf_events_set_terms(event, e, pmu, described, true);
        if (error) return error;
    }
    return 0;
}

// Factors of the units that the kernel's drivers write.
static double perf_events_unit_bytes(const char *unit)
{
    static const struct {
        const char *name;
        double bytes;
    } units[] = {{"Bytes", 1}, {"KiB", 1024}, {"KB", 1024}, {"MiB", 1048576}, {"MB", 1e6}, {"GiB", 1073741824}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcasecmp(units[i].name, unit) == 0) return units[i].bytes;
    return 0;
}

static void perf_events_scale_by(perf_event *event, const emit *e, const char *pmu, const char *name)
{
    char scale[64], unit[32];
    double bytes;
    if (!emit_read_line(e, scale, sizeof scale, DEVICES "/%s/events/%s.scale", pmu, name)) return;
    event->scale = strtod(scale, NULL);
    if (!(event->scale > 0 && event->scale < 1e12)) event->error = EBADMSG;
    if (!emit_read_line(e, unit, sizeof unit, DEVICES "/%s/events/%s.unit", pmu, name)) return;
    if ((bytes = perf_events_unit_bytes(unit)) <= 0) return;
    event->shape.unit = "bytes";
    event->scale *= bytes;
}

int perf_describe(perf_event *event, const emit *e, const char *pmu, const char *terms)
{
    char text[256], type[32];
    uint64_t number;
    if (!perf_events_is_plain_name(pmu) || !emit_read_line(e, type, sizeof type, DEVICES "/%s/type", pmu) ||
        !emit_number(type, &number))
        return ENOENT;
    event->attr.type = (uint32_t)number;
    event->attr.config = event->attr.config1 = event->attr.config2 = 0;
    bool named =
        perf_events_is_plain_name(terms) && emit_read_line(e, text, sizeof text, DEVICES "/%s/events/%s", pmu, terms);
    if (named)
        perf_events_scale_by(event, e, pmu, terms);
    else if (snprintf(text, sizeof text, "%s", terms) >= (int)sizeof text)
        return ENOENT;
    return perf_events_set_terms(event, e, pmu, text, false);
}

// ---- one name ----

static bool perf_events_same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if (tolower((unsigned char)(*a == '-' ? '_' : *a)) != tolower((unsigned char)(*b == '-' ? '_' : *b)))
            return false;
    return *a == *b;
}

static perf_event perf_events_blank(const char *name, const char *unit)
{
    perf_event x = {.scale = 1, .set = PERF_NO_SET, .shape = SHAPE(unit, COUNTER, 0)};
    snprintf(x.name, sizeof x.name, "%s", name);
    return x;
}

static bool perf_events_find_generic(perf_event *x, const char *word)
{
    for (size_t i = 0; i < sizeof generics / sizeof *generics; i++) {
        const generic *g = &generics[i];
        if (!perf_events_same_name(word, g->name) && !(g->other && perf_events_same_name(word, g->other))) continue;
        *x = perf_events_blank(g->name, g->unit);
        x->attr.type = g->type;
        x->attr.config = g->config;
        x->shape.flags = (uint16_t)g->flags;
        x->needs_kernel = g->needs_kernel;
        return true;
    }
    return false;
}

static bool perf_events_find_cache(perf_event *x, const char *word)
{
    char name[PERF_NAME];
    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++) {
        for (size_t k = 0; k < sizeof operations / sizeof *operations; k++) {
            snprintf(name, sizeof name, "%s_%s", caches[i].name, operations[k].name);
            if (!perf_events_same_name(word, name)) continue;
            *x = perf_events_blank(name, "events");
            x->attr.type = PERF_TYPE_HW_CACHE;
            x->attr.config = caches[i].id | operations[k].operation << 8 | operations[k].result << 16;
            return true;
        }
    }
    return false;
}

static bool perf_events_find_raw(perf_event *x, const char *word)
{
    if (*word != 'r' || !word[1] || word[1 + strspn(word + 1, "0123456789abcdefABCDEF")] || strlen(word) > 17)
        return false;
    *x = perf_events_blank(word, "events");
    x->attr.type = PERF_TYPE_RAW;
    x->attr.config = strtoull(word + 1, NULL, 16);
    return true;
}

// "msr/tsc/" is msr_tsc; "skx::L2_RQSTS:MISS" is l2_rqsts_miss.
static void perf_events_plain_name(char *to, size_t size, const char *from)
{
    size_t n = 0;
    const char *own = strstr(from, "::");
    bool lower = strchr(from, ':') != NULL;
    for (from = own ? own + 2 : from; *from && n + 1 < size; from++) {
        if (isalnum((unsigned char)*from))
            to[n++] = lower ? (char)tolower((unsigned char)*from) : *from;
        else if (n && to[n - 1] != '_')
            to[n++] = '_';
    }
    while (n && to[n - 1] == '_')
        n--;
    to[n] = 0;
}

// "pmu/terms/"; e NULL: only whether it is written so.
static bool perf_events_find_described(perf_event *x, const emit *e, const char *word)
{
    char copy[192], *at = copy, *pmu, *terms;
    if (snprintf(copy, sizeof copy, "%s", word) >= (int)sizeof copy || !strchr(copy, '/')) return false;
    pmu = strsep(&at, "/");
    terms = strsep(&at, "/");
    if (!terms || !*terms || (at && *at) || !perf_events_is_plain_name(pmu)) return false;
    *x = perf_events_blank("", "events");
    perf_events_plain_name(x->name, sizeof x->name, word);
    if (e) x->error = perf_describe(x, e, pmu, terms);
    if (x->error == ENOENT) x->error = EOPNOTSUPP;
    return true;
}

static bool perf_events_find_encoded(perf_event *x, const char *word)
{
    *x = perf_events_blank("", "events");
    perf_events_plain_name(x->name, sizeof x->name, word);
    x->error = perf_encode(&x->attr, word);
    // Without the library it cannot be known whether this is an event; with ':' it is written like one.
    return !x->error || (x->error == ELIBACC && strchr(word, ':'));
}

static bool perf_events_find_event(perf_event *x, const emit *e, const char *word)
{
    return perf_events_find_generic(x, word) || perf_events_find_cache(x, word) || perf_events_find_raw(x, word) ||
           perf_events_find_described(x, e, word) || perf_events_find_encoded(x, word);
}

// ---- lists ----

static bool perf_events_add_event(perf_events *events, const perf_event *x)
{
    for (size_t i = 0; i < events->count; i++)
        if (strcmp(events->items[i].name, x->name) == 0) return true;
    perf_event *longer = realloc(events->items, (events->count + 1) * sizeof *longer);
    if (!longer) return false;
    events->items = longer;
    events->items[events->count++] = *x;
    return true;
}

static bool perf_events_is_among(const char *words, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = words; n && (at = strstr(at, name)); at += n)
        if ((at == words || at[-1] == ' ') && (!at[n] || at[n] == ' ')) return true;
    return false;
}

static bool perf_events_has_rows(const char *group)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].group, group) == 0) return true;
    return false;
}

// Adds the events of a group that are known for this processor; adds a note if none are.
static bool perf_events_add_rows(perf_events *events, const char *group)
{
    const char *processor = perf_microarchitecture();
    size_t known = 0, n = strlen(events->notes);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const perf_row *r = &rows[i];
        perf_event x = perf_events_blank(r->name, r->unit);
        char full[256];
        if (strcmp(r->group, group) != 0 || !perf_events_is_among(r->microarchitectures, processor)) continue;
        known++;
        if (perf_events_find_raw(&x, r->event)) {
            snprintf(x.name, sizeof x.name, "%s", r->name);
            x.shape.unit = r->unit;
        } else {
            snprintf(full, sizeof full, "%s::%s", processor, r->event);
            x.error = perf_encode(&x.attr, full);
            if (x.error == ENOENT) x.error = EOPNOTSUPP;
        }
        x.scale = r->multiply;
        if (!perf_events_add_event(events, &x)) return false;
    }
    if (!known)
        snprintf(events->notes + n, sizeof events->notes - n, "%s%s: %s", n ? "; " : "", group,
                 *processor  ? "no events are known for this processor"
                 : pfm.found ? "the processor is not known to libpfm4"
                             : "libpfm4 is not installed");
    return true;
}

static bool perf_events_add_list(perf_events *events, const emit *e, const char *list, char *text, size_t size);

// 1: it was a group; 0: it was not; -1: no memory.
static int perf_events_add_group(perf_events *events, const emit *e, const char *word, char *text, size_t size)
{
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        if (strcasecmp(groups[i].name, word) != 0) continue;
        if (*groups[i].events && !perf_events_add_list(events, e, groups[i].events, text, size)) return -1;
        if (strcmp(groups[i].name, "memory") == 0 || strcmp(groups[i].name, "default") == 0) events->uncore = true;
        return !perf_events_has_rows(groups[i].name) || perf_events_add_rows(events, groups[i].name) ? 1 : -1;
    }
    return 0;
}

// The next word: commas between slashes are its own.
static char *perf_events_next_word(char **at)
{
    char *word = *at, *end = word;
    bool inside = false;
    if (!word) return NULL;
    for (; *end && (inside || *end != ','); end++)
        inside ^= *end == '/';
    *at = *end ? end + 1 : NULL;
    *end = 0;
    return word;
}

static bool perf_events_add_list(perf_events *events, const emit *e, const char *list, char *text, size_t size)
{
    char *copy = strdup(list), *at = copy;
    bool good = copy != NULL;
    if (!good) snprintf(text, size, "no memory");
    for (char *word; good && (word = perf_events_next_word(&at));) {
        perf_event x;
        int group = perf_events_add_group(events, e, word, text, size);
        if (group)
            good = group > 0;
        else if (perf_events_find_event(&x, e, word))
            good = perf_events_add_event(events, &x);
        else {
            good = false;
            snprintf(text, size, "%.60s: no such event or group here", word);
        }
    }
    free(copy);
    return good;
}

bool perf_choose(perf_events *events, const emit *e, const char *list, char *text, size_t size)
{
    *events = (perf_events){0};
    return perf_events_add_list(events, e, list ? list : "default", text, size);
}

bool perf_check(const char *list, char *text, size_t size)
{
    perf_events events = {0};
    bool good = perf_events_add_list(&events, NULL, list, text, size);
    free(events.items);
    return good;
}

// ---- memory controllers ----

typedef struct uncore_search {
    const emit *e;
    void (*visit)(void *user, const char *pmu, const perf_event *event);
    void *user;
    bool memory_found; // a controller that counts: free-running counters would count the same bytes again
} uncore_search;

static void perf_events_found_pmu(void *user, const char *pmu)
{
    uncore_search *s = user;
    if (s->memory_found && strncmp(pmu, "uncore_imc_free_running", 23) == 0) return;
    for (size_t i = 0; i < sizeof controllers / sizeof *controllers; i++) {
        perf_event x = perf_events_blank(controllers[i].name, "bytes");
        if (fnmatch(controllers[i].pmu, pmu, 0)) continue;
        if (controllers[i].microarchitectures &&
            !perf_events_is_among(controllers[i].microarchitectures, perf_microarchitecture()))
            continue;
        if (perf_describe(&x, s->e, pmu, controllers[i].event)) continue;
        if (controllers[i].bytes) x.scale = controllers[i].bytes;
        s->visit(s->user, pmu, &x);
    }
}

static void perf_events_look_for_imc(void *user, const char *pmu)
{
    uncore_search *s = user;
    char text[64];
    if (strncmp(pmu, "uncore_imc", 10) == 0 && strncmp(pmu, "uncore_imc_free_running", 23) != 0 &&
        emit_read_line(s->e, text, sizeof text, DEVICES "/%s/events/cas_count_read", pmu))
        s->memory_found = true;
}

void perf_uncore(const emit *e, void (*visit)(void *user, const char *pmu, const perf_event *event), void *user)
{
    uncore_search s = {.e = e, .visit = visit, .user = user};
    emit_directory(e, DEVICES, perf_events_look_for_imc, &s);
    emit_directory(e, DEVICES, perf_events_found_pmu, &s);
}
