// Charts that stand alone: one size of type, a font of the author's choice, colours or greys.
#include "canvas.h"
#include "canvas_model.h"

#include "analysis/base/memory.h"

#include <math.h>
#include <string.h>

void canvas_set_figure(canvas *c, const canvas_figure *f)
{
    c->figure = memory_copy(f, sizeof *f);
    c->figure->family = f->family ? memory_strdup(f->family) : NULL;
}

const canvas_figure *canvas_figure_of(const canvas *c)
{
    return c->figure;
}

double canvas_type_size(const canvas *c, theme_type type)
{
    return c->figure ? c->figure->type : theme_size(type);
}

const char *canvas_family(const canvas *c, theme_type type)
{
    return c->figure && c->figure->family ? c->figure->family : theme_family(type);
}

// Grey as light as the colour looks.
theme_rgb canvas_color(const canvas *c, theme_ink ink)
{
    theme_rgb rgb = theme_color(ink, c->dark);
    if (!c->figure || !c->figure->grey) return rgb;
    uint8_t grey = (uint8_t)lround(.299 * rgb.red + .587 * rgb.green + .114 * rgb.blue);
    return (theme_rgb){grey, grey, grey};
}

theme_ink canvas_line_ink(const canvas *c, theme_ink ink, size_t k)
{
    enum { GREYS = 3 }; // of INK_PART: the lightest is too light for a line
    if (!c->figure || !c->figure->grey) return ink;
    return k ? (theme_ink)(INK_PART + k % GREYS) : INK_TEXT;
}

canvas_dash canvas_line_dash(const canvas *c, size_t k)
{
    static const canvas_dash by_line[] = {DASH_NONE, DASH_LONG, DASH_DOTS, DASH_DOT_LONG};
    return c->figure ? by_line[k % (sizeof by_line / sizeof *by_line)] : DASH_NONE;
}

bool canvas_dashes(canvas_dash dash, double lengths[4], int *count)
{
    static const struct {
        int count;
        double lengths[4];
    } dashes[DASHES] = {[DASH_SHORT] = {2, {2, 2}},
                        [DASH_LONG] = {2, {4, 2}},
                        [DASH_DOTS] = {2, {1, 1.4}},
                        [DASH_DOT_LONG] = {4, {5, 1.5, 1, 1.5}}};
    memcpy(lengths, dashes[dash].lengths, sizeof dashes[dash].lengths);
    *count = dashes[dash].count;
    return *count > 0;
}
