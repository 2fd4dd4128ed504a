#include "job_columns.h"

#include "analysis/base/saturating_sum.h"
#include "analysis/base/stb_ds.h"
#include "job_bins.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int64_t job_ns_of(const job_report *r, double at_s)
{
    double since_ns = at_s * 1e9;
    if (!(fabs(since_ns) < 9e18)) return since_ns < 0 ? INT64_MIN : INT64_MAX;
    return sum_capped_signed(r->begin_ns, llround(since_ns));
}

job_column job_lane_span(const job_report *r, const job_lane *lane, double from_s, double to_s)
{
    job_column column = {NAN, NAN, NAN, NAN, JOB_NONE, JOB_NONE, 0};
    if (!lane || !(to_s > from_s)) return column;
    job_span span = job_bins_span(lane->bins, job_ns_of(r, from_s), job_ns_of(r, to_s));
    // The known time of a bin is spread over it: a column narrower than a bin knows its part.
    if (!(span.known_s >= 0.499 * fmin(to_s - from_s, r->end_s - from_s))) return column;
    column.mean = column.total = span.integral / span.known_s;
    column.low = span.low;
    column.high = span.high;
    column.nodes = 1;
    column.low_node = column.high_node = lane->node;
    return column;
}

void job_lane_columns(const job_report *r, const job_lane *lane, double from_s, double to_s, job_column *columns,
                      size_t count)
{
    double width = (to_s - from_s) / (double)count;
    for (size_t i = 0; i < count; i++)
        columns[i] = job_lane_span(r, lane, from_s + width * (double)i, from_s + width * (double)(i + 1));
}

double job_lane_amount(const job_report *r, const job_lane *lane, double from_s, double to_s)
{
    if (!lane || isnan(lane->total)) return NAN;
    int64_t from = job_ns_of(r, from_s), to = job_ns_of(r, to_s);
    double amount = job_bins_span(lane->bins, from, to).integral;
    from -= lane->bins->offset_ns;
    to -= lane->bins->offset_ns;
    for (size_t i = 0; i < lane->bins->skipped_count; i++) {
        const job_skipped *x = &lane->bins->skipped[i];
        int64_t left = x->from_ns > from ? x->from_ns : from, right = x->to_ns < to ? x->to_ns : to;
        if (right > left) amount += x->amount * (double)(right - left) / (double)(x->to_ns - x->from_ns);
    }
    return amount;
}

// A node's value joins the column of all.
static void job_join_column(job_column *all, const job_column *one, size_t node)
{
    if (isnan(one->mean)) return;
    if (!all->nodes || one->mean < all->low) {
        all->low = one->mean;
        all->low_node = node;
    }
    if (!all->nodes || one->mean > all->high) {
        all->high = one->mean;
        all->high_node = node;
    }
    all->total = all->nodes ? all->total + one->mean : one->mean;
    all->nodes++;
}

bool job_report_columns(const job_report *r, job_meter meter, size_t node, double from_s, double to_s,
                        job_column *columns, size_t count)
{
    double width = (to_s - from_s) / (double)count;
    size_t known = 0;
    for (size_t i = 0; i < r->node_count; i++)
        known += r->nodes[i].lanes[meter] != NULL;
    if (node != JOB_ALL_NODES) {
        job_lane_columns(r, r->nodes[node].lanes[meter], from_s, to_s, columns, count);
        return known > 0;
    }
    for (size_t c = 0; c < count; c++)
        columns[c] = (job_column){NAN, NAN, NAN, NAN, JOB_NONE, JOB_NONE, 0};
    // Node after node: what is known of one lies together in memory.
    for (size_t i = 0; i < r->node_count; i++)
        for (size_t c = 0; c < count && r->nodes[i].lanes[meter]; c++) {
            job_column one = job_lane_span(r, r->nodes[i].lanes[meter], from_s + width * (double)c,
                                           from_s + width * (double)(c + 1));
            job_join_column(&columns[c], &one, i);
        }
    for (size_t c = 0; c < count; c++) {
        job_column *all = &columns[c];
        if (all->nodes) all->mean = all->total / (double)all->nodes;
        if (job_meter_of(meter)->sum == JOB_AVERAGES)
            all->total = all->mean;
        else if (all->nodes < known)
            all->total = NAN;
    }
    return known > 0;
}

double job_mean_between(const job_report *r, job_meter meter, size_t node, double from_s, double to_s)
{
    job_column column;
    if (!(to_s > from_s)) return NAN;
    if (!job_report_columns(r, meter, node, from_s, to_s, &column, 1)) return NAN;
    return column.mean;
}

void job_event_columns(const job_report *r, const job_event *event, double from_s, double to_s, double *columns,
                       size_t count)
{
    double width = (to_s - from_s) / (double)count;
    for (size_t c = 0; c < count; c++) {
        double left = from_s + width * (double)c, right = left + width;
        bool watched = false;
        for (size_t i = 0; i < r->node_count && !watched; i++)
            watched = r->nodes[i].begin_s < right && r->nodes[i].end_s > left;
        columns[c] = watched ? 0 : NAN;
    }
    for (size_t i = 0; i < event->lane_count; i++)
        for (size_t c = 0; c < count; c++) {
            double left = from_s + width * (double)c, right = left + width;
            columns[c] += job_bins_span(event->lanes[i].bins, job_ns_of(r, left), job_ns_of(r, right)).integral;
        }
}

// ---- order of devices and nodes ----

static job_worst job_worst_of(const job_report *r, const job_lane *lane, size_t device, double window_s)
{
    job_worst worst = {device, NAN, 0, r->end_s};
    double step = fmax(r->bin_s, r->end_s / JOB_BINS);
    window_s = fmin(window_s, r->end_s);
    for (double at = 0; at <= r->end_s - window_s + step / 2; at += step) {
        double to = fmin(at + window_s, r->end_s), from = to - window_s;
        job_span span = job_bins_span(lane->bins, job_ns_of(r, from), job_ns_of(r, to));
        double mean = span.known_s >= 0.2 * (to - from) ? span.integral / span.known_s : NAN;
        if (isnan(mean) || mean <= worst.value) continue;
        worst = (job_worst){device, mean, from, to};
    }
    if (isnan(worst.value)) worst.value = lane->mean;
    return worst;
}

static int job_by_value(const void *a, const void *b)
{
    const job_worst *x = a, *y = b;
    if (x->value > y->value || x->value < y->value) return x->value > y->value ? -1 : 1;
    return x->device < y->device ? -1 : x->device > y->device;
}

size_t job_report_worst(const job_report *r, job_meter meter, double window_s, job_worst *worst, size_t count,
                        size_t *all)
{
    job_worst *list = NULL;
    for (size_t i = 0; i < r->device_count; i++)
        if (r->devices[i].lanes[meter] && r->devices[i].lanes[meter]->known_s > 0)
            arrput(list, job_worst_of(r, r->devices[i].lanes[meter], i, window_s));
    size_t found = arrlenu(list);
    if (found) qsort(list, found, sizeof *list, job_by_value);
    if (all) *all = found;
    if (count > found) count = found;
    if (count) memcpy(worst, list, count * sizeof *worst);
    arrfree(list);
    return count;
}

typedef struct rank_key {
    size_t node;
    severity severity;
    double distance;
} rank_key;

static int job_by_rank(const void *a, const void *b)
{
    const rank_key *x = a, *y = b;
    if (x->severity != y->severity) return x->severity > y->severity ? -1 : 1;
    if (x->distance > y->distance || x->distance < y->distance) return x->distance > y->distance ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static int job_by_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double job_median(double *values, size_t count)
{
    if (!count) return NAN;
    qsort(values, count, sizeof *values, job_by_double);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

void job_report_rank_nodes(const job_report *r, job_meter meter, size_t *order)
{
    rank_key *keys = NULL;
    double *means = NULL;
    for (size_t i = 0; i < r->node_count; i++)
        if (r->nodes[i].lanes[meter] && !isnan(r->nodes[i].lanes[meter]->mean))
            arrput(means, r->nodes[i].lanes[meter]->mean);
    double middle = job_median(means, arrlenu(means));
    for (size_t i = 0; i < r->node_count; i++) {
        const job_lane *lane = r->nodes[i].lanes[meter];
        double distance = lane ? fabs(lane->mean - middle) : NAN;
        arrput(keys, ((rank_key){i, r->nodes[i].severity, isnan(distance) ? 0 : distance}));
    }
    if (keys) qsort(keys, r->node_count, sizeof *keys, job_by_rank);
    for (size_t i = 0; i < r->node_count; i++)
        order[i] = keys[i].node;
    arrfree(keys);
    arrfree(means);
}
