/* The command lines of every command: the first byte chooses it, then its arguments, each ended by a zero byte. They are
   parsed, or refused as wrong usage; nothing is run. */
#include "expect.h"
#include "analysis/base/stb_ds.h"
#include "cli/fail_on.h"
#include "cli/options.h"
#include "commands/commands.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ARGUMENTS = 24 };

#define OPTIONS_ADDRESS(name) &command_##name,
static const command *const all[] = {COMMANDS(OPTIONS_ADDRESS)};

/* libpopt itself keeps a copy of an option's argument now and then; a program parses its options once.
   Its library is named as well: without a symbolizer functions have no names. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:poptGetNextOpt\nleak:libpopt.so\n";
}

static size_t parsed, printed;

/* Stands in for output_close(), which closes the standard output for good: after a help text. */
int __wrap_output_close(void);
int __wrap_output_close(void)
{
    printed++;
    return EXIT_DONE;
}

static int count_them(const char **arguments, size_t count)
{
    for (size_t i = 0; i < count; i++)
        expect(arguments[i] != NULL);
    expect(arguments[count] == NULL);
    parsed++;
    return EXIT_DONE;
}

/* What values of options are made of. */
static void check_values(const char *text)
{
    fail_on x;
    int64_t ns = -1;
    double value = strtod(text, NULL);
    if (parse_duration(text, &ns)) expect(ns >= 1000 && value > 0 && (double)ns >= value * 999 - 1);
    if (fail_on_parse(&x, text)) expect(x.limit >= SEVERITY_WATCH || strstr(text, "info") || strstr(text, "ok"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *arguments[ARGUMENTS + 2] = {"netprof"};
    int count = 1;
    if (size < 2) return 0;
    command c = *all[data[0] % (sizeof all / sizeof *all)];
    char *text = memory_strndup((const char *)data + 1, 0);
    text = memory_realloc(text, size);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    for (size_t at = 0; at < size - 1 && count <= ARGUMENTS; at += strlen(text + at) + 1)
        arguments[count++] = text + at;
    arguments[count] = NULL;
    for (int i = 1; i < count; i++)
        check_values(arguments[i]);
    c.run = count_them;
    parsed = printed = 0;
    int code = command_execute(&c, count, arguments);
    // A failure is printed as JSON, too, where --json was wanted, in this input or one before.
    expect(code == EXIT_DONE ? parsed + printed == 1 : code == EXIT_USAGE && parsed == 0);
    free(text);
    return 0;
}
