// How a document is to be written.
#ifndef NETPROF_DOCUMENT_TYPES_H
#define NETPROF_DOCUMENT_TYPES_H

#include "render/chart/chart_model.h"

typedef struct document_line { // of the verdict box
    severity severity;
    char *question; // in bold before the text; NULL: none
    char *text;
} document_line;

typedef struct document document;

typedef enum document_format {
    DOCUMENT_PDF = 0,
    DOCUMENT_SVG,
    DOCUMENT_PNG,
    DOCUMENT_HTML,
    DOCUMENT_EPS, // of one chart, as TikZ
    DOCUMENT_TIKZ
} document_format;

// A chart for a paper or a slide.
typedef struct document_figure {
    double width, height; // pt; height 0: as the chart has it for this width
    double font_size;     // pt, of all text
    const char *family;   // NULL: as in reports
    bool grey, no_titles; // no_titles: no words of status either
    chart_pick pick;
} document_figure;
// AUTO: light on paper and in pictures, in HTML as the reader's screen is set.
typedef enum document_theme { DOCUMENT_AUTO = 0, DOCUMENT_LIGHT, DOCUMENT_DARK } document_theme;
typedef enum document_paper { PAPER_A4 = 0, PAPER_LETTER } document_paper;

typedef struct document_options {
    document_format format;
    document_paper paper;
    document_theme theme;
    double scale;                  // PNG: pixels for each point; 0: 2
    const char *chart;             // only this chart, without page; not HTML
    const document_figure *figure; // how to draw it; NULL: as on its page
    bool interactive;              // HTML: with a script of ours that answers questions
    const char *data;              // a file for what it shows, as CSV; NULL: none
    bool no_gnuplot;
    void (*progress)(void *user, const char *what, size_t done, size_t of); // may be NULL
    void *user;
} document_options;

#endif
