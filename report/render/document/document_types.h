// How a document is to be written.
#ifndef NETPROF_DOCUMENT_TYPES_H
#define NETPROF_DOCUMENT_TYPES_H

#include "render/chart/chart_model.h"

typedef struct document_line { // of the verdict box
    severity severity;
    char *text;
} document_line;

typedef struct document document;

typedef enum document_format { DOCUMENT_PDF = 0, DOCUMENT_SVG, DOCUMENT_PNG, DOCUMENT_HTML } document_format;
// AUTO: light on paper and in pictures, in HTML as the reader's screen is set.
typedef enum document_theme { DOCUMENT_AUTO = 0, DOCUMENT_LIGHT, DOCUMENT_DARK } document_theme;
typedef enum document_paper { PAPER_A4 = 0, PAPER_LETTER } document_paper;

typedef struct document_options {
    document_format format;
    document_paper paper;
    document_theme theme;
    double scale;      // PNG: pixels for each point; 0: 2
    const char *chart; // only this chart, without page; SVG and PNG
    bool no_gnuplot;
    void (*progress)(void *user, const char *what, size_t done, size_t of); // may be NULL
    void *user;
} document_options;

#endif
