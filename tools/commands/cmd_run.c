// netprof run: a command, a process or the node between two snapshots, untouched.
#define _GNU_SOURCE // environ, mkstemps
#include "commands.h"
#include "cli/fold.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/helper_program.h"
#include "commands/run/run_execute.h"
#include "commands/run/run_samples.h"
#include "commands/run/run_series.h"
#include "commands/run/run_summary.h"
#include "measure/nccl_run.h"
#include "measure/node_options.h"
#include "analysis/base/memory.h"
#include "analysis/base/output_file.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/unfinished.h"
#include "analysis/base/words.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char *output, *interval_text, *print_text, *summary_path, *report_path, *attach_text, *duration_text,
    *delay_text, *timeout_text, *pre, *post, *separator_text;
static int as_json, as_csv, quiet, as_mpi, as_nccl, append, whole_node, repeat = 1;

static const struct poptOption options[] = {
    {"output", 'o', POPT_ARG_STRING, &output, 0, "keep the snapshots: .netprof or .json; --mpi, --nccl: a directory",
     "FILE"},
    {"mpi", 0, POPT_ARG_NONE, &as_mpi, 0, "COMMAND starts MPI ranks: make a region of each of their MPI calls", NULL},
    {"nccl", 0, POPT_ARG_NONE, &as_nccl, 0, "COMMAND uses NCCL or RCCL: load the profiler plugin into it; needs -o",
     NULL},
    {"interval", 't', POPT_ARG_STRING, &interval_text, 0, "keep snapshots in between as well: 100ms, 1s", "TIME"},
    {"interval-print", 'I', POPT_ARG_STRING, &print_text, 0, "the same, and print what happened in each", "TIME"},
    {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(uintptr_t)set_option, 0, NULL, NULL},
    {"repeat", 'r', POPT_ARG_INT, &repeat, 0, "run it N times: mean, spread and outliers", "N"},
    {"process", 'p', POPT_ARG_STRING, &attach_text, 0, "these processes, until they end, --duration or Ctrl-C", "PIDS"},
    {"node", 'a', POPT_ARG_NONE, &whole_node, 0, "the node: while COMMAND runs, for --duration, or until Ctrl-C", NULL},
    {"duration", 'd', POPT_ARG_STRING, &duration_text, 0, "with -a or -p: end after this time", "TIME"},
    {"delay", 'D', POPT_ARG_STRING, &delay_text, 0, "begin to measure so long after the start: 500ms, 2s", "TIME"},
    {"timeout", 0, POPT_ARG_STRING, &timeout_text, 0, "end COMMAND after this time: SIGTERM, 5 s later SIGKILL",
     "TIME"},
    {"pre", 0, POPT_ARG_STRING, &pre, 0, "a shell command before each run, not measured", "COMMAND"},
    {"post", 0, POPT_ARG_STRING, &post, 0, "a shell command after each run, not measured", "COMMAND"},
    {"json", 0, POPT_ARG_NONE, &as_json, 0, "the summary as JSON", NULL},
    {"csv", 0, POPT_ARG_NONE, &as_csv, 0, "the summary as CSV", NULL},
    {"field-separator", 0, POPT_ARG_STRING, &separator_text, 0, "fields as perf stat prints them; also -x ','", "SEP"},
    {"summary", 's', POPT_ARG_STRING, &summary_path, 0, "the summary into FILE instead of the standard error", "FILE"},
    {"append", 0, POPT_ARG_NONE, &append, 0, "put the summary behind what FILE of --summary holds", NULL},
    {"report", 0, POPT_ARG_STRING, &report_path, 0, "a report afterwards: .pdf, .html, .svg or .png", "FILE"},
    {"quiet", 'q', POPT_ARG_NONE, &quiet, 0, "no summary", NULL},
    {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(uintptr_t)reading_options, 0, NULL, NULL},
    POPT_TABLEEND,
};

// ---- what was asked for ----

// perf stat's plain numbers are milliseconds, netprof's are seconds: these options take none.
static int cmd_run_time(const char *name, const char *text, bool plain, int64_t *ns)
{
    if (!text) return EXIT_DONE;
    if (!plain && isdigit((unsigned char)text[strlen(text) - (*text != 0)]))
        return fail_usage("%s: %s: expected a time with its unit, like 500ms or 2s", name, safe(text));
    if (parse_duration(text, ns)) return EXIT_DONE;
    return fail_usage("%s: %s: expected a time like 100ms, 2s or 1m", name, safe(text));
}

static int cmd_run_times(run_request *ask)
{
    if (interval_text && print_text)
        return fail_usage("--interval-print keeps the snapshots, too: not with --interval");
    int code = cmd_run_time("--interval", interval_text, true, &ask->interval_ns);
    if (!code) code = cmd_run_time("--interval-print", print_text, false, &ask->interval_ns);
    if (!code) code = cmd_run_time("--duration", duration_text, true, &ask->duration_ns);
    if (!code) code = cmd_run_time("--delay", delay_text, false, &ask->delay_ns);
    if (!code) code = cmd_run_time("--timeout", timeout_text, false, &ask->timeout_ns);
    if (ask->words || code) return code;
    if (ask->timeout_ns && (!ask->duration_ns || ask->timeout_ns < ask->duration_ns))
        ask->duration_ns = ask->timeout_ns;
    ask->timeout_ns = 0; // there is nothing to end
    return EXIT_DONE;
}

static int cmd_run_formats(run_request *ask)
{
    ask->separator = separator_text ? separator_text : reading_separator();
    if (as_json + as_csv + (ask->separator != NULL) > 1)
        return fail_usage("--json, --csv and --field-separator exclude each other");
    if (ask->separator && !*ask->separator) return fail_usage("--field-separator: expected a character or more");
    if (ask->separator && strcmp(ask->separator, "\\t") == 0) ask->separator = "\t";
    ask->format = as_json ? RUN_JSON : as_csv ? RUN_CSV : ask->separator ? RUN_FIELDS : RUN_TEXT;
    if (append && !summary_path)
        return fail_usage("--append: only with --summary; snapshots of several runs: --repeat, or %%p in --output");
    return EXIT_DONE;
}

// What only a command can be asked for, or only one run.
static int cmd_run_fits(const run_request *ask)
{
    if (!ask->words && !whole_node && !attach_text) return fail_usage("expected a command, -p PIDS or -a");
    if (whole_node && attach_text) return fail_usage("-p and -a exclude each other");
    if (repeat < 1) return fail_usage("--repeat: %d: expected 1 or more", repeat);
    if (!ask->words && (repeat > 1 || pre || post || as_mpi || as_nccl))
        return fail_usage("%s: expected a command", repeat > 1 ? "--repeat"
                                                    : as_mpi   ? "--mpi"
                                                    : as_nccl  ? "--nccl"
                                                    : pre      ? "--pre"
                                                               : "--post");
    if (ask->words && duration_text) return fail_usage("--duration: is for -a or -p; --timeout ends a command");
    if (repeat > 1 && as_mpi && !output)
        return fail_usage("--repeat: with --mpi expected -o DIR, to keep each run's regions");
    if (repeat > 1 && as_nccl) return fail_usage("--repeat: not with --nccl, which is of one run");
    if (as_nccl && !output) return fail_usage("--nccl: expected -o DIR, for the files of the processes");
    if (output && strcmp(output, "-") == 0) return fail_usage("-o -: the standard output belongs to the command");
    return EXIT_DONE;
}

static int cmd_run_check(run_request *ask)
{
    int code = cmd_run_fits(ask);
    if (!code) code = cmd_run_times(ask);
    if (!code) code = cmd_run_formats(ask);
    if (code) return code;
    if (interval_text && !output) warn("--interval: without -o nothing keeps the snapshots");
    ask->count = (uint64_t)repeat;
    ask->node = whole_node;
    ask->mpi = as_mpi;
    ask->nccl = as_nccl;
    ask->output = output;
    ask->prints = print_text != NULL;
    bool for_report = report_path && !output && !as_mpi;
    ask->samples = for_report && !ask->interval_ns && repeat == 1;
    if (for_report && !ask->interval_ns) ask->interval_ns = RUN_SAMPLES_MS * INT64_C(1000000);
    ask->recording = (output || for_report) && ask->interval_ns;
    if (!reading_set(&ask->set, ask->prints ? NETPROF_SET_ALL : NETPROF_SET_FAST)) return EXIT_USAGE;
    if (attach_text) code = attached_open(&ask->attached, attach_text);
    if (!code && attach_text) ask->names = attached_names(&ask->attached);
    if (!code && attach_text && attached_are_elsewhere(&ask->attached))
        warn("-p: in another network namespace: what its interfaces moved is read with --pid %d",
             (int)ask->attached.pids[0]);
    return code;
}

// ---- where the summary goes ----

// NULL after saying why not. A file that is there is replaced unless --append says otherwise.
static FILE *cmd_run_open_summary(run_request *ask)
{
    output_place place;
    struct stat st;
    FILE *to = NULL;
    if (!summary_path) return ask->format == RUN_TEXT ? fold_stream(stderr) : stderr;
    if (!output_place_find(&place, summary_path)) {
        warn("%s: %s", safe(summary_path), place.refused);
    } else if (place.standard) {
        to = stdout;
    } else {
        to = fopen(place.target, append ? "ae" : "we");
        if (!to) warn("%s: %s", safe(summary_path), strerror(errno));
        if (to && append) ask->untitled = fstat(fileno(to), &st) == 0 && st.st_size > 0;
    }
    output_place_free(&place);
    return to;
}

static void cmd_run_close_summary(FILE *to)
{
    bool failed = ferror(to) != 0;
    if (to == stdout || fold_descriptor(to) == STDERR_FILENO) return;
    if (fclose(to) || failed) warn("%s: %s", safe(summary_path), strerror(errno));
}

// With --interval-print programs get the intervals alone, as from perf stat.
static bool cmd_run_has_summary(const run_request *ask)
{
    return !quiet && !(ask->prints && (ask->format == RUN_CSV || ask->format == RUN_FIELDS));
}

static void cmd_run_summarize(const execution *e, run_request *ask)
{
    difference d;
    FILE *to = ask->to ? ask->to : cmd_run_open_summary(ask);
    if (!to) return;
    if (ask->prints && ask->format == RUN_TEXT) fputc('\n', to);
    run_summary_difference(e, &d);
    run_summary_print(to, e, &d);
    difference_free(&d);
    if (!ask->to) cmd_run_close_summary(to);
}

// ---- files ----

// A name for the snapshots that only the report is made of; free it. NULL after saying why there is none.
static char *cmd_run_temporary_file(void)
{
    const char *directory = getenv("TMPDIR");
    char *path = memory_format("%s/netprof-XXXXXX.netprof", directory && *directory ? directory : "/tmp");
    int fd = mkstemps(path, (int)strlen(".netprof"));
    if (fd >= 0) unfinished_begin(path);
    if (fd >= 0 && close(fd) == 0) return path;
    fail(EXIT_FILE, "%s: %s", safe(path), strerror(errno));
    free(path);
    return NULL;
}

// The command's exit status stays; a report that fails says so itself.
static void cmd_run_make_report(char *path)
{
    char *program = helper_program("netprof-report"), *words[] = {"netprof-report", "-o", report_path, path, NULL};
    posix_spawnattr_t how;
    sigset_t none;
    pid_t child;
    int status = 0;
    sigemptyset(&none);
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&how, &none);
    int error = posix_spawnp(&child, program, NULL, &how, words, environ);
    posix_spawnattr_destroy(&how);
    while (!error && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (error)
        warn("--report: %s: %s (it needs cairo, pango and librsvg)", program, strerror(error));
    else if (status && !(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_WORTH_FAILING))
        warn("--report: %s was not written", safe(report_path));
    free(program);
}

// The input of the report: regions of the ranks, or the snapshots. free it; NULL: nothing to report.
static char *cmd_run_reported(const execution *e)
{
    if (!report_path) return NULL;
    if (e->ask->samples) return memory_strdup(e->mpi.directory);
    if (as_nccl && nccl_run_files(e->mpi.directory)) return memory_strdup(e->mpi.directory);
    if (as_mpi) return ranks_run_files(&e->mpi) ? memory_strdup(e->mpi.directory) : NULL;
    return e->to ? memory_strdup(recorder_path(e->to)) : NULL;
}

// ---- one run ----

// How netprof ends: as the command did. What ends by a signal of the keyboard says so to the shell, whose loop ends, too.
static void cmd_run_end_as(const execution *e)
{
    int number = e->signal;
    bool commanded = e->ask->words != NULL, like_it = WIFSIGNALED(e->status) && WTERMSIG(e->status) == number;
    sigset_t one;
    if (commanded ? !(number == SIGINT && like_it && !e->timed_out)
                  : !(number == SIGINT || number == SIGTERM || number == SIGHUP))
        return;
    sigemptyset(&one);
    sigaddset(&one, number);
    signal(number, SIG_DFL);
    fflush(NULL);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
}

static int cmd_run_status(const execution *e)
{
    if (e->ask->words) return run_exit_status(e);
    return e->end == RUN_SIGNAL ? EXIT_SIGNAL + e->signal : EXIT_DONE;
}

static int cmd_run_open(execution *e, char **temporary)
{
    bool samples = e->ask->samples;
    int code = as_mpi    ? ranks_run_open_mpi(&e->mpi, output)
               : as_nccl ? ranks_run_open_directory(&e->mpi, output)
               : samples ? ranks_run_open_plain(&e->mpi)
                         : EXIT_DONE;
    if (!code && as_nccl) code = nccl_run_open(e->mpi.directory);
    if (code) return code;
    if (report_path && !output && !as_mpi && !samples && !(*temporary = cmd_run_temporary_file())) return EXIT_FILE;
    char *path = *temporary          ? memory_strdup(*temporary)
                 : samples           ? ranks_run_pattern(&e->mpi, "netprof-the-run.netprof")
                 : !output           ? NULL
                 : as_mpi || as_nccl ? ranks_run_pattern(&e->mpi, "run.netprof")
                                     : memory_strdup(output);
    code = run_open(e, path);
    free(path);
    return code;
}

static int cmd_run_hook(const run_request *ask, const char *name, const char *line)
{
    int status = line ? run_hook(ask, line) : 0;
    return status ? fail(status, "%s: %s: ended with exit status %d", name, safe(line), status) : EXIT_DONE;
}

static int cmd_run_once(run_request *ask)
{
    execution e = {.ask = ask};
    char *temporary = NULL;
    int code = cmd_run_hook(ask, "--pre", pre);
    if (!code) code = cmd_run_open(&e, &temporary);
    if (!code) code = run_execute(&e);
    if (e.started) {
        signal(SIGPIPE, SIG_IGN); // a reader of our summary that went away is no reason to fail
        code = cmd_run_status(&e);
        if (cmd_run_has_summary(ask)) cmd_run_summarize(&e, ask);
    }
    char *kept = cmd_run_reported(&e);
    int closed = run_close(&e, e.started);
    if (!closed && e.started && kept)
        cmd_run_make_report(kept);
    else if (e.started && report_path && as_mpi && !kept)
        warn("--report: the ranks left no regions to report about");
    if (temporary) unfinished_drop(temporary);
    free(temporary);
    free(kept);
    if (e.started) {
        int after = cmd_run_hook(ask, "--post", post);
        if (!code) code = after;
        if (ask->to) cmd_run_close_summary(ask->to);
        ask->to = NULL;
    }
    run_free(&e);
    if (e.started) cmd_run_end_as(&e);
    return code;
}

// ---- several runs ----

// For what only the report is made of; free it. NULL after saying why there is none.
static char *cmd_run_temporary_directory(void)
{
    const char *directory = getenv("TMPDIR");
    char *path = memory_format("%s/netprof-XXXXXX", directory && *directory ? directory : "/tmp");
    if (mkdtemp(path)) {
        unfinished_begin(path);
        return path;
    }
    fail(EXIT_FILE, "%s: %s", safe(path), strerror(errno));
    free(path);
    return NULL;
}

// Each into a file, or with --mpi a directory, of its own.
static int cmd_run_open_next(execution *e, uint64_t number)
{
    uint64_t count = e->ask->count;
    char *path = !output  ? NULL
                 : as_mpi ? run_series_directory(output, number, count)
                          : run_series_path(output, number, count);
    int code = as_mpi ? ranks_run_open_mpi(&e->mpi, path) : EXIT_DONE;
    if (as_mpi && !code) {
        free(path);
        path = ranks_run_pattern(&e->mpi, "run.netprof");
    }
    if (!code) code = run_open(e, path);
    free(path);
    return code;
}

// One of them; *reported: what a report of it is made of. Returns an exit code where there can be no more.
static int cmd_run_next(run_request *ask, run_series *s, uint64_t number, execution *e, char **reported)
{
    *e = (execution){.ask = ask};
    int code = cmd_run_hook(ask, "--pre", pre);
    if (!code) code = cmd_run_open_next(e, number);
    if (!code) code = run_execute(e);
    if (e->started) run_series_add(s, e);
    *reported = e->started && !e->signal ? cmd_run_reported(e) : NULL;
    int closed = run_close(e, e->started && !e->signal); // a run that was broken off would be compared as a short one
    if (!code && !e->signal) code = closed;
    if (!code && e->started && !e->signal) code = cmd_run_hook(ask, "--post", post);
    return code;
}

// Of the run in the middle: to draw the slowest, or the one that fits best, would be to choose what is seen.
static void cmd_run_report_series(const run_series *s, char *const *reported)
{
    uint64_t middle = run_series_median(s);
    if (!middle || !reported[middle - 1]) {
        warn("--report: no run to report about");
        return;
    }
    if (!quiet)
        fprintf(stderr, "netprof: %s is of run %llu, whose time is the median of %s\n", safe(report_path),
                (unsigned long long)middle, words_many(arrlenu(s->numbers), "run").text);
    cmd_run_make_report(reported[middle - 1]);
}

static int cmd_run_several(run_request *ask)
{
    run_series s = {0};
    execution e = {.ask = ask};
    char *temporary = report_path && !output ? cmd_run_temporary_directory() : NULL, **reported = NULL;
    if (report_path && !output && !temporary) return EXIT_FILE;
    if (temporary) output = temporary;
    int code = output ? run_series_prepare(output, as_mpi) : EXIT_DONE, number = 0;
    for (uint64_t i = 1; i <= ask->count && !code && !number; i++) {
        char *one = NULL;
        code = cmd_run_next(ask, &s, i, &e, &one);
        arrput(reported, one);
        number = e.signal ? e.signal : run_was_interrupted(ask);
        run_free(&e);
    }
    signal(SIGPIPE, SIG_IGN);
    FILE *to = !s.taken || !cmd_run_has_summary(ask) ? NULL : ask->to ? ask->to : cmd_run_open_summary(ask);
    if (to) run_series_print(to, &s, ask);
    if (to || ask->to) cmd_run_close_summary(to ? to : ask->to);
    ask->to = NULL;
    if (report_path && s.taken) cmd_run_report_series(&s, reported);
    if (temporary) {
        unfinished_drop(temporary);
        output = NULL; // it was no option's
    }
    for (size_t i = 0; i < arrlenu(reported); i++)
        free(reported[i]);
    arrfree(reported);
    free(temporary);
    if (!code) code = s.status;
    run_series_free(&s);
    e.signal = number;
    cmd_run_end_as(&e);
    return code ? code : number ? EXIT_SIGNAL + number : EXIT_DONE;
}

static int cmd_run_run(const char **arguments, size_t count)
{
    run_request ask = {.words = count ? arguments : NULL};
    ask.clock.input = -1;
    ask.attached.any = -1;
    int code = cmd_run_check(&ask);
    if (!code && ask.words) ask.line = shell_line(arguments);
    if (!code) code = run_listen(&ask);
    if (!code && ask.prints && !(ask.to = cmd_run_open_summary(&ask))) code = EXIT_FILE;
    if (!code) code = repeat > 1 ? cmd_run_several(&ask) : cmd_run_once(&ask);
    schedule_close(&ask.clock);
    attached_close(&ask.attached);
    free(ask.names);
    free(ask.line);
    return code;
}

const command command_run = {
    .name = "run",
    .summary = "run a command and tell what it did to the network",
    .arguments = "[--] COMMAND [ARGUMENT...]\n-p PIDS | -a",
    .text =
        "Runs COMMAND between two snapshots and prints a short summary on the standard error. The command keeps its\n"
        "standard streams, its signals and its exit status. Counters belong to the node: other programs' traffic is\n"
        "in them. With -o the snapshots are kept, with --interval also those in between (the fast set unless --set\n"
        "says otherwise); in FILE, %h is the host, %j the job, %r the rank and %p the process.\n"
        "With --mpi, COMMAND starts the ranks of an MPI job (mpirun, srun); their calls of MPI become regions with\n"
        "times and bytes, whatever MPI it is, and the summary tells of them. -o then names a directory for their\n"
        "files and for the snapshots (run.netprof). With --nccl, NCCL or RCCL loads netprof's profiler plugin, whose\n"
        "files 'netprof nccl' reads; NETPROF_NCCL says how much it records (coll, proxy, step, all). With\n"
        "--report, netprof-report draws what happened, with --mpi\n"
        "the regions, with -r the run whose time is the median. Without -o it is sampled for that alone: ten times a\n"
        "second at first, at most 600 times in all (with -r ten times a second throughout).\n"
        "-r repeats the command: mean, spread and outliers of its time, of what each port moved and of what went\n"
        "wrong; -o then keeps a file for each run (with --mpi a directory), for netprof compare. -p attaches to\n"
        "processes that run already, -a measures the node; both end by Ctrl-C, too. -I prints while it runs.",
    .examples = "netprof run -- sleep 1\n"
                "netprof run -o job.netprof --interval 100ms -- sleep 1\n"
                "netprof run --json --summary job.json -- sleep 1\n"
                "netprof run --report job.pdf -- sleep 1\n"
                "netprof run -r 5 -o runs/ -- sleep 0.1\n"
                "netprof run -r 5 --report middle.pdf -- sleep 0.1\n"
                "netprof run -a -d 1s\n"
                "netprof run -I 500ms -- sleep 1\n"
                "netprof run --timeout 10s -r 2 -x , -- sleep 0.1\n"
                "netprof run --mpi -o regions -- mpirun -n 4 ./my_program\n"
                "netprof run --nccl -o collectives -- mpirun -n 4 ./my_program",
    .exits =
        "the command's own, 128 + N when signal N killed it, 127 when it is not found, 126 when it cannot\n"
        "be started, 124 after --timeout; -r: that of the last run, or where it is 0 of the last that failed; -a\n"
        "and -p: 0, or by the signal that ended it. Before it starts: 2 wrong usage, 3 a file could not be written.",
    .options = options,
    .source_names = reading_source_names,
    .popt_flags = POPT_CONTEXT_POSIXMEHARDER,
    .json = &as_json,
    .json_on_stderr = true,
    .run = cmd_run_run,
};
