#define _GNU_SOURCE // wcwidth
#include "lines.h"

#include "cli/output.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

// Columns of the character at the text and its bytes.
static int lines_character_columns(const char *text, size_t *bytes)
{
    uint32_t code = 0;
    *bytes = utf8_character(text, &code);
    if (!*bytes) *bytes = 1;
    int columns = code < 0x7f ? 1 : wcwidth((wchar_t)code);
    return columns < 0 ? 1 : columns;
}

int text_columns(const char *text)
{
    int columns = 0;
    for (size_t bytes; *text; text += bytes)
        columns += lines_character_columns(text, &bytes);
    return columns;
}

// Bytes of the text that fit into so many columns.
static size_t lines_fitting(const char *text, int columns)
{
    const char *at = text;
    for (size_t bytes; *at; at += bytes) {
        columns -= lines_character_columns(at, &bytes);
        if (columns < 0) break;
    }
    return (size_t)(at - text);
}

// The text, or its beginning with a mark that something is missing; free it.
static char *lines_cut(const char *text, int columns)
{
    if (columns <= 0) return memory_strdup("");
    if (text_columns(text) <= columns) return memory_strdup(text);
    char *begin = memory_strndup(text, lines_fitting(text, columns - 1));
    char *whole = memory_format("%s%s", begin, terminal_utf8() ? "\u2026" : "~");
    free(begin);
    return whole;
}

void lines_begin(lines *l)
{
    arrput(l->items, (line){0});
}

void lines_add(lines *l, style s, const char *text)
{
    line *x = &arrlast(l->items);
    char *kept = l->width ? lines_cut(text, l->width - x->width) : memory_strdup(text);
    arrput(x->spans, ((span){kept, s}));
    x->width += text_columns(kept);
}

void lines_printf(lines *l, style s, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0) memory_exhausted();
    va_end(arguments);
    lines_add(l, s, text);
    free(text);
}

void lines_blank(lines *l, int columns)
{
    if (columns > 0) lines_printf(l, NORMAL, "%*s", columns, "");
}

void lines_cell(lines *l, style s, int columns, bool right, const char *text)
{
    char *kept = lines_cut(text, columns);
    int rest = columns - text_columns(kept);
    if (right) lines_blank(l, rest);
    lines_add(l, s, kept);
    if (!right) lines_blank(l, rest);
    free(kept);
}

void lines_bar(lines *l, style s, int columns, double share)
{
    static const char *const eighths[] = {"", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b", "\u258a", "\u2589"};
    if (columns < 3) return;
    int room = columns - 2, steps = terminal_utf8() ? 8 : 1;
    char bar[512] = "";
    if (room > 100) room = 100;
    int filled = isnan(share) ? 0 : (int)lround(fmin(fmax(share, 0), 1) * room * steps);
    if (!filled && share > 0) filled = 1; // a little is not nothing
    for (int i = 0; i < filled / steps; i++)
        strcat(bar, terminal_utf8() ? "\u2588" : "#");
    if (terminal_utf8()) strcat(bar, eighths[filled % steps]);
    int blanks = room - (filled + steps - 1) / steps;
    lines_add(l, FAINT, "[");
    lines_add(l, s, bar);
    lines_blank(l, blanks);
    lines_add(l, FAINT, "]");
}

const char *lines_block(double share)
{
    static const char *const blocks[] = {"\u2581", "\u2582", "\u2583", "\u2584",
                                         "\u2585", "\u2586", "\u2587", "\u2588"},
                             *const letters[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
    if (isnan(share)) return " ";
    return (terminal_utf8() ? blocks : letters)[lround(fmin(fmax(share, 0), 1) * 7)];
}

void lines_free(lines *l)
{
    for (size_t i = 0; i < arrlenu(l->items); i++) {
        for (size_t k = 0; k < arrlenu(l->items[i].spans); k++)
            free(l->items[i].spans[k].text);
        arrfree(l->items[i].spans);
    }
    arrfree(l->items);
    *l = (lines){.width = l->width};
}
