// The report of regions: where the time of a job's code went, which rank is unlike the others, what the NICs did.
#include "render/base/arena.h"
#include "render/base/buffer.h"
#include "render/chart/charts.h"
#include "render/document/document.h"
#include "render/base/number.h"
#include "pages.h"
#include "pages_signs.h"
#include "sheet.h"
#include "analysis/data/traffic.h"
#include "analysis/base/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERDICT_LINES = 6, TABLE_ROWS = 20, HEAT_ROWS = 10, HEAT_RANKS = 256, BINS = 16, FINDINGS = 24, BYTES_ROWS = 8 };
static const double folded = .01; // regions below this share are left out of a long table

const pages_kind pages_regions_kind = {
    "In-code regions", "regions with what the NICs did meanwhile, balance over ranks, times of calls; findings, ranks",
    "runs regions icicle balance durations bytes spans values findings all-regions ranks"};

typedef struct regions_page {
    const regions *r;
    document *doc;
    arena *memory;
} regions_page;

// ---- head ----

static void regions_page_add_head(regions_page *p)
{
    const regions *r = p->r;
    buffer b = {0};
    document_title(p->doc, r->title ? r->title : "");
    if (r->command && *r->command) buffer_printf(&b, "%s" DOT, r->command);
    if (r->runs > 1)
        buffer_printf(&b, "%s of %s", words_many(r->rank_count, "file").text, words_many(r->runs, "run").text);
    else
        buffer_printf(&b, "%s", words_many(r->rank_count, "rank").text);
    buffer_printf(&b, " on %s", words_many(r->host_count, "host").text);
    if (r->job && *r->job) buffer_printf(&b, DOT "job %s", r->job);
    if (r->wall_ns) buffer_printf(&b, DOT "%s UTC", number_utc(r->wall_ns, 0).text);
    if (r->elapsed_ns) buffer_printf(&b, DOT "%s", number_duration((double)r->elapsed_ns / 1e9).text);
    buffer_printf(&b, DOT "%s calls", number_prefixed((double)r->calls, "").text);
    char *run = regions_run_text(r);
    if (*run) buffer_printf(&b, DOT "%s", run);
    free(run);
    document_subline(p->doc, b.data ? b.data : "");
    buffer_free(&b);
    for (size_t i = 0; i < r->note_count && i < VERDICT_LINES; i++)
        document_verdict(p->doc, r->notes[i].severity, r->notes[i].text);
}

// ---- the tree ----

static const char *regions_page_duration(regions_page *p, double ns)
{
    return arena_text(p->memory, isfinite(ns) ? number_duration(ns / 1e9).text : NUMBER_UNKNOWN);
}

static severity regions_page_node_severity(const regions *r, const regions_node *n)
{
    severity worst = SEVERITY_OK;
    for (size_t i = n->first_finding; i < n->first_finding + n->finding_count; i++)
        if (r->findings[i].severity > worst && r->findings[i].part == REGIONS_NONE) worst = r->findings[i].severity;
    return worst;
}

static void regions_page_fill_nic(regions_page *p, const regions_node *n, region_row *row)
{
    const regions_nic *nic = &n->nic;
    row->sent = row->paused = row->retries = NUMBER_UNKNOWN;
    row->sent_share = row->bytes_per_s = NAN;
    if (nic->state == REGIONS_TOO_SHORT) row->note = "WATCH  too short for its counters";
    if (nic->state == REGIONS_UNCERTAIN && nic->bytes_known[TRAFFIC_SENT])
        row->note = arena_format(p->memory, "%s sent \xc2\xb1%s: no rate",
                                 number_volume((double)nic->bytes[TRAFFIC_SENT], "bytes").text,
                                 number_percent(nic->uncertain).text);
    if (nic->state != REGIONS_KNOWN) return;
    double rate = nic->bytes_per_s[TRAFFIC_SENT];
    row->bytes_per_s = nic->bytes_known[TRAFFIC_SENT] ? rate : NAN;
    row->sent =
        arena_text(p->memory, nic->bytes_known[TRAFFIC_SENT] && isfinite(rate) ? number_volume_rate(rate, "bytes").text
                                                                               : NUMBER_UNKNOWN);
    row->sent_share = nic->line_bytes_per_s > 0 ? rate / nic->line_bytes_per_s : NAN;
    if (isfinite(nic->paused))
        row->paused = arena_text(p->memory, nic->paused > 0 ? number_percent(nic->paused).text : "0");
    if (nic->retries_known)
        row->retries = arena_text(p->memory, nic->retries ? number_prefixed((double)nic->retries, "").text : "0");
}

static region_row regions_page_row_of(regions_page *p, const regions_node *n)
{
    const regions *r = p->r;
    region_row row = {
        .name = n->name, .depth = n->depth, .share = n->run_share, .own_share = n->own_run_share, .odd = ""};
    row.calls = arena_text(p->memory, number_prefixed((double)n->sums.calls, "").text);
    row.time = regions_page_duration(p, n->mean_ns);
    row.own = regions_page_duration(p, n->cell_count ? (double)n->sums.exclusive_ns / (double)n->cell_count : NAN);
    if (n->odd != REGIONS_NONE && n->odd_notable && isfinite(n->odd_over_median)) {
        const char *label = r->ranks[n->cells[n->odd].rank].label;
        row.odd = n->odd_over_median >= 10
                      ? arena_format(p->memory, "%s > " TIMES "10", label)
                      : arena_format(p->memory, "%s " TIMES "%s", label, number_fixed(n->odd_over_median, 2).text);
        row.odd_strong = n->kind == REGIONS_WORK; // who waits long is no culprit
    }
    row.severity = regions_page_node_severity(r, n);
    row.tip =
        arena_format(p->memory, "%s: %zu ranks, fastest %s, slowest %s", n->name, n->cell_count,
                     regions_page_duration(p, (double)n->fastest_ns), regions_page_duration(p, (double)n->slowest_ns));
    regions_page_fill_nic(p, n, &row);
    return row;
}

static void regions_page_add_tree(regions_page *p, bool whole)
{
    const regions *r = p->r;
    bool fold = !whole && r->node_count > TABLE_ROWS;
    region_row *rows = arena_make(p->memory, r->node_count + 1, sizeof *rows);
    size_t count = 0, left_out = 0;
    char note[400];
    for (size_t i = 0; i < r->node_count; i++) {
        if (r->nodes[i].span) continue; // beside: a table of its own
        if (fold && r->nodes[i].share < folded && regions_page_node_severity(r, &r->nodes[i]) < SEVERITY_WATCH)
            left_out++;
        else
            rows[count++] = regions_page_row_of(p, &r->nodes[i]);
    }
    if (!count) {
        document_note(p->doc, "No region was measured.");
        return;
    }
    snprintf(
        note, sizeof note,
        "Bars: share of the run; dark: own time, without children. Time: mean of the ranks that have the region. Odd "
        "rank: farthest from the "
        "median, where notable. "
        "NIC counters belong to the device: what other programs and ranks of the host moved meanwhile is in them.%s",
        left_out ? " Regions below 1 % are left out." : "");
    document_add(p->doc,
                 chart_regions((chart_head){whole ? "all-regions" : "regions", whole ? "All regions" : "Region table",
                                            "where did the time go, and what did the NICs do meanwhile?"},
                               rows, count, note));
    if (whole) return;
    document_add(p->doc, chart_icicle((chart_head){"icicle", "Time and traffic",
                                                   "width is time, colour is bytes sent per second and host (log)"},
                                      rows, count, "Hatched: not measured. Grey: nothing was sent."));
}

// ---- the ranks' runs ----

static int regions_page_by_work(const void *a, const void *b)
{
    const regions_rank *x = *(const regions_rank *const *)a, *y = *(const regions_rank *const *)b;
    if (x->times.work_ns != y->times.work_ns) return x->times.work_ns > y->times.work_ns ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void regions_page_run_row(regions_page *p, sheet *t, const regions_rank *x)
{
    const regions_times *times = &x->times;
    double waiting = times->peer_ns + times->all_ns;
    sheet_text(t, x->label);
    sheet_text(t, p->r->hosts[x->host].name);
    sheet_text(t, regions_page_duration(p, times->run_ns));
    sheet_text(t, regions_page_duration(p, times->work_ns));
    sheet_text(t, regions_page_duration(p, waiting));
    sheet_number(t, number_percent(times->run_ns > 0 ? waiting / times->run_ns : NAN));
    if (!p->r->waits.mpi) return;
    sheet_number(t, number_percent(times->run_ns > 0 ? times->mpi_ns / times->run_ns : NAN));
    sheet_text(t, x->cpu_ns < 0 ? NUMBER_UNKNOWN : regions_page_duration(p, (double)x->cpu_ns));
    sheet_text(t, x->cpu_wait_ns < 0 ? NUMBER_UNKNOWN : regions_page_duration(p, (double)x->cpu_wait_ns));
}

// Of many ranks those at both ends.
static void regions_page_add_runs(regions_page *p)
{
    enum { COLUMNS = 9, WITHOUT_MPI = 6, ALL_UP_TO = 12, AT_AN_END = 5 };
    static const table_column columns[COLUMNS] = {
        {"rank", TABLE_TEXT, 0},         {"host", TABLE_TEXT, 1},       {"run", TABLE_NUMBER, 0},
        {"work", TABLE_NUMBER, 0},       {"waiting", TABLE_NUMBER, 0},  {"of run", TABLE_NUMBER, 0},
        {"MPI of run", TABLE_NUMBER, 0}, {"CPU time", TABLE_NUMBER, 0}, {"waited for CPU", TABLE_NUMBER, 0}};
    const regions *r = p->r;
    const regions_waits *w = &r->waits;
    if (!w->known || r->runs > 1 || (!w->mpi && !w->late_count && w->early == REGIONS_NONE)) return;
    const regions_rank **ranks = arena_make(p->memory, r->rank_count + 1, sizeof *ranks);
    for (size_t i = 0; i < r->rank_count; i++)
        ranks[i] = &r->ranks[i];
    qsort(ranks, r->rank_count, sizeof *ranks, regions_page_by_work);
    sheet t = sheet_open(w->mpi ? COLUMNS : WITHOUT_MPI);
    for (size_t i = 0; i < r->rank_count; i++)
        if (r->rank_count <= ALL_UP_TO || i < AT_AN_END || i >= r->rank_count - AT_AN_END)
            regions_page_run_row(p, &t, ranks[i]);
    const char *which = r->rank_count > ALL_UP_TO
                            ? arena_format(p->memory, "the %d with most work and the %d with least of %zu", AT_AN_END,
                                           AT_AN_END, r->rank_count)
                            : "the longest work first";
    sheet_end(&t, p->doc, (chart_head){"runs", "Work and waiting", which}, columns);
}

// ---- balance ----

static int regions_page_by_imbalance(const void *a, const void *b)
{
    const regions_node *x = *(const regions_node *const *)a, *y = *(const regions_node *const *)b;
    double p = fabs(x->odd_distance_ns), q = fabs(y->odd_distance_ns);
    return p > q ? -1 : p < q ? 1 : x < y ? -1 : 1;
}

static int regions_page_by_place(const void *a, const void *b)
{
    const regions_node *x = *(const regions_node *const *)a, *y = *(const regions_node *const *)b;
    return x < y ? -1 : x > y;
}

static void regions_page_add_balance(regions_page *p)
{
    const regions *r = p->r;
    const regions_node **nodes = arena_make(p->memory, r->node_count + 1, sizeof *nodes);
    const char **columns = arena_make(p->memory, r->rank_count + 1, sizeof *columns);
    heat_row rows[HEAT_ROWS];
    size_t count = 0, shown = 0;
    if (r->rank_count < 2) return;
    if (r->rank_count > HEAT_RANKS) {
        document_note(
            p->doc,
            "Balance over ranks: more ranks than a page can show; netprof regions --csv --rank all lists them.");
        return;
    }
    for (size_t i = 0; i < r->rank_count; i++)
        columns[i] = r->ranks[i].label;
    for (size_t i = 0; i < r->node_count; i++)
        if (r->nodes[i].cell_count > 1 && r->nodes[i].median_ns > 0 && r->nodes[i].kind != REGIONS_APART &&
            !r->nodes[i].span &&
            (!r->waits.mpi || r->nodes[i].run_share >= folded)) // of many calls of MPI most take no time worth a look
            nodes[count++] = &r->nodes[i];
    qsort(nodes, count, sizeof *nodes, regions_page_by_imbalance);
    if (count > HEAT_ROWS) count = HEAT_ROWS;
    qsort(nodes, count, sizeof *nodes, regions_page_by_place);
    for (size_t i = 0; i < count; i++) {
        double *values = arena_make(p->memory, r->rank_count, sizeof *values);
        for (size_t k = 0; k < r->rank_count; k++) {
            const regions_cell *cell = regions_cell_of(nodes[i], k);
            values[k] = cell ? (double)cell->sums.inclusive_ns / nodes[i]->median_ns : NAN;
        }
        rows[shown] =
            (heat_row){.label = nodes[i]->name, .unit = "", .ramp = INK_DIVERGING, .span = 1.4, .values = values};
        rows[shown].note = nodes[i]->odd_notable && nodes[i]->odd != REGIONS_NONE
                               ? arena_format(p->memory, "rank %s", r->ranks[nodes[i]->cells[nodes[i]->odd].rank].label)
                               : "alike";
        shown++;
    }
    if (shown)
        document_add(p->doc, chart_heat((chart_head){"balance", "Balance over ranks",
                                                     "time \xc3\xb7 median of ranks: who is unlike the others?"},
                                        columns, r->rank_count, rows, shown,
                                        "Blue: shorter than the median (the end: 0.7 of it), orange: longer (1.4 "
                                        "times). Hatched: the rank never was there."));
}

// ---- how long the calls took ----

// The region worth showing: that of the odd rank that is farthest off, otherwise the one with the most own time.
static const regions_node *regions_page_telling_node(const regions *r)
{
    const regions_node *best = NULL;
    for (size_t i = 0; i < r->node_count; i++) {
        const regions_node *n = &r->nodes[i];
        if (!n->sums.measured || n->sums.measured < 8 || n->kind == REGIONS_APART || n->span) continue;
        if (!best || (n->odd_notable && !best->odd_notable) ||
            (n->odd_notable == best->odd_notable &&
             (n->odd_notable ? fabs(n->odd_distance_ns) > fabs(best->odd_distance_ns)
                             : n->own_share > best->own_share)))
            best = n;
    }
    return best;
}

// Sums the buckets of each power of two.
static void regions_page_gather(const uint64_t buckets[NETPROF_HISTOGRAM_BUCKETS], double octaves[64])
{
    memset(octaves, 0, 64 * sizeof *octaves);
    for (unsigned i = 0; i < NETPROF_HISTOGRAM_BUCKETS; i++) {
        uint64_t floor_ns = netprof_histogram_floor_ns(i);
        int octave = floor_ns ? 63 - __builtin_clzll(floor_ns) : 0;
        octaves[octave] += (double)buckets[i];
    }
}

static bool regions_page_make_histogram(regions_page *p, chart *x)
{
    const regions_node *n = regions_page_telling_node(p->r);
    uint64_t all[NETPROF_HISTOGRAM_BUCKETS], one[NETPROF_HISTOGRAM_BUCKETS];
    double sums[64], odd[64];
    int first = 0, last = 63;
    const char *labels[64];
    if (!n || !regions_histogram(n, all)) return false;
    bool has_odd = n->odd_notable && n->odd != REGIONS_NONE && regions_cell_histogram(&n->cells[n->odd], one);
    regions_page_gather(all, sums);
    if (has_odd) regions_page_gather(one, odd);
    while (first < 63 && sums[first] == 0)
        first++;
    while (last > first && sums[last] == 0)
        last--;
    if (last - first >= BINS) first = last - BINS + 1;
    for (int i = first; i <= last; i++)
        labels[i - first] = arena_text(p->memory, number_duration(ldexp(1e-9, i)).text);
    histogram_set set = {.label = n->name, .values = {sums + first, has_odd ? odd + first : NULL}};
    histogram_style style = {
        .way = {"all ranks",
                has_odd ? arena_format(p->memory, "rank %s", p->r->ranks[n->cells[n->odd].rank].label) : NULL},
        .bins = labels,
        .bin_count = (size_t)(last - first + 1),
        .what = "calls"};
    *x = chart_histograms(
        (chart_head){"durations", "Time per call", "share of calls, from each power of two of nanoseconds on"}, &style,
        &set, 1);
    return true;
}

// ---- the program's bytes against the NICs' ----

static bool regions_page_make_bytes(regions_page *p, chart *x)
{
    static const table_column columns[] = {{"region", TABLE_TEXT, 1},
                                           {"declared", TABLE_NUMBER, 0},
                                           {"NICs sent", TABLE_NUMBER, 0},
                                           {"ratio", TABLE_NUMBER, 0}};
    const regions *r = p->r;
    sheet t = sheet_open(4);
    for (size_t i = 0; i < r->node_count && sheet_rows(&t) < BYTES_ROWS; i++) {
        const regions_node *n = &r->nodes[i];
        bool nic = n->nic.state >= REGIONS_UNCERTAIN && n->nic.bytes_known[TRAFFIC_SENT];
        if (!n->bytes) continue;
        sheet_text(&t, n->name);
        sheet_number(&t, number_volume((double)n->bytes, "bytes"));
        sheet_number(&t, number_volume(nic ? (double)n->nic.bytes[TRAFFIC_SENT] : NAN, "bytes"));
        sheet_text(&t, isfinite(n->nic.sent_over_declared)
                           ? arena_format(p->memory, TIMES "%s", number_fixed(n->nic.sent_over_declared, 2).text)
                           : NUMBER_UNKNOWN);
    }
    if (!sheet_rows(&t)) return false;
    *x = sheet_chart(&t, (chart_head){"bytes", "Program bytes and NIC bytes", "does the code send what it thinks?"},
                     columns);
    return true;
}

static void regions_page_add_calls_and_bytes(regions_page *p)
{
    chart calls, bytes;
    bool has_calls = regions_page_make_histogram(p, &calls), has_bytes = regions_page_make_bytes(p, &bytes);
    if (has_calls && has_bytes)
        document_beside(p->doc, calls, bytes, .5);
    else if (has_calls)
        document_add(p->doc, calls);
    else if (has_bytes)
        document_add(p->doc, bytes);
}

// ---- spans and values ----

static const char *regions_page_path(regions_page *p, size_t node)
{
    char *path = regions_path(p->r, node);
    const char *text = arena_text(p->memory, path);
    free(path);
    return text;
}

static void regions_page_add_spans(regions_page *p)
{
    enum { COLUMNS = 7 };
    static const table_column columns[COLUMNS] = {{"span", TABLE_TEXT, 1},         {"calls", TABLE_NUMBER, 0},
                                                  {"per call", TABLE_NUMBER, 0},   {"overlapped", TABLE_NUMBER, 0},
                                                  {"waited for", TABLE_NUMBER, 0}, {"declared", TABLE_NUMBER, 0},
                                                  {"each at", TABLE_NUMBER, 0}};
    sheet t = sheet_open(COLUMNS);
    for (size_t i = 0; i < p->r->node_count && sheet_rows(&t) < TABLE_ROWS; i++) {
        const regions_node *n = &p->r->nodes[i];
        const regions_calls *c = &n->sums;
        double total = (double)c->total_ns, mean = c->measured ? total / (double)c->measured : NAN;
        bool whole =
            c->waits && c->waits >= c->measured && total > 0; // of every one it is told how long it was waited for
        if (!n->span) continue;
        sheet_text(&t, regions_page_path(p, i));
        sheet_number(&t, number_prefixed((double)c->calls, ""));
        sheet_text(&t, regions_page_duration(p, mean));
        sheet_number(&t, number_percent(whole ? fmax(1 - (double)c->waited_ns / total, 0) : NAN));
        sheet_text(&t, c->waits ? regions_page_duration(p, (double)c->waited_ns) : NUMBER_UNKNOWN);
        sheet_number(&t, number_volume(c->bytes ? (double)c->bytes : NAN, "bytes"));
        sheet_number(&t, number_volume_rate(c->bytes && total > 0 ? (double)c->bytes / (total / 1e9) : NAN, "bytes"));
    }
    sheet_end(&t, p->doc,
              (chart_head){"spans", "Work beside the regions",
                           "spans are in no region's time; overlapped: until the program began to wait for them"},
              columns);
}

static void regions_page_add_values(regions_page *p)
{
    enum { COLUMNS = 7 };
    static const table_column columns[COLUMNS] = {{"region", TABLE_TEXT, 1},
                                                  {"value", TABLE_TEXT, 0},
                                                  {"times said", TABLE_NUMBER, 0},
                                                  {"mean", TABLE_NUMBER, 0},
                                                  {"least", TABLE_NUMBER, 0},
                                                  {"most", TABLE_NUMBER, 0},
                                                  {"in the longest call", TABLE_NUMBER, 0}};
    sheet t = sheet_open(COLUMNS);
    for (size_t i = 0; i < p->r->node_count; i++)
        for (size_t k = 0; k < p->r->nodes[i].value_count && sheet_rows(&t) < TABLE_ROWS; k++) {
            const regions_value *v = &p->r->nodes[i].values[k];
            sheet_text(&t, regions_page_path(p, i));
            sheet_text(&t, v->name);
            sheet_number(&t, number_prefixed((double)v->count, ""));
            sheet_format(&t, "%.10g", v->count ? (double)v->sum / (double)v->count : 0);
            sheet_text(&t, arena_text(p->memory, words_integer(v->least).text));
            sheet_text(&t, arena_text(p->memory, words_integer(v->most).text));
            sheet_text(&t, v->longest_ns ? arena_format(p->memory, "%s (%s)", words_integer(v->at_longest).text,
                                                        number_duration((double)v->longest_ns / 1e9).text)
                                         : NUMBER_UNKNOWN);
        }
    sheet_end(&t, p->doc, (chart_head){"values", "Values that the program gave", "sizes, peers, iterations"}, columns);
}

// ---- the later pages ----

static void regions_page_add_findings(regions_page *p)
{
    const regions *r = p->r;
    size_t count = r->finding_count < FINDINGS ? r->finding_count : FINDINGS;
    findings_row *rows = arena_make(p->memory, count + 1, sizeof *rows);
    for (size_t i = 0; i < count; i++) {
        const regions_finding *f = &r->findings[i];
        const regions_host *h = &r->hosts[f->host];
        const char *device = f->device == DIFFERENCE_NONE || !h->schema ? "node" : h->schema->devices[f->device].name;
        const char *more = f->places > 1 ? arena_format(p->memory, " and %zu more", f->places - 1) : "";
        rows[i] = (findings_row){.severity = f->severity,
                                 .rule = f->rule->name,
                                 .claim = f->claim ? f->claim : "",
                                 .advice = f->rule->advice,
                                 .limit = NAN,
                                 .threshold = "",
                                 .explained_by = ""};
        rows[i].devices = arena_format(p->memory, "%s: %s %s%s", r->nodes[f->node].name, h->name, device, more);
    }
    if (count)
        document_add(p->doc, chart_findings((chart_head){"findings", "Findings by region",
                                                         "rules judged on what the NICs did during it"},
                                            rows, count));
}

static void regions_page_add_ranks(regions_page *p)
{
    enum { COLUMNS = 7, MOST = 512 };
    static const table_column columns[COLUMNS] = {{"rank", TABLE_TEXT, 0},         {"host", TABLE_TEXT, 0},
                                                  {"threads", TABLE_NUMBER, 0},    {"time in regions", TABLE_NUMBER, 0},
                                                  {"calls", TABLE_NUMBER, 0},      {"mismatched", TABLE_NUMBER, 0},
                                                  {"what is wrong", TABLE_TEXT, 1}};
    const regions *r = p->r;
    size_t count = r->rank_count < MOST ? r->rank_count : MOST;
    sheet t = sheet_open(COLUMNS);
    for (size_t i = 0; i < count; i++) {
        const regions_rank *x = &r->ranks[i];
        sheet_text(&t, x->label);
        sheet_text(&t, r->hosts[x->host].name);
        sheet_number(&t, number_grouped(x->threads));
        sheet_text(&t, regions_page_duration(p, (double)x->time_ns));
        sheet_number(&t, number_prefixed((double)x->calls, ""));
        sheet_number(&t, number_grouped(x->mismatched));
        sheet_text(&t, !x->complete ? "its file is cut" : x->warning);
    }
    sheet_end(&t, p->doc, (chart_head){"ranks", "Ranks", "one process each"}, columns);
}

static void regions_page_add_data(regions_page *p)
{
    const regions *r = p->r;
    char text[600];
    for (size_t i = 0; i < r->warning_count && i < 10; i++)
        document_note(p->doc, arena_format(p->memory, "%.250s: %.250s", r->warnings[i].path, r->warnings[i].text));
    snprintf(text, sizeof text,
             "%zu files. Measuring took about %s of the time%s. Bytes and rates of a region are those of "
             "all NICs of the host while "
             "it was open: a lower bound of what the host did, not attributable to one process. A region shorter than "
             "%d times what its counters can tell has no rates of them.",
             r->files, number_percent(r->overhead_share).text,
             r->readings ? arena_format(p->memory, "; reading the counters took %s, which is in no region's time",
                                        number_duration((double)r->reading_ns / 1e9).text)
                         : "",
             REGIONS_TOO_SHORT_FOLD);
    document_note(p->doc, text);
}

document *pages_regions(const regions *r, bool brief)
{
    regions_page p = {.r = r, .doc = document_open(pages_regions_kind.name), .memory = arena_open()};
    regions_page_add_head(&p);
    regions_page_add_runs(&p);
    regions_page_add_tree(&p, false);
    regions_page_add_balance(&p);
    regions_page_add_calls_and_bytes(&p);
    regions_page_add_spans(&p);
    regions_page_add_values(&p);
    if (!brief) {
        document_part(p.doc, "Details");
        regions_page_add_findings(&p);
        if (r->node_count > TABLE_ROWS) regions_page_add_tree(&p, true);
        regions_page_add_ranks(&p);
        regions_page_add_data(&p);
    }
    document_foot(p.doc,
                  arena_format(p.memory,
                               "%zu rank files" DOT "netprof %s" DOT "time: exact, by rank; share: of the run" DOT
                               "NIC counters: by device, shared by the ranks of a host",
                               r->rank_count, netprof_version()));
    document_metadata(p.doc, "in-code regions", "netprof, regions, MPI, network", r->wall_ns);
    arena_close(p.memory);
    return p.doc;
}
