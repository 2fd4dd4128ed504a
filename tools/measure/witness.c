#define _GNU_SOURCE // SOCK_CLOEXEC
#include "witness.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    PATIENCE_MS = 50, // a signal to a process group does not reach all its processes at the same instant
    ANSWER_MS = 5000, // on a busy machine the witness may have to wait this long for a processor
    QUESTION = 128,   // questions are from here to LAST, above all signals; an answer repeats its question
    LAST = 255,
};

static bool witness_say(int words, uint8_t word)
{
    return send(words, &word, 1, MSG_NOSIGNAL) == 1;
}

static bool witness_tell_signals(int words, int signals)
{
    struct signalfd_siginfo info;
    while (read(signals, &info, sizeof info) == (ssize_t)sizeof info)
        if (!witness_say(words, (uint8_t)info.ssi_signo)) return false;
    return true;
}

// Main loop of the witness: reports each signal, and answers a question once all signals before it are reported; ends
// when the other end is closed.
static void witness_testify(int words, const sigset_t *signals)
{
    struct pollfd fds[2] = {{.fd = signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK), .events = POLLIN},
                            {.fd = words, .events = POLLIN}};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (fds[0].fd >= 0) {
        uint8_t question = 0;
        if (poll(fds, 2, -1) < 0 && errno != EINTR) break;
        ssize_t asked = recv(words, &question, 1, MSG_DONTWAIT);
        if (asked == 0 || (asked < 0 && errno != EAGAIN && errno != EINTR)) break; // the other end is closed
        if (!witness_tell_signals(words, fds[0].fd) || (asked == 1 && !witness_say(words, question))) break;
    }
    _exit(0);
}

void witness_start(witness *w, const sigset_t *signals)
{
    int ends[2];
    *w = (witness){0};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) return;
    pid_t process = fork();
    if (process == 0) {
        close(ends[0]);
        witness_testify(ends[1], signals);
    }
    close(ends[1]);
    if (process > 0)
        *w = (witness){.process = process, .words = ends[0], .question = QUESTION};
    else
        close(ends[0]);
}

static int64_t witness_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

// Listens until this word comes, the time is over, or the witness is gone; notes the signals that it reports.
static void witness_listen_for(witness *w, uint8_t word, int64_t patience_ms)
{
    const int64_t end = witness_now_ms() + patience_ms;
    bool heard = false;
    for (int64_t left = patience_ms; !heard && left >= 0; left = end - witness_now_ms()) {
        struct pollfd fd = {.fd = w->words, .events = POLLIN};
        uint8_t words[64];
        if (poll(&fd, 1, (int)left) <= 0) continue;
        ssize_t count = recv(w->words, words, sizeof words, MSG_DONTWAIT);
        if (count == 0) break;
        for (ssize_t i = 0; i < count; i++) {
            heard |= words[i] == word;
            if (words[i] < 64) w->seen |= UINT64_C(1) << words[i];
        }
    }
}

// Usually the report comes unasked. If it does not, either the signal did not reach the witness or the witness has not
// run yet: its answer to a question settles that.
bool witness_saw(witness *w, int number)
{
    const uint64_t bit = UINT64_C(1) << number;
    if (!w->process) return false;
    if (!(w->seen & bit)) witness_listen_for(w, (uint8_t)number, PATIENCE_MS);
    if (!(w->seen & bit)) {
        w->question = w->question == LAST ? QUESTION : w->question + 1;
        if (witness_say(w->words, w->question)) witness_listen_for(w, w->question, ANSWER_MS);
    }
    bool saw = w->seen & bit;
    w->seen &= ~bit;
    return saw;
}

void witness_end(witness *w)
{
    if (!w->process) return;
    close(w->words);
    while (waitpid(w->process, NULL, 0) < 0 && errno == EINTR)
        continue;
    *w = (witness){0};
}
