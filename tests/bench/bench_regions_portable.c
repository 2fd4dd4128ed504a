#define NETPROF_NO_TSC
#define NETPROF_STATIC
#define NETPROF_IMPLEMENTATION
#include "netprof.h"

#include "bench_regions.h"

int bench_pairs_portable(int pairs)
{
    int i;
    for (i = 0; i < pairs; i++) {
        NETPROF_BEGIN("pair");
        NETPROF_END("pair");
    }
    return 0;
}
