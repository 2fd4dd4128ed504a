// netprof-head: takes what agents send, keeps it, and says what it has.
#define _GNU_SOURCE
#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"
#include "admission.h"
#include "collecting.h"
#include "companion.h"
#include "server.h"
#include "analysis/base/memory.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char *directory, *listen_text, *nats_url, *credentials, *tls_ca, *tls_certificate, *tls_key, *cluster,
    *size_text, *duration_text;
static char *http_address, *http_certificate, *http_key, *http_clients;
static int quiet, no_findings, standby, shared_token;

static const struct poptOption options[] = {
    {"dir", 0, POPT_ARG_STRING, &directory, 0, "where it keeps everything", "DIR"},
    {"listen", 0, POPT_ARG_STRING, &listen_text, 0, "where its own nats-server listens (127.0.0.1:4222)",
     "ADDRESS:PORT"},
    {"nats", 0, POPT_ARG_STRING, &nats_url, 0, "use a site's NATS, and start none", "URL"},
    {"creds", 0, POPT_ARG_STRING, &credentials, 0, "credentials for it", "FILE"},
    {"standby", 0, POPT_ARG_NONE, &standby, 0, "with --nats: collect only while no other head with --standby does",
     NULL},
    {"tls-cert", 0, POPT_ARG_STRING, &tls_certificate, 0, "the server's certificate: agents then speak TLS", "FILE"},
    {"tls-key", 0, POPT_ARG_STRING, &tls_key, 0, "the key of --tls-cert", "FILE"},
    {"tls-ca", 0, POPT_ARG_STRING, &tls_ca, 0,
     "agents need certificates that these signed; with --nats: the server does", "FILE"},
    {"shared-token", 0, POPT_ARG_NONE, &shared_token, 0,
     "whoever has the agents' token may publish for every node: for a gateway of many", NULL},
    {"cluster", 0, POPT_ARG_STRING, &cluster, 0, "which of several clusters on one NATS (default)", "NAME"},
    {"journal-size", 0, POPT_ARG_STRING, &size_text, 0, "drop the oldest data above this, sessions' excepted (20GB)",
     "SIZE"},
    {"http", 0, POPT_ARG_STRING, &http_address, 0, "a live page, an API and /metrics there, by netprof web",
     "ADDRESS:PORT"},
    {"http-cert", 0, POPT_ARG_STRING, &http_certificate, 0, "--tls-cert of netprof web", "FILE"},
    {"http-key", 0, POPT_ARG_STRING, &http_key, 0, "--tls-key of it", "FILE"},
    {"http-clients", 0, POPT_ARG_STRING, &http_clients, 0, "--tls-clients of it", "FILE"},
    {"no-findings", 0, POPT_ARG_NONE, &no_findings, 0, "judge nothing: no netprof findings beside this head", NULL},
    {"duration", 'd', POPT_ARG_STRING, &duration_text, 0, "end after this time", "TIME"},
    {"quiet", 'q', POPT_ARG_NONE, &quiet, 0, "say nothing but what is wrong", NULL},
    POPT_TABLEEND,
};

typedef struct head {
    server server;
    bool own_server;
    uint64_t journal_bytes;
    int64_t duration_ns;
    collecting *collecting;
    admission *admission; // to its own server
    bool configures;      // the server has to be told
    int64_t configure_at_ns;
    companion findings, web;
} head;

static int64_t head_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int head_check(head *h, size_t count)
{
    if (count) return fail_usage("expected no arguments");
    if (!directory || !*directory) return fail_usage("--dir DIR is needed");
    if (nats_url && listen_text) return fail_usage("--listen is for the head's own server, and --nats names another");
    if (credentials && !nats_url) return fail_usage("--creds is for a site's NATS: --nats URL");
    if (shared_token && nats_url)
        return fail_usage("--shared-token is for the head's own server, and --nats names another");
    if (standby && !nats_url) return fail_usage("--standby: both heads need a server that outlives them: --nats URL");
    if (!tls_certificate != !tls_key) return fail_usage("--tls-cert and --tls-key belong together");
    if (!nats_url && tls_ca && !tls_certificate)
        return fail_usage("--tls-ca: a server that asks for certificates has one: --tls-cert FILE --tls-key FILE");
    if ((http_certificate || http_key || http_clients) && !http_address)
        return fail_usage("--http-cert, --http-key and --http-clients need --http ADDRESS:PORT");
    if (!cluster) cluster = memory_strdup("default");
    if (!*cluster || cluster[strspn(cluster, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")] ||
        strlen(cluster) > 64)
        return fail_usage("--cluster: %s: expected letters, digits, - and _", safe(cluster));
    if (!parse_size(size_text ? size_text : "20GB", &h->journal_bytes))
        return fail_usage("--journal-size: %s: expected a size like 500MB", safe(size_text));
    if (duration_text && !parse_duration(duration_text, &h->duration_ns))
        return fail_usage("--duration: %s: expected a time like 100ms, 2s or 1m", safe(duration_text));
    return EXIT_DONE;
}

// The line with which agents join: the token is no argument, which all users of a node could see.
static void head_say_join(const head *h)
{
    char name[256] = "";
    bool everywhere = strcmp(h->server.host, "0.0.0.0") == 0;
    if (everywhere && gethostname(name, sizeof name - 1)) *name = 0;
    char *url = server_url(&h->server, *name ? name : NULL);
    printf("NETPROF_TOKEN=%s netprof agent --head %s%s%s%s\n", h->server.agent_token, safe(url),
           tls_ca ? " --tls-ca FILE --tls-cert FILE --tls-key FILE" : "",
           strcmp(cluster, "default") == 0 ? "" : " --cluster ", strcmp(cluster, "default") == 0 ? "" : cluster);
    fflush(stdout);
    free(url);
}

// ---- its own server ----

static int64_t head_silence(void *user, const char *node)
{
    return collecting_silence(((head *)user)->collecting, node);
}

static void head_answer(void *user, const char *token, bool good)
{
    char *what = memory_format("joined.%s", token);
    collecting_tell(((head *)user)->collecting, what, good ? "yes" : "no");
    free(what);
}

static int head_configure(head *h)
{
    char *users = admission_users(h->admission, cluster);
    int code = server_configure(&h->server, users);
    free(users);
    return code;
}

// What the disk does not take is tried again.
static void head_admit(head *h)
{
    static const int64_t again_ns = 10000000000;
    int64_t now = head_now();
    int error;
    h->configures |= admission_look(h->admission, now, head_silence, head_answer, h, &error);
    if (error) warn("%s/nodes.secrets: %s", safe(directory), strerror(error));
    if (!h->configures || now < h->configure_at_ns) return;
    h->configures = head_configure(h) != EXIT_DONE;
    h->configure_at_ns = h->configures ? now + again_ns : 0;
}

static int head_open_server(head *h)
{
    const server_tls tls = {.certificate = tls_certificate, .key = tls_key, .ca = tls_ca};
    h->server.shared = shared_token;
    int code = server_open(&h->server, directory, listen_text ? listen_text : "127.0.0.1:4222", cluster, &tls);
    int error = code ? 0 : admission_open(&h->admission, directory);
    if (error) code = fail_file(EXIT_FILE, directory, "%s", strerror(error));
    if (!code) code = head_configure(h);
    if (code) return code;
    server_look(&h->server, head_now());
    return server_wait(&h->server);
}

static int head_open(head *h)
{
    char *url = NULL, *why = NULL;
    int code = collecting_open_journal(&h->collecting, directory, h->journal_bytes);
    if (code) return code;
    h->own_server = !nats_url;
    if (h->own_server) {
        code = head_open_server(h);
        if (code) return code;
        url = server_url(&h->server, NULL);
    }
    const bus_options o = {.url = h->own_server ? url : nats_url,
                           .name = "netprof-head",
                           .user = h->own_server ? "head" : NULL,
                           .password = h->own_server ? h->server.head_token : NULL,
                           .credentials = credentials,
                           .tls = {.on = tls_ca || tls_certificate,
                                   .ca = tls_ca,
                                   .certificate = tls_certificate,
                                   .key = tls_key,
                                   .trusts = h->own_server},
                           .again_ms = 250};
    if (!collecting_begin(h->collecting, &o, cluster, standby, &why)) {
        code = fail(EXIT_FILE, "%s: %s", safe(o.url), safe(why));
        free(why);
    } else if (h->own_server && !collecting_hear(h->collecting, "join", admission_hear, h->admission)) {
        code = fail(EXIT_FILE, "%s: cannot subscribe", safe(o.url));
    }
    free(url);
    return code;
}

static void head_loop(head *h, const sigset_t *signals)
{
    int64_t until = h->duration_ns ? head_now() + h->duration_ns : INT64_MAX;
    bool said = false;
    while (head_now() < until) {
        const struct timespec nap = {.tv_nsec = 100000000};
        if (sigtimedwait(signals, NULL, &nap) > 0) return;
        if (h->own_server) server_look(&h->server, head_now());
        if (h->own_server) head_admit(h);
        collecting_look(h->collecting);
        if (!no_findings) companion_look(&h->findings, head_now());
        if (http_address) companion_look(&h->web, head_now());
        if (!said && collecting_is_up(h->collecting)) {
            if (h->own_server) head_say_join(h);
            said = true;
        }
        if (collecting_is_superseded(h->collecting)) {
            warn("agents follow a head that was started after this one: this one takes nothing more, and ends");
            return;
        }
    }
}

// The page, in a process of its own: its clients cost no tick.
static companion head_web(void)
{
    const char *const words[][2] = {{"--listen", http_address},
                                    {"--tls-cert", http_certificate},
                                    {"--tls-key", http_key},
                                    {"--tls-clients", http_clients}};
    companion c = {.program = "netprof-web", .directory = directory};
    size_t n = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!words[i][1]) continue;
        c.more[n++] = words[i][0];
        c.more[n++] = words[i][1];
    }
    return c;
}

static int head_run(const char **arguments, size_t count)
{
    head h = {.duration_ns = 0};
    sigset_t signals;
    (void)arguments;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    int code = head_check(&h, count);
    h.findings = (companion){.program = "netprof-findings", .directory = directory};
    h.web = head_web();
    if (!code) code = head_open(&h);
    if (!code) head_loop(&h, &signals);
    if (!code && collecting_is_superseded(h.collecting)) code = EXIT_WORTH_FAILING;
    companion_end(&h.findings);
    companion_end(&h.web);
    companion_close(&h.findings);
    companion_close(&h.web);
    collecting_close(h.collecting);
    admission_close(h.admission); // nothing is heard any more
    if (h.own_server) server_close(&h.server);
    return code;
}

static const command head_command = {
    .name = "head",
    .summary = "collect what the agents of many nodes read, losing nothing",
    .arguments = "--dir DIR [--listen ADDRESS:PORT]\n--dir DIR --nats URL [--creds FILE]",
    .text =
        "Starts a nats-server of its own and prints the line with which agents join; it listens on this machine alone\n"
        "unless --listen says otherwise. With --nats it uses the NATS of a site. Whatever agents send is confirmed to\n"
        "them only when it is on the disk of DIR; a kill of the head or of its server costs nothing. While the disk is "
        "full\n"
        "nothing is confirmed, and the agents keep it. netprof session names stretches of time in DIR and makes\n"
        "recordings of them that every command reads. A process beside the head judges the last minute of each node "
        "by\n"
        "the rules of netprof check: netprof session findings.\n"
        "It ends by SIGINT or SIGTERM.",
    .examples = "netprof head --dir head --listen 127.0.0.1:4222 --duration 2s\n"
                "netprof head --dir head --listen 0.0.0.0:4222 --duration 2s",
    .exits = "0 done, 1 agents follow a later head, 2 wrong usage, 3 a file could not be written or a server not be\n"
             "reached.",
    .options = options,
    .run = head_run,
};

int main(int argc, char **argv)
{
    return command_program(&head_command, argc, argv);
}
