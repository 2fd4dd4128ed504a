// The NIC counters of one host during one node.
#ifndef NETPROF_REGIONS_COUNTERS_H
#define NETPROF_REGIONS_COUNTERS_H

#include "regions_model.h"

// The counters of a host during a node as a difference, for rules and tables. Two kinds of counter have no value there
// (NETPROF_FLAG_UNKNOWN): those that their drivers refresh too seldom for a region of this length, and those of devices
// that another reading of the host covers. Times and rates are over reading.time_ns.
typedef struct regions_counters {
    difference d;
    netprof_delta delta; // private
} regions_counters;

// Free with regions_counters_free(); the regions must live as long as this. `node` is the reading's. Errors: _ARG (the
// reading is not KNOWN), and those of difference_of_delta().
netprof_err regions_counters_make(regions_counters *c, const regions *r, const regions_node *node,
                                  const regions_reading *reading, netprof_error *error);
void regions_counters_free(regions_counters *c);

#endif
