#define _GNU_SOURCE
#include "job.h"

#include "sources/cgroup.h"
#include "sources/membership.h"
#include "ask_program.h"
#include "analysis/base/memory.h"
#include "analysis/base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// Variables that a scheduler sets in the environment of every process of a job.
static const struct {
    const char *name, *job, *node; // node NULL: it has no names of its own for nodes
} schedulers[] = {
    {"slurm", "SLURM_JOB_ID", "SLURMD_NODENAME"},
    {"pbs", "PBS_JOBID", NULL},
    {"oar", "OAR_JOB_ID", NULL},
};

enum { SCHEDULERS = sizeof schedulers / sizeof *schedulers, ASK_SECONDS = 5, NODE_FILE = 64 << 20 };
#define SCAN_PART INT64_C(200)        // looking through all processes takes so little of a CPU's time
#define YOUNG_NS  INT64_C(3000000000) // first looks at a process, within which it may still become another program

// ---- one process ----

// Reads a whole small file of a process; free it. *size: bytes, not counting the 0 after them.
static char *job_read_process(pid_t pid, const char *file, size_t *size)
{
    char path[64], *text = NULL;
    size_t room = 0;
    *size = 0;
    snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return NULL;
    for (;;) {
        if (room - *size < 2) text = memory_realloc(text, room = room ? 2 * room : 4096);
        ssize_t n = read(fd, text + *size, room - *size - 1);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        *size += (size_t)n;
    }
    close(fd);
    text[*size] = 0;
    return text;
}

static uint32_t job_hash_name(const char *from, const char *to)
{
    uint32_t hash = 2166136261u; // FNV-1a
    for (; from < to; from++)
        hash = (hash ^ (unsigned char)*from) * 16777619u;
    return hash;
}

// Start time, parent and, where it is asked for, the hash of the program's name; false when there is no such process,
// or it has ended and only waits to be reaped.
static bool job_look(pid_t pid, uint64_t *start, pid_t *parent, uint32_t *name)
{
    size_t size;
    char *text = job_read_process(pid, "stat", &size), *end = text ? strrchr(text, ')') : NULL;
    char state = 0;
    long above = 0;
    unsigned long long begin = 0;
    bool found =
        end && sscanf(end + 1, " %c %ld %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                      &state, &above, &begin) == 3;
    if (found && name) *name = job_hash_name(text, end);
    free(text);
    *start = begin;
    *parent = (pid_t)above;
    return found && state != 'Z' && state != 'X';
}

static bool job_has_mark(const char *text, size_t size, const char *mark)
{
    for (const char *at = text; at < text + size; at += strlen(at) + 1)
        if (strcmp(at, mark) == 0) return true;
    return false;
}

static bool job_is_marked(const job *j, pid_t pid)
{
    size_t size;
    char *text = job_read_process(pid, "environ", &size);
    bool named = text && job_has_mark(text, size, j->mark);
    bool marked = named && (!j->node_mark || job_has_mark(text, size, j->node_mark));
    free(text);
    // One that was started past the scheduler's environment (by ssh, say) may still be in the job's control group.
    if (named || !(text = job_read_process(pid, "cgroup", &size))) return marked;
    marked = membership_in_cgroup(j->scheduler, strchr(j->mark, '=') + 1, text);
    free(text);
    return marked;
}

// ---- the list ----

static void job_add_pid(job *j, pid_t pid)
{
    for (size_t i = 0; i < j->sources.pid_count; i++)
        if (j->pids[i] == pid) return;
    j->pids = memory_realloc(j->pids, (j->sources.pid_count + 1) * sizeof *j->pids);
    j->pids[j->sources.pid_count++] = pid;
    j->sources.pids = j->pids;
}

// A process that a daemon forked has the daemon's environment until it starts the job's program: one that is not of the
// job is looked at again while it is young, and when its program changes.
static job_process *job_look_again(const job *j, job_process *x, uint32_t name)
{
    bool young = schedule_now() - x->looked_ns < YOUNG_NS;
    if (!x->member && (young || x->name != name)) x->member = job_is_marked(j, x->pid);
    x->name = name;
    x->there = true;
    return x;
}

static job_process *job_find_seen(job *j, pid_t pid, uint64_t start, uint32_t name)
{
    for (size_t i = 0; i < j->seen_count; i++) {
        if (j->seen[i].pid != pid) continue;
        if (j->seen[i].start == start) return job_look_again(j, &j->seen[i], name);
        j->seen[i] = j->seen[--j->seen_count]; // the number belongs to another process by now
        break;
    }
    j->seen = memory_realloc(j->seen, (j->seen_count + 1) * sizeof *j->seen);
    j->seen[j->seen_count] = (job_process){pid, start, job_is_marked(j, pid), name, schedule_now(), true};
    return &j->seen[j->seen_count++];
}

static bool job_is_above_us(pid_t pid)
{
    pid_t at = getpid();
    uint64_t start;
    for (int steps = 0; at > 1 && steps < 64; steps++) {
        if (at == pid) return true;
        if (!job_look(at, &start, &at, NULL)) return false;
    }
    return false;
}

// Started the recorder or another part of a step, but is no work of the job.
static bool job_is_launcher(pid_t pid)
{
    size_t size;
    char *name = job_read_process(pid, "comm", &size);
    bool launcher = job_is_above_us(pid);
    static const char *const names[] = {"srun\n", "mpirun\n", "mpiexec\n", "slurmstepd\n", "netprof\n"};
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
        launcher |= strcmp(name, names[i]) == 0;
    free(name);
    return launcher;
}

static size_t job_scan_processes(job *j)
{
    DIR *proc = opendir("/proc");
    size_t working = 0;
    if (!proc) return 0;
    for (size_t i = 0; i < j->seen_count; i++)
        j->seen[i].there = false;
    for (struct dirent *x; (x = readdir(proc));) {
        pid_t pid = (pid_t)strtol(x->d_name, NULL, 10), parent;
        uint64_t start;
        uint32_t name;
        if (pid <= 0 || pid == getpid() || !job_look(pid, &start, &parent, &name)) continue;
        if (!job_find_seen(j, pid, start, name)->member) continue;
        job_add_pid(j, pid);
        working += !job_is_launcher(pid);
    }
    closedir(proc);
    for (size_t i = j->seen_count; i-- > 0;)
        if (!j->seen[i].there) j->seen[i] = j->seen[--j->seen_count];
    return working;
}

// ---- Slurm's own list ----

// "PID JOBID STEPID LOCALID GLOBALID", a line for each process of the job on this node.
static void job_add_listed(job *j, const char *list)
{
    for (const char *line = list; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        long pid = strtol(line, NULL, 10); // the first line holds column names, no number
        if (pid > 0 && pid <= INT32_MAX && (pid_t)pid != getpid()) job_add_pid(j, (pid_t)pid);
    }
}

static void job_ask_slurm(job *j)
{
    char *id = strchr(j->mark, '=') + 1, *node = j->node_mark ? strchr(j->node_mark, '=') + 1 : NULL;
    char *words[] = {"scontrol", "listpids", id, node, NULL};
    question q;
    if (question_ask(&q, words, NULL, ASK_SECONDS)) {
        const char *answer = question_wait(&q);
        if (answer) job_add_listed(j, answer);
        question_end(&q);
    }
}

// ---- finding ----

static char *job_mark_of(const char *variable)
{
    const char *value = variable ? getenv(variable) : NULL;
    return value && *value ? memory_format("%s=%s", variable, value) : NULL;
}

static int job_find_scheduled(job *j, const char *what)
{
    for (size_t i = 0; i < SCHEDULERS; i++) {
        if (strcmp(what, "auto") != 0 && strcmp(what, schedulers[i].name) != 0) continue;
        j->mark = job_mark_of(schedulers[i].job);
        if (!j->mark && strcmp(what, "auto") == 0) continue;
        if (!j->mark)
            return fail(EXIT_NOTHING, "--job=%s: %s is not set: not inside such a job", what, schedulers[i].job);
        j->scheduler = j->sources.scheduler = schedulers[i].name;
        j->sources.job_id = strchr(j->mark, '=') + 1;
        j->node_mark = job_mark_of(schedulers[i].node);
        j->sources.expected = j->sources.elsewhere = true; // a prologue comes before the first of them
        job_scan_processes(j);
        if (!j->sources.pid_count && i == 0) job_ask_slurm(j);
        return EXIT_DONE;
    }
    return EXIT_DONE;
}

static int job_find_numbers(job *j, const char *what)
{
    char *list = memory_strdup(what), *at = list;
    int code = EXIT_DONE;
    for (char *word; !code && (word = strsep(&at, ","));) {
        char *end;
        long pid = strtol(word, &end, 10);
        uint64_t start;
        pid_t parent;
        if (end == word || *end || pid <= 0)
            code = fail_usage("--job: %s: expected auto, slurm, pbs, oar, none or process numbers", safe(what));
        else if (!job_look((pid_t)pid, &start, &parent, NULL))
            code = fail(EXIT_NOTHING, "--job: %ld: no such process", pid);
        else
            job_add_pid(j, (pid_t)pid);
        if (code) break;
        j->seen = memory_realloc(j->seen, (j->seen_count + 1) * sizeof *j->seen);
        j->seen[j->seen_count++] = (job_process){.pid = (pid_t)pid, .start = start, .member = true};
    }
    free(list);
    return code;
}

int job_find(job *j, const char *what, const char *cgroup)
{
    int code = EXIT_DONE;
    j->grace_ns = 30000000000;
    j->sources.living = &j->living;
    if (cgroup && !cgroup_exists(cgroup))
        return fail(EXIT_NOTHING, "--cgroup: %s: no such control group (expected its path below the mount point)",
                    safe(cgroup));
    if (cgroup) j->cgroup = memory_strdup(cgroup);
    j->sources.cgroup = j->cgroup;
    if (strcmp(what, "none") == 0) return EXIT_DONE;
    bool scheduled = strcmp(what, "auto") == 0;
    for (size_t i = 0; i < SCHEDULERS; i++)
        scheduled |= strcmp(what, schedulers[i].name) == 0;
    code = scheduled ? job_find_scheduled(j, what) : job_find_numbers(j, what);
    return code;
}

// Of this thread. By the wall clock a scan would seem dear on a busy node, and steps between two of them be missed.
static int64_t job_cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

bool job_ended(job *j)
{
    uint64_t start;
    pid_t parent;
    if (!j->scheduler) {
        for (size_t i = 0; i < j->seen_count; i++)
            if (job_look(j->seen[i].pid, &start, &parent, NULL) && start == j->seen[i].start) return false;
        return j->seen_count > 0 && !j->living; // what descends from them may go on
    }
    int64_t now = schedule_now();
    if (now < j->scan_ns) return false; // on a node of many processes it is dear
    int64_t used = job_cpu_ns();
    if (job_scan_processes(j)) j->last_ns = now;
    j->scan_ns = now + SCAN_PART * (job_cpu_ns() - used);
    return j->last_ns && now - j->last_ns > j->grace_ns;
}

int64_t job_process_began_ns(pid_t pid)
{
    uint64_t ticks;
    pid_t parent;
    struct timespec since_boot, wall;
    if (!job_look(pid, &ticks, &parent, NULL) || clock_gettime(CLOCK_BOOTTIME, &since_boot) ||
        clock_gettime(CLOCK_REALTIME, &wall))
        return 0;
    int64_t booted_ns = (wall.tv_sec - since_boot.tv_sec) * INT64_C(1000000000) + wall.tv_nsec - since_boot.tv_nsec;
    return booted_ns + (int64_t)((double)ticks * 1e9 / (double)sysconf(_SC_CLK_TCK));
}

// ---- facts ----

// Variables by which a container's runtime or Kubernetes describes it; a pod is identified by its name, node and start.
static const struct {
    const char *key, *variables[4];
} places[] = {
    {"node", {"SLURMD_NODENAME", "NODE_NAME", "MY_NODE_NAME"}},
    {"pod", {"POD_NAME", "MY_POD_NAME"}},
    {"pod_namespace", {"POD_NAMESPACE", "MY_POD_NAMESPACE"}},
    {"pod_uid", {"POD_UID", "MY_POD_UID"}},
};

static bool job_tell_place(recorder *to, size_t row)
{
    for (const char *const *name = places[row].variables; *name; name++)
        if (getenv(*name) && *getenv(*name)) return recorder_fact(to, places[row].key, getenv(*name)), true;
    return false;
}

// Pods of one name come one after another: with its node and its start a pod is known. It began with its first process.
static void job_tell_pod_start(recorder *to)
{
    size_t size;
    char *text = job_read_process(1, "cgroup", &size), *uid = text ? membership_pod_uid(text) : NULL;
    int64_t began_ns = job_process_began_ns(1);
    if (!getenv("POD_UID") && !getenv("MY_POD_UID") && uid) recorder_fact(to, "pod_uid", uid);
    if (began_ns) recorder_number(to, "pod_start_s", began_ns / 1000000000);
    free(uid);
    free(text);
}

// The longest run of 32 or more hexadecimal digits in the path of our control group: a container's number.
static void job_tell_container(recorder *to)
{
    size_t size;
    char *text = job_read_process(getpid(), "cgroup", &size);
    for (const char *at = text; at && *at; at++) {
        size_t length = strspn(at, "0123456789abcdef");
        if (length >= 32) {
            char *id = memory_strndup(at, length);
            recorder_fact(to, "container", id);
            free(id);
            break;
        }
        at += length;
        if (!*at) break;
    }
    free(text);
}

// NULL with errno: a pipe or a device would hold the recorder.
static FILE *job_open_node_file(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= NODE_FILE) return fdopen(fd, "r");
    int error = fd < 0 ? errno : EMEDIUMTYPE;
    if (fd >= 0) close(fd);
    errno = error;
    return NULL;
}

// The job's nodes by the node file of PBS or OAR, and what this one is called in it. On other nodes than the first the
// file is often missing, or nobody's to read: then the recordings' job number joins them all the same.
static void job_tell_nodes(recorder *to)
{
    static const char *const variables[] = {"PBS_NODEFILE", "OAR_NODEFILE", "OAR_FILE_NODES"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *path = getenv(variables[i]);
        char host[256] = "", *all, *why = NULL;
        size_t count = 0;
        if (!path || !*path) continue;
        FILE *file = job_open_node_file(path);
        all = file ? membership_nodes(file, &count) : NULL;
        if (!all) why = memory_format("%s: %s: %s", variables[i], path, file ? "names no node" : strerror(errno));
        if (file) fclose(file);
        if (why) recorder_fact(to, "job_nodes_unknown", why);
        free(why);
        if (!all) continue;
        recorder_fact(to, "job_nodes", all);
        recorder_number(to, "job_node_count", (int64_t)count);
        gethostname(host, sizeof host - 1);
        for (char *at = all, *name; (name = strsep(&at, ","));)
            if (text_same_host(name, host)) recorder_fact(to, "node", name);
        free(all);
        return;
    }
}

// Torque, then OpenPBS: processors of the job on this node.
static void job_tell_pbs(recorder *to)
{
    static const char *const variables[] = {"PBS_NUM_PPN", "NCPUS"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        if (!value || !*value || strlen(value) > 6 || value[strspn(value, "0123456789")]) continue;
        recorder_fact(to, "job_cpus_on_node", value);
        return;
    }
}

void job_facts(const job *j, recorder *to)
{
    char host[256] = "";
    if (j->scheduler) recorder_fact(to, "scheduler", j->scheduler);
    gethostname(host, sizeof host - 1);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        bool told = job_tell_place(to, i), pod = strcmp(places[i].key, "pod") == 0;
        // Kubernetes gives a pod's processes its name as their host name.
        if (pod && !told && getenv("KUBERNETES_SERVICE_HOST")) recorder_fact(to, "pod", host);
        if (pod && (told || getenv("KUBERNETES_SERVICE_HOST"))) job_tell_pod_start(to);
    }
    job_tell_container(to);
    job_tell_nodes(to);
    if (j->scheduler && strcmp(j->scheduler, "pbs") == 0) job_tell_pbs(to);
    if (j->scheduler && strcmp(j->scheduler, "slurm") == 0) job_slurm_facts(to, true);
}

void job_free(job *j)
{
    free(j->mark);
    free(j->node_mark);
    free(j->pids);
    free(j->seen);
    free(j->cgroup);
    *j = (job){0};
}
