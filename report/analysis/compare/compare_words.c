// Checks and counters in words. Every sentence repeats what was measured on both sides, and names a cause only where a
// rule of the findings does.
#include "comparer.h"

#include "analysis/base/stb_ds.h"
#include "analysis/base/text.h"
#include "analysis/base/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- patterns ----

enum { NAMED = 3 }; // devices that are called by their names

static void compare_words_append_cells(const comparison *c, char **text, const comparison_line *line)
{
    bool first = true;
    for (size_t i = 0; i < line->device_count; i++) {
        if (!(line->cells[i].score > 0)) continue;
        text_append(text, "%s%s", first ? "" : ", ", c->devices[line->first_device + i].name);
        first = false;
    }
}

void comparer_pattern_text(const comparison *c, comparison_line *line)
{
    const char *worst = c->devices[line->first_device + line->worst].name;
    size_t known = 0, changed = 0;
    for (size_t i = 0; i < line->device_count; i++) {
        known += line->cells[i].state != COMPARISON_UNKNOWN;
        changed += line->cells[i].score > 0;
    }
    switch (line->pattern) {
    case COMPARISON_NOWHERE: text_append(&line->pattern_text, "within chance"); break;
    case COMPARISON_ALONE: text_append(&line->pattern_text, "%s", worst); break;
    case COMPARISON_ALL_ALIKE: text_append(&line->pattern_text, "all %zu alike", known); break;
    case COMPARISON_ALL: text_append(&line->pattern_text, "all %zu, most %s", known, worst); break;
    case COMPARISON_ONLY_ONE: text_append(&line->pattern_text, "only %s", worst); break;
    case COMPARISON_SOME:
        if (changed <= NAMED)
            compare_words_append_cells(c, &line->pattern_text, line);
        else
            text_append(&line->pattern_text, "%zu of %zu, most %s", changed, known, worst);
        break;
    }
}

// ---- checks ----

static const char *compare_words_runs(const comparison *c, comparison_side side)
{
    if (c->side_count[side] == 1) return side == COMPARISON_HEALTHY ? "healthy run" : "faulty run";
    return side == COMPARISON_HEALTHY ? "healthy runs" : "faulty runs";
}

// "cxi2", "cxi2 and cxi5", "cxi2 and 3 others": the devices whose mark is as bad as the worst one's on that side.
static void compare_words_append_devices(const comparison *c, char **text, const comparison_check *check,
                                         comparison_side side)
{
    const comparison_verdict *worst = &check->cells[check->worst];
    const finding *x = worst->finding[side];
    size_t count = 0, last = 0;
    for (size_t i = 0; i < check->cell_count; i++) {
        if (check->cells[i].flipped != worst->flipped || check->cells[i].severity[side] != worst->severity[side])
            continue;
        if (check->cells[i].judged[side] != COMPARISON_JUDGED || i == check->worst) continue;
        count++;
        last = i;
    }
    text_append(text, "%s",
                x                ? finding_device(&c->runs[worst->run[side]]->f, x)
                : check->of_node ? check->rule->source
                                 : c->devices[check->first_device + check->worst].name);
    if (check->of_node || !count) return;
    if (count == 1)
        text_append(text, " and %s", c->devices[check->first_device + last].name);
    else
        text_append(text, " and %zu others", count);
}

// The other side's values on the same devices: "healthy run 0.1 %".
static void compare_words_append_other(const comparison *c, char **text, const comparison_check *check,
                                       comparison_side other)
{
    const comparison_verdict *v = &check->cells[check->worst];
    char number[64];
    const char *shown = v->judged[other] == COMPARISON_JUDGED
                            ? finding_number_text(check->rule, v->value[other], number, sizeof number)
                            : "";
    text_append(text, "; %s", compare_words_runs(c, other));
    if (v->judged[other] == COMPARISON_NOT_KNOWN)
        text_append(text, ": could not be judged");
    else if (v->judged[other] == COMPARISON_NOT_THERE)
        text_append(text, ": nothing to judge");
    else if (*shown)
        text_append(text, " %s%s", shown, c->side_count[other] > 1 ? " (median)" : "");
    else
        text_append(text, ": %s", v->severity[other] ? severity_name(v->severity[other]) : "not so");
}

// Without the words about peers, which follow a claim.
static void compare_words_append_claim(char **text, const finding *x)
{
    const char *peers = x->claim ? strstr(x->claim, "; its peer") : NULL;
    text_append(text, "%.*s", (int)(peers ? peers - x->claim : (ptrdiff_t)strlen(x->claim ? x->claim : "")),
                x->claim ? x->claim : "");
}

// Of several runs how many, and what chance does: "; in 5 of 5 faulty runs and 0 of 5 healthy ones".
static void compare_words_append_counts(const comparison *c, char **text, const comparison_verdict *v)
{
    if (c->run_count <= 2) return;
    text_append(text, "; in %zu of %s", v->found[COMPARISON_FAULTY],
                words_many(v->runs[COMPARISON_FAULTY], "faulty run").text);
    if (!v->runs[COMPARISON_HEALTHY]) return;
    text_append(text, ", %zu of %s", v->found[COMPARISON_HEALTHY],
                words_many(v->runs[COMPARISON_HEALTHY], "healthy one").text);
    if (!isnan(v->chance))
        text_append(text, " (values this far apart: by chance in %s)", comparer_splits_text(c, v->chance).text);
}

static char *compare_words_check(const comparison *c, const comparison_check *check, comparison_side side,
                                 size_t *brief, size_t *told)
{
    const comparison_verdict *v = &check->cells[check->worst];
    const finding *x = v->finding[side];
    char *text = NULL;
    compare_words_append_devices(c, &text, check, side);
    text_append(&text, ": ");
    if (x)
        compare_words_append_claim(&text, x);
    else
        text_append(&text, "%s", check->rule->name);
    *brief = strlen(text);
    compare_words_append_other(c, &text, check, side == COMPARISON_FAULTY ? COMPARISON_HEALTHY : COMPARISON_FAULTY);
    *told = strlen(text);
    compare_words_append_counts(c, &text, v);
    if (side == COMPARISON_FAULTY && x && x->explained_by) text_append(&text, " (explained by %s)", x->explained_by);
    return text;
}

// True if the faulty side looks worse.
static bool compare_words_is_worse(const comparison_check *check)
{
    const comparison_verdict *v = &check->cells[check->worst];
    return check->flipped && v->judged[COMPARISON_FAULTY] == COMPARISON_JUDGED &&
           v->severity[COMPARISON_FAULTY] >= SEVERITY_WATCH &&
           (v->judged[COMPARISON_HEALTHY] != COMPARISON_JUDGED ||
            v->severity[COMPARISON_FAULTY] > v->severity[COMPARISON_HEALTHY]);
}

// In all faulty runs and in no healthy one: as bad as the rule says. Where only most have it, the runs themselves must
// show that it is not chance.
static severity compare_words_check_severity(const comparison_check *check)
{
    static const double limit = 0.05;
    const comparison_verdict *v = &check->cells[check->worst];
    severity s = v->severity[COMPARISON_FAULTY];
    if (!v->found[COMPARISON_HEALTHY] && v->found[COMPARISON_FAULTY] == v->runs[COMPARISON_FAULTY]) return s;
    if (!(v->chance <= limit)) return SEVERITY_INFO;
    return s > SEVERITY_WATCH ? SEVERITY_WATCH : s;
}

static size_t compare_words_check_device(const comparison_check *check)
{
    return check->of_node ? DIFFERENCE_NONE : check->first_device + check->worst;
}

static void compare_words_say_check(comparison *c, severity s, const comparison_check *check)
{
    size_t brief, told;
    char *text = compare_words_check(c, check, COMPARISON_FAULTY, &brief, &told);
    comparer_say(c, s, COMPARISON_OF_CHECK, check->rule->name, compare_words_check_device(check), text);
    c->sentences[c->sentence_count - 1].brief = brief;
    c->sentences[c->sentence_count - 1].told = told;
}

static void compare_words_say_flips(comparison *c)
{
    for (size_t i = 0; i < c->check_count; i++) {
        const comparison_check *check = &c->checks[i];
        if (check->cells[check->worst].near) compare_words_say_check(c, SEVERITY_INFO, check);
        if (compare_words_is_worse(check)) compare_words_say_check(c, compare_words_check_severity(check), check);
    }
}

// What a few of several faulty runs have, and no healthy one: "only in 1 of 5 faulty runs".
static void compare_words_say_few(comparison *c)
{
    enum { SAID = 2 };
    size_t said = 0;
    for (size_t i = 0; i < c->check_count && said < SAID; i++) {
        const comparison_check *check = &c->checks[i];
        const comparison_verdict *few = NULL;
        for (size_t k = 0; k < check->cell_count; k++) {
            const comparison_verdict *v = &check->cells[k];
            if (!v->found[COMPARISON_HEALTHY] && v->found[COMPARISON_FAULTY] &&
                2 * v->found[COMPARISON_FAULTY] <= v->runs[COMPARISON_FAULTY] && v->runs[COMPARISON_FAULTY] > 1 &&
                (!few || v->found[COMPARISON_FAULTY] > few->found[COMPARISON_FAULTY]))
                few = v;
        }
        if (!few || compare_words_is_worse(check)) continue;
        size_t device = check->first_device + (size_t)(few - check->cells);
        comparer_say(
            c, SEVERITY_INFO, COMPARISON_OF_CONTEXT, check->rule->name, check->of_node ? DIFFERENCE_NONE : device,
            memory_format("%s: %s: only in %zu of %s: an odd run, not the faulty side",
                          check->of_node ? check->rule->source : c->devices[device].name, check->rule->name,
                          few->found[COMPARISON_FAULTY], words_many(few->runs[COMPARISON_FAULTY], "faulty run").text));
        said++;
    }
}

// ---- counters ----

static bool compare_words_names(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = text; (at = strstr(at, name)); at += n) {
        bool begins = at == text || !strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", at[-1]);
        if (begins) return true;
    }
    return false;
}

// Is the line, or one of those folded into it, evidence of a finding that is said already?
static bool compare_words_is_said(const comparison *c, const comparison_line *line)
{
    for (size_t i = 0; i < c->check_count; i++) {
        const comparison_check *check = &c->checks[i];
        const finding *x = check->cells[check->worst].finding[COMPARISON_FAULTY];
        if (!compare_words_is_worse(check) || !x) continue;
        for (size_t k = 0; k < x->evidence_count; k++) {
            if (strcmp(x->evidence[k].name, line->name) == 0) return true;
            for (size_t e = 0; e < line->equal_count; e++)
                if (compare_words_names(x->evidence[k].name, line->equal[e])) return true;
        }
    }
    return false;
}

static const char *compare_words_per_second(char *text, size_t size, const comparison_line *line, double rate)
{
    snprintf(text, size, "%s", words_volume_rate(rate, line->unit).text);
    return text;
}

static void compare_words_append_line_chance(const comparison *c, char **text, const comparison_cell *cell)
{
    const comparison_amount *f = &cell->side[COMPARISON_FAULTY];
    if (c->run_count <= 2) return;
    text_append(text, "; %zu of %s beyond ", cell->outside, words_many(f->runs, "faulty run").text);
    if (c->side_count[COMPARISON_HEALTHY] > 1)
        text_append(text, "all %zu healthy ones", cell->side[COMPARISON_HEALTHY].runs);
    else
        text_append(text, "the healthy one");
    if (!isnan(cell->chance))
        text_append(text, ", a value this far occurs in %s by chance", comparer_splits_text(c, cell->chance).text);
}

// "cxi2: hni_rx_paused_0 310 M cycles/s; healthy run 0 (new): receive buffer asked to pause".
static char *compare_words_line(const comparison *c, const comparison_line *line, size_t *brief)
{
    const comparison_cell *cell = &line->cells[line->worst];
    char *text = NULL, healthy[80], faulty[80], ratio[32];
    const char *device = c->devices[line->first_device + line->worst].name;
    const char *median = c->side_count[COMPARISON_FAULTY] > 1 ? " (median)" : "";
    if (isnan(cell->side[COMPARISON_FAULTY].per_s.median)) // files without times
        text_append(&text, "%s: %s %s%s; %s %s", device, line->name,
                    words_volume(cell->side[COMPARISON_FAULTY].count, line->unit).text, median,
                    compare_words_runs(c, COMPARISON_HEALTHY),
                    words_volume(cell->side[COMPARISON_HEALTHY].count, line->unit).text);
    else
        text_append(
            &text, "%s: %s %s%s; %s %s", device, line->name,
            compare_words_per_second(faulty, sizeof faulty, line, cell->side[COMPARISON_FAULTY].per_s.median), median,
            compare_words_runs(c, COMPARISON_HEALTHY),
            compare_words_per_second(healthy, sizeof healthy, line, cell->side[COMPARISON_HEALTHY].per_s.median));
    if (cell->state == COMPARISON_CHANGED && !isnan(cell->ratio_per_s))
        text_append(&text, " (%s times)", rules_format(ratio, sizeof ratio, "x", cell->ratio_per_s));
    else if (cell->state != COMPARISON_CHANGED)
        text_append(&text, " (%s)", comparison_state_name(cell->state));
    *brief = strlen(text);
    if (line->pattern != COMPARISON_ALONE) text_append(&text, "; %s", line->pattern_text);
    if (*line->gloss) text_append(&text, ": %s", line->gloss);
    compare_words_append_line_chance(c, &text, cell);
    return text;
}

// Does the check find the device worse on the faulty side?
static bool compare_words_speaks_of(const comparison_check *check, size_t device)
{
    if (check->of_node || device < check->first_device || device - check->first_device >= check->cell_count)
        return false;
    const comparison_verdict *v = &check->cells[device - check->first_device];
    return v->flipped && v->judged[COMPARISON_FAULTY] == COMPARISON_JUDGED &&
           v->severity[COMPARISON_FAULTY] >= SEVERITY_WATCH;
}

// Nearly the same change on the same devices, or a device of which a rule spoke: the same event once more.
static bool compare_words_is_again(const comparison *c, const comparison_line *line, const comparison_line *const *said,
                                   size_t count)
{
    size_t device = line->first_device + line->worst;
    const comparison_cell *x = &line->cells[line->worst];
    for (size_t i = 0; i < c->check_count; i++) {
        const comparison_check *check = &c->checks[i];
        if (compare_words_is_worse(check) && compare_words_speaks_of(check, device)) return true;
    }
    for (size_t i = 0; i < count; i++) {
        const comparison_cell *y = &said[i]->cells[said[i]->worst];
        bool near = x->ratio_per_s / y->ratio_per_s > 0.8 && x->ratio_per_s / y->ratio_per_s < 1.25;
        if (said[i]->kind == line->kind && said[i]->first_device + said[i]->worst == device &&
            (near || (isnan(x->ratio_per_s) && isnan(y->ratio_per_s) && strcmp(said[i]->unit, line->unit) == 0)))
            return true;
    }
    return false;
}

// A few events more or less are nothing for the first line.
static bool compare_words_is_many(const comparison_cell *cell)
{
    return cell->side[COMPARISON_FAULTY].count >= 100;
}

// Errors and stalls that no rule spoke of: findings where the runs are enough to show that it is not chance, else what
// differs most. Those beyond chance first.
static void compare_words_say_lines(comparison *c)
{
    enum { SAID = 3 };
    const comparison_line *said[SAID];
    size_t count = 0, brief;
    for (int beyond = 1; beyond >= 0; beyond--)
        for (size_t i = 0; i < c->ranked_count && count < SAID; i++) {
            const comparison_line *line = &c->lines[i];
            const comparison_cell *cell = &line->cells[line->worst];
            if (line->kind > COMPARISON_STALLS || cell->direction <= 0 || cell->beyond != (bool)beyond) continue;
            if (compare_words_is_said(c, line) || compare_words_is_again(c, line, said, count)) continue;
            comparison_subject subject =
                beyond || compare_words_is_many(cell) ? COMPARISON_OF_COUNTER : COMPARISON_OF_CONTEXT;
            comparer_say(c, beyond ? SEVERITY_WATCH : SEVERITY_INFO, subject, line->name,
                         line->first_device + line->worst, compare_words_line(c, line, &brief));
            c->sentences[c->sentence_count - 1].brief = brief;
            said[count++] = line;
        }
}

// ---- context ----

static void compare_words_say_better(comparison *c)
{
    enum { SAID = 2 };
    size_t said = 0;
    for (size_t i = 0; i < c->check_count && said < SAID; i++) {
        const comparison_check *check = &c->checks[i];
        char *text = NULL;
        if (!check->flipped || compare_words_is_worse(check) || !check->cells[check->worst].finding[COMPARISON_HEALTHY])
            continue;
        size_t brief, told;
        char *inner = compare_words_check(c, check, COMPARISON_HEALTHY, &brief, &told);
        text_append(&text, "Only on the healthy side: %s", inner);
        free(inner);
        comparer_say(c, SEVERITY_INFO, COMPARISON_OF_CONTEXT, check->rule->name, compare_words_check_device(check),
                     text);
        said++;
    }
}

static void compare_words_say_both(comparison *c)
{
    char *text = NULL;
    size_t count = 0;
    for (size_t i = 0; i < c->check_count; i++) {
        const comparison_check *check = &c->checks[i];
        if (check->flipped || check->severity[0] < SEVERITY_WATCH || check->severity[1] < SEVERITY_WATCH) continue;
        if (count++ < NAMED) text_append(&text, "%s%s", count > 1 ? ", " : "On both sides alike: ", check->rule->name);
    }
    if (count > NAMED) text_append(&text, " and %zu more", count - NAMED);
    comparer_say(c, SEVERITY_INFO, COMPARISON_OF_CONTEXT, "", DIFFERENCE_NONE, text);
}

// The link: only when both sides were judged, and all is well on both.
static void compare_words_say_links(comparison *c)
{
    char *text = NULL;
    size_t judged = 0;
    for (size_t i = 0; i < c->check_count; i++) {
        const comparison_check *check = &c->checks[i];
        if (check->rule->class_rank > rules_class_rank("link-errors")) continue; // link-down, link-errors
        if (check->severity[0] >= SEVERITY_WATCH || check->severity[1] >= SEVERITY_WATCH) return;
        judged++;
    }
    if (judged < 2) return;
    text_append(&text, "Links: none of %zu checks of links and their errors found anything on either side", judged);
    comparer_say(c, SEVERITY_OK, COMPARISON_OF_CONTEXT, "", DIFFERENCE_NONE, text);
}

void comparer_say_checks(comparison *c)
{
    compare_words_say_flips(c);
}

void comparer_say_lines(comparison *c)
{
    compare_words_say_lines(c);
}

void comparer_say_context(comparison *c)
{
    compare_words_say_few(c);
    compare_words_say_better(c);
    compare_words_say_both(c);
    compare_words_say_links(c);
}
