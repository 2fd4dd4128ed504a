// The cost of recording itself: CPU time and memory of this process.
#include "sources_makers.h"
#include "shapes.h"

#include <sys/resource.h>
#include <time.h>

static void self_walk(void *state, emit *e)
{
    static const emit_shape time = SHAPE("ns", COUNTER, NETPROF_FAST);
    static const emit_shape memory = {
        .unit = "bytes", .kind = NETPROF_KIND_GAUGE, .scale = 1024, .flags = NETPROF_FAST};
    static const emit_shape switches = SHAPE("switches", COUNTER, 0);
    struct timespec t;
    struct rusage use;
    (void)state;
    emit_device(e, "netprof", NETPROF_DEVICE_VIRTUAL);
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t))
        emit_failed(e, "cpu_time", &time, errno);
    else
        emit_value(e, "cpu_time", &time, (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec);
    if (getrusage(RUSAGE_SELF, &use)) return;
    emit_value(e, "memory_peak", &memory, (uint64_t)use.ru_maxrss * 1024);
    emit_value(e, "switches_involuntary", &switches, (uint64_t)use.ru_nivcsw);
}

netprof_err sources_add_self(netprof *np, const sources_job *job, netprof_error *error)
{
    static const emit_source source = {.name = "self", .size = 0, .walk = self_walk};
    (void)job;
    return emit_add(np, &source, NULL, error);
}
