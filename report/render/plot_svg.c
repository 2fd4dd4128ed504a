// gnuplot's SVG, cut down to its shapes. Nothing is taken over that is not known: a shape's points are copied only
// when they are numbers, everything else is written here.
#include "buffer.h"
#include "plot_private.h"

#include <math.h>
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
        while (value < end && is_blank(*value)) value++;
        if (value == end || *value != '=') continue;
        value++;
        while (value < end && is_blank(*value)) value++;
        if (value == end || (*value != '"' && *value != '\'')) break;
        const char *close = memchr(value + 1, *value, (size_t)(end - value - 1));
        if (!close) break;
        return (span){value + 1, (size_t)(close - value - 1)};
    }
    return (span){tag.at, 0};
}

static double number_in(span value)
{
    char text[32];
    if (!value.size || value.size >= sizeof text) return NAN;
    memcpy(text, value.at, value.size);
    text[value.size] = 0;
    char *end;
    double number = strtod(text, &end);
    return end > text ? number : NAN;
}

// "rgb(167,   0,   2)" is series 2; -1: no colour of ours.
static long series_in(span colour)
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
    struct {
        double width;
        long series;
    } groups[DEPTH_MAX];
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
        while (p < end && *p && strchr(allowed, *p)) p++;
        s->failed |= p == from;
        if (s->failed) return;
        if (blank) buffer_bytes(&s->out, " ", 1);
        buffer_bytes(&s->out, from, (size_t)(p - from));
        begun = true;
        blank = false;
    }
}

static long colour_of(state *s, span tag, const char *name)
{
    long series = series_in(attribute(tag, name));
    if (series < 0) series = series_in(attribute(tag, "color"));
    if (series < 0 && s->depth) series = s->groups[s->depth - 1].series;
    s->failed |= series < 0 || (size_t)series >= s->plot->series_count;
    return s->failed ? 0 : series;
}

static void put_ink(state *s, const char *attribute_name, long series)
{
    buffer_printf(&s->out, " %s=\"#a7%04x\"", attribute_name, (unsigned)s->plot->series[series].ink);
}

static void put_polygon(state *s, span tag)
{
    long series = colour_of(s, tag, "fill");
    double opacity = number_in(attribute(tag, "fill-opacity"));
    if (s->failed) return;
    buffer_printf(&s->out, "<polygon");
    put_ink(s, "fill", series);
    if (opacity >= 0 && opacity < 1) buffer_printf(&s->out, " fill-opacity=\"%.3g\"", opacity);
    buffer_printf(&s->out, " points=\"");
    put_points(s, attribute(tag, "points"));
    buffer_printf(&s->out, "\"/>\n");
}

static void put_path(state *s, span tag)
{
    long series = colour_of(s, tag, "stroke");
    span d = attribute(tag, "d");
    if (s->failed || !d.size) return;
    buffer_printf(&s->out, "<path");
    put_ink(s, "stroke", series);
    double width = s->depth ? s->groups[s->depth - 1].width : 1;
    buffer_printf(&s->out, " stroke-width=\"%.4g\"", isnan(width) ? 1 : width);
    if (s->plot->series[series].dashed) buffer_printf(&s->out, " stroke-dasharray=\"3 2\"");
    buffer_printf(&s->out, " d=\"");
    put_points(s, d);
    buffer_printf(&s->out, "\"/>\n");
}

// A symbol: a dot at its place.
static void put_dot(state *s, span tag)
{
    long series = colour_of(s, tag, "stroke");
    span where = attribute(tag, "transform");
    char text[96];
    double x, y;
    s->failed |= !where.size || where.size >= sizeof text;
    if (s->failed) return;
    memcpy(text, where.at, where.size);
    text[where.size] = 0;
    s->failed |= sscanf(text, "translate(%lf,%lf)", &x, &y) != 2;
    if (s->failed) return;
    const plot_series *of = &s->plot->series[series];
    double radius = of->line_width > 0 ? of->line_width : 1;
    buffer_printf(&s->out, "<circle");
    put_ink(s, "fill", series);
    buffer_printf(&s->out, " cx=\"%.2f\" cy=\"%.2f\" r=\"%.4g\"/>\n", x, y, radius);
}

static void open_group(state *s, span tag)
{
    s->failed |= s->depth == DEPTH_MAX;
    if (s->failed) return;
    double width = number_in(attribute(tag, "stroke-width"));
    long series = series_in(attribute(tag, "stroke"));
    if (series < 0) series = series_in(attribute(tag, "color"));
    if (s->depth && isnan(width)) width = s->groups[s->depth - 1].width;
    s->groups[s->depth].width = width;
    s->groups[s->depth++].series = series;
}

static void take_tag(state *s, span tag)
{
    bool closed = tag.size && tag.at[tag.size - 1] == '/';
    if (is_name(tag, "polygon")) put_polygon(s, tag);
    else if (is_name(tag, "path")) put_path(s, tag);
    else if (is_name(tag, "use")) put_dot(s, tag);
    else if (is_name(tag, "g") && !closed) open_group(s, tag);
    else if (is_name(tag, "/g") && s->depth) s->depth--;
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
    while (size && is_blank(text[size - 1])) size--;
    return size > 6 && memcmp(text + size - 6, "</svg>", 6) == 0 && !memchr(text, 0, size);
}

char *plot_svg_tidy(const char *text, size_t size, const plot_job *job, size_t *new_size)
{
    state s = {.plot = job->plot};
    const char *end = text + size;
    bool inside = true;
    *new_size = 0;
    if (!is_whole(text, size)) return NULL;
    buffer_printf(&s.out,
         "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.6g\" height=\"%.6g\" viewBox=\"0 0 %.6g %.6g\">\n"
         "<g fill=\"none\" stroke-linejoin=\"round\">\n",
         job->width, job->height, job->width, job->height);
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

char *plot_svg_inks(const char *svg, size_t size, bool paper, size_t *new_size)
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
        theme_rgb c = theme_color((theme_ink)ink, false);
        if (paper)
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
