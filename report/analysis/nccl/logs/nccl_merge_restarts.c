// Communicators that were made anew under the same id in the same process: their sequence numbers begin again.
#include "nccl_merge_parts.h"

#include <stdlib.h>

// ---- communicators that began anew in the same process: their sequence numbers begin again ----

// A call of one member.
typedef struct seen_key {
    const char *coll; // shared
    uint64_t member, sn, size;
} seen_key;

typedef struct restarts {
    nccl_merging *m;
    struct seen_call {
        map_key key;
    } * seen; // map of stb_ds
    struct restart_track {
        uint32_t member;
        const char *coll;
        uint64_t sn, dump_us;
    } * tracks; // array of stb_ds
} restarts;

// True if the call was seen before; now it was.
static bool restart_see(restarts *r, const seen_key *key)
{
    struct seen_call call = {map_key_of_bytes(key, sizeof *key)};
    if (hmgeti(r->seen, call.key) >= 0) return true;
    hmputs(r->seen, call);
    return false;
}

static struct restart_track *restart_track(restarts *r, uint32_t member, const char *coll)
{
    for (size_t i = arrlenu(r->tracks); i-- > 0;)
        if (r->tracks[i].member == member && r->tracks[i].coll == coll) return &r->tracks[i];
    struct restart_track track = {.member = member, .coll = coll};
    arrput(r->tracks, track);
    return &arrlast(r->tracks);
}

// The next record of the member and collective in the file, which goes on in the chunks behind; or NULL. coll: shared.
static const nccl_record *restart_follower(nccl_merging *m, const nccl_chunk *c, size_t from, uint32_t member,
                                           const char *coll)
{
    enum { FAR = 100000 };
    size_t i = from + 1, left = FAR;
    for (uint32_t file = c->file; c < m->chunks + m->chunk_count && c->file == file; c++, i = 0)
        for (; i < arrlenu(c->records) && left > 0; i++, left--) {
            if (c->records[i].slot == NCCL_NONE) continue;
            const nccl_local_slot *s = &c->slots[c->records[i].slot];
            if (c->members[s->member].global == member && nccl_merge_text(m, c->whats[s->what].coll) == coll)
                return &c->records[i];
        }
    return NULL;
}

// The slot like this one, of another owner, from `first` on in the chunk's slots.
static uint32_t restart_slot_of_owner(nccl_chunk *c, uint32_t slot, uint32_t owner, size_t first)
{
    nccl_local_slot other = c->slots[slot];
    for (size_t i = first; i < arrlenu(c->slots); i++)
        if (c->slots[i].owner == owner && c->slots[i].what == other.what && c->slots[i].size == other.size)
            return (uint32_t)i;
    other.owner = owner;
    other.count = 0;
    arrput(c->slots, other);
    return (uint32_t)(arrlenu(c->slots) - 1);
}

static void restart_next_generation(nccl_merging *m, uint32_t member, uint64_t dump_us)
{
    uint32_t before = m->members[member].newest;
    nccl_joined key = m->members[before];
    key.generation++;
    key.first_dump_us = dump_us;
    m->members[before].last_dump_us = dump_us;
    key.stats = key.current = (nccl_dump_stats){0}; // they cannot be told apart
    uint32_t added = nccl_merge_member(m, &key);
    m->members[member].newest = added;
}

// True if the record begins a new communicator: a lower number than before, later, that goes on from there, of a call
// that was seen already.
static bool restart_is_new(const nccl_record *record, const struct restart_track *before, const nccl_record *next)
{
    return next && record->sn < before->sn && record->dump_us > before->dump_us && next->sn > record->sn &&
           next->sn <= before->sn;
}

static void restart_split_chunk(restarts *r, nccl_chunk *c)
{
    nccl_merging *m = r->m;
    size_t own_slots = arrlenu(c->slots);
    const char **colls = NULL;
    for (size_t i = 0; i < arrlenu(c->whats); i++)
        arrput(colls, nccl_merge_text(m, c->whats[i].coll));
    for (size_t i = 0; i < arrlenu(c->records); i++) {
        nccl_record *record = &c->records[i];
        if (record->slot == NCCL_NONE) continue;
        nccl_local_slot *slot = &c->slots[record->slot];
        uint32_t member = c->members[slot->member].global;
        if (m->members[member].steps_back < 2) continue;
        const char *coll = colls[slot->what];
        struct restart_track *t = restart_track(r, m->members[member].newest, coll);
        seen_key key = {coll, m->members[member].newest, record->sn, slot->size};
        bool again = restart_see(r, &key);
        if (again && restart_is_new(record, t, restart_follower(m, c, i, member, coll))) {
            restart_next_generation(m, member, record->dump_us);
            t = restart_track(r, m->members[member].newest, coll);
            key.member = m->members[member].newest;
            restart_see(r, &key);
        }
        if (record->sn >= t->sn) {
            t->sn = record->sn;
            t->dump_us = record->dump_us;
        }
        if (m->members[member].newest == member) continue;
        slot->count--;
        record->slot = restart_slot_of_owner(c, record->slot, m->members[member].newest, own_slots);
        c->slots[record->slot].count++;
    }
    arrfree(colls);
}

// Where a chunk begins with a number that one before it in the file had, the two may be a step back, too: of each member and
// collective the highest number so far.
static void restart_note_steps_between_chunks(nccl_merging *m)
{
    struct highest {
        map_key key;
        uint64_t value;
    } *highest = NULL;
    for (size_t k = 0; k < m->chunk_count; k++) {
        const nccl_chunk *c = &m->chunks[k];
        if (!c->begin) hmfree(highest);
        for (size_t i = 0; i < arrlenu(c->tracks); i++) {
            const nccl_track *t = &c->tracks[i];
            uint32_t member = c->members[t->member].global;
            if (member == NCCL_NONE) continue;
            map_key key = map_key_of_name(member, c->whats[t->what].coll);
            ptrdiff_t at = hmgeti(highest, key);
            if (at >= 0 && t->first_sn <= highest[at].value) m->members[member].steps_back += 2;
            if (at < 0 || t->sn > highest[at].value) hmput(highest, key, t->sn);
        }
    }
    hmfree(highest);
}

void nccl_merge_restarts(nccl_merging *m)
{
    restarts r = {.m = m};
    bool needed = false;
    restart_note_steps_between_chunks(m);
    for (size_t i = 0; i < arrlenu(m->members); i++)
        needed |= m->members[i].steps_back >= 2;
    for (size_t i = 0; needed && i < m->chunk_count; i++)
        restart_split_chunk(&r, &m->chunks[i]);
    hmfree(r.seen);
    arrfree(r.tracks);
}
