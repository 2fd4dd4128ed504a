// What a node did between two of its readings, as the page and the API show it. Thread rule: any, for different objects.
#ifndef LIVE_WEB_METERS_H
#define LIVE_WEB_METERS_H

#include "netprof.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum meter {
    METER_SENT = 0, // bytes/s of the node's ports, each byte once
    METER_RECEIVED,
    METER_PAUSED, // share of the time, 0..1, that the network let a port not send; the most paused port
    METER_GPU,    // share of the time that its GPUs were busy, 0..1
    METER_CPU,    // CPUs busy
    METERS
} meter;

typedef struct meter_info {
    const char *name, *title, *unit; // "sent", "Sent", "bytes/s"
} meter_info;

const meter_info *meter_of(meter m);
bool meter_find(const char *name, meter *m);

// A network device that counts. NAN: not measured.
typedef struct meter_port {
    char *name;
    double sent, received, paused, retries; // bytes/s, share, 1/s
} meter_port;

typedef struct meter_reading {
    double values[METERS]; // NAN: not measured
    meter_port *ports;     // stb_ds
    double cpus;           // that the node has; NAN: not known
    size_t gpus;
} meter_reading;

// False: the two readings cannot be compared (another boot). meter_free() what is returned.
bool meter_make(meter_reading *r, const netprof_snapshot *before, const netprof_snapshot *after);
void meter_free(meter_reading *r);

#endif
