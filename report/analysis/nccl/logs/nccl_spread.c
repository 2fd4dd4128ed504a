#include "nccl_spread.h"

#include <math.h>

static void spread_swap(double *a, double *b)
{
    double x = *a;
    *a = *b;
    *b = x;
}

static void spread_insertion_sort(double *v, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        double x = v[i];
        size_t k = i;
        for (; k && v[k - 1] > x; k--)
            v[k] = v[k - 1];
        v[k] = x;
    }
}

static void spread_sift(double *v, size_t i, size_t n)
{
    for (size_t k; (k = 2 * i + 1) < n; i = k) {
        if (k + 1 < n && v[k + 1] > v[k]) k++;
        if (v[i] >= v[k]) return;
        spread_swap(&v[i], &v[k]);
    }
}

static void spread_heap_sort(double *v, size_t n)
{
    for (size_t i = n / 2; i-- > 0;)
        spread_sift(v, i, n);
    while (n > 1) {
        spread_swap(&v[0], &v[--n]);
        spread_sift(v, 0, n);
    }
}

// Splits around the median of three; v[0 .. result] <= v[result + 1 .. n - 1], both not empty.
static size_t spread_partition(double *v, size_t n)
{
    if (v[n / 2] < v[0]) spread_swap(&v[n / 2], &v[0]);
    if (v[n - 1] < v[0]) spread_swap(&v[n - 1], &v[0]);
    if (v[n - 1] < v[n / 2]) spread_swap(&v[n - 1], &v[n / 2]);
    double pivot = v[n / 2];
    size_t i = 0, k = n - 1;
    for (;;) {
        while (v[i] < pivot)
            i++;
        while (v[k] > pivot)
            k--;
        if (i >= k) return k;
        spread_swap(&v[i++], &v[k--]);
    }
}

// Quicksort without calls of a comparison; when it goes too deep, heap sort.
static void spread_sort(double *v, size_t n, unsigned depth)
{
    while (n > 24) {
        if (!depth--) {
            spread_heap_sort(v, n);
            return;
        }
        size_t left = spread_partition(v, n) + 1;
        if (left < n - left) {
            spread_sort(v, left, depth);
            v += left;
            n -= left;
        } else {
            spread_sort(v + left, n - left, depth);
            n = left;
        }
    }
    spread_insertion_sort(v, n);
}

// Of sorted values.
static double spread_quantile(const double *sorted, size_t count, double q)
{
    if (!count) return NAN;
    double place = q * (double)(count - 1), whole = floor(place);
    size_t i = (size_t)whole;
    if (i + 1 >= count) return sorted[count - 1];
    return sorted[i] + (sorted[i + 1] - sorted[i]) * (place - whole);
}

double nccl_median_of(double *values, size_t count)
{
    spread_sort(values, count, 64);
    return spread_quantile(values, count, 0.5);
}

nccl_spread nccl_spread_of(double *values, size_t count)
{
    nccl_spread s = {.count = count};
    double sum = 0, squares = 0;
    spread_sort(values, count, 64);
    const struct {
        double *to, q;
    } quantiles[] = {{&s.min, 0},    {&s.p5, 0.05},  {&s.p25, 0.25}, {&s.p50, 0.5},
                     {&s.p75, 0.75}, {&s.p95, 0.95}, {&s.p99, 0.99}, {&s.max, 1}};
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++)
        *quantiles[i].to = spread_quantile(values, count, quantiles[i].q);
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    s.mean = count ? sum / (double)count : NAN;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - s.mean) * (values[i] - s.mean);
    s.sd = count > 1 ? sqrt(squares / (double)(count - 1)) : NAN;
    return s;
}
