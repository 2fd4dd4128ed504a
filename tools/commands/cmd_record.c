// netprof record: what a node does, tick by tick, until the job ends or somebody says stop.
#define _GNU_SOURCE
#include "commands.h"
#include "measure/job.h"
#include "cli/options.h"
#include "cli/output.h"
#include "measure/node_options.h"
#include "measure/record.h"
#include "measure/schedule_counters.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char *output, *interval_text, *fast_text, *duration_text, *checkpoint_text, *stop_file, *job_text, *cgroup,
    *rotate_text;
static int per_cpu, quiet, background;

static const struct poptOption options[] = {
    {"output", 'o', POPT_ARG_STRING, &output, 0,
     "where to: .netprof; %n node, %h host, %j job, %r rank, %p process, %t time", "FILE"},
    {"rotate", 0, POPT_ARG_STRING, &rotate_text, 0, "go on in the next file so often, or at this size: 1h, 500MB",
     "TIME|SIZE"},
    {"interval", 't', POPT_ARG_STRING, &interval_text, 0, "read so often (1s)", "TIME"},
    {"fast-network", 0, POPT_ARG_STRING, &fast_text, 0, "the fast set of the ports so often beside it", "TIME"},
    {"duration", 'd', POPT_ARG_STRING, &duration_text, 0, "end after this time", "TIME"},
    {"stop-file", 0, POPT_ARG_STRING, &stop_file, 0, "end when this file appears or changes", "FILE"},
    {"job", 'j', POPT_ARG_STRING, &job_text, 0, "whose processes: process numbers by commas, or the scheduler's (auto)",
     "auto|slurm|pbs|oar|none|PIDS"},
    {"cgroup", 0, POPT_ARG_STRING, &cgroup, 0, "the job's control group, below the mount", "PATH"},
    {"per-cpu", 0, POPT_ARG_NONE, &per_cpu, 0, "each CPU for itself, too", NULL},
    {"checkpoint", 0, POPT_ARG_STRING, &checkpoint_text, 0, "force the file to the disk so often (60s)", "TIME"},
    {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(uintptr_t)set_option, 0, NULL, NULL},
    {"background", 0, POPT_ARG_NONE, &background, 0, "return when the recording has begun; it goes on by itself", NULL},
    {"quiet", 'q', POPT_ARG_NONE, &quiet, 0, "no line of state on a terminal", NULL},
    {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(uintptr_t)reading_options, 0, NULL, NULL},
    POPT_TABLEEND,
};

enum { SLOW = 0, FAST, TRACKS };

// A context that is read at one rate.
typedef struct track {
    netprof *np;
    netprof_set set;
    netprof_snapshot snapshot;
    schedule_row *row;
} track;

typedef struct recording {
    int64_t interval_ns, fast_ns, duration_ns, checkpoint_ns;
    int64_t rotate_ns, rotate_bytes; // 0: not
    int64_t file_begin_ns;           // of the file that is written
    track tracks[TRACKS];
    size_t track_count;
    schedule clock; // a row for each track, then the checkpoint's
    netprof_set set;
    job job;
    job_slurm slurm;
    recorder *to;
    struct stat stop; // of the stop file at the start
    bool stop_existed;
    int64_t begin_ns;
    const char *end; // why it ended
    bool shown;
    tcp_sockets *sockets; // NULL: TCP's counters are not read
} recording;

// ---- options ----

static int cmd_record_parse_time(const char *name, const char *text, const char *otherwise, int64_t *ns)
{
    if (!text) text = otherwise;
    if (!text || parse_duration(text, ns)) return EXIT_DONE;
    return fail_usage("%s: %s: expected a time like 100ms, 2s or 1m", name, safe(text));
}

// "1h", or "500MB".
static bool cmd_record_parse_rotation(recording *r)
{
    uint64_t bytes;
    if (!rotate_text || parse_duration(rotate_text, &r->rotate_ns)) return true;
    if (!parse_size(rotate_text, &bytes)) return false;
    r->rotate_bytes = (int64_t)bytes;
    return true;
}

// Younger than this process: whoever wrote the file meant this recording, which had not begun yet.
static bool cmd_record_is_younger(const struct stat *file)
{
    int64_t began_ns = job_process_began_ns(getpid());
    return began_ns && file->st_mtim.tv_sec * INT64_C(1000000000) + file->st_mtim.tv_nsec >= began_ns;
}

static int cmd_record_check(recording *r, size_t count)
{
    if (count)
        return fail_usage("expected no arguments; to run a command: netprof run --interval 1s -o FILE -- COMMAND");
    if (!output || strcmp(output, "-") == 0) return fail_usage("-o FILE is needed: a recording grows in a file");
    if (cmd_record_parse_time("--interval", interval_text, "1s", &r->interval_ns) ||
        cmd_record_parse_time("--fast-network", fast_text, NULL, &r->fast_ns) ||
        cmd_record_parse_time("--duration", duration_text, NULL, &r->duration_ns) ||
        cmd_record_parse_time("--checkpoint", checkpoint_text, "60s", &r->checkpoint_ns))
        return EXIT_USAGE;
    if (!cmd_record_parse_rotation(r))
        return fail_usage("--rotate: %s: expected a time like 1h or a size like 500MB", safe(rotate_text));
    if (!reading_set(&r->set, NETPROF_SET_ALL)) return EXIT_USAGE;
    r->stop_existed = stop_file && stat(stop_file, &r->stop) == 0 && !cmd_record_is_younger(&r->stop);
    r->job.sources.per_cpu = per_cpu != 0;
    r->job.sources.perf = reading_perf();
    return job_find(&r->job, job_text ? job_text : "auto", cgroup);
}

// ---- taking ----

static int cmd_record_open_track(recording *r, int64_t interval_ns, netprof_set set, bool node, const char *device)
{
    track *t = &r->tracks[r->track_count];
    t->set = set;
    t->row = schedule_add(&r->clock, interval_ns, 0);
    int code =
        node ? reading_open_node(&t->np, &r->job.sources, true, true) : reading_open_ports(&t->np, r->tracks[SLOW].np);
    if (t->np) r->track_count++;
    if (code == EXIT_NOTHING) code = node ? reading_nothing(t->np) : EXIT_DONE;
    return code ? code : schedule_add_counters(t->np, t->row, device);
}

static void cmd_record_take(recording *r, track *t, netprof_set set)
{
    netprof_error error;
    if (netprof_take(t->np, &t->snapshot, set, &error))
        fail_error(NULL, &error);
    else
        recorder_snapshot(r->to, &t->snapshot);
}

static void cmd_record_show(recording *r)
{
    if (quiet || !isatty(STDERR_FILENO)) return;
    uint64_t missed = 0;
    for (size_t i = 0; i < r->track_count; i++)
        missed += r->tracks[i].row->missed;
    double elapsed = (double)(schedule_now() - r->begin_ns) / 1e9;
    fprintf(stderr, "\r\033[Knetprof: recording %s, %.0f s, %llu readings, %llu missed", safe(recorder_path(r->to)),
            elapsed, (unsigned long long)r->tracks[SLOW].row->taken, (unsigned long long)missed);
    fflush(stderr);
    r->shown = true;
}

// ---- the end ----

static bool cmd_record_is_stopped(const recording *r)
{
    struct stat now;
    if (!stop_file || stat(stop_file, &now)) return false;
    return !r->stop_existed || now.st_mtim.tv_sec != r->stop.st_mtim.tv_sec ||
           now.st_mtim.tv_nsec != r->stop.st_mtim.tv_nsec || now.st_size != r->stop.st_size;
}

static void cmd_record_tell_sockets(recording *r)
{
    tcp_sockets_look_now(r->sockets);
    recorder_sockets(r->to, r->sockets, true);
    tcp_sockets_begin_anew(r->sockets);
}

// The file before ends with a reading, and the next begins with one: each is whole for itself.
static void cmd_record_rotate(recording *r, bool reopens)
{
    cmd_record_tell_sockets(r);
    bool same = reopens && recorder_reopen(r->to);
    if (!same) recorder_rotate(r->to);
    r->file_begin_ns = schedule_now();
    for (size_t i = 0; i < r->track_count; i++)
        cmd_record_take(r, &r->tracks[i], r->tracks[i].set);
}

static bool cmd_record_is_full(const recording *r)
{
    return (r->rotate_ns && schedule_now() - r->file_begin_ns >= r->rotate_ns) ||
           (r->rotate_bytes && recorder_size(r->to) >= (uint64_t)r->rotate_bytes);
}

// SIGHUP is the terminal's end, or logrotate's word that the file has another name now.
static void cmd_record_hear(recording *r, int number)
{
    bool hang_up = number == SIGHUP;
    if (number == SIGUSR1)
        recorder_sync(r->to);
    else if (hang_up && recorder_is_live(r->to) && (rotate_text || background || recorder_is_elsewhere(r->to)))
        cmd_record_rotate(r, true);
    else
        r->end = "signal";
}

static void cmd_record_loop(recording *r)
{
    siginfo_t info;
    while (!r->end) {
        int event = schedule_wait(&r->clock, &info);
        if (event == SCHEDULE_END) {
            r->end = "duration";
        } else if (event == SCHEDULE_SIGNAL) {
            cmd_record_hear(r, info.si_signo);
        } else if ((size_t)event == r->track_count) {
            recorder_sync(r->to);
            if (recorder_failed(r->to)) r->end = "file";
        } else {
            cmd_record_take(r, &r->tracks[event], r->tracks[event].set);
            if (event != SLOW && !recorder_failed(r->to)) continue;
            job_slurm_look(&r->slurm, r->to);
            tcp_sockets_look(r->sockets);
            cmd_record_show(r);
            if (cmd_record_is_full(r)) cmd_record_rotate(r, false);
            if (recorder_failed(r->to))
                r->end = "file";
            else if (cmd_record_is_stopped(r))
                r->end = "stop file";
            else if (job_ended(&r->job))
                r->end = "job";
        }
    }
}

static void cmd_record_begin(recording *r)
{
    r->begin_ns = r->file_begin_ns = schedule_now();
    for (size_t i = 0; i < r->track_count; i++) {
        r->tracks[i].row->next_ns += r->begin_ns;
        cmd_record_take(r, &r->tracks[i], r->tracks[i].set);
    }
    r->sockets = reading_sockets(r->tracks[SLOW].np);
    schedule_add(&r->clock, r->checkpoint_ns, r->begin_ns);
    if (r->duration_ns) r->clock.until_ns = r->begin_ns + r->duration_ns;
}

static int cmd_record_open_all(recording *r)
{
    static const int watched[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
    sigset_t signals;
    sigemptyset(&signals);
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++)
        sigaddset(&signals, watched[i]);
    if (!schedule_open(&r->clock, &signals)) return fail(EXIT_FILE, "no signals: %s", strerror(errno));
    int code = cmd_record_open_track(r, r->interval_ns, r->set, true, "recorder");
    if (!code && r->fast_ns) code = cmd_record_open_track(r, r->fast_ns, NETPROF_SET_FAST, false, "recorder/fast");
    if (code) return code;
    r->to = recorder_open(output, RECORDER_KEEPS);
    if (!r->to) return EXIT_FILE;
    if (rotate_text && !recorder_is_live(r->to))
        return fail_usage("--rotate: %s: only a .netprof file can go on in another", safe(output));
    if (recorder_appends(r->to) && !quiet)
        warn("%s: holds a recording already; this one is put behind it", safe(recorder_path(r->to)));
    recorder_job(r->to);
    recorder_clock(r->to, "clock");
    job_facts(&r->job, r->to);
    if (r->job.scheduler && strcmp(r->job.scheduler, "slurm") == 0) job_slurm_begin(&r->slurm);
    recorder_number(r->to, "interval_ns", r->interval_ns);
    if (r->fast_ns) recorder_number(r->to, "fast_interval_ns", r->fast_ns);
    return EXIT_DONE;
}

// ---- in the background ----

enum { GO_ON = -1 };

// A process started by a prologue must leave its process group, which ends with it, and its standard streams. In the
// new process GO_ON, and *told is where to say that the recording has begun; in the old one an exit code, when it has.
static int cmd_record_detach(int *told)
{
    int ends[2], status = 0;
    char begun;
    if (pipe2(ends, O_CLOEXEC)) return fail(EXIT_FILE, "--background: %s", strerror(errno));
    pid_t child = fork();
    if (child < 0) return fail(EXIT_FILE, "--background: %s", strerror(errno));
    close(ends[child == 0 ? 0 : 1]);
    if (child == 0) {
        setsid();
        *told = ends[1];
        return GO_ON;
    }
    ssize_t n;
    do
        n = read(ends[0], &begun, 1);
    while (n < 0 && errno == EINTR);
    close(ends[0]);
    if (n == 1) return EXIT_DONE;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) ? WEXITSTATUS(status)
                             : fail(EXIT_FILE, "--background: it ended by signal %d", WTERMSIG(status));
}

static void cmd_record_tell_begun(int told)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < 3 && nothing >= 0; fd++)
        dup2(nothing, fd);
    if (nothing > 2) close(nothing);
    if (write(told, "", 1) != 1) errno = 0; // nobody waits any more: it goes on all the same
    close(told);
}

static int cmd_record_run(const char **arguments, size_t count)
{
    recording r = {0};
    (void)arguments;
    int told = -1, code = background ? cmd_record_detach(&told) : GO_ON;
    if (code != GO_ON) return code;
    code = cmd_record_check(&r, count);
    if (!code) code = cmd_record_open_all(&r);
    if (!code) {
        cmd_record_begin(&r);
        if (told >= 0) {
            recorder_settle(r.to); // who waits may look at once
            cmd_record_tell_begun(told);
        }
        cmd_record_loop(&r);
        r.job.sources.whole = true;
        // The slow track ends the file as it began it: the two make a pair of everything.
        for (size_t i = r.track_count; i-- > 0;)
            cmd_record_take(&r, &r.tracks[i], r.tracks[i].set);
        cmd_record_tell_sockets(&r);
        recorder_fact(r.to, "ended_by", r.end);
        recorder_clock(r.to, "clock_end");
        if (!recorder_failed(r.to)) job_slurm_end(&r.slurm, r.to);
        if (r.shown) fputc('\n', stderr);
    }
    int closed = recorder_close(r.to, !code);
    schedule_close(&r.clock);
    for (size_t i = 0; i < r.track_count; i++) {
        netprof_snapshot_free(&r.tracks[i].snapshot);
        netprof_close(r.tracks[i].np);
    }
    tcp_sockets_close(r.sockets);
    job_slurm_free(&r.slurm);
    job_free(&r.job);
    return code ? code : closed;
}

const command command_record = {
    .name = "record",
    .summary = "record what this node does, tick by tick",
    .arguments = "-o FILE",
    .text =
        "Reads network, CPU, memory, disks, energy, GPUs and the job's processes at fixed places in time and "
        "appends each\n"
        "reading to FILE at once: a kill at any instant costs at most the reading at hand, or what a busy disk left\n"
        "in memory. Ends with the job's processes, with --duration, when the file of --stop-file appears or changes, "
        "or\n"
        "by SIGINT or SIGTERM.\n"
        "SIGUSR1 forces the file to the disk. SIGHUP ends it, too, unless the file was renamed (as logrotate does), "
        "or\n"
        "with --rotate or --background: then the recording goes on in a new file.\n"
        "A recording that is there is never replaced: the new one is put behind it, and netprof job tells them\n"
        "apart. A thread of its own writes: a disk that is full, slow or frozen delays no reading. Up to 8 MiB wait "
        "in\n"
        "memory; what does not fit is left out, the file names each gap (facts gap_1, ...), and the exit code is "
        "1.\n"
        "Inside a job of Slurm, PBS or OAR one recorder a node is enough: the job is found by itself, and %n and %j\n"
        "name the files apart (%j of an array is JOB_TASK, of a job that was started again JOB-rN); netprof merge "
        "joins\n"
        "them.",
    .examples = "netprof record -o node.netprof --duration 2s\n"
                "netprof record -o job.netprof --interval 500ms --fast-network 10ms --duration 1s\n"
                "netprof record -o cpu.netprof --sources cpu,memory --duration 1s\n"
                "netprof record -o flops.netprof --sources perf,gpu,self --perf default,flops --duration 1s",
    .options = options,
    .source_names = reading_source_names,
    .run = cmd_record_run,
};
