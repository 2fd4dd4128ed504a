// What every sub-command shares: exit codes, messages, memory, text from outside.
#ifndef TOOLS_COMMON_H
#define TOOLS_COMMON_H

#include "netprof.h"

#include <popt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))

enum exit_code {
    EXIT_DONE = 0,
    EXIT_WORTH_FAILING = 1, // done, but something is worth failing for
    EXIT_USAGE = 2,
    EXIT_FILE = 3,   // a file could not be read or written
    EXIT_NOTHING = 4 // nothing to read on this node
};

// ---- messages: "netprof diff: a.json: line 12: expected a number" on the standard error ----

// The sub-command whose name stands in messages; NULL at first. With *json set, a failure also is a JSON object
// {"format":"netprof-error",...} on the standard output.
void message_command(const char *name, const int *json);
void warn(const char *format, ...) PRINTF_LIKE(1, 2);
// Says what went wrong and returns `code`.
int fail(int code, const char *format, ...) PRINTF_LIKE(2, 3);
// The same for a usage error, with a hint at --help. Returns EXIT_USAGE.
int fail_usage(const char *format, ...) PRINTF_LIKE(1, 2);
// The same for an error of the library about `path` (NULL: the error's own). Returns its exit code.
int fail_error(const char *path, const netprof_error *error);
// "what went wrong" of a library's error, with line or offset, without the path.
const char *error_text(const netprof_error *error);

// ---- progress of long work: a line on a terminal, written over by the next and by messages ----

void progress(const char *format, ...) PRINTF_LIKE(1, 2); // elsewhere than on a terminal nothing
void progress_end(void);                                  // takes the line away

// ---- programs beside netprof ----

// Where the program is: beside this one, else only its name, to be looked for in PATH. free() it.
char *helper_program(const char *program);

// ---- memory: never NULL; the process ends with EXIT_FILE when there is none left ----

void *must(void *pointer);
char *text_format(const char *format, ...) PRINTF_LIKE(1, 2); // free it

// ---- text from outside ----

// Text that is safe on a terminal: control characters, invalid UTF-8 and characters that reorder or hide others
// become \xNN or \u{NNNN}. Valid until the 16th next call.
const char *safe(const char *text);
// Text that is valid UTF-8, with U+FFFD for what is not. Valid until the 16th next call.
const char *utf8(const char *text);

// The entry of a NULL-terminated list that is most like `word`, or NULL when none is.
const char *nearest(const char *word, const char *const *words);

#endif
