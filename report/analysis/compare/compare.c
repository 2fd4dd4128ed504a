#include "compare.h"

#include "compare_chance.h"
#include "comparer.h"
#include "analysis/base/stb_ds.h"
#include "analysis/data/runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The command's own time where the files say it: the readings around it take some, too. Where it is much shorter than
// what the counters' own stamps say, they are of another clock.
static int64_t compare_elapsed(const node_run *from)
{
    static const int64_t readings_ns = INT64_C(1000000000);
    const char *told = dataset_fact(from->last, "elapsed_ns");
    int64_t elapsed_ns = told && from->first == from->last ? strtoll(told, NULL, 10) : 0;
    bool fits = elapsed_ns > 0 && from->elapsed_ns - elapsed_ns < readings_ns;
    return fits || from->elapsed_ns <= 0 ? elapsed_ns : from->elapsed_ns;
}

// Takes over what a run of the files has. The healthy runs come first.
static void compare_take_run(comparison *c, comparison_side side, node_run *from)
{
    comparison_run *run = memory_calloc(1, sizeof *run);
    const char *command = dataset_fact(from->first, "command");
    run->side = side;
    run->host = memory_strdup(from->first->host);
    run->command = command ? memory_strdup(command) : NULL;
    run->damaged = from->damaged;
    run->wall_ns = from->wall_ns;
    run->elapsed_ns = compare_elapsed(from);
    run->exit_status = dataset_fact(from->last, "exit_status");
    run->signal = dataset_fact(from->last, "signal");
    run->first = from->first;
    run->last = from->last;
    run->label = from->label;
    from->label = NULL;
    difference_move(&run->d, &from->d);
    size_t place = side == COMPARISON_HEALTHY ? c->side_count[COMPARISON_HEALTHY] : c->run_count;
    arrput(c->runs, run);
    memmove(c->runs + place + 1, c->runs + place, (c->run_count - place) * sizeof *c->runs);
    c->runs[place] = run;
    c->run_count++;
    c->side_count[side]++;
}

netprof_err comparison_add(comparison *c, comparison_side side, const dataset *set, const comparison_options *options,
                           netprof_error *error)
{
    run_list list = {0};
    netprof_err err = runs_of_dataset(&list, set, options && options->force, error);
    for (size_t i = 0; !err && i < list.count; i++)
        compare_take_run(c, side, list.items[i]);
    runs_free(&list);
    return err;
}

static void compare_judge_runs(comparer *m)
{
    const comparison *c = m->c;
    m->runs = memory_calloc(c->run_count, sizeof *m->runs);
    for (size_t r = 0; r < c->run_count; r++) {
        c->runs[r]->d.scope = c->scope;
        evaluation_begin(&m->runs[r], &c->runs[r]->d);
        findings_make(&c->runs[r]->f, &c->runs[r]->d, m->set);
    }
}

netprof_err comparison_make(comparison *c, const rules *set, const comparison_options *options, netprof_error *error)
{
    static void (*const steps[])(comparer *) = {compare_judge_runs, comparer_devices, comparer_bytes, comparer_progress,
                                                comparer_work,      comparer_checks,  comparer_lines, comparer_chance,
                                                comparer_shapes,    comparer_gauges,  comparer_facts, comparer_notes,
                                                comparer_conclude,  comparer_answers, comparer_path,  comparer_events};
    comparer m = {.c = c, .set = set};
    c->basis = options ? options->basis : COMPARISON_MILDER;
    c->scope = options ? options->scope : NULL;
    for (int side = 0; side < COMPARISON_SIDES; side++) {
        if (c->side_count[side]) continue;
        if (error) *error = (netprof_error){.code = NETPROF_ERR_ARG};
        if (error) snprintf(error->text, sizeof error->text, "no %s run", comparison_side_name((comparison_side)side));
        return NETPROF_ERR_ARG;
    }
    c->splits = chance_splits(c->side_count[COMPARISON_HEALTHY], c->side_count[COMPARISON_FAULTY]);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        steps[i](&m);
    for (size_t r = 0; r < c->run_count; r++) {
        evaluation_end(&m.runs[r]);
        free(m.back[r]);
    }
    free(m.back);
    free(m.runs);
    free(m.bytes);
    free(m.same_makers);
    return NETPROF_OK;
}
