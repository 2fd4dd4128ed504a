// Nodes held against each other: their settings, and what each moved.
#ifndef NETPROF_FINDINGS_NODES_H
#define NETPROF_FINDINGS_NODES_H

#include "findings.h"

// The findings of one node, and when they were measured: ns since 1970, 0 unknown. job: of which it is, NULL unknown.
typedef struct findings_node {
    const char *name, *job;
    findings *f;
    int64_t from_ns, to_ns;
} findings_node;

// Adds to each node's findings in what it alone differs from the others, and to the first one's how several do; says of
// faults of one node alone that the others have none; makes their verdicts anew. Only nodes of different names; `set` is what the findings were made with.
void findings_compare_nodes(findings_node *nodes, size_t count, const rules *set);

// Does a rule count faults of which others may be free, so that it is told when one node alone has them?
bool findings_is_of_faults(const rule *x);
// What the worst values of the other nodes are, to be appended to a claim of this value: "; none on the 7 other nodes",
// "; at most 3 packets on the 7 other nodes". others: NAN of a node that was not judged. NULL: fewer than two others, not
// all of them judged, or one that has more than half of it. free() it.
char *findings_others_text(const rule *x, double value, const double *others, size_t count);

#endif
