// What netprof check prints: of one run, and of several.
#ifndef TOOLS_CHECK_OUTPUT_H
#define TOOLS_CHECK_OUTPUT_H

#include "analysis/base/json.h"
#include "analysis/compare/link_pairs.h"
#include "analysis/data/runs.h"
#include "analysis/rules/findings.h"

typedef struct check_node {
    const node_run *run;
    findings f;
    size_t order; // among the runs
} check_node;

// The worst node first: check_nodes_sort(). between: the links of the first two runs, NULL without --pair. all: every
// finding by itself, every node and every check that could not be made.
typedef struct check_nodes {
    check_node *items;
    size_t count;
    const ends_pair *between;
    bool all;
} check_nodes;

void check_print_text(const findings *f, bool all);
void check_nodes_sort(check_nodes *n);
void check_nodes_print_text(const check_nodes *n);
json_object *check_nodes_json(const check_nodes *n);

#endif
