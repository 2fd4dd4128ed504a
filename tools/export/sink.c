// Outputs appear whole or not at all: a file, or a directory of files, under a temporary name that is replaced last.
#define _GNU_SOURCE // renameat2
#include "export.h"
#include "analysis/base/memory.h"
#include "analysis/base/output_file.h"
#include "analysis/base/unfinished.h"
#include "analysis/base/pipe_write.h"
#include "cli/whole_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

struct export_sink {
    export_options o;
    bool directory;                     // the output is one
    char *work;                         // the temporary name; NULL: the standard output
    output_place place;                 // of a file
    void *state;                        // the driver's
    export_table tables[EXPORT_TABLES]; // columns are NULL where nothing has begun
    char *failure;
};

static volatile sig_atomic_t interrupted;
static bool in_place; // what is written is seen at once: the standard output, a device, a pipe

// Something that cannot be waited for any longer (a pipe that nobody writes, a hung file system) holds the program.
static void sink_end(int number)
{
    static const char nothing[] = "netprof export: interrupted; nothing was written\n",
                      some[] = "netprof export: interrupted; what was written is incomplete\n";
    (void)number;
    unfinished_remove();
    ssize_t said = write(STDERR_FILENO, in_place ? some : nothing, (in_place ? sizeof some : sizeof nothing) - 1);
    (void)said; // there is nothing left to say it to
    _exit(EXIT_FILE);
}

// The export ends at the next row; if there is none soon, at once.
static void sink_interrupt(int number)
{
    static const struct itimerval soon = {.it_value = {.tv_usec = 500000}};
    if (!interrupted) setitimer(ITIMER_REAL, &soon, NULL); // those that come again do not put it off
    interrupted = number;
}

// ---- opening ----

// True for a file that an export writes into its directory.
static bool sink_is_ours(const char *name, const char *ending)
{
    size_t n = strlen(name), e = strlen(ending);
    for (int i = 0; i < EXPORT_TABLES; i++) {
        const char *table = export_table_name((export_id)i);
        if (n == strlen(table) + 1 + e && strncmp(name, table, n - e - 1) == 0 && strcmp(name + n - e, ending) == 0)
            return true;
    }
    return false;
}

// A directory that holds anything else is not ours to replace.
static bool sink_may_replace(const char *path, const char *ending)
{
    DIR *listing = opendir(path);
    bool all = listing != NULL;
    if (!listing && errno == ENOENT) return true;
    if (!listing) return fail_file(EXIT_FILE, path, "%s", strerror(errno)), false;
    for (struct dirent *e; all && (e = readdir(listing));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        all = sink_is_ours(e->d_name, ending);
        if (!all)
            fail_file(EXIT_FILE, path, "holds %s, which is no exported table: choose another directory",
                      safe(e->d_name));
    }
    closedir(listing);
    return all;
}

static bool sink_make_directory(export_sink *s)
{
    mode_t mask = umask(0);
    umask(mask);
    size_t n = strlen(s->o.path);
    while (n > 1 && s->o.path[n - 1] == '/')
        n--;
    s->work = memory_format("%.*s.XXXXXX", (int)n, s->o.path);
    if (!mkdtemp(s->work)) return false;
    if (chmod(s->work, 0777 & ~mask)) errno = 0; // it is then only less readable
    return true;
}

// What cannot be replaced (a device, a pipe) gets a copy at the end: formats such as SQLite's seek.
static bool sink_make_file(export_sink *s)
{
    const char *directory = getenv("TMPDIR");
    int fd;
    if (s->place.in_place) {
        s->work = memory_format("%s/netprof-export.XXXXXX", directory && *directory ? directory : "/tmp");
        fd = mkstemp(s->work);
    } else {
        fd = output_place_beside(&s->place, &s->work);
    }
    if (fd < 0) return false;
    close(fd);
    return true;
}

static bool sink_make_work(export_sink *s)
{
    if (s->directory ? sink_make_directory(s) : sink_make_file(s)) {
        unfinished_begin(s->work);
        return true;
    }
    fail_file(EXIT_FILE, s->o.path, "%s", strerror(errno));
    free(s->work);
    s->work = NULL;
    return false;
}

static bool sink_check_place(export_sink *s)
{
    if (s->directory) return sink_may_replace(s->o.path, s->o.driver->name);
    if (output_place_find(&s->place, s->o.path)) return true;
    fail_file(EXIT_FILE, s->o.path, "%s", s->place.refused);
    return false;
}

export_sink *export_open(const export_options *options)
{
    export_sink *s = memory_calloc(1, sizeof *s);
    struct sigaction action = {.sa_handler = sink_interrupt};
    s->o = *options;
    s->directory = options->driver->directory && !options->only;
    bool standard = strcmp(options->path, "-") == 0;
    // Before anything exists that an interrupt could leave behind.
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    action.sa_handler = sink_end;
    sigaction(SIGALRM, &action, NULL);
    if (standard || (sink_check_place(s) && sink_make_work(s))) {
        in_place = standard || s->place.in_place;
        s->state = options->driver->open(s, s->work ? s->work : "-");
        if (s->state && !s->failure) return s;
        export_close(s, false);
        return NULL;
    }
    output_place_free(&s->place);
    free(s);
    return NULL;
}

const export_options *export_options_of(const export_sink *sink)
{
    return &sink->o;
}

char *export_file_name(const export_sink *sink, const char *path, const export_table *table, const char *ending)
{
    return sink->directory ? memory_format("%s/%s.%s", path, table->name, ending) : memory_strdup(path);
}

// ---- rows ----

bool export_wants(const export_sink *sink, export_id id)
{
    bool wide = id == EXPORT_VALUES_WIDE || id == EXPORT_RATES_WIDE || id == EXPORT_MISSING;
    bool has_wide = id == EXPORT_VALUES || id == EXPORT_RATES;
    if (sink->o.wide ? has_wide : wide) return false;
    if (sink->o.only) return strcmp(sink->o.only, export_table_name(id)) == 0;
    return (export_table_what(id) & sink->o.what) != 0;
}

// The columns of wide tables end with the files, the sink's later.
static export_table sink_copy_table(const export_table *table)
{
    export_column *columns = memory_calloc(table->column_count, sizeof *columns);
    for (size_t i = 0; i < table->column_count; i++) {
        const export_column *from = &table->columns[i];
        columns[i] = (export_column){memory_strdup(from->name), from->type, memory_strdup(from->unit)};
    }
    return (export_table){table->name, columns, table->column_count};
}

static void sink_free_table(const export_table *table)
{
    for (size_t i = 0; table->columns && i < table->column_count; i++) {
        free((char *)(uintptr_t)table->columns[i].name);
        free((char *)(uintptr_t)table->columns[i].unit);
    }
    free((export_column *)(uintptr_t)table->columns);
}

void export_begin(export_sink *sink, export_id id, const export_table *table)
{
    if (!export_wants(sink, id) || export_failed(sink) || sink->tables[id].columns) return;
    sink->tables[id] = sink_copy_table(table);
    sink->o.driver->table(sink->state, id, &sink->tables[id]);
}

void export_row(export_sink *sink, export_id id, const export_cell *cells)
{
    if (sink->failure || !sink->tables[id].columns) return;
    sink->o.driver->row(sink->state, id, &sink->tables[id], cells);
}

void export_clocks(export_sink *sink, const struct clocks *c, int64_t begin_ns)
{
    if (!export_failed(sink) && sink->o.driver->clock) sink->o.driver->clock(sink->state, c, begin_ns);
}

void export_put_incident(export_sink *sink, const export_incident *x)
{
    if (!export_failed(sink)) sink->o.driver->incident(sink->state, x);
}

void export_put_span(export_sink *sink, const export_span *x)
{
    if (!export_failed(sink) && sink->o.driver->span) sink->o.driver->span(sink->state, x);
}

bool export_failed(const export_sink *sink)
{
    return sink->failure || interrupted;
}

void export_fail(export_sink *sink, const char *format, ...)
{
    va_list arguments;
    char text[1024];
    if (sink->failure) return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    sink->failure = memory_strdup(text);
}

// ---- the end ----

static int sink_sync_path(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int error = fd < 0 || (fsync(fd) && errno != EINVAL) ? errno : 0;
    if (fd >= 0) close(fd);
    return error;
}

static int sink_sync_directory(const char *path)
{
    DIR *listing = opendir(path);
    int error = listing ? 0 : errno;
    for (struct dirent *e; listing && !error && (e = readdir(listing));) {
        char *name = memory_format("%s/%s", path, e->d_name);
        error = e->d_name[0] == '.' ? 0 : sink_sync_path(name);
        free(name);
    }
    if (listing) closedir(listing);
    return error ? error : sink_sync_path(path);
}

// An older export is exchanged in one step, where the file system can; nobody sees half of both.
static int sink_place_directory(export_sink *s)
{
    int error = sink_sync_directory(s->work);
    if (error) return error;
    if (!sink_may_replace(s->o.path, s->o.driver->name)) return EEXIST;
    if (rename(s->work, s->o.path) == 0) return 0;
    if (errno != ENOTEMPTY && errno != EEXIST) return errno;
    if (renameat2(AT_FDCWD, s->work, AT_FDCWD, s->o.path, RENAME_EXCHANGE)) {
        unfinished_drop(s->o.path); // holds tables only, see sink_may_replace()
        return rename(s->work, s->o.path) ? errno : 0;
    }
    unfinished_drop(s->work); // it is the old one now
    return 0;
}

static int sink_copy_all(int from, int to)
{
    char block[65536];
    ssize_t n;
    while ((n = read(from, block, sizeof block)) > 0 || (n < 0 && errno == EINTR)) {
        int error = n > 0 ? pipe_write(&to, block, (size_t)n) : 0;
        if (error) return error;
    }
    return n < 0 ? errno : 0;
}

// Signals that end programs are held back, for a pending one interrupts the wait for a pipe's reader.
static int sink_copy(const export_sink *s)
{
    sigset_t ending, before;
    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    sigprocmask(SIG_BLOCK, &ending, &before);
    int from = open(s->work, O_RDONLY | O_CLOEXEC), to = from < 0 ? -1 : output_place_open(&s->place, whole_file_waits);
    int error = to < 0 ? errno : sink_copy_all(from, to);
    if (to >= 0 && close(to) && !error) error = errno;
    if (from >= 0) close(from);
    unfinished_drop(s->work);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return error;
}

static int sink_place(export_sink *s)
{
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL); // it ends soon, one way or the other
    if (s->directory) return sink_place_directory(s);
    if (s->place.in_place) return sink_copy(s);
    int error = sink_sync_path(s->work);
    return error ? error : output_place_publish(&s->place, s->work);
}

int export_close(export_sink *sink, bool keep)
{
    int code = EXIT_DONE, error;
    if (!sink) return EXIT_DONE;
    if (keep && interrupted)
        export_fail(sink,
                    in_place ? "interrupted; what was written is incomplete" : "interrupted; nothing was written");
    if (sink->state) sink->o.driver->close(sink->state, keep && !sink->failure);
    if (sink->failure) code = fail_file(EXIT_FILE, sink->o.path, "%s", sink->failure);
    if (!keep || sink->failure) {
        if (sink->work) unfinished_drop(sink->work);
    } else if (sink->work && (error = sink_place(sink))) {
        code = fail_file(EXIT_FILE, sink->o.path, "%s", strerror(error));
        unfinished_drop(sink->work);
    }
    for (int i = 0; i < EXPORT_TABLES; i++)
        sink_free_table(&sink->tables[i]);
    free(sink->failure);
    unfinished_end(sink->work);
    output_place_free(&sink->place);
    free(sink->work);
    free(sink);
    return code;
}
