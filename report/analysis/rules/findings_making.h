// Private to findings*.c: what they share while findings are made.
#ifndef NETPROF_FINDINGS_MAKING_H
#define NETPROF_FINDINGS_MAKING_H

#include "evaluate.h"
#include "findings_model.h"

typedef struct findings_making {
    findings *f;
    evaluation e;
    const rules *set;
    severity least; // whose claims are made
} findings_making;

findings_load findings_weigh(const findings_making *m);

// Judges a rule on all devices; work has a place for each device, and one for the node.
typedef struct findings_judgement {
    reading value;
    bool applies;
} findings_judgement;
void findings_apply(findings_making *m, const rule *x, findings_judgement *work);
void findings_add_check(findings_making *m, finding_check check);
// Holds devices that are alike against each other, by what was measured of each.
void findings_judge_peers(findings_making *m, const rule *x, const findings_judgement *measured);

void findings_collect_evidence(findings_making *m, finding *x);
void findings_make_claim(findings_making *m, finding *x);
void findings_append_sockets(findings_making *m, finding *x); // of TCP: whose connections, where the files tell
// The claim of the rule alone, of the device at hand.
void findings_append_claim(findings_making *m, finding *x);
// Where (nearly) all devices have much the same finding of the rule, no single one is named. From the item `first` on.
void findings_mark_alike(findings_making *m, const rule *x, size_t first, size_t judged);

void findings_explain(findings_making *m, finding *x);
void findings_sort(findings *f, const rules *set);
void findings_find_background(findings_making *m);
// What could not be judged: a rule's reading on a device; sources, before any rule; and at the end, causes.
void findings_add_unknown(findings_making *m, const rule *x, size_t device, reading r);
void findings_add_blind_sources(findings_making *m);
// The same of a device that may be there or not: its source was left out, or could not be read.
void findings_add_unseen(findings_making *m, const char *rule_name, const char *source, const char *device);
// A finding of this rule, if the value crosses a threshold of it. subject: as finding.subject; claim: from malloc(), NULL
// for the rule's own.
void findings_add_told(findings_making *m, const char *rule_name, size_t device, const char *subject, double value,
                       char *claim);
void findings_look_at_command(findings_making *m);
void findings_look_at_clock(findings_making *m);
void findings_look_for_expected(findings_making *m, const expected_devices *x);
void findings_find_gaps(findings_making *m);
bool findings_is_network(const char *source);
// Sources of the node as a whole in which a fault would show: the kernel's protocols, and FINDINGS_HOST_SOURCES.
bool findings_is_host(const char *source);
void findings_find_places(findings_making *m);
void findings_conclude(findings *f);

#endif
