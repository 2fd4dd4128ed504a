#include "inputs.h"

#include "common.h"
#include "analysis/base/text.h"
#include "analysis/regions/regions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void inputs_say_warning(const dataset_warning *w)
{
    if (w->line)
        warn("%s: line %llu: %s", safe(w->path), (unsigned long long)w->line, safe(w->text));
    else
        warn("%s: byte %llu: %s", safe(w->path), (unsigned long long)w->offset, safe(w->text));
}

// ---- directories ----

static netprof_err inputs_list_directory(listing *l, const char *directory)
{
    static const char *const endings[] = {".netprof", NULL};
    return listing_add_directory(l, directory, endings);
}

int inputs_list(listing *l, const char *directory)
{
    size_t before = l->count;
    if (inputs_list_directory(l, directory)) return fail_file(EXIT_FILE, directory, "%s", strerror(errno));
    return l->count > before ? EXIT_DONE : fail_file(EXIT_FILE, directory, "no file *.netprof there");
}

size_t inputs_count(const char *const *paths, size_t count)
{
    size_t all = 0;
    for (size_t i = 0; i < count; i++) {
        listing l = {0};
        if (!listing_is_directory(paths[i]))
            all++;
        else if (!inputs_list_directory(&l, paths[i]))
            all += l.count;
        listing_free(&l);
    }
    return all;
}

unsigned inputs_hold(const char *path)
{
    listing l = {0};
    unsigned found = 0;
    if (!listing_is_directory(path)) return parts_hold(path);
    if (!inputs_list_directory(&l, path))
        for (size_t i = 0; i < l.count; i++)
            found |= parts_hold(l.paths[i]);
    listing_free(&l);
    return found;
}

static int inputs_read_directory(dataset *set, const char *path, const dataset_options *options)
{
    listing l = {0};
    size_t before = set->run_count;
    int code = inputs_list(&l, path);
    for (size_t i = 0; i < l.count && !code; i++) {
        netprof_error error = {.code = NETPROF_OK};
        netprof_err result =
            parts_hold(l.paths[i]) == PARTS_REGIONS ? NETPROF_OK : dataset_read(set, l.paths[i], options, &error);
        if (result == NETPROF_ERR_NOMEM)
            code = fail_error(l.paths[i], &error);
        else if (result)
            warn("%s: left out: %s", safe(l.paths[i]), error_text(&error));
    }
    if (!code && set->run_count == before) code = fail_file(EXIT_FILE, path, "no file of it holds readings");
    listing_free(&l);
    return code;
}

int inputs_read(dataset *set, const char *const *paths, size_t count, const dataset_options *options)
{
    enum { SAID = 10 };
    int code = EXIT_DONE;
    netprof_error error = {.code = NETPROF_OK};
    netprof_err result = NETPROF_OK;
    size_t i = 0;
    for (; i < count && !code && !result; i++) {
        if (listing_is_directory(paths[i]))
            code = inputs_read_directory(set, paths[i], options);
        else
            result = dataset_read(set, paths[i], options, &error);
    }
    for (size_t w = 0; w < set->warning_count && w < SAID; w++)
        inputs_say_warning(&set->warnings[w]);
    if (set->warning_count > SAID)
        warn("%llu more such lines", (unsigned long long)(set->warning_count - SAID + set->warnings_dropped));
    return result ? fail_error(paths[i - 1], &error) : code;
}

static bool inputs_is_series(const dataset_run *run)
{
    return run->snapshot_count && regions_series(run->snapshots[0].schema);
}

void inputs_drop_series(dataset *set)
{
    size_t others = 0;
    for (size_t i = 0; i < set->run_count; i++)
        others += !inputs_is_series(&set->runs[i]);
    for (size_t i = set->run_count; others && i-- > 0;)
        if (inputs_is_series(&set->runs[i])) dataset_remove_run(set, i);
}

static bool inputs_holds_a_run(const dataset_run *run)
{
    return run->snapshot_count > 1 || run->delta_count == 1;
}

// Two files are one run, from the first of the one to the last of the other, unless each is a run of another node.
bool inputs_are_one_run(const dataset *set)
{
    if (set->run_count > 2) return false;
    return set->run_count < 2 || !inputs_holds_a_run(&set->runs[0]) || !inputs_holds_a_run(&set->runs[1]) ||
           strcmp(set->runs[0].host, set->runs[1].host) == 0;
}

// The series of `netprof run --interval` holds the fast set, between two snapshots of everything.
static void inputs_say_sets(const dataset *set)
{
    const dataset_run *first = &set->runs[0], *last = &set->runs[set->run_count - 1];
    if (!first->snapshot_count || !last->snapshot_count) return;
    netprof_set before = first->snapshots[0].set, after = last->snapshots[last->snapshot_count - 1].set;
    if (before == after) return;
    if (after == NETPROF_SET_FAST && dataset_fact(last, "command") && !dataset_fact(last, "exit_status"))
        warn("%s: the last full snapshot is missing: netprof run did not end; only the fast set is compared, up to the "
             "last reading of it",
             safe(last->path));
    else
        warn("%s: its %s snapshot holds the fast set only: other counters cannot be compared",
             safe(before == NETPROF_SET_FAST ? first->path : last->path),
             before == NETPROF_SET_FAST ? "first" : "last");
}

static bool inputs_are_one_file(const char *a, const char *b)
{
    struct stat x, y;
    if (strcmp(a, b) == 0) return true;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

// Why the first and the last file are no run.
static int inputs_refuse(const dataset_run *first, const dataset_run *last, const netprof_error *error)
{
    char *names = NULL;
    text_append(&names, "%s", safe(first->path));
    if (first == last)
        text_append(&names, ": first and last snapshot");
    else
        text_append(&names, " and %s", safe(last->path));
    int code = error->code == NETPROF_ERR_ARG        ? EXIT_USAGE
               : error->code == NETPROF_ERR_NOSOURCE ? EXIT_NOTHING
                                                     : EXIT_FILE;
    fail(code, "%s: %s%s", names, error_text(error),
         error->code == NETPROF_ERR_MISMATCH ? "; --force compares them all the same" : "");
    free(names);
    return code;
}

int inputs_compare(difference *d, const dataset *set, bool force)
{
    const dataset_run *first = &set->runs[0], *last = &set->runs[set->run_count - 1];
    netprof_error error;
    if (first == last && first->snapshot_count < 2 && !first->delta_count)
        return fail_file(EXIT_FILE, first->path, "holds one snapshot; a second one is needed");
    if (first != last && !last->part && inputs_are_one_file(first->path, last->path))
        return fail(EXIT_USAGE, "%s was given twice; expected the reading before, and the one after", safe(last->path));
    inputs_say_sets(set);
    if (!difference_of_dataset(d, set, force, &error)) return EXIT_DONE;
    bool of_both = error.code == NETPROF_ERR_MISMATCH || error.code == NETPROF_ERR_NOSOURCE ||
                   (error.code == NETPROF_ERR_ARG && first != last && first->snapshot_count && last->snapshot_count);
    return of_both ? inputs_refuse(first, last, &error) : fail_error(first->path, &error);
}

int inputs_rules(rules *set, const char *path)
{
    netprof_error error;
    rules_builtin(set);
    size_t known = set->problem_count;
    netprof_err result = path ? rules_read(set, path, &error) : NETPROF_OK;
    for (size_t i = known; i < set->problem_count; i++)
        warn("%s: line %zu: %s", safe(set->problems[i].path), set->problems[i].line, safe(set->problems[i].text));
    return result ? fail_error(path, &error) : EXIT_DONE;
}

bool inputs_damaged(const dataset *set)
{
    for (size_t i = 0; i < set->run_count; i++)
        if (!set->runs[i].complete) return true;
    return false;
}
