// Collectives, series and slots; and every record at its place.
#include "nccl_merge_parts.h"

#include "analysis/base/threads/parallel.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

// ---- what, series, slots ----

static int records_by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static uint32_t records_join_what(nccl_merging *m, const nccl_what *local)
{
    nccl_what key = {nccl_merge_text(m, local->coll), nccl_merge_text(m, local->algo), nccl_merge_text(m, local->proto),
                     nccl_merge_text(m, local->timing)};
    uint32_t found = nccl_number(&m->what_of, &key, sizeof key);
    if (found < arrlenu(m->memory->whats)) return found;
    arrput(m->memory->whats, key);
    m->n->has_algorithms |= *key.algo || *key.proto;
    return found;
}

static void records_make_colls(nccl_merging *m)
{
    nccl *n = m->n;
    size_t count = arrlenu(m->memory->whats);
    n->colls = memory_calloc(count, sizeof *n->colls);
    for (size_t i = 0; i < count; i++)
        n->colls[i] = m->memory->whats[i].coll;
    qsort(n->colls, count, sizeof *n->colls, records_by_text);
    for (size_t i = 0; i < count; i++)
        if (!n->coll_count || n->colls[n->coll_count - 1] != n->colls[i]) n->colls[n->coll_count++] = n->colls[i];
}

static uint32_t records_coll_index(const nccl *n, const char *coll)
{
    const char **found = bsearch(&coll, n->colls, n->coll_count, sizeof *n->colls, records_by_text);
    return found ? (uint32_t)(found - n->colls) : NCCL_NONE;
}

typedef struct series_key {
    uint32_t communicator, coll;
    uint64_t size;
    uint32_t order; // where it was found first; not in the map's key
} series_key;

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

static void records_add_slot(nccl_merging *m, series_key **keys, const nccl_chunk *c, nccl_local_slot *local,
                             const uint32_t *whats)
{
    nccl_store *memory = m->memory;
    local->global = NCCL_NONE;
    if (!local->count) return;
    uint32_t member = m->members[local->owner].final, what = whats[local->what];
    series_key key = {m->n->members[member].communicator, records_coll_index(m->n, memory->whats[what].coll),
                      local->size, (uint32_t)arrlenu(*keys)};
    uint32_t series = nccl_number(&m->series_of, &key, offsetof(series_key, order));
    if (series == key.order) arrput(*keys, key);
    nccl_slot slot = {member, series, c->file, what};
    local->global = (uint32_t)arrlenu(memory->slots);
    arrput(memory->slots, slot);
}

// Each chunk's whats as indexes of memory->whats, chunk after chunk: an array of stb_ds.
static uint32_t *records_join_whats(nccl_merging *m)
{
    uint32_t *whats = NULL;
    for (size_t i = 0; i < m->chunk_count; i++)
        for (size_t k = 0; k < arrlenu(m->chunks[i].whats); k++)
            arrput(whats, records_join_what(m, &m->chunks[i].whats[k]));
    return whats;
}

void nccl_merge_series(nccl_merging *m)
{
    nccl *n = m->n;
    series_key *keys = NULL;
    uint32_t *whats = records_join_whats(m);
    size_t at = 0;
    records_make_colls(m);
    for (size_t i = 0; i < m->chunk_count; i++) {
        nccl_chunk *c = &m->chunks[i];
        for (size_t k = 0; k < arrlenu(c->slots); k++)
            records_add_slot(m, &keys, c, &c->slots[k], whats + at);
        at += arrlenu(c->whats);
    }
    size_t count = arrlenu(keys);
    uint32_t *renumbered = memory_array(NULL, count, sizeof *renumbered);
    n->series = memory_calloc(count, sizeof *n->series);
    n->operations = memory_calloc(count, sizeof *n->operations);
    if (count) qsort(keys, count, sizeof *keys, records_by_series);
    for (size_t i = 0; i < count; i++) {
        renumbered[keys[i].order] = (uint32_t)i;
        records_add_series(n, &keys[i]);
    }
    for (size_t i = 0; i < arrlenu(m->memory->slots); i++)
        m->memory->slots[i].series = renumbered[m->memory->slots[i].series];
    n->arrivals = memory_calloc(n->arrival_count, sizeof *n->arrivals);
    arrfree(keys);
    arrfree(whats);
    free(renumbered);
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
    for (size_t k = 0; k < arrlenu(c->records); k++) {
        nccl_record r = c->records[k];
        uint32_t slot = r.slot == NCCL_NONE ? NCCL_NONE : c->slots[r.slot].global;
        if (slot == NCCL_NONE) continue;
        r.slot = slot;
        if (r.trace) r.trace += (uint32_t)s->traces[i];
        n->records[s->next[slot]++] = r;
    }
    arrfree(c->records);
    size_t traces = arrlenu(c->traces);
    if (traces) memcpy(n->traces + s->traces[i], c->traces, traces * sizeof *c->traces);
}

// Where the records of each slot begin; sets first_instance of the series to where its records begin for nccl_group().
static void records_plan(scatter *s)
{
    nccl_merging *m = s->m;
    nccl *n = m->n;
    uint64_t *counts = memory_calloc(arrlenu(m->memory->slots), sizeof *counts);
    size_t *series = memory_calloc(n->series_count + 1, sizeof *series);
    s->next = memory_array(NULL, arrlenu(m->memory->slots), sizeof *s->next);
    s->traces = memory_array(NULL, m->chunk_count, sizeof *s->traces);
    for (size_t i = 0; i < m->chunk_count; i++) {
        s->traces[i] = n->trace_count;
        n->trace_count += arrlenu(m->chunks[i].traces);
        for (size_t k = 0; k < arrlenu(m->chunks[i].slots); k++) {
            const nccl_local_slot *local = &m->chunks[i].slots[k];
            if (local->global == NCCL_NONE) continue;
            counts[local->global] = local->count;
            series[m->memory->slots[local->global].series + 1] += local->count;
        }
    }
    for (size_t i = 0; i < n->series_count; i++) {
        series[i + 1] += series[i];
        n->series[i].first_instance = series[i];
        n->series[i].instance_count = series[i + 1] - series[i];
    }
    n->record_count = series[n->series_count];
    for (size_t i = 0; i < arrlenu(m->memory->slots); i++) {
        size_t *at = &series[m->memory->slots[i].series];
        s->next[i] = *at;
        *at += counts[i];
    }
    free(counts);
    free(series);
}

void nccl_merge_records(nccl_merging *m)
{
    nccl *n = m->n;
    scatter s = {.m = m};
    parallel_options pool = {.threads = m->memory->threads};
    records_plan(&s);
    n->records = memory_array(NULL, n->record_count, sizeof *n->records);
    n->traces = memory_array(NULL, n->trace_count, sizeof *n->traces);
    n->has_traces = n->trace_count > 0;
    parallel_for(&pool, m->chunk_count, records_scatter_chunk, &s);
    free(s.next);
    free(s.traces);
}
