// UTF-8 (RFC 3629) in text from outside. Thread rule: any.
#ifndef NETPROF_UTF8_H
#define NETPROF_UTF8_H

#include <stddef.h>
#include <stdint.h>

#define UTF8_REPLACEMENT "\xef\xbf\xbd" // U+FFFD, in place of a byte that is not UTF-8

// Bytes of the valid character at the start of text and its code, or 0. A NUL is a character of one byte.
size_t utf8_character(const char *text, uint32_t *code);
// The next character to write: moves *text past it and returns its bytes, *length of them.
const char *utf8_next(const char **text, size_t *length);

// How many bytes of the text, at most so many, end with a whole character: for "%.*s".
int utf8_within(const char *text, size_t bytes);

#endif
