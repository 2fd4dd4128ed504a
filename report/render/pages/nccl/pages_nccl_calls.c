// Every call, by families: kinds of one class and collective.
#include "nccl_page.h"
#include "analysis/base/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FAMILIES = 6, SIZES = 6 };

static int nccl_family_by_time(const void *a, const void *b)
{
    const nccl_family *x = a, *y = b;
    if (x->time_us != y->time_us) return x->time_us < y->time_us ? 1 : -1;
    int order = strcmp(x->type, y->type);
    return order ? order : strcmp(x->coll, y->coll);
}

static int nccl_kind_by_size(const void *a, const void *b)
{
    const nccl_view_kind *x = *(const nccl_view_kind *const *)a, *y = *(const nccl_view_kind *const *)b;
    if (x->size != y->size) return x->size < y->size ? -1 : 1;
    return (x > y) - (x < y);
}

nccl_family *nccl_families_of(nccl_page *p, size_t *count)
{
    const nccl_view *v = p->v;
    nccl_family *all = arena_make(p->memory, v->kinds.count + 1, sizeof *all);
    size_t n = 0;
    for (size_t i = 0; i < v->kinds.count && i < NCCL_VIEW_KINDS; i++) {
        const nccl_view_kind *k = &v->kinds.items[i];
        size_t at = 0;
        while (at < n && (strcmp(all[at].type, k->type) != 0 || strcmp(all[at].coll, k->coll) != 0))
            at++;
        if (at == n) {
            all[n++] = (nccl_family){.type = k->type, .meaning = k->meaning, .coll = k->coll};
            all[at].kinds = arena_make(p->memory, v->kinds.count + 1, sizeof *all[at].kinds);
        }
        all[at].kinds[all[at].count++] = k;
        all[at].time_us += (double)k->time_us;
    }
    for (size_t i = 0; i < n; i++)
        qsort(all[i].kinds, all[i].count, sizeof *all[i].kinds, nccl_kind_by_size);
    if (n) qsort(all, n, sizeof *all, nccl_family_by_time);
    *count = n;
    return all;
}

// Of more sizes than have a place those with the most time, by size.
static size_t nccl_family_choose_sizes(nccl_page *p, const nccl_family *f, size_t most, const nccl_view_kind ***chosen)
{
    const nccl_view_kind **all = arena_copy(p->memory, f->kinds, f->count, sizeof *all);
    size_t count = f->count;
    while (count > most) {
        size_t least = 0;
        for (size_t i = 1; i < count; i++)
            if (all[i]->time_us < all[least]->time_us) least = i;
        memmove(all + least, all + least + 1, (count - least - 1) * sizeof *all);
        count--;
    }
    *chosen = all;
    return count;
}

void nccl_family_panels(nccl_page *p, const nccl_view_kind **kinds, size_t count, nccl_panel *panels)
{
    for (size_t i = 0; i < count; i++)
        panels[i] =
            (nccl_panel){arena_format(p->memory, "%s, %s %s", nccl_page_size(p, kinds[i]->size),
                                      number_grouped(kinds[i]->calls).text, words_noun(kinds[i]->calls, "call").text),
                         kinds[i]};
}

static boxplot_row nccl_kind_box(nccl_page *p, const nccl_view_kind *k)
{
    const nccl_spread *s = k->has_bus ? &k->bus_gbs : &k->wire_us;
    double factor = k->has_bus ? 1e9 : 1e-6;
    return (boxplot_row){.label = nccl_page_size(p, k->size),
                         .low = s->count ? s->p5 * factor : NAN,
                         .q1 = s->p25 * factor,
                         .median = s->count ? s->p50 * factor : NAN,
                         .q3 = s->p75 * factor,
                         .high = s->count ? s->p95 * factor : NAN,
                         .samples = s->count,
                         .ink = INK_RECEIVED};
}

chart nccl_family_boxes(nccl_page *p, chart_head head, const nccl_view_kind **kinds, size_t count, double height)
{
    boxplot_row *rows = arena_make(p->memory, count + 1, sizeof *rows);
    bool bus = count && kinds[0]->has_bus;
    for (size_t i = 0; i < count; i++)
        rows[i] = nccl_kind_box(p, kinds[i]);
    const boxplot_style style = {.y_scale = {.axis = {0, 0, false, false},
                                             .format = bus ? AXES_SI : AXES_DURATION,
                                             .unit = bus ? "B/s" : "",
                                             .title = bus ? "Bus bandwidth" : "Time of a call"},
                                 .low_name = "p5",
                                 .high_name = "p95",
                                 .height = height};
    return chart_boxplot(head, &style, rows, count);
}

bool nccl_kind_histogram(nccl_page *p, chart_head head, const nccl_view_kind *k, double height, chart *x)
{
    size_t bins = k->bins.count, first = 0;
    double factor = k->has_bus ? 1e9 : 1e-6, low = k->low * factor, high = k->high * factor, sum = 0;
    double *edges = arena_make(p->memory, bins + 3, sizeof *edges),
           *counts = arena_make(p->memory, bins + 2, sizeof *counts);
    if (!bins || !isfinite(low) || !isfinite(high) || !isfinite(high - low)) return false;
    if (!(high > low)) low *= .95, high = low > 0 ? low / .95 * 1.05 : 1; // all calls alike: one bin
    if (bins == 1) { // room beside a single bar, for it not to be a field
        double width = high - low;
        first = low >= width, bins = 2 + first;
        low -= (double)first * width, high += width;
    }
    for (size_t i = 0; i <= bins; i++)
        edges[i] = low + (high - low) * (double)i / (double)bins;
    for (size_t i = 0; i < k->bins.count; i++)
        sum += counts[first + i] = isfinite(k->bins.items[i].count) ? fmax(k->bins.items[i].count, 0) : 0;
    if (!(sum > 0) || !(edges[bins] > edges[0])) return false;
    const distribution_style style = {.edges = edges,
                                      .bins = bins,
                                      .x_scale = {.format = k->has_bus ? AXES_SI : AXES_DURATION,
                                                  .unit = k->has_bus ? "B/s" : "",
                                                  .title = k->has_bus ? "Bus bandwidth" : "Time of a call"},
                                      .what = "calls",
                                      .height = height};
    const distribution_set set = {.label = k->has_bus ? "share of calls, by bus bandwidth from the wire time"
                                                      : "share of calls, by wire time",
                                  .ink = INK_RECEIVED,
                                  .counts = counts};
    *x = chart_distribution(head, &style, &set, NULL);
    return true;
}

// The box plot beside the percentiles of the time on the wire.
static void nccl_page_add_spread(nccl_page *p, const nccl_family *f, size_t number, const nccl_view_kind **kinds,
                                 size_t count)
{
    enum { COLUMNS = 7 };
    static const table_column columns[COLUMNS] = {
        {"size", TABLE_NUMBER, 1}, {"calls", TABLE_NUMBER, 0}, {"wire p5", TABLE_NUMBER, 0}, {"p50", TABLE_NUMBER, 0},
        {"p95", TABLE_NUMBER, 0},  {"p99", TABLE_NUMBER, 0},   {"skew p50", TABLE_NUMBER, 0}};
    sheet t = sheet_open(COLUMNS);
    bool one_rank = strcmp(f->type, nccl_class_name(NCCL_SINGLE_RANK)) == 0;
    for (size_t i = 0; i < count; i++) {
        const nccl_view_kind *k = kinds[i];
        const char *row[COLUMNS] = {nccl_page_size(p, k->size),
                                    nccl_page_grouped(p, k->calls),
                                    nccl_page_us(p, &k->wire_us, k->wire_us.p5),
                                    nccl_page_us(p, &k->wire_us, k->wire_us.p50),
                                    nccl_page_us(p, &k->wire_us, k->wire_us.p95),
                                    nccl_page_us(p, &k->wire_us, k->wire_us.p99),
                                    one_rank ? NUMBER_UNKNOWN : nccl_page_us(p, &k->skew_us, k->skew_us.p50)};
        sheet_row(&t, row);
    }
    chart_head box = {arena_format(p->memory, "box-%zu", number), "Spread",
                      count && kinds[0]->has_bus ? "bus bandwidth: p5, quartiles, p95"
                                                 : "wire time: p5, quartiles, p95"};
    chart_head table = {arena_format(p->memory, "percentiles-%zu", number), "Percentiles", "of the time on the wire"};
    document_beside(p->doc, nccl_family_boxes(p, box, kinds, count, 72), sheet_chart(&t, table, columns), .48);
}

static void nccl_page_add_family(nccl_page *p, const nccl_family *f, size_t number)
{
    const nccl_view_kind **kinds;
    nccl_panel panels[SIZES];
    size_t count = nccl_family_choose_sizes(p, f, SIZES, &kinds);
    const char *left =
        f->count > count ? arena_format(p->memory, ", the %zu of %zu sizes with the most time", count, f->count) : "";
    nccl_family_panels(p, kinds, count, panels);
    document_add(p->doc,
                 nccl_chart_panels((chart_head){arena_format(p->memory, "calls-%zu", number),
                                                arena_format(p->memory, "%s, %s", f->coll, f->type),
                                                arena_format(p->memory, "every call over the sequence number (%s)%s",
                                                             f->meaning, left)},
                                   panels, count));
    document_add(p->doc, nccl_chart_histograms(
                             (chart_head){arena_format(p->memory, "histograms-%zu", number), "",
                                          arena_format(p->memory, "share of calls by %s",
                                                       count && kinds[0]->has_bus ? "bus bandwidth" : "wire time")},
                             panels, count));
    nccl_page_add_spread(p, f, number, kinds, count);
}

void nccl_page_add_families(nccl_page *p)
{
    size_t count, shown;
    nccl_family *all = nccl_families_of(p, &count);
    if (!count) return;
    shown = count < FAMILIES ? count : FAMILIES;
    document_part(p->doc, "Every call");
    for (size_t i = 0; i < shown; i++)
        nccl_page_add_family(p, &all[i], i + 1);
    if (count > shown || p->v->kinds_left)
        document_note(p->doc,
                      arena_format(p->memory,
                                   "%zu of %zu pairs of class and collective are drawn, those with the most time; "
                                   "--charts DIR draws all of "
                                   "them%s.",
                                   shown, count,
                                   p->v->kinds_left
                                       ? arena_format(p->memory, ", but for %llu kinds that are in types.csv only",
                                                      (unsigned long long)p->v->kinds_left)
                                       : ""));
}
