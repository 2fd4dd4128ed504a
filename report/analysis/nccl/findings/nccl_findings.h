// Finding out what is wrong from NCCL logs. The JSON is of the form of findings.h.
//
// Thread rule: one thread at a time. Everything ends with nccl_findings_free(); the nccl (and comparison) must live as
// long.
#ifndef NETPROF_NCCL_FINDINGS_H
#define NETPROF_NCCL_FINDINGS_H

#include "nccl_compare.h"
#include "nccl_findings_model.h"

// comparison: NULL without one.
void nccl_findings_make(nccl_findings *f, const nccl *n, const nccl_comparison *comparison);
// "50 % of calls", "3 times the even share of calls", "1.25 x"; free() it.
char *nccl_findings_amount(double value, const char *unit);
void nccl_findings_put_json(const nccl_findings *f, json_object *o); // adds "verdict", "findings", "unknown", "judged"

#endif
