#define _GNU_SOURCE
#include "companion.h"

#include "cli/helper_program.h"
#include "cli/messages.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { COMPANION_NICE = 10 };
static const int64_t companion_pause_ns = 10000000000, companion_nap_ns = 50000000, companion_patience_ns = 5000000000;

static void companion_become(const companion *c, char *path, pid_t parent)
{
    sigset_t none;
    setpgid(0, 0); // Ctrl-C is the head's
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(1);
    dup2(2, 1);
    setpriority(PRIO_PROCESS, 0, COMPANION_NICE);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    const char *words[13] = {c->program, "--dir", c->directory};
    for (size_t i = 0; i < 8 && c->more[i]; i++)
        words[i + 3] = c->more[i];
    execvp(path, (char **)(uintptr_t)words);
    _exit(127);
}

void companion_look(companion *c, int64_t now_ns)
{
    int status;
    if (c->pid && waitpid(c->pid, &status, WNOHANG) == c->pid) {
        if (!c->said++)
            warn(WIFEXITED(status) && WEXITSTATUS(status) == 127 ? "%s is not installed here: the head does without it"
                                                                 : "%s ended; it is started again",
                 c->program);
        c->pid = 0;
        c->again_at_ns = now_ns + companion_pause_ns;
    }
    if (c->pid || now_ns < c->again_at_ns) return;
    char *path = helper_program(c->program);
    pid_t parent = getpid(), child = fork();
    if (child == 0) companion_become(c, path, parent);
    free(path);
    if (child < 0) {
        if (!c->said++) warn("%s cannot be started: %s", c->program, strerror(errno));
        c->again_at_ns = now_ns + companion_pause_ns;
        return;
    }
    c->pid = child;
}

static int64_t companion_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void companion_end(companion *c)
{
    if (!c->pid || c->patience_until_ns) return;
    kill(c->pid, SIGTERM);
    c->patience_until_ns = companion_now() + companion_patience_ns;
}

// What it writes it replaces as a whole: on a machine without time for it, or stopped, it is not waited for longer.
void companion_close(companion *c)
{
    companion_end(c);
    for (pid_t ended = 0; c->pid && !ended;) {
        bool late = companion_now() >= c->patience_until_ns;
        if (late && kill(-c->pid, SIGKILL)) kill(c->pid, SIGKILL); // with what it started
        ended = waitpid(c->pid, NULL, late ? 0 : WNOHANG);
        if (ended < 0 && errno == EINTR) ended = 0;
        if (!ended) nanosleep(&(struct timespec){.tv_nsec = companion_nap_ns}, NULL);
    }
    c->pid = 0;
    c->patience_until_ns = 0;
}
