// Documents: title, verdict and charts in reading order, laid out on pages (PDF, PNG, SVG) or as one HTML page.
//
// A chart knows its height for a width and draws itself on a canvas; the document knows nothing of what it shows.
// Every chart carries a table twin: what it shows as text, exact, for HTML and for readers who cannot see it.
#ifndef NETPROF_DOCUMENT_H
#define NETPROF_DOCUMENT_H

#include "document_types.h"

document *document_open(const char *kind); // "Node counter report": beside the name at the top of each page
void document_close(document *d);
// The verdict in one sentence; at most 60 characters of it are the title, the first line of the verdict says it all.
void document_title(document *d, const char *title);
void document_subline(document *d, const char *text); // below it, or below a part's heading; may be called again
void document_verdict(document *d, severity s, const char *text);
// A line that answers a question, "Slower?"; the lines with and those without one line up among themselves.
void document_answer(document *d, severity s, const char *question, const char *text);
void document_foot(document *d, const char *text);
void document_metadata(document *d, const char *subject, const char *keywords, int64_t time_ns); // CLOCK_REALTIME

// The document owns what is added: data is freed by chart.free, the twin with it.
void document_add(document *d, chart x);
void document_beside(document *d, chart left, chart right, double left_share); // side by side on paper
void document_part(document *d, const char *title); // begins a new page; an outline entry, a heading in HTML
void document_note(document *d, const char *text);  // a paragraph

// The charts in order: name, a title that no other one has, and a line that says what it shows.
void document_charts(const document *d,
                     void (*visit)(void *user, const char *name, const char *title, const char *shows), void *user);

// Keeps of one chart what is wanted; false: it has none of it, or no parts. Its table follows.
bool document_has(const document *d, const char *name);
bool document_pick(document *d, const char *name, chart_pick *p);

// Writes it; several SVG or PNG pages become PATH-1.svg, PATH-2.svg, ... Every file appears whole or not at all.
// warn(), which may be NULL, is told about everything that had to be left out (no gnuplot).
netprof_err document_write(document *d, const char *path, const document_options *o,
                           void (*warn)(void *user, const char *text), netprof_error *error);
// Single charts, each into a file of its own: PDF, SVG or PNG; o->chart is not looked at.
typedef struct document_file {
    const char *chart, *path;
} document_file;
netprof_err document_write_charts(document *d, const document_file *files, size_t count, const document_options *o,
                                  void (*warn)(void *user, const char *text), netprof_error *error);
size_t document_pages(document *d, document_paper paper); // how many
// The layout check over all pages; calls found() with the page's number, 1 for the first.
size_t document_check(document *d, document_paper paper,
                      void (*found)(void *user, size_t page, canvas_fault fault, const char *text, const char *other),
                      void *user);

#endif
