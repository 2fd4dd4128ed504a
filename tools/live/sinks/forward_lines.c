#define _GNU_SOURCE
#include "forward_lines.h"

#include "cli/common.h"
#include "cli/helper_program.h"
#include "live/session/session_export.h"

#include "analysis/base/memory.h"
#include "analysis/base/put.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Nodes and intervals of one call of netprof export, so that memory does not grow with what there is to catch up.
enum { FORWARD_NODES = 256, FORWARD_INTERVALS = 60 };
// Where this many nodes fail one after the other, it is not the nodes.
enum { FORWARD_LEFT_OUT = 8 };
static const int64_t forward_pause_ns = 60000000000;
#define FORWARD_LINES "lines.text"
#define FORWARD_ERR   "lines.err"

// ---- lines ----

bool forward_line(char *line, size_t *size, int64_t interval_ns, int64_t after, int64_t last, bool ns)
{
    char *end = line + *size - 1, *stamp = end;
    if (*end != '\n') return false;
    while (stamp > line && stamp[-1] != ' ')
        stamp--;
    int64_t time_ns = strtoll(stamp, NULL, 10), place = time_ns / interval_ns;
    if (stamp == line || time_ns <= 0 || place <= after || place > last) return false;
    if (ns) return true;
    *size = (size_t)(stamp - line) + (size_t)sprintf(stamp, "%lld\n", (long long)(time_ns / 1000000000));
    return true;
}

// Whole lines, as much as one message may hold.
static target_answer forward_send_lines(forward *f, char *batch, uint64_t count)
{
    if (!arrlenu(batch)) return TARGET_TAKEN;
    target_answer answer = target_send(f->lines, batch, arrlenu(batch));
    if (answer == TARGET_TAKEN) f->line_counts.sent += count;
    if (answer == TARGET_LATER) f->line_counts.failed++;
    if (answer != TARGET_REFUSED) return answer;
    if (!f->line_counts.refused)
        warn("%s: %s: such lines are left out", safe(target_name(f->lines)), safe(target_problem(f->lines)));
    f->line_counts.refused += count;
    return TARGET_TAKEN;
}

// False: the target did not take all; it is tried again, the first of it too.
static bool forward_send_file(forward *f, int64_t after, int64_t last)
{
    char *path = memory_format("%s/%s", f->work, FORWARD_LINES), *line = NULL, *batch = NULL;
    FILE *in = fopen(path, "re");
    size_t room = 0;
    uint64_t count = 0;
    ssize_t n;
    target_answer answer = TARGET_TAKEN;
    free(path);
    while (in && answer == TARGET_TAKEN && (n = getline(&line, &room, in)) > 0) {
        size_t size = (size_t)n;
        if (!forward_line(line, &size, f->filter.interval_ns, after, last, f->ns)) continue;
        if (arrlenu(batch) + size > target_most(f->lines)) {
            answer = forward_send_lines(f, batch, count);
            count = 0;
            if (batch) arrsetlen(batch, 0);
        }
        memcpy(arraddnptr(batch, size), line, size);
        count++;
    }
    if (answer == TARGET_TAKEN) answer = forward_send_lines(f, batch, count);
    if (in) fclose(in);
    free(line);
    arrfree(batch);
    return answer == TARGET_TAKEN;
}

// ---- netprof export ----

static void forward_become(const forward *f, char *program, char **words, pid_t parent)
{
    sigset_t none;
    if (chdir(f->work)) _exit(126);
    int out = open(FORWARD_LINES, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600),
        err = open(FORWARD_ERR, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (out < 0 || err < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0) _exit(126);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(126);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvp(program, words);
    _exit(127);
}

static void forward_word(char ***words, const char *word)
{
    arrput(*words, memory_strdup(word));
}

static char **forward_words(const forward *f, const char *program, char **files)
{
    static const char *const fixed[] = {"--to", "influx", "--what", "snapshots,series", "-o", "-"};
    char **words = NULL;
    forward_word(&words, program);
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        forward_word(&words, fixed[i]);
    if (f->cluster) arrput(words, memory_format("--tag=cluster=%s", f->cluster));
    for (size_t i = 0; i < arrlenu(f->tags); i++)
        arrput(words, memory_format("--tag=%s", f->tags[i]));
    for (size_t i = 0; i < arrlenu(files); i++)
        forward_word(&words, files[i]);
    arrput(words, NULL);
    return words;
}

static int forward_wait(forward *f, pid_t child)
{
    const struct timespec nap = {.tv_nsec = 20000000};
    int status = 0;
    while (waitpid(child, &status, WNOHANG) != child) {
        if (sigtimedwait(f->stop, NULL, &nap) <= 0) continue;
        f->ended = true;
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        return EXIT_FILE;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FILE;
}

// The lines of these recordings, in a file.
static int forward_export(forward *f, char **files)
{
    char *program = helper_program("netprof-export"), **words = forward_words(f, "netprof-export", files);
    pid_t parent = getpid(), child = fork();
    if (child == 0) forward_become(f, program, words, parent);
    int code = child < 0 ? EXIT_FILE : forward_wait(f, child);
    for (size_t i = 0; i + 1 < arrlenu(words); i++)
        free(words[i]);
    arrfree(words);
    free(program);
    return code;
}

// ---- which intervals of which nodes ----

typedef struct forward_due {
    size_t stream; // the first of the node
    int64_t after; // it is forwarded up to here
    int64_t next;  // of its next reading, however long it was away
    int64_t last;  // of the last that one batch takes
} forward_due;

static int forward_order(const void *a, const void *b)
{
    const forward_due *x = a, *y = b;
    if (x->after != y->after) return x->after < y->after ? -1 : 1;
    if (x->last != y->last) return x->last < y->last ? -1 : 1;
    return x->stream < y->stream ? -1 : x->stream > y->stream;
}

// How far this node is forwarded with that. What cannot be read now never can be: later readings do not wait for it.
static int64_t forward_reached(const session_written *w, const forward_due *due, int64_t interval_ns, int64_t last)
{
    int64_t reached = w->last_ns / interval_ns;
    if (w->snapshots && reached > due->after) return reached;
    if (due->last < last) return due->last;
    return w->snapshots ? due->after : due->next;
}

// The other nodes go on without it.
static void forward_leave_out(forward *f, const char *node, const char *why)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    warn("%s: %s: it is left out, and tried again in a minute", safe(node), why);
    shput(f->left_out, node, (int64_t)now.tv_sec * 1000000000 + forward_pause_ns);
    f->line_counts.failed++;
}

// Of one batch: recordings of its nodes, as far as they can be made, and how far each node is forwarded with that.
static char **forward_make_files(forward *f, journal_index *x, const forward_due *due, size_t count, int64_t last,
                                 int64_t *reached)
{
    session window = f->filter;
    char **files = NULL;
    // With the reading before, so that there is a rate of the first.
    window.start_ns = due[0].after * window.interval_ns;
    window.stop_ns = (due[0].last + 1) * window.interval_ns - 1;
    for (size_t i = 0; i < count; i++) {
        const char *node = journal_index_stream(x, due[i].stream)->node;
        session_written w = {.snapshots = 0};
        char *path = session_file_path(f->work, node);
        int code = path ? session_export_node(x, due[i].stream, &window, window.stop_ns, path, &w) : EXIT_DONE;
        reached[i] = code ? due[i].after : forward_reached(&w, &due[i], window.interval_ns, last);
        if (code) forward_leave_out(f, node, "no recording of it could be made");
        if (!code && path && w.snapshots) arrput(files, memory_format("./%s", strrchr(path, '/') + 1));
        free(path);
    }
    return files;
}

// One batch: nodes that stand at the same interval. *moved: one of them is forwarded further now. Returns an exit code: no lines
// could be made.
static int forward_batch(forward *f, journal_index *x, const forward_due *due, size_t count, int64_t last, bool *fails,
                         bool *moved)
{
    int64_t after = due[0].after, *reached = memory_calloc(count, sizeof *reached);
    char **files = forward_make_files(f, x, due, count, last, reached);
    int code = arrlenu(files) ? forward_export(f, files) : EXIT_DONE;
    bool sent = !code && (!arrlenu(files) || forward_send_file(f, after, due[0].last));
    *fails |= !code && !sent;
    for (size_t i = 0; i < count && sent; i++) {
        if (reached[i] <= after) continue;
        shput(f->nodes, journal_index_stream(x, due[i].stream)->node, reached[i]);
        *moved = true;
    }
    for (size_t i = 0; i < arrlenu(files); i++) {
        char *path = memory_format("%s/%s", f->work, files[i]);
        unlink(path);
        free(path);
        free(files[i]);
    }
    arrfree(files);
    free(reached);
    return code;
}

// The same; where no lines can be made of all together, half by half, down to the node whose fault it is.
static int forward_halves(forward *f, journal_index *x, const forward_due *due, size_t count, int64_t last, bool *fails,
                          bool *moved)
{
    uint64_t before = f->line_counts.failed;
    int code = forward_batch(f, x, due, count, last, fails, moved);
    if (!code || f->ended) return code;
    if (count == 1) {
        char *why = memory_format("netprof export made no lines of it (exit code %d; see %s/%s)", code, safe(f->work),
                                  FORWARD_ERR);
        forward_leave_out(f, journal_index_stream(x, due->stream)->node, why);
        free(why);
        return EXIT_DONE;
    }
    code = forward_halves(f, x, due, count / 2, last, fails, moved);
    if (!code && f->line_counts.failed - before >= FORWARD_LEFT_OUT)
        code = fail(EXIT_FILE, "netprof export makes no lines; see %s/%s", safe(f->work), FORWARD_ERR);
    if (code || *fails || f->ended) return code;
    return forward_halves(f, x, due + count / 2, count - count / 2, last, fails, moved);
}

static bool forward_is_left_out(const forward *f, const char *node, int64_t wall_ns)
{
    forward_left_out *left_out = f->left_out;
    ptrdiff_t i = shgeti(left_out, node);
    return i >= 0 && wall_ns < left_out[i].value;
}

// What is older than it may be is given up, and counted.
static int64_t forward_start(forward *f, const char *node, int64_t oldest)
{
    ptrdiff_t i = shgeti(f->nodes, node);
    int64_t after = i >= 0 ? f->nodes[i].value : f->first;
    if (after >= oldest) return after;
    if (i >= 0) f->line_counts.dropped += (uint64_t)(oldest - after);
    shput(f->nodes, node, oldest);
    return oldest;
}

// The interval of the node's first reading behind `after`, of all its spools; INT64_MAX: there is none. *newest: of its last.
static int64_t forward_next(const forward *f, const journal_index *x, size_t first, int64_t after, int64_t *newest)
{
    int64_t next = INT64_MAX, interval = f->filter.interval_ns;
    *newest = 0;
    size_t stream = first;
    do {
        const journal_stream *s = journal_index_stream(x, stream);
        stream = s->after;
        if (s->last_ns / interval > *newest) *newest = s->last_ns / interval;
        for (size_t k = 0; k < arrlenu(s->stretches); k++) {
            const journal_stretch *t = &s->stretches[k];
            int64_t begin = t->first_ns / interval;
            if (t->is_gap || t->last_ns / interval <= after) continue;
            if (begin <= after) begin = after + 1;
            if (begin < next) next = begin;
            break;
        }
    } while (stream);
    return next;
}

// *least: the interval behind which the first of them is to be forwarded, where that is less.
static forward_due *forward_find_due(forward *f, const journal_index *x, int64_t wall_ns, int64_t last, int64_t oldest,
                                     int64_t *least)
{
    forward_due *due = NULL;
    for (size_t i = 0; i < journal_index_count(x); i++) {
        const char *node = journal_index_stream(x, i)->node;
        if (!journal_index_stream(x, i)->is_first || !session_takes_node(&f->filter, node) ||
            forward_is_left_out(f, node, wall_ns))
            continue;
        ptrdiff_t known = shgeti(f->nodes, node);
        int64_t before = known >= 0 ? f->nodes[known].value : f->first, newest,
                next = forward_next(f, x, i, before > oldest ? before : oldest, &newest);
        if (newest <= before) continue; // a node that is away
        int64_t after = forward_start(f, node, oldest), most = last;
        if (after < *least) *least = after;
        if (next > last) continue;
        if (next + FORWARD_INTERVALS - 1 < last) most = next + FORWARD_INTERVALS - 1;
        arrput(due, ((forward_due){i, after, next, most}));
    }
    if (due) qsort(due, arrlenu(due), sizeof *due, forward_order);
    return due;
}

static int64_t forward_least(const forward *f, int64_t last, int64_t oldest)
{
    int64_t least = last;
    for (size_t i = 0; i < shlenu(f->nodes); i++)
        if (f->nodes[i].value >= oldest && f->nodes[i].value < least) least = f->nodes[i].value;
    return f->first > oldest && f->first < least ? f->first : least;
}

static journal_index *forward_open(const forward *f, int64_t from, int64_t wall_ns)
{
    char *why = NULL;
    journal_index *x = journal_index_open(f->directory, from * f->filter.interval_ns, wall_ns, &why);
    if (!x) fail(EXIT_FILE, "%s", safe(why));
    free(why);
    return x;
}

// Batch by batch. *more: there were too many intervals for one.
static int forward_all(forward *f, journal_index *x, const forward_due *due, int64_t last, bool *fails, bool *more)
{
    int code = EXIT_DONE;
    *more = false;
    for (size_t i = 0, n; i < arrlenu(due) && !code && !*fails && !f->ended; i += n) {
        bool moved = false;
        for (n = 1; i + n < arrlenu(due) && n < FORWARD_NODES && due[i + n].after == due[i].after &&
                    due[i + n].last == due[i].last;)
            n++;
        code = forward_halves(f, x, &due[i], n, last, fails, &moved);
        *more |= moved && due[i].last < last;
    }
    return code;
}

int forward_lines(forward *f, int64_t wall_ns)
{
    static bool failing;
    int64_t interval = f->filter.interval_ns, last = (wall_ns - f->lag_ns) / interval - 1,
            oldest = (wall_ns - f->keep_ns) / interval, from = forward_least(f, last, oldest), least = from;
    bool fails = false, more = true;
    int code = EXIT_DONE;
    journal_index *x = forward_open(f, from, wall_ns);
    forward_due *due = x ? forward_find_due(f, x, wall_ns, last, oldest, &least) : NULL;
    if (x && least < from) { // a node that is new here, or comes back after long
        journal_index_close(x);
        x = forward_open(f, least, wall_ns);
        arrfree(due);
        if (x) due = forward_find_due(f, x, wall_ns, last, oldest, &least);
    }
    if (!x) return EXIT_FILE;
    while (more && !code && !fails && !f->ended) {
        code = forward_all(f, x, due, last, &fails, &more);
        arrfree(due);
        if (more) due = forward_find_due(f, x, wall_ns, last, oldest, &least);
        int error = forward_write_state(f);
        if (error && !code) code = fail_file(EXIT_FILE, f->work, "%s", strerror(error));
    }
    arrfree(due);
    journal_index_close(x);
    forward_say(&failing, f->lines, fails, &f->line_counts, "lines");
    return code;
}
