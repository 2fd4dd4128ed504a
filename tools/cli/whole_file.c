#define _GNU_SOURCE // fopencookie
#include "whole_file.h"

#include "common.h"
#include "analysis/base/memory.h"
#include "analysis/base/output_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct whole_file {
    output_file *out;
    FILE *stream; // the same, buffered
    char *path;
    int error;
};

void whole_file_waits(const char *path, int begins)
{
    if (begins)
        progress("waiting for a reader of %s", safe(path));
    else
        progress_end();
}

static ssize_t whole_file_pass_on(void *user, const char *data, size_t size)
{
    whole_file *file = user;
    int error = output_file_write(file->out, data, size);
    if (!error) return (ssize_t)size;
    errno = error;
    return 0;
}

whole_file *whole_file_open(const char *path)
{
    whole_file *file = memory_calloc(1, sizeof *file);
    const cookie_io_functions_t calls = {.write = whole_file_pass_on};
    const char *why;
    file->path = memory_strdup(path);
    if (strcmp(path, "-") == 0) {
        file->stream = stdout;
    } else if ((file->out = output_file_open(path, whole_file_waits, &why))) {
        file->stream = memory_check(fopencookie(file, "w", calls));
    } else {
        fail_file(EXIT_FILE, path, "%s", why);
        free(file->path);
        free(file);
        return NULL;
    }
    return file;
}

int whole_file_write(void *user, const void *data, size_t size)
{
    whole_file *file = user;
    if (!file->error && fwrite(data, 1, size, file->stream) != size) file->error = errno ? errno : EIO;
    return file->error;
}

static int whole_file_finish(whole_file *file, bool keep)
{
    if (file->stream == stdout) return fflush(stdout) ? errno : 0;
    int error = fflush(file->stream) ? errno : 0;
    if (fclose(file->stream) && !error) error = errno;
    int closed = output_file_close(file->out, keep && !error);
    return error ? error : closed;
}

int whole_file_close(whole_file *file, bool keep)
{
    int error = whole_file_finish(file, keep && !file->error);
    if (file->error) error = file->error;
    bool told = keep || file->error; // a write that failed is why it is not kept
    int code = told && error ? fail_file(EXIT_FILE, file->path, "%s", strerror(error)) : EXIT_DONE;
    if (file->stream == stdout && error) clearerr(stdout); // said once
    free(file->path);
    free(file);
    return code;
}

int whole_file_refuse_inputs(const char *output, const char *const *inputs, size_t count)
{
    for (size_t i = 0; output && i < count; i++)
        if (output_file_is(output, inputs[i]))
            return fail_usage("-o %s: is also an input; choose another name", safe(output));
    return EXIT_DONE;
}
