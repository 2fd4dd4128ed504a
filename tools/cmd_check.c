// netprof check: what the rules find, and an exit code for prologues.
#include "common.h"
#include "findings.h"
#include "inputs.h"
#include "options.h"
#include "output.h"
#include "reading.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int now, as_json, force, all;
static char *interval_text, *rules_path, *fail_on, *names;

static const struct poptOption options[] = {
    {"now", 0, POPT_ARG_NONE, &now, 0, "read this node twice instead of files", NULL},
    {"interval", 't', POPT_ARG_STRING, &interval_text, 0, "time between the two readings (1s): 500ms, 10s, 1m", "TIME"},
    {"rules", 'r', POPT_ARG_STRING, &rules_path, 0, "more rules; one of the same name replaces a built-in one", "FILE"},
    {"fail-on", 0, POPT_ARG_STRING, &fail_on, 0, "exit with 1 for a finding this bad or worse (high)",
     "watch|warn|high|critical"},
    {"all", 'a', POPT_ARG_NONE, &all, 0, "every finding with its evidence, and every check that could not be made", NULL},
    {"names", 0, POPT_ARG_STRING, &names, 0, "counter names of net_prof's text, one a line", "FILE"},
    {"force", 'f', POPT_ARG_NONE, &force, 0, "compare also different hosts or boots, or backwards", NULL},
    {"json", 0, POPT_ARG_NONE, &as_json, 0, "as JSON", NULL},
    {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(uintptr_t)set_option, 0, "With --now:", NULL},
    {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(uintptr_t)reading_options, 0, NULL, NULL},
    POPT_TABLEEND,
};

// ---- text ----

static const char *paint(severity s)
{
    static const char *const sequences[SEVERITIES] = {"", "\033[2m", "\033[33m", "\033[33m", "\033[31m", "\033[31m"};
    return sequences[s];
}

// "cxi0", or of several findings alike "cxi0 5.67".
static char *device_text(const findings *f, const finding *x, bool alone)
{
    char value[48];
    const char *shown = alone ? "" : finding_value_text(x, value, sizeof value);
    return text_format("%s%s%s", safe(finding_device(f, x)), *shown ? " " : "", shown);
}

static bool alike(const finding *a, const finding *b)
{
    return a->rule == b->rule && a->severity == b->severity;
}

// The devices of all findings like this one: "cxi0 5.67, cxi1 5.63 and 6 more".
static char *devices_text(const findings *f, size_t from, bool *done)
{
    enum { SHOWN = 8 };
    size_t count = 0, listed = 0;
    for (size_t i = from; i < f->count; i++)
        count += alike(&f->items[i], &f->items[from]);
    char *text = must(strdup(""));
    for (size_t i = from; i < f->count; i++) {
        if (!alike(&f->items[i], &f->items[from]) || (all && i != from)) continue;
        done[i] = true;
        if (listed++ >= SHOWN) continue;
        char *device = device_text(f, &f->items[i], all || count == 1);
        char *longer = text_format("%s%s%s", text, listed > 1 ? ", " : "", device);
        free(device);
        free(text);
        text = longer;
    }
    if (listed <= SHOWN) return text;
    char *longer = text_format("%s and %zu more", text, listed - SHOWN);
    free(text);
    return longer;
}

static void print_evidence(const finding *x)
{
    for (size_t i = 0; i < x->evidence_count; i++) {
        const finding_evidence *e = &x->evidence[i];
        const char *value = e->counter == DIFFERENCE_NONE ? number_si(e->number, "") : number_exact(e->value);
        printf("%s%s%s %s%s%s", i ? ", " : "          ", safe(e->name), e->gauge ? " is" : "", value, *e->unit ? " " : "",
               safe(e->unit));
    }
    if (x->evidence_count) putchar('\n');
}

static const char *sign_of(const rule_threshold *t)
{
    static const char *const signs[] = {"<", "<=", ">", ">="};
    return signs[t->op - EXPRESSION_LESS];
}

static void print_finding(const findings *f, size_t i, bool *done)
{
    const finding *x = &f->items[i];
    char *devices = devices_text(f, i, done);
    const char *colour_on = output_colour(stdout) ? paint(x->severity) : "";
    printf("%s%-8s%s  %s: %s\n          %s\n", colour_on, severity_name(x->severity), *colour_on ? "\033[0m" : "",
           safe(x->rule->name), devices, safe(x->claim));
    free(devices);
}

static void print_details(const finding *x)
{
    print_evidence(x);
    printf("          threshold: %s %.6g%s%s (%s)\n", sign_of(x->threshold), x->threshold->value,
           *x->rule->unit ? " " : "", safe(x->rule->unit), safe(x->threshold->origin));
    if (x->explained_by) printf("          explained by: %s\n", safe(x->explained_by));
    if (*x->rule->advice) printf("          do: %s\n", safe(x->rule->advice));
}

static void print_findings(const findings *f)
{
    bool *done = must(calloc(f->count + 1, sizeof *done));
    for (size_t i = 0; i < f->count; i++) {
        if (done[i]) continue;
        putchar('\n');
        print_finding(f, i, done);
        if (all || f->items[i].severity >= SEVERITY_WATCH) print_details(&f->items[i]);
    }
    free(done);
}

static void print_background(const findings *f)
{
    if (!f->background_count) return;
    heading(stdout, "Alike on all devices, no fault of one of them");
    for (size_t i = 0; i < f->background_count; i++) {
        const finding_background *b = &f->background[i];
        printf("  %s: %s to %s %s on each of %zu devices (%s)\n", safe(b->counter), number_exact(b->min),
               number_exact(b->max), safe(b->unit), b->devices, safe(b->source));
    }
}

static void print_unknown(const findings *f)
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

static void print_text(const findings *f)
{
    heading(stdout, "%s", safe(f->verdict));
    print_findings(f);
    print_background(f);
    print_unknown(f);
}

// ---- what is judged ----

static int judge(const difference *d)
{
    rules set = {0};
    findings f = {0};
    netprof_error error;
    severity limit = SEVERITY_HIGH;
    if (fail_on) severity_parse(fail_on, &limit);
    int code = inputs_rules(&set, rules_path);
    if (!code && findings_make(&f, d, &set, &error)) code = fail_error(NULL, &error);
    if (!code) {
        if (as_json) json_print(stdout, must(findings_json(&f)));
        else print_text(&f);
        code = output_close();
        bool found = f.count && f.items[0].severity >= limit;
        if (!code) code = !f.judged ? EXIT_NOTHING : found ? EXIT_WORTH_FAILING : EXIT_DONE;
    }
    findings_free(&f);
    rules_free(&set);
    return code;
}

static int check_files(const char **paths, size_t count)
{
    dataset set = {0};
    difference d = {0};
    dataset_options how = {.names = names, .ends_only = 1};
    int code = inputs_read(&set, paths, count, &how);
    if (!code) code = inputs_compare(&d, &set, force);
    if (!code) code = judge(&d);
    difference_free(&d);
    dataset_free(&set);
    return code;
}

static void wait_for(int64_t ns)
{
    struct timespec left = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) continue;
}

static int check_now(int64_t interval_ns)
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
    if (!code) wait_for(interval_ns);
    if (!code && netprof_take(np, &after, set, &error)) code = fail_error(NULL, &error);
    if (!code && difference_of_snapshots(&d, &before, &after, force, &error)) code = fail_error(NULL, &error);
    if (!code) code = judge(&d);
    difference_free(&d);
    netprof_snapshot_free(&before);
    netprof_snapshot_free(&after);
    netprof_close(np);
    return code;
}

static int run(const char **paths, size_t count)
{
    int64_t interval_ns = 1000000000;
    severity limit;
    if (fail_on && (!severity_parse(fail_on, &limit) || limit < SEVERITY_WATCH))
        return fail_usage("--fail-on: %s: expected watch, warn, high or critical", safe(fail_on));
    if (interval_text && !parse_duration(interval_text, &interval_ns))
        return fail_usage("--interval: %s: expected a time like 500ms, 10s or 1m", safe(interval_text));
    if (now && count) return fail_usage("--now reads this node; files are not needed");
    if (!now && (count < 1 || count > 2)) return fail_usage("expected BEFORE and AFTER, one file with both, or --now");
    return now ? check_now(interval_ns) : check_files(paths, count);
}

const command command_check = {
    .name = "check",
    .summary = "judge a run or this node by rules: what is wrong, whose fault, what to do",
    .arguments = "[BEFORE [AFTER]]",
    .text = "Judges what happened between two snapshots by rules: findings, the worst first, each with its evidence, the\n"
            "threshold and where that is from, and what to do. Fit for a job's prologue: the exit code tells whether\n"
            "something is bad. What could not be read is named and never taken for good.",
    .examples = "netprof check before.netprof after.netprof\n"
                "netprof check run.netprof --json\n"
                "netprof check --now --interval 10s --fail-on high\n"
                "netprof check --now --rules site-rules.csv",
    .exits = "0 nothing as bad as --fail-on, 1 something is, 2 wrong usage, 3 a file could not be used,\n"
             "4 nothing to read, or nothing that a rule could judge.",
    .options = options,
    .run = run,
    .json = &as_json,
};
