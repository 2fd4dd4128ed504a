// The processes of this node that take most processor time, as top shows them. Start from {0}; processes_free() at the end.
#ifndef WATCH_PROCESSES_H
#define WATCH_PROCESSES_H

#include "lines.h"
#include "analysis/base/index_map.h"

#include <stdint.h>

typedef struct process_row {
    int pid;
    uint64_t began, ticks, resident; // ticks: of processor time so far; resident: bytes
    char name[32];                   // as the kernel has it: not safe
    double cores;                    // over the last interval; NAN: seen for the first time
} process_row;

typedef struct processes {
    process_row *rows; // of the last look, the busiest first; an array of stb_ds
    int64_t taken_ns;
} processes;

void processes_look(processes *p, const char *proc); // proc: "/proc"
// The busiest ones; nothing where none was seen twice.
void processes_lines(const processes *p, lines *l);
void processes_free(processes *p);

#endif
