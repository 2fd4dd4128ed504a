// netprof check: what the rules find, and an exit code for prologues.
#include "commands.h"
#include "analysis/base/memory.h"
#include "analysis/compare/link_pairs.h"
#include "analysis/rules/findings.h"
#include "cli/inputs.h"
#include "cli/options.h"
#include "cli/output.h"
#include "measure/node_options.h"
#include "analysis/data/runs.h"
#include "analysis/base/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int now, as_json, force, all, pair;
static char *interval_text, *rules_path, *fail_on, *names;

static const struct poptOption options[] = {
    {"now", 0, POPT_ARG_NONE, &now, 0, "read this node twice instead of files", NULL},
    {"interval", 't', POPT_ARG_STRING, &interval_text, 0, "time between the two readings (1s): 500ms, 10s, 1m", "TIME"},
    {"rules", 'r', POPT_ARG_STRING, &rules_path, 0, "more rules; one of the same name replaces a built-in one", "FILE"},
    {"fail-on", 0, POPT_ARG_STRING, &fail_on, 0, "exit with 1 for a finding this bad or worse (high)",
     "watch|warn|high|critical"},
    {"all", 'a', POPT_ARG_NONE, &all, 0, "every finding with its evidence, and every check that could not be made",
     NULL},
    {"pair", 0, POPT_ARG_NONE, &pair, 0,
     "the runs are of two nodes that talked with each other alone: count what got lost", NULL},
    {"names", 0, POPT_ARG_STRING, &names, 0, "counter names of net_prof's text, one a line", "FILE"},
    {"force", 'f', POPT_ARG_NONE, &force, 0, "compare also different hosts or boots, or backwards", NULL},
    {"json", 0, POPT_ARG_NONE, &as_json, 0, "as JSON", NULL},
    {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(uintptr_t)set_option, 0, "With --now:", NULL},
    {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(uintptr_t)reading_options, 0, NULL, NULL},
    POPT_TABLEEND,
};

// ---- text ----

static const char *cmd_check_paint(severity s)
{
    static const char *const sequences[SEVERITIES] = {"",         "\033[2m",  "\033[2m", "\033[33m",
                                                      "\033[33m", "\033[31m", "\033[31m"};
    return sequences[s];
}

// "cxi0", or of several findings alike "cxi0 5.67".
static char *cmd_check_device_text(const findings *f, const finding *x, bool alone)
{
    char value[48];
    const char *shown = alone ? "" : finding_value_text(x, value, sizeof value);
    return memory_format("%s%s%s", safe(finding_device(f, x)), *shown ? " " : "", shown);
}

static bool cmd_check_alike(const finding *a, const finding *b)
{
    bool alike = a->rule == b->rule && a->severity == b->severity;
    return alike && (!a->rule->in_words || strcmp(a->claim, b->claim) == 0);
}

// The devices of all findings like this one: "cxi0 5.67, cxi1 5.63 and 6 more".
static char *cmd_check_devices_text(const findings *f, size_t from, bool *done)
{
    enum { SHOWN = 8 };
    size_t count = 0, listed = 0;
    for (size_t i = from; i < f->count; i++)
        count += cmd_check_alike(&f->items[i], &f->items[from]);
    char *text = memory_strdup("");
    for (size_t i = from; i < f->count; i++) {
        if (!cmd_check_alike(&f->items[i], &f->items[from]) || (all && i != from)) continue;
        done[i] = true;
        if (listed++ >= SHOWN) continue;
        char *device = cmd_check_device_text(f, &f->items[i], all || count == 1);
        char *longer = memory_format("%s%s%s", text, listed > 1 ? ", " : "", device);
        free(device);
        free(text);
        text = longer;
    }
    if (listed <= SHOWN) return text;
    char *longer = memory_format("%s and %zu more", text, listed - SHOWN);
    free(text);
    return longer;
}

static void cmd_check_print_evidence(const finding *x)
{
    for (size_t i = 0; i < x->evidence_count; i++) {
        const finding_evidence *e = &x->evidence[i];
        const words_text value = e->counter == DIFFERENCE_NONE ? words_amount(e->number, "") : words_exact(e->value);
        printf("%s%s%s %s%s%s", i ? ", " : "          ", safe(e->name), e->gauge ? " is" : "", value.text,
               *e->unit ? " " : "", safe(e->unit));
    }
    if (x->evidence_count) putchar('\n');
}

static const char *cmd_check_sign_of(const rule_threshold *t)
{
    static const char *const signs[] = {"<", "<=", ">", ">="};
    return signs[t->op - EXPRESSION_LESS];
}

static void cmd_check_print_finding(const findings *f, size_t i, bool *done)
{
    const finding *x = &f->items[i];
    char *devices = cmd_check_devices_text(f, i, done);
    const char *colour_on = output_colour(stdout) ? cmd_check_paint(x->severity) : "";
    printf("%s%-8s%s  %s: %s\n          %s\n", colour_on, severity_name(x->severity), *colour_on ? "\033[0m" : "",
           safe(x->rule->name), devices, safe(x->claim));
    free(devices);
}

static void cmd_check_print_details(const finding *x)
{
    cmd_check_print_evidence(x);
    printf("          threshold: %s %.6g%s%s (%s)\n", cmd_check_sign_of(x->threshold), x->threshold->value,
           *x->rule->unit ? " " : "", safe(x->rule->unit), safe(x->threshold->origin));
    if (x->explained_by) printf("          explained by: %s\n", safe(x->explained_by));
    if (*x->rule->advice) printf("          do: %s\n", safe(x->rule->advice));
}

static void cmd_check_print_findings(const findings *f)
{
    bool *done = memory_calloc(f->count + 1, sizeof *done);
    for (size_t i = 0; i < f->count; i++) {
        if (done[i]) continue;
        putchar('\n');
        cmd_check_print_finding(f, i, done);
        if (all || f->items[i].severity >= SEVERITY_WATCH) cmd_check_print_details(&f->items[i]);
    }
    free(done);
}

static void cmd_check_print_background(const findings *f)
{
    if (!f->background_count) return;
    heading(stdout, "Alike on all devices, no fault of one of them");
    for (size_t i = 0; i < f->background_count; i++) {
        const finding_background *b = &f->background[i];
        printf("  %s: %s to %s %s on each of %zu devices (%s)\n", safe(b->counter), words_exact(b->min).text,
               words_exact(b->max).text, safe(b->unit), b->devices, safe(b->source));
    }
}

static void cmd_check_print_unknown(const findings *f)
{
    enum { SHOWN = 5 };
    if (!f->unknown_count) return;
    heading(stdout, "Could not be judged");
    for (size_t i = 0; i < f->unknown_count && (all || i < SHOWN); i++) {
        const finding_unknown *u = &f->unknown[i];
        const char *device =
            u->device == DIFFERENCE_NONE ? u->rule->source : f->d->delta->schema->devices[u->device].name;
        printf("  %s: %s: %s%s%s\n", safe(device), safe(u->rule->name), u->counter ? safe(u->counter) : "",
               u->counter ? ": " : "", safe(u->reason));
    }
    if (!all && f->unknown_count > SHOWN) printf("  and %zu more (--all)\n", f->unknown_count - SHOWN);
}

static void cmd_check_print_text(const findings *f)
{
    heading(stdout, "%s", safe(f->verdict));
    cmd_check_print_findings(f);
    cmd_check_print_background(f);
    cmd_check_print_unknown(f);
}

// ---- what is judged ----

static severity cmd_check_limit_wanted(void)
{
    severity limit = SEVERITY_HIGH;
    if (fail_on) severity_parse(fail_on, &limit);
    return limit;
}

static int cmd_check_judge(const difference *d)
{
    rules set = {0};
    findings f = {0};
    int code = inputs_rules(&set, rules_path);
    if (!code) {
        findings_make(&f, d, &set);
        if (as_json)
            json_print(stdout, memory_check(findings_json(&f)));
        else
            cmd_check_print_text(&f);
        code = output_close();
        bool found = f.count && f.items[0].severity >= cmd_check_limit_wanted();
        if (!code) code = !f.judged ? EXIT_NOTHING : found ? EXIT_WORTH_FAILING : EXIT_DONE;
    }
    findings_free(&f);
    rules_free(&set);
    return code;
}

// ---- several nodes, or several runs ----

typedef struct node {
    const node_run *run;
    findings f;
    size_t order;
} node;

// ---- --pair ----

static ends_pair between;

// The links are those of the first two runs; printed nodes are in another order.
static const node *cmd_check_node_of(const node *nodes, size_t order)
{
    return nodes[0].order == order ? &nodes[0] : &nodes[1];
}

static const char *cmd_check_link_device(const node *n, const ends_link *link)
{
    return n->run->d.delta->schema->devices[link->device[n->order]].name;
}

static void cmd_check_find_pair(const run_list *list)
{
    ends_find(&between, &list->items[0]->d, &list->items[1]->d);
}

static void cmd_check_make_findings(node *n, const run_list *list, const rules *set)
{
    findings_far far = {.d = pair ? &list->items[!n->order]->d : NULL, .devices = between.of[n->order & 1]};
    findings_make_pair(&n->f, &n->run->d, pair ? &far : NULL, set);
}

static int cmd_check_compare_nodes(const void *a, const void *b)
{
    const node *x = a, *y = b;
    size_t i = 0;
    if (x->f.severity != y->f.severity) return x->f.severity > y->f.severity ? -1 : 1;
    // Of equally bad ones: whose findings are worse, one by one.
    for (; i < x->f.count && i < y->f.count; i++)
        if (x->f.items[i].severity != y->f.items[i].severity)
            return x->f.items[i].severity > y->f.items[i].severity ? -1 : 1;
    if (x->f.count != y->f.count) return x->f.count > y->f.count ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static const char *cmd_check_node_name(const node *n)
{
    return *n->run->first->host ? n->run->first->host : n->run->label;
}

static size_t cmd_check_count_worrying(const findings *f)
{
    size_t count = 0;
    while (count < f->count && f->items[count].severity >= SEVERITY_WATCH)
        count++;
    return count;
}

// "critical on 1 of 3 runs: n04: cxi2: ...": the worst first, and how many are as bad.
static char *cmd_check_overall_text(const node *nodes, size_t count)
{
    size_t alike_count = 0;
    severity worst = nodes[0].f.severity;
    for (size_t i = 0; i < count; i++)
        alike_count += nodes[i].f.severity == worst;
    if (worst < SEVERITY_WATCH) return memory_format("No fault found on %zu nodes or runs", count);
    return memory_format("%s on %zu of %zu nodes or runs, first %s: %s", severity_name(worst), alike_count, count,
                         cmd_check_node_name(&nodes[0]), nodes[0].f.verdict);
}

static void cmd_check_print_way(const node *from, const node *to, const ends_link *link)
{
    uint64_t sent = link->sent[from->order], received = link->received[from->order];
    char *begin = memory_format("%s %s", safe(cmd_check_node_name(from)), safe(cmd_check_link_device(from, link)));
    printf("  %s sent %s packets; ", begin, words_exact(sent).text);
    printf("%s %s received %s", safe(cmd_check_node_name(to)), safe(cmd_check_link_device(to, link)),
           words_exact(received).text);
    if (received > sent)
        printf(": %s more, so it was not only this pair that sent", words_exact(received - sent).text);
    else if (received < sent)
        printf(": %s did not arrive", words_exact(sent - received).text);
    else
        printf(": all");
    putchar('\n');
    free(begin);
}

static void cmd_check_print_pair(const node *nodes)
{
    const node *a = cmd_check_node_of(nodes, 0), *b = cmd_check_node_of(nodes, 1);
    heading(stdout, "Between the two nodes");
    if (!between.count)
        printf("  No port of one received about what a port of the other sent: this was no closed pair.\n");
    for (size_t i = 0; i < between.count; i++) {
        cmd_check_print_way(a, b, &between.links[i]);
        cmd_check_print_way(b, a, &between.links[i]);
    }
    if (between.count && between.apart_ns >= 0)
        printf("  They were read up to %s apart, by their clocks: exact only if nothing moved meanwhile.\n",
               safe(words_duration((double)between.apart_ns * 1e-9).text));
}

static void cmd_check_print_nodes(const node *nodes, size_t count)
{
    static const column columns[] = {{"VERDICT", 0}, {"NODE", 0}, {"FINDINGS", COLUMN_RIGHT}, {"UNKNOWN", COLUMN_RIGHT},
                                     {"FIRST", 0},   {"FILES", 0}};
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    char *text = cmd_check_overall_text(nodes, count);
    heading(stdout, "%s", safe(text));
    free(text);
    for (size_t i = 0; i < count; i++) {
        const findings *f = &nodes[i].f;
        colour c = f->severity >= SEVERITY_HIGH ? ALARM : f->severity >= SEVERITY_WATCH ? WARNING : PLAIN;
        table_cell(t, c, severity_name(f->severity));
        table_cell(t, PLAIN, cmd_check_node_name(&nodes[i]));
        table_cell(t, PLAIN, words_exact(cmd_check_count_worrying(f)).text);
        table_cell(t, PLAIN, words_exact(f->unknown_count).text);
        table_cell(t, PLAIN, f->count && cmd_check_count_worrying(f) ? f->items[0].rule->name : NULL);
        table_cell(t, PLAIN, nodes[i].run->label);
    }
    table_end(t, stdout, 2);
    if (pair) cmd_check_print_pair(nodes);
    for (size_t i = 0; i < count; i++) {
        if (nodes[i].f.severity < SEVERITY_WATCH && !all) continue;
        heading(stdout, "---- %s (%s)", safe(cmd_check_node_name(&nodes[i])), safe(nodes[i].run->label));
        cmd_check_print_text(&nodes[i].f);
    }
}

static json_object *cmd_check_way_json(const node *from, const node *to, const ends_link *link)
{
    json_object *o = json_new_object();
    json_put_text(o, "from", cmd_check_node_name(from));
    json_put_text(o, "from_device", cmd_check_link_device(from, link));
    json_put_text(o, "to", cmd_check_node_name(to));
    json_put_text(o, "to_device", cmd_check_link_device(to, link));
    json_put(o, "sent_packets", json_exact_value(link->sent[from->order]));
    json_put(o, "received_packets", json_exact_value(link->received[from->order]));
    return o;
}

static json_object *cmd_check_pair_json(const node *nodes)
{
    json_object *list = json_new_array();
    const node *a = cmd_check_node_of(nodes, 0), *b = cmd_check_node_of(nodes, 1);
    for (size_t i = 0; i < between.count; i++) {
        json_append(list, cmd_check_way_json(a, b, &between.links[i]));
        json_append(list, cmd_check_way_json(b, a, &between.links[i]));
    }
    return list;
}

// As of one node, and each finding says whose it is; "hosts" has the rest of each node.
static json_object *cmd_check_nodes_json(const node *nodes, size_t count)
{
    json_object *o = json_document("findings"), *verdict = json_new_object();
    json_object *hosts = json_new_array(), *merged = json_new_array();
    char *text = cmd_check_overall_text(nodes, count);
    json_put_text(verdict, "severity", severity_name(nodes[0].f.severity));
    json_put_text(verdict, "text", text);
    free(text);
    json_put(o, "verdict", verdict);
    for (size_t i = 0; i < count; i++) {
        json_object *one = memory_check(findings_json(&nodes[i].f)), *list = NULL;
        json_object_object_del(one, "format");
        json_object_object_del(one, "version");
        json_put_text(one, "host", nodes[i].run->first->host);
        json_put_text(one, "files", nodes[i].run->label);
        json_append(hosts, one);
        if (!json_object_object_get_ex(one, "findings", &list)) continue;
        for (size_t k = 0; k < json_object_array_length(list); k++) {
            json_object *x = json_object_array_get_idx(list, k);
            json_put_text(x, "host", nodes[i].run->first->host);
            json_append(merged, json_object_get(x));
        }
    }
    json_put(o, "findings", merged);
    json_put(o, "hosts", hosts);
    if (pair) json_put(o, "pair", cmd_check_pair_json(nodes));
    return o;
}

// The findings of all nodes, the worst first.
static int cmd_check_compare_merged(const void *a, const void *b)
{
    json_object *const *x = a, *const *y = b;
    severity p = SEVERITY_OK, q = SEVERITY_OK;
    json_object *value;
    if (json_object_object_get_ex(*x, "severity", &value)) severity_parse(json_object_get_string(value), &p);
    if (json_object_object_get_ex(*y, "severity", &value)) severity_parse(json_object_get_string(value), &q);
    return (int)q - (int)p;
}

static void cmd_check_print_nodes_json(const node *nodes, size_t count)
{
    json_object *o = cmd_check_nodes_json(nodes, count), *merged = NULL;
    if (json_object_object_get_ex(o, "findings", &merged)) json_object_array_sort(merged, cmd_check_compare_merged);
    json_print(stdout, o);
}

static int cmd_check_judge_nodes(const run_list *list)
{
    rules set = {0};
    size_t judged = 0;
    node *nodes = memory_calloc(list->count + 1, sizeof *nodes);
    int code = inputs_rules(&set, rules_path);
    if (!code && pair) cmd_check_find_pair(list);
    for (size_t i = 0; i < list->count && !code; i++) {
        nodes[i].run = list->items[i];
        nodes[i].order = i;
        cmd_check_make_findings(&nodes[i], list, &set);
        judged += nodes[i].f.judged;
    }
    if (!code) {
        qsort(nodes, list->count, sizeof *nodes, cmd_check_compare_nodes);
        if (as_json)
            cmd_check_print_nodes_json(nodes, list->count);
        else
            cmd_check_print_nodes(nodes, list->count);
        code = output_close();
        bool found = nodes[0].f.count && nodes[0].f.items[0].severity >= cmd_check_limit_wanted();
        if (!code) code = !judged ? EXIT_NOTHING : found ? EXIT_WORTH_FAILING : EXIT_DONE;
    }
    for (size_t i = 0; i < list->count; i++)
        findings_free(&nodes[i].f);
    free(nodes);
    ends_free(&between);
    rules_free(&set);
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
    if (runs_of_dataset(&list, set, force, &error))
        return fail(EXIT_FILE, "%s: %s", safe(error.path), error_text(&error));
    int code = pair && !cmd_check_is_pair(&list)
                   ? fail_usage("--pair: expected the runs of two nodes, not %s%s", words_many(list.count, "run").text,
                                list.count == 2 ? " of one node" : "")
                   : cmd_check_judge_nodes(&list);
    runs_free(&list);
    return code;
}

static int cmd_check_files(const char **paths, size_t count)
{
    dataset set = {0};
    difference d = {0};
    dataset_options how = {.names = names, .ends_only = 1};
    int code = inputs_read(&set, paths, count, &how);
    inputs_drop_series(&set);
    if (!code && (pair || !inputs_are_one_run(&set))) {
        code = cmd_check_runs(&set);
        dataset_free(&set);
        return code;
    }
    if (!code) code = inputs_compare(&d, &set, force);
    if (!code) code = cmd_check_judge(&d);
    difference_free(&d);
    dataset_free(&set);
    return code;
}

static void cmd_check_wait_for(int64_t ns)
{
    struct timespec left = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
        continue;
}

static int cmd_check_now(int64_t interval_ns)
{
    netprof *np;
    netprof_snapshot before = NETPROF_ZERO, after = NETPROF_ZERO;
    netprof_set set;
    netprof_error error;
    difference d = {0};
    if (!reading_set(&set, NETPROF_SET_ALL)) return EXIT_USAGE;
    int code = reading_open(&np, NULL);
    if (code == EXIT_NOTHING) code = reading_nothing(np);
    if (!code && netprof_take(np, &before, set, &error)) code = fail_error(NULL, &error);
    if (!code) cmd_check_wait_for(interval_ns);
    if (!code && netprof_take(np, &after, set, &error)) code = fail_error(NULL, &error);
    if (!code && difference_of_snapshots(&d, &before, &after, force, &error)) code = fail_error(NULL, &error);
    if (!code) code = cmd_check_judge(&d);
    difference_free(&d);
    netprof_snapshot_free(&before);
    netprof_snapshot_free(&after);
    netprof_close(np);
    return code;
}

static int cmd_check_run(const char **paths, size_t count)
{
    int64_t interval_ns = 1000000000;
    severity limit;
    if (fail_on && (!severity_parse(fail_on, &limit) || limit < SEVERITY_WATCH))
        return fail_usage("--fail-on: %s: expected watch, warn, high or critical", safe(fail_on));
    if (interval_text && !parse_duration(interval_text, &interval_ns))
        return fail_usage("--interval: %s: expected a time like 500ms, 10s or 1m", safe(interval_text));
    if (now && pair) return fail_usage("--pair: expected files of two nodes, not --now");
    if (now && count) return fail_usage("--now reads this node; files are not needed");
    if (!now && !count) return fail_usage("expected BEFORE and AFTER, files of runs, or --now");
    return now ? cmd_check_now(interval_ns) : cmd_check_files(paths, count);
}

const command command_check = {
    .name = "check",
    .summary = "judge a run or this node by rules: what is wrong, whose fault, what to do",
    .arguments = "[BEFORE [AFTER] | RUN...]",
    .text =
        "Judges what happened between two snapshots by rules: findings, the worst first, each with its evidence, the\n"
        "threshold and where that is from, and what to do. Fit for a job's prologue: the exit code tells whether\n"
        "something is bad. What could not be read is named and never taken for good. More files, or two that are runs "
        "of\n"
        "different nodes, are judged run by run, the worst first: a file with several snapshots is a run, and so are "
        "two\n"
        "files with one snapshot each of the same host. Of two nodes that talked with each other alone (a benchmark),\n"
        "read before it began and after it ended, --pair tells what got lost between them.",
    .examples = "netprof check before.netprof after.netprof\n"
                "netprof check run.netprof --json\n"
                "netprof check node*.netprof\n"
                "netprof check --pair node1.netprof node2.netprof\n"
                "netprof check --now --interval 10s --fail-on high\n"
                "netprof check --now --rules site-rules.csv",
    .exits = "0 nothing as bad as --fail-on, 1 something is, 2 wrong usage, 3 a file could not be used,\n"
             "4 nothing to read, or nothing that a rule could judge.",
    .options = options,
    .source_names = reading_source_names,
    .run = cmd_check_run,
    .json = &as_json,
};
