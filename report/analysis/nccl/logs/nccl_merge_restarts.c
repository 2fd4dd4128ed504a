// Communicators that were made anew under the same id in the same process: their sequence numbers begin again.
#include "nccl_merge_parts.h"

#include <stdlib.h>

// ---- communicators that began anew in the same process: their sequence numbers begin again ----

typedef struct seen_key {
    uint32_t member;
    const char *coll; // of the chunk
    uint64_t sn, size;
} seen_key;

typedef struct restarts {
    nccl_merging *m;
    seen_key *seen;
    size_t seen_count, seen_room;
    nccl_index index;
    struct restart_track {
        uint32_t member;
        const char *coll;
        uint64_t sn, dump_us;
    } * tracks;
    size_t track_count, track_room;
} restarts;

static bool restart_same_seen(const void *user, uint32_t i)
{
    const seen_key *k = ((const seen_key *const *)user)[0], *x = ((const seen_key *const *)user)[1] + i;
    return x->member == k->member && x->sn == k->sn && x->size == k->size && strcmp(x->coll, k->coll) == 0;
}

// Was the call seen before? It is now. *failed: no memory.
static bool restart_see(restarts *r, const seen_key *key, bool *failed)
{
    const seen_key *user[] = {key, r->seen};
    uint64_t hash = nccl_mix(nccl_mix(key->sn, key->size), key->member + (uint64_t)(unsigned char)*key->coll);
    uint32_t next = (uint32_t)r->seen_count, found = nccl_index_put(&r->index, hash, restart_same_seen, user, next);
    *failed = found == NCCL_NONE;
    if (found != next) return !*failed;
    *failed = !NCCL_ROOM(r->seen, r->seen_count, r->seen_room);
    if (!*failed) r->seen[r->seen_count++] = *key;
    return false;
}

static struct restart_track *restart_track(restarts *r, uint32_t member, const char *coll)
{
    for (size_t i = r->track_count; i-- > 0;)
        if (r->tracks[i].member == member && strcmp(r->tracks[i].coll, coll) == 0) return &r->tracks[i];
    if (!NCCL_ROOM(r->tracks, r->track_count, r->track_room)) return NULL;
    r->tracks[r->track_count] = (struct restart_track){.member = member, .coll = coll};
    return &r->tracks[r->track_count++];
}

// The next record of the same slot's member and collective, or NULL.
static const nccl_record *restart_follower(const nccl_chunk *c, size_t from, uint32_t member, const char *coll)
{
    enum { FAR = 100000 };
    for (size_t i = from + 1; i < c->record_count && i - from < FAR; i++) {
        if (c->records[i].slot == NCCL_NONE) continue;
        const nccl_local_slot *s = &c->slots[c->records[i].slot];
        if (s->member == member && strcmp(c->whats[s->what].coll, coll) == 0) return &c->records[i];
    }
    return NULL;
}

// The slot like this one, of another owner, from `first` on in the chunk's slots.
static uint32_t restart_slot_of_owner(nccl_chunk *c, uint32_t slot, uint32_t owner, size_t first)
{
    nccl_local_slot *like = &c->slots[slot];
    for (size_t i = first; i < c->slot_count; i++)
        if (c->slots[i].owner == owner && c->slots[i].what == like->what && c->slots[i].size == like->size)
            return (uint32_t)i;
    if (!NCCL_ROOM(c->slots, c->slot_count, c->slot_room)) return NCCL_NONE;
    c->slots[c->slot_count] = c->slots[slot];
    c->slots[c->slot_count].owner = owner;
    c->slots[c->slot_count].count = 0;
    return (uint32_t)c->slot_count++;
}

static uint32_t restart_next_generation(nccl_merging *m, uint32_t member, uint64_t dump_us)
{
    uint32_t before = m->members[member].newest;
    nccl_joined key = m->members[before];
    key.generation++;
    key.first_dump_us = dump_us;
    m->members[before].last_dump_us = dump_us;
    key.stats = key.current = (nccl_dump_stats){0}; // they cannot be told apart
    uint32_t added = nccl_merge_member(m, &key);
    if (added != NCCL_NONE) m->members[member].newest = added;
    return added;
}

// A lower number than before, later, that goes on from there, of a call that was seen already: a new communicator.
static bool restart_split_chunk(restarts *r, nccl_chunk *c)
{
    nccl_merging *m = r->m;
    size_t own_slots = c->slot_count;
    bool failed;
    for (size_t i = 0; i < c->record_count; i++) {
        nccl_record *record = &c->records[i];
        if (record->slot == NCCL_NONE) continue;
        nccl_local_slot *slot = &c->slots[record->slot];
        uint32_t member = c->members[slot->member].global;
        if (m->members[member].steps_back < 2) continue;
        const char *coll = c->whats[slot->what].coll;
        struct restart_track *t = restart_track(r, m->members[member].newest, coll);
        if (!t) return false;
        seen_key key = {m->members[member].newest, coll, record->sn, slot->size};
        bool again = restart_see(r, &key, &failed);
        const nccl_record *next = again && record->sn < t->sn && record->dump_us > t->dump_us
                                      ? restart_follower(c, i, slot->member, coll)
                                      : NULL;
        if (failed) return false;
        if (next && next->sn > record->sn && next->sn <= t->sn) {
            if (restart_next_generation(m, member, record->dump_us) == NCCL_NONE) return false;
            t = restart_track(r, m->members[member].newest, coll);
            if (!t) return false;
            key.member = m->members[member].newest;
            restart_see(r, &key, &failed);
            if (failed) return false;
        }
        if (record->sn >= t->sn) {
            t->sn = record->sn;
            t->dump_us = record->dump_us;
        }
        if (m->members[member].newest == member) continue;
        slot->count--;
        uint32_t other = restart_slot_of_owner(c, record->slot, m->members[member].newest, own_slots);
        if (other == NCCL_NONE) return false;
        record->slot = other;
        c->slots[other].count++;
    }
    return true;
}

bool nccl_merge_restarts(nccl_merging *m)
{
    restarts r = {.m = m};
    bool needed = false, good = true;
    for (size_t i = 0; i < m->member_count; i++)
        needed |= m->members[i].steps_back >= 2;
    for (size_t i = 0; needed && good && i < m->chunk_count; i++)
        good = restart_split_chunk(&r, &m->chunks[i]);
    free(r.seen);
    free(r.tracks);
    nccl_index_free(&r.index);
    return good;
}
