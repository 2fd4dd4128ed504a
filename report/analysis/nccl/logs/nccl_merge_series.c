// Collectives, series and slots; and every record at its place.
#include "nccl_merge_parts.h"

#include "nccl_parallel.h"

#include <math.h>
#include <stdlib.h>

// ---- what, series, slots ----

static int records_by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool records_same_what(const void *user, uint32_t i)
{
    const nccl_what *k = ((const nccl_what *const *)user)[0], *x = ((const nccl_what *const *)user)[1] + i;
    return x->coll == k->coll && x->algo == k->algo && x->proto == k->proto && x->timing == k->timing;
}

static uint32_t records_join_what(nccl_merging *m, const nccl_what *local)
{
    nccl_what key = {nccl_merge_text(m, local->coll), nccl_merge_text(m, local->algo), nccl_merge_text(m, local->proto),
                     nccl_merge_text(m, local->timing)};
    if (!key.coll || !key.algo || !key.proto || !key.timing) return NCCL_NONE;
    const nccl_what *user[] = {&key, m->memory->whats};
    uint64_t hash = nccl_mix((uintptr_t)key.coll, (uintptr_t)key.algo);
    hash = nccl_mix(nccl_mix(hash, (uintptr_t)key.proto), (uintptr_t)key.timing);
    uint32_t next = (uint32_t)m->memory->what_count,
             found = nccl_index_put(&m->what_index, hash, records_same_what, user, next);
    if (found != next) return found;
    if (!NCCL_ROOM(m->memory->whats, m->memory->what_count, m->memory->what_room)) return NCCL_NONE;
    m->memory->whats[m->memory->what_count++] = key;
    m->n->has_algorithms |= *key.algo || *key.proto;
    return found;
}

static bool records_make_colls(nccl_merging *m)
{
    nccl *n = m->n;
    n->colls = calloc(m->memory->what_count + 1, sizeof *n->colls);
    if (!n->colls) return false;
    for (size_t i = 0; i < m->memory->what_count; i++)
        n->colls[n->coll_count++] = m->memory->whats[i].coll;
    qsort(n->colls, n->coll_count, sizeof *n->colls, records_by_text);
    size_t kept = 0;
    for (size_t i = 0; i < n->coll_count; i++)
        if (!kept || n->colls[kept - 1] != n->colls[i]) n->colls[kept++] = n->colls[i];
    n->coll_count = kept;
    return true;
}

static uint32_t records_coll_index(const nccl *n, const char *coll)
{
    const char **found = bsearch(&coll, n->colls, n->coll_count, sizeof *n->colls, records_by_text);
    return found ? (uint32_t)(found - n->colls) : NCCL_NONE;
}

typedef struct series_key {
    uint32_t communicator, coll;
    uint64_t size;
    uint32_t order; // where it was found first
} series_key;

static bool records_same_series(const void *user, uint32_t i)
{
    const series_key *k = ((const series_key *const *)user)[0], *x = ((const series_key *const *)user)[1] + i;
    return x->communicator == k->communicator && x->coll == k->coll && x->size == k->size;
}

static int records_by_series(const void *a, const void *b)
{
    const series_key *x = a, *y = b;
    int order = nccl_compare_i64(x->communicator, y->communicator);
    if (!order) order = nccl_compare_i64(x->coll, y->coll);
    return order ? order : nccl_compare_u64(x->size, y->size);
}

static void records_add_series(nccl *n, const series_key *key)
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

static bool records_add_slot(nccl_merging *m, series_list *list, const nccl_chunk *c, nccl_local_slot *local,
                             const uint32_t *whats)
{
    nccl_store *memory = m->memory;
    local->global = NCCL_NONE;
    if (!local->count) return true;
    uint32_t member = m->members[local->owner].final, what = whats[local->what];
    series_key key = {m->n->members[member].communicator, records_coll_index(m->n, memory->whats[what].coll),
                      local->size, (uint32_t)list->count};
    const series_key *user[] = {&key, list->keys};
    uint64_t hash = nccl_mix(nccl_mix(key.size, key.communicator), key.coll);
    uint32_t series = nccl_index_put(&m->series_index, hash, records_same_series, user, key.order);
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
static uint32_t *records_join_whats(nccl_merging *m)
{
    size_t total = 0;
    for (size_t i = 0; i < m->chunk_count; i++)
        total += m->chunks[i].what_count;
    uint32_t *whats = malloc((total + 1) * sizeof *whats), *to = whats;
    for (size_t i = 0; whats && i < m->chunk_count; i++)
        for (size_t k = 0; k < m->chunks[i].what_count; k++) {
            *to = records_join_what(m, &m->chunks[i].whats[k]);
            if (*to++ == NCCL_NONE) {
                free(whats);
                return NULL;
            }
        }
    return whats;
}

bool nccl_merge_series(nccl_merging *m)
{
    nccl *n = m->n;
    series_list list = {NULL, 0, 0};
    uint32_t *whats = records_join_whats(m), *at = whats, *renumbered = NULL;
    bool good = whats && records_make_colls(m);
    for (size_t i = 0; good && i < m->chunk_count; i++) {
        nccl_chunk *c = &m->chunks[i];
        for (size_t k = 0; good && k < c->slot_count; k++)
            good = records_add_slot(m, &list, c, &c->slots[k], at);
        at += c->what_count;
    }
    n->series = calloc(list.count + 1, sizeof *n->series);
    n->operations = calloc(list.count + 1, sizeof *n->operations);
    renumbered = malloc((list.count + 1) * sizeof *renumbered);
    good = good && n->series && n->operations && renumbered;
    if (good && list.count) qsort(list.keys, list.count, sizeof *list.keys, records_by_series);
    for (size_t i = 0; good && i < list.count; i++) {
        renumbered[list.keys[i].order] = (uint32_t)i;
        records_add_series(n, &list.keys[i]);
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
    nccl_merging *m;
    size_t *next;   // by slot: where its next record goes
    size_t *traces; // by chunk: where its traces begin
} scatter;

static void records_scatter_chunk(void *user, size_t i)
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
static bool records_plan(scatter *s)
{
    nccl_merging *m = s->m;
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

bool nccl_merge_records(nccl_merging *m)
{
    nccl *n = m->n;
    scatter s = {.m = m};
    nccl_pool_options pool = {.threads = m->memory->threads};
    bool good = records_plan(&s);
    n->records = malloc((n->record_count + 1) * sizeof *n->records);
    n->traces = malloc((n->trace_count + 1) * sizeof *n->traces);
    n->has_traces = n->trace_count > 0;
    good = good && n->records && n->traces;
    if (good) nccl_parallel(&pool, m->chunk_count, records_scatter_chunk, &s);
    free(s.next);
    free(s.traces);
    return good;
}
