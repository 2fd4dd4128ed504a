// Who sent to whom and what that waited for, as CSV and JSON. Thread rule: one thread at a time per nccl.
#ifndef NETPROF_NCCL_PEERS_EXPORT_H
#define NETPROF_NCCL_PEERS_EXPORT_H

#include "nccl_text.h"

#include "analysis/base/json.h"

void nccl_waits_csv(const nccl *n, nccl_out *o); // a line for each collective, size and rank, the longest waiting first
void nccl_adapters_csv(const nccl *n, nccl_out *o); // a line for each rank, direction and network device
void nccl_peers_csv(const nccl *n, nccl_out *o);    // a line for each cell of the matrices
// [{"communicator":"world","n_ranks":16,"bytes":[[null,4096,...],...],"wire_us":...}, ...]: row sender, column receiver;
// waits of one step in the mean. Of communicators above NCCL_PEERS_RANKS ranks no matrix.
json_object *nccl_peers_json(const nccl *n);
json_object *nccl_proxies_json(const nccl *n); // by process: what its steps waited for

json_object *nccl_waits_json(const nccl *n);   // by collective and size, and in it by rank
json_object *nccl_devices_json(const nccl *n); // what each rank moved through which network device

enum { NCCL_PEERS_RANKS = 128 };

#endif
