#include "frame.h"

#include "live/spool/crc32c.h"
#include "live/spool/little.h"

#include "analysis/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { FRAME_MAGIC = 0x3146504e, WATERMARK_MAGIC = 0x3157504e, FRAME_VERSION = 1, FRAME_IS_GAP = 1 };

// ---- frames ----

static void frame_put_head(unsigned char *p, const frame *f)
{
    little_put(p, FRAME_MAGIC, 4);
    little_put(p + 12, FRAME_VERSION, 2);
    little_put(p + 14, (f->is_gap ? FRAME_IS_GAP : 0) | (f->reason & 15) << 8, 2);
    memcpy(p + 16, f->stream, 16);
    memcpy(p + 32, f->hash, SHA256_BYTES);
    little_put(p + 64, f->first, 8);
    little_put(p + 72, f->count, 4);
    little_put(p + 76, f->preamble_size, 4);
    little_put(p + 80, f->base, 8);
    little_put(p + 88, f->head, 8);
    little_put(p + 96, f->epoch, 8);
    little_put(p + 104, f->low, 8);
    little_put(p + 112, f->high, 8);
    little_put(p + 120, (uint64_t)f->first_ns, 8);
    little_put(p + 128, (uint64_t)f->last_ns, 8);
}

static void frame_get_head(frame *f, const unsigned char *p)
{
    unsigned flags = (unsigned)little_get(p + 14, 2);
    f->is_gap = (flags & FRAME_IS_GAP) != 0;
    f->reason = flags >> 8 & 15;
    memcpy(f->stream, p + 16, 16);
    memcpy(f->hash, p + 32, SHA256_BYTES);
    f->first = little_get(p + 64, 8);
    f->count = (uint32_t)little_get(p + 72, 4);
    f->preamble_size = (uint32_t)little_get(p + 76, 4);
    f->base = little_get(p + 80, 8);
    f->head = little_get(p + 88, 8);
    f->epoch = little_get(p + 96, 8);
    f->low = little_get(p + 104, 8);
    f->high = little_get(p + 112, 8);
    f->first_ns = (int64_t)little_get(p + 120, 8);
    f->last_ns = (int64_t)little_get(p + 128, 8);
}

// The numbers can be, and there are as many ticks as it says.
static bool frame_is_sound(const frame *f)
{
    spool_tick t;
    size_t at = 0;
    uint32_t count = 0;
    if (!f->first || !f->count || f->first > UINT64_MAX / 2 || f->base >= f->first) return false;
    if (f->is_gap) return !f->body_size && !f->preamble_size;
    while (frame_next(f, &at, &t))
        count++;
    return at == f->body_size && count == f->count;
}

bool frame_parse(frame *f, const void *data, size_t size)
{
    const unsigned char *p = data;
    if (size < FRAME_HEAD || size > FRAME_MOST || little_get(p, 4) != FRAME_MAGIC || little_get(p + 4, 4) != size ||
        little_get(p + 12, 2) != FRAME_VERSION || little_get(p + 8, 4) != crc32c(crc32c(0, p, 8), p + 12, size - 12))
        return false;
    frame_get_head(f, p);
    if (f->preamble_size > size - FRAME_HEAD) return false;
    f->preamble = p + FRAME_HEAD;
    f->body = f->preamble + f->preamble_size;
    f->body_size = size - FRAME_HEAD - f->preamble_size;
    if (!frame_is_sound(f)) return false;
    if (f->preamble_size) {
        unsigned char hash[SHA256_BYTES];
        sha256(hash, f->preamble, f->preamble_size);
        if (memcmp(hash, f->hash, sizeof hash) != 0) return false;
    }
    return true;
}

bool frame_next(const frame *f, size_t *at, spool_tick *t)
{
    const unsigned char *p = f->body + *at;
    if (f->body_size - *at < FRAME_TICK) return false;
    size_t size = (size_t)little_get(p, 4);
    if (size > f->body_size - *at - FRAME_TICK) return false;
    *t = (spool_tick){.is_key = (little_get(p + 4, 4) & SPOOL_KEY) != 0,
                      .wall_ns = (int64_t)little_get(p + 8, 8),
                      .data = p + FRAME_TICK,
                      .size = size};
    *at += FRAME_TICK + size;
    return true;
}

static unsigned char *frame_grow(frame_buffer *b, size_t size)
{
    if (b->size + size > b->room) {
        b->room = 2 * (b->size + size);
        b->data = memory_realloc(b->data, b->room);
    }
    unsigned char *to = b->data + b->size;
    b->size += size;
    return to;
}

void frame_begin(frame_buffer *b, const frame *f)
{
    b->size = 0;
    frame_put_head(frame_grow(b, FRAME_HEAD), f);
    if (f->preamble_size) memcpy(frame_grow(b, f->preamble_size), f->preamble, f->preamble_size);
}

void frame_add(frame_buffer *b, const spool_tick *t)
{
    unsigned char *p = frame_grow(b, FRAME_TICK + t->size);
    little_put(p, t->size, 4);
    little_put(p + 4, t->is_key ? SPOOL_KEY : 0, 4);
    little_put(p + 8, (uint64_t)t->wall_ns, 8);
    if (t->size) memcpy(p + FRAME_TICK, t->data, t->size);
}

static void frame_seal(unsigned char *p, const frame *f, size_t size)
{
    frame_put_head(p, f);
    little_put(p + 4, size, 4);
    little_put(p + 8, crc32c(crc32c(0, p, 8), p + 12, size - 12), 4);
}

void frame_end(frame_buffer *b, const frame *f)
{
    frame_seal(b->data, f, b->size);
}

size_t frame_bare_size(const frame *f)
{
    return FRAME_HEAD + f->body_size;
}

void frame_bare(unsigned char *to, const frame *f)
{
    frame bare = *f;
    bare.preamble_size = 0;
    if (f->body_size) memcpy(to + FRAME_HEAD, f->body, f->body_size);
    frame_seal(to, &bare, frame_bare_size(f));
}

void frame_buffer_free(frame_buffer *b)
{
    free(b->data);
    *b = (frame_buffer){0};
}

// ---- watermarks ----

void watermark_write(unsigned char to[WATERMARK_SIZE], const watermark *w)
{
    memset(to, 0, WATERMARK_SIZE);
    little_put(to, WATERMARK_MAGIC, 4);
    little_put(to + 8, FRAME_VERSION, 2);
    little_put(to + 10, w->wants_preamble, 2);
    little_put(to + 12, w->credit, 4);
    memcpy(to + 16, w->stream, 16);
    little_put(to + 32, w->epoch, 8);
    little_put(to + 40, w->head, 8);
    little_put(to + 48, w->durable, 8);
    little_put(to + 4, crc32c(0, to + 8, WATERMARK_SIZE - 8), 4);
}

bool watermark_parse(watermark *w, const void *data, size_t size)
{
    const unsigned char *p = data;
    if (size != WATERMARK_SIZE || little_get(p, 4) != WATERMARK_MAGIC || little_get(p + 8, 2) != FRAME_VERSION ||
        little_get(p + 4, 4) != crc32c(0, p + 8, WATERMARK_SIZE - 8))
        return false;
    *w = (watermark){.wants_preamble = (little_get(p + 10, 2) & 1) != 0,
                     .credit = (uint32_t)little_get(p + 12, 4),
                     .epoch = little_get(p + 32, 8),
                     .head = little_get(p + 40, 8),
                     .durable = little_get(p + 48, 8)};
    memcpy(w->stream, p + 16, 16);
    return true;
}

// ---- names ----

static bool frame_is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

bool frame_token(char to[3 * FRAME_NODE_MOST + 1], const char *node)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t size = strlen(node);
    if (!size || size > FRAME_NODE_MOST) return false;
    for (; *node; node++) {
        unsigned char c = (unsigned char)*node;
        if (frame_is_plain(*node)) {
            *to++ = *node;
            continue;
        }
        *to++ = '%';
        *to++ = digits[c >> 4];
        *to++ = digits[c & 15];
    }
    *to = 0;
    return true;
}

static int frame_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool frame_node(char to[FRAME_NODE_MOST + 1], const char *token, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        char c = token[i];
        if (n == FRAME_NODE_MOST) return false;
        if (c == '%') {
            int high = i + 2 < size ? frame_digit(token[i + 1]) : -1,
                low = i + 2 < size ? frame_digit(token[i + 2]) : -1;
            if (high < 0 || low < 0) return false;
            c = (char)(high << 4 | low);
            if (!c || frame_is_plain(c)) return false; // each name is written in one way only
            i += 2;
        } else if (!frame_is_plain(c)) {
            return false;
        }
        to[n++] = c;
    }
    to[n] = 0;
    return n > 0;
}

unsigned frame_part(const char *node)
{
    return crc32c(0, node, strlen(node)) % FRAME_PARTS;
}
