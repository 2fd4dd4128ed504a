// The process whose own kernels took longest, if it stands out: those of NCCL wait for others and are left out.
#include "analysis/base/memory.h"
#include "analysis/base/spread.h"
#include "nsys.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Own thresholds: a fifth longer than the others' median, and twice as far from it as the next one.
static const double SLOW_TIMES = 1.2;

// Kernels of other libraries that wait for other GPUs: how long they take says nothing of who is slow.
static bool nsys_slow_may_wait(const char *name)
{
    static const char *const parts[] = {"nvshmem",    "deep_ep",   "allreduce",
                                        "all_reduce", "AllReduce", "cross_device_reduce"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(name, parts[i])) return true;
    return false;
}

// Time and number of a process's own kernels; false: the file does not tell them apart from others' or from waiting.
static bool nsys_slow_own(const nsys_job *job, const nsys_spender *s, double *own_ns, double *count)
{
    const nsys *n = &job->files[s->file];
    uint64_t all = s->process->spent_ns[NSYS_SPENT_KERNELS], waiting = s->process->spent_ns[NSYS_SPENT_NCCL];
    if (!n->knows[NSYS_SPENT_KERNELS] || n->process_count > 1 || all == UINT64_MAX || all <= waiting) return false;
    if (n->tables[NSYS_GRAPHS].count) return false; // NCCL's kernels in graphs are not told apart
    *own_ns = (double)(all - waiting);
    *count = 0;
    for (size_t i = 0; i < n->tables[NSYS_KERNELS].row_count; i++) {
        const nsys_row *row = &n->tables[NSYS_KERNELS].rows[i];
        if (row->nccl) continue;
        if (row->name && nsys_slow_may_wait(row->name)) return false;
        *count += (double)row->count;
    }
    return *count > 0;
}

// How many times the others' median a value is; *alone: no other is half as far above it.
static double nsys_slow_times(const double *values, size_t count, size_t at, bool *alone)
{
    double *others = memory_calloc(count, sizeof *others), next = 0;
    for (size_t i = 0; i < count; i++) {
        others[i] = i == at ? (double)NAN : values[i];
        if (i != at) next = fmax(next, values[i]);
    }
    spread s = spread_of(others, count);
    free(others);
    double times = s.median > 0 ? values[at] / s.median : (double)NAN;
    *alone = times > 1 && next / s.median - 1 <= (times - 1) / 2;
    return times;
}

bool nsys_job_slow(const nsys_job *job, nsys_slow *slow)
{
    size_t count = job->spent_count, at = 0;
    bool alone = false, known = count > 1;
    double *own = memory_calloc(count + 1, sizeof *own), *number = memory_calloc(count + 1, sizeof *number);
    double *each = memory_calloc(count + 1, sizeof *each);
    for (size_t i = 0; i < count && known; i++) {
        known = nsys_slow_own(job, &job->spent[i], &own[i], &number[i]);
        each[i] = known ? own[i] / number[i] : 0;
        if (own[i] > own[at]) at = i;
    }
    if (known) {
        *slow = (nsys_slow){.place = at, .own_ns = own[at]};
        slow->times = nsys_slow_times(own, count, at, &alone);
        known = alone && slow->times >= SLOW_TIMES;
        slow->each_times = nsys_slow_times(each, count, at, &alone);
        slow->count_times = nsys_slow_times(number, count, at, &alone);
    }
    free(own);
    free(number);
    free(each);
    return known;
}
