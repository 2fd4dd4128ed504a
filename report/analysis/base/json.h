// json-c for programs that end when memory runs out: include this in place of <json-c/json.h>. (json-c reports a failed
// allocation by NULL, which as a value means null, by a result that is easily ignored, or, when it writes or parses, by
// errno alone.) What allocates has a name of our own here; json-c's names for it do not compile.
#ifndef NETPROF_JSON_H
#define NETPROF_JSON_H

#include "analysis/base/memory.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdint.h>

static inline json_object *json_new_object(void)
{
    return memory_check(json_object_new_object());
}

static inline json_object *json_new_array(void)
{
    return memory_check(json_object_new_array());
}

static inline json_object *json_new_boolean(json_bool value)
{
    return memory_check(json_object_new_boolean(value));
}

static inline json_object *json_new_int(int32_t value)
{
    return memory_check(json_object_new_int(value));
}

static inline json_object *json_new_int64(int64_t value)
{
    return memory_check(json_object_new_int64(value));
}

static inline json_object *json_new_uint64(uint64_t value)
{
    return memory_check(json_object_new_uint64(value));
}

static inline json_object *json_new_double(double value)
{
    return memory_check(json_object_new_double(value));
}

// text: how the number is written.
static inline json_object *json_new_double_s(double value, const char *text)
{
    return memory_check(json_object_new_double_s(value, text));
}

static inline json_object *json_new_string(const char *text)
{
    return memory_check(json_object_new_string(text));
}

static inline json_object *json_new_string_len(const char *text, int length)
{
    return memory_check(json_object_new_string_len(text, length));
}

// Both take the reference to the value over.
static inline void json_put(json_object *o, const char *key, json_object *value)
{
    if (json_object_object_add(o, key, value)) memory_exhausted();
}

static inline void json_append(json_object *array, json_object *value)
{
    if (json_object_array_add(array, value)) memory_exhausted();
}

// The text belongs to the object.
static inline const char *json_to_text(json_object *o, int flags)
{
    errno = 0;
    const char *text = json_object_to_json_string_ext(o, flags);
    if (!text || errno == ENOMEM) memory_exhausted();
    return text;
}

static inline json_tokener *json_new_tokener(int depth)
{
    return memory_check(json_tokener_new_ex(depth));
}

static inline json_object *json_feed_tokener(json_tokener *tokener, const char *text, int length)
{
    errno = 0;
    json_object *o = json_tokener_parse_ex(tokener, text, length);
    if (errno == ENOMEM) memory_exhausted();
    return o;
}

#pragma GCC poison json_object_new_object json_object_new_array json_object_new_boolean json_object_new_int
#pragma GCC poison json_object_new_int64 json_object_new_uint64 json_object_new_double json_object_new_double_s
#pragma GCC poison json_object_new_string json_object_new_string_len json_object_object_add json_object_array_add
#pragma GCC poison json_object_to_json_string_ext json_tokener_new_ex json_tokener_parse_ex

#endif
