// Which processes of this node belong to the job, by the scheduler's environment, by given numbers or by a control
// group; and when the job has ended.
//
// A process belongs to a scheduler's job when its environment names the job (proc(5): /proc/PID/environ, readable for
// one's own processes and for root) and, where the scheduler names nodes, this node: several virtual nodes on one host
// are kept apart. Processes of Slurm whose environment is not readable are asked for with "scontrol listpids".
#ifndef TOOLS_JOB_H
#define TOOLS_JOB_H

#include "job_slurm.h"
#include "record.h"
#include "sources/sources.h"

#include <stddef.h>

typedef struct job_process {
    pid_t pid;
    uint64_t start; // ticks since boot
    bool member;
    uint32_t name;     // of its program when it was looked at
    int64_t looked_ns; // when that was first
    bool there;        // at the last look around
} job_process;

// Start from {0}; job_free() at the end.
typedef struct job {
    const char *scheduler;  // "slurm", "pbs", "oar", or NULL: numbers, a group, or no job
    char *mark, *node_mark; // "SLURM_JOB_ID=17", "SLURMD_NODENAME=n2": in the environment of every process of it
    sources_job sources;    // borrowed by the process source: pids may grow
    pid_t *pids;
    job_process *seen; // of a scheduler's job: every process that was looked at
    size_t seen_count;
    size_t living;    // processes of it that had not ended at the last reading, if the source process reads them
    int64_t grace_ns; // of a scheduler's job: how long nothing of it may be seen before it has ended
    int64_t scan_ns;  // before this, processes are not looked through again
    int64_t last_ns;  // when a process of it other than its launchers was seen last; 0: never
    char *cgroup;
} job;

// what: auto, slurm, pbs, oar, none, or process numbers by commas. Returns an exit code after saying what is wrong.
int job_find(job *j, const char *what, const char *cgroup);
// Looks for processes that joined. True: the job has ended. Without a job (the whole node), it never ends.
bool job_ended(job *j);
// Nanoseconds since 1970 at which a process began, to about 10 ms; 0: not known (/proc/PID/stat, field 22).
int64_t job_process_began_ns(pid_t pid);
// Scheduler, node, container and pod, as facts of the recording.
void job_facts(const job *j, recorder *to);
void job_free(job *j);

#endif
