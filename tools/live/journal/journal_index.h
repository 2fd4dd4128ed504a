// What a head's journal holds of a stretch of time, stream by stream, while the head goes on writing it or after it died.
// Thread rule: one thread at a time per index.
#ifndef LIVE_JOURNAL_INDEX_H
#define LIVE_JOURNAL_INDEX_H

#include "journal_model.h"
#include "journal_stretch.h"
#include "live/wire/frame.h"

typedef struct journal_stream {
    char *node; // "unnamed-...": what said of which node it is is damaged
    unsigned char stream[16];
    journal_stretch *stretches; // stb_ds; of an empty stream NULL
    bool is_first;              // of its node
    size_t after;               // the next stream of this node; 0: there is none
    uint64_t next;              // private, as what follows
    journal_stretch *earlier;   // what is here of it from before the head asked for it again; stb_ds
    int64_t last_ns;            // of the last tick so far
    bool begun;
} journal_stream;

typedef struct journal_index journal_index;

// Keeps what lies in [from_ns, to_ns], and before it what that builds on. NULL: *why says why not; free() it.
journal_index *journal_index_open(const char *directory, int64_t from_ns, int64_t to_ns, char **why);
// Several heads' journals as one: each number once, from wherever it is.
journal_index *journal_index_open_all(const char *const *directories, size_t count, int64_t from_ns, int64_t to_ns,
                                      char **why);
size_t journal_index_count(const journal_index *x);
const journal_stream *journal_index_stream(const journal_index *x, size_t stream);
// The frame of a stretch; it points into memory that is valid until the next call. False: it cannot be read any more.
bool journal_index_frame(journal_index *x, const journal_stretch *s, frame *f);
// The preamble with this hash; valid until the next call. NULL: it is not known.
const unsigned char *journal_index_preamble(journal_index *x, const unsigned char *hash, size_t *size);
void journal_index_close(journal_index *x);

#endif
