#include "inputs.h"

#include "common.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void say_warning(const dataset_warning *w)
{
    if (w->line)
        warn("%s: line %llu: %s", safe(w->path), (unsigned long long)w->line, safe(w->text));
    else
        warn("%s: byte %llu: %s", safe(w->path), (unsigned long long)w->offset, safe(w->text));
}

// ---- directories ----

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// Its *.netprof by name; free them and the list. NULL after saying why.
char **inputs_list(const char *directory, size_t *count)
{
    DIR *d = opendir(directory);
    char **list = NULL;
    *count = 0;
    if (!d) {
        fail(EXIT_FILE, "%s: %s", safe(directory), strerror(errno));
        return NULL;
    }
    list = must(calloc(1, sizeof *list));
    for (struct dirent *x; (x = readdir(d));) {
        size_t n = strlen(x->d_name);
        if (x->d_name[0] == '.' || n <= 8 || strcmp(x->d_name + n - 8, ".netprof") != 0) continue;
        list = must(realloc(list, (*count + 1) * sizeof *list));
        list[(*count)++] = text_format("%s%s%s", directory, directory[strlen(directory) - 1] == '/' ? "" : "/", x->d_name);
    }
    closedir(d);
    if (*count) qsort(list, *count, sizeof *list, by_name);
    return list;
}

void inputs_list_free(char **list, size_t count)
{
    for (size_t i = 0; i < count; i++) free(list[i]);
    free(list);
}

bool inputs_is_directory(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

unsigned inputs_hold(const char *path)
{
    unsigned found = 0;
    size_t count;
    if (!inputs_is_directory(path)) return parts_hold(path);
    char **list = inputs_list(path, &count);
    for (size_t i = 0; list && i < count; i++) found |= parts_hold(list[i]);
    if (list) inputs_list_free(list, count);
    return found;
}

static int read_directory(dataset *set, const char *path, const dataset_options *options)
{
    size_t count, before = set->run_count;
    char **list = inputs_list(path, &count);
    int code = list ? EXIT_DONE : EXIT_FILE;
    for (size_t i = 0; i < count && !code; i++) {
        netprof_error error = {.code = NETPROF_OK};
        netprof_err result = parts_hold(list[i]) == PARTS_REGIONS ? NETPROF_OK : dataset_read(set, list[i], options, &error);
        if (result == NETPROF_ERR_NOMEM) code = fail_error(list[i], &error);
        else if (result) warn("%s: left out: %s", safe(list[i]), error_text(&error));
    }
    if (!code && set->run_count == before)
        code = fail(EXIT_FILE, "%s: %s", safe(path), count ? "no file of it holds readings" : "no file *.netprof there");
    if (list) inputs_list_free(list, count);
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
        if (inputs_is_directory(paths[i])) code = read_directory(set, paths[i], options);
        else result = dataset_read(set, paths[i], options, &error);
    }
    for (size_t w = 0; w < set->warning_count && w < SAID; w++)
        say_warning(&set->warnings[w]);
    if (set->warning_count > SAID)
        warn("%llu more such lines", (unsigned long long)(set->warning_count - SAID + set->warnings_dropped));
    return result ? fail_error(paths[i - 1], &error) : code;
}

static bool holds_a_run(const dataset_run *run)
{
    return run->snapshot_count > 1 || run->delta_count == 1;
}

// Two files are one run, from the first of the one to the last of the other, unless each is a run of another node.
bool inputs_are_one_run(const dataset *set)
{
    if (set->run_count > 2) return false;
    return set->run_count < 2 || !holds_a_run(&set->runs[0]) || !holds_a_run(&set->runs[1]) ||
           strcmp(set->runs[0].host, set->runs[1].host) == 0;
}

// The series of `netprof run --interval` holds the fast set, between two snapshots of everything.
static void say_sets(const dataset *set)
{
    const dataset_run *first = &set->runs[0], *last = &set->runs[set->run_count - 1];
    if (!first->snapshot_count || !last->snapshot_count) return;
    netprof_set before = first->snapshots[0].set, after = last->snapshots[last->snapshot_count - 1].set;
    if (before == after) return;
    if (after == NETPROF_SET_FAST && dataset_fact(last, "command") && !dataset_fact(last, "exit_status"))
        warn("%s: the last full snapshot is missing: netprof run did not end; only the fast set is compared, up to the "
             "last reading of it", safe(last->path));
    else
        warn("%s: its %s snapshot holds the fast set only: other counters cannot be compared",
             safe(before == NETPROF_SET_FAST ? first->path : last->path), before == NETPROF_SET_FAST ? "first" : "last");
}

int inputs_compare(difference *d, const dataset *set, bool force)
{
    const dataset_run *first = &set->runs[0], *last = &set->runs[set->run_count - 1];
    netprof_error error;
    if (first == last && first->snapshot_count < 2 && !first->delta_count)
        return fail(EXIT_FILE, "%s: holds one snapshot; a second one is needed", safe(first->path));
    say_sets(set);
    if (!difference_of_dataset(d, set, force, &error)) return EXIT_DONE;
    if (error.code != NETPROF_ERR_MISMATCH) return fail_error(first->path, &error);
    if (first == last)
        return fail(EXIT_FILE, "%s: first and last snapshot: %s; --force compares them all the same", safe(first->path),
                    error_text(&error));
    return fail(EXIT_FILE, "%s and %s: %s; --force compares them all the same", safe(first->path), safe(last->path),
                error_text(&error));
}

int inputs_rules(rules *set, const char *path)
{
    netprof_error error;
    if (rules_builtin(set, &error)) return fail_error(NULL, &error);
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
