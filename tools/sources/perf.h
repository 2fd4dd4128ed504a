// Performance events of the kernel (perf_event_open(2)): which there are, and counting them on threads or CPUs.
#ifndef TOOLS_SOURCES_PERF_H
#define TOOLS_SOURCES_PERF_H

#include "emit.h"

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
// Fills attr from "event=0x3,umask=0x1", or the name of a described event, with other terms behind it or not; scale and unit where they are described.
// An errno; ENOENT: there is no such description.
int perf_describe(perf_event *event, const emit *e, const char *pmu, const char *terms);
// By libpfm4. An errno: ENOENT it does not know the event, ELIBACC there is no libpfm4.
int perf_encode(struct perf_event_attr *attr, const char *event);
// Name of the processor's microarchitecture in libpfm4's words; "" when it is not known.
const char *perf_microarchitecture(void);

// Rows of the groups that differ from processor to processor, NULL behind the last.
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
void perf_uncore(const emit *e, void (*visit)(void *user, const char *pmu, const perf_event *event),
                 void *user);

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
} perf_counting;

// Adds a target. An errno when none of the events can be counted on it; ESRCH: the thread has ended.
int perf_counting_add(perf_counting *c, pid_t pid, int cpu, bool on_exec);
// Reads everything; total and error of the events hold the result.
void perf_counting_read(perf_counting *c, bool fast_only);
// The values, and the time of each set that shares the hardware.
void perf_counting_tell(const perf_counting *c, emit *e);
void perf_counting_facts(const perf_counting *c, emit *e);
bool perf_counting_works(const perf_counting *c, int *sys_errno); // any event; else why not
void perf_counting_close(perf_counting *c);

#endif
