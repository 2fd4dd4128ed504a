// What netprof check says of the window, group by group, as findings that begin, go on and end. Thread rule: one thread.
#ifndef LIVE_JUDGE_TAKE_H
#define LIVE_JUDGE_TAKE_H

#include "judge_model.h"

// What a group's document says: its findings, and a verdict for each of its nodes.
typedef struct judge_group {
    const char *session; // NULL: each by itself
    size_t *hosts;       // stb_ds
    bool small;          // by their small files
    json_object *told;   // NULL: it could not be judged
    char *text;          // the verdict
    severity severity;
} judge_group;

// A finding of the last window, of the group with this number.
typedef struct judge_raw {
    json_object *told;
    const char *session;
    char *host, *key;
    severity severity;
    double cost_s;
} judge_raw;

const char *judge_file_of(const judge *j, const judge_group *g, size_t host); // which it is judged by
// The verdicts of its nodes, and its findings of watch and worse, the worst first, appended to *to (stb_ds).
void judge_take_group(judge *j, judge_group *g, judge_raw **to);
// All groups' findings in one order: severity, then cost; within a group as netprof check has them. Takes the lists over.
judge_raw *judge_merge(judge_raw **lists, size_t count);
// A finding that was not seen for `hold_ns` ends, if its node was judged; one that is seen is the same as before. Takes
// `raw` over.
void judge_update(judge *j, judge_raw *raw, int64_t hold_ns);
// The verdict of all; of one group its own words. raw: the findings of the window, in their order.
void judge_conclude(judge *j, const judge_group *groups, size_t count, const judge_raw *raw);

#endif
