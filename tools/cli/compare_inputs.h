// The runs of a comparison, before they are compared: one that is given on both sides, and sides with nothing in common.
#ifndef TOOLS_COMPARE_INPUTS_H
#define TOOLS_COMPARE_INPUTS_H

#include "analysis/compare/compare_model.h"

// Returns an exit code after saying what forbids the comparison: EXIT_USAGE for a run that is on both sides (the same
// file, a link to it, a copy, or the same readings); EXIT_FILE, unless forced, where no device of one side is on the
// other and no host is on both.
int compare_inputs_check(const comparison *c, bool force);

#endif
