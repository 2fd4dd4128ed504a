#include "axes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *axes_time_title(const axes_scale *s)
{
    return s->format == AXES_TIME ? "Time since start" : "";
}

double axes_x(const axes *a, double value)
{
    return a->box.x + plot_at(a->x.axis, value) * a->box.width;
}

double axes_y(const axes *a, double value)
{
    return a->box.y + (1 - plot_at(a->y.axis, value)) * a->box.height;
}

static number_text axes_with_unit(number_text n, const char *prefix, const char *unit)
{
    size_t used = strlen(n.text);
    if (*prefix || *unit) snprintf(n.text + used, sizeof n.text - used, NUMBER_SPACE "%s%.24s", prefix, unit);
    return n;
}

// Round tics of elapsed time: of minutes and hours, not of seconds.
static size_t axes_time_tics(plot_axis axis, size_t most, double tics[10])
{
    const char *unit;
    double factor = number_time_scale(fmax(fabs(axis.min), fabs(axis.max)), 1, &unit).factor;
    axis.min *= factor;
    axis.max *= factor;
    size_t count = plot_tics(axis, most, tics);
    for (size_t i = 0; i < count; i++)
        tics[i] /= factor;
    return count;
}

// Tics at round times of the day.
static size_t axes_clock_labels(const axes_scale *s, size_t most, double tics[10], number_text labels[10])
{
    static const int64_t steps[] = {1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400};
    const size_t step_count = sizeof steps / sizeof *steps;
    double span = s->axis.max - s->axis.min, wall = (double)s->wall_ns / 1e9;
    size_t n = 0, i = 0;
    while (i + 1 < step_count && span / (double)steps[i] + 1 > (double)(most < 10 ? most : 10))
        i++;
    double step = (double)steps[i];
    for (double at = ceil((wall + s->axis.min) / step) * step; at <= wall + s->axis.max && n < 10; at += step, n++) {
        unsigned day_s = (unsigned)fmod(at, 86400);
        tics[n] = at - wall;
        snprintf(labels[n].text, sizeof labels[n].text, step < 60 ? "%02u:%02u:%02u" : "%02u:%02u", day_s / 3600,
                 day_s / 60 % 60, day_s % 60);
    }
    return n;
}

size_t axes_labels(const axes_scale *s, size_t most, double tics[10], number_text labels[10])
{
    if (s->format == AXES_CLOCK) return axes_clock_labels(s, most, tics, labels);
    size_t count = s->format == AXES_TIME ? axes_time_tics(s->axis, most, tics) : plot_tics(s->axis, most, tics);
    if (!count) return 0;
    double largest = fmax(fabs(tics[0]), fabs(tics[count - 1])), step = count > 1 ? tics[1] - tics[0] : largest;
    const char *unit = s->unit ? s->unit : "";
    number_scale scale = number_scale_for(largest, step);
    if (s->format == AXES_TIME) scale = number_time_scale(fmax(fabs(s->axis.min), fabs(s->axis.max)), step, &unit);
    for (size_t i = 0; i < count; i++) {
        bool last = i + 1 == count;
        switch (s->format) {
        case AXES_BINARY: labels[i] = number_binary(tics[i]); break;
        case AXES_DURATION: labels[i] = number_duration(tics[i]); break;
        case AXES_PERCENT: labels[i] = number_percent(tics[i]); break;
        default:
            if (s->axis.log)
                labels[i] = number_prefixed(tics[i], unit);
            else
                labels[i] =
                    last ? axes_with_unit(number_tic(tics[i], scale), scale.prefix, unit) : number_tic(tics[i], scale);
        }
    }
    return count;
}

// ---- in figures: tics are bare numbers, the title has their unit ----

typedef struct axes_unit {
    double factor;
    char text[32];
} axes_unit;

// The unit in which the middle one of tics far apart is a number of few digits.
static axes_unit axes_unit_of(const axes_scale *s, double middle)
{
    static const char *const binary[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
    axes_unit u = {1, ""};
    const char *unit = s->unit ? s->unit : "";
    if (s->format == AXES_PERCENT) {
        u = (axes_unit){100, "%"};
    } else if (s->format == AXES_TIME || s->format == AXES_DURATION) {
        u.factor = number_time_scale(middle, middle, &unit).factor;
        snprintf(u.text, sizeof u.text, "%s", unit);
    } else if (s->format == AXES_BINARY) {
        size_t i = 0;
        for (; middle >= 1024 && i + 1 < sizeof binary / sizeof *binary; i++, u.factor /= 1024)
            middle /= 1024;
        snprintf(u.text, sizeof u.text, "%s", binary[i]);
    } else {
        number_scale scale = number_scale_for(middle, middle);
        u.factor = scale.factor;
        snprintf(u.text, sizeof u.text, "%s%.24s", scale.prefix, unit);
    }
    return u;
}

// Empty where the tics keep their units: they are too far apart for one.
static axes_unit axes_bare_labels(const axes_scale *s, const double *tics, number_text *labels, size_t count)
{
    double largest = count ? fmax(fabs(tics[0]), fabs(tics[count - 1])) : 1;
    double least = count ? fabs(tics[0]) : 1, all = s->format == AXES_TIME ? fabs(s->axis.max) : largest;
    if (s->format == AXES_CLOCK) return (axes_unit){1, ""};
    axes_unit u = axes_unit_of(s, s->axis.log ? sqrt(least * largest) : all), none = {1, ""};
    bool far = s->axis.log && (largest * u.factor > 99999 || least * u.factor < 1e-3);
    bool no_unit = s->format == AXES_SI && !(s->unit && *s->unit) && *u.text;
    if (far || no_unit) return none;
    double step = (count > 1 ? tics[1] - tics[0] : largest) * u.factor;
    for (size_t i = 0; i < count; i++) {
        double value = tics[i] * u.factor;
        if (s->axis.log)
            snprintf(labels[i].text, sizeof labels[i].text, "%.6g", value);
        else
            labels[i] = number_tic(value, (number_scale){1, "", number_scale_for(1, step).decimals});
    }
    return u;
}

static size_t axes_labels_in(const canvas *c, const axes_scale *s, size_t most, double tics[10], number_text labels[10],
                             axes_unit *unit)
{
    size_t count = axes_labels(s, most, tics, labels);
    *unit = (axes_unit){1, ""};
    if (canvas_figure_of(c)) *unit = axes_bare_labels(s, tics, labels, count);
    return count;
}

// "Sent per node (GB/s)"
static void axes_title_text(const axes_scale *s, const axes_unit *unit, char text[200])
{
    snprintf(text, 200, "%.150s%s%s%s", s->title, *unit->text ? " (" : "", unit->text, *unit->text ? ")" : "");
}

static bool axes_is_titled(const canvas *c, const axes_scale *s)
{
    return canvas_figure_of(c) && s->title && *s->title;
}

static const double title_line = 9;

// Where a title that is too long for its axis is broken: the place of a space, the middlemost; 0: not at all.
static size_t axes_title_break(canvas *c, const char *title, double room)
{
    size_t length = strlen(title), best = 0;
    if (canvas_text_width(c, title, TYPE_AXIS) <= room) return 0;
    for (size_t i = 1; i < length; i++)
        if (title[i] == ' ' &&
            (!best || fabs((double)i - (double)length / 2) < fabs((double)best - (double)length / 2)))
            best = i;
    return best;
}

// From the bottom to the top, left of the labels, in one line or two.
static void axes_draw_y_title(canvas *c, const axes *a, const axes_unit *unit, double labels)
{
    char text[200];
    axes_title_text(&a->y, unit, text);
    double middle = a->box.y + a->box.height / 2, x = a->box.x - labels - 8;
    size_t broken = axes_title_break(c, text, a->box.height + title_line);
    if (broken) {
        canvas_text_upwards(c, x, middle, text + broken + 1, TYPE_AXIS, INK_TEXT);
        text[broken] = 0;
        x -= title_line;
    }
    canvas_text_upwards(c, x, middle, text, TYPE_AXIS, INK_TEXT);
}

static size_t axes_y_tics(double height)
{
    return height < 36 ? 2 : height < 110 ? 3 : (size_t)fmin(height / 28, 8);
}

static const double label_most = 60;

static double axes_widest(canvas *c, const number_text *labels, size_t count)
{
    double widest = 0;
    for (size_t i = 0; i < count; i++)
        widest = fmax(widest, canvas_text_width(c, labels[i].text, TYPE_AXIS));
    return fmin(widest, label_most);
}

double axes_label_width(canvas *c, const axes_scale *y, double height)
{
    double tics[10];
    number_text labels[10];
    axes_unit unit;
    size_t count = axes_labels_in(c, y, axes_y_tics(height), tics, labels, &unit);
    double widest = axes_widest(c, labels, count);
    if (!axes_is_titled(c, y)) return widest;
    char text[200];
    axes_title_text(y, &unit, text);
    return widest + 4 + title_line * (axes_title_break(c, text, height + title_line) ? 2 : 1);
}

void axes_draw_y(canvas *c, const axes *a)
{
    double taken = -INFINITY, tics[10], right = a->box.x + a->box.width, bottom = a->box.y + a->box.height;
    number_text labels[10];
    axes_unit unit;
    size_t count = axes_labels_in(c, &a->y, axes_y_tics(a->box.height), tics, labels, &unit);
    for (size_t i = 0; i < count; i++) {
        double y = axes_y(a, tics[i]);
        if (isnan(y)) continue;
        if (fabs(y - bottom) > 0.5) canvas_line(c, a->box.x, y, right, y, INK_HAIR, 0.5);
        // Labels of neighbours above one another keep out of each other's way.
        double base = y + 2.3 < a->box.y + 5 ? a->box.y + 5 : y + 2.3 > bottom ? bottom : y + 2.3;
        if (fabs(base - taken) < 7) continue;
        canvas_text(c, a->box.x - 4, base, labels[i].text, TYPE_AXIS, INK_SECONDARY, ALIGN_RIGHT, label_most);
        taken = base;
    }
    canvas_line(c, a->box.x, bottom, right, bottom, INK_SECONDARY, 0.8);
    if (axes_is_titled(c, &a->y)) axes_draw_y_title(c, a, &unit, axes_widest(c, labels, count));
}

// How many labels of the width of the widest fit side by side.
static size_t axes_x_tics(canvas *c, const axes *a)
{
    double tics[10];
    number_text labels[10];
    axes_unit unit;
    for (size_t most = 10; most > 2; most--) {
        double widest = 0;
        size_t count = axes_labels_in(c, &a->x, most, tics, labels, &unit);
        for (size_t i = 0; i < count; i++)
            widest = fmax(widest, canvas_text_width(c, labels[i].text, TYPE_AXIS));
        if ((double)count * (widest + 10) <= a->box.width) return most;
    }
    return 2;
}

double axes_x_height(const canvas *c, const axes_scale *x)
{
    if (canvas_figure_of(c)) return AXES_X_HEIGHT + (axes_is_titled(c, x) ? title_line : 0);
    return AXES_X_HEIGHT + (x->wall_ns ? 8 : 0);
}

// When each tic was, on the wall's clock.
typedef struct axes_walls {
    int64_t ns[10]; // 0: not known
    size_t count;
    int64_t length_ns, least_ns; // of all, and between neighbours
} axes_walls;

// Of a time of at most some centuries in either direction: what is more is no time of a run.
static int64_t axes_nanoseconds(double seconds)
{
    const double most = 4e9;
    return isnan(seconds) ? 0 : (int64_t)llround(fmin(fmax(seconds, -most), most) * 1e9);
}

// Nanoseconds since 1970; 0, not known, where it is more than 146 years away: the difference of two others always fits.
static int64_t axes_wall(int64_t from_ns, double seconds)
{
    const int64_t most = INT64_MAX / 2;
    int64_t ns;
    bool over = __builtin_add_overflow(from_ns, axes_nanoseconds(seconds), &ns);
    return over || ns > most || ns < -most ? 0 : ns;
}

static axes_walls axes_walls_of(const axes *a, const double *tics, size_t count, axes_when *at, const void *user)
{
    axes_walls w = {.count = count, .least_ns = INT64_MAX};
    int64_t first = 0, before = 0;
    for (size_t i = 0; i < count; i++) {
        w.ns[i] = at ? axes_wall(at(user, tics[i]), 0) : axes_wall(a->x.wall_ns, tics[i]);
        if (!w.ns[i]) continue;
        if (!first) first = w.ns[i];
        if (before && w.ns[i] > before && w.ns[i] - before < w.least_ns) w.least_ns = w.ns[i] - before;
        before = w.ns[i];
        w.length_ns = before - first;
    }
    if (!at) w.length_ns = axes_nanoseconds(a->x.axis.max - a->x.axis.min);
    return w;
}

// "22:13:20", of long times with their day, of short ones with so many digits that neighbours differ; the first says that it
// is UTC.
static void axes_wall_text(const axes_walls *w, size_t i, bool first, char text[64])
{
    enum { DAY = 86400, MONTH_AT = 5, CLOCK_AT = 11, TO_MINUTES = 16, TO_SECONDS = 8, MOST = 6 };
    const int64_t second = 1000000000;
    unsigned digits = 0;
    for (int64_t unit = second; digits < MOST && w->least_ns < unit; unit /= 10)
        digits++;
    number_text utc = number_utc(w->ns[i], digits);
    bool days = w->length_ns > DAY * second, known = strlen(utc.text) > CLOCK_AT;
    int length = days ? TO_MINUTES - MONTH_AT : TO_SECONDS + (digits ? 1 + (int)digits : 0);
    snprintf(text, 64, "%.*s%s", length, known ? utc.text + (days ? MONTH_AT : CLOCK_AT) : "",
             first && known ? " UTC" : "");
}

static void axes_draw_wall(canvas *c, const axes *a, const double *tics, const axes_walls *w, double left, double right)
{
    double taken = left, y = a->box.y + a->box.height + 18.5;
    bool first = true;
    for (size_t i = 0; i < w->count; i++) {
        char text[64];
        if (!w->ns[i]) continue;
        axes_wall_text(w, i, first, text);
        double width = canvas_text_width(c, text, TYPE_AXIS), x = axes_x(a, tics[i]);
        double from = fmin(fmax(x - width / 2, left), right - width);
        if (from < taken && !first) continue;
        canvas_text(c, from, y, text, TYPE_AXIS, INK_SECONDARY, ALIGN_LEFT, 0);
        taken = from + width + 8;
        first = false;
    }
}

static void axes_draw_x_title(canvas *c, const axes *a, const axes_unit *unit, double left, double right)
{
    char text[200];
    axes_title_text(&a->x, unit, text);
    double half = canvas_text_width(c, text, TYPE_AXIS) / 2, middle = a->box.x + a->box.width / 2;
    middle = fmax(fmin(middle, right - half), left + half);
    canvas_text(c, middle, a->box.y + a->box.height + 10.5 + title_line, text, TYPE_AXIS, INK_TEXT, ALIGN_CENTER, 0);
}

void axes_draw_x_when(canvas *c, const axes *a, double left, double right, axes_when *at, const void *user)
{
    double tics[10], bottom = a->box.y + a->box.height, taken = left;
    number_text labels[10];
    axes_unit unit;
    size_t count = axes_labels_in(c, &a->x, axes_x_tics(c, a), tics, labels, &unit);
    bool time = a->x.format == AXES_TIME && !a->x.axis.log;
    if (time) canvas_tics(c, a->box);
    for (size_t i = 0; i < count; i++) {
        double x = axes_x(a, tics[i]), width = canvas_text_width(c, labels[i].text, TYPE_AXIS);
        canvas_line(c, x, bottom, x, bottom + 3, INK_SECONDARY, 0.6);
        double from = fmin(fmax(x - width / 2, left), right - width);
        if (from < taken && i) continue;
        canvas_text(c, from, bottom + 10.5, labels[i].text, TYPE_AXIS, INK_SECONDARY, ALIGN_LEFT, 0);
        taken = from + width + 4;
    }
    if (a->x.wall_ns && !canvas_figure_of(c)) {
        const axes_walls walls = axes_walls_of(a, tics, count, at, user);
        axes_draw_wall(c, a, tics, &walls, left, right);
    }
    if (time) canvas_tics_end(c);
    if (axes_is_titled(c, &a->x)) axes_draw_x_title(c, a, &unit, left, right);
}

void axes_draw_x(canvas *c, const axes *a, double left, double right)
{
    axes_draw_x_when(c, a, left, right, NULL, NULL);
}

static bool axes_is_time(const axes *a)
{
    return a->x.format == AXES_TIME && !a->x.axis.log && a->box.width > 0 && a->box.height > 0;
}

void axes_begin_time(canvas *c, const axes *a, size_t first, size_t columns)
{
    static const char *const units[] = {
        [AXES_TIME] = "time", [AXES_DURATION] = "time", [AXES_BINARY] = "iB", [AXES_PERCENT] = "%"};
    const char *unit = a->y.format != AXES_SI ? units[a->y.format] : a->y.unit;
    const canvas_span span = {a->box, a->x.axis.min, a->x.axis.max, a->x.wall_ns, first, columns, unit};
    if (axes_is_time(a)) canvas_time(c, &span);
}

void axes_end_time(canvas *c, const axes *a)
{
    if (axes_is_time(a)) canvas_time_end(c);
}

bool axes_clip(const axes *a, const axes_span *s, double *left, double *right)
{
    double from = axes_x(a, s->from), to = axes_x(a, s->to);
    *left = fmax(from, a->box.x);
    *right = fmin(to, a->box.x + a->box.width);
    return *right > *left; // false for NAN, too
}

void axes_hatch(canvas *c, const axes *a, const axes_span *gaps, size_t count)
{
    double left, right;
    for (size_t i = 0; i < count; i++) {
        if (!axes_clip(a, &gaps[i], &left, &right)) continue;
        if (gaps[i].label && *gaps[i].label) canvas_tip(c, gaps[i].label);
        canvas_hatch(c, (canvas_box){left, a->box.y, fmax(right - left, 1), a->box.height});
    }
}

void axes_draw_begins(canvas *c, const axes *a, const axes_span *spans, size_t count, double top, double bottom)
{
    for (size_t i = 0; i < count; i++) {
        double x = axes_x(a, spans[i].from);
        if (x >= a->box.x && x <= a->box.x + a->box.width) canvas_dashed(c, x, top, x, bottom, INK_TEXT, .7);
    }
}

void axes_draw_spans(canvas *c, const axes *a, const axes_span *spans, size_t count)
{
    double left, right;
    for (size_t i = 0; i < count; i++) {
        const axes_span *s = &spans[i];
        if (!axes_clip(a, s, &left, &right)) continue;
        canvas_box box = {left, a->box.y, right - left, a->box.height};
        bool filled = s->ink != INK_NONE;
        canvas_tip(c, s->label);
        canvas_rect(c, box, filled ? s->ink : INK_PAPER, 0);
        if (!filled && box.width > 1) canvas_frame(c, box, INK_SECONDARY, .5);
        if (canvas_text_width(c, s->label, TYPE_CELL) + 4 <= right - left)
            canvas_text(c, (left + right) / 2, a->box.y + a->box.height / 2 + 2.6, s->label, TYPE_CELL,
                        filled ? (theme_ink)(INK_ON + s->ink) : INK_TEXT, ALIGN_CENTER, 0);
    }
}

const axes_span *axes_copy_spans(arena *memory, const axes_span *spans, size_t count)
{
    axes_span *mine = arena_copy(memory, spans, count, sizeof *spans);
    for (size_t i = 0; i < count; i++)
        mine[i].label = arena_text(memory, spans[i].label);
    return mine;
}

// ---- keys ----

static void axes_draw_swatch(canvas *c, const axes_key *k, double x, double y)
{
    double middle = y - 2.4;
    theme_ink ink = canvas_line_ink(c, k->ink, k->nth);
    const canvas_point line[2] = {{x, middle}, {x + 14, middle}};
    switch (k->swatch) {
    case SWATCH_BAND: canvas_rect(c, (canvas_box){x, middle - 3, 14, 6}, k->pale, 0); // fall through
    case SWATCH_LINE:
        if (canvas_line_dash(c, k->nth))
            canvas_dashed_polyline(c, line, 2, ink, 1.5, canvas_line_dash(c, k->nth));
        else
            canvas_line(c, x, middle, x + 14, middle, ink, 1.5);
        break;
    case SWATCH_DASHED: canvas_dashed(c, x, middle, x + 14, middle, k->ink, 1.2); break;
    case SWATCH_BOX:
        if (k->ink == INK_NONE)
            canvas_hatch(c, (canvas_box){x, middle - 4, 8, 8});
        else
            canvas_rect(c, (canvas_box){x, middle - 4, 8, 8}, k->ink, 0);
        break;
    case SWATCH_DOT: canvas_dot(c, x + 4, middle, 2.5, k->ink, INK_NONE); break;
    }
}

double axes_draw_key(canvas *c, const axes_key *items, size_t count, double left, double y, double width, bool draw)
{
    const double gap = 14, line = 11;
    double x = left, height = 0;
    for (size_t i = 0; i < count; i++) {
        if (!items[i].label || !*items[i].label) continue;
        double swatch = items[i].swatch == SWATCH_BOX || items[i].swatch == SWATCH_DOT ? 12 : 18;
        double text = fmin(canvas_text_width(c, items[i].label, TYPE_TABLE), width - swatch);
        if (x > left && x + swatch + text > left + width) {
            x = left;
            height += line;
        }
        if (draw) {
            axes_draw_swatch(c, &items[i], x, y + height + 8);
            canvas_text(c, x + swatch, y + height + 8, items[i].label, TYPE_TABLE, INK_TEXT, ALIGN_LEFT,
                        width - swatch);
        }
        x += swatch + text + gap;
    }
    return x > left ? height + line : 0;
}

void axes_draw_ramp(canvas *c, double right, double y, theme_ink ramp, const char *low, const char *high)
{
    const double width = 90, height = 6;
    uint16_t inks[THEME_STEPS];
    for (int i = 0; i < THEME_STEPS; i++)
        inks[i] = (uint16_t)((int)ramp + i);
    canvas_image(c, (canvas_box){right - width, y, width, height}, inks, THEME_STEPS, 1);
    canvas_text(c, right - width, y + height + 7.5, low, TYPE_AXIS, INK_SECONDARY, ALIGN_LEFT, width / 2);
    canvas_text(c, right, y + height + 7.5, high, TYPE_AXIS, INK_SECONDARY, ALIGN_RIGHT, width / 2);
}

axes_scale axes_complete(axes_scale s, const double *values, size_t count)
{
    bool binary = s.axis.binary || s.format == AXES_BINARY;
    if (!(s.axis.max > s.axis.min)) s.axis = plot_axis_for(values, count, s.axis.log);
    s.axis.binary = binary;
    return s;
}
