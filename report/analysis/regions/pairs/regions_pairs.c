#include "regions_pairs.h"

#include "analysis/base/map_key.h"
#include "analysis/base/memory.h"
#include "analysis/base/saturating_sum.h"
#include "analysis/base/stb_ds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct regions_pairs_place {
    map_key key; // run, number
    size_t value;
} regions_pairs_place;

static map_key regions_pairs_key(size_t run, int64_t number)
{
    return map_key_of_pair((int64_t)run, number);
}

size_t regions_pairs_told(const regions *r)
{
    size_t told = 0;
    for (size_t i = 0; i < r->rank_count; i++)
        told += r->ranks[i].tells_peers;
    return told;
}

// A rank is a place; the child of one, or a process without a number, is none. NULL: two processes have one number, as where
// several MPI programs ran at once, and who a row names cannot be told.
static regions_pairs_place *regions_pairs_places(pairs *p, const regions *r)
{
    regions_pairs_place *places = NULL;
    for (size_t i = 0; i < r->rank_count; i++) {
        const regions_rank *rank = &r->ranks[i];
        map_key key = regions_pairs_key(rank->run, rank->number);
        if (rank->number < 0 || rank->child) continue;
        if (hmgeti(places, key) >= 0) {
            hmfree(places);
            return NULL;
        }
        char *label = memory_format("rank %s", rank->label);
        hmput(places, key, pairs_add_place(p, label, pairs_add_node(p, r->hosts[rank->host].name)));
        free(label);
    }
    return places;
}

static uint64_t regions_pairs_count(int64_t value)
{
    return value > 0 ? (uint64_t)value : 0;
}

// Of a row: what was sent there; what was got from there, and how long messages from there were waited for, are the other way.
static void regions_pairs_row(pairs *p, regions_pairs_place *places, size_t run, size_t own, const regions_peer *x)
{
    ptrdiff_t at = x->peer < 0 ? -1 : hmgeti(places, regions_pairs_key(run, x->peer));
    if (at < 0) {
        p->outside_bytes = sum_capped(p->outside_bytes, regions_pairs_count(x->sent_bytes));
        return;
    }
    uint32_t here = (uint32_t)own, there = (uint32_t)places[at].value;
    pairs_cell sent = {.sender = here,
                       .receiver = there,
                       .bytes = regions_pairs_count(x->sent_bytes),
                       .messages = regions_pairs_count(x->sends)};
    pairs_cell taken = {.sender = there,
                        .receiver = here,
                        .bytes = regions_pairs_count(x->got_bytes),
                        .messages = regions_pairs_count(x->gets),
                        .delay_ns = (double)regions_pairs_count(x->receive_ns),
                        .delayed = regions_pairs_count(x->timed_receives)};
    if (sent.messages) pairs_add(p, &sent);
    if (taken.messages || taken.delayed) pairs_add(p, &taken);
    p->taken_ns += (double)regions_pairs_count(x->send_ns);
}

static bool regions_pairs_is_together(const regions_node *n)
{
    static const char *const names[] = {"bcast", "gather", "scatter", "all", "reduce", "scan", "exscan", "neighbor"};
    if (!regions_is_mpi_name(n->name)) return false;
    const char *name = n->name + strlen(n->name[4] == 'I' ? "MPI_I" : "MPI_");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncasecmp(name, names[i], strlen(names[i])) == 0) return true;
    return false;
}

uint64_t regions_together_bytes(const regions *r, size_t rank)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < r->node_count; i++) {
        const regions_node *n = &r->nodes[i];
        if (!n->sums.bytes || !regions_pairs_is_together(n)) continue;
        const regions_cell *cell = regions_cell_of(n, rank);
        if (cell) sum = sum_capped(sum, cell->sums.bytes);
    }
    return sum;
}

// Time in calls that wait for some peer, less that for which it is known for whom.
static double regions_pairs_unassigned(const pairs *p, const regions *r)
{
    double waits = 0;
    for (size_t i = 0; i < r->node_count; i++)
        if (r->nodes[i].kind == REGIONS_PEER && regions_is_mpi_name(r->nodes[i].name))
            waits += (double)r->nodes[i].sums.exclusive_ns;
    return fmax(waits - pairs_sum(p, NULL, NULL).delay_ns - p->taken_ns, 0);
}

bool regions_pairs(pairs *p, const regions *r)
{
    *p = (pairs){.layer = "MPI", .delay = "a wait for a message", .mark = {PAIRS_NONE, PAIRS_NONE}};
    if (!regions_pairs_told(r)) return false;
    regions_pairs_place *places = regions_pairs_places(p, r);
    if (!places) {
        pairs_free(p);
        return false;
    }
    for (size_t i = 0; i < r->rank_count; i++) {
        const regions_rank *rank = &r->ranks[i];
        ptrdiff_t own = hmgeti(places, regions_pairs_key(rank->run, rank->number));
        if (own < 0 || rank->child) continue;
        p->together_bytes = sum_capped(p->together_bytes, regions_together_bytes(r, i));
        for (size_t k = 0; k < rank->peer_count; k++)
            regions_pairs_row(p, places, rank->run, places[own].value, &rank->peers[k]);
    }
    hmfree(places);
    pairs_finish(p);
    p->unassigned_ns = regions_pairs_unassigned(p, r);
    return true;
}
