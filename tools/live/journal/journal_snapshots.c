#include "journal_snapshots.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <string.h>

// The frames as one .netprof input: a file for each preamble, and in it the ticks.
typedef struct journal_feed {
    journal_index *index;
    const journal_stream *stream;
    size_t next; // stretch
    bool begun;  // a tick that needs none before it was there
    unsigned char hash[SHA256_BYTES], header[16];
    bool has_hash;
    unsigned char *bytes; // stb_ds
    size_t at;
    int64_t from_ns, to_ns;
    uint64_t ticks; // of the time that is asked for
} journal_feed;

static void journal_feed_put(journal_feed *f, const void *data, size_t size)
{
    if (size) memcpy(arraddnptr(f->bytes, size), data, size);
}

static int journal_feed_header(void *user, const void *data, size_t size)
{
    journal_feed *f = user;
    if (size == sizeof f->header) memcpy(f->header, data, size);
    return 0;
}

static bool journal_feed_begin_file(journal_feed *feed, const frame *f)
{
    size_t size = f->preamble_size;
    if (feed->has_hash && memcmp(feed->hash, f->hash, sizeof feed->hash) == 0) return true;
    const unsigned char *preamble =
        size ? f->preamble : journal_index_preamble(feed->index, f->hash, &size); // of another reader: f stays valid
    if (!preamble) return false;
    memcpy(feed->hash, f->hash, sizeof feed->hash);
    feed->has_hash = true;
    journal_feed_put(feed, feed->header, sizeof feed->header);
    journal_feed_put(feed, preamble, size);
    return true;
}

static void journal_feed_frame(journal_feed *feed, const journal_stretch *s, const frame *f)
{
    spool_tick t;
    bool known = journal_feed_begin_file(feed, f);
    uint64_t number = f->first;
    for (size_t at = 0; frame_next(f, &at, &t) && number <= s->last; number++) {
        if (number < s->first) continue;
        feed->ticks += t.wall_ns >= feed->from_ns && t.wall_ns <= feed->to_ns;
        feed->begun |= t.is_key;
        if (known && feed->begun) journal_feed_put(feed, t.data, t.size);
    }
}

static int journal_feed_read(void *user, void *to, size_t size, size_t *got)
{
    journal_feed *feed = user;
    while (feed->at == arrlenu(feed->bytes) && feed->next < arrlenu(feed->stream->stretches)) {
        const journal_stretch *s = &feed->stream->stretches[feed->next++];
        frame f;
        if (feed->bytes) arrsetlen(feed->bytes, 0);
        feed->at = 0;
        if (!s->is_gap && journal_index_frame(feed->index, s, &f)) journal_feed_frame(feed, s, &f);
    }
    size_t left = arrlenu(feed->bytes) - feed->at;
    *got = left < size ? left : size;
    if (*got) memcpy(to, feed->bytes + feed->at, *got);
    feed->at += *got;
    return 0;
}

static uint64_t journal_feed_visit(journal_feed *feed, netprof_reader *r, const journal_visitor *v)
{
    netprof_item item;
    uint64_t seen = 0;
    while (netprof_reader_next(r, &item, NULL) == NETPROF_OK && item.type != NETPROF_ITEM_END) {
        if (item.type == NETPROF_ITEM_FACT && v->fact) v->fact(v->user, item.fact->key, item.fact->value);
        if (item.type != NETPROF_ITEM_SNAPSHOT || !item.snapshot) continue;
        if (item.snapshot->wall_ns < feed->from_ns || item.snapshot->wall_ns > feed->to_ns) continue;
        v->snapshot(v->user, item.snapshot);
        seen++;
    }
    return seen;
}

uint64_t journal_snapshots_visit(journal_index *x, size_t stream, int64_t from_ns, int64_t to_ns,
                                 const journal_visitor *v)
{
    journal_feed feed = {.index = x, .stream = journal_index_stream(x, stream), .from_ns = from_ns, .to_ns = to_ns};
    netprof_writer *w;
    netprof_reader *r;
    uint64_t seen = 0;
    if (!arrlenu(feed.stream->stretches)) return 0;
    if (netprof_writer_open_fn(&w, journal_feed_header, &feed, NULL)) memory_exhausted();
    netprof_writer_close(w, 0, NULL);
    if (netprof_reader_open_fn(&r, journal_feed_read, &feed, NULL, NULL) == NETPROF_OK) {
        seen = journal_feed_visit(&feed, r, v);
        netprof_reader_close(r);
    }
    arrfree(feed.bytes);
    return feed.ticks > seen ? feed.ticks - seen : 0;
}
