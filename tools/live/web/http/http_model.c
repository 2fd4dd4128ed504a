#include "http_model.h"

#include "analysis/base/json_values.h"
#include "analysis/base/memory.h"

#include <string.h>

void http_fail(http_answer *a, unsigned code, const char *text)
{
    json_object *o = json_new_object();
    json_put(o, "success", json_new_boolean(false));
    json_put_text(o, "message", text);
    *a = (http_answer){.code = code, .data = memory_strdup(json_to_text(o, JSON_C_TO_STRING_PLAIN))};
    json_object_put(o);
}

bool http_is_token(const char *given, const char *token)
{
    size_t size = strlen(token), has = strlen(given);
    unsigned differ = has != size || !size;
    for (size_t i = 0; i < size; i++)
        differ |= (unsigned)((unsigned char)token[i] ^ (unsigned char)(i < has ? given[i] : 0));
    return !differ;
}
