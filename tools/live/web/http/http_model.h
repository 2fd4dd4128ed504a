// Requests and answers. Thread rule: any.
#ifndef LIVE_WEB_HTTP_MODEL_H
#define LIVE_WEB_HTTP_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HTTP_BODY_MOST = 65536, HTTP_CONNECTIONS = 256, HTTP_TOKEN = 32 };

typedef enum http_right { HTTP_ALL = 0, HTTP_READ, HTTP_CONTROL } http_right;
typedef enum http_lane { HTTP_CHARTS = 0, HTTP_REPORTS, HTTP_LISTS, HTTP_LANES } http_lane;

struct http_connection;

typedef struct http_request {
    const char *path; // decoded; holds no control characters
    const char *rest; // of it, where the row's path ends in '*'
    const char *body;
    size_t body_size;
    bool wants_html, wants_openmetrics; // by its Accept
    struct http_connection *of;         // private
} http_request;

typedef struct http_answer {
    unsigned code;       // 0: 200
    const char *type;    // NULL: JSON
    const char *more[2]; // another header: name and value, which live for ever
    char *data;          // from malloc(); the server frees it
    size_t size;         // 0: of a text
    // A job: its lane, and what is done there, with a text of its own that the server frees. Beside data: it is done as well,
    // if there is room, and what it answers goes to nobody.
    void (*job)(void *user, char *order, struct http_answer *a);
    http_lane lane;
    char *order;
} http_answer;

typedef struct http_row {
    const char *method, *path;
    http_right right;
    void (*answer)(void *user, const http_request *r, http_answer *a);
} http_row;

// {"success": false, "message": ...}, as gswarm has it.
void http_fail(http_answer *a, unsigned code, const char *text);
// Compares in a time that does not depend on where they differ.
bool http_is_token(const char *given, const char *token);

#endif
