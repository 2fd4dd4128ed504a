/* Goes in front of a file with mutants in it: which of them is alive (none: -1), and which were met. The definitions are
   weak, so that any number of files may hold them; mutant.c sets them when a program starts. */
#ifndef NETPROF_MUTANT
#define NETPROF_MUTANT(n)    (netprof_mutants_met[n] = 1, netprof_mutant_alive == (n))
#define NETPROF_MUTANTS_MOST 4096
__attribute__((weak)) unsigned char netprof_mutants_memory[NETPROF_MUTANTS_MOST];
__attribute__((weak)) unsigned char *netprof_mutants_met = netprof_mutants_memory;
__attribute__((weak)) int netprof_mutant_alive = -1;
#endif
