// Cells of CSV (RFC 4180). Names come from outside: what is no UTF-8 becomes U+FFFD, and what a spreadsheet would run as a
// formula becomes a text. Commas and ends of lines are the caller's; cells of numbers need none of this.
// Thread rule: any.
#ifndef NETPROF_CSV_H
#define NETPROF_CSV_H

#include "put.h"

#include <stdbool.h>

// Writes the text as one cell. guard: a text that begins like a formula (=, +, -, @, tab, CR) and is no number gets an
// apostrophe in front.
void csv_text(put_bytes put, void *to, const char *text, bool guard);

#endif
