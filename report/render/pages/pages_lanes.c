#include "pages_lanes.h"

#include "analysis/base/words.h"
#include "render/base/number.h"

#include <math.h>
#include <string.h>

enum { LANES_ROWS = 16 };

// A row: one lane, or the mean of neighbours where there are more than have room.
typedef struct lanes_row {
    size_t first, count;
} lanes_row;

static double lanes_shift_s(const pages_lanes *p, const nccl_lane *x)
{
    return p->shift_s ? p->shift_s(p->user, x->host) : 0;
}

// Of the host's wall clock, at a moment of the axis.
static int64_t lanes_wall_ns(const pages_lanes *p, double at_s, double shift_s)
{
    double ns = (double)p->time->wall_ns + (at_s - shift_s) * 1e9;
    return fabs(ns) < 9e18 ? p->time->wall_ns + llround((at_s - shift_s) * 1e9) : p->time->wall_ns;
}

static double *lanes_values(const pages_lanes *p, const lanes_row *r)
{
    double *values = arena_make(p->memory, p->time->columns, sizeof *values), step = pages_time_column_s(p->time);
    for (size_t k = r->first; k < r->first + r->count; k++) {
        const nccl_lane *x = &p->lanes->items[k];
        double shift = lanes_shift_s(p, x);
        for (size_t i = 0; i < p->time->columns; i++) {
            double from = p->time->from_s + step * (double)i;
            values[i] += nccl_lane_busy(x, lanes_wall_ns(p, from, shift), lanes_wall_ns(p, from + step, shift)) /
                         (double)r->count;
        }
    }
    return values;
}

static double lanes_mean(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return count ? sum / (double)count : NAN;
}

static const char *lanes_label(const pages_lanes *p, const lanes_row *r)
{
    const nccl_lane *first = &p->lanes->items[r->first], *last = first + r->count - 1;
    if (r->count == 1) return first->label;
    if (strcmp(first->host, last->host) == 0)
        return arena_format(p->memory, "%.40s, mean of %zu", first->host, r->count);
    return arena_format(p->memory, "%.24s to %.24s, mean of %zu", first->host, last->host, r->count);
}

// The rows end with hosts where these are few enough.
static size_t lanes_rows(const pages_lanes *p, lanes_row rows[LANES_ROWS])
{
    const nccl_lanes *l = p->lanes;
    size_t hosts = 0, count = 0;
    for (size_t i = 0; i < l->count; i++)
        hosts += !i || strcmp(l->items[i].host, l->items[i - 1].host) != 0;
    if (l->count > LANES_ROWS && hosts <= LANES_ROWS) {
        for (size_t i = 0; i < l->count; i++) {
            if (i && strcmp(l->items[i].host, l->items[i - 1].host) == 0)
                rows[count - 1].count++;
            else
                rows[count++] = (lanes_row){i, 1};
        }
        return count;
    }
    size_t each = (l->count + LANES_ROWS - 1) / LANES_ROWS;
    for (size_t i = 0; i < l->count; i += each)
        rows[count++] = (lanes_row){i, l->count - i < each ? l->count - i : each};
    return count;
}

// Of the time in which calls ran, how much the axis does not have.
static double lanes_outside_share(const pages_lanes *p)
{
    double all = 0, within = 0, length = (p->time->to_s - p->time->from_s) * 1e9;
    for (size_t i = 0; i < p->lanes->count; i++) {
        const nccl_lane *x = &p->lanes->items[i];
        double shift = lanes_shift_s(p, x);
        all += (double)nccl_lane_ns(x);
        within += length *
                  nccl_lane_busy(x, lanes_wall_ns(p, p->time->from_s, shift), lanes_wall_ns(p, p->time->to_s, shift));
    }
    return all > 0 ? fmax(1 - within / all, 0) : 0;
}

// What is not drawn is said.
static void lanes_say(document *doc, const pages_lanes *p)
{
    const nccl_lanes *l = p->lanes;
    const char *drawn = arena_text(p->memory, words_many(l->calls, "call").text), *beyond = "";
    double outside = lanes_outside_share(p);
    if (outside > .001)
        beyond =
            arena_format(p->memory, " %s of their time is before or after this axis.", number_percent(outside).text);
    if (l->untimed)
        document_note(doc,
                      arena_format(p->memory,
                                   "Drawn: %s of %s. Of the others it is not known when they ran: no proxy took "
                                   "part, or the log does not tell (NCCL_INSPECTOR_DUMP_VERBOSE=1). An empty "
                                   "place is no proof that none ran.%s",
                                   number_grouped(l->calls).text,
                                   arena_text(p->memory, words_many(l->calls + l->untimed, "NCCL call").text), beyond));
    else
        document_note(doc, arena_format(p->memory, "Drawn: all %s of NCCL that were recorded.%s", drawn, beyond));
}

void pages_lanes_add(document *doc, const pages_lanes *p)
{
    map_row rows[LANES_ROWS + 8];
    lanes_row groups[LANES_ROWS];
    size_t count = 0;
    if (!p->lanes || !p->lanes->count) return;
    if (!p->lanes->calls || !p->time->wall_ns) {
        document_note(doc, arena_format(p->memory, "%s of NCCL: how they lie on this axis is not known.",
                                        words_many(p->lanes->calls + p->lanes->untimed, "call").text));
        return;
    }
    if (lanes_outside_share(p) > .999) {
        document_note(doc,
                      arena_format(p->memory,
                                   "%s of NCCL ran before or after the time of this axis: are their files of another "
                                   "run?",
                                   words_many(p->lanes->calls, "call").text));
        return;
    }
    for (; count < p->above_count && count < 8; count++)
        rows[count] = p->above[count];
    size_t lanes = lanes_rows(p, groups);
    for (size_t i = 0; i < lanes; i++) {
        double *values = lanes_values(p, &groups[i]);
        double mean = lanes_mean(values, p->time->columns);
        rows[count++] = (map_row){.label = lanes_label(p, &groups[i]),
                                  .values = values,
                                  .right = arena_text(p->memory, number_percent(mean).text)};
    }
    const map_style style = {.columns = p->time->columns,
                             .axis = pages_time_axis(p->time),
                             .from = p->time->from_s,
                             .to = p->time->to_s,
                             .ramp = INK_BLUE,
                             .max = 1,
                             .format = AXES_PERCENT,
                             .unit = "",
                             .label_head = "NCCL call in flight",
                             .right_head = "of the time",
                             .phases = p->phases,
                             .phase_count = p->phase_count,
                             .incidents = p->incidents,
                             .incident_count = p->incident_count};
    document_add(doc,
                 chart_map((chart_head){"nccl-over-time", "NCCL's calls over time",
                                        arena_format(p->memory, "%s; share of each %s in which one ran", p->question,
                                                     number_duration(pages_time_column_s(p->time)).text)},
                           &style, rows, count));
    lanes_say(doc, p);
}
