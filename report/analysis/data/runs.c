#include "runs.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 4, 5))) static netprof_err fail(netprof_error *error, netprof_err code, const char *path,
                                                              const char *format, ...)
{
    va_list arguments;
    if (!error) return code;
    *error = (netprof_error){.code = code};
    snprintf(error->path, sizeof error->path, "%s", path);
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return code;
}

static void free_run(node_run *run)
{
    if (!run) return;
    difference_free(&run->d);
    free(run->label);
    free(run);
}

static char *label_of(const dataset_run *first, const dataset_run *last)
{
    size_t size = strlen(first->path) + strlen(last->path) + 3;
    char *label = malloc(size);
    if (!label) return NULL;
    if (first == last)
        snprintf(label, size, "%s", first->path);
    else
        snprintf(label, size, "%s, %s", first->path, last->path);
    return label;
}

static netprof_err subtract(node_run *run, bool force, netprof_error *error)
{
    const dataset_run *first = run->first, *last = run->last;
    const netprof_snapshot *begin = first->snapshot_count ? &first->snapshots[0] : NULL;
    const netprof_snapshot *end = last->snapshot_count ? &last->snapshots[last->snapshot_count - 1] : NULL;
    if (!begin || !end) return difference_of_delta(&run->d, &first->deltas[0], error);
    if (begin->wall_ns && end->wall_ns && end->wall_ns < begin->wall_ns)
        return fail(error, NETPROF_ERR_ARG, last->path, "is earlier than %.90s; expected the earlier one first",
                    first == last ? "its first snapshot" : first->path);
    netprof_err err = difference_of_snapshots(&run->d, begin, end, force, error);
    if (err && error && !error->path[0]) snprintf(error->path, sizeof error->path, "%s", last->path);
    return err;
}

static netprof_err add_run(run_list *list, const dataset_run *first, const dataset_run *last, bool force,
                           netprof_error *error)
{
    node_run *run = calloc(1, sizeof *run);
    node_run **items = realloc(list->items, (list->count + 1) * sizeof *items);
    if (items) list->items = items;
    if (run) run->label = label_of(first, last);
    if (!run || !items || !run->label) {
        free_run(run);
        return fail(error, NETPROF_ERR_NOMEM, "", "no memory");
    }
    run->first = first;
    run->last = last;
    run->damaged = !first->complete || !last->complete;
    netprof_err err = subtract(run, force, error);
    if (err) {
        free_run(run);
        return err;
    }
    run->wall_ns = run->d.delta->wall_begin_ns;
    run->elapsed_ns = run->d.total.elapsed_ns ? run->d.total.elapsed_ns : run->d.delta->interval_ns;
    items[list->count++] = run;
    return NETPROF_OK;
}

// The next file with one snapshot of the same host, or NULL.
static const dataset_run *partner(const dataset *set, size_t i, const bool *used)
{
    for (size_t k = i + 1; k < set->run_count; k++) {
        const dataset_run *other = &set->runs[k];
        if (!used[k] && other->snapshot_count == 1 && strcmp(other->host, set->runs[i].host) == 0) return other;
    }
    return NULL;
}

static netprof_err run_from(run_list *list, const dataset *set, size_t i, bool *used, bool force, netprof_error *error)
{
    const dataset_run *run = &set->runs[i], *last = run;
    if (!run->snapshot_count && run->delta_count != 1)
        return fail(error, NETPROF_ERR_ARG, run->path, "holds %zu differences; expected one, or snapshots",
                    run->delta_count);
    if (run->snapshot_count == 1) last = partner(set, i, used);
    if (!last)
        return fail(error, NETPROF_ERR_ARG, run->path,
                    "holds one snapshot%s%.60s; expected a second one of the same host behind it",
                    *run->host ? " of " : "", run->host);
    used[last - set->runs] = true;
    return add_run(list, run, last, force, error);
}

netprof_err runs_of_dataset(run_list *list, const dataset *set, bool force, netprof_error *error)
{
    netprof_err err = NETPROF_OK;
    bool *used = calloc(set->run_count + 1, sizeof *used);
    runs_free(list);
    if (!used) return fail(error, NETPROF_ERR_NOMEM, "", "no memory");
    for (size_t i = 0; i < set->run_count && !err; i++)
        if (!used[i]) err = run_from(list, set, i, used, force, error);
    free(used);
    if (err) runs_free(list);
    return err;
}

void runs_free(run_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free_run(list->items[i]);
    free(list->items);
    *list = (run_list){0};
}
