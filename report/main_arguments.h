// What the arguments of netprof-report are: the questions that the table of reports asks about them (main.c). Nothing is
// looked at before a question needs it, and what was read for one answer is kept for the next and for the report.
#ifndef NETPROF_MAIN_ARGUMENTS_H
#define NETPROF_MAIN_ARGUMENTS_H

#include "analysis/data/series.h"

#include <stdbool.h>
#include <stddef.h>

// Start from {0} with the first group filled in; arguments_free() at the end.
typedef struct arguments {
    const char **paths; // what the report is about: after a "--", if there is one
    size_t count;
    const char **before; // before the "--"; NULL: there is none
    size_t before_count;
    const char *jobid;       // --jobid
    const char *nccl_option; // the first option given that only logs of the NCCL Inspector have; NULL: none
    const char *names;       // --names

    // What was found, once a question needed it.
    bool parted;          // exports are moved to the end of paths
    const char **exports; // of Nsight Systems
    size_t export_count;  // count is then without them
    bool is_read;         // all paths, as one data set with its series
    dataset set;
    series over_time;
    int failure; // exit code, where reading them failed; no more question is then answered with yes

    char why[400]; // why the last answer was yes
} arguments;

void arguments_free(arguments *a);
void arguments_forget_reading(arguments *a); // before the same files are read in another way

// The questions. A yes leaves its reason in why.
bool arguments_are_nccl(arguments *a);          // --jobid, or logs of the NCCL Inspector
bool arguments_misuse_option(arguments *a);     // an option for such logs
bool arguments_are_two_sides(arguments *a);     // "--"
bool arguments_are_missing(arguments *a);       // no path
bool arguments_are_not_exported(arguments *a);  // a report of Nsight Systems
bool arguments_are_exports(arguments *a);       // exports of Nsight Systems and nothing else
bool arguments_have_exports(arguments *a);      // ... and something else
bool arguments_are_of_job(arguments *a);        // a recording with counters of a job
bool arguments_are_regions(arguments *a);       // region files, directories of them
bool arguments_are_many(arguments *a);          // more than two files
bool arguments_are_of_hosts(arguments *a);      // runs of different nodes
bool arguments_are_one_recording(arguments *a); // more than two snapshots of one run
bool arguments_are_two_snapshots(arguments *a); // everything else that can be read

// Is it a log of the NCCL Inspector, or a directory that holds some?
bool arguments_is_log(const char *path);
// What an argument is, in words, for people.
void arguments_describe(const char *path, char *text, size_t size);

#endif
