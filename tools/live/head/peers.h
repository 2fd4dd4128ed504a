// Sessions that heads tell each other, so that whoever takes over has them. Each head tells all it has; one that another does not
// know is taken over, and one that ended somewhere has ended. One that is deleted is deleted where a head runs at that time.
// Thread rule: peers_look() on one thread; peers_hear() on any.
#ifndef LIVE_PEERS_H
#define LIVE_PEERS_H

#include "live/bus/bus.h"

typedef struct peers_told {
    char *name;
    int64_t start_ns;
} peers_told;

typedef struct peers {
    const char *directory, *cluster;
    peers_told *told; // those that were there the last time; stb_ds
    int64_t again_at;
} peers;

void peers_look(peers *p, bus *b, int64_t now_ns); // as often as one likes
// np.CLUSTER.session.set: name, '\n', its file; np.CLUSTER.session.gone: name, '\n', when it began, ns.
void peers_hear(const char *directory, const char *subject, const char *data, size_t size);
void peers_free(peers *p);

#endif
