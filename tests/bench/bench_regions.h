/* What the files of the regions' benchmark share: loops of pairs, some of which need the header with other switches. */
#ifndef NETPROF_BENCH_REGIONS_H
#define NETPROF_BENCH_REGIONS_H

#include <stdint.h>

/* What a contestant repeats; `pairs` of them. 0, or -1: failed. */
typedef struct bench_loop {
    int (*run)(int pairs);
    int pairs;
    const char *mode; /* of netprof; NULL: none */
} bench_loop;

/* A contestant's two functions, with a bench_loop. */
void *bench_loop_prepare(const void *with);
int64_t bench_loop_once(void *state);

int bench_pairs_out(int pairs);      /* NETPROF_DISABLE */
int bench_pairs_portable(int pairs); /* NETPROF_NO_TSC */

/* bench_regions_tools.c: other people's regions, and what each says of a known number of bytes. */
void bench_regions_tools(int pairs);
void bench_regions_bytes(void);

#endif
