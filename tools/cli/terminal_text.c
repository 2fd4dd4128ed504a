#include "terminal_text.h"

#include "analysis/base/memory.h"
#include "analysis/base/utf8.h"
#include "analysis/base/words.h"

#include <langinfo.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool terminal_utf8(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

// Characters that are invisible or change the order of others: a terminal would not show what is there.
static bool text_deceives(uint32_t c)
{
    static const uint32_t ranges[][2] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},      {0x61c, 0x61c},
                                         {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},  {0xfe00, 0xfe0f},
                                         {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c >= ranges[i][0] && c <= ranges[i][1]) return true;
    return false;
}

// A ring of results, so that one call of printf may use several.
static char *text_ring(size_t size)
{
    static char *ring[16];
    static unsigned next;
    char **slot = &ring[next++ % 16];
    return *slot = memory_realloc(*slot, size);
}

// Bytes at the start of the text that are plain ASCII.
static size_t text_plain_length(const char *text)
{
    size_t n = 0;
    while (text[n] >= ' ' && text[n] < 0x7f)
        n++;
    return n;
}

const char *safe(const char *text)
{
    size_t plain = text_plain_length(text);
    if (!text[plain]) return memcpy(text_ring(plain + 1), text, plain + 1);
    char *out = text_ring(strlen(text) * 10 + 1), *to = out;
    while (*text) {
        uint32_t code = 0;
        size_t length = utf8_character(text, &code);
        if (!length || (length == 1 && text_deceives(code)))
            to += sprintf(to, "\\x%02x", (unsigned)(unsigned char)*text);
        else if (length > 1 && !terminal_utf8() && words_ascii(code))
            to = stpcpy(to, words_ascii(code));
        else if (text_deceives(code) || (length > 1 && !terminal_utf8()))
            to += sprintf(to, "\\u{%x}", (unsigned)code);
        else
            to = (char *)memcpy(to, text, length) + length;
        text += length ? length : 1;
    }
    *to = 0;
    return out;
}

const char *utf8(const char *text)
{
    char *out = text_ring(strlen(text) * 3 + 1), *to = out;
    while (*text) {
        size_t length;
        const char *character = utf8_next(&text, &length);
        to = (char *)memcpy(to, character, length) + length;
    }
    *to = 0;
    return out;
}
