// The documents about time: many hosts together, or the part that is added to the report of one.
#ifndef NETPROF_PAGES_SERIES_H
#define NETPROF_PAGES_SERIES_H

#include "document.h"
#include "findings.h"
#include "series.h"

typedef struct pages_series_input {
    const dataset *set; // the same files, with at least the first and last snapshot of each
    const series *series; // finished
    const rules *rules;
    bool brief; // only the first page
    const char *clocks; // how the hosts' clocks stand to one another (clocks.h); NULL or "": nothing to say
    void (*progress)(void *user, const char *what, size_t done, size_t of); // may be NULL
    void *user;
} pages_series_input;

// Files of several hosts on one time axis. NULL: no memory.
document *pages_series(const pages_series_input *in, netprof_error *error);
// Adds what happened between the ends of one file; false: no memory.
bool pages_series_part(document *doc, const series *s);

#endif
