// What an execution did to the network: text, JSON, CSV, or the fields of perf stat -x.
#ifndef TOOLS_RUN_SUMMARY_H
#define TOOLS_RUN_SUMMARY_H

#include "analysis/data/difference.h"
#include "analysis/base/json.h"
#include "run_model.h"

// What happened between its first reading and its last; empty where there is nothing to compare. difference_free() it.
void run_summary_difference(const execution *e, difference *d);
void run_summary_print(FILE *to, const execution *e, const difference *d);
json_object *run_summary_json(const execution *e, const difference *d, bool alone); // alone: with format and version

#endif
