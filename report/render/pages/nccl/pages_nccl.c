// The report of NCCL Inspector logs.
#include "pages_nccl.h"

#include "render/base/arena.h"
#include "render/base/buffer.h"
#include "render/chart/charts_plots.h"
#include "analysis/nccl/findings/nccl_compare.h"
#include "pages_nccl_private.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOT   "  \xc2\xb7  "
#define ARROW " \xe2\x86\x92 "
#define TIMES "\xc3\x97"
#define DASH  "\xe2\x80\x93"

enum { FIRST_ROWS = 9, FAMILIES = 6, SIZES = 6, COMPARED = 12, ALIKE = 2 };

const pages_kind pages_nccl_kind = {
    "NCCL collectives",
    "verdict, collectives, bandwidth, completeness, who is late, the run; findings, comparison, every call, counters, "
    "lists",
    "collectives bandwidth completeness late run findings all-collectives comparison compared counters nics calls-* "
    "histograms-* box-* percentiles-* communicators algorithms ranks pairs metrics missing files"};

typedef struct page {
    const nccl_view *v;
    document *doc;
    arena *memory;
} page;

static const char *size_text(uint64_t bytes)
{
    static _Thread_local number_text n; // of one call
    n = number_binary((double)bytes);
    return n.text;
}

static const char *keep(page *p, number_text n)
{
    return arena_text(p->memory, n.text);
}

static const char *us_text(page *p, const nccl_spread *s, double us)
{
    return s->count ? keep(p, number_duration(us / 1e6)) : NUMBER_UNKNOWN;
}

static const char *plain(page *p, const nccl_spread *s, double value)
{
    return s->count ? keep(p, number_plain(value)) : NUMBER_UNKNOWN;
}

static const char *grouped(page *p, uint64_t value)
{
    return keep(p, number_grouped(value));
}

// ---- head ----

static int64_t wall_ns(uint64_t us)
{
    return us && us < INT64_MAX / 1000 ? (int64_t)us * 1000 : 0;
}

static void add_head(page *p)
{
    const nccl_view *v = p->v;
    buffer b = {0};
    document_title(p->doc, v->verdict);
    if (v->ranks)
        buffer_printf(&b, "%s rank%s on %s host%s", number_grouped(v->ranks).text, v->ranks == 1 ? "" : "s",
                      number_grouped(v->hosts).text, v->hosts == 1 ? "" : "s");
    if (v->hosts > 1)
        buffer_printf(&b, " (%s" DASH "%s)", v->first_host, v->last_host);
    else if (v->hosts)
        buffer_printf(&b, " (%s)", v->first_host);
    if (v->calls)
        buffer_printf(&b, DOT "%s calls in %s communicator%s", number_grouped(v->calls).text,
                      number_grouped(v->communicators).text, v->communicators == 1 ? "" : "s");
    if (b.data) document_subline(p->doc, b.data);
    buffer_free(&b);
    if (wall_ns(v->first_dump_us))
        buffer_printf(&b, "logs written %s" ARROW "%s UTC", number_utc(wall_ns(v->first_dump_us), 0).text,
                      number_utc(wall_ns(v->last_dump_us), 0).text);
    if (b.data) document_subline(p->doc, b.data);
    buffer_free(&b);
    for (size_t i = 0; i < v->sentences.count; i++)
        document_verdict(p->doc, (severity)v->sentences.items[i].severity, v->sentences.items[i].text);
}

// ---- first page ----

static void add_table(page *p)
{
    const nccl_view *v = p->v;
    size_t shown = v->rows.count <= FIRST_ROWS + 1 ? v->rows.count : FIRST_ROWS;
    if (!shown) return;
    document_add(
        p->doc,
        nccl_chart_table((chart_head){"collectives", "Collectives",
                                      "which kinds cost the most, and is it the wire or the waiting? sorted by time"},
                         v->rows.items, shown, v->rows.count - shown));
}

// From three sizes on a curve tells something.
static bool make_curve(page *p, chart *x)
{
    const nccl_view *v = p->v;
    size_t n = 0, most = v->sizes.count;
    double *all = arena_make(p->memory, 5 * most + 1, sizeof *all);
    if (!all) return false;
    double *sizes = all, *y = all + most, *low = all + 2 * most, *high = all + 3 * most, *mean = all + 4 * most;
    for (size_t i = 0; i < most; i++) {
        const nccl_view_size *s = &v->sizes.items[i];
        if (!s->bus_gbs.count || !s->size) continue;
        sizes[n] = (double)s->size;
        y[n] = s->bus_gbs.p50 * 1e9;
        low[n] = s->bus_gbs.p5 * 1e9;
        high[n] = s->bus_gbs.p95 * 1e9;
        mean[n++] = s->mean_gbs * 1e9;
    }
    if (n < 3) return false;
    bool peak = v->main_peak_gbs > 0;
    const char *last = keep(p, number_plain(y[n - 1] / 1e9));
    if (peak)
        last = arena_format(p->memory, "%s, %s", last,
                            number_percent(round(100 * y[n - 1] / 1e9 / v->main_peak_gbs) / 100).text);
    const curve_line lines[2] = {
        {.label = "from wire time; band p5" DASH "p95",
         .ink = INK_RECEIVED,
         .pale = INK_RECEIVED_PALE,
         .y = y,
         .low = low,
         .high = high,
         .end_label = last},
        {.label = "mean over ranks, with waiting",
         .ink = INK_SECONDARY,
         .pale = INK_NONE,
         .y = mean,
         .dashed = true,
         .end_label = isfinite(mean[n - 1]) ? arena_text(p->memory, number_plain(mean[n - 1] / 1e9).text) : ""}};
    const curve_style style = {
        .x = sizes,
        .count = n,
        .x_scale = {.format = AXES_BINARY},
        .y_scale = {.format = AXES_SI, .unit = "B/s"},
        .peak = peak ? v->main_peak_gbs * 1e9 : NAN,
        .height = 128,
        .peak_label =
            peak ? arena_format(p->memory, "peak %s" NUMBER_SPACE "GB/s", number_plain(v->main_peak_gbs).text) : ""};
    const char *question = arena_format(p->memory, "%s on %s", v->main_coll, v->main_label);
    *x = chart_curve((chart_head){"bandwidth", "Bandwidth by size", question}, &style, lines, 2);
    return true;
}

static void add_curve_and_completeness(page *p)
{
    chart curve,
        complete = nccl_chart_complete((chart_head){"completeness", "Completeness", "how much was seen?"}, p->v);
    if (make_curve(p, &curve))
        document_beside(p->doc, curve, complete, .57);
    else
        document_add(p->doc, complete);
}

static void add_late(page *p)
{
    const nccl_view *v = p->v;
    uint64_t judged = 0;
    for (size_t i = 0; i < v->late.count; i++)
        judged += v->late.items[i].judged;
    if (!v->late.count) return;
    if (!judged) {
        document_note(p->doc, "Who is late cannot be told: no call was logged by all of its ranks.");
        return;
    }
    const char *what =
        v->late_all ? "all collectives" : arena_format(p->memory, "%s of %s", v->main_coll, v->main_label);
    const char *question =
        arena_format(p->memory, "%s, how far behind the median arrival, mean of the complete calls", what);
    document_add(p->doc, nccl_chart_late((chart_head){"late", "Who is late?", question}, v));
}

static void add_run(page *p)
{
    const nccl_view *v = p->v;
    if (v->run.count < 2) return;
    document_add(
        p->doc,
        nccl_chart_run((chart_head){"run", v->run_ranks > 1 ? "Wire time and skew over the run" : "Time over the run",
                                    arena_format(p->memory, "%s of %s on %s, one scale", v->main_coll,
                                                 size_text(v->run_size), v->run_label)},
                       v));
}

// ---- findings ----

static findings_row finding_row(page *p, const nccl_view_finding *f)
{
    findings_evidence *e = arena_make(p->memory, f->evidence.count + 1, sizeof *e);
    findings_row r = {.severity = (severity)f->severity,
                      .rule = f->rule,
                      .devices = f->device,
                      .claim = f->claim,
                      .advice = f->advice,
                      .explained_by = f->explained_by,
                      .evidence = e,
                      .limit = NAN};
    r.threshold = arena_format(p->memory, "%s %s (%s)", number_plain(f->limit).text, f->unit, f->origin);
    for (size_t i = 0; e && i < f->evidence.count; i++) {
        const nccl_view_evidence *x = &f->evidence.items[i];
        e[i] = (findings_evidence){x->name, arena_format(p->memory, "%s %s", number_plain(x->value).text, x->unit), ""};
    }
    r.evidence_count = e ? f->evidence.count : 0;
    return r;
}

// The same of others, in one block: "and 7 more: DP 1, DP 2, ...".
static findings_row more_of(page *p, const nccl_view_finding *first, const findings_row *like)
{
    enum { NAMED = 24 };
    const nccl_view *v = p->v;
    size_t alike = 0, more = 0;
    const char *names = "";
    findings_row r = *like;
    for (size_t i = 0; i < v->findings.count; i++) {
        const nccl_view_finding *f = &v->findings.items[i];
        if (strcmp(f->rule, first->rule) != 0 || f->severity != first->severity || alike++ < ALIKE) continue;
        if (more++ < NAMED) names = arena_format(p->memory, "%s%s%s", names, *names ? ", " : "", f->device);
    }
    r.devices = arena_format(p->memory, "%zu more", more);
    r.claim = arena_format(p->memory, "The same of %s%s", names, more > NAMED ? ", and others" : "");
    r.evidence_count = 0;
    return r;
}

static void add_findings(page *p)
{
    const nccl_view *v = p->v;
    findings_row *rows = arena_make(p->memory, v->findings.count + 1, sizeof *rows);
    size_t count = 0;
    for (size_t i = 0; rows && i < v->findings.count; i++) {
        const nccl_view_finding *f = &v->findings.items[i];
        size_t alike = 0;
        for (size_t k = 0; k < i; k++)
            alike += strcmp(v->findings.items[k].rule, f->rule) == 0 && v->findings.items[k].severity == f->severity;
        if (alike > ALIKE) continue;
        rows[count] = finding_row(p, f);
        if (alike == ALIKE) rows[count] = more_of(p, f, &rows[count]);
        count++;
    }
    if (rows && count)
        document_add(p->doc, chart_findings((chart_head){"findings", "Findings",
                                                         "what was judged, on what evidence, with which threshold"},
                                            rows, count));
    if (v->findings_left)
        document_note(p->doc, arena_format(p->memory, "%llu more findings are in nccl.json.",
                                           (unsigned long long)v->findings_left));
}

// ---- every call: families of kinds ----

// A class and a collective: its kinds, by size.
typedef struct family {
    const char *type, *meaning, *coll;
    double time_us;
    const nccl_view_kind **kinds;
    size_t count;
} family;

static int by_time(const void *a, const void *b)
{
    const family *x = a, *y = b;
    if (x->time_us != y->time_us) return x->time_us < y->time_us ? 1 : -1;
    int order = strcmp(x->type, y->type);
    return order ? order : strcmp(x->coll, y->coll);
}

static int by_size(const void *a, const void *b)
{
    const nccl_view_kind *x = *(const nccl_view_kind *const *)a, *y = *(const nccl_view_kind *const *)b;
    if (x->size != y->size) return x->size < y->size ? -1 : 1;
    return (x > y) - (x < y);
}

static family *make_families(page *p, size_t *count)
{
    const nccl_view *v = p->v;
    family *all = arena_make(p->memory, v->kinds.count + 1, sizeof *all);
    size_t n = 0;
    for (size_t i = 0; all && i < v->kinds.count && i < NCCL_VIEW_KINDS; i++) {
        const nccl_view_kind *k = &v->kinds.items[i];
        size_t at = 0;
        while (at < n && (strcmp(all[at].type, k->type) != 0 || strcmp(all[at].coll, k->coll) != 0))
            at++;
        if (at == n) {
            all[n++] = (family){.type = k->type, .meaning = k->meaning, .coll = k->coll};
            all[at].kinds = arena_make(p->memory, v->kinds.count + 1, sizeof *all[at].kinds);
        }
        if (!all[at].kinds) break;
        all[at].kinds[all[at].count++] = k;
        all[at].time_us += (double)k->time_us;
    }
    for (size_t i = 0; i < n; i++)
        qsort(all[i].kinds, all[i].count, sizeof *all[i].kinds, by_size);
    if (n) qsort(all, n, sizeof *all, by_time);
    *count = n;
    return all;
}

// Of more sizes than have a place those with the most time, by size.
static size_t choose_sizes(page *p, const family *f, size_t most, const nccl_view_kind ***chosen)
{
    const nccl_view_kind **all = arena_copy(p->memory, f->kinds, f->count, sizeof *all);
    size_t count = all ? f->count : 0;
    while (count > most) {
        size_t least = 0;
        for (size_t i = 1; i < count; i++)
            if (all[i]->time_us < all[least]->time_us) least = i;
        memmove(all + least, all + least + 1, (count - least - 1) * sizeof *all);
        count--;
    }
    *chosen = all;
    return count;
}

static size_t make_panels(page *p, const nccl_view_kind **kinds, size_t count, nccl_panel *panels)
{
    for (size_t i = 0; i < count; i++)
        panels[i] = (nccl_panel){arena_format(p->memory, "%s, %s call%s", size_text(kinds[i]->size),
                                              number_grouped(kinds[i]->calls).text, kinds[i]->calls == 1 ? "" : "s"),
                                 kinds[i]};
    return count;
}

static boxplot_row box_of(page *p, const nccl_view_kind *k)
{
    const nccl_spread *s = k->has_bus ? &k->bus_gbs : &k->wire_us;
    double factor = k->has_bus ? 1e9 : 1e-6;
    return (boxplot_row){.label = arena_text(p->memory, size_text(k->size)),
                         .low = s->count ? s->p5 * factor : NAN,
                         .q1 = s->p25 * factor,
                         .median = s->count ? s->p50 * factor : NAN,
                         .q3 = s->p75 * factor,
                         .high = s->count ? s->p95 * factor : NAN,
                         .samples = s->count,
                         .ink = INK_RECEIVED};
}

static chart box_chart(page *p, chart_head head, const nccl_view_kind **kinds, size_t count, double height)
{
    boxplot_row *rows = arena_make(p->memory, count + 1, sizeof *rows);
    bool bus = count && kinds[0]->has_bus;
    for (size_t i = 0; rows && i < count; i++)
        rows[i] = box_of(p, kinds[i]);
    const boxplot_style style = {
        .y_scale = {.axis = {0, 0, false, false}, .format = bus ? AXES_SI : AXES_DURATION, .unit = bus ? "B/s" : ""},
        .low_name = "p5",
        .high_name = "p95",
        .height = height};
    return chart_boxplot(head, &style, rows, rows ? count : 0);
}

static bool make_histogram(page *p, chart_head head, const nccl_view_kind *k, double height, chart *x)
{
    size_t bins = k->bins.count;
    double factor = k->has_bus ? 1e9 : 1e-6, low = k->low * factor, high = k->high * factor, sum = 0;
    double *edges = arena_make(p->memory, bins + 2, sizeof *edges),
           *counts = arena_make(p->memory, bins + 1, sizeof *counts);
    if (!edges || !counts || !bins || !isfinite(low) || !isfinite(high) || !isfinite(high - low)) return false;
    if (!(high > low)) low *= .95, high = low > 0 ? low / .95 * 1.05 : 1; // all calls alike: one bin
    for (size_t i = 0; i <= bins; i++)
        edges[i] = low + (high - low) * (double)i / (double)bins;
    for (size_t i = 0; i < bins; i++)
        sum += counts[i] = isfinite(k->bins.items[i].count) ? fmax(k->bins.items[i].count, 0) : 0;
    if (!(sum > 0) || !(edges[bins] > edges[0])) return false;
    const distribution_style style = {
        .edges = edges,
        .bins = bins,
        .x_scale = {.format = k->has_bus ? AXES_SI : AXES_DURATION, .unit = k->has_bus ? "B/s" : ""},
        .what = "calls",
        .height = height};
    const distribution_set set = {.label = k->has_bus ? "share of calls, by bus bandwidth from the wire time"
                                                      : "share of calls, by wire time",
                                  .ink = INK_RECEIVED,
                                  .counts = counts};
    *x = chart_distribution(head, &style, &set, NULL);
    return true;
}

// The box plot beside the percentiles of the time on the wire.
static void add_spread(page *p, const family *f, size_t number, const nccl_view_kind **kinds, size_t count)
{
    enum { COLUMNS = 7 };
    static const table_column columns[COLUMNS] = {
        {"size", TABLE_NUMBER, 1}, {"calls", TABLE_NUMBER, 0}, {"wire p5", TABLE_NUMBER, 0}, {"p50", TABLE_NUMBER, 0},
        {"p95", TABLE_NUMBER, 0},  {"p99", TABLE_NUMBER, 0},   {"skew p50", TABLE_NUMBER, 0}};
    const char **cells = arena_make(p->memory, COLUMNS * (count + 1), sizeof *cells);
    bool one_rank = strcmp(f->type, nccl_class_name(NCCL_SINGLE_RANK)) == 0;
    for (size_t i = 0; cells && i < count; i++) {
        const nccl_view_kind *k = kinds[i];
        const char *row[COLUMNS] = {arena_text(p->memory, size_text(k->size)),
                                    grouped(p, k->calls),
                                    us_text(p, &k->wire_us, k->wire_us.p5),
                                    us_text(p, &k->wire_us, k->wire_us.p50),
                                    us_text(p, &k->wire_us, k->wire_us.p95),
                                    us_text(p, &k->wire_us, k->wire_us.p99),
                                    one_rank ? NUMBER_UNKNOWN : us_text(p, &k->skew_us, k->skew_us.p50)};
        memcpy(cells + COLUMNS * i, row, sizeof row);
    }
    if (!cells) return;
    chart_head box = {arena_format(p->memory, "box-%zu", number), "Spread",
                      count && kinds[0]->has_bus ? "bus bandwidth: p5, quartiles, p95"
                                                 : "wire time: p5, quartiles, p95"};
    chart_head table = {arena_format(p->memory, "percentiles-%zu", number), "Percentiles", "of the time on the wire"};
    document_beside(p->doc, box_chart(p, box, kinds, count, 72), chart_table(table, columns, COLUMNS, cells, count),
                    .48);
}

static void add_family(page *p, const family *f, size_t number)
{
    const nccl_view_kind **kinds;
    nccl_panel panels[SIZES];
    size_t count = choose_sizes(p, f, SIZES, &kinds);
    const char *left =
        f->count > count ? arena_format(p->memory, ", the %zu of %zu sizes with the most time", count, f->count) : "";
    make_panels(p, kinds, count, panels);
    document_add(p->doc,
                 nccl_chart_panels((chart_head){arena_format(p->memory, "calls-%zu", number),
                                                arena_format(p->memory, "%s, %s", f->coll, f->type),
                                                arena_format(p->memory, "every call over the sequence number (%s)%s",
                                                             f->meaning, left)},
                                   panels, count));
    document_add(p->doc, nccl_chart_histograms(
                             (chart_head){arena_format(p->memory, "histograms-%zu", number), "",
                                          arena_format(p->memory, "share of calls by %s",
                                                       count && kinds[0]->has_bus ? "bus bandwidth" : "wire time")},
                             panels, count));
    add_spread(p, f, number, kinds, count);
}

static void add_families(page *p)
{
    size_t count, shown;
    family *all = make_families(p, &count);
    if (!all || !count) return;
    shown = count < FAMILIES ? count : FAMILIES;
    document_part(p->doc, "Every call");
    for (size_t i = 0; i < shown; i++)
        add_family(p, &all[i], i + 1);
    if (count > shown || p->v->kinds_left)
        document_note(p->doc,
                      arena_format(p->memory,
                                   "%zu of %zu pairs of class and collective are drawn, those with the most time; "
                                   "--charts DIR draws all of "
                                   "them%s.",
                                   shown, count,
                                   p->v->kinds_left
                                       ? arena_format(p->memory, ", but for %llu kinds that are in types.csv only",
                                                      (unsigned long long)p->v->kinds_left)
                                       : ""));
}

// ---- two jobs ----

static const char *ratio_text(page *p, double ratio)
{
    return isfinite(ratio) ? arena_format(p->memory, TIMES "%s", number_fixed(ratio, 2).text) : NUMBER_UNKNOWN;
}

static double change_of(const nccl_view_compared *c)
{
    if (isfinite(c->wire_ratio) && c->wire_ratio > 0) return fabs(log(c->wire_ratio));
    return -1;
}

static int by_change(const void *a, const void *b)
{
    const nccl_view_compared *x = *(const nccl_view_compared *const *)a, *y = *(const nccl_view_compared *const *)b;
    double p = change_of(x), q = change_of(y);
    bool same[2] = {strcmp(x->verdict, "alike") == 0, strcmp(y->verdict, "alike") == 0};
    if (same[0] != same[1]) return same[0] ? 1 : -1;
    return p > q ? -1 : p < q ? 1 : (x > y) - (x < y);
}

static void add_dumbbells(page *p, const nccl_view_compared **order, size_t count)
{
    static const char *const heads[DUMBBELL_COLUMNS] = {"before", "after", TIMES " wire", TIMES " skew"};
    dumbbell_row rows[COMPARED];
    size_t n = 0;
    for (size_t i = 0; i < count && n < COMPARED; i++) {
        const nccl_view_compared *c = order[i];
        if (!(c->before_us > 0) || !(c->after_us > 0)) continue;
        rows[n++] = (dumbbell_row){.name = arena_format(p->memory, "%s %s", c->coll, size_text(c->size)),
                                   .gloss = "",
                                   .device = c->type,
                                   .unit = "ms",
                                   .before = c->before_us / 1e3,
                                   .after = c->after_us / 1e3,
                                   .low = NAN,
                                   .high = NAN,
                                   .strong = strcmp(c->verdict, "slower") == 0,
                                   .columns = {us_text(p, &(nccl_spread){.count = 1}, c->before_us),
                                               us_text(p, &(nccl_spread){.count = 1}, c->after_us),
                                               ratio_text(p, c->wire_ratio), ratio_text(p, c->skew_ratio)}};
    }
    if (n)
        document_add(p->doc,
                     chart_dumbbell(
                         (chart_head){"comparison", "Two jobs: median wire time",
                                      "hollow is before, filled after; orange: slower; what changed most stands first"},
                         heads, rows, n));
}

static void add_comparison(page *p)
{
    enum { COLUMNS = 8 };
    static const table_column columns[COLUMNS] = {{"class", TABLE_TEXT, 0},
                                                  {"collective", TABLE_TEXT, 1},
                                                  {"size", TABLE_NUMBER, 0},
                                                  {"before", TABLE_NUMBER, 0},
                                                  {"after", TABLE_NUMBER, 0},
                                                  {TIMES " wire", TABLE_NUMBER, 0},
                                                  {TIMES " bus bandwidth", TABLE_NUMBER, 0},
                                                  {"", TABLE_TEXT, 0}};
    const nccl_view *v = p->v;
    size_t count = v->compared.count;
    if (!v->compared_known) return;
    const nccl_view_compared **order = arena_make(p->memory, count + 1, sizeof *order);
    const char **cells = arena_make(p->memory, COLUMNS * (count + 1), sizeof *cells);
    for (size_t i = 0; order && i < count; i++)
        order[i] = &v->compared.items[i];
    if (order && count) qsort(order, count, sizeof *order, by_change);
    if (order) add_dumbbells(p, order, count);
    document_note(p->doc, arena_format(p->memory,
                                       "%llu kinds slower, %llu faster, %llu alike. Slower or faster: the medians of "
                                       "the wire time differ by more than %.0f %%, and by more than "
                                       "chance allows (rank sum, |z| above %.0f).",
                                       (unsigned long long)v->slower, (unsigned long long)v->faster,
                                       (unsigned long long)v->alike, 100 * NCCL_COMPARE_CHANGE, NCCL_COMPARE_Z));
    for (size_t i = 0; order && cells && i < count; i++) {
        const nccl_view_compared *c = order[i];
        const char **row = cells + COLUMNS * i;
        row[0] = c->type;
        row[1] = c->coll;
        row[2] = arena_text(p->memory, size_text(c->size));
        row[3] = keep(p, number_duration(c->before_us / 1e6));
        row[4] = keep(p, number_duration(c->after_us / 1e6));
        row[5] = ratio_text(p, c->wire_ratio);
        row[6] = ratio_text(p, c->bus_ratio);
        row[7] = c->verdict;
    }
    if (order && cells && count)
        document_add(p->doc, chart_table((chart_head){"compared", "All kinds compared", "median wire time"}, columns,
                                         COLUMNS, cells, count));
}

// ---- NIC counters ----

static void add_lines(page *p)
{
    const nccl_view *v = p->v;
    size_t n = v->columns.count;
    double *all = arena_make(p->memory, 9 * n + 1, sizeof *all), *of[9];
    if (!all || n < 2 || !(v->columns_to_s > v->columns_from_s)) return;
    for (size_t k = 0; k < 9; k++)
        of[k] = all + k * n;
    for (size_t i = 0; i < n; i++) {
        const nccl_view_column *c = &v->columns.items[i];
        const double values[9] = {v->columns_from_s +
                                      (v->columns_to_s - v->columns_from_s) * ((double)i + .5) / (double)n,
                                  c->wire_us / 1e6,
                                  c->skew_us / 1e6,
                                  c->received,
                                  c->received_high,
                                  c->sent,
                                  c->sent_high,
                                  c->trouble,
                                  c->waiting};
        for (size_t k = 0; k < 9; k++)
            of[k][i] = values[k];
    }
    const lines_curve times[] = {{.label = "wire time", .ink = INK_RECEIVED, .y = of[1]},
                                 {.label = "skew", .ink = INK_SENT, .y = of[2]}};
    const lines_curve rates[] = {
        {.label = "received", .ink = INK_RECEIVED, .pale = INK_RECEIVED_PALE, .y = of[3], .low = of[3], .high = of[4]},
        {.label = "sent", .ink = INK_SENT, .pale = INK_SENT_PALE, .y = of[5], .low = of[5], .high = of[6]}};
    const lines_curve events[] = {{.label = "trouble", .ink = INK_BAD, .y = of[7], .step = true},
                                  {.label = "waiting", .ink = INK_WATCH, .y = of[8], .step = true}};
    const lines_panel panels[] = {{.label = "NCCL calls",
                                   .below = "medians, by when they were written",
                                   .format = AXES_DURATION,
                                   .unit = "",
                                   .curves = times,
                                   .curve_count = 2,
                                   .limit = NAN},
                                  {.label = "NICs",
                                   .below = "mean host; band: to the highest",
                                   .format = AXES_SI,
                                   .unit = "B/s",
                                   .curves = rates,
                                   .curve_count = 2,
                                   .limit = NAN},
                                  {.label = "counters",
                                   .below = "of trouble, of waiting: how many moved",
                                   .format = AXES_SI,
                                   .unit = "",
                                   .curves = events,
                                   .curve_count = 2,
                                   .limit = NAN}};
    const lines_style style = {
        .x = of[0],
        .count = n,
        .axis = {.axis = {v->columns_from_s, v->columns_to_s, false, false}, .format = AXES_TIME, .unit = "s"},
        .x_head = "seconds since the first line of the logs",
        .panel_height = 70};
    document_add(
        p->doc,
        chart_lines(
            (chart_head){"counters", "NCCL and NIC counters",
                         arena_format(p->memory, "%s of %s on %s above what its hosts' NICs counted; one time axis",
                                      v->main_coll, size_text(v->run_size), v->run_label)},
            &style, panels, 3));
}

static const char *moved_text(page *p, const char *counter, double amount, const char *unit)
{
    return *counter ? arena_format(p->memory, "%s (%s)", counter, number_volume(amount, *unit ? unit : "events").text)
                    : "none";
}

static void add_counters(page *p)
{
    enum { COLUMNS = 8 };
    static const table_column columns[COLUMNS] = {
        {"host", TABLE_TEXT, 0},    {"shared time", TABLE_NUMBER, 0},   {"received", TABLE_NUMBER, 0},
        {"sent", TABLE_NUMBER, 0},  {"most received", TABLE_NUMBER, 0}, {"most sent", TABLE_NUMBER, 0},
        {"trouble", TABLE_NAME, 1}, {"waiting", TABLE_NAME, 1}};
    const nccl_view *v = p->v;
    const char **cells = arena_make(p->memory, COLUMNS * (v->nics.count + 1), sizeof *cells);
    if (!v->counters_known) return;
    if (!v->nics.count) {
        document_note(p->doc, "The recordings are of other hosts than the logs, or of another time.");
        return;
    }
    add_lines(p);
    for (size_t i = 0; cells && i < v->nics.count; i++) {
        const nccl_view_nic *n = &v->nics.items[i];
        const char **row = cells + COLUMNS * i;
        row[0] = n->host;
        row[1] = keep(p, number_duration(n->seconds));
        row[2] = keep(p, number_volume(n->received, "bytes"));
        row[3] = keep(p, number_volume(n->sent, "bytes"));
        row[4] = keep(p, number_volume_rate(n->peak_received, "bytes"));
        row[5] = keep(p, number_volume_rate(n->peak_sent, "bytes"));
        row[6] = moved_text(p, n->trouble, n->trouble_amount, n->trouble_unit);
        row[7] = moved_text(p, n->waiting, n->waiting_amount, n->waiting_unit);
    }
    if (cells)
        document_add(p->doc, chart_table((chart_head){"nics", "NIC counters by host",
                                                      "in the time that recording and logs share"},
                                         columns, COLUMNS, cells, v->nics.count));
    document_note(p->doc, "When a call was is known only to the interval in which the Inspector writes its "
                          "logs: compare stretches longer than that.");
}

// ---- lists ----

static void say_left(page *p, uint64_t left, const char *what, const char *where)
{
    if (left)
        document_note(p->doc,
                      arena_format(p->memory, "%llu more %s are in %s.", (unsigned long long)left, what, where));
}

static void add_series(page *p)
{
    enum { COLUMNS = 12 };
    static const table_column columns[COLUMNS] = {
        {"communicator", TABLE_TEXT, 1}, {"ranks", TABLE_NUMBER, 0},    {"collective", TABLE_TEXT, 0},
        {"size", TABLE_NUMBER, 0},       {"calls", TABLE_NUMBER, 0},    {"time", TABLE_NUMBER, 0},
        {"wire p5", TABLE_NUMBER, 0},    {"p50", TABLE_NUMBER, 0},      {"p95", TABLE_NUMBER, 0},
        {"p99", TABLE_NUMBER, 0},        {"skew p50", TABLE_NUMBER, 0}, {"bus GB/s", TABLE_NUMBER, 0}};
    const nccl_view *v = p->v;
    const char **cells = arena_make(p->memory, COLUMNS * (v->series.count + 1), sizeof *cells);
    for (size_t i = 0; cells && i < v->series.count; i++) {
        const nccl_view_series *s = &v->series.items[i];
        const char **row = cells + COLUMNS * i;
        row[0] = *s->label ? s->label : NUMBER_UNKNOWN;
        row[1] = grouped(p, s->ranks);
        row[2] = s->coll;
        row[3] = arena_text(p->memory, size_text(s->size));
        row[4] = grouped(p, s->calls);
        row[5] = keep(p, number_duration((double)s->time_us / 1e6));
        row[6] = us_text(p, &s->wire_us, s->wire_us.p5);
        row[7] = us_text(p, &s->wire_us, s->wire_us.p50);
        row[8] = us_text(p, &s->wire_us, s->wire_us.p95);
        row[9] = us_text(p, &s->wire_us, s->wire_us.p99);
        row[10] = s->ranks > 1 ? us_text(p, &s->skew_us, s->skew_us.p50) : NUMBER_UNKNOWN;
        row[11] = plain(p, &s->bus_gbs, s->bus_gbs.p50);
    }
    if (!cells || !v->series.count) return;
    document_add(
        p->doc,
        chart_table((chart_head){"communicators", "Communicators",
                                 "percentiles by communicator, collective and size; those with the most time first"},
                    columns, COLUMNS, cells, v->series.count));
    say_left(p, v->series_left, "rows", "communicators.csv");
}

static void add_paths(page *p)
{
    enum { COLUMNS = 8 };
    static const table_column columns[COLUMNS] = {{"class", TABLE_TEXT, 0},      {"collective", TABLE_TEXT, 1},
                                                  {"algorithm", TABLE_TEXT, 0},  {"protocol", TABLE_TEXT, 0},
                                                  {"size", TABLE_NUMBER, 0},     {"calls", TABLE_NUMBER, 0},
                                                  {"wire p50", TABLE_NUMBER, 0}, {"bus GB/s p50", TABLE_NUMBER, 0}};
    const nccl_view *v = p->v;
    const char **cells = arena_make(p->memory, COLUMNS * (v->paths.count + 1), sizeof *cells);
    for (size_t i = 0; cells && i < v->paths.count; i++) {
        const nccl_view_path *x = &v->paths.items[i];
        const char *row[COLUMNS] = {x->type,
                                    x->coll,
                                    *x->algo ? x->algo : NUMBER_UNKNOWN,
                                    *x->proto ? x->proto : NUMBER_UNKNOWN,
                                    arena_text(p->memory, size_text(x->size)),
                                    grouped(p, x->calls),
                                    us_text(p, &x->wire_us, x->wire_us.p50),
                                    plain(p, &x->bus_gbs, x->bus_gbs.p50)};
        memcpy(cells + COLUMNS * i, row, sizeof row);
    }
    if (cells && v->paths.count)
        document_add(p->doc,
                     chart_table((chart_head){"algorithms", "Algorithms and protocols", "which way did NCCL choose?"},
                                 columns, COLUMNS, cells, v->paths.count));
}

static void add_ranks(page *p)
{
    enum { COLUMNS = 10 };
    static const table_column columns[COLUMNS] = {
        {"host", TABLE_TEXT, 1},      {"local", TABLE_NUMBER, 0},  {"pid", TABLE_NUMBER, 0},
        {"records", TABLE_NUMBER, 0}, {"last", TABLE_NUMBER, 0},   {"alone", TABLE_NUMBER, 0},
        {"cost", TABLE_NUMBER, 0},    {"waited", TABLE_NUMBER, 0}, {"behind median", TABLE_NUMBER, 0},
        {"missing", TABLE_NUMBER, 0}};
    const nccl_view *v = p->v;
    const char **cells = arena_make(p->memory, COLUMNS * (v->slowest.count + 1), sizeof *cells);
    for (size_t i = 0; cells && i < v->slowest.count; i++) {
        const nccl_view_process *x = &v->slowest.items[i];
        const char *row[COLUMNS] = {
            x->host,
            arena_format(p->memory, "%llu", (unsigned long long)x->local),
            arena_format(p->memory, "%llu", (unsigned long long)x->pid),
            grouped(p, x->records),
            keep(p, number_percent(x->records ? (double)x->last_arrivals / (double)x->records : NAN)),
            keep(p, number_percent(x->judged ? (double)x->last_alone / (double)x->judged : NAN)),
            x->records ? keep(p, number_duration((double)x->cost_us / 1e6)) : NUMBER_UNKNOWN,
            x->records ? keep(p, number_duration((double)x->suffered_us / 1e6)) : NUMBER_UNKNOWN,
            x->judged ? keep(p, number_duration(x->behind_us / 1e6)) : NUMBER_UNKNOWN,
            grouped(p, x->missing)};
        memcpy(cells + COLUMNS * i, row, sizeof row);
    }
    if (!cells || !v->slowest.count) return;
    document_add(p->doc, chart_table((chart_head){"ranks", "Ranks",
                                                  "one process each, in all its communicators; last: had the shortest "
                                                  "time; cost: what it alone added to its calls; waited: for others"},
                                     columns, COLUMNS, cells, v->slowest.count));
    say_left(p, v->slowest_left, "processes", "ranks.csv");
}

static void add_pairs(page *p)
{
    enum { COLUMNS = 9 };
    static const table_column columns[COLUMNS] = {{"communicator", TABLE_TEXT, 1}, {"rank", TABLE_NUMBER, 0},
                                                  {"host", TABLE_TEXT, 1},         {"", TABLE_TEXT, 0},
                                                  {"peer", TABLE_NUMBER, 0},       {"size", TABLE_NUMBER, 0},
                                                  {"records", TABLE_NUMBER, 0},    {"time p50", TABLE_NUMBER, 0},
                                                  {"GB/s p50", TABLE_NUMBER, 0}};
    const nccl_view *v = p->v;
    const char **cells = arena_make(p->memory, COLUMNS * (v->pairs.count + 1), sizeof *cells);
    for (size_t i = 0; cells && i < v->pairs.count; i++) {
        const nccl_view_pair *x = &v->pairs.items[i];
        const char *row[COLUMNS] = {*x->label ? x->label : NUMBER_UNKNOWN,
                                    arena_format(p->memory, "%llu", (unsigned long long)x->rank),
                                    x->host,
                                    x->operation,
                                    isfinite(x->peer) ? arena_format(p->memory, "%.0f", x->peer) : NUMBER_UNKNOWN,
                                    arena_text(p->memory, size_text(x->size)),
                                    grouped(p, x->records),
                                    us_text(p, &x->time_us, x->time_us.p50),
                                    plain(p, &x->bus_gbs, x->bus_gbs.p50)};
        memcpy(cells + COLUMNS * i, row, sizeof row);
    }
    if (!cells || !v->pairs.count) return;
    document_add(p->doc, chart_table((chart_head){"pairs", "Point to point",
                                                  "by rank, peer and size; those with the most time first"},
                                     columns, COLUMNS, cells, v->pairs.count));
    say_left(p, v->pairs_left, "rows", "p2p.csv");
}

static void add_metrics(page *p)
{
    static const table_column columns[] = {
        {"metric", TABLE_NAME, 0}, {"labels", TABLE_TEXT, 1}, {"value", TABLE_NUMBER, 0}};
    const nccl_view *v = p->v;
    const char **cells = arena_make(p->memory, 3 * (v->metrics.count + 1), sizeof *cells);
    for (size_t i = 0; cells && i < v->metrics.count; i++) {
        const char *row[3] = {v->metrics.items[i].name, v->metrics.items[i].labels,
                              keep(p, number_plain(v->metrics.items[i].value))};
        memcpy(cells + 3 * i, row, sizeof row);
    }
    if (!cells || !v->metrics.count) return;
    document_add(p->doc, chart_table((chart_head){"metrics", "Prometheus files",
                                                  "averages over windows whose number of calls is not told: "
                                                  "neither late ranks nor percentiles can be had of them"},
                                     columns, 3, cells, v->metrics.count));
    say_left(p, v->metrics_left, "samples", "metrics.csv");
}

static void add_gone(page *p)
{
    static const table_column columns[] = {{"host", TABLE_TEXT, 1},
                                           {"pid", TABLE_NUMBER, 0},
                                           {"after the end of its log", TABLE_NUMBER, 0},
                                           {"lost in between", TABLE_NUMBER, 0}};
    const nccl_view *v = p->v;
    const char **cells = arena_make(p->memory, 4 * (v->gone.count + 1), sizeof *cells);
    for (size_t i = 0; cells && i < v->gone.count; i++) {
        const nccl_view_gone *g = &v->gone.items[i];
        const char *row[4] = {g->host, arena_format(p->memory, "%llu", (unsigned long long)g->pid), grouped(p, g->tail),
                              grouped(p, g->between)};
        memcpy(cells + 4 * i, row, sizeof row);
    }
    if (!cells || !v->gone.count) return;
    document_add(p->doc, chart_table((chart_head){"missing", "Missing records",
                                                  "that other ranks of the same call have; small messages "
                                                  "are filtered on all ranks alike and are no loss"},
                                     columns, 4, cells, v->gone.count));
    say_left(p, v->gone_left, "processes", "ranks.csv");
}

static void add_files(page *p)
{
    enum { COLUMNS = 6 };
    static const table_column columns[COLUMNS] = {{"file", TABLE_TEXT, 1},       {"lines", TABLE_NUMBER, 0},
                                                  {"unusable", TABLE_NUMBER, 0}, {"first at line", TABLE_NUMBER, 0},
                                                  {"why", TABLE_TEXT, 1},        {"the file", TABLE_TEXT, 1}};
    const nccl_view *v = p->v;
    const char **cells = arena_make(p->memory, COLUMNS * (v->damaged.count + 1), sizeof *cells);
    for (size_t i = 0; cells && i < v->damaged.count; i++) {
        const nccl_view_file *f = &v->damaged.items[i];
        const char *twice = f->duplicates ? arena_format(p->memory, "%s%llu duplicates", *f->reasons ? ", " : "",
                                                         (unsigned long long)f->duplicates)
                                          : "";
        const char *other = f->conflicts
                                ? arena_format(p->memory, "%s%llu conflicts", *f->reasons || *twice ? ", " : "",
                                               (unsigned long long)f->conflicts)
                                : "";
        const char *row[COLUMNS] = {*f->name ? f->name : NUMBER_UNKNOWN,
                                    grouped(p, f->lines),
                                    grouped(p, f->bad),
                                    f->first_bad_line ? grouped(p, f->first_bad_line) : NUMBER_UNKNOWN,
                                    arena_format(p->memory, "%s%s%s", f->reasons, twice, other),
                                    *f->problem ? f->problem : NUMBER_UNKNOWN};
        memcpy(cells + COLUMNS * i, row, sizeof row);
    }
    if (!cells || !v->damaged.count) return;
    document_add(p->doc, chart_table((chart_head){"files", "Lines and files that could not be used",
                                                  "a bad line costs that line only"},
                                     columns, COLUMNS, cells, v->damaged.count));
    say_left(p, v->damaged_left, "files", "lines.csv");
}

static void add_unknown(page *p)
{
    enum { MOST = 12 };
    const nccl_view *v = p->v;
    for (size_t i = 0; i < v->unknown.count && i < MOST; i++)
        document_note(p->doc, arena_format(p->memory, "Not judged: %s.", v->unknown.items[i].text));
    if (v->unknown.count > MOST)
        document_note(p->doc,
                      arena_format(p->memory, "and %zu more that could not be judged.", v->unknown.count - MOST));
}

static void add_method(page *p)
{
    const nccl_view *v = p->v;
    document_note(
        p->doc,
        arena_format(p->memory,
                     "Read: %s files, %s of lines in %s, formats %s; %s lines could not be used. A rank's time is "
                     "waiting for the last rank, then the wire: of each call the shortest time "
                     "of all ranks is the wire, longest \xe2\x88\x92 shortest the skew, and the rank with the "
                     "shortest time came last. Sequence numbers are counted for each collective of a communicator. "
                     "Bus bandwidth is that of nccl-tests, recomputed from size and wire time. Quantiles are "
                     "interpolated linearly.",
                     number_grouped(v->files).text, number_grouped(v->lines).text,
                     number_volume((double)v->unpacked_bytes, "bytes").text, *v->versions ? v->versions : "not told",
                     number_grouped(v->unusable).text));
}

static void add_details(page *p)
{
    const nccl_view *v = p->v;
    document_part(p->doc, "Details");
    add_findings(p);
    if (v->rows.count > FIRST_ROWS + 1)
        document_add(p->doc, nccl_chart_table((chart_head){"all-collectives", "All collectives", "sorted by time"},
                                              v->rows.items, v->rows.count, 0));
    add_comparison(p);
    add_counters(p);
    add_families(p);
    document_part(p->doc, "Lists");
    add_series(p);
    add_paths(p);
    add_ranks(p);
    add_pairs(p);
    add_metrics(p);
    add_gone(p);
    add_files(p);
    add_unknown(p);
    add_method(p);
}

document *pages_nccl(const nccl_view *v, bool brief, netprof_error *error)
{
    page p = {.v = v, .doc = document_open(pages_nccl_kind.name), .memory = arena_open()};
    bool failed = !p.doc || !p.memory;
    char foot[300];
    if (!failed) {
        add_head(&p);
        add_table(&p);
        if (v->calls) add_curve_and_completeness(&p);
        add_late(&p);
        add_run(&p);
        if (!v->calls)
            document_note(p.doc, v->metrics.count ? "The logs hold no single calls, only averages of Prometheus files."
                                                  : "The logs hold no collective: there is nothing to draw.");
        if (!brief) add_details(&p);
        snprintf(foot, sizeof foot,
                 "%s Inspector log files (%.60s)" DOT "netprof %s" DOT
                 "wire time = shortest time of all ranks; skew = longest \xe2\x88\x92 shortest",
                 number_grouped(v->files).text, *v->versions ? v->versions : "version not told", netprof_version());
        document_foot(p.doc, foot);
        document_metadata(p.doc, "NCCL collectives", "netprof, NCCL, collectives, bandwidth, skew",
                          wall_ns(v->last_dump_us));
        failed = arena_failed(p.memory);
    }
    arena_close(p.memory);
    return document_made(p.doc, !failed, error);
}

// ---- single charts ----

typedef struct single {
    page p;
    pages_nccl_file *files;
    size_t count, room;
    bool failed;
} single;

// A name from a log as a part of a file's name: "AllReduce"; what is neither letter, digit, '-' nor '_' becomes '_'.
static void safe_name(const char *text, char *to, size_t size)
{
    size_t n = 0;
    for (; *text && n + 1 < size; text++)
        to[n++] = isalnum((unsigned char)*text) && !((unsigned char)*text & 0x80) ? *text : *text == '-' ? '-' : '_';
    to[n] = 0;
}

// The next chart's name in the document; its file, unless another chart has it: then with a number.
static const char *add_file(single *s, const char *path)
{
    if (s->count == s->room) {
        size_t room = s->room ? 2 * s->room : 64;
        pages_nccl_file *grown = realloc(s->files, room * sizeof *grown);
        if (!grown) {
            s->failed = true;
            return "";
        }
        s->files = grown;
        s->room = room;
    }
    pages_nccl_file *f = &s->files[s->count];
    size_t same = 0;
    snprintf(f->chart, sizeof f->chart, "chart-%zu", s->count);
    snprintf(f->path, sizeof f->path, "%s", path);
    for (size_t i = 0; i < s->count; i++)
        same += strncmp(s->files[i].path, path, strlen(path)) == 0 &&
                (!s->files[i].path[strlen(path)] || s->files[i].path[strlen(path)] == '~');
    if (same) snprintf(f->path, sizeof f->path, "%.180s~%zu", path, same + 1);
    s->count++;
    return f->chart;
}

static chart_head head_of(single *s, const char *path, const char *title, const char *question)
{
    return (chart_head){arena_text(s->p.memory, add_file(s, path)), title, question};
}

// file: the part of the files' names that tells class and collective.
static void add_kind_charts(single *s, const family *f, const char *file, const nccl_view_kind *k)
{
    char human[32], directory[100], path[200];
    chart x;
    nccl_size_text(k->size, human, sizeof human);
    snprintf(directory, sizeof directory, "summary/msg_size_%llu_%s", (unsigned long long)k->size, human);
    const char *title = arena_format(s->p.memory, "%s of %s, %s", f->coll, size_text(k->size), f->type);
    const char *question = arena_format(s->p.memory, "%s calls", number_grouped(k->calls).text);
    snprintf(path, sizeof path, "%s/histograms/histogram_%s_%llu", directory, file, (unsigned long long)k->size);
    size_t before = s->count;
    if (make_histogram(&s->p, head_of(s, path, title, question), k, 180, &x))
        document_add(s->p.doc, x);
    else
        s->count = before;
    snprintf(path, sizeof path, "%s/boxplots/boxplot_%s_%llu", directory, file, (unsigned long long)k->size);
    document_add(s->p.doc, box_chart(&s->p, head_of(s, path, title, question), &k, 1, 180));
}

static void add_family_charts(single *s, const family *f)
{
    char type[21], coll[41], file[64], path[200];
    nccl_panel *panels = arena_make(s->p.memory, f->count + 1, sizeof *panels);
    if (!panels) return;
    safe_name(f->type, type, sizeof type);
    safe_name(f->coll, coll, sizeof coll);
    snprintf(file, sizeof file, "%s_%s", type, coll);
    make_panels(&s->p, f->kinds, f->count, panels);
    const char *title = arena_format(s->p.memory, "%s, %s", f->coll, f->type);
    snprintf(path, sizeof path, "summary/scatter_plot_%s", file);
    document_add(
        s->p.doc,
        nccl_chart_scatter(head_of(s, path, title,
                                   "bus bandwidth over the sequence number; of sizes with very many calls a selection"),
                           panels, f->count));
    snprintf(path, sizeof path, "summary/combined_scatter_plot_%s", file);
    document_add(s->p.doc,
                 nccl_chart_panels(head_of(s, path, title, "every call over the sequence number"), panels, f->count));
    for (size_t i = 0; i < f->count; i++)
        add_kind_charts(s, f, file, f->kinds[i]);
}

static void add_first_charts(single *s)
{
    const nccl_view *v = s->p.v;
    chart x;
    if (v->rows.count)
        document_add(s->p.doc, nccl_chart_table(head_of(s, "charts/collectives", "Collectives", "sorted by time"),
                                                v->rows.items, v->rows.count, 0));
    if (v->calls)
        document_add(s->p.doc,
                     nccl_chart_complete(head_of(s, "charts/completeness", "Completeness", "how much was seen?"), v));
    if (make_curve(&s->p, &x)) {
        x.name = arena_text(((chart_memory *)x.data)->memory, add_file(s, "charts/bandwidth"));
        document_add(s->p.doc, x);
    }
    if (v->late.count)
        document_add(s->p.doc, nccl_chart_late(head_of(s, "charts/late", "Who is late?", v->main_coll), v));
    if (v->run.count > 1)
        document_add(s->p.doc,
                     nccl_chart_run(head_of(s, "charts/run", "Wire time and skew over the run", v->main_coll), v));
}

document *pages_nccl_charts(const nccl_view *v, pages_nccl_file **files, size_t *count, netprof_error *error)
{
    single s = {.p = {.v = v, .doc = document_open(pages_nccl_kind.name), .memory = arena_open()}};
    size_t families = 0;
    s.failed = !s.p.doc || !s.p.memory;
    if (!s.failed) {
        add_first_charts(&s);
        family *all = make_families(&s.p, &families);
        for (size_t i = 0; all && i < families; i++)
            add_family_charts(&s, &all[i]);
        document_metadata(s.p.doc, "NCCL collectives", "netprof, NCCL", wall_ns(v->last_dump_us));
        s.failed = s.failed || arena_failed(s.p.memory);
    }
    arena_close(s.p.memory);
    if (s.failed) free(s.files);
    *files = s.failed ? NULL : s.files;
    *count = s.failed ? 0 : s.count;
    return document_made(s.p.doc, !s.failed, error);
}
