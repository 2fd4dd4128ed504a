#include "job_nodelist.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void job_nodelist_free(char **names)
{
    for (size_t i = 0; i < arrlenu(names); i++)
        free(names[i]);
    arrfree(names);
}

static bool job_nodelist_expand(char ***names, const char *head, const char *rest);

// "1-3" or "07" of a bracket, with the text before and after it.
static bool job_nodelist_range(char ***names, const char *head, const char *range, size_t size, const char *rest)
{
    char *end;
    size_t width = strspn(range, "0123456789");
    unsigned long from = strtoul(range, &end, 10), to = from;
    if (!width || width > 9) return false;
    if (*end == '-') to = strtoul(end + 1, &end, 10);
    if (end != range + size || to < from || to - from >= JOB_NODELIST_MOST) return false;
    for (unsigned long i = from; i <= to; i++) {
        char *longer = memory_format("%s%0*lu", head, (int)width, i);
        bool fits = job_nodelist_expand(names, longer, rest);
        free(longer);
        if (!fits) return false;
    }
    return true;
}

// Adds head with every expansion of rest, which holds no comma outside of brackets.
static bool job_nodelist_expand(char ***names, const char *head, const char *rest)
{
    size_t plain = strcspn(rest, "[");
    if (!rest[plain]) {
        if (arrlenu(*names) >= JOB_NODELIST_MOST) return false;
        arrput(*names, memory_format("%s%s", head, rest));
        return true;
    }
    const char *inside = rest + plain + 1, *close = strchr(inside, ']');
    if (!close) return false;
    char *longer = memory_format("%s%.*s", head, (int)plain, rest);
    bool fits = true;
    for (const char *at = inside; fits && at <= close; at++) { // nothing between two commas, or in all, is no range
        size_t size = strcspn(at, ",]");
        fits = job_nodelist_range(names, longer, at, size, close + 1);
        at += size;
    }
    free(longer);
    return fits;
}

char **job_nodelist(const char *text)
{
    char **names = NULL;
    for (const char *at = text; *at;) {
        size_t size = 0;
        for (int depth = 0; at[size] && (depth || at[size] != ','); size++)
            depth += (at[size] == '[') - (at[size] == ']');
        char *part = memory_strndup(at, size);
        bool fits = !size || job_nodelist_expand(&names, "", part);
        free(part);
        if (!fits) {
            job_nodelist_free(names);
            return NULL;
        }
        at += size + (at[size] == ',');
    }
    return names;
}
