// Parts of sentences about a job.
#ifndef NETPROF_JOB_WORDS_H
#define NETPROF_JOB_WORDS_H

#include "job_model.h"

// "its cpuset", "the time limit". For JSON: "cpuset", "limit"; NULL for none.
const char *job_basis_text(job_basis basis);
const char *job_basis_name(job_basis basis);
// "its control group", "its processes, what they share counted in each: at most"; "" where there is nothing to say.
const char *job_measure_text(job_measure by);
const char *job_measure_name(job_measure by); // NULL: nothing
// "4 CPUs a node: its cpuset", "the memory requested, on n04", "the time limit; 47 min 30 s were left". Returns text.
const char *job_efficiency_text(char *text, size_t size, const job_report *r, job_efficiency_of of);

// "n1", "n1 and another node", "n1 and 3 other nodes"; returns text.
const char *job_nodes_text(char *text, size_t size, const char *first, size_t count);

// An incident of this meter in few words: "GPU slowed"; NULL: there are none.
const char *job_incident_words(job_meter meter);

// Is this of a job, or of nodes on which anything or nothing may have run? By what its scheduler or `netprof run` told, by
// ranks, or by processes or a control group that were followed.
bool job_is_known(const job_report *r);
// Is it a rule that holds nodes, or the same devices of nodes, against each other?
bool job_is_of_peers(const char *name);

#endif
