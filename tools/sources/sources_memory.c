// Memory of the node: /proc/meminfo (gauges; its "kB" are KiB) and the events of /proc/vmstat that indicate trouble.
#include "sources_makers.h"
#include "shapes.h"

#include <string.h>

typedef struct memory_state {
    emit_file meminfo, vmstat;
} memory_state;

static const emit_shape bytes = {.unit = "bytes", .kind = NETPROF_KIND_GAUGE, .scale = 1024};
static const emit_shape bytes_fast = {
    .unit = "bytes", .kind = NETPROF_KIND_GAUGE, .scale = 1024, .flags = NETPROF_FAST};
static const emit_shape pages = {.unit = "pages", .kind = NETPROF_KIND_GAUGE, .scale = 1};
static const emit_shape events = SHAPE("events", COUNTER, 0);
static const emit_shape moved = SHAPE("pages", COUNTER, 0);

static const char *const fast[] = {"MemTotal", "MemFree", "MemAvailable", "Cached", "SwapTotal", "SwapFree", "Dirty"};

static bool sources_memory_is_fast(const char *name)
{
    for (size_t i = 0; i < sizeof fast / sizeof *fast; i++)
        if (strcmp(fast[i], name) == 0) return true;
    return false;
}

// Beginnings of names; the unit is that of the kernel's counter.
static const struct {
    const char *begin;
    const emit_shape *shape;
} wanted[] = {
    {"pgfault", &events},          {"pgmajfault", &events},      {"pswpin", &moved},
    {"pswpout", &moved},           {"pgscan_direct", &moved},    {"pgsteal_direct", &moved},
    {"allocstall", &events},       {"compact_stall", &events},   {"compact_fail", &events},
    {"oom_kill", &events},         {"numa_miss", &moved},        {"numa_foreign", &moved},
    {"numa_local", &moved},        {"numa_other", &moved},       {"numa_pages_migrated", &moved},
    {"numa_hint_faults", &events}, {"thp_fault_alloc", &events}, {"thp_fault_fallback", &events},
    {"pgmigrate_success", &moved},
};

static const emit_shape *sources_memory_shape_of(const char *name)
{
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (strncmp(wanted[i].begin, name, strlen(wanted[i].begin)) == 0) return wanted[i].shape;
    return NULL;
}

static void sources_memory_walk_meminfo(emit *e, char *at)
{
    for (char *line; (line = emit_line(&at));) {
        char *name = emit_word(&line), *word = emit_word(&line), *unit = emit_word(&line);
        uint64_t value;
        if (!name || !word || name[strlen(name) - 1] != ':') continue;
        name[strlen(name) - 1] = 0;
        const emit_shape *shape = !unit ? &pages : sources_memory_is_fast(name) ? &bytes_fast : &bytes;
        if (emit_number(word, &value) && value <= UINT64_MAX / 1024)
            emit_value(e, name, shape, unit ? value * 1024 : value);
        else
            emit_failed(e, name, shape, EBADMSG);
    }
}

static void sources_memory_walk_vmstat(emit *e, char *at)
{
    for (char *line; (line = emit_line(&at));) {
        char *name = emit_word(&line), *word = emit_word(&line);
        const emit_shape *shape = name ? sources_memory_shape_of(name) : NULL;
        uint64_t value;
        if (!shape) continue;
        if (emit_number(word, &value))
            emit_value(e, name, shape, value);
        else
            emit_failed(e, name, shape, EBADMSG);
    }
}

static void sources_memory_walk(void *state, emit *e)
{
    memory_state *s = state;
    int error;
    char *text = emit_file_read(&s->meminfo, e, "/proc/meminfo", &error);
    if (!text) {
        emit_state(e, netprof_status_of_errno(error), error, "/proc/meminfo");
        return;
    }
    emit_device(e, "memory", NETPROF_DEVICE_PHYSICAL);
    sources_memory_walk_meminfo(e, text);
    if (emit_fast_only(e)) return;
    text = emit_file_read(&s->vmstat, e, "/proc/vmstat", &error);
    if (text) sources_memory_walk_vmstat(e, text);
}

static void sources_memory_close(void *state)
{
    memory_state *s = state;
    emit_file_close(&s->meminfo);
    emit_file_close(&s->vmstat);
}

netprof_err sources_add_memory(netprof *np, const sources_job *job, netprof_error *error)
{
    static const emit_source source = {
        .name = "memory", .size = sizeof(memory_state), .walk = sources_memory_walk, .close = sources_memory_close};
    (void)job;
    return emit_add(np, &source, NULL, error);
}
