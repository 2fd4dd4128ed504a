// From records to instances, and what is computed of them. Operations do not touch each other: they run in threads.
#include "nccl_parts.h"
#include "nccl_spread.h"
#include "analysis/base/memory.h"
#include "analysis/base/saturating_sum.h"
#include "analysis/base/threads/parallel.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>

// ---- bandwidth ----

// nccl-tests' definitions, as the plugin has them: what is moved, and the part of it that each link carries.
static const struct {
    const char *coll;
    bool per_rank; // the logged size is one rank's part
    double a, b;   // bus factor: a * (n - b) / n
} bandwidths[] = {{"AllReduce", false, 2, 1}, {"AllGather", true, 1, 1}, {"ReduceScatter", true, 1, 1},
                  {"Broadcast", false, 1, 0}, {"Reduce", false, 1, 0},   {"SendRecv", false, 1, 0},
                  {"Send", false, 1, 0},      {"Recv", false, 1, 0}};
enum { BANDWIDTHS = sizeof bandwidths / sizeof *bandwidths };

double nccl_traffic_bytes(const char *coll, uint64_t size, int64_t ranks)
{
    for (size_t i = 0; i < BANDWIDTHS; i++)
        if (bandwidths[i].per_rank && strcmp(bandwidths[i].coll, coll) == 0) return (double)size * (double)ranks;
    return (double)size;
}

double nccl_bus_factor(const char *coll, int64_t ranks)
{
    for (size_t i = 0; i < BANDWIDTHS; i++)
        if (strcmp(bandwidths[i].coll, coll) == 0)
            return bandwidths[i].a * ((double)ranks - bandwidths[i].b) / (double)ranks;
    return NAN;
}

double nccl_alg_gbs(const nccl_series *s, double time_us)
{
    return time_us > 0 ? s->traffic_bytes / (time_us * 1e3) : NAN;
}

double nccl_bus_gbs(const nccl_series *s, double time_us)
{
    return s->bus_factor > 0 ? nccl_alg_gbs(s, time_us) * s->bus_factor : NAN;
}

static bool group_disagrees(const nccl_series *s, const nccl_record *r)
{
    double bus = nccl_bus_gbs(s, (double)r->time_us);
    if (isnan(bus)) return false;
    return fabs(r->bus_gbs - bus) > 0.001 * bus + 1e-6; // six decimals are logged
}

// ---- sorting a series by sequence number ----

static int group_by_sn(const void *a, const void *b)
{
    const nccl_record *x = *(const nccl_record *const *)a, *y = *(const nccl_record *const *)b;
    if (x->sn != y->sn) return x->sn < y->sn ? -1 : 1;
    return x < y ? -1 : x > y; // as they stood
}

static void group_sort_widely(nccl_record *records, size_t count)
{
    const nccl_record **order = memory_array(NULL, count, sizeof *order);
    nccl_record *sorted = memory_array(NULL, count, sizeof *sorted);
    for (size_t i = 0; i < count; i++)
        order[i] = &records[i];
    qsort(order, count, sizeof *order, group_by_sn);
    for (size_t i = 0; i < count; i++)
        sorted[i] = *order[i];
    memcpy(records, sorted, count * sizeof *sorted);
    free(order);
    free(sorted);
}

// Numbers that lie close together are counted; it keeps the order of equal ones.
static void group_sort_closely(nccl_record *records, size_t count, uint64_t low, size_t range)
{
    size_t *next = memory_calloc(range + 1, sizeof *next);
    nccl_record *sorted = memory_alloc(count * sizeof *sorted);
    for (size_t i = 0; i < count; i++)
        next[records[i].sn - low + 1]++;
    for (size_t i = 0; i < range; i++)
        next[i + 1] += next[i];
    for (size_t i = 0; i < count; i++)
        sorted[next[records[i].sn - low]++] = records[i];
    memcpy(records, sorted, count * sizeof *sorted);
    free(next);
    free(sorted);
}

static void group_sort_records(nccl_record *records, size_t count)
{
    uint64_t low = UINT64_MAX, high = 0;
    bool sorted = true;
    for (size_t i = 0; i < count; i++) {
        if (records[i].sn < low) low = records[i].sn;
        if (records[i].sn > high) high = records[i].sn;
        sorted = sorted && (!i || records[i - 1].sn <= records[i].sn);
    }
    if (sorted) return;
    if (high - low < 4 * (uint64_t)count + 1024)
        group_sort_closely(records, count, low, (size_t)(high - low) + 1);
    else
        group_sort_widely(records, count);
}

// ---- an operation's work ----

static size_t group_same_sn(const nccl_record *records, size_t count)
{
    size_t k = 1;
    while (k < count && records[k].sn == records[0].sn)
        k++;
    return k;
}

// A member's second record of a call is left out: it moves to the end. Returns how many stay.
static size_t group_drop_repeated(nccl *n, nccl_record *records, size_t count, uint32_t first_member, size_t *stamps,
                                  size_t stamp)
{
    const nccl_slot *slots = nccl_store_of(n)->slots;
    size_t kept = 0;
    bool repeated = false;
    for (size_t i = 0; i < count && !repeated; i++) {
        size_t *at = &stamps[slots[records[i].slot].member - first_member];
        repeated = *at == stamp;
        *at = stamp;
    }
    if (!repeated) return count;
    for (size_t i = 0; i < count; i++) {
        nccl_record r = records[i];
        size_t k = 0;
        while (k < kept && slots[records[k].slot].member != slots[r.slot].member)
            k++;
        if (k == kept) {
            records[kept++] = r;
            continue;
        }
        nccl_file *file = &n->files[slots[r.slot].file];
        __atomic_fetch_add(records[k].time_us == r.time_us ? &file->duplicates : &file->conflicts, 1, __ATOMIC_RELAXED);
    }
    for (size_t i = kept; i < count; i++)
        records[i].slot = NCCL_NONE;
    return kept;
}

// Sorts the operation's records and counts its instances. Of a series, first_instance is still where its records begin
// and instance_count how many there are; the number of instances goes to incomplete.
static void group_sort_operation(void *user, size_t i)
{
    nccl *n = user;
    const nccl_operation *o = &n->operations[i];
    const nccl_communicator *c = &n->communicators[o->communicator];
    size_t *stamps = memory_calloc((size_t)c->member_count, sizeof *stamps), stamp = 0;
    for (uint32_t k = 0; k < o->series_count; k++) {
        nccl_series *s = &n->series[o->first_series + k];
        nccl_record *records = n->records + s->first_instance;
        group_sort_records(records, s->instance_count);
        for (size_t at = 0, count; at < s->instance_count; at += count) {
            count = group_same_sn(records + at, s->instance_count - at);
            group_drop_repeated(n, records + at, count, c->first_member, stamps, ++stamp);
            s->incomplete++;
        }
    }
    free(stamps);
}

// Room for the values of one operation.
typedef struct workspace {
    double *values;    // of one instance's ranks
    bool *here;        // by member: seen in the instance
    uint64_t *last_sn; // by member: of the operation
} workspace;

static void group_fill_instance(nccl *n, nccl_instance *x, uint32_t series, size_t first, size_t count)
{
    const nccl_slot *slots = nccl_store_of(n)->slots;
    const nccl_record *r = n->records + first;
    double sum = 0, bus = 0;
    *x = (nccl_instance){.series = series,
                         .first = first,
                         .sn = r->sn,
                         .first_late = slots[r->slot].member, // unless another is below UINT64_MAX
                         .min_us = UINT64_MAX,
                         .second_us = UINT64_MAX,
                         .first_dump_us = UINT64_MAX,
                         .min_bus = INFINITY,
                         .max_bus = -INFINITY};
    for (size_t i = 0; i < count && r[i].slot != NCCL_NONE; i++) {
        x->count++;
        sum += (double)r[i].time_us;
        bus += r[i].bus_gbs;
        if (r[i].time_us < x->min_us) {
            x->second_us = x->min_us;
            x->min_us = r[i].time_us;
            x->late_count = 0;
            x->first_late = slots[r[i].slot].member;
        } else if (r[i].time_us < x->second_us) {
            x->second_us = r[i].time_us;
        }
        x->late_count += r[i].time_us == x->min_us;
        if (r[i].time_us > x->max_us) x->max_us = r[i].time_us;
        if (r[i].bus_gbs < x->min_bus) x->min_bus = r[i].bus_gbs;
        if (r[i].bus_gbs > x->max_bus) x->max_bus = r[i].bus_gbs;
        if (r[i].dump_us < x->first_dump_us) x->first_dump_us = r[i].dump_us;
        if (r[i].dump_us > x->last_dump_us) x->last_dump_us = r[i].dump_us;
    }
    if (x->count < 2) x->second_us = x->min_us;
    x->mean_us = sum / x->count;
    x->mean_bus = bus / x->count;
}

// Counts how long each rank of the instance waited, and made others wait.
static void group_count_waiting(nccl *n, const nccl_operation *o, nccl_instance *x, uint32_t first_member, workspace *w)
{
    const nccl_slot *slots = nccl_store_of(n)->slots;
    const nccl_record *r = n->records + x->first;
    uint64_t caused = 0, cost = x->second_us - x->min_us;
    for (uint32_t i = 0; i < x->count; i++) {
        w->values[i] = (double)r[i].time_us;
        caused = sum_capped(caused, r[i].time_us - x->min_us);
    }
    x->median_us = nccl_median_of(w->values, x->count);
    for (uint32_t i = 0; i < x->count; i++) {
        nccl_waiting *a = &n->arrivals[o->first_arrival + slots[r[i].slot].member - first_member];
        bool last = r[i].time_us == x->min_us, alone = last && x->late_count == 1 && x->count > 1;
        a->records++;
        a->last_arrivals += last;
        a->suffered_us = sum_capped(a->suffered_us, r[i].time_us - x->min_us);
        a->last_alone += alone;
        if (alone) {
            a->cost_us = sum_capped(a->cost_us, cost);
            a->caused_us = sum_capped(a->caused_us, caused);
        }
        if (!x->complete) continue;
        a->judged++;
        a->judged_last += alone;
        if (alone) a->judged_cost_us = sum_capped(a->judged_cost_us, cost);
        a->behind_us += x->median_us - (double)r[i].time_us;
    }
}

static void group_count_missing(nccl *n, const nccl_operation *o, const nccl_instance *x, nccl_communicator *c,
                                workspace *w)
{
    const nccl_slot *slots = nccl_store_of(n)->slots;
    const nccl_record *r = n->records + x->first;
    for (uint32_t i = 0; i < x->count; i++)
        w->here[slots[r[i].slot].member - c->first_member] = true;
    for (uint32_t i = 0; i < c->member_count; i++) {
        if (!w->here[i]) {
            nccl_waiting *a = &n->arrivals[o->first_arrival + i];
            a->missing++;
            a->missing_tail += w->last_sn[i] == UINT64_MAX || x->sn > w->last_sn[i];
        }
        w->here[i] = false;
    }
}

static void group_sum_instance(nccl *n, nccl_operation *o, nccl_series *s, nccl_communicator *c, nccl_instance *x,
                               workspace *w)
{
    s->time_us = sum_capped(s->time_us, x->max_us);
    s->wire_total_us = sum_capped(s->wire_total_us, x->min_us);
    if (x->complete) {
        o->complete++;
        o->complete_time_us = sum_capped(o->complete_time_us, x->max_us);
    } else {
        s->incomplete++;
        s->missing += (uint64_t)c->ranks - (x->count < (uint64_t)c->ranks ? x->count : (uint64_t)c->ranks);
        group_count_missing(n, o, x, c, w);
    }
    if (c->ranks > 1)
        group_count_waiting(n, o, x, c->first_member, w);
    else
        x->median_us = (double)x->min_us;
}

static void group_flag_disagreeing(nccl *n, const nccl_series *s, const nccl_instance *x)
{
    const nccl_record *r = n->records + x->first;
    for (uint32_t i = 0; i < x->count; i++)
        if (group_disagrees(s, &r[i]))
            __atomic_fetch_add(&n->files[nccl_store_of(n)->slots[r[i].slot].file].disagreeing, 1, __ATOMIC_RELAXED);
}

// ---- spreads ----

typedef struct columns {
    double *wire, *skew, *time, *alg, *bus, *mean, *best;
    size_t count, bus_count;
} columns;

static columns group_columns_make(size_t count)
{
    double *all = memory_array(NULL, count, 7 * sizeof *all);
    return (columns){
        all, all + count, all + 2 * count, all + 3 * count, all + 4 * count, all + 5 * count, all + 6 * count, 0, 0};
}

static void group_columns_add(columns *v, const nccl_series *s, const nccl_instance *x)
{
    size_t i = v->count++;
    double alg = nccl_alg_gbs(s, (double)x->min_us);
    v->wire[i] = (double)x->min_us;
    v->skew[i] = (double)(x->max_us - x->min_us);
    v->time[i] = (double)x->max_us;
    v->mean[i] = x->mean_bus;
    v->best[i] = x->max_bus;
    if (isnan(alg)) return;
    v->alg[v->bus_count] = alg;
    v->bus[v->bus_count++] = alg * s->bus_factor;
}

static nccl_spreads group_columns_spreads(const columns *v, bool bus_known)
{
    return (nccl_spreads){.wire_us = nccl_spread_of(v->wire, v->count),
                          .skew_us = nccl_spread_of(v->skew, v->count),
                          .time_us = nccl_spread_of(v->time, v->count),
                          .alg_gbs = nccl_spread_of(v->alg, v->bus_count),
                          .bus_gbs = nccl_spread_of(v->bus, bus_known ? v->bus_count : 0),
                          .mean_bus_gbs = nccl_spread_of(v->mean, v->count),
                          .best_bus_gbs = nccl_spread_of(v->best, v->count)};
}

// ---- change over the run ----

static double group_clip(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

// The split in which the means of the two sides, outliers clipped at p5 and p95, differ most in units of their standard
// error. It counts when that is above 8 (own: chance reaches about 5 in long series, as all splits are tried) and the
// medians differ by more than a quarter.
static void group_find_change(nccl_change *change, const nccl_instance *x, const double *values, double *work,
                              size_t count, const nccl_spread *spread)
{
    enum { LEAST = 30, SIDE = 10 };
    const double enough = 8, ratio = 1.25;
    double total = 0, squares = 0, left = 0, best = 0;
    size_t at = 0;
    *change = (nccl_change){.before = NAN, .after = NAN};
    if (count < LEAST) return;
    for (size_t i = 0; i < count; i++) {
        double v = group_clip(values[i], spread->p5, spread->p95) - spread->p50;
        total += v;
        squares += v * v;
    }
    for (size_t i = 0; i + SIDE < count; i++) {
        double v = group_clip(values[i], spread->p5, spread->p95) - spread->p50, a = (double)(i + 1),
               b = (double)(count - i - 1);
        left += v;
        if (i + 1 < SIDE) continue;
        double difference = left / a - (total - left) / b;
        double within = (squares - left * left / a - (total - left) * (total - left) / b) / (double)(count - 2);
        double floor_us = 1.0 / 12; // whole microseconds are logged
        double score = fabs(difference) / sqrt((within > floor_us ? within : floor_us) * (1 / a + 1 / b));
        if (score <= best) continue;
        best = score;
        at = i + 1;
    }
    if (best < enough) return;
    memcpy(work, values, count * sizeof *work);
    change->before = nccl_median_of(work, at);
    change->after = nccl_median_of(work + at, count - at);
    change->sn = x[at].sn;
    change->found = change->after > ratio * change->before || change->before > ratio * change->after;
}

static void group_spread_series(nccl *n, nccl_series *s)
{
    columns v = group_columns_make(s->instance_count);
    const nccl_instance *x = n->instances + s->first_instance;
    double *work = memory_array(NULL, s->instance_count, 2 * sizeof *work), *values = work + s->instance_count;
    for (size_t i = 0; i < s->instance_count; i++)
        group_columns_add(&v, s, &x[i]);
    s->spreads = group_columns_spreads(&v, s->bus_factor > 0);
    for (size_t i = 0; i < s->instance_count; i++)
        values[i] = (double)x[i].min_us;
    group_find_change(&s->wire_change, x, values, work, s->instance_count, &s->spreads.wire_us);
    for (size_t i = 0; i < s->instance_count; i++)
        values[i] = (double)(x[i].max_us - x[i].min_us);
    group_find_change(&s->skew_change, x, values, work, s->instance_count, &s->spreads.skew_us);
    free(v.wire);
    free(work);
}

static void group_note_last_sn(const nccl *n, size_t first_record, size_t record_count, uint32_t first_member,
                               workspace *w)
{
    const nccl_slot *slots = nccl_store_of(n)->slots;
    for (size_t i = 0; i < record_count; i++) {
        const nccl_record *r = &n->records[first_record + i];
        if (r->slot == NCCL_NONE) continue;
        uint64_t *last = &w->last_sn[slots[r->slot].member - first_member];
        if (*last == UINT64_MAX || r->sn > *last) *last = r->sn;
    }
}

typedef struct filling {
    nccl *n;
    size_t *first_records, *record_counts; // by series
} filling;

static void group_fill_series(nccl *n, nccl_operation *o, nccl_series *s, size_t first_record, size_t record_count,
                              workspace *w)
{
    nccl_communicator *c = &n->communicators[o->communicator];
    nccl_instance *x = n->instances + s->first_instance;
    s->incomplete = 0;
    s->traffic_bytes = nccl_traffic_bytes(n->colls[s->coll], s->size, c->ranks);
    s->bus_factor = nccl_bus_factor(n->colls[s->coll], c->ranks);
    for (size_t at = 0, count; at < record_count; at += count, x++) {
        count = group_same_sn(n->records + first_record + at, record_count - at);
        group_fill_instance(n, x, (uint32_t)(s - n->series), first_record + at, count);
        x->complete = x->count == (uint64_t)c->ranks;
        group_sum_instance(n, o, s, c, x, w);
        group_flag_disagreeing(n, s, x);
    }
    o->instances += s->instance_count;
    o->time_us = sum_capped(o->time_us, s->time_us);
    o->wire_us = sum_capped(o->wire_us, s->wire_total_us);
}

static void group_fill_operation(void *user, size_t i)
{
    filling *f = user;
    nccl *n = f->n;
    nccl_operation *o = &n->operations[i];
    const nccl_communicator *c = &n->communicators[o->communicator];
    size_t room = (size_t)c->member_count + 1;
    workspace w = {memory_alloc(room * sizeof *w.values), memory_calloc(room, sizeof *w.here),
                   memory_alloc(room * sizeof *w.last_sn)};
    memset(w.last_sn, 0xff, room * sizeof *w.last_sn);
    for (uint32_t k = o->first_series; k < o->first_series + o->series_count; k++)
        group_note_last_sn(n, f->first_records[k], f->record_counts[k], c->first_member, &w);
    for (uint32_t k = o->first_series; k < o->first_series + o->series_count; k++) {
        group_fill_series(n, o, &n->series[k], f->first_records[k], f->record_counts[k], &w);
        group_spread_series(n, &n->series[k]);
    }
    free(w.values);
    free(w.here);
    free(w.last_sn);
}

static void group_fill_instances(nccl *n, const parallel_options *pool)
{
    filling f = {n, memory_array(NULL, n->series_count, sizeof *f.first_records),
                 memory_array(NULL, n->series_count, sizeof *f.record_counts)};
    for (size_t i = 0; i < n->series_count; i++) {
        nccl_series *s = &n->series[i];
        f.first_records[i] = s->first_instance;
        f.record_counts[i] = s->instance_count;
        s->first_instance = n->instance_count;
        s->instance_count = s->incomplete;
        n->instance_count += s->instance_count;
    }
    n->instances = memory_array(NULL, n->instance_count, sizeof *n->instances);
    parallel_for(pool, n->operation_count, group_fill_operation, &f);
    free(f.first_records);
    free(f.record_counts);
}

// ---- sums over members, processes, hosts ----

static void group_add_waiting(nccl_waiting *to, const nccl_waiting *from)
{
    to->records += from->records;
    to->last_arrivals += from->last_arrivals;
    to->last_alone += from->last_alone;
    to->suffered_us = sum_capped(to->suffered_us, from->suffered_us);
    to->cost_us = sum_capped(to->cost_us, from->cost_us);
    to->caused_us = sum_capped(to->caused_us, from->caused_us);
    to->judged += from->judged;
    to->judged_last += from->judged_last;
    to->judged_cost_us = sum_capped(to->judged_cost_us, from->judged_cost_us);
    to->behind_us += from->behind_us;
    to->missing += from->missing;
    to->missing_tail += from->missing_tail;
}

static void group_sum_communicators(nccl *n)
{
    for (size_t i = 0; i < n->operation_count; i++) {
        const nccl_operation *o = &n->operations[i];
        nccl_communicator *c = &n->communicators[o->communicator];
        c->instances += o->instances;
        c->complete += o->complete;
        c->time_us = sum_capped(c->time_us, o->time_us);
        c->wire_us = sum_capped(c->wire_us, o->wire_us);
        for (uint32_t k = 0; k < c->member_count; k++) {
            nccl_member *m = &n->members[c->first_member + k];
            const nccl_waiting *a = &n->arrivals[o->first_arrival + k];
            group_add_waiting(&m->waiting, a);
            c->missing_tail += a->missing_tail;
        }
        c->missing_absent +=
            ((uint64_t)c->ranks > c->member_count ? (uint64_t)c->ranks - c->member_count : 0) * o->instances;
        for (uint32_t k = 0; k < o->series_count; k++)
            c->missing += n->series[o->first_series + k].missing;
    }
    for (size_t i = 0; i < n->instance_count; i++)
        n->communicators[n->series[n->instances[i].series].communicator].records += n->instances[i].count;
    for (size_t i = 0; i < n->member_count; i++)
        group_add_waiting(&n->processes[n->members[i].process].waiting, &n->members[i].waiting);
    for (size_t i = 0; i < n->process_count; i++)
        group_add_waiting(&n->hosts[n->processes[i].host].waiting, &n->processes[i].waiting);
}

static uint32_t group_host(const nccl *n, uint32_t member)
{
    return n->processes[n->members[member].process].host;
}

// Was a host alone the last, in complete instances of communicators with several ranks on several hosts? stamps: by
// host, the last instance in which it was counted.
static void group_judge_hosts(nccl *n, const nccl_instance *x, size_t *stamps)
{
    const nccl_slot *slots = nccl_store_of(n)->slots;
    const nccl_record *r = n->records + x->first;
    uint32_t late = group_host(n, x->first_late);
    size_t stamp = (size_t)(x - n->instances) + 1;
    uint64_t others = UINT64_MAX;
    bool alone = true;
    for (uint32_t i = 0; i < x->count; i++) {
        uint32_t host = group_host(n, slots[r[i].slot].member);
        if (stamps[host] != stamp) n->hosts[host].judged++;
        stamps[host] = stamp;
        if (host == late) continue;
        alone = alone && r[i].time_us != x->min_us;
        if (r[i].time_us < others) others = r[i].time_us;
    }
    if (!alone || others == UINT64_MAX) return;
    n->hosts[late].judged_last++;
    n->hosts[late].judged_cost_us = sum_capped(n->hosts[late].judged_cost_us, others - x->min_us);
}

static void group_sum_hosts(nccl *n)
{
    size_t *stamps = memory_calloc(n->host_count, sizeof *stamps);
    for (size_t i = 0; i < n->instance_count; i++) {
        const nccl_instance *x = &n->instances[i];
        const nccl_communicator *c = &n->communicators[n->series[x->series].communicator];
        if (x->complete && c->type == NCCL_MIXED) group_judge_hosts(n, x, stamps);
    }
    free(stamps);
}

static void group_sum_files(nccl *n)
{
    for (size_t i = 0; i < n->file_count; i++) {
        n->duplicates += n->files[i].duplicates;
        n->conflicts += n->files[i].conflicts;
        n->disagreeing += n->files[i].disagreeing;
    }
    n->first_dump_us = UINT64_MAX;
    for (size_t i = 0; i < n->member_count; i++) {
        if (n->members[i].first_dump_us < n->first_dump_us) n->first_dump_us = n->members[i].first_dump_us;
        if (n->members[i].last_dump_us > n->last_dump_us) n->last_dump_us = n->members[i].last_dump_us;
    }
}

static void group_count_records(nccl *n)
{
    for (size_t i = 0; i < n->record_count; i++)
        if (n->records[i].slot != NCCL_NONE)
            n->members[nccl_store_of(n)->slots[n->records[i].slot].member].coll_records++;
}

// ---- kinds and paths ----

typedef struct kind_part {
    nccl_class type;
    uint32_t coll;
    uint64_t size;
    uint32_t series;
} kind_part;

static int group_by_kind_key(const kind_part *x, const kind_part *y)
{
    int order = strcmp(nccl_class_name(x->type), nccl_class_name(y->type));
    if (!order) order = (x->coll > y->coll) - (x->coll < y->coll);
    return order ? order : (x->size > y->size) - (x->size < y->size);
}

static int group_by_kind(const void *a, const void *b)
{
    const kind_part *x = a, *y = b;
    int order = group_by_kind_key(x, y);
    return order ? order : (x->series > y->series) - (x->series < y->series);
}

typedef struct kinds {
    nccl *n;
    kind_part *parts;
    size_t *first; // by kind: its first part; one more at the end
} kinds;

static void group_spread_kind(void *user, size_t i)
{
    kinds *k = user;
    nccl *n = k->n;
    nccl_kind *kind = &n->kinds[i];
    columns v = group_columns_make(kind->instances);
    for (size_t p = k->first[i]; p < k->first[i + 1]; p++) {
        const nccl_series *s = &n->series[k->parts[p].series];
        for (size_t x = 0; x < s->instance_count; x++)
            group_columns_add(&v, s, &n->instances[s->first_instance + x]);
    }
    kind->spreads =
        group_columns_spreads(&v, kind->type != NCCL_SINGLE_RANK && nccl_bus_factor(n->colls[kind->coll], 2) > 0);
    free(v.wire);
}

static void group_make_kinds(nccl *n, const parallel_options *pool)
{
    kinds k = {n, memory_array(NULL, n->series_count, sizeof *k.parts),
               memory_array(NULL, n->series_count + 1, sizeof *k.first)};
    n->kinds = memory_calloc(n->series_count, sizeof *n->kinds);
    for (size_t i = 0; i < n->series_count; i++)
        k.parts[i] = (kind_part){n->communicators[n->series[i].communicator].type, n->series[i].coll, n->series[i].size,
                                 (uint32_t)i};
    qsort(k.parts, n->series_count, sizeof *k.parts, group_by_kind);
    for (size_t i = 0; i < n->series_count; i++) {
        nccl_series *s = &n->series[k.parts[i].series];
        if (!i || group_by_kind_key(&k.parts[i - 1], &k.parts[i]) != 0) {
            k.first[n->kind_count] = i;
            n->kinds[n->kind_count++] = (nccl_kind){.type = k.parts[i].type,
                                                    .coll = k.parts[i].coll,
                                                    .size = k.parts[i].size,
                                                    .peak_gbs = NAN,
                                                    .peak_share = NAN};
        }
        nccl_kind *kind = &n->kinds[n->kind_count - 1];
        s->kind = (uint32_t)(n->kind_count - 1);
        kind->instances += s->instance_count;
        kind->incomplete += s->incomplete;
        kind->time_us = sum_capped(kind->time_us, s->time_us);
        kind->wire_us = sum_capped(kind->wire_us, s->wire_total_us);
    }
    k.first[n->kind_count] = n->series_count;
    parallel_for(pool, n->kind_count, group_spread_kind, &k);
    free(k.parts);
    free(k.first);
}

typedef struct path_part {
    uint32_t kind, what;
    double wire_us, bus_gbs;
} path_part;

static int group_by_path(const void *a, const void *b)
{
    const path_part *x = a, *y = b;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    return (x->what > y->what) - (x->what < y->what);
}

static void group_add_path(nccl *n, const path_part *parts, size_t count, double *work)
{
    const nccl_kind *kind = &n->kinds[parts->kind];
    nccl_path *p = &n->paths[n->path_count++];
    size_t known = 0;
    *p = (nccl_path){
        .type = kind->type, .what = nccl_store_of(n)->whats[parts->what], .size = kind->size, .instances = count};
    p->what.timing = "";
    for (size_t i = 0; i < count; i++)
        work[i] = parts[i].wire_us;
    p->wire_us = nccl_spread_of(work, count);
    for (size_t i = 0; i < count; i++)
        if (!isnan(parts[i].bus_gbs)) work[known++] = parts[i].bus_gbs;
    p->bus_gbs = nccl_spread_of(work, known);
}

// An instance has the algorithm of its first record: all ranks choose the same.
static void group_make_paths(nccl *n)
{
    if (!n->has_algorithms) return;
    path_part *parts = memory_array(NULL, n->instance_count, sizeof *parts);
    double *work = memory_array(NULL, n->instance_count, sizeof *work);
    for (size_t i = 0; i < n->instance_count; i++) {
        const nccl_instance *x = &n->instances[i];
        const nccl_series *s = &n->series[x->series];
        parts[i] = (path_part){s->kind, nccl_store_of(n)->slots[n->records[x->first].slot].what, (double)x->min_us,
                               nccl_bus_gbs(s, (double)x->min_us)};
    }
    qsort(parts, n->instance_count, sizeof *parts, group_by_path);
    size_t groups = 0;
    for (size_t i = 0; i < n->instance_count; i++)
        groups += !i || group_by_path(&parts[i - 1], &parts[i]) != 0;
    n->paths = memory_calloc(groups, sizeof *n->paths);
    for (size_t i = 0, k; i < n->instance_count; i = k) {
        for (k = i + 1; k < n->instance_count && group_by_path(&parts[i], &parts[k]) == 0;)
            k++;
        group_add_path(n, parts + i, k - i, work);
    }
    free(parts);
    free(work);
}

// ---- all ----

void nccl_group(nccl *n)
{
    parallel_options pool = {.threads = nccl_store_of(n)->threads};
    parallel_for(&pool, n->operation_count, group_sort_operation, n);
    group_fill_instances(n, &pool);
    group_count_records(n);
    group_sum_communicators(n);
    group_sum_files(n);
    group_sum_hosts(n);
    group_make_kinds(n, &pool);
    group_make_paths(n);
}

// ---- the peaks that the user gave, and what share of them is reached ----

static double group_find_peak(const nccl_communicator *c, const nccl_peak *peaks, size_t count)
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
        n->communicators[i].peak_gbs = group_find_peak(&n->communicators[i], peaks, count);
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
