// SHA-256 (FIPS 180-4): names of contents that nobody can make two of. Thread rule: any.
#ifndef LIVE_SHA256_H
#define LIVE_SHA256_H

#include <stddef.h>

enum { SHA256_BYTES = 32 };

void sha256(unsigned char to[SHA256_BYTES], const void *data, size_t size);

#endif
