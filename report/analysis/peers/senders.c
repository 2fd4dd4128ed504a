#include "senders.h"

#include "analysis/base/memory.h"
#include "peers_numbers.h"

#include <math.h>
#include <stdlib.h>

double senders_delay(const senders_row *row)
{
    return isnan(row->outside) ? row->inside : row->outside;
}

static int senders_compare(const void *a, const void *b)
{
    const senders_row *x = a, *y = b;
    double left = senders_delay(x), right = senders_delay(y);
    if (isnan(left) != isnan(right)) return isnan(left) ? 1 : -1;
    if (left > right || left < right) return left > right ? -1 : 1;
    return (x->sender > y->sender) - (x->sender < y->sender);
}

void senders_rank(const double *delays, const size_t *nodes, size_t count, senders_row *rows)
{
    double *outside = memory_array(NULL, count + 1, sizeof *outside);
    double *inside = memory_array(NULL, count + 1, sizeof *inside);
    for (size_t i = 0; i < count; i++) {
        size_t out = 0, in = 0;
        for (size_t k = 0; k < count; k++) {
            double delay = delays[i * count + k];
            if (isnan(delay)) continue;
            if (nodes[i] == nodes[k])
                inside[in++] = delay;
            else
                outside[out++] = delay;
        }
        rows[i] = (senders_row){i, peers_median(outside, out), peers_median(inside, in)};
    }
    if (count) qsort(rows, count, sizeof *rows, senders_compare);
    free(outside);
    free(inside);
}
