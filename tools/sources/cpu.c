// CPU time of the node, by /proc/stat: ticks of 1/sysconf(_SC_CLK_TCK) s, usually 10 ms, given in microseconds.
// iowait may go backwards (kernel: Documentation/filesystems/proc.rst); such a step shows as a reset.
#define _GNU_SOURCE
#include "sources_makers.h"
#include "shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct cpu_state {
    bool per_cpu;
    emit_file stat;
} cpu_state;

static const char *const fields[] = {"user", "nice",    "system", "idle",  "iowait",
                                     "irq",  "softirq", "steal",  "guest", "guest_nice"};

static uint64_t cpu_tick_us(void)
{
    long hz = sysconf(_SC_CLK_TCK);
    return hz > 0 ? 1000000u / (uint64_t)hz : 10000;
}

static void cpu_walk_times(emit *e, char *line, bool fast)
{
    emit_shape time = SHAPE("us", COUNTER, fast ? NETPROF_FAST : 0);
    uint64_t value;
    time.scale = (uint16_t)cpu_tick_us();
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const char *word = emit_word(&line);
        if (!word) break; // older kernels have fewer columns
        if (emit_number(word, &value))
            emit_value(e, fields[i], &time, value * cpu_tick_us());
        else
            emit_failed(e, fields[i], &time, EBADMSG);
    }
}

// Lines "ctxt N", "processes N", ... belong to the whole node.
static void cpu_walk_event(emit *e, const char *name, const char *word)
{
    static const struct {
        const char *name, *as;
        emit_shape shape;
    } rows[] = {
        {"ctxt", "context_switches", SHAPE("switches", COUNTER, NETPROF_FAST)},
        {"processes", "processes_started", SHAPE("processes", COUNTER, 0)},
        {"procs_running", "tasks_running", SHAPE("tasks", GAUGE, 0)},
        {"procs_blocked", "tasks_blocked", SHAPE("tasks", GAUGE, 0)},
        {"intr", "interrupts", SHAPE("interrupts", COUNTER, 0)},
    };
    uint64_t value;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0 && emit_number(word, &value))
            emit_value(e, rows[i].as, &rows[i].shape, value);
}

// Sockets, cores and model, once: they do not change while the node runs.
static void cpu_tell_model(emit *e)
{
    emit_file info = {0};
    int error;
    char *at = emit_file_read(&info, e, "/proc/cpuinfo", &error), *line;
    size_t count = 0;
    while (at && (line = emit_line(&at))) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "processor", 9) == 0) count++;
        if (!colon || count != 1) continue;
        if (strncmp(line, "model name", 10) == 0) emit_fact(e, "model", colon + 1 + strspn(colon + 1, " "));
        if (strncmp(line, "siblings", 8) == 0) emit_fact(e, "threads_per_socket", colon + 1 + strspn(colon + 1, " "));
        if (strncmp(line, "cpu cores", 9) == 0) emit_fact(e, "cores_per_socket", colon + 1 + strspn(colon + 1, " "));
    }
    if (count) emit_factf(e, "cpus", "%zu", count);
    emit_file_close(&info);
}

static void cpu_walk(void *state, emit *e)
{
    cpu_state *s = state;
    int error;
    char *at = emit_file_read(&s->stat, e, "/proc/stat", &error), *line;
    if (!at) {
        emit_state(e, netprof_status_of_errno(error), error, "/proc/stat");
        return;
    }
    // The lines of single CPUs come between; so the node's events are reported at its own line.
    char *events = strstr(at, "\nintr ");
    for (bool whole = true; (line = emit_line(&at));) {
        char *name = emit_word(&line);
        if (!name || strncmp(name, "cpu", 3) != 0) break;
        if (!whole && !s->per_cpu) continue;
        emit_device(e, name, NETPROF_DEVICE_PHYSICAL);
        if (whole) cpu_tell_model(e);
        cpu_walk_times(e, line, whole);
        for (char *rest = whole && events ? events + 1 : NULL, *event; rest && (event = emit_line(&rest));) {
            char *key = emit_word(&event), *word = emit_word(&event);
            if (key && word) cpu_walk_event(e, key, word);
        }
        whole = false;
        if (!s->per_cpu) break;
    }
}

static void cpu_close(void *state)
{
    emit_file_close(&((cpu_state *)state)->stat);
}

netprof_err sources_add_cpu(netprof *np, const sources_job *job, netprof_error *error)
{
    static const emit_source source = {.name = "cpu", .size = sizeof(cpu_state), .walk = cpu_walk, .close = cpu_close};
    cpu_state state = {.per_cpu = job->per_cpu};
    return emit_add(np, &source, &state, error);
}
