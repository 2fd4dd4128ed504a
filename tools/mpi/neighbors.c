#include "neighbors.h"

#include "bytes.h"
#include "peers.h"
#include "ranks.h"

#include <stdlib.h>

typedef int neighbors_shift(uintptr_t, int, int, int *, int *);
typedef int neighbors_graph(uintptr_t, int, int, int *);
typedef int neighbors_dist_graph(uintptr_t, int, int *, int *, int, int *, int *);

// The other ranks that were seen so far.
typedef struct neighbors_seen {
    int own, other;
    bool several; // or not known
} neighbors_seen;

enum { NEIGHBORS_NONE = -1, NEIGHBORS_MOST = 64 }; // more are hardly one

static void neighbors_see(neighbors_seen *s, int rank)
{
    if (rank == s->own || rank == abi_here()->proc_null) return;
    s->several |= rank < 0 || (s->other != NEIGHBORS_NONE && s->other != rank);
    s->other = rank;
}

static void neighbors_see_grid(neighbors_seen *s, uintptr_t comm, int dimensions)
{
    static _Atomic(abi_function) known;
    neighbors_shift *shift = (neighbors_shift *)abi_find_once(&known, "PMPI_Cart_shift");
    int before, after;
    s->several |= !shift;
    for (int i = 0; i < dimensions && !s->several; i++) {
        s->several |= shift(comm, i, 1, &before, &after) != 0;
        if (s->several) return;
        neighbors_see(s, before);
        neighbors_see(s, after);
    }
}

static void neighbors_see_graph(neighbors_seen *s, uintptr_t comm, int count)
{
    static _Atomic(abi_function) known;
    int list[NEIGHBORS_MOST];
    neighbors_graph *ask = (neighbors_graph *)abi_find_once(&known, "PMPI_Graph_neighbors");
    s->several |= count > NEIGHBORS_MOST || !ask || ask(comm, s->own, count, list);
    for (int i = 0; i < count && !s->several; i++)
        neighbors_see(s, list[i]);
}

static void neighbors_see_dist_graph(neighbors_seen *s, uintptr_t comm, int in, int out)
{
    static _Atomic(abi_function) known;
    int from[NEIGHBORS_MOST], to[NEIGHBORS_MOST], weights[2][NEIGHBORS_MOST];
    neighbors_dist_graph *ask = (neighbors_dist_graph *)abi_find_once(&known, "PMPI_Dist_graph_neighbors");
    s->several |=
        in > NEIGHBORS_MOST || out > NEIGHBORS_MOST || !ask || ask(comm, in, from, weights[0], out, to, weights[1]);
    for (int i = 0; i < in && !s->several; i++)
        neighbors_see(s, from[i]);
    for (int i = 0; i < out && !s->several; i++)
        neighbors_see(s, to[i]);
}

void neighbors_meet(uintptr_t comm)
{
    const abi *here = abi_here();
    neighbors_seen s = {.own = bytes_rank(comm), .other = NEIGHBORS_NONE};
    int in = 0, out = 0, topology = bytes_topology(comm, &in, &out);
    if (topology == here->cart)
        neighbors_see_grid(&s, comm, out);
    else if (topology == here->graph)
        neighbors_see_graph(&s, comm, out);
    else if (topology == here->dist_graph)
        neighbors_see_dist_graph(&s, comm, in, out);
    bool comes = topology != here->dist_graph || in > 0; // whoever only sends waits for no message
    if (comes && !s.several && s.other != NEIGHBORS_NONE) peers_awaits(ranks_of_comm(s.other, comm), true);
}
