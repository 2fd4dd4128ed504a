// Replays a canvas into cairo: PDF pages and PNG.
#include "canvas_model.h"
#include "plot_inks.h"

#include "analysis/base/memory.h"

#include <librsvg/rsvg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const cairo_user_data_key_t canvas_key; // the canvas that is drawn

bool canvas_cairo_good(cairo_status_t status)
{
    if (status == CAIRO_STATUS_NO_MEMORY) memory_exhausted();
    return status == CAIRO_STATUS_SUCCESS;
}

static const canvas *canvas_cairo_of(cairo_t *cr)
{
    return cairo_get_user_data(cr, &canvas_key);
}

static void canvas_cairo_set_ink(cairo_t *cr, theme_ink ink)
{
    theme_rgb c = canvas_color(canvas_cairo_of(cr), ink);
    cairo_set_source_rgb(cr, c.red / 255., c.green / 255., c.blue / 255.);
}

static void canvas_cairo_rounded(cairo_t *cr, canvas_box b, double radius)
{
    double r = fmin(radius, fmin(b.width, b.height) / 2), right = b.x + b.width, bottom = b.y + b.height;
    cairo_new_sub_path(cr);
    cairo_arc(cr, right - r, b.y + r, r, -M_PI / 2, 0);
    cairo_arc(cr, right - r, bottom - r, r, 0, M_PI / 2);
    cairo_arc(cr, b.x + r, bottom - r, r, M_PI / 2, M_PI);
    cairo_arc(cr, b.x + r, b.y + r, r, M_PI, 3 * M_PI / 2);
    cairo_close_path(cr);
}

static void canvas_cairo_stroke(cairo_t *cr, const canvas_op *op)
{
    canvas_cairo_set_ink(cr, op->stroke);
    cairo_set_line_width(cr, op->line_width);
    double lengths[4];
    int count;
    bool dashed = canvas_dashes(op->dash, lengths, &count);
    if (dashed) cairo_set_dash(cr, lengths, count, 0);
    cairo_stroke(cr);
    if (dashed) cairo_set_dash(cr, NULL, 0, 0);
}

static void canvas_cairo_draw_rect(cairo_t *cr, const canvas_op *op)
{
    if (op->radius > 0)
        canvas_cairo_rounded(cr, op->box, op->radius);
    else
        cairo_rectangle(cr, op->box.x, op->box.y, op->box.width, op->box.height);
    canvas_cairo_set_ink(cr, op->fill);
    cairo_fill(cr);
}

static void canvas_cairo_draw_points(cairo_t *cr, const canvas_op *op)
{
    for (size_t i = 0; i < op->count; i++) {
        bool first = i == 0 || (op->kind == CANVAS_LINES && i % 2 == 0);
        if (first)
            cairo_move_to(cr, op->points[i].x, op->points[i].y);
        else
            cairo_line_to(cr, op->points[i].x, op->points[i].y);
    }
    if (op->kind != CANVAS_POLYGON) {
        canvas_cairo_stroke(cr, op);
        return;
    }
    cairo_close_path(cr);
    canvas_cairo_set_ink(cr, op->fill);
    cairo_fill(cr);
}

static void canvas_cairo_draw_dot(cairo_t *cr, const canvas_op *op)
{
    cairo_new_sub_path(cr);
    cairo_arc(cr, op->box.x, op->box.y, op->radius, 0, 2 * M_PI);
    if (op->fill != INK_NONE) {
        canvas_cairo_set_ink(cr, op->fill);
        cairo_fill_preserve(cr);
    }
    if (op->stroke != INK_NONE)
        canvas_cairo_stroke(cr, op);
    else
        cairo_new_path(cr);
}

static void canvas_cairo_draw_text(canvas *c, cairo_t *cr, const canvas_op *op)
{
    PangoLayout *layout = canvas_kept_layout(c, op->text, op->type);
    canvas_cairo_set_ink(cr, op->fill);
    cairo_move_to(cr, op->box.x, op->box.y);
    if (op->upwards) cairo_save(cr), cairo_rotate(cr, -M_PI / 2);
    pango_cairo_show_layout_line(cr, pango_layout_get_line_readonly(layout, 0));
    if (op->upwards) cairo_restore(cr);
}

// Rows of few cells as shapes: a viewer that smooths pictures would smear a picture of one pixel's height. Each stretch
// reaches a little under the next, so that no seam is seen.
static void canvas_cairo_draw_cells(cairo_t *cr, const canvas_op *op)
{
    const double overlap = .2;
    double width = op->box.width / (double)op->columns, height = op->box.height / (double)op->rows;
    for (size_t row = 0; row < op->rows; row++) {
        const uint16_t *inks = op->inks + row * op->columns;
        for (size_t i = 0, end; i < op->columns; i = end) {
            for (end = i + 1; end < op->columns && inks[end] == inks[i]; end++) {
            }
            if (inks[i] == INK_NONE) continue;
            bool joined = end < op->columns && inks[end] != INK_NONE;
            cairo_rectangle(cr, op->box.x + width * (double)i, op->box.y + height * (double)row,
                            width * (double)(end - i) + (joined ? overlap : 0), height);
            canvas_cairo_set_ink(cr, (theme_ink)inks[i]);
            cairo_fill(cr);
        }
    }
}

static bool canvas_cairo_is_paper(cairo_t *cr)
{
    cairo_surface_type_t type = cairo_surface_get_type(cairo_get_target(cr));
    return type == CAIRO_SURFACE_TYPE_PDF || type == CAIRO_SURFACE_TYPE_PS;
}

static bool canvas_cairo_draw_image(cairo_t *cr, const canvas_op *op)
{
    enum { LOW = 4 }; // rows
    if (op->rows <= LOW && canvas_cairo_is_paper(cr)) {
        canvas_cairo_draw_cells(cr, op);
        return true;
    }
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, (int)op->columns, (int)op->rows);
    unsigned char *data = cairo_image_surface_get_data(image);
    bool ok = canvas_cairo_good(cairo_surface_status(image));
    int stride = cairo_image_surface_get_stride(image);
    for (size_t row = 0; ok && row < op->rows; row++) {
        uint32_t *to = (uint32_t *)(void *)(data + row * (size_t)stride);
        for (size_t i = 0; i < op->columns; i++) {
            theme_ink ink = (theme_ink)op->inks[row * op->columns + i];
            theme_rgb rgb = canvas_color(canvas_cairo_of(cr), ink);
            to[i] = ink == INK_NONE
                        ? 0
                        : 0xff000000u | (uint32_t)rgb.red << 16 | (uint32_t)rgb.green << 8 | (uint32_t)rgb.blue;
        }
    }
    if (ok) {
        cairo_surface_mark_dirty(image);
        cairo_save(cr);
        cairo_translate(cr, op->box.x, op->box.y);
        cairo_scale(cr, op->box.width / (double)op->columns, op->box.height / (double)op->rows);
        cairo_set_source_surface(cr, image, 0, 0);
        cairo_pattern_set_filter(cairo_get_source(cr), CAIRO_FILTER_NEAREST);
        cairo_paint(cr);
        cairo_restore(cr);
    }
    cairo_surface_destroy(image);
    return ok;
}

static bool canvas_cairo_draw_plot(cairo_t *cr, const canvas_op *op)
{
    const plot_job *job = op->plot->job;
    if (!job || !job->svg) return true; // the field says that it is missing
    size_t size = 0;
    char *svg = plot_svg_inks(job->svg, job->svg_size, canvas_cairo_of(cr)->dark ? PLOT_DARK : PLOT_PAPER, &size);
    RsvgHandle *handle = rsvg_handle_new_from_data((const guint8 *)svg, size, NULL);
    RsvgRectangle box = {op->box.x, op->box.y, op->box.width, op->box.height};
    bool ok = false;
    if (handle) {
        cairo_save(cr);
        cairo_rectangle(cr, box.x, box.y, box.width, box.height);
        cairo_clip(cr);
        ok = rsvg_handle_render_document(handle, cr, &box, NULL);
        cairo_restore(cr);
        g_object_unref(handle);
    }
    free(svg);
    return ok;
}

// ---- tags: what a page is, for those who hear it ----

static const char *canvas_cairo_tag_of(theme_type type)
{
    switch (type) {
    case TYPE_TITLE:
    case TYPE_TITLE_LONG: return "H1";
    case TYPE_PART: return "H2";
    case TYPE_SECTION: return "H3";
    default: return "P";
    }
}

// Charts are sections with their texts in them; document/pdf_update.h makes those figures that have a text in their place. What is
// said outside of them is headings and paragraphs.
static void canvas_cairo_tag_group(cairo_t *cr, canvas_kind kind, size_t *depth)
{
    if (kind == CANVAS_GROUP && !(*depth)++) cairo_tag_begin(cr, "Sect", "");
    if (kind == CANVAS_GROUP_END && !--*depth) cairo_tag_end(cr, "Sect");
}

static void canvas_cairo_draw_tagged(canvas *c, cairo_t *cr, const canvas_op *op, bool in_figure)
{
    const char *tag = in_figure ? NULL : canvas_cairo_tag_of(op->type);
    if (tag) cairo_tag_begin(cr, tag, "");
    canvas_cairo_draw_text(c, cr, op);
    if (tag) cairo_tag_end(cr, tag);
}

void canvas_cairo_ground(canvas *c, cairo_t *cr)
{
    cairo_set_user_data(cr, &canvas_key, c, NULL);
    if (!c->dark) return;
    canvas_cairo_set_ink(cr, INK_PAPER);
    cairo_paint(cr);
}

bool canvas_cairo(canvas *c, cairo_t *cr)
{
    bool ok = true;
    size_t depth = 0;
    cairo_set_user_data(cr, &canvas_key, c, NULL);
    cairo_set_line_cap(cr, CAIRO_LINE_CAP_BUTT);
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
    pango_cairo_update_context(cr, c->context);
    for (size_t i = 0; i < c->count; i++) {
        const canvas_op *op = &c->ops[i];
        switch (op->kind) {
        case CANVAS_RECT: canvas_cairo_draw_rect(cr, op); break;
        case CANVAS_FRAME:
            cairo_rectangle(cr, op->box.x, op->box.y, op->box.width, op->box.height);
            canvas_cairo_stroke(cr, op);
            break;
        case CANVAS_LINES:
        case CANVAS_POLYGON:
        case CANVAS_POLYLINE: canvas_cairo_draw_points(cr, op); break;
        case CANVAS_DOT: canvas_cairo_draw_dot(cr, op); break;
        case CANVAS_TEXT: canvas_cairo_draw_tagged(c, cr, op, depth > 0); break;
        case CANVAS_IMAGE: ok = canvas_cairo_draw_image(cr, op) && ok; break;
        case CANVAS_PLOT: ok = canvas_cairo_draw_plot(cr, op) && ok; break;
        case CANVAS_GROUP:
        case CANVAS_GROUP_END: canvas_cairo_tag_group(cr, op->kind, &depth); break;
        case CANVAS_HOVER:
        case CANVAS_TIME:
        case CANVAS_TIME_END:
        case CANVAS_TICS:
        case CANVAS_TICS_END: break;
        }
    }
    return canvas_cairo_good(cairo_status(cr)) && ok;
}
