// Writes a canvas as SVG with real text: it can be selected, searched and read aloud.
#include "canvas_model.h"
#include "render/base/carried_font.h"
#include "plot_inks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void canvas_svg_attribute(buffer *out, const char *name, double number)
{
    buffer_printf(out, " %s=\"", name);
    buffer_number(out, number);
    buffer_text(out, "\"");
}

static void canvas_svg_classes(buffer *out, const canvas_op *op)
{
    buffer_text(out, " class=\"");
    if (op->kind == CANVAS_TEXT) buffer_printf(out, "t%d ", (int)op->type);
    if (op->fill != INK_NONE) buffer_printf(out, "f%d", (int)op->fill);
    if (op->stroke != INK_NONE) buffer_printf(out, "%ss%d", op->fill != INK_NONE ? " " : "", (int)op->stroke);
    buffer_text(out, "\"");
    if (op->stroke != INK_NONE) canvas_svg_attribute(out, "stroke-width", op->line_width);
    double lengths[4];
    int count;
    if (op->dash == DASH_SHORT) buffer_text(out, " stroke-dasharray=\"2\"");
    if (op->dash <= DASH_SHORT || !canvas_dashes(op->dash, lengths, &count)) return;
    buffer_text(out, " stroke-dasharray=\"");
    for (int i = 0; i < count; i++) {
        if (i) buffer_text(out, " ");
        buffer_number(out, lengths[i]);
    }
    buffer_text(out, "\"");
}

// Closes the element, with its tip where it has one.
static void canvas_svg_end(buffer *out, const canvas_op *op, const char *name)
{
    if (!op->tip) {
        buffer_text(out, "/>\n");
        return;
    }
    buffer_text(out, "><title>");
    buffer_escaped(out, op->tip);
    buffer_printf(out, "</title></%s>\n", name);
}

static void canvas_svg_write_box(buffer *out, const canvas_op *op)
{
    buffer_text(out, "<rect");
    canvas_svg_attribute(out, "x", op->box.x);
    canvas_svg_attribute(out, "y", op->box.y);
    canvas_svg_attribute(out, "width", op->box.width);
    canvas_svg_attribute(out, "height", op->box.height);
    if (op->radius > 0) canvas_svg_attribute(out, "rx", op->radius);
    canvas_svg_classes(out, op);
    canvas_svg_end(out, op, "rect");
}

static void canvas_svg_place(buffer *out, char command, double x, double y)
{
    buffer_bytes(out, &command, 1);
    buffer_number(out, x);
    buffer_text(out, " ");
    buffer_number(out, y);
}

// From where it is: hatches are many short lines.
static void canvas_svg_way(buffer *out, double dx, double dy)
{
    bool level = fabs(dy) < .005, upright = fabs(dx) < .005;
    buffer_text(out, level ? "h" : upright ? "v" : "l");
    if (level || !upright) buffer_number(out, dx);
    if (!level && !upright && dy >= 0) buffer_text(out, " ");
    if (!level) buffer_number(out, dy);
}

static void canvas_svg_write_points(buffer *out, const canvas_op *op)
{
    buffer_text(out, "<path d=\"");
    for (size_t i = 0; i < op->count; i++) {
        bool first = i == 0 || (op->kind == CANVAS_LINES && i % 2 == 0);
        if (op->kind == CANVAS_LINES && !first)
            canvas_svg_way(out, op->points[i].x - op->points[i - 1].x, op->points[i].y - op->points[i - 1].y);
        else
            canvas_svg_place(out, first ? 'M' : 'L', op->points[i].x, op->points[i].y);
    }
    if (op->kind == CANVAS_POLYGON) buffer_text(out, "Z");
    buffer_text(out, "\"");
    canvas_svg_classes(out, op);
    if (op->kind == CANVAS_POLYLINE) buffer_text(out, " stroke-linejoin=\"round\"");
    canvas_svg_end(out, op, "path");
}

static void canvas_svg_write_dot(buffer *out, const canvas_op *op)
{
    buffer_text(out, "<circle");
    canvas_svg_attribute(out, "cx", op->box.x);
    canvas_svg_attribute(out, "cy", op->box.y);
    canvas_svg_attribute(out, "r", op->radius);
    canvas_svg_classes(out, op);
    canvas_svg_end(out, op, "circle");
}

// Where the reader has other fonts the text is fitted to the width that it was laid out for. In a figure it is not: its
// author may choose another font, and it stays at its place.
static void canvas_svg_write_text(const canvas *c, buffer *out, const canvas_op *op)
{
    enum { FITTED = 17 }; // what is shorter cannot differ by much
    static const char *const anchors[] = {[ALIGN_LEFT] = "start", [ALIGN_CENTER] = "middle", [ALIGN_RIGHT] = "end"};
    const char *tip = op->tip ? op->tip : op->more;
    double along = c->figure ? op->box.width * (op->align == ALIGN_CENTER ? .5 : op->align == ALIGN_RIGHT ? 1 : 0) : 0;
    buffer_text(out, "<text");
    canvas_svg_attribute(out, "x", op->box.x + (op->upwards ? 0 : along));
    canvas_svg_attribute(out, "y", op->box.y - (op->upwards ? along : 0));
    if (op->upwards) {
        buffer_text(out, " transform=\"rotate(-90 ");
        buffer_number(out, op->box.x);
        buffer_text(out, " ");
        buffer_number(out, op->box.y - along);
        buffer_text(out, ")\"");
    }
    if (c->figure) {
        buffer_printf(out, " text-anchor=\"%s\"", anchors[op->align]);
    } else if (op->box.width > FITTED) {
        canvas_svg_attribute(out, "textLength", op->box.width);
        buffer_text(out, " lengthAdjust=\"spacingAndGlyphs\"");
    }
    canvas_svg_classes(out, op);
    buffer_text(out, ">");
    if (tip) {
        buffer_text(out, "<title>");
        buffer_escaped(out, tip);
        buffer_text(out, "</title>");
    }
    buffer_escaped(out, op->text);
    buffer_text(out, "</text>\n");
}

static bool canvas_svg_has_ink(uint16_t ink)
{
    return ink > INK_NONE && ink < INK_COUNT;
}

// One path for each ink: the runs of its cells in a grid of unit cells, scaled to the box. A run is a line as wide as a
// row is high, which is half as long to write as the rectangle. What is under the others runs on below them.
static void canvas_svg_write_image_ink(buffer *out, const canvas_op *op, uint16_t ink, bool under)
{
    size_t x = 0, y = 0;
    const char *move = "M";
    buffer_printf(out, "<path class=\"s%u\" d=\"", (unsigned)ink);
    for (size_t row = 0; row < op->rows; row++) {
        const uint16_t *inks = op->inks + row * op->columns;
        for (size_t i = 0; i < op->columns; i++) {
            size_t from = i;
            if (under ? !canvas_svg_has_ink(inks[i]) : inks[i] != ink) continue;
            while (i + 1 < op->columns && (under ? canvas_svg_has_ink(inks[i + 1]) : inks[i + 1] == ink))
                i++;
            buffer_printf(out, "%s%td %zuh%zu", move, (ptrdiff_t)from - (ptrdiff_t)x, row - y, i + 1 - from);
            move = "m";
            x = i + 1;
            y = row;
        }
    }
    buffer_text(out, "\"/>\n");
}

// The ink with the most runs, if that saves some, is drawn first, below the others, which then cut it.
static void canvas_svg_write_image_inks(buffer *out, const canvas_op *op)
{
    size_t runs[INK_COUNT] = {0};
    enum { WORTH = 3 };
    uint16_t most = INK_NONE;
    for (size_t i = 0; i < op->columns * op->rows; i++)
        if (canvas_svg_has_ink(op->inks[i]))
            runs[op->inks[i]] += i % op->columns == 0 || op->inks[i - 1] != op->inks[i];
    for (uint16_t ink = INK_NONE + 1; ink < INK_COUNT; ink++)
        if (runs[ink] >= WORTH && runs[ink] > runs[most]) most = ink;
    if (most != INK_NONE) canvas_svg_write_image_ink(out, op, most, true);
    for (uint16_t ink = INK_NONE + 1; ink < INK_COUNT; ink++)
        if (runs[ink] && ink != most) canvas_svg_write_image_ink(out, op, ink, false);
}

static void canvas_svg_write_image(buffer *out, const canvas_op *op)
{
    if (!op->columns || !op->rows) return;
    // Lines lie on the middle of their rows.
    double across = op->box.width / (double)op->columns, down = op->box.height / (double)op->rows;
    buffer_text(out, "<g class=\"m\" transform=\"translate(");
    buffer_number(out, op->box.x);
    buffer_text(out, " ");
    buffer_number(out, op->box.y + down / 2);
    buffer_printf(out, ")scale(%.5g %.5g)\">\n", across, down);
    if (op->used) {
        buffer_printf(out, "<use href=\"#d%zu\"/></g>\n", op->id);
        return;
    }
    if (op->id) buffer_printf(out, "<g id=\"d%zu\">", op->id);
    canvas_svg_write_image_inks(out, op);
    buffer_text(out, op->id ? "</g></g>\n" : "</g>\n");
}

static void canvas_svg_write_drawn(buffer *out, const canvas_op *op, const plot_job *job, plot_colors colors)
{
    size_t size = 0;
    if (op->used) {
        buffer_printf(out, "<use href=\"#d%zu\"/>", op->id);
        return;
    }
    char *svg = plot_svg_inks(job->svg, job->svg_size, colors, &size);
    if (op->id) buffer_printf(out, "<g id=\"d%zu\">", op->id);
    buffer_bytes(out, svg, size);
    if (op->id) buffer_text(out, "</g>");
    free(svg);
}

static void canvas_svg_write_plot(buffer *out, const canvas_op *op, plot_colors colors)
{
    const plot_job *job = op->used ? op->plot->like->job : op->plot->job;
    if (!job || !job->svg) return;
    buffer_text(out, "<svg");
    canvas_svg_attribute(out, "x", op->box.x);
    canvas_svg_attribute(out, "y", op->box.y);
    canvas_svg_attribute(out, "width", op->box.width);
    canvas_svg_attribute(out, "height", op->box.height);
    buffer_text(out, " viewBox=\"0 0 ");
    buffer_number(out, job->width);
    buffer_text(out, " ");
    buffer_number(out, job->height);
    buffer_text(out, "\" preserveAspectRatio=\"none\">\n");
    canvas_svg_write_drawn(out, op, job, colors);
    buffer_text(out, "</svg>\n");
}

// Three sides: what is filled, or pointed at, is closed by itself.
static void canvas_svg_box_way(buffer *out, canvas_box box)
{
    canvas_svg_place(out, 'M', box.x, box.y);
    canvas_svg_way(out, box.width, 0);
    canvas_svg_way(out, 0, box.height);
    canvas_svg_way(out, -box.width, 0);
}

static bool canvas_svg_is_plain_box(const canvas_op *op)
{
    return op->kind == CANVAS_RECT && !op->tip && !(op->radius > 0) && op->stroke == INK_NONE && op->fill != INK_NONE;
}

// Boxes of one ink that follow one another are one path. Returns how many.
static size_t canvas_svg_write_boxes(const canvas *c, buffer *out, size_t first)
{
    size_t end = first;
    while (end < c->count && canvas_svg_is_plain_box(&c->ops[end]) && c->ops[end].fill == c->ops[first].fill)
        end++;
    if (end - first < 3) return 0;
    buffer_printf(out, "<path class=\"f%d\" d=\"", (int)c->ops[first].fill);
    for (size_t i = first; i < end; i++)
        canvas_svg_box_way(out, c->ops[i].box);
    buffer_text(out, "\"/>\n");
    return end - first;
}

// Attributes that a run of them has in common are written once, in a group around them.
static void canvas_svg_write_hover(buffer *out, const canvas_op *op)
{
    buffer_text(out, "<path d=\"");
    canvas_svg_box_way(out, op->box);
    buffer_text(out, "\"");
    canvas_svg_end(out, op, "path");
}

static void canvas_svg_begin_hover(buffer *out)
{
    buffer_text(out, "<g fill=\"none\" pointer-events=\"all\">\n");
}

static void canvas_svg_write_group(buffer *out, const canvas_op *op)
{
    buffer_text(out, "<g role=\"img\"><title>");
    buffer_escaped(out, op->text);
    buffer_text(out, "</title>");
    if (*op->more) {
        buffer_text(out, "<desc>");
        buffer_escaped(out, op->more);
        buffer_text(out, "</desc>");
    }
    buffer_text(out, "\n");
}

// A picture in the picture, at first of the same scale: what it shows can be changed without touching what is in it.
static void canvas_svg_write_time(buffer *out, const canvas_op *op)
{
    const canvas_span *s = op->span;
    buffer_text(out, "<svg class=\"time\"");
    canvas_svg_attribute(out, "x", s->box.x);
    canvas_svg_attribute(out, "y", s->box.y);
    canvas_svg_attribute(out, "width", s->box.width);
    canvas_svg_attribute(out, "height", s->box.height);
    buffer_text(out, " viewBox=\"");
    const double view[4] = {s->box.x, s->box.y, s->box.width, s->box.height};
    for (int i = 0; i < 4; i++) {
        if (i) buffer_text(out, " ");
        buffer_number(out, view[i]);
    }
    buffer_printf(out, "\" preserveAspectRatio=\"none\" data-from=\"%.9g\" data-to=\"%.9g\"", s->from, s->to);
    if (s->wall_ns) buffer_printf(out, " data-wall=\"%.3f\"", (double)s->wall_ns / 1e9);
    if (s->columns) {
        buffer_printf(out, " data-first=\"%zu\" data-columns=\"%zu\" data-unit=\"", s->first, s->columns);
        buffer_escaped(out, op->text);
        buffer_text(out, "\"");
    }
    buffer_text(out, ">\n");
}

static void canvas_svg_write_tics(buffer *out, const canvas_op *op)
{
    buffer_text(out, "<g class=\"tics\"");
    canvas_svg_attribute(out, "data-x", op->box.x);
    canvas_svg_attribute(out, "data-y", op->box.y + op->box.height);
    canvas_svg_attribute(out, "data-width", op->box.width);
    buffer_text(out, ">\n");
}

static void canvas_svg_write_op(const canvas *c, buffer *out, const canvas_op *op, plot_colors colors)
{
    switch (op->kind) {
    case CANVAS_RECT:
    case CANVAS_FRAME: canvas_svg_write_box(out, op); break;
    case CANVAS_LINES:
    case CANVAS_POLYGON:
    case CANVAS_POLYLINE: canvas_svg_write_points(out, op); break;
    case CANVAS_DOT: canvas_svg_write_dot(out, op); break;
    case CANVAS_TEXT: canvas_svg_write_text(c, out, op); break;
    case CANVAS_IMAGE: canvas_svg_write_image(out, op); break;
    case CANVAS_PLOT: canvas_svg_write_plot(out, op, colors); break;
    case CANVAS_HOVER: canvas_svg_write_hover(out, op); break;
    case CANVAS_GROUP: canvas_svg_write_group(out, op); break;
    case CANVAS_GROUP_END: buffer_text(out, "</g>\n"); break;
    case CANVAS_TIME:
        if (c->interactive) canvas_svg_write_time(out, op);
        break;
    case CANVAS_TIME_END:
        if (c->interactive) buffer_text(out, "</svg>\n");
        break;
    case CANVAS_TICS:
        if (c->interactive) canvas_svg_write_tics(out, op);
        break;
    case CANVAS_TICS_END:
        if (c->interactive) buffer_text(out, "</g>\n");
        break;
    }
}

static void canvas_svg_mark_used(const canvas *c, bool fills[INK_COUNT], bool strokes[INK_COUNT], bool type[TYPES])
{
    for (size_t i = 0; i < c->count; i++) {
        const canvas_op *op = &c->ops[i];
        fills[op->fill] = strokes[op->stroke] = true;
        if (op->kind == CANVAS_TEXT) type[op->type] = true;
        for (size_t k = 0; k < op->columns * op->rows; k++)
            if (op->inks[k] < INK_COUNT) strokes[op->inks[k]] = true;
    }
}

static void canvas_svg_color_rule(const canvas *of, buffer *out, char kind, theme_ink ink)
{
    theme_rgb c = canvas_color(of, ink);
    buffer_printf(out, ".%c%d{%s:#%02x%02x%02x}", kind, (int)ink, kind == 'f' ? "fill" : "fill:none;stroke", c.red,
                  c.green, c.blue);
}

// The family of --font is foreign text: a string of CSS, in which nothing can end it.
static void canvas_svg_family(const canvas *c, buffer *out, theme_type type)
{
    if (!c->figure || !c->figure->family) {
        buffer_text(out, theme_family(type));
        return;
    }
    buffer_text(out, "\"");
    for (const char *p = c->figure->family; *p; p++)
        if (!strchr("\"'\\<>&{};", *p)) buffer_bytes(out, p, 1);
    buffer_text(out, "\", sans-serif");
}

void canvas_svg_style(const canvas *c, buffer *out)
{
    bool fills[INK_COUNT] = {false}, strokes[INK_COUNT] = {false}, type[TYPES] = {false};
    canvas_svg_mark_used(c, fills, strokes, type);
    // What is drawn is not filled, unless an ink says so: that rule comes later.
    for (int ink = INK_NONE + 1; ink < INK_COUNT; ink++) {
        if (strokes[ink]) canvas_svg_color_rule(c, out, 's', (theme_ink)ink);
    }
    for (int ink = INK_NONE + 1; ink < INK_COUNT; ink++)
        if (fills[ink]) canvas_svg_color_rule(c, out, 'f', (theme_ink)ink);
    for (int t = 0; t < TYPES; t++) {
        if (!type[t]) continue;
        buffer_printf(out, ".t%d{font:%d ", t, theme_weight((theme_type)t));
        buffer_number(out, canvas_type_size(c, (theme_type)t));
        buffer_text(out, "px ");
        canvas_svg_family(c, out, (theme_type)t);
        buffer_text(out, "}");
    }
    buffer_text(out, CANVAS_SVG_RULES);
}

void canvas_svg(const canvas *c, buffer *out, bool embedded)
{
    double points = c->figure ? c->figure->points : 1;
    if (!embedded) buffer_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    buffer_text(out, "<svg xmlns=\"http://www.w3.org/2000/svg\"");
    if (!embedded) {
        buffer_text(out, " width=\"");
        buffer_number(out, c->width * points);
        buffer_text(out, "pt\" height=\"");
        buffer_number(out, c->height * points);
        buffer_text(out, "pt\"");
    }
    buffer_text(out, " viewBox=\"0 0 ");
    buffer_number(out, c->width);
    buffer_text(out, " ");
    buffer_number(out, c->height);
    buffer_text(out, "\">\n");
    if (!embedded) {
        buffer_text(out, "<style>");
        if (!c->figure || !c->figure->family) carried_font_rules(out); // else its author's choice
        canvas_svg_style(c, out);
        buffer_text(out, "</style>\n");
    }
    theme_rgb ground = theme_color(INK_PAPER, true);
    if (c->dark && !embedded)
        buffer_printf(out, "<rect width=\"100%%\" height=\"100%%\" fill=\"#%02x%02x%02x\"/>\n", ground.red,
                      ground.green, ground.blue);
    bool hovers = false;
    for (size_t i = 0; i < c->count; i++) {
        size_t boxes = hovers ? 0 : canvas_svg_write_boxes(c, out, i);
        if (boxes) {
            i += boxes - 1;
            continue;
        }
        if (hovers != (c->ops[i].kind == CANVAS_HOVER)) {
            if (hovers)
                buffer_text(out, "</g>\n");
            else
                canvas_svg_begin_hover(out);
            hovers = !hovers;
        }
        canvas_svg_write_op(c, out, &c->ops[i], embedded ? PLOT_VARIABLES : c->dark ? PLOT_DARK : PLOT_PAPER);
    }
    buffer_text(out, hovers ? "</g>\n</svg>\n" : "</svg>\n");
}
