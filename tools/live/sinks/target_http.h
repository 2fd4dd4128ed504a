// HTTP, by libcurl. Thread rule: one thread.
#ifndef LIVE_TARGET_HTTP_H
#define LIVE_TARGET_HTTP_H

#include "target_model.h"

typedef struct target_http target_http;

target_http *target_http_open(const target_options *o, char **why);
target_answer target_http_send(target_http *h, const char *data, size_t size, char **problem);
const char *target_http_body(const target_http *h);
void target_http_close(target_http *h);

#endif
