// Important metrics, groups, gauges, clocks, quality of the data, method.
#include "render/base/arena.h"
#include "render/base/buffer.h"
#include "render/base/number.h"
#include "pair.h"
#include "analysis/base/memory.h"
#include "render/pages/sheet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDE = 8 }; // so many devices have a column each; more are folded to sum and largest

// What a counter did, in short.
static number_text appendix_change_text(const difference_row *row)
{
    number_text n = number_prefixed((double)row->magnitude, "");
    if (!row->compared)
        snprintf(n.text, sizeof n.text, "not read");
    else if (row->negative && row->magnitude) {
        number_text positive = n;
        snprintf(n.text, sizeof n.text, NUMBER_MINUS "%.60s", positive.text);
    }
    return n;
}

static const difference_row *appendix_row_of(const pair *p, size_t device, const char *name)
{
    size_t c = evaluation_counter(&p->e, device, name);
    return c == DIFFERENCE_NONE ? NULL : &p->d->rows[c];
}

// Columns for devices: each of a few, else sum, most and whose.
static size_t appendix_device_columns(const pair_source *s, table_column *columns, size_t from)
{
    size_t k = from;
    for (size_t i = 0; i < s->count && s->count <= WIDE; i++)
        columns[k++] = (table_column){s->labels[i], TABLE_NUMBER, 1};
    if (s->count <= WIDE) return k;
    columns[k++] = (table_column){"sum", TABLE_NUMBER, 1};
    columns[k++] = (table_column){"most", TABLE_NUMBER, 1};
    columns[k++] = (table_column){"on", TABLE_TEXT, 1};
    return k;
}

static void appendix_put_devices(const pair *p, sheet *t, const pair_source *s, const char *name)
{
    double sum = 0;
    const difference_row *most = NULL;
    size_t where = 0;
    for (size_t i = 0; i < s->count; i++) {
        const difference_row *row = appendix_row_of(p, s->devices[i], name);
        if (s->count <= WIDE) {
            if (row)
                sheet_number(t, appendix_change_text(row));
            else
                sheet_text(t, NUMBER_UNKNOWN);
            continue;
        }
        if (!row || !row->compared || row->negative) continue;
        sum += (double)row->magnitude;
        if (most && row->magnitude <= most->magnitude) continue;
        most = row;
        where = i;
    }
    if (s->count <= WIDE) return;
    sheet_number(t, number_prefixed(most ? sum : NAN, ""));
    sheet_number(t, number_prefixed(most ? (double)most->magnitude : NAN, ""));
    sheet_text(t, most && most->magnitude ? s->labels[where] : "");
}

// ---- sums of a source without devices in the usual sense ----

void pair_sums(pair *p, document *doc, const pair_source *s)
{
    enum { EACH = 6 };
    static const table_column columns[] = {{"unit", TABLE_TEXT, 0},
                                           {"counter", TABLE_NAME, 0},
                                           {"change", TABLE_NUMBER, 0},
                                           {"rate", TABLE_NUMBER, 0},
                                           {"meaning", TABLE_TEXT, 1}};
    size_t count = 0, in_unit = 0;
    difference_query query = {0};
    size_t *rows = difference_select(p->d, &query, &count);
    const char *unit = NULL;
    sheet t = sheet_open(sizeof columns / sizeof *columns);
    for (size_t d = 0; d < s->count; d++) {
        bool headed = false;
        unit = NULL;
        for (size_t i = 0; i < count; i++) {
            const netprof_counter *c = &p->schema->counters[rows[i]];
            const difference_row *row = &p->d->rows[rows[i]];
            if (c->device != s->devices[d] || c->kind == NETPROF_KIND_HISTOGRAM) continue;
            if (!unit || strcmp(unit, row->unit) != 0) {
                unit = row->unit;
                in_unit = 0;
            }
            if (in_unit++ >= EACH) continue;
            if (!headed) sheet_heading(&t, s->labels[d]);
            headed = true;
            sheet_text(&t, *row->unit ? row->unit : NUMBER_UNKNOWN);
            sheet_text(&t, c->name);
            sheet_number(&t, appendix_change_text(row));
            sheet_number(&t, number_volume_rate(row->rate_per_s, row->unit));
            sheet_text(&t, pair_gloss(row->entry, c->name));
        }
    }
    free(rows);
    const char *title =
        strcmp(s->name, "ip") == 0 ? "The kernel's IP stack" : arena_format(p->memory, "Changes: %.50s", s->name);
    const chart_head head = {arena_format(p->memory, "changes-%.50s", s->name), title, "the largest of each unit"};
    sheet_end(&t, doc, head, columns);
}

// ---- important metrics ----

// How long a Cassini's counters have been running, by the counter that counts every clock of an idle unit.
static double appendix_lifetime_s(pair *p, size_t device)
{
    reading total = pair_value(p, "after(tou_tou_oxe_num_idles)", device);
    return total.status == READING_OK ? total.number / pair_counter_rate(p, device, "tou_tou_oxe_num_idles") : NAN;
}

static void appendix_put_metric(const pair *p, sheet *t, const pair_source *s, const char *name,
                                const double *lifetimes, bool lifetime)
{
    for (size_t i = 0; i < s->count; i++) {
        size_t c = evaluation_counter(&p->e, s->devices[i], name);
        double value = NAN;
        if (c != DIFFERENCE_NONE && p->d->rows[c].compared)
            value = lifetime ? (double)p->d->delta->after[c] / lifetimes[i] : p->d->rows[c].rate_per_s;
        sheet_number(t, number_prefixed(value, ""));
    }
}

static void appendix_metrics_of(pair *p, document *doc, const pair_source *s, size_t part)
{
    table_column columns[WIDE + 3] = {{"counter", TABLE_NAME, 0}, {"unit", TABLE_TEXT, 0}, {"rate", TABLE_TEXT, 0}};
    difference_table table = {0};
    double lifetimes[WIDE];
    for (size_t i = 0; i < s->count; i++) {
        columns[i + 3] = (table_column){s->labels[i], TABLE_NUMBER, 1};
        lifetimes[i] = appendix_lifetime_s(p, s->devices[i]);
    }
    sheet t = sheet_open(s->count + 3);
    difference_table_of_marks(p->d, s->name, CATALOG_IMPORTANT, &table);
    for (size_t r = 0; r < table.row_count; r++) {
        const catalog_entry *entry = catalog_find(s->name, table.names[r]);
        sheet_text(&t, table.names[r]);
        sheet_text(&t, entry ? entry->unit : "");
        sheet_text(&t, "interval /s");
        appendix_put_metric(p, &t, s, table.names[r], lifetimes, false);
        if (isnan(lifetimes[0])) continue;
        sheet_text(&t, "");
        sheet_text(&t, "");
        sheet_text(&t, "since start /s");
        appendix_put_metric(p, &t, s, table.names[r], lifetimes, true);
    }
    const char *question = "rate in the interval";
    if (!isnan(lifetimes[0]))
        question = arena_format(p->memory, "rate in the interval, and since the counters started %.0f h ago",
                                lifetimes[0] / 3600);
    const char *name = part ? arena_format(p->memory, "metrics-%zu", part + 1) : "metrics";
    sheet_end(&t, doc, (chart_head){name, "Important metrics", question}, columns);
    difference_table_free(&table);
}

// The important metrics.
static void appendix_put_metrics(pair *p, document *doc)
{
    for (size_t i = 0; i < p->source_count; i++) {
        const pair_source *s = &p->sources[i];
        if (!s->count || !catalog_count(s->name, CATALOG_IMPORTANT)) continue;
        for (size_t from = 0, part = 0; from < s->count && (p->in->all_nics || !part); from += WIDE, part++) {
            pair_source some = *s;
            some.devices += from;
            some.labels += from;
            some.count = s->count - from < WIDE ? s->count - from : WIDE;
            appendix_metrics_of(p, doc, &some, part);
        }
        if (s->count > WIDE && !p->in->all_nics)
            document_note(doc, arena_format(p->memory, "The first %d of %zu %s; --all-nics shows all.", WIDE, s->count,
                                            pair_noun(s->name, true)));
    }
}

// ---- groups ----

static bool appendix_changed_anywhere(const pair *p, const difference_table *table, size_t r)
{
    for (size_t c = 0; c < table->column_count; c++) {
        size_t cell = table->cells[r * table->column_count + c];
        if (cell != DIFFERENCE_NONE && p->d->rows[cell].changed) return true;
    }
    return false;
}

static void appendix_put_group(const pair *p, sheet *t, const pair_source *s, size_t group, const catalog_group *g)
{
    difference_table table = {0};
    size_t changed = 0;
    difference_table_of_group(p->d, group, &table);
    for (size_t r = 0; r < table.row_count; r++)
        changed += appendix_changed_anywhere(p, &table, r);
    if (changed)
        sheet_heading(t, arena_format(p->memory, "%s: %zu of %zu changed", g->title, changed, table.row_count));
    for (size_t r = 0; r < table.row_count && changed; r++) {
        const catalog_entry *entry = catalog_find(s->name, table.names[r]);
        if (!appendix_changed_anywhere(p, &table, r)) continue;
        sheet_text(t, table.names[r]);
        sheet_text(t, entry ? entry->unit : "");
        appendix_put_devices(p, t, s, table.names[r]);
    }
    difference_table_free(&table);
}

static void appendix_add_groups(pair *p, document *doc, const pair_source *s)
{
    table_column columns[WIDE + 5] = {{"counter", TABLE_NAME, 1}, {"unit", TABLE_TEXT, 0}};
    size_t count = appendix_device_columns(s, columns, 2);
    const catalog_group *g;
    sheet t = sheet_open(count);
    for (size_t i = 0; (g = catalog_group_at(i)); i++)
        if (strcmp(g->source, s->name) == 0) appendix_put_group(p, &t, s, i, g);
    const chart_head head = {arena_format(p->memory, "groups-%.50s", s->name),
                             arena_format(p->memory, "Groups of counters: %.50s", s->name),
                             "what changed in the interval; the unchanged is not listed"};
    sheet_end(&t, doc, head, columns);
}

// ---- gauges and clocks ----

static number_text appendix_plain_value(const netprof_counter *c, uint64_t value)
{
    bool is_signed = c->flags & NETPROF_SIGNED;
    bool negative = is_signed && (int64_t)value < 0;
    uint64_t size = negative ? 0 - value : value;
    return number_grouped_signed(size, negative);
}

static void appendix_add_gauges(pair *p, document *doc)
{
    enum { MOST = 60 };
    static const table_column columns[] = {{"device", TABLE_TEXT, 0},   {"gauge", TABLE_NAME, 0},
                                           {"before", TABLE_NUMBER, 0}, {"after", TABLE_NUMBER, 0},
                                           {"unit", TABLE_TEXT, 0},     {"meaning", TABLE_TEXT, 1}};
    difference_query query = {.kinds = DIFFERENCE_GAUGES, .clock = DIFFERENCE_WITH_CLOCK};
    size_t count = 0, *rows = difference_select(p->d, &query, &count);
    sheet t = sheet_open(sizeof columns / sizeof *columns);
    for (size_t i = 0; i < count && i < MOST; i++) {
        const netprof_counter *c = &p->schema->counters[rows[i]];
        sheet_text(&t, p->schema->devices[c->device].name);
        sheet_text(&t, c->name);
        sheet_number(&t, appendix_plain_value(c, p->d->delta->before[rows[i]]));
        sheet_number(&t, appendix_plain_value(c, p->d->delta->after[rows[i]]));
        sheet_text(&t, p->d->rows[rows[i]].unit);
        sheet_text(&t, pair_gloss(p->d->rows[rows[i]].entry, c->name));
    }
    free(rows);
    sheet_end(&t, doc, (chart_head){"gauges", "Gauges", "their value at both ends: a gauge has no rate"}, columns);
    if (count > MOST) document_note(doc, arena_format(p->memory, "and %zu more gauges that changed", count - MOST));
}

static void appendix_add_clocks(pair *p, document *doc, const pair_source *s)
{
    table_column columns[WIDE + 5] = {{"counter", TABLE_NAME, 1}, {"unit", TABLE_TEXT, 0}};
    difference_query query = {.clock = DIFFERENCE_ONLY_CLOCK};
    size_t columns_count = appendix_device_columns(s, columns, 2), count = 0, found = 0;
    size_t *rows = difference_select(p->d, &query, &found);
    difference_sum *sums = rows ? difference_sums(p->d, rows, found, 0, &count) : NULL;
    free(rows);
    sheet t = sheet_open(columns_count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(sums[i].source, s->name) != 0 || !(catalog_marks(s->name, sums[i].name) & CATALOG_CLOCK_ONLY))
            continue;
        if (!sums[i].value) continue;
        sheet_text(&t, sums[i].name);
        sheet_text(&t, sums[i].unit);
        appendix_put_devices(p, &t, s, sums[i].name);
    }
    free(sums);
    sheet_end(&t, doc,
              (chart_head){arena_format(p->memory, "clocks-%.50s", s->name), "Counters that only tell time",
                           "they grow without traffic and are left out of every ranking"},
              columns);
}

// ---- quality of the data ----

static void appendix_put_fact(sheet *t, const char *what, const char *value)
{
    sheet_text(t, what);
    sheet_text(t, value);
}

static void appendix_put_reading(const pair *p, sheet *t)
{
    const netprof_delta *delta = p->d->delta;
    int64_t least = INT64_MAX, most = 0;
    for (size_t i = 0; i < p->schema->counter_count; i++) {
        if (!p->d->rows[i].compared || delta->elapsed_ns[i] <= 0) continue;
        if (delta->elapsed_ns[i] < least) least = delta->elapsed_ns[i];
        if (delta->elapsed_ns[i] > most) most = delta->elapsed_ns[i];
    }
    if (delta->wall_begin_ns > 0)
        appendix_put_fact(t, "Interval",
                          arena_format(p->memory, "%s to %s UTC", number_utc(delta->wall_begin_ns, 3).text,
                                       number_utc(delta->wall_end_ns, 3).text));
    if (most)
        appendix_put_fact(t, "Between the two readings of a counter",
                          arena_format(p->memory, "%.3f s to %.3f s", (double)least / 1e9, (double)most / 1e9));
    if (delta->sweep_ns > 0)
        appendix_put_fact(t, "A reading of everything took",
                          arena_text(p->memory, number_duration((double)delta->sweep_ns / 1e9).text));
    if (delta->stamp_error_ns > 0)
        appendix_put_fact(t, "The files keep the counters' own times to within",
                          arena_text(p->memory, number_duration((double)delta->stamp_error_ns / 1e9).text));
    appendix_put_fact(t, "Counters",
                      arena_format(p->memory, "%zu, of which %zu could be compared and %zu changed",
                                   p->d->total.counters, p->d->total.compared, p->d->total.changed));
}

static void appendix_put_flags(const pair *p, sheet *t)
{
    static const char *const words[DIFFERENCE_FLAGS] = {
        [NETPROF_FLAG_WRAPPED] = "passed the end of their width once; the difference takes it into account",
        [NETPROF_FLAG_RESET] = "started again from 0; what came since is a lower bound",
        [NETPROF_FLAG_NEW] = "only in the second snapshot; no difference",
        [NETPROF_FLAG_GONE] = "only in the first snapshot; no difference",
        [NETPROF_FLAG_SUSPECT] = "stand at their largest value; a lower bound",
        [NETPROF_FLAG_UNKNOWN] = "could not be read at one of the two ends; no difference"};
    for (size_t i = 0; i < DIFFERENCE_FLAGS; i++)
        if (words[i] && p->d->total.flagged[i])
            appendix_put_fact(t, arena_format(p->memory, "Flag: %s", netprof_flag_name((netprof_flag)i)),
                              arena_format(p->memory, "%zu counters %s", p->d->total.flagged[i], words[i]));
}

static void appendix_put_warnings(const pair *p, sheet *t)
{
    enum { MOST = 8 };
    const dataset *set = p->in->set;
    for (size_t i = 0; set && i < set->warning_count && i < MOST; i++)
        appendix_put_fact(t, i ? "" : "Warnings about the files",
                          arena_format(p->memory, "%s: %s", set->warnings[i].path, set->warnings[i].text));
    if (set && set->warning_count > MOST)
        appendix_put_fact(t, "", arena_format(p->memory, "and %zu more", set->warning_count - MOST));
}

// What the data say about themselves: line rate and clock, derived.
static void appendix_put_derived(const pair *p, sheet *t, const pair_source *s)
{
    if (strcmp(s->name, "cxi") != 0) return;
    double lines[2] = {INFINITY, 0}, clocks[2] = {INFINITY, 0};
    for (size_t i = 0; i < s->count; i++) {
        double line = 5440 * pair_counter_rate(p, s->devices[i], "hni_pcs_good_cw");
        double clock = pair_counter_rate(p, s->devices[i], "tou_tou_oxe_num_idles");
        lines[0] = fmin(lines[0], line);
        lines[1] = fmax(lines[1], line);
        clocks[0] = fmin(clocks[0], clock);
        clocks[1] = fmax(clocks[1], clock);
    }
    if (lines[1] > 0)
        appendix_put_fact(t, "Line rate, from codewords of 5440 bits",
                          arena_format(p->memory, "%.2f to %.2f Gb/s", lines[0] / 1e9, lines[1] / 1e9));
    if (clocks[1] > 0)
        appendix_put_fact(t, "Clock, from idle cycles",
                          arena_format(p->memory, "%.5f to %.5f GHz", clocks[0] / 1e9, clocks[1] / 1e9));
}

static void appendix_add_quality(pair *p, document *doc)
{
    static const table_column columns[] = {{"", TABLE_TEXT, 0}, {"", TABLE_TEXT, 1}};
    sheet t = sheet_open(2);
    for (size_t i = 0; i < p->in->path_count; i++)
        appendix_put_fact(&t, i ? "" : "Read from", p->in->paths[i]);
    appendix_put_reading(p, &t);
    for (size_t i = 0; i < p->source_count; i++)
        appendix_put_derived(p, &t, &p->sources[i]);
    appendix_put_flags(p, &t);
    appendix_put_warnings(p, &t);
    appendix_put_fact(&t, "Checks",
                      arena_format(p->memory, "%zu made, %zu could not be made", p->f->judged, p->f->unknown_checks));
    sheet_end(&t, doc, (chart_head){"quality", "Quality of the data", "can these numbers be trusted?"}, columns);
}

// ---- method ----

static const char *appendix_thresholds_text(const rule *r, arena *a)
{
    static const char *const signs[] = {"<", "\xe2\x89\xa4", ">", "\xe2\x89\xa5"};
    const char *text = "";
    for (int s = SEVERITY_INFO; s < SEVERITIES; s++) {
        const rule_threshold *t = &r->thresholds[s];
        char limit[RULES_THRESHOLD_TEXT];
        if (!*rules_threshold_text(r, t, signs, limit)) continue;
        text = arena_format(a, "%s%s%s %s%s%s%s", text, *text ? "; " : "", severity_name((severity)s), limit,
                            strcmp(t->origin, "own") ? " [" : "", strcmp(t->origin, "own") ? t->origin : "",
                            strcmp(t->origin, "own") ? "]" : "");
    }
    return text;
}

static bool appendix_applies(const pair *p, const rule *r)
{
    for (size_t i = 0; i < p->source_count; i++)
        if (strcmp(r->source, p->sources[i].name) == 0) return true;
    return false;
}

static void appendix_add_method(pair *p, document *doc)
{
    static const table_column columns[] = {{"check", TABLE_TEXT, 0},
                                           {"source", TABLE_TEXT, 0},
                                           {"value in", TABLE_TEXT, 0},
                                           {"thresholds; in brackets whose, else our own", TABLE_TEXT, 1}};
    sheet t = sheet_open(sizeof columns / sizeof *columns);
    for (size_t i = 0; i < p->in->rules->count; i++) {
        const rule *r = p->in->rules->items[i];
        if (!appendix_applies(p, r)) continue;
        sheet_text(&t, r->name);
        sheet_text(&t, r->source);
        sheet_text(&t, r->unit);
        sheet_text(&t, appendix_thresholds_text(r, p->memory));
    }
    sheet_end(&t, doc, (chart_head){"method", "Method", "what was checked, and from which values on it is a finding"},
              columns);
    document_note(
        doc,
        "Rates are differences over the counter's own two time stamps where the driver gives them, else over the "
        "device's times of reading. Byte rates use decimal prefixes (1 kB = 1000 B), line rates bits. A counter whose "
        "value "
        "could not be read is never taken for zero. Counters belong to the node: other programs' traffic is in them.");
}

void pair_appendix(pair *p, document *doc)
{
    document_part(doc, "Appendix");
    appendix_add_quality(p, doc);
    appendix_put_metrics(p, doc);
    for (size_t i = 0; i < p->source_count; i++)
        if (p->sources[i].count && p->sources[i].count <= 64 && strcmp(p->sources[i].name, "ip") != 0)
            appendix_add_groups(p, doc, &p->sources[i]);
    appendix_add_gauges(p, doc);
    for (size_t i = 0; i < p->source_count; i++)
        if (p->sources[i].count) appendix_add_clocks(p, doc, &p->sources[i]);
    appendix_add_method(p, doc);
}
