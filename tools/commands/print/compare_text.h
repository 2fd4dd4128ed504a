// The output of netprof compare for people.
#ifndef TOOLS_COMPARE_TEXT_H
#define TOOLS_COMPARE_TEXT_H

#include "analysis/compare/compare.h"
#include "cli/common.h"

// `top` lines of each class (0: all); all: also what is within chance, all gauges and all checks.
void compare_print_text(FILE *to, const comparison *c, size_t top, bool all);

#endif
