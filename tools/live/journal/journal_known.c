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

// The stream's 16 bytes as text, then the node's name.
static char *journal_known_key(const char *node, const unsigned char stream[16])
{
    return memory_format("%016llx%016llx %s", (unsigned long long)little_get(stream, 8),
                         (unsigned long long)little_get(stream + 8, 8), node);
}

bool journal_known_find(const journal_known *k, const char *node, const unsigned char stream[16], size_t *row)
{
    char *key = journal_known_key(node, stream);
    journal_name *streams = k->streams;
    ptrdiff_t i = shgeti(streams, key);
    free(key);
    if (i >= 0) *row = streams[i].value;
    return i >= 0;
}

size_t journal_known_streams(const journal_known *k, const char *node)
{
    journal_name *nodes = k->nodes;
    ptrdiff_t i = shgeti(nodes, node);
    return i >= 0 ? nodes[i].value : 0;
}

size_t journal_known_add(journal_known *k, const char *node, const unsigned char stream[16])
{
    char *key = journal_known_key(node, stream);
    size_t row = arrlenu(k->rows), streams = journal_known_streams(k, node) + 1;
    shput(k->streams, key, row);
    shput(k->nodes, node, streams);
    arrput(k->rows, ((journal_row){.node = memory_strdup(node)}));
    free(key);
    return row;
}

bool journal_known_has_hash(const journal_known *k, const unsigned char *hash)
{
    struct journal_hash_key key;
    journal_hash *hashes = k->hashes;
    memcpy(key.bytes, hash, sizeof key.bytes);
    return hmgeti(hashes, key) >= 0;
}

void journal_known_add_hash(journal_known *k, const unsigned char *hash)
{
    struct journal_hash_key key;
    memcpy(key.bytes, hash, sizeof key.bytes);
    hmput(k->hashes, key, 1);
}

static void journal_known_read_row(journal_known *k, const seglog_entry *e)
{
    char node[FRAME_NODE_MOST + 1];
    size_t name = e->size - 24, row;
    if (e->size < 25 || name > FRAME_NODE_MOST || e->number > arrlenu(k->rows)) return;
    memcpy(node, e->data + 24, name);
    node[name] = 0;
    if (e->number == arrlenu(k->rows))
        row = journal_known_add(k, node, e->data);
    else if (!journal_known_find(k, node, e->data, &row) || row != e->number)
        return;
    receiver *r = &k->rows[row].r;
    *r = (receiver){.known = true, .durable = little_get(e->data + 16, 8)};
    memcpy(r->stream, e->data, 16);
    r->accepted = r->durable;
}

// Only what follows on what was there before counts: the rest is behind damage, and the agent is asked for it again.
static void journal_known_read_frame(journal_known *k, const seglog_entry *e)
{
    frame f;
    uint64_t first, last;
    if (e->number >= arrlenu(k->rows)) return;
    journal_row *row = &k->rows[e->number];
    if (e->kind == JOURNAL_FRAME) {
        if (!frame_parse(&f, e->data, e->size)) return;
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
    if (first == row->r.durable + 1) row->r.durable = row->r.accepted = last;
    if (e->time_ns) row->heard_ns = e->time_ns;
}

void journal_known_read(journal_known *k, const char *path)
{
    seglog_reader r;
    seglog_entry e;
    if (seglog_reader_open(&r, path)) return;
    while (seglog_reader_next(&r, &e)) {
        if (e.kind == JOURNAL_ROW)
            journal_known_read_row(k, &e);
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
        if (e.kind == JOURNAL_PREAMBLE && e.size >= SHA256_BYTES) journal_known_add_hash(k, e.data);
    seglog_reader_close(&r);
}

void journal_known_free(journal_known *k)
{
    for (size_t i = 0; i < arrlenu(k->rows); i++)
        free(k->rows[i].node);
    arrfree(k->rows);
    shfree(k->streams);
    shfree(k->nodes);
    hmfree(k->hashes);
}
