// Output of the commands: tables for people, JSON and CSV for programs. Every failure to write is noticed.
#ifndef TOOLS_OUTPUT_H
#define TOOLS_OUTPUT_H

#include "common.h"

#include "analysis/base/json_values.h"
#include "analysis/base/words.h"

#include "analysis/base/json.h"

void output_init(void); // locale
// Closes the standard output. Returns EXIT_DONE, or EXIT_FILE after saying that not everything could be written.
int output_close(void);
bool output_colour(FILE *to); // a terminal, and the user did not object (NO_COLOR)

// ---- tables ----

enum column_flag {
    COLUMN_RIGHT = 1, // numbers
    COLUMN_WRAP = 2,  // long text: the first to be folded where a terminal is narrow
    COLUMN_LEAN = 4   // left out when all its cells are empty
};

typedef struct column {
    const char *title;
    unsigned flags;
} column;

typedef enum colour { PLAIN = 0, DIM, BOLD, WARNING, ALARM } colour;

typedef struct table table;

table *table_begin(const column *columns, size_t count);
// The next cell of the current line; the text is made safe here. NULL is an empty cell.
void table_cell(table *t, colour c, const char *text);
void table_printf(table *t, colour c, const char *format, ...) PRINTF_LIKE(3, 4);
// Prints (nothing, when there is no line) indented by so many blanks, and frees. On a terminal that is too narrow texts are
// folded at blanks, then columns go on below, on further lines of their row; numbers and words are never cut.
void table_end(table *t, FILE *to, int indent);
size_t table_lines(const table *t);

// A heading above a table; an empty line before it unless it is the first of its stream.
void heading(FILE *to, const char *format, ...) PRINTF_LIKE(2, 3);

// ---- JSON ----

json_object *json_document(const char *kind); // {"format":"netprof-KIND","version":1}
void json_print(FILE *to, json_object *o);    // frees it

// ---- CSV: lines of the cells of analysis/base/csv.h, guarded ----

void csv_cell(FILE *to, const char *text); // NULL is an empty cell
void csv_printf(FILE *to, const char *format, ...) PRINTF_LIKE(2, 3);
void csv_end(FILE *to);
void csv_line(FILE *to, const char *const *cells, size_t count);

#endif
