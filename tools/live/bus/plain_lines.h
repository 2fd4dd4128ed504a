// What a NATS server says, line by line and message by message. Thread rule: one thread for each plain_lines.
#ifndef LIVE_PLAIN_LINES_H
#define LIVE_PLAIN_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum plain_kind {
    PLAIN_OTHER, // +OK, and what later servers may say
    PLAIN_INFO,
    PLAIN_PING,
    PLAIN_PONG,
    PLAIN_ERROR,
    PLAIN_MESSAGE,
} plain_kind;

// Its pointers hold until the next call.
typedef struct plain_line {
    plain_kind kind;
    const char *text;    // PLAIN_ERROR: the server's words, without quotes
    int64_t max_payload; // PLAIN_INFO; 0: it does not say
    bool tls;            // PLAIN_INFO: it wants no words without
    uint64_t number;     // PLAIN_MESSAGE: the subscription's
    const char *data;    // PLAIN_MESSAGE
    size_t size;
} plain_line;

typedef struct plain_lines {
    char *data;
    size_t begin, end, room;
} plain_lines; // zero: nothing was read yet

// Takes what there is to read now. False: the other side is gone.
bool plain_lines_read(plain_lines *l, int fd);
// 1: *line is one; 0: it has not come whole yet; -1: this is no NATS server, or it says more than anybody would.
int plain_lines_next(plain_lines *l, plain_line *line);
void plain_lines_free(plain_lines *l);
// CONNECT and PING; free() it. USER and PASSWORD, or NULL.
char *plain_lines_hello(const char *name, const char *user, const char *password);

#endif
