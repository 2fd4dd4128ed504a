// make_cluster FAULT STRENGTH SEED: files of a scripted cluster, in NETPROF_NCCL_DIR. For looking at what is said of it.
#include "cluster.h"

#include <stdlib.h>

int main(int count, char **arguments)
{
    setenv("NETPROF", "off", 1);
    setenv("NETPROF_NCCL", "step", 0);
    if (count == 4) cluster_play((cluster_fault)atoi(arguments[1]), atof(arguments[2]), (unsigned)atoi(arguments[3]));
    return count != 4;
}
