// The file in which a head says what it sees, status.json, as those read it who are no head. Thread rule: any.
#ifndef LIVE_STATUS_FILE_H
#define LIVE_STATUS_FILE_H

#include "analysis/base/json.h"

#include <stdbool.h>
#include <stdint.h>

// Which file it was that was read last; {0}: none.
typedef struct status_seen {
    uint64_t device, inode, size;
    int64_t changed_ns;
} status_seen;

bool status_file_head_runs(const char *directory);
// Whether it is another one than was seen, or is gone; then *seen is that.
bool status_file_is_new(const char *directory, const char *name, status_seen *seen);
json_object *status_file_read(const char *directory); // NULL: there is none that can be read
json_object *status_file_parse(const char *path);     // any file of one object
uint64_t status_file_number(json_object *o, const char *key);
const char *status_file_text(json_object *o, const char *key); // "": it has none
// Of a row of "nodes": its ticks that are lost; for how long nothing was heard, -1: not since the head was started.
uint64_t status_file_missing(json_object *node);
int64_t status_file_silence(json_object *node);

#endif
