// Writes a canvas as a picture of TikZ, for \input in a LaTeX file: lines as paths, texts set by LaTeX in its own fonts.
//
// Every text is foreign: each character that means something to TeX is written as a command.
#include "canvas_model.h"

#include <stdlib.h>
#include <string.h>

static void tikz_write_place(buffer *out, double x, double y)
{
    buffer_text(out, "(");
    buffer_number(out, x);
    buffer_text(out, ",");
    buffer_number(out, y);
    buffer_text(out, ")");
}

static void tikz_write_color(buffer *out, const canvas *c, const char *name, theme_ink ink)
{
    theme_rgb rgb = canvas_color(c, ink);
    buffer_printf(out, "%s={rgb,255:red,%d;green,%d;blue,%d}", name, rgb.red, rgb.green, rgb.blue);
}

static void tikz_begin(buffer *out, const canvas *c, const canvas_op *op)
{
    double lengths[4];
    int count;
    buffer_text(out, op->stroke == INK_NONE ? "\\fill[" : "\\draw[");
    if (op->fill != INK_NONE) tikz_write_color(out, c, "fill", op->fill);
    if (op->stroke != INK_NONE) {
        if (op->fill != INK_NONE) buffer_text(out, ",");
        tikz_write_color(out, c, "draw", op->stroke);
        buffer_text(out, ",line width=");
        buffer_number(out, op->line_width * (c->figure ? c->figure->points : 1));
        buffer_text(out, "bp");
    }
    if (canvas_dashes(op->dash, lengths, &count)) {
        buffer_text(out, ",dash pattern=");
        for (int i = 0; i < count; i++) {
            buffer_text(out, i % 2 ? "off " : "on ");
            buffer_number(out, lengths[i] * (c->figure ? c->figure->points : 1));
            buffer_text(out, "bp ");
        }
    }
    buffer_text(out, "] ");
}

static void tikz_write_box(buffer *out, const canvas *c, const canvas_op *op)
{
    tikz_begin(out, c, op);
    tikz_write_place(out, op->box.x, op->box.y);
    buffer_text(out, " rectangle ");
    tikz_write_place(out, op->box.x + op->box.width, op->box.y + op->box.height);
    buffer_text(out, ";\n");
}

static void tikz_write_points(buffer *out, const canvas *c, const canvas_op *op)
{
    tikz_begin(out, c, op);
    for (size_t i = 0; i < op->count; i++) {
        bool first = i == 0 || (op->kind == CANVAS_LINES && i % 2 == 0);
        if (i) buffer_text(out, first ? " " : "--");
        if (i && i % 8 == 0) buffer_text(out, "\n");
        tikz_write_place(out, op->points[i].x, op->points[i].y);
    }
    buffer_text(out, op->kind == CANVAS_POLYGON ? "--cycle;\n" : ";\n");
}

static void tikz_write_dot(buffer *out, const canvas *c, const canvas_op *op)
{
    tikz_begin(out, c, op);
    tikz_write_place(out, op->box.x, op->box.y);
    buffer_text(out, " circle[radius=");
    buffer_number(out, op->radius * (c->figure ? c->figure->points : 1));
    buffer_text(out, "bp];\n");
}

// What pdfTeX has no letter for; all other text beyond ASCII is left to the document's own encoding.
static const struct {
    const char *text, *tex;
} tikz_words[] = {
    {"\\", "\\textbackslash{}"},
    {"{", "\\{"},
    {"}", "\\}"},
    {"$", "\\$"},
    {"&", "\\&"},
    {"#", "\\#"},
    {"_", "\\_"},
    {"%", "\\%"},
    {"^", "\\textasciicircum{}"},
    {"~", "\\textasciitilde{}"},
    {"<", "\\textless{}"},
    {">", "\\textgreater{}"},
    {"|", "\\textbar{}"},
    {"\"", "\\char34{}"},    // \textquotedbl is in few encodings, and " may be a shorthand of the language
    {"\xe2\x80\xaf", "\\,"}, // U+202F narrow no-break space
    {"\xc2\xa0", "~"},
    {"\xc2\xb5", "$\\mu$"},
    {"\xce\xbc", "$\\mu$"},
    {"\xc3\x97", "$\\times$"},
    {"\xc2\xb1", "$\\pm$"},
    {"\xc2\xb7", "$\\cdot$"},
    {"\xe2\x88\x92", "$-$"},
    {"\xe2\x89\xa4", "$\\leq$"},
    {"\xe2\x89\xa5", "$\\geq$"},
    {"\xe2\x89\x88", "$\\approx$"},
    {"\xe2\x86\x92", "$\\rightarrow$"},
    {"\xe2\x80\x93", "--"},
    {"\xe2\x80\xa6", "\\dots{}"},
};

static void tikz_write_escaped(buffer *out, const char *text)
{
    while (*text) {
        size_t i = 0, count = sizeof tikz_words / sizeof *tikz_words;
        while (i < count && strncmp(text, tikz_words[i].text, strlen(tikz_words[i].text)) != 0)
            i++;
        if (text[0] == '-' && text[1] == '-') {
            buffer_text(out, "-{}"); // two are two, and no dash
            text++;
        } else if (i < count) {
            buffer_text(out, tikz_words[i].tex);
            text += strlen(tikz_words[i].text);
        } else {
            buffer_bytes(out, text++, 1);
        }
    }
}

static void tikz_write_text(buffer *out, const canvas *c, const canvas_op *op)
{
    static const char *const anchors[] = {
        [ALIGN_LEFT] = "base west", [ALIGN_CENTER] = "base", [ALIGN_RIGHT] = "base east"};
    double along = op->box.width * (op->align == ALIGN_CENTER ? .5 : op->align == ALIGN_RIGHT ? 1 : 0);
    buffer_printf(out, "\\node[anchor=%s,", anchors[op->align]);
    if (op->upwards) buffer_text(out, "rotate=90,");
    tikz_write_color(out, c, "text", op->fill);
    buffer_text(out, "] at ");
    tikz_write_place(out, op->box.x + (op->upwards ? 0 : along), op->box.y - (op->upwards ? along : 0));
    buffer_text(out, theme_weight(op->type) > 400 ? " {\\bfseries " : " {");
    tikz_write_escaped(out, op->text);
    buffer_text(out, "};\n");
}

static void tikz_write_image(buffer *out, const canvas *c, const canvas_op *op)
{
    double width = op->box.width / (double)op->columns, height = op->box.height / (double)op->rows;
    for (size_t row = 0; row < op->rows; row++)
        for (size_t i = 0, end; i < op->columns; i = end) {
            const uint16_t *inks = op->inks + row * op->columns;
            for (end = i + 1; end < op->columns && inks[end] == inks[i]; end++) {
            }
            if (inks[i] == INK_NONE) continue;
            const canvas_op cell = {.kind = CANVAS_RECT,
                                    .box = {op->box.x + width * (double)i, op->box.y + height * (double)row,
                                            width * (double)(end - i), height},
                                    .fill = (theme_ink)inks[i]};
            tikz_write_box(out, c, &cell);
        }
}

void canvas_tikz(const canvas *c, buffer *out)
{
    double points = c->figure ? c->figure->points : 1, size = canvas_type_size(c, TYPE_AXIS) * points;
    buffer_text(out, "% Made by netprof. In the document's head: \\usepackage{tikz}\n\\begin{tikzpicture}[x=");
    buffer_number(out, points);
    buffer_text(out, "bp,y=-");
    buffer_number(out, points);
    buffer_text(out, "bp,line join=round,inner sep=0pt,outer sep=0pt,font=\\fontsize{");
    buffer_number(out, size);
    buffer_text(out, "bp}{");
    buffer_number(out, size * 1.2);
    buffer_text(out, "bp}\\selectfont]\n\\useasboundingbox (0,0) rectangle ");
    tikz_write_place(out, c->width, c->height);
    buffer_text(out, ";\n");
    for (size_t i = 0; i < c->count; i++) {
        const canvas_op *op = &c->ops[i];
        switch (op->kind) {
        case CANVAS_RECT:
        case CANVAS_FRAME: tikz_write_box(out, c, op); break;
        case CANVAS_LINES:
        case CANVAS_POLYGON:
        case CANVAS_POLYLINE: tikz_write_points(out, c, op); break;
        case CANVAS_DOT: tikz_write_dot(out, c, op); break;
        case CANVAS_TEXT: tikz_write_text(out, c, op); break;
        case CANVAS_IMAGE: tikz_write_image(out, c, op); break;
        case CANVAS_PLOT: // a figure has shapes in their place
        case CANVAS_HOVER:
        case CANVAS_GROUP:
        case CANVAS_GROUP_END:
        case CANVAS_TIME:
        case CANVAS_TIME_END:
        case CANVAS_TICS:
        case CANVAS_TICS_END: break;
        }
    }
    buffer_text(out, "\\end{tikzpicture}\n");
}
