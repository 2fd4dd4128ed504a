#include "output.h"
#include "fold.h"

#include "analysis/base/output_file.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/csv.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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
    int fd = fold_descriptor(to);
    return fd >= 0 && isatty(fd) && !(no && *no) && terminal && strcmp(terminal, "dumb") != 0;
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

// ---- how wide the columns are, and on which line of a row they stand ----

enum { GAP = 2, DEEPER = 4, LEAST_WRAPPED = 16 }; // between columns; further lines of a row; of a folded text

typedef struct table_layout {
    size_t *widths, *lines; // by column: its width, and the line of a row that it is on
    size_t line_count;
    bool painted;
} table_layout;

static size_t table_longest_word(const char *text)
{
    size_t most = 0, lead = strspn(text, " ");
    for (text += lead; *text;) {
        size_t bytes = fold_word(text), wide = fold_columns(text, bytes) + lead;
        if (wide > most) most = wide;
        text += bytes;
        text += strspn(text, " ");
    }
    return most;
}

static void table_measure(const table *t, size_t *widths, size_t (*of)(const char *text))
{
    for (size_t i = 0; i < t->count; i++)
        widths[i] = of(t->columns[i].title);
    for (size_t i = 0; i < arrlenu(t->cells); i++) {
        size_t width = of(t->text + t->cells[i].text);
        if (width > widths[i % t->count]) widths[i % t->count] = width;
    }
}

static size_t table_whole_width(const char *text)
{
    return fold_columns(text, strlen(text));
}

static size_t table_total(const table *t, const size_t *widths)
{
    size_t total = 0;
    for (size_t i = 0; i < t->count; i++)
        if (!table_is_hidden(t, i)) total += widths[i] + (total ? GAP : 0);
    return total;
}

// Takes from the widest column that may be folded until all fit the room: those for long texts, or with `texts` every one
// that holds no numbers.
static bool table_narrow(const table *t, size_t *widths, const size_t *least, bool texts, size_t room)
{
    while (table_total(t, widths) > room) {
        size_t widest = t->count;
        for (size_t i = 0; i < t->count; i++) {
            unsigned flags = t->columns[i].flags;
            size_t floor = least[i] > LEAST_WRAPPED || texts ? least[i] : LEAST_WRAPPED;
            if (table_is_hidden(t, i) || flags & COLUMN_RIGHT || !(texts || flags & COLUMN_WRAP)) continue;
            if (widths[i] > floor && (widest == t->count || widths[i] > widths[widest])) widest = i;
        }
        if (widest == t->count) return false;
        widths[widest]--;
    }
    return true;
}

// Where not even folded texts make room: columns continue on further lines of the row, as many on each as fit.
static void table_break_rows(const table *t, table_layout *l, size_t room)
{
    size_t used = 0;
    for (size_t i = 0; i < t->count; i++) {
        if (table_is_hidden(t, i)) continue;
        size_t left = l->line_count > 1 && room > DEEPER ? room - DEEPER : room;
        if (used && used + GAP + l->widths[i] > left) {
            l->line_count++;
            used = 0;
            left = room > DEEPER ? room - DEEPER : room;
        }
        if (l->widths[i] > left && !(t->columns[i].flags & COLUMN_RIGHT)) l->widths[i] = left;
        used += (used ? GAP : 0) + l->widths[i];
        l->lines[i] = l->line_count - 1;
    }
}

// For so much room; 0: any.
static table_layout table_lay_out(const table *t, size_t room)
{
    table_layout l = {memory_calloc(t->count, sizeof *l.widths), memory_calloc(t->count, sizeof *l.lines), 1, false};
    table_measure(t, l.widths, table_whole_width);
    if (!room || table_total(t, l.widths) <= room) return l;
    size_t *least = memory_calloc(t->count, sizeof *least), *natural = memory_calloc(t->count, sizeof *natural);
    memcpy(natural, l.widths, t->count * sizeof *natural);
    table_measure(t, least, table_longest_word);
    if (!table_narrow(t, l.widths, least, false, room) && !table_narrow(t, l.widths, least, true, room)) {
        memcpy(l.widths, natural, t->count * sizeof *natural);
        table_break_rows(t, &l, room);
    }
    free(natural);
    free(least);
    return l;
}

// ---- rows ----

// What is left of a cell that is folded.
typedef struct table_rest {
    const char *text;
    size_t indent; // of its further lines: a text that is indented stays so
} table_rest;

static void table_blanks(FILE *to, size_t count)
{
    while (count--)
        putc_unlocked(' ', to);
}

// Bytes of the text that stand on one line of so many columns: one word at least.
static size_t table_fitting(const char *text, size_t width)
{
    size_t bytes = 0, all = strlen(text);
    if (fold_columns(text, all) <= width) return all;
    while (text[bytes]) {
        size_t next = bytes + strspn(text + bytes, " ");
        next += fold_word(text + next);
        if (bytes && fold_columns(text, next) > width) break;
        bytes = next;
    }
    return bytes;
}

// One line of the cells; false when there was nothing left of them. Blanks are written only once something follows, so
// that no line ends with blanks.
static bool table_print_cells(const table *t, FILE *to, const table_layout *l, size_t line, size_t indent,
                              const cell *cells, table_rest *rests)
{
    size_t owed = indent;
    bool any = false;
    for (size_t i = 0; i < t->count; i++) {
        if (table_is_hidden(t, i) || l->lines[i] != line) continue;
        bool right = t->columns[i].flags & COLUMN_RIGHT;
        size_t room = l->widths[i] > rests[i].indent ? l->widths[i] - rests[i].indent : 1;
        size_t bytes = right ? strlen(rests[i].text) : table_fitting(rests[i].text, room);
        size_t wide = fold_columns(rests[i].text, bytes) + rests[i].indent;
        size_t rest = l->widths[i] > wide ? l->widths[i] - wide : 0;
        if (bytes) {
            table_blanks(to, owed + rests[i].indent + (right ? rest : 0));
            bool painted = l->painted && cells && cells[i].colour;
            if (painted) fputs(colour_sequence(cells[i].colour), to);
            fwrite(rests[i].text, 1, bytes, to);
            if (painted) fputs("\033[0m", to);
            owed = right ? 0 : rest;
            any = true;
        } else {
            owed += l->widths[i];
        }
        owed += GAP;
        rests[i].text += bytes;
        rests[i].text += strspn(rests[i].text, " ");
    }
    if (any) putc_unlocked('\n', to);
    return any;
}

static bool table_is_left(const table *t, const table_layout *l, size_t line, const table_rest *rests)
{
    for (size_t i = 0; i < t->count; i++)
        if (!table_is_hidden(t, i) && l->lines[i] == line && *rests[i].text) return true;
    return false;
}

// A row, or without cells the titles.
static void table_print_row(const table *t, FILE *to, const table_layout *l, size_t indent, const cell *cells)
{
    table_rest *rests = memory_calloc(t->count, sizeof *rests);
    bool any = false;
    for (size_t i = 0; i < t->count; i++) {
        const char *text = cells ? t->text + cells[i].text : t->columns[i].title;
        size_t lead = t->columns[i].flags & COLUMN_RIGHT ? 0 : strspn(text, " ");
        rests[i] = (table_rest){text + lead, lead};
    }
    for (size_t line = 0; line < l->line_count; line++)
        while (table_is_left(t, l, line, rests))
            any |= table_print_cells(t, to, l, line, indent + (line ? DEEPER : 0), cells, rests);
    if (!any) putc_unlocked('\n', to);
    free(rests);
}

void table_end(table *t, FILE *to, int indent)
{
    while (arrlenu(t->cells) % t->count)
        table_cell(t, PLAIN, NULL); // a line that was not finished
    if (arrlenu(t->cells)) {
        size_t width = fold_width(to), before = (size_t)indent;
        table_layout l = table_lay_out(t, width > before ? width - before : width);
        l.painted = output_colour(to);
        table_print_row(t, to, &l, before, NULL);
        for (size_t i = 0; i < arrlenu(t->cells); i += t->count)
            table_print_row(t, to, &l, before, &t->cells[i]);
        free(l.widths);
        free(l.lines);
    }
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
    fold_nothing();
    int flags = JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE;
    fputs(json_to_text(o, flags), to);
    putc('\n', to);
    json_object_put(o);
}

// ---- CSV ----

static bool csv_inside; // a line has begun

void csv_cell(FILE *to, const char *text)
{
    fold_nothing();
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
