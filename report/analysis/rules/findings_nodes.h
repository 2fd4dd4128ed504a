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

// Adds to each node's findings in what it alone differs from the others, and to the first one's how several do; makes their
// verdicts anew. Only nodes of different names; `set` is what the findings were made with.
void findings_compare_nodes(findings_node *nodes, size_t count, const rules *set);

#endif
