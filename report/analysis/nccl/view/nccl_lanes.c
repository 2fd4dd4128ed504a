#include "nccl_lanes.h"

#include "analysis/base/memory.h"
#include "analysis/base/saturating_sum.h"
#include "analysis/base/stb_ds.h"

#include <stdlib.h>

// ---- stretches ----

static void lanes_add(nccl_lane *x, int64_t begin_ns, int64_t end_ns)
{
    arrput(x->stretches, ((nccl_stretch){begin_ns, end_ns, 0}));
    x->calls++;
}

static int lanes_by_begin(const void *a, const void *b)
{
    const nccl_stretch *x = a, *y = b;
    if (x->begin_ns != y->begin_ns) return x->begin_ns < y->begin_ns ? -1 : 1;
    return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

// Calls that overlap are one stretch.
static void lanes_join(nccl_lane *x)
{
    size_t count = arrlenu(x->stretches), kept = 0;
    if (!count) return;
    qsort(x->stretches, count, sizeof *x->stretches, lanes_by_begin);
    for (size_t i = 0; i < count; i++) {
        nccl_stretch *last = kept ? &x->stretches[kept - 1] : NULL, *at = &x->stretches[i];
        if (last && at->begin_ns <= last->end_ns) {
            if (at->end_ns > last->end_ns) last->end_ns = at->end_ns;
            continue;
        }
        at->before_ns = last ? last->before_ns + (last->end_ns - last->begin_ns) : 0;
        x->stretches[kept++] = *at;
    }
    arrsetlen(x->stretches, kept);
}

// How long calls ran before that time.
static int64_t lanes_before(const nccl_lane *x, int64_t ns)
{
    size_t low = 0, high = arrlenu(x->stretches);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (x->stretches[middle].begin_ns < ns)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low) return 0;
    const nccl_stretch *s = &x->stretches[low - 1];
    return s->before_ns + ((ns < s->end_ns ? ns : s->end_ns) - s->begin_ns);
}

double nccl_lane_busy(const nccl_lane *x, int64_t from_ns, int64_t to_ns)
{
    if (to_ns <= from_ns) return 0;
    return (double)(lanes_before(x, to_ns) - lanes_before(x, from_ns)) / (double)(to_ns - from_ns);
}

int64_t nccl_lane_ns(const nccl_lane *x)
{
    const nccl_stretch *last = arrlenu(x->stretches) ? &arrlast(x->stretches) : NULL;
    return last ? last->before_ns + (last->end_ns - last->begin_ns) : 0;
}

// ---- calls ----

static void lanes_take_trace(nccl_lane *lanes, const nccl *n, const nccl_record *r)
{
    const nccl_trace *t = r->trace ? &n->traces[r->trace - 1] : NULL;
    if (!t) return;
    bool kernels = t->kernel_start_us && t->kernel_stop_us > t->kernel_start_us;
    uint64_t begin = kernels ? t->kernel_start_us : t->start_us, end = kernels ? t->kernel_stop_us : t->stop_us;
    if (!begin || end <= begin || end >= INT64_MAX / 1000) return;
    lanes_add(&lanes[nccl_record_member(n, r)], (int64_t)begin * 1000, (int64_t)end * 1000);
}

// By member: how many calls of it are known.
static uint64_t *lanes_count_calls(const nccl *n)
{
    uint64_t *calls = memory_calloc(n->member_count, sizeof *calls),
             *spent = memory_calloc(n->member_count, sizeof *spent);
    for (size_t i = 0; i < n->spent_count; i++)
        spent[n->spent[i].member] = sum_capped(spent[n->spent[i].member], n->spent[i].calls);
    for (size_t i = 0; i < n->member_count; i++) {
        uint64_t records = sum_capped(n->members[i].coll_records, n->members[i].p2p_records);
        calls[i] = records > spent[i] ? records : spent[i];
    }
    free(spent);
    return calls;
}

// ---- lanes ----

// qsort() hands nothing on.
typedef struct lanes_place {
    const char *host;
    int64_t pid;
    uint32_t member;
} lanes_place;

static int lanes_by_place(const void *a, const void *b)
{
    const lanes_place *x = a, *y = b;
    int order = strcmp(x->host, y->host);
    if (!order) order = (x->pid > y->pid) - (x->pid < y->pid);
    return order ? order : (x->member > y->member) - (x->member < y->member);
}

static lanes_place *lanes_places(const nccl *n)
{
    lanes_place *places = memory_array(NULL, n->member_count, sizeof *places);
    for (uint32_t i = 0; i < n->member_count; i++) {
        const nccl_process *p = &n->processes[n->members[i].process];
        places[i] = (lanes_place){n->hosts[p->host].name, p->pid, i};
    }
    if (n->member_count) qsort(places, n->member_count, sizeof *places, lanes_by_place);
    return places;
}

static void lanes_keep(nccl_lanes *l, const nccl *n, const lanes_place *at, nccl_lane *x, uint64_t calls)
{
    const nccl_member *m = &n->members[at->member];
    x->untimed = calls > x->calls ? calls - x->calls : 0;
    if (!x->calls && !x->untimed) return;
    lanes_join(x);
    x->host = memory_strdup(at->host);
    x->label = memory_format("rank %lld of %s", (long long)m->rank, n->communicators[m->communicator].label);
    l->calls = sum_capped(l->calls, x->calls);
    l->untimed = sum_capped(l->untimed, x->untimed);
    arrput(l->items, *x);
    l->count++;
}

void nccl_lanes_make(nccl_lanes *l, const nccl *n)
{
    nccl_lane *lanes = memory_calloc(n->member_count, sizeof *lanes);
    uint64_t *calls = lanes_count_calls(n);
    lanes_place *places = lanes_places(n);
    *l = (nccl_lanes){0};
    for (size_t i = 0; i < n->span_count; i++)
        lanes_add(&lanes[n->spent[n->spans[i].spent].member], n->spans[i].begin_ns, n->spans[i].end_ns);
    for (size_t i = 0; n->trace_count && i < n->instance_count; i++)
        for (uint32_t k = 0; k < n->instances[i].count; k++) // of copies of a log one
            lanes_take_trace(lanes, n, &n->records[n->instances[i].first + k]);
    for (size_t i = 0; i < n->member_count; i++)
        lanes_keep(l, n, &places[i], &lanes[places[i].member], calls[places[i].member]);
    free(places);
    free(calls);
    free(lanes);
}

void nccl_lanes_free(nccl_lanes *l)
{
    for (size_t i = 0; i < l->count; i++) {
        free(l->items[i].host);
        free(l->items[i].label);
        arrfree(l->items[i].stretches);
    }
    arrfree(l->items);
    *l = (nccl_lanes){0};
}
