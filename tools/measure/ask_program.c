#define _GNU_SOURCE
#include "ask_program.h"

#include "cli/common.h"
#include "record.h"
#include "analysis/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { ANSWER_MOST = 4 << 20 }; // bytes; an answer that grows beyond is cut off and discarded

static bool ask_program_is_same_name(const char *a, const char *variable)
{
    size_t n = strcspn(variable, "=") + 1;
    return strncmp(a, variable, n) == 0;
}

static char **ask_program_environment_with(const char *variable)
{
    size_t count = 0, n = 0;
    while (environ[count])
        count++;
    char **made = memory_calloc(count + 2, sizeof *made);
    for (size_t i = 0; i < count; i++)
        if (!variable || !ask_program_is_same_name(environ[i], variable)) made[n++] = environ[i];
    if (variable) made[n] = (char *)(uintptr_t)variable;
    return made;
}

bool question_ask(question *q, char *const *words, const char *variable, int seconds)
{
    int ends[2];
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t how;
    sigset_t none;
    *q = (question){.fd = -1};
    if (pipe2(ends, O_CLOEXEC)) return false;
    char **with = ask_program_environment_with(variable);
    sigemptyset(&none);
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int failed = posix_spawnp(&q->child, words[0], &actions, &how, words, with);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&how);
    free(with);
    close(ends[1]);
    if (failed) {
        q->child = 0;
        close(ends[0]);
        return false;
    }
    q->fd = ends[0];
    fcntl(q->fd, F_SETFL, O_NONBLOCK);
    q->until_ns = schedule_now() + (int64_t)seconds * 1000000000;
    return true;
}

static void ask_program_close_answer(question *q)
{
    if (q->fd >= 0) close(q->fd);
    q->fd = -1;
}

static bool ask_program_is_late(const question *q)
{
    return schedule_now() >= q->until_ns;
}

// The answer has ended, but the program may still be running: it is killed when its time is over.
static bool ask_program_reap(question *q, bool killed)
{
    int status = 0;
    pid_t ended;
    if (killed) kill(q->child, SIGKILL);
    do
        ended = waitpid(q->child, &status, killed ? 0 : WNOHANG);
    while (ended < 0 && errno == EINTR);
    if (ended == 0) return ask_program_is_late(q) && ask_program_reap(q, true);
    q->whole = !killed && ended == q->child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    q->child = 0;
    return true;
}

bool question_look(question *q)
{
    while (q->fd >= 0) {
        q->text = memory_realloc(q->text, q->size + 4097);
        ssize_t n = read(q->fd, q->text + q->size, 4096);
        if (n > 0) q->size += (size_t)n;
        q->text[q->size] = 0;
        if ((n > 0 && q->size < ANSWER_MOST) || (n < 0 && errno == EINTR)) continue;
        if (n < 0 && errno == EAGAIN && !ask_program_is_late(q)) return false;
        ask_program_close_answer(q);
        if (n != 0) return ask_program_reap(q, true);
    }
    return !q->child || ask_program_reap(q, false);
}

const char *question_wait(question *q)
{
    while (!question_look(q)) {
        struct pollfd fd = {.fd = q->fd, .events = POLLIN}; // -1: it answered and has not ended; a look now and then
        int64_t left = (q->until_ns - schedule_now()) / 1000000 + 1;
        poll(&fd, 1, q->fd < 0 ? 10 : left > 0 ? (int)left : 0);
    }
    return q->whole && q->text ? q->text : NULL;
}

void question_end(question *q)
{
    ask_program_close_answer(q);
    if (q->child) ask_program_reap(q, true);
    free(q->text);
    *q = (question){.fd = -1};
}
