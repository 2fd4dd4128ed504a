#include "overview.h"

#include "cli/output.h"

#include <math.h>
#include <stdio.h>
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

// Columns of what is shown; 0: it is left out.
typedef struct overview_columns {
    int name, cpu, memory, history, rate;
} overview_columns;

// All are recordings of netprof.
static int overview_name_length(const char *name)
{
    static const char ending[] = ".netprof";
    size_t n = strlen(name), e = strlen(ending);
    return (int)(n > e && strcmp(name + n - e, ending) == 0 ? n - e : n);
}

static void overview_name(const recording *r, char *text, size_t size)
{
    const char *name = recording_name(r);
    snprintf(text, size, "%.*s", overview_name_length(name), name);
}

static overview_columns overview_columns_for(const recording *all, size_t count, int width)
{
    overview_columns c = {.name = 9, .cpu = 7, .memory = 8, .rate = 11}; // the name: as wide as its heading
    char text[256];
    int most = width >= 120 || !width ? 24 : width >= 70 ? 16 : 12;
    for (size_t i = 0; i < count; i++) {
        overview_name(&all[i], text, sizeof text);
        if (text_columns(text) > c.name) c.name = text_columns(text);
    }
    if (c.name > most) c.name = most;
    if (!width) return c;
    c.history = width >= 180 ? 40 : width >= 120 ? 20 : 0;
    if (width < 70) c.memory = 0;
    if (width < 56) c.rate = 0;
    if (width < 36) c.cpu = 0;
    return c;
}

static void overview_line(const recording *r, bool chosen, const overview_columns *c, lines *l)
{
    const view *v = r->view;
    char name[256];
    overview_name(r, name, sizeof name);
    lines_begin(l);
    lines_add(l, STRONG, chosen ? ">" : " ");
    lines_cell(l, chosen ? STRONG : NORMAL, c->name, false, name);
    if (c->cpu) lines_cell(l, NORMAL, c->cpu, true, v ? overview_share(v, "CPU") : "?");
    if (c->history) lines_blank(l, 1);
    if (c->history) trails_cpu(recording_trails(r), l, c->history);
    if (c->memory) lines_cell(l, NORMAL, c->memory, true, v ? overview_share(v, "Memory") : "?");
    for (int way = 0; way < 2 && c->rate; way++)
        lines_cell(l, NORMAL, c->rate, true, v ? overview_rate(v, way) : "?");
    lines_blank(l, 2);
    const char *state = overview_state(r);
    if (*state) lines_printf(l, r->trouble ? DANGER : CAUTION, "%s%s", state, v ? "; " : "");
    if (r->trouble && !v) lines_printf(l, NORMAL, ": %s", r->trouble);
    if (v) view_verdict(v, l);
}

void overview_lines(const recording *all, size_t count, size_t chosen, lines *l)
{
    overview_columns c = overview_columns_for(all, count, l->width);
    lines_begin(l);
    lines_cell(l, TITLE, c.name + 1, false, " RECORDING");
    if (c.cpu) lines_cell(l, TITLE, c.cpu, true, "CPU");
    if (c.history) lines_cell(l, TITLE, c.history + 1, false, " OVER TIME");
    if (c.memory) lines_cell(l, TITLE, c.memory, true, "MEMORY");
    if (c.rate) lines_cell(l, TITLE, c.rate, true, "RECEIVED");
    if (c.rate) lines_cell(l, TITLE, c.rate, true, "SENT");
    lines_add(l, TITLE, "  VERDICT");
    for (size_t i = 0; i < count; i++)
        overview_line(&all[i], i == chosen, &c, l);
}
