// What a difference means at a glance: traffic by device, and what went wrong. Shared by diff and run.
#ifndef TOOLS_SUMMARY_H
#define TOOLS_SUMMARY_H

#include "difference.h"
#include "output.h"
#include "traffic.h"

enum { IN = TRAFFIC_RECEIVED, OUT = TRAFFIC_SENT };
enum { TRAFFIC_CELLS = 6 }; // received: bytes, rate, packets; sent: likewise

// traffic_make() that has memory.
traffic *summary_traffic(const difference *d);

// Indexes of the counters of trouble that changed, device after device; free() it.
size_t *summary_troubles(const difference *d, size_t *count);

// A counter summed over a source's physical devices that changed it, or over all when no physical one did.
typedef struct whole_sum {
    const char *source, *name, *unit;
    const catalog_entry *entry;
    uint64_t value;
    double rate_per_s;
    size_t first, devices, most; // counter indexes: the first and the largest
} whole_sum;

// The `top` largest of each unit (0: all), unit after unit; of the counters in rows. free() it.
whole_sum *summary_sums(const difference *d, const size_t *rows, size_t row_count, size_t top, size_t *count);

// ---- parts of a text ----

// The cells of RECEIVED, RATE, PACKETS, SENT, RATE, PACKETS, or empty ones.
void print_traffic_cells(table *t, colour c, const traffic *x);
// The difference as people read it: "-3", "1234567".
const char *delta_text(const difference_row *row);
const char *rate_text(const difference_row *row); // "" when there is none
json_object *delta_json(const difference_row *row);

#endif
