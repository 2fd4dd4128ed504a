// Counting: opening events on threads or CPUs, reading them, scaling.
//
// The kernel gives a hardware counter to several sets of events in turn when there are more than it has: each set then
// ran only a part of the time it was enabled. The difference between two readings is scaled by the times between the
// same readings, summed over all threads, as it is for a single one by the kernel. A set that did not run at all
// between two readings has no value there; its next one covers both intervals.
#define _GNU_SOURCE
#include "perf.h"
#include "sources/shapes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// Few enough for the counters of every processor, of which the kernel's watchdog may hold one.
enum { SET_EVENTS = 4 };
_Static_assert(SET_EVENTS <= sizeof((perf_set *)0)->events / sizeof(size_t), "a set holds its events");

__extension__ typedef unsigned __int128 wide;

static int perf_counting_kernel_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group, unsigned long flags)
{
    return (int)syscall(SYS_perf_event_open, attr, pid, cpu, group, flags);
}

const perf_system perf_kernel = {perf_counting_kernel_open, read, close};
const perf_system *perf_calls = &perf_kernel;

// ---- opening ----

// A job of many threads takes more descriptors than programs have by default. This program has no use for the limit
// that select(2) draws; what it starts inherits the higher one only when it was needed.
static bool perf_counting_raise_limit(void)
{
    static bool tried;
    struct rlimit limit;
    if (tried || getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == limit.rlim_max) return false;
    tried = true;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

static int perf_counting_open_event(const perf_counting *c, const perf_target *t, size_t event, int leader, int *fd)
{
    struct perf_event_attr attr = c->events[event].attr;
    attr.size = sizeof attr;
    attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    if (!c->alone) attr.read_format |= PERF_FORMAT_GROUP;
    attr.inherit = t->pid != -1 && !t->group;
    attr.disabled = t->on_exec && leader < 0;
    attr.enable_on_exec = t->on_exec;
    attr.exclude_kernel = attr.exclude_hv = c->user_only;
    unsigned long flags = PERF_FLAG_FD_CLOEXEC | (t->group ? PERF_FLAG_PID_CGROUP : 0);
    *fd = perf_calls->open(&attr, t->pid, t->cpu, leader, flags);
    if (*fd < 0 && errno == EMFILE && perf_calls == &perf_kernel && perf_counting_raise_limit())
        *fd = perf_calls->open(&attr, t->pid, t->cpu, leader, flags);
    return *fd < 0 ? errno : 0;
}

static bool perf_counting_is_denial(int error)
{
    return error == EACCES || error == EPERM;
}

static bool perf_counting_is_software(const perf_event *event)
{
    return event->attr.type == PERF_TYPE_SOFTWARE;
}

// A new set with this event at its head.
static int perf_counting_lead(perf_counting *c, perf_target *t, size_t event)
{
    int error = perf_counting_open_event(c, t, event, -1, &t->fds[event]);
    if (error == EINVAL && t->pid != -1 && !c->alone && !c->set_count) { // before 4.13
        c->alone = true;
        error = perf_counting_open_event(c, t, event, -1, &t->fds[event]);
        if (error) c->alone = false;
    }
    if (perf_counting_is_denial(error) && !c->user_only && !c->set_count) {
        c->user_only = true;
        if (c->events[event].needs_kernel) return error;
        error = perf_counting_open_event(c, t, event, -1, &t->fds[event]);
        if (error) c->user_only = false;
    }
    if (error) return error;
    perf_set *longer = realloc(c->sets, (c->set_count + 1) * sizeof *longer);
    if (!longer) return ENOMEM;
    c->sets = longer;
    c->sets[c->set_count] =
        (perf_set){.events = {event}, .count = 1, .software = perf_counting_is_software(&c->events[event])};
    c->events[event].set = (int)c->set_count++;
    return 0;
}

// Joins the last set when the kernel says that its events fit into the hardware together.
static bool perf_counting_join_last(perf_counting *c, perf_target *t, size_t event)
{
    perf_set *s = c->set_count ? &c->sets[c->set_count - 1] : NULL;
    if (!s || c->alone || s->count == SET_EVENTS || s->software != perf_counting_is_software(&c->events[event]))
        return false;
    if (perf_counting_open_event(c, t, event, t->fds[s->events[0]], &t->fds[event])) return false;
    c->events[event].set = (int)c->set_count - 1;
    s->events[s->count++] = event;
    return true;
}

// The kernel has several errors for an event that this processor does not have.
static int perf_counting_reason(int error)
{
    return error == ENOENT || error == ENODEV || error == EINVAL || error == ENXIO ? EOPNOTSUPP : error;
}

static void perf_counting_lay_out(perf_counting *c, perf_target *t)
{
    for (size_t i = 0; i < c->event_count; i++) {
        perf_event *x = &c->events[i];
        x->set = PERF_NO_SET;
        if (x->error) continue;
        if (c->user_only && x->needs_kernel)
            x->error = EACCES;
        else if (!perf_counting_join_last(c, t, i))
            x->error = perf_counting_reason(perf_counting_lead(c, t, i));
        if (x->error == ESRCH) return;
    }
}

// As the first target: an event that this one refuses would miss from the sum.
static int perf_counting_follow(perf_counting *c, perf_target *t)
{
    for (size_t s = 0; s < c->set_count; s++) {
        const perf_set *set = &c->sets[s];
        for (size_t k = 0; k < set->count; k++) {
            size_t i = set->events[k];
            int error = perf_counting_open_event(c, t, i, k ? t->fds[set->events[0]] : -1, &t->fds[i]);
            if (error == ESRCH) return error;
            if (!error) continue;
            for (size_t m = 0; m < set->count; m++)
                c->events[set->events[m]].error = error;
            break;
        }
    }
    return 0;
}

static void perf_counting_drop_target(perf_counting *c, perf_target *t)
{
    for (size_t i = 0; i < c->event_count; i++)
        if (t->fds[i] >= 0) perf_calls->close(t->fds[i]);
    free(t->fds);
    t->fds = NULL;
}

static void perf_counting_forget_layout(perf_counting *c)
{
    for (size_t i = 0; i < c->event_count; i++) {
        c->events[i].set = PERF_NO_SET;
        if (c->events[i].error == ESRCH) c->events[i].error = 0;
    }
    c->set_count = 0;
}

static int perf_counting_add_target(perf_counting *c, perf_target t)
{
    t.fds = malloc((c->event_count + 1) * sizeof *t.fds);
    perf_target *longer = realloc(c->targets, (c->target_count + 1) * sizeof *longer);
    int error = 0;
    if (longer) c->targets = longer;
    if (!t.fds || !longer) {
        free(t.fds);
        return ENOMEM;
    }
    for (size_t i = 0; i < c->event_count; i++)
        t.fds[i] = -1;
    if (c->laid_out) {
        error = perf_counting_follow(c, &t);
    } else {
        perf_counting_lay_out(c, &t);
        for (size_t i = 0; i < c->event_count && !error; i++)
            if (c->events[i].error == ESRCH) error = ESRCH;
        if (error)
            perf_counting_forget_layout(c);
        else
            c->laid_out = c->set_count > 0;
        if (!error && !c->laid_out) error = c->event_count ? c->events[0].error : ENOENT;
    }
    if (error)
        perf_counting_drop_target(c, &t);
    else
        c->targets[c->target_count++] = t;
    return error;
}

int perf_counting_add(perf_counting *c, pid_t pid, int cpu, bool on_exec)
{
    return perf_counting_add_target(c, (perf_target){.pid = pid, .cpu = cpu, .on_exec = on_exec});
}

int perf_counting_add_group(perf_counting *c, int directory, int cpu)
{
    return perf_counting_add_target(c, (perf_target){.pid = directory, .cpu = cpu, .group = true});
}

// ---- reading ----

// {count, enabled, running, values...}, or {value, enabled, running} of a single event.
static int perf_counting_read_set(const perf_counting *c, const perf_target *t, const perf_set *s, uint64_t *words)
{
    size_t size = (c->alone ? 3 : 3 + s->count) * sizeof *words;
    ssize_t n = perf_calls->read(t->fds[s->events[0]], words, size);
    if (n < 0) return errno;
    if ((size_t)n < size || (!c->alone && words[0] != s->count)) return EIO; // the kernel gave the event up
    if (c->alone) {
        words[3] = words[0];
        words[0] = 1;
    }
    return 0;
}

static int perf_counting_sum_set(perf_counting *c, perf_set *s)
{
    s->enabled = s->running = 0;
    for (size_t k = 0; k < s->count; k++)
        c->events[s->events[k]].raw = 0;
    for (size_t i = 0; i < c->target_count; i++) {
        uint64_t words[3 + sizeof s->events / sizeof *s->events];
        int error = perf_counting_read_set(c, &c->targets[i], s, words);
        if (error) return error;
        s->enabled += words[1];
        s->running += words[2];
        for (size_t k = 0; k < s->count; k++)
            c->events[s->events[k]].raw += words[3 + k];
    }
    return 0;
}

static uint64_t perf_counting_scaled(uint64_t count, uint64_t enabled, uint64_t running)
{
    if (enabled == running || !running) return count;
    return (uint64_t)(((wide)count * enabled + running / 2) / running);
}

static void perf_counting_read_and_scale(perf_counting *c, perf_set *s)
{
    s->error = perf_counting_sum_set(c, s);
    if (s->error) return;
    uint64_t enabled = s->enabled - s->last_enabled, running = s->running - s->last_running;
    if (enabled && !running && !c->unscaled) {
        s->error = EBUSY; // others had the counters all the time
        return;
    }
    for (size_t k = 0; k < s->count; k++) {
        perf_event *x = &c->events[s->events[k]];
        x->total += c->unscaled ? x->raw - x->last_raw : perf_counting_scaled(x->raw - x->last_raw, enabled, running);
        x->last_raw = x->raw;
    }
    s->last_enabled = s->enabled;
    s->last_running = s->running;
}

static bool perf_counting_has_fast(const perf_counting *c, const perf_set *s)
{
    for (size_t k = 0; k < s->count; k++)
        if (c->events[s->events[k]].shape.flags & NETPROF_FAST) return true;
    return false;
}

void perf_counting_read(perf_counting *c, bool fast_only)
{
    for (size_t s = 0; s < c->set_count; s++) {
        const perf_event *first = &c->events[c->sets[s].events[0]];
        if (!first->error && (!fast_only || perf_counting_has_fast(c, &c->sets[s])))
            perf_counting_read_and_scale(c, &c->sets[s]);
    }
}

// ---- telling ----

uint64_t perf_in_unit(const perf_event *x)
{
    if (x->scale >= 1 && x->scale < 1e9 && x->scale == (double)(uint64_t)x->scale) return x->total * (uint64_t)x->scale;
    long double value = (long double)x->total * (long double)x->scale;
    return value < 1.8e19L ? (uint64_t)value : UINT64_MAX;
}

static bool perf_counting_is_told(const perf_set *s)
{
    return !s->software; // software events have no counters to share
}

void perf_counting_tell_times(const perf_counting *c, emit *e)
{
    static const emit_shape time = SHAPE("ns", COUNTER, 0);
    size_t number = 0;
    for (size_t i = 0; i < c->set_count; i++) {
        const perf_set *s = &c->sets[i];
        char name[PERF_NAME];
        int error = s->error == EBUSY ? 0 : s->error ? s->error : c->events[s->events[0]].error;
        if (!perf_counting_is_told(s)) continue;
        number++;
        for (int running = c->unscaled; running < 2; running++) {
            snprintf(name, sizeof name, "group%zu%s%.24s_%s", number, c->on ? "_on_" : "", c->on ? c->on : "",
                     c->unscaled ? "ran"
                     : running   ? "time_running"
                                 : "time_enabled");
            if (error)
                emit_failed(e, name, &time, error);
            else
                emit_value(e, name, &time, running ? s->running : s->enabled);
        }
    }
}

void perf_counting_tell(const perf_counting *c, emit *e)
{
    for (size_t i = 0; i < c->event_count; i++) {
        const perf_event *x = &c->events[i];
        int error = x->error ? x->error : x->set == PERF_NO_SET ? 0 : c->sets[x->set].error;
        if (error)
            emit_failed(e, x->name, &x->shape, error);
        else
            emit_value(e, x->name, &x->shape, perf_in_unit(x));
    }
    perf_counting_tell_times(c, e);
}

void perf_counting_facts(const perf_counting *c, emit *e)
{
    size_t number = 0;
    if (!c->on) emit_fact(e, "counted", c->user_only ? "user code only" : "user code and the kernel");
    for (size_t i = 0; i < c->set_count; i++) {
        char key[64], names[512] = "";
        const perf_set *s = &c->sets[i];
        if (!perf_counting_is_told(s)) continue;
        for (size_t k = 0; k < s->count; k++) {
            size_t n = strlen(names);
            snprintf(names + n, sizeof names - n, "%s%s", k ? "," : "", c->events[s->events[k]].name);
        }
        snprintf(key, sizeof key, "group%zu%s%.24s", ++number, c->on ? "_on_" : "", c->on ? c->on : "");
        emit_fact(e, key, names);
    }
}

bool perf_counting_works(const perf_counting *c, int *sys_errno)
{
    *sys_errno = 0;
    for (size_t i = 0; i < c->event_count; i++) {
        if (!c->events[i].error && c->events[i].set != PERF_NO_SET) return true;
        // A refusal can be lifted; it says more than what the processor lacks.
        if (!*sys_errno || perf_counting_is_denial(c->events[i].error)) *sys_errno = c->events[i].error;
    }
    return false;
}

void perf_counting_close(perf_counting *c)
{
    for (size_t i = 0; i < c->target_count; i++)
        perf_counting_drop_target(c, &c->targets[i]);
    free(c->targets);
    free(c->sets);
    free(c->events);
    *c = (perf_counting){0};
}
