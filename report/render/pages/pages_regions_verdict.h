#ifndef NETPROF_PAGES_REGIONS_VERDICT_H
#define NETPROF_PAGES_REGIONS_VERDICT_H

#include "pages.h"
#include "render/document/document.h"

void pages_regions_verdict(document *doc, const regions *r);

#endif
