// What a difference means at a glance: traffic by device, and what went wrong. Shared by diff and run.
#ifndef TOOLS_SUMMARY_H
#define TOOLS_SUMMARY_H

#include "difference.h"
#include "output.h"

enum { IN = 0, OUT = 1 };

// One device's traffic, from the counters that the catalog marks as its bytes and packets.
typedef struct traffic {
    size_t device;                // index in the delta's schema
    bool known;                   // there is any such counter with a value
    bool bytes_known[2], packets_known[2];
    bool bytes_bound[2], packets_bound[2]; // the true figure, and its rate, may be larger
    bool repeated;                // another device counts the same bytes: listed, never added
    uint64_t bytes[2], packets[2];
    double byte_rate[2], packet_rate[2]; // per second; NAN when unknown
    double line_rate;             // bytes per second, each way; 0 when unknown, and for virtual devices
    double share;                 // of the line rate, the busier way; NAN when unknown
    size_t troubles;              // how many counters of trouble changed
} traffic;

enum { TRAFFIC_CELLS = 6 }; // received: bytes, rate, packets; sent: likewise

// One for each device, in the schema's order; free() it.
traffic *summary_traffic(const difference *d);
bool traffic_moved(const traffic *t);
bool traffic_is_bound(const traffic *t); // is any of its figures a lower bound?

// Bit/s by the device's facts; 0 when unknown.
double device_bits_per_s(const netprof_device *device);

// Is this a counter of errors, drops, or repetition, and no other that changed tells of the same events better?
bool summary_is_trouble(const difference *d, size_t counter);
// Indexes of those that changed, device after device; free() it.
size_t *summary_troubles(const difference *d, size_t *count);

// ---- parts of a text ----

// The cells of RECEIVED, RATE, PACKETS, SENT, RATE, PACKETS, or empty ones.
void print_traffic_cells(table *t, colour c, const traffic *x);
// "12.3 %" or "", with "at least" before it where the bytes are a lower bound.
const char *traffic_share(const traffic *t);
// The difference as people read it: "-3", "1234567".
const char *delta_text(const difference_row *row);
const char *rate_text(const difference_row *row); // "" when there is none
json_object *delta_json(const difference_row *row);

#endif
