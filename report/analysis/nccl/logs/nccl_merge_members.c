// Who the members are: the same rank of the same process, in whatever chunk it was seen.
#include "nccl_merge_parts.h"

#include <stdlib.h>

// ---- texts, each once ----

typedef struct text_key {
    const nccl_merging *m;
    const char *text;
} text_key;

static bool join_same_text(const void *user, uint32_t i)
{
    const text_key *k = user;
    return strcmp(k->m->texts[i], k->text) == 0;
}

// Equal texts have equal pointers. NULL without memory.
const char *nccl_merge_text(nccl_merging *m, const char *text)
{
    text_key k = {m, text};
    size_t length = strlen(text);
    uint32_t next = (uint32_t)m->text_count;
    uint32_t found = nccl_index_put(&m->text_index, nccl_hash_bytes(text, length), join_same_text, &k, next);
    if (found == NCCL_NONE) return NULL;
    if (found == next) {
        if (!NCCL_ROOM(m->texts, m->text_count, m->text_room)) return NULL;
        m->texts[m->text_count] = nccl_arena_text(&m->memory->arena, text, length);
        if (!m->texts[m->text_count++]) return NULL;
    }
    return m->texts[found];
}

// ---- members ----

static bool join_same_member(const void *user, uint32_t i)
{
    const nccl_joined *k = ((const nccl_joined *const *)user)[0], *all = ((const nccl_joined *const *)user)[1],
                      *x = &all[i];
    return x->generation == k->generation && x->rank == k->rank && x->pid == k->pid && x->id == k->id &&
           x->host == k->host && x->ranks == k->ranks && x->nodes == k->nodes;
}

uint32_t nccl_merge_member(nccl_merging *m, const nccl_joined *key)
{
    const nccl_joined *user[] = {key, m->members};
    uint64_t hash = nccl_mix(nccl_hash_bytes(key->id, strlen(key->id)), (uint64_t)key->pid);
    hash = nccl_mix(nccl_mix(hash, (uint64_t)key->rank), key->generation);
    uint32_t next = (uint32_t)m->member_count,
             found = nccl_index_put(&m->member_index, hash, join_same_member, user, next);
    if (found != next) return found;
    if (!NCCL_ROOM(m->members, m->member_count, m->member_room)) return NCCL_NONE;
    m->members[m->member_count] = *key;
    m->members[m->member_count].newest = found;
    m->member_count++;
    return found;
}

static void join_add_stats(nccl_dump_stats *to, const nccl_dump_stats *from)
{
    to->dumps += from->dumps;
    to->coll_records += from->coll_records;
    to->p2p_records += from->p2p_records;
    if (from->coll_dropped > to->coll_dropped) to->coll_dropped = from->coll_dropped;
    if (from->p2p_dropped > to->p2p_dropped) to->p2p_dropped = from->p2p_dropped;
}

static void join_note_stats(nccl_joined *x, uint32_t file, const nccl_dump_stats *from)
{
    if (x->file != file) x->current = (nccl_dump_stats){0};
    x->file = file;
    join_add_stats(&x->current, from);
    if (x->current.dumps >= x->stats.dumps) x->stats = x->current;
}

static bool join_local(nccl_merging *m, const nccl_chunk *c, nccl_local_member *local)
{
    nccl_joined key = {.rank = local->rank,
                       .ranks = local->ranks,
                       .nodes = local->nodes,
                       .pid = local->pid,
                       .first_dump_us = UINT64_MAX,
                       .file = c->file};
    key.id = nccl_merge_text(m, local->id);
    key.host = nccl_merge_text(m, local->host);
    key.name = nccl_merge_text(m, local->name);
    local->global = key.id && key.host && key.name ? nccl_merge_member(m, &key) : NCCL_NONE;
    if (local->global == NCCL_NONE) return false;
    nccl_joined *x = &m->members[local->global];
    if (!*x->name) x->name = key.name;
    if (local->first_dump_us < x->first_dump_us) x->first_dump_us = local->first_dump_us;
    if (local->last_dump_us > x->last_dump_us) x->last_dump_us = local->last_dump_us;
    x->steps_back += local->steps_back;
    join_note_stats(x, c->file, &local->stats);
    return true;
}

// ---- bare lines at the beginning of a chunk belong to whom the chunk before told last ----

static void join_leave_out(nccl_chunk *c, nccl_outcome from)
{
    c->outcomes[from]--;
    c->outcomes[NCCL_NO_CONTEXT]++;
}

static void join_inherit_records(nccl_chunk *c, const nccl_bare_context *context)
{
    uint64_t left = context->member == NCCL_NONE ? 0 : context->coll_left;
    for (size_t i = 0; i < c->record_count && c->slots[c->records[i].slot].member == NCCL_INHERITED; i++) {
        if (left) {
            left--;
            c->records[i].dump_us = context->dump_us;
            continue;
        }
        c->slots[c->records[i].slot].count--;
        c->records[i].slot = NCCL_NONE;
        join_leave_out(c, NCCL_COLL);
    }
    left = context->member == NCCL_NONE ? 0 : context->p2p_left;
    for (size_t i = 0; i < c->p2p_count && c->p2p[i].member == NCCL_INHERITED; i++) {
        if (left) {
            left--;
            continue;
        }
        c->p2p[i].member = NCCL_NONE;
        join_leave_out(c, NCCL_P2P);
    }
    for (uint64_t i = 0; i < c->inherited_proxy && context->member == NCCL_NONE; i++)
        join_leave_out(c, NCCL_PROXY);
}

static void join_inherit(nccl_merging *m, nccl_chunk *c, nccl_bare_context *context)
{
    nccl_local_member *local = &c->members[NCCL_INHERITED];
    if (!c->begin)
        context->member = NCCL_NONE; // another file
    else
        join_inherit_records(c, context);
    local->global = context->member;
    if (context->member != NCCL_NONE) {
        nccl_joined *x = &m->members[context->member];
        if (c->inherited_coll && context->dump_us > x->last_dump_us) x->last_dump_us = context->dump_us;
        x->steps_back += local->steps_back;
        context->coll_left -= c->inherited_coll < context->coll_left ? c->inherited_coll : context->coll_left;
        context->p2p_left -= c->inherited_p2p < context->p2p_left ? c->inherited_p2p : context->p2p_left;
    }
    if (!c->context_told) return;
    *context = c->context;
    if (context->member != NCCL_NONE) context->member = c->members[context->member].global;
}

bool nccl_merge_members(nccl_merging *m)
{
    nccl_bare_context context = {.member = NCCL_NONE};
    for (size_t i = 0; i < m->chunk_count; i++) {
        nccl_chunk *c = &m->chunks[i];
        for (size_t k = 1; k < c->member_count; k++)
            if (!join_local(m, c, &c->members[k])) return false;
        if (c->member_count) join_inherit(m, c, &context);
        for (size_t k = 0; k < c->slot_count; k++)
            c->slots[k].owner = c->members[c->slots[k].member].global;
    }
    return true;
}
