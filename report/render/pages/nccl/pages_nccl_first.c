// The charts of the first page.
#include "nccl_page.h"

#include <math.h>

enum { FIRST_ROWS = 9 };

void nccl_page_add_table(nccl_page *p)
{
    const nccl_view *v = p->v;
    size_t shown = v->rows.count <= FIRST_ROWS + 1 ? v->rows.count : FIRST_ROWS;
    if (!shown) return;
    document_add(
        p->doc,
        nccl_chart_table((chart_head){"collectives", "Collectives",
                                      "which kinds cost the most, and is it the wire or the waiting? sorted by time"},
                         v->rows.items, shown, v->rows.count - shown));
}

void nccl_page_add_all_collectives(nccl_page *p)
{
    const nccl_view *v = p->v;
    if (v->rows.count > FIRST_ROWS + 1)
        document_add(p->doc, nccl_chart_table((chart_head){"all-collectives", "All collectives", "sorted by time"},
                                              v->rows.items, v->rows.count, 0));
}

// Bandwidths by size, as [count] each.
typedef struct nccl_curve {
    double *sizes, *median, *low, *high, *mean;
    size_t count;
} nccl_curve;

static nccl_curve nccl_curve_of(nccl_page *p)
{
    size_t most = p->v->sizes.count;
    double *all = arena_make(p->memory, 5 * most, sizeof *all);
    nccl_curve c = {all, all + most, all + 2 * most, all + 3 * most, all + 4 * most, 0};
    for (size_t i = 0; i < most; i++) {
        const nccl_view_size *s = &p->v->sizes.items[i];
        if (!s->bus_gbs.count || !s->size) continue;
        c.sizes[c.count] = (double)s->size;
        c.median[c.count] = s->bus_gbs.p50 * 1e9;
        c.low[c.count] = s->bus_gbs.p5 * 1e9;
        c.high[c.count] = s->bus_gbs.p95 * 1e9;
        c.mean[c.count++] = s->mean_gbs * 1e9;
    }
    return c;
}

bool nccl_page_make_curve(nccl_page *p, chart *x)
{
    const nccl_view *v = p->v;
    nccl_curve c = nccl_curve_of(p);
    if (c.count < 3) return false;
    double peak = v->main_peak_gbs, median = c.median[c.count - 1] / 1e9, mean = c.mean[c.count - 1] / 1e9;
    const char *last = nccl_page_keep(p, number_plain(median));
    if (peak > 0) last = arena_format(p->memory, "%s, %s", last, number_percent(round(100 * median / peak) / 100).text);
    const curve_line lines[2] = {{.label = "from wire time; band p5" DASH "p95",
                                  .ink = INK_RECEIVED,
                                  .pale = INK_RECEIVED_PALE,
                                  .y = c.median,
                                  .low = c.low,
                                  .high = c.high,
                                  .end_label = last},
                                 {.label = "mean over ranks, with waiting",
                                  .ink = INK_SECONDARY,
                                  .pale = INK_NONE,
                                  .y = c.mean,
                                  .dashed = true,
                                  .end_label = isfinite(mean) ? nccl_page_keep(p, number_plain(mean)) : ""}};
    curve_style style = {.x = c.sizes,
                         .count = c.count,
                         .x_scale = {.format = AXES_BINARY, .title = "Message size"},
                         .y_scale = {.format = AXES_SI, .unit = "B/s", .title = "Bus bandwidth"},
                         .peak = NAN,
                         .height = 128,
                         .peak_label = ""};
    if (peak > 0) {
        style.peak = peak * 1e9;
        style.peak_label = arena_format(p->memory, "peak %s" NUMBER_SPACE "GB/s", number_plain(peak).text);
    }
    const char *question = arena_format(p->memory, "%s on %s", v->main_coll, v->main_label);
    *x = chart_curve((chart_head){"bandwidth", "Bandwidth by size", question}, &style, lines, 2);
    return true;
}

void nccl_page_add_curve(nccl_page *p)
{
    chart curve,
        complete = nccl_chart_complete((chart_head){"completeness", "Completeness", "how much was seen?"}, p->v);
    if (nccl_page_make_curve(p, &curve))
        document_beside(p->doc, curve, complete, .57);
    else
        document_add(p->doc, complete);
}

void nccl_page_add_late(nccl_page *p)
{
    const nccl_view *v = p->v;
    uint64_t judged = 0;
    for (size_t i = 0; i < v->late.count; i++)
        judged += v->late.items[i].judged;
    if (!v->late.count) return;
    if (!judged) {
        document_note(p->doc, "Who is late cannot be told: no call was logged by all of its ranks.");
        return;
    }
    const char *what =
        v->late_all ? "all collectives" : arena_format(p->memory, "%s of %s", v->main_coll, v->main_label);
    const char *question =
        arena_format(p->memory, "%s, how far behind the median arrival, mean of the complete calls", what);
    document_add(p->doc, nccl_chart_late((chart_head){"late", "Who is late?", question}, v));
}

void nccl_page_add_run(nccl_page *p)
{
    const nccl_view *v = p->v;
    if (v->run.count < 2) return;
    document_add(
        p->doc,
        nccl_chart_run((chart_head){"run", v->run_ranks > 1 ? "Wire time and skew over the run" : "Time over the run",
                                    arena_format(p->memory, "%s of %s on %s, one scale", v->main_coll,
                                                 nccl_page_size(p, v->run_size), v->run_label)},
                       v));
}
