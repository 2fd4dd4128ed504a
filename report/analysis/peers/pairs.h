// Who sent how much to whom, and what that waited for: a sparse matrix of senders (rows) and receivers (columns), of the
// ranks of a job, as one layer knows it (MPI, NCCL). A late sender is a row, a late receiver a column, a slow way a cell.
//
//     pairs p = {.layer = "MPI"};
//     size_t a = pairs_add_node(&p, "n01"), rank = pairs_add_place(&p, "rank 0", a);
//     pairs_add(&p, &(pairs_cell){.sender = 0, .receiver = 1, .bytes = 100, .messages = 1});
//     pairs_finish(&p);
//     ... p.cells, in order; pairs_free(&p);
//
// Names come from outside and are hostile. Thread rule: one thread at a time.
#ifndef NETPROF_PAIRS_H
#define NETPROF_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAIRS_NONE ((size_t)-1)

// A rank.
typedef struct pairs_place {
    char *label; // "rank 17"
    size_t node; // in nodes
} pairs_place;

// All that one sent to another. Sums saturate.
typedef struct pairs_cell {
    uint32_t sender, receiver; // in places
    uint64_t bytes, messages;
    double delay_ns;  // summed over ...
    uint64_t delayed; // ... so many messages or steps whose time is known
} pairs_cell;

// What a finding names, to be framed: PAIRS_NONE leaves a side open, so one side alone is a row or a column.
typedef struct pairs_mark {
    size_t sender, receiver; // places
} pairs_mark;

// Start from {0}, or with a layer; pairs_free() at the end.
typedef struct pairs {
    const char *layer; // "MPI"; a literal
    const char *delay; // what the delay is the mean of, in words; a literal; NULL: there is none
    char **nodes;      // stb_ds, as are the next two: names, in the order in which they were added
    pairs_place *places;
    pairs_cell *cells;        // by sender, receiver; each pair once
    pairs_mark mark;          // of the worst finding
    uint64_t outside_bytes;   // sent to whom the files do not tell
    uint64_t dropped;         // cells beyond PAIRS_MOST: their bytes are outside_bytes
    uint64_t together_bytes;  // handed to calls of all ranks: nobody says which way they took
    bool unknown;             // nobody recorded what went from one to another
    bool at_least;            // of some that was not recorded: bytes are at least so many
    double unassigned_ns;     // of waiting that names no peer
    double taken_ns;          // of waiting until a known peer took what was sent: in no delay
    struct pairs_index *seen; // private
} pairs;

enum { PAIRS_MOST = 1 << 21 }; // cells that are kept, 96 MiB

size_t pairs_add_node(pairs *p, const char *name); // the same name is the same node
size_t pairs_add_place(pairs *p, const char *label, size_t node);
void pairs_add(pairs *p, const pairs_cell *cell);
void pairs_finish(pairs *p);
void pairs_free(pairs *p);

static inline size_t pairs_node_of(const pairs *p, uint32_t place)
{
    return p->places[place].node;
}

// Of a message; NAN: no time is known.
double pairs_delay_of(const pairs_cell *cell);
// NULL: they never sent.
const pairs_cell *pairs_find(const pairs *p, size_t sender, size_t receiver);

// Bytes within nodes, which no NIC sees, and between them; of each node, [nodes], may be NULL.
typedef struct pairs_sums {
    uint64_t within, between, messages;
    size_t pairs;
    double delay_ns;
    uint64_t delayed;
} pairs_sums;
pairs_sums pairs_sum(const pairs *p, uint64_t *sent_between, uint64_t *received_between);

// The same by node: places are nodes, the diagonal is what stayed within them.
void pairs_by_node(pairs *to, const pairs *from);

// The indexes of the cells with most bytes, largest first; at most `most`. Returns how many. free(*list).
size_t pairs_largest(const pairs *p, size_t most, size_t **list);

#endif
