// The source gpu: what the kernel tells of open devices (fdinfo) and AMD's compute queues, and engines of Intel GPUs by
// performance events; trees and system calls that are made here, with exact numbers.
#define _GNU_SOURCE
#include "netprof.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <unistd.h>

#include "sources/gpu/gpu_amd.h"
#include "sources/gpu/gpu_ze.h"
#include "sources/perf/perf.h"
#include "source_bench.h"

#include <errno.h>
#include <sys/stat.h>

static const char *const no_names[] = {NULL};
static int64_t now_us;

static int64_t made_clock(void)
{
    return now_us;
}

static int begin(void **state)
{
    (void)state;
    now_us = 1000000;
    gpu_clock_us = made_clock;
    gpu_amdsmi_names = gpu_rocm_names = gpu_ze_names = no_names;
    return 0;
}

static int end(void **state)
{
    perf_calls = &perf_kernel;
    if (seteuid(getuid())) return -1;
    return drop_tree(state);
}

#define CARD(n) "/sys/class/drm/card" #n "/device/"
#define PMU     "/sys/bus/event_source/devices/xe_0000_03_00.0/"

static void process(pid_t pid, pid_t parent)
{
    char path[64], text[64];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    snprintf(text, sizeof text, "%d (a\n) S 1 b) S %d 1 1\n", (int)pid, (int)parent);
    put(path, text);
}

// A descriptor: what it leads to, and what the kernel tells of it.
static void descriptor(pid_t pid, int fd, const char *target, const char *info)
{
    char path[64], full[512];
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", (int)pid, fd);
    put(path, info);
    snprintf(path, sizeof path, "/proc/%d/fd/.keep", (int)pid);
    put(path, "");
    snprintf(full, sizeof full, "%s/proc/%d/fd/%d", root, (int)pid, fd);
    unlink(full);
    assert_int_equal(symlink(target, full), 0);
}

// Both snapshots of a change: the library lists anew when something is there that was not.
static void look(bench *b)
{
    again(b, NETPROF_SET_ALL);
    again(b, NETPROF_SET_ALL);
}

#define NODE "/dev/dri/renderD128"

// i915 counts ns; a descriptor that was duplicated, or inherited by a child, is the same client.
static void engines_of_a_job_in_ns(void **state)
{
    (void)state;
    bench b;
    pid_t pid = 500;
    sources_job job = {.pids = &pid, .pid_count = 1};
    static const char info[] = "pos:\t0\nflags:\t02\ndrm-driver:\ti915\ndrm-client-id:\t7\ndrm-pdev:\t0000:03:00.0\n"
                               "drm-total-local0:\t8 MiB\ndrm-resident-local0:\t4096 KiB\ndrm-resident-system:\t9 GiB\n"
                               "drm-engine-render:\t1000000000 ns\ndrm-engine-video:\t0 ns\n"
                               "drm-engine-capacity-video:\t2\n";
    put(CARD(0) "uevent", "DRIVER=i915\nPCI_SLOT_NAME=0000:03:00.0\n");
    process(500, 1);
    process(510, 500);
    process(600, 1); // a stranger
    descriptor(500, 3, NODE, info);
    descriptor(500, 4, NODE, info);
    descriptor(510, 3, NODE, info);
    descriptor(500, 5, "/dev/null", "drm-client-id: 99\ndrm-pdev: 0000:03:00.0\ndrm-engine-render: 5 ns\n");
    descriptor(510, 6, "/dev/dri/card0", "drm-client-id: 8\ndrm-pdev: 0000:03:00.0\ndrm-engine-render: 500000000 ns\n");
    descriptor(600, 3, NODE, "drm-client-id: 9\ndrm-pdev: 0000:03:00.0\ndrm-engine-render: 77 ns\n");
    open_source(&b, "gpu", root, &job);
    check_catalog(&b);
    assert_int_equal(value(&b, "gpu0", "job_engine_render"), 1500000000); // of two clients
    assert_int_equal(value(&b, "gpu0", "job_memory"), 4 << 20);           // of the GPU's own memory, once
    assert_int_equal(value(&b, "gpu0", "job_processes"), 2);
    assert_string_equal(fact(&b, "gpu0", "job"), "yes");
    assert_int_equal(b.s.schema->counters[index_of(&b, "gpu0", "job_engine_render")].kind, NETPROF_KIND_COUNTER);
    assert_int_equal(b.s.errnos[index_of(&b, "gpu0", "job_busy")], ENODATA); // of no time

    // 2 s later: 1 s of render, 3 s of the two video engines; the busiest kind is 75 % busy.
    now_us += 2000000;
    static const char later[] = "drm-client-id:\t7\ndrm-pdev:\t0000:03:00.0\ndrm-engine-render:\t2000000000 ns\n"
                                "drm-engine-video:\t3000000000 ns\ndrm-engine-capacity-video:\t2\n";
    descriptor(500, 3, NODE, later);
    descriptor(500, 4, NODE, later);
    descriptor(510, 3, NODE, later);
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "gpu0", "job_engine_render"), 2500000000);
    assert_int_equal(value(&b, "gpu0", "job_engine_video"), 3000000000);
    assert_int_equal(value(&b, "gpu0", "job_busy"), 75);

    // Who has gone leaves its time behind; a client that came is in from its beginning.
    char command[600];
    snprintf(command, sizeof command, "rm -r '%s/proc/510'", root);
    assert_int_equal(system(command), 0);
    now_us += 1000000;
    descriptor(500, 9, NODE, "drm-client-id: 20\ndrm-pdev: 0000:03:00.0\ndrm-engine-render: 100 ns\n");
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "gpu0", "job_engine_render"), 2500000100);
    assert_int_equal(value(&b, "gpu0", "job_processes"), 1);
    // A number that fell catches up later, as the kernel's rules for drivers say: nothing is counted twice.
    descriptor(500, 9, NODE, "drm-client-id: 20\ndrm-pdev: 0000:03:00.0\ndrm-engine-render: 30 ns\n");
    now_us += 1000000;
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "gpu0", "job_engine_render"), 2500000100);
    descriptor(500, 9, NODE, "drm-client-id: 20\ndrm-pdev: 0000:03:00.0\ndrm-engine-render: 130 ns\n");
    now_us += 1000000;
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "gpu0", "job_engine_render"), 2500000130);
    close_source(&b);
}

// xe counts cycles beside all cycles of the clock: of these, a share of the time.
static void engines_of_a_job_in_cycles(void **state)
{
    (void)state;
    bench b;
    pid_t pid = 500;
    sources_job job = {.pids = &pid, .pid_count = 1};
    put(CARD(0) "uevent", "DRIVER=xe\nPCI_SLOT_NAME=0000:03:00.0\n");
    process(500, 1);
    descriptor(500, 3, NODE,
               "drm-driver:\txe\ndrm-client-id:\t3\ndrm-pdev:\t0000:03:00.0\ndrm-resident-vram0:\t23992 KiB\n"
               "drm-cycles-ccs:\t1000\ndrm-total-cycles-ccs:\t500000\ndrm-engine-capacity-ccs:\t4\n");
    open_source(&b, "gpu", root, &job);
    assert_int_equal(value(&b, "gpu0", "job_engine_ccs"), 0); // a first look has no time
    assert_int_equal(value(&b, "gpu0", "job_memory"), 23992 * 1024);
    now_us += 4000000;
    descriptor(500, 3, NODE,
               "drm-driver:\txe\ndrm-client-id:\t3\ndrm-pdev:\t0000:03:00.0\n"
               "drm-cycles-ccs:\t76000\ndrm-total-cycles-ccs:\t600000\ndrm-engine-capacity-ccs:\t4\n");
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "gpu0", "job_engine_ccs"), 3000000000); // 75 of 100 parts of 4 s
    assert_int_equal(value(&b, "gpu0", "job_busy"), 19);               // of four engines: 18.75 %
    close_source(&b);
}

// Work of AMD's compute queues is in no engine's account: no share of 0 %.
static void compute_queues_of_amd(void **state)
{
    (void)state;
    bench b;
    pid_t pid = 500;
    sources_job job = {.pids = &pid, .pid_count = 1};
    put(CARD(0) "uevent", "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:c1:00.0\n");
    put(CARD(1) "uevent", "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:c6:00.0\n");
    put("/sys/class/kfd/kfd/topology/nodes/0/gpu_id", "0\n"); // a processor
    put("/sys/class/kfd/kfd/topology/nodes/0/properties", "cpu_cores_count 64\nlocation_id 0\n");
    put("/sys/class/kfd/kfd/topology/nodes/1/gpu_id", "4711\n");
    put("/sys/class/kfd/kfd/topology/nodes/1/properties", "simd_count 880\nlocation_id 49408\ndomain 0\n");
    put("/sys/class/kfd/kfd/topology/nodes/2/gpu_id", "4712\n");
    put("/sys/class/kfd/kfd/topology/nodes/2/properties", "simd_count 880\nlocation_id 50688\ndomain 0\n");
    put("/sys/class/kfd/kfd/proc/500/vram_4711", "1000000\n");
    put("/sys/class/kfd/kfd/proc/500/vram_4712", "0\n"); // opened, and not used
    put("/sys/class/kfd/kfd/proc/600/vram_4711", "5\n");
    process(500, 1);
    process(600, 1);
    descriptor(500, 3, NODE,
               "drm-driver:\tamdgpu\ndrm-client-id:\t3\ndrm-pdev:\t0000:c1:00.0\ndrm-memory-vram:\t500 KiB\n"
               "drm-engine-gfx:\t0 ns\n");
    open_source(&b, "gpu", root, &job);
    check_catalog(&b);
    assert_int_equal(value(&b, "gpu0", "processes"), 2);
    assert_int_equal(value(&b, "gpu0", "job_processes"), 1);
    assert_int_equal(value(&b, "gpu0", "job_memory"), 1000000); // the same buffers, not their sum
    assert_int_equal(status_of(&b, "gpu0", "job_busy"), NETPROF_STATUS_UNSUPPORTED);
    assert_int_equal(value(&b, "gpu1", "processes"), 0);
    assert_int_equal(value(&b, "gpu1", "job_memory"), 0);
    assert_string_equal(fact(&b, "gpu0", "job"), "yes");
    assert_string_equal(fact(&b, "gpu1", "job"), "");
    close_source(&b);
}

// A GPU that is cut into parts: each is a node of its own, with its number above the same address.
static void compute_queues_on_parts_of_a_gpu(void **state)
{
    (void)state;
    bench b;
    pid_t pid = 500;
    sources_job job = {.pids = &pid, .pid_count = 1};
    put(CARD(0) "uevent", "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:c1:00.0\n");
    put("/sys/class/kfd/kfd/topology/nodes/1/gpu_id", "4711\n");
    put("/sys/class/kfd/kfd/topology/nodes/1/properties", "simd_count 440\nlocation_id 49408\ndomain 0\n");
    put("/sys/class/kfd/kfd/topology/nodes/2/gpu_id", "4712\n");
    put("/sys/class/kfd/kfd/topology/nodes/2/properties", "simd_count 440\nlocation_id 268484864\ndomain 0\n");
    put("/sys/class/kfd/kfd/proc/500/vram_4711", "1000\n");
    put("/sys/class/kfd/kfd/proc/500/vram_4712", "2000\n");
    put("/sys/class/kfd/kfd/proc/600/vram_4711", "5\n");
    put("/sys/class/kfd/kfd/proc/600/vram_4712", "5\n");
    put("/sys/class/kfd/kfd/proc/700/vram_4711", "0\n");
    put("/sys/class/kfd/kfd/proc/700/vram_4712", "9\n");
    process(500, 1);
    process(600, 1);
    process(700, 1);
    open_source(&b, "gpu", root, &job);
    assert_int_equal(value(&b, "gpu0", "processes"), 3);
    assert_int_equal(value(&b, "gpu0", "job_processes"), 1);
    assert_int_equal(value(&b, "gpu0", "job_memory"), 3000);
    close_source(&b);
}

static void hostile_texts(void **state)
{
    (void)state;
    bench b;
    pid_t pid = 500;
    sources_job job = {.pids = &pid, .pid_count = 1};
    put(CARD(0) "uevent", "DRIVER=xe\nPCI_SLOT_NAME=0000:03:00.0\n");
    process(500, 500); // its own parent
    descriptor(500, 3, NODE, "");
    descriptor(500, 4, NODE, "drm-client-id\ndrm-pdev\n:\n::\ndrm-:\ndrm-engine-:\n");
    descriptor(500, 5, NODE, "drm-client-id: x\ndrm-pdev: 0000:03:00.0\ndrm-engine-a: 5 ns\n");
    descriptor(500, 6, NODE, "drm-client-id: 1\ndrm-pdev: 9999:03:00.0\ndrm-engine-a: 5 ns\n"); // none that is known
    descriptor(500, 7, NODE,
               "drm-client-id: 2\ndrm-pdev: 0000:03:00.0\ndrm-engine-a-name-that-is-much-longer-than-any: 5 ns\n"
               "drm-cycles-ccs: 5\ndrm-resident-vram0: -1 KiB\n"); // without all cycles
    descriptor(500, 8, NODE, "drm-client-id: 2\ndrm-pdev: 0000:03:00.0\n");
    open_source(&b, "gpu", root, &job);
    assert_int_equal(value(&b, "gpu0", "job_engine_ccs"), 0);
    assert_int_equal(status_of(&b, "gpu0", "job_memory"), NETPROF_STATUS_UNSUPPORTED); // no size that can be read
    for (size_t i = 0; i < b.s.schema->counter_count; i++)
        assert_null(strstr(b.s.schema->counters[i].name, "longer"));
    look(&b);
    close_source(&b);
}

// Descriptors that may not be looked at: nothing is known of the job's part. Root may look at everything, and becomes
// somebody else.
static void descriptors_of_others_are_denied(void **state)
{
    (void)state;
    enum { NOBODY = 65534 };
    bench b;
    char path[512];
    pid_t pid = 500;
    sources_job job = {.pids = &pid, .pid_count = 1};
    put(CARD(0) "uevent", "DRIVER=xe\nPCI_SLOT_NAME=0000:03:00.0\n");
    process(500, 1);
    descriptor(500, 3, NODE, "drm-client-id: 2\ndrm-pdev: 0000:03:00.0\ndrm-resident-vram0: 5 KiB\n");
    snprintf(path, sizeof path, "%s/proc/500/fd", root);
    assert_int_equal(chmod(root, 0755), 0);
    if (geteuid() == 0 && seteuid(NOBODY)) skip();
    open_source(&b, "gpu", root, &job);
    assert_int_equal(value(&b, "gpu0", "job_memory"), 5 << 10);
    close_source(&b);
    assert_int_equal(seteuid(getuid()), 0);
    assert_int_equal(chmod(path, 0), 0);
    if (geteuid() == 0) assert_int_equal(seteuid(NOBODY), 0);
    open_source(&b, "gpu", root, &job);
    assert_int_equal(status_of(&b, "gpu0", "job_memory"), NETPROF_STATUS_DENIED);
    close_source(&b);
    assert_int_equal(seteuid(getuid()), 0);
    assert_int_equal(chmod(path, 0755), 0);
}

static void without_a_job_nobody_is_looked_at(void **state)
{
    (void)state;
    static const sources_job nobody;
    bench b;
    put(CARD(0) "uevent", "DRIVER=i915\nPCI_SLOT_NAME=0000:03:00.0\n");
    put(CARD(0) "current_link_width", "8\n");
    process(500, 1);
    descriptor(500, 3, NODE, "drm-client-id: 9\ndrm-pdev: 0000:03:00.0\ndrm-engine-render: 77 ns\n");
    open_source(&b, "gpu", root, &nobody);
    assert_false(is_told(&b, "gpu0", "job_engine_render"));
    assert_false(is_told(&b, "gpu0", "job_memory"));
    close_source(&b);
}

// The more a look costs, the rarer it is: not more than a thousandth of the time.
static int64_t slow_clock(void)
{
    now_us += 1000;
    return now_us;
}

static void looks_are_as_rare_as_they_are_slow(void **state)
{
    (void)state;
    bench b;
    pid_t pid = 500;
    sources_job job = {.pids = &pid, .pid_count = 1};
    put(CARD(0) "uevent", "DRIVER=i915\nPCI_SLOT_NAME=0000:03:00.0\n");
    process(500, 1);
    descriptor(500, 3, NODE, "drm-client-id: 9\ndrm-pdev: 0000:03:00.0\ndrm-engine-render: 5 ns\n");
    gpu_clock_us = slow_clock;
    open_source(&b, "gpu", root, &job);
    int64_t stamp = b.s.stamps_ns[index_of(&b, "gpu0", "job_engine_render")];
    assert_true(stamp > 0);
    descriptor(500, 3, NODE, "drm-client-id: 9\ndrm-pdev: 0000:03:00.0\ndrm-engine-render: 7 ns\n");
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "gpu0", "job_engine_render"), 5); // of the moment that its stamp says
    assert_true(b.s.stamps_ns[index_of(&b, "gpu0", "job_engine_render")] == stamp);
    now_us += 10000000;
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "gpu0", "job_engine_render"), 7);
    close_source(&b);
}

// ---- engines by performance events ----

enum { ACTIVE = 2, TOTAL = 3, EVENTS = 8 };

static struct made {
    uint64_t config, count;
    int leader;
    bool open;
} made[64];
static int made_count;
static bool denied;

// Two engines: rcs0 of the first GT, ccs2 of the second (ccs0 and ccs1 are fused off).
static int fake_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group, unsigned long flags)
{
    uint64_t kind = attr->config >> 20 & 0xff, number = attr->config >> 12 & 0xff, gt = attr->config >> 60;
    bool there = (gt == 0 && kind == 0 && number == 0) || (gt == 1 && kind == 4 && number == 2);
    assert_int_equal(attr->type, 55);
    assert_int_equal(pid, -1);
    assert_int_equal(cpu, 6);
    assert_true(flags & PERF_FLAG_FD_CLOEXEC);
    errno = denied ? EACCES : there ? 0 : ENOENT;
    if (errno) return -1;
    assert_true(made_count < 64);
    made[made_count] = (struct made){.config = attr->config, .leader = group < 0 ? -1 : group - 700, .open = true};
    return 700 + made_count++;
}

static ssize_t fake_read(int fd, void *to, size_t size)
{
    uint64_t words[3 + EVENTS] = {0, 9, 9};
    for (int i = fd - 700; i < made_count; i++)
        if (made[i].open && (i == fd - 700 || made[i].leader == fd - 700)) words[3 + words[0]++] = made[i].count;
    assert_true(size >= (3 + words[0]) * sizeof *words);
    memcpy(to, words, (3 + words[0]) * sizeof *words);
    return (ssize_t)((3 + words[0]) * sizeof *words);
}

static int fake_close(int fd)
{
    assert_true(made[fd - 700].open);
    made[fd - 700].open = false;
    return 0;
}

static const perf_system fake = {fake_open, fake_read, fake_close};

static void count(uint64_t gt, uint64_t kind, uint64_t number, uint64_t event, uint64_t by)
{
    uint64_t config = gt << 60 | kind << 20 | number << 12 | event;
    for (int i = 0; i < made_count; i++)
        if (made[i].open && made[i].config == config) {
            made[i].count += by;
            return;
        }
    fail_msg("no event %llx", (unsigned long long)config);
}

static void put_xe(void)
{
    put(CARD(0) "uevent", "DRIVER=xe\nPCI_SLOT_NAME=0000:03:00.0\n");
    put(CARD(0) "tile0/gt0/freq0/act_freq", "800\n");
    put(CARD(0) "tile0/gt1/freq0/act_freq", "800\n");
    put(PMU "type", "55\n");
    put(PMU "cpumask", "6\n");
    put(PMU "events/engine-active-ticks", "event=0x02\n");
    put(PMU "events/engine-total-ticks", "event=0x03\n");
    put(PMU "format/event", "config:0-11\n");
    put(PMU "format/engine_instance", "config:12-19\n");
    put(PMU "format/engine_class", "config:20-27\n");
    put(PMU "format/gt", "config:60-63\n");
}

static void engines_of_xe(void **state)
{
    (void)state;
    static const sources_job nobody;
    bench b;
    perf_calls = &fake;
    made_count = 0;
    denied = false;
    put_xe();
    open_source(&b, "gpu", root, &nobody);
    check_catalog(&b);
    assert_int_equal(b.s.errnos[index_of(&b, "gpu0", "busy")], ENODATA);
    count(0, 0, 0, ACTIVE, 10);
    count(0, 0, 0, TOTAL, 1000);
    count(1, 4, 2, ACTIVE, 600);
    count(1, 4, 2, TOTAL, 1000);
    now_us += 5000000;
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "gpu0", "ticks_rcs0"), 10);
    assert_int_equal(value(&b, "gpu0", "ticks_rcs0_total"), 1000);
    assert_int_equal(value(&b, "gpu0", "ticks_gt1_ccs2"), 600);
    assert_false(is_told(&b, "gpu0", "ticks_gt1_ccs0"));
    assert_int_equal(value(&b, "gpu0", "busy"), 60);
    assert_int_equal(value(&b, "gpu0", "busy_time"), 3000000);
    assert_int_equal(value(&b, "gpu0", "seen_time"), 5000000);
    close_source(&b);
    for (int i = 0; i < made_count; i++)
        assert_false(made[i].open);
}

static void engines_that_may_not_be_counted(void **state)
{
    (void)state;
    static const sources_job nobody;
    bench b;
    perf_calls = &fake;
    made_count = 0;
    denied = true;
    put_xe();
    open_source(&b, "gpu", root, &nobody);
    assert_int_equal(status_of(&b, "gpu0", "busy"), NETPROF_STATUS_DENIED);
    assert_non_null(strstr(fact(&b, "gpu0", "engines"), "CAP_PERFMON"));
    assert_int_equal(value(&b, "gpu0", "clock"), 800);
    close_source(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(engines_of_a_job_in_ns, begin, end),
        cmocka_unit_test_setup_teardown(engines_of_a_job_in_cycles, begin, end),
        cmocka_unit_test_setup_teardown(compute_queues_of_amd, begin, end),
        cmocka_unit_test_setup_teardown(compute_queues_on_parts_of_a_gpu, begin, end),
        cmocka_unit_test_setup_teardown(hostile_texts, begin, end),
        cmocka_unit_test_setup_teardown(descriptors_of_others_are_denied, begin, end),
        cmocka_unit_test_setup_teardown(without_a_job_nobody_is_looked_at, begin, end),
        cmocka_unit_test_setup_teardown(looks_are_as_rare_as_they_are_slow, begin, end),
        cmocka_unit_test_setup_teardown(engines_of_xe, begin, end),
        cmocka_unit_test_setup_teardown(engines_that_may_not_be_counted, begin, end),
    };
    return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
