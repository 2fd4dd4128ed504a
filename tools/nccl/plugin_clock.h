// The time of callbacks: the processor's counter where it runs evenly, else the kernel's clock. Thread rule: any.
#ifndef NETPROF_PLUGIN_CLOCK_H
#define NETPROF_PLUGIN_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

// The kernel's clocks; of a script in tests.
int64_t plugin_monotonic_ns(void);
int64_t plugin_wall_ns(void);

extern bool plugin_clock_counts; // the processor's counter is used

static inline uint64_t plugin_ticks(void)
{
#if defined(__x86_64__)
    if (__builtin_expect(plugin_clock_counts, 1)) return __rdtsc();
#elif defined(__aarch64__)
    if (__builtin_expect(plugin_clock_counts, 1)) {
        uint64_t ticks;
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
        return ticks;
    }
#endif
    return (uint64_t)plugin_monotonic_ns();
}

void plugin_clock_begin(void); // before the first event
void plugin_clock_tune(void);  // now and then: the longer ago the beginning, the better it knows the counter's speed
int64_t plugin_clock_wall(uint64_t ticks); // ns since 1970; 0 for 0
int64_t plugin_clock_ns(uint64_t ticks);   // of a difference

#endif
