// What a difference means at a glance: traffic by device, and what went wrong. Shared by diff and run.
#ifndef TOOLS_SUMMARY_H
#define TOOLS_SUMMARY_H

#include "analysis/data/difference.h"
#include "cli/output.h"
#include "analysis/data/traffic.h"

enum { IN = TRAFFIC_RECEIVED, OUT = TRAFFIC_SENT };
enum { TRAFFIC_CELLS = 6 }; // received: bytes, rate, packets; sent: likewise

// traffic_make() that has memory.
traffic *summary_traffic(const difference *d);

// Indexes of the counters of trouble that changed, device after device; free() it.
size_t *summary_troubles(const difference *d, size_t *count);

// ---- parts of a text ----

// The cells of RECEIVED, RATE, PACKETS, SENT, RATE, PACKETS, or empty ones.
void print_traffic_cells(table *t, colour c, const traffic *x);
// "12.3 %" or "", with "at least" before it where the bytes are a lower bound.
words_text traffic_share(const traffic *t);
// The difference as people read it: "-3", "1234567".
words_text delta_text(const difference_row *row);
words_text rate_text(const difference_row *row); // "" when there is none
json_object *delta_json(const difference_row *row);

#endif
