#include "compare_chance.h"

#include "analysis/base/memory.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

double chance_splits(size_t healthy, size_t faulty)
{
    double splits = 1;
    for (size_t i = 1; i <= faulty; i++)
        splits = splits * (double)(healthy + i) / (double)i;
    return round(splits);
}

// ---- ranks ----

enum { EXACT_RUNS = 20 };

static int chance_by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

// Twice the rank of a value among sorted ones, so that equal ones share a whole number.
static size_t chance_rank_of(const double *sorted, size_t count, double value)
{
    size_t below = 0, equal = 0;
    for (size_t i = 0; i < count; i++) {
        below += sorted[i] < value;
        equal += sorted[i] >= value && sorted[i] <= value;
    }
    return 2 * below + equal + 1;
}

// ways[k * (most + 1) + s]: in how many ways k of the runs have ranks that sum up to s.
static double chance_exact(const size_t *ranks, size_t count, size_t taken, size_t sum, int direction)
{
    size_t most = 2 * count * taken;
    double *ways = memory_calloc((taken + 1) * (most + 1), sizeof *ways), far = 0, all = 0;
    ways[0] = 1;
    for (size_t i = 0; i < count; i++)
        for (size_t k = taken; k >= 1; k--)
            for (size_t s = most; s >= ranks[i]; s--)
                ways[k * (most + 1) + s] += ways[(k - 1) * (most + 1) + s - ranks[i]];
    for (size_t s = 0; s <= most; s++) {
        double here = ways[taken * (most + 1) + s];
        all += here;
        if (direction > 0 ? s >= sum : s <= sum) far += here;
    }
    free(ways);
    return far / all;
}

static double chance_approximate(const size_t *ranks, size_t count, size_t taken, size_t sum, int direction)
{
    double mean = 0, square = 0, n = (double)count, m = (double)taken;
    for (size_t i = 0; i < count; i++)
        mean += (double)ranks[i] / n;
    for (size_t i = 0; i < count; i++)
        square += ((double)ranks[i] - mean) * ((double)ranks[i] - mean) / n;
    double sigma = sqrt(square * m * (n - m) / (n - 1)), step = ((double)sum - m * mean) * (direction > 0 ? 1 : -1);
    return sigma > 0 ? 0.5 * erfc((step - 1) / sigma / sqrt(2)) : 1; // 1: half of a doubled rank's step
}

double chance_of_ranks(const double *healthy, size_t healthy_count, const double *faulty, size_t faulty_count,
                       int direction)
{
    size_t count = healthy_count + faulty_count, sum = 0;
    if (!healthy_count || !faulty_count) return NAN;
    double *sorted = memory_calloc(count, sizeof *sorted);
    size_t *ranks = memory_calloc(count, sizeof *ranks);
    memcpy(sorted, healthy, healthy_count * sizeof *sorted);
    memcpy(sorted + healthy_count, faulty, faulty_count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, chance_by_number);
    for (size_t i = 0; i < count; i++)
        ranks[i] = chance_rank_of(sorted, count, sorted[i]);
    for (size_t i = 0; i < faulty_count; i++)
        sum += chance_rank_of(sorted, count, faulty[i]);
    double share = count <= EXACT_RUNS ? chance_exact(ranks, count, faulty_count, sum, direction)
                                       : chance_approximate(ranks, count, faulty_count, sum, direction);
    free(ranks);
    free(sorted);
    return share;
}

// ---- means ----

// P(|T| > t) with whole degrees of freedom, by the finite sums (Abramowitz and Stegun 26.7.3 and 26.7.4).
double chance_of_student(double t, size_t freedom)
{
    double angle = atan(fabs(t) / sqrt((double)freedom)), cosine = cos(angle), sine = sin(angle);
    bool odd = freedom % 2;
    double term = odd ? cosine : 1, sum = freedom > 1 ? term : 0;
    for (size_t i = odd ? 3 : 2; i + 1 < freedom; i += 2) {
        term *= (double)(i - 1) / (double)i * cosine * cosine;
        sum += term;
    }
    double inside = odd ? 2 / M_PI * (angle + sine * sum) : sine * sum;
    return fmax(0, 1 - inside);
}

typedef struct chance_moments {
    double mean, squares; // squares: of the distances from the mean, summed
} chance_moments;

static chance_moments chance_moments_of(const double *values, size_t count)
{
    chance_moments m = {0, 0};
    for (size_t i = 0; i < count; i++)
        m.mean += values[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        m.squares += (values[i] - m.mean) * (values[i] - m.mean);
    return m;
}

double chance_of_means(const double *healthy, size_t healthy_count, const double *faulty, size_t faulty_count)
{
    size_t count = healthy_count + faulty_count;
    if (count < 3 || !healthy_count || !faulty_count) return NAN;
    chance_moments h = chance_moments_of(healthy, healthy_count), f = chance_moments_of(faulty, faulty_count);
    double spread = sqrt((h.squares + f.squares) / (double)(count - 2));
    double error = spread * sqrt(1 / (double)healthy_count + 1 / (double)faulty_count), step = fabs(f.mean - h.mean);
    if (!(error > 0)) return step > 0 ? 0 : 1;
    return chance_of_student(step / error, count - 2);
}

// ---- many quantities at once ----

enum { MOST_SPLITS = 2000 };

// The statistic of a split, signed: the distance of the means over their error. in[i]: is run i on the faulty side?
static double chance_statistic(const double *values, size_t runs, size_t faulty, const bool *in, double floor)
{
    double sum[2] = {0, 0}, square[2] = {0, 0}, n[2] = {(double)(runs - faulty), (double)faulty}, squares = 0;
    for (size_t r = 0; r < runs; r++) {
        double x = values[r] - values[0];
        sum[in[r]] += x;
        square[in[r]] += x * x;
    }
    for (int side = 0; side < 2; side++)
        squares += square[side] - sum[side] * sum[side] / n[side];
    double spread = sqrt(fmax(squares / (double)(runs - 2), floor * floor));
    return (sum[1] / n[1] - sum[0] / n[0]) / (spread * sqrt(1 / n[0] + 1 / n[1]));
}

static double chance_size(const chance_quantity *q, size_t runs, size_t faulty, const bool *in)
{
    double a = chance_statistic(q->values[0], runs, faulty, in, q->floor);
    if (!q->values[1]) return fabs(a);
    double b = chance_statistic(q->values[1], runs, faulty, in, q->floor);
    return a * b > 0 ? fmin(fabs(a), fabs(b)) : 0;
}

// The next choice of runs in order, as a counter with carries. False after the last.
static bool chance_next(size_t *chosen, size_t taken, size_t runs)
{
    size_t i = taken;
    while (i && chosen[i - 1] == runs - taken + i - 1)
        i--;
    if (!i) return false;
    chosen[i - 1]++;
    for (; i < taken; i++)
        chosen[i] = chosen[i - 1] + 1;
    return true;
}

static uint64_t chance_random(uint64_t *state) // xorshift64*
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d) >> 33;
}

static void chance_shuffle(size_t *order, size_t taken, size_t runs, uint64_t *state)
{
    for (size_t i = 0; i < taken; i++) {
        size_t k = i + (size_t)(chance_random(state) % (runs - i)), kept = order[i];
        order[i] = order[k];
        order[k] = kept;
    }
}

static double chance_largest(const chance_quantity *quantities, size_t count, size_t runs, size_t faulty,
                             const size_t *chosen, bool *in)
{
    double largest = 0;
    for (size_t r = 0; r < runs; r++)
        in[r] = false;
    for (size_t i = 0; i < faulty; i++)
        in[chosen[i]] = true;
    for (size_t q = 0; q < count; q++)
        largest = fmax(largest, chance_size(&quantities[q], runs, faulty, in));
    return largest;
}

// The largest statistic of each split, smallest first; the runs as they are count as one of the splits.
static size_t chance_all_splits(const chance_quantity *quantities, size_t count, size_t runs, size_t faulty,
                                double *largest)
{
    bool all = chance_splits(runs - faulty, faulty) <= MOST_SPLITS;
    size_t *order = memory_calloc(runs, sizeof *order), made = 0;
    bool *in = memory_calloc(runs, sizeof *in), more = true;
    uint64_t state = UINT64_C(0x9e3779b97f4a7c15); // the same splits each time
    for (size_t i = 0; i < runs; i++)
        order[i] = all ? i : runs - 1 - i; // at random: the first is the one that was measured
    while (more) {
        largest[made++] = chance_largest(quantities, count, runs, faulty, order, in);
        more = all ? chance_next(order, faulty, runs) : made < MOST_SPLITS;
        if (!all) chance_shuffle(order, faulty, runs, &state);
    }
    qsort(largest, made, sizeof *largest, chance_by_number);
    free(order);
    free(in);
    return made;
}

void chance_of_many(const chance_quantity *quantities, size_t count, size_t healthy, size_t faulty, double limit,
                    bool *beyond)
{
    size_t runs = healthy + faulty;
    memset(beyond, 0, count * sizeof *beyond);
    if (!count || !healthy || !faulty || limit * chance_splits(healthy, faulty) < 1) return;
    double *largest = memory_calloc(MOST_SPLITS, sizeof *largest);
    bool *in = memory_calloc(runs, sizeof *in);
    size_t made = chance_all_splits(quantities, count, runs, faulty, largest);
    size_t allowed = (size_t)(limit * (double)made); // so many splits may reach what is beyond chance
    for (size_t r = healthy; r < runs; r++)
        in[r] = true;
    for (size_t q = 0; q < count; q++) {
        double own = chance_size(&quantities[q], runs, faulty, in);
        size_t reached = 0;
        while (reached < made && largest[made - 1 - reached] >= own * (1 - 1e-9))
            reached++;
        beyond[q] = own > 0 && reached <= allowed;
    }
    free(largest);
    free(in);
}
