// Framework for the sources of the node and the job: one function walks the devices and reports each value; it serves
// discovery and every later reading alike. A device or value that a walk no longer reports has vanished; a new one
// makes the library discover again.
//
// Thread rule: one thread at a time per source.
#ifndef TOOLS_SOURCES_EMIT_H
#define TOOLS_SOURCES_EMIT_H

#include "netprof.h"

#include <stdbool.h>
#include <sys/types.h>

typedef struct emit emit;

// Unit, kind, width and flags of values; name, device and scale are ignored.
typedef netprof_counter emit_shape;

// The devices that follow are this source's, in the same order at every walk where that is cheap.
void emit_device(emit *e, const char *name, unsigned flags);
void emit_fact(emit *e, const char *key, const char *value); // of the last device; only kept at discovery
void emit_factf(emit *e, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));
// A value of the last device.
void emit_value(emit *e, const char *name, const emit_shape *shape, uint64_t value);
void emit_failed(emit *e, const char *name, const emit_shape *shape, int sys_errno);
void emit_stamped(emit *e, const char *name, const emit_shape *shape, uint64_t value, int64_t stamp_ns);
// Only the fast set is asked for: what holds no fast counter may be left out of this walk.
bool emit_fast_only(const emit *e);
// This walk is discovery: facts are kept. In all others they need not be worked out.
bool emit_lists(const emit *e);
const char *emit_root(const emit *e); // "" or the root without its last '/'
// Why there is nothing (discovery only).
void emit_state(emit *e, netprof_status status, int sys_errno, const char *path);

typedef struct emit_source {
    const char *name;
    size_t size; // of the source's own state, zeroed before open()
    void (*walk)(void *state, emit *e);
    void (*close)(void *state);   // may be NULL
    bool (*changed)(void *state); // may be NULL; true: look for devices again before the next reading
} emit_source;

// Adds a source to a context; state (of source->size bytes) is copied when given. Returns an error of the library.
netprof_err emit_add(netprof *np, const emit_source *source, const void *state, netprof_error *error);

// ---- text files that are read again and again ----

typedef struct emit_file {
    char *path; // with the root
    int fd;     // held; -1
    char *text; // the content, ending in 0
    size_t room;
} emit_file;

// Reads the whole file; NULL with *sys_errno set. Held open between calls.
char *emit_file_read(emit_file *f, const emit *e, const char *path, int *sys_errno);
void emit_file_close(emit_file *f);

// Cuts the next line off a text: returns it without its newline, or NULL at the end; *at moves past it.
char *emit_line(char **at);
// Cuts the next word (separated by blanks or tabs) off a line; NULL at the end.
char *emit_word(char **at);
// The whole word as a decimal number; false if it is not a number, or too large.
bool emit_number(const char *word, uint64_t *value);
// Calls visit() for each entry of a directory in byte order, but "." and ".."; 0 or an errno.
int emit_directory(const emit *e, const char *path, void (*visit)(void *user, const char *name), void *user);
// First line of a small file below the root into text; false when it cannot be read.
bool emit_read_line(const emit *e, char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

// ---- processes ----

// The fields after the command name in /proc/PID/stat, from the state on: the name may contain any byte, even newlines.
// False: there is no such process.
bool emit_process_stat(const emit *e, pid_t pid, char *text, size_t size);
pid_t emit_process_parent(const emit *e, pid_t pid); // 0: not known

#endif
