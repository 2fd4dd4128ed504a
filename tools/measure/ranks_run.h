// A run of many processes: a directory for what they write and, with netprof run --mpi, libnetprof-mpi.so in every rank.
#ifndef TOOLS_RANKS_RUN_H
#define TOOLS_RANKS_RUN_H

#include "cli/common.h"

#include "analysis/base/json.h"

typedef struct ranks_run {
    char *directory;      // absolute
    bool temporary, made; // made: it was not there before
} ranks_run;

// Makes the directory (NULL: a temporary one) and sets the environment that the command inherits. Returns an exit code
// after saying what is wrong; ranks_run_close() in any case.
int ranks_run_open_mpi(ranks_run *m, const char *directory);
// Without MPI: a temporary directory, into which programs with regions write.
int ranks_run_open_plain(ranks_run *m);
// The same without MPI, for what others write into it: a directory that is named.
int ranks_run_open_directory(ranks_run *m, const char *directory);
// A file in the directory, as a pattern in which % has been doubled; free it.
char *ranks_run_pattern(const ranks_run *m, const char *name);
// How many files of regions the ranks have written.
size_t ranks_run_files(const ranks_run *m);
// Prints what the ranks measured, or why there is nothing. ending: how the command failed, "was killed by ..."; NULL: it
// did not.
void ranks_run_summary(FILE *to, const ranks_run *m, const char *ending);
json_object *ranks_run_json(const ranks_run *m);
// Removes what is temporary, and a directory with nothing in it.
void ranks_run_close(ranks_run *m);

#endif
