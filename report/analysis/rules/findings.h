// Findings: what the rules say about a difference, worst first, and a verdict in one sentence.
//
// Thread rule: one thread at a time per findings. Everything that is returned ends with findings_free(); the
// difference and the rules must live as long.
#ifndef NETPROF_FINDINGS_H
#define NETPROF_FINDINGS_H

#include "findings_expect.h"
#include "findings_model.h"

#include "analysis/base/json.h"

// Takes an array of stb_ds of other findings, the worst first, in the place of those that there are (whose texts are the
// caller's now), and makes the verdict anew.
void findings_replace(findings *f, finding *items);

void findings_make(findings *f, const difference *d, const rules *set);
// Of findings less severe than `least` the claim is NULL: of many nodes it is most of the work, and nobody reads it.
void findings_make_from(findings *f, const difference *d, const rules *set, severity least);
// For one of two linked nodes: far is what far() in a rule's formula refers to; may be NULL.
void findings_make_pair(findings *f, const difference *d, const findings_far *far, const rules *set);
// With what is expected of the node; may be NULL.
void findings_make_expecting(findings *f, const difference *d, const expected_devices *x, const rules *set);

json_object *findings_json(const findings *f); // {"format":"netprof-findings",...}; never NULL

#endif
