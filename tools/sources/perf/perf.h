// Performance events of the kernel (perf_event_open(2)): which there are, and counting them on threads or CPUs.
#ifndef TOOLS_SOURCES_PERF_H
#define TOOLS_SOURCES_PERF_H

#include "sources/cpulist.h"
#include "sources/emit.h"

#include <linux/perf_event.h>
#include <sys/types.h>

// ---- what is counted ----

enum { PERF_NAME = 64, PERF_NO_SET = -1 };

typedef struct perf_event {
    char name[PERF_NAME];        // of the counter
    struct perf_event_attr attr; // type and config, config1, config2
    bool needs_kernel;           // happens in the kernel alone: without it there would be a false 0
    double scale;                // a count times this is in the shape's unit
    emit_shape shape;
    int error; // errno: it cannot be counted here
    // of counting
    int set; // or PERF_NO_SET
    uint64_t raw, last_raw, total;
} perf_event;

typedef struct perf_events {
    perf_event *items;
    size_t count;
    char notes[256]; // groups of which nothing is known for this processor, and why
    bool uncore;     // memory controllers are asked for, too
} perf_events;

// A comma list of events and groups; NULL: the usual ones. An event is a name of the kernel's generic ones with '_'
// or '-', "r1a2" (a raw code), "pmu/terms/" by the descriptions in sysfs, or as libpfm4 writes it ("skx::EVENT:UMASK").
// False: text says what is wrong. Free items.
bool perf_choose(perf_events *events, const emit *e, const char *list, char *text, size_t size);
// Is the list one that perf_choose() can take? What only sysfs knows is taken for granted.
bool perf_check(const char *list, char *text, size_t size);
// Fills attr from "event=0x3,umask=0x1", or the name of a described event, optionally followed by other terms; scale
// and unit where they are described. An errno; ENOENT: there is no such description.
int perf_describe(perf_event *event, const emit *e, const char *pmu, const char *terms);
// By libpfm4. An errno: ENOENT it does not know the event, ELIBACC there is no libpfm4.
int perf_encode(struct perf_event_attr *attr, const char *event);
// Name of the processor's microarchitecture in libpfm4's words; "" when it is not known.
const char *perf_microarchitecture(void);

// Rows of the groups that differ from processor to processor, ending in NULL.
typedef struct perf_row {
    const char *group;              // "flops"
    const char *microarchitectures; // libpfm4's names, by blanks
    const char *name;               // of the counter
    const char *event;              // libpfm4's, or a raw code
    unsigned multiply;              // one event is so many of the unit
    const char *unit;
} perf_row;
const perf_row *perf_row_at(size_t index);
extern const char *perf_libpfm; // the library's file name; a test changes it

// Memory controllers and the like: counted for the node. Calls visit() for each event of each of them.
void perf_uncore(const emit *e, void (*visit)(void *user, const char *pmu, const perf_event *event), void *user);

// ---- counting ----

// The system calls; a test puts its own here.
typedef struct perf_system {
    int (*open)(struct perf_event_attr *attr, pid_t pid, int cpu, int group, unsigned long flags);
    ssize_t (*read)(int fd, void *to, size_t size);
    int (*close)(int fd);
} perf_system;
extern const perf_system perf_kernel;
extern const perf_system *perf_calls;

// Events that are counted in the same moments: a group of the kernel.
typedef struct perf_set {
    size_t events[8];
    size_t count;
    bool software;
    int error; // of the last reading
    uint64_t enabled, running, last_enabled, last_running;
} perf_set;

typedef struct perf_target {
    pid_t pid;    // of a thread; -1: everything on the CPU
    int cpu;      // -1: wherever the thread runs
    bool on_exec; // counting begins when a child of the thread executes a program
    bool group;   // pid is the descriptor of a control group's directory
    int *fds;     // of each event; -1
} perf_target;

// Start from {0} with the events; perf_counting_close() at the end.
typedef struct perf_counting {
    perf_event *events;
    size_t event_count;
    perf_set *sets;
    size_t set_count;
    perf_target *targets;
    size_t target_count;
    bool laid_out;  // the first target decided which events form which set
    bool alone;     // an old kernel: no groups of events that children inherit
    bool user_only; // the kernel's part is not allowed
    bool unscaled;  // counts as they are: somebody else knows how long was counted
    const char *on; // kind of cores, for the names of the sets; NULL
} perf_counting;

// Adds a target. An errno when none of the events can be counted on it; ESRCH: the thread has ended.
int perf_counting_add(perf_counting *c, pid_t pid, int cpu, bool on_exec);
// The same for the processes of a control group, on one CPU.
int perf_counting_add_group(perf_counting *c, int directory, int cpu);
// Reads everything; total and error of the events hold the result.
void perf_counting_read(perf_counting *c, bool fast_only);
// The values, and the time of each set that shares the hardware.
void perf_counting_tell(const perf_counting *c, emit *e);
// The times alone; of what is not scaled only how long it ran.
void perf_counting_tell_times(const perf_counting *c, emit *e);
uint64_t perf_in_unit(const perf_event *x); // the total
void perf_counting_facts(const perf_counting *c, emit *e);
bool perf_counting_works(const perf_counting *c, int *sys_errno); // any event; else why not
void perf_counting_close(perf_counting *c);

// ---- processors with several kinds of cores ----

// Each kind has a PMU of its own; a thread counts on the one where it runs.
typedef struct perf_core_kind {
    char pmu[PERF_NAME];
    char *cpus_text; // as the kernel writes them
    cpulist cpus;
    uint32_t type;
    perf_counting counting; // the first total_count events are those of the totals
    struct perf_core_part {
        uint64_t count, enabled, running, sum;
    } * parts;    // of each event: at the last reading, and so far
    uint64_t ran; // in this reading, at most
} perf_core_kind;

typedef struct perf_cores {
    perf_core_kind *kinds;
    size_t kind_count;
    perf_event *totals; // over all kinds
    size_t total_count;
    bool by_task;
    uint64_t enabled, running; // by_task: ns, summed over the events; running on any kind
    char notes[192];
} perf_cores;

// Takes the events of cores out of the list when the processor has several kinds of them; else nothing is taken.
void perf_cores_split(perf_cores *k, const emit *e, perf_events *events);
// As perf_counting_add(), but events that cannot be counted anywhere are no error: each reports that by its own status.
int perf_counting_add_task(perf_counting *c, pid_t pid, bool on_exec);
int perf_cores_add_task(perf_cores *k, pid_t pid, bool on_exec);
// A CPU of the node, or of a control group (directory >= 0); only the kind that the CPU is of counts there.
int perf_cores_add_cpu(perf_cores *k, int directory, int cpu);
void perf_cores_read(perf_cores *k, bool fast_only);
void perf_cores_tell(const perf_cores *k, emit *e);
void perf_cores_facts(const perf_cores *k, emit *e);
bool perf_cores_works(const perf_cores *k, int *sys_errno);
// The job's sum lacks a thread: no number.
void perf_cores_spoil(perf_cores *k, int sys_errno);
void perf_cores_close(perf_cores *k);

#endif
