// What the NICs of the hosts counted meanwhile.
#include "nccl_page.h"
#include "analysis/base/words.h"
#include "render/chart/charts_job.h"
#include "render/pages/pages_time.h"

#include <math.h>

// Of every column, in the order in which they are drawn.
enum { WIRE, SKEW, RECEIVED, RECEIVED_HIGH, SENT, SENT_HIGH, TROUBLE, WAITING, FIGURES };

static void nccl_counters_figures(const nccl_view *v, arena *a, double *of[FIGURES])
{
    size_t n = v->columns.count;
    for (size_t k = 0; k < FIGURES; k++)
        of[k] = arena_make(a, n, sizeof *of[k]);
    for (size_t i = 0; i < n; i++) {
        const nccl_view_column *c = &v->columns.items[i];
        of[WIRE][i] = c->wire_us / 1e6;
        of[SKEW][i] = c->skew_us / 1e6;
        of[RECEIVED][i] = c->received;
        of[RECEIVED_HIGH][i] = c->received_high;
        of[SENT][i] = c->sent;
        of[SENT_HIGH][i] = c->sent_high;
        of[TROUBLE][i] = c->trouble;
        of[WAITING][i] = c->waiting;
    }
}

static void nccl_page_add_lines(nccl_page *p)
{
    const nccl_view *v = p->v;
    const pages_time time = {v->columns_from_s, v->columns_to_s, v->columns.count, nccl_page_wall_ns(v->first_dump_us)};
    bool exact = v->recorded_files == v->files;
    double *of[FIGURES];
    if (time.columns < 2 || !(time.to_s > time.from_s)) return;
    nccl_counters_figures(v, p->memory, of);
    const lines_curve times[] = {{.label = "wire time", .ink = INK_RECEIVED, .y = of[WIRE]},
                                 {.label = "skew", .ink = INK_SENT, .y = of[SKEW]}};
    const lines_curve rates[] = {{.label = "received",
                                  .ink = INK_RECEIVED,
                                  .pale = INK_RECEIVED_PALE,
                                  .y = of[RECEIVED],
                                  .low = of[RECEIVED],
                                  .high = of[RECEIVED_HIGH]},
                                 {.label = "sent",
                                  .ink = INK_SENT,
                                  .pale = INK_SENT_PALE,
                                  .y = of[SENT],
                                  .low = of[SENT],
                                  .high = of[SENT_HIGH]}};
    const lines_curve events[] = {{.label = "trouble", .ink = INK_BAD, .y = of[TROUBLE], .step = true},
                                  {.label = "waiting", .ink = INK_WATCH, .y = of[WAITING], .step = true}};
    const lines_panel panels[] = {
        pages_time_panel("NCCL calls", exact ? "medians, by when they began" : "medians, by when they were written",
                         AXES_DURATION, "", times, 2),
        pages_time_panel("NICs", "mean host; band: to the highest", AXES_SI, "B/s", rates, 2),
        pages_time_panel("counters", "of trouble, of waiting: how many moved", AXES_SI, "", events, 2)};
    lines_style style = pages_time_lines(p->memory, &time);
    style.x_head = exact ? "seconds since the first call" : "seconds since the first line of the logs";
    style.panel_height = 70;
    const char *question = arena_format(p->memory, "%s of %s on %s above what its hosts' NICs counted; one time axis",
                                        v->main_coll, nccl_page_size(p, v->run_size), v->run_label);
    document_add(p->doc, chart_lines((chart_head){"counters", "NCCL and NIC counters", question}, &style, panels, 3));
}

static const char *nccl_page_moved(nccl_page *p, const char *counter, double amount, const char *unit)
{
    return *counter ? arena_format(p->memory, "%s (%s)", counter, number_volume(amount, *unit ? unit : "events").text)
                    : "none";
}

// ---- joined with calls ----

static const char *nccl_page_bytes(nccl_page *p, double bytes, bool at_least)
{
    return nccl_page_keep(p, words_at_least(at_least, number_volume(bytes, "bytes")));
}

// What NCCL says that it sent, and what the NICs sent beyond that, which nobody told.
static share_row nccl_page_overlap_bar(nccl_page *p, const nccl_view_overlap *x)
{
    share_segment *parts = arena_make(p->memory, 2, sizeof *parts);
    double own = isnan(x->own_sent) ? 0 : x->own_sent, more = x->sent - own;
    const char *sent = nccl_page_bytes(p, x->sent, false);
    const char *label = arena_format(p->memory, "%s %s on %s%s%s", x->coll, nccl_page_size(p, x->size), x->host,
                                     p->v->communicators > 1 ? ", " : "", p->v->communicators > 1 ? x->label : "");
    parts[0] = (share_segment){"NCCL", nccl_page_bytes(p, own, x->own_sent_at_least), fmin(own, x->sent), INK_CATEGORY};
    parts[1] = (share_segment){isnan(x->own_sent) ? "not told by NCCL" : "more", nccl_page_bytes(p, more, false),
                               fmax(more, 0), INK_NONE};
    return (share_row){label, arena_format(p->memory, "%s, %s", sent, x->others), parts, 2};
}

static void nccl_page_add_overlap_bars(nccl_page *p)
{
    enum { BARS = 8 };
    const nccl_view *v = p->v;
    share_row rows[BARS];
    size_t count = 0;
    for (size_t i = 0; i < v->overlaps.count && count < BARS; i++)
        if (v->overlaps.items[i].sent > 0) rows[count++] = nccl_page_overlap_bar(p, &v->overlaps.items[i]);
    if (count)
        document_add(p->doc, chart_shares((chart_head){"overlaps", "What NICs sent while calls used the network",
                                                       "what NCCL's transfers account for, and what nobody told; at "
                                                       "the right all, and whether other calls used it meanwhile"},
                                          rows, count));
}

static void nccl_page_add_overlaps(nccl_page *p)
{
    enum { COLUMNS = 10 };
    static const table_column columns[COLUMNS] = {
        {"host", TABLE_TEXT, 0},       {"communicator", TABLE_TEXT, 0},
        {"collective", TABLE_TEXT, 0}, {"size", TABLE_NUMBER, 0},
        {"calls", TABLE_NUMBER, 0},    {"NICs sent", TABLE_NUMBER, 0},
        {"NCCL", TABLE_NUMBER, 0},     {"received", TABLE_NUMBER, 0},
        {"NCCL", TABLE_NUMBER, 0},     {"the counters' intervals", TABLE_TEXT, 1}};
    const nccl_view *v = p->v;
    sheet t = sheet_open(COLUMNS);
    nccl_page_add_overlap_bars(p);
    for (size_t i = 0; i < v->overlaps.count; i++) {
        const nccl_view_overlap *x = &v->overlaps.items[i];
        sheet_text(&t, x->host);
        sheet_text(&t, x->label);
        sheet_text(&t, x->coll);
        sheet_text(&t, nccl_page_size(p, x->size));
        sheet_number(&t, number_grouped(x->calls));
        sheet_text(&t, nccl_page_bytes(p, x->sent, false));
        sheet_text(&t, nccl_page_bytes(p, x->own_sent, x->own_sent_at_least));
        sheet_text(&t, nccl_page_bytes(p, x->received, false));
        sheet_text(&t, nccl_page_bytes(p, x->own_received, x->own_received_at_least));
        sheet_text(&t, x->others);
    }
    sheet_end(
        &t, p->doc,
        (chart_head){"calls-counters", "Calls and NIC counters",
                     "what moved between two readings goes to the calls that used the network then, by the time of "
                     "each: exact where one was alone, else an estimate"},
        columns);
    if (v->overlaps_left)
        document_note(p->doc,
                      arena_format(p->memory, "%s more moved less: calls_and_counters of netprof nccl --json has all.",
                                   words_grouped(v->overlaps_left, false).text));
}

void nccl_page_add_counters(nccl_page *p)
{
    enum { COLUMNS = 8 };
    static const table_column columns[COLUMNS] = {
        {"host", TABLE_TEXT, 0},    {"shared time", TABLE_NUMBER, 0},   {"received", TABLE_NUMBER, 0},
        {"sent", TABLE_NUMBER, 0},  {"most received", TABLE_NUMBER, 0}, {"most sent", TABLE_NUMBER, 0},
        {"trouble", TABLE_NAME, 1}, {"waiting", TABLE_NAME, 1}};
    const nccl_view *v = p->v;
    sheet t = sheet_open(COLUMNS);
    if (!v->counters_known) return;
    if (!v->nics.count) {
        document_note(p->doc, "The recordings are of other hosts than the logs, or of another time.");
        return;
    }
    nccl_page_add_lines(p);
    for (size_t i = 0; i < v->nics.count; i++) {
        const nccl_view_nic *n = &v->nics.items[i];
        sheet_text(&t, n->host);
        sheet_number(&t, number_duration(n->seconds));
        sheet_number(&t, number_volume(n->received, "bytes"));
        sheet_number(&t, number_volume(n->sent, "bytes"));
        sheet_number(&t, number_volume_rate(n->peak_received, "bytes"));
        sheet_number(&t, number_volume_rate(n->peak_sent, "bytes"));
        sheet_text(&t, nccl_page_moved(p, n->trouble, n->trouble_amount, n->trouble_unit));
        sheet_text(&t, nccl_page_moved(p, n->waiting, n->waiting_amount, n->waiting_unit));
    }
    sheet_end(&t, p->doc, (chart_head){"nics", "NIC counters by host", "in the time that recording and logs share"},
              columns);
    nccl_page_add_overlaps(p);
    if (v->recorded_files < v->files)
        document_note(p->doc, "When a call was is known only to the interval in which the Inspector writes its "
                              "logs: compare stretches longer than that.");
}
