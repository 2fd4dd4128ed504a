// netprof regions for people: what is not in the tree of times: spans, which overlap with it, and values.
#include "cli/output.h"
#include "regions_output.h"
#include "summary.h"
#include "analysis/base/memory.h"
#include "analysis/base/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static words_text regions_beside_time(double ns)
{
    return isnan(ns) ? (words_text){"-"} : words_duration(ns / 1e9);
}

static void regions_beside_path_cell(table *t, const regions_view *view, size_t node)
{
    char *path = regions_node_path(view, node), *text = regions_short_text(path, REGIONS_NAME_WIDTH);
    table_cell(t, PLAIN, text);
    free(text);
    free(path);
}

// ---- spans ----

static void regions_beside_span_line(table *t, const regions_view *view, size_t number)
{
    const regions_node *n = &view->nodes[number];
    const regions_calls *c = &n->sums;
    uint64_t buckets[NETPROF_HISTOGRAM_BUCKETS];
    double total = (double)c->total_ns, ranks = (double)n->cell_count;
    bool whole = c->waits && c->waits >= c->measured && total > 0; // the program told of every one when it waited
    double waited = whole ? fmin((double)c->waited_ns / total, 1) : NAN;
    regions_beside_path_cell(t, view, number);
    table_cell(t, PLAIN, words_count(ranks > 0 ? (double)c->calls / ranks : 0).text);
    table_cell(t, BOLD, regions_beside_time(regions_mean_call_ns(c)).text);
    if (c->measured > 1 && regions_histogram(n, buckets))
        table_cell(t, PLAIN,
                   regions_beside_time((double)regions_quantile_of(buckets, 0.99, c->min_ns, c->max_ns).high_ns).text);
    else
        table_cell(t, PLAIN, NULL);
    table_cell(t, PLAIN, whole ? words_share(1 - waited).text : NULL);
    table_cell(t, PLAIN, c->waits && ranks > 0 ? regions_beside_time((double)c->waited_ns / ranks).text : NULL);
    table_cell(t, PLAIN, c->bytes ? words_amount((double)c->bytes, "bytes").text : NULL);
    table_cell(t, PLAIN,
               c->bytes && total > 0 ? words_amount_rate((double)c->bytes / (total / 1e9), "bytes").text : NULL);
    table_cell(t, PLAIN,
               isnan(n->nic.bytes_per_s[OUT]) ? NULL : words_amount_rate(n->nic.bytes_per_s[OUT], "bytes").text);
}

void regions_print_spans(const regions_view *view, FILE *to)
{
    static const column columns[] = {{"SPAN", 0},
                                     {"CALLS", COLUMN_RIGHT},
                                     {"PER CALL", COLUMN_RIGHT},
                                     {"99 % WITHIN", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"OVERLAPPED", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"WAITED", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"PROGRAM", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"EACH AT", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"NICS SENT", COLUMN_RIGHT | COLUMN_LEAN}};
    bool waits = false, nics = false;
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < view->order_count; i++) {
        const regions_node *n = &view->nodes[view->order[i]];
        if (!n->span) continue;
        waits |= n->sums.waits > 0;
        nics |= !isnan(n->nic.bytes_per_s[OUT]);
        regions_beside_span_line(t, view, view->order[i]);
    }
    bool any = table_lines(t) > 0;
    if (any) heading(to, "Spans: work beside the regions, in nobody's time");
    table_end(t, to, 0);
    if (any && waits)
        fputs("Overlapped: of their time, until the program began to wait for them. Waited: mean of the ranks.\n", to);
    if (any && nics)
        fputs("NICs sent: what the devices sent while a span was open, whatever for; spans that overlap share it.\n",
              to);
}

// ---- values ----

// "iteration 5 on rank 3"
static void regions_beside_longest_cell(table *t, const regions_view *view, const regions_value *v)
{
    if (!v->longest_ns)
        table_cell(t, PLAIN, NULL);
    else if (view->job->rank_count > 1)
        table_printf(t, PLAIN, "%s (%s, rank %s)", words_integer(v->at_longest).text,
                     regions_beside_time((double)v->longest_ns).text, view->job->ranks[v->rank].label);
    else
        table_printf(t, PLAIN, "%s (%s)", words_integer(v->at_longest).text,
                     regions_beside_time((double)v->longest_ns).text);
}

static void regions_beside_value_line(table *t, const regions_view *view, size_t number, const regions_value *v)
{
    char *name = regions_short_text(v->name, REGIONS_NAME_WIDTH);
    regions_beside_path_cell(t, view, number);
    table_cell(t, PLAIN, name);
    table_cell(t, PLAIN, words_count((double)v->count).text);
    table_printf(t, BOLD, "%.10g", v->count ? (double)v->sum / (double)v->count : 0);
    table_cell(t, PLAIN, words_integer(v->least).text);
    table_cell(t, PLAIN, words_integer(v->most).text);
    table_cell(t, PLAIN, words_integer(v->sum).text);
    regions_beside_longest_cell(t, view, v);
    free(name);
}

void regions_print_values(const regions_view *view, FILE *to)
{
    static const column columns[] = {{"REGION", 0},
                                     {"VALUE", 0},
                                     {"TIMES SAID", COLUMN_RIGHT},
                                     {"MEAN", COLUMN_RIGHT},
                                     {"LEAST", COLUMN_RIGHT},
                                     {"MOST", COLUMN_RIGHT},
                                     {"SUM", COLUMN_RIGHT},
                                     {"IN THE LONGEST CALL", COLUMN_RIGHT | COLUMN_LEAN}};
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < view->order_count; i++) {
        const regions_node *n = &view->nodes[view->order[i]];
        for (size_t k = 0; k < n->value_count; k++)
            regions_beside_value_line(t, view, view->order[i], &n->values[k]);
    }
    bool any = table_lines(t) > 0;
    if (any) heading(to, "Values that the program gave");
    table_end(t, to, 0);
    if (any) fputs("--region shows the calls and their time by powers of two; --csv --values as well.\n", to);
}

// One value of one region: a line for each power of two.
static void regions_beside_histogram(const regions_value *v, FILE *to)
{
    static const column columns[] = {{"FROM", COLUMN_RIGHT},
                                     {"TO", COLUMN_RIGHT},
                                     {"TIMES SAID", COLUMN_RIGHT},
                                     {"TIME", COLUMN_RIGHT},
                                     {"PER CALL", COLUMN_RIGHT}};
    char *name = regions_short_text(v->name, REGIONS_NAME_WIDTH);
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    heading(to, "By %s, which the program gave", safe(name));
    for (unsigned i = 0; i < NETPROF_VALUE_BUCKETS; i++) {
        if (!v->counts[i]) continue;
        int64_t from = netprof_value_floor(i), until = netprof_value_floor(i + 1) - (i + 1 < NETPROF_VALUE_BUCKETS);
        table_cell(t, PLAIN, words_integer(from < v->least ? v->least : from).text);
        table_cell(t, PLAIN, words_integer(until > v->most ? v->most : until).text);
        table_cell(t, PLAIN, words_exact(v->counts[i]).text);
        table_cell(t, PLAIN, regions_beside_time((double)v->times_ns[i]).text);
        table_cell(t, PLAIN, regions_beside_time((double)v->times_ns[i] / (double)v->counts[i]).text);
    }
    table_end(t, to, 0);
    free(name);
}

void regions_print_histograms(const regions_node *n, FILE *to)
{
    for (size_t k = 0; k < n->value_count; k++)
        regions_beside_histogram(&n->values[k], to);
}
