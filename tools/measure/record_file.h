// A file that grows while readings come. A thread of its own writes it: a disk that is slow, full or frozen never delays
// a reading. What it cannot write at once waits in memory, up to a bound; errors that may pass (no space, a quota, an
// input/output error) are tried again.
//
// Thread rule: one thread at a time.
#ifndef TOOLS_RECORD_FILE_H
#define TOOLS_RECORD_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum record_existing {
    RECORD_REPLACE, // an existing file is emptied
    RECORD_APPEND   // an existing recording is kept, and the new one put behind it
} record_existing;

typedef struct record_file record_file;

// By the rules of analysis/base/output_file.h for what may be written. NULL after saying why: also when another recorder
// writes it, or the file to append to is no recording.
record_file *record_file_open(const char *path, record_existing existing);
bool record_file_appends(const record_file *file); // there was a recording before
// A netprof_write_fn that never waits long: the data are in the file, or in memory when it returns. 0 or an errno.
int record_file_write(void *file, const void *data, size_t size);
// False: so much waits in memory that the next reading should be left out.
void record_file_settle(record_file *file, int64_t patience_ns); // until all is written, or as long as this
bool record_file_has_room(record_file *file);
void record_file_sync(record_file *file); // asks for all so far to be on the disk; does not wait
// Its name leads to it no more: it was renamed, or (gone) removed, and nobody will find what is written.
bool record_file_is_elsewhere(record_file *file, bool *gone);
uint64_t record_file_size(record_file *file); // what it will have when all is written, what was there before included
// The first error that does not pass, or that there is now; 0: none. cut: somebody shortened the file meanwhile.
int record_file_error(record_file *file, bool *cut);
// Waits until all is written, at most so long; then closes. keep = false: leaves what was there before. Returns 0 or an
// errno; *unwritten: bytes that are lost.
int record_file_close(record_file *file, bool keep, int64_t patience_ns, uint64_t *unwritten);

#endif
