#define _GNU_SOURCE // qsort_r
// netprof regions for people: the verdict, the regions, one rank, one region closely.
#include "cli/output.h"
#include "regions_output.h"
#include "pairs_text.h"
#include "summary.h"
#include "analysis/base/memory.h"
#include "analysis/base/words.h"
#include "analysis/regions/pairs/regions_pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static words_text regions_text_time(double ns)
{
    return isnan(ns) ? (words_text){"-"} : words_duration(ns / 1e9);
}

static const char *regions_text_rank_label(const regions_view *view, const regions_node *n, size_t cell)
{
    return view->job->ranks[n->cells[cell].rank].label;
}

// ---- the verdict ----

static const char *regions_text_severity_colour(severity s)
{
    static const char *const sequences[SEVERITIES] = {"\033[32m", "\033[2m",  "\033[2m", "\033[33m",
                                                      "\033[33m", "\033[31m", "\033[31m"};
    return sequences[s];
}

static void regions_text_who(const regions *job, FILE *to)
{
    size_t own = job->rank_count - job->children;
    bool ranks = job->rank_count > 0 && job->ranks[0].number >= 0;
    fprintf(to, "%s", words_many(own, ranks || !job->children ? "rank" : "process|processes").text);
    if (job->children) fprintf(to, " and %s", words_many(job->children, "child|children").text);
}

static void regions_text_where(const regions *job, FILE *to)
{
    if (*job->job) fprintf(to, "job %s, ", safe(job->job));
    if (*job->command) fprintf(to, "%s, ", safe(job->command));
    if (job->runs > 1)
        fprintf(to, "%s of %s", words_many(job->rank_count, "file").text, words_many(job->runs, "run").text);
    else
        regions_text_who(job, to);
    fprintf(to, " on %s", words_many(job->host_count, "host").text);
    if (job->wall_ns)
        fprintf(to, ", %s, %s", words_time(job->wall_ns).text, safe(regions_text_time((double)job->elapsed_ns).text));
    putc('\n', to);
    char *run = regions_run_text(job);
    if (*run) fprintf(to, "%s\n", safe(run));
    free(run);
}

static void regions_text_verdict(const regions *job, FILE *to)
{
    heading(to, "%s", safe(job->title));
    regions_text_where(job, to);
    putc('\n', to);
    for (size_t i = 0; i < job->note_count; i++) {
        bool painted = output_colour(to);
        fprintf(to, "%s%-8s%s  %s\n", painted ? regions_text_severity_colour(job->notes[i].severity) : "",
                severity_name(job->notes[i].severity), painted ? "\033[0m" : "", safe(job->notes[i].text));
    }
}

// ---- the regions ----

static void regions_text_name_cell(table *t, const regions_node *n)
{
    enum { DEEPEST = 12 };
    int depth = n->depth > DEEPEST ? DEEPEST : (int)n->depth;
    char *name = regions_short_text(n->name, REGIONS_NAME_WIDTH);
    char *text = memory_format("%*s%s%s", 2 * depth, "", n->depth > DEEPEST ? "... " : "", name);
    table_cell(t, PLAIN, text);
    free(text);
    free(name);
}

static void regions_text_duration_cells(table *t, const regions_node *n)
{
    uint64_t buckets[NETPROF_HISTOGRAM_BUCKETS];
    table_cell(t, PLAIN, n->sums.measured ? regions_text_time(regions_mean_call_ns(&n->sums)).text : NULL);
    if (n->sums.measured > 1 && regions_histogram(n, buckets))
        table_cell(
            t, PLAIN,
            regions_text_time((double)regions_quantile_of(buckets, 0.99, n->sums.min_ns, n->sums.max_ns).high_ns).text);
    else
        table_cell(t, PLAIN, NULL);
}

static void regions_text_odd_cell(table *t, const regions_view *view, const regions_node *n)
{
    colour style = n->kind == REGIONS_WORK ? WARNING : PLAIN; // who waits long is no culprit
    if (!n->odd_notable)
        table_cell(t, PLAIN, NULL);
    else if (n->odd_over_median >= 10)
        table_printf(t, style, "%s >10x", regions_text_rank_label(view, n, n->odd));
    else if (isnan(n->odd_over_median))
        table_printf(t, style, "%s +%s", regions_text_rank_label(view, n, n->odd),
                     regions_text_time(n->odd_distance_ns).text);
    else
        table_printf(t, style, "%s x%.2f", regions_text_rank_label(view, n, n->odd), n->odd_over_median);
}

static void regions_text_nic_cells(table *t, const regions_view *view, const regions_node *n)
{
    const regions_nic *nic = &n->nic;
    (void)view;
    if (nic->state == REGIONS_TOO_SHORT) {
        table_cell(t, WARNING, "too short");
        for (int i = 0; i < 4; i++)
            table_cell(t, PLAIN, NULL);
        return;
    }
    bool sent = nic->state >= REGIONS_UNCERTAIN && nic->bytes_known[OUT];
    if (sent && nic->bytes[OUT] && nic->uncertain >= 0.01)
        table_printf(t, PLAIN, "%s \302\261%s", words_amount((double)nic->bytes[OUT], "bytes").text,
                     words_share(nic->uncertain).text);
    else
        table_cell(t, PLAIN, sent ? words_amount((double)nic->bytes[OUT], "bytes").text : NULL);
    table_cell(t, PLAIN,
               sent && !isnan(nic->bytes_per_s[OUT]) ? words_amount_rate(nic->bytes_per_s[OUT], "bytes").text : NULL);
    table_cell(t, PLAIN, isnan(nic->share) ? NULL : words_share(nic->share).text);
    table_cell(t, PLAIN, isnan(nic->paused) ? NULL : words_share(nic->paused).text);
    table_cell(t, PLAIN, nic->retries_known ? words_exact(nic->retries).text : NULL);
}

static words_text regions_text_per_rank(const regions_node *n, uint64_t sum)
{
    double mean = n->cell_count ? (double)sum / (double)n->cell_count : 0;
    return words_count(mean);
}

static void regions_text_region_line(table *t, const regions_view *view, const regions_node *n)
{
    size_t ranks = view->job->rank_count;
    regions_text_name_cell(t, n);
    table_cell(t, PLAIN, regions_text_per_rank(n, n->sums.calls).text);
    table_cell(t, BOLD, regions_text_time(n->mean_ns).text);
    table_cell(t, PLAIN,
               n->cell_count ? regions_text_time((double)n->sums.exclusive_ns / (double)n->cell_count).text : NULL);
    table_cell(t, PLAIN, words_share(n->run_share).text);
    regions_text_duration_cells(t, n);
    table_cell(t, PLAIN, n->cell_count < ranks ? words_exact(n->cell_count).text : NULL);
    table_cell(t, PLAIN, n->threads > n->cell_count ? words_exact(n->threads).text : NULL);
    if (isnan(n->max_over_mean) || ranks < 2)
        table_cell(t, PLAIN, NULL);
    else
        table_printf(t, PLAIN, "%.2f", n->max_over_mean);
    regions_text_odd_cell(t, view, n);
    table_cell(t, PLAIN, n->bytes ? words_amount((double)n->bytes, "bytes").text : NULL);
    regions_text_nic_cells(t, view, n);
}

static bool regions_text_any_counters(const regions_view *view)
{
    for (size_t i = 0; i < view->node_count; i++)
        if (view->nodes[i].reading_count) return true;
    return false;
}

static bool regions_text_any_sampled(const regions_view *view)
{
    for (size_t i = 0; i < view->node_count; i++)
        if (view->nodes[i].sampled) return true;
    return false;
}

static bool regions_text_any_uncertain(const regions_view *view)
{
    for (size_t i = 0; i < view->node_count; i++)
        if (view->nodes[i].nic.uncertain >= 0.01 && view->nodes[i].nic.bytes[OUT]) return true;
    return false;
}

static bool regions_text_any_without_port(const regions_view *view)
{
    for (size_t i = 0; i < view->node_count; i++)
        if (view->nodes[i].nic.no_port && view->nodes[i].nic.bytes_known[OUT]) return true;
    return false;
}

static bool regions_text_any_sampler(const regions *job)
{
    for (size_t i = 0; i < job->rank_count; i++)
        if (job->ranks[i].interval_ns) return true;
    return false;
}

static void regions_text_footnotes(const regions_view *view, FILE *to)
{
    const regions *job = view->job;
    if (view->left_out)
        fprintf(to, "... and %s below %s of the time; --min-share 0 shows them\n",
                words_many(view->left_out, "region").text, words_share(view->min_share).text);
    fputs(job->rank_count > 1 ? "Calls, time and own time: mean of the ranks that were there"
                              : "Own: without the regions within",
          to);
    fputs(job->rank_count > 1 ? "; own: without the regions within.\n" : ".\n", to);
    if (regions_text_any_sampled(view))
        fputs("Some calls were counted and not timed (NETPROF_EVERY): times are of the others.\n", to);
    if (view->job->readings)
        fputs(regions_text_any_sampler(view->job)
                  ? "netprof: the sampler's thread, which read the counters: processor time.\n"
                  : "netprof: reading the counters, which is in no region's time.\n",
              to);
    if (!regions_text_any_counters(view)) return;
    if (regions_text_any_uncertain(view))
        fputs("\302\261: so much may have passed while the counters were read, just before and after the calls.\n", to);
    if (regions_text_any_without_port(view))
        fputs("There is no NIC here: what is said to be sent by NICs is what lo and other interfaces counted.\n", to);
    fputs(
        "NIC counters belong to the device: one rank's reading of each host, all traffic while it was inside, whoever\n"
        "sent it. Program: bytes that it declared itself, with those of the regions within.\n",
        to);
}

// What netprof itself did: no region.
static void regions_text_own_line(table *t, const regions *job, size_t columns)
{
    double ranks = (double)job->rank_count, ns = (double)job->reading_ns;
    if (!job->readings) return;
    table_cell(t, DIM, "netprof");
    table_cell(t, DIM, words_count((double)job->readings / ranks).text);
    table_cell(t, DIM, regions_text_time(ns / ranks).text);
    table_cell(t, DIM, regions_text_time(ns / ranks).text);
    table_cell(t, DIM, words_share(job->lived_ns > 0 ? ns / job->lived_ns : 0).text);
    table_cell(t, DIM, regions_text_time(ns / (double)job->readings).text);
    for (size_t i = 6; i < columns; i++)
        table_cell(t, PLAIN, NULL);
}

static void regions_text_regions(const regions_view *view, FILE *to)
{
    static const column columns[] = {{"REGION", 0},
                                     {"CALLS", COLUMN_RIGHT},
                                     {"TIME", COLUMN_RIGHT},
                                     {"OWN", COLUMN_RIGHT},
                                     {"OF RUN", COLUMN_RIGHT},
                                     {"PER CALL", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"99 % WITHIN", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"RANKS", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"THREADS", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"MAX/MEAN", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"ODD RANK", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"PROGRAM", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"NICS SENT", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"PER HOST", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"OF LINE", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"PAUSED", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"RETRIES", COLUMN_RIGHT | COLUMN_LEAN}};
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    heading(to, "%s", view->flat ? "Regions by name" : "Regions");
    for (size_t i = 0; i < view->order_count; i++)
        if (!view->nodes[view->order[i]].span) regions_text_region_line(t, view, &view->nodes[view->order[i]]);
    regions_text_own_line(t, view->job, sizeof columns / sizeof *columns);
    table_end(t, to, 0);
    regions_text_footnotes(view, to);
}

// ---- the run of each rank ----

static words_text regions_text_part(double ns, double whole)
{
    return whole > 0 ? words_share(ns / whole) : (words_text){"-"};
}

static int regions_text_compare_work(const void *a, const void *b, void *ranks)
{
    size_t i = *(const size_t *)a, k = *(const size_t *)b;
    double x = ((const regions_rank *)ranks)[i].times.work_ns, y = ((const regions_rank *)ranks)[k].times.work_ns;
    return x > y ? -1 : x < y ? 1 : i < k ? -1 : i > k;
}

static void regions_text_run_line(table *t, const regions *job, const regions_rank *rank)
{
    const regions_times *x = &rank->times;
    double waiting = x->peer_ns + x->all_ns;
    table_cell(t, PLAIN, rank->label);
    table_cell(t, PLAIN, job->hosts[rank->host].name);
    table_cell(t, PLAIN, regions_text_time(x->run_ns).text);
    table_cell(t, BOLD, regions_text_time(x->work_ns).text);
    table_cell(t, PLAIN, regions_text_time(waiting).text);
    table_cell(t, PLAIN, regions_text_part(waiting, x->run_ns).text);
    table_cell(t, PLAIN, job->waits.mpi ? regions_text_time(x->mpi_ns).text : NULL);
    table_cell(t, PLAIN, job->waits.mpi ? regions_text_part(x->mpi_ns, x->run_ns).text : NULL);
    table_cell(t, PLAIN, rank->cpu_ns < 0 ? NULL : regions_text_time((double)rank->cpu_ns).text);
    table_cell(t, PLAIN, rank->cpu_wait_ns < 0 ? NULL : regions_text_time((double)rank->cpu_wait_ns).text);
}

// The ranks by their work. Of many those at both ends.
static void regions_text_runs(const regions *job, FILE *to)
{
    enum { ALL_UP_TO = 12, AT_AN_END = 5, COLUMNS = 10 };
    static const column columns[COLUMNS] = {{"RANK", 0},
                                            {"HOST", 0},
                                            {"RUN", COLUMN_RIGHT},
                                            {"WORK", COLUMN_RIGHT},
                                            {"WAITING", COLUMN_RIGHT},
                                            {"OF RUN", COLUMN_RIGHT},
                                            {"MPI", COLUMN_RIGHT | COLUMN_LEAN},
                                            {"OF RUN", COLUMN_RIGHT | COLUMN_LEAN},
                                            {"CPU", COLUMN_RIGHT | COLUMN_LEAN},
                                            {"WAITED FOR CPU", COLUMN_RIGHT | COLUMN_LEAN}};
    size_t n = job->rank_count, *order = memory_array(NULL, n + 1, sizeof *order);
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    qsort_r(order, n, sizeof *order, regions_text_compare_work, job->ranks);
    table *t = table_begin(columns, COLUMNS);
    heading(to, "Ranks, the longest work first");
    for (size_t i = 0; i < n; i++) {
        if (n > ALL_UP_TO && i == AT_AN_END) {
            i = n - AT_AN_END;
            table_cell(t, DIM, "...");
            table_printf(t, DIM, "%zu more", n - 2 * AT_AN_END);
            for (int k = 2; k < COLUMNS; k++)
                table_cell(t, PLAIN, NULL);
        }
        regions_text_run_line(t, job, &job->ranks[order[i]]);
    }
    table_end(t, to, 0);
    free(order);
}

// ---- one rank beside the others ----

// The number of ranks that spent longer in it.
static size_t regions_text_longer_than(const regions_node *n, uint64_t ns)
{
    size_t count = 0;
    for (size_t i = 0; i < n->cell_count; i++)
        count += n->cells[i].sums.inclusive_ns > ns;
    return count;
}

static void regions_text_rank_line(table *t, const regions_node *n, const regions_cell *cell)
{
    double ns = (double)cell->sums.inclusive_ns;
    regions_text_name_cell(t, n);
    table_cell(t, PLAIN, words_amount((double)cell->sums.calls, "").text);
    table_cell(t, BOLD, regions_text_time(ns).text);
    table_cell(t, PLAIN, regions_text_time((double)cell->sums.exclusive_ns).text);
    table_cell(t, PLAIN, cell->sums.measured ? regions_text_time(regions_mean_call_ns(&cell->sums)).text : NULL);
    table_cell(t, PLAIN, regions_text_time(n->median_ns).text);
    if (n->median_ns > 0)
        table_printf(t, fabs(ns / n->median_ns - 1) > 0.1 ? WARNING : PLAIN, "x%.2f", ns / n->median_ns);
    else
        table_cell(t, PLAIN, NULL);
    table_printf(t, PLAIN, "%zu of %zu", regions_text_longer_than(n, cell->sums.inclusive_ns) + 1, n->cell_count);
    table_cell(t, PLAIN, cell->threads > 1 ? words_exact(cell->threads).text : NULL);
    table_cell(t, PLAIN, cell->sums.bytes ? words_amount((double)cell->sums.bytes, "bytes").text : NULL);
}

static void regions_text_rank(const regions_view *view, size_t number, FILE *to)
{
    static const column columns[] = {{"REGION", 0},
                                     {"CALLS", COLUMN_RIGHT},
                                     {"TIME", COLUMN_RIGHT},
                                     {"OWN", COLUMN_RIGHT},
                                     {"PER CALL", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"MEDIAN OF RANKS", COLUMN_RIGHT},
                                     {"OVER MEDIAN", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"PLACE", COLUMN_RIGHT},
                                     {"THREADS", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"PROGRAM", COLUMN_RIGHT | COLUMN_LEAN}};
    const regions_rank *rank = &view->job->ranks[number];
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    heading(to, "Rank %s on %s, %s, %s", safe(rank->label), safe(view->job->hosts[rank->host].name),
            words_time(rank->wall_ns).text, safe(regions_text_time((double)rank->elapsed_ns).text));
    for (size_t i = 0; i < view->order_count; i++) {
        const regions_node *n = &view->nodes[view->order[i]];
        const regions_cell *cell = regions_cell_of(n, number);
        if (cell && !n->span) regions_text_rank_line(t, n, cell);
    }
    table_end(t, to, 0);
    fputs("Place: 1 is the rank that was inside longest. Program: bytes that it declared in this very region.\n", to);
    if (*rank->warning) fprintf(to, "It said: %s\n", safe(rank->warning));
}

// ---- findings ----

static const char *regions_text_device(const regions *job, const regions_finding *x)
{
    return x->device == DIFFERENCE_NONE ? "" : job->hosts[x->host].schema->devices[x->device].name;
}

static void regions_text_findings(const regions_view *view, size_t only, FILE *to)
{
    static const column columns[] = {{"SEVERITY", 0},         {"REGION", 0}, {"HOST", 0},
                                     {"DEVICE", COLUMN_LEAN}, {"RULE", 0},   {"PLACES", COLUMN_RIGHT},
                                     {"WHAT", COLUMN_WRAP}};
    const regions *job = view->job;
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < job->finding_count; i++) {
        const regions_finding *x = &job->findings[i];
        if (only == REGIONS_NONE ? x->part != REGIONS_NONE : x->node != only) continue;
        table_cell(t, x->severity >= SEVERITY_HIGH ? ALARM : WARNING, severity_name(x->severity));
        char *name = regions_short_text(job->nodes[x->node].name, REGIONS_NAME_WIDTH);
        table_cell(t, PLAIN, name);
        free(name);
        table_cell(t, PLAIN, job->hosts[x->host].name);
        table_cell(t, PLAIN, regions_text_device(job, x));
        table_cell(t, PLAIN, x->rule->name);
        table_cell(t, PLAIN, words_exact(x->places).text);
        table_cell(t, PLAIN, x->claim);
    }
    if (table_lines(t))
        heading(to, "Findings (the worst place of each; a region is left out where one within is much worse)");
    table_end(t, to, 0);
}

// ---- one region closely ----

static void regions_text_calls(const regions_node *n, FILE *to)
{
    const regions_calls *c = &n->sums;
    fprintf(to, "%s on %s", words_many(c->calls, "call").text, words_many(n->cell_count, "rank").text);
    if (c->measured < c->calls - c->open) fprintf(to, ", %s of them timed", words_exact(c->measured).text);
    if (c->open) fprintf(to, ", %s open when the file was written", words_exact(c->open).text);
    if (c->aborted) fprintf(to, ", %s ended from outside", words_exact(c->aborted).text);
    if (n->span)
        fputs("; spans, beside the time of the regions", to);
    else
        fprintf(to, "; %s of the time", words_share(n->share).text);
    if (n->sums.measured)
        fprintf(to, "\na call: mean %s, deviation %s, shortest %s, longest %s",
                safe(regions_text_time(regions_mean_call_ns(c)).text),
                safe(regions_text_time(sqrt(c->variance_ns2)).text), safe(regions_text_time((double)c->min_ns).text),
                safe(regions_text_time((double)c->max_ns).text));
    putc('\n', to);
    if (c->waits)
        fprintf(to, "waited for: %s, in %s\n", safe(regions_text_time((double)c->waited_ns).text),
                words_many(c->waits, "of the spans|of the spans").text);
    if (n->bytes)
        fprintf(to, "declared by the program: %s%s\n", words_amount((double)n->bytes, "bytes").text,
                n->end && n->bytes != n->sums.bytes ? ", with the regions within" : "");
    if (!isnan(n->nic.sent_over_declared))
        fprintf(to, "sent by the NICs meanwhile: %s, %.3g times what was declared\n",
                words_amount((double)n->nic.bytes[OUT], "bytes").text, n->nic.sent_over_declared);
}

static void regions_text_quantiles(const regions_node *n, const uint64_t *buckets, FILE *to)
{
    static const double quantiles[] = {0.5, 0.9, 0.99, 0.999};
    fputs("quantiles:", to);
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++) {
        regions_quantile q = regions_quantile_of(buckets, quantiles[i], n->sums.min_ns, n->sums.max_ns);
        fprintf(to, "%s %g %% %s to %s", i ? "," : "", quantiles[i] * 100,
                safe(regions_text_time((double)q.low_ns).text), safe(regions_text_time((double)q.high_ns).text));
    }
    putc('\n', to);
}

// Prints a line for each power of two.
static void regions_text_durations(const regions_node *n, FILE *to)
{
    static const column columns[] = {
        {"FROM", COLUMN_RIGHT}, {"BELOW", COLUMN_RIGHT}, {"CALLS", COLUMN_RIGHT}, {"SHARE", COLUMN_RIGHT}, {"", 0}};
    enum { WIDTH = 40, STEP = 8 };
    uint64_t buckets[NETPROF_HISTOGRAM_BUCKETS], sums[NETPROF_HISTOGRAM_BUCKETS / STEP] = {0}, most = 1;
    unsigned first = NETPROF_HISTOGRAM_BUCKETS / STEP, last = 0;
    if (!regions_histogram(n, buckets)) return;
    for (unsigned i = 0; i < NETPROF_HISTOGRAM_BUCKETS; i++)
        if (buckets[i]) {
            sums[i / STEP] += buckets[i];
            first = i / STEP < first ? i / STEP : first;
            last = i / STEP;
        }
    for (unsigned i = first; i <= last; i++)
        most = sums[i] > most ? sums[i] : most;
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    heading(to, "How long the calls took");
    for (unsigned i = first; i <= last; i++) {
        char bar[WIDTH + 1];
        int length = (int)ceil((double)WIDTH * (double)sums[i] / (double)most);
        memset(bar, '#', sizeof bar);
        bar[length] = 0;
        table_cell(t, PLAIN, regions_text_time((double)netprof_histogram_floor_ns(i * STEP)).text);
        table_cell(t, PLAIN, regions_text_time(ldexp(8, (int)i)).text);
        table_cell(t, PLAIN, words_exact(sums[i]).text);
        table_cell(t, PLAIN, words_share((double)sums[i] / (double)n->sums.measured).text);
        table_cell(t, PLAIN, bar);
    }
    table_end(t, to, 0);
    regions_text_quantiles(n, buckets, to);
}

static int regions_text_compare_cells(const void *a, const void *b, void *cells)
{
    size_t i = *(const size_t *)a, k = *(const size_t *)b;
    uint64_t x = ((const regions_cell *)cells)[i].sums.inclusive_ns,
             y = ((const regions_cell *)cells)[k].sums.inclusive_ns;
    return x > y ? -1 : x < y ? 1 : i < k ? -1 : i > k;
}

// The slowest and the fastest ranks.
static void regions_text_ranks(const regions_view *view, const regions_node *n, FILE *to)
{
    enum { SHOWN = 5 };
    static const column columns[] = {{"RANK", 0},
                                     {"HOST", 0},
                                     {"CALLS", COLUMN_RIGHT},
                                     {"TIME", COLUMN_RIGHT},
                                     {"OVER MEDIAN", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"PER CALL", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"LONGEST CALL", COLUMN_RIGHT | COLUMN_LEAN}};
    size_t *order = memory_alloc((n->cell_count + 1) * sizeof *order);
    for (size_t i = 0; i < n->cell_count; i++)
        order[i] = i;
    qsort_r(order, n->cell_count, sizeof *order, regions_text_compare_cells, n->cells);
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    heading(to, "Ranks: median %s, mean %s, slowest over mean %.2f", safe(regions_text_time(n->median_ns).text),
            safe(regions_text_time(n->mean_ns).text), n->max_over_mean);
    for (size_t i = 0; i < n->cell_count; i++) {
        const regions_cell *cell = &n->cells[order[i]];
        if (n->cell_count > 2 * SHOWN && i == SHOWN) {
            table_cell(t, DIM, "...");
            i = n->cell_count - SHOWN - 1;
            table_printf(t, DIM, "%zu more", n->cell_count - 2 * SHOWN);
            for (int k = 0; k < 5; k++)
                table_cell(t, PLAIN, NULL);
            continue;
        }
        table_cell(t, PLAIN, view->job->ranks[cell->rank].label);
        table_cell(t, PLAIN, view->job->hosts[view->job->ranks[cell->rank].host].name);
        table_cell(t, PLAIN, words_exact(cell->sums.calls).text);
        table_cell(t, PLAIN, regions_text_time((double)cell->sums.inclusive_ns).text);
        if (n->median_ns > 0)
            table_printf(t, PLAIN, "x%.2f", (double)cell->sums.inclusive_ns / n->median_ns);
        else
            table_cell(t, PLAIN, NULL);
        table_cell(t, PLAIN, cell->sums.measured ? regions_text_time(regions_mean_call_ns(&cell->sums)).text : NULL);
        table_cell(t, PLAIN, cell->sums.measured ? regions_text_time((double)cell->sums.max_ns).text : NULL);
    }
    table_end(t, to, 0);
    free(order);
}

static void regions_text_reading_line(table *t, const regions_view *view, const regions_reading *x)
{
    const regions_host *host = &view->job->hosts[x->host];
    table_cell(t, PLAIN, host->name);
    table_cell(t, PLAIN, view->job->ranks[x->rank].label);
    table_printf(t, PLAIN, "%u", (unsigned)x->readers);
    table_cell(t, PLAIN, regions_text_time((double)x->time_ns).text);
    if (x->state < REGIONS_UNCERTAIN) {
        table_cell(t, WARNING, regions_state_name(x->state));
        return;
    }
    for (int way = IN; way <= OUT; way++) {
        table_cell(t, PLAIN, x->bytes_known[way] ? words_amount((double)x->bytes[way], "bytes").text : "-");
        table_cell(t, PLAIN, isnan(x->bytes_per_s[way]) ? NULL : words_amount_rate(x->bytes_per_s[way], "bytes").text);
    }
    table_cell(t, PLAIN, isnan(x->share) ? NULL : words_share(x->share).text);
    table_cell(t, PLAIN, x->busiest == REGIONS_NONE ? NULL : host->schema->devices[x->busiest].name);
    table_cell(t, PLAIN, isnan(x->paused) ? NULL : words_share(x->paused).text);
    table_cell(t, PLAIN, x->retries_known ? words_exact(x->retries).text : NULL);
    table_printf(t, PLAIN, "%.1f", x->open);
}

// The reading to look at: where a NIC was busiest, else the first that is known.
static const regions_reading *regions_text_telling_reading(const regions_node *n)
{
    if (n->nic.most_paused != REGIONS_NONE && n->nic.paused > 0) return &n->readings[n->nic.most_paused];
    if (n->nic.busiest != REGIONS_NONE) return &n->readings[n->nic.busiest];
    for (size_t i = 0; i < n->reading_count; i++)
        if (n->readings[i].state >= REGIONS_UNCERTAIN) return &n->readings[i];
    return NULL;
}

static void regions_text_counters(const regions_view *view, const regions_node *n, FILE *to)
{
    static const column columns[] = {{"DEVICE", 0},
                                     {"COUNTER", 0},
                                     {"CHANGE", COLUMN_RIGHT},
                                     {"UNIT", COLUMN_LEAN},
                                     {"RATE", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"MEANING", COLUMN_WRAP | COLUMN_LEAN}};
    const regions_reading *x = regions_text_telling_reading(n);
    regions_counters c;
    netprof_error error;
    difference_query query = {.top = 0};
    size_t count;
    if (!x) return;
    if (regions_counters_make(&c, view->job, n, x, &error)) memory_exhausted();
    size_t *rows = difference_select(&c.d, &query, &count);
    const netprof_schema *schema = c.d.delta->schema;
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < count; i++) {
        const difference_row *row = &c.d.rows[rows[i]];
        table_cell(t, PLAIN, schema->devices[schema->counters[rows[i]].device].name);
        table_cell(t, PLAIN, schema->counters[rows[i]].name);
        table_cell(t, PLAIN, delta_text(row).text);
        table_cell(t, PLAIN, row->unit);
        table_cell(t, PLAIN, rate_text(row).text);
        table_cell(t, DIM, row->entry ? row->entry->description : NULL);
    }
    if (count)
        heading(to, "Counters on %s, as rank %s read them (%s)", safe(view->job->hosts[x->host].name),
                safe(view->job->ranks[x->rank].label), safe(regions_text_time((double)x->time_ns).text));
    table_end(t, to, 0);
    free(rows);
    regions_counters_free(&c);
}

static void regions_text_nics(const regions_view *view, const regions_node *n, FILE *to)
{
    enum { SHOWN = 20 };
    static const column columns[] = {{"HOST", 0},
                                     {"READ BY", 0},
                                     {"OF", COLUMN_RIGHT},
                                     {"TIME", COLUMN_RIGHT},
                                     {"RECEIVED", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"RATE", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"SENT", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"RATE", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"OF LINE", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"BUSIEST", COLUMN_LEAN},
                                     {"PAUSED", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"RETRIES", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"OPEN", COLUMN_RIGHT | COLUMN_LEAN}};
    enum { COLUMNS = sizeof columns / sizeof *columns };
    if (!n->reading_count) return;
    table *t = table_begin(columns, COLUMNS);
    heading(to, "NICs: one rank's reading of each host");
    for (size_t i = 0; i < n->reading_count && i < SHOWN; i++) {
        regions_text_reading_line(t, view, &n->readings[i]);
        if (n->readings[i].state >= REGIONS_UNCERTAIN) continue;
        for (int k = 5; k < COLUMNS; k++)
            table_cell(t, PLAIN, NULL);
    }
    table_end(t, to, 0);
    if (n->reading_count > SHOWN) fprintf(to, "... and %zu more hosts\n", n->reading_count - SHOWN);
    if (n->nic.state == REGIONS_TOO_SHORT)
        fprintf(
            to,
            "The region is too short for its counters (limit %s per call): its time is exact, bytes are not shown.\n",
            regions_text_time((double)n->nic.limit_ns).text);
    else
        fprintf(to, "Open: regions with counters at the end of a call, this one and those around it (%u) included.\n",
                (unsigned)n->depth + 1);
    if (n->nic.uncertain >= 0.01)
        fprintf(to,
                "Up to %s of the bytes may have passed while the counters were read, just before and after a call.\n",
                words_share(n->nic.uncertain).text);
    regions_text_counters(view, n, to);
}

static void regions_text_region(const regions_view *view, FILE *to)
{
    const regions_node *n = &view->job->nodes[view->region];
    char *path = regions_node_path(view, view->region), *text = regions_short_text(path, 2 * REGIONS_NAME_WIDTH);
    heading(to, "%s", safe(text));
    free(text);
    free(path);
    regions_text_calls(n, to);
    regions_text_durations(n, to);
    regions_print_histograms(n, to);
    if (n->cell_count > 1) regions_text_ranks(view, n, to);
    regions_text_nics(view, n, to);
    regions_text_findings(view, view->region, to);
}

// ---- who sent to whom ----

static void regions_text_pairs(const regions *job, FILE *to)
{
    pairs p;
    if (job->runs > 1 || !regions_pairs(&p, job)) return;
    pairs_print(to, &p, regions_pairs_told(job), job->rank_count - job->children);
    pairs_free(&p);
}

// ---- all ----

void regions_print_text(const regions_view *view, FILE *to)
{
    if (view->region != REGIONS_NONE) {
        regions_text_region(view, to);
        return;
    }
    regions_text_verdict(view->job, to);
    if (view->ranks == RANKS_TOGETHER) {
        if (view->job->waits.known && view->job->runs == 1) regions_text_runs(view->job, to);
        regions_text_regions(view, to);
        regions_print_spans(view, to);
        regions_print_values(view, to);
        regions_text_pairs(view->job, to);
        regions_text_findings(view, REGIONS_NONE, to);
        return;
    }
    for (size_t i = 0; i < view->job->rank_count; i++)
        if (regions_is_wanted(view, i)) regions_text_rank(view, i, to);
}
