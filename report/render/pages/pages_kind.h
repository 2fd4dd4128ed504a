// A kind of report, or a part of one: what the table of reports (report/main.c) knows of its pages.
#ifndef NETPROF_PAGES_KIND_H
#define NETPROF_PAGES_KIND_H

typedef struct pages_kind {
    const char *name;   // as on its pages: "Node counter report"
    const char *pages;  // what is on them, in words
    const char *charts; // the names of all its charts, by blanks; * is any text
} pages_kind;

// The last part of a path.
const char *pages_file_name(const char *path);

#endif
