// The sentences of the comparison. Every sentence follows a rule: it repeats what was measured on both sides, and
// names a cause only where a rule of the findings does.
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

// ---- facts ----

// Facts that may explain a difference; names, addresses and serial numbers do not.
static const char *const telling_device[] = {"driver",
                                             "driver_rev",
                                             "version",
                                             "fw_version",
                                             "fw_ver",
                                             "model",
                                             "hca_type",
                                             "cassini_version",
                                             "speed_mbps",
                                             "port_speed",
                                             "rate",
                                             "rate_bps",
                                             "link",
                                             "duplex",
                                             "media",
                                             "link_layer",
                                             "link_layer_retry",
                                             "loopback",
                                             "pause",
                                             "mtu",
                                             "hpc_mtu",
                                             "pci_speed",
                                             "pci_width",
                                             "esm_link_speed",
                                             "numa_node",
                                             "kind",
                                             "operstate",
                                             "phys_state",
                                             "pci_max_speed",
                                             "pci_max_width",
                                             NULL};
static const char *const telling_node[] = {"kernel", "machine", "netprof", NULL};

// The fact on a side: NULL when no run has it, "" (an impossible value) when its runs differ.
static const char *compare_words_fact_of_side(const comparison *c, size_t device, const char *key, comparison_side side)
{
    const char *found = NULL;
    for (size_t r = 0; r < c->run_count; r++) {
        const netprof_schema *schema = c->runs[r]->d.delta->schema;
        size_t place = device == DIFFERENCE_NONE ? 0 : c->devices[device].places[r];
        if (c->runs[r]->side != side || place == DIFFERENCE_NONE) continue;
        const char *value = device == DIFFERENCE_NONE
                                ? netprof_fact_of(schema->facts, schema->fact_count, key)
                                : netprof_fact_of(schema->devices[place].facts, schema->devices[place].fact_count, key);
        if (found && value && strcmp(found, value) != 0) return "";
        if (value) found = value;
    }
    return found;
}

static void compare_words_compare_fact(comparison *c, size_t device, const char *key)
{
    comparison_fact fact = {.device = device, .key = key};
    for (int side = 0; side < COMPARISON_SIDES; side++)
        fact.side[side] = compare_words_fact_of_side(c, device, key, (comparison_side)side);
    const char *h = fact.side[COMPARISON_HEALTHY], *f = fact.side[COMPARISON_FAULTY];
    if (!h || !f || !*h || !*f || strcmp(h, f) == 0) return;
    arrput(c->facts, fact);
    c->fact_count = arrlenu(c->facts);
}

void comparer_facts(comparer *m)
{
    comparison *c = m->c;
    for (const char *const *key = telling_node; *key; key++)
        compare_words_compare_fact(c, DIFFERENCE_NONE, *key);
    for (size_t i = 0; i < c->device_count; i++)
        for (const char *const *key = telling_device; c->devices[i].runs[0] && c->devices[i].runs[1] && *key; key++)
            compare_words_compare_fact(c, i, *key);
}

// ---- notes ----

static void compare_words_add_note(comparison *c, char *text)
{
    if (!text) return;
    arrput(c->notes, text);
    c->note_count = arrlenu(c->notes);
}

// The hosts of a side, each once.
static size_t compare_words_append_hosts(const comparison *c, char **text, comparison_side side)
{
    size_t count = 0;
    for (size_t r = 0; r < c->run_count; r++) {
        bool again = false;
        for (size_t k = 0; k < r; k++)
            again |= c->runs[k]->side == side && strcmp(c->runs[k]->host, c->runs[r]->host) == 0;
        if (c->runs[r]->side != side || again || !*c->runs[r]->host) continue;
        if (count < NAMED) text_append(text, "%s%s", count ? ", " : "", c->runs[r]->host);
        count++;
    }
    if (count > NAMED) text_append(text, " and %zu more", count - NAMED);
    return count;
}

static void compare_words_note_hosts(comparison *c)
{
    char *healthy = NULL, *faulty = NULL, *text = NULL;
    size_t h = compare_words_append_hosts(c, &healthy, COMPARISON_HEALTHY),
           f = compare_words_append_hosts(c, &faulty, COMPARISON_FAULTY);
    if (h && f && (h > 1 || f > 1 || strcmp(healthy, faulty) != 0))
        text_append(&text, "different hosts: healthy %s, faulty %s; devices are matched by name", healthy, faulty);
    compare_words_add_note(c, text);
    free(healthy);
    free(faulty);
}

// Devices that only one side has.
static void compare_words_note_devices(comparison *c, comparison_side side)
{
    char *names = NULL, *text = NULL;
    size_t count = 0;
    for (size_t i = 0; i < c->device_count; i++) {
        const comparison_device *d = &c->devices[i];
        if (!d->runs[side] || d->runs[!side]) continue;
        if (count < NAMED) text_append(&names, "%s%s (%s)", count ? ", " : "", d->name, d->source);
        count++;
    }
    if (count > NAMED) text_append(&names, " and %zu more", count - NAMED);
    if (count)
        text_append(&text, "%s only on the %s side, not compared: %s", words_noun(count, "device").text,
                    comparison_side_name(side), names ? names : "");
    free(names);
    compare_words_add_note(c, text);
}

static void compare_words_note_counters(comparison *c)
{
    char *text = NULL;
    for (int side = 0; side < COMPARISON_SIDES; side++) {
        if (!c->counts.only[side]) continue;
        text_append(&text, "%s%s only on the %s side", text ? ", " : "",
                    words_many(c->counts.only[side], "counter").text, comparison_side_name((comparison_side)side));
    }
    if (text) text_append(&text, ": not compared");
    compare_words_add_note(c, text);
}

// Counters that exist on both sides and have no value on one: reset, not readable, not asked for.
static void compare_words_note_unknown(comparison *c)
{
    char *text = NULL;
    size_t gone = c->counts.only[0] + c->counts.only[1];
    if (c->counts.states[COMPARISON_UNKNOWN] <= gone) return;
    size_t count = c->counts.states[COMPARISON_UNKNOWN] - gone;
    text_append(&text, "%s could not be compared: reset, not read, or not readable", words_many(count, "counter").text);
    compare_words_add_note(c, text);
}

static void compare_words_note_resets(comparison *c)
{
    for (size_t r = 0; r < c->run_count; r++) {
        const difference_counts *total = &c->runs[r]->d.total;
        char *text = NULL;
        size_t resets = total->flagged[NETPROF_FLAG_RESET];
        if (!resets) continue;
        text_append(&text, "%zu of %zu counters started again from zero in the %s run %s", resets, total->counters,
                    comparison_side_name(c->runs[r]->side), c->runs[r]->label);
        compare_words_add_note(c, text);
    }
}

static void compare_words_note_facts(comparison *c)
{
    for (size_t i = 0; i < c->fact_count; i++) {
        const comparison_fact *fact = &c->facts[i];
        size_t count = 0;
        bool before = false;
        char *text = NULL;
        for (size_t k = 0; k < c->fact_count; k++) {
            bool same = strcmp(c->facts[k].key, fact->key) == 0 && strcmp(c->facts[k].side[0], fact->side[0]) == 0 &&
                        strcmp(c->facts[k].side[1], fact->side[1]) == 0;
            before |= same && k < i;
            count += same;
        }
        if (before) continue;
        text_append(&text, "%s: %s is %.60s on the healthy side, %.60s on the faulty one",
                    fact->device == DIFFERENCE_NONE ? "the node" : c->devices[fact->device].name, fact->key,
                    fact->side[0], fact->side[1]);
        if (count > 1) text_append(&text, " (and on %s)", words_many(count - 1, "more device").text);
        compare_words_add_note(c, text);
    }
}

static double compare_words_side_seconds(const comparison *c, comparison_side side, double *low, double *high)
{
    *low = INFINITY;
    *high = 0;
    for (size_t r = 0; r < c->run_count; r++) {
        double seconds = (double)c->runs[r]->elapsed_ns / 1e9;
        if (c->runs[r]->side != side || !(seconds > 0)) continue;
        *low = fmin(*low, seconds);
        *high = fmax(*high, seconds);
    }
    return *high;
}

static void compare_words_note_lengths(comparison *c)
{
    double low[COMPARISON_SIDES], high[COMPARISON_SIDES];
    char *text = NULL;
    bool known = compare_words_side_seconds(c, COMPARISON_HEALTHY, &low[0], &high[0]) > 0;
    known = compare_words_side_seconds(c, COMPARISON_FAULTY, &low[1], &high[1]) > 0 && known;
    double longest = fmax(high[0], high[1]), shortest = fmin(low[0], low[1]);
    if (!known)
        text_append(&text, "the length of a run is not known: no ratio per second");
    else if (longest > 2 * shortest)
        text_append(&text, "runs of different length: %s to %s; counts of short runs are less certain",
                    words_duration(shortest).text, words_duration(longest).text);
    compare_words_add_note(c, text);
}

static void compare_words_note_damage(comparison *c)
{
    for (size_t r = 0; r < c->run_count; r++) {
        char *text = NULL;
        if (!c->runs[r]->damaged) continue;
        text_append(&text, "parts of the %s run %s are missing", comparison_side_name(c->runs[r]->side),
                    c->runs[r]->label);
        compare_words_add_note(c, text);
    }
}

void comparer_notes(comparer *m)
{
    comparison *c = m->c;
    compare_words_note_hosts(c);
    for (int side = 0; side < COMPARISON_SIDES; side++)
        compare_words_note_devices(c, (comparison_side)side);
    compare_words_note_counters(c);
    compare_words_note_resets(c);
    compare_words_note_unknown(c);
    compare_words_note_facts(c);
    compare_words_note_lengths(c);
    compare_words_note_damage(c);
}

// ---- the verdict ----

static void compare_words_add_sentence(comparison *c, severity s, char *text)
{
    if (!text) return;
    arrput(c->sentences, ((comparison_sentence){s, text}));
    c->sentence_count = arrlenu(c->sentences);
}

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
        text_append(text, "%s %s", c->side_count[other] > 1 ? " at most" : "", shown);
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

static char *compare_words_check(const comparison *c, const comparison_check *check, comparison_side side)
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
    compare_words_append_other(c, &text, check, side == COMPARISON_FAULTY ? COMPARISON_HEALTHY : COMPARISON_FAULTY);
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

static void compare_words_say_flips(comparison *c)
{
    for (size_t i = 0; i < c->check_count; i++) {
        const comparison_check *check = &c->checks[i];
        if (compare_words_is_worse(check))
            compare_words_add_sentence(c, check->cells[check->worst].severity[COMPARISON_FAULTY],
                                       compare_words_check(c, check, COMPARISON_FAULTY));
    }
}

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

// "cxi2: hni_rx_paused_0 310 M cycles/s; healthy run 0 (new): receive buffer asked to pause".
static char *compare_words_line(const comparison *c, const comparison_line *line)
{
    const comparison_cell *cell = &line->cells[line->worst];
    char *text = NULL, healthy[80], faulty[80], ratio[32];
    const char *device = c->devices[line->first_device + line->worst].name;
    text_append(&text, "%s: %s %s", device, line->name,
                compare_words_per_second(faulty, sizeof faulty, line, cell->worst_per_s));
    text_append(&text, "; %s %s", compare_words_runs(c, COMPARISON_HEALTHY),
                compare_words_per_second(healthy, sizeof healthy, line, cell->side[COMPARISON_HEALTHY].per_s.median));
    if (cell->state == COMPARISON_CHANGED && !isnan(cell->ratio_per_s))
        text_append(&text, " (%s times)", rules_format(ratio, sizeof ratio, "x", cell->ratio_per_s));
    else if (cell->state != COMPARISON_CHANGED)
        text_append(&text, " (%s)", comparison_state_name(cell->state));
    if (line->pattern != COMPARISON_ALONE) text_append(&text, "; %s", line->pattern_text);
    if (*line->gloss) text_append(&text, ": %s", line->gloss);
    return text;
}

// Errors and stalls that no rule spoke of.
static void compare_words_say_lines(comparison *c)
{
    enum { SAID = 3 };
    size_t said = 0;
    for (size_t i = 0; i < c->ranked_count && said < SAID; i++) {
        const comparison_line *line = &c->lines[i];
        bool more = line->cells[line->worst].direction > 0;
        if (line->kind > COMPARISON_STALLS || !more || compare_words_is_said(c, line)) continue;
        compare_words_add_sentence(c, SEVERITY_WATCH, compare_words_line(c, line));
        said++;
    }
}

static void compare_words_say_better(comparison *c)
{
    enum { SAID = 2 };
    size_t said = 0;
    for (size_t i = 0; i < c->check_count && said < SAID; i++) {
        const comparison_check *check = &c->checks[i];
        char *text = NULL;
        if (!check->flipped || compare_words_is_worse(check) || !check->cells[check->worst].finding[COMPARISON_HEALTHY])
            continue;
        char *inner = compare_words_check(c, check, COMPARISON_HEALTHY);
        text_append(&text, "Only on the healthy side: %s", inner);
        free(inner);
        compare_words_add_sentence(c, SEVERITY_INFO, text);
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
    compare_words_add_sentence(c, SEVERITY_INFO, text);
}

// The link: only when both sides were judged, and all is well on both.
static void compare_words_say_links(comparison *c)
{
    char *text = NULL;
    size_t judged = 0;
    for (size_t i = 0; i < c->check_count; i++) {
        const comparison_check *check = &c->checks[i];
        if (check->rule->class_rank > 1) continue; // link-down, link-errors
        if (check->severity[0] >= SEVERITY_WATCH || check->severity[1] >= SEVERITY_WATCH) return;
        judged++;
    }
    if (judged < 2) return;
    text_append(&text, "Links: none of %zu checks of links and their errors found anything on either side", judged);
    compare_words_add_sentence(c, SEVERITY_OK, text);
}

static bool compare_words_is_near(double ratio)
{
    return ratio > 0.95 && ratio < 1.0 / 0.95;
}

static char *compare_words_work(const comparison *c)
{
    char *text = NULL, healthy[40], faulty[40], rate[40];
    const double *seconds = c->seconds;
    if (isnan(c->bytes_ratio)) return NULL;
    rules_format(healthy, sizeof healthy, "B", c->bytes[COMPARISON_HEALTHY]);
    rules_format(faulty, sizeof faulty, "B", c->bytes[COMPARISON_FAULTY]);
    double ratio = c->bytes_ratio / c->seconds_ratio;
    rules_format(rate, sizeof rate, "x", ratio);
    if (!compare_words_is_near(c->bytes_ratio) && isnan(c->seconds_ratio))
        text_append(&text, "%s moved instead of %s", faulty, healthy);
    else if (!compare_words_is_near(c->bytes_ratio))
        text_append(&text, "%s moved in %s instead of %s in %s", faulty, words_duration(seconds[1]).text, healthy,
                    words_duration(seconds[0]).text);
    else if (isnan(c->seconds_ratio))
        text_append(&text, "Same work: %s moved on both sides", faulty);
    else if (compare_words_is_near(c->seconds_ratio))
        text_append(&text, "Same work in the same time: %s moved in %s", faulty, words_duration(seconds[1]).text);
    else
        text_append(&text, "Same work: %s moved on both sides, in %s instead of %s", faulty,
                    words_duration(seconds[1]).text, words_duration(seconds[0]).text);
    if (ratio > 0.001 && ratio < 1000 && !compare_words_is_near(ratio))
        text_append(&text, ": %s times per second", rate);
    return text;
}

static bool compare_words_judged_any(const comparison *c)
{
    for (int side = 0; side < COMPARISON_SIDES; side++) {
        size_t judged = 0;
        for (size_t r = 0; r < c->run_count; r++)
            if (c->runs[r]->side == (comparison_side)side) judged += c->runs[r]->f.judged;
        if (!judged) return false;
    }
    return true;
}

static bool compare_words_differ(const comparison *c)
{
    return c->ranked_count || (c->check_count && c->checks[0].flipped);
}

// The headline: the worst change, else that there is none, and the bytes that were moved.
static void compare_words_choose_title(comparison *c)
{
    char *text = NULL, *work = compare_words_work(c);
    if (c->sentence_count && c->sentences[0].severity >= SEVERITY_WATCH)
        text_append(&text, "%s", c->sentences[0].text);
    else if (!comparison_compared(c))
        text_append(&text, "Nothing to compare: no counter has values on both sides");
    else if (!compare_words_differ(c))
        text_append(&text, "No difference beyond chance");
    else
        text_append(&text, "Nothing went worse");
    if (work && c->line_count && !(c->sentence_count && c->sentences[0].severity >= SEVERITY_WATCH))
        text_append(&text, ". %s", work);
    free(work);
    c->title = text;
}

void comparer_conclude(comparer *m)
{
    comparison *c = m->c;
    compare_words_say_flips(c);
    for (size_t i = 0; i < c->sentence_count; i++)
        if (c->sentences[i].severity > c->severity) c->severity = c->sentences[i].severity;
    compare_words_say_lines(c);
    compare_words_choose_title(c);
    if (c->severity < SEVERITY_WATCH && c->sentence_count) c->severity = SEVERITY_WATCH;
    compare_words_say_better(c);
    compare_words_say_both(c);
    compare_words_say_links(c);
    compare_words_add_sentence(c, SEVERITY_INFO, compare_words_work(c));
    if (c->severity == SEVERITY_OK && compare_words_differ(c)) c->severity = SEVERITY_INFO;
    if (c->severity < SEVERITY_WATCH && !compare_words_judged_any(c)) c->severity = SEVERITY_WATCH;
}
