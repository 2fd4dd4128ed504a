// Lists of nodes as schedulers write them: "n[1-3,07],login" (Slurm), "a,b,c" (PBS, OAR).
#ifndef NETPROF_JOB_NODELIST_H
#define NETPROF_JOB_NODELIST_H

#include <stddef.h>

// The names of a list, in its order; stb_ds array of strings, each to be freed. Of more than JOB_NODELIST_MOST names, and
// of what is no list, NULL.
enum { JOB_NODELIST_MOST = 100000 };
char **job_nodelist(const char *text);
void job_nodelist_free(char **names);

#endif
