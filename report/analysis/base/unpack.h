// Reading a descriptor to its end, unpacked where it holds gzip or zstd data, by their first bytes. Members and frames may
// follow each other. Thread rule: one thread at a time for each.
#ifndef NETPROF_UNPACK_H
#define NETPROF_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum unpack_packing { UNPACK_PLAIN = 0, UNPACK_GZIP, UNPACK_ZSTD } unpack_packing;

typedef struct unpack unpack;

// Reads from where the descriptor stands, and leaves it open. plain: whatever it holds is given as it is.
unpack *unpack_open(int fd, bool plain);
void unpack_close(unpack *u);
// Returns how many bytes came; fewer than room only at the end or after a problem.
size_t unpack_read(unpack *u, void *to, size_t room);
unpack_packing unpack_packing_of(const unpack *u);
uint64_t unpack_taken(const unpack *u);               // bytes of the descriptor so far
const char *unpack_problem(const unpack *u);          // "the compressed data are cut"; NULL: none so far
int unpack_error(const unpack *u);                    // its errno, where reading failed
bool unpack_is_packed(const void *data, size_t size); // by the first bytes

#endif
