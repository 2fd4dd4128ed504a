// Messages on the standard error, "netprof diff: a.json: line 12: expected a number", and the exit codes of failures.
#ifndef TOOLS_MESSAGES_H
#define TOOLS_MESSAGES_H

#include "netprof.h"

#include <stdbool.h>

#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))

enum exit_code {
    EXIT_DONE = 0,
    EXIT_WORTH_FAILING = 1, // done, but something is worth failing for
    EXIT_USAGE = 2,
    EXIT_FILE = 3,    // a file could not be read or written
    EXIT_NOTHING = 4, // nothing to read on this node
    EXIT_UNKNOWN = 5  // done, but what matters could not be judged
};

// What a failure is about: a file (NULL: none), and the line or byte of it (0: the whole).
typedef struct message_place {
    const char *file;
    uint64_t line, byte;
} message_place;

// Prints a failure as a JSON document.
typedef void (*message_json_printer)(const char *command, const char *text, const message_place *place, int exit_code);

// The sub-command named in messages (at first NULL: none). With *json set, print() reports the first failure as well, or,
// where its JSON goes to the standard error, instead.
void message_command(const char *name, const int *json, bool on_stderr, message_json_printer print);
// From now on a failure is kept, since what can be done without may fail: message_json_now() reports the last one.
void message_json_later(void);
void message_json_now(void);
void warn(const char *format, ...) PRINTF_LIKE(1, 2);
// Says what went wrong and returns `code`.
int fail(int code, const char *format, ...) PRINTF_LIKE(2, 3);
// The same about a file, whose name begins the text: "FILE: line 3: TEXT".
int fail_file(int code, const char *path, const char *format, ...) PRINTF_LIKE(3, 4);
int fail_at(int code, message_place place, const char *format, ...) PRINTF_LIKE(3, 4);
// The same for a usage error, with a hint at --help. Returns EXIT_USAGE.
int fail_usage(const char *format, ...) PRINTF_LIKE(1, 2);
// The same for an error of the library about `path` (NULL: the error's own). Returns its exit code.
int fail_error(const char *path, const netprof_error *error);
// A library's error as text, without its path, line or offset. Valid until the next call.
const char *error_text(const netprof_error *error);

// ---- progress of long work: one line on a terminal, overwritten by the next and by messages ----

void progress(const char *format, ...) PRINTF_LIKE(1, 2); // does nothing unless the standard error is a terminal
void progress_end(void);                                  // erases the line

#endif
