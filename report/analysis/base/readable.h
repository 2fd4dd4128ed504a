// Opening inputs, by one set of rules: nothing hangs unsaid, nothing is read without end, and nothing is read twice that can
// be read only once.
//
// A regular file is opened. A pipe, a terminal and "-" (the standard input) are read once, to their end, into a temporary
// file without a name; whoever opens them again gets the same bytes. A named pipe that nobody writes yet is waited for,
// and that is said. Devices are refused, but for /dev/null, which is empty.
//
// What gzip or zstd packed, by its first bytes and whatever its name, is unpacked into such a temporary file, in which zeros
// take no room: 4 GiB at most, and beyond 256 MiB at most a hundred times its own size. Of one that is cut there is what
// comes before the cut. Thread rule: any.
#ifndef NETPROF_READABLE_H
#define NETPROF_READABLE_H

#include <stdbool.h>
#include <stdio.h>

int readable_open_packed(const char *path); // as it is: for those who unpack while they read
int readable_open(const char *path);        // a descriptor at the first byte that can seek; -1 with errno
FILE *readable_stream(const char *path);    // the same; NULL with errno
const char *readable_error(int number);     // words for that errno
// A path that others can open by themselves: the same one, or that of the temporary file. NULL with errno; free() it.
char *readable_path(const char *path);
// Is another process writing it? Recorders lock the file that they write.
bool readable_grows(int fd);
// Called when nobody writes a named pipe yet (true), and when the waiting is over (false).
void readable_on_wait(void (*waits)(const char *path, int begins));

#endif
