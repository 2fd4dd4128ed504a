#include "json_values.h"

#include "utf8.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void json_begin(void)
{
    json_object *o = json_new_object();
    json_put(o, "", NULL);
    json_object_put(o);
}

json_object *json_text_value(const char *text)
{
    char *safe = memory_alloc(strlen(text) * (sizeof UTF8_REPLACEMENT - 1) + 1);
    size_t n = 0, length;
    while (*text) {
        const char *from = utf8_next(&text, &length);
        memcpy(safe + n, from, length);
        n += length;
    }
    json_object *o = json_new_string_len(safe, (int)n);
    free(safe);
    return o;
}

json_object *json_number_value(double number)
{
    char text[40];
    if (!isfinite(number)) return NULL;
    snprintf(text, sizeof text, "%.9g", number);
    return json_new_double_s(number, text);
}

json_object *json_exact_value(uint64_t value)
{
    return json_new_uint64(value);
}

void json_put_text(json_object *o, const char *key, const char *text)
{
    if (text) json_put(o, key, json_text_value(text));
}

void json_put_number(json_object *o, const char *key, double number)
{
    json_put(o, key, json_number_value(number));
}

void json_put_exact(json_object *o, const char *key, uint64_t value)
{
    json_put(o, key, json_exact_value(value));
}

void json_put_lower_bounds(json_object *o, const char *first, const char *second)
{
    if (!first && !second) return;
    json_object *keys = json_new_array();
    if (first) json_append(keys, json_text_value(first));
    if (second) json_append(keys, json_text_value(second));
    json_put(o, "lower_bounds", keys);
}
