#include "pipe_write.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 50 };

bool pipe_is_interrupted(void)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    sigset_t pending;
    if (sigpending(&pending)) return false;
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        if (sigismember(&pending, ending[i]) == 1) return true;
    return false;
}

int pipe_open(const char *path, void (*waits)(const char *path, int begins))
{
    bool waiting = false;
    int fd;
    while ((fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0 && errno == ENXIO) { // nobody reads it yet
        if (waits && !waiting) waits(path, 1);
        waiting = true;
        poll(NULL, 0, LOOK_MS);
        if (!pipe_is_interrupted()) continue;
        errno = EINTR;
        break;
    }
    int error = errno;
    if (waits && waiting) waits(path, 0);
    errno = error;
    return fd;
}

// A reader that went away is an error here, no signal that ends the program.
static ssize_t pipe_write_quietly(int fd, const void *data, size_t size)
{
    static const struct timespec now = {0};
    sigset_t broken, before, pending;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    sigpending(&pending);
    sigprocmask(SIG_BLOCK, &broken, &before);
    ssize_t n = write(fd, data, size);
    int error = errno;
    if (n < 0 && error == EPIPE && !sigismember(&pending, SIGPIPE)) sigtimedwait(&broken, NULL, &now);
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return n;
}

int pipe_write(void *pipe, const void *data, size_t size)
{
    struct pollfd room = {.fd = *(const int *)pipe, .events = POLLOUT};
    while (size) {
        ssize_t n = pipe_write_quietly(room.fd, data, size);
        if (n < 0 && errno != EAGAIN && errno != EINTR) return errno;
        if (n < 0 && pipe_is_interrupted()) return EINTR;
        if (n < 0) poll(&room, 1, LOOK_MS);
        if (n <= 0) continue;
        data = (const char *)data + n;
        size -= (size_t)n;
    }
    return 0;
}
