// How busy each GPU was: the time that its kernels and copies cover, whatever the number of streams.

#include "nsys_private.h"

#include <math.h>
#include <stdlib.h>

// Events are mostly in the order of their begins: one that touches the last span extends it.
void nsys_spans_add(nsys_spans *gpu, int what, nsys_span span)
{
    size_t count = arrlenu(gpu->items[what]);
    nsys_span *last = count ? &gpu->items[what][count - 1] : NULL;
    if (last && span.begin >= last->begin && span.begin <= last->end) {
        if (span.end > last->end) last->end = span.end;
        return;
    }
    if (last && span.begin < last->begin) gpu->unsorted[what] = true;
    arrput(gpu->items[what], span);
}

static int busy_by_begin(const void *a, const void *b)
{
    const nsys_span *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static int busy_by_device(const void *a, const void *b)
{
    const nsys_spans *x = a, *y = b;
    if (x->device != y->device) return x->device > y->device ? 1 : -1;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

static double busy_bin_length(const nsys *n)
{
    return (double)(n->end_ns - n->begin_ns) / (double)n->bin_count;
}

int64_t nsys_bin_begin(const nsys *n, size_t i)
{
    return i >= n->bin_count ? n->end_ns : n->begin_ns + (int64_t)(busy_bin_length(n) * (double)i);
}

static void busy_add_span(const nsys *n, double *bins, nsys_span s)
{
    double length = busy_bin_length(n), begin = (double)(s.begin - n->begin_ns), end = (double)(s.end - n->begin_ns);
    if (!(length > 0)) return;
    size_t first = (size_t)(begin / length);
    for (size_t i = first; i < n->bin_count && (double)i * length < end; i++) {
        double from = fmax(begin, (double)i * length), to = fmin(end, (double)(i + 1) * length);
        if (to > from) bins[i] += (to - from) / length;
    }
}

// Spans of several streams overlap: time counts once.
static void busy_join_spans(const nsys *n, nsys_gpu *gpu, int what, const nsys_span *items, size_t count)
{
    for (size_t i = 0; i < count;) {
        nsys_span joined = items[i++];
        while (i < count && items[i].begin <= joined.end) {
            if (items[i].end > joined.end) joined.end = items[i].end;
            i++;
        }
        gpu->busy_ns[what] += (uint64_t)(joined.end - joined.begin);
        busy_add_span(n, gpu->busy[what], joined);
    }
    for (size_t i = 0; i < n->bin_count; i++)
        gpu->busy[what][i] = fmin(gpu->busy[what][i], 1);
}

static void busy_find_range(nsys *n, const nsys_spans *gpus)
{
    n->begin_ns = INT64_MAX;
    for (size_t g = 0; g < arrlenu(gpus); g++)
        for (int what = 0; what < NSYS_BUSY; what++)
            for (size_t i = 0; i < arrlenu(gpus[g].items[what]); i++) {
                const nsys_span *s = &gpus[g].items[what][i];
                if (s->begin < n->begin_ns) n->begin_ns = s->begin;
                if (s->end > n->end_ns) n->end_ns = s->end;
            }
}

void nsys_spans_end(nsys *n, nsys_spans *gpus, size_t bins)
{
    size_t count = arrlenu(gpus);
    if (!count) return;
    busy_find_range(n, gpus);
    n->bin_count = bins;
    qsort(gpus, count, sizeof *gpus, busy_by_device);
    n->gpus = memory_calloc(count, sizeof *n->gpus);
    for (size_t g = 0; g < count; g++) {
        nsys_gpu *gpu = &n->gpus[n->gpu_count++];
        gpu->device = gpus[g].device;
        gpu->pid = gpus[g].pid;
        for (int what = 0; what < NSYS_BUSY; what++) {
            nsys_span *items = gpus[g].items[what];
            gpu->busy[what] = memory_calloc(bins, sizeof *gpu->busy[what]);
            if (gpus[g].unsorted[what]) qsort(items, arrlenu(items), sizeof *items, busy_by_begin);
            busy_join_spans(n, gpu, what, items, arrlenu(items));
        }
    }
}

void nsys_spans_free(nsys_spans *gpus)
{
    for (size_t g = 0; g < arrlenu(gpus); g++)
        for (int what = 0; what < NSYS_BUSY; what++)
            arrfree(gpus[g].items[what]);
    arrfree(gpus);
}

void nsys_busy_columns(const nsys *n, const nsys_gpu *gpu, int what, int64_t from_ns, int64_t to_ns, double *columns,
                       size_t count)
{
    double length = busy_bin_length(n), width = (double)(to_ns - from_ns) / (double)count;
    for (size_t c = 0; c < count; c++) {
        // Of the column, what the file covers; in ns since its first event.
        double begin = fmax((double)(from_ns - n->begin_ns) + width * (double)c, 0),
               end = fmin((double)(from_ns - n->begin_ns) + width * (double)(c + 1), (double)(n->end_ns - n->begin_ns));
        columns[c] = NAN;
        if (!(end > begin) || !(length > 0)) continue;
        double busy = 0;
        for (size_t i = (size_t)(begin / length); i < n->bin_count && (double)i * length < end; i++)
            busy += gpu->busy[what][i] * fmax(fmin(end, (double)(i + 1) * length) - fmax(begin, (double)i * length), 0);
        columns[c] = fmin(busy / (end - begin), 1);
    }
}
