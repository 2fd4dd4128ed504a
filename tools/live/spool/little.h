// Little-endian numbers in bytes. Thread rule: any.
#ifndef LIVE_LITTLE_H
#define LIVE_LITTLE_H

#include <stdint.h>

static inline void little_put(unsigned char *to, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (unsigned char)(value >> 8 * i);
}

static inline uint64_t little_get(const unsigned char *from, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return value;
}

#endif
