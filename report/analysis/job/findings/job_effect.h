// What else changed during a stretch of time, against the time around it.
#ifndef NETPROF_JOB_EFFECT_H
#define NETPROF_JOB_EFFECT_H

#include "analysis/job/job_model.h"

// The stretch to compare with: its phase, else the same length before and after.
typedef struct job_around {
    double from_s, to_s;
    size_t span; // in job_report.spans, or JOB_NONE
} job_around;

typedef struct job_effect {
    double sent, cpu, gpu, power;   // of all nodes, relative to the time around; NAN unknown
    double written, written_before; // bytes/s a node, to files, else to disks; NAN unknown
    size_t slowed, known;           // nodes that sent less than nine tenths, of those whose traffic is known
    double fell_s;                  // when all nodes together began to send less; NAN: they did not, or it is not known
} job_effect;

job_around job_around_of(const job_report *r, double from_s, double to_s);
job_effect job_effect_of(const job_report *r, double from_s, double to_s);
bool job_effect_fell(const job_effect *x); // did all nodes together send less than the means may differ?
// "all 8 nodes sent 36.0 % less", "3 of 8 nodes sent less, all together 12 %"; "" when none did. free() it.
char *job_effect_text(const job_report *r, const job_effect *x);
// Is the fall of traffic far more than a NIC's blocked share can explain?
bool job_effect_is_too_large(const job_effect *x, double blocked);
// Did the program itself pause: does it write more, or compute far less? NULL: no sign of it. Else what it did, free() it.
char *job_effect_pause(const job_effect *x);

#endif
