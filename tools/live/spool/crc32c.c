#include "crc32c.h"

#include <string.h>

// A nibble at a time: 64 bytes of table that is written here, not made at start.
static const uint32_t crc32c_table[16] = {0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
                                          0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
                                          0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75};

uint32_t crc32c_plain(uint32_t before, const void *data, size_t size)
{
    const unsigned char *p = data;
    uint32_t crc = ~before;
    for (; size; size--) {
        crc ^= *p++;
        crc = crc >> 4 ^ crc32c_table[crc & 15];
        crc = crc >> 4 ^ crc32c_table[crc & 15];
    }
    return ~crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t crc32c_by_instruction(uint32_t before, const void *data, size_t size)
{
    const unsigned char *p = data;
    uint64_t crc = (uint32_t)~before;
    for (; size >= 8; size -= 8, p += 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        crc = __builtin_ia32_crc32di(crc, word);
    }
    uint32_t rest = (uint32_t)crc;
    for (; size; size--)
        rest = __builtin_ia32_crc32qi(rest, *p++);
    return ~rest;
}
#endif

uint32_t crc32c(uint32_t before, const void *data, size_t size)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2")) return crc32c_by_instruction(before, data, size);
#endif
    return crc32c_plain(before, data, size);
}
