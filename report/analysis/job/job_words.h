// Parts of sentences about a job.
#ifndef NETPROF_JOB_WORDS_H
#define NETPROF_JOB_WORDS_H

#include "job_model.h"

// "38:20", "1:02:05", "0.4 s": a place on the axis as it is written in claims. Returns text.
const char *job_time_text(char *text, size_t size, double at_s, double of_s);
// "5 min 50 s", "1.2 s", "2 h 5 min". Returns text.
const char *job_length_text(char *text, size_t size, double length_s);

// "its cpuset", "the time limit". For JSON: "cpuset", "limit"; NULL for none.
const char *job_basis_text(job_basis basis);
const char *job_basis_name(job_basis basis);
// "4 CPUs a node: its cpuset", "the memory requested, on n04", "the time limit; 47 min 30 s were left". Returns text.
const char *job_efficiency_text(char *text, size_t size, const job_report *r, job_efficiency_of of);

// "37.8 kWh", "512 J": watt hours from 100 Wh on. Returns text.
const char *job_energy_text(char *text, size_t size, double joules);
const char *job_share_text(char *text, size_t size, double share); // "33 %"; returns text
// "n1", "n1 and another node", "n1 and 3 other nodes"; returns text.
const char *job_nodes_text(char *text, size_t size, const char *first, size_t count);

#endif
