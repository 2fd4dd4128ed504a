// Reads the ticks of a spool while another thread or process writes it. Thread rule: one thread at a time per reader.
#ifndef LIVE_SPOOL_READER_H
#define LIVE_SPOOL_READER_H

#include "spool.h"

typedef struct spool_reader spool_reader;

typedef struct spool_tick {
    uint64_t number;
    int64_t wall_ns;
    bool is_key;
    unsigned reason; // why numbers before it are missing, where some are
    const unsigned char *data;
    size_t size;
    // What it builds on, with its SHA-256.
    const unsigned char *preamble, *hash;
    size_t preamble_size;
} spool_tick;

spool_reader *spool_reader_open(const char *directory);
// The first tick of this number or a higher one; valid until the next call. `high`: the highest number that was written.
// False: there is none yet. To go on with the next number costs no search.
bool spool_reader_get(spool_reader *r, uint64_t number, uint64_t high, spool_tick *t);
void spool_reader_close(spool_reader *r);

#endif
