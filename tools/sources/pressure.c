// Pressure stall information (kernel: Documentation/accounting/psi.rst): microseconds in which some or all tasks
// waited for CPU, memory, I/O or interrupts.
#include "sources_makers.h"
#include "shapes.h"

#include <stdio.h>
#include <string.h>

enum { RESOURCES = 4 };
static const char *const resources[RESOURCES] = {"cpu", "memory", "io", "irq"};

typedef struct pressure_state {
    emit_file files[RESOURCES];
} pressure_state;

static void pressure_walk(void *state, emit *e)
{
    static const emit_shape stalled = SHAPE("us", COUNTER, NETPROF_FAST);
    pressure_state *s = state;
    bool listed = false;
    for (size_t i = 0; i < RESOURCES; i++) {
        char path[64], *line;
        int error;
        snprintf(path, sizeof path, "/proc/pressure/%s", resources[i]);
        char *at = emit_file_read(&s->files[i], e, path, &error); // EOPNOTSUPP when switched off at boot
        if (!at && i == 0) emit_state(e, netprof_status_of_errno(error), error, path);
        if (at && !listed) emit_device(e, "pressure", NETPROF_DEVICE_PHYSICAL);
        listed |= at != NULL;
        while (at && (line = emit_line(&at))) {
            char name[32], *total = strstr(line, "total=");
            char *kind = emit_word(&line);
            uint64_t value;
            if (!kind || !total) continue;
            snprintf(name, sizeof name, "%s_%.8s", resources[i], kind);
            if (emit_number(total + 6, &value))
                emit_value(e, name, &stalled, value);
            else
                emit_failed(e, name, &stalled, EBADMSG);
        }
    }
}

static void pressure_close(void *state)
{
    pressure_state *s = state;
    for (size_t i = 0; i < RESOURCES; i++)
        emit_file_close(&s->files[i]);
}

netprof_err sources_add_pressure(netprof *np, const sources_job *job, netprof_error *error)
{
    static const emit_source source = {
        .name = "pressure", .size = sizeof(pressure_state), .walk = pressure_walk, .close = pressure_close};
    (void)job;
    return emit_add(np, &source, NULL, error);
}
