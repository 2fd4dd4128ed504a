// netprof regions as CSV: a line for each region, or for each region and rank.
#include "cli/output.h"
#include "regions_output.h"

#include <math.h>
#include <stdlib.h>

static void regions_csv_number_cell(FILE *to, double value)
{
    if (isfinite(value))
        csv_printf(to, "%.9g", value);
    else
        csv_cell(to, NULL);
}

static void regions_csv_calls_cells(FILE *to, const regions_calls *c)
{
    csv_cell(to, words_exact(c->calls).text);
    csv_cell(to, words_exact(c->measured).text);
    csv_cell(to, words_exact(c->open).text);
    csv_cell(to, words_exact(c->inclusive_ns).text);
    csv_cell(to, words_exact(c->exclusive_ns).text);
    csv_cell(to, c->measured ? words_exact(c->min_ns).text : NULL);
    csv_cell(to, c->measured ? words_exact(c->max_ns).text : NULL);
    regions_csv_number_cell(to, regions_mean_call_ns(c));
    regions_csv_number_cell(to, c->measured ? c->variance_ns2 : NAN);
    csv_cell(to, words_exact(c->bytes).text);
}

#define CALLS_TITLES                                                                                                   \
    "calls", "measured_calls", "open_calls", "inclusive_ns", "exclusive_ns", "min_ns", "max_ns", "mean_ns",            \
        "variance_ns2", "declared_bytes"

static void regions_csv_rank_lines(const regions_view *view, FILE *to)
{
    static const char *const titles[] = {
        "region", "depth", "rank", "pid", "host", "threads", CALLS_TITLES, "longest_thread_ns", "over_median"};
    csv_line(to, titles, sizeof titles / sizeof *titles);
    for (size_t k = 0; k < view->order_count; k++) {
        const regions_node *n = &view->nodes[view->order[k]];
        char *path = regions_node_path(view, view->order[k]);
        for (size_t i = 0; i < n->cell_count; i++) {
            const regions_cell *cell = &n->cells[i];
            const regions_rank *rank = &view->job->ranks[cell->rank];
            if (!regions_is_wanted(view, cell->rank)) continue;
            csv_cell(to, path);
            csv_printf(to, "%u", (unsigned)n->depth);
            csv_cell(to, rank->number < 0 ? NULL : words_integer(rank->number).text);
            csv_cell(to, rank->pid < 0 ? NULL : words_integer(rank->pid).text);
            csv_cell(to, view->job->hosts[rank->host].name);
            csv_printf(to, "%u", (unsigned)cell->threads);
            regions_csv_calls_cells(to, &cell->sums);
            csv_cell(to, words_exact(cell->longest_ns).text);
            regions_csv_number_cell(to, n->median_ns > 0 ? (double)cell->sums.inclusive_ns / n->median_ns : NAN);
            csv_end(to);
        }
        free(path);
    }
}

static void regions_csv_balance_cells(FILE *to, const regions_view *view, const regions_node *n)
{
    bool any = n->cell_count > 0;
    regions_csv_number_cell(to, n->span ? NAN : n->share);
    regions_csv_number_cell(to, any ? n->mean_ns : NAN);
    regions_csv_number_cell(to, any ? n->median_ns : NAN);
    csv_cell(to, any ? words_exact(n->fastest_ns).text : NULL);
    csv_cell(to, any ? view->job->ranks[n->cells[n->fastest].rank].label : NULL);
    csv_cell(to, any ? words_exact(n->slowest_ns).text : NULL);
    csv_cell(to, any ? view->job->ranks[n->cells[n->slowest].rank].label : NULL);
    regions_csv_number_cell(to, n->max_over_mean);
    csv_cell(to, n->odd == REGIONS_NONE ? NULL : view->job->ranks[n->cells[n->odd].rank].label);
    regions_csv_number_cell(to, n->odd_over_median);
}

static void regions_csv_duration_cells(FILE *to, const regions_node *n)
{
    static const double quantiles[] = {0.5, 0.99};
    uint64_t buckets[NETPROF_HISTOGRAM_BUCKETS];
    bool any = regions_histogram(n, buckets);
    for (size_t i = 0; i < 2; i++) {
        regions_quantile q = regions_quantile_of(buckets, quantiles[i], n->sums.min_ns, n->sums.max_ns);
        csv_cell(to, any ? words_exact(q.low_ns).text : NULL);
        csv_cell(to, any ? words_exact(q.high_ns).text : NULL);
    }
}

static void regions_csv_nic_cells(FILE *to, const regions_nic *nic)
{
    csv_cell(to, regions_state_name(nic->state));
    csv_cell(to, words_exact(nic->hosts).text);
    for (int way = 0; way < 2; way++) {
        csv_cell(to, nic->bytes_known[way] ? words_exact(nic->bytes[way]).text : NULL);
        regions_csv_number_cell(to, nic->bytes_per_s[way]);
    }
    regions_csv_number_cell(to, nic->share);
    regions_csv_number_cell(to, nic->paused);
    csv_cell(to, nic->retries_known ? words_exact(nic->retries).text : NULL);
    regions_csv_number_cell(to, nic->state >= REGIONS_UNCERTAIN ? nic->uncertain : NAN);
}

static void regions_csv_region_lines(const regions_view *view, FILE *to)
{
    static const char *const titles[] = {"region",
                                         "depth",
                                         "ranks",
                                         "threads",
                                         CALLS_TITLES,
                                         "declared_bytes_with_parts",
                                         "share",
                                         "rank_mean_ns",
                                         "rank_median_ns",
                                         "fastest_ns",
                                         "fastest_rank",
                                         "slowest_ns",
                                         "slowest_rank",
                                         "max_over_mean",
                                         "odd_rank",
                                         "odd_over_median",
                                         "p50_low_ns",
                                         "p50_high_ns",
                                         "p99_low_ns",
                                         "p99_high_ns",
                                         "counters",
                                         "nic_hosts",
                                         "rx_bytes",
                                         "rx_bytes_per_s_and_host",
                                         "tx_bytes",
                                         "tx_bytes_per_s_and_host",
                                         "share_of_line_rate",
                                         "share_of_time_paused",
                                         "retries",
                                         "nic_uncertain_share",
                                         "spans",
                                         "spans_waited_for",
                                         "waited_ns"};
    csv_line(to, titles, sizeof titles / sizeof *titles);
    for (size_t k = 0; k < view->order_count; k++) {
        const regions_node *n = &view->nodes[view->order[k]];
        char *path = regions_node_path(view, view->order[k]);
        csv_cell(to, path);
        csv_printf(to, "%u", (unsigned)n->depth);
        csv_cell(to, words_exact(n->cell_count).text);
        csv_cell(to, words_exact(n->threads).text);
        regions_csv_calls_cells(to, &n->sums);
        csv_cell(to, words_exact(n->bytes).text);
        regions_csv_balance_cells(to, view, n);
        regions_csv_duration_cells(to, n);
        regions_csv_nic_cells(to, &n->nic);
        csv_cell(to, words_exact(n->sums.spans).text);
        csv_cell(to, n->sums.waits ? words_exact(n->sums.waits).text : NULL);
        csv_cell(to, n->sums.waits ? words_exact(n->sums.waited_ns).text : NULL);
        csv_end(to);
        free(path);
    }
}

// A line for each power of two of each value of each region.
void regions_print_csv_values(const regions_view *view, FILE *to)
{
    static const char *const titles[] = {"region", "value", "from", "below", "count", "time_ns"};
    csv_line(to, titles, sizeof titles / sizeof *titles);
    for (size_t k = 0; k < view->order_count; k++) {
        const regions_node *n = &view->nodes[view->order[k]];
        char *path = regions_node_path(view, view->order[k]);
        for (size_t i = 0; i < n->value_count; i++)
            for (unsigned b = 0; b < NETPROF_VALUE_BUCKETS; b++) {
                const regions_value *v = &n->values[i];
                if (!v->counts[b]) continue;
                csv_cell(to, path);
                csv_cell(to, v->name);
                csv_cell(to, b ? words_integer(netprof_value_floor(b)).text : NULL);
                csv_cell(to, b + 1 < NETPROF_VALUE_BUCKETS ? words_integer(netprof_value_floor(b + 1)).text : NULL);
                csv_cell(to, words_exact(v->counts[b]).text);
                csv_cell(to, words_exact(v->times_ns[b]).text);
                csv_end(to);
            }
        free(path);
    }
}

void regions_print_csv(const regions_view *view, FILE *to)
{
    if (view->ranks == RANKS_TOGETHER)
        regions_csv_region_lines(view, to);
    else
        regions_csv_rank_lines(view, to);
}
