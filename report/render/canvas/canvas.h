// A canvas: what is drawn on one page or in one chart, kept as a list and replayed into cairo (PDF, PNG) or
// written as SVG. A chart is written once, against this interface.
//
// Units are points (1/72 inch), the origin is top left, y grows downwards. Text is measured by pango whatever
// the output, so the layout is the same in all formats. Every string is foreign text: UTF-8 is repaired, control
// and bidirectional override characters are made visible, and each writer escapes.
//
// Thread rule: one thread at a time per canvas.
#ifndef NETPROF_CANVAS_H
#define NETPROF_CANVAS_H

#include "canvas_types.h"
#include "plot_model.h"

canvas *canvas_open(double width, double height);
void canvas_close(canvas *c);
void canvas_dark(canvas *c, bool dark); // the theme's dark colours, on a ground of their own; false at first
// Before anything is measured or drawn: plots are then drawn as shapes, without gnuplot. Copied.
void canvas_set_figure(canvas *c, const canvas_figure *f);
const canvas_figure *canvas_figure_of(const canvas *c); // NULL: a page
// The ink and the dashes of the k-th line of a panel in a figure; on a page the ink that it has, and none.
theme_ink canvas_line_ink(const canvas *c, theme_ink ink, size_t k);
canvas_dash canvas_line_dash(const canvas *c, size_t k);
double canvas_width(const canvas *c);
double canvas_height(const canvas *c);

// Shapes. stroke INK_NONE: no outline.
void canvas_rect(canvas *c, canvas_box box, theme_ink fill, double radius);
void canvas_frame(canvas *c, canvas_box box, theme_ink stroke, double line_width);
void canvas_hatch(canvas *c, canvas_box box); // "not measured"
void canvas_line(canvas *c, double x1, double y1, double x2, double y2, theme_ink stroke, double line_width);
void canvas_dashed(canvas *c, double x1, double y1, double x2, double y2, theme_ink stroke, double line_width);
void canvas_dashed_polyline(canvas *c, const canvas_point *points, size_t count, theme_ink stroke, double line_width,
                            canvas_dash dash);
void canvas_polygon(canvas *c, const canvas_point *points, size_t count, theme_ink fill);
void canvas_polyline(canvas *c, const canvas_point *points, size_t count, theme_ink stroke, double line_width);
void canvas_dot(canvas *c, double x, double y, double radius, theme_ink fill, theme_ink stroke);
void canvas_mark(canvas *c, double x, double y, severity s); // shape and colour, 6 pt around its middle

// Text on the base line y, shortened to fit max_width (0: unlimited). Returns the width that it takes.
double canvas_text(canvas *c, double x, double y, const char *text, theme_type type, theme_ink ink, canvas_align align,
                   double max_width);
// The same upwards: from the bottom to the top, its middle at y.
void canvas_text_upwards(canvas *c, double x, double y, const char *text, theme_type type, theme_ink ink);
void canvas_shorten_at(canvas *c, canvas_shorten where); // for the texts that follow; SHORTEN_MIDDLE at first
// Text wrapped at words to the width; y is the first base line. Returns the height taken, in whole lines of leading
// 1.35 x size. lines_max 0: all; else the last line ends in an ellipsis when there is more.
double canvas_paragraph(canvas *c, double x, double y, double width, const char *text, theme_type type, theme_ink ink,
                        size_t lines_max);
// False: no font is installed that has letters; every text would be boxes.
bool canvas_has_letters(canvas *c);
// Measured without being drawn.
double canvas_text_width(canvas *c, const char *text, theme_type type);
double canvas_paragraph_height(canvas *c, double width, const char *text, theme_type type, size_t lines_max);

// Data layers.
// Pixels, row by row from the top, each the index of an ink (INK_NONE: transparent); copied.
void canvas_image(canvas *c, canvas_box box, const uint16_t *inks, size_t columns, size_t rows);
// Drawn by gnuplot into exactly this box; copied. All plots of a document are made in one run of gnuplot.
void canvas_plot(canvas *c, canvas_box box, const plot *p);

// What is drawn until canvas_time_end() is drawn over time: on an interactive page it can be magnified. Nothing is drawn
// by itself. They do not nest, and groups do not begin or end in them.
void canvas_time(canvas *c, const canvas_span *span);
void canvas_time_end(canvas *c);
// The same around the tics of an axis of time: they make room for others while a part of it is magnified.
void canvas_tics(canvas *c, canvas_box box);
void canvas_tics_end(canvas *c);

// A group: a chart with its title and description (SVG <g role="img">, <title>, <desc>). Groups nest.
void canvas_group(canvas *c, const char *title, const char *description);
void canvas_group_end(canvas *c);
// The exact value of the next shape or text (SVG <title>: shown on hover); paper formats ignore it.
void canvas_tip(canvas *c, const char *text);
// An area that shows nothing but its text when the pointer rests on it; paper formats ignore it.
void canvas_hover(canvas *c, canvas_box box, const char *text);

// Layout check: calls found() for each text that leaves the canvas or the box
// `inside`, is below 6 pt, or lies over another text (by more than 0.5 pt both ways).
typedef enum canvas_fault { FAULT_OUTSIDE = 1, FAULT_SMALL, FAULT_OVERLAP } canvas_fault;
size_t canvas_check(const canvas *c, canvas_box inside,
                    void (*found)(void *user, canvas_fault fault, const char *text, const char *other), void *user);

#endif
