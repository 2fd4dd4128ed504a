#include "whole_file.h"

#include "common.h"
#include "pipes.h"
#include "analysis/base/memory.h"
#include "analysis/base/unfinished.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct whole_file {
    FILE *stream;
    char *path, *temporary; // temporary: NULL when written in place (the standard output, a device, a pipe)
    int error;
};

// A new file takes the mode that the umask leaves; mkstemp() would make it private.
static FILE *whole_file_open_temporary(whole_file *file)
{
    mode_t mask = umask(0);
    umask(mask);
    file->temporary = memory_format("%s.XXXXXX", file->path);
    int fd = mkstemp(file->temporary);
    if (fd < 0) return NULL;
    unfinished_begin(file->temporary);
    if (fchmod(fd, 0666 & ~mask)) errno = 0; // the file is then only less readable
    return memory_check(fdopen(fd, "w"));
}

static FILE *whole_file_open_in_place(const char *path, bool is_pipe)
{
    int fd = is_pipe ? pipe_open(path) : open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (fd >= 0 && is_pipe) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    return fd >= 0 ? memory_check(fdopen(fd, "w")) : NULL;
}

whole_file *whole_file_open(const char *path)
{
    whole_file *file = memory_calloc(1, sizeof *file);
    struct stat st;
    file->path = memory_strdup(path);
    if (strcmp(path, "-") == 0)
        file->stream = stdout;
    else if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        file->stream = whole_file_open_in_place(path, S_ISFIFO(st.st_mode)); // /dev/null is no file to replace
    else
        file->stream = whole_file_open_temporary(file);
    if (file->stream) return file;
    fail(EXIT_FILE, "%s: %s", safe(path), strerror(errno));
    free(file->temporary);
    free(file->path);
    free(file);
    return NULL;
}

int whole_file_write(void *user, const void *data, size_t size)
{
    whole_file *file = user;
    if (!file->error && fwrite(data, 1, size, file->stream) != size) file->error = errno ? errno : EIO;
    return file->error;
}

static int whole_file_finish(whole_file *file, bool keep)
{
    FILE *stream = file->stream;
    if (stream == stdout) return fflush(stdout) ? errno : 0;
    int error = fflush(stream) ? errno : 0;
    if (!error && keep && file->temporary && fsync(fileno(stream))) error = errno;
    if (fclose(stream) && !error) error = errno;
    if (!error && keep && file->temporary && rename(file->temporary, file->path)) error = errno;
    return error;
}

int whole_file_close(whole_file *file, bool keep)
{
    int error = whole_file_finish(file, keep && !file->error);
    if (file->error) error = file->error;
    if (file->temporary && (error || !keep)) unlink(file->temporary);
    unfinished_end(file->temporary);
    bool told = keep || file->error; // a write that failed is why it is not kept
    int code = told && error ? fail(EXIT_FILE, "%s: %s", safe(file->path), strerror(error)) : EXIT_DONE;
    if (file->stream == stdout && error) clearerr(stdout); // said once
    free(file->temporary);
    free(file->path);
    free(file);
    return code;
}
