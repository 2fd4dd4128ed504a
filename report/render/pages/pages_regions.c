// The report of regions: where the time of a job's code went, which rank is unlike the others, what the NICs did.
#include "render/base/arena.h"
#include "render/base/buffer.h"
#include "render/chart/charts_cause.h"
#include "render/document/document.h"
#include "render/base/number.h"
#include "pages.h"
#include "pages_lanes.h"
#include "pages_peers.h"
#include "pages_regions_collectives.h"
#include "pages_regions_verdict.h"
#include "pages_signs.h"
#include "sheet.h"
#include "analysis/data/traffic.h"
#include "analysis/base/utf8.h"
#include "analysis/base/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_ROWS = 20, HEAT_ROWS = 6, HEAT_RANKS = 256, FINDINGS = 24, BYTES_ROWS = 8 };
static const double folded = .01; // regions below this share are left out of a long table

const pages_kind pages_regions_kind = {
    "In-code regions", "regions with what the NICs did meanwhile, balance over ranks, times of calls; findings, ranks",
    "regions step icicle balance durations bytes " PAGES_PEERS_CHARTS PAGES_LANES_CHART
    "runs spans values findings all-regions ranks"};

typedef struct regions_page {
    const regions *r;
    document *doc;
    arena *memory;
    const region_row *rows; // of the first table
    size_t row_count;
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
    document_subline(p->doc, b.data ? b.data : "");
    char *run = regions_run_text(r);
    if (*run && r->waits.mpi) document_subline(p->doc, run);
    free(run);
    buffer_free(&b);
    pages_regions_verdict(p->doc, r);
}

// ---- the tree ----

static const char *regions_page_duration(regions_page *p, double ns)
{
    return arena_text(p->memory, isfinite(ns) ? number_duration(ns / 1e9).text : NUMBER_UNKNOWN);
}

// In a column of its own: all with one decimal.
static number_text regions_page_share(double share)
{
    number_text t = number_percent(share);
    if (!(share > 0)) snprintf(t.text, sizeof t.text, "0");
    if (share >= .01) snprintf(t.text, sizeof t.text, "%.1f" NUMBER_SPACE "%%", 100 * share);
    return t;
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
    if (nic->state == REGIONS_TOO_SHORT) row->note = "too short for its counters";
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
    if (isfinite(nic->paused)) row->paused = arena_text(p->memory, regions_page_share(nic->paused).text);
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
        "Bars: share of the run; dark: without children. Time: mean of the ranks. Odd rank: farthest from the median. "
        "NICs: all that the host moved meanwhile.%s",
        left_out ? " Regions below 1 % are left out." : "");
    document_add(p->doc,
                 chart_regions((chart_head){whole ? "all-regions" : "regions", whole ? "All regions" : "Region table",
                                            "where did the time go, and what did the NICs do meanwhile?"},
                               rows, count, note));
    if (whole) return;
    p->rows = rows;
    p->row_count = count;
}

static void regions_page_add_icicle(regions_page *p)
{
    if (!p->row_count) return;
    document_add(p->doc, chart_icicle((chart_head){"icicle", "Time and traffic",
                                                   "width = time of the run, colour = bytes sent per second and host"},
                                      p->rows, p->row_count, "Hatched: not measured. Grey: nothing sent."));
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

// Columns are ranks, of very many ranks hosts: each by the rank that is farthest off.
typedef struct regions_columns {
    const char **labels, **hosts;
    size_t *groups, count, host_count;
    bool by_host;
} regions_columns;

static regions_columns regions_page_columns(regions_page *p)
{
    const regions *r = p->r;
    regions_columns k = {.by_host = r->rank_count > HEAT_RANKS};
    k.count = k.by_host ? r->host_count : r->rank_count;
    k.host_count = r->host_count;
    k.labels = arena_make(p->memory, k.count + 1, sizeof *k.labels);
    k.groups = arena_make(p->memory, k.count + 1, sizeof *k.groups);
    k.hosts = arena_make(p->memory, r->host_count + 1, sizeof *k.hosts);
    for (size_t i = 0; i < r->host_count; i++)
        k.hosts[i] = r->hosts[i].name;
    for (size_t i = 0; i < k.count; i++) {
        k.labels[i] = k.by_host ? r->hosts[i].name : r->ranks[i].label;
        k.groups[i] = k.by_host ? i : r->ranks[i].host;
    }
    // One beside the other: ranks that go round the hosts are not grouped.
    for (size_t i = 1; i < k.count; i++)
        if (k.groups[i] < k.groups[i - 1] || k.groups[i] > k.groups[i - 1] + 1) k.host_count = 0;
    if (k.host_count) return k;
    k.hosts[0] = "";
    k.host_count = 1;
    memset(k.groups, 0, k.count * sizeof *k.groups);
    return k;
}

static double regions_page_ratio(const regions_node *n, size_t rank)
{
    const regions_cell *cell = regions_cell_of(n, rank);
    return cell ? (double)cell->sums.inclusive_ns / n->median_ns : NAN;
}

static double *regions_page_ratios(regions_page *p, const regions_columns *k, const regions_node *n)
{
    double *values = arena_make(p->memory, k->count + 1, sizeof *values);
    for (size_t i = 0; i < k->count; i++) {
        if (!k->by_host) {
            values[i] = regions_page_ratio(n, i);
            continue;
        }
        const regions_host *h = &p->r->hosts[i];
        values[i] = NAN;
        for (size_t a = 0; a < h->rank_count; a++) {
            double v = regions_page_ratio(n, h->ranks[a]);
            if (isnan(values[i]) || fabs(log(v)) > fabs(log(values[i]))) values[i] = v;
        }
    }
    return values;
}

// Of each rank's host: the most paused device's share of the time in the region in which the odd one is late.
static bool regions_page_pauses(regions_page *p, const regions_columns *k, const regions_node *n, ranks_row *row)
{
    double *values = arena_make(p->memory, k->count + 1, sizeof *values), most = 0;
    for (size_t i = 0; i < k->count; i++) {
        size_t host = k->by_host ? i : p->r->ranks[i].host;
        values[i] = NAN;
        for (size_t a = 0; a < n->reading_count; a++) {
            const regions_reading *x = &n->readings[a];
            if (x->host != host || x->state != REGIONS_KNOWN || isnan(x->paused)) continue;
            values[i] = isnan(values[i]) ? x->paused : fmax(values[i], x->paused);
            if (!(x->paused > most)) continue;
            most = x->paused;
            const netprof_schema *schema = p->r->hosts[x->host].schema;
            row->note =
                arena_format(p->memory, "%s %s: %s", p->r->hosts[x->host].name,
                             x->most_paused == REGIONS_NONE || !schema ? "" : schema->devices[x->most_paused].name,
                             number_percent(most).text);
        }
    }
    row->label = "a NIC of it held";
    row->middle = arena_format(p->memory, "in %s", n->name);
    row->values = values;
    row->harm = true;
    row->strong = most >= .05;
    return most >= .01;
}

static const char *regions_page_balance_note(regions_page *p, const regions_node *n)
{
    if (!n->odd_notable || n->odd == REGIONS_NONE) return "alike";
    const char *rank = p->r->ranks[n->cells[n->odd].rank].label;
    if (n->odd_over_median >= 10) return arena_format(p->memory, "rank %s > " TIMES "10", rank);
    return arena_format(p->memory, "rank %s " TIMES "%s", rank, number_fixed(n->odd_over_median, 2).text);
}

// The regions in which some rank is notably off, and a quiet one as a witness; the others are counted.
static size_t regions_page_choose_balance(const regions *r, const regions_node **nodes, size_t *others)
{
    size_t count = 0, kept = 0, witness = 0;
    for (size_t i = 0; i < r->node_count; i++)
        if (r->nodes[i].cell_count > 1 && r->nodes[i].median_ns > 0 && r->nodes[i].kind != REGIONS_APART &&
            !r->nodes[i].span &&
            (!r->waits.mpi || r->nodes[i].run_share >= folded)) // of many calls of MPI most take no time worth a look
            nodes[count++] = &r->nodes[i];
    qsort(nodes, count, sizeof *nodes, regions_page_by_imbalance);
    *others = count;
    for (size_t i = 0; i < count && kept < HEAT_ROWS; i++)
        if (nodes[i]->odd_notable) nodes[kept++] = nodes[i];
    size_t notable = kept;
    for (size_t i = notable; i < count && kept < HEAT_ROWS; i++) {
        if (nodes[i]->odd_notable || nodes[i]->child_count) continue;
        if (notable && witness && nodes[i]->own_run_share <= nodes[witness]->own_run_share) continue;
        if (notable && witness) kept = witness;
        witness = kept;
        nodes[kept++] = nodes[i];
    }
    *others -= kept;
    qsort(nodes, kept, sizeof *nodes, regions_page_by_place);
    return kept;
}

static void regions_page_add_balance(regions_page *p)
{
    const regions *r = p->r;
    const regions_node **nodes = arena_make(p->memory, r->node_count + 1, sizeof *nodes);
    ranks_row rows[HEAT_ROWS + 1];
    size_t shown = 0, others = 0;
    if (r->rank_count < 2) return;
    if (r->rank_count > HEAT_RANKS && r->host_count > HEAT_RANKS) {
        document_note(
            p->doc,
            "Balance over ranks: more hosts than a page can show; netprof regions --csv --rank all lists them.");
        return;
    }
    regions_columns k = regions_page_columns(p);
    size_t count = regions_page_choose_balance(r, nodes, &others), held = r->waits.held_in;
    for (size_t i = 0; i < count; i++)
        rows[shown++] = (ranks_row){.label = nodes[i]->name,
                                    .middle = regions_page_duration(p, nodes[i]->median_ns),
                                    .note = regions_page_balance_note(p, nodes[i]),
                                    .values = regions_page_ratios(p, &k, nodes[i]),
                                    .strong = nodes[i]->odd_notable};
    if (!shown) return;
    size_t odd = r->step.rank != REGIONS_NONE ? r->step.rank : REGIONS_NONE;
    if (odd == REGIONS_NONE && r->waits.held != REGIONS_NONE) odd = r->waits.held;
    if (odd == REGIONS_NONE && r->waits.late_count == 1 && !r->waits.in_turn) odd = r->waits.late[0].rank;
    if (r->waits.held == REGIONS_NONE || held == REGIONS_NONE) held = r->waits.where;
    rows[shown] = (ranks_row){0};
    if (held != REGIONS_NONE && regions_page_pauses(p, &k, &r->nodes[held], &rows[shown])) shown++;
    const ranks_style style = {.columns = k.labels,
                               .groups = k.groups,
                               .hosts = k.hosts,
                               .count = k.count,
                               .group_count = k.host_count,
                               .marked = odd == REGIONS_NONE ? k.count
                                         : k.by_host         ? r->ranks[odd].host
                                                             : odd,
                               .low = .7,
                               .high = 1.4,
                               .middle_head = "median",
                               .column_head = k.by_host ? "host" : "rank"};
    const char *question = arena_format(
        p->memory, "time \xc3\xb7 median; + longer, " NUMBER_MINUS " shorter%s%s",
        k.by_host ? "; of each host the rank farthest off" : "",
        others ? arena_format(p->memory, "; %s: alike, or by their parts", words_many(others, "more region").text)
               : "");
    document_add(p->doc, chart_ranks((chart_head){"balance", "Balance over ranks", question}, &style, rows, shown));
}

// ---- one step ----

static void regions_page_add_step(regions_page *p)
{
    const regions *r = p->r;
    const regions_step *s = &r->step;
    steps_part parts[REGIONS_STEP_PARTS];
    if (s->node == REGIONS_NONE || !s->count) return;
    const regions_step_part *longer = &s->parts[s->longer];
    if (!(longer->rank_ns > longer->median_ns)) return;
    for (size_t i = 0; i < s->count; i++)
        parts[i] = (steps_part){.name = s->parts[i].node == REGIONS_NONE ? "itself" : r->nodes[s->parts[i].node].name,
                                .seconds = {s->parts[i].median_ns / 1e9, s->parts[i].rank_ns / 1e9}};
    const steps_style style = {.label = {"median rank", arena_format(p->memory, "rank %s", r->ranks[s->rank].label)},
                               .longer = s->longer,
                               .text = arena_format(p->memory, "%s longer",
                                                    number_duration((longer->rank_ns - longer->median_ns) / 1e9).text)};
    const char *question =
        arena_format(p->memory, "%s: mean of %s; what rank %s takes longer, the others wait for",
                     r->nodes[s->node].name, words_many(s->calls, "call").text, r->ranks[s->rank].label);
    document_add(p->doc, chart_steps((chart_head){"step", "One step", question}, &style, parts, s->count));
}

// ---- how long the calls took ----

// The region worth showing: that in which the late rank takes longer; else of the odd rank that is farthest off, otherwise the
// one with the most own time.
static const regions_node *regions_page_telling_node(const regions *r)
{
    const regions_node *best = NULL;
    if (r->step.node != REGIONS_NONE && r->step.parts[r->step.longer].node != REGIONS_NONE)
        return &r->nodes[r->step.parts[r->step.longer].node];
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

// Half octaves: the 8 buckets of a power of two in two halves, at 1 and 1.5 of it. edges: [HALVES + 1].
enum { HALVES = 128 };

static void regions_page_gather(const uint64_t buckets[NETPROF_HISTOGRAM_BUCKETS], double halves[HALVES])
{
    memset(halves, 0, HALVES * sizeof *halves);
    for (unsigned i = 0; i < NETPROF_HISTOGRAM_BUCKETS; i++) {
        uint64_t floor_ns = netprof_histogram_floor_ns(i);
        int octave = floor_ns ? 63 - __builtin_clzll(floor_ns) : 0;
        bool upper = octave > 0 && floor_ns >= (UINT64_C(3) << (octave - 1));
        halves[2 * octave + upper] += (double)buckets[i];
    }
}

static double regions_page_edge(int half)
{
    return ldexp(half % 2 ? 1.5 : 1, half / 2) / 1e9;
}

static bool regions_page_make_histogram(regions_page *p, chart *x)
{
    const regions_node *n = regions_page_telling_node(p->r);
    const regions_cell *cell = NULL;
    uint64_t all[NETPROF_HISTOGRAM_BUCKETS], one[NETPROF_HISTOGRAM_BUCKETS];
    double sums[HALVES], odd[HALVES], edges[HALVES + 1];
    int first = 0, last = HALVES - 1;
    if (!n || !regions_histogram(n, all)) return false;
    if (n->odd_notable && n->odd != REGIONS_NONE) cell = &n->cells[n->odd];
    bool has_odd = cell && regions_cell_histogram(cell, one);
    regions_page_gather(all, sums);
    if (has_odd) regions_page_gather(one, odd);
    while (first < HALVES - 1 && sums[first] == 0)
        first++;
    while (last > first && sums[last] == 0)
        last--;
    for (int wide = 10; last - first + 1 < wide;) { // room for tics on both sides
        if (first > 0) first--;
        if (last < HALVES - 1) last++;
    }
    for (int i = first; i <= last + 1; i++)
        edges[i - first] = regions_page_edge(i);
    durations_set bars = {arena_format(p->memory, "all ranks %s",
                                       regions_page_duration(p, (double)n->sums.total_ns / (double)n->sums.measured)),
                          sums + first};
    durations_set outline = {0};
    if (has_odd)
        outline = (durations_set){
            arena_format(p->memory, "rank %s %s", p->r->ranks[cell->rank].label,
                         regions_page_duration(p, (double)cell->sums.total_ns / (double)cell->sums.measured)),
            odd + first};
    *x = chart_durations(
        (chart_head){"durations", arena_format(p->memory, "%.*s: time per call", utf8_within(n->name, 40), n->name),
                     arena_format(p->memory, "share of %s; means", words_many(n->sums.measured, "call").text)},
        edges, (size_t)(last - first + 1), &bars, &outline);
    return true;
}

// ---- the program's bytes against the NICs' ----

// "+4.6 %", "x9.1": what the NICs sent beside what the program declared.
static const char *regions_page_beyond(regions_page *p, double ratio)
{
    if (!isfinite(ratio)) return "";
    if (ratio >= 2 || ratio < .5) return arena_format(p->memory, TIMES "%s", number_plain(ratio).text);
    return arena_format(p->memory, "%s%s", ratio >= 1 ? "+" : NUMBER_MINUS, number_percent(fabs(ratio - 1)).text);
}

static bool regions_page_make_bytes(regions_page *p, chart *x)
{
    const regions *r = p->r;
    bullets_row rows[BYTES_ROWS];
    size_t count = 0;
    bool declared = false;
    for (size_t i = 0; i < r->node_count && count < BYTES_ROWS; i++) {
        const regions_node *n = &r->nodes[i];
        const regions_nic *nic = &n->nic;
        double rate = nic->bytes_per_s[TRAFFIC_SENT], line = nic->line_bytes_per_s;
        bool known = nic->state == REGIONS_KNOWN && nic->bytes_known[TRAFFIC_SENT] && isfinite(rate) && line > 0;
        if (!n->sums.bytes || n->span) continue; // of what is within it, its parts tell
        declared = true;
        rows[count++] = (bullets_row){
            .label = n->name,
            .text = known ? arena_text(p->memory, number_volume_rate(rate, "bytes").text)
                          : arena_format(p->memory, "%s declared; the NICs' not known",
                                         number_volume((double)n->bytes, "bytes").text),
            .more = regions_page_beyond(p, n->nic.sent_over_declared),
            .share = known ? rate / line : NAN,
            .tick = known && n->nic.sent_over_declared > 0 ? rate / line / n->nic.sent_over_declared : NAN};
    }
    if (!declared) return false;
    *x = chart_bullets((chart_head){"bytes", "Bytes: program and NIC", "sent per host, share of the line"}, rows, count,
                       "Bar: all that the host's NICs sent meanwhile; tick: what the program declared; the figure "
                       "behind: NICs beside program.");
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

// The same rule on the same device, in a region around this one or within it.
static bool regions_page_is_same(const regions *r, const regions_finding *a, const regions_finding *b)
{
    bool inside = a->node <= b->node ? b->node < r->nodes[a->node].end : a->node < r->nodes[b->node].end;
    return a->rule == b->rule && a->host == b->host && a->device == b->device && inside;
}

// One finding once: of those that are the same, in regions around each other, the worst; of equally bad ones the outermost.
static bool regions_page_is_told(const regions *r, size_t number)
{
    const regions_finding *f = &r->findings[number];
    for (size_t i = 0; i < r->finding_count; i++) {
        const regions_finding *other = &r->findings[i];
        if (i == number || !regions_page_is_same(r, f, other)) continue;
        if (other->severity > f->severity || (other->severity == f->severity && other->node < f->node)) return true;
    }
    return false;
}

static const char *regions_page_also_in(regions_page *p, size_t number)
{
    const regions *r = p->r;
    const char *names = "";
    size_t count = 0;
    for (size_t i = 0; i < r->finding_count; i++)
        if (i != number && regions_page_is_same(r, &r->findings[number], &r->findings[i]) && ++count <= 5)
            names = arena_format(p->memory, "%s%s%s", names, *names ? ", " : "; also in ",
                                 r->nodes[r->findings[i].node].name);
    return names;
}

static void regions_page_add_findings(regions_page *p)
{
    const regions *r = p->r;
    size_t count = 0;
    findings_row *rows = arena_make(p->memory, FINDINGS, sizeof *rows);
    for (size_t k = 0; k < r->finding_count * SEVERITIES && count < FINDINGS; k++) { // the worst first
        size_t i = k % r->finding_count;
        const regions_finding *f = &r->findings[i];
        const regions_host *h = &r->hosts[f->host];
        if ((size_t)f->severity + k / r->finding_count != SEVERITY_CRITICAL || regions_page_is_told(r, i)) continue;
        const char *device = f->device == DIFFERENCE_NONE || !h->schema ? "node" : h->schema->devices[f->device].name;
        const char *more = f->places > 1 ? arena_format(p->memory, " and %zu more", f->places - 1) : "";
        rows[count++] = (findings_row){.severity = f->severity,
                                       .rule = f->rule->name,
                                       .devices = arena_format(p->memory, "%s: %s %s%s%s", r->nodes[f->node].name,
                                                               h->name, device, more, regions_page_also_in(p, i)),
                                       .claim = f->claim ? f->claim : "",
                                       .advice = f->rule->advice,
                                       .limit = NAN,
                                       .threshold = "",
                                       .explained_by = ""};
    }
    if (count)
        document_add(
            p->doc,
            chart_findings((chart_head){"findings", "Findings by region",
                                        "rules judged on what the NICs did during it; each once, where it is worst"},
                           rows, count));
}

// Nothing is wrong with any of many ranks: one sentence instead of so many equal rows.
static bool regions_page_are_alike(regions_page *p)
{
    enum { FEW = 12 };
    const regions *r = p->r;
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < r->rank_count; i++) {
        const regions_rank *x = &r->ranks[i];
        if (!x->complete || *x->warning || x->mismatched || x->threads != r->ranks[0].threads || x->run) return false;
        least = fmin(least, (double)x->time_ns);
        most = fmax(most, (double)x->time_ns);
    }
    if (r->rank_count <= FEW || most > 1.02 * least) return false;
    document_note(p->doc, arena_format(p->memory,
                                       "%s on %s, %s each: time in regions %s to %s; no file is cut, no end of a "
                                       "region without its begin.",
                                       words_many(r->rank_count, "rank").text, words_many(r->host_count, "host").text,
                                       words_many(r->ranks[0].threads, "thread").text, regions_page_duration(p, least),
                                       regions_page_duration(p, most)));
    return true;
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
    if (regions_page_are_alike(p)) return;
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
             "%s. Measuring took about %s of the time%s. Bytes and rates of a region are those of "
             "all NICs of the host while "
             "it was open: a lower bound of what the host did, not attributable to one process. A region shorter than "
             "%d times what its counters can tell has no rates of them.",
             words_many(r->files, "file").text, number_percent(r->overhead_share).text,
             r->readings ? arena_format(p->memory, "; reading the counters took %s, which is in no region's time",
                                        number_duration((double)r->reading_ns / 1e9).text)
                         : "",
             REGIONS_TOO_SHORT_FOLD);
    document_note(p->doc, text);
}

static bool regions_page_are_complete(const regions *r)
{
    bool complete = !r->damaged;
    for (size_t i = 0; i < r->rank_count; i++)
        complete &= r->ranks[i].complete;
    return complete;
}

document *pages_regions(const regions *r, const struct nccl_lanes *collectives, bool brief)
{
    regions_page p = {.r = r, .doc = document_open(pages_regions_kind.name), .memory = arena_open()};
    regions_page_add_head(&p);
    regions_page_add_tree(&p, false);
    regions_page_add_step(&p);
    regions_page_add_icicle(&p);
    regions_page_add_balance(&p);
    regions_page_add_calls_and_bytes(&p);
    pages_peers_of_regions(p.doc, p.memory, r);
    if (!brief) pages_regions_collectives(p.doc, p.memory, r, collectives);
    regions_page_add_runs(&p);
    regions_page_add_spans(&p);
    regions_page_add_values(&p);
    if (!brief) {
        document_part(p.doc, "Details");
        regions_page_add_findings(&p);
        if (r->node_count > TABLE_ROWS) regions_page_add_tree(&p, true);
        regions_page_add_ranks(&p);
        regions_page_add_data(&p);
    }
    document_foot(p.doc, arena_format(p.memory,
                                      "%s%s" DOT "netprof %s" DOT "time: exact, by rank; share: of the run" DOT
                                      "NIC counters: by device, shared by the ranks of a host",
                                      words_many(r->rank_count, "rank file").text,
                                      regions_page_are_complete(r) ? ", complete" : "", netprof_version()));
    document_metadata(p.doc, "in-code regions", "netprof, regions, MPI, network", r->wall_ns);
    arena_close(p.memory);
    return p.doc;
}
