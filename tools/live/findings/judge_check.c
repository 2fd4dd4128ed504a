#define _GNU_SOURCE
#include "judge_check.h"

#include "cli/helper_program.h"
#include "live/session/session_document.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { JUDGE_CPU_S = 600 };
#define JUDGE_OUT "out.json"
#define JUDGE_ERR "out.text"

static void judge_check_become(const char *directory, char *program, char **words, pid_t parent)
{
    const struct rlimit cpu = {JUDGE_CPU_S, JUDGE_CPU_S};
    sigset_t none;
    if (chdir(directory)) _exit(126);
    int out = open(JUDGE_OUT, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600),
        err = open(JUDGE_ERR, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (out < 0 || err < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0) _exit(126);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(126);
    setrlimit(RLIMIT_CPU, &cpu);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvp(program, words);
    _exit(127);
}

static char **judge_check_words(char *program, const char *const *files, size_t count, bool apart)
{
    static const char *const fixed[] = {"check", "--json"};
    char **words = NULL;
    arrput(words, program);
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        arrput(words, (char *)(uintptr_t)fixed[i]);
    if (apart && count > 1) arrput(words, (char *)(uintptr_t) "--apart");
    for (size_t i = 0; i < count; i++)
        arrput(words, (char *)(uintptr_t)files[i]);
    arrput(words, NULL);
    return words;
}

// Until it ends; a signal of `stop` ends it.
static int judge_check_wait(judge_checked *c, pid_t child, const sigset_t *stop)
{
    const struct timespec nap = {.tv_nsec = 20000000};
    struct rusage used;
    int status = 0;
    while (wait4(child, &status, WNOHANG, &used) != child) {
        if (sigtimedwait(stop, NULL, &nap) <= 0) continue;
        c->ended = true;
        kill(child, SIGKILL);
        wait4(child, &status, 0, &used);
        break;
    }
    c->cpu_s = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
               (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
    return status;
}

// The first line that it said.
static char *judge_check_said(const char *directory)
{
    char line[400] = "", *path = memory_format("%s/%s", directory, JUDGE_ERR);
    FILE *f = fopen(path, "re");
    if (f && fgets(line, sizeof line, f)) line[strcspn(line, "\n")] = 0;
    if (f) fclose(f);
    free(path);
    return memory_strdup(*line ? line : "netprof check ended without a verdict");
}

void judge_check(judge_checked *c, const char *directory, const char *const *files, size_t count, bool apart,
                 const sigset_t *stop)
{
    *c = (judge_checked){.cpu_s = 0};
    char *program = helper_program("netprof"), **words = judge_check_words(program, files, count, apart);
    pid_t parent = getpid(), child = fork();
    if (child == 0) judge_check_become(directory, program, words, parent);
    if (child < 0) {
        c->why = memory_strdup(strerror(errno));
    } else {
        int status = judge_check_wait(c, child, stop), code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        char *out = memory_format("%s/%s", directory, JUDGE_OUT);
        // 0, 1 and 5 tell of findings.
        if (code == 0 || code == 1 || code == 5) c->told = session_read_document(out);
        if (!c->told)
            c->why = code == 127 ? memory_strdup("netprof is not installed here") : judge_check_said(directory);
        free(out);
    }
    arrfree(words);
    free(program);
}

void judge_checked_free(judge_checked *c)
{
    json_object_put(c->told);
    free(c->why);
    *c = (judge_checked){.cpu_s = 0};
}
