// Texts that grow, and patterns over them. Thread rule: any, for different texts.
#ifndef NETPROF_TEXT_H
#define NETPROF_TEXT_H

#include <stdarg.h>
#include <stdbool.h>

// Appends to *text, which is NULL (empty) or from malloc(); it moves.
void text_append(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Makes the first letter a capital, where it is one of a to z.
void text_capital(char *text);

// True if the pattern matches the whole text: '*' any characters, '?' one, [m-n] a decimal number in this range.
bool text_like(const char *pattern, const char *text);

// True if two names can mean one host: upper or lower case, with or without its domain. Addresses equal only themselves;
// NULL is no host.
bool text_same_host(const char *a, const char *b);

#endif
