// Texts that grow, and patterns over them. Thread rule: any, for different texts.
#ifndef NETPROF_TEXT_H
#define NETPROF_TEXT_H

#include <stdarg.h>
#include <stdbool.h>

// Puts more behind *text (NULL: an empty one), which is allocated anew. False without memory: *text is as it was.
bool text_append(char **text, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));

// A text of its own; free it. NULL without memory.
char *text_make(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Does the pattern match the whole text? '*' any characters, '?' one, [m-n] a decimal number in this range.
bool text_like(const char *pattern, const char *text);

// Do two names mean one host, as far as they tell: in any case, with its domain or without? Addresses are themselves;
// NULL is no host.
bool text_same_host(const char *a, const char *b);

#endif
