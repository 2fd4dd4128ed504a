#include "nccl_compare.h"

#include "analysis/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *nccl_verdict_name(nccl_verdict v)
{
    static const char *const names[] = {"alike", "slower", "faster", "only before", "only after"};
    return names[v];
}

static int nccl_compare_by_key(const nccl *a, const nccl_kind *x, const nccl *b, const nccl_kind *y)
{
    int order = strcmp(nccl_class_name(x->type), nccl_class_name(y->type));
    if (!order) order = strcmp(a->colls[x->coll], b->colls[y->coll]);
    return order ? order : (x->size > y->size) - (x->size < y->size);
}

typedef struct sample {
    double value;
    bool after;
} sample;

static int nccl_compare_by_value(const void *a, const void *b)
{
    double x = ((const sample *)a)->value, y = ((const sample *)b)->value;
    return (x > y) - (x < y);
}

static size_t nccl_compare_collect(const nccl *n, const nccl_kind *kind, bool after, sample *to)
{
    size_t count = 0;
    for (size_t i = 0; i < n->series_count; i++) {
        const nccl_series *s = &n->series[i];
        if (s->kind != (uint32_t)(kind - n->kinds)) continue;
        for (size_t k = 0; k < s->instance_count; k++)
            to[count++] = (sample){(double)n->instances[s->first_instance + k].min_us, after};
    }
    return count;
}

// The rank-sum test (Mann and Whitney) by its normal approximation, ties corrected.
static void nccl_compare_rank_sum(const nccl_comparison *c, nccl_compared *row)
{
    double a = (double)row->before->instances, b = (double)row->after->instances, all = a + b, sum = 0, ties = 0;
    sample *samples = memory_array(NULL, (size_t)all, sizeof *samples);
    size_t count = nccl_compare_collect(c->before, row->before, false, samples);
    count += nccl_compare_collect(c->after, row->after, true, samples + count);
    qsort(samples, count, sizeof *samples, nccl_compare_by_value);
    for (size_t i = 0, k; i < count; i = k) {
        size_t after = 0;
        for (k = i; k < count && samples[k].value == samples[i].value; k++)
            after += samples[k].after;
        double same = (double)(k - i);
        sum += (double)after * ((double)i + (same + 1) / 2);
        ties += same * same * same - same;
    }
    free(samples);
    double spread = a * b / 12 * (all + 1 - ties / (all * (all - 1)));
    row->z = spread > 0 ? (sum - b * (all + 1) / 2) / sqrt(spread) : 0;
}

static void nccl_compare_row(const nccl_comparison *c, nccl_compared *row)
{
    row->wire_ratio = row->skew_ratio = row->bus_ratio = row->z = NAN;
    row->verdict = row->before ? NCCL_ONLY_BEFORE : NCCL_ONLY_AFTER;
    if (!row->before || !row->after) return;
    const nccl_spreads *x = &row->before->spreads, *y = &row->after->spreads;
    row->wire_ratio = x->wire_us.p50 > 0 ? y->wire_us.p50 / x->wire_us.p50 : NAN;
    row->skew_ratio = x->skew_us.p50 > 0 ? y->skew_us.p50 / x->skew_us.p50 : NAN;
    row->bus_ratio = x->bus_gbs.p50 > 0 ? y->bus_gbs.p50 / x->bus_gbs.p50 : NAN;
    nccl_compare_rank_sum(c, row);
    row->verdict = NCCL_ALIKE;
    if (row->wire_ratio > 1 + NCCL_COMPARE_CHANGE && row->z > NCCL_COMPARE_Z) row->verdict = NCCL_SLOWER;
    if (row->wire_ratio < 1 / (1 + NCCL_COMPARE_CHANGE) && row->z < -NCCL_COMPARE_Z) row->verdict = NCCL_FASTER;
}

void nccl_compare(nccl_comparison *c, const nccl *before, const nccl *after)
{
    size_t i = 0, k = 0;
    *c = (nccl_comparison){.before = before, .after = after};
    c->rows = memory_calloc(before->kind_count + after->kind_count, sizeof *c->rows);
    while (i < before->kind_count || k < after->kind_count) {
        nccl_compared *row = &c->rows[c->count++];
        int order = i == before->kind_count  ? 1
                    : k == after->kind_count ? -1
                                             : nccl_compare_by_key(before, &before->kinds[i], after, &after->kinds[k]);
        if (order <= 0) row->before = &before->kinds[i++];
        if (order >= 0) row->after = &after->kinds[k++];
        nccl_compare_row(c, row);
        c->slower += row->verdict == NCCL_SLOWER;
        c->faster += row->verdict == NCCL_FASTER;
        c->alike += row->verdict == NCCL_ALIKE;
    }
}

void nccl_compare_free(nccl_comparison *c)
{
    free(c->rows);
    *c = (nccl_comparison){0};
}
