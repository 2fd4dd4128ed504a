// Starts a program of netprof's beside this process, so that what goes wrong there goes wrong there. Thread rule: any.
#ifndef LIVE_RUN_PROGRAM_H
#define LIVE_RUN_PROGRAM_H

#include <stddef.h>

// words[0]: its name, as helper_program() finds it. in, out: descriptors; -1: none. What it says goes to *said (free() it),
// 400 bytes of it at most. Returns its exit status; -1: it could not be run, was killed, or took longer.
int run_program(const char *const *words, int in, int out, int seconds, char **said);
void run_end(void); // what runs now, and what is begun from now on, is killed
// All of a file, with a 0 behind it; NULL: it cannot be read, or is larger. free() it.
char *run_read_all(int fd, size_t most, size_t *size);

#endif
