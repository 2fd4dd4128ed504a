#include "csv.h"

#include "utf8.h"

#include <stdlib.h>
#include <string.h>

static bool csv_is_formula(const char *text)
{
    char *end;
    if (!*text || !strchr("=+-@\t\r", *text)) return false;
    if (*text != '-' && *text != '+') return true;
    strtod(text, &end);
    return end == text || *end;
}

static bool csv_is_plain(char c)
{
    return c >= ' ' && c < 0x7f && c != '"';
}

// Commas, quotes and control characters; blanks at the ends, which readers may drop.
static bool csv_needs_quotes(const char *text)
{
    const char *c = text;
    if (*text == ' ') return true;
    for (; *c; c++)
        if (*c == ',' || *c == '"' || *c == 0x7f || (unsigned char)*c < ' ') return true;
    return c > text && c[-1] == ' ';
}

void csv_text(put_bytes put, void *to, const char *text, bool guard)
{
    bool guarded = guard && csv_is_formula(text), quoted = guarded || csv_needs_quotes(text);
    if (quoted) put(to, "\"", 1);
    if (guarded) put(to, "'", 1);
    while (*text) {
        size_t plain = 0, length;
        while (csv_is_plain(text[plain]))
            plain++;
        if (plain) put(to, text, plain);
        text += plain;
        if (!*text) break;
        const char *character = utf8_next(&text, &length);
        if (*character == '"') put(to, "\"", 1);
        put(to, character, length);
    }
    if (quoted) put(to, "\"", 1);
}
