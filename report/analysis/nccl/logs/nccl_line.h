// One line of an Inspector log: strict JSON (RFC 8259, at most 512 deep), keys in any order, unknown keys skipped, of
// keys that come twice the last. Nothing is allocated and no locale matters. Thread rule: any.
#ifndef NETPROF_NCCL_LINE_H
#define NETPROF_NCCL_LINE_H

#include "nccl_model.h"

enum { NCCL_LINE_PAD = 32 }; // bytes after a line that must be readable

// The inside of a JSON string, as it is in the line; `escaped`: it has a backslash.
typedef struct nccl_text {
    const char *at;
    uint32_t length;
    bool escaped;
} nccl_text;

// Bits of `seen`: the fields that are there with a value of their kind; of `wrong`: there with another. The bit of a
// field is its place in its struct, from 0.
typedef struct nccl_header {
    uint32_t seen, wrong;
    nccl_text id, name;
    uint64_t rank, ranks, nodes;
} nccl_header;

typedef struct nccl_metadata {
    uint32_t seen, wrong;
    nccl_text version, host;
    uint64_t dump_us, pid;
} nccl_metadata;

// A collective, or point to point (coll is then the operation).
typedef struct nccl_perf {
    uint32_t seen, wrong;
    nccl_text coll, algo, proto, timing;
    uint64_t sn, size, time_us, peer;
    double bus_gbs;
    nccl_trace trace;
} nccl_perf;
enum { // bits of nccl_perf
    NCCL_PERF_COLL,
    NCCL_PERF_ALGO,
    NCCL_PERF_PROTO,
    NCCL_PERF_TIMING,
    NCCL_PERF_SN,
    NCCL_PERF_SIZE,
    NCCL_PERF_TIME,
    NCCL_PERF_PEER,
    NCCL_PERF_BUS,
    NCCL_PERF_TRACE
};

typedef struct nccl_stats_line {
    uint32_t seen, wrong;
    uint64_t coll_records, coll_dropped, p2p_records, p2p_dropped, proxy_records;
    uint64_t untimed_records, parts_dropped; // of files of netprof's plugin
} nccl_stats_line;

// When a step entered its phases, us since the epoch; 0: not seen.
typedef struct nccl_proxy_times {
    uint64_t send_gpu_us, send_peer_us, send_us, recv_us, recv_flush_us, recv_gpu_us, stop_us;
} nccl_proxy_times;

typedef struct nccl_proxy_line {
    uint32_t seen, wrong;
    nccl_text kind, direction; // record_type: proxy_op, proxy_op_start, proxy_op_segment, proxy_step
    nccl_text parent;          // of which kind of call it is a part: "coll", "p2p"
    uint64_t parent_sn; // the sequence number of that call: of its collective, one among those of its communicator
    uint64_t peer, bytes, total_us, steps, steps_dropped;
    // Of this line itself (a step), or summed over its steps; gpu: producing when sending, consuming when receiving.
    uint64_t gpu_us, credit_us, wire_us, flush_us;
    uint64_t timed, step_bytes; // steps with any of these times, and what they moved
    nccl_proxy_times at;
    uint64_t from_us, to_us; // of all its steps, from the first time to the last; 0: none was logged
    bool final;
    uint64_t operations; // that it sums up; 0: it is one
    uint64_t unsized;    // of these: whose bytes nobody recorded
    uint64_t verbs_operations, socket_operations;
} nccl_proxy_line;
enum {
    NCCL_PROXY_KIND,
    NCCL_PROXY_DIRECTION,
    NCCL_PROXY_PEER,
    NCCL_PROXY_BYTES,
    NCCL_PROXY_PARENT = 15,
    NCCL_PROXY_PARENT_SN
};

typedef struct nccl_line {
    nccl_outcome outcome; // judged by this line alone
    bool invalid_size;
    bool bare; // no header: context comes from the last dump_stats
    int minor; // of the version "v4.minor", 16 + minor of "v5.minor"; -1: another, or none
    nccl_header header;
    nccl_metadata metadata;
    nccl_perf perf;        // NCCL_COLL, NCCL_P2P
    nccl_stats_line stats; // NCCL_DUMP_STATS
    nccl_proxy_line proxy; // NCCL_PROXY
} nccl_line;

// text[length] must be '\n', and NCCL_LINE_PAD bytes after it readable. `line` need not be initialised; its texts
// point into `text`.
void nccl_line_parse(nccl_line *line, const char *text, size_t length);
// The text with its escapes resolved, at most size - 1 bytes, and a NUL. Returns its length without the NUL.
// Unpaired surrogates and NUL become U+FFFD.
size_t nccl_text_decode(const nccl_text *text, char *to, size_t size);

#endif
