// Recordings that end badly. The recorder reads a tree of ours, and an independent witness knows which readings it
// began: inotify tells, in their order, that the recording was created and each read of the file behind that; and the
// file's value then moves on. When reading N + 1 has begun, reading N was complete; so whatever the instant of a kill -9, all readings but the last that began must be in the file, and their
// values must be neighbours.
//
// NETPROF_TEST_KILLS=200 build/tests/test_record_kill: more kills than the few of a usual run.
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "netprof.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char root[] = "/tmp/netprof-kill-XXXXXX";
static char file[128], stat_path[128];

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// ---- the witness ----

typedef struct witness {
    int events, file;
    uint64_t value; // what the file holds now: 0, then 1 and one more for each read that was seen
    uint64_t reads; // that began since the recording is there; two that nobody saw apart are one
    bool there;
    int64_t looked_ns, blind_ns; // when it looked last; the longest time in which two may have become one
} witness;

// In place: the recorder keeps its descriptor.
static void put_value(witness *w, uint64_t value)
{
    char text[128];
    int n = snprintf(text, sizeof text, "cpu  %012llu 0 0 0 0 0 0 0 0 0\n", (unsigned long long)value);
    w->value = value;
    assert_int_equal(pwrite(w->file, text, (size_t)n, 0), n);
}

// Of a recording in that folder.
static void witness_open_in(witness *w, const char *folder)
{
    memset(w, 0, sizeof *w);
    w->file = open(stat_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(w->file >= 0);
    put_value(w, 0);
    w->events = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    assert_true(w->events >= 0);
    assert_true(inotify_add_watch(w->events, stat_path, IN_ACCESS) >= 0);
    assert_true(inotify_add_watch(w->events, folder, IN_CREATE) >= 0);
    w->looked_ns = now_ns();
}

static void witness_open(witness *w)
{
    witness_open_in(w, root);
}

// What comes from now on is another event than what was seen.
static void note_look(witness *w, int64_t begin_ns)
{
    int64_t end_ns = now_ns();
    if (end_ns - w->looked_ns > w->blind_ns) w->blind_ns = end_ns - w->looked_ns;
    w->looked_ns = begin_ns;
}

// What came until then; each read moves the value on.
static void witness_look(witness *w, int64_t until_ns)
{
    char buffer[8192] __attribute__((aligned(8)));
    for (;;) {
        int64_t left = until_ns - now_ns();
        struct pollfd fd = {.fd = w->events, .events = POLLIN};
        struct timespec wait = {0, left > 0 ? left % 1000000000 : 0};
        ppoll(&fd, 1, &wait, NULL);
        int64_t begin = now_ns();
        ssize_t n = read(w->events, buffer, sizeof buffer);
        note_look(w, begin);
        if (n <= 0) return;
        for (ssize_t at = 0; at < n;) {
            const struct inotify_event *event = (const void *)(buffer + at);
            at += (ssize_t)(sizeof *event + event->len);
            if (event->mask & IN_CREATE) {
                w->there = true;
                w->reads = 0;
                put_value(w, 1);
            } else if (w->there) {
                w->reads++;
                put_value(w, w->value + 1);
            }
        }
        if (left <= 0) return;
    }
}

static void wait_for_reads(witness *w, uint64_t count)
{
    for (int64_t until = now_ns() + INT64_C(60000000000); !w->there || w->reads < count;) {
        witness_look(w, now_ns() + 1000000);
        if (now_ns() > until) fail_msg("no %llu readings in a minute", (unsigned long long)count);
    }
}

static void witness_close(witness *w)
{
    close(w->events);
    close(w->file);
}

// ---- the recorder ----

static pid_t record_from(const char *sources, const char *to, const char *interval)
{
    pid_t pid = fork();
    if (pid) return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int null = open("/dev/null", O_RDWR);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    execl(NETPROF_TEST_BIN "/netprof", "netprof", "record", "-o", to, "--root", root, "--sources", sources, "--job",
          "none", "--interval", interval, "--duration", "60s", (char *)NULL);
    _exit(127);
}

static pid_t record(const char *to, const char *interval)
{
    return record_from("cpu", to, interval);
}

typedef struct content {
    size_t snapshots, damages;
    uint64_t last;
    int64_t end_ns, nearest_ns;    // of the last reading; the least time from the end of one to the begin of the next
    bool complete, readable, lost; // lost: a reading knows of one before it that is not there
    char ended_by[32];
    // by the values: how often some are missing between two readings, and how many; by what the file says of its gaps
    uint64_t jumps, jumped, gaps, left_out;
    bool gaps_misplaced; // a gap that begins before the reading in front of it, or ends behind the next one
} content;

typedef struct gap {
    long long from_ns, to_ns; // 0: none since the last reading
} gap;

static gap note_gap(content *c, const char *text)
{
    gap g = {0, 0};
    unsigned long long count;
    assert_int_equal(sscanf(text, "%llu readings from %lld to %lld: ", &count, &g.from_ns, &g.to_ns), 3);
    assert_non_null(strstr(text, "No space left on device"));
    assert_true(count > 0 && g.from_ns <= g.to_ns);
    c->gaps++;
    c->left_out += count;
    return g;
}

static content read_back(const char *path)
{
    content c = {.nearest_ns = INT64_MAX};
    netprof_reader *reader;
    netprof_item x;
    gap named = {0, 0};
    int64_t wall_ns = 0;
    if (netprof_reader_open(&reader, path, NULL, NULL)) return c;
    c.readable = true;
    while (!netprof_reader_next(reader, &x, NULL) && x.type != NETPROF_ITEM_END) {
        if (x.type == NETPROF_ITEM_DAMAGE) c.damages++;
        if (x.type == NETPROF_ITEM_FACT && strcmp(x.fact->key, "ended_by") == 0)
            snprintf(c.ended_by, sizeof c.ended_by, "%s", x.fact->value);
        if (x.type == NETPROF_ITEM_FACT && strncmp(x.fact->key, "gap_", 4) == 0) named = note_gap(&c, x.fact->value);
        if (x.type != NETPROF_ITEM_SNAPSHOT) continue;
        size_t i = netprof_find(x.snapshot->schema, "cpu", "cpu", "user");
        assert_true(i != NETPROF_NONE && x.snapshot->status[i] == NETPROF_STATUS_OK);
        uint64_t value = x.snapshot->values[i] / (1000000u / (uint64_t)sysconf(_SC_CLK_TCK));
        assert_true(value >= c.last);
        // Of a witness that heard of the creation and of the first read at once, the first step is of two.
        bool jumps = c.snapshots && value > c.last + (c.last ? 1 : 2);
        c.jumps += jumps;
        if (jumps) c.jumped += value - c.last - 1;
        c.gaps_misplaced |= jumps != (named.to_ns != 0);
        if (named.to_ns) c.gaps_misplaced |= named.from_ns <= wall_ns || named.to_ns >= x.snapshot->wall_ns;
        named = (gap){0, 0};
        wall_ns = x.snapshot->wall_ns;
        c.last = value;
        int64_t apart_ns = x.snapshot->begin_ns - c.end_ns;
        if (c.snapshots && apart_ns < c.nearest_ns) c.nearest_ns = apart_ns;
        c.end_ns = x.snapshot->end_ns;
        c.lost |= value > ++c.snapshots;
        assert_int_equal(c.damages, 0); // nothing is whole behind damage: only the end may be cut
    }
    c.complete = x.complete;
    netprof_reader_close(reader);
    return c;
}

static int end(pid_t pid, int signal_number)
{
    int status = 0;
    kill(pid, signal_number);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

// What the witness counts is what the recorder keeps. False: it did not look for longer than two readings were apart.
static bool witness_sees_each_reading(int interval_ms)
{
    char interval[32];
    int status = 0;
    witness w;
    witness_open(&w);
    snprintf(interval, sizeof interval, "%dms", interval_ms);
    pid_t pid = record(file, interval);
    wait_for_reads(&w, 5);
    int64_t middle = now_ns() + interval_ms * INT64_C(500000);
    while (now_ns() < middle)
        witness_look(&w, now_ns() + 1000000);
    kill(pid, SIGTERM);
    for (int64_t until = now_ns() + INT64_C(60000000000); waitpid(pid, &status, WNOHANG) == 0;) {
        witness_look(&w, now_ns() + 1000000);
        assert_true(now_ns() < until);
    }
    witness_look(&w, now_ns());
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    content c = read_back(file);
    assert_true(c.readable && c.complete && !c.lost);
    assert_true(w.reads <= c.snapshots);
    bool undisturbed = w.blind_ns < c.nearest_ns;
    if (undisturbed) assert_int_equal(w.reads, c.snapshots);
    witness_close(&w);
    unlink(file);
    return undisturbed;
}

static void the_witness_sees_each_reading(void **state)
{
    enum { ATTEMPTS = 20 };
    (void)state;
    int attempt = 0;
    while (attempt < ATTEMPTS && !witness_sees_each_reading(100 + 50 * attempt))
        attempt++; // the busier, the slower
    if (attempt) printf("disturbed %d times\n", attempt);
    assert_true(attempt < ATTEMPTS);
}

// How long the threads of a process waited for a processor so far: /proc/PID/task/TID/schedstat.
static int64_t waited_ns(pid_t pid)
{
    char path[64];
    int64_t sum = 0;
    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    DIR *tasks = opendir(path);
    for (struct dirent *task; tasks && (task = readdir(tasks));) {
        long long waited;
        if (task->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "/proc/%ld/task/%.16s/schedstat", (long)pid, task->d_name);
        FILE *f = fopen(path, "r");
        if (f && fscanf(f, "%*d %lld", &waited) == 1) sum += waited;
        if (f) fclose(f);
    }
    if (tasks) closedir(tasks);
    return sum;
}

// Of a wait that goes on the kernel tells no time yet: the thread that writes is at work, or would be.
static bool writer_is_busy(pid_t pid)
{
    char path[64], state = 0;
    bool busy = false;
    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    DIR *tasks = opendir(path);
    for (struct dirent *task; tasks && (task = readdir(tasks));) {
        if (task->d_name[0] == '.' || atol(task->d_name) == (long)pid) continue;
        snprintf(path, sizeof path, "/proc/%ld/task/%.16s/stat", (long)pid, task->d_name);
        FILE *f = fopen(path, "r");
        if (f && fscanf(f, "%*d (%*[^)]) %c", &state) == 1) busy |= state == 'R' || state == 'D';
        if (f) fclose(f);
    }
    if (tasks) closedir(tasks);
    return busy;
}

// The recorder goes on when its writer has no processor for 5 ms: what waits in memory then is lost by a kill, at the end.
static void kill_9_loses_no_complete_reading(void **state)
{
    const int64_t patience_ns = 5000000;
    (void)state;
    const char *wanted = getenv("NETPROF_TEST_KILLS");
    int kills = wanted ? atoi(wanted) : 20;
    uint64_t random = (uint64_t)now_ns() | 1, readings = 0, cut = 0, none = 0, disturbed = 0;
    for (int i = 0; i < kills; i++) {
        witness w;
        witness_open(&w);
        random = random * 6364136223846793005u + 1442695040888963407u;
        int64_t pause = (int64_t)((random >> 33) % 80000) * 1000,
                kill_at = now_ns() + pause; // also before it has begun
        pid_t pid = record(file, "1ms");
        if (i % 2) { // amid the recording, however long it takes to begin
            wait_for_reads(&w, 4);
            kill_at = now_ns() + pause;
        }
        witness_look(&w, kill_at);
        while (now_ns() < kill_at)
            witness_look(&w, kill_at);
        int64_t asked = now_ns();
        bool starved = waited_ns(pid) > patience_ns || writer_is_busy(pid);
        kill(pid, SIGKILL);
        starved |= now_ns() - asked > patience_ns;
        end(pid, SIGKILL);
        witness_look(&w, now_ns());
        content c = read_back(file);
        uint64_t begun = w.reads;
        disturbed += starved;
        if (!starved && begun > 1 && !c.readable)
            fail_msg("kill %d: %llu readings began, and the file does not open", i, (unsigned long long)begun);
        if (!starved && c.snapshots + 1 < begun)
            fail_msg("kill %d: %llu readings began, %zu are in the file", i, (unsigned long long)begun, c.snapshots);
        if (c.lost) fail_msg("kill %d: a reading in the middle is lost", i);
        assert_true(c.damages <= 1);
        readings += c.snapshots;
        cut += c.damages;
        none += c.snapshots == 0;
        witness_close(&w);
        unlink(file);
    }
    printf(
        "%d kills: %llu readings kept, %llu files with a cut end, %llu killed before the first reading, %llu starved\n",
        kills, (unsigned long long)readings, (unsigned long long)cut, (unsigned long long)none,
        (unsigned long long)disturbed);
    assert_true(readings + 3 * disturbed > (uint64_t)kills); // it did record
}

static void signals_end_it_with_a_whole_file(void **state)
{
    (void)state;
    static const int signals[] = {SIGTERM, SIGHUP, SIGINT};
    for (size_t i = 0; i < 3; i++) {
        witness w;
        witness_open(&w);
        pid_t pid = record(file, "5ms");
        wait_for_reads(&w, 10);
        int status = end(pid, signals[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        content c = read_back(file);
        assert_true(c.complete && c.damages == 0 && c.snapshots >= 5);
        assert_string_equal(c.ended_by, "signal");
        witness_close(&w);
        unlink(file);
    }
}

// ---- disks ----

// A small file system of its own, on which the recording is *full.
static bool mount_small(char mount_point[128], char full[160])
{
    snprintf(mount_point, 128, "%s/small", root);
    snprintf(full, 160, "%s/r.netprof", mount_point);
    assert_int_equal(mkdir(mount_point, 0755), 0);
    if (!unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
        !mount("none", mount_point, "tmpfs", 0, "size=16k"))
        return true;
    rmdir(mount_point);
    return false;
}

static void look_until_full(witness *w, const char *full)
{
    struct stat st = {.st_size = 0};
    for (int64_t until = now_ns() + INT64_C(50000000000); st.st_size < 16384;) {
        witness_look(w, now_ns() + 1000000);
        if (stat(full, &st)) st.st_size = 0;
        assert_true(now_ns() < until);
    }
}

// Nobody makes room: what fitted is kept, and the exit code says that it is not all.
static void a_disk_that_stays_full_keeps_what_fitted(void **state)
{
    (void)state;
    char mount_point[128], full[160];
    if (!mount_small(mount_point, full)) skip();
    witness w;
    witness_open_in(&w, mount_point);
    pid_t pid = record(full, "1ms");
    look_until_full(&w, full);
    int status = end(pid, SIGTERM);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    content c = read_back(full);
    assert_true(c.readable && c.snapshots > 10 && !c.complete && c.damages <= 1);
    witness_close(&w);
    assert_int_equal(umount(mount_point), 0);
    rmdir(mount_point);
}

// Somebody else's file filled the disk for a while: every reading is there afterwards.
static void a_disk_that_was_full_costs_nothing(void **state)
{
    (void)state;
    char mount_point[128], full[160];
    if (!mount_small(mount_point, full)) skip();
    witness w;
    witness_open_in(&w, mount_point);
    pid_t pid = record(full, "2ms");
    look_until_full(&w, full);
    witness_look(&w, now_ns() + 500000000);
    assert_int_equal(mount("none", mount_point, "tmpfs", MS_REMOUNT, "size=4m"), 0);
    wait_for_reads(&w, w.reads + 50);
    int status = end(pid, SIGTERM);
    witness_look(&w, now_ns());
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    content c = read_back(full);
    assert_true(c.complete && c.damages == 0 && !c.lost);
    assert_true(w.reads > 50 && c.snapshots >= w.reads);
    witness_close(&w);
    assert_int_equal(umount(mount_point), 0);
    rmdir(mount_point);
}

// Disks whose counters jump at random: a reading takes some 160 KiB of the file, whatever the coder does. All lines are of
// one length, and are overwritten in place.
static void put_disks(int disks, uint64_t *random)
{
    enum { DISKS = 1024, COLUMNS = 17, DIGITS = 13, LINE = 16 + COLUMNS * (DIGITS + 1) };
    static char text[DISKS * LINE + 1], digits[4096];
    for (size_t i = 0; !*text && i < sizeof digits; i++) {
        *random = *random * 6364136223846793005u + 1442695040888963407u;
        digits[i] = (char)('0' + (*random >> 33) % 10);
    }
    for (int i = 0; i < DISKS; i++) {
        char *at = text + i * LINE + snprintf(text + i * LINE, 17, "8 %04d disk%04d ", i, i);
        for (int k = 0; k < COLUMNS; k++, at += DIGITS + 1) {
            *random = *random * 6364136223846793005u + 1442695040888963407u;
            memcpy(at, digits + (*random >> 33) % (sizeof digits - DIGITS), DIGITS);
            at[DIGITS] = k + 1 < COLUMNS ? ' ' : '\n';
        }
    }
    assert_int_equal(pwrite(disks, text, DISKS * LINE, 0), DISKS * LINE);
}

// Nobody makes room for longer than the memory lasts: what was left out is counted and named, no other reading is missing.
static void a_disk_full_for_too_long_is_a_named_gap(void **state)
{
    enum { READINGS = 120 }; // some 19 MiB, of which 8 may wait
    (void)state;
    char mount_point[128], full[160], disks[160];
    uint64_t random = (uint64_t)now_ns() | 1;
    if (!mount_small(mount_point, full)) skip();
    snprintf(disks, sizeof disks, "%s/proc/diskstats", root);
    int diskstats = open(disks, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    assert_true(diskstats >= 0);
    put_disks(diskstats, &random);
    witness w;
    witness_open_in(&w, mount_point);
    pid_t pid = record_from("cpu,disk", full, "5ms");
    uint64_t put = 0;
    for (int64_t until = now_ns() + INT64_C(60000000000); !w.there || w.reads < READINGS;) {
        witness_look(&w, now_ns() + 1000000);
        if (w.reads > put) put_disks(diskstats, &random);
        put = w.reads;
        assert_true(now_ns() < until);
    }
    assert_int_equal(mount("none", mount_point, "tmpfs", MS_REMOUNT, "size=64m"), 0);
    wait_for_reads(&w, w.reads + 50);
    int status = end(pid, SIGTERM);
    witness_look(&w, now_ns());
    content c = read_back(full);
    printf("%llu readings began: %zu in the file, %llu in %llu named gaps\n", (unsigned long long)w.reads, c.snapshots,
           (unsigned long long)c.left_out, (unsigned long long)c.gaps);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    assert_true(c.complete && c.damages == 0 && c.snapshots >= 50);
    assert_true(c.gaps > 0 && !c.gaps_misplaced);
    assert_int_equal(c.jumps, c.gaps);
    assert_in_range(c.jumped, 1, c.left_out);
    assert_true(c.snapshots + c.left_out >= w.reads);
    witness_close(&w);
    close(diskstats);
    unlink(disks);
    assert_int_equal(umount(mount_point), 0);
    rmdir(mount_point);
}

static void a_file_that_is_removed_is_said(void **state)
{
    (void)state;
    witness w;
    witness_open(&w);
    pid_t pid = record(file, "5ms");
    wait_for_reads(&w, 10);
    assert_int_equal(unlink(file), 0);
    int status = end(pid, SIGTERM);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    assert_int_equal(access(file, F_OK), -1);
    // Another's file under the name is neither taken for ours nor removed.
    pid = record(file, "5ms");
    w.there = false;
    wait_for_reads(&w, 10);
    assert_int_equal(unlink(file), 0);
    FILE *other = fopen(file, "w");
    fputs("mine", other);
    fclose(other);
    status = end(pid, SIGTERM);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    struct stat st;
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_size, 4);
    unlink(file);
    witness_close(&w);
}

static int make_root(void **state)
{
    char path[160];
    (void)state;
    if (!mkdtemp(root)) return -1;
    snprintf(path, sizeof path, "%s/proc", root);
    if (mkdir(path, 0755)) return -1;
    snprintf(stat_path, sizeof stat_path, "%s/proc/stat", root);
    snprintf(file, sizeof file, "%s/r.netprof", root);
    return 0;
}

static int drop_root(void **state)
{
    char command[160];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_witness_sees_each_reading),
        cmocka_unit_test(kill_9_loses_no_complete_reading),
        cmocka_unit_test(signals_end_it_with_a_whole_file),
        cmocka_unit_test(a_file_that_is_removed_is_said),
        cmocka_unit_test(a_disk_that_stays_full_keeps_what_fitted),
        cmocka_unit_test(a_disk_that_was_full_costs_nothing),
        cmocka_unit_test(a_disk_full_for_too_long_is_a_named_gap),
    };
    return cmocka_run_group_tests(tests, make_root, drop_root);
}
