// Where bytes go: a function and its argument. Thread rule: that of the function.
#ifndef NETPROF_PUT_H
#define NETPROF_PUT_H

#include <stddef.h>

typedef void (*put_bytes)(void *to, const char *bytes, size_t length);

void put_to_file(void *file, const char *bytes, size_t length); // a FILE *; ferror() holds what failed

#endif
