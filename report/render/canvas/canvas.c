#include "canvas.h"
#include "canvas_model.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "render/base/carried_font.h"
#include "render/base/number.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define UNDER_ADDRESS_SANITIZER 1
#endif
#endif
#if defined(UNDER_ADDRESS_SANITIZER) || defined(__SANITIZE_ADDRESS__)
// fontconfig keeps what it has read of the fonts until the process ends.
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libfontconfig\n";
}
const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
    return "print_suppressions=0";
}
#endif

// Hinting and whole-pixel advances make letter spacing on paper uneven: everything is measured unhinted.
static void canvas_open_text(canvas *c)
{
    carried_font_use();
    PangoFontMap *fonts = pango_cairo_font_map_get_default();
    cairo_font_options_t *options = cairo_font_options_create();
    c->context = pango_font_map_create_context(fonts);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    pango_cairo_context_set_font_options(c->context, options);
    cairo_font_options_destroy(options);
    pango_cairo_context_set_resolution(c->context, 72);
    pango_context_set_round_glyph_positions(c->context, FALSE);
    pango_context_set_language(c->context, pango_language_from_string("en"));
    pango_context_set_base_dir(c->context, PANGO_DIRECTION_LTR);
    c->layout = pango_layout_new(c->context);
    pango_layout_set_auto_dir(c->layout, FALSE);
    pango_layout_set_single_paragraph_mode(c->layout, TRUE);
}

canvas *canvas_open(double width, double height)
{
    canvas *c = memory_calloc(1, sizeof *c);
    c->width = width;
    c->height = height;
    canvas_open_text(c);
    return c;
}

static void canvas_free_plot(canvas_plot_copy *p)
{
    if (!p) return;
    for (size_t i = 0; i < arrlenu(p->memory); i++)
        free(p->memory[i]);
    arrfree(p->memory);
    free(p);
}

void canvas_close(canvas *c)
{
    if (!c) return;
    for (size_t i = 0; i < c->count; i++) {
        canvas_op *op = &c->ops[i];
        free(op->text);
        free(op->more);
        free(op->tip);
        free(op->points);
        free(op->inks);
        free(op->span);
        canvas_free_plot(op->plot);
    }
    arrfree(c->ops);
    free(c->tip);
    if (c->figure) free((char *)c->figure->family);
    free(c->figure);
    g_object_unref(c->layout);
    g_object_unref(c->context);
    free(c);
}

void canvas_dark(canvas *c, bool dark)
{
    c->dark = dark;
}

double canvas_width(const canvas *c)
{
    return c->width;
}

double canvas_height(const canvas *c)
{
    return c->height;
}

// Adds an operation. It takes the tip unless it is structure.
static canvas_op *canvas_add(canvas *c, canvas_kind kind)
{
    arrput(c->ops, ((canvas_op){.kind = kind}));
    c->count = arrlenu(c->ops);
    canvas_op *op = &arrlast(c->ops);
    if (kind < CANVAS_GROUP) {
        op->tip = c->tip;
        c->tip = NULL;
    }
    return op;
}

// ---- shapes ----

void canvas_rect(canvas *c, canvas_box box, theme_ink fill, double radius)
{
    if (!(box.width > 0 && box.height > 0) || fill == INK_NONE) return;
    canvas_op *op = canvas_add(c, CANVAS_RECT);
    op->box = box;
    op->fill = fill;
    op->radius = radius;
}

void canvas_frame(canvas *c, canvas_box box, theme_ink stroke, double line_width)
{
    if (stroke == INK_NONE) return;
    canvas_op *op = canvas_add(c, CANVAS_FRAME);
    op->box = box;
    op->stroke = stroke;
    op->line_width = line_width;
}

static void canvas_add_points(canvas *c, canvas_kind kind, const canvas_point *points, size_t count, theme_ink fill,
                              theme_ink stroke, double line_width, canvas_dash dash)
{
    if (count < 2) return;
    canvas_op *op = canvas_add(c, kind);
    op->points = memory_copy(points, count * sizeof *points);
    op->count = count;
    op->fill = fill;
    op->stroke = stroke;
    op->line_width = line_width;
    op->dash = dash;
}

void canvas_line(canvas *c, double x1, double y1, double x2, double y2, theme_ink stroke, double line_width)
{
    const canvas_point ends[2] = {{x1, y1}, {x2, y2}};
    canvas_add_points(c, CANVAS_LINES, ends, 2, INK_NONE, stroke, line_width, DASH_NONE);
}

void canvas_dashed(canvas *c, double x1, double y1, double x2, double y2, theme_ink stroke, double line_width)
{
    const canvas_point ends[2] = {{x1, y1}, {x2, y2}};
    canvas_add_points(c, CANVAS_LINES, ends, 2, INK_NONE, stroke, line_width, DASH_SHORT);
}

void canvas_polygon(canvas *c, const canvas_point *points, size_t count, theme_ink fill)
{
    canvas_add_points(c, CANVAS_POLYGON, points, count, fill, INK_NONE, 0, DASH_NONE);
}

void canvas_polyline(canvas *c, const canvas_point *points, size_t count, theme_ink stroke, double line_width)
{
    canvas_add_points(c, CANVAS_POLYLINE, points, count, INK_NONE, stroke, line_width, DASH_NONE);
}

void canvas_dashed_polyline(canvas *c, const canvas_point *points, size_t count, theme_ink stroke, double line_width,
                            canvas_dash dash)
{
    canvas_add_points(c, CANVAS_POLYLINE, points, count, INK_NONE, stroke, line_width, dash);
}

// Lines rising by 45 degrees, 3 pt apart, cut to the box.
void canvas_hatch(canvas *c, canvas_box box)
{
    enum { MOST = 400 };
    const double step = 3;
    if (!(box.width > 0 && box.height > 0)) return;
    char *tip = c->tip;
    c->tip = NULL;
    canvas_rect(c, box, INK_EMPTY, 0);
    c->tip = tip;
    size_t count = 0;
    canvas_point *ends = memory_array(NULL, 2 * MOST, sizeof *ends);
    double right = box.x + box.width, bottom = box.y + box.height;
    for (double at = step; at < box.width + box.height && count + 2 <= 2 * MOST; at += step) {
        double x1 = box.x, y1 = box.y + at, x2 = box.x + at, y2 = box.y;
        if (y1 > bottom) {
            x1 += y1 - bottom;
            y1 = bottom;
        }
        if (x2 > right) {
            y2 += x2 - right;
            x2 = right;
        }
        ends[count++] = (canvas_point){x1, y1};
        ends[count++] = (canvas_point){x2, y2};
    }
    canvas_add_points(c, CANVAS_LINES, ends, count, INK_NONE, INK_HAIR, .5, DASH_NONE);
    free(ends);
}

void canvas_dot(canvas *c, double x, double y, double radius, theme_ink fill, theme_ink stroke)
{
    canvas_op *op = canvas_add(c, CANVAS_DOT);
    op->box = (canvas_box){x, y, 0, 0};
    op->radius = radius;
    op->fill = fill;
    op->stroke = stroke;
    op->line_width = .8;
}

void canvas_mark(canvas *c, double x, double y, severity s)
{
    theme_ink ink = theme_severity_ink(s);
    if (s == SEVERITY_OK) {
        const canvas_point tick[3] = {{x - 2.6, y + .3}, {x - .8, y + 2.1}, {x + 2.6, y - 2.3}};
        canvas_polyline(c, tick, 3, ink, 1.5);
    } else if (s == SEVERITY_INFO) {
        canvas_dot(c, x, y, 2.9, ink, INK_NONE);
        canvas_line(c, x, y - .5, x, y + 1.6, INK_PAPER, .9);
        canvas_line(c, x, y - 1.9, x, y - 1.1, INK_PAPER, .9);
    } else if (s == SEVERITY_UNKNOWN) {
        const canvas_point hook[6] = {{x - .9, y - .8}, {x - .4, y - 1.5}, {x + .5, y - 1.4}, {x + .8, y - .7},
                                      {x, y},           {x, y + .5}};
        canvas_dot(c, x, y, 2.8, INK_NONE, ink);
        canvas_polyline(c, hook, 6, ink, .6);
        canvas_line(c, x, y + 1.1, x, y + 1.6, ink, .6);
    } else if (s == SEVERITY_WATCH) {
        const canvas_point triangle[3] = {{x - 3.1, y + 2.6}, {x + 3.1, y + 2.6}, {x, y - 2.8}};
        canvas_polygon(c, triangle, 3, ink);
    } else {
        canvas_rect(c, (canvas_box){x - 2.9, y - 2.9, 5.8, 5.8}, ink, .8);
        canvas_line(c, x - 1.4, y - 1.4, x + 1.4, y + 1.4, INK_PAPER, .9);
        canvas_line(c, x - 1.4, y + 1.4, x + 1.4, y - 1.4, INK_PAPER, .9);
    }
}

// ---- text ----

// What a text measures, in units of pango. The same texts are measured again and again, and it is the most costly step of
// drawing: a thread keeps the last ones. Figures have other fonts.
typedef struct canvas_measured {
    theme_type type;
    int width, base;
    PangoRectangle black;
    char *text; // NULL: not kept
} canvas_measured;

static void canvas_measure_anew(canvas *c, const char *text, theme_type type, canvas_measured *m)
{
    PangoRectangle logical;
    PangoLayout *layout = canvas_kept_layout(c, text, type); // most are drawn soon
    *m = (canvas_measured){.type = type};
    pango_layout_get_extents(layout, &m->black, &logical);
    m->width = logical.width;
    m->base = pango_layout_get_baseline(layout);
}

static canvas_measured canvas_measure(canvas *c, const char *text, theme_type type)
{
    enum { KEPT = 4096, LONGEST = 200 };
    static _Thread_local canvas_measured *kept;
    canvas_measured m;
    if (c->figure || strlen(text) > LONGEST) {
        canvas_measure_anew(c, text, type, &m);
        return m;
    }
    if (!kept) kept = memory_calloc(KEPT, sizeof *kept);
    canvas_measured *at = &kept[canvas_text_hash(text, type) % KEPT];
    if (at->text && at->type == type && strcmp(at->text, text) == 0) return *at;
    free(at->text);
    canvas_measure_anew(c, text, type, at);
    at->text = memory_strdup(text);
    return *at;
}

static double canvas_width_of(canvas *c, const char *text, theme_type type)
{
    return (double)canvas_measure(c, text, type).width / PANGO_SCALE;
}

static size_t canvas_next_character(const char *text)
{
    size_t n = 1;
    while (((unsigned char)text[n] & 0xc0) == 0x80)
        n++;
    return n;
}

// The first `left` and the last `right` characters with an ellipsis between.
static char *canvas_cut(const char *text, const size_t *starts, size_t count, size_t left, size_t right)
{
    size_t head = starts[left];
    while (!right && head && text[head - 1] == ' ')
        head--;
    if (!right) // what is left of a number would be another number
        while (head && ((text[head - 1] >= '0' && text[head - 1] <= '9') || strchr(".,+-", text[head - 1])))
            head--;
    while (head && text[head - 1] == ' ')
        head--;
    return memory_format("%.*s\xe2\x80\xa6%s", (int)head, text, text + starts[count - right]);
}

// A number loses digits, never its end.
static char *canvas_shortened_number(canvas *c, const char *text, theme_type type, double max_width)
{
    char *shorter = number_in_fewer_digits(text);
    while (shorter && canvas_width_of(c, shorter, type) > max_width) {
        char *next = number_in_fewer_digits(shorter);
        if (!next) break;
        free(shorter);
        shorter = next;
    }
    return shorter;
}

// The longest shortened form that fits, by halving.
static char *canvas_shortened(canvas *c, const char *text, theme_type type, double max_width)
{
    char *number = canvas_shortened_number(c, text, type, max_width);
    if (number) return number;
    size_t length = strlen(text), count = 0, *starts = memory_array(NULL, length + 1, sizeof *starts);
    for (size_t at = 0; at < length; at += canvas_next_character(text + at))
        starts[count++] = at;
    starts[count] = length;
    size_t low = 0, high = count; // kept characters: low fits
    char *best = canvas_cut(text, starts, count, 0, 0);
    while (high - low > 1) {
        size_t keep = (low + high) / 2;
        size_t right = c->shorten == SHORTEN_END ? 0 : keep / 2;
        char *candidate = canvas_cut(text, starts, count, keep - right, right);
        bool fits = canvas_width_of(c, candidate, type) <= max_width;
        free(fits ? best : candidate);
        if (fits) {
            best = candidate;
            low = keep;
        } else {
            high = keep;
        }
    }
    free(starts);
    return best;
}

static double canvas_put_text(canvas *c, double x, double y, char *shown, char *whole, theme_type type, theme_ink ink,
                              canvas_align align)
{
    const canvas_measured m = canvas_measure(c, shown, type);
    const PangoRectangle black = m.black;
    double width = (double)m.width / PANGO_SCALE, base = (double)m.base / PANGO_SCALE;
    if (align == ALIGN_CENTER) x -= width / 2;
    if (align == ALIGN_RIGHT) x -= width;
    canvas_op *op = canvas_add(c, CANVAS_TEXT);
    op->box = (canvas_box){x, y, width, canvas_type_size(c, type)};
    op->align = align;
    op->ink_box = (canvas_box){x + (double)black.x / PANGO_SCALE, y - base + (double)black.y / PANGO_SCALE,
                               (double)black.width / PANGO_SCALE, (double)black.height / PANGO_SCALE};
    op->fill = ink;
    op->type = type;
    op->text = shown;
    op->more = whole;
    return width;
}

// Takes visible text.
static double canvas_draw_text(canvas *c, double x, double y, char *text, theme_type type, theme_ink ink,
                               canvas_align align, double max_width)
{
    // No glyph of these fonts is wider than 1.2 of its size: what is surely short enough is not measured twice.
    bool surely = max_width > 0 && (double)strlen(text) * canvas_type_size(c, type) * 1.2 <= max_width;
    if (max_width > 0 && !surely && canvas_width_of(c, text, type) > max_width + .01)
        return canvas_put_text(c, x, y, canvas_shortened(c, text, type, max_width), text, type, ink, align);
    return canvas_put_text(c, x, y, text, NULL, type, ink, align);
}

double canvas_text(canvas *c, double x, double y, const char *text, theme_type type, theme_ink ink, canvas_align align,
                   double max_width)
{
    char *visible = text_visible(text);
    if (*visible) return canvas_draw_text(c, x, y, visible, type, ink, align, max_width);
    free(visible);
    return 0;
}

void canvas_text_upwards(canvas *c, double x, double y, const char *text, theme_type type, theme_ink ink)
{
    char *visible = text_visible(text);
    double width = canvas_put_text(c, x, y, visible, NULL, type, ink, ALIGN_LEFT);
    canvas_op *op = &arrlast(c->ops);
    canvas_box black = op->ink_box; // as if it ran to the right from x, y
    op->upwards = true;
    op->align = ALIGN_CENTER;
    op->box.y = y + width / 2;
    op->ink_box = (canvas_box){x - (y - black.y), op->box.y - (black.x - x) - black.width, black.height, black.width};
}

void canvas_shorten_at(canvas *c, canvas_shorten where)
{
    c->shorten = where;
}

double canvas_text_width(canvas *c, const char *text, theme_type type)
{
    char *visible = text_visible(text);
    double width = canvas_width_of(c, visible, type);
    free(visible);
    return width;
}

bool canvas_has_letters(canvas *c)
{
    return pango_layout_get_unknown_glyphs_count(canvas_layout(c, "Verdict 0123456789", TYPE_BODY)) == 0;
}

// Breaks visible text into lines and calls line(from, length) for each; the last of lines_max has all the rest.
typedef void line_fn(void *user, const char *from, size_t length, bool rest);

static bool canvas_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

enum { UNIT_MOST = 8 }; // a longer word is not a unit

static void canvas_keep_whole(PangoAttrList *list, size_t from, size_t end)
{
    PangoAttribute *whole = pango_attr_allow_breaks_new(FALSE);
    whole->start_index = (guint)from;
    whole->end_index = (guint)end;
    pango_attr_list_insert(list, whole);
}

// A number stays on the line of the word after it, which is its unit: "0.1 %". A rate's unit is not broken: "GB/s".
static void canvas_keep_units(PangoLayout *layout, const char *text)
{
    PangoAttrList *list = pango_attr_list_copy(pango_layout_get_attributes(layout));
    for (size_t i = 1; text[0] && text[i]; i++) {
        bool per_s = text[i] == '/' && text[i + 1] == 's' && !isalnum((unsigned char)text[i + 2]);
        if (per_s && isalpha((unsigned char)text[i - 1])) canvas_keep_whole(list, i - 1, i + 2);
        if (text[i] != ' ' || !canvas_is_digit(text[i - 1]) || strcspn(text + i + 1, " ,;)") > UNIT_MOST) continue;
        canvas_keep_whole(list, i - 1, i + 2);
    }
    pango_layout_set_attributes(layout, list);
    pango_attr_list_unref(list);
}

// Where the lines of a text are, the first byte and the length of each, if it is as wide as that (in units of pango).
typedef struct canvas_broken {
    theme_type type;
    int width;
    char *text;
    size_t count, *lines;
} canvas_broken;

static void canvas_break_anew(canvas *c, canvas_broken *b)
{
    PangoLayout *layout = canvas_layout(c, b->text, b->type);
    canvas_keep_units(layout, b->text);
    pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR);
    pango_layout_set_width(layout, b->width);
    b->count = (size_t)pango_layout_get_line_count(layout);
    b->lines = memory_array(NULL, 2 * b->count, sizeof *b->lines);
    for (size_t i = 0; i < b->count; i++) {
        const PangoLayoutLine *l = pango_layout_get_line_readonly(layout, (int)i);
        b->lines[2 * i] = (size_t)l->start_index;
        b->lines[2 * i + 1] = (size_t)l->length;
    }
}

// A paragraph is measured again and again until its page is made, and drawn: a thread keeps the last ones. The last place is for
// what is not found again: figures, which have other fonts, and long texts. The answer holds until the next is broken.
static const canvas_broken *canvas_break(canvas *c, double width, const char *visible, theme_type type)
{
    enum { KEPT = 512, LONGEST = 2000 };
    static _Thread_local canvas_broken *kept;
    const int units = (int)(width * PANGO_SCALE);
    bool again = !c->figure && strlen(visible) <= LONGEST;
    if (!kept) kept = memory_calloc(KEPT + 1, sizeof *kept);
    canvas_broken *at = &kept[again ? canvas_text_hash(visible, type) % KEPT : KEPT];
    if (again && at->text && at->type == type && at->width == units && strcmp(at->text, visible) == 0) return at;
    free(at->text);
    free(at->lines);
    *at = (canvas_broken){.type = type, .width = units, .text = memory_strdup(visible)};
    canvas_break_anew(c, at);
    return at;
}

static size_t canvas_break_lines(canvas *c, double width, const char *visible, theme_type type, size_t lines_max,
                                 line_fn *line, void *user)
{
    const canvas_broken *b = canvas_break(c, width, visible, type);
    size_t count = lines_max && b->count > lines_max ? lines_max : b->count;
    for (size_t i = 0; i < count && line; i++) {
        bool rest = i + 1 == count && b->count > count;
        const char *from = visible + b->lines[2 * i];
        line(user, from, rest ? strlen(from) : b->lines[2 * i + 1], rest);
    }
    return count;
}

typedef struct paragraph {
    canvas *c;
    double x, y, width;
    theme_type type;
    theme_ink ink;
} paragraph;

static double canvas_leading(const canvas *c, theme_type type)
{
    return 1.35 * canvas_type_size(c, type);
}

static void canvas_paragraph_line(void *user, const char *from, size_t length, bool rest)
{
    paragraph *p = user;
    while (length && from[length - 1] == ' ')
        length--;
    canvas_shorten before = p->c->shorten;
    p->c->shorten = SHORTEN_END;
    if (length)
        canvas_draw_text(p->c, p->x, p->y, memory_strndup(from, length), p->type, p->ink, ALIGN_LEFT,
                         rest ? p->width : 0);
    p->c->shorten = before;
    p->y += canvas_leading(p->c, p->type);
}

double canvas_paragraph(canvas *c, double x, double y, double width, const char *text, theme_type type, theme_ink ink,
                        size_t lines_max)
{
    char *visible = text_visible(text);
    paragraph p = {c, x, y, width, type, ink};
    if (*visible) canvas_break_lines(c, width, visible, type, lines_max, canvas_paragraph_line, &p);
    free(visible);
    return p.y - y;
}

double canvas_paragraph_height(canvas *c, double width, const char *text, theme_type type, size_t lines_max)
{
    char *visible = text_visible(text);
    size_t count = 0;
    if (*visible) count = canvas_break_lines(c, width, visible, type, lines_max, NULL, NULL);
    free(visible);
    return (double)count * canvas_leading(c, type);
}

// ---- data layers ----

void canvas_image(canvas *c, canvas_box box, const uint16_t *inks, size_t columns, size_t rows)
{
    if (!columns || !rows || columns > SIZE_MAX / rows / sizeof *inks) return;
    canvas_op *op = canvas_add(c, CANVAS_IMAGE);
    op->box = box;
    op->inks = memory_copy(inks, columns * rows * sizeof *inks);
    op->columns = columns;
    op->rows = rows;
}

static void *canvas_keep(canvas_plot_copy *p, const void *data, size_t size)
{
    if (!data) return NULL;
    arrput(p->memory, memory_copy(data, size));
    return arrlast(p->memory);
}

static canvas_plot_copy *canvas_copy_plot(const plot *from)
{
    canvas_plot_copy *p = memory_calloc(1, sizeof *p);
    p->plot = *from;
    plot_series *series = canvas_keep(p, from->series, from->series_count * sizeof *series);
    p->plot.series = series;
    for (size_t i = 0; i < p->plot.series_count; i++) {
        plot_series *s = &series[i];
        size_t size = s->count * sizeof(double);
        s->x = canvas_keep(p, s->x, size);
        s->y = canvas_keep(p, s->y, size);
        s->y2 = canvas_keep(p, s->y2, size);
        s->x2 = canvas_keep(p, s->x2, size);
        s->boxes = canvas_keep(p, s->boxes, s->count * sizeof *s->boxes);
    }
    return p;
}

void canvas_keep_plot(canvas *c, canvas_box box, const plot *p)
{
    canvas_op *op = canvas_add(c, CANVAS_PLOT);
    op->box = box;
    op->plot = canvas_copy_plot(p);
}

void canvas_plots(canvas *c, void (*visit)(void *user, canvas_plot_copy *p, canvas_box box), void *user)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->ops[i].kind == CANVAS_PLOT && !c->ops[i].plot->like) visit(user, c->ops[i].plot, c->ops[i].box);
}

void canvas_plots_missing(canvas *c, const char *text)
{
    size_t count = c->count;
    for (size_t i = 0; i < count; i++) {
        canvas_box box = c->ops[i].box;
        if (c->ops[i].kind != CANVAS_PLOT) continue;
        const canvas_plot_copy *drawn = c->ops[i].plot->like ? c->ops[i].plot->like : c->ops[i].plot;
        if (drawn->job && drawn->job->svg) continue;
        canvas_hatch(c, box);
        canvas_text(c, box.x + box.width / 2, box.y + box.height / 2, text, TYPE_FOOT, INK_SECONDARY, ALIGN_CENTER,
                    box.width);
    }
}

// ---- structure ----

void canvas_group(canvas *c, const char *title, const char *description)
{
    canvas_op *op = canvas_add(c, CANVAS_GROUP);
    op->text = memory_strdup(title);
    op->more = memory_strdup(description);
}

void canvas_group_end(canvas *c)
{
    canvas_add(c, CANVAS_GROUP_END);
}

void canvas_time(canvas *c, const canvas_span *span)
{
    canvas_op *op = canvas_add(c, CANVAS_TIME);
    op->span = memory_copy(span, sizeof *span);
    op->text = memory_strdup(span->unit ? span->unit : "");
}

void canvas_time_end(canvas *c)
{
    canvas_add(c, CANVAS_TIME_END);
}

void canvas_tics(canvas *c, canvas_box box)
{
    canvas_add(c, CANVAS_TICS)->box = box;
}

void canvas_tics_end(canvas *c)
{
    canvas_add(c, CANVAS_TICS_END);
}

void canvas_tip(canvas *c, const char *text)
{
    free(c->tip);
    c->tip = memory_strdup(text);
}

void canvas_hover(canvas *c, canvas_box box, const char *text)
{
    if (!(box.width > 0 && box.height > 0) || c->figure) return;
    canvas_tip(c, text);
    canvas_add(c, CANVAS_HOVER)->box = box;
}

// ---- layout check ----

static bool canvas_beside(canvas_box a, canvas_box b)
{
    const double slack = .5;
    return a.x + a.width <= b.x + slack || b.x + b.width <= a.x + slack || a.y + a.height <= b.y + slack ||
           b.y + b.height <= a.y + slack;
}

static int canvas_by_top(const void *a, const void *b)
{
    const canvas_op *const *x = a, *const *y = b;
    return ((*x)->ink_box.y > (*y)->ink_box.y) - ((*x)->ink_box.y < (*y)->ink_box.y);
}

static bool canvas_within(canvas_box a, canvas_box b)
{
    const double slack = .5;
    return a.x >= b.x - slack && a.y >= b.y - slack && a.x + a.width <= b.x + b.width + slack &&
           a.y + a.height <= b.y + b.height + slack;
}

size_t canvas_check(const canvas *c, canvas_box inside,
                    void (*found)(void *user, canvas_fault fault, const char *text, const char *other), void *user)
{
    size_t faults = 0, count = 0;
    const canvas_op **texts = memory_array(NULL, c->count, sizeof *texts);
    canvas_box page = {0, 0, c->width, c->height};
    for (size_t i = 0; i < c->count; i++) {
        const canvas_op *op = &c->ops[i];
        if (op->kind != CANVAS_TEXT || !(op->ink_box.width > 0)) continue;
        texts[count++] = op;
        bool outside = !canvas_within(op->ink_box, inside) || !canvas_within(op->ink_box, page),
             small = op->box.height < 6 && !c->figure;
        if (outside) found(user, FAULT_OUTSIDE, op->text, NULL);
        if (small) found(user, FAULT_SMALL, op->text, NULL);
        faults += (size_t)outside + small;
    }
    qsort(texts, count, sizeof *texts, canvas_by_top);
    for (size_t i = 0; i < count; i++) {
        canvas_box a = texts[i]->ink_box;
        for (size_t j = i + 1; j < count && texts[j]->ink_box.y < a.y + a.height; j++) {
            if (canvas_beside(a, texts[j]->ink_box)) continue;
            found(user, FAULT_OVERLAP, texts[i]->text, texts[j]->text);
            faults++;
        }
    }
    free(texts);
    return faults;
}
