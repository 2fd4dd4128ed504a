#include "stream.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <stdlib.h>
#include <string.h>

struct stream {
    unsigned char id[16], hash[SHA256_BYTES];
    uint64_t next; // the number that follows on what was read; 0: a tick is needed that needs none before it
    netprof_reader *reader;
    unsigned char *bytes; // that it has not read yet; stb_ds
    size_t at;
    uint64_t fed, read; // bytes of its file so far
    // By column: `bytes` are ticks from one on that needs none before it, and there is no reader between two columns.
    int64_t column_ns, wall_ns; // wall_ns: of the last tick that was taken
    size_t count, taken;        // ticks that there are, and that were taken
    stream_care care;
    stream_fact fact;
    void *fact_user;
};

// Bytes of ticks that are kept; of more the next tick that needs none before it is waited for.
enum { STREAM_MOST = 4 << 20 };

stream *stream_open(int64_t column_ns, stream_fact fact, void *user)
{
    stream *s = memory_calloc(1, sizeof *s);
    *s = (stream){.column_ns = column_ns, .fact = fact, .fact_user = user};
    return s;
}

static void stream_end(stream *s)
{
    if (s->reader) netprof_reader_close(s->reader);
    arrfree(s->bytes);
    s->reader = NULL;
    s->at = s->count = s->taken = 0;
    s->fed = s->read = s->next = 0;
}

static void stream_feed(stream *s, const void *data, size_t size)
{
    if (size) memcpy(arraddnptr(s->bytes, size), data, size);
    s->fed += size;
}

static int stream_header(void *user, const void *data, size_t size)
{
    stream_feed(user, data, size);
    return 0;
}

static int stream_read(void *user, void *to, size_t size, size_t *got)
{
    stream *s = user;
    size_t left = arrlenu(s->bytes) - s->at;
    *got = left < size ? left : size;
    if (*got) memcpy(to, s->bytes + s->at, *got);
    s->at += *got;
    if (s->at == arrlenu(s->bytes)) {
        if (s->bytes) arrsetlen(s->bytes, 0);
        s->at = 0;
    }
    return 0;
}

static void stream_begin(stream *s, const frame *f, const unsigned char *preamble, size_t size)
{
    netprof_writer *w;
    stream_end(s);
    if (netprof_writer_open_fn(&w, stream_header, s, NULL)) memory_exhausted();
    netprof_writer_close(w, 0, NULL);
    arrsetlen(s->bytes, 16); // the header; that of an empty file has an end behind it
    s->fed = 16;
    stream_feed(s, preamble, size);
    memcpy(s->hash, f->hash, sizeof s->hash);
    memcpy(s->id, f->stream, sizeof s->id);
    if (netprof_reader_open_fn(&s->reader, stream_read, s, NULL, NULL)) s->reader = NULL;
    s->read = 16;
}

// Never asks for more than there is: the end of a file would be the end for good.
static void stream_drain(stream *s, stream_take take, void *user)
{
    netprof_item item;
    while (s->reader && s->read < s->fed) {
        if (netprof_reader_next(s->reader, &item, NULL) || item.type == NETPROF_ITEM_END) {
            stream_end(s);
            return;
        }
        s->read = item.offset + item.size;
        if (item.type == NETPROF_ITEM_FACT && item.fact) s->fact(s->fact_user, item.fact);
        if (item.type == NETPROF_ITEM_SNAPSHOT && item.snapshot) take(user, item.snapshot);
    }
}

static bool stream_follows(const stream *s, const frame *f)
{
    return (s->reader || s->count) && s->next == f->first && memcmp(s->id, f->stream, sizeof s->id) == 0 &&
           memcmp(s->hash, f->hash, sizeof s->hash) == 0;
}

// ---- by column ----

typedef struct stream_taking {
    stream_take take;
    void *user;
    size_t place, from; // ticks before `from` were taken before
} stream_taking;

static void stream_take_new(void *user, const netprof_snapshot *snapshot)
{
    stream_taking *t = user;
    if (t->place++ >= t->from) t->take(t->user, snapshot);
}

// Those before it are read again for the ones that build on them.
static void stream_take_pending(stream *s, const frame *f, const unsigned char *preamble, size_t size, int64_t wall_ns,
                                stream_take take, void *user)
{
    stream once = {.column_ns = s->column_ns, .fact = s->fact, .fact_user = s->fact_user};
    stream_taking t = {.take = take, .user = user, .from = s->taken};
    if (s->taken == s->count) return;
    stream_begin(&once, f, preamble, size);
    stream_feed(&once, s->bytes, arrlenu(s->bytes));
    stream_drain(&once, stream_take_new, &t);
    stream_end(&once);
    s->taken = s->count;
    s->wall_ns = wall_ns;
}

static void stream_frame_by_column(stream *s, const frame *f, const unsigned char *preamble, size_t size,
                                   stream_take take, void *user)
{
    spool_tick t;
    int64_t wall_ns = 0; // of the last one that is kept
    if (!stream_follows(s, f)) stream_end(s);
    for (size_t at = 0; frame_next(f, &at, &t); wall_ns = t.wall_ns) {
        if (t.is_key) {
            if (s->count && wall_ns && wall_ns / s->column_ns != s->wall_ns / s->column_ns)
                stream_take_pending(s, f, preamble, size, wall_ns, take, user);
            stream_end(s);
            memcpy(s->hash, f->hash, sizeof s->hash);
            memcpy(s->id, f->stream, sizeof s->id);
        }
        if (!t.is_key && !s->count) continue;
        if (arrlenu(s->bytes) + t.size > STREAM_MOST) {
            stream_end(s);
            continue;
        }
        stream_feed(s, t.data, t.size);
        s->count++;
    }
    if (s->count && wall_ns / s->column_ns != s->wall_ns / s->column_ns)
        stream_take_pending(s, f, preamble, size, wall_ns, take, user);
    s->next = s->count ? frame_last(f) + 1 : 0;
}

// ---- outside ----

void stream_frame(stream *s, stream_care care, const frame *f, const unsigned char *preamble, size_t preamble_size,
                  stream_take take, void *user)
{
    spool_tick t;
    bool every = care == STREAM_AT_ONCE;
    if (care != s->care || f->is_gap || !preamble) stream_end(s);
    s->care = care;
    if (f->is_gap || !preamble) return;
    if (care == STREAM_BY_COLUMN) {
        stream_frame_by_column(s, f, preamble, preamble_size, take, user);
        return;
    }
    if (!every || !stream_follows(s, f)) stream_end(s);
    for (size_t at = 0; frame_next(f, &at, &t);) {
        if (t.is_key && (!every || !s->reader)) stream_begin(s, f, preamble, preamble_size);
        if (!s->reader || (!every && !t.is_key)) continue;
        stream_feed(s, t.data, t.size);
        if (every) continue;
        stream_drain(s, take, user);
        stream_end(s);
    }
    stream_drain(s, take, user);
    s->next = s->reader ? frame_last(f) + 1 : 0;
}

void stream_close(stream *s)
{
    if (!s) return;
    stream_end(s);
    arrfree(s->bytes);
    free(s);
}
