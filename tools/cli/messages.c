#define _GNU_SOURCE // vasprintf
#include "messages.h"

#include "fold.h"
#include "terminal_text.h"
#include "analysis/base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *message_name; // of the sub-command
static const int *message_json;
static bool message_json_on_stderr;
static message_json_printer message_print_json;
static bool progress_shown;
static struct {
    bool later;
    char *text, *file; // of the last failure; NULL: none
    message_place place;
    int code;
} message_kept;

void message_command(const char *name, const int *json, bool on_stderr, message_json_printer print)
{
    message_json_on_stderr = on_stderr;
    message_name = name;
    message_json = json;
    message_print_json = print;
}

// "netprof diff", the start of every message.
static const char *message_program(void)
{
    static char text[64];
    snprintf(text, sizeof text, "netprof%s%s", message_name ? " " : "", message_name ? message_name : "");
    return text;
}

static void message_write(const char *text)
{
    if (!ferror(stdout)) fflush(stdout); // keeps the order of what was printed and said
    progress_end();
    fprintf(stderr, "%s: %s\n", message_program(), text);
}

static char *message_format(const char *format, va_list arguments)
{
    char *text;
    if (vasprintf(&text, format, arguments) < 0) memory_exhausted();
    return text;
}

void warn(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = message_format(format, arguments);
    va_end(arguments);
    message_write(text);
    free(text);
}

static void message_keep(int code, const char *text, const message_place *place)
{
    free(message_kept.text);
    free(message_kept.file);
    message_kept.text = memory_strdup(text);
    message_kept.file = place->file ? memory_strdup(place->file) : NULL;
    message_kept.place = (message_place){message_kept.file, place->line, place->byte};
    message_kept.code = code;
}

void message_json_later(void)
{
    message_kept.later = true;
}

void message_json_now(void)
{
    message_kept.later = false;
    if (message_kept.text && message_json && *message_json)
        message_print_json(message_name, message_kept.text, &message_kept.place, message_kept.code);
    if (message_kept.text) message_json = NULL;
    free(message_kept.text);
    free(message_kept.file);
    message_kept.text = message_kept.file = NULL;
}

// Whether the text was said as well.
static bool message_failure(int code, const char *text, message_place place)
{
    const int *json = message_json;
    if (message_kept.later) {
        message_keep(code, text, &place);
        message_write(text);
        return true;
    }
    message_json = NULL; // one document, even when writing it fails
    if (json && *json && message_json_on_stderr) return message_print_json(message_name, text, &place, code), false;
    message_write(text);
    if (json && *json) message_print_json(message_name, text, &place, code);
    return true;
}

int fail(int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = message_format(format, arguments);
    va_end(arguments);
    message_failure(code, text, (message_place){0});
    free(text);
    return code;
}

static int message_failure_at(int code, message_place place, const char *format, va_list arguments)
{
    char *rest = message_format(format, arguments), *text;
    if (place.line || place.byte)
        text = memory_format("%s: %s %llu: %s", safe(place.file), place.line ? "line" : "byte",
                             (unsigned long long)(place.line ? place.line : place.byte), rest);
    else
        text = memory_format("%s: %s", safe(place.file), rest);
    message_failure(code, text, place);
    free(rest);
    free(text);
    return code;
}

int fail_at(int code, message_place place, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    message_failure_at(code, place, format, arguments);
    va_end(arguments);
    return code;
}

int fail_file(int code, const char *path, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    message_failure_at(code, (message_place){.file = path}, format, arguments);
    va_end(arguments);
    return code;
}

int fail_usage(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = message_format(format, arguments);
    va_end(arguments);
    bool said = message_failure(EXIT_USAGE, text, (message_place){0});
    free(text);
    if (said) fprintf(stderr, "Try '%s --help'.\n", message_program());
    return EXIT_USAGE;
}

void progress(const char *format, ...)
{
    va_list arguments;
    if (!isatty(STDERR_FILENO)) return;
    progress_shown = true;
    fprintf(stderr, "\r\033[K%s: ", message_program());
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
    if (error->code == NETPROF_ERR_NOMEM) return "out of memory";
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
    message_place place = {.file = path};
    if (error->offset && !error->sys_errno && strncmp(error->text, "line ", 5) != 0)
        *(error->code == NETPROF_ERR_PARSE ? &place.line : &place.byte) = error->offset;
    return fail_at(code, place, "%s", error_text(error));
}
