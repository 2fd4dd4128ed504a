// net_prof's raw text, and what its JSON has in common with it.
#ifndef NETPROF_DATASET_NET_PROF_H
#define NETPROF_DATASET_NET_PROF_H

#include "dataset_build.h"

netprof_err dataset_read_net_prof_text(dataset_input *in);

// A Cassini counter as the catalog describes it.
netprof_counter dataset_cassini_counter(const char *name);
// Sets the read times of each device, and those of the snapshot, to the first and last stamp of its counters.
void dataset_times_from_stamps(netprof_snapshot *snapshot);

#endif
