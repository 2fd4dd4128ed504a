#define _GNU_SOURCE // pipe2
#include "run_execute.h"
#include "run_samples.h"

#include "cli/output.h"
#include "measure/job_slurm.h"
#include "measure/node_options.h"
#include "measure/process_tree.h"
#include "analysis/base/memory.h"
#include "analysis/base/output_file.h"
#include "analysis/base/signals.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/unfinished.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const int64_t SOCKETS_NS = 1000000000;
static const int64_t KILL_AFTER_NS = 5000000000; // between SIGTERM and SIGKILL

static void run_take(execution *e, netprof_snapshot *s, netprof_set set)
{
    netprof_error error;
    if (!e->readable) return;
    if (netprof_take(e->np, s, set, &error))
        fail_error(NULL, &error);
    else if (!e->ask->samples)
        recorder_snapshot(e->to, s);
}

// ---- the command ----

// Programs with regions sample themselves as often as the node is read, unless the user says otherwise.
static void run_ask_for_series(const execution *e)
{
    enum { LEAST_MS = 10 }; // a process wakes up each time
    int64_t step = e->ask->interval_ns < LEAST_MS * 1000000 ? LEAST_MS * 1000000 : e->ask->interval_ns;
    char text[48];
    if (!e->ask->recording || getenv("NETPROF_SERIES")) return;
    snprintf(text, sizeof text, "%lld.%09lld", (long long)(step / 1000000000), (long long)(step % 1000000000));
    setenv("NETPROF_SERIES", text, 1);
}

// In the new process: what this one changed for itself is undone.
static void run_restore(const run_request *ask, const struct sigaction *child_action)
{
    sigaction(SIGCHLD, child_action, NULL);
    sigprocmask(SIG_SETMASK, &ask->clock.old_mask, NULL);
    output_file_signals_restore();
}

// Never returns.
static void run_become_command(const execution *e, const struct sigaction *child_action, int report)
{
    run_restore(e->ask, child_action);
    execvp(e->ask->words[0], (char **)(uintptr_t)e->ask->words);
    int error = errno;
    if (write(report, &error, sizeof error) != (ssize_t)sizeof error) _exit(EXIT_CANNOT_START);
    _exit(error == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_START);
}

static bool run_is_stop(int number)
{
    return number == SIGINT || number == SIGQUIT || number == SIGTERM || number == SIGHUP;
}

// Signals from the terminal, or to the process group, reach the command anyway; those sent to this
// process alone are passed on, but for those that say "stop" on a keyboard, which time(1) and nohup(1) leave to the
// command as well.
static void run_pass_on(execution *e, const siginfo_t *info)
{
    int number = info->si_signo;
    if (run_is_stop(number)) e->signal = number;
    if (number == SIGINT || number == SIGQUIT || info->si_code == SI_KERNEL) return;
    if (info->si_pid == e->child) return;
    bool to_all = witness_saw(&e->ask->witness, number) && getpgid(e->child) == getpgrp();
    if (!to_all) kill(e->child, number);
}

static bool run_has_ended(pid_t child)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child;
}

// The execution whose command has started: netprof then ends with the command's exit status, whatever happens to itself.
static execution *run_started;

// Runs when memory is used up, and allocates nothing: waits for the command as if nothing had happened, passes its signals
// on, keeps the readings that there are, and ends with the command's exit status.
static void run_outlive_memory(void)
{
    siginfo_t info;
    execution *e = run_started;
    if (!e) return;
    e->ask->clock.count = 0; // no more readings
    e->ask->clock.until_ns = 0;
    while (!e->reaped && !run_has_ended(e->child))
        if (schedule_wait(&e->ask->clock, &info) == SCHEDULE_SIGNAL && info.si_signo != SIGCHLD) run_pass_on(e, &info);
    if (!e->reaped) wait4(e->child, &e->status, 0, &e->use);
    recorder_rescue();
    unfinished_remove();
    _exit(run_exit_status(e));
}

// Starts the command; an exit code after saying why it cannot be started.
static int run_start(execution *e)
{
    struct sigaction old, standard = {.sa_handler = SIG_DFL};
    const char *name = e->ask->words[0];
    int report[2], error;
    if (pipe2(report, O_CLOEXEC)) return fail(EXIT_FILE, "pipe: %s", strerror(errno));
    sigaction(SIGCHLD, &standard, &old); // where it was ignored there would be no exit status
    e->wall_begin_ns = run_now_ns(CLOCK_REALTIME);
    e->begin_ns = run_now_ns(CLOCK_MONOTONIC);
    run_ask_for_series(e);
    e->child = fork();
    if (e->child == 0) run_become_command(e, &old, report[1]);
    if (e->child > 0) run_started = e;
    memory_at_exhaustion(run_outlive_memory);
    error = e->child < 0 ? errno : 0;
    close(report[1]);
    if (!error && read(report[0], &error, sizeof error) != (ssize_t)sizeof error)
        error = 0;
    else if (e->child > 0)
        e->reaped = waitpid(e->child, &e->status, 0) == e->child;
    close(report[0]);
    if (!e->ask->node && !arrlenu(e->ask->attached.pids)) {
        e->job.pids = &e->child;
        e->job.pid_count = error ? 0 : 1;
    }
    if (!error) return EXIT_DONE;
    return fail_file(error == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_START, name, "%s",
                     error == ENOENT && !strchr(name, '/') ? "command not found" : strerror(error));
}

static void run_add_use(execution *e, const struct rusage *use)
{
    timeradd(&e->use.ru_utime, &use->ru_utime, &e->use.ru_utime);
    timeradd(&e->use.ru_stime, &use->ru_stime, &e->use.ru_stime);
    if (use->ru_maxrss > e->use.ru_maxrss) e->use.ru_maxrss = use->ru_maxrss;
}

// Reaps processes that outlived their parents and ended. A recording's last reading has read them as zombies.
static void run_reap_adopted(execution *e)
{
    siginfo_t info = {0};
    struct rusage use;
    while (e->reaps && waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid &&
           info.si_pid != e->child && info.si_pid != e->ask->witness.process)
        if (wait4(info.si_pid, NULL, 0, &use) == info.si_pid) run_add_use(e, &use);
}

// Once the command is reaped and the witness is gone.
static void run_look_for_others(execution *e)
{
    siginfo_t info = {0};
    run_reap_adopted(e);
    e->left_behind = !e->reaps || waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

// ---- from begin to end ----

static void run_show_interval(execution *e, const netprof_snapshot *s)
{
    if (e->ask->prints && e->readable && s->schema) interval_table_add(&e->intervals, s);
}

// Where measuring begins: at once, or after --delay.
static void run_begin(execution *e)
{
    run_take(e, &e->before, NETPROF_SET_ALL);
    if (e->to && e->readable) e->sockets = reading_sockets(e->np);
    if (e->sockets) e->sockets_at = schedule_now() + SOCKETS_NS; // whose they are is known while they are open
    e->measured = true;
    e->wall_begin_ns = run_now_ns(CLOCK_REALTIME);
    e->begin_ns = run_now_ns(CLOCK_MONOTONIC);
    e->intervals.origin_ns = e->begin_ns;
    run_show_interval(e, &e->before);
    if (e->ask->interval_ns && (e->to || e->ask->prints))
        schedule_add(&e->ask->clock, e->ask->interval_ns, schedule_now());
    if (e->ask->duration_ns) e->end_at = e->begin_ns + e->ask->duration_ns;
}

static void run_finish(execution *e, run_end end)
{
    // Until it is reaped, the kernel still reports what the command and its children used.
    e->end_ns = run_now_ns(CLOCK_MONOTONIC);
    e->end = end;
    e->job.whole = true;
    if (e->measured) run_take(e, &e->after, NETPROF_SET_ALL);
    if (e->measured && e->after.schema) run_show_interval(e, &e->after);
    tcp_sockets_look_now(e->sockets);
    if (!e->child) return;
    struct rusage use;
    e->reaped = wait4(e->child, &e->status, 0, &use) == e->child;
    if (e->reaped) run_add_use(e, &use);
}

static void run_tick(execution *e)
{
    if (e->ask->samples)
        run_samples_take(e);
    else
        run_take(e, &e->between, e->ask->set);
    e->series++;
    run_show_interval(e, &e->between);
    run_reap_adopted(e);
}

// The next of the moments at which something is to be done.
static void run_wake_in_time(execution *e)
{
    const int64_t moments[] = {e->delay_at, e->timeout_at, e->kill_at, e->end_at, e->sockets_at};
    int64_t first = 0;
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++)
        if (moments[i] && (!first || moments[i] < first)) first = moments[i];
    e->ask->clock.until_ns = first;
}

static bool run_is_due(int64_t *moment)
{
    if (!*moment || schedule_now() < *moment) return false;
    *moment = 0;
    return true;
}

// True: measuring has ended.
static bool run_moment(execution *e)
{
    if (run_is_due(&e->delay_at)) run_begin(e);
    if (run_is_due(&e->sockets_at)) {
        tcp_sockets_look(e->sockets);
        e->sockets_at = schedule_now() + SOCKETS_NS;
    }
    if (run_is_due(&e->end_at)) {
        run_finish(e, RUN_DURATION);
        return true;
    }
    if (run_is_due(&e->timeout_at)) {
        e->timed_out = true;
        e->kill_at = schedule_now() + KILL_AFTER_NS;
        process_tree_signal(e->child, SIGTERM);
    }
    if (run_is_due(&e->kill_at)) {
        e->killed = true;
        process_tree_signal(e->child, SIGKILL);
    }
    return false;
}

// True: measuring has ended.
static bool run_hear(execution *e, const siginfo_t *info)
{
    if (info->si_signo == SIGCHLD) {
        if (!e->child || !run_has_ended(e->child)) {
            if (!e->ask->clock.count) run_reap_adopted(e); // nobody reads them
            return false;
        }
        run_finish(e, RUN_ENDED);
        return true;
    }
    if (e->child) {
        run_pass_on(e, info);
        return false;
    }
    if (!run_is_stop(info->si_signo)) return false;
    e->signal = info->si_signo;
    run_finish(e, RUN_SIGNAL);
    return true;
}

// Attached processes are what ends it where there is no command. An old kernel's are looked for ten times a second.
static bool run_attached_ended(execution *e)
{
    if (e->child || !attached_have_ended(&e->ask->attached)) return false;
    run_finish(e, RUN_ENDED);
    return true;
}

static void run_watch(execution *e)
{
    schedule *clock = &e->ask->clock;
    siginfo_t info;
    size_t look = SCHEDULE_ROWS; // the row that looks for processes by hand
    bool to_others = arrlenu(e->ask->attached.pids) && !e->child;
    if (to_others && e->ask->attached.any < 0) {
        look = clock->count;
        schedule_add(clock, 100000000, schedule_now());
    }
    clock->input = to_others ? e->ask->attached.any : -1;
    for (bool over = false; !over;) {
        run_wake_in_time(e);
        int event = schedule_wait(clock, &info);
        if (event == SCHEDULE_END)
            over = run_moment(e);
        else if (event == SCHEDULE_SIGNAL)
            over = run_hear(e, &info);
        else if (event == SCHEDULE_INPUT || event == (int)look)
            over = run_attached_ended(e);
        else
            run_tick(e);
    }
    clock->until_ns = 0;
    clock->input = -1;
    clock->count = 0;
}

int run_execute(execution *e)
{
    run_request *ask = e->ask;
    bool later = ask->delay_ns != 0;
    ask->clock.rows[0] = (schedule_row){0};
    if (!later) run_begin(e);
    int code = ask->words ? run_start(e) : EXIT_DONE;
    if (code) return code;
    e->started = true;
    if (!ask->words) e->begin_ns = run_now_ns(CLOCK_MONOTONIC);
    if (later) e->delay_at = e->begin_ns + ask->delay_ns;
    if (ask->timeout_ns) e->timeout_at = e->begin_ns + ask->timeout_ns;
    run_watch(e);
    witness_end(&ask->witness);
    if (ask->words) run_look_for_others(e);
    return EXIT_DONE;
}

// ---- what is kept ----

static void run_keep_signal(const execution *e, int common)
{
    const char *name = signals_name(common);
    recorder_number(e->to, "signal", common);
    if (name) recorder_fact(e->to, "signal_name", name);
}

static void run_keep_facts(const execution *e)
{
    const run_request *ask = e->ask;
    if (ask->words) recorder_number(e->to, "exit_status", run_exit_status(e));
    if (ask->words && WIFSIGNALED(e->status)) run_keep_signal(e, signals_common(WTERMSIG(e->status)));
    if (e->timed_out) recorder_number(e->to, "timeout_ns", ask->timeout_ns);
    recorder_sockets(e->to, e->sockets, true);
    recorder_number(e->to, "start_ns", e->wall_begin_ns);
    recorder_number(e->to, "end_ns", e->wall_begin_ns + (e->end_ns - e->begin_ns));
    recorder_number(e->to, "elapsed_ns", e->end_ns - e->begin_ns);
    if (ask->words) {
        recorder_number(e->to, "user_cpu_us", (int64_t)e->use.ru_utime.tv_sec * 1000000 + e->use.ru_utime.tv_usec);
        recorder_number(e->to, "system_cpu_us", (int64_t)e->use.ru_stime.tv_sec * 1000000 + e->use.ru_stime.tv_usec);
        if (e->left_behind) recorder_fact(e->to, "cpu_lower_bound", "yes");
        recorder_number(e->to, "max_rss_kib", e->use.ru_maxrss);
    }
    if (ask->interval_ns) recorder_number(e->to, "missed_ticks", (int64_t)run_missed(e));
}

// ---- opening and closing ----

int run_listen(run_request *ask)
{
    static const int watched[] = {SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
    size_t count = sizeof watched / sizeof *watched - (ask->words ? 0 : 2); // nobody to pass those two on to
    sigset_t signals;
    sigemptyset(&signals);
    for (size_t i = 0; i < count; i++)
        sigaddset(&signals, watched[i]);
    if (!schedule_open(&ask->clock, &signals)) return fail(EXIT_FILE, "no signals: %s", strerror(errno));
    return EXIT_DONE;
}

static void run_first_facts(execution *e)
{
    const run_request *ask = e->ask;
    recorder_fact(e->to, "command", ask->line);
    recorder_job(e->to);
    recorder_cpus(e->to);
    job_slurm_facts(e->to, false);
    // Before the snapshots: readers find missing ticks by it.
    if (ask->interval_ns && !ask->samples) recorder_number(e->to, "interval_ns", ask->interval_ns);
    if (ask->delay_ns) recorder_number(e->to, "delay_ns", ask->delay_ns);
    if (arrlenu(ask->attached.pids)) recorder_fact(e->to, "attached", ask->names);
}

int run_open(execution *e, const char *path)
{
    run_request *ask = e->ask;
    bool to_others = arrlenu(ask->attached.pids) > 0;
    if (ask->words) witness_start(&ask->witness, &ask->clock.watched);
    // Processes that outlive the command become children of this one, and are still counted.
    e->reaps = ask->words && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
    e->job = (sources_job){.perf = reading_perf(), .stranger = ask->witness.process};
    if (to_others) {
        e->job.pids = ask->attached.pids;
        e->job.pid_count = arrlenu(ask->attached.pids);
        e->job.elsewhere = true;
    } else if (!ask->node) {
        e->job.expected = true;
        e->job.adopted = e->reaps;
    }
    int code = reading_open_node(&e->np, &e->job, true, ask->recording);
    if (code && code != EXIT_NOTHING) return code;
    e->readable = !code;
    if (!e->readable) warn("nothing to read on this node; 'netprof list' tells why");
    if (path && !(e->to = recorder_open(path, ask->interval_ns > 0 && !ask->samples ? RECORDER_LIVE : RECORDER_WHOLE)))
        return EXIT_FILE;
    e->intervals = (interval_table){.to = ask->to,
                                    .format = ask->format == RUN_JSON     ? INTERVAL_JSON
                                              : ask->format == RUN_CSV    ? INTERVAL_CSV
                                              : ask->format == RUN_FIELDS ? INTERVAL_FIELDS
                                                                          : INTERVAL_TEXT,
                                    .separator = ask->separator,
                                    .step_ns = 1000000000};
    run_first_facts(e);
    return EXIT_DONE;
}

int run_close(execution *e, bool keep)
{
    recorder *to = e->to;
    e->to = NULL;
    if (!to) return EXIT_DONE;
    if (keep && !e->measured) {
        warn("%s: not written: it ended before --delay was over", safe(recorder_path(to)));
        return recorder_close(to, false);
    }
    e->to = to;
    if (keep && e->ask->samples) run_samples_write(e);
    if (keep) run_keep_facts(e);
    e->to = NULL;
    return recorder_close(to, keep);
}

void run_free(execution *e)
{
    if (run_started == e) run_started = NULL;
    witness_end(&e->ask->witness);
    interval_table_free(&e->intervals);
    run_samples_free(e);
    netprof_snapshot_free(&e->before);
    netprof_snapshot_free(&e->after);
    netprof_snapshot_free(&e->between);
    tcp_sockets_close(e->sockets);
    netprof_close(e->np);
    ranks_run_close(&e->mpi);
}

// ---- around the runs ----

int run_hook(const run_request *ask, const char *command)
{
    struct sigaction standard = {.sa_handler = SIG_DFL}, old;
    int status = 0;
    sigaction(SIGCHLD, &standard, &old);
    pid_t child = fork();
    if (child == 0) {
        run_restore(ask, &old);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(EXIT_NOT_FOUND);
    }
    if (child < 0) return fail(EXIT_FILE, "sh: %s", strerror(errno));
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFSIGNALED(status) ? EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

int run_was_interrupted(const run_request *ask)
{
    const struct timespec now = {0};
    siginfo_t info;
    int number = 0;
    while (sigtimedwait(&ask->clock.watched, &info, &now) > 0)
        if (run_is_stop(info.si_signo)) number = info.si_signo;
    return number;
}
