// Files of entries that are only ever appended to: the segments of an agent's spool and of a head's journal.
//
//     File  = header of 64 bytes, then entries.
//     Header: 8 bytes 4e 50 4c 4f 47 0d 0a 01, u32 version (1), u32 CRC-32C of the other 60 bytes, u64 salt, 16 bytes of
//             owner, u64 first, i64 time_ns, u64 free to the owner.
//     Entry = head of 36 bytes, then its data. Head: u32 magic, u32 size of the data, u16 kind, u16 flags, u32 CRC-32C of
//             the data, u64 number, i64 time_ns, u32 CRC-32C of the 32 bytes before it, begun with the salt.
//
// Integers are little-endian. The salt is random, so that data from a network, which are what somebody else made them,
// never pass for an entry. What is damaged costs itself: reading goes on at the next head with a correct checksum. A tail
// that was torn off by a kill is cut by whoever appends next.
//
// Thread rule: one thread at a time per seglog and per seglog_reader; a reader may follow a file that grows.
#ifndef LIVE_SEGLOG_H
#define LIVE_SEGLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SEGLOG_HEADER = 64, SEGLOG_HEAD = 36, SEGLOG_MOST = 64 << 20 }; // the most data of an entry

typedef struct seglog_entry {
    uint16_t kind, flags;
    uint32_t size;
    uint64_t number;
    int64_t time_ns;
    const unsigned char *data;
} seglog_entry;

typedef struct seglog_header {
    unsigned char owner[16];
    uint64_t salt, first, extra;
    int64_t time_ns;
} seglog_header;

// ---- writing ----

typedef struct seglog {
    int fd; // -1: not open
    uint32_t seed;
    uint64_t size; // of what is whole
} seglog;

// Random bytes of the kernel; 0 or an errno.
int seglog_random(void *to, size_t size);
// A new file, which must not be there yet; its salt is chosen here. 0 or an errno.
int seglog_create(seglog *log, const char *path, seglog_header *header);
// Goes on behind the last whole entry of a file, and cuts what is behind that. 0 or an errno, EILSEQ where it is no such
// file. *cut: bytes that were cut.
int seglog_continue(seglog *log, const char *path, seglog_header *header, uint64_t *cut);
// All or nothing: after a failure the file is again what it was. 0 or an errno.
int seglog_append(seglog *log, const seglog_entry *e);
// The bytes of an entry with this file's salt, for many to be written at once; `to` has SEGLOG_HEAD bytes.
void seglog_head(const seglog *log, unsigned char *to, const seglog_entry *e);
// Appends bytes that are entries already. All or nothing; 0 or an errno.
int seglog_append_made(seglog *log, const void *data, size_t size);
void seglog_take_back(seglog *log, uint64_t size); // cuts it to this size
int seglog_sync(seglog *log);                      // 0 or an errno
void seglog_close(seglog *log);

// ---- reading ----

typedef struct seglog_reader {
    seglog_header header;
    uint64_t at;   // where the next entry begins
    uint64_t lost; // bytes so far that were no entry, with an entry behind them
    // private
    int fd;
    const unsigned char *memory;
    size_t memory_size;
    uint32_t seed;
    unsigned char *buffer;
    size_t room;
    unsigned char *window; // what the file held from window_at on
    uint64_t window_at;
    size_t window_size;
} seglog_reader;

// 0 or an errno, EILSEQ where it is no such file.
int seglog_reader_open(seglog_reader *r, const char *path);
int seglog_reader_memory(seglog_reader *r, const void *data, size_t size);
// The next entry, valid until the next call. False: none yet, or none any more; r->at stays.
bool seglog_reader_next(seglog_reader *r, seglog_entry *e);
// The same without looking behind damage: for the file that is being written, whose end may be half an entry.
bool seglog_reader_here(seglog_reader *r, seglog_entry *e);
void seglog_reader_close(seglog_reader *r);

#endif
