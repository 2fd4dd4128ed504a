// Three kinds of requests:
//
//     {"kind": "style"}                the CSS of all charts, light and dark
//     {"kind": "map", "width", "height_of_rows", "unit", "from", "to", "wall_ns", "rows": [{"label", "quiet", "apart",
//      "right", "severity", "values", "states"}], "incident"}  values: a number a column, null where there is none; states:
//      map_cell
//     {"kind": "lines", "width", "wall_ns", "x", "panels": [{"label", "below", "unit", "curves": [{"label", "ink", "y"}]}],
//      "incident"}
//
// width: in pixels of the page. Seconds are those since wall_ns. incident: {"from", "label"}, of what goes on still, or none.
#include "main_live.h"

#include "analysis/base/json.h"
#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "cli/output.h"
#include "render/base/arena.h"
#include "render/base/buffer.h"
#include "render/canvas/canvas_model.h"
#include "render/chart/charts_plots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LIVE_MOST = 64 << 20 };
static const double live_type = 7.3, live_pixels = 1.5; // of a unit: letters of 11 pixels

// ---- reading ----

static json_object *live_read(void)
{
    json_tokener *tokener = json_new_tokener(8);
    json_object *o = NULL;
    char piece[65536];
    size_t n, all = 0;
    while ((n = fread(piece, 1, sizeof piece, stdin)) > 0 && !o && (all += n) < LIVE_MOST)
        o = json_feed_tokener(tokener, piece, (int)n);
    json_tokener_free(tokener);
    if (o && json_object_is_type(o, json_type_object)) return o;
    json_object_put(o);
    return NULL;
}

static const char *live_text(json_object *o, const char *key)
{
    json_object *v;
    return json_object_object_get_ex(o, key, &v) && json_object_is_type(v, json_type_string) ? json_object_get_string(v)
                                                                                             : "";
}

static double live_number(json_object *o, const char *key)
{
    json_object *v;
    return json_object_object_get_ex(o, key, &v) && v ? json_object_get_double(v) : 0;
}

static json_object *live_list(json_object *o, const char *key)
{
    json_object *v;
    return json_object_object_get_ex(o, key, &v) && json_object_is_type(v, json_type_array) ? v : NULL;
}

static size_t live_count(json_object *list)
{
    return list ? json_object_array_length(list) : 0;
}

// So many numbers of a list; NAN for null and for what is behind its end.
static double *live_numbers(arena *memory, json_object *list, size_t count)
{
    double *values = arena_make(memory, count ? count : 1, sizeof *values);
    for (size_t i = 0; i < count; i++) {
        json_object *v = i < live_count(list) ? json_object_array_get_idx(list, i) : NULL;
        values[i] = v ? json_object_get_double(v) : NAN;
    }
    return values;
}

static axes_scale live_axis(json_object *o, double from, double to)
{
    json_object *v;
    axes_scale axis = {.axis = {from, to, false, false}, .format = AXES_TIME, .unit = "", .title = "Before now"};
    if (!json_object_object_get_ex(o, "wall_ns", &v)) return axis;
    axis.wall_ns = json_object_get_int64(v);
    axis.format = AXES_CLOCK;
    axis.title = "UTC";
    return axis;
}

static axes_format live_format(const char *unit)
{
    return *unit ? AXES_SI : AXES_PERCENT;
}

static const char *live_unit(const char *unit)
{
    return strcmp(unit, "bytes/s") == 0 ? "B/s" : unit;
}

// How many there are: 0 or 1. What began before the time that is shown has no begin in it.
static size_t live_incident(json_object *o, double first, axes_span *to)
{
    json_object *v;
    if (!json_object_object_get_ex(o, "incident", &v) || !json_object_is_type(v, json_type_object)) return 0;
    double from = live_number(v, "from");
    *to = (axes_span){.from = fmax(from, first), .label = from < first ? "" : live_text(v, "label")};
    return from < 0;
}

// ---- drawing ----

// height_of_rows: 0, as the chart has it.
static void live_draw(chart *x, double width, double rows_height, double rows_natural, buffer *out)
{
    const canvas_figure look = {NULL, live_type, live_pixels, false, false};
    canvas *measure = canvas_open(width, 1);
    canvas_set_figure(measure, &look);
    double height = x->height(x, measure, width, 0, x->rows);
    if (rows_height > 0) height += rows_height - rows_natural;
    canvas_close(measure);
    canvas *c = canvas_open(width, height);
    canvas_set_figure(c, &look);
    canvas_group(c, x->title, x->question);
    x->draw(x, c, (canvas_box){0, 0, width, height}, 0, x->rows);
    canvas_group_end(c);
    canvas_svg(c, out, true);
    canvas_close(c);
}

// ---- the map ----

// Names at the right that would touch: the worst keeps its place.
static void live_make_room(map_row *rows, size_t count, double pitch)
{
    for (int s = SEVERITY_CRITICAL; s >= 0; s--) {
        for (size_t i = 0; i < count; i++) {
            if (!rows[i].right || (int)rows[i].severity != s) continue;
            for (size_t k = 0; k < count; k++)
                if (k != i && rows[k].right && (int)rows[k].severity <= s &&
                    fabs((double)k - (double)i) * pitch < live_type + 1)
                    rows[k].right = NULL;
        }
    }
}

static map_row live_map_row(arena *memory, json_object *o, size_t columns)
{
    json_object *quiet, *apart;
    map_row r = {.label = live_text(o, "label"), .values = live_numbers(memory, live_list(o, "values"), columns)};
    const char *states = live_text(o, "states"), *right = live_text(o, "right");
    if (strlen(states) == columns) r.states = states;
    if (*right) r.right = right;
    r.quiet = json_object_object_get_ex(o, "quiet", &quiet) && json_object_get_boolean(quiet);
    r.apart = json_object_object_get_ex(o, "apart", &apart) && json_object_get_boolean(apart);
    if (!severity_parse(live_text(o, "severity"), &r.severity)) r.severity = SEVERITY_OK;
    return r;
}

static void live_map(json_object *o, buffer *out)
{
    arena *memory = arena_open();
    json_object *list = live_list(o, "rows");
    size_t count = live_count(list),
           columns = count ? live_count(live_list(json_object_array_get_idx(list, 0), "values")) : 0;
    double from = live_number(o, "from"), to = live_number(o, "to"),
           high = live_number(o, "height_of_rows") / live_pixels;
    const char *unit = live_text(o, "unit");
    map_row *rows = NULL;
    axes_span incident;
    size_t incidents = live_incident(o, from, &incident);
    if (incidents && !*incident.label) incidents = 0; // before what is shown
    for (size_t i = 0; i < count; i++)
        arrput(rows, live_map_row(memory, json_object_array_get_idx(list, i), columns));
    if (columns && columns <= MAP_COLUMNS && from < to) {
        live_make_room(rows, count, high / (double)count);
        const map_style style = {.columns = columns,
                                 .axis = live_axis(o, from, to),
                                 .from = from,
                                 .to = to,
                                 .ramp = strcmp(unit, "") == 0 ? INK_ORANGE : INK_BLUE,
                                 .max = strcmp(unit, "") == 0 ? 1 : 0,
                                 .format = live_format(unit),
                                 .unit = live_unit(unit),
                                 .label_head = "",
                                 .right_head = "",
                                 .incidents = &incident,
                                 .incident_count = incidents,
                                 .named_incidents = true};
        chart x = chart_map((chart_head){"map", "Nodes over time", "each row a node"}, &style, rows, count);
        double natural = count <= 8 ? 13.1 : count <= 16 ? 11 : 9;
        live_draw(&x, live_number(o, "width") / live_pixels, high, natural * (double)count, out);
        chart_free(&x);
    }
    arrfree(rows);
    arena_close(memory);
}

// ---- lines ----

static const struct {
    const char *name;
    theme_ink ink, pale;
} live_inks[] = {{"sent", INK_SENT, INK_SENT_PALE},
                 {"received", INK_RECEIVED, INK_RECEIVED_PALE},
                 {"paused", INK_BAD, INK_BAD_PALE},
                 {"gpu", INK_OK, INK_OK_PALE},
                 {"cpu", INK_PEER, INK_EMPTY}};

static lines_curve live_curve(arena *memory, json_object *o, size_t count)
{
    lines_curve c = {.label = live_text(o, "label"),
                     .ink = INK_PEER,
                     .y = live_numbers(memory, live_list(o, "y"), count),
                     .step = true};
    for (size_t i = 0; i < sizeof live_inks / sizeof *live_inks; i++)
        if (strcmp(live_inks[i].name, live_text(o, "ink")) == 0) c.ink = live_inks[i].ink, c.pale = live_inks[i].pale;
    return c;
}

static lines_panel live_panel(arena *memory, json_object *o, size_t count)
{
    json_object *list = live_list(o, "curves");
    lines_curve *curves = arena_make(memory, live_count(list) + 1, sizeof *curves);
    const char *unit = live_text(o, "unit");
    for (size_t i = 0; i < live_count(list); i++)
        curves[i] = live_curve(memory, json_object_array_get_idx(list, i), count);
    lines_panel p = {.label = live_text(o, "label"),
                     .below = live_text(o, "below"),
                     .format = live_format(unit),
                     .unit = live_unit(unit),
                     .curves = curves,
                     .curve_count = live_count(list),
                     .limit = NAN};
    if (p.curve_count == 1) curves[0].no_key = true; // the panel's label says it
    return p;
}

static void live_lines(json_object *o, buffer *out)
{
    arena *memory = arena_open();
    json_object *times = live_list(o, "x"), *list = live_list(o, "panels");
    size_t count = live_count(times);
    double *x = live_numbers(memory, times, count);
    lines_panel *panels = NULL;
    for (size_t i = 0; i < live_count(list); i++)
        arrput(panels, live_panel(memory, json_object_array_get_idx(list, i), count));
    if (count > 1 && arrlenu(panels) && x[0] < x[count - 1]) {
        double *tops = arena_make(memory, arrlenu(panels), sizeof *tops);
        axes_span incident;
        size_t incidents = live_incident(o, x[0], &incident);
        for (size_t i = 0; i < arrlenu(panels); i++)
            tops[i] = panels[i].format == AXES_PERCENT ? 1 : NAN;
        const lines_style style = {.x = x,
                                   .count = count,
                                   .axis = live_axis(o, x[0], 0),
                                   .x_head = "seconds",
                                   .panel_height = 46,
                                   .tops = tops,
                                   .incidents = &incident,
                                   .incident_count = incidents};
        chart c =
            chart_lines((chart_head){"node", "A node over time", "means of 5 s"}, &style, panels, arrlenu(panels));
        live_draw(&c, live_number(o, "width") / live_pixels, 0, 0, out);
        chart_free(&c);
    }
    arrfree(panels);
    arena_close(memory);
}

// ---- style ----

// What is drawn is not filled, unless an ink says so: those rules come later.
static void live_style_inks(buffer *out, bool dark)
{
    for (int fill = 0; fill < 2; fill++)
        for (int ink = INK_NONE + 1; ink < INK_COUNT; ink++) {
            theme_rgb c = theme_color((theme_ink)ink, dark);
            buffer_printf(out, ".%c%d{%s:#%02x%02x%02x}", fill ? 'f' : 's', ink, fill ? "fill" : "fill:none;stroke",
                          c.red, c.green, c.blue);
        }
}

static void live_style(buffer *out)
{
    live_style_inks(out, false);
    buffer_text(out, "@media (prefers-color-scheme:dark){");
    live_style_inks(out, true);
    buffer_text(out, "}");
    for (int t = 0; t < TYPES; t++) {
        buffer_printf(out, ".t%d{font:%d ", t, theme_weight((theme_type)t));
        buffer_number(out, live_type);
        buffer_printf(out, "px %s}", theme_family((theme_type)t));
    }
    buffer_text(out, "svg text{font-feature-settings:\"tnum\";white-space:pre}");
}

int main_draw_live(void)
{
    static const struct {
        const char *kind;
        void (*draw)(json_object *o, buffer *out);
    } kinds[] = {{"map", live_map}, {"lines", live_lines}};
    buffer out = {NULL, 0, 0};
    json_object *o = live_read();
    if (!o) return fail(EXIT_FILE, "expected a JSON object on the standard input");
    const char *kind = live_text(o, "kind");
    if (strcmp(kind, "style") == 0) live_style(&out);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].kind, kind) == 0) kinds[i].draw(o, &out);
    bool any = out.size > 0;
    if (any) fwrite(out.data, 1, out.size, stdout);
    buffer_free(&out);
    json_object_put(o);
    int closed = output_close();
    return any ? closed : fail(EXIT_NOTHING, "nothing to draw");
}
