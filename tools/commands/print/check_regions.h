// netprof check: the regions that lie among the files it is given.
#ifndef TOOLS_CHECK_REGIONS_H
#define TOOLS_CHECK_REGIONS_H

#include "analysis/rules/rules.h"

// What netprof regions says of the regions in these directories: its verdict is printed (JSON: said on standard error, to
// keep the document whole), and its severity returned; OK where there are none. *blind becomes true where there are some
// that could not be read, which is said.
severity check_regions(const char *const *paths, size_t count, const rules *set, bool json, bool *blind);

#endif
