// Files told apart by job, array task and attempt, before a report is made of them.
#ifndef NETPROF_JOB_LIST_H
#define NETPROF_JOB_LIST_H

#include "analysis/base/directory.h"

#include <stdbool.h>

// A job, or one attempt of it.
typedef struct job_listed {
    char *id, *array, *task; // "" not told
    unsigned restart;        // how often it was started again before
    const char **paths;      // stb_ds; borrowed from the list; files of phases are of every job
} job_listed;

// Start from {0}; job_list_free() at the end.
typedef struct job_list {
    listing files;
    job_listed *items; // stb_ds; by number, then by attempt; what is of no job last
    size_t count;
} job_list;

// Of what cannot be read, or does not tell, the files are in every job where there is only one, else in one of their own.
void job_list_read(job_list *l, const char *const *paths, size_t count);
void job_list_free(job_list *l);
// Is this "4", the number of the job; "4_1", a task of array 4; "4", the array; or one of these with ":2", the second
// attempt?
bool job_listed_is(const job_listed *x, const char *name);
// Leaves only those. Returns how many they are.
size_t job_list_choose(job_list *l, const char *name);
// "4", "4_1", "4, attempt 2". free() it.
char *job_listed_name(const job_list *l, size_t index);
// "1, 2, 4_1 and 3 more". free() it.
char *job_list_names(const job_list *l);

#endif
