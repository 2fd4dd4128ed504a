#define _GNU_SOURCE // realpath, mkdtemp
#include "ranks_run.h"

#include "loaded_library.h"
#include "cli/options.h"
#include "cli/output.h"
#include "analysis/base/memory.h"
#include "analysis/base/unfinished.h"
#include "analysis/regions/regions.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char library_name[] = "libnetprof-mpi.so";

// ---- the library ----

static int ranks_run_set_preload(void)
{
    const char *others = getenv("LD_PRELOAD");
    char *library = loaded_library_find("--mpi", library_name);
    if (!library) return EXIT_FILE;
    if (strpbrk(library, " :")) { // the dynamic linker takes them for the end of the name
        int code = fail(EXIT_FILE, "--mpi: %s: a path with a blank or a colon cannot be preloaded", safe(library));
        free(library);
        return code;
    }
    size_t n = strlen(library);
    if (others && strncmp(others, library, n) == 0 && (!others[n] || others[n] == ':')) { // of the run before
        free(library);
        return EXIT_DONE;
    }
    char *all = others && *others ? memory_format("%s:%s", others, library) : memory_strdup(library);
    setenv("LD_PRELOAD", all, 1);
    free(all);
    free(library);
    return EXIT_DONE;
}

// ---- the directory ----

static bool ranks_run_is_region_file(const char *name)
{
    size_t n = strlen(name);
    return strncmp(name, "netprof-", 8) == 0 && strncmp(name, "netprof-nccl-", 13) != 0 && n > 16 &&
           strcmp(name + n - 8, ".netprof") == 0;
}

// Calls `visit` (may be NULL) for each file of regions; returns how many.
static size_t ranks_run_each_file(const ranks_run *m, void (*visit)(const char *path))
{
    DIR *directory = opendir(m->directory);
    const struct dirent *entry;
    size_t count = 0;
    while (directory && (entry = readdir(directory))) {
        if (!ranks_run_is_region_file(entry->d_name)) continue;
        count++;
        if (!visit) continue;
        char *path = memory_format("%s/%s", m->directory, entry->d_name);
        visit(path);
        free(path);
    }
    if (directory) closedir(directory);
    return count;
}

static int ranks_run_make_temporary(ranks_run *m)
{
    const char *parent = getenv("TMPDIR");
    char *path = memory_format("%s/netprof-XXXXXX", parent && *parent ? parent : "/tmp");
    m->temporary = mkdtemp(path) != NULL;
    if (!m->temporary)
        fail_file(EXIT_FILE, path, "%s", strerror(errno));
    else
        m->directory = realpath(path, NULL);
    if (m->directory) unfinished_begin(m->directory);
    free(path);
    return m->directory ? EXIT_DONE : EXIT_FILE;
}

static int ranks_run_make_directory(ranks_run *m, const char *path)
{
    m->made = mkdir(path, 0777) == 0;
    if (!m->made && errno != EEXIST) return fail_file(EXIT_FILE, path, "%s", strerror(errno));
    m->directory = realpath(path, NULL);
    if (!m->directory || access(m->directory, W_OK | X_OK)) return fail_file(EXIT_FILE, path, "%s", strerror(errno));
    if (!ranks_run_each_file(m, NULL)) return EXIT_DONE;
    return fail_file(EXIT_FILE, path, "holds the regions of another run; name a new directory");
}

char *ranks_run_pattern(const ranks_run *m, const char *name)
{
    char *pattern = memory_alloc(2 * strlen(m->directory) + strlen(name) + 2), *to = pattern;
    for (const char *p = m->directory; *p; p++) {
        if (*p == '%') *to++ = '%';
        *to++ = *p;
    }
    sprintf(to, "/%s", name);
    return pattern;
}

static void ranks_run_set_output(const ranks_run *m)
{
    char *pattern = ranks_run_pattern(m, "netprof-%j-%r-%h-%p.netprof");
    setenv("NETPROF_OUTPUT", pattern, 1);
    free(pattern);
}

// Ranks that are killed leave what they had written by then: so they write now and then, unless the user says otherwise.
// netprof.h wants plain seconds; here a unit is understood, as everywhere else.
static void ranks_run_set_flush(void)
{
    const char *given = getenv("NETPROF_FLUSH");
    char seconds[48], *end;
    int64_t ns = 10 * INT64_C(1000000000);
    if (given && *given) {
        double number = strtod(given, &end);
        if (end != given && !*end && number >= 0) return;
        if (!parse_duration(given, &ns)) warn("NETPROF_FLUSH: %s: expected a time like 10s; 10 s is used", safe(given));
    }
    snprintf(seconds, sizeof seconds, "%.12g", (double)ns / 1e9);
    setenv("NETPROF_FLUSH", seconds, 1);
}

int ranks_run_open_mpi(ranks_run *m, const char *directory)
{
    *m = (ranks_run){0};
    int code = directory ? ranks_run_make_directory(m, directory) : ranks_run_make_temporary(m);
    if (!code) code = ranks_run_set_preload();
    if (!code) ranks_run_set_output(m);
    if (!code) ranks_run_set_flush();
    return code;
}

int ranks_run_open_directory(ranks_run *m, const char *directory)
{
    *m = (ranks_run){0};
    return ranks_run_make_directory(m, directory);
}

int ranks_run_open_plain(ranks_run *m)
{
    *m = (ranks_run){0};
    int code = ranks_run_make_temporary(m);
    if (!code && !getenv("NETPROF_OUTPUT")) ranks_run_set_output(m);
    return code;
}

size_t ranks_run_files(const ranks_run *m)
{
    return ranks_run_each_file(m, NULL);
}

static void ranks_run_remove_file(const char *path)
{
    unlink(path);
}

void ranks_run_close(ranks_run *m)
{
    unfinished_end(m->directory);
    if (m->temporary && m->directory) ranks_run_each_file(m, ranks_run_remove_file);
    if ((m->temporary || m->made) && m->directory) rmdir(m->directory); // unless something is in it
    free(m->directory);
    *m = (ranks_run){0};
}

// ---- the summary ----

typedef struct joined {
    regions job;
    regions_flat flat;
} joined;

// The regions of all ranks, each name once. False when there is none that can be read, after saying so.
static bool ranks_run_join(joined *j, const ranks_run *m)
{
    netprof_error error;
    const char *paths[] = {m->directory};
    if (!ranks_run_files(m)) return false;
    if (!regions_read(&j->job, paths, 1, NULL, &error)) {
        regions_flatten(&j->flat, &j->job);
        return true;
    }
    fail_error(*error.path ? NULL : m->directory, &error);
    regions_free(&j->job);
    return false;
}

static void ranks_run_joined_free(joined *j)
{
    regions_flat_free(&j->flat);
    regions_free(&j->job);
}

static int ranks_run_by_own_time(const void *a, const void *b)
{
    const regions_node *x = *(const regions_node *const *)a, *y = *(const regions_node *const *)b;
    if (x->sums.exclusive_ns != y->sums.exclusive_ns) return x->sums.exclusive_ns > y->sums.exclusive_ns ? -1 : 1;
    return strcmp(x->name, y->name);
}

// The regions, most own time first; free the list.
static const regions_node **ranks_run_sorted(const joined *j)
{
    const regions_node **list = memory_alloc((j->flat.node_count + 1) * sizeof *list);
    for (size_t i = 0; i < j->flat.node_count; i++)
        list[i] = &j->flat.nodes[i];
    qsort(list, j->flat.node_count, sizeof *list, ranks_run_by_own_time);
    return list;
}

static void ranks_run_print_regions(FILE *to, const joined *j)
{
    enum { SHOWN = 12 };
    static const column columns[] = {{"REGION", 0},
                                     {"CALLS", COLUMN_RIGHT},
                                     {"TIME PER RANK", COLUMN_RIGHT},
                                     {"OF RUN", COLUMN_RIGHT},
                                     {"PER CALL", COLUMN_RIGHT},
                                     {"SLOWEST/MEAN", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"BYTES", COLUMN_RIGHT | COLUMN_LEAN}};
    const regions_node **list = ranks_run_sorted(j);
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < j->flat.node_count && i < SHOWN; i++) {
        const regions_node *n = list[i];
        double per_call_s = (double)n->sums.total_ns / 1e9 / (double)n->sums.measured;
        table_cell(t, PLAIN, n->name);
        table_cell(t, PLAIN, words_exact(n->sums.calls).text);
        table_cell(t, PLAIN, n->sums.measured ? words_duration(n->mean_ns / 1e9).text : NULL);
        table_cell(t, PLAIN, n->sums.measured ? words_share(n->own_run_share).text : NULL);
        table_cell(t, PLAIN, n->sums.measured ? words_duration(per_call_s).text : NULL);
        if (n->cell_count > 1 && !isnan(n->max_over_mean))
            table_printf(t, PLAIN, "%.2f", n->max_over_mean);
        else
            table_cell(t, PLAIN, NULL);
        table_cell(t, PLAIN, n->sums.bytes ? words_amount((double)n->sums.bytes, "bytes").text : NULL);
    }
    table_end(t, to, 2);
    if (j->flat.node_count > SHOWN) fprintf(to, "  ... and %zu more\n", j->flat.node_count - SHOWN);
    free(list);
}

// A rank writes its first file when MPI_Init() returns: without any file none came that far, or none had the library. Which
// of the two it was cannot be seen from here.
static void ranks_run_print_absence(FILE *to, const ranks_run *m, const char *ending)
{
    const char *flush = getenv("NETPROF_FLUSH"); // as ranks_run_set_flush() left it
    bool early = flush && strtod(flush, NULL) > 0;
    fprintf(to, "  no regions: no process left a file in %s.\n", safe(m->directory));
    if (ending)
        fprintf(to, "  The command %s: perhaps before a rank %s.\n", ending,
                early ? "came out of MPI_Init(), where it writes its first file"
                      : "wrote its file, which it does at its end (NETPROF_FLUSH is 0)");
    fprintf(to,
            "  %s none called MPI, or none had %s preloaded, as programs that are linked statically\n"
            "  and processes on other hosts have not unless the launcher passes LD_PRELOAD and NETPROF_OUTPUT on\n"
            "  (Open MPI: -x LD_PRELOAD -x NETPROF_OUTPUT) and the directory is the same there.\n",
            ending ? "Or" : "Either", library_name);
}

// The verdict and the run in figures, before any table.
static void ranks_run_print_verdict(FILE *to, const regions *job)
{
    char *run = regions_run_text(job);
    fprintf(to, "  %s\n", safe(job->title));
    if (*run) fprintf(to, "  %s\n", safe(run));
    free(run);
}

void ranks_run_summary(FILE *to, const ranks_run *m, const char *ending)
{
    joined j = {0};
    size_t files = ranks_run_files(m);
    if (!files) {
        ranks_run_print_absence(to, m, ending);
        return;
    }
    if (!ranks_run_join(&j, m)) return;
    fprintf(to, "  regions of %s", words_many(files, "process|processes").text);
    if (!m->temporary) fprintf(to, "; 'netprof regions %s' tells more", safe(m->directory));
    fprintf(to, ":\n");
    ranks_run_print_verdict(to, &j.job);
    ranks_run_print_regions(to, &j);
    if (j.job.missing_count)
        fprintf(to, "  %zu of %ld ranks have left no file: not in these figures\n", j.job.missing_count,
                j.job.rank_count_told);
    if (j.job.warning_count) fprintf(to, "  damaged files: these figures are lower bounds\n");
    ranks_run_joined_free(&j);
}

static json_object *ranks_run_region_json(const regions_node *n)
{
    json_object *o = json_new_object();
    json_put_text(o, "region", n->name);
    json_put(o, "rank_count", json_exact_value(n->cell_count));
    json_put(o, "calls", json_exact_value(n->sums.calls));
    json_put(o, "measured_calls", json_exact_value(n->sums.measured));
    json_put(o, "inclusive_ns", json_exact_value(n->sums.inclusive_ns));
    json_put(o, "exclusive_ns", json_exact_value(n->sums.exclusive_ns));
    json_put(o, "max_over_mean", json_number_value(n->max_over_mean));
    json_put(o, "declared_bytes", json_exact_value(n->sums.bytes));
    return o;
}

json_object *ranks_run_json(const ranks_run *m)
{
    joined j = {0};
    json_object *o = json_new_object(), *list = json_new_array();
    json_put(o, "directory", m->temporary ? NULL : json_text_value(m->directory));
    json_put(o, "file_count", json_exact_value(ranks_run_files(m)));
    bool there = ranks_run_join(&j, m);
    if (there) {
        json_object *verdict = json_new_object();
        json_put_text(verdict, "severity", severity_name(j.job.severity));
        json_put_text(verdict, "text", j.job.title);
        json_put(o, "verdict", verdict);
        json_put(o, "mpi_share", json_number_value(j.job.waits.mpi_share));
        json_put(o, "waiting_share", json_number_value(j.job.waits.wait_share));
    }
    json_put(o, "missing_rank_count", json_exact_value(j.job.missing_count));
    const regions_node **nodes = ranks_run_sorted(&j);
    for (size_t i = 0; there && i < j.flat.node_count; i++)
        json_append(list, ranks_run_region_json(nodes[i]));
    json_put(o, "regions", list);
    free(nodes);
    if (there) ranks_run_joined_free(&j);
    return o;
}
