#include "sha256.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__) && (defined(__clang__) || __GNUC__ >= 7)
#define SHA256_BY_INSTRUCTION
#include <cpuid.h>
#include <immintrin.h>
#endif

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
// clang-format off
static const uint32_t sha256_round[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
// clang-format on

static uint32_t sha256_turn(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

// One round, after which what was called h is a, and all others one letter further.
static inline void sha256_turn_on(uint32_t a, uint32_t b, uint32_t c, uint32_t *d, uint32_t e, uint32_t f, uint32_t g,
                                  uint32_t *h, uint32_t more)
{
    uint32_t one = *h + (sha256_turn(e, 6) ^ sha256_turn(e, 11) ^ sha256_turn(e, 25)) + ((e & f) ^ (~e & g)) + more;
    *d += one;
    *h = one + (sha256_turn(a, 2) ^ sha256_turn(a, 13) ^ sha256_turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
}

static void sha256_block(uint32_t state[8], const unsigned char *p)
{
    uint32_t w[64];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6],
             h = state[7];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 | (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
    for (int i = 16; i < 64; i++)
        w[i] = w[i - 16] + w[i - 7] + (sha256_turn(w[i - 15], 7) ^ sha256_turn(w[i - 15], 18) ^ w[i - 15] >> 3) +
               (sha256_turn(w[i - 2], 17) ^ sha256_turn(w[i - 2], 19) ^ w[i - 2] >> 10);
    for (int i = 0; i < 64; i += 8) {
        sha256_turn_on(a, b, c, &d, e, f, g, &h, sha256_round[i] + w[i]);
        sha256_turn_on(h, a, b, &c, d, e, f, &g, sha256_round[i + 1] + w[i + 1]);
        sha256_turn_on(g, h, a, &b, c, d, e, &f, sha256_round[i + 2] + w[i + 2]);
        sha256_turn_on(f, g, h, &a, b, c, d, &e, sha256_round[i + 3] + w[i + 3]);
        sha256_turn_on(e, f, g, &h, a, b, c, &d, sha256_round[i + 4] + w[i + 4]);
        sha256_turn_on(d, e, f, &g, h, a, b, &c, sha256_round[i + 5] + w[i + 5]);
        sha256_turn_on(c, d, e, &f, g, h, a, &b, sha256_round[i + 6] + w[i + 6]);
        sha256_turn_on(b, c, d, &e, f, g, h, &a, sha256_round[i + 7] + w[i + 7]);
    }
    const uint32_t turned[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; i++)
        state[i] += turned[i];
}

static void sha256_blocks_plain(uint32_t state[8], const unsigned char *p, size_t blocks)
{
    for (; blocks; blocks--, p += 64)
        sha256_block(state, p);
}

#ifdef SHA256_BY_INSTRUCTION
static bool sha256_has_instructions(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSSE3) || !(c & bit_SSE4_1)) return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & 1u << 29;
}

// Intel's SHA extensions: four rounds at a time; the state lies in the registers as ABEF and CDGH.
__attribute__((target("sha,sse4.1"))) static void sha256_blocks_by_instruction(uint32_t state[8],
                                                                               const unsigned char *p, size_t blocks)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i low = _mm_shuffle_epi32(_mm_loadu_si128((const void *)state), 0xb1),
            high = _mm_shuffle_epi32(_mm_loadu_si128((const void *)(state + 4)), 0x1b),
            abef = _mm_alignr_epi8(low, high, 8), cdgh = _mm_blend_epi16(high, low, 0xf0);
    for (; blocks; blocks--, p += 64) {
        __m128i w[4], abef_before = abef, cdgh_before = cdgh;
        for (int i = 0; i < 16; i++) {
            __m128i *now = &w[i & 3], last = w[(i + 3) & 3];
            if (i < 4)
                *now = _mm_shuffle_epi8(_mm_loadu_si128((const void *)(p + 16 * i)), swap);
            else
                *now = _mm_sha256msg2_epu32(
                    _mm_add_epi32(_mm_sha256msg1_epu32(*now, w[(i + 1) & 3]), _mm_alignr_epi8(last, w[(i + 2) & 3], 4)),
                    last);
            __m128i more = _mm_add_epi32(*now, _mm_loadu_si128((const void *)(sha256_round + 4 * i)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, more);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(more, 0x0e));
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    low = _mm_shuffle_epi32(abef, 0x1b);
    high = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((void *)state, _mm_blend_epi16(low, high, 0xf0));
    _mm_storeu_si128((void *)(state + 4), _mm_alignr_epi8(high, low, 8));
}
#endif

typedef void (*sha256_blocks)(uint32_t state[8], const unsigned char *p, size_t blocks);

static void sha256_by(unsigned char to[SHA256_BYTES], const void *data, size_t size, sha256_blocks blocks)
{
    // The first 32 bits of the fractional parts of the square roots of the first 8 primes.
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    unsigned char last[128] = {0};
    const unsigned char *p = data;
    size_t left = size % 64, end = left < 56 ? 64 : 128;
    blocks(state, p, size / 64);
    if (left) memcpy(last, p + size - left, left);
    last[left] = 0x80;
    for (int i = 0; i < 8; i++)
        last[end - 1 - (size_t)i] = (unsigned char)((uint64_t)size * 8 >> 8 * i);
    blocks(state, last, end / 64);
    for (int i = 0; i < 32; i++)
        to[i] = (unsigned char)(state[i / 4] >> (24 - i % 4 * 8));
}

void sha256_plain(unsigned char to[SHA256_BYTES], const void *data, size_t size)
{
    sha256_by(to, data, size, sha256_blocks_plain);
}

void sha256(unsigned char to[SHA256_BYTES], const void *data, size_t size)
{
#ifdef SHA256_BY_INSTRUCTION
    static int known; // 1: it has them, 2: it has not; all threads find the same
    int has = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (!has) __atomic_store_n(&known, has = sha256_has_instructions() ? 1 : 2, __ATOMIC_RELAXED);
    if (has == 1) {
        sha256_by(to, data, size, sha256_blocks_by_instruction);
        return;
    }
#endif
    sha256_plain(to, data, size);
}
