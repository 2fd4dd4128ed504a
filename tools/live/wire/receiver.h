// What a head knows of one agent's stream, and what it does with a frame: only the next number is stored, in order.
// Pure: no clock, no network, no file.
#ifndef LIVE_RECEIVER_H
#define LIVE_RECEIVER_H

#include "frame.h"

typedef struct receiver {
    unsigned char stream[16];
    bool known;
    uint64_t accepted, durable; // the highest number that was taken; that is on the disk
    bool owes, wants_preamble;  // a watermark is due with the next commit
    uint64_t low, high, base;   // as the last frame said
} receiver;

// Who the head is.
typedef struct receiver_head {
    uint64_t id, epoch; // of its journal; of this run
    uint32_t credit;
} receiver_head;

typedef enum receiver_verdict {
    RECEIVER_STORE,      // append it to the journal
    RECEIVER_DUPLICATE,  // it is there already, or a part of it
    RECEIVER_AHEAD,      // something before it is missing
    RECEIVER_PREAMBLE,   // what it builds on is not known here
    RECEIVER_ELSEWHERE,  // another head has the numbers up to f->base: note that, then ask again
    RECEIVER_SUPERSEDED, // the agent follows a later head
    RECEIVER_IMPOSSIBLE, // it says that it follows a head that there cannot be (journal_take() alone says so)
    RECEIVER_VERDICTS
} receiver_verdict;

// has_preamble: that of the frame's hash is known, or the frame brings it.
receiver_verdict receiver_take(receiver *r, const frame *f, const receiver_head *head, bool has_preamble);
// What was accepted up to `number` is on the disk now. True: send the watermark, and it is no longer owed.
bool receiver_commit(receiver *r, uint64_t number, const receiver_head *head, watermark *w);

#endif
