// What agents and heads send each other: frames of ticks, and watermarks.
//
// Subjects: np.CLUSTER.data.PART.NODE (frames) and np.CLUSTER.ack.NODE (watermarks). NODE is the node's name, in which all
// but letters, digits, '-' and '_' is %XX: who may publish there is who the node is. PART is a hash of it, 0 to 15, so that
// heads can share the nodes.
//
//     Frame = 136 bytes, little-endian: u32 magic "NPF1", u32 size of the frame, u32 CRC-32C of all but these 4 bytes, u16
//             version (1), u16 flags (1: a gap; bits 8 to 11: its reason), 16 bytes of stream, 32 bytes SHA-256 of the
//             preamble, u64 first number, u32 count, u32 size of the preamble (0: the head has it), u64 base and u64 head (up to
//             where, and by which head, this agent was told that it is durable), u64 epoch of that head, u64 lowest and u64
//             highest number in the spool, i64 wall-clock times of the first and the last tick (of a gap: of what is around
//             it); then the preamble; then, for each tick, u32 size, u32 flags (1: needs none before it), i64 time_ns, data.
//     Watermark = 72 bytes: u32 magic "NPW1", u32 CRC-32C of the 64 bytes behind it, u16 version (1), u16 flags (1: send the
//             preamble), u32 credit (frames that may be on their way), 16 bytes of stream, u64 epoch, u64 head, u64
//             durable, 16 bytes of 0.
//
// Thread rule: any, for different objects.
#ifndef LIVE_FRAME_H
#define LIVE_FRAME_H

#include "live/spool/sha256.h"
#include "live/spool/spool_reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FRAME_HEAD = 136, FRAME_TICK = 16, FRAME_MOST = 8 << 20, WATERMARK_SIZE = 72, FRAME_PARTS = 16 };

typedef struct frame {
    unsigned char stream[16], hash[SHA256_BYTES];
    uint64_t first;
    uint32_t count;
    bool is_gap;
    unsigned reason;
    uint64_t base, head, epoch, low, high;
    int64_t first_ns, last_ns;
    const unsigned char *preamble, *body;
    uint32_t preamble_size;
    size_t body_size;
} frame;

static inline uint64_t frame_last(const frame *f)
{
    return f->first + f->count - 1;
}

// True: it is whole and means what its head says. It points into the data.
bool frame_parse(frame *f, const void *data, size_t size);
// The ticks of a frame, one after the other: *at is 0 at first, number and preamble are not set. False: no more.
bool frame_next(const frame *f, size_t *at, spool_tick *t);

typedef struct frame_buffer {
    unsigned char *data;
    size_t size, room;
} frame_buffer;

// f: all but count, is_gap and body of a frame of ticks. Then the ticks; then the end, which fills in the rest of the head.
void frame_begin(frame_buffer *b, const frame *f);
void frame_add(frame_buffer *b, const spool_tick *t);
void frame_end(frame_buffer *b, const frame *f); // count, is_gap, reason, first_ns and last_ns are taken from here
void frame_buffer_free(frame_buffer *b);
// The frame without its preamble, frame_bare_size() bytes.
size_t frame_bare_size(const frame *f);
void frame_bare(unsigned char *to, const frame *f);

typedef struct watermark {
    unsigned char stream[16];
    uint64_t epoch, head, durable;
    uint32_t credit;
    bool wants_preamble;
} watermark;

void watermark_write(unsigned char to[WATERMARK_SIZE], const watermark *w);
bool watermark_parse(watermark *w, const void *data, size_t size);

// ---- names ----

enum { FRAME_NODE_MOST = 255 }; // bytes of a node's name

// The name as a part of a subject; false: it is empty or too long.
bool frame_token(char to[3 * FRAME_NODE_MOST + 1], const char *node);
// The name again. False: it is none that frame_token() writes.
bool frame_node(char to[FRAME_NODE_MOST + 1], const char *token, size_t size);
unsigned frame_part(const char *node);

#endif
