#include "text.h"

#include "memory.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

__attribute__((format(printf, 2, 0))) static void text_append_list(char **text, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0) memory_exhausted();
    size_t before = *text ? strlen(*text) : 0;
    *text = memory_realloc(*text, before + (size_t)length + 1);
    vsnprintf(*text + before, (size_t)length + 1, format, arguments);
}

void text_append(char **text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_append_list(text, format, arguments);
    va_end(arguments);
}

void text_capital(char *text)
{
    if (*text >= 'a' && *text <= 'z') *text = (char)(*text - 'a' + 'A');
}

// [m-n]: a decimal number of the text within the range; the whole run of digits, as long as it is. Returns the
// number of characters taken, 0 for none; *pattern moves past the bracket.
static size_t match_range(const char **pattern, const char *text)
{
    unsigned long low, high, number = 0;
    int used = 0;
    if (sscanf(*pattern, "[%6lu-%6lu]%n", &low, &high, &used) != 2 || !used) return 0;
    size_t n = 0;
    while (isdigit((unsigned char)text[n]) && n < 6)
        number = number * 10 + (unsigned long)(text[n++] - '0');
    if (!n || isdigit((unsigned char)text[n]) || number < low || number > high) return 0;
    *pattern += used;
    return n;
}

bool text_like(const char *pattern, const char *text)
{
    const char *star = NULL, *resume = NULL;
    while (*text) {
        size_t n = 0;
        if (*pattern == '*') {
            star = ++pattern;
            resume = text;
            continue;
        }
        if (*pattern == '[') n = match_range(&pattern, text);
        if (n) {
            text += n;
        } else if (*pattern && (*pattern == '?' || *pattern == *text)) {
            pattern++;
            text++;
        } else if (star) { // the last '*' takes one more character
            pattern = star;
            text = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

static bool is_address(const char *name)
{
    return strchr(name, ':') || strspn(name, "0123456789.") == strlen(name);
}

bool text_same_host(const char *a, const char *b)
{
    if (!a || !b || !*a || !*b) return false;
    size_t n = strcspn(a, "."), m = strcspn(b, ".");
    if (strcasecmp(a, b) == 0) return true;
    if (is_address(a) || is_address(b) || n != m || strncasecmp(a, b, n) != 0) return false;
    return !a[n] || !b[m]; // two full names that differ
}
