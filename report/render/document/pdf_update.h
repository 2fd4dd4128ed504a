// What cairo's PDF lacks, added as an update behind its end, as PDF allows: a language, links within the document. (cairo
// 1.16's own links are objects that are missing.)
#ifndef NETPROF_PDF_UPDATE_H
#define NETPROF_PDF_UPDATE_H

#include "render/base/buffer.h"

#include <stdbool.h>

typedef struct pdf_link { // places in points from the lower left of a page; pages from 0
    size_t page, to_page;
    double left, bottom, right, top, to_y;
} pdf_link;

// False: the file stays as it is, for its structure is another than expected.
bool pdf_update(buffer *pdf, const char *language, const pdf_link *links, size_t count);

#endif
