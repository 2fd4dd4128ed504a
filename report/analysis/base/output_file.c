#define _GNU_SOURCE // memfd_create, mkostemp
#include "output_file.h"

#include "memory.h"
#include "pipe_write.h"
#include "unfinished.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_LINKS = 40 };

struct output_file {
    output_place place;
    char *temporary;
    int fd, error;
};

// ---- where a path leads ----

static bool output_place_refuse(output_place *p, const char *what, uid_t owner)
{
    snprintf(p->refused, sizeof p->refused, "%s of user %lu: the superuser does not write there", what,
             (unsigned long)owner);
    return false;
}

// What the kernel offers as a file, but cannot be renamed over.
static bool output_place_is_magic(const char *path)
{
    static const char *const names[] = {"/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(path, names[i], strlen(names[i])) == 0) return true;
    return false;
}

// The path that a link holds, seen from the link's directory.
static char *output_place_follow(const char *link)
{
    char text[PATH_MAX];
    ssize_t n = readlink(link, text, sizeof text - 1);
    if (n <= 0) return NULL;
    text[n] = 0;
    const char *slash = strrchr(link, '/');
    if (*text == '/' || !slash) return memory_strdup(text);
    return memory_format("%.*s/%s", (int)(slash - link), link, text);
}

// Also of a link to a file that does not exist yet.
static bool output_place_follow_links(output_place *p)
{
    struct stat st;
    for (int i = 0; lstat(p->target, &st) == 0 && S_ISLNK(st.st_mode) && !output_place_is_magic(p->target); i++) {
        if (geteuid() == 0 && st.st_uid != 0) return output_place_refuse(p, "a symbolic link", st.st_uid);
        char *next = i < MOST_LINKS ? output_place_follow(p->target) : NULL;
        if (!next) {
            snprintf(p->refused, sizeof p->refused, "%s", strerror(i < MOST_LINKS ? errno : ELOOP));
            return false;
        }
        free(p->target);
        p->target = next;
    }
    return true;
}

bool output_place_find(output_place *p, const char *path)
{
    struct stat st;
    *p = (output_place){.target = memory_strdup(path)};
    p->standard = strcmp(path, "-") == 0;
    p->in_place = p->standard || output_place_is_magic(path);
    if (p->in_place) return true;
    if (!output_place_follow_links(p)) return false;
    if (output_place_is_magic(p->target)) return p->in_place = true;
    if (stat(p->target, &st)) return true; // it will be made, or opening it says why not
    if (S_ISDIR(st.st_mode)) {
        snprintf(p->refused, sizeof p->refused, "%s", strerror(EISDIR));
        return false;
    }
    p->exists = S_ISREG(st.st_mode);
    p->in_place = !p->exists;
    p->is_pipe = S_ISFIFO(st.st_mode);
    p->mode = st.st_mode & 07777;
    p->owner = st.st_uid;
    p->group = st.st_gid;
    bool foreign = geteuid() == 0 && st.st_uid != 0;
    if (foreign && p->is_pipe) return output_place_refuse(p, "a named pipe", st.st_uid);
    if (foreign && S_ISSOCK(st.st_mode)) return output_place_refuse(p, "a socket", st.st_uid);
    return true;
}

void output_place_free(output_place *p)
{
    free(p->target);
    *p = (output_place){.target = NULL};
}

int output_place_open(const output_place *p, void (*waits)(const char *path, int begins))
{
    if (p->standard) return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (!p->is_pipe) return open(p->target, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
    int fd = pipe_open(p->target, waits);
    if (fd >= 0) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    return fd;
}

// A new file takes the mode that the umask leaves; mkostemp() would make it private.
int output_place_beside(const output_place *p, char **name)
{
    mode_t mask = umask(0);
    umask(mask);
    *name = memory_format("%s.XXXXXX", p->target);
    int fd = mkostemp(*name, O_CLOEXEC);
    if (fd < 0) return fd;
    // A file that is less readable, or belongs to us, is no reason to fail. The owner first: changing it clears set-id bits.
    if (p->exists && geteuid() == 0 && fchown(fd, (uid_t)p->owner, (gid_t)p->group)) errno = 0;
    if (fchmod(fd, p->exists ? p->mode & 0777 : 0666 & ~mask)) errno = 0;
    return fd;
}

static int output_place_sync_directory(const char *path)
{
    char *copy = memory_strdup(path);
    int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC), error = 0;
    free(copy);
    if (fd < 0) return 0; // a directory that may be written and not read: the name is there, only later on the disk
    if (fsync(fd) && errno != EINVAL && errno != ENOSYS && errno != EBADF) error = errno;
    close(fd);
    return error;
}

int output_place_publish(const output_place *p, const char *temporary)
{
    if (rename(temporary, p->target)) return errno;
    return output_place_sync_directory(p->target);
}

bool output_file_is(const char *output, const char *input)
{
    struct stat a, b;
    return strcmp(output, "-") != 0 && strcmp(input, "-") != 0 && stat(output, &a) == 0 && stat(input, &b) == 0 &&
           S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// ---- writing ----

output_file *output_file_open(const char *path, void (*waits)(const char *path, int begins), const char **why)
{
    static _Thread_local char text[160];
    output_file *file = memory_calloc(1, sizeof *file);
    bool usable = output_place_find(&file->place, path);
    if (usable)
        file->fd = file->place.in_place ? output_place_open(&file->place, waits)
                                        : output_place_beside(&file->place, &file->temporary);
    if (usable && file->fd >= 0) {
        if (file->temporary) unfinished_begin(file->temporary);
        return file;
    }
    snprintf(text, sizeof text, "%s", usable ? strerror(errno) : file->place.refused);
    *why = text;
    output_place_free(&file->place);
    free(file->temporary);
    free(file);
    return NULL;
}

int output_file_write(void *user, const void *data, size_t size)
{
    output_file *file = user;
    if (file->error) return file->error;
    if (file->place.is_pipe) return file->error = pipe_write(&file->fd, data, size);
    while (size) {
        ssize_t n = write(file->fd, data, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return file->error = n < 0 ? errno : ENOSPC;
        data = (const char *)data + n;
        size -= (size_t)n;
    }
    return 0;
}

int output_file_descriptor(const output_file *file)
{
    return file->fd;
}

int output_file_close(output_file *file, bool keep)
{
    int error = file->error;
    keep &= !error;
    if (keep && file->temporary && fsync(file->fd) && errno != EINVAL && errno != ENOSYS) error = errno;
    if (close(file->fd) && errno != EINTR && !error) error = errno;
    if (keep && !error && file->temporary) error = output_place_publish(&file->place, file->temporary);
    if (file->temporary && (!keep || error)) unlink(file->temporary);
    unfinished_end(file->temporary);
    output_place_free(&file->place);
    free(file->temporary);
    free(file);
    return error;
}

// ---- signals ----

static bool output_ignored_before;

void output_file_signals(void)
{
    struct sigaction before;
    if (sigaction(SIGXFSZ, NULL, &before) == 0) output_ignored_before = before.sa_handler == SIG_IGN;
    signal(SIGXFSZ, SIG_IGN);
}

void output_file_signals_restore(void)
{
    if (!output_ignored_before) signal(SIGXFSZ, SIG_DFL);
}

int output_file_nameless(const char *what)
{
    int fd = memfd_create(what, MFD_CLOEXEC);
    if (fd >= 0 || (errno != ENOSYS && errno != EPERM)) return fd; // EPERM: a filter of a container's
    const char *directory = getenv("TMPDIR");
    char path[4096];
    int n = snprintf(path, sizeof path, "%s/netprof-XXXXXX", directory && *directory ? directory : "/tmp");
    if (n < 0 || (size_t)n >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0) unlink(path);
    return fd;
}
