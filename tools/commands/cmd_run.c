// netprof run: a command between two snapshots, untouched.
#define _GNU_SOURCE // pipe2
#include "commands.h"
#include "measure/job_slurm.h"
#include "measure/mpi_run.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/helper_program.h"
#include "measure/node_options.h"
#include "measure/record.h"
#include "commands/print/summary.h"
#include "measure/witness.h"
#include "analysis/base/memory.h"
#include "analysis/base/output_file.h"
#include "analysis/base/unfinished.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_CANNOT_START = 126, EXIT_NOT_FOUND = 127, EXIT_SIGNAL = 128 }; // as the shell

static char *output, *interval_text, *summary_path, *report_path;
static int as_json, quiet, as_mpi;

static const struct poptOption options[] = {
    {"output", 'o', POPT_ARG_STRING, &output, 0, "keep the snapshots: .netprof or .json; --mpi: a directory", "FILE"},
    {"mpi", 0, POPT_ARG_NONE, &as_mpi, 0, "COMMAND starts MPI ranks: make a region of each of their MPI calls", NULL},
    {"interval", 't', POPT_ARG_STRING, &interval_text, 0, "keep snapshots in between as well: 100ms, 1s", "TIME"},
    {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(uintptr_t)set_option, 0, NULL, NULL},
    {"json", 0, POPT_ARG_NONE, &as_json, 0, "the summary as JSON", NULL},
    {"summary", 's', POPT_ARG_STRING, &summary_path, 0, "the summary into FILE instead of the standard error", "FILE"},
    {"report", 0, POPT_ARG_STRING, &report_path, 0, "a report afterwards: .pdf, .html, .svg or .png", "FILE"},
    {"quiet", 'q', POPT_ARG_NONE, &quiet, 0, "no summary", NULL},
    {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(uintptr_t)reading_options, 0, NULL, NULL},
    POPT_TABLEEND,
};

typedef struct execution {
    const char **words;
    char *line;      // the words, quoted
    char *temporary; // the snapshots' file, where only the report needs it
    mpi_run mpi;
    sources_job job; // the command's processes
    netprof *np;
    bool readable; // there is something to read
    netprof_set set;
    int64_t interval_ns;
    recorder *to;
    netprof_snapshot before, after, between;
    uint64_t series; // snapshots in between
    schedule clock;
    witness witness;
    pid_t child;
    bool reaped;
    int status;        // as wait4() gives it
    struct rusage use; // of the command, and of all that it or this process waited for
    bool left_behind;  // processes of it go on: there is more
    int64_t begin_ns, end_ns, wall_begin_ns;
} execution;

static int64_t cmd_run_now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// Ticks that passed while nobody could read; none without --interval.
static uint64_t cmd_run_missed(const execution *e)
{
    return e->clock.rows[0].missed;
}

static void cmd_run_take(execution *e, netprof_snapshot *s, netprof_set set)
{
    netprof_error error;
    if (!e->readable) return;
    if (netprof_take(e->np, s, set, &error))
        fail_error(NULL, &error);
    else
        recorder_snapshot(e->to, s);
}

// ---- the command ----

// Programs with regions sample themselves as often as the node is read, unless the user says otherwise.
static void cmd_run_ask_for_series(const execution *e)
{
    enum { LEAST_MS = 10 }; // a process wakes up each time
    int64_t step = e->interval_ns < LEAST_MS * 1000000 ? LEAST_MS * 1000000 : e->interval_ns;
    char text[48];
    if (!e->interval_ns || !output || getenv("NETPROF_SERIES")) return;
    snprintf(text, sizeof text, "%lld.%09lld", (long long)(step / 1000000000), (long long)(step % 1000000000));
    setenv("NETPROF_SERIES", text, 1);
}

// Never returns. What this process changed for itself is undone first.
static void cmd_run_become_command(const execution *e, const struct sigaction *child_action, int report)
{
    sigaction(SIGCHLD, child_action, NULL);
    sigprocmask(SIG_SETMASK, &e->clock.old_mask, NULL);
    output_file_signals_restore();
    execvp(e->words[0], (char **)(uintptr_t)e->words);
    int error = errno;
    if (write(report, &error, sizeof error) != (ssize_t)sizeof error) _exit(EXIT_CANNOT_START);
    _exit(error == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_START);
}

// Signals from the terminal, or to the process group, reach the command anyway; those sent to this
// process alone are passed on, but for those that say "stop" on a keyboard, which time(1) and nohup(1) leave to the
// command as well.
static void cmd_run_pass_on(execution *e, const siginfo_t *info)
{
    int number = info->si_signo;
    if (number == SIGINT || number == SIGQUIT || info->si_code == SI_KERNEL) return;
    if (info->si_pid == e->child) return;
    bool to_all = witness_saw(&e->witness, number) && getpgid(e->child) == getpgrp();
    if (!to_all) kill(e->child, number);
}

static bool cmd_run_has_ended(pid_t child)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child;
}

static int cmd_run_exit_status(const execution *e)
{
    return WIFSIGNALED(e->status) ? EXIT_SIGNAL + WTERMSIG(e->status) : WEXITSTATUS(e->status);
}

// The execution whose command has started: netprof then ends with the command's exit status, whatever happens to itself.
static execution *run_started;

// Runs when memory is used up, and allocates nothing: waits for the command as if nothing had happened, passes its signals
// on, keeps the readings that there are, and ends with the command's exit status.
static void cmd_run_outlive_memory(void)
{
    siginfo_t info;
    execution *e = run_started;
    if (!e) return;
    e->clock.count = 0; // no more readings
    while (!e->reaped && !cmd_run_has_ended(e->child))
        if (schedule_wait(&e->clock, &info) == SCHEDULE_SIGNAL && info.si_signo != SIGCHLD) cmd_run_pass_on(e, &info);
    if (!e->reaped) wait4(e->child, &e->status, 0, &e->use);
    recorder_rescue();
    unfinished_remove();
    _exit(cmd_run_exit_status(e));
}

// Starts the command; an exit code after saying why it cannot be started.
static int cmd_run_start(execution *e)
{
    struct sigaction old, standard = {.sa_handler = SIG_DFL};
    int report[2], error;
    if (pipe2(report, O_CLOEXEC)) return fail(EXIT_FILE, "pipe: %s", strerror(errno));
    sigaction(SIGCHLD, &standard, &old); // where it was ignored there would be no exit status
    e->wall_begin_ns = cmd_run_now_ns(CLOCK_REALTIME);
    e->begin_ns = cmd_run_now_ns(CLOCK_MONOTONIC);
    cmd_run_ask_for_series(e);
    e->child = fork();
    if (e->child == 0) cmd_run_become_command(e, &old, report[1]);
    if (e->child > 0) run_started = e;
    memory_at_exhaustion(cmd_run_outlive_memory);
    error = e->child < 0 ? errno : 0;
    close(report[1]);
    if (!error && read(report[0], &error, sizeof error) != (ssize_t)sizeof error)
        error = 0;
    else if (e->child > 0)
        e->reaped = waitpid(e->child, &e->status, 0) == e->child;
    close(report[0]);
    e->job.pids = &e->child;
    e->job.pid_count = error ? 0 : 1;
    if (!error) return EXIT_DONE;
    return fail(error == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_START, "%s: %s", safe(e->words[0]),
                error == ENOENT && !strchr(e->words[0], '/') ? "command not found" : strerror(error));
}

static void cmd_run_add_use(execution *e, const struct rusage *use)
{
    timeradd(&e->use.ru_utime, &use->ru_utime, &e->use.ru_utime);
    timeradd(&e->use.ru_stime, &use->ru_stime, &e->use.ru_stime);
    if (use->ru_maxrss > e->use.ru_maxrss) e->use.ru_maxrss = use->ru_maxrss;
}

// Reaps processes that outlived their parents and ended. A recording's last reading has read them as zombies.
static void cmd_run_reap_adopted(execution *e)
{
    siginfo_t info = {0};
    struct rusage use;
    while (e->job.adopted && waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid &&
           info.si_pid != e->child && info.si_pid != e->witness.process)
        if (wait4(info.si_pid, NULL, 0, &use) == info.si_pid) cmd_run_add_use(e, &use);
}

// Once the command is reaped and the witness is gone.
static void cmd_run_look_for_others(execution *e)
{
    siginfo_t info = {0};
    cmd_run_reap_adopted(e);
    e->left_behind = !e->job.adopted || waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

static void cmd_run_watch(execution *e)
{
    siginfo_t info;
    for (;;) {
        if (schedule_wait(&e->clock, &info) != SCHEDULE_SIGNAL) {
            cmd_run_take(e, &e->between, e->set);
            e->series++;
            cmd_run_reap_adopted(e);
        } else if (info.si_signo != SIGCHLD) {
            cmd_run_pass_on(e, &info);
        } else if (!cmd_run_has_ended(e->child)) {
            if (!e->clock.count) cmd_run_reap_adopted(e); // nobody reads them
        } else {
            // Until it is reaped, the kernel still reports what it and its children used.
            e->end_ns = cmd_run_now_ns(CLOCK_MONOTONIC);
            e->job.whole = true;
            cmd_run_take(e, &e->after, NETPROF_SET_ALL);
            struct rusage use;
            e->reaped = wait4(e->child, &e->status, 0, &use) == e->child;
            if (e->reaped) cmd_run_add_use(e, &use);
            return;
        }
    }
}

// ---- what is kept ----

static double cmd_run_seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static void cmd_run_keep_facts(const execution *e)
{
    recorder_number(e->to, "exit_status", cmd_run_exit_status(e));
    if (WIFSIGNALED(e->status)) recorder_number(e->to, "signal", WTERMSIG(e->status));
    recorder_number(e->to, "start_ns", e->wall_begin_ns);
    recorder_number(e->to, "end_ns", e->wall_begin_ns + (e->end_ns - e->begin_ns));
    recorder_number(e->to, "elapsed_ns", e->end_ns - e->begin_ns);
    recorder_number(e->to, "user_cpu_us", (int64_t)e->use.ru_utime.tv_sec * 1000000 + e->use.ru_utime.tv_usec);
    recorder_number(e->to, "system_cpu_us", (int64_t)e->use.ru_stime.tv_sec * 1000000 + e->use.ru_stime.tv_usec);
    if (e->left_behind) recorder_fact(e->to, "cpu_lower_bound", "yes");
    recorder_number(e->to, "max_rss_kib", e->use.ru_maxrss);
    if (e->interval_ns) recorder_number(e->to, "missed_ticks", (int64_t)cmd_run_missed(e));
}

// ---- the summary ----

static const char *cmd_run_ending(const execution *e)
{
    static char text[96];
    if (WIFSIGNALED(e->status))
        snprintf(text, sizeof text, "was killed by signal %d (%s)", WTERMSIG(e->status),
                 strsignal(WTERMSIG(e->status)));
    else if (WEXITSTATUS(e->status))
        snprintf(text, sizeof text, "ended with exit status %d", WEXITSTATUS(e->status));
    else
        snprintf(text, sizeof text, "ended");
    return text;
}

// Which devices a short summary shows: physical ports that moved something, else virtual ones.
static bool cmd_run_chosen(const difference *d, const traffic *t, bool physical)
{
    bool is_physical = d->delta->schema->devices[t->device].flags & NETPROF_DEVICE_PHYSICAL;
    return t->known && !t->repeated && is_physical == physical && traffic_moved(t);
}

static double cmd_run_bytes(const traffic *t)
{
    double in = t->bytes_known[IN] ? (double)t->bytes[IN] : 0, out = t->bytes_known[OUT] ? (double)t->bytes[OUT] : 0;
    return in > out ? in : out;
}

static size_t cmd_run_count_chosen(const difference *d, const traffic *list, bool physical, double least)
{
    size_t n = 0;
    for (size_t i = 0; i < d->delta->schema->device_count; i++)
        n += cmd_run_chosen(d, &list[i], physical) && cmd_run_bytes(&list[i]) >= least;
    return n;
}

// A hundredth of what the busiest port moved: a virtual device that moved less beside it is not worth a line.
static double cmd_run_worth_of_virtual(const difference *d, const traffic *list)
{
    double most = 0;
    for (size_t i = 0; i < d->delta->schema->device_count; i++)
        if (cmd_run_chosen(d, &list[i], true) && cmd_run_bytes(&list[i]) > most) most = cmd_run_bytes(&list[i]);
    return most / 100;
}

static void cmd_run_add_traffic(traffic *sum, const traffic *x)
{
    for (int way = IN; way <= OUT; way++) {
        sum->bytes_known[way] &= x->bytes_known[way]; // a sum of what is known would look like all
        sum->packets_known[way] &= x->packets_known[way];
        sum->bytes_bound[way] |= x->bytes_bound[way];
        sum->packets_bound[way] |= x->packets_bound[way];
        sum->bytes[way] += x->bytes[way];
        sum->packets[way] += x->packets[way];
        if (!isnan(x->byte_rate[way])) sum->byte_rate[way] += x->byte_rate[way];
    }
}

static void cmd_run_summary_devices(FILE *to, const difference *d, const traffic *list, bool physical, double least)
{
    static const column columns[] = {{"", 0},
                                     {"RECEIVED", COLUMN_RIGHT},
                                     {"RATE", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"PACKETS", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"SENT", COLUMN_RIGHT},
                                     {"RATE", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"PACKETS", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"OF LINE RATE", COLUMN_RIGHT | COLUMN_LEAN}};
    const netprof_schema *schema = d->delta->schema;
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    traffic sum = {.known = true, .bytes_known = {true, true}, .packets_known = {true, true}};
    size_t added = 0;
    for (size_t i = 0; i < schema->device_count; i++) {
        if (!cmd_run_chosen(d, &list[i], physical) || cmd_run_bytes(&list[i]) < least) continue;
        table_cell(t, PLAIN, schema->devices[i].name);
        print_traffic_cells(t, PLAIN, &list[i]);
        table_cell(t, PLAIN, traffic_share(&list[i]).text);
        cmd_run_add_traffic(&sum, &list[i]);
        added++;
    }
    if (physical && added > 1) {
        table_cell(t, BOLD, "together");
        print_traffic_cells(t, BOLD, &sum);
        table_cell(t, PLAIN, NULL);
    }
    table_end(t, to, 2);
}

static void cmd_run_summary_troubles_text(FILE *to, const difference *d)
{
    enum { SHOWN = 6 };
    static const column columns[] = {
        {"DEVICE", 0}, {"COUNTER", 0}, {"CHANGE", COLUMN_RIGHT}, {"UNIT", COLUMN_LEAN}, {"MEANING", COLUMN_LEAN}};
    const netprof_schema *schema = d->delta->schema;
    size_t count, *rows = summary_troubles(d, &count);
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        const difference_row *row = &d->rows[rows[i]];
        table_cell(t, PLAIN, schema->devices[schema->counters[rows[i]].device].name);
        table_cell(t, WARNING, schema->counters[rows[i]].name);
        table_cell(t, PLAIN, words_at_least(row->lower_bound, delta_text(row)).text);
        table_cell(t, PLAIN, row->unit);
        table_cell(t, DIM, row->entry ? row->entry->description : NULL);
    }
    if (count) fprintf(to, "  errors, drops, repetition or stalls:\n");
    table_end(t, to, 2);
    if (count > SHOWN) fprintf(to, "  ... and %zu more\n", count - SHOWN);
    free(rows);
}

static void cmd_run_summary_text(FILE *to, const execution *e, const difference *d)
{
    double elapsed = (double)(e->end_ns - e->begin_ns) / 1e9;
    double cpu = cmd_run_seconds(e->use.ru_utime) + cmd_run_seconds(e->use.ru_stime);
    fprintf(to, "netprof: %s %s after %s, CPU time %s\n", safe(e->words[0]), cmd_run_ending(e),
            safe(words_duration(elapsed).text), safe(words_at_least(e->left_behind, words_duration(cpu)).text));
    if (!d->delta) return;
    traffic *list = summary_traffic(d);
    bool physical = cmd_run_count_chosen(d, list, true, 0) > 0;
    double least = cmd_run_worth_of_virtual(d, list);
    bool moved = cmd_run_count_chosen(d, list, false, least) > 0;
    if (!physical)
        fprintf(to, moved ? "  nothing through physical ports; through virtual ones:\n" : "  no network traffic\n");
    if (physical) cmd_run_summary_devices(to, d, list, true, 0);
    if (physical && moved) fprintf(to, "  through virtual ones, in no sum:\n");
    if (moved) cmd_run_summary_devices(to, d, list, false, least);
    cmd_run_summary_troubles_text(to, d);
    free(list);
}

static json_object *cmd_run_summary_device_json(const difference *d, const traffic *t)
{
    static const char *const names[2][3] = {{"rx_bytes", "rx_bytes_per_s", "rx_packets"},
                                            {"tx_bytes", "tx_bytes_per_s", "tx_packets"}};
    const netprof_device *device = &d->delta->schema->devices[t->device];
    json_object *o = json_new_object();
    json_put_text(o, "device", device->name);
    json_put_text(o, "source", device->source);
    json_put(o, "physical", json_new_boolean((device->flags & NETPROF_DEVICE_PHYSICAL) != 0));
    for (int way = IN; way <= OUT; way++) {
        json_put(o, names[way][0], t->bytes_known[way] ? json_exact_value(t->bytes[way]) : NULL);
        json_put(o, names[way][1], json_number_value(t->byte_rate[way]));
        json_put(o, names[way][2], t->packets_known[way] ? json_exact_value(t->packets[way]) : NULL);
    }
    json_put(o, "lower_bound", json_new_boolean(traffic_is_bound(t)));
    return o;
}

static void cmd_run_summary_network_json(json_object *o, const difference *d)
{
    const netprof_schema *schema = d->delta->schema;
    json_object *devices = json_new_array(), *troubles = json_new_array();
    traffic *list = summary_traffic(d);
    for (size_t i = 0; i < schema->device_count; i++)
        if (list[i].known && traffic_moved(&list[i])) json_append(devices, cmd_run_summary_device_json(d, &list[i]));
    free(list);
    size_t count, *rows = summary_troubles(d, &count);
    for (size_t i = 0; i < count; i++) {
        json_object *t = json_new_object();
        json_put_text(t, "device", schema->devices[schema->counters[rows[i]].device].name);
        json_put_text(t, "counter", schema->counters[rows[i]].name);
        json_put_text(t, "unit", d->rows[rows[i]].unit);
        json_put(t, "delta", delta_json(&d->rows[rows[i]]));
        json_put(t, "lower_bound", json_new_boolean(d->rows[rows[i]].lower_bound));
        json_append(troubles, t);
    }
    free(rows);
    json_put(o, "devices", devices);
    json_put(o, "troubles", troubles);
}

static void cmd_run_summary_json(FILE *to, const execution *e, const difference *d)
{
    json_object *o = json_document("run");
    json_put_text(o, "command", e->line);
    json_put(o, "exit_status", json_new_int64(cmd_run_exit_status(e)));
    json_put(o, "signal", WIFSIGNALED(e->status) ? json_new_int64(WTERMSIG(e->status)) : NULL);
    json_put(o, "elapsed_s", json_number_value((double)(e->end_ns - e->begin_ns) / 1e9));
    json_put(o, "user_cpu_s", json_number_value(cmd_run_seconds(e->use.ru_utime)));
    json_put(o, "system_cpu_s", json_number_value(cmd_run_seconds(e->use.ru_stime)));
    json_put(o, "cpu_lower_bound", json_new_boolean(e->left_behind));
    json_put(o, "max_rss_kib", json_new_int64(e->use.ru_maxrss));
    json_put_text(o, "output", e->to ? recorder_path(e->to) : NULL);
    if (as_mpi) json_put(o, "mpi", mpi_run_json(&e->mpi));
    json_put(o, "snapshots_between", json_exact_value(e->series));
    json_put(o, "missed_ticks", json_exact_value(cmd_run_missed(e)));
    if (d->delta) cmd_run_summary_network_json(o, d);
    json_print(to, o);
}

static void cmd_run_summarize(const execution *e)
{
    difference d = {0};
    netprof_error error;
    char *text = NULL;
    size_t size = 0;
    FILE *to = summary_path ? memory_check(open_memstream(&text, &size)) : stderr; // a file is written in one go
    if (e->before.schema && e->after.schema && difference_of_snapshots(&d, &e->before, &e->after, false, &error)) {
        warn("%s", error_text(&error));
        d = (difference){0};
    }
    if (as_json)
        cmd_run_summary_json(to, e, &d);
    else
        cmd_run_summary_text(to, e, &d);
    if (as_mpi && !as_json) mpi_run_summary(to, &e->mpi, e->status ? cmd_run_ending(e) : NULL);
    difference_free(&d);
    if (!summary_path) return;
    if (fclose(to)) memory_exhausted();
    to = fopen(summary_path, "we");
    if (to) fwrite(text, 1, size, to);
    if (!to || fclose(to)) warn("%s: %s", safe(summary_path), strerror(errno));
    free(text);
}

// ---- together ----

static int cmd_run_check(execution *e, size_t count)
{
    if (!count) return fail_usage("expected a command");
    if (output && strcmp(output, "-") == 0) return fail_usage("-o -: the standard output belongs to the command");
    if (interval_text && !parse_duration(interval_text, &e->interval_ns))
        return fail_usage("--interval: %s: expected a time like 100ms, 2s or 1m", safe(interval_text));
    if (interval_text && !output) warn("--interval: without -o nothing keeps the snapshots");
    return reading_set(&e->set, NETPROF_SET_FAST) ? EXIT_DONE : EXIT_USAGE;
}

// A name for the snapshots that only the report is made of.
static bool cmd_run_temporary_file(execution *e)
{
    const char *directory = getenv("TMPDIR");
    e->temporary = memory_format("%s/netprof-XXXXXX.netprof", directory && *directory ? directory : "/tmp");
    int fd = mkstemps(e->temporary, (int)strlen(".netprof"));
    if (fd >= 0) unfinished_begin(e->temporary);
    if (fd >= 0) return close(fd) == 0;
    fail(EXIT_FILE, "%s: %s", safe(e->temporary), strerror(errno));
    free(e->temporary);
    e->temporary = NULL;
    return false;
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
    if (as_mpi) return mpi_run_files(&e->mpi) ? memory_strdup(e->mpi.directory) : NULL;
    return e->to ? memory_strdup(recorder_path(e->to)) : NULL;
}

static int cmd_run_open_all(execution *e)
{
    static const int watched[] = {SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
    sigset_t signals;
    bool recording = output && e->interval_ns;
    e->job.expected = true;
    e->job.perf = reading_perf();
    // Processes that outlive the command become children of this one, and are still counted.
    e->job.adopted = prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
    int code = reading_open_node(&e->np, &e->job, true, recording);
    if (code && code != EXIT_NOTHING) return code;
    e->readable = !code;
    if (!e->readable) warn("nothing to read on this node; 'netprof list' tells why");
    if (report_path && !output && !as_mpi && !cmd_run_temporary_file(e)) return EXIT_FILE;
    if (output || e->temporary) {
        char *path = e->temporary ? memory_strdup(e->temporary)
                     : as_mpi     ? mpi_run_pattern(&e->mpi, "run.netprof")
                                  : memory_strdup(output);
        e->to = recorder_open(path, e->interval_ns > 0 ? RECORDER_LIVE : RECORDER_WHOLE);
        free(path);
        if (!e->to) return EXIT_FILE;
    }
    sigemptyset(&signals);
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++)
        sigaddset(&signals, watched[i]);
    recorder_fact(e->to, "command", e->line);
    recorder_job(e->to);
    recorder_cpus(e->to);
    job_slurm_facts(e->to, false);
    // Before the snapshots: readers find missing ticks by it.
    if (e->to && e->interval_ns) recorder_number(e->to, "interval_ns", e->interval_ns);
    cmd_run_take(e, &e->before, NETPROF_SET_ALL);
    if (!schedule_open(&e->clock, &signals)) return fail(EXIT_FILE, "no signals: %s", strerror(errno));
    if (e->to && e->interval_ns) schedule_add(&e->clock, e->interval_ns, schedule_now());
    witness_start(&e->witness, &signals);
    e->job.stranger = e->witness.process;
    return EXIT_DONE;
}

static int cmd_run_run(const char **arguments, size_t count)
{
    execution e = {.words = arguments};
    int code = cmd_run_check(&e, count);
    if (code) return code;
    e.line = shell_line(arguments);
    if (as_mpi) code = mpi_run_open(&e.mpi, output);
    if (!code) code = cmd_run_open_all(&e);
    if (!code) code = cmd_run_start(&e);
    bool started = !code;
    if (started) {
        cmd_run_watch(&e);
        witness_end(&e.witness);
        cmd_run_look_for_others(&e);
        signal(SIGPIPE, SIG_IGN); // a reader of our summary that went away is no reason to fail
        cmd_run_keep_facts(&e);
        code = cmd_run_exit_status(&e);
        if (!quiet) cmd_run_summarize(&e);
    }
    witness_end(&e.witness);
    char *kept = report_path ? cmd_run_reported(&e) : NULL;
    if (!recorder_close(e.to, started) && started && kept)
        cmd_run_make_report(kept);
    else if (started && report_path && as_mpi && !kept)
        warn("--report: the ranks left no regions to report about");
    if (e.temporary) unfinished_drop(e.temporary);
    free(e.temporary);
    free(kept);
    schedule_close(&e.clock);
    netprof_snapshot_free(&e.before);
    netprof_snapshot_free(&e.after);
    netprof_snapshot_free(&e.between);
    netprof_close(e.np);
    mpi_run_close(&e.mpi);
    free(e.line);
    return code;
}

const command command_run = {
    .name = "run",
    .summary = "run a command and tell what it did to the network",
    .arguments = "[--] COMMAND [ARGUMENT...]",
    .text =
        "Runs COMMAND between two snapshots and prints a short summary on the standard error. The command keeps its\n"
        "standard streams, its signals and its exit status. Counters belong to the node: other programs' traffic is\n"
        "in them. With -o the snapshots are kept, with --interval also those in between (the fast set unless --set\n"
        "says otherwise); in FILE, %h is the host, %j the job, %r the rank and %p the process.\n"
        "With --mpi, COMMAND starts the ranks of an MPI job (mpirun, srun); their calls of MPI become regions with\n"
        "times and bytes, whatever MPI it is, and the summary tells of them. -o then names a directory for their\n"
        "files and for the snapshots (run.netprof). With --report, netprof-report draws what happened, with --mpi\n"
        "the regions.",
    .examples = "netprof run -- sleep 1\n"
                "netprof run -o job.netprof --interval 100ms -- sleep 1\n"
                "netprof run --json --summary job.json -- sleep 1\n"
                "netprof run --report job.pdf -- sleep 1\n"
                "netprof run --mpi -o regions -- mpirun -n 4 ./my_program",
    .exits = "the command's own, 128 + N when signal N killed it, 127 when it is not found, 126 when it cannot\n"
             "be started; before it starts: 2 wrong usage, 3 a file could not be written.",
    .options = options,
    .source_names = reading_source_names,
    .popt_flags = POPT_CONTEXT_POSIXMEHARDER,
    .run = cmd_run_run,
};
