// Where something is sent to: a file, a server by HTTP, a subject of NATS. Thread rule: one thread.
#ifndef LIVE_TARGET_H
#define LIVE_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum target_answer {
    TARGET_TAKEN = 0,
    TARGET_LATER,  // it may take it another time
    TARGET_REFUSED // it will never take this
} target_answer;

typedef struct target target;

typedef struct target_options {
    const char *url;           // a path, http://..., https://..., or nats://HOST:PORT/SUBJECT
    const char *content_type;  // of HTTP
    const char *authorization; // the header's value for HTTP, "USER:PASSWORD" for NATS; NULL: none
    const char *credentials;   // a file for NATS; NULL: none
    const char *ca;            // certificates for HTTP; NULL: the system's
    int64_t timeout_ns;
} target_options;

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
