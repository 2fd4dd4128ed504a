// From NCCL logs, and what was found in them, to a view. Thread rule: one thread at a time per view.
#ifndef NETPROF_NCCL_VIEW_H
#define NETPROF_NCCL_VIEW_H

#include "nccl_view_model.h"
#include "analysis/nccl/findings/nccl_counters.h"
#include "analysis/nccl/findings/nccl_findings.h"

// Everything is copied. comparison and counters: NULL without.
void nccl_view_make(nccl_view *v, const nccl *n, const nccl_findings *f, const nccl_comparison *comparison,
                    const nccl_counters *counters);

#endif
