// Work in several threads.
#ifndef NETPROF_NCCL_PARALLEL_H
#define NETPROF_NCCL_PARALLEL_H

#include <stddef.h>

typedef struct nccl_pool_options {
    size_t threads;
    void (*poll)(void *user); // called now and then in the caller's thread; may be NULL
    void *user;
} nccl_pool_options;
// Calls work(user, i) for each i below count, in several threads, in about that order.
void nccl_parallel(const nccl_pool_options *options, size_t count, void (*work)(void *user, size_t i), void *user);

#endif
