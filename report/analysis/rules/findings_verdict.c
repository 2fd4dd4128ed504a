// The verdict in one sentence: what was found, or on what nothing was found, and what could not be judged.
#include "findings_making.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/text.h"
#include "analysis/base/words.h"

#include <stdlib.h>
#include <string.h>

// ---- where ----

// For each device: was a rule about it judged (and not only one about the data)?
static bool *findings_judged_devices(const findings *f)
{
    bool *judged = memory_calloc(f->d->delta->schema->device_count + 1, sizeof *judged);
    int data = rules_class_rank("data");
    for (size_t i = 0; i < f->check_count; i++) {
        const finding_check *c = &f->checks[i];
        if (c->judged && c->device != DIFFERENCE_NONE && c->rule->class_rank < data) judged[c->device] = true;
    }
    return judged;
}

static const char *findings_check_source(const findings *f, const finding_check *c)
{
    return c->device == DIFFERENCE_NONE ? c->rule->source : f->d->delta->schema->devices[c->device].source;
}

static bool findings_is_host_judged(const findings *f)
{
    for (size_t i = 0; i < f->check_count; i++) {
        const char *source = findings_check_source(f, &f->checks[i]);
        if (f->checks[i].judged && strcmp(source, "ip") != 0 && findings_is_host(source)) return true;
    }
    return false;
}

// Ports first; where there is none any device of the network, each port once.
static const char **findings_judged_names(const findings_making *m, const bool *judged, bool physical)
{
    const netprof_schema *schema = m->f->d->delta->schema;
    const char **names = NULL;
    for (size_t i = 0; i < schema->device_count; i++) {
        const netprof_device *dev = &schema->devices[i];
        if (!findings_is_network(dev->source) || evaluation_counts_again(&m->e, i)) continue;
        if (physical && !(dev->flags & NETPROF_DEVICE_PHYSICAL)) continue;
        if (judged[i]) arrput(names, dev->name);
    }
    return names;
}

void findings_find_places(findings_making *m)
{
    findings *f = m->f;
    bool *judged = findings_judged_devices(f);
    const char **names = findings_judged_names(m, judged, true);
    if (!arrlenu(names)) {
        arrfree(names);
        names = findings_judged_names(m, judged, false);
    }
    free(judged);
    f->places = findings_names_text(names, arrlenu(names));
    arrfree(names);
    if (findings_is_host_judged(f)) text_append(&f->places, "%sthe host", f->places ? " and " : "");
    if (!f->places && f->judged) f->places = memory_strdup("what was read");
}

// ---- the sentence ----

static void findings_append_load(char **text, const findings_load *l)
{
    const char *least = l->is_whole ? "" : "at least ";
    text_append(text, "%s%s/s in, %s/s out", least, words_quantity(8 * l->rate[0], "b").text,
                words_quantity(8 * l->rate[1], "b").text);
}

// How many devices have this finding, and how many findings there are besides.
static size_t findings_alike(const findings *f, const finding *x, size_t *others)
{
    size_t count = 0;
    *others = 0;
    for (size_t i = 0; i < f->count; i++) {
        bool same = f->items[i].rule == x->rule && (x->alike || f->items[i].severity == x->severity);
        count += same;
        *others += !same && f->items[i].severity >= SEVERITY_WATCH;
    }
    return count;
}

static void findings_append_worst(findings *f)
{
    const finding *x = &f->items[0];
    size_t others, same = findings_alike(f, x, &others);
    text_append(&f->verdict, "%s", finding_who(f, x).text);
    if (!x->alike && same == 2) text_append(&f->verdict, " and another");
    if (!x->alike && same > 2) text_append(&f->verdict, " and %zu others", same - 1);
    text_append(&f->verdict, ": %s", x->claim ? x->claim : "");
    if (others) text_append(&f->verdict, " (and %s)", words_many(others, "more finding").text);
}

// NULL: of no class that is a fault of its own kind.
static const char *findings_class_words(const char *class_name)
{
    static const struct {
        const char *name, *words;
    } rows[] = {{"link-down", "a link that was down"},       {"link-errors", "errors of a link"},
                {"host-loss", "loss on this host"},          {"back-pressure", "a host that is too slow"},
                {"congestion", "congestion in the network"}, {"transport", "lost or repeated messages"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, class_name) == 0) return rows[i].words;
    return NULL;
}

// How many of the checks that could not be made could have been a warning or worse; the worst of them.
static size_t findings_count_hidden(const findings *f, const finding_unknown **worst)
{
    size_t count = 0;
    *worst = NULL;
    for (size_t i = 0; i < f->unknown_count; i++) {
        const finding_unknown *u = &f->unknown[i];
        if (u->hides < SEVERITY_WARN) continue;
        count += u->checks;
        if (!*worst || u->matters > (*worst)->matters ||
            (u->matters == (*worst)->matters && u->hides > (*worst)->hides))
            *worst = u;
    }
    return count;
}

static severity findings_worst_hidden(const findings *f)
{
    severity worst = SEVERITY_OK;
    for (size_t i = 0; i < f->unknown_count; i++)
        if (f->unknown[i].hides > worst) worst = f->unknown[i].hides;
    return worst;
}

static void findings_append_unmade(findings *f)
{
    const finding_unknown *u;
    size_t hidden = findings_count_hidden(f, &u);
    if (!f->unknown_checks) return;
    text_append(&f->verdict, "; %s could not be made", words_many(f->unknown_checks, "check").text);
    if (!hidden) {
        text_append(&f->verdict, ", which could have shown nothing worse than %s",
                    severity_name(findings_worst_hidden(f)));
        return;
    }
    const char *words = findings_class_words(u->hides_class), *where = finding_unknown_place(f, u);
    if (hidden == f->unknown_checks)
        text_append(&f->verdict, ", which could have shown");
    else
        text_append(&f->verdict, ", of which %zu could have shown", hidden);
    if (hidden > 1)
        text_append(&f->verdict, " faults%s%s (%s)", words ? " such as " : "", words ? words : "", where);
    else
        text_append(&f->verdict, " %s (%s)", words ? words : "a fault", where);
}

static void findings_conclude_blind(findings *f)
{
    const finding_gap *gap = f->gaps;
    size_t causes = 0, checks = 0;
    text_append(&f->verdict, "Could not be judged: ");
    f->blind_at = strlen(f->verdict);
    if (!f->gap_count) {
        text_append(&f->verdict, "no rule found its counters");
        return;
    }
    for (size_t i = 0; i < f->gap_count; i++) {
        if (f->gaps[i].matters != gap->matters) continue;
        causes++;
        checks += f->gaps[i].checks;
    }
    text_append(&f->verdict, "%s: %s; this", gap->where, gap->why);
    if (causes > 1) text_append(&f->verdict, " and %s", words_many(causes - 1, "other cause").text);
    text_append(&f->verdict, " %s %s", causes > 1 ? "hide" : "hides", words_many(checks, "check").text);
    if (f->judged == 1)
        text_append(&f->verdict, "; the one that was made, on %s, found no fault", f->places);
    else if (f->judged)
        text_append(&f->verdict, "; the %zu that were made, on %s, found no fault", f->judged, f->places);
    if (f->count && f->items[0].severity >= SEVERITY_WATCH && f->items[0].claim)
        text_append(&f->verdict, "; besides, %s", f->items[0].claim);
}

static bool findings_is_idle(const findings *f)
{
    return f->load.devices && f->load.idle == f->load.devices;
}

static void findings_conclude_good(findings *f)
{
    const findings_load *l = &f->load;
    if (findings_is_idle(f)) {
        text_append(&f->verdict, "Nearly idle: ");
        findings_append_load(&f->verdict, l);
        text_append(&f->verdict, ", too little traffic to judge performance; no fault found on %s by %s", f->places,
                    words_many(f->judged, "check").text);
        return;
    }
    text_append(&f->verdict, "No fault found on %s by %s", f->places, words_many(f->judged, "check").text);
    if (!l->devices) return;
    text_append(&f->verdict, " at ");
    findings_append_load(&f->verdict, l);
    if (l->share > 0) text_append(&f->verdict, " (at most %s of a line)", words_share(l->share).text);
}

// No verdict is about what was left out.
static void findings_append_scope(findings *f)
{
    if (f->d->scope) text_append(&f->verdict, "; looked only at %s", f->d->scope);
}

// Is all that was found that the readings took long? What could not be judged outranks it: both say that little is known.
static bool findings_are_of_readings(const findings *f)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->items[i].severity >= SEVERITY_WATCH && strcmp(f->items[i].rule->name, "x-time") != 0) return false;
    return true;
}

void findings_conclude(findings *f)
{
    static const char *const begins[SEVERITIES] = {
        "", "", "", "Worth watching: ", "Warning: ", "Serious: ", "Critical: "};
    f->severity = f->count ? f->items[0].severity : SEVERITY_OK;
    f->is_blind |= !f->judged;
    f->blind_at = 0;
    if (f->is_blind && findings_are_of_readings(f)) f->severity = SEVERITY_UNKNOWN;
    if (f->severity == SEVERITY_UNKNOWN) {
        findings_conclude_blind(f);
        findings_append_scope(f);
        return;
    }
    if (f->severity < SEVERITY_UNKNOWN) {
        findings_conclude_good(f);
    } else {
        text_append(&f->verdict, "%s", begins[f->severity]);
        findings_append_worst(f);
        if (f->severity == SEVERITY_WATCH && findings_is_idle(f))
            text_append(&f->verdict, "; nearly idle, too little traffic to judge performance");
    }
    findings_append_unmade(f);
    findings_append_scope(f);
}

void findings_replace(findings *f, finding *items)
{
    arrfree(f->items);
    f->items = items;
    f->count = arrlenu(items);
    free(f->verdict);
    f->verdict = NULL;
    findings_conclude(f);
}
