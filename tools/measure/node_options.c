#define _GNU_SOURCE
#include "node_options.h"

#include "cli/output.h"
#include "analysis/base/memory.h"
#include "analysis/base/text.h"
#include "analysis/data/dataset_filter.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    char *root, *fast, *set, *hold, *perf;
    char **sources, **include, **exclude;
    int pid, threads, max_fds;
} reading;

#define ROW_ROOT                                                                                                       \
    {                                                                                                                  \
        "root", 0, POPT_ARG_STRING, &reading.root, 0, "read the files below DIR instead of /", "DIR"                   \
    }
#define ROW_PID                                                                                                        \
    {                                                                                                                  \
        "pid", 0, POPT_ARG_INT, &reading.pid, 0, "the network namespace of this process", "PID"                        \
    }
#define ROW_SOURCES(letter)                                                                                            \
    {                                                                                                                  \
        "sources", letter, POPT_ARG_ARGV, &reading.sources, 0, "only these sources, by commas: cxi,netdev,...; all",   \
            "NAMES"                                                                                                    \
    }
#define ROW_PERF                                                                                                       \
    {                                                                                                                  \
        "perf", 0, POPT_ARG_STRING, &reading.perf, 0,                                                                  \
            "these performance events and groups, by commas: flops,cycles,...", "EVENTS"                               \
    }
#define ROW_INCLUDE                                                                                                    \
    {                                                                                                                  \
        "include", 'i', POPT_ARG_ARGV, &reading.include, 0, "only DEVICE or DEVICE/COUNTER like these, by commas",     \
            "GLOBS"                                                                                                    \
    }
#define ROW_EXCLUDE                                                                                                    \
    {                                                                                                                  \
        "exclude", 'x', POPT_ARG_ARGV, &reading.exclude, 0, "but not those like these", "GLOBS"                        \
    }
#define ROWS_HOW                                                                                                       \
    {"fast-set", 0, POPT_ARG_STRING, &reading.fast, 0, "what the fast set is", "GLOBS"},                               \
        {"threads", 0, POPT_ARG_INT, &reading.threads, 0, "read so many devices at a time", "N"},                      \
        {"hold",         0, POPT_ARG_STRING, &reading.hold, 0, "whose files to keep open between readings (fast)",     \
         "fast|none|all"},                                                                                             \
    {                                                                                                                  \
        "max-fds", 0, POPT_ARG_INT, &reading.max_fds, 0, "at most so many open files", "N"                             \
    }

const struct poptOption reading_options[] = {ROW_ROOT,    ROW_PID,     ROW_SOURCES(0), ROW_PERF,
                                             ROW_INCLUDE, ROW_EXCLUDE, ROWS_HOW,       POPT_TABLEEND};
const struct poptOption filter_options[] = {ROW_SOURCES('s'), ROW_INCLUDE, ROW_EXCLUDE, POPT_TABLEEND};
const struct poptOption place_options[] = {ROW_ROOT, ROW_PID, ROW_PERF, ROWS_HOW, POPT_TABLEEND};

const struct poptOption set_option[] = {
    {"set", 0, POPT_ARG_STRING, &reading.set, 0, "all counters, or the few that decide most questions", "all|fast"},
    POPT_TABLEEND,
};

#define NETWORK_SOURCES "cxi,netdev,ethtool,rdma,ip" // those of netprof.h

bool reading_is_here(void)
{
    return !reading.root && !reading.sources;
}

const char *reading_perf(void)
{
    return reading.perf;
}

// No device has such a name, and no pattern is meant by it.
const char *reading_separator(void)
{
    static char found[8];
    size_t kept = 0, i = 0;
    *found = 0;
    for (; reading.exclude && reading.exclude[i]; i++) {
        char *text = reading.exclude[i];
        bool is_separator = (text[0] && !text[1] && strchr(",;:|\t ", text[0])) || strcmp(text, "\\t") == 0;
        if (!is_separator) {
            reading.exclude[kept++] = text;
            continue;
        }
        snprintf(found, sizeof found, "%s", text);
        free(text);
    }
    if (reading.exclude) reading.exclude[kept] = NULL;
    return *found ? found : NULL;
}

static void node_options_add_name(char **list, const char *name)
{
    char *longer = *list ? memory_format("%s,%s", *list, name) : memory_strdup(name);
    free(*list);
    *list = longer;
}

char *reading_source_names(void)
{
    char *names = memory_strdup(NETWORK_SOURCES);
    for (size_t i = 0; sources_at(i); i++)
        node_options_add_name(&names, sources_at(i)->name);
    node_options_add_name(&names, "all");
    return names;
}

// Joins two lists with commas; NULL when both are empty.
static char *node_options_join(char *const *a, const char *const *b)
{
    size_t size = 1;
    for (size_t i = 0; a && a[i]; i++)
        size += strlen(a[i]) + 1;
    for (size_t i = 0; b && b[i]; i++)
        size += strlen(b[i]) + 1;
    if (size == 1) return NULL;
    char *text = memory_calloc(1, size), *to = text;
    for (size_t i = 0; a && a[i]; i++)
        to += sprintf(to, "%s%s", to == text ? "" : ",", a[i]);
    for (size_t i = 0; b && b[i]; i++)
        to += sprintf(to, "%s%s", to == text ? "" : ",", b[i]);
    return text;
}

static bool node_options_parse_hold(netprof_hold *hold)
{
    static const char *const names[] = {
        [NETPROF_HOLD_FAST] = "fast", [NETPROF_HOLD_NONE] = "none", [NETPROF_HOLD_ALL] = "all"};
    *hold = NETPROF_HOLD_FAST;
    if (!reading.hold) return true;
    for (int i = 0; i < 3; i++) {
        if (strcmp(names[i], reading.hold) == 0) {
            *hold = (netprof_hold)i;
            return true;
        }
    }
    fail_usage("--hold: %s: expected fast, none or all", safe(reading.hold));
    return false;
}

bool reading_set(netprof_set *set, netprof_set otherwise)
{
    *set = otherwise;
    if (!reading.set) return true;
    *set = strcmp(reading.set, "fast") == 0 ? NETPROF_SET_FAST : NETPROF_SET_ALL;
    if (*set == NETPROF_SET_FAST || strcmp(reading.set, "all") == 0) return true;
    fail_usage("--set: %s: expected all or fast", safe(reading.set));
    return false;
}

static int node_options_check_numbers(void)
{
    const struct {
        const char *name;
        int value;
    } rows[] = {{"--pid", reading.pid}, {"--threads", reading.threads}, {"--max-fds", reading.max_fds}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].value < 0) return fail_usage("%s: %d: expected a positive number", rows[i].name, rows[i].value);
    return EXIT_DONE;
}

static int node_options_check_places(void)
{
    struct stat st;
    char path[32];
    if (reading.root && (stat(reading.root, &st) || !S_ISDIR(st.st_mode)))
        return fail(EXIT_FILE, "--root: %s: %s", safe(reading.root), strerror(errno ? errno : ENOTDIR));
    snprintf(path, sizeof path, "/proc/%d/net", reading.pid);
    if (reading.pid && stat(path, &st)) return fail(EXIT_FILE, "--pid: %s: %s", path, strerror(errno));
    return EXIT_DONE;
}

// Those that read this machine whatever the root is.
static bool node_options_is_of_machine(const char *name)
{
    return strcmp(name, "gpu") == 0 || strcmp(name, "perf") == 0 || strcmp(name, "self") == 0;
}

// "all": everything that there is.
static void node_options_add_all(char **node)
{
    for (size_t i = 0; sources_at(i); i++)
        if (!reading.root || !node_options_is_of_machine(sources_at(i)->name))
            node_options_add_name(node, sources_at(i)->name);
}

// Splits --sources: names of tools/sources/ into node (free it), the rest is returned (free it). NULL: none given.
static char *node_options_network_sources(char **node)
{
    const char **network = NULL;
    size_t kept = 0;
    *node = NULL;
    if (!reading.sources) return NULL;
    char *all = node_options_join(reading.sources, NULL), *at = all;
    // An argument may itself be a list.
    for (char *word; at && (word = strsep(&at, ","));) {
        network = memory_realloc(network, (kept + 2) * sizeof *network);
        if (strcmp(word, "all") == 0) {
            node_options_add_all(node);
            network[kept++] = NETWORK_SOURCES;
        } else if (sources_find(word)) {
            node_options_add_name(node, word);
        } else {
            network[kept++] = word;
        }
    }
    if (kept) network[kept] = NULL;
    char *list = kept ? node_options_join(NULL, network) : memory_strdup("none");
    if (!*node) *node = memory_strdup("");
    free(network);
    free(all);
    return list;
}

static bool node_options_is_listed(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (; *list; list += strcspn(list, ","), list += *list == ',')
        if (strcspn(list, ",") == n && strncmp(list, name, n) == 0) return true;
    return false;
}

// named: by --sources, NULL without it; then those of `otherwise`, by commas, or "all".
static bool node_options_wants(const char *name, const char *named, const char *otherwise)
{
    if (reading.perf && strcmp(name, "perf") == 0) return true;
    if (named) return node_options_is_listed(named, name);
    if (strcmp(otherwise, "all") == 0) return !reading.root; // another root is another node, or a saved one
    return node_options_is_listed(otherwise, name) && !(reading.root && node_options_is_of_machine(name));
}

static int node_options_add_node_sources(netprof *np, const char *named, const sources_job *job, const char *otherwise)
{
    netprof_error error;
    for (size_t i = 0; sources_at(i); i++) {
        const sources_entry *s = sources_at(i);
        // The job's processes are not below another root.
        if (!node_options_wants(s->name, named, otherwise) || (s->job && reading.root)) continue;
        if (s->job && !job->pid_count && !job->cgroup && !job->expected) continue;
        if (strcmp(s->name, "cgroup") == 0 && !job->pid_count && !job->cgroup && job->elsewhere) continue;
        netprof_err result = s->add(np, job, &error);
        if (result == NETPROF_ERR_ARG) return fail_usage("--%s: %s", s->name, safe(error.text));
        if (result) return fail_error(s->name, &error);
    }
    return EXIT_DONE;
}

// network: the sources of netprof.h without --sources; NULL: all of them.
static int node_options_open_reading(netprof **np, const char *const *globs, const sources_job *job,
                                     const char *network, const char *node)
{
    netprof_config config = NETPROF_ZERO;
    netprof_error error;
    char *own;
    *np = NULL;
    errno = 0;
    if (!node_options_parse_hold(&config.hold) || node_options_check_numbers()) return EXIT_USAGE;
    if (node_options_check_places()) return EXIT_FILE;
    char *sources = node_options_network_sources(&own), *include = node_options_join(reading.include, globs);
    char *exclude = node_options_join(reading.exclude, NULL);
    config.root = reading.root;
    config.sources = sources && (!network || strcmp(network, "none") != 0) ? sources : network;
    config.include = include;
    config.exclude = exclude;
    config.fast = reading.fast;
    config.pid = reading.pid;
    config.threads = reading.threads;
    config.max_fds = reading.max_fds;
    netprof_err result = netprof_open(np, &config, &error);
    int code = result == NETPROF_OK || (result == NETPROF_ERR_NOSOURCE && *np) ? EXIT_DONE : fail_error(NULL, &error);
    if (!code) code = node_options_add_node_sources(*np, own, job, node);
    free(own);
    free(sources);
    free(include);
    free(exclude);
    if (code) return code;
    return netprof_get_schema(*np)->counter_count ? EXIT_DONE : EXIT_NOTHING;
}

int reading_open(netprof **np, const char *const *globs)
{
    static sources_job nobody;
    nobody.perf = reading_perf();
    return node_options_open_reading(np, globs, &nobody, NULL, "");
}

int reading_open_with(netprof **np, const char *node)
{
    static sources_job nobody;
    nobody.perf = reading_perf();
    return node_options_open_reading(np, NULL, &nobody, NULL, node);
}

int reading_open_node(netprof **np, const sources_job *job, bool network, bool node)
{
    return node_options_open_reading(np, NULL, job, network ? NULL : "none", node ? "all" : "");
}

static bool node_options_has_devices(const netprof_schema *schema, const char *source)
{
    for (size_t i = 0; i < schema->device_count; i++)
        if (strcmp(schema->devices[i].source, source) == 0) return true;
    return false;
}

int reading_open_ports(netprof **np, const netprof *all)
{
    static const sources_job nobody;
    static const char *const ports[] = {"cxi", "rdma", "netdev"};
    char names[32] = "";
    for (size_t i = 0; i < sizeof ports / sizeof *ports; i++) {
        if (!node_options_has_devices(netprof_get_schema(all), ports[i])) continue;
        if (*names) strcat(names, ",");
        strcat(names, ports[i]);
    }
    return node_options_open_reading(np, NULL, &nobody, *names ? names : "none", "");
}

// ---- after the fact ----

static void node_options_append_scope(char **text, const char *option, char *const *values)
{
    char *list = node_options_join(values, NULL);
    if (list) text_append(text, "%s%s %s", *text ? " " : "what ", option, list);
    free(list);
}

static bool node_options_are_all_sources(void)
{
    for (size_t i = 0; reading.sources && reading.sources[i]; i++)
        if (strcmp(reading.sources[i], "all") == 0) return true;
    return !reading.sources;
}

char *reading_scope(void)
{
    char *text = NULL;
    if (!node_options_are_all_sources()) node_options_append_scope(&text, "--sources", reading.sources);
    node_options_append_scope(&text, "--include", reading.include);
    node_options_append_scope(&text, "--exclude", reading.exclude);
    if (text) text_append(&text, " %s", strchr(text + 5, ' ') && strstr(text + 5, " --") ? "leave" : "leaves");
    return text;
}

int reading_filter(dataset *set, char **scope)
{
    char *include = node_options_join(reading.include, NULL), *exclude = node_options_join(reading.exclude, NULL),
         *sources = node_options_are_all_sources() ? NULL : node_options_join(reading.sources, NULL);
    const dataset_filter f = {.include = include, .exclude = exclude, .sources = sources};
    int code = EXIT_DONE;
    *scope = reading_scope();
    if (*scope && !dataset_filter_apply(set, &f))
        code = fail(EXIT_NOTHING, "there is nothing that %s", safe(*scope + strlen("what ")));
    free(include);
    free(exclude);
    free(sources);
    return code;
}

int reading_open_whole(netprof **np)
{
    char **include = reading.include, **exclude = reading.exclude;
    reading.include = reading.exclude = NULL;
    int code = reading_open(np, NULL);
    reading.include = include;
    reading.exclude = exclude;
    return code;
}

bool reading_is_elsewhere(void)
{
    return reading.root || reading.pid;
}

// ---- a directory alone ----

// A root of its own, in which the directory stands where the class does: readers need know nothing of it.
static struct {
    char *root, *link;
} below;

static const char *const below_parts[] = {"/sys", "/sys/class", "/sys/class/cxi", "/sys/class/cxi/cxi0",
                                          "/sys/class/cxi/cxi0/device"};

static bool node_options_has(const char *directory, const char *name)
{
    struct stat st;
    char *path = memory_format("%s/%s", directory, name);
    bool there = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    free(path);
    return there;
}

// Does any of its entries have telemetry?
static bool node_options_is_class(const char *directory)
{
    bool found = false;
    DIR *d = opendir(directory);
    for (struct dirent *x; d && !found && (x = readdir(d));) {
        char *name = memory_format("%s/device/telemetry", x->d_name);
        found = x->d_name[0] != '.' && node_options_has(directory, name);
        free(name);
    }
    if (d) closedir(d);
    return found;
}

static int node_options_fail_below(const char *directory)
{
    int error = errno;
    reading_end();
    return fail(EXIT_FILE, "%s: %s", safe(directory), strerror(error));
}

int reading_of_directory(const char *directory)
{
    enum { OF_CLASS = 2, OF_NIC = 5 };
    const char *temporary = getenv("TMPDIR");
    struct stat st;
    char *full = realpath(directory, NULL), *path = NULL;
    if (!full || stat(full, &st) || !S_ISDIR(st.st_mode)) {
        int error = full && S_ISREG(st.st_mode) ? ENOTDIR : errno;
        free(full);
        return fail(EXIT_FILE, "%s: %s", safe(directory), strerror(error ? error : ENOTDIR));
    }
    size_t n = strlen(full), m = strlen("/telemetry");
    bool of_class = node_options_is_class(full), of_nic = n > m && strcmp(full + n - m, "/telemetry") == 0;
    if (!of_class && !of_nic) {
        free(full);
        return fail(EXIT_FILE, "%s: expected a directory of NICs (cxi0/device/telemetry, ...), or a NIC's telemetry",
                    safe(directory));
    }
    below.root = memory_format("%s/netprof-collect.XXXXXX", temporary && *temporary ? temporary : "/tmp");
    bool made = mkdtemp(below.root) != NULL;
    for (size_t i = 0; made && i < (of_class ? OF_CLASS : OF_NIC); i++) {
        path = memory_format("%s%s", below.root, below_parts[i]);
        made = mkdir(path, 0700) == 0;
        free(path);
    }
    below.link = memory_format("%s%s%s", below.root, below_parts[of_class ? OF_CLASS : OF_NIC - 1],
                               of_class ? "" : "/telemetry");
    made = made && symlink(full, below.link) == 0;
    free(full);
    if (!made) return node_options_fail_below(directory);
    reading.root = below.root;
    return EXIT_DONE;
}

void reading_end(void)
{
    if (below.link) unlink(below.link);
    for (size_t i = sizeof below_parts / sizeof *below_parts; below.root && i-- > 0;) {
        char *path = memory_format("%s%s", below.root, below_parts[i]);
        rmdir(path);
        free(path);
    }
    if (below.root) rmdir(below.root);
    if (reading.root == below.root) reading.root = NULL;
    free(below.link);
    free(below.root);
    below.root = below.link = NULL;
}

tcp_sockets *reading_sockets(const netprof *np)
{
    if (reading.root || reading.pid || netprof_find(netprof_get_schema(np), "ip", "Tcp", "RetransSegs") == NETPROF_NONE)
        return NULL;
    return tcp_sockets_open();
}

int reading_nothing(const netprof *np)
{
    const netprof_schema *schema = netprof_get_schema(np);
    char *text = memory_strdup("");
    for (size_t i = 0; i < schema->source_count; i++) {
        const netprof_source_state *s = &schema->sources[i];
        char *longer = memory_format("%s\n  %s: %s%s%s%s%s", text, safe(s->name),
                                     s->status == NETPROF_STATUS_OK ? "nothing that was asked for"
                                                                    : netprof_status_name(s->status),
                                     s->path && *s->path ? ", " : "", s->path ? safe(s->path) : "",
                                     s->sys_errno ? ": " : "", s->sys_errno ? strerror(s->sys_errno) : "");
        free(text);
        text = longer;
    }
    int code = fail(EXIT_NOTHING, "nothing to read here%s", text);
    free(text);
    return code;
}
