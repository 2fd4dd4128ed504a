#include "receiver.h"

#include <string.h>

receiver_verdict receiver_take(receiver *r, const frame *f, const receiver_head *head, bool has_preamble)
{
    if (f->epoch > head->epoch) return RECEIVER_SUPERSEDED;
    if (!r->known) {
        // An earlier run's word, of which this head knows nothing any more, counts for nothing: its disk was lost. What this
        // very run confirmed and has forgotten since is in its journal.
        uint64_t begin = f->head == head->id && f->epoch != head->epoch ? 0 : f->base;
        *r = (receiver){.known = true, .accepted = begin, .durable = begin};
        memcpy(r->stream, f->stream, sizeof r->stream);
    }
    r->low = f->low;
    r->high = f->high;
    r->base = f->base;
    // What this very head had confirmed and has no more (its disk was lost) the agent is asked for again.
    if (f->base > r->accepted && f->head != head->id) {
        r->accepted = f->base;
        r->owes = true;
        return RECEIVER_ELSEWHERE;
    }
    if (f->first <= r->accepted) {
        r->owes = true;
        return RECEIVER_DUPLICATE;
    }
    if (f->first != r->accepted + 1) {
        r->owes = true;
        return RECEIVER_AHEAD;
    }
    if (!f->is_gap && !has_preamble) {
        r->owes = r->wants_preamble = true;
        return RECEIVER_PREAMBLE;
    }
    r->accepted = frame_last(f);
    r->owes = true;
    return RECEIVER_STORE;
}

bool receiver_commit(receiver *r, uint64_t number, const receiver_head *head, watermark *w)
{
    if (number > r->durable) r->durable = number;
    if (!r->owes) return false;
    *w = (watermark){.epoch = head->epoch,
                     .head = head->id,
                     .durable = r->durable,
                     .credit = head->credit,
                     .wants_preamble = r->wants_preamble};
    memcpy(w->stream, r->stream, sizeof w->stream);
    r->owes = r->accepted != r->durable;
    r->wants_preamble = false;
    return true;
}
