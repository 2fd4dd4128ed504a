// netprof collect: snapshots into a file.
#include "commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "measure/node_options.h"
#include "measure/record.h"
#include "measure/record_job.h"
#include "analysis/base/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *output, *interval_text;
static int wanted = 1, quiet;

static const struct poptOption options[] = {
    {"output", 'o', POPT_ARG_STRING, &output, 0, "where to: .netprof, .json, or - for JSON on the standard output",
     "FILE"},
    {"count", 'n', POPT_ARG_INT, &wanted, 0, "so many snapshots (1); 0: until interrupted, to - a line each", "N"},
    {"interval", 't', POPT_ARG_STRING, &interval_text, 0, "time between them (1s): 100ms, 2s, 1m", "TIME"},
    {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(uintptr_t)set_option, 0, NULL, NULL},
    {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(uintptr_t)reading_options, 0, NULL, NULL},
    {"quiet", 'q', POPT_ARG_NONE, &quiet, 0, "say nothing but errors", NULL},
    POPT_TABLEEND,
};

typedef struct collection {
    netprof *np;
    netprof_set set;
    recorder *to;
    int64_t interval_ns;
    int taken;
    netprof_snapshot snapshot; // the last
    tcp_sockets *sockets;      // NULL: TCP's counters are not read
    schedule clock;
} collection;

static int cmd_collect_take_one(collection *c)
{
    netprof_error error;
    if (netprof_take(c->np, &c->snapshot, c->set, &error)) return fail_error(NULL, &error);
    recorder_snapshot(c->to, &c->snapshot);
    if (!c->taken++ && c->to) c->sockets = reading_sockets(c->np);
    tcp_sockets_look(c->sockets);
    return EXIT_DONE;
}

// Signals are held from before the file appears, so that it always ends properly.
static bool cmd_collect_start_clock(collection *c)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    if (!schedule_open(&c->clock, &signals)) return false;
    if (wanted != 1) schedule_add(&c->clock, c->interval_ns, schedule_now());
    return true;
}

// Takes snapshots until there are enough or a signal ends it; those taken are kept.
static int cmd_collect_take_all(collection *c)
{
    siginfo_t info;
    int code = cmd_collect_take_one(c);
    while (!code && (!wanted || c->taken < wanted) && schedule_wait(&c->clock, &info) >= 0)
        code = cmd_collect_take_one(c);
    if (!code && c->taken < wanted) {
        warn("interrupted: %d of %d snapshots", c->taken, wanted);
        code = EXIT_WORTH_FAILING;
    }
    return code;
}

static void cmd_collect_say_done(const collection *c)
{
    const netprof_schema *schema = c->snapshot.schema;
    char unreadable[64] = "";
    size_t asked = 0;
    if (c->snapshot.not_ok)
        snprintf(unreadable, sizeof unreadable, ", %u without a value", (unsigned)c->snapshot.not_ok);
    for (size_t i = 0; i < schema->counter_count; i++)
        asked += c->snapshot.status[i] != NETPROF_STATUS_SKIPPED;
    if (c->clock.rows[0].missed) warn("%llu ticks were missed", (unsigned long long)c->clock.rows[0].missed);
    if (quiet || (!isatty(STDERR_FILENO) && !c->snapshot.not_ok)) return;
    warn("%s: %s, %zu counters of %zu devices%s, read in %s", safe(recorder_path(c->to)),
         words_many((uint64_t)c->taken, "snapshot").text, asked, schema->device_count, unreadable,
         safe(words_duration((double)(c->snapshot.end_ns - c->snapshot.begin_ns) / 1e9).text));
}

static int cmd_collect_check(collection *c)
{
    c->interval_ns = 1000000000;
    if (!output) return fail_usage("-o FILE is missing");
    if (wanted < 0) return fail_usage("--count: %d: expected 0 or more", wanted);
    if (interval_text && !parse_duration(interval_text, &c->interval_ns))
        return fail_usage("--interval: %s: expected a time like 100ms, 2s or 1m", safe(interval_text));
    return reading_set(&c->set, NETPROF_SET_ALL) ? EXIT_DONE : EXIT_USAGE;
}

// ---- without an end ----

// A document in one line: no text in it holds a line break of its own.
static int cmd_collect_put_line(void *user, const void *data, size_t size)
{
    (void)user;
    const char *at = data, *end = at + size;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) stop = end;
        if (fwrite(at, 1, (size_t)(stop - at), stdout) != (size_t)(stop - at)) return errno ? errno : EIO;
        at = stop + (stop < end);
    }
    return 0;
}

// Each line is a whole document, of one snapshot, and leaves at once.
static int cmd_collect_line(collection *c)
{
    netprof_fact facts[64];
    netprof_error error;
    netprof_json json = {.facts = facts, .snapshots = &c->snapshot, .snapshot_count = 1};
    for (size_t i = 0; record_job_key(i) && json.fact_count < sizeof facts / sizeof *facts; i++) {
        const char *value = record_job_fact(record_job_key(i));
        if (value) facts[json.fact_count++] = (netprof_fact){record_job_key(i), value};
    }
    netprof_err result = netprof_write_json(&json, cmd_collect_put_line, NULL, &error);
    if (!result && putchar('\n') != EOF && fflush(stdout) == 0) return EXIT_DONE;
    int why = result ? error.sys_errno : errno;
    clearerr(stdout); // said here, or nobody wants it
    return why == EPIPE ? EXIT_FILE : fail(EXIT_FILE, "standard output: %s", strerror(why));
}

static int cmd_collect_stream(collection *c)
{
    siginfo_t info;
    int code;
    if (!cmd_collect_start_clock(c)) return fail(EXIT_FILE, "no timer: %s", strerror(errno));
    do {
        code = cmd_collect_take_one(c);
        if (!code) code = cmd_collect_line(c);
    } while (!code && schedule_wait(&c->clock, &info) >= 0);
    return code;
}

static int cmd_collect_all(collection *c)
{
    if (!wanted && strcmp(output, "-") == 0) return cmd_collect_stream(c);
    if (!cmd_collect_start_clock(c)) return fail(EXIT_FILE, "no timer: %s", strerror(errno));
    c->to = recorder_open(output, wanted == 0 ? RECORDER_LIVE : RECORDER_WHOLE);
    if (!c->to) return EXIT_FILE;
    recorder_job(c->to);
    int code = cmd_collect_take_all(c);
    if (c->taken) cmd_collect_say_done(c);
    if (c->interval_ns && wanted != 1) recorder_number(c->to, "interval_ns", c->interval_ns);
    if (c->clock.rows[0].missed) recorder_number(c->to, "missed_ticks", (int64_t)c->clock.rows[0].missed);
    if (c->taken > 1) tcp_sockets_look_now(c->sockets);
    recorder_sockets(c->to, c->sockets, c->taken > 1); // of one reading all since the connections began
    int closed = recorder_close(c->to, c->taken > 0);
    return code > EXIT_WORTH_FAILING || !closed ? code : closed;
}

static int cmd_collect_run(const char **arguments, size_t count)
{
    collection c = {0};
    if (count > 1) return fail_usage("%s: unexpected argument; expected one directory at most", safe(arguments[1]));
    int code = cmd_collect_check(&c);
    if (!code && count) code = reading_of_directory(arguments[0]);
    if (code) return code;
    code = reading_open(&c.np, NULL);
    if (code == EXIT_NOTHING)
        code = reading_nothing(c.np);
    else if (!code)
        code = cmd_collect_all(&c);
    schedule_close(&c.clock);
    tcp_sockets_close(c.sockets);
    netprof_snapshot_free(&c.snapshot);
    netprof_close(c.np);
    reading_end();
    return code ? code : output_close();
}

const command command_collect = {
    .name = "collect",
    .summary = "keep snapshots of the counters in a file",
    .arguments = "-o FILE [DIRECTORY]",
    .text =
        "Reads the counters and keeps them in FILE, which appears under its name when it is whole (--count 0: at "
        "once,\n"
        "and grows). Counters that cannot be read are kept as such, with the reason. In FILE, %h is the host, %j the\n"
        "job, %r the rank and %p the process. With --count 0 and -o - each snapshot is a document of JSON on a line\n"
        "of its own, at once, until whoever reads it goes away; every netprof command reads such lines, too.\n"
        "With DIRECTORY only the NICs there are read: a directory of the class cxi, or a copy of it, or the telemetry "
        "of\n"
        "one NIC.",
    .examples = "netprof collect -o before.netprof\n"
                "netprof collect -o node.json --include 'lo,eth*,hsn*,cxi*'\n"
                "netprof collect -o series.netprof --set fast --count 5 --interval 100ms",
    .exits = "0 done, 1 interrupted before the last snapshot, 2 wrong usage, 3 FILE could not be written,\n"
             "4 nothing to read on this node.",
    .options = options,
    .source_names = reading_source_names,
    .run = cmd_collect_run,
};
