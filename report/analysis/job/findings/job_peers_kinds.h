// What devices and nodes of a job are compared in. Thread rule: any; they are constant.
#ifndef JOB_PEERS_KINDS_H
#define JOB_PEERS_KINDS_H

#include "analysis/job/job_report.h"

// What peers are compared in.
typedef struct job_peers_of {
    const char *rule, *source; // source: NULL of nodes
    job_meter meters[2];       // added; the second may be JOB_METERS
    const char *noun, *did, *unit;
    const char *advice;
} job_peers_of;

// Of devices of one source, of nodes; the last has no rule.
extern const job_peers_of job_peers_kinds[], job_peers_nodes[];

#endif
