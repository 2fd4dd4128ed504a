// What a head knows of its nodes, and of what frames build on. Thread rule: one thread at a time.
#ifndef LIVE_JOURNAL_KNOWN_H
#define LIVE_JOURNAL_KNOWN_H

#include "journal_model.h"
#include "live/wire/receiver.h"

enum { JOURNAL_STREAMS = 64, JOURNAL_ROWS = 1 << 18 }; // streams of one node, and in all: a bound for who is hostile

// A node's stream.
typedef struct journal_row {
    char *node; // "": what said whose it is is damaged; it comes again, as another row
    receiver r;
    bool changed; // since the last commit
    uint64_t committing;
    int64_t heard_ns, tick_ns; // wall clock: when the last frame came; the last tick in it
    uint64_t ticks, frames, refused, bytes;
    uint64_t missing[SPOOL_REASONS]; // ticks that are no more, by reason, over all runs of the head
    int64_t since_ns;                // wall clock: they are counted from here on
    uint64_t counted;                // what is missing up to this number is in `missing`
} journal_row;

typedef struct journal_name {
    char *key; // node and stream
    size_t value;
} journal_name;

typedef struct journal_node {
    char *key;
    size_t *value; // its rows; stb_ds
} journal_node;

typedef struct journal_hash {
    struct journal_hash_key {
        unsigned char bytes[SHA256_BYTES];
    } key;
    uint64_t value; // the last segment that may have a frame that builds on it
} journal_hash;

typedef struct journal_known {
    journal_row *rows;     // stb_ds; they stay at their index
    journal_name *streams; // row by node and stream
    journal_node *nodes;
    journal_hash *hashes;
} journal_known;

void journal_known_init(journal_known *k);
bool journal_known_find(const journal_known *k, const char *node, const unsigned char stream[16], size_t *row);
size_t journal_known_streams(const journal_known *k, const char *node);
size_t journal_known_add(journal_known *k, const char *node, const unsigned char stream[16]);
size_t journal_known_named(const journal_known *k); // rows whose node is known
// The node's stream that was heard from longest ago, before `before_ns`, and of which nothing waits for the disk.
// When a node was heard last, by whichever of its streams; 0: never.
int64_t journal_known_heard(const journal_known *k, const char *node);
bool journal_known_oldest(const journal_known *k, const char *node, int64_t before_ns, size_t *row);
// The row is another stream's of the same node from now on; what the node lost stays counted.
void journal_known_replace(journal_known *k, size_t row, const unsigned char stream[16]);
// These numbers are no more; those that are counted already are not counted again.
void journal_known_miss(journal_row *row, uint64_t first, uint64_t last, unsigned reason);
bool journal_known_has_hash(const journal_known *k, const unsigned char *hash);
void journal_known_use_hash(journal_known *k, const unsigned char *hash, uint64_t segment);
// Forgets those that no segment from this one on has, where these are more than half of all. True: it did.
bool journal_known_forget_hashes(journal_known *k, uint64_t segment);
// Takes over what a segment, or the file of preambles, says.
void journal_known_read(journal_known *k, const char *path);
void journal_known_read_preambles(journal_known *k, const char *path);
void journal_known_free(journal_known *k);

#endif
