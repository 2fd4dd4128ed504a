// Which nodes stand together: by a file of the head's directory, else by their names. Thread rule: under nodes_lock().
#ifndef LIVE_WEB_RACKS_H
#define LIVE_WEB_RACKS_H

#include "nodes.h"

#include "live/journal/status_file.h"

// A line of DIR/racks: "NAME GLOBS", nodes like these, by commas.
typedef struct racks_row {
    char *name, **globs; // stb_ds
} racks_row;

typedef struct racks {
    racks_row *rows; // stb_ds; none: there is no such file
    status_seen seen;
    uint64_t generation; // of the file
} racks;

// A node in its rack.
typedef struct racked {
    const node *node;
    const char *rack; // its name; NULL: it has none
    size_t group;     // of all in one rack the same
} racked;

// Reads the file where it is new, and finds the rack of each node that is new. Of the thread that makes nodes; not locked: it
// locks where others read.
void racks_look(racks *r, nodes *n, const char *directory);
// All nodes, rack by rack in the order of the file, those of none behind them; without a file by what their names begin with,
// where that makes groups. By name in each. *groups: how many, 1 where there is nothing to tell them apart. stb_ds.
racked *racks_order(const racks *r, nodes *n, size_t *groups);
void racks_free(racks *r);

#endif
