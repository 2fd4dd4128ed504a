#include "cpulist.h"

#include <string.h>

// Takes the number at *at, which moves past it. More than six digits are too large in any case.
static bool cpulist_take_number(const char **at, size_t *value)
{
    size_t digits = strspn(*at, "0123456789");
    *value = 0;
    if (!digits || digits > 6) return false;
    for (; digits; digits--)
        *value = 10 * *value + (size_t)(*(*at)++ - '0');
    return *value < CPULIST_MOST;
}

bool cpulist_add_text(cpulist *set, const char *text)
{
    for (const char *at = text;; at++) {
        size_t first, last;
        if (!cpulist_take_number(&at, &first)) return false;
        last = first;
        if (*at == '-' && (at++, !cpulist_take_number(&at, &last))) return false;
        if (last < first) return false;
        for (size_t i = first; i <= last; i++)
            set->bits[i / 64] |= UINT64_C(1) << i % 64;
        if (*at != ',') return !*at || *at == '\n';
    }
}

bool cpulist_add_file(cpulist *set, const emit *e, const char *path)
{
    emit_file f = {.fd = -1};
    int error;
    const char *text = emit_file_read(&f, e, path, &error);
    bool good = text && cpulist_add_text(set, text);
    emit_file_close(&f);
    return good;
}

void cpulist_add(cpulist *set, const cpulist *other)
{
    for (size_t i = 0; i < CPULIST_MOST / 64; i++)
        set->bits[i] |= other->bits[i];
}

size_t cpulist_count(const cpulist *set)
{
    size_t count = 0;
    for (size_t i = 0; i < CPULIST_MOST / 64; i++)
        for (uint64_t bits = set->bits[i]; bits; bits &= bits - 1)
            count++;
    return count;
}

bool cpulist_has(const cpulist *set, size_t cpu)
{
    return cpu < CPULIST_MOST && set->bits[cpu / 64] >> cpu % 64 & 1;
}
