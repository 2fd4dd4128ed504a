// netprof check: what the rules find, and an exit code for prologues.
#include "commands.h"
#include "analysis/base/memory.h"
#include "analysis/base/saturating_sum.h"
#include "analysis/base/stb_ds.h"
#include "analysis/job/job_check.h"
#include "analysis/job/job_list.h"
#include "analysis/rules/findings_nodes.h"
#include "cli/fail_on.h"
#include "cli/inputs.h"
#include "commands/print/check_regions.h"
#include "cli/options.h"
#include "cli/output.h"
#include "measure/node_options.h"
#include "commands/print/check_output.h"
#include "commands/print/json_csv.h"
#include "analysis/data/runs.h"
#include "analysis/base/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int now, as_json, as_csv, force, all, pair, apart;
static char *interval_text, *rules_path, *fail_on_text, *names, *expect;
static fail_on failing;

static const struct poptOption options[] = {
    {"now", 0, POPT_ARG_NONE, &now, 0, "read this node twice instead of files", NULL},
    {"interval", 't', POPT_ARG_STRING, &interval_text, 0, "time between the two readings (1s): 500ms, 10s, 1m", "TIME"},
    {"rules", 'r', POPT_ARG_STRING, &rules_path, 0, "more rules; one of the same name replaces a built-in one", "FILE"},
    {"fail-on", 0, POPT_ARG_STRING, &fail_on_text, 0,
     "exit with 1 for a finding this bad or worse (high); unknown: also for what could not be judged",
     FAIL_ON_ARGUMENT},
    {"expect", 0, POPT_ARG_STRING, &expect, 0,
     "ports that must be here, up and as fast: cxi0-7,hsn0@200G, or a file from when all was well", "NAMES|FILE"},
    {"all", 'a', POPT_ARG_NONE, &all, 0, "every finding with its evidence, and every check that could not be made",
     NULL},
    {"pair", 0, POPT_ARG_NONE, &pair, 0,
     "the runs are of two nodes that talked with each other alone: count what got lost", NULL},
    {"apart", 0, POPT_ARG_NONE, &apart, 0,
     "the runs have nothing to do with each other: judge each by itself, compare no nodes", NULL},
    {"names", 0, POPT_ARG_STRING, &names, 0, "counter names of net_prof's text, one a line", "FILE"},
    {"force", 'f', POPT_ARG_NONE, &force, 0, "compare also different hosts or boots, or backwards", NULL},
    {"json", 0, POPT_ARG_NONE, &as_json, 0, "as JSON", NULL},
    {"csv", 0, POPT_ARG_NONE, &as_csv, 0, "as CSV: a line for each finding", NULL},
    {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(uintptr_t)filter_options, 0,
     "What is looked at, of files as well:", NULL},
    {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(uintptr_t)set_option, 0, "With --now:", NULL},
    {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(uintptr_t)place_options, 0, NULL, NULL},
    POPT_TABLEEND,
};

// ---- what is asked for ----

// Read before anything is measured: a mistake in it costs no waiting.
typedef struct cmd_check_asked {
    rules set;
    expected_devices wanted;
    char *scope; // what alone is looked at; NULL: all
} cmd_check_asked;

static cmd_check_asked asked;

static bool cmd_check_is_file(const char *text)
{
    size_t n = strlen(text), end = strlen(".netprof");
    return access(text, F_OK) == 0 || (n > end && strcmp(text + n - end, ".netprof") == 0);
}

static int cmd_check_expect_file(expected_devices *x)
{
    dataset set = {0};
    dataset_options how = {.names = names, .ends_only = 1};
    difference d = {0};
    netprof_error error;
    const char *path = expect;
    int code = inputs_read(&set, &path, 1, &how);
    const dataset_run *run = set.run_count ? &set.runs[set.run_count - 1] : NULL;
    if (!code && (!run || !run->snapshot_count)) code = fail(EXIT_FILE, "--expect: %s: holds no snapshot", safe(path));
    if (!code) {
        const netprof_snapshot *s = &run->snapshots[run->snapshot_count - 1];
        if (difference_of_snapshots(&d, s, s, true, &error)) code = fail_error(path, &error);
    }
    if (!code) expected_of_node(x, &d);
    if (!code && !arrlenu(x->items))
        code = fail(EXIT_FILE, "--expect: %s: holds no port whose link was up", safe(path));
    difference_free(&d);
    dataset_free(&set);
    return code;
}

static int cmd_check_expected(expected_devices *x)
{
    char *problem = NULL;
    if (!expect) return EXIT_DONE;
    if (cmd_check_is_file(expect)) return cmd_check_expect_file(x);
    if (expected_parse(x, expect, &problem)) return EXIT_DONE;
    int code = fail_usage("--expect: %s", safe(problem));
    free(problem);
    return code;
}

static int cmd_check_read_asked(void)
{
    int code = cmd_check_expected(&asked.wanted);
    return code ? code : inputs_rules(&asked.set, rules_path);
}

static void cmd_check_free_asked(void)
{
    rules_free(&asked.set);
    expected_free(&asked.wanted);
    free(asked.scope);
    asked = (cmd_check_asked){0};
}

// ---- what the samples in between tell ----

// The recordings as a job, beside which their ends are judged.
typedef struct cmd_check_samples {
    const char *const *paths; // NULL: no recordings
    size_t count;
    bool there;
    job_report job;
    job_check added;
} cmd_check_samples;

static cmd_check_samples between_ends;

// Files of several jobs have no report in common.
static void cmd_check_read_samples_of(cmd_check_samples *x)
{
    job_list list = {0};
    netprof_error error;
    if (!x->paths || pair || names || !job_report_wants(x->paths, x->count)) return;
    job_list_read(&list, x->paths, x->count);
    const job_report_options how = {.rules = &asked.set};
    if (list.count == 1) {
        x->there = !job_report_read(&x->job, x->paths, x->count, &how, &error);
        if (!x->there)
            warn("%s: only the first and the last reading were judged: %s", safe(error.path), error_text(&error));
    }
    job_list_free(&list);
}

static void cmd_check_read_samples(void)
{
    cmd_check_read_samples_of(&between_ends);
}

static void cmd_check_add_samples_of(cmd_check_samples *x, findings *f, const dataset_run *run)
{
    size_t node = x->there ? job_check_node(&x->job, run) : JOB_NONE;
    if (node != JOB_NONE) job_check_add(&x->added, f, &x->job, node, &asked.set);
}

static void cmd_check_add_samples(findings *f, const dataset_run *run)
{
    cmd_check_add_samples_of(&between_ends, f, run);
}

static void cmd_check_free_samples_of(cmd_check_samples *x)
{
    job_check_free(&x->added);
    job_report_free(&x->job);
    *x = (cmd_check_samples){0};
}

static void cmd_check_free_samples(void)
{
    cmd_check_free_samples_of(&between_ends);
}

// ---- what is judged ----

static int cmd_check_judge(difference *d, const dataset_run *run)
{
    findings f = {0};
    d->scope = asked.scope;
    findings_make_expecting(&f, d, &asked.wanted, &asked.set);
    if (run) cmd_check_read_samples();
    if (run) cmd_check_add_samples(&f, run);
    if (as_json)
        json_print(stdout, memory_check(findings_json(&f)));
    else if (as_csv)
        findings_csv_print(stdout, memory_check(findings_json(&f)));
    else
        check_print_text(&f, all);
    int code = output_close();
    if (!code) code = fail_on_code(&failing, f.severity, f.is_blind);
    findings_free(&f);
    cmd_check_free_samples();
    return code;
}

// ---- several nodes, or several runs ----

static void cmd_check_make_node(check_node *n, const run_list *list, size_t i, const ends_pair *between)
{
    n->run = list->items[i];
    n->order = i;
    findings_far far = {0};
    if (between) far = (findings_far){.d = &list->items[!i]->d, .devices = between->of[i & 1]};
    findings_make_pair(&n->f, &n->run->d, between ? &far : NULL, &asked.set);
    if (!between) cmd_check_add_samples(&n->f, n->run->first);
}

static int cmd_check_print_nodes(check_nodes *n)
{
    bool blind = false;
    for (size_t i = 0; i < n->count; i++)
        blind |= n->items[i].f.is_blind;
    check_nodes_sort(n);
    if (as_json)
        json_print(stdout, check_nodes_json(n));
    else if (as_csv)
        findings_csv_print(stdout, check_nodes_json(n));
    else
        check_nodes_print_text(n);
    int code = output_close();
    return code ? code : fail_on_code(&failing, n->items[0].f.severity, blind);
}

// Where their recordings are no job's, which compares them itself.
static void cmd_check_compare_nodes(check_nodes *n)
{
    if (pair || apart || between_ends.there) return;
    findings_node *nodes = memory_calloc(n->count + 1, sizeof *nodes);
    for (size_t i = 0; i < n->count; i++) {
        const node_run *run = n->items[i].run;
        nodes[i] = (findings_node){.name = run->first->host,
                                   .job = dataset_fact(run->first, "job_id"),
                                   .f = &n->items[i].f,
                                   .from_ns = run->wall_ns,
                                   .to_ns = sum_capped_signed(run->wall_ns, run->elapsed_ns)};
    }
    findings_compare_nodes(nodes, n->count, &asked.set);
    free(nodes);
}

// --apart: the samples of a run that is one file, as a job of its own.
static void cmd_check_make_apart(cmd_check_samples *own, check_node *n, const run_list *list, size_t i)
{
    const dataset_run *run = list->items[i]->first;
    const char *path = run->path;
    *own = (cmd_check_samples){.paths = between_ends.paths ? &path : NULL, .count = 1};
    cmd_check_make_node(n, list, i, NULL);
    if (run == list->items[i]->last) cmd_check_read_samples_of(own);
    cmd_check_add_samples_of(own, &n->f, run);
}

static int cmd_check_judge_apart(const run_list *list)
{
    check_nodes nodes = {
        .items = memory_calloc(list->count + 1, sizeof *nodes.items), .count = list->count, .all = all};
    cmd_check_samples *own = memory_calloc(list->count + 1, sizeof *own);
    for (size_t i = 0; i < list->count; i++) {
        list->items[i]->d.scope = asked.scope;
        cmd_check_make_apart(&own[i], &nodes.items[i], list, i);
    }
    int code = cmd_check_print_nodes(&nodes);
    for (size_t i = 0; i < list->count; i++) {
        findings_free(&nodes.items[i].f);
        cmd_check_free_samples_of(&own[i]);
    }
    free(nodes.items);
    free(own);
    return code;
}

static int cmd_check_judge_nodes(const run_list *list)
{
    ends_pair between = {0};
    check_nodes nodes = {.items = memory_calloc(list->count + 1, sizeof *nodes.items),
                         .count = list->count,
                         .between = pair ? &between : NULL,
                         .all = all};
    if (pair) ends_find(&between, &list->items[0]->d, &list->items[1]->d);
    for (size_t i = 0; i < list->count; i++)
        list->items[i]->d.scope = asked.scope;
    cmd_check_read_samples();
    for (size_t i = 0; i < list->count; i++)
        cmd_check_make_node(&nodes.items[i], list, i, nodes.between);
    cmd_check_compare_nodes(&nodes);
    int code = cmd_check_print_nodes(&nodes);
    for (size_t i = 0; i < list->count; i++)
        findings_free(&nodes.items[i].f);
    free(nodes.items);
    cmd_check_free_samples();
    ends_free(&between);
    return code;
}

static bool cmd_check_is_pair(const run_list *list)
{
    return list->count == 2 && strcmp(list->items[0]->first->host, list->items[1]->first->host) != 0;
}

static int cmd_check_runs(const dataset *set)
{
    run_list list = {0};
    netprof_error error;
    if (runs_of_dataset(&list, set, force, &error)) return fail_file(EXIT_FILE, error.path, "%s", error_text(&error));
    int code = pair && !cmd_check_is_pair(&list)
                   ? fail_usage("--pair: expected the runs of two nodes, not %s%s", words_many(list.count, "run").text,
                                list.count == 2 ? " of one node" : "")
               : apart ? cmd_check_judge_apart(&list)
                       : cmd_check_judge_nodes(&list);
    runs_free(&list);
    return code;
}

static int cmd_check_readings(const char **paths, size_t count)
{
    dataset set = {0};
    difference d = {0};
    dataset_options how = {.names = names, .ends_only = 1};
    int code = inputs_read(&set, paths, count, &how);
    inputs_drop_series(&set);
    if (!code) code = reading_filter(&set, &asked.scope);
    // The samples in between are those of everything.
    if (!asked.scope) between_ends = (cmd_check_samples){.paths = paths, .count = count};
    if (!code && (pair || !inputs_are_one_run(&set))) {
        if (expect) {
            dataset_free(&set);
            return fail_usage("--expect: expected --now or one run, not the runs of several nodes");
        }
        code = cmd_check_runs(&set);
        dataset_free(&set);
        return code;
    }
    if (!code) code = inputs_compare(&d, &set, force);
    if (!code) code = cmd_check_judge(&d, set.run_count == 1 ? &set.runs[0] : NULL);
    difference_free(&d);
    dataset_free(&set);
    return code;
}

// Regions among the files have a verdict of their own, which counts as well.
static int cmd_check_files(const char **paths, size_t count)
{
    bool blind = false;
    char *scope = reading_scope(); // regions are no part of it
    severity waits = scope ? SEVERITY_OK : check_regions(paths, count, &asked.set, as_json || as_csv, &blind);
    free(scope);
    int code = cmd_check_readings(paths, count), of_waits = fail_on_code(&failing, waits, blind);
    if (of_waits == EXIT_WORTH_FAILING && code == EXIT_UNKNOWN) return of_waits;
    return code == EXIT_DONE ? of_waits : code;
}

static void cmd_check_wait_for(int64_t ns)
{
    struct timespec left = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
        continue;
}

// A source is there and cannot be read: that is not the same as nothing to read.
static bool cmd_check_is_kept_out(const netprof *np)
{
    const netprof_schema *schema = netprof_get_schema(np);
    bool failed = false;
    for (size_t i = 0; i < schema->source_count; i++)
        failed |= schema->sources[i].status == NETPROF_STATUS_DENIED ||
                  schema->sources[i].status == NETPROF_STATUS_UNREADABLE;
    return failed;
}

static void cmd_check_keep_socket(void *user, const char *key, const char *value)
{
    difference_add_fact(user, key, value);
}

static int cmd_check_now(int64_t interval_ns)
{
    netprof *np;
    netprof_snapshot before = NETPROF_ZERO, after = NETPROF_ZERO;
    netprof_set set;
    netprof_error error;
    difference d = {0};
    tcp_sockets *sockets = NULL;
    if (!reading_set(&set, NETPROF_SET_ALL)) return EXIT_USAGE;
    int code = reading_open_with(&np, FINDINGS_HOST_SOURCES);
    asked.scope = reading_scope();
    if (code == EXIT_NOTHING) code = cmd_check_is_kept_out(np) ? EXIT_DONE : reading_nothing(np);
    if (!code && netprof_take(np, &before, set, &error)) code = fail_error(NULL, &error);
    if (!code) sockets = reading_sockets(np);
    if (!code) cmd_check_wait_for(interval_ns);
    if (!code && netprof_take(np, &after, set, &error)) code = fail_error(NULL, &error);
    if (!code && difference_of_snapshots(&d, &before, &after, force, &error)) code = fail_error(NULL, &error);
    tcp_sockets_look_now(sockets);
    if (!code && sockets) tcp_sockets_facts(sockets, true, cmd_check_keep_socket, &d);
    if (!code) code = cmd_check_judge(&d, NULL);
    tcp_sockets_close(sockets);
    difference_free(&d);
    netprof_snapshot_free(&before);
    netprof_snapshot_free(&after);
    netprof_close(np);
    return code;
}

static int cmd_check_run(const char **paths, size_t count)
{
    int64_t interval_ns = 1000000000;
    if (!fail_on_parse(&failing, fail_on_text)) return EXIT_USAGE;
    if (interval_text && !parse_duration(interval_text, &interval_ns))
        return fail_usage("--interval: %s: expected a time like 500ms, 10s or 1m", safe(interval_text));
    if (expect && pair) return fail_usage("--expect: expected --now or one run, not --pair");
    if (as_json && as_csv) return fail_usage("--json and --csv exclude each other");
    if (apart && (now || pair)) return fail_usage("--apart: expected files of runs, not --now or --pair");
    if (now && pair) return fail_usage("--pair: expected files of two nodes, not --now");
    if (now && count) return fail_usage("--now reads this node; files are not needed");
    if (!now && !count) return fail_usage("expected BEFORE and AFTER, files of runs, or --now");
    int code = cmd_check_read_asked();
    if (!code) code = now ? cmd_check_now(interval_ns) : cmd_check_files(paths, count);
    cmd_check_free_asked();
    return code;
}

const command command_check = {
    .name = "check",
    .summary = "judge a run or this node by rules: what is wrong, whose fault, what to do",
    .arguments = "[BEFORE [AFTER] | RUN...]",
    .text =
        "Judges what happened between two snapshots by rules: findings, the worst first, each with its evidence, the\n"
        "threshold and where that is from, and what to do. What could not be read is named and never taken for good.\n"
        "Fit for a job's prologue: the exit code tells whether something is bad, or could not be judged. --now reads\n"
        "the network and the host (CPU, memory, pressure, EDAC, GPUs) twice, in a few hundredths of a second of CPU\n"
        "time each; it cannot see that a port is missing since before: --expect says what must be here. More files,\n"
        "or two that are runs of different nodes, are judged run by run, the worst first: a file with several\n"
        "snapshots is a run, and so are two files with one snapshot each of the same host. Of two nodes that talked\n"
        "with each other alone (a benchmark), read before it began and after it ended, --pair tells what got lost\n"
        "between them. Nodes are held against each other, as those of one job; with --apart each is judged by itself.\n"
        "--include, --exclude and --sources leave out of files what nobody asks about; the verdict then says so, for\n"
        "it is about nothing else.",
    .examples = "netprof check before.netprof after.netprof\n"
                "netprof check before.netprof after.netprof --include lo\n"
                "netprof check run.netprof --json\n"
                "netprof check node*.netprof\n"
                "netprof check --apart node*.netprof\n"
                "netprof check --pair node1.netprof node2.netprof\n"
                "netprof check --now --interval 10s --fail-on high\n"
                "netprof check --now --expect cxi0-7@200G --fail-on high,unknown\n"
                "netprof check --now --rules site-rules.csv",
    .exits = "0 nothing as bad as --fail-on, 1 something is, 2 wrong usage, 3 a file could not be used,\n"
             "4 nothing to read here, 5 something that matters could not be judged (see --fail-on).",
    .options = options,
    .source_names = reading_source_names,
    .run = cmd_check_run,
    .json = &as_json,
};
