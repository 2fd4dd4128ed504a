// SHA-256 (FIPS 180-4): names of contents that nobody can make two of, by the processor's instructions where it has them.
// Thread rule: any.
#ifndef LIVE_SHA256_H
#define LIVE_SHA256_H

#include <stddef.h>

enum { SHA256_BYTES = 32 };

void sha256(unsigned char to[SHA256_BYTES], const void *data, size_t size);
// The same without the instructions.
void sha256_plain(unsigned char to[SHA256_BYTES], const void *data, size_t size);

#endif
