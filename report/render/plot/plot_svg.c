// gnuplot's SVG, cut down to its shapes. Nothing is taken over that is not known: a shape's points are copied only
// when they are numbers, everything else is written here.
#include "render/base/buffer.h"
#include "plot_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 32 };

// ---- reading tags ----

typedef struct span {
    const char *at;
    size_t size;
} span;

static bool plot_svg_is_name(span tag, const char *name)
{
    size_t length = strlen(name);
    return tag.size >= length && memcmp(tag.at, name, length) == 0 &&
           (tag.size == length || strchr(" \t\r\n/", tag.at[length]));
}

static bool plot_svg_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// The value of an attribute of a tag; size 0 when there is none.
static span plot_svg_attribute(span tag, const char *name)
{
    const char *end = tag.at + tag.size;
    size_t length = strlen(name);
    for (const char *p = tag.at; p < end; p++) {
        if (*p == '"' || *p == '\'') { // over a value
            const char *close = memchr(p + 1, *p, (size_t)(end - p - 1));
            if (!close) break;
            p = close;
            continue;
        }
        if (!plot_svg_is_blank(*p) || (size_t)(end - p - 1) <= length || memcmp(p + 1, name, length) != 0) continue;
        const char *value = p + 1 + length;
        while (value < end && plot_svg_is_blank(*value))
            value++;
        if (value == end || *value != '=') continue;
        value++;
        while (value < end && plot_svg_is_blank(*value))
            value++;
        if (value == end || (*value != '"' && *value != '\'')) break;
        const char *close = memchr(value + 1, *value, (size_t)(end - value - 1));
        if (!close) break;
        return (span){value + 1, (size_t)(close - value - 1)};
    }
    return (span){tag.at, 0};
}

// The low bytes of a colour: "rgb(167,   0,   2)" is 2; -1: no colour of ours.
static long plot_svg_paint_in(span colour)
{
    char text[32];
    unsigned red, green, blue;
    if (!colour.size || colour.size >= sizeof text) return -1;
    memcpy(text, colour.at, colour.size);
    text[colour.size] = 0;
    if (sscanf(text, "rgb(%u,%u,%u)", &red, &green, &blue) != 3 || red != PLOT_PAINT >> 16 || green > 255 || blue > 255)
        return -1;
    return (long)(green << 8 | blue);
}

// ---- writing shapes ----

typedef struct state {
    buffer out;
    const plot *plot;
    bool coarse, filled;    // filled: the shape at hand
    long groups[DEPTH_MAX]; // paint of each that is open
    size_t depth;
    bool failed;
    bool pointed; // the number before had a point: in coarse lines one with nothing before its point needs no blank
} state;

// A number as gnuplot writes it, in hundredths; what is finer is rounded. *at moves past it.
static long plot_svg_read_hundredths(state *s, const char **at, const char *end)
{
    enum { DIGITS = 9 };
    const char *p = *at;
    bool negative = p < end && *p == '-';
    long value = 0;
    int digits = 0, places = 0;
    for (p += negative; p < end && *p >= '0' && *p <= '9' && digits <= DIGITS; p++, digits++)
        value = 10 * value + (*p - '0');
    value *= 100;
    if (p < end && *p == '.')
        for (p++; p < end && *p >= '0' && *p <= '9'; p++, places++)
            value += places == 0 ? 10 * (*p - '0') : places == 1 ? *p - '0' : places == 2 && *p >= '5';
    s->failed |= digits + places == 0 || digits > DIGITS;
    *at = p;
    return negative ? -value : value;
}

// ".5", "-12", "3.04"; a blank in front where the number before would go on.
static void plot_svg_put_hundredths(state *s, long value, bool first)
{
    long size = value < 0 ? -value : value, rest = size % 100;
    bool bare = size < 100 && rest && s->pointed && s->coarse;
    if (!first && value >= 0 && !bare) buffer_text(&s->out, " ");
    if (value < 0) buffer_text(&s->out, "-");
    if (size >= 100 || size == 0) buffer_printf(&s->out, "%ld", size / 100);
    if (rest) buffer_printf(&s->out, rest % 10 ? ".%02ld" : ".%ld", rest % 10 ? rest : rest / 10);
    s->pointed = rest != 0;
}

// A line on its way out: what goes on in the direction of the axis that it has is one piece.
typedef struct pen {
    long x, y, dx, dy; // where it is, and the way from there that is not written yet
    char command;      // of the piece before
    double low, high;  // coarse: what way from there passes all points since then closely enough
} pen;

static long plot_svg_round_to_tenths(long hundredths)
{
    return (hundredths + (hundredths < 0 ? -5 : 5)) / 10 * 10;
}

static void plot_svg_put_way(state *s, pen *p)
{
    if (s->coarse) p->dx = plot_svg_round_to_tenths(p->dx), p->dy = plot_svg_round_to_tenths(p->dy);
    char command = p->dy == 0 ? 'h' : p->dx == 0 ? 'v' : 'l';
    if (!p->dx && !p->dy) return;
    if (command != p->command) buffer_bytes(&s->out, &command, 1);
    if (command != 'v') plot_svg_put_hundredths(s, p->dx, command != p->command);
    if (command != 'h') plot_svg_put_hundredths(s, p->dy, command == 'v' && p->command != 'v');
    p->x += p->dx;
    p->y += p->dy;
    p->dx = p->dy = 0;
    p->command = command;
}

static bool plot_svg_goes_on(const pen *p, long dx, long dy)
{
    return (!p->dy && !dy && p->dx && dx && (p->dx > 0) == (dx > 0)) ||
           (!p->dx && !dx && p->dy && dy && (p->dy > 0) == (dy > 0));
}

// A way is as good as the points that it leaves out, if it passes all of them within `near`, up or down. An edge of a field
// may be further off than a line: nobody reads a value off it to a third of a point.
static void plot_svg_line_to_coarse(state *s, pen *p, long x, long y)
{
    const double near = s->filled ? 35 : 12;
    for (int again = 0; again < 2; again++) {
        long dx = x - p->x, dy = y - p->y, size = dx < 0 ? -dx : dx;
        bool first = !p->dx && !p->dy,
             onward = dx && p->dx && (dx > 0) == (p->dx > 0) && size >= (p->dx < 0 ? -p->dx : p->dx);
        double slope = size ? (double)dy / (double)size : 0;
        if (first || (onward && slope >= p->low && slope <= p->high)) {
            double reach = size ? near / (double)size : 0;
            p->low = first ? slope - reach : fmax(p->low, slope - reach);
            p->high = first ? slope + reach : fmin(p->high, slope + reach);
            p->dx = dx;
            p->dy = dy;
            return;
        }
        plot_svg_put_way(s, p);
        p->dx = p->dy = 0;
    }
}

static void plot_svg_line_to(state *s, pen *p, long x, long y)
{
    if (s->coarse) {
        plot_svg_line_to_coarse(s, p, x, y);
        return;
    }
    long dx = x - p->x - p->dx, dy = y - p->y - p->dy;
    if (!plot_svg_goes_on(p, dx, dy)) plot_svg_put_way(s, p);
    p->dx += dx;
    p->dy += dy;
}

static void plot_svg_move_to(state *s, pen *p, long x, long y)
{
    plot_svg_put_way(s, p);
    if (s->coarse) x = plot_svg_round_to_tenths(x), y = plot_svg_round_to_tenths(y);
    buffer_text(&s->out, "M");
    plot_svg_put_hundredths(s, x, true);
    plot_svg_put_hundredths(s, y, false);
    *p = (pen){.x = x, .y = y};
}

// "M1.00,2.00 L3.00,4.00 ... Z", or points alone: relative, and flat parts in one. Anything else is refused.
static void plot_svg_put_points(state *s, span points, bool closed)
{
    s->filled = closed;
    const char *p = points.at, *end = p + points.size;
    char command = 'M';
    pen to = {0};
    bool begun = false;
    while (p < end && !s->failed) {
        if (plot_svg_is_blank(*p)) {
            p++;
        } else if (*p == 'M' || *p == 'L') {
            command = *p++;
            s->failed |= !begun && command == 'L';
        } else if (*p == 'Z') {
            s->failed |= !begun;
            plot_svg_put_way(s, &to);
            buffer_text(&s->out, "z");
            command = 'M'; // a stroke after it begins anew
            begun = false;
            p++;
        } else {
            long x = plot_svg_read_hundredths(s, &p, end), y = 0;
            while (p < end && plot_svg_is_blank(*p))
                p++;
            s->failed |= p == end || *p++ != ',';
            if (!s->failed) y = plot_svg_read_hundredths(s, &p, end);
            if (s->failed) return;
            if (command == 'M')
                plot_svg_move_to(s, &to, x, y);
            else
                plot_svg_line_to(s, &to, x, y);
            command = 'L';
            begun = true;
        }
    }
    plot_svg_put_way(s, &to);
    if (closed && begun) buffer_text(&s->out, "z");
}

// The series and part that a shape belongs to.
typedef struct paint {
    const plot_series *series;
    bool extra;
} paint;

static bool plot_svg_find_paint(state *s, span tag, const char *name, paint *found)
{
    long number = plot_svg_paint_in(plot_svg_attribute(tag, name));
    if (number < 0) number = plot_svg_paint_in(plot_svg_attribute(tag, "color"));
    if (number < 0 && s->depth) number = s->groups[s->depth - 1];
    s->failed |= number < 0 || (size_t)number / 2 >= s->plot->series_count;
    if (s->failed) return false;
    *found = (paint){&s->plot->series[number / 2], number & 1};
    return true;
}

static void plot_svg_put_ink(state *s, const char *name, paint p)
{
    buffer_printf(&s->out, " %s=\"#a7%04x\"", name, (unsigned)p.series->ink);
}

static void plot_svg_put_polygon(state *s, span tag)
{
    paint p;
    if (!plot_svg_find_paint(s, tag, "fill", &p)) return;
    buffer_text(&s->out, "<path");
    plot_svg_put_ink(s, "fill", p);
    if (p.series->kind == PLOT_BOX) buffer_text(&s->out, " fill-opacity=\"0.3\"");
    buffer_text(&s->out, " d=\"");
    plot_svg_put_points(s, plot_svg_attribute(tag, "points"), true);
    buffer_text(&s->out, "\"/>\n");
}

static void plot_svg_put_path(state *s, span tag)
{
    span d = plot_svg_attribute(tag, "d");
    paint p;
    if (!d.size || !plot_svg_find_paint(s, tag, "stroke", &p)) return;
    buffer_text(&s->out, "<path");
    plot_svg_put_ink(s, "stroke", p);
    buffer_text(&s->out, " stroke-width=\"");
    buffer_number(&s->out, plot_width(p.series, p.extra) / 100.0);
    buffer_text(&s->out, p.series->dashed ? "\" stroke-dasharray=\"3 2\" d=\"" : "\" d=\"");
    plot_svg_put_points(s, d, false);
    buffer_text(&s->out, "\"/>\n");
}

// A number followed by `end`; moves past both.
static void plot_svg_put_number(state *s, span *from, const char *name, char end)
{
    static const char digits[] = "0123456789.-";
    size_t length = 0;
    while (length < from->size && from->at[length] && strchr(digits, from->at[length]))
        length++;
    s->failed |= !length || length >= from->size || from->at[length] != end;
    if (s->failed) return;
    buffer_printf(&s->out, " %s=\"%.*s\"", name, (int)length, from->at);
    *from = (span){from->at + length + 1, from->size - length - 1};
}

// A symbol: a dot at its place.
static void plot_svg_put_dot(state *s, span tag)
{
    static const char start[] = "translate(";
    span where = plot_svg_attribute(tag, "transform");
    paint p;
    s->failed |= where.size < sizeof start || memcmp(where.at, start, sizeof start - 1) != 0;
    if (s->failed || !plot_svg_find_paint(s, tag, "stroke", &p)) return;
    where = (span){where.at + sizeof start - 1, where.size - sizeof start + 1};
    buffer_text(&s->out, "<circle");
    plot_svg_put_ink(s, "fill", p);
    plot_svg_put_number(s, &where, "cx", ',');
    plot_svg_put_number(s, &where, "cy", ')');
    buffer_text(&s->out, " r=\"");
    buffer_number(&s->out, plot_width(p.series, p.extra) / 100.0);
    buffer_text(&s->out, "\"/>\n");
}

static void plot_svg_open_group(state *s, span tag)
{
    s->failed |= s->depth == DEPTH_MAX;
    if (s->failed) return;
    long number = plot_svg_paint_in(plot_svg_attribute(tag, "stroke"));
    s->groups[s->depth++] = number < 0 ? plot_svg_paint_in(plot_svg_attribute(tag, "color")) : number;
}

static void plot_svg_take_tag(state *s, span tag)
{
    bool closed = tag.size && tag.at[tag.size - 1] == '/';
    if (plot_svg_is_name(tag, "polygon"))
        plot_svg_put_polygon(s, tag);
    else if (plot_svg_is_name(tag, "path"))
        plot_svg_put_path(s, tag);
    else if (plot_svg_is_name(tag, "use"))
        plot_svg_put_dot(s, tag);
    else if (plot_svg_is_name(tag, "g") && !closed)
        plot_svg_open_group(s, tag);
    else if (plot_svg_is_name(tag, "/g") && s->depth)
        s->depth--;
}

// The tag after p, without its brackets; size 0 at the end.
static span plot_svg_next_tag(const char *p, const char *end)
{
    p = memchr(p, '<', (size_t)(end - p));
    if (!p) return (span){end, 0};
    const char *close = memchr(p, '>', (size_t)(end - p));
    if (!close) return (span){end, 0};
    return (span){p + 1, (size_t)(close - p - 1)};
}

static bool plot_svg_is_whole(const char *text, size_t size)
{
    while (size && plot_svg_is_blank(text[size - 1]))
        size--;
    return size > 6 && memcmp(text + size - 6, "</svg>", 6) == 0 && !memchr(text, 0, size);
}

char *plot_svg_tidy(const char *text, size_t size, const plot_job *job, size_t *new_size)
{
    state s = {.plot = job->plot, .coarse = job->coarse};
    const char *end = text + size;
    bool inside = true;
    *new_size = 0;
    if (!plot_svg_is_whole(text, size)) return NULL;
    buffer_text(&s.out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"");
    buffer_number(&s.out, job->width);
    buffer_text(&s.out, "\" height=\"");
    buffer_number(&s.out, job->height);
    buffer_text(&s.out, "\" viewBox=\"0 0 ");
    buffer_number(&s.out, job->width);
    buffer_text(&s.out, " ");
    buffer_number(&s.out, job->height);
    buffer_text(&s.out, "\">\n<g fill=\"none\" stroke-linejoin=\"round\">\n");
    for (const char *p = text; p < end && !s.failed;) {
        span tag = plot_svg_next_tag(p, end);
        if (!tag.size) break;
        if (plot_svg_is_name(tag, "defs")) inside = false;
        if (inside) plot_svg_take_tag(&s, tag);
        if (plot_svg_is_name(tag, "/defs")) inside = true;
        p = tag.at + tag.size;
    }
    buffer_printf(&s.out, "</g>\n</svg>\n");
    if (s.failed) {
        free(s.out.data);
        return NULL;
    }
    *new_size = s.out.size;
    return s.out.data;
}
