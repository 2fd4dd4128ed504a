#include "succession.h"

#include "live/spool/crc32c.h"
#include "live/spool/little.h"

#include <string.h>

enum { SUCCESSION_MAGIC = 0x3148504e, SUCCESSION_VERSION = 1, SUCCESSION_APART = 1024 };

static const int64_t succession_patience_ns = 5000000000, succession_second_ns = 1000000000;

void succession_begin(succession *s, uint64_t id, uint64_t epoch, int64_t now_ns)
{
    *s = (succession){.id = id, .epoch = epoch, .heard_ns = now_ns};
}

void succession_say(const succession *s, unsigned char to[SUCCESSION_SAID])
{
    memset(to, 0, SUCCESSION_SAID);
    little_put(to, SUCCESSION_MAGIC, 4);
    little_put(to + 8, SUCCESSION_VERSION, 2);
    little_put(to + 16, s->id, 8);
    little_put(to + 24, s->epoch, 8);
    little_put(to + 4, crc32c(0, to + 8, SUCCESSION_SAID - 8), 4);
}

void succession_hear_epoch(succession *s, uint64_t epoch, int64_t now_ns)
{
    if (epoch > UINT64_MAX / 2) return; // no head's
    if (epoch > s->heard_epoch) s->heard_epoch = epoch;
    if (epoch <= s->epoch) return; // it will hear of this one, and stand back
    s->collects = false;
    s->heard_ns = now_ns;
}

bool succession_hear(succession *s, const void *data, size_t size, int64_t now_ns)
{
    const unsigned char *p = data;
    if (size != SUCCESSION_SAID || little_get(p, 4) != SUCCESSION_MAGIC || little_get(p + 8, 2) != SUCCESSION_VERSION ||
        little_get(p + 4, 4) != crc32c(0, p + 8, SUCCESSION_SAID - 8))
        return false;
    uint64_t id = little_get(p + 16, 8), epoch = little_get(p + 24, 8);
    if (id == s->id) return true;
    if (!s->collects) s->heard_ns = now_ns; // also one whose clock is behind
    // Of two that began at the same instant one stands back.
    succession_hear_epoch(s, epoch == s->epoch && id > s->id ? epoch + 1 : epoch, now_ns);
    return true;
}

bool succession_look(succession *s, bool up, int64_t now_ns)
{
    // Those that stand by wait differently long, so that one is first.
    int64_t patience_ns = succession_patience_ns + (int64_t)(s->id % 16) * succession_second_ns / 8;
    if (!up) s->heard_ns = now_ns;
    if (s->collects || now_ns - s->heard_ns < patience_ns) return false;
    uint64_t highest = s->heard_epoch > s->epoch ? s->heard_epoch : s->epoch;
    s->epoch = highest + 1 + s->id % SUCCESSION_APART; // another one may take over at the same instant
    s->collects = true;
    return true;
}
