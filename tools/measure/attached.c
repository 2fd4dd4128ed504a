#include "attached.h"

#include "cli/common.h"
#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/text.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int attached_pidfd(pid_t pid)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0); // closed at exec
#else
    (void)pid;
    errno = ENOSYS;
    return -1;
#endif
}

static bool attached_is_there(pid_t pid)
{
    return kill(pid, 0) == 0 || errno == EPERM;
}

static int attached_add(attached *a, pid_t pid)
{
    struct epoll_event event = {.events = EPOLLIN};
    int fd = attached_pidfd(pid), error = errno;
    if (!attached_is_there(pid)) {
        if (fd >= 0) close(fd);
        return fail(EXIT_FILE, "-p: %d: %s", (int)pid, strerror(ESRCH));
    }
    if (fd < 0 && error == EINVAL) return fail_usage("-p: %d: is a thread; expected its process", (int)pid);
    if (fd < 0 || a->any < 0 || epoll_ctl(a->any, EPOLL_CTL_ADD, fd, &event)) { // before Linux 5.3: looked for by hand
        if (a->any >= 0) close(a->any);
        a->any = -1;
    }
    arrput(a->pids, pid);
    arrput(a->fds, fd);
    return EXIT_DONE;
}

int attached_open(attached *a, const char *text)
{
    int code = EXIT_DONE;
    a->any = epoll_create1(EPOLL_CLOEXEC);
    while (!code) {
        char *end;
        errno = 0;
        long number = strtol(text, &end, 10);
        if (end == text || errno || number <= 0 || number > 0x7fffffff || (*end && *end != ','))
            return fail_usage("-p: %s: expected process numbers, by commas", safe(text));
        code = attached_add(a, (pid_t)number);
        if (!*end) break;
        text = end + 1;
    }
    return code;
}

bool attached_have_ended(attached *a)
{
    size_t ended = 0;
    for (size_t i = 0; i < arrlenu(a->pids); i++) {
        struct pollfd fd = {.fd = a->fds[i], .events = POLLIN};
        if (a->any < 0) {
            ended += !attached_is_there(a->pids[i]);
            continue;
        }
        if (fd.fd >= 0 && poll(&fd, 1, 0) == 1) { // it would stay readable for good
            close(fd.fd);                         // and is in no epoll set any more
            a->fds[i] = -1;
        }
        ended += a->fds[i] < 0;
    }
    return ended == arrlenu(a->pids);
}

bool attached_are_elsewhere(const attached *a)
{
    struct stat here, there;
    for (size_t i = 0; i < arrlenu(a->pids); i++) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/ns/net", (int)a->pids[i]);
        if (stat("/proc/self/ns/net", &here) == 0 && stat(path, &there) == 0 &&
            (here.st_ino != there.st_ino || here.st_dev != there.st_dev))
            return true;
    }
    return false;
}

static void attached_append_program(char **text, pid_t pid)
{
    char path[64], name[32] = "";
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    FILE *f = fopen(path, "re");
    if (f && fgets(name, sizeof name, f)) name[strcspn(name, "\n")] = 0;
    if (f) fclose(f);
    if (*name) text_append(text, " (%s)", name);
}

char *attached_names(const attached *a)
{
    char *text = NULL;
    text_append(&text, arrlenu(a->pids) == 1 ? "process" : "processes");
    for (size_t i = 0; i < arrlenu(a->pids); i++) {
        text_append(&text, "%s %d", i ? "," : "", (int)a->pids[i]);
        attached_append_program(&text, a->pids[i]);
    }
    return text;
}

void attached_close(attached *a)
{
    for (size_t i = 0; i < arrlenu(a->fds); i++)
        if (a->fds[i] >= 0) close(a->fds[i]);
    if (arrlenu(a->pids) && a->any >= 0) close(a->any);
    arrfree(a->pids);
    arrfree(a->fds);
    *a = (attached){0};
}
