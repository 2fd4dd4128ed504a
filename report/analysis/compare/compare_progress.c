// How the work of a run went on: what had been moved at each of its samples.
#include "comparer.h"

#include "analysis/base/memory.h"
#include "analysis/data/series.h"

#include <math.h>
#include <stdlib.h>

// What a device had moved at each of the times, added to what others had. Within a step its rate is the same throughout. False:
// of some step the rate is not known.
static bool progress_add_device(const series_device *d, const series_run *run, double *bytes)
{
    size_t step = 0;
    double sum = 0;
    for (size_t i = 0; i < d->count; i++)
        if (isnan(d->steps[i].rate[SERIES_IN]) || isnan(d->steps[i].rate[SERIES_OUT])) return false;
    for (size_t k = 0; k < run->time_count; k++) {
        double at_s = run->times[k];
        for (; step < d->count && d->steps[step].to_s <= at_s; step++) {
            const series_step *x = &d->steps[step];
            sum += (x->to_s - x->from_s) * (x->rate[SERIES_IN] + x->rate[SERIES_OUT]);
        }
        const series_step *x = step < d->count ? &d->steps[step] : NULL;
        bytes[k] += sum;
        if (x && x->from_s < at_s) bytes[k] += (at_s - x->from_s) * (x->rate[SERIES_IN] + x->rate[SERIES_OUT]);
    }
    return true;
}

// The samples end where the run does: what they add up to is what was counted from end to end.
static bool progress_is_whole(const comparison_run *run, double bytes)
{
    static const double tolerance = 0.03;
    return run->bytes > 0 && fabs(bytes - run->bytes) <= tolerance * run->bytes;
}

static void progress_take(comparison_run *run, const series *s)
{
    const series_run *from = &s->runs[0];
    double *bytes = memory_calloc(from->time_count + 1, sizeof *bytes);
    bool known = from->time_count > 2;
    for (size_t i = 0; i < s->device_count && known; i++)
        if (s->devices[i].chosen) known = progress_add_device(&s->devices[i], from, bytes);
    if (!known || !progress_is_whole(run, bytes[from->time_count - 1])) {
        free(bytes);
        return;
    }
    run->sample_bytes = bytes;
    run->sample_count = from->time_count;
    run->sample_s = memory_calloc(from->time_count, sizeof *run->sample_s);
    for (size_t k = from->time_count; k-- > 0;) {
        run->sample_s[k] = from->times[k] - from->times[0];
        run->sample_bytes[k] -= run->sample_bytes[0];
    }
}

void comparer_progress(comparer *m)
{
    enum { ENDS = 2 };
    for (size_t r = 0; r < m->c->run_count; r++) {
        comparison_run *run = m->c->runs[r];
        const dataset_run *file = run->first;
        series s = {0};
        bool good = run->first == run->last && file->snapshot_count > ENDS && !file->skipped;
        for (size_t i = 0; i < file->snapshot_count && good; i++)
            good = series_take(&s, file, i, &file->snapshots[i]) == NETPROF_OK;
        series_finish(&s);
        if (good) progress_take(run, &s);
        series_free(&s);
    }
}
