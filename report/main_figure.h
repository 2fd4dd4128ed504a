// The options of a single chart as a figure.
#ifndef NETPROF_MAIN_FIGURE_H
#define NETPROF_MAIN_FIGURE_H

#include "render/document/document_types.h"

// As they were given; NULL: not.
typedef struct figure_words {
    const char *width, *height, *font, *font_size, *titles, *style, *device, *node, *metric;
} figure_words;

// The first of them that was given, without its dashes; NULL: none.
const char *main_figure_given(const figure_words *w);
// False: said what is wrong.
bool main_figure_read(const figure_words *w, document_figure *f);

#endif
