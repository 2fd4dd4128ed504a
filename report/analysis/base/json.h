// json-c for programs that end when memory runs out: include this in place of <json-c/json.h>. Under json-c's own names, its
// makers never return NULL, what is added is added, and a text is whole. (json-c reports a failed allocation by NULL, which as
// a value means null, by a result that nobody asks for, or, when it writes or parses, by errno alone.)
#ifndef NETPROF_JSON_H
#define NETPROF_JSON_H

#include "analysis/base/memory.h"

#include <errno.h>
#include <json-c/json.h>

#define json_object_new_object()                 ((json_object *)memory_check(json_object_new_object()))
#define json_object_new_array()                  ((json_object *)memory_check(json_object_new_array()))
#define json_object_new_boolean(value)           ((json_object *)memory_check(json_object_new_boolean(value)))
#define json_object_new_int(value)               ((json_object *)memory_check(json_object_new_int(value)))
#define json_object_new_int64(value)             ((json_object *)memory_check(json_object_new_int64(value)))
#define json_object_new_uint64(value)            ((json_object *)memory_check(json_object_new_uint64(value)))
#define json_object_new_double(value)            ((json_object *)memory_check(json_object_new_double(value)))
#define json_object_new_double_s(value, text)    ((json_object *)memory_check(json_object_new_double_s(value, text)))
#define json_object_new_string(text)             ((json_object *)memory_check(json_object_new_string(text)))
#define json_object_new_string_len(text, length) ((json_object *)memory_check(json_object_new_string_len(text, length)))
#define json_tokener_new_ex(depth)               ((json_tokener *)memory_check(json_tokener_new_ex(depth)))

static inline int json_add_checked(json_object *o, const char *key, json_object *value)
{
    if (json_object_object_add(o, key, value)) memory_exhausted();
    return 0;
}

static inline int json_append_checked(json_object *array, json_object *value)
{
    if (json_object_array_add(array, value)) memory_exhausted();
    return 0;
}

static inline const char *json_print_checked(json_object *o, int flags)
{
    errno = 0;
    const char *text = json_object_to_json_string_ext(o, flags);
    if (!text || errno == ENOMEM) memory_exhausted();
    return text;
}

static inline json_object *json_parse_checked(json_tokener *tokener, const char *text, int length)
{
    errno = 0;
    json_object *o = json_tokener_parse_ex(tokener, text, length);
    if (errno == ENOMEM) memory_exhausted();
    return o;
}

#define json_object_object_add(o, key, value)        json_add_checked(o, key, value)
#define json_object_array_add(array, value)          json_append_checked(array, value)
#define json_object_to_json_string_ext(o, flags)     json_print_checked(o, flags)
#define json_tokener_parse_ex(tokener, text, length) json_parse_checked(tokener, text, length)

#endif
