#include "pages_time.h"
#include "analysis/base/words.h"
#include "render/base/number.h"

#include <math.h>
#include <string.h>

axes_scale pages_time_axis(const pages_time *t)
{
    double to_s = t->to_s > t->from_s ? t->to_s : t->from_s + 1;
    return (axes_scale){
        .axis = {t->from_s, to_s, false, false}, .format = AXES_TIME, .unit = "", .wall_ns = t->wall_ns};
}

double pages_time_column_s(const pages_time *t)
{
    return (t->to_s - t->from_s) / (double)t->columns;
}

double *pages_time_middles(arena *a, const pages_time *t)
{
    double *x = arena_make(a, t->columns, sizeof *x);
    for (size_t k = 0; k < t->columns; k++)
        x[k] = t->from_s + (t->to_s - t->from_s) * ((double)k + .5) / (double)t->columns;
    return x;
}

const axes_span *pages_time_gaps(arena *a, const pages_time *t, const bool *known, size_t *count)
{
    axes_span *gaps = arena_make(a, t->columns / 2 + 1, sizeof *gaps);
    double column_s = pages_time_column_s(t);
    *count = 0;
    for (size_t k = 0; k < t->columns; k++) {
        if (known[k]) continue;
        double from = t->from_s + column_s * (double)k;
        if (k && !known[k - 1])
            gaps[*count - 1].to = from + column_s;
        else
            gaps[(*count)++] = (axes_span){from, from + column_s, "no samples", INK_NONE};
    }
    return gaps;
}

pages_band pages_band_of(arena *a, const pages_time *t, const double *const *rows, size_t count)
{
    double *all = arena_make(a, 3 * t->columns, sizeof *all);
    pages_band b = {all, all + t->columns, all + 2 * t->columns};
    for (size_t k = 0; k < t->columns; k++) {
        double sum = 0;
        size_t known = 0;
        b.low[k] = b.high[k] = NAN;
        for (size_t i = 0; i < count; i++) {
            double value = rows[i][k];
            if (isnan(value)) continue;
            sum += value;
            b.low[k] = fmin(value, b.low[k]);
            b.high[k] = fmax(value, b.high[k]);
            known++;
        }
        b.mean[k] = known ? sum / (double)known : NAN;
    }
    return b;
}

lines_curve pages_band_curve(const pages_band *b, size_t rows, theme_ink ink, theme_ink pale)
{
    bool many = rows > 1;
    return (lines_curve){.label = "",
                         .ink = ink,
                         .pale = pale,
                         .y = b->mean,
                         .low = many ? b->low : NULL,
                         .high = many ? b->high : NULL};
}

lines_style pages_time_lines(arena *a, const pages_time *t)
{
    return (lines_style){
        .x = pages_time_middles(a, t), .count = t->columns, .axis = pages_time_axis(t), .x_head = "seconds"};
}

lines_panel pages_time_panel(const char *label, const char *below, axes_format format, const char *unit,
                             const lines_curve *curves, size_t count)
{
    return (lines_panel){.label = label,
                         .below = below,
                         .format = format,
                         .unit = unit,
                         .curves = curves,
                         .curve_count = count,
                         .limit = NAN};
}

static bool pages_time_is_free(const char *label, const events_row *above, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(above[i].label, label) == 0) return false;
    return true;
}

const char *pages_time_event_label(arena *a, const char *name, const char *words, const char *counter,
                                   const events_row *above, size_t count, size_t room)
{
    size_t clause = strcspn(words, ":;"), cut = clause <= room ? clause : strcspn(words, ":;(");
    if (name && pages_time_is_free(name, above, count)) return name;
    while (cut && words[cut - 1] == ' ')
        cut--;
    if (!cut || cut > room) return counter;
    const char *label = arena_format(a, "%.*s", (int)cut, words);
    return pages_time_is_free(label, above, count) ? label : counter;
}
