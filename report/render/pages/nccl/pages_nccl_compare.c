// Two jobs.
#include "nccl_page.h"

#include "analysis/nccl/findings/nccl_compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COMPARED = 12 };

static const char *nccl_page_ratio(nccl_page *p, double ratio)
{
    return isfinite(ratio) ? arena_format(p->memory, TIMES "%s", number_fixed(ratio, 2).text) : NUMBER_UNKNOWN;
}

static double nccl_compared_change(const nccl_view_compared *c)
{
    if (isfinite(c->wire_ratio) && c->wire_ratio > 0) return fabs(log(c->wire_ratio));
    return -1;
}

static int nccl_compared_by_change(const void *a, const void *b)
{
    const nccl_view_compared *x = *(const nccl_view_compared *const *)a, *y = *(const nccl_view_compared *const *)b;
    double p = nccl_compared_change(x), q = nccl_compared_change(y);
    bool same[2] = {strcmp(x->verdict, "alike") == 0, strcmp(y->verdict, "alike") == 0};
    if (same[0] != same[1]) return same[0] ? 1 : -1;
    return p > q ? -1 : p < q ? 1 : (x > y) - (x < y);
}

static void nccl_page_add_dumbbells(nccl_page *p, const nccl_view_compared **order, size_t count)
{
    static const char *const heads[DUMBBELL_COLUMNS] = {"before", "after", TIMES " wire", TIMES " skew"};
    dumbbell_row rows[COMPARED];
    size_t n = 0;
    for (size_t i = 0; i < count && n < COMPARED; i++) {
        const nccl_view_compared *c = order[i];
        if (!(c->before_us > 0) || !(c->after_us > 0)) continue;
        rows[n++] = (dumbbell_row){.name = arena_format(p->memory, "%s %s", c->coll, nccl_page_size(p, c->size)),
                                   .gloss = "",
                                   .device = c->type,
                                   .unit = "ms",
                                   .before = c->before_us / 1e3,
                                   .after = c->after_us / 1e3,
                                   .low = NAN,
                                   .high = NAN,
                                   .strong = strcmp(c->verdict, "slower") == 0,
                                   .columns = {nccl_page_us(p, &(nccl_spread){.count = 1}, c->before_us),
                                               nccl_page_us(p, &(nccl_spread){.count = 1}, c->after_us),
                                               nccl_page_ratio(p, c->wire_ratio), nccl_page_ratio(p, c->skew_ratio)}};
    }
    if (n)
        document_add(p->doc,
                     chart_dumbbell(
                         (chart_head){"comparison", "Two jobs: median wire time",
                                      "hollow is before, filled after; orange: slower; what changed most stands first"},
                         heads, rows, n));
}

void nccl_page_add_comparison(nccl_page *p)
{
    enum { COLUMNS = 8 };
    static const table_column columns[COLUMNS] = {{"class", TABLE_TEXT, 0},
                                                  {"collective", TABLE_TEXT, 1},
                                                  {"size", TABLE_NUMBER, 0},
                                                  {"before", TABLE_NUMBER, 0},
                                                  {"after", TABLE_NUMBER, 0},
                                                  {TIMES " wire", TABLE_NUMBER, 0},
                                                  {TIMES " bus bandwidth", TABLE_NUMBER, 0},
                                                  {"", TABLE_TEXT, 0}};
    const nccl_view *v = p->v;
    size_t count = v->compared.count;
    if (!v->compared_known) return;
    const nccl_view_compared **order = arena_make(p->memory, count + 1, sizeof *order);
    sheet t = sheet_open(COLUMNS);
    for (size_t i = 0; i < count; i++)
        order[i] = &v->compared.items[i];
    if (count) qsort(order, count, sizeof *order, nccl_compared_by_change);
    nccl_page_add_dumbbells(p, order, count);
    document_note(p->doc, arena_format(p->memory,
                                       "%llu kinds slower, %llu faster, %llu alike. Slower or faster: the medians of "
                                       "the wire time differ by more than %.0f %%, and by more than "
                                       "chance allows (rank sum, |z| above %.0f).",
                                       (unsigned long long)v->slower, (unsigned long long)v->faster,
                                       (unsigned long long)v->alike, 100 * NCCL_COMPARE_CHANGE, NCCL_COMPARE_Z));
    for (size_t i = 0; i < count; i++) {
        const nccl_view_compared *c = order[i];
        sheet_text(&t, c->type);
        sheet_text(&t, c->coll);
        sheet_number(&t, number_binary((double)c->size));
        sheet_number(&t, number_duration(c->before_us / 1e6));
        sheet_number(&t, number_duration(c->after_us / 1e6));
        sheet_text(&t, nccl_page_ratio(p, c->wire_ratio));
        sheet_text(&t, nccl_page_ratio(p, c->bus_ratio));
        sheet_text(&t, c->verdict);
    }
    sheet_end(&t, p->doc, (chart_head){"compared", "All kinds compared", "median wire time"}, columns);
}
