// Which adapters processes send through, and which of them have the same place on their hosts: those that share a rail where
// each place has a NIC of its own. Thread rule: one thread at a time.
#ifndef NETPROF_NCCL_PLACES_H
#define NETPROF_NCCL_PLACES_H

#include "nccl_peers.h"

// What a process sent through one RDMA adapter, over its communicators.
typedef struct nccl_sends {
    uint32_t process;
    int64_t device; // member of a joined device
    const char *adapter;
    double bytes, requests;
} nccl_sends;

nccl_sends *nccl_sends_make(const nccl *n, size_t *count); // by process, device and adapter; free()
// By process: the adapters that carry what it sends, those with less than a hundredth left out: "mlx5_2", "mlx5_2 and
// mlx5_3". NULL: of some bytes it is not known.
char **nccl_adapters_make(const nccl *n, const nccl_sends *sends, size_t count);
void nccl_adapters_free(char **adapters, const nccl *n);

// By process: 0, 1, ... among those of its host, in the order of their ranks in the widest communicator; free()
uint32_t *nccl_rank_places_make(const nccl *n);

// By adapters where those of every process that sends between hosts are known, and hosts name them alike; else by the order
// of the ranks on their host.
typedef struct nccl_places {
    uint32_t *of;   // by process
    uint32_t count; // places
    bool by_adapter;
    char **names; // by place: "mlx5_2 and mlx5_3"; NULL: not by_adapter
} nccl_places;

void nccl_places_make(nccl_places *p, const nccl *n, const nccl_peers *peers);
void nccl_places_free(nccl_places *p);

// What went between hosts, and of that between unlike places.
typedef struct nccl_crossing {
    double between, across;
    size_t ways; // pairs of ranks that it went between, unlike places only
} nccl_crossing;

nccl_crossing nccl_crossing_of(const nccl_places *p, const nccl *n, const nccl_peers *peers);

#endif
