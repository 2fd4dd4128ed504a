// From chunks to one model: who the members are, which of them are one communicator, where every record belongs.
#include "nccl_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// A member while it is put together. Those that began anew under the same id are several, with generations 0, 1, ...
typedef struct joined {
    const char *id, *name, *host;
    int64_t rank, ranks, nodes, pid;
    uint32_t generation;
    nccl_dump_stats stats;   // of the file that told most: copies of a log tell the same
    nccl_dump_stats current; // of the file that is looked at
    uint32_t file;
    uint64_t first_dump_us, last_dump_us, steps_back;
    uint32_t run;    // 0, 1, ... within the id
    uint32_t group;  // of equal id, ranks and nodes
    uint32_t final;  // index in n->members
    uint32_t newest; // the generation that records go to now: index
    uint64_t coll_records, p2p_records;
} joined;

typedef struct merging {
    nccl *n;
    nccl_memory *memory;
    nccl_chunk *chunks;
    size_t chunk_count;
    joined *members;
    size_t member_count, member_room;
    nccl_index member_index, text_index, what_index, series_index;
    const char **texts;
    size_t text_count, text_room;
    struct run_key {
        uint32_t group, run;
    } * runs;
} merging;

// ---- texts, each once ----

typedef struct text_key {
    const merging *m;
    const char *text;
} text_key;

static bool same_text(const void *user, uint32_t i)
{
    const text_key *k = user;
    return strcmp(k->m->texts[i], k->text) == 0;
}

// Equal texts have equal pointers. NULL without memory.
static const char *share(merging *m, const char *text)
{
    text_key k = {m, text};
    size_t length = strlen(text);
    uint32_t next = (uint32_t)m->text_count;
    uint32_t found = nccl_index_put(&m->text_index, nccl_hash_bytes(text, length), same_text, &k, next);
    if (found == NCCL_NONE) return NULL;
    if (found == next) {
        if (!NCCL_ROOM(m->texts, m->text_count, m->text_room)) return NULL;
        m->texts[m->text_count] = nccl_arena_text(&m->memory->arena, text, length);
        if (!m->texts[m->text_count++]) return NULL;
    }
    return m->texts[found];
}

// ---- members ----

static bool same_joined(const void *user, uint32_t i)
{
    const joined *k = ((const joined *const *)user)[0], *all = ((const joined *const *)user)[1], *x = &all[i];
    return x->generation == k->generation && x->rank == k->rank && x->pid == k->pid && x->id == k->id &&
           x->host == k->host && x->ranks == k->ranks && x->nodes == k->nodes;
}

static uint32_t join_member(merging *m, const joined *key)
{
    const joined *user[] = {key, m->members};
    uint64_t hash = nccl_mix(nccl_hash_bytes(key->id, strlen(key->id)), (uint64_t)key->pid);
    hash = nccl_mix(nccl_mix(hash, (uint64_t)key->rank), key->generation);
    uint32_t next = (uint32_t)m->member_count, found = nccl_index_put(&m->member_index, hash, same_joined, user, next);
    if (found != next) return found;
    if (!NCCL_ROOM(m->members, m->member_count, m->member_room)) return NCCL_NONE;
    m->members[m->member_count] = *key;
    m->members[m->member_count].newest = found;
    m->member_count++;
    return found;
}

static void add_stats(nccl_dump_stats *to, const nccl_dump_stats *from)
{
    to->dumps += from->dumps;
    to->coll_records += from->coll_records;
    to->p2p_records += from->p2p_records;
    if (from->coll_dropped > to->coll_dropped) to->coll_dropped = from->coll_dropped;
    if (from->p2p_dropped > to->p2p_dropped) to->p2p_dropped = from->p2p_dropped;
}

static void note_stats(joined *x, uint32_t file, const nccl_dump_stats *from)
{
    if (x->file != file) x->current = (nccl_dump_stats){0};
    x->file = file;
    add_stats(&x->current, from);
    if (x->current.dumps >= x->stats.dumps) x->stats = x->current;
}

static bool join_local(merging *m, const nccl_chunk *c, nccl_local_member *local)
{
    joined key = {.rank = local->rank,
                  .ranks = local->ranks,
                  .nodes = local->nodes,
                  .pid = local->pid,
                  .first_dump_us = UINT64_MAX,
                  .file = c->file};
    key.id = share(m, local->id);
    key.host = share(m, local->host);
    key.name = share(m, local->name);
    local->global = key.id && key.host && key.name ? join_member(m, &key) : NCCL_NONE;
    if (local->global == NCCL_NONE) return false;
    joined *x = &m->members[local->global];
    if (!*x->name) x->name = key.name;
    if (local->first_dump_us < x->first_dump_us) x->first_dump_us = local->first_dump_us;
    if (local->last_dump_us > x->last_dump_us) x->last_dump_us = local->last_dump_us;
    x->steps_back += local->steps_back;
    note_stats(x, c->file, &local->stats);
    return true;
}

// ---- bare lines at the beginning of a chunk belong to whom the chunk before told last ----

static void leave_out(nccl_chunk *c, nccl_outcome from)
{
    c->outcomes[from]--;
    c->outcomes[NCCL_NO_CONTEXT]++;
}

static void inherit_records(nccl_chunk *c, const nccl_bare_context *context)
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
        leave_out(c, NCCL_COLL);
    }
    left = context->member == NCCL_NONE ? 0 : context->p2p_left;
    for (size_t i = 0; i < c->p2p_count && c->p2p[i].member == NCCL_INHERITED; i++) {
        if (left) {
            left--;
            continue;
        }
        c->p2p[i].member = NCCL_NONE;
        leave_out(c, NCCL_P2P);
    }
    for (uint64_t i = 0; i < c->inherited_proxy && context->member == NCCL_NONE; i++)
        leave_out(c, NCCL_PROXY);
}

static void inherit(merging *m, nccl_chunk *c, nccl_bare_context *context)
{
    nccl_local_member *local = &c->members[NCCL_INHERITED];
    if (!c->begin)
        context->member = NCCL_NONE; // another file
    else
        inherit_records(c, context);
    local->global = context->member;
    if (context->member != NCCL_NONE) {
        joined *x = &m->members[context->member];
        if (c->inherited_coll && context->dump_us > x->last_dump_us) x->last_dump_us = context->dump_us;
        x->steps_back += local->steps_back;
        context->coll_left -= c->inherited_coll < context->coll_left ? c->inherited_coll : context->coll_left;
        context->p2p_left -= c->inherited_p2p < context->p2p_left ? c->inherited_p2p : context->p2p_left;
    }
    if (!c->context_told) return;
    *context = c->context;
    if (context->member != NCCL_NONE) context->member = c->members[context->member].global;
}

static bool join_members(merging *m)
{
    nccl_bare_context context = {.member = NCCL_NONE};
    for (size_t i = 0; i < m->chunk_count; i++) {
        nccl_chunk *c = &m->chunks[i];
        for (size_t k = 1; k < c->member_count; k++)
            if (!join_local(m, c, &c->members[k])) return false;
        if (c->member_count) inherit(m, c, &context);
        for (size_t k = 0; k < c->slot_count; k++)
            c->slots[k].owner = c->members[c->slots[k].member].global;
    }
    return true;
}

// ---- communicators that began anew in the same process: their sequence numbers begin again ----

typedef struct seen_key {
    uint32_t member;
    const char *coll; // of the chunk
    uint64_t sn, size;
} seen_key;

typedef struct restarts {
    merging *m;
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

static bool same_seen(const void *user, uint32_t i)
{
    const seen_key *k = ((const seen_key *const *)user)[0], *x = ((const seen_key *const *)user)[1] + i;
    return x->member == k->member && x->sn == k->sn && x->size == k->size && strcmp(x->coll, k->coll) == 0;
}

// Was the call seen before? It is now. *failed: no memory.
static bool see(restarts *r, const seen_key *key, bool *failed)
{
    const seen_key *user[] = {key, r->seen};
    uint64_t hash = nccl_mix(nccl_mix(key->sn, key->size), key->member + (uint64_t)(unsigned char)*key->coll);
    uint32_t next = (uint32_t)r->seen_count, found = nccl_index_put(&r->index, hash, same_seen, user, next);
    *failed = found == NCCL_NONE;
    if (found != next) return !*failed;
    *failed = !NCCL_ROOM(r->seen, r->seen_count, r->seen_room);
    if (!*failed) r->seen[r->seen_count++] = *key;
    return false;
}

static struct restart_track *track_of(restarts *r, uint32_t member, const char *coll)
{
    for (size_t i = r->track_count; i-- > 0;)
        if (r->tracks[i].member == member && strcmp(r->tracks[i].coll, coll) == 0) return &r->tracks[i];
    if (!NCCL_ROOM(r->tracks, r->track_count, r->track_room)) return NULL;
    r->tracks[r->track_count] = (struct restart_track){.member = member, .coll = coll};
    return &r->tracks[r->track_count++];
}

// The next record of the same slot's member and collective, or NULL.
static const nccl_record *follower(const nccl_chunk *c, size_t from, uint32_t member, const char *coll)
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
static uint32_t slot_of_owner(nccl_chunk *c, uint32_t slot, uint32_t owner, size_t first)
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

static uint32_t next_generation(merging *m, uint32_t member, uint64_t dump_us)
{
    uint32_t before = m->members[member].newest;
    joined key = m->members[before];
    key.generation++;
    key.first_dump_us = dump_us;
    m->members[before].last_dump_us = dump_us;
    key.stats = key.current = (nccl_dump_stats){0}; // they cannot be told apart
    uint32_t added = join_member(m, &key);
    if (added != NCCL_NONE) m->members[member].newest = added;
    return added;
}

// A lower number than before, later, that goes on from there, of a call that was seen already: a new communicator.
static bool split_chunk(restarts *r, nccl_chunk *c)
{
    merging *m = r->m;
    size_t own_slots = c->slot_count;
    bool failed;
    for (size_t i = 0; i < c->record_count; i++) {
        nccl_record *record = &c->records[i];
        if (record->slot == NCCL_NONE) continue;
        nccl_local_slot *slot = &c->slots[record->slot];
        uint32_t member = c->members[slot->member].global;
        if (m->members[member].steps_back < 2) continue;
        const char *coll = c->whats[slot->what].coll;
        struct restart_track *t = track_of(r, m->members[member].newest, coll);
        if (!t) return false;
        seen_key key = {m->members[member].newest, coll, record->sn, slot->size};
        bool again = see(r, &key, &failed);
        const nccl_record *next =
            again && record->sn < t->sn && record->dump_us > t->dump_us ? follower(c, i, slot->member, coll) : NULL;
        if (failed) return false;
        if (next && next->sn > record->sn && next->sn <= t->sn) {
            if (next_generation(m, member, record->dump_us) == NCCL_NONE) return false;
            t = track_of(r, m->members[member].newest, coll);
            if (!t) return false;
            key.member = m->members[member].newest;
            see(r, &key, &failed);
            if (failed) return false;
        }
        if (record->sn >= t->sn) {
            t->sn = record->sn;
            t->dump_us = record->dump_us;
        }
        if (m->members[member].newest == member) continue;
        slot->count--;
        uint32_t other = slot_of_owner(c, record->slot, m->members[member].newest, own_slots);
        if (other == NCCL_NONE) return false;
        record->slot = other;
        c->slots[other].count++;
    }
    return true;
}

static bool split_restarted(merging *m)
{
    restarts r = {.m = m};
    bool needed = false, good = true;
    for (size_t i = 0; i < m->member_count; i++)
        needed |= m->members[i].steps_back >= 2;
    for (size_t i = 0; needed && good && i < m->chunk_count; i++)
        good = split_chunk(&r, &m->chunks[i]);
    free(r.seen);
    free(r.tracks);
    nccl_index_free(&r.index);
    return good;
}

// ---- which members are one communicator ----

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_i64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

// By id, ranks, nodes; then rank, time.
static int by_group(const void *a, const void *b)
{
    const joined *x = *(joined *const *)a, *y = *(joined *const *)b;
    int order = strcmp(x->id, y->id);
    if (!order) order = compare_i64(x->ranks, y->ranks);
    if (!order) order = compare_i64(x->nodes, y->nodes);
    if (!order) order = compare_i64(x->rank, y->rank);
    if (!order) order = compare_u64(x->first_dump_us, y->first_dump_us);
    if (!order) order = compare_i64(x->generation, y->generation);
    if (!order) order = strcmp(x->host, y->host);
    return order ? order : compare_i64(x->pid, y->pid);
}

static bool same_group(const joined *a, const joined *b)
{
    return a->id == b->id && a->ranks == b->ranks && a->nodes == b->nodes;
}

// How far the member's time is from the run's, 0 when they overlap.
static uint64_t distance(const joined *run, const joined *x)
{
    if (x->first_dump_us > run->last_dump_us) return x->first_dump_us - run->last_dump_us;
    if (run->first_dump_us > x->last_dump_us) return run->first_dump_us - x->last_dump_us;
    return 0;
}

static uint64_t apart(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

// The processes of one rank, `count` of them by time, go to different runs in their order, each to the nearest that
// leaves room for those behind it.
static void place_rank(joined **rank, size_t count, joined **runs, size_t run_count)
{
    size_t least = 0;
    for (size_t i = 0; i < count; i++) {
        size_t last = run_count - (count - i), best = least;
        for (size_t k = least + 1; k <= last; k++) {
            uint64_t near = distance(runs[k], rank[i]), best_near = distance(runs[best], rank[i]);
            if (near < best_near || (near == best_near && apart(runs[k]->first_dump_us, rank[i]->first_dump_us) <
                                                              apart(runs[best]->first_dump_us, rank[i]->first_dump_us)))
                best = k;
        }
        rank[i]->run = (uint32_t)best;
        least = best + 1;
    }
}

static size_t same_rank(joined **members, size_t count)
{
    size_t k = 1;
    while (k < count && members[k]->rank == members[0]->rank)
        k++;
    return k;
}

// As many runs as the rank with the most processes has; that rank's times tell when they were.
static void place_group(joined **members, size_t count, uint32_t group)
{
    joined **runs = members;
    size_t run_count = 0;
    for (size_t i = 0, k; i < count; i += k) {
        k = same_rank(members + i, count - i);
        if (k <= run_count) continue;
        runs = members + i;
        run_count = k;
    }
    for (size_t i = 0, k; i < count; i += k) {
        k = same_rank(members + i, count - i);
        place_rank(members + i, k, runs, run_count);
    }
    for (size_t i = 0; i < count; i++)
        members[i]->group = group;
}

// By group and run, then rank.
static int by_communicator(const void *a, const void *b)
{
    const joined *x = *(joined *const *)a, *y = *(joined *const *)b;
    int order = compare_i64(x->group, y->group);
    if (!order) order = compare_i64(x->run, y->run);
    if (!order) order = compare_i64(x->rank, y->rank);
    return order ? order : by_group(a, b);
}

// A communicator while it is sorted.
typedef struct gathered {
    nccl_communicator c;
    joined **members;
    size_t count;
} gathered;

static int by_display(const void *a, const void *b)
{
    const nccl_communicator *x = &((const gathered *)a)->c, *y = &((const gathered *)b)->c;
    int order = compare_i64(y->type, x->type); // mixed, the whole job, first
    if (!order) order = compare_i64(y->ranks, x->ranks);
    if (!order) order = strcmp(x->name, y->name);
    if (!order) order = strcmp(x->id, y->id);
    return order ? order : compare_i64(x->run, y->run);
}

static int by_id_and_time(const void *a, const void *b)
{
    const nccl_communicator *x = &(*(gathered *const *)a)->c, *y = &(*(gathered *const *)b)->c;
    int order = strcmp(x->id, y->id);
    return order ? order : compare_u64(x->first_dump_us, y->first_dump_us);
}

static void gather(gathered *g, joined **members, size_t count)
{
    joined *first = members[0];
    g->members = members;
    g->count = count;
    g->c = (nccl_communicator){.id = first->id,
                               .name = "",
                               .ranks = first->ranks,
                               .nodes = first->nodes,
                               .type = nccl_class_of(first->ranks, first->nodes),
                               .first_dump_us = UINT64_MAX};
    for (size_t i = 0; i < count; i++) {
        if (!*g->c.name) g->c.name = members[i]->name;
        if (members[i]->first_dump_us < g->c.first_dump_us) g->c.first_dump_us = members[i]->first_dump_us;
        if (members[i]->last_dump_us > g->c.last_dump_us) g->c.last_dump_us = members[i]->last_dump_us;
    }
}

static bool number_runs(gathered *all, size_t count)
{
    gathered **order = malloc((count + 1) * sizeof *order);
    if (!order) return false;
    for (size_t i = 0; i < count; i++)
        order[i] = &all[i];
    qsort(order, count, sizeof(gathered *), by_id_and_time);
    for (size_t i = 0; i < count; i++)
        order[i]->c.run = i && order[i - 1]->c.id == order[i]->c.id ? order[i - 1]->c.run + 1 : 1;
    free(order);
    return true;
}

// Its name where no other id has it, else with the id; and which run.
static bool make_label(merging *m, nccl_communicator *c, bool shared)
{
    char run[32] = "", text[1200];
    if (c->run > 1) snprintf(run, sizeof run, " #%u", c->run);
    if (*c->name && shared)
        snprintf(text, sizeof text, "%.512s (%.512s)%s", c->name, c->id, run);
    else
        snprintf(text, sizeof text, "%.512s%s", *c->name ? c->name : c->id, run);
    c->label = nccl_arena_text(&m->memory->arena, text, strlen(text));
    return c->label != NULL;
}

static int by_name(const void *a, const void *b)
{
    const nccl_communicator *x = *(nccl_communicator *const *)a, *y = *(nccl_communicator *const *)b;
    int order = strcmp(x->name, y->name);
    return order ? order : strcmp(x->id, y->id);
}

static bool make_labels(merging *m)
{
    nccl *n = m->n;
    size_t count = n->communicator_count;
    nccl_communicator **order = malloc((count + 1) * sizeof *order);
    bool good = order != NULL;
    for (size_t i = 0; good && i < count; i++)
        order[i] = &n->communicators[i];
    if (good) qsort(order, count, sizeof(nccl_communicator *), by_name);
    for (size_t i = 0; good && i < count; i++) {
        bool before = i && order[i - 1]->name == order[i]->name && order[i - 1]->id != order[i]->id;
        size_t k = i;
        while (k + 1 < count && order[k + 1]->name == order[i]->name && order[k + 1]->id == order[i]->id)
            k++;
        bool behind = k + 1 < count && order[k + 1]->name == order[i]->name;
        for (size_t j = i; good && j <= k; j++)
            good = make_label(m, order[j], before || behind);
        i = k;
    }
    free(order);
    return good;
}

// ---- the model's arrays ----

typedef struct process_key {
    const char *host;
    int64_t pid;
    joined *member;
} process_key;

static int by_process(const void *a, const void *b)
{
    const process_key *x = a, *y = b;
    int order = strcmp(x->host, y->host);
    if (!order) order = compare_i64(x->pid, y->pid);
    return order ? order : compare_i64(x->member->final, y->member->final);
}

static void add_process(nccl *n, const process_key *key)
{
    nccl_host *host = n->host_count ? &n->hosts[n->host_count - 1] : NULL;
    nccl_process *p = n->process_count ? &n->processes[n->process_count - 1] : NULL;
    bool other_host = !host || host->name != key->host;
    if (other_host) {
        host = &n->hosts[n->host_count++];
        *host = (nccl_host){.name = key->host, .first_process = (uint32_t)n->process_count};
    }
    if (other_host || p->pid != key->pid) {
        p = &n->processes[n->process_count++];
        *p = (nccl_process){.host = (uint32_t)(n->host_count - 1),
                            .pid = key->pid,
                            .local = host->process_count++,
                            .first_dump_us = UINT64_MAX};
    }
    p->member_count++;
    nccl_member *member = &n->members[key->member->final];
    member->process = (uint32_t)(n->process_count - 1);
    if (member->first_dump_us < p->first_dump_us) p->first_dump_us = member->first_dump_us;
    if (member->last_dump_us > p->last_dump_us) p->last_dump_us = member->last_dump_us;
}

static bool make_processes(merging *m)
{
    nccl *n = m->n;
    process_key *keys = malloc((m->member_count + 1) * sizeof *keys);
    n->hosts = calloc(m->member_count + 1, sizeof *n->hosts);
    n->processes = calloc(m->member_count + 1, sizeof *n->processes);
    n->process_members = calloc(m->member_count + 1, sizeof *n->process_members);
    bool good = keys && n->hosts && n->processes && n->process_members;
    for (size_t i = 0; good && i < m->member_count; i++)
        keys[i] = (process_key){m->members[i].host, m->members[i].pid, &m->members[i]};
    if (good) qsort(keys, m->member_count, sizeof *keys, by_process);
    for (size_t i = 0; good && i < m->member_count; i++) {
        size_t known = n->process_count;
        add_process(n, &keys[i]);
        if (n->process_count > known) n->processes[known].first_member = (uint32_t)i;
        n->process_members[i] = keys[i].member->final;
    }
    free(keys);
    return good;
}

static void fill_communicator(merging *m, const gathered *g)
{
    nccl *n = m->n;
    nccl_communicator *c = &n->communicators[n->communicator_count];
    *c = g->c;
    c->first_member = (uint32_t)n->member_count;
    c->member_count = (uint32_t)g->count;
    c->peak_gbs = NAN;
    for (size_t i = 0; i < g->count; i++) {
        joined *x = g->members[i];
        x->final = (uint32_t)n->member_count;
        n->members[n->member_count++] = (nccl_member){.communicator = (uint32_t)n->communicator_count,
                                                      .rank = x->rank,
                                                      .stats = x->stats,
                                                      .first_dump_us = x->first_dump_us,
                                                      .last_dump_us = x->last_dump_us};
        n->has_dump_stats |= x->stats.dumps > 0;
    }
    n->communicator_count++;
}

static bool make_communicators(merging *m)
{
    nccl *n = m->n;
    size_t count = m->member_count, groups = 0;
    joined **order = malloc((count + 1) * sizeof *order);
    gathered *all = calloc(count + 1, sizeof *all);
    n->communicators = calloc(count + 1, sizeof *n->communicators);
    n->members = calloc(count + 1, sizeof *n->members);
    bool good = order && all && n->communicators && n->members;
    for (size_t i = 0; good && i < count; i++)
        order[i] = &m->members[i];
    if (good) qsort(order, count, sizeof(joined *), by_group);
    for (size_t i = 0, k; good && i < count; i = k, groups++) {
        for (k = i + 1; k < count && same_group(order[i], order[k]);)
            k++;
        place_group(order + i, k - i, (uint32_t)groups);
    }
    if (good) qsort(order, count, sizeof(joined *), by_communicator);
    groups = 0;
    for (size_t i = 0, k; good && i < count; i = k) {
        for (k = i + 1; k < count && order[k]->group == order[i]->group && order[k]->run == order[i]->run;)
            k++;
        gather(&all[groups++], order + i, k - i);
    }
    good = good && number_runs(all, groups);
    if (good) qsort(all, groups, sizeof *all, by_display);
    for (size_t i = 0; good && i < groups; i++)
        fill_communicator(m, &all[i]);
    free(order);
    free(all);
    return good && make_labels(m) && make_processes(m);
}

// ---- what, series, slots ----

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool same_whats(const void *user, uint32_t i)
{
    const nccl_what *k = ((const nccl_what *const *)user)[0], *x = ((const nccl_what *const *)user)[1] + i;
    return x->coll == k->coll && x->algo == k->algo && x->proto == k->proto && x->timing == k->timing;
}

static uint32_t join_what(merging *m, const nccl_what *local)
{
    nccl_what key = {share(m, local->coll), share(m, local->algo), share(m, local->proto), share(m, local->timing)};
    if (!key.coll || !key.algo || !key.proto || !key.timing) return NCCL_NONE;
    const nccl_what *user[] = {&key, m->memory->whats};
    uint64_t hash = nccl_mix((uintptr_t)key.coll, (uintptr_t)key.algo);
    hash = nccl_mix(nccl_mix(hash, (uintptr_t)key.proto), (uintptr_t)key.timing);
    uint32_t next = (uint32_t)m->memory->what_count,
             found = nccl_index_put(&m->what_index, hash, same_whats, user, next);
    if (found != next) return found;
    if (!NCCL_ROOM(m->memory->whats, m->memory->what_count, m->memory->what_room)) return NCCL_NONE;
    m->memory->whats[m->memory->what_count++] = key;
    m->n->has_algorithms |= *key.algo || *key.proto;
    return found;
}

static bool make_colls(merging *m)
{
    nccl *n = m->n;
    n->colls = calloc(m->memory->what_count + 1, sizeof *n->colls);
    if (!n->colls) return false;
    for (size_t i = 0; i < m->memory->what_count; i++)
        n->colls[n->coll_count++] = m->memory->whats[i].coll;
    qsort(n->colls, n->coll_count, sizeof *n->colls, by_text);
    size_t kept = 0;
    for (size_t i = 0; i < n->coll_count; i++)
        if (!kept || n->colls[kept - 1] != n->colls[i]) n->colls[kept++] = n->colls[i];
    n->coll_count = kept;
    return true;
}

static uint32_t coll_index(const nccl *n, const char *coll)
{
    const char **found = bsearch(&coll, n->colls, n->coll_count, sizeof *n->colls, by_text);
    return found ? (uint32_t)(found - n->colls) : NCCL_NONE;
}

typedef struct series_key {
    uint32_t communicator, coll;
    uint64_t size;
    uint32_t order; // where it was found first
} series_key;

static bool same_series(const void *user, uint32_t i)
{
    const series_key *k = ((const series_key *const *)user)[0], *x = ((const series_key *const *)user)[1] + i;
    return x->communicator == k->communicator && x->coll == k->coll && x->size == k->size;
}

static int by_series(const void *a, const void *b)
{
    const series_key *x = a, *y = b;
    int order = compare_i64(x->communicator, y->communicator);
    if (!order) order = compare_i64(x->coll, y->coll);
    return order ? order : compare_u64(x->size, y->size);
}

static void add_series(nccl *n, const series_key *key)
{
    nccl_operation *o = n->operation_count ? &n->operations[n->operation_count - 1] : NULL;
    if (!o || o->communicator != key->communicator || o->coll != key->coll) {
        nccl_communicator *c = &n->communicators[key->communicator];
        if (!c->operation_count++) c->first_operation = (uint32_t)n->operation_count;
        o = &n->operations[n->operation_count++];
        *o = (nccl_operation){.communicator = key->communicator,
                              .coll = key->coll,
                              .first_series = (uint32_t)n->series_count,
                              .first_arrival = n->arrival_count};
        n->arrival_count += c->member_count;
    }
    o->series_count++;
    n->series[n->series_count++] = (nccl_series){.communicator = key->communicator,
                                                 .operation = (uint32_t)(n->operation_count - 1),
                                                 .coll = key->coll,
                                                 .size = key->size,
                                                 .peak_share = NAN};
}

typedef struct series_list {
    series_key *keys;
    size_t count, room;
} series_list;

static bool add_slot(merging *m, series_list *list, const nccl_chunk *c, nccl_local_slot *local, const uint32_t *whats)
{
    nccl_memory *memory = m->memory;
    local->global = NCCL_NONE;
    if (!local->count) return true;
    uint32_t member = m->members[local->owner].final, what = whats[local->what];
    series_key key = {m->n->members[member].communicator, coll_index(m->n, memory->whats[what].coll), local->size,
                      (uint32_t)list->count};
    const series_key *user[] = {&key, list->keys};
    uint64_t hash = nccl_mix(nccl_mix(key.size, key.communicator), key.coll);
    uint32_t series = nccl_index_put(&m->series_index, hash, same_series, user, key.order);
    if (series == NCCL_NONE || !NCCL_ROOM(memory->slots, memory->slot_count, memory->slot_room)) return false;
    if (series == key.order) {
        if (!NCCL_ROOM(list->keys, list->count, list->room)) return false;
        list->keys[list->count++] = key;
    }
    local->global = (uint32_t)memory->slot_count;
    memory->slots[memory->slot_count++] = (nccl_slot){member, series, c->file, what};
    return true;
}

// Each chunk's whats as indexes of memory->whats, one array behind the other.
static uint32_t *join_whats(merging *m)
{
    size_t total = 0;
    for (size_t i = 0; i < m->chunk_count; i++)
        total += m->chunks[i].what_count;
    uint32_t *whats = malloc((total + 1) * sizeof *whats), *to = whats;
    for (size_t i = 0; whats && i < m->chunk_count; i++)
        for (size_t k = 0; k < m->chunks[i].what_count; k++) {
            *to = join_what(m, &m->chunks[i].whats[k]);
            if (*to++ == NCCL_NONE) {
                free(whats);
                return NULL;
            }
        }
    return whats;
}

static bool make_series(merging *m)
{
    nccl *n = m->n;
    series_list list = {NULL, 0, 0};
    uint32_t *whats = join_whats(m), *at = whats, *renumbered = NULL;
    bool good = whats && make_colls(m);
    for (size_t i = 0; good && i < m->chunk_count; i++) {
        nccl_chunk *c = &m->chunks[i];
        for (size_t k = 0; good && k < c->slot_count; k++)
            good = add_slot(m, &list, c, &c->slots[k], at);
        at += c->what_count;
    }
    n->series = calloc(list.count + 1, sizeof *n->series);
    n->operations = calloc(list.count + 1, sizeof *n->operations);
    renumbered = malloc((list.count + 1) * sizeof *renumbered);
    good = good && n->series && n->operations && renumbered;
    if (good && list.count) qsort(list.keys, list.count, sizeof *list.keys, by_series);
    for (size_t i = 0; good && i < list.count; i++) {
        renumbered[list.keys[i].order] = (uint32_t)i;
        add_series(n, &list.keys[i]);
    }
    for (size_t i = 0; good && i < m->memory->slot_count; i++)
        m->memory->slots[i].series = renumbered[m->memory->slots[i].series];
    n->arrivals = calloc(n->arrival_count + 1, sizeof *n->arrivals);
    free(list.keys);
    free(whats);
    free(renumbered);
    return good && n->arrivals;
}

// ---- records: series after series, within one in the order of files ----

typedef struct scatter {
    merging *m;
    size_t *next;   // by slot: where its next record goes
    size_t *traces; // by chunk: where its traces begin
} scatter;

static void scatter_chunk(void *user, size_t i)
{
    scatter *s = user;
    nccl_chunk *c = &s->m->chunks[i];
    nccl *n = s->m->n;
    for (size_t k = 0; k < c->record_count; k++) {
        nccl_record r = c->records[k];
        uint32_t slot = r.slot == NCCL_NONE ? NCCL_NONE : c->slots[r.slot].global;
        if (slot == NCCL_NONE) continue;
        r.slot = slot;
        if (r.trace) r.trace += (uint32_t)s->traces[i];
        n->records[s->next[slot]++] = r;
    }
    free(c->records);
    c->records = NULL;
    if (c->trace_count) memcpy(n->traces + s->traces[i], c->traces, c->trace_count * sizeof *c->traces);
}

// Where the records of each slot begin; sets first_instance of the series to where its records begin for nccl_group().
static bool plan(scatter *s)
{
    merging *m = s->m;
    nccl *n = m->n;
    uint64_t *counts = calloc(m->memory->slot_count + 1, sizeof *counts);
    size_t *series = calloc(n->series_count + 1, sizeof *series);
    s->next = malloc((m->memory->slot_count + 1) * sizeof *s->next);
    s->traces = malloc((m->chunk_count + 1) * sizeof *s->traces);
    bool good = counts && series && s->next && s->traces;
    for (size_t i = 0; good && i < m->chunk_count; i++) {
        s->traces[i] = n->trace_count;
        n->trace_count += m->chunks[i].trace_count;
        for (size_t k = 0; k < m->chunks[i].slot_count; k++) {
            const nccl_local_slot *local = &m->chunks[i].slots[k];
            if (local->global == NCCL_NONE) continue;
            counts[local->global] = local->count;
            series[m->memory->slots[local->global].series + 1] += local->count;
        }
    }
    for (size_t i = 0; good && i < n->series_count; i++) {
        series[i + 1] += series[i];
        n->series[i].first_instance = series[i];
        n->series[i].instance_count = series[i + 1] - series[i];
    }
    n->record_count = good ? series[n->series_count] : 0;
    for (size_t i = 0; good && i < m->memory->slot_count; i++) {
        size_t *at = &series[m->memory->slots[i].series];
        s->next[i] = *at;
        *at += counts[i];
    }
    free(counts);
    free(series);
    return good;
}

static bool make_records(merging *m)
{
    nccl *n = m->n;
    scatter s = {.m = m};
    nccl_pool_options pool = {.threads = m->memory->threads};
    bool good = plan(&s);
    n->records = malloc((n->record_count + 1) * sizeof *n->records);
    n->traces = malloc((n->trace_count + 1) * sizeof *n->traces);
    n->has_traces = n->trace_count > 0;
    good = good && n->records && n->traces;
    if (good) nccl_parallel(&pool, m->chunk_count, scatter_chunk, &s);
    free(s.next);
    free(s.traces);
    return good;
}

// Lets chunks keep members as indexes of n->members for what comes behind.
static void resolve_members(merging *m)
{
    for (size_t i = 0; i < m->chunk_count; i++)
        for (size_t k = 0; k < m->chunks[i].member_count; k++) {
            nccl_local_member *local = &m->chunks[i].members[k];
            if (local->global != NCCL_NONE) local->global = m->members[local->global].final;
        }
}

bool nccl_merge(nccl *n, nccl_chunk *chunks, size_t count)
{
    merging m = {.n = n, .memory = n->memory, .chunks = chunks, .chunk_count = count};
    bool good =
        join_members(&m) && split_restarted(&m) && make_communicators(&m) && make_series(&m) && make_records(&m);
    if (good) resolve_members(&m);
    free(m.members);
    free(m.texts);
    nccl_index_free(&m.member_index);
    nccl_index_free(&m.text_index);
    nccl_index_free(&m.what_index);
    nccl_index_free(&m.series_index);
    return good;
}
