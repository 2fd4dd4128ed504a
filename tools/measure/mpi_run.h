// netprof run --mpi: libnetprof-mpi.so in every rank of a job, and a directory for what the ranks write.
#ifndef TOOLS_MPI_RUN_H
#define TOOLS_MPI_RUN_H

#include "cli/common.h"

#include "analysis/base/json.h"

typedef struct mpi_run {
    char *directory;      // absolute
    bool temporary, made; // made: it was not there before
} mpi_run;

// Makes the directory (NULL: a temporary one) and sets the environment that the command inherits. Returns an exit code
// after saying what is wrong; mpi_run_close() in any case.
int mpi_run_open(mpi_run *m, const char *directory);
// Without MPI: a temporary directory, into which programs with regions write.
int mpi_run_open_plain(mpi_run *m);
// The same without MPI, for what others write into it: a directory that is named.
int mpi_run_open_directory(mpi_run *m, const char *directory);
// A library that is loaded into other programs: beside this one, as it is built, or where it is installed; free it. NULL
// after saying that it is in neither place.
char *mpi_run_find_library(const char *option, const char *name);
// A file in the directory, as a pattern in which % has been doubled; free it.
char *mpi_run_pattern(const mpi_run *m, const char *name);
// How many files of regions the ranks have written.
size_t mpi_run_files(const mpi_run *m);
// Prints what the ranks measured, or why there is nothing. ending: how the command failed, "was killed by ..."; NULL: it
// did not.
void mpi_run_summary(FILE *to, const mpi_run *m, const char *ending);
json_object *mpi_run_json(const mpi_run *m);
// Removes what is temporary, and a directory with nothing in it.
void mpi_run_close(mpi_run *m);

#endif
