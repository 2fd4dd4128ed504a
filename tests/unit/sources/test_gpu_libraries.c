// The source gpu beside sysfs: made libraries of AMD and Intel and AMD's table of metrics, with exact numbers.
#define _GNU_SOURCE
#include "netprof.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <unistd.h>

#include "fake_amd.h"
#include "fake_ze.h"
#include "sources/gpu/gpu_amd.h"
#include "sources/gpu/gpu_nvml.h"
#include "sources/gpu/gpu_ze.h"
#include "source_bench.h"

#include <dlfcn.h>
#include <errno.h>

static const sources_job nobody;
static const char *const no_names[] = {NULL};
static int64_t now_us;
static void *held; // the library, so that what is written into it stays

static int64_t made_clock(void)
{
    return now_us;
}

static void *use_library(const char *const **names, const char *name, const char *state, size_t size)
{
    static char path[512];
    static const char *list[2] = {path, NULL};
    snprintf(path, sizeof path, NETPROF_TEST_BUILD "/tests/lib%s.so", name);
    if (held) dlclose(held);
    held = dlopen(path, RTLD_NOW);
    if (!held) fail_msg("%s", dlerror());
    void *own = dlsym(held, state);
    assert_non_null(own);
    memset(own, 0, size);
    *names = list;
    return own;
}

static int begin(void **state)
{
    (void)state;
    now_us = 1000000;
    gpu_clock_us = made_clock;
    gpu_library_of_root = true;
    gpu_amdsmi_names = gpu_rocm_names = gpu_ze_names = no_names;
    return 0;
}

static int end(void **state)
{
    if (held) dlclose(held);
    held = NULL;
    return drop_tree(state);
}

#define CARD "/sys/class/drm/card0/device/"

// ---- AMD ----

static void put_amd(void)
{
    put(CARD "uevent", "DRIVER=amdgpu\nPCI_SLOT_NAME=0001:c1:00.0\n");
    put(CARD "gpu_busy_percent", "77\n");
    put(CARD "mem_info_vram_used", "4096\n");
}

static fake_amd_gpu *one_amd(fake_amd_state *amd)
{
    amd->count = 1;
    amd->version[0] = 26;
    amd->version[1] = 1;
    amd->gpus[0] = (fake_amd_gpu){.bdf = UINT64_C(1) << 16 | 0xc1 << 8,
                                  .energy = 1000001,
                                  .microjoules = 15.25f,
                                  .corrected = 31,
                                  .uncorrected = 2,
                                  .replays = 9,
                                  .recoveries = 4,
                                  .naks_sent = 5,
                                  .naks_received = 6,
                                  .ticks = 1000,
                                  .residencies = {0, 100, 200, 300, UINT64_MAX}};
    memset(amd->gpus[0].xgmi_read, 0xff, sizeof amd->gpus[0].xgmi_read);
    memset(amd->gpus[0].xgmi_written, 0xff, sizeof amd->gpus[0].xgmi_written);
    amd->gpus[0].xgmi_read[1] = 7;
    amd->gpus[0].xgmi_written[1] = 8;
    amd->gpus[0].xgmi_read[3] = 0;
    return &amd->gpus[0];
}

static void amd_smi_adds_what_sysfs_lacks(void **state)
{
    (void)state;
    bench b;
    fake_amd_state *amd = use_library(&gpu_amdsmi_names, "fake-amdsmi", "fake_amd", sizeof *amd);
    fake_amd_gpu *g = one_amd(amd);
    put_amd();
    open_source(&b, "gpu", root, &nobody);
    check_catalog(&b);
    assert_int_equal(amd->init_flags, 2); // GPUs alone
    assert_string_equal(fact(&b, "gpu0", "library"), "AMD SMI 26.1.0");
    assert_int_equal(value(&b, "gpu0", "busy"), 77);         // of sysfs
    assert_int_equal(value(&b, "gpu0", "energy"), 15250015); // 1000001 times 15.25, rounded
    assert_int_equal(value(&b, "gpu0", "ecc_corrected"), 31);
    assert_int_equal(value(&b, "gpu0", "ecc_uncorrected"), 2);
    assert_int_equal(value(&b, "gpu0", "pcie_replays"), 9);
    assert_int_equal(value(&b, "gpu0", "pcie_recoveries"), 4);
    assert_int_equal(value(&b, "gpu0", "pcie_naks_sent"), 5);
    assert_int_equal(value(&b, "gpu0", "pcie_naks_received"), 6);
    assert_int_equal(value(&b, "gpu0", "xgmi1_rx_bytes"), 7 * 1024);
    assert_int_equal(value(&b, "gpu0", "xgmi1_tx_bytes"), 8 * 1024);
    assert_int_equal(value(&b, "gpu0", "xgmi3_rx_bytes"), 0);
    assert_int_equal(status_of(&b, "gpu0", "xgmi3_tx_bytes"), NETPROF_STATUS_UNSUPPORTED);
    assert_false(is_told(&b, "gpu0", "xgmi0_rx_bytes")); // there is no such link
    assert_int_equal(value(&b, "gpu0", "throttled_power"), 0);
    assert_false(is_told(&b, "gpu0", "throttled_memory")); // all ones

    // 10 s later: of 500 ticks 50 under the power limit, 250 and 100 with heat.
    now_us += 10000000;
    g->ticks += 500;
    g->residencies[1] += 50;
    g->residencies[2] += 250;
    g->residencies[3] += 100;
    g->energy += 4;
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "gpu0", "energy"), 15250015 + 61);
    assert_int_equal(value(&b, "gpu0", "throttled_power"), 1000000);
    assert_int_equal(value(&b, "gpu0", "throttled_thermal"), 5000000);
    assert_int_equal(value(&b, "gpu0", "throttled_regulator"), 2000000);
    assert_int_equal(value(&b, "gpu0", "reason_power_cap"), 1000000);
    assert_int_equal(value(&b, "gpu0", "reason_thermal"), 5000000); // the hottest part, not the sum
    assert_int_equal(value(&b, "gpu0", "reason_hardware"), 0);
    close_source(&b);
    assert_int_equal(amd->inits, amd->shutdowns);
}

static void values_that_amd_smi_does_not_have(void **state)
{
    (void)state;
    bench b;
    fake_amd_state *amd = use_library(&gpu_amdsmi_names, "fake-amdsmi", "fake_amd", sizeof *amd);
    fake_amd_gpu *g = one_amd(amd);
    put_amd();
    g->energy = UINT64_MAX;
    g->ecc_result = 2; // not supported
    g->replays = UINT64_MAX;
    g->naks_sent = UINT32_MAX;
    g->ticks = UINT32_MAX;
    open_source(&b, "gpu", root, &nobody);
    static const char *const missing[] = {"energy", "ecc_corrected", "pcie_replays", "pcie_naks_sent",
                                          "throttled_power"};
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
        if (is_told(&b, "gpu0", missing[i])) fail_msg("%s", missing[i]);
    int before = amd->calls;
    again(&b, NETPROF_SET_ALL); // they are not asked for again: the table is one call
    assert_int_equal(amd->calls - before, 1);
    close_source(&b);

    // A value that was there and fails later has no number; an older table ends early.
    one_amd(amd);
    g->short_table = 1;
    amd->version[0] = 24;
    open_source(&b, "gpu", root, &nobody);
    assert_int_equal(value(&b, "gpu0", "xgmi1_rx_bytes"), 7 * 1024);
    assert_false(is_told(&b, "gpu0", "throttled_power"));
    assert_false(is_told(&b, "gpu0", "pcie_naks_sent"));
    g->energy_result = 10; // not permitted
    g->ecc_result = 40;    // no data
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(status_of(&b, "gpu0", "energy"), NETPROF_STATUS_DENIED);
    assert_int_equal(b.s.errnos[index_of(&b, "gpu0", "ecc_corrected")], ENODATA);
    g->result = 30; // busy
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(b.s.errnos[index_of(&b, "gpu0", "pcie_replays")], EBUSY);
    assert_int_equal(value(&b, "gpu0", "busy"), 77);
    close_source(&b);
}

// The table of a release that nobody has seen is not read; plain numbers are.
static void a_release_that_is_not_known(void **state)
{
    (void)state;
    bench b;
    fake_amd_state *amd = use_library(&gpu_amdsmi_names, "fake-amdsmi", "fake_amd", sizeof *amd);
    one_amd(amd);
    amd->version[0] = 31;
    put_amd();
    open_source(&b, "gpu", root, &nobody);
    assert_string_equal(fact(&b, "gpu0", "library"),
                        "AMD SMI 31.1.0: a release whose table of metrics is not known, not read");
    assert_int_equal(value(&b, "gpu0", "energy"), 15250015);
    assert_false(is_told(&b, "gpu0", "xgmi1_rx_bytes"));
    assert_false(is_told(&b, "gpu0", "pcie_recoveries"));
    assert_non_null(strstr(fact(&b, "gpu0", "xgmi_links"), "none are told"));
    close_source(&b);
}

// What sysfs tells is not asked of the library, and never replaced by it: both count from different starts.
static void one_reader_for_a_value(void **state)
{
    (void)state;
    bench b;
    fake_amd_state *amd = use_library(&gpu_amdsmi_names, "fake-amdsmi", "fake_amd", sizeof *amd);
    one_amd(amd);
    put_amd();
    put(CARD "pcie_replay_count", "3\n");
    put(CARD "ras/umc_err_count", "ue: 0\nce: 1\n");
    open_source(&b, "gpu", root, &nobody);
    assert_int_equal(value(&b, "gpu0", "pcie_replays"), 3);
    assert_int_equal(value(&b, "gpu0", "ecc_corrected"), 1);
    int before = amd->calls;
    put(CARD "pcie_replay_count", "broken\n");
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(status_of(&b, "gpu0", "pcie_replays"), NETPROF_STATUS_UNREADABLE); // not 9
    assert_int_equal(amd->calls - before, 2);                                           // energy and the table
    close_source(&b);
}

static void a_gpu_elsewhere(void **state)
{
    (void)state;
    bench b;
    fake_amd_state *amd = use_library(&gpu_amdsmi_names, "fake-amdsmi", "fake_amd", sizeof *amd);
    one_amd(amd)->bdf = 0xc1 << 8; // of another domain
    put_amd();
    open_source(&b, "gpu", root, &nobody);
    assert_false(is_told(&b, "gpu0", "energy"));
    assert_string_equal(fact(&b, "gpu0", "library"), "");
    close_source(&b);
    amd->init_result = 18;
    open_source(&b, "gpu", root, &nobody);
    assert_int_equal(value(&b, "gpu0", "busy"), 77);
    assert_string_equal(fact(&b, "gpu0", "library"), "AMD SMI does not start: result 0x12");
    close_source(&b);
    // Without an AMD GPU it is not even asked.
    put(CARD "uevent", "DRIVER=ast\n");
    int inits = amd->inits;
    open_source(&b, "gpu", root, &nobody);
    assert_int_equal(amd->inits, inits);
    close_source(&b);
}

static void rocm_smi_where_amd_smi_is_not(void **state)
{
    (void)state;
    bench b;
    fake_amd_state *amd = use_library(&gpu_rocm_names, "fake-rocm", "fake_amd", sizeof *amd);
    fake_amd_gpu *g = one_amd(amd);
    amd->version[0] = 5;
    put_amd();
    open_source(&b, "gpu", root, &nobody);
    check_catalog(&b);
    assert_string_equal(fact(&b, "gpu0", "library"), "ROCm SMI 5.1.0");
    assert_int_equal(value(&b, "gpu0", "energy"), 15250015);
    assert_int_equal(value(&b, "gpu0", "ecc_uncorrected"), 2);
    assert_false(is_told(&b, "gpu0", "pcie_replays")); // a function that this one lacks
    g->energy_result = 4;                              // not permitted
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(status_of(&b, "gpu0", "energy"), NETPROF_STATUS_DENIED);
    close_source(&b);
    assert_int_equal(amd->shutdowns, 1);
}

// ---- gpu_metrics in sysfs ----

static void put_table(const unsigned char *bytes, size_t size)
{
    char path[512];
    put(CARD "gpu_metrics", "");
    snprintf(path, sizeof path, "%s" CARD "gpu_metrics", root);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

// Of the host's order, as the kernel writes the whole table.
static void put_number(unsigned char *at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        at[__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? i : bytes - 1 - i] = (unsigned char)(value >> 8 * i);
}

// Structures as the kernel declares them, laid out by the compiler: the oracle for the places in the source.
typedef struct metrics_4 {
    uint16_t head[2], temperatures[3], power, activities[2], decoders[4];
    uint64_t energy, stamp;
    uint32_t throttle, lock;
    uint16_t pcie[2], xgmi[2];
    uint32_t sums[2];
    uint64_t bandwidth[2], recoveries, replays, replay_wraps, read[8], written[8], firmware;
} metrics_4;

typedef struct metrics_5 {
    uint16_t head[2], temperatures[3], power, activities[2], decoders[4], pictures[32];
    uint64_t energy, stamp;
    uint32_t throttle, lock;
    uint16_t pcie[2], xgmi[2];
    uint32_t sums[2];
    uint64_t bandwidth[2], recoveries, replays, replay_wraps;
    uint32_t naks[2];
    uint64_t read[8], written[8], firmware;
} metrics_5;

typedef struct metrics_7 {
    uint16_t head[2], temperatures[3], power, activities[2];
    uint64_t memory_bandwidth, energy, stamp;
    uint32_t ticks, residencies[5], lock;
    uint16_t pcie[2], xgmi[2];
    uint32_t sums[2];
    uint64_t bandwidth[2], recoveries, replays, replay_wraps;
    uint32_t naks[2];
    uint64_t read[8], written[8];
    uint16_t up[8], padding;
    uint64_t firmware, rest[240];
} metrics_7;

static void links_of_two_versions(void **state)
{
    (void)state;
    bench b;
    metrics_4 four;
    metrics_5 five;
    put_amd();
    memset(&four, 0xff, sizeof four);
    put_number((unsigned char *)&four, sizeof four, 2);
    put_number((unsigned char *)&four + 2, 1 | 4 << 8, 2);
    four.energy = 65536;
    four.recoveries = 11;
    four.replays = 12;
    four.read[0] = 13;
    four.written[7] = 14;
    put_table((unsigned char *)&four, sizeof four);
    open_source(&b, "gpu", root, &nobody);
    check_catalog(&b);
    assert_string_equal(fact(&b, "gpu0", "gpu_metrics"), "1.4");
    assert_int_equal(value(&b, "gpu0", "energy"), 1000000);
    assert_int_equal(value(&b, "gpu0", "pcie_recoveries"), 11);
    assert_int_equal(value(&b, "gpu0", "pcie_replays"), 12);
    assert_int_equal(value(&b, "gpu0", "xgmi0_rx_bytes"), 13 * 1024);
    assert_int_equal(value(&b, "gpu0", "xgmi7_tx_bytes"), 14 * 1024);
    assert_int_equal(status_of(&b, "gpu0", "xgmi7_rx_bytes"), NETPROF_STATUS_UNSUPPORTED);
    assert_false(is_told(&b, "gpu0", "xgmi1_rx_bytes"));
    assert_false(is_told(&b, "gpu0", "throttle_reasons"));
    close_source(&b);

    memset(&five, 0xff, sizeof five);
    put_number((unsigned char *)&five + 2, 1 | 5 << 8, 2);
    five.energy = 2 * 65536;
    five.recoveries = 21;
    five.naks[0] = 22;
    five.read[2] = 23;
    five.written[2] = 24;
    put_table((unsigned char *)&five, sizeof five);
    open_source(&b, "gpu", root, &nobody);
    assert_int_equal(value(&b, "gpu0", "energy"), 2000000);
    assert_int_equal(value(&b, "gpu0", "pcie_recoveries"), 21);
    assert_int_equal(value(&b, "gpu0", "pcie_naks_sent"), 22);
    assert_int_equal(status_of(&b, "gpu0", "pcie_naks_received"), NETPROF_STATUS_UNSUPPORTED); // all ones
    assert_int_equal(value(&b, "gpu0", "xgmi2_rx_bytes"), 23 * 1024);
    assert_int_equal(value(&b, "gpu0", "xgmi2_tx_bytes"), 24 * 1024);
    close_source(&b);
}

static void throttling_by_ticks(void **state)
{
    (void)state;
    bench b;
    metrics_7 t;
    put_amd();
    memset(&t, 0, sizeof t);
    put_number((unsigned char *)&t + 2, 1 | 7 << 8, 2);
    t.energy = 3 * 65536;
    t.ticks = UINT32_MAX - 99;                        // wraps in between
    t.residencies[0] = 5;                             // prochot
    t.residencies[1] = t.residencies[4] = UINT32_MAX; // the power limit's and the memory's are not counted
    t.up[0] = t.up[3] = 1;
    t.up[1] = 2; // switched off
    put_table((unsigned char *)&t, sizeof t);
    open_source(&b, "gpu", root, &nobody);
    check_catalog(&b);
    assert_int_equal(value(&b, "gpu0", "energy"), 3000000);
    assert_int_equal(value(&b, "gpu0", "xgmis_up"), 2);
    assert_int_equal(value(&b, "gpu0", "xgmi1_up"), 0);
    assert_int_equal(value(&b, "gpu0", "xgmi3_up"), 1);
    assert_false(is_told(&b, "gpu0", "throttled_memory"));
    assert_int_equal(status_of(&b, "gpu0", "reason_power_cap"), NETPROF_STATUS_UNSUPPORTED); // no time is not known

    now_us += 2000000; // the firmware has not counted on yet
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "gpu0", "throttled_prochot"), 0);
    now_us += 2000000;
    t.ticks += 400; // over 4 s
    t.residencies[0] += 100;
    t.residencies[2] += 40;
    t.residencies[1] = 300; // counted from now on: this is not of these 4 s
    put_table((unsigned char *)&t, sizeof t);
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "gpu0", "throttled_prochot"), 1000000);
    assert_int_equal(value(&b, "gpu0", "throttled_thermal"), 400000);
    assert_int_equal(value(&b, "gpu0", "reason_hardware"), 1000000);
    assert_int_equal(value(&b, "gpu0", "reason_thermal"), 400000);
    assert_int_equal(value(&b, "gpu0", "reason_power_cap"), 0);
    put_table((unsigned char *)&t, 3); // cut
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(status_of(&b, "gpu0", "energy"), NETPROF_STATUS_UNREADABLE);
    assert_int_equal(status_of(&b, "gpu0", "xgmi3_rx_bytes"), NETPROF_STATUS_UNREADABLE);
    assert_int_equal(status_of(&b, "gpu0", "throttled_prochot"), NETPROF_STATUS_UNREADABLE);
    assert_int_equal(status_of(&b, "gpu0", "reason_thermal"), NETPROF_STATUS_UNREADABLE);
    close_source(&b);

    // A short table that calls itself 1.6 is the one that some drivers had for a while.
    put_number((unsigned char *)&t + 2, 1 | 6 << 8, 2);
    put_table((unsigned char *)&t, 400);
    open_source(&b, "gpu", root, &nobody);
    assert_string_equal(fact(&b, "gpu0", "gpu_metrics"), "1.6, not known");
    assert_false(is_told(&b, "gpu0", "energy"));
    close_source(&b);
}

// ---- Intel ----

static void put_intel(void)
{
    put(CARD "uevent", "DRIVER=i915\nPCI_SLOT_NAME=0000:1a:00.0\n");
    put("/sys/class/drm/card0/gt/gt0/rps_act_freq_mhz", "1300\n");
}

static void one_intel(fake_ze_state *ze)
{
    *ze = (fake_ze_state){
        .bus = 0x1a,
        .engines =
            {3, {{.kind = 0, .a = 100, .b = 1000}, {.kind = 1, .a = 50, .b = 1000}, {.kind = 8, .a = 7, .b = 1000}}},
        .powers = {2, {{.a = 500}, {.on_part = 1, .a = 300}}},
        .memories = {2,
                     {{.on_part = 1, .a = 1000, .b = 400, .bits = 32, .read = 0xfffffff0, .written = 5},
                      {.on_part = 1, .number = 1, .a = 1000, .b = 100, .bits = 64, .read = 1}}},
        .clocks = {3,
                   {{.on_part = 1, .real = 1600, .most = 1600, .a = 10, .bits = 1},
                    {.on_part = 1, .number = 1, .real = 900, .most = 1600, .a = 30, .bits = 8},
                    {.kind = 1, .real = -1, .most = 3200}}},
        .temperatures = {3, {{.kind = 1, .real = 55.5}, {.kind = 2, .real = 61}, {.kind = 0, .real = -2}}},
        .ports = {3, {{.bits = 1, .a = 1000, .b = 2000}, {.bits = 3, .a = 1}, {.bits = 2}}},
        .errors = {2, {{.kind = 0, .counts = {9, 9, 9, 1, 2, 4, 9}}, {.kind = 1, .counts = {3, 9, 9, 0, 0, 1, 9}}}}};
}

static void level_zero_adds_what_sysfs_lacks(void **state)
{
    (void)state;
    bench b;
    fake_ze_state *ze = use_library(&gpu_ze_names, "fake-ze", "fake_ze", sizeof *ze);
    one_intel(ze);
    put_intel();
    open_source(&b, "gpu", root, &nobody);
    check_catalog(&b);
    static const struct {
        const char *name;
        uint64_t value;
    } rows[] = {{"engine_all0", 0},
                {"engine_compute_all0", 0},
                {"engine_copy0", 0}, // nothing passed yet
                {"energy", 500},     // of the whole, which the tile's is a part of
                {"memory_total", 2000},
                {"memory_used", 1500},
                {"memory_read", 0xfffffff1},
                {"memory_written", 5},
                {"clock", 1300}, // of sysfs
                {"clock_max", 1600},
                {"memory_clock_max", 3200},
                {"throttled", 30},
                {"throttle_reasons", 9},
                {"temperature", 55500},
                {"memory_temperature", 61000},
                {"fabrics_up", 2},
                {"fabric0_rx_bytes", 1000},
                {"fabric0_tx_bytes", 2000},
                {"fabric0_up", 1},
                {"fabric1_up", 0},
                {"fabric2_up", 1},
                {"ras_corrected", 7},
                {"ras_uncorrected", 1},
                {"resets", 3}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (value(&b, "gpu0", rows[i].name) != rows[i].value)
            fail_msg("%s: %llu", rows[i].name, (unsigned long long)value(&b, "gpu0", rows[i].name));
    assert_int_equal((int64_t)value(&b, "gpu0", "hotspot_temperature"), -2000);
    assert_false(is_told(&b, "gpu0", "memory_clock")); // -1: it does not know
    assert_false(is_told(&b, "gpu0", "pcie_rx"));      // it does not count bytes
    assert_string_equal(fact(&b, "gpu0", "library"), "Level Zero, zesInit");
    assert_string_equal(fact(&b, "gpu0", "fabric_ports"), "3");
    assert_int_equal(ze->cleared, 0);
    assert_int_equal(ze->inits, 1);
    assert_int_equal(ze->old_inits, 0); // the two ways do not mix

    // A quarter of the GPU's own time; 32 bits wrapped, 64 did not.
    now_us += 2000000;
    ze->engines.parts[0].a += 500000;
    ze->engines.parts[0].b += 2000000;
    ze->engines.parts[1].a += 960; // in ticks, as some drivers count
    ze->engines.parts[1].b += 2400;
    ze->engines.parts[2].a += 2000000; // busier, but of one engine
    ze->engines.parts[2].b += 2000000;
    ze->memories.parts[0].read = 0x10;
    ze->memories.parts[1].read = 101;
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "gpu0", "busy"), 25);
    assert_int_equal(value(&b, "gpu0", "busy_time"), 500000);
    assert_int_equal(value(&b, "gpu0", "seen_time"), 2000000);
    assert_int_equal(value(&b, "gpu0", "memory_read"), UINT64_C(0xfffffff1) + 0x20 + 100);
    assert_int_equal(value(&b, "gpu0", "reason_power_cap"), 2000000);
    assert_int_equal(value(&b, "gpu0", "reason_thermal"), 2000000);
    assert_int_equal(value(&b, "gpu0", "engine_all0"), 500000000);
    assert_int_equal(value(&b, "gpu0", "engine_compute_all0"), 800000000); // 40 % of 2 s
    assert_int_equal(value(&b, "gpu0", "engine_copy0"), 2000000000);

    // A driver that has not counted on tells of this second with the next one.
    now_us += 1000000;
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(b.s.errnos[index_of(&b, "gpu0", "busy")], ENODATA);
    assert_int_equal(value(&b, "gpu0", "engine_compute_all0"), 800000000);
    now_us += 1000000;
    ze->engines.parts[1].a += 600;
    ze->engines.parts[1].b += 2400;
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "gpu0", "engine_compute_all0"), 1300000000);
    close_source(&b);
}

static void level_zero_fails_here_and_there(void **state)
{
    (void)state;
    enum { DENIED = 0x70010000, UNSUPPORTED = 0x78000003, LOST = 0x70000001, RESET = 0x70000006, ASLEEP = 0x70000007 };
    bench b;
    fake_ze_state *ze = use_library(&gpu_ze_names, "fake-ze", "fake_ze", sizeof *ze);
    one_intel(ze);
    put_intel();
    ze->engines.parts[0].result = ze->engines.parts[1].result = ze->engines.parts[2].result = DENIED;
    ze->powers.parts[0].on_part = 1; // two domains of one tile: the one may lie within the other
    ze->memories.parts[0].bits = 0;  // counters of an unknown width
    ze->memories.parts[1].bits = 0;
    ze->memories.parts[1].b = 5000; // more is free than there is
    ze->ports.parts[1].result = UNSUPPORTED;
    ze->ports.parts[2].bits = 0; // it does not know its state
    ze->errors.parts[0].result = UNSUPPORTED;
    ze->clocks.parts[1].result = LOST;
    ze->temperatures.parts[0].result = RESET;
    ze->temperatures.parts[1].result = ASLEEP;
    open_source(&b, "gpu", root, &nobody);
    assert_int_equal(status_of(&b, "gpu0", "engine_all0"), NETPROF_STATUS_DENIED);
    assert_int_equal(status_of(&b, "gpu0", "busy"), NETPROF_STATUS_DENIED);
    assert_false(is_told(&b, "gpu0", "energy"));
    assert_false(is_told(&b, "gpu0", "memory_read"));
    assert_int_equal(status_of(&b, "gpu0", "memory_used"), NETPROF_STATUS_UNREADABLE);
    assert_int_equal(status_of(&b, "gpu0", "fabric1_rx_bytes"), NETPROF_STATUS_UNSUPPORTED);
    assert_int_equal(b.s.errnos[index_of(&b, "gpu0", "fabric2_up")], ENODATA);
    assert_int_equal(b.s.errnos[index_of(&b, "gpu0", "fabrics_up")], ENODATA); // 1 would be too few, perhaps
    assert_false(is_told(&b, "gpu0", "ras_corrected"));
    assert_int_equal(value(&b, "gpu0", "ras_uncorrected"), 1);
    assert_int_equal(status_of(&b, "gpu0", "throttle_reasons"), NETPROF_STATUS_VANISHED);
    assert_int_equal(status_of(&b, "gpu0", "reason_power_cap"), NETPROF_STATUS_VANISHED);
    assert_int_equal(status_of(&b, "gpu0", "temperature"), NETPROF_STATUS_VANISHED);
    assert_int_equal(b.s.errnos[index_of(&b, "gpu0", "memory_temperature")], EAGAIN);
    close_source(&b);

    // The card's own domain is the whole, whatever else there is.
    one_intel(ze);
    ze->has_card_power = 1;
    ze->card_power.a = 12345;
    ze->counts_bytes = 1;
    ze->received = 77;
    ze->sent = 88;
    open_source(&b, "gpu", root, &nobody);
    assert_int_equal(value(&b, "gpu0", "energy"), 12345);
    assert_int_equal(value(&b, "gpu0", "pcie_rx"), 77);
    assert_int_equal(value(&b, "gpu0", "pcie_tx"), 88);
    close_source(&b);

    ze->init_result = 0x78000001; // no driver
    open_source(&b, "gpu", root, &nobody);
    assert_string_equal(fact(&b, "gpu0", "library"), "Level Zero does not start: result 0x78000001");
    assert_int_equal(value(&b, "gpu0", "clock"), 1300);
    close_source(&b);
}

// Loaders before 1.9: the variable is set for their own start alone, and what it was stays.
static void an_old_loader(void **state)
{
    (void)state;
    bench b;
    fake_ze_state *ze = use_library(&gpu_ze_names, "fake-zeold", "fake_ze", sizeof *ze);
    one_intel(ze);
    put_intel();
    unsetenv("ZES_ENABLE_SYSMAN");
    open_source(&b, "gpu", root, &nobody);
    assert_int_equal(ze->old_init_saw_variable, 1);
    assert_null(getenv("ZES_ENABLE_SYSMAN")); // programs that are started from here may use the other way
    assert_int_equal(value(&b, "gpu0", "energy"), 500);
    assert_string_equal(fact(&b, "gpu0", "library"), "Level Zero, zeInit and ZES_ENABLE_SYSMAN");
    close_source(&b);
    setenv("ZES_ENABLE_SYSMAN", "0", 1); // somebody does not want it
    open_source(&b, "gpu", root, &nobody);
    assert_int_equal(ze->old_init_saw_variable, 0);
    assert_string_equal(getenv("ZES_ENABLE_SYSMAN"), "0");
    close_source(&b);
    unsetenv("ZES_ENABLE_SYSMAN");
}

// Below another root this node's libraries are strangers.
static void a_saved_tree(void **state)
{
    (void)state;
    bench b;
    fake_ze_state *ze = use_library(&gpu_ze_names, "fake-ze", "fake_ze", sizeof *ze);
    one_intel(ze);
    put_intel();
    gpu_library_of_root = false;
    open_source(&b, "gpu", root, &nobody);
    assert_int_equal(ze->inits, 0);
    assert_false(is_told(&b, "gpu0", "energy"));
    close_source(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(amd_smi_adds_what_sysfs_lacks, begin, end),
        cmocka_unit_test_setup_teardown(values_that_amd_smi_does_not_have, begin, end),
        cmocka_unit_test_setup_teardown(a_release_that_is_not_known, begin, end),
        cmocka_unit_test_setup_teardown(one_reader_for_a_value, begin, end),
        cmocka_unit_test_setup_teardown(a_gpu_elsewhere, begin, end),
        cmocka_unit_test_setup_teardown(rocm_smi_where_amd_smi_is_not, begin, end),
        cmocka_unit_test_setup_teardown(links_of_two_versions, begin, end),
        cmocka_unit_test_setup_teardown(throttling_by_ticks, begin, end),
        cmocka_unit_test_setup_teardown(level_zero_adds_what_sysfs_lacks, begin, end),
        cmocka_unit_test_setup_teardown(level_zero_fails_here_and_there, begin, end),
        cmocka_unit_test_setup_teardown(an_old_loader, begin, end),
        cmocka_unit_test_setup_teardown(a_saved_tree, begin, end),
    };
    return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
