#ifndef NETPROF_ANONYMOUS_FILE_H
#define NETPROF_ANONYMOUS_FILE_H

// A file without a name, empty, for reading and writing, that is gone when it is closed and that started programs do not
// get: memory (Linux 3.17), and where the kernel lacks that, a file in $TMPDIR or /tmp. `what` is for people who look at
// /proc. -1, and errno: neither.
int anonymous_file(const char *what);

#endif
