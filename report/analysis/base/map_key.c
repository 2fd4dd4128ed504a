#define _GNU_SOURCE
#include "map_key.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

static uint64_t map_key_seeds[2];

// Runs before main(), while there is one thread.
__attribute__((constructor(200))) static void map_key_seed(void)
{
    if (getrandom(map_key_seeds, sizeof map_key_seeds, GRND_NONBLOCK) == (ssize_t)sizeof map_key_seeds) return;
    struct timespec now; // early at boot, or a kernel before 3.17
    clock_gettime(CLOCK_REALTIME, &now);
    const uint64_t known[4] = {(uint64_t)now.tv_nsec, (uint64_t)now.tv_sec, (uint64_t)getpid(),
                               (uint64_t)(uintptr_t)&now};
    for (size_t i = 0; i < 2; i++)
        map_key_seeds[i] = map_key_siphash(known, sizeof known, i, ~(uint64_t)i);
}

// ---- SipHash-2-4 ----

typedef struct map_key_state {
    uint64_t v0, v1, v2, v3;
} map_key_state;

static inline uint64_t map_key_rotate(uint64_t value, unsigned bits)
{
    return value << bits | value >> (64 - bits);
}

static inline void map_key_round(map_key_state *s)
{
    s->v0 += s->v1;
    s->v2 += s->v3;
    s->v1 = map_key_rotate(s->v1, 13) ^ s->v0;
    s->v3 = map_key_rotate(s->v3, 16) ^ s->v2;
    s->v0 = map_key_rotate(s->v0, 32);
    s->v2 += s->v1;
    s->v0 += s->v3;
    s->v1 = map_key_rotate(s->v1, 17) ^ s->v2;
    s->v3 = map_key_rotate(s->v3, 21) ^ s->v0;
    s->v2 = map_key_rotate(s->v2, 32);
}

static inline void map_key_absorb(map_key_state *s, uint64_t word)
{
    s->v3 ^= word;
    map_key_round(s);
    map_key_round(s);
    s->v0 ^= word;
}

static inline uint64_t map_key_squeeze(map_key_state *s)
{
    for (int i = 0; i < 4; i++)
        map_key_round(s);
    return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

static inline map_key_state map_key_start(uint64_t key_low, uint64_t key_high)
{
    return (map_key_state){key_low ^ UINT64_C(0x736f6d6570736575), key_high ^ UINT64_C(0x646f72616e646f6d),
                           key_low ^ UINT64_C(0x6c7967656e657261), key_high ^ UINT64_C(0x7465646279746573)};
}

static inline uint64_t map_key_little_endian(uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(word);
#else
    return word;
#endif
}

// The data as little-endian words; the last one ends with their length.
static inline void map_key_absorb_all(map_key_state *s, const void *data, size_t size)
{
    const unsigned char *at = data;
    uint64_t word, last = (uint64_t)size << 56;
    for (; size >= sizeof word; at += sizeof word, size -= sizeof word) {
        memcpy(&word, at, sizeof word);
        map_key_absorb(s, map_key_little_endian(word));
    }
    while (size--)
        last |= (uint64_t)at[size] << 8 * size;
    map_key_absorb(s, last);
}

uint64_t map_key_siphash(const void *data, size_t size, uint64_t key_low, uint64_t key_high)
{
    map_key_state s = map_key_start(key_low, key_high);
    map_key_absorb_all(&s, data, size);
    s.v2 ^= 0xff;
    return map_key_squeeze(&s);
}

map_key map_key_siphash_128(const void *data, size_t size, uint64_t key_low, uint64_t key_high)
{
    map_key key;
    map_key_state s = map_key_start(key_low, key_high);
    s.v1 ^= 0xee;
    map_key_absorb_all(&s, data, size);
    s.v2 ^= 0xee;
    key.a = map_key_squeeze(&s);
    s.v1 ^= 0xdd;
    key.b = map_key_squeeze(&s);
    return key;
}

// ---- keys ----

map_key map_key_of_bytes(const void *data, size_t size)
{
    return map_key_siphash_128(data, size, map_key_seeds[0], map_key_seeds[1]);
}

map_key map_key_of_pair(int64_t a, int64_t b)
{
    const int64_t both[2] = {a, b};
    return map_key_of_bytes(both, sizeof both);
}

// The number alters the hash's own key, so that one name under two numbers has two keys.
map_key map_key_of_name(size_t number, const char *name)
{
    return map_key_siphash_128(name, strlen(name), map_key_seeds[0] ^ number, map_key_seeds[1]);
}
