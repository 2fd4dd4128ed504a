// How busy each GPU was: the time that its kernels and copies cover, whatever the number of streams.
#include "analysis/base/list.h"
#include "nsys_private.h"

#include <math.h>
#include <stdlib.h>

// Events mostly stand in the order of their begins: what touches the last span becomes a part of it.
bool nsys_spans_add(nsys_spans *gpu, int what, nsys_span span)
{
    size_t count = gpu->count[what];
    nsys_span *last = count ? &gpu->items[what][count - 1] : NULL;
    if (last && span.begin >= last->begin && span.begin <= last->end) {
        if (span.end > last->end) last->end = span.end;
        return true;
    }
    if (last && span.begin < last->begin) gpu->unsorted[what] = true;
    if (!list_grow(&gpu->items[what], count, &gpu->room[what], sizeof span)) return false;
    gpu->items[what][gpu->count[what]++] = span;
    return true;
}

static int by_begin(const void *a, const void *b)
{
    const nsys_span *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static int by_device(const void *a, const void *b)
{
    const nsys_spans *x = a, *y = b;
    if (x->device != y->device) return x->device > y->device ? 1 : -1;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

static double bin_length(const nsys *n)
{
    return (double)(n->end_ns - n->begin_ns) / (double)n->bin_count;
}

int64_t nsys_bin_begin(const nsys *n, size_t i)
{
    return i >= n->bin_count ? n->end_ns : n->begin_ns + (int64_t)(bin_length(n) * (double)i);
}

static void add_span(const nsys *n, double *bins, nsys_span s)
{
    double length = bin_length(n), begin = (double)(s.begin - n->begin_ns), end = (double)(s.end - n->begin_ns);
    if (!(length > 0)) return;
    size_t first = (size_t)(begin / length);
    for (size_t i = first; i < n->bin_count && (double)i * length < end; i++) {
        double from = fmax(begin, (double)i * length), to = fmin(end, (double)(i + 1) * length);
        if (to > from) bins[i] += (to - from) / length;
    }
}

// Spans of several streams overlap: time counts once.
static void join_spans(const nsys *n, nsys_gpu *gpu, int what, const nsys_span *items, size_t count)
{
    for (size_t i = 0; i < count;) {
        nsys_span joined = items[i++];
        while (i < count && items[i].begin <= joined.end) {
            if (items[i].end > joined.end) joined.end = items[i].end;
            i++;
        }
        gpu->busy_ns[what] += (uint64_t)(joined.end - joined.begin);
        add_span(n, gpu->busy[what], joined);
    }
    for (size_t i = 0; i < n->bin_count; i++)
        gpu->busy[what][i] = fmin(gpu->busy[what][i], 1);
}

static void find_range(nsys *n, const nsys_spans *gpus, size_t count)
{
    n->begin_ns = INT64_MAX;
    for (size_t g = 0; g < count; g++)
        for (int what = 0; what < NSYS_BUSY; what++)
            for (size_t i = 0; i < gpus[g].count[what]; i++) {
                const nsys_span *s = &gpus[g].items[what][i];
                if (s->begin < n->begin_ns) n->begin_ns = s->begin;
                if (s->end > n->end_ns) n->end_ns = s->end;
            }
}

bool nsys_spans_end(nsys *n, nsys_spans *gpus, size_t count, size_t bins)
{
    if (!count) return true;
    find_range(n, gpus, count);
    n->bin_count = bins;
    qsort(gpus, count, sizeof *gpus, by_device);
    n->gpus = calloc(count, sizeof *n->gpus);
    if (!n->gpus) return false;
    for (size_t g = 0; g < count; g++) {
        nsys_gpu *gpu = &n->gpus[n->gpu_count++];
        gpu->device = gpus[g].device;
        gpu->pid = gpus[g].pid;
        for (int what = 0; what < NSYS_BUSY; what++) {
            if (!(gpu->busy[what] = calloc(bins, sizeof *gpu->busy[what]))) return false;
            if (gpus[g].unsorted[what]) qsort(gpus[g].items[what], gpus[g].count[what], sizeof(nsys_span), by_begin);
            join_spans(n, gpu, what, gpus[g].items[what], gpus[g].count[what]);
        }
    }
    return true;
}

void nsys_spans_free(nsys_spans *gpus, size_t count)
{
    for (size_t g = 0; g < count; g++)
        for (int what = 0; what < NSYS_BUSY; what++)
            free(gpus[g].items[what]);
    free(gpus);
}

void nsys_busy_columns(const nsys *n, const nsys_gpu *gpu, int what, int64_t from_ns, int64_t to_ns, double *columns,
                       size_t count)
{
    double length = bin_length(n), width = (double)(to_ns - from_ns) / (double)count;
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

const char *nsys_busy_name(int what)
{
    static const char *const names[NSYS_BUSY] = {"kernels", "NCCL kernels", "memory operations"};
    return names[what];
}
