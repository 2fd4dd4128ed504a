#include "signals.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>

// signal(7), the column "x86/ARM and most others".
static const struct {
    int common, here;
    const char *name, *words;
} signals[] = {{1, SIGHUP, "SIGHUP", "hung up"},
               {2, SIGINT, "SIGINT", "interrupted"},
               {3, SIGQUIT, "SIGQUIT", "quit"},
               {4, SIGILL, "SIGILL", "illegal instruction"},
               {5, SIGTRAP, "SIGTRAP", NULL},
               {6, SIGABRT, "SIGABRT", "aborted"},
               {7, SIGBUS, "SIGBUS", "bus error"},
               {8, SIGFPE, "SIGFPE", "arithmetic error"},
               {9, SIGKILL, "SIGKILL", "killed"},
               {10, SIGUSR1, "SIGUSR1", NULL},
               {11, SIGSEGV, "SIGSEGV", "segmentation fault"},
               {12, SIGUSR2, "SIGUSR2", NULL},
               {13, SIGPIPE, "SIGPIPE", NULL},
               {14, SIGALRM, "SIGALRM", NULL},
               {15, SIGTERM, "SIGTERM", "terminated"},
               {24, SIGXCPU, "SIGXCPU", "CPU time limit"},
               {25, SIGXFSZ, "SIGXFSZ", "file size limit"},
               {26, SIGVTALRM, "SIGVTALRM", NULL},
               {27, SIGPROF, "SIGPROF", NULL},
               {31, SIGSYS, "SIGSYS", NULL}};
enum { SIGNALS = sizeof signals / sizeof *signals };

int signals_common(int here)
{
    for (size_t i = 0; i < SIGNALS; i++)
        if (signals[i].here == here) return signals[i].common;
    return here;
}

static size_t signals_find(int common)
{
    size_t i = 0;
    while (i < SIGNALS && signals[i].common != common)
        i++;
    return i;
}

const char *signals_name(int common)
{
    size_t i = signals_find(common);
    return i < SIGNALS ? signals[i].name : NULL;
}

const char *signals_words(int common)
{
    size_t i = signals_find(common);
    return i < SIGNALS ? signals[i].words : NULL;
}

words_text signals_text(int common)
{
    words_text w;
    const char *words = signals_words(common) ? signals_words(common) : signals_name(common);
    snprintf(w.text, sizeof w.text, "signal %d%s%s%s", common, words ? " (" : "", words ? words : "", words ? ")" : "");
    return w;
}
