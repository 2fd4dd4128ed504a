#include "journal_known.h"

#include "live/spool/little.h"
#include "live/spool/seglog.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <stdlib.h>
#include <string.h>

void journal_known_init(journal_known *k)
{
    *k = (journal_known){0};
    sh_new_strdup(k->streams);
    sh_new_strdup(k->nodes);
    hmdefault(k->hashes, 0); // a lookup in no map at all would make one
}

bool journal_known_find(const journal_known *k, const char *node, const unsigned char stream[16], size_t *row)
{
    char *key = journal_stream_key(node, stream);
    journal_name *streams = k->streams;
    ptrdiff_t i = shgeti(streams, key);
    free(key);
    if (i >= 0) *row = streams[i].value;
    return i >= 0;
}

size_t journal_known_streams(const journal_known *k, const char *node)
{
    journal_node *nodes = k->nodes;
    ptrdiff_t i = shgeti(nodes, node);
    return i >= 0 ? arrlenu(nodes[i].value) : 0;
}

static void journal_known_put(journal_known *k, size_t row, const char *node, const unsigned char stream[16])
{
    char *key = journal_stream_key(node, stream);
    ptrdiff_t at = shgeti(k->nodes, node);
    if (at < 0) {
        shput(k->nodes, node, NULL);
        at = shgeti(k->nodes, node);
    }
    arrput(k->nodes[at].value, row);
    shput(k->streams, key, row);
    free(k->rows[row].node);
    k->rows[row] = (journal_row){.node = memory_strdup(node)};
    free(key);
}

size_t journal_known_add(journal_known *k, const char *node, const unsigned char stream[16])
{
    arrput(k->rows, ((journal_row){.node = NULL}));
    journal_known_put(k, arrlenu(k->rows) - 1, node, stream);
    return arrlenu(k->rows) - 1;
}

size_t journal_known_named(const journal_known *k)
{
    size_t named = 0;
    for (size_t i = 0; i < arrlenu(k->rows); i++)
        named += *k->rows[i].node != 0;
    return named;
}

int64_t journal_known_heard(const journal_known *k, const char *node)
{
    journal_node *nodes = k->nodes;
    ptrdiff_t at = shgeti(nodes, node);
    int64_t heard = 0;
    for (size_t i = 0; at >= 0 && i < arrlenu(nodes[at].value); i++) {
        const journal_row *r = &k->rows[nodes[at].value[i]];
        if (r->heard_ns > heard) heard = r->heard_ns;
    }
    return heard;
}

bool journal_known_oldest(const journal_known *k, const char *node, int64_t before_ns, size_t *row)
{
    journal_node *nodes = k->nodes;
    ptrdiff_t at = shgeti(nodes, node);
    bool found = false;
    for (size_t i = 0; at >= 0 && i < arrlenu(nodes[at].value); i++) {
        const journal_row *r = &k->rows[nodes[at].value[i]];
        if (r->heard_ns >= before_ns || r->r.accepted != r->r.durable) continue;
        before_ns = r->heard_ns;
        *row = nodes[at].value[i];
        found = true;
    }
    return found;
}

void journal_known_replace(journal_known *k, size_t row, const unsigned char stream[16])
{
    journal_row *r = &k->rows[row];
    size_t found;
    char *before = journal_stream_key(r->node, r->r.stream), *after = journal_stream_key(r->node, stream);
    journal_row fresh = {.node = r->node, .changed = r->changed, .since_ns = r->since_ns};
    memcpy(fresh.missing, r->missing, sizeof fresh.missing);
    // Behind damage another row may be of the same stream already.
    if (journal_known_find(k, r->node, r->r.stream, &found) && found == row) shdel(k->streams, before);
    shput(k->streams, after, row);
    memcpy(fresh.r.stream, stream, sizeof fresh.r.stream);
    *r = fresh;
    free(before);
    free(after);
}

void journal_known_miss(journal_row *row, uint64_t first, uint64_t last, unsigned reason)
{
    if (first <= row->counted) first = row->counted + 1;
    if (first <= last) row->missing[reason < SPOOL_REASONS ? reason : 0] += last - first + 1;
}

bool journal_known_has_hash(const journal_known *k, const unsigned char *hash)
{
    struct journal_hash_key key;
    journal_hash *hashes = k->hashes;
    memcpy(key.bytes, hash, sizeof key.bytes);
    return hmgeti(hashes, key) >= 0;
}

void journal_known_use_hash(journal_known *k, const unsigned char *hash, uint64_t segment)
{
    struct journal_hash_key key;
    memcpy(key.bytes, hash, sizeof key.bytes);
    hmput(k->hashes, key, segment);
}

bool journal_known_forget_hashes(journal_known *k, uint64_t segment)
{
    size_t unused = 0;
    for (size_t i = 0; i < hmlenu(k->hashes); i++)
        unused += k->hashes[i].value < segment;
    if (2 * unused <= hmlenu(k->hashes)) return false;
    for (size_t i = hmlenu(k->hashes); i-- > 0;) // the last one comes to the place of one that is removed
        if (k->hashes[i].value < segment) hmdel(k->hashes, k->hashes[i].key);
    return true;
}

static void journal_known_read_row(journal_known *k, const seglog_entry *e)
{
    char node[FRAME_NODE_MOST + 1];
    size_t name = e->size - 24, row;
    if (e->size < 25 || name > FRAME_NODE_MOST || e->number >= JOURNAL_ROWS) return;
    memcpy(node, e->data + 24, name);
    node[name] = 0;
    while (arrlenu(k->rows) <= e->number) // those between are damaged
        arrput(k->rows, ((journal_row){.node = memory_strdup("")}));
    if (!*k->rows[e->number].node)
        journal_known_put(k, row = (size_t)e->number, node, e->data);
    else if (strcmp(k->rows[e->number].node, node) != 0)
        return;
    else if (!journal_known_find(k, node, e->data, &row) || row != e->number)
        journal_known_replace(k, row = (size_t)e->number, e->data);
    receiver *r = &k->rows[row].r;
    *r = (receiver){.known = true, .durable = little_get(e->data + 16, 8)};
    memcpy(r->stream, e->data, 16);
    r->accepted = r->durable;
    if (e->time_ns) k->rows[row].heard_ns = e->time_ns;
}

static void journal_known_read_missing(journal_known *k, const seglog_entry *e)
{
    if (e->number >= arrlenu(k->rows) || e->size < 16 || e->size % 8) return;
    journal_row *row = &k->rows[e->number];
    row->since_ns = (int64_t)little_get(e->data, 8);
    row->counted = little_get(e->data + 8, 8);
    memset(row->missing, 0, sizeof row->missing);
    for (uint32_t at = 16; at < e->size; at += 8) {
        size_t reason = (at - 16) / 8;
        row->missing[reason < SPOOL_REASONS ? reason : 0] += little_get(e->data + at, 8);
    }
}

// Only what follows on what was there before counts: the rest is behind damage, and the agent is asked for it again.
static void journal_known_read_frame(journal_known *k, const seglog_entry *e)
{
    frame f = {.is_gap = true, .reason = SPOOL_ELSEWHERE};
    uint64_t first, last;
    if (e->number >= arrlenu(k->rows)) return;
    journal_row *row = &k->rows[e->number];
    if (e->kind == JOURNAL_FRAME) {
        if (!frame_parse(&f, e->data, e->size) || memcmp(f.stream, row->r.stream, sizeof f.stream) != 0) return;
        first = f.first;
        last = frame_last(&f);
        if (!f.is_gap && !journal_known_has_hash(k, f.hash)) return;
        row->tick_ns = f.last_ns;
        row->r.high = f.high;
    } else if (e->kind == JOURNAL_ELSEWHERE && e->size == 16) {
        first = little_get(e->data, 8);
        last = little_get(e->data + 8, 8);
    } else {
        return;
    }
    if (first == row->r.durable + 1) {
        row->r.durable = row->r.accepted = last;
        if (f.is_gap) journal_known_miss(row, first, last, f.reason);
    }
    if (!e->time_ns) return;
    row->heard_ns = e->time_ns;
    if (!row->since_ns) row->since_ns = e->time_ns;
}

void journal_known_read(journal_known *k, const char *path)
{
    seglog_reader r;
    seglog_entry e;
    if (seglog_reader_open(&r, path)) return;
    while (seglog_reader_next(&r, &e)) {
        if (e.kind == JOURNAL_ROW)
            journal_known_read_row(k, &e);
        else if (e.kind == JOURNAL_MISSING)
            journal_known_read_missing(k, &e);
        else
            journal_known_read_frame(k, &e);
    }
    seglog_reader_close(&r);
}

void journal_known_read_preambles(journal_known *k, const char *path)
{
    seglog_reader r;
    seglog_entry e;
    if (seglog_reader_open(&r, path)) return;
    while (seglog_reader_next(&r, &e))
        if (e.kind == JOURNAL_PREAMBLE && e.size >= SHA256_BYTES) journal_known_use_hash(k, e.data, 0);
    seglog_reader_close(&r);
}

void journal_known_free(journal_known *k)
{
    for (size_t i = 0; i < arrlenu(k->rows); i++)
        free(k->rows[i].node);
    arrfree(k->rows);
    for (size_t i = 0; i < shlenu(k->nodes); i++)
        arrfree(k->nodes[i].value);
    shfree(k->streams);
    shfree(k->nodes);
    hmfree(k->hashes);
}
