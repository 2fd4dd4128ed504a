// json-c as the judge of JSON: strict, and of valid UTF-8.
#ifndef TESTS_STRICT_JSON_H
#define TESTS_STRICT_JSON_H

#include <json-c/json.h>

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

// The value; *good: it is JSON, and nothing follows it; *end: how far it came. What lies beyond ASCII is fed apart: json-c 0.18
// takes it for control characters where it is strict.
static inline json_object *strict_json_parse(json_tokener *tokener, const char *text, size_t size, bool *good,
                                             size_t *end)
{
    json_object *value = NULL;
    *end = 0;
    while (*end < size) {
        bool ascii = !(text[*end] & 0x80);
        int n = 0;
        while (*end + (size_t)n < size && !(text[*end + (size_t)n] & 0x80) == ascii)
            n++;
        json_tokener_set_flags(tokener, (ascii ? JSON_TOKENER_STRICT : 0) | JSON_TOKENER_VALIDATE_UTF8);
        value = json_tokener_parse_ex(tokener, text + *end, n);
        *end += json_tokener_get_parse_end(tokener);
        if (json_tokener_get_error(tokener) != json_tokener_continue) break;
    }
    *good = json_tokener_get_error(tokener) == json_tokener_success;
    for (size_t i = *end; i < size && *good; i++)
        *good = strchr(" \t\r\n", text[i]) != NULL; // or the NUL at its end
    return value;
}

#endif
