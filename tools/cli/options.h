// Options: printing and listing popt tables, and the options that several commands share.
#ifndef TOOLS_OPTIONS_H
#define TOOLS_OPTIONS_H

#include "common.h"

enum { OPTION_COLUMN = 22 }; // width of "-o, --output=FILE" in a help text

// The lines of a help text.
void options_print(const struct poptOption *options, FILE *to);
// For shell completion, one a line: "--set", a tab, and what it takes: nothing, or FILE, DIR, all|fast, ...
// Where one takes NAMES, these (by commas) are printed in its place, unless they are NULL.
void options_list(const struct poptOption *options, const char *names);
// "; did you mean '--set'?" for a wrong option, or "". Valid until the next call.
const char *options_hint(const struct poptOption *options, const char *option);
// Frees the strings and lists that the options hold.
void options_free(const struct poptOption *options);

// ---- values ----

// "1s", "100ms", "1.5", "2m", "1h" as nanoseconds; false for anything else, and for 0.
bool parse_duration(const char *text, int64_t *ns);
// "500MB" (powers of ten; MiB: of two) as bytes; false for anything else, and for 0.
bool parse_size(const char *text, uint64_t *bytes);

#endif
