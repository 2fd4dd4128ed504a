// Who the members are: the same rank of the same process, in whatever chunk it was seen.
#include "nccl_merge_parts.h"
#include "analysis/base/saturating_sum.h"

#include <stdlib.h>

// ---- texts, each once ----

const char *nccl_merge_text(nccl_merging *m, const char *text)
{
    map_key key = map_key_of_name(0, text);
    ptrdiff_t at = hmgeti(m->texts, key);
    if (at >= 0) return m->texts[at].value;
    const char *kept = nccl_arena_text(&m->memory->arena, text, strlen(text));
    hmput(m->texts, key, kept);
    return kept;
}

// ---- members ----

uint32_t nccl_merge_member(nccl_merging *m, const nccl_joined *key)
{
    const struct {
        const char *id, *host;
        int64_t rank, ranks, nodes, pid;
        uint64_t generation;
    } of = {key->id, key->host, key->rank, key->ranks, key->nodes, key->pid, key->generation};
    uint32_t found = nccl_number(&m->member_of, &of, sizeof of);
    if (found < arrlenu(m->members)) return found;
    arrput(m->members, *key);
    arrlast(m->members).newest = found;
    return found;
}

static void join_add_stats(nccl_dump_stats *to, const nccl_dump_stats *from)
{
    to->dumps += from->dumps;
    to->coll_records += from->coll_records;
    to->untimed = sum_capped(to->untimed, from->untimed);
    to->parts_dropped = sum_capped(to->parts_dropped, from->parts_dropped);
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

static void join_local(nccl_merging *m, const nccl_chunk *c, nccl_local_member *local)
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
    local->global = nccl_merge_member(m, &key);
    nccl_joined *x = &m->members[local->global];
    if (!*x->name) x->name = key.name;
    if (local->first_dump_us < x->first_dump_us) x->first_dump_us = local->first_dump_us;
    if (local->last_dump_us > x->last_dump_us) x->last_dump_us = local->last_dump_us;
    x->steps_back += local->steps_back;
    join_note_stats(x, c->file, &local->stats);
}

// ---- bare lines at the beginning of a chunk belong to the last member that the previous chunk named ----

static void join_leave_out(nccl_chunk *c, nccl_outcome from)
{
    c->outcomes[from]--;
    c->outcomes[NCCL_NO_CONTEXT]++;
}

static void join_inherit_records(nccl_chunk *c, const nccl_bare_context *context)
{
    uint64_t left = context->member == NCCL_NONE ? 0 : context->coll_left;
    for (size_t i = 0; i < arrlenu(c->records) && c->slots[c->records[i].slot].member == NCCL_INHERITED; i++) {
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
    for (size_t i = 0; i < arrlenu(c->p2p) && c->p2p[i].member == NCCL_INHERITED; i++) {
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

void nccl_merge_members(nccl_merging *m)
{
    nccl_bare_context context = {.member = NCCL_NONE};
    for (size_t i = 0; i < m->chunk_count; i++) {
        nccl_chunk *c = &m->chunks[i];
        for (size_t k = 1; k < arrlenu(c->members); k++)
            join_local(m, c, &c->members[k]);
        if (arrlenu(c->members)) join_inherit(m, c, &context);
        for (size_t k = 0; k < arrlenu(c->slots); k++)
            c->slots[k].owner = c->members[c->slots[k].member].global;
    }
}
