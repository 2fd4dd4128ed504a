#include "last_reading.h"

#include "cli/common.h"
#include "cli/whole_file.h"
#include "node_options.h"
#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char LAST_READING_KEY[] = "kept_for", LAST_READING_VALUE[] = "diff --since-last";

// ---- the file ----

// Makes the directories that lead to the file, for this user alone.
static bool last_reading_make_place(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made) return false;
    }
    return true;
}

// XDG Base Directory Specification: state is in $XDG_STATE_HOME, or ~/.local/state. Home may be shared by many hosts. NULL
// after saying why there is none; free() it.
static char *last_reading_path(const char *state)
{
    const char *base = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char host[256] = "", *path;
    if (state) return memory_strdup(state);
    gethostname(host, sizeof host - 1);
    if (reading_is_elsewhere()) {
        fail_usage("--since-last: of another node than this one: expected --state FILE");
        return NULL;
    }
    if (base && *base == '/') {
        path = memory_format("%s/netprof/last-%s.netprof", base, host);
    } else if (home && *home == '/') {
        path = memory_format("%s/.local/state/netprof/last-%s.netprof", home, host);
    } else {
        fail_usage("--since-last: neither XDG_STATE_HOME nor HOME is set: expected --state FILE");
        return NULL;
    }
    if (last_reading_make_place(path)) return path;
    fail(EXIT_FILE, "%s: %s", safe(path), strerror(errno));
    free(path);
    return NULL;
}

// Only what this user keeps is believed, and only what was kept for this is replaced.
static int last_reading_load(dataset *set, const char *path)
{
    struct stat st;
    netprof_error error;
    if (lstat(path, &st)) return errno == ENOENT ? EXIT_DONE : fail(EXIT_FILE, "%s: %s", safe(path), strerror(errno));
    if (!S_ISREG(st.st_mode)) return fail(EXIT_FILE, "%s: is no regular file", safe(path));
    if (st.st_uid != geteuid()) return fail(EXIT_FILE, "%s: belongs to another user", safe(path));
    if (dataset_read(set, path, &(dataset_options){0}, &error)) return fail_error(path, &error);
    const char *kept = set->run_count ? dataset_fact(&set->runs[0], LAST_READING_KEY) : NULL;
    if (kept && strcmp(kept, LAST_READING_VALUE) == 0) return EXIT_DONE;
    return fail(EXIT_FILE, "%s: was not kept by --since-last, which would replace it", safe(path));
}

// ---- the reading ----

static int last_reading_put(void *user, const void *data, size_t size)
{
    char **bytes = user;
    memcpy(arraddnptr(*bytes, size), data, size);
    return 0;
}

// The node as a file in memory, an stb_ds array.
static int last_reading_take(char **bytes)
{
    netprof *np = NULL;
    netprof_writer *writer = NULL;
    netprof_snapshot s = NETPROF_ZERO;
    netprof_error error;
    int code = reading_open_whole(&np);
    if (code == EXIT_NOTHING) code = reading_nothing(np);
    if (!code && netprof_take(np, &s, NETPROF_SET_ALL, &error)) code = fail_error(NULL, &error);
    if (!code && netprof_writer_open_fn(&writer, last_reading_put, bytes, &error)) code = fail_error(NULL, &error);
    if (!code && (netprof_write_fact(writer, LAST_READING_KEY, LAST_READING_VALUE, &error) ||
                  netprof_write_snapshot(writer, &s, &error)))
        code = fail_error(NULL, &error);
    if (writer && netprof_writer_close(writer, !code, &error) && !code) code = fail_error(NULL, &error);
    netprof_snapshot_free(&s);
    netprof_close(np);
    return code;
}

static int last_reading_keep(const char *path, const char *bytes)
{
    whole_file *file = whole_file_open(path);
    if (!file) return EXIT_FILE;
    whole_file_write(file, bytes, arrlenu(bytes));
    return whole_file_close(file, true);
}

static bool last_reading_is_of_this_boot(const dataset *set)
{
    const char *before = dataset_fact(&set->runs[0], "boot_id"), *now = dataset_fact(&set->runs[1], "boot_id");
    return !before || !now || strcmp(before, now) == 0;
}

int last_reading_exchange(dataset *set, const char *state)
{
    netprof_error error;
    char *bytes = NULL, *path = last_reading_path(state);
    int code = path ? last_reading_load(set, path) : EXIT_USAGE;
    bool first = !set->run_count;
    if (!code) code = last_reading_take(&bytes);
    if (!code && dataset_read_memory(set, "now", bytes, arrlenu(bytes), &(dataset_options){0}, &error))
        code = fail_error(NULL, &error);
    if (!code) code = last_reading_keep(path, bytes);
    if (!code && first)
        code = fail(EXIT_NOTHING,
                    "nobody asked before: this reading is kept in %s, and the next call tells what happened since",
                    safe(path));
    else if (!code && !last_reading_is_of_this_boot(set))
        code = fail(EXIT_NOTHING,
                    "this node was started anew since: this reading is kept, and the next call tells what happened "
                    "since");
    arrfree(bytes);
    free(path);
    return code;
}
