// Logs as the NCCL Inspector writes them, with planted faults, and what was planted.
//
// Nodes stand in a grid of rows x side. Communicators: tensor parallel on each node, data parallel along each
// row of the grid and pipeline along each column, for each GPU of a node, and one of all ranks. A rank's time is what it
// waits for the last one, then the wire.
#ifndef TESTS_NCCL_GENERATE_H
#define TESTS_NCCL_GENERATE_H

#include <stdbool.h>
#include <stdint.h>

// All zero but directory, side and gpus: clean logs of version 4.0 with names.
typedef struct nccl_generate_plan {
    const char *directory; // is there
    const char *packing;   // "", ".gz" or ".zst"
    int side, gpus;        // nodes: rows * side, ranks: nodes * gpus
    int rows;              // 0: as many as side
    uint64_t records, seed;
    int minor;     // version 4.minor; 0: with names, as NCCL 2.30 writes
    int late_rank; // 1 + global rank that arrives late_us late, after late_from of the run (0 to 1)
    double late_us, late_from;
    int early_rank;   // 1 + global rank; all others arrive late_us after it, after late_from of the run
    double spread_us; // of arrivals, the mean of an exponential distribution; 0: 12
    int late_node;    // 1 + node of which one rank, another each time, is late_us late
    int slow_node;    // 1 + node whose links between nodes have 1 / slow_factor of their bandwidth
    double slow_factor;
    int proxy; // records of the proxy threads, minor 3 or 4: 1 nested, 2 a line each, 3 likewise with times of phases only
    // By peer_factor: 1 + rank whose data are slow on the wire to all, of that for which they are from all, or with both
    // between these two alone; whose GPU produces slowly; to which senders wait for room.
    int slow_sender, slow_receiver, slow_gpu, slow_credit, slow_flush;
    double peer_factor;
    double drop;               // probability that a record is lost
    int corrupt;               // lines of nonsense
    int cut_tails, cut_packed; // files whose last line, or last packed bytes, are missing
} nccl_generate_plan;

typedef struct nccl_generate_truth {
    uint64_t records, dropped, instances, corrupt, bytes;
    uint64_t missed; // dropped, in communicators with more than one rank
    int ranks, files;
    char late_host[64];
    long late_pid;
} nccl_generate_truth;

// 0, or -1 with errno.
int nccl_generate(const nccl_generate_plan *plan, nccl_generate_truth *truth);

#endif
