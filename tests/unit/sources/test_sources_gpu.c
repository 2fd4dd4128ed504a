// The source gpu: a made libnvidia-ml.so.1 and trees of files for AMD and Intel, with exact numbers.
#define _GNU_SOURCE
#include "netprof.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <unistd.h>

#include "fake_nvml.h"
#include "sources/gpu/gpu_nvml.h"
#include "sources/perf/perf.h"
#include "source_bench.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

static const sources_job nobody;

static int64_t now_us;

static int64_t made_clock(void)
{
    return now_us;
}

// The library, held here so that what is written into it stays.
static void *held;
static fake_nvml_state *nvml;

static void use_library(const char *name)
{
    char path[512];
    static char kept[512];
    snprintf(path, sizeof path, NETPROF_TEST_BUILD "/tests/lib%s.so", name);
    snprintf(kept, sizeof kept, "%s", path);
    held = dlopen(path, RTLD_NOW);
    if (!held) fail_msg("%s", dlerror());
    nvml = dlsym(held, "fake_nvml");
    assert_non_null(nvml);
    memset(nvml, 0, sizeof *nvml);
    gpu_nvml_library = kept;
}

static int begin(void **state)
{
    (void)state;
    now_us = 1000000;
    gpu_clock_us = made_clock;
    use_library("fake-nvml");
    return 0;
}

static int end(void **state)
{
    gpu_nvml_library = "libnetprof-there-is-none.so";
    perf_calls = &perf_kernel;
    if (held) dlclose(held);
    held = NULL;
    return drop_tree(state);
}

static fake_gpu *one_gpu(void)
{
    nvml->count = 1;
    nvml->gpus[0] = (fake_gpu){.busy = 42,
                               .memory_busy = 17,
                               .power_mw = 351250,
                               .limit_mw = 400000,
                               .limit_set_mw = 450000,
                               .celsius = 61,
                               .memory_celsius = 75,
                               .fan = 30,
                               .clocks = {0, 1410, 1215},
                               .clocks_max = {0, 1980, 2619},
                               .memory_total = 85899345920,
                               .memory_used = 1073741824,
                               .energy_mj = 123456789,
                               .reasons = 0,
                               .violation_ns = {5000000, 7000, 0, 11000, 99, 13000},
                               .ecc = {3, 1},
                               .rows = {1, 2, 0, 1},
                               .replays = 9,
                               .generation = 4,
                               .generation_max = 5,
                               .width = 8,
                               .width_max = 16,
                               .pcie_rx = 1000,
                               .pcie_tx = 2000};
    return &nvml->gpus[0];
}

// ---- NVIDIA ----

static void values_in_units_of_their_own(void **state)
{
    (void)state;
    bench b;
    one_gpu();
    open_source(&b, "gpu", NULL, &nobody);
    static const struct {
        const char *name, *unit;
        uint64_t value;
    } rows[] = {{"busy", "percent", 42},
                {"memory_busy", "percent", 17},
                {"memory_used", "bytes", 1073741824},
                {"memory_total", "bytes", 85899345920},
                {"energy", "uJ", 123456789000},
                {"power", "uW", 351250000},
                {"power_limit", "uW", 400000000},
                {"power_limit_set", "uW", 450000000},
                {"temperature", "mC", 61000},
                {"memory_temperature", "mC", 75000},
                {"fan", "percent", 30},
                {"clock", "MHz", 1410},
                {"clock_max", "MHz", 1980},
                {"memory_clock", "MHz", 1215},
                {"memory_clock_max", "MHz", 2619},
                {"throttled_power", "us", 5000},
                {"throttled_thermal", "us", 7},
                {"throttled_board_limit", "us", 11},
                {"throttled_reliability", "us", 13},
                {"pcie_rx", "bytes", 1000},
                {"pcie_tx", "bytes", 2000},
                {"pcie_replays", "retries", 9},
                {"pcie_generation", "PCIe generation", 4},
                {"pcie_generation_max", "PCIe generation", 5},
                {"pcie_width", "lanes", 8},
                {"pcie_width_max", "lanes", 16},
                {"ecc_corrected", "errors", 3},
                {"ecc_uncorrected", "errors", 1},
                {"rows_remapped_corrected", "rows", 1},
                {"rows_remapped_uncorrected", "rows", 2},
                {"rows_pending", "", 0},
                {"rows_failed", "", 1},
                {"processes", "processes", 0},
                {"memory_peak", "bytes", 1073741824}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (value(&b, "gpu0", rows[i].name) != rows[i].value)
            fail_msg("%s: %llu", rows[i].name, (unsigned long long)value(&b, "gpu0", rows[i].name));
        assert_string_equal(b.s.schema->counters[index_of(&b, "gpu0", rows[i].name)].unit, rows[i].unit);
    }
    check_catalog(&b);
    assert_string_equal(fact(&b, "gpu0", "vendor"), "NVIDIA");
    assert_string_equal(fact(&b, "gpu0", "model"), "NVIDIA Made 100");
    assert_string_equal(fact(&b, "gpu0", "uuid"), "GPU-0000abc0-0000");
    assert_string_equal(fact(&b, "gpu0", "pci"), "0000:41:00.0");
    assert_string_equal(fact(&b, "gpu0", "driver"), "550.54.15");
    assert_string_equal(fact(&b, "gpu0", "job"), ""); // no job
    assert_int_equal(netprof_find(b.s.schema, NULL, "gpu0", "job_memory"), NETPROF_NONE);
    close_source(&b);
}

// The library is initialised once, and no name is asked for again; a reading is so many calls.
static void initialised_once(void **state)
{
    (void)state;
    bench b;
    one_gpu();
    open_source(&b, "gpu", NULL, &nobody);
    int before = nvml->calls;
    again(&b, NETPROF_SET_ALL);
    int each = nvml->calls - before;
    for (int i = 0; i < 5; i++)
        again(&b, NETPROF_SET_ALL);
    assert_int_equal(nvml->calls - before, 6 * each);
    assert_true(each < 40);
    again(&b, NETPROF_SET_FAST); // nothing of it is fast
    assert_int_equal(nvml->calls - before, 6 * each);
    assert_int_equal(nvml->inits, 1);
    assert_int_equal(nvml->shutdowns, 0);
    close_source(&b);
    assert_int_equal(nvml->inits, 1);
    assert_int_equal(nvml->shutdowns, 1);
}

static void failures_are_no_zeros(void **state)
{
    (void)state;
    bench b;
    fake_gpu *g = one_gpu();
    g->ecc_result = 3; // no ECC
    g->pcie_result = 3;
    g->busy_result = 4; // not permitted
    open_source(&b, "gpu", NULL, &nobody);
    assert_int_equal(status_of(&b, "gpu0", "ecc_corrected"), NETPROF_STATUS_UNSUPPORTED);
    assert_int_equal(status_of(&b, "gpu0", "pcie_rx"), NETPROF_STATUS_UNSUPPORTED);
    assert_int_equal(status_of(&b, "gpu0", "busy"), NETPROF_STATUS_DENIED);
    assert_int_equal(value(&b, "gpu0", "busy_time"), 0);
    assert_int_equal(value(&b, "gpu0", "seen_time"), 0);              // nothing was seen: 0 of 0, no idle GPU
    assert_int_equal(value(&b, "gpu0", "memory_temperature"), 75000); // of the same call
    g->lost = 15;                                                     // fell off the bus
    now_us += 1000000;
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(status_of(&b, "gpu0", "power"), NETPROF_STATUS_VANISHED);
    assert_int_equal(status_of(&b, "gpu0", "energy"), NETPROF_STATUS_VANISHED);
    assert_int_equal(value(&b, "gpu0", "memory_peak"), 1073741824); // what was seen stays
    g->lost = 999;
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(status_of(&b, "gpu0", "power"), NETPROF_STATUS_UNREADABLE);
    g->lost = 0;
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "gpu0", "power"), 351250000);
    close_source(&b);
}

static void one_broken_gpu_hides_no_other(void **state)
{
    (void)state;
    bench b;
    one_gpu();
    nvml->count = 3;
    nvml->gpus[1].handle = 15;
    nvml->gpus[2] = nvml->gpus[0];
    open_source(&b, "gpu", NULL, &nobody);
    assert_int_equal(b.s.schema->device_count, 3);
    assert_int_equal(status_of(&b, "gpu1", "busy"), NETPROF_STATUS_VANISHED);
    assert_int_equal(value(&b, "gpu2", "busy"), 42);
    assert_string_equal(fact(&b, "gpu2", "uuid"), "GPU-0000abc2-0000");
    close_source(&b);
}

static const netprof_source_state *state_of(const bench *b)
{
    const netprof_source_state *s = &b->s.schema->sources[b->s.schema->source_count - 1];
    assert_string_equal(s->name, "gpu");
    return s;
}

static void no_driver_or_no_library(void **state)
{
    (void)state;
    bench b;
    nvml->init_result = 9;
    open_source(&b, "gpu", root, &nobody); // another root: the library is not even asked
    assert_int_equal(nvml->inits, 0);
    close_source(&b);
    open_source(&b, "gpu", NULL, &nobody);
    assert_int_equal(state_of(&b)->sys_errno, ENXIO);
    assert_non_null(strstr(state_of(&b)->path, "nvmlInit_v2"));
    close_source(&b);
    assert_int_equal(nvml->shutdowns, 0);
    gpu_nvml_library = "libnetprof-there-is-none.so";
    open_source(&b, "gpu", root, &nobody);
    assert_int_equal(state_of(&b)->status, NETPROF_STATUS_ABSENT);
    close_source(&b);
}

// A library that lacks the newer functions: what it has is told, the rest is unsupported.
static void an_old_library(void **state)
{
    (void)state;
    bench b;
    use_library("fake-nvmlold");
    fake_gpu *g = one_gpu();
    g->reasons = 0x4;
    open_source(&b, "gpu", NULL, &nobody);
    assert_int_equal(value(&b, "gpu0", "throttle_reasons"), 4); // by its old name
    assert_int_equal(value(&b, "gpu0", "busy"), 42);
    static const char *const missing[] = {"rows_failed", "pcie_rx", "memory_temperature", "processes"};
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
        assert_int_equal(status_of(&b, "gpu0", missing[i]), NETPROF_STATUS_UNSUPPORTED);
    close_source(&b);
}

static void a_library_to_come(void **state)
{
    (void)state;
    bench b;
    use_library("fake-nvmlnewest"); // nvmlDeviceGetTemperature is gone
    one_gpu();
    open_source(&b, "gpu", NULL, &nobody);
    assert_int_equal(value(&b, "gpu0", "temperature"), 61000);
    close_source(&b);
}

// What the drivers tell of a moment, over the time that passed.
static void sums_over_time(void **state)
{
    (void)state;
    bench b;
    fake_gpu *g = one_gpu();
    open_source(&b, "gpu", NULL, &nobody);
    uint64_t seen = value(&b, "gpu0", "seen_time");
    assert_int_equal(seen, 0); // the clock has not moved
    now_us += 2000000;
    g->busy = 50;
    g->reasons = 0x4 | 0x1;
    again(&b, NETPROF_SET_ALL); // 2 s at 50 %
    now_us += 1000000;
    g->busy = 90;
    g->clocks[1] = 1500;
    g->reasons = 0x40;
    g->memory_used = 3000000000;
    again(&b, NETPROF_SET_ALL); // 1 s at 90 %, 1500 MHz
    now_us += 500000;
    g->busy_result = 4;
    g->reasons = 0x80;
    g->memory_used = 5;
    again(&b, NETPROF_SET_ALL); // not seen
    assert_int_equal(value(&b, "gpu0", "busy_time"), 1000000 + 900000);
    assert_int_equal(value(&b, "gpu0", "seen_time"), 3000000);
    assert_int_equal(value(&b, "gpu0", "loaded_time"), 1000000);
    assert_int_equal(value(&b, "gpu0", "loaded_cycles"), UINT64_C(1500000000));
    assert_int_equal(value(&b, "gpu0", "reason_power_cap"), 2000000);
    assert_int_equal(value(&b, "gpu0", "reason_thermal"), 1000000);
    assert_int_equal(value(&b, "gpu0", "reason_hardware"), 1500000); // 0x40 is both
    assert_int_equal(value(&b, "gpu0", "memory_peak"), 3000000000);
    assert_int_equal(value(&b, "gpu0", "memory_used"), 5);
    close_source(&b);
}

static void links(void **state)
{
    (void)state;
    bench b;
    fake_gpu *g = one_gpu();
    g->links = 3;
    g->link_up[0] = g->link_up[2] = 1;
    g->link_rx[0] = 10;
    g->link_tx[0] = 20;
    g->link_rx[2] = 30;
    g->crc_flit = 4;
    g->crc_data = 5;
    g->link_replays = 6;
    g->link_recoveries = 7;
    open_source(&b, "gpu", NULL, &nobody);
    check_catalog(&b);
    assert_int_equal(value(&b, "gpu0", "nvlinks_up"), 2);
    assert_int_equal(value(&b, "gpu0", "nvlink0_rx_bytes"), 10 * 1024); // KiB
    assert_int_equal(value(&b, "gpu0", "nvlink0_tx_bytes"), 20 * 1024);
    assert_int_equal(value(&b, "gpu0", "nvlink2_rx_bytes"), 30 * 1024);
    assert_int_equal(value(&b, "gpu0", "nvlink1_up"), 0);
    assert_int_equal(value(&b, "gpu0", "nvlink2_up"), 1);
    assert_int_equal(value(&b, "gpu0", "nvlink_crc_errors"), 9);
    assert_int_equal(value(&b, "gpu0", "nvlink_replays"), 6);
    assert_int_equal(value(&b, "gpu0", "nvlink_recoveries"), 7);
    close_source(&b);

    g->link_in_bytes = 1; // the fifth generation
    g->pcie_32 = 1;
    g->pcie_rx = 0xfffffff0;
    open_source(&b, "gpu", NULL, &nobody);
    assert_int_equal(value(&b, "gpu0", "nvlink0_rx_bytes"), 10);
    assert_int_equal(value(&b, "gpu0", "pcie_rx"), 0xfffffff0);
    assert_int_equal(b.s.schema->counters[index_of(&b, "gpu0", "pcie_rx")].width,
                     32); // a narrow one may pass unseen
    close_source(&b);
}

static void parts_of_a_gpu(void **state)
{
    (void)state;
    bench b;
    fake_gpu *g = one_gpu();
    nvml->count = 2;
    nvml->gpus[1] = *g;
    g->mig = 1;
    g->parts = 2;
    g->part_used[0] = 111;
    g->part_used[1] = 222;
    g->busy_result = 3; // use is not told with MIG
    open_source(&b, "gpu", NULL, &nobody);
    assert_int_equal(b.s.schema->device_count, 4);
    assert_int_equal(value(&b, "gpu0/mig0", "memory_used"), 111);
    assert_int_equal(value(&b, "gpu0/mig1", "memory_used"), 222);
    assert_int_equal(value(&b, "gpu0/mig1", "memory_total"), 85899345920 / 7);
    assert_true(device_of(&b, "gpu0/mig1")->flags & NETPROF_DEVICE_VIRTUAL); // a part of gpu0
    assert_string_equal(fact(&b, "gpu0/mig1", "uuid"), "MIG-0000abc1-0000");
    assert_string_equal(fact(&b, "gpu0", "mig"), "on");
    assert_string_equal(fact(&b, "gpu1", "mig"), "off");
    assert_int_equal(status_of(&b, "gpu0", "busy"), NETPROF_STATUS_UNSUPPORTED);
    assert_int_equal(value(&b, "gpu1", "busy"), 42);
    assert_int_equal(netprof_find(b.s.schema, NULL, "gpu0/mig1", "power"), NETPROF_NONE);
    close_source(&b);
}

// Processes of the job and of others; this test's own process stands for the job.
static void processes_of_the_job(void **state)
{
    (void)state;
    bench b;
    pid_t pid = getpid();
    sources_job job = {.pids = &pid, .pid_count = 1};
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); // the test may fail before it ends this one
        if (getppid() != pid) _exit(1);
        pause();
        _exit(0);
    }
    fake_gpu *g = one_gpu();
    nvml->count = 2;
    nvml->gpus[1] = *g;
    g->processes = 3;
    g->pids[0] = (unsigned)pid;
    g->pids[1] = (unsigned)child; // a child belongs, too
    g->pids[2] = 1;
    g->process_memory[0] = 100;
    g->process_memory[1] = 20;
    g->process_memory[2] = 4000;
    g->use[0] = 30;
    g->use[1] = 25;
    g->use[2] = 90;
    g->use_stamp[0] = 10;
    g->use_stamp[1] = 11;
    g->use_stamp[2] = 12;
    open_source(&b, "gpu", NULL, &job);
    assert_int_equal(value(&b, "gpu0", "processes"), 3);
    check_catalog(&b);
    assert_int_equal(value(&b, "gpu0", "job_processes"), 2);
    assert_int_equal(value(&b, "gpu0", "job_memory"), 120);
    assert_int_equal(value(&b, "gpu1", "job_processes"), 0);
    assert_int_equal(value(&b, "gpu1", "job_memory"), 0);
    assert_string_equal(fact(&b, "gpu0", "job"), "yes");
    assert_string_equal(fact(&b, "gpu0", "job_by"), "process");
    assert_string_equal(fact(&b, "gpu1", "job"), ""); // not yet, perhaps
    // No new samples of use: not known, and not 0.
    assert_int_equal(status_of(&b, "gpu0", "job_busy"), NETPROF_STATUS_UNREADABLE);
    g->use_stamp[0] = 20;
    g->use_stamp[1] = 21;
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "gpu0", "job_busy"), 55);
    g->process_memory[1] = ~0ull; // the driver does not tell
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(status_of(&b, "gpu0", "job_memory"), NETPROF_STATUS_UNSUPPORTED);
    close_source(&b);
    kill(child, SIGKILL);
}

// The lists that a job's environment has.
static void gpus_given_to_the_job(void **state)
{
    (void)state;
    static const struct {
        const char *list, *gpu0, *gpu1;
    } rows[] = {{"1", "no", "yes"},
                {"0,1", "yes", "yes"},
                {"GPU-0000abc0", "yes", "no"},
                {"10", "no", "no"},
                {"GPU-0000abc0-0000,1", "yes", "yes"},
                {"", "no", "no"}};
    pid_t none = 0;
    sources_job job = {.pids = &none, .expected = true};
    one_gpu();
    nvml->count = 2;
    nvml->gpus[1] = nvml->gpus[0];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bench b;
        setenv("CUDA_VISIBLE_DEVICES", rows[i].list, 1);
        open_source(&b, "gpu", NULL, &job);
        assert_string_equal(fact(&b, "gpu0", "job"), rows[i].gpu0);
        assert_string_equal(fact(&b, "gpu1", "job"), rows[i].gpu1);
        assert_string_equal(fact(&b, "gpu1", "job_by"), "CUDA_VISIBLE_DEVICES");
        close_source(&b);
    }
    // Of several models the fastest is number 0, whatever its place: a number says nothing, a UUID does.
    bench b;
    nvml->gpus[1].other_model = 1;
    setenv("CUDA_VISIBLE_DEVICES", "0", 1);
    open_source(&b, "gpu", NULL, &job);
    assert_string_equal(fact(&b, "gpu0", "job"), "");
    close_source(&b);
    setenv("CUDA_VISIBLE_DEVICES", "GPU-0000abc1", 1);
    open_source(&b, "gpu", NULL, &job);
    assert_string_equal(fact(&b, "gpu0", "job"), "no");
    assert_string_equal(fact(&b, "gpu1", "job"), "yes");
    close_source(&b);
    unsetenv("CUDA_VISIBLE_DEVICES");
}

// ---- AMD ----

#define CARD(n) "/sys/class/drm/card" #n "/"

static void put_bytes(const char *path, const unsigned char *bytes, size_t size)
{
    char full[512];
    put(path, "");
    snprintf(full, sizeof full, "%s%s", root, path);
    FILE *f = fopen(full, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static void put_u64(unsigned char *at, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        at[i] = (unsigned char)(value >> 8 * i);
}

static void put_amd(void)
{
    static const char *const files[][2] = {{"uevent", "DRIVER=amdgpu\nPCI_CLASS=30000\nPCI_SLOT_NAME=0000:c1:00.0\n"},
                                           {"gpu_busy_percent", "77\n"},
                                           {"mem_busy_percent", "12\n"},
                                           {"mem_info_vram_total", "68702699520\n"},
                                           {"mem_info_vram_used", "4096\n"},
                                           {"pcie_replay_count", "5\n"},
                                           {"current_link_speed", "16.0 GT/s PCIe\n"},
                                           {"max_link_speed", "32.0 GT/s PCIe\n"},
                                           {"current_link_width", "8\n"},
                                           {"max_link_width", "16\n"},
                                           {"unique_id", "e1a2b3\n"},
                                           {"pp_dpm_sclk", "0: 500Mhz\n1: 1700Mhz *\n2: 800Mhz\n"},
                                           {"ras/umc_err_count", "ue: 2\nce: 31\n"},
                                           {"hwmon/hwmon7/power1_average", "250000000\n"},
                                           {"hwmon/hwmon7/power1_cap", "300000000\n"},
                                           {"hwmon/hwmon7/temp1_input", "-3000\n"},
                                           {"hwmon/hwmon7/temp2_input", "88000\n"},
                                           {"hwmon/hwmon7/freq1_input", "1650000000\n"}};
    char path[128];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, CARD(1) "device/%s", files[i][0]);
        put(path, files[i][1]);
    }
}

// Of a process that runs: its own list, by numbers only when it sees the same GPUs as this one.
static void gpus_given_to_a_process(void **state)
{
    (void)state;
    bench b;
    pid_t pids[2] = {501, 502};
    sources_job job = {.pids = pids, .pid_count = 2};
    static const char environment[] = "A=1\0ROCR_VISIBLE_DEVICES=GPU-e1a2b3\0B=2";
    static const char numbers[] = "ROCR_VISIBLE_DEVICES=1,0.1\0";
    put_amd();
    put("/proc/self/cgroup", "0::/job\n");
    put("/proc/501/cgroup", "0::/job/task_0\n");
    put("/proc/502/cgroup", "0::/job\n");
    put_bytes("/proc/501/environ", (const unsigned char *)environment, sizeof environment);
    open_source(&b, "gpu", root, &job);
    assert_string_equal(fact(&b, "gpu0", "job"), "yes");
    assert_string_equal(fact(&b, "gpu0", "job_by"), "ROCR_VISIBLE_DEVICES");
    close_source(&b);
    put_bytes("/proc/501/environ", (const unsigned char *)numbers, sizeof numbers); // in a group of its own
    open_source(&b, "gpu", root, &job);
    assert_string_equal(fact(&b, "gpu0", "job"), "");
    close_source(&b);
    job.pids = pids + 1;
    job.pid_count = 1;
    put_bytes("/proc/502/environ", (const unsigned char *)numbers, sizeof numbers);
    open_source(&b, "gpu", root, &job);
    assert_string_equal(fact(&b, "gpu0", "job"), "yes"); // a part of number 0
    close_source(&b);
}

static void an_amd_gpu(void **state)
{
    (void)state;
    bench b;
    unsigned char metrics[120] = {120, 0, 1, 3};
    put_u64(metrics + 24, 65536 * 10 + 32768); // 10.5 J
    put_u64(metrics + 112, UINT64_C(1) << 33);
    put_amd();
    put_bytes(CARD(1) "device/gpu_metrics", metrics, sizeof metrics);
    put(CARD(1) "device/pp_dpm_mclk", "nonsense\n");
    put("/sys/class/drm/card1-DP-1/status", "connected\n");
    put("/sys/class/drm/renderD128/dev", "226:128\n");
    put(CARD(0) "device/uevent", "DRIVER=ast\n"); // a console
    open_source(&b, "gpu", root, &nobody);
    assert_int_equal(b.s.schema->device_count, 1);
    assert_string_equal(fact(&b, "gpu0", "vendor"), "AMD");
    assert_string_equal(fact(&b, "gpu0", "pci"), "0000:c1:00.0");
    check_catalog(&b);
    assert_string_equal(fact(&b, "gpu0", "uuid"), "GPU-e1a2b3");
    assert_string_equal(fact(&b, "gpu0", "card"), "card1");
    assert_int_equal(value(&b, "gpu0", "busy"), 77);
    assert_int_equal(value(&b, "gpu0", "memory_busy"), 12);
    assert_int_equal(value(&b, "gpu0", "memory_total"), 68702699520);
    assert_int_equal(value(&b, "gpu0", "power"), 250000000);
    assert_int_equal(value(&b, "gpu0", "power_limit"), 300000000);
    assert_int_equal((int64_t)value(&b, "gpu0", "temperature"), -3000);
    assert_int_equal(value(&b, "gpu0", "hotspot_temperature"), 88000);
    assert_int_equal(value(&b, "gpu0", "clock"), 1650);
    assert_int_equal(value(&b, "gpu0", "clock_max"), 1700);
    assert_int_equal(value(&b, "gpu0", "pcie_replays"), 5);
    assert_int_equal(value(&b, "gpu0", "pcie_generation"), 4);
    assert_int_equal(value(&b, "gpu0", "pcie_generation_max"), 5);
    assert_int_equal(value(&b, "gpu0", "pcie_width"), 8);
    assert_int_equal(value(&b, "gpu0", "ecc_corrected"), 31);
    assert_int_equal(value(&b, "gpu0", "ecc_uncorrected"), 2);
    assert_int_equal(value(&b, "gpu0", "energy"), 10500000);
    assert_int_equal(value(&b, "gpu0", "throttle_reasons"), UINT64_C(1) << 33);
    assert_int_equal(status_of(&b, "gpu0", "memory_clock_max"), NETPROF_STATUS_UNREADABLE); // not a table
    assert_int_equal(netprof_find(b.s.schema, NULL, "gpu0", "memory_clock"), NETPROF_NONE); // not there
    now_us += 3000000;
    put(CARD(1) "device/gpu_busy_percent", "100\n");
    put(CARD(1) "device/current_link_speed", "Unknown\n");
    put_u64(metrics + 24, UINT64_MAX);
    put_bytes(CARD(1) "device/gpu_metrics", metrics, sizeof metrics);
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "gpu0", "busy_time"), 3000000);
    assert_int_equal(value(&b, "gpu0", "reason_thermal"), 3000000); // bits from 32 on
    assert_int_equal(value(&b, "gpu0", "reason_power_cap"), 0);
    assert_int_equal(value(&b, "gpu0", "loaded_cycles"), UINT64_C(1650) * 3000000);
    assert_int_equal(status_of(&b, "gpu0", "pcie_generation"), NETPROF_STATUS_UNREADABLE);
    assert_int_equal(status_of(&b, "gpu0", "energy"), NETPROF_STATUS_UNSUPPORTED);
    put_bytes(CARD(1) "device/gpu_metrics", metrics, 3); // cut
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(status_of(&b, "gpu0", "energy"), NETPROF_STATUS_UNREADABLE);
    close_source(&b);
}

// Versions of the table whose places differ, and ones that are not known.
static void versions_of_gpu_metrics(void **state)
{
    (void)state;
    static const struct {
        unsigned char format, content;
        size_t place;
    } rows[] = {{1, 1, 24}, {1, 4, 24}, {1, 5, 88}, {1, 0, 0}, {1, 9, 0}, {2, 3, 0}};
    put_amd();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bench b;
        unsigned char metrics[288] = {32, 1, rows[i].format, rows[i].content};
        if (rows[i].place) put_u64(metrics + rows[i].place, 65536 * (i + 1));
        put_bytes(CARD(1) "device/gpu_metrics", metrics, sizeof metrics);
        open_source(&b, "gpu", root, &nobody);
        if (rows[i].place)
            assert_int_equal(value(&b, "gpu0", "energy"), 1000000 * (i + 1));
        else
            assert_int_equal(netprof_find(b.s.schema, NULL, "gpu0", "energy"), NETPROF_NONE);
        close_source(&b);
    }
}

// ---- Intel ----

enum { ENGINES = 3 };
static uint64_t engine_ns[ENGINES];     // of the event with this place in its config
static uint64_t engine_places[ENGINES]; // in the order of their opening
static int engines_opened;

static int engine_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group, unsigned long flags)
{
    (void)flags;
    assert_int_equal(attr->type, 42);
    assert_int_equal(pid, -1);
    assert_int_equal(cpu, 3);
    assert_int_equal(group, engines_opened ? 900 : -1);
    assert_in_range(engines_opened, 0, ENGINES - 1);
    engine_places[engines_opened] = attr->config >> 12;
    return 900 + engines_opened++;
}

static ssize_t engine_read(int fd, void *to, size_t size)
{
    uint64_t words[3 + ENGINES] = {ENGINES, 7, 7};
    assert_int_equal(fd, 900);
    assert_int_equal(engines_opened, ENGINES);
    for (int i = 0; i < ENGINES; i++)
        words[3 + i] = engine_ns[engine_places[i]];
    assert_true(size >= sizeof words);
    memcpy(to, words, sizeof words);
    return sizeof words;
}

static int engine_close(int fd)
{
    (void)fd;
    engines_opened--;
    return 0;
}

static const perf_system engines = {engine_open, engine_read, engine_close};

static void an_intel_gpu(void **state)
{
    (void)state;
    bench b;
    perf_calls = &engines;
    put(CARD(0) "device/uevent", "DRIVER=i915\nPCI_SLOT_NAME=0000:03:00.0\n");
    put(CARD(0) "device/hwmon/hwmon2/energy1_input", "5000000\n");
    put(CARD(0) "device/hwmon/hwmon2/power1_max", "120000000\n");
    put(CARD(0) "gt/gt0/rps_act_freq_mhz", "1300\n");
    put(CARD(0) "gt/gt0/rps_RP0_freq_mhz", "2050\n");
    put(CARD(0) "gt/gt0/rc6_residency_ms", "700\n");
    put(CARD(0) "gt/gt0/throttle_reason_pl1", "1\n");
    put(CARD(0) "gt/gt0/throttle_reason_thermal", "0\n");
    put(CARD(0) "gt/gt0/throttle_reason_prochot", "1\n");
    put("/sys/bus/event_source/devices/i915_0000_03_00.0/type", "42\n");
    put("/sys/bus/event_source/devices/i915_0000_03_00.0/cpumask", "3\n");
    put("/sys/bus/event_source/devices/i915_0000_03_00.0/events/rcs0-busy", "config=0x0\n");
    put("/sys/bus/event_source/devices/i915_0000_03_00.0/events/bcs0-busy", "config=0x1000\n");
    put("/sys/bus/event_source/devices/i915_0000_03_00.0/events/vcs7-busy", "config=0x2000\n");
    put("/sys/bus/event_source/devices/i915_0000_03_00.0/events/vcs7-busy.unit", "ns\n");
    put("/sys/bus/event_source/devices/i915_0000_03_00.0/events/vcs7-wait", "config=0x2001\n");
    engine_ns[0] = engine_ns[1] = engine_ns[2] = 0;
    open_source(&b, "gpu", root, &nobody);
    check_catalog(&b);
    assert_int_equal(value(&b, "gpu0", "energy"), 5000000);
    assert_int_equal(value(&b, "gpu0", "power_limit"), 120000000);
    assert_int_equal(value(&b, "gpu0", "clock"), 1300);
    assert_int_equal(value(&b, "gpu0", "clock_max"), 2050);
    assert_int_equal(value(&b, "gpu0", "rc6_time"), 700000);
    assert_int_equal(value(&b, "gpu0", "throttle_reasons"), 1 | 1 << 4);
    assert_int_equal(status_of(&b, "gpu0", "busy"), NETPROF_STATUS_UNREADABLE); // of no time
    engine_ns[0] = 250000000;
    engine_ns[1] = 1500000000;
    engine_ns[2] = 77;
    now_us += 2000000;
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "gpu0", "engine_rcs0"), 250000000);
    assert_int_equal(value(&b, "gpu0", "engine_bcs0"), 1500000000);
    assert_int_equal(value(&b, "gpu0", "engine_vcs7"), 77);
    assert_int_equal(value(&b, "gpu0", "busy"), 75);
    assert_int_equal(value(&b, "gpu0", "busy_time"), 1500000);
    assert_int_equal(value(&b, "gpu0", "seen_time"), 2000000);
    assert_int_equal(value(&b, "gpu0", "reason_power_cap"), 2000000);
    assert_int_equal(value(&b, "gpu0", "reason_hardware"), 2000000);
    assert_int_equal(value(&b, "gpu0", "reason_thermal"), 0);
    close_source(&b);
    assert_int_equal(engines_opened, 0);
}

static void an_intel_gpu_of_xe(void **state)
{
    (void)state;
    bench b;
    put(CARD(2) "device/uevent", "DRIVER=xe\n");
    put(CARD(2) "device/hwmon/hwmon1/energy2_input", "9\n");
    put(CARD(2) "device/hwmon/hwmon1/temp2_input", "51000\n");
    put(CARD(2) "device/tile0/gt0/freq0/act_freq", "800\n");
    put(CARD(2) "device/tile0/gt0/freq0/rp0_freq", "2400\n");
    put(CARD(2) "device/tile0/gt0/freq0/throttle/reason_thermal", "1\n");
    put(CARD(2) "device/tile0/gt0/gtidle/idle_residency_ms", "3\n");
    put_amd();
    open_source(&b, "gpu", root, &nobody);
    assert_string_equal(fact(&b, "gpu0", "vendor"), "AMD"); // card1
    check_catalog(&b);
    assert_int_equal(value(&b, "gpu1", "energy"), 9);
    assert_int_equal(value(&b, "gpu1", "temperature"), 51000);
    assert_int_equal(value(&b, "gpu1", "clock"), 800);
    assert_int_equal(value(&b, "gpu1", "clock_max"), 2400);
    assert_int_equal(value(&b, "gpu1", "throttle_reasons"), 1 << 3);
    assert_int_equal(value(&b, "gpu1", "idle_time"), 3000);
    assert_int_equal(netprof_find(b.s.schema, NULL, "gpu1", "busy"), NETPROF_NONE);
    close_source(&b);
}

static void cost(void **state)
{
    (void)state;
    bench b;
    struct timespec t[2];
    enum { READINGS = 1000 };
    fake_gpu *g = one_gpu();
    nvml->count = 4;
    g->links = 3;
    for (int i = 1; i < 4; i++)
        nvml->gpus[i] = *g;
    open_source(&b, "gpu", NULL, &nobody);
    int before = nvml->calls;
    clock_gettime(CLOCK_MONOTONIC, &t[0]);
    for (int i = 0; i < READINGS; i++)
        again(&b, NETPROF_SET_ALL);
    clock_gettime(CLOCK_MONOTONIC, &t[1]);
    print_message("    a reading of four made GPUs: %.2f us, %d calls of the library\n",
                  ((double)(t[1].tv_sec - t[0].tv_sec) * 1e9 + (double)(t[1].tv_nsec - t[0].tv_nsec)) / READINGS / 1e3,
                  (nvml->calls - before) / READINGS);
    close_source(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(values_in_units_of_their_own, begin, end),
        cmocka_unit_test_setup_teardown(initialised_once, begin, end),
        cmocka_unit_test_setup_teardown(failures_are_no_zeros, begin, end),
        cmocka_unit_test_setup_teardown(one_broken_gpu_hides_no_other, begin, end),
        cmocka_unit_test_setup_teardown(no_driver_or_no_library, begin, end),
        cmocka_unit_test_setup_teardown(an_old_library, begin, end),
        cmocka_unit_test_setup_teardown(a_library_to_come, begin, end),
        cmocka_unit_test_setup_teardown(sums_over_time, begin, end),
        cmocka_unit_test_setup_teardown(links, begin, end),
        cmocka_unit_test_setup_teardown(parts_of_a_gpu, begin, end),
        cmocka_unit_test_setup_teardown(processes_of_the_job, begin, end),
        cmocka_unit_test_setup_teardown(gpus_given_to_the_job, begin, end),
        cmocka_unit_test_setup_teardown(gpus_given_to_a_process, begin, end),
        cmocka_unit_test_setup_teardown(an_amd_gpu, begin, end),
        cmocka_unit_test_setup_teardown(versions_of_gpu_metrics, begin, end),
        cmocka_unit_test_setup_teardown(an_intel_gpu, begin, end),
        cmocka_unit_test_setup_teardown(an_intel_gpu_of_xe, begin, end),
        cmocka_unit_test_setup_teardown(cost, begin, end),
    };
    return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
