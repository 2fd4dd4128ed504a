// The source perf: hardware events by system calls and descriptions that are made here, with exact numbers; software
// events of this machine's kernel against what the kernel itself accounts of the same processes.
#define _GNU_SOURCE
#include "netprof.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sources/perf/perf.h"
#include "source_bench.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const sources_job nobody;

// ---- system calls that are made here ----

enum { FIRST_FD = 5000, MOST = 256 };

typedef struct made_event {
    struct perf_event_attr attr;
    pid_t pid;
    int cpu, leader; // index; -1
    bool open, group;
    uint64_t count, enabled, running;
} made_event;

static made_event made[MOST];
static int made_count, most_in_group, open_limit, opened;
static bool no_inherited_groups, deny_kernel, deny_all, deny_groups;
static uint64_t refused_config; // whole config word that no PMU knows; 0: none
static pid_t gone;              // a thread that has ended
static uint64_t unknown_config; // of hardware events; 0: none

static int fake_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group, unsigned long flags)
{
    int leader = group < 0 ? -1 : group - FIRST_FD, members = 1;
    assert_true(flags & PERF_FLAG_FD_CLOEXEC);
    assert_int_equal(attr->size, sizeof *attr);
    errno = 0;
    for (int i = 0; i < made_count && leader >= 0; i++)
        members += made[i].open && (i == leader || made[i].leader == leader);
    if (pid == gone && gone)
        errno = ESRCH;
    else if (deny_all || (deny_kernel && !attr->exclude_kernel))
        errno = EACCES;
    else if (deny_groups && flags & PERF_FLAG_PID_CGROUP)
        errno = EACCES;
    else if (refused_config && attr->config == refused_config)
        errno = ENOENT;
    else if (no_inherited_groups && attr->inherit && attr->read_format & PERF_FORMAT_GROUP)
        errno = EINVAL;
    else if (members > most_in_group)
        errno = EINVAL;
    else if (attr->type == PERF_TYPE_HARDWARE && attr->config && attr->config == unknown_config)
        errno = ENOENT;
    else if (opened >= open_limit)
        errno = EMFILE;
    if (errno) return -1;
    assert_true(made_count < MOST);
    made[made_count] = (made_event){
        .attr = *attr, .pid = pid, .cpu = cpu, .leader = leader, .open = true, .group = flags & PERF_FLAG_PID_CGROUP};
    opened++;
    return FIRST_FD + made_count++;
}

static ssize_t fake_read(int fd, void *to, size_t size)
{
    uint64_t words[16];
    size_t n = 0;
    int at = fd - FIRST_FD;
    assert_true(at >= 0 && at < made_count && made[at].open);
    if (!(made[at].attr.read_format & PERF_FORMAT_GROUP)) {
        words[n++] = made[at].count;
        words[n++] = made[at].enabled;
        words[n++] = made[at].running;
    } else {
        uint64_t members = 0;
        words[1] = made[at].enabled;
        words[2] = made[at].running;
        for (int i = at; i < made_count; i++)
            if (i == at || made[i].leader == at) words[3 + members++] = made[i].count;
        words[0] = members;
        n = 3 + members;
    }
    if (size < n * sizeof *words) {
        errno = ENOSPC;
        return -1;
    }
    memcpy(to, words, n * sizeof *words);
    return (ssize_t)(n * sizeof *words);
}

static int fake_close(int fd)
{
    assert_true(made[fd - FIRST_FD].open);
    made[fd - FIRST_FD].open = false;
    opened--;
    return 0;
}

static const perf_system fake = {fake_open, fake_read, fake_close};

static int begin(void **state)
{
    (void)state;
    made_count = opened = 0;
    most_in_group = 8;
    open_limit = MOST;
    no_inherited_groups = deny_kernel = deny_all = deny_groups = false;
    refused_config = 0;
    gone = 0;
    unknown_config = 0;
    perf_calls = &fake;
    put("/proc/sys/kernel/perf_event_paranoid", "2\n");
    return 0;
}

static int end(void **state)
{
    perf_calls = &perf_kernel;
    return drop_tree(state);
}

static void process(pid_t pid, pid_t parent, pid_t other_thread)
{
    char path[64], text[64];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    snprintf(text, sizeof text, "%d (a\n) S 1 b) S %d 1 1\n", (int)pid, (int)parent);
    put(path, text);
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)pid, (int)pid);
    put(path, text);
    if (!other_thread) return;
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)pid, (int)other_thread);
    put(path, text);
}

// The event of a thread, by the hardware event's number.
static made_event *event_of(pid_t pid, uint64_t config)
{
    for (int i = 0; i < made_count; i++)
        if (made[i].pid == pid && made[i].attr.config == config && made[i].attr.type == PERF_TYPE_HARDWARE)
            return &made[i];
    fail_msg("event %d of thread %d was not opened", (int)config, (int)pid);
    return NULL;
}

static size_t count_of(pid_t pid)
{
    size_t n = 0;
    for (int i = 0; i < made_count; i++)
        n += made[i].pid == pid;
    return n;
}

static void times(pid_t pid, uint64_t config, uint64_t enabled, uint64_t running)
{
    event_of(pid, config)->enabled = enabled;
    event_of(pid, config)->running = running;
}

// ---- scaling ----

enum {
    CYCLES = PERF_COUNT_HW_CPU_CYCLES,
    INSTRUCTIONS = PERF_COUNT_HW_INSTRUCTIONS,
    BRANCHES = PERF_COUNT_HW_BRANCH_INSTRUCTIONS
};

static void multiplexed_counts_are_scaled(void **state)
{
    (void)state;
    bench b;
    pid_t pid = 100;
    sources_job job = {.pids = &pid, .pid_count = 1, .perf = "cycles,instructions"};
    process(100, 1, 0);
    open_source(&b, "perf", root, &job);
    assert_int_equal(value(&b, "job", "cycles"), 0);
    assert_int_equal(made_count, 2);
    assert_int_equal(made[1].leader, 0); // one group
    assert_true(made[0].attr.inherit && !made[0].attr.disabled && !made[0].attr.exclude_kernel);
    assert_int_equal(made[0].cpu, -1);
    assert_string_equal(fact(&b, "job", "group1"), "cycles,instructions");
    assert_string_equal(fact(&b, "job", "counted"), "user code and the kernel");

    // All the time on the hardware: as counted.
    event_of(100, CYCLES)->count = 1000;
    event_of(100, INSTRUCTIONS)->count = 3001;
    times(100, CYCLES, 5000, 5000);
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "job", "cycles"), 1000);
    assert_int_equal(value(&b, "job", "instructions"), 3001);
    assert_int_equal(value(&b, "job", "group1_time_enabled"), 5000);
    assert_int_equal(value(&b, "job", "group1_time_running"), 5000);

    // A quarter of the time: four times the difference, not four times the sum.
    event_of(100, CYCLES)->count = 1500;
    event_of(100, INSTRUCTIONS)->count = 3101;
    times(100, CYCLES, 9000, 6000);
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "job", "cycles"), 1000 + 4 * 500);
    assert_int_equal(value(&b, "job", "instructions"), 3001 + 4 * 100);
    assert_int_equal(value(&b, "job", "group1_time_running"), 6000);

    // Not at all: no value, and no 0. Afterwards the count stands for both intervals.
    times(100, CYCLES, 10000, 6000);
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(status_of(&b, "job", "cycles"), NETPROF_STATUS_UNREADABLE);
    assert_int_equal(b.s.errnos[index_of(&b, "job", "cycles")], EBUSY);
    assert_int_equal(value(&b, "job", "group1_time_enabled"), 10000);
    event_of(100, CYCLES)->count = 1800;
    times(100, CYCLES, 11000, 7000);
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "job", "cycles"), 3000 + 300 * 2000 / 1000);

    // Numbers whose product passes 64 bits, rounded.
    event_of(100, CYCLES)->count += 3000000000000000000;
    times(100, CYCLES, 11000 + 4000000000000, 7000 + 3000000000000);
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "job", "cycles"), 3600 + 4000000000000000000);
    close_source(&b);
    assert_int_equal(opened, 0); // all closed
}

static void events_that_do_not_fit_together(void **state)
{
    (void)state;
    bench b;
    pid_t pid = 100;
    sources_job job = {.pids = &pid, .pid_count = 1, .perf = "cycles,instructions,branches,ref-cycles,task-clock"};
    process(100, 1, 0);
    most_in_group = 2;
    unknown_config = PERF_COUNT_HW_REF_CPU_CYCLES;
    open_source(&b, "perf", root, &job);
    assert_int_equal(event_of(100, BRANCHES)->leader, -1);
    assert_string_equal(fact(&b, "job", "group1"), "cycles,instructions");
    assert_string_equal(fact(&b, "job", "group2"), "branches");
    assert_string_equal(fact(&b, "job", "group3"), ""); // software events share nothing
    assert_int_equal(status_of(&b, "job", "ref_cycles"), NETPROF_STATUS_UNSUPPORTED);
    event_of(100, BRANCHES)->count = 70;
    times(100, BRANCHES, 300, 100);
    event_of(100, CYCLES)->count = 70;
    times(100, CYCLES, 300, 200);
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "job", "branches"), 210);
    assert_int_equal(value(&b, "job", "cycles"), 105);
    assert_int_equal(value(&b, "job", "group2_time_running"), 100);
    assert_int_equal(status_of(&b, "job", "ref_cycles"), NETPROF_STATUS_UNSUPPORTED);
    // The fast set: only what holds a fast event is read.
    event_of(100, BRANCHES)->count = 80;
    event_of(100, CYCLES)->count = 80;
    times(100, CYCLES, 400, 300);
    again(&b, NETPROF_SET_FAST);
    assert_int_equal(value(&b, "job", "cycles"), 115);
    assert_int_equal(status_of(&b, "job", "branches"), NETPROF_STATUS_SKIPPED);
    close_source(&b);
}

static void kernels_without_inherited_groups(void **state)
{
    (void)state;
    bench b;
    pid_t pid = 100;
    sources_job job = {.pids = &pid, .pid_count = 1, .perf = "cycles,instructions"};
    process(100, 1, 0);
    no_inherited_groups = true;
    open_source(&b, "perf", root, &job);
    assert_int_equal(event_of(100, INSTRUCTIONS)->leader, -1);
    event_of(100, CYCLES)->count = 10;
    times(100, CYCLES, 100, 50);
    event_of(100, INSTRUCTIONS)->count = 33;
    times(100, INSTRUCTIONS, 100, 100);
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "job", "cycles"), 20);
    assert_int_equal(value(&b, "job", "instructions"), 33);
    close_source(&b);
}

// ---- whose events ----

static void threads_children_and_those_that_join(void **state)
{
    (void)state;
    bench b;
    pid_t pids[3] = {100, 200, 400};
    sources_job job = {.pids = pids, .pid_count = 1, .perf = "cycles"};
    process(100, 1, 101);
    process(110, 100, 0); // a child that runs already
    process(111, 110, 0);
    process(300, 1, 0); // a stranger
    gone = 101;         // ended since it was listed
    open_source(&b, "perf", root, &job);
    assert_int_equal(count_of(100), 1);
    assert_int_equal(count_of(101), 0);
    assert_int_equal(count_of(110), 1);
    assert_int_equal(count_of(111), 1);
    assert_int_equal(count_of(300), 0);
    event_of(100, CYCLES)->count = 5;
    event_of(111, CYCLES)->count = 7;
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "job", "cycles"), 12);

    // 200 descends from one that is counted: it is in the sum already. 400 came from elsewhere.
    process(120, 111, 0);
    process(200, 120, 0);
    process(400, 1, 401);
    job.pid_count = 3;
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(count_of(200), 0);
    assert_int_equal(count_of(120), 0);
    assert_int_equal(count_of(400), 1);
    assert_int_equal(count_of(401), 1);
    event_of(400, CYCLES)->count = 100;
    event_of(401, CYCLES)->count = 1000;
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "job", "cycles"), 1112);

    // A process that ended leaves its count behind, and nothing is opened again.
    char command[600];
    snprintf(command, sizeof command, "rm -r '%s/proc/111' '%s/proc/400'", root, root);
    assert_int_equal(system(command), 0);
    int before = made_count;
    event_of(100, CYCLES)->count = 6;
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "job", "cycles"), 1113);
    assert_int_equal(made_count, before);
    close_source(&b);
    assert_int_equal(opened, 0);
}

// A thread that could not be opened is missing from the sum: no number is better than a wrong one.
static void a_thread_too_many(void **state)
{
    (void)state;
    bench b;
    pid_t pid = 100;
    sources_job job = {.pids = &pid, .pid_count = 1, .perf = "cycles,instructions"};
    process(100, 1, 101);
    open_limit = 3;
    open_source(&b, "perf", root, &job);
    assert_int_equal(status_of(&b, "job", "cycles"), NETPROF_STATUS_UNREADABLE);
    assert_int_equal(b.s.errnos[index_of(&b, "job", "instructions")], EMFILE);
    close_source(&b);
    assert_int_equal(opened, 0);
}

static void without_the_kernels_part(void **state)
{
    (void)state;
    bench b;
    pid_t pid = 100;
    sources_job job = {.pids = &pid, .pid_count = 1};
    process(100, 1, 0);
    deny_kernel = true;
    open_source(&b, "perf", root, &job);
    assert_string_equal(fact(&b, "job", "counted"), "user code only");
    assert_true(event_of(100, CYCLES)->attr.exclude_kernel);
    assert_int_equal(value(&b, "job", "cycles"), 0);
    assert_int_equal(value(&b, "job", "page_faults"), 0);
    // These happen in the kernel alone: without it they would always be 0.
    assert_int_equal(status_of(&b, "job", "context_switches"), NETPROF_STATUS_DENIED);
    assert_int_equal(status_of(&b, "job", "cpu_migrations"), NETPROF_STATUS_DENIED);
    close_source(&b);
}

static void nothing_is_allowed(void **state)
{
    (void)state;
    bench b;
    sources_job job = {.perf = "cycles,instructions"};
    deny_all = true;
    put("/sys/devices/system/cpu/online", "0-1\n");
    open_source(&b, "perf", root, &job);
    assert_int_equal(status_of(&b, "node", "cycles"), NETPROF_STATUS_DENIED);
    const netprof_source_state *s = &b.s.schema->sources[b.s.schema->source_count - 1];
    assert_string_equal(s->name, "perf");
    assert_int_equal(s->status, NETPROF_STATUS_DENIED);
    assert_int_equal(s->sys_errno, EACCES);
    assert_string_equal(s->path, "/proc/sys/kernel/perf_event_paranoid is 2");
    close_source(&b);
}

static void every_cpu_of_a_node(void **state)
{
    (void)state;
    bench b;
    sources_job job = {.perf = "cycles,task_clock"};
    put("/sys/devices/system/cpu/online", "0-2,5\n");
    open_source(&b, "perf", root, &job);
    assert_int_equal(made_count, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(made[i].pid, -1);
        assert_int_equal(made[i].cpu, i == 3 ? 5 : i);
        assert_false(made[i].attr.inherit);
        made[i].count = 10u << i;
    }
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "node", "cycles"), 10 + 20 + 40 + 80);
    // A CPU's clock of tasks runs while it is idle, too.
    assert_int_equal(netprof_find(b.s.schema, NULL, "node", "task_clock"), NETPROF_NONE);
    close_source(&b);
}

static void a_saved_tree_holds_no_events(void **state)
{
    (void)state;
    bench b;
    perf_calls = &perf_kernel;
    open_source(&b, "perf", root, &nobody);
    assert_int_equal(b.s.schema->device_count, 0);
    close_source(&b);
}

// ---- several kinds of cores ----

#define PMU(name) "/sys/bus/event_source/devices/" name

enum { CORE = 4, ATOM = 10 };

static void put_hybrid(void)
{
    put(PMU("cpu_core/type"), "4\n");
    put(PMU("cpu_core/cpus"), "0-3\n");
    put(PMU("cpu_core/format/event"), "config:0-7\n");
    put(PMU("cpu_atom/type"), "10\n");
    put(PMU("cpu_atom/cpus"), "4-7\n");
    put(PMU("cpu_atom/format/event"), "config:0-7\n");
    put(PMU("uncore_cha_0/type"), "30\n"); // no cores
    put(PMU("uncore_cha_0/cpumask"), "0\n");
}

// Of the event on one kind of cores.
static made_event *on_kind(pid_t pid, uint64_t config, uint64_t kind)
{
    return event_of(pid, config | kind << 32);
}

static void run_on(pid_t pid, uint64_t kind, uint64_t cycles, uint64_t instructions, uint64_t enabled, uint64_t running)
{
    made_event *x = on_kind(pid, CYCLES, kind);
    x->count += cycles;
    on_kind(pid, INSTRUCTIONS, kind)->count += instructions;
    x->enabled += enabled;
    x->running += running;
}

static void a_thread_moves_between_kinds_of_cores(void **state)
{
    (void)state;
    bench b;
    pid_t pid = 100;
    sources_job job = {.pids = &pid, .pid_count = 1, .perf = "cycles,instructions,task_clock"};
    process(100, 1, 0);
    put_hybrid();
    open_source(&b, "perf", root, &job);
    assert_int_equal(made_count, 5); // two on each kind, and one that no kind has to do with
    assert_string_equal(fact(&b, "job", "kinds_of_cores"), "cpu_atom: CPUs 4-7; cpu_core: CPUs 0-3");
    assert_string_equal(fact(&b, "job", "group1_on_cpu_core"), "cycles_on_cpu_core,instructions_on_cpu_core");
    assert_string_equal(fact(&b, "job", "counted_by"), "by process, with what it starts");
    check_catalog(&b);

    // Three quarters of 8000 ns on big cores: nothing was shared, so nothing is scaled.
    run_on(100, CORE, 6000, 12000, 8000, 6000);
    run_on(100, ATOM, 1000, 1500, 8000, 2000);
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "job", "cycles_on_cpu_core"), 6000);
    assert_int_equal(value(&b, "job", "cycles_on_cpu_atom"), 1000);
    assert_int_equal(value(&b, "job", "cycles"), 7000);
    assert_int_equal(value(&b, "job", "instructions"), 13500);
    assert_int_equal(value(&b, "job", "group1_on_cpu_atom_ran"), 2000);
    // 16000 ns of two events, all of it on the one kind of cores or the other: nothing for the rule perf-multiplexed.
    assert_int_equal(value(&b, "job", "group_all_time_enabled"), 16000);
    assert_int_equal(value(&b, "job", "group_all_time_running"), 16000);
    for (size_t i = 0; i < b.s.schema->counter_count; i++)
        assert_null(strstr(b.s.schema->counters[i].name, "_on_cpu_core_time"));

    // Others had the counters half of the time: twice what was counted, on both kinds.
    run_on(100, CORE, 300, 500, 1000, 400);
    run_on(100, ATOM, 10, 20, 1000, 100);
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "job", "cycles_on_cpu_core"), 6600);
    assert_int_equal(value(&b, "job", "cycles_on_cpu_atom"), 1020);
    assert_int_equal(value(&b, "job", "cycles"), 7620);
    assert_int_equal(value(&b, "job", "group_all_time_enabled"), 18000);
    assert_int_equal(value(&b, "job", "group_all_time_running"), 17000);

    // Not at all: no number; then one for both intervals.
    run_on(100, CORE, 0, 0, 500, 0);
    run_on(100, ATOM, 0, 0, 500, 0);
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(b.s.errnos[index_of(&b, "job", "cycles")], EBUSY);
    assert_int_equal(b.s.errnos[index_of(&b, "job", "cycles_on_cpu_atom")], EBUSY);
    run_on(100, CORE, 50, 60, 500, 500);
    run_on(100, ATOM, 0, 0, 500, 0);
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "job", "cycles"), 7620 + 100);
    again(&b, NETPROF_SET_FAST);
    assert_int_equal(value(&b, "job", "cycles"), 7720);
    close_source(&b);
    assert_int_equal(opened, 0);
}

// What one kind does not know has no sum; the other kind's count stands, and is not taken for shared.
static void an_event_of_one_kind_alone(void **state)
{
    (void)state;
    bench b;
    enum { OWN = 12 }; // a number that is not that of raw codes
    pid_t pid = 100;
    sources_job job = {.pids = &pid, .pid_count = 1, .perf = "cycles,branches,cpu_core/event=0x3c/,r1a2"};
    process(100, 1, 0);
    put_hybrid();
    refused_config = BRANCHES | (uint64_t)ATOM << 32;
    put(PMU("cpu_core/type"), "12\n");
    open_source(&b, "perf", root, &job);
    on_kind(100, CYCLES, OWN)->count = 100;
    on_kind(100, CYCLES, OWN)->enabled = 1000;
    on_kind(100, CYCLES, OWN)->running = 250;
    on_kind(100, BRANCHES, OWN)->count = 40;
    on_kind(100, CYCLES, ATOM)->count = 30;
    on_kind(100, CYCLES, ATOM)->enabled = 1000;
    on_kind(100, CYCLES, ATOM)->running = 750;
    for (int i = 0; i < made_count; i++)
        if (made[i].attr.type == OWN) made[i].count = 77; // cpu_core/event=0x3c/, of the same set
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "job", "cycles"), 130);
    assert_int_equal(value(&b, "job", "branches_on_cpu_core"), 40); // not 160
    assert_int_equal(status_of(&b, "job", "branches_on_cpu_atom"), NETPROF_STATUS_UNSUPPORTED);
    assert_int_equal(status_of(&b, "job", "branches"), NETPROF_STATUS_UNSUPPORTED);
    assert_int_equal(value(&b, "job", "cpu_core_event_0x3c"), 77);
    assert_int_equal(status_of(&b, "job", "r1a2"), NETPROF_STATUS_UNSUPPORTED);
    assert_non_null(strstr(fact(&b, "job", "not_counted"), "cpu_atom/event=.../"));
    close_source(&b);
}

static void a_node_with_kinds_of_cores(void **state)
{
    (void)state;
    bench b;
    sources_job job = {.perf = "cycles"};
    put_hybrid();
    put("/sys/devices/system/cpu/online", "0,2,5-6\n");
    open_source(&b, "perf", root, &job);
    assert_int_equal(made_count, 4);
    for (int i = 0; i < made_count; i++) { // each CPU has an event of its own kind alone
        assert_int_equal(made[i].attr.config >> 32, made[i].cpu < 4 ? CORE : ATOM);
        made[i].count = 10u << i;
        made[i].enabled = made[i].running = 100;
    }
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "node", "cycles_on_cpu_core"), 10 + 20);
    assert_int_equal(value(&b, "node", "cycles_on_cpu_atom"), 40 + 80);
    assert_int_equal(value(&b, "node", "cycles"), 150);
    close_source(&b);
}

// "from,from+2,..,to"
static void put_every_other(const char *path, int from, int to)
{
    char text[4096];
    int n = 0;
    for (int cpu = from; cpu <= to; cpu += 2)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%d", cpu == from ? "" : ",", cpu);
    assert_true((size_t)n < sizeof text);
    put(path, text);
}

static void lists_of_many_cpus(void **state)
{
    (void)state;
    bench b;
    sources_job job = {.perf = "cycles"};
    put_hybrid();
    put_every_other(PMU("cpu_core/cpus"), 0, 798);
    put_every_other(PMU("cpu_atom/cpus"), 1, 799);
    put("/sys/devices/system/cpu/online", "0,797-798\n");
    open_source(&b, "perf", root, &job);
    assert_int_equal(made_count, 3);
    assert_int_equal(on_kind(-1, CYCLES, ATOM)->cpu, 797);
    int of_core = 0;
    for (int i = 0; i < made_count; i++)
        if (made[i].attr.config >> 32 == CORE) of_core += made[i].cpu;
    assert_int_equal(of_core, 0 + 798);
    const char *kinds = fact(&b, "node", "kinds_of_cores"), *end = ",796,798";
    assert_non_null(strstr(kinds, "cpu_atom: CPUs 1,3,5,"));
    assert_non_null(strstr(kinds, "cpu_core: CPUs 0,2,4,"));
    assert_string_equal(kinds + strlen(kinds) - strlen(end), end);
    close_source(&b);
}

// Arm's PMUs by their own descriptions; three kinds.
static void kinds_of_arm(void **state)
{
    (void)state;
    bench b;
    pid_t pid = 100;
    sources_job job = {.pids = &pid, .pid_count = 1, .perf = "cycles,branches"};
    static const char *const pmus[] = {"armv8_cortex_a510", "armv8_cortex_a715", "armv8_cortex_x3"};
    process(100, 1, 0);
    for (int i = 0; i < 3; i++) {
        char path[128], text[16];
        snprintf(path, sizeof path, PMU("%s/type"), pmus[i]);
        snprintf(text, sizeof text, "%d\n", 20 + i);
        put(path, text);
        snprintf(path, sizeof path, PMU("%s/cpus"), pmus[i]);
        snprintf(text, sizeof text, "%d-%d\n", 3 * i, 3 * i + 2);
        put(path, text);
        snprintf(path, sizeof path, PMU("%s/format/event"), pmus[i]);
        put(path, "config:0-15\n");
        snprintf(path, sizeof path, PMU("%s/events/cpu_cycles"), pmus[i]);
        put(path, "event=0x11\n");
    }
    open_source(&b, "perf", root, &job);
    assert_int_equal(made_count, 6);
    for (int i = 0; i < made_count; i++) {
        bool cycles = made[i].attr.type >= 20;
        uint64_t config = made[i].attr.config;
        // What is not described: by the generic number.
        assert_int_equal(cycles ? config : config & UINT32_MAX, cycles ? 0x11 : BRANCHES);
        if (cycles) made[i].count = 1000u << (made[i].attr.type - 20);
        made[i].enabled = 900;
        made[i].running = 300;
    }
    again(&b, NETPROF_SET_ALL);
    check_catalog(&b);
    assert_int_equal(value(&b, "job", "cycles"), 1000 + 2000 + 4000);
    assert_int_equal(value(&b, "job", "cycles_on_armv8_cortex_x3"), 4000);
    close_source(&b);
}

// A single kind, whatever it is called, is as ever.
static void one_kind_of_cores(void **state)
{
    (void)state;
    bench b;
    pid_t pid = 100;
    sources_job job = {.pids = &pid, .pid_count = 1, .perf = "cycles"};
    process(100, 1, 0);
    put(PMU("armv8_pmuv3_0/type"), "8\n");
    put(PMU("armv8_pmuv3_0/cpus"), "0-63\n");
    open_source(&b, "perf", root, &job);
    assert_int_equal(made_count, 1);
    assert_int_equal(made[0].attr.config, CYCLES);
    assert_string_equal(fact(&b, "job", "kinds_of_cores"), "");
    close_source(&b);
}

// ---- control groups ----

static void put_groups(const char *type, const char *options)
{
    char text[256];
    snprintf(text, sizeof text,
             "30 25 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
             "31 30 0:27 / /sys/fs/cgroup/it rw - %s %s %s\n",
             type, type, options);
    put("/proc/self/mountinfo", text);
    put("/sys/fs/cgroup/it/slurm/job_17/cgroup.procs", "100\n");
    put("/sys/devices/system/cpu/online", "0-1\n");
}

static void a_job_by_its_control_group(void **state)
{
    (void)state;
    bench b;
    pid_t pid = 100;
    sources_job job = {
        .pids = &pid, .pid_count = 1, .cgroup = "/slurm/job_17", .perf = "cycles,instructions,task_clock"};
    process(100, 1, 101);
    put_groups("cgroup2", "rw");
    open_source(&b, "perf", root, &job);
    assert_string_equal(fact(&b, "job", "counted_by"), "by control group /slurm/job_17");
    size_t kept = 0;
    for (int i = 0; i < made_count; i++) {
        if (!made[i].open) continue; // that of the question whether it may
        kept++;
        assert_true(made[i].group);
        assert_true(made[i].pid > 2); // a directory's descriptor
        assert_in_range(made[i].cpu, 0, 1);
        assert_false(made[i].attr.inherit);
        made[i].count = made[i].attr.type == PERF_TYPE_HARDWARE && made[i].attr.config == CYCLES ? 500u : 7u;
        made[i].enabled = made[i].running = 10;
    }
    assert_int_equal(kept, 6);
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "job", "cycles"), 1000);
    assert_int_equal(value(&b, "job", "task_clock"), 14);
    int before = made_count;
    process(200, 1, 0); // whatever joins is in: nothing is opened for it
    pid_t both[2] = {100, 200};
    job.pids = both;
    job.pid_count = 2;
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(made_count, before);
    close_source(&b);
    assert_int_equal(opened, 0);
}

static void without_the_right_to_groups(void **state)
{
    (void)state;
    bench b;
    pid_t pid = 100;
    sources_job job = {.pids = &pid, .pid_count = 1, .cgroup = "slurm/job_17", .perf = "cycles"};
    process(100, 1, 0);
    put_groups("cgroup", "rw,perf_event");
    deny_groups = true;
    open_source(&b, "perf", root, &job);
    assert_string_equal(fact(&b, "job", "counted_by"),
                        "by process, with what it starts; by control group it takes CAP_PERFMON or "
                        "/proc/sys/kernel/perf_event_paranoid of 0 or less: it is 2");
    assert_int_equal(count_of(100), 1);
    assert_int_equal(value(&b, "job", "cycles"), 0);
    close_source(&b);
    assert_int_equal(opened, 0);
    deny_groups = false;
    job.cgroup = "slurm/job_18"; // not there
    open_source(&b, "perf", root, &job);
    assert_string_equal(fact(&b, "job", "counted_by"),
                        "by process, with what it starts; not by control group: No such file or directory");
    close_source(&b);
}

// ---- memory controllers ----

static void put_imc(const char *pmu)
{
    static const char *const files[][2] = {{"type", "14\n"},
                                           {"cpumask", "0,28\n"},
                                           {"format/event", "config:0-7\n"},
                                           {"format/umask", "config:8-15\n"},
                                           {"events/cas_count_read", "event=0x04,umask=0x03\n"},
                                           {"events/cas_count_read.scale", "6.103515625e-5\n"},
                                           {"events/cas_count_read.unit", "MiB\n"},
                                           {"events/cas_count_write", "event=0x04,umask=0x0c\n"},
                                           {"events/cas_count_write.scale", "6.103515625e-5\n"},
                                           {"events/cas_count_write.unit", "MiB\n"},
                                           {"events/clockticks", "event=0xff\n"}};
    char path[128];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, PMU("%s/%s"), pmu, files[i][0]);
        put(path, files[i][1]);
    }
}

static void bytes_of_memory_controllers(void **state)
{
    (void)state;
    bench b;
    put("/sys/devices/system/cpu/online", "0\n");
    put_imc("uncore_imc_0");
    put_imc("uncore_imc_3");
    put(PMU("uncore_imc_free_running_0/type"), "20\n"); // would tell of the same bytes once more
    put(PMU("uncore_imc_free_running_0/events/data_read"), "config=0x10ff\n");
    put(PMU("uncore_cha_0/type"), "30\n");
    open_source(&b, "perf", root, &nobody);
    assert_int_equal(b.s.schema->device_count, 3);
    int found = 0;
    for (int i = 0; i < made_count; i++) {
        if (made[i].attr.type != 14) continue;
        found++;
        assert_true(made[i].attr.config == 0x0304 || made[i].attr.config == 0x0c04);
        assert_true(made[i].cpu == 0 || made[i].cpu == 28);
        if (made[i].attr.config == 0x0304) made[i].count = made[i].cpu == 28 ? 1000 : 500;
        made[i].enabled = made[i].running = 10;
    }
    assert_int_equal(found, 8);
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "uncore_imc_0", "cas_count_read"),
                     1500 * 64); // 6.1e-5 MiB is a line of 64 bytes
    assert_int_equal(value(&b, "uncore_imc_3", "cas_count_read"), 1500 * 64);
    assert_int_equal(value(&b, "uncore_imc_3", "cas_count_write"), 0);
    check_catalog(&b);
    assert_string_equal(b.s.schema->counters[index_of(&b, "uncore_imc_0", "cas_count_read")].unit, "bytes");
    close_source(&b);

    deny_all = true;
    sources_job job = {.perf = "memory"};
    open_source(&b, "perf", root, &job);
    assert_null(device_of(&b, "uncore_imc_0"));
    close_source(&b);
}

static emit *captured; // the emit of a walk, for the functions below

static void capture(void *state, emit *e)
{
    (void)state;
    captured = e;
}

// Formats whose places are apart, as of AMD's.
static void terms_of_descriptions(void **state)
{
    (void)state;
    static const emit_source source = {.name = "capture", .size = 1, .walk = capture};
    netprof_config config = NETPROF_ZERO;
    netprof *np;
    perf_event x = {.scale = 1};
    config.sources = "none";
    config.root = root;
    assert_int_equal(netprof_open(&np, &config, NULL), NETPROF_ERR_NOSOURCE);
    assert_int_equal(emit_add(np, &source, NULL, NULL), NETPROF_OK);
    put(PMU("amd_df/type"), "11\n");
    put(PMU("amd_df/format/event"), "config:0-7,32-35,59-60\n");
    put(PMU("amd_df/format/umask"), "config:8-15\n");
    assert_int_equal(perf_describe(&x, captured, "amd_df", "event=0x1c7,umask=0x38"), 0);
    assert_int_equal(x.attr.type, 11);
    assert_true(x.attr.config == (UINT64_C(1) << 32 | 0x38c7));
    put(PMU("amd_umc_1/type"), "12\n");
    put(PMU("amd_umc_1/format/event"), "config:0-7\n");
    put(PMU("amd_umc_1/format/rdwrmask"), "config:8-9\n");
    assert_int_equal(perf_describe(&x, captured, "amd_umc_1", "event=0x0a,rdwrmask=0x2"), 0);
    assert_int_equal(x.attr.config, 0x20a);
    put(PMU("cpu/type"), "4\n");
    put(PMU("cpu/format/ldlat"), "config1:0-15\n");
    put(PMU("cpu/format/edge"), "config:18\n");
    put(PMU("cpu/events/mem-loads"), "config=0x1cd,ldlat=3,edge\n");
    assert_int_equal(perf_describe(&x, captured, "cpu", "mem-loads"), 0);
    assert_int_equal(x.attr.config, 0x401cd);
    assert_int_equal(x.attr.config1, 3);
    // What is not described, or leads out of the directory.
    assert_int_equal(perf_describe(&x, captured, "cpu", "nonsense=1"), ENOENT);
    assert_int_equal(perf_describe(&x, captured, "cpu", "event=zwei"), ENOENT);
    assert_int_equal(perf_describe(&x, captured, "none", "event=1"), ENOENT);
    assert_int_equal(perf_describe(&x, captured, "../cpu", "edge"), ENOENT);
    netprof_close(np);
}

// ---- names ----

static void lists_of_names(void **state)
{
    (void)state;
    static const char *const good[] = {"cycles",
                                       "cache-misses,L1-dcache-load-misses",
                                       "r1a2",
                                       "default,stalls",
                                       "FLOPS",
                                       "cpu/event=0x3c,umask=1/,cs",
                                       "hardware,software"};
    static const char *const bad[] = {"cykles", "cycles,", "", "cpu/", "r", "../x/y/", "cycles cycles"};
    char text[128];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!perf_check(good[i], text, sizeof text)) fail_msg("%s: %s", good[i], text);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (perf_check(bad[i], text, sizeof text)) fail_msg("'%s' was accepted", bad[i]);
        assert_non_null(strstr(text, "no such event"));
    }
    perf_events events;
    assert_true(perf_choose(&events, NULL, "LLC-load-misses,cycles,cycles,dTLB_stores", text, sizeof text));
    assert_int_equal(events.count, 3); // one of each
    assert_string_equal(events.items[0].name, "LLC_load_misses");
    assert_int_equal(events.items[0].attr.type, PERF_TYPE_HW_CACHE);
    assert_int_equal(events.items[0].attr.config, 0x10002);
    assert_int_equal(events.items[2].attr.config, 0x00103);
    free(events.items);

    sources_job job = {.perf = "cykles"};
    netprof_config config = NETPROF_ZERO;
    netprof_error error;
    netprof *np;
    config.sources = "none";
    assert_int_equal(netprof_open(&np, &config, NULL), NETPROF_ERR_NOSOURCE);
    assert_int_equal(sources_find("perf")->add(np, &job, &error), NETPROF_ERR_ARG);
    assert_string_equal(error.text, "cykles: no such event or group here");
    netprof_close(np);
}

// What the groups name, and what each processor has of them.
static void names_are_in_the_catalog(void **state)
{
    (void)state;
    bench b;
    const perf_row *r;
    sources_job job = {.perf = "hardware,software,stalls,cache,LLC-store-misses,L1-dcache-prefetches,minor-"
                               "faults,bus-cycles,memory"};
    put("/sys/devices/system/cpu/online", "0\n");
    open_source(&b, "perf", root, &job);
    assert_true(b.s.schema->counter_count > 20);
    check_catalog(&b);
    close_source(&b);
    for (size_t i = 0; (r = perf_row_at(i)); i++) {
        const catalog_entry *e = catalog_find("perf", r->name);
        if (!e || strcmp(e->unit, r->unit) != 0) fail_msg("%s", r->name);
    }
}

// Without libpfm4 a group is said to be unknown. In a process of its own: the library is looked for once.
static void without_libpfm4(void **state)
{
    (void)state;
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        perf_events events;
        char text[128];
        perf_libpfm = "libnetprof-there-is-none.so";
        bool good = perf_choose(&events, NULL, "cycles,flops", text, sizeof text) && events.count == 1 &&
                    strcmp(events.notes, "flops: libpfm4 is not installed") == 0 &&
                    perf_check("EVENT:UMASK", text, sizeof text) && !perf_check("EVENT", text, sizeof text);
        free(events.items);
        _exit(good ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

// Older ones do not know the processors that came after them; each of these has one of the cycles.
static bool libpfm4_knows(const char *processor)
{
    static const char *const cycles[] = {"UNHALTED_CORE_CYCLES", "CYCLES_NOT_IN_HALT", "CPU_CLK_UNHALTED"};
    struct perf_event_attr attr = {0};
    char full[320];
    for (size_t i = 0; i < sizeof cycles / sizeof *cycles; i++) {
        snprintf(full, sizeof full, "%s::%s", processor, cycles[i]);
        if (!perf_encode(&attr, full)) return true;
    }
    return false;
}

// Every row of the tables is an event that libpfm4 knows on that processor; codes as in the vendors' manuals.
static void rows_that_libpfm4_knows(void **state)
{
    (void)state;
    static const struct {
        const char *processor, *name;
        uint64_t config, config1;
    } manual[] = {{"skx", "flops_double_scalar", 0x01c7, 0},
                  {"icx", "flops_single_512", 0x80c7, 0},
                  {"spr", "flops_double_256", 0x10c7, 0},
                  {"snb_ep", "flops_double_128", 0x1010, 0},
                  {"snb", "flops_single_256", 0x0111, 0},
                  {"amd64_fam17h_zen1", "flops_double", 0xf003, 0},
                  {"amd64_fam17h_zen2", "flops_all", 0x0f03, 0},
                  {"hsw_ep", "l2_misses", 0x3f24, 0},
                  {"amd64_fam19h_zen3", "memory_fill_bytes", 0x4844, 0}};
    size_t matched = 0, tried = 0;
    const perf_row *r;
    struct perf_event_attr attr = {0};
    if (perf_encode(&attr, "PERF_COUNT_SW_TASK_CLOCK") == ELIBACC) skip();
    for (size_t i = 0; (r = perf_row_at(i)); i++) {
        char copy[256], full[320], *at = copy;
        snprintf(copy, sizeof copy, "%s", r->microarchitectures);
        for (char *processor; (processor = strsep(&at, " "));) {
            if (strncmp(processor, "arm_", 4) == 0) continue; // raw codes; libpfm4 of this machine knows x86 alone
            snprintf(full, sizeof full, "%s::%s", processor, r->event);
            if (!libpfm4_knows(processor)) continue;
            if (perf_encode(&attr, full)) {
                // libpfm4 before 4.12 knows little of this processor's memory; it knows no younger processor either.
                if (strcmp(processor, "icx") == 0 && !libpfm4_knows("spr")) continue;
                fail_msg("%s: unknown", full);
            }
            tried++;
            for (size_t k = 0; k < sizeof manual / sizeof *manual; k++) {
                if (strcmp(manual[k].processor, processor) != 0 || strcmp(manual[k].name, r->name) != 0) continue;
                matched++;
                if (attr.config != manual[k].config) fail_msg("%s: %llx", full, (unsigned long long)attr.config);
            }
        }
    }
    assert_true(tried > 100);
    for (size_t k = 0; k < sizeof manual / sizeof *manual; k++)
        matched += !libpfm4_knows(manual[k].processor);
    assert_int_equal(matched, sizeof manual / sizeof *manual);
    assert_true(libpfm4_knows("skx") && libpfm4_knows("amd64_fam17h_zen2"));
}

// ---- this machine's kernel ----

enum { PAGES = 2000, NAPS = 60, MOVES = 20 };

__attribute__((no_sanitize("address", "thread"))) static void touch(size_t pages)
{
    size_t size = pages * 4096;
    volatile char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) _exit(1);
    madvise((void *)(uintptr_t)p, size, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < size; i += 4096)
        p[i] = 1;
    munmap((void *)(uintptr_t)p, size);
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void burn(double seconds)
{
    for (double begun = cpu_seconds(); cpu_seconds() < begun + seconds;)
        for (volatile int i = 0; i < 100000; i++)
            continue;
}

static int allowed_cpus(int *two)
{
    cpu_set_t set;
    int n = 0;
    sched_getaffinity(0, sizeof set, &set);
    for (size_t i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set) && n++ < 2) two[n - 1] = (int)i;
    return n;
}

// What the program does that is counted: known pages, sleeps, moves and CPU time, a part of it in a child.
static int known_work(void)
{
    int cpus[2], count = allowed_cpus(cpus);
    pid_t child = fork();
    if (child == 0) {
        touch(PAGES);
        burn(0.05);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    touch(PAGES);
    for (int i = 0; i < NAPS; i++)
        usleep(100);
    for (int i = 0; i < MOVES && count > 1; i++) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET((size_t)cpus[i % 2], &one);
        sched_setaffinity(0, sizeof one, &one);
    }
    burn(0.05);
    return 0;
}

static bool no_events(const bench *b)
{
    if (status_of(b, "job", "task_clock") == NETPROF_STATUS_OK) return false;
    print_message("    no events here: errno %d\n", b->s.errnos[index_of(b, "job", "task_clock")]);
    return true;
}

// What a host took from this virtual machine and what interrupts took (proc(5), "steal", "irq", "softirq"). The account
// of a process leaves out the first and, on kernels with CONFIG_IRQ_TIME_ACCOUNTING, the others; the clock of events
// does not.
enum { COLUMNS_TAKEN = 3 };

static double tick_ns(void)
{
    return 1e9 / (double)sysconf(_SC_CLK_TCK);
}

static double taken_ns(void)
{
    unsigned long long irq = 0, softirq = 0, steal = 0;
    FILE *file = fopen("/proc/stat", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "cpu %*u %*u %*u %*u %*u %llu %llu %llu", &irq, &softirq, &steal), COLUMNS_TAKEN);
    fclose(file);
    return tick_ns() * (double)(irq + softirq + steal);
}

// A command from its first instruction to its last, children included, beside what the kernel accounts of it.
static void a_command_and_its_children(void **state)
{
    double taken = taken_ns();
    (void)state;
    bench b;
    pid_t pid = 0;
    sources_job job = {.pids = &pid, .expected = true, .perf = "software"};
    struct rusage use;
    int cpus[2];
    open_source(&b, "perf", NULL, &job);
    if (no_events(&b)) {
        close_source(&b);
        skip();
    }
    touch(500); // this process's own do not count
    again(&b, NETPROF_SET_ALL);
    assert_int_equal(value(&b, "job", "page_faults"), 0);
    assert_int_equal(value(&b, "job", "task_clock"), 0);
    pid = fork();
    if (pid == 0) {
        execl("/proc/self/exe", "known-work", (char *)NULL);
        _exit(127);
    }
    job.pid_count = 1;
    siginfo_t ended = {0};
    do { // read while it runs, and behind its end
        again(&b, NETPROF_SET_ALL);
        usleep(3000);
        assert_int_equal(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT), 0);
    } while (ended.si_pid != pid);
    assert_int_equal(wait4(pid, NULL, 0, &use), pid);
    again(&b, NETPROF_SET_ALL);
    uint64_t faults = (uint64_t)(use.ru_minflt + use.ru_majflt), switches = (uint64_t)(use.ru_nvcsw + use.ru_nivcsw);
    double cpu_ns = 1e9 * (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
                    1e3 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
    print_message("    page faults %llu of %llu, switches of %llu, CPU %.3f of %.3f ms\n",
                  (unsigned long long)value(&b, "job", "page_faults"), (unsigned long long)faults,
                  (unsigned long long)switches, (double)value(&b, "job", "task_clock") / 1e6, cpu_ns / 1e6);
    assert_in_range(value(&b, "job", "page_faults"), 2 * PAGES, faults);
    if (strcmp(fact(&b, "job", "counted"), "user code only") == 0) {
        assert_int_equal(status_of(&b, "job", "context_switches"), NETPROF_STATUS_DENIED);
    } else {
        assert_in_range(value(&b, "job", "context_switches"), NAPS, switches);
        if (allowed_cpus(cpus) > 1) assert_true(value(&b, "job", "cpu_migrations") >= MOVES - 1);
    }
    // The kernel's account begins at fork() and ends a moment later.
    assert_true((double)value(&b, "job", "task_clock") >= 0.1e9);
    taken = taken_ns() - taken + COLUMNS_TAKEN * tick_ns(); // each column is cut off to ticks
    assert_true((double)value(&b, "job", "task_clock") <= cpu_ns + 1e6 + taken);
    close_source(&b);
}

static int gate[2], waiting[2]; // who waits says so first

static void wait_for_gate(void)
{
    char c = 0;
    if (write(waiting[1], &c, 1) != 1 || read(gate[0], &c, 1) != 1) _exit(1);
}

static void *thread_work(void *unused)
{
    wait_for_gate();
    touch(PAGES);
    return unused;
}

// A process that runs already: a thread, a child, and later a child of its own.
static void standing_work(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, thread_work, NULL)) _exit(1);
    pid_t child = fork();
    if (child == 0) {
        wait_for_gate();
        touch(PAGES);
        _exit(0);
    }
    wait_for_gate();
    pthread_join(thread, NULL);
    pid_t later = fork();
    if (later == 0) {
        touch(PAGES);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    waitpid(later, NULL, 0);
    touch(PAGES);
    _exit(0);
}

static void a_process_that_runs_already(void **state)
{
    (void)state;
    bench b;
    int status;
    assert_int_equal(pipe(gate), 0);
    assert_int_equal(pipe(waiting), 0);
    pid_t pid = fork();
    if (pid == 0) standing_work();
    close(waiting[1]); // else a reader would wait for one that ended
    sources_job job = {.pids = &pid, .pid_count = 1, .perf = "page_faults,task_clock"};
    for (int i = 0; i < 3; i++) {
        char c;
        assert_int_equal(read(waiting[0], &c, 1), 1);
    }
    open_source(&b, "perf", NULL, &job);
    bool none = no_events(&b);
    assert_int_equal(write(gate[1], "abc", 3), 3);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    again(&b, NETPROF_SET_ALL);
    if (!none) {
        print_message("    page faults %llu\n", (unsigned long long)value(&b, "job", "page_faults"));
        assert_in_range(value(&b, "job", "page_faults"), 4 * PAGES, 4 * PAGES + PAGES / 2);
    }
    close_source(&b);
    close(gate[0]);
    close(gate[1]);
    close(waiting[0]);
    if (none) skip();
}

static void cost(void **state)
{
    (void)state;
    bench b;
    pid_t pid = getpid();
    sources_job job = {.pids = &pid, .pid_count = 1, .perf = "software"};
    struct timespec t[2];
    enum { READINGS = 2000 };
    open_source(&b, "perf", NULL, &job);
    clock_gettime(CLOCK_MONOTONIC, &t[0]);
    for (int i = 0; i < READINGS; i++)
        again(&b, NETPROF_SET_ALL);
    clock_gettime(CLOCK_MONOTONIC, &t[1]);
    print_message("    a reading of four software events of one thread: %.2f us\n",
                  ((double)(t[1].tv_sec - t[0].tv_sec) * 1e9 + (double)(t[1].tv_nsec - t[0].tv_nsec)) / READINGS / 1e3);
    close_source(&b);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_libpfm4), // before the library is loaded here
        cmocka_unit_test_setup_teardown(multiplexed_counts_are_scaled, begin, end),
        cmocka_unit_test_setup_teardown(events_that_do_not_fit_together, begin, end),
        cmocka_unit_test_setup_teardown(kernels_without_inherited_groups, begin, end),
        cmocka_unit_test_setup_teardown(threads_children_and_those_that_join, begin, end),
        cmocka_unit_test_setup_teardown(a_thread_too_many, begin, end),
        cmocka_unit_test_setup_teardown(without_the_kernels_part, begin, end),
        cmocka_unit_test_setup_teardown(nothing_is_allowed, begin, end),
        cmocka_unit_test_setup_teardown(every_cpu_of_a_node, begin, end),
        cmocka_unit_test_setup_teardown(a_saved_tree_holds_no_events, begin, end),
        cmocka_unit_test_setup_teardown(a_thread_moves_between_kinds_of_cores, begin, end),
        cmocka_unit_test_setup_teardown(an_event_of_one_kind_alone, begin, end),
        cmocka_unit_test_setup_teardown(a_node_with_kinds_of_cores, begin, end),
        cmocka_unit_test_setup_teardown(lists_of_many_cpus, begin, end),
        cmocka_unit_test_setup_teardown(kinds_of_arm, begin, end),
        cmocka_unit_test_setup_teardown(one_kind_of_cores, begin, end),
        cmocka_unit_test_setup_teardown(a_job_by_its_control_group, begin, end),
        cmocka_unit_test_setup_teardown(without_the_right_to_groups, begin, end),
        cmocka_unit_test_setup_teardown(bytes_of_memory_controllers, begin, end),
        cmocka_unit_test_setup_teardown(terms_of_descriptions, begin, end),
        cmocka_unit_test_setup_teardown(names_are_in_the_catalog, begin, end),
        cmocka_unit_test(lists_of_names),
        cmocka_unit_test(rows_that_libpfm4_knows),
        cmocka_unit_test(a_command_and_its_children),
        cmocka_unit_test(a_process_that_runs_already),
        cmocka_unit_test(cost),
    };
    if (argc > 0 && strcmp(argv[0], "known-work") == 0) return known_work();
    setenv("LIBPFM_ENCODE_INACTIVE", "1", 1); // events of other processors than this one
    return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
