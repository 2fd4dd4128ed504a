// Sets of CPUs as the kernel writes them: "0-3,8,10-11".
#ifndef NETPROF_SOURCES_CPULIST_H
#define NETPROF_SOURCES_CPULIST_H

#include "emit.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CPULIST_MOST = 16384 }; // the kernel allows 8192

// Start from {0}.
typedef struct cpulist {
    uint64_t bits[CPULIST_MOST / 64];
} cpulist;

// False when the text is no list, or has a CPU beyond the most; what came before it is in the set.
bool cpulist_add_text(cpulist *set, const char *text);
// Of a file, whatever its length.
bool cpulist_add_file(cpulist *set, const emit *e, const char *path);
void cpulist_add(cpulist *set, const cpulist *other);
size_t cpulist_count(const cpulist *set);
bool cpulist_has(const cpulist *set, size_t cpu);

#endif
