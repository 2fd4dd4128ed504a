// Two nodes that talked with each other alone (a closed benchmark): which port of one is linked with which of the
// other, by what both counted.
//
//     ends_pair e = {0};
//     ends_find(&e, &a, &b);
//     findings_make_pair(&f, &a, &(findings_far){&b, e.of[0]}, &rules);
//     ends_free(&e);
//
// A port of one and a port of the other are a pair when each received about what the other sent, and neither fits
// another port as well. Whether a third node took part cannot be told from counters: the caller has to know it.
//
// Thread rule: any thread for different ends.
#ifndef NETPROF_ENDS_H
#define NETPROF_ENDS_H

#include "analysis/data/difference.h"

typedef struct ends_link {
    size_t device[2];              // in the schemas of the two nodes
    uint64_t sent[2], received[2]; // packets that this node sent, and what the other one received of these
} ends_link;

// Start from {0}; ends_free() at the end.
typedef struct ends_pair {
    ends_link *links; // in the order of the first node's devices
    size_t count;
    size_t *of[2];    // for each device of one node the one of the other, or DIFFERENCE_NONE
    int64_t apart_ns; // by how much their readings were apart, by the wall clocks; -1 unknown
} ends_pair;

void ends_find(ends_pair *e, const difference *a, const difference *b);
void ends_free(ends_pair *e);

#endif
