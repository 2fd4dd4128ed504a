// The traffic of devices: bytes and packets, each way, and what part of the line rate that is.
//
// Thread rule: any thread for different differences.
#ifndef NETPROF_TRAFFIC_H
#define NETPROF_TRAFFIC_H

#include "difference.h"

enum { TRAFFIC_RECEIVED = 0, TRAFFIC_SENT = 1 };

// One device's traffic, from the counters that the catalog marks as its bytes and packets.
typedef struct traffic {
    size_t device; // index in the delta's schema
    bool known;    // there is any such counter with a value
    bool bytes_known[2], packets_known[2];
    bool bytes_bound[2], packets_bound[2]; // the true figure, and its rate, may be larger
    bool repeated;                         // another device counts the same bytes: listed, never added
    uint64_t bytes[2], packets[2];
    double byte_rate[2], packet_rate[2]; // per second; NAN when unknown
    double line_rate;                    // bytes per second, each way; 0 when unknown, and for virtual devices
    double share;                        // of the line rate, the busier way; NAN when unknown
    size_t troubles;                     // how many counters of trouble changed
} traffic;

// One for each device, in the schema's order; free() it.
traffic *traffic_make(const difference *d);
bool traffic_moved(const traffic *t);
bool traffic_is_bound(const traffic *t); // is any of its figures a lower bound?

// The sum of the device's counters with this mark (CATALOG_RX_ERRORS ...), per second; NAN where it has none with a value.
// *bound: the true rate may be larger.
double traffic_marked_rate(const difference *d, size_t device, uint32_t mark, bool *bound);
// Bit/s by the device's facts; 0 when unknown.
double traffic_bits_per_s(const netprof_device *device);
// True if the first of two devices of one node counts the bytes of the second as well.
bool traffic_counts_the_same(const netprof_device *all, const netprof_device *part);
// True for a counter of errors, drops or repetition, unless another one that changed counts the same events better.
bool traffic_is_trouble(const difference *d, size_t counter);

#endif
