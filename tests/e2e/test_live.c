// Agents, a head and its nats-server as real processes, killed in the middle: what the agents' spools hold is in the head's
// journal once, in order and byte for byte, and in the recordings that are made of it.
#define _GNU_SOURCE
#include "live/journal/journal_index.h"
#include "live/spool/spool_reader.h"
#include "netprof.h"
#include "support.h"

#include "analysis/base/stb_ds.h"

#include <glob.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

enum { AGENTS = 3 };
// The second is too long for a file when each of its bytes becomes three.
#define TEN "//////////"
static const char *const names[AGENTS] = {"n1", "n 2.x" TEN TEN TEN TEN TEN TEN TEN TEN TEN, "../n3"};
static char *top, join[600];
static pid_t head, agents[AGENTS];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static const char *in_top(const char *name)
{
    static char paths[8][700];
    static unsigned next;
    char *path = paths[next++ % COUNT(paths)];
    snprintf(path, sizeof paths[0], "%s/%s", top, name);
    return path;
}

static pid_t start(const char *program, const char *log, int out, const char *const *words)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", NETPROF_TEST_BIN, program);
    pid_t child = fork();
    if (child == 0) {
        int err = open(in_top(log), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        dup2(err, 2);
        dup2(out >= 0 ? out : err, 1);
        execv(path, (char **)(uintptr_t)words);
        _exit(127);
    }
    return child;
}

// Waits for the line with which agents join: then the server is reached.
static void start_head(const char *listen)
{
    int ends[2];
    char line[600] = "";
    size_t n = 0;
    const char *const words[] = {"netprof-head", "--dir", in_top("head"), "--listen", listen, NULL};
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    head = start("netprof-head", "head.log", ends[1], words);
    close(ends[1]);
    while (n + 1 < sizeof line && read(ends[0], line + n, 1) == 1 && line[n] != '\n')
        n++;
    line[n] = 0;
    close(ends[0]);
    if (strncmp(line, "NETPROF_TOKEN=", 14) != 0) fail_msg("the head said '%s'", line);
    snprintf(join, sizeof join, "%s", line);
}

static void start_agent(int i, const char *interval)
{
    char ring[32], token[64] = "", *url = strstr(join, "nats://");
    snprintf(ring, sizeof ring, "spool%d", i);
    assert_non_null(url);
    sscanf(join, "NETPROF_TOKEN=%40[0-9a-f]", token);
    setenv("NETPROF_TOKEN", token, 1);
    const char *const words[] = {"netprof-agent", "--head",       url,      "--node",       names[i], "--spool",
                                 in_top(ring),    "--interval",   interval, "--send-every", "100ms",  "--sources",
                                 "self,netdev",   "--spool-size", "2MB",    "--spool-sync", "500ms",  NULL};
    agents[i] = start("netprof-agent", "agents.log", -1, words);
}

static bool is_server(int pid)
{
    char path[64], name[32] = "";
    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    FILE *f = fopen(path, "re");
    if (f && fscanf(f, "%31s", name) != 1) *name = 0;
    if (f) fclose(f);
    return strcmp(name, "nats-server") == 0;
}

// Of the head's children; 0: none runs now.
static pid_t server_pid(void)
{
    char path[64];
    int pid = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)head, (int)head);
    FILE *f = fopen(path, "re");
    while (f && fscanf(f, "%d", &pid) == 1 && !is_server(pid))
        pid = 0;
    if (f) fclose(f);
    return pid;
}

static void end(pid_t *child, int number)
{
    int status;
    if (*child <= 0) return;
    kill(*child, number);
    waitpid(*child, &status, 0);
    *child = 0;
    if (number == SIGTERM && status != 0) fail_msg("it ended with status %x", (unsigned)status);
}

static const journal_stream *find_stream(const journal_index *x, int i)
{
    for (size_t k = 0; k < journal_index_count(x); k++)
        if (strcmp(journal_index_stream(x, k)->node, names[i]) == 0) return journal_index_stream(x, k);
    return NULL;
}

// The highest number of a node in the journal, as who reads it from outside sees it.
static uint64_t collected(int i)
{
    char *why = NULL;
    uint64_t last = 0;
    journal_index *x = journal_index_open(in_top("head"), 0, INT64_MAX, &why);
    free(why);
    if (!x) return 0;
    const journal_stream *s = find_stream(x, i);
    if (s && arrlenu(s->stretches)) last = arrlast(s->stretches).last;
    journal_index_close(x);
    return last;
}

// Until each node has `more` ticks beyond what it had.
static void wait_for_ticks(uint64_t more)
{
    double until = now() + 60;
    uint64_t before[AGENTS];
    for (int i = 0; i < AGENTS; i++)
        before[i] = collected(i);
    for (int i = 0; i < AGENTS; i++) {
        while (collected(i) < before[i] + more) {
            if (now() > until) fail_msg("%s: nothing comes any more", names[i]);
            usleep(20000);
        }
    }
}

// Every tick of the spool is in the journal, once, at its place, with the same bytes and the same preamble.
static uint64_t compare(int i)
{
    char ring[32], *why = NULL;
    spool_tick want, got;
    uint64_t next = 1;
    snprintf(ring, sizeof ring, "spool%d", i);
    spool_reader *r = spool_reader_open(in_top(ring));
    journal_index *x = journal_index_open(in_top("head"), 0, INT64_MAX, &why);
    assert_non_null(x);
    const journal_stream *s = find_stream(x, i);
    assert_non_null(s);
    for (size_t k = 0; k < arrlenu(s->stretches); k++) {
        frame f;
        if (s->stretches[k].is_gap) fail_msg("%s: a gap from %u on", names[i], (unsigned)s->stretches[k].first);
        assert_int_equal(s->stretches[k].first, next);
        assert_true(journal_index_frame(x, &s->stretches[k], &f));
        for (size_t at = 0; frame_next(&f, &at, &got); next++) {
            assert_true(spool_reader_get(r, next, UINT64_MAX - 1, &want));
            assert_int_equal(want.number, next);
            assert_int_equal(want.wall_ns, got.wall_ns);
            assert_int_equal(want.is_key, got.is_key);
            assert_int_equal(want.size, got.size);
            assert_memory_equal(want.data, got.data, want.size);
            assert_memory_equal(want.hash, f.hash, SHA256_BYTES);
        }
    }
    if (spool_reader_get(r, next, UINT64_MAX - 1, &want)) fail_msg("%s: tick %u is lost", names[i], (unsigned)next);
    journal_index_close(x);
    spool_reader_close(r);
    return next - 1;
}

static uint64_t written(int i)
{
    char ring[32];
    spool_tick t;
    uint64_t last = 0;
    snprintf(ring, sizeof ring, "spool%d", i);
    spool_reader *r = spool_reader_open(in_top(ring));
    while (spool_reader_get(r, last + 1, UINT64_MAX - 1, &t))
        last = t.number;
    spool_reader_close(r);
    return last;
}

// An agent that reads once an hour only sends.
static void send_the_rest(void)
{
    double until = now() + 60;
    for (int i = 0; i < AGENTS; i++)
        start_agent(i, "1h");
    for (int i = 0; i < AGENTS; i++) {
        while (collected(i) < written(i)) {
            if (now() > until) fail_msg("%s: the rest is not sent", names[i]);
            usleep(20000);
        }
        end(&agents[i], SIGKILL);
    }
}

static void run_session(const char *const *words)
{
    pid_t child = start("netprof-session", "session.log", -1, words);
    int status;
    waitpid(child, &status, 0);
    if (status) fail_msg("netprof-session %s: %x", words[1], (unsigned)status);
}

// As many readings as the agent took, and none of them missing.
static void check_statistics(const char *directories, uint64_t ticks)
{
    char line[600], want[64];
    bool found = false;
    const char *const words[] = {"netprof-session", "stats", "all", "--dir", directories, NULL};
    int out = open(in_top("stats"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600), status;
    pid_t child = start("netprof-session", "session.log", out, words);
    close(out);
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    FILE *f = fopen(in_top("stats"), "re");
    snprintf(want, sizeof want, " %u ", (unsigned)ticks);
    while (fgets(line, sizeof line, f)) {
        bool is_it = strncmp(line, "n1 ", 3) == 0 && strstr(line, want) && strstr(line, " 0\n");
        found |= is_it;
    }
    fclose(f);
    if (!found) fail_msg("stats: no line with%s readings of n1 and 0 missing", want);
}

static uint64_t count_snapshots(const char *path)
{
    netprof_reader *r;
    netprof_item item;
    uint64_t count = 0;
    assert_int_equal(netprof_reader_open(&r, path, NULL, NULL), NETPROF_OK);
    int64_t last = 0;
    do {
        assert_int_equal(netprof_reader_next(r, &item, NULL), NETPROF_OK);
        assert_int_not_equal(item.type, NETPROF_ITEM_DAMAGE);
        if (item.type != NETPROF_ITEM_SNAPSHOT) continue;
        assert_true(item.snapshot->wall_ns > last);
        last = item.snapshot->wall_ns;
        count++;
    } while (item.type != NETPROF_ITEM_END);
    netprof_reader_close(r);
    return count;
}

// Until the head has started another one than this.
static void wait_for_server(pid_t ended)
{
    double until = now() + 60;
    for (pid_t pid = server_pid(); pid <= 0 || pid == ended; pid = server_pid()) {
        if (now() > until) fail_msg("the server is not started again");
        usleep(20000);
    }
}

// What the server says is kept up to a bound, and what it said before a restart is there.
static void check_log(void)
{
    char *text = calloc(1, 5 << 20);
    struct stat st;
    double until = now() + 60;
    assert_int_equal(stat(in_top("head/server.log.1"), &st), 0);
    int fd = open(in_top("head/server.log"), O_WRONLY | O_APPEND | O_CLOEXEC);
    assert_int_equal(write(fd, memset(text, '.', 5 << 20), 5 << 20), 5 << 20);
    close(fd);
    free(text);
    while (stat(in_top("head/server.log"), &st) || st.st_size > 1 << 20) {
        if (now() > until) fail_msg("the server's log has no bound");
        usleep(20000);
    }
    assert_int_equal(stat(in_top("head/server.log.1"), &st), 0);
    assert_int_equal(st.st_size, 1 << 20);
}

static void test_killed(void **state)
{
    char *listen;
    uint64_t ticks[AGENTS];
    (void)state;
    start_head("127.0.0.1:0");
    for (int i = 0; i < AGENTS; i++)
        start_agent(i, "20ms");
    wait_for_ticks(20);
    end(&agents[0], SIGKILL);
    start_agent(0, "20ms");
    wait_for_ticks(20);
    listen = strdup(strstr(join, "nats://") + 7);
    end(&head, SIGKILL);
    usleep(200000); // agents go on reading
    end(&agents[1], SIGKILL);
    start_agent(1, "20ms");
    start_head(listen);
    wait_for_ticks(20);
    pid_t server = server_pid();
    assert_true(server > 0);
    kill(server, SIGKILL);
    wait_for_server(server);
    wait_for_ticks(20);
    check_log();
    for (int i = 0; i < AGENTS; i++)
        end(&agents[i], SIGTERM);
    send_the_rest();
    end(&head, SIGTERM);
    for (int i = 0; i < AGENTS; i++) {
        ticks[i] = compare(i);
        assert_true(ticks[i] >= 60);
    }
    // A session that begins in the past, without a head.
    const char *const begin[] = {"netprof-session", "start", "all", "--dir", in_top("head"), "--since", "1h", NULL};
    const char *const export[] = {"netprof-session", "export", "all",         "--dir",
                                  in_top("head"),    "-o",     in_top("out"), NULL};
    run_session(begin);
    run_session(export);
    assert_int_equal(count_snapshots(in_top("out/n1.netprof")), ticks[0]);
    // What two heads have is there once.
    char twice[1400];
    snprintf(twice, sizeof twice, "%s,%s", in_top("head"), in_top("head"));
    const char *const both[] = {"netprof-session", "export", "all", "--dir", twice, "-o", in_top("both"), NULL};
    run_session(both);
    assert_int_equal(count_snapshots(in_top("both/n1.netprof")), ticks[0]);
    check_statistics(twice, ticks[0]);
    glob_t found;
    assert_int_equal(glob(in_top("out/n%202%2Ex%2F*.netprof"), 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 1);
    assert_int_equal(count_snapshots(found.gl_pathv[0]), ticks[1]);
    globfree(&found);
    assert_int_equal(count_snapshots(in_top("out/%2E%2E%2Fn3.netprof")), ticks[2]);
    free(listen);
}

static int set_up(void **state)
{
    (void)state;
    top = tree_make();
    return 0;
}

static void print_log(const char *name)
{
    char line[400];
    FILE *f = fopen(in_top(name), "re");
    while (f && fgets(line, sizeof line, f))
        fprintf(stderr, "# %s: %s", name, line);
    if (f) fclose(f);
}

static int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < AGENTS; i++)
        end(&agents[i], SIGKILL);
    end(&head, SIGKILL);
    print_log("head.log");
    print_log("agents.log");
    print_log("session.log");
    tree_remove(top);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_killed, set_up, tear_down)};
    if (system("command -v nats-server >/dev/null") != 0) {
        printf("1..0 # skip: no nats-server\n");
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
