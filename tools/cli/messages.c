#define _GNU_SOURCE // vasprintf
#include "messages.h"

#include "terminal_text.h"
#include "analysis/base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *message_name; // of the sub-command
static const int *message_json;
static message_json_printer message_print_json;
static bool progress_shown;

void message_command(const char *name, const int *json, message_json_printer print)
{
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

static int message_failure(int code, const char *text)
{
    const int *json = message_json;
    message_write(text);
    message_json = NULL; // one document, even when writing it fails
    if (json && *json) message_print_json(message_name, text, code);
    return code;
}

int fail(int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = message_format(format, arguments);
    va_end(arguments);
    message_failure(code, text);
    free(text);
    return code;
}

int fail_usage(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = message_format(format, arguments);
    va_end(arguments);
    message_failure(EXIT_USAGE, text);
    free(text);
    fprintf(stderr, "Try '%s --help'.\n", message_program());
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
    if (error->offset && !error->sys_errno && strncmp(error->text, "line ", 5) != 0)
        return fail(code, "%s: %s %llu: %s", safe(path), error->code == NETPROF_ERR_PARSE ? "line" : "byte",
                    (unsigned long long)error->offset, error_text(error));
    return fail(code, "%s: %s", safe(path), error_text(error));
}
