// netprof-report of NCCL Inspector logs, or of what netprof nccl -o saved of them.
#ifndef NETPROF_MAIN_NCCL_H
#define NETPROF_MAIN_NCCL_H

#include "main_make.h"

// As the functions of main_make.h. Recordings of the same hosts may be among the paths.
int main_nccl(arguments *a, const report_order *order);

#endif
