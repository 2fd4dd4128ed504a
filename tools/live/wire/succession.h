// Which of several heads collects: one does and says so; when it has been silent for some seconds, one of the others takes over,
// with a higher epoch, which agents follow. Should two collect at once, the one with the lower epoch stands back as soon as it
// hears of the other; meanwhile each journal is right by itself, and both together have each reading once. Pure: no clock, no
// network. Thread rule: one thread at a time.
#ifndef LIVE_SUCCESSION_H
#define LIVE_SUCCESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SUCCESSION_SAID = 32 };

typedef struct succession {
    uint64_t id, epoch; // who this head is
    bool collects;
    uint64_t heard_epoch; // the highest of any other
    int64_t heard_ns;     // when another that collects was heard from last, or since when it could have been
} succession;

void succession_begin(succession *s, uint64_t id, uint64_t epoch, int64_t now_ns);
// What one that collects says once a second: "NPH1", u32 CRC-32C of the 24 bytes behind it, u16 version (1), 6 bytes of 0, u64 id,
// u64 epoch.
void succession_say(const succession *s, unsigned char to[SUCCESSION_SAID]);
// Returns false: this is nothing that a head says.
bool succession_hear(succession *s, const void *data, size_t size, int64_t now_ns);
// An agent follows a head of this epoch.
void succession_hear_epoch(succession *s, uint64_t epoch, int64_t now_ns);
// Takes over when it is time; `up`: others could be heard. True: it collects from now on, with the new s->epoch.
bool succession_look(succession *s, bool up, int64_t now_ns);

#endif
