// Frames and watermarks from the network: bytes as they come, and the same with the magic, size and checksum that they must
// have. What is taken is read to its end, and written again it is the same.
#include "live/spool/crc32c.h"
#include "live/spool/little.h"
#include "live/wire/receiver.h"
#include "expect.h"

#include <stdlib.h>
#include <string.h>

static void read_frame(const uint8_t *data, size_t size)
{
    frame f;
    spool_tick t;
    frame_buffer b = {0};
    receiver r = {0};
    const receiver_head head = {.id = 1, .epoch = UINT64_MAX, .credit = 4};
    if (!frame_parse(&f, data, size)) return;
    uint32_t count = 0;
    frame_begin(&b, &f);
    for (size_t at = 0; !f.is_gap && frame_next(&f, &at, &t); count++)
        frame_add(&b, &t);
    expect(f.is_gap || count == f.count);
    frame_end(&b, &f);
    frame again;
    expect(frame_parse(&again, b.data, b.size) && again.count == f.count && again.body_size == f.body_size);
    expect(f.body_size == 0 || memcmp(again.body, f.body, f.body_size) == 0 || b.size == size);
    frame_buffer_free(&b);
    for (int i = 0; i < 2; i++) {
        uint64_t before = r.accepted;
        receiver_verdict v = receiver_take(&r, &f, &head, true);
        expect(v < RECEIVER_VERDICTS && r.accepted >= before);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t copy[65536];
    char node[FRAME_NODE_MOST + 1], token[3 * FRAME_NODE_MOST + 1];
    watermark w;
    watermark_parse(&w, data, size);
    if (frame_node(node, (const char *)data, size))
        expect(frame_token(token, node) && strlen(token) == size && memcmp(token, data, size) == 0);
    read_frame(data, size);
    if (size < FRAME_HEAD || size > sizeof copy) return 0;
    memcpy(copy, data, size);
    memcpy(copy, "NPF1", 4);
    little_put(copy + 4, size, 4);
    little_put(copy + 12, 1, 2);
    little_put(copy + 8, crc32c(crc32c(0, copy, 8), copy + 12, size - 12), 4);
    read_frame(copy, size);
    return 0;
}
