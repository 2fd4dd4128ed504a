// A chunk: a file, or the lines that begin in a part of it, before everything is put together. Thread rule: one thread
// at a time per chunk.
#ifndef NETPROF_NCCL_CHUNK_H
#define NETPROF_NCCL_CHUNK_H

#include "nccl_line.h"
#include "nccl_memory.h"

#include "analysis/base/stb_ds.h"

typedef struct nccl_local_member {
    const char *id, *name, *host;
    int64_t rank, ranks, nodes, pid;
    nccl_dump_stats stats;
    uint64_t first_dump_us, last_dump_us;
    uint64_t steps_back; // records whose sequence number was not above those before
    uint32_t global;     // set when the chunks are put together
} nccl_local_member;

typedef struct nccl_local_slot {
    uint32_t member, what, track;
    uint32_t owner;  // set when the chunks are put together: the member there, ...
    uint32_t global; // ... and the slot; NCCL_NONE: left out
    uint64_t size, count;
} nccl_local_slot;

// The first and the highest sequence number of a member and what.
typedef struct nccl_track {
    uint32_t member, what;
    bool any;
    uint64_t first_sn, sn, dump_us; // dump_us: of the highest
} nccl_track;

typedef struct nccl_p2p_record {
    uint32_t member, what;
    int64_t peer;
    uint64_t sn, size, time_us;
    double bus_gbs;
} nccl_p2p_record;

// What proxies did for the calls of one kind and number, in one direction, or for all that the lines do not name. Lines that
// tell when it was are summed up only where they overlap, for calls with one number may be several, at different times.
typedef enum nccl_parent_kind { NCCL_PARENT_UNNAMED = 0, NCCL_PARENT_COLL, NCCL_PARENT_P2P } nccl_parent_kind;
typedef struct nccl_parent {
    uint32_t member;
    nccl_parent_kind kind;
    bool sends, unsized; // unsized: an operation does not tell its bytes
    uint64_t sn;
    uint64_t lines, timed, bytes, step_bytes, gpu_us, credit_us, wire_us, flush_us;
    uint64_t from_us, to_us; // 0: not known
} nccl_parent;

// From the last dump_stats: whose the bare lines are, and how many may come.
typedef struct nccl_bare_context {
    uint32_t member; // NCCL_NONE: none
    uint64_t dump_us, coll_left, p2p_left;
} nccl_bare_context;

#define NCCL_INHERITED 0 // the member that represents the context at the end of the previous chunk

typedef struct nccl_chunk {
    uint32_t file;
    uint64_t begin, end; // lines that begin in these bytes of a plain file; end UINT64_MAX: to the end
    nccl_packing packing;
    const char *problem;
    int error;
    bool tail_cut;
    uint64_t bytes, lines, outcomes[NCCL_OUTCOMES], invalid_sizes, first_bad_line, taken;
    uint64_t versions;
    bool foreign_version;
    nccl_arena arena;
    nccl_index member_index, what_index, slot_index, track_index, proxy_index, parent_index;
    // Arrays of stb_ds:
    nccl_local_member *members; // [0]: NCCL_INHERITED
    nccl_what *whats;
    nccl_local_slot *slots;
    nccl_track *tracks;
    nccl_record *records; // slot and trace are the chunk's own
    nccl_trace *traces;
    nccl_p2p_record *p2p;
    nccl_proxy *proxies;
    nccl_parent *parents; // of logs of the Inspector
    nccl_spent *spent;    // members are the chunk's own
    nccl_span *spans;     // of files of netprof's plugin, like the next
    nccl_used *used;
    uint64_t snapshots;
    const char *rdma; // as in nccl_file; NULL: none
    nccl_bare_context context;
    bool context_told; // a dump_stats was seen: context is this chunk's own
    uint64_t inherited_coll, inherited_p2p, inherited_proxy;
} nccl_chunk;

// Prepares an empty chunk for nccl_chunk_feed(); nccl_chunk_read() does it itself.
void nccl_chunk_begin(nccl_chunk *c);
// Reads the chunk's lines. `done` grows by the bytes that were read from disk.
void nccl_chunk_read(nccl_chunk *c, const char *path, size_t max_line, uint64_t *done);
// One line; text[length] must be '\n' and NCCL_LINE_PAD bytes after it readable.
void nccl_chunk_use(nccl_chunk *c, nccl_line *line);                    // a line whose outcome is NCCL_COLL or after it
void nccl_chunk_note_time(nccl_chunk *c, uint32_t member, uint64_t us); // something of it was then
uint32_t nccl_chunk_member(nccl_chunk *c, const nccl_line *line);       // the chunk's own
void nccl_chunk_feed(nccl_chunk *c, const char *text, size_t length);
void nccl_chunk_free(nccl_chunk *c);

#endif
