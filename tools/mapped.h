// A file that grows through memory: what is copied there is the kernel's at once and outlives this process however it ends,
// without a system call. Behind what was written stand zeros, until the file is closed.
#ifndef TOOLS_MAPPED_H
#define TOOLS_MAPPED_H

#include <stdbool.h>
#include <stddef.h>

typedef struct mapped mapped;

// Empties the file, or makes it. NULL where memory is no place for its bytes: they would not be sure to have room on the
// disk, or belong to many machines. At most one is open at a time, for it handles SIGBUS meanwhile.
mapped *mapped_open(const char *path);
// A netprof_write_fn. Where no more room can be made ready it writes as others do. EIO, too, when somebody cut the file.
int mapped_write(void *file, const void *data, size_t size);
// Whether somebody cut the file, which lost bytes then.
bool mapped_is_cut(mapped *file);
// Cuts the file behind what was written. 0 or an errno.
int mapped_close(mapped *file);

#endif
