// Of which calls the records of proxies in a log of the Inspector are parts.
//
// A record of a proxy names its call by kind and sequence number, and each collective of a communicator counts for itself, so
// that the number alone does not say which. It is known where the rank's log holds one collective alone, or where of all calls
// with that number one alone ran when the proxy's steps did. Where both tell times, and these do not overlap, it was another.
// Everything else is counted as untied.
#include "nccl_parts.h"

#include "analysis/base/memory.h"
#include "analysis/base/saturating_sum.h"

#include <stdlib.h>

// A call of one rank, in one file.
typedef struct parents_call {
    uint32_t member, file;
    bool p2p;
    bool only;    // the rank's log holds no other collective
    bool counted; // as one of which operations are known
    uint64_t sn, size;
    const char *coll;
    uint64_t from_us, to_us; // 0: not known
} parents_call;

typedef struct parents_calls {
    parents_call *items; // by file, member, kind, sn
    size_t count;
} parents_calls;

static int parents_by_rank(const parents_call *x, const parents_call *y)
{
    int order = nccl_compare_u64(x->file, y->file);
    if (!order) order = nccl_compare_u64(x->member, y->member);
    return order ? order : nccl_compare_u64(x->p2p, y->p2p);
}

static int parents_by_call(const void *a, const void *b)
{
    const parents_call *x = a, *y = b;
    int order = parents_by_rank(x, y);
    if (!order) order = nccl_compare_u64(x->sn, y->sn);
    if (!order) order = strcmp(x->coll, y->coll);
    if (!order) order = nccl_compare_u64(x->size, y->size);
    return order ? order : nccl_compare_u64(x->from_us, y->from_us);
}

// ---- calls ----

static void parents_set_times(parents_call *to, const nccl_trace *t)
{
    uint64_t from = t->start_us ? t->start_us : t->kernel_start_us,
             end = t->stop_us > t->kernel_stop_us ? t->stop_us : t->kernel_stop_us;
    if (t->kernel_start_us && t->kernel_start_us < from) from = t->kernel_start_us;
    if (!from || end <= from) return;
    to->from_us = from;
    to->to_us = end;
}

static void parents_take_collectives(parents_calls *c, const nccl *n)
{
    const nccl_store *store = nccl_store_of(n);
    for (size_t i = 0; i < n->record_count; i++) {
        const nccl_record *r = &n->records[i];
        const nccl_slot *slot = &store->slots[r->slot];
        parents_call *to = &c->items[c->count++];
        *to = (parents_call){.member = slot->member,
                             .file = slot->file,
                             .sn = r->sn,
                             .size = n->series[slot->series].size,
                             .coll = store->whats[slot->what].coll};
        if (r->trace) parents_set_times(to, &n->traces[r->trace - 1]);
    }
}

static void parents_take_p2p(parents_calls *c, const nccl_chunk *chunk)
{
    for (size_t i = 0; i < arrlenu(chunk->p2p); i++) {
        const nccl_p2p_record *r = &chunk->p2p[i];
        uint32_t member = r->member == NCCL_NONE ? NCCL_NONE : chunk->members[r->member].global;
        if (member == NCCL_NONE) continue;
        c->items[c->count++] = (parents_call){.member = member,
                                              .file = chunk->file,
                                              .p2p = true,
                                              .sn = r->sn,
                                              .size = r->size,
                                              .coll = chunk->whats[r->what].coll};
    }
}

static void parents_mark_only(parents_calls *c)
{
    for (size_t i = 0, end; i < c->count; i = end) {
        bool only = true;
        for (end = i; end < c->count && parents_by_rank(&c->items[i], &c->items[end]) == 0; end++)
            only &= strcmp(c->items[i].coll, c->items[end].coll) == 0;
        for (size_t k = i; k < end; k++)
            c->items[k].only = only;
    }
}

static parents_calls parents_all_calls(const nccl *n, const nccl_chunk *chunks, size_t count)
{
    size_t room = n->record_count;
    for (size_t i = 0; i < count; i++)
        room += arrlenu(chunks[i].p2p);
    parents_calls c = {.items = memory_array(NULL, room, sizeof *c.items)};
    parents_take_collectives(&c, n);
    for (size_t i = 0; i < count; i++)
        parents_take_p2p(&c, &chunks[i]);
    if (c.count) qsort(c.items, c.count, sizeof *c.items, parents_by_call);
    parents_mark_only(&c);
    return c;
}

// The first that is not before such a one.
static size_t parents_first(const parents_calls *c, const parents_call *wanted)
{
    size_t low = 0, high = c->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const parents_call *x = &c->items[middle];
        int order = parents_by_rank(x, wanted);
        if (!order) order = nccl_compare_u64(x->sn, wanted->sn);
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// ---- whose an operation is ----

static bool parents_are_alike(const parents_call *a, const parents_call *b)
{
    return strcmp(a->coll, b->coll) == 0 && a->size == b->size;
}

static bool parents_knows_times(const parents_call *call, const nccl_parent *p)
{
    return call->from_us && p->from_us;
}

static bool parents_overlap(const parents_call *call, const nccl_parent *p)
{
    return p->from_us <= call->to_us && call->from_us <= p->to_us;
}

// Of point to point the way tells Send from Recv.
static bool parents_may_be(const parents_call *call, const nccl_parent *p)
{
    if (call->p2p && strcmp(call->coll, p->sends ? "Send" : "Recv") != 0) return false;
    return !parents_knows_times(call, p) || parents_overlap(call, p);
}

// The one call that it may be, of those with its number; NULL: none, or several.
static parents_call *parents_by_number(const parents_calls *c, const parents_call *wanted, const nccl_parent *p)
{
    parents_call *found = NULL;
    for (size_t i = parents_first(c, wanted); i < c->count; i++) {
        parents_call *x = &c->items[i];
        if (parents_by_rank(x, wanted) != 0 || x->sn != wanted->sn) break;
        if (!parents_may_be(x, p)) continue;
        if (found && !parents_are_alike(found, x)) return NULL;
        if (!found || parents_knows_times(x, p)) found = x;
    }
    if (!found) return NULL;
    return found->p2p || found->only || parents_knows_times(found, p) ? found : NULL;
}

// ---- sums ----

// A row, with its bytes as operations tell and as their steps do, which may be on lines of their own.
typedef struct parents_row {
    nccl_spent spent;                 // its member is an index of n->members
    uint64_t bytes[2], step_bytes[2]; // [sends]
} parents_row;

// What the records in one file are parts of.
typedef struct parents_sums {
    parents_row *rows; // stb_ds
    nccl_index index;
    uint64_t lines, untied;
} parents_sums;

typedef struct parents_key {
    const parents_sums *s;
    const parents_call *call;
} parents_key;

static bool parents_same_row(const void *user, uint32_t i)
{
    const parents_key *k = user;
    const nccl_spent *x = &k->s->rows[i].spent;
    return x->member == k->call->member && x->size == k->call->size && strcmp(x->coll, k->call->coll) == 0;
}

static parents_row *parents_find_row(parents_sums *s, const parents_call *call)
{
    const parents_key k = {s, call};
    uint64_t hash = nccl_mix(nccl_mix(nccl_hash_bytes(call->coll, strlen(call->coll)), call->size), call->member);
    uint32_t next = (uint32_t)arrlenu(s->rows), found = nccl_index_put(&s->index, hash, parents_same_row, &k, next);
    parents_row fresh = {.spent = {.member = call->member, .coll = call->coll, .size = call->size}};
    if (found == next) arrput(s->rows, fresh);
    return &s->rows[found];
}

static void parents_spend(parents_row *row, const nccl_parent *p)
{
    nccl_spent *x = &row->spent;
    row->bytes[p->sends] = sum_capped(row->bytes[p->sends], p->bytes);
    row->step_bytes[p->sends] = sum_capped(row->step_bytes[p->sends], p->step_bytes);
    if (p->sends) {
        x->sent = sum_capped(x->sent, p->timed);
        x->sent_at_least |= p->unsized;
        x->gpu_us += (double)p->gpu_us;
        x->credit_us += (double)p->credit_us;
        x->wire_us += (double)p->wire_us;
    } else {
        x->received = sum_capped(x->received, p->timed);
        x->received_at_least |= p->unsized;
        x->data_us += (double)p->wire_us;
        x->flush_us += (double)p->flush_us;
        x->consume_us += (double)p->gpu_us;
    }
}

static uint64_t parents_bytes(const parents_row *row, bool sends)
{
    return row->bytes[sends] > row->step_bytes[sends] ? row->bytes[sends] : row->step_bytes[sends];
}

static void parents_take_chunk(parents_sums *s, const parents_calls *c, const nccl_chunk *chunk)
{
    for (size_t i = 0; i < arrlenu(chunk->parents); i++) {
        const nccl_parent *p = &chunk->parents[i];
        const parents_call wanted = {.member = chunk->members[p->member].global,
                                     .file = chunk->file,
                                     .p2p = p->kind == NCCL_PARENT_P2P,
                                     .sn = p->sn};
        if (wanted.member == NCCL_NONE) continue;
        s->lines = sum_capped(s->lines, p->lines);
        parents_call *call = p->kind ? parents_by_number(c, &wanted, p) : NULL;
        if (!call) {
            s->untied = sum_capped(s->untied, p->lines);
            continue;
        }
        parents_row *row = parents_find_row(s, call);
        row->spent.calls += !call->counted;
        call->counted = true;
        parents_spend(row, p);
    }
}

// The chunk's own number of a member; a file's first chunk may lack some, then it gets a member of that number.
static uint32_t parents_local(nccl_chunk *c, uint32_t global)
{
    for (size_t i = 0; i < arrlenu(c->members); i++)
        if (c->members[i].global == global) return (uint32_t)i;
    nccl_local_member fresh = {.id = "", .name = "", .host = "", .global = global};
    arrput(c->members, fresh);
    return (uint32_t)arrlenu(c->members) - 1;
}

// All rows of a file go into its first chunk: those of the others would be taken for copies.
static void parents_hand_over(parents_sums *s, nccl_chunk *first)
{
    for (size_t i = 0; i < arrlenu(s->rows); i++) {
        nccl_spent row = s->rows[i].spent;
        row.sent_bytes = parents_bytes(&s->rows[i], true);
        row.received_bytes = parents_bytes(&s->rows[i], false);
        row.member = parents_local(first, row.member);
        row.coll = nccl_arena_text(&first->arena, row.coll, strlen(row.coll));
        arrput(first->spent, row);
    }
    arrfree(s->rows);
    nccl_index_free(&s->index);
}

// Copies of a log count once: of those of one process the one with most.
typedef struct parents_counts {
    uint64_t lines, untied;
} parents_counts;

static void parents_count(parents_counts *counts, const nccl *n, const parents_sums *s, const nccl_chunk *chunk)
{
    for (size_t i = 0; i < arrlenu(chunk->parents); i++) {
        uint32_t member = chunk->members[chunk->parents[i].member].global;
        parents_counts *to = member == NCCL_NONE ? NULL : &counts[n->members[member].process];
        if (!to) continue;
        if (s->lines > to->lines) *to = (parents_counts){s->lines, s->untied};
        return;
    }
}

void nccl_merge_parents(nccl *n, nccl_chunk *chunks, size_t count)
{
    size_t any = 0;
    for (size_t i = 0; i < count; i++)
        any += arrlenu(chunks[i].parents);
    if (!any) return;
    parents_calls calls = parents_all_calls(n, chunks, count);
    parents_counts *counts = memory_calloc(n->process_count, sizeof *counts);
    for (size_t i = 0, end; i < count; i = end) {
        parents_sums s = {.lines = 0};
        for (end = i; end < count && chunks[end].file == chunks[i].file; end++)
            parents_take_chunk(&s, &calls, &chunks[end]);
        for (size_t k = i; k < end; k++)
            parents_count(counts, n, &s, &chunks[k]);
        parents_hand_over(&s, &chunks[i]);
    }
    for (size_t i = 0; i < n->process_count; i++) {
        n->proxied = sum_capped(n->proxied, counts[i].lines);
        n->untied = sum_capped(n->untied, counts[i].untied);
    }
    free(counts);
    free(calls.items);
}
