// Strings of JSON where no json-c object is built: for files that are written as they go. Thread rule: any.
#ifndef NETPROF_JSON_TEXT_H
#define NETPROF_JSON_TEXT_H

#include "put.h"

// Writes the text in quotes, with controls, quotes and backslashes escaped; what is no UTF-8 becomes U+FFFD.
void json_text_quoted(put_bytes put, void *to, const char *text);

#endif
