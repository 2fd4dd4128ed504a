// netprof: finds the sub-command, parses its options by its table, shows its help.
#include "commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/helper_program.h"
#include "cli/nearest.h"
#include "analysis/base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMAND_ADDRESS(name) &command_##name,
static const command *const commands[] = {COMMANDS(COMMAND_ADDRESS)};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

// Programs of their own, started as netprof NAME.
static const struct {
    const char *name, *summary, *needs;
} helpers[] = {
    {"report", "turn saved snapshots into a report: PDF, SVG, PNG, HTML", "it needs cairo, pango and librsvg"},
    {"watch", "show live what this node does, or a recording that grows", "it needs ncurses"},
    {"export", "tables and traces for other programs: CSV, JSON, SQLite, HDF5, Parquet, Perfetto",
     "it is part of the tools"},
    {"agent", "read this node for a head, losing nothing while it is away", "it is part of the tools"},
    {"head", "collect what the agents of many nodes read", "it needs libnats"},
    {"session", "name stretches of time of what a head collects; recordings and reports of them",
     "it is part of the tools"},
    {"web", "what a head knows, over HTTP: a live page, an API, Prometheus", "it needs libmicrohttpd"},
    {"forward", "send what a head collects to other programs: line protocol, Elasticsearch",
     "it is part of the tools"}};
enum { HELPER_COUNT = sizeof helpers / sizeof *helpers };

static const command *netprof_main_find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i]->name, name) == 0 || (commands[i]->alias && strcmp(commands[i]->alias, name) == 0))
            return commands[i];
    return NULL;
}

static const char *netprof_main_command_hint(const char *name)
{
    const char *names[2 * COMMAND_COUNT + HELPER_COUNT + 2] = {"help"};
    size_t n = 1;
    for (size_t i = 0; i < HELPER_COUNT; i++)
        names[n++] = helpers[i].name;
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        names[n++] = commands[i]->name;
        if (commands[i]->alias) names[n++] = commands[i]->alias;
    }
    return nearest_hint(name, names);
}

// As git does: netprof-NAME beside this program, else in PATH. Returns if there is none.
static void netprof_main_start_helper(const char *name, char **argv)
{
    if (name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_")]) return;
    char *program = memory_format("netprof-%s", name), *path = helper_program(program);
    argv[0] = program;
    execvp(path, argv);
    if (errno != ENOENT && errno != ENOTDIR) fail(EXIT_FILE, "%s: %s", program, strerror(errno));
    free(path);
    free(program);
}

// ---- help ----

static void netprof_main_print_help(FILE *to)
{
    fputs("usage: netprof COMMAND [OPTION...] [ARGUMENT...]\n"
          "\n"
          "Reads the network counters of this node and tells where communication time and bandwidth went.\n"
          "\n"
          "Commands:\n",
          to);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(to, "  %-10s %s%s%s%s\n", commands[i]->name, commands[i]->summary, commands[i]->alias ? " (also: " : "",
                commands[i]->alias ? commands[i]->alias : "", commands[i]->alias ? ")" : "");
    for (size_t i = 0; i < HELPER_COUNT; i++)
        fprintf(to, "  %-10s %s\n", helpers[i].name, helpers[i].summary);
    fputs("  help       show the help of a command: netprof help COMMAND; netprof help json\n"
          "\n"
          "  -h, --help  this text\n"
          "  --version   the version\n"
          "\n"
          "Another word COMMAND starts the program netprof-COMMAND, beside netprof or in PATH.\n"
          "\n"
          "Examples:\n"
          "  netprof list\n"
          "  netprof run -- sleep 1\n"
          "\n"
          "Exit codes: 0 done, 1 done and something is worth failing for, 2 wrong usage, 3 a file could not be read\n"
          "or written, 4 nothing to read on this node; run: the exit status of the command.\n",
          to);
}

static int netprof_main_help(const char *name)
{
    const command *c = name ? netprof_main_find_command(name) : NULL;
    if (!name || strcmp(name, "help") == 0) {
        netprof_main_print_help(stdout);
        return output_close();
    }
    if (strcmp(name, "json") == 0) {
        puts(
            "The JSON of all commands, its names, units and versions: man netprof-json. Its schemas (JSON Schema) are\n"
            "installed in share/netprof/schema.");
        return output_close();
    }
    if (!c) return fail_usage("help: %s: no such command%s", safe(name), netprof_main_command_hint(name));
    command_help(c, stdout);
    return output_close();
}

// The options for shell completion; see command_list_options(). Without a command: the commands.
static int netprof_main_list_options(const char *name)
{
    const command *c = name ? netprof_main_find_command(name) : NULL;
    if (name && !c) {
        char *arguments[] = {NULL, (char[]){"--list-options"}, NULL};
        for (size_t i = 0; i < HELPER_COUNT; i++)
            if (strcmp(helpers[i].name, name) == 0) netprof_main_start_helper(name, arguments);
        return EXIT_USAGE;
    }
    for (size_t i = 0; !c && i < HELPER_COUNT; i++)
        puts(helpers[i].name);
    for (size_t i = 0; !c && i < COMMAND_COUNT; i++) {
        printf("%s\n", commands[i]->name);
        if (commands[i]->alias) printf("%s\n", commands[i]->alias);
    }
    if (c)
        command_list_options(c);
    else
        puts("help");
    return output_close();
}

// ---- running ----

static char *netprof_main_unknown_text(const char *name)
{
    for (size_t i = 0; i < HELPER_COUNT; i++)
        if (strcmp(helpers[i].name, name) == 0)
            return memory_format("%s: the program netprof-%s is not installed here; %s", name, name, helpers[i].needs);
    if (name[0] == '-') return memory_format("%s: unknown option", safe(name));
    return memory_format("%s: no such command%s", safe(name), netprof_main_command_hint(name));
}

static int netprof_main_unknown_command(const char *name, char **arguments)
{
    char *text = netprof_main_unknown_text(name);
    int code = fail_usage("%s", text);
    bool as_json = false;
    for (char **a = arguments; *a && !as_json && strcmp(*a, "--") != 0; a++)
        as_json = strcmp(*a, "--json") == 0;
    if (as_json) command_failure_json(name, text, code);
    free(text);
    return code;
}

int main(int argc, char **argv)
{
    output_init();
    if (argc < 2) {
        netprof_main_print_help(stderr);
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    const command *c = netprof_main_find_command(name);
    if (c) return command_execute(c, argc - 1, (const char **)(uintptr_t)(argv + 1));
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) return netprof_main_help(NULL);
    if (strcmp(name, "help") == 0 && (argc < 3 || netprof_main_find_command(argv[2])))
        return netprof_main_help(argc > 2 ? argv[2] : NULL);
    if (strcmp(name, "--list-options") == 0) return netprof_main_list_options(argc > 2 ? argv[2] : NULL);
    if (strcmp(name, "--version") == 0 || strcmp(name, "version") == 0) {
        printf("netprof %s\n", netprof_version());
        return output_close();
    }
    if (strcmp(name, "help") == 0) {
        char *arguments[] = {NULL, (char[]){"--help"}, NULL};
        if (strcmp(argv[2], "json") != 0) netprof_main_start_helper(argv[2], arguments);
        return netprof_main_help(argv[2]);
    }
    if (name[0] != '-') netprof_main_start_helper(name, argv + 1);
    return netprof_main_unknown_command(name, argv + 2);
}
