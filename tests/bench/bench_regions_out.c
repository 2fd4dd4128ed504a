#define NETPROF_DISABLE
#include "netprof.h"

#include "bench_regions.h"

int bench_pairs_out(int pairs)
{
    int i;
    for (i = 0; i < pairs; i++) {
        NETPROF_BEGIN("pair");
        __asm__ __volatile__("");
        NETPROF_END("pair");
    }
    return 0;
}
