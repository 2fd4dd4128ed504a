// Where something is sent to: a file, a server by HTTP, a subject of NATS. Thread rule: one thread.
#ifndef LIVE_TARGET_H
#define LIVE_TARGET_H

#include "target_model.h"

typedef struct target target;

// NULL: *why says why not; free() it.
target *target_open(const target_options *o, char **why);
// Whole lines, not more than target_most() bytes, as one message.
target_answer target_send(target *t, const char *data, size_t size);
size_t target_most(const target *t);
const char *target_problem(const target *t); // why it was not taken; hostile text
const char *target_body(const target *t);    // what the server answered to the last; hostile text, at most 16 MB
const char *target_name(const target *t);    // for messages, without what is secret in it; hostile text
bool target_is_file(const target *t);
void target_close(target *t);

#endif
