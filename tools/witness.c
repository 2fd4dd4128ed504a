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

enum { PATIENCE_MS = 50 }; // both get a signal of their group at once; then the scheduler has its way

// The life of the witness: tells what it gets until nobody listens.
static void testify(int words, const sigset_t *signals)
{
    struct pollfd fds[2] = {{.fd = signalfd(-1, signals, SFD_CLOEXEC), .events = POLLIN}, {.fd = words, .events = POLLIN}};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (fds[0].fd >= 0 && (poll(fds, 2, -1) >= 0 || errno == EINTR)) {
        struct signalfd_siginfo info;
        if (fds[1].revents) break; // the other end is closed
        if (!fds[0].revents || read(fds[0].fd, &info, sizeof info) != (ssize_t)sizeof info) continue;
        uint8_t number = (uint8_t)info.ssi_signo;
        if (send(words, &number, 1, MSG_NOSIGNAL) != 1) break;
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
        testify(ends[1], signals);
    }
    close(ends[1]);
    if (process > 0) *w = (witness){process, ends[0]};
    else close(ends[0]);
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

bool witness_saw(witness *w, int number)
{
    const int64_t end = now_ms() + PATIENCE_MS;
    bool saw = false;
    for (int64_t left = PATIENCE_MS; w->process && !saw && left >= 0; left = end - now_ms()) {
        struct pollfd fd = {.fd = w->words, .events = POLLIN};
        uint8_t seen[64];
        if (poll(&fd, 1, (int)left) <= 0) continue;
        ssize_t count = recv(w->words, seen, sizeof seen, MSG_DONTWAIT);
        if (count == 0) break;
        for (ssize_t i = 0; i < count; i++) saw |= seen[i] == number;
    }
    return saw;
}

void witness_end(witness *w)
{
    if (!w->process) return;
    close(w->words);
    while (waitpid(w->process, NULL, 0) < 0 && errno == EINTR) continue;
    *w = (witness){0};
}
