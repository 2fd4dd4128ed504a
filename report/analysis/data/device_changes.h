// Devices that are not at the end what they were at the start: gone, new, renamed, made anew, another one under the
// same name, no longer readable, with another link. Which device is which is netprof_diff()'s work.
//
// Only what a node has, whoever runs: network devices and GPUs. Processes and cgroups come and go.
#ifndef NETPROF_DEVICE_CHANGES_H
#define NETPROF_DEVICE_CHANGES_H

#include "netprof.h"

#include <stdbool.h>

typedef enum device_change_kind { // in the order in which they matter
    DEVICE_GONE = 0,              // there at the start, not at the end
    DEVICE_OTHER,                 // its name belonged to another device at the start, which is gone
    DEVICE_UNREADABLE,            // could be read at the start, and nothing of it at the end
    DEVICE_LINK_DOWN,             // its link was up at the start and is down at the end
    DEVICE_RECREATED,             // made anew: it counts from 0 again
    DEVICE_RETURNED,              // missing in between
    DEVICE_RENAMED,
    DEVICE_SPEED,   // its link has another speed
    DEVICE_MTU,     // it has another MTU
    DEVICE_LINK_UP, // its link was down at the start and is up at the end
    DEVICE_NEW,     // there at the end, not at the start
    DEVICE_CHANGES
} device_change_kind;

typedef struct device_change {
    device_change_kind kind;
    size_t device;  // of delta->schema
    bool physical;  // a port of the node, or a GPU
    bool repeated;  // another device of the same hardware has this change: the interface of a NIC that is gone
    bool slower;    // DEVICE_SPEED: than before
    char *was, *is; // names, speeds, MTUs, addresses; "" where the kind has none
    char *mark;     // by what it is known: "PCI 0000:21:00.0", "ifindex 5"; "" by its name alone
    char *text;     // in words, without its name: hostile text
} device_change;

// The changes between two snapshots, the delta's; by kind, then in the delta's order. Both NULL: only those that the
// delta's flags tell. An stb_ds array; device_changes_free() frees it.
device_change *device_changes_of(const netprof_delta *delta, const netprof_snapshot *before,
                                 const netprof_snapshot *after);
// Adds that a device was missing in some readings in between: that it came back, or more about how it was made anew.
// device_changes_sort() puts all that was added into its place.
void device_changes_add_absence(device_change **changes, const netprof_delta *delta, const char *source,
                                const char *name, size_t missing, size_t readings);
void device_changes_sort(device_change *changes, const netprof_delta *delta);
void device_changes_free(device_change **changes);

const char *device_change_name(device_change_kind kind); // "gone", "other", "link-down", ...
bool device_change_parse(const char *text, device_change_kind *kind);
typedef enum device_link { DEVICE_LINK_NOT_KNOWN = 0, DEVICE_LINK_IS_UP, DEVICE_LINK_IS_DOWN } device_link;
// *counter: the one that tells it, NETPROF_NONE where the device has none.
device_link device_link_at_end(const netprof_delta *delta, size_t device, size_t *counter);
bool device_is_watched(const netprof_device *device); // is it one whose changes are told?
#endif
