// gnuplot's SVG, cut down to its shapes. Nothing is taken over that is not known: a shape's points are copied only
// when they are numbers, everything else is written here.
#include "buffer.h"
#include "plot_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 32 };

// ---- reading tags ----

typedef struct span {
    const char *at;
    size_t size;
} span;

static bool is_name(span tag, const char *name)
{
    size_t length = strlen(name);
    return tag.size >= length && memcmp(tag.at, name, length) == 0 &&
           (tag.size == length || strchr(" \t\r\n/", tag.at[length]));
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// The value of an attribute of a tag; size 0 when there is none.
static span attribute(span tag, const char *name)
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
        if (!is_blank(*p) || (size_t)(end - p - 1) <= length || memcmp(p + 1, name, length) != 0) continue;
        const char *value = p + 1 + length;
        while (value < end && is_blank(*value))
            value++;
        if (value == end || *value != '=') continue;
        value++;
        while (value < end && is_blank(*value))
            value++;
        if (value == end || (*value != '"' && *value != '\'')) break;
        const char *close = memchr(value + 1, *value, (size_t)(end - value - 1));
        if (!close) break;
        return (span){value + 1, (size_t)(close - value - 1)};
    }
    return (span){tag.at, 0};
}

// The low bytes of a colour: "rgb(167,   0,   2)" is 2; -1: no colour of ours.
static long paint_in(span colour)
{
    char text[32];
    unsigned red, green, blue;
    if (!colour.size || colour.size >= sizeof text) return -1;
    memcpy(text, colour.at, colour.size);
    text[colour.size] = 0;
    if (sscanf(text, "rgb(%u,%u,%u)", &red, &green, &blue) != 3 || red != PLOT_PAINT >> 16 || green > 255 ||
        blue > 255)
        return -1;
    return (long)(green << 8 | blue);
}

// ---- writing shapes ----

typedef struct state {
    buffer out;
    const plot *plot;
    long groups[DEPTH_MAX]; // paint of each that is open
    size_t depth;
    bool failed;
} state;

// Numbers, commands of paths and what stands between them; blanks once.
static void put_points(state *s, span points)
{
    static const char allowed[] = "0123456789.,-MLZ";
    bool blank = false, begun = false;
    const char *p = points.at, *end = p + points.size;
    while (p < end) {
        if (is_blank(*p)) {
            blank = begun;
            p++;
            continue;
        }
        const char *from = p;
        while (p < end && *p && strchr(allowed, *p))
            p++;
        s->failed |= p == from;
        if (s->failed) return;
        if (blank) buffer_bytes(&s->out, " ", 1);
        buffer_bytes(&s->out, from, (size_t)(p - from));
        begun = true;
        blank = false;
    }
}

// What a shape belongs to.
typedef struct paint {
    const plot_series *series;
    bool extra;
} paint;

static bool find_paint(state *s, span tag, const char *name, paint *found)
{
    long number = paint_in(attribute(tag, name));
    if (number < 0) number = paint_in(attribute(tag, "color"));
    if (number < 0 && s->depth) number = s->groups[s->depth - 1];
    s->failed |= number < 0 || (size_t)number / 2 >= s->plot->series_count;
    if (s->failed) return false;
    *found = (paint){&s->plot->series[number / 2], number & 1};
    return true;
}

static void put_ink(state *s, const char *name, paint p)
{
    buffer_printf(&s->out, " %s=\"#a7%04x\"", name, (unsigned)p.series->ink);
}

static void put_polygon(state *s, span tag)
{
    paint p;
    if (!find_paint(s, tag, "fill", &p)) return;
    buffer_text(&s->out, "<polygon");
    put_ink(s, "fill", p);
    if (p.series->kind == PLOT_BOX) buffer_text(&s->out, " fill-opacity=\"0.3\"");
    buffer_text(&s->out, " points=\"");
    put_points(s, attribute(tag, "points"));
    buffer_text(&s->out, "\"/>\n");
}

static void put_path(state *s, span tag)
{
    span d = attribute(tag, "d");
    paint p;
    if (!d.size || !find_paint(s, tag, "stroke", &p)) return;
    buffer_text(&s->out, "<path");
    put_ink(s, "stroke", p);
    buffer_text(&s->out, " stroke-width=\"");
    buffer_number(&s->out, plot_width(p.series, p.extra) / 100.0);
    buffer_text(&s->out, p.series->dashed ? "\" stroke-dasharray=\"3 2\" d=\"" : "\" d=\"");
    put_points(s, d);
    buffer_text(&s->out, "\"/>\n");
}

// A number of `end` after it; moves behind it.
static void put_number(state *s, span *from, const char *name, char end)
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
static void put_dot(state *s, span tag)
{
    static const char start[] = "translate(";
    span where = attribute(tag, "transform");
    paint p;
    s->failed |= where.size < sizeof start || memcmp(where.at, start, sizeof start - 1) != 0;
    if (s->failed || !find_paint(s, tag, "stroke", &p)) return;
    where = (span){where.at + sizeof start - 1, where.size - sizeof start + 1};
    buffer_text(&s->out, "<circle");
    put_ink(s, "fill", p);
    put_number(s, &where, "cx", ',');
    put_number(s, &where, "cy", ')');
    buffer_text(&s->out, " r=\"");
    buffer_number(&s->out, plot_width(p.series, p.extra) / 100.0);
    buffer_text(&s->out, "\"/>\n");
}

static void open_group(state *s, span tag)
{
    s->failed |= s->depth == DEPTH_MAX;
    if (s->failed) return;
    long number = paint_in(attribute(tag, "stroke"));
    s->groups[s->depth++] = number < 0 ? paint_in(attribute(tag, "color")) : number;
}

static void take_tag(state *s, span tag)
{
    bool closed = tag.size && tag.at[tag.size - 1] == '/';
    if (is_name(tag, "polygon"))
        put_polygon(s, tag);
    else if (is_name(tag, "path"))
        put_path(s, tag);
    else if (is_name(tag, "use"))
        put_dot(s, tag);
    else if (is_name(tag, "g") && !closed)
        open_group(s, tag);
    else if (is_name(tag, "/g") && s->depth)
        s->depth--;
}

// The tag behind p, without its brackets; size 0 at the end.
static span next_tag(const char *p, const char *end)
{
    p = memchr(p, '<', (size_t)(end - p));
    if (!p) return (span){end, 0};
    const char *close = memchr(p, '>', (size_t)(end - p));
    if (!close) return (span){end, 0};
    return (span){p + 1, (size_t)(close - p - 1)};
}

static bool is_whole(const char *text, size_t size)
{
    while (size && is_blank(text[size - 1]))
        size--;
    return size > 6 && memcmp(text + size - 6, "</svg>", 6) == 0 && !memchr(text, 0, size);
}

char *plot_svg_tidy(const char *text, size_t size, const plot_job *job, size_t *new_size)
{
    state s = {.plot = job->plot};
    const char *end = text + size;
    bool inside = true;
    *new_size = 0;
    if (!is_whole(text, size)) return NULL;
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
        span tag = next_tag(p, end);
        if (!tag.size) break;
        if (is_name(tag, "defs")) inside = false;
        if (inside) take_tag(&s, tag);
        if (is_name(tag, "/defs")) inside = true;
        p = tag.at + tag.size;
    }
    buffer_printf(&s.out, "</g>\n</svg>\n");
    if (s.failed || s.out.failed) {
        free(s.out.data);
        return NULL;
    }
    *new_size = s.out.size;
    return s.out.data;
}

// ---- inks ----

char *plot_svg_inks(const char *svg, size_t size, plot_colors colors, size_t *new_size)
{
    buffer out = {0};
    const char *p = svg, *end = svg + size;
    *new_size = 0;
    while (p < end) {
        const char *mark = memchr(p, '#', (size_t)(end - p));
        if (!mark) mark = end;
        buffer_bytes(&out, p, (size_t)(mark - p));
        p = mark;
        if (mark == end) break;
        char digits[5] = "";
        if (end - mark >= 7 && mark[1] == 'a' && mark[2] == '7') memcpy(digits, mark + 3, 4);
        unsigned ink = (unsigned)strtoul(digits, NULL, 16);
        if (!*digits || ink >= INK_COUNT) {
            buffer_bytes(&out, p++, 1);
            continue;
        }
        theme_rgb c = theme_color((theme_ink)ink, colors == PLOT_DARK);
        if (colors != PLOT_VARIABLES)
            buffer_printf(&out, "#%02x%02x%02x", c.red, c.green, c.blue);
        else
            buffer_printf(&out, "var(--i%u)", ink);
        p += 7;
    }
    buffer_bytes(&out, "", 0);
    if (out.failed) {
        free(out.data);
        return NULL;
    }
    *new_size = out.size;
    return out.data;
}
