// Private to findings*.c: what they share while findings are made.
#ifndef NETPROF_FINDINGS_MAKING_H
#define NETPROF_FINDINGS_MAKING_H

#include "evaluate.h"
#include "findings_model.h"

// Bytes per second in and out, and the largest share of a line, over the physical devices.
typedef struct findings_load {
    double rate[2], share;
    size_t devices, idle;
    bool is_whole; // the share is that of all: no port that carried anything is without a known rate and speed
} findings_load;

typedef struct findings_making {
    findings *f;
    evaluation e;
    findings_load load;
} findings_making;

findings_load findings_weigh(const findings_making *m);

// Judges a rule on all devices; work has a place for each device, and one for the node.
typedef struct findings_judgement {
    reading value;
    bool applies;
} findings_judgement;
void findings_apply(findings_making *m, const rule *x, findings_judgement *work);

void findings_collect_evidence(findings_making *m, finding *x);
void findings_make_claim(findings_making *m, finding *x);

bool findings_names_rule(const char *list, const char *name); // is it one of the rules that a list names?
void findings_explain(findings_making *m, finding *x);
void findings_sort(findings *f, const rules *set);
void findings_find_background(findings_making *m);
void findings_conclude(findings_making *m);

#endif
