// What cairo's PDF lacks, added as an update behind its end, as PDF allows: a language, links within the document and their
// place in the tree of tags, texts in place of charts. (cairo 1.16's own links are objects that are missing, and no version of
// it takes a text for a picture.)
#ifndef NETPROF_PDF_UPDATE_H
#define NETPROF_PDF_UPDATE_H

#include "render/base/buffer.h"

#include <stdbool.h>

typedef struct pdf_link { // places in points from the lower left of a page; pages from 0
    size_t page, to_page;
    double left, bottom, right, top, to_y;
    size_t section;   // that it stands in, by the order of drawing
    const char *text; // what it leads to, for those who hear it; foreign text
} pdf_link;

typedef struct pdf_extras {
    const char *language;
    const pdf_link *links; // [link_count]
    size_t link_count;
    // [section_count] of what was drawn as a section, in this order: what is said in its place, for those who hear it. It is a
    // picture then; NULL: its own texts are read. Foreign text.
    const char *const *spoken;
    size_t section_count;
} pdf_extras;

// False: the file stays as it is, for its structure is another than expected.
bool pdf_update(buffer *pdf, const pdf_extras *extras);

#endif
