#define _GNU_SOURCE
#include "run_program.h"

#include "cli/helper_program.h"

#include "analysis/base/memory.h"
#include "analysis/base/output_file.h"
#include "analysis/base/stb_ds.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { RUN_SAID = 400 };
static bool run_ended; // atomic

static pid_t run_spawn(const char *program, char *const *words, int in, int out, int said)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none;
    pid_t child = -1;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setsigmask(&how, &none);
    if (in < 0) posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    if (in >= 0) posix_spawn_file_actions_adddup2(&files, in, 0);
    if (out < 0) posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    if (out >= 0) posix_spawn_file_actions_adddup2(&files, out, 1);
    posix_spawn_file_actions_adddup2(&files, said, 2);
    if (posix_spawnp(&child, program, &files, &how, words, environ)) child = -1;
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    return child;
}

static int run_wait(pid_t child, int seconds)
{
    int status = 0;
    for (int tries = 0;; tries++) {
        const struct timespec nap = {.tv_nsec = 5000000};
        pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended < 0 && errno != EINTR) return -1;
        if (ended == child) return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        if (tries == seconds * 200 || __atomic_load_n(&run_ended, __ATOMIC_RELAXED)) kill(-child, SIGKILL);
        nanosleep(&nap, NULL);
    }
}

char *run_read_all(int fd, size_t most, size_t *size)
{
    struct stat st;
    if (fstat(fd, &st) || st.st_size < 0 || (uint64_t)st.st_size > most) return NULL;
    char *data = memory_alloc((size_t)st.st_size + 1);
    for (*size = 0; *size < (size_t)st.st_size;) {
        ssize_t n = pread(fd, data + *size, (size_t)st.st_size - *size, (off_t)*size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        *size += (size_t)n;
    }
    data[*size] = 0;
    return data;
}

void run_end(void)
{
    __atomic_store_n(&run_ended, true, __ATOMIC_RELAXED);
}

int run_program(const char *const *words, int in, int out, int seconds, char **said)
{
    char *program = helper_program(words[0]), **list = NULL;
    int log = output_file_nameless("said"), status = -1;
    size_t size = 0;
    for (size_t i = 0; words[i]; i++)
        arrput(list, (char *)(uintptr_t)words[i]);
    arrput(list, NULL);
    pid_t child = log < 0 ? -1 : run_spawn(program, list, in, out, log);
    if (child > 0) {
        setpriority(PRIO_PROCESS, (id_t)child, 10); // the nodes come first
        status = run_wait(child, seconds);
    }
    *said = log >= 0 ? run_read_all(log, 1 << 20, &size) : NULL;
    if (!*said) *said = memory_strdup("");
    if (size > RUN_SAID) (*said)[RUN_SAID] = 0;
    if (log >= 0) close(log);
    arrfree(list);
    free(program);
    return status;
}
