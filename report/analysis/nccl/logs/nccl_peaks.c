// The peaks that the user gave, and what share of them is reached.
#include "nccl_parts.h"

#include "analysis/base/memory.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>

static double peaks_find(const nccl_communicator *c, const nccl_peak *peaks, size_t count)
{
    const char *names[] = {c->name, c->id, c->label, nccl_class_name(c->type)};
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (fnmatch(peaks[i].pattern, names[k], 0) == 0) return peaks[i].gbs;
    return NAN;
}

void nccl_peaks_set(nccl *n, const nccl_peak *peaks, size_t count)
{
    for (size_t i = 0; i < n->communicator_count; i++)
        n->communicators[i].peak_gbs = peaks_find(&n->communicators[i], peaks, count);
    bool *different = memory_calloc(n->kind_count, sizeof *different);
    for (size_t i = 0; i < n->series_count; i++) {
        nccl_series *s = &n->series[i];
        nccl_kind *kind = &n->kinds[s->kind];
        double peak = n->communicators[s->communicator].peak_gbs;
        s->peak_share = s->spreads.bus_gbs.p50 / peak;
        if (isnan(peak) || (!isnan(kind->peak_gbs) && kind->peak_gbs != peak)) different[s->kind] = true;
        kind->peak_gbs = peak;
    }
    for (size_t i = 0; i < n->kind_count; i++) {
        if (different[i]) n->kinds[i].peak_gbs = NAN;
        n->kinds[i].peak_share = n->kinds[i].spreads.bus_gbs.p50 / n->kinds[i].peak_gbs;
    }
    free(different);
}

// ---- over the run ----
