// Lists of a JSON document as CSV, under the same names: what --csv prints of findings and files.
#ifndef TOOLS_JSON_CSV_H
#define TOOLS_JSON_CSV_H

#include "analysis/base/json.h"

#include <stdio.h>

// A line of titles, then one for each object of the list. Keys: "host", "threshold.value" (titled threshold_value); the
// last is NULL. What an object has not, or null, is an empty cell.
void json_csv_print(FILE *to, json_object *list, const char *const *keys);

// The "findings" of a document of netprof check, job, compare or nccl; of netprof-jobs those of all jobs. Takes it over.
void findings_csv_print(FILE *to, json_object *document);

#endif
