#include "session_document.h"

#include <stdio.h>

enum { SESSION_DOCUMENT_MOST = 512 << 20 };

json_object *session_read_document(const char *path)
{
    FILE *f = fopen(path, "re");
    json_object *o = NULL;
    if (!f) return NULL;
    json_tokener *tokener = json_new_tokener(64);
    char piece[65536];
    size_t n, all = 0;
    while (!o && (n = fread(piece, 1, sizeof piece, f)) > 0 && (all += n) < SESSION_DOCUMENT_MOST)
        o = json_feed_tokener(tokener, piece, (int)n);
    json_tokener_free(tokener);
    fclose(f);
    if (json_object_is_type(o, json_type_object)) return o;
    json_object_put(o);
    return NULL;
}

int64_t session_number_of(json_object *o, const char *key)
{
    json_object *v;
    return json_object_object_get_ex(o, key, &v) && v ? json_object_get_int64(v) : 0;
}

const char *session_text_of(json_object *o, const char *key)
{
    json_object *v;
    return json_object_object_get_ex(o, key, &v) && json_object_is_type(v, json_type_string) ? json_object_get_string(v)
                                                                                             : "";
}

json_object *session_list_of(json_object *o, const char *key)
{
    json_object *v;
    return json_object_object_get_ex(o, key, &v) && json_object_is_type(v, json_type_array) ? v : NULL;
}
