// Healthy runs against faulty ones: what differs, on which device, and whether it is more than chance.
//
//     comparison c = {0};
//     comparison_add(&c, COMPARISON_HEALTHY, &healthy, NULL, &error);   // data sets; they must outlive the comparison
//     comparison_add(&c, COMPARISON_FAULTY, &faulty, NULL, &error);
//     comparison_make(&c, &rules, NULL, &error);
//     ... c.title, c.sentences, c.lines, c.checks, c.devices ...
//     comparison_free(&c);
//
// A run is one difference of a node; runs.h says how files become runs.
//
// Each counter is compared per second (by its own two time stamps) and per byte (see comparison_bytes). Devices and
// counters match by source and name, across hosts as well. A counter that was reset, is saturated, or could not be
// read has no value: it is unknown, never 0.
//
// Several runs on a side count by their middle and by ranks, never by the worst one: the healthy ones give a median and a
// range, the faulty ones a median; what is ranked is the middle faulty run (of two the milder). One or two healthy runs
// tell nothing of how much a device varies: what devices that are alike had counts as their range. What may accuse beyond
// the rules, and how often chance would, is said in compare_chance.h and in netprof-compare(1).
//
// Score of a cell: |log2((f + e) / (h + e))| times the weight of the counter's class, where h and f are the counts of a
// second (or of a byte), and e is one event in the whole interval. For counters of time e is 0.01 % of the interval.
// With COMPARISON_MILDER the smaller of the two scores counts, and none when one says more and the other less: what
// only followed the traffic is no difference. Below a floor (comparison_floor) and within chance the score is 0.
//
// Thread rule: one thread at a time per comparison. Everything that is returned ends with comparison_free().
#ifndef NETPROF_COMPARE_H
#define NETPROF_COMPARE_H

#include "compare_model.h"

// All zero = defaults.
typedef struct comparison_options {
    comparison_basis basis; // of the score
    bool force;             // difference across boots of a node within a run
    const char *scope;      // words for what alone is compared, as difference.scope; NULL: all
} comparison_options;

// Adds the runs that a data set holds. Errors: _ARG (a snapshot without a partner, no run at all, snapshots in the
// wrong order), _MISMATCH (of two boots, unless options->force); see error->path and error->text.
netprof_err comparison_add(comparison *c, comparison_side side, const dataset *set, const comparison_options *options,
                           netprof_error *error);
// Compares. The rules must outlive the comparison. Errors: _ARG (a side without a run).
netprof_err comparison_make(comparison *c, const rules *set, const comparison_options *options, netprof_error *error);

// {"format":"netprof-comparison","version":3,...}; `top` lines (0: all ranked), with all = true also those within
// chance.
json_object *comparison_json(const comparison *c, size_t top, bool all);

#endif
