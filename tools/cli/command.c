#include "command.h"
#include "fold.h"

#include "options.h"
#include "output.h"
#include "analysis/base/readable.h"
#include "analysis/base/stb_ds.h"

#include <stdlib.h>
#include <string.h>

// ---- help ----

static void command_print_usage(const command *c, FILE *to)
{
    const char *line = c->arguments, *before = "usage:";
    for (;;) {
        size_t length = strcspn(line, "\n");
        fprintf(to, "%s netprof %s [OPTION...] %.*s\n", before, c->name, (int)length, line);
        if (!line[length]) return;
        line += length + 1;
        before = "      ";
    }
}

static void command_print_examples(FILE *to, const char *examples)
{
    fputs("\nExamples:\n", to);
    while (*examples) {
        size_t length = strcspn(examples, "\n");
        fprintf(to, "  %.*s\n", (int)length, examples);
        examples += length + (examples[length] == '\n');
    }
}

void command_help(const command *c, FILE *to)
{
    command_print_usage(c, to);
    fprintf(to, "\n%s\n\nOptions:\n", c->text);
    options_print(c->options, to);
    fprintf(to, "  %-*s this text\n", OPTION_COLUMN, "-h, --help");
    command_print_examples(to, c->examples);
    if (c->exits) fprintf(to, "\nExit codes: %s\n", c->exits);
}

// ---- running ----

static FILE *command_json_stream;

// {"format":"netprof-error",...}, the only document where the command's own would be.
static void command_print_failure(const char *name, const char *text, const message_place *place, int code)
{
    json_object *o = json_document("error");
    json_put_text(o, "subcommand", name);
    json_put_text(o, "text", text);
    json_put_text(o, "file", place->file);
    if (place->line) json_put_exact(o, "line", place->line);
    if (place->byte) json_put_exact(o, "byte", place->byte);
    json_put(o, "exit_code", json_new_int64(code));
    json_print(command_json_stream, o);
    if (command_json_stream == stdout) output_close();
}

void command_failure_json(const char *name, const char *text, int code)
{
    command_json_stream = stdout;
    command_print_failure(name, text, &(message_place){.file = NULL}, code);
}

static bool command_asks_json(const command *c, const char *word, const char *next)
{
    size_t n = c->json_option ? strlen(c->json_option) : 0;
    if (!n) return strcmp(word, "--json") == 0;
    if (strncmp(word, c->json_option, n) != 0) return false;
    return word[n] == '=' ? strcmp(word + n + 1, "json") == 0 : !word[n] && next && strcmp(next, "json") == 0;
}

// Whether JSON is asked for, told before the options are parsed: a wrong one among them is an error like all.
static bool command_wants_json(const command *c, int argc, const char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (command_asks_json(c, argv[i], i + 1 < argc ? argv[i + 1] : NULL)) return true;
        if (c->popt_flags & POPT_CONTEXT_POSIXMEHARDER && *argv[i] != '-') return false;
    }
    return false;
}

static bool command_parsing; // popt is at work

// popt ends the program itself when its small texts find no memory, with words and a status of its own.
static void command_at_exit(void)
{
    if (command_parsing) memory_exhausted();
}

static int command_wrong_option(const command *c, poptContext context, int result)
{
    const char *option = poptBadOption(context, POPT_BADOPTION_NOALIAS);
    return fail_usage("%s: %s%s", safe(option), poptStrerror(result),
                      result == POPT_ERROR_BADOPT ? options_hint(c->options, option) : "");
}

// Parses one part of the command line and appends arguments to the words. Returns an exit code after saying what is
// wrong; *help_wanted when --help was among the options.
static int command_parse_part(const command *c, int argc, const char **argv, const char ***words, bool *help_wanted)
{
    static int help_option;
    const struct poptOption wanted[] = {
        {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(uintptr_t)c->options, 0, NULL, NULL},
        {"help", 'h', POPT_ARG_NONE, &help_option, 0, NULL, NULL},
        POPT_TABLEEND,
    };
    command_parsing = true;
    poptContext context = memory_check(poptGetContext("netprof", argc, argv, wanted, c->popt_flags));
    int result = poptGetNextOpt(context), code = EXIT_DONE;
    command_parsing = false;
    // popt calls a value that it could not copy a NULL argument
    if (result == POPT_ERROR_MALLOC || result == POPT_ERROR_NULLARG) memory_exhausted();
    const char **arguments = result < -1 ? NULL : poptGetArgs(context);
    *help_wanted |= help_option != 0;
    if (result < -1 && !help_option) code = command_wrong_option(c, context, result);
    for (size_t i = 0; arguments && arguments[i]; i++)
        arrput(*words, memory_strdup(arguments[i]));
    poptFreeContext(context);
    return code;
}

// Index of the "--" between two kinds of arguments; argc without one, or if the command takes none.
static int command_dashes(const command *c, int argc, const char **argv)
{
    int i = 1;
    while (i < argc && (!c->before_dashes || strcmp(argv[i], "--") != 0))
        i++;
    return i < argc ? i : argc;
}

static void command_waits(const char *path, int begins)
{
    if (begins)
        progress("waiting for a writer of %s", safe(path));
    else
        progress_end();
}

int command_execute(const command *c, int argc, const char **argv)
{
    bool help_wanted = false;
    readable_on_wait(command_waits);
    atexit(command_at_exit);
    const char **words = NULL; // an array of stb_ds
    int first = command_dashes(c, argc, argv);
    const int wanted = command_wants_json(c, argc, argv);
    command_json_stream = c->json_on_stderr ? stderr : stdout;
    message_command(c->name, c->json ? &wanted : NULL, c->json_on_stderr, command_print_failure);
    int code = command_parse_part(c, first, argv, &words, &help_wanted);
    message_command(c->name, code ? NULL : c->json, c->json_on_stderr, command_print_failure);
    if (c->before_dashes) *c->before_dashes = first < argc ? arrlenu(words) : (size_t)-1;
    // Options may follow "--" as well: argv[first] takes the place of the program's name.
    if (!code && first < argc) code = command_parse_part(c, argc - first, argv + first, &words, &help_wanted);
    size_t count = arrlenu(words);
    arrput(words, NULL);
    if (help_wanted) {
        command_help(c, stdout);
        code = output_close();
    } else if (!code) {
        if (c->json && *c->json) json_begin();
        if (!c->draws && !(c->json && *c->json)) fold_standard_output();
        code = c->run(words, count);
    }
    for (size_t i = 0; i < count; i++)
        free((char *)(uintptr_t)words[i]);
    arrfree(words);
    options_free(c->options);
    return code;
}

void command_list_options(const command *c)
{
    char *names = c->source_names ? c->source_names() : NULL;
    options_list(c->options, names);
    free(names);
}

int command_program(const command *c, int argc, char **argv)
{
    output_init();
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("netprof-%s %s\n", c->name, netprof_version());
        return output_close();
    }
    if (argc == 2 && strcmp(argv[1], "--list-options") == 0) {
        command_list_options(c);
        return output_close();
    }
    return command_execute(c, argc, (const char **)(uintptr_t)argv);
}
