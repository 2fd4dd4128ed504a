// A program with regions whose output meets limits: region_ends COUNT.
#define NETPROF_IMPLEMENTATION
#include "netprof.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 10;
    for (int i = 0; i < count; i++) {
        char name[64];
        snprintf(name, sizeof name, "region of some length, number %d", i);
        netprof_region_id site = netprof_region(name);
        netprof_begin(site);
        netprof_end(site);
    }
    fputs("result 42\n", stderr); // the standard output may be a pipe that nobody reads
    return 0;
}
