#define _GNU_SOURCE // fopencookie, wcwidth
#include "fold.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/utf8.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

enum { UNIT_MOST = 8, HEAD_MOST = 14 }; // a longer word is no unit; a longer start of a line is no head of its own

// ---- words ----

// Bytes of a sequence that paints, "ESC [ 31 m", or 0.
static size_t fold_paint(const char *text, size_t bytes)
{
    size_t n = 2;
    if (bytes < 3 || text[0] != '\033' || text[1] != '[') return 0;
    while (n < bytes && text[n] != 'm')
        n++;
    return n < bytes ? n + 1 : 0;
}

size_t fold_columns(const char *text, size_t bytes)
{
    size_t columns = 0;
    for (size_t i = 0; i < bytes;) {
        uint32_t code = 0;
        size_t paint = fold_paint(text + i, bytes - i), length = paint ? paint : utf8_character(text + i, &code);
        int wide = paint ? 0 : length > 1 ? wcwidth((wchar_t)code) : 1;
        columns += wide < 0 ? 1 : (size_t)wide;
        i += length ? length : 1;
    }
    return columns;
}

size_t fold_word(const char *text)
{
    size_t length = strcspn(text, " ");
    bool number = length && text[length - 1] >= '0' && text[length - 1] <= '9' && text[length];
    size_t unit = number ? strcspn(text + length + 1, " ") : 0;
    return unit && unit <= UNIT_MOST ? length + 1 + unit : length;
}

void fold_text(FILE *to, const char *text, size_t at, size_t indent, size_t width)
{
    for (bool first = true; *text; first = false) {
        size_t gap = strspn(text, " "), bytes = fold_word(text + gap), wide = fold_columns(text + gap, bytes);
        if (!bytes) return;
        if (!first && at + gap + wide > width) {
            fprintf(to, "\n%*s", (int)indent, "");
            at = indent;
        } else {
            fprintf(to, "%*s", (int)gap, "");
            at += gap;
        }
        fwrite(text + gap, 1, bytes, to);
        at += wide;
        text += gap + bytes;
    }
}

// ---- streams ----

typedef struct fold_filter {
    FILE *stream, *real;
    char *line; // what came of the line that has no end yet: an array of stb_ds
} fold_filter;

static fold_filter *filters[2]; // of the standard output and the standard error
static bool whole;

static const fold_filter *fold_filter_of(FILE *to)
{
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
        if (filters[i] && filters[i]->stream == to) return filters[i];
    return NULL;
}

int fold_descriptor(FILE *to)
{
    const fold_filter *f = fold_filter_of(to);
    return fileno(f ? f->real : to);
}

size_t fold_width(FILE *to)
{
    enum { USUAL = 80 };
    struct winsize size = {0};
    int fd = fold_descriptor(to);
    if (fd < 0 || !isatty(fd)) return 0;
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col) return size.ws_col;
    const char *columns = getenv("COLUMNS");
    long asked = columns ? strtol(columns, NULL, 10) : 0;
    return asked > 0 && asked < 10000 ? (size_t)asked : USUAL;
}

// Where further lines begin: below what follows a short head, "high      claim", else a little to the right.
static size_t fold_hang(const char *line, size_t width)
{
    size_t lead = strspn(line, " "), indent = lead + 2;
    const char *gap = strstr(line + lead, "  ");
    if (gap && fold_columns(line, (size_t)(gap - line)) <= HEAD_MOST) {
        size_t bytes = (size_t)(gap - line) + strspn(gap, " ");
        if (line[bytes]) indent = fold_columns(line, bytes);
    }
    return indent <= width / 2 ? indent : 2;
}

static void fold_line(FILE *to, const char *line, size_t width)
{
    if (whole || !width || fold_columns(line, strlen(line)) <= width || strchr(line, '\r'))
        fputs(line, to);
    else
        fold_text(to, line, 0, fold_hang(line, width), width);
}

static ssize_t fold_write(void *cookie, const char *text, size_t size)
{
    fold_filter *f = cookie;
    size_t width = fold_width(f->real);
    for (size_t i = 0; i < size; i++) {
        if (text[i] != '\n') {
            arrput(f->line, text[i]);
            continue;
        }
        arrput(f->line, '\0');
        fold_line(f->real, f->line, width);
        putc('\n', f->real);
        arrsetlen(f->line, 0);
    }
    return fflush(f->real) || ferror(f->real) ? 0 : (ssize_t)size;
}

static int fold_close(void *cookie)
{
    fold_filter *f = cookie;
    int bad = 0;
    if (arrlenu(f->line)) {
        arrput(f->line, '\0');
        fold_line(f->real, f->line, fold_width(f->real));
    }
    bad = fflush(f->real);
    arrfree(f->line);
    f->stream = NULL;
    return bad ? EOF : 0;
}

FILE *fold_stream(FILE *to)
{
    const int fd = fold_descriptor(to);
    if (fold_filter_of(to) || !fold_width(to) || (fd != STDOUT_FILENO && fd != STDERR_FILENO)) return to;
    fold_filter **slot = &filters[fd == STDERR_FILENO];
    if (*slot && (*slot)->stream) return (*slot)->stream;
    if (!*slot) *slot = memory_calloc(1, sizeof **slot);
    (*slot)->real = to;
    (*slot)->stream = fopencookie(*slot, "w", (cookie_io_functions_t){.write = fold_write, .close = fold_close});
    if (!(*slot)->stream) return to;
    setvbuf((*slot)->stream, NULL, _IOLBF, BUFSIZ);
    return (*slot)->stream;
}

#ifdef __GLIBC__
void fold_standard_output(void)
{
    stdout = fold_stream(stdout);
}
#else
#undef stdout // the C library's own

static FILE *fold_shown;

FILE *fold_output(void)
{
    return fold_shown ? fold_shown : stdout;
}

void fold_standard_output(void)
{
    fold_shown = fold_stream(stdout);
}
#endif

void fold_nothing(void)
{
    whole = true;
}
