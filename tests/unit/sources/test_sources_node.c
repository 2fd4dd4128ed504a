// Sources of the node and the job: saved trees with known values, and real processes with known work.
#define _GNU_SOURCE
#include "netprof.h"

#include "sources/sources.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// ---- a tree of files ----

static char root[] = "/tmp/netprof-node-XXXXXX";

static void put(const char *path, const char *text)
{
    char full[512], command[600];
    snprintf(full, sizeof full, "%s%s", root, path);
    snprintf(command, sizeof command, "mkdir -p \"$(dirname '%s')\"", full);
    assert_int_equal(system(command), 0);
    FILE *f = fopen(full, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static int make_tree(void **state)
{
    (void)state;
    return mkdtemp(root) ? 0 : -1;
}

static int drop_tree(void **state)
{
    char command[600];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

typedef struct bench {
    netprof *np;
    netprof_snapshot s;
} bench;

static void open_source(bench *b, const char *source, const char *below, const sources_job *job)
{
    netprof_config config = NETPROF_ZERO;
    netprof_error error;
    config.sources = "none";
    config.root = below;
    memset(b, 0, sizeof *b);
    assert_int_equal(netprof_open(&b->np, &config, &error), NETPROF_ERR_NOSOURCE);
    assert_non_null(b->np);
    assert_non_null(sources_find(source));
    assert_int_equal(sources_find(source)->add(b->np, job, &error), NETPROF_OK);
    assert_int_equal(netprof_take(b->np, &b->s, NETPROF_SET_ALL, &error), NETPROF_OK);
}

static void again(bench *b, netprof_set set)
{
    netprof_error error;
    assert_int_equal(netprof_take(b->np, &b->s, set, &error), NETPROF_OK);
}

static size_t index_of(const bench *b, const char *device, const char *counter)
{
    size_t i = netprof_find(b->s.schema, NULL, device, counter);
    if (i == NETPROF_NONE) fail_msg("no counter %s/%s", device, counter);
    return i;
}

static uint64_t value(const bench *b, const char *device, const char *counter)
{
    size_t i = index_of(b, device, counter);
    if (b->s.status[i] != NETPROF_STATUS_OK) fail_msg("%s/%s: status %d", device, counter, b->s.status[i]);
    return b->s.values[i];
}

static void close_source(bench *b)
{
    netprof_snapshot_free(&b->s);
    netprof_close(b->np);
}

static const sources_job nobody;

// ---- the node ----

static void cpu_times_are_microseconds_of_ticks(void **state)
{
    (void)state;
    bench b;
    put("/proc/stat",
        "cpu  100 20 30 4000 5 6 7 8 9 10\ncpu0 60 20 30 2000 5 6 7 8 9 10\ncpu1 40 0 0 2000 0 0 0 0 0 0\n"
        "intr 987654 1 2 3\nctxt 555\nbtime 1\nprocesses 77\nprocs_running 3\nprocs_blocked 1\n");
    open_source(&b, "cpu", root, &nobody);
    uint64_t tick = 1000000u / (uint64_t)sysconf(_SC_CLK_TCK);
    assert_int_equal(value(&b, "cpu", "user"), 100 * tick);
    assert_int_equal(value(&b, "cpu", "idle"), 4000 * tick);
    assert_int_equal(value(&b, "cpu", "guest_nice"), 10 * tick);
    assert_int_equal(value(&b, "cpu", "interrupts"), 987654);
    assert_int_equal(value(&b, "cpu", "context_switches"), 555);
    assert_int_equal(value(&b, "cpu", "tasks_running"), 3);
    assert_int_equal(b.s.schema->device_count, 1);
    close_source(&b);

    sources_job each = {.per_cpu = true};
    open_source(&b, "cpu", root, &each);
    assert_int_equal(b.s.schema->device_count, 3);
    assert_int_equal(value(&b, "cpu1", "user"), 40 * tick);
    // One that comes is found, and the one that went is no more.
    put("/proc/stat",
        "cpu  100 20 30 4000 5 6 7 8 9 10\ncpu0 61 20 30 2000 5 6 7 8 9 10\ncpu2 1 0 0 2000 0 0 0 0 0 0\n");
    again(&b, NETPROF_SET_ALL);
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "cpu2", "user"), tick);
    assert_int_equal(value(&b, "cpu0", "user"), 61 * tick);
    assert_int_equal(netprof_find(b.s.schema, NULL, "cpu1", "user"), NETPROF_NONE);
    close_source(&b);
}

static void memory_is_in_bytes(void **state)
{
    (void)state;
    bench b;
    put("/proc/meminfo",
        "MemTotal:       24683120 kB\nMemAvailable:   1000 kB\nHugePages_Total:       4\nOdd: what kB\n");
    put("/proc/vmstat", "nr_free_pages 1\npswpin 11\npgmajfault 12\noom_kill 1\n");
    open_source(&b, "memory", root, &nobody);
    assert_int_equal(value(&b, "memory", "MemTotal"), 24683120ull * 1024);
    assert_int_equal(value(&b, "memory", "HugePages_Total"), 4);
    assert_int_equal(value(&b, "memory", "pswpin"), 11);
    assert_int_equal(value(&b, "memory", "oom_kill"), 1);
    assert_int_equal(b.s.status[index_of(&b, "memory", "Odd")], NETPROF_STATUS_UNREADABLE);
    assert_int_equal(netprof_find(b.s.schema, NULL, "memory", "nr_free_pages"), NETPROF_NONE);
    again(&b, NETPROF_SET_FAST);
    assert_int_equal(value(&b, "memory", "MemAvailable"), 1000 * 1024);
    assert_int_equal(b.s.status[index_of(&b, "memory", "pswpin")], NETPROF_STATUS_SKIPPED);
    close_source(&b);
}

static void disks_without_partitions(void **state)
{
    (void)state;
    bench b;
    put("/sys/block/sda/size", "1\n");
    put("/sys/block/dm-0/size", "1\n");
    put("/sys/block/loop0/size", "0\n");
    put("/proc/diskstats", "   8       0 sda 10 1 200 30 40 2 600 70 3 90 100 1 0 8 2 5 6\n"
                           "   8       1 sda1 9 1 199 30 40 2 600 70 0 90 100 0 0 0 0 0 0\n"
                           " 254       0 dm-0 5 0 16 1 0 0 0 0 0 1 1\n   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0\n");
    open_source(&b, "disk", root, &nobody);
    assert_int_equal(b.s.schema->device_count, 2);
    assert_int_equal(value(&b, "sda", "read_bytes"), 200 * 512);
    assert_int_equal(value(&b, "sda", "write_bytes"), 600 * 512);
    assert_int_equal(value(&b, "sda", "busy_time"), 90 * 1000);
    assert_int_equal(value(&b, "sda", "in_flight"), 3);
    assert_int_equal(value(&b, "sda", "discard_bytes"), 8 * 512);
    assert_int_equal(value(&b, "sda", "flush_time"), 6 * 1000);
    assert_true(b.s.schema->devices[1].flags & NETPROF_DEVICE_VIRTUAL);                // its bytes are a disk's
    assert_int_equal(netprof_find(b.s.schema, NULL, "dm-0", "flushes"), NETPROF_NONE); // an older kernel's line
    close_source(&b);
}

static void pressure_totals(void **state)
{
    (void)state;
    bench b;
    put("/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=123\n");
    put("/proc/pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=18446744073709551615\n"
                             "full avg10=0.00 avg60=0.00 avg300=0.00 total=4\n");
    open_source(&b, "pressure", root, &nobody);
    assert_int_equal(value(&b, "pressure", "cpu_some"), 123);
    assert_int_equal(value(&b, "pressure", "io_some"), UINT64_MAX);
    assert_int_equal(value(&b, "pressure", "io_full"), 4);
    assert_int_equal(netprof_find(b.s.schema, NULL, "pressure", "memory_some"), NETPROF_NONE);
    close_source(&b);
}

static void energy_goes_on_over_wraps(void **state)
{
    (void)state;
    bench b;
    put("/sys/class/powercap/intel-rapl:0/name", "package-0\n");
    put("/sys/class/powercap/intel-rapl:0/energy_uj", "262143328000\n");
    put("/sys/class/powercap/intel-rapl:0/max_energy_range_uj", "262143328850\n");
    put("/sys/class/powercap/intel-rapl:0:0/name", "dram\n");
    put("/sys/class/powercap/intel-rapl:0:0/energy_uj", "5\n");
    put("/sys/class/powercap/intel-rapl:1/name", "package-0\n"); // a name twice
    put("/sys/class/powercap/intel-rapl:1/energy_uj", "no number\n");
    put("/sys/class/powercap/intel-rapl-mmio:0/name", "package-0\n");
    put("/sys/class/powercap/intel-rapl-mmio:0/energy_uj", "7\n");
    open_source(&b, "energy", root, &nobody);
    assert_int_equal(b.s.schema->device_count, 3);
    assert_int_equal(value(&b, "package-0", "energy"), 262143328000ull);
    assert_int_equal(value(&b, "package-0/dram", "energy"), 5);
    assert_true(b.s.schema->devices[1].flags & NETPROF_DEVICE_VIRTUAL); // a part of its package
    assert_int_equal(b.s.status[index_of(&b, "package-0#2", "energy")], NETPROF_STATUS_UNREADABLE);
    put("/sys/class/powercap/intel-rapl:0/energy_uj", "1000\n");
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "package-0", "energy"), 262143328850ull + 1000);
    close_source(&b);
}

static void sensors_by_driver_and_place(void **state)
{
    (void)state;
    bench b;
    char command[700];
    put("/sys/class/hwmon/hwmon3/name", "k10temp\n");
    put("/sys/class/hwmon/hwmon3/temp1_input", "45250\n");
    put("/sys/class/hwmon/hwmon3/temp1_label", "Tctl\n");
    put("/sys/class/hwmon/hwmon3/temp2_input", "-1500\n");
    put("/sys/class/hwmon/hwmon3/temp2_crit", "90000\n");
    put("/sys/class/hwmon/hwmon3/power1_average", "15000000\n");
    snprintf(command, sizeof command, "ln -s ../../../devices/0000:00:18.3 '%s/sys/class/hwmon/hwmon3/device'", root);
    assert_int_equal(system(command), 0);
    open_source(&b, "hwmon", root, &nobody);
    assert_int_equal(value(&b, "k10temp 0000:00:18.3", "temp1 Tctl"), 45250);
    assert_int_equal((int64_t)value(&b, "k10temp 0000:00:18.3", "temp2"), -1500);
    assert_int_equal(value(&b, "k10temp 0000:00:18.3", "power1"), 15000000);
    assert_int_equal(b.s.schema->counter_count, 3);
    close_source(&b);
}

static void power_limits_of_zones(void **state)
{
    (void)state;
    bench b;
    put("/sys/class/powercap/intel-rapl:7/name", "package-7\n");
    put("/sys/class/powercap/intel-rapl:7/energy_uj", "5\n");
    put("/sys/class/powercap/intel-rapl:7/max_energy_range_uj", "262143328850\n");
    put("/sys/class/powercap/intel-rapl:7/enabled", "1\n");
    put("/sys/class/powercap/intel-rapl:7/constraint_0_name", "long_term\n");
    put("/sys/class/powercap/intel-rapl:7/constraint_0_power_limit_uw", "205000000\n");
    put("/sys/class/powercap/intel-rapl:7/constraint_1_name", "short term!\n"); // no name of a counter
    put("/sys/class/powercap/intel-rapl:7/constraint_1_power_limit_uw", "246000000\n");
    put("/sys/class/powercap/intel-rapl:7/constraint_2_name", "peak_power\n");
    put("/sys/class/powercap/intel-rapl:7/constraint_2_power_limit_uw", "0\n"); // none
    open_source(&b, "energy", root, &nobody);
    assert_int_equal(value(&b, "package-7", "power_limit_long_term"), 205000000);
    assert_int_equal(value(&b, "package-7", "power_limit_short_term_"), 246000000);
    assert_int_equal(netprof_find(b.s.schema, NULL, "package-7", "power_limit_peak_power"), NETPROF_NONE);
    close_source(&b);
    put("/sys/class/powercap/intel-rapl:7/enabled", "0\n"); // nothing is held back
    open_source(&b, "energy", root, &nobody);
    assert_int_equal(netprof_find(b.s.schema, NULL, "package-7", "power_limit_long_term"), NETPROF_NONE);
    close_source(&b);
}

static void errors_of_memory_controllers(void **state)
{
    (void)state;
    bench b;
    put("/sys/devices/system/edac/mc/mc0/mc_name", "Skylake Socket#0 IMC#0\n");
    put("/sys/devices/system/edac/mc/mc0/ce_count", "17\n");
    put("/sys/devices/system/edac/mc/mc0/ue_count", "0\n");
    put("/sys/devices/system/edac/mc/mc0/ce_noinfo_count", "2\n");
    put("/sys/devices/system/edac/mc/mc0/dimm3/dimm_label", "CPU_SrcID#0_Ha#0_Chan#0_DIMM#0\n");
    put("/sys/devices/system/edac/mc/mc0/dimm3/dimm_ce_count", "15\n");
    put("/sys/devices/system/edac/mc/mc0/dimm3/dimm_ue_count", "nonsense\n");
    put("/sys/devices/system/edac/mc/mc0/dimm_location", "no folder\n");
    put("/sys/devices/system/edac/mc/power/control", "auto\n");
    open_source(&b, "edac", root, &nobody);
    assert_int_equal(b.s.schema->device_count, 1);
    assert_int_equal(value(&b, "mc0", "ce_count"), 17);
    assert_int_equal(value(&b, "mc0", "ue_count"), 0);
    assert_int_equal(value(&b, "mc0", "ce_noinfo_count"), 2);
    assert_int_equal(netprof_find(b.s.schema, NULL, "mc0", "ue_noinfo_count"), NETPROF_NONE); // no such file
    assert_int_equal(value(&b, "mc0", "dimm3_ce_count"), 15);
    assert_int_equal(b.s.status[index_of(&b, "mc0", "dimm3_ue_count")], NETPROF_STATUS_UNREADABLE);
    assert_string_equal(netprof_fact_of(b.s.schema->devices[0].facts, b.s.schema->devices[0].fact_count, "dimm3"),
                        "CPU_SrcID#0_Ha#0_Chan#0_DIMM#0");
    put("/sys/devices/system/edac/mc/mc0/ce_count", "18\n");
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "mc0", "ce_count"), 18);
    close_source(&b);
}

// ---- control groups ----

static void group_of_version_2(void **state)
{
    (void)state;
    bench b;
    pid_t pid = 4711;
    sources_job job = {.pids = &pid, .pid_count = 1};
    put("/proc/self/mountinfo", "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
    put("/proc/4711/cgroup", "0::/slurm/job_17\n");
    put("/sys/fs/cgroup/slurm/job_17/cpu.stat", "usage_usec 1000\nuser_usec 700\nsystem_usec 300\nnr_periods 20\n"
                                                "nr_throttled 5\nthrottled_usec 60000\n");
    put("/sys/fs/cgroup/slurm/job_17/memory.current", "4096\n");
    put("/sys/fs/cgroup/slurm/job_17/memory.max", "max\n");
    put("/sys/fs/cgroup/slurm/job_17/memory.events", "low 0\nhigh 1\nmax 2\noom 3\noom_kill 4\n");
    put("/sys/fs/cgroup/slurm/job_17/io.stat", "8:0 rbytes=10 wbytes=20 rios=1 wios=2 dbytes=0 dios=0\n");
    open_source(&b, "cgroup", root, &job);
    assert_int_equal(value(&b, "/slurm/job_17", "cpu_usage"), 1000);
    assert_int_equal(value(&b, "/slurm/job_17", "throttled_time"), 60000);
    assert_int_equal(value(&b, "/slurm/job_17", "memory_current"), 4096);
    assert_int_equal(value(&b, "/slurm/job_17", "oom_kills"), 4);
    assert_int_equal(value(&b, "/slurm/job_17", "io_8:0_write_bytes"), 20);
    assert_int_equal(netprof_find(b.s.schema, NULL, "/slurm/job_17", "memory_limit"), NETPROF_NONE); // none is set
    close_source(&b);
}

static void group_of_version_1(void **state)
{
    (void)state;
    bench b;
    pid_t pid = 4712;
    sources_job job = {.pids = &pid, .pid_count = 1};
    put("/proc/self/mountinfo", "31 24 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
                                "32 24 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
    put("/proc/4712/cgroup", "5:cpu,cpuacct:/job\n4:memory:/job\n0::/\n");
    put("/sys/fs/cgroup/cpu,cpuacct/job/cpuacct.usage", "5000000000\n");
    put("/sys/fs/cgroup/cpu,cpuacct/job/cpu.stat", "nr_periods 9\nnr_throttled 1\nthrottled_time 70000\n");
    put("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "8192\n");
    put("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
    put("/sys/fs/cgroup/memory/job/memory.stat", "cache 1\ntotal_rss 77\n");
    open_source(&b, "cgroup", root, &job);
    assert_int_equal(value(&b, "/job", "cpu_usage"), 5000000); // ns to us
    assert_int_equal(value(&b, "/job", "throttled_time"), 70);
    assert_int_equal(value(&b, "/job", "memory_current"), 8192);
    assert_int_equal(value(&b, "/job", "memory_anonymous"), 77);
    assert_int_equal(netprof_find(b.s.schema, NULL, "/job", "memory_limit"),
                     NETPROF_NONE); // "no limit" in this version
    close_source(&b);
}

// Expected by hand: what binds a job is the tightest of its group and those above it; what stands below the job's group
// (step, task) is no limit of the job.
static void limits_of_version_2(void **state)
{
    (void)state;
    bench b;
    pid_t pid = 4713;
    sources_job job = {.pids = &pid, .pid_count = 1};
    const char *base = "/sys/fs/cgroup/system.slice/slurmstepd.scope";
    char path[256];
    put("/proc/self/mountinfo", "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
    put("/proc/4713/cgroup", "0::/system.slice/slurmstepd.scope/job_31/step_0/user/task_0\n");
    const struct {
        const char *file, *text;
    } files[] = {
        {"cpu.stat", "usage_usec 9000\n"},
        {"memory.max", "max\n"},
        {"job_31/cpu.stat", "usage_usec 1000\n"},
        {"job_31/memory.current", "4096\n"},
        {"job_31/memory.max", "17179869184\n"},
        {"job_31/cpu.max", "400000 100000\n"},
        {"job_31/cpuset.cpus.effective", "0-3,8-11\n"},
        {"job_31/step_0/user/task_0/memory.max", "max\n"},
        {"job_31/step_0/user/task_0/memory.current", "1\n"},
        {"job_31/step_0/user/task_0/cpu.stat", "usage_usec 1\n"},
        {"job_31/step_0/user/task_0/cpuset.cpus.effective", "0\n"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", base, files[i].file);
        put(path, files[i].text);
    }
    put("/sys/fs/cgroup/system.slice/memory.max", "8589934592\n"); // tighter than the job's own
    put("/sys/fs/cgroup/system.slice/cpu.max", "90000 20000\n");   // 4.5 CPUs: wider
    const char *name = "/system.slice/slurmstepd.scope/job_31";
    open_source(&b, "cgroup", root, &job);
    assert_int_equal(value(&b, name, "cpu_usage"), 1000);
    assert_int_equal(value(&b, name, "memory_limit"), 8589934592);
    assert_int_equal(value(&b, name, "cpu_quota"), 400000);
    assert_int_equal(value(&b, name, "cpu_period"), 100000);
    assert_int_equal(value(&b, name, "cpuset_cpus"), 8);
    put("/sys/fs/cgroup/system.slice/memory.max", "max\n");
    put("/sys/fs/cgroup/system.slice/cpu.max", "10000 20000\n"); // half a CPU
    again(&b, NETPROF_SET_FAST);
    assert_int_equal(value(&b, name, "memory_limit"), 8589934592); // not read in the fast set
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, name, "memory_limit"), 17179869184);
    assert_int_equal(value(&b, name, "cpu_quota"), 10000);
    assert_int_equal(value(&b, name, "cpu_period"), 20000);
    close_source(&b);
}

static void limits_of_version_1(void **state)
{
    (void)state;
    bench b;
    pid_t pid = 4714;
    sources_job job = {.pids = &pid, .pid_count = 1};
    put("/proc/self/mountinfo", "31 24 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
                                "32 24 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
                                "33 24 0:29 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n");
    put("/proc/4714/cgroup", "6:cpuset:/slurm/uid_7/job_32/step_1\n5:cpu,cpuacct:/slurm/uid_7/job_32/step_1\n4:memory:/"
                             "slurm/uid_7/job_32/step_1\n");
    put("/sys/fs/cgroup/cpu,cpuacct/slurm/uid_7/job_32/cpuacct.usage", "5000000000\n");
    put("/sys/fs/cgroup/cpu,cpuacct/slurm/uid_7/job_32/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu,cpuacct/slurm/uid_7/job_32/cpu.cfs_period_us", "100000\n");
    put("/sys/fs/cgroup/cpu,cpuacct/slurm/uid_7/cpu.cfs_quota_us", "250000\n");
    put("/sys/fs/cgroup/cpu,cpuacct/slurm/uid_7/cpu.cfs_period_us", "100000\n");
    put("/sys/fs/cgroup/memory/slurm/uid_7/job_32/memory.limit_in_bytes", "9223372036854771712\n");
    put("/sys/fs/cgroup/memory/slurm/uid_7/memory.limit_in_bytes", "1073741824\n");
    put("/sys/fs/cgroup/cpuset/slurm/uid_7/job_32/cpuset.cpus", "4-6\n");
    open_source(&b, "cgroup", root, &job);
    assert_int_equal(value(&b, "/slurm/uid_7/job_32", "cpu_usage"), 5000000);
    assert_int_equal(value(&b, "/slurm/uid_7/job_32", "memory_limit"), 1073741824);
    assert_int_equal(value(&b, "/slurm/uid_7/job_32", "cpu_quota"), 250000);
    assert_int_equal(value(&b, "/slurm/uid_7/job_32", "cpuset_cpus"), 3);
    close_source(&b);
}

// A recorder is often there before the job: the group is found once there is a process of it.
static void group_of_a_job_that_comes_later(void **state)
{
    (void)state;
    bench b;
    pid_t pid = 4711;
    sources_job job = {.expected = true, .elsewhere = true};
    group_of_version_2(state); // its tree
    open_source(&b, "cgroup", root, &job);
    assert_int_equal(b.s.schema->device_count, 0);
    job.pids = &pid;
    job.pid_count = 1;
    again(&b, NETPROF_SET_ALL);
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "/slurm/job_17", "cpu_usage"), 1000);
    close_source(&b);
}

// ---- processes ----

typedef struct bound {
    size_t cpu;
    int ready;
} bound;

static void bind_to(size_t cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static void *wait_on_last(void *of)
{
    const bound *x = of;
    bind_to(x->cpu);
    if (write(x->ready, "", 1) != 1) _exit(1);
    pause();
    return NULL;
}

// A child that ends with this process, however that ends: a test may fail before it ends its children.
static pid_t fork_for_now(void)
{
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(1); // it had ended before
    }
    return pid;
}

// Its first thread may run on one CPU, another one on another; so many files may be open.
static pid_t bound_process(size_t first, size_t last, rlim_t files)
{
    int ready[2];
    char told;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork_for_now();
    if (pid == 0) {
        struct rlimit limit = {files, files};
        bound other = {last, 3};
        pthread_t thread;
        dup2(ready[1], 3);
        for (int fd = 4; fd < 100; fd++)
            close(fd);
        setrlimit(RLIMIT_NOFILE, &limit);
        bind_to(first);
        if (pthread_create(&thread, NULL, wait_on_last, &other)) _exit(1);
        pause();
        _exit(0);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &told, 1), 1);
    close(ready[0]);
    return pid;
}

// Of those that this process may run on.
static size_t first_cpu(size_t *last)
{
    cpu_set_t own;
    assert_int_equal(sched_getaffinity(0, sizeof own, &own), 0);
    size_t first = CPU_SETSIZE;
    for (size_t i = 0; i < CPU_SETSIZE; i++) {
        if (!CPU_ISSET(i, &own)) continue;
        if (first == CPU_SETSIZE) first = i;
        *last = i;
    }
    return first;
}

// Against the kernel's own words: the sets of the threads' status, the number of entries of fd, and limits.
static void cpus_and_files_of_a_process(void **state)
{
    (void)state;
    bench b;
    size_t last, first = first_cpu(&last);
    pid_t pid = bound_process(first, last, 20);
    sources_job job = {.pids = &pid, .pid_count = 1};
    open_source(&b, "process", NULL, &job);
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "job", "cpus_allowed"), first == last ? 1 : 2);
    char command[128];
    snprintf(command, sizeof command, "exit $(ls /proc/%d/fd | wc -l)", (int)pid);
    int status = system(command);
    assert_true(WIFEXITED(status));
    assert_int_equal(value(&b, "job", "open_files"), WEXITSTATUS(status));
    assert_int_equal(value(&b, "job", "open_files_peak"), WEXITSTATUS(status));
    assert_int_equal(value(&b, "job", "open_files_limit"), 20);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "job", "open_files"), 0);
    assert_int_equal(value(&b, "job", "open_files_peak"), WEXITSTATUS(status)); // what it was, not 0
    assert_int_equal(value(&b, "job", "cpus_allowed"), first == last ? 1 : 2);
    close_source(&b);
}

// Uses so much CPU time, by the kernel's own account.
static void burn(double seconds)
{
    struct timespec t;
    do {
        for (volatile int i = 0; i < 100000; i++)
            continue;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    } while ((double)t.tv_sec + (double)t.tv_nsec / 1e9 < seconds);
}

static pid_t child(void (*work)(void))
{
    pid_t pid = fork_for_now();
    if (pid == 0) {
        work();
        _exit(0);
    }
    return pid;
}

static void burn_alone(void)
{
    burn(0.12);
}

// Two children, one of them with a child of its own; one that nobody waits for.
static void burn_family(void)
{
    pid_t a = child(burn_alone);
    waitpid(a, NULL, 0);
    pid_t b = fork_for_now();
    if (b == 0) {
        pid_t c = child(burn_alone);
        burn(0.08);
        waitpid(c, NULL, 0);
        _exit(0);
    }
    burn(0.1);
    waitpid(b, NULL, 0);
}

static bool has_ended(pid_t pid)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

static uint64_t usage_us(const struct rusage *use)
{
    return (uint64_t)(use->ru_utime.tv_sec + use->ru_stime.tv_sec) * 1000000u +
           (uint64_t)(use->ru_utime.tv_usec + use->ru_stime.tv_usec);
}

// The sum against what the kernel says at the end of the whole family: rusage holds every child that was reaped.
static void sums_keep_children_that_ended(void **state)
{
    (void)state;
    bench b;
    pid_t pid = 0;
    sources_job job = {.pids = &pid, .expected = true};
    struct rusage use;
    uint64_t last = 0;
    open_source(&b, "process", NULL, &job);
    assert_int_equal(value(&b, "job", "cpu_user"), 0);
    pid = child(burn_family);
    job.pid_count = 1;
    for (bool ended = false; !ended;) {
        ended = has_ended(pid);
        again(&b, NETPROF_SET_ALL);
        uint64_t now = value(&b, "job", "cpu_user") + value(&b, "job", "cpu_system");
        assert_true(now >= last); // never goes back while children end
        last = now;
        usleep(7000);
    }
    assert_int_equal(wait4(pid, NULL, 0, &use), pid);
    double kernel = (double)usage_us(&use) / 1e6;
    // Ticks of 10 ms, two columns, four processes: each may be cut off by a tick.
    assert_true(kernel >= 0.42);
    assert_true((double)last / 1e6 > kernel - 0.085 && (double)last / 1e6 < kernel + 0.085);
    again(&b, NETPROF_SET_ALL);
    assert_true(value(&b, "job", "cpu_user") + value(&b, "job", "cpu_system") >= last); // kept behind the end
    assert_int_equal(value(&b, "job", "processes"), 0);
    close_source(&b);
}

// Children say on `said` how far they are, and wait until the other end of `go_on`, then of `leave`, is closed.
static int said[2], go_on[2], leave[2];

static void open_gates(void)
{
    assert_int_equal(pipe(said) + pipe(go_on) + pipe(leave), 0);
}

// In a child: none holds a gate shut for the others.
static void stand_outside(void)
{
    close(go_on[1]);
    close(leave[1]);
}

static void wait_for_end(int gate)
{
    char none;
    if (read(gate, &none, 1) != 0) _exit(1);
}

static void close_gates(void)
{
    close(said[0]);
    close(said[1]);
    close(go_on[0]);
    close(leave[0]);
}

// What a process knows of itself: CPU time in us, or a wait in ns.
typedef struct word {
    int64_t pid; // no gap behind it goes through the pipe
    uint64_t amount;
} word;

static void say(uint64_t amount)
{
    word x = {getpid(), amount};
    if (write(said[1], &x, sizeof x) != sizeof x) _exit(1);
}

// False when nothing was said for a moment.
static bool hear(word *x)
{
    struct pollfd waiting = {.fd = said[0], .events = POLLIN};
    return poll(&waiting, 1, 2) == 1 && read(said[0], x, sizeof *x) == sizeof *x;
}

static void burn_and_stay(void)
{
    struct timespec t;
    burn_alone();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    say((uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000);
    wait_for_end(go_on[0]);
}

static void ignore_children(void)
{
    stand_outside();
    signal(SIGCHLD, SIG_IGN); // the kernel then adds a child's time to nobody
    child(burn_and_stay);
    wait_for_end(leave[0]);
}

// Reads once more; a counter of the job (the sum of two) never goes back.
static uint64_t next(bench *b, const char *counter, const char *other, uint64_t last)
{
    again(b, NETPROF_SET_ALL);
    uint64_t now = value(b, "job", counter) + (other ? value(b, "job", other) : 0);
    assert_true(now >= last);
    return now;
}

static void a_child_that_nobody_reaps_stays(void **state)
{
    (void)state;
    bench b;
    pid_t pid = 0;
    sources_job job = {.pids = &pid, .expected = true};
    struct rusage use;
    uint64_t most = 0;
    word used = {0};
    open_gates();
    open_source(&b, "process", NULL, &job);
    pid = child(ignore_children);
    job.pid_count = 1;
    while (!hear(&used))
        most = next(&b, "cpu_user", "cpu_system", most);
    most = next(&b, "cpu_user", "cpu_system", most);
    close(go_on[1]);
    while (kill((pid_t)used.pid, 0) == 0)
        most = next(&b, "cpu_user", "cpu_system", most);
    for (int i = 0; i < 5; i++)
        most = next(&b, "cpu_user", "cpu_system", most); // its parent might still reap it
    assert_int_equal(value(&b, "job", "processes"), 1);
    close(leave[1]);
    while (!has_ended(pid))
        most = next(&b, "cpu_user", "cpu_system", most);
    assert_int_equal(wait4(pid, NULL, 0, &use), pid);
    // Ticks of 10 ms, two columns: what is seen of a process is less than it used by two ticks at most.
    assert_true(used.amount >= 120000);
    assert_in_range(most, used.amount - 20000, used.amount + usage_us(&use) + 20000);
    close_source(&b);
    close_gates();
}

// A process that is nobody's child; io NULL: what it read and wrote may not be known.
static void put_process(pid_t pid, char process_state, const char *io)
{
    char path[128], text[256];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    snprintf(text, sizeof text, "%d (a)\n b) %c 1 1 1 0 -1 0 7 0 0 0 11 5 0 0 20 0 1 0 900000000 4096 1 0 0 0\n",
             (int)pid, process_state);
    put(path, text);
    snprintf(path, sizeof path, "/proc/%d/io%s", (int)pid, io ? "" : "/no-file");
    put(path, io ? io : "");
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    put(path, "");
}

static void remove_process(pid_t pid)
{
    char command[600];
    snprintf(command, sizeof command, "rm -r '%s/proc/%d'", root, (int)pid);
    assert_int_equal(system(command), 0);
}

// Of one tree: what it did itself and what children did that it reaped. Each sum holds another multiple of both.
static void put_relative(pid_t pid, pid_t parent, pid_t child_of_it, unsigned own, unsigned reaped)
{
    char path[128], text[512];
    unsigned both = own + reaped;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    snprintf(text, sizeof text, "%d (a) S %d 1 1 0 -1 0 %u %u %u %u %u %u %u %u 20 0 1 0 900000000 4096 1 0 0 0\n",
             (int)pid, (int)parent, 3 * own, 3 * reaped, 4 * own, 4 * reaped, own, 2 * own, reaped, 2 * reaped);
    put(path, text);
    snprintf(path, sizeof path, "/proc/%d/io", (int)pid);
    snprintf(text, sizeof text, "rchar: %u\nwchar: %u\nsyscr: %u\nsyscw: %u\nread_bytes: %u\nwrite_bytes: %u\n",
             5 * both, 6 * both, 7 * both, 8 * both, 9 * both, 10 * both);
    put(path, text);
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    snprintf(text, sizeof text, "%d ", (int)child_of_it);
    put(path, child_of_it ? text : "");
}

// What all of the tree did, in each sum, at 100 ticks a second.
static void check_sums(bench *b, unsigned all)
{
    static const struct {
        const char *counter;
        unsigned of_one;
    } rows[] = {{"cpu_user", 10000}, {"cpu_system", 20000}, {"minor_faults", 3}, {"major_faults", 4},
                {"read_chars", 5},   {"write_chars", 6},    {"read_calls", 7},   {"write_calls", 8},
                {"read_bytes", 9},   {"write_bytes", 10}};
    again(b, NETPROF_SET_ALL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(value(b, "job", rows[i].counter), rows[i].of_one * all);
}

enum { TOP = 2000000011, SECOND, THIRD, FOURTH };

// A process may be read, then reap its child, which then is not found, and be gone itself at the next reading: what
// both did is in the sums of the one above by then, perhaps a reading later, with what it did after it was read.
static void a_child_and_then_its_parent_count_once(void **state)
{
    (void)state;
    static const struct {
        unsigned after; // what the parent did behind its last reading
        bool late;
    } rows[] = {{0, false}, {0, true}, {4, false}, {4, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bench b;
        pid_t pid = TOP;
        sources_job job = {.pids = &pid, .pid_count = 1};
        unsigned reaped = 20 + rows[i].after + 30;
        put("/proc/uptime", "10.00 10.00\n");
        put_relative(TOP, 1, SECOND, 10, 0);
        put_relative(SECOND, TOP, THIRD, 20, 0);
        put_relative(THIRD, SECOND, 0, 30, 0);
        open_source(&b, "process", root, &job);
        check_sums(&b, 60);
        assert_int_equal(value(&b, "job", "processes"), 3);
        remove_process(THIRD);
        put_relative(SECOND, TOP, 0, 20, 0);
        check_sums(&b, 60);
        remove_process(SECOND);
        put_relative(TOP, 1, 0, 10, rows[i].late ? 0 : reaped);
        check_sums(&b, rows[i].late ? 60 : 10 + reaped);
        put_relative(TOP, 1, 0, 10, reaped);
        check_sums(&b, 10 + reaped);
        remove_process(TOP); // nobody of the job reaps it
        check_sums(&b, 10 + reaped);
        assert_int_equal(value(&b, "job", "processes"), 0);
        close_source(&b);
    }
}

// Each generation is gone before the one above was read again.
static void three_generations_that_end_one_by_one_count_once(void **state)
{
    (void)state;
    for (int orphaned = 0; orphaned < 2; orphaned++) {
        bench b;
        pid_t pid = TOP;
        sources_job job = {.pids = &pid, .pid_count = 1};
        put("/proc/uptime", "10.00 10.00\n");
        put_relative(TOP, 1, SECOND, 1000, 0);
        put_relative(SECOND, TOP, THIRD, 200, 0);
        put_relative(THIRD, SECOND, FOURTH, 30, 0);
        put_relative(FOURTH, THIRD, 0, 4, 0);
        open_source(&b, "process", root, &job);
        check_sums(&b, 1234);
        remove_process(FOURTH);
        check_sums(&b, 1234);
        remove_process(THIRD);
        check_sums(&b, 1234);
        remove_process(SECOND);
        if (orphaned)
            remove_process(TOP); // nobody's sums hold the others
        else
            put_relative(TOP, 1, 0, 1000, 234);
        check_sums(&b, 1234);
        check_sums(&b, 1234);
        if (!orphaned) remove_process(TOP);
        check_sums(&b, 1234);
        assert_int_equal(value(&b, "job", "processes"), 0);
        close_source(&b);
    }
}

// More than are read each time: whatever is read when, nothing is lost and nothing counts twice.
static void many_processes_are_read_in_turn(void **state)
{
    (void)state;
    enum { CHILDREN = 150, FIRST = TOP + 10, GONE = 50 };
    bench b;
    pid_t pids[1 + CHILDREN] = {TOP};
    sources_job job = {.pids = pids, .pid_count = 1 + CHILDREN, .whole = true};
    put("/proc/uptime", "10.00 10.00\n");
    put_relative(TOP, 1, 0, 10, 0);
    for (int i = 0; i < CHILDREN; i++)
        put_relative(pids[1 + i] = FIRST + i, TOP, 0, 20, 0);
    open_source(&b, "process", root, &job);
    check_sums(&b, 10 + CHILDREN * 20);
    assert_int_equal(value(&b, "job", "processes"), 1 + CHILDREN);
    job.whole = false;
    for (int i = 0; i < GONE; i++) { // one by one, each with something that was never read
        remove_process(FIRST + i);
        put_relative(TOP, 1, 0, 10, (unsigned)(i + 1) * 25);
        again(&b, NETPROF_SET_ALL);
        assert_in_range(value(&b, "job", "minor_faults"), 3 * (10 + CHILDREN * 20),
                        3 * (10 + CHILDREN * 20 + 5 * (i + 1)));
    }
    job.whole = true;
    check_sums(&b, 10 + CHILDREN * 20 + GONE * 5);
    assert_int_equal(value(&b, "job", "processes"), 1 + CHILDREN - GONE);
    job.whole = false;
    for (int i = GONE; i < CHILDREN; i++)
        put_relative(FIRST + i, TOP, 0, 30, 0);
    job.whole = true;
    check_sums(&b, 10 + GONE * 25 + (CHILDREN - GONE) * 30);
    for (int i = GONE; i < CHILDREN; i++)
        remove_process(FIRST + i);
    remove_process(TOP); // nobody that is looked at waited for it, nor for the others any more
    again(&b, NETPROF_SET_ALL);
    check_sums(&b, 10 + GONE * 25 + (CHILDREN - GONE) * 30);
    assert_int_equal(value(&b, "job", "processes"), 0);
    assert_int_equal(value(&b, "job", "ended_unseen"), 1 + CHILDREN - GONE);
    close_source(&b);
}

// Slurm's daemon of a step is no process of the job; what it was given by the tasks is the job's.
static void tasks_whose_parent_is_no_member_are_its(void **state)
{
    (void)state;
    bench b;
    pid_t pid = SECOND;
    sources_job job = {.pids = &pid, .pid_count = 1};
    char path[64];
    for (int slurm = 0; slurm < 2; slurm++) {
        put("/proc/uptime", "10.00 10.00\n");
        snprintf(path, sizeof path, "/proc/%d/comm", TOP);
        put_relative(TOP, 1, SECOND, 1000, 0);
        put(path, slurm ? "slurmstepd\n" : "bash\n");
        put_relative(SECOND, TOP, 0, 20, 0);
        open_source(&b, "process", root, &job);
        again(&b, NETPROF_SET_ALL);
        assert_int_equal(value(&b, "job", "minor_faults"), 3 * 20);
        remove_process(SECOND);
        put_relative(TOP, 1, 0, 1100, 27);
        again(&b, NETPROF_SET_ALL);
        assert_int_equal(value(&b, "job", "minor_faults"), 3 * (slurm ? 27 : 20));
        assert_int_equal(value(&b, "job", "cpu_user"), 10000 * (slurm ? 27 : 20));
        assert_int_equal(value(&b, "job", "ended_unseen"), slurm ? 0 : 1);
        assert_int_equal(value(&b, "job", "processes"), 0);
        remove_process(TOP);
        close_source(&b);
    }
}

// Zeros of a thread that has not run yet are a wait of none; a kernel that does not count waits says zeros of all, of what
// reads it, too.
static void waits_that_nobody_counts_are_unknown(void **state)
{
    (void)state;
    static const struct {
        const char *reader, *job;
        netprof_status status;
    } of[] = {{"5000 10 3\n", "7000 40 2\n", NETPROF_STATUS_OK},
              {"5000 10 3\n", "0 0 0\n", NETPROF_STATUS_OK},
              {"0 0 0\n", "0 0 0\n", NETPROF_STATUS_UNSUPPORTED}};
    pid_t pid = TOP;
    sources_job job = {.pids = &pid, .pid_count = 1};
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)pid, (int)pid);
    put("/proc/uptime", "10.00 10.00\n");
    put_relative(TOP, 1, 0, 1000, 0);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        bench b;
        put("/proc/self/schedstat", of[i].reader);
        put(path, of[i].job);
        open_source(&b, "process", root, &job);
        again(&b, NETPROF_SET_ALL);
        assert_int_equal(b.s.status[index_of(&b, "job", "run_queue_wait")], of[i].status);
        assert_int_equal(b.s.status[index_of(&b, "job", "run_queue_turns")], of[i].status);
        if (i == 0) { // it began with the recording
            put(path, "8000 43 9\n");
            again(&b, NETPROF_SET_ALL);
            assert_int_equal(value(&b, "job", "run_queue_wait"), 43);
            assert_int_equal(value(&b, "job", "run_queue_turns"), 9);
        }
        close_source(&b);
    }
    remove_process(TOP);
}

// It stays unknown when the one that may not be looked at has ended: the sum of the others is not the job's.
static void bytes_that_were_never_told_stay_unknown(void **state)
{
    (void)state;
    enum { OPEN = 2000000001, CLOSED };
    static const char io[] = "rchar: 10\nwchar: 20\nsyscr: 1\nsyscw: 2\nread_bytes: 0\nwrite_bytes: 4096\n";
    bench b;
    pid_t pids[] = {OPEN, CLOSED};
    size_t living = 99;
    sources_job job = {.pids = pids, .pid_count = 2, .living = &living};
    put("/proc/uptime", "10.00 10.00\n");
    put_process(OPEN, 'S', io);
    put_process(CLOSED, 'R', NULL);
    open_source(&b, "process", root, &job);
    assert_int_equal(living, 2);
    assert_int_equal(b.s.status[index_of(&b, "job", "write_chars")], NETPROF_STATUS_DENIED);
    remove_process(CLOSED);
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "job", "processes"), 1);
    assert_int_equal(living, 1);
    assert_int_equal(b.s.status[index_of(&b, "job", "write_chars")], NETPROF_STATUS_DENIED);
    assert_int_equal(value(&b, "job", "cpu_user"), 220000); // of both, at 100 ticks a second
    remove_process(OPEN);
    put_process(OPEN, 'Z', io); // nobody waited for it yet
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(living, 0);
    remove_process(OPEN);
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(b.s.status[index_of(&b, "job", "write_bytes")], NETPROF_STATUS_DENIED);
    close_source(&b);
}

static void write_and_leave(void)
{
    char block[4096] = {0};
    int ends[2];
    if (pipe(ends)) _exit(1);
    for (int i = 0; i < 25; i++)
        if (write(ends[1], block, sizeof block) != sizeof block || read(ends[0], block, sizeof block) != sizeof block)
            _exit(1);
}

static void family_of_writers(void)
{
    for (int i = 0; i < 3; i++)
        waitpid(child(write_and_leave), NULL, 0);
    write_and_leave();
}

static void bytes_of_children_are_exact(void **state)
{
    (void)state;
    bench b;
    pid_t pid = 0;
    sources_job job = {.pids = &pid, .expected = true};
    open_source(&b, "process", NULL, &job);
    pid = child(family_of_writers);
    job.pid_count = 1;
    while (!has_ended(pid))
        usleep(1000);
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "job", "write_chars"), 4 * 25 * 4096);
    assert_int_equal(value(&b, "job", "read_chars"), 4 * 25 * 4096);
    assert_int_equal(value(&b, "job", "write_calls"), 4 * 25);
    waitpid(pid, NULL, 0);
    close_source(&b);
}

static void hold_memory(void)
{
    enum { SIZE = 32 << 20 };
    char *p = malloc(SIZE);
    if (!p) _exit(1);
    memset(p, 1, SIZE);
    stand_outside();
    say((uint64_t)p[SIZE / 2]);
    wait_for_end(go_on[0]);
    free(p);
}

// It waits and does nothing any more, and began in a clock tick that is over.
static bool is_at_rest(pid_t pid)
{
    char path[64], status, text[512] = "";
    unsigned long long start = 0;
    double uptime = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *stat = fopen(path, "re"), *up = fopen("/proc/uptime", "re");
    assert_non_null(stat);
    assert_non_null(up);
    const char *behind_name = fgets(text, sizeof text, stat) ? strrchr(text, ')') : NULL;
    assert_non_null(behind_name);
    static const char columns[] = ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu";
    assert_int_equal(sscanf(behind_name, columns, &status, &start), 2);
    assert_int_equal(fscanf(up, "%lf", &uptime), 1);
    fclose(stat);
    fclose(up);
    return status == 'S' && (unsigned long long)(uptime * (double)sysconf(_SC_CLK_TCK)) > start;
}

static void what_was_there_before_does_not_count(void **state)
{
    (void)state;
    bench b;
    word held;
    open_gates();
    pid_t pid = child(hold_memory);
    while (!hear(&held))
        assert_false(has_ended(pid));
    for (int tries = 0; tries < 30000 && !is_at_rest(pid); tries++)
        usleep(1000);
    assert_true(is_at_rest(pid));
    sources_job job = {.pids = &pid, .pid_count = 1};
    open_source(&b, "process", NULL, &job);
    assert_int_equal(value(&b, "job", "cpu_user"), 0);
    assert_int_equal(value(&b, "job", "minor_faults"), 0);
    assert_true(value(&b, "job", "resident") >= 32u << 20);
    assert_int_equal(value(&b, "job", "processes"), 1);
    close(go_on[1]);
    close(leave[1]);
    waitpid(pid, NULL, 0);
    close_source(&b);
    close_gates();
}

// Two processes with 16 MiB of their own each and 16 MiB that both map: the common pages count once in the shares,
// twice in the resident memory.
enum { PIECE = 16 << 20 };
static char *common_pages;
static atomic_int *ready; // behind the common pages

static void touch(volatile char *p)
{
    for (size_t i = 0; i < PIECE; i += 512)
        p[i] = (char)(p[i] + 1);
}

static void hold_both(void)
{
    char *own = calloc(1, PIECE);
    if (!own) _exit(1);
    touch(own);
    touch(common_pages);
    atomic_fetch_add(ready, 1);
    pause();
    free(own);
}

static void common_pages_count_once_in_shares(void **state)
{
    (void)state;
    bench b;
    pid_t pids[2];
    common_pages = mmap(NULL, PIECE + 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(common_pages != MAP_FAILED);
    ready = (atomic_int *)(void *)(common_pages + PIECE);
    for (int i = 0; i < 2; i++)
        pids[i] = child(hold_both);
    sources_job job = {.pids = pids, .pid_count = 2};
    for (int tries = 0; tries < 12000 && atomic_load(ready) < 2; tries++)
        usleep(10000); // however slow the machine
    assert_int_equal(atomic_load(ready), 2);
    open_source(&b, "process", NULL, &job);
    uint64_t resident = value(&b, "job", "resident");
    assert_true(resident >= 4ull * PIECE);
    uint64_t shares = value(&b, "job", "memory_proportional"), unique = value(&b, "job", "memory_unique");
    assert_true(shares >= 3ull * PIECE && shares < resident);
    assert_true(unique >= 2ull * PIECE && unique < shares);
    assert_true(value(&b, "job", "memory_swapped") <= shares);
    assert_true(b.s.stamps_ns[index_of(&b, "job", "memory_proportional")] > 0);
    for (int i = 0; i < 2; i++) {
        kill(pids[i], SIGKILL);
        waitpid(pids[i], NULL, 0);
    }
    again(&b, NETPROF_SET_ALL); // what they had last stays, with its time
    assert_int_equal(value(&b, "job", "memory_unique"), unique);
    assert_int_equal(value(&b, "job", "resident"), 0);
    again(&b, NETPROF_SET_FAST);
    assert_int_equal(b.s.status[index_of(&b, "job", "run_queue_wait")], NETPROF_STATUS_SKIPPED);
    close_source(&b);
    munmap(common_pages, PIECE + 4096);
}

// What the kernel says that a thread has waited for a CPU; false where it does not say.
static bool read_wait(const char *path, uint64_t *wait_ns)
{
    unsigned long long ran = 0, wait = 0;
    FILE *f = fopen(path, "re");
    if (!f) return false;
    bool is_told = fscanf(f, "%llu %llu", &ran, &wait) == 2 && ran > 0; // all 0: this kernel does not count
    fclose(f);
    *wait_ns = wait;
    return is_told;
}

// Of all threads of these processes.
static uint64_t waits_of(const pid_t *pids, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/task", (int)pids[i]);
        DIR *threads = opendir(path);
        assert_non_null(threads);
        for (const struct dirent *x; (x = readdir(threads));) {
            uint64_t wait = 0;
            if (x->d_name[0] == '.') continue;
            snprintf(path, sizeof path, "/proc/%d/task/%.20s/schedstat", (int)pids[i], x->d_name);
            assert_true(read_wait(path, &wait));
            sum += wait;
        }
        closedir(threads);
    }
    return sum;
}

static void burn_together(void)
{
    uint64_t wait = 0;
    say(0);
    wait_for_end(go_on[0]);
    burn(0.1);
    if (!read_wait("/proc/self/schedstat", &wait)) _exit(1);
    say(wait);
    wait_for_end(leave[0]);
}

static size_t common_cpu;

static void burn_on_one_cpu(void)
{
    pid_t pids[3];
    stand_outside();
    bind_to(common_cpu);
    for (int i = 0; i < 3; i++)
        pids[i] = child(burn_together);
    for (int i = 0; i < 3; i++)
        waitpid(pids[i], NULL, 0);
}

// Three that each want 0.1 s of one CPU wait for each other, 0 + 0.1 + 0.2 s at least, less what they did before their
// common start. The source is held against the kernel's files while they are all there and do nothing.
static void waiting_for_a_cpu_is_seen(void **state)
{
    (void)state;
    bench b;
    pid_t pids[4] = {0}; // those that burn, behind their parent
    sources_job job = {.pids = pids, .expected = true};
    uint64_t last = 0, reported = 0;
    word x;
    size_t last_cpu;
    if (!read_wait("/proc/self/schedstat", &last)) skip();
    last = 0;
    common_cpu = first_cpu(&last_cpu);
    open_gates();
    open_source(&b, "process", NULL, &job);
    assert_int_equal(value(&b, "job", "run_queue_wait"), 0);
    pids[0] = child(burn_on_one_cpu);
    job.pid_count = 1;
    for (int i = 0; i < 3;) {
        if (hear(&x)) pids[++i] = (pid_t)x.pid;
        last = next(&b, "run_queue_wait", NULL, last);
    }
    close(go_on[1]);
    for (int i = 0; i < 3;) {
        if (hear(&x)) reported += x.amount, i++;
        last = next(&b, "run_queue_wait", NULL, last);
    }
    uint64_t before = waits_of(pids, 4);
    last = next(&b, "run_queue_wait", NULL, last);
    assert_in_range(last, before, waits_of(pids, 4));
    assert_true(reported >= 200000000 && reported <= before);
    close(leave[1]);
    while (!has_ended(pids[0]))
        last = next(&b, "run_queue_wait", NULL, last); // it only grows while they end
    waitpid(pids[0], NULL, 0);
    close_source(&b);
    close_gates();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpu_times_are_microseconds_of_ticks),
        cmocka_unit_test(memory_is_in_bytes),
        cmocka_unit_test(disks_without_partitions),
        cmocka_unit_test(pressure_totals),
        cmocka_unit_test(energy_goes_on_over_wraps),
        cmocka_unit_test(sensors_by_driver_and_place),
        cmocka_unit_test(group_of_version_2),
        cmocka_unit_test(group_of_version_1),
        cmocka_unit_test(limits_of_version_2),
        cmocka_unit_test(limits_of_version_1),
        cmocka_unit_test(group_of_a_job_that_comes_later),
        cmocka_unit_test(power_limits_of_zones),
        cmocka_unit_test(errors_of_memory_controllers),
        cmocka_unit_test(cpus_and_files_of_a_process),
        cmocka_unit_test(sums_keep_children_that_ended),
        cmocka_unit_test(a_child_that_nobody_reaps_stays),
        cmocka_unit_test(a_child_and_then_its_parent_count_once),
        cmocka_unit_test(three_generations_that_end_one_by_one_count_once),
        cmocka_unit_test(many_processes_are_read_in_turn),
        cmocka_unit_test(tasks_whose_parent_is_no_member_are_its),
        cmocka_unit_test(waits_that_nobody_counts_are_unknown),
        cmocka_unit_test(bytes_that_were_never_told_stay_unknown),
        cmocka_unit_test(bytes_of_children_are_exact),
        cmocka_unit_test(what_was_there_before_does_not_count),
        cmocka_unit_test(common_pages_count_once_in_shares),
        cmocka_unit_test(waiting_for_a_cpu_is_seen),
    };
    return cmocka_run_group_tests(tests, make_tree, drop_tree);
}
