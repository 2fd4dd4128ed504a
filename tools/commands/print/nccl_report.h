// A report of a saved result, by netprof-report.
#ifndef TOOLS_NCCL_REPORT_H
#define TOOLS_NCCL_REPORT_H

// Draws the nccl.json at `saved` into `report`. Returns an exit code after saying what is wrong.
int nccl_report_make(const char *saved, const char *report);

#endif
