#include "sender.h"

#include <string.h>

static const int64_t sender_first_timeout_ns = 5000000000, sender_last_timeout_ns = 20000000000,
                     sender_back_ns = 500000000;

void sender_begin(sender *s, const unsigned char stream[16], uint64_t base, uint64_t head, uint64_t epoch,
                  uint64_t seed)
{
    *s = (sender){.base = base,
                  .head = head,
                  .epoch = epoch,
                  .next = base + 1,
                  .credit = SENDER_WINDOW,
                  .back_ns = INT64_MIN / 2,
                  .timeout_ns = sender_first_timeout_ns,
                  .random = seed | 1};
    memcpy(s->stream, stream, sizeof s->stream);
}

static void sender_go_back(sender *s, int64_t now_ns)
{
    s->next = s->base + 1;
    s->flying = 0;
    s->back_ns = s->moved_ns = now_ns;
    s->again++;
}

// Half as long again, give or take an eighth, so that many agents do not come back at once.
static void sender_wait_longer(sender *s)
{
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    int64_t longer = s->timeout_ns + s->timeout_ns / 2, eighth = longer / 8;
    longer += (int64_t)(s->random % (uint64_t)(2 * eighth)) - eighth;
    s->timeout_ns = longer < sender_last_timeout_ns ? longer : sender_last_timeout_ns;
}

uint64_t sender_next(sender *s, int64_t now_ns)
{
    if (s->flying && now_ns - s->moved_ns >= s->timeout_ns) {
        sender_go_back(s, now_ns);
        sender_wait_longer(s);
    }
    return s->flying < s->credit ? s->next : 0;
}

int64_t sender_patience(const sender *s)
{
    return s->flying ? s->moved_ns + s->timeout_ns : INT64_MAX;
}

void sender_connected(sender *s, int64_t now_ns)
{
    if (s->flying) sender_go_back(s, now_ns);
}

static void sender_confirm(sender *s, uint64_t durable, int64_t now_ns)
{
    unsigned done = 0;
    s->base = durable;
    while (done < s->flying && s->flights[done].last <= durable)
        done++;
    s->flying -= done;
    memmove(s->flights, s->flights + done, s->flying * sizeof *s->flights);
    s->moved_ns = now_ns;
    s->timeout_ns = sender_first_timeout_ns;
    // A part of a frame was there already: the head refused all of it.
    if (s->flying && s->flights[0].first <= durable) sender_go_back(s, now_ns);
    if (s->next <= durable) s->next = durable + 1;
}

// A later run of a head, or another head. What the same head has no more is sent again, as far as it is there.
static void sender_follow(sender *s, const watermark *w, int64_t now_ns)
{
    bool lost = w->head == s->head && w->durable < s->base;
    s->epoch = w->epoch;
    if (!lost) return;
    s->base = w->durable;
    sender_go_back(s, now_ns);
}

bool sender_heard(sender *s, const watermark *w, uint64_t written, int64_t now_ns)
{
    if (memcmp(w->stream, s->stream, sizeof s->stream) != 0 || w->epoch < s->epoch || w->durable > written)
        return false;
    if (w->epoch > s->epoch) sender_follow(s, w, now_ns);
    s->credit = w->credit < 1 ? 1 : w->credit > SENDER_WINDOW_MOST ? SENDER_WINDOW_MOST : w->credit;
    if (w->wants_preamble) s->has_given = false;
    if (w->durable > s->base || (w->durable == s->base && w->head != s->head)) {
        bool moved = w->durable > s->base;
        s->head = w->head;
        if (moved) sender_confirm(s, w->durable, now_ns);
        if (moved && !w->wants_preamble) return true;
    }
    // Said again: what follows was refused.
    if (s->flying && w->durable == s->base && now_ns - s->back_ns >= sender_back_ns) sender_go_back(s, now_ns);
    return false;
}

// ---- frames ----

static void sender_fly(sender *s, const frame *f, int64_t now_ns)
{
    if (!s->flying) s->moved_ns = now_ns;
    s->flights[s->flying].first = f->first;
    s->flights[s->flying++].last = frame_last(f);
    s->next = frame_last(f) + 1;
    s->sent++;
}

// Numbers that are no more, or will never come through: a head waits for none of them.
static void sender_pack_gap(sender *s, frame_buffer *b, frame *f, uint64_t missing, unsigned reason, int64_t now_ns)
{
    f->is_gap = true;
    f->count = missing < UINT32_MAX ? (uint32_t)missing : UINT32_MAX;
    f->reason = reason;
    f->preamble_size = 0;
    frame_begin(b, f);
    frame_end(b, f);
    sender_fly(s, f, now_ns);
}

static void sender_pack_ticks(sender *s, frame_buffer *b, const sender_limits *limits, sender_source get, void *user,
                              frame *f, spool_tick *t)
{
    frame_begin(b, f);
    do {
        frame_add(b, t);
        f->last_ns = t->wall_ns;
        f->count++;
    } while (f->count < limits->ticks && get(user, f->first + f->count, f->high, t) &&
             t->number == f->first + f->count && memcmp(t->hash, f->hash, sizeof f->hash) == 0 &&
             b->size + FRAME_TICK + t->size <= limits->bytes);
    frame_end(b, f);
    if (!f->preamble_size) return;
    memcpy(s->given, f->hash, sizeof s->given);
    s->has_given = true;
}

bool sender_pack(sender *s, frame_buffer *b, const sender_limits *limits, sender_source get, void *user, uint64_t low,
                 uint64_t high, int64_t now_ns)
{
    spool_tick t;
    uint64_t first = sender_next(s, now_ns);
    if (!first || first > high || !get(user, first, high, &t)) return false;
    frame f = {.first = first, .base = s->base, .head = s->head, .epoch = s->epoch, .low = low, .high = high};
    f.first_ns = f.last_ns = t.wall_ns;
    memcpy(f.stream, s->stream, sizeof f.stream);
    if (t.number > first) {
        sender_pack_gap(s, b, &f, t.number - first, low > first ? SPOOL_OVERWRITTEN : t.reason, now_ns);
        return true;
    }
    memcpy(f.hash, t.hash, sizeof f.hash);
    if (!s->has_given || memcmp(s->given, f.hash, sizeof f.hash) != 0) {
        f.preamble = t.preamble;
        f.preamble_size = (uint32_t)t.preamble_size;
    }
    if (FRAME_HEAD + t.preamble_size + FRAME_TICK + t.size > limits->bytes) {
        sender_pack_gap(s, b, &f, 1, SPOOL_TOO_LARGE, now_ns);
        return true;
    }
    sender_pack_ticks(s, b, limits, get, user, &f, &t);
    sender_fly(s, &f, now_ns);
    return true;
}
