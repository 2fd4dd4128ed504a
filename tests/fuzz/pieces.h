/* One input of a fuzzer as several files: its first byte chooses, the rest are files with MARK between them. .netprof files
   are put right as far as a fuzzer cannot guess: lengths, checksums, and of which snapshot one is a step. */
#ifndef FUZZ_PIECES_H
#define FUZZ_PIECES_H

#include "expect.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PIECES_MARK "\xff\xffNEXT\xff\xff"
enum { PIECES_MOST = 4, PIECES_LINKS = 64 };

typedef struct pieces {
    uint8_t choice;
    size_t count;
    uint8_t *data[PIECES_MOST];
    size_t size[PIECES_MOST];
    const char *paths[PIECES_MOST];
} pieces;

static inline uint32_t pieces_crc(const uint8_t *data, size_t size, uint32_t crc)
{
    static uint32_t table[256];
    for (uint32_t i = 0; i < 256 && !table[255]; i++) {
        uint32_t x = i;
        for (int k = 0; k < 8; k++)
            x = x & 1 ? x >> 1 ^ UINT32_C(0xedb88320) : x >> 1;
        table[i] = x;
    }
    crc = ~crc;
    for (size_t i = 0; i < size; i++)
        crc = table[(crc ^ data[i]) & 255] ^ crc >> 8;
    return ~crc;
}

static inline uint64_t pieces_get(const uint8_t *from, int bytes)
{
    uint64_t value = 0;
    while (bytes-- > 0)
        value = value << 8 | from[bytes];
    return value;
}

static inline void pieces_put(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static inline void pieces_sum(uint8_t *chunk, size_t length)
{
    pieces_put(chunk + 8, pieces_crc(chunk + 12, length, pieces_crc(chunk, 8, 0)));
}

/* netprof.h, section 10: behind the schema's number, a step names the checksum of what it builds on. */
static inline void pieces_link(uint8_t *chunk, size_t length, uint32_t (*sums)[2])
{
    int schema = memcmp(chunk, "SCHM", 4) == 0;
    if (!schema && memcmp(chunk, "STEP", 4) != 0) return;
    size_t number = 0, at = 12;
    for (int shift = 0; at < 12 + length; at++, shift += 7) {
        if (shift < 63) number |= (size_t)(chunk[at] & 127) << shift;
        if (!(chunk[at] & 128)) break;
    }
    sums += number % PIECES_LINKS;
    at++;
    if (!schema && at + 4 < 12 + length) pieces_put(chunk + at, (*sums)[chunk[at + 4] != 0]);
    pieces_sum(chunk, length);
    (*sums)[1] = (uint32_t)pieces_get(chunk + 8, 4);
    if (schema) (*sums)[0] = (*sums)[1];
}

static inline void pieces_repair(uint8_t *data, size_t size)
{
    static const uint8_t signature[] = {0x89, 'N', 'P', 'R', 'O', 'F', '\r', '\n'}, order[] = {4, 3, 2, 1};
    uint32_t sums[PIECES_LINKS][2] = {{0, 0}};
    size_t at = 0;
    if (size < 16 || memcmp(data, signature, 8) != 0) return;
    while (size - at >= 12) {
        if (size - at >= 16 && memcmp(data + at, signature, 8) == 0) { // one file behind another
            data[at + 10] = data[at + 11] = 0;
            memcpy(data + at + 12, order, 4);
            memset(sums, 0, sizeof sums);
            at += 16;
            continue;
        }
        size_t length = (size_t)pieces_get(data + at + 4, 4), left = size - at - 12;
        if (length > left) pieces_put(data + at + 4, (uint32_t)(length = left));
        pieces_sum(data + at, length);
        pieces_link(data + at, length, sums);
        at += 12 + length;
    }
}

/* The file of piece i, in memory; the same one for every input. */
static inline const char *pieces_file(size_t i, const void *data, size_t size)
{
    static int files[PIECES_MOST];
    static char paths[PIECES_MOST][32];
    if (!files[i]) {
        files[i] = memfd_create("piece", MFD_CLOEXEC);
        expect(files[i] > 0);
        snprintf(paths[i], sizeof *paths, "/proc/self/fd/%d", files[i]);
    }
    expect(ftruncate(files[i], 0) == 0);
    for (size_t done = 0; done < size;) {
        ssize_t n = pwrite(files[i], (const char *)data + done, size - done, (off_t)done);
        expect(n > 0);
        done += (size_t)n;
    }
    return paths[i];
}

/* Bit 7 of the choice: as they are, damaged as they may be. */
static inline void pieces_take(pieces *p, const uint8_t *data, size_t size)
{
    memset(p, 0, sizeof *p);
    if (!size) return;
    p->choice = *data++;
    size--;
    while (p->count < PIECES_MOST) {
        const uint8_t *end = memmem(data, size, PIECES_MARK, sizeof PIECES_MARK - 1);
        size_t length = end && p->count + 1 < PIECES_MOST ? (size_t)(end - data) : size, i = p->count++;
        p->data[i] = malloc(length + 1); // exactly as large: nothing behind it may be read
        expect(p->data[i] != NULL);
        p->size[i] = length;
        if (length) memcpy(p->data[i], data, length);
        p->data[i][length] = 0;
        if (!(p->choice & 128)) pieces_repair(p->data[i], length);
        p->paths[i] = pieces_file(i, p->data[i], length);
        if (length == size) break;
        data += length + sizeof PIECES_MARK - 1;
        size -= length + sizeof PIECES_MARK - 1;
    }
}

static inline void pieces_free(pieces *p)
{
    for (size_t i = 0; i < p->count; i++)
        free(p->data[i]);
}

#endif
