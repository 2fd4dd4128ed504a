// Which counters a format for time series databases gets, and what is known about them. Of a whole node's tree that would be
// 150 million series on a large machine: unless --include asks for others it is the fast set, the bytes of each device, and what
// the node itself tells (CPU, memory, pressure).
#ifndef EXPORT_SINK_CHOSEN_H
#define EXPORT_SINK_CHOSEN_H

#include "export/export.h"
#include "analysis/base/index_map.h"

typedef enum chosen_role { CHOSEN_OTHER = 0, CHOSEN_RECEIVED, CHOSEN_SENT } chosen_role;

typedef struct chosen_counter {
    bool wanted, gauge, is_signed;
    chosen_role role;
    bool port; // its device is a port of the node, which no other shows better
    const char *node;
    char *source, *device, *counter, *unit, *description; // "" not known
} chosen_counter;

// Start from {0}; chosen_free() at the end.
typedef struct chosen {
    chosen_counter *counters; // arrays of stb_ds
    char **nodes;             // of the runs, by number - 1
    index_map *counter_of, *port_of;
} chosen;

// Rows of runs, devices and counters; of others nothing happens.
void chosen_take(chosen *c, export_id id, const export_cell *cells, bool all);
// The counter of a row: its run in row[0], its source, device and name in name[0..2]. NULL: it is not wanted.
const chosen_counter *chosen_find(const chosen *c, const export_cell *row, const export_cell *name);
const char *chosen_node(const chosen *c, uint64_t run); // "" not known
void chosen_free(chosen *c);

#endif
