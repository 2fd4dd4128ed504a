// JSON as netprof_write_json() and net_prof's collect() write it.
#ifndef NETPROF_DATASET_JSON_H
#define NETPROF_DATASET_JSON_H

#include "dataset_build.h"

netprof_err dataset_read_json(dataset_input *in); // both kinds

#endif
