// Output files by the rules of analysis/base/output_file.h, with messages.
#ifndef TOOLS_WHOLE_FILE_H
#define TOOLS_WHOLE_FILE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct whole_file whole_file;

// "-" is the standard output. NULL after saying why.
whole_file *whole_file_open(const char *path);
int whole_file_write(void *file, const void *data, size_t size); // a netprof_write_fn
// keep = false drops it. Returns an exit code, after saying what went wrong.
int whole_file_close(whole_file *file, bool keep);

// EXIT_USAGE, after saying so, when the output (NULL: none) is one of the inputs; else EXIT_DONE.
int whole_file_refuse_inputs(const char *output, const char *const *inputs, size_t count);
void whole_file_waits(const char *path, int begins); // shows that a named pipe has no reader yet, see pipe_open()

#endif
