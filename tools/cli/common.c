#include "common.h"

#include "output.h"
#include "analysis/base/text.h"
#include "analysis/base/utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *current_command;
static const int *current_json;
static bool progress_shown;

void message_command(const char *name, const int *json)
{
    current_command = name;
    current_json = json;
}

static void message(const char *text)
{
    if (!ferror(stdout)) fflush(stdout); // what was printed before stands before
    progress_end();
    fprintf(stderr, "netprof%s%s: %s\n", current_command ? " " : "", current_command ? current_command : "", text);
}

static char *format_text(const char *format, va_list arguments)
{
    char *text = NULL;
    must(text_append(&text, format, arguments) ? text : NULL);
    return text;
}

char *text_format(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = format_text(format, arguments);
    va_end(arguments);
    return text;
}

void warn(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = format_text(format, arguments);
    va_end(arguments);
    message(text);
    free(text);
}

static int failed(int code, const char *text)
{
    message(text);
    if (current_json && *current_json) {
        json_object *o = json_document("error");
        json_text(o, "command", current_command);
        json_text(o, "message", text);
        json_object_object_add(o, "exit", json_object_new_int(code));
        current_json = NULL; // one document, even when writing it fails
        json_print(stdout, o);
        output_close();
    }
    return code;
}

int fail(int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = format_text(format, arguments);
    va_end(arguments);
    failed(code, text);
    free(text);
    return code;
}

int fail_usage(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = format_text(format, arguments);
    va_end(arguments);
    failed(EXIT_USAGE, text);
    free(text);
    fprintf(stderr, "Try 'netprof%s%s --help'.\n", current_command ? " " : "", current_command ? current_command : "");
    return EXIT_USAGE;
}

void progress(const char *format, ...)
{
    va_list arguments;
    if (!isatty(STDERR_FILENO)) return;
    progress_shown = true;
    fprintf(stderr, "\r\033[Knetprof%s%s: ", current_command ? " " : "", current_command ? current_command : "");
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fflush(stderr);
}

void progress_end(void)
{
    if (progress_shown) fputs("\r\033[K", stderr);
    progress_shown = false;
}

const char *error_text(const netprof_error *error)
{
    static char text[512];
    const char *what = *error->text ? error->text : netprof_strerror(error->code);
    if (error->sys_errno && !strstr(what, strerror(error->sys_errno)))
        snprintf(text, sizeof text, "%s: %s", safe(what), strerror(error->sys_errno));
    else
        snprintf(text, sizeof text, "%s", safe(what));
    return text;
}

int fail_error(const char *path, const netprof_error *error)
{
    int code = error->code == NETPROF_ERR_NOSOURCE ? EXIT_NOTHING
               : error->code == NETPROF_ERR_ARG    ? EXIT_USAGE
                                                   : EXIT_FILE;
    if (!path && *error->path) path = error->path;
    if (!path) return fail(code, "%s", error_text(error));
    if (error->offset && !error->sys_errno)
        return fail(code, "%s: %s %llu: %s", safe(path), error->code == NETPROF_ERR_PARSE ? "line" : "byte",
                    (unsigned long long)error->offset, error_text(error));
    return fail(code, "%s: %s", safe(path), error_text(error));
}

char *helper_program(const char *program)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n > 0) {
        self[n] = 0;
        *strrchr(self, '/') = 0;
        char *path = text_format("%s/%s", self, program);
        if (access(path, X_OK) == 0) return path;
        free(path);
    }
    return must(strdup(program));
}

void *must(void *pointer)
{
    if (pointer) return pointer;
    fputs("netprof: out of memory\n", stderr);
    exit(EXIT_FILE);
}

// Characters that are invisible or change the order of others: a terminal shows something else than there is.
static bool deceives(uint32_t c)
{
    static const uint32_t ranges[][2] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},      {0x61c, 0x61c},
                                         {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},  {0xfe00, 0xfe0f},
                                         {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c >= ranges[i][0] && c <= ranges[i][1]) return true;
    return false;
}

// A ring of results, so that several may stand in one call of printf.
static char *ring_text(size_t size)
{
    static char *ring[16];
    static unsigned next;
    char **slot = &ring[next++ % 16];
    return *slot = must(realloc(*slot, size));
}

// Bytes at the start of the text that are plain ASCII.
static size_t plain_length(const char *text)
{
    size_t n = 0;
    while (text[n] >= ' ' && text[n] < 0x7f)
        n++;
    return n;
}

const char *safe(const char *text)
{
    size_t plain = plain_length(text);
    if (!text[plain]) return memcpy(ring_text(plain + 1), text, plain + 1);
    char *out = ring_text(strlen(text) * 10 + 1), *to = out;
    while (*text) {
        uint32_t code = 0;
        size_t length = utf8_character(text, &code);
        if (!length || (length == 1 && deceives(code)))
            to += sprintf(to, "\\x%02x", (unsigned)(unsigned char)*text);
        else if (deceives(code) || (length > 1 && !output_utf8()))
            to += sprintf(to, "\\u{%x}", (unsigned)code);
        else
            to = (char *)memcpy(to, text, length) + length;
        text += length ? length : 1;
    }
    *to = 0;
    return out;
}

const char *utf8(const char *text)
{
    char *out = ring_text(strlen(text) * 3 + 1), *to = out;
    while (*text) {
        size_t length;
        const char *character = utf8_next(&text, &length);
        to = (char *)memcpy(to, character, length) + length;
    }
    *to = 0;
    return out;
}

// Edit distance, at most 9; a swap of neighbours counts as one.
static unsigned distance(const char *a, const char *b)
{
    enum { MOST = 32 };
    unsigned rows[MOST + 1][MOST + 1];
    size_t m = strlen(a), n = strlen(b);
    if (m > MOST || n > MOST) return 9;
    for (size_t i = 0; i <= m; i++) {
        for (size_t j = 0; j <= n; j++) {
            unsigned best = (unsigned)(i ? j ? 9 : i : j);
            if (i && rows[i - 1][j] + 1 < best) best = rows[i - 1][j] + 1;
            if (j && rows[i][j - 1] + 1 < best) best = rows[i][j - 1] + 1;
            if (i && j && rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]) < best)
                best = rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && rows[i - 2][j - 2] + 1 < best)
                best = rows[i - 2][j - 2] + 1;
            rows[i][j] = best;
        }
    }
    return rows[m][n];
}

const char *nearest(const char *word, const char *const *words)
{
    const char *found = NULL;
    unsigned least = strlen(word) < 4 ? 2 : 3; // fewer than so many edits
    for (; *words; words++) {
        unsigned d = distance(word, *words);
        if (d < least) {
            least = d;
            found = *words;
        }
    }
    return found;
}
