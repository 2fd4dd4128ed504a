// One counter of one device, over the runs of both sides.
#ifndef NETPROF_COMPARE_CELLS_H
#define NETPROF_COMPARE_CELLS_H

#include "comparer.h"

// The count of one run.
typedef struct sample {
    comparison_side side;
    size_t run;
    bool known;
    const char *reason; // why it is not known
    uint64_t exact;
    double count, seconds, bytes; // NAN unknown
    double event;                 // the size of one event
} sample;

sample cells_sample(const comparer *m, const comparison_line *line, size_t device, size_t run);
// samples: one per run; values: room for as many numbers.
comparison_cell cells_make(const comparison *c, const comparison_line *line, const sample *samples, size_t count,
                           double *values);
// Why a side has no value: "absent" if no run of it has the counter.
const char *cells_unknown_reason(const sample *samples, size_t count, comparison_side side);

#endif
