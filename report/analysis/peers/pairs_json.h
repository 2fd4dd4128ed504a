// Who sent how much to whom, as JSON: sums, and the pairs with most bytes.
#ifndef NETPROF_PAIRS_JSON_H
#define NETPROF_PAIRS_JSON_H

#include "analysis/base/json.h"
#include "pairs.h"

json_object *pairs_json(const pairs *p, size_t ranks_told);

#endif
