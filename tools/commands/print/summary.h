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
json_object *traffic_json(const traffic *t); // NULL where it is not known

// ---- parts for programs ----

// A device's traffic: "device", "source", "physical", "rx_bytes", "rx_bytes_per_s", "rx_packets", ...
json_object *summary_device_json(const difference *d, const traffic *t);
// A trouble: "device", "counter", "unit", "delta", "lower_bound".
json_object *summary_trouble_json(const difference *d, size_t counter);
// The object in one line, and frees it.
void summary_json_line(FILE *to, json_object *o);

// A line as perf stat -x writes it: VALUE UNIT NAME [SPREAD%] NANOSECONDS PERCENTAGE "" "". time: a first field, or NULL;
// value: NULL where nobody knows it; spread: in percent, NAN without one.
void summary_field(FILE *to, const char *separator, const char *time, const char *value, const char *unit,
                   const char *name, double spread, double seconds);
// kind: 0 bytes received, 1 bytes sent, 2 packets received, 3 packets sent.
void summary_traffic_field(FILE *to, const char *separator, const char *time, const difference *d, const traffic *t,
                           int kind, double seconds);
void summary_counter_field(FILE *to, const char *separator, const char *time, const difference *d, size_t counter,
                           double seconds);

#endif
