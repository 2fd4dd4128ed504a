// make_cluster FAULT STRENGTH SEED: files of a scripted cluster, in NETPROF_NCCL_DIR. For looking at what is said of it.
// make_cluster kernels: of one rank on one node, whose calls have kernels alone.
#include "cluster.h"

#include "player.h"

#include <stdlib.h>
#include <string.h>

// Three calls 10 ms apart. The GPU's clock begins 5 s before the first of them; their kernels begin 3, 1 and 2 ms after
// they were enqueued, and take 0.5 ms.
static void play_kernels(void)
{
    static const uint64_t begin_ns[] = {5003000000, 5011000000, 5022000000};
    player p;
    player_pid = 1000;
    player_ns = INT64_C(1699999999000000000);
    player_init(&p, 5, player_table(5), 0xc2, "node", 1, 2, 1);
    for (int i = 0; i < 3; i++) {
        player_ns = INT64_C(1700000000000000000) + i * INT64_C(10000000);
        void *call = player_coll(&p, "AllReduce", (uint64_t)i, 1024);
        player_stop(&p, call);
        player_kernel(&p, call, 0, begin_ns[i], begin_ns[i] + 500000);
    }
    player_finalize(&p);
}

int main(int count, char **arguments)
{
    setenv("NETPROF", "off", 1);
    setenv("NETPROF_NCCL", "step", 0);
    if (count == 2 && strcmp(arguments[1], "kernels") == 0) return play_kernels(), 0;
    if (count == 4) cluster_play((cluster_fault)atoi(arguments[1]), atof(arguments[2]), (unsigned)atoi(arguments[3]));
    return count != 4;
}
