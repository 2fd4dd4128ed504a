#include "spread.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>

enum { SPREAD_LEAST_FOR_OUTLIERS = 5 };

static int spread_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double spread_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, spread_compare);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static double spread_mean(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum / (double)count;
}

static double spread_deviation(const double *values, size_t count, double mean)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (values[i] - mean) * (values[i] - mean);
    return count > 1 ? sqrt(sum / (double)(count - 1)) : NAN;
}

// For normal values both are their standard deviation. The values become their distances.
static double spread_width(double *values, size_t count, double median)
{
    static const double of_median = 1.4826, of_mean = 1.2533;
    for (size_t i = 0; i < count; i++)
        values[i] = fabs(values[i] - median);
    double middle = spread_median(values, count);
    return middle > 0 ? of_median * middle : of_mean * spread_mean(values, count);
}

spread spread_of(const double *values, size_t count)
{
    spread s = {.mean = NAN, .deviation = NAN, .standard_error = NAN, .median = NAN, .width = NAN};
    double *known = memory_calloc(count + 1, sizeof *known);
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i])) known[s.count++] = values[i];
    s.least = s.most = NAN;
    if (s.count) {
        s.mean = spread_mean(known, s.count);
        s.deviation = spread_deviation(known, s.count, s.mean);
        s.standard_error = s.deviation / sqrt((double)s.count);
        s.median = spread_median(known, s.count); // sorts them
        s.least = known[0];
        s.most = known[s.count - 1];
        if (s.count >= SPREAD_LEAST_FOR_OUTLIERS) s.width = spread_width(known, s.count, s.median);
    }
    free(known);
    return s;
}

bool spread_is_outlier(const spread *s, double value)
{
    return s->width > 0 && fabs(value - s->median) > 3.5 * s->width;
}
