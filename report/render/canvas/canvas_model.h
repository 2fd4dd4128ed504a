// The contents of a canvas, for its writers.
#ifndef NETPROF_CANVAS_MODEL_H
#define NETPROF_CANVAS_MODEL_H

#include "render/base/buffer.h"
#include "canvas_types.h"
#include "plot_model.h"

#include <pango/pangocairo.h>

typedef enum canvas_kind {
    CANVAS_RECT = 0,
    CANVAS_FRAME,
    CANVAS_LINES, // pairs of points
    CANVAS_POLYGON,
    CANVAS_POLYLINE,
    CANVAS_DOT,
    CANVAS_TEXT,
    CANVAS_IMAGE,
    CANVAS_PLOT,
    CANVAS_HOVER,
    CANVAS_GROUP,
    CANVAS_GROUP_END,
    CANVAS_TIME,
    CANVAS_TIME_END,
    CANVAS_TICS,
    CANVAS_TICS_END
} canvas_kind;

typedef struct canvas_plot_copy {
    plot plot;                           // with arrays of its own, in memory
    void **memory;                       // arr
    plot_job *job;                       // its result; NULL: not drawn (yet)
    const struct canvas_plot_copy *like; // of another canvas, that shows the same: it is drawn once, there
} canvas_plot_copy;

typedef struct canvas_op {
    canvas_kind kind;
    canvas_box box; // text: x and y of the base line's start, width
    theme_ink fill, stroke;
    double line_width, radius;
    canvas_dash dash;
    theme_type type;
    canvas_align align; // of a text that was set to the left of x or around it: where its place is
    bool upwards;       // text: y rises along it
    char *text;         // text as shown; group: its title
    char *more;         // text: the whole one where it was shortened; group: its description
    char *tip;
    canvas_box ink_box; // of a text: where it is black
    canvas_point *points;
    size_t count;
    uint16_t *inks; // image
    size_t columns, rows;
    canvas_plot_copy *plot;
    size_t id;         // image, plot: the number under which it is drawn, or used where `used`; 0: for itself
    bool used;         // as SVG: what is drawn under that number is used
    canvas_span *span; // time; its unit is in text
} canvas_op;

struct canvas {
    double width, height;
    canvas_op *ops; // arr of count
    size_t count;
    bool dark;        // drawn in the theme's dark colours, on a dark ground
    bool interactive; // as SVG: it says where its times are
    canvas_shorten shorten;
    char *tip;             // for the next
    canvas_figure *figure; // NULL: a page
    PangoContext *context;
    PangoLayout *layout;
};

// The layout, set to this type and text; shared, so use it at once.
PangoLayout *canvas_layout(canvas *c, const char *text, theme_type type);
// The same, from the last texts of this thread where it is one of them: not to be changed.
PangoLayout *canvas_kept_layout(canvas *c, const char *text, theme_type type);
uint32_t canvas_text_hash(const char *text, theme_type type); // where it may be kept
// Does now, for the texts of the canvas, what drawing them would take most time for.
void canvas_lay_out_texts(canvas *c);

// Size and font of a type, colour of an ink, as this canvas has them.
double canvas_type_size(const canvas *c, theme_type type);
const char *canvas_family(const canvas *c, theme_type type);
theme_rgb canvas_color(const canvas *c, theme_ink ink);
// Lengths of lines and gaps; false: none.
bool canvas_dashes(canvas_dash dash, double lengths[4], int *count);
// Keeps a plot for gnuplot.
void canvas_keep_plot(canvas *c, canvas_box box, const plot *p);
// A LaTeX file's picture: its texts are set by LaTeX, in the fonts of its document.
void canvas_tikz(const canvas *c, buffer *out);

// Writing systems of which the canvas has a letter that no font here has, a bit for each.
typedef enum canvas_script {
    SCRIPT_CJK = 0,
    SCRIPT_EMOJI,
    SCRIPT_ARABIC,
    SCRIPT_HEBREW,
    SCRIPT_INDIC,
    SCRIPT_THAI,
    SCRIPT_OTHER,
    SCRIPTS
} canvas_script;
unsigned canvas_missing(canvas *c);

// Draw into a cairo context whose unit is the point: the ground first, where the theme has one. cairo drops what a page
// had before its ground, tags as well. False: cairo failed, or a plot could not be replayed.
void canvas_cairo_ground(canvas *c, cairo_t *cr);
bool canvas_cairo(canvas *c, cairo_t *cr);
// Whether cairo did its work. Want of memory ends the program.
bool canvas_cairo_good(cairo_status_t status);
// A whole SVG file in paper colours, or (embedded) an <svg> element for HTML: inks are the classes f7 (fill) and s7
// (stroke), texts have the class tN of their theme_type; the page defines them.
#define CANVAS_SVG_RULES                                                                                               \
    "text{font-feature-settings:\"tnum\";white-space:pre}"                                                             \
    ".m{shape-rendering:crispEdges;fill:none;stroke-width:1}"
void canvas_svg(const canvas *c, buffer *out, bool embedded);
// Where a canvas shows the same images and plots as another, in the same order but in boxes of other sizes, they are
// written in the other and used in it. *id is the last number given, in the whole page.
void canvas_share(canvas *c, canvas *other, size_t *id);
// Drops what is seen only by hovering.
void canvas_drop_tips(canvas *c);
// The rules for those classes that a file of its own has: .f7{fill:#abc}.s7{stroke:#abc}.t3{font:...}
void canvas_svg_style(const canvas *c, buffer *out);
// Draws a hatched field with this text in place of each plot without a result.
void canvas_plots_missing(canvas *c, const char *text);
// Calls visit() for each plot.
void canvas_plots(canvas *c, void (*visit)(void *user, canvas_plot_copy *p, canvas_box box), void *user);

#endif
