#define _GNU_SOURCE // wcwidth
#include "output.h"

#include "analysis/base/output_file.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/utf8.h"
#include "analysis/base/csv.h"

#include <errno.h>
#include <fcntl.h>
#include <libsmartcols.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

// A standard stream that is closed would be taken by the next file that is opened. A placeholder that refuses to be
// used holds its number; programs that are started do not inherit it.
static void output_hold_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) >= 0) continue;
        int got = open("/dev/null", (fd == 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
        if (got >= 0 && got != fd) close(got);
    }
}

void output_init(void)
{
    output_hold_standard_streams();
    output_file_signals();
    setlocale(LC_CTYPE, ""); // nothing else: numbers keep their point
}

int output_close(void)
{
    bool failed = ferror(stdout) != 0, pending = __fpending(stdout) != 0;
    errno = 0;
    // A standard output that was closed from the beginning matters only to those who print.
    if (fclose(stdout) && (pending || errno != EBADF)) failed = true;
    int error = errno;
    if (!failed) return EXIT_DONE;
    warn("standard output: %s", error ? strerror(error) : "write failed");
    return EXIT_FILE;
}

bool output_colour(FILE *to)
{
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(fileno(to)) && !(no && *no) && terminal && strcmp(terminal, "dumb") != 0;
}

// ---- tables ----

typedef struct cell {
    size_t text, length; // offset and length in the table's text
    colour colour;
} cell;

// Cells line after line.
struct table {
    const column *columns;
    size_t count;
    bool *used;  // by column
    cell *cells; // arrays of stb_ds
    char *text;  // of all cells, each ends with a NUL
};

table *table_begin(const column *columns, size_t count)
{
    table *t = memory_calloc(1, sizeof *t);
    t->columns = columns;
    t->count = count;
    t->used = memory_calloc(count + 1, sizeof *t->used);
    return t;
}

static const char *colour_sequence(colour c)
{
    static const char *const sequences[] = {NULL, "\033[2m", "\033[1m", "\033[33m", "\033[31m"};
    return sequences[c];
}

void table_cell(table *t, colour c, const char *text)
{
    text = text ? safe(text) : "";
    size_t length = strlen(text);
    if (length) t->used[arrlenu(t->cells) % t->count] = true;
    arrput(t->cells, ((cell){arrlenu(t->text), length, c}));
    memcpy(arraddnptr(t->text, length + 1), text, length + 1);
}

void table_printf(table *t, colour c, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    table_cell(t, c, text);
}

size_t table_lines(const table *t)
{
    return (arrlenu(t->cells) + t->count - 1) / t->count;
}

static bool table_is_hidden(const table *t, size_t i)
{
    return !t->used[i] && t->columns[i].flags & COLUMN_LEAN;
}

// ---- on a terminal: folded to its width, in colour ----

static void table_add_columns(const table *t, struct libscols_table *to)
{
    int termforce = SCOLS_TERMFORCE_NEVER; // a narrow terminal never costs a column, but text may be folded
    scols_table_enable_noencoding(to, 1);  // the cells are safe already
    scols_table_set_column_separator(to, "  ");
    for (size_t i = 0; i < t->count; i++) {
        unsigned wanted = t->columns[i].flags;
        int flags = wanted & COLUMN_RIGHT ? SCOLS_FL_RIGHT : wanted & COLUMN_WRAP ? SCOLS_FL_WRAP : 0;
        memory_check(
            scols_table_new_column(to, t->columns[i].title, 0, table_is_hidden(t, i) ? SCOLS_FL_HIDDEN : flags));
        if (wanted & COLUMN_WRAP) termforce = SCOLS_TERMFORCE_ALWAYS;
    }
    scols_table_set_termforce(to, termforce);
}

static void table_add_cells(const table *t, struct libscols_table *to)
{
    struct libscols_line *line = NULL;
    for (size_t i = 0; i < arrlenu(t->cells); i++) {
        const cell *c = &t->cells[i];
        if (i % t->count == 0) line = memory_check(scols_table_new_line(to, NULL));
        if (!c->length) continue;
        if (scols_line_set_data(line, i % t->count, t->text + c->text)) memory_exhausted();
        if (c->colour) scols_cell_set_color(scols_line_get_cell(line, i % t->count), colour_sequence(c->colour));
    }
}

// Lines as the library made them, without the blanks that it leaves at their ends.
static void table_print_indented(FILE *to, const char *text, int indent)
{
    while (*text) {
        size_t length = strcspn(text, "\n"), shown = length;
        while (shown && text[shown - 1] == ' ')
            shown--;
        fprintf(to, "%*s%.*s\n", indent, "", (int)shown, text);
        text += length + (text[length] == '\n');
    }
}

static void table_print_on_terminal(const table *t, FILE *to, int indent)
{
    char *text = NULL;
    struct libscols_table *lines = memory_check(scols_new_table());
    table_add_columns(t, lines);
    table_add_cells(t, lines);
    scols_table_enable_colors(lines, output_colour(to));
    if (scols_print_table_to_string(lines, &text)) memory_exhausted();
    table_print_indented(to, text, indent);
    free(text);
    scols_unref_table(lines);
}

// ---- elsewhere: every column as wide as its widest cell, no colours (the library takes ten times as long) ----

// The number of terminal columns that the text takes.
static size_t table_text_width(const char *text, size_t length)
{
    size_t width = 0;
    for (size_t i = 0; i < length;) {
        uint32_t code = 0;
        size_t bytes = utf8_character(text + i, &code);
        int columns = bytes > 1 ? wcwidth((wchar_t)code) : 1;
        width += columns < 0 ? 1 : (size_t)columns;
        i += bytes ? bytes : 1;
    }
    return width;
}

static void table_blanks(FILE *to, size_t count)
{
    while (count--)
        putc_unlocked(' ', to);
}

// Prints one line; blanks are written only once something follows, so that no line ends with blanks.
static void table_print_line(const table *t, FILE *to, int indent, const cell *cells, const size_t *widths)
{
    size_t owed = (size_t)indent;
    for (size_t i = 0; i < t->count; i++) {
        if (table_is_hidden(t, i)) continue;
        const char *text = cells ? t->text + cells[i].text : t->columns[i].title;
        size_t length = cells ? cells[i].length : strlen(text), rest = widths[i] - table_text_width(text, length);
        bool right = t->columns[i].flags & COLUMN_RIGHT;
        if (length) {
            table_blanks(to, owed + (right ? rest : 0));
            fwrite(text, 1, length, to);
            owed = right ? 0 : rest;
        } else {
            owed += rest;
        }
        owed += 2;
    }
    putc_unlocked('\n', to);
}

static void table_print_plainly(const table *t, FILE *to, int indent)
{
    size_t *widths = memory_calloc(t->count, sizeof *widths);
    for (size_t i = 0; i < t->count; i++)
        widths[i] = table_text_width(t->columns[i].title, strlen(t->columns[i].title));
    for (size_t i = 0; i < arrlenu(t->cells); i++) {
        size_t width = table_text_width(t->text + t->cells[i].text, t->cells[i].length);
        if (width > widths[i % t->count]) widths[i % t->count] = width;
    }
    table_print_line(t, to, indent, NULL, widths);
    for (size_t i = 0; i < arrlenu(t->cells); i += t->count)
        table_print_line(t, to, indent, &t->cells[i], widths);
    free(widths);
}

void table_end(table *t, FILE *to, int indent)
{
    while (arrlenu(t->cells) % t->count)
        table_cell(t, PLAIN, NULL); // a line that was not finished
    if (arrlenu(t->cells) && isatty(fileno(to)))
        table_print_on_terminal(t, to, indent);
    else if (arrlenu(t->cells))
        table_print_plainly(t, to, indent);
    arrfree(t->cells);
    arrfree(t->text);
    free(t->used);
    free(t);
}

void heading(FILE *to, const char *format, ...)
{
    static FILE *begun;
    va_list arguments;
    bool coloured = output_colour(to);
    va_start(arguments, format);
    fputs(begun == to ? "\n" : "", to);
    begun = to;
    fputs(coloured ? colour_sequence(BOLD) : "", to);
    vfprintf(to, format, arguments);
    fputs(coloured ? "\033[0m\n" : "\n", to);
    va_end(arguments);
}

// ---- JSON ----

json_object *json_document(const char *kind)
{
    json_object *o = json_new_object();
    char format[64];
    snprintf(format, sizeof format, "netprof-%s", kind);
    json_put_text(o, "format", format);
    json_put(o, "version", json_new_int(2));
    return o;
}

void json_print(FILE *to, json_object *o)
{
    int flags = JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE;
    fputs(json_to_text(o, flags), to);
    putc('\n', to);
    json_object_put(o);
}

// ---- CSV ----

static bool csv_inside; // a line has begun

void csv_cell(FILE *to, const char *text)
{
    if (csv_inside) putc(',', to);
    csv_inside = true;
    if (!text) return;
    csv_text(put_to_file, to, text, true);
}

void csv_printf(FILE *to, const char *format, ...)
{
    char text[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    csv_cell(to, text);
}

void csv_end(FILE *to)
{
    fputs("\r\n", to);
    csv_inside = false;
}

void csv_line(FILE *to, const char *const *cells, size_t count)
{
    for (size_t i = 0; i < count; i++)
        csv_cell(to, cells[i]);
    csv_end(to);
}
