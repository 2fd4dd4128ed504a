#define _GNU_SOURCE
#include "map_key.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

static uint64_t map_key_seeds[4];

// Runs before main(), while there is one thread.
__attribute__((constructor(200))) static void map_key_seed(void)
{
    if (getrandom(map_key_seeds, sizeof map_key_seeds, GRND_NONBLOCK) == (ssize_t)sizeof map_key_seeds) return;
    struct timespec now; // early at boot, or a kernel before 3.17
    clock_gettime(CLOCK_REALTIME, &now);
    map_key_seeds[0] = (uint64_t)now.tv_nsec;
    map_key_seeds[1] = (uint64_t)now.tv_sec;
    map_key_seeds[2] = (uint64_t)getpid();
    map_key_seeds[3] = (uint64_t)(uintptr_t)&now;
    for (size_t i = 0; i < 4; i++)
        map_key_seeds[i] = map_key_siphash(map_key_seeds, sizeof map_key_seeds, i, ~(uint64_t)i);
}

static uint64_t map_key_rotate(uint64_t value, unsigned bits)
{
    return value << bits | value >> (64 - bits);
}

static void map_key_rounds(uint64_t v[4], int rounds)
{
    while (rounds--) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = map_key_rotate(v[1], 13) ^ v[0];
        v[3] = map_key_rotate(v[3], 16) ^ v[2];
        v[0] = map_key_rotate(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = map_key_rotate(v[1], 17) ^ v[2];
        v[3] = map_key_rotate(v[3], 21) ^ v[0];
        v[2] = map_key_rotate(v[2], 32);
    }
}

// Up to 8 bytes as a little-endian number.
static uint64_t map_key_word(const unsigned char *data, size_t size)
{
    uint64_t word = 0;
    while (size--)
        word = word << 8 | data[size];
    return word;
}

uint64_t map_key_siphash(const void *data, size_t size, uint64_t key_low, uint64_t key_high)
{
    const unsigned char *at = data;
    uint64_t v[4] = {key_low ^ UINT64_C(0x736f6d6570736575), key_high ^ UINT64_C(0x646f72616e646f6d),
                     key_low ^ UINT64_C(0x6c7967656e657261), key_high ^ UINT64_C(0x7465646279746573)};
    for (size_t left = size;; at += 8, left -= 8) {
        uint64_t word = left >= 8 ? map_key_word(at, 8) : map_key_word(at, left) | (uint64_t)size << 56;
        v[3] ^= word;
        map_key_rounds(v, 2);
        v[0] ^= word;
        if (left < 8) break;
    }
    v[2] ^= 0xff;
    map_key_rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

map_key map_key_of_bytes(const void *data, size_t size)
{
    return (map_key){map_key_siphash(data, size, map_key_seeds[0], map_key_seeds[1]),
                     map_key_siphash(data, size, map_key_seeds[2], map_key_seeds[3])};
}

map_key map_key_of_pair(int64_t a, int64_t b)
{
    const int64_t both[2] = {a, b};
    return map_key_of_bytes(both, sizeof both);
}

// The keys of two names that differ only in their number differ because the number alters the hash's own key.
map_key map_key_of_name(size_t number, const char *name)
{
    size_t length = strlen(name);
    return (map_key){map_key_siphash(name, length, map_key_seeds[0] ^ number, map_key_seeds[1]),
                     map_key_siphash(name, length, map_key_seeds[2] ^ number, map_key_seeds[3])};
}
