// The parts of which job_findings.c makes the findings. Private to them.
#ifndef NETPROF_JOB_FINDINGS_MAKE_H
#define NETPROF_JOB_FINDINGS_MAKE_H

#include "analysis/job/job_store.h"

void job_add_incidents(job_report *r);
void job_add_incident_phases(job_report *r); // once the findings are in order
void job_fold_rules(job_report *r);          // after the incidents
void job_find_end(job_report *r);
void job_find_ranks(job_report *r);
void job_find_slow(job_report *r);         // after all that is about the network
void job_find_device_peers(job_report *r); // after all others about devices: they explain it
void job_find_node_peers(job_report *r);
void job_find_settings(job_report *r);
void job_finish_events(job_report *r); // the order of the events changes

#endif
