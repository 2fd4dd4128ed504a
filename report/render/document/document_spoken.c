// What a chart of a PDF says to those who hear it: what it shows, and the rows of its table.
#include "document_model.h"

#include <stdlib.h>
#include <string.h>

enum { SPOKEN_BYTES = 1800 }; // who wants all of it has the page as HTML, or its data

// "cxi4: received 24.1 GB/s, sent 23.8 GB/s."
static void spoken_add_row(buffer *out, const chart_twin *t, size_t row)
{
    for (size_t column = 0; column < t->columns; column++) {
        size_t cell = row * t->columns + column;
        if (cell >= t->count || !*t->cells[cell]) continue;
        buffer_text(out, column == 0 ? " " : column == 1 ? ": " : ", ");
        if (column && *t->cells[column]) buffer_printf(out, "%s ", t->cells[column]);
        buffer_text(out, t->cells[cell]);
    }
    buffer_text(out, ".");
}

static void spoken_add_table(buffer *out, const chart_twin *t)
{
    size_t rows = t->columns ? t->count / t->columns : 0, row = 1;
    for (; row < rows && out->size < SPOKEN_BYTES; row++)
        spoken_add_row(out, t, row);
    if (row < rows) buffer_printf(out, " And %zu more of %zu rows.", rows - row, rows - 1);
}

char *document_spoken(const page_section *section)
{
    const chart *x = section->chart;
    buffer out = {0};
    chart_twin brief = {0};
    if (!x || x->is_table || x->is_text || !x->twin.count) return NULL;
    bool headed = x->title && *x->title;
    buffer_text(&out, headed ? x->title : x->name);
    if (x->question && *x->question) buffer_printf(&out, ": %s", x->question);
    buffer_text(&out, section->continued ? " (continued)." : ".");
    if (x->brief) x->brief(x, &brief);
    if (!section->continued) spoken_add_table(&out, x->brief ? &brief : &x->twin);
    chart_twin_clear(&brief);
    return out.data;
}
