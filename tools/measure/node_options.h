// What to read: the options that commands share which read this node.
#ifndef TOOLS_NODE_OPTIONS_H
#define TOOLS_NODE_OPTIONS_H

#include "cli/common.h"
#include "analysis/data/dataset.h"
#include "sources/sources.h"
#include "sources/tcp/tcp_sockets.h"

// --root, --pid, --sources, --perf, --include, --exclude, --fast-set, --threads, --hold, --max-fds

extern const struct poptOption reading_options[];
extern const struct poptOption set_option[]; // --set all|fast
// Those that choose what is looked at, with -s for --sources, and the others: of commands that filter files.
extern const struct poptOption filter_options[];
extern const struct poptOption place_options[];

// Leaves in the data set what --sources, --include and --exclude select. *scope: words of it for verdicts ("what
// --include lo leaves"), free() them; NULL where there is none of these options. Returns an exit code: EXIT_NOTHING
// after saying so when nothing is left.
int reading_filter(dataset *set, char **scope);
char *reading_scope(void); // those words alone
// reading_open() whatever --include and --exclude say: they are for afterwards.
int reading_open_whole(netprof **np);
bool reading_is_elsewhere(void); // --root or --pid: what is read is not this process's own node

// Opens what the options say; `globs` (NULL-terminated, may be NULL) are added to --include. Returns an exit code
// after saying what is wrong. EXIT_NOTHING: nothing was found, the context is open all the same and nothing was said.
int reading_open(netprof **np, const char *const *globs);
// The same, and without --sources also these sources of tools/sources/, by commas. Below another root those of its files.
int reading_open_with(netprof **np, const char *node);
// The same with the sources of tools/sources/ that --sources names; without --sources all of them when `node`, and
// the network's when `network`. The job's own sources are left out when `job` holds no process and no group.
int reading_open_node(netprof **np, const sources_job *job, bool network, bool node);
// "-x ,", as perf stat takes it: what no --exclude can mean is the separator of fields, and is taken from the list. NULL:
// there is none.
const char *reading_separator(void);
// True unless --root or --sources chose something else than all of this machine.
bool reading_is_here(void);
// The sockets behind TCP's counters, where the context reads these of this network namespace; else NULL.
tcp_sockets *reading_sockets(const netprof *np);
// The NICs below a directory of the class cxi (cxi0/device/telemetry, ...), or of one NIC's telemetry, wherever it is, as
// net_prof's collect takes them: an exit code after saying what is wrong. reading_end() removes what it made.
int reading_of_directory(const char *directory);
void reading_end(void);
// The events of --perf, for sources_job.perf; or NULL.
const char *reading_perf(void);
// The names that --sources takes, by commas; free() it.
char *reading_source_names(void);
// The same for readings many times a second: without --sources the sources of ports of which `all` has found a device.
// To look for others costs as much each time as to read one, and for the few counters of the kernel's protocols that are
// in the fast set the kernel writes out some 400 numbers as text.
int reading_open_ports(netprof **np, const netprof *all);
// Says that there is nothing to read and, source by source, why. Returns EXIT_NOTHING.
int reading_nothing(const netprof *np);
// The set that --set names, or `otherwise` without --set. False after a usage error.
bool reading_set(netprof_set *set, netprof_set otherwise);

#endif
