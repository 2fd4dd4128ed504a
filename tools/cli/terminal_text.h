// Text from outside, made fit for a terminal or for a document in UTF-8.
#ifndef TOOLS_TERMINAL_TEXT_H
#define TOOLS_TERMINAL_TEXT_H

#include <stdbool.h>

bool terminal_utf8(void); // characters beyond ASCII may be printed; after setlocale()

// Text that is safe on a terminal: control characters, invalid UTF-8 and characters that reorder or hide others
// become \xNN or \u{NNNN}. Valid until the 16th next call.
const char *safe(const char *text);
// Text that is valid UTF-8: U+FFFD replaces invalid bytes. Valid until the 16th next call.
const char *utf8(const char *text);

#endif
