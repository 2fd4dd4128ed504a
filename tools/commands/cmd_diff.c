// netprof diff: what happened between two snapshots.
#include "commands.h"
#include "commands/print/diff_output.h"
#include "cli/inputs.h"
#include "cli/options.h"
#include "cli/output.h"
#include "measure/last_reading.h"
#include "measure/node_options.h"
#include "analysis/data/runs.h"

#include <stdlib.h>
#include <string.h>

static int top = -1, force, as_json, as_csv, all, since_last;
static char *rank, *names, *state;
static char **groups;

static const struct poptOption options[] = {
    {"top", 'n', POPT_ARG_INT, &top, 0, "the N largest of each device and unit (0: all)", "N"},
    {"group", 'g', POPT_ARG_ARGV, &groups, 0, "only counters of this group; 'list' shows the groups", "GROUP"},
    {"all", 'a', POPT_ARG_NONE, &all, 0, "everything that changed, every group", NULL},
    {"rank", 0, POPT_ARG_STRING, &rank, 0, "rank within a unit, or plain values whatever the unit, as net_prof does",
     "unit|raw"},
    {"names", 0, POPT_ARG_STRING, &names, 0, "counter names of net_prof's text, one a line", "FILE"},
    {"force", 'f', POPT_ARG_NONE, &force, 0, "compare also different hosts or boots, or backwards", NULL},
    {"json", 0, POPT_ARG_NONE, &as_json, 0, "as JSON", NULL},
    {"csv", 0, POPT_ARG_NONE, &as_csv, 0, "as CSV: a line for each changed counter (--all: for each)", NULL},
    {"since-last", 0, POPT_ARG_NONE, &since_last, 0, "what happened on this node since you last asked so, as nstat",
     NULL},
    {"state", 0, POPT_ARG_STRING, &state, 0, "with --since-last: keep the reading in FILE", "FILE"},
    {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(uintptr_t)filter_options, 0, "What is looked at:", NULL},
    {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(uintptr_t)place_options, 0, "With --since-last:", NULL},
    POPT_TABLEEND,
};

static void cmd_diff_list_groups(void)
{
    static const column columns[] = {{"GROUP", 0}, {"SOURCE", 0}, {"MEANING", COLUMN_WRAP}};
    table *t = table_begin(columns, 3);
    const catalog_group *g;
    for (size_t i = 0; (g = catalog_group_at(i)); i++) {
        table_cell(t, PLAIN, g->name);
        table_cell(t, PLAIN, g->source);
        table_cell(t, PLAIN, g->description);
    }
    table_end(t, stdout, 0);
}

static int cmd_diff_choose_groups(uint64_t *bits)
{
    for (char **g = groups; g && *g; g++) {
        size_t group = catalog_group_find(*g);
        if (group == CATALOG_NO_GROUP)
            return fail_usage("--group: %s: no such group; --group list shows them", safe(*g));
        *bits |= UINT64_C(1) << group;
    }
    return EXIT_DONE;
}

static int cmd_diff_choose(diff_view *view)
{
    if (as_json && as_csv) return fail_usage("--json and --csv exclude each other");
    if (top < -1) return fail_usage("--top: %d: expected 0 or more", top);
    if (rank && strcmp(rank, "raw") != 0 && strcmp(rank, "unit") != 0)
        return fail_usage("--rank: %s: expected unit or raw", safe(rank));
    view->raw = rank && strcmp(rank, "raw") == 0;
    view->top_given = top >= 0;
    view->top = all && top < 0 ? 0 : top >= 0 ? (size_t)top : view->raw ? 20 : 5;
    view->all = all;
    return cmd_diff_choose_groups(&view->groups);
}

static void cmd_diff_print_one(const diff_view *view)
{
    if (as_json)
        json_print(stdout, diff_json(view));
    else if (as_csv)
        diff_print_csv(view);
    else
        diff_print_text(view);
}

// Runs of several nodes, one after the other.
static void cmd_diff_print_nodes(const diff_view *how, const run_list *list)
{
    json_object *o = as_json ? json_document("diffs") : NULL, *hosts = as_json ? json_new_array() : NULL;
    for (size_t i = 0; i < list->count; i++) {
        const node_run *run = list->items[i];
        dataset_run ends[] = {*run->first, *run->last}; // borrowed
        dataset set = {.runs = ends, .run_count = run->first == run->last ? 1 : 2};
        diff_view view = *how;
        view.set = &set;
        view.difference = &list->items[i]->d;
        view.difference->scope = how->difference->scope;
        view.host = run->first->host;
        view.untitled = i > 0;
        if (as_json) {
            json_object *one = diff_json(&view);
            json_object_object_del(one, "format");
            json_object_object_del(one, "version");
            json_put_text(one, "files", run->label);
            json_append(hosts, one);
            continue;
        }
        if (!as_csv) heading(stdout, "---- %s (%s)", *view.host ? safe(view.host) : "unnamed host", safe(run->label));
        cmd_diff_print_one(&view);
    }
    if (!as_json) return;
    json_put(o, "hosts", hosts);
    json_print(stdout, o);
}

static int cmd_diff_nodes(const diff_view *view)
{
    run_list list = {0};
    netprof_error error;
    if (runs_of_dataset(&list, view->set, force, &error))
        return fail_file(EXIT_FILE, error.path, "%s", error_text(&error));
    cmd_diff_print_nodes(view, &list);
    runs_free(&list);
    return EXIT_DONE;
}

// The two ends: the first snapshot of the first file, the last of the last.
static int cmd_diff_ends(diff_view *view)
{
    const char *scope = view->difference->scope;
    int code = inputs_compare(view->difference, view->set, force);
    view->difference->scope = scope;
    if (!code) cmd_diff_print_one(view);
    difference_free(view->difference);
    return code;
}

static int cmd_diff_run(const char **paths, size_t count)
{
    dataset set = {0};
    difference d = {0};
    char *scope = NULL;
    diff_view view = {.set = &set, .difference = &d};
    dataset_options how = {.names = names, .ends_only = 1};
    if (groups && groups[0] && strcmp(groups[0], "list") == 0) {
        cmd_diff_list_groups();
        return output_close();
    }
    if (since_last ? count : count < 1 || count > 2)
        return fail_usage(since_last ? "--since-last reads this node: expected no files"
                                     : "expected BEFORE and AFTER, or one file with both");
    if (state && !since_last) return fail_usage("--state: only with --since-last");
    int code = cmd_diff_choose(&view);
    if (!code) code = since_last ? last_reading_exchange(&set, state) : inputs_read(&set, paths, count, &how);
    inputs_drop_series(&set);
    if (!code) code = reading_filter(&set, &scope);
    d.scope = scope;
    if (!code) code = inputs_are_one_run(&set) || (force && count == 2) ? cmd_diff_ends(&view) : cmd_diff_nodes(&view);
    if (!code) code = output_close();
    if (!code && inputs_damaged(&set)) code = EXIT_WORTH_FAILING;
    dataset_free(&set);
    free(scope);
    return code;
}

const command command_diff = {
    .name = "diff",
    .alias = "summarize",
    .summary = "tell what happened between two snapshots",
    .arguments = "BEFORE [AFTER] | DIR\n--since-last",
    .text =
        "Compares two snapshots: traffic and troubles of each device, the counters that changed most (never one unit\n"
        "against another), groups, gauges, balance, and how good the data are. One file with several snapshots is\n"
        "compared from its first to its last. Reads .netprof, netprof's JSON, net_prof's JSON and net_prof's text.\n"
        "Of several nodes (a file of netprof merge, or a directory) each is compared for itself.\n"
        "With --since-last, what happened on this node since you last asked so; the first call keeps a reading only.",
    .examples = "netprof diff before.netprof after.netprof\n"
                "netprof diff before.netprof after.netprof --include 'lo/*bytes'\n"
                "netprof diff run.netprof --top 10\n"
                "netprof diff before.json after.json --group NetTraffic\n"
                "netprof diff --rank raw --top 20 before.netprof after.netprof --json",
    .exits = "0 done, 1 done but parts of the files were damaged, 2 wrong usage or the same reading twice, 3 a file\n"
             "could not be used, 4 with --force too there is no device in common.",
    .options = options,
    .run = cmd_diff_run,
    .json = &as_json,
};
