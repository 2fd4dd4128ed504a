// netprof-web: what a head knows, over HTTP, and a page that shows it. A process of its own, which only reads what the head
// writes (and writes sessions, as netprof session does): whatever its clients do, and should it crash, the head takes its
// ticks.
#define _GNU_SOURCE
#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"
#include "charts.h"
#include "live/journal/journal_tail.h"
#include "routes.h"
#include "run_program.h"
#include "tokens.h"
#include "web.h"

#include "analysis/base/memory.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char *directory, *listen_text, *certificate_path, *key_path, *clients_path, *duration_text;
static int quiet;

static const struct poptOption options[] = {
    {"dir", 0, POPT_ARG_STRING, &directory, 0, "the head's directory (else the variable NETPROF_HEAD)", "DIR"},
    {"listen", 0, POPT_ARG_STRING, &listen_text, 0, "where it listens (127.0.0.1:8091); port 0: one that is free",
     "ADDRESS:PORT"},
    {"tls-cert", 0, POPT_ARG_STRING, &certificate_path, 0,
     "HTTPS with this certificate, and those that signed it (PEM)", "FILE"},
    {"tls-key", 0, POPT_ARG_STRING, &key_path, 0, "its key (PEM)", "FILE"},
    {"tls-clients", 0, POPT_ARG_STRING, &clients_path, 0,
     "clients with a certificate of these authorities (PEM) may read without a token", "FILE"},
    {"duration", 'd', POPT_ARG_STRING, &duration_text, 0, "end after this time", "TIME"},
    {"quiet", 'q', POPT_ARG_NONE, &quiet, 0, "say nothing but what is wrong", NULL},
    POPT_TABLEEND,
};

typedef struct serving {
    web web;
    http_options http;
    char *address;
    char read_token[HTTP_TOKEN + 1], control_token[HTTP_TOKEN + 1];
    int64_t duration_ns;
    journal_tail *tail;
} serving;

static int64_t serving_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// ---- options ----

static int serving_read_address(serving *s)
{
    const char *text = listen_text ? listen_text : "127.0.0.1:8091", *colon = strrchr(text, ':');
    struct in_addr a;
    char *end = NULL;
    unsigned long port = colon ? strtoul(colon + 1, &end, 10) : 0;
    s->address = memory_strndup(text, colon ? (size_t)(colon - text) : 0);
    if (!colon || !colon[1] || *end || port > 65535 || inet_pton(AF_INET, s->address, &a) != 1)
        return fail_usage("--listen: %s: expected ADDRESS:PORT, such as 127.0.0.1:8091", safe(text));
    s->http.address = s->address;
    s->http.port = (unsigned)port;
    if (!certificate_path && ntohl(a.s_addr) >> 24 != 127)
        warn("%s: whoever sees the network's packets sees the tokens: give --tls-cert and --tls-key, or let a proxy do "
             "it",
             safe(text));
    return EXIT_DONE;
}

static int serving_read_file(const char *path, const char **text)
{
    enum { MOST = 1 << 20 };
    char *data = memory_alloc(MOST + 1);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, data, MOST);
    int error = n < 0 ? errno : 0;
    if (fd >= 0) close(fd);
    data[n < 0 ? 0 : n] = 0;
    *text = data;
    return error ? fail_file(EXIT_FILE, path, "%s", strerror(error)) : EXIT_DONE;
}

static int serving_read_tls(serving *s)
{
    const char **const to[] = {&s->http.certificate, &s->http.key, &s->http.clients};
    const char *const paths[] = {certificate_path, key_path, clients_path};
    int code = EXIT_DONE;
    if (!certificate_path != !key_path) return fail_usage("--tls-cert and --tls-key go together");
    if (clients_path && !certificate_path) return fail_usage("--tls-clients needs --tls-cert");
#ifndef NETPROF_HAS_GNUTLS
    if (clients_path) return fail_usage("--tls-clients: this netprof-web was built without GnuTLS");
#endif
    for (size_t i = 0; i < 3 && !code; i++)
        if (paths[i]) code = serving_read_file(paths[i], to[i]);
    return code;
}

static int serving_find_tokens(serving *s)
{
    static const char *const names[] = {"http-read.token", "http-control.token"};
    char *const to[] = {s->read_token, s->control_token};
    for (size_t i = 0; i < 2; i++) {
        int error = tokens_find(directory, names[i], to[i]);
        if (error)
            return fail(EXIT_FILE, "%s/%s: %s", safe(directory), names[i],
                        error == EPERM    ? "others may read it; chmod 600, and if it was seen, remove it"
                        : error == EILSEQ ? "it holds no token of 32 hexadecimal digits; remove it for a new one"
                                          : strerror(error));
    }
    s->http.read_token = s->read_token;
    s->http.control_token = s->control_token;
    return EXIT_DONE;
}

static int serving_check(serving *s, size_t count)
{
    const char *variable = getenv("NETPROF_HEAD");
    struct stat st;
    if (count) return fail_usage("expected no arguments");
    if (!directory && variable) directory = memory_strdup(variable);
    if (!directory || !*directory) return fail_usage("--dir DIR is needed: the head's directory");
    if (duration_text && !parse_duration(duration_text, &s->duration_ns))
        return fail_usage("--duration: %s: expected a time like 100ms, 2s or 1m", safe(duration_text));
    if (stat(directory, &st) || !S_ISDIR(st.st_mode))
        return fail_file(EXIT_FILE, directory, "%s", strerror(errno ? errno : ENOTDIR));
    int code = serving_read_address(s);
    if (!code) code = serving_read_tls(s);
    return code ? code : serving_find_tokens(s);
}

// ---- serving ----

static int serving_open(serving *s)
{
    char *why = NULL;
    s->web = (web){.directory = directory, .nodes = nodes_open(), .began_ns = web_now()};
    s->tail = journal_tail_open(directory, web_now() - NODES_COLUMNS * nodes_column_ns);
    charts_open(&s->web);
    if (!s->web.charts_style) warn("netprof-report is not here, or cannot draw: the page has no charts");
    web_look(&s->web);
    s->http.rows = web_rows;
    s->http.user = &s->web;
    s->web.http = http_open(&s->http, &why);
    if (s->web.http) return EXIT_DONE;
    int code = fail(EXIT_FILE, "%s:%u: %s", safe(s->address), s->http.port, safe(why));
    free(why);
    return code;
}

// The token to read with is behind a '#', which browsers send to nobody.
static void serving_say(const serving *s)
{
    if (quiet) return;
    printf("%s://%s:%u/#%s\n", s->http.certificate ? "https" : "http", s->address, http_port(s->web.http),
           s->read_token);
    fflush(stdout);
}

static void serving_loop(serving *s, const sigset_t *signals)
{
    enum { MOST = 5000 };
    int64_t until = s->duration_ns ? serving_now() + s->duration_ns : INT64_MAX, look_at = 0;
    while (serving_now() < until) {
        const struct timespec nap = {.tv_nsec = 250000000}, none = {.tv_nsec = 0};
        size_t taken = journal_tail_look(s->tail, MOST, nodes_take, s->web.nodes);
        if (serving_now() >= look_at) {
            look_at = serving_now() + 1000000000;
            web_look(&s->web);
            http_look(s->web.http);
        }
        if (sigtimedwait(signals, NULL, taken == MOST ? &none : &nap) > 0) return;
    }
}

static void serving_close(serving *s)
{
    run_end(); // nobody waits for a report any more
    http_close(s->web.http);
    journal_tail_close(s->tail);
    nodes_close(s->web.nodes);
    charts_close(&s->web);
    web_free(&s->web);
    free(s->address);
    free((void *)(uintptr_t)s->http.certificate);
    free((void *)(uintptr_t)s->http.key);
    free((void *)(uintptr_t)s->http.clients);
}

static int serving_run(const char **arguments, size_t count)
{
    serving s = {.duration_ns = 0};
    sigset_t signals;
    struct rlimit files;
    (void)arguments;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    int code = serving_check(&s, count);
    if (!code) code = serving_open(&s);
    if (!code) serving_say(&s);
    if (!code) serving_loop(&s, &signals);
    serving_close(&s);
    return code;
}

static const command web_command = {
    .name = "web",
    .summary = "what a head knows, over HTTP: a live page, an API, Prometheus",
    .arguments = "--dir DIR [--listen ADDRESS:PORT]",
    .text =
        "Serves a page that shows the nodes of a head live, an API as gswarm-profiler has it, and /metrics for "
        "Prometheus.\n"
        "It listens on this machine alone unless --listen says otherwise, and answers nobody without a token: the one "
        "in\n"
        "DIR/http-read.token reads, the one in DIR/http-control.token also starts and stops sessions. It prints the "
        "page's\n"
        "address with the token to read with. It reads what the head writes, and is a process of its own: neither its\n"
        "clients nor its end cost the head a tick. netprof head --http starts it beside the head.\n"
        "It ends by SIGINT or SIGTERM.",
    .examples = "netprof web --dir head --listen 127.0.0.1:0 --duration 1s\n"
                "netprof web --dir head --listen 127.0.0.1:0 --quiet --duration 1s",
    .exits = "0 done, 2 wrong usage, 3 a file could not be read or written, or it cannot listen there.",
    .options = options,
    .run = serving_run,
};

int main(int argc, char **argv)
{
    return command_program(&web_command, argc, argv);
}
