/* Loops of pairs that need the header with other switches. */
#ifndef NETPROF_BENCH_REGIONS_H
#define NETPROF_BENCH_REGIONS_H

int bench_pairs_out(int pairs);      /* NETPROF_DISABLE */
int bench_pairs_portable(int pairs); /* NETPROF_NO_TSC */

#endif
