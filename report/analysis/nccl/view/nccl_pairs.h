// What NCCL sent from rank to rank, as far as its proxy threads moved it: for beside what the NICs moved. What goes by NVLink
// or PCIe from GPU to GPU is in no record.
#ifndef NETPROF_NCCL_PAIRS_H
#define NETPROF_NCCL_PAIRS_H

#include "analysis/nccl/logs/nccl_model.h"
#include "analysis/peers/pairs.h"

void nccl_pairs(pairs *p, const nccl *n);
// Of the files of NCCL that nccl_beside_read() finds; false: there are none that can be used, and *p is empty. p->unknown: they
// hold calls and no transfers. p->at_least: of some transfers it is not known how much they moved.
bool nccl_pairs_read(pairs *p, const char *const *paths, size_t count);

#endif
