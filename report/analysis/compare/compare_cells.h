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
// A counter that only one side has, on a device that both have: the other side counted nothing of it.
void cells_assume_nothing(const comparer *m, const comparison_line *line, size_t device, sample *samples);
// The rates of all healthy runs on devices that are alike, by basis: what one of them shows is no difference. Where
// nothing is known of others, all NAN.
typedef struct cells_peers {
    comparison_range by[COMPARISON_PER_BYTE + 1];
} cells_peers;
cells_peers cells_peers_of(const comparer *m, const comparison_line *line, const sample *samples, double *values);
// samples: one per run; values: room for twice as many numbers.
comparison_cell cells_make(const comparison *c, const comparison_line *line, const sample *samples, size_t count,
                           const cells_peers *peers, double *values);
double cells_rate(const sample *s, comparison_basis basis); // per second or per byte; NAN unknown
// Why a side has no value: "absent" if no run of it has the counter.
const char *cells_unknown_reason(const sample *samples, size_t count, comparison_side side);

#endif
