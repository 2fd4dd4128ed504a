// Makes every allocation of a command fail in turn and looks at what is left.
//
//     sweep [OPTION...] PRELOAD CASES INPUTS [NAME...]
//
// PRELOAD is the library of preload.c, CASES a file of commands (its own comment describes it), INPUTS a folder with their
// input files, in which they run. Each command runs once as it is, then once for each allocation N: with N alone failing,
// and with N and all that follow failing. After each run:
//
// - the command ended by itself, within two minutes;
// - either it ended with exit status 3 and said on standard error that memory ran out, or the failure did no harm: exit status,
//   standard output and files are those of the undisturbed run;
// - each output file is complete, or is what it was before (every second run finds an old file in its place);
// - there is no other file: neither in the output folder, nor in TMPDIR; no process is left; no input has changed.
//
// Options: --first N and --spread N choose the allocations: the first N, then N more in equal steps to the last (without
// them: all). --bin DIR: where the programs are. --verbose: a line for each case.
#define _GNU_SOURCE
#include "control.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    MOST_WORDS = 64,
    MOST_FILES = 256,
    LONGEST_RUN_S = 120,
    LONGEST_LINGERING_MS = 30000, // of a process that a command started and did not wait for
    REPORTED_PLACES = 25,         // of one case
    EXIT_NO_MEMORY = 3
};

static const char old_content[] = "an old file\n";

typedef enum kind {
    SAME, // the undisturbed run always gives the same
    LIVE, // reads this machine and the time: files need only be readable
    GROW, // LIVE, with a recording that grows from the start; one that is there is kept, and grows
    RUN // LIVE, with a recording that replaces an old one; starts a command that exits with 7 and leaves the files began
        // and done
} kind;

typedef struct test_case {
    char name[64];
    kind kind;
    char line[2048];
} test_case;

typedef struct file {
    char *path; // below the folder
    char *data;
    size_t size;
} file;

typedef struct folder {
    file files[MOST_FILES];
    size_t count;
} folder;

typedef struct result {
    int status; // of exit; 128 + signal; -1: did not end
    file out, err;
    folder files;
    uint64_t calls;
    bool lingers;
} result;

static const char *preload, *inputs, *bin = ".";
static char scratch[] = "/tmp/netprof-faults-XXXXXX", outputs[64], temporary[64], control_path[64];
static faults_control *control;
static uint64_t first_calls = UINT64_MAX, spread_calls;
static bool verbose;

static void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("sweep: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(2);
}

static void *must(void *pointer)
{
    if (!pointer) die("%s", strerror(errno));
    return pointer;
}

// ---- files ----

static file read_file(const char *path)
{
    file f = {0};
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st)) die("%s: %s", path, strerror(errno));
    f.data = must(malloc((size_t)st.st_size + 1));
    for (ssize_t n; f.size < (size_t)st.st_size && (n = read(fd, f.data + f.size, (size_t)st.st_size - f.size)) > 0;)
        f.size += (size_t)n;
    f.data[f.size] = 0;
    close(fd);
    return f;
}

static void write_bytes(const char *path, const char *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, data, size) < 0 || close(fd)) die("%s: %s", path, strerror(errno));
}

static bool same_data(const file *a, const file *b)
{
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

static folder *walked; // of visit_file(): nftw() passes nothing along
static size_t walked_prefix;

static int visit_file(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)at;
    if (type == FTW_D || type == FTW_DP) return 0;
    if (walked->count == MOST_FILES) die("more than %d files in %s", MOST_FILES, outputs);
    file f = read_file(path);
    f.path = must(strdup(path + walked_prefix));
    walked->files[walked->count++] = f;
    return 0;
}

static void read_folder(folder *to, const char *path)
{
    walked = to;
    walked_prefix = strlen(path) + 1;
    if (nftw(path, visit_file, 16, FTW_PHYS)) die("%s: %s", path, strerror(errno));
}

static const file *file_of(const folder *f, const char *path)
{
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->files[i].path, path) == 0) return &f->files[i];
    return NULL;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    if (at->level > 0 && remove(path)) die("%s: %s", path, strerror(errno));
    return 0;
}

static void empty_folder(const char *path)
{
    if (nftw(path, remove_one, 16, FTW_PHYS | FTW_DEPTH)) die("%s: %s", path, strerror(errno));
}

static uint64_t fingerprint; // of the inputs

static int visit_input(const char *path, const struct stat *st, int type, struct FTW *at)
{
    const uint64_t parts[] = {st->st_ino, (uint64_t)st->st_size, (uint64_t)st->st_mtim.tv_sec,
                              (uint64_t)st->st_mtim.tv_nsec, (uint64_t)type};
    (void)path;
    (void)at;
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        sum = (sum ^ parts[i]) * UINT64_C(0x100000001b3);
    fingerprint += sum; // in any order
    return 0;
}

static uint64_t look_at_inputs(void)
{
    fingerprint = 0;
    if (nftw(inputs, visit_input, 16, FTW_PHYS)) die("%s: %s", inputs, strerror(errno));
    return fingerprint;
}

// ---- running ----

// Words of a line, as a shell would take them without its expansions: blanks separate, '...' keeps together. {o} is the
// output folder.
static void split_line(const char *line, char *words[MOST_WORDS])
{
    size_t count = 0;
    while (*(line += strspn(line, " "))) {
        char word[1024];
        size_t n = 0;
        bool quoted = false;
        for (; *line && (quoted || *line != ' ') && n < sizeof word - sizeof outputs; line++) {
            if (*line == '\'')
                quoted = !quoted;
            else if (strncmp(line, "{o}", 3) == 0)
                n += (size_t)sprintf(word + n, "%s", outputs), line += 2;
            else
                word[n++] = *line;
        }
        word[n] = 0;
        if (count == MOST_WORDS - 1) die("more than %d words: %s", MOST_WORDS - 1, line);
        words[count++] = must(strdup(word));
    }
    words[count] = NULL;
}

static void start(char *const words[], bool faulty)
{
    char program[4096], path[4200], temporary_is[80], preload_is[4200], control_is[100];
    snprintf(program, sizeof program, "%s/%s", bin, words[0]);
    snprintf(path, sizeof path, "PATH=%s:/usr/local/bin:/usr/bin:/bin", bin);
    snprintf(temporary_is, sizeof temporary_is, "TMPDIR=%s", temporary);
    snprintf(preload_is, sizeof preload_is, "LD_PRELOAD=%s", preload);
    snprintf(control_is, sizeof control_is, FAULTS_VARIABLE "=%s", control_path);
    char *const environment[] = {path,
                                 "HOME=/nonexistent",
                                 "LC_ALL=C.UTF-8",
                                 "TZ=UTC",
                                 "COLUMNS=100",
                                 "SOURCE_DATE_EPOCH=1700000000",
                                 temporary_is,
                                 faulty ? preload_is : NULL,
                                 control_is,
                                 NULL};
    char out[100], err[100];
    snprintf(out, sizeof out, "%s/out", scratch);
    snprintf(err, sizeof err, "%s/err", scratch);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0);
    if (chdir(inputs) || !freopen("/dev/null", "r", stdin) || !freopen(out, "w", stdout) || !freopen(err, "w", stderr))
        _exit(125);
    execve(program, words, environment);
    _exit(127);
}

// Waits for a child for so long; false: it did not end.
static bool wait_for(pid_t pid, int *status)
{
    struct timespec end, now, step = {.tv_sec = 1};
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += LONGEST_RUN_S;
    for (;;) {
        pid_t done = waitpid(pid, status, WNOHANG);
        if (done == pid) return true;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec > end.tv_sec) return false;
        sigtimedwait(&child, NULL, &step);
    }
}

// Does anything of the group still live a while after its leader ended? Ends it.
static bool group_lingers(pid_t group)
{
    for (int ms = 0; ms < LONGEST_LINGERING_MS; ms++) {
        while (waitpid(-group, NULL, WNOHANG) > 0) {
        }
        if (kill(-group, 0)) return false;
        usleep(1000);
    }
    kill(-group, SIGKILL);
    return true;
}

static bool is_recording(const char *path)
{
    const char *end = strrchr(path, '.');
    return end && (strcmp(end, ".netprof") == 0 || strcmp(end, ".json") == 0);
}

// Files that a command of the test writes by itself, began and done, are never old.
static bool may_be_old(const test_case *c, const char *path)
{
    return !strchr(path, '/') && (c->kind != RUN || is_recording(path));
}

static void run(const test_case *c, uint64_t fail_at, bool onward, const folder *old, result *r)
{
    char *words[MOST_WORDS], path[512];
    int status;
    *r = (result){0};
    empty_folder(outputs);
    empty_folder(temporary);
    for (size_t i = 0; old && i < old->count; i++) {
        snprintf(path, sizeof path, "%s/%s", outputs, old->files[i].path);
        if (!may_be_old(c, old->files[i].path)) continue;
        if (c->kind == GROW)
            write_bytes(path, old->files[i].data, old->files[i].size);
        else
            write_bytes(path, old_content, strlen(old_content));
    }
    *control = (faults_control){.fail_at = fail_at, .onward = onward};
    split_line(c->line, words);
    fflush(stdout);
    pid_t pid = fork();
    if (pid < 0) die("fork: %s", strerror(errno));
    if (!pid) start(words, true);
    bool ended = wait_for(pid, &status);
    if (!ended) kill(-pid, SIGKILL), waitpid(pid, &status, 0);
    r->lingers = group_lingers(pid) && ended;
    r->status = !ended ? -1 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    r->calls = control->count;
    snprintf(path, sizeof path, "%s/out", scratch);
    r->out = read_file(path);
    snprintf(path, sizeof path, "%s/err", scratch);
    r->err = read_file(path);
    read_folder(&r->files, outputs);
    for (char **w = words; *w; w++)
        free(*w);
}

static void free_result(result *r)
{
    for (size_t i = 0; i < r->files.count; i++) {
        free(r->files.files[i].path);
        free(r->files.files[i].data);
    }
    free(r->out.data);
    free(r->err.data);
}

// ---- judging ----

// Can netprof read the recording?
static bool is_readable(const char *path)
{
    char full[300], *words[] = {"netprof", "convert", "--to", "json", full, "-", NULL};
    int status;
    snprintf(full, sizeof full, "%s/%s", outputs, path);
    fflush(stdout);
    pid_t pid = fork();
    if (!pid) start(words, false);
    return pid > 0 && wait_for(pid, &status) && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// A fault in what a run left; NULL. text: of the fault.
static const char *judge_files(const test_case *c, const result *whole, const result *r, bool had_old, char *text,
                               size_t size)
{
    if (rmdir(temporary) || mkdir(temporary, 0755)) return "something is left in TMPDIR";
    for (size_t i = 0; i < r->files.count; i++) {
        const file *f = &r->files.files[i], *expected = file_of(&whole->files, f->path);
        const bool is_old = had_old && f->size == strlen(old_content) && memcmp(f->data, old_content, f->size) == 0;
        const bool is_kept = !had_old || c->kind != GROW || !expected ||
                             (f->size >= expected->size && memcmp(f->data, expected->data, expected->size) == 0);
        const char *fault = !expected         ? "is left"
                            : !is_kept        ? "lost what it held"
                            : is_old          ? NULL
                            : c->kind == SAME ? (same_data(f, expected) ? NULL : "is neither old nor complete")
                            : is_recording(f->path) && !is_readable(f->path) ? "cannot be read"
                                                                             : NULL;
        if (!fault) continue;
        snprintf(text, size, "%s %s (%zu bytes)", f->path, fault, f->size);
        return text;
    }
    for (size_t i = 0; had_old && (c->kind == SAME || c->kind == LIVE || c->kind == GROW) && i < whole->files.count;
         i++) {
        const char *path = whole->files.files[i].path;
        if (!may_be_old(c, path) || file_of(&r->files, path)) continue;
        snprintf(text, size, "the old %s is gone", path);
        return text;
    }
    return NULL;
}

static bool is_prefix(const file *part, const file *of)
{
    return part->size <= of->size && memcmp(part->data, of->data, part->size) == 0;
}

static bool says_no_memory(const result *r)
{
    return r->status == EXIT_NO_MEMORY &&
           (strstr(r->err.data, "out of memory") || strstr(r->err.data, strerror(ENOMEM)));
}

// With --json, a failure is a document of its own.
static bool is_failure_document(const file *out)
{
    static const char begin[] = "{\n  \"format\": \"netprof-error\"";
    return strncmp(out->data, begin, strlen(begin)) == 0;
}

static const char *judge_status(const test_case *c, const result *whole, const result *r, char *text, size_t size)
{
    if (r->status == -1) return "did not end";
    if (r->lingers) return "left a process behind";
    if (says_no_memory(r)) {
        if (c->kind == RUN && file_of(&r->files, "began")) return "exit 3 although the command ran";
        const bool good = c->kind != SAME || is_prefix(&r->out, &whole->out) || is_failure_document(&r->out);
        return good ? NULL : "out of memory, with another standard output";
    }
    snprintf(text, size, "exit %d instead of %d or 3: %.300s", r->status, whole->status, r->err.data);
    if (r->status != whole->status) return text;
    if (c->kind == RUN && !file_of(&r->files, "done")) return "the command was not left alone";
    if (c->kind != SAME) return NULL;
    if (!same_data(&r->out, &whole->out)) return "standard output differs";
    snprintf(text, size, "standard error differs: %.300s", r->err.data);
    if (!same_data(&r->err, &whole->err)) return text;
    for (size_t i = 0; i < whole->files.count; i++) {
        const file *f = file_of(&r->files, whole->files.files[i].path);
        snprintf(text, size, "exit %d, but %s is missing or differs", r->status, whole->files.files[i].path);
        if (!f || !same_data(f, &whole->files.files[i])) return text;
    }
    return NULL;
}

// ---- a case ----

typedef struct place {
    uint64_t frames[FAULTS_FRAMES];
    char fault[600];
    uint64_t call, count;
    bool onward;
} place;

typedef struct places {
    place items[REPORTED_PLACES];
    size_t count;
    uint64_t faults, runs;
} places;

static void note_fault(places *p, const char *fault, uint64_t call, bool onward)
{
    p->faults++;
    for (size_t i = 0; i < p->count; i++) {
        if (memcmp(p->items[i].frames, control->frames, 3 * sizeof *control->frames) != 0 ||
            p->items[i].onward != onward)
            continue;
        p->items[i].count++;
        return;
    }
    if (p->count == REPORTED_PLACES) return;
    place *new = &p->items[p->count++];
    *new = (place){.call = call, .count = 1, .onward = onward};
    memcpy(new->frames, control->frames, sizeof new->frames);
    snprintf(new->fault, sizeof new->fault, "%s", fault);
}

static void print_place(const place *p, const char *program)
{
    char command[4096];
    int n = snprintf(command, sizeof command, "addr2line -spfe '%s/%s'", bin, program);
    printf("  %s allocation %ju%s: %s\n", p->onward ? "from" : "only", (uintmax_t)p->call, p->onward ? " on" : "",
           p->fault);
    if (p->count > 1) printf("    (and %ju more with the same callers)\n", (uintmax_t)(p->count - 1));
    for (size_t i = 0; i < FAULTS_FRAMES && p->frames[i]; i++)
        n += snprintf(command + n, sizeof command - (size_t)n, " 0x%jx", (uintmax_t)p->frames[i]);
    fflush(stdout);
    snprintf(command + n, sizeof command - (size_t)n, " | sed 's/^/    /'");
    if (!p->frames[0] || system(command)) puts("    (place unknown)");
}

static void try_call(const test_case *c, const result *whole, uint64_t call, bool onward, places *found)
{
    char text[600];
    const bool with_old = call % 2;
    result r;
    run(c, call, onward, with_old ? &whole->files : NULL, &r);
    const char *fault = judge_status(c, whole, &r, text, sizeof text);
    if (!fault) fault = judge_files(c, whole, &r, with_old, text, sizeof text);
    found->runs++;
    if (fault) note_fault(found, fault, call, onward);
    free_result(&r);
}

static uint64_t call_at(uint64_t index, uint64_t count)
{
    if (index < first_calls) return index + 1;
    return first_calls + 1 + (index - first_calls) * (count - first_calls) / spread_calls;
}

static uint64_t calls_tried(uint64_t count)
{
    return first_calls >= count || count - first_calls <= spread_calls ? count : first_calls + spread_calls;
}

static bool same_result(const result *a, const result *b)
{
    bool same = a->status == b->status && same_data(&a->out, &b->out) && same_data(&a->err, &b->err) &&
                a->files.count == b->files.count;
    for (size_t i = 0; same && i < a->files.count; i++) {
        const file *f = file_of(&b->files, a->files.files[i].path);
        same = f && same_data(f, &a->files.files[i]);
    }
    return same;
}

// False: something was wrong.
static bool sweep_case(const test_case *c)
{
    result whole, again;
    static places found;
    char program[64];
    found = (places){0};
    run(c, 0, false, NULL, &whole);
    run(c, 0, false, &whole.files, &again);
    sscanf(c->line, "%63s", program);
    bool good = whole.status < 125 && !whole.lingers && whole.calls && (c->kind != SAME || same_result(&whole, &again));
    if (!good) {
        printf("%s: cannot be tried: exit %d, %ju allocations, the same again: %s\n%s", c->name, whole.status,
               (uintmax_t)whole.calls, same_result(&whole, &again) ? "yes" : "no", whole.err.data);
        return false;
    }
    const uint64_t before = look_at_inputs(), all = calls_tried(whole.calls);
    const bool sampled = all < whole.calls;
    for (uint64_t i = 0; i < all; i++)
        for (int onward = 0; onward < 2; onward++)
            try_call(c, &whole, sampled ? call_at(i, whole.calls) : i + 1, onward, &found);
    const bool changed = look_at_inputs() != before;
    if (verbose || found.faults || changed)
        printf("%s: %ju of %ju allocations, %ju runs, %ju faults%s\n", c->name, (uintmax_t)all, (uintmax_t)whole.calls,
               (uintmax_t)found.runs, (uintmax_t)found.faults, changed ? "; an input was changed" : "");
    for (size_t i = 0; i < found.count; i++)
        print_place(&found.items[i], program);
    fflush(stdout);
    free_result(&whole);
    free_result(&again);
    return !found.faults && !changed;
}

// ---- the program ----

static bool parse_case(char *line, test_case *c)
{
    char kind_name[16];
    int at = 0;
    line[strcspn(line, "\n")] = 0;
    if (*line == '#' || !*line) return false;
    if (sscanf(line, "%63s %15s %n", c->name, kind_name, &at) != 2 || !line[at]) die("not a case: %s", line);
    c->kind = strcmp(kind_name, "same") == 0   ? SAME
              : strcmp(kind_name, "live") == 0 ? LIVE
              : strcmp(kind_name, "grow") == 0 ? GROW
                                               : RUN;
    snprintf(c->line, sizeof c->line, "%s", line + at);
    return true;
}

static bool is_chosen(const char *name, char *const *names)
{
    if (!*names) return true;
    for (; *names; names++)
        if (strncmp(name, *names, strlen(*names)) == 0) return true;
    return false;
}

static void prepare(void)
{
    if (!mkdtemp(scratch)) die("%s: %s", scratch, strerror(errno));
    snprintf(outputs, sizeof outputs, "%s/outputs", scratch);
    snprintf(temporary, sizeof temporary, "%s/tmp", scratch);
    snprintf(control_path, sizeof control_path, "%s/control", scratch);
    int fd = open(control_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || mkdir(outputs, 0755) || mkdir(temporary, 0755) || ftruncate(fd, sizeof *control))
        die("%s: %s", scratch, strerror(errno));
    control = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (control == MAP_FAILED) die("mmap: %s", strerror(errno));
    close(fd);
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);
    prctl(PR_SET_CHILD_SUBREAPER, 1); // of what commands leave behind, this process sees the end
}

static uint64_t number_of(const char *text)
{
    char *end;
    uint64_t value = strtoull(text, &end, 10);
    if (!*text || *end) die("not a number: %s", text);
    return value;
}

static void parse_options(int argc, char **argv)
{
    static const struct option options[] = {{"first", required_argument, NULL, 'f'},
                                            {"spread", required_argument, NULL, 's'},
                                            {"bin", required_argument, NULL, 'b'},
                                            {"verbose", no_argument, NULL, 'v'},
                                            {0}};
    for (int option; (option = getopt_long(argc, argv, "f:s:b:v", options, NULL)) != -1;) {
        if (option == 'f')
            first_calls = number_of(optarg);
        else if (option == 's')
            spread_calls = number_of(optarg);
        else if (option == 'b')
            bin = optarg;
        else if (option == 'v')
            verbose = true;
        else
            exit(2);
    }
    if (argc - optind < 3)
        die("usage: sweep [--first N] [--spread N] [--bin DIR] [--verbose] PRELOAD CASES INPUTS [NAME...]");
}

int main(int argc, char **argv)
{
    char line[2304];
    test_case c;
    size_t tried = 0, bad = 0;
    parse_options(argc, argv);
    preload = argv[optind];
    inputs = argv[optind + 2];
    FILE *cases = must(fopen(argv[optind + 1], "re"));
    prepare();
    while (fgets(line, sizeof line, cases)) {
        if (!parse_case(line, &c) || !is_chosen(c.name, argv + optind + 3)) continue;
        tried++;
        bad += !sweep_case(&c);
    }
    fclose(cases);
    char path[100];
    for (const char *const *name = (const char *const[]){"out", "err", "control", NULL}; *name; name++) {
        snprintf(path, sizeof path, "%s/%s", scratch, *name);
        unlink(path);
    }
    empty_folder(outputs);
    empty_folder(temporary);
    rmdir(outputs);
    rmdir(temporary);
    rmdir(scratch);
    printf("%zu cases, %zu with faults\n", tried, bad);
    return !tried ? 2 : bad ? 1 : 0;
}
