#define _GNU_SOURCE
#include "long_text.h"

#include "analysis/base/memory.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static char *long_text_room(long_text *t, size_t length)
{
    if (t->room - t->size <= length) {
        t->room = t->room + t->room / 2 + length + 4096;
        t->text = memory_realloc(t->text, t->room);
    }
    return t->text + t->size;
}

void long_text_bytes(void *to, const char *bytes, size_t length)
{
    long_text *t = to;
    if (length) memcpy(long_text_room(t, length), bytes, length);
    t->size += length;
}

void long_text_put(long_text *t, const char *text)
{
    long_text_bytes(t, text, strlen(text));
}

void long_text_count(long_text *t, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    long_text_bytes(t, digits + at, sizeof digits - at);
}

// After the point, without the zeros at the end.
static void long_text_fraction(long_text *t, uint64_t value, int places)
{
    char digits[20];
    while (places && value % 10 == 0) {
        value /= 10;
        places--;
    }
    if (!places) return;
    for (int i = places; i > 0; value /= 10)
        digits[i--] = (char)('0' + value % 10);
    digits[0] = '.';
    long_text_bytes(t, digits, (size_t)places + 1);
}

void long_text_number(long_text *t, double value)
{
    static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11};
    double size = fabs(value);
    char text[32];
    if (size != 0 && (size < 1e-3 || size >= 1e15)) {
        long_text_bytes(t, text, (size_t)snprintf(text, sizeof text, "%.9g", value));
        return;
    }
    int places = size >= 1e-1 ? 9 : size >= 1e-2 ? 10 : 11; // so many are nine digits
    for (double next = 1; places && size >= next; next *= 10)
        places--;
    uint64_t scaled = (uint64_t)(size * powers[places] + 0.5), unit = (uint64_t)powers[places];
    if (value < 0 && scaled) long_text_bytes(t, "-", 1);
    long_text_count(t, scaled / unit);
    long_text_fraction(t, scaled % unit, places);
}

void long_text_seconds(long_text *t, int64_t ns)
{
    static const uint64_t second_ns = 1000000000;
    uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    if (ns < 0) long_text_bytes(t, "-", 1);
    long_text_count(t, size / second_ns);
    long_text_fraction(t, size % second_ns, 9);
}

void long_text_time(long_text *t, int64_t wall_ns)
{
    time_t at = (time_t)(wall_ns / 1000000000);
    struct tm tm;
    if (!*t->time || at != t->second) {
        bool good = wall_ns > 0 && gmtime_r(&at, &tm) && tm.tm_year < 8100;
        if (!good || !strftime(t->time, sizeof t->time, "\"%Y-%m-%dT%H:%M:%SZ\"", &tm))
            snprintf(t->time, sizeof t->time, "null");
        t->second = at;
    }
    long_text_put(t, t->time);
}

char *long_text_end(long_text *t, size_t *size)
{
    char *text = long_text_room(t, 1);
    *text = 0;
    text = t->text;
    *size = t->size;
    *t = (long_text){.text = NULL};
    return text;
}
