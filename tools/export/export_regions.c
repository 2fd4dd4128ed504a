// Regions as tables.
#include "analysis/regions/regions.h"

#include "export.h"
#include "cli/inputs.h"
#include "export_catalog.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROW(to, id, ...) export_row(to, id, (const export_cell[]){__VA_ARGS__})

static export_cell export_regions_flag_cell(bool flag)
{
    return cell_u64(flag ? 1 : 0);
}

static export_cell export_regions_known_u64(bool known, uint64_t value)
{
    return known ? cell_u64(value) : cell_none();
}

static export_cell export_regions_rank_cell(const regions *r, size_t rank)
{
    return rank == REGIONS_NONE ? cell_none() : cell_text(r->ranks[rank].label);
}

static export_cell export_regions_number_or_none(long number)
{
    return number < 0 ? cell_none() : cell_i64(number);
}

static void export_regions_put_ranks(export_sink *to, const regions *r)
{
    static const char *const modes[] = {"", "off", "time", "fast", "sampler"};
    for (size_t i = 0; i < r->rank_count; i++) {
        const regions_rank *x = &r->ranks[i];
        ROW(to, EXPORT_RANKS, cell_text(x->label), export_regions_number_or_none(x->number),
            export_regions_number_or_none(x->pid), cell_text(r->hosts[x->host].name), cell_text(x->path),
            cell_text(x->command), cell_text((size_t)x->mode < sizeof modes / sizeof *modes ? modes[x->mode] : ""),
            cell_text(x->clock), cell_text(x->warning), cell_time(x->wall_ns), cell_i64(x->elapsed_ns),
            x->sweep_ns ? cell_i64(x->sweep_ns) : cell_none(), x->interval_ns ? cell_i64(x->interval_ns) : cell_none(),
            cell_u64(x->threads), cell_u64(x->time_ns), cell_u64(x->calls), cell_u64(x->mismatched),
            cell_u64(x->dropped), x->overhead_ps ? cell_u64(x->overhead_ps) : cell_none(),
            export_regions_flag_cell(x->complete));
    }
}

enum { CALLS_CELLS = 12 };

static export_cell *export_regions_put_calls(export_cell *at, const regions_calls *c)
{
    bool any = c->measured > 0;
    const export_cell cells[CALLS_CELLS] = {cell_u64(c->calls),
                                            cell_u64(c->measured),
                                            cell_u64(c->open),
                                            cell_u64(c->spans),
                                            cell_u64(c->aborted),
                                            export_regions_known_u64(any, c->inclusive_ns),
                                            export_regions_known_u64(any, c->exclusive_ns),
                                            export_regions_known_u64(any, c->min_ns),
                                            export_regions_known_u64(any, c->max_ns),
                                            any ? cell_f64((double)c->total_ns / (double)c->measured) : cell_none(),
                                            any ? cell_f64(c->variance_ns2) : cell_none(),
                                            cell_u64(c->bytes)};
    memcpy(at, cells, sizeof cells);
    return at + CALLS_CELLS;
}

static void export_regions_put_node(export_sink *to, const regions *r, size_t node, const char *path)
{
    const regions_node *n = &r->nodes[node];
    export_cell cells[48], *at = cells;
    char *parent = n->parent == REGIONS_NONE ? NULL : regions_path(r, n->parent);
    bool any = n->cell_count > 0, odd = any && n->odd != REGIONS_NONE;
    *at++ = cell_text(path);
    *at++ = cell_text(n->name);
    *at++ = cell_text(parent);
    *at++ = cell_u64(n->depth);
    *at++ = cell_u64(n->cell_count);
    *at++ = cell_u64(n->threads);
    at = export_regions_put_calls(at, &n->sums);
    const export_cell rest[] = {cell_u64(n->bytes),
                                cell_f64(n->share),
                                cell_f64(n->own_share),
                                any ? cell_f64(n->mean_ns) : cell_none(),
                                any ? cell_f64(n->median_ns) : cell_none(),
                                any ? cell_f64(n->deviation_ns) : cell_none(),
                                any ? export_regions_rank_cell(r, n->cells[n->fastest].rank) : cell_none(),
                                export_regions_known_u64(any, n->fastest_ns),
                                any ? export_regions_rank_cell(r, n->cells[n->slowest].rank) : cell_none(),
                                export_regions_known_u64(any, n->slowest_ns),
                                cell_f64(n->max_over_mean),
                                any ? cell_f64(n->imbalance_ns) : cell_none(),
                                odd ? export_regions_rank_cell(r, n->cells[n->odd].rank) : cell_none(),
                                odd ? cell_f64(n->odd_over_median) : cell_none(),
                                odd ? cell_f64(n->odd_distance_ns) : cell_none(),
                                odd ? export_regions_flag_cell(n->odd_notable) : cell_none()};
    memcpy(at, rest, sizeof rest);
    export_row(to, EXPORT_REGIONS, cells);
    free(parent);
}

static void export_regions_put_histogram(export_sink *to, const char *path, export_cell rank, const uint64_t *buckets)
{
    for (unsigned i = 0; i < NETPROF_HISTOGRAM_BUCKETS; i++) {
        bool last = i + 1 == NETPROF_HISTOGRAM_BUCKETS;
        if (!buckets[i]) continue;
        ROW(to, EXPORT_REGION_HISTOGRAMS, cell_text(path), rank, cell_u64(netprof_histogram_floor_ns(i)),
            last ? cell_none() : cell_u64(netprof_histogram_floor_ns(i + 1)), cell_u64(buckets[i]));
    }
}

static void export_regions_put_cells(export_sink *to, const regions *r, const regions_node *n, const char *path)
{
    uint64_t buckets[NETPROF_HISTOGRAM_BUCKETS];
    if (regions_histogram(n, buckets)) export_regions_put_histogram(to, path, cell_none(), buckets);
    for (size_t i = 0; i < n->cell_count; i++) {
        const regions_cell *c = &n->cells[i];
        const regions_rank *rank = &r->ranks[c->rank];
        export_cell cells[5 + CALLS_CELLS] = {cell_text(path), cell_text(rank->label),
                                              cell_text(r->hosts[rank->host].name), cell_u64(c->threads),
                                              cell_u64(c->longest_ns)};
        export_regions_put_calls(cells + 5, &c->sums);
        export_row(to, EXPORT_REGION_RANKS, cells);
        if (regions_cell_histogram(c, buckets)) export_regions_put_histogram(to, path, cell_text(rank->label), buckets);
    }
}

static export_cell export_regions_device_cell(const regions_host *host, size_t device)
{
    return device == REGIONS_NONE || !host->schema ? cell_none() : cell_text(host->schema->devices[device].name);
}

static void export_regions_put_counters(export_sink *to, const regions *r, const regions_node *n,
                                        const regions_reading *x, const char *path)
{
    regions_counters c = {0};
    netprof_error error;
    const export_options *o = export_options_of(to);
    if (regions_counters_make(&c, r, n, x, &error)) {
        export_fail(to, "%s", error_text(&error));
        return;
    }
    const netprof_schema *schema = c.d.delta->schema;
    for (size_t i = 0; i < schema->counter_count; i++) {
        const netprof_counter *k = &schema->counters[i];
        const netprof_device *d = &schema->devices[k->device];
        const difference_row *row = &c.d.rows[i];
        bool is_signed = k->flags & NETPROF_SIGNED, gauge = row->flag == NETPROF_FLAG_GAUGE;
        if (gauge || !known_wanted(o, d->source, d->name, k->name)) continue;
        int64_t value = (int64_t)row->magnitude;
        ROW(to, EXPORT_REGION_COUNTERS, cell_text(path), cell_text(r->hosts[x->host].name),
            export_regions_rank_cell(r, x->rank), cell_text(d->source), cell_text(d->name), cell_text(k->name),
            export_regions_known_u64(row->compared && !is_signed, row->magnitude),
            row->compared && is_signed ? cell_i64(row->negative ? -value : value) : cell_none(),
            cell_f64(row->rate_per_s), cell_text(row->unit), cell_text(netprof_kind_name((netprof_kind)k->kind)),
            cell_text(netprof_flag_name((netprof_flag)row->flag)), export_regions_flag_cell(row->lower_bound));
    }
    regions_counters_free(&c);
}

static void export_regions_put_readings(export_sink *to, const regions *r, const regions_node *n, const char *path)
{
    static const char *const states[] = {"no counters", "too short", "uncertain", "known"};
    for (size_t i = 0; i < n->reading_count; i++) {
        const regions_reading *x = &n->readings[i];
        const regions_host *host = &r->hosts[x->host];
        bool known = x->state >= REGIONS_UNCERTAIN;
        ROW(to, EXPORT_REGION_NICS, cell_text(path), cell_text(host->name), export_regions_rank_cell(r, x->rank),
            cell_u64(x->readers), cell_text(states[x->state]), cell_u64(x->calls), cell_u64(x->unread),
            cell_u64(x->time_ns), cell_f64(x->open), export_regions_known_u64(known && x->bytes_known[0], x->bytes[0]),
            export_regions_known_u64(known && x->bytes_known[1], x->bytes[1]),
            known ? cell_f64(x->bytes_per_s[0]) : cell_none(), known ? cell_f64(x->bytes_per_s[1]) : cell_none(),
            x->line_bytes_per_s > 0 ? cell_f64(x->line_bytes_per_s) : cell_none(),
            known ? cell_f64(x->share) : cell_none(),
            known ? export_regions_device_cell(host, x->busiest) : cell_none(),
            known ? cell_f64(x->paused) : cell_none(),
            known ? export_regions_device_cell(host, x->most_paused) : cell_none(),
            export_regions_known_u64(known && x->retries_known, x->retries));
        if (known && export_wants(to, EXPORT_REGION_COUNTERS)) export_regions_put_counters(to, r, n, x, path);
    }
}

static void export_regions_put_findings(export_sink *to, const regions *r)
{
    for (size_t i = 0; i < r->finding_count; i++) {
        const regions_finding *x = &r->findings[i];
        char *path = regions_path(r, x->node), *part = x->part == REGIONS_NONE ? NULL : regions_path(r, x->part);
        ROW(to, EXPORT_REGION_FINDINGS, cell_text(path), cell_text(severity_name(x->severity)),
            cell_text(x->rule->name), cell_text(x->rule->class_name), cell_text(r->hosts[x->host].name),
            export_regions_device_cell(&r->hosts[x->host], x->device), cell_f64(x->value), cell_text(x->rule->unit),
            cell_text(x->claim), cell_text(x->rule->advice), cell_u64(x->places), cell_u64(x->hosts), cell_text(part));
        free(path);
        free(part);
    }
    for (size_t i = 0; i < r->note_count; i++) {
        const regions_note *x = &r->notes[i];
        char *path = x->node == REGIONS_NONE ? NULL : regions_path(r, x->node);
        ROW(to, EXPORT_REGION_NOTES, cell_text(severity_name(x->severity)), cell_text(x->text), cell_text(path),
            export_regions_rank_cell(r, x->rank));
        free(path);
    }
}

int export_regions(export_sink *sink, const char **paths, size_t count)
{
    rules set = {0};
    regions r = {0};
    netprof_error error;
    int code = inputs_rules(&set, export_options_of(sink)->rules);
    if (!code && regions_read(&r, paths, count, &(regions_options){.rules = &set}, &error))
        code = fail_error(*error.path ? NULL : paths[0], &error);
    for (size_t i = 0; !code && i < r.warning_count; i++)
        warn("%s: %s", safe(r.warnings[i].path), safe(r.warnings[i].text));
    if (!code && r.node_count && export_options_of(sink)->driver->events)
        warn("%s: the regions are sums, which have no place in time: of each process only when it ran is told "
             "(NETPROF_SERIES keeps regions over time, netprof regions shows the sums)",
             safe(paths[0]));
    if (!code) export_regions_put_ranks(sink, &r);
    for (size_t i = 0; !code && i < r.node_count && !export_failed(sink); i++) {
        char *path = regions_path(&r, i);
        export_regions_put_node(sink, &r, i, path);
        export_regions_put_cells(sink, &r, &r.nodes[i], path);
        export_regions_put_readings(sink, &r, &r.nodes[i], path);
        free(path);
    }
    if (!code) export_regions_put_findings(sink, &r);
    if (!code && r.damaged) code = EXIT_WORTH_FAILING;
    regions_free(&r);
    rules_free(&set);
    return code;
}
