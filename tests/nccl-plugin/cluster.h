// A cluster of 64 ranks on 16 nodes that all-reduce over rings through all of them, each rank a process with the profiler
// plugin, and two adapters that are joined to one network device. Faults are planted in how long steps wait, and in what
// goes through which adapter.
#ifndef NETPROF_CLUSTER_H
#define NETPROF_CLUSTER_H

typedef enum cluster_fault {
    CLUSTER_CLEAN = 0,
    CLUSTER_SLOW_GPU,      // of rank 17
    CLUSTER_SLOW_SENDER,   // rank 17, on the wire to whomever
    CLUSTER_SLOW_RECEIVER, // rank 17 has no room, and flushes slowly
    CLUSTER_SLOW_LINK,     // from rank 17 to rank 22
    CLUSTER_SLOW_RAIL,     // between the fourth GPUs of all nodes
    CLUSTER_SOCKETS,       // rank 17's node has fallen back to sockets
    CLUSTER_UNEQUAL,       // rank 17's second adapter carries, by twice the strength, less than an even share
    CLUSTER_OTHER_RAIL,    // rank 17 uses the adapters of its neighbour
    CLUSTER_ALL_SOCKETS,   // nobody sends through InfiniBand
    CLUSTER_REORDERED,     // no fault: ranks 17 and 18 use each other's
    CLUSTER_FAULTS
} cluster_fault;

// Writes the ranks' files into NETPROF_NCCL_DIR. strength: how many times as long; seed: of the noise.
void cluster_play(cluster_fault fault, double strength, unsigned seed);

#endif
