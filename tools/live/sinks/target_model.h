// Of all kinds of targets: what they are opened with, and what they answer. Thread rule: any.
#ifndef LIVE_TARGET_MODEL_H
#define LIVE_TARGET_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum target_answer {
    TARGET_TAKEN = 0,
    TARGET_LATER,  // it may take it another time
    TARGET_REFUSED // it will never take this
} target_answer;

typedef struct target_options {
    const char *url;           // a path, http://..., https://..., or nats://HOST:PORT/SUBJECT
    const char *content_type;  // of HTTP
    const char *authorization; // the header's value for HTTP, "USER:PASSWORD" for NATS; NULL: none
    const char *credentials;   // a file for NATS; NULL: none
    const char *ca;            // certificates for HTTP; NULL: the system's
    int64_t timeout_ns;
} target_options;

#endif
