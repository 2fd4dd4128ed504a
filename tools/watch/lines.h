// Lines of styled text: what the screen draws and the plain text prints.
#ifndef WATCH_LINES_H
#define WATCH_LINES_H

#include "analysis/base/stb_ds.h"
#include "cli/common.h"

#include <stddef.h>

typedef enum style { NORMAL = 0, FAINT, STRONG, TITLE, CAUTION, DANGER, STYLES } style;

typedef struct span {
    char *text;
    style style;
} span;

typedef struct line {
    span *spans; // an array of stb_ds, as lines.items
    int width;   // columns
} line;

// Start from {0} and a width; lines_free() at the end.
typedef struct lines {
    line *items;
    int width; // columns that a line has; longer ones are cut. 0: any number
} lines;

void lines_begin(lines *l); // a new line
// Appends text that is already safe to the last line; if it does not fit it is cut, with a mark.
void lines_add(lines *l, style s, const char *text);
void lines_printf(lines *l, style s, const char *format, ...) PRINTF_LIKE(3, 4);
// In so many columns, filled up with blanks: at the left of them or, with right, at their right end.
void lines_cell(lines *l, style s, int columns, bool right, const char *text);
// A bar of so many columns, full at 1; a bar of blanks for what is not known (NAN).
void lines_bar(lines *l, style s, int columns, double share);
// A character that is as high as the share: one of eight, also of letters.
const char *lines_block(double share);
void lines_blank(lines *l, int columns);
void lines_free(lines *l);

int text_columns(const char *text);

#endif
