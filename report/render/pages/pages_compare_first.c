// The first page of a comparison: the answers, the way of a byte, the work, what changed, the checks, the devices.
#include "pages_compare.h"
#include "render/base/buffer.h"
#include "render/base/number.h"
#include "render/chart/charts.h"
#include "pages_signs.h"
#include "sheet.h"
#include "analysis/base/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CHECKS = 7, BARS = 12, HEAT_ROWS = 6 };

// Is the unit a share, as in "of the time"?
static bool compare_page_is_of(const char *unit)
{
    return strncmp(unit, "of ", 3) == 0;
}

// ---- head ----

// "○ healthy: 2 runs, node n1, 2026-11-23 16:55:01 UTC, 30.0 s (29.8 s to 30.1 s)": the dot is the key of the whole page.
static void compare_page_side_line(compare_page *p, comparison_side side)
{
    static const char *const dots[] = {"\xe2\x97\x8b", "\xe2\x97\x8f"};
    const comparison *c = p->c;
    const comparison_run *first = NULL;
    const comparison_range *seconds = &c->work.seconds[side];
    bool one_host = true, one_command = true;
    buffer b = {0};
    for (size_t i = c->run_count; i-- > 0;)
        if (c->runs[i]->side == side) first = c->runs[i];
    if (!first) return;
    for (size_t i = 0; i < c->run_count; i++) { // what one of them alone has is not said of all
        if (c->runs[i]->side != side) continue;
        const char *command = c->runs[i]->command;
        one_host = one_host && strcmp(c->runs[i]->host, first->host) == 0;
        one_command = one_command && command && first->command && strcmp(command, first->command) == 0;
    }
    buffer_printf(&b, "%s %s: %s", dots[side], comparison_side_name(side), words_many(c->side_count[side], "run").text);
    if (one_host && *first->host) buffer_printf(&b, DOT "node %s", first->host);
    if (first->wall_ns) buffer_printf(&b, DOT "%s UTC", number_utc(first->wall_ns, 0).text);
    if (seconds->median > 0) buffer_printf(&b, DOT "%s", number_duration(seconds->median).text);
    const number_text low = number_duration(seconds->min), high = number_duration(seconds->max);
    if (seconds->min < seconds->max && strcmp(low.text, high.text) != 0)
        buffer_printf(&b, " (%s to %s)", low.text, high.text);
    if (one_command) buffer_printf(&b, DOT "%.60s", first->command);
    document_subline(p->doc, b.data ? b.data : "");
    buffer_free(&b);
}

static void compare_page_add_head(compare_page *p)
{
    const comparison *c = p->c;
    document_title(p->doc, c->headline ? c->headline : c->title ? c->title : "");
    compare_page_side_line(p, COMPARISON_HEALTHY);
    compare_page_side_line(p, COMPARISON_FAULTY);
    for (size_t i = 0; i < c->answer_count; i++)
        document_answer(p->doc, c->answers[i].severity, c->answers[i].question, c->answers[i].text);
}

// ---- the way of a byte ----

// Without the digits of what is next to nothing: it stands beside what went worse.
static const char *compare_page_stage_before(compare_page *p, const rule *x, double value)
{
    if (!compare_page_is_of(x->unit)) return value == 0 ? "0" : arena_text(p->memory, number_plain(value).text);
    return value == 0 ? "0" : value < 5e-4 ? "< 0.1" : arena_text(p->memory, number_fixed(100 * value, 1).text);
}

static const char *compare_page_share_or_number(compare_page *p, const rule *x, double value)
{
    char number[64];
    const char *shown = finding_number_text(x, value, number, sizeof number);
    return *shown ? arena_text(p->memory, shown) : arena_text(p->memory, number_plain(value).text);
}

static path_stage compare_page_stage(compare_page *p, const comparison_stage *from)
{
    path_stage to = {.name = from->name, .what = from->what};
    const comparison_verdict *v = from->verdict;
    if (!v || v->judged[COMPARISON_FAULTY] != COMPARISON_JUDGED) {
        to.what = from->rule ? "could not be read" : from->what;
        if (v && v->judged[COMPARISON_FAULTY] == COMPARISON_NOT_THERE) to.what = "nothing to judge";
        return to;
    }
    to.known = true;
    to.severity = v->severity[COMPARISON_FAULTY];
    to.before = v->judged[COMPARISON_HEALTHY] == COMPARISON_JUDGED
                    ? compare_page_stage_before(p, from->check->rule, v->value[COMPARISON_HEALTHY])
                    : NUMBER_UNKNOWN;
    to.after = compare_page_share_or_number(p, from->check->rule, v->value[COMPARISON_FAULTY]);
    return to;
}

static void compare_page_add_path(compare_page *p)
{
    const comparison_path *way = &p->c->path;
    path_stage stages[COMPARISON_STAGES];
    if (!way->of) return;
    for (size_t i = 0; i < COMPARISON_STAGES; i++)
        stages[i] = compare_page_stage(p, &way->stages[i]);
    const path_style style = {.outlined = way->outlined,
                              .back_from = way->backs_up ? way->first : COMPARISON_STAGES,
                              .back_text = "it backs up this way: look at the far end first"};
    const char *question = arena_format(p->memory, "%s on %s, healthy" ARROW "faulty: where does it back up?", way->of,
                                        p->c->devices[way->device].name);
    document_add(p->doc,
                 chart_path((chart_head){"path", "Along the path", question}, &style, stages, COMPARISON_STAGES));
}

// ---- which devices are the columns ----

static void compare_page_choose_devices(compare_page *p)
{
    const comparison *c = p->c;
    size_t lead = c->device_count ? 0 : DIFFERENCE_NONE;
    if (c->ranked_count)
        lead = c->lines[0].first_device;
    else if (c->check_count && !c->checks[0].of_node)
        lead = c->checks[0].first_device;
    if (lead == DIFFERENCE_NONE) return;
    p->source = c->devices[lead].source;
    p->devices = arena_make(p->memory, c->device_count + 1, sizeof *p->devices);
    p->labels = arena_make(p->memory, c->device_count + 1, sizeof *p->labels);
    for (int physical = 1; physical >= 0 && !p->count; physical--)
        for (size_t i = 0; i < c->device_count; i++) {
            if (strcmp(c->devices[i].source, p->source) != 0 || (physical && !c->devices[i].physical)) continue;
            p->labels[p->count] = c->devices[i].name;
            p->devices[p->count++] = i;
        }
}

static const comparison_cell *compare_page_cell_of(const comparison_line *l, size_t device)
{
    bool inside = device >= l->first_device && device < l->first_device + l->device_count;
    return inside ? &l->cells[device - l->first_device] : NULL;
}

// ---- what changed ----

const char *compare_page_ratio_text(compare_page *p, double ratio, comparison_state state)
{
    if (state == COMPARISON_NEW) return "new";
    if (state == COMPARISON_GONE) return "gone";
    if (!isfinite(ratio)) return NUMBER_UNKNOWN;
    if (ratio < 1e-3) return arena_text(p->memory, words_power(ratio).text);
    return arena_text(p->memory, ratio >= 100   ? number_prefixed(ratio, "").text
                                 : ratio >= .01 ? number_fixed(ratio, 2).text
                                                : number_plain(ratio).text);
}

static const char *compare_page_event_unit(compare_page *p, const comparison_event *e)
{
    if (e->check) return compare_page_is_of(e->unit) ? arena_format(p->memory, "%% %s", e->unit) : e->unit;
    return arena_format(p->memory, "%s/s", e->unit);
}

static const char *compare_page_event_where(compare_page *p, const comparison_event *e)
{
    if (e->alike) return arena_format(p->memory, "all %zu", e->alike);
    return e->device == DIFFERENCE_NONE ? "node" : p->c->devices[e->device].name;
}

static dumbbell_row compare_page_event_row(compare_page *p, const comparison_event *e, size_t panel)
{
    double scale = e->check && compare_page_is_of(e->unit) ? 100 : 1;
    dumbbell_row r = {.name = e->line ? e->line->name : "",
                      .gloss = arena_format(p->memory, "%.*s", (int)words_fitting(e->words, 34), e->words),
                      .device = compare_page_event_where(p, e),
                      .unit = compare_page_event_unit(p, e),
                      .panel = panel,
                      .before = e->value[COMPARISON_HEALTHY] * scale,
                      .after = e->value[COMPARISON_FAULTY] * scale,
                      .low = e->low * scale,
                      .high = e->high * scale,
                      .strong = e->is_finding,
                      .marked = true,
                      .severity = e->severity};
    if (!*r.gloss) r.gloss = e->line ? e->line->name : e->words;
    if (e->more) r.more = arena_format(p->memory, "+%zu", e->more);
    for (int side = 0; side < COMPARISON_SIDES; side++) {
        double v = side ? r.after : r.before;
        r.columns[side] = arena_text(p->memory, !isfinite(v)   ? NUMBER_UNKNOWN
                                                : scale == 100 ? number_plain(v).text
                                                               : number_prefixed(v, "").text);
    }
    r.columns[2] = compare_page_ratio_text(p, e->ratio_per_s, e->state);
    r.columns[3] = e->state == COMPARISON_CHANGED && !isfinite(e->ratio_per_byte)
                       ? NUMBER_UNKNOWN
                       : compare_page_ratio_text(p, e->ratio_per_byte, e->state);
    r.tip = arena_format(p->memory, "%s%s%s: healthy %s, faulty %s %s", e->words, e->line ? ", " : "",
                         e->line ? e->line->name : "", number_plain(r.before).text, number_plain(r.after).text, r.unit);
    return r;
}

// One line an event, unit after unit.
static void compare_page_add_changes(compare_page *p)
{
    static const char *const heads[DUMBBELL_COLUMNS] = {"healthy", "faulty", TIMES " per s", TIMES " per byte"};
    const comparison *c = p->c;
    size_t count = 0, panel = 0;
    dumbbell_row *rows = arena_make(p->memory, c->event_count + 1, sizeof *rows);
    bool *used = arena_make(p->memory, c->event_count + 1, sizeof *used);
    for (size_t i = 0; i < c->event_count; i++) {
        if (used[i]) continue;
        const char *unit = compare_page_event_unit(p, &c->events[i]);
        for (size_t k = i; k < c->event_count; k++) {
            if (used[k] || strcmp(compare_page_event_unit(p, &c->events[k]), unit) != 0) continue;
            used[k] = true;
            rows[count++] = compare_page_event_row(p, &c->events[k], panel);
        }
        panel++;
    }
    if (!c->ranked_count)
        document_note(p->doc, "No counter differs by more than chance, the healthy runs' own range and the floor.");
    if (!count) return;
    chart_head head = {"changes", "What changed",
                       c->side_count[COMPARISON_HEALTHY] > 1
                           ? "one line an event: worst device, +n counters that tell the same; grey: the healthy range"
                           : "one line an event: worst device, +n counters that tell the same"};
    document_add(p->doc, chart_dumbbell(head, heads, rows, count));
}

// ---- health ----

static bool compare_page_is_share(const rule *x)
{
    return compare_page_is_of(x->unit);
}

// Of a line that carries 1e11 bits in a second, few are wrong: "2" per Tbit and not "2e-12" per bit.
static bool compare_page_is_per_bit(const rule *x)
{
    return strcmp(x->unit, "per bit") == 0 || strcmp(x->unit, "codewords per bit") == 0;
}

static double compare_page_scale(const rule *x)
{
    return compare_page_is_share(x) ? 100 : compare_page_is_per_bit(x) ? 1e12 : 1;
}

// At most five characters; the unit is in the label of the row.
static const char *compare_page_value_text(compare_page *p, const comparison_verdict *v, const rule *x,
                                           comparison_side side)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T"};
    double value = v->value[side] * compare_page_scale(x), size = fabs(value);
    size_t prefix = 0;
    if (v->judged[side] != COMPARISON_JUDGED || !isfinite(value)) return "";
    if (value == 0) return "0";
    if (size < 1e-3) return arena_text(p->memory, words_power(value).text);
    if (size < .05) return arena_format(p->memory, "%.1g", value);
    for (; size >= 999.5 && prefix + 1 < sizeof prefixes / sizeof *prefixes; prefix++)
        size /= 1000;
    return arena_format(p->memory, size < 9.95 ? "%s%.1f%s" : "%s%.0f%s", value < 0 ? NUMBER_MINUS : "", size,
                        prefixes[prefix]);
}

static strip_cell compare_page_strip_of(compare_page *p, const comparison_check *k, const comparison_verdict *v)
{
    strip_cell cell = {.state = STRIP_ABSENT, .text = ""};
    comparison_side shown = COMPARISON_FAULTY;
    if (v->judged[COMPARISON_FAULTY] == COMPARISON_NOT_KNOWN) cell.state = STRIP_UNKNOWN;
    if (v->judged[COMPARISON_FAULTY] != COMPARISON_JUDGED) return cell;
    cell.state = STRIP_KNOWN;
    cell.severity = v->severity[shown];
    cell.weight = fabs(v->value[shown]);
    cell.text = compare_page_value_text(p, v, k->rule, shown);
    if (v->judged[COMPARISON_HEALTHY] == COMPARISON_JUDGED) {
        cell.before = compare_page_value_text(p, v, k->rule, COMPARISON_HEALTHY);
        cell.before_severity = v->severity[COMPARISON_HEALTHY];
    }
    const finding *f = v->finding[shown];
    cell.tip = f && f->claim ? f->claim : NULL;
    return cell;
}

static const char *compare_page_severity_word(const comparison_verdict *v, comparison_side side)
{
    if (v->judged[side] == COMPARISON_JUDGED) return theme_severity_word(v->severity[side]);
    return v->judged[side] == COMPARISON_NOT_KNOWN ? "not read" : NUMBER_UNKNOWN;
}

// "OK -> HIGH"; "OK" where both are alike.
const char *compare_page_turn_text(compare_page *p, const comparison_verdict *v)
{
    const char *h = compare_page_severity_word(v, COMPARISON_HEALTHY),
               *f = compare_page_severity_word(v, COMPARISON_FAULTY);
    return strcmp(h, f) == 0 ? h : arena_format(p->memory, "%s" ARROW "%s", h, f);
}

// "PCIe writes blocked, % of the time"; without a unit that the words have: "Damaged frames".
static const char *compare_page_check_label(compare_page *p, const rule *x)
{
    const char *words = rules_words(x);
    enum { LONGEST = 36 }; // a label is not cut: the unit goes first
    if (compare_page_is_per_bit(x)) return arena_format(p->memory, "%s, per Tbit", words);
    if (!*x->unit || strstr(words, x->unit) || strlen(words) + strlen(x->unit) > LONGEST) return words;
    return arena_format(p->memory, "%s, %s%s", words, compare_page_is_share(x) ? "% " : "", x->unit);
}

// Made on both sides of every device, and the same was found on all: nothing (OK), or what is but context (INFO).
static bool compare_page_is_alike(const compare_page *p, const comparison_check *k, severity s)
{
    for (size_t i = 0; i < k->cell_count; i++)
        for (int side = 0; side < COMPARISON_SIDES; side++)
            if (k->cells[i].judged[side] != COMPARISON_JUDGED || k->cells[i].severity[side] != s) return false;
    return k->cell_count >= p->count;
}

static bool compare_page_is_row(const compare_page *p, const comparison_check *k)
{
    return p->count && !k->of_node && strcmp(k->rule->source, p->source) == 0;
}

// "Damaged frames, Link went down and 12 more"; "": none is alike.
static const char *compare_page_alike_words(compare_page *p, severity s)
{
    enum { NAMED = 4 };
    const char *text = "";
    size_t count = 0;
    for (size_t i = 0; i < p->c->check_count; i++) {
        const comparison_check *k = &p->c->checks[i];
        if (!compare_page_is_row(p, k) || !compare_page_is_alike(p, k, s)) continue;
        if (count < NAMED) text = arena_format(p->memory, "%s%s%s", text, count ? ", " : "", rules_words(k->rule));
        count++;
    }
    return count > NAMED ? arena_format(p->memory, "%s and %zu more", text, count - NAMED) : text;
}

// What was the same everywhere and is no trouble is a sentence below the rows of the others.
static void compare_page_say_alike(compare_page *p)
{
    const char *well = compare_page_alike_words(p, SEVERITY_OK), *told = compare_page_alike_words(p, SEVERITY_INFO);
    if (!*well && !*told) return;
    document_note(p->doc,
                  arena_format(p->memory, "Judged alike on all %zu devices, healthy and faulty: %s%s%s%s%s.", p->count,
                               *well ? "OK " : "", well, *well && *told ? "; " : "", *told ? "INFO " : "", told));
}

static void compare_page_add_health(compare_page *p)
{
    const comparison *c = p->c;
    strip_row rows[CHECKS];
    size_t count = 0, unlike = 0;
    for (size_t i = 0; i < c->check_count && p->count > 1; i++)
        unlike += compare_page_is_row(p, &c->checks[i]) && !compare_page_is_alike(p, &c->checks[i], SEVERITY_OK) &&
                  !compare_page_is_alike(p, &c->checks[i], SEVERITY_INFO);
    for (size_t i = 0; i < c->check_count && count < CHECKS; i++) {
        const comparison_check *k = &c->checks[i];
        if (!compare_page_is_row(p, k)) continue;
        if (unlike && (compare_page_is_alike(p, k, SEVERITY_OK) || compare_page_is_alike(p, k, SEVERITY_INFO)))
            continue;
        strip_cell *cells = arena_make(p->memory, p->count + 1, sizeof *cells);
        for (size_t d = 0; d < p->count; d++) {
            bool inside = p->devices[d] >= k->first_device && p->devices[d] < k->first_device + k->cell_count;
            cells[d] = inside ? compare_page_strip_of(p, k, &k->cells[p->devices[d] - k->first_device])
                              : (strip_cell){.state = STRIP_ABSENT, .text = ""};
        }
        rows[count++] = (strip_row){.label = compare_page_check_label(p, k->rule),
                                    .word = compare_page_turn_text(p, &k->cells[k->worst]),
                                    .cells = cells};
    }
    if (!count) return;
    chart_head head = {"health", "Checks", "small mark healthy, large mark and number faulty; word: the worst device"};
    document_add(p->doc, chart_strip(head, p->labels, p->count, rows, count));
    if (unlike) compare_page_say_alike(p);
}

// ---- traffic ----

static bool compare_page_add_traffic_row(compare_page *p, const comparison_device *d, bars_row *row)
{
    const comparison_range *way[2] = {d->received, d->sent};
    bool any = false;
    *row = (bars_row){.label = d->name};
    for (int i = 0; i < 2; i++) {
        row->value[i] = way[i][COMPARISON_FAULTY].median;
        row->pale[i] = way[i][COMPARISON_HEALTHY].median;
        row->share[i] = d->speed_bits_per_s > 0 ? 8 * row->value[i] / d->speed_bits_per_s : NAN;
        any = any || row->value[i] > 0 || row->pale[i] > 0;
        row->tip[i] = arena_format(p->memory, "%s: healthy %s, faulty %s", d->name,
                                   number_volume_rate(row->pale[i], "bytes").text,
                                   number_volume_rate(row->value[i], "bytes").text);
    }
    return any;
}

// True if all devices went from and to nearly the same: a picture of equal bars would say less than a sentence.
static bool compare_page_is_even(const bars_row *rows, size_t count)
{
    for (int way = 0; way < 2; way++) {
        double low = INFINITY, high = 0;
        for (size_t i = 0; i < count; i++)
            for (int side = 0; side < 2; side++) {
                const bars_row *r = &rows[i], *first = &rows[0];
                double v = side ? r->value[way] / first->value[way] : r->pale[way] / first->pale[way];
                if (first->value[way] == 0 && first->pale[way] == 0 && r->value[way] == 0 && r->pale[way] == 0) v = 1;
                if (!isfinite(v)) return false;
                low = fmin(low, v);
                high = fmax(high, v);
            }
        if (high > 1.05 * low) return false;
    }
    return true;
}

void compare_page_add_traffic(compare_page *p)
{
    static const bars_style style = {{"received", "sent"}, "bytes", "% of line rate", NULL};
    const comparison *c = p->c;
    bars_row rows[BARS];
    size_t count = 0;
    // The devices of the columns; where they move no bytes, the ports of the node.
    for (size_t i = 0; i < p->count && count < BARS; i++)
        if (compare_page_add_traffic_row(p, &c->devices[p->devices[i]], &rows[count])) count++;
    for (size_t i = 0; i < c->device_count && count < BARS && (!p->count || !count); i++)
        if (c->devices[i].physical && compare_page_add_traffic_row(p, &c->devices[i], &rows[count])) count++;
    if (count > 2 && compare_page_is_even(rows, count)) {
        document_note(p->doc, arena_format(p->memory,
                                           "Traffic by device is not drawn: %zu devices carried the same, within 5 %%.",
                                           count));
        return;
    }
    if (count)
        document_add(p->doc,
                     chart_bars((chart_head){"traffic", "Traffic", "pale healthy, solid faulty: did all slow alike?"},
                                &style, rows, count));
}

// ---- change by device ----

static void compare_page_heat_cell(compare_page *p, const comparison_cell *x, double *value, const char **text)
{
    bool ratio = x && (x->state == COMPARISON_CHANGED || x->state == COMPARISON_SAME) && x->ratio_per_s > 0;
    bool turned = x && (x->state == COMPARISON_NEW || x->state == COMPARISON_GONE);
    *value = ratio                              ? x->ratio_per_s
             : turned                           ? (x->state == COMPARISON_NEW ? 1e3 : 1e-3)
             : x && x->state == COMPARISON_ZERO ? 0
             : x && x->state == COMPARISON_SAME ? 1 // but too little for a ratio: only where it is 0 it is a dot
                                                : NAN;
    *text = ratio || turned                    ? compare_page_ratio_text(p, x->ratio_per_s, x->state)
            : x && x->state == COMPARISON_SAME ? "same"
                                               : "";
}

// Bytes of both ways together; each way is in the traffic below.
static size_t compare_page_heat_bytes(compare_page *p, heat_row *row)
{
    double *values = arena_make(p->memory, p->count, sizeof *values);
    const char **texts = arena_make(p->memory, p->count, sizeof *texts);
    bool any = false;
    for (size_t d = 0; d < p->count; d++) {
        const comparison_device *dev = &p->c->devices[p->devices[d]];
        double h = dev->sent[COMPARISON_HEALTHY].median + dev->received[COMPARISON_HEALTHY].median,
               f = dev->sent[COMPARISON_FAULTY].median + dev->received[COMPARISON_FAULTY].median;
        values[d] = h == 0 && f == 0 ? 0 : h > 0 ? fmax(f / h, 1e-3) : f > 0 ? 1e3 : NAN;
        texts[d] = values[d] > 0
                       ? compare_page_ratio_text(p, h > 0 ? f / h : NAN, h > 0 ? COMPARISON_CHANGED : COMPARISON_NEW)
                       : "";
        any = any || values[d] > 0;
    }
    *row = (heat_row){
        .label = "Bytes, both ways", .unit = "", .ramp = INK_DIVERGING, .values = values, .texts = texts, .note = ""};
    return any;
}

// Bytes, and then each event that a counter leads, over the devices.
// False: there is nothing to draw.
static bool compare_page_add_heat(compare_page *p)
{
    const comparison *c = p->c;
    heat_row rows[HEAT_ROWS];
    const comparison_line *shown[HEAT_ROWS];
    size_t count = 0, lines = 0;
    if (p->count < 2) return false;
    count = compare_page_heat_bytes(p, rows);
    for (size_t i = 0; i < c->event_count && count < HEAT_ROWS; i++) {
        const comparison_line *l = c->events[i].line;
        bool again = !l || strcmp(l->source, p->source) != 0;
        for (size_t k = 0; k < lines; k++)
            again = again || shown[k] == l;
        if (again) continue;
        double *values = arena_make(p->memory, p->count, sizeof *values);
        const char **texts = arena_make(p->memory, p->count, sizeof *texts);
        for (size_t d = 0; d < p->count; d++)
            compare_page_heat_cell(p, compare_page_cell_of(l, p->devices[d]), &values[d], &texts[d]);
        shown[lines++] = l;
        rows[count++] = (heat_row){
            .label = arena_format(p->memory, "%.*s", (int)words_fitting(c->events[i].words, 34), c->events[i].words),
            .unit = "",
            .ramp = INK_DIVERGING,
            .values = values,
            .texts = texts,
            .note = l->pattern_text};
        if (!*rows[count - 1].label) rows[count - 1].label = l->name;
    }
    if (!lines) return false;
    chart_head head = {"by-device", "Change by device",
                       "faulty \xc3\xb7 healthy, per second; dot: 0 in both; hatched: not known"};
    document_add(p->doc, chart_heat(head, p->labels, p->count, rows, count, ""));
    return true;
}

void compare_page_first(compare_page *p)
{
    compare_page_choose_devices(p);
    compare_page_add_head(p);
    compare_page_add_path(p);
    compare_page_add_work(p);
    compare_page_add_changes(p);
    compare_page_add_health(p);
    p->traffic_follows = compare_page_add_heat(p);
    if (!p->traffic_follows) compare_page_add_traffic(p);
}
