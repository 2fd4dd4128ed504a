// Letters that no font here has: they are drawn as boxes, so they are named.
#include "canvas_model.h"

#include <string.h>

static const struct {
    uint32_t from, to;
    canvas_script script;
} missing_scripts[] = {
    {0x0590, 0x05ff, SCRIPT_HEBREW}, {0x0600, 0x08ff, SCRIPT_ARABIC},  {0x0900, 0x0dff, SCRIPT_INDIC},
    {0x0e00, 0x0e7f, SCRIPT_THAI},   {0x1100, 0x11ff, SCRIPT_CJK},     {0x2600, 0x27bf, SCRIPT_EMOJI},
    {0x2e80, 0x9fff, SCRIPT_CJK},    {0xa960, 0xa97f, SCRIPT_CJK},     {0xac00, 0xd7ff, SCRIPT_CJK},
    {0xf900, 0xfaff, SCRIPT_CJK},    {0xfb50, 0xfdff, SCRIPT_ARABIC},  {0xfe70, 0xfeff, SCRIPT_ARABIC},
    {0xff00, 0xffef, SCRIPT_CJK},    {0x1f000, 0x1faff, SCRIPT_EMOJI}, {0x20000, 0x3ffff, SCRIPT_CJK},
};

static canvas_script missing_script_of(uint32_t character)
{
    for (size_t i = 0; i < sizeof missing_scripts / sizeof *missing_scripts; i++)
        if (character >= missing_scripts[i].from && character <= missing_scripts[i].to)
            return missing_scripts[i].script;
    return SCRIPT_OTHER;
}

// Which of its characters has no glyph says no layout of the whole text: each is laid out alone.
static void missing_look_at(canvas *c, const canvas_op *op, unsigned *scripts)
{
    for (const char *at = op->text; *at;) {
        char letter[8] = "";
        gunichar character = g_utf8_get_char(at);
        size_t length = (size_t)(g_utf8_next_char(at) - at);
        memcpy(letter, at, length);
        at += length;
        if (character < 0x80) continue;
        if (pango_layout_get_unknown_glyphs_count(canvas_kept_layout(c, letter, op->type)) > 0)
            *scripts |= 1u << missing_script_of(character);
    }
}

unsigned canvas_missing(canvas *c)
{
    unsigned scripts = 0;
    for (size_t i = 0; i < c->count; i++) {
        const canvas_op *op = &c->ops[i];
        if (op->kind != CANVAS_TEXT) continue;
        const char *at = op->text;
        while (*at && (unsigned char)*at < 0x80) // char is unsigned on some processors
            at++;
        if (*at && pango_layout_get_unknown_glyphs_count(canvas_kept_layout(c, op->text, op->type)) > 0)
            missing_look_at(c, op, &scripts);
    }
    return scripts;
}
