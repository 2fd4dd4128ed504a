// Growing text for the writers, and files that appear whole or not at all.
#ifndef NETPROF_BUFFER_H
#define NETPROF_BUFFER_H

#include "netprof.h"

#include <stdbool.h>
#include <stddef.h>

// Start from {0}; buffer_free() at the end. data ends with a NUL after size bytes (NULL while nothing has been added).
typedef struct buffer {
    char *data;
    size_t size, room;
} buffer;

void buffer_free(buffer *b);
void buffer_bytes(buffer *b, const void *data, size_t size);
void buffer_text(buffer *b, const char *text);
void buffer_printf(buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
// A number as SVG and CSS take it, whatever the locale: at most two decimals, no trailing zeros.
void buffer_number(buffer *b, double number);
void buffer_base64(buffer *b, const void *bytes, size_t size);
// Foreign text as XML or HTML content or attribute: made visible (see text_visible()), then & < > " ' escaped.
void buffer_escaped(buffer *b, const char *text);

// Foreign text fit to be shown: valid UTF-8, with \xNN for invalid bytes and \u{NNNN} for characters that
// are invisible or reorder others; line ends and tabs become blanks. free() it.
char *text_visible(const char *text);

// Writes a file under a temporary name, then renames it. "-" is the standard output; devices and pipes are written in place.
netprof_err file_write(const char *path, const void *data, size_t size, netprof_error *error);

#endif
