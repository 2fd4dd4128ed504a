// The file in which a head says what it sees, status.json, as those read it who are no head. Thread rule: any.
#ifndef LIVE_STATUS_FILE_H
#define LIVE_STATUS_FILE_H

#include "analysis/base/json.h"

#include <stdbool.h>

bool status_file_head_runs(const char *directory);
json_object *status_file_read(const char *directory); // NULL: there is none that can be read
json_object *status_file_parse(const char *path);     // any file of one object
uint64_t status_file_number(json_object *o, const char *key);
const char *status_file_text(json_object *o, const char *key); // "": it has none
// Of a row of "nodes": its ticks that are lost; for how long nothing was heard, -1: not since the head was started.
uint64_t status_file_missing(json_object *node);
int64_t status_file_silence(json_object *node);

#endif
