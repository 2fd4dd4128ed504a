#define _GNU_SOURCE // vasprintf, FNM_CASEFOLD
#include "chart_model.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void chart_cell(chart_twin *t, const char *text)
{
    arrput(t->cells, memory_strdup(text));
    t->count = arrlenu(t->cells);
}

void chart_cellf(chart_twin *t, const char *format, ...)
{
    va_list arguments;
    char *text = NULL;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0) memory_exhausted();
    va_end(arguments);
    chart_cell(t, text);
    free(text);
}

static void chart_say_there(chart_pick *p, const char *name)
{
    enum { MOST = 600 };
    size_t used = p->there ? strlen(p->there) : 0, length = strlen(name);
    for (const char *at = p->there; at && length; at = strstr(at, ", "), at = at ? at + 2 : NULL)
        if (strncmp(at, name, length) == 0 && (!at[length] || at[length] == ',')) return;
    if (!length || used > MOST) return;
    char *longer = used + length > MOST ? memory_format("%s, ...", p->there)
                                        : memory_format("%s%s%s", used ? p->there : "", used ? ", " : "", name);
    free(p->there);
    p->there = longer;
}

// The whole name, or a word of it: "sent" of "Network, sent".
bool chart_fits(chart_pick *p, const char *wanted, const char *name)
{
    if (!wanted) return true;
    chart_say_there(p, name);
    if (fnmatch(wanted, name, FNM_CASEFOLD) == 0) return true;
    char *words = memory_strdup(name), *rest = words, *word;
    bool fits = false;
    while (!fits && (word = strsep(&rest, " ,")))
        fits = *word && fnmatch(wanted, word, FNM_CASEFOLD) == 0;
    free(words);
    return fits;
}

void chart_twin_clear(chart_twin *t)
{
    for (size_t i = 0; i < t->count; i++)
        free(t->cells[i]);
    arrfree(t->cells);
    *t = (chart_twin){0};
}

void chart_free(chart *x)
{
    if (x->free) x->free(x->data);
    chart_twin_clear(&x->twin);
}
