#include "runs.h"

#include "analysis/base/stb_ds.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 4, 5))) static netprof_err runs_fail(netprof_error *error, netprof_err code,
                                                                   const char *path, const char *format, ...)
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

static void runs_free_run(node_run *run)
{
    difference_free(&run->d);
    free(run->label);
    free(run);
}

// Within a boot CLOCK_MONOTONIC tells which is earlier: there the wall clock may have been set back.
static bool runs_is_backwards(const dataset_run *first, const dataset_run *last, const netprof_snapshot *begin,
                              const netprof_snapshot *end, bool force)
{
    const char *boots[2] = {dataset_fact(first, "boot_id"), dataset_fact(last, "boot_id")};
    bool known = !force && boots[0] && boots[1], timed = begin->begin_ns && end->begin_ns;
    bool back = timed && end->begin_ns < begin->begin_ns, walls = begin->wall_ns && end->wall_ns;
    if (known && strcmp(boots[0], boots[1]) != 0) return false; // that is said instead
    if (known && timed) return back;
    if (walls && end->wall_ns < begin->wall_ns) return true;
    return !force && back && (!walls || end->wall_ns == begin->wall_ns);
}

static netprof_err runs_subtract(node_run *run, bool force, netprof_error *error)
{
    const dataset_run *first = run->first, *last = run->last;
    const netprof_snapshot *begin = first->snapshot_count ? &first->snapshots[0] : NULL;
    const netprof_snapshot *end = last->snapshot_count ? &last->snapshots[last->snapshot_count - 1] : NULL;
    if (!begin || !end) {
        difference_of_delta(&run->d, &first->deltas[0]);
        return NETPROF_OK;
    }
    netprof_error wrong = {.code = NETPROF_OK};
    bool backwards = runs_is_backwards(first, last, begin, end, force);
    netprof_err err = backwards ? NETPROF_OK : difference_of_ends(&run->d, first, last, force, &wrong);
    if (backwards)
        return runs_fail(error, NETPROF_ERR_ARG, last->path, "is earlier than %.90s; expected the earlier one first",
                         first == last ? "its first snapshot" : first->path);
    if (err && error) *error = wrong;
    if (err && error && !error->path[0]) snprintf(error->path, sizeof error->path, "%s", run->label);
    return err;
}

static netprof_err runs_add_run(run_list *list, const dataset_run *first, const dataset_run *last, bool force,
                                netprof_error *error)
{
    node_run *run = memory_calloc(1, sizeof *run);
    run->label = first == last ? memory_strdup(first->path) : memory_format("%s, %s", first->path, last->path);
    run->first = first;
    run->last = last;
    run->damaged = !first->complete || !last->complete;
    netprof_err err = runs_subtract(run, force, error);
    if (err) {
        runs_free_run(run);
        return err;
    }
    difference_keep_facts(&run->d, last->facts, last->fact_count);
    if (first != last) difference_keep_begin(&run->d, first->facts, first->fact_count);
    run->wall_ns = run->d.delta->wall_begin_ns;
    run->elapsed_ns = run->d.total.elapsed_ns ? run->d.total.elapsed_ns : run->d.delta->interval_ns;
    arrput(list->items, run);
    list->count = arrlenu(list->items);
    return NETPROF_OK;
}

// The next file with one snapshot of the same host, or NULL.
static const dataset_run *runs_partner(const dataset *set, size_t i, const bool *used)
{
    for (size_t k = i + 1; k < set->run_count; k++) {
        const dataset_run *other = &set->runs[k];
        if (!used[k] && other->snapshot_count == 1 && strcmp(other->host, set->runs[i].host) == 0) return other;
    }
    return NULL;
}

static netprof_err runs_run_from(run_list *list, const dataset *set, size_t i, bool *used, bool force,
                                 netprof_error *error)
{
    const dataset_run *run = &set->runs[i], *last = run;
    if (!run->snapshot_count && run->delta_count != 1)
        return runs_fail(error, NETPROF_ERR_ARG, run->path, "holds %zu differences; expected one, or snapshots",
                         run->delta_count);
    if (run->snapshot_count == 1) last = runs_partner(set, i, used);
    if (!last)
        return runs_fail(error, NETPROF_ERR_ARG, run->path,
                         "holds one snapshot%s%.60s; expected a second one of the same host behind it",
                         *run->host ? " of " : "", run->host);
    used[last - set->runs] = true;
    return runs_add_run(list, run, last, force, error);
}

netprof_err runs_of_dataset(run_list *list, const dataset *set, bool force, netprof_error *error)
{
    netprof_err err = NETPROF_OK;
    bool *used = memory_calloc(set->run_count, sizeof *used);
    runs_free(list);
    for (size_t i = 0; i < set->run_count && !err; i++)
        if (!used[i]) err = runs_run_from(list, set, i, used, force, error);
    free(used);
    if (err) runs_free(list);
    return err;
}

void runs_free(run_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        runs_free_run(list->items[i]);
    arrfree(list->items);
    *list = (run_list){0};
}
