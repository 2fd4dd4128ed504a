#define _GNU_SOURCE // vasprintf
#include "chart_model.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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

void chart_free(chart *x)
{
    if (x->free) x->free(x->data);
    for (size_t i = 0; i < x->twin.count; i++)
        free(x->twin.cells[i]);
    arrfree(x->twin.cells);
}
