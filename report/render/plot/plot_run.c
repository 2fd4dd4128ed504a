// Starting gnuplot: a private directory, one process for all plots, no shell, a time limit.
#define _GNU_SOURCE
#include "plot.h"
#include "plot_parts.h"

#include "analysis/base/memory.h"
#include "analysis/base/unfinished.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

int plot_limit_ms = 20000;

enum { SAID_MAX = 4096, PATH_LONG = 512 };
static const size_t svg_max = (size_t)64 << 20;

// ---- the process ----

static int64_t plot_run_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

// The environment without what changes gnuplot's ways, and with the locale C.
static char **plot_run_environment(void)
{
    static const char *const without[] = {"GNU", "GDFONTPATH=", "LC_", "LANG=", "LANGUAGE=", "FIT_"};
    static char locale[] = "LC_ALL=C";
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    char **list = memory_calloc(count + 2, sizeof *list);
    for (size_t i = 0; i < count; i++) {
        bool drop = false;
        for (size_t k = 0; k < sizeof without / sizeof *without; k++)
            drop |= strncmp(environ[i], without[k], strlen(without[k])) == 0;
        if (!drop) list[kept++] = environ[i];
    }
    list[kept] = locale;
    return list;
}

static int plot_run_start(char *const argv[], int said, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none, all;
    char **variables = plot_run_environment();
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&how);
    sigemptyset(&none);
    sigfillset(&all);
    sigdelset(&all, SIGKILL);
    sigdelset(&all, SIGSTOP);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setsigdefault(&how, &all);
    posix_spawnattr_setpgroup(&how, 0);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0) ||
        posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0) ||
        posix_spawn_file_actions_adddup2(&files, said, 2))
        memory_exhausted();
    int error = posix_spawnp(pid, argv[0], &files, &how, argv, variables);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    free(variables);
    return error;
}

// Takes everything that can be read now; false at the end. What does not fit is dropped.
static bool plot_run_listen_to(int from, char *said, size_t size, size_t *used)
{
    char buffer[1024];
    for (;;) {
        ssize_t n = read(from, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno == EAGAIN;
        if (n == 0) return false;
        size_t room = size - 1 - *used, take = (size_t)n < room ? (size_t)n : room;
        memcpy(said + *used, buffer, take);
        *used += take;
    }
}

// Waits until the process has ended, whoever still holds its standard error; false: not in time.
static bool plot_run_await(pid_t pid, int from, char *said, size_t size, int *status)
{
    size_t used = 0;
    int64_t end = plot_run_now_ms() + plot_limit_ms;
    bool open = true, ended = false;
    while (!ended && plot_run_now_ms() < end) {
        struct pollfd wait = {.fd = open ? from : -1, .events = POLLIN};
        int64_t left = end - plot_run_now_ms();
        // Its end shows first as the end of what it says; the rest of the wait is short.
        int pause = open ? 50 : 1;
        poll(&wait, 1, left < pause ? (int)(left > 0 ? left : 0) : pause);
        if (open) open = plot_run_listen_to(from, said, size, &used);
        pid_t gone = waitpid(pid, status, WNOHANG);
        if (gone == -1 && errno == ECHILD) *status = 0; // SIGCHLD is ignored: its files show how it went
        ended = gone == pid || (gone == -1 && errno != EINTR);
    }
    if (open) plot_run_listen_to(from, said, size, &used);
    said[used] = 0;
    return ended;
}

int plot_spawn(char *const argv[], char *said, size_t said_size)
{
    int ends[2], status = 0;
    pid_t pid;
    said[0] = 0;
    if (pipe2(ends, O_CLOEXEC) != 0) return PLOT_NOT_STARTED;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    int error = plot_run_start(argv, ends[1], &pid);
    close(ends[1]);
    if (error) {
        close(ends[0]);
        snprintf(said, said_size, "%s", strerror(error));
        return error == ENOENT ? PLOT_NOT_FOUND : PLOT_NOT_STARTED;
    }
    bool ended = plot_run_await(pid, ends[0], said, said_size, &status);
    kill(-pid, SIGKILL); // what it may have started, and itself when it is late
    if (!ended)
        while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
            continue;
    close(ends[0]);
    if (!ended) return PLOT_TOO_SLOW;
    if (!WIFEXITED(status)) return PLOT_KILLED;
    return WEXITSTATUS(status) == 127 ? PLOT_NOT_FOUND : WEXITSTATUS(status); // 127: some libcs report it this way
}

// ---- the private directory ----

// The path goes into a script between single quotes: nothing but plain characters, or /tmp it is.
static const char *plot_run_place_for_files(void)
{
    const char *place = getenv("TMPDIR");
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+-";
    if (!place || place[0] != '/' || place[strspn(place, plain)] || strlen(place) > PATH_LONG / 2) return "/tmp";
    return place;
}

static FILE *plot_run_create(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    return fd >= 0 ? memory_check(fdopen(fd, "w")) : NULL;
}

// Also when nothing failed until now: the disk may be full.
static bool plot_run_finish(FILE *to)
{
    bool good = !ferror(to);
    return fclose(to) == 0 && good;
}

// The whole file, ended by a NUL; NULL: it cannot be read, is empty or too large.
static char *plot_run_contents(const char *path, size_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;
    char *text = NULL;
    *size = 0;
    if (fd < 0) return NULL;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 && (uint64_t)st.st_size <= svg_max) {
        ssize_t n = 1;
        text = memory_alloc((size_t)st.st_size + 1);
        while (*size < (size_t)st.st_size && (n = read(fd, text + *size, (size_t)st.st_size - *size)) > 0)
            *size += (size_t)n;
        text[*size] = 0;
    }
    close(fd);
    return text;
}

// ---- all plots ----

typedef struct work {
    plot_job *jobs;
    size_t count;
    bool *wanted; // there is something that gnuplot has to draw
    char directory[PATH_LONG];
    char *message;
    size_t message_size;
} work;

__attribute__((format(printf, 2, 3))) static bool plot_run_refuse(work *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(w->message, w->message_size, format, arguments);
    va_end(arguments);
    for (char *p = w->message; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f) *p = ' '; // what others said comes in one line
    return false;
}

static void plot_run_path_of(const work *w, char path[PATH_LONG], size_t job, const char *ending)
{
    snprintf(path, PATH_LONG, "%.*s/%zu%s", PATH_LONG - 32, w->directory, job, ending);
}

// A plot without a point.
static void plot_run_make_empty(plot_job *job)
{
    static const char nothing[] = "<?xml?>\n<svg><g></g></svg>";
    job->svg = plot_svg_tidy(nothing, sizeof nothing - 1, job, &job->svg_size);
}

static bool plot_run_is_sensible(const plot_job *job)
{
    return job->width >= 0.01 && job->height >= 0.01 && job->width <= 20000 && job->height <= 20000 &&
           job->plot->x.max > job->plot->x.min && job->plot->y.max > job->plot->y.min &&
           job->plot->series_count <= PLOT_SERIES_MAX;
}

static bool plot_run_write_data(work *w, size_t i)
{
    char path[PATH_LONG];
    plot_run_path_of(w, path, i, ".dat");
    FILE *to = plot_run_create(path);
    if (!to) return false;
    w->wanted[i] = plot_write_data(to, &w->jobs[i]);
    if (!w->wanted[i]) plot_run_make_empty(&w->jobs[i]);
    return plot_run_finish(to);
}

static bool plot_run_write_script(work *w, const char *script)
{
    FILE *to = plot_run_create(script);
    if (!to) return false;
    fprintf(to,
            "print 'netprof ', GPVAL_VERSION\nif (GPVAL_VERSION < 5.0) exit\n"
            "unset key\nunset tics\nunset border\nunset colorbox\nset clip one\nset clip two\n"
            "set lmargin at screen 0\nset rmargin at screen 1\n"
            "set bmargin at screen 0\nset tmargin at screen 1\n"
            "set xrange [0:%d]\nset yrange [0:%d]\n",
            PLOT_UNIT, PLOT_UNIT);
    for (size_t i = 0; i < w->count; i++) {
        char data[PATH_LONG], svg[PATH_LONG];
        if (!w->wanted[i]) continue;
        plot_run_path_of(w, data, i, ".dat");
        plot_run_path_of(w, svg, i, ".svg");
        plot_write_commands(to, &w->jobs[i], data, svg);
    }
    return plot_run_finish(to);
}

// The program's messages, without our own line.
static const char *plot_run_complaint(const char *said)
{
    const char *line = strncmp(said, "netprof ", 8) == 0 ? strchr(said, '\n') : said;
    return line ? line + strspn(line, " \n\t") : "";
}

static bool plot_run_judge(work *w, const char *program, int code, const char *said)
{
    static const char get[] = "install gnuplot 5.0 or newer (gnuplot-nox on Debian), or set NETPROF_GNUPLOT to it";
    long version = strncmp(said, "netprof ", 8) == 0 ? strtol(said + 8, NULL, 10) : 0;
    switch (code) {
    case PLOT_NOT_FOUND: return plot_run_refuse(w, "%.100s not found; %s", program, get);
    case PLOT_NOT_STARTED: return plot_run_refuse(w, "%.100s cannot be started: %.100s; %s", program, said, get);
    case PLOT_TOO_SLOW:
        return plot_run_refuse(w, "%.100s took longer than %g s and was stopped", program, plot_limit_ms / 1000.0);
    case PLOT_KILLED: return plot_run_refuse(w, "%.100s was killed", program);
    }
    if (version > 0 && version < 5)
        return plot_run_refuse(w, "%.100s %.*s is too old; %s", program, (int)strcspn(said + 8, " \n"), said + 8, get);
    if (code)
        return plot_run_refuse(w, "%.100s failed with exit code %d%s%.200s", program, code,
                               *plot_run_complaint(said) ? ": " : "", plot_run_complaint(said));
    return true;
}

static bool plot_run_collect(work *w, const char *program)
{
    for (size_t i = 0; i < w->count; i++) {
        char path[PATH_LONG];
        size_t size;
        if (!w->wanted[i]) continue;
        plot_run_path_of(w, path, i, ".svg");
        char *text = plot_run_contents(path, &size);
        if (text) w->jobs[i].svg = plot_svg_tidy(text, size, &w->jobs[i], &w->jobs[i].svg_size);
        free(text);
        if (!w->jobs[i].svg) return plot_run_refuse(w, "%.100s wrote no complete picture", program);
    }
    return true;
}

static bool plot_run_run(work *w)
{
    char *program = getenv("NETPROF_GNUPLOT"), script[PATH_LONG], said[SAID_MAX];
    static char name[] = "gnuplot", plainly[] = "-d";
    bool any = false;
    if (!program || !*program) program = name;
    snprintf(script, sizeof script, "%.*s/plots.gp", PATH_LONG - 32, w->directory);
    for (size_t i = 0; i < w->count; i++) {
        if (!w->wanted[i]) continue;
        if (!plot_run_write_data(w, i))
            return plot_run_refuse(w, "%s: cannot write the data of plots: %s", w->directory, strerror(errno));
        any |= w->wanted[i];
    }
    if (!any) return true;
    if (!plot_run_write_script(w, script)) return plot_run_refuse(w, "%s: %s", script, strerror(errno));
    char *argv[] = {program, plainly, script, NULL};
    int code = plot_spawn(argv, said, sizeof said);
    return plot_run_judge(w, program, code, said) && plot_run_collect(w, program);
}

static void plot_run_drop_pictures(work *w)
{
    for (size_t i = 0; i < w->count; i++) {
        if (!w->wanted[i]) continue; // needed no gnuplot
        free(w->jobs[i].svg);
        w->jobs[i].svg = NULL;
        w->jobs[i].svg_size = 0;
    }
}

// Marks what is to be drawn; false when a plot cannot be.
static bool plot_run_choose(work *w)
{
    bool all = true;
    for (size_t i = 0; i < w->count; i++) {
        plot_job *job = &w->jobs[i];
        job->svg = NULL;
        job->svg_size = 0;
        if (plot_points(job->plot) > PLOT_POINTS_MAX)
            all = plot_run_refuse(w, "plot %zu: %zu points are more than the %d that are drawn singly", i + 1,
                                  plot_points(job->plot), PLOT_POINTS_MAX);
        else if (!plot_run_is_sensible(job))
            all = plot_run_refuse(w, "plot %zu: its size or its axes make no sense", i + 1);
        else
            w->wanted[i] = true;
    }
    return all;
}

bool plot_render(plot_job *jobs, size_t count, char *message, size_t message_size)
{
    char nowhere[1];
    work w = {.jobs = jobs,
              .count = count,
              .message = message_size ? message : nowhere,
              .message_size = message_size ? message_size : 1};
    w.message[0] = 0;
    w.wanted = memory_calloc(count, sizeof *w.wanted);
    bool all = plot_run_choose(&w);
    snprintf(w.directory, sizeof w.directory, "%s/netprof-plot-XXXXXX", plot_run_place_for_files());
    if (!count)
        all = true;
    else if (!mkdtemp(w.directory))
        all = plot_run_refuse(&w, "%s: %s", w.directory, strerror(errno));
    else {
        unfinished_begin(w.directory);
        if (!plot_run_run(&w)) {
            plot_run_drop_pictures(&w);
            all = false;
        }
        unfinished_drop(w.directory);
    }
    free(w.wanted);
    return all;
}
