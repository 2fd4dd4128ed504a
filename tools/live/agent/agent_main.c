// netprof-agent: reads this node tick by tick into its spool, and sends what is in the spool to a head.
#define _GNU_SOURCE
#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"
#include "measure/node_options.h"
#include "measure/record.h"
#include "measure/schedule_counters.h"
#include "sending.h"
#include "ticks.h"
#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char *head_url, *cluster, *node, *spool_path, *spool_size, *interval_text, *every_text, *sync_text, *rate_text,
    *duration_text, *token_file, *credentials, *tls_ca, *tls_certificate, *tls_key;
static int batch = 5, quiet;

static const struct poptOption options[] = {
    {"head", 0, POPT_ARG_STRING, &head_url, 0, "where the head's server is: nats://HOST:PORT or tls://HOST:PORT",
     "URL"},
    {"token-file", 0, POPT_ARG_STRING, &token_file, 0, "the head's token (else the variable NETPROF_TOKEN)", "FILE"},
    {"creds", 0, POPT_ARG_STRING, &credentials, 0, "credentials of a site's own NATS, in place of a token", "FILE"},
    {"tls-ca", 0, POPT_ARG_STRING, &tls_ca, 0, "speak TLS with a server whose certificate these signed", "FILE"},
    {"tls-cert", 0, POPT_ARG_STRING, &tls_certificate, 0, "this node's own certificate, where the server asks for one",
     "FILE"},
    {"tls-key", 0, POPT_ARG_STRING, &tls_key, 0, "the key of --tls-cert", "FILE"},
    {"cluster", 0, POPT_ARG_STRING, &cluster, 0, "which of several clusters on one NATS (default)", "NAME"},
    {"node", 0, POPT_ARG_STRING, &node, 0, "this node's name (its host name)", "NAME"},
    {"interval", 't', POPT_ARG_STRING, &interval_text, 0, "read so often (1s)", "TIME"},
    {"spool", 0, POPT_ARG_STRING, &spool_path, 0, "the spool's directory, on a disk of this node", "DIR"},
    {"spool-size", 0, POPT_ARG_STRING, &spool_size, 0, "size of the ring (256MB)", "SIZE"},
    {"spool-sync", 0, POPT_ARG_STRING, &sync_text, 0, "force the spool to the disk so often (5s)", "TIME"},
    {"batch", 0, POPT_ARG_INT, &batch, 0, "so many ticks in a message (5)", "N"},
    {"send-every", 0, POPT_ARG_STRING, &every_text, 0, "fewer ticks go after this time (5s)", "TIME"},
    {"catch-up", 0, POPT_ARG_STRING, &rate_text, 0, "at most so much a second (4MB)", "SIZE"},
    {"duration", 'd', POPT_ARG_STRING, &duration_text, 0, "end after this time", "TIME"},
    {"quiet", 'q', POPT_ARG_NONE, &quiet, 0, "say nothing but what is wrong", NULL},
    {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(uintptr_t)set_option, 0, NULL, NULL},
    {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(uintptr_t)reading_options, 0, NULL, NULL},
    POPT_TABLEEND,
};

typedef struct agent {
    int64_t interval_ns, every_ns, sync_ns, duration_ns;
    uint64_t bytes, rate;
    char node[256], *directory, *token;
    netprof *np;
    netprof_snapshot snapshot;
    netprof_set set;
    sources_job nobody;
    schedule clock;
    schedule_row *row;
    spool *spool;
    ticks *ticks;
    sending *sending;
    netprof_fact *facts; // stb_ds
    int refused;         // the errno that the spool gives now
    bool is_down;        // it was said that the server is not reached
    int64_t up_ns;       // when it was reached last
} agent;

// ---- options ----

static int agent_time(const char *name, const char *text, const char *otherwise, int64_t *ns)
{
    if (!text) text = otherwise;
    if (!text || parse_duration(text, ns)) return EXIT_DONE;
    return fail_usage("%s: %s: expected a time like 100ms, 2s or 1m", name, safe(text));
}

static int agent_size(const char *name, const char *text, const char *otherwise, uint64_t *bytes)
{
    if (parse_size(text ? text : otherwise, bytes)) return EXIT_DONE;
    return fail_usage("%s: %s: expected a size like 500MB", name, safe(text));
}

static int agent_read_token(agent *a)
{
    char line[256] = "";
    const char *variable = getenv("NETPROF_TOKEN");
    if (token_file) {
        FILE *f = fopen(token_file, "re");
        if (!f || !fgets(line, sizeof line, f)) {
            int error = f ? EIO : errno;
            if (f) fclose(f);
            return fail_file(EXIT_FILE, token_file, "%s", strerror(error));
        }
        fclose(f);
        line[strcspn(line, "\r\n")] = 0;
    }
    if (*line || variable) a->token = memory_strdup(*line ? line : variable);
    unsetenv("NETPROF_TOKEN"); // nothing that is started here needs it
    return EXIT_DONE;
}

static int agent_check(agent *a, size_t count)
{
    if (count) return fail_usage("expected no arguments");
    if (!head_url) return fail_usage("--head URL is needed; netprof head prints the line");
    if (!tls_certificate != !tls_key) return fail_usage("--tls-cert and --tls-key belong together");
    if (batch < 1 || batch > 1000) return fail_usage("--batch: %d: expected 1 to 1000", batch);
    if (!cluster) cluster = memory_strdup("default");
    if (!*cluster || cluster[strspn(cluster, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")] ||
        strlen(cluster) > 64)
        return fail_usage("--cluster: %s: expected letters, digits, - and _", safe(cluster));
    if (agent_time("--interval", interval_text, "1s", &a->interval_ns) ||
        agent_time("--send-every", every_text, "5s", &a->every_ns) ||
        agent_time("--spool-sync", sync_text, "5s", &a->sync_ns) ||
        agent_time("--duration", duration_text, NULL, &a->duration_ns) ||
        agent_size("--spool-size", spool_size, "256MB", &a->bytes) ||
        agent_size("--catch-up", rate_text, "4MB", &a->rate))
        return EXIT_USAGE;
    if (a->bytes < 1000000) return fail_usage("--spool-size: %s: expected at least 1MB", safe(spool_size));
    if (node && (!*node || strlen(node) >= sizeof a->node))
        return fail_usage("--node: %s: expected 1 to 255 bytes", safe(node));
    if (node)
        snprintf(a->node, sizeof a->node, "%s", node);
    else if (gethostname(a->node, sizeof a->node - 1) || !*a->node)
        return fail_usage("this node has no name: --node is needed");
    if (!reading_set(&a->set, NETPROF_SET_ALL)) return EXIT_USAGE;
    return agent_read_token(a);
}

// ---- opening ----

// On a disk of the node, and there again after it started anew.
static int agent_make_directory(agent *a)
{
    char *parent =
        geteuid() == 0 ? memory_strdup("/var/lib/netprof") : memory_format("/var/tmp/netprof-%u", (unsigned)geteuid());
    int code = EXIT_DONE;
    if (!spool_path && mkdir(parent, 0700) && errno != EEXIST)
        code = fail_file(EXIT_FILE, parent, "%s", strerror(errno));
    // Where all may write, somebody else could have made it.
    struct stat st;
    if (!code && !spool_path && (lstat(parent, &st) || !S_ISDIR(st.st_mode) || st.st_uid != geteuid()))
        code = fail_file(EXIT_FILE, parent, "it is no directory of this user");
    a->directory = spool_path ? memory_strdup(spool_path) : memory_format("%s/spool", parent);
    free(parent);
    return code;
}

static void agent_fact(void *user, const char *key, const char *value)
{
    agent *a = user;
    arrput(a->facts, ((netprof_fact){memory_strdup(key), memory_strdup(value)}));
}

static int agent_open_spool(agent *a)
{
    char *why = NULL;
    int code = agent_make_directory(a);
    if (code) return code;
    const spool_options o = {.directory = a->directory, .bytes = a->bytes};
    a->spool = spool_open(&o, &why);
    if (!a->spool) {
        code = fail(EXIT_FILE, "%s", safe(why));
        free(why);
        return code;
    }
    if (spool_cut(a->spool))
        warn("%s: %s of a tick that was not whole were cut", safe(a->directory),
             words_amount((double)spool_cut(a->spool), "bytes").text);
    agent_fact(a, "node", a->node);
    agent_fact(a, "interval_ns", words_integer(a->interval_ns).text);
    agent_fact(a, "cpus", words_integer(sysconf(_SC_NPROCESSORS_ONLN)).text);
    agent_fact(a, "agent_version", netprof_version());
    recorder_clock_facts("clock", agent_fact, a);
    a->ticks = ticks_open(a->spool, a->facts, arrlenu(a->facts));
    return EXIT_DONE;
}

static int agent_open_sending(agent *a)
{
    char *why = NULL;
    const sending_options o = {
        .cluster = cluster,
        .node = a->node,
        .directory = a->directory,
        .stream = spool_stream(a->spool),
        .token = a->token,
        .bus = {.url = head_url,
                .name = a->node,
                .credentials = credentials,
                .tls = {.on = tls_ca || tls_certificate, .ca = tls_ca, .certificate = tls_certificate, .key = tls_key},
                .again_ms = 1000},
        .batch = (unsigned)batch,
        .every_ns = a->every_ns,
        .sync_ns = a->sync_ns,
        .bytes_per_s = a->rate,
        .low = spool_low(a->spool),
        .high = spool_next(a->spool) - 1};
    a->sending = sending_open(&o, &why);
    if (a->sending) return EXIT_DONE;
    int code = fail(EXIT_FILE, "%s: %s", safe(head_url), safe(why));
    free(why);
    return code;
}

static int agent_open(agent *a)
{
    static const int watched[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t signals;
    sigemptyset(&signals);
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++)
        sigaddset(&signals, watched[i]);
    if (!schedule_open(&a->clock, &signals)) return fail(EXIT_FILE, "no signals: %s", strerror(errno));
    int code = reading_open_node(&a->np, &a->nobody, true, true);
    if (code == EXIT_NOTHING) code = reading_nothing(a->np);
    if (code) return code;
    a->row = schedule_add(&a->clock, a->interval_ns, 0);
    code = schedule_add_counters(a->np, a->row, "agent");
    if (!code) code = agent_open_spool(a);
    if (!code) code = agent_open_sending(a);
    return code;
}

// ---- ticks ----

// The next multiple of the interval of the wall clock, the same instant on all nodes, as a time of the clock that waits.
static int64_t agent_next_instant(const agent *a)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    int64_t wall = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec, left = a->interval_ns - wall % a->interval_ns;
    if (left < a->interval_ns / 2) left += a->interval_ns; // the one that was just taken, a little early
    return schedule_now() + left;
}

static void agent_say_spool(agent *a, int error)
{
    if (error == a->refused) return;
    if (error)
        warn("%s: %s: readings are lost until it takes them again", safe(a->directory), strerror(error));
    else
        warn("%s: the spool takes readings again", safe(a->directory));
    a->refused = error;
}

// A server that comes back soon is no news.
static void agent_say_server(agent *a)
{
    static const int64_t patience_ns = 5000000000;
    sending_state s;
    sending_look(a->sending, &s);
    if (s.up) a->up_ns = schedule_now();
    if (s.up && a->is_down) warn("%s: reached again", safe(head_url));
    bool down = !s.up && (a->is_down || schedule_now() - a->up_ns > patience_ns);
    if (down && !a->is_down)
        warn("%s: no server there, or it refuses the token%s%s; the spool keeps what is read", safe(head_url),
             *s.problem ? ": " : "", safe(s.problem));
    a->is_down = down;
}

static void agent_take(agent *a)
{
    netprof_error error;
    if (netprof_take(a->np, &a->snapshot, a->set, &error)) {
        fail_error(NULL, &error);
        return;
    }
    int refused = ticks_put(a->ticks, &a->snapshot);
    agent_say_spool(a, refused < 0 ? ENOMEM : refused);
    spool_acknowledged(a->spool, sending_tell(a->sending, spool_low(a->spool), spool_next(a->spool) - 1));
}

static void agent_loop(agent *a)
{
    siginfo_t info;
    int event;
    a->row->next_ns = agent_next_instant(a);
    a->up_ns = schedule_now();
    if (a->duration_ns) a->clock.until_ns = schedule_now() + a->duration_ns;
    while ((event = schedule_wait(&a->clock, &info)) != SCHEDULE_END && event != SCHEDULE_SIGNAL) {
        agent_take(a);
        agent_say_server(a);
        a->row->next_ns = agent_next_instant(a);
    }
}

static void agent_say_end(agent *a)
{
    sending_state s;
    sending_look(a->sending, &s);
    uint64_t high = spool_next(a->spool) - 1;
    if (quiet) return;
    if (s.confirmed < high)
        warn("no head has confirmed the last %s of the spool yet; the next start sends what is missing%s%s",
             words_many(high - s.confirmed, "tick|ticks").text, *s.problem ? ": " : "", safe(s.problem));
}

static void agent_close(agent *a)
{
    sending_close(a->sending);
    ticks_close(a->ticks);
    spool_close(a->spool);
    schedule_close(&a->clock);
    netprof_snapshot_free(&a->snapshot);
    netprof_close(a->np);
    for (size_t i = 0; i < arrlenu(a->facts); i++) {
        free((void *)(uintptr_t)a->facts[i].key);
        free((void *)(uintptr_t)a->facts[i].value);
    }
    arrfree(a->facts);
    free(a->directory);
    free(a->token);
}

static int agent_run(const char **arguments, size_t count)
{
    agent a = {0};
    (void)arguments;
    int code = agent_check(&a, count);
    if (!code) code = agent_open(&a);
    if (!code) {
        if (!quiet)
            warn("%s: reading every %s into %s, sending to %s", safe(a.node),
                 words_duration((double)a.interval_ns / 1e9).text, safe(a.directory), safe(head_url));
        agent_loop(&a);
        sending_finish(a.sending, 3000000000);
        agent_say_end(&a);
    }
    agent_close(&a);
    return code;
}

static const command agent_command = {
    .name = "agent",
    .summary = "read this node tick by tick for a head, losing nothing while it is away",
    .arguments = "--head URL",
    .text =
        "Reads what netprof record reads, at the same instants on all nodes. Each tick goes first into a spool, a "
        "ring\n"
        "of files on this node's disk, and from there to the head. It counts as sent when the head has confirmed that "
        "it\n"
        "is on the head's disk: while the head, the network or the agent itself is away nothing is lost, up to the "
        "size of\n"
        "the ring; ticks that it overwrote are counted and named. A kill costs nothing; what the node's own death may\n"
        "cost is what was not yet forced to its disk (--spool-sync).\n"
        "One agent a node, as any user; it reads what this user may read. It ends by SIGINT or SIGTERM.",
    .examples = "netprof agent --head nats://127.0.0.1:4222 --spool spool --duration 2s\n"
                "netprof agent --head nats://127.0.0.1:4222 --spool spool --set fast --interval 100ms --duration 2s",
    .options = options,
    .source_names = reading_source_names,
    .run = agent_run,
};

int main(int argc, char **argv)
{
    return command_program(&agent_command, argc, argv);
}
