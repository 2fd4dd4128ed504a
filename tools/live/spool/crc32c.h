// CRC-32C (Castagnoli: RFC 3720, appendix B.4), by the processor's instruction where it has one. Thread rule: any.
#ifndef LIVE_CRC32C_H
#define LIVE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

// Goes on from the checksum of what came before (0: nothing).
uint32_t crc32c(uint32_t before, const void *data, size_t size);
// The same without the instruction.
uint32_t crc32c_plain(uint32_t before, const void *data, size_t size);

#endif
