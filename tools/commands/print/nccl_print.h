// netprof nccl for people: the findings of NCCL Inspector logs as text, and as a report by netprof-report.
#ifndef TOOLS_NCCL_TEXT_H
#define TOOLS_NCCL_TEXT_H

#include "analysis/nccl/findings/nccl_counters.h"

// all: every finding with its evidence, every line of the tables. comparison and counters may be NULL.
void nccl_text_print(const nccl *n, const nccl_findings *f, const nccl_comparison *comparison,
                     const nccl_counters *counters, bool all);

// Draws the nccl.json at `saved` into `report`. Returns an exit code after saying what is wrong.
int nccl_report_make(const char *saved, const char *report);

#endif
