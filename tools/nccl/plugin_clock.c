#define _GNU_SOURCE
#include "plugin_clock.h"

#include <stdatomic.h>
#include <stddef.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

bool plugin_clock_counts;
static uint64_t clock_first_ticks, clock_now_ticks;
static int64_t clock_first_ns, clock_now_wall_ns;
static double clock_ns_per_tick = 1;

#ifndef PLUGIN_SCRIPT // tests bring clocks of their own
static int64_t clock_read(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t plugin_monotonic_ns(void)
{
    return clock_read(CLOCK_MONOTONIC);
}

int64_t plugin_wall_ns(void)
{
    return clock_read(CLOCK_REALTIME);
}
#endif

// Does the counter run at one speed on all processors, asleep or not?
static bool clock_counter_is_even(void)
{
#if defined(PLUGIN_SCRIPT)
    return false;
#elif defined(__x86_64__)
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && d >> 8 & 1;
#elif defined(__aarch64__)
    return true;
#else
    return false;
#endif
}

// The clocks at one moment: of some readings the one that took least. Who loses the processor between two clocks would
// shift all times by as much.
static void clock_read_together(uint64_t *ticks, int64_t *monotonic_ns, int64_t *wall_ns)
{
    enum { TRIES = 4 };
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        uint64_t before = plugin_ticks();
        int64_t now_ns = plugin_monotonic_ns(), now_wall_ns = plugin_wall_ns();
        uint64_t took = plugin_ticks() - before;
        if (i && took >= least) continue;
        least = took;
        *ticks = before + took / 2;
        *monotonic_ns = now_ns;
        *wall_ns = now_wall_ns;
    }
}

void plugin_clock_begin(void)
{
    int64_t wall_ns;
    plugin_clock_counts = clock_counter_is_even();
    clock_read_together(&clock_first_ticks, &clock_first_ns, &wall_ns);
    clock_ns_per_tick = 1;
    plugin_clock_tune();
}

void plugin_clock_tune(void)
{
    int64_t now_ns;
    clock_read_together(&clock_now_ticks, &now_ns, &clock_now_wall_ns);
    if (plugin_clock_counts && now_ns - clock_first_ns > 1000000)
        clock_ns_per_tick = (double)(now_ns - clock_first_ns) / (double)(clock_now_ticks - clock_first_ticks);
}

int64_t plugin_clock_ns(uint64_t ticks)
{
    return plugin_clock_counts ? (int64_t)((double)ticks * clock_ns_per_tick) : (int64_t)ticks;
}

int64_t plugin_clock_wall(uint64_t ticks)
{
    if (!ticks) return 0;
    return ticks <= clock_now_ticks ? clock_now_wall_ns - plugin_clock_ns(clock_now_ticks - ticks)
                                    : clock_now_wall_ns + plugin_clock_ns(ticks - clock_now_ticks);
}
