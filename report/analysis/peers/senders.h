// Of a matrix of delays, which senders the others wait for longest: the median over those to whom each sent, on other nodes
// and on its own. A median, for one slow way alone makes no late sender.
#ifndef NETPROF_SENDERS_H
#define NETPROF_SENDERS_H

#include <stddef.h>

typedef struct senders_row {
    size_t sender;
    double outside, inside; // medians, to other nodes and within its own; NAN: never sent there, or no time is known
} senders_row;

// delays: [count * count], NAN where none is known, a row for each sender; nodes: [count], of each. Sets rows[count], the
// latest first by what goes to other nodes, else within theirs; those of whom nothing is known are last.
void senders_rank(const double *delays, const size_t *nodes, size_t count, senders_row *rows);

// What ranks it: of what went to other nodes, where any did.
double senders_delay(const senders_row *row);

#endif
