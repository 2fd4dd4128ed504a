// A subject of NATS. Thread rule: one thread.
#ifndef LIVE_TARGET_NATS_H
#define LIVE_TARGET_NATS_H

#include "target_model.h"

typedef struct target_nats target_nats;

target_nats *target_nats_open(const target_options *o, char **why);
target_answer target_nats_send(target_nats *n, const char *data, size_t size, char **problem);
size_t target_nats_most(const target_nats *n); // 0: not known yet
void target_nats_close(target_nats *n);

#endif
