#include "comparer.h"

#include "analysis/base/stb_ds.h"
#include "analysis/base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int comparer_by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double comparison_median(double *values, size_t count)
{
    if (!count) return NAN;
    qsort(values, count, sizeof *values, comparer_by_number);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

comparison_range comparison_range_of(double *values, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i])) values[kept++] = values[i];
    double median = comparison_median(values, kept);
    return (comparison_range){median, kept ? values[0] : NAN, kept ? values[kept - 1] : NAN};
}

size_t comparer_source_end(const comparison *c, size_t first)
{
    size_t i = first;
    while (i < c->device_count && strcmp(c->devices[i].source, c->devices[first].source) == 0)
        i++;
    return i;
}

bool comparer_is_gauge(const netprof_counter *counter)
{
    return counter->kind == NETPROF_KIND_GAUGE || counter->kind == NETPROF_KIND_STATE;
}

void comparer_say(comparison *c, severity s, comparison_subject subject, const char *name, size_t device, char *text)
{
    comparison_sentence made = {.severity = s,
                                .text = text,
                                .subject = subject,
                                .rule = name,
                                .device = device,
                                .cost_s = NAN,
                                .order = c->sentence_count};
    if (!text) return;
    arrput(c->sentences, made);
    c->sentence_count = arrlenu(c->sentences);
}

words_text comparer_spread_text(double chance)
{
    // So far does a handful of runs tell how they vary; beyond it a figure would be that of the formula, not of the runs.
    static const double least = 1e-3;
    words_text text;
    if (chance >= 0.01)
        snprintf(text.text, sizeof text.text, "%.40s of such comparisons", words_share(chance).text);
    else if (chance > least)
        snprintf(text.text, sizeof text.text, "1 of %.40s such comparisons", words_count(round(1 / chance)).text);
    else
        snprintf(text.text, sizeof text.text, "fewer than 1 of %.40s such comparisons", words_count(1 / least).text);
    return text;
}

words_text comparer_splits_text(const comparison *c, double chance)
{
    words_text text = {""};
    double count = fmax(1, round(chance * c->splits));
    if (c->splits <= 1e5)
        snprintf(text.text, sizeof text.text, "%.0f of %.0f splits", count, c->splits);
    else if (chance > 1e-6)
        snprintf(text.text, sizeof text.text, "1 of %.40s splits", words_count(1 / chance).text);
    else
        snprintf(text.text, sizeof text.text, "fewer than 1 of a million splits");
    return text;
}

words_text comparer_bytes_text(double bytes)
{
    return words_quantity(bytes, "B");
}

words_text comparer_rate_text(double bytes_per_s)
{
    return words_quantity(bytes_per_s, "B/s");
}

void comparer_append_range(char **text, const comparison_range *r, words_text (*words)(double))
{
    const words_text low = words(r->min), high = words(r->max);
    text_append(text, "%s", words(r->median).text);
    if (r->min < r->max && strcmp(low.text, high.text) != 0) text_append(text, " (%s to %s)", low.text, high.text);
}

void comparer_append_instead(char **text, const comparison_range sides[COMPARISON_SIDES], words_text (*words)(double))
{
    comparer_append_range(text, &sides[COMPARISON_FAULTY], words);
    text_append(text, " instead of ");
    comparer_append_range(text, &sides[COMPARISON_HEALTHY], words);
}
