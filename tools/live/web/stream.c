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
};

stream *stream_open(void)
{
    return memory_calloc(1, sizeof(stream));
}

static void stream_end(stream *s)
{
    if (s->reader) netprof_reader_close(s->reader);
    arrfree(s->bytes);
    s->reader = NULL;
    s->at = 0;
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
        if (item.type == NETPROF_ITEM_SNAPSHOT && item.snapshot) take(user, item.snapshot);
    }
}

static bool stream_follows(const stream *s, const frame *f)
{
    return s->reader && s->next == f->first && memcmp(s->id, f->stream, sizeof s->id) == 0 &&
           memcmp(s->hash, f->hash, sizeof s->hash) == 0;
}

void stream_frame(stream *s, bool every, const frame *f, const unsigned char *preamble, size_t preamble_size,
                  stream_take take, void *user)
{
    spool_tick t;
    if (f->is_gap || !preamble) {
        stream_end(s);
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
