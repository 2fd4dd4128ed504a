#define _GNU_SOURCE
#include "http.h"

#include "http_bounds.h"
#include "http_lanes.h"

#include "analysis/base/memory.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#ifdef NETPROF_HAS_GNUTLS
#include <gnutls/gnutls.h>
#endif
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum { HTTP_IDLE_S = 30, HTTP_HEADERS = 16 << 10, HTTP_HARD = 1024 };
static const char http_no_request[] = "more than 64 KiB is no request";
static const unsigned long long http_drained = 1 << 20; // of the body of a request that is refused

struct http_server {
    http_options options;
    struct MHD_Daemon *daemon;
    http_bounds *bounds;
    http_lanes *lanes;
    http_counts counts; // atomic
};

// A request on its way.
struct http_connection {
    struct MHD_Connection *mhd;
    const http_row *row;
    char *body;
    size_t size;
    unsigned refused;    // the code, before its body was read; 0: it is not
    const char *because; // and the text
    bool too_large, answered;
    http_answer answer; // of a job
};

static int64_t http_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void http_add(uint64_t *count)
{
    __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

// ---- answers ----

static enum MHD_Result http_send(http_server *h, struct MHD_Connection *c, http_answer *a)
{
    static const char *const headers[][2] = {{"X-Content-Type-Options", "nosniff"},
                                             {"Cache-Control", "no-store"},
                                             {"Referrer-Policy", "no-referrer"},
                                             {"Cross-Origin-Resource-Policy", "same-origin"},
                                             {"X-Frame-Options", "DENY"}};
    unsigned code = a->code ? a->code : 200;
    if (!a->data) a->data = memory_strdup("");
    size_t size = a->size ? a->size : strlen(a->data);
    struct MHD_Response *r = MHD_create_response_from_buffer(size, a->data, MHD_RESPMEM_MUST_FREE);
    if (!r) {
        free(a->data);
        return MHD_NO;
    }
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        MHD_add_response_header(r, headers[i][0], headers[i][1]);
    MHD_add_response_header(r, "Content-Type", a->type ? a->type : "application/json");
    if (!a->more[0] || strcmp(a->more[0], "Content-Security-Policy") != 0)
        MHD_add_response_header(r, "Content-Security-Policy", "default-src 'none'; sandbox");
    if (a->more[0]) MHD_add_response_header(r, a->more[0], a->more[1]);
    if (code == 401) MHD_add_response_header(r, "WWW-Authenticate", "Bearer realm=\"netprof\"");
    if (code >= 400) http_add(&h->counts.failed);
    enum MHD_Result sent = MHD_queue_response(c, code, r);
    MHD_destroy_response(r);
    *a = (http_answer){.code = 0};
    return sent;
}

static enum MHD_Result http_refuse(http_server *h, struct MHD_Connection *c, unsigned code, const char *text)
{
    http_answer a;
    http_fail(&a, code, text);
    return http_send(h, c, &a);
}

// ---- who asks ----

static http_right http_right_of(const http_server *h, const char *given)
{
    bool controls = http_is_token(given, h->options.control_token), reads = http_is_token(given, h->options.read_token);
    return controls ? HTTP_CONTROL : reads ? HTTP_READ : HTTP_ALL;
}

// A certificate that one of the given authorities signed.
static bool http_has_certificate(const http_server *h, struct MHD_Connection *c)
{
#ifdef NETPROF_HAS_GNUTLS
    unsigned status = 1;
    const union MHD_ConnectionInfo *info =
        h->options.clients ? MHD_get_connection_info(c, MHD_CONNECTION_INFO_GNUTLS_SESSION) : NULL;
    return info && info->tls_session && gnutls_certificate_verify_peers2(info->tls_session, &status) == 0 &&
           status == 0;
#else
    (void)h, (void)c;
    return false;
#endif
}

// *wrong: something was given that gives no right.
static http_right http_find_right(const http_server *h, struct MHD_Connection *c, bool *wrong)
{
    const char *header = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Authorization");
    http_right right = http_has_certificate(h, c) ? HTTP_READ : HTTP_ALL, given = HTTP_ALL;
    if (header && strncasecmp(header, "Bearer ", 7) == 0) {
        given = http_right_of(h, header + 7);
    } else if (header) { // Basic: any user, the token as the password
        char *password = NULL, *user = MHD_basic_auth_get_username_password(c, &password);
        if (password) given = http_right_of(h, password);
        if (user) MHD_free(user);
        if (password) MHD_free(password);
    }
    *wrong = header && given == HTTP_ALL;
    return given > right ? given : right;
}

static bool http_may(http_server *h, struct MHD_Connection *c, unsigned cost)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return !info || !info->client_addr || http_bounds_may(h->bounds, info->client_addr, cost, http_now());
}

// ---- which row ----

static bool http_path_fits(const char *pattern, const char *path)
{
    size_t n = strlen(pattern);
    if (n && pattern[n - 1] == '*') return strncmp(pattern, path, n - 1) == 0;
    return strcmp(pattern, path) == 0;
}

static const http_row *http_find_row(const http_server *h, const char *method, const char *path, bool *known)
{
    if (strcmp(method, "HEAD") == 0) method = "GET";
    *known = false;
    for (const http_row *r = h->options.rows; r->path; r++) {
        if (!http_path_fits(r->path, path)) continue;
        *known = true;
        if (strcmp(r->method, method) == 0) return r;
    }
    return NULL;
}

static bool http_is_path(const char *path)
{
    for (const char *p = path; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f) return false;
    return path[0] == '/' && !strstr(path, "/../") && !strstr(path, "//");
}

// 0: it may go on.
static unsigned http_check(http_server *h, struct MHD_Connection *c, const char *path, const char *method,
                           const http_row **row, const char **text)
{
    bool known, wrong;
    *text = "too many requests from this address";
    if (!http_may(h, c, 1)) return 429;
    *text = "not such a path";
    if (!http_is_path(path)) return 400;
    *row = http_find_row(h, method, path, &known);
    http_right right = http_find_right(h, c, &wrong);
    *text = wrong ? "wrong token" : "a token is needed: Authorization: Bearer TOKEN";
    bool open = *row && (*row)->right == HTTP_ALL;
    if (right == HTTP_ALL && !open) { // who may not ask is not told what there is
        if (wrong) http_may(h, c, HTTP_WRONG);
        http_add(&h->counts.refused);
        return 401;
    }
    *text = known ? "not with this method" : "there is nothing of this name";
    if (!*row) return known ? 405 : 404;
    *text = "the token for control is needed; this one only reads";
    if ((*row)->right > right && !open) {
        http_add(&h->counts.refused);
        return 403;
    }
    return 0;
}

// ---- a request ----

static bool http_accepts(struct MHD_Connection *c, const char *type)
{
    const char *accept = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Accept");
    return accept && strcasestr(accept, type);
}

const char *http_query(const http_request *r, const char *key)
{
    return MHD_lookup_connection_value(r->of->mhd, MHD_GET_ARGUMENT_KIND, key);
}

static void http_set_busy(http_server *h, struct MHD_Connection *c, bool busy)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    if (info && info->socket_context) http_bounds_busy(h->bounds, info->socket_context, busy, http_now());
}

static void http_job_done(void *waiting, http_answer *a)
{
    struct http_connection *k = waiting;
    if (!k) { // nobody waits for it
        free(a->data);
        return;
    }
    k->answer = *a;
    k->answered = true;
    MHD_resume_connection(k->mhd);
}

static enum MHD_Result http_answer_row(http_server *h, struct http_connection *k, const char *path)
{
    http_answer a = {.code = 0};
    size_t n = strlen(k->row->path);
    const http_request r = {.path = path,
                            .rest = n && k->row->path[n - 1] == '*' ? path + n - 1 : "",
                            .body = k->body ? k->body : "",
                            .body_size = k->size,
                            .wants_html = http_accepts(k->mhd, "text/html"),
                            .wants_openmetrics = http_accepts(k->mhd, "application/openmetrics-text"),
                            .of = k};
    k->row->answer(h->options.user, &r, &a);
    if (a.job && a.data && !http_lanes_add(h->lanes, &a, NULL)) free(a.order);
    if (!a.job || a.data) return http_send(h, k->mhd, &a);
    MHD_suspend_connection(k->mhd);
    if (http_lanes_add(h->lanes, &a, k)) return MHD_YES;
    free(a.order);
    http_fail(&k->answer, 503, "too much is asked for at once; try again");
    k->answered = true;
    MHD_resume_connection(k->mhd);
    return MHD_YES;
}

static bool http_take_body(struct http_connection *k, const char *data, size_t *size)
{
    k->too_large |= k->size + *size > HTTP_BODY_MOST;
    if (!k->too_large && !k->refused) {
        k->body = memory_realloc(k->body, k->size + *size + 1);
        memcpy(k->body + k->size, data, *size);
        k->size += *size;
        k->body[k->size] = 0;
    }
    *size = 0;
    return !k->too_large;
}

// An answer that comes before the request was read ends the connection, and takes with it what the client has not read yet: only
// of a client that waits to be asked for its body, does not say how long it is, or has too much of it, is it not read to its end.
static bool http_is_drained(struct MHD_Connection *c)
{
    const char *length = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Content-Length");
    return !MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Expect") &&
           !MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Transfer-Encoding") &&
           (!length || strtoull(length, NULL, 10) <= http_drained);
}

static enum MHD_Result http_begin(http_server *h, struct MHD_Connection *c, const char *path, const char *method,
                                  void **state)
{
    const http_row *row = NULL;
    const char *text, *length = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Content-Length");
    http_add(&h->counts.requests);
    unsigned code = http_check(h, c, path, method, &row, &text);
    if (!code && length && strtoull(length, NULL, 10) > HTTP_BODY_MOST) {
        code = 413;
        text = http_no_request;
    }
    if (code && !http_is_drained(c)) return http_refuse(h, c, code, text);
    struct http_connection *k = memory_calloc(1, sizeof *k);
    *k = (struct http_connection){.mhd = c, .row = row, .refused = code, .because = text};
    *state = k;
    return MHD_YES;
}

static enum MHD_Result http_on_request(void *user, struct MHD_Connection *c, const char *path, const char *method,
                                       const char *version, const char *data, size_t *size, void **state)
{
    http_server *h = user;
    struct http_connection *k = *state;
    (void)version;
    if (!k) return http_begin(h, c, path, method, state);
    if (*size) return http_take_body(k, data, size), MHD_YES;
    if (k->answered) return http_send(h, c, &k->answer);
    if (k->refused) return http_refuse(h, c, k->refused, k->because);
    if (k->too_large) return http_refuse(h, c, 413, http_no_request);
    http_set_busy(h, c, true);
    return http_answer_row(h, k, path);
}

static void http_on_end(void *user, struct MHD_Connection *c, void **state, enum MHD_RequestTerminationCode why)
{
    struct http_connection *k = *state;
    (void)why;
    http_set_busy(user, c, false);
    if (!k) return;
    free(k->answer.data);
    free(k->body);
    free(k);
    *state = NULL;
}

static void http_on_connection(void *user, struct MHD_Connection *c, void **socket,
                               enum MHD_ConnectionNotificationCode what)
{
    http_server *h = user;
    const union MHD_ConnectionInfo *fd = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (what == MHD_CONNECTION_NOTIFY_STARTED && fd) *socket = http_bounds_begin(h->bounds, fd->connect_fd, http_now());
    if (what == MHD_CONNECTION_NOTIFY_CLOSED && *socket) {
        http_bounds_end(h->bounds, *socket);
        *socket = NULL;
    }
}

// ---- outside ----

static void http_be_silent(void *user, const char *format, va_list list)
{
    (void)user, (void)format, (void)list; // clients that go away are no news
}

static struct MHD_Daemon *http_start(http_server *h, const struct sockaddr_in *at)
{
    const http_options *o = &h->options;
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | MHD_USE_ERROR_LOG;
    struct MHD_OptionItem items[5] = {{MHD_OPTION_END, 0, NULL}};
    size_t n = 0;
    if (o->certificate) {
        flags |= MHD_USE_TLS;
        items[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)o->certificate};
        items[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)o->key};
    }
    if (o->clients) items[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_TRUST, 0, (void *)(uintptr_t)o->clients};
    items[n] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
    return MHD_start_daemon(flags, 0, NULL, NULL, http_on_request, h, MHD_OPTION_EXTERNAL_LOGGER, http_be_silent, NULL,
                            MHD_OPTION_SOCK_ADDR, (const struct sockaddr *)(const void *)at,
                            MHD_OPTION_CONNECTION_LIMIT, (unsigned)HTTP_HARD, MHD_OPTION_CONNECTION_TIMEOUT,
                            (unsigned)HTTP_IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTP_HEADERS,
                            MHD_OPTION_NOTIFY_COMPLETED, http_on_end, h, MHD_OPTION_NOTIFY_CONNECTION,
                            http_on_connection, h, MHD_OPTION_LISTENING_ADDRESS_REUSE, 1u,
                            MHD_OPTION_LISTEN_BACKLOG_SIZE, 1024u, MHD_OPTION_ARRAY, items, MHD_OPTION_END);
}

http_server *http_open(const http_options *o, char **why)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)o->port)};
    if (inet_pton(AF_INET, o->address, &at.sin_addr) != 1) {
        *why = memory_strdup("no such address");
        return NULL;
    }
    if (o->certificate && MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES) {
        *why = memory_strdup("libmicrohttpd was built without TLS here");
        return NULL;
    }
    http_server *h = memory_calloc(1, sizeof *h);
    h->options = *o;
    h->bounds = http_bounds_open(HTTP_CONNECTIONS);
    h->lanes = http_lanes_open(o->user, http_job_done);
    h->daemon = http_start(h, &at);
    if (h->daemon) return h;
    *why = memory_strdup(o->certificate ? "cannot listen there, or the certificate or its key cannot be used"
                                        : "cannot listen there (is something else there?)");
    http_close(h);
    return NULL;
}

unsigned http_port(const http_server *h)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info ? info->port : 0;
}

void http_look(http_server *h)
{
    http_bounds_look(h->bounds, http_now());
}

void http_count(http_server *h, http_counts *c)
{
    c->requests = __atomic_load_n(&h->counts.requests, __ATOMIC_RELAXED);
    c->refused = __atomic_load_n(&h->counts.refused, __ATOMIC_RELAXED);
    c->failed = __atomic_load_n(&h->counts.failed, __ATOMIC_RELAXED);
    http_bounds_count(h->bounds, &c->connections, &c->dropped);
}

void http_close(http_server *h)
{
    if (!h) return;
    http_lanes_stop(h->lanes); // resumes all that were suspended; what still comes is refused
    if (h->daemon) MHD_stop_daemon(h->daemon);
    http_lanes_close(h->lanes);
    http_bounds_close(h->bounds);
    free(h);
}
