// What a head has confirmed, kept beside the spool. Without it, or where it is old, ticks are sent again and recognised.
// Thread rule: any.
#ifndef LIVE_CONFIRMED_H
#define LIVE_CONFIRMED_H

#include <stdbool.h>
#include <stdint.h>

typedef struct confirmed {
    unsigned char stream[16];
    uint64_t base, head, epoch;
} confirmed;

bool confirmed_read(const char *directory, confirmed *c);
bool confirmed_write(const char *directory, const confirmed *c);

#endif
