// Performance events of the job's processes, or of the whole node where there is no job, and of memory controllers.
//
// Each event is opened once and inherited by what a thread starts later, so a process that ends leaves its counts
// behind, and nothing is opened anew while the job runs. A command that is started here is counted from its first
// instruction on. Of processes that run already, each thread is opened; a thread that starts in just that moment may
// be missed. Processes that join the job from elsewhere (a job step) are opened when they are listed.
#define _GNU_SOURCE
#include "perf.h"
#include "sources/cgroup.h"
#include "sources/sources_makers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

typedef struct uncore_unit {
    char pmu[PERF_NAME];
    perf_counting counting;
    bool denied;
} uncore_unit;

typedef struct perf_state {
    const sources_job *job;
    char *list; // what is asked for, or NULL
    perf_counting counting;
    perf_cores cores; // what is counted by kinds of cores, where there are several
    int group;        // directory of the job's control group, when it is counted; -1
    char way[256];    // how the job is counted
    uncore_unit *units;
    size_t unit_count;
    pid_t *known;                           // processes that are counted: opened, or children of such
    size_t known_count, known_room, listed; // listed: of the job's when it was looked at last
    char notes[256], paranoid[32];
    int trouble; // errno: a thread of the job is not counted
    bool open;
} perf_state;

// ---- processes ----

static bool perf_is_known(const perf_state *s, size_t from, pid_t pid)
{
    for (size_t i = from; i < s->known_count; i++)
        if (s->known[i] == pid) return true;
    return false;
}

static bool perf_know(perf_state *s, pid_t pid)
{
    if (s->known_count == s->known_room) {
        size_t room = s->known_room ? 2 * s->known_room : 64;
        pid_t *longer = realloc(s->known, room * sizeof *longer);
        if (!longer) return false;
        s->known = longer;
        s->known_room = room;
    }
    s->known[s->known_count++] = pid;
    return true;
}

// An event that cannot be counted reports that by its own status; only reasons that keep a thread out of the sums count
// here.
static int perf_open_task(perf_state *s, pid_t tid, bool on_exec)
{
    int error = perf_counting_add_task(&s->counting, tid, on_exec);
    int cores = s->cores.kind_count && error != ESRCH ? perf_cores_add_task(&s->cores, tid, on_exec) : 0;
    return error ? error : cores;
}

typedef struct thread_visit {
    perf_state *s;
    pid_t pid;
} thread_visit;

static void perf_found_thread(void *user, const char *name)
{
    perf_state *s = ((thread_visit *)user)->s;
    pid_t tid = (pid_t)strtol(name, NULL, 10);
    int error = tid > 0 ? perf_open_task(s, tid, false) : 0;
    if (error && error != ESRCH) s->trouble = error;
}

static void perf_open_threads(perf_state *s, const emit *e, pid_t pid)
{
    thread_visit visit = {s, pid};
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    emit_directory(e, path, perf_found_thread, &visit);
}

typedef struct family {
    perf_state *s;
    const emit *e;
    size_t from; // the known ones from here on are the parents
    size_t found;
} family;

static void perf_found_process(void *user, const char *name)
{
    family *f = user;
    pid_t pid = (pid_t)strtol(name, NULL, 10);
    if (pid <= 0 || pid == getpid() || perf_is_known(f->s, 0, pid) ||
        !perf_is_known(f->s, f->from, emit_process_parent(f->e, pid)))
        return;
    f->found++;
    if (!perf_know(f->s, pid)) f->s->trouble = ENOMEM;
}

// All that descends from processes that are known, generation by generation.
static void perf_know_family(perf_state *s, const emit *e, size_t from)
{
    family f = {s, e, from, 1};
    while (f.found && !s->trouble) {
        f.found = 0;
        emit_directory(e, "/proc", perf_found_process, &f);
    }
}

// Processes that the job has got since the last look. A child of one that is counted is counted by inheritance; all
// are listed before the first is opened, so that a child which starts meanwhile is not counted twice.
static void perf_open_new(perf_state *s, const emit *e)
{
    if (s->listed == s->job->pid_count) return;
    s->listed = s->job->pid_count;
    if (s->known_count) perf_know_family(s, e, 0);
    size_t from = s->known_count;
    for (size_t i = 0; i < s->job->pid_count; i++)
        if (!perf_is_known(s, 0, s->job->pids[i]) && !perf_know(s, s->job->pids[i])) s->trouble = ENOMEM;
    if (from == s->known_count) return;
    perf_know_family(s, e, from);
    for (size_t i = from; i < s->known_count; i++)
        perf_open_threads(s, e, s->known[i]);
}

// ---- opening ----

static void perf_visit_cpus(const cpulist *set, void (*visit)(void *user, int cpu), void *user)
{
    for (int cpu = 0; cpu < CPULIST_MOST; cpu++)
        if (cpulist_has(set, (size_t)cpu)) visit(user, cpu);
}

static void perf_add_cpu(void *user, int cpu)
{
    perf_counting_add(user, -1, cpu, false);
}

static void perf_add_node_cpu(void *user, int cpu)
{
    perf_state *s = user;
    if (s->counting.event_count) perf_counting_add(&s->counting, -1, cpu, false);
    perf_cores_add_cpu(&s->cores, -1, cpu);
}

static void perf_add_group_cpu(void *user, int cpu)
{
    perf_state *s = user;
    int error = s->counting.event_count ? perf_counting_add_group(&s->counting, s->group, cpu) : 0, unused;
    if (error && perf_counting_works(&s->counting, &unused)) s->trouble = error; // one CPU of several
    error = perf_cores_add_cpu(&s->cores, s->group, cpu);
    if (error && perf_cores_works(&s->cores, &unused)) s->trouble = error;
}

// Of a file; where it does not say, the first.
static cpulist perf_cpus_in(const emit *e, const char *path)
{
    cpulist set = {0};
    cpulist_add_file(&set, e, path);
    if (!cpulist_count(&set)) cpulist_add_text(&set, "0");
    return set;
}

static cpulist perf_online_cpus(const emit *e)
{
    return perf_cpus_in(e, "/sys/devices/system/cpu/online");
}

// A CPU's clock of tasks runs on while the CPU is idle: of a node it says nothing.
static void perf_drop_clocks(perf_counting *c)
{
    size_t kept = 0;
    for (size_t i = 0; i < c->event_count; i++) {
        const struct perf_event_attr *a = &c->events[i].attr;
        bool clock = a->type == PERF_TYPE_SOFTWARE &&
                     (a->config == PERF_COUNT_SW_TASK_CLOCK || a->config == PERF_COUNT_SW_CPU_CLOCK);
        if (!clock) c->events[kept++] = c->events[i];
    }
    c->event_count = kept;
}

static void perf_open_node(perf_state *s, const emit *e)
{
    const cpulist online = perf_online_cpus(e);
    perf_drop_clocks(&s->counting);
    perf_visit_cpus(&online, perf_add_node_cpu, s);
}

// ---- a control group ----

static int perf_open_group(const perf_state *s, const emit *e)
{
    const char *group = s->job->cgroup;
    char *mount = cgroup_mount(e, "perf_event"), *path = NULL;
    if (!mount) mount = cgroup_mount(e, NULL);
    if (!mount || asprintf(&path, "%s%s%s%s", emit_root(e), mount, *group == '/' ? "" : "/", group) < 0) path = NULL;
    int directory = path ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1, error = path ? errno : ENOENT;
    free(mount);
    free(path);
    errno = error;
    return directory;
}

// Whether the kernel lets this program count a control group; an errno. Any event that works will do.
static int perf_try_group(int directory, const cpulist *online)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CONTEXT_SWITCHES, .size = sizeof attr};
    int cpu = 0;
    while (!cpulist_has(online, (size_t)cpu))
        cpu++; // there is one
    int fd = perf_calls->open(&attr, directory, cpu, -1, PERF_FLAG_FD_CLOEXEC | PERF_FLAG_PID_CGROUP);
    if (fd < 0) return errno;
    perf_calls->close(fd);
    return 0;
}

static bool perf_has_tasks(const perf_state *s)
{
    return s->job->pid_count || s->job->expected;
}

static void perf_say_way(perf_state *s, int error)
{
    const char *tasks = perf_has_tasks(s) ? "by process, with what it starts" : "the whole node";
    if (error == EACCES || error == EPERM)
        snprintf(s->way, sizeof s->way,
                 "%s; by control group it takes CAP_PERFMON or " PARANOID " of 0 or less: it is %.20s", tasks,
                 s->paranoid);
    else
        snprintf(s->way, sizeof s->way, "%s; not by control group: %.100s", tasks, strerror(error));
}

// Counts the job by its control group: whatever joins it is in, wherever it came from. False: by its processes, then.
static bool perf_open_by_group(perf_state *s, const emit *e)
{
    if (!s->job->cgroup) {
        if (perf_has_tasks(s)) snprintf(s->way, sizeof s->way, "by process, with what it starts");
        return false;
    }
    const cpulist online = perf_online_cpus(e);
    s->group = perf_open_group(s, e);
    int error = s->group < 0 ? errno : perf_try_group(s->group, &online);
    if (error) {
        perf_say_way(s, error);
        if (s->group >= 0) close(s->group);
        s->group = -1;
        return false;
    }
    snprintf(s->way, sizeof s->way, "by control group %.200s", s->job->cgroup);
    perf_visit_cpus(&online, perf_add_group_cpu, s);
    return true;
}

// ---- memory controllers ----

static void perf_found_uncore(void *user, const char *pmu, const perf_event *event)
{
    perf_state *s = user;
    uncore_unit *u = s->unit_count ? &s->units[s->unit_count - 1] : NULL;
    if (!u || strcmp(u->pmu, pmu) != 0) {
        uncore_unit *longer = realloc(s->units, (s->unit_count + 1) * sizeof *longer);
        if (!longer || strlen(pmu) >= sizeof u->pmu) return;
        s->units = longer;
        u = &s->units[s->unit_count++];
        *u = (uncore_unit){0};
        snprintf(u->pmu, sizeof u->pmu, "%s", pmu);
    }
    perf_counting *c = &u->counting;
    perf_event *longer = realloc(c->events, (c->event_count + 1) * sizeof *longer);
    if (!longer) return;
    c->events = longer;
    c->events[c->event_count++] = *event;
}

// Their mask names one CPU for each socket; the counts of all are one device.
static void perf_open_uncore(perf_state *s, const emit *e)
{
    perf_uncore(e, perf_found_uncore, s);
    for (size_t i = 0; i < s->unit_count; i++) {
        uncore_unit *u = &s->units[i];
        char path[sizeof u->pmu + 48];
        int error;
        snprintf(path, sizeof path, "/sys/bus/event_source/devices/%s/cpumask", u->pmu);
        const cpulist mask = perf_cpus_in(e, path);
        perf_visit_cpus(&mask, perf_add_cpu, &u->counting);
        u->denied = !perf_counting_works(&u->counting, &error) && (error == EACCES || error == EPERM);
    }
}

static void perf_open_all(perf_state *s, const emit *e)
{
    perf_events events;
    char text[128];
    if (!emit_read_line(e, s->paranoid, sizeof s->paranoid, PARANOID))
        snprintf(s->paranoid, sizeof s->paranoid, "unknown");
    s->open = true;
    errno = 0;
    if (!perf_choose(&events, e, s->list, text, sizeof text)) {
        if (errno == ENOMEM) s->trouble = ENOMEM;
        free(events.items);
        return;
    }
    snprintf(s->notes, sizeof s->notes, "%s", events.notes);
    bool any = events.count > 0;
    perf_cores_split(&s->cores, e, &events);
    s->counting.events = events.items;
    s->counting.event_count = events.count;
    if (any && perf_open_by_group(s, e)) {
        // all of it, from now on
    } else if (s->job->expected && any) { // what this thread starts from now on, from its first instruction
        int error = perf_open_task(s, 0, true);
        if (error) s->trouble = error;
        perf_know(s, getpid());
    } else if (!perf_has_tasks(s) && any) {
        perf_open_node(s, e);
    }
    if (events.uncore) perf_open_uncore(s, e);
}

// ---- telling ----

static void perf_tell_facts(emit *e, const perf_state *s)
{
    emit_fact(e, "microarchitecture", perf_microarchitecture());
    emit_fact(e, "perf_event_paranoid", s->paranoid);
    emit_fact(e, "not_known", s->notes);
    emit_fact(e, "counted_by", s->way);
    perf_counting_facts(&s->counting, e);
    if (s->cores.kind_count) perf_cores_facts(&s->cores, e);
    for (size_t i = 0; i < s->unit_count; i++)
        if (s->units[i].denied) emit_factf(e, "memory_controllers", "not allowed, " PARANOID " is %s", s->paranoid);
}

static void perf_tell_device(emit *e, perf_state *s, const char *name, unsigned flags)
{
    emit_device(e, name, flags);
    if (emit_lists(e)) perf_tell_facts(e, s);
    perf_counting_tell(&s->counting, e);
    if (s->cores.kind_count) perf_cores_tell(&s->cores, e);
}

static void perf_tell_unit(emit *e, uncore_unit *u)
{
    if (u->denied) return; // reported by a fact, instead of some twenty devices without a value
    emit_device(e, u->pmu, NETPROF_DEVICE_PHYSICAL);
    if (emit_lists(e)) perf_counting_facts(&u->counting, e);
    perf_counting_tell(&u->counting, e);
}

// Nothing at all is counted: why.
static void perf_tell_state(emit *e, const perf_state *s)
{
    char text[160];
    int error;
    int cores_error;
    bool works = perf_counting_works(&s->counting, &error);
    works |= perf_cores_works(&s->cores, &cores_error);
    if (!error) error = cores_error ? cores_error : s->trouble;
    for (size_t i = 0; i < s->unit_count; i++)
        works |= !s->units[i].denied;
    if (works || ((s->counting.event_count || s->cores.kind_count) && !s->counting.target_count && !error))
        return; // the job is yet to come
    if (error == EACCES || error == EPERM)
        snprintf(text, sizeof text, PARANOID " is %s", s->paranoid);
    else
        snprintf(text, sizeof text, "%.150s", *s->notes ? s->notes : "perf_event_open");
    emit_state(e, error ? netprof_status_of_errno(error) : NETPROF_STATUS_ABSENT, error, text);
}

// A part of the job is not in the sums: no number then.
static void perf_spoil(perf_state *s)
{
    for (size_t i = 0; i < s->counting.event_count && s->trouble; i++)
        if (!s->counting.events[i].error) s->counting.events[i].error = s->trouble;
    if (s->trouble) perf_cores_spoil(&s->cores, s->trouble);
}

static void perf_walk(void *state, emit *e)
{
    perf_state *s = state;
    if (*emit_root(e) && perf_calls == &perf_kernel) {
        emit_state(e, NETPROF_STATUS_ABSENT, 0, "another root holds no events");
        return;
    }
    if (!s->open) perf_open_all(s, e);
    bool any = s->counting.event_count || s->cores.kind_count, job = perf_has_tasks(s) || s->group >= 0;
    if (any && job && s->group < 0) perf_open_new(s, e);
    perf_counting_read(&s->counting, emit_fast_only(e));
    perf_cores_read(&s->cores, emit_fast_only(e));
    perf_spoil(s);
    if (any) perf_tell_device(e, s, job ? "job" : "node", job ? NETPROF_DEVICE_VIRTUAL : NETPROF_DEVICE_PHYSICAL);
    for (size_t i = 0; i < s->unit_count; i++) {
        if (!emit_fast_only(e)) perf_counting_read(&s->units[i].counting, false);
        perf_tell_unit(e, &s->units[i]);
    }
    perf_tell_state(e, s);
}

static void perf_close(void *state)
{
    perf_state *s = state;
    perf_counting_close(&s->counting);
    perf_cores_close(&s->cores);
    if (s->group >= 0) close(s->group);
    for (size_t i = 0; i < s->unit_count; i++)
        perf_counting_close(&s->units[i].counting);
    free(s->units);
    free(s->known);
    free(s->list);
}

netprof_err sources_add_perf(netprof *np, const sources_job *job, netprof_error *error)
{
    static const emit_source source = {
        .name = "perf", .size = sizeof(perf_state), .walk = perf_walk, .close = perf_close};
    perf_state state = {.job = job, .group = -1};
    char text[160];
    if (job->perf && !perf_check(job->perf, text, sizeof text)) {
        if (error) {
            *error = (netprof_error){.code = NETPROF_ERR_ARG};
            snprintf(error->text, sizeof error->text, "%s", text);
        }
        return NETPROF_ERR_ARG;
    }
    state.list = job->perf ? strdup(job->perf) : NULL;
    return emit_add(np, &source, &state, error);
}
