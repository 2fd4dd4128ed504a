// Output files that appear whole or not at all.
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

#endif
