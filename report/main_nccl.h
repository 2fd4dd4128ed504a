// netprof-report of NCCL Inspector logs, or of what netprof nccl -o saved of them.
#ifndef NETPROF_MAIN_NCCL_H
#define NETPROF_MAIN_NCCL_H

#include "render/document/document.h"

#include <stddef.h>

typedef struct main_nccl_input {
    const char **paths; // directories, logs or an nccl.json; recordings of the same hosts among them
    size_t count;
    const char **before; // of another job, to be compared with; NULL: none
    size_t before_count;
    const char *peak, *jobid, *config;
    const char *charts;   // a directory for single charts; NULL: none
    bool brief, document; // document: not only the charts
} main_nccl_input;

// Is any of them a log of the Inspector, a directory with some, or a saved result?
bool main_nccl_recognise(const char *const *paths, size_t count);
// Returns an exit code after saying what is wrong.
int main_nccl(const main_nccl_input *in, const document_options *o,
              int (*draw)(document *d, const document_options *o));

#endif
