// The JSON files in a head's directory: reading them, and what may be in them. Thread rule: any, for different objects.
#ifndef LIVE_SESSION_DOCUMENT_H
#define LIVE_SESSION_DOCUMENT_H

#include "analysis/base/json.h"

#include <stdint.h>

json_object *session_read_document(const char *path);          // NULL: it cannot be read, or is no object
int64_t session_number_of(json_object *o, const char *key);    // 0: there is none
const char *session_text_of(json_object *o, const char *key);  // "": there is none
json_object *session_list_of(json_object *o, const char *key); // NULL: there is none

#endif
