// The output of netprof check for people: one run.
#include "check_output.h"

#include "analysis/base/memory.h"
#include "analysis/base/signals.h"
#include "analysis/base/words.h"
#include "cli/output.h"

#include <stdlib.h>
#include <string.h>

static const char *check_text_paint(severity s)
{
    static const char *const sequences[SEVERITIES] = {"",         "\033[2m",  "\033[2m", "\033[33m",
                                                      "\033[33m", "\033[31m", "\033[31m"};
    return sequences[s];
}

// "cxi0", or of several findings alike "cxi0 5.67".
static char *check_text_device_text(const findings *f, const finding *x, bool alone)
{
    char value[48];
    const char *shown = alone ? "" : finding_value_text(x, value, sizeof value);
    return memory_format("%s%s%s", safe(finding_device(f, x)), *shown ? " " : "", shown);
}

static bool check_text_alike(const finding *a, const finding *b)
{
    bool alike = a->rule == b->rule && a->severity == b->severity;
    return alike && (!a->rule->in_words || strcmp(a->claim, b->claim) == 0);
}

// The devices of all findings like this one: "cxi0 5.67, cxi1 5.63 and 6 more".
static char *check_text_devices_text(const findings *f, size_t from, bool all, bool *done)
{
    enum { SHOWN = 8 };
    size_t count = 0, listed = 0;
    for (size_t i = from; i < f->count; i++)
        count += check_text_alike(&f->items[i], &f->items[from]);
    char *text = memory_strdup("");
    for (size_t i = from; i < f->count; i++) {
        if (!check_text_alike(&f->items[i], &f->items[from]) || (all && i != from)) continue;
        done[i] = true;
        if (listed++ >= SHOWN) continue;
        char *device = check_text_device_text(f, &f->items[i], all || count == 1);
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

static void check_text_print_evidence(const findings *f, const finding *x)
{
    for (size_t i = 0; i < x->evidence_count; i++) {
        const finding_evidence *e = &x->evidence[i];
        const words_text value = e->counter == DIFFERENCE_NONE ? words_amount(e->number, "") : words_exact(e->value);
        const char *device = finding_evidence_device(f, x, e);
        printf("%s%s%s%s%s %s%s%s", i ? ", " : "          ", device ? safe(device) : "", device ? " " : "",
               safe(e->name), e->gauge ? " is" : "", value.text, *e->unit ? " " : "", safe(e->unit));
    }
    if (x->evidence_count) putchar('\n');
}

static void check_text_print_finding(const findings *f, size_t i, bool all, bool *done)
{
    const finding *x = &f->items[i];
    char *devices = check_text_devices_text(f, i, all, done);
    const char *colour_on = output_colour(stdout) ? check_text_paint(x->severity) : "";
    printf("%s%-8s%s  %s: %s\n          %s\n", colour_on, severity_name(x->severity), *colour_on ? "\033[0m" : "",
           safe(x->rule->name), devices, safe(x->claim));
    free(devices);
}

static void check_text_print_details(const findings *f, const finding *x)
{
    char threshold[RULES_THRESHOLD_TEXT];
    check_text_print_evidence(f, x);
    printf("          threshold: %s (%s)\n", safe(rules_threshold_text(x->rule, x->threshold, NULL, threshold)),
           safe(x->threshold->origin));
    if (x->explained_by) printf("          explained by: %s\n", safe(x->explained_by));
    if (*x->rule->advice) printf("          do: %s\n", safe(x->rule->advice));
}

static void check_text_print_findings(const findings *f, bool all)
{
    bool *done = memory_calloc(f->count + 1, sizeof *done);
    for (size_t i = 0; i < f->count; i++) {
        if (done[i]) continue;
        putchar('\n');
        check_text_print_finding(f, i, all, done);
        if (all || f->items[i].severity >= SEVERITY_WATCH) check_text_print_details(f, &f->items[i]);
    }
    free(done);
}

static void check_text_print_background(const findings *f)
{
    if (!f->background_count) return;
    heading(stdout, "Alike on all devices, no fault of one of them");
    for (size_t i = 0; i < f->background_count; i++) {
        const finding_background *b = &f->background[i];
        printf("  %s: %s to %s %s on each of %zu devices (%s)\n", safe(b->counter), words_exact(b->min).text,
               words_exact(b->max).text, safe(b->unit), b->devices, safe(b->source));
    }
}

static void check_text_print_unmade(const findings *f)
{
    for (size_t i = 0; i < f->unknown_count; i++) {
        const finding_unknown *u = &f->unknown[i];
        if (!u->rule) continue;
        printf("    %s: %s: %s%s%s\n", safe(finding_unknown_place(f, u)), safe(u->rule->name),
               u->counter ? safe(u->counter) : "", u->counter ? ": " : "", safe(u->reason));
    }
}

static void check_text_print_unknown(const findings *f, bool all)
{
    enum { SHOWN = 5 };
    if (!f->gap_count) return;
    heading(stdout, "Could not be judged");
    for (size_t i = 0; i < f->gap_count && (all || i < SHOWN); i++) {
        char *text = finding_gap_text(f, &f->gaps[i]);
        printf("  %s\n", safe(text));
        free(text);
    }
    if (all) check_text_print_unmade(f);
    if (!all && f->gap_count > SHOWN) printf("  and %zu more (--all)\n", f->gap_count - SHOWN);
}

// How the command of the run ended, unless the verdict says so.
static void check_text_print_command(const findings *f)
{
    const difference *d = f->d;
    const char *status = netprof_fact_of(d->run_facts, d->run_fact_count, "exit_status"),
               *killed = netprof_fact_of(d->run_facts, d->run_fact_count, "signal"),
               *command = netprof_fact_of(d->run_facts, d->run_fact_count, "command");
    bool failed = killed || (status && strcmp(status, "0") != 0);
    if (!failed || (f->count && strcmp(f->items[0].rule->class_name, "command") == 0)) return;
    char *name = memory_strdup(command ? safe(command) : "The command");
    if (killed)
        printf("%s ended by %s\n", name, signals_text(atoi(killed)).text);
    else
        printf("%s ended with exit status %s\n", name, safe(status));
    free(name);
}

void check_print_text(const findings *f, bool all)
{
    heading(stdout, "%s", safe(f->verdict));
    check_text_print_command(f);
    check_text_print_findings(f, all);
    check_text_print_background(f);
    check_text_print_unknown(f, all);
}
