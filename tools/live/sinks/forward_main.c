// netprof-forward: what a head collects, for other programs: readings as line protocol, findings for Elasticsearch. A process of
// its own that reads the head's directory, as sessions do.
#define _GNU_SOURCE
#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"
#include "forward_findings.h"
#include "forward_lines.h"
#include "live/spool/sha256.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char *directory, *lines_url, *findings_url, *interval_text, *lag_text, *keep_text, *since_text, *set_text,
    *nodes, *sources, *include, *exclude, *cluster, *precision, *authorization_file, *credentials, *ca, *index_name;
static char **tags;
static int once, quiet;

static const struct poptOption options[] = {
    {"dir", 0, POPT_ARG_STRING, &directory, 0, "the head's directory (else the variable NETPROF_HEAD)", "DIR"},
    {"lines", 'l', POPT_ARG_STRING, &lines_url, 0,
     "readings as line protocol: a file, http(s)://..., nats://HOST:PORT/SUBJECT", "TARGET"},
    {"findings", 'f', POPT_ARG_STRING, &findings_url, 0,
     "findings as Elasticsearch's _bulk: a file, or http(s)://HOST/_bulk", "TARGET"},
    {"interval", 't', POPT_ARG_STRING, &interval_text, 0, "one reading of each in this time (10s)", "TIME"},
    {"set", 0, POPT_ARG_STRING, &set_text, 0, "the few that decide most questions (fast), or all", "all|fast"},
    {"nodes", 'n', POPT_ARG_STRING, &nodes, 0, "only nodes like these, by commas", "GLOBS"},
    {"sources", 's', POPT_ARG_STRING, &sources, 0, "only these sources, by commas", "NAMES"},
    {"include", 'i', POPT_ARG_STRING, &include, 0, "only DEVICE or DEVICE/COUNTER like these, by commas", "GLOBS"},
    {"exclude", 'x', POPT_ARG_STRING, &exclude, 0, "but not those like these", "GLOBS"},
    {"cluster", 0, POPT_ARG_STRING, &cluster, 0, "the tag cluster of each line and finding", "NAME"},
    {"tag", 0, POPT_ARG_ARGV, &tags, 0, "another tag of each line; again for more", "KEY=VALUE"},
    {"precision", 0, POPT_ARG_STRING, &precision, 0, "times of lines in seconds (s), or ns", "s|ns"},
    {"index", 0, POPT_ARG_STRING, &index_name, 0, "Elasticsearch's index (netprof-findings)", "NAME"},
    {"authorization-file", 0, POPT_ARG_STRING, &authorization_file, 0,
     "its first line: HTTP's Authorization, such as Token ...; of NATS USER:PASSWORD", "FILE"},
    {"creds", 0, POPT_ARG_STRING, &credentials, 0, "credentials of NATS", "FILE"},
    {"ca", 0, POPT_ARG_STRING, &ca, 0, "certificates that https:// is held against (the system's)", "FILE"},
    {"lag", 0, POPT_ARG_STRING, &lag_text, 0, "readings take so long to come (10s)", "TIME"},
    {"keep", 0, POPT_ARG_STRING, &keep_text, 0, "try what was not taken so long, then drop it (1h)", "TIME"},
    {"since", 0, POPT_ARG_STRING, &since_text, 0, "the first time: begin this long ago", "TIME"},
    {"once", 0, POPT_ARG_NONE, &once, 0, "what there is, and end", NULL},
    {"quiet", 'q', POPT_ARG_NONE, &quiet, 0, "say nothing but what is wrong", NULL},
    POPT_TABLEEND,
};

static int64_t forward_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// ---- options ----

static int forward_time(const char *name, const char *text, const char *otherwise, int64_t *ns)
{
    if (!text) text = otherwise;
    if (!text || parse_duration(text, ns)) return EXIT_DONE;
    return fail_usage("%s: %s: expected a time like 100ms, 2s or 1m", name, safe(text));
}

static int forward_check(forward *f, size_t count)
{
    const char *variable = getenv("NETPROF_HEAD");
    int64_t since = 0;
    if (count) return fail_usage("expected no arguments");
    if (!directory && variable) directory = memory_strdup(variable);
    if (!directory || !*directory) return fail_usage("--dir DIR is needed: the head's directory");
    if (!lines_url && !findings_url) return fail_usage("expected --lines TARGET or --findings TARGET, or both");
    if (set_text && strcmp(set_text, "all") != 0 && strcmp(set_text, "fast") != 0)
        return fail_usage("--set: %s: expected all or fast", safe(set_text));
    if (precision && strcmp(precision, "s") != 0 && strcmp(precision, "ns") != 0)
        return fail_usage("--precision: %s: expected s or ns", safe(precision));
    for (size_t i = 0; tags && tags[i]; i++) {
        if (!strchr(tags[i], '=')) return fail_usage("--tag: %s: expected KEY=VALUE", safe(tags[i]));
        arrput(f->tags, tags[i]);
    }
    if (forward_time("--interval", interval_text, "10s", &f->filter.interval_ns) ||
        forward_time("--lag", lag_text, "10s", &f->lag_ns) || forward_time("--keep", keep_text, "1h", &f->keep_ns) ||
        forward_time("--since", since_text, NULL, &since))
        return EXIT_USAGE;
    snprintf(f->filter.name, sizeof f->filter.name, "forward");
    f->filter.fast = !set_text || strcmp(set_text, "fast") == 0;
    f->filter.nodes = nodes;
    f->filter.sources = sources;
    f->filter.include = include;
    f->filter.exclude = exclude;
    f->ns = precision && strcmp(precision, "ns") == 0;
    f->cluster = cluster;
    f->index = index_name ? index_name : "netprof-findings";
    f->directory = directory;
    int64_t begin = forward_clock(CLOCK_REALTIME) - since;
    f->first = (since > 0 ? begin : begin - f->lag_ns) / f->filter.interval_ns - 1;
    if (since > f->keep_ns) f->keep_ns = since + f->filter.interval_ns;
    return EXIT_DONE;
}

// ---- opening ----

static int forward_read_authorization(char line[4096])
{
    *line = 0;
    if (!authorization_file) return EXIT_DONE;
    FILE *in = fopen(authorization_file, "re");
    bool good = in && fgets(line, 4096, in);
    int error = good ? 0 : in ? EIO : errno;
    if (in) fclose(in);
    line[strcspn(line, "\r\n")] = 0;
    return good ? EXIT_DONE : fail_file(EXIT_FILE, authorization_file, "%s", strerror(error));
}

static int forward_open_target(target **t, const char *url, const char *type, const char *authorization)
{
    char *why = NULL;
    const target_options o = {.url = url,
                              .content_type = type,
                              .authorization = *authorization ? authorization : NULL,
                              .credentials = credentials,
                              .ca = ca,
                              .timeout_ns = 10000000000};
    *t = url ? target_open(&o, &why) : NULL;
    if (!url || *t) return EXIT_DONE;
    int code = fail_file(EXIT_FILE, url, "%s", safe(why));
    free(why);
    return code;
}

// A directory of its own in the head's for each target, with what has been forwarded to it.
static int forward_open_work(forward *f, int *lock)
{
    unsigned char hash[SHA256_BYTES];
    char *both = memory_format("%s\n%s", lines_url ? lines_url : "", findings_url ? findings_url : "");
    char *whole = realpath(directory, NULL), name[17];
    sha256(hash, both, strlen(both));
    free(both);
    for (size_t i = 0; i < 8; i++)
        sprintf(name + 2 * i, "%02x", hash[i]);
    if (!whole) return fail_file(EXIT_FILE, directory, "%s", strerror(errno));
    f->work = memory_format("%s/forward.%s", whole, name);
    free(whole);
    if (mkdir(f->work, 0700) && errno != EEXIST) return fail_file(EXIT_FILE, f->work, "%s", strerror(errno));
    *lock = open(f->work, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (*lock < 0) return fail_file(EXIT_FILE, f->work, "%s", strerror(errno));
    if (flock(*lock, LOCK_EX | LOCK_NB)) return fail_file(EXIT_FILE, f->work, "another one forwards to this already");
    forward_read_state(f);
    return EXIT_DONE;
}

// ---- at work ----

static void forward_say_counts(const forward *f)
{
    const forward_counts *l = &f->line_counts, *x = &f->finding_counts;
    if (f->lines && (!quiet || l->dropped || l->refused))
        warn("%s: %s sent, %s refused; %s of a node dropped", safe(target_name(f->lines)),
             words_many(l->sent, "line").text, words_exact(l->refused).text, words_many(l->dropped, "interval").text);
    if (f->findings && (!quiet || x->refused))
        warn("%s: findings: %s sent, %s refused", safe(target_name(f->findings)), words_exact(x->sent).text,
             words_exact(x->refused).text);
}

static int forward_loop(forward *f)
{
    int code = EXIT_DONE;
    while (!f->ended) {
        int64_t begun = forward_clock(CLOCK_MONOTONIC), wall = forward_clock(CLOCK_REALTIME);
        if (f->lines) code = forward_lines(f, wall);
        if (f->findings && !f->ended) forward_findings(f, wall);
        if (once) break;
        int64_t left = begun + f->filter.interval_ns - forward_clock(CLOCK_MONOTONIC);
        if (left < 100000000) left = 100000000;
        const struct timespec nap = {left / 1000000000, left % 1000000000};
        f->ended |= sigtimedwait(f->stop, NULL, &nap) > 0;
    }
    if (!once) return EXIT_DONE;
    return code ? code : f->line_counts.failed + f->finding_counts.failed ? EXIT_FILE : EXIT_DONE;
}

static int forward_run(const char **arguments, size_t count)
{
    forward f = {.ended = false};
    sigset_t stop;
    char authorization[4096];
    int lock = -1;
    (void)arguments;
    sigemptyset(&stop);
    sigaddset(&stop, SIGINT);
    sigaddset(&stop, SIGTERM);
    sigaddset(&stop, SIGHUP);
    sigprocmask(SIG_BLOCK, &stop, NULL);
    f.stop = &stop;
    int code = forward_check(&f, count);
    if (!code) code = forward_read_authorization(authorization);
    if (!code) code = forward_open_work(&f, &lock);
    if (!code) code = forward_open_target(&f.lines, lines_url, "text/plain; charset=utf-8", authorization);
    if (!code) code = forward_open_target(&f.findings, findings_url, "application/x-ndjson", authorization);
    if (!code) {
        code = forward_loop(&f);
        forward_say_counts(&f);
    }
    if (lock >= 0) close(lock);
    forward_free(&f);
    return code;
}

static const command forward_command = {
    .name = "forward",
    .summary = "what a head collects, for other programs: line protocol, Elasticsearch",
    .arguments = "[--dir DIR] --lines TARGET | --findings TARGET [OPTION...]",
    .text =
        "Sends readings as line protocol, as ClusterCockpit, InfluxDB, Telegraf, VictoriaMetrics and QuestDB take it:\n"
        "rates and gauges with the names and tags of netprof export --to influx, times in seconds; and findings as\n"
        "Elasticsearch's _bulk. The head's journal is the buffer: what a target does not take is tried again, for an\n"
        "hour, and so is what came while this program did not run; what is then dropped is counted and said. A value\n"
        "that was not read has no line. Another process for each target; it delays neither head nor agents.",
    .examples = "netprof forward --dir head --lines lines.txt --cluster alpha --since 1m --once\n"
                "netprof forward --dir head --findings findings.ndjson --once",
    .exits = "0 done, 2 wrong usage, 3 a file could not be read or written, or (--once) a target did not take all.",
    .options = options,
    .run = forward_run,
};

int main(int argc, char **argv)
{
    return command_program(&forward_command, argc, argv);
}
