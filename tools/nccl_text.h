// What the logs of the NCCL Inspector tell, for people.
#ifndef TOOLS_NCCL_TEXT_H
#define TOOLS_NCCL_TEXT_H

#include "nccl_findings.h"

// all: every finding with its evidence, every line of the tables. comparison may be NULL.
void nccl_text_print(const nccl *n, const nccl_findings *f, const nccl_comparison *comparison, bool all);

#endif
