// Keys of stb_ds maps made from hostile names and numbers: 128 bits of SipHash-2-4 (Aumasson and Bernstein 2012) with
// random keys of this process, so that whoever chooses the names cannot make them collide (stb_ds' own hashes can be made
// to, whatever their seed). Two keys are equal if and only if what they were made from is, but for a chance of 2^-128.
// They differ from run to run: never show them, keep them or sort by them. Thread rule: any.
//
//     struct { map_key key; size_t value; } *index_of = NULL;
//     hmput(index_of, map_key_of_name(0, name), i);
//     ptrdiff_t at = hmgeti(index_of, map_key_of_name(0, name));
#ifndef NETPROF_MAP_KEY_H
#define NETPROF_MAP_KEY_H

#include <stddef.h>
#include <stdint.h>

typedef struct map_key {
    uint64_t a, b;
} map_key;

// number: separates names of different kinds or owners; 0 where there is one kind.
map_key map_key_of_name(size_t number, const char *name);
map_key map_key_of_pair(int64_t a, int64_t b);
map_key map_key_of_bytes(const void *data, size_t size);

// SipHash-2-4 of the data under a key of 128 bits, low half first; with 64 and with 128 bits of result.
uint64_t map_key_siphash(const void *data, size_t size, uint64_t key_low, uint64_t key_high);
map_key map_key_siphash_128(const void *data, size_t size, uint64_t key_low, uint64_t key_high);

#endif
