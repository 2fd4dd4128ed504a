// netprof-findings: judges what a head collects, window by window, by the rules of netprof check. A process of its own, so
// that nothing that it does delays a commit; the head starts it.
#define _GNU_SOURCE
#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"
#include "judge_check.h"
#include "judge_hosts.h"
#include "judge_json.h"
#include "judge_take.h"
#include "live/session/session_document.h"
#include "live/session/session_export.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// Nodes of one call, each by itself, so that memory does not grow with their number; of a session nodes are compared, up
// to a bound: with all that they read up to another one, above it by the fast set, a reading every 5 s.
enum { JUDGE_APART = 128, JUDGE_COMPARED = 16384 };
static const double judge_share = 4; // of the time that it took so much passes: a quarter of a processor

static char *directory, *window_text, *every_text, *lag_text;
static int once, whole_most = 2000;

static const struct poptOption options[] = {
    {"dir", 0, POPT_ARG_STRING, &directory, 0, "the head's directory (else the variable NETPROF_HEAD)", "DIR"},
    {"window", 0, POPT_ARG_STRING, &window_text, 0, "judge so much at a time (1m)", "TIME"},
    {"every", 0, POPT_ARG_STRING, &every_text, 0, "at most so often (10s)", "TIME"},
    {"lag", 0, POPT_ARG_STRING, &lag_text, 0, "up to so long ago, since readings take their time to come (10s)",
     "TIME"},
    {"whole", 0, POPT_ARG_INT, &whole_most, 0,
     "compare nodes of a session by all that they read up to so many; of more by the fast set, every 5 s (2000)", "N"},
    {"once", 0, POPT_ARG_NONE, &once, 0, "one window, and end", NULL},
    POPT_TABLEEND,
};

typedef struct judging {
    judge j;
    int64_t window_ns, every_ns, lag_ns;
    char *work; // the directory of recordings, an absolute path
    int lock;   // of it
    sigset_t stop;
    bool ended;
    int refused; // the errno with which findings.json could not be written
} judging;

static int64_t judging_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// ---- files ----

// Its own files alone are in it.
static void judging_clear(const judging *g)
{
    const struct timespec nap = {.tv_nsec = 3000000};
    size_t files = 0;
    DIR *d = opendir(g->work);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] == '.') continue;
        unlinkat(dirfd(d), e->d_name, 0);
        if (++files > 500 && files % 16 == 0) nanosleep(&nap, NULL); // as when they are written
    }
    if (d) closedir(d);
}

// One judge for a head: that of a head which was killed ends soon.
static int judging_lock(judging *g)
{
    const struct timespec nap = {.tv_nsec = 200000000};
    g->lock = open(g->work, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (g->lock < 0) return fail_file(EXIT_FILE, g->work, "%s", strerror(errno));
    while (flock(g->lock, LOCK_EX | LOCK_NB)) {
        if (errno != EWOULDBLOCK) return fail_file(EXIT_FILE, g->work, "%s", strerror(errno));
        if (once) return fail_file(EXIT_FILE, directory, "a head judges here already");
        g->ended |= sigtimedwait(&g->stop, NULL, &nap) > 0;
        if (g->ended) break;
    }
    return EXIT_DONE;
}

static int judging_open(judging *g)
{
    char *whole = realpath(directory, NULL);
    struct stat st;
    if (!whole) return fail_file(EXIT_FILE, directory, "%s", strerror(errno));
    g->work = memory_format("%s/findings.work", whole);
    free(whole);
    if (mkdir(g->work, 0700) && errno != EEXIST) return fail_file(EXIT_FILE, g->work, "%s", strerror(errno));
    if (lstat(g->work, &st) || !S_ISDIR(st.st_mode) || st.st_uid != geteuid())
        return fail_file(EXIT_FILE, g->work, "it is no directory of this user");
    int code = judging_lock(g);
    if (code) return code;
    judging_clear(g); // what one that was killed left
    g->j.directory = directory;
    char *path = memory_format("%s/findings.json", directory);
    json_object *before = session_read_document(path);
    if (before) judge_go_on(&g->j, before);
    json_object_put(before);
    free(path);
    return EXIT_DONE;
}

// ---- groups ----

static bool judging_goes_on(const judging *g, const session *s)
{
    return s->start_ns < g->j.window.to_ns && (!s->stop_ns || s->stop_ns >= g->j.window.to_ns);
}

static bool judging_is_same(const judge_group *a, const judge_group *b)
{
    return a->small == b->small && arrlenu(a->hosts) == arrlenu(b->hosts) &&
           memcmp(a->hosts, b->hosts, arrlenu(a->hosts) * sizeof *a->hosts) == 0;
}

static size_t judging_count(const judging *g, const session *s)
{
    size_t count = 0;
    for (size_t i = 0; i < arrlenu(g->j.hosts); i++)
        count += session_takes_node(s, g->j.hosts[i].name);
    return count;
}

static bool judging_is_wide(const judging *g, const session *s)
{
    size_t count = judging_count(g, s);
    return count > (size_t)whole_most && count <= JUDGE_COMPARED;
}

// Before the window is written: of which nodes small files are needed.
static void judging_find_wide(judging *g, const session *sessions)
{
    for (size_t k = 0; k < arrlenu(sessions); k++) {
        if (!judging_goes_on(g, &sessions[k]) || !judging_is_wide(g, &sessions[k])) continue;
        for (size_t i = 0; i < arrlenu(g->j.hosts); i++)
            g->j.hosts[i].wide |= session_takes_node(&sessions[k], g->j.hosts[i].name);
    }
}

// The nodes of a session that goes on belong together. Returns the number of its group, from 1; 0: none has all of them.
static size_t judging_group_session(judging *g, const session *s, judge_group **groups)
{
    judge_group one = {.session = s->name, .small = judging_is_wide(g, s)};
    bool whole = true;
    size_t known = 0, most = one.small ? JUDGE_COMPARED : (size_t)whole_most;
    for (size_t i = 0; i < arrlenu(g->j.hosts); i++) {
        const judge_host *h = &g->j.hosts[i];
        if (!session_takes_node(s, h->name)) continue;
        const char *file = judge_file_of(&g->j, &one, i);
        whole &= file || h->state == JUDGE_GONE;
        if (file) arrput(one.hosts, i);
    }
    bool fits = arrlenu(one.hosts) >= 2 && arrlenu(one.hosts) <= most;
    for (size_t i = 0; i < arrlenu(*groups) && fits && !known; i++)
        known = judging_is_same(&(*groups)[i], &one) ? i + 1 : 0;
    if (known || !fits) {
        arrfree(one.hosts);
        return whole ? known : 0;
    }
    for (size_t i = 0; i < arrlenu(one.hosts) && !one.small; i++) // else each is judged by all of it, too, by itself
        g->j.hosts[one.hosts[i]].grouped = true;
    arrput(*groups, one);
    return whole ? arrlenu(*groups) : 0;
}

static judge_group *judging_groups(judging *g, const session *sessions)
{
    judge_group *groups = NULL;
    shfree(g->j.sessions);
    sh_new_strdup(g->j.sessions);
    for (size_t i = 0; i < arrlenu(sessions); i++) {
        if (!judging_goes_on(g, &sessions[i])) continue;
        shput(g->j.sessions, sessions[i].name, judging_group_session(g, &sessions[i], &groups));
    }
    judge_group rest = {.session = NULL};
    for (size_t i = 0; i < arrlenu(g->j.hosts); i++) {
        if (!g->j.hosts[i].file || g->j.hosts[i].grouped) continue;
        arrput(rest.hosts, i);
        if (arrlenu(rest.hosts) < JUDGE_APART) continue;
        arrput(groups, rest);
        rest = (judge_group){.session = NULL};
    }
    if (arrlenu(rest.hosts)) arrput(groups, rest);
    return groups;
}

static void judging_not_judged(judging *g, const judge_group *group, const char *why)
{
    for (size_t i = 0; i < arrlenu(group->hosts); i++) {
        judge_host *h = &g->j.hosts[group->hosts[i]];
        if (h->state == JUDGE_JUDGED && h->text) continue; // by another group
        free(h->text);
        h->state = JUDGE_FAILED;
        h->severity = SEVERITY_UNKNOWN;
        h->text = memory_strdup(why);
    }
}

static void judging_group(judging *g, judge_group *group, judge_raw **to)
{
    const char **files = NULL;
    judge_checked c;
    for (size_t i = 0; i < arrlenu(group->hosts); i++)
        arrput(files, judge_file_of(&g->j, group, group->hosts[i]));
    judge_check(&c, g->work, files, arrlenu(files), !group->session, &g->stop);
    g->j.window.cpu_s += c.cpu_s;
    g->ended |= c.ended;
    if (c.told) {
        group->told = json_object_get(c.told);
        judge_take_group(&g->j, group, to);
    } else {
        judging_not_judged(g, group, c.why);
    }
    judge_checked_free(&c);
    arrfree(files);
}

// ---- a window ----

static double judging_own_cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void judging_begin_window(judging *g)
{
    judge *j = &g->j;
    j->window.wall_ns = judging_clock(CLOCK_REALTIME);
    j->window.to_ns = j->window.wall_ns - g->lag_ns;
    j->window.from_ns = j->window.to_ns - g->window_ns;
    j->window.cpu_s = 0;
    // A node stays known after its rows are forgotten, and after the head was started anew.
    for (size_t i = 0; i < arrlenu(j->hosts); i++) {
        judge_host *h = &j->hosts[i];
        free(h->text);
        free(h->file);
        free(h->small);
        *h = (judge_host){.name = h->name, .last_ns = h->last_ns, .silent_ns = -1, .severity = SEVERITY_OK};
    }
    judge_take_status(j, j->window.wall_ns);
}

static void judging_judge(judging *g, session *sessions)
{
    judge_group *groups = judging_groups(g, sessions);
    size_t count = arrlenu(groups);
    judge_raw **lists = memory_calloc(count + 1, sizeof *lists);
    for (size_t i = 0; i < count && !g->ended; i++)
        judging_group(g, &groups[i], &lists[i]);
    for (size_t i = 0; i < shlenu(g->j.sessions); i++) {
        size_t group = g->j.sessions[i].value;
        if (group && !groups[group - 1].told) g->j.sessions[i].value = 0;
    }
    if (!g->ended) {
        judge_raw *raw = judge_merge(lists, count);
        judge_conclude(&g->j, groups, count, raw);
        judge_update(&g->j, raw, g->window_ns);
    }
    for (size_t i = 0; i < count; i++) {
        json_object_put(groups[i].told);
        arrfree(groups[i].hosts);
        free(groups[i].text);
    }
    arrfree(groups);
    free(lists);
}

static int judging_window(judging *g)
{
    session *sessions = NULL;
    double cpu = judging_own_cpu();
    judging_begin_window(g);
    session_list(g->j.directory, &sessions); // of those that can be read
    judging_find_wide(g, sessions);
    int code = judge_write_window(&g->j, g->work);
    if (!code) judging_judge(g, sessions);
    session_list_free(&sessions);
    judging_clear(g);
    g->j.window.cpu_s += judging_own_cpu() - cpu;
    double every = (double)g->every_ns / 1e9, most = judge_share * g->j.window.cpu_s;
    g->j.window.every_s = every > most ? every : most;
    if (code || g->ended) return code;
    char *text = judge_json(&g->j);
    int error = judge_write(g->j.directory, text);
    free(text);
    if (error && error != g->refused) warn("%s/findings.json: %s", safe(g->j.directory), strerror(error));
    g->refused = error;
    return EXIT_DONE;
}

static int judging_loop(judging *g)
{
    int code = EXIT_DONE;
    while (!g->ended) {
        int64_t begun = judging_clock(CLOCK_MONOTONIC);
        code = judging_window(g);
        if (once) break;
        int64_t left = begun + (int64_t)(g->j.window.every_s * 1e9) - judging_clock(CLOCK_MONOTONIC);
        if (left < 100000000) left = 100000000;
        const struct timespec nap = {left / 1000000000, left % 1000000000};
        g->ended |= sigtimedwait(&g->stop, NULL, &nap) > 0;
    }
    return once ? code : EXIT_DONE;
}

static int judging_time(const char *name, const char *text, const char *otherwise, int64_t *ns)
{
    if (parse_duration(text ? text : otherwise, ns)) return EXIT_DONE;
    return fail_usage("%s: %s: expected a time like 100ms, 2s or 1m", name, safe(text));
}

static int judging_run(const char **arguments, size_t count)
{
    judging g = {.lock = -1};
    const char *variable = getenv("NETPROF_HEAD");
    (void)arguments;
    if (count) return fail_usage("expected no arguments");
    if (!directory && variable) directory = memory_strdup(variable);
    if (!directory || !*directory) return fail_usage("--dir DIR is needed: the head's directory");
    if (judging_time("--window", window_text, "1m", &g.window_ns) ||
        judging_time("--every", every_text, "10s", &g.every_ns) || judging_time("--lag", lag_text, "10s", &g.lag_ns))
        return EXIT_USAGE;
    if (whole_most < 1 || whole_most > JUDGE_COMPARED)
        return fail_usage("--whole: %d: expected 1 to %d", whole_most, JUDGE_COMPARED);
    sigemptyset(&g.stop);
    sigaddset(&g.stop, SIGINT);
    sigaddset(&g.stop, SIGTERM);
    sigaddset(&g.stop, SIGHUP);
    sigprocmask(SIG_BLOCK, &g.stop, NULL);
    int code = judging_open(&g);
    if (!code) code = judging_loop(&g);
    if (g.lock >= 0) close(g.lock);
    free(g.work);
    judge_free(&g.j);
    return code;
}

static const command judging_command = {
    .name = "findings",
    .summary = "judge what a head collects, window by window; netprof head starts it by itself",
    .arguments = "[--dir DIR] [--window TIME] [--every TIME]",
    .text =
        "Judges the last minute of each node by the rules of netprof check, again and again, and writes what it "
        "finds,\n"
        "since when, into DIR/findings.json: netprof session findings shows it. Nodes of a session that goes on are\n"
        "held against each other, as those of one job; others are judged each by itself. A finding that is not seen\n"
        "for a whole window has ended. It takes at most a quarter of a processor: where nodes are so many that a\n"
        "window costs more, it is judged less often, and the file says how often.",
    .examples = "netprof findings --dir head --once\n"
                "netprof findings --dir head --window 5m --every 1m --once",
    .exits = "0 done, 2 wrong usage, 3 a file could not be read or written.",
    .options = options,
    .run = judging_run,
};

int main(int argc, char **argv)
{
    return command_program(&judging_command, argc, argv);
}
