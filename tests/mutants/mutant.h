/* Goes in front of a file with mutants in it: which of them is alive (none: -1), and which were met. The definitions are
   weak, so that any number of files may hold them, and set when a program starts, whoever compiled it.
   MUTANT_ALIVE: the number of the one to be alive.
   MUTANTS_MET: a file in blocks of NETPROF_MUTANTS_MOST bytes; in the block MUTANTS_AT (0) the byte of each mutant that is
   met becomes 1 (shared memory: what was met stays known however the program ends).
   Includes nothing and has names of its own for what it calls: which system headers there are is for the file to say. */
#ifndef NETPROF_MUTANT
#define NETPROF_MUTANT(n)    (netprof_mutants_met[n] = 1, netprof_mutant_alive == (n))
#define NETPROF_MUTANTS_MOST 4096
#ifdef __cplusplus
extern "C" {
#endif
extern char *netprof_mutants_getenv(const char *) __asm__("getenv");
extern int netprof_mutants_atoi(const char *) __asm__("atoi");
extern int netprof_mutants_open(const char *, int, ...) __asm__("open");
extern int netprof_mutants_close(int) __asm__("close");
extern long netprof_mutants_lseek(int, long, int) __asm__("lseek");
extern int netprof_mutants_ftruncate(int, long) __asm__("ftruncate");
extern void *netprof_mutants_mmap(void *, unsigned long, int, int, int, long) __asm__("mmap");
__attribute__((weak)) unsigned char netprof_mutants_memory[NETPROF_MUTANTS_MOST];
__attribute__((weak)) unsigned char *netprof_mutants_met = netprof_mutants_memory;
__attribute__((weak)) int netprof_mutant_alive = -1;

__attribute__((unused)) static void netprof_mutants_note_in(long block)
{
    const char *met = netprof_mutants_getenv("MUTANTS_MET");
    const int most = NETPROF_MUTANTS_MOST, read_and_write = 2, set = 0, end = 2, protection = 3, shared = 1;
    int file = met && *met ? netprof_mutants_open(met, read_and_write) : -1;
    long size = file >= 0 ? netprof_mutants_lseek(file, set, end) : -1;
    void *map;
    if (size < 0) return;
    if (size < (block + 1) * most) netprof_mutants_ftruncate(file, (block + 1) * most);
    map = netprof_mutants_mmap((void *)0, (unsigned long)most, protection, shared, file, block * most);
    if ((long)map != -1) netprof_mutants_met = (unsigned char *)map;
    netprof_mutants_close(file);
}

__attribute__((constructor)) static void netprof_mutants_begin(void)
{
    const char *alive = netprof_mutants_getenv("MUTANT_ALIVE"), *at = netprof_mutants_getenv("MUTANTS_AT");
    if (alive && *alive) netprof_mutant_alive = netprof_mutants_atoi(alive);
    netprof_mutants_note_in(at && *at ? netprof_mutants_atoi(at) : 0);
}
#ifdef __cplusplus
}
#endif
#endif
