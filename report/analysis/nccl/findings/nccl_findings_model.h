// Findings about NCCL logs, worst first, and a verdict.
//
// Thread rule: one thread at a time. Everything ends with nccl_findings_free(); the nccl (and comparison) must live as
// long.
#ifndef NETPROF_NCCL_FINDINGS_MODEL_H
#define NETPROF_NCCL_FINDINGS_MODEL_H

#include "analysis/nccl/logs/nccl_model.h"
#include "analysis/rules/rules.h"

#include "analysis/base/json.h"
#include "analysis/base/words.h"

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
    bool by_cost; // its severity follows from what it cost: see nccl_cost_steps
} nccl_rule;

// From which share on of the time in collectives of the ranks that it concerns a finding is how bad; below the last it
// is context. Ended by a share of 0. Our own.
typedef struct nccl_cost_step {
    double share;
    severity severity;
} nccl_cost_step;
extern const nccl_cost_step nccl_cost_steps[];

typedef struct nccl_finding {
    const nccl_rule *rule;
    severity severity;
    double value;                                           // what was compared with the limit, in the rule's unit
    char *claim;                                            // one sentence; names from outside are in it as they are
    const char *device;                                     // a host, or a communicator's label, or "logs"
    uint32_t communicator, operation, series, member, host; // what it is about; NCCL_NONE
    uint32_t receiver;          // of a link that is slow: the member at its other end; else NCCL_NONE
    uint32_t rail;              // of a rail that is slow: its place, see nccl_places.h; else NCCL_NONE
    uint64_t first_sn, last_sn; // the calls it is about; both 0: all
    bool to_the_end;            // last_sn is the last that was logged
    double cost_us;             // what it cost; NAN unknown. Of equally bad findings the dearest comes first
    double cost_share;          // of the time in collectives of the ranks that it concerns; NAN unknown
    nccl_evidence evidence[NCCL_EVIDENCE];
    size_t evidence_count;
    const char *explained_by; // a rule's name, or NULL
} nccl_finding;

// What was judged, for the verdict: of the communicators with more than one rank, and of their ranks (processes).
typedef struct nccl_judged {
    size_t ranks, late;          // late: those of which lateness could be judged
    double late_us;              // one later by more than this in every call would have been found; NAN unknown
    size_t communicators, wires; // wires: those whose wire could be judged
    size_t wire_ranks;           // ranks in any of them
    double wire_ratio;           // one this much slower than its equals would have been found; NAN unknown
} nccl_judged;

// Start from {0}.
typedef struct nccl_findings {
    nccl_finding *items; // an array of stb_ds, the worst first
    size_t count;
    // An array of stb_ds: what could not be judged, and why: "nccl-late-rank: 3 of 16 ranks: 7 complete calls, ..."
    char **unknown;
    size_t unknown_count;
    size_t judged;     // how often a rule could be judged
    nccl_judged what;  // of it
    bool is_blind;     // not everything that matters could be judged
    severity severity; // unknown: nothing bad was found, and not everything that matters could be judged
    char *verdict;     // one sentence
} nccl_findings;

void nccl_findings_free(nccl_findings *f);
// "15 ranks", "12 of 15 ranks".
words_text nccl_judged_text(size_t judged, size_t all, const char *noun);
// Was something of the class found whose severity follows from its cost? Where nothing bad was found, it cost little.
bool nccl_findings_mention(const nccl_findings *f, const char *class_name);
// All rules, ended by one without a name.
const nccl_rule *nccl_rules(void);

#endif
