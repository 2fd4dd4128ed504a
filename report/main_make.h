// The reports: each function reads what the arguments name, draws the pages and returns an exit code after saying what is
// wrong.
#ifndef NETPROF_MAIN_MAKE_H
#define NETPROF_MAIN_MAKE_H

#include "main_arguments.h"
#include "render/document/document.h"

// What was asked for by options.
typedef struct report_order {
    bool brief, all_nics, full, force;
    const char *rules, *names, *phases;
    const char *job;                     // the one of several; NULL: there is one
    const char *peak, *config, *compare; // of NCCL logs
    const char *charts;                  // of NCCL logs: a directory for single charts; NULL: none
    bool only_charts;                    // no document beside them
    document_options document;
    int (*draw)(document *d, const document_options *o);
} report_order;

int make_pair(arguments *a, const report_order *order);
int make_recording(arguments *a, const report_order *order); // the same, with what happened between its ends
int make_job(arguments *a, const report_order *order);
int make_regions(arguments *a, const report_order *order);
int make_nsys(arguments *a, const report_order *order);
int make_comparison(arguments *a, const report_order *order);

// Usage errors and files that cannot be reported about.
int make_no_option(arguments *a, const report_order *order);
int make_no_file(arguments *a, const report_order *order);
int make_no_export(arguments *a, const report_order *order);

// On a terminal, after a second. document_options.progress
void make_say_progress(void *user, const char *what, size_t done, size_t of);

#endif
