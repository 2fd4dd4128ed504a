// Texts laid out in their fonts by pango.
#include "canvas_model.h"

#include "analysis/base/memory.h"
#include "render/base/carried_font.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Behind the first family of a list, which it stands in for; it is no stand-in for one whose letters are equally wide.
static void canvas_set_family(PangoFontDescription *font, const char *families)
{
    size_t first = strstr(families, "Mono") ? strlen(families) : strcspn(families, ",");
    char *list = memory_format("%.*s, " CARRIED_FONT "%s", (int)first, families, families + first);
    pango_font_description_set_family(font, list);
    free(list);
}

// The layout takes a copy.
static void canvas_set_figure_font(canvas *c, theme_type type)
{
    PangoFontDescription *font = pango_font_description_new();
    canvas_set_family(font, canvas_family(c, type));
    pango_font_description_set_weight(font, (PangoWeight)theme_weight(type));
    pango_font_description_set_size(font, (int)lround(canvas_type_size(c, type) * PANGO_SCALE));
    pango_layout_set_font_description(c->layout, font);
    pango_font_description_free(font);
}

static PangoFontDescription *canvas_font_of(theme_type type)
{
    static PangoFontDescription *fonts[TYPES];
    if (!fonts[type]) {
        fonts[type] = pango_font_description_new();
        canvas_set_family(fonts[type], theme_family(type));
        pango_font_description_set_weight(fonts[type], (PangoWeight)theme_weight(type));
        pango_font_description_set_size(fonts[type], (int)lround(theme_size(type) * PANGO_SCALE));
    }
    return fonts[type];
}

// Digits of equal width, so that columns of numbers line up.
static PangoAttrList *canvas_features(void)
{
    static PangoAttrList *list;
    if (!list) {
        list = pango_attr_list_new();
        pango_attr_list_insert(list, pango_attr_font_features_new("tnum 1"));
    }
    return list;
}

PangoLayout *canvas_layout(canvas *c, const char *text, theme_type type)
{
    if (c->figure)
        canvas_set_figure_font(c, type);
    else
        pango_layout_set_font_description(c->layout, canvas_font_of(type));
    pango_layout_set_attributes(c->layout, canvas_features());
    pango_layout_set_width(c->layout, -1);
    pango_layout_set_ellipsize(c->layout, PANGO_ELLIPSIZE_NONE);
    pango_layout_set_text(c->layout, text, -1);
    return c->layout;
}

// ---- as they were laid out last ----

// A long report draws the same few hundred texts again and again, and laying out is the most costly step of drawing.
// A figure has fonts of its own, and long texts seldom come again.
enum { LAYOUTS_KEPT = 4096, LAYOUT_LONGEST = 64 };

typedef struct layout_kept {
    PangoLayout *layout; // NULL: none yet
    theme_type type;
} layout_kept;

uint32_t canvas_text_hash(const char *text, theme_type type)
{
    uint32_t hash = 2166136261u ^ (uint32_t)type; // FNV-1a
    for (const char *at = text; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    return hash ^ hash >> 15;
}

static layout_kept *layouts_slot(const char *text, theme_type type)
{
    static _Thread_local layout_kept *kept;
    if (!kept) kept = memory_calloc(LAYOUTS_KEPT, sizeof *kept);
    return &kept[canvas_text_hash(text, type) % LAYOUTS_KEPT];
}

static bool layouts_keep(const canvas *c, const char *text)
{
    return !c->figure && strlen(text) <= LAYOUT_LONGEST;
}

PangoLayout *canvas_kept_layout(canvas *c, const char *text, theme_type type)
{
    if (!layouts_keep(c, text)) return canvas_layout(c, text, type);
    layout_kept *at = layouts_slot(text, type);
    if (at->layout && at->type == type && strcmp(pango_layout_get_text(at->layout), text) == 0) return at->layout;
    if (at->layout) g_object_unref(at->layout);
    at->layout = pango_layout_copy(canvas_layout(c, text, type));
    at->type = type;
    return at->layout;
}

void canvas_lay_out_texts(canvas *c)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->ops[i].kind == CANVAS_TEXT && layouts_keep(c, c->ops[i].text))
            pango_layout_get_line_readonly(canvas_kept_layout(c, c->ops[i].text, c->ops[i].type), 0);
}
