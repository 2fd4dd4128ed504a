/* Linked into every program and library of a build with mutants. MUTANT_ALIVE: the number of the one to be alive.
   MUTANTS_MET: a file of NETPROF_MUTANTS_MOST bytes that is there already; the byte of each mutant that is met
   becomes 1 (shared memory: what was met stays known however the program ends). */
#include "mutant.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((constructor)) static void mutant_choose(void)
{
    const char *alive = getenv("MUTANT_ALIVE"), *met = getenv("MUTANTS_MET");
    if (alive && *alive) netprof_mutant_alive = atoi(alive);
    if (!met || !*met) return;
    int file = open(met, O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    void *map = mmap(NULL, NETPROF_MUTANTS_MOST, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (map != MAP_FAILED) netprof_mutants_met = map;
    close(file);
}
