// Parses what schedulers and Kubernetes write into control groups and node files: the job that a process belongs to,
// the nodes of a job, the pod. No files are opened here.
#ifndef NETPROF_SOURCES_MEMBERSHIP_H
#define NETPROF_SOURCES_MEMBERSHIP_H

#include <stdbool.h>
#include <stdio.h>

// Does /proc/PID/cgroup (text) name this job? scheduler: slurm (.../slurm.../job_17/...), pbs (.../17.server/...; of an
// array 17[3].server), oar (/oar/user_17).
bool membership_in_cgroup(const char *scheduler, const char *job, const char *text);
// Cuts a group's path after the part that Slurm made for the whole job: ".../slurm/uid_1/job_17/step_0/task_0" becomes
// ".../slurm/uid_1/job_17". Other paths stay as they are.
void membership_cut_to_job(char *path);
// The uid of a pod in a path of Kubernetes (.../kubepods.../pod<uid>/... or kubepods-...-pod<uid>.slice), with dashes;
// NULL when there is none. free() it.
char *membership_pod_uid(const char *text);
// The nodes in a node file by commas: one a line, once for each of its slots, in the file's order, the longer name
// where both are there. *count: how many. NULL when the file names none. free() it.
char *membership_nodes(FILE *file, size_t *count);

#endif
