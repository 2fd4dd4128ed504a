#include "distribution.h"

#include "stb_ds.h"

#include <math.h>
#include <stdlib.h>

enum { DISTRIBUTION_EXACT = 1000, DISTRIBUTION_PARTS = 256, DISTRIBUTION_EXPONENTS = 2200 };

// Exponent, then 256 parts of the power of two; negative for negative values, 0 for 0.
static int32_t distribution_key(double value)
{
    int exponent;
    if (value == 0) return 0;
    double fraction = frexp(fabs(value), &exponent); // 0.5 to below 1
    int32_t part = (int32_t)((fraction - 0.5) * 2 * DISTRIBUTION_PARTS);
    int32_t key = 1 + (exponent + DISTRIBUTION_EXPONENTS / 2) * DISTRIBUTION_PARTS + part;
    return value < 0 ? -key : key;
}

// The upper end of a bucket.
static double distribution_end(int32_t key)
{
    if (!key) return 0;
    int32_t place = abs(key) - 1;
    int exponent = place / DISTRIBUTION_PARTS - DISTRIBUTION_EXPONENTS / 2;
    double part = place % DISTRIBUTION_PARTS + (key > 0);
    return ldexp(0.5 + part / (2 * DISTRIBUTION_PARTS), exponent) * (key > 0 ? 1 : -1);
}

static void distribution_count(distribution *d, double value)
{
    int32_t key = distribution_key(value);
    ptrdiff_t i = hmgeti(d->buckets, key);
    if (i >= 0)
        d->buckets[i].value++;
    else
        hmput(d->buckets, key, 1);
}

void distribution_add(distribution *d, double value)
{
    if (isnan(value)) return;
    if (isinf(value)) value = copysign(1.7976931348623157e308, value);
    if (!d->count || value < d->least) d->least = value;
    if (!d->count || value > d->most) d->most = value;
    if (++d->count <= DISTRIBUTION_EXACT) {
        arrput(d->values, value);
        return;
    }
    for (size_t i = 0; i < arrlenu(d->values); i++)
        distribution_count(d, d->values[i]);
    arrfree(d->values);
    distribution_count(d, value);
}

static int distribution_value_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int distribution_bucket_order(const void *a, const void *b)
{
    int32_t x = ((const distribution_bucket *)a)->key, y = ((const distribution_bucket *)b)->key;
    return (x > y) - (x < y);
}

static double distribution_of_buckets(const distribution *d, uint64_t place)
{
    distribution_bucket *sorted = NULL;
    uint64_t sum = 0;
    double value = d->most;
    for (size_t i = 0; i < hmlenu(d->buckets); i++)
        arrput(sorted, d->buckets[i]);
    qsort(sorted, arrlenu(sorted), sizeof *sorted, distribution_bucket_order);
    for (size_t i = 0; i < arrlenu(sorted); i++) {
        sum += sorted[i].value;
        if (sum < place) continue;
        value = distribution_end(sorted[i].key);
        break;
    }
    arrfree(sorted);
    return value < d->least ? d->least : value > d->most ? d->most : value;
}

double distribution_percentile(distribution *d, double share)
{
    double exact = share * (double)d->count;
    uint64_t place = (uint64_t)exact;
    if (!d->count) return NAN;
    if ((double)place < exact) place++;
    if (place < 1) place = 1;
    if (!d->values) return distribution_of_buckets(d, place);
    qsort(d->values, arrlenu(d->values), sizeof *d->values, distribution_value_order);
    return d->values[place <= d->count ? place - 1 : d->count - 1];
}

bool distribution_is_exact(const distribution *d)
{
    return d->count <= DISTRIBUTION_EXACT;
}

void distribution_free(distribution *d)
{
    arrfree(d->values);
    hmfree(d->buckets);
    *d = (distribution){0};
}
