// Options: printing and listing popt tables, and the options that several commands share.
#ifndef TOOLS_OPTIONS_H
#define TOOLS_OPTIONS_H

#include "common.h"
#include "sources/sources.h"

enum { OPTION_COLUMN = 22 }; // width of "-o, --output=FILE" in a help text

// The lines of a help text.
void options_print(const struct poptOption *options, FILE *to);
// For shell completion, one a line: "--set", a tab, and what it takes: nothing, or FILE, DIR, all|fast, ...
void options_list(const struct poptOption *options);
// The option ("--set") most like a wrong one, or NULL.
const char *options_nearest(const struct poptOption *options, const char *option);
// Frees the strings and lists that the options hold.
void options_free(const struct poptOption *options);

// ---- what to read: --root, --pid, --sources, --include, --exclude, --fast-set, --threads, --hold, --max-fds ----

extern const struct poptOption reading_options[];
extern const struct poptOption set_option[]; // --set all|fast

// Opens what the options say; `globs` (NULL-terminated, may be NULL) are added to --include. Returns an exit code
// after saying what is wrong. EXIT_NOTHING: nothing was found, the context is open all the same and nothing was said.
int reading_open(netprof **np, const char *const *globs);
// The same with the sources of tools/sources/ that --sources names; without --sources all of them when `node`, and
// the network's when `network`. The job's own sources are left out when `job` holds no process and no group.
int reading_open_node(netprof **np, const sources_job *job, bool network, bool node);
// Says that there is nothing to read and, source by source, why. Returns EXIT_NOTHING.
int reading_nothing(const netprof *np);
// The set that --set names, or `otherwise` without --set. False after a usage error.
bool reading_set(netprof_set *set, netprof_set otherwise);

// ---- values ----

// "1s", "100ms", "1.5", "2m", "1h" as nanoseconds; false when it is none of these, or 0.
bool parse_duration(const char *text, int64_t *ns);

#endif
