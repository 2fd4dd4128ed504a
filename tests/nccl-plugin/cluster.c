#include "cluster.h"

#include "player.h"

#include <stdio.h>

enum { RANKS = 64, PER_NODE = 4, CALLS = 40, FAULTY = 17, TO = 22, RINGS = 4 };

// Rank r sends to the rank this far behind it: on each of the rings to another node.
static const int cluster_rings[RINGS] = {5, 9, 4, 16};

typedef struct cluster {
    cluster_fault fault;
    double strength;
    uint64_t noise;
} cluster;

// Within 5 % around 1.
static double cluster_noise(cluster *c)
{
    c->noise = c->noise * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return 0.95 + 0.1 * (double)(c->noise >> 40) / (double)(1 << 24);
}

static int64_t cluster_ns(cluster *c, double us, bool faulty)
{
    return (int64_t)(us * 1000 * cluster_noise(c) * (faulty ? c->strength : 1));
}

static void cluster_send(cluster *c, player *p, void *op, int from, int to)
{
    bool rail = from % PER_NODE == 3 && to % PER_NODE == 3,
         socket =
             c->fault == CLUSTER_ALL_SOCKETS || (c->fault == CLUSTER_SOCKETS && from / PER_NODE == FAULTY / PER_NODE);
    bool wire = (c->fault == CLUSTER_SLOW_SENDER && from == FAULTY) ||
                (c->fault == CLUSTER_SLOW_LINK && from == FAULTY && to == TO) ||
                (c->fault == CLUSTER_SLOW_RAIL && rail) || (socket && c->fault == CLUSTER_SOCKETS);
    abi_event e = {.parent = op};
    void *step = player_start(p, EVENT_PROXY_STEP, &e);
    player_state(p, step, STATE_SEND_CREDIT, 0);
    player_ns += cluster_ns(c, 10, c->fault == CLUSTER_SLOW_RECEIVER && to == FAULTY);
    player_state(p, step, STATE_SEND_GPU, 0);
    player_ns += cluster_ns(c, 20, c->fault == CLUSTER_SLOW_GPU && from == FAULTY);
    player_state(p, step, STATE_SEND_WIRE, 65536);
    size_t second = c->fault == CLUSTER_UNEQUAL && from == FAULTY ? (size_t)(16384 / c->strength) : 32768;
    if (socket) player_request(p, step, -1, 0, 65536);
    for (int member = 0; member < 2 && !socket; member++)
        player_request(p, step, member, 2 * to + member, member ? second : 65536 - second);
    player_ns += cluster_ns(c, 50, wire);
    player_stop(p, step);
}

static void cluster_receive(cluster *c, player *p, void *op, int to)
{
    player_step(p, op, false, 65536, cluster_ns(c, 15, false),
                cluster_ns(c, 8, c->fault == CLUSTER_SLOW_RECEIVER && to == FAULTY), cluster_ns(c, 60, false));
}

// All ranks leave a call together; who has its first data ready late has the shorter time in it.
static void cluster_call(cluster *c, player *p, int rank, int call)
{
    int64_t begin = INT64_C(1700000000000000000) + call * INT64_C(10000000);
    void *coll, *ops[2 * RINGS];
    player_ns = begin;
    coll = player_coll(p, "AllReduce", (uint64_t)call, 1 << 20);
    player_stop(p, coll);
    for (int i = 0; i < RINGS; i++) {
        int to = (rank + cluster_rings[i]) % RANKS, from = (rank + RANKS - cluster_rings[i]) % RANKS;
        player_ns = begin + 1000;
        ops[i] = player_op(p, coll, to, true, i);
        cluster_send(c, p, ops[i], rank, to);
        player_ns = begin + 1000;
        ops[RINGS + i] = player_op(p, coll, from, false, i);
        cluster_receive(c, p, ops[RINGS + i], rank);
    }
    player_ns = begin + 2000000;
    for (int i = 0; i < 2 * RINGS; i++)
        player_stop(p, ops[i]);
}

// What the kernel would list of a rank: queue pairs to each of its receivers, on two adapters.
static void cluster_list(const cluster *c, int rank)
{
    static const char *const adapters[2 * PER_NODE] = {"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3",
                                                       "mlx5_4", "mlx5_5", "mlx5_6", "mlx5_7"};
    static player_queue_pair pairs[2 * RINGS + 1];
    int place = rank % PER_NODE;
    if ((c->fault == CLUSTER_OTHER_RAIL || c->fault == CLUSTER_REORDERED) && rank == FAULTY) place++;
    if (c->fault == CLUSTER_REORDERED && rank == FAULTY + 1) place--;
    for (int i = 0; i < 2 * RINGS; i++) {
        int to = (rank + cluster_rings[i / 2]) % RANKS;
        pairs[i] = (player_queue_pair){adapters[2 * place + i % 2], (uint32_t)(2 * to + i % 2), (uint32_t)player_pid};
    }
    player_queue_pairs = pairs;
}

void cluster_play(cluster_fault fault, double strength, unsigned seed)
{
    cluster c = {fault, strength, seed};
    for (int rank = 0; rank < RANKS; rank++) {
        player p;
        snprintf(player_host, sizeof player_host, "node%02d", rank / PER_NODE);
        player_pid = 1000 + rank;
        player_ns = INT64_C(1699999999000000000);
        cluster_list(&c, rank);
        player_init(&p, 5, player_table(5), 0xc1, "world", RANKS / PER_NODE, RANKS, rank);
        for (int call = 0; call < CALLS; call++)
            cluster_call(&c, &p, rank, call);
        player_finalize(&p);
    }
    player_queue_pairs = NULL;
}
