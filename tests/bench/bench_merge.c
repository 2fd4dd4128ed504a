/* Joining the region files of a large job: whole processes of netprof regions, beside reading the same files. */
#define _GNU_SOURCE
#include "bench.h"

#include <dirent.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

typedef struct job {
    char directory[600], count[16];
    long files;
} job;

static int run_quietly(const char *const *command, struct rusage *used)
{
    posix_spawn_file_actions_t to_null;
    pid_t pid;
    int status = -1;
    posix_spawn_file_actions_init(&to_null);
    posix_spawn_file_actions_addopen(&to_null, 1, "/dev/null", O_WRONLY, 0);
    if (posix_spawn(&pid, command[0], &to_null, NULL, (char *const *)(uintptr_t)command, environ) == 0)
        wait4(pid, &status, 0, used);
    posix_spawn_file_actions_destroy(&to_null);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The generator lies beside this program. */
static int make_job(job *j, long files, const char *const *more)
{
    char self[512];
    ssize_t n = readlink(bench.self, self, sizeof self - 1);
    if (n < 0) return -1;
    self[n] = 0;
    *strrchr(self, '/') = 0;
    char *program = NULL;
    if (asprintf(&program, "%s/make_regions", self) < 0) return -1;
    j->files = files;
    snprintf(j->count, sizeof j->count, "%ld", files);
    snprintf(j->directory, sizeof j->directory, "%s/job-%ld%s", bench.tree, files, more ? more[0] : "");
    const char *command[] = {
        program, "-q", "-n", j->count, "-d", more ? more[1] : "4", j->directory, more ? more[0] : NULL, NULL};
    int failed = run_quietly(command, NULL);
    free(program);
    return failed;
}

static void *prepare(const void *with)
{
    return (void *)(uintptr_t)with;
}

static int64_t once_regions(void *state)
{
    const job *j = state;
    const char *const command[] = {bench.program, "regions", j->directory, NULL};
    int64_t begin = bench_now();
    return run_quietly(command, NULL) == 0 ? bench_now() - begin : -1;
}

static int64_t once_json(void *state)
{
    const job *j = state;
    const char *const command[] = {bench.program, "regions", "--json", j->directory, NULL};
    int64_t begin = bench_now();
    return run_quietly(command, NULL) == 0 ? bench_now() - begin : -1;
}

/* Every file from open to close, one after the other. */
static int64_t once_read(void *state)
{
    static char room[1 << 20];
    const job *j = state;
    int64_t begin = bench_now();
    DIR *directory = opendir(j->directory);
    long files = 0;
    for (struct dirent *e; directory && (e = readdir(directory));) {
        int fd = e->d_name[0] == '.' ? -1 : openat(dirfd(directory), e->d_name, O_RDONLY | O_CLOEXEC);
        if (fd < 0) continue;
        while (read(fd, room, sizeof room) > 0)
            continue;
        close(fd);
        files++;
    }
    if (directory) closedir(directory);
    return files == j->files ? bench_now() - begin : -1;
}

static void use_rows(const job *j)
{
    const char *const command[] = {bench.program, "regions", j->directory, NULL};
    struct rusage used = {.ru_maxrss = 0};
    if (run_quietly(command, &used) != 0 || !used.ru_maxrss) {
        bench_skip("  its processor time and memory", "no answer from the child");
        return;
    }
    bench_figure("  its processor time",
                 (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                     (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6,
                 "s", 0);
    bench_figure("  largest resident memory", (double)used.ru_maxrss / 1024, "MiB", 1024);
}

void bench_merge(void)
{
    static job few, many, full;
    static const char *const all_counters[] = {"-a", "8"};
    long files = bench.quick ? 100 : 10000;
    const bench_contestant all[] = {{"bare open, read, close", prepare, once_read, &many, NULL},
                                    {"netprof regions, a tenth", prepare, once_regions, &few, NULL},
                                    {"netprof regions", prepare, once_regions, &many, NULL},
                                    {"netprof regions --json", prepare, once_json, &many, NULL},
                                    {"netprof regions, whole schemas", prepare, once_regions, &full, NULL}};
    bench_samples s[BENCH_MOST];
    if (bench.cpu || !bench.program) {
        bench_skip("netprof regions", bench.cpu ? "--cpu does not see what children take" : "no program netprof");
        return;
    }
    if (make_job(&few, files / 10, NULL) != 0 || make_job(&many, files, NULL) != 0 ||
        make_job(&full, files / 10, all_counters) != 0) {
        bench_skip("netprof regions", "cannot make region files");
        return;
    }
    bench_note("%ld ranks in 10 regions, 8 on a host, the fast set of 4 NICs each", files);
    bench_round(all, 5, bench.repeats < 9 ? bench.repeats : 9, s);
    bench_row("bare open, read, close of the files", &s[0], 1e9, "s", NULL, 0);
    bench_row("netprof regions, whole process", &s[2], 1e9, "s", NULL, 10);
    bench_row("  beside a tenth of the files", &s[2], 1e9, "s", &s[1], 12);
    bench_row("  beside reading them", &s[2], 1e9, "s", &s[0], 0);
    use_rows(&many);
    bench_row("netprof regions --json", &s[3], 1e9, "s", NULL, 10);
    bench_row("a tenth of the files, all counters of 8 NICs", &s[4], 1e9, "s", NULL, 0);
    use_rows(&full);
    bench_samples_free(s, 5);
}
