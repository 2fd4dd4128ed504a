#include "main_figure.h"

#include "cli/common.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *main_figure_given(const figure_words *w)
{
    const struct {
        const char *given, *name;
    } all[] = {{w->width, "width"},         {w->height, "height"}, {w->font, "font"},
               {w->font_size, "font-size"}, {w->titles, "titles"}, {w->style, "style"},
               {w->device, "device"},       {w->node, "node"},     {w->metric, "metric"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].given) return all[i].name;
    return NULL;
}

// In points: 3.3in, 84mm, 8.4cm, 240pt; without a unit as `plain` says.
static bool figure_read_length(const char *option, const char *text, const char *plain, double least, double most,
                               double *points)
{
    static const struct {
        const char *unit;
        double points;
    } units[] = {{"in", 72}, {"cm", 72 / 2.54}, {"mm", 72 / 25.4}, {"pt", 1}};
    char *end = NULL;
    double value = strtod(text, &end);
    if (!*end) end = (char *)plain;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcasecmp(end, units[i].unit) != 0) continue;
        *points = value * units[i].points;
        if (*points >= least && *points <= most) return true;
        fail_usage("--%s: %s: expected %g to %g pt", option, safe(text), least, most);
        return false;
    }
    fail_usage("--%s: %s: expected a length like 3.3in, 84mm, 8.4cm or 240pt", option, safe(text));
    return false;
}

static bool figure_read_style(const char *text, document_figure *f)
{
    enum { SLIDE_WIDTH = 720, SLIDE_HEIGHT = 360, SLIDE_TYPE = 18 };
    if (strcasecmp(text, "slides") == 0) {
        *f = (document_figure){.width = SLIDE_WIDTH, .height = SLIDE_HEIGHT, .font_size = SLIDE_TYPE};
    } else if (strcasecmp(text, "grey") == 0 || strcasecmp(text, "gray") == 0) {
        f->grey = true;
    } else if (strcasecmp(text, "colour") != 0 && strcasecmp(text, "color") != 0) {
        fail_usage("--style: %s: expected colour, grey or slides", safe(text));
        return false;
    }
    return true;
}

static bool figure_read_titles(const char *text, document_figure *f)
{
    f->no_titles = strcasecmp(text, "off") == 0;
    if (f->no_titles || strcasecmp(text, "on") == 0) return true;
    fail_usage("--titles: %s: expected on or off", safe(text));
    return false;
}

bool main_figure_read(const figure_words *w, document_figure *f)
{
    enum { COLUMN = 238, TYPE = 8, LEAST = 72, MOST = 3600 }; // a column of two on letter paper: 3.3 in
    *f = (document_figure){.width = COLUMN, .font_size = TYPE};
    if (w->device && w->node) {
        fail_usage("--device, --node: expected one of them");
        return false;
    }
    bool ok = !w->style || figure_read_style(w->style, f);
    ok = ok && (!w->width || figure_read_length("width", w->width, "in", LEAST, MOST, &f->width));
    ok = ok && (!w->height || figure_read_length("height", w->height, "in", LEAST / 2., MOST, &f->height));
    ok = ok && (!w->font_size || figure_read_length("font-size", w->font_size, "pt", 4, LEAST, &f->font_size));
    ok = ok && (!w->titles || figure_read_titles(w->titles, f));
    f->family = w->font;
    f->pick = (chart_pick){.metric = w->metric, .who = w->device ? w->device : w->node};
    return ok;
}
