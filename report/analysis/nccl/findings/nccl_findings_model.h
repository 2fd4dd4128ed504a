// Findings about NCCL logs, worst first, and a verdict.
//
// Thread rule: one thread at a time. Everything ends with nccl_findings_free(); the nccl (and comparison) must live as
// long.
#ifndef NETPROF_NCCL_FINDINGS_MODEL_H
#define NETPROF_NCCL_FINDINGS_MODEL_H

#include "analysis/nccl/logs/nccl_model.h"
#include "analysis/rules/rules.h"

#include "analysis/base/json.h"

enum { NCCL_EVIDENCE = 12 };

typedef struct nccl_evidence {
    char *name;
    double value;
    const char *unit;
} nccl_evidence;

// A rule's constants: its name, the limit and where that is from.
typedef struct nccl_rule {
    const char *name, *class_name, *unit;
    double limit;
    const char *origin, *advice;
} nccl_rule;

typedef struct nccl_finding {
    const nccl_rule *rule;
    severity severity;
    double value;                                           // what was compared with the limit, in the rule's unit
    char *claim;                                            // one sentence; names from outside are in it as they are
    const char *device;                                     // a host, or a communicator's label, or "logs"
    uint32_t communicator, operation, series, member, host; // what it is about; NCCL_NONE
    uint64_t first_sn, last_sn;                             // the calls it is about; both 0: all
    bool to_the_end;                                        // last_sn is the last that was logged
    double cost_us; // what it cost; NAN unknown. Of equally bad findings the dearest comes first
    nccl_evidence evidence[NCCL_EVIDENCE];
    size_t evidence_count;
    const char *explained_by; // a rule's name, or NULL
} nccl_finding;

// Start from {0}.
typedef struct nccl_findings {
    nccl_finding *items; // an array of stb_ds, the worst first
    size_t count;
    // An array of stb_ds: what could not be judged, and why: "nccl-late-rank: dp0: 3 complete calls, 10 are needed"
    char **unknown;
    size_t unknown_count;
    size_t judged; // how often a rule could be judged
    severity severity;
    char *verdict; // one sentence
} nccl_findings;

void nccl_findings_free(nccl_findings *f);
// All rules, ended by one without a name.
const nccl_rule *nccl_rules(void);

#endif
