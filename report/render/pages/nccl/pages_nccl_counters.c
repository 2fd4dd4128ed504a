// What the NICs of the hosts counted meanwhile.
#include "nccl_page.h"
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
    if (v->recorded_files < v->files)
        document_note(p->doc, "When a call was is known only to the interval in which the Inspector writes its "
                              "logs: compare stretches longer than that.");
}
