#include "json_text.h"

#include "utf8.h"

#include <stdbool.h>
#include <stdio.h>

static bool json_text_is_plain(char c)
{
    return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

void json_text_quoted(put_bytes put, void *to, const char *text)
{
    put(to, "\"", 1);
    while (*text) {
        size_t plain = 0, length;
        while (json_text_is_plain(text[plain]))
            plain++;
        if (plain) put(to, text, plain);
        text += plain;
        if (!*text) break;
        const char *character = utf8_next(&text, &length);
        bool control = *character == 0x7f || (unsigned char)*character < ' ';
        char escape[8];
        if (control)
            put(to, escape, (size_t)snprintf(escape, sizeof escape, "\\u%04x", (unsigned char)*character));
        else if (*character == '"' || *character == '\\')
            put(to, *character == '"' ? "\\\"" : "\\\\", 2);
        else
            put(to, character, length);
    }
    put(to, "\"", 1);
}
