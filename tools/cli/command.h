// The commands: what each is, and how its command line is read and its help is shown.
#ifndef TOOLS_COMMAND_H
#define TOOLS_COMMAND_H

#include "common.h"

// A sub-command, in netprof or in a program of its own (netprof-NAME). The popt table is parsed before run() is called;
// what it points to belongs to the command's file.
typedef struct command {
    const char *name, *alias;
    const char *summary;   // one line
    const char *arguments; // "BEFORE AFTER"; a line for each way to use it
    const char *text;      // what it does, a paragraph or two
    const char *examples;  // one a line
    const char *exits;     // its exit codes where they differ from the usual ones, or NULL
    const struct poptOption *options;
    unsigned popt_flags;
    int (*run)(const char **arguments, size_t count); // returns the exit code
    const int *json;                                  // where the command keeps --json, or NULL
    const char *json_option;                          // "--to": its value "json" asks for JSON, not --json; or NULL
    bool json_on_stderr;         // its JSON goes to the standard error: the standard output is another program's
    bool draws;                  // what it prints on a terminal is where it is to be: its lines are not folded
    size_t *before_dashes;       // where it keeps how many arguments came before "--", (size_t)-1 without "--"; or NULL
    char *(*source_names)(void); // what its --sources may name, by commas, to be freed; or NULL
} command;

// Parses the options (argv[0] is the command), shows --help or runs. Returns the exit code.
int command_execute(const command *c, int argc, const char **argv);
// main() of a program that holds one command: command_execute(), --version, and --list-options for shell completion.
int command_program(const command *c, int argc, char **argv);
// The error of what is no command at all, as the document that was asked for.
void command_failure_json(const char *name, const char *text, int code);
void command_help(const command *c, FILE *to);
// The options for shell completion; see options_list().
void command_list_options(const command *c);

#endif
