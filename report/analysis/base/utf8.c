#include "utf8.h"

#include <string.h>

size_t utf8_character(const char *text, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *p = (const unsigned char *)text;
    size_t length = *p < 0x80 ? 1 : *p >= 0xc2 && *p < 0xe0 ? 2 : (*p & 0xf0) == 0xe0 ? 3 : (*p & 0xf8) == 0xf0 ? 4 : 0;
    if (!length) return 0;
    uint32_t c = length == 1 ? *p : *p & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80) return 0;
        c = c << 6 | (p[i] & 0x3f);
    }
    if (c < least[length] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return 0;
    *code = c;
    return length;
}

const char *utf8_next(const char **text, size_t *length)
{
    uint32_t code;
    const char *from = *text;
    *length = utf8_character(from, &code);
    *text += *length ? *length : 1;
    if (*length) return from;
    *length = sizeof UTF8_REPLACEMENT - 1;
    return UTF8_REPLACEMENT;
}

int utf8_within(const char *text, size_t bytes)
{
    size_t n = strnlen(text, bytes + 1);
    if (n <= bytes) return (int)n;
    for (n = bytes; n && bytes - n < 3 && ((unsigned char)text[n] & 0xc0) == 0x80;)
        n--;
    return (int)n;
}
