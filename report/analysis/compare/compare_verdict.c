// The verdict: all sentences in order, and the first line, which answers: the same work? slower? what else differs?
#include "comparer.h"

#include "analysis/base/stb_ds.h"
#include "analysis/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int verdict_by_order(const void *a, const void *b)
{
    const comparison_sentence *x = a, *y = b;
    bool p = x->subject == COMPARISON_OF_CONTEXT, q = y->subject == COMPARISON_OF_CONTEXT;
    if (p != q) return p ? 1 : -1; // what is no finding comes last
    if (x->severity != y->severity) return x->severity > y->severity ? -1 : 1;
    if (x->subject != y->subject) return x->subject < y->subject ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static bool verdict_judged_checks(const comparison *c)
{
    for (int side = 0; side < COMPARISON_SIDES; side++) {
        size_t judged = 0;
        for (size_t r = 0; r < c->run_count; r++)
            if (c->runs[r]->side == (comparison_side)side) judged += c->runs[r]->f.judged;
        if (!judged) return false;
    }
    return true;
}

// Checks on both sides, or at least the same work and its time.
static bool verdict_judged_any(const comparison *c)
{
    return verdict_judged_checks(c) || (c->work.same == COMPARISON_WORK_SAME && !isnan(c->work.slower));
}

static bool verdict_differs(const comparison *c)
{
    return c->ranked_count || (c->check_count && c->checks[0].flipped);
}

static severity verdict_severity(const comparison *c)
{
    severity worst = SEVERITY_OK;
    for (size_t i = 0; i < c->sentence_count; i++)
        if (c->sentences[i].subject != COMPARISON_OF_CONTEXT && c->sentences[i].severity > worst)
            worst = c->sentences[i].severity;
    if (worst < SEVERITY_UNKNOWN && (!verdict_judged_any(c) || !comparison_compared(c))) return SEVERITY_UNKNOWN;
    return worst == SEVERITY_OK && verdict_differs(c) ? SEVERITY_INFO : worst;
}

static const char verdict_blind[] = "no check was possible on one side at least",
                  verdict_nothing[] = "Nothing to compare: no counter has values on both sides";

// A verdict that is unknown says why, where no sentence does.
static void verdict_say_unknown(comparison *c)
{
    if (c->severity != SEVERITY_UNKNOWN) return;
    for (size_t i = 0; i < c->sentence_count; i++)
        if (c->sentences[i].severity == SEVERITY_UNKNOWN) return;
    comparer_say(c, SEVERITY_UNKNOWN, COMPARISON_OF_CHECK, "not-judged", DIFFERENCE_NONE,
                 comparison_compared(c) ? memory_format("Could not be judged: %s", verdict_blind)
                                        : memory_strdup(verdict_nothing));
}

// ---- the first line ----

static const comparison_sentence *verdict_first(const comparison *c, comparison_subject subject, severity least)
{
    for (size_t i = 0; i < c->sentence_count; i++)
        if (c->sentences[i].subject == subject && c->sentences[i].severity >= least) return &c->sentences[i];
    return NULL;
}

// What else differs: where it was slower a setting, or a port that is missing; else the worst finding of a check or a
// counter; else a setting that is context. Not a counter that is none: it may be chance.
static const comparison_sentence *verdict_reason(const comparison *c, bool slower)
{
    const comparison_sentence *set = verdict_first(c, COMPARISON_OF_SETUP, SEVERITY_WATCH);
    if (slower && set && strcmp(set->rule, "software") != 0) return set;
    for (size_t i = 0; i < c->sentence_count; i++) {
        const comparison_sentence *x = &c->sentences[i];
        if (x->subject >= COMPARISON_OF_SETUP && x->subject <= COMPARISON_OF_COUNTER && x->severity >= SEVERITY_WATCH)
            return x;
    }
    if (!slower) return NULL;
    return verdict_first(c, COMPARISON_OF_SETUP, SEVERITY_INFO);
}

// What and where, without the figures of the other side.
static void verdict_append_brief(char **text, const comparison_sentence *x)
{
    text_append(text, "%.*s", (int)(x->brief ? x->brief : strlen(x->text)), x->text);
}

static void verdict_append_part(char **text, const char *part)
{
    bool first = !*text;
    text_append(text, "%s%s", first ? "" : "; ", part);
    if (first) text_capital(*text);
}

// How the time of the work is no finding, and what no check could judge.
static void verdict_append_judged(const comparison *c, char **text, const comparison_sentence *speed)
{
    bool checks = verdict_judged_checks(c);
    if (!verdict_judged_any(c)) text_append(text, "Could not be judged: %s", verdict_blind);
    if (speed) {
        verdict_append_part(text, c->work.headline);
        text_append(text, ", which may be chance");
    }
    if (speed && checks) verdict_append_part(text, "nothing else went worse");
    if (!checks && verdict_judged_any(c)) {
        if (!speed) verdict_append_part(text, c->work.headline);
        verdict_append_part(text, verdict_blind);
    }
}

static void verdict_append_work(const comparison *c, char **text)
{
    for (size_t i = 0; i < c->sentence_count; i++)
        if (c->work.headline &&
            (strcmp(c->sentences[i].rule, "duration") == 0 || strcmp(c->sentences[i].rule, "throughput") == 0))
            text_append(text, ". %s", c->sentences[i].text);
}

static void verdict_append_nothing(const comparison *c, char **text, const comparison_sentence *speed)
{
    if (!comparison_compared(c)) {
        text_append(text, "%s", verdict_nothing);
        return;
    }
    if (speed && speed->severity == SEVERITY_UNKNOWN) {
        text_append(text, "Could not be judged: %s; whether less was to be done is not known", c->work.headline);
        return;
    }
    verdict_append_judged(c, text, speed);
    if (speed) return;
    const comparison_sentence *counter = verdict_first(c, COMPARISON_OF_COUNTER, SEVERITY_INFO),
                              *setting = verdict_first(c, COMPARISON_OF_SETUP, SEVERITY_INFO);
    if (setting && strcmp(setting->rule, "configuration") != 0) setting = NULL;
    bool told = *text;
    if (!told && (setting || (verdict_differs(c) && !counter)))
        text_append(text, "Nothing went worse");
    else if (!told && counter)
        text_append(text, c->run_count > 2 ? "Nothing went worse beyond chance"
                                           : "Nothing went worse that one run on each side can show");
    else if (!told)
        text_append(text, "No difference beyond chance");
    if (setting || counter) {
        text_append(text, setting ? "; what differs: " : "; most changed: ");
        verdict_append_brief(text, setting ? setting : counter);
    }
    if (!told || !verdict_judged_any(c)) verdict_append_work(c, text);
}

static void verdict_choose_title(comparison *c)
{
    const comparison_sentence *outcome = verdict_first(c, COMPARISON_OF_OUTCOME, SEVERITY_INFO),
                              *speed = verdict_first(c, COMPARISON_OF_SPEED, SEVERITY_INFO);
    bool slower = speed && speed->severity >= SEVERITY_WATCH;
    const comparison_sentence *reason = verdict_reason(c, outcome || slower);
    char *text = NULL;
    if (outcome)
        text_append(&text, "%s", outcome->text);
    else if (slower)
        verdict_append_part(&text, c->work.headline);
    if (reason && text) text_append(&text, "; what differs: ");
    bool first = reason && !text;
    if (reason) verdict_append_brief(&text, reason);
    if (first) {
        if (c->work.headline) text_append(&text, "; %s", c->work.headline);
    }
    if (!text) verdict_append_nothing(c, &text, speed);
    if (c->scope) text_append(&text, "; looked only at %s", c->scope);
    c->title = text;
}

void comparer_conclude(comparer *m)
{
    comparison *c = m->c;
    comparer_say_work(c);
    comparer_say_setup(c);
    comparer_say_checks(c);
    comparer_say_lines(c);
    comparer_say_context(c);
    c->severity = verdict_severity(c);
    verdict_say_unknown(c);
    if (c->sentence_count) qsort(c->sentences, c->sentence_count, sizeof *c->sentences, verdict_by_order);
    verdict_choose_title(c);
}
