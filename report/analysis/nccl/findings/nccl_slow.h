// How fast the wires of alike communicators are beside each other. A part of the findings.
#ifndef NETPROF_NCCL_SLOW_H
#define NETPROF_NCCL_SLOW_H

#include "nccl_findings_make.h"

enum {
    SLOW_LEAST_EQUALS = 3, // of two nobody can tell which is slow
    SLOW_LEAST_CALLS = 3   // of a series: the median of fewer is a single call's
};

// Series of the same kind on communicators of as many ranks on as many nodes.
typedef struct slow_group {
    size_t first, count; // in slow_wires.series
    double sd;           // of one call's log of time, the middle of its series'
    double base_us;      // what it takes on communicators without slow hosts; 0: there are none
} slow_group;

typedef struct slow_wires {
    const nccl *n;
    const nccl_series **series; // those that have equals, group after group
    slow_group *groups;
    size_t group_count;
    bool *has_slow;           // by communicator: with a host that was found slow
    uint32_t **communicators; // by host: an array of stb_ds
    double *work;
} slow_wires;

// A communicator beside its equals, over all its series that have any.
typedef struct slow_pace {
    double time_us, base_us; // median time and that of its equals, times the calls, summed
    double variance;         // of time_us
    double calls;
    double excess_us; // of the series with the largest
    uint32_t series;
} slow_pace;

void slow_wires_make(slow_wires *w, const nccl *n);
void slow_wires_free(slow_wires *w);
// Sets base_us of all groups: the quantile of the series whose communicator has no slow host, nor `host` (NCCL_NONE: no
// other is left out).
void slow_wires_set_base(slow_wires *w, uint32_t host, double quantile);
// By communicator. time_us 0: it has no equals.
void slow_wires_paces(const slow_wires *w, slow_pace *paces);
bool slow_are_equals(const slow_wires *w, const nccl_series *a, const nccl_series *b);
bool slow_has_host(const slow_wires *w, uint32_t communicator, uint32_t host);
double slow_pace_ratio(const slow_pace *p);
// The standard error of the log of the ratio.
double slow_pace_error(const slow_pace *p);
// Is it slower than the limit of the rules, and not by chance?
bool slow_pace_is_slow(const slow_pace *p);
bool slow_pace_is_judged(const slow_pace *p);

#endif
