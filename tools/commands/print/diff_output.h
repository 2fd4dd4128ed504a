// The output of netprof diff: text, JSON, CSV.
#ifndef TOOLS_DIFF_OUTPUT_H
#define TOOLS_DIFF_OUTPUT_H

#include "analysis/data/clocks.h"
#include "analysis/data/dataset.h"
#include "analysis/data/difference.h"

#include "analysis/base/json.h"

typedef struct diff_view {
    dataset *set;
    difference *difference;
    size_t top; // of each unit, or of each device when raw; 0: all
    bool top_given, raw, all;
    uint64_t groups;  // bits; 0: whatever group
    const char *host; // CSV of several nodes: a first column; else NULL
    bool untitled;    // CSV: without the line of titles
} diff_view;

void diff_print_text(const diff_view *view);
json_object *diff_json(const diff_view *view);
void diff_print_csv(const diff_view *view);

// ---- what the three share ----

// The counters to list for a device, in order; free() it.
size_t *diff_top(const diff_view *view, size_t device, size_t *count);
// The errno that explains why a counter has no difference, or 0.
int diff_errno(const diff_view *view, size_t counter);
const char *diff_device_name(const diff_view *view, size_t counter);

#endif
