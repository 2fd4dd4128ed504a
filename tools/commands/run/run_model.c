#include "run_model.h"

#include <string.h>
#include <sys/wait.h>
#include <time.h>

int64_t run_now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int run_exit_status(const execution *e)
{
    if (e->timed_out && !e->killed) return EXIT_TIMED_OUT;
    return WIFSIGNALED(e->status) ? EXIT_SIGNAL + WTERMSIG(e->status) : WEXITSTATUS(e->status);
}

double run_seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

double run_elapsed_s(const execution *e)
{
    return (double)(e->end_ns - e->begin_ns) / 1e9;
}

uint64_t run_missed(const execution *e)
{
    return e->ask->clock.rows[0].missed;
}

const char *run_ending(const execution *e)
{
    static char text[128];
    if (e->timed_out)
        snprintf(text, sizeof text, "timed out and was ended by %s",
                 e->killed ? "SIGKILL, for SIGTERM had no effect," : "SIGTERM");
    else if (WIFSIGNALED(e->status))
        snprintf(text, sizeof text, "was killed by signal %d (%s)", WTERMSIG(e->status),
                 strsignal(WTERMSIG(e->status)));
    else if (WEXITSTATUS(e->status))
        snprintf(text, sizeof text, "ended with exit status %d", WEXITSTATUS(e->status));
    else
        snprintf(text, sizeof text, "ended");
    return text;
}
