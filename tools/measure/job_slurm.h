// The resources and the time that Slurm gave to the job, from its environment and, for the rest, from scontrol.
#ifndef TOOLS_JOB_SLURM_H
#define TOOLS_JOB_SLURM_H

#include "ask_program.h"
#include "record.h"

// Facts from the environment about this node's part of the job: CPUs, memory, GPUs, begin and end. None if a step has
// several tasks on a node and each is recorded by itself: what they share does not measure one task. alone: this
// recording is of all of the job here.
void job_slurm_facts(recorder *to, bool alone);

// One question to scontrol at the begin, one at the end; on the first node of the job alone where the nodes are known,
// for all of them ask the same daemon. Start from {0}; nobody waits for the answer of the first.
typedef struct job_slurm {
    question begin;
    char *id, *node;
    bool asks, told;
} job_slurm;

void job_slurm_begin(job_slurm *s);
void job_slurm_look(job_slurm *s, recorder *to); // facts, once they are there
// Waits for them, a few seconds at most, and asks how the job ended.
void job_slurm_end(job_slurm *s, recorder *to);
void job_slurm_free(job_slurm *s);

#endif
