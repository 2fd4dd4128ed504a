#include "overview.h"

#include "cli/output.h"

#include <math.h>
#include <string.h>

static const char *overview_share(const view *v, const char *title)
{
    for (size_t i = 0; i < v->load_count; i++)
        if (strcmp(v->loads[i].title, title) == 0 && !isnan(v->loads[i].share))
            return safe(words_share(v->loads[i].share).text);
    return "?";
}

// Of the physical ports, or of all where there are none; unknown when a part is.
static const char *overview_rate(const view *v, int way)
{
    double sum = 0;
    size_t ports = 0;
    for (int physical = 1; physical >= 0 && !ports; physical--)
        for (size_t i = 0; i < v->port_count; i++)
            if (!physical || v->ports[i].physical) {
                sum += v->ports[i].rate[way];
                ports++;
            }
    return !ports ? "-" : isnan(sum) ? "?" : safe(words_amount_rate(sum, "bytes").text);
}

static const char *overview_state(const recording *r)
{
    if (r->trouble) return "cannot read";
    if (recording_ended(r)) return "ended";
    if (!r->view) return "waiting";
    return recording_age_s(r) > 3 * fmax(r->view->elapsed_s, 1) ? "nothing new" : "";
}

static void overview_line(const recording *r, bool chosen, int name, lines *l)
{
    const view *v = r->view;
    lines_begin(l);
    lines_add(l, STRONG, chosen ? ">" : " ");
    lines_cell(l, chosen ? STRONG : NORMAL, name, false, recording_name(r));
    if (l->width == 0 || l->width >= 70) {
        lines_cell(l, NORMAL, 7, true, v ? overview_share(v, "CPU") : "?");
        lines_cell(l, NORMAL, 8, true, v ? overview_share(v, "Memory") : "?");
    }
    if (l->width == 0 || l->width >= 56) {
        lines_cell(l, NORMAL, 11, true, v ? overview_rate(v, 0) : "?");
        lines_cell(l, NORMAL, 11, true, v ? overview_rate(v, 1) : "?");
    }
    lines_blank(l, 2);
    const char *state = overview_state(r);
    if (*state) lines_printf(l, r->trouble ? DANGER : CAUTION, "%s%s", state, v ? "; " : "");
    if (r->trouble && !v) lines_printf(l, NORMAL, ": %s", r->trouble);
    if (v) view_verdict(v, l);
}

void overview_lines(const recording *all, size_t count, size_t chosen, lines *l)
{
    int name = l->width >= 120 || !l->width ? 24 : l->width >= 70 ? 16 : 12;
    lines_begin(l);
    lines_cell(l, TITLE, name + 1, false, " RECORDING");
    if (l->width == 0 || l->width >= 70) {
        lines_cell(l, TITLE, 7, true, "CPU");
        lines_cell(l, TITLE, 8, true, "MEMORY");
    }
    if (l->width == 0 || l->width >= 56) {
        lines_cell(l, TITLE, 11, true, "RECEIVED");
        lines_cell(l, TITLE, 11, true, "SENT");
    }
    lines_add(l, TITLE, "  VERDICT");
    for (size_t i = 0; i < count; i++)
        overview_line(&all[i], i == chosen, name, l);
}
