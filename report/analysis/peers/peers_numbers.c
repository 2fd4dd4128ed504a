#include "peers_numbers.h"

#include <math.h>

// Own: alike devices that share work differ by about 3 %; worth as much as four more of them.
static const double peers_usual = 0.03, peers_usual_freedom = 4;

static void peers_swap(double *a, double *b)
{
    double t = *a;
    *a = *b;
    *b = t;
}

// Puts the value of rank k in its place, smaller ones before it (Hoare's selection).
static void peers_select(double *v, size_t count, size_t k)
{
    size_t low = 0, high = count - 1;
    while (low < high) {
        double pivot = v[low + (high - low) / 2];
        size_t i = low, j = high;
        for (;;) {
            while (v[i] < pivot)
                i++;
            while (v[j] > pivot)
                j--;
            if (i >= j) break;
            peers_swap(&v[i++], &v[j--]);
        }
        if (k <= j)
            high = j;
        else
            low = j + 1;
    }
}

double peers_median(double *values, size_t count)
{
    if (!count) return NAN;
    size_t middle = count / 2;
    peers_select(values, count, middle);
    if (count % 2) return values[middle];
    double below = values[0];
    for (size_t i = 1; i < middle; i++)
        below = fmax(below, values[i]);
    return (below + values[middle]) / 2;
}

// The incomplete beta function by Lentz's continued fraction.
static double peers_beta_fraction(double a, double b, double x)
{
    enum { STEPS = 300 };
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double h = d;
    for (int m = 1; m <= STEPS; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 + even * d, c = 1 + even / c;
        d = 1 / (fabs(d) < tiny ? tiny : d), c = fabs(c) < tiny ? tiny : c;
        h *= d * c;
        d = 1 + odd * d, c = 1 + odd / c;
        d = 1 / (fabs(d) < tiny ? tiny : d), c = fabs(c) < tiny ? tiny : c;
        h *= d * c;
        if (fabs(d * c - 1) < 1e-12) break;
    }
    return h;
}

static double peers_beta(double a, double b, double x)
{
    if (!(x > 0)) return 0;
    if (x >= 1) return 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2)) return front * peers_beta_fraction(a, b, x) / a;
    return 1 - front * peers_beta_fraction(b, a, 1 - x) / b;
}

double peers_student(double t, double freedom)
{
    if (isnan(t) || !(freedom > 0)) return 1;
    if (freedom > 1e5) return erfc(fabs(t) / sqrt(2));
    return peers_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double peers_fisher(double ratio, double freedom, double of)
{
    if (!(ratio > 0 && freedom > 0 && of > 0)) return 1;
    return peers_beta(of / 2, freedom / 2, of / (of + freedom * ratio));
}

peers_sum peers_sum_of(const double *values, size_t count, const bool *without)
{
    peers_sum s = {0, 0, 0};
    double squares = 0;
    for (size_t i = 0; i < count; i++) {
        if ((without && without[i]) || isnan(values[i])) continue;
        s.count++;
        double step = values[i] - s.mean;
        s.mean += step / s.count;
        squares += step * (values[i] - s.mean);
    }
    s.variance = s.count > 1 ? squares / (s.count - 1) : 0;
    return s;
}

peers_error peers_error_of(double variance, double others, double noise, double noise_freedom)
{
    double freedom = fmax(others - 1, 0), chance = 1 + 1.3 * sqrt(2 / fmax(freedom, 1)); // one in ten is above
    double more = fmax(variance - noise * chance, 0);
    peers_error e = {.noise = noise, .noise_freedom = fmax(noise_freedom, 1)};
    e.between_freedom = freedom + peers_usual_freedom;
    e.between = (freedom * more + peers_usual_freedom * peers_usual * peers_usual) / e.between_freedom;
    return e;
}

// Welch and Satterthwaite: how many degrees of freedom a sum of two variances has.
double peers_chance(double difference, const peers_error *e, double others)
{
    double all = e->noise + e->between;
    double freedom =
        all * all / (e->noise * e->noise / e->noise_freedom + e->between * e->between / e->between_freedom);
    return peers_student(difference / sqrt(all * (1 + 1 / fmax(others, 1))), freedom);
}

// Own: how often a healthy group may be accused. The larger the group, the surer it can be; of three hardly ever.
double peers_chance_most(size_t count)
{
    return count < 4 ? 2e-5 : 1.6e-4 / (double)count;
}
