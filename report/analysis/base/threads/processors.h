// How many threads are worth it. Who includes it defines _GNU_SOURCE.
#ifndef NETPROF_PROCESSORS_H
#define NETPROF_PROCESSORS_H

#include <sched.h>
#include <stddef.h>

// CPUs that this process may run on (sched_getaffinity(2)): at least 1, and 1 on more CPUs than a set holds. Any thread.
static inline size_t processors_usable(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count > 0 ? (size_t)count : 1;
}

#endif
